//! Tiled loops as loops of their own (OpenACC 3.3, 2.9.8): loops over the tiles, and in each the loops over its elements.
//!
//! Invariant: every iteration is in one tile, and nothing that is computed for a tile overflows where the loop itself does not.

use crate::acc::ast::Expr;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId};
use crate::sema::{self, CNumber, Facts, Header, Integer, Rank};
use crate::source::Span;

use super::{Attribute, Input, Sharing, Spread, WorkLoop};

/// A loop that becomes two: one over tiles, one over the elements of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The loop variable.
    pub name: String,
    /// The variable of the loop over the tiles.
    pub tile: String,
    /// Where the first value stands, and its text.
    pub first: (Span, String),
    /// Where the bound stands, and its text.
    pub bound: (Span, String),
    /// How the variable is compared, standing on the left.
    pub compare: BinaryOp,
    /// The variable comes down to its bound.
    pub down: bool,
    /// What each iteration adds, or subtracts.
    pub step: i128,
    /// How many elements a tile has, and how the program calls this number.
    pub size: (i128, String),
    /// What counts the tiles.
    pub count: Count,
}

/// What the variable of a loop over tiles holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The first value of a tile, in an `int`: all of them are small constants.
    Small,
    /// The first value of a tile, in 64 bits, which hold it and the next one.
    First,
    /// The number of a tile from zero, in 64 bits: the value after the last tile would not fit. Whether it has a sign.
    Number(bool),
}

/// Constants up to here are small.
const SMALL: i128 = 1 << 30;

/// What a size `*` becomes: of the only loop; of the innermost one; of the others.
const STARS: [i128; 3] = [128, 32, 8];

