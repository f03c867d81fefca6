//! Walks through programs, to look and to change.
//!
//! Invariant: a node is shown before what is in it, in the order in which it is written; so a number names a node.

use super::program::{Block, Clause, Expr, Item, Place, Program, Stmt, VarId};

macro_rules! walker {
    ($module:ident, $look:ident, $doc:literal, $($mutable:tt)?) => {
        #[doc = $doc]
        pub mod $module {
            use super::{Block, Clause, Expr, Item, Place, Stmt};

            /// What is done with each node.
            // A change may take clauses away.
            #[allow(unused_variables, clippy::ptr_arg)]
            pub trait $look {
                /// Statements in a row.
                fn block(&mut self, block: &$($mutable)? Block) {}
                /// A statement.
                fn stmt(&mut self, stmt: &$($mutable)? Stmt) {}
                /// The clauses of a directive.
                fn clauses(&mut self, clauses: &$($mutable)? Vec<Clause>) {}
                /// An expression.
                fn expr(&mut self, expr: &$($mutable)? Expr) {}
                /// A place.
                fn place(&mut self, place: &$($mutable)? Place) {}
                /// A variable that is named without a place.
                fn var(&mut self, var: &$($mutable)? usize) {}
            }

            /// Statements and all that is in them.
            pub fn block(block: &$($mutable)? Block, look: &mut dyn $look) {
                look.block(block);
                for one in block {
                    stmt(one, look);
                }
            }

            /// A statement and all that is in it.
            pub fn stmt(one: &$($mutable)? Stmt, look: &mut dyn $look) {
                look.stmt(one);
                match one {
                    Stmt::Assign { place: target, value, .. } => {
                        place(target, look);
                        expr(value, look);
                    }
                    Stmt::If { condition, then, other } => {
                        expr(condition, look);
                        block(then, look);
                        block(other, look);
                    }
                    Stmt::Loop(one) => {
                        look.var(&$($mutable)? one.counter);
                        if let Some(list) = &$($mutable)? one.directive {
                            clauses(list, look);
                        }
                        expr(&$($mutable)? one.low, look);
                        expr(&$($mutable)? one.end, look);
                        block(&$($mutable)? one.body, look);
                    }
                    Stmt::Compute(one) => {
                        clauses(&$($mutable)? one.clauses, look);
                        block(&$($mutable)? one.body, look);
                    }
                    Stmt::Data { clauses: list, body } | Stmt::HostData { clauses: list, body } => {
                        clauses(list, look);
                        block(body, look);
                    }
                    Stmt::Alone { clauses: list, .. } => clauses(list, look),
                    Stmt::Call(_, arguments) => {
                        for one in arguments {
                            expr(one, look);
                        }
                    }
                    Stmt::Point { place: target, target: value } => {
                        place(target, look);
                        expr(value, look);
                    }
                    Stmt::Allocate { place: one, .. }
                    | Stmt::Free { place: one }
                    | Stmt::Fill { place: one, .. }
                    | Stmt::Show { place: one, .. } => place(one, look),
                    Stmt::Scope { vars, body } => {
                        for var in vars {
                            look.var(var);
                        }
                        block(body, look);
                    }
                    Stmt::Alias { var, target, body } => {
                        look.var(var);
                        place(target, look);
                        block(body, look);
                    }
                    Stmt::Path(one) => {
                        look.var(&$($mutable)? one.counter);
                        block(&$($mutable)? one.body, look);
                    }
                    Stmt::Leave { condition, .. } => expr(condition, look),
                    Stmt::Elements { place: target, counter, value, .. } => {
                        look.var(counter);
                        place(target, look);
                        expr(value, look);
                    }
                }
            }

            /// The clauses of a directive.
            pub fn clauses(list: &$($mutable)? Vec<Clause>, look: &mut dyn $look) {
                look.clauses(list);
                for clause in list {
                    match clause {
                        Clause::Data(_, items) => {
                            for one in items {
                                item(one, look);
                            }
                        }
                        Clause::Private(vars) | Clause::FirstPrivate(vars) => {
                            for var in vars {
                                look.var(var);
                            }
                        }
                        Clause::Reduction(_, places) => {
                            for one in places {
                                place(one, look);
                            }
                        }
                        Clause::Async(Some(one))
                        | Clause::If(one)
                        | Clause::OnSelf(one)
                        | Clause::NumGangs(one)
                        | Clause::NumWorkers(one)
                        | Clause::VectorLength(one) => expr(one, look),
                        Clause::Wait(numbers) => {
                            for one in numbers {
                                expr(one, look);
                            }
                        }
                        Clause::Async(None)
                        | Clause::DefaultPresent
                        | Clause::Finalize
                        | Clause::IfPresent
                        | Clause::Gang
                        | Clause::Worker
                        | Clause::Vector
                        | Clause::Seq
                        | Clause::Auto
                        | Clause::Independent
                        | Clause::Collapse(_)
                        | Clause::Tile(_) => {}
                    }
                }
            }

            fn item(one: &$($mutable)? Item, look: &mut dyn $look) {
                place(&$($mutable)? one.place, look);
                for (low, count) in &$($mutable)? one.section {
                    expr(low, look);
                    expr(count, look);
                }
            }

            /// An expression and all that is in it.
            pub fn expr(one: &$($mutable)? Expr, look: &mut dyn $look) {
                look.expr(one);
                match one {
                    Expr::Const(_) | Expr::Named(_) => {}
                    Expr::Read(inner) | Expr::Address(inner) => place(inner, look),
                    Expr::Binary(_, left, right) => {
                        expr(left, look);
                        expr(right, look);
                    }
                    Expr::Choice(condition, left, right) => {
                        expr(condition, look);
                        expr(left, look);
                        expr(right, look);
                    }
                    Expr::Call(_, arguments) => {
                        for one in arguments {
                            expr(one, look);
                        }
                    }
                }
            }

            /// A place and all that is in it.
            pub fn place(one: &$($mutable)? Place, look: &mut dyn $look) {
                look.place(one);
                match one {
                    Place::Var(var) => look.var(var),
                    Place::Index(inner, subscripts) => {
                        place(inner, look);
                        for one in subscripts {
                            expr(one, look);
                        }
                    }
                    Place::Member(inner, _) | Place::Target(inner) => place(inner, look),
                }
            }
        }
    };
}

