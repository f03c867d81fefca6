//! Whether an expression of the code is a floating-point number: the types of expressions of C and C++, as far as that wants them.
//!
//! Invariant: what is not seen has no type; a macro is what it stands for where it is used, whatever names it has in common with
//! the code around.

use std::cell::Cell;

use crate::host::forms::inside;
use crate::host::ir::{BaseType, BinaryOp, DeclKind, ExprId, ExprKind, Function, StmtKind, UnaryOp, Unit};
use crate::source::{self, Span};

use super::c_library;
use super::holds::{Element, Type};
use super::shown::{Returned, Signature};
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;

/// So many expressions are read at most to find the type of one.
const STEPS: usize = 2000;

/// Whether an expression is, as far as is seen, a floating-point number.
pub(super) fn is_floating(unit: &Unit, symbols: &Symbols, expr: ExprId) -> bool {
    let steps = Cell::new(STEPS);
    let reader = Reader::new(unit, symbols, &steps);
    let at = unit.expr(expr).span.start;
    reader.of(expr).is_some_and(|known| reader.is_floating_at(&known, at))
}

/// Whether what the file itself says of the type of an expression is not understood. What files say that are not read is not
/// looked for.
pub(super) fn is_unseen(unit: &Unit, symbols: &Symbols, expr: ExprId) -> bool {
    let steps = Cell::new(STEPS);
    let reader = Reader::new(unit, symbols, &steps);
    match reader.of(expr) {
        None => reader.is_unread(expr),
        Some(known) if !is_open(&known) => false,
        Some(known) => {
            is_computed(&known.base) || reader.is_parameter_elsewhere(&known.base, unit.expr(expr).span.start)
        }
    }
}

/// Whether a variable that is used at `at` is one.
pub(super) fn is_floating_variable(unit: &Unit, symbols: &Symbols, symbol: SymbolId, at: u32) -> bool {
    let steps = Cell::new(STEPS);
    let reader = Reader::new(unit, symbols, &steps);
    reader.variable(symbol).is_some_and(|known| reader.is_floating_at(&known, at))
}

/// A macro that is being written out, and those that it stands in.
#[derive(Clone, Copy)]
struct Expanding<'a> {
    name: &'a str,
    outer: Option<&'a Expanding<'a>>,
}

/// The types of names that mean something else than in the code: parameters of a macro, variables of a block.
type Given = Vec<(String, Option<Type>)>;

/// What a call passes: the types of its arguments, and the name of the function where template arguments stand with it.
#[derive(Default)]
struct Passed<'a> {
    args: Vec<Option<Type>>,
    instance: Option<&'a str>,
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    /// The file.
    file: &'a Unit,
    symbols: &'a Symbols,
    /// What holds the expressions: the file, or the body of a macro.
    unit: &'a Unit,
    /// Where the body of a macro is used.
    at: Option<u32>,
    given: &'a [(String, Option<Type>)],
    expanding: Option<&'a Expanding<'a>>,
    /// How many more expressions are read.
    steps: &'a Cell<usize>,
}

impl<'a> Reader<'a> {
    fn new(unit: &'a Unit, symbols: &'a Symbols, steps: &'a Cell<usize>) -> Reader<'a> {
        Reader { file: unit, symbols, unit, at: None, given: &[], expanding: None, steps }
    }

    /// The same for expressions of the file itself.
    fn in_file(&self) -> Reader<'a> {
        Reader::new(self.file, self.symbols, self.steps)
    }

