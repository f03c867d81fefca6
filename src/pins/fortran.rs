//! What is put around directives of Fortran, and the library before the first line of a source.
//!
//! Invariant: what is put there is whole statements between the user's, in `block` constructs whose names end with them; where
//! they could stand apart from their directive, or where no statement may stand, the directive stays as it is.

use std::collections::BTreeSet;

use crate::acc::ast::ClauseKind;
use crate::bind::Bound;
use crate::edit::Edit;
use crate::host::ir::{Scope, ScopeKind, StmtKind};
use crate::layout;
use crate::scan::Conditions;
use crate::source::{Form, Language, SourceFile, Span};

use super::fortran_variables::counter;
use super::variables::Variable;
use super::{Event, Input, Moved, Purpose, Texts, Where};

/// The library, with names that stand for those of a source.
const LIBRARY: &str = include_str!("acc2omp_pin.f90");

/// The module's name there.
const MODULE: &str = "acc2omp_pin_source";

/// The line there that says which source it is.
const PATH: &str = "      character(*), parameter :: source = 'acc2omp_pin_path'\n";

/// Literals are no longer than this, so that lines of fixed form have room for them.
const LITERAL: usize = 40;

/// What records events. Only these names are brought: a translator need not know that others of the module are private.
const RECORDING: &str = "acc2omp_pin_k, acc2omp_pin_begin, acc2omp_pin_variable, acc2omp_pin_row, \
                         acc2omp_pin_variable_end, acc2omp_pin_end";

/// The intrinsic functions that are called beside directives.
const USED: [&str; 9] =
    ["int", "min", "lbound", "ubound", "size", "storage_size", "present", "allocated", "associated"];

/// Directives of at most so many columns are one line in either form.
const SHORT: usize = 72;

/// A directive at its place.
pub struct Place<'a> {
    /// What is read of the view.
    pub input: &'a Input<'a>,
    /// The directive.
    pub index: usize,
    /// Its line, from 1.
    pub line: usize,
    /// The conditions of the file.
    pub conditions: &'a Conditions,
}

