//! Directives in macros: translated as if the macros were written out, and brought back to the one place where they stand.
//!
//! Invariant: the body of a macro changes only as all of its uses ask for.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::layout;
use crate::scan::{self, Call, Choice, Macros, Piece, Written};
use crate::source::{Language, SourceFile, Span};

use super::{DirectiveReport, Options, Outcome, Source, Translation};

/// After so many attempts all macros are left.
const ATTEMPTS: usize = 12;

/// The edits of one macro's body, and the others.
type Edits = Vec<Edit>;

/// What one way of writing out brings.
struct Round {
    /// Edits outside of bodies.
    own: Edits,
    /// Edits of bodies, by macro; a macro that was used and stays has an empty list.
    bodies: BTreeMap<usize, Edits>,
    translation: Translation,
}

/// Why a macro, or one use of it, cannot be translated.
enum Trouble {
    Macro(usize, Diag),
    Use(u32, Diag),
}

/// Translates a source whose macros lead to directives.
pub fn translate(source: &Source, macros: &Macros, options: &Options) -> Translation {
    let mut choice = Choice::default();
    let mut reasons = Vec::new();
    let mut base = settled(source, macros, options, &mut choice, &mut reasons);
    for of in macros.with_directives() {
        if base.bodies.contains_key(&of) || choice.left.contains(&of) {
            continue;
        }
        let instead = Choice { instead: Some(of), ..choice.clone() };
        match round(source, macros, options, &instead) {
            Ok(other) if other.bodies.contains_key(&of) => {
                if macros.has_other_pragma(of) || !base.takes(other, macros, of) {
                    reasons.push(differ(macros, of));
                }
            }
            Ok(_) => base.alone(source, macros, options, of),
            Err(_) => reasons.push(differ(macros, of)),
        }
    }
    base.finished(&source.file, macros, &reasons)
}

fn differ(macros: &Macros, of: usize) -> Diag {
    let one = macros.get(of);
    diag::macro_definitions_differ(one.directives.first().copied().unwrap_or(one.span), &one.name)
}

/// Leaves macros until the rest can be translated.
fn settled(
    source: &Source,
    macros: &Macros,
    options: &Options,
    choice: &mut Choice,
    reasons: &mut Vec<Diag>,
) -> Round {
    for _ in 0..ATTEMPTS {
        match round(source, macros, options, choice) {
            Ok(round) => return round,
            Err(troubles) => {
                for trouble in troubles {
                    let fresh = match &trouble {
                        Trouble::Macro(of, _) => choice.left.insert(*of),
                        Trouble::Use(at, _) => choice.left_uses.insert(*at),
                    };
                    reasons.extend(fresh.then(|| trouble.diag()));
                }
            }
        }
    }
    let translation = super::plainly(source, options);
    Round { own: translation.edits.clone(), bodies: BTreeMap::new(), translation }
}

impl Trouble {
    fn diag(self) -> Diag {
        match self {
            Trouble::Macro(_, diag) | Trouble::Use(_, diag) => diag,
        }
    }
}

/// Translates the source with its macros written out as `choice` says.
fn round(
    source: &Source,
    macros: &Macros,
    options: &Options,
    choice: &Choice,
) -> Result<Round, Vec<Trouble>> {
    let file = &source.file;
    let written = scan::written_out(file, macros, choice);
    if written.uses.is_empty() {
        let translation = super::plainly(source, options);
        return Ok(Round { own: translation.edits.clone(), bodies: BTreeMap::new(), translation });
    }
    let text = SourceFile::new(file.name.clone(), written.text.clone(), file.language);
    let there = Source { file: text, headers: source.headers.clone() };
    let translation = super::plainly(&there, options);
    let mut extents: BTreeMap<usize, Span> = BTreeMap::new();
    for piece in &written.pieces {
        let Some(used) = piece.used else { continue };
        extents.entry(used).and_modify(|span| *span = span.to(piece.at)).or_insert(piece.at);
    }
    let back =
        Back { file, macros, written: &written, there: &translation, is_header: is_header(file), extents };
    let (own, bodies) = back.edits()?;
    let translation = back.translation();
    Ok(Round { own, bodies, translation })
}

fn is_header(file: &SourceFile) -> bool {
    let ending = file.name.rsplit('.').next().unwrap_or_default();
    file.language == Language::Header || matches!(ending, "hpp" | "hh" | "hxx" | "cuh")
}

