//! Which threads share out which loop (OpenACC 3.3, 2.9): gangs are blocks, workers rows and vector lanes columns of a block.
//!
//! Invariant: a level is taken once on the way from a region to a statement; only loops that the program calls independent
//! take any.

use crate::cuda::file::device;
use std::collections::BTreeMap;

use crate::acc::ast::{ClauseKind, DirectiveKind, GangArgument, ListItem, ReductionOp};
use crate::bind::{Bound, ancestors, descendants};
use crate::diag::{self, Diag};
use crate::host::ir::{ExprKind, StmtId};
use crate::plan::{Item, WorkLoop};
use crate::sema::{self, Header, SymbolId};
use crate::source::Span;

use super::reuse;
use crate::cuda::fit::cpp;
use crate::cuda::program::Input;

/// Levels of parallelism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Gangs
    pub gang: bool,
    /// Workers of a gang
    pub worker: bool,
    /// Vector lanes of a worker
    pub vector: bool,
}

impl Levels {
    pub const ALL: Levels = Levels { gang: true, worker: true, vector: true };
    pub const NONE: Levels = Levels { gang: false, worker: false, vector: false };

    pub fn any(self) -> bool {
        self.gang || self.worker || self.vector
    }

    pub fn threads(self) -> bool {
        self.worker || self.vector
    }

    pub fn with(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang || other.gang,
            worker: self.worker || other.worker,
            vector: self.vector || other.vector,
        }
    }

    pub fn without(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang && !other.gang,
            worker: self.worker && !other.worker,
            vector: self.vector && !other.vector,
        }
    }
}

/// A loop, or a tight nest of loops run as one, whose iterations are shared out.
#[derive(Clone, Debug)]
pub struct Shared<'a> {
    /// The headers, outermost first.
    pub headers: Vec<Header>,
    /// The `for` statements, outermost first.
    pub stmts: Vec<StmtId>,
    /// Who shares it out.
    pub levels: Levels,
    /// The sizes of its tiles, outermost loop first.
    pub tile: Vec<String>,
    /// What its clauses reduce.
    pub reductions: Vec<(ReductionOp, &'a ListItem)>,
    /// What its clauses make private.
    pub private: Vec<&'a ListItem>,
    /// The trip count is read from memory: it may be short, and differ from one outer iteration to the next.
    pub ragged: bool,
    /// Its iterations are taken in tiles, as neighbours in both directions read the same memory.
    pub reuses: bool,
}

impl<'a> Shared<'a> {
    /// Its bytes.
    pub fn span(&self, input: &Input) -> Span {
        input.stmt_span(self.stmts[0])
    }

    /// The operators by which its clauses reduce a variable.
    pub fn reduces(&self, input: &Input<'a>, symbol: SymbolId) -> impl Iterator<Item = ReductionOp> {
        let at = self.span(input).start;
        let own = self
            .reductions
            .iter()
            .filter(move |(_, item)| input.symbols.lookup(&item.base.text, at) == Some(symbol));
        own.map(|(op, _)| *op)
    }
}

/// All shared loops of a region, by their outermost statement.
pub type Nest<'a> = BTreeMap<StmtId, Shared<'a>>;

/// What the region of a compute construct, or of a routine, offers its loops.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The bound directive of the region.
    pub index: usize,
    /// The levels that are free.
    pub levels: Levels,
    /// Loops need a clause that calls them independent: `kernels`.
    pub wants_assertion: bool,
    /// There may be several gangs: they divide what the plan says.
    pub has_gangs: bool,
}

