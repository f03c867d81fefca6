//! Scalars that a construct has for itself, where the host runs it: they get back the values that they had.
//!
//! Invariant: what the host runs leaves no other values than a launch.

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::descendants;
use crate::cuda::program::uses::outer;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::types::spelling;
use crate::host::ir::StmtId;
use crate::sema::{Class, SymbolId, SymbolKind};

/// Lines that save the scalars, and lines that set them again.
pub fn saved(input: &Input, index: usize, stmt: StmtId) -> Result<(Vec<String>, Vec<String>), Refused> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (symbol, used) in outer(input, stmt) {
        let known = input.symbols.get(symbol);
        let is_assigned = used.written || used.part_written && known.class == Class::Array;
        if !is_assigned || !is_own(input, index, symbol) {
            continue;
        }
        let at = used.first.unwrap_or(input.stmt_span(stmt));
        let text = input.declaration(symbol).and_then(|(seen, decl)| {
            let kind = spelling::value(input, seen, decl)?;
            Some(format!("{kind}acc2omp_{0} = {0};", known.name))
        });
        before
            .push(text.ok_or_else(|| refused(at, "an `if` around a private variable that is not a scalar"))?);
        after.push(format!("{0} = acc2omp_{0};", known.name));
    }
    Ok((before, after))
}

/// Whether the variable of the construct, or of a loop of it, is another one than that around the construct.
fn is_own(input: &Input, index: usize, symbol: SymbolId) -> bool {
    let name = &input.symbols.get(symbol).name;
    let names = |list: &[ListItem]| list.iter().any(|item| item.base.text == *name);
    let all = || std::iter::once(index).chain(descendants(input.bound, index));
    let listed = all().any(|at| {
        input.clauses(at).any(|kind| match kind {
            ClauseKind::Private(list) | ClauseKind::Firstprivate(list) => names(list),
            _ => false,
        })
    });
    if listed {
        return true;
    }
    let known = input.symbols.get(symbol);
    let kind = input.bound[index].directive.kind;
    let in_kernels = matches!(kind, DirectiveKind::Kernels | DirectiveKind::KernelsLoop);
    let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter) && !known.is_reference;
    let said = input.plan.construct(index);
    let has_data = said.data.iter().chain(said.around()).any(|one| one.item.base.text == *name);
    let reduced = all().any(|at| {
        let mut reductions = input.clauses(at).filter_map(|kind| match kind {
            ClauseKind::Reduction(_, list) => Some(list),
            _ => None,
        });
        reductions.any(|list| list.iter().any(|item| item.base.text == *name && !item.span.is_empty()))
    });
    let is_scalar = matches!(known.class, Class::Scalar | Class::Pointer);
    !in_kernels && is_scalar && is_local && !has_data && !reduced
}
