//! Variables that a loop without a construct of its own has private, and whose values the code around it needs afterwards.
//!
//! Invariant: what is not reported has the same values with one variable for both.

use crate::acc::ast::ListItem;
use crate::bind::ancestors;
use crate::diag::{self, Diag};
use crate::host::ir::StmtId;
use crate::sema::{Class, SymbolId, uses};
use crate::source::Span;

use super::listed::{Code, private, used_outside};
use super::{Attribute, Input, Maker, Names, Sharing, wanted};

impl Input<'_> {
    fn code(&self) -> Code<'_> {
        let (unit, symbols, bound) = (self.unit, self.symbols, self.bound);
        Code { unit, symbols, bound, device_type: &self.settings.device_type }
    }

    /// The statement of the outermost directive around the loop of directive `at`.
    pub(super) fn outermost(&self, at: usize) -> Option<StmtId> {
        let top = std::iter::once(at).chain(ancestors(self.bound, at)).last()?;
        self.bound[top].stmt()
    }

    /// Whether a loop in `part` of the `kernels` construct `index` has the variable `name` private, and nothing else there names it.
    fn is_private_in(&self, index: usize, part: StmtId, name: &str) -> bool {
        let around = self.unit.stmt(part).span;
        self.all_loops_below(index).into_iter().any(|at| {
            let own = self.bound[at].stmt().map(|stmt| self.unit.stmt(stmt).span);
            own.filter(|own| around.contains(*own)).is_some_and(|own| {
                let mut items = private(&self.bound[at]).filter(|item| item.base.text == name);
                items.any(|item| used_outside(self.code(), item, own, around).is_none())
            })
        })
    }

    /// Whether each of the parts of the `kernels` construct `index` that use a variable has it private, and some do.
    pub(super) fn is_private_in_all(&self, index: usize, parts: &[StmtId], name: &str) -> bool {
        let uses_it = |part: &&StmtId| {
            let symbol = self.symbols.lookup(name, self.unit.stmt(**part).span.start);
            symbol.is_some_and(|symbol| uses(self.unit, self.symbols, **part).of(symbol).is_some())
        };
        let mut using = parts.iter().filter(uses_it).peekable();
        using.peek().is_some() && using.all(|part| self.is_private_in(index, *part, name))
    }

    /// What the clauses of a loop without a construct say for the code `around` it, whose variables are the loop's: one that
    /// this code reads begins with its value.
    fn own_around(&self, at: usize, around: StmtId) -> Vec<Attribute> {
        let mut own = self.own_attributes(&[at]);
        let Some(stmt) = self.bound[at].stmt() else { return own };
        let used = uses(self.unit, self.symbols, around);
        let (inner, outer) = (self.unit.stmt(stmt).span, self.unit.stmt(around).span);
        let is_read = |name: &str| {
            let mut items = private(&self.bound[at]).filter(|item| item.base.text == name);
            let symbol = items.find_map(|item| used_outside(self.code(), item, inner, outer));
            symbol.is_some_and(|symbol| {
                let is_value = matches!(self.symbols.get(symbol).class, Class::Scalar | Class::Array);
                is_value && used.of(symbol).is_some_and(|how| how.exposed)
            })
        };
        for one in own.iter_mut().filter(|one| one.sharing == Sharing::Private) {
            if is_read(&one.item) {
                (one.sharing, one.entry) = (Sharing::Firstprivate, "clause/firstprivate");
            }
        }
        own
    }
}

impl Maker<'_> {
    /// The clauses of loop `at`, which gets no construct, for the code of its outermost directive.
    pub(super) fn inner_attributes(&mut self, at: usize) -> Vec<Attribute> {
        let Some(around) = self.input.outermost(at) else { return self.input.own_attributes(&[at]) };
        self.report_inner_private(at, self.input.unit.stmt(around).span);
        self.input.own_around(at, around)
    }

    /// The private variables of loops in `part` of the `kernels` construct `index`, which one thread runs: they are the
    /// launch's, unless the code around the loop uses them, too.
    pub(super) fn private_in_part(&mut self, index: usize, part: StmtId, attributes: &mut Vec<Attribute>) {
        let around = self.input.unit.stmt(part).span;
        for at in self.input.all_loops_below(index) {
            let Some(stmt) = self.input.bound[at].stmt() else { continue };
            let own = self.input.unit.stmt(stmt).span;
            if !around.contains(own) {
                continue;
            }
            self.report_inner_private(at, around);
            let listed = self.input.own_attributes(&[at]).into_iter();
            for one in listed.filter(|one| one.sharing == Sharing::Private) {
                if self.input.is_private_in(index, part, &one.item) && !attributes.contains(&one) {
                    attributes.retain(|other| other.item != one.item);
                    attributes.push(one);
                }
            }
        }
    }

    /// Reports the `private` variables of a loop without a construct whose values outside the code `around` it still needs.
    fn report_inner_private(&mut self, at: usize, around: Span) {
        let Some(stmt) = self.input.bound[at].stmt() else { return };
        let code = self.input.code();
        let own = self.input.unit.stmt(stmt).span;
        let inside = uses(self.input.unit, self.input.symbols, stmt);
        let used: Vec<(&ListItem, SymbolId)> = private(&self.input.bound[at])
            .filter_map(|item| Some((item, used_outside(code, item, own, around)?)))
            .filter(|(_, symbol)| inside.of(*symbol).is_some_and(|used| used.written))
            .collect();
        let changed: Names = used.iter().map(|(_, symbol)| *symbol).collect();
        let live = wanted::live_after(code, at, stmt, &changed);
        let clobbered = used.into_iter().filter(|(_, symbol)| live.contains(symbol));
        let said: Vec<Diag> =
            clobbered.map(|(item, _)| diag::inner_private(item.span, &item.base.text)).collect();
        self.diags.extend(said);
    }
}
