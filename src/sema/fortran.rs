//! Names in Fortran: scoping units, modules and their `use`, implicit typing, and which `name(…)` is an element.
//!
//! Invariant: a name that no declaration we see explains is taken for a variable of an unknown type, never passed over.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{
    Attributes, BaseType, DeclKind, Derived, Expr, ExprId, ExprKind, FunctionId, Implicit, Letters,
    ModuleUse, Scope, ScopeId, ScopeKind, Unit,
};
use crate::scan::Define;
use crate::source::Span;

use super::outside::{self, Others, Outside};
use super::symbol::{Class, Symbol, SymbolId, SymbolKind};
use super::symbols::{Symbols, Types};

/// The names that a module makes known, with their symbols. Of several symbols of one name, the first and the last count.
type Exports = Vec<(Rc<str>, SymbolId)>;

/// Reads the modules of all units once each.
struct Modules<'a> {
    units: Vec<&'a Unit>,
    /// What each of these has for others.
    outside: Vec<Arc<Outside>>,
    /// The names that are looked for.
    wanted: FxHashSet<Cow<'a, str>>,
    /// Modules and submodules by name: the unit's number, and the scope.
    by_name: FxHashMap<&'a str, (usize, ScopeId)>,
    exports: FxHashMap<(usize, ScopeId), Rc<Exports>>,
    /// The kinds that intrinsic modules name, as far as they were asked for.
    kinds: FxHashMap<&'static str, SymbolId>,
}

/// The modules that Fortran itself has for kinds, and what they call them (Fortran 2018, 16.10.2 and 18.2).
const KINDS: [(&str, &[&str]); 2] = [
    (
        "iso_fortran_env",
        &[
            "int8",
            "int16",
            "int32",
            "int64",
            "real32",
            "real64",
            "real128",
            "logical8",
            "logical16",
            "logical32",
            "logical64",
        ],
    ),
    (
        "iso_c_binding",
        &[
            "c_int",
            "c_short",
            "c_long",
            "c_long_long",
            "c_signed_char",
            "c_size_t",
            "c_int8_t",
            "c_int16_t",
            "c_int32_t",
            "c_int64_t",
            "c_float",
            "c_double",
            "c_long_double",
            "c_float_complex",
            "c_double_complex",
            "c_long_double_complex",
            "c_bool",
            "c_char",
        ],
    ),
];

