//! Device routines of each level, called from loops of the levels above.
//!
//! Invariant: a routine changes only what its caller gives it for the iteration that calls.

use super::levels::{assign, element, fill};
use super::writer::{Data, Writer};
use crate::hunt::program::{
    Block, Clause, Compute, DataKind, Dummy, Expr, Flavour, FunctionId, Item, Kind, Level, Num, Op, Place,
    Stmt, Storage, Type, VarId,
};

/// Some data, some routines, some constructs that call them.
pub fn write(writer: &mut Writer) {
    let rows = writer.random.between(3, 5) as usize;
    let columns = writer.random.between(3, 6) as usize;
    let num = writer.num();
    let table = writer.array(&[rows * columns], num, Storage::Local);
    let num = writer.num();
    let vector = writer.array(&[rows], num, Storage::Local);
    writer.data = vec![table, vector];
    let shape = Shape { rows, columns };
    for _ in 0..writer.random.between(2, 3) {
        for _ in 0..5 {
            let construct = match writer.random.below(7) {
                0 | 1 => sequential(writer, shape),
                2 | 3 => rows_by_lanes(writer, shape),
                4 => by_workers(writer, shape),
                5 => sums(writer, shape),
                _ => by_gangs(writer, shape),
            };
            if writer.offer(construct) {
                writer.show_all();
                break;
            }
        }
    }
    writer.show_all();
}

/// The table is one of rows.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
}

/// The clauses for all data.
fn clauses(writer: &mut Writer) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for data in writer.data.clone() {
        if (data.is_pointer && !writer.is_fortran()) || writer.random.chance(50) {
            clauses.push(Clause::Data(DataKind::Copy, vec![data.item()]));
        }
    }
    clauses
}

/// A parameter that is an array of so many elements.
pub fn array_parameter(writer: &mut Writer, num: Num, count: usize) -> VarId {
    let var = writer.parameter("x", Type::pointer(num), Flavour::Plain);
    writer.program.vars[var].lower = i64::from(writer.random.chance(30));
    writer.program.vars[var].dummy = match writer.random.chance(60) {
        true => Dummy::Explicit(count),
        false => Dummy::Assumed,
    };
    if !writer.is_fortran() && writer.random.chance(20) {
        writer.program.vars[var].restrict = true;
    }
    var
}

/// A number that goes by its value, or in Fortran often by its name.
fn number_parameter(writer: &mut Writer, num: Num) -> VarId {
    writer.parameter("n", Type::Num(num), Flavour::Plain)
}

/// A function of numbers.
fn function_of_numbers(writer: &mut Writer, num: Num) -> FunctionId {
    let first = number_parameter(writer, Num::Int);
    let second = number_parameter(writer, num);
    let leaves = [Expr::var(first), Expr::var(second)];
    let mut body: Block = Vec::new();
    let mut all = leaves.to_vec();
    if writer.random.chance(50) {
        let kind = writer.num();
        let var = writer.variable("t", Type::Num(kind), Storage::Local);
        let value = writer.expr(&all, 1);
        body.push(assign(Place::Var(var), value));
        if writer.random.chance(50) {
            let condition = writer.condition(&leaves);
            let value = writer.expr(&leaves, 1);
            let then = vec![Stmt::Assign { place: Place::Var(var), op: Some(Op::Add), value, atomic: false }];
            body.push(Stmt::If { condition, then, other: Vec::new() });
        }
        all.push(Expr::var(var));
    }
    let result = writer.expr(&all, 2);
    writer.function(vec![first, second], Some(num), Some(Level::Seq), body, Some(result))
}

/// Routines of one thread.
fn sequential(writer: &mut Writer, shape: Shape) -> Stmt {
    let [table, vector] = [0, 1].map(|number| writer.data[number].clone());
    let counter = writer.counter();
    let index = Expr::var(counter);
    let mut body: Block = Vec::new();
    if writer.random.chance(60) {
        let function = function_of_numbers(writer, vector.num);
        let value = Expr::Read(vector.at(vec![index.clone()]));
        let call = Expr::Call(function, vec![index.clone(), value]);
        body.push(assign(vector.at(vec![index.clone()]), call));
    }
    if writer.random.chance(60) {
        body.push(row_procedure(writer, &table, &index, shape, Level::Seq, &[]));
    }
    if body.is_empty() || writer.random.chance(40) {
        body.push(by_reference(writer, &vector, &index));
    }
    let mut one = writer.count_loop(counter, 0, shape.rows as i64, body);
    one.directive = None;
    let clauses = clauses(writer);
    writer.construct(vec![one], clauses)
}

