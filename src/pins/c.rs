//! What is put around directives of C and C++.
//!
//! Invariant: what is put there is statements in braces, so that a directive stays the body of what it was the body of.

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::bind::ancestors;
use crate::edit::Edit;
use crate::scan::Conditions;
use crate::source::{SourceFile, Span};

use super::variables::Variable;
use super::{Input, Moved, Texts};

/// A directive in its place.
pub struct Place<'a> {
    /// What is read of the view.
    pub input: &'a Input<'a>,
    /// The directive.
    pub index: usize,
    /// Its line, from 1.
    pub line: usize,
}

/// Where a variable is looked for, as the library says it.
#[derive(Clone, Copy)]
enum Where {
    Compute,
    Device,
    Placed,
    Host,
    Absent,
}

impl Where {
    fn word(self) -> &'static str {
        match self {
            Where::Compute => "ACC2OMP_PIN_COMPUTE",
            Where::Device => "ACC2OMP_PIN_DEVICE",
            Where::Placed => "ACC2OMP_PIN_PLACED",
            Where::Host => "ACC2OMP_PIN_HOST",
            Where::Absent => "ACC2OMP_PIN_ABSENT",
        }
    }
}

/// One of the two events of a directive.
#[derive(Clone, Copy)]
struct Event<'a> {
    name: &'a str,
    is_entry: bool,
    counts: bool,
}

impl Place<'_> {
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
    pub fn record_region(&self, moved: &Moved, texts: &mut Texts) {
        let Some(stmt) = self.input.bound[self.index].stmt() else { return };
        let body = self.input.unit.stmt(stmt).span;
        let name = self.name();
        let end = format!("end {name}");
        let event = |event: Event, all: &[Variable], place: Where| {
            self.event(event, &all.iter().map(|one| (one, place)).collect::<Vec<_>>())
        };
        let entry = event(Event::entry(name), &moved.to_device, Where::Absent);
        let inside = event(Event::exit(name), &moved.to_device, self.placed());
        let leaving = Event { name: &end, is_entry: true, counts: false };
        let leaving = event(leaving, &moved.to_host, Where::Device);
        let left = event(Event::exit(&end), &moved.to_host, Where::Absent);
        texts.before(self.start(), format!("{{ {entry}\n"));
        texts.before(self.line_of(body.start), format!("{{ {inside}\n"));
        texts.after(body.end, format!("\n{leaving} }}\n{left} }}"));
    }

    /// Records what a directive moves that stands for itself.
    pub fn record_motion(&self, moved: &Moved, is_update: bool, texts: &mut Texts) {
        let name = self.name();
        let host = if is_update { Where::Host } else { Where::Absent };
        let variables = |[to_device, to_host]: [Where; 2]| -> Vec<(&Variable, Where)> {
            let first = moved.to_device.iter().map(|one| (one, to_device));
            first.chain(moved.to_host.iter().map(|one| (one, to_host))).collect()
        };
        let entry = variables([host, Where::Device]);
        let placed = if is_update { Where::Device } else { self.placed() };
        let exit = variables([placed, host]);
        let span = self.input.bound[self.index].directive.span;
        texts.before(self.start(), format!("{{ {}\n", self.event(Event::entry(name), &entry)));
        let end = crate::layout::before_line_end(self.input.file, span.end);
        texts.after(end, format!("\n{} }}", self.event(Event::exit(name), &exit)));
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
        if self.needs_device() {
            return;
        }
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

    /// Where the directive puts data: on the device, unless a condition says otherwise.
    fn placed(&self) -> Where {
        let mut clauses = self.input.bound[self.index].directive.clauses.iter();
        let is_conditional = clauses.any(|clause| matches!(clause.kind, ClauseKind::If(_)));
        if is_conditional { Where::Device } else { Where::Placed }
    }

    /// Whether the construct uses addresses of the device, which the host cannot.
    fn needs_device(&self) -> bool {
        let bound = self.input.bound;
        let around = std::iter::once(self.index).chain(ancestors(bound, self.index));
        let mut clauses = around.flat_map(|at| &bound[at].directive.clauses);
        clauses.any(|clause| {
            matches!(clause.kind, ClauseKind::Data(DataClause::Deviceptr, _) | ClauseKind::UseDevice(_))
        })
    }

    fn name(&self) -> &'static str {
        crate::acc::name(self.input.bound[self.index].directive.kind)
    }

    /// Where the lines before the directive go.
    fn start(&self) -> u32 {
        self.line_of(self.input.bound[self.index].directive.span.start)
    }

    /// The beginning of a line if `#` stands first on it, or the place itself.
    fn line_of(&self, at: u32) -> u32 {
        let file = self.input.file;
        let line = file.lines.span(file.lines.line(at));
        if file.text(line).trim_start().starts_with('#') { line.start } else { at }
    }

    /// The end of the code that the directive governs.
    fn end(&self) -> Option<u32> {
        let stmt = self.input.bound[self.index].stmt()?;
        Some(self.input.unit.stmt(stmt).span.end)
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
            text += &recorded(variable, *place);
        }
        text + " acc2omp_pin_end(); }"
    }
}

impl<'a> Event<'a> {
    fn entry(name: &'a str) -> Event<'a> {
        Event { name, is_entry: true, counts: true }
    }

    fn exit(name: &'a str) -> Event<'a> {
        Event { name, is_entry: false, counts: false }
    }
}

/// The statements that record a variable.
fn recorded(variable: &Variable, place: Where) -> String {
    let Variable { name, first, count, .. } = variable;
    let begin = format!(
        "acc2omp_pin_variable({name:?}, ACC2OMP_PIN_KIND_OF({first}), sizeof({first}), {}); ",
        place.word()
    );
    let call = format!("acc2omp_pin_part(&({first}), (long long)({count}));");
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

/// Where the library is included: before the first `#include` that no condition holds, other than one around the whole file;
/// before the first line of the preprocessor or of code if there is none. `line` is that of the first directive.
pub fn include_at(file: &SourceFile, line: usize) -> u32 {
    let conditions = Conditions::of(file);
    let is_include = |text: &str| {
        text.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
    };
    let lines = (0..line.saturating_sub(1)).map(|line| file.lines.span(line));
    let mut includes = lines.filter(|span| is_include(&file.text(*span)));
    let free = includes.find(|span| conditions.between(span.start, file.bytes.len() as u32).is_empty());
    let code = file.lines.span(line.saturating_sub(1)).start;
    free.map_or_else(|| crate::layout::first_include(file, code), |span| span.start)
}
