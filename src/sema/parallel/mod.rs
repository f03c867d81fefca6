//! Which loops are parallel: the dependences that their iterations carry, in memory and in scalars.
//!
//! Invariant: a loop is called parallel only if that is proven, or if the user says so; of each other one it is said what
//! stands in the way.

mod access;
mod affine;
mod alias;
mod argument;
mod calls;
mod changes;
mod combine;
mod commute;
mod condition;
mod convert;
mod deduced;
mod depend;
mod entry;
mod escape;
mod facts;
mod index;
mod induction;
mod integer;
mod known;
mod layout;
mod macros;
mod memory;
mod origin;
mod place;
mod scalar;
mod shape;
mod solve;
mod steady;
mod terms;
mod text;
mod value;
mod walk;

pub use alias::Reach;
pub use calls::{is_mathematical, may_change};
pub use combine::combined;
pub use commute::commuting;
pub use depend::Distance;
pub use facts::Facts;
pub use induction::{Amount, Induction, fixed_step, inductions};
pub use integer::{Integer, computed, declared, integer};
pub use layout::Layout;

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ReductionOp;
use crate::budget::{self, Exceeded};
use crate::host::ir::{ExprKind, StmtId, StmtKind};
use crate::sema::{Class, Header, SymbolId, SymbolKind, has_variable_length, reads_of_expr, uses};
use crate::source::Span;

use access::{Access, Nest, Step};
use depend::Way;
use index::Index;

/// What the user says of a loop.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Its iterations are independent of each other.
    pub is_independent: bool,
    /// Variables that each iteration has its own of, or that are reduced.
    pub own: BTreeSet<SymbolId>,
}

/// What stands around a nest.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The body of the function.
    pub body: Option<StmtId>,
    /// Variables whose address the function takes.
    pub escaping: BTreeSet<SymbolId>,
    /// Variables that clauses about data name: all threads share them, and their last value counts.
    pub shared: BTreeSet<SymbolId>,
    /// Where atomic statements name what they update, and how they combine it with values: the order of those that do so in
    /// one way makes no difference.
    pub atomic: BTreeMap<Span, ReductionOp>,
    /// What is said of loops.
    pub said: BTreeMap<StmtId, Said>,
}

/// What was found out about a loop.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The loop.
    pub stmt: StmtId,
    /// What it is.
    pub finding: Finding,
}

/// Whether a loop is parallel.
#[derive(Clone, Debug)]
pub enum Finding {
    /// Its iterations may run in any order.
    Parallel(Needs),
    /// They may not, or it is not proven.
    Sequential(Obstacle),
}

/// What a parallel loop needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Scalars and arrays that each iteration has its own of.
    pub private: Vec<SymbolId>,
    /// Variables that are combined.
    pub reductions: Vec<(ReductionOp, SymbolId)>,
    /// Variables that are combined and whose result nothing reads: each thread may have its own.
    pub unread: Vec<SymbolId>,
    /// The user says that it is parallel; it is not proven.
    pub is_asserted: bool,
}

/// Why a loop is not called parallel.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Where.
    pub at: Span,
    /// The other place, of an access that meets the first one.
    pub other: Option<Span>,
    /// The kind.
    pub kind: Kind,
}

/// The kinds of obstacles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// OpenMP would not take the loop.
    Header(String),
    /// Something in it is not understood, or may do anything.
    Unclear(String),
    /// Iterations meet in memory, so far apart.
    Meets {
        /// The array.
        name: String,
        /// The distances of the iterations, of this loop and those in it.
        distances: Vec<Distance>,
        /// All accesses that meet add to an element or the like.
        is_update: bool,
        /// Whether the first one writes, and the second one.
        writes: [bool; 2],
    },
    /// The subscripts are not understood well enough.
    Subscripts(String),
    /// Two pointers may alias.
    Alias(String, String),
    /// A scalar brings a value from one iteration to the next.
    Carried(String),
    /// A scalar that counts.
    Induction(String),
    /// The value that the last iteration leaves is wanted.
    LastValue(String),
    /// The place of the largest or smallest value is wanted.
    Location(String),
    /// The proof costs more than its budget.
    Budget(Exceeded),
}

