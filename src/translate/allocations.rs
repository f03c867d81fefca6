//! Allocatable variables of Fortran with `declare create`: OpenACC gives them memory on the device where they are allocated
//! (3.3, 2.13.2), and so must the translation.
//!
//! Invariant: each `allocate` of such a variable brings its memory, each `deallocate` takes it back, in whatever file; what
//! gives it other memory in another way is reported.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DataClause, Directive};
use crate::bind::Declared;
use crate::diag::{self, Diag};
use crate::edit::Edit;
use crate::host::ir::{Allocation, ExprId, ExprKind, StmtKind, UnaryOp, Unit};
use crate::layout;
use crate::scan::Conditions;
use crate::sema::{self, Moved, SymbolId, Symbols};
use crate::source::{SourceFile, Span};

/// The lines for variables that a statement frees (`true`) or allocates, in the latter case perhaps with a value.
pub type Lines<'a> = dyn Fn(&[String], bool, bool) -> Vec<String> + 'a;

/// Whether a statement allocates or frees a variable.
pub fn changes(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let objects = unit.allocations.iter().flat_map(|allocation| &allocation.objects);
    let mut variables = objects.filter_map(|object| variable(unit, *object));
    variables.any(|object| symbols.named(unit, object) == Some(symbol))
}

/// The edits at the statements that allocate or free such variables, and what there is to say.
pub fn edits(
    (file, unit): (&SourceFile, &Unit),
    symbols: &Symbols,
    conditions: &Conditions,
    (declares, declared): (&BTreeMap<u32, Directive>, &Declared),
    wanted: &Lines,
) -> (Vec<Edit>, Vec<Diag>) {
    let (mut edits, mut diags) = (Vec::new(), Vec::new());
    let places = places(symbols, declares);
    let is_created = |symbol: SymbolId| {
        let known = symbols.get(symbol);
        let place = (known.home.clone(), known.name.clone());
        match &known.home {
            Some(_) => declared.get(&place).is_some_and(is_created),
            // A variable of a procedure or a main program.
            None => places.contains_key(&symbol) && (known.fortran.allocatable || known.fortran.pointer),
        }
    };
    for allocation in &unit.allocations {
        let objects = allocation.objects.iter().filter_map(|object| variable(unit, *object));
        let created = objects.filter(|object| symbols.named(unit, *object).is_some_and(is_created));
        // What is declared under a condition has its memory on the device there alone.
        let mut groups: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        let at = unit.stmt(allocation.stmt).span.start;
        for object in created {
            let declared = symbols.named(unit, object).and_then(|symbol| places.get(&symbol));
            let heads =
                declared.into_iter().flatten().map(|place| conditions_of(file, conditions, *place, at));
            let mut heads: BTreeSet<Vec<String>> = heads.collect();
            if heads.is_empty() {
                heads.insert(Vec::new());
            }
            let name = file.text(unit.expr(object).span).into_owned();
            heads.into_iter().for_each(|heads| groups.entry(heads).or_default().push(name.clone()));
        }
        for (conditions, names) in groups {
            let wanted = wanted(&names, allocation.frees, allocation.copies);
            let made = lines((file, unit), allocation, &wanted, !conditions.is_empty());
            match made.and_then(|made| made.into_iter().map(|edit| under(edit, &conditions)).collect()) {
                Some::<Vec<Edit>>(found) => edits.extend(found),
                None => {
                    let what = "an `allocate` or `deallocate` among other code on its lines";
                    diags.push(diag::not_yet(unit.stmt(allocation.stmt).span, what));
                }
            }
        }
    }
    let whole = Span { start: 0, end: file.bytes.len() as u32 };
    let named = (0..unit.exprs.len() as u32).filter_map(|id| symbols.named(unit, ExprId(id)));
    let variables: BTreeSet<SymbolId> = named.filter(|symbol| is_created(*symbol)).collect();
    for (at, symbol, moved) in sema::moves(unit, symbols, whole, &variables) {
        diags.push(diag::memory_moves(at, &symbols.get(symbol).name, how(moved)));
    }
    let how = "a macro allocates it, or frees it";
    let hidden = by_macros(unit, symbols).into_iter().filter(|(symbol, _)| is_created(*symbol));
    diags.extend(hidden.map(|(symbol, at)| diag::memory_moves(at, &symbols.get(symbol).name, how)));
    (edits, diags)
}

