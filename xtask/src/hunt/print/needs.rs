//! What of a program must be declared: what its entry reaches.
//!
//! Invariant: nothing that is not used is written, so that a reduced program is as small as it can be.

use std::collections::BTreeSet;

use crate::hunt::program::{Expr, Function, Program, Stmt, Storage, Type, VarId};
use crate::hunt::walk::{self, see};

/// What is used.
#[derive(Default)]
pub struct Needs {
    /// The functions, callers last.
    pub functions: Vec<usize>,
    /// All variables.
    pub vars: BTreeSet<VarId>,
    /// Variables of the file.
    pub globals: Vec<VarId>,
    /// Structures.
    pub structs: BTreeSet<usize>,
    /// Numbers with names.
    pub named: BTreeSet<i64>,
    /// Variables that pointers are given as targets.
    pub targets: BTreeSet<VarId>,
}

impl Needs {
    /// Of a program.
    pub fn of(program: &Program) -> Needs {
        let called = walk::called(program);
        let functions = (0..program.functions.len()).rev().filter(|one| called[*one]).collect();
        let mut needs = Needs { functions, ..Needs::default() };
        let mut look = Look { program, vars: BTreeSet::new(), needs: &mut needs };
        for function in
            program.functions.iter().zip(&called).filter(|(_, called)| **called).map(|(one, _)| one)
        {
            see::clauses(&function.declares, &mut look);
            see::block(&function.body, &mut look);
            if let Some(result) = &function.result {
                see::expr(result, &mut look);
            }
            function.parameters.iter().for_each(|one| look.add(*one));
        }
        needs.vars = look.vars;
        let is_global = |var: &VarId| program.vars[*var].storage == Storage::Global;
        needs.globals = needs.vars.iter().copied().filter(is_global).collect();
        needs
    }
}

struct Look<'a> {
    program: &'a Program,
    vars: BTreeSet<VarId>,
    needs: &'a mut Needs,
}

impl Look<'_> {
    fn add(&mut self, var: VarId) {
        if self.vars.insert(var) {
            self.add_type(&self.program.vars[var].ty.clone());
        }
    }

    fn add_type(&mut self, ty: &Type) {
        match ty {
            Type::Num(_) => {}
            Type::Array(_, inner) | Type::Pointer(inner) => self.add_type(inner),
            Type::Struct(number) => {
                if self.needs.structs.insert(*number) {
                    for field in &self.program.structs[*number].fields {
                        self.add_type(&field.ty.clone());
                    }
                }
            }
        }
    }
}

impl see::See for Look<'_> {
    fn var(&mut self, var: &usize) {
        self.add(*var);
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Named(number) = expr {
            self.needs.named.insert(*number);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Point { target: Expr::Address(place), .. } = stmt {
            self.needs.targets.insert(place.base());
        }
    }
}

/// The variables that a function declares at its head: not its parameters, nor what blocks and loops declare in C.
pub fn locals(program: &Program, function: &Function, in_blocks: bool) -> Vec<VarId> {
    struct Inner(BTreeSet<VarId>, bool);
    impl see::See for Inner {
        fn stmt(&mut self, stmt: &Stmt) {
            match stmt {
                Stmt::Scope { vars, .. } if self.1 => self.0.extend(vars),
                Stmt::Alias { var, .. } | Stmt::Elements { counter: var, .. } => {
                    self.0.insert(*var);
                }
                _ => {}
            }
        }
    }
    let mut inner = Inner(BTreeSet::new(), in_blocks);
    see::block(&function.body, &mut inner);
    let mut all = walk::vars(&function.body);
    let of_clauses = walk::vars_of_clauses(&function.declares);
    all.extend(of_clauses.into_iter().filter(|var| !walk::vars(&function.body).contains(var)));
    if let Some(result) = &function.result {
        let as_statement = vec![Stmt::Call(0, vec![result.clone()])];
        let more = walk::vars(&as_statement);
        let new: Vec<VarId> = more.into_iter().filter(|var| !all.contains(var)).collect();
        all.extend(new);
    }
    let is_local = |var: &VarId| {
        let known = &program.vars[*var];
        known.storage == Storage::Local && !inner.0.contains(var) && !(in_blocks && known.in_loop)
    };
    all.into_iter().filter(is_local).collect()
}
