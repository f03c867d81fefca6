//! What the table of `rules/coverage.md` and the pages say of meanings is what the translation reports.
//!
//! Invariant: each page about a routine is tried by a call in Fortran.

use std::collections::BTreeMap;

use acc2omp::diag::{self, Severity};
use acc2omp::rules::{self, Meaning};
use acc2omp::{Form, Language, Options, Source, Span, translate};

use super::{root, text};

/// A statement in Fortran for each routine that has a page.
const CALLS: &[(&str, &str)] = &[
    ("acc_async_test", "l = acc_async_test(1)"),
    ("acc_async_test_all", "l = acc_async_test_all()"),
    ("acc_async_test_all_device", "l = acc_async_test_all_device(0)"),
    ("acc_async_test_device", "l = acc_async_test_device(1, 0)"),
    ("acc_attach", "call acc_attach(a)"),
    ("acc_copyin", "call acc_copyin(a)"),
    ("acc_copyout", "call acc_copyout(a)"),
    ("acc_copyout_finalize", "call acc_copyout_finalize(a)"),
    ("acc_create", "call acc_create(a)"),
    ("acc_delete", "call acc_delete(a)"),
    ("acc_delete_finalize", "call acc_delete_finalize(a)"),
    ("acc_detach", "call acc_detach(a)"),
    ("acc_deviceptr", "p = acc_deviceptr(a)"),
    ("acc_free", "call acc_free(p)"),
    ("acc_get_default_async", "i = acc_get_default_async()"),
    ("acc_get_device_num", "i = acc_get_device_num(acc_device_default)"),
    ("acc_get_device_type", "i = acc_get_device_type()"),
    ("acc_get_num_devices", "i = acc_get_num_devices(acc_device_default)"),
    ("acc_get_property", "s = acc_get_property(0, acc_device_default, acc_property_memory)"),
    (
        "acc_get_property_string",
        "call acc_get_property_string(0, acc_device_default, acc_property_name, text)",
    ),
    ("acc_hostptr", "p = acc_hostptr(q)"),
    ("acc_init", "call acc_init(acc_device_default)"),
    ("acc_init_device", "call acc_init_device(0, acc_device_default)"),
    ("acc_is_present", "l = acc_is_present(a)"),
    ("acc_malloc", "p = acc_malloc(s)"),
    ("acc_map_data", "call acc_map_data(a, p, s)"),
    ("acc_memcpy_d2d", "call acc_memcpy_d2d(p, q, s, 0, 0)"),
    ("acc_memcpy_device", "call acc_memcpy_device(p, q, s)"),
    ("acc_memcpy_from_device", "call acc_memcpy_from_device(a, p, s)"),
    ("acc_memcpy_to_device", "call acc_memcpy_to_device(p, a, s)"),
    ("acc_on_device", "l = acc_on_device(acc_device_host)"),
    ("acc_set_default_async", "call acc_set_default_async(1)"),
    ("acc_set_device_num", "call acc_set_device_num(0, acc_device_default)"),
    ("acc_set_device_type", "call acc_set_device_type(acc_device_host)"),
    ("acc_unmap_data", "call acc_unmap_data(a)"),
    ("acc_update_device", "call acc_update_device(a)"),
    ("acc_update_self", "call acc_update_self(a)"),
    ("acc_wait", "call acc_wait(1)"),
    ("acc_wait_all", "call acc_wait_all()"),
    ("acc_wait_all_async", "call acc_wait_all_async(1)"),
    ("acc_wait_all_device", "call acc_wait_all_device(0)"),
    ("acc_wait_all_device_async", "call acc_wait_all_device_async(0, 1)"),
    ("acc_wait_any", "i = acc_wait_any(2, queues)"),
    ("acc_wait_any_device", "i = acc_wait_any_device(2, queues, 0)"),
    ("acc_wait_async", "call acc_wait_async(1, 2)"),
    ("acc_wait_device", "call acc_wait_device(1, 0)"),
    ("acc_wait_device_async", "call acc_wait_device_async(1, 2, 0)"),
];

/// The codes that a call in Fortran reports.
fn reported(call: &str) -> Vec<String> {
    let program = format!(
        "subroutine s1(a, text, p, q)\n  use openacc\n  use iso_c_binding\n  real, target :: a(8)\n  \
         character(9) :: text\n  type(c_ptr) :: p, q\n  integer :: i, queues(2)\n  integer(8) :: s\n  \
         logical :: l\n  {call}\nend subroutine\n"
    );
    let source = Source::new("x.f90", program.into_bytes(), Language::Fortran(Form::Free));
    let said = translate(&source, &Options::default()).diagnostics;
    said.iter().map(|diag| diag.code.to_string()).collect()
}

/// The usual letter of each routine's page in the column for Fortran.
fn column() -> BTreeMap<String, String> {
    let table = text(root("rules/coverage.md"));
    let rows = table.lines().filter(|line| line.contains("](api/"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let page = cells[0].split("](api/").nth(1).unwrap().split(".md").next().unwrap();
        (page.to_owned(), cells[2].split(' ').next().unwrap().to_owned())
    })
    .collect()
}

#[test]
fn the_column_for_fortran_is_true() {
    let column = column();
    let mut wrong = Vec::new();
    for (name, call) in CALLS {
        let codes = reported(call);
        let is_left = codes.iter().any(|code| code == "A0305");
        let says = column.get(*name).unwrap_or_else(|| panic!("{name} has no row"));
        if is_left != (says == "–") {
            wrong.push(format!("{name}: `{says}`, and `{call}` reports {codes:?}"));
        }
    }
    let untried: Vec<&String> = column
        .keys()
        .filter(|page| *page != "acc_device_t" && !CALLS.iter().any(|(name, _)| name == page))
        .collect();
    assert!(wrong.is_empty() && untried.is_empty(), "{}\nnot tried: {untried:?}", wrong.join("\n"));
}

#[test]
fn a_row_means_what_its_diagnostic_says() {
    let mut wrong = Vec::new();
    for page in rules::rules().pages() {
        for row in &page.rows {
            let Some(code) = row.code else { continue };
            let word = page.entry.split('/').next_back().unwrap();
            let Some(said) = diag::of_code(code, Span::at(0), word) else { continue };
            let meaning = match said.severity {
                Severity::Info => Meaning::Same,
                Severity::Weaker => Meaning::Weaker,
                Severity::Differs => Meaning::Differs,
                Severity::Left | Severity::Bug => Meaning::Refused,
            };
            if meaning != row.meaning {
                wrong.push(format!("{}: {:?}, {code} is {:?}", row.id, row.meaning, said.severity));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
