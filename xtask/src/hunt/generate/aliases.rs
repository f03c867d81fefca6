//! Several names of one object: pointers into one array, references, names of `associate`, `restrict`.
//!
//! Invariant: what `restrict` promises is kept, as the model sees it.

use super::kernels::Tangle;
use super::levels::assign;
use super::routines::array_parameter;
use super::writer::{Data, Writer};
use crate::hunt::program::{
    Block, Clause, Compute, DataKind, Expr, Flavour, Item, Kind, Loop, Num, Op, Place, Stmt, Storage, Type,
    VarId,
};

/// An array, other names of its parts, and loops over them.
pub fn write(writer: &mut Writer) {
    let size = writer.random.between(10, 16) as usize;
    let num = writer.random.pick(&[Num::Int, Num::Double, Num::Int]);
    let base = writer.array(&[size], num, Storage::Local);
    let other = writer.array(&[size], num, Storage::Local);
    writer.data = vec![base, other];
    for _ in 0..writer.random.between(2, 3) {
        for _ in 0..6 {
            let is_kept = match writer.random.below(4) {
                0 | 1 => by_parameters(writer),
                2 => by_names(writer),
                _ => by_scalars(writer),
            };
            if is_kept {
                writer.show_all();
                break;
            }
        }
    }
    writer.show_all();
}

/// So many elements have the names of parts.
const PART: usize = 7;

fn part(var: VarId, num: Num, is_pointer: bool) -> Data {
    Data { var, num, extents: vec![PART], is_pointer }
}

/// A region of loops over parts, which are present.
fn region(writer: &mut Writer, parts: &[Data], scalars: &[VarId], kinds: &[Kind]) -> Stmt {
    let tangle = Tangle { arrays: parts.to_vec(), index: None, scalars: scalars.to_vec(), size: PART };
    let kind = writer.random.pick(kinds);
    let mut clauses = Vec::new();
    for data in parts {
        let word = writer.random.pick(&[DataKind::Present, DataKind::Copy, DataKind::Present]);
        clauses.push(Clause::Data(word, vec![data.item()]));
    }
    let mut body = Vec::new();
    for _ in 0..writer.random.between(1, 2) {
        let mut one: Loop = tangle.nest(writer);
        match kind {
            Kind::Kernels if writer.random.chance(30) => tangle.directives(writer, &mut one),
            Kind::Kernels => {}
            _ => one.directive = Some(writer.levels()),
        }
        body.push(Stmt::Loop(one));
        if kind == Kind::Parallel {
            break;
        }
    }
    let combined = matches!(body.as_slice(), [Stmt::Loop(one)] if one.directive.is_some());
    Stmt::Compute(Compute { kind, clauses, combined, body })
}

const KINDS: [Kind; 4] = [Kind::Kernels, Kind::Kernels, Kind::Kernels, Kind::Parallel];

/// Opens a data region for an array.
fn open(writer: &mut Writer, data: &[Data]) -> bool {
    let items = data.iter().map(Data::item).collect();
    let clauses = vec![Clause::Data(DataKind::Copy, items)];
    writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body })
}

/// A function with two arrays, which may overlap.
fn by_parameters(writer: &mut Writer) -> bool {
    let [base, other] = [0, 1].map(|number| writer.data[number].clone());
    let first = array_parameter(writer, base.num, PART);
    let second = array_parameter(writer, base.num, PART);
    for var in [first, second] {
        writer.program.vars[var].restrict = !writer.is_fortran() && writer.random.chance(40);
    }
    let mut parts = vec![part(first, base.num, true), part(second, base.num, true)];
    let mut body: Block = Vec::new();
    if writer.random.chance(60) && !writer.is_fortran() {
        let third = derived(writer, first, second, base.num, &mut body);
        parts.push(part(third, base.num, true));
        if writer.random.chance(50) {
            parts.remove(writer.random.clone().below(2));
        }
    }
    let one = region(writer, &parts, &[], &KINDS);
    body.push(one);
    let function = writer.function(vec![first, second], None, None, body, None);
    let mut arguments = Vec::new();
    for _ in 0..2 {
        // Parts of one array overlap in Fortran only if nobody changes them: the model does not know that rule.
        let array = match writer.is_fortran() {
            true if arguments.is_empty() => base.clone(),
            true => other.clone(),
            false => writer.random.pick(&[base.clone(), base.clone(), other.clone()]),
        };
        let low = writer.random.between(0, (array.extents[0] - PART - 2) as i64);
        arguments.push(Expr::Address(array.at(vec![Expr::Const(low)])));
    }
    if !open(writer, &[base, other]) {
        return false;
    }
    let is_kept = writer.offer(Stmt::Call(function, arguments));
    writer.close();
    is_kept
}