    /// Counts what is read; `None` where it is too much.
    fn spend(&self, steps: usize) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(steps)?);
        Some(())
    }

    /// The type of an expression.
    fn of(&self, expr: ExprId) -> Option<Type> {
        self.spend(1)?;
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || match self.file.is_fortran() {
            true => self.of_fortran(expr),
            false => self.typed(expr),
        })
    }

    /// Fortran's variables and what is computed of them, as far as declarations say it.
    fn of_fortran(&self, expr: ExprId) -> Option<Type> {
        match &self.unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let known = self.symbols.get(self.symbols.named(self.unit, expr)?);
                Some(if known.class == Class::Scalar && known.is_floating { double() } else { int() })
            }
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => self.of(*operand),
            ExprKind::Binary(op, left, right) if is_arithmetic(*op) => {
                joined(self.of(*left), self.of(*right))
            }
            _ => None,
        }
    }

    fn typed(&self, id: ExprId) -> Option<Type> {
        let expr = self.unit.expr(id);
        match &expr.kind {
            ExprKind::Name(name) => {
                let known = self.named(name, expr.span.start)?;
                Some(self.of_instance(name, expr.span, known))
            }
            ExprKind::Literal if self.unit.reals.contains(&expr.span.start) => Some(double()),
            ExprKind::Literal | ExprKind::Int(_) | ExprKind::Sizeof => Some(int()),
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => self.of(*operand),
            ExprKind::Unary(..) => Some(int()),
            ExprKind::Binary(op, left, right) if is_arithmetic(*op) => {
                computed(*op, self.of(*left), self.of(*right))
            }
            ExprKind::Binary(..) => Some(int()),
            ExprKind::Assign(_, left, _) | ExprKind::Step { operand: left, .. } => self.of(*left),
            ExprKind::Index(base, index) => match self.of(*base) {
                Some(known) if is_pointer(&known) || !is_number(&known) => self.element(known),
                _ => self.element(self.of(*index).filter(is_pointer)?),
            },
            ExprKind::Deref(operand) => self.element(self.of(*operand)?),
            ExprKind::AddressOf(operand) => {
                let known = self.of(*operand)?;
                Some(Type { shape: [vec![false], known.shape].concat(), ..known })
            }
            ExprKind::Member { base, name, .. } => self.member(self.of(*base), name),
            ExprKind::Call { callee, args } => self.call(*callee, args),
            ExprKind::Cast { to, operand } => self.cast(to, *operand, expr.span.start),
            ExprKind::Conditional(_, one, other) => either(self.of(*one), self.of(*other)),
            ExprKind::Comma(_, last) => self.of(*last),
            ExprKind::Initialiser(parts) => {
                match inside(&self.unit.forms.literals, expr.span).find(|literal| literal.span == expr.span) {
                    Some(literal) => self.of_words(&literal.to),
                    None => self.of(*parts.first().filter(|_| parts.len() == 1)?),
                }
            }
            ExprKind::Opaque(_) => self.block(expr.span),
            ExprKind::Triplet(_) => None,
        }
    }

    /// The type of a variable whose name has template arguments: those of the variable, or of its class.
    fn of_instance(&self, name: &str, span: Span, known: Type) -> Type {
        if !is_open(&known) {
            return known;
        }
        let mut instances = inside(&self.unit.forms.instances, span);
        let stated = instances.find(|one| one.span == span).map(|one| one.text.as_str()).unwrap_or(name);
        let class = stated.rsplit_once("::").map(|(class, _)| class);
        [Some(stated), class].into_iter().flatten().filter(|one| one.ends_with('>')).fold(
            known,
            |known, one| {
                if is_open(&known) { self.with_argument(one, known) } else { known }
            },
        )
    }

    /// Whether an expression without a type has words that are not understood, whatever other files say.
    fn is_unread(&self, id: ExprId) -> bool {
        let is_unread = |part: ExprId| self.of(part).is_none() && self.is_unread(part);
        match &self.unit.expr(id).kind {
            ExprKind::Opaque(_) | ExprKind::Literal => true,
            ExprKind::Call { callee, .. } => match &self.unit.expr(*callee).kind {
                ExprKind::Name(name) => {
                    let is_shown = !self.symbols.shown.functions(source::plain_name(name)).is_empty();
                    is_shown || self.is_unread(*callee)
                }
                ExprKind::Opaque(_) => true,
                _ => false,
            },
            ExprKind::Name(name) => {
                let at = self.place(self.unit.expr(id).span.start);
                let symbol = self.symbols.lookup(name, at).map(|symbol| self.symbols.get(symbol));
                symbol.and_then(|known| self.file.decl(known.decl?).init).is_some_and(is_unread)
            }
            ExprKind::Member { .. } => false,
            kind => kind.children().any(is_unread),
        }
    }

    /// Whether a name is the parameter of a template, and not of the function around `at` or its class.
    fn is_parameter_elsewhere(&self, name: &str, at: u32) -> bool {
        let shown = &self.symbols.shown;
        let around = self.file.function_around(Span { start: at, end: at });
        let own = around.into_iter().flat_map(|one| [Some(one.name.as_str()), one.member_of.as_deref()]);
        let mut own = own.flatten().map(source::plain_name);
        shown.is_parameter_of_any(name) && !own.any(|template| shown.is_parameter(template, name))
    }

    /// The place at which names are looked up that stand at `at`.
    fn place(&self, at: u32) -> u32 {
        self.at.unwrap_or(at)
    }

    fn named(&self, name: &str, at: u32) -> Option<Type> {
        if let Some((_, known)) = self.given.iter().rev().find(|(given, _)| given == name) {
            return known.clone();
        }
        let at = self.place(at);
        match name {
            "this" => {
                let around = self.file.function_around(Span { start: at, end: at })?;
                let base = around.member_of.clone()?;
                return Some(Type { shape: vec![false], base, element: None });
            }
            "true" | "false" => return Some(int()),
            _ => {}
        }
        let symbol = self.symbols.lookup(name, at);
        if symbol.is_none_or(|symbol| self.symbols.is_macro(symbol))
            && let Some(found) = self.written_out(name, None, at)
        {
            return found;
        }
        match symbol.filter(|symbol| !self.symbols.is_macro(*symbol)) {
            // A function is what leads to its result.
            Some(symbol) if self.symbols.get(symbol).kind == SymbolKind::Function => {
                let all: Vec<&Signature> =
                    self.symbols.shown.functions(source::plain_name(name)).iter().collect();
                let found = self.result(name, &all, &Passed::default())?;
                Some(Type { shape: [vec![false], found.shape].concat(), ..found })
            }
            Some(symbol) => self.variable(symbol),
            None => c_library::is_floating_constant(name).then(double),
        }
    }

    /// The type of what a macro stands for, of its call where it has arguments; `None` if it is not a macro here. Of several
    /// definitions, one that is floating counts.
    fn written_out(&self, name: &str, args: Option<&[ExprId]>, at: u32) -> Option<Option<Type>> {
        let mut outer = self.expanding;
        while let Some(one) = outer {
            if one.name == name {
                return None;
            }
            outer = one.outer;
        }
        let definitions = self.symbols.definitions(name);
        let mut all = definitions.iter().filter(|(params, _)| params.is_some() == args.is_some()).peekable();
        all.peek()?;
        let args: Vec<Option<Type>> = args.into_iter().flatten().map(|arg| self.of(*arg)).collect();
        let types = all.map(|(params, body)| {
            let given: Given = params.unwrap_or_default().iter().cloned().zip(args.iter().cloned()).collect();
            let fragment = self.symbols.shown.fragment(body, self.file.is_cpp())?;
            let expanding = Expanding { name, outer: self.expanding };
            let (unit, value) = (&fragment.0, fragment.1);
            Reader { unit, at: Some(at), given: &given, expanding: Some(&expanding), ..*self }.of(value)
        });
        Some(floating_or_first(types))
    }

    fn variable(&self, symbol: SymbolId) -> Option<Type> {
        let known = self.symbols.get(symbol);
        if matches!(known.kind, SymbolKind::Function | SymbolKind::Type) {
            return None;
        }
        if self.file.is_fortran() {
            return known.is_floating.then(double);
        }
        let found = self.symbols.type_of(symbol)?.clone();
        let Some(id) = known.decl else { return self.resolved(found) };
        let decl = self.file.decl(id);
        if let Some(words) = self.symbols.shown.words(id).filter(|_| !self.file.bindings.contains(&id)) {
            let reader = self.in_file();
            let mut known = reader.deduced(words, decl.init, decl.span.start).or_else(|| {
                let is_free = decl.kind == DeclKind::Parameter;
                is_free.then(|| Type { shape: Vec::new(), base: "auto".to_owned(), element: None })
            })?;
            if !is_asking(words) {
                return Some(known);
            }
            known.shape.splice(0..0, found.shape);
            return Some(known);
        }
        let base = match &decl.base {
            BaseType::Named(name) => self.symbols.shown.instance(name).unwrap_or(&found.base).to_owned(),
            BaseType::Record(id) if found.base.is_empty() => self.symbols.shown.name_of(*id),
            _ => found.base.clone(),
        };
        self.resolved(Type { base, ..found })
    }

    /// The type of a variable whose declaration has these words and this first value.
    fn deduced(&self, words: &str, init: Option<ExprId>, at: u32) -> Option<Type> {
        if is_asking(words) {
            let (_, inside) = words.split_once('(')?;
            let inside = inside.trim_end().strip_suffix(')')?;
            let by_words = || self.of_words(inside);
            let fragment = self.symbols.shown.fragment(inside, self.file.is_cpp());
            let Some(fragment) = fragment else { return by_words() };
            let reader = Reader { unit: &fragment.0, at: Some(self.place(at)), ..*self };
            return reader.of(fragment.1).or_else(by_words);
        }
        let is_auto = source::words(words).any(|word| matches!(word, "auto" | "__auto_type"));
        if is_auto { self.of(init?) } else { self.of_words(words) }
    }

    /// `({ … })`
    fn block(&self, span: Span) -> Option<Type> {
        let block = inside(&self.unit.forms.blocks, span).find(|block| block.span == span)?;
        let mut given: Given = self.given.to_vec();
        for local in &block.locals {
            let reader = Reader { given: &given, ..*self };
            let known = reader.deduced(&local.words, local.init, span.start);
            given.push((local.name.clone(), known));
        }
        Reader { given: &given, ..*self }.of(block.value?)
    }

    fn cast(&self, to: &str, operand: ExprId, at: u32) -> Option<Type> {
        let to = to.trim();
        // The grammar takes `(n) - 1` for a cast where it does not know that `n` is a variable.
        let is_variable = self.given.iter().any(|(given, _)| given == to)
            || self.symbols.lookup(to, self.place(at)).is_some_and(|symbol| {
                !self.symbols.is_macro(symbol) && self.symbols.get(symbol).kind != SymbolKind::Type
            });
        if !is_variable {
            return self.of_words(to);
        }
        match &self.unit.expr(operand).kind {
            ExprKind::Unary(_, inner) | ExprKind::Deref(inner) => joined(self.named(to, at), self.of(*inner)),
            _ => None,
        }
    }

    /// What the words of a type name.
    fn of_words(&self, words: &str) -> Option<Type> {
        let words = words.trim().trim_end_matches('&').trim();
        if let Some(end) = words.rfind('>') {
            let (base, declarator) = words.split_at(end + 1);
            let base = base.trim_start_matches("const ").trim_start_matches("typename ").trim().to_owned();
            let shape = vec![false; declarator.matches('*').count()];
            return self.resolved(Type { shape, base, element: None });
        }
        let known = self.symbols.cast_type(words)?;
        let whole = self.symbols.shown.instance(words).map(str::to_owned);
        self.resolved(Type { base: whole.unwrap_or(known.base), ..known })
    }

    /// A type whose name may be that of a macro, or of a template that stands for other types.
    fn resolved(&self, known: Type) -> Option<Type> {
        if known.base.contains('<')
            && let Some(named) = self.symbols.type_names.get(source::plain_name(&known.base))
        {
            let found = self.with_argument(&known.base, named.clone());
            return Some(Type { shape: [known.shape, found.shape].concat(), ..found });
        }
        if known.element.is_some() || !self.symbols.is_spelled_as_macro(&known.base) {
            return Some(known);
        }
        self.spend(1)?;
        let definitions = self.symbols.definitions(&known.base);
        let bodies = definitions.into_iter().filter(|(params, body)| params.is_none() && *body != known.base);
        let found = floating_or_first(bodies.map(|(_, body)| self.of_words(body)))?;
        Some(Type { shape: [known.shape, found.shape].concat(), ..found })
    }

    /// What a pointer, an array or an object leads to.
    fn element(&self, known: Type) -> Option<Type> {
        if is_pointer(&known) {
            return Some(Type { shape: known.shape[1..].to_vec(), ..known });
        }
        let class = source::plain_name(&known.base);
        for name in ["operator[]", "operator*"] {
            let found = self.result_of_member(&known, class, name, &Passed::default());
            if found.is_some() {
                return found;
            }
        }
        self.argument_of(&known)
    }

    /// The first argument of the template that an object is of: what containers and pointers of C++ hold.
    fn argument_of(&self, known: &Type) -> Option<Type> {
        let argument = self.symbols.shown.first_argument(&known.base)?;
        self.of_words(argument.split('(').next().unwrap_or(argument))
    }

    fn member(&self, base: Option<Type>, name: &str) -> Option<Type> {
        let shown = &self.symbols.shown;
        let Some(object) = base else { return self.resolved(self.symbols.member(name)?.clone()) };
        let class = source::plain_name(&object.base);
        if !shown.has_class(class) {
            // A pointer of a library leads to an object.
            let inner = self.argument_of(&object).filter(|inner| inner.base != object.base);
            let is_shown =
                inner.as_ref().is_some_and(|inner| shown.has_class(source::plain_name(&inner.base)));
            return match inner.filter(|_| is_shown) {
                Some(inner) => self.member(Some(inner), name),
                None => self.resolved(self.symbols.member(name)?.clone()),
            };
        }
        let known = shown.member(class, name)?.clone();
        self.resolved(self.with_argument(&object.base, known))
    }

    /// A type that may be the parameter of a template, where template arguments are given with its name.
    fn with_argument(&self, instance: &str, known: Type) -> Type {
        let argument = self.symbols.shown.argument(instance, &known.base).filter(|_| known.element.is_none());
        match argument.and_then(|argument| self.of_words(argument)) {
            Some(found) => Type { shape: [known.shape, found.shape].concat(), ..found },
            None => known,
        }
    }

    fn call(&self, callee: ExprId, args: &[ExprId]) -> Option<Type> {
        let called = self.unit.expr(callee);
        let passed = || {
            let mut instances = inside(&self.unit.forms.instances, called.span);
            let instance = instances.find(|one| one.span == called.span).map(|one| one.text.as_str());
            Passed { args: args.iter().map(|arg| self.of(*arg)).collect(), instance }
        };
        let name = match &called.kind {
            ExprKind::Name(name) => name,
            ExprKind::Member { base, name, .. } => {
                return self.call_of_member(self.of(*base), name, &passed());
            }
            // What a pointer to a function leads to is no longer one here.
            ExprKind::Deref(pointer) => return self.called(self.of(*pointer)?),
            _ => return self.called(self.of(callee)?),
        };
        let at = self.place(called.span.start);
        if let Some((_, given)) = self.given.iter().rev().find(|(given, _)| given == name) {
            return self.called(given.clone()?);
        }
        if let Some(found) = self.written_out(name, Some(args), at) {
            return found;
        }
        let found = self.call_of_name(name, &passed(), at)?;
        Some(self.of_instance(name, called.span, found))
    }

    /// What a call of a function, a type, or a variable gives.
    fn call_of_name(&self, name: &str, passed: &Passed, at: u32) -> Option<Type> {
        let symbol = self.symbols.lookup(name, at);
        match symbol.map(|symbol| self.symbols.get(symbol).kind) {
            Some(SymbolKind::Type) => return self.of_words(passed.instance.unwrap_or(name)),
            Some(SymbolKind::Function) | None => {}
            // The grammar takes `(REAL)(n)` for a call.
            Some(_) if symbol.is_some_and(|symbol| self.symbols.is_macro(symbol)) => {
                let body = self.symbols.body_of(name).filter(|body| *body != name)?;
                let known = self.of_words(body).filter(|known| known.element.is_some());
                self.spend(1)?;
                return known.or_else(|| self.call_of_name(body.trim(), passed, at));
            }
            Some(_) => return self.called(self.variable(symbol?)?),
        }
        let class = name.rsplit_once("::").map(|(before, _)| source::plain_name(before));
        let plain = source::plain_name(name.rsplit_once(">::").map_or(name, |(_, member)| member));
        let all = self.symbols.shown.functions(plain);
        self.spend(all.len())?;
        let own = all.iter().filter(|one| class.is_some() && one.class.as_deref() == class);
        let own: Vec<&Signature> = own.collect();
        match (own.is_empty(), all.is_empty()) {
            (false, _) => self.result(plain, &own, passed),
            (true, false) => self.result(plain, &all.iter().collect::<Vec<_>>(), passed),
            (true, true) if self.symbols.shown.has_class(plain) => {
                Some(Type { shape: Vec::new(), base: plain.to_owned(), element: None })
            }
            (true, true) => self.of_library(name, passed),
        }
    }

    /// What a call gives that names a function, or a pointer to one, as a member of an object.
    fn call_of_member(&self, base: Option<Type>, name: &str, passed: &Passed) -> Option<Type> {
        const INNER: [&str; 6] = ["at", "front", "back", "value", "get", "load"];
        let Some(object) = base else { return self.called(self.member(None, name)?) };
        let class = source::plain_name(&object.base);
        let found = self.result_of_member(&object, class, name, passed);
        if found.is_some() {
            return found;
        }
        if self.symbols.shown.has_class(class) {
            return self.called(self.member(Some(object), name)?);
        }
        self.argument_of(&object).filter(|_| INNER.contains(&name))
    }

    /// What a call of a pointer to a function, or of an object, gives.
    fn called(&self, known: Type) -> Option<Type> {
        if let Some(list) = known.base.split_once('<').filter(|(name, _)| name.ends_with("function")) {
            return self.of_words(list.1.split('(').next()?);
        }
        let class = source::plain_name(&known.base);
        let of_object = self.result_of_member(&known, class, "operator()", &Passed::default());
        if known.shape.is_empty() && of_object.is_some() {
            return of_object;
        }
        let shape = known.shape.get(1..).map(<[bool]>::to_vec);
        match self.symbols.type_names.get(&known.base).filter(|_| known.element.is_none()) {
            Some(named) => Some(Type { shape: shape.unwrap_or_default(), ..named.clone() }),
            None => Some(Type { shape: shape?, ..known }),
        }
    }

    /// What a call of a function of a class gives.
    fn result_of_member(&self, object: &Type, class: &str, name: &str, passed: &Passed) -> Option<Type> {
        let shown = &self.symbols.shown;
        let all = shown.functions(name);
        if all.is_empty() {
            return None;
        }
        self.spend(all.len())?;
        let classes = shown.classes(class);
        let is_of = |one: &&Signature| one.class.as_deref().is_some_and(|own| classes.contains(&own));
        let mut own: Vec<&Signature> = all.iter().filter(is_of).collect();
        if own.is_empty() && shown.has_class(class) {
            own = all.iter().filter(|one| one.class.is_none() && one.params.is_none()).collect();
        }
        let found = self.result(name, &own, passed)?;
        Some(self.with_argument(&object.base, found))
    }

    /// What a call of one of several functions of a name gives.
    fn result(&self, name: &str, all: &[&Signature], passed: &Passed) -> Option<Type> {
        let takes =
            |one: &&Signature| one.params.as_ref().is_none_or(|params| params.len() == passed.args.len());
        let mut meant: Vec<&Signature> = all.iter().copied().filter(takes).collect();
        if meant.is_empty() {
            meant = all.to_vec();
        }
        let fits = |one: &&Signature| {
            let params = one.params.as_deref().unwrap_or_default();
            params.iter().zip(&passed.args).all(|(param, arg)| {
                arg.as_ref().is_none_or(|arg| is_floating_type(arg) == is_floating_type(param))
            })
        };
        // What is defined says what it takes; prototypes may be of the same functions.
        let defined = |one: &&Signature| one.params.is_some() && fits(one);
        if meant.len() > 1 && meant.iter().any(defined) {
            meant.retain(defined);
        }
        floating_or_first(meant.iter().map(|one| self.result_of(name, one, passed)))
    }

    fn result_of(&self, name: &str, function: &Signature, passed: &Passed) -> Option<Type> {
        let found = match &function.result {
            Returned::Known(known) => self.resolved(known.clone())?,
            Returned::Words(words)
                if source::words(words).any(|word| matches!(word, "auto" | "decltype")) =>
            {
                let body = function.body?;
                let mut all = self.file.stmts_in(body);
                let value = all.find_map(|stmt| match stmt.kind {
                    StmtKind::Return(value) => value,
                    _ => None,
                });
                let given = self.given_to(body, passed);
                Reader { given: &given, ..self.in_file() }.of(value?)?
            }
            Returned::Words(words) => self.of_words(words)?,
        };
        if found.element.is_some() || is_floating_type(&found) {
            return Some(found);
        }
        // The parameter of a template.
        let found = match passed.instance {
            Some(instance) => self.with_argument(instance, found),
            None => found,
        };
        if found.element.is_some() {
            return Some(found);
        }
        let params = function.params.as_deref().unwrap_or_default();
        let given = params.iter().zip(&passed.args).find_map(|(param, arg)| {
            let arg = arg.as_ref().filter(|_| param.base == found.base && param.element.is_none())?;
            let shape = arg.shape.get(param.shape.len()..)?;
            Some(Type { shape: [&found.shape, shape].concat(), ..arg.clone() })
        });
        let stated = || {
            let arguments = self.symbols.shown.arguments(name, &found.base);
            floating_or_first(arguments.map(|words| self.of_words(words)))
        };
        Some(given.or_else(stated).unwrap_or(found))
    }

    /// The types of what a call passes, by the names that they have in the function in `span`.
    fn given_to(&self, span: Span, passed: &Passed) -> Given {
        let function = self.file.functions.iter().find(|one| one.span == span);
        let params = function.into_iter().flat_map(|function| &function.params);
        let names = params.map(|id| self.file.decl(*id).name.clone());
        names.zip(passed.args.iter().cloned()).filter(|(_, known)| known.is_some()).collect()
    }

    /// What a function of the standard libraries gives.
    fn of_library(&self, name: &str, passed: &Passed) -> Option<Type> {
        if let Some((_, inside)) = name.split_once("numeric_limits") {
            return self.of_words(inside.strip_prefix('<')?.split('>').next()?);
        }
        let plain = source::plain_name(name);
        let is_generic = match plain {
            "min" | "max" | "clamp" | "MIN" | "MAX" | "move" | "forward" | "as_const" | "exchange" => true,
            "abs" => self.file.is_cpp(),
            _ => false,
        };
        if is_generic {
            let stated = self.symbols.shown.first_argument(passed.instance.unwrap_or(name));
            return match stated {
                Some(words) => self.of_words(words),
                None => passed.args.iter().cloned().reduce(joined)?,
            };
        }
        c_library::gives_floating(plain).map(|is_floating| if is_floating { double() } else { int() })
    }

    /// Whether a type is one of floating-point numbers for what stands at `at`: the parameter of a template may be one.
    fn is_floating_at(&self, known: &Type, at: u32) -> bool {
        is_floating_type(known)
            || known.shape.is_empty() && known.element.is_none() && self.is_given(&known.base, at)
    }

    /// Whether the file uses the template around `at` with a floating-point number for this parameter.
    fn is_given(&self, parameter: &str, at: u32) -> bool {
        let around = self.file.function_around(Span { start: at, end: at }).filter(|_| self.file.is_cpp());
        let Some(around) = around else { return false };
        let key = (around.span.start, parameter.to_owned());
        if let Some(known) = self.symbols.shown.given.borrow().get(&key) {
            return *known;
        }
        let found = self.states_floating(around, parameter) || self.passes_floating(around, parameter);
        self.symbols.shown.given.borrow_mut().insert(key, found);
        found
    }

    /// Whether the text gives a template or its class such an argument.
    fn states_floating(&self, around: &Function, parameter: &str) -> bool {
        let templates = [Some(around.name.as_str()), around.member_of.as_deref()].into_iter().flatten();
        let mut stated =
            templates.flat_map(|name| self.symbols.shown.arguments(source::plain_name(name), parameter));
        stated.any(|words| self.of_words(words).is_some_and(|known| is_floating_type(&known)))
    }

    /// Whether a call passes a floating-point number for a parameter of such a type.
    fn passes_floating(&self, around: &Function, parameter: &str) -> bool {
        let shown = &self.symbols.shown;
        let is_free = parameter == "auto";
        if !is_free && !shown.is_parameter(&around.name, parameter) {
            return false;
        }
        let is_of = |base: &BaseType| match base {
            BaseType::Named(name) => name == parameter,
            BaseType::Unknown => is_free,
            _ => false,
        };
        let params = around.params.iter().map(|id| &self.file.decl(*id).base);
        let places: Vec<usize> =
            params.enumerate().filter(|(_, base)| is_of(base)).map(|(place, _)| place).collect();
        let steps = Cell::new(STEPS);
        let reader = Reader::new(self.file, self.symbols, &steps);
        shown.calls(self.file, &around.name).iter().take(STEPS).any(|call| {
            let ExprKind::Call { args, .. } = &self.file.expr(*call).kind else { return false };
            let mut given = places.iter().filter_map(|place| reader.of(*args.get(*place)?));
            given.any(|known| words_are_floating(&known))
        })
    }
}

