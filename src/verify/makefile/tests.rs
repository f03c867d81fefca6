//! Makefiles: what is read of them.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

fn makefile(text: &str) -> Makefile {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Makefile"), text).unwrap();
    fs::write(folder.path().join("make.def"), "F77 = pgf90\nFLINK = $(F77)\n").unwrap();
    Makefile::of(folder.path()).unwrap()
}

#[test]
fn variables_are_read_through_files_and_conditions() {
    let made = makefile(
        "DEF = make.def\ninclude $(DEF) # here\nA ?= x\nA ?= y\nB = -O3 \\\n  -g\nB += -w\nC := $(B) -c\n\
             ifeq ($(A),y)\nD = 1\nelse ifeq ($(A),x)\n\tD = 2\nelse\nD = 3\nendif\nifdef NO\nD = 4\nendif\n\
             F_x = f\nF = $(F_$(A))\nS = a.c b.c\nO = $(S:.c=.o)\nW = $(shell ls)\nV != echo a\nV += b\n",
    );
    let value = |name: &str| made.expand(&format!("$({name})"));
    assert_eq!(value("FLINK").as_deref(), Some("pgf90"));
    assert_eq!(value("C").unwrap().split_whitespace().collect::<Vec<_>>(), ["-O3", "-g", "-w", "-c"]);
    assert_eq!((value("D").as_deref(), value("F").as_deref()), (Some("2"), Some("f")));
    assert_eq!((value("O").as_deref(), value("W")), (Some("a.o b.o"), None));
    assert_eq!((value("NO").as_deref(), value("V")), (Some(""), None));
    assert_eq!(made.files, [Path::new("Makefile"), Path::new("make.def")]);
    assert_eq!(makefile("include ../x/none.def\n").missing, [Path::new("../x/none.def")]);
}

#[test]
fn rules_have_their_commands() {
    let made = makefile("P = a.x\nLINK = $(F77)\n${P}: a.o ; echo\n\t$(LINK) -o $@\n.f.o:\n\t$(CC) -c $<\n");
    assert_eq!(made.rules.len(), 2);
    assert_eq!(made.rules[0].recipe, ["echo", "$(LINK) -o $@"]);
    assert!(["LINK", "F77", "CC"].iter().all(|name| made.used().contains(*name)));
    assert!(!made.used().contains("P"));
}

#[test]
fn lines_that_stay_have_their_place() {
    let made = makefile(
        "A = 1 \\\n 2\noverride CFLAGS += -acc\ngpu: private CC := nvc\ngpu: a ; B=1 echo\n\t$(CC) \\\n  a.c\nx: $(A:b=c)\n\tD=1 $(CC)\n",
    );
    let lines: Vec<_> = made.lines.iter().map(|line| (&*line.place, &*line.text, &line.of)).collect();
    let (over, target) = (Of::Override("CFLAGS".to_owned()), Of::Target("CC".to_owned()));
    assert_eq!(
        lines,
        [
            ("Makefile:3", "-acc", &over),
            ("Makefile:4", "nvc", &target),
            ("Makefile:6", "$(CC)    a.c", &Of::Recipe),
            ("Makefile:9", "D=1 $(CC)", &Of::Recipe),
        ]
    );
    assert_eq!((made.value("CFLAGS"), made.value("CC"), made.rules.len()), (Some("-acc"), None, 2));
}

#[test]
fn a_variable_of_itself_has_no_value() {
    assert_eq!(makefile("A = $(B)\nB = $(A)\n").expand("$(A)"), None);
}
