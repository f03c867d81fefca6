//! A launch: a statement of a compute construct as a kernel with what starts it.
//!
//! Invariant: kernel and launcher name the program's variables by their own names.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rustc_hash::FxHashSet;

use super::lowering::Lowering;
use crate::acc::ast::{ClauseKind, DirectiveKind, ReductionOp};
use crate::cuda::code::lines::unbraced;
use crate::cuda::code::origin;
use crate::cuda::code::text::{Edits, words};
use crate::cuda::fit::placement::Placement;
use crate::cuda::fit::{copied, hoisted};
use crate::cuda::kernel::body::Body;
use crate::cuda::kernel::grid::{Grid, Launched, grid};
use crate::cuda::kernel::launcher::{self, Launcher};
use crate::cuda::kernel::parts::{Host, Made, Words};
use crate::cuda::kernel::shared::{gang_counters, shared_arrays};
use crate::cuda::kernel::variable::{CodeFacts, Making, lengthen};
use crate::cuda::kernel::{inside, place, table, this, window};
use crate::cuda::program::levels::Levels;
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, defines, predefined, refused, sizes};
use crate::cuda::schedule::capture::{self, Captured, Environment, Extra, Role};
use crate::cuda::schedule::clause::LaunchRequest;
use crate::cuda::schedule::distinct::are_distinct;
use crate::cuda::schedule::nest::{self, Nest};
use crate::cuda::schedule::sizes::{Sizes, shape};
use crate::cuda::schedule::{spill, threads};
use crate::host::ir::{StmtId, StmtKind};
use crate::plan::Item;
use crate::sema::SymbolId;
use crate::source::Span;

/// One launch: a statement of a compute construct.
#[derive(Clone, Copy)]
pub struct Launch {
    /// The directive whose clauses count.
    pub index: usize,
    /// The statement.
    pub stmt: StmtId,
    /// The directive whose loops are distributed: itself, or a loop directive in a `kernels` construct.
    pub root: Option<usize>,
    /// The construct's data are on the device already.
    pub is_split: bool,
    pub in_kernels: bool,
}

/// What is decided about a launch before any of it is written.
struct Scheduled<'a> {
    request: LaunchRequest,
    /// The loops that gangs and threads divide.
    nest: Nest<'a>,
    /// The variables from outside, and what else the region gets.
    captured: Vec<Captured<'a>>,
    extras: Vec<Extra>,
    /// The branches of other builds that declare the variables otherwise.
    others: BTreeSet<(usize, Span)>,
    sizes: Sizes,
    is_one_gang: bool,
    /// No two pointers alias.
    is_distinct: bool,
}

/// What the gangs reduce, and the arrays of each thread that are combined at the end.
#[derive(Default)]
struct Reduced {
    results: HashMap<SymbolId, ReductionOp>,
    arrays: HashSet<SymbolId>,
}

/// A kernel, and what the host does to start it.
struct Kernel {
    code: String,
    made: Made,
    host: Host,
    grid: Grid,
    /// The names that are taken.
    names: Names,
}

impl<'a> Lowering<'a> {
    /// Makes kernel and launcher of one launch; the call of the launcher.
    pub fn launch(&mut self, launch: Launch, request: &LaunchRequest) -> Result<Vec<String>, Refused> {
        let placement = self.placements.launch(launch.stmt).found()?;
        let placed = Input { in_place: placement.is_in_place(), object: placement.object(), ..*self.input };
        let input = &predefined::directed(&placed, placed.stmt_span(launch.stmt));
        let scheduled = self.scheduled(input, launch, request)?;
        let name = self.launcher_name(input, launch);
        let kernel = kernel(input, launch, &scheduled, &name)?;
        if !input.in_place {
            return Ok(vec![self.in_device_file(input, launch, &scheduled, (&name, &kernel))]);
        }
        let lines = self.in_place(input, launch, &scheduled, kernel);
        let Placement::Hoisted { home, .. } = placement else { return Ok(lines) };
        let (function, call) = hoisted::function(input, home, &name, launch.stmt, &lines);
        self.hoisted.push((launch.index, function));
        Ok(vec![call])
    }

