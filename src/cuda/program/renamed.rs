//! Names that get another in device code: those that C++, CUDA or the text that we add have other uses for, and `_OPENACC`.
//!
//! Invariant: what we add keeps its words: it is distinguished from the program's by what stands beside it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::cuda::code::text::{placed_words, replaced, words};
use crate::cuda::program::Input;

/// What the run-time library defines in place of `_OPENACC`.
pub const MACRO: &str = "ACC2OMP_CUDA";

/// Words of a list.
type Words = FxHashSet<&'static str>;

fn list(words: &'static str) -> Words {
    words.split_whitespace().collect()
}

/// Words of C++ that are names to C.
static KEYWORDS: LazyLock<Words> = LazyLock::new(|| {
    list(
        "and and_eq asm bitand bitor catch char8_t class co_await co_return co_yield compl concept \
    const_cast consteval constinit delete dynamic_cast explicit export friend mutable namespace new not not_eq operator \
    or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename using \
    virtual xor xor_eq",
    )
});

/// Words of C++ that are C's, too, if its headers or a later version say so: names only where a program declares them.
static SHARED: LazyLock<Words> = LazyLock::new(|| {
    list(
        "alignas alignof bool char16_t char32_t constexpr decltype false noexcept nullptr static_assert \
    thread_local true wchar_t",
    )
});

/// What CUDA and our text call something at file scope, except the types that end with a number.
static GLOBAL: LazyLock<Words> = LazyLock::new(|| {
    list(
        "threadIdx blockIdx blockDim gridDim warpSize dim3 device acc2omp cudaStream_t cudaError_t cudaEvent_t",
    )
});

/// Words of our own text, which no macro of the program may change.
static OWN: LazyLock<Words> = LazyLock::new(|| {
    list(
        "x y z attach block_reduce blocks column columns combine copy copyin copyout copyout_zero count create \
    create_zero extent fetch first gangs identity launch most no_create pointer present resident_blocks result \
    result_array room row rows scratch stream sync table trips vector_sync wait Plus Minus Times Divide Max Min And Or \
    BitAnd BitOr BitXor Complex Element Extent Region Result ResultArray Table Tiles Value address",
    )
});

/// Whether CUDA has a type of this name: `float3`.
fn is_vector_type(word: &str) -> bool {
    const ELEMENTS: [&str; 12] = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ];
    word.strip_suffix(['1', '2', '3', '4']).is_some_and(|element| ELEMENTS.contains(&element))
}

fn is_in(list: &Words, word: &str) -> bool {
    list.contains(word)
}

/// The program's names that get another, besides the keywords of C++.
pub fn taken(input: &Input) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |name: &str, is_taken: bool| {
        if is_taken {
            found.insert(name.to_owned());
        }
    };
    let is_taken = |name: &str| is_in(&GLOBAL, name) || is_vector_type(name) || is_in(&SHARED, name);
    for name in input.choices.into_iter().flat_map(|choices| choices.macros()) {
        add(name, is_taken(name) && !is_in(&SHARED, name) || is_in(&OWN, name));
    }
    for seen in input.headers.iter().chain([&input.source]) {
        for decl in &seen.unit.decls {
            let is_inner = decl.name == "device" || is_in(&SHARED, &decl.name) && input.unit().is_cpp();
            add(&decl.name, is_taken(&decl.name) && !is_inner);
        }
        let globals = seen.unit.globals.iter().map(|id| seen.unit.decl(*id).name.as_str());
        let functions = seen.unit.functions.iter().map(|function| function.name.as_str());
        let records = seen.unit.records.iter().filter_map(|record| record.tag.as_deref());
        for name in globals.chain(functions).chain(records) {
            add(name, is_taken(name) && !(is_in(&SHARED, name) && input.unit().is_cpp()));
        }
    }
    found
}

/// Whether device code may have another word in place of this one.
pub fn is_rewritten(word: &str) -> bool {
    is_in(&KEYWORDS, word)
        || ["restrict", "_Bool", "complex", "_Complex", "I", "_Imaginary_I"].contains(&word)
}

/// Code that asks for the translation's macro where it asked for OpenACC's.
pub fn with_own_macro(text: &str) -> String {
    replaced(text, placed_words(text), |word| (word == "_OPENACC").then(|| MACRO.to_owned()))
}

/// Device code with other names for those that are `taken`, and in a C program for those that are keywords of C++.
pub fn renamed(text: &str, taken: &BTreeSet<String>, is_c: bool) -> String {
    let all: BTreeSet<&str> = words(text).into_iter().collect();
    let is_theirs = |(at, word): &(usize, &str)| {
        (taken.contains(*word) || is_c && is_in(&KEYWORDS, word)) && !is_ours(text, *at, word)
    };
    replaced(text, placed_words(text).into_iter().filter(is_theirs).collect(), |word| {
        let mut name = format!("{word}_");
        while all.contains(name.as_str()) {
            name.push('_');
        }
        Some(name)
    })
}

/// Whether a word stands in text that we add.
fn is_ours(text: &str, at: usize, word: &str) -> bool {
    const BUILT_IN: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
    let (before, after) = (&text[..at], &text[at + word.len()..]);
    if before.ends_with("acc2omp::") {
        return true;
    }
    if let Some(object) = before.strip_suffix('.') {
        let start = object.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let object = &object[start..];
        let is_own = ["region", "tiles"].iter().any(|lead| object.starts_with(lead))
            || ["_table", "_result", "_window", "_extent"].iter().any(|end| object.ends_with(end));
        return is_own || BUILT_IN.contains(&object) && ["x", "y", "z"].contains(&word);
    }
    match word {
        "acc2omp" => after.starts_with("::"),
        // What a word of C stands for in C++.
        "bool" => before.ends_with("#define _Bool "),
        "template" => after.starts_with(" <typename"),
        "typename" => before.ends_with("template <"),
        "namespace" => after.starts_with(" device") || before.ends_with("using "),
        "using" => after.starts_with(" namespace device;"),
        "device" => before.ends_with("namespace ") || after.starts_with("::"),
        "nullptr" | "address" => before.ends_with("void *address = ") || before.ends_with("void *"),
        // `const dim3 gangs(`: no code of C has this.
        "dim3" => {
            before.ends_with("const ") && {
                let name = after.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                after.starts_with(' ') && name.starts_with('(')
            }
        }
        word if BUILT_IN.contains(&word) => [".x", ".y", ".z"].iter().any(|end| after.starts_with(end)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
