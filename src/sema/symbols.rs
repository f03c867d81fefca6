//! Names: what each one declares, where it is visible, and of which class its type is.
//!
//! Invariant: a name is resolved by the innermost scope that holds the place of its use.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::forms::EnumSpecifier;
use crate::host::ir::{
    BaseType, Decl, DeclId, DeclKind, Derived, Expr, ExprId, ExprKind, FunctionId, Record, StmtId, StmtKind,
    Unit,
};
use crate::scan::Define;
use crate::source::{self, Span};

use super::derived_types::DerivedTypes;
use super::holds::Type;
use super::loop_header::KnownHeaders;
use super::operators::Operators;
use super::outside::{self, Dummy, Others, Outside};
use super::shown::Shown;
use super::symbol::{Bounds, Class, Dimensions, Symbol, SymbolId, SymbolKind};
use super::type_names::{is_in_template, is_standard_scalar};
use super::uses::{KnownLent, KnownUses};

/// The parameters and the body of a function-like macro; none where two of one name differ.
type CalledMacro = Option<(Vec<String>, String)>;

/// A name at a place, and what it means there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The bytes in which it is visible.
    scope: Span,
    /// It is visible after this offset.
    from: u32,
    id: SymbolId,
}

/// All names of one file, those of its headers included.
#[derive(Debug, Default)]
pub struct Symbols {
    symbols: Vec<Symbol>,
    /// By name and by the outermost function that holds the scope, so that equal names of other functions cost nothing;
    /// sorted by the start of their scope.
    by_name: FxHashMap<String, BTreeMap<Option<usize>, Vec<Entry>>>,
    /// What `named` has found so far, by expression.
    found: RefCell<Vec<Option<Option<SymbolId>>>>,
    /// What `flow` has found so far, by statement; and the same where loops do not count as using their variables.
    pub(super) used: KnownUses,
    /// What functions lend, as far as it was asked.
    pub(super) lent: KnownLent,
    /// What `loops` has found so far.
    pub(super) headers: KnownHeaders,
    /// The outermost functions, by place.
    functions: Vec<Span>,
    /// The classes that those functions belong to.
    owners: Vec<Option<String>>,
    /// The data members of those classes by name, those of their bases among them.
    members: FxHashMap<String, FxHashMap<String, SymbolId>>,
    /// The data members that belong to a base of their class.
    inherited: FxHashSet<SymbolId>,
    /// The static data members of classes.
    static_members: FxHashSet<SymbolId>,
    /// The classes whose objects hold references.
    referring: FxHashSet<String>,
    /// The classes of whose objects a part may change though they are `const`.
    mutable: FxHashSet<String>,
    /// Functions by name, with the arguments that they may write to: references.
    pub(super) by_reference: FxHashMap<String, FxHashSet<usize>>,
    /// Macros by name, with the names in their bodies that are not parameters.
    pub(super) standing: FxHashMap<String, Vec<String>>,
    /// Macros put names together.
    pastes: bool,
    /// Macros one of whose bodies may be nothing but a variable.
    pub(super) variable_like: FxHashSet<String>,
    /// The bodies of object-like macros by name; none where two of one name differ.
    pub(super) bodies: FxHashMap<String, Option<String>>,
    /// Function-like macros by name, with their parameters and bodies; none where two of one name differ.
    macros: FxHashMap<String, CalledMacro>,
    /// The dimensions of the members of all types by name; none where two of one name differ.
    member_dimensions: FxHashMap<String, Option<Dimensions>>,
    /// Fortran's macros, in lower case, that stand for bounds, or for several dimensions.
    shaping: FxHashSet<String>,
    /// Function-like macros by name, with the names that their bodies assign.
    assigning: FxHashMap<String, Vec<String>>,
    /// For Fortran, what the files have that this one uses, and, as the last one, the file itself; empty elsewhere.
    pub(super) outside: Vec<Arc<Outside>>,
    /// What these say together of the arguments of procedures, by name, as far as it was asked for.
    arguments: RefCell<FxHashMap<String, Rc<Arguments>>>,
    /// Macros that assign something by other macros, or by names that they put together.
    assigning_by_others: FxHashSet<String>,
    /// Where the program may go other ways than its structure shows, in order.
    ways: Vec<u32>,
    /// The names of members that lie over one another: those of unions, and of what is defined in them.
    overlaid: FxHashSet<String>,
    /// The members of anonymous unions outside of classes, by name, with the places that mean them.
    of_unions: FxHashMap<String, Vec<Span>>,
    /// The derived types of Fortran.
    pub(super) derived_types: DerivedTypes,
    /// The operators that the program defines.
    pub(super) operators: Operators,
    /// What other files have given a place on the device.
    on_device: FxHashSet<SymbolId>,
    /// The procedures that other files say all gangs run together.
    gang_routines: FxHashSet<String>,
    /// Names of Fortran without a declaration that a module may declare which no file at hand defines.
    pub(super) foreign: FxHashSet<SymbolId>,
    /// The types of the variables of C and C++.
    types: FxHashMap<SymbolId, Type>,
    /// The types of members of structs by name; `None` for those that structs declare differently.
    pub(super) member_types: FxHashMap<String, Option<Type>>,
    /// The types that have names by `typedef`.
    pub(super) type_names: FxHashMap<String, Type>,
    /// What the files show of other types.
    pub(super) shown: Shown,
}

/// The arguments of a procedure.
#[derive(Debug, Default)]
struct Arguments {
    dummies: Vec<Dummy>,
    /// The places of those that stay as they are.
    inputs: FxHashSet<usize>,
}

pub(super) struct Types<'a> {
    pub(super) units: Vec<&'a Unit>,
    typedefs: FxHashMap<&'a str, (&'a Unit, &'a Decl)>,
    records: FxHashMap<&'a str, (&'a Unit, &'a Record)>,
    /// The tags of enumerations, each with the type that its values have where it says one.
    pub(super) enums: FxHashMap<&'a str, Option<&'a str>>,
    /// The classes with parts that are `mutable`.
    mutable: FxHashSet<String>,
}

