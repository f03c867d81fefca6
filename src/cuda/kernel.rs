//! A compute construct as a kernel and its launcher.
//!
//! Invariant: kernel and launcher name the program's variables by their own names.

use std::collections::{HashMap, HashSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, WaitArgument};
use crate::bind::descendants;
use crate::host::ir::{Derived, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::body::{Body, Shape};
use super::capture::{self, Captured, Role};
use super::clause::Asked;
use super::counted::{Counted, is_narrow};
use super::levels::{self, Levels, Nest, Offer, routine_levels};
use super::names::Names;
use super::reduction::{identity, operator};
use super::text::Edits;
use super::{Change, Input, Lowering, Refused, refused, types};

/// Threads of a gang whose loops are all shared out over all of them.
const THREADS: usize = 256;

/// Lanes of a worker if rows are read from memory, as those of sparse matrices, and may be short.
const SHORT_ROW: usize = 8;

/// One launch: a statement of a compute construct.
#[derive(Clone, Copy)]
pub(super) struct Launch {
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
    pub(super) fn compute(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        let stmt = bound.stmt().ok_or_else(|| refused(span, "a construct without a statement"))?;
        let asked = Asked::of(self.input, index)?;
        let kind = bound.directive.kind;
        let in_kernels = matches!(kind, DirectiveKind::Kernels | DirectiveKind::KernelsLoop);
        let calls = match kind {
            DirectiveKind::Kernels => self.kernels(index, stmt)?,
            _ => {
                let launch = Launch { index, stmt, root: Some(index), is_split: false, in_kernels };
                vec![self.launch(launch, &asked)?]
            }
        };
        let mut lines = asked.waits();
        lines.extend(calls);
        let whole = Span { start: span.start, end: self.input.stmt_span(stmt).end };
        let Some(condition) = &asked.condition else {
            let is_body = self.input.bound[index].unbraced || self.input.bound[index].is_body;
            if is_body && lines.len() > 1 {
                lines = braced(lines);
            }
            return Ok(vec![Change::Lines(whole, lines)]);
        };
        // Where the condition is false, the host runs the construct.
        let mut edits = Edits::default();
        for at in descendants(self.input.bound, index) {
            edits.remove_lines(self.input.file(), self.input.bound[at].directive.span);
        }
        let original = edits.render(self.input.file(), self.input.stmt_span(stmt), 0);
        let mut all = vec![format!("if ({condition}) {{")];
        all.extend(lines.into_iter().map(|line| format!("    {line}")));
        all.push("} else {".to_owned());
        all.extend(
            original.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }),
        );
        all.push("}".to_owned());
        Ok(vec![Change::Lines(whole, all)])
    }

    /// The launches of a `kernels` construct: one for each loop that is to run in parallel, and one for what is between.
    fn kernels(&mut self, index: usize, stmt: StmtId) -> Result<Vec<String>, Refused> {
        let asked = Asked::of(self.input, index)?;
        let unit = self.input.unit();
        let loops: HashMap<StmtId, usize> = descendants(self.input.bound, index)
            .filter(|at| self.input.bound[*at].directive.kind == DirectiveKind::Loop)
            .filter_map(|at| Some((self.input.bound[at].stmt()?, at)))
            .collect();
        let list: Vec<StmtId> = match &unit.stmt(stmt).kind {
            StmtKind::Block(list) => list.clone(),
            _ => vec![stmt],
        };
        let can_split = list.iter().all(|stmt| {
            !matches!(
                unit.stmt(*stmt).kind,
                StmtKind::Decl(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) | StmtKind::Goto(_)
            )
        });
        let parts: Vec<StmtId> =
            list.into_iter().filter(|stmt| !matches!(unit.stmt(*stmt).kind, StmtKind::Empty)).collect();
        if parts.len() == 1 && can_split {
            let root = loops.get(&parts[0]).copied();
            let launch = Launch { index, stmt: parts[0], root, is_split: false, in_kernels: true };
            return Ok(vec![self.launch(launch, &asked)?]);
        }
        let any_parallel = parts.iter().any(|part| loops.contains_key(part));
        if !can_split || !any_parallel {
            let launch = Launch { index, stmt, root: None, is_split: false, in_kernels: true };
            return Ok(vec![self.launch(launch, &asked)?]);
        }
        let mut inner = asked.clone();
        inner.keep_gangs();
        let mut lines = self.region_lines(index, stmt, true)?;
        let mut run: Vec<StmtId> = Vec::new();
        let mut calls: Vec<String> = Vec::new();
        for part in parts {
            if let Some(root) = loops.get(&part) {
                calls.extend(self.sequential(index, &std::mem::take(&mut run), &inner)?);
                let launch =
                    Launch { index, stmt: part, root: Some(*root), is_split: true, in_kernels: true };
                calls.push(self.launch(launch, &inner)?);
            } else {
                run.push(part);
            }
        }
        calls.extend(self.sequential(index, &run, &inner)?);
        lines.extend(calls);
        lines.push("acc2omp_end();".to_owned());
        Ok(lines)
    }

    /// Launches of statements that one thread runs.
    fn sequential(&mut self, index: usize, run: &[StmtId], asked: &Asked) -> Result<Vec<String>, Refused> {
        let mut calls = Vec::new();
        for stmt in run {
            let launch = Launch { index, stmt: *stmt, root: None, is_split: true, in_kernels: true };
            calls.push(self.launch(launch, asked)?);
        }
        Ok(calls)
    }

    /// Makes kernel and launcher of one launch; the call of the launcher.
    fn launch(&mut self, launch: Launch, asked: &Asked) -> Result<String, Refused> {
        let input = self.input;
        let Launch { index, stmt, root, is_split, in_kernels } = launch;
        let kind = input.bound[index].directive.kind;
        let is_serial = matches!(kind, DirectiveKind::Serial | DirectiveKind::SerialLoop);
        let span = input.stmt_span(stmt);
        let (nest, said) = match root.filter(|_| !is_serial) {
            Some(root) => {
                let offer = Offer { index: root, levels: Levels::ALL, wants_assertion: in_kernels };
                levels::nest(input, offer)
            }
            None => (Nest::new(), Vec::new()),
        };
        if root.is_none() && in_kernels {
            self.diags.push(crate::diag::kernels_sequential(input.bound[index].directive.name_span));
        }
        self.diags.extend(said);
        let captured = capture::capture(input, index, stmt, &nest, in_kernels, is_split)?;
        let shape = shape(input, &nest, stmt, asked);
        let text = input.file().text(span);
        let mut names = Names::of(&text);
        for one in &captured {
            names.fresh(&one.name);
        }
        let function = input.bound[index].function.map(|id| input.unit().function(id).name.clone());
        let line =
            input.file().lines.line(span.start.max(input.bound[root.unwrap_or(index)].directive.span.start))
                + 1;
        let line = if is_split {
            line
        } else {
            input.file().lines.line(input.bound[index].directive.span.start) + 1
        };
        let stem = super::device::stem(&input.file().name);
        let name = format!("{stem}_{}_{line}", function.unwrap_or_default().replace("::", "_"));
        let place = input.place(input.bound[index].directive.span.start);

        let mut made = Made { params: Vec::new(), prologue: Vec::new(), epilogue: Vec::new() };
        let mut host = Host::default();
        let mut common: HashSet<SymbolId> = HashSet::new();
        let mut flat: HashMap<SymbolId, Vec<String>> = HashMap::new();
        let mut results = HashMap::new();
        for one in &captured {
            self.variable(
                one,
                &nest,
                stmt,
                shape,
                &mut names,
                (&mut made, &mut host),
                &mut common,
                &mut flat,
            )?;
            if let Role::Reduction(op) = one.role {
                results.insert(one.symbol, op);
            }
        }
        let grid = grid(input, &nest, &captured, shape, stmt, asked)?;
        let template = grid.template;
        let mut body = Body {
            input,
            nest: &nest,
            region: span,
            shape: shape.shape,
            names,
            edits: Edits::default(),
            common,
            flat,
            template,
            results,
        };
        shared_arrays(&mut body, &captured, stmt, &mut made)?;
        let code = body.code(stmt, 4)?;
        let is_block = matches!(input.unit().stmt(stmt).kind, StmtKind::Block(_));
        let code = match is_block && !nest.contains_key(&stmt) {
            true => unbraced(&code),
            false => code,
        };
        let mut kernel = String::new();
        let directive = input.bound[index].directive.span;
        for line in input.file().text(directive).lines() {
            let line = line.trim().trim_end_matches('\\').trim_end();
            kernel += &format!("// {line}\n");
        }
        if template {
            kernel += "template <typename Index>\n";
        }
        let params: Vec<String> = made.params.iter().map(|(declared, _)| declared.clone()).collect();
        let threads = shape.vector * shape.workers;
        let head = format!("__global__ void __launch_bounds__({threads}) {name}_kernel(");
        kernel += &format!("{head}{})\n{{\n", wrapped(&params, 4, head.len()));
        for line in &made.prologue {
            kernel += &format!("    {line}\n");
        }
        kernel += code.trim_end();
        kernel.push('\n');
        for line in &made.epilogue {
            kernel += &format!("    {line}\n");
        }
        kernel += "}\n\n";
        kernel += &super::launcher::text(&super::launcher::Launcher {
            name: &name,
            place: &place,
            host: &host,
            kernel_arguments: made.params.iter().map(|(_, argument)| argument.clone()).collect(),
            grid: &grid,
            shape: (shape.vector, shape.workers),
            template,
            queued: asked.queue.is_some(),
        });
        self.device.kernel(input.bound[index].directive.span.start.max(span.start), kernel);
        let prototype = super::launcher::prototype(&name, &host, &grid, asked.queue.is_some());
        self.device.prototype(span.start, prototype);
        let mut arguments: Vec<String> = host.arguments.clone();
        arguments.extend(grid.argument.clone());
        arguments.extend(asked.queue.clone());
        Ok(format!("{name}({});", arguments.join(", ")))
    }

    /// What one variable becomes in kernel and launcher.
    #[allow(clippy::too_many_arguments)]
    fn variable(
        &mut self,
        one: &Captured<'a>,
        nest: &Nest,
        stmt: StmtId,
        shape: Sizes,
        names: &mut Names,
        (made, host): (&mut Made, &mut Host),
        common: &mut HashSet<SymbolId>,
        flat: &mut HashMap<SymbolId, Vec<String>>,
    ) -> Result<(), Refused> {
        let input = self.input;
        let name = &one.name;
        let at = one.used.first.unwrap_or(input.stmt_span(stmt));
        let element = capture::element(input, one)?;
        let dimensions = types::dimensions(one.decl);
        let stars = types::stars(one.decl);
        let is_array = one.class == Class::Array;
        let array_sizes: Vec<Option<crate::host::ir::ExprId>> = one
            .decl
            .derived
            .iter()
            .filter_map(|part| match part {
                Derived::Array(size) => Some(*size),
                _ => None,
            })
            .collect();
        let is_pointer_first = matches!(one.decl.derived.first(), Some(Derived::Pointer));
        // The declared type of an array that stands behind a typedef is not taken apart.
        if (is_array || one.class == Class::Pointer) && one.decl.derived.is_empty() {
            return Err(refused(at, "an array or pointer behind a type name"));
        }
        let _ = dimensions;
        let read_only =
            !one.used.part_written && !one.used.address_taken && only_indexed(input, stmt, one.symbol);
        let constant = if read_only { "const " } else { "" };
        // Sizes of the dimensions behind the first.
        let behind: Vec<String> = array_sizes
            .iter()
            .skip(usize::from(!is_pointer_first))
            .map(|size| {
                size.map_or(String::new(), |size| {
                    one.seen.file.text(one.seen.unit.expr(size).span).trim().to_owned()
                })
            })
            .collect();
        let is_variable = |size: &crate::host::ir::ExprId| !self.is_constant(one, *size);
        let has_run_time_size =
            array_sizes.iter().skip(usize::from(!is_pointer_first)).flatten().any(|size| is_variable(size));
        let pointer_to = |device: &str| -> String {
            let inner = "*".repeat(if is_pointer_first { stars - 1 } else { stars });
            if has_run_time_size || behind.is_empty() {
                format!("{constant}{element} {inner}*{}{device}", restrict(one, inner.is_empty()))
            } else {
                let sizes: String = behind.iter().map(|size| format!("[{size}]")).collect();
                format!("{constant}{element} {inner}(*{device}){sizes}")
            }
        };
        let host_type = {
            let inner = "*".repeat(if is_pointer_first { stars - 1 } else { stars });
            format!("{element} {inner}*")
        };
        match &one.role {
            Role::Local => {
                let only_loops = is_shared_variable_only(input, nest, stmt, one.symbol);
                if !only_loops {
                    match is_array {
                        true if array_sizes
                            .iter()
                            .all(|size| size.is_some_and(|size| self.is_constant(one, size))) => {}
                        true => return Err(refused(at, "a private array of variable length")),
                        false => made.prologue.push(format!("{element} {}{name};", "*".repeat(stars))),
                    }
                }
            }
            Role::Value | Role::DevicePointer if one.class == Class::Pointer => {
                made.params.push((pointer_to(name), cast(&pointer_to(""), name, &behind, has_run_time_size)));
                host.param(&format!("{host_type}{name}"), &format!("const void *{name}"), name);
                self.run_time_sizes(one, &behind, has_run_time_size, flat, made, host, names);
            }
            Role::Value | Role::DevicePointer => {
                made.params.push((format!("{element} {name}"), name.clone()));
                match types::plain(input, one.seen, one.decl).filter(|_| one.class != Class::Record) {
                    Some(plain) => host.param(&format!("{element} {name}"), &format!("{plain} {name}"), name),
                    None => {
                        let at = names.fresh(&format!("{name}_value"));
                        host.param(
                            &format!("const {element} *{at}"),
                            &format!("const void *{at}"),
                            &format!("&{name}"),
                        );
                        host.lines.push(format!("const {element} {name} = *{at};"));
                    }
                }
            }
            Role::Reduction(op) => {
                let result = names.fresh(&format!("{name}_result"));
                made.params.push((format!("acc2omp::Result<{element}> {result}"), result.clone()));
                made.prologue.push(format!("{element} {name} = {};", identity(*op, &element)));
                made.epilogue.push(format!("acc2omp::combine<{}>({result}, {name});", operator(*op)));
                host.param(
                    &format!("{element} *{name}"),
                    &format!("const void *{name}"),
                    &format!("&{name}"),
                );
                host.results.push(format!(
                    "acc2omp::Result<{element}> {result} = region.result(\"{name}\", {name}, gangs);"
                ));
            }
            Role::Data(method, address) => {
                let is_single = matches!(one.class, Class::Scalar | Class::Unknown | Class::Record);
                common.insert(one.symbol);
                let device = names.fresh(&format!("{name}_device"));
                if is_single {
                    let there = names.fresh(&format!("{name}_there"));
                    made.params.push((format!("{element} *{there}"), device.clone()));
                    made.prologue.push(format!("{element} &{name} = *{there};"));
                    host.param(
                        &format!("{element} *{name}"),
                        &format!("const void *{name}"),
                        &format!("&{name}"),
                    );
                    let call = match *method {
                        "pointer" => format!("region.pointer(\"{name}\", {name})"),
                        method => format!("region.{method}(\"{name}\", {name}, 1)"),
                    };
                    host.lines.push(format!("{element} *{device} = {call};"));
                } else {
                    made.params
                        .push((pointer_to(name), cast(&pointer_to(""), &device, &behind, has_run_time_size)));
                    host.param(&format!("{host_type}{name}"), &format!("const void *{name}"), name);
                    let call = match address {
                        None => format!("region.pointer(\"{name}\", {name})"),
                        Some(address) => {
                            let count = names.fresh(&format!("{name}_count"));
                            host.param(
                                &format!("size_t {count}"),
                                &format!("size_t {count}"),
                                &address.count,
                            );
                            if address.at_start {
                                format!("region.{method}(\"{name}\", {name}, {count})")
                            } else {
                                let from = names.fresh(&format!("{name}_from"));
                                host.param(
                                    &format!("{host_type}{from}"),
                                    &format!("const void *{from}"),
                                    &address.from,
                                );
                                format!("region.{method}(\"{name}\", {from}, {count}) - ({from} - {name})")
                            }
                        }
                    };
                    host.lines.push(format!("{host_type}{device} = {call};"));
                    self.run_time_sizes(one, &behind, has_run_time_size, flat, made, host, names);
                }
            }
            Role::FirstArray(_) => return Err(refused(at, "a firstprivate array")),
        }
        for member in &one.members {
            let from = names.fresh("member");
            host.param(&format!("char *{from}"), &format!("const void *{from}"), &member.address.from);
            let bytes = names.fresh("member_bytes");
            host.param(&format!("size_t {bytes}"), &format!("size_t {bytes}"), &member.address.bytes);
            let text = &member.text;
            host.lines.push(format!("region.{}(\"{text}\", {from}, {bytes});", member.method));
            if let Some(pointer) = &member.pointer {
                let variable = names.fresh("member_pointer");
                host.param(
                    &format!("void *{variable}"),
                    &format!("const void *{variable}"),
                    &format!("&{pointer}"),
                );
                host.lines.push(format!("region.attach(\"{text}\", {variable});"));
            }
        }
        let _ = shape;
        Ok(())
    }

    /// Parameters for the sizes of an array's inner dimensions, if they are run-time values.
    #[allow(clippy::too_many_arguments)]
    fn run_time_sizes(
        &self,
        one: &Captured,
        behind: &[String],
        has_run_time_size: bool,
        flat: &mut HashMap<SymbolId, Vec<String>>,
        made: &mut Made,
        host: &mut Host,
        names: &mut Names,
    ) {
        if !has_run_time_size {
            return;
        }
        let mut sizes = Vec::new();
        for (at, _) in behind.iter().enumerate() {
            let size = names.fresh(&format!("{}_size{}", one.name, at + 1));
            made.params.push((format!("long {size}"), size.clone()));
            let outer = format!("{}{}", one.name, "[0]".repeat(at + 1));
            host.param(
                &format!("long {size}"),
                &format!("long {size}"),
                &format!("sizeof {outer} / sizeof {outer}[0]"),
            );
            sizes.push(size);
        }
        flat.insert(one.symbol, sizes);
    }

    /// Whether a size is a constant expression of the language.
    fn is_constant(&self, one: &Captured, size: crate::host::ir::ExprId) -> bool {
        let unit = one.seen.unit;
        let mut pending = vec![size];
        while let Some(expr) = pending.pop() {
            let expr = unit.expr(expr);
            if let ExprKind::Name(name) = &expr.kind {
                let symbol = self.input.symbols.lookup(name, one.decl.span.start);
                let known = symbol.map(|symbol| self.input.symbols.get(symbol));
                let constant = known.is_none_or(|known| {
                    known.kind == SymbolKind::Constant || self.input.unit().is_cpp() && known.is_const
                });
                if !constant {
                    return false;
                }
            }
            pending.extend(expr.kind.children());
        }
        true
    }
}

