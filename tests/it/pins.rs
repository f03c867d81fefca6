//! What `acc2omp verify --pins` and `--bisect` put into sources.
//!
//! Invariant: what is instrumented is translated like the source itself, and the tests need no compiler.

use acc2omp::pins::{Purpose, Site};
use acc2omp::source::{Form, Language};
use acc2omp::{Options, Outcome, Source, instrument, translate};

/// A source with statements around its directives and without the library; its directives.
fn instrumented(text: &str, form: Form, purpose: Purpose) -> (String, Vec<Site>) {
    let language = Language::Fortran(form);
    let source = Source::new("a.f90", text.into(), language);
    let (bytes, sites) = instrument(&source, &Options::default(), purpose);
    let all = String::from_utf8(bytes).unwrap();
    let limit = if form == Form::Fixed { 72 } else { 132 };
    assert!(all.lines().all(|line| line.len() <= limit), "{all}");
    let before = translate(&source, &Options::default());
    let after = translate(&Source::new("a.f90", all.clone().into(), language), &Options::default());
    let left =
        |all: &acc2omp::Translation| all.directives.iter().filter(|one| one.outcome == Outcome::Left).count();
    assert_eq!(left(&before), left(&after), "{:?}\n{all}", after.diagnostics);
    let own = all.rsplit_once("end module acc2omp_pin_").map_or(all.as_str(), |(_, own)| own);
    (own.split_once('\n').map_or(own, |(_, own)| own).to_owned(), sites)
}

/// The lines, without blanks at their beginnings, that stand before and after the one that begins so.
fn lines_of(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_start).collect()
}

#[track_caller]
fn expect_lines(text: &str, expected: &[&str]) {
    let lines = lines_of(text);
    assert!(lines.windows(expected.len()).any(|window| window == expected), "{expected:#?}\n{text}");
}

/// A source whose directives stay as they are, with the reason.
#[track_caller]
fn expect_obstacle(text: &str, form: Form, why: &str) {
    let (own, sites) = instrumented(text, form, Purpose::Record);
    assert!(!own.contains("acc2omp_pin"), "{own}");
    assert_eq!(sites.iter().map(|site| site.obstacle).collect::<Vec<_>>(), [Some(why)], "{own}");
}

const LOOP: &str = "subroutine s(n, a, x)\n  integer, intent(in) :: n\n  real(8) :: a(n, n)\n  real, intent(in) :: x\n  \
                    integer :: i\n  !$acc parallel loop copy(a(:, 2:n))\n  do i = 1, n\n    a(i, 2) = x\n  end do\nend subroutine\n";

#[test]
fn the_library_can_be_read_in_both_forms() {
    let (name, text) = ("src/pins/acc2omp_pin.f90", super::text(super::root("src/pins/acc2omp_pin.f90")));
    for (line, number) in text.lines().zip(1..) {
        let is_comment = line.starts_with('!') && !line.starts_with("!$");
        let is_statement = line.is_empty() || line.starts_with("      ") || line.starts_with("!$    ");
        let is_directive = line.starts_with("!$omp ") || line.starts_with("!$acc ");
        assert!(line.len() <= 72 && (is_comment || is_statement || is_directive), "{name}:{number}: {line}");
        assert!(!line.trim_end().ends_with('&'), "{name}:{number}: {line}");
        // A preprocessor looks for the end of what an apostrophe begins.
        assert!(line.matches('\'').count() % 2 == 0, "{name}:{number}: {line}");
    }
}

#[test]
fn what_a_construct_finds_and_leaves_is_recorded() {
    let (own, sites) = instrumented(LOOP, Form::Free, Purpose::Record);
    expect_lines(
        &own,
        &[
            "call acc2omp_pin_variable('a(:, 2:n)', 'f', storage_size(a), 0_acc2omp_pin_k)",
            "if (int(ubound(a, 1), acc2omp_pin_k) >= int(lbound(a, 1), acc2omp_pin_k)) then",
            "do acc2omp_pin_2 = int(2, acc2omp_pin_k), int(n, acc2omp_pin_k)",
        ],
    );
    expect_lines(&own, &["end block", "!$acc parallel loop copy(a(:, 2:n))"]);
    let entry = own.split_once("!$acc").unwrap().0;
    assert!(entry.contains("'entry', 1_acc2omp_pin_k") && entry.contains("variable('x', 'f'"), "{own}");
    assert!(
        own.contains("end do\n  block\n  use acc2omp_pin_") && own.contains("'exit', 0_acc2omp_pin_k"),
        "{own}"
    );
    // A scalar that the construct only reads is not a result.
    assert!(!own.split_once("!$acc").unwrap().1.contains("'x'"), "{own}");
    assert_eq!((sites[0].line, sites[0].name.as_str(), sites[0].is_compute), (6, "parallel loop", true));
}

