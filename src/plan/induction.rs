//! Inductions written out: statements that compute a variable from the loop variables, in the words of the source.
//!
//! Invariant: a statement gives the variable the value that it would have there if the loops ran in their order, and it names
//! nothing that means something else where it stands.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind, UnaryOp};
use crate::sema::{self, Amount, Facts, Header, Induction, SymbolId};
use crate::source::Span;

use super::words::{Level, Words};

/// A loop whose inductions can be computed from the loop variables.
#[derive(Clone, Debug)]
pub struct Closed {
    /// The loop.
    pub span: Span,
    /// What is marked where the loop is reported: its directive, or its first line.
    pub reported_at: Span,
    /// From the assignments that give the variables their start values.
    pub from: Span,
    /// The variables.
    pub names: Vec<String>,
    /// The bodies that the values are computed in.
    pub bodies: Vec<Put>,
    /// The statements that give the variables their last values.
    pub last: Vec<Last>,
}

/// Statements after a loop, or after its construct.
#[derive(Clone, Debug)]
pub struct Last {
    /// After what they stand.
    pub after: u32,
    /// What they are indented like.
    pub like: Span,
    /// The statements.
    pub lines: Vec<String>,
}

impl Closed {
    /// The statements that begin iterations.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().flat_map(|put| put.lines.iter().map(String::as_str))
    }
}

/// Statements at the beginning of a loop's body.
#[derive(Clone, Debug)]
pub struct Put {
    /// The loop.
    pub around: Span,
    /// Its body.
    pub span: Span,
    /// After what they stand: the loop's first line or brace, or declarations.
    pub after: u32,
    /// Where the first statement after them begins.
    pub first: u32,
    /// A directive stands between.
    pub has_directive: bool,
    /// The statements.
    pub lines: Vec<String>,
}

/// Writes expressions about the loops of inductions.
struct Writer<'w, 'a> {
    facts: &'w Facts<'a>,
    /// Where the words will stand.
    here: u32,
}

