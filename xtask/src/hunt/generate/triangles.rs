//! Nests whose inner bounds depend on the outer counter.
//!
//! Invariant: each element is changed by one iteration.

use super::levels::assign;
use super::writer::{Data, Writer};
use crate::hunt::program::{Clause, Compute, DataKind, Expr, Kind, Loop, Op, Place, Stmt, Storage, Type};

/// Some triangles of a matrix.
pub fn write(writer: &mut Writer) {
    let size = writer.random.between(3, 7) as usize;
    let num = writer.num();
    let matrix = writer.array(&[size, size], num, Storage::Local);
    let num = writer.num();
    let vector = writer.array(&[size], num, Storage::Local);
    let bounds = writer.array(&[size + 1], crate::hunt::program::Num::Int, Storage::Local);
    writer.data = vec![matrix, vector, bounds];
    rising(writer, size);
    for _ in 0..writer.random.between(2, 4) {
        for _ in 0..5 {
            let construct = construct(writer, size as i64);
            if writer.offer(construct) {
                writer.show_all();
                break;
            }
        }
    }
    writer.show_all();
}

/// The last array becomes one of starts, as of rows of a sparse matrix: they rise, and end with the size.
fn rising(writer: &mut Writer, size: usize) {
    let bounds = writer.data[2].clone();
    let mut value = 0;
    for place in 0..=size {
        let target = bounds.at(vec![Expr::Const(place as i64)]);
        writer.push(assign(target, Expr::Const(value)));
        value = (value + writer.random.between(0, 2)).min(size as i64);
    }
}

fn construct(writer: &mut Writer, size: i64) -> Stmt {
    let [matrix, vector, bounds] = [0, 1, 2].map(|number| writer.data[number].clone());
    let (outer, inner) = (writer.counter(), writer.counter());
    let (row, column) = (Expr::var(outer), Expr::var(inner));
    let (low, end) = range(writer, &bounds, &row, size);
    let place = matrix.at(vec![row.clone(), column.clone()]);
    let leaves =
        [row.clone(), column.clone(), Expr::Read(vector.at(vec![row.clone()])), Expr::Read(place.clone())];
    let mut body = Vec::new();
    let levels = match writer.random.below(6) {
        0 => (vec![Clause::Gang], Some(vec![Clause::Vector])),
        1 => (vec![Clause::Gang, Clause::Vector], None),
        2 => (vec![Clause::Gang], Some(vec![Clause::Worker, Clause::Vector])),
        3 => (Vec::new(), Some(Vec::new())),
        4 => (Vec::new(), Some(vec![Clause::Seq])),
        _ => (vec![Clause::Gang, Clause::Worker], Some(vec![Clause::Vector])),
    };
    let (mut first, mut second) = levels;
    let mut after = Vec::new();
    if writer.random.chance(40) {
        sum(writer, &vector, &row, &leaves, (&mut first, &mut second), (&mut body, &mut after));
    } else {
        body.push(writer.change(&place, &leaves));
    }
    let mut one = writer.plain_loop(inner, low, end, body);
    one.directive = second;
    let mut whole = Vec::new();
    let is_before = |stmt: &Stmt| matches!(stmt, Stmt::Assign { value: Expr::Const(_), .. });
    let (before, after): (Vec<Stmt>, Vec<Stmt>) = after.into_iter().partition(is_before);
    whole.extend(before);
    whole.push(Stmt::Loop(one));
    whole.extend(after);
    let mut outer: Loop = writer.count_loop(outer, 0, size, whole);
    outer.directive = Some(first);
    finish(writer, outer)
}

/// Bounds that depend on the row.
fn range(writer: &mut Writer, bounds: &Data, row: &Expr, size: i64) -> (Expr, Expr) {
    let size = writer.number(size);
    match writer.random.below(6) {
        0 => (row.clone(), size),
        1 => (row.clone().plus(1), size),
        2 => (Expr::Const(0), row.clone()),
        3 => (Expr::Const(0), row.clone().plus(1)),
        4 => {
            let low = Expr::Read(bounds.at(vec![row.clone()]));
            (low, Expr::Read(bounds.at(vec![row.clone().plus(1)])))
        }
        _ => {
            let end = Expr::binary(Op::Min, row.clone().plus(2), size);
            (Expr::binary(Op::Max, row.clone().plus(-1), Expr::Const(0)), end)
        }
    }
}

/// A sum over the row, which goes into the vector.
fn sum(
    writer: &mut Writer,
    vector: &Data,
    row: &Expr,
    leaves: &[Expr],
    (first, second): (&mut Vec<Clause>, &mut Option<Vec<Clause>>),
    (body, around): (&mut Vec<Stmt>, &mut Vec<Stmt>),
) {
    let var = writer.variable("r", Type::Num(vector.num), Storage::Local);
    let value = writer.expr(leaves, 1);
    body.push(Stmt::Assign { place: Place::Var(var), op: Some(Op::Add), value, atomic: false });
    around.push(assign(Place::Var(var), Expr::Const(writer.random.between(0, 3))));
    around.push(assign(vector.at(vec![row.clone()]), Expr::var(var)));
    if writer.random.chance(70) {
        first.push(Clause::Private(vec![var]));
    }
    if let Some(clauses) = second.as_mut().filter(|clauses| !clauses.contains(&Clause::Seq)) {
        clauses.push(Clause::Reduction(Op::Add, vec![Place::Var(var)]));
    }
}

fn finish(writer: &mut Writer, one: Loop) -> Stmt {
    let mut clauses = Vec::new();
    for data in writer.data.clone() {
        if (data.is_pointer && !writer.is_fortran()) || writer.random.chance(50) {
            clauses.push(Clause::Data(DataKind::Copy, vec![data.item()]));
        }
    }
    let kind = writer.random.pick(&[Kind::Parallel, Kind::Parallel, Kind::Parallel, Kind::Kernels]);
    let mut one = one;
    if kind == Kind::Kernels && writer.random.chance(50) {
        without_levels(&mut one);
    }
    let combined = writer.random.chance(70) && one.directive.is_some();
    Stmt::Compute(Compute { kind, clauses, combined, body: vec![Stmt::Loop(one)] })
}

/// Nothing says how the loops run.
fn without_levels(one: &mut Loop) {
    one.directive = None;
    for stmt in &mut one.body {
        if let Stmt::Loop(inner) = stmt {
            without_levels(inner);
        }
    }
}
