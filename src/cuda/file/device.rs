//! The device file of a source: kernels and launchers, and what of the program's macros, types and functions they need.
//!
//! Invariant: definitions are copied as they stand, in their order; the header declares what the host calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::hidden::Hidden;
use super::options::Variants;
use crate::cuda::code::origin;
use crate::cuda::code::text::{is_tag, placed_words, words};
use crate::cuda::fit::copied;
use crate::cuda::fit::placement::Placements;
use crate::cuda::kernel::routine::Routines;
use crate::cuda::meaning;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::routines::{is_routine_prototype, routine_name};
use crate::cuda::program::units::{header_ending, own_name};
use crate::cuda::program::{Input, Refused, Seen, predefined, renamed};
use crate::cuda::types::{complex, layout, layout::Layout, packed};
use crate::diag::Diag;
use crate::host::ir::{DeclKind, Function};
use crate::sema::SymbolId;
use crate::source::{Language, Span};

/// Device code of one region, by the offset of its directive.
pub type Kernels = BTreeMap<u32, String>;

/// Headers of the standard libraries that device code may need.
pub const STANDARD: [&str; 24] = [
    "assert.h",
    "complex.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "math.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "cassert",
    "cfloat",
    "cinttypes",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "limits",
    "algorithm",
];

/// What this header has, the run-time library has for the device.
const COMPLEX_HEADER: &str = "complex.h";

/// What the device file and the header of one source are made of.
#[derive(Clone, Debug, Default)]
pub struct Device {
    pub(super) kernels: Kernels,
    pub(super) prototypes: Kernels,
    pub(super) routines: BTreeSet<u32>,
    /// Copied definitions: by the number of the file (headers first) and the offset.
    pub(super) parts: BTreeMap<(usize, u32), String>,
    /// Constants of the device.
    pub(super) constants: BTreeMap<(usize, u32), String>,
    pub(super) globals: BTreeMap<u32, String>,
    /// Declarations of globals that other device files define, by name.
    pub(super) externs: BTreeMap<String, String>,
    /// Constants that kernels name where the language wants one.
    pub(super) sizes: BTreeSet<String>,
    /// The names of variables with a counterpart.
    pub(super) declared: BTreeSet<String>,
    /// The definitions of variables with a counterpart: by the number of the file and the offset.
    pub(super) counterparts: BTreeSet<(usize, u32)>,
    /// The lines that tell the library of them, by offset.
    pub(super) registrations: BTreeMap<u32, String>,
    pub(super) includes: BTreeSet<(usize, u32, String)>,
    /// Lines that include what nobody has read.
    pub(super) unseen: Vec<String>,
    /// By the number of the file and the offset, too: functions, and declarations of functions.
    pub(super) functions: BTreeMap<(usize, u32), String>,
    pub(super) device_prototypes: BTreeMap<(usize, u32), String>,
    /// The file holds device code itself.
    pub in_place: bool,
    /// What the preprocessor chooses.
    pub(super) choices: Rc<Choices>,
    /// The macros among the copied definitions.
    pub(super) macros: BTreeSet<String>,
    /// The code that kernels and functions are made of, by the place of these.
    pub(super) origins: BTreeMap<(usize, u32), Span>,
    /// Branches that another build may choose and that declare variables of kernels otherwise: the places of these kernels.
    pub(super) dependents: BTreeMap<(usize, Span), BTreeSet<(usize, u32)>>,
    /// Functions of this file that headers declare as routines.
    pub(super) of_headers: BTreeSet<String>,
    /// Names of the program that the device file has another for.
    pub(super) taken: BTreeSet<String>,
    /// Other texts for other branches of a condition in such code.
    pub(super) variants: BTreeMap<(usize, u32), Variants>,
    /// What refuses the builds for which such code was not read.
    pub(super) guards: BTreeMap<(usize, u32), String>,
    /// The structs among the copied definitions.
    pub(super) layouts: BTreeMap<(usize, u32), Vec<Layout>>,
}

/// What copied text is: kernels have the constants that they name as parameters, types are of the host, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CopiedText {
    Kernel,
    Type,
    Routine,
}

/// Text that came into the device file.
struct Copied {
    part: CopiedText,
    text: String,
    /// The names that it declares itself.
    own: Vec<String>,
}