impl Writer<'_, '_> {
    fn words(&self, expr: ExprId) -> Option<Words> {
        let facts = self.facts;
        self.is_visible(expr).then_some(())?;
        let text = facts.file.text(facts.unit.expr(expr).span).into_owned();
        Some(match &facts.unit.expr(expr).kind {
            ExprKind::Int(value) => match i64::try_from(*value) {
                Ok(number) if text == number.to_string() => Words::number(number),
                _ => Words::of(text, Level::Whole),
            },
            ExprKind::Unary(UnaryOp::Minus, inner) => match facts.unit.expr(*inner).kind {
                ExprKind::Int(value) if value < i128::from(u32::MAX) => Words::number(-(value as i64)),
                _ => Words::of(format!("({text})"), Level::Whole),
            },
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), left, right)
                if matches!(facts.unit.expr(*right).kind, ExprKind::Int(_)) =>
            {
                let (left, right) = (self.words(*left)?, self.words(*right)?);
                match op {
                    BinaryOp::Add => left.plus(&right)?,
                    _ => left.minus(&right)?,
                }
            }
            ExprKind::Binary(BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder, ..) => {
                Words::of(text, Level::Product)
            }
            ExprKind::Name(_) => Words::of(text, Level::Whole),
            _ => Words::of(text, Level::Sum),
        })
    }

    /// Whether the names in an expression mean the same where the words will stand.
    fn is_visible(&self, expr: ExprId) -> bool {
        let facts = self.facts;
        let (unit, symbols) = (facts.unit, facts.symbols);
        match &unit.expr(expr).kind {
            ExprKind::Name(name) => symbols.lookup(name, self.here) == symbols.named(unit, expr),
            kind => kind.children().all(|child| self.is_visible(child)),
        }
    }

    /// Whether a variable has its name where the words will stand.
    fn is_seen(&self, symbol: SymbolId) -> bool {
        self.facts.symbols.lookup(&self.facts.symbols.get(symbol).name, self.here) == Some(symbol)
    }

    fn header(&self, stmt: StmtId) -> Option<(Header, i64)> {
        let header = sema::header(self.facts.unit, self.facts.symbols, stmt).ok()?;
        let step = sema::fixed_step(self.facts, &header)?;
        Some((header, step))
    }

    /// The number of the iteration of a loop, from 0.
    fn counted(&self, stmt: StmtId) -> Option<Words> {
        let (header, step) = self.header(stmt)?;
        self.is_seen(header.var).then_some(())?;
        let var = Words::of(self.spelled(header.var), Level::Whole);
        let first = self.words(header.first)?;
        let past = if step > 0 { var.minus(&first)? } else { first.minus(&var)? };
        Some(past.over(step.checked_abs()?))
    }

    /// The trip count of a loop; with `is_sure`, it is known to have an iteration.
    fn trips(&self, stmt: StmtId, is_sure: bool) -> Option<Words> {
        let (header, step) = self.header(stmt)?;
        let (first, bound) = (self.words(header.first)?, self.words(header.bound)?);
        let is_inclusive = matches!(header.compare, BinaryOp::LessEqual | BinaryOp::GreaterEqual);
        let length = if step > 0 { bound.minus(&first)? } else { first.minus(&bound)? };
        let size = step.checked_abs()?;
        let more = if is_inclusive { size } else { size.checked_sub(1)? };
        let trips = length.plus(&Words::number(more))?;
        if let Some(number) = trips.known() {
            return Some(Words::number(number.max(0) / size));
        }
        let trips = trips.over(size);
        let constant = |expr| self.facts.constant(expr);
        let known = constant(header.first).zip(constant(header.bound));
        let known = known.and_then(|(first, bound)| {
            let length = if step > 0 { bound.checked_sub(first)? } else { first.checked_sub(bound)? };
            length.checked_add(i64::from(is_inclusive))
        });
        match known {
            Some(length) if length <= 0 => return Some(Words::number(0)),
            Some(_) => return Some(trips),
            None if is_sure => return Some(trips),
            None => {}
        }
        if self.facts.unit.is_fortran() {
            return Some(Words::of(format!("max({}, 0)", trips.whole().0), Level::Whole));
        }
        if header.compare == BinaryOp::NotEqual {
            return Some(trips);
        }
        self.is_comparable(&header).then_some(())?;
        let (low, high) = if step > 0 { (&first, &bound) } else { (&bound, &first) };
        let sign = if is_inclusive { ">=" } else { ">" };
        let [high, low, trips] = [high, low, &trips].map(|words| words.whole().0);
        Some(Words::of(format!("({high} {sign} {low} ? {trips} : 0)"), Level::Whole))
    }

    /// Whether the first value and the bound compare as the loop variable and the bound do.
    fn is_comparable(&self, header: &Header) -> bool {
        let facts = self.facts;
        let mut names = vec![header.var];
        names.extend(sema::reads_of_expr(facts.unit, facts.symbols, header.first));
        names.extend(sema::reads_of_expr(facts.unit, facts.symbols, header.bound));
        let is_constant = |symbol: &SymbolId| facts.symbols.get(*symbol).kind == sema::SymbolKind::Constant;
        let is_signed = |symbol: &SymbolId| {
            is_constant(symbol) || sema::integer(facts, *symbol).is_some_and(|kind| kind.is_signed)
        };
        let from_zero = matches!(facts.unit.expr(header.first).kind, ExprKind::Int(_))
            && matches!(header.compare, BinaryOp::Less | BinaryOp::LessEqual)
            && matches!(facts.unit.expr(header.bound).kind, ExprKind::Int(_) | ExprKind::Name(_));
        from_zero || names.iter().all(is_signed)
    }

    /// What an iteration adds, or takes away: the size, and whether it is taken away.
    fn amount(&self, amount: Amount) -> Option<(Words, bool)> {
        Some(match amount {
            Amount::Number(number) => (Words::number(number.checked_abs()?), number < 0),
            Amount::Value(expr, is_taken) => match self.words(expr)? {
                Words { text: None, number } => {
                    (Words::number(number.checked_abs()?), is_taken != (number < 0))
                }
                words => (words, is_taken),
            },
        })
    }

    /// The name of a variable as the source spells it.
    fn spelled(&self, symbol: SymbolId) -> String {
        self.facts.symbols.get(symbol).spelled(self.facts.file)
    }

    fn statement(&self, symbol: SymbolId, value: &Words) -> String {
        let end = if self.facts.unit.is_fortran() { "" } else { ";" };
        format!("{} = {}{end}", self.spelled(symbol), value.whole().0)
    }

    /// The value at the beginning of an iteration of the loop at this level.
    fn value(&self, induction: &Induction, level: usize) -> Option<String> {
        self.is_seen(induction.symbol).then_some(())?;
        if let Some(value) = self.in_step(induction) {
            return Some(self.statement(induction.symbol, &value));
        }
        let mut count = Words::number(0);
        for (at, one) in induction.loops.iter().enumerate() {
            if at > 0 {
                count = count.times(&self.trips(one.stmt, at <= level)?)?;
            }
            if at <= level {
                let counted = self.counted(one.stmt)?;
                let counted = if at == 0 { self.widened(induction, counted)? } else { counted };
                count = count.plus(&counted)?;
            }
        }
        let value = joined(&self.words(induction.start)?, &count, self.amount(induction.amount)?)?;
        Some(self.statement(induction.symbol, &value))
    }

    /// The loop variable and a number, if the variable goes with it.
    fn in_step(&self, induction: &Induction) -> Option<Words> {
        let ([only], Amount::Number(amount)) = (induction.loops.as_slice(), induction.amount) else {
            return None;
        };
        let (header, step) = self.header(only.stmt)?;
        let (start, first) = (self.words(induction.start)?, self.words(header.first)?);
        (step == amount && start.text == first.text).then_some(())?;
        self.counted(only.stmt)?;
        let past = start.number.checked_sub(first.number)?;
        // A wider variable may hold what the loop variable cannot.
        let is_wide = sema::integer(self.facts, induction.symbol)?.bits == 64;
        (past == 0 || !is_wide || self.facts.unit.is_fortran()).then_some(())?;
        Words::of(self.spelled(header.var), Level::Whole).plus(&Words::number(past))
    }

    /// The value after the loop.
    fn last(&self, induction: &Induction) -> Option<String> {
        self.is_seen(induction.symbol).then_some(())?;
        let mut trips = Words::number(1);
        for (at, one) in induction.loops.iter().enumerate() {
            let count = self.trips(one.stmt, false)?;
            let count = if at == 0 { self.widened(induction, count)? } else { count };
            trips = trips.times(&count)?;
        }
        let value = joined(&self.words(induction.start)?, &trips, self.amount(induction.amount)?)?;
        // Parentheses around all of it say nothing.
        let text = value.whole().0;
        let bare = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let bare = bare.filter(|bare| !bare.contains(['(', ')']));
        let value = bare.map_or(value.clone(), |bare| Words::of(bare.to_owned(), Level::Sum));
        Some(self.statement(induction.symbol, &value))
    }

    /// A count in the type of the variable, where that is wider than `int` and products might not fit.
    fn widened(&self, induction: &Induction, count: Words) -> Option<Words> {
        let facts = self.facts;
        let is_wide = sema::integer(facts, induction.symbol)?.bits == 64 && !facts.unit.is_fortran();
        let from_zero = self.words(induction.start)? == Words::number(0);
        let is_one =
            from_zero && matches!(induction.amount, Amount::Number(1 | -1)) && induction.loops.len() == 1;
        if !is_wide || count.known().is_some() || is_one {
            return Some(count);
        }
        let (header, _) = self.header(induction.loops.first()?.stmt)?;
        if sema::integer(facts, header.var)?.bits == 64 {
            return Some(count);
        }
        let decl = facts.decl(induction.symbol)?;
        let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start }).into_owned();
        let is_word = |word: &&str| !matches!(*word, "const" | "register" | "auto" | "static");
        let words: Vec<&str> = text.split_whitespace().filter(is_word).collect();
        let is_plain =
            words.iter().all(|word| word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':'));
        is_plain.then(|| Words::of(format!("({}){}", words.join(" "), count.at(Level::Whole)), Level::Whole))
    }
}

