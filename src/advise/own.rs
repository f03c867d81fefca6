//! Which variables have memory that no other name of the program leads to.
//!
//! Invariant: a variable whose address may have been kept is never called its own.

use std::collections::BTreeSet;

use crate::host::ir::{DeclKind, Derived, ExprId, ExprKind, FunctionId, StmtKind};
use crate::sema::{Class, SymbolId, SymbolKind};

use super::Ground;
use super::host::{self, Mention, mention};

/// Functions that give memory which nothing else leads to.
const ALLOCATORS: [&str; 10] = [
    "malloc",
    "calloc",
    "aligned_alloc",
    "valloc",
    "memalign",
    "acc_malloc",
    "_mm_malloc",
    "fftw_malloc",
    "xmalloc",
    "polybench_alloc_data",
];

/// Calls are followed no further than this.
const DEPTH: usize = 4;

/// Whether no other name leads to the memory of a variable, except the parameters of functions that it is passed to.
pub fn is_own(ground: &Ground, symbol: SymbolId) -> bool {
    is_own_within(ground, symbol, DEPTH)
}

fn is_own_within(ground: &Ground, symbol: SymbolId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let known = ground.symbols.get(symbol);
    let is_in_macro = ground.tables.pastes || ground.tables.in_macros.contains(&known.name);
    // What they do to it is not looked into.
    let has_operators = ground.symbols.operators().any();
    if has_operators
        || known.is_reference
        || known.kind == SymbolKind::Member
        || is_in_macro
        || is_lent(ground, symbol)
    {
        return false;
    }
    if ground.unit.is_fortran() {
        let fortran = &known.fortran;
        return !(fortran.target
            || fortran.pointer
            || fortran.is_equivalent
            || is_common(ground, &known.name));
    }
    if is_leaked(ground, symbol, depth) {
        return false;
    }
    if is_parameter(ground, symbol) {
        return arguments(ground, symbol)
            .is_some_and(|all| all.iter().all(|one| one.is_apart(ground, depth)));
    }
    match known.class {
        Class::Array => true,
        Class::Pointer => {
            let values = ground.tables.values.get(&symbol).map(Vec::as_slice).unwrap_or_default();
            let is_given = known.kind == SymbolKind::Local || known.decl.is_some();
            is_given && values.iter().all(|value| is_fresh(ground, *value, depth))
        }
        _ => false,
    }
}

/// Whether something gives another name to a variable, or to a part of it.
fn is_lent(ground: &Ground, symbol: SymbolId) -> bool {
    let is_inside = |id: &ExprId| {
        let at = ground.unit.expr(*id).span;
        ground.tables.lent.iter().any(|lent| lent.contains(at))
    };
    ground.mentions(symbol).iter().any(is_inside)
}

