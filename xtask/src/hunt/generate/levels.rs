//! Private, firstprivate and reduced variables on nested levels.
//!
//! Invariant: a variable that a loop reduces is changed inside by statements of the operator's form alone.

use super::writer::{Data, Writer};
use crate::hunt::program::{
    Block, Clause, Compute, DataKind, Expr, Item, Kind, Loop, Num, Op, Place, Stmt, Storage, Type, VarId,
};

/// Some constructs, each with a nest of loops.
pub fn write(writer: &mut Writer) {
    let rows = writer.random.between(3, 5) as usize;
    let columns = writer.random.between(3, 6) as usize;
    let num = writer.num();
    let matrix = writer.array(&[rows, columns], num, Storage::Local);
    let num = writer.num();
    let vector = writer.array(&[rows], num, Storage::Local);
    let num = writer.num();
    let row = writer.array(&[columns], num, Storage::Local);
    writer.data = vec![matrix, vector, row];
    let is_in_data = writer.random.chance(30);
    if is_in_data {
        let items: Vec<Item> = writer.data.iter().map(Data::item).collect();
        let clauses = vec![Clause::Data(DataKind::Copy, items)];
        writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body });
    }
    for _ in 0..writer.random.between(2, 4) {
        for _ in 0..6 {
            let mut nest = Nest::new(writer);
            let construct = nest.construct(writer);
            if writer.offer(construct) {
                for total in nest.totals {
                    writer.show_place(Place::Var(total.var), 1);
                }
                writer.show_all();
                break;
            }
        }
    }
    while writer.depth() > 1 {
        writer.close();
    }
    writer.show_all();
}

/// A scalar that is reduced over the whole nest.
struct Total {
    var: VarId,
    op: Op,
}

/// A nest of loops that is being written.
struct Nest {
    matrix: Data,
    vector: Data,
    row: Data,
    /// The levels of the loops, from the outside.
    levels: Vec<Vec<Clause>>,
    totals: Vec<Total>,
    /// What the construct has of its own, with values.
    inputs: Vec<VarId>,
    /// Arrays that are declared around the last loop, which has them private.
    declared: Vec<VarId>,
}

impl Nest {
    fn new(writer: &mut Writer) -> Nest {
        let [matrix, vector, row] = [0, 1, 2].map(|number| writer.data[number].clone());
        let levels: Vec<Vec<Clause>> = match writer.random.below(8) {
            0 | 1 => vec![vec![Clause::Gang], vec![Clause::Vector]],
            2 => vec![vec![Clause::Gang], vec![Clause::Worker], vec![Clause::Vector]],
            3 => vec![vec![Clause::Gang, Clause::Worker], vec![Clause::Vector]],
            4 => vec![vec![Clause::Gang], vec![Clause::Worker, Clause::Vector]],
            5 => vec![Vec::new(), Vec::new()],
            6 => vec![vec![Clause::Gang, Clause::Vector], vec![Clause::Seq]],
            _ => vec![vec![Clause::Gang], vec![Clause::Worker]],
        };
        Nest { matrix, vector, row, levels, totals: Vec::new(), inputs: Vec::new(), declared: Vec::new() }
    }

    /// A compute construct with the nest.
    fn construct(&mut self, writer: &mut Writer) -> Stmt {
        for _ in 0..writer.random.below(3) {
            let num = writer.random.pick(&[Num::Int, Num::Double, Num::Long]);
            let op = match num {
                Num::Double => writer.random.pick(&[Op::Add, Op::Max, Op::Min]),
                _ => writer.random.pick(&[
                    Op::Add,
                    Op::Max,
                    Op::Min,
                    Op::BitOr,
                    Op::BitXor,
                    Op::BitAnd,
                    Op::Add,
                ]),
            };
            let var = writer.scalar(num);
            self.totals.push(Total { var, op });
        }
        for _ in 0..writer.random.below(3) {
            let num = writer.num();
            let var = writer.scalar(num);
            self.inputs.push(var);
        }
        let combined = writer.random.chance(60);
        let mut before = Vec::new();
        let mut clauses = self.data_clauses(writer);
        let mut leaves: Vec<Expr> = self.inputs.iter().map(|var| Expr::var(*var)).collect();
        if !combined {
            self.on_construct(writer, &mut before, &mut clauses, &mut leaves);
        } else if writer.random.chance(30) {
            // Few gangs run several iterations each.
            clauses.push(Clause::NumGangs(Expr::Const(writer.random.between(1, 2))));
        }
        let is_reduced = !combined && !self.totals.is_empty() && writer.random.chance(50);
        for total in &self.totals {
            if is_reduced {
                clauses.push(Clause::Reduction(total.op, vec![Place::Var(total.var)]));
            }
            if !combined && !is_reduced || writer.random.chance(30) {
                clauses.push(Clause::Data(DataKind::Copy, vec![Item::var(total.var)]));
            }
        }
        let nest = self.nest(writer, 0, &mut Vec::new(), &leaves);
        before.push(Stmt::Loop(nest));
        if !combined && writer.random.chance(40) {
            self.after(writer, &mut clauses, &mut before);
        }
        Stmt::Compute(Compute { kind: Kind::Parallel, clauses, combined, body: before })
    }

