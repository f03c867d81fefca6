//! What directives do with the variables of the host: the names in their clauses, and the statements that have copies.
//!
//! Invariant: too many names may be among those that a directive reads, never too few.

use crate::acc::ast::{
    Argument, ClauseKind, DataClause, Directive, DirectiveKind, Expr, GangArgument, ListItem, WaitArgument,
};
use crate::host::Asked;
use crate::source;

use super::{Bound, Target};

/// What directives, which are sorted, do with variables.
pub(super) fn asked(bound: &[Bound], is_fortran: bool) -> Asked {
    let mut asked = Asked::default();
    for one in bound {
        let kind = one.directive.kind;
        // Of `kernels` itself, the variables are the host's.
        let may_copy = kind.is_loop() || kind.is_compute() && kind != DirectiveKind::Kernels;
        let mut names = names(&one.directive);
        if is_fortran {
            names.iter_mut().for_each(|name| name.make_ascii_lowercase());
        }
        let names = (!names.is_empty()).then_some((one.directive.span.start, names));
        match one.target {
            Target::Stmt(stmt) => {
                asked.copying.extend(may_copy.then_some(stmt.0));
                names.into_iter().for_each(|names| asked.before.entry(stmt.0).or_default().push(names));
            }
            _ => asked.alone.extend(names),
        }
    }
    asked
}

/// The names in a directive whose values the host has to have.
fn names(directive: &Directive) -> Vec<String> {
    let mut texts: Vec<&str> = Vec::new();
    if let Argument::Wait(wait) = &directive.argument {
        waited(wait, &mut texts);
    }
    for clause in &directive.clauses {
        match &clause.kind {
            ClauseKind::Data(data, list) => {
                let is_brought = matches!(data, DataClause::Copy | DataClause::Copyin { .. });
                texts.extend(list.iter().filter(|item| is_brought || has_part(item)).map(|item| &*item.text));
            }
            ClauseKind::Firstprivate(list)
            | ClauseKind::Reduction(_, list)
            | ClauseKind::UpdateDevice(list) => {
                texts.extend(list.iter().map(|item| &*item.text));
            }
            ClauseKind::Private(list) | ClauseKind::UseDevice(list) | ClauseKind::UpdateSelf(list) => {
                texts.extend(list.iter().filter(|item| has_part(item)).map(|item| &*item.text));
            }
            ClauseKind::Wait(Some(wait)) => waited(wait, &mut texts),
            ClauseKind::If(expr)
            | ClauseKind::SelfRun(Some(expr))
            | ClauseKind::Async(Some(expr))
            | ClauseKind::NumWorkers(expr)
            | ClauseKind::VectorLength(expr)
            | ClauseKind::Worker(Some(expr))
            | ClauseKind::Vector(Some(expr))
            | ClauseKind::Collapse { count: expr, .. }
            | ClauseKind::DefaultAsync(expr)
            | ClauseKind::DeviceNum(expr) => texts.push(&expr.text),
            ClauseKind::NumGangs(all) | ClauseKind::Tile(all) => texts.extend(all.iter().map(text)),
            ClauseKind::Gang(all) => texts.extend(all.iter().map(|argument| match argument {
                GangArgument::Num(expr) | GangArgument::Dim(expr) | GangArgument::Static(expr) => text(expr),
            })),
            ClauseKind::SelfRun(None)
            | ClauseKind::Async(None)
            | ClauseKind::Wait(None)
            | ClauseKind::Worker(None)
            | ClauseKind::Vector(None)
            | ClauseKind::DeviceType(_)
            | ClauseKind::Default { .. }
            | ClauseKind::Finalize
            | ClauseKind::IfPresent
            | ClauseKind::Seq
            | ClauseKind::Independent
            | ClauseKind::Auto
            | ClauseKind::AtomicRead
            | ClauseKind::AtomicWrite
            | ClauseKind::AtomicUpdate
            | ClauseKind::AtomicCapture
            | ClauseKind::Bind(_)
            | ClauseKind::Nohost => {}
        }
    }
    texts.into_iter().flat_map(source::names).map(str::to_owned).collect()
}

fn text(expr: &Expr) -> &str {
    &expr.text
}

fn has_part(item: &ListItem) -> bool {
    !item.parts.is_empty()
}

fn waited<'a>(wait: &'a WaitArgument, texts: &mut Vec<&'a str>) {
    texts.extend(wait.devnum.iter().chain(&wait.queues).map(text));
}
