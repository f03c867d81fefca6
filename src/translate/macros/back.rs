//! The way back from a text with its macros written out to the source.
//!
//! Invariant: an edit has one home, in the source or in the body of one macro, or is a trouble.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag;
use crate::edit::Edit;
use crate::layout;
use crate::scan::{Call, Macros, Piece, Written};
use crate::source::{SourceFile, Span};

use super::super::{DirectiveReport, Translation};
use super::{Edits, Trouble};

/// The way back from the text with macros written out to the source.
pub struct Back<'a> {
    /// The source.
    pub file: &'a SourceFile,
    /// Its macros.
    pub macros: &'a Macros,
    /// The text with the macros written out.
    pub written: &'a Written,
    /// The translation of that text.
    pub there: &'a Translation,
    /// Other files may use the macros of this one.
    pub is_header: bool,
    /// All that was written for each use.
    pub extents: BTreeMap<usize, Span>,
}

/// An edit of the source, and the call in whose body it is.
struct Home {
    call: Option<usize>,
    edit: Edit,
    /// The use of a macro that goes with it.
    instead_of: Option<usize>,
}

/// The call of a header's macro `ACC(x) NAME(acc x)` that an operator comes from.
struct Handed<'a> {
    /// Its bytes.
    span: Span,
    /// The call in whose body it stands; none in code.
    home: Option<usize>,
    /// The use that it belongs to.
    used: usize,
    /// `NAME`.
    name: &'a [u8],
}

