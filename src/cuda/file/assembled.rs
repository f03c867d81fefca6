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
    /// `ends`: functions that stand at the end. `is_c`: no name of the program is meant to overload one of CUDA's.
    pub fn code(&self, ends: Vec<String>, is_c: bool, out: &mut String) {
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
            let items = items.into_iter().map(|(place, text)| meanings.meant(place, &text));
            *out += &choices.arranged(items.collect());
        };
        for text in self.externs.values() {
            *out += &format!("{text}\n");
        }
        add(globals, out);
        let has_names = !functions.is_empty()
            || !prototypes.is_empty()
            || !self.globals.is_empty()
            || !self.externs.is_empty();
        if has_names {
            // The host has functions of these names, too; in C, CUDA's functions of these names are hidden by them.
            *out += "namespace device {\n\n";
        }
        for mut items in [constants, prototypes] {
            if let Some((_, last)) = items.last_mut() {
                last.push('\n');
            }
            add(items, out);
        }
        add(functions, out);
        if has_names && !is_c {
            *out += "}  // namespace device\n\nusing namespace device;\n\n";
        }
        add(kernels, out);
        add(vec![(choices.end(), ends.join("\n"))], out);
        if has_names && is_c {
            *out += "}  // namespace device\n";
        }
        out.insert_str(begin, &meanings.kept());
    }
}
