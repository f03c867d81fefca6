//! Scalars that a construct has for itself, where the host runs it: they get back the values that they had.
//!
//! Invariant: what the host runs leaves no other values than a launch.

use std::collections::BTreeMap;

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::descendants;
use crate::cuda::program::uses::outer;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::types::spelling;
use crate::host::ir::{Derived, StmtId};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

/// What keeps the values that scalars had.
#[derive(Debug, Default)]
pub struct Kept {
    /// Lines that save the scalars before the code of the construct.
    pub before: Vec<String>,
    /// Lines that set them again.
    pub after: Vec<String>,
    /// The same for loops in it whose variables are others outside of them, innermost first.
    pub loops: Vec<(Span, String, String)>,
}

/// What keeps the scalars that a construct and its loops have for themselves.
pub fn kept(input: &Input, index: usize, stmt: StmtId) -> Result<Kept, Refused> {
    let mut kept = Kept::default();
    let mut loops: BTreeMap<(usize, u32), (Span, String, String)> = BTreeMap::new();
    for (symbol, used) in outer(input, stmt) {
        let known = input.symbols.get(symbol);
        let is_assigned = used.written || used.part_written && known.class == Class::Array;
        if !is_assigned {
            continue;
        }
        let owners = owners(input, index, symbol);
        let is_apart = !owners.is_empty()
            && sema::is_named_outside(input.unit(), input.symbols, (stmt, symbol), &owners);
        let is_whole = match input.bound[index].directive.kind.is_kernels() {
            true => !is_apart && (!owners.is_empty() || is_own(input, index, symbol)),
            false => is_own(input, index, symbol),
        };
        if !is_whole && !is_apart {
            continue;
        }
        let at = used.first.unwrap_or(input.stmt_span(stmt));
        let text = input.declaration(symbol).and_then(|(seen, decl)| {
            let kind = match decl.derived.as_slice() {
                // What it leads to.
                [Derived::Reference] => "auto ".to_owned(),
                _ => spelling::value(input, seen, decl)?,
            };
            Some(format!("{kind}acc2omp_{0} = {0};", known.name))
        });
        let save =
            text.ok_or_else(|| refused(at, "an `if` around a private variable that is not a scalar"))?;
        let set = format!("{0} = acc2omp_{0};", known.name);
        for span in owners.iter().filter(|_| is_apart) {
            let one = loops.entry((span.len(), span.start)).or_insert((*span, String::new(), String::new()));
            one.1 += &format!(" {save}");
            one.2 += &format!("{set} ");
        }
        if is_whole {
            kept.before.push(save);
            kept.after.push(set);
        }
    }
    kept.loops = loops.into_values().collect();
    Ok(kept)
}

/// The outermost loops of a construct that have a variable for themselves: their clauses say so, or they count with it.
fn owners(input: &Input, index: usize, symbol: SymbolId) -> Vec<Span> {
    let name = &input.symbols.get(symbol).name;
    let names = |at: usize| {
        input.clauses(at).any(|kind| match kind {
            ClauseKind::Private(list) => list.iter().any(|item| item.base.text == *name),
            _ => false,
        })
    };
    let counts = |stmt: StmtId| {
        input.plan.loops_of(stmt).into_iter().any(|stmt| {
            sema::header(input.unit(), input.symbols, stmt).is_ok_and(|header| header.var == symbol)
        })
    };
    let mut found: Vec<Span> = Vec::new();
    for at in std::iter::once(index).chain(descendants(input.bound, index)) {
        let one = &input.bound[at];
        let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_loop() && one.text.is_some()) else {
            continue;
        };
        let span = input.stmt_span(stmt);
        if !found.iter().any(|outer| outer.contains(span)) && (names(at) || counts(stmt)) {
            found.push(span);
        }
    }
    found
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
    let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
    let said = input.plan.construct(index);
    let has_data = said.data.iter().chain(said.around()).any(|one| one.item.base.text == *name);
    let reduced = all().any(|at| {
        let mut reductions = input.clauses(at).filter_map(|kind| match kind {
            ClauseKind::Reduction(_, list) => Some(list),
            _ => None,
        });
        reductions.any(|list| list.iter().any(|item| item.base.text == *name && !item.span.is_empty()))
    });
    let is_scalar = match known.class {
        Class::Pointer => !known.is_reference,
        // Of what has a type that is not seen, the device takes it for one.
        Class::Unknown => known.is_reference,
        class => class == Class::Scalar,
    };
    !input.bound[index].directive.kind.is_kernels() && is_scalar && is_local && !has_data && !reduced
}