walker!(see, See, "Looking.",);
walker!(change, Change, "Changing.", mut);

/// The variables that statements name, each once, in order.
pub fn vars(block: &Block) -> Vec<VarId> {
    let mut named = Named(Vec::new());
    see::block(block, &mut named);
    named.0
}

/// The variables that clauses name.
pub fn vars_of_clauses(clauses: &Vec<Clause>) -> Vec<VarId> {
    let mut named = Named(Vec::new());
    see::clauses(clauses, &mut named);
    named.0
}

struct Named(Vec<VarId>);

impl see::See for Named {
    fn var(&mut self, var: &usize) {
        if !self.0.contains(var) {
            self.0.push(*var);
        }
    }
}

/// All of a program's code: the functions that are called.
pub fn program(program: &Program, look: &mut dyn see::See) {
    see::clauses(&program.declares, look);
    for (function, _) in program.functions.iter().zip(called(program)).filter(|(_, called)| *called) {
        see::clauses(&function.declares, look);
        see::block(&function.body, look);
        if let Some(result) = &function.result {
            see::expr(result, look);
        }
    }
}

/// All of a program's code, to be changed.
pub fn change_program(program: &mut Program, look: &mut dyn change::Change) {
    let called = called(program);
    change::clauses(&mut program.declares, look);
    for (function, _) in program.functions.iter_mut().zip(called).filter(|(_, called)| *called) {
        change::clauses(&mut function.declares, look);
        change::block(&mut function.body, look);
        if let Some(result) = &mut function.result {
            change::expr(result, look);
        }
    }
}

/// The functions that a program's entry calls, directly or not.
pub fn called(program: &Program) -> Vec<bool> {
    struct Calls(Vec<usize>);
    impl see::See for Calls {
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::Call(function, _) = stmt {
                self.0.push(*function);
            }
        }
        fn expr(&mut self, expr: &Expr) {
            if let Expr::Call(function, _) = expr {
                self.0.push(*function);
            }
        }
    }
    let mut called = vec![false; program.functions.len()];
    let mut next = vec![0];
    while let Some(number) = next.pop() {
        if called[number] {
            continue;
        }
        called[number] = true;
        let mut calls = Calls(Vec::new());
        see::block(&program.functions[number].body, &mut calls);
        if let Some(result) = &program.functions[number].result {
            see::expr(result, &mut calls);
        }
        next.extend(calls.0);
    }
    called
}