/// Shares out the loops of a region. The second part is what there is to say of loops that stay sequential.
pub fn nest<'a>(input: &Input<'a>, offer: Offer) -> (Nest<'a>, Vec<Diag>) {
    let mut finder = Finder { input, offer, nest: Nest::new(), diags: Vec::new() };
    let kind = input.bound[offer.index].directive.kind;
    let combined =
        matches!(kind, DirectiveKind::ParallelLoop | DirectiveKind::KernelsLoop | DirectiveKind::Loop);
    let first: Vec<usize> =
        if combined { vec![offer.index] } else { children(input.bound, offer.index).collect() };
    if offer.levels.any() {
        finder.loops(&first, offer.levels);
    }
    (finder.nest, finder.diags)
}

/// Shares out the loops of a routine's body.
pub fn nest_in<'a>(input: &Input<'a>, offer: Offer, body: Span) -> (Nest<'a>, Vec<Diag>) {
    let mut finder = Finder { input, offer, nest: Nest::new(), diags: Vec::new() };
    let is_outer = |at: &usize| {
        let one = &input.bound[*at];
        one.directive.kind == DirectiveKind::Loop
            && body.contains(one.directive.span)
            && !ancestors(input.bound, *at)
                .any(|above| input.bound[above].directive.kind == DirectiveKind::Loop)
    };
    let first: Vec<usize> = (0..input.bound.len()).filter(is_outer).collect();
    finder.loops(&first, offer.levels);
    (finder.nest, finder.diags)
}

/// The loop directives whose parent is `index`.
fn children(bound: &[Bound], index: usize) -> impl Iterator<Item = usize> {
    let is_loop = |at: &usize| bound[*at].directive.kind == DirectiveKind::Loop;
    descendants(bound, index).filter(is_loop).filter(move |at| {
        // Other directives in between do not count.
        let above = ancestors(bound, *at).find(|at| bound[*at].directive.kind != DirectiveKind::Atomic);
        above == Some(index)
    })
}

/// What the clauses of a loop directive say.
#[derive(Default)]
struct Clauses<'a> {
    seq: bool,
    auto: bool,
    independent: bool,
    levels: Levels,
    collapse: usize,
    force: bool,
    tile: Vec<String>,
    reductions: Vec<(ReductionOp, &'a ListItem)>,
    private: Vec<&'a ListItem>,
}

struct Finder<'a, 'b> {
    input: &'b Input<'a>,
    offer: Offer,
    nest: Nest<'a>,
    diags: Vec<Diag>,
}