impl Symbols {
    /// Notes that another file has given a variable a place on the device: one of a module, or at file scope.
    pub fn place_on_device(&mut self, home: Option<&str>, name: &str) {
        let entries = self.by_name.get(name).into_iter().flat_map(|all| all.values().flatten());
        let symbols = &self.symbols;
        let is_meant = |id: &SymbolId| {
            let known = &symbols[id.0 as usize];
            known.home.as_deref() == home
                && (home.is_some() || known.kind == SymbolKind::Static && known.scope.start == 0)
        };
        let meant: Vec<SymbolId> = entries.map(|entry| entry.id).filter(is_meant).collect();
        self.on_device.extend(meant);
    }

    /// Notes that another file says of a procedure that all gangs run it together.
    pub fn note_gang_routine(&mut self, name: &str) {
        self.gang_routines.insert(name.to_owned());
    }

    /// Whether another file says of a procedure that all gangs run it together.
    pub fn is_gang_routine(&self, name: &str) -> bool {
        self.gang_routines.contains(name)
    }

    /// Whether a name without a declaration may be that of a variable in a Fortran module that no file at hand defines.
    pub fn may_be_foreign(&self, symbol: SymbolId) -> bool {
        self.foreign.contains(&symbol)
    }

    /// What other files have given a place on the device, in no order.
    pub fn on_device(&self) -> impl Iterator<Item = SymbolId> {
        self.on_device.iter().copied()
    }

    /// Whether another file has given the variable a place on the device.
    pub fn is_on_device(&self, symbol: SymbolId) -> bool {
        self.on_device.contains(&symbol)
    }

