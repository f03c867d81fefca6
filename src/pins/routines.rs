//! Calls of the run-time library in C and C++ that put data on the device, or take them away from there.
//!
//! Invariant: the call stays as it is, and its arguments are computed a second time only if that has no effect.

use crate::bind::{ApiCall, ApiUse};
use crate::host::ir::{ExprId, StmtId, StmtKind};

use super::{Input, Texts};

/// Remembers how much these routines put on the device, for pointers in constructs (OpenACC 3.3, 3.2.18 to 3.2.20).
pub fn remember(input: &Input, texts: &mut Texts) {
    for used in input.routines {
        let (Some(change), Some(call)) = (change(&used.name), &used.call) else { continue };
        let [first, bytes, ..] = call.args.as_slice() else { continue };
        if [first, bytes].iter().any(|expr| input.unit.has_effect(**expr, &|_| false)) {
            continue;
        }
        let text = |expr: &ExprId| input.file.text(input.unit.expr(*expr).span).into_owned();
        let own = format!(
            "acc2omp_pin_placed((const void *)({}), (long long)({}), 1, {change});",
            text(first),
            text(bytes)
        );
        if let Some(stmt) = in_list(input, used, call) {
            texts.after(input.unit.stmt(stmt).span.end, format!("\n{own}"));
        } else if let Some(stmt) = call.stmt {
            let span = input.unit.stmt(stmt).span;
            texts.before(span.start, "{\n".to_owned());
            texts.after(span.end, format!("\n{own} }}"));
        }
    }
}

/// By how many directives a routine changes what is on the device.
fn change(name: &str) -> Option<i32> {
    let name = name.strip_suffix("_async").unwrap_or(name);
    match name.strip_suffix("_finalize").unwrap_or(name) {
        "acc_copyin"
        | "acc_pcopyin"
        | "acc_present_or_copyin"
        | "acc_create"
        | "acc_pcreate"
        | "acc_present_or_create" => Some(1),
        "acc_copyout" | "acc_delete" => Some(-1),
        _ => None,
    }
}

/// The declaration or expression of a block's list that a call is a part of.
fn in_list(input: &Input, used: &ApiUse, call: &ApiCall) -> Option<StmtId> {
    let lists = input.unit.stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Block(list) if stmt.span.contains(used.span) => Some(list),
        _ => None,
    });
    let holds = |id: &StmtId| {
        let stmt = input.unit.stmt(*id);
        matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::Decl(_)) && stmt.span.contains(call.span)
    };
    lists.flatten().copied().find(holds)
}
