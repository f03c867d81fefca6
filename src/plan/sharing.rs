//! What each variable is to a construct: OpenACC's rules for variables without a clause (3.3, 2.6.1 and 2.6.2), and the
//! scalar temporaries of loops, which every OpenACC compiler gives to the threads one by one.
//!
//! Invariant: a scalar that a parallel loop assigns is never left shared unless a data clause or a reduction says so.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use crate::acc::ast::{DirectiveKind, ListItem, PathStep, ReductionOp, Subscript};
use crate::bind::descendants;
use crate::diag::{self, Diag};
use crate::host::forms;
use crate::host::ir::{BaseType, Decl, ExprKind, StmtId};
use crate::sema::{self, Class, Header, Symbol, SymbolId, SymbolKind, Symbols, Use, uses, uses_beside};

use crate::source::{self, Span};

use super::clauses::LoopClauses;
use super::data::Declared;
use super::nest::{Construct, Controlled};
use super::{Attribute, Input, Item, Maker, Names, Region, Sharing, Spread, WorkLoop, wanted};

/// The page of reductions of complex numbers.
const COMPLEX: &str = "implicit/reduction-complex";

/// The names that the clauses of a construct are about, and those that are on the device without: `declare` directives before it
/// or of headers gave them a place there, so that it uses the device's copy (2.6.2). Another variable of the same name is not
/// meant.
pub(super) struct Stated<'a> {
    symbols: &'a Symbols,
    declared: Rc<Declared>,
    index: usize,
    here: u32,
    names: HashSet<String>,
}

impl Stated<'_> {
    /// Whether a name is one of them.
    pub(super) fn contains(&self, name: &str) -> bool {
        let is_declared = |symbol: SymbolId| {
            let is_before = self.declared.get(&symbol).is_some_and(|first| *first < self.index);
            (is_before || self.symbols.is_on_device(symbol)) && self.symbols.get(symbol).name == name
        };
        self.names.contains(name) || self.symbols.lookup(name, self.here).is_some_and(is_declared)
    }

    /// Those of clauses.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }
}

