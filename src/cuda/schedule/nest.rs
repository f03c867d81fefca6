//! Which threads distribute which loop (OpenACC 3.3, 2.9): gangs are blocks, workers rows and vector lanes columns of a block.
//!
//! Invariant: the plan says which levels a loop has; what is found here is in which order threads take its iterations.

use std::collections::BTreeMap;

use super::{order, reuse};
use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{ancestors, descendants};
use crate::cuda::program::Input;
use crate::cuda::program::levels::Levels;
use crate::diag::{self, Diag};
use crate::host::ir::StmtId;
use crate::plan::Division;
use crate::sema::{self, Header, SymbolId};
use crate::source::Span;

/// A loop, or a tight nest of loops run as one, whose iterations are distributed.
#[derive(Clone, Debug)]
pub struct Shared<'a> {
    /// How the plan divides it.
    pub division: &'a Division,
    /// The headers, outermost first.
    pub headers: Vec<Header>,
    /// The loops by their places in the nest, that which neighbouring threads differ in last.
    pub order: Vec<usize>,
    /// Its iterations are taken in tiles, as neighbours in both directions read the same memory.
    pub reuses: bool,
}

impl<'a> Shared<'a> {
    /// Its bytes.
    pub fn span(&self, input: &Input) -> Span {
        input.stmt_span(self.stmt())
    }

    /// The outermost `for` statement.
    pub fn stmt(&self) -> StmtId {
        self.division.stmts[0]
    }

    /// The levels that divide it.
    pub fn levels(&self) -> Levels {
        self.division.levels
    }

    /// Whether its clauses or those of loops around and inside it reduce a variable.
    pub fn reduces(&self, input: &Input, symbol: SymbolId) -> bool {
        self.division.reduces(input.code(), symbol).next().is_some()
    }
}

/// All shared loops of a region, by their outermost statement.
pub type Nest<'a> = BTreeMap<StmtId, Shared<'a>>;

/// The loops of the construct, or of the loop, of directive `root` that are distributed. The second part is what there is to
/// say of loops that stay sequential.
pub fn nest<'a>(input: &Input<'a>, root: usize) -> (Nest<'a>, Vec<Diag>) {
    let directives = std::iter::once(root).chain(descendants(input.bound, root));
    let divisions: Vec<&Division> = directives.filter_map(|at| division(input, at)).collect();
    let said = divisions.iter().filter_map(|one| {
        let name = input.bound[one.directives[0]].directive.name_span;
        Some(diag::not_canonical(name, one.not_canonical?.0))
    });
    (nest_of(input, &divisions), said.collect())
}

/// Whether gangs were to divide a loop of the construct, or of the loop, of directive `root` that cannot be counted: each of
/// several gangs would run all of it.
pub fn needs_one_gang(input: &Input, root: usize) -> bool {
    let names_gang = |at: usize| division(input, at).is_some_and(|one| one.named.gang && !is_seq(input, at));
    let is_divided = |at: usize| division(input, at).is_some_and(|one| one.levels.gang);
    let is_for_gangs = |at: usize| {
        let Some(one) = division(input, at).filter(|one| one.not_canonical.is_some()) else { return false };
        let calls = || input.plan.routines.levels_in(input.unit(), input.symbols, one.stmts[0]).gang;
        !descendants(input.bound, at).any(names_gang)
            && !ancestors(input.bound, at).take_while(|above| *above != root).any(is_divided)
            && (at == root || !is_divided(root))
            && !calls()
    };
    std::iter::once(root).chain(descendants(input.bound, root)).any(is_for_gangs)
}

/// Whether the clauses of a directive have its loop run in order.
fn is_seq(input: &Input, at: usize) -> bool {
    input.clauses(at).any(|kind| matches!(kind, ClauseKind::Seq))
}

/// The loops of a routine's body that are distributed.
pub fn nest_in<'a>(input: &Input<'a>, body: Span) -> Nest<'a> {
    let is_own = |at: &usize| {
        let directive = &input.bound[*at].directive;
        directive.kind == DirectiveKind::Loop
            && body.contains(directive.span)
            && !ancestors(input.bound, *at).any(|above| input.bound[above].directive.kind.is_compute())
    };
    let directives = (0..input.bound.len()).filter(is_own);
    let divisions: Vec<&Division> = directives.filter_map(|at| division(input, at)).collect();
    nest_of(input, &divisions)
}

/// How the plan divides the loop of a directive that is not part of a loop around it.
fn division<'a>(input: &Input<'a>, at: usize) -> Option<&'a Division> {
    let stmt = input.bound[at].stmt()?;
    input.plan.divisions.get(&stmt).filter(|one| one.directives[0] == at)
}

fn nest_of<'a>(input: &Input<'a>, divisions: &[&'a Division]) -> Nest<'a> {
    let divided = divisions.iter().filter(|one| one.levels.any());
    divided.map(|one| (one.stmts[0], shared(input, one))).collect()
}

/// A loop that is distributed as the plan divides it.
fn shared<'a>(input: &Input<'a>, division: &'a Division) -> Shared<'a> {
    let header = |stmt: &StmtId| sema::header(input.unit(), input.symbols, *stmt).ok();
    let headers: Vec<Header> = division.stmts.iter().filter_map(header).collect();
    let order = order::of_loops(input, &headers);
    let is_natural = order.is_sorted();
    let mut shared = Shared { division, headers, order, reuses: false };
    shared.reuses = division.levels == Levels::ALL
        && division.tile.is_empty()
        && is_natural
        && reuse::is_in(input, &shared);
    shared
}
