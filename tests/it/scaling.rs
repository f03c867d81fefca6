//! How the cost of a translation grows with its source.
//!
//! Invariant: ratios are compared, never times: what is four times as long may cost little more than four times as much. What is
//! measured is the time that this thread has run, so that other programs on the machine do not count.

mod branches;
mod depth;
mod directives;
mod files;
mod lines;
#[cfg(target_os = "linux")]
mod memory;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use acc2omp::budget::Budget;
use acc2omp::report;
use acc2omp::source::{Form, Language};
use acc2omp::{Options, Source, To, Translation, translate};

/// What four times as much may cost at most, compared with once: in proportion it is 4, with a square 16.
const MOST: f64 = 9.0;

/// The same for what is known to cost the square.
const SQUARE: f64 = 25.0;

/// How often a ratio is measured before it counts.
const TRIES: usize = 4;

/// Less than this is too short to be compared.
const SHORT: Duration = Duration::from_millis(40);

/// The time that this thread has run so far.
pub fn spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|first| first.parse().ok());
    nanos.map_or_else(since_start, Duration::from_nanos)
}

/// Where the system does not say it: the time that has passed.
fn since_start() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

fn cost(text: &str, language: Language, to: To) -> Duration {
    let source = Source::new("scaling.c", text.as_bytes().to_vec(), language);
    let options = Options { to, ..Options::default() };
    let before = spent();
    let translation = translate(&source, &options);
    render(&source, &translation);
    assert!(
        !translation.directives.is_empty(),
        "no directive was found in this:\n{}",
        &text[..text.len().min(400)]
    );
    spent().saturating_sub(before)
}

fn render(source: &Source, translation: &Translation) {
    let text = report::diagnostics(&source.file, &translation.diagnostics, report::Manner::default());
    assert!(text.len() < 4096 * (translation.diagnostics.len() + 1), "messages show too much of the source");
}

/// Compares the costs of a source of `count` parts and of one four times as long.
fn grows(name: &str, language: Language, targets: &[To], count: usize, make: impl Fn(usize) -> String) {
    grows_by(MOST, name, (language, targets), count, make);
}

/// The same for costs that may be so many times as large.
fn grows_by(
    most: f64,
    name: &str,
    (language, targets): (Language, &[To]),
    count: usize,
    make: impl Fn(usize) -> String,
) {
    let texts = [1, 2, 4].map(|times| make(count * times));
    for to in targets {
        let mut least = [Duration::MAX; 3];
        let mut ratio = f64::MAX;
        for _ in 0..TRIES {
            for (least, text) in least.iter_mut().zip(&texts) {
                *least = cost(text, language, *to).min(*least);
            }
            ratio = least[2].as_secs_f64() / least[0].max(SHORT).as_secs_f64();
            if ratio <= most {
                break;
            }
        }
        assert!(ratio <= most, "{name} ({to:?}): {count} and two and four times as many take {least:?}");
    }
}

fn in_c(name: &str, count: usize, make: impl Fn(usize) -> String) {
    grows(name, Language::C, &[To::OpenMp, To::Cuda], count, make);
}

fn in_c_for_openmp(name: &str, count: usize, make: impl Fn(usize) -> String) {
    grows(name, Language::C, &[To::OpenMp], count, make);
}

fn in_fortran(name: &str, count: usize, make: impl Fn(usize) -> String) {
    grows(name, Language::Fortran(Form::Free), &[To::OpenMp, To::Cuda], count, make);
}

const LOOP: &str = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) a[i] = 0;\n";

/// A function with something in it.
fn body(inside: &str) -> String {
    function(0, inside)
}

fn function(number: usize, inside: &str) -> String {
    format!("void f{number}(int n, double *a, double *b, double x, int *p)\n{{\n{inside}}}\n")
}

/// A loop of which the compiler finds out whether it is parallel.
fn kernels(inside: &str) -> String {
    body(&format!("#pragma acc kernels loop\nfor (int i = 0; i < n; i++) {{\n{inside}}}\n"))
}

