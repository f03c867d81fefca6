//! Fortran's array assignments and `where`: what they do to each element, if the order of the elements does not matter.
//!
//! Invariant: what is called elementwise gives the same values in any order; in doubt there is a refusal with its reason.

use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::scan;
use crate::source::{SourceFile, Span};

use super::components;
use super::designator::{Designator, designator};
use super::elemental::{self, Kind};
use super::flow::uses;
use super::reduction::Reduction;
use super::refusal::{Refusal, Why};
use super::subscript::{Range, Subscript};
use super::symbol::{SymbolId, SymbolKind};
use super::symbols::Symbols;
use super::texts::{Texts, spaced};

/// A statement about arrays, element by element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elementwise {
    /// The ranges of the first array that is assigned, one for each dimension that is run through.
    pub ranges: Vec<Range>,
    /// What is done for each element.
    pub lines: Vec<Line>,
    /// The variable that all elements go into, if it is one value that they make.
    pub reduction: Option<Reduction>,
}

/// A line of what is done for each element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// Its code: the assignment, or the mask.
    pub code: Vec<Piece>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// An assignment.
    Assignment,
    /// The mask of a `where`.
    If,
    /// The mask of an `elsewhere`.
    ElseIf,
    /// `elsewhere` without a mask.
    Else,
    /// The end of a `where`.
    EndIf,
}

/// A piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As the program has it.
    Text(String),
    /// An array: its elements are run through.
    Array {
        /// What stands before the subscripts.
        name: String,
        /// The subscripts of all dimensions.
        subscripts: Vec<Subscript>,
    },
}

/// Reads statement `stmt`. `None` if it is not an assignment to an array, no `where`, and none that makes one value of an array.
pub fn elementwise(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    stmt: StmtId,
) -> Option<Result<Elementwise, Refusal>> {
    if !unit.is_fortran() {
        return None;
    }
    let (named, hidden, lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = Reader { file, unit, symbols, named, hidden, ranges: None, lines };
    let span = unit.stmt(stmt).span;
    if let Some(at) = unit.expr_ids_in(span).find(|expr| symbols.runs_operator(unit, *expr)) {
        let is_meant = is_about_arrays(file, unit, symbols, stmt);
        let refusal =
            Refusal::new(unit.expr(at).span, "it is an array constructor or an operator of the program");
        return is_meant.then_some(Err(refusal));
    }
    let read = match is_about_arrays(file, unit, symbols, stmt) {
        true => reader.stmt(stmt).map(|()| None),
        false => reader.reduction(stmt)?.map(Some),
    };
    let read = read.and_then(|reduction| reader.check_order().map(|()| reduction));
    Some(read.and_then(|reduction| match reader.ranges {
        Some(ranges) => Ok(Elementwise { ranges, lines: reader.lines, reduction }),
        None => Err(Refusal::new(unit.stmt(stmt).span, "nothing is assigned in it")),
    }))
}

fn is_about_arrays(file: &SourceFile, unit: &Unit, symbols: &Symbols, stmt: StmtId) -> bool {
    match &unit.stmt(stmt).kind {
        StmtKind::Expr(expr) => match &unit.expr(*expr).kind {
            ExprKind::Assign(None, left, right) => {
                let is_pointer = matches!(unit.expr(*right).kind, ExprKind::AddressOf(_));
                let left = designator(Texts { file, unit }, symbols, *left);
                !is_pointer && left.is_some_and(|left| left.is_ok_and(|left| left.rank() > 0))
            }
            _ => false,
        },
        StmtKind::If { .. } => is_where(file, unit, stmt),
        _ => false,
    }
}

/// Whether an `If` is a `where`.
fn is_where(file: &SourceFile, unit: &Unit, stmt: StmtId) -> bool {
    let text = file.text(unit.stmt(stmt).span);
    let head = text.split('(').next().unwrap_or_default();
    // The construct may have a name.
    let word = head.rsplit(':').next().unwrap_or_default().trim();
    word.eq_ignore_ascii_case("where")
}

pub(super) struct Reader<'a> {
    pub(super) file: &'a SourceFile,
    pub(super) unit: &'a Unit,
    pub(super) symbols: &'a Symbols,
    /// All that is named, and whether it is assigned.
    pub(super) named: Vec<(Designator, bool)>,
    /// What the functions that it calls name, and where they are called.
    hidden: Vec<(SymbolId, Span)>,
    pub(super) ranges: Option<Vec<Range>>,
    pub(super) lines: Vec<Line>,
}

