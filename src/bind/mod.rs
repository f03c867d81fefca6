//! Joins each directive to the construct it governs, and directives to one another.
//!
//! Invariant: binding goes by offsets (the first code byte after the directive), never by what the grammar made of a pragma.

mod api;
mod asked;
mod concurrent;
mod counterparts;
mod declared;
mod imply;
mod regions;
mod routines;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::acc::ast::{Directive, DirectiveKind};
use crate::diag::{self, Diag};
use crate::host::ir::{FunctionId, ScopeKind, StmtId, StmtKind, Unit};
use crate::scan::DirectiveText;
use crate::source::Span;

pub use api::{ApiCall, ApiUse, api_uses};
pub use concurrent::nest_concurrent;
pub use counterparts::{Counterparts, counterparts, with_all_in_it, without};
pub use declared::{Declared, declared};
pub use imply::{implied_clause, implied_copy, implied_item, implied_loop, imply_concurrent, with_implied};
pub use regions::{Regions, enclose};
pub use routines::{bare_name, bare_place, named_by, routines};

/// What a directive governs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The statement after it.
    Stmt(StmtId),
    /// The function definition after it.
    Function(FunctionId),
    /// The declaration at file scope after it.
    Declaration(Span),
    /// Nothing: it stands for itself.
    Standalone,
}

/// A directive at its place.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Index of its `DirectiveText` in the scan; none if it is implied and stands before the loop that it governs.
    pub text: Option<usize>,
    /// What it says.
    pub directive: Directive,
    /// What it governs.
    pub target: Target,
    /// The function it stands in.
    pub function: Option<FunctionId>,
    /// It stands where a control statement expects its body, which is not a block.
    pub unbraced: bool,
    /// It stands where a control statement expects its body, be it a block: a line before it would be the body.
    pub is_body: bool,
    /// The innermost directive whose construct holds it: an index into the list of bound directives.
    pub parent: Option<usize>,
    /// Fortran's `end` of it, or what it is the `end` of: an index into the same list.
    pub partner: Option<usize>,
}

impl Bound {
    /// The statement that it governs.
    pub fn stmt(&self) -> Option<StmtId> {
        match self.target {
            Target::Stmt(stmt) => Some(stmt),
            Target::Function(_) | Target::Declaration(_) | Target::Standalone => None,
        }
    }
}

/// The loops that have directives.
pub fn governed_loops(bound: &[Bound]) -> BTreeSet<StmtId> {
    bound.iter().filter(|one| one.directive.kind.is_loop()).filter_map(Bound::stmt).collect()
}

/// The directives whose constructs hold directive `index`, innermost first.
pub fn ancestors(bound: &[Bound], index: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(bound[index].parent, |at| bound[*at].parent)
}

/// The directives that the construct of directive `index` holds, in source order.
pub fn descendants(bound: &[Bound], index: usize) -> impl Iterator<Item = usize> {
    // A construct's directives stand after its own, one after the other: what holds the next one is it, or in it.
    (index + 1..bound.len()).take_while(move |at| bound[*at].parent.is_some_and(|above| above >= index))
}

/// How a directive is tied to code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Association {
    Loop,
    Statement,
    Routine,
    Standalone,
}

fn association(directive: &Directive) -> Association {
    use crate::acc::ast::Argument;
    match directive.kind {
        DirectiveKind::ParallelLoop
        | DirectiveKind::SerialLoop
        | DirectiveKind::KernelsLoop
        | DirectiveKind::Loop => Association::Loop,
        DirectiveKind::Parallel
        | DirectiveKind::Serial
        | DirectiveKind::Kernels
        | DirectiveKind::Data
        | DirectiveKind::HostData
        | DirectiveKind::Atomic => Association::Statement,
        DirectiveKind::Routine if directive.argument == Argument::None => Association::Routine,
        DirectiveKind::Routine
        | DirectiveKind::EnterData
        | DirectiveKind::ExitData
        | DirectiveKind::Cache
        | DirectiveKind::Declare
        | DirectiveKind::Init
        | DirectiveKind::Shutdown
        | DirectiveKind::Set
        | DirectiveKind::Update
        | DirectiveKind::Wait
        | DirectiveKind::End(_) => Association::Standalone,
    }
}

