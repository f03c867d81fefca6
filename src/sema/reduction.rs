//! Assignments of Fortran that make one value of all elements of an array: `s = sum(a * b)`.
//!
//! Invariant: the variable has the type of that value, and nothing else in the statement depends on it.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};
use crate::source::Span;

use super::array::{Line, LineKind, Piece, Reader};
use super::designator::{Designator, designator};
use super::elemental::{self, Kind as Function};
use super::numeric::{Kind, Number, Word};
use super::refusal::Refusal;
use super::symbol::{Class, SymbolId, SymbolKind};
use super::texts::{Texts, spaced};
use super::typing::number_of;
use crate::acc::ast::ReductionOp;

/// What all elements go into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// How.
    pub how: ReductionOp,
    /// The variable.
    pub variable: SymbolId,
    /// Its name as it is written.
    pub name: String,
    /// The statement that gives it its first value; none if it keeps the one that it has.
    pub first: Option<String>,
    /// What is done with the value.
    pub last: Option<Last>,
}

/// A statement after the loops: the assignment, with the variable in place of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// The statement.
    pub code: String,
    /// The other variables that it reads; `None` if it reads memory, or calls functions of the program.
    pub reads: Option<Vec<SymbolId>>,
}

/// A function of all elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Sum,
    Product,
    Maximum,
    Minimum,
    Count,
    Any,
    All,
    DotProduct,
}

impl Of {
    fn new(name: &str) -> Option<Of> {
        Some(match name {
            "sum" => Of::Sum,
            "product" => Of::Product,
            "maxval" => Of::Maximum,
            "minval" => Of::Minimum,
            "count" => Of::Count,
            "any" => Of::Any,
            "all" => Of::All,
            "dot_product" => Of::DotProduct,
            _ => return None,
        })
    }

    fn how(self) -> ReductionOp {
        match self {
            Of::Sum | Of::Count | Of::DotProduct => ReductionOp::Add,
            Of::Product => ReductionOp::Multiply,
            Of::Maximum => ReductionOp::Max,
            Of::Minimum => ReductionOp::Min,
            Of::Any => ReductionOp::Or,
            Of::All => ReductionOp::And,
        }
    }

    /// Its value if there is no element (Fortran 2018, 16.9).
    fn identity(self, name: &str, word: Word) -> String {
        match self {
            Of::Sum | Of::Count | Of::DotProduct => "0".to_owned(),
            Of::Product => "1".to_owned(),
            // There is one more negative number than positive ones.
            Of::Maximum if word == Word::Integer => format!("-huge({name}) - 1"),
            Of::Maximum => format!("-huge({name})"),
            Of::Minimum => format!("huge({name})"),
            Of::Any => ".false.".to_owned(),
            Of::All => ".true.".to_owned(),
        }
    }

    /// The names of its arguments in their order.
    fn dummies(self) -> &'static [&'static str] {
        match self {
            Of::Sum | Of::Product | Of::Maximum | Of::Minimum => &["array", "mask"],
            Of::Count | Of::Any | Of::All => &["mask"],
            Of::DotProduct => &["vector_a", "vector_b"],
        }
    }
}

/// The one call of such a function in an expression, and what else stands there.
struct Found {
    call: ExprId,
    of: Of,
    args: Vec<ExprId>,
}

/// The variable on the left.
struct Target {
    variable: SymbolId,
    name: String,
    number: Number,
}

