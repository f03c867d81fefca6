//! A compute construct as a kernel and its launcher.
//!
//! Invariant: kernel and launcher name the program's variables by their own names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::lowering::Lowering;
use crate::acc::ast::{Clause, ClauseKind, DirectiveKind, ListItem, ReductionOp};
use crate::bind::descendants;
use crate::cuda::code::change::Change;
use crate::cuda::code::lines::{braced, fitted, unbraced};
use crate::cuda::code::origin;
use crate::cuda::code::text::{Edits, words};
use crate::cuda::fit::{callable, copied, cpp, hoisted, object, obstacle, undeclared};
use crate::cuda::kernel::body::Body;
use crate::cuda::kernel::grid::grid;
use crate::cuda::kernel::launcher::{self, Launcher};
use crate::cuda::kernel::parts::{Host, Made, Words};
use crate::cuda::kernel::privates;
use crate::cuda::kernel::shared::{gang_counters, shared_arrays};
use crate::cuda::kernel::variable::{Making, lengthen};
use crate::cuda::kernel::{inside, place, table, this, window};
use crate::cuda::program::levels::Levels;
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, predefined, refused};
use crate::cuda::schedule::capture::{self, Captured, Environment, Extra, Role};
use crate::cuda::schedule::clause::Asked;
use crate::cuda::schedule::distinct::are_distinct;
use crate::cuda::schedule::nest::{self, Nest};
use crate::cuda::schedule::reduction::reductions_through;
use crate::cuda::schedule::sizes::{Sizes, shape};
use crate::cuda::schedule::{spill, threads};
use crate::cuda::types::{item, spelling};
use crate::host::ir::{StmtId, StmtKind, Unit};
use crate::plan::{self, Item};
use crate::sema::{Class, SymbolId};
use crate::source::Span;

/// One launch: a statement of a compute construct.
#[derive(Clone, Copy)]
pub struct Launch {
    /// The directive whose clauses count.
    pub index: usize,
    /// The statement.
    pub stmt: StmtId,
    /// The directive whose loops are shared out: itself, or a loop directive in a `kernels` construct.
    pub root: Option<usize>,
    /// The construct's data are on the device already.
    pub is_split: bool,
    pub in_kernels: bool,
}