/// What `write` makes of each number.
fn each(count: usize, make: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut all, number| {
        let _ = write!(all, "{}", make(number));
        all
    })
}

#[test]
fn statements_and_branches_of_a_proof_cost_alike() {
    in_c("updates", 300, |n| kernels(&"a[i] += x;\n".repeat(n)));
    in_c("scalars", 200, |n| kernels(&each(n, |k| format!("double t{k} = a[i]; a[i] = t{k};\n"))));
    in_c("else", 200, |n| {
        let first = "if (p[i] == 0) a[i] = 0;\n";
        kernels(&format!("{first}{}", each(n, |k| format!("else if (p[i] == {k}) a[i] = {k};\n"))))
    });
    in_c("else with a scalar", 200, |n| {
        let others = each(n, |k| format!("else if (p[i] == {k}) t = {k};\n"));
        kernels(&format!("double t; if (p[i] == 0) t = 0;\n{others}else t = 5;\na[i] = t;\n"))
    });
    in_c("ifs", 200, |n| kernels(&each(n, |k| format!("if (p[i] == {k}) a[i] = {k};\n"))));
    in_c("cases", 300, |n| {
        let cases = each(n, |k| format!("case {k}: a[i] = {k}; break;\n"));
        kernels(&format!("switch (p[i]) {{\n{cases}}}\n"))
    });
}

#[test]
fn long_expressions_of_a_proof_cost_alike() {
    in_c("signs", 6, |n| kernels(&format!("int t = i; {}t; a[i] = t;\n", "--".repeat(n))));
    in_c("sum", 500, |n| kernels(&format!("b[i] = x{};\n", " + x".repeat(n))));
    in_c("commas", 500, |n| kernels(&format!("b[i] = ({}x);\n", "x, ".repeat(n))));
    in_c("conditionals", 500, |n| kernels(&format!("b[i] = {}2;\n", "n ? 1 : ".repeat(n))));
    in_c("parentheses", 500, |n| kernels(&format!("a[i] = {}x{};\n", "(".repeat(n), ")".repeat(n))));
}

#[test]
fn fortran_of_a_proof_costs_alike() {
    let procedure = |inside: &str| {
        let head = "      subroutine f(n, a)\n      integer n, i\n      real a(n)\n!$acc kernels\n      do i = 1, n\n";
        format!("{head}{inside}      end do\n!$acc end kernels\n      end subroutine\n")
    };
    in_fortran("updates", 200, |n| procedure(&"      a(i) = a(i) + 1\n".repeat(n)));
    in_fortran("else", 200, |n| {
        let others = each(n, |k| format!("      else if (i == {k}) then\n      a(i) = {k}\n"));
        procedure(&format!("      if (i == 0) then\n      a(i) = 1\n{others}      end if\n"))
    });
}

#[test]
fn messages_cost_alike() {
    let wrong = |clauses: &str| {
        body(&format!("#pragma acc parallel loop{clauses}\nfor (int i = 0; i < n; i++) a[i] = 1;\n"))
    };
    in_c("many of one line", 300, |n| wrong(&" copi(a)".repeat(n)));
    in_c("many lines", 50, |n| body(&"#pragma acc parallel lop\n".repeat(n)));
}

/// A procedure with a directive and a longer one without.
fn in_turns(number: usize, language: Language) -> String {
    if !language.is_fortran() {
        let plain = "for (int i = 0; i < n; i++) a[i] += b[i] * x;\n".repeat(8);
        return format!("{}{}", function(2 * number, LOOP), function(2 * number + 1, &plain));
    }
    let procedure = |number: usize, inside: &str| {
        let head = format!("subroutine f{number}(n, a)\n  integer :: n, i\n  real :: a(n)\n");
        format!("{head}{inside}end subroutine\n")
    };
    let directed = "!$acc parallel loop\ndo i = 1, n\n  a(i) = 1\nend do\n";
    let plain = "do i = 1, n\n  a(i) = a(i) + 1\nend do\n".repeat(8);
    format!("{}{}", procedure(2 * number, directed), procedure(2 * number + 1, &plain))
}

