//! Whether a variable may be on the device already, by what no construct around says.
//!
//! Invariant: a variable that callers or other files may have brought there counts as present.

use crate::acc::ast::DirectiveKind;
use crate::bind::ancestors;
use crate::host::ir::{ExprKind, FunctionId, ScopeKind};
use crate::sema::{SymbolId, SymbolKind};

use super::{Ground, is_lasting, own};

/// Calls are followed no further than this.
const DEPTH: usize = 4;

/// Whether a `data` construct around directive `index` names the variable.
pub fn is_around(ground: &Ground, index: usize, symbol: SymbolId) -> bool {
    ancestors(ground.bound, index).any(|above| {
        let kind = ground.bound[above].directive.kind;
        let is_region = matches!(kind, DirectiveKind::Data | DirectiveKind::HostData);
        is_region && ground.naming(symbol).contains(&above)
    })
}

/// Whether the variable may be on the device other than by the constructs of its function.
pub fn may_be(ground: &Ground, function: Option<FunctionId>, symbol: SymbolId) -> bool {
    may_be_within(ground, function, symbol, DEPTH)
}

fn may_be_within(ground: &Ground, function: Option<FunctionId>, symbol: SymbolId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let known = ground.symbols.get(symbol);
    let is_lasting = |at: &usize| is_lasting(ground.bound[*at].directive.kind);
    if ground.symbols.is_on_device(symbol) || ground.naming(symbol).iter().any(is_lasting) {
        return true;
    }
    if is_in_library_call(ground, symbol) || is_entered_elsewhere(ground, symbol, depth) {
        return true;
    }
    match known.kind {
        SymbolKind::Local if !own::is_parameter(ground, symbol) => false,
        SymbolKind::Static => {
            let is_other = |at: &usize| {
                let one = &ground.bound[*at];
                one.directive.kind == DirectiveKind::Data && one.function != function
            };
            let is_ours = known.decl.is_some_and(|decl| {
                let decl = ground.unit.decl(decl);
                !decl.is_extern && (decl.is_static || has_main(ground))
            });
            !is_ours || ground.naming(symbol).iter().any(is_other)
        }
        _ => match own::arguments(ground, symbol) {
            Some(all) => all.iter().any(|one| {
                let span = ground.unit.expr(one.call).span;
                let caller = crate::bind::function_at(ground.unit, span.start);
                let is_inside = |at: &usize| {
                    let stmt = ground.bound[*at].stmt().map(|stmt| ground.unit.stmt(stmt).span);
                    stmt.is_some_and(|stmt| stmt.contains(span))
                };
                ground.naming(one.root).iter().any(is_inside)
                    || may_be_within(ground, caller, one.root, depth)
            }),
            None => true,
        },
    }
}

/// Whether the file is the program's own: other files are called from it.
fn has_main(ground: &Ground) -> bool {
    let has_program = ground.unit.scopes.iter().any(|scope| scope.kind == ScopeKind::Program);
    has_program || ground.unit.functions_named("main").next().is_some()
}

/// Whether a call of the run-time library names the variable.
fn is_in_library_call(ground: &Ground, symbol: SymbolId) -> bool {
    ground.mentions(symbol).iter().any(|id| {
        let mut at = *id;
        while let Some(around) = ground.tables.parents[at.0 as usize] {
            if let ExprKind::Call { callee, .. } = &ground.unit.expr(around).kind
                && let ExprKind::Name(name) = &ground.unit.expr(*callee).kind
            {
                return ["acc_", "omp_target", "cuda"].iter().any(|lead| name.starts_with(lead));
            }
            at = around;
        }
        false
    })
}

/// Whether the variable is passed to a function of this file that brings it to the device for longer.
fn is_entered_elsewhere(ground: &Ground, symbol: SymbolId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    ground.mentions(symbol).iter().any(|id| {
        let super::host::Mention::Passed(name, place) = super::host::mention(ground, *id) else {
            return false;
        };
        ground.unit.function_places(name).any(|at| {
            let function = ground.unit.function(FunctionId(at as u32));
            let body = ground.unit.stmt(function.body).span.start;
            let param = function.params.get(place).map(|param| &ground.unit.decl(*param).name);
            let param = param.and_then(|name| ground.symbols.lookup(name, body));
            param.is_some_and(|param| {
                let is_lasting = |at: &usize| is_lasting(ground.bound[*at].directive.kind);
                ground.naming(param).iter().any(is_lasting) || is_entered_elsewhere(ground, param, depth)
            })
        })
    })
}