#[test]
fn fixed_form_keeps_its_columns() {
    let text = "      subroutine s(number_of_elements, array_with_a_long_name)\n      integer number_of_elements, i\n      \
                double precision array_with_a_long_name(number_of_elements)\nc$acc parallel loop copy(array_with_a_long_name(1:number_of_elements))\n      \
                do 10 i = 1, number_of_elements\n   10 array_with_a_long_name(i) = i\n      end\n";
    let (own, _) = instrumented(text, Form::Fixed, Purpose::Record);
    assert!(own.contains("   10 array_with_a_long_name(i) = i\n      block\n"), "{own}");
    let (own, _) = instrumented(text, Form::Fixed, Purpose::Choose(3));
    expect_lines(
        &own,
        &[
            "c$acc parallel loop",
            "c$acc& if(acc2omp_pin_on_device(3_acc2omp_pin_k))",
            "c$acc&  copy(array_with_a_long_name(1:number_of_elements))",
        ],
    );
    expect_lines(
        &own,
        &["c$acc update self(", "c$acc& array_with_a_long_name(1:number_of_elements))", "c$acc& if_present"],
    );
}

#[test]
fn arrays_are_recorded_where_they_are() {
    let text = "subroutine s(a, p, q, o)\n  real, intent(inout) :: a(0:, :)\n  integer, pointer :: p(:)\n  \
                complex, allocatable :: q(:)\n  logical, optional :: o(4)\n  !$acc update device(a, p, q, o)\nend subroutine\n";
    let (own, _) = instrumented(text, Form::Free, Purpose::Record);
    for words in [
        "call acc2omp_pin_row(a(lbound(a, 1), acc2omp_pin_2), a(min(int(lbound(a, 1), acc2omp_pin_k) + 1,",
        "variable('p', 'i', storage_size(p), 3_acc2omp_pin_k)\n  if (associated(p)) then\n",
        "variable('q', 'c', storage_size(q), 2_acc2omp_pin_k)\n  if (allocated(q)) then\n",
        "variable('o', 'u', storage_size(o), 2_acc2omp_pin_k)\n  if (present(o)) then\n",
    ] {
        assert!(own.contains(words), "{words}\n{own}");
    }
}

#[test]
fn components_are_recorded() {
    let text = "subroutine s(n)\n  type t\n    real, allocatable :: x(:), y(:)\n    integer :: k\n  end type\n  type(t) :: v\n  \
                integer :: n, i\n  !$acc parallel loop copy(v%x(1:n), v%y)\n  do i = 1, n\n    v%x(i) = v%y(i)\n  end do\nend subroutine\n";
    let (_, sites) = instrumented(text, Form::Free, Purpose::Record);
    assert_eq!(sites[0].variables, ["v%x(1:n)", "v%y", "n"]);
    let text = text.replace(" copy(v%x(1:n), v%y)", " copy(v)");
    let (_, sites) = instrumented(&text, Form::Free, Purpose::Record);
    assert_eq!(sites[0].unknown, ["v%x", "v%y"]);
    assert!(sites[0].variables.iter().any(|name| name == "v%k"), "{sites:?}");
    let text = text.replace("type t\n", "type t\n    private\n");
    let (_, sites) = instrumented(&text, Form::Free, Purpose::Record);
    assert_eq!(sites[0].unknown, ["v"]);
}

#[test]
fn components_of_arrays_are_recorded() {
    let text = "subroutine s(v, n)\n  type t\n    real :: x, y(3)\n    integer :: k\n  end type\n  integer :: n, i\n  \
                type(t) :: v(0:n)\n  !$acc parallel loop copy(v)\n  do i = 1, n\n    v(i)%x = v(i)%y(2)\n  end do\n  \
                !$acc update self(v(2:n))\nend subroutine\n";
    let (own, sites) = instrumented(text, Form::Free, Purpose::Record);
    assert_eq!(sites[0].variables, ["v%k", "v%x", "v%y", "n"]);
    assert_eq!(sites[1].variables, ["v(2:n)%k", "v(2:n)%x", "v(2:n)%y"]);
    assert_eq!(own.matches("acc2omp_pin_variable('v%x'").count(), 2, "{own}");
    let (own, _) = instrumented(text, Form::Free, Purpose::Choose(0));
    assert_eq!(own.matches("update self(v) if_present").count(), 1, "{own}");
    let text = text.replace("integer :: k", "integer, allocatable :: k(:)");
    let (own, sites) = instrumented(&text, Form::Free, Purpose::Choose(0));
    assert_eq!(sites[0].unknown, ["v%k"]);
    assert!(!own.contains("update self(v)"), "{own}");
}

