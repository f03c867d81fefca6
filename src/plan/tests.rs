//! Plans: the check of their invariants finds what is wrong, and nothing in what the plan's room makes.
//!
//! Invariant: a broken plan is a sound one with one change. (That the plans of all fixtures and examples are sound is checked
//! where they are made: debug builds assert it.)

use crate::acc;
use crate::bind::{self, Bound};
use crate::host::{self, ir::Unit};
use crate::plan::{
    self, Attribute, Division, Fault, Gangs, Item, KernelsPart, Launch, Plan, Preference, Settings, Sharing,
    WorkLoop,
};
use crate::scan::{self, View};
use crate::sema::{Facts, Others, Symbols};
use crate::source::{Language, SourceFile};

/// A program of C with its plan.
struct Planned {
    unit: Unit,
    symbols: Symbols,
    bound: Vec<Bound>,
    plan: Plan,
}

impl Planned {
    fn faults(&self) -> Vec<Fault> {
        plan::check(&self.unit, &self.symbols, &self.bound, &self.plan)
    }

    fn launch(&mut self, at: usize) -> &mut Launch {
        match &mut self.plan.items[at] {
            Item::Launch(launch) => launch,
            other => unreachable!("{other:?}"),
        }
    }

    fn work_loop(&mut self, at: usize) -> &mut WorkLoop {
        match &mut self.plan.items[at] {
            Item::Loop(work) => work,
            other => unreachable!("{other:?}"),
        }
    }
}

fn planned(text: &str) -> Planned {
    let file = SourceFile::new("a.c".to_owned(), text.as_bytes().to_vec(), Language::C);
    let (scan, _) = scan::scan(&file, &View::default());
    let unit = host::parse(&file, &scan);
    let directives = scan.directives.iter().enumerate();
    let parsed = directives.filter_map(|(at, text)| Some((at, acc::parse(&file, text).0?))).collect();
    let (bound, _) = bind::bind(&unit, &scan.directives, parsed, &bind::Regions::default());
    let symbols = Symbols::new(&unit, &file.bytes, Others::default(), &[]);
    let preference = Preference {
        collapse_tight: false,
        flat_from: None,
        short_trip: 4,
        variable_length_inside: Ok(()),
        loses_address_bounds: false,
        tiles: true,
        strips: false,
        exchanges: false,
        team_tables: false,
        team_sums: false,
        elements_lead: false,
        orders_nests: false,
        not_equal: Ok(()),
    };
    let settings = Settings {
        device_type: "nvidia".to_owned(),
        preference,
        queues: false,
        asks: true,
        as_written: false,
        routines: plan::Routines::default(),
        queued_elsewhere: Vec::new(),
    };
    let facts = Facts::new(&file, &unit, &symbols, &[], false);
    let settled = plan::settle(&facts, bound, &settings);
    let (plan, _) = plan::plan(&file, &unit, &symbols, &settled.bound, &[], &settled.reached, &settings);
    Planned { unit, symbols, bound: settled.bound, plan }
}

/// The faults of the plan of `text` once `change` has broken it: without the change it has none.
fn broken(text: &str, change: impl FnOnce(&mut Planned)) -> Vec<Fault> {
    let mut planned = planned(text);
    assert_eq!(planned.faults(), []);
    change(&mut planned);
    planned.faults()
}

/// Gangs and lanes on two loops with a statement between, and a sum through both.
const SUMS: &str = "\
double f(int n, double x[100][100], double *y) {
    double s = 0.0;
#pragma acc parallel copy(x[0:100][0:100], y[0:n])
    {
        double start = 0.0;
#pragma acc loop gang reduction(+:s)
        for (int i = 0; i < n; i++) {
            y[i] = start;
#pragma acc loop vector reduction(+:s)
            for (int j = 0; j < n; j++)
                s += x[i][j];
        }
    }
    return s;
}
";

/// A `kernels` region of two loops, and a statement between them.
const PARTS: &str = "\
void f(int n, double *restrict x, double *restrict y) {
#pragma acc kernels copy(x[0:n], y[0:n])
    {
#pragma acc loop independent
        for (int i = 0; i < n; i++)
            x[i] = 1.0;
        x[0] = 2.0;
#pragma acc loop independent
        for (int i = 0; i < n; i++)
            y[i] = x[i];
    }
}
";

const COLLAPSED: &str = "\
void f(int n, double x[100][100]) {
#pragma acc parallel loop collapse(2) copy(x[0:100][0:100])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = 1.0;
}
";

#[test]
fn an_item_for_each_directive() {
    assert_eq!(broken(SUMS, |it| drop(it.plan.items.pop())), [Fault::Items]);
    assert_eq!(broken(SUMS, |it| it.plan.items[1] = Item::Routine { end: None }), [Fault::WrongKind(1)]);
    assert_eq!(broken(SUMS, |it| it.launch(0).directive = 7), [Fault::OutOfRange(7)]);
    assert_eq!(broken(PARTS, |it| it.plan.inserted[0].0 = 9), [Fault::OutOfRange(9)]);
}