impl<'a> Lowering<'a> {
    /// `parallel`, `serial`, `kernels`, and these combined with `loop`.
    pub fn compute(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        let stmt = bound.stmt().ok_or_else(|| refused(span, "a construct without a statement"))?;
        let code = cpp::code(self.input, self.input.stmt_span(stmt));
        if let Some(why) = self.left.refusal(self.input, span, &code) {
            return Err(why);
        }
        if bound.directive.kind == DirectiveKind::Kernels {
            privates::none_outside(self.input, self.input.stmt_span(stmt))?;
        }
        let asked = Asked::of(self.input, index);
        let kind = bound.directive.kind;
        let in_kernels = matches!(kind, DirectiveKind::Kernels | DirectiveKind::KernelsLoop);
        let calls = match kind {
            DirectiveKind::Kernels => self.kernels(index, stmt)?,
            // Its own loop has an order: only what is in it may run in parallel.
            DirectiveKind::KernelsLoop if bound.directive.clauses.iter().any(is_seq) => {
                self.kernels(index, stmt)?
            }
            _ => {
                let launch = Launch { index, stmt, root: Some(index), is_split: false, in_kernels };
                self.launch(launch, &asked)?
            }
        };
        let mut lines = asked.waits();
        lines.extend(calls);
        let whole = Span { start: span.start, end: self.input.stmt_span(stmt).end };
        let between = Span { start: span.end, end: self.input.stmt_span(stmt).start };
        let own = self.input.bound.iter().map(|one| one.directive.span);
        let own: Vec<Span> = own.filter(|own| own.start <= between.end && between.start < own.end).collect();
        let between_lines = self.input.file().text(between);
        let mut at = between.start;
        let mut has_condition = false;
        for line in between_lines.split_inclusive('\n') {
            let is_own = own.iter().any(|span| span.start <= at + line.len() as u32 && at < span.end);
            has_condition |= line.trim_start().starts_with('#') && !is_own;
            at += line.len() as u32;
        }
        if has_condition {
            return self.beside_conditions(index, &asked, &lines);
        }
        let line = self.input.file().lines.line(span.start);
        let column = (span.start - self.input.file().lines.span(line).start) as usize;
        let Some(condition) = &asked.condition else {
            let is_body = self.input.bound[index].unbraced || self.input.bound[index].is_body;
            if is_body && lines.len() > 1 {
                lines = braced(lines);
            }
            let lines = lines.iter().flat_map(|line| fitted(line, column)).collect();
            return Ok(vec![Change::Lines(whole, lines)]);
        };
        // Where the condition is false, the host runs the construct.
        let mut edits = Edits::default();
        for at in descendants(self.input.bound, index) {
            edits.remove_lines(self.input.file(), self.input.bound[at].directive.span);
        }
        let original = edits.render(self.input.file(), self.input.stmt_span(stmt), 0)?;
        let mut all = vec![format!("if ({condition}) {{")];
        all.extend(lines.iter().flat_map(|line| fitted(&format!("    {line}"), column)));
        all.push("} else {".to_owned());
        let (before, behind) = super::apart::saved(self.input, index, stmt)?;
        all.extend(before.into_iter().map(|line| format!("    {line}")));
        all.extend(
            original.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }),
        );
        all.extend(behind.into_iter().map(|line| format!("    {line}")));
        all.push("}".to_owned());
        Ok(vec![Change::Lines(whole, all)])
    }

    /// A construct with lines of the preprocessor between directive and code: in other branches, the code stays.
    fn beside_conditions(
        &self,
        index: usize,
        asked: &Asked,
        lines: &[String],
    ) -> Result<Vec<Change>, Refused> {
        let span = self.input.bound[index].directive.span;
        let [call] = lines else {
            return Err(refused(span, "several launches beside conditions of the preprocessor"));
        };
        let call = call.trim_end_matches(';');
        let head = match &asked.condition {
            Some(condition) => format!("if (({condition}) ? ({call}, 0) : 1)"),
            None => format!("if (({call}, 0)) /* the device has run it */"),
        };
        let mut changes = vec![Change::Lines(span, vec![head])];
        for at in descendants(self.input.bound, index) {
            changes.push(Change::Gone(self.input.bound[at].directive.span));
        }
        Ok(changes)
    }

    /// The launches of a `kernels` construct: one for each loop that is to run in parallel, and one for what is between.
    fn kernels(&mut self, index: usize, stmt: StmtId) -> Result<Vec<String>, Refused> {
        let asked = Asked::of(self.input, index);
        let unit = self.input.unit();
        let is_parallel = |at: &usize| {
            let directive = &self.input.bound[*at].directive;
            directive.kind == DirectiveKind::Loop && !directive.clauses.iter().any(is_seq)
        };
        let loops: HashMap<StmtId, usize> = descendants(self.input.bound, index)
            .filter(is_parallel)
            .filter_map(|at| Some((self.input.bound[at].stmt()?, at)))
            .collect();
        let parts = statements(unit, stmt);
        let can_split = parts.iter().all(|stmt| {
            !matches!(
                unit.stmt(*stmt).kind,
                StmtKind::Decl(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) | StmtKind::Goto(_)
            )
        });
        let can_split = can_split
            && !plan::hands_on_pointer(unit, self.input.symbols, stmt, &parts)
            && !self.splits_private(index);
        let plan = &self.input.plan;
        let host_runs = |part: &StmtId| plan.host_runs.contains(part) || plan.by_host.contains_key(part);
        if let [only] = parts.as_slice()
            && can_split
            && !host_runs(only)
        {
            let root = loops.get(only).copied();
            let launch = Launch { index, stmt: *only, root, is_split: false, in_kernels: true };
            return self.launch(launch, &asked);
        }
        let any_parallel = parts.iter().any(|part| loops.contains_key(part) || host_runs(part));
        if !can_split || !any_parallel {
            let launch = Launch { index, stmt, root: None, is_split: false, in_kernels: true };
            return self.launch(launch, &asked);
        }
        let mut inner = asked.clone();
        inner.keep_gangs();
        let mut lines = self.region_lines(index, stmt, true)?;
        lines.extend(self.parts(index, &parts, &loops, &inner)?);
        lines.push("acc2omp_end();".to_owned());
        Ok(lines)
    }

    /// Whether a `kernels` construct that is split would part the statements of a loop with private variables: one launch
    /// would not find what another has left in them.
    fn splits_private(&self, index: usize) -> bool {
        let input = self.input;
        let is_split = |at: &usize| {
            let stmt = input.bound[*at].stmt();
            *at == index || stmt.is_some_and(|stmt| input.plan.host_runs.contains(&stmt))
        };
        let mut split = std::iter::once(index).chain(descendants(input.bound, index)).filter(is_split);
        split.any(|at| input.clauses(at).any(|kind| matches!(kind, ClauseKind::Private(_))))
    }

    /// The launches of the parts of a `kernels` construct, with the loops and branches that the host runs around them.
    fn parts(
        &mut self,
        index: usize,
        parts: &[StmtId],
        loops: &HashMap<StmtId, usize>,
        asked: &Asked,
    ) -> Result<Vec<String>, Refused> {
        let unit = self.input.unit();
        let mut calls = Vec::new();
        for part in parts {
            if let Some(lines) = self.by_host(index, *part)? {
                calls.extend(lines);
                continue;
            }
            if !self.input.plan.host_runs.contains(part) {
                let root = loops.get(part).copied();
                let launch = Launch { index, stmt: *part, root, is_split: true, in_kernels: true };
                calls.extend(self.launch(launch, asked)?);
                continue;
            }
            let mut from = self.input.stmt_span(*part).start;
            for body in plan::bodies(&unit.stmt(*part).kind) {
                let span = self.input.stmt_span(body);
                let head = self.input.file().text(Span { start: from, end: span.start }).into_owned();
                // Directives between the head and what it governs have been heeded.
                let head =
                    head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
                calls.extend(head.map(str::to_owned));
                calls.push("{".to_owned());
                let inside = self.parts(index, &statements(unit, body), loops, asked)?;
                calls.extend(inside.iter().map(|line| format!("    {line}")));
                calls.push("}".to_owned());
                from = span.end;
            }
        }
        Ok(calls)
    }

    /// The lines of a statement that prints and that the host runs, and before it what brings arrays from the device. Scalars
    /// come back with each launch.
    fn by_host(&self, index: usize, part: StmtId) -> Result<Option<Vec<String>>, Refused> {
        let input = self.input;
        let Some(by_host) = input.plan.by_host.get(&part) else { return Ok(None) };
        let text = input.file().text(input.stmt_span(part));
        if text.contains("\\\n") || text.contains('#') {
            return Ok(None);
        }
        let place = input.bound[index].directive.span.start;
        let mut lines = Vec::new();
        for (name, symbol) in &by_host.updates {
            let mut items = input.clauses(index).flat_map(|kind| match kind {
                ClauseKind::Data(_, list) => list.as_slice(),
                _ => &[],
            });
            let is_own = |item: &&ListItem| input.symbols.lookup(item.variable(), place) == Some(*symbol);
            let address = match (items.find(is_own), input.declaration(*symbol)) {
                (Some(item), _) => item::address(input, index, item)?,
                (None, Some((_, decl))) if input.symbols.get(*symbol).class == Class::Array => {
                    item::whole(input, name, decl)
                }
                _ => continue,
            };
            lines.push(format!("acc_update_self({}, {});", address.from, address.bytes));
        }
        lines.extend(text.lines().map(|line| line.trim().to_owned()));
        Ok(Some(lines))
    }

    /// Makes kernel and launcher of one launch; the call of the launcher.
    fn launch(&mut self, launch: Launch, asked: &Asked) -> Result<Vec<String>, Refused> {
        let in_place = cpp::is_in_place(self.input, launch.index, launch.stmt);
        let Launch { index, stmt, is_split, in_kernels, .. } = launch;
        let object = object::needed(self.input, index, stmt).filter(|_| in_place);
        let says_lines =
            predefined::asks_for_line(self.input, &self.input.source, self.input.stmt_span(stmt));
        let line_directives = self.input.line_directives || says_lines;
        let input = Input { in_place, object, line_directives, ..*self.input };
        let input = &input;
        if in_place && let Some(why) = obstacle::obstacle(input, index, stmt) {
            return Err(why);
        }
        spelling::none_too_long(input, input.stmt_span(stmt))?;
        if !in_place {
            callable::none(input, index, stmt)?;
            undeclared::none(input, index, stmt)?;
        }
        let asked = &self.gangs(input, index, asked);
        let nest = self.nest(input, launch);
        let own = threads::own(input, index, &nest, in_kernels);
        let is_one_gang = match &asked.gangs {
            Some(gangs) => gangs.trim() == "1",
            None => !nest.values().any(|shared| shared.levels.gang),
        };
        let kind = capture::Kind { in_kernels, is_split, is_one_gang };
        let Environment { variables: mut captured, extras } =
            capture::capture(input, index, stmt, &nest, kind, &own)?;
        self.diags.extend(threads::said(input, index, &own));
        if !in_place {
            let within = input.stmt_span(stmt);
            captured.retain(|one| {
                let is_bound = copied::is_bound(input, within, one.symbol);
                !(is_bound && self.device.names_constant(input, &one.name))
            });
        }
        captured.iter_mut().for_each(|one| lengthen(input, stmt, one));
        if let Some(one) = captured.iter().find(|one| is_macro_since(input, stmt, one)) {
            let what = format!("`{}`, which is a macro's name by then,", one.name);
            return Err(refused(input.bound[index].directive.span, &what));
        }
        let shape = shape(input, &nest, stmt, asked);
        spill::spill(input, &nest, (stmt, shape), &mut captured)?;
        let names = names(input, index, stmt, &captured);
        let name = self.launcher_name(input, launch);
        let mut making = making(input, &nest, stmt, shape, names);
        let is_distinct = are_distinct(input, index, stmt, &captured);
        making.distinct = is_distinct;
        making.is_one_gang = is_one_gang;
        making.constructs = reduced_by_construct(input, index);
        making.atomic = threads::atomic_scalars(input, index);
        this::add(&mut making, index);
        // What has parts comes before them, and leaves behind them.
        let (objects, others): (Vec<Extra>, Vec<Extra>) = extras.into_iter().partition(|one| one.is_object);
        objects.iter().for_each(|object| making.extra_item(object));
        let (results, arrays) = variables(&mut making, &captured)?;
        others.iter().for_each(|extra| making.extra_item(extra));
        this::attach(&mut making, index, &captured);
        let Making { names, mut made, mut host, common, flat, .. } = making;
        let mut tables = match shape.shape.many && !in_place {
            true => table::tables(input, index, stmt, &nest, &captured),
            false => BTreeMap::new(),
        };
        let kernel = launcher::kernel_name(&name);
        let has_tables = !tables.is_empty();
        let grid = grid(input, &nest, &captured, shape, (&host.words, asked), (&kernel, has_tables))?;
        tables.retain(|_, _| grid.is_counted);
        let mut body = Body {
            input,
            nest: &nest,
            region: input.stmt_span(stmt),
            shape: shape.shape,
            names,
            edits: Edits::default(),
            common,
            flat,
            template: grid.template,
            index: host.words.index,
            results,
            arrays,
            tables: HashMap::new(),
            windows: Vec::new(),
            is_routine: false,
            function: input.bound[index].function,
            mode: Levels::NONE,
            sizes: Some((shape.vector, shape.workers)),
            is_together: true,
            is_one_gang,
        };
        prepare(&mut body, stmt)?;
        gang_counters(&mut body, index)?;
        let shares = shared_arrays(&mut body, &captured, stmt, shape.workers, &mut made)?;
        if !shares {
            let parts = (&mut made, &mut host);
            body.tables = table::declare(input, &captured, &tables, &mut body.names, parts)?;
        }
        body.windows = window::declare(&mut body, &captured, is_distinct, (&mut made, &host))?;
        let code = code(&mut body, stmt)?;
        let place = input.place(input.bound[index].directive.span.start);
        if in_place {
            self.device.in_place = true;
            let block = place::Block {
                place: &place,
                host: &host,
                made: &made,
                captured: &captured,
                grid: &grid,
                shape: (shape.vector, shape.workers),
                queue: asked.queue.as_deref(),
                code: &code,
            };
            let lines = place::lines(&block, &mut body.names);
            let Some(Ok(home)) = hoisted::home(input, index, stmt) else { return Ok(lines) };
            let (function, call) = hoisted::function(input, &home, &name, stmt, &lines);
            self.hoisted.push((index, function));
            return Ok(vec![call]);
        }
        let launcher = Launcher {
            name: &name,
            place: &place,
            host: &host,
            made: &made,
            grid: &grid,
            shape: (shape.vector, shape.workers),
            queued: asked.queue.is_some(),
        };
        self.add(input, launch, &launcher, &code);
        let mut arguments: Vec<String> = host.arguments.clone();
        arguments.extend(grid.argument.clone());
        arguments.extend(asked.queue.clone());
        Ok(vec![format!("{name}({});", arguments.join(", "))])
    }

    /// What is asked for, with one gang where the gangs could not combine what they reduce.
    fn gangs(&mut self, input: &Input, index: usize, asked: &Asked) -> Asked {
        let mut asked = asked.clone();
        if let Some(said) = &input.plan.notes[index].one_gang {
            self.diags.push(said.clone());
            asked.gangs = Some("1".to_owned());
        }
        asked
    }

    /// The loops of a launch that are shared out.
    fn nest(&mut self, input: &Input<'a>, launch: Launch) -> Nest<'a> {
        let Launch { index, root, in_kernels, .. } = launch;
        let kind = input.bound[index].directive.kind;
        let is_serial = matches!(kind, DirectiveKind::Serial | DirectiveKind::SerialLoop);
        if root.is_none() && in_kernels && plan_divides(input, launch.stmt) {
            self.diags.push(crate::diag::kernels_sequential(input.bound[index].directive.name_span));
        }
        let Some(root) = root.filter(|_| !is_serial) else {
            return Nest::new();
        };
        let (mut nest, said) = nest::nest(input, root);
        self.diags.extend(said);
        reductions_through(input, index, &mut nest);
        nest
    }

    /// A name for a launcher: of the file, the function and the line.
    fn launcher_name(&mut self, input: &Input, launch: Launch) -> String {
        let Launch { index, stmt, root, is_split, .. } = launch;
        let start = |at: usize| input.bound[at].directive.span.start;
        let place = match is_split {
            true => input.stmt_span(stmt).start.max(start(root.unwrap_or(index))),
            false => start(index),
        };
        let line = input.file().line_number(place);
        let stem = input.unit_name.to_owned();
        let function = input.bound[index].function.map(|id| input.unit().function(id).name.as_str());
        let function = function.unwrap_or_default().replace("::", "_").replace('~', "");
        let name = format!("{stem}_{function}_{line}");
        self.launchers.fresh(&name)
    }

    /// Adds kernel and launcher to the device file, the launcher's declaration to the header.
    fn add(&mut self, input: &Input, launch: Launch, launcher: &Launcher, code: &str) {
        let Launch { index, stmt, root, is_split, .. } = launch;
        let own = root.filter(|root| *root != index);
        let mut text = String::new();
        for directive in [Some(index), own].into_iter().flatten() {
            for line in input.file().text(input.bound[directive].directive.span).lines() {
                let line = line.trim().trim_end_matches('\\').trim_end();
                text += &format!("// {line}\n");
            }
        }
        text += &launcher::kernel(launcher, code);
        text += &launcher::text(launcher);
        let key = match root.is_none() && is_split {
            true => input.stmt_span(stmt).start,
            false => input.bound[root.unwrap_or(index)].directive.span.start,
        };
        let whole = Span { start: input.bound[index].directive.span.start, end: input.stmt_span(stmt).end };
        self.device.kernel(key, text, whole);
        self.device.prototype(key, launcher::prototype(launcher));
    }
}

