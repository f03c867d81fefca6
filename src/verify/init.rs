//! `--init`: a `[verify]` section from what lies in a folder.
//!
//! Invariant: what is not known is a comment that says so.

use std::fs;
use std::path::Path;

/// The section.
pub fn section(root: &Path) -> String {
    let is_there = |name: &str| root.join(name).is_file();
    let makefile = ["GNUmakefile", "makefile", "Makefile"].into_iter().find(|name| is_there(name));
    let (found, [reference, noise, test]) = match makefile {
        Some(name) => (name, make(&fs::read_to_string(root.join(name)).unwrap_or_default())),
        None if is_there("CMakeLists.txt") => ("CMakeLists.txt", cmake()),
        None if is_there("compile_commands.json") => ("compile_commands.json", unknown()),
        None => ("neither a makefile nor CMakeLists.txt", unknown()),
    };
    format!(
        "[verify]\n# found: {found}. The commands run in copies of this folder; fill in what `run` says.\n\
         reference = {{ build = {reference:?}, run = \"false # the program and its arguments\" }}\n\
         # the same program with other roundings, for tolerances that are learned:\n\
         # noise = {{ build = {noise:?} }}\n\
         # `device = false` if it shall run on the host:\n\
         test = {{ build = {test:?} }}\n\
         timeout = 600\n\n[verify.compare]\n# lines with words in `ignore` are not compared\n\
         stdout = {{ rtol = 1e-8, ignore = [] }}\n# \"out/*.dat\" = {{ rtol = 1e-8 }}\n"
    )
}

/// Commands for a makefile with these variables.
fn make(text: &str) -> [String; 3] {
    let sets = |name: &str| {
        text.lines().any(|line| {
            let rest = line.strip_prefix(name).map(str::trim_start);
            rest.is_some_and(|rest| ["=", "?=", ":=", "+="].iter().any(|sign| rest.starts_with(sign)))
        }) || text.contains(&format!("$({name})"))
            || text.contains(&format!("${{{name}}}"))
    };
    let languages = [
        ("CC", "CFLAGS", "gcc", "clang", "cc"),
        ("CXX", "CXXFLAGS", "g++", "clang++", "c++"),
        ("FC", "FFLAGS", "gfortran", "gfortran", "fc"),
    ];
    let used: Vec<_> = languages.into_iter().filter(|(name, ..)| sets(name)).collect();
    if used.is_empty() {
        return unknown();
    }
    let command = |gnu: bool, flags: &str| {
        let one = |(name, options, gcc, clang, cc): &(&str, &str, &str, &str, &str)| match gnu {
            true => format!(" {name}={gcc} {options}='{flags}'"),
            false => format!(" {name}='acc2omp {cc} -- {clang}' {options}='{flags}'"),
        };
        format!("make clean; make{}", used.iter().map(one).collect::<String>())
    };
    [
        command(true, "-O2 -fopenacc -foffload=disable"),
        command(true, "-O3 -ffast-math -fopenacc -foffload=disable"),
        command(false, "-O2 -fopenmp --offload-arch=sm_90"),
    ]
}

fn cmake() -> [String; 3] {
    let command = |more: &str| format!("cmake -S . -B build {more} && cmake --build build");
    [
        command("-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_Fortran_COMPILER=gfortran"),
        command(
            "-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_C_FLAGS='-O3 -ffast-math' -DCMAKE_CXX_FLAGS='-O3 -ffast-math'",
        ),
        command(
            "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER_LAUNCHER='acc2omp;cc;--' -DCMAKE_CXX_COMPILER_LAUNCHER='acc2omp;cc;--' -DCMAKE_C_FLAGS='-fopenmp --offload-arch=sm_90' -DCMAKE_CXX_FLAGS='-fopenmp --offload-arch=sm_90'",
        ),
    ]
}

/// Commands that fail until they are filled in.
fn unknown() -> [String; 3] {
    ["reference", "noise", "test"].map(|name| format!("false # the command that builds the {name}"))
}
