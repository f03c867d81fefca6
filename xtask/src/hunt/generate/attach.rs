//! Pointers in structures: `attach`, `detach`, and what data clauses attach.
//!
//! Invariant: a structure is on the device before what its pointers lead to.

use super::writer::Writer;
use crate::hunt::program::{
    Alone, Clause, Compute, DataKind, Expr, Flavour, Item, Kind, Num, Place, Stmt, Storage, Type, VarId,
};

/// What there is: structures with two pointers and a number, one of them or several.
struct Objects {
    var: VarId,
    /// How many there are; none for a single one.
    several: Option<usize>,
    numbers: [Num; 2],
    count: usize,
}

impl Objects {
    fn one(&self, number: i64) -> Place {
        match self.several {
            Some(_) => Place::Var(self.var).at(vec![Expr::Const(number)]),
            None => Place::Var(self.var),
        }
    }

    fn section(&self, pointer: Place) -> Item {
        let section = vec![(Expr::Const(0), Expr::Const(self.count as i64))];
        Item { place: pointer, section, whole: true }
    }

    fn whole(&self) -> Item {
        Item::var(self.var)
    }

    fn numbers(&self) -> i64 {
        self.several.map_or(1, |several| several as i64)
    }
}

/// Some objects, and steps about them.
pub fn write(writer: &mut Writer) {
    let objects = make(writer);
    for _ in 0..writer.random.between(6, 12) {
        for _ in 0..4 {
            if step(writer, &objects) {
                break;
            }
        }
        if writer.random.chance(50) {
            show(writer, &objects);
        }
    }
    while writer.depth() > 1 {
        writer.close();
    }
    show(writer, &objects);
}

fn make(writer: &mut Writer) -> Objects {
    let numbers = [writer.num(), writer.num()];
    let flavour = match (writer.is_fortran(), writer.random.chance(60)) {
        (false, _) => Flavour::Plain,
        (true, true) => Flavour::Allocatable,
        (true, false) => Flavour::FortranPointer,
    };
    let number = writer.structure(vec![
        ("p", Type::pointer(numbers[0]), flavour),
        ("n", Type::Num(Num::Int), Flavour::Plain),
        ("q", Type::pointer(numbers[1]), flavour),
    ]);
    let several = writer.random.chance(30).then(|| writer.random.between(2, 3) as usize);
    let ty = match several {
        Some(several) => Type::Array(vec![several], Box::new(Type::Struct(number))),
        None => Type::Struct(number),
    };
    let var = writer.variable("s", ty, Storage::Local);
    let count = writer.random.between(4, 8) as usize;
    let objects = Objects { var, several, numbers, count };
    for number in 0..objects.numbers() {
        let one = objects.one(number);
        let value = Expr::Const(writer.random.between(1, count as i64));
        writer.push(Stmt::Assign { place: one.clone().member(1), op: None, value, atomic: false });
        for field in [0, 2] {
            let place = one.clone().member(field);
            writer.push(Stmt::Allocate { place: place.clone(), count });
            fill(writer, place, count);
        }
    }
    objects
}

fn fill(writer: &mut Writer, place: Place, count: usize) -> bool {
    let (factor, add) = (writer.random.between(1, 7), writer.random.between(0, 9));
    writer.offer(Stmt::Fill { place, count, factor, add, modulus: 13 })
}

fn show(writer: &mut Writer, objects: &Objects) {
    for number in 0..objects.numbers() {
        for field in [0, 1, 2] {
            writer.show_place(objects.one(number).member(field), objects.count);
        }
    }
}

/// A pointer of one of the objects, with all that it leads to.
fn pointer(writer: &mut Writer, objects: &Objects) -> Item {
    let number = writer.random.between(0, objects.numbers() - 1);
    let field = writer.random.pick(&[0, 2]);
    objects.section(objects.one(number).member(field))
}

fn alone(kind: Alone, word: DataKind, item: Item) -> Stmt {
    Stmt::Alone { kind, clauses: vec![Clause::Data(word, vec![item])] }
}