impl Symbols {
    /// The names that the text of a unit may lead to, in files that it uses: its words, those of macros, and those that declarations
    /// elsewhere mention.
    pub(super) fn wanted<'o>(
        outside: &'o [Arc<Outside>],
        unit: &Unit,
        text: &[u8],
        macros: &[&Define],
    ) -> FxHashSet<Cow<'o, str>> {
        let mut wanted: FxHashSet<Cow<str>> = FxHashSet::default();
        if outside.is_empty() {
            return wanted;
        }
        let named = unit.exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Name(name) => Some(name.as_bytes()),
            _ => None,
        });
        let bodies = macros.iter().flat_map(|define| outside::words(define.body.as_bytes()));
        let all = outside::words(text).chain(bodies).map(|(_, word)| word).chain(named);
        let mut last: FxHashSet<&[u8]> = FxHashSet::default();
        for word in all {
            if last.insert(word) {
                wanted.insert(Cow::Owned(outside::lower(word)));
            }
        }
        wanted.extend(outside.iter().flat_map(|one| &one.mentioned).map(|word| Cow::Borrowed(word.as_str())));
        wanted
    }

    /// Declares the names of a Fortran unit, the last of `types.units`, and of the modules that it uses: of these, the names
    /// that are wanted. A file that includes it, one of them, does so at the offset in `around`; it includes others itself.
    pub(super) fn fortran(
        &mut self,
        unit: &Unit,
        Others { around, included, .. }: Others,
        types: &Types,
        wanted: FxHashSet<Cow<str>>,
    ) {
        let mut modules = Modules {
            units: types.units.clone(),
            outside: self.outside.clone(),
            wanted,
            by_name: FxHashMap::default(),
            exports: FxHashMap::default(),
            kinds: FxHashMap::default(),
        };
        for (at, (unit, outside)) in types.units.iter().zip(&self.outside).enumerate() {
            for id in &outside.modules {
                modules.by_name.insert(&unit.scope(*id).name, (at, *id));
            }
        }
        let own = types.units.len() - 1;
        let around = around.map(|(at, place)| (at, self.around((at, place), &mut modules, types)));
        let around = around.and_then(|(at, inner)| Some((types.units[at], inner?)));
        for (id, scope) in unit.scopes.iter().enumerate() {
            let id = ScopeId(id as u32);
            match scope.kind {
                ScopeKind::Module | ScopeKind::Submodule => drop(self.exports(own, id, &mut modules, types)),
                ScopeKind::Program | ScopeKind::Procedure | ScopeKind::Interface => {
                    self.procedure_scope(unit, id, scope.span, types);
                    self.interface_of(scope, types);
                }
            }
            for used in &scope.uses {
                for (name, symbol) in self.used(used, &mut modules, types) {
                    self.show(&name, symbol, scope.span, 0);
                }
            }
            let extended = scope.extends.as_deref().and_then(|name| modules.by_name.get(name).copied());
            let extended = extended.map(|(at, id)| self.exports(at, id, &mut modules, types));
            for (name, symbol) in extended.iter().flat_map(|exports| exports.iter()) {
                self.show(name, *symbol, scope.span, 0);
            }
        }
        // After the names of procedures: those that only a list of dummies has there are declared here.
        self.included(unit, included, types);
        for (index, _) in unit.functions.iter().enumerate() {
            self.function_scope(unit, FunctionId(index as u32), types);
        }
        self.sort_names();
        self.undeclared(unit, around, &modules);
        self.associated(unit);
    }

    /// The names of included files: parts of the scoping units that include them, or, if these are not known, seen by all.
    fn included(&mut self, own: &Unit, included: &[(usize, u32)], types: &Types) {
        let file = Span { start: 0, end: u32::MAX };
        for (number, unit) in types.units.iter().take(types.units.len() - 1).enumerate() {
            let places = included.iter().filter(|(other, _)| *other == number);
            let around: BTreeSet<ScopeId> = places.filter_map(|(_, place)| own.scope_at(*place)).collect();
            for part in unit.scopes.iter().filter(|one| one.kind == ScopeKind::Program && one.name.is_empty())
            {
                for id in &around {
                    self.included_in((own, *id), (unit, part), types);
                }
                for decl in part.decls.iter().filter(|_| around.is_empty()) {
                    self.declare((unit, unit.decl(*decl)), None, SymbolKind::Static, file, 0, types);
                }
            }
        }
    }

    /// The names of an included file in the scoping unit that includes it, without those that this declares itself: it may only
    /// list dummies.
    fn included_in(&mut self, (own, id): (&Unit, ScopeId), (unit, part): (&Unit, &Scope), types: &Types) {
        let around = own.scope(id);
        let is_local = matches!(around.kind, ScopeKind::Program | ScopeKind::Procedure);
        let has_contained =
            own.scopes.iter().any(|other| other.parent == Some(id) && other.kind == ScopeKind::Procedure);
        let commons: FxHashSet<&String> =
            part.commons.iter().chain(&around.commons).flat_map(|(_, names)| names).collect();
        for decl in part.decls.iter().map(|decl| unit.decl(*decl)) {
            let mut same = around.decls.iter().map(|id| own.decl(*id)).filter(|one| one.name == decl.name);
            let known = same.next();
            if known.is_some_and(|known| known.base != BaseType::Unknown || !known.derived.is_empty()) {
                continue;
            }
            let is_shared = !is_local || commons.contains(&decl.name);
            let storage = if is_shared { SymbolKind::Static } else { SymbolKind::Local };
            let symbol = self.declare((unit, decl), None, storage, around.span, 0, types);
            self.get_mut(symbol).is_reference |= has_contained || decl.fortran.pointer || known.is_some();
        }
    }

    /// The names that are known where another file includes this one: they are known in all of it. The innermost scoping unit
    /// there.
    fn around(&mut self, (at, place): (usize, u32), modules: &mut Modules, types: &Types) -> Option<ScopeId> {
        let file = Span { start: 0, end: u32::MAX };
        let unit = modules.units[at];
        let holds = |id: &ScopeId| {
            let scope = unit.scope(*id);
            scope.span.start <= place && place < scope.span.end && scope.kind != ScopeKind::Interface
        };
        let mut scopes: Vec<ScopeId> = (0..unit.scopes.len() as u32).map(ScopeId).filter(holds).collect();
        scopes.sort_by_key(|id| unit.scope(*id).span.start);
        for id in &scopes {
            let scope = unit.scope(*id);
            let mut known = match scope.kind {
                ScopeKind::Module | ScopeKind::Submodule => self.exports(at, *id, modules, types).to_vec(),
                ScopeKind::Program | ScopeKind::Procedure | ScopeKind::Interface => {
                    self.procedure_scope(unit, *id, file, types);
                    scope.uses.iter().flat_map(|used| self.used(used, modules, types)).collect()
                }
            };
            if let Some((at, id)) =
                scope.extends.as_deref().and_then(|name| modules.by_name.get(name).copied())
            {
                known.extend(self.exports(at, id, modules, types).iter().cloned());
            }
            for (name, symbol) in known {
                self.show(&name, symbol, file, 0);
            }
        }
        scopes.last().copied()
    }

    /// The names of a procedure or a main program, for the place where they are `visible`; the procedure's own name in the
    /// scoping unit around.
    fn procedure_scope(&mut self, unit: &Unit, id: ScopeId, visible: Span, types: &Types) {
        let scope = unit.scope(id);
        let is_own = types.units.last().is_some_and(|own| std::ptr::eq(*own, unit));
        let has_contained =
            unit.scopes.iter().any(|other| other.parent == Some(id) && other.kind == ScopeKind::Procedure);
        let common: FxHashSet<&String> = scope.commons.iter().flat_map(|(_, names)| names).collect();
        for decl_id in &scope.decls {
            let decl = unit.decl(*decl_id);
            let storage = if common.contains(&decl.name) { SymbolKind::Static } else { SymbolKind::Local };
            let here = is_own.then_some(*decl_id);
            let symbol = self.declare((unit, decl), here, storage, visible, 0, types);
            let is_result = scope.kind == ScopeKind::Procedure && scope.result.as_ref() == Some(&decl.name);
            let is_dummy = decl.kind == DeclKind::Parameter && !decl.fortran.value;
            let known = self.get_mut(symbol);
            // A dummy in the list of its procedure, or a variable in a common block, may have no other declaration.
            if known.class == Class::Unknown && decl.base == BaseType::Unknown && !decl.fortran.procedure {
                (known.class, known.is_floating) = implicit_class(unit, id, &decl.name);
            }
            known.is_reference |= is_dummy || is_result || has_contained || decl.fortran.pointer;
            if decl.fortran.procedure {
                known.kind = SymbolKind::Function;
            }
        }
        if scope.kind == ScopeKind::Procedure {
            let around = scope.parent.filter(|_| is_own).map(|parent| unit.scope(parent).span);
            let is_module =
                |parent: ScopeId| matches!(unit.scope(parent).kind, ScopeKind::Module | ScopeKind::Submodule);
            // A module makes its procedures known with its other names.
            if !scope.parent.is_some_and(is_module) {
                let file = Span { start: 0, end: u32::MAX };
                self.function(&scope.name, around.unwrap_or(file), 0);
            }
        }
    }

    /// What the interface of a separate module procedure in another file declares, for the procedure.
    fn interface_of(&mut self, procedure: &Scope, types: &Types) {
        let all =
            types.units.iter().flat_map(|unit| unit.scopes.iter().zip(0..).map(move |one| (*unit, one)));
        let is_it = |scope: &Scope| scope.kind == ScopeKind::Interface && scope.name == procedure.name;
        let body = all.filter(|_| procedure.is_declared_elsewhere).find(|(_, (scope, _))| is_it(scope));
        if let Some((unit, (_, id))) = body {
            self.procedure_scope(unit, ScopeId(id), procedure.span, types);
        }
    }

    /// The names of a module: its own, and those of the modules that it uses.
    fn exports(&mut self, at: usize, id: ScopeId, modules: &mut Modules, types: &Types) -> Rc<Exports> {
        if let Some(known) = modules.exports.get(&(at, id)) {
            return Rc::clone(known);
        }
        // A module that uses itself through others has nothing more to say.
        modules.exports.insert((at, id), Rc::default());
        let unit = modules.units[at];
        let scope = unit.scope(id);
        let is_own = at + 1 == modules.units.len();
        let nowhere = Span { start: u32::MAX, end: u32::MAX };
        let visible = if is_own { scope.span } else { nowhere };
        let mut exports = Exports::new();
        let is_wanted = |name: &str, modules: &Modules| is_own || modules.wanted.contains(name);
        for decl_id in &scope.decls {
            let decl = unit.decl(*decl_id);
            if !is_wanted(&decl.name, modules) {
                continue;
            }
            let here = is_own.then_some(*decl_id);
            let symbol = self.declare((unit, decl), here, SymbolKind::Static, visible, 0, types);
            let known = self.get_mut(symbol);
            known.home = Some(scope.name.clone());
            if decl.fortran.procedure {
                known.kind = SymbolKind::Function;
            }
            exports.push((decl.name.as_str().into(), symbol));
        }
        let outside = Arc::clone(&modules.outside[at]);
        for inner in outside.contained.get(&id).into_iter().flatten().map(|inner| unit.scope(*inner)) {
            if is_wanted(&inner.name, modules) {
                let symbol = self.function(&inner.name, visible, 0);
                self.get_mut(symbol).home = Some(scope.name.clone());
                exports.push((inner.name.as_str().into(), symbol));
            }
        }
        for used in &scope.uses {
            exports.extend(self.used(used, modules, types));
        }
        let exports: Rc<Exports> = without_repetitions(exports).into();
        modules.exports.insert((at, id), Rc::clone(&exports));
        exports
    }

    /// The names that a `use` statement brings.
    fn used(&mut self, used: &ModuleUse, modules: &mut Modules, types: &Types) -> Exports {
        let Some((at, id)) = modules.by_name.get(used.module.as_str()).copied() else {
            return self.kinds(used, modules);
        };
        let all = self.exports(at, id, modules, types);
        let module = modules.units[at].scope(id);
        let all: Exports = all.iter().filter(|(name, _)| module.is_accessible(name)).cloned().collect();
        let renamed = used.names.iter().filter_map(|(local, name)| {
            let symbol = all.iter().find(|(known, _)| **known == **name)?.1;
            Some((local.as_str().into(), symbol))
        });
        let renamed: Exports = renamed.collect();
        if used.only {
            return renamed;
        }
        let hidden = |name: &str| used.names.iter().any(|(local, remote)| remote == name && local != name);
        all.iter().filter(|(name, _)| !hidden(name)).cloned().chain(renamed).collect()
    }

    /// The kinds that a `use` statement brings of an intrinsic module: constants.
    fn kinds(&mut self, used: &ModuleUse, modules: &mut Modules) -> Exports {
        let Some((module, kinds)) = KINDS.iter().find(|(module, _)| *module == used.module) else {
            return Exports::new();
        };
        let listed = used.names.iter().map(|(local, name)| (local.as_str(), name.as_str()));
        let hidden = |name: &str| used.only || used.names.iter().any(|(_, remote)| remote == name);
        let others = kinds.iter().filter(|name| !hidden(name)).map(|name| (*name, *name));
        let mut exports = Exports::new();
        for (local, name) in listed.chain(others) {
            let Some(kind) = kinds.iter().find(|kind| **kind == name) else { continue };
            let symbol = match modules.kinds.get(kind) {
                Some(symbol) => *symbol,
                None => self.kind(module, kind),
            };
            modules.kinds.insert(kind, symbol);
            exports.push((local.into(), symbol));
        }
        exports
    }

    fn kind(&mut self, module: &str, name: &str) -> SymbolId {
        let nowhere = Span { start: u32::MAX, end: u32::MAX };
        self.insert(Symbol {
            home: Some(module.to_owned()),
            intrinsic: Some("integer".to_owned()),
            ..Symbol::constant(name, nowhere)
        })
    }

    /// Names without a declaration: typed by the rules of their scoping unit, or of a module that we do not see.
    /// Where another file includes this one, a name that no rule of this one types is typed by that of the scoping unit there.
    fn undeclared(&mut self, unit: &Unit, around: Option<(&Unit, ScopeId)>, modules: &Modules) {
        let called: FxHashSet<ExprId> = unit
            .exprs
            .iter()
            .filter_map(|expr| match &expr.kind {
                ExprKind::Call { callee, .. } => Some(*callee),
                _ => None,
            })
            .collect();
        // `F(i, j) = 1` may be a macro that stands for an element of something else.
        let macros = self.called_macros();
        let assigned = assigned_elements(unit);
        let mut fresh: FxHashMap<(String, ScopeId), Span> = FxHashMap::default();
        let mut order = Vec::new();
        for (index, expr) in unit.exprs.iter().enumerate() {
            let ExprKind::Name(name) = &expr.kind else { continue };
            let id = ExprId(index as u32);
            let is_element = assigned.contains(&id) && !macros.contains(name);
            if called.contains(&id) && !is_element || self.lookup(name, expr.span.start).is_some() {
                continue;
            }
            let Some(scope) = unit.scope_at(expr.span.start) else { continue };
            let key = (name.clone(), scope);
            if !fresh.contains_key(&key) {
                fresh.insert(key.clone(), expr.span);
                order.push((key, expr.span, is_element));
            }
        }
        for ((name, scope), spelling, is_element) in order {
            let outer = || around.and_then(|(unit, scope)| typed_by_rule(unit, scope, &name));
            let typed = typed_by_rule(unit, scope, &name).or_else(outer);
            let outer = around.into_iter().flat_map(|(unit, scope)| scopes_around(unit, scope));
            let uses = scopes_around(unit, scope).chain(outer).flat_map(|scope| &scope.uses);
            let brought = match scopes_around(unit, scope).any(|scope| scope.is_declared_elsewhere) {
                true => Brought::Surely,
                false => uses.map(|used| modules.brings(used, &name)).max().unwrap_or(Brought::Not),
            };
            let (class, is_floating) = match brought {
                Brought::Surely => (Class::Unknown, false),
                Brought::Perhaps | Brought::Not => typed.unwrap_or_else(|| default_class(&name)),
            };
            let is_unseen = class == Class::Unknown;
            let id = self.insert(Symbol {
                name,
                kind: if is_unseen { SymbolKind::Static } else { SymbolKind::Local },
                class: if is_element { Class::Array } else { class },
                is_floating,
                is_enumeration: false,
                shape: Vec::new(),
                bounds: Vec::new(),
                scope: unit.scope(scope).span,
                from: 0,
                decl: None,
                is_const: false,
                has_mutable: false,
                is_reference: false,
                fortran: Attributes::default(),
                spelling: Some(spelling),
                home: None,
                record: None,
                intrinsic: None,
            });
            if brought == Brought::Perhaps {
                self.foreign.insert(id);
            }
        }
    }
}

