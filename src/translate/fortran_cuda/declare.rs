//! `declare`: variables of modules have their place on the device from their first use there, those of procedures while these
//! run (OpenACC 3.3, 2.13).
//!
//! Invariant: whatever names a variable of a module finds it on the device.

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::cxx::{self, Why};
use crate::omp::SourceChange;
use crate::plan::{self, Item};
use crate::sema::Texts;
use crate::source::Span;
use crate::{diag, layout};

use super::super::allocations;
use super::super::specification::after_head;
use super::super::views::Gathered;
use super::{Changes, FortranCuda, View, begin, counting, ended_at, is_passed, structured};

impl FortranCuda {
    /// What `declare` becomes: nothing for variables of modules, a region for those of a procedure.
    pub(super) fn declare(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let bound = view.ground.bound;
        let span = bound[at].directive.span;
        let file = view.ground.files.own.file;
        if !layout::stands_alone(file, span) {
            return Err(Why { at: span, what: "a directive among other code on one line".to_owned() });
        }
        if bound[at].function.is_some() {
            return self.of_procedure(view, at);
        }
        for (clause, item) in listed(view, at) {
            let refused = || Why { at: item.span, what: format!("`{}` in `declare` of Fortran", item.text) };
            let symbol = view.ground.symbols.lookup(item.variable(), item.span.start).ok_or_else(refused)?;
            let is_array = !view.ground.symbols.get(symbol).shape.is_empty();
            let is_known = match clause {
                DataClause::Create { zero: false }
                | DataClause::Copyin { .. }
                | DataClause::DeviceResident => view.ground.declared(symbol).is_some(),
                DataClause::Link => is_array,
                _ => false,
            };
            if !is_known
                || !item.parts.is_empty()
                || item.common
                || !is_passed(view, view.ground.symbols.get(symbol))
            {
                return Err(refused());
            }
        }
        let copied = listed(view, at);
        let is_copied = |clause: &DataClause| matches!(clause, DataClause::Copyin { .. });
        for (_, item) in copied.iter().filter(|(clause, _)| is_copied(clause)) {
            self.said.push(diag::value_of_first_use(item.span, &item.text));
        }
        Ok(vec![(at, vec![layout::removed(file, span)])])
    }

    /// The `declare` directives of a procedure, all with the first of them.
    fn of_procedure(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let bound = view.ground.bound;
        let function = bound[at].function;
        let span = bound[at].directive.span;
        let refused = |what: &str| Why { at: span, what: what.to_owned() };
        let file = view.ground.files.own.file;
        let is_one = |other: &usize| {
            bound[*other].function == function && bound[*other].directive.kind == DirectiveKind::Declare
        };
        let all: Vec<usize> = (0..bound.len()).filter(is_one).collect();
        let Item::Declare { exits, entry: Some((first, start)) } = &view.ground.plan.items[at] else {
            return Err(refused("this `declare` of a procedure"));
        };
        let mut lines = vec![begin(file, span, None)];
        for one in &all {
            for (clause, item) in listed(view, *one) {
                let passed = self.item(view, item)?;
                let what = || Why { at: item.span, what: format!("`{}` in `declare` of Fortran", item.text) };
                let symbol = view.ground.symbols.lookup(item.variable(), item.span.start).ok_or_else(what)?;
                let known = view.ground.symbols.get(symbol);
                let is_allocated = plan::is_allocated_here(known)
                    || allocations::changes(view.ground.files.own.unit, view.ground.symbols, symbol);
                if is_allocated || view.ground.declared(symbol).is_some() {
                    return Err(what());
                }
                let clause = match clause {
                    DataClause::DeviceResident => DataClause::Create { zero: false },
                    clause => clause,
                };
                if clause != DataClause::Deviceptr {
                    lines.push(structured(clause, &item.text, &passed).ok_or_else(what)?);
                }
            }
        }
        self.need(view, file, span.start, false)?;
        let is_first = |one: &&Bound| {
            one.function == function
                && one.directive.span.start < *start
                && !matches!(one.directive.kind, DirectiveKind::Declare | DirectiveKind::Routine)
        };
        let entry = match bound.iter().find(is_first) {
            Some(first) => SourceChange::BeforeDirective(first.directive.span, lines),
            None => SourceChange::Before(*first, lines),
        };
        let edits = ended_at(view, at, vec![SourceChange::Gone, entry], exits)?;
        let mut changes: Changes = vec![(at, edits)];
        let others = all.into_iter().filter(|other| *other != at);
        changes.extend(others.map(|other| (other, vec![layout::removed(file, bound[other].directive.span)])));
        Ok(changes)
    }

