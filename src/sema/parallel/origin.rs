//! What the value of a variable of C or C++ may be made from, by all that the file does with it, in whatever order: for a
//! pointer, where it may lead, and which `restrict` pointers it may be based on (C11, 6.7.3.1).
//!
//! Invariant: what a value may be made from is never too little. What is stored in memory, or handed to what is not seen, may
//! be in any value that comes from there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{BinaryOp, DeclId, Derived, ExprId, ExprKind, StmtKind};
use crate::sema::macros::assigned_names;
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source;

use super::calls::is_mathematical;
use super::facts::{Facts, plain_name};

/// Functions of the C library that forget where their arguments lead. What they give may be made from these.
const FORGETFUL: [&str; 22] = [
    "memcpy", "memmove", "memset", "memcmp", "free", "realloc", "printf", "fprintf", "sprintf", "snprintf",
    "puts", "fread", "fwrite", "scanf", "sscanf", "fscanf", "strlen", "strcmp", "qsort", "assert", "exit",
    "fclose",
];

/// What a value is made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// The variables whose values it may be made from.
    pub(super) values: BTreeSet<SymbolId>,
    /// Those of them that are more than a distance.
    pub(super) leading: BTreeSet<SymbolId>,
    /// The variables whose addresses it may be made from.
    pub(super) objects: BTreeSet<SymbolId>,
    /// The variables for which memory was allocated that it may lead to.
    pub(super) fresh: BTreeSet<SymbolId>,
    /// It may come from memory, or from what is not seen.
    pub(super) memory: bool,
}

impl Origin {
    /// Something that was found in memory.
    pub(super) fn of_memory() -> Origin {
        Origin { memory: true, ..Origin::default() }
    }

    /// The address of a variable.
    pub(super) fn of_object(symbol: SymbolId) -> Origin {
        Origin { objects: BTreeSet::from([symbol]), ..Origin::default() }
    }

    /// Whether it may be the value of a variable, moved by a distance.
    pub(super) fn leads(&self, symbol: SymbolId) -> bool {
        self.leading.contains(&symbol)
    }
}

/// What an expression is made from, as it stands.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// The variables whose values are in it; false: only as an offset.
    values: BTreeMap<SymbolId, bool>,
    objects: BTreeSet<SymbolId>,
    memory: bool,
    is_fresh: bool,
    /// It is surely a pointer.
    is_pointer: bool,
}

impl Parts {
    fn of_value(symbol: SymbolId) -> Parts {
        Parts { values: BTreeMap::from([(symbol, true)]), ..Parts::default() }
    }

    fn of_object(symbol: SymbolId) -> Parts {
        Parts { objects: BTreeSet::from([symbol]), ..Parts::default() }
    }

    fn of_memory() -> Parts {
        Parts { memory: true, ..Parts::default() }
    }

    fn and(mut self, other: Parts) -> Parts {
        for (symbol, leads) in other.values {
            *self.values.entry(symbol).or_default() |= leads;
        }
        self.objects.extend(other.objects);
        self.memory |= other.memory;
        self.is_fresh |= other.is_fresh;
        self.is_pointer |= other.is_pointer;
        self
    }

    fn into_pointer(mut self) -> Parts {
        self.is_pointer = true;
        self
    }

    /// The same as a distance from somewhere: what it is made from counts, but where a number in memory comes from does not.
    fn into_offset(mut self) -> Parts {
        self.values.values_mut().for_each(|leads| *leads = false);
        self.memory = false;
        self.is_pointer = false;
        self
    }
}

/// What the variables of a file are made from.
#[derive(Debug, Default)]
pub(super) struct Origins {
    direct: FxHashMap<SymbolId, Parts>,
    /// What gets out of sight.
    leaks: Parts,
    /// What is passed to the parameters of functions that are seen.
    passed: Vec<(SymbolId, Parts)>,
    /// Variables other than arrays that have another name: their address is taken, or a reference is bound to them.
    taken: FxHashSet<SymbolId>,
    /// Members that have another name.
    taken_members: FxHashSet<String>,
    /// Somewhere, structs are taken for numbers, or numbers for structs.
    has_overlays: bool,
    /// What has got out of sight, at last.
    leaked: (FxHashSet<SymbolId>, FxHashSet<SymbolId>),
    known: RefCell<FxHashMap<SymbolId, Rc<Origin>>>,
}