/// Of the symbols of each name the first and the last: modules that use the same ones bring each name by many ways.
fn without_repetitions(all: Exports) -> Exports {
    let mut places: FxHashMap<&str, (usize, usize)> = FxHashMap::default();
    for (at, (name, _)) in all.iter().enumerate() {
        places.entry(name).or_insert((at, at)).1 = at;
    }
    let is_kept = |at: usize| {
        let (first, last) = places.get(&*all[at].0).copied().unwrap_or((at, at));
        at == first || at == last && all[first].1 != all[last].1
    };
    (0..all.len()).filter(|at| is_kept(*at)).map(|at| all[at].clone()).collect()
}

/// Whether a `use` statement brings a name from a module that no file at hand defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Brought {
    Not,
    Perhaps,
    Surely,
}

impl Modules<'_> {
    /// Whether this statement brings `name` from a module that no file at hand defines, or one does that a module at hand uses.
    fn brings(&self, used: &ModuleUse, name: &str) -> Brought {
        let mut met = FxHashSet::default();
        let mut pending = vec![used];
        let mut found = Brought::Not;
        while let Some(used) = pending.pop() {
            let is_listed = used.names.iter().any(|(local, _)| local == name);
            if used.only && !is_listed || is_standard(&used.module) || !met.insert(&used.module) {
                continue;
            }
            match self.by_name.get(used.module.as_str()) {
                Some((at, id)) => pending.extend(&self.units[*at].scope(*id).uses),
                None if is_listed => found = Brought::Surely,
                None => found = found.max(Brought::Perhaps),
            }
        }
        found
    }
}

