//! The procedures of Fortran: those outside of others, main programs among them.
//!
//! Invariant: reads a shadow, each of whose statements is on one line; where it is not clear where a procedure ends, there is no
//! answer.

use crate::source::Span;

use super::super::Include;
use super::found::{Found, Function, Text, is_part, is_word};

/// Words before `function` and `subroutine`.
const PREFIXES: [&[u8]; 19] = [
    b"attributes",
    b"character",
    b"class",
    b"complex",
    b"double",
    b"doublecomplex",
    b"doubleprecision",
    b"elemental",
    b"function",
    b"impure",
    b"integer",
    b"logical",
    b"module",
    b"non_recursive",
    b"pure",
    b"real",
    b"recursive",
    b"subroutine",
    b"type",
];

/// Words of the statements of a module that declare variables, and that name none.
const NO_NAMES: [&[u8]; 24] = [
    b"allocatable",
    b"asynchronous",
    b"character",
    b"class",
    b"common",
    b"complex",
    b"contiguous",
    b"data",
    b"dimension",
    b"double",
    b"equivalence",
    b"integer",
    b"kind",
    b"len",
    b"logical",
    b"namelist",
    b"parameter",
    b"pointer",
    b"precision",
    b"real",
    b"save",
    b"target",
    b"type",
    b"volatile",
];

/// Statements of a module that declare no variables.
const NO_VARIABLES: [&[u8]; 8] =
    [b"use", b"implicit", b"private", b"public", b"import", b"sequence", b"external", b"intrinsic"];

/// What a part of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A module or a submodule.
    Module,
    /// A procedure or a main program.
    Procedure,
    BlockData,
    Interface,
    /// The declaration of a procedure in an interface.
    Body,
    /// The definition of a type.
    Type,
}

/// A part that is open.
struct Open {
    kind: Kind,
    /// `contains` has been met.
    contains: bool,
}

struct Walk<'t> {
    text: Text<'t>,
    open: Vec<Open>,
    all: Found<'t>,
    /// Where the open procedure that stands in no other begins, and whether it must be read.
    current: Option<(usize, bool)>,
}

/// The procedures of a shadow, and what stands around them.
pub(super) fn find<'t>(text: Text<'t>, includes: &[Include]) -> Option<Found<'t>> {
    let mut walk = Walk { text, open: Vec::new(), all: Found::default(), current: None };
    let mut at = 0;
    while at < text.shadow.len() {
        let rest = &text.shadow[at..];
        let end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        walk.line(Span::new(at, end))?;
        at = end + 1;
    }
    walk.open.is_empty().then_some(())?;
    let mut found = walk.all;
    // What is included there is not known here.
    for include in includes {
        let next = found.functions.partition_point(|one| one.whole.end <= include.span.start);
        let around = found.functions.get_mut(next).filter(|one| one.whole.start <= include.span.start);
        around.into_iter().for_each(|one| one.is_kept = true);
    }
    Some(found)
}

impl<'t> Walk<'t> {
    fn line(&mut self, line: Span) -> Option<()> {
        let shadow = self.text.shadow.get(line.range())?;
        if memchr::memchr(b';', shadow).is_none() {
            return self.statement(line, line);
        }
        let (mut start, mut quote) = (line.start as usize, None);
        for (at, byte) in line.range().zip(shadow) {
            match (quote, byte) {
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => quote = Some(*byte),
                (None, b';') => {
                    self.statement(Span::new(start, at), line)?;
                    start = at + 1;
                }
                _ => {}
            }
        }
        self.statement(Span::new(start, line.end as usize), line)
    }

    /// The first word of a part, in lower case, and where what follows begins.
    fn word(&self, part: Span) -> (&'t [u8], Span) {
        let shadow = self.text.shadow.get(part.range()).unwrap_or_default();
        let blanks = shadow.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(shadow.len());
        let length = shadow[blanks..].iter().position(|byte| !is_part(byte)).unwrap_or(shadow.len() - blanks);
        let start = part.start as usize + blanks;
        // In the shadow, words that begin no statement are hidden.
        let is_hidden = shadow.get(blanks..blanks + length).is_some_and(|word| word.starts_with(b"zz"));
        let word = self.text.names.get(start..start + length).unwrap_or_default();
        let rest = start + length;
        let more = self.text.shadow.get(rest..part.end as usize).unwrap_or_default();
        let blanks = more.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(more.len());
        (if is_hidden { b"" } else { word }, Span::new(rest + blanks, part.end as usize))
    }

