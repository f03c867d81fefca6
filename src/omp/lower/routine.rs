//! `routine`: procedures that device code calls.
//!
//! Invariant: what device code may call is `declare target`.

use super::{Lowering, is_level, refused_by};
use crate::acc::ast::Argument;
use crate::diag;
use crate::omp::ast::{BaseLanguage, Clause, Directive, Leaf};
use crate::omp::look;
use crate::omp::lowered::{Lowered, SourceChange, left};

impl Lowering<'_> {
    /// `routine` before a procedure, which ends at `end`, or with a name.
    pub(super) fn routine(&mut self, index: usize, end: Option<u32>) -> Lowered {
        let directive = &self.bound[index].directive;
        let query = self.query(index, "routine");
        let clauses: Vec<usize> = (0..directive.clauses.len()).collect();
        let gathered = self.gather_clauses(index, &clauses, &query, &|kind| is_level(kind));
        let mut rows = self.level_rows(index);
        rows.extend(gathered.rows);
        rows.extend(look::row("directive/routine", &query).map(|row| &row.id));
        self.diags.extend(gathered.diags);
        if gathered.refused {
            return refused_by(rows);
        }
        let mut target = Directive::new(&[Leaf::Named("declare target")]);
        let mut parts = Vec::new();
        match (end, &directive.argument) {
            (Some(_), _) if self.target.speech == BaseLanguage::Fortran => {
                if gathered.variant.is_some() {
                    self.diags.push(diag::not_yet(directive.span, "`bind` in Fortran"));
                    return left();
                }
                parts.push(SourceChange::Specified(target));
            }
            (Some(end), _) => {
                parts.push(match gathered.variant {
                    None => SourceChange::Directive(target),
                    Some(variant) => {
                        let mut other = Directive::new(&[Leaf::Named("declare variant")]);
                        other.argument = Some(variant);
                        other.add(Clause::text("match", "device={kind(nohost)}"));
                        SourceChange::Pair(target, other)
                    }
                });
                parts.push(SourceChange::DirectiveAfter(
                    end,
                    Directive::new(&[Leaf::Named("end declare target")]),
                ));
            }
            (None, Argument::Name(name)) if gathered.variant.is_none() => {
                target.argument = Some(name.text.clone());
                parts.push(match self.target.speech {
                    BaseLanguage::C => SourceChange::Directive(target),
                    BaseLanguage::Fortran => SourceChange::Specified(target),
                });
            }
            (None, _) => {
                self.diags.push(diag::not_yet(directive.span, "`bind` away from the routine it is about"));
                return left();
            }
        }
        Lowered { parts, rows, left: false }
    }
}