    /// Copies the constants that a construct names where C++ wants one.
    fn copy_bounds(
        &mut self,
        input: &Input<'a>,
        (index, stmt): (usize, StmtId),
        captured: &mut Vec<Captured>,
    ) -> Result<(), Refused> {
        let refused = |symbol: SymbolId, what: &str| {
            let what = format!("`{}`, a {what},", input.symbols.get(symbol).name);
            Err(refused(input.bound[index].directive.span, &what))
        };
        let is_const = |symbol: &SymbolId| input.symbols.get(*symbol).is_const;
        if let Some(size) = copied::tiles(input, index, stmt).into_iter().find(|size| !is_const(size)) {
            return refused(size, "variable that is the size of a tile");
        }
        for bound in copied::bounds(input, index, stmt).into_iter().filter(|_| !input.in_place) {
            if !self.device.names_constant(input, bound) {
                return refused(bound, "constant of the host that is the size of an array or of a tile");
            }
            captured.retain(|one| one.symbol != bound);
        }
        Ok(())
    }

    /// Decides what runs where and which variables go there.
    fn scheduled(
        &mut self,
        input: &Input<'a>,
        launch: Launch,
        request: &LaunchRequest,
    ) -> Result<Scheduled<'a>, Refused> {
        let Launch { index, stmt, is_split, in_kernels, .. } = launch;
        let mut request = self.gangs(input, index, request);
        let nest = self.nest(input, launch);
        let is_divided = nest.values().any(|shared| shared.levels().gang);
        let has_gangs = request.gangs.is_some() || is_divided;
        // In `kernels`, several gangs run only the loops that they divide.
        let is_in_order = in_kernels && !is_divided;
        if has_gangs && (is_in_order || nest::needs_one_gang(input, launch.root.unwrap_or(index))) {
            request.gangs = Some("1".to_owned());
        }
        let own = threads::own(input, index, &nest, in_kernels);
        let is_one_gang = match &request.gangs {
            Some(gangs) => gangs.trim() == "1",
            None => !is_divided,
        };
        let kind = capture::Kind { in_kernels, is_split, is_one_gang };
        let Environment { variables: mut captured, extras } =
            capture::capture(input, index, stmt, &nest, kind, &own)?;
        self.diags.extend(threads::said(input, index, &own));
        self.copy_bounds(input, (index, stmt), &mut captured)?;
        captured.iter_mut().for_each(|one| lengthen(input, stmt, one));
        if let Some(one) = captured.iter().find(|one| is_macro_since(input, stmt, one)) {
            let what = format!("`{}`, which is a macro's name by then,", one.name);
            return Err(refused(input.bound[index].directive.span, &what));
        }
        if let Some(one) = captured.iter().find(|one| is_size_since(input, stmt, one)) {
            let what = format!("`{}`, whose size a macro says that has another meaning by then,", one.name);
            return Err(refused(input.bound[index].directive.span, &what));
        }
        let mut others = BTreeSet::new();
        for one in &captured {
            let place = (input.number(&one.written.0), one.written.1);
            others.extend(self.hidden.declarations(input, place, input.bound[index].directive.span)?);
        }
        let sizes = shape(input, &nest, stmt, &request);
        spill::spill(input, &nest, (stmt, sizes), &mut captured)?;
        let is_distinct = are_distinct(input, index, stmt, &captured);
        Ok(Scheduled { request, nest, captured, extras, others, sizes, is_one_gang, is_distinct })
    }

    /// The block of an inline launch.
    fn in_place(
        &mut self,
        input: &Input,
        launch: Launch,
        scheduled: &Scheduled,
        kernel: Kernel,
    ) -> Vec<String> {
        let Kernel { code, made, host, grid, mut names } = kernel;
        self.device.in_place = true;
        let block = place::Block {
            place: &input.place(input.bound[launch.index].directive.span.start),
            host: &host,
            made: &made,
            captured: &scheduled.captured,
            grid: &grid,
            shape: (scheduled.sizes.vector, scheduled.sizes.workers),
            queue: scheduled.request.queue.as_deref(),
            code: &code,
        };
        place::lines(&block, &mut names)
    }

    /// Adds kernel and launcher to the device file; the call of the launcher.
    fn in_device_file(
        &mut self,
        input: &Input,
        launch: Launch,
        scheduled: &Scheduled,
        (name, kernel): (&str, &Kernel),
    ) -> String {
        let request = &scheduled.request;
        let launcher = Launcher {
            name,
            place: &input.place(input.bound[launch.index].directive.span.start),
            host: &kernel.host,
            made: &kernel.made,
            grid: &kernel.grid,
            shape: (scheduled.sizes.vector, scheduled.sizes.workers),
            queued: request.queue.is_some(),
        };
        let key = self.add(input, launch, &launcher, &kernel.code);
        self.device.depends(key, scheduled.others.iter().copied());
        let params = kernel.host.params.iter();
        let mut arguments: Vec<String> = params.map(|param| param.argument.clone()).collect();
        arguments.extend(kernel.grid.passed.as_ref().map(|passed| passed.argument.clone()));
        arguments.extend(request.queue.clone());
        format!("{name}({});", arguments.join(", "))
    }

    /// What is asked for, with one gang where the gangs could not combine what they reduce.
    fn gangs(&mut self, input: &Input, index: usize, request: &LaunchRequest) -> LaunchRequest {
        let mut request = request.clone();
        if let Some(said) = &input.plan.notes[index].one_gang {
            self.diags.push(said.clone());
            request.gangs = Some("1".to_owned());
        }
        request
    }

    /// The loops of a launch that are distributed.
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
        let (nest, said) = nest::nest(input, root);
        self.diags.extend(said);
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
        let words = self.words.get_or_init(|| words_with(input, &stem));
        loop {
            let name = self.launchers.fresh(&name);
            if !words.contains(&name) && !words.contains(&launcher::kernel_name(&name)) {
                return name;
            }
        }
    }

    /// Adds kernel and launcher to the device file, the launcher's declaration to the header; their place.
    fn add(&mut self, input: &Input, launch: Launch, launcher: &Launcher, code: &str) -> u32 {
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
        key
    }
}

