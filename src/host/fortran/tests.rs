//! Tests of the Fortran reader: snippets, and the facts that it reads from them.

use super::super::parse;
use crate::host::ir::*;
use crate::scan::Scan;
use crate::source::{Form, Language, SourceFile, Span};

fn read(text: &str) -> Unit {
    let file = SourceFile::new("a.f90", text.as_bytes().to_vec(), Language::Fortran(Form::Free));
    let scan = Scan {
        directives: Vec::new(),
        includes: Vec::new(),
        defines: Vec::new(),
        shadow: text.as_bytes().to_vec(),
        names: Vec::new(),
        guards: Vec::new(),
        conditionals: Vec::new(),
        hidden: Vec::new(),
        ruled_out: Vec::new(),
        restricts: Default::default(),
        index: Default::default(),
    };
    parse(&file, &scan)
}

/// The statements of all functions, one a line.
fn tree(text: &str) -> String {
    let unit = read(text);
    let mut out = String::new();
    for function in &unit.functions {
        let mark = if function.has_error { "!" } else { "" };
        out.push_str(&format!("{}{mark}\n", function.name));
        print(&unit, function.body, 1, &mut out);
    }
    out
}

fn print(unit: &Unit, id: StmtId, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let show = |id: &ExprId| shown(unit, *id);
    let decls = |ids: &[DeclId]| ids.iter().map(|id| variable(unit, *id)).collect::<Vec<_>>().join(", ");
    let line = match &unit.stmt(id).kind {
        StmtKind::Block(list) => {
            list.iter().for_each(|stmt| print(unit, *stmt, depth, out));
            return;
        }
        StmtKind::Decl(ids) => format!("decl {}", decls(ids)),
        StmtKind::Expr(expr) => show(expr),
        StmtKind::Empty => "empty".to_owned(),
        StmtKind::If { cond, .. } => format!("if {}", show(cond)),
        StmtKind::For { init, cond, step, .. } => {
            let init = init.map(|init| match &unit.stmt(init).kind {
                StmtKind::Expr(expr) => show(expr),
                _ => "?".to_owned(),
            });
            let parts = [init, cond.as_ref().map(show), step.as_ref().map(show)];
            format!("for {}", parts.map(Option::unwrap_or_default).join("; "))
        }
        StmtKind::While { cond, .. } => format!("while {}", show(cond)),
        StmtKind::DoWhile { cond, .. } => format!("do while {}", show(cond)),
        StmtKind::Switch { cond, .. } => format!("switch {}", show(cond)),
        StmtKind::Labeled { label, .. } => format!("label {}", label.as_deref().unwrap_or("case")),
        StmtKind::Return(_) => "return".to_owned(),
        StmtKind::Break => "break".to_owned(),
        StmtKind::Continue => "continue".to_owned(),
        StmtKind::Goto(label) => format!("goto {label}"),
        StmtKind::Opaque(all) => format!("opaque {}", list(unit, all)),
    };
    out.push_str(&format!("{indent}{line}\n"));
    let other = match &unit.stmt(id).kind {
        StmtKind::If { then, other, .. } => {
            print(unit, *then, depth + 1, out);
            *other
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::Switch { body, .. } => {
            print(unit, *body, depth + 1, out);
            None
        }
        StmtKind::Labeled { stmt, .. } => {
            stmt.iter().for_each(|stmt| print(unit, *stmt, depth + 1, out));
            None
        }
        _ => None,
    };
    if let Some(other) = other {
        out.push_str(&format!("{indent}else\n"));
        print(unit, other, depth + 1, out);
    }
}

fn list(unit: &Unit, all: &[ExprId]) -> String {
    all.iter().map(|id| shown(unit, *id)).collect::<Vec<_>>().join(", ")
}

fn shown(unit: &Unit, id: ExprId) -> String {
    let show = |id: &ExprId| shown(unit, *id);
    match &unit.expr(id).kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Literal => "lit".to_owned(),
        ExprKind::Unary(op, operand) => format!("{op:?}({})", show(operand)),
        ExprKind::Binary(op, left, right) => format!("{op:?}({}, {})", show(left), show(right)),
        ExprKind::Assign(None, left, right) => format!("{} = {}", show(left), show(right)),
        ExprKind::Assign(Some(op), left, right) => format!("{} {op:?}= {}", show(left), show(right)),
        ExprKind::Step { operand, .. } => format!("{}++", show(operand)),
        ExprKind::Index(base, index) => format!("{}[{}]", show(base), show(index)),
        ExprKind::Member { base, name, .. } => format!("{}.{name}", show(base)),
        ExprKind::AddressOf(operand) => format!("&{}", show(operand)),
        ExprKind::Call { callee, args } => format!("{}({})", show(callee), list(unit, args)),
        ExprKind::Initialiser(all) => format!("{{{}}}", list(unit, all)),
        ExprKind::Triplet(parts) => {
            parts.iter().map(|part| part.as_ref().map(show).unwrap_or_default()).collect::<Vec<_>>().join(":")
        }
        ExprKind::Opaque(all) => format!("?{{{}}}", list(unit, all)),
        other => format!("{other:?}"),
    }
}

