//! Every cell of OpenACC's tables, directive by clause, has a rule for each version of OpenMP, or a diagnostic.
//!
//! Invariant: the cells are enumerated from `rules/lang/openacc.toml`, not from the pages.

use acc2omp::rules::{self, Page, openacc};
use acc2omp::source::{Form, Language};
use acc2omp::{Options, Queues, Source, Version, translate};

/// Fortran's `end` directives have no clauses of ours.
pub fn directives() -> impl Iterator<Item = &'static openacc::Directive> {
    openacc::table().directives.iter().filter(|directive| !directive.name.starts_with("end"))
}

pub fn page(clause: &str) -> Option<&'static Page> {
    rules::rules().pages().find(|page| page.entry == format!("clause/{clause}"))
}

#[test]
fn every_clause_of_a_directive_has_a_rule_for_it() {
    let mut cells = 0;
    let mut holes = Vec::new();
    for directive in directives() {
        for clause in &directive.clauses {
            cells += 1;
            let on = |page: &Page| page.on.contains(&directive.name);
            if !page(clause).is_some_and(on) {
                holes.push(format!("{} × {clause}", directive.name));
            }
        }
    }
    assert!(cells > 200, "the table has {cells} cells");
    assert!(holes.is_empty(), "no rule for {holes:#?}");
}

/// A clause as somebody would write it.
pub fn written(directive: &str, clause: &str) -> String {
    let list = matches!(directive, "data" | "enter data" | "exit data" | "update" | "declare");
    match clause {
        "if" | "self" if directive == "update" && clause == "self" => "self(a)".to_owned(),
        "if" | "self" | "num_workers" | "vector_length" | "num_gangs" | "device_num" | "default_async" => {
            format!("{clause}(n)")
        }
        "async" | "wait" | "gang" | "worker" | "vector" | "seq" | "independent" | "auto" | "finalize"
        | "if_present" | "nohost" | "read" | "write" | "update" | "capture" => clause.to_owned(),
        "device_type" => "device_type(nvidia)".to_owned(),
        "default" => "default(present)".to_owned(),
        "collapse" => "collapse(1)".to_owned(),
        "tile" => "tile(4)".to_owned(),
        "bind" => "bind(other)".to_owned(),
        "reduction" => "reduction(+:s)".to_owned(),
        "private" | "firstprivate" if !list => format!("{clause}(s)"),
        "deviceptr" | "attach" | "detach" | "use_device" => format!("{clause}(p)"),
        _ => format!("{clause}(a)"),
    }
}

/// A program in C with the directive where it may stand.
pub fn in_c(directive: &openacc::Directive, clauses: &str) -> String {
    let pragma = format!("#pragma acc {} {clauses}", directive.name);
    let globals = "double a[100]; double other(double x);";
    let function = |body: &str| {
        format!(
            "{globals}\nvoid f(int n, double *p)\n{{\n    double s = 0, x = 0;\n{body}\n    a[0] = s + x;\n}}\n"
        )
    };
    let loops = "    for (int i = 0; i < 100; i++)\n        a[i] += p[i];";
    match directive.name.as_str() {
        "routine" => format!("{globals}\n{pragma}\ndouble g(double x) {{ return x; }}\n"),
        "declare" => format!("{globals}\n{pragma}\n"),
        "loop" => function(&format!("#pragma acc parallel copy(a)\n{{\n{pragma}\n{loops}\n}}")),
        "atomic" => {
            let statement = match clauses {
                "read" => "x = s;",
                "write" => "s = x;",
                "capture" => "x = s++;",
                _ => "s += 1;",
            };
            function(&format!(
                "#pragma acc parallel loop copy(a, s)\nfor (int i = 0; i < 100; i++) {{\n{pragma}\n{statement}\n}}"
            ))
        }
        "cache" => function(
            "#pragma acc parallel loop copy(a)\nfor (int i = 0; i < 100; i++) {\n#pragma acc cache(a)\na[i] += 1;\n}",
        ),
        name if name.ends_with("loop") => function(&format!("{pragma}\n{loops}")),
        "parallel" | "serial" | "kernels" | "data" | "host_data" => {
            function(&format!("{pragma}\n    {{\n{loops}\n    }}"))
        }
        _ => function(&pragma),
    }
}

