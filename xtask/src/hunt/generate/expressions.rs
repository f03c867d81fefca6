//! Expressions, loops and compute constructs that all families use.
//!
//! Invariant: what is made here fits by type; whether it is defined is asked of the model.

use super::writer::{Data, Writer};
use crate::hunt::program::{Block, Clause, Compute, Expr, Kind, Loop, Num, Op, Place, Stmt, VarId};

impl Writer {
    /// An expression of some leaves.
    pub fn expr(&mut self, leaves: &[Expr], depth: usize) -> Expr {
        if depth == 0 || self.random.chance(25) {
            return match leaves.is_empty() || self.random.chance(20) {
                true => self.constant(),
                false => self.random.pick(leaves),
            };
        }
        let (left, right) = (self.expr(leaves, depth - 1), self.expr(leaves, depth - 1));
        let is_whole = |one: &Expr| self.program.kind(one).is_some_and(|kind| !kind.is_real());
        let are_whole = is_whole(&left) && is_whole(&right);
        match self.random.below(10) {
            0..5 => Expr::binary(Op::Add, left, right),
            5 => Expr::binary(Op::Sub, left, right),
            6 => Expr::binary(Op::Mul, left, Expr::Const(self.random.between(2, 3))),
            7 if are_whole => Expr::binary(Op::Mod, left, Expr::Const(self.random.between(3, 17))),
            7 => Expr::binary(self.random.pick(&[Op::Min, Op::Max]), left, right),
            8 if are_whole => {
                let op = self.random.pick(&[Op::BitAnd, Op::BitOr, Op::BitXor]);
                Expr::binary(op, left, right)
            }
            _ => {
                let condition = self.condition(leaves);
                Expr::Choice(Box::new(condition), Box::new(left), Box::new(right))
            }
        }
    }

    /// A number, sometimes with a name.
    pub fn constant(&mut self) -> Expr {
        let number = self.random.between(0, 9);
        if self.random.chance(20) { Expr::Named(number) } else { Expr::Const(number) }
    }

    /// A number that may have a name.
    pub fn number(&mut self, number: i64) -> Expr {
        if self.random.chance(15) && number >= 0 { Expr::Named(number) } else { Expr::Const(number) }
    }

    /// A condition on some leaves.
    pub fn condition(&mut self, leaves: &[Expr]) -> Expr {
        let op = self.random.pick(&[Op::Lt, Op::Le, Op::Eq, Op::Ne]);
        let left = if leaves.is_empty() { self.constant() } else { self.random.pick(leaves) };
        let one = Expr::binary(op, left, self.constant());
        match self.random.chance(20) && !leaves.is_empty() {
            true => {
                let other = Expr::binary(Op::Lt, self.random.pick(leaves), self.constant());
                Expr::binary(self.random.pick(&[Op::And, Op::Or]), one, other)
            }
            false => one,
        }
    }

    /// A loop without a directive from `low` up to `end`, written in one of the ways.
    pub fn plain_loop(&mut self, counter: VarId, low: Expr, end: Expr, body: Block) -> Loop {
        let inclusive = self.random.chance(15);
        Loop { counter, low, end, step: 1, inclusive, directive: None, body }
    }

    /// A loop over numbers, which may go downwards.
    pub fn count_loop(&mut self, counter: VarId, low: i64, end: i64, body: Block) -> Loop {
        if self.random.chance(10) {
            let (low, end) = (Expr::Const(end - 1), Expr::Const(low - 1));
            let inclusive = self.random.chance(50);
            return Loop { counter, low, end, step: -1, inclusive, directive: None, body };
        }
        let end = self.number(end);
        self.plain_loop(counter, Expr::Const(low), end, body)
    }

    /// The subscripts of an element by counters: one each, or one for all.
    pub fn element(&self, data: &Data, counters: &[VarId]) -> Place {
        data.at(counters.iter().map(|counter| Expr::var(*counter)).collect())
    }

    /// A statement that changes one element of `target` with what is in elements of `sources` and in `more`.
    pub fn change(&mut self, target: &Place, leaves: &[Expr]) -> Stmt {
        let value = self.expr(leaves, 2);
        let kind = self.program.kind(&Expr::Read(target.clone()));
        let op = match self.random.below(5) {
            0 | 1 => Some(Op::Add),
            2 if kind.is_some_and(|kind| !kind.is_real()) && self.is_whole(&value) => Some(Op::BitXor),
            _ => None,
        };
        let stmt = Stmt::Assign { place: target.clone(), op, value, atomic: false };
        match self.random.chance(15) {
            true => Stmt::If { condition: self.condition(leaves), then: vec![stmt], other: Vec::new() },
            false => stmt,
        }
    }

