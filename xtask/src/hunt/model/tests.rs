//! What the model says of small programs.
#![allow(clippy::unwrap_used)]

use super::super::program::{
    Alone, Block, Clause, Compute, DataKind, Dummy, Expr, Flavour, Function, Item, Kind, Loop, Num, Op,
    Place, Program, Stmt, Storage, Type, Var,
};
use super::{Invalid, Lines, Mode, Schedule, Store, expected, run};

/// A program with an array `a` (0) of four, filled with 0 to 3, two numbers `s` (1) and `t` (2), and counters 3 and 4.
fn program(body: Block) -> Program {
    let var = |name: &str, ty: Type| Var {
        name: name.to_owned(),
        ty,
        storage: Storage::Local,
        flavour: Flavour::Plain,
        restrict: false,
        constant: false,
        lower: 0,
        dummy: Dummy::Assumed,
        in_loop: false,
    };
    let int = || Type::Num(Num::Int);
    let mut all = vec![Stmt::Fill { place: Place::Var(0), count: 4, factor: 1, add: 0, modulus: 9 }];
    all.extend(body);
    let entry = Function {
        name: "entry".to_owned(),
        parameters: Vec::new(),
        value: None,
        routine: None,
        declares: Vec::new(),
        is_one_declare: true,
        body: all,
        result: None,
    };
    Program {
        vars: vec![
            var("a", Type::array(&[4], Num::Int)),
            var("s", int()),
            var("t", int()),
            var("i", int()),
            var("j", int()),
        ],
        functions: vec![entry],
        ..Program::default()
    }
}

fn element(subscript: Expr) -> Place {
    Place::Var(0).at(vec![subscript])
}

fn set(place: Place, value: Expr) -> Stmt {
    Stmt::Assign { place, op: None, value, atomic: false }
}

fn add(place: Place, value: Expr) -> Stmt {
    Stmt::Assign { place, op: Some(Op::Add), value, atomic: false }
}

fn counted(counter: usize, directive: Option<Vec<Clause>>, body: Block) -> Stmt {
    let (low, end) = (Expr::Const(0), Expr::Const(4));
    Stmt::Loop(Loop { counter, low, end, step: 1, inclusive: false, directive, body })
}

fn compute(kind: Kind, clauses: Vec<Clause>, body: Block) -> Stmt {
    Stmt::Compute(Compute { kind, clauses, combined: false, body })
}

/// `a[i] += 10` for all elements, in `parallel`.
fn ten(clauses: Vec<Clause>) -> Stmt {
    let body = vec![add(element(Expr::var(3)), Expr::Const(10))];
    compute(Kind::Parallel, clauses, vec![counted(3, Some(Vec::new()), body)])
}

fn data(kind: DataKind) -> Clause {
    Clause::Data(kind, vec![Item::var(0)])
}

fn alone(kind: Alone, clauses: Vec<Clause>) -> Stmt {
    Stmt::Alone { kind, clauses }
}

fn show(var: usize) -> Stmt {
    Stmt::Show { id: 1, place: Place::Var(var), count: 4 }
}

fn separate(body: Block) -> Result<Lines, String> {
    expected(&program(body)).map(|all| all.separate).map_err(|why| why.0)
}

fn shown(values: [i64; 4]) -> Result<Lines, String> {
    Ok(vec![(1, values.to_vec())])
}

fn refused(why: &str) -> Result<Lines, String> {
    Err(why.to_owned())
}

#[test]
fn copies_happen_where_a_lifetime_begins_and_ends() {
    assert_eq!(separate(vec![ten(vec![data(DataKind::Copy)]), show(0)]), shown([10, 11, 12, 13]));
    assert_eq!(separate(vec![ten(vec![data(DataKind::CopyIn)]), show(0)]), shown([0, 1, 2, 3]));
    let undefined = refused("a value is used that was never set");
    assert_eq!(separate(vec![ten(vec![data(DataKind::Create)]), show(0)]), undefined);
    assert_eq!(separate(vec![ten(vec![data(DataKind::Present)])]), refused("data must be present"));
}

#[test]
fn there_are_two_counters() {
    let enter = || alone(Alone::EnterData, vec![data(DataKind::CopyIn)]);
    let exit = || alone(Alone::ExitData, vec![data(DataKind::CopyOut)]);
    assert_eq!(
        separate(vec![enter(), ten(vec![data(DataKind::Copy)]), show(0), exit()]),
        shown([0, 1, 2, 3])
    );
    assert_eq!(
        separate(vec![enter(), ten(vec![data(DataKind::Copy)]), exit(), show(0)]),
        shown([10, 11, 12, 13])
    );
    let twice = vec![enter(), enter(), ten(Vec::new()), exit(), show(0), exit()];
    assert_eq!(separate(twice), shown([0, 1, 2, 3]));
    // The dynamic counter is 0: nothing happens in the region.
    let region =
        Stmt::Data { clauses: vec![data(DataKind::Copy)], body: vec![ten(Vec::new()), exit(), show(0)] };
    assert_eq!(separate(vec![region]), shown([0, 1, 2, 3]));
    assert_eq!(separate(vec![enter()]), refused("a variable goes while it is on the device"));
}

#[test]
fn sharing_memory_hides_transfers() {
    let one = program(vec![ten(vec![data(DataKind::CopyIn)]), show(0)]);
    let all = expected(&one).unwrap();
    assert_eq!(all.shared.unwrap(), vec![(1, vec![10, 11, 12, 13])]);
    assert_eq!(all.serial.unwrap(), vec![(1, vec![10, 11, 12, 13])]);
}

