//! Loops whose iterations are counted: the number of iterations, and the variable's value in each.
//!
//! Invariant: the count is that of the loop as written, for every start, bound and step.

use super::inside;
use super::kinds::{Converts, Kinds};
use crate::cuda::code::text::{Edits, operand, summand};
use crate::cuda::meaning;
use crate::cuda::program::{Input, Refused, qualified, refused};
use crate::cuda::types::spelling;
use crate::host::ir::{BaseType, BinaryOp, Derived, ExprId, ExprKind, UnaryOp};
use crate::sema::{Class, Header};
use crate::source::Span;

/// The type that counts any number of iterations.
pub const WIDE: &str = "unsigned long long";

/// One loop of a nest, counted.
pub struct Counted {
    /// The loop variable.
    pub name: String,
    /// Its type.
    base: String,
    is_pointer: bool,
    /// How often the loop runs.
    pub trips: String,
    first: String,
    step: Option<String>,
    down: bool,
    /// In which counters the value has to be computed in the variable's type.
    converts: Converts,
}

impl Counted {
    /// Counts the iterations of a canonical loop; `edits` say its expressions as the code has them that counts.
    pub fn new(input: &Input, header: &Header, edits: &Edits) -> Result<Counted, Refused> {
        let unit = input.unit();
        let text = |expr: ExprId| -> Result<String, Refused> {
            Ok(edits.render(input.file(), unit.expr(expr).span, 0)?.trim().to_owned())
        };
        let known = input.symbols.get(header.var);
        let at = unit.expr(header.first).span;
        let (seen, decl) = input
            .declaration(header.var)
            .ok_or_else(|| refused(at, "a loop variable whose declaration is not seen"))?;
        let specifiers = Span { start: decl.span.start, end: decl.name_span.start };
        if header.declared && seen.file.slice(specifiers).contains(&b'{') {
            return Err(refused(specifiers, "the declaration of a loop variable that defines its type"));
        }
        let base = match decl.base {
            BaseType::Unknown if input.in_place => {
                Some(format!("acc2omp::Value<decltype({})>", text(header.first)?))
            }
            _ => spelling::base(input, seen, decl),
        };
        let base = base.ok_or_else(|| refused(at, "a loop variable of this type"))?;
        let is_pointer = known.class == Class::Pointer;
        let (first, bound) = (text(header.first)?, text(header.bound)?);
        let down = header.counts_down();
        let step = match header.step {
            // What is added is negative, or what is subtracted.
            Some(step) if down != header.down => Some(match unit.expr(step).kind {
                ExprKind::Unary(UnaryOp::Minus, of) => text(of)?,
                _ => format!("-{}", operand(&text(step)?)),
            }),
            step => step.map(text).transpose()?,
        };
        let step = step.filter(|step| step != "1");
        let base = match (&decl.base, decl.derived.as_slice()) {
            _ if !is_pointer => base,
            (BaseType::Unknown, _) => base,
            (_, [Derived::Pointer]) => format!("{base} *"),
            // A pointer to pointers or to arrays, or one whose type has a name, is what it begins with.
            _ => "auto *".to_owned(),
        };
        let kinds = Kinds::of(input, header);
        let begins = match kinds.converts_first() {
            true => format!("({base}){}", operand(&first)),
            false => first.clone(),
        };
        let (low, high) = match down {
            false => (&begins, &bound),
            true => (&bound, &begins),
        };
        let mut arguments = match is_pointer {
            true => format!("0, {} - {}", operand(high), operand(low)),
            false => format!("{low}, {high}"),
        };
        if let Some(step) = &step {
            arguments += &format!(", {step}");
        }
        // Downwards, the bound is below: `i > n` leaves `n` out.
        let count = match header.compare {
            BinaryOp::LessEqual | BinaryOp::GreaterEqual => "trips_to".to_owned(),
            BinaryOp::NotEqual if !is_pointer && kinds.may_wrap() => format!("trips_until<{base}>"),
            _ => "trips".to_owned(),
        };
        Ok(Counted {
            name: known.name.clone(),
            base,
            is_pointer,
            trips: format!("acc2omp::{count}({arguments})"),
            first,
            step,
            down,
            converts: kinds.converts_counter(),
        })
    }

    /// The line that sets the variable in iteration `index`, which is counted in a type; `is_part` if it is an expression.
    pub fn value(&self, index: &str, counter: &str, is_part: bool) -> String {
        let converts = match self.converts {
            Converts::Never => false,
            Converts::Narrow => counter != WIDE,
            Converts::Always => true,
        };
        let own = if self.is_pointer { "ptrdiff_t" } else { &self.base };
        let index = match (converts, is_part) {
            (true, true) => format!("({own})({index})"),
            (true, false) => format!("({own}){index}"),
            (false, true) if self.step.is_some() => format!("({index})"),
            (false, _) => index.to_owned(),
        };
        let index = match &self.step {
            Some(step) => format!("{index} * {}", operand(step)),
            None => index,
        };
        let first = summand(&self.first);
        let value = match (self.down, first.as_str()) {
            (false, "0") => index,
            (false, first) => format!("{first} + {index}"),
            (true, first) => format!("{first} - {index}"),
        };
        let between = if self.base.ends_with('*') { "" } else { " " };
        format!("{}{between}{} = {value};", self.base, self.name)
    }
}

/// The edits that say the head of a loop as the launcher has it.
pub fn head_edits(input: &Input, header: &Header) -> Result<Edits, Refused> {
    let mut edits = Edits::default();
    for expr in header.values() {
        let span = input.unit().expr(expr).span;
        match input.in_place {
            true => inside::bare(input, span, &mut edits),
            false => {
                meaning::edit(input, span, &mut edits)?;
                qualified::edit(input, span, &mut edits)?;
            }
        }
    }
    Ok(edits)
}

/// Whether 32 bits count the iterations, the steps of all threads added: the variable is an `int` or less, and does not begin
/// below zero; of the threads of one gang, that it begins above INT_MIN by as many as they are is enough.
pub fn is_narrow(input: &Input, header: &Header, in_gang: bool) -> bool {
    let begins = if header.counts_down() { header.bound } else { header.first };
    let from_zero = matches!(input.unit().expr(begins).kind, ExprKind::Int(first) if first >= 0);
    let Some((_, decl)) = input.declaration(header.var) else { return false };
    let is_int = matches!(&decl.base, BaseType::Builtin(words) if ["int", "short", "signed int", "char"].contains(&words.as_str()));
    (from_zero || in_gang) && is_int && decl.derived.is_empty()
}