/// The parts of a kernel: its parameters with the launcher's arguments, and lines before and behind the code.
pub(super) struct Made {
    pub params: Vec<(String, String)>,
    pub prologue: Vec<String>,
    pub epilogue: Vec<String>,
}

/// What the launcher takes and does before the launch.
#[derive(Default)]
pub(super) struct Host {
    /// Its parameters in the device file, and in the header.
    pub params: Vec<(String, String)>,
    /// What the host passes.
    pub arguments: Vec<String>,
    pub lines: Vec<String>,
    pub results: Vec<String>,
}

impl Host {
    fn param(&mut self, device: &str, header: &str, argument: &str) {
        self.params.push((device.to_owned(), header.to_owned()));
        self.arguments.push(argument.to_owned());
    }
}

fn cast(declared: &str, argument: &str, behind: &[String], has_run_time_size: bool) -> String {
    match behind.is_empty() || has_run_time_size {
        true => argument.to_owned(),
        false => format!("({declared}){argument}"),
    }
}

/// `__restrict__` where the program says it, or the objects are distinct.
fn restrict(one: &Captured, is_plain: bool) -> &'static str {
    if one.decl.is_restrict && is_plain { "__restrict__ " } else { "" }
}

/// Whether a region uses a pointer or an array only to index it.
fn only_indexed(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    let span = input.stmt_span(stmt);
    let mut bases: HashSet<Span> = HashSet::new();
    for expr in unit.exprs.iter().filter(|expr| span.contains(expr.span)) {
        match expr.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                bases.insert(unit.expr(base).span);
            }
            _ => {}
        }
    }
    unit.exprs.iter().filter(|expr| span.contains(expr.span)).all(|expr| match &expr.kind {
        ExprKind::Name(name) if input.symbols.lookup(name, expr.span.start) == Some(symbol) => {
            bases.contains(&expr.span)
        }
        _ => true,
    })
}