impl Place<'_> {
    /// Why nothing can be put around the directive.
    pub fn obstacle(&self, purpose: Purpose) -> Option<&'static str> {
        let Input { file, unit, .. } = self.input;
        let own = self.bound();
        let scopes = || unit.scope_at(own.directive.span.start).into_iter();
        let around = scopes().flat_map(|id| std::iter::successors(Some(id), |id| unit.scope(*id).parent));
        let around: Vec<&Scope> = around.map(|id| unit.scope(id)).collect();
        let is_fragment = |scope: &&Scope| !is_whole(file, scope);
        if around.is_empty() || around.last().is_some_and(is_fragment) {
            return Some("its file is a part of a program unit");
        }
        if around[0].is_pure {
            return Some("its procedure is `pure`");
        }
        let mut names = around.iter().flat_map(|scope| &scope.decls).map(|id| unit.decl(*id).name.as_str());
        if names.any(|name| USED.iter().any(|used| name.eq_ignore_ascii_case(used))) {
            return Some("a variable has the name of an intrinsic function that pins call");
        }
        let end = self.end();
        if own.stmt().is_some() && end.is_none() {
            return Some("nothing says where it ends");
        }
        let span = Span { start: own.directive.span.start, end: end.unwrap_or(own.directive.span.end) };
        if self.is_parted(span, purpose) {
            return Some("a condition of the preprocessor holds a part of it");
        }
        if layout::lines_after(file, span.end, span, &[]).is_none() {
            return Some("a statement follows it on its line");
        }
        if self.shares_its_end() {
            return Some("a loop around it ends at the same statement");
        }
        let openmp = |line: Option<usize>, word: &str| {
            let text =
                line.filter(|line| *line < file.lines.count()).map(|line| file.text(file.lines.span(line)));
            text.is_some_and(|text| text.trim_start().to_ascii_lowercase().starts_with(word))
        };
        let first = file.lines.line(span.start);
        let is_end = openmp(first.checked_sub(1), "!$omp end");
        let last = file.lines.line(span.end.max(1) - 1);
        if openmp(first.checked_sub(1), "!$omp") && !is_end || openmp(Some(last + 1), "!$omp end") {
            return Some("a directive of OpenMP stands beside it");
        }
        None
    }

    /// Whether a condition of the preprocessor holds a part of the directive and its code, so that what stands around them could
    /// come apart: what is recorded after a loop may stand under the conditions of its directive.
    fn is_parted(&self, span: Span, purpose: Purpose) -> bool {
        let is_held = |from, to| !self.conditions.between(from, to).is_empty();
        let (first, last) = (is_held(span.start, span.end), is_held(span.end, span.start));
        if !first && !last {
            return false;
        }
        let is_free = self.bound().directive.kind.is_compute() && purpose == Purpose::Record && first;
        let file = self.input.file;
        // The directive that ends it in another branch.
        let is_ended = || {
            let lines = (file.lines.line(span.end.max(1) - 1) + 1..file.lines.count())
                .map(|line| file.lines.span(line));
            let mut words = lines.map(|line| file.text(line).trim().to_ascii_lowercase());
            let next = words.find(|line| !line.is_empty() && !line.starts_with('#'));
            next.is_some_and(|line| line.contains("$acc end"))
        };
        !is_free || self.partner().is_none() && (last || is_ended())
    }

    /// Whether a loop around has the last statement of this one's, by its label.
    fn shares_its_end(&self) -> bool {
        let Input { unit, file, .. } = self.input;
        let Some(stmt) = self.bound().stmt().map(|stmt| unit.stmt(stmt)) else { return false };
        let last = file.text(file.lines.span(file.lines.line(stmt.span.end.max(1) - 1)));
        let is_loop = |kind: &StmtKind| matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
        let has_label = last.trim_start().starts_with(|char: char| char.is_ascii_digit());
        has_label
            && is_loop(&stmt.kind)
            && unit.stmts.iter().any(|other| {
                is_loop(&other.kind) && other.span.start < stmt.span.start && other.span.end == stmt.span.end
            })
    }

    fn bound(&self) -> &Bound {
        &self.input.bound[self.index]
    }

    /// The directive that ends it, if it has one.
    fn partner(&self) -> Option<Span> {
        self.bound().partner.map(|at| self.input.bound[at].directive.span)
    }

    /// The end of the code that the directive governs, its `end` directive included.
    fn end(&self) -> Option<u32> {
        let stmt = self.bound().stmt()?;
        let is_block = matches!(self.input.unit.stmt(stmt).kind, StmtKind::Block(_));
        match self.partner() {
            Some(partner) => Some(partner.end),
            None => Some(self.input.unit.stmt(stmt).span.end).filter(|_| !is_block),
        }
    }

    /// Puts lines before the line of `at`.
    fn before(&self, at: u32, lines: &[String], texts: &mut Texts) {
        let file = self.input.file;
        let start = file.lines.span(file.lines.line(at)).start;
        texts.before(start, self.laid(at, lines));
    }

    /// Statements, and directives of OpenACC, as lines with their ends.
    fn laid(&self, at: u32, lines: &[String]) -> String {
        let file = self.input.file;
        let sentinel = self.sentinel();
        let laid = lines.iter().map(|line| match line.strip_prefix(&sentinel) {
            Some(words) => self.directive(words),
            None => layout::lines_of_fortran(file, at, std::slice::from_ref(line)),
        });
        laid.collect()
    }

    /// What the directive begins with, blanks before it included.
    fn sentinel(&self) -> String {
        let file = self.input.file;
        let at = self.bound().directive.span.start;
        let start = file.lines.span(file.lines.line(at)).start;
        file.text(Span { start, end: at + 5 }).into_owned()
    }

    /// What ends a line of a directive that goes on, and what the next one begins with.
    fn goes_on(&self) -> String {
        let file = self.input.file;
        let eol = file.line_end(self.bound().directive.span.start);
        match file.language {
            Language::Fortran(Form::Fixed) => format!("{eol}{}& ", self.sentinel()),
            _ => format!(" &{eol}{} ", self.sentinel()),
        }
    }

    /// A directive with these words, in several lines if they are many: a name and a section may be as long as a line.
    fn directive(&self, words: &str) -> String {
        let eol = self.input.file.line_end(self.bound().directive.span.start);
        let goes_on = self.goes_on();
        let whole = self.sentinel() + words;
        if whole.len() <= SHORT {
            return whole + eol;
        }
        let parts = words.replacen('(', &format!("({goes_on}"), 1).replace(", ", &format!(", {goes_on}"));
        self.sentinel() + &parts.replace(") if_present", &format!("){goes_on}if_present")) + eol
    }

    /// Puts lines after the line of what ends at `end`, under the conditions of the directive that do not hold it.
    fn after(&self, end: u32, lines: &[String], texts: &mut Texts) {
        let file = self.input.file;
        let place = layout::before_line_end(file, end);
        let own = self.bound().directive.span.start;
        let eol = file.line_end(place);
        let mut text = self.laid(own, lines);
        // Another branch has a directive that ends the construct.
        let conditions = match self.conditions.between(end, own).is_empty() {
            true => self.conditions.between(own, end),
            false => Vec::new(),
        };
        for condition in conditions {
            let heads = condition.heads(own).iter().map(|head| format!("{}{eol}", file.text(*head)));
            text = format!("{}{text}#endif{eol}", heads.collect::<String>());
        }
        let text = text.strip_suffix(eol).unwrap_or(&text);
        texts.after(place, format!("{eol}{text}"));
    }

    /// Records what a compute construct finds and leaves.
    pub fn record_construct(&self, name: &str, variables: &[Variable], texts: &mut Texts) {
        let Some(end) = self.end() else { return };
        let entry: Vec<_> = variables.iter().map(|one| (one, Where::Compute)).collect();
        let left: Vec<_> = entry.iter().filter(|(one, _)| one.is_changed).copied().collect();
        self.before(self.bound().directive.span.start, &self.event(Event::entry(name), &entry), texts);
        self.after(end, &self.event(Event::exit(name), &left), texts);
    }

    /// Records what a region of data moves at its beginning and its end.
    pub fn record_region(&self, name: &str, moved: &Moved, placed: Where, texts: &mut Texts) {
        let (own, Some(partner)) = (self.bound().directive.span, self.partner()) else { return };
        let end = format!("end {name}");
        let event = |event: Event, all: &[Variable], place: Where| {
            self.event(event, &all.iter().map(|one| (one, place)).collect::<Vec<_>>())
        };
        let leaving = Event { name: &end, is_entry: true, counts: false };
        self.before(own.start, &event(Event::entry(name), &moved.to_device, Where::Absent), texts);
        let brought = moved.to_device.iter().map(|one| (one, placed));
        let mut inside =
            self.event(Event::exit(name), &brought.chain(moved.made(placed)).collect::<Vec<_>>());
        // A `block` construct right after the directive would be all of its region.
        inside.insert(0, "continue".to_owned());
        self.after(own.end, &inside, texts);
        self.before(partner.start, &event(leaving, &moved.to_host, Where::Device), texts);
        self.after(partner.end, &event(Event::exit(&end), &moved.to_host, Where::Absent), texts);
    }

    /// Records what a directive finds and leaves that stands for itself.
    pub fn record_motion(&self, name: &str, [entry, exit]: [&[(&Variable, Where)]; 2], texts: &mut Texts) {
        let span = self.bound().directive.span;
        self.before(span.start, &self.event(Event::entry(name), entry), texts);
        self.after(span.end, &self.event(Event::exit(name), exit), texts);
    }

    /// Lets the construct run on the device or on the host, as is decided when the program runs.
    pub fn choose(&self, variables: &[Variable], number: usize, texts: &mut Texts) {
        let Some(end) = self.end() else { return };
        let on = format!("acc2omp_pin_on_device({number}_acc2omp_pin_k)");
        let Some(edit) = self.condition(&on) else { return };
        texts.replaced.push(edit);
        let update = |way: &str, is_meant: &dyn Fn(&Variable) -> bool| {
            let listed = variables.iter().filter(|one| !one.is_scalar || one.is_listed);
            let mut lines = Vec::new();
            let mut moved = BTreeSet::new();
            for one in listed.filter(|one| is_meant(one)) {
                let name = one.fortran.objects.as_ref().unwrap_or(&one.name);
                if !moved.insert(name) {
                    continue;
                }
                let guards = &one.fortran.is_there;
                lines.extend(guards.iter().map(|guard| format!("if ({guard}) then")));
                lines.push(self.sentinel() + &format!(" update {way}({name}) if_present"));
                lines.extend(guards.iter().map(|_| "end if".to_owned()));
            }
            if !lines.is_empty() {
                lines.insert(0, format!("if (.not. {on}) then"));
                lines.insert(1, self.sentinel() + " wait");
                lines.push("end if".to_owned());
            }
            lines
        };
        let only = "acc2omp_pin_on_device, acc2omp_pin_k";
        let mut first = vec!["block".to_owned(), format!("use {}, only: {only}", self.module())];
        first.extend(update("self", &|_| true));
        let mut last = update("device", &|one| one.is_changed);
        last.push("end block".to_owned());
        self.before(self.bound().directive.span.start, &first, texts);
        self.after(end, &last, texts);
    }

    /// The edit that makes the construct run on the device only if `on` holds.
    fn condition(&self, on: &str) -> Option<Edit> {
        let file = self.input.file;
        let directive = &self.bound().directive;
        let fresh = self.goes_on();
        let condition = directive.clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::If(condition) => Some(condition),
            _ => None,
        });
        Some(match condition {
            Some(condition) => {
                let own = file.text(condition.span);
                let text = format!("({own}) .and.{fresh}{on}{fresh}");
                Edit { span: condition.span, text: text.into_bytes() }
            }
            None => {
                let at = directive.name_span.end;
                let rest = Span { start: at, end: layout::before_line_end(file, at) };
                let rest = file.text(rest).into_owned();
                let is_end = rest.trim().is_empty() || rest.trim_start().starts_with(['&', '!']);
                let tail = if is_end { String::new() } else { fresh.clone() };
                Edit {
                    span: Span { start: at, end: at },
                    text: format!("{fresh}if({on}){tail}").into_bytes(),
                }
            }
        })
    }

    fn module(&self) -> String {
        module_of(self.input.file)
    }

    /// The statements that record an event.
    fn event(&self, event: Event, variables: &[(&Variable, Where)]) -> Vec<String> {
        let phase = if event.is_entry { "entry" } else { "exit" };
        let ranks = variables.iter().flat_map(|(one, _)| one.fortran.loops.iter().map(|(at, _, _)| *at));
        let mut lines = vec!["block".to_owned(), format!("use {}, only: {RECORDING}", self.module())];
        if let Some(most) = ranks.max() {
            let counters: Vec<String> = (2..=most).map(counter).collect();
            lines.push(format!("integer(acc2omp_pin_k) :: {}", counters.join(", ")));
        }
        lines.push(format!(
            "if (acc2omp_pin_begin({}_acc2omp_pin_k, '{}', '{phase}', {}_acc2omp_pin_k)) then",
            self.line,
            event.name,
            u8::from(event.counts)
        ));
        variables.iter().for_each(|(variable, place)| lines.extend(recorded(variable, *place)));
        lines.extend(["call acc2omp_pin_end()", "end if", "end block"].map(str::to_owned));
        lines
    }
}