impl<'a> Input<'a> {
    /// The names that the clauses of a compute construct are about.
    pub(super) fn stated(&self, index: usize) -> Stated<'a> {
        let clauses = self.clauses(index);
        let data = clauses.data.iter().map(|(_, item)| item.variable().to_owned());
        let mut names: HashSet<String> = data.collect();
        let visible = self.visible(index);
        let scalars = visible.scalars.iter().map(|symbol| self.symbols.get(*symbol).name.clone());
        names.extend(scalars);
        let here = self.bound[index].directive.span.start;
        Stated { symbols: self.symbols, declared: Rc::clone(&self.declared), index, here, names }
    }

    /// Whether a variable whose type is not seen, as the parameter of a template, is assigned as a scalar is.
    pub(super) fn may_be_scalar(&self, symbol: SymbolId, how: &Use) -> bool {
        let known = self.symbols.get(symbol);
        // In Fortran, a declaration that begins with a macro is not seen.
        let is_declared = known.decl.is_none() || !self.unit.is_fortran();
        known.class == Class::Unknown
            && is_declared
            && how.written
            && (!how.part_read && !how.part_written || !self.unit.is_fortran())
    }

    /// The outer scalars that `stmt`, with the uses `used`, may change and whose value may be read after it.
    fn live_after(&self, index: usize, stmt: StmtId, used: &sema::Uses) -> Names {
        let Some(function) = self.bound[index].function else { return Names::new() };
        let body = self.unit.function(function).body;
        let changed = used.iter().filter(|(symbol, how)| {
            (how.written || how.address_taken)
                && self.symbols.get(*symbol).class != Class::Array
                && !self.is_inside(*symbol, stmt)
        });
        let changed: Names = changed.map(|(symbol, _)| symbol).collect();
        match self.escaping.get(&function) {
            Some(escaping) if !changed.is_empty() => {
                sema::live_after(self.unit, self.symbols, body, stmt, &changed, escaping)
            }
            _ => Names::new(),
        }
    }

    /// Whether `symbol` is the variable of a `for` loop in `stmt` (and of nothing else there).
    pub(super) fn is_loop_variable(&self, stmt: StmtId, symbol: SymbolId) -> bool {
        wanted::is_loop_variable(self.unit, self.symbols, stmt, symbol)
    }

    /// Whether `symbol` only counts the iterations of loops in the region `stmt`.
    pub(super) fn is_own_counter(&self, stmt: StmtId, symbol: SymbolId) -> bool {
        wanted::is_own_counter((self.unit, self.symbols, self.bound), stmt, symbol)
    }

    /// Whether `symbol` is an array or a structure in memory that the program cannot write. What is `constexpr` is not one to
    /// compilers: its values are known.
    fn is_read_only(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let is_known = || {
            known.decl.is_some_and(|decl| {
                let head = self.specifiers(self.unit.decl(decl));
                head.split_whitespace().any(|word| word == "constexpr")
            })
        };
        !self.unit.is_fortran()
            && known.is_const
            && known.kind == SymbolKind::Static
            && matches!(known.class, Class::Array | Class::Record)
            && !is_known()
    }

    /// The words before the first name of a declaration.
    pub(super) fn specifiers(&self, decl: &Decl) -> Cow<'_, str> {
        forms::specifiers(self.file, decl)
    }

    /// Whether `symbol` is declared inside `stmt`.
    pub(super) fn is_inside(&self, symbol: SymbolId, stmt: StmtId) -> bool {
        let scope = self.symbols.get(symbol).scope;
        self.unit.stmt(stmt).span.contains(scope)
    }

    /// `private`, `firstprivate` and `reduction` of the loop directives that make up one construct.
    pub(super) fn own_attributes(&self, merged: &[usize]) -> Vec<Attribute> {
        let mut attributes: Vec<Attribute> = Vec::new();
        for at in merged {
            for attribute in self.written_attributes(*at, &self.clauses(*at)) {
                if !attributes.contains(&attribute) {
                    attributes.push(attribute);
                }
            }
        }
        attributes
    }

    /// The attributes that the clauses of directive `index` state.
    fn written_attributes(&self, index: usize, clauses: &LoopClauses) -> Vec<Attribute> {
        // A section here is all of an array.
        let whole = |sharing: Sharing, item: &ListItem, entry| Attribute {
            sharing,
            item: item.base.text.clone(),
            entry,
        };
        let private = clauses.private.iter().map(|item| whole(Sharing::Private, item, "clause/private"));
        let first =
            clauses.firstprivate.iter().map(|item| whole(Sharing::Firstprivate, item, "clause/firstprivate"));
        let reduction = clauses.reduction.iter().map(|(op, item)| {
            let is_c = !self.unit.is_fortran();
            let is_complex = is_c && self.has_type(index, item, is_complex_word);
            let entry = if is_complex { COMPLEX } else { "clause/reduction" };
            // gcc 12 adds logical values as small numbers, and a `bool` becomes 2; to add them is to ask for one.
            let adds_truth = is_c && *op == ReductionOp::Add && self.has_type(index, item, is_truth_word);
            let op = if adds_truth { ReductionOp::Or } else { *op };
            let item = match item.parts.as_slice() {
                [] => item.base.text.clone(),
                _ if is_c => as_section(item),
                _ if self.is_whole_array(index, item) => item.base.text.clone(),
                _ => item.text.clone(),
            };
            Attribute { sharing: Sharing::Reduction(op), item, entry }
        });
        private.chain(first).chain(reduction).collect()
    }

    /// Whether the item's type has a word that `is_word` knows. (The grammar is not shown all of them.)
    fn has_type(&self, index: usize, item: &ListItem, is_word: fn(&str) -> bool) -> bool {
        let mut known = self.symbol_of(index, item);
        for _ in 0..16 {
            let Some(decl) = known.and_then(|symbol| self.symbols.get(symbol).decl) else { return false };
            let decl = self.unit.decl(decl);
            let words = match self.unit.is_fortran() {
                true => self.file.text(Span { start: decl.span.start, end: decl.name_span.start }),
                false => self.specifiers(decl),
            };
            if source::words(&words).any(is_word) {
                return true;
            }
            known = match &decl.base {
                BaseType::Named(name) => self.symbols.lookup(name, decl.span.start),
                _ => return false,
            };
        }
        false
    }

    /// What OpenMP has no reduction for.
    pub(super) fn reduction_problem(&self, index: usize, item: &ListItem) -> Option<Diag> {
        let class =
            self.symbol_of(index, item).map_or(Class::Unknown, |symbol| self.symbols.get(symbol).class);
        let what = match class {
            _ if item.parts.iter().any(|part| matches!(part, PathStep::Member(_))) => {
                "a reduction of a member"
            }
            Class::Record => "a reduction of a struct",
            Class::Pointer if item.parts.is_empty() => "a reduction of a pointer without a section",
            _ => return None,
        };
        Some(diag::not_yet(item.span, what))
    }

    /// A reduction names the variable on every loop between where it is combined and where it is computed (2.9.11).
    pub(super) fn reductions_through(
        &self,
        outer: &[Header],
        attributes: &mut Vec<Attribute>,
        inner: &mut [(usize, WorkLoop)],
    ) {
        let Some(body) = outer.last().map(|header| header.body) else { return };
        let inside = uses(self.unit, self.symbols, body);
        for (at, work) in inner.iter_mut() {
            for reduction in work.attributes.clone() {
                let known = attributes.iter().any(|other| other.item == reduction.item);
                let place = self.bound[*at].directive.span.start;
                let symbol = self.symbols.lookup(base_of(&reduction.item), place);
                let carried = symbol
                    .filter(|symbol| !self.is_inside(*symbol, body))
                    .and_then(|symbol| inside.of(symbol))
                    .is_some_and(|used| used.exposed);
                if matches!(reduction.sharing, Sharing::Reduction(_)) && carried && !known {
                    attributes.push(nested(&reduction));
                }
            }
            let body = uses(self.unit, self.symbols, work.stmt);
            for reduction in attributes.iter() {
                let place = self.bound[*at].directive.span.start;
                let symbol = self.symbols.lookup(base_of(&reduction.item), place);
                let updated = symbol
                    .and_then(|symbol| body.of(symbol))
                    .is_some_and(|used| used.written || used.part_written);
                let known = work.attributes.iter().any(|other| {
                    other.item == reduction.item && matches!(other.sharing, Sharing::Reduction(_))
                });
                if matches!(reduction.sharing, Sharing::Reduction(_)) && updated && !known {
                    work.attributes.retain(|other| other.item != reduction.item);
                    work.attributes.push(nested(reduction));
                }
            }
        }
    }

    /// What loops of the construct that hold the loop `stmt` reduce.
    fn reduced_around(&self, index: usize, stmt: StmtId) -> Names {
        let inside = self.unit.stmt(stmt).span;
        let is_around = |at: &usize| {
            let around = self.bound[*at].stmt().map(|stmt| self.unit.stmt(stmt).span);
            around.is_some_and(|around| around != inside && around.contains(inside))
        };
        let loops = self.all_loops_below(index).into_iter().chain([index]).filter(is_around);
        let symbols = loops.flat_map(|at| {
            let reduced = self.clauses(at).reduction.into_iter();
            reduced.filter_map(move |(_, item)| self.symbol_of(at, item)).collect::<Vec<SymbolId>>()
        });
        symbols.collect()
    }

    /// Whether `symbol` does nothing in `body` but count the iterations of Fortran's `do` loops: OpenMP gives each thread
    /// its own (4.5, 2.15.1.1).
    fn is_counter(&self, spread: Spread, body: StmtId, symbol: SymbolId, how: &Use) -> bool {
        // What a procedure may set is more than a counter.
        let counts = how.written && !how.address_taken;
        self.unit.is_fortran() && spread.lanes && counts && self.is_loop_variable(body, symbol)
    }

    /// The scalars that `atomic` statements of the construct update: they are shared on purpose.
    pub(super) fn atomic_targets(&self, index: usize) -> Vec<SymbolId> {
        let mut targets = Vec::new();
        for at in descendants(self.bound, index) {
            if self.bound[at].directive.kind == DirectiveKind::Atomic
                && let Some(stmt) = self.bound[at].stmt()
            {
                let used = uses(self.unit, self.symbols, stmt);
                targets.extend(
                    used.iter().filter(|(_, how)| how.written && how.exposed).map(|(symbol, _)| symbol),
                );
            }
        }
        targets
    }

    /// Reductions of a spread loop are copied back at the launch, and combined over its gangs.
    pub(super) fn copy_reductions(
        &self,
        index: usize,
        stmt: StmtId,
        spread: Spread,
        attributes: &[Attribute],
        launch: &mut Vec<Attribute>,
    ) {
        for reduction in
            attributes.iter().filter(|attribute| matches!(attribute.sharing, Sharing::Reduction(_)))
        {
            let region_stmt = self.bound[index].stmt().unwrap_or(stmt);
            if !spread.gangs && self.private_above(reduction, launch, stmt, region_stmt) {
                continue;
            }
            self.copy_reduction(index, region_stmt, stmt, reduction, launch);
        }
    }

    /// What a loop of a region reduces over the gangs is a reduction of the region: each gang adds up its own, and
    /// they are combined where the gangs end.
    pub(super) fn combine_gangs(
        &self,
        index: usize,
        at: usize,
        own: &[Attribute],
        launch: &mut Vec<Attribute>,
    ) {
        let Some(region) = self.bound[index].stmt() else { return };
        let place = self.bound[at].directive.span.start;
        for reduction in own.iter().filter(|one| matches!(one.sharing, Sharing::Reduction(_))) {
            let symbol = self.symbols.lookup(base_of(&reduction.item), place);
            let inside = symbol.is_some_and(|symbol| self.is_inside(symbol, region));
            let known = launch.iter().any(|other| {
                other.item == reduction.item && !matches!(other.sharing, Sharing::Copy | Sharing::Deviceptr)
            });
            if !inside && !known {
                launch.push(nested(reduction));
            }
        }
    }

    /// Whether the reduction's variable belongs to a loop or block inside the construct, around the loop `stmt`.
    fn private_above(
        &self,
        reduction: &Attribute,
        launch: &[Attribute],
        stmt: StmtId,
        region: StmtId,
    ) -> bool {
        let at = self.unit.stmt(stmt).span.start;
        let Some(symbol) = self.symbols.lookup(base_of(&reduction.item), at) else { return false };
        let used = uses(self.unit, self.symbols, region);
        let listed = launch.iter().any(|other| other.item == reduction.item && other.sharing.is_private());
        listed || used.of(symbol).is_some_and(|used| !used.exposed)
    }

    /// A reduction variable that no data clause names is copied to the device and back. `place` is the loop that reduces.
    pub(super) fn copy_reduction(
        &self,
        index: usize,
        stmt: StmtId,
        place: StmtId,
        reduction: &Attribute,
        attributes: &mut Vec<Attribute>,
    ) {
        let at = self.unit.stmt(place).span.start.max(self.bound[index].directive.span.start);
        let base = base_of(&reduction.item);
        // A name whose declaration we cannot see stands outside: were it copied in vain, the compiler would say so.
        let inside = self.symbols.lookup(base, at).is_some_and(|symbol| self.is_inside(symbol, stmt));
        let named = |item: &ListItem| item.base.text == base;
        let own = self.clauses(index).data.iter().any(|(_, item)| named(item));
        let known =
            attributes.iter().any(|other| other.item == reduction.item && other.sharing == Sharing::Copy);
        if !inside && !own && !known {
            attributes.push(implied(Sharing::Copy, &reduction.item, "implicit/reduction-copy"));
        }
    }

    /// Whether the variable of `item`, private to the loop of directive `index`, is named elsewhere in its function.
    pub(super) fn is_wanted_outside(&self, index: usize, item: &ListItem) -> bool {
        let (Some(stmt), Some(function)) = (self.bound[index].stmt(), self.bound[index].function) else {
            return false;
        };
        let inside = self.unit.stmt(stmt).span;
        let whole = self.unit.function(function).span;
        let symbol = self.symbol_of(index, item);
        self.unit.exprs_in(whole).any(|expr| {
            matches!(&expr.kind, ExprKind::Name(name) if *name == item.base.text)
                && !inside.contains(expr.span)
                && self.symbols.lookup(&item.base.text, expr.span.start) == symbol
        })
    }

    /// Adds what the nest of a combined construct asks of the launch.
    pub(super) fn absorb(&self, mut nest: WorkLoop, launch: &mut Vec<Attribute>) -> WorkLoop {
        launch.retain(|attribute| {
            !nest.attributes.iter().any(|own| own.item == attribute.item && own == attribute)
        });
        // What the construct says of a variable wins over what the loop was found to need.
        let says =
            |item: &str| launch.iter().any(|other| other.item == item && other.sharing != Sharing::Copy);
        nest.attributes.retain(|own| own.entry != "implicit/scalar-temporary" || !says(&own.item));
        nest
    }
}

