//! Members of structures, and arrays of structures.
//!
//! Invariant: no member is a pointer here.

use super::levels::assign;
use super::writer::Writer;
use crate::hunt::program::{
    Alone, Block, Clause, Compute, DataKind, Expr, Flavour, Item, Kind, Num, Op, Place, Stmt, Storage, Type,
    VarId,
};

/// A structure `{ number, number, array[4] }`, a variable of it, an array, and what a pointer leads to.
struct Objects {
    one: VarId,
    several: VarId,
    pointee: VarId,
    count: usize,
    numbers: [Num; 3],
    size: usize,
}

/// Some objects, then steps about them.
pub fn write(writer: &mut Writer) {
    let objects = make(writer);
    for _ in 0..writer.random.between(6, 12) {
        step(writer, &objects);
    }
    while writer.depth() > 1 {
        writer.close();
    }
    show(writer, &objects);
}

fn make(writer: &mut Writer) -> Objects {
    let numbers = [writer.num(), writer.num(), writer.num()];
    let size = writer.random.between(3, 6) as usize;
    let plain = Flavour::Plain;
    let number = writer.structure(vec![
        ("x", Type::Num(numbers[0]), plain),
        ("k", Type::Num(numbers[1]), plain),
        ("a", Type::array(&[size], numbers[2]), plain),
    ]);
    let count = writer.random.between(3, 6) as usize;
    let of = Type::Struct(number);
    let one = writer.variable("s", of.clone(), Storage::Local);
    let several = writer.variable("t", Type::Array(vec![count], Box::new(of.clone())), Storage::Local);
    let pointee = writer.variable("u", Type::Pointer(Box::new(of)), Storage::Local);
    if writer.is_fortran() {
        writer.program.vars[pointee].flavour =
            if writer.random.chance(70) { Flavour::Allocatable } else { Flavour::FortranPointer };
    }
    writer.push(Stmt::Allocate { place: Place::Var(pointee), count });
    for var in [one, several, pointee] {
        let (factor, add) = (writer.random.between(1, 7), writer.random.between(0, 9));
        writer.push(Stmt::Fill { place: Place::Var(var), count, factor, add, modulus: 13 });
    }
    Objects { one, several, pointee, count, numbers, size }
}

fn show(writer: &mut Writer, objects: &Objects) {
    for var in [objects.one, objects.several, objects.pointee] {
        writer.show_place(Place::Var(var), objects.count);
    }
}

fn whole(objects: &Objects, var: VarId) -> Item {
    let section = match var == objects.pointee {
        true => vec![(Expr::Const(0), Expr::Const(objects.count as i64))],
        false => Vec::new(),
    };
    Item { place: Place::Var(var), section, whole: true }
}

/// An item: an object, some of several, a member.
fn item(writer: &mut Writer, objects: &Objects, of_update: bool) -> Item {
    let count = objects.count as i64;
    let var = writer.random.pick(&[objects.one, objects.several, objects.pointee]);
    let part = |place: Place, low: i64, count: i64| Item {
        place,
        section: vec![(Expr::Const(low), Expr::Const(count))],
        whole: false,
    };
    match (writer.random.below(4), of_update) {
        (0 | 1, _) => whole(objects, var),
        (2, true) => {
            // A member, of the one or of an element.
            let element = match var == objects.one {
                true => Place::Var(var),
                false => Place::Var(var).at(vec![Expr::Const(writer.random.between(0, count - 1))]),
            };
            match writer.random.below(4) {
                0 => Item { place: element.member(0), section: Vec::new(), whole: true },
                1 => Item { place: element.member(1), section: Vec::new(), whole: true },
                2 => Item { place: element.member(2), section: Vec::new(), whole: true },
                _ => part(element.member(2), 1, objects.size as i64 - 1),
            }
        }
        _ if var == objects.one => whole(objects, var),
        _ => {
            let low = writer.random.between(0, 1);
            part(Place::Var(var), low, count - low - writer.random.between(0, 1))
        }
    }
}

fn step(writer: &mut Writer, objects: &Objects) {
    for _ in 0..4 {
        let is_kept = match writer.random.below(10) {
            0 if writer.depth() < 3 => {
                let kind = writer.random.pick(&[DataKind::Copy, DataKind::CopyIn, DataKind::Create]);
                let mut items = vec![item(writer, objects, false)];
                if writer.random.chance(50) {
                    let other = item(writer, objects, false);
                    if other.place != items[0].place {
                        items.push(other);
                    }
                }
                let clauses = vec![Clause::Data(kind, items)];
                writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body })
            }
            0 => {
                writer.close();
                true
            }
            1 => {
                let kind = writer.random.pick(&[DataKind::CopyIn, DataKind::Create]);
                let clauses = vec![Clause::Data(kind, vec![item(writer, objects, false)])];
                writer.offer(Stmt::Alone { kind: Alone::EnterData, clauses })
            }
            2 => {
                let kind = writer.random.pick(&[DataKind::CopyOut, DataKind::Delete]);
                let clauses = vec![Clause::Data(kind, vec![item(writer, objects, false)])];
                writer.offer(Stmt::Alone { kind: Alone::ExitData, clauses })
            }
            3 | 4 => {
                let kind = writer.random.pick(&[DataKind::Device, DataKind::ToSelf]);
                let clauses = vec![Clause::Data(kind, vec![item(writer, objects, true)])];
                writer.offer(Stmt::Alone { kind: Alone::Update, clauses })
            }
            5 => {
                let (factor, add) = (writer.random.between(1, 7), writer.random.between(0, 9));
                let var = writer.random.pick(&[objects.one, objects.several, objects.pointee]);
                let count = objects.count;
                writer.offer(Stmt::Fill { place: Place::Var(var), count, factor, add, modulus: 11 })
            }
            _ => {
                let construct = construct(writer, objects);
                writer.offer(construct)
            }
        };
        if is_kept {
            break;
        }
    }
    if writer.random.chance(50) {
        show(writer, objects);
    }
}

