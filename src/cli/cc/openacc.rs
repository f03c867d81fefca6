//! Options for OpenACC of one compiler, which another one refuses: makefiles keep them, as translations are built by another compiler.
//!
//! Invariant: what goes says how OpenACC is compiled, and nothing of the program.

use std::ffi::OsString;

/// Options of nvc that gcc and clang refuse.
const OF_NVC: [&str; 4] = ["-acc", "-ta=", "-gpu=", "-Minfo"];

/// Options of gcc that clang refuses. gcc keeps them: they are about OpenMP, too.
const OF_GCC: [&str; 3] = ["-foffload=", "-foffload-options=", "-fopenacc-dim="];

/// Whether a compiler of a family refuses an option that is about OpenACC.
pub fn is_refused(family: &str, word: &OsString) -> bool {
    let word = word.to_string_lossy();
    let begins = |options: &[&str]| options.iter().any(|option| word.starts_with(option));
    match family {
        "gcc" => begins(&OF_NVC),
        "clang" | "amdclang" | "icx" => begins(&OF_NVC) || begins(&OF_GCC),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
