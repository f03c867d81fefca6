//! The device file of a source: kernels and launchers, and what of the program's macros, types and functions they need.
//!
//! Invariant: definitions are copied as they stand, in their order; the header declares what the host calls.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::acc::ast::{Argument, ClauseKind, DataClause, DirectiveKind};
use crate::bind::Target;
use crate::diag::Diag;
use crate::host::ir::{DeclKind, Derived, FunctionId};
use crate::scan::Define;
use crate::sema::{self, Class};
use crate::source::Span;

use super::body::{Body, Shape};
use super::levels::{self, Levels, Offer};
use super::names::Names;
use super::text::{Edits, words};
use super::{Input, Kernels, Refused, Seen, refused, types};

/// Headers of the standard libraries that device code may need.
const STANDARD: [&str; 24] = [
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
    kernels: Kernels,
    prototypes: Kernels,
    routines: BTreeSet<u32>,
    /// Copied definitions: by the number of the file (headers first) and the offset.
    parts: BTreeMap<(usize, u32), String>,
    globals: BTreeMap<u32, String>,
    registrations: Vec<String>,
    includes: BTreeSet<(usize, u32, String)>,
    /// By the number of the file and the offset, too: functions, and declarations of functions.
    functions: BTreeMap<(usize, u32), String>,
    device_prototypes: BTreeMap<(usize, u32), String>,
    /// The file holds device code itself.
    pub(super) in_place: bool,
}

/// The name of a source without folder and ending, as a C name.
pub fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut made: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    made
}

/// The name of a source among those of its folder, as a C name: a header has its ending in it, and what has a namesake.
pub fn unit_name(name: &str, has_namesake: bool) -> String {
    match name.rsplit_once('.') {
        Some((_, ending)) if has_namesake || header_ending(name).is_some() => {
            format!("{}_{ending}", stem(name))
        }
        _ => stem(name),
    }
}

/// The ending of a source that is a header.
pub fn header_ending(name: &str) -> Option<&str> {
    let (_, ending) = name.rsplit_once('.')?;
    ["h", "hpp", "hh", "hxx", "cuh"].contains(&ending).then_some(ending)
}

/// The macro of this name.
pub fn define<'a>(input: &Input<'a>, name: &str) -> Option<&'a Define> {
    let own = input.source.scan.defines.iter().rev().find(|define| define.name == name);
    own.or_else(|| {
        let mut headers = input.headers.iter().flat_map(|seen| seen.scan.defines.iter());
        headers.find(|define| define.name == name)
    })
}

/// The name of the function that a `routine` directive is about.
pub fn routine_name<'a>(input: &Input<'a>, index: usize) -> Option<&'a str> {
    let bound = &input.bound[index];
    match (&bound.directive.argument, bound.target) {
        (Argument::Name(name), _) => Some(name.text.as_str()),
        (_, Target::Function(id)) => Some(input.unit().function(id).name.as_str()),
        (_, Target::Declaration(span)) => {
            let prototype = input
                .unit()
                .decls
                .iter()
                .find(|decl| decl.kind == DeclKind::Prototype && span.contains(decl.name_span));
            prototype.map(|decl| decl.name.as_str())
        }
        _ => None,
    }
}

