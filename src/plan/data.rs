//! Data directives: which items a clause may list, and which data clauses a compute construct can see.
//!
//! Invariant: what OpenMP could read differently is refused here, not passed on.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, Expr, ListItem, PathStep, Subscript};
use crate::bind::{Bound, ancestors};
use crate::diag::{self, Concern, Diag, pages};
use crate::host::ir::{Decl, Derived, ExprId, FunctionId, Unit};
use crate::sema::{Class, Symbol, SymbolId, SymbolKind, Symbols, uses};
use crate::source;

use super::object::names_object;
use super::section::{Contiguity, Section};
use super::{Attribute, Input, Item, Maker, Names, Sharing};

/// Data clauses of constructs around a compute construct.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// Scalars (pointers among them) that are on the device.
    pub(super) scalars: Names,
    /// Pointers that hold device addresses.
    pub(super) deviceptr: Vec<(SymbolId, String)>,
    /// Arrays and pointers with a section in a data clause.
    pub(super) arrays: Names,
}

/// Where `enter data` names variables.
#[derive(Debug, Default)]
pub(super) struct Entered {
    /// The first of each function that names a variable.
    first: HashMap<(Option<FunctionId>, SymbolId), usize>,
    /// The members that functions of a class enter: most do so in the constructor.
    pub(super) members: HashSet<(Option<String>, String)>,
    /// The classes that enter their objects: `this`.
    pub(super) objects: HashSet<Option<String>>,
}

/// The first `declare` at file scope that names a variable.
pub(super) type Declared = HashMap<SymbolId, usize>;

