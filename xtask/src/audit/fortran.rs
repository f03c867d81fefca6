//! The audit of Fortran: read line by line, since its statements are lines.
//!
//! Invariant: read from the text alone, with no help of the translator's.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use acc2omp::source::{Form, Span};

use super::pragma::Pragma;
use super::race::{self, Race, Sharing};
use super::strike::OWNING;
use super::text::{Findings, Owned};

/// A statement or a directive, with its continuation lines.
struct Line {
    /// The bytes.
    span: Range<usize>,
    /// Without comments, the texts of strings and blanks at its ends, in lower case.
    text: String,
    is_directive: bool,
}

/// A scoping unit, a `block` or an `associate`.
struct Scope {
    span: Range<usize>,
    is_module: bool,
    names: HashMap<String, Declared>,
}

#[derive(Clone, Copy)]
struct Declared {
    at: usize,
    is_scalar: bool,
    is_static: bool,
}

/// A directive and the code that it governs.
struct Construct {
    pragma: Pragma,
    span: Range<usize>,
    counters: Vec<String>,
    /// How many more loops belong to it.
    wanted: usize,
}

/// An assignment to a whole variable.
struct Write {
    at: usize,
    name: String,
    value: String,
    /// The conditions around it.
    conditions: Vec<String>,
}

/// What is open at a line.
enum Open {
    Scope(usize),
    Do { label: Option<String>, constructs: Vec<usize> },
    If(String),
    Type,
    Other,
}

#[derive(Default)]
struct Reader {
    scopes: Vec<Scope>,
    constructs: Vec<Construct>,
    writes: Vec<Write>,
    open: Vec<Open>,
    /// Constructs that wait for their `end` directive, or for their loop.
    pending: Vec<usize>,
    residents: BTreeSet<String>,
    unread: BTreeSet<usize>,
    /// What procedures write to: by name, the places of the arguments.
    outputs: HashMap<String, Vec<usize>>,
    /// The procedures with their dummy arguments, and the scope of each.
    procedures: Vec<(String, Vec<String>, usize)>,
    /// Dummy arguments with `intent(out)` or `intent(inout)`: the scope, and the name.
    assigned: Vec<(usize, String)>,
    calls: Vec<(usize, String, Vec<String>, Vec<String>)>,
}

/// Reads a text and looks for races.
pub fn audit(text: &[u8], form: Form) -> Findings {
    let mut reader = Reader::default();
    let end = text.len();
    reader.scopes.push(Scope { span: 0..end, is_module: true, names: HashMap::new() });
    for line in lines(text, form) {
        if line.is_directive { reader.directive(&line) } else { reader.statement(&line) }
    }
    reader.finish(end)
}

/// The text with the clauses `OWNING` of its directives overwritten by blanks.
pub fn struck(text: &[u8], form: Form) -> Vec<u8> {
    let mut struck = text.to_vec();
    for line in lines(text, form).into_iter().filter(|line| line.is_directive) {
        let Some(bytes) = struck.get_mut(line.span) else { continue };
        for word in OWNING {
            while let Some(clause) = super::strike::clause(bytes, word.as_bytes()) {
                blank(bytes.get_mut(clause).unwrap_or_default());
            }
        }
    }
    struck
}

/// Overwrites a clause, except what continues its lines.
fn blank(clause: &mut [u8]) {
    let mut sentinel = 0;
    for byte in clause {
        match *byte {
            b'\n' => sentinel = 3,
            b'o' | b'm' | b'p' if sentinel > 0 => sentinel -= 1,
            b'&' | b'\r' => {}
            _ if sentinel > 0 => {}
            _ => *byte = b' ',
        }
    }
}

