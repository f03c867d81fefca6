//! Writes Fortran, in free form: a module for each case.
//!
//! Invariant: subscripts are written in the other order, so that memory lies as in C.

use crate::hunt::print::c::used_only;
use crate::hunt::print::needs::Needs;
use crate::hunt::print::{BaseLanguage, Lines, clauses, entry, level};
use crate::hunt::program::{Dummy, Expr, Flavour, Item, Num, Op, Place, Program, Storage, Type, VarId};

mod statements;

/// No line is longer.
const COLUMNS: usize = 120;

struct Printer<'a> {
    program: &'a Program,
    prefix: String,
    needs: Needs,
}

/// The text of a program.
pub fn text(program: &Program, number: usize) -> String {
    let printer = Printer { program, prefix: format!("c{number}_"), needs: Needs::of(program) };
    let mut out = Lines::default();
    out.line(&format!("module {}module", printer.prefix));
    out.inside(|out| printer.heads(out));
    out.line("contains");
    out.inside(|out| {
        for function in printer.needs.functions.iter().rev() {
            printer.function(*function, number, out);
        }
    });
    out.line("end module");
    out.text.lines().map(wrapped).collect()
}

fn num(num: Num) -> &'static str {
    match num {
        Num::Truth => "logical",
        Num::Int => "integer",
        Num::Long => "integer(8)",
        Num::Single => "real(4)",
        Num::Double => "real(8)",
    }
}

impl BaseLanguage for Printer<'_> {
    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(number) if *number < 0 => format!("({number})"),
            Expr::Const(number) => number.to_string(),
            Expr::Named(number) => format!("{}n{number}", self.prefix),
            Expr::Read(place) => self.place(place),
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Choice(condition, left, right) => {
                let kind = self.program.kind(expr).unwrap_or(Num::Int);
                let (left, right) = (self.as_kind(left, kind), self.as_kind(right, kind));
                format!("merge({left}, {right}, {})", self.expr(condition))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Address(place) => self.place(place),
        }
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => self.name(*var),
            Place::Index(inner, subscripts) => {
                let lower = self.lower(inner);
                let all: Vec<String> =
                    subscripts.iter().rev().map(|one| self.expr(&shifted(one, lower))).collect();
                format!("{}({})", self.place(inner), all.join(", "))
            }
            Place::Member(inner, field) => {
                let Type::Struct(number) = self.program.type_of(inner) else { return String::new() };
                format!("{}%{}", self.place(inner), self.program.structs[number].fields[*field].name)
            }
            Place::Target(inner) => self.place(inner),
        }
    }

    fn item(&self, item: &Item) -> String {
        if item.whole || item.section.is_empty() {
            return self.place(&item.place);
        }
        let lower = self.lower(&item.place);
        let bounds: Vec<String> = item.section.iter().rev().map(|bound| self.bounds(bound, lower)).collect();
        format!("{}({})", self.place(&item.place), bounds.join(", "))
    }

    fn reducer(&self, op: Op) -> &'static str {
        match op {
            Op::Mul => "*",
            Op::Min => "min",
            Op::Max => "max",
            Op::BitAnd => "iand",
            Op::BitOr => "ior",
            Op::BitXor => "ieor",
            Op::And => ".and.",
            Op::Or => ".or.",
            _ => "+",
        }
    }

    fn name(&self, var: VarId) -> String {
        let known = &self.program.vars[var];
        match known.storage {
            Storage::Global => format!("{}{}", self.prefix, known.name),
            _ => known.name.clone(),
        }
    }
}

