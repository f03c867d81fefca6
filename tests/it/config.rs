//! `acc2omp.toml`: what is said there counts as on the command line, which counts more.
//!
//! Invariant: each test runs in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const LOOP: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n]) async(1)\n    \
                    for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n#pragma acc wait\n}\n";

fn project(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["src/a.c", "src/slow/b.c"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, LOOP).unwrap();
    }
    fs::write(folder.path().join("acc2omp.toml"), config).unwrap();
    folder
}

/// Status, standard output and what was said.
fn run(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_acc2omp")).args(words).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn options_are_found_upward_and_paths_are_seen_from_the_file() {
    let project = project("out = \"omp\"\nasync = \"sync\"\nquiet = true\n");
    assert_eq!(run(&project.path().join("src"), &["."]), (0, String::new(), String::new()));
    assert!(!read(&project, "omp/a.c").contains("nowait"));
    // What the command line says counts: another destination, other queues, more words.
    let (status, diff, said) =
        run(&project.path().join("src"), &["a.c", "--diff", "--async", "queues", "-v"]);
    assert!(status == 0 && diff.contains("nowait") && !said.is_empty(), "{diff}{said}");
}

#[test]
fn lists_are_added_to() {
    let project = project("D = [\"ONE\"]\n");
    let source = "#ifndef ONE\n#pragma acc wait(1)\n#endif\n#ifndef TWO\n#pragma acc wait(2)\n#endif\n#pragma acc wait(3)\n";
    fs::write(project.path().join("src/a.c"), source).unwrap();
    let (_, diff, _) = run(project.path(), &["src/a.c", "--diff", "-q", "-D", "TWO"]);
    assert!(!diff.contains("-#pragma acc wait(1)") && !diff.contains("-#pragma acc wait(2)"), "{diff}");
    assert!(diff.contains("-#pragma acc wait(3)"), "{diff}");
}

#[test]
fn sources_may_have_options_of_their_own() {
    let project =
        project("D = [\"X\"]\nI = [\"src\"]\n\n[[path]]\nmatch = \"src/slow/**\"\nasync = \"sync\"\n");
    let (_, config, _) = run(project.path(), &["config", "src/slow/b.c"]);
    assert!(config.contains("async = \"sync\"  # acc2omp.toml:6"), "{config}");
    assert_eq!(run(project.path(), &["src", "-o", "out", "-q"]).0, 0);
    assert!(read(&project, "out/a.c").contains("nowait"));
    assert!(!read(&project, "out/slow/b.c").contains("nowait"));
    assert_eq!(run(project.path(), &["src", "-o", "out2", "-q", "--async", "queues"]).0, 0);
    assert!(read(&project, "out2/slow/b.c").contains("nowait"));
}

#[test]
fn sections_for_no_source_are_reported() {
    let section = |pattern: &str| format!("[[path]]\nmatch = \"{pattern}\"\nasync = \"sync\"\n");
    let project = project(&[section("src/slwo/**"), section("src/slow/*.f90"), section("src/*.c")].concat());
    let reported = |words: &[&str]| {
        let (_, _, said) = run(project.path(), words);
        said.lines().filter(|line| line.contains("[[path]]")).collect::<Vec<_>>().join("\n")
    };
    let first = "note: acc2omp.toml:1: `[[path]]` matches no source: `src/slwo/**`";
    let second = "note: acc2omp.toml:4: `[[path]]` matches no source: `src/slow/*.f90`";
    assert_eq!(reported(&["src", "--check"]), format!("{first}\n{second}"));
    // The others may have sources that this run is not about.
    assert_eq!(reported(&["src/a.c", "--check"]), first);
}

#[test]
fn directives_are_named_by_their_routine() {
    let project = project("[[at]]\nfile = \"src/a.c\"\nlabel = \"f:1\"\ndo = \"seq\"\n");
    let code = "void f(int n, double *a)\n{\n#pragma acc parallel loop gang vector num_gangs(8) collapse(1) copy(a[0:n]) device_type(x) vector\n    for (int i = 0; i < n; i++)\n        a[i] = 0;\n#pragma acc wait\n}\n";
    fs::write(project.path().join("src/a.c"), code).unwrap();
    let (status, diff, said) = run(project.path(), &["src/a.c", "--diff", "-v"]);
    assert!(status == 0 && said.contains("note[A0031]"), "{status} {said}");
    assert!(diff.contains("+#pragma omp target map(tofrom: a[0:n])"), "{diff}");
    let all = "[[at]]\nfile = \"src/a.c\"\nlabel = \"f\"\ndo = \"leave\"\n";
    fs::write(project.path().join("acc2omp.toml"), all).unwrap();
    let (status, diff, said) = run(project.path(), &["src/a.c", "--diff"]);
    assert!(status == 1 && diff.is_empty(), "{said}");
    for (label, name) in [("g", "src/a.c: `g`"), ("f:3", "src/a.c: `f:3`")] {
        let stale = format!("[[at]]\nfile = \"src/a.c\"\nlabel = \"{label}\"\ndo = \"leave\"\n");
        fs::write(project.path().join("acc2omp.toml"), stale).unwrap();
        let (_, _, said) = run(project.path(), &["src/a.c", "--check"]);
        assert!(
            said.contains(&format!("note: {name}: `[[at]]` names no directive that it could change")),
            "{said}"
        );
    }
}