impl Input<'_> {
    /// What `item`'s variable is, where directive `index` stands.
    pub(super) fn symbol_of(&self, index: usize, item: &ListItem) -> Option<SymbolId> {
        self.symbols.lookup(item.variable(), self.bound[index].directive.span.start)
    }

    /// The data clauses of the constructs around directive `index`, and of its function's `declare` directives.
    pub(super) fn visible(&self, index: usize) -> Visible {
        let mut visible = Visible::default();
        for above in ancestors(self.bound, index) {
            if self.bound[above].directive.kind == DirectiveKind::Data {
                self.add_visible(above, &mut visible);
            }
        }
        let function = self.bound[index].function;
        let declares = self.declares.get(&function).into_iter().flatten();
        for at in declares.take_while(|at| **at < index) {
            self.add_visible(*at, &mut visible);
        }
        if function.is_some() {
            let globals = self.device_globals.get_or_init(|| {
                let mut known = Visible::default();
                let all = self.declares.get(&None).into_iter().flatten();
                all.for_each(|at| self.add_visible(*at, &mut known));
                known.deviceptr
            });
            visible.deviceptr.extend(globals.iter().cloned());
        }
        visible
    }

    pub(super) fn add_visible(&self, index: usize, visible: &mut Visible) {
        for clause in &self.bound[index].directive.clauses {
            let ClauseKind::Data(kind, list) = &clause.kind else { continue };
            for item in list {
                let Some(symbol) = self.symbol_of(index, item) else { continue };
                if *kind == DataClause::Deviceptr {
                    if self.is_no_address(symbol) {
                        continue;
                    }
                    visible.deviceptr.push((symbol, item.variable().to_owned()));
                } else if self.is_own_scalar(symbol) && item.parts.is_empty() {
                    visible.scalars.insert(symbol);
                } else {
                    visible.arrays.insert(symbol);
                }
            }
        }
    }

    /// Whether a variable of C is known to hold no address.
    fn is_no_address(&self, symbol: SymbolId) -> bool {
        !self.unit.is_fortran() && matches!(self.symbols.get(symbol).class, Class::Scalar | Class::Record)
    }

    /// Whether an item of C is known to name no pointer: it is a section, or a variable that holds no address.
    fn is_no_pointer(&self, index: usize, item: &ListItem) -> bool {
        match item.subscripts().last() {
            Some(Subscript::Range { .. }) => !self.unit.is_fortran(),
            Some(_) => false,
            None => {
                let symbol = self.symbol_of(index, item).filter(|_| item.parts.is_empty());
                symbol.is_some_and(|symbol| self.is_no_address(symbol))
            }
        }
    }

    /// Whether a variable is a scalar for itself: one that is a member goes with its object.
    fn is_own_scalar(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        known.class == Class::Scalar && known.kind != SymbolKind::Member
    }

    fn item_problem(&self, index: usize, clause: &ClauseKind, item: &ListItem) -> Option<Diag> {
        let is_data =
            matches!(clause, ClauseKind::Data(..) | ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_));
        if let Some(word) = pointer_clause(clause).filter(|_| self.is_no_pointer(index, item)) {
            return Some(diag::clause_missing(item.span, word, "a pointer"));
        }
        if is_data && self.is_element(index, item) {
            return Some(diag::element_in_data_clause(item.span, &item.text));
        }
        if is_data && item.common && self.bound[index].directive.kind != DirectiveKind::Declare {
            return Some(diag::not_yet(item.span, "a common block whose variables are not known here"));
        }
        if matches!(clause, ClauseKind::Private(_) | ClauseKind::Firstprivate(_))
            && !item.parts.is_empty()
            && !self.is_whole_array(index, item)
            && self.own_section(index, clause, item).is_none()
        {
            return Some(diag::not_yet(item.span, "a section or member in `private` or `firstprivate`"));
        }
        if matches!(clause, ClauseKind::Reduction(..)) {
            let symbol = self.symbol_of(index, item).map(|symbol| self.symbols.get(symbol));
            if symbol.is_some_and(|symbol| symbol.kind == SymbolKind::Member) {
                return Some(diag::not_yet(item.span, "a member in `reduction`"));
            }
            return self.reduction_problem(index, item);
        }
        if !is_data {
            return None;
        }
        let section = self.section(index, item);
        let is_update = matches!(clause, ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_));
        let has_lines = matches!(
            clause,
            ClauseKind::UpdateSelf(_)
                | ClauseKind::UpdateDevice(_)
                | ClauseKind::Data(
                    DataClause::Copy
                        | DataClause::Copyin { .. }
                        | DataClause::Copyout { .. }
                        | DataClause::Create { .. }
                        | DataClause::Present
                        | DataClause::NoCreate
                        | DataClause::Delete,
                    _
                )
        );
        let directive = &self.bound[index].directive;
        let finalizes = directive.clauses.iter().any(|clause| clause.kind == ClauseKind::Finalize);
        let has_lines = has_lines && directive.kind != DirectiveKind::Declare && !finalizes;
        if has_lines && self.is_rows(index, item) {
            return None;
        }
        let is_apart = |section: &Section| {
            let leads = section.through_pointer.contains(&true) && !self.settings.preference.elements_lead;
            leads || section.contiguity() == Contiguity::Apart
        };
        let is_refused = section.is_some_and(|section| !is_update && is_apart(&section));
        is_refused.then(|| diag::not_contiguous(item.span, &item.text))
    }

    /// Whether an item of C has one subscript, which names an element: that of a matrix is a row.
    fn is_element(&self, index: usize, item: &ListItem) -> bool {
        let has_member = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
        let symbol = self.symbol_of(index, item).filter(|_| !has_member);
        let is_row = symbol.is_some_and(|symbol| self.symbols.get(symbol).shape.get(1) == Some(&true));
        !self.unit.is_fortran() && !is_row && matches!(item.subscripts()[..], [Subscript::Index(_)])
    }

    /// Whether the sections of `item` are all of an array.
    pub(super) fn is_whole_array(&self, index: usize, item: &ListItem) -> bool {
        let Some(symbol) = self.symbol_of(index, item).map(|symbol| self.symbols.get(symbol)) else {
            return false;
        };
        let Some(decl) = symbol.decl.filter(|_| symbol.class == Class::Array) else { return false };
        let decl = self.unit.decl(decl);
        let extents = decl.derived.iter().map(|part| match part {
            Derived::Array(Some(size)) => Some(self.file.text(self.unit.expr(*size).span)),
            Derived::Array(None) | Derived::Pointer | Derived::Function | Derived::Reference => None,
        });
        let dimensions = item.parts.iter().flat_map(|part| match part {
            PathStep::Section(subscripts) => subscripts.as_slice(),
            PathStep::Member(_) => &[],
        });
        if self.unit.is_fortran() {
            return self.is_whole_fortran(item, decl);
        }
        let is_whole = |(dimension, extent): (&Subscript, Option<Cow<str>>)| match dimension {
            Subscript::Range { first, second, stride: None } => {
                let from_zero = first.as_ref().is_none_or(|first| first.text.trim() == "0");
                let to_end = second
                    .as_ref()
                    .is_none_or(|length| extent.is_some_and(|extent| extent.trim() == length.text.trim()));
                from_zero && to_end
            }
            Subscript::Range { .. } | Subscript::Index(_) => false,
        };
        let count = decl.derived.len();
        item.parts.len() == count && dimensions.zip(extents).all(is_whole)
    }

    /// Whether the bounds of a Fortran section are those of the declaration, word by word.
    fn is_whole_fortran(&self, item: &ListItem, decl: &Decl) -> bool {
        let [PathStep::Section(subscripts)] = item.parts.as_slice() else { return false };
        let same = |bound: &Option<Expr>, declared: Option<Cow<str>>, other: &str| {
            let Some(bound) = bound else { return true };
            declared.as_deref().unwrap_or(other).trim().eq_ignore_ascii_case(bound.text.trim())
        };
        let text = |expr: ExprId| self.file.text(self.unit.expr(expr).span);
        let is_whole = |(at, (subscript, part)): (usize, (&Subscript, &Derived))| match (subscript, part) {
            (Subscript::Range { first, second, stride: None }, Derived::Array(upper)) => {
                let lower = decl.fortran.lower.get(at).copied().flatten();
                same(first, lower.map(text), "1") && same(second, upper.map(text), "")
            }
            _ => false,
        };
        subscripts.len() == decl.derived.len()
            && subscripts.iter().zip(&decl.derived).enumerate().all(is_whole)
    }

    /// Whether the construct of directive `index` assigns a variable that its clauses name: the pointer of a section, or
    /// what a length or a condition is made of.
    pub(super) fn moves(&self, index: usize) -> bool {
        let bound = &self.bound[index];
        let Some(stmt) = bound.stmt() else { return false };
        let mut names: Vec<&str> = Vec::new();
        let attaches = (bound.directive.clauses.iter())
            .any(|clause| matches!(clause.kind, ClauseKind::Data(DataClause::Attach, _)));
        for clause in &bound.directive.clauses {
            let ClauseKind::Data(kind, list) = &clause.kind else { continue };
            let is_kept = |item: &ListItem| {
                let zero =
                    matches!(kind, DataClause::Copyout { zero: true } | DataClause::Create { zero: true });
                zero || attaches || self.is_rows(index, item)
            };
            for item in list.iter().filter(|item| is_kept(item)) {
                names.extend(source::names(&item.text).filter(|name| self.leads_to(index, item, name)));
            }
        }
        if names.is_empty() {
            return false;
        }
        for clause in &bound.directive.clauses {
            if let ClauseKind::If(condition) | ClauseKind::SelfRun(Some(condition)) = &clause.kind {
                names.extend(source::names(&condition.text));
            }
        }
        let used = uses(self.unit, self.symbols, stmt);
        let here = bound.directive.span.start;
        names.into_iter().filter_map(|name| self.symbols.lookup(name, here)).any(|symbol| {
            !self.is_inside(symbol, stmt)
                && used.of(symbol).is_some_and(|used| used.written || used.address_taken)
        })
    }

    /// Whether the value of `name` decides where `item` is: that of the scalar itself does not.
    fn leads_to(&self, index: usize, item: &ListItem, name: &str) -> bool {
        let class = self.symbol_of(index, item).map(|symbol| self.symbols.get(symbol).class);
        name != item.variable() || matches!(class, Some(Class::Pointer | Class::Unknown) | None)
    }

    /// Whether `item` is rows of a pointer to pointers.
    pub(super) fn is_rows(&self, index: usize, item: &ListItem) -> bool {
        self.symbol_of(index, item).is_some_and(|symbol| is_rows(item, self.symbols.get(symbol)))
    }

    /// Whether an `enter data` before directive `index`, in its function, names `symbol`.
    pub(super) fn entered(&self, index: usize, symbol: SymbolId) -> bool {
        let function = self.bound[index].function;
        let is_after = self.entered.first.get(&(function, symbol)).is_some_and(|first| *first < index);
        let known = self.symbols.get(symbol);
        let is_member = known.kind == SymbolKind::Member
            && self.entered.members.contains(&(class_of(self.unit, function), known.name.clone()));
        is_after || is_member
    }

    /// Whether a clause on a construct or around it names the whole object, or any `enter data` does: a member function may be
    /// that of a base.
    pub(super) fn may_have_object(&self, index: usize) -> bool {
        let function = self.bound[index].function.map(|function| self.unit.function(function));
        let mut around = ancestors(self.bound, index).chain([index]);
        function.is_some_and(|function| function.member_of.is_some())
            && (!self.entered.objects.is_empty() || around.any(|at| names_object(&self.bound[at])))
    }

    /// Whether a `data` construct around directive `index` assigns a variable.
    fn is_assigned_around(&self, index: usize, symbol: SymbolId) -> bool {
        ancestors(self.bound, index).filter_map(|above| self.bound[above].stmt()).any(|stmt| {
            let used = uses(self.unit, self.symbols, stmt);
            used.of(symbol).is_some_and(|used| used.written || used.address_taken)
        })
    }

    /// The attribute that a visible `deviceptr` gives a launch that uses the pointer.
    pub(super) fn device_pointers(
        &self,
        visible: &Visible,
        used: &dyn Fn(SymbolId) -> bool,
    ) -> Vec<Attribute> {
        let mut seen = Names::new();
        // A scalar that another clause has on the device, too, is taken as that one says.
        let is_address = |symbol: SymbolId| used(symbol) && !visible.scalars.contains(&symbol);
        let fresh =
            visible.deviceptr.iter().filter(|(symbol, _)| is_address(*symbol) && seen.insert(*symbol));
        fresh
            .map(|(_, name)| Attribute {
                sharing: Sharing::Deviceptr,
                item: name.clone(),
                entry: "clause/deviceptr",
            })
            .collect()
    }
}