/// The variables that macros may allocate or free, and where they do.
fn by_macros(unit: &Unit, symbols: &Symbols) -> Vec<(SymbolId, Span)> {
    let is_wanted = |word: &str| ["allocate", "deallocate"].iter().any(|one| word.eq_ignore_ascii_case(one));
    let allocating = symbols.macros_naming(is_wanted);
    let mut found = Vec::new();
    if allocating.is_empty() {
        return found;
    }
    for at in &unit.exprs {
        let (name, args) = match &at.kind {
            ExprKind::Name(name) => (name, &[][..]),
            ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                ExprKind::Name(name) => (name, &args[..]),
                _ => continue,
            },
            _ => continue,
        };
        if allocating.contains(name) {
            let given = args.iter().filter_map(|arg| symbols.named(unit, variable(unit, *arg)?));
            let named = symbols.named_by_macro(unit, name, at.span.start, args);
            found.extend(given.chain(named).map(|symbol| (symbol, at.span)));
        }
    }
    let whole = Span { start: 0, end: u32::MAX };
    for (place, name) in unit.unseen.names_in(whole).iter().filter(|(_, name)| allocating.contains(name)) {
        let span = Span { start: *place, end: *place + name.len() as u32 };
        found
            .extend(symbols.named_by_macro(unit, name, *place, &[]).into_iter().map(|symbol| (symbol, span)));
    }
    found
}

/// The end of a condition.
const END: &str = "#endif";

/// The lines that begin the conditions around one place that are not around another, outermost first, and those that end them.
pub(super) fn conditions_of(file: &SourceFile, all: &Conditions, place: u32, other: u32) -> Vec<String> {
    let around = all.between(place, other);
    let heads = around.iter().rev().flat_map(|condition| condition.heads(place));
    let heads = heads.map(|head| file.text(*head).into_owned());
    heads.chain(around.iter().map(|_| END.to_owned())).collect()
}

/// An edit that puts lines between lines, which are to stand under conditions: the lines that begin these, and those that end
/// them. `None` for one that changes a line.
pub(super) fn under(edit: Edit, conditions: &[String]) -> Option<Edit> {
    if conditions.is_empty() {
        return Some(edit);
    }
    let text = String::from_utf8(edit.text).ok().filter(|_| edit.span.is_empty())?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (before, rest) = text.strip_prefix(end).map_or(("", text.as_str()), |rest| (end, rest));
    let (body, after) = rest.strip_suffix(end).map_or((rest, ""), |body| (body, end));
    let (ends, heads): (Vec<&String>, Vec<&String>) = conditions.iter().partition(|line| *line == END);
    let lines =
        heads.into_iter().map(String::as_str).chain([body]).chain(ends.into_iter().map(String::as_str));
    let text = format!("{before}{}{after}", lines.collect::<Vec<_>>().join(end));
    Some(Edit { span: edit.span, text: text.into_bytes() })
}

/// Where `declare` directives name variables: in several branches perhaps.
fn places(symbols: &Symbols, declares: &BTreeMap<u32, Directive>) -> BTreeMap<SymbolId, Vec<u32>> {
    let items = declares.values().flat_map(|one| {
        let lists = one.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Data(kind, list) if is_created(kind) => Some(list),
            _ => None,
        });
        lists.flatten().map(|item| (item, one.span.start))
    });
    let mut found: BTreeMap<SymbolId, Vec<u32>> = BTreeMap::new();
    for (item, at) in items {
        let symbol = symbols.lookup(&item.base.text, item.span.start);
        symbol.into_iter().for_each(|symbol| found.entry(symbol).or_default().push(at));
    }
    found
}

fn how(moved: Moved) -> &'static str {
    match moved {
        Moved::MoveAlloc => "`move_alloc` takes its memory or gives it other memory",
        Moved::Assignment => "is allocated anew if the value has another shape",
        Moved::Argument => "the procedure may allocate it, or free it",
        Moved::Target => "gets another target",
    }
}

