//! Finds where the code names the run-time library of OpenACC: calls of its routines, and its types and constants.
//!
//! Invariant: a name that the file declares itself is not the library's.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::source::Span;

/// A name of the library in code.
#[derive(Clone, Debug)]
pub struct ApiUse {
    /// The name.
    pub name: String,
    /// Its bytes.
    pub span: Span,
    /// The call, if it is called here.
    pub call: Option<ApiCall>,
}

/// A call of a library routine.
#[derive(Clone, Debug)]
pub struct ApiCall {
    /// From the name to the closing parenthesis.
    pub span: Span,
    /// Its arguments.
    pub args: Vec<ExprId>,
    /// Its name says that the last of them is a queue.
    pub is_async: bool,
    /// The statement, if the call is all of it: its value is not used.
    pub stmt: Option<StmtId>,
    /// That statement stands in a block, so that a directive may take its place.
    pub in_block: bool,
}

impl ApiUse {
    /// The bytes that a replacement takes the place of.
    pub fn extent(&self) -> Span {
        self.call.as_ref().map_or(self.span, |call| call.span)
    }
}

/// The uses of `names` in the code of `unit`, by place.
pub fn api_uses(unit: &Unit, names: &[(String, Span)]) -> Vec<ApiUse> {
    let own: FxHashSet<&str> = unit
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .chain(unit.decls.iter().map(|decl| decl.name.as_str()))
        .collect();
    let mut uses: Vec<ApiUse> = names
        .iter()
        .filter(|(name, _)| !own.contains(name.as_str()))
        .map(|(name, span)| ApiUse { name: name.clone(), span: *span, call: None })
        .collect();
    if uses.is_empty() {
        return uses;
    }
    let mut calls = calls(unit);
    for used in &mut uses {
        used.call = calls.remove(&used.span.start);
    }
    uses.sort_by_key(|used| used.span.start);
    uses
}

/// All calls by name, by the place of the name.
fn calls(unit: &Unit) -> FxHashMap<u32, ApiCall> {
    let mut statements = FxHashMap::default();
    let mut in_block = FxHashSet::default();
    for (index, stmt) in unit.stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Expr(expr) => drop(statements.insert(*expr, StmtId(index as u32))),
            StmtKind::Block(list) => in_block.extend(list.iter().copied()),
            _ => {}
        }
    }
    let mut found = FxHashMap::default();
    for (index, expr) in unit.exprs.iter().enumerate() {
        let ExprKind::Call { callee, args } = &expr.kind else { continue };
        let callee = unit.expr(*callee);
        let ExprKind::Name(name) = &callee.kind else { continue };
        let is_async = name.ends_with("_async") && !name.ends_with("_default_async");
        let stmt = statements.get(&ExprId(index as u32)).copied();
        let in_block = stmt.is_some_and(|stmt| in_block.contains(&stmt));
        // In Fortran the word `call` is not part of it.
        let span = Span { start: callee.span.start, end: expr.span.end };
        found.insert(callee.span.start, ApiCall { span, args: args.clone(), is_async, stmt, in_block });
    }
    found
}
