//! Draft.

use std::collections::BTreeSet;

use acc2omp::diag::{Code, Severity};
use acc2omp::{Options, Source, To, rules, translate};

use super::{fixtures, shown};

fn said(source: &Source, to: To) -> BTreeSet<(usize, Code, String)> {
    let t = translate(source, &Options { to, ..Options::default() });
    t.diagnostics
        .iter()
        .filter(|diag| diag.severity > Severity::Info)
        .map(|diag| (source.file.line_number(diag.primary.span.start) as usize, diag.code, diag.message.clone()))
        .collect()
}

#[test]
fn draft() {
    let mut all: Vec<(String, Source)> = Vec::new();
    for path in fixtures::sources() {
        let source = fixtures::source(&path);
        if !source.file.language.is_fortran() {
            all.push((shown(&path), source));
        }
    }
    for page in rules::rules().pages() {
        for (n, example) in page.examples.iter().enumerate().filter(|(_, e)| !e.language.is_fortran()) {
            let program = super::rules::in_scene(example, &example.input());
            let name = format!("{}#{n}", page.entry);
            all.push((name, Source::new(format!("example.{}", example.ending()), program.into_bytes(), example.language)));
        }
    }
    for (name, source) in all {
        let omp = said(&source, To::OpenMp);
        let cuda = said(&source, To::Cuda);
        let key = |set: &BTreeSet<(usize, Code, String)>| set.iter().map(|x| (x.0, x.1)).collect::<BTreeSet<_>>();
        let (ko, kc) = (key(&omp), key(&cuda));
        for one in omp.iter().filter(|x| !kc.contains(&(x.0, x.1))) {
            println!("OMP {} {} {} {}", one.1, name, one.0, one.2);
        }
        for one in cuda.iter().filter(|x| !ko.contains(&(x.0, x.1))) {
            println!("CUDA {} {} {} {}", one.1, name, one.0, one.2);
        }
    }
}
