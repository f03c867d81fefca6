//! Faults of compilers that no translation can avoid.
//!
//! Invariant: each has its reason; what a compiler says of correct programs is known by a part of its message.

use std::collections::BTreeSet;

use super::Language;
use super::program::{Clause, Place, Program, Stmt, Type};
use super::variant::Variant;
use super::walk;
use crate::difftest::toolchain::Toolchain;

/// A fault of a compiler.
struct Exclusion {
    /// What it is.
    why: &'static str,
    /// Whether it concerns a program that is built in one of the ways.
    concerns: fn(&Program, Language, &Variant) -> bool,
}

const TABLE: &[Exclusion] = &[
    Exclusion {
        // associate (r => s); !$acc serial; a(1) = r; !$acc end serial
        why: "gfortran 12 for OpenACC: the value of an associate name is not copied to the region",
        concerns: |program, language, variant| {
            variant.toolchain == Toolchain::OpenAcc && language == Language::Fortran && has_alias(program)
        },
    },
    Exclusion {
        // type(t), allocatable :: u(:); !$omp target enter data map(to: u); !$omp target map(tofrom: u); u(1)%k = 1
        why: "flang 22: elements of an allocatable array of a derived type are copied although they are present",
        concerns: |program, language, variant| {
            variant.toolchain == Toolchain::FlangDevice
                && language == Language::Fortran
                && keeps_objects(program)
        },
    },
    Exclusion {
        // The same, then: !$omp target data map(to: v); !$omp target; v%k = 1; see fixtures/limits/array-of-type.f90
        why: "flang 22: objects are copied although they are present, after a construct with an allocatable array of their type",
        concerns: |program, language, variant| {
            variant.toolchain == Toolchain::FlangDevice
                && language == Language::Fortran
                && uses_type_twice(program)
        },
    },
];

/// What a compiler says of correct programs that it cannot build.
struct Refusal {
    /// The compiler.
    toolchain: Toolchain,
    /// A part of its message.
    message: &'static str,
    /// What is correct.
    why: &'static str,
}

const REFUSALS: &[Refusal] = &[
    of_gcc(
        "array section is not contiguous",
        "sections in `update` need not be contiguous (OpenACC 3.3, 2.14.4)",
    ),
    of_gcc("appears more than once in data clauses", "a variable may stand in several data clauses"),
    of_gcc("present on multiple clauses", "a variable may stand in several data clauses"),
    of_gcc("mixed component and non-component", "an object and its components may stand in one construct"),
    of_gcc("expected identifier before", "`self` with a condition (2.5.6)"),
    of_gcc("expected unqualified-id before", "`self` with a condition (2.5.6)"),
    of_gcc("expected ')' before", "`self` with a condition (2.5.6)"),
    of_gcc("expected \u{2018})\u{2019} before", "`self` with a condition (2.5.6)"),
    of_gcc("Failed to match clause", "`self` with a condition (2.5.6)"),
    of_gcc("Assumed-size dummy array with !$ACC DECLARE", "dummy arrays of assumed shape in `declare`"),
    of_gcc("clause used in", "`link` variables in routines (2.13.4)"),
    of_gcc("Tiled loop cannot be parallelized", "`tile` with all levels (2.9.8)"),
    Refusal {
        toolchain: Toolchain::FlangDevice,
        message: "not yet implemented",
        why: "flang 22 reads it and has not built it",
    },
    Refusal {
        toolchain: Toolchain::FlangDevice,
        message: "unable to execute command: Segmentation fault",
        why: "flang 22 crashes while it compiles",
    },
];

/// What gcc's OpenACC refuses.
const fn of_gcc(message: &'static str, why: &'static str) -> Refusal {
    Refusal { toolchain: Toolchain::OpenAcc, message, why }
}

/// Why a program is not built in one of the ways, if it is not.
pub fn excluded(program: &Program, language: Language, variant: &Variant) -> Option<&'static str> {
    TABLE.iter().find(|one| (one.concerns)(program, language, variant)).map(|one| one.why)
}

/// Why a compiler's message is its own fault, if it is.
pub fn refused(message: &str, variant: &Variant) -> Option<&'static str> {
    let is_it = |one: &&Refusal| one.toolchain == variant.toolchain && message.contains(one.message);
    REFUSALS.iter().find(is_it).map(|one| one.why)
}

fn has_alias(program: &Program) -> bool {
    struct Aliases(bool);
    impl walk::see::See for Aliases {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::Alias { .. });
        }
    }
    let mut aliases = Aliases(false);
    walk::program(program, &mut aliases);
    aliases.0
}

/// Whether a directive about data, or `declare`, names an allocatable array or a pointer of structures.
fn keeps_objects(program: &Program) -> bool {
    struct Data<'a>(&'a Program, bool);
    impl Data<'_> {
        fn clauses(&mut self, clauses: &[Clause]) {
            let items = clauses.iter().flat_map(|clause| match clause {
                Clause::Data(_, items) => items.as_slice(),
                _ => &[],
            });
            for item in items {
                let ty = &self.0.vars[item.place.base()].ty;
                self.1 |= matches!(ty, Type::Pointer(inner) if matches!(**inner, Type::Struct(_)));
            }
        }
    }
    impl walk::see::See for Data<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::Data { clauses, .. } | Stmt::Alone { clauses, .. } = stmt {
                self.clauses(clauses);
            }
        }
    }
    let mut data = Data(program, false);
    data.clauses(&program.declares);
    walk::program(program, &mut data);
    data.1
}

/// Whether a directive about data names an object, and a construct uses an allocatable array or a pointer of its type.
fn uses_type_twice(program: &Program) -> bool {
    struct Types<'a> {
        program: &'a Program,
        kept: BTreeSet<usize>,
        used: BTreeSet<usize>,
    }
    struct Used<'a, 'b>(&'b mut Types<'a>);
    fn of_object(ty: &Type) -> Option<usize> {
        match ty {
            Type::Struct(number) => Some(*number),
            Type::Array(_, inner) => of_object(inner),
            _ => None,
        }
    }
    impl walk::see::See for Used<'_, '_> {
        fn place(&mut self, place: &Place) {
            if let Type::Pointer(inner) = &self.0.program.vars[place.base()].ty {
                self.0.used.extend(of_object(inner));
            }
        }
    }
    impl walk::see::See for Types<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            match stmt {
                Stmt::Data { clauses, .. } | Stmt::Alone { clauses, .. } => {
                    for clause in clauses {
                        let Clause::Data(_, items) = clause else { continue };
                        let types = items.iter().map(|item| &self.program.vars[item.place.base()].ty);
                        self.kept.extend(types.filter_map(of_object));
                    }
                }
                Stmt::Compute(compute) => {
                    let mut used = Used(self);
                    walk::see::clauses(&compute.clauses, &mut used);
                    walk::see::block(&compute.body, &mut used);
                }
                _ => {}
            }
        }
    }
    let mut types = Types { program, kept: BTreeSet::new(), used: BTreeSet::new() };
    walk::program(program, &mut types);
    !types.kept.is_disjoint(&types.used)
}