impl Input<'_> {
    /// The loops of a nest as loops over tiles and elements, outermost first; `None` where they stay as they are.
    pub(super) fn strips(
        &self,
        at: usize,
        stmt: StmtId,
        headers: &[Header],
        sizes: &[Expr],
    ) -> Option<Vec<Strip>> {
        let body = self.unit.stmt(headers.last()?.body).span;
        let directive = self.bound[at].directive.span;
        let heads = Span { start: directive.end, end: body.start };
        // What the preprocessor may take away is not changed, nor what a macro writes.
        let is_plain = self.begins_line(stmt)
            && self.bound[at].text.is_some()
            && directive.end <= self.unit.stmt(stmt).span.start
            && !self.file.text(heads).contains('#')
            && !self.file.is_by_macro(heads)
            && headers.iter().all(|header| self.is_written(header));
        if !is_plain || self.unit.concurrent.iter().any(|one| heads.contains(self.unit.stmt(one.stmt).span)) {
            return None;
        }
        let facts = Facts::new(self.file, self.unit, self.symbols, &[], false);
        let rank = headers.len();
        let strip = |(level, header): (usize, &Header)| {
            let from_inside = rank - 1 - level;
            let star = STARS[if rank == 1 { 0 } else { 1 + usize::from(from_inside > 0) }];
            let size = (sizes.get(from_inside)?.text.as_str(), directive.start);
            self.strip(&facts, header, self.tile_size(size, star)?)
        };
        headers.iter().enumerate().map(strip).collect()
    }

    /// Whether the code of a loop's head stands in the file as it is read.
    fn is_written(&self, header: &Header) -> bool {
        let starts_name = |expr: ExprId, name: &str| self.file.text(self.unit.expr(expr).span).trim() == name;
        let is_name = |expr: ExprId| match &self.unit.expr(expr).kind {
            ExprKind::Name(name) => starts_name(expr, name),
            _ => !self.unit.expr(expr).span.is_empty(),
        };
        is_name(header.first) && is_name(header.bound)
    }

    /// The number of elements of a tile, and how it is written.
    fn tile_size(&self, (text, offset): (&str, u32), star: i128) -> Option<(i128, String)> {
        let text = text.trim();
        if text == "*" {
            return Some((star, star.to_string()));
        }
        let constant = || {
            let known = self.symbols.get(self.symbols.lookup(text, offset)?);
            self.value(self.unit.decl(known.decl.filter(|_| known.is_const)?).init?)
        };
        let constant = constant();
        let value = text.parse().ok().or_else(|| self.symbols.number(text)).or(constant)?;
        let is_number = |body: &str| body.trim().parse::<i128>().is_ok();
        let is_plain = constant.is_some() || self.symbols.body_of(text).is_some_and(is_number);
        let name = if is_plain { text.to_owned() } else { value.to_string() };
        (value > 0 && value < SMALL).then_some((value, name))
    }

    fn strip(&self, facts: &Facts, header: &Header, size: (i128, String)) -> Option<Strip> {
        let known = self.symbols.get(header.var);
        let step = header.step.map_or(Some(1), |step| self.value(step))?.abs();
        if step == 0
            || step >= SMALL
            || !(self.is_plain_value(header.first) && self.is_plain_value(header.bound))
        {
            return None;
        }
        let text = |expr: ExprId| {
            let span = self.unit.expr(expr).span;
            (span, self.file.text(span).trim().to_owned())
        };
        let compare = match header.compare {
            BinaryOp::NotEqual if header.counts_down() => BinaryOp::Greater,
            BinaryOp::NotEqual => BinaryOp::Less,
            other => other,
        };
        let mut strip = Strip {
            tile: self.unused_name(&format!("{}_tile", known.name)),
            name: known.name.clone(),
            first: text(header.first),
            bound: text(header.bound),
            compare,
            down: header.counts_down(),
            step,
            size,
            count: Count::First,
        };
        if self.unit.is_fortran() {
            sema::integer(facts, header.var)?;
            // The sign of the step says which way a loop of Fortran goes.
            let signed = header.step.map_or(Some(1), |step| self.value(step))?;
            strip.down = (signed < 0) != header.down;
            return Some(strip);
        }
        strip.count = self.count(facts, header)?;
        for (expr, text) in [(header.first, &mut strip.first.1), (header.bound, &mut strip.bound.1)] {
            if self.is_cast(facts, header, expr)? {
                *text = format!("(unsigned)({text})");
            }
        }
        Some(strip)
    }

    /// Whether evaluating an expression again gives the same and does nothing: there is no call in it.
    fn is_plain_value(&self, expr: ExprId) -> bool {
        let is_known = match &self.unit.expr(expr).kind {
            ExprKind::Int(_) | ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Sizeof => true,
            ExprKind::Unary(..) | ExprKind::Cast { .. } | ExprKind::Index(..) | ExprKind::Deref(_) => true,
            ExprKind::Binary(op, ..) => matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Subtract
                    | BinaryOp::Multiply
                    | BinaryOp::Divide
                    | BinaryOp::Remainder
            ),
            _ => false,
        };
        is_known && self.unit.expr(expr).kind.children().all(|child| self.is_plain_value(child))
    }

    /// Whether a constant in an expression is of a type of 64 bits: its sign may be a part of it.
    fn has_wide_constant(&self, expr: ExprId) -> bool {
        let is_wide = |value: i128| value.abs() > i128::from(u32::MAX);
        self.value(expr).is_some_and(is_wide)
            || self.unit.expr(expr).kind.children().any(|child| self.has_wide_constant(child))
    }

    /// The integer type of an expression of C or C++.
    fn integer_type(&self, facts: &Facts, expr: ExprId) -> Option<Integer> {
        if let Some(known) = sema::computed(facts, expr) {
            let bits = if self.has_wide_constant(expr) { 64 } else { known.bits };
            return Some(Integer { bits, ..known });
        }
        if let Some(value) = self.value(expr) {
            return Some(Integer { bits: if value.abs() < SMALL { 32 } else { 64 }, is_signed: true });
        }
        match self.types().of(expr).number().filter(|_| !self.unit.is_cpp())? {
            CNumber::Integer(rank, is_signed) => {
                let bits = if rank >= Rank::Long { 64 } else { 32 };
                Some(Integer { bits, is_signed: is_signed || rank < Rank::Int })
            }
            CNumber::Float | CNumber::Double | CNumber::LongDouble => None,
        }
    }

    /// What counts the tiles of a loop of C.
    fn count(&self, facts: &Facts, header: &Header) -> Option<Count> {
        let own = sema::declared(facts, header.var)?;
        let [first, bound] = [header.first, header.bound].map(|expr| self.value(expr));
        let types = [self.integer_type(facts, header.first)?, self.integer_type(facts, header.bound)?];
        let is_small = |value: Option<i128>| value.is_some_and(|value| value.abs() < SMALL);
        let is_up = !header.counts_down();
        if own.bits < 32 {
            return None;
        }
        let starts_positive = first.is_some_and(|first| first >= 0);
        // A signed variable that is compared with an unsigned bound must never be below zero.
        let stays_positive = is_up && starts_positive || is_small(bound);
        if own.is_signed && !types[1].is_signed && !stays_positive {
            return None;
        }
        if is_small(first) && is_small(bound) {
            return Some(Count::Small);
        }
        let is_narrow = |at: usize| types[at].bits <= 32 || is_small([first, bound][at]);
        if own.bits <= 32 || is_narrow(0) && is_narrow(1) {
            return Some(Count::First);
        }
        // The number of iterations of an unsigned loop is known not to wrap around only where it begins or ends at zero.
        let is_zero = if is_up { first == Some(0) } else { bound == Some(0) };
        (own.is_signed || is_zero).then_some(Count::Number(own.is_signed))
    }

    /// Whether an expression becomes unsigned where it meets the loop variable, and could be below zero.
    fn is_cast(&self, facts: &Facts, header: &Header, expr: ExprId) -> Option<bool> {
        let own = sema::declared(facts, header.var)?;
        let ty = self.integer_type(facts, expr)?;
        let is_positive = self.value(expr).is_some_and(|value| value >= 0);
        Some(!own.is_signed && own.bits == 32 && ty.is_signed && ty.bits <= 32 && !is_positive)
    }

    /// A name that stands nowhere in the file.
    pub(super) fn unused_name(&self, wanted: &str) -> String {
        let is_fortran = self.unit.is_fortran();
        let end = self.file.bytes.len() as u32;
        let whole = self.file.text(Span { start: 0, end });
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_used = |name: &str| {
            whole.split(|c: char| !is_word(c)).any(|word| match is_fortran {
                true => word.eq_ignore_ascii_case(name),
                false => word == name,
            }) || self.symbols.macro_of(name).is_some()
                || self.symbols.lookup(name, end).is_some()
        };
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !is_used(name)).unwrap_or_default()
    }
}