impl Origins {
    /// Reads a file.
    pub(super) fn new(facts: &Facts) -> Origins {
        let mut reading = Reading { facts, found: Origins::default() };
        reading.expressions();
        reading.declarations();
        reading.statements();
        let mut found = reading.found;
        found.leaked = found.leaked();
        found
    }

    /// Whether a variable that is not an array has another name.
    pub(super) fn is_taken(&self, symbol: SymbolId) -> bool {
        self.taken.contains(&symbol)
    }

    /// Whether a member of this name has another name.
    pub(super) fn is_member_taken(&self, name: &str) -> bool {
        self.taken_members.contains(name)
    }

    /// Whether the file takes structs for numbers somewhere, or numbers for structs.
    pub(super) fn has_overlays(&self) -> bool {
        self.has_overlays
    }

    /// Whether the value of a variable may be anywhere in memory.
    pub(super) fn has_leaked(&self, symbol: SymbolId) -> bool {
        self.leaked.0.contains(&symbol)
    }

    /// Whether the address of a variable may be anywhere in memory.
    pub(super) fn has_leaked_address(&self, symbol: SymbolId) -> bool {
        self.leaked.1.contains(&symbol)
    }

    /// What the value of a variable may be made from.
    pub(super) fn of(&self, facts: &Facts, symbol: SymbolId) -> Rc<Origin> {
        if let Some(known) = self.known.borrow().get(&symbol) {
            return Rc::clone(known);
        }
        let mut origin = Origin::default();
        let mut met: FxHashMap<SymbolId, bool> = FxHashMap::default();
        let mut pending = vec![(symbol, true)];
        while let Some((at, leads)) = pending.pop() {
            let before = met.insert(at, leads || met.get(&at) == Some(&true));
            if before.is_some_and(|before| before || !leads) {
                continue;
            }
            origin.values.insert(at);
            origin.leading.extend(leads.then_some(at));
            origin.memory |= leads && may_change_unseen(facts, at, self.direct.contains_key(&at));
            let Some(parts) = self.direct.get(&at) else { continue };
            origin.objects.extend(&parts.objects);
            origin.memory |= leads && parts.memory;
            origin.fresh.extend(parts.is_fresh.then_some(at));
            pending.extend(parts.values.iter().map(|(from, is_whole)| (*from, leads && *is_whole)));
        }
        let origin = Rc::new(origin);
        self.known.borrow_mut().insert(symbol, Rc::clone(&origin));
        origin
    }

    /// The variables whose values, and those whose addresses, have got out of sight.
    fn leaked(&self) -> (FxHashSet<SymbolId>, FxHashSet<SymbolId>) {
        let mut values: FxHashSet<SymbolId> = FxHashSet::default();
        let mut objects: FxHashSet<SymbolId> = self.leaks.objects.iter().copied().collect();
        let mut pending: Vec<SymbolId> = self.leaks.values.keys().copied().collect();
        let mut passed: Vec<&(SymbolId, Parts)> = self.passed.iter().collect();
        loop {
            while let Some(at) = pending.pop() {
                if !values.insert(at) {
                    continue;
                }
                if let Some(parts) = self.direct.get(&at) {
                    objects.extend(&parts.objects);
                    pending.extend(parts.values.keys());
                }
            }
            // What is passed to a parameter gets as far as the parameter.
            let (gone, kept): (Vec<_>, Vec<_>) =
                passed.into_iter().partition(|(param, _)| values.contains(param));
            if gone.is_empty() {
                return (values, objects);
            }
            passed = kept;
            for (_, parts) in gone {
                objects.extend(&parts.objects);
                pending.extend(parts.values.keys());
            }
        }
    }
}

