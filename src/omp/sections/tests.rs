//! Sections: how they are written.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::super::ast::BaseLanguage;
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
        [vec![update], more].concat().iter().map(|one| one.line(BaseLanguage::C)).collect();
    let own = [
        "#pragma omp target update if(c) from(a[0:2], b, s.p[0:n], s.q[0:n])",
        "#pragma omp target update if(c) from(a[4:2])",
        "#pragma omp target update if(c) from(a[8:1])",
    ];
    assert_eq!(lines, own);
}

#[test]
fn members_of_one_element_stand_together() {
    let line = |items: &[&str]| {
        let mut enter = Directive::new(&[Leaf::Named("target enter data")]);
        items.iter().for_each(|item| enter.add(Clause::list("map", Some("to"), item)));
        let more = apart(&mut enter);
        let all = [vec![enter], more].concat();
        all.iter().map(|one| one.line(BaseLanguage::C)).collect::<Vec<String>>()
    };
    let own = [
        "#pragma omp target enter data map(to: s[0].q[0:n], s[0].p[0:n], t.p[0:n])",
        "#pragma omp target enter data map(to: s[i + a[1]].p[0:n])",
    ];
    assert_eq!(line(&["s[0].q[0:n]", "s[i + a[1]].p[0:n]", "s[0].p[0:n]", "t.p[0:n]"]), own);
    let all = "#pragma omp target enter data map(to: s[0:], s[0].q[0:n], s[1].p[0:n])";
    assert_eq!(line(&["s[0:]", "s[0].q[0:n]", "s[1].p[0:n]"]), [all]);
}

#[test]
fn objects_come_before_their_members_and_go_after_them() {
    let lines = |word: &'static str, items: &[&str]| {
        let mut data = Directive::new(&[Leaf::Named(word)]);
        items.iter().for_each(|item| data.add(Clause::list("map", Some("to"), item)));
        let first = counted_first(&mut data, &|name| name == "member");
        let all = first.into_iter().chain([data]);
        all.map(|one| one.line(BaseLanguage::C).split("map(to: ").nth(1).unwrap_or("").to_owned())
            .collect::<Vec<String>>()
    };
    let items = ["s.p[0:n]", "t", "s", "s.a[t.n]", "u->x[0:1]"];
    assert_eq!(lines("target enter data", &items), ["s)", "s.p[0:n], t, s.a[t.n], u->x[0:1])"]);
    assert_eq!(lines("target exit data", &items), ["s.p[0:n], s.a[t.n])", "t, s, u->x[0:1])"]);
    assert_eq!(lines("target enter data", &["this[0:1]", "member[0:n]"]), ["this[0:1])", "member[0:n])"]);
    assert_eq!(lines("target exit data", &["member[0:n]", "other"]), ["member[0:n], other)"]);
    assert_eq!(lines("target exit data", &["s%x(1:n)", "S", "s%y"]), ["s%x(1:n), s%y)", "S)"]);
}