/// A declaration in a few words.
fn variable(unit: &Unit, id: DeclId) -> String {
    let decl = unit.decl(id);
    let mut text = decl.name.clone();
    let mut bounds = Vec::new();
    for (place, part) in decl.derived.iter().enumerate() {
        let lower = decl.fortran.lower.get(place).copied().flatten();
        let lower = lower.map(|lower| format!("{}..", shown(unit, lower))).unwrap_or_default();
        match part {
            Derived::Array(Some(upper)) => bounds.push(format!("{lower}{}", shown(unit, *upper))),
            Derived::Array(None) => bounds.push(format!("{lower}:")),
            _ => bounds.push("alias".to_owned()),
        }
    }
    if !bounds.is_empty() {
        text.push_str(&format!("({})", bounds.join(",")));
    }
    let base = match &decl.base {
        BaseType::Builtin(word) | BaseType::Tagged(word) => word.clone(),
        BaseType::Enum => "enum".to_owned(),
        _ => "?".to_owned(),
    };
    text.push_str(&format!(" {base} {:?}", decl.kind));
    let known = &decl.fortran;
    let flags = [
        (known.allocatable, "allocatable"),
        (known.pointer, "pointer"),
        (known.target, "target"),
        (known.contiguous, "contiguous"),
        (known.optional, "optional"),
        (known.value, "value"),
        (known.intent_in, "in"),
        (known.save, "save"),
        (known.procedure, "procedure"),
        (known.assumed_shape, "shape"),
        (known.assumed_size, "size"),
        (known.assumed_rank, "rank"),
        (decl.is_const, "const"),
        (decl.is_static, "static"),
    ];
    flags.iter().filter(|(is, _)| *is).for_each(|(_, word)| text.push_str(&format!(" {word}")));
    if let Some(init) = decl.init {
        text.push_str(&format!(" = {}", shown(unit, init)));
    }
    text
}

/// The scoping units and what they declare.
fn scopes(text: &str) -> String {
    let unit = read(text);
    let mut out = String::new();
    for scope in &unit.scopes {
        let parent = scope.parent.map(|parent| unit.scope(parent).name.clone()).unwrap_or_default();
        out.push_str(&format!("{:?} {} in {parent}\n", scope.kind, scope.name));
        for decl in &scope.decls {
            out.push_str(&format!("  {}\n", variable(&unit, *decl)));
        }
    }
    out
}

fn all_text(text: &str, span: Span) -> &str {
    &text[span.range()]
}