/// Whether a region uses a variable as that of shared loops only, which declare it themselves.
fn is_shared_variable_only(input: &Input, nest: &Nest, stmt: StmtId, symbol: SymbolId) -> bool {
    let controlled: HashMap<StmtId, SymbolId> = nest
        .values()
        .flat_map(|shared| shared.stmts.iter().copied().zip(shared.headers.iter().map(|header| header.var)))
        .collect();
    let beside = sema::uses_beside(input.unit(), input.symbols, stmt, &controlled);
    let Some(used) = beside.of(symbol) else { return true };
    if used.written || used.address_taken {
        return false;
    }
    // It is read inside its loops, where they declare it.
    nest.values().any(|shared| shared.headers.iter().any(|header| header.var == symbol))
}

/// Sizes of a gang.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub shape: Shape,
    pub vector: usize,
    pub workers: usize,
}

fn shape(input: &Input, nest: &Nest, stmt: StmtId, asked: &Asked) -> Sizes {
    let uses = sema::uses(input.unit(), input.symbols, stmt);
    let called = uses.calls.keys().fold(Levels::NONE, |sum, name| sum.with(routine_levels(input, name)));
    let threads = nest.values().any(|shared| shared.levels.threads()) || called.threads();
    let rows = nest.values().any(|shared| shared.levels.worker && !shared.levels.vector);
    if !threads {
        return Sizes { shape: Shape { rows: false, many: false }, vector: 1, workers: 1 };
    }
    let shape = Shape { rows, many: true };
    let literal = |text: &Option<String>| text.as_ref().and_then(|text| text.trim().parse::<usize>().ok());
    if !rows {
        let asked_for = match (literal(&asked.vector), literal(&asked.workers)) {
            (None, None) => THREADS,
            (vector, workers) => vector.unwrap_or(32) * workers.unwrap_or(1),
        };
        let threads = asked_for.clamp(32, 1024).next_multiple_of(32);
        return Sizes { shape, vector: threads, workers: 1 };
    }
    let inner = nest.values().filter(|shared| shared.levels.vector && !shared.levels.worker);
    let mut lanes: usize = 0;
    let mut is_short = true;
    for shared in inner {
        let trips = shared.headers.last().and_then(|header| sema::trip_constant(input.unit(), header));
        let wanted = match trips {
            Some(trips) => usize::try_from(trips).unwrap_or(32).next_power_of_two().clamp(2, 32),
            None if shared.ragged => SHORT_ROW,
            None => 32,
        };
        is_short &= wanted < 32;
        lanes = lanes.max(wanted);
    }
    if called.threads() || lanes == 0 {
        lanes = 32;
    }
    let vector = literal(&asked.vector).map_or(lanes, |wanted| wanted.next_power_of_two().clamp(1, 32));
    let workers = literal(&asked.workers).unwrap_or(THREADS / vector.max(1)).clamp(1, 1024 / vector.max(1));
    // A warp is full.
    let workers = if vector * workers < 32 { 32 / vector } else { workers };
    let workers =
        if (vector * workers) % 32 == 0 { workers } else { (vector * workers).next_multiple_of(32) / vector };
    Sizes { shape, vector, workers }
}

