//! Writes C and C++.
//!
//! Invariant: C99 or C++11, without undefined behaviour that the model does not see.

use crate::hunt::print::needs::Needs;
use crate::hunt::print::{BaseLanguage, Lines, clauses, entry, level};
use crate::hunt::program::{Clause, Expr, Flavour, Item, Num, Op, Place, Program, Type, VarId};

mod statements;

struct Printer<'a> {
    program: &'a Program,
    is_cpp: bool,
    prefix: String,
}

/// The text of a program.
pub fn text(program: &Program, is_cpp: bool, number: usize) -> String {
    let printer = Printer { program, is_cpp, prefix: format!("c{number}_") };
    let needs = Needs::of(program);
    let mut out = Lines::default();
    out.line("#include <stdio.h>");
    out.line("#include <stdlib.h>");
    out.line("");
    printer.heads(&needs, &mut out);
    for function in &needs.functions {
        printer.function(*function, number, &mut out);
    }
    out.text
}

fn num(num: Num) -> &'static str {
    match num {
        Num::Truth => "int",
        Num::Int => "int",
        Num::Long => "long",
        Num::Single => "float",
        Num::Double => "double",
    }
}

impl BaseLanguage for Printer<'_> {
    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(number) if *number < 0 => format!("({number})"),
            Expr::Const(number) => number.to_string(),
            Expr::Named(number) => format!("{}N{number}", self.prefix),
            Expr::Read(place) => self.by_macro(place),
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Choice(condition, left, right) => {
                format!("{} ? {} : {}", self.operand(condition), self.operand(left), self.operand(right))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Address(place) => self.address(place),
        }
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => {
                let name = self.name(*var);
                match self.is_hidden_pointer(*var) && matches!(self.program.vars[*var].ty, Type::Num(_)) {
                    true => format!("(*{name})"),
                    false => name,
                }
            }
            Place::Index(inner, subscripts) => {
                let is_pointer = matches!(self.program.type_of(inner), Type::Pointer(_));
                let base = self.place(inner);
                match subscripts.as_slice() {
                    [one] if is_pointer && self.program.style.stars => {
                        format!("(*({base} + {}))", self.operand(one))
                    }
                    [one] if self.program.style.access_macros => {
                        format!("{}AT({base}, {})", self.prefix, self.expr(one))
                    }
                    _ => {
                        let all: String =
                            subscripts.iter().map(|one| format!("[{}]", self.expr(one))).collect();
                        format!("{base}{all}")
                    }
                }
            }
            Place::Member(inner, field) => {
                let Type::Struct(number) = self.program.type_of(inner) else { return String::new() };
                let name = &self.program.structs[number].fields[*field].name;
                match &**inner {
                    Place::Target(pointer) => format!("{}->{name}", self.place(pointer)),
                    Place::Var(var) if self.is_hidden_pointer(*var) => {
                        format!("{}->{name}", self.name(*var))
                    }
                    _ => format!("{}.{name}", self.place(inner)),
                }
            }
            Place::Target(inner) => format!("(*{})", self.place(inner)),
        }
    }

    fn item(&self, item: &Item) -> String {
        let ty = self.program.type_of(&item.place);
        let is_decayed = match (&item.place, &ty) {
            (Place::Var(var), Type::Array(..)) => self.is_hidden_pointer(*var),
            _ => false,
        };
        let base = match &item.place {
            Place::Index(inner, subscripts) => {
                // No macro of the program may stand in a clause.
                let all: String = subscripts.iter().map(|one| format!("[{}]", self.expr(one))).collect();
                format!("{}{all}", self.place(inner))
            }
            place => self.place(place),
        };
        if item.section.is_empty() && is_decayed {
            let Type::Array(extents, _) = ty else { return base };
            let all: String = extents.iter().map(|extent| format!("[0:{extent}]")).collect();
            return format!("{base}{all}");
        }
        let bounds = item.section.iter();
        let all: String =
            bounds.map(|(low, count)| format!("[{}:{}]", self.expr(low), self.expr(count))).collect();
        format!("{base}{all}")
    }

    fn reducer(&self, op: Op) -> &'static str {
        match op {
            Op::Mul => "*",
            Op::Min => "min",
            Op::Max => "max",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
            Op::And => "&&",
            Op::Or => "||",
            _ => "+",
        }
    }

    fn name(&self, var: VarId) -> String {
        let known = &self.program.vars[var];
        match known.storage {
            crate::hunt::program::Storage::Global => format!("{}{}", self.prefix, known.name),
            _ => known.name.clone(),
        }
    }
}