#[test]
fn comments_that_ask_in_vain_are_reported() {
    let project = project("");
    let reported = |name: &str, text: &str| {
        fs::write(project.path().join(name), text).unwrap();
        run(project.path(), &[name, "--check"]).2
    };
    let with = |before: &str| LOOP.replace("#pragma acc p", &format!("{before}\n#pragma acc p"));
    let said = reported("a.c", &with("/* acc2omp: laeve */"));
    assert!(said.contains("differs[A0032]") && said.contains("did you mean `leave`?"), "{said}");
    let said = reported("a.c", &with("// acc2omp: because"));
    assert!(said.contains("differs[A0032]") && said.contains("comments ask for `leave` or `seq`"), "{said}");
    let said = reported("a.c", &with("// acc2omp: leave\n"));
    assert!(said.contains("differs[A0033]") && !said.contains("A0030"), "{said}");
    let said = reported("a.c", &with("; // acc2omp: leave"));
    assert!(said.contains("differs[A0033]"), "{said}");
    let said = reported("a.c", &with("/// ACC2OMP: Leave"));
    assert!(
        said.contains("untranslated[A0030]") && !said.contains("A0032") && !said.contains("A0033"),
        "{said}"
    );
    let said = reported("a.c", &with("// acc2omp: seq").replace("parallel loop", "parallel"));
    assert!(said.contains("differs[A0033]"), "{said}");
    let text =
        "subroutine s\n  ! acc2omp: foo\n  !$acc wait\n  ! acc2omp: leave\n  !$acc wait\nend subroutine\n";
    let said = reported("a.f90", text);
    assert!(
        said.contains("differs[A0032]") && said.contains("untranslated[A0030]") && !said.contains("A0033"),
        "{said}"
    );
}

#[test]
fn directives_are_left_by_line_or_comment() {
    let project = project("[[at]]\nfile = \"src/a.c\"\nline = 6\ndo = \"leave\"\n");
    let (status, diff, said) = run(project.path(), &["src/a.c", "--diff"]);
    assert!(status == 1 && said.contains("untranslated[A0030]"), "{said}");
    assert!(!diff.contains("-#pragma acc wait") && diff.contains("-#pragma acc parallel loop"), "{diff}");
    let stale = "[[at]]\nfile = \"src/a.c\"\nline = 5\ndo = \"leave\"\n";
    fs::write(project.path().join("acc2omp.toml"), stale).unwrap();
    let (_, _, said) = run(project.path(), &["src/a.c", "--check"]);
    assert!(said.contains("note: src/a.c:5: `[[at]]` names no directive that it could change"), "{said}");
    fs::write(
        project.path().join("src/a.c"),
        LOOP.replace("#pragma acc p", "/* acc2omp: leave */\n#pragma acc p"),
    )
    .unwrap();
    let (_, diff, _) = run(project.path(), &["src/a.c", "--diff"]);
    assert!(diff.contains("-#pragma acc wait") && !diff.contains("-#pragma acc parallel loop"), "{diff}");
}

#[test]
fn mistakes_are_shown_with_their_lines() {
    for (config, message) in [
        ("omp = 5.1\nopm = 5\n", "acc2omp.toml:2: `opm` is not an option that can stand here"),
        ("omp = 5.1\nasync = [1]\n", "acc2omp.toml:2: `async` is a text or a number"),
        ("\n[[path]]\nasync = \"sync\"\n", "acc2omp.toml:2: `[[path]]` has no `match = \"PATTERN\"`"),
        (
            "[[path]]\nmatch = \"*\"\nout = \"x\"\n",
            "acc2omp.toml:3: `out` is not an option that can stand here",
        ),
        (
            "[[at]]\nfile = \"no.c\"\nline = 1\ndo = \"leave\"\n",
            "acc2omp.toml:2: `file` is `no.c`: No such file",
        ),
        ("[[at]]\nfile = \"src/a.c\"\n", "acc2omp.toml:1: `[[at]]` wants `file = \"FILE\"`"),
        ("guard = 1\n", "want the names of two macros"),
        ("omp = \n", "acc2omp.toml:1:"),
        ("omp = 7\n", "acc2omp.toml:1: `omp` is `7`: want 4.5"),
        ("[[path]]\nmatch = \"*\"\nomp = 7\n", "acc2omp.toml:3: `omp` is `7`: want 4.5"),
    ] {
        let project = project(config);
        let (status, _, said) = run(project.path(), &["src", "--check"]);
        assert!(status == 2 && said.contains(message), "{config}said:\n{said}");
    }
}

