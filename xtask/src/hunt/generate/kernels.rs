//! Loops that OpenACC leaves to the compiler, with dependences and without.
//!
//! Invariant: what is called `independent` is so, as the model runs it; everything else has the meaning of its order.

use super::levels::assign;
use super::writer::{Data, Writer};
use crate::hunt::program::{
    Alone, Block, Clause, Compute, DataKind, Expr, Kind, Loop, Num, Op, Path, Place, Shape, Stmt, Storage,
    Type, VarId,
};

/// Arrays, numbers, and regions of loops over them.
pub fn write(writer: &mut Writer) {
    let size = writer.random.between(7, 14) as usize;
    for _ in 0..writer.random.between(2, 3) {
        let num = writer.num();
        let data = writer.array(&[size], num, Storage::Local);
        writer.data.push(data);
    }
    if writer.random.chance(60) {
        let num = writer.num();
        let extents = [writer.random.between(3, 5) as usize, size];
        let data = writer.array(&extents, num, Storage::Local);
        writer.data.push(data);
    }
    let index = writer.array(&[size], Num::Int, Storage::Local);
    indices(writer, &index);
    let mut tangle =
        Tangle { arrays: writer.data.clone(), index: Some(index.clone()), scalars: Vec::new(), size };
    for _ in 0..writer.random.between(1, 3) {
        let num = writer.random.pick(&[Num::Int, Num::Int, Num::Double, Num::Long]);
        tangle.scalars.push(writer.scalar(num));
    }
    let is_in_data = writer.random.chance(30);
    if is_in_data {
        let items = writer.data.iter().map(Data::item).chain([index.item()]).collect();
        let clauses = vec![Clause::Data(DataKind::Copy, items)];
        writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body });
    }
    // One queue for all, which the host does not always wait for: what is queued then reads what was queued before.
    let queue = writer.random.chance(30).then(|| Expr::Const(writer.random.between(1, 3)));
    let wait = || Stmt::Alone { kind: Alone::Wait, clauses: vec![Clause::Wait(Vec::new())] };
    for _ in 0..writer.random.between(2, 4) {
        for _ in 0..6 {
            let construct = match writer.random.chance(30) {
                true => path(writer, &tangle, is_in_data, queue.as_ref()),
                false => region(writer, &tangle, is_in_data, queue.as_ref()),
            };
            if writer.offer(construct) {
                if queue.is_none() || writer.random.chance(40) {
                    writer.offer(wait());
                    tangle.show(writer);
                }
                break;
            }
        }
    }
    writer.offer(wait());
    while writer.depth() > 1 {
        writer.close();
    }
    tangle.show(writer);
}

/// The index array holds a permutation, or numbers that come again.
fn indices(writer: &mut Writer, index: &Data) {
    let size = index.count() as i64;
    let factor = if writer.random.chance(50) { size - 1 } else { writer.random.between(1, 4) };
    let add = writer.random.between(0, 5);
    writer.offer(Stmt::Fill {
        place: Place::Var(index.var),
        count: index.count(),
        factor,
        add,
        modulus: size,
    });
}

/// What loops use.
#[derive(Clone, Debug)]
pub struct Tangle {
    /// Arrays of one or two dimensions; the last one has `size` elements.
    pub arrays: Vec<Data>,
    /// Subscripts.
    pub index: Option<Data>,
    /// Numbers.
    pub scalars: Vec<VarId>,
    /// How many elements a row has.
    pub size: usize,
}

impl Tangle {
    /// Prints all of it that the host knows.
    pub fn show(&self, writer: &mut Writer) {
        for data in &self.arrays {
            writer.show(data);
        }
        for var in &self.scalars {
            writer.show_place(Place::Var(*var), 1);
        }
    }

