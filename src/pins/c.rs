//! What is put around directives of C and C++.
//!
//! Invariant: what is put there is statements in braces, so that a directive stays the body of what it was the body of.

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::edit::Edit;
use crate::scan::Conditions;
use crate::source::{SourceFile, Span};

use super::components::components;
use super::variables::Variable;
use super::{Event, Input, Moved, Texts, Where};

/// A directive at its place.
pub struct Place<'a> {
    /// What is read of the view.
    pub input: &'a Input<'a>,
    /// The directive.
    pub index: usize,
    /// Its line, from 1.
    pub line: usize,
    /// The conditions of its file.
    pub conditions: &'a Conditions,
}

impl Place<'_> {
    /// Why nothing can be put around the directive.
    pub fn obstacle(&self) -> Option<&'static str> {
        let is_whole = self.opening().is_some() && self.closing().is_some() && self.holds_its_body();
        (!is_whole).then_some("a condition of the preprocessor holds a part of it")
    }

    /// Records what a compute construct finds and leaves.
    pub fn record_construct(&self, variables: &[Variable], texts: &mut Texts) {
        let Some(end) = self.end() else { return };
        let name = self.name();
        let entry: Vec<_> = variables.iter().map(|one| (one, Where::Compute)).collect();
        let left: Vec<_> = entry.iter().filter(|(one, _)| one.is_changed).copied().collect();
        texts.before(self.start(), format!("{{ {}\n", self.event(Event::entry(name), &entry)));
        texts.after(end, format!("\n{} }}", self.event(Event::exit(name), &left)));
    }

    /// Records what a region of data moves at its beginning and its end.
    pub fn record_region(&self, moved: &Moved, placed: Where, texts: &mut Texts) {
        let Some(stmt) = self.input.bound[self.index].stmt() else { return };
        let body = self.input.unit.stmt(stmt).span;
        let name = self.name();
        let end = format!("end {name}");
        let event = |event: Event, all: &[Variable], place: Where| {
            self.event(event, &all.iter().map(|one| (one, place)).collect::<Vec<_>>())
        };
        let entry = event(Event::entry(name), &moved.to_device, Where::Absent);
        let brought = moved.to_device.iter().map(|one| (one, placed));
        let inside = self.event(Event::exit(name), &brought.chain(moved.made(placed)).collect::<Vec<_>>());
        let leaving = Event { name: &end, is_entry: true, counts: false };
        let leaving = event(leaving, &moved.to_host, Where::Device);
        let left = event(Event::exit(&end), &moved.to_host, Where::Absent);
        texts.before(self.start(), format!("{{ {entry}\n"));
        texts.before(self.line_of(body.start), format!("{{ {inside}\n"));
        texts.after(body.end, format!("\n{leaving} }}\n{left} }}"));
    }

    /// Records what a directive finds and leaves that stands for itself.
    pub fn record_motion(&self, [entry, exit]: [&[(&Variable, Where)]; 2], texts: &mut Texts) {
        let name = self.name();
        let span = self.input.bound[self.index].directive.span;
        texts.before(self.start(), format!("{{ {}\n", self.event(Event::entry(name), entry)));
        let end = crate::layout::before_line_end(self.input.file, span.end);
        texts.after(end, format!("\n{} }}", self.event(Event::exit(name), exit)));
    }

    /// Remembers how long that is which a data directive puts on the device, for pointers in constructs.
    pub fn remember(&self, placed: &[Variable], texts: &mut Texts) {
        let all = |change: i32| -> String {
            let one = |variable: &Variable| {
                let Variable { first, count, .. } = variable;
                let call = format!(
                    "acc2omp_pin_placed(&({first}), (long long)({count}), sizeof({first}), {change});"
                );
                piece_by_piece(variable, "", &call, "")
            };
            placed.iter().map(one).collect()
        };
        if placed.is_empty() {
            return;
        }
        let bound = &self.input.bound[self.index];
        match bound.directive.kind {
            DirectiveKind::Data => {
                let Some(stmt) = bound.stmt() else { return };
                let body = self.input.unit.stmt(stmt).span;
                texts.before(self.line_of(body.start), format!("{{{}\n", all(1)));
                texts.after(body.end, format!("\n{} }}", all(-1)));
            }
            kind => {
                let change = if kind == DirectiveKind::ExitData { -1 } else { 1 };
                let end = crate::layout::before_line_end(self.input.file, bound.directive.span.end);
                texts.before(self.start(), "{\n".to_owned());
                texts.after(end, format!("\n{} }}", all(change)));
            }
        }
    }

    /// Lets the construct run on the device or on the host, as is decided when the program runs.
    pub fn choose(&self, variables: &[Variable], number: usize, texts: &mut Texts) {
        let Some(end) = self.end() else { return };
        let directive = &self.input.bound[self.index].directive;
        let on = format!("acc2omp_pin_on_device({number})");
        let condition = directive.clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::If(condition) => Some(condition),
            _ => None,
        });
        let edit = match condition {
            Some(condition) => {
                Edit { span: condition.span, text: format!("({}) && {on}", condition.text).into_bytes() }
            }
            None => Edit {
                span: Span { start: directive.name_span.end, end: directive.name_span.end },
                text: format!(" if({on})").into_bytes(),
            },
        };
        texts.replaced.push(edit);
        let update = |to_host: bool| {
            let all = variables
                .iter()
                .filter(|one| (!one.is_scalar || one.is_listed) && (to_host || one.is_changed));
            let (pointed, named): (Vec<&Variable>, Vec<&Variable>) = all.partition(|one| one.is_pointed);
            let mut text = String::new();
            if !named.is_empty() {
                let names: Vec<&str> = named.iter().map(|one| one.name.as_str()).collect();
                let way = if to_host { "self" } else { "device" };
                text += &format!("#pragma acc update {way}({}) if_present\n", names.join(", "));
            }
            for Variable { first, .. } in pointed {
                text += &format!("acc2omp_pin_update(&({first}), {});\n", u8::from(to_host));
            }
            match text.is_empty() {
                true => text,
                false => format!("if (!{on}) {{\n#pragma acc wait\n{text}}}"),
            }
        };
        texts.before(self.start(), format!("{{ {}\n", update(true)));
        texts.after(end, format!("\n{} }}", update(false)));
    }

    fn name(&self) -> &'static str {
        crate::acc::name(self.input.bound[self.index].directive.kind)
    }

    fn directive(&self) -> Span {
        self.input.bound[self.index].directive.span
    }

    /// The code that the directive governs.
    fn body(&self) -> Option<Span> {
        let stmt = self.input.bound[self.index].stmt()?;
        Some(self.input.unit.stmt(stmt).span)
    }

    /// Where the lines before the directive go.
    fn start(&self) -> u32 {
        self.opening().unwrap_or_else(|| self.line_of(self.directive().start))
    }

    /// The end of the code that the directive governs.
    fn end(&self) -> Option<u32> {
        self.body().map(|body| self.closing().unwrap_or(body.end))
    }

    /// The beginning of a line if `#` stands first on it, or the place itself.
    fn line_of(&self, at: u32) -> u32 {
        let file = self.input.file;
        let line = file.lines.span(file.lines.line(at));
        if file.text(line).trim_start().starts_with('#') { line.start } else { at }
    }

    /// The directive and its code: the first byte and the last one.
    fn ends(&self) -> (u32, u32) {
        let directive = self.directive();
        (self.line_of(directive.start), self.body().map_or(directive.end, |body| body.end).max(1) - 1)
    }

    /// The beginning of the directive, or of the conditions that hold it and not the end of its code, if nothing else stands
    /// in them before it.
    fn opening(&self) -> Option<u32> {
        let (first, last) = self.ends();
        let Some(outer) = self.conditions.between(first, last).pop() else { return Some(first) };
        let before = self.input.file.text(Span { start: outer.span.start, end: first });
        let is_empty = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        before.lines().all(is_empty).then_some(outer.span.start)
    }

    /// The end of its code, or of the conditions that hold it and not the directive, if nothing else of the branch stands
    /// after it.
    fn closing(&self) -> Option<u32> {
        let (first, last) = self.ends();
        let Some(outer) = self.conditions.between(last, first).pop() else { return Some(last + 1) };
        let after = self.input.file.text(Span { start: last + 1, end: outer.span.end });
        let mut own = after.lines().take_while(|line| !line.trim_start().starts_with('#'));
        own.all(|line| line.trim().is_empty()).then_some(outer.span.end)
    }

    /// Whether what a region of data governs begins and ends under the same conditions.
    fn holds_its_body(&self) -> bool {
        let is_region = self.input.bound[self.index].directive.kind == DirectiveKind::Data;
        self.body().filter(|_| is_region).is_none_or(|body| {
            let last = body.end.max(1) - 1;
            let [there, back] = [(body.start, last), (last, body.start)];
            [there, back].iter().all(|(from, to)| self.conditions.between(*from, *to).is_empty())
        })
    }

    /// The statements that record an event.
    fn event(&self, event: Event, variables: &[(&Variable, Where)]) -> String {
        let file = &self.input.file.name;
        let phase = if event.is_entry { "entry" } else { "exit" };
        let mut text = format!(
            "if (acc2omp_pin_begin({file:?}, {}, \"{}\", \"{phase}\", {})) {{",
            self.line,
            event.name,
            u8::from(event.counts)
        );
        for (variable, place) in variables {
            let components = components(self.input, variable).known;
            if components.is_empty() {
                text += &recorded(variable, *place);
            }
            for (path, rank) in components {
                text += &recorded_component(variable, (&path, rank), *place);
            }
        }
        text + " acc2omp_pin_end(); }"
    }
}