/// A `block` construct right after the directive would be all of the region, as OpenMP 5.1 has it.
#[test]
fn a_region_does_not_begin_with_a_block() {
    let text = "program p\n  real :: a(4)\n  a = 1\n  !$acc data &\n  !$acc copy(a)\n  a(1) = 2\n  !$acc end data\nend program\n";
    let (own, _) = instrumented(text, Form::Free, Purpose::Record);
    expect_lines(&own, &["!$acc copy(a)", "continue", "block"]);
    expect_lines(&own, &["end block", "!$acc end data", "block"]);
    assert_eq!(own.matches("'end data'").count(), 2, "{own}");
}

#[test]
fn a_construct_runs_where_the_search_says() {
    let text = LOOP.replace("copy(a", "if(n > 4) &\n  !$acc copy(a");
    let (own, _) = instrumented(&text, Form::Free, Purpose::Choose(0));
    expect_lines(
        &own,
        &[
            "!$acc parallel loop if((n > 4) .and. &",
            "!$acc acc2omp_pin_on_device(0_acc2omp_pin_k) &",
            "!$acc ) &",
        ],
    );
    expect_lines(&own, &["!$acc wait", "!$acc update self(a(:, 2:n)) if_present", "end if"]);
    expect_lines(&own, &["!$acc update device(a(:, 2:n)) if_present", "end if", "end block"]);
}

#[test]
fn directives_stay_where_no_statement_may_stand() {
    let pure = LOOP.replace("subroutine s", "pure subroutine s");
    let pure = pure.replace("end pure", "end");
    expect_obstacle(&pure, Form::Free, "its procedure is `pure`");
    expect_obstacle(
        "      subroutine s(n, a)\n      integer n, i, j\n      real a(n, n)\n      do 10 j = 1, n\n!$acc parallel loop\n      \
         do 10 i = 1, n\n   10 a(i, j) = 0\n      end\n",
        Form::Fixed,
        "a loop around it ends at the same statement",
    );
    let parted =
        LOOP.replace("  !$acc parallel loop", "#ifdef G\n  !$acc data").replace("  do i", "#endif\n  do i");
    let parted = parted.replace("end do\n", "end do\n#ifdef G\n  !$acc end data\n#endif\n");
    expect_obstacle(&parted, Form::Free, "a condition of the preprocessor holds a part of it");
    let beside = LOOP.replace("  !$acc", "  !$omp parallel do\n  !$acc");
    expect_obstacle(&beside, Form::Free, "a directive of OpenMP stands beside it");
    let after = LOOP.replace("end do\n", "end do; a(1, 1) = 0\n");
    expect_obstacle(&after, Form::Free, "a statement follows it on its line");
}

/// What is recorded after a loop stands under the conditions of its directive.
#[test]
fn directives_in_branches_have_one_loop() {
    let own = "  !$acc parallel loop copy(a(:, 2:n))\n";
    let other = "#ifdef G\n  !$acc parallel loop copy(a(:, 2:n))\n#else\n  !$acc parallel loop gang copy(a(:, 2:n))\n#endif\n";
    let text = LOOP.replace(own, other);
    let (both, sites) = instrumented(&text, Form::Free, Purpose::Record);
    assert!(sites.len() == 2 && sites.iter().all(|site| site.obstacle.is_none()), "{both}");
    expect_lines(&both, &["end do", "#ifdef G", "#else", "block"]);
    for (is_first, line) in [(true, "(7_"), (false, "(9_")] {
        let branch = own_branch(&both, is_first);
        assert_eq!(branch.matches(&format!("acc2omp_pin_begin{line}")).count(), 2, "{branch}");
        assert_eq!(branch.matches("if (acc2omp_pin_begin(").count(), 2, "{branch}");
    }
    // Where one is chosen when the program runs, what stands after the loop would be about both.
    let (both, _) = instrumented(&text, Form::Free, Purpose::Choose(0));
    assert!(!both.contains("acc2omp_pin_on_device("), "{both}");
    // One branch has an `end`, after which nothing may come before.
    let text = text.replace("  end do\n", "  end do\n#ifdef G\n  !$acc end parallel loop\n#endif\n");
    let (_, sites) = instrumented(&text, Form::Free, Purpose::Record);
    let is_kept = |line| sites.iter().any(|site| site.line == line && site.obstacle.is_none());
    assert_eq!([7, 9].map(is_kept), [true, false], "{sites:?}");
}

