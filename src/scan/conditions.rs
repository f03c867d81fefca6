//! The conditions of the preprocessor that a place stands under.
//!
//! Invariant: conditions nest, and each knows the one around it; what a branch holds is for others to read.

use crate::source::{SourceFile, Span};

use super::c::{self, Event};
use super::fortran;
use super::preproc::{self, Step};

/// The conditions of a file, in the order in which they begin.
#[derive(Clone, Debug)]
pub struct Conditions {
    all: Vec<Condition>,
    /// Each has its `#endif`.
    are_closed: bool,
}

/// One condition, from `#if` to `#endif`.
#[derive(Clone, Debug)]
pub struct Condition {
    /// From the first byte of its `#if` to the last one of its `#endif`, without the line end.
    pub span: Span,
    /// Its `#if` and what begins its other branches, each without the line end.
    heads: Vec<Span>,
    /// The condition around it.
    parent: Option<usize>,
}

impl Condition {
    /// Its `#if`, without the line end.
    pub fn head(&self) -> Span {
        self.heads.first().copied().unwrap_or(self.span)
    }

    /// The lines that lead into the branch of `offset`: the `#if`, and what begins the branches up to that one.
    pub fn heads(&self, offset: u32) -> &[Span] {
        let count = self.heads.partition_point(|head| head.start <= offset);
        self.heads.get(..count).unwrap_or_default()
    }
}

impl Conditions {
    /// Reads those of a file.
    pub fn of(file: &SourceFile) -> Conditions {
        if !preproc::may_have_conditions(&file.bytes) {
            return Conditions { all: Vec::new(), are_closed: true };
        }
        let events: Vec<Event> = match file.language.is_fortran() {
            true => fortran::events(file),
            false => c::events(&file.bytes),
        };
        let (mut all, mut open): (Vec<Condition>, Vec<usize>) = (Vec::new(), Vec::new());
        for Step { word, start, end, .. } in preproc::steps(&file.bytes, &events) {
            let line = Span { start, end };
            match word {
                "if" | "ifdef" | "ifndef" => {
                    all.push(Condition { span: line, heads: vec![line], parent: open.last().copied() });
                    open.push(all.len() - 1);
                }
                "elif" | "else" => {
                    open.iter().next_back().into_iter().for_each(|at| all[*at].heads.push(line))
                }
                "endif" => open.pop().into_iter().for_each(|at| all[at].span.end = end),
                _ => {}
            }
        }
        // One that nothing ends lasts to the end of the file.
        let are_closed = open.is_empty();
        open.into_iter().for_each(|at| all[at].span.end = file.bytes.len() as u32);
        Conditions { all, are_closed }
    }

    /// Whether each of them has its `#endif`: compilers refuse others.
    pub fn are_closed(&self) -> bool {
        self.are_closed
    }

    /// The lines that begin the conditions by which a file has one of two places without the other.
    pub fn parting(&self, one: u32, other: u32) -> impl Iterator<Item = Span> {
        let all = [self.between(one, other), self.between(other, one)].concat();
        all.into_iter().filter_map(|condition| condition.heads.first().copied())
    }

    /// The conditions in a span that stand in no other one of them, in order.
    pub fn within(&self, span: Span) -> impl Iterator<Item = &Condition> {
        let is_in = move |one: &Condition| span.start <= one.span.start && one.span.end <= span.end;
        let is_outer = move |one: &&Condition| one.parent.is_none_or(|parent| !is_in(&self.all[parent]));
        let from = self.all.partition_point(|one| one.span.start < span.start);
        let all = self.all[from..].iter().take_while(move |one| one.span.start < span.end);
        all.filter(move |one| is_in(one)).filter(is_outer)
    }

    /// The conditions around `offset` that do not hold `other`, innermost first.
    pub fn between(&self, offset: u32, other: u32) -> Vec<&Condition> {
        let holds = |span: Span, place: u32| span.start <= place && place < span.end;
        let next = self.all.partition_point(|one| one.span.start <= offset);
        let last = next.checked_sub(1);
        let around = std::iter::successors(last, |at| self.all[*at].parent).map(|at| &self.all[at]);
        around.filter(|one| holds(one.span, offset) && !holds(one.span, other)).collect()
    }
}

#[cfg(test)]
mod tests;