/// The logical lines of a text.
fn lines(text: &[u8], form: Form) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_open = false;
    let mut at = 0;
    for raw in text.split_inclusive(|byte| *byte == b'\n') {
        let span = at..at + raw.len();
        at += raw.len();
        let line: String = raw.iter().map(|byte| byte.to_ascii_lowercase() as char).collect();
        let line = line.trim_end();
        let begin = line.trim_start();
        let is_fixed = form == Form::Fixed;
        let sentinel = if is_fixed {
            ["!$omp", "c$omp", "*$omp"].iter().any(|word| line.starts_with(word))
        } else {
            begin.starts_with("!$omp")
        };
        if sentinel {
            let body = begin.get(5..).unwrap_or_default();
            let (continues, body) = match (is_fixed, body.chars().next()) {
                (true, Some(mark)) => (!matches!(mark, ' ' | '0'), body.get(1..).unwrap_or_default()),
                _ => (is_open, body.trim_start().trim_start_matches('&')),
            };
            let body = code(body);
            let goes_on = body.ends_with('&') && !is_fixed;
            add(&mut lines, span, body.trim_end_matches('&'), true, continues);
            is_open = goes_on;
            continue;
        }
        let is_comment = begin.starts_with('!') || is_fixed && line.starts_with(['c', '*', 'd']);
        // Conditional lines of OpenMP are code.
        let begin = begin.strip_prefix("!$ ").unwrap_or(begin);
        if begin.is_empty() || begin.starts_with('#') || is_comment && !line.trim_start().starts_with("!$ ") {
            continue;
        }
        if is_fixed {
            let columns: String = line.chars().take(72).collect();
            let mark = columns.chars().nth(5).filter(|_| !columns.starts_with('\t'));
            let continues = mark.is_some_and(|mark| !matches!(mark, ' ' | '0'))
                && columns.chars().take(5).all(|char| char == ' ');
            let body = if continues { columns.chars().skip(6).collect() } else { columns };
            add(&mut lines, span, &code(&body), false, continues);
        } else {
            let body = code(if is_open { begin.trim_start_matches('&') } else { begin });
            let goes_on = body.ends_with('&');
            add(&mut lines, span, body.trim_end_matches('&'), false, is_open);
            is_open = goes_on;
        }
    }
    let mut parted = Vec::new();
    for line in lines {
        let texts = split(&line.text, ';');
        if line.is_directive || texts.len() < 2 {
            parted.push(line);
            continue;
        }
        let one =
            |text: &&str| Line { span: line.span.clone(), text: text.trim().to_owned(), is_directive: false };
        parted.extend(texts.iter().map(one));
    }
    parted
}

fn add(lines: &mut Vec<Line>, span: Range<usize>, text: &str, is_directive: bool, continues: bool) {
    match lines.last_mut().filter(|last| continues && last.is_directive == is_directive) {
        Some(last) => {
            last.span.end = span.end;
            last.text += text;
        }
        // A blank before `&` parts two words.
        None => lines.push(Line { span, text: text.trim_start().to_owned(), is_directive }),
    }
}

/// A line without its comment, and with blanks in its strings.
fn code(line: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for char in line.chars() {
        match quote {
            Some(open) if char == open => quote = None,
            Some(_) => {
                out.push(' ');
                continue;
            }
            None if char == '!' => break,
            None if matches!(char, '\'' | '"') => quote = Some(char),
            None => {}
        }
        out.push(char);
    }
    out.trim_end().to_owned()
}

/// The parts of `text` between the characters `at` that stand in no parentheses.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut depth = 0usize;
    let outside = |char: char| {
        match char {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && char == at
    };
    text.split(outside).collect()
}

/// The word at the start of `text`, and what stands after it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at(length)
}