impl Maker<'_> {
    /// The attributes of variables at the compute construct itself.
    pub(super) fn sharing(
        &mut self,
        index: usize,
        stmt: StmtId,
        counting: &[usize],
        region: Region,
    ) -> Vec<Attribute> {
        let directive = &self.input.bound[index].directive;
        let clauses = LoopClauses::new(directive, counting);
        self.plan.notes[index].waits_first |= self.input.waits_for_scalars(index, stmt);
        let mut attributes = Vec::new();
        // On a combined construct these three belong to the loop.
        if directive.kind != DirectiveKind::ParallelLoop && directive.kind != DirectiveKind::KernelsLoop {
            attributes = self.input.written_attributes(index, &clauses);
            for attribute in attributes.clone() {
                if matches!(attribute.sharing, Sharing::Reduction(_)) {
                    self.input.copy_reduction(index, stmt, stmt, &attribute, &mut attributes);
                }
            }
        } else {
            let firstprivate = self.input.written_attributes(index, &clauses).into_iter();
            attributes.extend(firstprivate.filter(|attribute| attribute.sharing == Sharing::Firstprivate));
        }
        let used = uses(self.input.unit, self.input.symbols, stmt);
        let visible = self.input.visible(index);
        let own: Vec<&str> = clauses.data.iter().map(|(_, item)| item.variable()).collect();
        let listed: Vec<&str> =
            clauses.private.iter().chain(&clauses.firstprivate).map(|item| item.base.text.as_str()).collect();
        for symbol in &visible.scalars {
            let name = &self.input.symbols.get(*symbol).name;
            if used.of(*symbol).is_some() && !own.contains(&name.as_str()) && !listed.contains(&name.as_str())
            {
                let known =
                    attributes.iter().any(|other| other.item == *name && other.sharing == Sharing::Copy);
                if !known {
                    attributes.push(implied(Sharing::Copy, name, "implicit/scalar-visible"));
                }
            }
        }
        let is_used = |symbol: SymbolId| {
            used.of(symbol).is_some() && !own.contains(&self.input.symbols.get(symbol).name.as_str())
        };
        attributes.extend(self.input.device_pointers(&visible, &is_used));
        let stated = self.input.stated(index);
        let constants = used.iter().filter(|(symbol, _)| {
            let known = self.input.symbols.get(*symbol);
            is_used(*symbol)
                && !visible.arrays.contains(symbol)
                && !stated.contains(&known.name)
                && !self.input.is_inside(*symbol, stmt)
                && self.input.is_read_only(*symbol)
        });
        let names = constants.map(|(symbol, _)| &self.input.symbols.get(symbol).name);
        attributes.extend(names.map(|name| implied(Sharing::Copy, name, "implicit/constant")));
        attributes.extend(self.input.lenders(stmt, &used, &stated, &visible));
        if region == Region::Kernels {
            self.kernels_scalars(index, stmt, &own, &listed, &mut attributes);
        }
        let loops = self.input.with_loops_below(index);
        let reduced = loops.flat_map(|at| self.input.clauses(at).reduction);
        let sections = reduced.filter(|(_, item)| !item.parts.is_empty()).map(|(_, item)| &*item.base.text);
        let arrays = self.plan.own_sections.iter().filter(|one| one.directive == index);
        let arrays: Vec<String> = arrays.map(|one| one.name.clone()).collect();
        let arrays = arrays.iter().map(String::as_str);
        let copied: Vec<&str> = own.iter().copied().chain(sections).chain(arrays).collect();
        self.report_pointers(index, stmt, &used, &copied, &visible);
        attributes
    }

    /// `kernels` copies its scalars (2.6.2): the value it leaves in one that is still wanted must come back.
    fn kernels_scalars(
        &mut self,
        index: usize,
        stmt: StmtId,
        own: &[&str],
        listed: &[&str],
        attributes: &mut Vec<Attribute>,
    ) {
        let used = uses(self.input.unit, self.input.symbols, stmt);
        let live = self.input.live_after(index, stmt, &used);
        for (symbol, how) in used.iter() {
            let known = self.input.symbols.get(symbol);
            let name = known.name.as_str();
            let is_wanted = (how.written || how.address_taken)
                && live.contains(&symbol)
                && !self.input.is_own_counter(stmt, symbol);
            // What a pointer of Fortran leads to may be part of an array that the construct maps after it: compilers map it by
            // themselves, more or less.
            if self.input.is_reached(index, symbol)
                && known.fortran.pointer
                && !own.contains(&name)
                && !listed.contains(&name)
                && let Some(first) = how.first
            {
                self.diags.push(diag::pointer_to_changed(first, name));
            }
            let is_reached = self.input.is_reached(index, symbol) && !known.fortran.pointer;
            // A pointer is a scalar in C (OpenACC 3.3, glossary).
            let is_moved = known.class == Class::Pointer
                && !self.input.unit.is_fortran()
                && !(how.part_read || how.part_written);
            // Of `auto &x = y`, the class is not known.
            let is_scalar = known.class == Class::Scalar
                || is_moved
                || is_reached && known.is_reference && known.class == Class::Unknown
                || self.input.may_be_scalar(symbol, how);
            if (is_wanted || is_reached)
                && is_scalar
                && known.kind != SymbolKind::Member
                && !self.input.is_inside(symbol, stmt)
                && !own.contains(&name)
                && !listed.contains(&name)
                && !attributes.iter().any(|other| other.item == name)
            {
                attributes.push(implied(Sharing::Copy, name, "implicit/scalar-kernels"));
            }
        }
    }

    /// Says which pointers must be on the device already.
    fn report_pointers(
        &mut self,
        index: usize,
        stmt: StmtId,
        used: &sema::Uses,
        own: &[&str],
        visible: &super::data::Visible,
    ) {
        for (symbol, how) in used.iter() {
            let known = self.input.symbols.get(symbol);
            let bare = !own.contains(&known.name.as_str())
                && !visible.arrays.contains(&symbol)
                && !visible.deviceptr.iter().any(|(pointer, _)| *pointer == symbol);
            let is_target_used = known.class == Class::Pointer
                && (how.part_read || how.part_written)
                && !how.written
                && !self.input.is_inside(symbol, stmt)
                && bare;
            if is_target_used
                && !self.input.entered(index, symbol)
                && !self.is_for_host(index, stmt, symbol)
                && let Some(first) = how.first
            {
                self.diags.push(diag::pointer_must_be_present(first, &known.name));
            } else if is_target_used && self.input.is_entered_apart(index, symbol) {
                self.plan.notes[index].unnamed.insert(known.name.clone());
            }
        }
    }

    /// The `private` variables of a loop that gets no construct become private to the construct of the statement `around` it,
    /// if they are not declared there.
    pub(super) fn hoist_private(&mut self, at: usize, around: StmtId, attributes: &mut Vec<Attribute>) {
        for attribute in self.inner_attributes(at) {
            if attribute.sharing.is_private()
                && !self.input.is_declared_around(at, around, &attribute.item)
                && !attributes.iter().any(|other| other.item == attribute.item)
            {
                attributes.push(attribute);
            }
        }
    }

    /// Scalars that the body of a spread loop assigns, which is a statement with these headers; except those that are `kept`
    /// as the gang has them.
    pub(super) fn temporaries(
        &mut self,
        construct: Construct,
        spread: Spread,
        (stmt, headers, kept): (StmtId, &[Header], &[SymbolId]),
        controlled: &Controlled,
        attributes: &mut Vec<Attribute>,
        launch: &[Attribute],
    ) {
        let Construct { index, region, is_launch } = construct;
        let stated = self.input.stated(index);
        let Some(body) = headers.last().map(|header| header.body) else { return };
        let used = uses_beside(self.input.unit, self.input.symbols, body, controlled);
        let atomic = self.input.atomic_targets(index);
        let live = match region {
            Region::Kernels => self.input.live_after(index, stmt, &used),
            Region::Parallel | Region::Serial => Names::new(),
        };
        // These pass through the loop (2.9.11).
        let reduced = self.input.reduced_around(index, stmt);
        let is_shared = |symbol: SymbolId, known: &Symbol, how: &Use| {
            let is_listed = attributes.iter().any(|other| other.item == known.name);
            // What a gang has of its own, the threads of a loop inside of it would share.
            let is_first = is_launch
                && launch
                    .iter()
                    .any(|other| other.item == known.name && other.sharing == Sharing::Firstprivate);
            is_listed
                || kept.contains(&symbol)
                || is_first
                || stated.contains(&known.name)
                || atomic.contains(&symbol)
                || reduced.contains(&symbol)
                || self.input.is_counter(spread, body, symbol, how)
        };
        let code = (self.input.unit, self.input.symbols);
        for own in super::own::own_scalars(code, (stmt, headers), &used, &live, &is_shared) {
            let known = self.input.symbols.get(own.symbol);
            let name = known.name.clone();
            let at = own.at.unwrap_or(self.input.bound[index].directive.span);
            if own.is_carried {
                self.diags.push(diag::read_before_write(at, &name));
            }
            if own.is_lost {
                self.diags.push(diag::last_value_lost(at, &name));
            }
            if known.class == Class::Unknown || self.input.symbols.may_be_foreign(own.symbol) {
                self.diags.push(diag::type_not_seen(at, &name));
            }
            attributes.push(implied(own.sharing, &name, "implicit/scalar-temporary"));
        }
    }

    /// Scalars that gangs assign outside of spread loops: each gang has its own (2.6.2).
    pub(super) fn gang_private(&mut self, index: usize, stmt: StmtId, attributes: &mut Vec<Attribute>) {
        let stated = self.input.stated(index);
        let used = uses(self.input.unit, self.input.symbols, stmt);
        let atomic = self.input.atomic_targets(index);
        let counters = self.gang_counters(index, stmt);
        for (symbol, how) in used.iter() {
            let known = self.input.symbols.get(symbol);
            if (how.written || how.address_taken)
                && is_thread_scalar(known, how)
                && !self.input.is_inside(symbol, stmt)
                && !stated.contains(&known.name)
                && !atomic.contains(&symbol)
                && (counters.contains(&symbol) || !self.input.is_loop_variable(stmt, symbol))
                && !attributes.iter().any(|other| other.item == known.name)
            {
                if known.class == Class::Unknown || self.input.symbols.may_be_foreign(symbol) {
                    let at = how.first.unwrap_or(self.input.bound[index].directive.span);
                    self.diags.push(diag::type_not_seen(at, &known.name));
                }
                attributes.push(implied(Sharing::Firstprivate, &known.name, "implicit/scalar-parallel"));
            }
        }
    }

    /// The variables of the loops in `stmt` that each gang runs from end to end.
    fn gang_counters(&self, index: usize, stmt: StmtId) -> Vec<SymbolId> {
        let is_spread = |at: &usize| matches!(self.plan.items[*at], Item::Loop(_));
        let below = descendants(self.input.bound, index).filter(is_spread);
        let spread: Vec<StmtId> = below.filter_map(|at| self.input.bound[at].stmt()).collect();
        let mut counters = Vec::new();
        let mut pending = vec![stmt];
        while let Some(at) = pending.pop() {
            if spread.contains(&at) {
                continue;
            }
            counters.extend(sema::header(self.input.unit, self.input.symbols, at).map(|header| header.var));
            pending.extend(sema::children(self.input.unit, at));
        }
        counters
    }
}