/// A procedure that changes an element given by its name.
fn by_reference(writer: &mut Writer, vector: &Data, index: &Expr) -> Stmt {
    let element = writer.parameter("y", Type::Num(vector.num), Flavour::Reference);
    let number = number_parameter(writer, Num::Int);
    let leaves = [Expr::var(element), Expr::var(number)];
    let mut body = vec![writer.change(&Place::Var(element), &leaves)];
    if writer.random.chance(30) {
        body.push(writer.change(&Place::Var(element), &leaves));
    }
    let function = writer.function(vec![element, number], None, Some(Level::Seq), body, None);
    let place = vector.at(vec![index.clone()]);
    Stmt::Call(function, vec![Expr::Address(place), index.clone()])
}

/// A call of a procedure that changes a row of the table; the levels of its loop.
fn row_procedure(
    writer: &mut Writer,
    table: &Data,
    row: &Expr,
    shape: Shape,
    level: Level,
    levels: &[Clause],
) -> Stmt {
    let takes_row = writer.random.chance(50);
    let count = if takes_row { shape.columns } else { shape.rows * shape.columns };
    let array = array_parameter(writer, table.num, count);
    if !takes_row {
        writer.program.vars[array].restrict = false;
    }
    let number = number_parameter(writer, Num::Int);
    let counter = writer.counter();
    let start = Expr::binary(Op::Mul, Expr::var(number), Expr::Const(shape.columns as i64));
    let subscript = match takes_row {
        true => Expr::var(counter),
        false => Expr::binary(Op::Add, start, Expr::var(counter)),
    };
    let place = Place::Var(array).at(vec![subscript]);
    let leaves = [Expr::var(number), Expr::var(counter), Expr::Read(place.clone())];
    let mut inside = Vec::new();
    let mut all = leaves.to_vec();
    let mut directive = levels.to_vec();
    if writer.random.chance(40) {
        let num = writer.num();
        let var = writer.variable("t", Type::Num(num), Storage::Local);
        if level != Level::Seq {
            directive.push(Clause::Private(vec![var]));
        }
        let value = writer.expr(&leaves, 1);
        inside.push(assign(Place::Var(var), value));
        all.push(Expr::var(var));
    }
    let filled = (level != Level::Seq && writer.random.chance(30)).then(|| {
        let (_, fill, element) = shared_array(writer, &[Expr::var(number)], levels.to_vec());
        all.push(element);
        fill
    });
    inside.push(writer.change(&place, &all));
    let mut one = writer.count_loop(counter, 0, shape.columns as i64, inside);
    one.directive = match level {
        Level::Seq => writer.random.chance(40).then(|| vec![Clause::Seq]),
        _ => Some(directive),
    };
    let body = filled.into_iter().chain([Stmt::Loop(one)]).collect();
    let function = writer.function(vec![array, number], None, Some(level), body, None);
    let first = match takes_row {
        true => Expr::binary(Op::Mul, row.clone(), Expr::Const(shape.columns as i64)),
        false => Expr::Const(0),
    };
    let array = Expr::Address(table.at(vec![first]));
    Stmt::Call(function, vec![array, row.clone()])
}

/// An array of a routine, the loop that fills it, of these levels, and one of its elements.
fn shared_array(writer: &mut Writer, leaves: &[Expr], levels: Vec<Clause>) -> (VarId, Stmt, Expr) {
    let num = writer.num();
    let size = 4;
    let var = writer.variable("w", Type::array(&[size], num), Storage::Local);
    let mut one = fill(writer, (var, size), leaves, 1);
    one.directive = Some(levels);
    (var, Stmt::Loop(one), element(writer, (var, size)))
}

/// Gangs call a routine whose loop is one of lanes.
fn rows_by_lanes(writer: &mut Writer, shape: Shape) -> Stmt {
    let table = writer.data[0].clone();
    let counter = writer.counter();
    let index = Expr::var(counter);
    let mut body = vec![row_procedure(writer, &table, &index, shape, Level::Vector, &[Clause::Vector])];
    if writer.random.chance(40) {
        let place = writer.data[1].at(vec![index.clone()]);
        let value = writer.expr(&[index.clone(), Expr::Read(place.clone())], 1);
        body.push(assign(place, value));
    }
    if writer.random.chance(30) {
        body.push(row_procedure(writer, &table, &index, shape, Level::Vector, &[Clause::Vector]));
    }
    let directive =
        if writer.random.chance(50) { vec![Clause::Gang] } else { vec![Clause::Gang, Clause::Worker] };
    in_gangs(writer, counter, shape, body, directive)
}