impl Device {
    /// Whether there is device code.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
            && self.functions.is_empty()
            && self.routines.is_empty()
            && self.globals.is_empty()
    }

    pub(super) fn kernel(&mut self, place: u32, text: String) {
        self.kernels
            .entry(place)
            .and_modify(|known| {
                known.push('\n');
                known.push_str(&text)
            })
            .or_insert(text);
    }

    pub(super) fn prototype(&mut self, place: u32, text: String) {
        self.prototypes.entry(place).and_modify(|known| known.push_str(&text)).or_insert(text);
    }

    /// A `routine` directive: its function is copied.
    pub(super) fn routine(&mut self, input: &Input, index: usize) {
        // What a header defines, the files that include it copy.
        if header_ending(&input.file().name).is_none() {
            self.routines.insert(input.bound[index].directive.span.start);
        }
    }

    /// A `declare` at file scope: variables get a twin on the device.
    pub(super) fn declare(&mut self, input: &Input, index: usize) -> Result<(), Refused> {
        let span = input.bound[index].directive.span;
        for kind in input.clauses(index) {
            let ClauseKind::Data(clause, list) = kind else { continue };
            for item in list {
                if *clause == DataClause::Link {
                    continue;
                }
                let symbol = input
                    .symbols
                    .lookup(&item.base.text, u32::MAX - 1)
                    .or_else(|| input.symbols.lookup(&item.base.text, span.start));
                let Some((seen, decl)) = symbol.and_then(|symbol| input.declaration(symbol)) else {
                    return Err(refused(item.span, "a variable whose declaration is not seen"));
                };
                let base = types::base(input, seen, decl)
                    .ok_or_else(|| refused(item.span, "a variable of this type"))?;
                let mut declarator = item.base.text.clone();
                for part in &decl.derived {
                    match part {
                        Derived::Pointer => declarator = format!("*{declarator}"),
                        Derived::Array(Some(size)) => {
                            declarator += &format!("[{}]", seen.text(*size));
                        }
                        _ => return Err(refused(item.span, "a variable of this type")),
                    }
                }
                let name = &item.base.text;
                if decl.is_extern {
                    self.globals.insert(
                        item.span.start,
                        format!("namespace device {{ extern __device__ {base} {declarator}; }}\n"),
                    );
                    continue;
                }
                let getter = format!("{}_{name}_device", unit_name(&input.file().name, input.has_namesake));
                self.globals.insert(
                    item.span.start,
                    format!(
                        "namespace device {{ __device__ {base} {declarator}; }}\n\nextern \"C\" void *{getter}(void)\n{{\n    void *address = nullptr;\n    cudaGetSymbolAddress(&address, device::{name});\n    return address;\n}}\n"
                    ),
                );
                self.prototype(0, format!("void *{getter}(void);\n"));
                let copies = matches!(clause, DataClause::Copyin { .. } | DataClause::Copy);
                self.registrations.push(format!(
                    "    acc2omp_declare(&{name}, sizeof {name}, {getter}, {});\n",
                    u8::from(copies)
                ));
            }
        }
        Ok(())
    }

    /// Finds everything that the kernels need.
    /// `placed` are the functions that the host file gives the device, too: their copies are of this file alone.
    pub(super) fn close(&mut self, input: &Input, placed: &BTreeSet<u32>, diags: &mut Vec<Diag>) {
        if self.is_empty() {
            return;
        }
        let mut pending: Vec<String> = self.kernels.values().chain(self.globals.values()).cloned().collect();
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut called: BTreeSet<String> = BTreeSet::new();
        let defined = defined(input);
        for (index, bound) in input.bound.iter().enumerate() {
            if self.routines.contains(&bound.directive.span.start)
                && let Some(name) = routine_name(input, index)
            {
                called.insert(name.to_owned());
                match self.function(input, placed, name) {
                    Ok(texts) => pending.extend(texts),
                    Err(why) => diags.push(*why),
                }
            }
        }
        while let Some(text) = pending.pop() {
            for word in words(&text) {
                if !defined.contains(word) || !known.insert(word.to_owned()) {
                    continue;
                }
                pending.extend(self.need(input, word));
                let seen_here = input.headers.iter().chain([&input.source]);
                let is_called = seen_here
                    .flat_map(|seen| seen.unit.functions.iter().map(move |one| (seen, one)))
                    .any(|(seen, function)| {
                        function.name == word
                            && (!input.unit().is_cpp() || super::cpp::is_plain_in(seen, function))
                    })
                    || input.headers.iter().any(|seen| is_routine_prototype(seen, word));
                if is_called && called.insert(word.to_owned()) {
                    match self.function(input, placed, word) {
                        Ok(texts) => pending.extend(texts),
                        Err(why) => diags.push(*why),
                    }
                }
            }
        }
        for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
            for include in seen.scan.includes.iter().filter(|include| include.active && !include.quoted) {
                if STANDARD.contains(&include.path.as_str()) {
                    self.includes.insert((number, include.span.start, include.path.clone()));
                }
            }
        }
    }

    /// Copies the definitions of a name, as a macro or a type; the texts that came in.
    fn need(&mut self, input: &Input, word: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
            for define in seen.scan.defines.iter().filter(|define| define.name == word) {
                let text = seen.file.text(define.span).into_owned();
                texts.push(define.body.clone());
                self.parts.insert((number, define.span.start), text);
            }
            for span in definitions(seen, word) {
                let text = seen.file.text(span).trim_end().to_owned();
                let text = if text.ends_with(';') { text } else { format!("{text};") };
                if self.parts.get(&(number, span.start)) != Some(&text) {
                    texts.push(text.clone());
                    self.parts.insert((number, span.start), text);
                }
            }
        }
        texts
    }

    /// Copies a function as device code; the texts that came in.
    fn function(
        &mut self,
        input: &Input,
        placed: &BTreeSet<u32>,
        name: &str,
    ) -> Result<Vec<String>, Refused> {
        let unit = input.unit();
        let Some(at) = unit.functions.iter().position(|function| function.name == name) else {
            return Ok(self.foreign(input, name));
        };
        let function = &unit.functions[at];
        let code = routine_code(input, at, Edits::default(), 0)?;
        let body = function.body;
        let head = Span { start: function.span.start, end: unit.stmt(body).span.start };
        let own = if placed.contains(&function.span.start) { "static " } else { "" };
        let head = format!("{own}{}", head_of(&input.file().text(head)));
        let mut text = format!("{head}\n{code}\n");
        if input.says_lines() {
            text += &format!("{}\n", super::origin::BACK);
        }
        let place = (input.headers.len(), function.span.start);
        self.functions.insert(place, text.clone());
        self.device_prototypes.insert(place, format!("{};\n", head.trim_end()));
        Ok(vec![text])
    }

    /// A function that another file defines: from a header, or declared only.
    fn foreign(&mut self, input: &Input, name: &str) -> Vec<String> {
        for (number, seen) in input.headers.iter().enumerate() {
            if let Some(function) = seen.unit.functions.iter().find(|function| function.name == name) {
                let text = seen.file.text(function.span).into_owned();
                let head = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
                let own = if input.unit().is_cpp() { "static " } else { "" };
                let whole = format!(
                    "{own}{}\n{}",
                    head_of(&seen.file.text(head)),
                    seen.file.text(seen.unit.stmt(function.body).span)
                );
                let lines: Vec<&str> =
                    whole.lines().filter(|line| !line.trim_start().starts_with("#pragma")).collect();
                self.functions.insert((number, function.span.start), format!("{}\n", lines.join("\n")));
                return vec![text];
            }
        }
        for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
            let prototype =
                seen.unit.decls.iter().find(|decl| decl.kind == DeclKind::Prototype && decl.name == name);
            if let Some(decl) = prototype {
                let text = seen.file.text(decl.span).into_owned();
                let head = head_of(text.trim_end().trim_end_matches(';'));
                self.device_prototypes.insert((number, decl.span.start), format!("{head};\n"));
                return vec![text];
            }
        }
        Vec::new()
    }

    /// Adds what another view of the same file has brought.
    pub fn merge(&mut self, other: Device) {
        self.kernels.extend(other.kernels);
        self.prototypes.extend(other.prototypes);
        self.routines.extend(other.routines);
        self.parts.extend(other.parts);
        self.globals.extend(other.globals);
        self.registrations.extend(other.registrations);
        self.includes.extend(other.includes);
        self.functions.extend(other.functions);
        self.device_prototypes.extend(other.device_prototypes);
        self.in_place |= other.in_place;
    }

    /// The device file, by its own name and that of its source.
    pub fn text(&self, name: &str, source: &str) -> String {
        let has_complex = self.includes.iter().any(|(_, _, path)| path == COMPLEX_HEADER);
        let whole = super::complex::rewritten(&self.whole(source, has_complex), has_complex);
        super::origin::resolved(&whole, name)
    }

    /// The device file, with the types of C. `has_complex`: it knows the macros for complex numbers.
    fn whole(&self, source: &str, has_complex: bool) -> String {
        let source = source.rsplit(['/', '\\']).next().unwrap_or_default();
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
        out += "#include \"acc2omp_cuda.h\"\n\n";
        let all: String = self
            .parts
            .values()
            .chain(self.functions.values())
            .chain(self.kernels.values())
            .cloned()
            .collect();
        if words(&all).contains(&"restrict") {
            out += "#define restrict __restrict__\n\n";
        }
        if words(&all).contains(&"_Bool") {
            out += "#define _Bool bool\n\n";
        }
        let macros = super::complex::macros(&all);
        if has_complex && !macros.is_empty() {
            out += &format!("{macros}\n");
        }
        for text in self.parts.values() {
            out += text.trim_end();
            out.push('\n');
        }
        if !self.parts.is_empty() {
            out.push('\n');
        }
        if !self.globals.is_empty() {
            out += &self.globals.values().cloned().collect::<Vec<_>>().join("\n");
            out.push('\n');
        }
        let has_functions = !self.functions.is_empty() || !self.device_prototypes.is_empty();
        if has_functions {
            // The host has functions of these names, too.
            out += "namespace device {\n\n";
            self.device_prototypes.values().for_each(|text| out += text);
            out.push('\n');
            for text in self.functions.values() {
                out += text.trim_end();
                out += "\n\n";
            }
            out += "}  // namespace device\n\n";
        }
        if has_functions || !self.globals.is_empty() {
            out += "using namespace device;\n\n";
        }
        for text in self.kernels.values() {
            out += text.trim_end();
            out += "\n\n";
        }
        format!("{}\n", out.trim_end())
    }

    /// The header of the launchers.
    pub fn header(&self, source: &str, has_namesake: bool) -> String {
        let name = source.rsplit(['/', '\\']).next().unwrap_or_default();
        let guard = format!("{}_ACC_H", unit_name(source, has_namesake).to_uppercase());
        let mut out = format!("// What {name} calls of its device code.\n");
        if self.in_place {
            out += &format!(
                "// {name} holds device code itself: it is built by nvcc -x cu --extended-lambda.\n"
            );
        }
        out += &format!("\n#ifndef {guard}\n#define {guard}\n\n");
        out += "#include \"acc2omp_cuda.h\"\n\n";
        if !self.prototypes.is_empty() {
            out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
            self.prototypes.values().for_each(|text| out += text);
            out += "\n#ifdef __cplusplus\n}\n#endif\n\n";
        }
        out + "#endif\n"
    }

    /// Lines for the end of the host file: the variables that have a twin on the device.
    pub fn registration(&self) -> Option<String> {
        if self.registrations.is_empty() {
            return None;
        }
        let lines: String = self.registrations.concat();
        Some(format!(
            "\n/* Variables with a place on the device. */\n__attribute__((constructor)) static void acc2omp_declare_all(void)\n{{\n{lines}}}\n"
        ))
    }
}