/// What was found out about a nest of loops.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The verdicts on its loops, outermost first.
    pub verdicts: Vec<Verdict>,
    /// How its memory lies; nothing is known of it where the proof took more than its budget.
    pub layout: Layout,
}

/// Looks at the loop `stmt` and those in it. Where that takes more than its budget, nothing is proven.
pub fn judge(facts: &Facts, around: &Around, stmt: StmtId) -> Judged {
    judged(facts, around, stmt, |_| ()).0
}

/// The same, and what `reached` says of the loop, which is read once for both. No statement in it is atomic.
pub fn judge_and_reach(facts: &Facts, around: &Around, stmt: StmtId) -> (Judged, BTreeSet<SymbolId>) {
    let (judged, found) = judged(facts, around, stmt, |nest| nest.reached());
    (judged, found.unwrap_or_else(|| reached(facts, stmt)))
}

/// The verdicts, and what else the nest is asked, if the budget lasts.
fn judged<T>(
    facts: &Facts,
    around: &Around,
    stmt: StmtId,
    ask: impl FnOnce(&Nest) -> T,
) -> (Judged, Option<T>) {
    let judged = budget::within(facts.limits, || {
        let nest = Nest::new(facts, stmt, &around.atomic);
        let judge = Judge::new(&nest, around, stmt);
        let loops = (0..nest.loops.len()).map(|at| (nest.loops[at].stmt, judge.finding(at)));
        let verdicts = loops.map(|(stmt, finding)| Verdict { stmt, finding }).collect();
        (Judged { verdicts, layout: nest.layout() }, Some(ask(&nest)))
    });
    judged.unwrap_or_else(|exceeded| {
        // What was being found out about a function is not the whole of it.
        facts.effects.borrow_mut().clear();
        (Judged { verdicts: given_up(facts, stmt, exceeded), layout: Layout::default() }, None)
    })
}

/// The verdicts on loops whose proofs cost too much.
fn given_up(facts: &Facts, stmt: StmtId, exceeded: Exceeded) -> Vec<Verdict> {
    let unit = facts.unit;
    let loops = unit.stmt_ids_in(unit.stmt(stmt).span).filter(|stmt| {
        matches!(
            unit.stmt(*stmt).kind,
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. }
        )
    });
    let mut loops: Vec<StmtId> = loops.collect();
    loops.sort_by_key(|stmt| (unit.stmt(*stmt).span.start, std::cmp::Reverse(unit.stmt(*stmt).span.end)));
    let verdict = |stmt: StmtId| {
        let obstacle = Obstacle { at: unit.stmt(stmt).span, other: None, kind: Kind::Budget(exceeded) };
        Verdict { stmt, finding: Finding::Sequential(obstacle) }
    };
    loops.into_iter().map(verdict).collect()
}

/// The variables without parts that a statement names and reads or changes by another name, too, which may be the name of
/// another variable or a pointer.
pub fn reached(facts: &Facts, stmt: StmtId) -> BTreeSet<SymbolId> {
    let atomic = BTreeMap::new();
    Nest::new(facts, stmt, &atomic).reached()
}

struct Judge<'n, 'a> {
    nest: &'n Nest<'a>,
    around: &'n Around,
    index: Index,
}

impl<'n, 'a> Judge<'n, 'a> {
    fn new(nest: &'n Nest<'a>, around: &'n Around, stmt: StmtId) -> Judge<'n, 'a> {
        Judge { nest, around, index: Index::new(nest, around, stmt) }
    }