#[test]
fn a_construct_is_translated_whole_or_not_at_all() {
    let left = broken(SUMS, |it| it.plan.items[0] = Item::Left);
    assert!(left.contains(&Fault::PartOfUntranslated(0)), "{left:?}");
    let gone = broken(COLLAPSED, |it| it.plan.items[0] = Item::Gone);
    assert_eq!(gone, [Fault::NotRun(0), Fault::Forgotten(0)]);
}

#[test]
fn the_launches_of_a_construct_run_each_statement_once() {
    assert_eq!(broken(PARTS, |it| it.plan.items[1] = Item::Gone), [Fault::Forgotten(0)]);
    assert_eq!(broken(PARTS, |it| drop(it.plan.inserted.pop())), [Fault::Forgotten(0)]);
    let twice = broken(PARTS, |it| {
        if let Some(first) = it.bound[1].stmt() {
            it.plan.inserted[0].1 = first;
        }
    });
    assert_eq!(twice, [Fault::RunTwice(0), Fault::Forgotten(0)]);
    assert_eq!(broken(PARTS, |it| it.launch(1).directive = 2), [Fault::NotInside(1), Fault::Forgotten(0)]);
}

#[test]
fn levels_go_inward() {
    assert_eq!(broken(SUMS, |it| it.work_loop(2).spread.gangs = true), [Fault::LevelTaken(2)]);
    assert_eq!(broken(SUMS, |it| it.work_loop(2).spread.lanes = false), [Fault::NoLevel(2)]);
    assert_eq!(broken(SUMS, |it| it.launch(0).gangs = Gangs::One), [Fault::LevelTaken(1)]);
}

#[test]
fn each_loop_is_divided_by_levels_that_go_inward() {
    let division = |change: fn(&mut Division)| {
        broken(SUMS, |it| it.plan.divisions.values_mut().filter(|one| one.directives == [2]).for_each(change))
    };
    assert_eq!(division(|one| one.levels.gang = true), [Fault::LevelTaken(2)]);
    assert_eq!(division(|one| one.tile = vec!["4".to_owned(); 2]), [Fault::NotNested(2)]);
    assert_eq!(division(|one| one.stmts.push(one.stmts[0])), [Fault::NotNested(2)]);
    assert_eq!(broken(SUMS, |it| it.plan.divisions.clear()), [Fault::Undivided(1), Fault::Undivided(2)]);
}

#[test]
fn two_constructs_of_one_loop_leave_no_loop_undivided() {
    let text = "void f(int n, float x[9][9]) {\n#pragma acc parallel loop\n#pragma acc serial loop\n\
        for (int i = 0; i < n; i++)\n#pragma acc loop\nfor (int j = 0; j < n; j++) x[i][j] = 1;\n}\n";
    assert_eq!(levels(text), [(vec![0], "gwv".to_owned()), (vec![2], String::new())]);
}

/// The levels that divide the loops of a program, in the order of their directives.
fn levels(text: &str) -> Vec<(Vec<usize>, String)> {
    let planned = planned(text);
    assert_eq!(planned.faults(), []);
    let mut all: Vec<(Vec<usize>, String)> = (planned.plan.divisions.values())
        .map(|one| {
            let names = [(one.levels.gang, "g"), (one.levels.worker, "w"), (one.levels.vector, "v")];
            let names = names.into_iter().filter(|(has, _)| *has).map(|(_, name)| name);
            (one.directives.clone(), names.collect())
        })
        .collect();
    all.sort();
    all
}

/// A function with two nested loops under these directives.
fn nested(construct: &str, outer: &str, inner: &str) -> String {
    format!(
        "void f(int n, double x[100][100]) {{\n#pragma acc {construct}\n{{\n#pragma acc loop {outer}\n\
         for (int i = 0; i < n; i++) {{\nx[i][0] = 0.0;\n#pragma acc loop {inner}\n\
         for (int j = 1; j < n; j++)\nx[i][j] = 1.0;\n}}\n}}\n}}\n"
    )
}

#[test]
fn levels_as_openacc_gives_them_to_loops() {
    let of = |construct: &str, outer: &str, inner: &str| {
        let found = levels(&nested(construct, outer, inner));
        found.into_iter().map(|(_, levels)| levels).collect::<Vec<String>>()
    };
    assert_eq!(of("parallel", "", ""), ["gw", "v"]);
    assert_eq!(of("parallel", "gang", "vector"), ["g", "wv"]);
    assert_eq!(of("parallel", "gang worker", "vector"), ["gw", "v"]);
    assert_eq!(of("parallel", "gang", "seq"), ["gwv", ""]);
    assert_eq!(of("parallel", "seq", "gang"), ["", "gwv"]);
    assert_eq!(of("parallel num_gangs(4)", "worker", "vector"), ["gw", "v"]);
    assert_eq!(of("parallel num_gangs(1)", "worker", "vector"), ["w", "v"]);
    assert_eq!(of("kernels", "independent", "independent"), ["gw", "v"]);
    assert_eq!(of("serial", "gang", "vector"), ["", ""]);
}