impl Round {
    /// Takes over the body of `of` from a round in which that definition counted. False if the rest of the file would have
    /// to change with it.
    fn takes(&mut self, mut other: Round, macros: &Macros, of: usize) -> bool {
        let fresh = other.bodies.remove(&of).unwrap_or_default();
        let agree = other.bodies.iter().all(|(of, edits)| self.bodies.get(of).is_none_or(|own| own == edits));
        if self.own != other.own || !agree {
            return false;
        }
        let line = macros.get(of).span;
        let here = |span: Span| line.contains(span);
        self.translation.diagnostics.retain(|diag| !here(diag.primary.span));
        self.translation.directives.retain(|report| !here(report.span));
        let (diags, reports) = (other.translation.diagnostics, other.translation.directives);
        self.translation.diagnostics.extend(diags.into_iter().filter(|diag| here(diag.primary.span)));
        self.translation.directives.extend(reports.into_iter().filter(|report| here(report.span)));
        self.bodies.insert(of, fresh);
        true
    }

    /// Translates the directives in the body of a macro without uses, where no loop or variable matters.
    fn alone(&mut self, source: &Source, macros: &Macros, options: &Options, of: usize) {
        for span in &macros.get(of).directives {
            let head = "void f(void)\n{\n    ";
            let text = format!("{head}{}\n}}\n", source.file.text(*span));
            let there = Source::new("", text.clone().into_bytes(), Language::C);
            let translation = super::plainly(&there, options);
            let [report] = translation.directives.as_slice() else { continue };
            let moved = |at: Span| Span {
                start: (span.start + at.start).saturating_sub(head.len() as u32),
                end: (span.start + at.end).saturating_sub(head.len() as u32),
            };
            let [edit] = translation.edits.as_slice() else { continue };
            let stands_alone = ["wait", "init", "shutdown", "set"].contains(&report.name.as_str());
            if !stands_alone || report.outcome == Outcome::Left || translation.needs_support {
                continue;
            }
            let at = if report.span.contains(edit.span) { edit.span } else { report.span };
            let edit = Edit { span: moved(at), text: edit.text.clone() };
            self.bodies.entry(of).or_default().push(edit);
            self.translation.diagnostics.retain(|diag| diag.primary.span != *span);
            self.translation.directives.retain(|one| one.span != *span);
            let report = DirectiveReport { span: *span, ..report.clone() };
            self.translation.directives.push(report);
            let said = translation.diagnostics.into_iter().map(|mut diag| {
                diag.primary.span = moved(diag.primary.span);
                diag
            });
            self.translation.diagnostics.extend(said);
        }
    }

    fn finished(self, file: &SourceFile, macros: &Macros, reasons: &[Diag]) -> Translation {
        let mut translation = self.translation;
        let mut set = EditSet::default();
        let lists = std::iter::once(self.own).chain(self.bodies.into_values());
        for (edits, owner) in lists.zip(0..) {
            for edit in edits {
                let span = edit.span;
                if set.add(Rewrite { owner, edits: vec![edit] }).is_err() {
                    translation.diagnostics.push(diag::edit_conflict(span));
                }
            }
        }
        // A reason says more than that the directive is in a macro.
        let reasoned = |span: Span| {
            reasons.iter().any(|reason| {
                let of = macros.around(reason.primary.span);
                reason.primary.span == span || of.is_some() && of == macros.around(span)
            })
        };
        translation.name_clauses_in_macros(file, macros);
        translation.diagnostics.retain(|diag| !(diag.code.0 == 10 && reasoned(diag.primary.span)));
        translation.diagnostics.extend(reasons.iter().cloned());
        translation.text = set.apply(&file.bytes);
        translation.edits = set.edits().cloned().collect();
        translation.directives.sort_by_key(|report| report.span);
        translation.settle();
        translation
    }
}

impl Translation {
    /// A word that is not a clause, and that macros have a name for, may stand for clauses.
    pub(super) fn name_clauses_in_macros(&mut self, file: &SourceFile, macros: &Macros) {
        for diag in &mut self.diagnostics {
            let word = file.text(diag.primary.span);
            if diag.code == diag::UNKNOWN_CLAUSE && macros.names(&word) {
                *diag = diag::clauses_in_macro(diag.primary.span, &word);
            }
        }
    }
}

/// The way back from the text with macros written out to the source.
struct Back<'a> {
    file: &'a SourceFile,
    macros: &'a Macros,
    written: &'a Written,
    there: &'a Translation,
    /// Other files may use the macros of this one.
    is_header: bool,
    /// All that was written for each use.
    extents: BTreeMap<usize, Span>,
}

/// An edit of the source, and the call in whose body it is.
struct Home {
    call: Option<usize>,
    edit: Edit,
    /// The use of a macro that goes with it.
    instead_of: Option<usize>,
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

