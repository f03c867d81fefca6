//! What the commands of make link.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use std::fs;

use super::*;

fn read(files: &[(&str, &str)]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("code")).unwrap();
    for (name, text) in files {
        let path = folder.path().join("code").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    made(&folder.path().join("code")).unwrap()
}

fn of(text: &str) -> Made {
    read(&[("Makefile", text)])
}

#[test]
fn flags_of_a_makefile_stay_but_for_openacc() {
    let made = of("CC = craycc\nCFLAGS = -O3 -Iinc -acc -gpu=cc90\na: a.c\n\t$(CC) $(CFLAGS) a.c -o a\n");
    let [reference, _, test] = made.builds.unwrap();
    assert_eq!(reference, "make -B CC='gcc -O2 -fopenacc -foffload=disable' CFLAGS='-O3 -Iinc'");
    assert!(test.contains("CC='acc2omp cc -- clang -O2 -fopenmp --offload-arch=sm_90' CFLAGS='-O3 -Iinc'"));
    assert_eq!(made.run.as_deref(), Some("./a # and its arguments"));
    assert!(made.remarks[0].ends_with("dropped or replaced: -acc -gpu=cc90"), "{:?}", made.remarks);
    let made = of("CFLAGS = -O3 -Iinc\na: a.c\n\t${CC} ${CFLAGS} a.c\n");
    assert_eq!(made.builds.unwrap()[0], "make -B CC='gcc -O2 -fopenacc -foffload=disable'");
}

#[test]
fn compilers_are_known_by_the_values_of_variables() {
    let main = "include ../config/make.def\ninclude common.mk\na: a.o\n\t$(FLINK) -o $(PROGRAM) a.o\n.f.o:\n\t$(FCOMPILE) $<\n";
    let made = read(&[
        ("Makefile", main),
        ("common.mk", "PROGRAM = $(BIN)/a.x\nFCOMPILE = $(F77) -c $(FFLAGS)\n"),
        (
            "../config/make.def",
            "F77 = pgf77 -Mextend\nFLINK = $(F77)\nFFLAGS = -fast $(INC)\nBIN = ../bin\nUCC = gcc\n",
        ),
    ]);
    let [reference, _, test] = made.builds.unwrap();
    assert_eq!(
        reference,
        "make -B F77='gfortran -ffixed-line-length-132 -O2 -fopenacc -foffload=disable' FFLAGS='$(INC)'"
    );
    assert!(test.contains("F77='acc2omp fc -- gfortran -ffixed-line-length-132 -O2 -fopenmp'"), "{test}");
    assert_eq!((made.run, made.files.len()), (None, 3));
    assert!(made.remarks.iter().any(|one| one.starts_with("../config/make.def lies outside")));
    assert!(made.remarks.iter().any(|one| one.ends_with("../bin/a.x")));
}

#[test]
fn scripts_of_mpi_stay() {
    let made = of(
        "MPI_COMPILER=ftn #mpif90\nCXXCOMPILER = mpicxx\ntea: a.o\n\t$(MPI_COMPILER) a.o \\\n\t-o tea\n.cc.o:\n\t$(CXXCOMPILER) -c $<\nrun: tea\n\tmpirun -np 4 ./tea\n",
    );
    let [reference, _, test] = made.builds.unwrap();
    assert!(reference.contains("MPI_COMPILER='mpif90 -O2 -fopenacc"), "{reference}");
    assert!(test.starts_with("MPICH_CXX=clang++ MPICH_FC=gfortran OMPI_CXX=clang++ OMPI_FC=gfortran make -B CXXCOMPILER='acc2omp c++ -- mpicxx "), "{test}");
    assert_eq!(made.run.as_deref(), Some("mpirun -np 4 ./tea"));
}

#[test]
fn what_compilers_link_by_themselves_is_named() {
    let made = of("CC = /opt/bin/pgcc\na: a.o\n\t$(CC) a.o -o a\n");
    assert!(made.builds.unwrap()[0].contains("-foffload=disable -Wl,--no-as-needed -lm'"));
}

#[test]
fn what_lacks_is_said() {
    let made = of("all: a\na: a.c\n\tpgcc -acc a.c -o a\n");
    assert!(made.builds.is_none() && made.remarks[0].contains("call `pgcc` by name"));
    let made = of("all:\n\t$(BUILDER) all\n");
    assert!(made.builds.is_none() && made.run.is_none());
    assert!(made.remarks[0].starts_with("no variable that its commands use"), "{:?}", made.remarks);
}