    /// Reads the declarations of `unit`, of the text that it was read from, and, before them, those of other files and the
    /// object-like macros.
    pub fn new(unit: &Unit, text: &[u8], others: Others, macros: &[&Define]) -> Symbols {
        let headers = others.units;
        let mut units: Vec<&Unit> = headers.to_vec();
        units.push(unit);
        let mut typedefs = FxHashMap::default();
        // Fortran has none.
        for unit in units.iter().filter(|unit| !unit.is_fortran()) {
            for decl in unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef) {
                typedefs.insert(decl.name.as_str(), (*unit, decl));
            }
        }
        let mut records = FxHashMap::default();
        for unit in &units {
            let named = unit.records.iter().filter_map(|record| Some((record.tag.as_deref()?, record)));
            records.extend(named.map(|(tag, record)| (tag, (*unit, record))));
        }
        let enums = stated(&units);
        let mut types = Types { units, typedefs, records, enums, mutable: FxHashSet::default() };
        types.mutable = types.with_mutable();
        let file = Span::new(0, text.len());
        let mut symbols = Symbols::default();
        for name in ["swap", "exchange"] {
            symbols.by_reference.insert(name.to_owned(), FxHashSet::from_iter([0, 1]));
        }
        for (name, place) in types.units.iter().flat_map(|unit| &unit.by_reference) {
            symbols.by_reference.entry(name.clone()).or_default().insert(*place);
        }
        symbols.operators = Operators::of(&types.units);
        symbols.overlaid = overlaid(&types.units);
        symbols.take_unions(unit);
        symbols.referring = types.referring();
        symbols.mutable.clone_from(&types.mutable);
        if !unit.is_fortran() {
            symbols.member_types = types.members(&types.units);
            symbols.type_names = types.named_types(&types.units);
            symbols.shown = Shown::new(&types, unit, text);
        }
        for function in &unit.functions {
            if symbols.functions.last().is_none_or(|last| last.end <= function.span.start) {
                symbols.functions.push(function.span);
                symbols.owners.push(function.member_of.clone());
            }
        }
        symbols.macros(macros, file, unit.is_fortran());
        symbols.ways = super::ways::other_ways(text, macros, unit.is_fortran(), unit.is_cpp());
        symbols.member_dimensions = types.member_dimensions();
        if unit.is_fortran() {
            symbols.derived_types = DerivedTypes::new(&types.units);
            symbols.outside = others.outside.to_vec();
            symbols.outside.push(Arc::new(Outside::of(unit, &[])));
            let wanted = Symbols::wanted(others.outside, unit, text, macros);
            symbols.fortran(unit, others, &types, wanted);
        } else {
            symbols.c_family(unit, headers, file, &types);
        }
        symbols.sort_names();
        symbols
    }

    /// Takes in the macros of a file: those with parameters first. What they stand for is looked up as the host language compares
    /// names: in Fortran, a name may be that of a macro in other letters.
    fn macros(&mut self, macros: &[&Define], file: Span, is_fortran: bool) {
        let folded = |name: &str| if is_fortran { name.to_ascii_lowercase() } else { name.to_owned() };
        self.assigning_by_others = super::macros::assigning_by_others(macros);
        for define in macros {
            let Some(params) = &define.params else { continue };
            let mut assigned = super::macros::assigned_names(&define.body);
            if !is_fortran {
                // Who gets its address may assign it.
                assigned.extend(super::macros::lent_names(&define.body).into_iter().map(str::to_owned));
            }
            let places = params.iter().enumerate().filter(|(_, param)| assigned.contains(param));
            let places: FxHashSet<usize> = places.map(|(place, _)| place).collect();
            self.by_reference.insert(define.name.clone(), places);
            self.assigning.insert(define.name.clone(), assigned);
            only(&mut self.macros, &define.name, (params.clone(), define.body.clone()));
        }
        for define in macros {
            let is_param = |word: &&str| define.params.iter().flatten().any(|param| param == word);
            let names = source::names(&define.body).filter(|word| !is_param(word)).map(folded);
            self.standing.entry(folded(&define.name)).or_default().extend(names);
        }
        let like = macros.iter().filter(|define| super::macros::is_variable_like(&define.body));
        self.variable_like = like.map(|define| folded(&define.name)).collect();
        self.pastes = macros.iter().any(|define| define.body.contains("##"));
        for define in macros.iter().filter(|define| define.params.is_none()) {
            only(&mut self.bodies, &define.name, define.body.clone());
            self.insert(Symbol::constant(&folded(&define.name), file));
        }
        if is_fortran {
            self.shaping = super::macros::shaping(macros).iter().map(|name| folded(name)).collect();
        }
        let (bodies, macros_of) = (&self.bodies, &self.macros);
        let is_varied = |name: &str| bodies.get(name) == Some(&None) || macros_of.get(name) == Some(&None);
        self.shown.take_macros(macros, is_varied);
    }

    /// Whether the program may go other ways in a part of the file than its structure shows.
    pub(super) fn goes_other_ways(&self, span: Span) -> bool {
        let first = self.ways.partition_point(|place| *place < span.start);
        self.ways.get(first).is_some_and(|place| *place < span.end)
    }

    /// Whether two members of different names can lie over one another, by their names alone.
    pub fn are_overlaid(&self, one: &str, two: &str) -> bool {
        self.overlaid.contains(one) && self.overlaid.contains(two)
    }

    /// Whether an object that is declared may hold references, to what it is made from: another name of that.
    pub(super) fn may_refer(&self, unit: &Unit, decl: &Decl) -> bool {
        // A constructor may keep where its arguments are.
        let takes_reference = |class: &str| {
            let parts = decl.init.map(|init| &unit.expr(init).kind);
            let count = if let Some(ExprKind::Initialiser(parts)) = parts { parts.len() } else { 0 };
            (0..count).any(|place| self.takes_reference(class, place))
        };
        match &decl.base {
            BaseType::Named(name) | BaseType::Tagged(name) => {
                refers(name, &self.referring) || takes_reference(source::plain_name(name))
            }
            BaseType::Record(id) => holds_references(unit, unit.record(*id), &self.referring),
            _ => false,
        }
    }

    /// Whether a part of each object of a class may change, though the object is `const`.
    pub fn is_mutable(&self, class: &str) -> bool {
        self.mutable.contains(class)
    }

    /// Notes the members of anonymous unions that stand in no class: they are named as variables are.
    fn take_unions(&mut self, unit: &Unit) {
        let apart = unit.anonymous_apart().map(|id| unit.record(id));
        for union in apart.filter(|one| one.is_union) {
            let block = unit.block_around(union.span).map(|block| unit.stmt(block).span.end);
            let scope = Span { start: union.span.end, end: block.unwrap_or(u32::MAX) };
            for id in &union.members {
                self.of_unions.entry(unit.decl(*id).name.clone()).or_default().push(scope);
            }
        }
    }

    /// Whether a name at `at` means a member of an anonymous union that stands in no class.
    pub fn is_of_union(&self, name: &str, at: u32) -> bool {
        let name = source::plain_name(name);
        let Some(scopes) = self.of_unions.get(name) else { return false };
        let known = self.lookup(name, at).map(|symbol| self.get(symbol).scope);
        scopes.iter().any(|scope| {
            scope.start <= at && at < scope.end && known.is_none_or(|known| known.contains(*scope))
        })
    }

    /// The names of the members of unions.
    pub fn overlaid(&self) -> &FxHashSet<String> {
        &self.overlaid
    }

    /// Sorts the meanings of each name by their scopes, as `lookup` wants them.
    pub(super) fn sort_names(&mut self) {
        for known in self.by_name.values_mut().flat_map(BTreeMap::values_mut) {
            known.sort_by_key(|entry| (entry.scope.start, entry.from));
        }
    }

    fn c_family(&mut self, unit: &Unit, headers: &[&Unit], file: Span, types: &Types) {
        for header in headers {
            for id in &header.globals {
                self.declare((header, header.decl(*id)), None, SymbolKind::Static, file, 0, types);
            }
            for function in header.functions.iter().filter(|function| function.member_of.is_none()) {
                self.function(&function.name, file, 0);
            }
        }
        for id in &unit.globals {
            let decl = unit.decl(*id);
            self.declare((unit, decl), Some(*id), SymbolKind::Static, file, decl.name_span.end, types);
        }
        self.declare_members(unit, file, types);
        for (index, function) in unit.functions.iter().enumerate() {
            if function.member_of.is_none() {
                self.function(&function.name, file, function.name_span.start);
            }
            self.function_scope(unit, FunctionId(index as u32), types);
        }
    }

    /// The names that the body of the function-like macro `name` assigns; none if there is no such macro.
    pub fn assigned_by(&self, name: &str) -> &[String] {
        self.assigning.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The parameters and the body of the function-like macro `name`; `None` if there is no such macro, or several that differ.
    pub fn macro_of(&self, name: &str) -> Option<(&[String], &str)> {
        let (params, body) = self.called_macro(name)?.as_ref()?;
        Some((params, body))
    }

    /// The body of a macro of any kind; `None` if there is no such macro, or several that differ.
    pub(super) fn macro_body(&self, name: &str) -> Option<&str> {
        let body = self.macro_of(name).map(|(_, body)| body);
        body.or_else(|| self.bodies.get(name)?.as_deref())
    }

    /// The macros, as the host language compares names, whose bodies have such a name, or lead to one by other macros.
    pub fn macros_naming(&self, is_wanted: impl Fn(&str) -> bool) -> FxHashSet<String> {
        let called = self.macros.iter().filter_map(|(name, known)| Some((name, &known.as_ref()?.1)));
        let others = self.bodies.iter().filter_map(|(name, body)| Some((name, body.as_ref()?)));
        let all = called.chain(others).map(|(name, body)| (name.as_str(), body.as_str()));
        let bodies: Vec<(&str, &str)> = all.collect();
        let has = |body: &str| source::names(body).any(&is_wanted);
        let first = bodies.iter().filter(|(_, body)| has(body)).map(|(name, _)| *name).collect();
        let found = super::macros::leading_to(&bodies, first);
        found.iter().map(|name| self.folded(name).into_owned()).collect()
    }

    /// Whether the bounds of a variable of Fortran, or the number of its dimensions, are what a macro says.
    pub fn is_shaped_by_macro(&self, home: &Unit, decl: &Decl) -> bool {
        let names = |name: &str| self.shaping.contains(name);
        !self.shaping.is_empty() && decl.sizes().any(|size| names_one(home, size, &names))
    }

    /// Whether a macro assigns something by other macros, or by names that it puts together.
    pub(super) fn assigns_by_others(&self, name: &str) -> bool {
        self.assigning_by_others.contains(name)
    }

    /// Whether `name` is a function-like macro.
    pub(super) fn is_called_macro(&self, name: &str) -> bool {
        self.called_macro(name).is_some()
    }

    /// What is known of the function-like macro `name`, as the host language compares names.
    fn called_macro(&self, name: &str) -> Option<&CalledMacro> {
        let named = self.is_fortran() && self.standing.contains_key(&*self.folded(name));
        let other = || self.macros.iter().find(|(known, _)| named && known.eq_ignore_ascii_case(name));
        self.macros.get(name).or_else(|| Some(other()?.1))
    }

    /// The names of the function-like macros, as the host language compares names.
    pub(super) fn called_macros(&self) -> FxHashSet<String> {
        self.macros.keys().map(|name| self.folded(name).into_owned()).collect()
    }

    /// Whether `name` is a macro of any kind.
    pub(super) fn names_macro(&self, name: &str) -> bool {
        self.standing.contains_key(&*self.folded(name))
    }

    /// Whether a word, in these letters, is a macro of any kind.
    pub fn is_spelled_as_macro(&self, word: &str) -> bool {
        self.bodies.contains_key(word) || self.macros.contains_key(word)
    }

    /// Whether there are macros.
    pub fn has_macros(&self) -> bool {
        !self.bodies.is_empty() || !self.macros.is_empty()
    }

    /// Whether a word is not a macro, or one that stands for numbers alone.
    pub fn is_no_macro(&self, word: &str) -> bool {
        let (mut pending, mut met) = (vec![word], BTreeSet::new());
        while let Some(word) = pending.pop() {
            if !self.names_macro(word) || !met.insert(word) {
                continue;
            }
            let Some(body) = self.body_of(word) else { return false };
            let is_of_numbers = |c: char| c.is_alphanumeric() || "_+-*/%()<>. ".contains(c);
            let starts = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let begin = body.trim_start_matches([' ', '(']);
            if !body.chars().all(is_of_numbers) || !(begin.is_empty() || begin.starts_with(starts)) {
                return false;
            }
            let names = self.standing.get(&*self.folded(word)).into_iter().flatten();
            if !names.clone().all(|name| self.names_macro(name)) {
                return false;
            }
            pending.extend(names.map(String::as_str));
        }
        true
    }

    /// Whether the body of a macro may name the variable `name`.
    pub fn is_in_macro(&self, name: &str) -> bool {
        self.pastes || self.standing.values().flatten().any(|word| word == name)
    }

    /// The number that the object-like macro `name` stands for.
    pub fn number(&self, name: &str) -> Option<i128> {
        super::macros::number(self.body_of(name)?)
    }

    /// Whether a symbol is an object-like macro.
    pub fn is_macro(&self, id: SymbolId) -> bool {
        let known = self.get(id);
        known.kind == SymbolKind::Constant && known.decl.is_none() && known.home.is_none()
    }

    /// The text that the object-like macro `name` stands for; `None` if there is no such macro, or several that differ.
    pub fn body_of(&self, name: &str) -> Option<&str> {
        self.bodies.get(name)?.as_deref()
    }

    /// The dimensions of the members called `name`; `None` if there are none, or some that differ.
    pub fn dimensions_of_member(&self, name: &str) -> Option<&Dimensions> {
        self.member_dimensions.get(name)?.as_ref()
    }

    /// The symbol `id`.
    pub fn get(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// What an expression means that is a name. Data flow asks for the same one many times.
    pub fn named(&self, unit: &Unit, id: ExprId) -> Option<SymbolId> {
        let Expr { span, kind: ExprKind::Name(name) } = unit.expr(id) else { return None };
        let at = id.0 as usize;
        if let Some(Some(found)) = self.found.borrow().get(at) {
            return *found;
        }
        let found = self.lookup(name, span.start);
        let mut all = self.found.borrow_mut();
        if all.len() <= at {
            all.resize(unit.exprs.len(), None);
        }
        all[at] = Some(found);
        found
    }

    /// A name as the host language compares it: Fortran does not tell capitals from small letters.
    pub fn folded<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.is_fortran() && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        }
    }

    /// What `name` means at `offset`. A name with its namespace is looked for at file scope.
    pub fn lookup(&self, name: &str, offset: u32) -> Option<SymbolId> {
        let name = &*self.folded(name);
        let path = if self.is_fortran() { None } else { name.rsplit_once(':') };
        let (name, is_qualified) = match path.filter(|(before, _)| before.ends_with(':')) {
            Some((_, last)) => (last, true),
            None => (name, false),
        };
        let visible =
            |entry: &&Entry| entry.scope.start <= offset && offset < entry.scope.end && entry.from <= offset;
        let places = self.by_name.get(name);
        let function = self.function_at(offset).filter(|_| !is_qualified);
        let here = function.and_then(|function| places?.get(&Some(function)));
        let member = |symbols: &Symbols| {
            let owner = match path.filter(|_| is_qualified) {
                Some((before, _)) => source::plain_name(before.trim_end_matches(':')),
                None => symbols.owners.get(function?)?.as_deref()?,
            };
            symbols.members.get(owner)?.get(name).copied()
        };
        // Scopes nest: of those that hold the place, the last one to begin is the innermost.
        let innermost = |known: &Vec<Entry>| {
            let before = known.partition_point(|entry| entry.scope.start <= offset);
            known[..before].iter().rev().find(visible).map(|entry| entry.id)
        };
        let local = here.and_then(innermost);
        local.or_else(|| member(self)).or_else(|| places?.get(&None).and_then(innermost))
    }

    /// Whether a name at `offset` means a variable at file scope, of which there are several: those of other namespaces.
    pub fn has_namesakes(&self, name: &str, offset: u32) -> bool {
        let is_shared = |id: SymbolId| self.get(id).kind == SymbolKind::Static;
        let last = name.rsplit_once("::").map_or(name, |(_, last)| last);
        let all = self.by_name.get(last).and_then(|places| places.get(&None));
        let count = all.map_or(0, |all| all.iter().filter(|entry| is_shared(entry.id)).count());
        count > 1 && self.lookup(name, offset).is_some_and(is_shared)
    }

    /// The outermost function that holds `offset`.
    fn function_at(&self, offset: u32) -> Option<usize> {
        let at = self.functions.partition_point(|span| span.end <= offset);
        self.functions.get(at).filter(|span| span.start <= offset).map(|_| at)
    }

    /// Whether `name` is an intrinsic function of Fortran that does not read its arguments' values.
    pub fn is_inquiry(&self, name: &str) -> bool {
        self.is_fortran() && super::elemental::is_inquiry(name)
    }

    /// Whether the function `name` may write to its argument `place` itself, which it takes by reference. One that is not
    /// seen is taken not to; in Fortran, where all arguments are passed so, it is taken to.
    pub fn takes_reference(&self, name: &str, place: usize) -> bool {
        if self.is_fortran() {
            let is_input = self.arguments(name).inputs.contains(&place);
            return !is_input && !super::elemental::is_intrinsic(name);
        }
        let name = name.rsplit_once("::").map_or(name, |(_, last)| last);
        self.by_reference.get(name).is_some_and(|places| places.contains(&place))
    }

    /// Whether the Fortran procedure `name` may give its argument other memory, or make it point elsewhere: the one that is
    /// passed by the name `keyword`, or the one at `place`. What is not seen is taken not to.
    pub(super) fn may_move(&self, name: &str, keyword: Option<&str>, place: usize) -> bool {
        let dummies = &self.arguments(name).dummies;
        let dummy = match keyword {
            Some(keyword) => dummies.iter().find(|dummy| dummy.name == keyword),
            None => dummies.get(place),
        };
        dummy.is_some_and(|dummy| dummy.may_move)
    }

    /// What all files say of the arguments of a Fortran procedure.
    fn arguments(&self, name: &str) -> Rc<Arguments> {
        if let Some(known) = self.arguments.borrow().get(name) {
            return Rc::clone(known);
        }
        let mut found = Arguments::default();
        for one in &self.outside {
            outside::add(&mut found.dummies, one.dummies.get(name).into_iter().flatten().cloned());
            found.inputs.extend(one.inputs.get(name).into_iter().flatten());
        }
        let found = Rc::new(found);
        self.arguments.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }

    fn is_fortran(&self) -> bool {
        !self.outside.is_empty()
    }

    /// Whether a data member belongs to a base of the class whose functions see it.
    pub fn is_inherited(&self, member: SymbolId) -> bool {
        self.inherited.contains(&member)
    }

    /// Whether a variable is a static data member of a class: OpenMP calls it shared, whatever clauses say (4.5, 2.15.1.1).
    pub fn is_static_member(&self, symbol: SymbolId) -> bool {
        self.static_members.contains(&symbol)
    }

    /// Whether a variable is a data member of a class, static or not.
    pub fn is_data_member(&self, symbol: SymbolId) -> bool {
        self.get(symbol).kind == SymbolKind::Member || self.is_static_member(symbol)
    }

    /// The class whose functions see a data member without `this->`.
    pub fn class_of(&self, member: SymbolId) -> Option<&str> {
        let holds = |known: &FxHashMap<String, SymbolId>| known.values().any(|id| *id == member);
        self.members.iter().find(|(_, known)| holds(known)).map(|(class, _)| class.as_str())
    }

    pub(super) fn insert(&mut self, symbol: Symbol) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        // A member is found by its class.
        if symbol.kind != SymbolKind::Member {
            self.show(&symbol.name, id, symbol.scope, symbol.from);
        }
        self.symbols.push(symbol);
        id
    }

    /// Makes a symbol visible under a name in a scope.
    pub(super) fn show(&mut self, name: &str, id: SymbolId, scope: Span, from: u32) {
        let holds = |at: &usize| self.functions.get(*at).is_some_and(|span| span.contains(scope));
        let function = self.function_at(scope.start).filter(holds);
        let entry = Entry { scope, from, id };
        self.by_name.entry(name.to_owned()).or_default().entry(function).or_default().push(entry);
    }

    /// All symbols, in the order of their declarations.
    pub fn ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    pub(super) fn get_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.symbols[id.0 as usize]
    }

    pub(super) fn function(&mut self, name: &str, scope: Span, from: u32) -> SymbolId {
        self.insert(Symbol {
            kind: SymbolKind::Function,
            class: Class::Unknown,
            from,
            ..Symbol::constant(name, scope)
        })
    }

    pub(super) fn declare(
        &mut self,
        (home, decl): (&Unit, &Decl),
        id: Option<DeclId>,
        storage: SymbolKind,
        scope: Span,
        from: u32,
        types: &Types,
    ) -> SymbolId {
        let kind = match decl.kind {
            DeclKind::Typedef => SymbolKind::Type,
            DeclKind::Prototype => SymbolKind::Function,
            DeclKind::Enumerator => SymbolKind::Constant,
            DeclKind::Parameter => SymbolKind::Parameter,
            DeclKind::Variable if decl.is_static || decl.is_extern => SymbolKind::Static,
            DeclKind::Variable | DeclKind::Member => storage,
        };
        let Dimensions { mut shape, bounds } = types.dimensions(home, decl, 0);
        let class = types.class(decl, &shape, 0);
        let is_reference = decl.derived.first() == Some(&Derived::Reference);
        let is_fortran = self.is_fortran();
        let decays = decl.kind == DeclKind::Parameter && !is_reference && !is_fortran;
        if decays && let Some(first) = shape.first_mut() {
            *first = false;
        }
        let class = match class {
            Class::Array if decays => Class::Pointer,
            class => class,
        };
        let is_floating = class == Class::Scalar && types.is_floating(decl, 0);
        let is_enumeration = class == Class::Scalar && types.is_enumeration(decl, 0);
        let name = decl.name.clone();
        let may_hold_mutable = || kind != SymbolKind::Static && types.may_hold_mutable(decl);
        let has_mutable = types.is_mutable(home, decl, 0) || may_hold_mutable();
        let (mut fortran, is_const) = (decl.fortran.clone(), decl.is_const && !has_mutable);
        // Nothing here says the rank.
        fortran.assumed_rank |= self.is_shaped_by_macro(home, decl);
        let spelling = id.filter(|_| is_fortran).map(|_| decl.name_span);
        let kind = if is_const && is_fortran { SymbolKind::Constant } else { kind };
        let record = super::derived_types::record(decl).filter(|_| is_fortran);
        let intrinsic = super::derived_types::intrinsic(decl).filter(|_| is_fortran);
        let known = (!is_fortran).then(|| types.of(decl, shape.clone()));
        let decl = id;
        let symbol = self.insert(Symbol {
            name,
            kind,
            class,
            is_floating,
            is_enumeration,
            shape,
            bounds,
            scope,
            from,
            decl,
            is_const,
            has_mutable,
            is_reference,
            fortran,
            spelling,
            home: None,
            record,
            intrinsic,
        });
        self.types.extend(known.map(|known| (symbol, known)));
        symbol
    }

    /// The type of a variable of C or C++.
    pub fn type_of(&self, id: SymbolId) -> Option<&Type> {
        self.types.get(&id)
    }

    /// Declares the data members of the classes whose functions stand in this file, and of those with static ones.
    fn declare_members(&mut self, unit: &Unit, file: Span, types: &Types) {
        let mut owners: BTreeSet<String> = self.owners.iter().flatten().cloned().collect();
        let has_static = |(home, record): &(&Unit, &Record)| {
            record.members.iter().any(|id| is_static_member(home.decl(*id)))
        };
        let records = types.records.iter().filter(|(_, found)| has_static(found));
        owners.extend(records.map(|(tag, _)| (*tag).to_owned()));
        for tag in owners {
            let mut known = FxHashMap::default();
            let (mut pending, mut met) = (vec![(tag.as_str(), 0)], FxHashSet::default());
            while let Some((tag, depth)) = pending.pop() {
                let Some((home, record)) = types.records.get(tag).filter(|_| met.insert(tag)) else {
                    continue;
                };
                for id in &record.members {
                    let decl = home.decl(*id);
                    if !known.contains_key(&decl.name) {
                        known.insert(decl.name.clone(), SymbolId(self.symbols.len() as u32));
                        if depth > 0 {
                            self.inherited.insert(SymbolId(self.symbols.len() as u32));
                        }
                        let here = std::ptr::eq(*home, unit).then_some(*id);
                        let id = self.declare((home, decl), here, SymbolKind::Member, file, 0, types);
                        if is_static_member(decl) {
                            self.symbols[id.0 as usize].kind = SymbolKind::Static;
                            self.static_members.insert(id);
                        }
                    }
                }
                if depth < TYPEDEF_DEPTH {
                    pending.extend(record.bases.iter().map(|base| (base.as_str(), depth + 1)));
                }
            }
            self.members.insert(tag, known);
        }
    }

    /// The variable of the file that `extern` in a function declares once more, unless only that says how large it is.
    fn redeclared(&self, unit: &Unit, decl: &Decl) -> Option<SymbolId> {
        if !decl.is_extern || decl.kind != DeclKind::Variable {
            return None;
        }
        let outside = self.by_name.get(&decl.name)?.get(&None)?;
        let is_whole = |known: &Symbol| {
            let stated = known.decl.map(|id| unit.decl(id).derived.as_slice());
            stated.is_some_and(|stated| !stated.contains(&Derived::Array(None)))
        };
        let mut found = outside.iter().rev().filter(|entry| entry.from <= decl.name_span.start);
        let found = found.find(|entry| self.get(entry.id).kind == SymbolKind::Static)?;
        is_whole(self.get(found.id)).then_some(found.id)
    }

    pub(super) fn function_scope(&mut self, unit: &Unit, id: FunctionId, types: &Types) {
        let function = unit.function(id);
        for param in function.params.iter().filter(|_| !unit.is_fortran()) {
            let decl = unit.decl(*param);
            self.declare((unit, decl), Some(*param), SymbolKind::Parameter, function.span, 0, types);
        }
        let after = unit.conditional.partition_point(|(scope, _)| scope.start < function.span.start);
        let known = unit.conditional[after..].iter().take_while(|(scope, _)| function.span.contains(*scope));
        let innermost = |scope: Span| unit.functions.iter().rev().find(|one| one.span.contains(scope));
        let is_own = |scope: Span| innermost(scope).is_some_and(|one| one.span == function.span);
        for (scope, id) in known.filter(|(scope, _)| is_own(*scope)) {
            let decl = unit.decl(*id);
            self.declare((unit, decl), Some(*id), SymbolKind::Local, *scope, decl.name_span.start, types);
        }
        let mut pending: Vec<(StmtId, Span)> = vec![(function.body, function.span)];
        while let Some((stmt, scope)) = pending.pop() {
            let span = unit.stmt(stmt).span;
            match &unit.stmt(stmt).kind {
                StmtKind::Block(list) => pending.extend(list.iter().map(|stmt| (*stmt, span))),
                StmtKind::Decl(decls) => {
                    for id in decls {
                        let decl = unit.decl(*id);
                        let from = decl.name_span.end;
                        match self.redeclared(unit, decl) {
                            Some(known) => self.show(&decl.name, known, scope, from),
                            None => {
                                let local = SymbolKind::Local;
                                self.declare((unit, decl), Some(*id), local, scope, from, types);
                            }
                        }
                    }
                }
                StmtKind::For { init, body, .. } => {
                    pending.extend(init.iter().map(|init| (*init, span)));
                    pending.push((*body, span));
                }
                StmtKind::If { then, other, .. } => {
                    pending.push((*then, span));
                    pending.extend(other.iter().map(|other| (*other, span)));
                }
                StmtKind::While { body, .. }
                | StmtKind::DoWhile { body, .. }
                | StmtKind::Switch { body, .. } => pending.push((*body, span)),
                StmtKind::Labeled { stmt, .. } => pending.extend(stmt.iter().map(|stmt| (*stmt, scope))),
                StmtKind::Expr(_)
                | StmtKind::Empty
                | StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Goto(_)
                | StmtKind::Opaque(_) => {}
            }
        }
    }
}