/// The statements that record a variable.
fn recorded(variable: &Variable, place: Where) -> String {
    let Variable { name, first, count, is_register, .. } = variable;
    let copy =
        if *is_register { format!("__typeof__({first}) acc2omp_copy = {first}; ") } else { String::new() };
    let first = if *is_register { "acc2omp_copy" } else { first.as_str() };
    let begin = format!(
        "{copy}acc2omp_pin_variable({name:?}, ACC2OMP_PIN_KIND_OF({first}), sizeof({first}), {}); ",
        place.word()
    );
    let call = format!("acc2omp_pin_part(&({first}), (long long)({count}));");
    piece_by_piece(variable, &begin, &call, " acc2omp_pin_variable_end();")
}

/// The statements that record a component of each of a variable's elements.
fn recorded_component(variable: &Variable, (path, rank): (&str, usize), place: Where) -> String {
    let Variable { name, first, count, .. } = variable;
    let own = format!("({first}){path}");
    let number = format!("{own}{}", "[0]".repeat(rank));
    let begin = format!(
        "acc2omp_pin_variable(\"{name}{path}\", ACC2OMP_PIN_KIND_OF({number}), sizeof({number}), {}); ",
        place.word()
    );
    let call = format!(
        "acc2omp_pin_component(&({first}), (long long)({count}), sizeof({first}), &({own}), sizeof({own}));"
    );
    piece_by_piece(variable, &begin, &call, " acc2omp_pin_variable_end();")
}

