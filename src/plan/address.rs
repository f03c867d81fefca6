//! The variables whose addresses a `host_data` construct wants, and nothing else of them.
//!
//! Invariant: what a directive inside is about keeps its name for the host's variable.

use crate::acc::ast::{ClauseKind, ListItem};
use crate::sema::{Class, decays};
use crate::source::Span;

use super::{Input, Maker};

impl Input<'_> {
    /// Whether a variable can stand for the address of an item in the `host_data` at `index`: no directive inside is about
    /// the item, and the code asks for nothing else that the variable is not. In C++ it is a reference, in C a pointer.
    fn is_address(&self, index: usize, item: &ListItem) -> bool {
        let bound = &self.bound[index];
        let Some(symbol) = self.symbols.lookup(item.variable(), bound.directive.span.start) else {
            return false;
        };
        let Some(body) = bound.stmt().map(|stmt| self.unit.stmt(stmt).span) else { return false };
        let is_kept = match self.symbols.get(symbol).class {
            Class::Array if !self.unit.is_cpp() => decays(self.file, self.unit, self.symbols, symbol, body),
            Class::Array | Class::Scalar => self.unit.is_cpp(),
            _ => false,
        };
        is_kept
            && !self.is_parted(index, body)
            && item.parts.is_empty()
            && !self.is_spoken_of(&item.base.text, body)
    }

    /// Whether a condition of the preprocessor begins or ends between directive `index` and the code that it governs: what
    /// stands after that code is not under the directive's condition.
    pub(super) fn is_parted(&self, index: usize, body: Span) -> bool {
        let between = Span { start: self.bound[index].directive.span.end, end: body.start };
        let is_condition = |line: &str| {
            let word = line.trim_start().strip_prefix('#').map(str::trim_start);
            word.is_some_and(|word| ["if", "el", "endif"].iter().any(|begin| word.starts_with(begin)))
        };
        between.start < between.end && self.file.text(between).lines().any(is_condition)
    }

    /// Whether a directive in `body` names a variable, or is about code that does.
    pub(super) fn is_spoken_of(&self, name: &str, body: Span) -> bool {
        let is_named = |span: Span| {
            let is_word = |char: char| char.is_alphanumeric() || char == '_';
            self.file.text(span).split(|char| !is_word(char)).any(|word| word == name)
        };
        let mut inner = self.bound.iter().filter(|one| body.contains(one.directive.span));
        inner.any(|one| {
            let code = one.stmt().filter(|_| one.directive.kind.is_compute());
            is_named(one.directive.span) || code.is_some_and(|stmt| is_named(self.unit.stmt(stmt).span))
        })
    }
}

impl Maker<'_> {
    /// Notes of which variables the `host_data` at `index` wants the address alone.
    pub(super) fn addresses(&mut self, index: usize) {
        for clause in &self.input.bound[index].directive.clauses {
            let ClauseKind::UseDevice(list) = &clause.kind else { continue };
            for item in list.iter().filter(|item| self.input.is_address(index, item)) {
                self.plan.list_items.entry(item.span).or_default().is_address = true;
            }
        }
    }
}
