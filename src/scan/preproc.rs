//! A view of the preprocessor: which conditional branches are shown, given what is defined.
//!
//! Invariant: an unknown macro is undefined, as for the preprocessor; a condition that cannot be read is false.

use crate::source::{SourceFile, Span};

use super::c::{Event, Line, is_word_start};
use super::defined::{Defined, Reader, definition};
use super::expression::{self, Verdict};

/// What is defined beside what a file has before it begins, and which place must be shown.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Macros with their bodies.
    pub defines: Vec<(String, Option<String>)>,
    /// Bytes that must be in shown branches, whatever the conditions say: sorted.
    pub reach: Vec<u32>,
}

impl View {
    /// What an OpenMP compiler defines when it reads our output; guards that remain show what they showed before.
    pub fn of_output() -> View {
        View { defines: vec![("_OPENMP".to_owned(), Some("201511".to_owned()))], reach: Vec::new() }
    }

    /// What is defined before a file begins.
    fn defined(&self, file: &SourceFile) -> Defined {
        let mut defined = Defined::before(file);
        for (name, body) in &self.defines {
            defined.define(name.clone(), body.clone().unwrap_or_default(), Reader::Some);
        }
        defined
    }
}

/// What a view shows of a file.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The byte ranges of branches not taken: sorted, disjoint.
    pub hidden: Vec<Span>,
    /// The byte ranges of branches that no build with the options at hand takes, whatever else is defined: sorted, disjoint.
    pub ruled_out: Vec<Span>,
    /// The macros that spell `restrict`.
    pub restricts: Vec<String>,
    /// Where conditions begin whose branch is decided by options: sorted.
    pub settled: Vec<u32>,
}

impl Shown {
    /// Whether the byte at `offset` is shown.
    pub fn shows(&self, offset: u32) -> bool {
        !holds(&self.hidden, offset)
    }

    /// Whether options rule out the branch of the byte at `offset`.
    pub fn rules_out(&self, offset: u32) -> bool {
        holds(&self.ruled_out, offset)
    }

    /// All branches except those that options rule out.
    pub fn of_all(&self) -> Shown {
        let ruled_out = &self.ruled_out;
        Shown { hidden: ruled_out.clone(), ruled_out: ruled_out.clone(), ..Shown::default() }
    }
}

/// Whether one of these spans, which are sorted and disjoint, holds an offset.
pub fn holds(spans: &[Span], offset: u32) -> bool {
    let next = spans.partition_point(|span| span.end <= offset);
    spans.get(next).is_some_and(|span| span.start <= offset)
}

/// The first word of a preprocessor line after `#`, and its rest.
pub fn keyword(bytes: &[u8], line: &Line) -> (&'static str, Vec<u8>) {
    let joined = joined(bytes, line);
    let rest = joined.strip_prefix(b"%:").or(joined.get(1..)).unwrap_or_default();
    let lead = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let word_length =
        rest.iter().skip(lead).take_while(|byte| is_word_start(**byte) || byte.is_ascii_digit()).count();
    let word = rest.get(lead..lead + word_length).unwrap_or_default();
    let known = ["if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef", "include", "pragma"];
    // `#import` includes a file once.
    let word = if word == b"import" { b"include" } else { word };
    let word = known.into_iter().find(|known| known.as_bytes() == word).unwrap_or("");
    (word, rest.get(lead + word_length..).unwrap_or_default().to_vec())
}

/// A logical line's bytes without comments, the pieces joined by a blank unless a line ends within a word.
pub fn joined(bytes: &[u8], line: &Line) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, piece) in line.pieces.iter().enumerate() {
        if at > 0 && !goes_on(bytes, line.pieces[at - 1], *piece) {
            text.push(b' ');
        }
        text.extend(bytes.get(piece.range()).unwrap_or_default());
    }
    // A literal may stand on several lines, too.
    while let Some(at) = memchr::memmem::find(&text, b"\\\n") {
        text.drain(at..at + 2);
    }
    text
}

/// Whether nothing but a line continuation stands between two pieces.
pub fn goes_on(bytes: &[u8], piece: Span, next: Span) -> bool {
    matches!(bytes.get(piece.end as usize..next.start as usize), Some(b"\\\n" | b"\\\r\n"))
}

/// Macros that name one another are followed no further than this.
const DEPTH: usize = 16;