    /// What a construct says of scalars, and what each gang does with them before the loop.
    fn on_construct(
        &mut self,
        writer: &mut Writer,
        before: &mut Block,
        clauses: &mut Vec<Clause>,
        leaves: &mut Vec<Expr>,
    ) {
        for var in self.inputs.clone() {
            if writer.random.chance(50) {
                clauses.push(Clause::FirstPrivate(vec![var]));
            }
            if writer.random.chance(40) {
                let value = writer.expr(leaves, 1);
                before.push(assign(Place::Var(var), value));
            }
        }
        if writer.random.chance(40) {
            let num = writer.num();
            let var = writer.variable("t", Type::Num(num), Storage::Local);
            clauses.push(Clause::Private(vec![var]));
            let value = writer.expr(leaves, 1);
            before.push(assign(Place::Var(var), value));
            leaves.push(Expr::var(var));
        }
        if writer.random.chance(30) {
            clauses.push(Clause::NumGangs(Expr::Const(writer.random.pick(&[1, 1, 2, 3, 4, 5]))));
        }
        if writer.random.chance(15) {
            clauses.push(Clause::NumWorkers(Expr::Const(writer.random.between(1, 4))));
        }
    }

    /// What each gang does with what the nest has made, where there is one gang.
    fn after(&self, writer: &mut Writer, clauses: &mut Vec<Clause>, body: &mut Block) {
        let var = writer.variable("t", Type::Num(self.vector.num), Storage::Local);
        clauses.push(Clause::Private(vec![var]));
        let place = |at: i64| self.vector.at(vec![Expr::Const(at)]);
        let last = self.vector.extents[0] as i64 - 1;
        body.push(assign(Place::Var(var), Expr::Read(place(writer.random.between(0, last)))));
        if writer.random.chance(50) {
            let value = writer.expr(&[Expr::var(var)], 1);
            body.push(assign(place(writer.random.between(0, last)), value));
        }
        let counter = writer.counter();
        let value = writer.expr(&[Expr::var(var), Expr::var(counter)], 1);
        let fill = vec![assign(self.row.at(vec![Expr::var(counter)]), value)];
        let mut one = writer.count_loop(counter, 0, self.row.extents[0] as i64, fill);
        one.directive = Some(vec![Clause::Vector]);
        body.push(Stmt::Loop(one));
    }

