//! The derived types of Fortran that a file can see, and their components.
//!
//! Invariant: read from declarations alone; of two types of one name the last one counts.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{BaseType, Decl, Derived, Unit};

/// Deeper chains of types that extend one another, are not followed.
const DEPTH: usize = 16;

/// The derived types that a file can see, by name.
#[derive(Debug, Default)]
pub(super) struct DerivedTypes {
    pub(super) types: FxHashMap<String, DerivedType>,
    /// Those with allocatable components, in whatever depth.
    pub(super) deep: FxHashSet<String>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct DerivedType {
    bases: Vec<String>,
    /// All code may name its components.
    is_open: bool,
    pub(super) components: FxHashMap<String, Component>,
}

/// A component of a derived type.
#[derive(Clone, Debug)]
pub struct Component {
    /// It is `allocatable`.
    pub is_allocatable: bool,
    /// It is a `pointer`.
    pub is_pointer: bool,
    /// It is `contiguous`.
    pub is_contiguous: bool,
    /// The number of its dimensions.
    pub rank: usize,
    /// Its own derived type.
    pub record: Option<String>,
    /// Its intrinsic type.
    pub intrinsic: Option<String>,
}

/// The derived type that a declaration names.
pub(super) fn record(decl: &Decl) -> Option<String> {
    match &decl.base {
        BaseType::Tagged(name) => Some(name.clone()),
        _ => None,
    }
}

/// The intrinsic type that a declaration names.
pub(super) fn intrinsic(decl: &Decl) -> Option<String> {
    match &decl.base {
        BaseType::Builtin(word) => Some(word.clone()),
        _ => None,
    }
}

impl Component {
    /// Takes in what another component of this name may be: a pointer, and nothing that one of them is not.
    fn join(&mut self, other: &Component) {
        self.is_pointer |= other.is_pointer;
        self.is_allocatable &= other.is_allocatable;
        self.is_contiguous &= other.is_contiguous;
    }

    /// It is an array.
    pub fn is_array(&self) -> bool {
        self.rank > 0
    }
}

impl DerivedTypes {
    /// Reads the types of all units. Of several that have one name, no component is less than in one of them.
    pub(super) fn new(units: &[&Unit]) -> DerivedTypes {
        let mut types: FxHashMap<String, DerivedType> = FxHashMap::default();
        let records = units.iter().flat_map(|unit| unit.records.iter().map(move |record| (*unit, record)));
        for (unit, known) in records {
            let Some(tag) = known.tag.clone() else { continue };
            let components = known.members.iter().map(|id| {
                let decl = unit.decl(*id);
                let component = Component {
                    is_allocatable: decl.fortran.allocatable,
                    is_pointer: decl.fortran.pointer,
                    is_contiguous: decl.fortran.contiguous,
                    rank: decl.derived.iter().filter(|part| matches!(part, Derived::Array(_))).count(),
                    record: record(decl),
                    intrinsic: intrinsic(decl),
                };
                (decl.name.clone(), component)
            });
            let mut components: FxHashMap<String, Component> = components.collect();
            if let Some(other) = types.remove(&tag) {
                for (name, component) in other.components {
                    components.entry(name).or_insert_with(|| component.clone()).join(&component);
                }
            }
            types.insert(tag, DerivedType { bases: known.bases.clone(), is_open: known.is_open, components });
        }
        let scopes = units.iter().flat_map(|unit| &unit.scopes);
        for (local, name) in scopes.flat_map(|scope| &scope.uses).flat_map(|used| &used.names) {
            if let Some(known) = types.get(name).filter(|_| !types.contains_key(local)).cloned() {
                types.insert(local.clone(), known);
            }
        }
        let deep = deep(&types);
        DerivedTypes { types, deep }
    }

    pub(super) fn is_declared(&self, record: &str, depth: usize) -> bool {
        let is_whole = |known: &DerivedType| known.bases.iter().all(|base| self.is_declared(base, depth + 1));
        depth > DEPTH || self.types.get(record).is_some_and(is_whole)
    }

    /// The components of a type that extends none, by name; none if code elsewhere may not name all of them.
    pub(super) fn all(&self, record: &str) -> Vec<(&str, &Component)> {
        let known = self.types.get(record).filter(|known| known.is_open && known.bases.is_empty());
        let components = known.into_iter().flat_map(|known| &known.components);
        let mut all: Vec<_> = components.map(|(name, component)| (name.as_str(), component)).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    pub(super) fn component(&self, record: &str, name: &str, depth: usize) -> Option<&Component> {
        let known = self.types.get(record)?;
        known.components.get(name).or_else(|| {
            let mut bases = known.bases.iter().filter(|_| depth < DEPTH);
            bases.find_map(|base| self.component(base, name, depth + 1))
        })
    }
}

/// The types with allocatable components: their own, inherited ones, and those of components that are not pointers.
fn deep(types: &FxHashMap<String, DerivedType>) -> FxHashSet<String> {
    let mut deep: FxHashSet<String> = FxHashSet::default();
    loop {
        let is_deep = |known: &DerivedType| {
            known.bases.iter().any(|base| deep.contains(base))
                || known.components.values().any(|component| {
                    let is_part = !component.is_pointer;
                    let holds = component.record.as_ref().is_some_and(|record| deep.contains(record));
                    component.is_allocatable || is_part && holds
                })
        };
        let fresh = types.iter().filter(|(name, known)| !deep.contains(*name) && is_deep(known));
        let fresh: Vec<String> = fresh.map(|(name, _)| name.clone()).collect();
        if fresh.is_empty() {
            return deep;
        }
        deep.extend(fresh);
    }
}
