//! The walk over the lines: what continues what, and what the host grammar is not to see.
//!
//! Invariant: a line in a branch that is not shown leaves no trace in what is shown.

use crate::source::{Form, Language, SourceFile, Span, byte_order_mark};

use super::super::c::{Event, Line as Preprocessor};
use super::super::defined::definition;
use super::super::preproc::{Shown, keyword};
use super::super::shadow::{blank, find_next_code, guard, include_of};
use super::super::{AccName, Define, Include, Scan};
use super::code::{self, Text};
use super::line::{self, Kind, Line};
use super::names;
use super::open::{Continuation, Open};
use super::preprocessor;

/// What the lines so far mean for the next.
#[derive(Clone, Debug, Default)]
struct State {
    /// Where the last line of a statement ends that the next line of code may continue.
    joint: Option<u32>,
    /// The literal that is open there.
    quote: Option<u8>,
    /// A directive that the next line may continue.
    directive: Option<Open>,
}

struct Walk<'a> {
    file: &'a SourceFile,
    form: Form,
    shown: &'a Shown,
    scan: Scan,
    state: State,
    /// What the shown lines before a hidden branch mean for the lines after it.
    outside: Option<State>,
    /// The directive that was open before each of the conditions around.
    before: Vec<Option<Open>>,
}

/// Makes the scan of a file, whose preprocessor lines are known.
pub fn walk(file: &SourceFile, events: &[Event], shown: &Shown) -> Scan {
    let form = if let Language::Fortran(form) = file.language { form } else { Form::Free };
    let scan = Scan {
        directives: Vec::new(),
        includes: Vec::new(),
        defines: Vec::new(),
        shadow: file.bytes.clone(),
        names: Vec::new(),
        guards: Vec::new(),
        conditionals: Vec::new(),
        restricts: Vec::new(),
        hidden: shown.hidden.clone(),
        ruled_out: Vec::new(),
        index: Default::default(),
    };
    let mut walk =
        Walk { file, form, shown, scan, state: State::default(), outside: None, before: Vec::new() };
    walk.run(events);
    walk.scan
}