    /// Whether an expression is one of integers.
    pub fn is_whole(&self, expr: &Expr) -> bool {
        self.program.kind(expr).is_some_and(|kind| matches!(kind, Num::Int | Num::Long))
    }

    /// A loop that changes the elements (or rows) of the first of some data with those of all.
    pub fn work_loop(&mut self, data: &[Data], low: i64, end: i64) -> Loop {
        let counters: Vec<VarId> = data[0].extents.iter().map(|_| self.counter()).collect();
        let mut leaves = vec![Expr::var(counters[0])];
        for one in data {
            let subscripts = match one.extents.len() {
                1 => vec![Expr::var(counters[0])],
                _ => counters
                    .iter()
                    .chain(&counters)
                    .take(one.extents.len())
                    .map(|one| Expr::var(*one))
                    .collect(),
            };
            leaves.push(Expr::Read(one.at(subscripts)));
        }
        let target = self.element(&data[0], &counters);
        let mut body = vec![self.change(&target, &leaves)];
        if self.random.chance(20) {
            body.push(self.change(&target, &leaves));
        }
        if self.random.chance(8) && data.len() > 1 {
            // What is counted is not read beside.
            let inside: Vec<Expr> = counters.iter().map(|counter| Expr::var(*counter)).collect();
            body = vec![self.change(&target, &inside), self.histogram(&data[1], &inside)];
        }
        for (counter, extent) in counters.iter().zip(&data[0].extents).skip(1).rev() {
            body = vec![Stmt::Loop(self.count_loop(*counter, 0, *extent as i64, body))];
        }
        self.count_loop(counters[0], low, end, body)
    }

    /// A statement by which iterations meet in one element, each atomically.
    pub fn histogram(&mut self, data: &Data, leaves: &[Expr]) -> Stmt {
        let extent = data.extents[0] as i64;
        let number = leaves.iter().find(|leaf| self.is_whole(leaf)).cloned().unwrap_or(Expr::Const(0));
        let modulus = Expr::Const(self.random.between(2, extent));
        let subscript = Expr::binary(Op::Mod, number, modulus);
        let subscripts =
            std::iter::once(subscript).chain(data.extents.iter().skip(1).map(|_| Expr::Const(0)));
        let value = self.expr(leaves, 1);
        Stmt::Assign { place: data.at(subscripts.collect()), op: Some(Op::Add), value, atomic: true }
    }

    /// The levels of a loop that is the only parallel one.
    pub fn levels(&mut self) -> Vec<Clause> {
        match self.random.below(6) {
            0 => vec![Clause::Gang],
            1 => vec![Clause::Gang, Clause::Vector],
            2 => vec![Clause::Gang, Clause::Worker, Clause::Vector],
            3 => vec![Clause::Independent],
            _ => Vec::new(),
        }
    }

    /// A compute construct of some loops whose iterations are independent.
    pub fn construct(&mut self, mut loops: Vec<Loop>, clauses: Vec<Clause>) -> Stmt {
        let kind =
            self.random.pick(&[Kind::Parallel, Kind::Parallel, Kind::Parallel, Kind::Kernels, Kind::Serial]);
        let combined = loops.len() == 1 && self.random.chance(70);
        for one in &mut loops {
            let directive = match kind {
                Kind::Serial if !combined => None,
                Kind::Serial => Some(Vec::new()),
                Kind::Kernels if combined => Some(self.kernels_clauses()),
                Kind::Kernels => self.random.chance(50).then(|| self.kernels_clauses()),
                Kind::Parallel => Some(self.levels()),
            };
            one.directive = directive;
            self.together(one);
        }
        let body = loops.into_iter().map(Stmt::Loop).collect();
        Stmt::Compute(Compute { kind, clauses, combined, body })
    }

    /// Two loops in each other are often taken as one.
    fn together(&mut self, one: &mut Loop) {
        let is_tight = matches!(one.body.as_slice(), [Stmt::Loop(inner)] if inner.directive.is_none());
        let is_parallel = one.directive.as_ref().is_some_and(|clauses| !clauses.contains(&Clause::Auto));
        let Some(clauses) = one.directive.as_mut().filter(|_| is_tight && is_parallel) else { return };
        match self.random.below(6) {
            0 | 1 => clauses.push(Clause::Collapse(2)),
            2 if self.random.chance(40) => clauses.push(Clause::Tile(vec![2, 2])),
            _ => {}
        }
    }

    fn kernels_clauses(&mut self) -> Vec<Clause> {
        match self.random.below(3) {
            0 => vec![Clause::Independent],
            1 => vec![Clause::Auto],
            _ => Vec::new(),
        }
    }
}