fn own_branch(text: &str, is_first: bool) -> String {
    let start = text.find("subroutine s(n").unwrap();
    branch(&text[start..], is_first)
}

/// A main program without its first statement, in a file; a part of one that others include stays as it is.
#[test]
fn parts_of_program_units_stay_as_they_are() {
    let whole = "real :: a(4)\na = 1\n!$acc parallel loop\ndo i = 1, 4\n  a(i) = 2\nend do\nend\n";
    let (own, sites) = instrumented(whole, Form::Free, Purpose::Record);
    assert!(sites.len() == 1 && own.contains("acc2omp_pin_begin(3_"), "{own}");
    let part = whole.strip_suffix("end\n").unwrap();
    assert!(!instrumented(part, Form::Free, Purpose::Record).0.contains("acc2omp_pin"));
}

/// The library has names that the source may have, too.
#[test]
fn names_of_the_library_do_not_meet_those_of_the_source() {
    let (own, _) = instrumented(LOOP, Form::Free, Purpose::Record);
    assert!(
        own.lines().filter(|line| line.contains("use acc2omp_pin_")).all(|line| line.contains(", only: "))
    );
    let text = "subroutine s(b)\n  type t\n    real, allocatable :: x(:)\n  end type\n  type(t) :: b\n  \
                !$acc exit data copyout(b%x)\n  !$acc exit data delete(b)\nend subroutine\n";
    let source = |text: &str| Source::new("a.f90", text.into(), Language::Fortran(Form::Free));
    let (bytes, _) = instrument(&source(text), &Options::default(), Purpose::Record);
    let all = translate(&source(&String::from_utf8(bytes).unwrap()), &Options::default()).text;
    let all = String::from_utf8(all).unwrap();
    assert!(all.contains("map(from: acc2omp_b_x)"), "{all}");
}

/// What counts the loops of `kernels` is nobody's result.
#[test]
fn counters_are_not_recorded() {
    let text = LOOP.replace("parallel loop", "kernels");
    let text = text.replace("  end do\n", "  end do\n  !$acc end kernels\n  a(1, 1) = i\n");
    let (_, sites) = instrumented(&text, Form::Free, Purpose::Record);
    assert_eq!(sites[0].variables, ["a(:, 2:n)", "n", "x"]);
}

#[test]
fn a_source_of_c_without_a_preprocessor_includes_the_library_first() {
    let text = "void f(int n, double *x)\n{\n#pragma acc parallel loop copy(x[0:n])\n    for (int i = 0; i < n; i++)\n        \
                x[i] = 0;\n}\n";
    let source = Source::new("a.c", text.into(), Language::C);
    let (bytes, _) = instrument(&source, &Options::default(), Purpose::Record);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("#include \"acc2omp_pin.h\"\nvoid f"), "{text}");
}

/// A source of C with statements around its directives; its directives.
fn instrumented_c(text: &str) -> (String, Vec<Site>) {
    let source = Source::new("a.c", text.into(), Language::C);
    let (bytes, sites) = instrument(&source, &Options::default(), Purpose::Record);
    (String::from_utf8(bytes).unwrap(), sites)
}

/// A source without the lines of the branches of `#ifdef A`, or without those of `#else`.
fn branch(text: &str, is_first: bool) -> String {
    let mut own = String::new();
    let mut is_kept = true;
    for line in text.lines() {
        match line.split_whitespace().next() {
            Some("#ifdef") => is_kept = is_first,
            Some("#else") => is_kept = !is_first,
            Some("#endif") => is_kept = true,
            _ if is_kept => own += &format!("{line}\n"),
            _ => {}
        }
    }
    own
}

#[track_caller]
fn expect_balance(text: &str, is_instrumented: bool) {
    let (own, sites) = instrumented_c(text);
    assert_eq!(sites.iter().all(|site| site.obstacle.is_none()), is_instrumented, "{own}");
    assert_eq!(own.contains("acc2omp_pin_begin"), is_instrumented, "{own}");
    for is_first in [true, false] {
        let branch = branch(&own, is_first);
        assert_eq!(branch.matches('{').count(), branch.matches('}').count(), "{own}");
    }
}