/// A block with `call` for each piece of a variable, between `begin` and `end`.
fn piece_by_piece(variable: &Variable, begin: &str, call: &str, end: &str) -> String {
    let loops = &variable.loops;
    let counters: String = (0..loops.len()).map(|at| format!("long long acc2omp_{at} = 0; ")).collect();
    let heads = loops.iter().enumerate().map(|(at, turns)| {
        format!("for (acc2omp_{at} = 0; acc2omp_{at} < (long long)({turns}); ++acc2omp_{at}) ")
    });
    let heads: String = heads.collect();
    format!(" {{ {counters}{begin}{heads}{call}{end} }}")
}

/// The line that includes the library: before the first `#include` that no condition holds, other than one around the whole
/// file; before the first line of the preprocessor or of code if there is none. `line` is that of the first directive.
pub fn library(file: &SourceFile, line: usize) -> Edit {
    let conditions = Conditions::of(file);
    let is_include = |text: &str| {
        text.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
    };
    let lines = (0..line.saturating_sub(1)).map(|line| file.lines.span(line));
    let mut includes = lines.filter(|span| is_include(&file.text(*span)));
    let free = includes.find(|span| conditions.between(span.start, file.bytes.len() as u32).is_empty());
    let code = file.lines.span(line.saturating_sub(1)).start;
    let at = free.map_or_else(|| crate::layout::first_include(file, code), |span| span.start);
    // A file without a line of the preprocessor.
    let at = if at == code { 0 } else { at };
    Edit {
        span: Span { start: at, end: at },
        text: format!("#include \"{}\"\n", super::HEADER.0).into_bytes(),
    }
}