impl Printer<'_> {
    /// The lower bound of an array in the program's text.
    fn lower(&self, place: &Place) -> i64 {
        match place {
            Place::Var(var) => self.program.vars[*var].lower,
            _ => 0,
        }
    }

    fn bounds(&self, (low, count): &(Expr, Expr), lower: i64) -> String {
        let low = shifted(low, lower);
        let last = match (&low, count) {
            (Expr::Const(low), Expr::Const(count)) => Expr::Const(low + count - 1),
            (Expr::Const(low), count) => count.clone().plus(low - 1),
            (low, Expr::Const(count)) => low.clone().plus(count - 1),
            (low, count) => Expr::binary(Op::Add, low.clone(), count.clone()).plus(-1),
        };
        format!("{}:{}", self.expr(&low), self.expr(&last))
    }

    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(Op::Min | Op::Max | Op::Mod | Op::BitAnd | Op::BitOr | Op::BitXor, ..) => {
                self.expr(expr)
            }
            Expr::Binary(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    /// An expression as a kind of number.
    fn as_kind(&self, expr: &Expr, kind: Num) -> String {
        let known = self.program.kind(expr).unwrap_or(kind);
        if known == kind {
            return self.expr(expr);
        }
        match (expr, kind) {
            (Expr::Const(number @ 0..), Num::Long) => format!("{number}_8"),
            (Expr::Const(number @ 0..), Num::Double) => format!("{number}.0d0"),
            (Expr::Const(number @ 0..), Num::Single) => format!("{number}.0"),
            (_, Num::Long) => format!("int({}, 8)", self.expr(expr)),
            (_, Num::Int) => format!("int({})", self.expr(expr)),
            (_, Num::Double) => format!("real({}, 8)", self.expr(expr)),
            (_, Num::Single) => format!("real({}, 4)", self.expr(expr)),
            (_, Num::Truth) => self.expr(expr),
        }
    }

    fn binary(&self, op: Op, left: &Expr, right: &Expr) -> String {
        let kinds = [left, right].map(|one| self.program.kind(one).unwrap_or(Num::Int));
        let kind = kinds[0].max(kinds[1]);
        let function = match op {
            Op::Mod => "mod",
            Op::Min => "min",
            Op::Max => "max",
            Op::BitAnd => "iand",
            Op::BitOr => "ior",
            Op::BitXor => "ieor",
            _ => "",
        };
        if !function.is_empty() {
            return format!("{function}({}, {})", self.as_kind(left, kind), self.as_kind(right, kind));
        }
        let sign = match op {
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Eq => "==",
            Op::Ne => "/=",
            Op::And => ".and.",
            Op::Or => ".or.",
            _ => "+",
        };
        format!("{} {sign} {}", self.operand(left), self.operand(right))
    }

    fn call(&self, function: usize, arguments: &[Expr]) -> String {
        let called = &self.program.functions[function];
        let mut all = Vec::new();
        for (parameter, argument) in called.parameters.iter().zip(arguments) {
            let known = &self.program.vars[*parameter];
            all.push(match (&known.ty, argument, known.dummy) {
                (Type::Num(kind), _, _) if known.flavour == Flavour::Plain => self.as_kind(argument, *kind),
                (Type::Pointer(_), Expr::Address(Place::Index(inner, subscripts)), dummy) => {
                    self.array_argument(inner, subscripts, dummy)
                }
                _ => self.expr(argument),
            });
        }
        format!("{}{}({})", self.prefix, called.name, all.join(", "))
    }

    /// An array from one of its elements on, as an argument.
    fn array_argument(&self, inner: &Place, subscripts: &[Expr], dummy: Dummy) -> String {
        let name = self.place(inner);
        let lower = self.lower(inner);
        // An element of a pointer stands for itself alone.
        let is_pointer = match inner {
            Place::Var(var) => self.program.vars[*var].flavour == Flavour::FortranPointer,
            _ => false,
        };
        match (subscripts, dummy) {
            ([Expr::Const(0)], _) => name,
            ([one], dummy) if is_pointer || dummy == Dummy::Assumed => {
                format!("{name}({}:)", self.expr(&shifted(one, lower)))
            }
            _ => self.place(&inner.clone().at(subscripts.to_vec())),
        }
    }

    fn heads(&self, out: &mut Lines) {
        out.line("implicit none");
        for number in &self.needs.named {
            out.line(&format!("integer, parameter :: {}n{number} = {number}", self.prefix));
        }
        for number in &self.needs.structs {
            let one = &self.program.structs[*number];
            out.line(&format!("type :: {}{}", self.prefix, one.name));
            out.inside(|out| {
                for field in &one.fields {
                    let (ty, shape, attribute) = self.parts(&field.ty, field.flavour, 0, None);
                    out.line(&format!("{ty}{attribute} :: {}{shape}", field.name));
                }
            });
            out.line("end type");
        }
        for var in &self.needs.globals {
            let initial = self.program.initial.iter().find(|(one, _)| one == var);
            let value = initial.map_or(String::new(), |(_, value)| format!(" = {value}"));
            out.line(&format!("{}{value}", self.declared(*var)));
        }
        for clause in &self.program.declares {
            if let Some(clause) = used_only(clause, &self.needs.globals) {
                self.directive(&format!("declare{}", clauses(self, &[clause])), out);
            }
        }
    }

    /// The parts of a declaration: the type, the shape after the name, the attributes.
    fn parts(
        &self,
        ty: &Type,
        flavour: Flavour,
        lower: i64,
        dummy: Option<Dummy>,
    ) -> (String, String, String) {
        let (element, shape) = match ty {
            Type::Array(extents, element) => {
                let bound = |extent: &usize| match lower {
                    1 => extent.to_string(),
                    _ => format!("{lower}:{}", lower + *extent as i64 - 1),
                };
                let all: Vec<String> = extents.iter().rev().map(bound).collect();
                ((**element).clone(), format!("({})", all.join(", ")))
            }
            Type::Pointer(element) => {
                let shape = match (flavour, dummy) {
                    (Flavour::ToScalar, _) => String::new(),
                    (Flavour::Plain, Some(Dummy::Explicit(extent))) => {
                        format!("({lower}:{})", lower + extent as i64 - 1)
                    }
                    (Flavour::Plain, Some(Dummy::Assumed)) => format!("({lower}:)"),
                    _ => "(:)".to_owned(),
                };
                ((**element).clone(), shape)
            }
            other => (other.clone(), String::new()),
        };
        let attribute = match flavour {
            Flavour::Allocatable => ", allocatable",
            Flavour::FortranPointer | Flavour::ToScalar => ", pointer",
            _ => "",
        };
        let ty = match element {
            Type::Struct(number) => format!("type({}{})", self.prefix, self.program.structs[number].name),
            Type::Num(kind) => num(kind).to_owned(),
            _ => String::new(),
        };
        (ty, shape, attribute.to_owned())
    }

    fn declared(&self, var: VarId) -> String {
        let known = &self.program.vars[var];
        let is_parameter = known.storage == Storage::Parameter;
        let dummy = is_parameter.then_some(known.dummy);
        let (ty, shape, mut attribute) = self.parts(&known.ty, known.flavour, known.lower, dummy);
        let is_value = is_parameter && known.flavour == Flavour::Plain && matches!(known.ty, Type::Num(_));
        if is_value {
            attribute += ", value";
        } else if known.constant && is_parameter {
            attribute += ", intent(in)";
        }
        let is_pointer = matches!(known.flavour, Flavour::FortranPointer | Flavour::ToScalar);
        if self.needs.targets.contains(&var) && !is_pointer {
            attribute += ", target";
        }
        format!("{ty}{attribute} :: {}{shape}", self.name(var))
    }

    fn directive(&self, words: &str, out: &mut Lines) {
        out.line(&format!("!$acc {words}"));
    }

    fn function(&self, number: usize, case: usize, out: &mut Lines) {
        let function = &self.program.functions[number];
        let name = match number {
            0 => entry(case),
            _ => format!("{}{}", self.prefix, function.name),
        };
        let parameters: Vec<String> = function.parameters.iter().map(|one| self.name(*one)).collect();
        let list = parameters.join(", ");
        match function.value {
            Some(_) => out.line(&format!("function {name}({list}) result(value)")),
            None => out.line(&format!("subroutine {name}({list})")),
        }
        out.inside(|out| {
            if let Some(one) = function.routine {
                self.directive(&format!("routine {}", level(one)), out);
            }
            self.body(function, out);
        });
        out.line(if function.value.is_some() { "end function" } else { "end subroutine" });
    }
}