/// The body of a function as device code: the loops of a routine with levels are shared out.
pub fn routine_code(input: &Input, at: usize, edits: Edits, indent: usize) -> Result<String, Refused> {
    let unit = input.unit();
    let function = &unit.functions[at];
    let name = &function.name;
    types::none_too_long(input, function.span)?;
    let levels = levels::routine_levels(input, name);
    let routine = (0..input.bound.len()).find(|index| {
        input.bound[*index].directive.kind == DirectiveKind::Routine
            && routine_name(input, *index) == Some(name)
    });
    let body = function.body;
    let mut nest = levels::Nest::new();
    if let Some(index) = routine.filter(|_| levels.any()) {
        let offer = Offer { index, levels, wants_assertion: false };
        nest = levels::nest_in(input, offer, unit.stmt(body).span).0;
    }
    let mut body_of = Body {
        input,
        nest: &nest,
        region: unit.stmt(body).span,
        // Vector lanes belong to one of the workers that there may be.
        shape: Shape { rows: levels.threads(), many: levels.threads() },
        mode: Levels { worker: levels.threads() && !levels.worker, ..Levels::NONE },
        names: Names::of(&input.file().text(function.span)),
        edits,
        common: common(input, FunctionId(at as u32)),
        flat: Default::default(),
        template: false,
        results: Default::default(),
        arrays: Default::default(),
        tables: Default::default(),
        windows: Vec::new(),
        is_routine: true,
        sizes: None,
        is_together: true,
    };
    body_of.code(body, indent)
}