/// A construct on members.
fn construct(writer: &mut Writer, objects: &Objects) -> Stmt {
    let counter = writer.counter();
    let index = Expr::var(counter);
    let several = writer.random.pick(&[objects.several, objects.pointee]);
    let element = Place::Var(several).at(vec![index.clone()]);
    let other = Place::Var(objects.one);
    let member = writer.random.below(3);
    let mut used = vec![several];
    let mut leaves =
        vec![index.clone(), Expr::Read(element.clone().member(0)), Expr::Read(element.clone().member(1))];
    if writer.random.chance(50) {
        leaves.push(Expr::Read(other.clone().member(writer.random.below(2))));
        used.push(objects.one);
    }
    let mut body: Block = Vec::new();
    let mut end = objects.count as i64;
    match member {
        2 if writer.random.chance(40) => {
            // Over the array of the one.
            end = objects.size as i64;
            let place = other.clone().member(2).at(vec![index.clone()]);
            let value =
                writer.change(&place, &[index, Expr::Read(other.member(0)), Expr::Read(place.clone())]);
            body.push(value);
            used = vec![objects.one];
        }
        2 => {
            let inner = writer.counter();
            let place = element.member(2).at(vec![Expr::var(inner)]);
            leaves.push(Expr::var(inner));
            leaves.push(Expr::Read(place.clone()));
            let change = writer.change(&place, &leaves);
            body.push(Stmt::Loop(writer.count_loop(inner, 0, objects.size as i64, vec![change])));
        }
        field => {
            let place = element.member(field);
            let change = writer.change(&place, &leaves);
            body.push(change);
        }
    }
    let mut clauses = Vec::new();
    for var in used {
        if (var == objects.pointee && !writer.is_fortran()) || writer.random.chance(50) {
            let kind =
                writer.random.pick(&[DataKind::Copy, DataKind::Copy, DataKind::Present, DataKind::CopyIn]);
            clauses.push(Clause::Data(kind, vec![whole(objects, var)]));
        }
    }
    let mut one = writer.count_loop(counter, 0, end, body);
    if writer.random.chance(15) {
        return serial(writer, objects, clauses);
    }
    if writer.random.chance(20) {
        total(writer, objects, &mut one, &mut clauses);
    }
    match clauses.pop() {
        Some(Clause::Reduction(op, places)) => {
            let levels = writer.levels().into_iter().chain([Clause::Reduction(op, places)]).collect();
            one.directive = Some(levels);
            Stmt::Compute(Compute {
                kind: Kind::Parallel,
                clauses,
                combined: true,
                body: vec![Stmt::Loop(one)],
            })
        }
        last => {
            clauses.extend(last);
            writer.construct(vec![one], clauses)
        }
    }
}

/// A sum beside what the loop does.
fn total(
    writer: &mut Writer,
    objects: &Objects,
    one: &mut crate::hunt::program::Loop,
    clauses: &mut Vec<Clause>,
) {
    let num = if objects.numbers[0].is_real() { Num::Double } else { Num::Long };
    let var = writer.scalar(num);
    let element = Place::Var(objects.several).at(vec![Expr::Const(0)]);
    let value = Expr::Read(element.member(1));
    let value = Expr::binary(Op::Add, value, Expr::var(one.counter));
    one.body.push(Stmt::Assign { place: Place::Var(var), op: Some(Op::Add), value, atomic: false });
    clauses.push(Clause::Reduction(Op::Add, vec![Place::Var(var)]));
}

/// Members of the one, changed by one thread.
fn serial(writer: &mut Writer, objects: &Objects, mut clauses: Vec<Clause>) -> Stmt {
    let one = Place::Var(objects.one);
    clauses.retain(|clause| match clause {
        Clause::Data(_, items) => items[0].place == one,
        _ => false,
    });
    let mut body = Vec::new();
    for _ in 0..writer.random.between(1, 3) {
        let leaves = [Expr::Read(one.clone().member(0)), Expr::Read(one.clone().member(1))];
        let value = writer.expr(&leaves, 1);
        let place = match writer.random.below(3) {
            2 => one.clone().member(2).at(vec![Expr::Const(1)]),
            field => one.clone().member(field),
        };
        body.push(assign(place, value));
    }
    let kind = writer.random.pick(&[Kind::Serial, Kind::Kernels]);
    Stmt::Compute(Compute { kind, clauses, combined: false, body })
}