    /// A subscript that is mostly the counter and something.
    fn subscript(&self, writer: &mut Writer, counter: VarId) -> Expr {
        let index = Expr::var(counter);
        match writer.random.below(16) {
            0..6 => index,
            6 | 7 => index.plus(1),
            8 => index.plus(-1),
            9 => index.plus(writer.random.between(2, 3)),
            10 => Expr::binary(Op::Mul, Expr::Const(2), index),
            11 => Expr::binary(Op::Mul, Expr::Const(2), index).plus(1),
            12 => Expr::binary(Op::Sub, Expr::Const(self.size as i64 - 1), index),
            13 => Expr::Const(writer.random.between(0, 3)),
            14 if !self.scalars.is_empty() => {
                let var = writer.random.pick(&self.scalars);
                match writer.is_whole(&Expr::var(var)) {
                    true => Expr::var(var),
                    false => index,
                }
            }
            _ => match &self.index {
                Some(array) => Expr::Read(array.at(vec![index])),
                None => index,
            },
        }
    }

    /// An element of an array.
    fn element(&self, writer: &mut Writer, counters: &[VarId]) -> Place {
        let data = writer.random.pick(&self.arrays);
        let last = counters[counters.len() - 1];
        let column = self.subscript(writer, last);
        match data.extents.len() {
            1 => data.at(vec![column]),
            _ => {
                let row = match counters.len() {
                    1 => Expr::Const(writer.random.between(0, 2)),
                    _ => match writer.random.below(6) {
                        0 => Expr::var(counters[0]).plus(-1),
                        1 => Expr::var(counters[0]).plus(1),
                        _ => Expr::var(counters[0]),
                    },
                };
                data.at(vec![row, column])
            }
        }
    }

    fn leaves(&self, writer: &mut Writer, counters: &[VarId]) -> Vec<Expr> {
        let mut leaves: Vec<Expr> = counters.iter().map(|counter| Expr::var(*counter)).collect();
        for _ in 0..writer.random.between(1, 3) {
            leaves.push(Expr::Read(self.element(writer, counters)));
        }
        if !self.scalars.is_empty() && writer.random.chance(40) {
            leaves.push(Expr::var(writer.random.pick(&self.scalars)));
        }
        leaves
    }

    /// A statement of a body.
    fn statement(&self, writer: &mut Writer, counters: &[VarId]) -> Stmt {
        let leaves = self.leaves(writer, counters);
        let is_of_scalar = !self.scalars.is_empty() && writer.random.chance(35);
        let place = match is_of_scalar {
            true => Place::Var(writer.random.pick(&self.scalars)),
            false => self.element(writer, counters),
        };
        let value = writer.expr(&leaves, 2);
        let whole = writer.is_whole(&Expr::Read(place.clone())) && writer.is_whole(&value);
        let op = match writer.random.below(if is_of_scalar { 5 } else { 8 }) {
            0 => Some(Op::Add),
            1 if whole => Some(writer.random.pick(&[Op::BitXor, Op::BitOr])),
            1 => Some(Op::Max),
            2 if is_of_scalar => Some(Op::Add),
            _ => None,
        };
        let value = match (is_of_scalar, op, writer.random.chance(20)) {
            // It counts.
            (true, Some(Op::Add), true) => Expr::Const(writer.random.between(1, 2)),
            _ => value,
        };
        let stmt = Stmt::Assign { place, op, value, atomic: false };
        match writer.random.chance(15) {
            true => {
                let condition = writer.condition(&leaves);
                let other = match writer.random.chance(30) {
                    true => vec![self.statement(writer, counters)],
                    false => Vec::new(),
                };
                Stmt::If { condition, then: vec![stmt], other }
            }
            false => stmt,
        }
    }

    /// The body of a loop: statements, and often a variable that is set first.
    fn body(&self, writer: &mut Writer, counters: &[VarId]) -> Block {
        let mut body = Vec::new();
        let mut scope = Vec::new();
        let mut inner = self.clone();
        if writer.random.chance(30) {
            let num = writer.num();
            let var = writer.variable("t", Type::Num(num), Storage::Local);
            if !writer.is_fortran() && writer.random.chance(50) {
                scope.push(var);
            }
            let leaves = self.leaves(writer, counters);
            body.push(assign(Place::Var(var), writer.expr(&leaves, 1)));
            inner.scalars.push(var);
        }
        for _ in 0..writer.random.between(1, 2) {
            body.push(inner.statement(writer, counters));
        }
        match scope.is_empty() {
            true => body,
            false => vec![Stmt::Scope { vars: scope, body }],
        }
    }

