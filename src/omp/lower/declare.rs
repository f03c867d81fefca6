//! `declare`: variables that are on the device for as long as they live.
//!
//! Invariant: what a function brings goes at each of its exits.

use super::{Lowering, directive_of, lines_before, part_at, refused_by, without};
use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::{Scope, ScopeKind, StmtId};
use crate::omp::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use crate::omp::lowered::{Lowered, SourceChange};
use crate::omp::{commons, look, memory};
use crate::plan::Exit;
use crate::sema::SymbolKind;
use crate::{diag, plan, sema};

impl Lowering<'_> {
    /// `declare`: globals of the device, or data for the rest of a function.
    pub(super) fn declare(&mut self, index: usize, exits: &[Exit], entry: Option<(StmtId, u32)>) -> Lowered {
        let mut query = self.query(index, "declare");
        let is_global =
            self.bound[index].function.is_none() || commons::is_global(self.unit, self.bound, index);
        query.scope = if is_global { "program" } else { "function" };
        let gathered = self.gather(index, &query, &|_| false);
        let mut rows = gathered.rows;
        rows.extend(look::row("directive/declare", &query).map(|row| &row.id));
        self.diags.extend(gathered.diags);
        if gathered.refused {
            return refused_by(rows);
        }
        let (mut globals, mut links) = gathered.globals;
        let deep = self.deep(index);
        globals.retain(|name| !deep.contains(name));
        // A common block stands for each of its variables.
        globals.dedup();
        links.dedup();
        let lists = [("declare target", globals), ("declare target link", links)];
        let mut directives: Vec<Directive> = lists
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(words, names)| Directive {
                argument: Some(names.join(", ")),
                ..Directive::new(&[Leaf::Named(words)])
            })
            .collect();
        let (mut enter, mut exit) = gathered.region;
        without(&mut enter, &deep);
        without(&mut exit, &deep);
        // The memory of what is allocated here comes where it is allocated.
        let allocated = self.allocated_here(index, &enter);
        without(&mut enter, &allocated);
        without(&mut exit, &allocated);
        directives.extend(directive_of("target enter data", enter));
        let (first, last) = gathered.around;
        let mut parts = match directives.as_slice() {
            [] if first.is_empty() => vec![SourceChange::Gone],
            [] => vec![SourceChange::Statements(first)],
            [only] => lines_before(first).chain([SourceChange::Directive(only.clone())]).collect(),
            [one, two, ..] => {
                lines_before(first).chain([SourceChange::Pair(one.clone(), two.clone())]).collect()
            }
        };
        let exit = directive_of("target exit data", exit).map(|exit| exit.line(self.target.speech));
        let lines: Vec<String> =
            exit.into_iter().chain(last).chain(self.freed_at_exit(index, &allocated)).collect();
        if let Some(entry) = entry.filter(|_| self.target.speech == BaseLanguage::Fortran) {
            match is_global {
                true => parts.extend(self.brought_at_entry(index, entry)),
                false => parts = self.at_entry(index, parts, entry),
            }
        }
        if !lines.is_empty() {
            parts.extend(exits.iter().map(|exit| part_at(*exit, &lines)));
        }
        Lowered { parts, rows, left: false }
    }

    /// The variables of a `declare` whose types have allocatable components: the components go to the device by clauses of
    /// their own.
    pub(super) fn deep(&mut self, index: usize) -> Vec<String> {
        let directive = &self.bound[index].directive;
        let lists = directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Data(_, list) => Some(list),
            _ => None,
        });
        let is_deep = |item: &&ListItem| {
            let symbol = self.symbols.lookup(&item.base.text, item.span.start);
            let record = symbol.and_then(|symbol| sema::record_of(self.unit, self.symbols, symbol));
            item.parts.is_empty() && record.is_some_and(|record| self.symbols.is_deep(&record))
        };
        let found: Vec<&ListItem> =
            lists.flatten().filter(|_| self.target.speech == BaseLanguage::Fortran).filter(is_deep).collect();
        self.diags.extend(found.iter().map(|item| diag::variable_not_mapped(item.span, &item.text)));
        found.into_iter().map(|item| item.text.clone()).collect()
    }

    /// The items of clauses that are allocatable or pointer variables of the procedure itself.
    pub(super) fn allocated_here(&self, index: usize, clauses: &[Clause]) -> Vec<String> {
        let place = self.bound[index].directive.span.start;
        let items = clauses.iter().flat_map(|clause| match &clause.body {
            Body::List(items) => items.as_slice(),
            Body::Text(_) | Body::None => &[],
        });
        let is_here = |name: &&String| {
            let known = self.symbols.lookup(name, place).map(|symbol| self.symbols.get(symbol));
            known.is_some_and(plan::is_allocated_here)
        };
        items.filter(|_| self.target.speech == BaseLanguage::Fortran).filter(is_here).cloned().collect()
    }

    /// What takes the memory back of variables that are freed where their procedure returns.
    pub(super) fn freed_at_exit(&self, index: usize, names: &[String]) -> Vec<String> {
        let bound = &self.bound[index];
        let is_program = |scope: &Scope| scope.function == bound.function && scope.kind == ScopeKind::Program;
        if self.unit.scopes.iter().any(is_program) {
            return Vec::new();
        }
        let is_freed = |name: &&String| {
            let symbol = self.symbols.lookup(name, bound.directive.span.start);
            symbol.map(|symbol| self.symbols.get(symbol)).is_some_and(|known| {
                known.fortran.allocatable && !known.fortran.save && known.kind == SymbolKind::Local
            })
        };
        let freed = names
            .iter()
            .filter(is_freed)
            .map(|name| [format!("if (allocated({name})) then"), memory::freed(name), "end if".to_owned()]);
        freed.flatten().collect()
    }

    /// What stands for a `declare` in a Fortran procedure goes to its first statement, or to the directive before it.
    pub(super) fn at_entry(
        &mut self,
        index: usize,
        parts: Vec<SourceChange>,
        entry: (StmtId, u32),
    ) -> Vec<SourceChange> {
        let speech = self.target.speech;
        let mut lines = Vec::new();
        for part in parts {
            match part {
                SourceChange::LinesBefore(more) | SourceChange::Statements(more) => lines.extend(more),
                SourceChange::Directive(only) => lines.push(only.line(speech)),
                SourceChange::Pair(one, two) => lines.extend([one.line(speech), two.line(speech)]),
                _ => {}
            }
        }
        let function = self.bound[index].function;
        let is_first = |one: &Bound| {
            one.function == function
                && one.directive.span.start < entry.1
                && !matches!(one.directive.kind, DirectiveKind::Declare | DirectiveKind::Routine)
        };
        let mut parts = vec![SourceChange::Gone];
        if !lines.is_empty() {
            parts.push(match self.bound.iter().find(|one| is_first(one)) {
                Some(first) => SourceChange::BeforeDirective(first.directive.span, lines),
                None => SourceChange::Before(entry.0, lines),
            });
        }
        parts
    }

    /// The values of common blocks that a main program declares with `copyin`, where it begins.
    pub(super) fn brought_at_entry(&mut self, index: usize, entry: (StmtId, u32)) -> Vec<SourceChange> {
        let names = commons::brought(self.unit, self.bound, index);
        if names.is_empty() {
            return Vec::new();
        }
        let mut update = Directive::new(&[Leaf::Named("target update")]);
        update.add(Clause::list("to", None, &names.join(", ")));
        let parts = self.at_entry(index, vec![SourceChange::Directive(update)], entry);
        parts.into_iter().filter(|part| !matches!(part, SourceChange::Gone)).collect()
    }
}