/// A subscript of the program's text.
fn shifted(expr: &Expr, lower: i64) -> Expr {
    match expr {
        Expr::Const(number) => Expr::Const(number + lower),
        Expr::Binary(Op::Add, left, right) => match **right {
            Expr::Const(number) => left.as_ref().clone().plus(number + lower),
            _ => expr.clone().plus(lower),
        },
        Expr::Binary(Op::Sub, left, right) => match **right {
            Expr::Const(number) => left.as_ref().clone().plus(lower - number),
            _ => expr.clone().plus(lower),
        },
        _ => expr.clone().plus(lower),
    }
}

/// A line with its end; a long one is continued.
fn wrapped(line: &str) -> String {
    if line.len() <= COLUMNS {
        return format!("{line}\n");
    }
    let indent = line.len() - line.trim_start().len();
    let is_directive = line.trim_start().starts_with("!$acc");
    let start = " ".repeat(indent) + if is_directive { "!$acc   " } else { "    " };
    let mut text = String::new();
    let mut rest = line.to_owned();
    while rest.len() > COLUMNS {
        let from = start.len() + 8;
        let Some(at) = rest[..COLUMNS - 2].rfind(' ').filter(|at| *at > from) else { break };
        text.push_str(&format!("{} &\n", &rest[..at]));
        rest = format!("{start}{}", rest[at..].trim_start());
    }
    format!("{text}{rest}\n")
}