/// A clause as somebody would write it in Fortran.
fn written_in_fortran(directive: &str, clause: &str) -> String {
    match clause {
        "if" => "if(n > 1)".to_owned(),
        "self" if directive != "update" => "self(n > 1)".to_owned(),
        _ => written(directive, clause),
    }
}

/// A program in Fortran with the directive where it may stand.
fn in_fortran(directive: &openacc::Directive, clauses: &str) -> String {
    let name = directive.name.as_str();
    let line = format!("!$acc {name} {clauses}");
    let module = |declared: &str, routine: &str, body: &str| {
        format!(
            "module cells\n  implicit none\n  real(8) :: a(100)\n{declared}contains\n\
             function g(x)\n{routine}    real(8), intent(in) :: x\n    real(8) :: g\n    g = x\nend function g\n\
             subroutine f(n, p)\n    integer, intent(in) :: n\n    real(8), pointer :: p(:)\n    real(8) :: s, x\n    integer :: i\n\
             s = 0\n    x = 0\n{body}    a(1) = s + x\nend subroutine f\nend module cells\n"
        )
    };
    let function = |body: &str| module("", "", body);
    let loops = "    do i = 1, 100\n        a(i) = a(i) + p(i)\n    end do\n";
    let in_loop = |data: &str, inside: &str| {
        let head = format!("!$acc parallel loop {data}\n    do i = 1, 100\n");
        function(&format!("{head}{line}\n{inside}    end do\n"))
    };
    match name {
        "routine" => module("", &format!("{line}\n"), ""),
        "declare" => module(&format!("{line}\n"), "", ""),
        "loop" => function(&format!("!$acc parallel copy(a)\n{line}\n{loops}!$acc end parallel\n")),
        "atomic" => in_loop(
            "copy(a, s)",
            match clauses {
                "read" => "x = s\n",
                "write" => "s = x\n",
                "capture" => "x = s\ns = s + 1\n!$acc end atomic\n",
                _ => "s = s + 1\n",
            },
        ),
        "cache" => in_loop("copy(a)", "a(i) = a(i) + 1\n"),
        _ if name.ends_with("loop") => function(&format!("{line}\n{loops}")),
        "parallel" | "serial" | "kernels" | "data" | "host_data" => {
            function(&format!("{line}\n{loops}!$acc end {name}\n"))
        }
        _ => function(&format!("{line}\n")),
    }
}

/// The cells whose directive is left untranslated without a word, or translated to what does not parse.
fn silent(
    language: Language,
    written: fn(&str, &str) -> String,
    program: fn(&openacc::Directive, &str) -> String,
) -> Vec<String> {
    let sentinel = if language.is_fortran() { "!$acc" } else { "#pragma acc" };
    let mut silent = Vec::new();
    for directive in directives() {
        for clause in &directive.clauses {
            let mut clauses = written(&directive.name, clause);
            for group in directive.any.iter().filter(|group| !group.contains(clause)) {
                clauses = format!("{clauses} {}", written(&directive.name, &group[0]));
            }
            let text = program(directive, &clauses);
            for version in [45, 50, 51, 52].map(Version) {
                for queues in [Queues::Kept, Queues::Dropped] {
                    let source = Source::new("cell", text.clone().into_bytes(), language);
                    let options = Options { omp: version, queues, ..Options::default() };
                    let translation = translate(&source, &options);
                    let left = String::from_utf8_lossy(&translation.text).contains(sentinel);
                    let bug = translation.diagnostics.iter().any(|diag| diag.code.0 >= 900);
                    if bug || (left && translation.diagnostics.is_empty()) {
                        silent.push(format!("{} × {clause} at {version:?}:\n{text}", directive.name));
                    }
                }
            }
        }
    }
    silent
}

#[test]
fn every_cell_is_translated_or_spoken_of() {
    let silent = silent(Language::C, written, in_c);
    assert!(silent.is_empty(), "left without a word: {}", silent.join("\n"));
}

#[test]
fn every_cell_of_fortran_is_translated_or_spoken_of() {
    let silent = silent(Language::Fortran(Form::Free), written_in_fortran, in_fortran);
    assert!(silent.is_empty(), "left without a word: {}", silent.join("\n"));
}