/// What a construct itself reduces, and not its loop.
fn reduced_by_construct(input: &Input, index: usize) -> HashSet<SymbolId> {
    let bound = &input.bound[index].directive;
    let clauses = input.clauses(index).filter(|_| bound.kind == DirectiveKind::Parallel);
    let items = clauses.flat_map(|kind| match kind {
        ClauseKind::Reduction(_, list) => list.as_slice(),
        _ => &[],
    });
    items.filter_map(|item| input.symbols.lookup(item.variable(), bound.span.start)).collect()
}

/// Whether the name of a variable has become a macro's, or no longer is one, behind its declaration.
fn is_macro_since(input: &Input, stmt: StmtId, one: &Captured) -> bool {
    let Some(choices) = input.choices.filter(|choices| choices.names().contains(&one.name)) else {
        return false;
    };
    let files = input.headers.iter().chain([&input.source]);
    let number = files.into_iter().position(|seen| std::ptr::eq(seen.unit, one.seen.unit));
    let declared = choices.place(number.unwrap_or(choices.own()), one.decl.span.start);
    !choices.is_same_between(&one.name, &declared, &choices.place(choices.own(), input.stmt_span(stmt).start))
}

/// The names that are taken in a launch.
fn names(input: &Input, index: usize, stmt: StmtId, captured: &[Captured]) -> Names {
    let span = match input.bound[index].function.filter(|_| input.in_place) {
        Some(id) => input.unit().function(id).span,
        None => input.stmt_span(stmt),
    };
    let directive = input.file().text(input.bound[index].directive.span);
    let mut names = Names::among(input, &format!("{}\n{directive}", input.file().text(span)));
    for one in captured {
        names.take(&one.name);
    }
    names
}

