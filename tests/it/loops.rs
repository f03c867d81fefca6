//! The verdicts on the loops of the fixtures `nests-…`, against what these say of themselves.
//!
//! Invariant: no compiler is needed; that the labels are true is what `cargo xtask oracle` sees.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use acc2omp::source::Language;
use acc2omp::{LoopVerdict, Options, Source, translate};

use super::fixtures;
use super::{shown, text};

#[path = "../../xtask/src/oracle/label.rs"]
mod label;

use label::{Label, Standing};

/// The sources of labelled nests, with their labels by line.
fn labelled() -> Vec<(PathBuf, BTreeMap<usize, Label>)> {
    let is_of_nests = |path: &PathBuf| {
        path.parent()
            .and_then(|folder| folder.file_name())
            .is_some_and(|name| name.to_string_lossy().starts_with("nests-"))
    };
    let with_labels = |path: PathBuf| {
        let labels = label::labels(&text(&path)).unwrap_or_else(|why| panic!("{}: {why}", shown(&path)));
        (path, labels.into_iter().collect())
    };
    fixtures::sources().into_iter().filter(is_of_nests).map(with_labels).collect()
}

#[test]
fn verdicts_agree_with_the_labels() {
    let (mut wrong, mut parallel, mut found) = (String::new(), 0, 0);
    for (path, labels) in labelled() {
        let source = fixtures::source(&path);
        let text = text(&path);
        let translation = translate(&source, &Options::default());
        let line = |start: u32| source.file.lines.line(start);
        let verdicts: BTreeMap<usize, LoopVerdict> =
            translation.loops.into_iter().map(|one| (line(one.span.start), one.verdict)).collect();
        for (number, words) in text.lines().enumerate() {
            let place = format!("{}:{}", shown(&path), number + 1);
            match labels.get(&number).map(|label| (label, label::judge(label, verdicts.get(&number)))) {
                Some((label, standing)) => {
                    parallel += usize::from(matches!(label, Label::Parallel { .. }));
                    found += usize::from(standing == Ok(Standing::Found));
                    if let Err(why) = standing {
                        let _ = writeln!(wrong, "{place}: {why}");
                    }
                }
                None if verdicts.contains_key(&number) && label::begins_loop(words) => {
                    let _ = writeln!(wrong, "{place}: the loop has a verdict, but no label");
                }
                None => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}{found} of {parallel} parallel loops are found");
    assert!(found * 10 >= parallel * 9, "only {found} of {parallel} parallel loops are found");
}

#[test]
fn few_labels_ask_for_little() {
    let all: Vec<Label> = labelled().into_iter().flat_map(|(_, labels)| labels.into_values()).collect();
    let count = |is_one: fn(&Label) -> bool| all.iter().filter(|label| is_one(label)).count();
    let parallel = count(|label| matches!(label, Label::Parallel { .. }));
    let in_reach = count(|label| matches!(label, Label::Parallel { in_reach: true, .. }));
    let distances = count(|label| matches!(label, Label::Sequential { distance: true }));
    assert!(all.len() >= 300 && distances >= 80, "{} loops, {distances} with a distance", all.len());
    assert!(in_reach * 10 >= parallel * 9, "only {in_reach} of {parallel} parallel loops are in reach");
}

#[test]
fn labels_are_read() {
    let check =
        |words: &str| label::labels(&format!("for (;;) // @loop {words}\n")).map(|found| found[0].1.clone());
    let named = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(operator, name)| ((*operator).to_owned(), (*name).to_owned())).collect()
    };
    let plain = Label::Parallel { private: Vec::new(), reductions: Vec::new(), in_reach: true };
    assert_eq!(check("parallel"), Ok(plain));
    let full = Label::Parallel {
        private: vec!["w".to_owned()],
        reductions: named(&[("+", "s"), ("max", "m")]),
        in_reach: false,
    };
    let words = "parallel, private(w), reduction(+: s), reduction(max: m), not proven: it is hard, so hard";
    assert_eq!(check(words), Ok(full));
    assert_eq!(check("sequential: x: y"), Ok(Label::Sequential { distance: false }));
    assert_eq!(check("sequential, distance: x"), Ok(Label::Sequential { distance: true }));
    assert_eq!(check("accumulates: a[i]"), Ok(Label::Accumulates));
    for words in ["", "paralel", "sequential", "sequential, distance", "parallel, w", "parallel, not proven:"]
    {
        assert!(check(words).is_err(), "{words}");
    }
}

#[test]
fn a_verdict_is_held_against_a_label() {
    let judge = |words: &str, verdict: Option<LoopVerdict>| {
        let labels = label::labels(&format!("for (;;) // @loop {words}\n")).unwrap();
        label::judge(&labels[0].1, verdict.as_ref())
    };
    let sequential = || Some(LoopVerdict::Sequential { reason: "why".to_owned(), by_dependence: true });
    assert_eq!(judge("sequential: x", sequential()), Ok(Standing::Sequential));
    assert_eq!(judge("accumulates: x", sequential()), Ok(Standing::Free));
    assert_eq!(judge("parallel, not proven: x", sequential()), Ok(Standing::OutOfReach));
    assert_eq!(judge("parallel", sequential()), Err("parallel, but found sequential: why".to_owned()));
    assert!(judge("parallel", None).is_err());
}

#[test]
fn a_loop_that_ends_where_its_variable_wraps_around_is_not_divided() {
    let heads = [
        ("unsigned i = n - 1; i < n; i--", false),
        ("size_t i = n - 1; n > i; i -= 1", false),
        ("unsigned i = n - 2; i < n; i += -2", false),
        ("unsigned i = 3; i >= 1; i++", false),
        ("unsigned i = 0; i < n; i++", true),
        ("int i = n - 1; i >= 0; i += -1", true),
        ("int i = 0; i < n; i -= -4", true),
    ];
    for (head, is_divided) in heads {
        let text = format!(
            "#include <stddef.h>\nvoid f(unsigned n, int *a)\n{{\n#pragma acc parallel loop copy(a[0:n])\n    for ({head})\n        a[i] = 1;\n}}\n"
        );
        let source = Source::new("loop.c".to_owned(), text.into_bytes(), Language::C);
        let translation = translate(&source, &Options::default());
        let text = String::from_utf8(translation.text).unwrap();
        assert_eq!(text.contains("distribute"), is_divided, "{head}: {text}");
    }
}
