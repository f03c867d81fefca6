//! Statements of C and C++.
//!
//! Invariant: each statement of the program is one of the text, in the same order.

use super::{Printer, num};
use crate::hunt::print::needs::locals;
use crate::hunt::print::{BaseLanguage, Lines, alone, clauses, compute, declares};
use crate::hunt::program::{Block, Expr, Function, Loop, Num, Op, Path, Place, Shape, Stmt, Type};

impl Printer<'_> {
    pub(super) fn body(&self, function: &Function, out: &mut Lines) {
        for var in locals(self.program, function, true) {
            out.line(&format!("{};", self.declared(var)));
        }
        for some in declares(function) {
            self.directive(&format!("declare{}", clauses(self, some)), out);
        }
        self.block(&function.body, out);
        if let Some(result) = &function.result {
            out.line(&format!("return {};", self.expr(result)));
        }
    }

    fn block(&self, block: &Block, out: &mut Lines) {
        block.iter().for_each(|one| self.statement(one, out));
    }

    fn braced(&self, block: &Block, out: &mut Lines) {
        out.line("{");
        out.inside(|out| self.block(block, out));
        out.line("}");
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
                out.line(&format!("if ({}) {{", self.expr(condition)));
                out.inside(|out| self.block(then, out));
                if !other.is_empty() {
                    out.line("} else {");
                    out.inside(|out| self.block(other, out));
                }
                out.line("}");
            }
            Stmt::Loop(one) => self.loop_nest(one, false, out),
            Stmt::Compute(one) => {
                self.directive(&compute(self, one), out);
                match (one.combined, one.body.as_slice()) {
                    (true, [Stmt::Loop(inner)]) => self.loop_nest(inner, true, out),
                    _ => self.braced(&one.body, out),
                }
            }
            Stmt::Data { clauses: list, body } => {
                self.directive(&format!("data{}", clauses(self, list)), out);
                self.braced(body, out);
            }
            Stmt::HostData { clauses: list, body } => {
                self.directive(&format!("host_data{}", clauses(self, list)), out);
                self.braced(body, out);
            }
            Stmt::Alone { kind, clauses: list } => self.directive(&alone(self, *kind, list), out),
            Stmt::Call(function, arguments) => out.line(&format!("{};", self.call(*function, arguments))),
            Stmt::Point { place, target } => {
                out.line(&format!("{} = {};", self.place(place), self.expr(target)));
            }
            Stmt::Allocate { place, count } => self.allocate(place, *count, out),
            Stmt::Free { place } => out.line(&format!("free({});", self.place(place))),
            Stmt::Fill { place, count, factor, add, modulus } => {
                self.fill(place, *count, (*factor, *add, *modulus), out);
            }
            Stmt::Show { id, place, count } => self.show(*id, place, *count, out),
            Stmt::Scope { vars, body } => {
                out.line("{");
                out.inside(|out| {
                    vars.iter().for_each(|var| out.line(&format!("{};", self.declared(*var))));
                    self.block(body, out);
                });
                out.line("}");
            }
            Stmt::Alias { var, target, body } => {
                let value = if self.is_cpp { self.place(target) } else { self.address(target) };
                out.line("{");
                out.inside(|out| {
                    out.line(&format!("{} = {value};", self.declared(*var)));
                    self.block(body, out);
                });
                out.line("}");
            }
            Stmt::Path(one) => self.path(one, out),
            Stmt::Leave { shape, number, again, condition } => {
                let jump = match (shape, again) {
                    (Shape::Labels, true) => format!("goto next_{number}"),
                    (Shape::Labels, false) => format!("goto out_{number}"),
                    (Shape::Loop, true) => "continue".to_owned(),
                    _ => "break".to_owned(),
                };
                out.line(&format!("if ({}) {jump};", self.expr(condition)));
            }
            // C has no array statements.
            Stmt::Elements { .. } => {}
        }
    }

    fn path(&self, path: &Path, out: &mut Lines) {
        let (counter, number, turns) = (self.name(path.counter), path.number, path.turns);
        let around = |first: &str, last: &str, out: &mut Lines| {
            out.line(first);
            out.inside(|out| self.block(&path.body, out));
            out.line(last);
        };
        match path.shape {
            Shape::Loop => {
                around(&format!("for ({counter} = 0; {counter} < {turns}; {counter}++) {{"), "}", out)
            }
            Shape::Once => {
                out.line(&format!("{counter} = 0;"));
                around("do {", "} while (0);", out);
            }
            Shape::Branch => {
                out.line(&format!("{counter} = 0;"));
                out.line(&format!("switch ({counter}) {{"));
                around("case 0:", "break;", out);
                out.line("default:");
                out.line(&format!("{counter} = 1;"));
                out.line("}");
            }
            Shape::Labels => {
                out.line(&format!("{counter} = 0;"));
                around(&format!("again_{number}: {{"), "}", out);
                out.line(&format!("next_{number}: {counter}++;"));
                out.line(&format!("if ({counter} < {turns}) goto again_{number};"));
                out.line(&format!("out_{number}:;"));
            }
        }
    }

    fn assignment(&self, place: &Place, op: Option<Op>, value: &Expr) -> String {
        let (left, right) = (self.by_macro(place), self.expr(value));
        let sign = match op {
            None => return format!("{left} = {right};"),
            Some(Op::Min) => return format!("{left} = {left} < ({right}) ? {left} : ({right});"),
            Some(Op::Max) => return format!("{left} = {left} > ({right}) ? {left} : ({right});"),
            Some(Op::And) => return format!("{left} = {left} && {};", self.operand(value)),
            Some(Op::Or) => return format!("{left} = {left} || {};", self.operand(value)),
            Some(Op::Sub) => "-",
            Some(Op::Mul) => "*",
            Some(Op::Mod) => "%",
            Some(Op::BitAnd) => "&",
            Some(Op::BitOr) => "|",
            Some(Op::BitXor) => "^",
            Some(_) => "+",
        };
        format!("{left} {sign}= {right};")
    }

    fn loop_nest(&self, one: &Loop, is_combined: bool, out: &mut Lines) {
        if let (Some(list), false) = (&one.directive, is_combined) {
            self.directive(&format!("loop{}", clauses(self, list)), out);
        }
        out.line(&format!("{} {{", self.loop_head(one)));
        out.inside(|out| self.block(&one.body, out));
        out.line("}");
    }

    fn loop_head(&self, one: &Loop) -> String {
        let known = &self.program.vars[one.counter];
        let name = &known.name;
        let is_plain = one.low == Expr::Const(0) && one.step == 1 && !one.inclusive && known.in_loop;
        if is_plain && known.ty == Type::Num(Num::Int) && self.program.style.loop_macros {
            return format!("{}FOR({name}, {})", self.prefix, self.expr(&one.end));
        }
        let start = match (known.in_loop, &known.ty) {
            (true, Type::Num(kind)) => format!("{} {name}", num(*kind)),
            _ => name.clone(),
        };
        let (sign, end) = match (one.inclusive, one.step > 0) {
            (false, true) => ("<", one.end.clone()),
            (false, false) => (">", one.end.clone()),
            (true, true) => ("<=", before(&one.end, 1)),
            (true, false) => (">=", before(&one.end, -1)),
        };
        let step = match one.step {
            1 => format!("{name}++"),
            -1 => format!("{name}--"),
            ..-1 => format!("{name} -= {}", -one.step),
            _ => format!("{name} += {}", one.step),
        };
        format!("for ({start} = {}; {name} {sign} {}; {step})", self.expr(&one.low), self.expr(&end))
    }

    fn allocate(&self, place: &Place, count: usize, out: &mut Lines) {
        let name = self.place(place);
        let Type::Pointer(element) = self.program.type_of(place) else { return };
        let ty = self.declaration(&element, "*");
        out.line(&format!("{name} = ({ty})malloc({count} * sizeof *{name});"));
    }

    /// The elements that a statement about all of a place names: the place, or what it points to.
    fn elements(&self, place: &Place, count: usize) -> (String, Type) {
        match self.program.type_of(place) {
            Type::Pointer(element) => (self.place(place), Type::Array(vec![count], element)),
            ty => (self.place(place), ty),
        }
    }

    fn fill(&self, place: &Place, count: usize, numbers: (i64, i64, i64), out: &mut Lines) {
        let (text, ty) = self.elements(place, count);
        self.each(
            &text,
            &ty,
            0,
            "0",
            &mut |text, _, cell| {
                let (factor, add, modulus) = numbers;
                format!("{text} = (({cell}) * {factor} + {add}) % {modulus};")
            },
            out,
        );
    }

    fn show(&self, id: usize, place: &Place, count: usize, out: &mut Lines) {
        let (text, ty) = self.elements(place, count);
        out.line(&format!("printf(\"{id}\");"));
        self.each(&text, &ty, 0, "0", &mut |text, _, _| format!("printf(\" %d\", (int)({text}));"), out);
        out.line("printf(\"\\n\");");
    }

    /// A statement for each number of a type, in the order of the cells.
    fn each(
        &self,
        text: &str,
        ty: &Type,
        depth: usize,
        cell: &str,
        say: &mut dyn FnMut(&str, Num, &str) -> String,
        out: &mut Lines,
    ) {
        match ty {
            Type::Num(kind) => out.line(&say(text, *kind, cell)),
            Type::Pointer(_) => {}
            Type::Struct(number) => {
                let mut before = 0;
                for field in &self.program.structs[*number].fields {
                    let cell = if before == 0 { cell.to_owned() } else { format!("{cell} + {before}") };
                    self.each(&format!("{text}.{}", field.name), &field.ty, depth, &cell, say, out);
                    before += self.program.cells(&field.ty);
                }
            }
            Type::Array(extents, inner) => {
                let (first, rest) = extents.split_first().unwrap_or((&0, &[]));
                let inner = match rest {
                    [] => (**inner).clone(),
                    _ => Type::Array(rest.to_vec(), inner.clone()),
                };
                let (k, size) = (format!("k{depth}"), self.program.cells(&inner));
                let step = if size == 1 { k.clone() } else { format!("{k} * {size}") };
                let cell = if cell == "0" { step } else { format!("{cell} + {step}") };
                out.line(&format!("for (int {k} = 0; {k} < {first}; {k}++) {{"));
                out.inside(|out| self.each(&format!("{text}[{k}]"), &inner, depth + 1, &cell, say, out));
                out.line("}");
            }
        }
    }
}

/// An expression less a number.
fn before(expr: &Expr, less: i64) -> Expr {
    match expr {
        Expr::Const(number) => Expr::Const(number - less),
        _ => expr.clone().plus(-less),
    }
}
