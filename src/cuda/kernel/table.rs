//! Arrays whose elements a region only updates atomically: histograms. Each gang updates a table of its own in shared memory,
//! which is added to the array at the end, if the launch finds that the table fits and pays.
//!
//! Invariant: the array has a table only where no access of the region can observe when an update reaches the array, and
//! updates are of integers, by operators for which order and grouping do not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::parts::{Host, Made};
use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::cuda::code::text::words;
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, defines, uses};
use crate::cuda::schedule::capture::{self, Captured, Role};
use crate::cuda::schedule::nest::Nest;
use crate::cuda::types::declarator::Type;
use crate::cuda::types::spelling;
use crate::host::ir::{BinaryOp, DeclKind, Derived, ExprId, ExprKind, StmtId, StmtKind};
use crate::plan::{self, ElementUpdate};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

/// Integers that CUDA's atomics know, of 4 and 8 bytes.
const INTEGERS: [&str; 16] = [
    "int",
    "unsigned",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "long int",
    "unsigned long int",
    "long long int",
    "unsigned long long int",
    "size_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
];

/// The arrays of a region that get a table, and the operator by which their tables are added to them.
pub fn tables(
    input: &Input,
    index: usize,
    stmt: StmtId,
    nest: &Nest,
    captured: &[Captured],
) -> BTreeMap<SymbolId, &'static str> {
    let mut found = BTreeMap::new();
    let region = Region { input, index, stmt, nest, captured };
    let Some(updates) = region.updates().filter(|updates| !updates.is_empty() && region.is_plain()) else {
        return found;
    };
    for one in captured {
        let own: Vec<&ElementUpdate> = updates.iter().filter(|update| update.symbol == one.symbol).collect();
        let Some(first) = own.first() else { continue };
        let is_integer = INTEGERS.contains(&region.scalar(one).as_deref().unwrap_or_default());
        let Some(operator) = class(first.operator) else { continue };
        let is_one_class = own.iter().all(|update| {
            let is_integer = update.operand.is_none_or(|operand| region.is_integer(operand));
            class(update.operator) == Some(operator) && is_integer
        });
        if matches!(one.role, Role::Data(..))
            && is_integer
            && is_one_class
            && region.only_in(one, &own)
            && region.is_unseen(one, &own)
        {
            found.insert(one.symbol, operator);
        }
    }
    found
}

/// Puts tables into kernel and launcher: the name of each.
pub fn declare(
    input: &Input,
    captured: &[Captured],
    tables: &BTreeMap<SymbolId, &'static str>,
    names: &mut Names,
    (made, host): (&mut Made, &mut Host),
) -> Result<HashMap<SymbolId, String>, Refused> {
    let mut declared = HashMap::new();
    for one in captured {
        let (Some(operator), Some(device)) = (tables.get(&one.symbol), made.devices.get(&one.symbol)) else {
            continue;
        };
        let table = names.fresh(&format!("{}_table", one.name));
        let of = Type::value(format!("acc2omp::Table<{}>", capture::element(input, one)?));
        let words = &host.words;
        host.results.push(format!(
            "{} = {}.table({device}, {}, {});",
            of.declare(&table),
            words.region,
            words.trips,
            words.gangs
        ));
        // The table's pointer may alias it.
        for param in made.params.iter_mut().filter(|param| param.memory == Some(one.symbol)) {
            param.of.is_restrict = false;
        }
        made.param(of, &table, &table);
        made.prologue.push(format!("{table}.begin<{operator}>();"));
        made.epilogue.push(format!("{table}.end<{operator}>();"));
        declared.insert(one.symbol, table);
    }
    Ok(declared)
}

/// The table of the array that an atomic update changes.
pub fn of_place<'a>(
    input: &Input,
    tables: &'a HashMap<SymbolId, String>,
    mut place: ExprId,
) -> Option<&'a String> {
    while let ExprKind::Index(inner, _) = input.unit().expr(place).kind {
        place = inner;
    }
    tables.get(&input.symbols.named(input.unit(), place)?)
}

struct Region<'a, 'b> {
    input: &'b Input<'a>,
    index: usize,
    stmt: StmtId,
    nest: &'b Nest<'a>,
    captured: &'b [Captured<'a>],
}

impl Region<'_, '_> {
    fn span(&self) -> Span {
        self.input.stmt_span(self.stmt)
    }

