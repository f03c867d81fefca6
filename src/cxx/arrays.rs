//! Statements about whole arrays and sections, as loops over their elements.
//!
//! Invariant: elements are done in the order of the loops only where the order does not matter.

use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind};
use crate::sema;
use crate::source::Span;

use super::Why;
use super::helpers::Helper;
use super::intrinsic;
use super::statement::Body;
use super::types::{Type, Word};
use super::value::{Value, binds};
use super::variable::element;

/// What a function makes of all elements of an array.
enum Folded {
    Sum,
    Product,
    Extreme(Helper),
    All,
    Any,
    Count,
}

fn folded(name: &str) -> Option<Folded> {
    Some(match name {
        "sum" | "dot_product" => Folded::Sum,
        "product" => Folded::Product,
        "maxval" => Folded::Extreme(Helper::Max),
        "minval" => Folded::Extreme(Helper::Min),
        "all" => Folded::All,
        "any" => Folded::Any,
        "count" => Folded::Count,
        _ => return None,
    })
}

impl Body<'_> {
    /// How many elements each dimension has that a reference runs through; none of a reference to a scalar.
    pub(super) fn ranges(&self, left: ExprId, at: Span) -> Result<Vec<Value>, Why> {
        let seen = self.values.files.own;
        let Some((base, subscripts)) = element(seen, left) else { return Ok(Vec::new()) };
        let Some(symbol) = self.values.symbol(base) else { return Ok(Vec::new()) };
        let rank = self.values.variables.get(symbol).map_or(0, |variable| variable.shape.len());
        if subscripts.is_empty() {
            return (0..rank).map(|place| self.values.count(symbol, place, [None; 3], at)).collect();
        }
        let mut ranges = Vec::new();
        for (place, subscript) in subscripts.iter().enumerate() {
            if let ExprKind::Triplet(parts) = seen.unit.expr(*subscript).kind {
                ranges.push(self.values.count(symbol, place, parts, at)?);
            }
        }
        Ok(ranges)
    }

    /// The ranges of the first array in an expression that is computed element by element.
    fn ranges_in(&self, expr: ExprId) -> Result<Vec<Value>, Why> {
        let known = self.values.files.own.unit.expr(expr);
        match &known.kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                self.ranges(expr, known.span)
            }
            ExprKind::Call { args, .. } => self.first_ranges(args.iter().copied()),
            kind => self.first_ranges(kind.children()),
        }
    }

    fn first_ranges(&self, all: impl Iterator<Item = ExprId>) -> Result<Vec<Value>, Why> {
        for one in all {
            let ranges = self.ranges_in(one)?;
            if !ranges.is_empty() {
                return Ok(ranges);
            }
        }
        Ok(Vec::new())
    }

    /// An assignment to an array or a section, whose elements may be assigned in any order.
    pub(super) fn elements(
        &mut self,
        (left, right): (ExprId, ExprId),
        ranges: &[Value],
        at: Span,
    ) -> Result<(), Why> {
        let seen = self.values.files.own;
        self.in_any_order(at)?;
        self.line(&format!("// {}", seen.code(at).trim()));
        self.over(ranges, |body| body.assigned((left, right), at))
    }

    /// `where`, whose elements may be done in any order.
    pub(super) fn masked(&mut self, at: Span) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let stmt = self.in_any_order(at)?;
        let assigned = unit.exprs_in(at).find_map(|expr| match expr.kind {
            ExprKind::Assign(None, left, _) => Some(left),
            _ => None,
        });
        let assigned = assigned.ok_or_else(|| Why::new(at, "`where` without an assignment"))?;
        let ranges = self.ranges(assigned, at)?;
        self.over(&ranges, |body| body.branch(stmt, "if"))
    }

    /// A branch of a `where`, for one element.
    fn branch(&mut self, stmt: StmtId, word: &str) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let StmtKind::If { cond, then, other } = unit.stmt(stmt).kind else { return self.masked_stmt(stmt) };
        let cond = self.values.value(cond)?;
        self.line(&format!("{word} ({}) {{", cond.text));
        self.depth += 1;
        let done = self.masked_stmt(then);
        self.depth -= 1;
        done?;
        match other {
            Some(other) if matches!(unit.stmt(other).kind, StmtKind::If { .. }) => {
                self.branch(other, "} else if")
            }
            Some(other) => {
                self.line("} else {");
                self.depth += 1;
                let done = self.masked_stmt(other);
                self.depth -= 1;
                done?;
                self.simple("}")
            }
            None => self.simple("}"),
        }
    }

    fn masked_stmt(&mut self, stmt: StmtId) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let at = unit.stmt(stmt).span;
        match &unit.stmt(stmt).kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(list) => list.iter().try_for_each(|inner| self.masked_stmt(*inner)),
            StmtKind::If { .. } => self.branch(stmt, "if"),
            StmtKind::Expr(expr) => match unit.expr(*expr).kind {
                ExprKind::Assign(None, left, right) => {
                    self.line(&format!("// {}", self.values.files.own.code(at).trim()));
                    self.assigned((left, right), at)
                }
                _ => Err(Why::new(at, "this statement in `where`")),
            },
            _ => Err(Why::new(at, "this statement in `where`")),
        }
    }

    /// The statement at `at`, if its elements may be done in any order.
    fn in_any_order(&self, at: Span) -> Result<StmtId, Why> {
        let seen = self.values.files.own;
        let stmt = seen.unit.stmt_ids_in(at).find(|id| seen.unit.stmt(*id).span == at);
        let stmt = stmt.ok_or_else(|| Why::new(at, "this statement"))?;
        match sema::elementwise(seen.file, seen.unit, self.values.symbols, stmt) {
            Some(Ok(read)) if read.reduction.is_none() => Ok(stmt),
            _ => Err(Why::new(at, "an array statement that is not done element by element")),
        }
    }

    /// Loops over elements, and what `inside` writes of each.
    fn over(
        &mut self,
        ranges: &[Value],
        inside: impl FnOnce(&mut Self) -> Result<(), Why>,
    ) -> Result<(), Why> {
        let names = self.counters(ranges.len());
        for (name, count) in names.iter().zip(ranges).rev() {
            let count = count.within(binds::LESS + 1);
            self.line(&format!("for (int {name} = 0; {name} < {count}; {name}++) {{"));
            self.depth += 1;
        }
        *self.values.running.borrow_mut() = names;
        let done = inside(self);
        self.values.running.borrow_mut().clear();
        done?;
        for _ in ranges {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// The variables that count the elements of each dimension.
    fn counters(&self, rank: usize) -> Vec<String> {
        let mut word = "at".to_owned();
        let all = |word: &str| (1..=rank).map(|at| format!("{word}_{at}")).collect::<Vec<String>>();
        while all(&word).iter().any(|name| self.values.variables.is_named(name)) {
            word.push('_');
        }
        all(&word)
    }

    fn assigned(&mut self, (left, right): (ExprId, ExprId), at: Span) -> Result<(), Why> {
        let (target, value) = (self.values.value(left)?, self.values.value(right)?);
        if (target.ty.word == Word::Logical) != (value.ty.word == Word::Logical) {
            return Err(Why::new(at, "an assignment of another type"));
        }
        self.simple(&format!("{} = {};", target.text, value.text))
    }

    /// Computes what functions in an expression make of whole arrays: each gets a variable, which stands for it.
    pub(super) fn whole_arrays(&mut self, expr: ExprId) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let at = unit.expr(expr).span;
        let calls: Vec<ExprId> =
            unit.expr_ids_in(at).filter(|id| matches!(&unit.expr(*id).kind, ExprKind::Call { .. })).collect();
        for call in calls {
            let ExprKind::Call { callee, args } = &unit.expr(call).kind else { continue };
            let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
            let is_own = self.values.symbols.lookup(name, at.start).is_none();
            if let Some(how) = folded(name).filter(|_| is_own && !self.values.is_known(call)) {
                let args = args.clone();
                self.fold(call, name, &how, &args)?;
            }
        }
        Ok(())
    }

    fn fold(&mut self, call: ExprId, name: &str, how: &Folded, args: &[ExprId]) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let at = unit.expr(call).span;
        let refused = || Why::new(at, format!("the function `{name}` with these arguments"));
        let is_product = name == "dot_product";
        let (first, other, mask) = match args {
            [first] if !is_product => (*first, None, None),
            [first, mask] if !is_product && self.values.keyword(*mask) == Some("mask") => {
                (*first, None, Some(*mask))
            }
            [first, second] if is_product => (*first, Some(*second), None),
            _ => return Err(refused()),
        };
        if self.values.keyword(first).is_some() || self.calls_about_arrays(args) {
            return Err(refused());
        }
        let ranges = self.ranges_in(first)?;
        if ranges.is_empty() {
            return Err(refused());
        }
        let result = self.fresh(name);
        // The type is that of the elements.
        let of_element = |body: &Self| {
            let names = body.counters(ranges.len());
            *body.values.running.borrow_mut() = names;
            let both = body.values.value(first).and_then(|first| {
                Ok(match other {
                    Some(other) => {
                        let other = body.values.value(other)?;
                        let ty = first.ty.joined(other.ty);
                        Value::binary(&first, "*", &other, binds::PRODUCT, ty)
                    }
                    None => first,
                })
            });
            body.values.running.borrow_mut().clear();
            both
        };
        let ty = of_element(self)?.ty;
        let is_logical = matches!(how, Folded::All | Folded::Any | Folded::Count);
        if is_logical != (ty.word == Word::Logical) {
            return Err(refused());
        }
        let ty = if matches!(how, Folded::Count) { Type::INTEGER } else { ty };
        let start = match how {
            Folded::Sum | Folded::Product => {
                let zero = if matches!(how, Folded::Sum) { "0" } else { "1" };
                zero.to_owned()
            }
            Folded::Extreme(helper) => intrinsic::least(*helper, ty).ok_or_else(refused)?.to_owned(),
            Folded::All => "1".to_owned(),
            Folded::Any | Folded::Count => "0".to_owned(),
        };
        self.line(&format!("{} {result} = {start};", ty.cpp()));
        let total = Value::name(result.clone(), ty);
        self.over(&ranges, |body| {
            let (value, mask) = (
                match other {
                    Some(other) => {
                        let (first, other) = (body.values.value(first)?, body.values.value(other)?);
                        Value::binary(&first, "*", &other, binds::PRODUCT, ty)
                    }
                    None => body.values.value(first)?,
                },
                mask.map(|mask| body.values.value(mask)).transpose()?,
            );
            let line = match how {
                Folded::Sum => format!("{result} += {};", value.text),
                Folded::Product => format!("{result} *= {};", value.text),
                Folded::Extreme(helper) => {
                    let both = body.values.help(*helper, ty, &[total.clone(), value], ty);
                    format!("{result} = {};", both.text)
                }
                Folded::All => format!("{result} = {result} && {};", value.within(binds::AND + 1)),
                Folded::Any => format!("{result} = {result} || {};", value.within(binds::AND)),
                Folded::Count => format!("{result} += {} ? 1 : 0;", value.within(binds::OR)),
            };
            match mask {
                Some(mask) => body.simple(&format!("if ({}) {line}", mask.text)),
                None => body.simple(&line),
            }
        })?;
        self.values.know(call, total);
        Ok(())
    }

    /// Whether functions about whole arrays stand in expressions.
    fn calls_about_arrays(&self, all: &[ExprId]) -> bool {
        let unit = self.values.files.own.unit;
        all.iter().any(|one| {
            unit.exprs_in(unit.expr(*one).span).any(|expr| match &expr.kind {
                ExprKind::Call { callee, .. } => match &unit.expr(*callee).kind {
                    ExprKind::Name(name) => sema::is_transformational(name),
                    _ => true,
                },
                _ => false,
            })
        })
    }
}
