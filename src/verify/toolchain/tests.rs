//! Compilers by their names, and their flags.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn compilers_are_known_by_their_names() {
    let kind = |word: &str| Compiler::called(word).map(|one| (one.kind, one.is_mpi));
    assert_eq!(kind("/opt/nvidia/bin/nvc"), Some((Kind::C, false)));
    assert_eq!(kind("x86_64-linux-gnu-gcc-12"), Some((Kind::C, false)));
    assert_eq!(kind("clang++-19"), Some((Kind::Cpp, false)));
    assert_eq!(kind("pgf90"), Some((Kind::Fortran, false)));
    assert_eq!(kind("flang-new"), Some((Kind::Fortran, false)));
    assert_eq!(kind("mpif90"), Some((Kind::Fortran, true)));
    assert_eq!((kind("nvcc"), kind("ar"), kind("-O2")), (None, None, None));
}

#[test]
fn flags_of_other_compilers_go() {
    let kept = |text: &str| for_gcc(&text.split(' ').collect::<Vec<_>>()).0.join(" ");
    assert_eq!(kept("-fast -ta=tesla:pinned -Minfo=all,ccff -Mneginfo -acc=gpu -gpu=cc80 -O3"), "-O3");
    assert_eq!(
        kept("-MMD -MP -MFx.d -M -Iinc -fopenacc -mp -Mfree"),
        "-MMD -MP -MFx.d -M -Iinc -fopenacc -fopenmp -ffree-form"
    );
    assert_eq!(
        kept("-h acc -hnoomp -fp-model strict -r8 --c++11 -DX"),
        "-fdefault-real-8 -fdefault-double-8 -std=c++11 -DX"
    );
    assert_eq!(
        kept("-c99 -Xa -i4 -byteswapio -module $(MOD)/x -traceback -O1"),
        "-std=c99 -fconvert=big-endian -J$(MOD)/x -O1"
    );
}