/// Whether the type of `symbol` holds an array whose size is known only when the program runs.
pub fn has_variable_length(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let Some(decl) = symbols.get(symbol).decl.map(|id| unit.decl(id)) else { return false };
    let skipped = usize::from(decl.kind == DeclKind::Parameter);
    decl.derived.iter().skip(skipped).any(|part| match part {
        Derived::Array(Some(size)) => !is_constant(unit, symbols, *size, 0),
        Derived::Array(None) | Derived::Pointer | Derived::Function | Derived::Reference => false,
    })
}

/// Whether every name in an expression is a constant's.
fn is_constant(unit: &Unit, symbols: &Symbols, expr: ExprId, depth: usize) -> bool {
    let expr = unit.expr(expr);
    match &expr.kind {
        ExprKind::Name(name) => symbols.lookup(name, expr.span.start).is_none_or(|symbol| {
            let known = symbols.get(symbol);
            known.kind == SymbolKind::Constant || has_constant_value(unit, symbols, known, depth)
        }),
        kind => kind.children().all(|child| is_constant(unit, symbols, child, depth)),
    }
}

/// C++ takes a `const` integer that begins with a constant for one.
fn has_constant_value(unit: &Unit, symbols: &Symbols, symbol: &Symbol, depth: usize) -> bool {
    let init = symbol.decl.and_then(|id| unit.decl(id).init);
    let is_candidate = unit.is_cpp() && symbol.is_const && symbol.class == Class::Scalar;
    is_candidate
        && depth < TYPEDEF_DEPTH
        && init.is_some_and(|init| is_constant(unit, symbols, init, depth + 1))
}

