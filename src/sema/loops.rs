//! The shape of loops: canonical headers, tight nests, trip counts.
//!
//! Invariant: a header is called canonical only if OpenMP 4.5 (2.6 "Canonical Loop Form") would take the loop as written.

use crate::host::ir::{BaseType, BinaryOp, DeclKind, ExprId, ExprKind, StmtId, StmtKind, UnaryOp, Unit};
use crate::source::Span;

use super::loop_header::{Header, NotCanonical};
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;
use super::value_type;

/// The header of the `for` statement `stmt`.
pub fn header(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Result<Header, NotCanonical> {
    symbols.headers.or(stmt, || read(unit, symbols, stmt))
}

/// The first part of the header of a loop whose type the file says in words that are not understood.
pub fn unseen_type(unit: &Unit, symbols: &Symbols, header: &Header) -> Option<Span> {
    if unit.is_fortran() {
        return None;
    }
    let found = header.values().find(|expr| value_type::is_unseen(unit, symbols, *expr));
    found.map(|expr| unit.expr(expr).span)
}

/// Whether a loop may count with a variable that is named at `at`.
fn may_count(unit: &Unit, symbols: &Symbols, var: SymbolId, at: u32) -> Result<(), NotCanonical> {
    let known = symbols.get(var);
    if !matches!(known.class, Class::Scalar | Class::Pointer | Class::Unknown)
        || known.is_floating
        || value_type::is_floating_variable(unit, symbols, var, at)
    {
        return Err(NotCanonical("its variable is not an integer"));
    }
    if known.is_enumeration {
        // gcc 12 stops with an internal error at loops of OpenMP that count with one.
        return Err(NotCanonical("its variable is of an enumeration"));
    }
    if unit.is_fortran() && known.fortran.pointer {
        return Err(NotCanonical("its variable is a pointer"));
    }
    if known.kind == SymbolKind::Member {
        return Err(NotCanonical("its variable is a member of the object"));
    }
    Ok(())
}

/// The member of an object of C++ that the loop `stmt` counts with: no header has one.
pub fn counting_member(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Option<SymbolId> {
    let StmtKind::For { init: Some(init), .. } = unit.stmt(stmt).kind else { return None };
    let (name, at, ..) = initialised(unit, init)?;
    symbols.lookup(name, at).filter(|symbol| symbols.get(*symbol).kind == SymbolKind::Member)
}

fn read(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Result<Header, NotCanonical> {
    let StmtKind::For { init, cond, step, body } = &unit.stmt(stmt).kind else {
        return Err(NotCanonical(if unit.is_fortran() {
            "it is not a `do` loop"
        } else {
            "it is not a `for` loop"
        }));
    };
    if unit.concurrent.iter().any(|one| one.stmt == stmt && one.nested.is_none()) {
        return Err(NotCanonical("it is a `do concurrent` that cannot be written as `do` loops here"));
    }
    if unit.forall.contains(&stmt) {
        return Err(NotCanonical("it is a `forall`, and not a `do` loop"));
    }
    let (name, at, first, declared) = init
        .and_then(|init| initialised(unit, init))
        .ok_or(NotCanonical("its first part is not `variable = value`"))?;
    let var = symbols.lookup(name, at).ok_or(NotCanonical("its variable is not declared"))?;
    may_count(unit, symbols, var, at)?;
    if cond.is_none() && step.is_none() {
        return Err(NotCanonical("it has no condition, or is one over a range"));
    }
    let is_var = |id: ExprId| matches!(&unit.expr(id).kind, ExprKind::Name(other) if other == name);
    let (compare, bound) = cond
        .and_then(|cond| comparison(unit, cond, &is_var))
        .ok_or(NotCanonical("its condition does not compare the variable with a bound"))?;
    let (step, down) = step
        .and_then(|step| increment(unit, step, &is_var))
        .ok_or(NotCanonical("its last part does not add a fixed step to the variable"))?;
    let values = || [Some(first), Some(bound), step].into_iter().flatten();
    if values().any(|expr| changes(unit, expr)) {
        return Err(NotCanonical("its header changes another variable"));
    }
    if values().any(|expr| value_type::is_floating(unit, symbols, expr)) {
        return Err(NotCanonical("its bounds or its step are not integers"));
    }
    if !unit.is_fortran() && values().any(|expr| symbols.has_object(unit, expr)) {
        return Err(NotCanonical("its header has an operator or a conversion that the program defines"));
    }
    let later = [Some(bound), step].into_iter().flatten();
    if !unit.is_fortran()
        && later.flat_map(|expr| super::flow::reads_of_expr(unit, symbols, expr)).any(|read| read == var)
    {
        return Err(NotCanonical("its bound or its step depends on its variable"));
    }
    let is_one = step.is_none_or(|step| matches!(unit.expr(step).kind, ExprKind::Int(1)));
    if compare == BinaryOp::NotEqual && !is_one {
        return Err(NotCanonical("its condition is `!=`, and its step is not one"));
    }
    if !unit.is_fortran() && !nears_bound(unit, symbols, compare, (step, down)) {
        return Err(NotCanonical("it counts away from its bound"));
    }
    if leaves_loop(unit, stmt, *body) {
        return Err(NotCanonical("`break`, `return` or `goto` leaves it"));
    }
    let header = Header { var, declared, first, bound, compare, step, down, body: *body };
    let inside = super::flow::uses(unit, symbols, *body);
    if inside.of(var).is_some_and(|var| var.written) {
        return Err(NotCanonical("its body changes the loop variable"));
    }
    // Fortran counts its iterations before the first one begins.
    if unit.is_fortran() {
        return Ok(header);
    }
    let changed = super::flow::reads_of_expr(unit, symbols, bound)
        .into_iter()
        .chain(step.into_iter().flat_map(|step| super::flow::reads_of_expr(unit, symbols, step)))
        .any(|symbol| inside.of(symbol).is_some_and(|bound| bound.written));
    if changed { Err(NotCanonical("its body changes the loop bound")) } else { Ok(header) }
}

fn initialised(unit: &Unit, init: StmtId) -> Option<(&str, u32, ExprId, bool)> {
    match &unit.stmt(init).kind {
        StmtKind::Decl(decls) => {
            let [decl] = decls.as_slice() else { return None };
            let decl = unit.decl(*decl);
            (decl.kind == DeclKind::Variable).then_some(())?;
            // OpenMP wants `=` there: `int i{0}` and `int i(0)` will not do.
            let init = decl.init.filter(|init| !matches!(unit.expr(*init).kind, ExprKind::Initialiser(_)))?;
            Some((&decl.name, decl.name_span.end, init, true))
        }
        StmtKind::Expr(expr) => {
            let ExprKind::Assign(None, left, right) = &unit.expr(*expr).kind else { return None };
            let ExprKind::Name(name) = &unit.expr(*left).kind else { return None };
            Some((name, unit.expr(*left).span.start, *right, false))
        }
        _ => None,
    }
}

fn comparison(unit: &Unit, cond: ExprId, is_var: &dyn Fn(ExprId) -> bool) -> Option<(BinaryOp, ExprId)> {
    let ExprKind::Binary(op, left, right) = &unit.expr(cond).kind else { return None };
    let mirrored = match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::NotEqual => BinaryOp::NotEqual,
        _ => return None,
    };
    if is_var(*left) {
        Some((*op, *right))
    } else if is_var(*right) {
        Some((mirrored, *left))
    } else {
        None
    }
}

fn increment(unit: &Unit, step: ExprId, is_var: &dyn Fn(ExprId) -> bool) -> Option<(Option<ExprId>, bool)> {
    match &unit.expr(step).kind {
        ExprKind::Step { up, operand, .. } if is_var(*operand) => Some((None, !up)),
        ExprKind::Assign(Some(BinaryOp::Add), left, right) if is_var(*left) => Some((Some(*right), false)),
        ExprKind::Assign(Some(BinaryOp::Subtract), left, right) if is_var(*left) => {
            Some((Some(*right), true))
        }
        ExprKind::Assign(None, left, right) if is_var(*left) => match &unit.expr(*right).kind {
            ExprKind::Binary(BinaryOp::Add, a, b) if is_var(*a) => Some((Some(*b), false)),
            ExprKind::Binary(BinaryOp::Add, a, b) if is_var(*b) => Some((Some(*a), false)),
            ExprKind::Binary(BinaryOp::Subtract, a, b) if is_var(*a) => Some((Some(*b), true)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the variable comes nearer to its bound with each step, as far as the step is known: a loop such as
/// `for (unsigned i = n - 1; i < n; i--)` ends where its variable wraps around.
fn nears_bound(
    unit: &Unit,
    symbols: &Symbols,
    compare: BinaryOp,
    (step, down): (Option<ExprId>, bool),
) -> bool {
    let sign = match step {
        None => Some(1),
        Some(step) => match constant(unit, step) {
            Some(value) => Some(value.signum()),
            None => is_unsigned(unit, symbols, step).then_some(1),
        },
    };
    let Some(sign) = sign else { return true };
    let is_up = (sign > 0) != down;
    match compare {
        BinaryOp::Less | BinaryOp::LessEqual => sign != 0 && is_up,
        BinaryOp::Greater | BinaryOp::GreaterEqual => sign != 0 && !is_up,
        _ => sign != 0,
    }
}

/// Whether an expression is computed with an unsigned variable, as its declaration shows.
pub(super) fn is_unsigned(unit: &Unit, symbols: &Symbols, expr: ExprId) -> bool {
    let ExprKind::Name(_) = unit.expr(expr).kind else {
        return unit.expr(expr).kind.children().any(|child| is_unsigned(unit, symbols, child));
    };
    let decl = symbols.named(unit, expr).and_then(|symbol| symbols.get(symbol).decl);
    decl.is_some_and(|decl| match &unit.decl(decl).base {
        BaseType::Builtin(words) => {
            words.split(' ').any(|word| word == "unsigned" || word == "size_t" || word.starts_with("uint"))
        }
        BaseType::Named(name) => {
            let name = name.rsplit(':').next().unwrap_or(name);
            name == "size_t" || name.starts_with("uint") && name.ends_with("_t")
        }
        _ => false,
    })
}

/// Whether evaluating an expression changes a variable.
pub(super) fn changes(unit: &Unit, expr: ExprId) -> bool {
    match &unit.expr(expr).kind {
        ExprKind::Assign(..) | ExprKind::Step { .. } => true,
        kind => kind.children().any(|child| changes(unit, child)),
    }
}

/// Whether a jump leaves the loop `stmt`, whose body this is.
fn leaves_loop(unit: &Unit, stmt: StmtId, body: StmtId) -> bool {
    let mut pending = vec![(body, true)];
    let mut jumps = Vec::new();
    // The end of its own body is not a way out.
    let mut labels: Vec<String> = unit.loop_labels(stmt).into_iter().flatten().take(1).collect();
    while let Some((stmt, breaks)) = pending.pop() {
        labels.extend(unit.loop_labels(stmt).into_iter().flatten());
        if let StmtKind::Labeled { label: Some(label), .. } = &unit.stmt(stmt).kind {
            labels.push(label.clone());
        }
        match &unit.stmt(stmt).kind {
            StmtKind::Break if breaks => return true,
            StmtKind::Return(_) => return true,
            StmtKind::Goto(label) => jumps.push(label),
            StmtKind::Block(list) => pending.extend(list.iter().map(|stmt| (*stmt, breaks))),
            StmtKind::If { then, other, .. } => {
                pending.push((*then, breaks));
                pending.extend(other.iter().map(|other| (*other, breaks)));
            }
            StmtKind::Labeled { stmt, .. } => pending.extend(stmt.iter().map(|stmt| (*stmt, breaks))),
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => pending.push((*body, false)),
            StmtKind::Decl(_)
            | StmtKind::Expr(_)
            | StmtKind::Empty
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Opaque(_) => {}
        }
    }
    jumps.iter().any(|label| !labels.contains(label))
}

/// The `for` statement that is all there is in `body`, through blocks that hold nothing else.
pub fn only_loop(unit: &Unit, body: StmtId) -> Option<StmtId> {
    let mut at = body;
    loop {
        match &unit.stmt(at).kind {
            StmtKind::For { .. } => return Some(at),
            StmtKind::Block(list) => {
                let mut code = list.iter().filter(|stmt| !matches!(unit.stmt(**stmt).kind, StmtKind::Empty));
                match (code.next(), code.next()) {
                    (Some(only), None) => at = *only,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

/// The loop `stmt`, and those in it that are each all there is in the loop around it, outermost first.
pub fn nested_loops(unit: &Unit, stmt: StmtId) -> impl Iterator<Item = StmtId> {
    std::iter::successors(Some(stmt), |stmt| match unit.stmt(*stmt).kind {
        StmtKind::For { body, .. } => only_loop(unit, body),
        _ => None,
    })
}

/// Whether `inner` is all there is in the body of the loop `outer`, and its bounds depend neither on `outer`'s variable
/// nor on anything that `outer`'s body changes.
pub fn is_tight(unit: &Unit, symbols: &Symbols, outer: &[Header], inner: &Header) -> bool {
    let bounds = [Some(inner.first), Some(inner.bound), inner.step];
    let reads = bounds.into_iter().flatten().flat_map(|expr| super::flow::reads_of_expr(unit, symbols, expr));
    let changed = super::flow::uses(unit, symbols, inner.body);
    !reads.into_iter().any(|symbol| {
        outer.iter().any(|header| header.var == symbol) || changed.of(symbol).is_some_and(|used| used.written)
    })
}

/// The number of iterations, if the header holds literals only.
pub fn trip_constant(unit: &Unit, header: &Header) -> Option<i128> {
    trips(header, |expr| constant(unit, expr))
}

/// The number of iterations of a loop whose bounds and step have known values.
pub fn trips(header: &Header, value: impl Fn(ExprId) -> Option<i128>) -> Option<i128> {
    let (first, bound) = (value(header.first)?, value(header.bound)?);
    let step = header.step.map_or(Some(1), value)?;
    let (step, down) = if step < 0 { (-step, !header.down) } else { (step, header.down) };
    let span = if down { first - bound } else { bound - first };
    let inclusive = matches!(header.compare, BinaryOp::LessEqual | BinaryOp::GreaterEqual);
    let span = span + i128::from(inclusive);
    (step > 0).then(|| (span.max(0) + step - 1) / step)
}

fn constant(unit: &Unit, id: ExprId) -> Option<i128> {
    match &unit.expr(id).kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary(UnaryOp::Minus, operand) => constant(unit, *operand).map(|value| -value),
        _ => None,
    }
}