/// Whether a header declares a function behind a `routine` directive.
fn is_routine_prototype(seen: &Seen, name: &str) -> bool {
    let is_named = |decl: &&crate::host::ir::Decl| decl.kind == DeclKind::Prototype && decl.name == name;
    seen.unit.decls.iter().filter(is_named).any(|decl| {
        seen.scan.directives.iter().any(|text| {
            let between = Span { start: text.span.end, end: decl.span.start.max(text.span.end) };
            text.span.end <= decl.span.start
                && seen.file.text(text.span).contains("routine")
                && seen.file.text(between).trim().is_empty()
        })
    })
}

/// The names of all macros, types, enumerators and functions: most words of device code are none of them.
fn defined<'a>(input: &Input<'a>) -> FxHashSet<&'a str> {
    let mut found = FxHashSet::default();
    for seen in input.headers.iter().chain([&input.source]) {
        let is_definition =
            |kind: DeclKind| matches!(kind, DeclKind::Typedef | DeclKind::Enumerator | DeclKind::Prototype);
        let decls = seen.unit.decls.iter().filter(|decl| is_definition(decl.kind));
        found.extend(decls.map(|decl| decl.name.as_str()));
        found.extend(seen.unit.records.iter().filter_map(|record| record.tag.as_deref()));
        found.extend(seen.unit.functions.iter().map(|function| function.name.as_str()));
        found.extend(seen.scan.defines.iter().map(|define| define.name.as_str()));
    }
    found
}