    /// The calls that see to it that variables of modules are on the device.
    pub(super) fn places(&self, view: &View, all: &[cxx::Declared], at: Span) -> Result<Vec<String>, Why> {
        let mut lines = Vec::new();
        for cxx::Declared { clause, name, is_allocated, record } in all {
            let refused = || Why { at, what: format!("`{name}`, a variable of `declare`,") };
            let word = match clause {
                DataClause::Copyin { .. } => "copyin",
                DataClause::Create { zero: false } | DataClause::DeviceResident => "create",
                _ => return Err(refused()),
            };
            if record.as_deref().is_some_and(|tag| cxx::has_procedures(view.ground.files, tag)) {
                return Err(refused());
            }
            // Others have it where they are allocated.
            if !is_allocated {
                lines.push(format!("call acc2omp_declare_{word}(\"{name}\", {name})"));
            }
        }
        Ok(lines)
    }

    /// The same for the items of clauses.
    pub(super) fn places_of<'i>(
        &self,
        view: &View,
        items: impl Iterator<Item = &'i ListItem>,
    ) -> Result<Vec<String>, Why> {
        let mut lines = Vec::new();
        for item in items {
            let Some(symbol) = view.ground.symbols.lookup(item.variable(), item.span.start) else { continue };
            let Some(clause) = view.ground.declared(symbol) else { continue };
            let known = view.ground.symbols.get(symbol);
            let is_allocated = known.fortran.allocatable || known.fortran.pointer;
            let (name, record) = (item.variable().to_owned(), known.record.clone());
            let one = cxx::Declared { clause, name, is_allocated, record };
            for line in self.places(view, &[one], item.span)? {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        Ok(lines)
    }

    /// The lines that bring allocatable variables to the device where they are allocated, and take them back.
    pub(super) fn allocations(&mut self, view: &View, all: &mut Gathered) {
        let ground = &view.ground;
        let Texts { file, unit } = ground.files.own;
        if ground.declared.is_empty() {
            return;
        }
        let calls = |word: &str, names: &[String]| {
            let call = |name: &String| format!("call acc2omp_{word}(\"{name}\", {name})");
            names.iter().map(call).collect::<Vec<String>>()
        };
        let lines = |names: &[String], frees: bool, copies: bool| match (frees, copies) {
            (true, _) => calls("exit_delete_finalize", names),
            (false, true) => calls("enter_copyin", names),
            (false, false) => calls("enter_create", names),
        };
        let (edits, said) = allocations::edits(
            (file, unit),
            ground.symbols,
            &view.conditions,
            (&all.declares, ground.declared),
            &lines,
        );
        for edit in &edits {
            if let Err(why) = self.need(view, file, edit.span.start, false) {
                all.diags.push(diag::not_yet_cuda(why.at, &why.what));
                return;
            }
        }
        all.diags.extend(said);
        for edit in edits {
            match self.place_of_use(view, edit.span.start) {
                // The line stands after the `use` statements that come there, too.
                Some(place) => {
                    let lines = String::from_utf8_lossy(&edit.text);
                    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
                    lines.for_each(|line| self.specifications.add(place, line.to_owned(), edit.span.start));
                }
                // Another view has it, too.
                None if !self.placed.insert((edit.span.start, edit.text.clone())) => {}
                None => self.later.push(edit),
            }
        }
    }

    /// The place for `use` statements, if the first code after it stands at this offset.
    fn place_of_use(&self, view: &View, offset: u32) -> Option<u32> {
        let Texts { file, unit } = view.ground.files.own;
        let place = after_head(file, layout::innermost(unit, offset)?);
        let between = Span { start: place.min(offset), end: offset };
        (place <= offset && file.text(between).trim().is_empty()).then_some(place)
    }
}

/// The items of a directive's data clauses, with their clauses.
pub(super) fn listed<'a>(view: &'a View, at: usize) -> Vec<(DataClause, &'a ListItem)> {
    let directive = &view.ground.bound[at].directive;
    let mut all = Vec::new();
    for clause in counting(directive, view.options) {
        if let ClauseKind::Data(clause, list) = clause {
            all.extend(list.iter().map(|item| (*clause, item)));
        }
    }
    all
}