#[test]
fn what_counts_is_printed_with_its_place() {
    let project = project("# mine\nomp = \"5.1\"\nI = [\"src\"]\n");
    let (status, text, _) = run(project.path(), &["config", "src"]);
    assert_eq!(status, 0);
    for line in
        ["omp = \"5.1\"  # acc2omp.toml:2", "I = [\"src\"]  # acc2omp.toml:3", "to = \"openmp\"  # default"]
    {
        assert!(text.lines().any(|one| one == line), "{line} is not in:\n{text}");
    }
}

#[test]
fn compilers_get_what_the_project_says() {
    let project = project("async = \"sync\"\nout = \"omp\"\n");
    let (status, text, said) =
        run(project.path(), &["cc", "-q", "--", "cc", "-fopenmp", "-E", "-x", "c", "/dev/null"]);
    assert_eq!((status, said), (0, String::new()), "{text}");
    // `cat` takes the place of a compiler that compiles.
    let (status, text, _) = run(project.path(), &["cc", "-q", "--", "cat", "src/a.c"]);
    assert!(status == 0 && text.contains("#pragma omp target") && !text.contains("nowait"), "{text}");
}

#[test]
fn profiles_of_ones_own_begin_from_others() {
    let nest = "void f(int n, double a[][20])\n{\n#pragma acc parallel loop gang copy(a[0:n])\n    for (int i = 0; i < n; i++) {\n#pragma acc loop vector\n        \
                for (int j = 0; j < 20; j++)\n            a[i][j] += 1;\n    }\n}\n";
    let project =
        project("[profile.short]\ninherits = \"clang\"\nshort_trip = 8\nvariable_length_inside = true\n");
    fs::write(project.path().join("src/a.c"), nest).unwrap();
    fs::write(
        project.path().join("own.toml"),
        "inherits = \"clang\"\nshort_trip = 8\nvariable_length_inside = true\n",
    )
    .unwrap();
    let diff = |profile: &str| run(project.path(), &["src/a.c", "--diff", "-q", "--profile", profile]);
    let (clang, short, file) = (diff("clang"), diff("short"), diff("own.toml"));
    let config = project.path().join("acc2omp.toml");
    let own = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{own}\n[profile]\nuse = \"short\"\n")).unwrap();
    assert_eq!(run(project.path(), &["src/a.c", "--diff", "-q"]), short);
    assert_eq!((clang.0, short.0), (0, 0), "{}", short.2);
    assert!(clang.1 != short.1 && short.1.matches("+#pragma omp").count() == 2, "{}{}", clang.1, short.1);
    assert_eq!(short, file);
    for (config, message) in [
        ("[profile.p]\nshort_trip = 8\n", "acc2omp.toml:1: `inherits = \"NAME\"` is missing"),
        ("\n[profile.p]\ninherits = \"clang\"\nshort = 8\n", "acc2omp.toml:4: unknown field `short`"),
        ("profile = \"no\"\n", "`--profile no`: there is no such profile"),
    ] {
        fs::write(project.path().join("acc2omp.toml"), config).unwrap();
        let (status, _, said) = run(project.path(), &["src/a.c", "--check"]);
        assert!(status == 2 && said.contains(message), "{said}");
    }
}

#[test]
fn rule_pages_of_ones_own_take_the_place_of_others() {
    let project = project("rules = \"site\"\n");
    let source = "void f(int n, double *a)\n{\n#pragma acc parallel loop present(a[0:n])\n    \
                  for (int i = 0; i < n; i++)\n        a[i] *= 2;\n}\n";
    fs::write(project.path().join("src/a.c"), source).unwrap();
    let page = super::text(super::root("rules/clause/present.md"));
    let page = page.replacen("map(alloc: {list})", "map(tofrom: {list})", 1);
    fs::create_dir_all(project.path().join("site/clause")).unwrap();
    let write = |text: &str| fs::write(project.path().join("site/clause/present.md"), text).unwrap();
    write(&page);
    let checked = run(project.path(), &["rules", "--check", "site"]);
    assert_eq!(checked, (0, "1 page: no mistakes\n".to_owned(), String::new()));
    let (status, diff, _) = run(&project.path().join("src"), &["a.c", "--diff", "-q"]);
    assert!(status == 0 && diff.contains("map(tofrom: a[0:n])"), "{diff}");
    write(&page.replacen("map(tofrom: {list})", "map(tofro: {list})", 1));
    for words in [&["rules", "--check", "site"][..], &["src/a.c", "--check"]] {
        let (status, _, said) = run(project.path(), words);
        assert!(
            status == 2 && said.contains("site/clause/present.md:8: `map` has no modifier `tofro`"),
            "{said}"
        );
    }
    fs::write(project.path().join("site/clause/own.md"), "# own\n").unwrap();
    let (status, _, said) = run(project.path(), &["rules", "--check", "site"]);
    assert!(status == 2 && said.contains("acc2omp has no page `clause/own.md`"), "{said}");
}
