//! The sources that `docs/speed.md` and `docs/robustness.md` have figures of.
//!
//! Invariant: the same files each time, byte by byte.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Result, files};

/// How long a file with one directive is.
const LONG: usize = 10_000_000;

/// How long a file is whose procedures all have directives.
const RICH: usize = 1_000_000;

/// The modules of the tree, and its other files, half of them in Fortran, half in C.
const MODULES: usize = 157;
const OTHERS: usize = 3000;

/// How long a file of the tree is.
const SHORT: usize = 20_000;

/// One of so many files of the tree has directives.
const DIRECTED: usize = 10;

/// A way to write a procedure of this number.
type Make = fn(usize) -> String;

/// Writes all of them into a folder.
pub fn write(folder: &Path) -> Result<()> {
    let one: [(&str, Make, String); 3] = [
        ("one.c", plain_c, format!("{HEAD_C}{CONSTRUCT_C}")),
        ("one.cpp", plain_cpp, format!("{HEAD_CPP}{CONSTRUCT_C}")),
        ("one.f90", plain_fortran, CONSTRUCT_FORTRAN.to_owned()),
    ];
    for (name, make, construct) in one {
        let (mut before, mut after) = (String::new(), String::new());
        for number in 0.. {
            let text = if number % 2 == 0 { &mut before } else { &mut after };
            text.push_str(&make(number));
            if before.len() + after.len() >= LONG {
                break;
            }
        }
        files::write(&folder.join(name), whole(name, &construct, &before, &after).as_bytes())?;
    }
    files::write(&folder.join("rich.c"), repeated(HEAD_C, rich_c, RICH).as_bytes())?;
    files::write(&folder.join("rich.f90"), repeated("", rich_fortran, RICH).as_bytes())?;
    files::write(&folder.join("branches.c"), (0..400).map(branches).collect::<String>().as_bytes())?;
    tree(&folder.join("tree"))
}

/// A file with its construct in the middle.
fn whole(name: &str, construct: &str, before: &str, after: &str) -> String {
    match name.ends_with(".f90") {
        true => format!("{before}{construct}{after}"),
        // What the head declares stands before all.
        false => {
            let (head, construct) = construct.split_at(construct.find("void device").unwrap_or(0));
            format!("{head}{before}{construct}{after}")
        }
    }
}

fn repeated(head: &str, make: Make, length: usize) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&make(number));
    }
    text
}