/// Deeper chains of typedefs, constants and base classes than this are not followed.
const TYPEDEF_DEPTH: usize = 16;

impl Types<'_> {
    /// The declaration of a type name.
    pub(super) fn typedef(&self, name: &str) -> Option<&Decl> {
        self.typedefs.get(name).map(|(_, decl)| *decl)
    }

    /// For each of its dimensions whether it is one of an array, and not a pointer.
    pub(super) fn shape(&self, home: &Unit, decl: &Decl) -> Vec<bool> {
        self.dimensions(home, decl, 0).shape
    }

    /// The classes whose objects hold references.
    fn referring(&self) -> FxHashSet<String> {
        self.classes(&holds_references)
    }

    /// The classes with parts that are `mutable`.
    fn with_mutable(&self) -> FxHashSet<String> {
        if self.units.iter().all(|unit| unit.mutable.is_empty()) {
            return FxHashSet::default();
        }
        self.classes(&|home, record, known| self.holds_mutable(home, record, known, 0))
    }

    /// Whether a part of a variable is `mutable`.
    fn is_mutable(&self, home: &Unit, decl: &Decl, depth: usize) -> bool {
        !self.mutable.is_empty() && self.has_mutable(home, decl, &self.mutable, depth)
    }

    /// Whether a variable may be such an object by a type that is deduced, or by the argument of a template.
    fn may_hold_mutable(&self, decl: &Decl) -> bool {
        !self.mutable.is_empty()
            && decl.is_object()
            && match &decl.base {
                BaseType::Unknown => true,
                BaseType::Named(name) => name
                    .split_once('<')
                    .is_some_and(|(_, list)| source::words(list).any(|word| self.mutable.contains(word))),
                _ => false,
            }
    }

    /// The same, where these classes are known to have such parts.
    fn has_mutable(&self, home: &Unit, decl: &Decl, known: &FxHashSet<String>, depth: usize) -> bool {
        decl.is_object()
            && depth < TYPEDEF_DEPTH
            && match &decl.base {
                BaseType::Named(name) | BaseType::Tagged(name) => {
                    let name = source::plain_name(name);
                    known.contains(name)
                        || self
                            .typedefs
                            .get(name)
                            .is_some_and(|(home, typedef)| self.has_mutable(home, typedef, known, depth + 1))
                }
                BaseType::Record(id) => self.holds_mutable(home, home.record(*id), known, depth + 1),
                _ => false,
            }
    }

    fn holds_mutable(&self, home: &Unit, record: &Record, known: &FxHashSet<String>, depth: usize) -> bool {
        let holds = |id: &DeclId| {
            let decl = home.decl(*id);
            home.mutable.contains(id) || !decl.is_static && self.has_mutable(home, decl, known, depth)
        };
        record.bases.iter().any(|base| known.contains(source::plain_name(base)))
            || record.members.iter().any(holds)
            || {
                let inner = home.anonymous_in(record.span);
                inner.flat_map(|id| &home.record(id).members).any(holds)
            }
    }

    /// The classes of which something is true that may be true of a class as it is of those which its objects hold.
    fn classes(&self, holds: &dyn Fn(&Unit, &Record, &FxHashSet<String>) -> bool) -> FxHashSet<String> {
        let mut known = FxHashSet::default();
        loop {
            let found = self
                .records
                .iter()
                .filter(|(tag, (home, record))| !known.contains(**tag) && holds(home, record, &known));
            let found: Vec<String> = found.map(|(tag, _)| (*tag).to_owned()).collect();
            if found.is_empty() {
                return known;
            }
            known.extend(found);
        }
    }

    /// The dimensions of all members by name; none where two differ.
    fn member_dimensions(&self) -> FxHashMap<String, Option<Dimensions>> {
        let mut known: FxHashMap<String, Option<Dimensions>> = FxHashMap::default();
        for unit in &self.units {
            for decl in unit.records.iter().flat_map(|record| &record.members).map(|id| unit.decl(*id)) {
                let found = self.dimensions(unit, decl, 0);
                let first = known.entry(decl.name.clone()).or_insert_with(|| Some(found.clone()));
                if first.as_ref() != Some(&found) {
                    *first = None;
                }
            }
        }
        known
    }

    fn dimensions(&self, home: &Unit, decl: &Decl, depth: usize) -> Dimensions {
        let text = |expr: ExprId| super::sum::text_of(home, expr);
        let mut all = Dimensions::default();
        for (at, part) in decl.derived.iter().enumerate() {
            let (is_array, size) = match part {
                Derived::Pointer => (false, None),
                Derived::Array(size) => (true, *size),
                Derived::Function | Derived::Reference => continue,
            };
            let lower = decl.fortran.lower.get(at).copied().flatten().and_then(text);
            all.shape.push(is_array);
            all.bounds.push(Bounds { lower, upper: size.and_then(text) });
        }
        if let BaseType::Named(name) = &decl.base
            && depth < TYPEDEF_DEPTH
            && let Some((home, typedef)) = self.typedefs.get(source::plain_name(name))
        {
            let more = self.dimensions(home, typedef, depth + 1);
            all.shape.extend(more.shape);
            all.bounds.extend(more.bounds);
        }
        all
    }

    fn is_floating(&self, decl: &Decl, depth: usize) -> bool {
        match &decl.base {
            BaseType::Builtin(words) => words
                .split(' ')
                .any(|word| ["float", "double", "_Float16", "__float128", "real", "complex"].contains(&word)),
            BaseType::Named(name) => match self.typedefs.get(name.as_str()) {
                Some((_, typedef)) if depth < TYPEDEF_DEPTH => self.is_floating(typedef, depth + 1),
                _ => matches!(name.as_str(), "float_t" | "double_t"),
            },
            BaseType::Void
            | BaseType::Tagged(_)
            | BaseType::Record(_)
            | BaseType::Enum
            | BaseType::Unknown => false,
        }
    }

    fn is_enumeration(&self, decl: &Decl, depth: usize) -> bool {
        match &decl.base {
            BaseType::Enum => true,
            BaseType::Named(name) => match self.typedefs.get(name.as_str()) {
                Some((_, typedef)) => depth < TYPEDEF_DEPTH && self.is_enumeration(typedef, depth + 1),
                None => self.enums.contains_key(name.as_str()),
            },
            _ => false,
        }
    }

    fn class(&self, decl: &Decl, shape: &[bool], depth: usize) -> Class {
        match (shape.first(), &decl.base) {
            (Some(true), _) => Class::Array,
            (Some(false), _) => Class::Pointer,
            (None, BaseType::Builtin(_) | BaseType::Enum) => Class::Scalar,
            (None, BaseType::Tagged(_) | BaseType::Record(_)) => Class::Record,
            (None, BaseType::Void | BaseType::Unknown) => Class::Unknown,
            (None, BaseType::Named(name)) => match self.typedefs.get(source::plain_name(name)) {
                Some((unit, typedef)) if depth < TYPEDEF_DEPTH => {
                    debug_assert!(self.units.iter().any(|known| std::ptr::eq(*known, *unit)));
                    self.class(typedef, &[], depth + 1)
                }
                Some(_) => Class::Unknown,
                None => self.named(name),
            },
        }
    }
}

