//! Statements about whole arrays and sections, as loops over their elements.
//!
//! Invariant: elements are done in the order of the loops only where the order does not matter.

use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind};
use crate::sema;
use crate::source::Span;

use super::Why;
use super::expression::Values;
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

impl Folded {
    /// Whether it is about logical values.
    fn is_of_logicals(&self) -> bool {
        matches!(self, Folded::All | Folded::Any | Folded::Count)
    }

    /// What it makes of no elements; `None` where no number says that.
    fn start(&self, ty: Type) -> Option<&'static str> {
        match self {
            Folded::Sum | Folded::Any | Folded::Count => Some("0"),
            Folded::Product | Folded::All => Some("1"),
            Folded::Extreme(helper) => intrinsic::least(*helper, ty),
        }
    }

    /// The statement that takes in one more element.
    fn step(&self, values: &Values, total: &Value, element: Value) -> String {
        let (result, ty) = (&total.text, total.ty);
        match self {
            Folded::Sum => format!("{result} += {};", element.text),
            Folded::Product => format!("{result} *= {};", element.text),
            Folded::Extreme(helper) => {
                let both = values.help(*helper, ty, &[total.clone(), element], ty);
                format!("{result} = {};", both.text)
            }
            Folded::All => format!("{result} = {result} && {};", element.within(binds::AND + 1)),
            Folded::Any => format!("{result} = {result} || {};", element.within(binds::AND)),
            Folded::Count => format!("{result} += {} ? 1 : 0;", element.within(binds::OR)),
        }
    }
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
        let values = self.values;
        values.running_over(names, || inside(self))?;
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
        self.same_objects(&target, &value, at)?;
        if (target.ty.word == Word::Logical) != (value.ty.word == Word::Logical) {
            return Err(Why::new(at, "an assignment of another type"));
        }
        let is_to_part = value.ty.word == Word::Complex && target.ty.word != Word::Complex;
        let value = if is_to_part { value.to(target.ty) } else { value };
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
            } else if is_own && !self.values.is_known(call) {
                match name.as_str() {
                    "norm2" => self.norm(call, args)?,
                    "minloc" | "maxloc" => self.place_of_extreme(call, name, args)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Writes the loops of a function about an array.
    fn fold(&mut self, call: ExprId, name: &str, how: &Folded, args: &[ExprId]) -> Result<(), Why> {
        let at = self.values.files.own.unit.expr(call).span;
        let refused = || Why::new(at, format!("the function `{name}` with these arguments"));
        let (elements, mask) = self.elements_of(name, args).ok_or_else(refused)?;
        let ranges = self.ranges_in(elements[0])?;
        if ranges.is_empty() {
            return Err(refused());
        }
        let result = self.fresh(name);
        let names = self.counters(ranges.len());
        let ty = self.values.running_over(names, || self.element(elements))?.ty;
        if how.is_of_logicals() != (ty.word == Word::Logical) {
            return Err(refused());
        }
        let ty = if matches!(how, Folded::Count) { Type::INTEGER } else { ty };
        let start = how.start(ty).ok_or_else(refused)?;
        self.line(&format!("{} {result} = {start};", ty.cpp()));
        let total = Value::name(result, ty);
        self.over(&ranges, |body| {
            let value = body.element(elements)?;
            let line = how.step(body.values, &total, value);
            match mask {
                Some(mask) => {
                    let mask = body.values.value(mask)?;
                    body.simple(&format!("if ({}) {line}", mask.text))
                }
                None => body.simple(&line),
            }
        })?;
        self.values.know(call, total);
        Ok(())
    }

    /// `norm2`, of numbers whose squares may be too large or too small.
    fn norm(&mut self, call: ExprId, args: &[ExprId]) -> Result<(), Why> {
        let at = self.values.files.own.unit.expr(call).span;
        let refused = || Why::new(at, "the function `norm2` with these arguments");
        let (ranges, ty) = self.plain_elements(args).ok_or_else(refused)?;
        if ty.word != Word::Real {
            return Err(refused());
        }
        let (cpp, single) = (ty.cpp(), if ty.bytes == 4 { "f" } else { "" });
        let [scale, sum, size, part] = ["scale", "sum", "size", "part"].map(|word| self.fresh(word));
        self.line(&format!("{cpp} {scale} = 0, {sum} = 1;"));
        self.over(&ranges, |body| {
            let value = body.values.value(args[0])?;
            body.line(&format!("const {cpp} {size} = fabs{single}({});", value.text));
            body.line(&format!("if ({size} > {scale}) {{"));
            body.line(&format!("    const {cpp} {part} = {scale} / {size};"));
            body.line(&format!("    {sum} = 1 + {sum} * {part} * {part};"));
            body.line(&format!("    {scale} = {size};"));
            body.line(&format!("}} else if ({size} != 0) {{"));
            body.line(&format!("    const {cpp} {part} = {size} / {scale};"));
            body.line(&format!("    {sum} += {part} * {part};"));
            body.simple("}")
        })?;
        let text = format!("{scale} * sqrt{single}({sum})");
        self.values.know(call, Value { text, binds: binds::PRODUCT, ty });
        Ok(())
    }

    /// `minloc` and `maxloc` of an array of one dimension, as a number.
    fn place_of_extreme(&mut self, call: ExprId, name: &str, args: &[ExprId]) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let at = unit.expr(call).span;
        let refused = || Why::new(at, format!("the function `{name}` with these arguments"));
        let [array, dim] = *args else { return Err(refused()) };
        let is_dim = self.values.keyword(dim).is_none_or(|word| word == "dim");
        if !is_dim || !matches!(unit.expr(dim).kind, ExprKind::Int(1)) {
            return Err(refused());
        }
        let (ranges, ty) = self.plain_elements(&[array]).ok_or_else(refused)?;
        if ranges.len() != 1 || !matches!(ty.word, Word::Integer | Word::Real) {
            return Err(refused());
        }
        let (place, found, next) = (self.fresh(name), self.fresh("found"), self.fresh("next"));
        let (cpp, sign) = (ty.cpp(), if name == "minloc" { "<" } else { ">" });
        let counter = self.counters(1).concat();
        self.line(&format!("int {place} = 0;"));
        self.line(&format!("{cpp} {found} = 0;"));
        self.over(&ranges, |body| {
            let value = body.values.value(array)?;
            body.line(&format!("const {cpp} {next} = {};", value.text));
            let is_better = format!("{place} == 0 || {next} {sign} {found}");
            // One that is not a number is only found if all are not.
            let is_number = format!(" || {found} != {found} && {next} == {next}");
            let more = if ty.word == Word::Real { is_number.as_str() } else { "" };
            body.line(&format!("if ({is_better}{more}) {{"));
            body.line(&format!("    {place} = {counter} + 1;"));
            body.line(&format!("    {found} = {next};"));
            body.simple("}")
        })?;
        self.values.know(call, Value::name(place, Type::INTEGER));
        Ok(())
    }

    /// The ranges of the only argument of a function about arrays, and the type of its elements.
    fn plain_elements(&self, args: &[ExprId]) -> Option<(Vec<Value>, Type)> {
        let [array] = *args else { return None };
        if self.values.keyword(array).is_some() || self.calls_about_arrays(args) {
            return None;
        }
        let ranges = self.ranges_in(array).ok().filter(|ranges| !ranges.is_empty())?;
        let names = self.counters(ranges.len());
        let ty = self.values.running_over(names, || self.values.value(array)).ok()?.ty;
        Some((ranges, ty))
    }

    /// An assignment of a product of two whole matrices, or of one and a vector, to another array.
    pub(super) fn product(&mut self, left: ExprId, right: ExprId, at: Span) -> Result<bool, Why> {
        let (values, unit) = (self.values, self.values.files.own.unit);
        let ExprKind::Call { callee, args } = &unit.expr(right).kind else { return Ok(false) };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { return Ok(false) };
        if name != "matmul" || values.symbols.lookup(name, at.start).is_some() {
            return Ok(false);
        }
        let refused = || Why::new(at, "`matmul` of this form");
        let [first, second] = args.as_slice() else { return Err(refused()) };
        let whole = |expr: ExprId| {
            let is_name = matches!(unit.expr(expr).kind, ExprKind::Name(_) | ExprKind::Member { .. });
            let symbol = values.symbol(expr).filter(|_| is_name)?;
            let variable = values.variables.get(symbol)?;
            (!variable.is_aliased && variable.ty.word != Word::Logical).then_some((symbol, variable))
        };
        let parts = [left, *first, *second].map(whole);
        let [Some((to, target)), Some((one, a)), Some((other, b))] = parts else { return Err(refused()) };
        let ranks = [target, a, b].map(|one| one.shape.len());
        if to == one || to == other || !matches!(ranks, [2, 2, 2] | [1, 2, 1] | [1, 1, 2]) {
            return Err(refused());
        }
        let counters = self.counters(3);
        let [row, column, inner] = [0, 1, 2].map(|place| counters[place].clone());
        let subscripts = |rank: usize, both: [&String; 2], single: &String| -> Vec<String> {
            if rank == 2 { both.map(Clone::clone).to_vec() } else { vec![single.clone()] }
        };
        let is_row = ranks == [1, 1, 2];
        let of_target = subscripts(ranks[0], [&row, &column], if is_row { &column } else { &row });
        let of_first = subscripts(ranks[1], [&row, &inner], &inner);
        let of_second = subscripts(ranks[2], [&inner, &column], &inner);
        self.line(&format!("// {}", values.files.own.code(at).trim()));
        let extent = |symbol, place| values.count(symbol, place, [None; 3], at);
        let mut around = Vec::new();
        if ranks[0] == 2 || is_row {
            around.push((column.clone(), extent(to, ranks[0] - 1)?));
        }
        if ranks[0] == 2 || !is_row {
            around.push((row.clone(), extent(to, 0)?));
        }
        let head = |(name, count): &(String, Value)| {
            format!("for (int {name} = 0; {name} < {}; {name}++) {{", count.within(binds::LESS + 1))
        };
        for one in &around {
            self.line(&head(one));
            self.depth += 1;
        }
        let of = |names: Vec<String>, expr: ExprId| values.running_over(names, || values.value(expr));
        let (first, second) = (of(of_first, *first)?, of(of_second, *second)?);
        let ty = first.ty.joined(second.ty);
        let sum = self.fresh("sum");
        self.line(&format!("{} {sum} = 0;", ty.cpp()));
        self.line(&head(&(inner, extent(one, ranks[1] - 1)?)));
        let term = Value::binary(&first, "*", &second, binds::PRODUCT, ty);
        self.line(&format!("    {sum} += {};", term.text));
        self.line("}");
        let target = of(of_target, left)?;
        self.line(&format!("{} = {};", target.text, Value::name(sum, ty).to(target.ty).text));
        for _ in &around {
            self.depth -= 1;
            self.line("}");
        }
        Ok(true)
    }

    /// What a function about arrays folds, the elements of one or the products of those of two, and its mask.
    fn elements_of<'e>(&self, name: &str, args: &'e [ExprId]) -> Option<(&'e [ExprId], Option<ExprId>)> {
        let is_mask = |arg: ExprId| self.values.keyword(arg) == Some("mask");
        let (elements, mask) = match args {
            [_, _] if name == "dot_product" => (args, None),
            [_] if name != "dot_product" => (args, None),
            [_, mask] if is_mask(*mask) => (&args[..1], Some(*mask)),
            _ => return None,
        };
        let is_plain = self.values.keyword(elements[0]).is_none() && !self.calls_about_arrays(args);
        is_plain.then_some((elements, mask))
    }

    /// An element of what is folded.
    fn element(&self, elements: &[ExprId]) -> Result<Value, Why> {
        let first = self.values.value(elements[0])?;
        let Some(other) = elements.get(1) else { return Ok(first) };
        let other = self.values.value(*other)?;
        let ty = first.ty.joined(other.ty);
        if first.ty.word == Word::Logical || other.ty.word == Word::Logical {
            return Err(Why::new(self.values.files.own.unit.expr(elements[0]).span, "this product"));
        }
        let is_complex = first.ty.word == Word::Complex;
        let first = if is_complex { first.of_complex("conj", first.ty) } else { first };
        Ok(Value::binary(&first, "*", &other, binds::PRODUCT, ty))
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