impl Copied {
    fn new(part: CopiedText, text: String) -> Copied {
        Copied { part, text, own: Vec::new() }
    }
}

/// The names that are declared in a part of a file.
fn own_names(seen: &Seen, span: Span) -> Vec<String> {
    let inside = seen.unit.decls_with_names_in(span);
    inside.map(|decl| decl.name.clone()).collect()
}

/// Whether a file's language is C by its name.
fn is_in_c(path: &str) -> bool {
    Language::of(Path::new(path)) == Some(Language::C)
}

/// What is known of the code that the device file gets.
#[derive(Clone, Copy)]
pub struct Fit<'a> {
    /// Where the device gets constructs and routines.
    pub placements: &'a Placements<'a>,
    /// The bodies of functions.
    pub routines: &'a Routines,
}

impl Device {
    /// One without code.
    pub fn among(choices: Rc<Choices>) -> Device {
        Device { choices, ..Device::default() }
    }

    /// Whether there is device code.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
            && self.functions.is_empty()
            && self.routines.is_empty()
            && self.of_headers.is_empty()
            && self.globals.is_empty()
    }

    /// The functions that this file defines and headers declare as routines: other files call them.
    pub fn routines_of_headers(&mut self, input: &Input) {
        if header_ending(&input.file().name).is_some() {
            return;
        }
        let defined = input.unit().functions.iter().filter(|function| {
            function.member_of.is_none()
                && !is_own(input.source, function)
                && input.headers.iter().any(|seen| is_routine_prototype(seen, &function.name))
        });
        self.of_headers = defined.map(|function| function.name.clone()).collect();
    }

    /// A kernel with its launcher, made of the code in `of`.
    pub fn kernel(&mut self, place: u32, text: String, of: Span) {
        self.origins.insert((self.choices.own(), place), of);
        self.kernels
            .entry(place)
            .and_modify(|known| {
                known.push('\n');
                known.push_str(&text)
            })
            .or_insert(text);
    }

    /// Notes that a kernel is another one where branches are chosen that were not read.
    pub fn depends(&mut self, place: u32, branches: impl IntoIterator<Item = (usize, Span)>) {
        for branch in branches {
            self.dependents.entry(branch).or_default().insert((self.choices.own(), place));
        }
    }

    /// The declaration of the launcher of the region at `place`.
    pub fn prototype(&mut self, place: u32, text: String) {
        self.prototypes.entry(place).and_modify(|known| known.push_str(&text)).or_insert(text);
    }

    /// A `routine` directive: its function is copied.
    pub fn routine(&mut self, input: &Input, index: usize) {
        // What a header defines, the files that include it copy; what is of this file alone, its kernels ask for.
        let function = routine_name(input, index).and_then(|name| input.unit().functions_named(name).next());
        let is_own = function.is_some_and(|function| is_own(input.source, function));
        if header_ending(&input.file().name).is_none() && !is_own {
            self.routines.insert(input.bound[index].directive.span.start);
        }
    }

    /// Finds everything that the kernels need.
    pub fn close(&mut self, input: &Input, hidden: &Hidden, fit: Fit, diags: &mut Vec<Diag>) {
        if self.is_empty() {
            return;
        }
        self.taken = renamed::taken(input);
        let kernels = self.kernels.values().map(|text| Copied::new(CopiedText::Kernel, text.clone()));
        let declared: Vec<String> = self.declared.iter().cloned().collect();
        let globals = self.globals.values().map(|text| Copied {
            part: CopiedText::Type,
            text: text.clone(),
            own: declared.clone(),
        });
        let mut pending: Vec<Copied> = kernels.chain(globals).collect();
        let own = self.choices.own();
        let places: Vec<u32> = self.kernels.keys().chain(self.globals.keys()).copied().collect();
        pending.extend(places.into_iter().map(|at| self.conditions((own, at))));
        for name in std::mem::take(&mut self.sizes) {
            pending.extend(self.constant(input, &name, CopiedText::Type));
        }
        let mut known: BTreeSet<(CopiedText, String)> = BTreeSet::new();
        let mut called: BTreeSet<String> = BTreeSet::new();
        let mut wanted: Vec<String> = Vec::new();
        let mut defined = defined(input);
        let choices = Rc::clone(&self.choices);
        defined.extend(choices.macros());
        let all = Span { start: 0, end: input.file().bytes.len() as u32 };
        let addresses = meaning::addresses(input, all);
        for (index, bound) in input.bound.iter().enumerate() {
            if self.routines.contains(&bound.directive.span.start) {
                wanted.extend(routine_name(input, index).map(str::to_owned));
            }
        }
        wanted.extend(self.of_headers.iter().cloned());
        loop {
            for name in wanted.drain(..) {
                if fit.placements.has_no(&name) || !called.insert(name.clone()) {
                    continue;
                }
                match self.function(input, fit, &name) {
                    Ok(texts) => {
                        pending.extend(texts);
                        self.other_functions(hidden, &name);
                    }
                    Err(why) => diags.push(*why),
                }
            }
            let Some(one) = pending.pop() else { break };
            for (at, word) in placed_words(&one.text) {
                // The library's own, whatever the program calls so.
                let is_librarys = ["region.", "acc2omp::"].iter().any(|lead| one.text[..at].ends_with(lead));
                if is_librarys || !defined.contains(word) {
                    continue;
                }
                // A macro may stand for the name alone.
                let after = one.text[at + word.len()..].trim_start();
                // A variable may have the name of a function, and be smaller than something.
                let is_called = after.starts_with('(') || after.starts_with('<') && is_template(input, word);
                let is_used = after.is_empty() || is_called || addresses.contains(word);
                if is_used && is_function(input, word) {
                    wanted.push(word.to_owned());
                }
                let is_tag = is_tag(&one.text, at, word) && self.is_only_called(word);
                let key = if is_tag { format!("struct {word}") } else { word.to_owned() };
                if !known.insert((one.part, key)) {
                    continue;
                }
                if !is_tag {
                    pending.extend(self.macros_named(input, word, one.part));
                }
                pending.extend(self.need(input, hidden, word, one.part));
                if one.part != CopiedText::Kernel && !one.own.iter().any(|own| own == word) {
                    pending.extend(self.constant(input, word, one.part));
                }
            }
        }
        self.close_functions(input, hidden);
        self.include_unseen(input, diags);
        self.include_standard(input);
    }

    /// Finds the variables that functions name and other files define, and what these need.
    fn close_functions(&mut self, input: &Input, hidden: &Hidden) {
        let functions: Vec<String> = self.functions.values().cloned().collect();
        let mut pending = self.declare_extern(input, hidden, &functions);
        let mut known: BTreeSet<String> = BTreeSet::new();
        while let Some(text) = pending.pop() {
            let new = words(&text).into_iter().filter(|word| known.insert((*word).to_owned()));
            let mut came: Vec<Copied> = Vec::new();
            for word in new {
                came.extend(self.macros_named(input, word, CopiedText::Type));
                came.extend(self.need(input, hidden, word, CopiedText::Type));
            }
            pending.extend(came.into_iter().map(|one| one.text));
        }
    }

    /// Includes the standard headers that the program includes.
    fn include_standard(&mut self, input: &Input) {
        for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
            for include in seen.scan.includes.iter().filter(|include| include.active && !include.quoted) {
                if STANDARD.contains(&include.path.as_str()) {
                    self.includes.insert((number, include.span.start, include.path.clone()));
                }
            }
        }
    }

    /// Notes that a kernel names a constant where the language wants one; false if there is no copy of it.
    pub fn names_constant(&mut self, input: &Input, symbol: SymbolId) -> bool {
        let is_copied = copied::is_copied(input, symbol);
        if is_copied {
            self.sizes.insert(input.symbols.get(symbol).name.clone());
        }
        is_copied
    }

    /// Copies a constant that a type or a routine names: kernels have constants as parameters.
    fn constant(&mut self, input: &Input, word: &str, part: CopiedText) -> Option<Copied> {
        if part == CopiedText::Routine && self.declared.contains(word) {
            return None;
        }
        let constant = copied::constant(input, word)?;
        let place = (constant.number, constant.start());
        let is_devices = part == CopiedText::Routine && !constant.is_integer;
        let text = constant.text(input, is_devices);
        let place_of = if is_devices { &mut self.constants } else { &mut self.parts };
        let is_new = place_of.insert(place, text.clone()).is_none();
        is_new.then(|| Copied::new(if is_devices { CopiedText::Routine } else { CopiedText::Type }, text))
    }

    /// Copies the lines about a macro, of all branches that a build may choose; the texts that came in.
    fn macros_named(&mut self, input: &Input, word: &str, part: CopiedText) -> Vec<Copied> {
        let mut texts = Vec::new();
        let choices = Rc::clone(&self.choices);
        for line in choices.lines(word) {
            let at = (line.number, line.line.span.start);
            texts.push(Copied::new(part, line.line.body.clone()));
            texts.push(self.conditions(at));
            let text = match input.is_c {
                true => meaning::in_macro(input, line.line, line.text),
                false => line.text.to_owned(),
            };
            self.parts.insert(at, text);
            self.macros.insert(word.to_owned());
        }
        texts
    }

    /// Whether a name is a macro's only where a parenthesis comes after it.
    fn is_only_called(&self, word: &str) -> bool {
        let lines = self.choices.lines(word);
        lines.iter().all(|line| line.line.is_undef || line.line.params.is_some())
    }

    /// Copies the definitions of a name as a type, of all branches that a build may choose; the texts that came in.
    fn need(&mut self, input: &Input, hidden: &Hidden, word: &str, part: CopiedText) -> Vec<Copied> {
        let mut texts = Vec::new();
        let choices = Rc::clone(&self.choices);
        let seen_here = input.headers.iter().chain([&input.source]).copied().enumerate();
        let shown = seen_here.flat_map(|(number, seen)| {
            copied::definitions(&seen, word).into_iter().map(move |span| (number, seen, span))
        });
        for (number, seen, span) in shown.chain(hidden.definitions(word)) {
            if meaning::is_inside(input, &seen, span, part == CopiedText::Routine) {
                continue;
            }
            let (span, text) = match input.is_c {
                true => {
                    let whole = meaning::whole(&seen, span);
                    (whole, meaning::definition(input, &seen, whole))
                }
                false => (span, seen.file.text(span).trim_end().to_owned()),
            };
            let text = packed::definition(&seen, span, text);
            if self.parts.get(&(number, span.start)) != Some(&text) {
                texts.push(Copied {
                    part: CopiedText::Type,
                    text: text.clone(),
                    own: own_names(&seen, span),
                });
                texts.push(self.conditions((number, span.start)));
                self.parts.insert((number, span.start), text);
                let structs = layout::of_definition(input, &choices, (number, &seen), span);
                self.layouts.insert((number, span.start), structs);
            }
        }
        texts
    }

    /// The conditions around a place: the device file needs what they name.
    fn conditions(&self, (number, offset): (usize, u32)) -> Copied {
        let conditions = self.choices.conditions(&self.choices.place(number, offset));
        Copied::new(CopiedText::Type, conditions.join("\n"))
    }

    /// A function that another build has another definition of: only this one was read.
    fn other_functions(&mut self, hidden: &Hidden, name: &str) {
        for (number, span) in hidden.functions(name) {
            let why = format!("acc2omp has read another definition of `{name}`");
            self.functions.insert((number, span.start), format!("#error \"{why}\"\n"));
        }
    }

    /// Copies a function as device code; the texts that came in.
    fn function(&mut self, input: &Input, fit: Fit, name: &str) -> Result<Vec<Copied>, Refused> {
        let unit = input.unit();
        let Some(at) = unit.function_places(name).next() else {
            return self.foreign(input, fit, name);
        };
        let function = &unit.functions[at];
        let input = &predefined::directed(input, function.span);
        let code = fit.routines.code(input, at)?;
        // A copy of what the host file gives the device, too, is of this file alone.
        let is_in_place = fit.placements.is_called_in_place(function.span.start);
        let is_own = is_in_place || is_own(input.source, function);
        let own = if is_own { "static " } else { "" };
        let (declared, head) = match meaning::heads_with_defaults(input, &input.source, function)? {
            Some(heads) => heads,
            None => {
                let head = meaning::head(input, &input.source, function)?;
                (head.clone(), head)
            }
        };
        let declared = format!("{own}{declared}");
        let mut text = format!("{own}{head}\n{code}\n");
        if input.says_lines() {
            text += &format!("{}\n", origin::BACK);
        }
        let place = (input.headers.len(), function.span.start);
        self.functions.insert(place, text.clone());
        self.origins.insert(place, function.span);
        let declared = format!("{};\n", declared.trim_end());
        self.device_prototypes.insert(place, declared.clone());
        text += &declared;
        let copied = Copied { part: CopiedText::Routine, text, own: own_names(&input.source, function.span) };
        Ok(vec![copied, self.conditions(place)])
    }

    /// A function that another file defines: from a header, or declared only.
    fn foreign(&mut self, input: &Input, fit: Fit, name: &str) -> Result<Vec<Copied>, Refused> {
        for (number, seen) in input.headers.iter().enumerate() {
            if let Some(at) = seen.unit.function_places(name).next() {
                let function = &seen.unit.functions[at];
                let text = seen.file.text(function.span).into_owned();
                let body = seen.unit.stmt(function.body).span;
                let code = match input.reading(seen) {
                    Some(there) => fit.routines.code(there, at)?,
                    None => meaning::of_header(input, seen, body)?,
                };
                let head = meaning::head(input, seen, function)?;
                let mut whole = format!("static {head}\n{code}\n");
                if predefined::asks_for_line(input, seen, function.span) {
                    let name = own_name(&seen.file.name);
                    let line = seen.file.line_number(body.start);
                    let back = origin::BACK;
                    whole = format!("static {head}\n#line {line} \"{name}\"\n{code}\n{back}\n");
                }
                self.functions.insert((number, function.span.start), whole);
                self.origins.insert((number, function.span.start), function.span);
                let own = own_names(seen, function.span);
                let conditions = self.conditions((number, function.span.start));
                return Ok(vec![Copied { part: CopiedText::Routine, text, own }, conditions]);
            }
        }
        for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
            let prototype = seen.unit.decls_named(name).find(|decl| decl.kind == DeclKind::Prototype);
            if let Some(decl) = prototype {
                let text = meaning::without_storage(seen, decl.span);
                let head = meaning::device_head(text.trim_end().trim_end_matches(';'));
                self.device_prototypes.insert((number, decl.span.start), format!("{head};\n"));
                let conditions = self.conditions((number, decl.span.start));
                let copied = Copied { part: CopiedText::Routine, text, own: own_names(seen, decl.span) };
                return Ok(vec![copied, conditions]);
            }
        }
        Ok(Vec::new())
    }

    /// Adds what another view of the same file has brought. A function that a view before has read stays as it was: what other
    /// branches make of it is compared with that.
    pub fn merge(&mut self, other: Device) {
        self.kernels.extend(other.kernels);
        self.prototypes.extend(other.prototypes);
        self.routines.extend(other.routines);
        self.parts.extend(other.parts);
        self.constants.extend(other.constants);
        self.globals.extend(other.globals);
        self.externs.extend(other.externs);
        self.declared.extend(other.declared);
        self.counterparts.extend(other.counterparts);
        self.registrations.extend(other.registrations);
        self.includes.extend(other.includes);
        let new: Vec<String> = other.unseen.into_iter().filter(|line| !self.unseen.contains(line)).collect();
        self.unseen.extend(new);
        for (at, text) in other.functions {
            self.functions.entry(at).or_insert(text);
        }
        self.device_prototypes.extend(other.device_prototypes);
        self.in_place |= other.in_place;
        self.macros.extend(other.macros);
        self.origins.extend(other.origins);
        for (branch, places) in other.dependents {
            self.dependents.entry(branch).or_default().extend(places);
        }
        self.taken.extend(other.taken);
        self.layouts.extend(other.layouts);
        self.of_headers.extend(other.of_headers);
        if self.choices.is_empty() {
            self.choices = other.choices;
        }
    }

    /// The device file, by its own name and that of its source.
    pub fn text(&self, name: &str, source: &str, unit: &str) -> String {
        let has_complex = self.includes.iter().any(|(_, _, path)| path == COMPLEX_HEADER);
        let header = name.replace("_acc.cu", "_acc.h");
        let whole = self.whole(source, unit, &header, has_complex);
        let whole = complex::rewritten(&whole, has_complex);
        let whole = renamed::with_own_macro(&whole);
        let whole = renamed::renamed(&whole, &self.taken, is_in_c(source));
        origin::resolved(&whole, name)
    }

    /// The device file, with the types of C. `header`: that of its launchers. `has_complex`: it knows the macros for complex numbers.
    fn whole(&self, path: &str, unit: &str, header: &str, has_complex: bool) -> String {
        let source = own_name(path);
        let mut out = format!(
            "// The device code of {source}, made by acc2omp from its OpenACC directives: kernels, and the functions that launch them.\n\n"
        );
        let mut seen = BTreeSet::new();
        for (_, _, path) in &self.includes {
            if seen.insert(path) && path != COMPLEX_HEADER {
                out += &format!("#include <{path}>\n");
            }
        }
        if !seen.is_empty() {
            out.push('\n');
        }
        out += &format!("#include \"{header}\"\n\n");
        for line in &self.unseen {
            out += &format!("{line}\n");
        }
        if !self.unseen.is_empty() {
            out.push('\n');
        }
        let all: String = self
            .parts
            .values()
            .chain(self.functions.values())
            .chain(self.kernels.values())
            .cloned()
            .collect();
        let said: BTreeSet<&str> = words(&all).into_iter().collect();
        if said.contains("restrict") {
            out += "#define restrict __restrict__\n\n";
        }
        for (name, meaning) in meaning::WORDS {
            // C++ has functions in place of C's macros.
            let is_meant = !meaning.starts_with("acc2omp::") || source.ends_with(".c");
            if is_meant && said.contains(name) {
                out += &format!("#define {name} {meaning}\n\n");
            }
        }
        let macros = complex::macros(&all);
        if has_complex && !macros.is_empty() {
            out += &format!("{macros}\n");
        }
        let options = self.options().map(|options| {
            format!(
                "// What the options of the compiler choose here, for the host to compare.\nextern \"C\" const char *{}(void)\n{{\n    return {options};\n}}\n",
                options_name(unit)
            )
        });
        let ends = options.into_iter().chain(self.layouts_for_host(unit)).collect();
        self.code(ends, is_in_c(path), &mut out);
        format!("{}\n", out.trim_end())
    }

    /// The header of the launchers; `folder` is how it calls that of the run-time library.
    pub fn header(&self, source: &str, unit: &str, folder: &str) -> String {
        // A variable with several definitions has one counterpart.
        let mut known = BTreeSet::new();
        let each = self.prototypes.values().filter(|text| known.insert(text.as_str()));
        let mut prototypes: String = each.map(String::as_str).collect();
        if self.options().is_some() {
            prototypes += &format!("const char *{}(void);\n", options_name(unit));
        }
        prototypes += &self.layouts_prototype(unit).unwrap_or_default();
        // The device file includes it, too.
        let prototypes = renamed::renamed(&prototypes, &self.taken, is_in_c(source));
        let name = own_name(source);
        let guard = format!("{}_ACC_H", unit.to_uppercase());
        let mut out = format!("// What {name} calls of its device code.\n");
        if self.in_place {
            out += &format!(
                "// {name} holds device code itself: it is built by nvcc -x cu --extended-lambda.\n"
            );
        }
        out += &format!("\n#ifndef {guard}\n#define {guard}\n\n");
        if words(&prototypes).into_iter().any(is_in_stdint) {
            out += "#include <stdint.h>\n\n";
        }
        out += &format!("#include \"{folder}acc2omp_cuda.h\"\n\n");
        if !prototypes.is_empty() {
            out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
            out += &prototypes;
            out += "\n#ifdef __cplusplus\n}\n#endif\n\n";
        }
        out + "#endif\n"
    }

    /// Lines for the end of the host file: the variables that have a counterpart on the device, what the options of the build choose,
    /// and how structs lie in memory.
    pub fn registration(&self, source: &str, unit: &str) -> Option<String> {
        let mut out = String::new();
        // Those of a header stand beside those of its includer.
        let is_source = header_ending(source).is_none();
        let of = if is_source { String::new() } else { format!("_{unit}") };
        if !self.registrations.is_empty() {
            let place = |at: &u32| self.choices.place(self.choices.own(), *at);
            let lines = self.registrations.iter().map(|(at, line)| (place(at), line.clone()));
            let lines = self.choices.arranged(lines.collect());
            let comment = "Variables with a place on the device.";
            // What C++ initialises when the program begins comes first: `constructor` does not wait for it.
            out += &if is_in_c(source) {
                format!(
                    "\n/* {comment} */\n__attribute__((constructor)) static void acc2omp_declare_all{of}(void)\n{{\n{lines}}}\n"
                )
            } else {
                format!(
                    "\n/* {comment} */\nstatic bool acc2omp_declare_all{of}()\n{{\n{lines}    return true;\n}}\nstatic const bool acc2omp_all_declared{of} = acc2omp_declare_all{of}();\n"
                )
            };
        }
        if let Some(options) = self.options() {
            let name = own_name(source);
            let theirs = options_name(unit);
            out += &format!(
                "\n/* The device code must be built with the options of this file. */\n__attribute__((constructor)) static void acc2omp_compare_options{of}(void)\n{{\n    acc2omp_compare(\"{name}\",\n        {options},\n        {theirs}());\n}}\n"
            );
        }
        let name = own_name(source);
        out += &self.compared_layouts(&name, unit, &of).unwrap_or_default();
        Some(out).filter(|out| !out.is_empty())
    }
}

