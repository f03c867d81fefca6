//! Data on the device: reference counts, what is present, sections.
//!
//! Invariant: the kinds differ in how often they choose which directive, in nothing else.

use super::routines::array_parameter;
use super::writer::{Data, Writer};
use crate::hunt::program::{Alone, Clause, DataKind, Expr, Flavour, Item, Loop, Place, Stmt, Storage};

/// How often what is written.
#[derive(Clone, Copy)]
pub struct Weights {
    /// `enter data` and `exit data`.
    pub dynamic: usize,
    /// `data`.
    pub structured: usize,
    /// Compute constructs.
    pub compute: usize,
    /// `update`.
    pub update: usize,
    /// Changes on the host.
    pub host: usize,
    /// How often, in a hundred, a clause names a section.
    pub sections: u64,
    /// How often, in a hundred, a directive has `async`.
    pub queues: u64,
}

/// Reference counts.
pub fn counts(writer: &mut Writer) {
    let weights =
        Weights { dynamic: 5, structured: 2, compute: 3, update: 1, host: 1, sections: 0, queues: 0 };
    write(writer, weights);
}

/// What is present.
pub fn present(writer: &mut Writer) {
    let weights =
        Weights { dynamic: 2, structured: 2, compute: 5, update: 2, host: 2, sections: 15, queues: 0 };
    write(writer, weights);
}

/// Sections.
pub fn sections(writer: &mut Writer) {
    let weights =
        Weights { dynamic: 3, structured: 2, compute: 4, update: 2, host: 1, sections: 75, queues: 0 };
    write(writer, weights);
}

/// Some data, then some steps.
pub fn write(writer: &mut Writer, weights: Weights) {
    let are_alike = writer.random.chance(35);
    for _ in 0..writer.random.between(2, 3) {
        let data = match writer.data.first().filter(|_| are_alike) {
            Some(first) => {
                let (extents, num) = (first.extents.clone(), first.num);
                writer.array(&extents, num, Storage::Local)
            }
            None => some_data(writer),
        };
        writer.data.push(data);
    }
    let steps = writer.random.between(8, 16);
    for _ in 0..steps {
        step(writer, weights);
    }
    while writer.depth() > 1 {
        writer.close();
    }
    finish(writer, weights.queues > 0);
}

/// Waits, and prints what there is.
pub fn finish(writer: &mut Writer, has_queues: bool) {
    if has_queues {
        let all = vec![Clause::Wait(Vec::new())];
        writer.offer(Stmt::Alone { kind: Alone::Wait, clauses: all });
    }
    for data in writer.data.clone() {
        let item = data.item();
        let clauses = vec![Clause::Data(DataKind::CopyOut, vec![item]), Clause::Finalize];
        if writer.random.chance(50) {
            writer.offer(Stmt::Alone { kind: Alone::ExitData, clauses });
        }
    }
    writer.show_all();
    for data in writer.data.clone() {
        if data.is_pointer && writer.random.chance(30) {
            writer.offer(Stmt::Free { place: Place::Var(data.var) });
        }
    }
}

fn some_data(writer: &mut Writer) -> Data {
    let num = writer.num();
    let extents = match writer.random.below(4) {
        0 => vec![writer.random.between(3, 5) as usize, writer.random.between(2, 4) as usize],
        _ => vec![writer.random.between(5, 12) as usize],
    };
    writer.array(&extents, num, Storage::Local)
}

fn step(writer: &mut Writer, weights: Weights) {
    if writer.random.chance(weights.queues / 3) {
        wait_step(writer);
    }
    let Weights { dynamic, structured, compute, update, host, .. } = weights;
    let choice = writer.random.below(dynamic + structured + compute + update + host);
    let data = writer.random.pick(&writer.data.clone());
    let is_kept = match writer.random.below(16) {
        0 => swap(writer),
        1 => helper(writer, &data, weights),
        2 if weights.queues == 0 => by_address(writer, &data),
        3 => turns(writer),
        _ => false,
    };
    if is_kept {
        return;
    }
    match choice {
        _ if choice < dynamic => dynamic_step(writer, &data, weights),
        _ if choice < dynamic + structured => structured_step(writer, &data, weights),
        _ if choice < dynamic + structured + compute => compute_step(writer, weights),
        _ if choice < dynamic + structured + compute + update => update_step(writer, &data, weights),
        _ => {
            if writer.random.chance(50) {
                writer.fill(&data);
            } else {
                let count = data.extents[0] as i64;
                let one = writer.work_loop(&[data], 0, count);
                writer.offer(Stmt::Loop(one));
            }
        }
    }
    if writer.random.chance(60) {
        let data = writer.random.pick(&writer.data.clone());
        writer.show(&data);
    }
}