/// The word of a clause whose items are pointers.
fn pointer_clause(clause: &ClauseKind) -> Option<&'static str> {
    match clause {
        ClauseKind::Data(DataClause::Deviceptr, _) => Some("deviceptr"),
        ClauseKind::Data(DataClause::Attach, _) => Some("attach"),
        ClauseKind::Data(DataClause::Detach, _) => Some("detach"),
        _ => None,
    }
}

impl Maker<'_> {
    /// Checks the list items of the clauses `counting`; says why if one cannot be translated.
    pub(super) fn items_ok(&mut self, index: usize, counting: &[usize]) -> bool {
        let bad: Vec<Diag> = counting
            .iter()
            .filter_map(|at| self.input.bound[index].directive.clauses.get(*at))
            .flat_map(|clause| super::clauses::list(&clause.kind).iter().map(move |item| (clause, item)))
            .filter_map(|(clause, item)| self.input.item_problem(index, &clause.kind, item))
            .collect();
        let ok = bad.is_empty();
        if bad.iter().any(|why| pages::concern(why.code) == Concern::Both) {
            self.plan.notes[index].stays = true;
        }
        self.diags.extend(bad);
        ok
    }

    /// Notes the sections of directive `index` that are not plainly one piece of memory.
    pub(super) fn note_sections(&mut self, index: usize, counting: &[usize]) {
        for clause in counting.iter().filter_map(|at| self.input.bound[index].directive.clauses.get(*at)) {
            let is_update = matches!(clause.kind, ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_));
            let is_data = is_update || matches!(clause.kind, ClauseKind::Data(..));
            for item in super::clauses::list(&clause.kind).iter().filter(|_| is_data) {
                let section = self.input.section(index, item).filter(|_| !self.input.is_rows(index, item));
                // clang 19 wants to hear how many elements an update is about.
                let is_open = |one: &&Subscript| matches!(one, Subscript::Range { second: None, .. });
                let is_open = is_update && item.subscripts().iter().any(is_open);
                let is_noted = |section: &Section| {
                    let has_row = (0..section.extents.len()).any(|at| section.is_row(at));
                    let is_apart =
                        is_update && (section.contiguity() != Contiguity::Contiguous || section.is_led_to());
                    is_apart || !self.input.unit.is_fortran() && (has_row || is_open)
                };
                if let Some(section) = section.filter(is_noted) {
                    self.plan.list_items.entry(item.span).or_default().section = Some(section);
                }
            }
        }
    }

    /// `data`, `enter data`, `exit data`, `host_data`, `update`.
    pub(super) fn data_directive(&mut self, index: usize) {
        let counting = self.counting(index);
        if !self.items_ok(index, &counting) {
            return;
        }
        if let Some(stmt) = self.input.bound[index].stmt()
            && let Some(word) = super::launch::jump_out(self.input.unit, stmt)
        {
            let is_data = self.input.bound[index].directive.kind == DirectiveKind::Data;
            let Some(jumps) = is_data.then(|| self.input.jumps(index, stmt)).flatten() else {
                self.stay(index, diag::leaves_region(self.input.bound[index].directive.span, word));
                return;
            };
            let span = self.input.bound[index].directive.span;
            self.diags.push(diag::ends_before_jumps(span, word));
            self.plan.notes[index].jumps = jumps;
            self.plan.notes[index].is_steady = self.input.is_steady(index, stmt);
        }
        if self.input.bound[index].directive.kind == DirectiveKind::ExitData {
            self.about_counters(index);
        }
        self.note_sections(index, &counting);
        self.note_turns(index, &counting);
        let pushed_down = self.input.bound[index].directive.kind == DirectiveKind::Data;
        self.plan.items[index] = Item::Clauses { pushed_down, implied: Vec::new() };
        self.about_objects(index);
    }

    /// Says which items of an `exit data` a `data` construct around it still holds: OpenACC counts the two apart.
    fn about_counters(&mut self, index: usize) {
        let held = self.input.visible(index);
        let bound = self.input.bound;
        let items = bound[index].directive.clauses.iter().flat_map(|clause| match &clause.kind {
            ClauseKind::Data(_, list) => list.as_slice(),
            _ => &[],
        });
        for item in items {
            let Some(symbol) = self.input.symbol_of(index, item) else { continue };
            let mut known = held.scalars.iter().chain(&held.arrays);
            // What the function has not entered by this name may be what the region holds by another one; and so may what a
            // pointer leads to that has been assigned since.
            let may_be_held = (!self.input.entered(index, symbol)
                || self.input.is_assigned_around(index, symbol))
                && known.clone().any(|other| self.input.may_be_same((item, symbol), *other));
            if may_be_held || known.any(|other| *other == symbol) {
                self.diags.push(diag::one_counter(item.span, item.variable()));
            }
        }
    }
}