/// Whether a word is a type of `<stdint.h>` (C17, 7.20.1).
fn is_in_stdint(word: &str) -> bool {
    let Some(rest) = word.strip_suffix("_t") else { return false };
    let rest = rest.strip_prefix('u').unwrap_or(rest);
    let Some(rest) = rest.strip_prefix("int") else { return false };
    let rest = rest.strip_prefix("_least").or_else(|| rest.strip_prefix("_fast")).unwrap_or(rest);
    ["8", "16", "32", "64", "ptr", "max"].contains(&rest)
}

/// The function of the device file that says what the options of its build choose.
fn options_name(unit: &str) -> String {
    format!("acc2omp_options_of_{unit}")
}

/// Whether a function is of its file alone, as far as others may define it, too: `static`, or `inline`.
fn is_own(seen: Seen, function: &Function) -> bool {
    let head = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
    let is_said = |word: &&str| ["static", "inline", "__inline__", "__inline"].contains(word);
    words(&seen.file.text(head)).iter().any(is_said)
}

/// Whether a name is a function's of which the device file may have a copy.
fn is_function(input: &Input, name: &str) -> bool {
    let is_uncopyable = |at| input.uncopyable.is_some_and(|uncopyable| uncopyable.holds(at));
    let mut seen_here = input.headers.iter().chain([&input.source]).enumerate();
    seen_here.any(|(number, seen)| {
        let mut named = seen.unit.functions_named(name);
        named.any(|function| !is_uncopyable((number, function.span.start)))
    }) || input.headers.iter().any(|seen| is_routine_prototype(seen, name))
}