/// How many gangs there are.
pub(super) struct Grid {
    /// The expression for it in the launcher.
    pub gangs: String,
    /// Lines before it.
    pub lines: Vec<String>,
    /// The number of iterations decides the width of the index.
    pub template: bool,
    /// A parameter for it, in the device file and in the header.
    pub param: Option<String>,
    /// What the host passes for it.
    pub argument: Option<String>,
}

fn grid(
    input: &Input,
    nest: &Nest,
    captured: &[Captured],
    sizes: Sizes,
    stmt: StmtId,
    asked: &Asked,
) -> Result<Grid, Refused> {
    let _ = stmt;
    let over_gangs: Vec<_> = nest.values().filter(|shared| shared.levels.gang).collect();
    let in_host = |expr: crate::host::ir::ExprId| {
        let unit = input.unit();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let expr = unit.expr(expr);
            match &expr.kind {
                ExprKind::Name(name) => {
                    let symbol = input.symbols.lookup(name, expr.span.start);
                    let Some(symbol) = symbol else { continue };
                    if input.symbols.get(symbol).kind == SymbolKind::Constant {
                        continue;
                    }
                    let known = captured.iter().find(|one| one.symbol == symbol);
                    if !known.is_some_and(|one| matches!(one.role, Role::Value) && !one.used.written) {
                        return false;
                    }
                }
                ExprKind::Int(_)
                | ExprKind::Literal
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast { .. }
                | ExprKind::Sizeof => {}
                _ => return false,
            }
            pending.extend(expr.kind.children());
        }
        true
    };
    let mut trips: Vec<(String, bool)> = Vec::new();
    let mut all_known = true;
    for shared in &over_gangs {
        let known = shared
            .headers
            .iter()
            .all(|header| in_host(header.first) && in_host(header.bound) && header.step.is_none_or(in_host));
        all_known &= known;
        if known {
            let counted: Result<Vec<Counted>, Refused> =
                shared.headers.iter().map(|header| Counted::new(input, header)).collect();
            let product: Vec<String> = counted?.into_iter().map(|one| one.trips).collect();
            trips.push((product.join(" * "), shared.headers.len() > 1));
        } else if shared.headers.len() > 1 {
            all_known = false;
        }
    }
    let wants_template = over_gangs.iter().any(|shared| shared.headers.len() > 1)
        && nest.values().all(|shared| shared.levels.gang || shared.headers.len() == 1)
        && all_known
        && over_gangs.len() == 1
        && !over_gangs
            .iter()
            .any(|shared| shared.headers.iter().any(|header| is_narrow(input, header) && false));
    let mut lines = Vec::new();
    let each = over_gangs
        .iter()
        .map(|shared| match (shared.levels.worker, shared.levels.vector) {
            (_, true) => sizes.vector * sizes.workers,
            (true, false) => sizes.workers,
            (false, false) => 1,
        })
        .min()
        .unwrap_or(1);
    let known = match trips.as_slice() {
        [(one, _)] if all_known => {
            lines.push(format!("const unsigned long long trips = {one};"));
            Some("trips".to_owned())
        }
        _ => None,
    };
    if let Some(gangs) = &asked.gangs {
        let number = gangs.trim().parse::<u32>().is_ok();
        return Ok(Grid {
            gangs: format!("acc2omp::gangs({})", if number { gangs.trim() } else { "gang_count" }),
            lines: if wants_template { lines } else { Vec::new() },
            template: wants_template,
            param: (!number).then(|| "long gang_count".to_owned()),
            argument: (!number).then(|| gangs.clone()),
        });
    }
    let gangs = match known {
        _ if over_gangs.is_empty() => "1".to_owned(),
        Some(trips) => format!("acc2omp::blocks({trips}, {each})"),
        None => "acc2omp::blocks(~0ull, 1)".to_owned(),
    };
    Ok(Grid { gangs, lines, template: wants_template, param: None, argument: None })
}

