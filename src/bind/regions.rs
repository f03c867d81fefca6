//! Fortran's regions: a directive and its `end` enclose statements, which become one block.
//!
//! Invariant: a region is whole statements of one block; what is not is a diagnostic, and its directives are left untranslated.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::acc::ast::{ClauseKind, Directive, DirectiveKind, EndKind};
use crate::diag::{self, Diag};
use crate::host::ir::{FunctionId, Stmt, StmtId, StmtKind, Unit};
use crate::scan::DirectiveText;
use crate::source::Span;

/// The regions of a file, by the directives' places in the list of parsed ones.
#[derive(Debug, Default)]
pub struct Regions {
    /// The block that a directive and its `end` enclose.
    pub(super) blocks: FxHashMap<usize, StmtId>,
    /// The `end` of a directive.
    pub(super) ends: FxHashMap<usize, usize>,
    /// Directives whose region is unknown.
    pub(super) broken: Vec<usize>,
}

impl Regions {
    /// The procedures with a compute construct whose region is unknown: its loops have no construct around them.
    pub(super) fn unclear(
        &self,
        unit: &Unit,
        parsed: &[(usize, Directive)],
    ) -> FxHashSet<Option<FunctionId>> {
        let directives = self.broken.iter().filter_map(|at| parsed.get(*at)).map(|(_, directive)| directive);
        let of_compute = directives.filter(|directive| {
            let end = match directive.kind {
                DirectiveKind::End(end) => Some(end),
                kind => end_of(kind),
            };
            matches!(end, Some(EndKind::Parallel | EndKind::Serial | EndKind::Kernels))
        });
        of_compute.map(|directive| super::function_at(unit, directive.span.start)).collect()
    }
}

/// Whether a directive is about something within a compute construct.
pub(super) fn is_inner(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache)
}

/// Pairs the directives with their `end`s, and makes a block of what each pair encloses.
pub fn enclose(
    unit: &mut Unit,
    texts: &[DirectiveText],
    parsed: &[(usize, Directive)],
) -> (Regions, Vec<Diag>) {
    let mut regions = Regions::default();
    let mut diags = Vec::new();
    let mut blocks = Blocks::new(unit);
    let mut open: Vec<usize> = Vec::new();
    for (at, (_, directive)) in parsed.iter().enumerate() {
        let DirectiveKind::End(end) = directive.kind else {
            if end_of(directive.kind).is_some() {
                open.push(at);
            }
            continue;
        };
        let function = super::function_at(unit, directive.span.start);
        let is_here = |begin: usize| super::function_at(unit, parsed[begin].1.span.start) == function;
        let own = |begin: usize| end_of(parsed[begin].1.kind).filter(|_| is_here(begin));
        let code = |begin: usize| texts[parsed[begin].0].next_code;
        // What ends a loop stands right after it: after another one, it may belong to a directive that could not be read.
        let may_end = |begin: usize| {
            !is_loop(end)
                || !blocks.starts.contains_key(&code(begin))
                || blocks.is_after(unit, code(begin), directive.span)
        };
        let exact = open.iter().rposition(|begin| own(*begin) == Some(end) && may_end(*begin));
        let kin = other_form(end).and_then(|kin| open.iter().rposition(|begin| own(*begin) == Some(kin)));
        // A region must end, so that the one that began last ends here; a loop's construct has ended after the loop.
        let kin = kin.filter(|place| match is_loop(end) {
            true => exact < Some(*place),
            false => exact.is_none() && blocks.is_after(unit, code(open[*place]), directive.span),
        });
        let Some(place) = kin.or(exact) else {
            diags.push(diag::end_alone(directive.span, crate::acc::name(directive.kind)));
            regions.broken.push(at);
            continue;
        };
        if let Some(named) = kin.and_then(|_| own(open[place])) {
            diags.push(diag::end_of_other_form(directive.span, crate::acc::name(DirectiveKind::End(named))));
        }
        for skipped in open.drain(place + 1..) {
            missing_end(parsed, skipped, &mut regions, &mut diags);
        }
        let Some(begin) = open.pop() else { continue };
        regions.ends.insert(begin, at);
        if own(begin).is_some_and(is_loop) {
            continue;
        }
        let extent = Span { start: parsed[begin].1.span.end, end: directive.span.start };
        match blocks.enclosed(unit, texts[parsed[begin].0].next_code, extent) {
            Some(block) => drop(regions.blocks.insert(begin, block)),
            None => {
                diags.push(diag::region_not_whole(parsed[begin].1.span, directive.span));
                regions.broken.extend([begin, at]);
            }
        }
    }
    for begin in open {
        missing_end(parsed, begin, &mut regions, &mut diags);
    }
    (regions, diags)
}