    fn finding(&self, at: usize) -> Finding {
        let known = &self.nest.loops[at];
        let said = self.around.said.get(&known.stmt);
        let is_asserted = said.is_some_and(|said| said.is_independent);
        match self.needs(at) {
            Ok(needs) => Finding::Parallel(needs),
            // What the user says of it counts, if it can be distributed at all.
            Err(_) if is_asserted && known.header.is_ok() => {
                Finding::Parallel(Needs { is_asserted, ..Needs::default() })
            }
            Err(obstacle) => Finding::Sequential(obstacle),
        }
    }

    fn needs(&self, at: usize) -> Result<Needs, Obstacle> {
        let nest = self.nest;
        let known = &nest.loops[at];
        let span = nest.facts.unit.stmt(known.stmt).span;
        let header = known.header.as_ref().map_err(|why| Obstacle {
            at: span,
            other: None,
            kind: Kind::Header(why.0.to_owned()),
        })?;
        if let Some(trouble) = nest.troubles.iter().find(|trouble| nest.is_within(trouble.inside, at)) {
            return Err(Obstacle { at: trouble.at, other: None, kind: Kind::Unclear(trouble.why.clone()) });
        }
        let mut needs = self.scalars(at, header)?;
        if let Some(why) = self.moving_header(at, header) {
            return Err(Obstacle { at: span, other: None, kind: Kind::Unclear(why) });
        }
        needs.private.extend(self.memory(at)?);
        Ok(needs)
    }

    /// Why the bounds and the step of a loop cannot be computed by each thread: the body sets what they read, or a function is
    /// called that changes something.
    fn moving_header(&self, at: usize, header: &Header) -> Option<String> {
        let (nest, facts) = (self.nest, self.nest.facts);
        let set = uses(facts.unit, facts.symbols, header.body);
        let mut read = header.values().flat_map(|expr| reads_of_expr(facts.unit, facts.symbols, expr));
        if let Some(found) = read.find(|symbol| set.of(*symbol).is_some_and(|how| how.written)) {
            let name = &facts.symbols.get(found).name;
            return Some(format!("its first line reads `{name}`, which its body sets"));
        }
        let spans: Vec<Span> = header.values().map(|expr| facts.unit.expr(expr).span).collect();
        let is_in_header = |place: Span| spans.iter().any(|span| span.contains(place));
        let writes = || nest.accesses[nest.loops[at].accesses.clone()].iter().filter(|access| access.writes);
        let mut reads = nest
            .accesses
            .iter()
            .filter(|access| !access.writes && !access.is_kept && is_in_header(access.at));
        if let Some(read) = reads.find(|read| writes().any(|write| nest.may_be_same(read, write))) {
            return Some(format!("its first line reads `{}`, which its body may set", nest.name_of(read)));
        }
        let mut called =
            spans.iter().flat_map(|span| facts.unit.exprs_in(*span)).filter_map(|expr| match &expr.kind {
                ExprKind::Call { callee, .. } => Some(facts.unit.expr(*callee)),
                _ => None,
            });
        let changes = called.any(|callee| match &callee.kind {
            ExprKind::Name(name) if facts.is_called_macro(name) => !nest.is_harmless(name, callee.span),
            ExprKind::Name(name) => facts.changes_something(name),
            _ => true,
        });
        changes.then(|| "its first line calls a function that may change something".to_owned())
    }

    /// Whether the access is to a variable that each iteration of the loop has its own of.
    fn is_own(&self, at: usize, access: &Access) -> bool {
        let nest = self.nest;
        let known = nest.facts.symbols.get(access.place.root);
        let body = match &nest.loops[at].header {
            Ok(header) => nest.facts.unit.stmt(header.body).span,
            Err(_) => nest.facts.unit.stmt(nest.loops[at].stmt).span,
        };
        let is_inside = body.contains(known.scope) && known.kind == SymbolKind::Local && !known.is_reference;
        let said = self.around.said.get(&nest.loops[at].stmt);
        let is_said = said.is_some_and(|said| said.own.contains(&access.place.root));
        (is_inside || is_said) && !access.place.steps.contains(&Step::Hop)
    }

