//! Variables of modules that `declare` names and that are handed to procedures, which may have directives about their dummy
//! arguments: they are on the device from the program's start on (OpenACC 3.3, 2.13).
//!
//! Invariant: such a variable has its place on the device before the first statement of any procedure that hands it on.

use std::collections::BTreeSet;

use crate::acc::{self, ast::DirectiveKind};
use crate::cxx::{self, Why};
use crate::diag;
use crate::edit::Edit;
use crate::host::ir::{ExprId, ExprKind, Function, StmtKind, Unit};
use crate::layout;
use crate::sema::{SymbolId, Texts, is_pure_intrinsic};
use crate::source::{SourceFile, Span};

use super::super::allocations;
use super::super::views::Gathered;
use super::{FortranCuda, View};

impl FortranCuda {
    /// The lines at the beginning of procedures that hand such variables to others.
    pub(super) fn arguments(&mut self, view: &View, all: &mut Gathered) {
        let ground = &view.ground;
        if ground.declared.is_empty() {
            return;
        }
        self.computed.extend(constructs(view));
        let constructs: Vec<Span> = self.computed.iter().copied().collect();
        for function in &ground.files.own.unit.functions {
            let Some(entry) = Entry::of(view, function, all) else { continue };
            let others = named_elsewhere(view, function, entry.place);
            let mut placed = BTreeSet::new();
            for handed in others.into_iter().chain(handed_on(view, function, &constructs)) {
                if placed.contains(&handed.name) {
                    continue;
                }
                match self.at_entry(view, &entry, &handed) {
                    Ok(true) => drop(placed.insert(handed.name)),
                    Ok(false) => {}
                    Err(why) => all.diags.push(diag::not_yet_cuda(why.at, &why.what)),
                }
            }
        }
    }

    /// Puts the line for a variable where a procedure executes code first, under the conditions that the variable is handed on
    /// under; whether there are none.
    fn at_entry(&mut self, view: &View, entry: &Entry, handed: &Handed) -> Result<bool, Why> {
        let Texts { file, unit } = view.ground.files.own;
        let (at, known) = (handed.at, view.ground.symbols.get(handed.symbol));
        let Some(clause) = view.ground.declared(handed.symbol) else { return Ok(true) };
        let one = cxx::Declared {
            clause,
            name: handed.name.clone(),
            is_allocated: known.fortran.allocatable || known.fortran.pointer,
            record: known.record.clone(),
        };
        let lines = self.places(view, &[one], at)?;
        // A pure procedure hands it to pure ones alone, which have no directives.
        if layout::innermost(unit, entry.first.start).is_some_and(|scope| scope.is_pure) {
            return Ok(true);
        }
        if entry.is_continued(file) {
            return Err(Why {
                at,
                what: "what stands before a statement that another build continues".to_owned(),
            });
        }
        let conditions = allocations::conditions_of(file, &view.conditions, at.start, entry.place.start);
        for line in lines {
            self.need(view, file, entry.first.start, false)?;
            let edit = entry.edit(file, &line).and_then(|edit| allocations::under(edit, &conditions));
            let edit = edit.ok_or_else(|| Why { at, what: "statements on one line".to_owned() })?;
            // Another view has it, too.
            if self.placed.insert((edit.span.start, edit.text.clone())) {
                self.later.push(edit);
            }
        }
        Ok(conditions.is_empty())
    }
}

/// A variable that a procedure hands on.
struct Handed {
    /// Where it does.
    at: Span,
    symbol: SymbolId,
    /// Its name there.
    name: String,
}

/// Where a procedure executes code first.
struct Entry {
    /// The first statement.
    first: Span,
    /// What stands before all code: that statement, a directive, or a condition of the preprocessor.
    place: Span,
}

impl Entry {
    fn of(view: &View, function: &Function, all: &Gathered) -> Option<Entry> {
        let (Texts { file, unit }, bound) = (view.ground.files.own, view.ground.bound);
        let StmtKind::Block(body) = &unit.stmt(function.body).kind else { return None };
        let first = unit.stmt(*body.first()?).span;
        let scope = layout::innermost(unit, first.start)?;
        let is_before = |span: Span| scope.span.start <= span.start && span.start < first.start;
        let from = bound.partition_point(|one| one.directive.span.start < scope.span.start);
        let directives = bound[from..].iter().map(|one| (acc::name(one.directive.kind), one.directive.span));
        // What views before have translated stands there, too.
        let known = all.reports.range(scope.span.start..first.start).map(|(_, one)| (one.name, one.span));
        let directives = directives.take_while(|(_, span)| span.start < first.start).chain(known);
        let directives = directives.filter(|(name, span)| {
            layout::innermost(unit, span.start).is_some_and(|own| own.span == scope.span)
                && ![DirectiveKind::Declare, DirectiveKind::Routine]
                    .iter()
                    .any(|kind| acc::name(*kind) == *name)
        });
        // Another build may declare variables where this one has nothing.
        let may_declare = |span: Span| file.text(span).contains("::");
        let conditions = view.conditions.within(scope.span).filter(|one| {
            is_before(one.span) && scope.specification.end <= one.span.start && !may_declare(one.span)
        });
        let others = directives.map(|(_, span)| span).chain(conditions.map(|one| one.head()));
        let place = others.chain([first]).min_by_key(|span| span.start)?;
        Some(Entry { first, place })
    }

