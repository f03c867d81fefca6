//! Fortran objects whose pointer components have their targets on the device while the objects stay on the host. With the
//! target of a component, OpenMP maps the component, too (5.2, 5.8.6): a construct that also uses other components of the
//! object then finds the device's memory of the object only in part, and reads what was never copied there.
//!
//! Invariant: the types found here have no variable that the file puts on the device as a whole, and no use that an alias
//! cannot stand for.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::sema::{self, Symbols};

use super::pointers::{is_pointer, place};

/// The types on the way to the pointer components that clauses name, and those that must not be divided.
#[derive(Default)]
pub(super) struct Apart {
    /// For each such pointer, the types of its variable and of the components before it.
    ways: Vec<Vec<String>>,
    /// The types that directives name as a whole, or by scalars, and those that a construct uses as a whole.
    whole: BTreeSet<String>,
}

impl Apart {
    /// What the clauses of a file say.
    pub(super) fn new(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> Apart {
        let mut apart = Apart::default();
        for one in bound {
            for clause in &one.directive.clauses {
                let (list, brings) = match &clause.kind {
                    ClauseKind::Data(DataClause::Deviceptr, _) => continue,
                    ClauseKind::Data(_, list) => (list, one.directive.kind != DirectiveKind::Declare),
                    ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => (list, false),
                    _ => continue,
                };
                list.iter().for_each(|item| apart.item(unit, symbols, item, brings));
            }
        }
        apart
    }

    fn item(&mut self, unit: &Unit, symbols: &Symbols, item: &ListItem, brings: bool) {
        let Some(place) = place(symbols, item) else { return };
        let Some(record) = sema::record_of(unit, symbols, place.0) else { return };
        let mut way = vec![record];
        let mut is_array = false;
        for member in &place.1 {
            let known = way.last().and_then(|record| symbols.component(record, member));
            let Some(known) = known else { return };
            is_array = known.is_array();
            match known.record.clone() {
                Some(record) => way.push(record),
                None => break,
            }
        }
        let ends_in_record = way.len() > place.1.len();
        if brings && is_pointer(symbols, &place) == Some(true) {
            if ends_in_record {
                way.pop();
            }
            self.ways.push(way);
        } else if ends_in_record || !is_array {
            self.whole.extend(way);
        }
    }

    /// Says that variables of a type, or what is on the way to a component, cannot be divided.
    pub(super) fn keep(&mut self, way: impl IntoIterator<Item = String>) {
        self.whole.extend(way);
    }

    /// The types whose components are used apart from their object.
    pub(super) fn types(&self, symbols: &Symbols) -> BTreeSet<String> {
        let is_free = |way: &&Vec<String>| {
            !way.iter().any(|record| self.whole.contains(record) || symbols.is_deep(record))
        };
        self.ways.iter().filter(is_free).flatten().cloned().collect()
    }
}