/// What stands in the parentheses at the start of `text`, and what stands after them.
fn argument(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_start().strip_prefix('(')?;
    let mut depth = 1usize;
    for (at, char) in inside.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((inside.get(..at)?, inside.get(at + 1..)?));
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    let (name, rest) = word(text);
    rest.is_empty() && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether an expression names a variable.
fn names(expression: &str, name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '%';
    expression.match_indices(name).any(|(at, _)| {
        let before = expression.get(..at).unwrap_or_default();
        let after = expression.get(at + name.len()..).unwrap_or_default();
        !before.ends_with(is_inner) && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}

impl Reader {
    fn directive(&mut self, line: &Line) {
        let span = Span::new(line.span.start, line.span.end);
        let pragma = Pragma::read(&line.text, span, line.span.end as u32);
        if pragma.is("declare") && pragma.is("target") {
            let listed = ["target", "to", "link", "enter"].map(|clause| pragma.items(clause)).concat();
            self.residents.extend(listed.into_iter().map(|name| name.trim_matches('/').to_owned()));
            return;
        }
        if pragma.is("end") {
            let wanted: Vec<&String> = pragma.name.iter().filter(|word| *word != "end").collect();
            let mut open = self
                .pending
                .iter()
                .rposition(|at| self.constructs[*at].pragma.name.iter().collect::<Vec<_>>() == wanted);
            if let Some(at) = open.take() {
                let index = self.pending.remove(at);
                self.constructs[index].span.end = line.span.start;
            }
            return;
        }
        if !pragma.is_construct() {
            return;
        }
        let is_loop = ["do", "distribute", "simd", "loop"].iter().any(|word| pragma.is(word));
        let count = pragma.clause("collapse").and_then(|clause| clause.argument.trim().parse().ok());
        let wanted = if is_loop { count.unwrap_or(1) } else { 0 };
        let is_captured = pragma.is("atomic") && pragma.clause("capture").is_some();
        self.pending.push(self.constructs.len());
        let end = usize::from(is_captured);
        self.constructs.push(Construct { pragma, span: line.span.end..end, counters: Vec::new(), wanted });
    }

    fn statement(&mut self, line: &Line) {
        let (label, text) = match word(&line.text) {
            (first, rest) if !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()) => {
                (Some(first.to_owned()), rest.trim_start())
            }
            _ => (None, line.text.as_str()),
        };
        // The name of a construct.
        let text = match word(text) {
            (name, rest)
                if !name.is_empty() && rest.trim_start().starts_with(':') && !rest.contains("::") =>
            {
                rest.trim_start().trim_start_matches(':').trim_start()
            }
            _ => text,
        };
        self.one_statement(line, text);
        if let Some(label) = label {
            self.labelled_end(&label, line.span.end);
        }
    }

    /// All loops that end with a label.
    fn labelled_end(&mut self, wanted: &str, end: usize) {
        while let Some(Open::Do { label: Some(label), .. }) = self.open.last() {
            if label != wanted {
                return;
            }
            self.close(end);
        }
    }

    fn close(&mut self, end: usize) {
        match self.open.pop() {
            Some(Open::Do { constructs, .. }) => {
                for at in constructs {
                    self.constructs[at].span.end = end;
                }
            }
            Some(Open::Scope(at)) => self.scopes[at].span.end = end,
            _ => {}
        }
    }

    fn scope(&mut self, at: usize, is_module: bool) -> usize {
        self.scopes.push(Scope { span: at..usize::MAX, is_module, names: HashMap::new() });
        self.open.push(Open::Scope(self.scopes.len() - 1));
        self.scopes.len() - 1
    }

    fn one_statement(&mut self, line: &Line, text: &str) {
        let start = line.span.start;
        let (first, rest) = word(text);
        let is_assignment = matches!(assignment(text), Some((left, _)) if !left.is_empty());
        if matches!(self.open.last(), Some(Open::Type)) {
            if first == "end" || first == "endtype" {
                self.close(line.span.end);
            }
            return;
        }
        if first.starts_with("end") && !is_assignment {
            return self.close(line.span.end);
        }
        if self.procedure(line, text) {
            return;
        }
        match first {
            "program" if !is_assignment => {
                self.scope(start, false);
            }
            "module" | "submodule" if !is_assignment && word(rest).0 != "procedure" => {
                self.scope(start, true);
            }
            "interface" | "abstract" if !is_assignment => self.open.push(Open::Other),
            "block" if rest.trim().is_empty() => {
                self.scope(start, false);
            }
            "associate" if rest.trim_start().starts_with('(') => {
                let scope = self.scope(start, false);
                let list = argument(rest).map_or("", |(list, _)| list);
                for pair in split(list, ',') {
                    let declared = Declared { at: start, is_scalar: false, is_static: false };
                    self.scopes[scope].names.insert(word(pair).0.to_owned(), declared);
                }
            }
            // A branch of `select type`.
            "type" if word(rest).0 == "is" && word(rest).1.trim_start().starts_with('(') => {}
            "type" if !rest.trim_start().starts_with('(') && !is_assignment => self.open.push(Open::Type),
            "do" if !is_assignment || rest.starts_with(' ') => self.do_statement(rest),
            "if" | "elseif" | "else" if !is_assignment || rest.trim_start().starts_with('(') => {
                self.if_statement(line, text);
            }
            "select" | "where" | "forall" | "critical" | "enum" if !is_assignment => {
                let after = argument(rest).map_or("", |(_, after)| after);
                let is_one_line = matches!(first, "where" | "forall") && !after.trim().is_empty();
                if !is_one_line {
                    self.open.push(Open::Other);
                }
            }
            "call" if !is_assignment => self.call(line, rest),
            _ if self.declaration(start, text) => {}
            _ => self.assign(line, text),
        }
        self.atomic(line);
    }

    /// The statement that an `atomic` is about.
    fn atomic(&mut self, line: &Line) {
        let Some(at) = self.pending.last().copied() else { return };
        let one = &mut self.constructs[at];
        if one.pragma.is("atomic") && one.span.end == 0 {
            one.span.end = line.span.end;
            self.pending.pop();
        }
    }

    fn procedure(&mut self, line: &Line, text: &str) -> bool {
        let head = split(text, '(').first().map_or("", |head| head).to_owned();
        let words: Vec<&str> = head.split_whitespace().collect();
        let is_head = |word: &&str| matches!(*word, "subroutine" | "function");
        let Some(at) = words.iter().position(is_head) else { return false };
        let prefixes = [
            "pure",
            "elemental",
            "recursive",
            "impure",
            "module",
            "integer",
            "real",
            "double",
            "precision",
            "logical",
            "complex",
            "character",
            "type",
            "class",
        ];
        let is_prefix =
            |word: &&str| prefixes.contains(&word.trim_end_matches(|c: char| c == '*' || c.is_ascii_digit()));
        let typed = text.starts_with("real(") || text.starts_with("integer(") || text.starts_with("type(");
        let before = if typed { 0 } else { at };
        if !words.iter().take(before).all(is_prefix) || text.contains("::") {
            return false;
        }
        let place = text.find(words[at]).map_or(0, |place| place + words[at].len());
        let (name, rest) = word(text.get(place..).unwrap_or_default());
        let dummies = argument(rest).map_or(Vec::new(), |(list, _)| {
            split(list, ',').into_iter().map(|dummy| dummy.trim().to_owned()).collect()
        });
        let scope = self.scope(line.span.start, false);
        self.procedures.push((name.to_owned(), dummies, scope));
        true
    }

    /// A declaration of variables.
    fn declaration(&mut self, at: usize, text: &str) -> bool {
        const TYPES: [&str; 9] =
            ["integer", "real", "double", "complex", "logical", "character", "type", "class", "dimension"];
        const OTHERS: [&str; 5] = ["common", "allocatable", "pointer", "save", "parameter"];
        let (first, mut rest) = word(text);
        let is_type = TYPES.contains(&first);
        if !is_type && !OTHERS.contains(&first)
            || assignment(text).is_some() && !text.contains("::") && !is_type
        {
            return false;
        }
        let (attributes, list) = match text.split_once("::") {
            Some((attributes, list)) => (attributes.to_owned(), list),
            None => {
                if matches!(first, "double") {
                    rest = word(rest).1;
                }
                if let Some((_, after)) = argument(rest).filter(|_| !matches!(first, "dimension")) {
                    rest = after;
                }
                if let Some(after) = rest.trim_start().strip_prefix('*') {
                    rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
                    rest = argument(rest).map_or(rest, |(_, after)| after);
                }
                (first.to_owned(), rest)
            }
        };
        let Some(Open::Scope(scope)) = self.open.iter().rev().find(|one| matches!(one, Open::Scope(_)))
        else {
            return true;
        };
        let scope = *scope;
        let is_array = names(&attributes, "dimension");
        let is_typed = matches!(first, "type" | "class");
        let is_static = self.scopes[scope].is_module || names(&attributes, "save") || first == "common";
        if attributes.replace(' ', "").contains("intent(out)")
            || attributes.replace(' ', "").contains("intent(inout)")
        {
            let own = split(list, ',').into_iter().map(|one| (scope, word(one).0.to_owned()));
            self.assigned.extend(own);
        }
        // The name of a common block.
        let list = list
            .trim()
            .strip_prefix('/')
            .and_then(|list| list.split_once('/'))
            .map_or(list, |(_, list)| list);
        for item in split(list, ',') {
            let (name, after) = word(item);
            let is_scalar = !is_array && !is_typed && !after.trim_start().starts_with('(');
            let known = self.scopes[scope].names.entry(name.to_owned()).or_insert(Declared {
                at,
                is_scalar,
                is_static,
            });
            known.is_scalar &= is_scalar;
            known.is_static |= is_static;
        }
        true
    }

    fn do_statement(&mut self, rest: &str) {
        let (first, after) = word(rest);
        let is_label = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
        let (label, rest) = if is_label { (Some(first.to_owned()), after) } else { (None, rest) };
        let rest = rest.trim_start().trim_start_matches(',');
        let counter = assignment(rest).map(|(left, _)| left.trim().to_owned()).filter(|left| is_name(left));
        let mut constructs = Vec::new();
        for at in 0..self.constructs.len() {
            if self.constructs[at].wanted == 0 || counter.is_none() {
                continue;
            }
            let one = &mut self.constructs[at];
            one.wanted -= 1;
            let is_first = one.counters.is_empty();
            one.counters.extend(counter.clone());
            if is_first {
                constructs.push(at);
                self.pending.retain(|pending| *pending != at);
            }
        }
        if counter.is_none() {
            let lost = self.constructs.iter().filter(|one| one.wanted > 0 && one.counters.is_empty());
            self.unread.extend(lost.map(|one| one.pragma.span.start as usize));
        }
        self.open.push(Open::Do { label, constructs });
    }

    fn if_statement(&mut self, line: &Line, text: &str) {
        let rest = text.trim_start_matches("else").trim_start();
        let is_else = text.starts_with("else");
        let condition = rest.strip_prefix("if").and_then(argument);
        if is_else {
            // Its condition is one more for what follows.
            if let (Some(Open::If(known)), Some((condition, _))) = (self.open.last_mut(), condition) {
                known.push_str(&format!(" .or. {condition}"));
            }
            return;
        }
        let Some((condition, after)) = condition else { return self.assign(line, text) };
        if after.trim() == "then" {
            self.open.push(Open::If(condition.to_owned()));
            return;
        }
        self.open.push(Open::If(condition.to_owned()));
        let (first, rest) = word(after);
        if first == "call" {
            self.call(line, rest)
        } else {
            self.assign(line, after)
        }
        self.open.pop();
    }

    fn conditions(&self) -> Vec<String> {
        let open = self.open.iter().filter_map(|one| match one {
            Open::If(condition) => Some(condition.clone()),
            _ => None,
        });
        open.collect()
    }

    fn assign(&mut self, line: &Line, text: &str) {
        let Some((left, right)) = assignment(text).filter(|(left, _)| is_name(left.trim())) else { return };
        let conditions = self.conditions();
        let write =
            Write { at: line.span.start, name: left.trim().to_owned(), value: right.to_owned(), conditions };
        self.writes.push(write);
    }

    fn call(&mut self, line: &Line, rest: &str) {
        let (name, rest) = word(rest);
        let list = argument(rest).map_or("", |(list, _)| list);
        let args = split(list, ',').into_iter().map(|arg| arg.trim().to_owned()).collect();
        self.calls.push((line.span.start, name.to_owned(), args, self.conditions()));
    }

    /// What `name` means at `at`: the innermost declaration.
    fn lookup(&self, name: &str, at: usize) -> Option<Declared> {
        let visible = self.scopes.iter().filter(|scope| scope.span.contains(&at));
        let known = visible.filter_map(|scope| Some((scope.span.start, scope.names.get(name)?)));
        known.max_by_key(|(start, _)| *start).map(|(_, declared)| *declared)
    }

    fn finish(mut self, end: usize) -> Findings {
        for scope in &mut self.scopes {
            scope.span.end = scope.span.end.min(end);
        }
        for (name, dummies, scope) in &self.procedures {
            let is_assigned =
                |dummy: &String| self.assigned.iter().any(|(at, known)| at == scope && known == dummy);
            let places = dummies.iter().enumerate().filter(|(_, dummy)| is_assigned(dummy));
            self.outputs.insert(name.clone(), places.map(|(place, _)| place).collect());
        }
        for (at, name, args, conditions) in std::mem::take(&mut self.calls) {
            for place in self.outputs.get(&name).into_iter().flatten() {
                let Some(arg) = args.get(*place).filter(|arg| is_name(arg)) else { continue };
                let (name, value) = (arg.clone(), String::new());
                self.writes.push(Write { at, name, value, conditions: conditions.clone() });
            }
        }
        let lost = self.constructs.iter().filter(|one| one.span.end == 0 || one.wanted > 0);
        self.unread.extend(lost.map(|one| one.pragma.span.start as usize));
        let mut findings = Findings { unread: self.unread.clone(), ..Findings::default() };
        findings.constructs = self.constructs.len();
        let races = self.writes.iter().filter(|write| self.is_race(write));
        findings.races = races.map(|write| Race { at: write.at, name: write.name.clone() }).collect();
        for one in self.constructs.iter().filter(|one| race::spreads(&one.pragma)) {
            for name in OWNING.map(|clause| one.pragma.items(clause)).concat() {
                let is_assigned = self.writes.iter().any(|write| {
                    let outer = |known: Declared| !one.span.contains(&known.at);
                    let lookup = self.lookup(name, write.at);
                    one.span.contains(&write.at)
                        && write.name == name
                        && lookup.is_none_or(|known| outer(known) && known.is_scalar)
                });
                if is_assigned && !one.counters.iter().any(|counter| counter == name) {
                    let code = Span::new(one.span.start, one.span.end);
                    findings.owned.push(Owned { code, name: name.to_owned() });
                }
            }
        }
        findings
    }

    fn is_race(&self, write: &Write) -> bool {
        let (at, name) = (write.at, write.name.as_str());
        let declared = self.lookup(name, at);
        if declared.is_some_and(|one| !one.is_scalar) || self.residents.contains(name) {
            return false;
        }
        let accumulates = names(&write.value, name) || write.conditions.iter().any(|one| names(one, name));
        let is_local =
            |one: &Construct| declared.is_some_and(|known| !known.is_static && one.span.contains(&known.at));
        let mut sharing = Sharing::One;
        let mut limited = false;
        for one in self.constructs.iter().filter(|one| one.span.contains(&at) && !is_local(one)) {
            limited |= race::is_one(&one.pragma, "thread_limit");
            if one.pragma.is("atomic") && self.is_atomic(one, write) {
                return false;
            }
            let is_counter = one.counters.iter().any(|counter| counter == name);
            sharing = race::inside(&one.pragma, is_counter, name, sharing, limited, accumulates);
        }
        sharing == Sharing::Many
    }

    /// Whether `atomic` protects this assignment: all but those that only take the old or the new value.
    fn is_atomic(&self, atomic: &Construct, write: &Write) -> bool {
        if atomic.pragma.clause("read").is_some() {
            return false;
        }
        let others = self.writes.iter().filter(|other| {
            atomic.span.contains(&other.at) && other.at != write.at && other.name != write.name
        });
        let takes = |other: &Write| write.value.trim() == other.name;
        atomic.pragma.clause("capture").is_none() || !others.into_iter().any(takes) && is_update(write)
    }
}

/// In `capture`, an assignment whose value is a name only takes a value.
fn is_update(write: &Write) -> bool {
    !split(write.value.trim(), '(').first().is_some_and(|value| is_name(value))
}

/// The two sides of an assignment.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                let after = bytes.get(at + 1);
                if matches!(before, Some(b'=' | b'/' | b'<' | b'>')) || matches!(after, Some(b'=' | b'>')) {
                    return None;
                }
                return Some((text.get(..at)?, text.get(at + 1..)?));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use acc2omp::source::Form;

    use super::{audit, lines, struck};

    const HEAD: &str = "subroutine s(n, a)\n integer :: n, i, j\n real :: a(n), x, y, z(3)\n";

    /// The races of a procedure's body.
    fn races(body: &str) -> Vec<String> {
        let text = format!("{HEAD}{body}\nend subroutine\n");
        let found = audit(text.as_bytes(), Form::Free);
        assert!(found.unread.is_empty(), "{text}");
        found.races.iter().map(|race| race.name.clone()).collect()
    }

    fn flat(clauses: &str, body: &str) -> Vec<String> {
        let head = format!("!$omp target teams distribute parallel do {clauses}\n");
        races(&format!("{head}do i = 1, n\n{body}\nend do\n"))
    }

    #[test]
    fn what_threads_assign_must_be_theirs() {
        assert_eq!(flat("", "x = i; A(i) = x"), ["x"]);
        assert_eq!(flat("", "if (a(i) > 0) x = a(i)"), ["x"]);
        assert_eq!(flat("", "if (a(i) > 0) then\n x = &\n 3\nend if"), ["x"]);
        for clause in ["private(y, &\n!$omp   x)", "lastprivate(x)", "reduction(+:x)", "map(from: x)"] {
            assert_eq!(flat(clause, "x = i"), [""; 0], "{clause}");
        }
        assert_eq!(flat("map(from: x)", "x = max(x, a(i))"), ["x"]);
        assert_eq!(flat("", "z = 3; do j = 1, 3\n a(j) = j\nend do"), [""; 0]);
        assert_eq!(flat("", "block\n real :: x\n x = 3\nend block"), [""; 0]);
        assert_eq!(flat("", "associate (x => a(i))\n x = 3\nend associate"), [""; 0]);
        assert_eq!(races("do i = 1, n\nx = i\nend do"), [""; 0]);
    }

    #[test]
    fn continued_words_and_branches_of_select_type_are_read() {
        let continued =
            "!$omp parallel do &\n!$omp shared(a)\ndo i = 1, n\nx = i\nend do\n!$omp end parallel do";
        assert_eq!(races(continued), ["x"]);
        let body = "!$omp target teams distribute parallel do\ndo i = 1, n\nx = i\nend do";
        assert_eq!(
            races(&format!("select type (o)\ntype is (two)\n{body}\nclass default\nend select")),
            ["x"]
        );
    }

    #[test]
    fn atomic_protects_what_it_updates() {
        assert_eq!(flat("", "!$omp atomic\nx = x + 1\ny = 2"), ["y"]);
        assert_eq!(flat("", "!$omp atomic read\ny = x"), ["y"]);
        assert_eq!(flat("", "!$omp atomic capture\ny = x\nx = x + 1\n!$omp end atomic"), ["y"]);
    }

    #[test]
    fn levels_and_ends() {
        let split = "!$omp target map(tofrom: a)\n!$omp teams distribute\ndo i = 1, n\nx = i\n\
                     !$omp parallel do private(y)\ndo j = 1, n\ny = x\nend do\nend do\n!$omp end target\nx = 1";
        assert_eq!(races(split), ["x"]);
        assert_eq!(races(&split.replace("distribute", "distribute private(x)")), [""; 0]);
        let shared = "!$omp target teams distribute parallel do private(x)\ndo 10 i = 1, n\n do 10 j = 1, n\n\
                      10 x = i\nx = 2";
        assert_eq!(races(shared), [""; 0]);
        assert_eq!(races(&shared.replace("private(x)", "")), ["x"]);
    }

    #[test]
    fn procedures_assign_their_arguments() {
        let text = format!(
            "{HEAD}!$omp target teams distribute parallel do\ndo i = 1, n\ncall f(a(i), x)\nend do\nend subroutine\n\
             subroutine f(p, q)\n real, intent(in) :: p\n real, intent(out) :: q\n q = p\nend subroutine\n"
        );
        let found = audit(text.as_bytes(), Form::Free);
        assert_eq!(found.races.iter().map(|race| race.name.as_str()).collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn clauses_are_struck() {
        let text = "!$omp parallel do private(x, &\n!$omp&  y) map(to: a)\n";
        let found = struck(text.as_bytes(), Form::Free);
        assert_eq!(
            String::from_utf8_lossy(&found),
            "!$omp parallel do            &\n!$omp&     map(to: a)\n"
        );
        let fixed = "      x = 1\n     &  + 2\nc$omp parallel do\nc$omp& private(x)\n";
        let read: Vec<String> =
            lines(fixed.as_bytes(), Form::Fixed).into_iter().map(|line| line.text).collect();
        assert_eq!(read, ["x = 1  + 2", "parallel do private(x)"]);
    }
}
