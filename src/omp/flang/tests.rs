//! What flang takes in other words: examples.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::super::ast::BaseLanguage;
use super::*;

fn lines(directives: &[Directive]) -> Vec<String> {
    directives.iter().map(|one| one.line(BaseLanguage::Fortran)).collect()
}

#[test]
fn a_target_stands_apart_from_copies() {
    let mut all = Directive::new(&[Leaf::Target, Leaf::Teams, Leaf::Distribute]);
    all.add(Clause::list("map", Some("to"), "a"));
    assert_eq!(apart(&all), None);
    all.add(Clause::list("private", None, "t"));
    assert_eq!(apart(&all), None);
    all.add(Clause::list("firstprivate", None, "n"));
    let wanted = ["!$omp target map(to: a)", "!$omp teams distribute private(t) firstprivate(n)"];
    assert_eq!(lines(&apart(&all).unwrap()), wanted);
    let mut alone = Directive::new(&[Leaf::Target]);
    assert_eq!(apart(&alone), None);
    alone.add(Clause::list("private", None, "t"));
    assert_eq!(lines(&apart(&alone).unwrap()), ["!$omp target", "!$omp parallel num_threads(1) private(t)"]);
}

#[test]
fn arrays_are_device_addresses() {
    let mut directive = Directive::new(&[Leaf::Target]);
    ["p", "a"].iter().for_each(|item| directive.add(Clause::list("is_device_ptr", None, item)));
    device_addresses(&mut directive, &|item| item == "p");
    assert_eq!(lines(&[directive]), ["!$omp target is_device_ptr(p) has_device_addr(a)"]);
    let mut directive = Directive::new(&[Leaf::Target]);
    directive.add(Clause::list("is_device_ptr", None, "a"));
    device_addresses(&mut directive, &|_| false);
    assert_eq!(lines(&[directive]), ["!$omp target has_device_addr(a)"]);
}

#[test]
fn a_task_waits_for_the_queue_of_data() {
    let mut update = Directive::new(&[Leaf::Named("target update")]);
    update.add(Clause::list("from", None, "a"));
    assert_eq!(task_before(&mut update), None);
    update.add(Clause { name: "nowait".into(), modifier: None, body: Body::None });
    update.add(Clause::list("depend", Some("inout"), "acc2omp_queue(1)"));
    let task = task_before(&mut update).unwrap();
    assert_eq!(lines(&task), ["!$omp task if(.false.) depend(inout: acc2omp_queue(1))", "!$omp end task"]);
    assert_eq!(lines(&[update]), ["!$omp target update from(a)"]);
}
