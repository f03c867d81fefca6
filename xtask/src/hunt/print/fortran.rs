//! Writes Fortran, in free form: a module for each case.
//!
//! Invariant: subscripts are written in the other order, so that memory lies as in C.

use super::c::used_only;
use super::needs::{Needs, locals};
use super::{Lines, Speech, alone, clauses, compute, declares, entry, level};
use crate::hunt::program::{
    Block, Dummy, Expr, Flavour, Function, Item, Kind, Loop, Num, Op, Place, Program, Stmt, Storage, Type, VarId,
};

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

impl Speech for Printer<'_> {
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
            Expr::Null => "null()".to_owned(),
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
            Expr::Binary(op, ..)
                if matches!(op, Op::Min | Op::Max | Op::Mod | Op::BitAnd | Op::BitOr | Op::BitXor) =>
            {
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
            ([one], dummy) if is_pointer || dummy == Dummy::Assumed => format!("{name}({}:)", self.expr(&shifted(one, lower))),
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

    /// The parts of a declaration: the type, the shape behind the name, the attributes.
    fn parts(&self, ty: &Type, flavour: Flavour, lower: i64, dummy: Option<Dummy>) -> (String, String, String) {
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

    fn body(&self, function: &Function, out: &mut Lines) {
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
            Stmt::Elements { place, counter, low, count, value } => {
                let target = self.section(place, *low, *count);
                out.line(&format!("{target} = {}", self.elementwise(value, *counter, *low, *count)));
            }
            Stmt::Cursor => {}
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
        let is_scalar =
            |place: &Place| matches!(place, Place::Var(var) if self.program.vars[*var].flavour == Flavour::ToScalar);
        let text = match target {
            Expr::Null => "null()".to_owned(),
            Expr::Address(Place::Index(inner, subscripts)) if !is_scalar(place) => {
                self.array_argument(inner, subscripts, Dummy::Assumed)
            }
            other => self.expr(other),
        };
        match (is_scalar(place), target) {
            (true, _) | (_, Expr::Null) => out.line(&format!("{name} => {text}")),
            _ => out.line(&format!("{name}({}:) => {text}", self.lower(place))),
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
