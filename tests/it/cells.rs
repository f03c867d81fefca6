//! Every cell of OpenACC's tables, directive by clause, has a rule for each version of OpenMP, or a diagnostic.
//!
//! Invariant: the cells are enumerated from `rules/lang/openacc.toml`, not from the pages.

use acc2omp::rules::{self, Page, openacc};
use acc2omp::source::Language;
use acc2omp::{Options, Queues, Source, Version, translate};

/// Fortran's `end` directives have no clauses of ours.
fn directives() -> impl Iterator<Item = &'static openacc::Directive> {
    openacc::table().directives.iter().filter(|directive| !directive.name.starts_with("end"))
}

fn page(clause: &str) -> Option<&'static Page> {
    rules::rules().pages().find(|page| page.entry == format!("clause/{clause}"))
}

#[test]
fn every_clause_of_a_directive_has_a_rule_for_it() {
    let mut cells = 0;
    let mut holes = Vec::new();
    for directive in directives() {
        for clause in &directive.clauses {
            cells += 1;
            let on = |page: &Page| page.on.iter().any(|name| *name == directive.name);
            if !page(clause).is_some_and(on) {
                holes.push(format!("{} × {clause}", directive.name));
            }
        }
    }
    assert!(cells > 200, "the table has {cells} cells");
    assert!(holes.is_empty(), "no rule for {holes:#?}");
}

/// A clause as somebody would write it.
fn written(directive: &str, clause: &str) -> String {
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

/// A program with the directive where it may stand.
fn program(directive: &openacc::Directive, clauses: &str) -> String {
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
        "cache" => function(&format!(
            "#pragma acc parallel loop copy(a)\nfor (int i = 0; i < 100; i++) {{\n#pragma acc cache(a)\na[i] += 1;\n}}"
        )),
        name if name.ends_with("loop") => function(&format!("{pragma}\n{loops}")),
        "parallel" | "serial" | "kernels" | "data" | "host_data" => {
            function(&format!("{pragma}\n    {{\n{loops}\n    }}"))
        }
        _ => function(&pragma),
    }
}

#[test]
fn every_cell_is_translated_or_spoken_of() {
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
                    let source = Source::new("cell.c", text.clone().into_bytes(), Language::C);
                    let options = Options { omp: version, queues, ..Options::default() };
                    let translation = translate(&source, &options);
                    let left = String::from_utf8_lossy(&translation.text).contains("#pragma acc");
                    let bug = translation.diagnostics.iter().any(|diag| diag.code.0 >= 900);
                    if bug || (left && translation.diagnostics.is_empty()) {
                        silent.push(format!("{} × {clause} at {version:?}:\n{text}", directive.name));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "left without a word: {}", silent.join("\n"));
}