/// Whether a module is one that compilers or well-known libraries bring: nothing that constructs assign is in it.
fn is_standard(module: &str) -> bool {
    let is_of_mpi = module == "mpi" || module.starts_with("mpi_f");
    is_of_mpi || ["iso_", "ieee_", "omp_lib", "openacc"].iter().any(|lead| module.starts_with(lead))
}

/// A scoping unit and those around it, innermost first.
fn scopes_around(unit: &Unit, scope: ScopeId) -> impl Iterator<Item = &Scope> {
    std::iter::successors(Some(scope), |at| unit.scope(*at).parent).map(|id| unit.scope(id))
}

/// The class of a name without a declaration; unknown where `implicit none` says that a module declares it.
fn implicit_class(unit: &Unit, scope: ScopeId, name: &str) -> (Class, bool) {
    typed_by_rule(unit, scope, name).unwrap_or_else(|| default_class(name))
}

/// What Fortran's own rule says where no `implicit` statement says anything.
fn default_class(name: &str) -> (Class, bool) {
    let first = name.bytes().next().unwrap_or_default().to_ascii_lowercase();
    (Class::Scalar, !(b'i'..=b'n').contains(&first))
}

/// What the innermost `implicit` statement about a name says.
enum Rule<'u> {
    /// `implicit none`
    None,
    /// Its first letter gives it a type.
    Type(&'u Letters),
}