#[test]
fn code_without_directives_costs_alike() {
    in_c("functions", 200, |n| {
        let plain = |k: usize| function(k + 1, "for (int i = 0; i < n; i++) a[i] += b[i] * x;\n");
        format!("{}{}", body(LOOP), each(n, plain))
    });
    for language in [Language::C, Language::Fortran(Form::Free)] {
        grows("functions with and without directives", language, &[To::OpenMp, To::Cuda], 40, |n| {
            each(n, |k| in_turns(k, language))
        });
    }
    in_c("declarations", 500, |n| format!("{}{}", each(n, |k| format!("int v{k} = {k};\n")), body(LOOP)));
    in_c("variables", 500, |n| body(&format!("{}{LOOP}", each(n, |k| format!("int v{k} = {k};\n")))));
    in_c("one line", 1000, |n| format!("{}{}", "int x; ".repeat(n), body(LOOP)));
    in_c("macros", 500, |n| format!("{}{}", each(n, |k| format!("#define M{k} {k}\n")), body(LOOP)));
    in_c("conditions", 500, |n| {
        format!("{}{}", each(n, |k| format!("#ifdef A{k}\nint v{k};\n#endif\n")), body(LOOP))
    });
    in_c_for_openmp("macros of macros", 100, |n| {
        let macros = each(n, |k| format!("#define M{} M{k} + M{k}\n", k + 1));
        format!("#define M0 1\n{macros}#if M{n} > 4\n{}#endif\n", body(LOOP))
    });
}

#[test]
fn depth_costs_alike() {
    in_c("braces", 500, |n| body(&format!("{}\n{LOOP}{}", "{".repeat(n), "}".repeat(n))));
    in_c("conditions", 300, |n| format!("{}{}{}", "#if 1\n".repeat(n), body(LOOP), "#endif\n".repeat(n)));
    in_c("loops", 100, |n| {
        let inner = "for (int j = 0; j < n; j++)\n".repeat(n);
        body(&format!("#pragma acc parallel loop\nfor (int i = 0; i < n; i++)\n{inner} a[i] = 1;\n"))
    });
}

#[test]
fn many_constructs_cost_alike() {
    in_c("functions with a construct", 60, |n| each(n, |k| function(k, LOOP)));
    in_c("functions with a construct and members", 30, |n| {
        let inside = "#pragma acc parallel loop copy(a[0:n]) copyin(s[0:1])\nfor (int i = 0; i < n; i++) a[i] = s->x;\n";
        let functions = each(n, |k| {
            format!("void f{k}(int n, double *a, struct s *s)\n{{\n{inside}}}\nenum e{k} {{ E{k} }};\n")
        });
        format!("struct s {{ double x; }};\n{functions}")
    });
}

/// What a function does is found through what it calls, in a circle, too, by more ways than can be counted.
#[test]
fn functions_in_a_circle_cost_alike() {
    for kind in ["kernels", "parallel"] {
        in_c("functions in a circle", 40, |n| {
            let declared = each(n, |k| format!("static double g{k}(double x);\n"));
            let defined = each(n, |k| {
                let (one, two) = ((k + 1) % n, (k + 2) % n);
                format!("static double g{k}(double x) {{ return x > 0 ? g{one}(x - 1) : g{two}(x); }}\n")
            });
            let inside =
                format!("#pragma acc {kind} loop copy(a[0:n])\nfor (int i = 0; i < n; i++) a[i] = g0(x);\n");
            format!("{declared}{defined}{}", body(&inside))
        });
    }
}

#[test]
fn constants_of_enumerations_cost_alike() {
    in_c("enumeration", 50, |n| {
        let constants = each(n, |k| format!("E{k}, "));
        let cases = each(n, |k| format!("case E{k}: a[i] += {k}; break;\n"));
        let inside = format!("{}switch (p[i]) {{\n{cases}}}\n}}\n", LOOP.replace("a[i] = 0;\n", "{\n"));
        format!("enum e {{ {constants} }};\n{}", body(&inside))
    });
}

