//! Functions that the device has where they stand: the macro before them, and what else declares them.
//!
//! Invariant: a function gets the macro once.

use std::collections::BTreeSet;

use super::counterpart;
use super::lowering::Lowering;
use crate::acc::ast::{Argument, DirectiveKind};
use crate::bind::Target;
use crate::cuda::code::change::Change;
use crate::cuda::fit::callable;
use crate::cuda::fit::cpp::reached;
use crate::cuda::program::functions::{bare, functions, mark};
use crate::cuda::program::{Refused, levels, refused};
use crate::host::ir::{Decl, DeclKind, StmtId};
use crate::source::Span;

impl Lowering<'_> {
    /// The macro before the function of a `routine` directive, and before what else declares it.
    pub fn routine_in_place(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let input = self.input;
        let bound = &input.bound[index];
        let span = bound.directive.span;
        if levels::declared_levels(input, index).any() {
            return counterpart::added(input, index);
        }
        let targets: Vec<Span> = match (&bound.directive.argument, bound.target) {
            (Argument::Name(name), _) => self.declarations(&name.text),
            (_, Target::Function(id)) => vec![input.unit().function(id).span],
            (_, Target::Declaration(span)) => vec![span],
            _ => return Err(refused(span, "a routine that is not seen")),
        };
        let mut changes = vec![Change::Gone(span)];
        if let [target] = targets.as_slice() {
            let place = mark(input, *target);
            let is_after = input.file().text(Span { start: span.end, end: place.max(span.end) });
            if span.end <= place && is_after.trim().is_empty() && self.marked.insert(place) {
                return Ok(vec![Change::Lines(span, vec!["ACC2OMP_ROUTINE".to_owned()])]);
            }
        }
        for target in targets {
            changes.extend(self.marked_at(target));
        }
        Ok(changes)
    }

    /// What declares or defines a function.
    fn declarations(&self, name: &str) -> Vec<Span> {
        let name = bare(name);
        let unit = self.input.unit();
        let is_written = |span: Span| {
            let text = self.input.file().text(span);
            !["= default", "= delete", "=default", "=delete"].iter().any(|end| text.contains(end))
        };
        // To the grammar, a conversion is a member like any other.
        let is_function = |decl: &&Decl| {
            decl.kind == DeclKind::Prototype || decl.kind == DeclKind::Member && name.starts_with("operator ")
        };
        let prototypes = unit.decls_named(name).filter(|decl| is_function(decl) && is_written(decl.span));
        functions(self.input, name)
            .map(|function| function.span)
            .chain(prototypes.map(|decl| decl.span))
            .collect()
    }

    fn marked_at(&mut self, span: Span) -> Option<Change> {
        let place = mark(self.input, span);
        self.marked
            .insert(place)
            .then(|| Change::Text(Span { start: place, end: place }, "ACC2OMP_ROUTINE ".to_owned()))
    }

    /// Makes a lambda expression the device's, too.
    fn marked_lambda(&mut self, lambda: Span) -> Option<Change> {
        let place = callable::mark(self.input, lambda)?;
        let text = self.input.file().text(Span { start: place, end: lambda.end });
        let gap = if text.starts_with(|c: char| c.is_whitespace()) { "" } else { " " };
        let change = Change::Text(Span { start: place, end: place }, format!(" ACC2OMP_ROUTINE{gap}"));
        self.marked.insert(place).then_some(change)
    }

    /// The functions that a construct in place calls without `routine`: they are the device's, too.
    pub fn implicit_routines(&mut self, stmt: StmtId) -> Vec<Change> {
        let input = self.input;
        let mut changes = Vec::new();
        let unit = input.unit();
        let within = input.stmt_span(stmt);
        let mut pending = vec![within];
        if let Ok(reached) = callable::reached(input, within, within) {
            pending = reached.code(input, within);
            for lambda in &reached.lambdas {
                changes.extend(self.marked_lambda(*lambda));
                changes.extend(self.published(lambda.start));
            }
            changes
                .extend(reached.functions.iter().filter_map(|at| self.marked_at(unit.functions[*at].span)));
        }
        let mut met = BTreeSet::new();
        while let Some(span) = pending.pop() {
            for name in reached(input, span) {
                if !met.insert(name.clone()) {
                    continue;
                }
                for span in self.declarations(&name) {
                    let is_said = (0..input.bound.len()).any(|index| {
                        input.bound[index].directive.kind == DirectiveKind::Routine
                            && match (&input.bound[index].directive.argument, input.bound[index].target) {
                                (Argument::Name(said), _) => said.text == name,
                                (_, Target::Function(id)) => input.unit().function(id).span == span,
                                (_, Target::Declaration(target)) => {
                                    target.contains(span) || span.contains(target)
                                }
                                _ => false,
                            }
                    });
                    if !is_said {
                        changes.extend(self.marked_at(span));
                    }
                }
                pending.extend(functions(input, &name).map(|function| function.span));
            }
        }
        changes
    }
}