    /// All updates of elements of arrays; none if other atomics are among them, which could tell.
    fn updates(&self) -> Option<Vec<ElementUpdate>> {
        let unit = self.input.unit();
        let mut updates = Vec::new();
        let region = self.span();
        for one in self.input.bound.iter().filter(|one| region.contains(one.directive.span)) {
            if one.directive.kind != DirectiveKind::Atomic {
                continue;
            }
            let is_other = |kind: &ClauseKind| {
                matches!(kind, ClauseKind::AtomicCapture | ClauseKind::AtomicRead | ClauseKind::AtomicWrite)
            };
            let StmtKind::Expr(expr) = unit.stmt(one.stmt()?).kind else { return None };
            if one.directive.clauses.iter().any(|clause| is_other(&clause.kind)) {
                return None;
            }
            let file = self.input.file();
            updates.extend(plan::element_update((file, unit), self.input.symbols, expr));
        }
        Some(updates)
    }

    /// Whether all of the region's code is seen: it calls nothing of the program, jumps nowhere, and no macro names a variable.
    fn is_plain(&self) -> bool {
        let (unit, span) = (self.input.unit(), self.span());
        let files = || std::iter::once(&self.input.source).chain(self.input.headers);
        let is_known = |name: &str| {
            files().any(|seen| {
                seen.unit.function_places(name).next().is_some()
                    || seen.unit.decls_named(name).any(|decl| decl.kind == DeclKind::Prototype)
            })
        };
        let has_call = unit.exprs_in(span).any(|expr| match expr.kind {
            ExprKind::Call { callee, .. } => match &unit.expr(callee).kind {
                ExprKind::Name(name) => {
                    is_known(name) || self.input.symbols.lookup(name, span.start).is_some()
                }
                _ => true,
            },
            _ => false,
        });
        let has_jump = unit.stmts_in(span).any(|stmt| {
            matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_))
        });
        !has_call && !has_jump && !self.has_macro()
    }

    /// Whether a macro that the region uses names a variable.
    fn has_macro(&self) -> bool {
        let span = self.span();
        let text = self.input.source.code(span);
        let mut pending: Vec<String> = words(&text).into_iter().map(str::to_owned).collect();
        let mut met = BTreeSet::new();
        while let Some(word) = pending.pop() {
            let define = defines::define(self.input, &word).filter(|_| met.insert(word.clone()));
            for inner in define.map(|define| words(&define.body)).unwrap_or_default() {
                let symbol = self.input.symbols.lookup(inner, span.start);
                let kind = symbol.map(|symbol| self.input.symbols.get(symbol).kind);
                if kind.is_some_and(|kind| !matches!(kind, SymbolKind::Constant | SymbolKind::Type)) {
                    return true;
                }
                pending.push(inner.to_owned());
            }
        }
        false
    }

    /// The arithmetic type that an array holds or a pointer points to; `None` for pointers to pointers.
    fn scalar(&self, one: &Captured) -> Option<String> {
        let pointers = one.decl.derived.iter().filter(|part| matches!(part, Derived::Pointer)).count();
        let is_direct = match one.class {
            Class::Pointer => pointers == 1,
            Class::Array => pointers == 0,
            _ => false,
        };
        is_direct.then(|| spelling::plain(self.input, one.seen, &one.decl)).flatten()
    }

    /// Whether an expression is surely an integer.
    fn is_integer(&self, expr: ExprId) -> bool {
        let unit = self.input.unit();
        let mut pending = vec![expr];
        while let Some(at) = pending.pop() {
            match &unit.expr(at).kind {
                ExprKind::Int(_) => {}
                ExprKind::Unary(_, inner) => pending.push(*inner),
                ExprKind::Binary(_, left, right) => pending.extend([*left, *right]),
                ExprKind::Name(_) | ExprKind::Index(..) => {
                    let mut base = at;
                    while let ExprKind::Index(inner, _) = unit.expr(base).kind {
                        base = inner;
                    }
                    let declared = self.input.symbols.named(unit, base);
                    let declared = declared.and_then(|symbol| self.input.declaration(symbol));
                    let plain = declared.and_then(|(seen, decl)| spelling::plain(self.input, seen, decl));
                    let is_floating =
                        |words: &str| words.split(' ').any(|word| ["float", "double"].contains(&word));
                    if plain.is_none_or(|words| is_floating(&words)) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether the region names an array nowhere else than in these updates, as what they change.
    fn only_in(&self, one: &Captured, own: &[&ElementUpdate]) -> bool {
        let span = self.span();
        let named = words(&self.input.source.code(span)).iter().filter(|word| **word == one.name).count();
        let mut places: Vec<Span> = own.iter().flat_map(|update| update.names.iter().copied()).collect();
        places.dedup();
        named == places.len()
    }

    /// Whether no other access can be to what the updates change, or each comes before them in its iteration: then an
    /// access to the same place in another iteration would be a race, and one in the same has happened.
    fn is_unseen(&self, one: &Captured, own: &[&ElementUpdate]) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let is_alone = matches!(one.decl.derived.as_slice(), [Derived::Array(_)])
            && one.kind == SymbolKind::Local
            && plan::is_named_as_array_only(self.input.file(), unit, symbols, one.symbol)
            && self.input.bound[self.index].function.is_some_and(|function| {
                let body = unit.function(function).body;
                uses::only_indexed(self.input, body, one.symbol)
                    && !sema::escaping(unit, symbols, body).contains(&one.symbol)
            });
        if is_alone || one.decl.is_restrict {
            return true;
        }
        let uses = sema::uses(unit, symbols, self.stmt);
        let others = uses.iter().map(|(symbol, _)| symbol).filter(|symbol| *symbol != one.symbol);
        let others: Vec<SymbolId> = others.filter(|symbol| self.may_meet(one, *symbol)).collect();
        if others.is_empty() {
            return true;
        }
        let Some(first) = own.iter().map(|update| unit.expr(update.expr).span).min_by_key(|span| span.start)
        else {
            return false;
        };
        let span = self.span();
        let comes_before = |name: &str, at: Span| {
            at.end <= first.end || !symbols.lookup(name, at.start).is_some_and(|id| others.contains(&id))
        };
        let in_order = unit.exprs_in(span).all(|expr| match &expr.kind {
            ExprKind::Name(name) => comes_before(name, expr.span),
            _ => true,
        });
        // Some loop runs the updates again, in order.
        let is_again = unit.stmt_ids_in(span).any(|id| {
            let stmt = unit.stmt(id);
            let is_loop =
                matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. });
            let is_shared = self.nest.values().any(|shared| shared.division.stmts.contains(&id));
            is_loop && !is_shared && stmt.span.contains(first)
        });
        in_order && !is_again
    }

    /// Whether the region takes a pointer for one to another type.
    fn recasts_pointers(&self) -> bool {
        let exprs = self.input.unit().exprs_in(self.span());
        exprs.into_iter().any(|expr| matches!(&expr.kind, ExprKind::Cast { to, .. } if to.contains('*')))
    }

    /// Whether what a variable holds, or leads to, may be the elements of an array.
    fn may_meet(&self, one: &Captured, other: SymbolId) -> bool {
        let known = self.input.symbols.get(other);
        let captured = self.captured.iter().find(|captured| captured.symbol == other);
        let is_in_memory = captured.is_some_and(|captured| matches!(captured.role, Role::Data(..)));
        if matches!(known.kind, SymbolKind::Constant) || known.class == Class::Scalar && !is_in_memory {
            return false;
        }
        let Some(captured) = captured else {
            // An array that the region declares is another one; a pointer may lead anywhere.
            return known.class != Class::Array;
        };
        let is_array = |one: &Captured| one.class == Class::Array && one.decl.kind == DeclKind::Variable;
        if captured.decl.is_restrict || is_array(one) && is_array(captured) {
            return false;
        }
        let word = |text: String| -> Vec<String> {
            let mut all: Vec<String> = text.split(' ').map(str::to_owned).collect();
            all.retain(|word| word != "unsigned" && word != "signed" && word != "int");
            all
        };
        match (self.scalar(one), self.scalar(captured)) {
            (Some(one), Some(other)) if !self.recasts_pointers() => {
                let is_standard = |text: &str| !text.contains('_') && !text.contains("char");
                !is_standard(&one) || !is_standard(&other) || word(one) == word(other)
            }
            _ => true,
        }
    }
}

/// The class of an operator whose updates commute.
fn class(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Subtract => "acc2omp::Plus",
        BinaryOp::BitAnd => "acc2omp::BitAnd",
        BinaryOp::BitOr => "acc2omp::BitOr",
        BinaryOp::BitXor => "acc2omp::BitXor",
        _ => return None,
    })
}
