//! What makefiles say of a build.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn programs_are_found_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), "").unwrap();
    let of = |text: &str| {
        let all = executables(folder.path(), text);
        all.iter().map(|one| format!("{} {}", one.path.display(), one.sources.len())).collect::<Vec<_>>()
    };
    let cmake = "project(P LANGUAGES C)\n# add_executable(no)\nset(EXE run)\nadd_executable(${EXE} a.c)\n";
    assert_eq!(of(cmake), ["run 1"]);
    assert_eq!(of("project(P)\nADD_EXECUTABLE (${PROJECT_NAME} b.c)"), ["P 0"]);
    assert_eq!(of("add_executable(${OTHER} a.c)"), ["${OTHER} 1"]);
    let more = "SET(S \"a.c\" b.c)\nadd_executable(x ${S})\nadd_executable(y IMPORTED)\nadd_executable(z)\ntarget_sources(z PRIVATE\n ${CMAKE_SOURCE_DIR}/a.c)";
    assert_eq!(of(more), ["x 1", "z 1"]);
}

#[test]
fn a_database_says_how_sources_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let entry = |file: &str, more: &str| {
        format!(
            "{{\"directory\":\"{0}/build\",\"file\":\"../{file}\",\"command\":\"nvc -acc -O3 -DN=3 {more} -I../inc -c ../{file}\"}}",
            root.display()
        )
    };
    let all = |more: &str| format!("[{},{}]", entry("a.c", ""), entry("src/b.c", more));
    let [reference, _, test] = database(&root, &all("")).unwrap();
    assert_eq!(reference, "gcc -O2 -fopenacc -foffload=disable '-DN=3' -Iinc a.c src/b.c -o program -lm");
    assert!(test.starts_with("acc2omp cc -- clang -O2 -fopenmp "));
    assert!(database(&root, &all("-DOTHER")).is_none());
}