/// A directive without its `end`, where it needs one.
fn missing_end(parsed: &[(usize, Directive)], begin: usize, regions: &mut Regions, diags: &mut Vec<Diag>) {
    let directive = &parsed[begin].1;
    let is_capture = directive.clauses.iter().any(|clause| clause.kind == ClauseKind::AtomicCapture);
    let is_optional = match end_of(directive.kind) {
        Some(EndKind::Atomic) => !is_capture,
        Some(end) => is_loop(end),
        None => true,
    };
    if !is_optional {
        diags.push(diag::end_missing(directive.span, crate::acc::name(directive.kind)));
        regions.broken.push(begin);
    }
}

/// The `end` that a directive may have.
fn end_of(kind: DirectiveKind) -> Option<EndKind> {
    match kind {
        DirectiveKind::Parallel => Some(EndKind::Parallel),
        DirectiveKind::Serial => Some(EndKind::Serial),
        DirectiveKind::Kernels => Some(EndKind::Kernels),
        DirectiveKind::ParallelLoop => Some(EndKind::ParallelLoop),
        DirectiveKind::SerialLoop => Some(EndKind::SerialLoop),
        DirectiveKind::KernelsLoop => Some(EndKind::KernelsLoop),
        DirectiveKind::Loop => Some(EndKind::Loop),
        DirectiveKind::Data => Some(EndKind::Data),
        DirectiveKind::HostData => Some(EndKind::HostData),
        DirectiveKind::Atomic => Some(EndKind::Atomic),
        DirectiveKind::EnterData
        | DirectiveKind::ExitData
        | DirectiveKind::Cache
        | DirectiveKind::Declare
        | DirectiveKind::Init
        | DirectiveKind::Shutdown
        | DirectiveKind::Set
        | DirectiveKind::Update
        | DirectiveKind::Wait
        | DirectiveKind::Routine
        | DirectiveKind::End(_) => None,
    }
}

/// Whether the loop itself says where the construct ends.
fn is_loop(end: EndKind) -> bool {
    matches!(end, EndKind::Loop | EndKind::ParallelLoop | EndKind::SerialLoop | EndKind::KernelsLoop)
}

/// The `end` of the same construct with or without its loop, which compilers take for the other.
fn other_form(end: EndKind) -> Option<EndKind> {
    match end {
        EndKind::Parallel => Some(EndKind::ParallelLoop),
        EndKind::ParallelLoop => Some(EndKind::Parallel),
        EndKind::Serial => Some(EndKind::SerialLoop),
        EndKind::SerialLoop => Some(EndKind::Serial),
        EndKind::Kernels => Some(EndKind::KernelsLoop),
        EndKind::KernelsLoop => Some(EndKind::Kernels),
        EndKind::Loop | EndKind::Data | EndKind::HostData | EndKind::Atomic => None,
    }
}