/// The words of the program that begin as the names of its launchers do.
fn words_with(input: &Input, stem: &str) -> FxHashSet<String> {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = format!("{stem}_");
    let mut found = FxHashSet::default();
    for seen in input.files() {
        let bytes = &seen.file.bytes;
        for at in memchr::memmem::find_iter(bytes, &start) {
            let begins = !at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(is_in_word);
            let word = bytes.iter().skip(at).copied().take_while(is_in_word).collect();
            found.extend(String::from_utf8(word).ok().filter(|_| begins));
        }
    }
    found
}

/// Writes the kernel of a launch.
fn kernel(input: &Input, launch: Launch, scheduled: &Scheduled, name: &str) -> Result<Kernel, Refused> {
    let Launch { index, stmt, .. } = launch;
    let Scheduled { nest, captured, sizes, is_one_gang, is_distinct, .. } = scheduled;
    let (making, reduced) = variables(input, launch, scheduled)?;
    let Making { names, mut made, mut host, common, flat, .. } = making;
    let mut tables = match sizes.shape.many && !input.in_place {
        true => table::tables(input, index, stmt, nest, captured),
        false => BTreeMap::new(),
    };
    let grid = grid(&Launched {
        input,
        nest,
        captured,
        sizes: *sizes,
        words: &host.words,
        request: &scheduled.request,
        kernel: &launcher::kernel_name(name),
        has_tables: !tables.is_empty(),
    })?;
    tables.retain(|_, _| grid.is_counted);
    let mut body = Body {
        input,
        nest,
        region: input.stmt_span(stmt),
        shape: sizes.shape,
        names,
        edits: Edits::default(),
        common,
        reused: HashSet::new(),
        flat,
        template: grid.template,
        index: host.words.index,
        results: reduced.results,
        arrays: reduced.arrays,
        tables: HashMap::new(),
        windows: Vec::new(),
        is_routine: false,
        function: input.bound[index].function,
        mode: Levels::NONE,
        sizes: Some((sizes.vector, sizes.workers)),
        is_together: true,
        led_to: OnceCell::new(),
        is_one_gang: *is_one_gang,
    };
    prepare(&mut body, stmt)?;
    gang_counters(&mut body, index)?;
    let shares = shared_arrays(&mut body, captured, stmt, sizes.workers, &mut made)?;
    if !shares {
        let parts = (&mut made, &mut host);
        body.tables = table::declare(input, captured, &tables, &mut body.names, parts)?;
    }
    body.windows = window::declare(&mut body, captured, *is_distinct, (&mut made, &host))?;
    let code = code(&mut body, stmt)?;
    Ok(Kernel { code, made, host, grid, names: body.names })
}