/// An item of a clause: all of the data, or a part.
pub fn item(writer: &mut Writer, data: &Data, sections: u64) -> Item {
    if !writer.random.chance(sections) {
        return data.item();
    }
    let (low, count) = part(writer, data);
    let mut item = data.rows(low, count);
    if let (Expr::Const(number), true) = (item.section[0].1.clone(), writer.random.chance(20)) {
        item.section[0].1 = Expr::Named(number);
    }
    item
}

/// Some of the rows.
fn part(writer: &mut Writer, data: &Data) -> (i64, i64) {
    let extent = data.extents[0] as i64;
    // Few sections, so that they meet again.
    match writer.random.below(4) {
        0 => (0, extent - 1),
        1 => (1, extent - 1),
        2 => (1, extent - 2),
        _ => (extent / 2, extent - extent / 2),
    }
}

/// `async`, and sometimes `wait`.
pub fn queue_clauses(writer: &mut Writer, queues: u64, clauses: &mut Vec<Clause>) {
    if writer.random.chance(queues) {
        let number = match writer.random.below(6) {
            0 => None,
            _ => Some(Expr::Const(writer.random.between(1, 3))),
        };
        clauses.push(Clause::Async(number));
    }
    if writer.random.chance(queues / 3) {
        let first = Expr::Const(writer.random.between(1, 3));
        let mut numbers = vec![first];
        if writer.random.chance(30) {
            numbers.push(Expr::Const(writer.random.between(1, 3)));
        }
        if numbers.len() == 2 && numbers[0] == numbers[1] {
            numbers.pop();
        }
        if writer.random.chance(15) {
            numbers.clear();
        }
        clauses.push(Clause::Wait(numbers));
    }
}

/// A `wait` directive: of a queue, of all, or of one by another.
fn wait_step(writer: &mut Writer) {
    let first = Expr::Const(writer.random.between(1, 3));
    let mut clauses = match writer.random.below(4) {
        0 => vec![Clause::Wait(Vec::new())],
        _ => vec![Clause::Wait(vec![first])],
    };
    if writer.random.chance(25) {
        clauses.push(Clause::Async(Some(Expr::Const(writer.random.between(1, 3)))));
    }
    writer.offer(Stmt::Alone { kind: Alone::Wait, clauses });
}

fn dynamic_step(writer: &mut Writer, data: &Data, weights: Weights) {
    for _ in 0..4 {
        let item = item(writer, data, weights.sections);
        // What a region around holds is rarely let go.
        let enters = writer.random.chance(if writer.depth() > 1 { 95 } else { 45 });
        let (kind, word) = match (enters, writer.random.below(3)) {
            (true, 0) => (Alone::EnterData, DataKind::Create),
            (true, _) => (Alone::EnterData, DataKind::CopyIn),
            (false, 0) => (Alone::ExitData, DataKind::Delete),
            (false, _) => (Alone::ExitData, DataKind::CopyOut),
        };
        let mut clauses = vec![Clause::Data(word, vec![item])];
        if !enters && writer.random.chance(15) {
            clauses.push(Clause::Finalize);
        }
        if writer.random.chance(8) {
            let condition = writer.condition(&[]);
            clauses.push(Clause::If(condition));
        }
        queue_clauses(writer, weights.queues, &mut clauses);
        if writer.offer(Stmt::Alone { kind, clauses }) {
            return;
        }
    }
}