/// What the `implicit` statements of the scoping units around a name say of it (Fortran 2018, 8.7).
fn rule<'u>(unit: &'u Unit, scope: ScopeId, name: &str) -> Option<Rule<'u>> {
    let first = name.bytes().next().unwrap_or_default().to_ascii_lowercase();
    scopes_around(unit, scope).find_map(|scope| match &scope.implicit {
        Implicit::None => Some(Rule::None),
        Implicit::Letters(ranges) => {
            let range = ranges.iter().find(|range| (range.first..=range.last).contains(&first));
            range.map(Rule::Type)
        }
        Implicit::Host => None,
    })
}

/// The class that the `implicit` statements of the scoping units around a name give to it.
fn typed_by_rule(unit: &Unit, scope: ScopeId, name: &str) -> Option<(Class, bool)> {
    Some(match rule(unit, scope, name)? {
        Rule::None => (Class::Unknown, false),
        Rule::Type(Letters { base: BaseType::Builtin(words), .. }) => {
            (Class::Scalar, matches!(words.as_str(), "real" | "double precision" | "complex"))
        }
        Rule::Type(_) => (Class::Record, false),
    })
}

/// The intrinsic type of a name that has no other than its first letter gives to it, and how an `implicit` statement writes
/// that with its kind; `None` for another type, or if `implicit none` holds.
pub fn type_of_letter<'u>(unit: &'u Unit, scope: ScopeId, name: &str) -> Option<(&'u str, Option<Span>)> {
    match rule(unit, scope, name) {
        Some(Rule::Type(Letters { base: BaseType::Builtin(words), stated, .. })) => {
            Some((words, Some(*stated)))
        }
        Some(_) => None,
        None => Some((if default_class(name).1 { "real" } else { "integer" }, None)),
    }
}