impl Walk<'_> {
    fn run(&mut self, events: &[Event]) {
        let mut lines = events.iter().filter_map(|event| match event {
            Event::Line(line) => Some(line),
            Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
        });
        let mut next_line = lines.next();
        let mut at = self.byte_order_mark();
        while at < self.file.bytes.len() {
            let (end, next) = line::ends(&self.file.bytes, at);
            let met = next_line.filter(|line| (line.span.start as usize) < next);
            self.enter(self.shown.shows(met.map_or(at as u32, |line| line.span.start)));
            if let Some(line) = met {
                self.preprocessor(line);
                at = line::ends(&self.file.bytes, line.whole.end as usize).1;
                next_line = lines.next();
                continue;
            }
            self.line(&line::read(self.file, Span::new(at, end), self.form));
            at = next;
        }
        self.enter(true);
        self.close();
        for span in &self.shown.hidden {
            blank(&mut self.scan.shadow, *span);
        }
        names::mask(&mut self.scan.shadow);
        self.scan.directives.sort_by_key(|text| text.span.start);
        self.scan.rule_out(self.shown);
        find_next_code(&mut self.scan);
    }

    fn byte_order_mark(&mut self) -> usize {
        let length = byte_order_mark(&self.file.bytes);
        blank(&mut self.scan.shadow, Span::new(0, length));
        length
    }

    /// Goes into a hidden branch or out of it.
    fn enter(&mut self, shown: bool) {
        if shown && let Some(outside) = self.outside.take() {
            self.close();
            self.state = outside;
        } else if !shown && self.outside.is_none() {
            self.outside = Some(self.state.clone());
            // A directive of an earlier branch does not continue in this one.
            self.state.directive = self.before.last().cloned().flatten();
            if let Some(open) = &mut self.state.directive {
                open.is_ghost = true;
            }
        }
    }

    /// Whether the walk is in lines that the view shows.
    fn is_shown(&self) -> bool {
        self.outside.is_none()
    }

    /// Blanks what the host grammar is not to see; hidden branches are blanked at the end, all at once.
    fn blank(&mut self, start: u32, end: u32) {
        if self.is_shown() && start < end {
            blank(&mut self.scan.shadow, Span { start, end });
        }
    }

    /// Ends the directive that was open.
    fn close(&mut self) {
        if let Some(open) = self.state.directive.take() {
            self.scan.directives.extend(open.finished());
        }
    }

    fn line(&mut self, line: &Line) {
        match line.kind {
            Kind::Blank => self.blank(line.whole.start, line.whole.end),
            Kind::Comment => self.comment(line),
            Kind::Directive => self.directive(line),
            Kind::Conditional => {
                let sentinel = Span { start: line.start, end: line.start + 5 };
                self.scan.conditionals.push(sentinel);
                self.blank(sentinel.start, sentinel.end);
                self.code(line);
            }
            Kind::Code => self.code(line),
        }
    }

    fn comment(&mut self, line: &Line) {
        self.blank(line.whole.start, line.whole.end);
        if let Some(open) = &mut self.state.directive {
            let length = self.file.slice(line.whole).trim_ascii_end().len() as u32;
            open.comment(Span { start: line.start, end: line.whole.start + length });
        }
    }

    fn directive(&mut self, line: &Line) {
        self.blank(line.whole.start, line.whole.end);
        let continuation = match self.form {
            Form::Free => Continuation::Requested,
            Form::Fixed if line.mark.is_some() => Continuation::Marked,
            Form::Fixed => Continuation::None,
        };
        // With a letter after it, the sentinel is a word of a comment, if there is nothing to continue.
        let is_word = line.mark.is_some_and(|mark| mark.is_ascii_alphanumeric());
        let goes_on = self.state.directive.as_ref().is_some_and(|open| open.takes(continuation));
        if !goes_on {
            self.close();
            if is_word {
                return;
            }
            self.state.directive = Some(Open::new(line.start, self.is_shown()));
        }
        let Some(open) = &mut self.state.directive else { return };
        open.add(&self.file.bytes, line, self.form);
        let ends = self.form == Form::Free && !open.asks();
        let is_out = self.shown.rules_out(line.start);
        if let Some(outside) = self.outside.as_mut().filter(|_| open.is_ghost && !is_out) {
            outside.directive.iter_mut().for_each(Open::part);
        }
        if ends {
            self.close();
        }
    }

    fn code(&mut self, line: &Line) {
        self.close();
        let continues = match self.form {
            Form::Free => self.state.joint.is_some(),
            Form::Fixed => line.mark.is_some(),
        };
        let mut text = line.text;
        if self.form == Form::Free && continues {
            text.start += leading_ampersand(self.file.slice(text));
        }
        let quote = self.state.quote.filter(|_| continues);
        let read = code::read(&self.file.bytes, text, quote, self.form);
        if continues && self.is_shown() {
            self.join(self.state.joint.unwrap_or(line.whole.start), text.start);
        }
        if self.form == Form::Fixed && text.start == line.whole.start + 6 {
            // An initial line may have a zero in column 6.
            self.blank(line.whole.start + 5, text.start);
        }
        self.blank(text.end, line.whole.end);
        self.read(line, text, &read, continues);
    }

    /// Makes one line of all from `joint` to `start`.
    fn join(&mut self, joint: u32, start: u32) {
        for byte in self.scan.shadow.get_mut(joint as usize..start as usize).unwrap_or_default() {
            *byte = b' ';
        }
    }

    /// What a line of code holds, and what it means for the next.
    fn read(&mut self, line: &Line, text: Span, read: &Text, continues: bool) {
        let active = self.is_shown();
        let names = read.names.iter().cloned();
        self.scan.names.extend(names.map(|(name, span)| AccName { name, span, active, in_macro: false }));
        if let Some(comment) = read.comment {
            self.blank(comment.start, comment.end);
        }
        let path = read.words.and_then(|words| code::included(self.file.slice(words)));
        if let Some(path) = path.filter(|_| !continues) {
            self.blank(text.start, text.end);
            self.scan.includes.push(Include { span: line.whole, path, quoted: true, active });
        }
        let end = read.words.map_or(text.start, |words| words.end);
        match self.form {
            Form::Free => {
                if let Some(ampersand) = read.ampersand {
                    self.blank(ampersand, ampersand + 1);
                }
                self.state.joint = read.ampersand;
            }
            Form::Fixed => self.state.joint = Some(end),
        }
        self.state.quote = read.quote;
    }

    fn preprocessor(&mut self, line: &Preprocessor) {
        self.blank(line.whole.start, line.whole.end);
        if let Some(open) = &mut self.state.directive {
            open.crosses();
        }
        let bytes = &self.file.bytes;
        let active = self.is_shown();
        let (keyword, rest) = keyword(bytes, line);
        match keyword {
            "include" => {
                let include = include_of(self.file, line);
                self.scan.includes.extend(include.map(|include| Include { active, ..include }));
            }
            "define" => {
                let (name, params, body) = definition(&rest);
                self.scan.names.extend(preprocessor::names(bytes, line, active));
                self.scan.directives.extend(preprocessor::directive(bytes, line, &name, active));
                if active {
                    self.scan.defines.push(Define { name, params, body, span: line.whole });
                }
            }
            "if" | "ifdef" | "ifndef" => {
                self.before.push(self.state.directive.clone());
                self.scan.guards.extend(guard(self.file, line));
            }
            "elif" => self.scan.guards.extend(guard(self.file, line)),
            "endif" => drop(self.before.pop()),
            _ => {}
        }
    }
}

/// The length of the blanks and the ampersand at the beginning of a continuation line. An ampersand alone asks for a
/// further line.
pub fn leading_ampersand(text: &[u8]) -> u32 {
    let Some(rest) = text.trim_ascii_start().strip_prefix(b"&") else { return 0 };
    let is_alone = rest.trim_ascii_start().first().is_none_or(|byte| *byte == b'!');
    if is_alone { 0 } else { (text.len() - rest.len()) as u32 }
}