impl Back<'_> {
    /// The pieces that `span` touches.
    fn pieces(&self, span: Span) -> &[Piece] {
        let all = &self.written.pieces;
        let first = all.partition_point(|piece| piece.at.end <= span.start);
        let last = all.partition_point(|piece| piece.at.start < span.end.max(span.start + 1));
        all.get(first..last).unwrap_or_default()
    }

    fn text(&self, span: Span) -> &[u8] {
        self.written.text.get(span.range()).unwrap_or_default()
    }

    /// Whether a piece was copied, or stands for clauses: its ends are places of the source.
    fn is_own(&self, piece: &Piece) -> bool {
        piece.used.is_none_or(|used| self.written.uses[used].in_directive)
    }

    pub fn edits(&self) -> Result<(Edits, BTreeMap<usize, Edits>), Vec<Trouble>> {
        let mut own = Vec::new();
        let mut calls: Vec<Edits> = vec![Vec::new(); self.written.calls.len()];
        let mut troubles = Vec::new();
        let mut gone = BTreeSet::new();
        for edit in &self.there.edits {
            match self.home(edit) {
                Ok(homes) => {
                    for home in homes {
                        gone.extend(home.instead_of);
                        home.call.map_or(&mut own, |call| &mut calls[call]).push(home.edit);
                    }
                }
                Err(trouble) => troubles.push(trouble),
            }
        }
        let mut bodies: BTreeMap<usize, (usize, Edits)> = BTreeMap::new();
        let mut differ = BTreeSet::new();
        let mut shared: BTreeMap<usize, bool> = BTreeMap::new();
        for (call, edits) in calls.into_iter().enumerate() {
            let Call { of, used, .. } = self.written.calls[call];
            let one = self.macros.get(of);
            let mut is_shared =
                || *shared.entry(of).or_insert_with(|| self.macros.has_other_uses(of, &self.written.calls));
            if !edits.is_empty() && (self.is_header && !one.is_undefined || is_shared()) {
                let at = one.directives.first().copied().unwrap_or(one.span);
                troubles.push(Trouble::Macro(of, diag::in_macro(at, &one.name)));
                continue;
            }
            if gone.contains(&used) {
                continue;
            }
            let (first, known) = bodies.entry(of).or_insert_with(|| (call, edits.clone()));
            if *known != edits && differ.insert(of) {
                let one = self.macros.get(of);
                let uses = [*first, call].map(|call| self.written.uses[self.written.calls[call].used].span);
                let at = one.directives.first().copied().unwrap_or(one.span);
                troubles.push(Trouble::Macro(of, diag::macro_uses_differ(at, &one.name, uses)));
            }
        }
        if !troubles.is_empty() {
            return Err(troubles);
        }
        Ok((own, bodies.into_iter().map(|(of, (_, edits))| (of, edits)).collect()))
    }

    /// Where an edit belongs in the source.
    fn home(&self, edit: &Edit) -> Result<Vec<Home>, Trouble> {
        let pieces = self.pieces(edit.span);
        if edit.span.is_empty() || pieces.iter().all(|piece| self.is_own(piece)) {
            return self.copied(edit).ok_or_else(|| self.trouble(edit.span));
        }
        let mut operators = self.operators(edit.span).iter().map(|report| report.span);
        let homes = match (operators.next(), operators.next()) {
            (Some(operator), None) if self.handed_on(operator).is_some() => self.handed(operator, edit),
            (Some(operator), None) if self.foreign(operator).is_some() => self.written_anew(operator, edit),
            (Some(operator), None) if edit.span.contains(operator) => self.replaced(operator, edit),
            (Some(operator), None) if operator.contains(edit.span) => self.relaid(operator, edit),
            (None, _) => self.copied(edit),
            _ => None,
        };
        homes.ok_or_else(|| self.trouble(edit.span))
    }

    /// The directives that `span` touches.
    fn operators(&self, span: Span) -> &[DirectiveReport] {
        let all = &self.there.directives;
        let first = all.partition_point(|report| report.span.end <= span.start);
        let last = all.partition_point(|report| report.span.start < span.end);
        all.get(first..last).unwrap_or_default()
    }

    fn trouble(&self, span: Span) -> Trouble {
        let pieces = self.pieces(span);
        let foreign = || pieces.iter().filter(|piece| !self.is_own(piece));
        let around = Span { start: span.start.saturating_sub(1), end: span.end + 1 };
        let operator = self.operators(around).first().map(|report| report.span);
        let called =
            operator.map_or_else(|| foreign().find_map(|piece| piece.call), |operator| self.call(operator));
        let used = foreign().find_map(|piece| piece.used).map(|used| &self.written.uses[used]);
        match (called, used) {
            (Some(call), _) if !self.macros.get(self.written.calls[call].of).is_foreign => {
                let of = self.written.calls[call].of;
                let one = self.macros.get(of);
                let at = one.directives.first().copied().unwrap_or(one.span);
                Trouble::Macro(of, diag::in_macro(at, &one.name))
            }
            (_, Some(used)) => {
                Trouble::Use(used.span.start, diag::in_macro(used.span, &self.macros.get(used.of).name))
            }
            (_, None) => Trouble::Use(span.start, diag::in_macro(Span::at(0), "")),
        }
    }

    /// An edit of bytes that stand in the source as they are.
    fn copied(&self, edit: &Edit) -> Option<Vec<Home>> {
        let (start, call) = self.start(edit.span.start, edit.span.is_empty())?;
        let end = if edit.span.is_empty() { start } else { self.end(edit.span.end)? };
        let same = self.pieces(edit.span).iter().all(|piece| piece.call == call);
        let span = Span { start, end };
        (start <= end && same)
            .then(|| vec![Home { call, edit: Edit { span, text: edit.text.clone() }, instead_of: None }])
    }

    /// The place in the source of the byte at `at`; for an insertion, copied bytes before it count, too.
    fn start(&self, at: u32, inserts: bool) -> Option<(u32, Option<usize>)> {
        let here = self.pieces(Span { start: at, end: at }).iter().find(|piece| piece.at.start <= at);
        let before = at.checked_sub(1).and_then(|at| self.pieces(Span { start: at, end: at }).first());
        let before = before.filter(|piece| inserts && piece.at.end == at && self.is_own(piece));
        if let Some(piece) = here.filter(|piece| before.is_none() || self.is_own(piece)) {
            let from = piece.from?;
            let exact = from.len() == piece.at.len() || at == piece.at.start;
            return exact.then_some((from.start + (at - piece.at.start), piece.call));
        }
        match before {
            Some(piece) => Some((piece.from?.end, piece.call)),
            None => (at == 0 || at as usize == self.written.text.len())
                .then_some((if at == 0 { 0 } else { self.file.bytes.len() as u32 }, None)),
        }
    }

    /// The place in the source after the byte before `at`.
    fn end(&self, at: u32) -> Option<u32> {
        let last = at.checked_sub(1)?;
        let piece = self.pieces(Span { start: last, end: last }).first()?;
        let from = piece.from?;
        let exact = from.len() == piece.at.len() || at == piece.at.end;
        exact.then_some(from.end - (piece.at.end - at))
    }

    /// The piece that holds the word `acc` of an operator.
    fn sentinel(&self, operator: Span) -> Option<&Piece> {
        let at = self.text(operator).windows(3).position(|word| word == b"acc")?;
        let at = operator.start + at as u32;
        self.pieces(Span { start: at, end: at }).first()
    }

    /// The call in whose body an operator's words begin.
    fn call(&self, operator: Span) -> Option<usize> {
        self.sentinel(operator)?.call
    }

    /// Whether an operator's words are one literal.
    fn has_literal(&self, operator: Span) -> bool {
        self.sentinel(operator)
            .is_some_and(|piece| self.text(piece.at).starts_with(b"\"") && piece.from.is_some())
    }

    /// Whether the operator is spelt out in one place, `_Pragma("acc …")`.
    fn is_literal(&self, operator: Span) -> bool {
        let call = self.call(operator);
        let own = self.pieces(operator).iter().filter(|piece| piece.from.is_some());
        self.has_literal(operator) && own.into_iter().all(|piece| piece.call == call)
    }

    /// The piece with the last of an operator's words.
    fn last_words(&self, operator: Span) -> Option<&Piece> {
        let sentinel = self.sentinel(operator)?;
        if self.is_literal(operator) {
            return Some(sentinel);
        }
        let words = Span { start: sentinel.at.start, end: operator.end.checked_sub(2)? };
        self.pieces(words).iter().rev().find(|piece| piece.from.is_some())
    }

    /// The bytes of the source that an operator was written for.
    fn operator(&self, operator: Span) -> Option<Span> {
        let pieces = self.pieces(operator);
        if self.is_literal(operator) {
            let (first, last) = (pieces.first()?.from?, pieces.last()?.from?);
            return Some(Span { start: first.start, end: last.end });
        }
        let last = self.last_words(operator)?;
        let from = last.from?;
        let Some(call) = last.call else {
            let in_body = self.handed_on(operator).map(|handed| handed.span);
            return in_body.or(Some(self.written.uses[last.used?].span));
        };
        let one = self.macros.get(self.written.calls[call].of);
        let first = pieces.iter().find(|piece| piece.call == Some(call)).and_then(|piece| piece.from);
        let spelt = one.directives.iter().copied().find(|span| span.contains(from));
        Some(spelt.unwrap_or_else(|| first.unwrap_or(from).to(from)))
    }

    /// An edit that puts other text, or none, in place of a whole operator.
    fn replaced(&self, operator: Span, edit: &Edit) -> Option<Vec<Home>> {
        let blank = |span: Span| self.text(span).iter().all(u8::is_ascii_whitespace);
        let around = blank(Span { start: edit.span.start, end: operator.start })
            && blank(Span { start: operator.end, end: edit.span.end });
        let span = self.operator(operator)?;
        let words = self.last_words(operator)?;
        let text = edit.text.clone();
        if words.call.is_none() {
            // What stands in for a macro's argument must be the whole of what the macro becomes.
            let rest = self.extents.get(&words.used?)?;
            let whole = rest.contains(operator)
                && blank(Span { start: rest.start, end: operator.start })
                && blank(Span { start: operator.end, end: rest.end });
            let gone = text.is_empty();
            let edit = if gone { layout::removed(self.file, span) } else { Edit { span, text } };
            return (around && whole).then(|| vec![Home { call: None, edit, instead_of: words.used }]);
        }
        // Of an operator that gets its literal from elsewhere, no place is all.
        let fixed = self.is_literal(operator) || text.is_empty() && !self.has_literal(operator);
        let span = if text.is_empty() { self.with_blanks(span) } else { span };
        let edit = Edit { span, text };
        (around && fixed).then(|| vec![Home { call: words.call, edit, instead_of: None }])
    }

    /// The end of a line with the blanks before it.
    fn with_blanks(&self, span: Span) -> Span {
        let ends = self.file.bytes.get(span.end as usize).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        let before = self.file.bytes.get(..span.start as usize).unwrap_or_default();
        let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        Span { start: span.start - if ends { blanks as u32 } else { 0 }, end: span.end }
    }

    /// An edit that changes the words of an operator.
    fn relaid(&self, operator: Span, edit: &Edit) -> Option<Vec<Home>> {
        let (start, call) = self.start(edit.span.start, false)?;
        if self.is_literal(operator) {
            let span = Span { start, end: self.end(edit.span.end)? };
            return Some(vec![Home { call, edit: Edit { span, text: edit.text.clone() }, instead_of: None }]);
        }
        let text = edit.text.strip_suffix(b"\")").filter(|_| self.text(edit.span).ends_with(b"\")"))?;
        let words = Span { start: edit.span.start, end: edit.span.end - 2 };
        if self.has_literal(operator) {
            let span = Span { start, end: self.end(words.end)? };
            let edit = Edit { span, text: text.to_vec() };
            return (self.pieces(words).len() == 1).then(|| vec![Home { call, edit, instead_of: None }]);
        }
        self.argument(words, &unescaped(text))
    }

    /// The call of a header's macro `ACC(x) NAME(acc x)`, if that is what an operator comes from.
    fn handed_on(&self, operator: Span) -> Option<Handed<'_>> {
        let outer = &self.written.calls[self.call(operator)?];
        let one = self.macros.get(outer.of);
        let name = one.handed_on().filter(|name| one.is_foreign && self.macros.is_operator(name))?;
        let used = &self.written.uses[outer.used];
        let (span, home) = match outer.inside {
            Some((span, home)) => (span, Some(home)),
            None => (used.span, None),
        };
        let is_whole = home.is_some() || used.of == outer.of && self.macros.has_one_definition(outer.of);
        is_whole.then_some(Handed { span, home, used: outer.used, name })
    }

    /// An edit of such an operator: other words are handed to `NAME`.
    fn handed(&self, operator: Span, edit: &Edit) -> Option<Vec<Home>> {
        let Handed { span, home, used, name } = self.handed_on(operator)?;
        let instead_of = home.is_none().then_some(used);
        let whole = operator.to(edit.span);
        let before = self.text(Span { start: whole.start, end: edit.span.start });
        let after = self.text(Span { start: edit.span.end, end: whole.end });
        let text = [before, &edit.text, after].concat();
        let text = text.trim_ascii();
        if text.is_empty() {
            let edit = Edit { span: self.with_blanks(span), text: Vec::new() };
            return Some(vec![Home { call: home, edit, instead_of }]);
        }
        let words = unescaped(text.strip_prefix(b"_Pragma(\"")?.strip_suffix(b"\")")?);
        let mut pieces: Vec<&Piece> =
            self.pieces(operator).iter().filter(|piece| piece.from.is_some()).collect();
        let words = match home {
            Some(home) => {
                let open = memchr::memchr(b'(', self.file.slice(span))? as u32;
                let inside = Span { start: span.start + open + 1, end: span.end - 1 };
                self.in_body(&pieces, (inside, home), &words)?
            }
            None => {
                // In code, the words are those of the argument, and no other macro's.
                let own = self.call(operator);
                pieces.retain(|piece| piece.call.is_some() && piece.call != own);
                pieces.is_empty().then_some(words)?
            }
        };
        let is_one = memchr::memmem::find(&words, b"_Pragma").is_none() && !has_comma(&words);
        let text = [name, b"(", &words, b")"].concat();
        is_one.then(|| vec![Home { call: home, edit: Edit { span, text }, instead_of }])
    }

    /// The use of a header's macro that stands for an operator and nothing else.
    fn foreign(&self, operator: Span) -> Option<usize> {
        let used = self.pieces(operator).iter().find_map(|piece| piece.used)?;
        let all = self.extents.get(&used)?;
        let blank = |span: Span| self.text(span).iter().all(u8::is_ascii_whitespace);
        let is_all = all.contains(operator)
            && blank(Span { start: all.start, end: operator.start })
            && blank(Span { start: operator.end, end: all.end });
        let one = self.macros.get(self.written.uses[used].of);
        let hands_words = self.macros.is_operator(one.name.as_bytes());
        (is_all && one.is_foreign && !hands_words).then_some(used)
    }

    /// An edit of such an operator: the new one stands where the macro was used.
    fn written_anew(&self, operator: Span, edit: &Edit) -> Option<Vec<Home>> {
        let used = self.foreign(operator)?;
        let span = self.written.uses[used].span;
        let whole = operator.to(edit.span);
        let before = self.text(Span { start: whole.start, end: edit.span.start });
        let after = self.text(Span { start: edit.span.end, end: whole.end });
        let text = [before, &edit.text, after].concat();
        let text = text.trim_ascii().to_vec();
        // With another definition the macro may stand for something else, or for nothing: then `declare target`
        // alone takes its place: a function that is made for the device, too, does what it did.
        let mut calls = self.written.calls.iter().filter(|call| call.used == used);
        let has_one = calls.all(|call| self.macros.has_one_definition(call.of));
        let may_stay = has_one || text.is_empty() || text.ends_with(b" declare target\")");
        let edit = match text.is_empty() {
            true => layout::removed(self.file, span),
            false => Edit { span, text },
        };
        may_stay.then(|| vec![Home { call: None, edit, instead_of: Some(used) }])
    }

    /// An edit of words that are the argument of a macro, wherever they come from.
    fn argument(&self, words: Span, text: &[u8]) -> Option<Vec<Home>> {
        let pieces: Vec<&Piece> = self.pieces(words).iter().filter(|piece| piece.from.is_some()).collect();
        let (first, last) = (pieces.first()?, pieces.last()?);
        let start = self.start(words.start, false)?.0;
        if first.call == last.call {
            let end = self.end(last.at.end)?;
            let text = self.in_parameters(&pieces, text)?;
            let edit = Edit { span: Span { start, end }, text };
            return (start <= end).then(|| vec![Home { call: first.call, edit, instead_of: None }]);
        }
        // `#define ACC(x) PRAGMA(acc x)`: the sentinel, or the name, stands in the body, the rest in the use.
        let own = pieces.iter().take_while(|piece| piece.call == first.call).count();
        let (last, after) = (pieces.get(own.checked_sub(1)?)?, pieces.get(own)?);
        let name = self.text(first.at.to(last.at));
        let length = if own == 1 { text.iter().position(|byte| *byte == b' ')? } else { name_length(text) };
        let (head, rest) = text.split_at_checked(length).filter(|_| !name.contains(&b'('))?;
        let (head, rest) = (head.trim_ascii().to_vec(), rest.trim_ascii());
        let span = Span { start, end: self.end(last.at.end)? };
        let head = Edit { span, text: head };
        let words = Span { start: after.at.start, end: words.end };
        let mut homes = vec![Home { call: first.call, edit: head, instead_of: None }];
        homes.extend(self.argument(words, rest)?);
        Some(homes)
    }

    /// The text with parameters for their arguments, where pieces of arguments lie between those of the body.
    fn in_parameters(&self, pieces: &[&Piece], text: &[u8]) -> Option<Vec<u8>> {
        let call = pieces.first()?.call;
        let mut named: Named = Vec::new();
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let length = pieces.iter().skip(at).take_while(|piece| piece.call != call).count();
            if piece.call != call {
                let before = pieces.get(at.checked_sub(1)?)?;
                let after = pieces.get(at + length)?;
                let param = Span { start: before.from?.end, end: after.from?.start };
                let arg = piece.at.to(pieces.get(at + length - 1)?.at);
                let pair = (self.text(arg).to_vec(), self.file.slice(param).trim_ascii().to_vec());
                if !named.contains(&pair) {
                    named.push(pair);
                }
            }
            at += length.max(1);
        }
        with_params(text, named)
    }

    /// The text with parameters for their arguments, where the pieces fill the bytes `inside` of a call's body. `None` if
    /// something else than an argument stands there for other words.
    fn in_body(&self, pieces: &[&Piece], (inside, home): (Span, usize), text: &[u8]) -> Option<Vec<u8>> {
        let one = self.macros.get(self.written.calls[home].of);
        let mut named: Named = Vec::new();
        let mut start = inside.start;
        for group in pieces.chunk_by(|one, next| (one.call == Some(home)) == (next.call == Some(home))) {
            let (first, last) = (group.first()?, group.last()?);
            if first.call == Some(home) {
                start = last.from?.end;
                continue;
            }
            let after =
                pieces.iter().find(|piece| piece.at.start > last.at.start && piece.call == Some(home));
            let end = after.map_or(Some(inside.end), |piece| Some(piece.from?.start))?;
            let param = unspliced(self.file.slice(Span { start, end }));
            if !one.has_param(&param) {
                return None;
            }
            let pair = (self.text(first.at.to(last.at)).to_vec(), param);
            if !named.contains(&pair) {
                named.push(pair);
            }
        }
        with_params(text, named)
    }

    /// The place in the source of what a message is about.
    fn place(&self, span: Span) -> Span {
        if let Some(report) = self.operators(span).iter().find(|report| report.span == span)
            && self.pieces(span).iter().any(|piece| !self.is_own(piece))
        {
            return self.operator(span).unwrap_or_else(|| self.used(report.span));
        }
        let whole = Span { start: span.start, end: span.end.max(span.start) };
        let start = self.start(whole.start, false).map(|(start, _)| start);
        let end = if whole.is_empty() { start } else { self.end(whole.end) };
        match (start, end) {
            (Some(start), Some(end)) if start <= end => Span { start, end },
            (Some(start), _) => Span { start, end: start },
            (None, _) => self.used(span),
        }
    }

    fn used(&self, span: Span) -> Span {
        let used = self.pieces(span).iter().find_map(|piece| piece.used);
        used.map_or(Span::at(0), |used| self.written.uses[used].span)
    }

    /// Whether `span` is the sign before a use that is left untranslated.
    fn is_sign(&self, span: Span) -> bool {
        self.pieces(span)
            .iter()
            .all(|piece| piece.from.is_none() && piece.used.is_some_and(|used| self.written.uses[used].left))
    }

    /// The messages and reports, at their places in the source.
    pub fn translation(&self) -> Translation {
        let mut translation = self.there.clone();
        let is_said = |diag: &diag::Diag| diag.code == diag::HOST_INSIDE_DATA;
        translation.diagnostics.retain(|diag| is_said(diag) || !self.is_sign(diag.primary.span));
        for diag in &mut translation.diagnostics {
            diag.primary.span = self.place(diag.primary.span);
            diag.others.iter_mut().for_each(|label| label.span = self.place(label.span));
        }
        for one in &mut translation.loops {
            one.span = self.place(one.span);
        }
        let unknown = self.written.uses.iter().filter(|used| used.is_unknown);
        let reported = unknown.map(|used| diag::in_macro(used.span, &self.macros.get(used.of).name));
        translation.diagnostics.extend(reported);
        let mut reports: BTreeMap<Span, DirectiveReport> = BTreeMap::new();
        for report in &self.there.directives {
            let sign = self.is_sign(report.span);
            let used = self.pieces(report.span).first().and_then(|piece| piece.used).filter(|_| sign);
            let used = used.map(|used| &self.written.uses[used]);
            if used.is_some_and(|used| !self.macros.get(used.of).directives.is_empty()) {
                // The directive in the macro's body is reported there.
                continue;
            }
            let span = used.map_or_else(|| self.place(report.span), |used| used.span);
            let fresh = DirectiveReport { span, ..report.clone() };
            reports
                .entry(span)
                .and_modify(|known| {
                    known.outcome = known.outcome.max(fresh.outcome);
                    known.rows.extend(
                        fresh
                            .rows
                            .iter()
                            .filter(|row| !known.rows.contains(row))
                            .cloned()
                            .collect::<Vec<_>>(),
                    );
                })
                .or_insert(fresh);
        }
        translation.directives = reports.into_values().collect();
        translation
    }
}