    fn alias(&self, one: &Access, two: &Access) -> Obstacle {
        let kind = Kind::Alias(self.nest.name_of(one), self.nest.name_of(two));
        Obstacle { at: one.at, other: Some(two.at), kind }
    }

    fn meets(&self, at: usize, one: &Access, two: &Access) -> Option<Obstacle> {
        let nest = self.nest;
        if nest.are_pointers_apart(one, two) {
            return Some(self.alias(one, two));
        }
        let pairs = match nest.way(one, two, Some(at), nest.facts.no_alias) {
            Way::Apart => return None,
            Way::Pointers => return Some(self.alias(one, two)),
            Way::Equal(pairs) => pairs,
        };
        let turned: Vec<_> = pairs.iter().map(|pair| pair.clone().map(|(a, b)| (b, a))).collect();
        let (first, second, pairs) = if nest.may_meet(one, two, at, &pairs) {
            (one, two, pairs)
        } else if nest.may_meet(two, one, at, &turned) {
            (two, one, turned)
        } else {
            return None;
        };
        let kind = if pairs.iter().any(Option::is_none) {
            Kind::Subscripts(nest.name_of(one))
        } else {
            Kind::Meets {
                name: nest.name_of(one),
                distances: nest.distances(first, second, at, &pairs),
                is_update: self.is_update(one) && self.is_update(two),
                writes: [first.writes, second.writes],
            }
        };
        Some(Obstacle { at: first.at, other: Some(second.at), kind })
    }

    /// Whether the access belongs to a statement that updates an element.
    fn is_update(&self, access: &Access) -> bool {
        let same =
            |other: &&Access| other.is_update && other.place == access.place && other.inside == access.inside;
        access.is_update || self.nest.accesses.iter().any(|other| same(&other))
    }

    /// Whether the array `symbol` can be private to the iterations of a loop: each reads only what it has set itself, and
    /// nobody reads its last value.
    fn can_be_private(&self, at: usize, symbol: SymbolId) -> bool {
        let nest = self.nest;
        let known = nest.facts.symbols.get(symbol);
        let is_candidate = known.kind == SymbolKind::Local
            && known.class == Class::Array
            && !known.is_reference
            && !known.fortran.target
            && !known.fortran.allocatable
            && !has_variable_length(nest.facts.unit, nest.facts.symbols, symbol);
        if !is_candidate
            || self.is_named_outside(at, symbol) && self.is_wanted_after(at, symbol)
            || self.around.shared.contains(&symbol)
        {
            return false;
        }
        let own = self.index.accesses.get(&symbol).map(Vec::as_slice).unwrap_or_default();
        let all = || own.iter().map(|number| (*number, &nest.accesses[*number]));
        let inside = |access: &Access| nest.is_within(access.inside, at);
        // The loop is all there is of it in the nest, and each read finds a write.
        all().all(|(_, access)| inside(access) && !access.is_deep)
            && all()
                .filter(|(_, access)| !access.writes)
                .all(|(read, _)| all().any(|(write, access)| access.writes && nest.covers(write, read, at)))
    }

    /// Whether the function names a variable anywhere but in the loop.
    fn is_named_outside(&self, at: usize, symbol: SymbolId) -> bool {
        let facts = self.nest.facts;
        let inside = facts.unit.stmt(self.nest.loops[at].stmt).span;
        let known = facts.symbols.get(symbol);
        facts.unit.expr_ids_in(known.scope).any(|id| {
            let expr = facts.unit.expr(id);
            matches!(&expr.kind, ExprKind::Name(name) if name.eq_ignore_ascii_case(&known.name))
                && !inside.contains(expr.span)
                && facts.symbols.named(facts.unit, id) == Some(symbol)
        })
    }
}