    /// What stands at a place.
    fn signs(&self, part: Span) -> &'t [u8] {
        self.text.shadow.get(part.range()).unwrap_or_default()
    }

    fn statement(&mut self, statement: Span, line: Span) -> Option<()> {
        let (mut word, mut rest) = self.word(statement);
        if word.first().is_some_and(u8::is_ascii_digit) {
            // A label.
            (word, rest) = self.word(rest);
        }
        let kind = self.open.last().map(|open| open.kind);
        if word.is_empty() {
            let is_blank = self.signs(statement).iter().all(u8::is_ascii_whitespace);
            // What stands outside of all is part of something that is not seen.
            return (is_blank || kind.is_some()).then_some(());
        }
        if let Some(ended) = self.ended(word, rest) {
            return self.end(ended, line);
        }
        if PREFIXES.contains(&word)
            && let Some(name) = self.head(word, rest)
        {
            return self.procedure(name, statement, line);
        }
        match (kind, word) {
            (Some(Kind::Interface | Kind::Type), _) => self.names_procedures(word, statement),
            (_, b"interface") => self.open(Kind::Interface),
            (_, b"abstract") if self.word(rest).0 == b"interface" => self.open(Kind::Interface),
            (_, b"contains") => self.contains(rest)?,
            (_, b"type") if self.defines_type(rest) => {
                self.keep();
                self.open(Kind::Type);
            }
            (_, b"enum") if !self.signs(rest).starts_with(b"(") => self.keep(),
            (None, b"module" | b"submodule") => self.open(Kind::Module),
            (None, b"program") => {
                self.begin(statement, line)?;
                self.open(Kind::Procedure);
            }
            (None, b"blockdata") => self.open(Kind::BlockData),
            (None, b"block") if self.word(rest).0 == b"data" => self.open(Kind::BlockData),
            (None, _) => return None,
            (Some(Kind::BlockData), _) => self.all.read.push(statement),
            (_, b"use") => self.renames(rest),
            (_, b"common") => {
                self.all.variables.insert(word);
            }
            (_, b"entry") => {
                let (name, _) = self.word(rest);
                self.all.variables.insert(name);
            }
            (Some(Kind::Module), _) => self.declaration(word, statement),
            (Some(Kind::Procedure | Kind::Body), _) => {}
        }
        Some(())
    }

    /// The name of the procedure that a statement begins: words of types and attributes, with what stands in parentheses, and
    /// `function` or `subroutine`.
    fn head(&self, first: &'t [u8], rest: Span) -> Option<&'t [u8]> {
        let (mut word, mut rest) = (first, rest);
        loop {
            if matches!(word, b"function" | b"subroutine") {
                let (name, after) = self.word(rest);
                let signs = self.signs(after);
                let is_head = match word {
                    b"function" => signs.starts_with(b"("),
                    _ => !signs.starts_with(b"=") && !signs.starts_with(b":"),
                };
                return Some(name).filter(|name| is_word(name) && is_head);
            }
            // The procedure of a module that is declared there, in a submodule.
            if word == b"procedure" && first == b"module" {
                let is_here = self.open.last().is_some_and(|open| open.kind == Kind::Module && open.contains);
                return Some(self.word(rest).0).filter(|name| is_word(name) && is_here);
            }
            rest = self.after_length(rest)?;
            (word, rest) = self.word(rest);
            if word != b"procedure" && word != b"precision" && !PREFIXES.contains(&word) {
                return None;
            }
        }
    }

    /// What follows a kind, a length or other arguments of a word.
    fn after_length(&self, rest: Span) -> Option<Span> {
        let signs = self.signs(rest);
        let mut at = 0;
        if signs.first() == Some(&b'*') {
            at = 1 + signs[1..]
                .iter()
                .position(|byte| !byte.is_ascii_whitespace() && !byte.is_ascii_digit())?;
        }
        if signs.get(at) == Some(&b'(') {
            let mut depth = 0;
            let close = signs[at..].iter().position(|byte| {
                depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
                depth == 0
            })?;
            at += close + 1;
        }
        Some(Span::new(rest.start as usize + at, rest.end as usize))
    }

    /// What a statement ends, if it ends a part of the program.
    fn ended(&self, word: &[u8], rest: Span) -> Option<Option<Kind>> {
        let inner = word.strip_prefix(b"end")?;
        let what = if inner.is_empty() { self.word(rest).0 } else { inner };
        match what {
            b"" if inner.is_empty() => self.signs(rest).trim_ascii().is_empty().then_some(None),
            b"module" | b"submodule" => Some(Some(Kind::Module)),
            b"program" | b"function" | b"subroutine" | b"procedure" => Some(Some(Kind::Procedure)),
            b"blockdata" => Some(Some(Kind::BlockData)),
            b"block" => {
                let is_data = inner.is_empty() && self.word(self.word(rest).1).0 == b"data";
                is_data.then_some(Some(Kind::BlockData))
            }
            b"interface" => Some(Some(Kind::Interface)),
            b"type" => Some(Some(Kind::Type)),
            _ => None,
        }
    }

    fn end(&mut self, ended: Option<Kind>, line: Span) -> Option<()> {
        let open = self.open.pop()?;
        let is_it = match ended {
            None => !matches!(open.kind, Kind::Interface | Kind::Type),
            Some(Kind::Procedure) => matches!(open.kind, Kind::Procedure | Kind::Body),
            Some(kind) => kind == open.kind,
        };
        is_it.then_some(())?;
        let is_inside = self.open.iter().any(|open| open.kind == Kind::Procedure);
        if open.kind == Kind::Procedure && !is_inside {
            let (start, is_kept) = self.current.take()?;
            let whole = Span::new(start, line.end as usize);
            let names = vec![];
            self.all.functions.push(Function { names, whole, is_kept, stays: false });
        }
        Some(())
    }

    fn open(&mut self, kind: Kind) {
        self.open.push(Open { kind, contains: false });
    }

    /// A procedure begins that stands in no other: nothing else may stand on its line.
    fn begin(&mut self, statement: Span, line: Span) -> Option<()> {
        let before = self.signs(Span { start: line.start, end: statement.start });
        (before.trim_ascii().is_empty() && self.current.is_none()).then_some(())?;
        self.current = Some((line.start as usize, statement.end < line.end));
        Some(())
    }

    fn procedure(&mut self, name: &'t [u8], statement: Span, line: Span) -> Option<()> {
        self.all.variables.insert(name);
        match self.open.last() {
            Some(Open { kind: Kind::Interface, .. }) => {
                self.open(Kind::Body);
                return Some(());
            }
            None => self.begin(statement, line)?,
            Some(Open { kind: Kind::Module, contains: true }) => self.begin(statement, line)?,
            Some(Open { kind: Kind::Procedure, contains: true }) => {}
            Some(_) => return None,
        }
        self.open(Kind::Procedure);
        Some(())
    }

    fn contains(&mut self, rest: Span) -> Option<()> {
        if self.signs(rest).trim_ascii().is_empty() {
            let open = self.open.last_mut()?;
            matches!(open.kind, Kind::Module | Kind::Procedure).then_some(())?;
            open.contains = true;
        }
        Some(())
    }

    /// Whether `type` begins a definition: `type :: t`, `type, … :: t`, `type t`; not `type (t) …`, nor `type is (…)`.
    fn defines_type(&self, rest: Span) -> bool {
        let signs = self.signs(rest);
        let (word, after) = self.word(rest);
        match signs.first() {
            Some(b',' | b':') => true,
            _ => is_word(word) && !(word == b"is" && self.signs(after).starts_with(b"(")),
        }
    }

    /// The procedure that is open must be read.
    fn keep(&mut self) {
        if let Some((_, is_kept)) = &mut self.current {
            *is_kept = true;
        }
    }

    /// Statements of interfaces and types that name procedures by other names.
    fn names_procedures(&mut self, word: &[u8], statement: Span) {
        if matches!(word, b"procedure" | b"module" | b"generic" | b"final") {
            self.all.read.push(statement);
        }
    }

    /// The names that a `use` statement changes.
    fn renames(&mut self, rest: Span) {
        let signs = self.signs(rest);
        for at in memchr::memmem::find_iter(signs, b"=>") {
            let is_of_word = |byte: &u8| is_part(byte);
            let before = signs[..at].trim_ascii_end();
            let start = before.iter().rposition(|byte| !is_of_word(byte)).map_or(0, |last| last + 1);
            let place = rest.start as usize;
            let local = self.text.names.get(place + start..place + before.len());
            let (name, _) = self.word(Span::new(place + at + 2, rest.end as usize));
            if let Some(local) = local {
                self.all.leads.entry(local).or_default().push(name);
            }
        }
    }

    /// The variables that a statement of a module declares; what they begin with may name procedures.
    fn declaration(&mut self, word: &[u8], statement: Span) {
        if NO_VARIABLES.contains(&word) || word.starts_with(b"end") {
            return;
        }
        let signs = self.signs(statement);
        let colons = memchr::memmem::find(signs, b"::").map(|at| at + 2);
        let after = Span::new(statement.start as usize + colons.unwrap_or(0), statement.end as usize);
        let mut before = Span { start: statement.start, end: after.start };
        if colons.is_none() {
            before.end = before.start;
        }
        let is_constant = self.text.words(before).any(|word| word == b"parameter");
        if word == b"procedure" || !is_constant && memchr::memchr(b'=', self.signs(after)).is_some() {
            self.all.read.push(statement);
        }
        if !is_constant {
            let named = self.text.words(after).filter(|word| colons.is_some() || !NO_NAMES.contains(word));
            self.all.variables.extend(named);
        }
    }
}

#[cfg(test)]
mod tests;
