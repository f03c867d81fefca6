//! The code of the device file in its order: definitions, variables, functions, kernels.
//!
//! Invariant: each part stands under the conditions of its place, and finds the macros of its place.

use std::collections::BTreeMap;

use super::device::Device;
use crate::cuda::program::choices::Place;
use crate::cuda::program::macros::Meanings;

/// Texts of the device file, and where they stand in the program.
type Items = Vec<(Place, String)>;

fn sorted(mut items: Items) -> Items {
    items.sort_by(|one, other| one.0.cmp(&other.0));
    items
}

impl Device {
    /// What the device file is made of, with the conditions and the macros of its places.
    /// `options`: a function that stands at the end.
    pub fn code(&self, options: Option<String>, out: &mut String) {
        let (choices, own, begin) = (&*self.choices, self.choices.own(), out.len());
        let placed = |map: &BTreeMap<(usize, u32), String>, end: &str| -> Items {
            let all = map.iter().map(|((number, at), text)| {
                let is_code = end.len() > 1;
                let text =
                    if is_code { self.chosen((*number, *at), text) } else { text.trim_end().to_owned() };
                (choices.place(*number, *at), format!("{text}{end}"))
            });
            sorted(all.collect())
        };
        let of_source = |map: &BTreeMap<u32, String>, end: &str| -> Items {
            let all = map.iter().map(|(at, text)| {
                (choices.place(own, *at), format!("{}{end}", self.chosen((own, *at), text)))
            });
            sorted(all.collect())
        };
        let is_macro = |text: &String| text.starts_with('#');
        let (constants, functions) = (placed(&self.constants, "\n"), placed(&self.functions, "\n\n"));
        let prototypes = placed(&self.device_prototypes, "\n");
        let (globals, kernels) = (of_source(&self.globals, "\n\n"), of_source(&self.kernels, "\n\n"));
        let all = [&constants, &prototypes, &functions, &globals, &kernels];
        let types = self.parts.iter().filter(|(_, text)| !is_macro(text));
        let types = types.map(|((number, at), text)| (choices.place(*number, *at), text.as_str()));
        let code = all.into_iter().flatten().map(|(place, text)| (place.clone(), text.as_str()));
        let mut meanings = Meanings::of(choices, &self.macros, &types.chain(code).collect::<Vec<_>>());
        let parts = self
            .parts
            .iter()
            .filter(|(at, text)| !is_macro(text) || meanings.comes_first(at.0, at.1))
            .collect::<Vec<_>>();
        let parts = parts
            .into_iter()
            .map(|((number, at), text)| (choices.place(*number, *at), format!("{}\n", text.trim_end())));
        let parts = sorted(parts.collect()).into_iter().map(|(place, text)| {
            let again = if is_macro(&text) { String::new() } else { meanings.before(&place, &text) };
            (place, again + &text)
        });
        let parts = choices.arranged(parts.collect());
        *out += &parts;
        if !parts.is_empty() {
            out.push('\n');
        }
        let mut add = |items: Items, out: &mut String| {
            let items = items.into_iter().map(|(place, text)| {
                let text = meanings.before(&place, &text) + &text;
                (place, text)
            });
            *out += &choices.arranged(items.collect());
        };
        for text in self.externs.values() {
            *out += &format!("{text}\n");
        }
        add(globals, out);
        let has_functions = !functions.is_empty() || !prototypes.is_empty();
        if has_functions {
            // The host has functions of these names, too.
            *out += "namespace device {\n\n";
            let has_constants = !constants.is_empty();
            add(constants, out);
            if has_constants {
                out.push('\n');
            }
            add(prototypes, out);
            out.push('\n');
            add(functions, out);
            *out += "}  // namespace device\n\n";
        }
        if has_functions || !self.globals.is_empty() || !self.externs.is_empty() {
            *out += "using namespace device;\n\n";
        }
        add(kernels, out);
        add(options.into_iter().map(|text| (choices.end(), text)).collect(), out);
        out.insert_str(begin, &meanings.kept());
    }
}