/// `start + count * amount`
fn joined(start: &Words, count: &Words, (amount, is_taken): (Words, bool)) -> Option<Words> {
    let sum = count.times(&amount)?;
    if is_taken { start.minus(&sum) } else { start.plus(&sum) }
}

impl Closed {
    /// Nothing is written out of the loop at `span` yet, which is reported at `reported_at`.
    pub(super) fn new(span: Span, reported_at: Span) -> Closed {
        Closed { span, reported_at, from: span, names: Vec::new(), bodies: Vec::new(), last: Vec::new() }
    }

    /// Writes the inductions of a loop out: in the bodies that name them, and after the code that ends at `after`, indented
    /// like the second part of it.
    pub(super) fn add(&mut self, facts: &Facts, found: &[Induction], after: (u32, Span)) -> Option<()> {
        for one in found {
            for (level, at) in one.loops.iter().enumerate().filter(|(_, at)| at.is_named) {
                let put = put(facts, at.stmt, found)?;
                let line = Writer { facts, here: put.first }.value(one, level)?;
                match self.bodies.iter_mut().find(|known| known.span == put.span) {
                    Some(known) => known.lines.push(line),
                    None => self.bodies.push(Put { lines: vec![line], ..put }),
                }
            }
            self.from = self.from.to(one.started);
            self.names.push(facts.symbols.get(one.symbol).name.clone());
        }
        let writer = Writer { facts, here: after.0 };
        let wanted = found.iter().filter(|one| one.is_wanted);
        let lines = wanted.map(|one| writer.last(one)).collect::<Option<Vec<_>>>()?;
        if !lines.is_empty() {
            let (after, like) = after;
            self.last.push(Last { after, like, lines });
        }
        Some(())
    }
}