/// Whether a variable may get a value that the file does not show.
fn may_change_unseen(facts: &Facts, symbol: SymbolId, has_source: bool) -> bool {
    let known = facts.symbols.get(symbol);
    match known.kind {
        SymbolKind::Static | SymbolKind::Member => true,
        SymbolKind::Parameter => known.is_reference && known.class == Class::Pointer,
        SymbolKind::Local => !has_source && known.class != Class::Array,
        // `double *q(p);` reads like the declaration of a function.
        SymbolKind::Function => true,
        SymbolKind::Type | SymbolKind::Constant => false,
    }
}

struct Reading<'f, 'a> {
    facts: &'f Facts<'a>,
    found: Origins,
}

impl Reading<'_, '_> {
    fn expressions(&mut self) {
        let unit = self.facts.unit;
        for index in 0..unit.exprs.len() {
            let id = ExprId(index as u32);
            match &unit.expr(id).kind {
                ExprKind::Assign(op, left, right) => self.assigned(op.is_some(), *left, *right),
                ExprKind::AddressOf(operand) => self.taken(*operand),
                ExprKind::Call { callee, args } => self.call(id, *callee, args),
                ExprKind::Opaque(parts) => parts.iter().for_each(|part| self.unclear(*part)),
                ExprKind::Name(_) => self.macro_used(id),
                _ => {}
            }
        }
    }

    fn statements(&mut self) {
        let unit = self.facts.unit;
        for stmt in &unit.stmts {
            match &stmt.kind {
                StmtKind::Opaque(parts) => parts.iter().for_each(|part| self.unclear(*part)),
                // A loop over a range: its variable gets what is in there.
                StmtKind::For { init: Some(init), cond: None, step: None, .. } => {
                    let StmtKind::Decl(decls) = &unit.stmt(*init).kind else { continue };
                    let symbols: Vec<SymbolId> = decls.iter().filter_map(|id| self.declared(*id)).collect();
                    symbols.into_iter().for_each(|symbol| self.flows(symbol, Parts::of_memory()));
                }
                _ => {}
            }
        }
    }

    fn declarations(&mut self) {
        let unit = self.facts.unit;
        for (index, decl) in unit.decls.iter().enumerate() {
            let Some(init) = decl.init else { continue };
            let Some(symbol) = self.declared(DeclId(index as u32)) else { continue };
            let known = self.facts.symbols.get(symbol);
            if decl.derived.first() == Some(&Derived::Reference) {
                self.taken(init);
                let parts = match known.class {
                    Class::Pointer => self.value(init),
                    _ => self.address(init),
                };
                self.flows(symbol, parts);
                continue;
            }
            if self.facts.symbols.may_refer(unit, decl) {
                self.referred(init);
            }
            let parts = self.value(init);
            let is_plain = matches!(known.class, Class::Pointer | Class::Scalar);
            if !is_plain || known.kind != SymbolKind::Local {
                self.leak(parts.clone());
            }
            self.flows(symbol, parts);
        }
    }

    /// An object that may hold references is made from this.
    fn referred(&mut self, init: ExprId) {
        match &self.facts.unit.expr(init).kind {
            ExprKind::Initialiser(parts) | ExprKind::Opaque(parts) => {
                parts.iter().for_each(|part| self.taken(*part));
            }
            ExprKind::Call { args, .. } => args.iter().for_each(|part| self.taken(*part)),
            _ => self.taken(init),
        }
    }

    fn declared(&self, id: DeclId) -> Option<SymbolId> {
        let decl = self.facts.unit.decl(id);
        self.facts.symbols.lookup(&decl.name, decl.name_span.end)
    }

    fn named(&self, expr: ExprId) -> Option<SymbolId> {
        self.facts.symbols.named(self.facts.unit, expr)
    }