/// The definitions of a type or an enumerator at file scope.
fn definitions(seen: &Seen, word: &str) -> Vec<Span> {
    let unit = seen.unit;
    let mut found: Vec<Span> = Vec::new();
    let in_function = |span: Span| unit.functions.iter().any(|function| function.span.contains(span));
    for decl in &unit.decls {
        let is_type = decl.kind == DeclKind::Typedef || decl.kind == DeclKind::Enumerator;
        if is_type && decl.name == word && !in_function(decl.span) {
            found.push(decl.span);
        }
    }
    for record in &unit.records {
        if record.tag.as_deref() == Some(word) && !in_function(record.span) {
            found.push(record.span);
        }
    }
    // A definition inside another declaration comes with it.
    let whole: Vec<Span> = found
        .iter()
        .map(|span| {
            let around =
                unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef && decl.span.contains(*span));
            around.map(|decl| decl.span).max_by_key(|span| span.end - span.start).unwrap_or(*span)
        })
        .collect();
    let mut whole = whole;
    whole.sort_by_key(|span| span.start);
    whole.dedup();
    whole
}

/// The head of a function as device code.
fn head_of(text: &str) -> String {
    let mut head = text.trim().to_owned();
    for word in ["extern \"C\" ", "extern ", "static ", "inline ", "__inline__ "] {
        head = head.replace(word, "");
    }
    let lines: Vec<&str> = head.lines().filter(|line| !line.trim_start().starts_with("#pragma")).collect();
    format!("__device__ {}", lines.join("\n").trim())
}

/// What a function's threads share: everything that it is given an address of, and statics.
fn common(input: &Input, function: FunctionId) -> std::collections::HashSet<sema::SymbolId> {
    let unit = input.unit();
    let function = unit.function(function);
    let uses = sema::uses(unit, input.symbols, function.body);
    uses.iter()
        .map(|(symbol, _)| symbol)
        .filter(|symbol| {
            let known = input.symbols.get(*symbol);
            matches!(known.kind, sema::SymbolKind::Static | sema::SymbolKind::Member)
                || known.kind == sema::SymbolKind::Parameter && known.class == Class::Array
        })
        .collect()
}