#[test]
fn a_program_is_what_is_linked() {
    let run = |text: &str| read(&[("Makefile", text), ("solve.c", "")]).run;
    let link = "poisson: p.c\n\t$(CC) p.c -o poisson\nclean:\n\trm -f poisson\n";
    assert_eq!(run(&format!("all: run\n{link}run: poisson\n\t./poisson\n")).as_deref(), Some("./poisson"));
    let timed = format!("all: run\n{link}profile: poisson\n\tnvprof ./poisson\n");
    assert_eq!(run(&timed), None, "`all` makes nothing");
    assert_eq!(run("X := 1\n.PHONY: all\nall: solve info\n").as_deref(), Some("./solve # and its arguments"));
    assert_eq!(run("$(EXE): a.o\n"), None);
    assert_eq!(run("P != echo solve\n$(P): a.o\n\t$(CC) a.o -o $@\n"), None, "a command names it");
}

#[test]
fn flags_that_the_command_line_cannot_change_are_said_with_their_line() {
    let made = of("CC = nvc\na: a.c\n\t$(CC) -acc -Minfo=accel a.c -o a\n");
    assert!(made.remarks[0].starts_with("Makefile:3 holds `-acc -Minfo=accel`, "), "{:?}", made.remarks);
    assert!(made.remarks[0].contains("may fail"));
    let text = "override CFLAGS += -acc\nCFLAGS += -fast\nCC = nvc\na: a.c\n\t$(CC) $(CFLAGS) a.c -o a\n";
    let made = of(text);
    assert!(made.remarks[0].starts_with("Makefile:1 holds `-acc`, "), "{:?}", made.remarks);
    assert!(made.remarks[1].ends_with("replaced: -fast"), "{:?}", made.remarks);
    let made = of(&text.replace("CFLAGS += -fast\n", ""));
    assert!(made.remarks.iter().all(|one| !one.contains("replaced")), "{:?}", made.remarks);
    let text =
        "CC = gcc\ngpu: CC = nvc\ngpu: CFLAGS = -acc -fast\ngpu: a\na: a.c\n\t$(CC) $(CFLAGS) a.c -o a\n";
    let made = of(text);
    assert!(made.remarks[0].starts_with("Makefile:3 holds `-acc -fast`, "), "{:?}", made.remarks);
    assert_eq!(made.run.as_deref(), Some("./a # and its arguments"));
    // What the command line sets replaces that of one target.
    let made = of(&format!("CFLAGS = -acc\n{text}"));
    assert!(made.remarks[0].contains("replaced: -acc"), "{:?}", made.remarks);
    let made = of("override CC = nvc\na: a.c\n\t$(CC) a.c -o a\n");
    assert!(made.remarks[0].starts_with("Makefile:1 sets `CC` with `override`"), "{:?}", made.remarks);
}

#[test]
fn of_several_programs_the_one_with_openacc_is_run() {
    let acc = "#pragma acc parallel loop\n";
    let all = |makefile: &str, other: &str| {
        let files =
            [("Makefile", makefile), ("s.c", other), ("src/p.c", acc), ("acc.c", acc), ("main.c", acc)];
        let made = read(&files);
        (made.run.unwrap(), made.remarks.last().cloned().unwrap_or_default())
    };
    let objects = "CC = gcc\nall: ser par\nser: s.o\n\t$(CC) s.o -o $@\npar: o/p.o\n\t$(CC) o/p.o -o $@\no/%.o: src/%.c\n\t$(CC) -c $< -o $@\n";
    let (run, why) = all(objects, "");
    assert!(
        run == "./par # and its arguments" && why.starts_with("of the programs ser, par, only par "),
        "{why}"
    );
    let (run, why) = all(objects, acc);
    assert_eq!(run, "false # which of ser, par?");
    assert!(why.starts_with("several programs have sources with OpenACC: ser, par; "), "{why}");
    let lines = "CC = gcc\nall:\n\t$(CC) s.c -o ser\n\t$(CC) acc.c -o par\n";
    assert_eq!(all(lines, "").0, "./par # and its arguments");
    assert_eq!(all("CC = gcc\nall: s acc\n", "").0, "./acc # and its arguments");
    let same = "CC = gcc\nall: x y\nx: main.c\n\t$(CC) main.c -o x\ny: main.c\n\t$(CC) -acc main.c -o y\n";
    assert_eq!(all(same, "").0, "false # which of x, y?");
}

#[test]
fn a_makefile_without_clean_builds_all_anew() {
    let build = |more: &str| of(&format!("CC = gcc\na: a.c\n\t$(CC) a.c -o a\n{more}")).builds.unwrap();
    assert!(build("").iter().all(|build| build.starts_with("make -B CC=")));
    for clean in ["clean:\n\trm -f a\n", "C = clean\nall $(C)::\n\trm -f a\n"] {
        assert!(build(clean).iter().all(|build| build.starts_with("make clean; make CC=")));
    }
}
