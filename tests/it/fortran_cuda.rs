//! Fortran as it becomes CUDA, as far as that goes: what comes out is what the host compiler takes, and what it calls exists.
//!
//! Invariant: gfortran compiles each file that is written here.

use std::fs;
use std::process::Command;

use acc2omp::source::{Form, Language};
use acc2omp::{Options, Outcome, RUNTIME_MODULE, Source, To, Translation, translate};

const PROGRAM: &str = "\
program relax
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: n = 200, m = 150
  real(dp), allocatable :: a(:,:), b(:,:)
  real(dp) :: err
  integer :: i, j
  allocate(a(n, m), b(0:n+1, m))
  a = 1
  b = 0
  !$acc data copy(a) create(b)
  err = 0
  !$acc parallel loop collapse(2) reduction(max:err) async(1)
  do j = 2, m - 1
    do i = 2, n - 1
      b(i, j) = 0.25_dp * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
      err = max(err, abs(b(i, j) - a(i, j)))
    end do
  end do
  !$acc wait(1)
  !$acc update self(a(:, 5:6)) if(err > 1)
  !$acc end data
  call total(a, n, m, err)
  print *, err
contains
  subroutine total(x, nx, ny, s)
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: x(nx, ny)
    real(dp), intent(out) :: s
    integer :: p, q
    real(dp) :: row
    s = 0
    !$acc parallel loop gang private(row) reduction(+:s) copyin(x) num_gangs(nx/2) if(nx > 10)
    do q = 1, ny
      row = 0
      !$acc loop vector reduction(+:row)
      do p = 1, nx
        if (x(p, q) > 1 .and. mod(p, 3) /= 0) then
          row = row + x(p, q)**2
        else if (p == q) then
          row = row - 1
        end if
      end do
      s = s + row
    end do
  end subroutine
end program
";

fn translated(text: &str) -> Translation {
    let source = Source::new("relax.f90", text.as_bytes().to_vec(), Language::Fortran(Form::Free));
    let options = Options { to: To::Cuda, ..Options::default() };
    translate(&source, &options)
}

fn text_of(made: &Translation, name: &str) -> String {
    let file = made.beside.iter().find(|file| file.name == name);
    let file = file.unwrap_or_else(|| panic!("{name} is missing"));
    String::from_utf8(file.text.clone()).expect("text")
}

