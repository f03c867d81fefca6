//! What the clauses of a compute construct say of data, and those of the constructs and `declare` directives around it.
//!
//! Invariant: what clauses say, item by item; what follows from it is decided elsewhere.

use std::sync::Arc;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::bind::{Bound, ancestors};
use crate::sema::{SymbolId, Symbols};

use super::{Motion, Plan, effective};

/// An item of a data clause.
#[derive(Clone, Debug)]
pub struct DataItem {
    /// The bound directive whose clause it is: its names mean there what they mean.
    pub directive: usize,
    /// The clause.
    pub clause: DataClause,
    /// The item: its base, and the section of it.
    pub item: ListItem,
    /// Its variable.
    pub symbol: Option<SymbolId>,
    /// Which way it moves, if it is a clause that moves or finds data.
    pub motion: Option<Motion>,
}

/// What is said of the data of a compute construct.
#[derive(Clone, Debug, Default)]
pub struct Construct {
    /// The items of its own data clauses.
    pub data: Vec<DataItem>,
    /// Those of the `data` constructs around it, innermost first, and of the `declare` directives of its function.
    near: Vec<DataItem>,
    /// Those of the `declare` directives at file scope.
    of_file: Arc<[DataItem]>,
    /// It, or a `data` construct around it, has `default(present)`.
    pub is_default_present: bool,
}

impl Plan {
    /// Notes what the clauses say of the data of each compute construct. `bound` are the directives of the plan, perhaps with
    /// names as another target needs them.
    pub fn note_data(&mut self, symbols: &Symbols, bound: &[Bound], device_type: &str) {
        let is_declare = |at: &usize| bound[*at].directive.kind == DirectiveKind::Declare;
        let declares = (0..bound.len()).filter(is_declare);
        let (near, of_file): (Vec<usize>, Vec<usize>) =
            declares.partition(|at| bound[*at].function.is_some());
        let of_file =
            of_file.into_iter().flat_map(|at| data_items(symbols, bound, at, device_type)).collect();
        for index in (0..bound.len()).filter(|at| bound[*at].directive.kind.is_compute()) {
            let construct = Construct::of(symbols, bound, index, &near, device_type);
            self.notes[index].construct = Construct { of_file: Arc::clone(&of_file), ..construct };
        }
    }
}

impl Construct {
    /// The items of the `data` constructs around it, innermost first, and of `declare` directives.
    pub fn around(&self) -> impl Iterator<Item = &DataItem> {
        self.near.iter().chain(self.of_file.iter())
    }

    /// What the clauses say of the construct of directive `index`, those at file scope not counted. `declares` are the `declare`
    /// directives in functions.
    fn of(
        symbols: &Symbols,
        bound: &[Bound],
        index: usize,
        declares: &[usize],
        device_type: &str,
    ) -> Construct {
        let items = |at: usize| data_items(symbols, bound, at, device_type);
        let has_default = |at: usize| clauses(bound, at, device_type).any(is_default_present);
        let is_data = |at: &usize| bound[*at].directive.kind == DirectiveKind::Data;
        let regions = || ancestors(bound, index).filter(is_data);
        let function = bound[index].function;
        let is_seen = |at: &usize| bound[*at].function == function && *at < index;
        let declares = declares.iter().copied().filter(is_seen);
        Construct {
            data: items(index),
            near: regions().chain(declares).flat_map(items).collect(),
            of_file: Arc::default(),
            is_default_present: std::iter::once(index).chain(regions()).any(has_default),
        }
    }
}

/// The items of the data clauses of a directive that count for the device.
fn data_items(symbols: &Symbols, bound: &[Bound], index: usize, device_type: &str) -> Vec<DataItem> {
    let place = bound[index].directive.span.start;
    let lists = clauses(bound, index, device_type).filter_map(|kind| match kind {
        ClauseKind::Data(clause, list) => Some((*clause, list)),
        _ => None,
    });
    let items = lists.flat_map(|(clause, list)| list.iter().map(move |item| (clause, item)));
    items
        .map(|(clause, item)| DataItem {
            directive: index,
            clause,
            item: item.clone(),
            symbol: symbols.lookup(item.variable(), place),
            motion: Motion::of(clause),
        })
        .collect()
}

fn clauses<'a>(
    bound: &'a [Bound],
    index: usize,
    device_type: &str,
) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
    let directive = &bound[index].directive;
    let counting = effective(directive, device_type).0;
    counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind))
}

fn is_default_present(kind: &ClauseKind) -> bool {
    matches!(kind, ClauseKind::Default { none: false })
}