/// Where statements begin the body of a loop: after declarations that name none of the variables.
fn put(facts: &Facts, stmt: StmtId, found: &[Induction]) -> Option<Put> {
    let unit = facts.unit;
    let head = sema::header(unit, facts.symbols, stmt).ok()?;
    let body = head.body;
    let (around, span) = (unit.stmt(stmt).span, unit.stmt(body).span);
    let (mut after, mut first) = (span.start, span.start);
    if unit.is_fortran() {
        let parts = [Some(head.first), Some(head.bound), head.step].into_iter().flatten();
        after = parts.map(|part| unit.expr(part).span.end).max()?;
        let StmtKind::Block(list) = &unit.stmt(body).kind else { return None };
        first = unit.stmt(*list.first()?).span.start;
    } else if let StmtKind::Block(list) = &unit.stmt(body).kind {
        let is_before = |stmt: &&StmtId| {
            let used = sema::uses(unit, facts.symbols, **stmt);
            matches!(unit.stmt(**stmt).kind, StmtKind::Decl(_))
                && found.iter().all(|one| used.of(one.symbol).is_none())
        };
        let before = list.iter().take_while(is_before).count();
        let last = before.checked_sub(1).and_then(|last| list.get(last));
        after = last.map_or(span.start + 1, |last| unit.stmt(*last).span.end);
        first = unit.stmt(*list.get(before)?).span.start;
    }
    Some(Put { around, span, after, first, has_directive: false, lines: Vec::new() })
}
