//! Expressions in clauses that become parts of several constructs: where that matters, each is computed once, before the first.
//!
//! Invariant: an expression that is not saved gives the same value wherever it is computed, and nothing else happens then.

use crate::acc::ast::{Clause, ClauseKind, Expr};
use crate::host::ir::{StmtId, Unit};
use crate::sema::{self, Class, SymbolId, SymbolKind, Symbols, uses};
use crate::source::Span;

use super::{Input, Maker};

/// Macros that stand for macros are followed no further than this.
const DEPTH: usize = 8;

/// The names of the variables; of those that begin alike, the longer one first.
pub const SAVED: [&str; 8] = [
    "acc2omp_condition",
    "acc2omp_on_host",
    "acc2omp_number",
    "acc2omp_gangs_y",
    "acc2omp_gangs_z",
    "acc2omp_gangs",
    "acc2omp_workers",
    "acc2omp_lanes",
];

/// An expression whose value a variable keeps.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The directive.
    pub directive: usize,
    /// The code that it governs.
    pub stmt: StmtId,
    /// Where the expression stands.
    pub span: Span,
    /// Its text.
    pub text: String,
    /// The variable.
    pub name: &'static str,
    /// It is a condition.
    pub is_condition: bool,
}

impl Saved {
    /// Whether it is the number of gangs, workers or lanes.
    pub fn is_size(&self) -> bool {
        let [condition, on_host, number, ..] = SAVED;
        ![condition, on_host, number].contains(&self.name)
    }
}

/// The expressions of a clause that an OpenMP construct may repeat, with the variables that can keep their values.
pub fn expressions(clause: &Clause) -> Vec<(&Expr, &'static str, bool)> {
    let [condition, on_host, number, gangs_y, gangs_z, gangs, workers, lanes] = SAVED;
    match &clause.kind {
        ClauseKind::If(expr) => vec![(expr, condition, true)],
        ClauseKind::SelfRun(Some(expr)) => vec![(expr, on_host, true)],
        ClauseKind::Async(Some(expr)) => vec![(expr, number, false)],
        ClauseKind::NumGangs(sizes) => {
            sizes.iter().zip([gangs, gangs_y, gangs_z]).map(|(size, name)| (size, name, false)).collect()
        }
        ClauseKind::NumWorkers(expr) => vec![(expr, workers, false)],
        ClauseKind::VectorLength(expr) => vec![(expr, lanes, false)],
        _ => Vec::new(),
    }
}

/// What the text of an expression holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Variables.
    pub(super) named: Vec<SymbolId>,
    /// It calls a function that may do anything, or assigns.
    pub(super) acts: bool,
}

/// What a text that stands at `at` holds.
pub(super) fn contents(input: &Input, text: &str, at: u32) -> Contents {
    let mut contents = Contents::default();
    contents.read(input.unit, input.symbols, text, at, DEPTH);
    contents
}

/// Whether computing an expression may change something, or give another value each time.
pub fn has_effects(unit: &Unit, symbols: &Symbols, expr: &Expr) -> bool {
    let mut contents = Contents::default();
    contents.read(unit, symbols, &expr.text, expr.span.start, DEPTH);
    contents.acts
}

/// Whether an expression in a clause of an `update` reads what the update brings to the host.
pub fn reads_updated(unit: &Unit, symbols: &Symbols, clauses: &[Clause], expr: &Expr) -> bool {
    let mut contents = Contents::default();
    contents.read(unit, symbols, &expr.text, expr.span.start, DEPTH);
    let updated = clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::UpdateSelf(list) => list.as_slice(),
        _ => &[],
    });
    let mut roots = updated.filter_map(|item| symbols.lookup(item.variable(), item.span.start));
    roots.any(|root| contents.named.contains(&root))
}