/// The class that a function belongs to.
pub(super) fn class_of(unit: &Unit, function: Option<FunctionId>) -> Option<String> {
    function.and_then(|function| unit.function(function).member_of.clone())
}

/// Where `enter data` names variables.
pub(super) fn entered(unit: &Unit, bound: &[Bound], symbols: &Symbols) -> Entered {
    let mut entered = Entered::default();
    for (index, one) in bound.iter().enumerate() {
        if one.directive.kind == DirectiveKind::EnterData {
            if names_object(one) {
                entered.objects.insert(class_of(unit, one.function));
            }
            for symbol in named(one, symbols) {
                entered.first.entry((one.function, symbol)).or_insert(index);
                let known = symbols.get(symbol);
                if known.kind == SymbolKind::Member {
                    entered.members.insert((class_of(unit, one.function), known.name.clone()));
                }
            }
        }
    }
    entered
}

/// The variables that `declare` directives at file scope name, each with the first directive that does.
pub(super) fn declared(bound: &[Bound], symbols: &Symbols) -> Declared {
    let mut declared = Declared::new();
    for (index, one) in bound.iter().enumerate() {
        if one.directive.kind == DirectiveKind::Declare && one.function.is_none() {
            for symbol in named(one, symbols) {
                declared.entry(symbol).or_insert(index);
            }
        }
    }
    declared
}

fn named(bound: &Bound, symbols: &Symbols) -> impl Iterator<Item = SymbolId> {
    let items = bound.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
    items.filter_map(|item| symbols.lookup(item.variable(), bound.directive.span.start))
}

/// Whether `item` names a whole pointer variable: a clause that is about its target must say so in another way.
pub fn is_whole_pointer(item: &ListItem, class: Class) -> bool {
    let is_member = item.base.text == "this" && matches!(item.parts[..], [PathStep::Member(_)]);
    class == Class::Pointer && (item.parts.is_empty() || is_member)
}

/// Whether `item` is rows of a pointer to pointers: `d[0:n][0:m]` of `double **d`.
pub fn is_rows(item: &ListItem, symbol: &Symbol) -> bool {
    symbol.kind != SymbolKind::Member
        && symbol.class == Class::Pointer
        && symbol.shape == [false, false]
        && item.parts.iter().all(|part| matches!(part, PathStep::Section(one) if one.len() == 1))
        && item.parts.len() == 2
        && matches!(item.parts.last(), Some(PathStep::Section(last)) if matches!(last[..], [Subscript::Range { .. }]))
}