/// The lines that a statement needs; nothing if they are there already, and `None` if there is no room for them.
fn lines(
    (file, unit): (&SourceFile, &Unit),
    allocation: &Allocation,
    wanted: &[String],
    has_conditions: bool,
) -> Option<Vec<Edit>> {
    let frees = allocation.frees;
    let span = unit.stmt(allocation.stmt).span;
    let (whole, is_asked) = match condition(file, unit, allocation) {
        Some((whole, cond)) => (whole, asks(unit, allocation, cond)),
        None => (span, true),
    };
    let place = match frees {
        true => file.lines.line(whole.start).checked_sub(1),
        false => Some(file.lines.line(whole.end) + 1),
    };
    if wanted.iter().all(|line| says(file, place, line)) {
        return Some(Vec::new());
    }
    let has_label = layout::is_labelled(file, whole.start);
    let is_below_label = has_label && frees;
    if has_label && unit.ends_loop(whole) || has_conditions && (!is_asked || is_below_label) {
        return None;
    }
    if !is_asked {
        return Some(layout::in_condition(file, span, wanted, frees).to_vec());
    }
    if is_below_label {
        return Some(vec![layout::below_label(file, whole.start, wanted)]);
    }
    let put = |line: &String| match frees {
        true => layout::before_statement(file, whole, line),
        false => layout::after_statement(file, whole, line),
    };
    let mut edits: Vec<Edit> = Vec::with_capacity(wanted.len());
    for edit in layout::joined(wanted.iter().map(put).collect::<Option<Vec<Edit>>>()?) {
        match edits.iter_mut().find(|other| other.span == edit.span) {
            // Between two statements of one line.
            Some(other) => other.text = [other.text.trim_ascii_end(), &edit.text].concat(),
            None => edits.push(edit),
        }
    }
    Some(edits)
}

/// A statement has no more continuation lines (Fortran 2018, 6.3.2.6; 2023 counts characters).
const MOST_LINES: usize = 256;

/// The `if` without `then` that an allocation belongs to: its span and its condition.
fn condition(file: &SourceFile, unit: &Unit, allocation: &Allocation) -> Option<(Span, ExprId)> {
    let span = unit.stmt(allocation.stmt).span;
    let line = file.lines.line(span.start);
    let first = file.lines.span(line.saturating_sub(MOST_LINES));
    let mut around = unit.stmts_in(Span { start: first.start, end: span.end });
    around.find_map(|stmt| match stmt.kind {
        StmtKind::If { cond, then, other: None } if then == allocation.stmt => Some((stmt.span, cond)),
        _ => None,
    })
}

/// Whether a condition asks for nothing but whether the object is allocated already: lines without the condition do no more than
/// with it, as what is not allocated has nothing on the device, and what is allocated anyway is there.
fn asks(unit: &Unit, allocation: &Allocation, cond: ExprId) -> bool {
    let kind = |expr: ExprId| &unit.expr(expr).kind;
    let asked = match kind(cond) {
        ExprKind::Unary(UnaryOp::Not, inner) if !allocation.frees => kind(*inner),
        own if allocation.frees => own,
        _ => return false,
    };
    let name = |expr: ExprId| match kind(expr) {
        ExprKind::Name(name) => Some(name.as_str()),
        _ => None,
    };
    let ([object], ExprKind::Call { callee, args, .. }) = (&allocation.objects[..], asked) else {
        return false;
    };
    let object = variable(unit, *object).and_then(name);
    matches!(name(*callee), Some("allocated" | "associated"))
        && object.is_some()
        && args.iter().map(|arg| name(*arg)).eq([object])
}

/// Whether a line says so already: the file was translated before, and the module's was not.
fn says(file: &SourceFile, line: Option<usize>, words: &str) -> bool {
    let line = line.filter(|line| *line < file.lines.count());
    line.is_some_and(|line| file.text(file.lines.span(line)).trim().eq_ignore_ascii_case(words))
}

/// Whether the clause gives the variable memory of its own on the device.
fn is_created(clause: &DataClause) -> bool {
    matches!(clause, DataClause::Create { .. } | DataClause::Copyin { .. } | DataClause::DeviceResident)
}

/// The variable of `a`, `a(n)` or `a(n, m)`.
fn variable(unit: &Unit, object: ExprId) -> Option<ExprId> {
    let mut at = object;
    loop {
        match &unit.expr(at).kind {
            ExprKind::Name(_) => return Some(at),
            ExprKind::Index(base, _) => at = *base,
            ExprKind::Call { callee, .. } => at = *callee,
            _ => return None,
        }
    }
}