    /// A loop, or two in each other.
    pub fn nest(&self, writer: &mut Writer) -> Loop {
        let counter = writer.counter();
        let is_deep = writer.random.chance(35);
        let rows = self.arrays.iter().find(|data| data.extents.len() == 2).map(|data| data.extents[0] as i64);
        let mut counters = vec![counter];
        let body = match is_deep {
            true => {
                let inner = writer.counter();
                counters.push(inner);
                let body = self.body(writer, &counters);
                let one = self.counted(writer, inner, self.size as i64, body);
                let mut all = vec![Stmt::Loop(one)];
                if writer.random.chance(25) {
                    all.insert(0, self.statement(writer, &counters[..1]));
                }
                if writer.random.chance(25) {
                    all.push(self.statement(writer, &counters[..1]));
                }
                all
            }
            false => self.body(writer, &counters),
        };
        let end = match is_deep {
            true => rows.unwrap_or(4),
            false => self.size as i64,
        };
        self.counted(writer, counter, end, body)
    }

    /// A loop over most of a row.
    fn counted(&self, writer: &mut Writer, counter: VarId, size: i64, body: Block) -> Loop {
        let (low, end) = match writer.random.below(5) {
            0 => (1, size),
            1 => (0, size - 1),
            2 => (1, size - 1),
            3 => (0, size / 2),
            _ => (0, size),
        };
        let mut one = writer.count_loop(counter, low, end, body);
        if writer.random.chance(8) && one.step == 1 {
            one.step = 2;
        }
        one
    }

    /// Directives on loops: what they say must be true, which the model knows.
    pub fn directives(&self, writer: &mut Writer, one: &mut Loop) {
        one.directive = match writer.random.below(8) {
            0 => Some(vec![Clause::Auto]),
            1 => Some(Vec::new()),
            2 => Some(vec![Clause::Independent]),
            3 => Some(vec![Clause::Seq]),
            4 => Some(vec![Clause::Independent, Clause::Gang]),
            _ => None,
        };
        for stmt in &mut one.body {
            if let Stmt::Loop(inner) = stmt
                && writer.random.chance(50)
            {
                self.directives(writer, inner);
            }
        }
    }
}

/// Sometimes a condition on a number, which what was before may have left.
fn condition(writer: &mut Writer, tangle: &Tangle) -> Option<Expr> {
    let is_wanted = writer.random.chance(12) && !tangle.scalars.is_empty();
    let number = is_wanted.then(|| Expr::var(writer.random.pick(&tangle.scalars)))?;
    let limit = Expr::Const(writer.random.between(-2, 9));
    writer.is_whole(&number).then(|| Expr::binary(Op::Lt, number, limit))
}

/// Code of the host with a region, after which a jump may go around what gives numbers other values.
fn path(writer: &mut Writer, tangle: &Tangle, is_in_data: bool, queue: Option<&Expr>) -> Stmt {
    let shape = writer.random.pick(&[Shape::Loop, Shape::Loop, Shape::Once, Shape::Branch, Shape::Labels]);
    let turns = match shape {
        Shape::Loop | Shape::Labels => writer.random.between(1, 3),
        Shape::Once | Shape::Branch => 1,
    };
    let counter = writer.variable("w", Type::Num(Num::Int), Storage::Local);
    // No other path has its counter.
    let number = counter;
    let wait = || Stmt::Alone { kind: Alone::Wait, clauses: vec![Clause::Wait(Vec::new())] };
    let leave = |writer: &mut Writer| {
        let again = matches!(shape, Shape::Loop | Shape::Labels) && writer.random.chance(40);
        let is_of_scalar = !tangle.scalars.is_empty() && writer.random.chance(50);
        let condition = match is_of_scalar {
            true => {
                let limit = Expr::Const(writer.random.between(-2, 9));
                Expr::binary(Op::Lt, Expr::var(writer.random.pick(&tangle.scalars)), limit)
            }
            false => Expr::binary(Op::Eq, Expr::var(counter), Expr::Const(writer.random.between(0, 1))),
        };
        Stmt::Leave { shape, number, again, condition }
    };
    let mut body = Vec::new();
    for _ in 0..writer.random.between(1, 2) {
        body.push(region(writer, tangle, is_in_data, queue));
        body.push(wait());
        if writer.random.chance(80) {
            body.push(leave(writer));
        }
        for var in &tangle.scalars {
            if writer.random.chance(60) {
                let value = Expr::Const(writer.random.between(0, 9));
                body.push(assign(Place::Var(*var), value));
            }
        }
    }
    Stmt::Path(Path { shape, number, counter, turns, body })
}