/// Whether a function of C++ may have arguments of its template where it is called: it is one, or its definition is not seen.
fn is_template(input: &Input, name: &str) -> bool {
    let all = input.headers.iter().chain([&input.source]);
    let mut known = all
        .flat_map(|seen| seen.unit.functions_named(name).map(|function| seen.file.text(function.span)))
        .peekable();
    input.unit().is_cpp() && (known.peek().is_none() || known.any(|text| text.starts_with("template")))
}

/// The names of all macros, types, enumerators and functions: most words of device code are none of them.
fn defined<'a>(input: &Input<'a>) -> FxHashSet<&'a str> {
    let mut found = FxHashSet::default();
    for seen in input.headers.iter().chain([&input.source]) {
        let is_definition =
            |kind: DeclKind| matches!(kind, DeclKind::Typedef | DeclKind::Enumerator | DeclKind::Prototype);
        let decls = seen.unit.decls.iter().filter(|decl| is_definition(decl.kind));
        found.extend(decls.map(|decl| decl.name.as_str()));
        found.extend(seen.unit.globals.iter().map(|id| seen.unit.decl(*id).name.as_str()));
        found.extend(seen.unit.records.iter().filter_map(|record| record.tag.as_deref()));
        found.extend(seen.unit.forms.enums.iter().filter_map(|one| one.tag.as_deref()));
        found.extend(seen.unit.functions.iter().map(|function| function.name.as_str()));
        found.extend(seen.scan.defines.iter().map(|define| define.name.as_str()));
    }
    found
}