/// What the variables become in kernel and launcher, and what is reduced.
fn variables<'a, 'b>(
    input: &'b Input<'a>,
    launch: Launch,
    scheduled: &'b Scheduled<'a>,
) -> Result<(Making<'a, 'b>, Reduced), Refused> {
    let Launch { index, stmt, .. } = launch;
    let captured = &scheduled.captured;
    let names = names(input, index, stmt, captured);
    let mut making = making(input, &scheduled.nest, stmt, scheduled.sizes, names);
    making.distinct = scheduled.is_distinct;
    making.is_one_gang = scheduled.is_one_gang;
    making.constructs = reduced_by_construct(input, index);
    making.atomic = threads::atomic_scalars(input, index);
    this::add(&mut making, index);
    // What has parts comes before them, and leaves after them.
    let (objects, others): (Vec<&Extra>, Vec<&Extra>) =
        scheduled.extras.iter().partition(|one| one.is_object);
    objects.iter().for_each(|object| making.extra_item(object));
    let reduced = captured_variables(&mut making, captured)?;
    others.iter().for_each(|extra| making.extra_item(extra));
    this::attach(&mut making, index, captured);
    Ok((making, reduced))
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

/// Whether the name of a variable has become a macro's, or no longer is one, after its declaration.
fn is_macro_since(input: &Input, stmt: StmtId, one: &Captured) -> bool {
    let Some(choices) = input.choices.filter(|choices| choices.names().contains(&one.name)) else {
        return false;
    };
    let declared = choices.place(input.number(&one.written.0), one.written.1.span.start);
    !choices.is_same_between(&one.name, &declared, &choices.place(choices.own(), input.stmt_span(stmt).start))
}

/// Whether a macro in a size of a variable has got another meaning after the size.
fn is_size_since(input: &Input, stmt: StmtId, one: &Captured) -> bool {
    let Some(choices) = input.choices.filter(|_| !input.in_place) else { return false };
    let said = choices.place(input.number(&one.seen), one.decl.span.start);
    let here = choices.place(choices.own(), input.stmt_span(stmt).start);
    let texts: Vec<String> = sizes::of(&one.decl).map(|size| one.seen.text(size)).collect();
    let mut pending: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let mut met = BTreeSet::new();
    while let Some(word) = pending.pop() {
        let Some(define) = defines::define(input, word).filter(|_| met.insert(word)) else { continue };
        if !choices.is_same_between(word, &said, &here) {
            return true;
        }
        pending.extend(words(&define.body));
    }
    false
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
    let file = input.file();
    let may_name = || memchr::memmem::find(&file.bytes, WORD.as_bytes()).is_some();
    let names = || words(&file.text(Span { start: 0, end: file.bytes.len() as u32 })).contains(&WORD);
    let is_program = input.choices.is_some_and(|choices| choices.names().contains(WORD))
        || input.source.scan.names_counters(|| may_name() && names());
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
        facts: CodeFacts::default(),
    }
}

/// Adds all variables; what is reduced.
fn captured_variables<'a>(
    making: &mut Making<'a, '_>,
    captured: &[Captured<'a>],
) -> Result<Reduced, Refused> {
    let mut reduced = Reduced::default();
    for one in captured {
        let before = making.host.params.len();
        making.variable(one)?;
        // What the region assigns is not a constant of the host, unless only a part of it may change.
        let has_mutable = one.decl.type_name().is_some_and(|class| making.input.symbols.is_mutable(class))
            || making.input.symbols.get(one.symbol).has_mutable;
        let is_assigned = (one.used.written || one.used.part_written) && !has_mutable;
        for param in making.host.params[before..].iter_mut().filter(|_| is_assigned) {
            // What has its type in the header, as `const double *`, keeps it.
            param.in_header.is_const &= param.in_header.base != "void";
        }
        match one.role {
            Role::Reduction(_) if making.is_only_gangs(one.symbol) => {}
            Role::Reduction(op) => drop(reduced.results.insert(one.symbol, op)),
            Role::ReductionArray(..) => drop(reduced.arrays.insert(one.symbol)),
            _ => {}
        }
    }
    Ok(reduced)
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
