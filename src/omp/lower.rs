//! Walks the plan and says each item in OpenMP.
//!
//! Invariant: one `Lowered` for each bound directive; what is left untranslated is said by a diagnostic.

use std::collections::BTreeSet;

use crate::acc::ast::{Argument, ClauseKind, DirectiveKind, Expr, GangArgument, ListItem, PathStep};
use crate::bind::{Bound, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{FunctionId, Scope, ScopeKind, StmtId, StmtKind, Unit};
use crate::plan::{
    self, ArrayStatement, ByHost, Condition, Divided, Exit, Gangs, Item, Launch, Plan, Saved, Sharing,
    Single, WorkLoop,
};
use crate::rules::{Action, Place, Pragma, RowId, Strategy};
use crate::sema::{self, Class, SymbolKind, Symbols};
use crate::source::Span;

use super::alias::Aliased;
use super::ast::{BaseLanguage, Body, Clause, Directive, Ending, Leaf};
use super::clause::{self, Facts};
use super::gathered::Gathered;
use super::look::{self, RuleQuery};
use super::loop_construct::{Ground, Nest};
use super::lowered::{Lowered, SourceChange, left};
use super::profile::Tuning;
use super::turns::Turn;
use super::{
    array, commons, constant, ends, exits, flang, jumps, launch, memory, object, own_section, pieces,
    profile, qualified, queue, saved, sections, shadow, strips, structs, teams, turns,
};

/// What the output is written for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The OpenMP version, as `45`.
    pub version: u8,
    /// The profile's name.
    pub profile: &'static str,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// What becomes of queues.
    pub queues: Queues,
    /// The condition under which the device is used at all.
    pub host_fallback: Option<&'a str>,
    /// The host language.
    pub speech: BaseLanguage,
    /// How loops are said to run in parallel, from OpenMP 5.0 on.
    pub nest: Nest,
}

/// What becomes of OpenACC's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Queues {
    /// They are kept: as dependences between tasks.
    #[default]
    Kept,
    /// The host waits for each construct.
    Dropped,
}

impl Queues {
    /// The fact by which pages know it.
    pub fn name(self) -> &'static str {
        match self {
            Queues::Kept => "kept",
            Queues::Dropped => "dropped",
        }
    }
}

struct Lowering<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    bound: &'a [Bound],
    plan: &'a Plan,
    aliased: &'a Aliased<'a>,
    target: Target<'a>,
    tuning: Tuning,
    done: Vec<Lowered>,
    diags: Vec<Diag>,
}

/// The variable of a condition that the device has computed.
pub const DECIDED: &str = "acc2omp_if";

/// Lowers a plan: one result for each bound directive.
pub fn lower(
    plan: &Plan,
    unit: &Unit,
    symbols: &Symbols,
    aliased: &Aliased,
    target: Target,
) -> (Vec<Lowered>, Vec<Diag>) {
    let bound = aliased.bound.as_ref();
    let result = lower_with(plan, unit, symbols, aliased, target, &plan.saved);
    let (more, mut reported) = saved::repeated(bound, &result.0, (unit, symbols), target.speech);
    let all: Vec<Saved> = plan.saved.iter().cloned().chain(more).collect();
    let (done, mut diags) = match all.len() == plan.saved.len() {
        true => result,
        false => lower_with(plan, unit, symbols, aliased, target, &all),
    };
    diags.append(&mut reported);
    (done, diags)
}

/// Lowers a plan, with variables for the values of the expressions `saved`.
fn lower_with(
    plan: &Plan,
    unit: &Unit,
    symbols: &Symbols,
    aliased: &Aliased,
    target: Target,
    saved: &[Saved],
) -> (Vec<Lowered>, Vec<Diag>) {
    let bound = saved::with_variables(aliased.bound.as_ref(), saved);
    let bound = bound.as_ref();
    let tuning = profile::tuning(target.profile);
    let done = vec![Lowered::default(); bound.len()];
    let mut lowering =
        Lowering { unit, symbols, bound, plan, aliased, target, tuning, done, diags: Vec::new() };
    for index in 0..bound.len() {
        lowering.item(index);
    }
    for (index, stmt, launch) in &plan.inserted {
        lowering.inserted(*index, *stmt, launch);
    }
    for stmt in plan.arrays.keys() {
        if !plan.inserted.iter().any(|(_, inserted, _)| inserted == stmt) {
            lowering.loops(*stmt, None);
        }
    }
    for (stmt, by_host) in &plan.by_host {
        lowering.bring(*stmt, by_host);
    }
    for condition in &plan.conditions {
        lowering.condition(condition);
    }
    for (index, function) in &plan.callees {
        lowering.callee(*index, *function);
    }
    for (index, work) in &plan.inserted_loops {
        lowering.inserted_loop(*index, work);
    }
    saved::set(saved, &mut lowering.done, target.speech);
    own_section::set(&plan.own_sections, &mut lowering.done);
    exits::merge(bound, plan, &mut lowering.done);
    let reported = qualified::spell(unit, symbols, bound, &mut lowering.done);
    lowering.diags.extend(reported);
    if target.speech == BaseLanguage::Fortran {
        lowering.nest_concurrent();
        ends::close(bound, &mut lowering.done);
        ends::enclose(aliased, &mut lowering.done);
        lowering.components();
    }
    (lowering.done, lowering.diags)
}