impl<'a> Finder<'a, '_> {
    fn clauses(&self, at: usize) -> Clauses<'a> {
        let mut clauses = Clauses { collapse: 1, ..Clauses::default() };
        for kind in self.input.clauses(at) {
            match kind {
                ClauseKind::Seq => clauses.seq = true,
                ClauseKind::Auto => clauses.auto = true,
                ClauseKind::Independent => clauses.independent = true,
                ClauseKind::Gang(_) => clauses.levels.gang = true,
                ClauseKind::Worker(_) => clauses.levels.worker = true,
                ClauseKind::Vector(_) => clauses.levels.vector = true,
                ClauseKind::Collapse { force, count } => {
                    clauses.collapse = count.text.trim().parse().unwrap_or(1);
                    clauses.force = *force;
                }
                ClauseKind::Tile(sizes) => {
                    clauses.tile = sizes.iter().rev().map(|size| size.text.trim().to_owned()).collect();
                }
                ClauseKind::Private(list) => clauses.private.extend(list),
                ClauseKind::Reduction(op, list) => {
                    clauses.reductions.extend(list.iter().map(|item| (*op, item)))
                }
                _ => {}
            }
        }
        clauses
    }

    fn loops(&mut self, loops: &[usize], free: Levels) {
        for at in loops {
            self.one(*at, free);
        }
    }

    fn one(&mut self, at: usize, free: Levels) {
        let clauses = self.clauses(at);
        let below: Vec<usize> = children(self.input.bound, at).collect();
        let Some(stmt) = self.input.bound[at].stmt() else { return };
        let name = self.input.bound[at].directive.name_span;
        let header = sema::header(self.input.unit(), self.input.symbols, stmt);
        let is_parallel = if clauses.seq {
            false
        } else if let Err(why) = &header {
            self.diags.push(diag::not_canonical(name, why.0));
            false
        } else {
            true
        };
        let Some(header) = header.ok().filter(|_| is_parallel) else {
            return self.loops(&below, free);
        };
        let mut shared = Shared {
            headers: vec![header],
            stmts: vec![stmt],
            levels: Levels::NONE,
            tile: Vec::new(),
            reductions: clauses.reductions.clone(),
            private: clauses.private.clone(),
            ragged: false,
            reuses: false,
        };
        let wanted = clauses.collapse.max(clauses.tile.len());
        while shared.headers.len() < wanted && self.take_inner(&mut shared) {}
        if shared.headers.len() == clauses.tile.len() {
            shared.tile.clone_from(&clauses.tile);
        }
        // Loops without levels that are tight in one another are one.
        let mut below = below;
        let mut asked = clauses.levels;
        while !asked.any() && shared.tile.is_empty() {
            let [only] = below.as_slice() else { break };
            let inner = self.clauses(*only);
            let plain = !inner.seq
                && !inner.auto
                && !inner.levels.any()
                && inner.tile.is_empty()
                && inner.collapse == 1
                && (inner.independent || !self.offer.wants_assertion);
            if !plain
                || self.input.bound[*only].stmt() != self.inner_loop(&shared)
                || !self.take_inner(&mut shared)
            {
                break;
            }
            for reduction in inner.reductions {
                let known = shared.reductions.iter().any(|(_, item)| item.text == reduction.1.text);
                if !known {
                    shared.reductions.push(reduction);
                }
            }
            shared.private.extend(inner.private);
            below = children(self.input.bound, *only).collect();
        }
        let parallel_below = self.parallel_depth(&below);
        if !asked.any() {
            asked = match parallel_below {
                0 => free,
                _ if free.gang => {
                    Levels { worker: parallel_below == 1, ..Levels { gang: true, ..Levels::NONE } }
                }
                _ => Levels { worker: true, ..Levels::NONE },
            };
        } else if parallel_below == 0 && !self.calls_levels(stmt) {
            // Nothing inside wants the levels that are left.
            asked = asked.with(Levels { gang: false, ..Levels::ALL });
        }
        // An outermost loop that names other levels only is the gangs' as well (2.9.2).
        asked.gang |= free.gang && self.offer.has_gangs && self.gangs_divide(at);
        // A level that is taken already is not taken twice.
        shared.levels = Levels {
            gang: asked.gang && free.gang,
            worker: asked.worker && free.worker,
            vector: asked.vector && free.vector,
        };
        shared.ragged = self.is_ragged(&shared);
        shared.reuses =
            shared.levels == Levels::ALL && shared.tile.is_empty() && reuse::is_in(self.input, &shared);
        let left = free.without(shared.levels);
        // What a loop at an inner level leaves free further out stays out of reach inside it.
        let left = Levels {
            gang: left.gang && !shared.levels.threads(),
            worker: left.worker && !shared.levels.vector,
            vector: left.vector,
        };
        if shared.levels.any() {
            self.nest.insert(stmt, shared);
        }
        self.loops(&below, left);
    }

    /// Whether the plan has the gangs divide the loop of directive `at`.
    fn gangs_divide(&self, at: usize) -> bool {
        let is_over_gangs = |work: &WorkLoop| work.spread.gangs;
        match &self.input.plan.items[at] {
            Item::Launch(launch) => launch.nest.as_ref().is_some_and(is_over_gangs),
            Item::Loop(work) => is_over_gangs(work),
            _ => false,
        }
    }

    /// The loop that is all there is in the innermost loop of `shared`.
    fn inner_loop(&self, shared: &Shared) -> Option<StmtId> {
        sema::only_loop(self.input.unit(), shared.headers.last()?.body)
    }

    /// Takes the loop that is tight in `shared` into it.
    fn take_inner(&self, shared: &mut Shared) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let Some(only) = self.inner_loop(shared) else { return false };
        let Ok(inner) = sema::header(unit, symbols, only) else { return false };
        if !sema::is_tight(unit, symbols, &shared.headers, &inner) {
            return false;
        }
        shared.headers.push(inner);
        shared.stmts.push(only);
        true
    }

    /// How many levels deep the loops below are to be shared out.
    fn parallel_depth(&self, loops: &[usize]) -> usize {
        let depth = |at: &usize| {
            let clauses = self.clauses(*at);
            let canonical = self.input.bound[*at]
                .stmt()
                .is_some_and(|stmt| sema::header(self.input.unit(), self.input.symbols, stmt).is_ok());
            let parallel = !clauses.seq
                && canonical
                && (clauses.independent || !clauses.auto)
                && (!self.offer.wants_assertion || clauses.independent || clauses.levels.any());
            let below: Vec<usize> = children(self.input.bound, *at).collect();
            usize::from(parallel) + self.parallel_depth(&below)
        };
        loops.iter().map(depth).max().unwrap_or(0)
    }

    /// Whether a statement calls a routine that shares out loops itself.
    fn calls_levels(&self, stmt: StmtId) -> bool {
        called_levels(self.input, stmt).any()
    }

    fn is_ragged(&self, shared: &Shared) -> bool {
        let unit = self.input.unit();
        let Some(header) = shared.headers.first() else { return false };
        let is_read = |expr| {
            let mut pending = vec![expr];
            while let Some(expr) = pending.pop() {
                let kind = &unit.expr(expr).kind;
                if matches!(kind, ExprKind::Index(..) | ExprKind::Deref(_)) {
                    return true;
                }
                pending.extend(kind.children());
            }
            false
        };
        if is_read(header.first) || is_read(header.bound) {
            return true;
        }
        // Bounds kept in variables that the outer loop sets.
        let names = [header.first, header.bound]
            .into_iter()
            .flat_map(|expr| sema::reads_of_expr(unit, self.input.symbols, expr));
        names.into_iter().any(|symbol| {
            let Some((_, decl)) = self.input.declaration(symbol) else { return false };
            decl.init.is_some_and(is_read)
        })
    }
}

