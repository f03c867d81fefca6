//! Files for make and CMake.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn sources(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn make_is_given_every_source() {
    let text = Builder::Make.text(&sources(&["acc2omp_cuda.cu", "sub/a_acc.cu", "b$ c_acc.cu"]));
    let list = "ACC2OMP_SOURCES := \\\n    $(ACC2OMP_ROOT)/acc2omp_cuda.cu \\\n    \
                $(ACC2OMP_ROOT)/sub/a_acc.cu\n\n";
    assert!(text.contains(list), "{text}");
    let rule = "ACC2OMP_BUILD = $(ACC2OMP_LINK) -std=c++17 -rdc=true $(ACC2OMP_FLAGS) ";
    assert!(text.contains(rule), "{text}");
    let odd = "$(ACC2OMP_ROOT)/b$$\\ c_acc.cu.o: $(ACC2OMP_ROOT)/b$$\\ c_acc.cu\n\
               \t$(ACC2OMP_BUILD) $(ACC2OMP_ROOT)/'b$$ c_acc.cu' -o $(ACC2OMP_ROOT)/'b$$ c_acc.cu.o'\n";
    assert!(text.contains(odd), "{text}");
}

#[test]
fn cmake_is_given_every_source() {
    let text = Builder::Cmake.text(&sources(&["acc2omp_cuda.cu", "sub/a_acc.cu"]));
    let list = "STATIC\n    \"${CMAKE_CURRENT_LIST_DIR}/acc2omp_cuda.cu\"\n    \
                \"${CMAKE_CURRENT_LIST_DIR}/sub/a_acc.cu\"\n)\n";
    assert!(text.contains(list), "{text}");
}

#[test]
fn a_note_names_a_few_files() {
    assert_eq!(nvcc(&[]), "");
    let few = nvcc(&sources(&["a_acc.cu", "acc2omp_cuda.cu"]));
    assert!(
        few.contains(" -arch=sm_90 -std=c++17 -rdc=true -c a_acc.cu acc2omp_cuda.cu\nnote: nvcc links it "),
        "{few}"
    );
    let many = nvcc(&sources(&["a", "b", "c", "d", "e"]));
    assert!(many.contains("-c FILE.cu, for each of the 5 files *_acc.cu and acc2omp_cuda.cu\n"), "{many}");
}