struct Group {
    /// The branch that the conditions show is over or not yet found.
    taken: bool,
    /// The current branch is shown.
    shown: bool,
    /// The branch that must be shown, by the offset of its head.
    forced: Option<u32>,
    /// Where its first line begins.
    opening: u32,
    /// Where the current branch begins.
    start: u32,
    /// The groups around it are shown.
    is_open: bool,
    /// Options decide that a branch up to here is the one, unless an earlier one is.
    is_settled: bool,
    /// Options rule out all branches before the current one.
    is_first: bool,
    /// Which builds read the current branch; `None` if options rule it out.
    readers: Option<Reader>,
    /// The same of the group itself.
    around: Option<Reader>,
}

impl Group {
    /// The group that an `#if` opens; `is_open` says whether the place around is shown, `around` who reads that.
    fn opened(
        step: &Step,
        forced: Option<u32>,
        (is_open, around): (bool, Option<Reader>),
        verdict: Verdict,
    ) -> Group {
        let shown = forced.map_or(is_open && verdict.holds(), |head| head == step.start);
        let mut group = Group {
            taken: shown,
            shown,
            forced,
            opening: step.start,
            start: step.end,
            is_open,
            is_settled: false,
            is_first: true,
            readers: None,
            around,
        };
        group.decide(verdict, forced == Some(step.start));
        group
    }

    /// Goes on with the branch that an `#elif` or an `#else` begins.
    fn go_on(&mut self, step: &Step, verdict: Verdict) {
        let shown = match self.forced {
            Some(head) => head == step.start,
            None => !self.taken && verdict.holds(),
        };
        self.taken |= shown;
        self.shown = shown;
        self.start = step.end;
        self.decide(verdict, self.forced == Some(step.start));
    }

    fn is_shown(&self) -> bool {
        self.shown && self.is_open
    }

    /// Goes into a branch by what its condition amounts to; `is_forced` if the view shows it, whatever that is.
    fn decide(&mut self, verdict: Verdict, is_forced: bool) {
        let is_out = self.is_settled || verdict == Verdict::Never;
        self.readers = match self.around {
            None => None,
            Some(_) if is_out && !is_forced => None,
            Some(Reader::Some) => Some(Reader::Some),
            Some(_) if verdict == Verdict::Always && self.is_first => Some(Reader::Chosen),
            Some(_) => Some(Reader::Some),
        };
        self.is_settled |= verdict == Verdict::Always;
        self.is_first &= self.readers.is_none();
    }
}

/// A preprocessor line that decides what is shown, or what a later line means; or an `include` line of Fortran.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its first word.
    pub word: &'static str,
    /// What follows the word, joined.
    pub rest: Vec<u8>,
    /// Where it begins.
    pub start: u32,
    /// Where it ends, without the line end.
    pub end: u32,
}

/// Whether a file may have preprocessor conditions: false only if no line opens one.
pub fn may_have_conditions(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'#', bytes).any(|at| {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let lead = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        let rest = rest.get(lead..).unwrap_or_default();
        // Anything else needs the full scan.
        rest.starts_with(b"if") || !rest.first().is_some_and(u8::is_ascii_alphabetic)
    })
}

/// The steps of a file.
pub fn steps(bytes: &[u8], events: &[Event]) -> Vec<Step> {
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let step = |line: &Line| {
        let (word, rest) = keyword(bytes, line);
        Step { word, rest, start: line.span.start, end: line.whole.end }
    };
    let is_step = |step: &Step| match step.word {
        "" => false,
        "pragma" => brought_back(&step.rest).is_some(),
        _ => true,
    };
    lines.map(step).filter(is_step).collect()
}

/// The macro whose former meaning is restored: `#pragma pop_macro("NAME")`.
fn brought_back(rest: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(rest);
    let name = text.trim_start().strip_prefix("pop_macro")?.trim_start().strip_prefix('(')?;
    Some(name.split('"').nth(1)?.to_owned())
}

/// An inclusion by a macro's name, as the macro's body writes it.
fn written_out(step: &Step, macros: &Defined) -> Option<Step> {
    let mut rest = String::from_utf8_lossy(&step.rest).trim().to_owned();
    for _ in 0..DEPTH {
        if super::shadow::included(rest.as_bytes()).is_some() {
            return Some(Step { rest: rest.into_bytes(), ..step.clone() });
        }
        rest = macros.get(&rest)?.trim().to_owned();
    }
    None
}