#[test]
fn all_of_a_program_becomes_calls_that_gfortran_takes() {
    let made = translated(PROGRAM);
    assert!(made.directives.iter().all(|one| one.outcome != Outcome::Left), "{:#?}", made.diagnostics);
    let folder = tempfile::tempdir().expect("a folder");
    let module = text_of(&made, "relax_acc_module.f90");
    let files = [
        (RUNTIME_MODULE.0, RUNTIME_MODULE.1.as_bytes()),
        ("relax_acc_module.f90", module.as_bytes()),
        ("relax.f90", made.text.as_slice()),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
        let mut command = Command::new("gfortran");
        command.current_dir(folder.path()).args(["-c", "-std=f2018", "-Wall", name]);
        let output = command.output().expect("gfortran");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn kernels_are_named_after_their_place_and_say_what_they_compute() {
    let code = text_of(&translated(PROGRAM), "relax_acc.cu");
    let wanted = [
        "acc2omp::Region region(\"relax.f90:13\", queue_2);",
        "// b(i, j) = 0.25_dp * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))",
        "b[i - b_l1 + b_n1 * (j - b_l2)] = 0.25 * (a[i - 1 - a_l1 + a_n1 * (j - a_l2)]",
        "if (x[p - 1 + x_n1 * (q - 1)] > 1 && p % 3 != 0) {",
        "extern \"C\" void relax_total_33(",
    ];
    for text in wanted {
        assert!(code.contains(text), "{text} is missing in\n{code}");
    }
}

#[test]
fn what_has_no_counterpart_stays_with_its_reason() {
    let cases = [
        ("a(2:5) = a(1:4)", "an array statement that is not done element by element"),
        ("where (a(2:5) > 0) a(1:4) = 0", "an array statement that is not done element by element"),
        ("a(1) = f(1)", "a call of `f`"),
        ("c = d", "an object of type `t`, with the component `y`,"),
    ];
    for (statement, why) in cases {
        let text = format!(
            "subroutine s(a, c)\n  type t\n    real, allocatable :: y\n  end type\n  real :: a(10)\n  type(t) :: c, d\n  real, external :: f\n  !$acc serial copy(a)\n  {statement}\n  !$acc end serial\nend subroutine\n"
        );
        let made = translated(&text);
        assert_eq!(made.text, text.as_bytes(), "{statement}");
        let said: Vec<&str> = made.diagnostics.iter().map(|diag| diag.message.as_str()).collect();
        assert!(said.iter().any(|said| said.contains(why)), "{statement}: {said:?}");
    }
}

#[test]
fn variables_that_a_statement_among_others_allocates_are_brought() {
    let text = "program p\n  implicit none\n  call s()\ncontains\n  subroutine s()\n    use m\n  end subroutine\nend program\nmodule m\n  implicit none\n  integer, allocatable :: q(:), w(:)\n  !$acc declare create(q, w)\ncontains\n  subroutine t()\n    allocate(q(3), w(3)); q = 1; w = 2\n  end subroutine\nend module\n";
    let made = translated(text);
    assert!(made.diagnostics.iter().all(|diag| diag.code.0 < 900), "{:#?}", made.diagnostics);
    let lines: Vec<String> =
        String::from_utf8_lossy(&made.text).lines().map(|line| line.trim().to_owned()).collect();
    let wanted = [
        "allocate(q(3), w(3))",
        "call acc2omp_enter_create(\"q\", q)",
        "call acc2omp_enter_create(\"w\", w)",
        "q = 1; w = 2",
    ];
    let at = lines.iter().position(|line| line == wanted[0]).expect("the statement");
    assert_eq!(lines[at..at + wanted.len()], wanted);
}

#[test]
fn an_item_of_use_device_may_stand_twice() {
    let fortran = "subroutine f(a)\nreal :: a(9)\n!$acc host_data use_device(a, A) use_device(a)\ncall g(a)\n\
                   !$acc end host_data\nend subroutine\n";
    let c = "void g(double *);\nvoid f(double *a)\n{\n#pragma acc host_data use_device(a, a)\n    g(a);\n}\n";
    for (language, text, call) in
        [(Language::Fortran(Form::Free), fortran, "acc2omp_device("), (Language::C, c, "acc2omp_use_device(")]
    {
        let source = Source::new("twice", text.as_bytes().to_vec(), language);
        let made = translate(&source, &Options { to: To::Cuda, ..Options::default() });
        assert!(made.directives.iter().all(|one| one.outcome != Outcome::Left), "{:?}", made.diagnostics);
        assert_eq!(String::from_utf8(made.text).unwrap().matches(call).count(), 1);
    }
}

#[test]
fn a_main_program_without_its_statement_begins_with_what_it_uses() {
    for before in ["", "! what it does\n\n", "subroutine s\nend subroutine\n"] {
        let made = translated(&format!("{before}x = 1\n!$acc wait\nend\n"));
        let wanted = format!("{before}use acc2omp_cuda\nx = 1\ncall acc_wait_all()\nend\n");
        assert_eq!(String::from_utf8_lossy(&made.text), wanted);
    }
}

#[test]
fn a_procedure_that_stays_leaves_its_callers_and_no_others() {
    let text = super::text(super::root("fixtures/bad/A0401-procedure.f90"));
    let made = translated(&text);
    let host = String::from_utf8_lossy(&made.text);
    let stays: Vec<&str> = host.lines().filter(|line| line.contains("!$acc parallel")).collect();
    assert_eq!(stays, ["  !$acc parallel loop gang copy(a, first)"], "{:?}", made.diagnostics);
    let code = text_of(&made, "relax_acc.cu");
    assert!(code.contains("late") && !code.contains("early"), "{code}");
}