fn int() -> Type {
    Type::of_words("int")
}

fn double() -> Type {
    Type::of_words("double")
}

/// Whether a type is one of floating-point numbers.
fn is_floating_type(known: &Type) -> bool {
    known.shape.is_empty() && words_are_floating(known)
}

/// Whether what a type leads to is one.
fn words_are_floating(known: &Type) -> bool {
    const NAMES: [&str; 8] =
        ["float", "double", "float_t", "double_t", "__float128", "__float80", "__fp16", "__bf16"];
    let is_floating = |word: &str| NAMES.contains(&word) || word.starts_with("_Float");
    let base = known.base.strip_prefix("std::").unwrap_or(&known.base);
    let base = base.strip_prefix("atomic<").unwrap_or(base).trim_end_matches('>');
    source::words(base).all(|word| is_floating(word) || word == "long")
        && source::words(base).any(is_floating)
}

fn is_pointer(known: &Type) -> bool {
    !known.shape.is_empty()
}

/// Whether a type is that of a number, or of a name that may stand for one.
fn is_number(known: &Type) -> bool {
    !is_pointer(known) && !matches!(known.element, None | Some(Element::Pointer))
}

/// Whether an operator computes numbers with fractions of such.
fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
}

/// What is computed of two values, pointers among them.
fn computed(op: BinaryOp, left: Option<Type>, right: Option<Type>) -> Option<Type> {
    let leads = |known: &Option<Type>| known.as_ref().is_some_and(is_pointer);
    match (leads(&left), leads(&right)) {
        (true, true) => Some(int()),
        (true, false) if op == BinaryOp::Subtract || op == BinaryOp::Add => left,
        (false, true) if op == BinaryOp::Add => right,
        _ => joined(left, right),
    }
}