/// Binds the parsed directives of one file, in source order. A directive that cannot be bound is omitted, with a diagnostic,
/// or without one if its region is broken.
pub fn bind(
    unit: &Unit,
    texts: &[DirectiveText],
    parsed: Vec<(usize, Directive)>,
    regions: &Regions,
) -> (Vec<Bound>, Vec<Diag>) {
    let places = Places::new(unit);
    let mut diags = Vec::new();
    let mut bound: Vec<Bound> = Vec::new();
    let mut open: Vec<(usize, Span)> = Vec::new();
    let mut numbers = vec![None; parsed.len()];
    let begins: FxHashMap<usize, usize> = regions.ends.iter().map(|(begin, end)| (*end, *begin)).collect();
    let unclear = regions.unclear(unit, &parsed);
    let repeated = repeated(texts, &parsed);
    for (at, (text, directive)) in parsed.into_iter().enumerate() {
        let Some(written) = texts.get(text).filter(|_| !regions.broken.contains(&at)) else { continue };
        if repeated.contains(&at) {
            diags.push(diag::not_before_statement(directive.span, crate::acc::name(directive.kind)));
            continue;
        }
        let function = function_at(unit, directive.span.start);
        let region = regions.blocks.get(&at).map(|block| Ok(Target::Stmt(*block)));
        let target = region.unwrap_or_else(|| find_target(unit, &places, written, &directive, function));
        let target = match target {
            Ok(target) => target,
            Err(diag) => {
                diags.push(diag);
                continue;
            }
        };
        open.retain(|(_, extent)| extent.contains(directive.span));
        let parent = open.last().map(|(index, _)| *index);
        // It may belong to a construct of this procedure that is left untranslated.
        let mut around = std::iter::successors(parent, |at| bound[*at].parent);
        let is_orphan =
            regions::is_inner(directive.kind) && !around.any(|at| bound[at].directive.kind.is_compute());
        let is_end_of_left = begins.get(&at).is_some_and(|begin| numbers[*begin].is_none());
        if is_orphan && unclear.contains(&function) || is_end_of_left {
            continue;
        }
        if let Target::Stmt(stmt) = target {
            open.push((bound.len(), directive.span.to(unit.stmt(stmt).span)));
        }
        numbers[at] = Some(bound.len());
        let unbraced = places.is_unbraced_body(written);
        let is_body = places.is_body(written);
        bound.push(Bound {
            text: Some(text),
            directive,
            target,
            function,
            unbraced,
            is_body,
            parent,
            partner: None,
        });
    }
    for (begin, end) in &regions.ends {
        if let (Some(begin), Some(end)) = (numbers[*begin], numbers[*end]) {
            bound[begin].partner = Some(end);
            bound[end].partner = Some(begin);
        }
    }
    unit.asked.get_or_init(|| asked::asked(&bound, unit.is_fortran()));
    (bound, diags)
}

/// The `atomic` directives after which another one stands before the same statement: they govern nothing.
fn repeated(texts: &[DirectiveText], parsed: &[(usize, Directive)]) -> BTreeSet<usize> {
    let place = |(text, directive): &(usize, Directive)| {
        let is_atomic = directive.kind == DirectiveKind::Atomic;
        texts.get(*text).filter(|_| is_atomic).map(|written| written.next_code)
    };
    let pairs = parsed.windows(2).enumerate();
    pairs.filter_map(|(at, pair)| (place(&pair[0])? == place(&pair[1])?).then_some(at)).collect()
}

fn find_target(
    unit: &Unit,
    places: &Places,
    written: &DirectiveText,
    directive: &Directive,
    function: Option<FunctionId>,
) -> Result<Target, Diag> {
    let name = crate::acc::name(directive.kind);
    if places.is_in_lambda(directive.span) {
        return Err(diag::in_lambda(directive.span, name));
    }
    let wanted = association(directive);
    if wanted == Association::Standalone {
        return match () {
            () if places.is_body(written) => Err(diag::standalone_as_body(directive.span, name)),
            () if places.is_in_expression(directive.span) => {
                Err(diag::within_statement(directive.span, name))
            }
            () => Ok(Target::Standalone),
        };
    }
    if wanted == Association::Routine && unit.is_fortran() {
        return scoping_unit(unit, directive.span.start, function)
            .ok_or_else(|| diag::not_before_statement(directive.span, name));
    }
    if wanted == Association::Routine {
        return routine_target(unit, written.next_code)
            .ok_or_else(|| diag::not_before_statement(directive.span, name));
    }
    let Some(stmt) = function.and_then(|_| places.starts.get(&written.next_code).copied()) else {
        return Err(diag::not_before_statement(directive.span, name));
    };
    let stmt = places.unlabelled(unit, stmt);
    if !unit.is_fortran() && matches!(unit.stmt(stmt).kind, StmtKind::Labeled { stmt: None, .. }) {
        return Err(diag::not_before_statement(directive.span, name));
    }
    let span = unit.stmt(stmt).span;
    if unit.errors.iter().any(|error| span.contains(*error)) {
        return Err(diag::not_understood(directive.span));
    }
    let is_loop = matches!(unit.stmt(stmt).kind, StmtKind::For { .. });
    if wanted == Association::Loop && !is_loop {
        return Err(diag::not_before_loop(directive.span, name));
    }
    Ok(Target::Stmt(stmt))
}

/// What a `routine` directive in the specification part of a Fortran procedure is about: the procedure.
fn scoping_unit(unit: &Unit, offset: u32, function: Option<FunctionId>) -> Option<Target> {
    let innermost = unit.scope_at(offset).map(|id| unit.scope(id));
    let interface = innermost.filter(|scope| scope.kind == ScopeKind::Interface);
    interface.map(|scope| Target::Declaration(scope.span)).or(function.map(Target::Function))
}

fn routine_target(unit: &Unit, next_code: u32) -> Option<Target> {
    if let Some(function) = function_at(unit, next_code)
        && unit.function(function).span.start == next_code
    {
        return Some(Target::Function(function));
    }
    let at = unit.top_level.partition_point(|span| span.start < next_code);
    unit.top_level.get(at).filter(|span| span.start == next_code).map(|span| Target::Declaration(*span))
}