/// Arrays that the threads of a gang share: private ones, and those that the region declares.
fn shared_arrays(
    body: &mut Body,
    captured: &[Captured],
    stmt: StmtId,
    made: &mut Made,
) -> Result<(), Refused> {
    let input = body.input;
    let threads_share = |symbol: SymbolId, from: Levels| {
        // Some loop inside spreads what uses it over more threads.
        body.shape.many
            && body.nest.values().any(|shared| {
                let more = shared.levels.without(from).threads();
                let inner = sema::uses(input.unit(), input.symbols, shared.stmts[0]);
                more && inner.of(symbol).is_some_and(|used| used.part_written || used.address_taken)
            })
    };
    let mut shared_now = Vec::new();
    for one in captured.iter().filter(|one| one.class == Class::Array && matches!(one.role, Role::Local)) {
        let element = capture::element(input, one)?;
        let sizes: String = one
            .decl
            .derived
            .iter()
            .filter_map(|part| match part {
                Derived::Array(Some(size)) => {
                    Some(format!("[{}]", one.seen.file.text(one.seen.unit.expr(*size).span).trim()))
                }
                _ => None,
            })
            .collect();
        let stars = "*".repeat(types::stars(one.decl));
        let owner =
            body.nest.values().find(|shared| shared.private.iter().any(|item| item.base.text == one.name));
        let mode = match owner {
            Some(owner) => body.nest.values().fold(Levels::NONE, |sum, other| {
                let holds = input.stmt_span(other.stmts[0]).contains(input.stmt_span(owner.stmts[0]));
                if holds { sum.with(other.levels) } else { sum }
            }),
            None => Levels::NONE,
        };
        if threads_share(one.symbol, mode) {
            if mode.worker && body.shape.rows {
                return Err(refused(
                    one.used.first.unwrap_or(input.stmt_span(stmt)),
                    "a private array of each worker",
                ));
            }
            made.prologue.push(format!("__shared__ {element} {stars}{}{sizes};", one.name));
            shared_now.push(one.symbol);
        } else {
            made.prologue.push(format!("{element} {stars}{}{sizes};", one.name));
        }
    }
    // Declared in the region.
    let span = input.stmt_span(stmt);
    for part in input.unit().stmts.iter().filter(|part| span.contains(part.span)) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| input.unit().decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            if input.symbols.get(symbol).class != Class::Array {
                continue;
            }
            let mode = body.nest.values().fold(Levels::NONE, |sum, other| {
                let holds = input.stmt_span(other.stmts[0]).contains(part.span);
                if holds { sum.with(other.levels) } else { sum }
            });
            if threads_share(symbol, mode) {
                if mode.worker && body.shape.rows || decl.init.is_some() {
                    return Err(refused(part.span, "an array of each worker"));
                }
                body.edits.insert(part.span.start, "__shared__ ");
                shared_now.push(symbol);
            }
        }
    }
    body.common.extend(shared_now);
    Ok(())
}