/// Whether a type is a name that may stand for any, as the parameter of a template.
fn is_open(known: &Type) -> bool {
    !is_pointer(known) && known.element.is_none()
}

/// Whether a type is one that a template makes of its arguments: a member of the template, or an alias.
fn is_computed(base: &str) -> bool {
    const INTEGERS: [&str; 2] = ["size_type", "difference_type"];
    match base.rsplit_once(">::") {
        Some((_, member)) => !INTEGERS.contains(&member.trim()),
        None => base.split_once('<').is_some_and(|(name, _)| name.trim_end().ends_with("_t")),
    }
}

/// What is computed of two numbers.
fn joined(left: Option<Type>, right: Option<Type>) -> Option<Type> {
    let mut both = [left, right];
    if both.iter().flatten().any(is_floating_type) {
        return Some(double());
    }
    // The parameter of a template may be anything.
    if let Some(open) = both.iter_mut().find(|known| known.as_ref().is_some_and(|known| !is_number(known))) {
        return open.take();
    }
    both.into_iter().collect::<Option<Vec<Type>>>().map(|_| int())
}

/// One of two values.
fn either(one: Option<Type>, other: Option<Type>) -> Option<Type> {
    let leads = |known: &Option<Type>| known.as_ref().is_some_and(is_pointer);
    match (leads(&one), leads(&other)) {
        (true, _) => one,
        (_, true) => other,
        _ => joined(one, other),
    }
}

/// Of several types, one that is floating, or the first one.
fn floating_or_first(types: impl Iterator<Item = Option<Type>>) -> Option<Type> {
    let mut first = None;
    for known in types {
        if known.as_ref().is_some_and(is_floating_type) {
            return known;
        }
        first = first.or(known);
    }
    first
}

/// Whether the words of a declaration ask for the type of something.
fn is_asking(words: &str) -> bool {
    const ASKING: [&str; 5] = ["decltype", "typeof", "__typeof__", "__typeof", "typeof_unqual"];
    source::words(words).any(|word| ASKING.contains(&word))
        && !words.replace(' ', "").contains("decltype(auto)")
}

#[cfg(test)]
mod tests;