    fn flows(&mut self, to: SymbolId, parts: Parts) {
        let known = self.found.direct.entry(to).or_default();
        *known = std::mem::take(known).and(parts);
    }

    fn leak(&mut self, parts: Parts) {
        self.found.leaks = std::mem::take(&mut self.found.leaks).and(parts);
    }

    fn assigned(&mut self, by_operator: bool, left: ExprId, right: ExprId) {
        let parts = self.value(right);
        self.stored(left, if by_operator { parts.into_offset() } else { parts });
    }

    /// A value goes to what `target` names.
    fn stored(&mut self, target: ExprId, parts: Parts) {
        let Some(symbol) = self.named(target) else {
            match self.facts.unit.expr(target).kind {
                ExprKind::Conditional(_, first, second) => {
                    self.stored(first, parts.clone());
                    self.stored(second, parts);
                }
                ExprKind::Comma(_, inner)
                | ExprKind::Assign(_, inner, _)
                | ExprKind::Step { operand: inner, .. }
                | ExprKind::Cast { operand: inner, .. } => self.stored(inner, parts),
                _ => self.leak(parts),
            }
            return;
        };
        let known = self.facts.symbols.get(symbol);
        let is_seen = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter) && !known.is_reference;
        if !is_seen || matches!(known.class, Class::Record | Class::Unknown) {
            self.leak(parts.clone());
        }
        self.flows(symbol, parts);
    }

    /// The address of `operand` is taken: others may read and write it.
    fn taken(&mut self, operand: ExprId) {
        let mut at = operand;
        loop {
            at = match &self.facts.unit.expr(at).kind {
                ExprKind::Name(_) => {
                    let Some(symbol) = self.named(at) else { return };
                    if self.facts.symbols.get(symbol).class != Class::Array {
                        self.found.taken.insert(symbol);
                        self.flows(symbol, Parts::of_memory());
                        self.leak(Parts::of_value(symbol));
                    }
                    return;
                }
                ExprKind::Member { base, name, arrow } => {
                    self.found.taken_members.insert(name.clone());
                    if *arrow {
                        return;
                    }
                    *base
                }
                // What a pointer leads to is not part of the pointer.
                ExprKind::Index(base, _) if !self.is_pointer(*base) => *base,
                ExprKind::Cast { operand, .. } => *operand,
                ExprKind::Comma(_, last) => *last,
                ExprKind::Conditional(_, first, second) => {
                    self.taken(*first);
                    *second
                }
                _ => return,
            }
        }
    }

    /// Something that is not understood.
    fn unclear(&mut self, part: ExprId) {
        match &self.facts.unit.expr(part).kind {
            ExprKind::Name(_) | ExprKind::Member { .. } => {
                self.taken(part);
                let parts = self.value(part);
                self.leak(parts);
            }
            _ => {
                let parts = self.value(part);
                self.leak(parts);
            }
        }
    }

    fn call(&mut self, call: ExprId, callee: ExprId, args: &[ExprId]) {
        let facts = self.facts;
        let (name, at) = match &facts.unit.expr(callee).kind {
            ExprKind::Name(name) => (name.as_str(), facts.unit.expr(call).span.start),
            ExprKind::Member { base, name, .. } => {
                let object = self.address(*base);
                self.leak(object);
                (name.as_str(), facts.unit.expr(call).span.start)
            }
            _ => ("", 0),
        };
        let is_macro = facts.is_called_macro(name);
        if is_macro {
            self.macro_named(name, at, &mut Vec::new());
        }
        let is_forgetful = !is_macro
            && facts.functions(name).is_empty()
            && (FORGETFUL.contains(&plain_name(name)) || is_mathematical(name));
        let params = self.params(name, args.len()).filter(|_| !is_macro);
        let may_refer = facts.unit.is_cpp() && params.is_none() && self.is_unseen(callee);
        for (place, arg) in args.iter().enumerate() {
            if facts.symbols.takes_reference(name, place) || may_refer && self.is_pointer(*arg) {
                self.taken(*arg);
            }
            let parts = self.value(*arg);
            match params.as_ref().and_then(|params| params.get(place)) {
                Some(param) => self.found.passed.push((*param, parts)),
                None if is_forgetful => {}
                None => self.leak(parts),
            }
        }
    }

    /// Whether a function of C++ is called of which nothing says whether it takes references: by a variable, or one of the
    /// standard library.
    fn is_unseen(&self, callee: ExprId) -> bool {
        let ExprKind::Name(name) = &self.facts.unit.expr(callee).kind else { return true };
        let is_variable = |symbol: SymbolId| {
            let kind = self.facts.symbols.get(symbol).kind;
            !matches!(kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant)
        };
        name.starts_with("std::") && !is_mathematical(name) && !FORGETFUL.contains(&plain_name(name))
            || self.named(callee).is_some_and(is_variable)
    }

    /// The parameters of the function `name`, if there is one only, and it is called with so many arguments.
    fn params(&self, name: &str, count: usize) -> Option<Vec<SymbolId>> {
        let facts = self.facts;
        let [function] = facts.functions(name) else { return None };
        let known = facts.unit.function(*function);
        let inside = facts.unit.stmt(known.body).span.start;
        let symbol = |id: &DeclId| facts.symbols.lookup(&facts.unit.decl(*id).name, inside);
        let params: Option<Vec<SymbolId>> = known.params.iter().map(symbol).collect();
        params.filter(|params| params.len() == count && !known.has_error)
    }

    /// A macro that is not a number stands here: what it names may go anywhere.
    fn macro_used(&mut self, expr: ExprId) {
        let facts = self.facts;
        let ExprKind::Name(name) = &facts.unit.expr(expr).kind else { return };
        if facts.is_macro(name) && facts.number_of(name).is_none() {
            self.macro_named(name, facts.unit.expr(expr).span.start, &mut Vec::new());
        }
    }

    /// The names in the bodies of a macro, and of those that it leads to.
    fn macro_named(&mut self, name: &str, at: u32, met: &mut Vec<String>) {
        if met.iter().any(|known| known == name) {
            return;
        }
        met.push(name.to_owned());
        for define in self.facts.defines_of(name) {
            let params = define.params.as_deref().unwrap_or_default();
            let assigned = assigned_names(&define.body);
            let takes_addresses = define.body.contains('&');
            for word in source::names(&define.body).filter(|word| !params.iter().any(|param| param == word)) {
                self.macro_named(word, at, met);
                let is_array = self.facts.symbols.member(word).is_none_or(|member| !member.shape.is_empty());
                if takes_addresses || is_array {
                    self.found.taken_members.insert(word.to_owned());
                }
                let is_changed = takes_addresses || assigned.iter().any(|name| name == word);
                self.word(word, at, takes_addresses, is_changed);
            }
        }
    }

    /// A name in the body of a macro that is used at `at`.
    fn word(&mut self, word: &str, at: u32, is_taken: bool, is_changed: bool) {
        let Some(symbol) = self.facts.symbols.lookup(word, at) else { return };
        let known = self.facts.symbols.get(symbol);
        match known.class {
            _ if known.kind == SymbolKind::Constant => {}
            Class::Array => self.leak(Parts::of_object(symbol)),
            Class::Scalar | Class::Pointer | Class::Record | Class::Unknown => {
                self.leak(Parts::of_value(symbol));
                if is_taken {
                    self.found.taken.insert(symbol);
                }
                if is_changed {
                    self.flows(symbol, Parts::of_memory());
                }
            }
        }
    }

    /// What the value of an expression is made from.
    fn value(&mut self, expr: ExprId) -> Parts {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.value_here(expr))
    }

    fn value_here(&mut self, expr: ExprId) -> Parts {
        let facts = self.facts;
        match &facts.unit.expr(expr).kind {
            ExprKind::Name(name) => self.value_of_name(expr, name),
            ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => Parts::default(),
            ExprKind::Unary(_, operand) => self.value(*operand),
            ExprKind::Cast { to, operand } => {
                self.cast(to, *operand);
                let parts = self.value(*operand);
                Parts { is_pointer: to.contains('*'), ..parts }
            }
            ExprKind::Step { operand, .. } => self.value(*operand),
            ExprKind::Binary(op, left, right) => self.combined(*op, *left, *right),
            // The variable has the value, too, whatever it is made from.
            ExprKind::Assign(None, left, _) if self.named(*left).is_some() => self.value(*left),
            ExprKind::Assign(None, _, right) => {
                let parts = self.value(*right);
                Parts { memory: parts.memory || parts.is_fresh, is_fresh: false, ..parts }
            }
            ExprKind::Assign(Some(_), left, right) => {
                let by = self.value(*right).into_offset();
                self.value(*left).and(by)
            }
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.element(expr, *base),
            ExprKind::Member { base, name, arrow } => self.member(*base, name, *arrow),
            ExprKind::AddressOf(operand) => self.address(*operand).into_pointer(),
            ExprKind::Call { callee, args } => {
                let is_number =
                    |name: &str| is_mathematical(name) && facts.functions(plain_name(name)).is_empty();
                match &facts.unit.expr(*callee).kind {
                    _ if facts.allocates(expr) => Parts { is_fresh: true, ..Parts::default() },
                    ExprKind::Name(name) if is_number(name) => Parts::default(),
                    _ => self.all(args).and(Parts::of_memory()),
                }
            }
            ExprKind::Conditional(_, first, second) => {
                let first = self.value(*first);
                self.value(*second).and(first)
            }
            ExprKind::Comma(_, last) => self.value(*last),
            ExprKind::Initialiser(_) if facts.allocates(expr) => Parts { is_fresh: true, ..Parts::default() },
            ExprKind::Initialiser(parts) => self.all(parts),
            ExprKind::Opaque(_) if facts.allocates(expr) => Parts { is_fresh: true, ..Parts::default() },
            ExprKind::Opaque(parts) => self.all(parts).and(Parts::of_memory()),
            ExprKind::Triplet(_) => Parts::default(),
        }
    }

    fn all(&mut self, parts: &[ExprId]) -> Parts {
        let parts = parts.iter().map(|part| self.value(*part));
        parts.fold(Parts::default(), Parts::and)
    }

    fn value_of_name(&mut self, expr: ExprId, name: &str) -> Parts {
        let facts = self.facts;
        if facts.is_macro(name) {
            return match facts.constant(expr) {
                Some(_) => Parts::default(),
                None => Parts::of_memory(),
            };
        }
        let Some(symbol) = self.named(expr) else {
            return if name == "NULL" || name == "nullptr" { Parts::default() } else { Parts::of_memory() };
        };
        let known = facts.symbols.get(symbol);
        match known.kind {
            SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant => Parts::default(),
            _ if known.class == Class::Array && !known.is_reference => {
                Parts::of_object(symbol).into_pointer()
            }
            _ => Parts { is_pointer: known.class == Class::Pointer, ..Parts::of_value(symbol) },
        }
    }

    /// Two values by an operator: a pointer and a distance, or numbers that may stand for pointers.
    fn combined(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Parts {
        let is_truth = matches!(
            op,
            BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
                | BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::And
                | BinaryOp::Or
        );
        if is_truth {
            return Parts::default();
        }
        let (one, two) = (self.value(left), self.value(right));
        match (one.is_pointer, two.is_pointer) {
            (true, false) => one.and(two.into_offset()),
            (false, true) => two.and(one.into_offset()),
            _ => one.and(two),
        }
    }

    /// Whether an expression is a variable or a member that is surely a pointer.
    fn is_pointer(&self, expr: ExprId) -> bool {
        match &self.facts.unit.expr(expr).kind {
            ExprKind::Name(_) => {
                self.named(expr).is_some_and(|symbol| self.facts.symbols.get(symbol).class == Class::Pointer)
            }
            ExprKind::Member { name, .. } => {
                let known = self.facts.symbols.member(name);
                known.is_some_and(|member| member.shape.first() == Some(&false))
            }
            _ => false,
        }
    }

    /// The value of `base[…]`: what is found there, or the address of a row.
    fn element(&mut self, expr: ExprId, base: ExprId) -> Parts {
        if let ExprKind::AddressOf(operand) = self.facts.unit.expr(base).kind
            && let ExprKind::Deref(_) = self.facts.unit.expr(expr).kind
        {
            return self.value(operand);
        }
        match self.is_row(expr) {
            Some(true) => self.value(base),
            Some(false) => Parts::of_memory(),
            None => self.value(base).and(Parts::of_memory()),
        }
    }

    /// Whether an element is an array itself.
    fn is_row(&self, expr: ExprId) -> Option<bool> {
        let (mut at, mut taken) = (expr, 0);
        loop {
            at = match &self.facts.unit.expr(at).kind {
                ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                    taken += 1;
                    *base
                }
                ExprKind::Name(_) => {
                    let shape = &self.facts.symbols.get(self.named(at)?).shape;
                    return (taken <= shape.len()).then(|| shape.get(taken) == Some(&true));
                }
                ExprKind::Member { name, .. } => {
                    let shape = &self.facts.symbols.member(name)?.shape;
                    return (taken <= shape.len()).then(|| shape.get(taken) == Some(&true));
                }
                _ => return None,
            }
        }
    }

    /// The value of a member: what is found there, or the address of an array.
    fn member(&mut self, base: ExprId, name: &str, arrow: bool) -> Parts {
        let is_array = self.facts.symbols.member(name).map(|member| member.shape.first() == Some(&true));
        if is_array == Some(false) {
            return Parts::of_memory();
        }
        self.found.taken_members.insert(name.to_owned());
        let inside = if arrow { self.value(base) } else { self.address(base) };
        match is_array {
            Some(_) => inside,
            None => inside.and(Parts::of_memory()),
        }
    }

    /// Notes whether a cast takes structs for numbers, or the other way round.
    fn cast(&mut self, to: &str, operand: ExprId) {
        let facts = self.facts;
        let mut at = operand;
        let known = loop {
            at = match &facts.unit.expr(at).kind {
                ExprKind::Name(_) => break self.named(at).and_then(|symbol| facts.symbols.type_of(symbol)),
                ExprKind::Member { name, .. } => break facts.symbols.member(name),
                ExprKind::AddressOf(inner) | ExprKind::Index(inner, _) | ExprKind::Binary(_, inner, _) => {
                    *inner
                }
                _ => break None,
            }
        };
        let Some((from, to)) = known.zip(facts.symbols.cast_type(to).filter(|_| to.contains('*'))) else {
            return;
        };
        let is_open = |base: &str| base.is_empty() || base == "void" || base == "char";
        let differs = from.base != to.base && !is_open(&from.base) && !is_open(&to.base);
        self.found.has_overlays |= differs && (from.element.is_none() || to.element.is_none());
    }

    /// What the address of an expression is made from.
    fn address(&mut self, expr: ExprId) -> Parts {
        match &self.facts.unit.expr(expr).kind {
            ExprKind::Name(_) => match self.named(expr) {
                Some(symbol) if self.facts.symbols.get(symbol).is_reference => Parts::of_value(symbol),
                Some(symbol) => Parts::of_object(symbol),
                None => Parts::of_memory(),
            },
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.value(*base),
            ExprKind::Member { base, arrow: true, .. } => self.value(*base),
            ExprKind::Member { base, .. } => self.address(*base),
            ExprKind::Cast { operand, .. } => self.address(*operand),
            ExprKind::Comma(_, last) => self.address(*last),
            ExprKind::Conditional(_, first, second) => {
                let first = self.address(*first);
                self.address(*second).and(first)
            }
            _ => self.value(expr).and(Parts::of_memory()),
        }
    }
}
