//! The components of objects of C and C++: those that hold numbers are recorded one by one.
//!
//! Invariant: a component is named only if the declaration of its type is at hand and lets code outside name it.

use std::collections::BTreeSet;

use crate::host::ir::{Record, Unit};
use crate::sema::{CType, CTypes};

use super::Input;
use super::variables::Variable;

/// Objects in objects are looked into so far.
const DEPTH: usize = 4;

/// The components of a variable's elements.
#[derive(Debug, Default)]
pub struct Components {
    /// Those that hold numbers: what stands after an element, with its dots, and how many dimensions it has.
    pub known: Vec<(String, usize)>,
    /// The names of those of which nothing is known. Pointers hold no numbers, and are not among them.
    pub unknown: Vec<String>,
}

/// The components of a variable's elements; none if these are not objects, or if nothing is known of their type.
pub fn components(input: &Input, variable: &Variable) -> Components {
    let mut found = Components::default();
    let chosen = BTreeSet::new();
    let types = CTypes {
        file: input.file,
        unit: input.unit,
        headers: input.headers,
        symbols: input.symbols,
        chosen: &chosen,
    };
    let decl = variable.symbol.and_then(|symbol| input.symbols.get(symbol).decl);
    let Some(decl) = decl.map(|decl| input.unit.decl(decl)) else { return found };
    let (element, _) = element(types.of_decl(input.unit, decl), true);
    if let CType::Record(tag) = element {
        of_record(&types, &tag, "", &variable.name, &mut found);
    }
    found
}

/// What an array, or what a pointer leads to, is made of, and how many dimensions that has.
fn element(mut own: CType, with_pointers: bool) -> (CType, usize) {
    let mut rank = 0;
    loop {
        own = match own {
            CType::Array(inner) => *inner,
            CType::Pointer(inner) if with_pointers => *inner,
            other => return (other, rank),
        };
        rank += 1;
    }
}

fn of_record(types: &CTypes, tag: &str, path: &str, name: &str, found: &mut Components) {
    let home = types.record(tag).filter(|(home, record)| is_open(home, record));
    let Some((home, record)) = home.filter(|_| path.matches('.').count() < DEPTH) else {
        found.unknown.push(format!("{name}{path}"));
        return;
    };
    for decl in record.members.iter().map(|id| home.decl(*id)) {
        let own = format!("{path}.{}", decl.name);
        match element(types.of_decl(home, decl), false) {
            (CType::Number(_), rank) => found.known.push((own, rank)),
            (CType::Record(tag), 0) => of_record(types, &tag, &own, name, found),
            (CType::Pointer(_) | CType::Function(_), _) => {}
            _ => found.unknown.push(format!("{name}{own}")),
        }
    }
}

/// Whether all members of a type may be named, and each lies beside the others.
fn is_open(home: &Unit, record: &Record) -> bool {
    let mut members = record.members.iter().map(|id| home.decl(*id));
    record.is_open
        && !record.is_union
        && record.bases.is_empty()
        && members.all(|decl| !decl.name.is_empty() && !decl.is_static)
}
