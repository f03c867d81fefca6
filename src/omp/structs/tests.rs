//! Tests of `structs.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::super::ast::BaseLanguage;
use super::*;

fn line(leaves: &[Leaf], maps: &[(&str, &str)]) -> String {
    let mut directive = Directive::new(leaves);
    maps.iter().for_each(|(modifier, item)| directive.add(Clause::list("map", Some(modifier), item)));
    arrays(&mut directive);
    directive.line(BaseLanguage::C)
}

#[test]
fn an_array_stands_by_its_name() {
    let all = [("alloc", "s[0:]"), ("alloc", "s[i].q[0:n]"), ("to", "t[0:]")];
    let own = "#pragma omp target map(alloc: s, s[i].q[0:n]) map(to: t[0:])";
    assert_eq!(line(&[Leaf::Target], &all), own);
}

#[test]
fn in_a_combined_construct_it_is_a_section() {
    let leaves = [Leaf::Target, Leaf::Teams];
    let all = [("alloc", "s[0:]"), ("alloc", "s[0].q[0:n]")];
    assert_eq!(line(&leaves, &all), "#pragma omp target teams map(alloc: s[0:], s[0].q[0:n])");
    let all = [("alloc", "s[0:]"), ("tofrom", "s[0].q[0:n]")];
    let own = "#pragma omp target teams map(to: s[0:]) map(tofrom: s[0].q[0:n])";
    assert_eq!(line(&leaves, &all), own);
}