    fn data_clauses(&self, writer: &mut Writer) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for data in [&self.matrix, &self.vector, &self.row] {
            if (data.is_pointer && !writer.is_fortran()) || writer.random.chance(40) {
                clauses.push(Clause::Data(DataKind::Copy, vec![data.item()]));
            }
        }
        if writer.random.chance(10) {
            clauses.push(Clause::VectorLength(Expr::Const(32)));
        }
        clauses
    }

    /// The loops of a level and below.
    fn nest(
        &mut self,
        writer: &mut Writer,
        level: usize,
        counters: &mut Vec<VarId>,
        leaves: &[Expr],
    ) -> Loop {
        let counter = writer.counter();
        counters.push(counter);
        let is_last = level + 1 == self.levels.len();
        let mut directive = self.levels[level].clone();
        let mut leaves = leaves.to_vec();
        leaves.push(Expr::var(counter));
        let mut body = Vec::new();
        let mut scope = Vec::new();
        self.temporary(writer, &mut directive, &mut body, &mut scope, &mut leaves);
        for total in &self.totals {
            if self.levels[level] != [Clause::Seq] {
                directive.push(Clause::Reduction(total.op, vec![Place::Var(total.var)]));
            }
        }
        if is_last {
            if level > 0 && writer.random.chance(20) {
                self.own_array(writer, &mut leaves, &mut directive, &mut body);
            }
            self.innermost(writer, counters, &leaves, &mut body);
        } else if level == 0 {
            self.outer(writer, counters, &leaves, &mut directive, &mut body);
        } else {
            let inner = self.inner(writer, level + 1, counters, &leaves);
            body.push(inner);
        }
        counters.pop();
        let body = match scope.is_empty() {
            true => body,
            false => vec![Stmt::Scope { vars: scope, body }],
        };
        let end = self.extent(level);
        let mut one = writer.count_loop(counter, 0, end, body);
        one.directive = Some(directive);
        one
    }

    /// The loops of an inner level, with what is declared around them.
    fn inner(
        &mut self,
        writer: &mut Writer,
        level: usize,
        counters: &mut Vec<VarId>,
        leaves: &[Expr],
    ) -> Stmt {
        let inner = Stmt::Loop(self.nest(writer, level, counters, leaves));
        match std::mem::take(&mut self.declared) {
            vars if vars.is_empty() => inner,
            vars => Stmt::Scope { vars, body: vec![inner] },
        }
    }

    /// An array of each thread of the last loop, which fills it in order.
    fn own_array(
        &mut self,
        writer: &mut Writer,
        leaves: &mut Vec<Expr>,
        directive: &mut Vec<Clause>,
        body: &mut Block,
    ) {
        let num = writer.num();
        let size = 3;
        let var = writer.variable("u", Type::array(&[size], num), Storage::Local);
        if !writer.is_fortran() && writer.random.chance(60) {
            self.declared.push(var);
        }
        if self.levels.last().is_some_and(|levels| *levels != [Clause::Seq]) {
            directive.push(Clause::Private(vec![var]));
        }
        body.push(Stmt::Loop(fill(writer, (var, size), leaves, 1)));
        leaves.push(element(writer, (var, size)));
    }

    /// How far the loops of a level count. Two loops of a nest of three go over the columns: the second over few.
    fn extent(&self, level: usize) -> i64 {
        match (level, self.levels.len()) {
            (0, _) => self.matrix.extents[0] as i64,
            (1, 3) => 2,
            _ => self.matrix.extents[1] as i64,
        }
    }

    /// A variable that each iteration has of its own.
    fn temporary(
        &self,
        writer: &mut Writer,
        directive: &mut Vec<Clause>,
        body: &mut Block,
        scope: &mut Vec<VarId>,
        leaves: &mut Vec<Expr>,
    ) {
        if !writer.random.chance(55) {
            return;
        }
        let num = writer.num();
        let var = writer.variable("t", Type::Num(num), Storage::Local);
        match writer.random.below(4) {
            0 if !writer.is_fortran() => scope.push(var),
            // Nothing says that it is private.
            1 => {}
            _ => directive.push(Clause::Private(vec![var])),
        }
        let value = writer.expr(leaves, 1);
        body.push(assign(Place::Var(var), value));
        leaves.push(Expr::var(var));
    }

    /// The body of the loop of gangs: loops of the next level, and what is done with what they make.
    fn outer(
        &mut self,
        writer: &mut Writer,
        counters: &mut Vec<VarId>,
        leaves: &[Expr],
        directive: &mut Vec<Clause>,
        body: &mut Block,
    ) {
        let counter = Expr::var(counters[0]);
        let mut leaves = leaves.to_vec();
        let has_array = writer.random.chance(30);
        if has_array {
            self.private_array(writer, counters, &mut leaves, directive, body);
        }
        if writer.random.chance(50) && self.levels.len() == 2 {
            self.partial_sum(writer, &counter, &leaves, directive, body);
        } else {
            let value = writer.expr(&leaves, 2);
            body.push(assign(self.vector.at(vec![counter.clone()]), value));
        }
        let inner = self.inner(writer, 1, counters, &leaves);
        body.push(inner);
        // The gang reads the array last, before it fills it for the next iteration.
        if writer.random.chance(if has_array { 70 } else { 30 }) {
            let op = Some(Op::Add);
            let value = match leaves.last().filter(|_| has_array) {
                Some(element) => element.clone(),
                None => writer.expr(&leaves, 1),
            };
            body.push(Stmt::Assign { place: self.vector.at(vec![counter]), op, value, atomic: false });
        }
    }

    /// An array of the gang: a loop of the inner level fills it, another one or the gang reads it.
    fn private_array(
        &mut self,
        writer: &mut Writer,
        counters: &[VarId],
        leaves: &mut Vec<Expr>,
        directive: &mut Vec<Clause>,
        body: &mut Block,
    ) {
        let num = writer.num();
        let size = 4;
        let var = writer.variable("w", Type::array(&[size], num), Storage::Local);
        directive.push(Clause::Private(vec![var]));
        let mut one = fill(writer, (var, size), leaves, 2);
        one.directive = match writer.random.chance(60) {
            true => Some(self.levels[1].clone()),
            false => None,
        };
        body.push(Stmt::Loop(one));
        let _ = counters;
        leaves.push(element(writer, (var, size)));
    }

    /// A sum of the row by lanes, which goes into an element.
    fn partial_sum(
        &mut self,
        writer: &mut Writer,
        counter: &Expr,
        leaves: &[Expr],
        directive: &mut Vec<Clause>,
        body: &mut Block,
    ) {
        let num = self.vector.num;
        let var = writer.variable("r", Type::Num(num), Storage::Local);
        let op = if num.is_real() { Op::Add } else { writer.random.pick(&[Op::Add, Op::BitXor, Op::Max]) };
        if writer.random.chance(80) {
            directive.push(Clause::Private(vec![var]));
        }
        body.push(assign(Place::Var(var), Expr::Const(writer.random.between(0, 5))));
        let inner = writer.counter();
        let mut inside = leaves.to_vec();
        inside.push(Expr::Read(self.matrix.at(vec![counter.clone(), Expr::var(inner)])));
        inside.push(Expr::Read(self.row.at(vec![Expr::var(inner)])));
        inside.push(Expr::var(inner));
        let value = if op == Op::BitXor { Expr::var(inner) } else { writer.expr(&inside, 1) };
        let add = vec![Stmt::Assign { place: Place::Var(var), op: Some(op), value, atomic: false }];
        let mut one = writer.count_loop(inner, 0, self.matrix.extents[1] as i64, add);
        let mut clauses = self.levels[1].clone();
        if self.levels[1] != [Clause::Seq] {
            clauses.push(Clause::Reduction(op, vec![Place::Var(var)]));
        }
        one.directive = Some(clauses);
        body.push(Stmt::Loop(one));
        body.push(assign(self.vector.at(vec![counter.clone()]), Expr::var(var)));
    }

    /// The body of the last loop.
    fn innermost(&self, writer: &mut Writer, counters: &[VarId], leaves: &[Expr], body: &mut Block) {
        let (first, last) = (Expr::var(counters[0]), Expr::var(counters[counters.len() - 1]));
        let column = match counters.len() {
            // Three loops: the second takes every other column.
            3 => {
                let shifted = Expr::binary(Op::Mul, Expr::var(counters[1]), Expr::Const(1));
                let sum = Expr::binary(Op::Add, last, shifted);
                Expr::binary(Op::Mod, sum, Expr::Const(self.matrix.extents[1] as i64))
            }
            _ => last,
        };
        let place = self.matrix.at(vec![first, column.clone()]);
        let mut inside = leaves.to_vec();
        inside.push(Expr::Read(self.row.at(vec![column])));
        // Three loops meet in one element: only what they reduce is changed.
        if counters.len() < 3 && writer.random.chance(70) {
            inside.push(Expr::Read(place.clone()));
            let change = writer.change(&place, &inside);
            body.push(change);
        }
        for total in &self.totals {
            let num = writer.program.kind(&Expr::var(total.var)).unwrap_or(Num::Int);
            let mut value = writer.expr(&inside, 1);
            if !num.is_real() && !writer.is_whole(&value) && total.op != Op::Add {
                value = Expr::var(counters[0]);
            }
            body.push(Stmt::Assign {
                place: Place::Var(total.var),
                op: Some(total.op),
                value,
                atomic: false,
            });
        }
    }
}

/// A loop that sets the elements of an array of this size, without a directive.
pub fn fill(writer: &mut Writer, (array, size): (VarId, usize), leaves: &[Expr], depth: usize) -> Loop {
    let counter = writer.counter();
    let mut inside = leaves.to_vec();
    inside.push(Expr::var(counter));
    let value = writer.expr(&inside, depth);
    let set = vec![assign(Place::Var(array).at(vec![Expr::var(counter)]), value)];
    writer.count_loop(counter, 0, size as i64, set)
}

/// One of its elements.
pub fn element(writer: &mut Writer, (array, size): (VarId, usize)) -> Expr {
    let last = size as i64 - 1;
    Expr::Read(Place::Var(array).at(vec![Expr::Const(writer.random.between(0, last))]))
}

/// An assignment.
pub fn assign(place: Place, value: Expr) -> Stmt {
    Stmt::Assign { place, op: None, value, atomic: false }
}