/// A word without the blanks and the continued lines around it.
fn unspliced(text: &[u8]) -> Vec<u8> {
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
    let start = text.iter().position(|byte| !is_around(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_around(byte)).map_or(start, |at| at + 1);
    text.get(start..end).unwrap_or_default().to_vec()
}

/// The length of a directive's name: the words before the first that has an argument.
fn name_length(text: &[u8]) -> usize {
    let Some(open) = text.iter().position(|byte| *byte == b'(') else { return text.len() };
    let before = text.get(..open).unwrap_or_default();
    before.iter().rposition(|byte| *byte == b' ').map_or(0, |blank| blank + 1)
}

/// What `#x` would make this text of.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        out.push(if *byte == b'\\' { *bytes.next().unwrap_or(byte) } else { *byte });
    }
    out
}

/// Arguments, and the parameters that they were given for.
type Named = Vec<(Vec<u8>, Vec<u8>)>;

/// The text with parameters for their arguments, if the arguments for the parameters bring it back.
fn with_params(text: &[u8], mut named: Named) -> Option<Vec<u8>> {
    if named.is_empty() {
        return Some(text.to_vec());
    }
    named.sort_by_key(|(arg, _)| std::cmp::Reverse(arg.len()));
    let body = with_words(text, &named);
    let back: Named = named.into_iter().map(|(arg, param)| (param, arg)).collect();
    (with_words(&body, &back) == text).then_some(body)
}

/// Whether words have a comma outside of parentheses.
fn has_comma(words: &[u8]) -> bool {
    let mut depth = 0usize;
    words.iter().any(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *byte == b','
    })
}

/// The text with each whole word, or row of words, replaced by its partner.
fn with_words(text: &[u8], pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let inner = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let fits = |word: &[u8]| {
            let joined_before = inner(word.first()) && at > 0 && inner(text.get(at - 1));
            let joined_after = inner(word.last()) && inner(rest.get(word.len()));
            rest.starts_with(word) && !joined_before && !joined_after
        };
        match pairs.iter().find(|(word, _)| !word.is_empty() && fits(word)) {
            Some((word, other)) => {
                out.extend(other);
                at += word.len();
            }
            None => {
                out.extend(rest.first());
                at += 1;
            }
        }
    }
    out
}