/// Gangs call a routine whose loop is one of workers, perhaps with lanes.
fn by_workers(writer: &mut Writer, shape: Shape) -> Stmt {
    let table = writer.data[0].clone();
    let counter = writer.counter();
    let levels =
        if writer.random.chance(50) { vec![Clause::Worker] } else { vec![Clause::Worker, Clause::Vector] };
    let body = vec![row_procedure(writer, &table, &Expr::var(counter), shape, Level::Worker, &levels)];
    in_gangs(writer, counter, shape, body, vec![Clause::Gang])
}

fn in_gangs(writer: &mut Writer, counter: VarId, shape: Shape, body: Block, directive: Vec<Clause>) -> Stmt {
    let mut one = writer.count_loop(counter, 0, shape.rows as i64, body);
    one.directive = Some(directive);
    let combined = writer.random.chance(60);
    let mut clauses = clauses(writer);
    if writer.random.chance(30) {
        clauses.push(Clause::NumGangs(Expr::Const(writer.random.between(1, 4))));
    }
    if writer.random.chance(20) {
        clauses.push(Clause::VectorLength(Expr::Const(32)));
    }
    Stmt::Compute(Compute { kind: Kind::Parallel, clauses, combined, body: vec![Stmt::Loop(one)] })
}

/// Gangs call a function whose lanes make a sum.
fn sums(writer: &mut Writer, shape: Shape) -> Stmt {
    let [table, vector] = [0, 1].map(|number| writer.data[number].clone());
    let array = array_parameter(writer, table.num, shape.columns);
    let number = number_parameter(writer, Num::Int);
    let sum = writer.variable("r", Type::Num(vector.num), Storage::Local);
    let counter = writer.counter();
    let leaves = [Expr::Read(Place::Var(array).at(vec![Expr::var(counter)])), Expr::var(counter)];
    let op = writer.random.pick(&[Op::Add, Op::Add, Op::Max]);
    let value = writer.expr(&leaves, 1);
    let add = Stmt::Assign { place: Place::Var(sum), op: Some(op), value, atomic: false };
    let mut one = writer.count_loop(counter, 0, shape.columns as i64, vec![add]);
    let is_seq = writer.random.chance(30);
    let level = if is_seq { Level::Seq } else { Level::Vector };
    one.directive = match is_seq {
        true => None,
        false => Some(vec![Clause::Vector, Clause::Reduction(op, vec![Place::Var(sum)])]),
    };
    let start = assign(Place::Var(sum), Expr::var(number));
    let body = vec![start, Stmt::Loop(one)];
    let function =
        writer.function(vec![array, number], Some(vector.num), Some(level), body, Some(Expr::var(sum)));
    let outer = writer.counter();
    let index = Expr::var(outer);
    let first = Expr::binary(Op::Mul, index.clone(), Expr::Const(shape.columns as i64));
    let call = Expr::Call(function, vec![Expr::Address(table.at(vec![first])), index.clone()]);
    let body = vec![assign(vector.at(vec![index]), call)];
    let directive = if is_seq { Vec::new() } else { vec![Clause::Gang] };
    in_gangs(writer, outer, shape, body, directive)
}

/// A routine of gangs, called by all of them.
fn by_gangs(writer: &mut Writer, shape: Shape) -> Stmt {
    let table = writer.data[0].clone();
    let count = shape.rows * shape.columns;
    let array = array_parameter(writer, table.num, count);
    let counter = writer.counter();
    let place = Place::Var(array).at(vec![Expr::var(counter)]);
    let mut leaves = vec![Expr::var(counter), Expr::Read(place.clone())];
    let mut directive = match writer.random.below(3) {
        0 => vec![Clause::Gang],
        1 => vec![Clause::Gang, Clause::Vector],
        _ => vec![Clause::Gang, Clause::Worker, Clause::Vector],
    };
    let mut body = Vec::new();
    if directive == [Clause::Gang] && writer.random.chance(50) {
        let (var, fill, element) = shared_array(writer, &leaves[..1], vec![Clause::Vector]);
        directive.push(Clause::Private(vec![var]));
        leaves.push(element);
        body.push(fill);
    }
    body.push(writer.change(&place, &leaves));
    let mut one = writer.count_loop(counter, 0, count as i64, body);
    one.directive = Some(directive);
    let function = writer.function(vec![array], None, Some(Level::Gang), vec![Stmt::Loop(one)], None);
    let mut clauses = vec![Clause::Data(DataKind::Copy, vec![Item { ..table.item() }])];
    if writer.random.chance(60) {
        clauses.push(Clause::NumGangs(Expr::Const(writer.random.between(1, 4))));
    }
    let call = Stmt::Call(function, vec![Expr::Address(table.at(vec![Expr::Const(0)]))]);
    Stmt::Compute(Compute { kind: Kind::Parallel, clauses, combined: false, body: vec![call] })
}