#[test]
fn components_of_objects_are_recorded() {
    let text = "struct in { float v[3]; };\nstruct own { int n; double *to; struct in in; };\nvoid f(int m, struct own s, struct own *all)\n{\n\
                #pragma acc parallel loop copy(all[0:m])\nfor (int i = 0; i < m; ++i)\nall[i].in.v[1] = s.n;\n}\n";
    let (own, sites) = instrumented_c(text);
    for name in ["all[0:m].n", "all[0:m].in.v", "s.n", "s.in.v"] {
        assert!(own.contains(&format!("acc2omp_pin_variable(\"{name}\"")), "{name}: {own}");
    }
    assert!(!own.contains(".to\"") && sites[0].unknown.is_empty(), "{own}");
    let update = text.replace("parallel loop copy(all[0:m])", "update device(all[1].n)");
    assert!(instrumented_c(&update).0.contains("acc2omp_pin_variable(\"all[1].n\""), "{update}");
    let bits = text.replace("int n;", "int n : 3;");
    assert_eq!(instrumented_c(&bits).1[0].unknown, ["s", "all[0:m]"]);
}

#[test]
fn conditions_hold_whole_pins_or_none() {
    let body = "void f(int n, float a[n])\n{\n#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; ++i)\n#ifdef A\na[i] = 1;\n#else\na[i] = 2;\n#endif\n}\n";
    expect_balance(body, true);
    let directive = "void f(int n, float a[n])\n{\n#ifdef A\n#pragma acc parallel loop copy(a[0:n])\n#endif\nfor (int i = 0; i < n; ++i)\na[i] = 1;\n}\n";
    expect_balance(directive, true);
    expect_balance(&directive.replace("#pragma", "int k = 0;\n#pragma"), false);
    expect_balance(&body.replace("a[i] = 2;", "a[i] = 2; n++;"), false);
}

#[test]
fn what_routines_place_is_remembered() {
    let text = "#include <openacc.h>\nvoid f(int n, float *a, float *b)\n{\n  void *d = acc_copyin(a, n * sizeof *a);\n  if (d)\n    acc_create(b, n * sizeof *b);\n  else\n    acc_create(b++, n);\n#pragma acc parallel loop present(a)\n  for (int i = 0; i < n; ++i)\n    a[i] = 1;\n  acc_delete(a, n * sizeof *a);\n}\n";
    let (own, _) = instrumented_c(text);
    let placed = |first: &str, bytes: &str, change: i32| {
        format!("acc2omp_pin_placed((const void *)({first}), (long long)({bytes}), 1, {change});")
    };
    expect_lines(
        &own,
        &["void *d = acc_copyin(a, n * sizeof *a);", &placed("a", "n * sizeof *a", 1), "if (d)", "{"],
    );
    let inner = placed("b", "n * sizeof *b", 1) + " }";
    expect_lines(&own, &["acc_create(b, n * sizeof *b);", &inner, "else", "acc_create(b++, n);"]);
    expect_lines(&own, &["acc_delete(a, n * sizeof *a);", &placed("a", "n * sizeof *a", -1)]);
}

#[test]
fn names_of_intrinsic_functions_are_an_obstacle() {
    let why = "a variable has the name of an intrinsic function that pins call";
    expect_obstacle(&LOOP.replace("integer :: i\n", "integer :: i, size\n"), Form::Free, why);
}

#[test]
fn names_of_string_h_may_be_the_programs() {
    let text = super::text(super::root("src/pins/acc2omp_pin.h"));
    assert!(!text.contains("string.h"), "a program may have a variable `index`");
}

#[test]
fn registers_are_copied() {
    let text = "void f(register int n, float a[10])\n{\n#pragma acc parallel loop copy(a[0:10])\nfor (int i = 0; i < n; ++i)\na[i] = 1;\n}\n";
    let (own, _) = instrumented_c(text);
    assert!(own.contains("__typeof__(n) acc2omp_copy = n;") && !own.contains("&(n)"), "{own}");
}

#[test]
fn first_letters_say_types() {
    let text = "      SUBROUTINE S\n      IMPLICIT REAL*8 (A-H,O-Z)\n      PARAMETER (N=9)\n      COMMON /B/ A(N), K(N)\n!$ACC PARALLEL LOOP COPY(A)\n      DO I = 1, N\n        A(I) = K(I)\n      END DO\n      END\n";
    let (own, sites) = instrumented(text, Form::Fixed, Purpose::Record);
    assert!(sites.iter().all(|site| site.unknown.is_empty()), "{sites:?}");
    let all: String = own.split_whitespace().collect();
    assert!(all.contains("'f',storage_size(A)") && all.contains("'i',storage_size(K)"), "{own}");
}