    fn edits(&self) -> Result<(Edits, BTreeMap<usize, Edits>), Vec<Trouble>> {
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
        for (call, edits) in calls.into_iter().enumerate() {
            let Call { of, used } = self.written.calls[call];
            let one = self.macros.get(of);
            if !edits.is_empty() && self.is_header && !one.is_undefined {
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

    /// The place in the source behind the byte before `at`.
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

    /// Whether the operator is spelt out, `_Pragma("acc …")`: its words are one literal.
    fn is_literal(&self, operator: Span) -> bool {
        self.sentinel(operator)
            .is_some_and(|piece| self.text(piece.at).starts_with(b"\"") && piece.from.is_some())
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
        let Some(call) = last.call else { return Some(self.written.uses[last.used?].span) };
        let one = self.macros.get(self.written.calls[call].of);
        let first = pieces.iter().find(|piece| piece.call == Some(call)).and_then(|piece| piece.from);
        let spelt = one.directives.iter().copied().find(|span| span.contains(from));
        Some(spelt.unwrap_or_else(|| first.unwrap_or(from).to(from)))
    }

    /// An edit that puts other text, or none, in the place of a whole operator.
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
        let fixed = text.is_empty() || self.is_literal(operator);
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
        self.argument(words, &unescaped(text))
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
        let (last, behind) = (pieces.get(own.checked_sub(1)?)?, pieces.get(own)?);
        let name = self.text(first.at.to(last.at));
        let length = if own == 1 { text.iter().position(|byte| *byte == b' ')? } else { name_length(text) };
        let (head, rest) = text.split_at_checked(length).filter(|_| !name.contains(&b'('))?;
        let (head, rest) = (head.trim_ascii().to_vec(), rest.trim_ascii());
        let span = Span { start, end: self.end(last.at.end)? };
        let head = Edit { span, text: head };
        let words = Span { start: behind.at.start, end: words.end };
        let mut homes = vec![Home { call: first.call, edit: head, instead_of: None }];
        homes.extend(self.argument(words, rest)?);
        Some(homes)
    }

    /// The text with parameters for their arguments, where pieces of arguments lie between those of the body.
    fn in_parameters(&self, pieces: &[&Piece], text: &[u8]) -> Option<Vec<u8>> {
        let call = pieces.first()?.call;
        let mut named: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let length = pieces.iter().skip(at).take_while(|piece| piece.call != call).count();
            if piece.call != call {
                let before = pieces.get(at.checked_sub(1)?)?;
                let behind = pieces.get(at + length)?;
                let param = Span { start: before.from?.end, end: behind.from?.start };
                let arg = piece.at.to(pieces.get(at + length - 1)?.at);
                let pair = (self.text(arg).to_vec(), self.file.slice(param).trim_ascii().to_vec());
                if !named.contains(&pair) {
                    named.push(pair);
                }
            }
            at += length.max(1);
        }
        if named.is_empty() {
            return Some(text.to_vec());
        }
        named.sort_by_key(|(arg, _)| std::cmp::Reverse(arg.len()));
        let body = with_words(text, &named);
        let back: Vec<_> = named.into_iter().map(|(arg, param)| (param, arg)).collect();
        (with_words(&body, &back) == text).then_some(body)
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

    /// Whether `span` is the sign before a use that is left.
    fn is_sign(&self, span: Span) -> bool {
        self.pieces(span)
            .iter()
            .all(|piece| piece.from.is_none() && piece.used.is_some_and(|used| self.written.uses[used].left))
    }

    /// The messages and reports, at their places in the source.
    fn translation(&self) -> Translation {
        let mut translation = self.there.clone();
        translation.diagnostics.retain(|diag| !self.is_sign(diag.primary.span));
        for diag in &mut translation.diagnostics {
            diag.primary.span = self.place(diag.primary.span);
            diag.others.iter_mut().for_each(|label| label.span = self.place(label.span));
        }
        for one in &mut translation.loops {
            one.span = self.place(one.span);
        }
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

/// The text with each whole word, or row of words, replaced by its partner.
fn with_words(text: &[u8], pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let inner = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let fits = |word: &[u8]| {
            let joined_before = inner(word.first()) && at > 0 && inner(text.get(at - 1));
            let joined_behind = inner(word.last()) && inner(rest.get(word.len()));
            rest.starts_with(word) && !joined_before && !joined_behind
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;
    use crate::translate::Header;

    /// Translates `text` with a header; the result's lines that differ, and the codes of what is said.
    fn check(header: &str, text: &str, expected: &[&str]) {
        let mut source = Source::new("a.c", text.as_bytes().to_vec(), Language::C);
        let file = SourceFile::new("a.h", header.as_bytes().to_vec(), Language::Header);
        source.headers.push(Arc::new(Header::new(file)));
        let translation = crate::translate::translate(&source, &Options::default());
        let new = String::from_utf8(translation.text).unwrap();
        let old: Vec<&str> = text.lines().collect();
        let changed = new.lines().filter(|line| !old.contains(line)).map(str::to_owned);
        let said = translation.diagnostics.iter().map(|diag| diag.code.to_string());
        let left = translation.directives.iter().filter(|one| one.outcome == Outcome::Left);
        let left = left.map(|one| format!("left {}", source.file.text(one.span)));
        assert_eq!(changed.chain(said).chain(left).collect::<Vec<_>>(), expected);
    }

    fn body(inside: &str) -> String {
        format!("void f(int n, double a[10]) {{\n{inside}\n}}\n")
    }

    const LOOP: &str = "for (int i = 0; i < 10; i++) a[i] = i;\n";

    #[test]
    fn a_header_may_have_the_macro_for_the_text() {
        let text = body(&format!("PRAGMA(acc parallel loop copy(a[0:10]))\n{LOOP}"));
        let new = "PRAGMA(omp target teams distribute parallel for map(tofrom: a[0:10]))";
        check("#define PRAGMA(x) _Pragma(#x)\n", &text, &[new]);
    }

    #[test]
    fn a_directive_in_a_header_is_left_with_what_is_around_it() {
        let text = body(&format!("#pragma acc parallel copy(a[0:10])\n{{\nINNER\n{LOOP}}}"));
        let directive = "left #pragma acc parallel copy(a[0:10])";
        check("#define INNER _Pragma(\"acc loop\")\n", &text, &["A0010", directive, "left INNER"]);
    }

    #[test]
    fn a_macro_counts_until_it_is_defined_again() {
        let define = |words: &str| format!("#define LOOP _Pragma(\"acc {words}\")\n");
        let region = format!("LOOP\n{LOOP}#undef LOOP\n{}LOOP\n{LOOP}", define("parallel loop num_gangs(3)"));
        let text = define("parallel loop copy(a[0:10])") + &body(&region);
        let new = |clause: &str| {
            format!("#define LOOP _Pragma(\"omp target teams distribute parallel for {clause}\")")
        };
        check("", &text, &[&new("map(tofrom: a[0:10])"), &new("num_teams(3)"), "A0218"]);
    }

    #[test]
    fn a_use_in_a_region_that_is_left_leaves_the_other_uses() {
        let good = format!("#pragma acc parallel copy(a[0:10])\n{{\nINNER\n{LOOP}}}\n");
        let bad = format!("#pragma acc parallel frobnicate\n{{\nINNER\n{LOOP}}}\n");
        let text = "#define INNER _Pragma(\"acc loop\")\n".to_owned() + &body(&(good + &bad));
        let said = [
            "A0012",
            "A0002",
            "left _Pragma(\"acc loop\")",
            "left #pragma acc parallel copy(a[0:10])",
            "left #pragma acc parallel frobnicate",
        ];
        check("", &text, &said);
    }

    #[test]
    fn a_block_may_begin_in_one_macro_and_end_in_another() {
        let text = "#define BEGIN _Pragma(\"acc data copy(a[0:10])\") {\n#define END }\n".to_owned()
            + &body(&format!("BEGIN\n_Pragma(\"acc parallel loop\")\n{LOOP}END"));
        let begin = "#define BEGIN _Pragma(\"omp target data map(tofrom: a[0:10])\") {";
        check("", &text, &[begin, "_Pragma(\"omp target teams distribute parallel for\")"]);
    }

    #[test]
    fn a_header_keeps_the_macros_that_others_may_use() {
        let define = |name: &str| format!("#define {name} _Pragma(\"acc parallel loop\")\n");
        let uses = body(&format!("KEPT\n{LOOP}OWN\n{LOOP}"));
        let text = define("KEPT") + &define("OWN") + &uses + "#undef OWN\n";
        let source = Source::new("a.h", text.into_bytes(), Language::Header);
        let translation = crate::translate::translate(&source, &Options::default());
        let new = String::from_utf8(translation.text).unwrap();
        assert!(new.contains("#define KEPT _Pragma(\"acc "), "{new}");
        assert!(new.contains("#define OWN _Pragma(\"omp "), "{new}");
        assert!(translation.diagnostics.iter().any(|diag| diag.code.0 == 10));
    }

    #[test]
    fn a_macro_that_names_itself_or_has_no_end_does_no_harm() {
        let text = "#define A B _Pragma(\"acc wait\")\n#define B A\n#define F(x) _Pragma(#x\n".to_owned();
        let text = text + &body("A; F(acc wait); F(acc wait");
        let source = Source::new("a.c", text.into_bytes(), Language::C);
        let translation = crate::translate::translate(&source, &Options::default());
        assert!(translation.edits.len() < 9);
    }
}
