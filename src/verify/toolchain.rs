//! Compilers by their names, and what flags of one become for gcc and clang.
//!
//! Invariant: a flag that changes what a source means gets its counterpart; flags that tune, report or choose a device are dropped.

use std::borrow::Cow;

/// The languages of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    C,
    Cpp,
    Fortran,
}

/// A compiler that a command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// What it compiles.
    pub kind: Kind,
    /// It is a script that calls another compiler with MPI.
    pub is_mpi: bool,
}

const C: &[&str] = &[
    "cc", "gcc", "clang", "nvc", "pgcc", "icc", "icx", "craycc", "amdclang", "armclang", "xlc", "xlc_r",
    "c99", "c11",
];
const CPP: &[&str] = &[
    "c++",
    "g++",
    "clang++",
    "nvc++",
    "pgc++",
    "pgCC",
    "icpc",
    "icpx",
    "CC",
    "crayCC",
    "amdclang++",
    "armclang++",
    "xlC",
    "xlc++",
];
const FORTRAN: &[&str] = &[
    "f77",
    "f90",
    "f95",
    "fc",
    "g77",
    "gfortran",
    "flang",
    "flang-new",
    "nvfortran",
    "pgf77",
    "pgf90",
    "pgf95",
    "pgfortran",
    "ifort",
    "ifx",
    "ftn",
    "crayftn",
    "amdflang",
    "armflang",
    "xlf",
    "xlf90",
    "xlf95",
    "xlf_r",
    "xlf90_r",
    "xlf95_r",
];
const MPI: [(Kind, &[&str]); 3] = [
    (Kind::C, &["mpicc", "mpiicc", "mpiicx"]),
    (Kind::Cpp, &["mpicxx", "mpic++", "mpiCC", "mpiicpc", "mpiicpx"]),
    (Kind::Fortran, &["mpif77", "mpif90", "mpif95", "mpifort", "mpiifort", "mpiifx"]),
];

/// The variables that name compilers in many makefiles, where their value is not known.
const VARIABLES: [(Kind, &[&str]); 3] = [
    (Kind::C, &["CC", "MPICC", "HOSTCC"]),
    (Kind::Cpp, &["CXX", "CCC", "MPICXX"]),
    (Kind::Fortran, &["FC", "F77", "F90", "F95", "FTN", "MPIF77", "MPIF90", "MPIFC"]),
];

impl Compiler {
    /// The compiler that a word calls, by the name of the program.
    pub fn called(word: &str) -> Option<Compiler> {
        let name = word.rsplit('/').next().unwrap_or(word);
        // A version, and what it compiles for: `x86_64-linux-gnu-gcc-12`.
        let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('_');
        let name = name.rsplit_once('-').filter(|(_, end)| is_version(end)).map_or(name, |(name, _)| name);
        let short = name.rsplit('-').next().unwrap_or(name);
        let among = |names: &[&str]| names.contains(&name) || names.contains(&short);
        let plain = [(Kind::C, C), (Kind::Cpp, CPP), (Kind::Fortran, FORTRAN)];
        let find =
            |all: &[(Kind, &[&str])]| all.iter().find(|(_, names)| among(names)).map(|(kind, _)| *kind);
        let found = find(&plain).map(|kind| Compiler { kind, is_mpi: false });
        found.or_else(|| find(&MPI).map(|kind| Compiler { kind, is_mpi: true }))
    }

    /// The compiler that a variable names by its own name.
    pub fn of_variable(name: &str) -> Option<Compiler> {
        let (kind, _) = VARIABLES.iter().find(|(_, names)| names.contains(&name))?;
        Some(Compiler { kind: *kind, is_mpi: name.starts_with("MPI") })
    }
}

