//! Variables that keep the values of expressions in clauses, where several constructs or lines of ours need them.
//!
//! Invariant: an expression whose computing changes something stands once in what a directive becomes, or it is said.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::acc::ast::{Clause, ClauseKind, Expr};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::Unit;
use crate::plan::{self, Saved};
use crate::sema::Symbols;

use super::ast::BaseLanguage;
use super::lowered::{Lowered, SourceChange};

/// The directives with the variables in place of the expressions.
pub(super) fn with_variables<'b>(bound: &'b [Bound], saved: &[Saved]) -> Cow<'b, [Bound]> {
    if saved.is_empty() {
        return Cow::Borrowed(bound);
    }
    let mut own = bound.to_vec();
    for one in saved {
        for clause in own[one.directive].directive.clauses.iter_mut() {
            if let Some(expr) = expressions_mut(clause).into_iter().find(|expr| expr.span == one.span) {
                one.name.clone_into(&mut expr.text);
            }
        }
    }
    Cow::Owned(own)
}

fn expressions_mut(clause: &mut Clause) -> Vec<&mut Expr> {
    match &mut clause.kind {
        ClauseKind::NumGangs(sizes) => sizes.iter_mut().collect(),
        ClauseKind::If(expr)
        | ClauseKind::SelfRun(Some(expr))
        | ClauseKind::Async(Some(expr))
        | ClauseKind::NumWorkers(expr)
        | ClauseKind::VectorLength(expr) => vec![expr],
        _ => Vec::new(),
    }
}

/// Sets the variables before the constructs: in C in a block of their own.
pub(super) fn set(saved: &[Saved], done: &mut [Lowered], speech: BaseLanguage) {
    let mut of_directives: BTreeMap<usize, Vec<&Saved>> = BTreeMap::new();
    for one in saved {
        of_directives.entry(one.directive).or_default().push(one);
    }
    for (index, all) in of_directives {
        if done[index].left {
            continue;
        }
        let Some(stmt) = all.first().map(|one| one.stmt) else { continue };
        let lines = match speech {
            BaseLanguage::C => {
                std::iter::once("{".to_owned()).chain(all.iter().map(|one| in_c(one))).collect()
            }
            BaseLanguage::Fortran => all.iter().map(|one| format!("{} = {}", one.name, one.text)).collect(),
        };
        done[index].open(lines);
        let parts = &mut done[index].parts;
        match speech {
            BaseLanguage::C => parts.push(SourceChange::After(stmt, vec!["}".to_owned()])),
            BaseLanguage::Fortran => parts.extend(all.iter().map(|one| {
                let word = if one.is_condition { "logical" } else { "integer" };
                SourceChange::DeclaredFor(stmt, format!("{word} :: {}", one.name))
            })),
        }
    }
}

fn in_c(saved: &Saved) -> String {
    let Saved { name, text, .. } = saved;
    match saved.is_condition {
        true => format!("const int {name} = ({text}) ? 1 : 0;"),
        false => format!("const int {name} = {text};"),
    }
}

/// The expressions with effects that what became of a directive computes more than once; of those that no variable can keep,
/// a message.
pub(super) fn repeated(
    bound: &[Bound],
    done: &[Lowered],
    (unit, symbols): (&Unit, &Symbols),
    speech: BaseLanguage,
) -> (Vec<Saved>, Vec<Diag>) {
    let (mut saved, mut diags) = (Vec::new(), Vec::new());
    for (index, (one, lowered)) in
        bound.iter().zip(done).enumerate().filter(|(_, (_, lowered))| !lowered.left)
    {
        for clause in &one.directive.clauses {
            for (expr, name, is_condition) in plan::expressions(clause) {
                let is_changed = plan::reads_updated(unit, symbols, &one.directive.clauses, expr);
                if !is_changed && !plan::has_effects(unit, symbols, expr) {
                    continue;
                }
                let lines: Vec<String> =
                    lowered.parts.iter().flat_map(|part| lines_of(part, speech)).collect();
                let count: usize = lines.iter().map(|line| line.matches(&expr.text).count()).sum();
                // Loops of ours compute it in each iteration.
                let is_looped = count > 0 && lines.iter().any(|line| line.contains("acc2omp_i"));
                if count < 2 && !is_looped {
                    continue;
                }
                match one.stmt().filter(|_| !one.unbraced || speech == BaseLanguage::C) {
                    Some(stmt) => {
                        let (span, text) = (expr.span, expr.text.clone());
                        saved.push(Saved { directive: index, stmt, span, text, name, is_condition });
                    }
                    None => diags.push(diag::computed_again(expr.span, &expr.text)),
                }
            }
        }
    }
    (saved, diags)
}

/// The lines of a part.
fn lines_of(part: &SourceChange, speech: BaseLanguage) -> Vec<String> {
    match part {
        SourceChange::Directive(one) | SourceChange::DirectiveAfter(_, one) => vec![one.line(speech)],
        SourceChange::Pair(one, two) => vec![one.line(speech), two.line(speech)],
        SourceChange::Statements(lines)
        | SourceChange::LinesBefore(lines)
        | SourceChange::LinesAfter(lines)
        | SourceChange::Before(_, lines)
        | SourceChange::BeforeDirective(_, lines)
        | SourceChange::Braced(_, lines)
        | SourceChange::After(_, lines)
        | SourceChange::AtStart(_, lines)
        | SourceChange::AtEnd(_, lines)
        | SourceChange::Closed(_, lines) => lines.clone(),
        _ => Vec::new(),
    }
}