fn is_complex_word(word: &str) -> bool {
    matches!(word, "_Complex" | "complex" | "__complex__")
}

fn is_truth_word(word: &str) -> bool {
    matches!(word, "_Bool" | "bool")
}

/// A variable that OpenACC treats as one value: threads can have their own. A member is a part of its object.
pub(super) fn is_thread_scalar(symbol: &Symbol, used: &Use) -> bool {
    if symbol.kind == SymbolKind::Member {
        return false;
    }
    match symbol.class {
        Class::Scalar | Class::Pointer => true,
        // What C assigns as a whole is not an array, whoever gets its value.
        Class::Unknown => {
            let has_parts = used.part_read || used.part_written;
            !has_parts || used.written && symbol.decl.is_some()
        }
        Class::Array | Class::Record => false,
    }
}

fn implied(sharing: Sharing, name: &str, entry: &'static str) -> Attribute {
    Attribute { sharing, item: name.to_owned(), entry }
}

/// The same reduction on a loop around or inside the one that names it.
pub(super) fn nested(reduction: &Attribute) -> Attribute {
    let entry = match reduction.entry {
        COMPLEX => COMPLEX,
        _ => "implicit/reduction-nested",
    };
    Attribute { entry, ..reduction.clone() }
}

/// The variable that a list item begins with.
pub(super) fn base_of(item: &str) -> &str {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    item.split(|c| !is_inner(c)).next().unwrap_or(item)
}

/// A list item as a section: one element `[e]` is the section `[e:1]`.
fn as_section(item: &ListItem) -> String {
    let mut text = item.text.clone();
    for part in item.parts.iter().rev() {
        if let PathStep::Section(subscripts) = part
            && let [Subscript::Index(element)] = subscripts.as_slice()
        {
            let end = (element.span.end - item.span.start) as usize;
            if text.is_char_boundary(end) {
                text.insert_str(end, ":1");
            }
        }
    }
    text
}