/// What a kernel calls the type that counts its iterations, if the launcher chooses it.
fn index_word(input: &Input) -> &'static str {
    const WORD: &str = "Index";
    let is_program = input.choices.is_some_and(|choices| choices.names().contains(WORD))
        || words(&input.file().text(Span { start: 0, end: input.file().bytes.len() as u32 })).contains(&WORD);
    if is_program { "acc2omp_Index" } else { WORD }
}

/// Kernel and launcher of a launch without any variable.
fn making<'a, 'b>(
    input: &'b Input<'a>,
    nest: &'b Nest<'a>,
    stmt: StmtId,
    shape: Sizes,
    mut names: Names,
) -> Making<'a, 'b> {
    let words = Words {
        region: names.fresh("region"),
        gangs: names.fresh("gangs"),
        threads: names.fresh("threads"),
        kernel: names.fresh("kernel"),
        trips: names.fresh("trips"),
        gang_count: names.fresh("gang_count"),
        queue: names.fresh("queue"),
        index: index_word(input),
    };
    Making {
        input,
        nest,
        stmt,
        shape,
        distinct: false,
        is_one_gang: false,
        atomic: BTreeSet::new(),
        constructs: HashSet::new(),
        names,
        made: Made::default(),
        host: Host { words, in_place: input.in_place, ..Host::default() },
        common: HashSet::new(),
        flat: HashMap::new(),
    }
}