/// A list of parameters, broken into lines.
pub(super) fn wrapped(params: &[String], indent: usize, column: usize) -> String {
    let mut out = String::new();
    let mut at = column;
    for (index, param) in params.iter().enumerate() {
        if index > 0 {
            out.push(',');
            at += 1;
        }
        if at + param.len() + 2 > 118 {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            at = indent;
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(param);
        at += param.len();
    }
    out
}

fn braced(lines: Vec<String>) -> Vec<String> {
    let mut all = vec!["{".to_owned()];
    all.extend(lines.into_iter().map(|line| format!("    {line}")));
    all.push("}".to_owned());
    all
}

/// The lines of a block without its braces, if they stand on lines of their own.
fn unbraced(code: &str) -> String {
    let trimmed = code.trim();
    let lines: Vec<&str> = trimmed.lines().collect();
    match lines.as_slice() {
        [first, inner @ .., last] if first.trim() == "{" && last.trim() == "}" && !inner.is_empty() => {
            let least = inner
                .iter()
                .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
                .map(|line| line.len() - line.trim_start().len())
                .min()
                .unwrap_or(4);
            let moved = |line: &&str| match line.get(least..).filter(|_| !line.starts_with('#')) {
                Some(rest) if !rest.trim().is_empty() => format!("    {rest}"),
                _ => line.trim_end().to_owned(),
            };
            inner.iter().map(moved).collect::<Vec<String>>().join("\n")
        }
        _ => format!("    {trimmed}"),
    }
}

/// What a `wait` clause or directive waits for.
pub(super) fn wait_lines(argument: Option<&WaitArgument>, queue: Option<&str>) -> Vec<String> {
    let queues = argument.map(|argument| argument.queues.as_slice()).unwrap_or_default();
    let device = argument.and_then(|argument| argument.devnum.as_ref());
    let mut lines = Vec::new();
    if queues.is_empty() {
        lines.push(match (device, queue) {
            (None, None) => "acc_wait_all();".to_owned(),
            (None, Some(queue)) => format!("acc_wait_all_async({queue});"),
            (Some(device), None) => format!("acc_wait_all_device({});", device.text),
            (Some(device), Some(queue)) => format!("acc_wait_all_device_async({queue}, {});", device.text),
        });
    }
    for one in queues {
        lines.push(match (device, queue) {
            (None, None) => format!("acc_wait({});", one.text),
            (None, Some(queue)) => format!("acc_wait_async({}, {queue});", one.text),
            (Some(device), None) => format!("acc_wait_device({}, {});", one.text, device.text),
            (Some(device), Some(queue)) => {
                format!("acc_wait_device_async({}, {queue}, {});", one.text, device.text)
            }
        });
    }
    lines
}

/// Whether a clause is about waiting.
pub(super) fn is_wait(kind: &ClauseKind) -> Option<Option<&WaitArgument>> {
    match kind {
        ClauseKind::Wait(argument) => Some(argument.as_ref()),
        _ => None,
    }
}
