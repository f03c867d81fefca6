//! `declare`, for variables of the file and for those of a function.
//!
//! Invariant: what a routine uses of the file's variables is declared.

use super::data::without_gangs_of_serial;
use super::levels::assign;
use super::routines::array_parameter;
use super::writer::{Data, Writer};
use crate::hunt::program::{
    Alone, Block, Clause, DataKind, Expr, Item, Level, Num, Op, Place, Stmt, Storage, Type, VarId,
};

/// Variables of the file, with and without values, and what is done with them.
pub fn write(writer: &mut Writer) {
    let mut scalars = Vec::new();
    for _ in 0..writer.random.between(2, 3) {
        let data = global(writer);
        match data.extents.is_empty() {
            true => scalars.push(data),
            false => writer.data.push(data),
        }
    }
    let num = writer.num();
    let local = writer.array(&[8], num, Storage::Local);
    writer.data.push(local);
    for _ in 0..writer.random.between(5, 10) {
        for _ in 0..4 {
            if step(writer, &scalars) {
                break;
            }
        }
        if writer.random.chance(50) {
            writer.show_all();
        }
    }
    writer.show_all();
    for scalar in scalars {
        writer.show_place(Place::Var(scalar.var), 1);
    }
}

/// A variable of the file, mostly one with `declare`.
fn global(writer: &mut Writer) -> Data {
    let num = writer.num();
    let extents = match writer.random.below(4) {
        0 => Vec::new(),
        1 => vec![3, 4],
        _ => vec![8],
    };
    let ty = if extents.is_empty() { Type::Num(num) } else { Type::array(&extents, num) };
    let var = writer.variable("g", ty.clone(), Storage::Global);
    let kind = writer.random.pick(&[
        DataKind::Create,
        DataKind::Create,
        DataKind::CopyIn,
        DataKind::DeviceResident,
        DataKind::Link,
    ]);
    // Fortran's `link` is for variables without a place of their own: not here. Of a scalar with `link`, OpenACC does not say
    // whether a construct that does not name it takes the host's value or the device's (2.6.2, 2.13).
    let has_link = !writer.is_fortran() && matches!(ty, Type::Array(..));
    let kind = if kind == DataKind::Link && !has_link { DataKind::Create } else { kind };
    if kind == DataKind::CopyIn || writer.random.chance(40) {
        writer.program.initial.push((var, writer.random.between(1, 9)));
    }
    if writer.random.chance(90) {
        writer.program.declares.push(Clause::Data(kind, vec![Item::var(var)]));
    }
    Data { var, num, extents, is_pointer: false }
}

fn step(writer: &mut Writer, scalars: &[Data]) -> bool {
    let all: Vec<Data> = writer.data.iter().chain(scalars).cloned().collect();
    let data = writer.random.pick(&all);
    match writer.random.below(10) {
        0 | 1 => {
            let kind = writer.random.pick(&[DataKind::Device, DataKind::Device, DataKind::ToSelf]);
            let clauses = vec![Clause::Data(kind, vec![part(writer, &data)])];
            writer.offer(Stmt::Alone { kind: Alone::Update, clauses })
        }
        2 if !data.extents.is_empty() => writer.fill(&data),
        2 => {
            let value = Expr::Const(writer.random.between(1, 9));
            writer.offer(assign(Place::Var(data.var), value))
        }
        3 => {
            let kind = writer.random.pick(&[DataKind::CopyIn, DataKind::Create]);
            let clauses = vec![Clause::Data(kind, vec![data.item()])];
            writer.offer(Stmt::Alone { kind: Alone::EnterData, clauses })
        }
        4 => {
            let kind = writer.random.pick(&[DataKind::CopyOut, DataKind::Delete]);
            let clauses = vec![Clause::Data(kind, vec![data.item()])];
            writer.offer(Stmt::Alone { kind: Alone::ExitData, clauses })
        }
        5 => by_function(writer),
        6 => by_routine(writer, scalars),
        _ => construct(writer, scalars),
    }
}

fn part(writer: &mut Writer, data: &Data) -> Item {
    match data.extents.is_empty() || writer.random.chance(60) {
        true => data.item(),
        false => data.rows(1, data.extents[0] as i64 - 1),
    }
}

/// A construct on what there is.
fn construct(writer: &mut Writer, scalars: &[Data]) -> bool {
    let all = writer.data.clone();
    let chosen = writer.random.some(&all);
    let end = chosen.iter().map(|data| data.extents[0]).min().unwrap_or(1) as i64;
    let mut one = writer.work_loop(&chosen, 0, end);
    if !scalars.is_empty() && writer.random.chance(50) {
        let scalar = Expr::var(writer.random.pick(scalars).var);
        if let Some(Stmt::Assign { value, .. }) = one.body.first_mut() {
            *value = Expr::binary(Op::Add, value.clone(), scalar);
        }
    }
    let mut clauses = Vec::new();
    for data in &chosen {
        let must = data.is_pointer && !writer.is_fortran();
        if must || writer.random.chance(25) {
            let kind = writer.random.pick(&[DataKind::Copy, DataKind::Present, DataKind::CopyIn]);
            clauses.push(Clause::Data(kind, vec![data.item()]));
        }
    }
    let construct = writer.construct(vec![one], clauses);
    writer.offer(without_gangs_of_serial(construct))
}