fn structured_step(writer: &mut Writer, data: &Data, weights: Weights) {
    if writer.depth() > 3 || (writer.depth() > 1 && writer.random.chance(35)) {
        writer.close();
        return;
    }
    let mut items = vec![(data_kind(writer), item(writer, data, weights.sections))];
    for other in writer.data.clone() {
        if other.var != data.var && writer.random.chance(30) {
            items.push((data_kind(writer), item(writer, &other, weights.sections)));
        }
    }
    let clauses: Vec<Clause> = items.into_iter().map(|(kind, item)| Clause::Data(kind, vec![item])).collect();
    if !writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body }) && writer.depth() > 1 {
        writer.close();
    }
}

fn data_kind(writer: &mut Writer) -> DataKind {
    writer.random.pick(&[
        DataKind::Copy,
        DataKind::Copy,
        DataKind::CopyIn,
        DataKind::CopyOut,
        DataKind::Create,
        DataKind::Present,
        DataKind::NoCreate,
    ])
}

/// A compute construct on some of the data.
pub fn compute_step(writer: &mut Writer, weights: Weights) {
    for _ in 0..4 {
        let chosen = {
            let all = writer.data.clone();
            writer.random.some(&all)
        };
        let mut clauses = Vec::new();
        let mut range = (0, chosen[0].extents[0] as i64);
        for (number, data) in chosen.iter().enumerate() {
            let is_named = data.is_pointer && !writer.is_fortran();
            if !is_named && writer.random.chance(35) {
                continue;
            }
            let item = item(writer, data, weights.sections);
            if number == 0 && !item.section.is_empty() {
                range = bounds(&item, range);
            }
            let kind = data_kind(writer);
            clauses.push(Clause::Data(kind, vec![item]));
        }
        let longest = chosen.iter().map(|data| data.extents[0] as i64).min().unwrap_or(range.1);
        let loops: Vec<Loop> = vec![writer.work_loop(&chosen, range.0, range.1.min(longest))];
        queue_clauses(writer, weights.queues, &mut clauses);
        if writer.random.chance(5) {
            clauses.push(Clause::DefaultPresent);
        }
        if writer.random.chance(10) {
            clauses.push(Clause::NumGangs(Expr::Const(writer.random.between(1, 4))));
        }
        if writer.random.chance(6) {
            let condition = writer.condition(&[]);
            let is_self = writer.random.chance(40);
            clauses.push(if is_self { Clause::OnSelf(condition) } else { Clause::If(condition) });
        }
        let construct = writer.construct(loops, clauses);
        if writer.offer(without_gangs_of_serial(construct)) {
            return;
        }
    }
}

/// `serial` has no `num_gangs`.
pub fn without_gangs_of_serial(mut stmt: Stmt) -> Stmt {
    if let Stmt::Compute(one) = &mut stmt
        && one.kind == crate::hunt::program::Kind::Serial
    {
        one.clauses.retain(|clause| {
            !matches!(clause, Clause::NumGangs(_) | Clause::NumWorkers(_) | Clause::VectorLength(_))
        });
    }
    stmt
}

/// Two pointers change places.
fn swap(writer: &mut Writer) -> bool {
    let is_free = |data: &&Data| {
        let flavour = writer.program.vars[data.var].flavour;
        data.is_pointer && matches!(flavour, Flavour::Plain | Flavour::FortranPointer)
    };
    let pointers: Vec<Data> = writer.data.iter().filter(is_free).cloned().collect();
    let [first, .., second] = pointers.as_slice() else { return false };
    let flavour = |data: &Data| writer.program.vars[data.var].flavour;
    if first.extents != second.extents || first.num != second.num || flavour(first) != flavour(second) {
        return false;
    }
    let flavour = flavour(first);
    let ty = writer.program.vars[first.var].ty.clone();
    let between = writer.variable("q", ty, Storage::Local);
    writer.program.vars[between].flavour = flavour;
    writer.program.vars[between].lower = writer.program.vars[first.var].lower;
    let point =
        |place: usize, target: usize| Stmt::Point { place: Place::Var(place), target: Expr::var(target) };
    let all = [point(between, first.var), point(first.var, second.var), point(second.var, between)];
    // All of it or nothing.
    writer.offer(Stmt::Scope { vars: Vec::new(), body: all.to_vec() })
}