/// Whether the elements of a tile are distributed across the lanes: there are enough elements.
pub(super) fn fill_lanes(strips: &[Strip], short: i128) -> bool {
    !strips.is_empty() && strips.iter().fold(1i128, |all, strip| all.saturating_mul(strip.size.0)) >= short
}

/// The loop over tiles gets what combines values; the loop over elements gets the rest, if lanes run it.
pub(super) fn parted(mut work: WorkLoop, strips: Vec<Strip>, short: i128, is_launch: bool) -> WorkLoop {
    if strips.is_empty() {
        return work;
    }
    let is_shared = fill_lanes(&strips, short);
    work.strips = strips;
    (work.trips, work.trip_constant, work.is_heavy) = (None, None, false);
    if !is_shared {
        return work;
    }
    let attributes = work.attributes.clone();
    work.attributes.retain(|one| !one.sharing.is_private());
    work.spread = Spread { gangs: true, lanes: false };
    let mut sizes = super::Sizes::default();
    if !is_launch {
        sizes.lanes = std::mem::take(&mut work.sizes.lanes);
    }
    let inner = |one: &Attribute| {
        matches!(one.sharing, Sharing::Private | Sharing::Firstprivate | Sharing::Reduction(_))
    };
    work.elements = Some(Box::new(WorkLoop {
        stmt: work.stmt,
        spread: Spread { gangs: false, lanes: true },
        collapse: work.collapse,
        tile: Vec::new(),
        strips: Vec::new(),
        elements: None,
        exchange: None,
        tables: Vec::new(),
        team_sums: Vec::new(),
        sizes,
        attributes: attributes.into_iter().filter(inner).collect(),
        is_plain: work.is_plain,
        is_heavy: false,
        has_busy_rows: false,
        trips: None,
        trip_constant: None,
    }));
    work
}