/// Whether a variable of the file has a `declare` of its own.
fn is_declared(writer: &Writer, data: &Data) -> bool {
    let mut declares = writer.program.declares.iter();
    declares.any(|clause| matches!(clause, Clause::Data(_, items) if items.contains(&Item::var(data.var))))
}

/// A routine that uses variables of the file by their names.
fn by_routine(writer: &mut Writer, scalars: &[Data]) -> bool {
    let globals: Vec<Data> = writer
        .data
        .iter()
        .filter(|data| is_declared(writer, data) && data.extents.len() == 1)
        .cloned()
        .collect();
    let Some(first) = globals.first() else { return false };
    let number = writer.parameter("n", Type::Num(Num::Int), Default::default());
    let place = first.at(vec![Expr::var(number)]);
    let mut leaves = vec![Expr::var(number), Expr::Read(place.clone())];
    let declared = scalars.iter().filter(|scalar| is_declared(writer, scalar));
    leaves.extend(declared.map(|scalar| Expr::var(scalar.var)));
    let body = vec![writer.change(&place, &leaves)];
    let function = writer.function(vec![number], None, Some(Level::Seq), body, None);
    let counter = writer.counter();
    let call = Stmt::Call(function, vec![Expr::var(counter)]);
    let mut one = writer.count_loop(counter, 0, first.extents[0] as i64, vec![call]);
    one.directive = None;
    let construct = writer.construct(vec![one], Vec::new());
    writer.offer(construct)
}

/// A function with a `declare` of its own: of a parameter, or of a local array.
fn by_function(writer: &mut Writer) -> bool {
    let all = writer.data.clone();
    let data = writer.random.pick(&all);
    if data.extents.len() != 1 {
        return false;
    }
    let count = data.extents[0];
    let array = array_parameter(writer, data.num, count);
    writer.program.vars[array].restrict = false;
    let num = writer.num();
    let own: VarId = writer.variable("w", Type::array(&[count], num), Storage::Local);
    let parameter = Data { var: array, num: data.num, extents: vec![count], is_pointer: true };
    let own_data = Data { var: own, num, extents: vec![count], is_pointer: false };
    let (of_parameter, of_own) = (
        writer.random.pick(&[DataKind::Copy, DataKind::CopyIn, DataKind::Present, DataKind::CopyOut]),
        writer.random.pick(&[DataKind::Create, DataKind::CopyIn, DataKind::Create]),
    );
    let mut body: Block = Vec::new();
    let fill = Stmt::Fill { place: Place::Var(own), count, factor: 3, add: 1, modulus: 7 };
    body.push(fill);
    let counter = writer.counter();
    let index = Expr::var(counter);
    let (target, source) = (own_data.at(vec![index.clone()]), parameter.at(vec![index.clone()]));
    if of_own == DataKind::CopyIn {
        // What the host set before the function's body is what counts: nothing was set.
        body.push(Stmt::Alone {
            kind: Alone::Update,
            clauses: vec![Clause::Data(DataKind::Device, vec![Item::var(own)])],
        });
    }
    let value = writer.expr(std::slice::from_ref(&index), 1);
    let first = vec![assign(target.clone(), value)];
    let mut one = writer.count_loop(counter, 0, count as i64, first);
    one.directive = Some(Vec::new());
    let construct = writer.construct(vec![one], Vec::new());
    body.push(construct);
    let second = writer.change(&source, &[index, Expr::Read(target)]);
    let mut one = writer.count_loop(counter, 0, count as i64, vec![second]);
    one.directive = Some(Vec::new());
    // No section stands in `declare` (2.13): in C the construct says how much the parameter leads to.
    let is_declared = writer.is_fortran();
    let clauses = match is_declared {
        true => Vec::new(),
        false => vec![Clause::Data(of_parameter, vec![parameter.item()])],
    };
    let construct = writer.construct(vec![one], clauses);
    body.push(construct);
    if of_parameter == DataKind::Present || writer.random.chance(30) {
        let clauses = vec![Clause::Data(DataKind::ToSelf, vec![parameter.item()])];
        body.push(Stmt::Alone { kind: Alone::Update, clauses });
    }
    let function = writer.function(vec![array], None, None, body, None);
    let mut declares = vec![Clause::Data(of_own, vec![Item::var(own)])];
    if is_declared {
        declares.insert(0, Clause::Data(of_parameter, vec![parameter.item()]));
    }
    writer.program.functions[function].declares = declares;
    writer.program.functions[function].is_one_declare = writer.random.chance(60);
    writer.offer(Stmt::Call(function, vec![Expr::Address(data.at(vec![Expr::Const(0)]))]))
}