impl Lowering<'_> {
    fn item(&mut self, index: usize) {
        if self.is_below_refused(index) || self.aliased.refused.contains(&index) {
            self.done[index] = left();
            return;
        }
        if let Some(span) = object::reference_member(self.unit, self.symbols, &self.bound[index]) {
            let what = "a construct with a member of its function's object that is a reference";
            self.diags.push(diag::not_yet(span, what));
            self.done[index] = left();
            return;
        }
        self.done[index] = match &self.plan.items[index] {
            Item::Left => left(),
            Item::Gone => Lowered {
                parts: vec![SourceChange::Gone],
                rows: self.level_rows(index),
                ..Lowered::default()
            },
            Item::Launch(launch) => self.launch(index, launch),
            Item::Loop(work) => {
                let mut rows = self.level_rows(index);
                let query = self.query(index, "loop");
                let tuning = self.tuning_of(index);
                let directive = launch::work_loop(work, &query, &mut rows, &tuning);
                let mut parts = vec![with_tiles(directive, Some(work))];
                parts.extend(of_nest(work, &query, &mut rows, &tuning));
                Lowered { parts, rows, left: false }
            }
            Item::ByOneGang => self.by_one_gang(index),
            Item::Divided(divided) => self.divided(index, divided),
            Item::Clauses { pushed_down, implied } => {
                let (pushed_down, implied) = (*pushed_down, implied.clone());
                self.by_clauses(index, pushed_down, &implied)
            }
            Item::Declare { exits, entry } => self.declare(index, exits, *entry),
            Item::Routine { end } => self.routine(index, *end),
        };
    }

    /// Whether a construct around this directive was refused: what is inside would miss its data, so all of it stays.
    fn is_below_refused(&self, index: usize) -> bool {
        ancestors(self.bound, index).any(|above| self.done[above].left)
    }

    /// What the profile asks of the construct that directive `index` is or stands in.
    fn tuning_of(&self, index: usize) -> Tuning {
        let Lowering { unit, symbols, bound, plan, .. } = *self;
        let is_wanted = self.target.version >= 50 && self.target.nest == Nest::Loop;
        let by_loops = is_wanted && Ground { unit, symbols, bound, plan }.takes(index);
        Tuning { by_loops, ..self.tuning.clone() }
    }

    fn query(&self, index: usize, on: &'static str) -> RuleQuery {
        RuleQuery::new(on, self.target, self.bound[index].directive.span)
    }

    /// The rows of the clauses that the plan has turned into levels and nests: they were used, too.
    fn level_rows(&mut self, index: usize) -> Vec<&'static RowId> {
        let bound = self.bound;
        let directive = &bound[index].directive;
        for clause in &directive.clauses {
            if let Some((at, what)) = self.unapplied(&clause.kind) {
                self.diags.push(diag::hint_dropped(at, what));
            }
        }
        let mut query = self.query(index, crate::acc::name(directive.kind));
        query.tiles = match &self.plan.items[index] {
            Item::Launch(launch) => launch.nest.as_ref().map_or("lost", tiles),
            Item::Loop(work) => tiles(work),
            Item::Left
            | Item::Gone
            | Item::ByOneGang
            | Item::Divided(_)
            | Item::Clauses { .. }
            | Item::Declare { .. }
            | Item::Routine { .. } => "lost",
        };
        let own = look::row(&page_of(crate::acc::name(directive.kind)), &query);
        let mut rows: Vec<&'static RowId> = own.into_iter().map(|row| &row.id).collect();
        for clause in directive.clauses.iter().filter(|clause| is_level(&clause.kind)) {
            let Some(row) = look::row(clause::entry(&clause.kind), &query) else { continue };
            rows.push(&row.id);
            // What the plan has decided, it has reported, too.
            let is_tile = matches!(clause.kind, ClauseKind::Tile(_));
            let reported = row.code.filter(|_| is_tile);
            self.diags.extend(reported.and_then(|code| diag::of_code(code, clause.span, &clause.name.text)));
        }
        rows
    }

    /// What a level says in parentheses that no loop applies to, with its place, as words for a diagnostic.
    fn unapplied(&self, kind: &ClauseKind) -> Option<(Span, &'static str)> {
        let unapplied = |expr: &Expr, what: &'static str| {
            (!self.plan.applied.contains(&expr.span)).then_some((expr.span, what))
        };
        match kind {
            ClauseKind::Gang(arguments) => arguments.iter().find_map(|argument| match argument {
                GangArgument::Num(expr) => unapplied(expr, "the size of `gang`"),
                GangArgument::Dim(expr) => unapplied(expr, "the dimension of `gang`"),
                GangArgument::Static(expr) => unapplied(expr, "`static` of `gang`"),
            }),
            ClauseKind::Worker(Some(size)) => unapplied(size, "the size of `worker`"),
            ClauseKind::Vector(Some(size)) => unapplied(size, "the size of `vector`"),
            _ => None,
        }
    }

    /// A loop that one of several gangs runs: only the first team gets to it.
    fn by_one_gang(&mut self, index: usize) -> Lowered {
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
    fn divided(&mut self, index: usize, divided: &Divided) -> Lowered {
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

    /// What the clauses of a directive that count for the device amount to, except those to `skip`.
    fn gather(&mut self, index: usize, query: &RuleQuery, skip: &dyn Fn(&ClauseKind) -> bool) -> Gathered {
        let counting = plan::effective(&self.bound[index].directive, self.target.device_type).0;
        self.gather_clauses(index, &counting, query, skip)
    }

    fn gather_clauses(
        &mut self,
        index: usize,
        clauses: &[usize],
        query: &RuleQuery,
        skip: &dyn Fn(&ClauseKind) -> bool,
    ) -> Gathered {
        let mut gathered = Gathered::default();
        let bound = &self.bound[index];
        let class = |item: &ListItem| {
            let symbol = self.symbols.lookup(item.variable(), bound.directive.span.start);
            symbol.map_or(Class::Unknown, |symbol| self.symbols.get(symbol).class)
        };
        let constant =
            |expr: &Expr| constant::queue(self.unit, self.symbols, expr, bound.directive.span.start);
        let is_rows = |item: &ListItem| {
            let symbol = self.symbols.lookup(item.variable(), bound.directive.span.start);
            symbol.is_some_and(|symbol| plan::is_rows(item, self.symbols.get(symbol)))
        };
        let section = |item: &ListItem| self.plan.section(item.span);
        // What else the directive says of such a variable keeps its place among its parts.
        let parts = self.declared_parts(index);
        let needs_name =
            |item: &ListItem| parts.iter().any(|part| part.eq_ignore_ascii_case(item.variable()));
        let begins = |item: &ListItem| self.plan.list_items.get(&item.span).is_some_and(|note| note.turns);
        let is_address =
            |item: &ListItem| self.plan.list_items.get(&item.span).is_some_and(|note| note.is_address);
        let facts = Facts {
            class: &class,
            is_rows: &is_rows,
            constant: &constant,
            section: &section,
            needs_name: &needs_name,
            is_address: &is_address,
            begins: &begins,
        };
        for clause in clauses.iter().filter_map(|at| bound.directive.clauses.get(*at)) {
            if !skip(&clause.kind) {
                clause::translate(clause, query, &facts, &mut gathered);
            }
        }
        gathered
    }

    fn launch(&mut self, index: usize, launch: &Launch) -> Lowered {
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

    /// The lines with which the host waits for the queues that the clauses of a directive name.
    fn wait_first(&self, index: usize) -> Vec<String> {
        let named = self.bound[index].directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Wait(argument) if self.target.queues == Queues::Kept => argument.as_ref(),
            _ => None,
        });
        named.flat_map(|argument| queue::waits(argument, None, self.target.speech)).collect()
    }

    /// In Fortran, a `target` and what must stand apart from it.
    fn apart(&self, directive: &Directive) -> Option<[Directive; 2]> {
        if self.target.speech != BaseLanguage::Fortran {
            return None;
        }
        let of_flang = self.is_flang().then(|| flang::apart(directive)).flatten();
        of_flang.or_else(|| queue::apart(directive))
    }

    /// The variables of whose parts an update speaks, where these must have names of their own.
    fn declared_parts(&self, index: usize) -> Vec<&str> {
        let lists = self.bound[index].directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => Some(list),
            _ => None,
        });
        let parts = lists.flatten().filter(|item| self.is_declared_part(item));
        parts.map(|item| item.variable()).collect()
    }

    /// Whether an update names a pointer.
    fn updates_pointer(&self, index: usize) -> bool {
        let items = self.bound[index].directive.clauses.iter().flat_map(|clause| plan::list(&clause.kind));
        let mut symbols = items.filter_map(|item| self.symbols.lookup(item.variable(), item.span.start));
        symbols.any(|symbol| self.symbols.get(symbol).fortran.pointer)
    }

    /// Whether a list item is a part of a variable that `declare target` may give a place on the device, for flang.
    fn is_declared_part(&self, item: &ListItem) -> bool {
        let symbol = self.symbols.lookup(item.variable(), item.span.start);
        self.is_flang()
            && matches!(item.parts.as_slice(), [PathStep::Section(_)])
            && symbol.is_some_and(|symbol| flang::may_be_declared(self.symbols.get(symbol)))
    }

    /// Whether the output is Fortran for flang.
    fn is_flang(&self) -> bool {
        self.target.speech == BaseLanguage::Fortran && self.tuning.flang
    }

    /// A directive and its end, line by line; those parts that must stand apart, outermost first.
    fn lines_of(&self, directive: &Directive) -> [Vec<String>; 2] {
        let speech = self.target.speech;
        let all = self.apart(directive).map_or_else(|| vec![directive.clone()], Vec::from);
        let begin = all.iter().map(|one| one.line(speech)).collect();
        let is_ended = |one: &&Directive| speech == BaseLanguage::Fortran && one.ending() == Ending::Needed;
        [begin, all.iter().rev().filter(is_ended).map(|one| one.end().line(speech)).collect()]
    }

    /// Whether there is nothing to put around the construct at `index`, or room for it: it is not a body of something else,
    /// and the lines after it mean what its clauses meant. They are the clauses of directive `from`.
    fn may_stand(&mut self, index: usize, from: usize, lines: &Around) -> bool {
        if lines.before.is_empty() && lines.after.is_empty() {
            return true;
        }
        let bound = self.bound;
        if !lines.after.is_empty() && self.plan.notes[from].moves {
            self.report_moved(from);
            return false;
        }
        // What directly holds the construct as its body and keeps its own line.
        let around = ancestors(bound, index).find(|above| !matches!(self.plan.items[*above], Item::Gone));
        let is_body = around.is_some_and(|above| bound[above].stmt() == bound[index].stmt());
        if is_body {
            let name = crate::acc::name(bound[index].directive.kind);
            self.diags.push(diag::standalone_as_body(bound[index].directive.span, name));
        }
        !is_body && self.may_insert(index, &["".to_owned()])
    }

    /// Whether there is nothing to put before the directive, or room for it: no `if` or `for` waits there for its body.
    fn may_insert(&mut self, index: usize, lines: &[String]) -> bool {
        let bound = &self.bound[index];
        let may = lines.is_empty() || !bound.is_body;
        if !may {
            let name = crate::acc::name(bound.directive.kind);
            self.diags.push(diag::standalone_as_body(bound.directive.span, name));
        }
        may
    }

    fn launch_directive(&mut self, launch: &Launch) -> (Directive, Around, Vec<&'static RowId>, bool) {
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
    fn has_own_allocatable(&self, launch: &Launch) -> bool {
        let at = self.bound[launch.directive].directive.span.start;
        let own = launch.attributes.iter().filter(|one| one.sharing.is_private());
        let mut own = own.filter_map(|one| self.symbols.lookup(&one.item, at));
        own.any(|symbol| self.symbols.get(symbol).fortran.allocatable)
    }

    /// Whether a variable of Fortran is of type `c_ptr`.
    fn is_c_pointer(&self, name: &str, offset: u32) -> bool {
        let symbol = self.symbols.lookup(name, offset).map(|symbol| self.symbols.get(symbol));
        symbol
            .and_then(|symbol| symbol.record.as_deref())
            .is_some_and(|record| record.eq_ignore_ascii_case("c_ptr"))
    }

    /// The lines around a compute construct: its data comes and goes by itself unless a line needs it.
    fn around(&mut self, index: usize, gathered: &mut Gathered, held: [Option<Directive>; 2]) -> Around {
        let mut before = std::mem::take(&mut gathered.before);
        let (around, inside) = (std::mem::take(&mut gathered.around), std::mem::take(&mut gathered.inside));
        let speech = self.target.speech;
        let on = |lines: Vec<String>| under(gathered.condition.as_deref(), lines, speech);
        let [enter, exit] = if inside.0.is_empty() { [None, None] } else { held };
        if !around.0.is_empty() || !inside.0.is_empty() {
            before.extend(self.wait_own_queue(index));
        }
        before.extend(on(around.0));
        before.extend(enter.map(|enter| enter.line(speech)));
        before.extend(on(inside.0));
        let mut after = on(inside.1);
        after.extend(exit.map(|exit| exit.line(speech)));
        after.extend(on(around.1));
        Around { before, after }
    }

    /// The rows of the page that is about names for components.
    fn components(&mut self) {
        let aliased = self.aliased;
        for index in aliased.blocks.keys() {
            let row = look::row("implicit/component", &self.query(*index, "data"));
            let lowered = &mut self.done[*index];
            if !lowered.left {
                lowered.rows.extend(row.map(|row| &row.id));
            }
        }
    }

    /// An alias is gone after its block: the host waits for what names it.
    fn hold_aliases(&mut self, index: usize, directive: &mut Directive) {
        let is_queued = directive.clauses.iter().any(|clause| clause.name == "nowait");
        if is_queued && self.aliased.blocks.contains_key(&index) {
            queue::hold(directive);
            self.diags.push(diag::synchronous(self.bound[index].directive.span, "async"));
        }
    }

    fn inserted(&mut self, index: usize, stmt: StmtId, launch: &Launch) {
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
    fn loops(&mut self, stmt: StmtId, directive: Option<&Directive>) {
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
    fn single(&mut self, single: Option<&Single>) -> Option<Vec<String>> {
        let Single { code, launch } = single?;
        let Some(launch) = launch else { return Some(vec![code.clone()]) };
        let (directive, ..) = self.launch_directive(launch);
        let [begin, end] = self.lines_of(&directive);
        Some(begin.into_iter().chain([code.clone()]).chain(end).collect())
    }

    /// The `do` loops in place of `do concurrent`.
    fn nest_concurrent(&mut self) {
        for one in &self.unit.concurrent {
            let index = self.plan.concurrent.get(&one.stmt).filter(|index| !self.done[**index].left);
            if let Some((index, nested)) = index.zip(one.nested.as_ref()) {
                // They end before what else stands after the loop.
                self.done[*index].parts.insert(0, SourceChange::Nested(one.stmt, nested.heads.clone()));
            }
        }
    }

    /// A directive before a statement without one; in Fortran with the `end` that it needs.
    fn before(&mut self, index: usize, stmt: StmtId, directive: &Directive) {
        let [begin, end] = self.lines_of(directive);
        let parts = &mut self.done[index].parts;
        parts.push(SourceChange::Before(stmt, begin));
        if !end.is_empty() {
            parts.push(SourceChange::After(stmt, end));
        }
    }

    /// What the host's copies of variables get from the device before the host uses them.
    fn bring(&mut self, stmt: StmtId, by_host: &ByHost) {
        let index = by_host.directive;
        let clauses = by_host.updates.keys().map(|item| Clause::list("from", None, item)).collect();
        let Some(mut update) = directive_of("target update", clauses) else { return };
        if !self.done[index].left {
            self.on_device_only(DirectiveKind::Update, &mut update);
            self.before(index, stmt, &update);
        }
    }

    /// A condition that the device computes before the host decides by it.
    fn condition(&mut self, condition: &Condition) {
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
    fn callee(&mut self, index: usize, function: FunctionId) {
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

    fn inserted_loop(&mut self, index: usize, work: &WorkLoop) {
        if self.done[index].left {
            return;
        }
        let query = self.query(index, "loop");
        let mut rows = Vec::new();
        let directive = launch::work_loop(work, &query, &mut rows, &self.tuning);
        self.done[index].rows.extend(rows);
        self.before(index, work.stmt, &directive);
    }

    fn by_clauses(&mut self, index: usize, pushed_down: bool, implied: &[crate::plan::Attribute]) -> Lowered {
        let kind = self.bound[index].directive.kind;
        // A `kernels` region that was split is a data construct around its launches.
        let on = if kind == DirectiveKind::Kernels { "data" } else { crate::acc::name(kind) };
        let mut query = self.query(index, on);
        if kind == DirectiveKind::Update {
            let quiet = |clause: &crate::acc::ast::Clause| clause.kind == ClauseKind::IfPresent;
            let has = self.bound[index].directive.clauses.iter().any(quiet);
            // flang 22 looks for the description of a pointer, or of a name of `associate`, which is not present.
            let is_named = self.is_flang() && self.aliased.blocks.contains_key(&index)
                || !self.declared_parts(index).is_empty()
                || self.is_flang() && self.updates_pointer(index);
            query.keyword = if has || is_named { "present" } else { "none" };
            if is_named && !has {
                self.diags.push(diag::absent_unchecked(self.bound[index].directive.span, "component"));
            }
        }
        let is_kernels = kind == DirectiveKind::Kernels;
        let skip = |kind: &ClauseKind| {
            let device = matches!(kind, ClauseKind::Data(crate::acc::ast::DataClause::Deviceptr, _));
            let data = matches!(
                kind,
                ClauseKind::Data(..)
                    | ClauseKind::Async(_)
                    | ClauseKind::Wait(_)
                    | ClauseKind::Default { .. }
            );
            (pushed_down && device) || (is_kernels && !data)
        };
        let mut gathered = self.gather(index, &query, &skip);
        if is_kernels {
            self.only_on_device(index, &mut gathered);
        }
        let Some(row) = look::row(&page_of(on), &self.about(index, &query)) else {
            let name = crate::acc::name(kind);
            self.diags.push(diag::not_yet(self.bound[index].directive.span, &format!("`{name}`")));
            return left();
        };
        gathered.rows.push(&row.id);
        if pushed_down && self.names_device_pointer(index) {
            gathered.rows.extend(look::row("clause/deviceptr", &query).map(|row| &row.id));
        }
        if let Some(code) = row.code
            && let Some(said) = diag::of_code(code, self.bound[index].directive.span, on)
        {
            gathered.diags.push(said);
        }
        if is_kernels {
            for one in self.aliased_arrays(index, implied) {
                if let Some((clause, row)) = look::attribute(&one, &query) {
                    gathered.rows.push(row);
                    gathered.clauses.push((Place::Directive, clause));
                }
            }
        }
        self.diags.append(&mut gathered.diags);
        if gathered.refused {
            return refused_by(gathered.rows);
        }
        let parts = match &row.action {
            Action::Directive(_) if gathered.queue.is_some() && self.names_queues(index) => {
                self.wait_parts(index, &gathered)
            }
            Action::Directive(pragma) => self.directive_parts(index, pragma, &mut gathered),
            Action::Strategy(Strategy::WaitQueues) => self.wait_parts(index, &gathered),
            Action::Refuse => return refused_by(gathered.rows),
            Action::Drop
            | Action::Emit { .. }
            | Action::Statement(_)
            | Action::Call(_)
            | Action::Pragmas(_)
            | Action::Lines
            | Action::Strategy(_) => own_parts(&gathered, self.target.speech),
        };
        match parts {
            Some(parts) => Lowered { parts, rows: gathered.rows, left: false },
            None => left(),
        }
    }

    /// The data of a `kernels` region goes to the device only where its launches run there.
    fn only_on_device(&mut self, index: usize, gathered: &mut Gathered) {
        let decides = |kind: &ClauseKind| matches!(kind, ClauseKind::If(_) | ClauseKind::SelfRun(_));
        let of_launch = self.gather(index, &self.query(index, "kernels"), &|kind| !decides(kind));
        gathered.rows.extend(of_launch.rows);
        if let Some(condition) = launch::condition(&of_launch.conditions, self.target.speech) {
            gathered.clauses.push((Place::Directive, Clause::text("if", condition)));
        }
    }

    /// What a region copies without a clause; of a variable whose components have aliases, the arrays among them.
    fn aliased_arrays(&self, index: usize, implied: &[plan::Attribute]) -> Vec<plan::Attribute> {
        let block = self.aliased.blocks.get(&index);
        let copied = implied.iter().filter(|one| one.sharing == Sharing::Copy);
        let items = |one: &plan::Attribute| -> Vec<String> {
            match block.and_then(|block| block.bare_arrays(&one.item.to_ascii_lowercase())) {
                Some(arrays) => arrays.into_iter().map(str::to_owned).collect(),
                None => vec![one.item.clone()],
            }
        };
        let each = |one| items(one).into_iter().map(move |item| plan::Attribute { item, ..one.clone() });
        copied.flat_map(each).collect()
    }

    /// What the page of a directive must know beside its name.
    fn about(&self, index: usize, query: &RuleQuery) -> RuleQuery {
        query.with_argument(if self.names_queues(index) { "runtime" } else { "absent" })
    }

    /// Whether the directive is a `wait` with queues.
    fn names_queues(&self, index: usize) -> bool {
        matches!(&self.bound[index].directive.argument, Argument::Wait(argument) if !argument.queues.is_empty())
    }

    /// A `wait`: the host waits, or a queue does.
    fn wait_parts(&mut self, index: usize, gathered: &Gathered) -> Option<Vec<SourceChange>> {
        let Argument::Wait(argument) = &self.bound[index].directive.argument else { return None };
        Some(vec![SourceChange::Statements(queue::waits(
            argument,
            gathered.queue.as_deref(),
            self.target.speech,
        ))])
    }

    /// The directive of a page with the clauses that were gathered; an `if` of them becomes the condition of the lines, too.
    fn with_clauses(&mut self, index: usize, pragma: &'static Pragma, gathered: &mut Gathered) -> Directive {
        let mut directive = Directive::new(&[Leaf::Named(&pragma.words)]);
        if let Argument::Wait(argument) = &self.bound[index].directive.argument {
            for slot in queue::slots(argument, self.target.speech) {
                let filled = pragma.clauses.iter().map(|template| look::fill(template, &slot, ""));
                directive
                    .clauses
                    .extend(filled.map(|clause| queue::of_argument(clause, argument, self.target.speech)));
            }
        }
        for (_, clause) in gathered.clauses.drain(..) {
            if let (Body::Text(condition), "if") = (&clause.body, clause.name.as_str()) {
                gathered.condition = Some(condition.clone());
            }
            directive.add(clause);
        }
        self.on_device_only(self.bound[index].directive.kind, &mut directive);
        directive
    }

    fn directive_parts(
        &mut self,
        index: usize,
        pragma: &'static Pragma,
        gathered: &mut Gathered,
    ) -> Option<Vec<SourceChange>> {
        let kind = self.bound[index].directive.kind;
        let later = turns::later(gathered);
        let mut directive = self.with_clauses(index, pragma, gathered);
        let hidden = self.plan.notes[index].apart.as_ref().map(|names| object::hide(&mut directive, names));
        if kind == DirectiveKind::Update
            && (!later.is_empty() || !gathered.pieces.is_empty() || pieces::is_again(&directive))
        {
            return self.several_updates(index, directive, later, gathered);
        }
        if !self.plan.notes[index].jumps.is_empty() {
            return match hidden {
                Some(_) => self.report_jump(index),
                None => self.left_by_jumps(index, &directive, gathered),
            };
        }
        let needs_data = !matches!(kind, DirectiveKind::Wait | DirectiveKind::Atomic);
        let has_data = directive.clauses.iter().any(|clause| matches!(clause.body, Body::List(_)));
        if needs_data && !has_data {
            return self.lines_alone(index, gathered);
        }
        let lines = statements(gathered, self.target.speech);
        if !lines.is_empty() || self.plan.notes[index].is_held {
            queue::hold(&mut directive);
        }
        self.hold_aliases(index, &mut directive);
        let first = self.counted_first(index, &mut directive);
        let task = self.task_before(index, &mut directive);
        if kind == DirectiveKind::EnterData && sections::allocates_beside_copies(&directive) {
            queue::hold(&mut directive);
        }
        let allocations = match kind {
            DirectiveKind::EnterData => queue::allocations(&mut directive),
            _ => None,
        };
        let apart = match self.target.speech {
            BaseLanguage::C if !self.finalizes(index) => sections::apart(&mut directive),
            BaseLanguage::C | BaseLanguage::Fortran => Vec::new(),
        };
        let mut parts = self.own_parts(index, directive, allocations);
        let mut before = task;
        before.append(&mut gathered.before);
        let apart = first.into_iter().chain(apart);
        let apart: Vec<SourceChange> =
            apart.map(|one| SourceChange::LinesBefore(vec![one.line(self.target.speech)])).collect();
        self.wait_around(index, &mut before, &mut gathered.at_end);
        let (around, inside) = (std::mem::take(&mut gathered.around), std::mem::take(&mut gathered.inside));
        let speech = self.target.speech;
        let on = |lines: Vec<String>| under(gathered.condition.as_deref(), lines, speech);
        let around = Around { before: on(around.0), after: on(around.1) };
        let (first, last) = (on(inside.0), on(inside.1));
        // A pointer is detached while its target is still there, and attached once it is there.
        if !lines.is_empty() && kind == DirectiveKind::ExitData {
            before.extend(self.wait_own_queue(index));
            before.extend(lines);
        } else if !lines.is_empty() {
            parts.push(SourceChange::LinesAfter(lines));
        }
        if !self.may_insert(index, &before) || !self.may_stand(index, index, &around) {
            return None;
        }
        self.framed(index, Frame { before, apart, parts, around, first, last, hidden }, gathered)
    }

    /// A directive with all that stands around it, in order.
    fn framed(&mut self, index: usize, frame: Frame, gathered: &mut Gathered) -> Option<Vec<SourceChange>> {
        let Frame { mut before, apart, mut parts, around, first, last, hidden } = frame;
        before.extend(around.before);
        let stmt = self.bound[index].stmt();
        let mut after = around.after;
        let [opened, hiding, closed] = shadow::blocks(gathered, self.unit);
        before.extend(opened);
        parts.extend(shadow::opened(hiding));
        after.extend(closed);
        if let Some(opening) = hidden {
            before.push(opening);
            match stmt {
                Some(_) => after.insert(0, "}".to_owned()),
                None => parts.push(SourceChange::LinesAfter(vec!["}".to_owned()])),
            }
        }
        if !first.is_empty() {
            if self.plan.notes[index].moves {
                self.report_moved(index);
                return None;
            }
            stmt?;
        }
        let mut last_inside = std::mem::take(&mut gathered.at_end);
        last_inside.extend(last);
        parts.extend(self.lines_inside(stmt, first, last_inside, &mut after));
        Some(lines_before(before).chain(apart).chain(parts).chain(lines_after(stmt, after)).collect())
    }

    /// Lines at the start and at the end of a statement, which gets braces if it is not a block: those stand before the lines
    /// `after` it.
    fn lines_inside(
        &self,
        stmt: Option<StmtId>,
        first: Vec<String>,
        last: Vec<String>,
        after: &mut Vec<String>,
    ) -> Vec<SourceChange> {
        let is_used = |lines: &Vec<String>| !lines.is_empty();
        let Some(stmt) = stmt.filter(|_| is_used(&first) || is_used(&last)) else { return Vec::new() };
        if self.unit.is_fortran() || matches!(self.unit.stmt(stmt).kind, StmtKind::Block(_)) {
            let at_start = Some(first).filter(is_used).map(|lines| SourceChange::AtStart(stmt, lines));
            let at_end = Some(last).filter(is_used).map(|lines| SourceChange::AtEnd(stmt, lines));
            return at_start.into_iter().chain(at_end).collect();
        }
        after.splice(..0, last.into_iter().chain(["}".to_owned()]));
        vec![SourceChange::LinesAfter(std::iter::once("{".to_owned()).chain(first).collect())]
    }

    /// A region of data that jumps leave: it ends before each of them, and at its own end.
    fn left_by_jumps(
        &mut self,
        index: usize,
        directive: &Directive,
        gathered: &mut Gathered,
    ) -> Option<Vec<SourceChange>> {
        let note = &self.plan.notes[index];
        let (around, inside) = (&gathered.around, &gathered.inside);
        let more = [&gathered.statements, &around.0, &around.1, &inside.0, &inside.1];
        let is_plain = more.iter().all(|lines| lines.is_empty()) && !self.aliased.blocks.contains_key(&index);
        let halves = jumps::halves(directive, self.target.speech).filter(|_| is_plain && note.is_steady);
        let Some(halves) = halves else { return self.report_jump(index) };
        let stmt = self.bound[index].stmt()?;
        let (mut before, mut last) =
            (std::mem::take(&mut gathered.before), std::mem::take(&mut gathered.at_end));
        self.wait_around(index, &mut before, &mut last);
        let has_data = directive.clauses.iter().any(|clause| matches!(clause.body, Body::List(_)));
        let mut enter = halves.enter.into_iter().filter(|_| has_data);
        let own = enter.next();
        before.extend(enter.map(|one| one.line(self.target.speech)));
        let exit = halves.exit.iter().filter(|_| has_data).rev();
        last.extend(exit.map(|one| one.line(self.target.speech)));
        if !self.may_stand(index, index, &Around { before: before.clone(), after: last.clone() }) {
            return None;
        }
        let mut parts: Vec<SourceChange> = lines_before(before).collect();
        parts.push(own.map_or(SourceChange::Gone, SourceChange::Directive));
        if last.is_empty() {
            return Some(parts);
        }
        let jumps = &self.plan.notes[index].jumps;
        parts.extend(jumps.iter().map(|exit| part_at(*exit, &last)));
        parts.push(match self.unit.stmt(stmt).kind {
            StmtKind::Block(_) => SourceChange::AtEnd(stmt, last),
            _ => SourceChange::After(stmt, last),
        });
        Some(parts)
    }

    fn report_jump(&mut self, index: usize) -> Option<Vec<SourceChange>> {
        let word = plan::jump_out(self.unit, self.bound[index].stmt()?)?;
        self.diags.push(diag::leaves_region(self.bound[index].directive.span, word));
        None
    }

    /// What stands for a directive itself; `allocations`: what it only allocates, which comes first.
    fn own_parts(
        &self,
        index: usize,
        directive: Directive,
        allocations: Option<Directive>,
    ) -> Vec<SourceChange> {
        let kind = self.bound[index].directive.kind;
        if let Some(allocations) = allocations {
            let is_rest = directive.clauses.iter().any(|clause| matches!(clause.body, Body::List(_)));
            vec![if is_rest {
                SourceChange::Pair(allocations, directive)
            } else {
                SourceChange::Directive(allocations)
            }]
        } else if kind == DirectiveKind::ExitData && self.finalizes(index) {
            finalized(directive)
        } else if kind == DirectiveKind::Atomic && self.is_redundant(index) {
            let mut one = Directive::new(&[Leaf::Parallel]);
            one.add(Clause::text("num_threads", "1"));
            vec![SourceChange::Pair(one, directive)]
        } else {
            vec![SourceChange::Directive(directive)]
        }
    }

    /// Has the host wait for all queues before a directive, and at the end of its region, where the plan says so.
    fn wait_around(&mut self, index: usize, before: &mut Vec<String>, at_end: &mut Vec<String>) {
        let directive = &self.bound[index].directive;
        let reported = || diag::synchronous(directive.span, crate::acc::name(directive.kind));
        if self.plan.notes[index].waits_at_end && at_end.is_empty() {
            at_end.push(queue::wait_all(self.target.speech));
            self.diags.push(reported());
        }
        if self.plan.notes[index].waits {
            before.insert(0, queue::wait_all(self.target.speech));
            self.diags.push(reported());
        }
    }

    /// What must stand before an `enter data` or `exit data` since it counts by itself. Objects come at once, for the members
    /// that other directives of their queue bring.
    fn counted_first(&self, index: usize, directive: &mut Directive) -> Vec<Directive> {
        let (kind, at) = (self.bound[index].directive.kind, self.bound[index].directive.span.start);
        if !matches!(kind, DirectiveKind::EnterData | DirectiveKind::ExitData) || self.finalizes(index) {
            return Vec::new();
        }
        let is_member = |name: &str| {
            let known = self.symbols.lookup(name, at).map(|symbol| self.symbols.get(symbol).kind);
            known == Some(SymbolKind::Member)
        };
        let Some(mut first) = sections::counted_first(directive, &is_member) else { return Vec::new() };
        if kind == DirectiveKind::EnterData {
            queue::hold(&mut first);
        }
        let more =
            if self.target.speech == BaseLanguage::C { sections::apart(&mut first) } else { Vec::new() };
        more.into_iter().chain([first]).collect()
    }

    /// The lines with which the host waits for the queues of a directive about data where flang cannot put it there.
    fn task_before(&mut self, index: usize, directive: &mut Directive) -> Vec<String> {
        let is_queued = directive.clauses.iter().any(|clause| clause.name == "nowait");
        let task = self.is_flang().then(|| flang::task_before(directive)).flatten();
        if is_queued && task.is_some() {
            self.diags.push(diag::synchronous(self.bound[index].directive.span, "async"));
        }
        task.into_iter().flatten().map(|one| one.line(self.target.speech)).collect()
    }

    /// An update that takes more than one directive: the first one, and `later` turns.
    fn several_updates(
        &mut self,
        index: usize,
        mut first: Directive,
        later: Vec<Turn>,
        gathered: &mut Gathered,
    ) -> Option<Vec<SourceChange>> {
        let speech = self.target.speech;
        let has_statements = |turn: &Turn| !turn.statements.is_empty();
        if !gathered.statements.is_empty() || later.iter().any(has_statements) {
            queue::hold(&mut first);
        }
        self.hold_aliases(index, &mut first);
        let mut before = self.task_before(index, &mut first);
        before.append(&mut gathered.before);
        let bare = pieces::without_lists(&first);
        let (mut more, mut counters) = (Vec::new(), BTreeSet::new());
        let pieces = std::mem::take(&mut gathered.pieces);
        let statements = std::mem::take(&mut gathered.statements);
        let mut own = self.turn(index, &mut first, Turn { pieces, statements, ..Turn::default() }, gathered);
        more.append(&mut own.0);
        counters.extend(own.1);
        for mut turn in later {
            let mut directive = bare.clone();
            std::mem::take(&mut turn.motions).into_iter().for_each(|clause| directive.add(clause));
            let (lines, used) = self.turn(index, &mut directive, turn, gathered);
            more.extend(has_motion(&directive).then(|| directive.line(speech)));
            more.extend(lines);
            counters.extend(used);
        }
        if !self.may_insert(index, &more) {
            return None;
        }
        let mut parts = match has_motion(&first) {
            true => lines_before(before)
                .chain([SourceChange::Directive(first), SourceChange::LinesAfter(more)])
                .collect(),
            false => vec![SourceChange::Statements([before, more].concat())],
        };
        parts.push(SourceChange::Counters(counters.into_iter().collect()));
        Some(parts)
    }

    /// The lines of one turn of an update after its first directive, and the loop variables in them.
    fn turn(
        &self,
        index: usize,
        directive: &mut Directive,
        turn: Turn,
        gathered: &Gathered,
    ) -> (Vec<String>, Vec<usize>) {
        let speech = self.target.speech;
        let (mut lines, counters) = pieces::apart(directive, turn.pieces, speech);
        if !turn.statements.is_empty() {
            lines.extend(self.wait_own_queue(index));
            lines.extend(under(gathered.condition.as_deref(), turn.statements, speech));
        }
        (lines, counters)
    }

    fn report_moved(&mut self, index: usize) {
        let what = "a construct that assigns what its data clauses name";
        self.diags.push(diag::not_yet(self.bound[index].directive.span, what));
    }

    /// What stands for a data directive that has no data but lines.
    fn lines_alone(&mut self, index: usize, gathered: &mut Gathered) -> Option<Vec<SourceChange>> {
        let statements = statements(gathered, self.target.speech);
        let Around { mut before, after } = self.around(index, gathered, [None, None]);
        if !statements.is_empty() {
            before.extend(self.wait_own_queue(index));
        }
        let mut at_end = std::mem::take(&mut gathered.at_end);
        at_end.extend(after);
        if before.is_empty() && statements.is_empty() && at_end.is_empty() {
            return Some(vec![SourceChange::Gone]);
        }
        let lines = Around { before: [before, statements].concat(), after: at_end };
        let stmt = self.bound[index].stmt();
        if stmt.is_some() && !self.may_stand(index, index, &lines) {
            return None;
        }
        let after = lines_after(stmt, lines.after);
        Some(std::iter::once(SourceChange::Statements(distinct(lines.before))).chain(after).collect())
    }

    /// The lines with which the host waits for the queue of a directive.
    fn wait_own_queue(&self, index: usize) -> Vec<String> {
        let queue = self.own_queue(index);
        queue.map(|queue| queue::wait(&queue, self.target.speech)).unwrap_or_default()
    }

    /// The queue that a directive is put into.
    fn own_queue(&self, index: usize) -> Option<String> {
        let mut clauses = self.bound[index].directive.clauses.iter();
        clauses.find_map(|clause| match &clause.kind {
            ClauseKind::Async(queue) if self.target.queues == Queues::Kept => {
                let (known, text) = queue::argument(queue.as_ref(), &|_| None, self.target.speech);
                (known != "sync").then_some(text)
            }
            _ => None,
        })
    }

    /// A directive about data does nothing where the host runs what the device would.
    fn on_device_only(&self, kind: DirectiveKind, directive: &mut Directive) {
        let Some(condition) = self.target.host_fallback else { return };
        if matches!(kind, DirectiveKind::Wait | DirectiveKind::Atomic) {
            return;
        }
        let own = directive.clauses.iter_mut().find(|clause| clause.name == "if");
        match own.map(|clause| &mut clause.body) {
            Some(Body::Text(text)) => *text = format!("({text}) && ({condition})"),
            _ => directive.add(Clause::text("if", condition)),
        }
    }

    fn names_device_pointer(&self, index: usize) -> bool {
        let mut clauses = self.bound[index].directive.clauses.iter();
        clauses
            .any(|clause| matches!(clause.kind, ClauseKind::Data(crate::acc::ast::DataClause::Deviceptr, _)))
    }

    fn finalizes(&self, index: usize) -> bool {
        self.bound[index].directive.clauses.iter().any(|clause| clause.kind == ClauseKind::Finalize)
    }

    /// An `atomic` in code that every gang runs: OpenMP wants a parallel region between `teams` and it.
    fn is_redundant(&self, index: usize) -> bool {
        // A sequential loop shares nothing out: what is around it decides.
        let decisive =
            ancestors(self.bound, index).find(|above| !matches!(self.plan.items[*above], Item::Gone));
        match decisive.map(|above| &self.plan.items[above]) {
            Some(Item::Launch(launch)) => launch.gangs == Gangs::Many && launch.nest.is_none(),
            _ => false,
        }
    }

    /// `declare`: globals of the device, or data for the rest of a function.
    fn declare(&mut self, index: usize, exits: &[Exit], entry: Option<(StmtId, u32)>) -> Lowered {
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
    fn deep(&mut self, index: usize) -> Vec<String> {
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
    fn allocated_here(&self, index: usize, clauses: &[Clause]) -> Vec<String> {
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
    fn freed_at_exit(&self, index: usize, names: &[String]) -> Vec<String> {
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
    fn at_entry(
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
    fn brought_at_entry(&mut self, index: usize, entry: (StmtId, u32)) -> Vec<SourceChange> {
        let names = commons::brought(self.unit, self.bound, index);
        if names.is_empty() {
            return Vec::new();
        }
        let mut update = Directive::new(&[Leaf::Named("target update")]);
        update.add(Clause::list("to", None, &names.join(", ")));
        let parts = self.at_entry(index, vec![SourceChange::Directive(update)], entry);
        parts.into_iter().filter(|part| !matches!(part, SourceChange::Gone)).collect()
    }

    fn routine(&mut self, index: usize, end: Option<u32>) -> Lowered {
        let directive = &self.bound[index].directive;
        let query = self.query(index, "routine");
        let clauses: Vec<usize> = (0..directive.clauses.len()).collect();
        let gathered = self.gather_clauses(index, &clauses, &query, &|kind| is_level(kind));
        let mut rows = self.level_rows(index);
        rows.extend(gathered.rows);
        rows.extend(look::row("directive/routine", &query).map(|row| &row.id));
        self.diags.extend(gathered.diags);
        if gathered.refused {
            return refused_by(rows);
        }
        let mut target = Directive::new(&[Leaf::Named("declare target")]);
        let mut parts = Vec::new();
        match (end, &directive.argument) {
            (Some(_), _) if self.target.speech == BaseLanguage::Fortran => {
                if gathered.variant.is_some() {
                    self.diags.push(diag::not_yet(directive.span, "`bind` in Fortran"));
                    return left();
                }
                parts.push(SourceChange::Specified(target));
            }
            (Some(end), _) => {
                parts.push(match gathered.variant {
                    None => SourceChange::Directive(target),
                    Some(variant) => {
                        let mut other = Directive::new(&[Leaf::Named("declare variant")]);
                        other.argument = Some(variant);
                        other.add(Clause::text("match", "device={kind(nohost)}"));
                        SourceChange::Pair(target, other)
                    }
                });
                parts.push(SourceChange::DirectiveAfter(
                    end,
                    Directive::new(&[Leaf::Named("end declare target")]),
                ));
            }
            (None, Argument::Name(name)) if gathered.variant.is_none() => {
                target.argument = Some(name.text.clone());
                parts.push(match self.target.speech {
                    BaseLanguage::C => SourceChange::Directive(target),
                    BaseLanguage::Fortran => SourceChange::Specified(target),
                });
            }
            (None, _) => {
                self.diags.push(diag::not_yet(directive.span, "`bind` away from the routine it is about"));
                return left();
            }
        }
        Lowered { parts, rows, left: false }
    }
}

/// The page of a directive.
fn page_of(name: &str) -> String {
    format!("directive/{}", name.replace(' ', "-"))
}

/// A directive with these clauses; none without a clause.
fn directive_of(words: &'static str, clauses: Vec<Clause>) -> Option<Directive> {
    let mut directive = Directive::new(&[Leaf::Named(words)]);
    clauses.into_iter().for_each(|clause| directive.add(clause));
    (!directive.clauses.is_empty()).then_some(directive)
}

/// Takes list items out of clauses, and clauses that have none left.
fn without(clauses: &mut Vec<Clause>, names: &[String]) {
    for clause in clauses.iter_mut() {
        if let Body::List(items) = &mut clause.body {
            items.retain(|item| !names.contains(item));
        }
    }
    clauses.retain(|clause| !matches!(&clause.body, Body::List(items) if items.is_empty()));
}

/// Lines at a place where control leaves a function or region.
fn part_at(exit: Exit, lines: &[String]) -> SourceChange {
    match exit {
        Exit::Jump { stmt, braces: false } => SourceChange::Before(stmt, lines.to_vec()),
        Exit::Jump { stmt, braces: true } => SourceChange::Braced(stmt, lines.to_vec()),
        Exit::End(body) => SourceChange::AtEnd(body, lines.to_vec()),
    }
}

fn lines_before(lines: Vec<String>) -> impl Iterator<Item = SourceChange> {
    (!lines.is_empty()).then_some(SourceChange::LinesBefore(lines)).into_iter()
}

fn lines_after(stmt: Option<StmtId>, lines: Vec<String>) -> Option<SourceChange> {
    stmt.filter(|_| !lines.is_empty()).map(|stmt| SourceChange::After(stmt, lines))
}

/// Lines around a construct.
#[derive(Debug, Default)]
struct Around {
    before: Vec<String>,
    after: Vec<String>,
}

/// What stands around a directive: the lines `before` it, the directives `apart` from it, its own `parts`, the lines around and
/// inside (`first`, `last`) its construct, and the head of a block that hides names.
struct Frame {
    before: Vec<String>,
    apart: Vec<SourceChange>,
    parts: Vec<SourceChange>,
    around: Around,
    first: Vec<String>,
    last: Vec<String>,
    hidden: Option<String>,
}

/// Statements under a condition.
fn under(condition: Option<&str>, lines: Vec<String>, speech: BaseLanguage) -> Vec<String> {
    match condition {
        Some(condition) if speech == BaseLanguage::Fortran && !lines.is_empty() => {
            let (first, last) = (format!("if ({condition}) then"), "end if".to_owned());
            std::iter::once(first).chain(lines).chain([last]).collect()
        }
        Some(condition) => lines.into_iter().map(|line| format!("if ({condition}) {line}")).collect(),
        None => lines,
    }
}

/// Lines, each wait once.
fn distinct(lines: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines {
        if !out.contains(&line) {
            out.push(line);
        }
    }
    out
}

/// Whether a directive names data that it moves.
fn has_motion(directive: &Directive) -> bool {
    directive.clauses.iter().any(|clause| matches!(clause.name.as_str(), "to" | "from"))
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

/// Left because one of these rows says so.
fn refused_by(rows: Vec<&'static RowId>) -> Lowered {
    Lowered { left: true, rows, ..Lowered::default() }
}

/// The statements that the clauses have made, each under the directive's condition.
fn statements(gathered: &Gathered, speech: BaseLanguage) -> Vec<String> {
    under(gathered.condition.as_deref(), gathered.statements.clone(), speech)
}

/// Statements, if the clauses have made some; else the directive goes.
fn own_parts(gathered: &Gathered, speech: BaseLanguage) -> Option<Vec<SourceChange>> {
    let statements = statements(gathered, speech);
    Some(vec![if statements.is_empty() { SourceChange::Gone } else { SourceChange::Statements(statements) }])
}

/// `finalize` ends the data's life whatever its counters say: bring it home first, then delete it.
fn finalized(directive: Directive) -> Vec<SourceChange> {
    let mut update = Directive::new(&[Leaf::Named("target update")]);
    let mut exit = Directive::new(&directive.leaves);
    for clause in directive.clauses {
        match (clause.modifier.as_deref(), &clause.body) {
            (Some("from"), Body::List(items)) => {
                items.iter().for_each(|item| update.add(Clause::list("from", None, item)));
                exit.add(Clause { modifier: Some("delete".into()), ..clause });
            }
            (Some("release"), _) => exit.add(Clause { modifier: Some("delete".into()), ..clause }),
            _ => {
                update.add(clause.clone());
                exit.add(clause);
            }
        }
    }
    let has_update = update.clauses.iter().any(|clause| clause.name == "from");
    if has_update { vec![SourceChange::Pair(update, exit)] } else { vec![SourceChange::Directive(exit)] }
}

/// What becomes of the tiles of a loop.
fn tiles(work: &WorkLoop) -> &'static str {
    match (work.tile.is_empty(), work.strips.is_empty()) {
        (false, _) => "kept",
        (true, false) => "loops",
        (true, true) => "lost",
    }
}

/// What else changes where loops are divided: tiles become loops, and loops change places.
fn of_nest(
    work: &WorkLoop,
    query: &RuleQuery,
    rows: &mut Vec<&'static RowId>,
    tuning: &Tuning,
) -> Vec<SourceChange> {
    let heads = work.exchange.iter().map(|heads| SourceChange::Respelled(heads.clone()));
    strips::parts(work, query, rows, tuning).into_iter().chain(heads).collect()
}

/// The directive of a loop, and after it the one that tiles the loops.
fn with_tiles(directive: Directive, work: Option<&WorkLoop>) -> SourceChange {
    match work.map(|work| work.tile.as_slice()) {
        None | Some([]) => SourceChange::Directive(directive),
        Some(sizes) => {
            let mut tile = Directive::new(&[Leaf::Named("tile")]);
            tile.add(Clause::text("sizes", sizes.join(", ")));
            SourceChange::Pair(directive, tile)
        }
    }
}

/// Clauses that the plan resolves.
fn is_level(kind: &ClauseKind) -> bool {
    matches!(
        kind,
        ClauseKind::Gang(_)
            | ClauseKind::Worker(_)
            | ClauseKind::Vector(_)
            | ClauseKind::Seq
            | ClauseKind::Independent
            | ClauseKind::Auto
            | ClauseKind::Collapse { .. }
            | ClauseKind::Tile(_)
            | ClauseKind::DeviceType(_)
    )
}
