//! `routine`, and loops that stand in no compute construct.
//!
//! Invariant: a routine's loops run in the thread that calls it, which is right for every level, if not always fast.

use crate::acc::ast::{Argument, ClauseKind};
use crate::bind::Target;
use crate::diag;

use super::{Item, Maker};

impl Maker<'_> {
    /// `routine` before a definition or a prototype, or with a name.
    pub(super) fn routine(&mut self, index: usize) {
        let bound = &self.bound[index];
        let directive = &bound.directive;
        let level = directive.clauses.iter().find(|clause| {
            matches!(clause.kind, ClauseKind::Gang(_) | ClauseKind::Worker(_) | ClauseKind::Vector(_))
        });
        // The page of `bind` refuses the directive, so there is nothing to say about its level.
        let binds = directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Bind(_)));
        let end = match bound.target {
            Target::Function(function) => Some(self.unit.function(function).span.end),
            Target::Declaration(span) => Some(span.end),
            Target::Stmt(_) | Target::Standalone => None,
        };
        if end.is_none() && directive.argument == Argument::None {
            self.diags.push(diag::not_before_statement(directive.span, "routine"));
            return;
        }
        if let Some(level) = level.filter(|_| !binds) {
            self.diags.push(diag::routine_sequential(level.span, &level.name.text));
        }
        self.plan.items[index] = Item::Routine { end };
    }

    /// A `loop` outside any compute construct: part of a routine.
    pub(super) fn orphan_loop(&mut self, index: usize) {
        let directive = &self.bound[index].directive;
        if let Some(private) =
            directive.clauses.iter().find(|clause| matches!(clause.kind, ClauseKind::Private(_)))
        {
            let names = super::clauses::list(&private.kind);
            if let Some(item) = names.iter().find(|item| self.is_wanted_outside(index, item)) {
                self.diags.push(diag::not_yet(
                    item.span,
                    "`private` on a loop of a routine that uses the variable elsewhere",
                ));
                return;
            }
        }
        self.diags.push(diag::loop_sequential(directive.span, "it belongs to a routine"));
        self.plan.items[index] = Item::Gone;
    }
}
