//! Statements of Fortran.
//!
//! Invariant: each statement of the program is one of the text, in the same order.

use super::{Printer, num};
use crate::hunt::print::needs::locals;
use crate::hunt::print::{BaseLanguage, Lines, alone, clauses, compute, declares};
use crate::hunt::program::{
    Block, Dummy, Expr, Flavour, Function, Kind, Loop, Num, Op, Path, Place, Shape, Stmt, Type, VarId,
};

/// The jump to the end of a path, or to its next turn.
fn jump(shape: Shape, number: usize, again: bool) -> String {
    match (shape, again) {
        (Shape::Labels, true) => format!("goto {}", label(2, number)),
        (Shape::Labels, false) => format!("goto {}", label(3, number)),
        (Shape::Loop, true) => "cycle".to_owned(),
        (Shape::Loop, false) if number.is_multiple_of(2) => "exit".to_owned(),
        _ => format!("exit path_{number}"),
    }
}

/// A label before a path (1), at the end of a turn (2) or after it (3).
fn label(which: usize, number: usize) -> usize {
    which * 1000 + number
}

impl Printer<'_> {
    pub(super) fn body(&self, function: &Function, out: &mut Lines) {
        function.parameters.iter().for_each(|one| out.line(&self.declared(*one)));
        if let Some(kind) = function.value {
            out.line(&format!("{} :: value", num(kind)));
        }
        locals(self.program, function, false).iter().for_each(|one| out.line(&self.declared(*one)));
        let counters = self.fill_depth(&function.body);
        if counters > 0 {
            let names: Vec<String> = (0..counters).map(|depth| format!("k{depth}")).collect();
            out.line(&format!("integer :: {}", names.join(", ")));
        }
        for some in declares(function) {
            self.directive(&format!("declare{}", clauses(self, some)), out);
        }
        self.block(&function.body, out);
        if let Some(result) = &function.result {
            out.line(&format!("value = {}", self.expr(result)));
        }
    }

    /// How many counters the loops of statements about whole arrays need.
    fn fill_depth(&self, block: &Block) -> usize {
        struct Depth<'a, 'b>(&'a Printer<'b>, usize);
        impl crate::hunt::walk::see::See for Depth<'_, '_> {
            fn stmt(&mut self, stmt: &Stmt) {
                if let Stmt::Fill { place, .. } | Stmt::Show { place, .. } = stmt {
                    self.1 = self.1.max(self.0.depth_of(&self.0.program.type_of(place)));
                }
            }
        }
        let mut depth = Depth(self, 0);
        crate::hunt::walk::see::block(block, &mut depth);
        depth.1
    }

    fn depth_of(&self, ty: &Type) -> usize {
        match ty {
            Type::Num(_) => 0,
            Type::Pointer(inner) => 1 + self.depth_of(inner),
            Type::Array(extents, inner) => extents.len() + self.depth_of(inner),
            Type::Struct(number) => {
                let fields = &self.program.structs[*number].fields;
                fields.iter().map(|field| self.depth_of(&field.ty)).max().unwrap_or(0)
            }
        }
    }

    fn block(&self, block: &Block, out: &mut Lines) {
        block.iter().for_each(|one| self.statement(one, out));
    }

    fn around(&self, words: &str, end: &str, body: &Block, out: &mut Lines) {
        self.directive(words, out);
        self.block(body, out);
        self.directive(&format!("end {end}"), out);
    }

    fn statement(&self, one: &Stmt, out: &mut Lines) {
        match one {
            Stmt::Assign { place, op, value, atomic } => {
                if *atomic {
                    self.directive("atomic update", out);
                }
                out.line(&self.assignment(place, *op, value));
            }
            Stmt::If { condition, then, other } => {
                out.line(&format!("if ({}) then", self.expr(condition)));
                out.inside(|out| self.block(then, out));
                if !other.is_empty() {
                    out.line("else");
                    out.inside(|out| self.block(other, out));
                }
                out.line("end if");
            }
            Stmt::Loop(one) => self.loop_nest(one, false, out),
            Stmt::Compute(one) => {
                let words = compute(self, one);
                match (one.combined, one.body.as_slice()) {
                    (true, [Stmt::Loop(inner)]) => {
                        self.directive(&words, out);
                        self.loop_nest(inner, true, out);
                    }
                    _ => {
                        let name = match one.kind {
                            Kind::Parallel => "parallel",
                            Kind::Serial => "serial",
                            Kind::Kernels => "kernels",
                        };
                        self.around(&words, name, &one.body, out);
                    }
                }
            }
            Stmt::Data { clauses: list, body } => {
                self.around(&format!("data{}", clauses(self, list)), "data", body, out);
            }
            Stmt::HostData { clauses: list, body } => {
                self.around(&format!("host_data{}", clauses(self, list)), "host_data", body, out);
            }
            Stmt::Alone { kind, clauses: list } => self.directive(&alone(self, *kind, list), out),
            Stmt::Call(function, arguments) => {
                out.line(&format!("call {}", self.call(*function, arguments)));
            }
            Stmt::Point { place, target } => self.point(place, target, out),
            Stmt::Allocate { place, count } => {
                let lower = self.lower(place);
                let (name, last) = (self.place(place), lower + *count as i64 - 1);
                match place {
                    Place::Var(var) if self.program.vars[*var].flavour == Flavour::ToScalar => {
                        out.line(&format!("allocate({name})"));
                    }
                    _ => out.line(&format!("allocate({name}({lower}:{last}))")),
                }
            }
            Stmt::Free { place } => out.line(&format!("deallocate({})", self.place(place))),
            Stmt::Fill { place, count, factor, add, modulus } => {
                self.fill(place, *count, (*factor, *add, *modulus), out);
            }
            Stmt::Show { id, place, count } => self.show(*id, place, *count, out),
            // Variables of blocks are those of the procedure.
            Stmt::Scope { body, .. } => self.block(body, out),
            Stmt::Alias { var, target, body } => {
                out.line(&format!("associate ({} => {})", self.name(*var), self.place(target)));
                out.inside(|out| self.block(body, out));
                out.line("end associate");
            }
            Stmt::Path(one) => self.path(one, out),
            Stmt::Leave { shape, number, again, condition } => {
                out.line(&format!("if ({}) {}", self.expr(condition), jump(*shape, *number, *again)));
            }
            Stmt::Elements { place, counter, low, count, value } => {
                let target = self.section(place, *low, *count);
                out.line(&format!("{target} = {}", self.elementwise(value, *counter, *low, *count)));
            }
        }
    }

    fn path(&self, path: &Path, out: &mut Lines) {
        let (counter, number, turns) = (self.name(path.counter), path.number, path.turns);
        let name = format!("path_{number}");
        let around = |first: &str, last: &str, out: &mut Lines| {
            out.line(first);
            out.inside(|out| self.block(&path.body, out));
            out.line(last);
        };
        match path.shape {
            Shape::Loop => {
                let head = format!("{name}: do {counter} = 0, {}", turns - 1);
                around(&head, &format!("end do {name}"), out);
            }
            Shape::Once => {
                out.line(&format!("{counter} = 0"));
                around(&format!("{name}: block"), &format!("end block {name}"), out);
            }
            Shape::Branch => {
                out.line(&format!("{counter} = 0"));
                out.line(&format!("{name}: select case ({counter})"));
                around("case (0)", "case default", out);
                out.line(&format!("{counter} = 1"));
                out.line(&format!("end select {name}"));
            }
            Shape::Labels => {
                out.line(&format!("{counter} = 0"));
                around(&format!("{} continue", label(1, number)), "", out);
                out.line(&format!("{} {counter} = {counter} + 1", label(2, number)));
                out.line(&format!("if ({counter} < {turns}) goto {}", label(1, number)));
                out.line(&format!("{} continue", label(3, number)));
            }
        }
    }

    fn section(&self, place: &Place, low: i64, count: i64) -> String {
        let first = low + self.lower(place);
        format!("{}({first}:{})", self.place(place), first + count - 1)
    }

    /// An expression of one element as one of all of them.
    fn elementwise(&self, value: &Expr, counter: VarId, low: i64, count: i64) -> String {
        match value {
            Expr::Read(Place::Index(inner, subscripts)) => match subscripts.as_slice() {
                [Expr::Read(Place::Var(var))] if *var == counter => self.section(inner, low, count),
                [Expr::Binary(op, left, right)] => match (&**left, &**right, op) {
                    (Expr::Read(Place::Var(var)), Expr::Const(shift), Op::Add) if *var == counter => {
                        self.section(inner, low + shift, count)
                    }
                    (Expr::Read(Place::Var(var)), Expr::Const(shift), Op::Sub) if *var == counter => {
                        self.section(inner, low - shift, count)
                    }
                    _ => self.expr(value),
                },
                _ => self.expr(value),
            },
            Expr::Binary(op, left, right) => {
                let [left, right] = [left, right].map(|one| self.elementwise(one, counter, low, count));
                let sign = match op {
                    Op::Sub => "-",
                    Op::Mul => "*",
                    _ => "+",
                };
                format!("({left} {sign} {right})")
            }
            _ => self.expr(value),
        }
    }

    fn assignment(&self, place: &Place, op: Option<Op>, value: &Expr) -> String {
        let left = self.place(place);
        match op {
            None => format!("{left} = {}", self.expr(value)),
            Some(op) => {
                let whole = Expr::binary(op, Expr::Read(place.clone()), value.clone());
                format!("{left} = {}", self.expr(&whole))
            }
        }
    }

    fn point(&self, place: &Place, target: &Expr, out: &mut Lines) {
        let name = self.place(place);
        let is_scalar = |place: &Place| matches!(place, Place::Var(var) if self.program.vars[*var].flavour == Flavour::ToScalar);
        let text = match target {
            Expr::Address(Place::Index(inner, subscripts)) if !is_scalar(place) => {
                self.array_argument(inner, subscripts, Dummy::Assumed)
            }
            other => self.expr(other),
        };
        match is_scalar(place) {
            true => out.line(&format!("{name} => {text}")),
            false => out.line(&format!("{name}({}:) => {text}", self.lower(place))),
        }
    }

    fn loop_nest(&self, one: &Loop, is_combined: bool, out: &mut Lines) {
        if let (Some(list), false) = (&one.directive, is_combined) {
            self.directive(&format!("loop{}", clauses(self, list)), out);
        }
        let last = match &one.end {
            Expr::Const(number) => Expr::Const(number - one.step.signum()),
            other => other.clone().plus(-one.step.signum()),
        };
        let step = if one.step == 1 { String::new() } else { format!(", {}", one.step) };
        let name = self.name(one.counter);
        out.line(&format!("do {name} = {}, {}{step}", self.expr(&one.low), self.expr(&last)));
        out.inside(|out| self.block(&one.body, out));
        out.line("end do");
    }

    fn fill(&self, place: &Place, count: usize, numbers: (i64, i64, i64), out: &mut Lines) {
        let (factor, add, modulus) = numbers;
        let ty = self.elements(place, count);
        let lower = self.lower(place);
        self.each(&self.place(place), &ty, (lower, 0), "0", out, &|text, cell| {
            format!("{text} = mod(({cell}) * {factor} + {add}, {modulus})")
        });
    }

    fn elements(&self, place: &Place, count: usize) -> Type {
        match self.program.type_of(place) {
            Type::Pointer(element) => Type::Array(vec![count], element),
            ty => ty,
        }
    }

    /// A statement for each number of a type, in the order of the cells.
    fn each(
        &self,
        text: &str,
        ty: &Type,
        (lower, depth): (i64, usize),
        cell: &str,
        out: &mut Lines,
        say: &dyn Fn(&str, &str) -> String,
    ) {
        match ty {
            Type::Num(_) => out.line(&say(text, cell)),
            Type::Pointer(_) => {}
            Type::Struct(number) => {
                let mut before = 0;
                for field in &self.program.structs[*number].fields {
                    let cell = if before == 0 { cell.to_owned() } else { format!("{cell} + {before}") };
                    self.each(&format!("{text}%{}", field.name), &field.ty, (0, depth), &cell, out, say);
                    before += self.program.cells(&field.ty);
                }
            }
            Type::Array(extents, inner) => {
                let size = self.program.cells(inner);
                let mut cell = cell.to_owned();
                let mut subscripts = Vec::new();
                let mut stride = size * extents.iter().product::<usize>();
                for (number, extent) in extents.iter().enumerate() {
                    stride /= extent.max(&1);
                    let k = format!("k{}", depth + number);
                    let step = if stride == 1 { k.clone() } else { format!("{k} * {stride}") };
                    cell = if cell == "0" { step } else { format!("{cell} + {step}") };
                    subscripts.insert(0, if lower == 0 { k.clone() } else { format!("{k} + {lower}") });
                    out.line(&format!("do {k} = 0, {}", extent - 1));
                    out.depth += 1;
                }
                let one = format!("{text}({})", subscripts.join(", "));
                self.each(&one, inner, (0, depth + extents.len()), &cell, out, say);
                for _ in extents {
                    out.depth -= 1;
                    out.line("end do");
                }
            }
        }
    }

    fn show(&self, id: usize, place: &Place, count: usize, out: &mut Lines) {
        let ty = self.elements(place, count);
        let mut items = Vec::new();
        self.shown(&self.place(place), &ty, (self.lower(place), 0), &mut items);
        out.line(&format!("write (*, '(i0,*(1x,i0))') {id}, {}", items.join(", ")));
    }

    /// The items of a `write` statement for all numbers of a type.
    fn shown(&self, text: &str, ty: &Type, (lower, depth): (i64, usize), items: &mut Vec<String>) {
        match ty {
            Type::Num(Num::Truth) => items.push(format!("merge(1, 0, {text})")),
            Type::Num(_) => items.push(format!("int({text})")),
            Type::Pointer(_) => {}
            Type::Struct(number) => {
                for field in &self.program.structs[*number].fields {
                    self.shown(&format!("{text}%{}", field.name), &field.ty, (0, depth), items);
                }
            }
            Type::Array(extents, inner) => {
                let subscripts: Vec<String> = (0..extents.len())
                    .rev()
                    .map(|number| match lower {
                        0 => format!("k{}", depth + number),
                        _ => format!("k{} + {lower}", depth + number),
                    })
                    .collect();
                let one = format!("{text}({})", subscripts.join(", "));
                let mut inside = Vec::new();
                self.shown(&one, inner, (0, depth + extents.len()), &mut inside);
                let mut all = inside.join(", ");
                for (number, extent) in extents.iter().enumerate().rev() {
                    all = format!("({all}, k{} = 0, {})", depth + number, extent - 1);
                }
                items.push(all);
            }
        }
    }
}