/// A local pointer that comes from a parameter.
fn derived(writer: &mut Writer, first: VarId, second: VarId, num: Num, body: &mut Block) -> VarId {
    let var = writer.variable("q", Type::pointer(num), Storage::Local);
    let place = Place::Var(var);
    let shift = writer.random.between(0, 2);
    let at = |var: VarId| Expr::Address(Place::Var(var).at(vec![Expr::Const(shift)]));
    let (from, with) = if writer.random.chance(50) { (first, second) } else { (second, first) };
    match writer.random.below(4) {
        0 => body.push(Stmt::Point { place, target: Expr::var(from) }),
        1 => body.push(Stmt::Point { place, target: at(from) }),
        2 => {
            body.push(Stmt::Point { place: place.clone(), target: at(with) });
            let condition = Expr::binary(Op::Lt, Expr::Const(shift), Expr::Const(5));
            let then = vec![Stmt::Point { place, target: at(from) }];
            body.push(Stmt::If { condition, then, other: Vec::new() });
        }
        _ => {
            let between = writer.variable("q", Type::pointer(num), Storage::Local);
            body.push(Stmt::Point { place: Place::Var(between), target: at(from) });
            body.push(Stmt::Point { place, target: Expr::var(between) });
        }
    }
    var
}

/// Other names in the function itself.
fn by_names(writer: &mut Writer) -> bool {
    let [base, other] = [0, 1].map(|number| writer.data[number].clone());
    let flavour = match writer.is_fortran() {
        true => Flavour::FortranPointer,
        false => Flavour::Plain,
    };
    let mut parts = Vec::new();
    let depth = writer.depth();
    if !open(writer, &[base.clone(), other.clone()]) {
        return false;
    }
    for _ in 0..2 {
        if writer.random.chance(30) {
            let whole = writer.random.pick(&[base.clone(), other.clone()]);
            // Of the whole array only the first elements are used, under its own name.
            parts.push(Data { extents: vec![PART], ..whole });
            continue;
        }
        let var = writer.variable("q", Type::pointer(base.num), Storage::Local);
        writer.program.vars[var].flavour = flavour;
        let array = writer.random.pick(&[base.clone(), base.clone(), other.clone()]);
        let low = writer.random.between(0, (array.extents[0] - PART - 2) as i64);
        let target = Expr::Address(array.at(vec![Expr::Const(low)]));
        writer.offer(Stmt::Point { place: Place::Var(var), target });
        parts.push(part(var, base.num, true));
    }
    let mut one = region(writer, &parts, &[], &KINDS);
    if let Stmt::Compute(compute) = &mut one {
        // The clauses name parts: of arrays a section, of Fortran's pointers too, as they lead to more.
        for clause in &mut compute.clauses {
            if let Clause::Data(_, items) = clause {
                items.iter_mut().for_each(sectioned);
            }
        }
    }
    let is_kept = writer.offer(one);
    while writer.depth() > depth {
        writer.close();
    }
    is_kept
}

/// Names the first elements alone.
fn sectioned(item: &mut Item) {
    item.section = vec![(Expr::Const(0), Expr::Const(PART as i64))];
    item.whole = false;
}

/// A number with two names.
fn by_scalars(writer: &mut Writer) -> bool {
    let base = writer.data[0].clone();
    let num = base.num;
    let one = writer.scalar(num);
    let named = writer.variable("r", Type::Num(num), Storage::Local);
    let arrays = vec![Data { extents: vec![PART], ..base.clone() }];
    if writer.is_fortran() || writer.language == crate::hunt::Language::Cpp {
        writer.program.vars[named].flavour = Flavour::Reference;
        let target = match writer.random.chance(75) {
            true => Place::Var(one),
            false => base.at(vec![Expr::Const(PART as i64 + 1)]),
        };
        if !writer.open(move |body| Stmt::Alias { var: named, target: target.clone(), body }) {
            return false;
        }
        let mut region =
            region(writer, &arrays, &[one, named], &[Kind::Kernels, Kind::Kernels, Kind::Serial]);
        whole_items(&mut region, &base);
        let is_kept = writer.offer(region);
        writer.show_place(Place::Var(named), 1);
        writer.close();
        writer.show_place(Place::Var(one), 1);
        return is_kept;
    }
    // In C by a pointer, whose target a clause names.
    writer.program.vars[named].ty = Type::pointer(num);
    writer.push(Stmt::Point { place: Place::Var(named), target: Expr::Address(Place::Var(one)) });
    let mut region = region(writer, &arrays, &[one], &[Kind::Kernels]);
    whole_items(&mut region, &base);
    if let Stmt::Compute(compute) = &mut region {
        let section = vec![(Expr::Const(0), Expr::Const(1))];
        let item = Item { place: Place::Var(named), section, whole: false };
        compute.clauses.push(Clause::Data(DataKind::Copy, vec![item]));
        let target = Place::Target(Box::new(Place::Var(named)));
        let value = writer.expr(&[Expr::var(one), Expr::Read(target.clone())], 1);
        let stmt = match writer.random.chance(50) {
            true => Stmt::Assign { place: target, op: Some(Op::Add), value, atomic: false },
            false => assign(target, value),
        };
        let mut bodies: Vec<&mut Block> = Vec::new();
        if let Some(Stmt::Loop(inner)) = compute.body.first_mut() {
            bodies.push(&mut inner.body);
        }
        bodies.into_iter().for_each(|body| body.push(stmt.clone()));
    }
    let is_kept = writer.offer(region);
    writer.show_place(Place::Var(one), 1);
    is_kept
}

/// All of the array is copied.
fn whole_items(region: &mut Stmt, base: &Data) {
    if let Stmt::Compute(compute) = region {
        compute.clauses.retain(|clause| !matches!(clause, Clause::Data(..)));
        compute.clauses.push(Clause::Data(DataKind::Copy, vec![base.item()]));
    }
}