impl Contents {
    /// Reads a text that stands at `at`.
    fn read(&mut self, unit: &Unit, symbols: &Symbols, text: &str, at: u32, depth: usize) {
        let is_inner = |c: char| c.is_alphanumeric() || c == '_';
        self.acts |= assigns(text, unit.is_fortran());
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            if !is_inner(first) {
                before = if first.is_whitespace() { before } else { first };
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let end = rest.find(|c: char| !is_inner(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let is_member = matches!(before, '.' | '%') || before == '>' && text_ends_in_arrow(text, rest);
            if !first.is_ascii_digit() && !is_member {
                self.word(unit, symbols, (word, after.trim_start().starts_with('(')), at, depth);
            }
            before = ' ';
            rest = after;
        }
    }

    fn word(
        &mut self,
        unit: &Unit,
        symbols: &Symbols,
        (word, is_called): (&str, bool),
        at: u32,
        depth: usize,
    ) {
        let symbol = symbols.lookup(word, at);
        let is_array = symbol.is_some_and(|symbol| symbols.get(symbol).class == Class::Array);
        if let Some(body) = symbols.body_of(word) {
            match depth.checked_sub(1) {
                Some(depth) if !is_called => self.read(unit, symbols, body, at, depth),
                _ => self.acts = true,
            }
        } else if is_called && !(unit.is_fortran() && is_array) {
            let name = word.to_ascii_lowercase();
            let is_pure = match unit.is_fortran() {
                true => symbol.is_none() && sema::is_pure_intrinsic(&name),
                false => sema::is_mathematical(word) || matches!(word, "sizeof" | "defined"),
            };
            let is_library = ["acc_", "omp_"].iter().any(|start| name.starts_with(start));
            self.acts |= !(is_pure || is_library);
        } else {
            self.named.extend(symbol);
        }
    }
}

/// Whether what stands before `rest`, a part of `text`, ends in an arrow.
fn text_ends_in_arrow(text: &str, rest: &str) -> bool {
    text[..text.len() - rest.len()].trim_end().ends_with("->")
}

/// Whether an expression assigns.
fn assigns(text: &str, is_fortran: bool) -> bool {
    if is_fortran {
        return false;
    }
    let bytes = text.as_bytes();
    let single = (0..bytes.len()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let shifts = at >= 2 && matches!(bytes.get(at - 2..at), Some(b"<<" | b">>"));
        bytes[at] == b'='
            && bytes.get(at + 1) != Some(&b'=')
            && (shifts || !matches!(before, b'=' | b'!' | b'<' | b'>'))
    });
    single || text.contains("++") || text.contains("--")
}

impl Input<'_> {
    /// Whether a region may change a variable, or what it leads to.
    fn may_change(&self, index: usize, stmt: StmtId, symbol: SymbolId) -> bool {
        let used = uses(self.unit, self.symbols, stmt);
        let known = self.symbols.get(symbol);
        let is_assigned =
            used.of(symbol).is_some_and(|how| how.written || how.address_taken || how.part_written);
        let may_act = |name: &String| {
            !sema::is_pure_intrinsic(name) && (self.unit.is_fortran() || !sema::is_mathematical(name))
        };
        let is_global = known.kind == SymbolKind::Static && !known.is_const;
        is_assigned
            || self.is_reached(index, symbol)
            || is_global && used.calls.keys().any(may_act)
            || self.leads_elsewhere(symbol) && self.changes_by_names(index, stmt)
    }

    /// Whether a variable stands for memory that has another name, too, or leads there.
    fn leads_elsewhere(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        // What a dummy argument of Fortran stands for has no other name that is assigned (Fortran 2018, 15.5.2.13).
        !self.unit.is_fortran() && known.is_reference
            || known.class == Class::Pointer
            || known.fortran.pointer
            || known.fortran.target
            || known.fortran.is_equivalent
    }

    /// Whether a region changes something that other names may lead to.
    fn changes_by_names(&self, index: usize, stmt: StmtId) -> bool {
        let escaping = self.bound[index].function.and_then(|function| self.escaping.get(&function));
        let used = uses(self.unit, self.symbols, stmt);
        let may_have_names = |symbol: SymbolId| {
            let is_static = !self.unit.is_fortran() && self.symbols.get(symbol).kind == SymbolKind::Static;
            let is_lent = escaping.is_some_and(|escaping| escaping.contains(&symbol));
            is_static || is_lent || self.leads_elsewhere(symbol)
        };
        used.iter().any(|(symbol, how)| {
            (how.written || how.part_written) && !self.is_inside(symbol, stmt) && may_have_names(symbol)
        })
    }
}

impl Maker<'_> {
    /// Keeps the values of expressions in the clauses of a region that becomes several constructs, where computing them again may
    /// give another value.
    pub(super) fn save(&mut self, index: usize, stmt: StmtId, counting: &[usize]) {
        let directive = &self.input.bound[index].directive;
        let clauses = counting.iter().filter_map(|at| directive.clauses.get(*at));
        for (expr, name, is_condition) in clauses.flat_map(expressions) {
            let contents = contents(&self.input, &expr.text, expr.span.start);
            if contents.acts
                || contents.named.iter().any(|symbol| self.input.may_change(index, stmt, *symbol))
            {
                let (span, text) = (expr.span, expr.text.clone());
                self.plan.saved.push(Saved { directive: index, stmt, span, text, name, is_condition });
            }
        }
    }
}
