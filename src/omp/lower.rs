//! Walks the plan and says each item in OpenMP.
//!
//! Invariant: one `Lowered` for each bound directive; what is left untranslated is said by a diagnostic.

mod compute;
mod declare;
mod frame;
mod routine;

use std::collections::BTreeSet;

use crate::acc::ast::{Argument, ClauseKind, DirectiveKind, Expr, GangArgument, ListItem, PathStep};
use crate::bind::{Bound, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{StmtId, Unit};
use crate::plan::{self, Exit, Gangs, Item, Plan, Saved, Sharing, WorkLoop};
use crate::rules::{Action, Place, Pragma, RowId, Strategy};
use crate::sema::{Class, Symbols};
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
    constant, ends, exits, flang, launch, object, own_section, pieces, profile, qualified, queue, saved,
    sections, strips, turns,
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