/// The function whose bytes hold `offset`.
pub fn function_at(unit: &Unit, offset: u32) -> Option<FunctionId> {
    let index = unit.functions.partition_point(|function| function.span.end <= offset);
    let function = unit.functions.get(index)?;
    (function.span.start <= offset).then_some(FunctionId(index as u32))
}

/// What a directive may meet after itself.
struct Places {
    /// For each offset where a statement starts, the outermost one.
    starts: FxHashMap<u32, StmtId>,
    /// The bodies of control statements, with the offset after which they are expected.
    bodies: FxHashMap<StmtId, (u32, bool)>,
    /// The outermost lambda expressions, by place.
    lambdas: Vec<Span>,
    /// The outermost expressions of Fortran, by place: those of C may hold blocks.
    expressions: Vec<Span>,
}

impl Places {
    fn new(unit: &Unit) -> Places {
        let mut starts: FxHashMap<u32, StmtId> = FxHashMap::default();
        let mut bodies = FxHashMap::default();
        let mut body = |body: StmtId, head: Span| {
            // In Fortran, `end if` and its like say where a body ends, and there is room for lines in it.
            if unit.is_fortran() {
                return;
            }
            let is_block = matches!(unit.stmt(body).kind, StmtKind::Block(_));
            bodies.insert(body, (head.start, is_block));
        };
        for (index, stmt) in unit.stmts.iter().enumerate() {
            let id = StmtId(index as u32);
            // A Fortran block begins with its first statement, and has no mark of its own.
            if unit.is_fortran() && matches!(stmt.kind, StmtKind::Block(_)) {
                continue;
            }
            let entry = starts.entry(stmt.span.start).or_insert(id);
            if unit.stmt(*entry).span.end < stmt.span.end {
                *entry = id;
            }
            match &stmt.kind {
                StmtKind::If { then, other, .. } => {
                    body(*then, stmt.span);
                    other.iter().for_each(|other| body(*other, unit.stmt(*then).span));
                }
                StmtKind::For { body: inner, .. }
                | StmtKind::While { body: inner, .. }
                | StmtKind::DoWhile { body: inner, .. }
                | StmtKind::Switch { body: inner, .. } => body(*inner, stmt.span),
                // A pragma that is a statement cannot follow a label.
                StmtKind::Labeled { stmt: Some(inner), .. } => body(*inner, stmt.span),
                StmtKind::Block(list) => {
                    for two in list.windows(2) {
                        if matches!(unit.stmt(two[0]).kind, StmtKind::Labeled { stmt: None, .. }) {
                            body(two[1], unit.stmt(two[0]).span);
                        }
                    }
                }
                StmtKind::Decl(_)
                | StmtKind::Expr(_)
                | StmtKind::Empty
                | StmtKind::Labeled { .. }
                | StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Goto(_)
                | StmtKind::Opaque(_) => {}
            }
        }
        let lambdas = outermost(unit.lambdas.iter().map(|(span, _)| *span).collect());
        let expressions = unit.exprs.iter().map(|expr| expr.span).filter(|_| unit.is_fortran());
        Places { starts, bodies, lambdas, expressions: outermost(expressions.collect()) }
    }

    /// The statement after the label of Fortran's `10 do …`.
    fn unlabelled(&self, unit: &Unit, stmt: StmtId) -> StmtId {
        match &unit.stmt(stmt).kind {
            StmtKind::Labeled { stmt: Some(inner), .. } if unit.is_fortran() => *inner,
            _ => stmt,
        }
    }

    fn is_in_lambda(&self, span: Span) -> bool {
        is_in_one(&self.lambdas, span)
    }

    fn is_in_expression(&self, span: Span) -> bool {
        is_in_one(&self.expressions, span)
    }

    /// Whether the directive stands where a control statement expects its body: removing or inserting a statement there
    /// would change what the control statement governs.
    fn is_unbraced_body(&self, written: &DirectiveText) -> bool {
        self.head(written).is_some_and(|is_block| !is_block)
    }

    /// Whether the directive stands where a control statement expects its body, which may be a block.
    fn is_body(&self, written: &DirectiveText) -> bool {
        self.head(written).is_some()
    }

    /// Whether the body that a control statement expects where the directive stands is a block.
    fn head(&self, written: &DirectiveText) -> Option<bool> {
        let body = self.bodies.get(self.starts.get(&written.next_code)?);
        body.filter(|(head, _)| *head < written.span.start).map(|(_, is_block)| *is_block)
    }
}

/// Those that stand in no other one, by place.
fn outermost(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    spans.retain(|span| {
        let is_outer = span.end > end;
        end = end.max(span.end);
        is_outer
    });
    spans
}

/// Whether one of the outermost ones holds a span.
fn is_in_one(outermost: &[Span], span: Span) -> bool {
    let at = outermost.partition_point(|one| one.end <= span.start);
    outermost.get(at).is_some_and(|one| one.contains(span))
}