/// Evaluates the conditionals of a file.
pub fn shown(file: &SourceFile, events: &[Event], view: &View) -> Shown {
    let steps = steps(&file.bytes, events);
    let forced = heads_around(&steps, &view.reach);
    follow(&steps, &forced, &mut view.defined(file), &mut |_, _, _| ())
}

/// Follows the steps of a file, in which `macros` are defined at first. `met` is called for each inclusion that options do not
/// rule out: with whether it is shown, and what is defined there.
pub fn follow(
    steps: &[Step],
    forced: &[(u32, u32)],
    macros: &mut Defined,
    met: &mut dyn FnMut(&Step, bool, &mut Defined),
) -> Shown {
    let mut stack: Vec<Group> = Vec::new();
    let mut found = Shown::default();
    for step in steps {
        let Step { word, rest, start, .. } = step;
        let active = stack.last().is_none_or(Group::is_shown);
        let readers = stack.last().map_or(Some(Reader::All), |group| group.readers);
        match *word {
            "if" | "ifdef" | "ifndef" => {
                // The heads are in the order of the conditions around a place.
                let at = forced.partition_point(|(opening, _)| opening < start);
                let forced = forced.get(at).filter(|(opening, _)| opening == start).map(|(_, head)| *head);
                let verdict = match active || macros.has_decided() {
                    true => expression::verdict(word, rest, macros),
                    false => Verdict::Fails,
                };
                stack.push(Group::opened(step, forced, (active, readers), verdict));
            }
            "elif" | "else" => {
                let Some(mut group) = stack.pop() else { continue };
                close(&mut found, &group, *start);
                let verdict = match *word {
                    "else" if group.is_first => Verdict::Always,
                    "else" => Verdict::Holds,
                    _ => expression::verdict("if", rest, macros),
                };
                group.go_on(step, verdict);
                stack.push(group);
            }
            "endif" => {
                if let Some(group) = stack.pop() {
                    close(&mut found, &group, *start);
                    found.settled.extend(group.is_settled.then_some(group.opening));
                }
            }
            "define" | "undef" => {
                let Some(reader) = readers else { continue };
                let (name, ..) = definition(rest);
                match *word {
                    _ if !active => macros.doubt(&name),
                    "define" => macros.define(name, super::defined::value(rest), reader),
                    _ => macros.undefine(&name, reader),
                }
            }
            "include" if readers.is_some() => match written_out(step, macros) {
                Some(step) => met(&step, active, macros),
                // It may define or undefine any name.
                None => macros.doubt_all(),
            },
            "pragma" => brought_back(rest).into_iter().for_each(|name| macros.doubt(&name)),
            _ => {}
        }
    }
    found.hidden.sort();
    found.ruled_out.sort();
    found.settled.sort();
    found.restricts = super::qualifier::spelled(macros);
    found
}

/// Ends a branch: its bytes are hidden if it was not shown and stands in a shown place.
fn close(found: &mut Shown, group: &Group, end: u32) {
    let branch = Span { start: group.start, end: end.max(group.start) };
    if !group.shown && group.is_open && !branch.is_empty() {
        found.hidden.push(branch);
    }
    if group.readers.is_none() && group.around.is_some() && !branch.is_empty() {
        found.ruled_out.push(branch);
    }
}

/// The conditional groups around places, which are sorted: the offset of each one's `#if`, and of the head of the branch that
/// holds the place. They are in the order of their `#if`s.
fn heads_around(steps: &[Step], places: &[u32]) -> Vec<(u32, u32)> {
    let mut stack: Vec<(u32, u32)> = Vec::new();
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut steps = steps.iter().peekable();
    for place in places {
        while let Some(step) = steps.next_if(|step| step.start < *place) {
            match step.word {
                "if" | "ifdef" | "ifndef" => stack.push((step.start, step.start)),
                "elif" | "else" => {
                    if let Some(top) = stack.last_mut() {
                        top.1 = step.start;
                    }
                }
                "endif" => {
                    stack.pop();
                }
                _ => {}
            }
        }
        // What is around several places is there already.
        let known = found.last().map(|(opening, _)| *opening);
        found.extend(stack.iter().filter(|(opening, _)| known.is_none_or(|known| known < *opening)));
    }
    found
}

#[cfg(test)]
mod tests;