impl Reader<'_> {
    fn stmt(&mut self, stmt: StmtId) -> Result<(), Refusal> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.stmt_here(stmt))
    }

    fn stmt_here(&mut self, stmt: StmtId) -> Result<(), Refusal> {
        let span = self.unit.stmt(stmt).span;
        match &self.unit.stmt(stmt).kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(list) => list.iter().try_for_each(|inner| self.stmt(*inner)),
            StmtKind::If { cond, then, other } if is_where(self.file, self.unit, stmt) => {
                self.choice(LineKind::If, *cond, *then, *other)
            }
            StmtKind::Expr(expr) => match &self.unit.expr(*expr).kind {
                ExprKind::Assign(None, left, right) => self.assignment(span, *left, *right),
                _ => Err(Refusal::new(span, "this is not an assignment")),
            },
            _ => Err(Refusal::new(span, "this is not an assignment")),
        }
    }

    fn choice(
        &mut self,
        kind: LineKind,
        cond: ExprId,
        then: StmtId,
        other: Option<StmtId>,
    ) -> Result<(), Refusal> {
        let span = self.unit.expr(cond).span;
        let from = self.named.len();
        if self.rank(cond)? == 0 {
            return Err(Refusal::new(span, "the shape of the mask is not seen"));
        }
        self.line(kind, span, from)?;
        self.stmt(then)?;
        match other.map(|other| (other, &self.unit.stmt(other).kind)) {
            // A further mask; a `where` in the last branch stands in a block.
            Some((_, StmtKind::If { cond, then, other })) => {
                return self.choice(LineKind::ElseIf, *cond, *then, *other);
            }
            Some((block, _)) => {
                self.lines.push(Line { kind: LineKind::Else, code: Vec::new() });
                self.stmt(block)?;
            }
            None => {}
        }
        self.lines.push(Line { kind: LineKind::EndIf, code: Vec::new() });
        Ok(())
    }

    fn assignment(&mut self, span: Span, left: ExprId, right: ExprId) -> Result<(), Refusal> {
        let from = self.named.len();
        let rank = self.rank(left)?;
        let value = self.rank(right)?;
        let at = self.unit.expr(left).span;
        let Some((assigned, is_assigned)) =
            self.named.iter_mut().skip(from).find(|(named, _)| named.whole == at).filter(|_| rank > 0)
        else {
            return Err(Refusal::new(at, "it is not seen to be an array"));
        };
        *is_assigned = true;
        if value > 0 && value != rank {
            return Err(Refusal::new(self.unit.expr(right).span, "it has another rank"));
        }
        let ranges = assigned.ranges();
        if self.ranges.get_or_insert(ranges).len() != rank {
            return Err(Refusal::new(at, "it has another rank"));
        }
        self.line(LineKind::Assignment, span, from)
    }

    /// Adds the line of `span`, with what was named in it since `from`.
    fn line(&mut self, kind: LineKind, span: Span, from: usize) -> Result<(), Refusal> {
        let code = self.code(span, from)?;
        self.lines.push(Line { kind, code });
        Ok(())
    }

    /// The code of `span`, with what was named in it since `from`.
    pub(super) fn code(&self, span: Span, from: usize) -> Result<Vec<Piece>, Refusal> {
        let texts = Texts { file: self.file, unit: self.unit };
        if self.file.text(span).lines().any(|line| line.starts_with('#')) {
            return Err(Refusal::new(span, "a line of the preprocessor stands in it"));
        }
        if texts.code(span).contains(char::REPLACEMENT_CHARACTER) {
            return Err(Refusal::new(span, "it is not written in UTF-8"));
        }
        let mut arrays: Vec<&Designator> =
            self.named.iter().skip(from).map(|(named, _)| named).filter(|named| named.rank() > 0).collect();
        arrays.sort_by_key(|array| array.part.start);
        let mut code = Vec::new();
        let mut at = span.start;
        for array in arrays {
            let before = Span { start: at, end: array.part.start };
            code.push(Piece::Text(spaced(self.file, before, texts.code(before))));
            code.push(Piece::Array { name: array.name.clone(), subscripts: array.subscripts.clone() });
            at = array.part.end;
        }
        let rest = Span { start: at, end: span.end };
        code.push(Piece::Text(spaced(self.file, rest, texts.code(rest))));
        Ok(code)
    }

    /// The rank of an expression; all that it names is noted.
    pub(super) fn rank(&mut self, expr: ExprId) -> Result<usize, Refusal> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.rank_here(expr))
    }

    fn rank_here(&mut self, expr: ExprId) -> Result<usize, Refusal> {
        let span = self.unit.expr(expr).span;
        match &self.unit.expr(expr).kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => self.named(expr),
            ExprKind::Int(_) => Ok(0),
            ExprKind::Literal if self.file.slice(span).contains(&b'\n') => {
                Err(Refusal::new(span, "it goes on in another line"))
            }
            ExprKind::Literal => Ok(0),
            ExprKind::Unary(_, operand) => self.rank(*operand),
            ExprKind::Binary(_, left, right) => self.common(span, &[*left, *right]),
            ExprKind::Conditional(cond, then, other) => self.common(span, &[*cond, *then, *other]),
            ExprKind::Initialiser(parts) => self.listed(span, parts),
            ExprKind::Call { callee, args } => self.call(span, *callee, args),
            _ => Err(Refusal::new(span, "it is not understood")),
        }
    }

    /// The rank of what an elementwise operation makes of its operands.
    fn common(&mut self, span: Span, operands: &[ExprId]) -> Result<usize, Refusal> {
        let mut rank = 0;
        for operand in operands {
            let own = self.rank(*operand)?;
            if own > 0 && rank > 0 && own != rank {
                return Err(Refusal::new(span, "its operands have different ranks"));
            }
            rank = rank.max(own);
        }
        Ok(rank)
    }

    /// A power, a concatenation, or a complex number of constants.
    fn listed(&mut self, span: Span, parts: &[ExprId]) -> Result<usize, Refusal> {
        if let [left, right] = parts {
            let [first, second] = [left, right].map(|part| self.unit.expr(*part).span);
            let texts = Texts { file: self.file, unit: self.unit };
            let between = texts.code(Span { start: first.end.min(second.start), end: second.start });
            let operator = between.trim_matches([' ', '\t', '(', ')']);
            if matches!(operator, "**" | "//") {
                return self.common(span, &[*left, *right]);
            }
            let is_constructor = self.file.text(span).starts_with(['[', '/']);
            if operator == "," && !is_constructor && self.common(span, &[*left, *right])? == 0 {
                return Ok(0);
            }
        }
        Err(Refusal::new(span, "it is an array constructor or an operator of the program"))
    }

    fn named(&mut self, expr: ExprId) -> Result<usize, Refusal> {
        let texts = Texts { file: self.file, unit: self.unit };
        let span = self.unit.expr(expr).span;
        let Some(read) = designator(texts, self.symbols, expr) else {
            return Err(Refusal::new(span, "it is not understood"));
        };
        let read = read?;
        let rank = read.rank();
        let inside = read.inside.clone();
        self.named.push((read, false));
        for subscript in inside {
            if self.rank(subscript)? > 0 {
                return Err(Refusal::new(self.unit.expr(subscript).span, "it is a vector subscript"));
            }
        }
        Ok(rank)
    }

    fn call(&mut self, span: Span, callee: ExprId, args: &[ExprId]) -> Result<usize, Refusal> {
        let ExprKind::Name(name) = &self.unit.expr(callee).kind else {
            return Err(Refusal::new(span, "it is a function of an object"));
        };
        let body = elemental::body(self.unit, name);
        if let Some(body) = body.filter(|_| self.symbols.lookup(name, span.start).is_some()) {
            let used = uses(self.unit, self.symbols, body);
            self.hidden.extend(used.iter().map(|(symbol, _)| (symbol, span)));
        }
        match self.kind(name, self.unit.expr(callee).span.start, args.len()) {
            Kind::Elemental => {
                let values = elemental::values(name).unwrap_or(args.len());
                self.common(span, args.get(..values).unwrap_or(args))
            }
            Kind::Inquiry => Ok(0),
            Kind::Transformational => Err(Refusal::new(span, format!("`{name}` is about a whole array"))),
            Kind::Unknown => {
                Err(Refusal::new(span, format!("`{name}` is not known to be an elemental function")))
            }
        }
    }

    fn kind(&self, name: &str, at: u32, args: usize) -> Kind {
        match self.symbols.lookup(name, at).map(|symbol| self.symbols.get(symbol)) {
            None => elemental::intrinsic(name, args),
            Some(symbol) if symbol.kind == SymbolKind::Function => elemental::procedure(self.unit, name),
            Some(_) => Kind::Unknown,
        }
    }

    /// Whether no element is read or assigned where another one of an assigned array is.
    fn check_order(&self) -> Result<(), Refusal> {
        for (assigned, _) in self.named.iter().filter(|(_, is_assigned)| *is_assigned) {
            if let Some((_, at)) = self.hidden.iter().find(|(symbol, _)| *symbol == assigned.root) {
                return Err(Refusal { at: *at, why: Why::Overlap(assigned.spelling()) });
            }
            let is_other =
                |other: &&(Designator, bool)| other.0.root != assigned.root && self.has_equivalence(&other.0);
            if let Some((other, _)) =
                self.named.iter().find(is_other).filter(|_| self.has_equivalence(assigned))
            {
                let (one, two) = (assigned.spelling(), other.spelling());
                return Err(Refusal { at: other.whole, why: Why::Alias(one, two) });
            }
            for (other, _) in &self.named {
                if other.is_apart(assigned) {
                    if !other.is_sibling(assigned) && other.may_alias(assigned)
                        || other.root != assigned.root && self.is_one_variable(other.root, assigned.root)
                    {
                        let (one, two) = (assigned.spelling(), other.spelling());
                        return Err(Refusal { at: other.whole, why: Why::Alias(one, two) });
                    }
                } else if other.key != assigned.key {
                    return Err(Refusal { at: other.whole, why: Why::Overlap(other.spelling()) });
                }
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Whether two names are for one variable, or for parts of it, by `associate`.
    fn is_one_variable(&self, one: SymbolId, other: SymbolId) -> bool {
        let whole = |symbol| components::lent_from(self.unit, self.symbols, symbol);
        whole(one) == whole(other)
    }

    /// Whether variables may share memory by name in the scoping unit around.
    fn has_equivalence(&self, assigned: &Designator) -> bool {
        let name = &self.symbols.get(assigned.root).name;
        let mut scopes = self.unit.scopes.iter().filter(|scope| scope.span.contains(assigned.whole));
        scopes.any(|scope| {
            let (mut is_inside, mut goes_on) = (false, false);
            scan::fortran_shapes(self.file, scope.specification).iter().any(|shape| {
                let Some(words) = shape.words.map(|words| self.file.text(words)) else { return false };
                if !goes_on && !shape.is_continuation {
                    is_inside = words.get(..11).is_some_and(|word| word.eq_ignore_ascii_case("equivalence"));
                }
                goes_on = shape.ampersand.is_some();
                let mut names = words.split(|char: char| !char.is_alphanumeric() && char != '_');
                is_inside && names.any(|word| word.eq_ignore_ascii_case(name))
            })
        })
    }
}
