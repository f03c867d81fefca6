//! Which of several programs is tested.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn the_program_with_directives_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.c"), "  # pragma  acc loop\n").unwrap();
    fs::write(root.join("b.f"), "c$ACC loop\n").unwrap();
    fs::write(root.join("n.c"), "// no acc pragma\n").unwrap();
    let program = |name: &str, source: &str| Program {
        path: name.into(),
        sources: [PathBuf::from(source)].into_iter().collect(),
    };
    let (a, b, n, m) = (program("a", "a.c"), program("b", "b.f"), program("n", "n.c"), program("m", "n.c"));
    let of = |all: &[&Program]| {
        let all: Vec<Program> = all.iter().map(|one| (*one).clone()).collect();
        match choose(root, &all) {
            Choice::Nothing => "nothing".to_owned(),
            Choice::One(one, why) => format!("{} {}", one.path.display(), why.is_some()),
            Choice::Unclear(run, _) => run,
        }
    };
    assert_eq!((of(&[]), of(&[&n])), ("nothing".to_owned(), "n false".to_owned()));
    assert_eq!((of(&[&n, &a]), of(&[&b, &n])), ("a true".to_owned(), "b true".to_owned()));
    assert_eq!(of(&[&n, &a, &b]), "false # which of a, b?");
    assert_eq!(of(&[&n, &m]), "false # which of n, m?");
}