/// The names that stand before parentheses on the left of an assignment: arrays, or statement functions.
fn assigned_elements(unit: &Unit) -> FxHashSet<ExprId> {
    let targets = unit.exprs.iter().filter_map(|expr| match &expr.kind {
        ExprKind::Assign(_, left, _) => Some(*left),
        _ => None,
    });
    let callees = targets.filter_map(|target| match &unit.expr(target).kind {
        ExprKind::Call { callee, .. } => Some(*callee),
        _ => None,
    });
    callees.collect()
}

/// Turns each `name(…)` whose name is a variable's into an element, or a section, of the variable.
pub fn resolve(unit: &mut Unit, symbols: &Symbols) {
    for index in 0..unit.exprs.len() {
        let ExprKind::Call { callee, args } = &unit.exprs[index].kind else { continue };
        let Some(symbol) = symbols.named(unit, *callee).map(|id| symbols.get(id)) else { continue };
        let is_part = |arg: &ExprId| matches!(unit.expr(*arg).kind, ExprKind::Triplet(_));
        let is_variable = matches!(
            symbol.kind,
            SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static | SymbolKind::Constant
        );
        // What `associate` names is not a function.
        let is_associated =
            symbol.decl.is_some_and(|decl| unit.decl(decl).derived.first() == Some(&Derived::Reference));
        let is_array = symbol.class == Class::Array || is_associated;
        if !is_variable || !is_array && !args.iter().any(is_part) {
            continue;
        }
        let (callee, args, span) = (*callee, args.clone(), unit.exprs[index].span);
        let mut base = callee;
        let Some((last, first)) = args.split_last() else { continue };
        for arg in first {
            let kind = ExprKind::Index(base, *arg);
            base = ExprId(unit.exprs.len() as u32);
            unit.exprs.push(Expr { span, kind });
        }
        unit.exprs[index].kind = ExprKind::Index(base, *last);
    }
}
