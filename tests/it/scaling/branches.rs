//! Branches of the preprocessor, each of which holds a construct.
//!
//! Invariant: the conditions ask for different names, so that any of them may be true together.

use acc2omp::To;
use acc2omp::source::{Form, Language};

use super::{LOOP, MOST, SQUARE, body, each, function, grows_by, in_c, in_fortran};

/// A construct of Fortran.
const FORTRAN_LOOP: &str = "!$acc parallel loop copy(a)\ndo i = 1, n\na(i) = 0\nend do\n";

/// A subroutine of Fortran with something in it.
fn subroutine(number: usize, inside: &str) -> String {
    format!("subroutine f{number}(n, a)\ninteger :: n, i\nreal :: a(n)\n{inside}end subroutine\n")
}

/// A condition with a branch for each answer.
fn pair(number: usize, then: &str, other: &str) -> String {
    format!("#ifdef A{number}\n{then}#else\n{other}#endif\n")
}

#[test]
fn pairs_in_functions_of_their_own_cost_alike() {
    in_c("pairs in different functions", 25, |n| each(n, |k| function(k, &pair(k, LOOP, LOOP))));
    in_fortran("pairs in different procedures", 25, |n| {
        each(n, |k| subroutine(k, &pair(k, FORTRAN_LOOP, FORTRAN_LOOP)))
    });
}

/// Each branch that hides a construct is a view of the whole file: the square, and no more than that.
#[test]
fn pairs_in_one_function_cost_the_square() {
    let targets = &[To::OpenMp, To::Cuda][..];
    let in_c = |n: usize| body(&each(n, |k| pair(k, LOOP, LOOP)));
    grows_by(SQUARE, "pairs in one function", (Language::C, targets), 15, in_c);
    let in_fortran = |n: usize| subroutine(0, &each(n, |k| pair(k, FORTRAN_LOOP, FORTRAN_LOOP)));
    let language = Language::Fortran(Form::Free);
    grows_by(SQUARE, "pairs in one procedure", (language, targets), 15, in_fortran);
}

#[test]
fn pairs_of_procedures_cost_alike() {
    in_fortran("pairs of procedures", 25, |n| {
        let of = |number: usize| subroutine(number, FORTRAN_LOOP);
        each(n, |k| pair(k, &of(2 * k), &of(2 * k + 1)))
    });
}

/// The condition stands inside of the construct.
#[test]
fn pairs_in_constructs_cost_alike() {
    in_c("pairs in a construct", 25, |n| {
        let inside = each(n, |k| pair(k, &format!("a[i] += {k};\n"), "b[i] = x;\n"));
        let head = "#pragma acc parallel loop copy(a[0:n], b[0:n])\nfor (int i = 0; i < n; i++) {\n";
        body(&format!("{head}{inside}}}\n"))
    });
    in_c("a pair in each construct", 25, |n| {
        each(n, |k| {
            let inside = pair(k, "a[i] = 1;\n", "a[i] = 2;\n");
            let head = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) {\n";
            function(k, &format!("{head}{inside}}}\n"))
        })
    });
}

/// The condition chooses the directive of a loop.
#[test]
fn pairs_of_directives_cost_alike() {
    in_c("pairs of directives", 25, |n| {
        let (one, other) =
            ("#pragma acc parallel loop copy(a[0:n])\n", "#pragma acc kernels loop copy(a[0:n])\n");
        each(n, |k| {
            let chosen = pair(k, one, other);
            function(k, &format!("{chosen}for (int i = 0; i < n; i++) a[i] = 0;\n"))
        })
    });
    let in_fortran = |n: usize| {
        let (one, other) = ("!$acc parallel loop copy(a)\n", "!$acc kernels loop copy(a)\n");
        each(n, |k| {
            let chosen = pair(k, one, other);
            subroutine(k, &format!("{chosen}do i = 1, n\na(i) = 0\nend do\n"))
        })
    };
    // To CUDA, each is translated alone, too, up to a limit.
    let language = Language::Fortran(Form::Free);
    grows_by(MOST, "pairs of directives", (language, &[To::OpenMp]), 25, in_fortran);
}
