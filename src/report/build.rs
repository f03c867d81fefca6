//! How the device code of an output tree is built: nvcc's line, and files for make and CMake.
//!
//! Invariant: the same list of sources gives the same text; paths are those below the tree's root.

/// What nvcc must know: the language, and that device code is linked over files.
const FLAGS: &str = "-std=c++17 -rdc=true";

/// The GPU that is built for unless the user says another.
const ARCHITECTURE: &str = "90";

/// So many files are named in a note.
const NAMED: usize = 4;

/// The program that builds what is around the device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// make: a file to include in a Makefile.
    Make,
    /// CMake: a file to include in a `CMakeLists.txt`.
    Cmake,
}

impl Builder {
    /// The name of its file.
    pub fn file(self) -> &'static str {
        match self {
            Builder::Make => "acc2omp.mk",
            Builder::Cmake => "acc2omp.cmake",
        }
    }

    /// Whether its file can hold the name of a source.
    pub fn can_name(self, source: &str) -> bool {
        let is_bad = |c: char| match self {
            Builder::Make => c.is_control() || "%;=|\\".contains(c),
            Builder::Cmake => c.is_control(),
        };
        !source.contains(is_bad)
    }

    /// The text of its file.
    pub fn text(self, sources: &[String]) -> String {
        match self {
            Builder::Make => make(sources),
            Builder::Cmake => cmake(sources),
        }
    }
}

/// How to build device code: what compiles it, and what links.
pub fn nvcc(sources: &[String]) -> String {
    let names = match sources.len() {
        0 => return String::new(),
        1..=NAMED => sources.iter().map(|source| in_shell(source)).collect::<Vec<_>>().join(" "),
        more => format!("FILE.cu, for each of the {more} files *_acc.cu and acc2omp_cuda.cu"),
    };
    let nvcc = format!("nvcc -O2 -arch=sm_{ARCHITECTURE}");
    format!(
        "note: nvcc compiles the device code: {nvcc} {FLAGS} -c {names}\nnote: nvcc links it with the objects of the program: {nvcc} *.o\n"
    )
}

/// A name as a shell reads it.
fn in_shell(name: &str) -> String {
    shlex::try_quote(name).map_or_else(|_| name.to_owned(), std::borrow::Cow::into_owned)
}

/// Whether make takes a name as it is, in lists and patterns, and a shell, too.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || "_-./+,@".contains(c))
}

/// A name where make reads the names of files.
fn in_rule(name: &str) -> String {
    let escape = |c: char| match c {
        '$' => vec!['$', c],
        ' ' | '#' | ':' | '*' | '?' | '[' => vec!['\\', c],
        _ => vec![c],
    };
    name.chars().flat_map(escape).collect()
}

/// The rule for one source whose name is not plain.
fn rule(source: &str) -> String {
    let shell = in_shell(source).replace('$', "$$");
    let (object, name) = (in_rule(&format!("{source}.o")), in_rule(source));
    let out = in_shell(&format!("{source}.o")).replace('$', "$$");
    format!(
        "
ACC2OMP_OBJECTS += $(ACC2OMP_ROOT)/{object}

$(ACC2OMP_ROOT)/{object}: $(ACC2OMP_ROOT)/{name}
\t$(ACC2OMP_BUILD) $(ACC2OMP_ROOT)/{shell} -o $(ACC2OMP_ROOT)/{out}
"
    )
}

fn make(sources: &[String]) -> String {
    let (plain, odd): (Vec<&String>, Vec<&String>) = sources.iter().partition(|source| is_plain(source));
    let list: Vec<String> = plain.iter().map(|source| format!("    $(ACC2OMP_ROOT)/{source}")).collect();
    let rules: String = odd.iter().map(|source| rule(source)).collect();
    format!(
        "\
# The device code of this tree, made by acc2omp --to cuda. In a Makefile:
#
#     include acc2omp.mk
#     program: main.o $(ACC2OMP_OBJECTS)
#     \t$(ACC2OMP_LINK) $^ -o $@
#
# Objects of C and C++ need -I$(ACC2OMP_ROOT) where they do not lie in this folder.

ACC2OMP_ROOT := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ACC2OMP_NVCC ?= nvcc
ACC2OMP_ARCH ?= sm_{ARCHITECTURE}
ACC2OMP_FLAGS ?= -O3
ACC2OMP_LINK = $(ACC2OMP_NVCC) -arch=$(ACC2OMP_ARCH)
ACC2OMP_BUILD = $(ACC2OMP_LINK) {FLAGS} $(ACC2OMP_FLAGS) -I$(ACC2OMP_ROOT) -c

ACC2OMP_SOURCES := \\
{}

ACC2OMP_OBJECTS := $(ACC2OMP_SOURCES:.cu=.cu.o)

$(ACC2OMP_OBJECTS): %.cu.o: %.cu
\t$(ACC2OMP_BUILD) $< -o $@
{rules}",
        list.join(" \\\n")
    )
}

fn cmake(sources: &[String]) -> String {
    let escaped = |source: &String| -> String {
        let escape = |c: char| if matches!(c, '\\' | '"' | '$' | ';') { vec!['\\', c] } else { vec![c] };
        source.chars().flat_map(escape).collect()
    };
    let line = |source: &String| format!("    \"${{CMAKE_CURRENT_LIST_DIR}}/{}\"\n", escaped(source));
    let list: String = sources.iter().map(line).collect();
    format!(
        "\
# The device code of this tree, made by acc2omp --to cuda. In a CMakeLists.txt, after project():
#
#     include(acc2omp.cmake)
#     target_link_libraries(program PRIVATE acc2omp_device)

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES {ARCHITECTURE})
endif()
enable_language(CUDA)

add_library(acc2omp_device STATIC
{list})
target_compile_features(acc2omp_device PRIVATE cuda_std_17)
target_include_directories(acc2omp_device PUBLIC \"${{CMAKE_CURRENT_LIST_DIR}}\")
set_target_properties(acc2omp_device PROPERTIES
    CUDA_SEPARABLE_COMPILATION ON
    CUDA_RESOLVE_DEVICE_SYMBOLS ON)
"
    )
}

#[cfg(test)]
mod tests;