/// A region of some loops; of those that have one queue, it is put into that or waits for it.
fn region(writer: &mut Writer, tangle: &Tangle, is_in_data: bool, queue: Option<&Expr>) -> Stmt {
    let kind =
        writer.random.pick(&[Kind::Kernels, Kind::Kernels, Kind::Kernels, Kind::Kernels, Kind::Parallel]);
    let mut clauses = Vec::new();
    for data in tangle.arrays.iter().chain(&tangle.index) {
        let must = data.is_pointer && !writer.is_fortran() && !is_in_data;
        if must || writer.random.chance(30) {
            clauses.push(Clause::Data(DataKind::Copy, vec![data.item()]));
        }
    }
    if kind == Kind::Parallel {
        let mut one = tangle.nest(writer);
        one.directive = Some(vec![Clause::Auto]);
        clauses.push(Clause::NumGangs(Expr::Const(1)));
        clauses.extend(queue.map(|queue| Clause::Wait(vec![queue.clone()])));
        return Stmt::Compute(Compute { kind, clauses, combined: true, body: vec![Stmt::Loop(one)] });
    }
    if let Some(queue) = queue.cloned() {
        let is_queued = writer.random.chance(75);
        clauses.push(if is_queued { Clause::Async(Some(queue)) } else { Clause::Wait(vec![queue]) });
    } else if writer.random.chance(25) {
        clauses.push(Clause::Async(Some(Expr::Const(writer.random.between(1, 3)))));
    }
    // Whether loops are independent is known of those that the device runs.
    let condition = condition(writer, tangle);
    let may_say = condition.is_none();
    clauses.extend(condition.map(Clause::If));
    let mut body = Vec::new();
    for _ in 0..writer.random.between(1, 3) {
        let mut one = tangle.nest(writer);
        if writer.random.chance(45) && may_say {
            tangle.directives(writer, &mut one);
        }
        body.push(Stmt::Loop(one));
        if !tangle.scalars.is_empty() && writer.random.chance(30) {
            let place = Place::Var(writer.random.pick(&tangle.scalars));
            let leaves: Vec<Expr> = tangle.scalars.iter().map(|var| Expr::var(*var)).collect();
            let value = writer.expr(&leaves, 1);
            body.push(assign(place, value));
        }
    }
    if writer.is_fortran() && writer.random.chance(40) {
        let one = elements(writer, tangle);
        body.insert(0, one);
    }
    let is_one = matches!(body.as_slice(), [Stmt::Loop(one)] if one.directive.is_some());
    let combined = is_one && writer.random.chance(60);
    Stmt::Compute(Compute { kind, clauses, combined, body })
}

/// An array statement.
fn elements(writer: &mut Writer, tangle: &Tangle) -> Stmt {
    let vectors: Vec<Data> = tangle.arrays.iter().filter(|data| data.extents.len() == 1).cloned().collect();
    let (target, source) = (writer.random.pick(&vectors), writer.random.pick(&vectors));
    let counter = writer.variable("e", Type::Num(Num::Int), Storage::Local);
    let shift = writer.random.between(-1, 1);
    let (low, count) = (1, tangle.size as i64 - 2);
    let first = Expr::Read(source.at(vec![Expr::var(counter).plus(shift)]));
    let second = match writer.random.chance(50) {
        true => Expr::Read(target.at(vec![Expr::var(counter)])),
        false => Expr::Const(writer.random.between(1, 5)),
    };
    let value = Expr::binary(Op::Add, first, second);
    Stmt::Elements { place: Place::Var(target.var), counter, low, count, value }
}