/// The levels that the calls in a statement take for themselves.
pub fn called_levels(input: &Input, stmt: StmtId) -> Levels {
    let uses = sema::uses(input.unit(), input.symbols, stmt);
    let called = uses.calls.keys().fold(Levels::NONE, |sum, name| sum.with(routine_levels(input, name)));
    if !input.unit().is_cpp() {
        return called;
    }
    cpp::called(input, input.stmt_span(stmt))
        .fold(called, |sum, (name, _)| sum.with(routine_levels(input, &name)))
}

/// The levels that a call of the function takes for itself: those of its `routine` directive, here or in a header.
pub fn routine_levels(input: &Input, name: &str) -> Levels {
    for (index, bound) in input.bound.iter().enumerate() {
        if bound.directive.kind == DirectiveKind::Routine
            && device::routine_name(input, index).is_some_and(|known| cpp::bare(known) == cpp::bare(name))
        {
            return declared_levels(input, index);
        }
    }
    let of_headers = input.read.iter().map(|header| routine_levels(header, name));
    of_headers.fold(Levels::NONE, Levels::with)
}

/// The levels that a `routine` directive names.
pub fn declared_levels(input: &Input, index: usize) -> Levels {
    let mut levels = Levels::NONE;
    for kind in input.clauses(index) {
        match kind {
            ClauseKind::Gang(arguments) => {
                let _: &Vec<GangArgument> = arguments;
                levels = Levels::ALL;
            }
            ClauseKind::Worker(_) => levels = Levels { gang: levels.gang, worker: true, vector: true },
            ClauseKind::Vector(_) => levels.vector = true,
            _ => {}
        }
    }
    levels
}