fn step(writer: &mut Writer, objects: &Objects) -> bool {
    let number = writer.random.below(12);
    // What a region around holds is rarely let go.
    if matches!(number, 2 | 3) && writer.depth() > 1 && writer.random.chance(90) {
        return false;
    }
    match number {
        0 => writer.offer(alone(Alone::EnterData, DataKind::CopyIn, objects.whole())),
        1 => {
            let item = pointer(writer, objects);
            let kind = writer.random.pick(&[DataKind::CopyIn, DataKind::CopyIn, DataKind::Create]);
            writer.offer(alone(Alone::EnterData, kind, item))
        }
        2 => {
            let item = pointer(writer, objects);
            let kind = writer.random.pick(&[DataKind::CopyOut, DataKind::Delete]);
            writer.offer(alone(Alone::ExitData, kind, item))
        }
        3 => writer.offer(alone(Alone::ExitData, DataKind::Delete, objects.whole())),
        4 | 5 => {
            let item = pointer(writer, objects);
            let kind = writer.random.pick(&[DataKind::Device, DataKind::ToSelf, DataKind::ToSelf]);
            writer.offer(alone(Alone::Update, kind, item))
        }
        6 => {
            let item = pointer(writer, objects);
            fill(writer, item.place, objects.count)
        }
        7 if writer.depth() < 3 => open(writer, objects),
        7 => {
            writer.close();
            true
        }
        _ => {
            let construct = construct(writer, objects);
            writer.offer(construct)
        }
    }
}

/// A data region with the object and its pointers, or with some of that.
fn open(writer: &mut Writer, objects: &Objects) -> bool {
    let mut clauses = Vec::new();
    if writer.random.chance(85) {
        let kind = writer.random.pick(&[DataKind::CopyIn, DataKind::Copy]);
        clauses.push(Clause::Data(kind, vec![objects.whole()]));
    }
    for number in 0..objects.numbers() {
        for field in [0, 2] {
            if writer.random.chance(75) || clauses.is_empty() {
                let kind = writer.random.pick(&[
                    DataKind::Copy,
                    DataKind::CopyIn,
                    DataKind::CopyOut,
                    DataKind::Create,
                ]);
                let item = objects.section(objects.one(number).member(field));
                clauses.push(Clause::Data(kind, vec![item]));
            }
        }
    }
    writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body })
}

/// A construct that reaches elements by the pointers.
fn construct(writer: &mut Writer, objects: &Objects) -> Stmt {
    let counter = writer.counter();
    let index = Expr::var(counter);
    let number = writer.random.between(0, objects.numbers() - 1);
    let object = match (objects.several, writer.random.chance(30)) {
        (Some(_), true) => return over_objects(writer, objects),
        _ => objects.one(number),
    };
    let fields = if writer.random.chance(50) { [0, 2] } else { [2, 0] };
    let target = object.clone().member(fields[0]).at(vec![index.clone()]);
    let mut leaves = vec![index.clone(), Expr::Read(target.clone())];
    if writer.random.chance(60) {
        leaves.push(Expr::Read(object.clone().member(fields[1]).at(vec![index])));
    }
    if writer.random.chance(40) {
        leaves.push(Expr::Read(object.clone().member(1)));
    }
    let change = writer.change(&target, &leaves);
    let mut one = writer.count_loop(counter, 0, objects.count as i64, vec![change]);
    if writer.random.chance(15) && one.step == 1 {
        one.end = Expr::Read(object.clone().member(1));
        one.inclusive = false;
    }
    let mut clauses = Vec::new();
    if writer.random.chance(50) {
        let kind = writer.random.pick(&[DataKind::Present, DataKind::CopyIn]);
        clauses.push(Clause::Data(kind, vec![objects.whole()]));
        for field in fields {
            if writer.random.chance(60) {
                let kind = writer.random.pick(&[DataKind::Present, DataKind::Copy]);
                let item = objects.section(object.clone().member(field));
                clauses.push(Clause::Data(kind, vec![item]));
            }
        }
    }
    writer.construct(vec![one], clauses)
}

/// A loop over the objects, with one inside over what a pointer leads to.
fn over_objects(writer: &mut Writer, objects: &Objects) -> Stmt {
    let (outer, inner) = (writer.counter(), writer.counter());
    let object = Place::Var(objects.var).at(vec![Expr::var(outer)]);
    let field = writer.random.pick(&[0, 2]);
    let target = object.clone().member(field).at(vec![Expr::var(inner)]);
    let leaves =
        [Expr::var(outer), Expr::var(inner), Expr::Read(target.clone()), Expr::Read(object.member(1))];
    let change = writer.change(&target, &leaves);
    let mut lanes = writer.count_loop(inner, 0, objects.count as i64, vec![change]);
    let is_split = writer.random.chance(50);
    lanes.directive = is_split.then(|| vec![Clause::Vector]);
    let mut one = writer.count_loop(outer, 0, objects.numbers(), vec![Stmt::Loop(lanes)]);
    one.directive = Some(if is_split { vec![Clause::Gang] } else { Vec::new() });
    let clauses = vec![Clause::Data(DataKind::Present, vec![objects.whole()])];
    let clauses = if writer.random.chance(60) { clauses } else { Vec::new() };
    let _ = objects.numbers;
    Stmt::Compute(Compute { kind: Kind::Parallel, clauses, combined: true, body: vec![Stmt::Loop(one)] })
}