#[test]
fn declarations() {
    let text = "\
module m
  use, intrinsic :: iso_c_binding, only: c_int, dp => c_double
  use Other, x => y
  implicit none
  integer(8), parameter :: N = 10
  real(kind=8), dimension(10, 0:n), allocatable :: a, b(:)
  double precision :: s*8, q = 1.0
  common /blk/ c1, r(10), /bb/ w
  dimension z(10)
  pointer pp
  parameter (k1=3)
  procedure(foo), pointer :: fp
  enum, bind(c)
    enumerator :: red = 1, blue
  end enum
contains
  subroutine sub(a, n, t, u, p, *)
    real, intent(in) :: a(:), t(2:*)
    integer, value :: n
    class(thing), optional :: u
    external p
    integer, save :: count
    integer :: start = 3
    real g
    g(x) = x + 1
    a(1) = g(2)
  end subroutine
  pure real function f(x) result(r)
    r = x
  end function
end module m
";
    insta::assert_snapshot!(scopes(text));
    let unit = read(text);
    assert!(unit.errors.is_empty(), "{:?}", unit.errors);
    let uses = &unit.scopes[0].uses;
    assert_eq!(
        uses[0].names,
        [("c_int", "c_int"), ("dp", "c_double")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    assert!(uses[0].only && !uses[1].only && uses[1].module == "other");
    assert_eq!(unit.scopes[0].implicit, Implicit::None);
    assert_eq!(unit.scopes[0].commons.len(), 2);
    assert!(unit.scopes[2].is_pure && !unit.scopes[1].is_pure);
    let inputs: Vec<(&str, usize)> = unit.inputs.iter().map(|(name, at)| (name.as_str(), *at)).collect();
    assert_eq!(inputs, [("g", 0), ("sub", 0), ("sub", 1), ("sub", 2)]);
    let from = unit.scopes[0].directives_from as usize;
    assert!(text[from..].starts_with("  integer(8)"), "{}", &text[from..]);
    assert!(all_text(text, unit.scopes[1].specification).ends_with("g(x) = x + 1"));
    assert_eq!(tree(text), "sub\n  a(1) = g(2)\nf\n  r = x\n");
}

#[test]
fn types_and_interfaces() {
    let text = "\
module m
  type, extends(base) :: t
    real, pointer :: p(:) => null()
    integer :: k = 3
  contains
    procedure :: foo
  end type
  interface gen
    subroutine ext(u, v)
      real, intent(in) :: u
      real, value :: v
    end subroutine
    module procedure foo
  end interface
  interface
    module subroutine later(x)
      real, intent(in) :: x
    end subroutine
  end interface
end module
submodule (m) s
contains
  module procedure later
    call foo(x)
  end procedure
end submodule
";
    insta::assert_snapshot!(scopes(text));
    let unit = read(text);
    let record = &unit.records[0];
    assert_eq!((record.tag.as_deref(), record.bases.as_slice()), (Some("t"), ["base".to_owned()].as_slice()));
    let members: Vec<String> = record.members.iter().map(|member| variable(&unit, *member)).collect();
    assert_eq!(members, ["p(:) real Member pointer = lit", "k integer Member = 3"]);
    assert_eq!(unit.functions[0].params.len(), 1);
    assert_eq!(
        unit.inputs,
        [("ext".to_owned(), 0), ("ext".to_owned(), 1), ("later".to_owned(), 0), ("later".to_owned(), 0)]
    );
}

#[test]
fn loops() {
    let text = "\
subroutine s
  do i = 1, n
    do 30 j = n, 1, -1
      call x%foo(a, b=c)
30  continue
  end do
  do 41 i = 1, 3
  do 41 j = 1, 3, k
41 a(i,j) = 2
  do 42 i = 1, 3
  do 42 j = 1, 3
  if (a(i,j) > 2) goto 42
  b = 1
42 continue
  outer: do while (i < 3)
    do
      if (i == 3) exit outer
      if (i == 4) cycle outer
      exit
    end do
  end do outer
  do concurrent (integer :: i = 1:10, j=1:n:2, i /= j) local(x) reduce(+:s)
    a(i) = 2
  end do
  forall (i=1:3, j=1:n:2, i>j) a(i,j) = 2
  do i = 1, 2
    select case (i)
    case (1, 2:3)
      exit
    case default
      cycle
    end select
50 end do
end subroutine
";
    insta::assert_snapshot!(tree(text));
    let unit = read(text);
    let loops = unit.stmts.iter().filter(|stmt| matches!(stmt.kind, StmtKind::For { .. }));
    let ends: Vec<&str> =
        loops.map(|stmt| all_text(text, stmt.span).lines().last().unwrap_or_default()).collect();
    assert_eq!(ends[..3], ["30  continue", "  end do", "41 a(i,j) = 2"], "{ends:?}");
    let concurrent = &unit.concurrent[0];
    assert_eq!((concurrent.indices.len(), concurrent.local.as_slice()), (2, ["x".to_owned()].as_slice()));
    assert_eq!(concurrent.reduce, [("+".to_owned(), "s".to_owned())]);
    assert_eq!(unit.keywords.len(), 1);
}

#[test]
fn choices() {
    let text = "\
program p
  if (a > 3) then
    b = 2
  else if (b .and. .not. c) then
    b = 3
  else
    b = 4
  end if
  if (x) 10, 20, 30
10 b = 1
20 b = 2
30 c = 3
40 d = 4
  where (m > 0) a = 2
  where (m > 0)
    a = 1
  elsewhere (m < 0)
    a = 2
  elsewhere
    a = 3
  end where
  select type (p => q%r)
  type is (integer)
    a = 1
  class is (foo)
    a = 2
  end select
  associate (p => q%r, z => x + 1)
    p = z
  end associate
  blk: block
    integer :: k(3)
    k = 2
  end block blk
  goto (10, 20), i
  call bar(*10, a)
  return
contains
  subroutine inner
  end subroutine inner
end program
";
    insta::assert_snapshot!(tree(text));
    let unit = read(text);
    assert!(unit.errors.is_empty(), "{:?}", unit.errors);
    let main = &unit.functions[0];
    assert!(all_text(text, main.span).ends_with("return\n"), "{:?}", main.span);
    assert!(all_text(text, unit.stmt(main.body).span).starts_with("if (a > 3)"));
    assert_eq!(all_text(text, unit.functions[1].span), "subroutine inner\n  end subroutine inner");
}

#[test]
fn data_in_and_out() {
    let text = "\
  character(len=8) :: line
  integer :: unit
  allocate(a(10), b%c(2:3, n), stat=ierr)
  allocate(real(8) :: d(3), source=e)
  deallocate(a, b%c)
  nullify(p)
  read(*,*, err=10) a, (b(i), i=1,3)
  write(*,'(a)', iostat=k) a, b(1:3)
  write(line, *) (a(i), i=1,n)
  write(unit, *) a
  print *, a, b
  open(unit=10, file='x', iostat=ios)
10 stop 1
end
";
    insta::assert_snapshot!(tree(text));
    let unit = read(text);
    let objects: Vec<String> = unit.allocations.iter().map(|one| list(&unit, &one.objects)).collect();
    assert_eq!(objects, ["a(10), b.c[2:3:][n]", "d(3)", "a, b.c"]);
}

#[test]
fn expressions() {
    let text = "\
  c = [ (i*2, i=1,3) ] // (/ 1, 2 /)
  d = s(1:3)(2:2) ; e = x**2 .op. 3
  z = (1.0, 2.0) + obj%f(1)%g(2, :) + z'ff' + cos(x=3_8)
  P => Q
  l = a .LT. b .eqv. .true.
  FOO(a, b)
end
";
    insta::assert_snapshot!(tree(text));
}

#[test]
fn parts_of_programs() {
    let unit = read("integer, parameter :: n = 3\nreal a(n)\n");
    assert!(unit.functions.is_empty());
    assert!(unit.errors.is_empty(), "{:?}", unit.errors);
    assert_eq!(unit.scopes.len(), 1);
    assert_eq!(unit.scopes[0].decls.len(), 2);
}

#[test]
fn old_ways() {
    let text = "\
      subroutine old(a, n)
      integer n, i, a(n), b, c(2)
      equivalence (b, c(1))
      data b /3/
      entry other(x)
      do 10 i = 1, n
      if (a(i)) 10, 5, 20
    5 a(i) = b
   10 continue
   20 return
      end
";
    let variables = "  a(n) integer Parameter\n  n integer Parameter\n  i integer Variable\n  \
                     b integer Variable target save static\n  c(2) integer Variable target\n  x ? Parameter\n";
    assert_eq!(scopes(text), format!("Procedure old in \n{variables}"));
    insta::assert_snapshot!(tree(text));
}

#[test]
fn only_what_is_wrong_is_an_error() {
    let text = "subroutine a(x, *)\nx = 1\nend\nsubroutine b\nx = 1 2\nend\nsubroutine c\nx = 1\nend\n";
    let unit = read(text);
    let wrong: Vec<bool> = unit.functions.iter().map(|function| function.has_error).collect();
    assert_eq!(wrong, [false, true, false]);
}

#[test]
fn lines_of_the_preprocessor() {
    let text = "program p\ninteger :: i\ni = 1\n#ifdef A\ni = 2\n#else\ni = 3\n#endif\nend\n";
    assert_eq!(tree(text), "p\n  i = 1\n  if lit\n    i = 2\n    if lit\n      i = 3\n");
}

#[test]
fn deep_and_long() {
    let mut long = String::from("if (a) then\n");
    for _ in 0..20_000 {
        long.push_str("else if (b) then\nc = 1\n");
    }
    long.push_str("end if\nend\n");
    assert_eq!(read(&long).errors, []);
    let within =
        format!("{}{}end\n", "if (a) then\ndo i = 1, n\n".repeat(3_000), "end do\nend if\n".repeat(3_000));
    assert_eq!(read(&within).errors, []);
    let sum = format!("a = 1{}\nend\n", " + b".repeat(60_000));
    assert_eq!(read(&sum).functions.len(), 1);
    let nested = format!("a = {}1{}\nend\n", "(".repeat(50_000), ")".repeat(50_000));
    assert_eq!(read(&nested).functions.len(), 1);
}