#[test]
fn iterations_that_meet_are_refused() {
    let previous = Expr::Read(element(Expr::binary(Op::Mod, Expr::var(3).plus(3), Expr::Const(4))));
    let body = vec![set(element(Expr::var(3)), previous.clone())];
    let nest = |directive| vec![counted(3, Some(directive), body.clone())];
    let copy = || vec![data(DataKind::Copy)];
    assert!(separate(vec![compute(Kind::Parallel, copy(), nest(Vec::new()))]).is_err());
    assert!(separate(vec![compute(Kind::Kernels, copy(), nest(vec![Clause::Independent]))]).is_err());
    let order = vec![compute(Kind::Kernels, copy(), nest(vec![Clause::Auto])), show(0)];
    assert_eq!(separate(order), shown([3, 3, 3, 3]));
    let twice = vec![set(element(Expr::Const(0)), Expr::Const(1))];
    let two = vec![compute(Kind::Parallel, copy(), vec![counted(3, Some(Vec::new()), twice)])];
    assert_eq!(separate(two), refused("two iterations write one element"));
    let each_gang = compute(Kind::Parallel, copy(), vec![set(element(Expr::Const(0)), Expr::Const(1))]);
    assert_eq!(separate(vec![each_gang]), refused("each gang writes"));
}

#[test]
fn scalars_are_firstprivate_or_copied() {
    let start = || set(Place::Var(1), Expr::Const(5));
    let change = || vec![set(Place::Var(1), Expr::Const(7))];
    let line = |value: i64| Ok(vec![(1, vec![value])]);
    assert_eq!(separate(vec![start(), compute(Kind::Serial, Vec::new(), change()), show(1)]), line(5));
    assert_eq!(separate(vec![start(), compute(Kind::Kernels, Vec::new(), change()), show(1)]), line(7));
    // What threads have of their own is gone after the loop.
    let body = vec![set(Place::Var(2), Expr::var(3)), set(element(Expr::var(3)), Expr::var(2))];
    let nest = counted(3, Some(vec![Clause::Independent]), body);
    let lost =
        vec![set(Place::Var(2), Expr::Const(1)), compute(Kind::Kernels, Vec::new(), vec![nest]), show(2)];
    assert_eq!(separate(lost), refused("a value is used that was never set"));
}

#[test]
fn reductions_combine() {
    let sum = |directive| {
        let body = vec![add(Place::Var(1), Expr::Read(element(Expr::var(3))))];
        vec![
            set(Place::Var(1), Expr::Const(100)),
            Stmt::Compute(Compute {
                kind: Kind::Parallel,
                clauses: vec![data(DataKind::Copy)],
                combined: true,
                body: vec![counted(3, Some(directive), body)],
            }),
            show(1),
        ]
    };
    let reduction = Clause::Reduction(Op::Add, vec![Place::Var(1)]);
    assert_eq!(separate(sum(vec![reduction])), Ok(vec![(1, vec![106])]));
    assert!(separate(sum(Vec::new())).is_err());
}

#[test]
fn queues_may_be_late() {
    let queue = || Clause::Async(Some(Expr::Const(1)));
    let wait = || alone(Alone::Wait, vec![Clause::Wait(vec![Expr::Const(1)])]);
    let late = vec![ten(vec![data(DataKind::Copy), queue()]), wait(), show(0)];
    assert_eq!(separate(late), shown([10, 11, 12, 13]));
    let early = vec![ten(vec![data(DataKind::Copy), queue()]), show(0), wait()];
    assert_eq!(separate(early), refused("the result depends on the order of queues or iterations"));
    let never = vec![ten(vec![data(DataKind::Copy), queue()])];
    assert_eq!(separate(never), refused("a variable goes while it is on the device"));
}

#[test]
fn parts_are_present_or_not() {
    let part = |low: i64, count: i64| Item {
        place: Place::Var(0),
        section: vec![(Expr::Const(low), Expr::Const(count))],
        whole: false,
    };
    let enter =
        |low, count| alone(Alone::EnterData, vec![Clause::Data(DataKind::CopyIn, vec![part(low, count)])]);
    let exit =
        |low, count| alone(Alone::ExitData, vec![Clause::Data(DataKind::Delete, vec![part(low, count)])]);
    let overlap = vec![enter(0, 2), ten(vec![data(DataKind::Copy)]), exit(0, 2)];
    assert_eq!(separate(overlap), refused("data is present in part"));
    let update = |kind| alone(Alone::Update, vec![Clause::Data(kind, vec![part(1, 2)])]);
    let inside = vec![enter(0, 4), ten(Vec::new()), update(DataKind::ToSelf), show(0), exit(0, 4)];
    assert_eq!(separate(inside), shown([0, 11, 12, 3]));
}

#[test]
fn orders_are_tried() {
    let one = program(vec![ten(vec![data(DataKind::Copy)]), show(0)]);
    let mode = Mode { store: Store::Separate, schedule: Schedule::Others, backward: true };
    assert_eq!(run(&one, mode), Ok(vec![(1, vec![10, 11, 12, 13])]));
    let bad = program(vec![set(element(Expr::Const(4)), Expr::Const(1))]);
    assert_eq!(run(&bad, mode), Err(Invalid::new("a subscript is out of bounds")));
}