impl Printer<'_> {
    /// A place of code; where it is a variable, perhaps by a macro.
    fn by_macro(&self, place: &Place) -> String {
        match place {
            Place::Var(var) if self.program.style.name_macros => {
                self.naming_macro(*var).map_or_else(|| self.place(place), |(_, call)| call)
            }
            _ => self.place(place),
        }
    }

    /// The definition of the macro that names a variable, and how it is used; each second number that varies has one.
    fn naming_macro(&self, var: VarId) -> Option<(String, String)> {
        let known = &self.program.vars[var];
        let is_number = matches!(known.ty, Type::Num(_)) && !known.in_loop && !self.is_hidden_pointer(var);
        if !is_number || var % 2 == 1 {
            return None;
        }
        let (prefix, name) = (&self.prefix, self.name(var));
        let (start, end) = name.split_at(name.len() - 1);
        Some(match var / 2 % 3 {
            0 if !start.is_empty() => {
                (format!("#define {prefix}V{var} {prefix}JOIN({start}, {end})"), format!("{prefix}V{var}"))
            }
            1 => (format!("#define {prefix}V{var}() {name}"), format!("{prefix}V{var}()")),
            _ => (format!("#define {prefix}V{var} {name}"), format!("{prefix}V{var}")),
        })
    }

    /// C has no references: it is a pointer.
    fn is_hidden_pointer(&self, var: VarId) -> bool {
        !self.is_cpp && self.program.vars[var].flavour == Flavour::Reference
    }

    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(Op::Min | Op::Max, ..) => self.expr(expr),
            Expr::Binary(..) | Expr::Choice(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn binary(&self, op: Op, left: &Expr, right: &Expr) -> String {
        let (left, right) = (self.operand(left), self.operand(right));
        let sign = match op {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Mod => "%",
            Op::Min => return format!("({left} < {right} ? {left} : {right})"),
            Op::Max => return format!("({left} > {right} ? {left} : {right})"),
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::And => "&&",
            Op::Or => "||",
        };
        format!("{left} {sign} {right}")
    }

    fn call(&self, function: usize, arguments: &[Expr]) -> String {
        let parameters = &self.program.functions[function].parameters;
        let mut all = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let is_reference = self.program.vars[*parameter].flavour == Flavour::Reference;
            all.push(match argument {
                Expr::Address(place) if is_reference && self.is_cpp => self.place(place),
                _ => self.expr(argument),
            });
        }
        format!("{}{}({})", self.prefix, self.program.functions[function].name, all.join(", "))
    }

    fn address(&self, place: &Place) -> String {
        match place {
            _ if matches!(self.program.type_of(place), Type::Array(..)) => self.place(place),
            Place::Var(var) if self.is_hidden_pointer(*var) => self.name(*var),
            Place::Target(inner) => self.place(inner),
            Place::Index(inner, subscripts) => {
                let is_zero = |one: &Expr| *one == Expr::Const(0);
                match subscripts.as_slice() {
                    [one] if is_zero(one) => self.place(inner),
                    [one] if self.program.style.stars => {
                        format!("{} + {}", self.place(inner), self.operand(one))
                    }
                    _ => format!("&{}", self.place(place)),
                }
            }
            _ => format!("&{}", self.place(place)),
        }
    }

    /// A declaration of a name with a type.
    fn declaration(&self, ty: &Type, name: &str) -> String {
        match ty {
            Type::Num(one) => format!("{} {name}", num(*one)),
            Type::Struct(number) => {
                let tag = format!("{}{}", self.prefix, self.program.structs[*number].name);
                format!("struct {tag} {name}")
            }
            Type::Array(extents, inner) => {
                let all: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
                self.declaration(inner, &format!("{name}{all}"))
            }
            Type::Pointer(inner) => match **inner {
                Type::Array(..) => self.declaration(inner, &format!("(*{name})")),
                _ => self.declaration(inner, &format!("*{name}")),
            },
        }
    }

    fn declared(&self, var: VarId) -> String {
        let known = &self.program.vars[var];
        let name = self.name(var);
        if known.flavour == Flavour::Reference {
            let text = match (&known.ty, self.is_cpp) {
                (Type::Array(..), true) => self.declaration(&known.ty, &format!("(&{name})")),
                (_, true) => self.declaration(&known.ty, &format!("&{name}")),
                (Type::Array(extents, inner), false) => {
                    let rest: String = extents[1..].iter().map(|extent| format!("[{extent}]")).collect();
                    let star = if extents.len() == 1 { format!("*{name}") } else { format!("(*{name})") };
                    self.declaration(inner, &format!("{star}{rest}"))
                }
                (ty, false) => self.declaration(&Type::Pointer(Box::new(ty.clone())), &name),
            };
            return text;
        }
        let word = match (known.restrict, self.is_cpp) {
            (false, _) => String::new(),
            (true, false) => "restrict ".to_owned(),
            (true, true) => "__restrict__ ".to_owned(),
        };
        let text = self.declaration(&known.ty, &format!("{word}{name}"));
        if known.constant { format!("const {text}") } else { text }
    }

    fn heads(&self, needs: &Needs, out: &mut Lines) {
        let (program, prefix) = (self.program, &self.prefix);
        for number in &needs.named {
            match program.style.constant_macros {
                true => out.line(&format!("#define {prefix}N{number} {number}")),
                false => out.line(&format!("enum {{ {prefix}N{number} = {number} }};")),
            }
        }
        if program.style.pragma_macros {
            out.line(&format!("#define {prefix}DO(text) _Pragma(#text)"));
            out.line(&format!("#define {prefix}ACC(text) {prefix}DO(acc text)"));
        }
        if program.style.loop_macros {
            out.line(&format!("#define {prefix}FOR(i, n) for (int i = 0; i < (n); i++)"));
        }
        if program.style.name_macros {
            out.line(&format!("#define {prefix}JOIN(a, b) a##b"));
            let defines = needs.vars.iter().filter_map(|var| self.naming_macro(*var));
            defines.for_each(|(define, _)| out.line(&define));
        }
        if program.style.access_macros {
            out.line(&format!("#define {prefix}AT(a, i) a[i]"));
        }
        for number in &needs.structs {
            let one = &program.structs[*number];
            out.line(&format!("struct {prefix}{} {{", one.name));
            out.inside(|out| {
                one.fields.iter().for_each(|field| {
                    out.line(&format!("{};", self.declaration(&field.ty, &field.name)));
                });
            });
            out.line("};");
        }
        for var in &needs.globals {
            let initial = program.initial.iter().find(|(one, _)| one == var);
            let value = initial.map_or(String::new(), |(_, value)| {
                let cells = program.cells(&program.vars[*var].ty);
                match program.vars[*var].ty {
                    Type::Num(_) => format!(" = {value}"),
                    _ => format!(" = {{ {} }}", vec![value.to_string(); cells].join(", ")),
                }
            });
            out.line(&format!("{}{value};", self.declared(*var)));
        }
        for clause in &program.declares {
            if let Some(clause) = used_only(clause, &needs.globals) {
                self.directive(&format!("declare{}", clauses(self, &[clause])), out);
            }
        }
        out.line("");
    }

    fn directive(&self, words: &str, out: &mut Lines) {
        match self.program.style.pragma_macros && out.depth > 0 {
            true => out.line(&format!("{}ACC({words})", self.prefix)),
            false => out.text.push_str(&format!("#pragma acc {words}\n")),
        }
    }

    fn function(&self, number: usize, case: usize, out: &mut Lines) {
        let function = &self.program.functions[number];
        if let Some(one) = function.routine {
            self.directive(&format!("routine {}", level(one)), out);
        }
        let parameters: Vec<String> = function.parameters.iter().map(|one| self.parameter(*one)).collect();
        let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let value = function.value.map_or("void", num);
        let head = match number {
            0 => format!("static void {}(void)", entry(case)),
            _ => format!("static {value} {}{}({list})", self.prefix, function.name),
        };
        out.line(&head);
        out.line("{");
        out.inside(|out| self.body(function, out));
        out.line("}");
        out.line("");
    }

    fn parameter(&self, var: VarId) -> String {
        let known = &self.program.vars[var];
        match (&known.ty, known.flavour, self.is_cpp) {
            (Type::Array(..), Flavour::Reference, false) => self.declaration(&known.ty, &known.name),
            _ => self.declared(var),
        }
    }
}

/// The clause without the variables that nobody uses; none if it is empty then.
pub fn used_only(clause: &Clause, used: &[VarId]) -> Option<Clause> {
    let Clause::Data(kind, items) = clause else { return Some(clause.clone()) };
    let items: Vec<Item> = items.iter().filter(|item| used.contains(&item.place.base())).cloned().collect();
    (!items.is_empty()).then_some(Clause::Data(*kind, items))
}