/// Modules that use four others each, files that use modules, and files in C that include a header.
fn tree(folder: &Path) -> Result<()> {
    for number in 0..MODULES {
        let used = (1..=4).filter_map(|back| number.checked_sub(back * back));
        let uses: String = used.map(|other| format!("  use part{other}, only: grid{other}\n")).collect();
        let mut text = format!(
            "module part{number}\n{uses}  implicit none\n  real, allocatable :: grid{number}(:)\ncontains\n"
        );
        let first = number * 1000;
        for procedure in first.. {
            if text.len() >= SHORT {
                break;
            }
            text.push_str(&plain_fortran(procedure));
        }
        let _ = writeln!(text, "end module");
        files::write(&folder.join(format!("modules/part{number}.f90")), text.as_bytes())?;
    }
    let declared = "extern double scale;\ndouble weight(int i);\n";
    files::write(&folder.join("c/common.h"), declared.as_bytes())?;
    for number in 0..OTHERS {
        let (name, text) = match number % 2 {
            0 => (format!("fortran/user{number}.f90"), user(number)),
            _ => {
                let head = format!("#include \"common.h\"\n{HEAD_C}");
                let rest = repeated(&head, plain_c, SHORT - 1000);
                let construct = if has_directives(number) { rich_c(number) } else { String::new() };
                (format!("c/user{number}.c"), format!("{rest}{construct}"))
            }
        };
        files::write(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Whether a file of the tree has directives: of both languages, the same share.
fn has_directives(number: usize) -> bool {
    (number / 2).is_multiple_of(DIRECTED)
}

/// A file that uses three modules.
fn user(number: usize) -> String {
    let used = [0, 5, 11].map(|more| (number + more) % MODULES);
    let uses: String = used.iter().map(|module| format!("  use part{module}\n")).collect();
    let construct =
        rich_fortran(number).replacen("  implicit none\n", &format!("{uses}  implicit none\n"), 1);
    repeated(&construct, plain_fortran, SHORT)
}

/// A procedure calls the first one of its dozen.
fn first(number: usize) -> usize {
    number - number % 12
}

const HEAD_C: &str = "#include <math.h>\n#include <stdio.h>\n\n";

const HEAD_CPP: &str = "#include <cmath>\n#include <cstdio>\n#include <vector>\n\nclass Field {\npublic:\n    explicit Field(int n) : values(n) {}\n    double at(int i) const { return values[i]; }\nprivate:\n    std::vector<double> values;\n};\n\ntemplate <class T>\nT larger(T one, T other) {\n    return one < other ? other : one;\n}\n\n";

const CONSTRUCT_C: &str = "void device(int count, double *target) {\n#pragma acc parallel loop copy(target[0:count])\n    for (int index = 0; index < count; index++)\n        target[index] = 2.0 * target[index] + 1.0;\n}\n\n";

const CONSTRUCT_FORTRAN: &str = "subroutine device(count, target)\n  implicit none\n  integer, intent(in) :: count\n  real(8), intent(inout) :: target(count)\n  integer :: index\n  !$acc parallel loop copy(target)\n  do index = 1, count\n    target(index) = 2.0d0 * target(index) + 1.0d0\n  end do\nend subroutine\n\n";

/// 25 lines without directives.
fn plain_c(number: usize) -> String {
    let first = first(number);
    format!(
        "static double work{number}(int n, const double *in, double *out, int mode)
{{
    double sum = 0.0, largest = in[0];
    int i, j, found = -1; /* where the largest one is */
    for (i = 0; i < n; i++) {{
        double x = in[i] * {number}.5 + i;
        if (x > largest) {{
            largest = x;
            found = i;
        }} else if (x < -1.0) {{
            x = sqrt(fabs(x));
        }}
        out[i] = x;
        sum += x;
    }}
    for (j = n - 1; j > 0 && mode != 0; j--) {{
        out[j] -= 0.5 * out[j - 1];
        while (out[j] > 100.0)
            out[j] /= 2.0;
    }}
    if (mode == 2 && n > {first})
        printf(\"%d: %f {{ at %d\\n\", n, sum, found); // \"}}\"
    return {call} + sum / (n > 0 ? n : 1);
}}

",
        call = if first == number { "0.0".to_owned() } else { format!("work{first}(n / 2, in, out, 0)") }
    )
}

/// The same in C++.
fn plain_cpp(number: usize) -> String {
    let first = first(number);
    format!(
        "static double work{number}(const std::vector<double> &in, std::vector<double> &out, int mode = 1)
{{
    double sum = 0.0, largest = in.front();
    std::size_t found = 0; // where the largest one is
    for (std::size_t i = 0; i < in.size(); ++i) {{
        double x = in[i] * {number}.5 + static_cast<double>(i);
        if (x > largest) {{
            largest = x;
            found = i;
        }} else if (x < -1'000.0) {{
            x = std::sqrt(std::fabs(x));
        }}
        out.at(i) = x;
        sum += x;
    }}
    for (auto &value : out) {{
        value -= 0.5 * sum;
        while (value > 100.0)
            value /= 2.0;
    }}
    if (mode == 2 && in.size() > {first})
        std::printf(R\"(%d: %f {{ at %d)\", mode, sum, static_cast<int>(found)); // \"}}\"
    return {call} + sum;
}}

",
        call = if first == number { "0.0".to_owned() } else { format!("work{first}(in, out)") }
    )
}

/// The same in Fortran.
fn plain_fortran(number: usize) -> String {
    let first = first(number);
    format!(
        "subroutine work{number}(n, in, out, mode)
  implicit none
  integer, intent(in) :: n, mode
  real(8), intent(in) :: in(n)
  real(8), intent(out) :: out(n)
  real(8) :: x, total, largest
  integer :: i, found ! where the largest one is
  total = 0.0d0; largest = in(1)
  do i = 1, n
    x = in(i) * {number}.5d0 + i
    if (x > largest) then
      largest = x
      found = i
    else if (x < -1.0d0) then
      x = sqrt(abs(x)) &
        + 0.5d0
    end if
    out(i) = x
    total = total + x
  end do
  where (out > 100.0d0)
    out = out / 2
  end where
  if (mode == 2) print *, 'end subroutine', n, total, found
  {call}
end subroutine

",
        call = if first == number {
            "return".to_owned()
        } else {
            format!("call work{first}(n / 2, in, out, 0)")
        }
    )
}

/// A procedure with most of what OpenACC has.
fn rich_c(number: usize) -> String {
    format!(
        "double rich{number}(int n, int m, double *restrict a, double *restrict b, int *restrict bins)
{{
    double sum = 0.0;
#pragma acc data copy(a[0:n*m]) copyin(b[0:n*m]) create(bins[0:64])
    {{
#pragma acc parallel loop gang collapse(2) present(a, b)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                a[i * m + j] = 0.25 * (b[i * m + j - 1] + b[i * m + j + 1]);
#pragma acc parallel present(a) async(1)
        {{
#pragma acc loop gang reduction(+:sum)
            for (int i = 0; i < n; i++) {{
#pragma acc loop vector reduction(+:sum)
                for (int j = 0; j < m; j++)
                    sum += a[i * m + j];
            }}
        }}
#pragma acc wait(1)
#pragma acc kernels present(a, b)
        {{
            for (int i = 0; i < n * m; i++)
                a[i] = a[i] + {number} * b[i];
        }}
#pragma acc update self(a[0:n])
#pragma acc parallel loop present(a, bins)
        for (int i = 0; i < n; i++) {{
            int k = (int)a[i] & 63;
#pragma acc atomic update
            bins[k] += 1;
        }}
#pragma acc serial present(a)
        {{
            a[0] = a[1];
        }}
    }}
    return sum;
}}

"
    )
}

/// The same in Fortran.
fn rich_fortran(number: usize) -> String {
    format!(
        "subroutine rich{number}(n, m, a, b, bins, total)
  implicit none
  integer, intent(in) :: n, m
  real(8), intent(inout) :: a(n, m), b(n, m)
  integer, intent(inout) :: bins(64)
  real(8), intent(out) :: total
  integer :: i, j, k
  total = 0
  !$acc data copy(a) copyin(b) create(bins)
  !$acc parallel loop gang collapse(2) present(a, b)
  do j = 2, m - 1
    do i = 2, n - 1
      a(i, j) = 0.25d0 * (b(i - 1, j) + b(i + 1, j))
    end do
  end do
  !$acc parallel present(a) async(1)
  !$acc loop gang reduction(+:total)
  do j = 1, m
    !$acc loop vector reduction(+:total)
    do i = 1, n
      total = total + a(i, j)
    end do
  end do
  !$acc end parallel
  !$acc wait(1)
  !$acc kernels present(a, b)
  a(:, :) = a(:, :) + {number} * b(:, :)
  do i = 1, n
    b(i, 1) = a(i, 1)
  end do
  !$acc end kernels
  !$acc update self(a(1:n, 1))
  !$acc parallel loop present(a, bins)
  do i = 1, n
    k = 1 + mod(int(a(i, 1)), 64)
    !$acc atomic update
    bins(k) = bins(k) + 1
  end do
  !$acc serial present(a)
  a(1, 1) = a(2, 1)
  !$acc end serial
  !$acc end data
end subroutine

"
    )
}

/// A construct in each branch of a condition.
fn branches(number: usize) -> String {
    let construct = |value: usize| {
        format!("#pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++) a[i] += {value};\n")
    };
    format!(
        "void pair{number}(int n, double *a)\n{{\n#ifdef WITH{number}\n{}#else\n{}#endif\n}}\n\n",
        construct(number),
        construct(number + 1)
    )
}