/// What a flag of another compiler becomes.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It is one of gcc and clang, or not known.
    Stays,
    /// It says what the source means, as this flag does.
    Becomes(&'static str),
    /// The word after it is for this flag.
    BecomesWithNext(&'static str),
    /// It is dropped.
    Goes,
    /// It is dropped with the word after it.
    GoesWithNext,
}

/// Flags that change what a source means, and their counterparts.
const COUNTERPARTS: [(&str, &str); 21] = [
    ("-mp", "-fopenmp"),
    ("-qopenmp", "-fopenmp"),
    ("-xopenmp", "-fopenmp"),
    ("-Mfree", "-ffree-form"),
    ("-Mfreeform", "-ffree-form"),
    ("-free", "-ffree-form"),
    ("-Mfixed", "-ffixed-form"),
    ("-fixed", "-ffixed-form"),
    ("-Mextend", "-ffixed-line-length-132"),
    ("-Mpreprocess", "-cpp"),
    ("-fpp", "-cpp"),
    ("-r8", "-fdefault-real-8 -fdefault-double-8"),
    ("-Mr8", "-fdefault-real-8 -fdefault-double-8"),
    ("-i8", "-fdefault-integer-8"),
    ("-byteswapio", "-fconvert=big-endian"),
    ("-Mbyteswapio", "-fconvert=big-endian"),
    ("-c99", "-std=c99"),
    ("-c11", "-std=c11"),
    ("--c++11", "-std=c++11"),
    ("--c++14", "-std=c++14"),
    ("--c++17", "-std=c++17"),
];

/// How flags begin that are dropped.
const FOREIGN: [&str; 21] = [
    "-acc",
    "-ta=",
    "-gpu=",
    "-fast",
    "-K",
    "-gopt",
    "-cuda",
    "-tp=",
    "-hacc",
    "-hnoacc",
    "-homp",
    "-hnoomp",
    "-hlist",
    "-qopt",
    "-xHost",
    "-xCORE",
    "-ipo",
    "-xipo",
    "-no-prec",
    "-fno-alias",
    "-restrict",
];

/// Flags that are dropped, and only they: others begin like them.
const ALONE: [&str; 3] = ["-i4", "-Xa", "-traceback"];

/// Flags that are dropped with the next word.
const WITH_NEXT: [&str; 3] = ["-h", "-tp", "-fp-model"];

fn fate(word: &str) -> Fate {
    if let Some((_, counterpart)) = COUNTERPARTS.iter().find(|(flag, _)| word.split('=').next() == Some(flag))
    {
        return Fate::Becomes(counterpart);
    }
    if word == "-module" {
        return Fate::BecomesWithNext("-J");
    }
    if ALONE.contains(&word) {
        return Fate::Goes;
    }
    if WITH_NEXT.contains(&word) {
        return Fate::GoesWithNext;
    }
    // gcc's own flags with `-M` go on in capitals: `-MMD`, `-MF`.
    let is_pgi =
        word.strip_prefix("-M").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    match is_pgi || FOREIGN.iter().any(|begin| word.starts_with(begin)) {
        true => Fate::Goes,
        false => Fate::Stays,
    }
}

/// The words of a value for gcc and clang, and those that are not for them.
pub fn for_gcc<'w>(words: &[&'w str]) -> (Vec<Cow<'w, str>>, Vec<&'w str>) {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match fate(word) {
            Fate::Stays => kept.push(Cow::Borrowed(*word)),
            Fate::Becomes(counterpart) => {
                kept.push(Cow::Borrowed(counterpart));
                gone.push(*word);
            }
            Fate::BecomesWithNext(counterpart) => {
                gone.push(*word);
                if let Some(next) = words.next() {
                    kept.push(Cow::Owned(format!("{counterpart}{next}")));
                    gone.push(next);
                }
            }
            Fate::Goes => gone.push(*word),
            Fate::GoesWithNext => gone.extend([Some(word), words.next()].into_iter().flatten().copied()),
        }
    }
    (kept, gone)
}

/// How a language is built.
#[derive(Debug)]
pub struct Built {
    /// The compilers of gcc and of clang.
    pub gcc: &'static str,
    #[allow(missing_docs)]
    pub clang: &'static str,
    /// acc2omp's command.
    pub command: &'static str,
    /// Its name in CMake.
    pub cmake: &'static str,
}

/// The languages, in the order of their kinds.
pub const LANGUAGES: [Built; 3] = [
    Built { gcc: "gcc", clang: "clang", command: "cc", cmake: "C" },
    Built { gcc: "g++", clang: "clang++", command: "c++", cmake: "CXX" },
    Built { gcc: "gfortran", clang: "gfortran", command: "fc", cmake: "Fortran" },
];

/// The programs that a section has.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Of {
    Reference,
    Noise,
    Test,
}

/// All of them, in the order of the section.
pub const ALL: [Of; 3] = [Of::Reference, Of::Noise, Of::Test];

impl Of {
    /// The options that a program of a language is built with.
    pub fn options(self, language: &Built) -> &'static str {
        match (self, language.cmake) {
            (Of::Reference, _) => "-O2 -fopenacc -foffload=disable",
            (Of::Noise, _) => "-O3 -ffast-math -fopenacc -foffload=disable",
            (Of::Test, "Fortran") => "-O2 -fopenmp",
            (Of::Test, _) => "-O2 -fopenmp --offload-arch=sm_90",
        }
    }
}

#[cfg(test)]
mod tests;