#[test]
fn private_variables_of_a_loop_cost_alike() {
    let loops = |n: usize, clause: &str, kind: &str| {
        let declared = each(n, |k| format!("double t{k};\n"));
        let used = each(n, |k| format!("t{k} = a[i]; a[i] = t{k} + 1;\n"));
        let line = format!("#pragma acc {kind} loop{clause} copy(a[0:n])\n");
        body(&format!("{declared}{line}for (int i = 0; i < n; i++) {{\n{used}}}\n"))
    };
    in_c("private", 100, |n| {
        let names: Vec<String> = (0..n).map(|k| format!("t{k}")).collect();
        loops(n, &format!(" private({})", names.join(", ")), "parallel")
    });
    in_c("private by themselves", 100, |n| loops(n, "", "kernels"));
}

#[test]
fn pointers_without_clauses_cost_alike() {
    in_c_for_openmp("pointers", 100, |n| {
        let parameters: Vec<String> = (0..n).map(|k| format!("double *a{k}")).collect();
        let used = each(n, |k| format!("a{k}[i] = 1;\n"));
        let inside = format!("#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{used}}}\n");
        format!("void f(int n, {})\n{{\n{inside}}}\n", parameters.join(", "))
    });
}

#[test]
fn arrays_without_clauses_cost_alike() {
    in_c("arrays", 150, |n| {
        let declared = each(n, |k| format!("double a{k}[100];\n"));
        let used = each(n, |k| format!("a{k}[i] = 1;\n"));
        format!(
            "void f(int n)\n{{\n{declared}#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{\n{used}}}\n}}\n"
        )
    });
}

/// Each loop has an edit, and each edit is compared with those of other branches.
#[test]
fn directives_with_many_edits_cost_alike() {
    in_c_for_openmp("loops beside a condition", 300, |n| {
        format!("#ifdef A\nint v;\n#endif\n{}", each(n, |k| function(k, LOOP)))
    });
}

/// Branches at file scope whose conditions ask for different names are shown by one view.
#[test]
fn branches_that_hide_functions_cost_alike() {
    in_c("pairs of branches", 50, |n| {
        each(n, |k| {
            let other = function(2 * k + 1, LOOP);
            format!("#ifdef A{k}\n{}#else\n{other}#endif\n", function(2 * k, LOOP))
        })
    });
}

/// Each module uses two others, and so all that these use: their names come by more ways than can be counted.
#[test]
fn modules_that_use_modules_cost_alike() {
    in_fortran("modules", 12, |n| {
        let module = |k: usize| {
            let uses = each(k.min(3), |back| format!("use m{}\n", k - 1 - back));
            format!("module m{k}\n{uses}real :: v{k}\nend module\n")
        };
        let inside = "!$acc parallel loop\ndo i = 1, n\na(i) = v0\nend do\n";
        let head = format!("subroutine f(n, a)\nuse m{}\ninteger :: n, i\nreal :: a(n)\n", n - 1);
        format!("{}{head}{inside}end subroutine\n", each(n, module))
    });
}

/// Each branch in a function that hides a directive is a view of the whole file: many of them are too much work, which is said.
#[test]
fn views_of_a_file_end_with_their_budget() {
    let pairs = |count: usize| body(&each(count, |k| format!("#ifdef A{k}\n{LOOP}#else\n{LOOP}#endif\n")));
    let budget = Budget { steps: 4_000_000, steps_per_byte: 0, ..Budget::default() };
    let codes = |count: usize| {
        let source = Source::new("views.c", pairs(count).into_bytes(), Language::C);
        let translation = translate(&source, &Options { budget, ..Options::default() });
        translation.diagnostics.iter().filter(|diag| diag.code.0 == 333).count()
    };
    assert_eq!(codes(4), 0);
    assert_eq!(codes(200), 1);
}