/// What the gangs reduce, and the arrays of each thread that are combined at the end.
type Reduced = (HashMap<SymbolId, ReductionOp>, HashSet<SymbolId>);

/// Adds all variables; what is reduced.
fn variables<'a>(making: &mut Making<'a, '_>, captured: &[Captured<'a>]) -> Result<Reduced, Refused> {
    let (mut results, mut arrays) = Reduced::default();
    for one in captured {
        let before = making.host.params.len();
        making.variable(one)?;
        // What the region assigns is no constant of the host.
        let is_assigned = one.used.written || one.used.part_written;
        for (_, header) in making.host.params[before..].iter_mut().filter(|_| is_assigned) {
            if let Some(rest) = header.strip_prefix("const void *") {
                *header = format!("void *{rest}");
            }
        }
        match one.role {
            Role::Reduction(_) if making.is_only_gangs(one.symbol) => {}
            Role::Reduction(op) => drop(results.insert(one.symbol, op)),
            Role::ReductionArray(..) => drop(arrays.insert(one.symbol)),
            _ => {}
        }
    }
    Ok((results, arrays))
}

/// Says the code of a construct as that of a kernel, before its loops are distributed.
fn prepare(body: &mut Body, stmt: StmtId) -> Result<(), Refused> {
    let input = body.input;
    if input.in_place {
        inside::bare(input, input.stmt_span(stmt), &mut body.edits);
    }
    let function = body.function;
    if let Some(function) = function.filter(|_| !input.in_place) {
        let name = input.unit().function(function).name.as_str();
        let name = name.rsplit("::").next().unwrap_or(name);
        predefined::name_function(input, input.stmt_span(stmt), name, &mut body.edits)?;
    }
    body.prepare(stmt)
}

