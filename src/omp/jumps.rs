//! A `data` region that jumps leave: `target enter data` where it begins, and `target exit data` wherever it ends.
//!
//! Invariant: the two together do what `target data` does, or there are none.

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use super::sections;

/// What begins and what ends the region of a `target data` directive, innermost last.
pub(super) struct Halves {
    pub(super) enter: Vec<Directive>,
    pub(super) exit: Vec<Directive>,
}

/// The halves of a directive; none if it has a clause that these have not.
pub(super) fn halves(whole: &Directive, speech: BaseLanguage) -> Option<Halves> {
    let mut enter = Directive::new(&[Leaf::Named("target enter data")]);
    let mut exit = Directive::new(&[Leaf::Named("target exit data")]);
    for clause in &whole.clauses {
        let (there, back) = match (clause.name.as_str(), clause.modifier.as_deref()) {
            ("if", _) => (None, None),
            ("map", Some("tofrom")) => (Some("to"), Some("from")),
            ("map", Some("to")) => (Some("to"), Some("release")),
            ("map", Some("from")) => (Some("alloc"), Some("from")),
            ("map", Some("alloc")) => (Some("alloc"), Some("release")),
            _ => return None,
        };
        let with =
            |modifier: Option<&str>| Clause { modifier: modifier.map(str::to_owned), ..clause.clone() };
        if let Body::List(items) = &clause.body
            && items.iter().any(|item| item.contains(['.', '%']) || item.contains("->"))
        {
            return None;
        }
        enter.add(with(there));
        exit.add(with(back));
    }
    let more = |one: &mut Directive| match speech {
        BaseLanguage::C => sections::apart(one),
        BaseLanguage::Fortran => Vec::new(),
    };
    let (more_enter, more_exit) = (more(&mut enter), more(&mut exit));
    Some(Halves { enter: [vec![enter], more_enter].concat(), exit: [vec![exit], more_exit].concat() })
}
