//! Tests of `depend.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_scratch_folder_may_have_odd_names() {
    let source = (Path::new("/a b#c/s/a.c"), "a.c");
    let text = "x.o: /a\\ b\\#c/s/a.c /a\\ b\\#c/s/acc2omp.h y.h\n";
    assert_eq!(mended(text, Path::new("/a b#c"), source, Path::new("/")), "x.o: a.c  y.h\n");
}

#[test]
fn sources_are_named_and_nothing_of_the_mirror() {
    let place = tempfile::tempdir().unwrap();
    let header = place.path().join("a b.h");
    fs::write(&header, "").unwrap();
    let (header, escaped) = (header.display().to_string(), header.display().to_string().replace(' ', "\\ "));
    let text = format!(
        "x.o: /scratch/s/a.c x.h /scratch{escaped} \\\n /scratch/s/acc2omp.h y.h\n/scratch{escaped}:\n/scratch/s/acc2omp.h:\n"
    );
    let source = (Path::new("/scratch/s/a.c"), "src/a.c");
    let expected = format!("x.o: src/a.c x.h {escaped} \\\n  y.h\n{escaped}:\n\n");
    assert_eq!(mended(&text, Path::new("/scratch"), source, Path::new("/nowhere")), expected, "{header}");
}