    /// Whether the code before it, in whatever branch, says that it goes on.
    fn is_continued(&self, file: &SourceFile) -> bool {
        let line = file.lines.span(file.lines.line(self.place.start));
        let before = file.text(Span { start: line.start.saturating_sub(4096), end: line.start });
        let mut code = before
            .lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with(['!', '#']));
        code.next().is_some_and(|line| line.ends_with('&'))
    }

    /// The edit that puts a line there, as far from the margin as the first statement.
    fn edit(&self, file: &SourceFile, line: &str) -> Option<Edit> {
        match self.place == self.first {
            true => layout::before_statement(file, self.first, line),
            false => layout::above_code(file, self.place.start, self.first.start, line),
        }
    }
}

/// The variables of modules with `declare` that a procedure hands to others.
fn handed_on(view: &View, function: &Function, constructs: &[Span]) -> Vec<Handed> {
    let (ground, unit) = (&view.ground, view.ground.files.own.unit);
    let body = unit.stmt(function.body).span;
    let is_on_host = |span: Span| {
        let next = constructs.partition_point(|construct| construct.start <= span.start);
        next.checked_sub(1).is_none_or(|at| !constructs[at].contains(span))
    };
    let mut found: Vec<Handed> = Vec::new();
    for expr in unit.exprs_in(body).filter(|expr| is_on_host(expr.span)) {
        let handed: &[ExprId] = match &expr.kind {
            ExprKind::Call { callee, args } if is_procedure(view, *callee) => args,
            ExprKind::AddressOf(target) => &[*target],
            _ => continue,
        };
        for variable in handed.iter().filter_map(|one| base(unit, *one)) {
            let symbol = ground.symbols.named(unit, variable);
            let Some(symbol) = symbol.filter(|symbol| ground.declared(*symbol).is_some()) else { continue };
            let at = unit.expr(variable).span;
            found.push(Handed { at, symbol, name: ground.files.own.file.text(at).into_owned() });
        }
    }
    found
}

/// The variables that stand in code of other builds, which is not read here: procedures may get them.
fn named_elsewhere(view: &View, function: &Function, place: Span) -> Vec<Handed> {
    let Texts { file, unit } = view.ground.files.own;
    let mut found = Vec::new();
    for condition in view.conditions.within(function.span).filter(|one| place.start <= one.span.start) {
        for line in file.lines.line(condition.span.start)..=file.lines.line(condition.span.end) {
            let span = file.lines.span(line);
            let text = file.text(span);
            let code = text.split('!').next().unwrap_or_default();
            if unit.exprs_in(span).next().is_some() || code.starts_with('#') {
                continue;
            }
            for word in code.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
                let symbol = view.ground.symbols.lookup(&word.to_ascii_lowercase(), place.start);
                if let Some(symbol) = symbol.filter(|symbol| view.ground.declared(*symbol).is_some()) {
                    found.push(Handed { at: place, symbol, name: word.to_owned() });
                }
            }
        }
    }
    found
}

/// What compute constructs run on the device: they find the variables that they name.
fn constructs<'a>(view: &View<'a>) -> impl Iterator<Item = Span> + use<'a> {
    let (unit, bound) = (view.ground.files.own.unit, view.ground.bound);
    let constructs = bound.iter().filter(|one| one.directive.kind.is_compute());
    constructs.filter_map(|one| Some(unit.stmt(one.stmt()?).span))
}

/// Whether what stands before an argument list is a procedure that may have directives: an array has none, and an intrinsic
/// procedure neither.
fn is_procedure(view: &View, callee: ExprId) -> bool {
    let (symbols, unit) = (view.ground.symbols, view.ground.files.own.unit);
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return true };
    let is_array = symbols.named(unit, callee).is_some_and(|symbol| !symbols.get(symbol).shape.is_empty());
    !is_array && (unit.function_places(name).next().is_some() || !is_pure_intrinsic(name))
}

/// The name of the variable that an argument is, or is a part of.
fn base(unit: &Unit, mut at: ExprId) -> Option<ExprId> {
    loop {
        at = match &unit.expr(at).kind {
            ExprKind::Name(_) => return Some(at),
            ExprKind::Index(base, _) | ExprKind::Call { callee: base, .. } => *base,
            ExprKind::Member { base, .. } => *base,
            _ => return None,
        };
    }
}
