//! What is passed over of large files changes nothing.
//!
//! Invariant: a source is translated alike, and spoken of alike, whether functions that have nothing to do with its directives
//! are read or not.

use acc2omp::report;
use acc2omp::source::Language;
use acc2omp::{Options, Source, translate};

use super::{files, shown};

fn alike(name: &str, bytes: &[u8]) -> bool {
    let source = Source::new(name, bytes.to_vec(), Language::C);
    let [whole, islands] = [usize::MAX, 0].map(|islands_from| {
        let translation = translate(&source, &Options { islands_from, ..Options::default() });
        let said = report::diagnostics(&source.file, &translation.diagnostics, report::Manner::default());
        (String::from_utf8_lossy(&translation.text).into_owned(), said)
    });
    assert_eq!(whole, islands, "{name}");
    whole.0.as_bytes() != bytes
}

#[test]
fn fixtures_read_in_part_become_the_same() {
    let all =
        files("fixtures").into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "c"));
    let translated = all.filter(|path| alike(&shown(path), &std::fs::read(path).unwrap())).count();
    assert!(translated > 150, "{translated}");
}

#[test]
fn what_is_passed_over_is_not_read() {
    let construct = "void k(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) a[i] = 0;\n}\n";
    let other = "int g(int a)\n{\nreturn a + + + ;\n}\nint main(void)\n{\nreturn g(1);\n}\n";
    assert!(alike("apart.c", format!("{construct}{other}").as_bytes()));
    let spent = |islands_from: usize| {
        let many = (0..300).map(|k| other.replace("g(", &format!("g{k}(")).replace("main", &format!("m{k}")));
        let text = format!("{construct}{}", many.collect::<String>());
        let source = Source::new("many.c", text.into_bytes(), Language::C);
        let before = super::scaling::spent();
        translate(&source, &Options { islands_from, ..Options::default() });
        super::scaling::spent().saturating_sub(before).as_secs_f64()
    };
    let least = |islands_from: usize| (0..4).map(|_| spent(islands_from)).fold(f64::MAX, f64::min);
    let (whole, islands) = (least(usize::MAX), least(0));
    assert!(islands < whole, "{islands} {whole}");
}