impl Reader<'_> {
    /// Reads a statement. `None` if it assigns no value that is made of all elements of an array.
    pub(super) fn reduction(&mut self, stmt: StmtId) -> Option<Result<Reduction, Refusal>> {
        let StmtKind::Expr(expr) = self.unit.stmt(stmt).kind else { return None };
        let ExprKind::Assign(None, left, right) = self.unit.expr(expr).kind else { return None };
        if !self.has_function(right) {
            return None;
        }
        Some(self.reduced(self.unit.stmt(stmt).span, left, right))
    }

    /// Whether a function about whole arrays is called in an expression.
    fn has_function(&self, expr: ExprId) -> bool {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            if self.intrinsic(expr).is_some_and(|(name, _)| elemental::is_transformational(name)) {
                return true;
            }
            pending.extend(self.unit.expr(expr).kind.children());
        }
        false
    }

    /// The name and the arguments of a call of an intrinsic function.
    fn intrinsic(&self, expr: ExprId) -> Option<(&str, &[ExprId])> {
        let ExprKind::Call { callee, args } = &self.unit.expr(expr).kind else { return None };
        let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { return None };
        let at = self.unit.expr(*callee).span.start;
        self.symbols.lookup(name, at).is_none().then_some((name.as_str(), args.as_slice()))
    }

    fn reduced(&mut self, whole: Span, left: ExprId, right: ExprId) -> Result<Reduction, Refusal> {
        let found = self.only_call(right)?;
        let target = self.target(left)?;
        let call = self.unit.expr(found.call).span;
        let from = self.named.len();
        let lines = self.elements(&found, &target)?;
        let is_own = |(named, _): &&(Designator, bool)| named.root == target.variable;
        if self.named.iter().skip(from).any(|named| is_own(&named)) {
            let why = format!("`{}` is read in what it is assigned", target.name);
            return Err(Refusal::new(call, why));
        }
        let (first, last) = if right == found.call {
            (true, None)
        } else if self.goes_on(right, &found, &target) {
            (false, None)
        } else {
            (true, Some(self.last(whole, right, &found, &target)?))
        };
        if let Some(assigned) = designator(Texts { file: self.file, unit: self.unit }, self.symbols, left) {
            self.named.push((assigned?, true));
        }
        self.lines = lines;
        let identity = found.of.identity(&target.name, target.number.word);
        let first = first.then(|| format!("{} = {identity}", target.name));
        Ok(Reduction { how: found.of.how(), variable: target.variable, name: target.name, first, last })
    }

    /// The only call in an expression of a function about whole arrays.
    fn only_call(&self, expr: ExprId) -> Result<Found, Refusal> {
        let mut found = None;
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let span = self.unit.expr(expr).span;
            let kind = &self.unit.expr(expr).kind;
            let is_plain = matches!(kind, ExprKind::Unary(..) | ExprKind::Binary(..));
            match self.intrinsic(expr) {
                Some((name, args)) if elemental::is_transformational(name) => {
                    let whole = || Refusal::new(span, format!("`{name}` makes one value of all elements"));
                    let of = Of::new(name).ok_or_else(whole)?;
                    if found.is_some() || args.iter().any(|arg| self.has_function(*arg)) {
                        return Err(Refusal::new(span, "there is more than one value of all elements"));
                    }
                    found = Some(Found { call: expr, of, args: args.to_vec() });
                }
                Some((name, args)) if elemental::intrinsic(name, args.len()) == Function::Elemental => {
                    pending.extend(args);
                }
                _ if is_plain => pending.extend(kind.children()),
                _ if self.has_function(expr) => {
                    return Err(Refusal::new(span, "a value of all elements is used in it"));
                }
                _ => {}
            }
        }
        found.ok_or_else(|| Refusal::new(self.unit.expr(expr).span, "it is not understood"))
    }

    fn target(&self, left: ExprId) -> Result<Target, Refusal> {
        let span = self.unit.expr(left).span;
        let refused = |why: &str| Refusal::new(span, why);
        let ExprKind::Name(_) = self.unit.expr(left).kind else {
            return Err(refused("its value goes into a part of a variable"));
        };
        let symbol = self.symbols.named(self.unit, left);
        let variable = symbol.ok_or_else(|| refused("its declaration is not seen"))?;
        let known = self.symbols.get(variable);
        let is_variable =
            matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
        if !is_variable || known.class != Class::Scalar {
            return Err(refused("its declaration is not seen"));
        }
        if known.fortran.pointer || known.fortran.allocatable {
            return Err(refused("it is a pointer, or allocatable"));
        }
        let texts = Texts { file: self.file, unit: self.unit };
        let number = number_of(texts, self.symbols, left);
        let number = number.ok_or_else(|| refused("its type is not seen"))?;
        Ok(Target { variable, name: self.file.text(span).into_owned(), number })
    }

    /// The arguments of the call, in the order of the names.
    fn arguments(&self, found: &Found) -> Result<Vec<Option<ExprId>>, Refusal> {
        let dummies = found.of.dummies();
        let mut args = vec![None; dummies.len()];
        for (place, arg) in found.args.iter().enumerate() {
            let span = self.unit.expr(*arg).span;
            let keyword = self.unit.keywords.binary_search_by_key(arg, |(arg, _)| *arg).ok();
            let keyword = keyword.and_then(|at| self.unit.keywords.get(at)).map(|(_, name)| name.as_str());
            let place = match keyword {
                Some(name) => dummies.iter().position(|dummy| *dummy == name),
                None => (place < dummies.len()).then_some(place),
            };
            let slot = place.and_then(|place| args.get_mut(place));
            let Some(slot) = slot.filter(|slot| slot.is_none()) else {
                return Err(Refusal::new(span, "not all elements make one value, or one of another kind"));
            };
            *slot = Some(*arg);
        }
        Ok(args)
    }

    /// What is done for each element.
    fn elements(&mut self, found: &Found, target: &Target) -> Result<Vec<Line>, Refusal> {
        let args = self.arguments(found)?;
        let call = self.unit.expr(found.call).span;
        let Some(Some(array)) = args.first().copied() else {
            return Err(Refusal::new(call, "it is not understood"));
        };
        let other = args.get(1).copied().flatten();
        let from = self.named.len();
        let rank = self.rank(array)?;
        let code = self.operand(array, from, found.of)?;
        let ranges = self.named.iter().skip(from).find(|(named, _)| rank > 0 && named.rank() == rank);
        self.ranges = ranges.map(|(named, _)| named.ranges());
        if self.ranges.is_none() {
            return Err(Refusal::new(self.unit.expr(array).span, "it is not seen to be an array"));
        }
        let second = match other {
            Some(other) => {
                let from = self.named.len();
                let own = self.rank(other)?;
                if own != rank && (own > 0 || found.of == Of::DotProduct) {
                    return Err(Refusal::new(self.unit.expr(other).span, "it has another rank"));
                }
                let code = match found.of {
                    Of::DotProduct => self.operand(other, from, found.of)?,
                    _ => self.code(self.unit.expr(other).span, from)?,
                };
                Some((other, code))
            }
            None => None,
        };
        self.check_types(found, target, array, second.as_ref().map(|(other, _)| *other))?;
        self.check_names(found, call)?;
        Ok(lines(found.of, target, code, second.map(|(_, code)| code)))
    }

    /// The code of an operand.
    fn operand(&self, expr: ExprId, from: usize, of: Of) -> Result<Vec<Piece>, Refusal> {
        let span = self.unit.expr(expr).span;
        let code = self.code(span, from)?;
        let binds = match &self.unit.expr(expr).kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Call { .. } => true,
            ExprKind::Binary(BinaryOp::Multiply | BinaryOp::Divide, ..) => of == Of::Sum,
            _ => false,
        };
        let is_alone = matches!(of, Of::Maximum | Of::Minimum | Of::Count);
        if binds || is_alone {
            return Ok(code);
        }
        let around = |text: &str| Piece::Text(text.to_owned());
        Ok(std::iter::once(around("(")).chain(code).chain([around(")")]).collect())
    }

    fn check_types(
        &self,
        found: &Found,
        target: &Target,
        array: ExprId,
        other: Option<ExprId>,
    ) -> Result<(), Refusal> {
        let texts = Texts { file: self.file, unit: self.unit };
        let typed = |expr: ExprId| number_of(texts, self.symbols, expr);
        let refused = |at: ExprId, why: String| Err(Refusal::new(self.unit.expr(at).span, why));
        let unseen = |at| refused(at, "its type is not seen".to_owned());
        let Some(own) = typed(array) else { return unseen(array) };
        let is_logical = matches!(found.of, Of::Count | Of::Any | Of::All);
        let value = match found.of {
            Of::Count => Number::new(Word::Integer, Kind::Default),
            _ => own.clone(),
        };
        if is_logical != (own.word == Word::Logical) {
            return refused(array, "it is of a type that this is not done with".to_owned());
        }
        if let Some(other) = other {
            let wanted = match found.of {
                Of::DotProduct => typed(other).is_some_and(|other| other == own),
                _ => typed(other).is_some_and(|other| other.word == Word::Logical),
            };
            if !wanted {
                return refused(other, "it is a dimension, or of another type".to_owned());
            }
        }
        if value != target.number {
            return refused(found.call, format!("the type of `{}` is another one, or may be", target.name));
        }
        let is_ordered = matches!(value.word, Word::Integer | Word::Real);
        if matches!(found.of, Of::Maximum | Of::Minimum) && !is_ordered {
            return refused(array, "it is of a type that this is not done with".to_owned());
        }
        Ok(())
    }

    /// Whether the functions that the loops use mean what they do in Fortran.
    fn check_names(&self, found: &Found, call: Span) -> Result<(), Refusal> {
        let used: &[&str] = match found.of {
            Of::Maximum => &["max", "huge"],
            Of::Minimum => &["min", "huge"],
            Of::DotProduct => &["conjg"],
            Of::Sum | Of::Product | Of::Count | Of::Any | Of::All => &[],
        };
        match used.iter().find(|name| self.symbols.lookup(name, call.start).is_some()) {
            Some(name) => Err(Refusal::new(call, format!("`{name}` means something else here"))),
            None => Ok(()),
        }
    }

    /// Whether the value is combined with that of the variable, as each element is: `s = s + sum(a)`.
    fn goes_on(&self, right: ExprId, found: &Found, target: &Target) -> bool {
        let is_own = |expr: ExprId| self.symbols.named(self.unit, expr) == Some(target.variable);
        let is_pair =
            |one: ExprId, two: ExprId| is_own(one) && two == found.call || one == found.call && is_own(two);
        match (&self.unit.expr(right).kind, found.of.how()) {
            (ExprKind::Binary(BinaryOp::Add, one, two), ReductionOp::Add)
            | (ExprKind::Binary(BinaryOp::Multiply, one, two), ReductionOp::Multiply)
            | (ExprKind::Binary(BinaryOp::Or, one, two), ReductionOp::Or)
            | (ExprKind::Binary(BinaryOp::And, one, two), ReductionOp::And) => is_pair(*one, *two),
            (ExprKind::Call { .. }, how) => match self.intrinsic(right) {
                Some(("max", [one, two])) => how == ReductionOp::Max && is_pair(*one, *two),
                Some(("min", [one, two])) => how == ReductionOp::Min && is_pair(*one, *two),
                _ => false,
            },
            _ => false,
        }
    }

    /// The statement with the variable in place of the call.
    fn last(&mut self, whole: Span, right: ExprId, found: &Found, target: &Target) -> Result<Last, Refusal> {
        let call = self.unit.expr(found.call).span;
        let text = self.file.text(whole);
        if text.contains('\n') && text.contains(['\'', '"', '#']) {
            return Err(Refusal::new(whole, "it goes on in another line"));
        }
        let mut reads = Some(Vec::new());
        let mut pending = vec![right];
        while let Some(expr) = pending.pop() {
            let span = self.unit.expr(expr).span;
            match &self.unit.expr(expr).kind {
                _ if expr == found.call => {}
                ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                    let symbol = self.symbols.named(self.unit, expr);
                    if self.names(expr, target.variable) {
                        let why = format!("`{}` is read in what it is assigned", target.name);
                        return Err(Refusal::new(span, why));
                    }
                    if self.rank(expr)? > 0 {
                        return Err(Refusal::new(span, "it is an array"));
                    }
                    reads = reads.zip(symbol).map(|(reads, symbol)| [reads, vec![symbol]].concat());
                }
                ExprKind::Int(_) | ExprKind::Literal => {}
                kind @ (ExprKind::Unary(..) | ExprKind::Binary(..)) => pending.extend(kind.children()),
                _ => match self.intrinsic(expr) {
                    Some((name, args)) => match elemental::intrinsic(name, args.len()) {
                        Function::Elemental => pending.extend(args),
                        // It asks the host's array what is the same on the device.
                        Function::Inquiry => {}
                        Function::Transformational | Function::Unknown => {
                            return Err(Refusal::new(span, "it is not understood"));
                        }
                    },
                    None => return Err(Refusal::new(span, "it is not understood")),
                },
            }
        }
        let texts = Texts { file: self.file, unit: self.unit };
        let part = |start: u32, end: u32| {
            let span = Span { start, end };
            spaced(self.file, span, texts.code(span))
        };
        let (before, after) = (part(whole.start, call.start), part(call.end, whole.end));
        Ok(Last { code: format!("{before}{}{after}", target.name), reads })
    }

    /// Whether an expression names a variable.
    fn names(&self, expr: ExprId, variable: SymbolId) -> bool {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            if self.symbols.named(self.unit, expr) == Some(variable) {
                return true;
            }
            pending.extend(self.unit.expr(expr).kind.children());
        }
        false
    }
}