/// The code of a kernel, indented by one level.
fn code(body: &mut Body, stmt: StmtId) -> Result<String, Refused> {
    let input = body.input;
    let code = body.code(stmt, 4)?;
    let is_block = matches!(input.unit().stmt(stmt).kind, StmtKind::Block(_));
    let code = if is_block && !body.nest.contains_key(&stmt) { unbraced(&code) } else { code };
    Ok(match input.says_lines() {
        true => format!("{code}\n{}", origin::BACK),
        false => code,
    })
}

fn is_seq(clause: &Clause) -> bool {
    clause.kind == ClauseKind::Seq
}

/// The statements of a block, or the one statement that there is.
fn statements(unit: &Unit, stmt: StmtId) -> Vec<StmtId> {
    let list = match &unit.stmt(stmt).kind {
        StmtKind::Block(list) => list.clone(),
        _ => vec![stmt],
    };
    list.into_iter().filter(|stmt| !matches!(unit.stmt(*stmt).kind, StmtKind::Empty)).collect()
}

/// Whether the plan divides a loop in code that one thread runs here: why the rest of it is not parallel, the plan has said.
fn plan_divides(input: &Input, stmt: StmtId) -> bool {
    let code = input.stmt_span(stmt);
    let inside = input.bound.iter().zip(&input.plan.items).filter(|(one, _)| {
        let governed = one.stmt().filter(|_| !one.directive.kind.is_compute());
        governed.is_some_and(|governed| code.contains(input.stmt_span(governed)))
    });
    let is_divided = |item: &Item| match item {
        Item::Launch(launch) => launch.nest.is_some(),
        Item::Loop(_) => true,
        _ => false,
    };
    inside.into_iter().any(|(_, item)| is_divided(item))
}
