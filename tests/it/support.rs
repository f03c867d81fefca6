//! The header with what OpenMP has no routine for: each part of it stands by itself, and a tree has those that it uses.
//!
//! Invariant: a header with some parts may be included beside one with others.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use acc2omp::{support, support_names, whole_support};

const WAIT: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n]) async(1)\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n#pragma acc wait(1)\n}\n";

const PRESENT: &str =
    "#include <openacc.h>\nint f(int *a)\n{\n    return acc_is_present(a, 4) && acc_deviceptr(a);\n}\n";

/// The names that a header declares, which other names of its text may only repeat.
fn all_names() -> BTreeSet<String> {
    support_names(&whole_support())
}

#[test]
fn a_part_has_all_that_it_needs_and_compiles_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/acc2omp.h"), support(["acc2omp_wait_async acc2omp_add"])).unwrap();
    let names = all_names();
    assert!(names.len() > 60, "{names:?}");
    let mut previous = 0;
    for (at, name) in names.iter().enumerate() {
        let text = support([name.as_str()]);
        assert!(support_names(&text).contains(name), "{name}");
        assert_eq!(support([text.as_str()]), text, "{name}: what it needs is not there");
        previous = previous.max(text.len());
        // Compilers are asked about some of them.
        if at % 4 != 0 {
            continue;
        }
        fs::write(path("acc2omp.h"), &text).unwrap();
        let both = "#include \"acc2omp.h\"\n#include \"other/acc2omp.h\"\n#include \"acc2omp.h\"\n";
        fs::write(path("a.c"), both).unwrap();
        for (compiler, mode) in [("cc", "-fopenmp"), ("cc", "-Wall"), ("c++", "-fopenmp")] {
            let language = if compiler == "cc" { "c" } else { "c++" };
            let quiet = ["-Wno-unused-function", "-Wno-unknown-pragmas"];
            let words = [mode, "-Werror", quiet[0], quiet[1], "-fsyntax-only", "-x", language, "a.c"];
            let output = Command::new(compiler).args(words).current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(previous < whole_support().len());
}

#[test]
fn a_tree_has_the_parts_that_its_files_use_and_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("src")).unwrap();
    fs::write(path("src/wait.c"), WAIT).unwrap();
    fs::write(path("src/present.c"), PRESENT).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_acc2omp"))
            .args(words)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let has = |tree: &str, name: &str| {
        support_names(&fs::read_to_string(path(tree).join("acc2omp.h")).unwrap()).contains(name)
    };
    run(&["src/wait.c", "-o", "out", "-q"]);
    assert!(has("out", "acc2omp_queue") && has("out", "acc2omp_wait"));
    assert!(!has("out", "acc2omp_is_present") && !has("out", "acc2omp_copyin_rows"));
    run(&["src/present.c", "-o", "out", "-q"]);
    assert!(
        has("out", "acc2omp_queue") && has("out", "acc2omp_is_present") && has("out", "acc2omp_deviceptr")
    );
    assert!(!has("out", "acc2omp_copyin_rows"));
    let first = fs::read_to_string(path("out/acc2omp.h")).unwrap();
    run(&["src", "-o", "out", "-q"]);
    assert_eq!(fs::read_to_string(path("out/acc2omp.h")).unwrap(), first);
    run(&["src", "-o", "both", "-q"]);
    assert_eq!(fs::read_to_string(path("both/acc2omp.h")).unwrap(), first, "both at once");
    // What somebody wrote into it stays, and parts that come are put in.
    fs::write(path("src/rows.c"), WAIT.replace("acc wait(1)", "acc wait")).unwrap();
    let edited = first.replace("#endif\n\n#endif", "#endif\n\n/* mine */\n#endif");
    assert_ne!(edited, first);
    fs::write(path("out/acc2omp.h"), edited).unwrap();
    run(&["src", "-o", "out", "-q"]);
    let merged = fs::read_to_string(path("out/acc2omp.h")).unwrap();
    assert!(merged.contains("/* mine */") && has("out", "acc2omp_is_present"), "{merged}");
    for name in ["wait", "present"] {
        let words = ["-fopenmp", "-Werror", "-c", "-o", "x.o"];
        let file = format!("out/{name}.c");
        let output = Command::new("cc").args(words).arg(&file).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