/// What is done for each element.
fn lines(of: Of, target: &Target, code: Vec<Piece>, second: Option<Vec<Piece>>) -> Vec<Line> {
    let text = |text: String| vec![Piece::Text(text)];
    let name = &target.name;
    let (mask, value) = match of {
        Of::Count => (Some(code), text("1".to_owned())),
        Of::DotProduct => {
            let (before, after) = match target.number.word {
                Word::Complex => ("conjg(", ") * "),
                Word::Logical | Word::Integer | Word::Real => ("", " * "),
            };
            let parts = [text(before.to_owned()), code, text(after.to_owned()), second.unwrap_or_default()];
            (None, parts.concat())
        }
        Of::Sum | Of::Product | Of::Maximum | Of::Minimum | Of::Any | Of::All => (second, code),
    };
    let assigned = match of.how() {
        ReductionOp::Max => [text(format!("{name} = max({name}, ")), value, text(")".to_owned())].concat(),
        ReductionOp::Min => [text(format!("{name} = min({name}, ")), value, text(")".to_owned())].concat(),
        ReductionOp::Multiply => [text(format!("{name} = {name} * ")), value].concat(),
        ReductionOp::Or => [text(format!("{name} = {name} .or. ")), value].concat(),
        ReductionOp::And => [text(format!("{name} = {name} .and. ")), value].concat(),
        _ => [text(format!("{name} = {name} + ")), value].concat(),
    };
    let assigned = Line { kind: LineKind::Assignment, code: assigned };
    match mask {
        Some(mask) => {
            let end = Line { kind: LineKind::EndIf, code: Vec::new() };
            vec![Line { kind: LineKind::If, code: mask }, assigned, end]
        }
        None => vec![assigned],
    }
}