/// The bodies of a statement that ends at `end`, and where each must have ended.
fn bodies(unit: &Unit, stmt: &Stmt, end: u32) -> Vec<(StmtId, u32)> {
    match &stmt.kind {
        StmtKind::If { then, other: Some(other), .. } => {
            vec![(*then, unit.stmt(*other).span.start), (*other, end)]
        }
        StmtKind::If { then: body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::Switch { body, .. } => vec![(*body, end)],
        _ => Vec::new(),
    }
}

/// The blocks that statements stand in.
struct Blocks {
    of: FxHashMap<StmtId, StmtId>,
    /// The statements that begin at an offset and stand in a block.
    starts: FxHashMap<u32, StmtId>,
    /// Where the statement ends whose body a block is.
    limits: FxHashMap<StmtId, u32>,
}

impl Blocks {
    fn new(unit: &Unit) -> Blocks {
        let mut blocks =
            Blocks { of: FxHashMap::default(), starts: FxHashMap::default(), limits: FxHashMap::default() };
        // An `else if` ends with its last statement, but directives after that are in it up to the next branch: the
        // statement around, which was made later, says where.
        for (index, stmt) in unit.stmts.iter().enumerate().rev() {
            let known = blocks.limits.get(&StmtId(index as u32)).copied();
            blocks.limits.extend(bodies(unit, stmt, known.unwrap_or(stmt.span.end)));
        }
        for (index, stmt) in unit.stmts.iter().enumerate() {
            let StmtKind::Block(list) = &stmt.kind else { continue };
            for inner in list {
                blocks.of.insert(*inner, StmtId(index as u32));
                blocks.starts.insert(unit.stmt(*inner).span.start, *inner);
            }
        }
        blocks
    }

    /// Whether `end` stands in the block of the statement that begins at `first`, with no other statement between.
    fn is_after(&self, unit: &Unit, first: u32, end: Span) -> bool {
        let Some(stmt) = self.starts.get(&first) else { return false };
        let Some(around) = self.of.get(stmt) else { return false };
        let StmtKind::Block(list) = &unit.stmt(*around).kind else { return false };
        let next = list.partition_point(|other| unit.stmt(*other).span.start <= first);
        let is_before_next = list.get(next).is_none_or(|next| end.end <= unit.stmt(*next).span.start);
        let is_in_block = self.limits.get(around).is_none_or(|limit| end.end < *limit);
        unit.stmt(*stmt).span.end <= end.start && is_before_next && is_in_block
    }

    /// Makes a block of the statements in `extent`, the first of which begins at `first`.
    fn enclosed(&mut self, unit: &mut Unit, first: u32, extent: Span) -> Option<StmtId> {
        let block = StmtId(unit.stmts.len() as u32);
        if first >= extent.end {
            unit.stmts.push(Stmt { span: extent, kind: StmtKind::Block(Vec::new()) });
            return Some(block);
        }
        // A region that begins with another one begins with its block.
        let mut inner = *self.starts.get(&first)?;
        let mut around = *self.of.get(&inner)?;
        // A body that is not a statement of another block stays around.
        while let Some(outer) = self.of.get(&around).filter(|_| extent.contains(unit.stmt(around).span)) {
            inner = around;
            around = *outer;
        }
        if self.limits.get(&around).is_some_and(|limit| *limit <= extent.end) {
            return None;
        }
        let StmtKind::Block(list) = &unit.stmt(around).kind else { return None };
        let start = unit.stmt(inner).span.start;
        let from = list.partition_point(|stmt| unit.stmt(*stmt).span.start < start);
        let count = list[from..].iter().take_while(|stmt| unit.stmt(**stmt).span.start < extent.end).count();
        let held: Vec<StmtId> = list[from..from + count].to_vec();
        if held.iter().any(|stmt| !extent.contains(unit.stmt(*stmt).span)) {
            return None;
        }
        for stmt in &held {
            self.of.insert(*stmt, block);
        }
        self.of.insert(block, around);
        unit.stmts.push(Stmt { span: extent, kind: StmtKind::Block(held) });
        if let StmtKind::Block(list) = &mut unit.stmts[around.0 as usize].kind {
            list.splice(from..from + count, [block]);
        }
        Some(block)
    }
}