#[test]
fn levels_of_loops_that_run_as_one_and_of_routines() {
    assert_eq!(levels(COLLAPSED), [(vec![0], "gwv".to_owned())]);
    let tight = "void f(int n, double x[100][100]) {\n#pragma acc parallel loop\n\
                 for (int i = 0; i < n; i++)\n#pragma acc loop\nfor (int j = 0; j < n; j++)\nx[i][j] = 1.0;\n}\n";
    assert_eq!(levels(tight), [(vec![0, 1], "gwv".to_owned())]);
    let routine = "#pragma acc routine worker\nvoid f(int n, double *x) {\n#pragma acc loop\n\
                   for (int i = 0; i < n; i++)\nx[i] = 1.0;\n}\n";
    assert_eq!(levels(routine), [(vec![1], "wv".to_owned())]);
}

#[test]
fn loops_that_run_as_one_are_there() {
    let nest =
        |change: fn(&mut WorkLoop)| broken(COLLAPSED, |it| it.launch(0).nest.iter_mut().for_each(change));
    assert_eq!(nest(|work| work.collapse = 3), [Fault::NotNested(0)]);
    assert_eq!(nest(|work| work.tile = vec!["8".to_owned()]), [Fault::NotNested(0)]);
}

#[test]
fn a_variable_has_one_role() {
    let twice = broken(SUMS, |it| {
        let item = "s".to_owned();
        let entry = "implicit/scalar-temporary";
        it.launch(0).attributes.push(Attribute { sharing: Sharing::Private, item, entry });
    });
    assert_eq!(twice, [Fault::TwoRoles(0, "s".to_owned())]);
}

#[test]
fn a_reduction_is_named_on_all_loops_between() {
    let lost = broken(SUMS, |it| it.work_loop(1).attributes.clear());
    assert_eq!(lost, [Fault::NotReducedThrough(1, "s".to_owned())]);
}

/// The variables that the divided loops of a program reduce, in the order of their directives.
fn reduced(text: &str) -> Vec<Vec<String>> {
    let planned = planned(text);
    assert_eq!(planned.faults(), []);
    let mut all: Vec<(usize, Vec<String>)> = (planned.plan.divisions.values())
        .map(|one| (one.directives[0], one.reductions.iter().map(|(_, item)| item.text.clone()).collect()))
        .collect();
    all.sort();
    all.into_iter().map(|(_, names)| names).collect()
}

/// A sum by two nested loops under these directives; `first` stands at the beginning of an outer iteration.
fn sum(construct: &str, outer: &str, first: &str, inner: &str) -> Vec<Vec<String>> {
    reduced(&format!(
        "double f(int n, double x[100][100]) {{\ndouble s = 0.0, t = 0.0;\n#pragma acc {construct}\n{{\n\
         #pragma acc loop {outer}\nfor (int i = 0; i < n; i++) {{\n{first}\n#pragma acc loop {inner}\n\
         for (int j = 1; j < n; j++)\ns += x[i][j];\nt = s;\n}}\n}}\nreturn s + t;\n}}\n"
    ))
}

#[test]
fn reductions_pass_through_the_loops_between() {
    let (of_s, none): (Vec<String>, Vec<String>) = (vec!["s".to_owned()], Vec::new());
    // Of the construct: all loops that change the variable.
    assert_eq!(sum("parallel reduction(+:s)", "gang", "", "vector"), [of_s.clone(), of_s.clone()]);
    // From outside to inside, and from inside to outside, where the value is carried on.
    assert_eq!(sum("parallel", "gang reduction(+:s)", "", "vector"), [of_s.clone(), of_s.clone()]);
    assert_eq!(sum("parallel", "gang", "", "vector reduction(+:s)"), [of_s.clone(), of_s.clone()]);
    // Each outer iteration begins anew, or has its own variable.
    assert_eq!(sum("parallel", "gang", "s = 0.0;", "vector reduction(+:s)"), [none.clone(), of_s.clone()]);
    assert_eq!(sum("parallel", "gang private(s)", "", "vector reduction(+:s)"), [none, of_s]);
}

#[test]
fn the_parts_of_kernels() {
    let parts = |body: &str| {
        let text =
            format!("void f(int n, double *x, double *y) {{\n#pragma acc kernels\n{{\n{body}\n}}\n}}\n");
        let planned = planned(&text);
        assert_eq!(planned.faults(), []);
        let shown = planned.plan.kernels[&0].iter().map(|part| match part {
            KernelsPart::Launch { directive: Some(_), .. } => "loop",
            KernelsPart::Launch { directive: None, .. } => "one thread",
            KernelsPart::Output(_) => "output",
            KernelsPart::Host { .. } => "host",
        });
        shown.collect::<Vec<&str>>()
    };
    const LOOP: &str = "#pragma acc loop independent\nfor (int i = 0; i < n; i++)\nx[i] = y[i];";
    assert_eq!(parts(LOOP), ["loop"]);
    assert_eq!(parts(&format!("{LOOP}\nx[0] = 1.0;\n{LOOP}")), ["loop", "one thread", "loop"]);
    assert_eq!(parts(&format!("for (int k = 0; k < 3; k++) {{\n{LOOP}\n}}")), ["host"]);
    assert_eq!(parts("x[0] = 1.0;\nx[1] = x[0];"), ["one thread"]);
}