/// The names of the members of unions, and of the records that are defined in unions.
fn overlaid(units: &[&Unit]) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for unit in units {
        for union in unit.records.iter().filter(|record| record.is_union) {
            let inside = unit.records.iter().filter(|record| union.span.contains(record.span));
            names.extend(inside.flat_map(|record| &record.members).map(|id| unit.decl(*id).name.clone()));
        }
    }
    names
}

impl Types<'_> {
    /// The class of a type that no typedef declares.
    fn named(&self, name: &str) -> Class {
        let bare = source::plain_name(name);
        if is_in_template(name) {
            Class::Unknown
        } else if self.records.contains_key(bare) {
            Class::Record
        } else if self.enums.contains_key(bare) || is_standard_scalar(bare) {
            Class::Scalar
        } else if name.contains('<') && !bare.ends_with("_t") {
            // What has arguments is a class template, except the likes of `std::enable_if_t`.
            Class::Record
        } else {
            Class::Unknown
        }
    }
}

/// The tags of enumerations, each with the type of its values where it says one; one that is not defined may be packed.
fn stated<'a>(units: &[&'a Unit]) -> FxHashMap<&'a str, Option<&'a str>> {
    let named = |unit: &&'a Unit| unit.enums.iter().map(|tag| (tag.as_str(), Some("char")));
    let mut found: FxHashMap<&str, Option<&str>> = units.iter().flat_map(named).collect();
    let defined = |one: &&EnumSpecifier| one.is_definition || one.underlying.is_some();
    let mut all: Vec<_> = units.iter().flat_map(|unit| &unit.forms.enums).filter(defined).collect();
    all.sort_by_key(|one| one.underlying.is_some());
    found.extend(all.into_iter().filter_map(|one| Some((one.tag.as_deref()?, one.underlying.as_deref()))));
    found
}