/// The statements that record a variable.
fn recorded(variable: &Variable, place: Where) -> Vec<String> {
    let Variable { name, first, count, fortran, .. } = variable;
    let mut lines = vec![format!(
        "call acc2omp_pin_variable({}, '{}', storage_size({}), {}_acc2omp_pin_k)",
        literal(name),
        fortran.kind,
        fortran.whole,
        place.number()
    )];
    lines.extend(fortran.guards.iter().map(|guard| format!("if ({guard}) then")));
    for (at, lower, upper) in &fortran.loops {
        lines.push(format!("do {} = {lower}, {upper}", counter(*at)));
    }
    lines.push(format!("call acc2omp_pin_row({first}, {}, {count})", fortran.next));
    lines.extend(fortran.loops.iter().map(|_| "end do".to_owned()));
    lines.extend(fortran.guards.iter().map(|_| "end if".to_owned()));
    lines.push("call acc2omp_pin_variable_end()".to_owned());
    lines
}

/// A text as Fortran writes it, in parts that are not too long for a line.
fn literal(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let parts = chars.chunks(LITERAL).map(|part| {
        let part: String = part.iter().collect();
        format!("'{}'", part.replace('\'', "''"))
    });
    parts.collect::<Vec<_>>().join(" // ")
}

/// Whether a file has all of a program unit, and not a part that others include.
fn is_whole(file: &SourceFile, scope: &Scope) -> bool {
    if scope.kind != ScopeKind::Program || !scope.name.is_empty() {
        return true;
    }
    let text = file.text(scope.span).to_ascii_lowercase();
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with('!'));
    let rest = last.and_then(|line| line.strip_prefix("end")).map(str::trim_start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['!', ';']) || rest.starts_with("program"))
}

/// The name of a source's module.
fn module_of(file: &SourceFile) -> String {
    // FNV-1a
    let hash = file.name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("acc2omp_pin_{hash:016x}")
}

/// The library as it stands in a source.
pub fn library(file: &SourceFile) -> Edit {
    let chars: Vec<char> = file.name.chars().collect();
    let mut path = String::new();
    let count = chars.chunks(LITERAL / 2).count();
    for (at, part) in chars.chunks(LITERAL / 2).enumerate() {
        let part: String = part.iter().collect();
        let before = if at == 0 { String::new() } else { format!("path_{at} // ") };
        let name = if at + 1 == count { "source".to_owned() } else { format!("path_{}", at + 1) };
        let part = part.replace('\'', "''");
        path += &format!("      character(*), parameter :: {name} = {before}'{part}'\n");
    }
    let text = LIBRARY.replace(PATH, &path).replace(MODULE, &module_of(file));
    let text = text.replace('\n', file.line_end(0));
    Edit { span: Span { start: 0, end: 0 }, text: text.into_bytes() }
}