/// A function that computes with what it is given.
fn helper(writer: &mut Writer, data: &Data, weights: Weights) -> bool {
    if data.extents.len() != 1 {
        return false;
    }
    let count = data.extents[0];
    let array = array_parameter(writer, data.num, count);
    let parameter = Data { var: array, num: data.num, extents: vec![count], is_pointer: true };
    let one = writer.work_loop(std::slice::from_ref(&parameter), 0, count as i64);
    let kind = writer.random.pick(&[DataKind::Present, DataKind::Present, DataKind::Copy, DataKind::CopyIn]);
    let mut clauses = vec![Clause::Data(kind, vec![parameter.item()])];
    queue_clauses(writer, weights.queues, &mut clauses);
    let mut body = vec![without_gangs_of_serial(writer.construct(vec![one], clauses))];
    if writer.random.chance(30) {
        let kind = writer.random.pick(&[DataKind::Device, DataKind::ToSelf]);
        let mut clauses = vec![Clause::Data(kind, vec![item(writer, &parameter, weights.sections)])];
        queue_clauses(writer, weights.queues, &mut clauses);
        body.push(Stmt::Alone { kind: Alone::Update, clauses });
    }
    if writer.random.chance(30) {
        let kind = writer.random.pick(&[DataKind::Copy, DataKind::Present, DataKind::Create]);
        let clauses = vec![Clause::Data(kind, vec![parameter.item()])];
        body = vec![Stmt::Data { clauses, body }];
    }
    let function = writer.function(vec![array], None, None, body, None);
    writer.offer(Stmt::Call(function, vec![Expr::Address(data.at(vec![Expr::Const(0)]))]))
}

/// A function that gets an address of the device.
fn by_address(writer: &mut Writer, data: &Data) -> bool {
    if writer.is_fortran() || data.extents.len() != 1 {
        return false;
    }
    let count = data.extents[0];
    let array = array_parameter(writer, data.num, count);
    writer.program.vars[array].restrict = false;
    let parameter = Data { var: array, num: data.num, extents: vec![count], is_pointer: true };
    let one = writer.work_loop(std::slice::from_ref(&parameter), 0, count as i64);
    let clauses = vec![Clause::Data(DataKind::DevicePtr, vec![Item::var(array)])];
    let body = vec![writer.construct(vec![one], clauses)];
    let function = writer.function(vec![array], None, None, body, None);
    let call = Stmt::Call(function, vec![Expr::Address(data.at(vec![Expr::Const(0)]))]);
    let clauses = vec![Clause::Data(DataKind::UseDevice, vec![Item::var(data.var)])];
    writer.offer(Stmt::HostData { clauses, body: vec![call] })
}

/// A loop of the host around what follows.
fn turns(writer: &mut Writer) -> bool {
    if writer.depth() > 3 {
        return false;
    }
    let counter = writer.counter();
    let end = Expr::Const(writer.random.between(2, 3));
    writer.open(move |body| {
        let low = Expr::Const(0);
        Stmt::Loop(Loop { counter, low, end: end.clone(), step: 1, inclusive: false, directive: None, body })
    })
}

/// The rows of an item.
fn bounds(item: &Item, all: (i64, i64)) -> (i64, i64) {
    match item.section.first() {
        Some((Expr::Const(low), Expr::Const(count) | Expr::Named(count))) => (*low, low + count),
        _ => all,
    }
}

fn update_step(writer: &mut Writer, data: &Data, weights: Weights) {
    for _ in 0..3 {
        let kind = writer.random.pick(&[DataKind::Device, DataKind::ToSelf, DataKind::ToSelf]);
        let mut clauses = vec![Clause::Data(kind, vec![item(writer, data, weights.sections.max(30))])];
        if writer.random.chance(20) {
            clauses.push(Clause::IfPresent);
        }
        queue_clauses(writer, weights.queues, &mut clauses);
        if writer.offer(Stmt::Alone { kind: Alone::Update, clauses }) {
            return;
        }
    }
}
