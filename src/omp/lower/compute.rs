//! Compute constructs: the launches that they become, the loops in them, and what stands around these.
//!
//! Invariant: what a launch needs and OpenMP cannot say on it stands before it, or the construct stays.

use super::{
    Around, DECIDED, Lowering, directive_of, lines_after, lines_before, of_nest, refused_by, with_tiles,
};
use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::diag;
use crate::host::ir::{FunctionId, StmtId};
use crate::omp::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use crate::omp::gathered::Gathered;
use crate::omp::lowered::{Lowered, SourceChange, left};
use crate::omp::{array, ends, flang, launch, look, object, queue, structs, teams};
use crate::plan::{ArrayStatement, ByHost, Condition, Divided, Launch, Single, WorkLoop};
use crate::rules::{Action, RowId, Strategy};

impl Lowering<'_> {
    /// A loop that one of several gangs runs: only the first team gets to it.
    pub(super) fn by_one_gang(&mut self, index: usize) -> Lowered {
        let bound = self.bound;
        let one = &bound[index];
        let Some(stmt) = one.stmt().filter(|_| !one.unbraced) else {
            self.diags
                .push(diag::standalone_as_body(one.directive.span, crate::acc::name(one.directive.kind)));
            return left();
        };
        // Without OpenMP there is one gang, and no library to ask.
        let parts = match self.target.speech {
            BaseLanguage::C => vec![SourceChange::Statements(vec!["if (acc2omp_gang() == 0)".to_owned()])],
            BaseLanguage::Fortran => vec![
                SourceChange::Statements(vec!["!$ if (omp_get_team_num() == 0) then".to_owned()]),
                SourceChange::After(stmt, vec!["!$ end if".to_owned()]),
                SourceChange::Used(stmt, "!$ use omp_lib, only: omp_get_team_num".to_owned()),
            ],
        };
        Lowered { parts, rows: self.level_rows(index), left: false }
    }

    /// A loop whose iterations the teams divide without a construct: each skips those of others.
    pub(super) fn divided(&mut self, index: usize, divided: &Divided) -> Lowered {
        let name = &divided.variable;
        let mut parts = vec![SourceChange::Gone];
        match self.target.speech {
            BaseLanguage::C => {
                let number = match &divided.begin {
                    Some(begin) => format!("({name} - {begin})"),
                    None => name.clone(),
                };
                let own = format!("if ((unsigned){number} % acc2omp_gangs() == acc2omp_gang())");
                parts.push(match divided.directive {
                    Some(span) => SourceChange::BeforeDirective(span, vec![own]),
                    None => SourceChange::Inline(divided.body, own),
                });
            }
            BaseLanguage::Fortran => {
                let modulo = match divided.is_default {
                    true => format!("modulo({name}, omp_get_num_teams())"),
                    false => format!("modulo(int({name}, 8), int(omp_get_num_teams(), 8))"),
                };
                let line = format!("!$ if ({modulo} /= omp_get_team_num()) cycle");
                parts.push(SourceChange::AfterHead(divided.stmt, divided.head_end, vec![line]));
                let used = "!$ use omp_lib, only: omp_get_num_teams, omp_get_team_num";
                parts.push(SourceChange::Used(divided.stmt, used.to_owned()));
            }
        }
        Lowered { parts, rows: self.level_rows(index), left: false }
    }

    pub(super) fn launch(&mut self, index: usize, launch: &Launch) -> Lowered {
        let (mut directive, mut lines, rows, refused) = self.launch_directive(launch);
        let note = &self.plan.notes[launch.directive];
        if let Some(names) = note.apart.as_ref().filter(|_| !launch.data_outside) {
            lines.before.push(object::hide(&mut directive, names));
            lines.after.insert(0, "}".to_owned());
        }
        if note.waits_first && !launch.data_outside {
            lines.before.splice(0..0, self.wait_first(launch.directive));
        }
        if note.is_held {
            queue::hold(&mut directive);
        }
        self.hold_aliases(launch.directive, &mut directive);
        let stmt = self.bound[index].stmt();
        let in_teams = stmt.filter(|_| directive.leaves.last() == Some(&Leaf::Teams));
        let asks = in_teams.is_some_and(|stmt| launch::asks(self.unit, self.bound, self.plan, (index, stmt)));
        if asks {
            let at = self.bound[launch.directive].directive.span;
            self.diags.push(diag::not_yet(at, "a construct with `acc_on_device` beside its loops"));
        }
        if refused || asks || !self.may_stand(index, launch.directive, &lines) {
            // The construct's own line and every loop line below it stay as well.
            let from = launch.directive;
            self.done[from] = refused_by(rows.clone());
            return refused_by(rows);
        }
        let mut rows = rows;
        rows.extend(self.level_rows(index));
        let apart = self.apart(&directive).map(|[target, rest]| vec![SourceChange::Pair(target, rest)]);
        let of_teams = || teams::parts(&directive, launch.nest.as_ref()?, &self.tuning, self.unit.is_cpp());
        let own = apart.or_else(of_teams);
        let own = own.unwrap_or_else(|| vec![with_tiles(directive, launch.nest.as_ref())]);
        let query = self.query(index, "loop");
        let (nest, tuning) = (launch.nest.as_ref(), self.tuning_of(launch.directive));
        let more = nest.map(|nest| of_nest(nest, &query, &mut rows, &tuning)).unwrap_or_default();
        let after = lines_after(stmt, lines.after);
        let parts = lines_before(lines.before).chain(own).chain(more).chain(after).collect();
        Lowered { parts, rows, left: false }
    }

    pub(super) fn launch_directive(
        &mut self,
        launch: &Launch,
    ) -> (Directive, Around, Vec<&'static RowId>, bool) {
        let on = match crate::acc::name(self.bound[launch.directive].directive.kind).split(' ').next() {
            Some("serial") => "serial",
            Some("kernels") => "kernels",
            _ => "parallel",
        };
        let mut query = self.query(launch.directive, on);
        query.quiet = launch.data_outside;
        let outside = launch.data_outside;
        let skip = |kind: &ClauseKind| {
            let said = matches!(
                kind,
                ClauseKind::Data(..)
                    | ClauseKind::Default { .. }
                    | ClauseKind::Async(_)
                    | ClauseKind::Wait(_)
            );
            outside && said
        };
        let mut gathered = self.gather(launch.directive, &query, &skip);
        gathered.conditions.extend(self.target.host_fallback.map(str::to_owned));
        launch::unused_sizes(launch, &query, &mut gathered);
        gathered.condition = launch::condition(&gathered.conditions, query.speech);
        let held = held(&gathered);
        let tuning = self.tuning_of(launch.directive);
        let mut directive = launch::launch(launch, &mut gathered, &query, &tuning);
        let block = self.aliased.blocks.get(&launch.directive);
        if let Some(block) = block.filter(|block| block.has_lent) {
            ends::in_clauses(&mut directive, block);
        }
        for name in block.into_iter().flat_map(|block| &block.written) {
            if !directive.maps(name) {
                directive.add(Clause::list("map", Some("tofrom"), name));
            }
        }
        for name in &self.plan.notes[launch.directive].unnamed {
            directive.add(Clause::list("map", Some("alloc"), &format!("{name}[:0]")));
        }
        if self.is_flang() {
            let at = self.bound[launch.directive].directive.span.start;
            flang::device_addresses(&mut directive, &|item| self.is_c_pointer(item, at));
            if flang::unchecked_objects(&mut directive) {
                let span = self.bound[launch.directive].directive.name_span;
                self.diags.push(diag::absent_unchecked(span, "component"));
            }
        }
        match self.target.speech {
            BaseLanguage::C => structs::arrays(&mut directive),
            BaseLanguage::Fortran if self.has_own_allocatable(launch) => launch::in_one_team(&mut directive),
            BaseLanguage::Fortran => {}
        }
        self.diags.append(&mut gathered.diags);
        let lines = self.around(launch.directive, &mut gathered, held);
        if !lines.after.is_empty() {
            queue::hold(&mut directive);
        }
        (directive, lines, gathered.rows, gathered.refused)
    }

    /// Whether the threads of a launch have an allocatable of their own.
    pub(super) fn has_own_allocatable(&self, launch: &Launch) -> bool {
        let at = self.bound[launch.directive].directive.span.start;
        let own = launch.attributes.iter().filter(|one| one.sharing.is_private());
        let mut own = own.filter_map(|one| self.symbols.lookup(&one.item, at));
        own.any(|symbol| self.symbols.get(symbol).fortran.allocatable)
    }

    /// Whether a variable of Fortran is of type `c_ptr`.
    pub(super) fn is_c_pointer(&self, name: &str, offset: u32) -> bool {
        let symbol = self.symbols.lookup(name, offset).map(|symbol| self.symbols.get(symbol));
        symbol
            .and_then(|symbol| symbol.record.as_deref())
            .is_some_and(|record| record.eq_ignore_ascii_case("c_ptr"))
    }

    pub(super) fn inserted(&mut self, index: usize, stmt: StmtId, launch: &Launch) {
        if self.done[index].left {
            return;
        }
        let (directive, _, rows, refused) = self.launch_directive(launch);
        if refused {
            self.done[index] = refused_by(rows);
            return;
        }
        self.done[index].rows.extend(rows);
        if self.plan.arrays.contains_key(&stmt) {
            self.loops(stmt, Some(&directive));
        } else {
            self.before(index, stmt, &directive);
        }
    }

    /// The loops of an array statement, after a directive of their own or after the one of the region.
    pub(super) fn loops(&mut self, stmt: StmtId, directive: Option<&Directive>) {
        let Some(ArrayStatement { directive: index, elementwise, ends }) = self.plan.arrays.get(&stmt) else {
            return;
        };
        if self.done[*index].left {
            return;
        }
        let (first, last) = (self.single(ends.first.as_ref()), self.single(ends.last.as_ref()));
        let (mut first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        let own = directive.map(|directive| self.lines_of(directive));
        let parts = &mut self.done[*index].parts;
        let [begin, end] = own.unwrap_or_default();
        first.extend(begin);
        if directive.is_none() {
            // The directive of the loops stands above them already.
            parts.splice(0..0, lines_before(std::mem::take(&mut first))).for_each(drop);
        }
        let lines = first.into_iter().chain(array::loops(elementwise)).chain(end).chain(last).collect();
        parts.push(SourceChange::Loops(stmt, lines, elementwise.ranges.len()));
    }

    /// A statement that one thread runs, of the device or of the host.
    pub(super) fn single(&mut self, single: Option<&Single>) -> Option<Vec<String>> {
        let Single { code, launch } = single?;
        let Some(launch) = launch else { return Some(vec![code.clone()]) };
        let (directive, ..) = self.launch_directive(launch);
        let [begin, end] = self.lines_of(&directive);
        Some(begin.into_iter().chain([code.clone()]).chain(end).collect())
    }

    /// The `do` loops in place of `do concurrent`.
    pub(super) fn nest_concurrent(&mut self) {
        for one in &self.unit.concurrent {
            let index = self.plan.concurrent.get(&one.stmt).filter(|index| !self.done[**index].left);
            if let Some((index, nested)) = index.zip(one.nested.as_ref()) {
                // They end before what else stands after the loop.
                self.done[*index].parts.insert(0, SourceChange::Nested(one.stmt, nested.heads.clone()));
            }
        }
    }

    /// A directive before a statement without one; in Fortran with the `end` that it needs.
    pub(super) fn before(&mut self, index: usize, stmt: StmtId, directive: &Directive) {
        let [begin, end] = self.lines_of(directive);
        let parts = &mut self.done[index].parts;
        parts.push(SourceChange::Before(stmt, begin));
        if !end.is_empty() {
            parts.push(SourceChange::After(stmt, end));
        }
    }

    /// What the host's copies of variables get from the device before the host uses them.
    pub(super) fn bring(&mut self, stmt: StmtId, by_host: &ByHost) {
        let index = by_host.directive;
        let clauses = by_host.updates.keys().map(|item| Clause::list("from", None, item)).collect();
        let Some(mut update) = directive_of("target update", clauses) else { return };
        if !self.done[index].left {
            self.on_device_only(DirectiveKind::Update, &mut update);
            self.before(index, stmt, &update);
        }
    }

    /// A condition that the device computes before the host decides by it.
    pub(super) fn condition(&mut self, condition: &Condition) {
        let Condition { stmt, span, text, launch } = condition;
        let index = launch.directive;
        if self.done[index].left {
            return;
        }
        let (mut directive, _, rows, refused) = self.launch_directive(launch);
        if refused {
            self.done[index] = refused_by(rows);
            return;
        }
        directive.add(Clause::list("map", Some("from"), DECIDED));
        let speech = self.target.speech;
        let (first, last) = (directive.line(speech), directive.end().line(speech));
        let parts = &mut self.done[index].parts;
        match speech {
            BaseLanguage::C => {
                let lines = [format!("int {DECIDED};"), first, format!("{DECIDED} = ({text}) ? 1 : 0;")];
                parts.push(SourceChange::Braced(*stmt, lines.to_vec()));
            }
            BaseLanguage::Fortran => {
                let lines = vec![first, format!("{DECIDED} = {text}"), last];
                parts.push(SourceChange::Before(*stmt, lines));
                parts.push(SourceChange::DeclaredFor(*stmt, format!("logical :: {DECIDED}")));
            }
        }
        parts.push(SourceChange::Respelled(vec![(*span, DECIDED.to_owned())]));
    }

    /// A function that a launch calls without a `routine` directive.
    pub(super) fn callee(&mut self, index: usize, function: FunctionId) {
        let row = look::row("implicit/routine", &self.query(index, "routine"));
        let Some(row) = row.filter(|_| !self.done[index].left) else { return };
        self.done[index].rows.push(&row.id);
        if row.action != Action::Strategy(Strategy::DeclareTarget) {
            return;
        }
        if self.target.speech == BaseLanguage::Fortran {
            let directive = Directive::new(&[Leaf::Named("declare target")]);
            self.done[index].parts.push(SourceChange::InFunction(function, directive));
        } else {
            let around =
                ["declare target", "end declare target"].map(|words| Directive::new(&[Leaf::Named(words)]));
            self.done[index].parts.push(SourceChange::Around(function, Box::new(around)));
        }
    }

    pub(super) fn inserted_loop(&mut self, index: usize, work: &WorkLoop) {
        if self.done[index].left {
            return;
        }
        let query = self.query(index, "loop");
        let mut rows = Vec::new();
        let directive = launch::work_loop(work, &query, &mut rows, &self.tuning);
        self.done[index].rows.extend(rows);
        self.before(index, work.stmt, &directive);
    }
}

/// The directives by which the data of a construct enters before it and leaves after it.
fn held(gathered: &Gathered) -> [Option<Directive>; 2] {
    let mut both =
        ["target enter data", "target exit data"].map(|words| Directive::new(&[Leaf::Named(words)]));
    let maps = gathered.clauses.iter().map(|(_, clause)| clause).filter(|clause| clause.name == "map");
    let mut is_any = false;
    for clause in maps {
        let Body::List(items) = &clause.body else { continue };
        // An empty section holds nothing.
        for item in items.iter().filter(|item| !item.ends_with("[:0]")) {
            is_any = true;
            let (enter, exit) = match clause.modifier.as_deref() {
                Some("tofrom") => ("to", "from"),
                Some("from") => ("alloc", "from"),
                Some(other) => (other, "release"),
                None => ("to", "from"),
            };
            for (directive, modifier) in both.iter_mut().zip([enter, exit]) {
                directive.add(Clause::list("map", Some(modifier), item));
            }
        }
    }
    if let Some(condition) = &gathered.condition {
        both.iter_mut().for_each(|directive| directive.add(Clause::text("if", condition.clone())));
    }
    both.map(|directive| is_any.then_some(directive))
}
