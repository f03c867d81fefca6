//! Several sections of one array on one directive: compilers for C take one of a variable.
//!
//! Invariant: each directive names a variable once, and all of them together what the one did.

use std::collections::BTreeSet;

use super::ast::{Body, Clause, Directive};

/// Takes the second and further sections of variables out of a directive about data: directives like it, for those.
pub fn apart(directive: &mut Directive) -> Vec<Directive> {
    let mut more = Vec::new();
    while let Some(next) = repeated(more.last_mut().unwrap_or(directive)) {
        more.push(next);
    }
    more
}

/// A directive with the items whose variable the directive has named before; none if there are none.
fn repeated(directive: &mut Directive) -> Option<Directive> {
    let mut rest = Directive { clauses: Vec::new(), ..directive.clone() };
    let mut met = BTreeSet::new();
    for clause in &mut directive.clauses {
        let is_depend = clause.name == "depend";
        let items = match &mut clause.body {
            Body::List(items) if !is_depend => items,
            _ => {
                rest.clauses.push(clause.clone());
                continue;
            }
        };
        let (own, others): (Vec<String>, Vec<String>) =
            std::mem::take(items).into_iter().partition(|item| met.insert(variable(item).to_owned()));
        *items = own;
        if !others.is_empty() {
            let mut again = clause.clone();
            again.body = Body::List(others);
            rest.clauses.push(again);
        }
    }
    directive.clauses.retain(|clause| !matches!(&clause.body, Body::List(items) if items.is_empty()));
    let is_data = |clause: &Clause| clause.name != "depend" && matches!(clause.body, Body::List(_));
    rest.clauses.iter().any(is_data).then_some(rest)
}

/// An item without its sections: `s.p` of `s.p[0:n]`.
fn variable(item: &str) -> &str {
    super::clause::without_section(item)
}

#[cfg(test)]
mod tests {
    use super::super::ast::{Leaf, Speech};
    use super::*;

    #[test]
    fn a_variable_is_named_once() {
        let mut update = Directive::new(&[Leaf::Named("target update")]);
        for item in ["a[0:2]", "b", "a[4:2]", "a[8:1]", "s.p[0:n]", "s.q[0:n]"] {
            update.add(Clause::list("from", None, item));
        }
        update.add(Clause::text("if", "c"));
        let more = apart(&mut update);
        let lines: Vec<String> =
            [vec![update], more].concat().iter().map(|one| one.line(Speech::C)).collect();
        let own = [
            "#pragma omp target update if(c) from(a[0:2], b, s.p[0:n], s.q[0:n])",
            "#pragma omp target update if(c) from(a[4:2])",
            "#pragma omp target update if(c) from(a[8:1])",
        ];
        assert_eq!(lines, own);
    }
}
