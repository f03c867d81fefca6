//! What compiler commands say of sources, options and outputs.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

fn read(line: &str) -> (Command, Vec<(String, Language)>) {
    let place = tempfile::tempdir().unwrap();
    for name in ["a.c", "b.cc", "m.f90", "o.c", "x.h"] {
        std::fs::write(place.path().join(name), "").unwrap();
    }
    std::fs::write(place.path().join("more"), "-DX a.c -fopenmp").unwrap();
    let words: Vec<OsString> = shlex::split(line).unwrap().into_iter().map(OsString::from).collect();
    let command = Command::read(&words, place.path());
    let sources = command.sources.iter();
    let named = sources.map(|(at, language)| (command.words[*at].to_string_lossy().into_owned(), *language));
    let named = named.collect();
    (command, named)
}

#[test]
fn sources_are_words_that_are_no_values() {
    let (command, sources) = read("clang -c -include o.c -D o.c a.c -MF o.c -o x.o b.cc gone.c x.h");
    assert_eq!(sources, [("a.c".to_owned(), Language::C), ("b.cc".to_owned(), Language::Cpp)]);
    assert!(command.ends_early && !command.only_looks && !command.has_openmp);
    assert_eq!(command.output, Some(PathBuf::from("x.o")));
}

#[test]
fn the_language_is_what_the_command_says() {
    assert_eq!(read("/usr/bin/g++ a.c").1, [("a.c".to_owned(), Language::Cpp)]);
    assert_eq!(read("ccache clang++-19 a.c").1, [("a.c".to_owned(), Language::Cpp)]);
    assert_eq!(read("gcc -x c++ a.c").1, [("a.c".to_owned(), Language::Cpp)]);
    assert_eq!(read("gcc -x assembler a.c").1, []);
    assert_eq!(read("gcc @more").1, [("a.c".to_owned(), Language::C)]);
    assert!(read("gcc @more").0.has_openmp);
    let fixed = read("gfortran -ffixed-form m.f90").0;
    assert_eq!((fixed.form, fixed.sources.len()), (Some(Form::Fixed), 1));
}

#[test]
fn what_only_looks_is_known() {
    assert!(read("gcc -E a.c").0.only_looks);
    assert!(read("gcc -MM a.c").0.only_looks);
    assert!(!read("gcc -MMD -MP -c a.c").0.only_looks);
}