/// Whether a variable of this name lies in a common block: other procedures call it otherwise.
fn is_common(ground: &Ground, name: &str) -> bool {
    let mut blocks = ground.unit.scopes.iter().flat_map(|scope| &scope.commons);
    blocks.any(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// Whether an expression gives memory of its own, or none.
fn is_fresh(ground: &Ground, value: ExprId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match &ground.unit.expr(value).kind {
        ExprKind::Cast { operand, .. } => is_fresh(ground, *operand, depth),
        ExprKind::Int(0) => true,
        ExprKind::Name(name) => name == "NULL",
        ExprKind::Call { callee, .. } => match &ground.unit.expr(*callee).kind {
            ExprKind::Name(name) if ALLOCATORS.contains(&name.as_str()) => true,
            ExprKind::Name(name) => {
                let mut all = ground.unit.function_places(name).peekable();
                all.peek().is_some() && all.all(|at| gives_fresh(ground, FunctionId(at as u32), depth))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a function gives memory of its own each time.
fn gives_fresh(ground: &Ground, function: FunctionId, depth: usize) -> bool {
    let unit = ground.unit;
    let span = unit.function(function).span;
    let mut any = false;
    let all = unit.stmts_in(span).all(|stmt| {
        let StmtKind::Return(Some(value)) = &stmt.kind else { return true };
        any = true;
        match ground.symbols.named(unit, *value) {
            Some(symbol) => {
                let known = ground.symbols.get(symbol);
                let values = ground.tables.values.get(&symbol).map(Vec::as_slice).unwrap_or_default();
                let is_kept = ground.mentions(symbol).iter().any(|id| {
                    mention(ground, *id) == Mention::Value
                        && ground.tables.parents[id.0 as usize].is_some_and(|around| {
                            matches!(unit.expr(around).kind, ExprKind::Assign(..) | ExprKind::AddressOf(_))
                        })
                });
                known.kind == SymbolKind::Local
                    && !is_kept
                    && !values.is_empty()
                    && values.iter().all(|value| is_fresh(ground, *value, depth))
            }
            None => is_fresh(ground, *value, depth),
        }
    });
    any && all
}

/// Whether the address of what a variable holds may have been kept somewhere.
fn is_leaked(ground: &Ground, symbol: SymbolId, depth: usize) -> bool {
    ground.mentions(symbol).iter().any(|id| match mention(ground, *id) {
        Mention::Read | Mention::Write | Mention::Inquiry => false,
        Mention::Value => !is_compared(ground, *id),
        Mention::Passed(name, place) => passed_is_kept(ground, name, place, depth),
    })
}

/// Whether a pointer is only compared, or a condition.
fn is_compared(ground: &Ground, id: ExprId) -> bool {
    use crate::host::ir::BinaryOp;
    ground.tables.parents[id.0 as usize].is_some_and(|around| {
        matches!(
            ground.unit.expr(around).kind,
            ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, ..)
                | ExprKind::Unary(crate::host::ir::UnaryOp::Not, _)
        )
    })
}

/// Whether a function may keep the address that it is given.
fn passed_is_kept(ground: &Ground, name: &str, place: usize, depth: usize) -> bool {
    if host::is_harmless(ground, name) || keeps_nothing(name) {
        return false;
    }
    let Some(depth) = depth.checked_sub(1) else { return true };
    let mut known = ground.unit.function_places(name).peekable();
    if known.peek().is_none() {
        return true;
    }
    known.any(|at| {
        let function = ground.unit.function(FunctionId(at as u32));
        let Some(param) = function.params.get(place) else { return true };
        let decl = ground.unit.decl(*param);
        let symbol = ground.symbols.lookup(&decl.name, ground.unit.stmt(function.body).span.start);
        symbol.is_none_or(|symbol| is_leaked(ground, symbol, depth))
    })
}

/// Functions of well-known libraries that are done with their arguments when they return.
fn keeps_nothing(name: &str) -> bool {
    const BLOCKING: [&str; 8] = [
        "MPI_Send",
        "MPI_Recv",
        "MPI_Sendrecv",
        "MPI_Bcast",
        "MPI_Reduce",
        "MPI_Allreduce",
        "MPI_Gather",
        "posix_memalign",
    ];
    BLOCKING.contains(&name)
}

/// Whether code that is not seen can know nothing of the memory of a variable.
pub fn is_closed(ground: &Ground, symbol: SymbolId) -> bool {
    is_closed_within(ground, symbol, DEPTH)
}

fn is_closed_within(ground: &Ground, symbol: SymbolId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let known = ground.symbols.get(symbol);
    if ground.unit.is_fortran() {
        // What is done with a dummy argument is done by its name, as long as the procedure runs (Fortran 2018, 15.5.2.13).
        let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
        return is_local && known.home.is_none() && is_own_within(ground, symbol, depth + 1);
    }
    if !is_own_within(ground, symbol, depth + 1) {
        return false;
    }
    if is_parameter(ground, symbol) {
        let all = arguments(ground, symbol).unwrap_or_default();
        return !all.is_empty() && all.iter().all(|one| is_closed_within(ground, one.root, depth));
    }
    match known.kind {
        SymbolKind::Local => true,
        SymbolKind::Static => known.decl.is_some_and(|decl| ground.unit.decl(decl).is_static),
        _ => false,
    }
}

/// Whether a variable is a parameter of a function.
pub fn is_parameter(ground: &Ground, symbol: SymbolId) -> bool {
    let known = ground.symbols.get(symbol);
    let is_declared = known.decl.is_some_and(|decl| ground.unit.decl(decl).kind == DeclKind::Parameter);
    known.kind == SymbolKind::Parameter || is_declared
}

/// What a call gives for a parameter.
pub struct Argument {
    /// The call.
    pub call: ExprId,
    /// The variable.
    pub root: SymbolId,
}

impl Argument {
    /// Whether the variable is its own, and the call names it once.
    fn is_apart(&self, ground: &Ground, depth: usize) -> bool {
        let ExprKind::Call { args, .. } = &ground.unit.expr(self.call).kind else { return false };
        let named = args.iter().filter(|arg| root(ground, **arg) == Some(self.root)).count();
        let function = |name: &str| ground.unit.function_places(name).next();
        // A variable of the whole file may be named by the function, too.
        let is_shared = ground.symbols.get(self.root).kind == SymbolKind::Static;
        let ExprKind::Call { callee, .. } = &ground.unit.expr(self.call).kind else { return false };
        let body = match &ground.unit.expr(*callee).kind {
            ExprKind::Name(name) => function(name).map(|at| ground.unit.function(FunctionId(at as u32)).span),
            _ => None,
        };
        let is_named = |span: crate::source::Span| {
            let mut all = ground.mentions(self.root).iter();
            all.any(|id| span.contains(ground.unit.expr(*id).span))
        };
        let is_named = is_shared && body.is_none_or(is_named);
        named == 1 && !is_named && is_own_within(ground, self.root, depth)
    }
}

/// The variables that the calls in this file give for a parameter; `None` if one of them gives something else, or nothing
/// calls the function.
pub fn arguments(ground: &Ground, symbol: SymbolId) -> Option<Vec<Argument>> {
    let scope = ground.symbols.get(symbol).scope;
    let function = ground.unit.functions.iter().find(|function| function.span.contains(scope))?;
    let name = &ground.symbols.get(symbol).name;
    let place = function.params.iter().position(|param| ground.unit.decl(*param).name == *name)?;
    let calls = ground.tables.calls.get(&function.name)?;
    let given = calls.iter().map(|call| {
        let ExprKind::Call { args, .. } = &ground.unit.expr(*call).kind else { return None };
        Some(Argument { call: *call, root: root(ground, *args.get(place)?)? })
    });
    given.collect()
}

/// The variable that an argument leads to the beginning of.
fn root(ground: &Ground, arg: ExprId) -> Option<SymbolId> {
    let unit = ground.unit;
    match &unit.expr(arg).kind {
        ExprKind::Name(_) => ground.symbols.named(unit, arg),
        ExprKind::Cast { operand, .. } => root(ground, *operand),
        ExprKind::Deref(base) => root(ground, *base).filter(|symbol| is_array_pointer(ground, *symbol)),
        ExprKind::AddressOf(inner) => {
            let mut at = *inner;
            while let ExprKind::Index(base, index) = &unit.expr(at).kind {
                matches!(unit.expr(*index).kind, ExprKind::Int(0)).then_some(())?;
                at = *base;
            }
            ground.symbols.named(unit, at)
        }
        _ => None,
    }
}

fn is_array_pointer(ground: &Ground, symbol: SymbolId) -> bool {
    let decl = ground.symbols.get(symbol).decl.map(|decl| ground.unit.decl(decl));
    decl.is_some_and(|decl| matches!(decl.derived.as_slice(), [Derived::Pointer, Derived::Array(_), ..]))
}

/// All variables that a parameter may stand for, itself included.
pub fn roots(ground: &Ground, symbol: SymbolId) -> BTreeSet<SymbolId> {
    let mut found = BTreeSet::from([symbol]);
    let mut pending = vec![symbol];
    while let Some(symbol) = pending.pop().filter(|_| found.len() < 64) {
        for one in arguments(ground, symbol).unwrap_or_default() {
            if found.insert(one.root) {
                pending.push(one.root);
            }
        }
    }
    found
}