/// Whether a member is a variable that all objects of the class share.
fn is_static_member(member: &Decl) -> bool {
    member.is_static && !member.derived.contains(&Derived::Function)
}

/// Notes what `name` stands for; nothing where it stands for two things that differ.
fn only<T: PartialEq>(known: &mut FxHashMap<String, Option<T>>, name: &str, value: T) {
    match known.get_mut(name) {
        None => {
            known.insert(name.to_owned(), Some(value));
        }
        Some(first) if first.as_ref() != Some(&value) => *first = None,
        Some(_) => {}
    }
}

/// Whether objects of a class hold references: its own members, or those of its bases and of members that are objects.
fn holds_references(unit: &Unit, record: &Record, known: &FxHashSet<String>) -> bool {
    let holds = |member: &Decl| match (&member.base, member.derived.last()) {
        _ if [member.derived.first(), member.derived.last()].contains(&Some(&Derived::Reference)) => true,
        (BaseType::Named(name) | BaseType::Tagged(name), None | Some(Derived::Array(_))) => {
            refers(name, known)
        }
        _ => false,
    };
    record.bases.iter().any(|base| known.contains(source::plain_name(base)))
        || record.members.iter().any(|id| holds(unit.decl(*id)))
}

/// Whether a type holds references: one of those known to, or with a reference among its template arguments.
fn refers(name: &str, known: &FxHashSet<String>) -> bool {
    name.contains('&') || known.contains(source::plain_name(name))
}

/// Whether an expression has such a name.
fn names_one(unit: &Unit, expr: ExprId, is_it: &dyn Fn(&str) -> bool) -> bool {
    let kind = &unit.expr(expr).kind;
    matches!(kind, ExprKind::Name(name) if is_it(name))
        || kind.children().any(|child| names_one(unit, child, is_it))
}
