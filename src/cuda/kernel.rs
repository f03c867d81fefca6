//! A compute construct as a kernel and its launcher.
//!
//! Invariant: kernel and launcher name the program's variables by their own names.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem, ReductionOp};
use crate::bind::descendants;
use crate::host::ir::{DeclKind, Derived, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::body::{Body, Shape};
use super::capture::{self, Captured, Role};
use super::clause::Asked;
use super::counted::Counted;
use super::levels::{self, Levels, Nest, Offer, Shared, routine_levels};
use super::names::Names;
use super::reduction::{identity, operator};
use super::text::{Edits, operand};
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
        let asked = Asked::of(self.input, index);
        let kind = bound.directive.kind;
        let in_kernels = matches!(kind, DirectiveKind::Kernels | DirectiveKind::KernelsLoop);
        let calls = match kind {
            DirectiveKind::Kernels => self.kernels(index, stmt)?,
            _ => {
                let launch = Launch { index, stmt, root: Some(index), is_split: false, in_kernels };
                self.launch(launch, &asked)?
            }
        };
        let mut lines = asked.waits();
        lines.extend(calls);
        let whole = Span { start: span.start, end: self.input.stmt_span(stmt).end };
        let between = Span { start: span.end, end: self.input.stmt_span(stmt).start };
        let own: Vec<Span> = self.input.bound.iter().map(|one| one.directive.span).collect();
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
        let original = edits.render(self.input.file(), self.input.stmt_span(stmt), 0);
        let mut all = vec![format!("if ({condition}) {{")];
        all.extend(lines.iter().flat_map(|line| fitted(&format!("    {line}"), column)));
        all.push("} else {".to_owned());
        all.extend(
            original.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }),
        );
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
            return self.launch(launch, &asked);
        }
        let any_parallel = parts.iter().any(|part| loops.contains_key(part));
        if !can_split || !any_parallel {
            let launch = Launch { index, stmt, root: None, is_split: false, in_kernels: true };
            return self.launch(launch, &asked);
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
                calls.extend(self.launch(launch, &inner)?);
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
            calls.extend(self.launch(launch, asked)?);
        }
        Ok(calls)
    }

    /// Makes kernel and launcher of one launch; the call of the launcher.
    fn launch(&mut self, launch: Launch, asked: &Asked) -> Result<Vec<String>, Refused> {
        let in_place = super::cpp::is_in_place(self.input, launch.index, launch.stmt);
        let input = Input { in_place, ..*self.input };
        let input = &input;
        let Launch { index, stmt, root, is_split, in_kernels } = launch;
        if in_place && let Some(what) = super::cpp::obstacle(input, index, stmt) {
            return Err(refused(input.bound[index].directive.span, what));
        }
        let kind = input.bound[index].directive.kind;
        let is_serial = matches!(kind, DirectiveKind::Serial | DirectiveKind::SerialLoop);
        let span = input.stmt_span(stmt);
        let (mut nest, said) = match root.filter(|_| !is_serial) {
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
        reductions_through(input, index, &mut nest);
        let capture::Environment { variables: mut captured, extras } =
            capture::capture(input, index, stmt, &nest, in_kernels, is_split)?;
        captured.iter_mut().for_each(|one| self.lengthen(input, stmt, one));
        let shape = shape(input, &nest, stmt, asked);
        let text = input.file().text(span);
        let mut names = match input.bound[index].function.filter(|_| in_place) {
            Some(id) => Names::of(&input.file().text(input.unit().function(id).span)),
            None => Names::of(&text),
        };
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
        let stem = super::device::unit_name(&input.file().name);
        let name = format!("{stem}_{}_{line}", function.unwrap_or_default().replace("::", "_"));
        let name = self.launchers.fresh(&name);
        let words = Words {
            region: names.fresh("region"),
            gangs: names.fresh("gangs"),
            threads: names.fresh("threads"),
            kernel: names.fresh("kernel"),
            trips: names.fresh("trips"),
            gang_count: names.fresh("gang_count"),
            queue: names.fresh("queue"),
        };
        let place = input.place(input.bound[index].directive.span.start);

        let mut made = Made::default();
        let mut host = Host { words, in_place, ..Host::default() };
        let mut common: HashSet<SymbolId> = HashSet::new();
        let mut flat: HashMap<SymbolId, Vec<String>> = HashMap::new();
        let mut results = HashMap::new();
        let mut arrays = HashSet::new();
        let distinct = are_distinct(&captured);
        let is_one_gang = asked.gangs.as_deref().is_some_and(|gangs| gangs.trim() == "1");
        for one in &captured {
            let before = host.params.len();
            self.variable(
                input,
                one,
                &nest,
                stmt,
                (shape, distinct, is_one_gang),
                &mut names,
                (&mut made, &mut host),
                &mut common,
                &mut flat,
            )?;
            // What the region assigns is no constant of the host.
            let is_assigned = one.used.written || one.used.part_written;
            for (_, header) in host.params[before..].iter_mut().filter(|_| is_assigned) {
                if let Some(rest) = header.strip_prefix("const void *") {
                    *header = format!("void *{rest}");
                }
            }
            match one.role {
                Role::Reduction(_) if is_one_gang && used_beside(input, &nest, stmt, one.symbol) => {}
                Role::Reduction(op) => {
                    results.insert(one.symbol, op);
                }
                Role::ReductionArray(..) => {
                    arrays.insert(one.symbol);
                }
                _ => {}
            }
        }
        for extra in &extras {
            extra_item(extra, &mut names, &mut host);
        }
        let mut tables = match shape.shape.many && !in_place {
            true => super::table::tables(input, index, stmt, &nest, &captured),
            false => BTreeMap::new(),
        };
        let grid = grid(input, &nest, &captured, shape, (&host.words, asked), !tables.is_empty())?;
        let template = grid.template;
        tables.retain(|_, _| grid.is_counted);
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
            arrays,
            tables: HashMap::new(),
            is_routine: false,
            sizes: Some((shape.vector, shape.workers)),
            is_together: true,
        };
        let shares = shared_arrays(&mut body, &captured, stmt, shape.workers, &mut made)?;
        if !shares {
            let parts = (&mut made, &mut host);
            body.tables = super::table::declare(input, &captured, &tables, &mut body.names, parts)?;
        }
        if in_place {
            super::place::bare(input, span, &mut body.edits);
        }
        let code = body.code(stmt, 4)?;
        let is_block = matches!(input.unit().stmt(stmt).kind, StmtKind::Block(_));
        let code = match is_block && !nest.contains_key(&stmt) {
            true => unbraced(&code),
            false => code,
        };
        if in_place {
            let mut names = body.names;
            self.device.in_place = true;
            return Ok(super::place::lines(
                &super::place::Block {
                    place: &place,
                    host: &host,
                    made: &made,
                    captured: &captured,
                    grid: &grid,
                    shape: (shape.vector, shape.workers),
                    queue: asked.queue.as_deref(),
                    code: &code,
                },
                &mut names,
            ));
        }
        let mut kernel = String::new();
        let own = root.filter(|root| *root != index);
        for directive in [Some(index), own].into_iter().flatten() {
            for line in input.file().text(input.bound[directive].directive.span).lines() {
                let line = line.trim().trim_end_matches('\\').trim_end();
                kernel += &format!("// {line}\n");
            }
        }
        if template {
            kernel += "template <typename Index>\n";
        }
        let params: Vec<String> = made.params.iter().map(|(declared, _)| declared.clone()).collect();
        let threads = shape.vector * shape.workers;
        let head = format!("__global__ void __launch_bounds__({threads}) {name}_kernel(");
        kernel += &format!("{head}{})\n{{\n", wrapped(&params, 4, head.len()));
        for line in made.prologue.iter().chain(&made.filling) {
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
        let key = match root.is_none() && is_split {
            true => span.start,
            false => input.bound[root.unwrap_or(index)].directive.span.start,
        };
        self.device.kernel(key, kernel);
        let prototype = super::launcher::prototype(&name, &host, &grid, asked.queue.is_some());
        self.device.prototype(key, prototype);
        let mut arguments: Vec<String> = host.arguments.clone();
        arguments.extend(grid.argument.clone());
        arguments.extend(asked.queue.clone());
        Ok(vec![format!("{name}({});", arguments.join(", "))])
    }

    /// What one variable becomes in kernel and launcher.
    #[allow(clippy::too_many_arguments)]
    fn variable(
        &mut self,
        input: &Input<'a>,
        one: &Captured<'a>,
        nest: &Nest,
        stmt: StmtId,
        (shape, distinct, is_one_gang): (Sizes, bool, bool),
        names: &mut Names,
        (made, host): (&mut Made, &mut Host),
        common: &mut HashSet<SymbolId>,
        flat: &mut HashMap<SymbolId, Vec<String>>,
    ) -> Result<(), Refused> {
        let name = &one.name;
        let here = one.host_name();
        let here = here.as_str();
        let host_in_place = host.in_place;
        let region = host.words.region.clone();
        let at = one.used.first.unwrap_or(input.stmt_span(stmt));
        let element = capture::element(input, one)?;
        let stars = types::stars(&one.decl);
        let is_array = one.class == Class::Array;
        let array_sizes: Vec<Option<ExprId>> = one
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
        let read_only = stars <= usize::from(is_pointer_first)
            && !one.used.part_written
            && !one.used.address_taken
            && only_indexed(input, stmt, one.symbol);
        let constant = if read_only { "const " } else { "" };
        // Sizes of the dimensions behind the first.
        let behind: Vec<String> = array_sizes
            .iter()
            .skip(usize::from(!is_pointer_first))
            .map(|size| size.map_or(String::new(), |size| one.seen.text(size)))
            .collect();
        let is_variable = |size: &ExprId| !self.is_constant(one, *size);
        let has_run_time_size =
            array_sizes.iter().skip(usize::from(!is_pointer_first)).flatten().any(is_variable);
        if host.in_place && has_run_time_size {
            return Err(refused(at, "an array whose size is a run-time value"));
        }
        let pointer_to = |device: &str| -> String {
            if host_in_place {
                let constant = if behind.is_empty() { constant } else { "" };
                return format!("{constant}auto *{}{device}", if distinct { "__restrict__ " } else { "" });
            }
            let inner = "*".repeat(if is_pointer_first { stars - 1 } else { stars });
            if has_run_time_size || behind.is_empty() {
                format!(
                    "{constant}{element} {inner}*{}{device}",
                    if distinct && inner.is_empty() { "__restrict__ " } else { "" }
                )
            } else {
                let sizes: String = behind.iter().map(|size| format!("[{size}]")).collect();
                format!(
                    "{constant}{element} {inner}(*{}{device}){sizes}",
                    if distinct { "__restrict__ " } else { "" }
                )
            }
        };
        let host_type = if host_in_place {
            "auto *".to_owned()
        } else {
            let inner = "*".repeat(if is_pointer_first { stars - 1 } else { stars });
            format!("{element} {inner}*")
        };
        match &one.role {
            Role::PrivateMemory(address, is_filled) => {
                let is_shared = shared_by_threads(input, nest, shape.shape, one);
                let copies = names.fresh(&format!("{name}_copies"));
                let count = names.fresh(&format!("{name}_count"));
                let start = host.pointer(&host_type, name, here);
                let length = host.number("size_t", &count, &address.count);
                let length = operand(&length);
                let mut offset = String::new();
                let mut from = start.clone();
                if !address.at_start {
                    let wanted = names.fresh(&format!("{name}_from"));
                    from = host.pointer(&host_type, &wanted, &address.from);
                    let before = names.fresh(&format!("{name}_offset"));
                    made.params.push((format!("long {before}"), format!("{from} - {start}")));
                    offset = format!(" - {before}");
                }
                let (each, own) = match is_shared {
                    true => (1, "blockIdx.x".to_owned()),
                    false => (
                        shape.vector * shape.workers,
                        "((blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)".to_owned(),
                    ),
                };
                let times = if each == 1 { String::new() } else { format!(" * {each}") };
                made.params.push((
                    format!("{element} *{copies}"),
                    format!("{region}.scratch<{element}>({length} * {}.x{times})", host.words.gangs),
                ));
                made.params.push((format!("size_t {count}"), length.clone()));
                made.prologue.push(format!("{element} *{name} = {copies} + {count} * {own}{offset};"));
                if *is_filled {
                    let first = names.fresh(&format!("{name}_first"));
                    made.params.push((
                        format!("const {element} *{first}"),
                        format!("{region}.first({from}, {length})"),
                    ));
                    let n = names.fresh("n");
                    let start = if offset.is_empty() {
                        name.clone()
                    } else {
                        format!("(&{name}[{}])", offset.trim_start_matches(" - "))
                    };
                    made.filling.push(format!(
                        "for (size_t {n} = 0; {n} < {count}; {n}++)\n        {start}[{n}] = {first}[{n}];"
                    ));
                    if is_shared {
                        made.filling.push("__syncthreads();".to_owned());
                    }
                }
                if is_shared {
                    common.insert(one.symbol);
                }
            }
            Role::Local => {
                let only_loops = is_shared_variable_only(input, nest, stmt, one.symbol);
                if !only_loops {
                    match is_array {
                        true if array_sizes
                            .iter()
                            .all(|size| size.is_some_and(|size| self.is_constant(one, size))) => {}
                        true => return Err(refused(at, "a private array of variable length")),
                        false => {
                            let is_read = one.used.read || one.used.part_read || one.used.address_taken;
                            let unread = if is_read { "" } else { "[[maybe_unused]] " };
                            made.prologue.push(format!("{unread}{element} {}{name};", "*".repeat(stars)));
                        }
                    }
                }
            }
            Role::Value | Role::DevicePointer if one.class == Class::Pointer => {
                let given = host.pointer(&host_type, name, here);
                made.params.push((
                    pointer_to(name),
                    cast(host, &pointer_to(""), &given, &behind, has_run_time_size),
                ));
                self.run_time_sizes(one, &behind, has_run_time_size, flat, made, host, names);
            }
            Role::Value | Role::DevicePointer if host.in_place => {
                made.params.push((format!("auto {name}"), here.to_owned()));
            }
            Role::Value | Role::DevicePointer => {
                made.params.push((format!("{element} {name}"), name.clone()));
                match types::plain(input, one.seen, &one.decl).filter(|_| one.class != Class::Record) {
                    Some(plain) => {
                        host.param(&format!("{element} {name}"), &format!("{plain} {name}"), name);
                    }
                    None => {
                        let at = names.fresh(&format!("{name}_value"));
                        host.pointer(&format!("const {element} *"), &at, &format!("&{name}"));
                        host.lines.push(format!("const {element} {name} = *{at};"));
                    }
                }
            }
            Role::Reduction(_) if is_one_gang && used_beside(input, nest, stmt, one.symbol) => {
                // There is one gang: what it computes is the result.
                let (there, device) =
                    (names.fresh(&format!("{name}_there")), names.fresh(&format!("{name}_device")));
                made.params.push((format!("{element} *{there}"), device.clone()));
                made.prologue.push(format!("{element} {name} = *{there};"));
                made.epilogue.push("if (threadIdx.x == 0 && threadIdx.y == 0)".to_owned());
                made.epilogue.push(format!("    *{there} = {name};"));
                let given = host.pointer(&format!("{element} *"), name, &format!("&{here}"));
                host.lines.push(format!("{element} *{device} = {region}.copy(\"{name}\", {given}, 1);"));
            }
            Role::Reduction(op) => {
                let result = names.fresh(&format!("{name}_result"));
                made.params.push((format!("acc2omp::Result<{element}> {result}"), result.clone()));
                made.prologue.push(format!("{element} {name} = {};", identity(*op, &element)));
                made.epilogue.push(format!("acc2omp::combine<{}>({result}, {name});", operator(*op)));
                let given = host.pointer(&format!("{element} *"), name, &format!("&{here}"));
                host.results.push(format!(
                    "acc2omp::Result<{element}> {result} = {region}.result(\"{name}\", {given}, {gangs});",
                    gangs = host.words.gangs
                ));
            }
            Role::Data(method, address) => {
                let is_single = matches!(one.class, Class::Scalar | Class::Unknown | Class::Record);
                common.insert(one.symbol);
                let device = names.fresh(&format!("{name}_device"));
                if is_single {
                    let (there, kind) = match host.in_place {
                        true => (device.clone(), "auto"),
                        false => (names.fresh(&format!("{name}_there")), element.as_str()),
                    };
                    made.params.push((format!("{kind} *{there}"), device.clone()));
                    made.prologue.push(format!("{kind} &{name} = *{there};"));
                    let given = host.pointer(&format!("{element} *"), name, &format!("&{here}"));
                    let call = match *method {
                        "pointer" => format!("{region}.pointer(\"{name}\", {given})"),
                        method => format!("{region}.{method}(\"{name}\", {given}, 1)"),
                    };
                    host.lines.push(format!("{kind} *{device} = {call};"));
                } else {
                    made.params.push((
                        pointer_to(name),
                        cast(host, &pointer_to(""), &device, &behind, has_run_time_size),
                    ));
                    let start = host.pointer(&host_type, name, here);
                    let call = match address {
                        None => format!("{region}.pointer(\"{name}\", {start})"),
                        Some(address) => {
                            let count = names.fresh(&format!("{name}_count"));
                            // In place, rows are counted.
                            let rows = format!("({}) / sizeof {here}[0]", address.bytes);
                            let has_rows = host.in_place && !behind.is_empty();
                            let length = if has_rows { &rows } else { &address.count };
                            let count = host.number("size_t", &count, length);
                            if address.at_start {
                                format!("{region}.{method}(\"{name}\", {start}, {count})")
                            } else if has_rows {
                                return Err(refused(at, "a part of an array of rows, in this place"));
                            } else {
                                let from = names.fresh(&format!("{name}_from"));
                                let from = host.pointer(&host_type, &from, &address.from);
                                format!("{region}.{method}(\"{name}\", {from}, {count}) - ({from} - {start})")
                            }
                        }
                    };
                    host.lines.push(format!("{host_type}{device} = {call};"));
                    made.devices.insert(one.symbol, device);
                    self.run_time_sizes(one, &behind, has_run_time_size, flat, made, host, names);
                }
            }
            Role::FirstArray(address) => {
                // The array itself is declared with the private ones.
                let first = names.fresh(&format!("{name}_first"));
                let count = names.fresh(&format!("{name}_count"));
                let start = host.pointer(&format!("{element} *"), name, here);
                let length = host.number("size_t", &count, &address.count);
                let start = match host.in_place && !behind.is_empty() {
                    true => format!("(const {element} *){start}"),
                    false => start,
                };
                made.params.push((
                    format!("const {element} *{first}"),
                    format!("{region}.first({start}, {length})"),
                ));
                made.params.push((format!("size_t {count}"), length));
                let n = names.fresh("n");
                made.filling.push(format!("for (size_t {n} = 0; {n} < {count}; {n}++)\n        (({element} *){name})[{n}] = {first}[{n}];"));
            }
            Role::ReductionArray(op, address) => {
                let (copies, count) =
                    (names.fresh(&format!("{name}_copies")), names.fresh(&format!("{name}_count")));
                let (result, n) = (names.fresh(&format!("{name}_result")), names.fresh("n"));
                if host.in_place && !behind.is_empty() {
                    return Err(refused(at, "a reduction of an array of rows, in this place"));
                }
                let start = host.pointer(&host_type, name, here);
                let length = host.number("size_t", &count, &address.count);
                let length = operand(&length);
                let mut offset = String::new();
                let mut from = start.clone();
                if !address.at_start {
                    let wanted = names.fresh(&format!("{name}_from"));
                    from = host.pointer(&host_type, &wanted, &address.from);
                    let before = names.fresh(&format!("{name}_offset"));
                    made.params.push((format!("long {before}"), format!("{from} - {start}")));
                    offset = before;
                }
                let own = names.fresh(&format!("{name}_own"));
                made.params.push((
                    format!("{element} *{copies}"),
                    format!(
                        "{region}.scratch<{element}>({length} * {}.x * {})",
                        host.words.gangs,
                        shape.vector * shape.workers
                    ),
                ));
                made.params.push((format!("size_t {count}"), length.clone()));
                made.params.push((format!("acc2omp::ResultArray<{element}> {result}"), result.clone()));
                host.results.push(format!(
                    "acc2omp::ResultArray<{element}> {result} = {region}.result_array(\"{name}\", {from}, {length}, {});",
                    host.words.gangs
                ));
                made.prologue.push("// A copy for each thread.".to_owned());
                made.prologue.push(format!(
                    "{element} *{own} = {copies} + {count} * ((blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);"
                ));
                made.prologue.push(format!("for (size_t {n} = 0; {n} < {count}; {n}++)"));
                made.prologue.push(format!("    {own}[{n}] = {};", identity(*op, &element)));
                let start = if offset.is_empty() { own.clone() } else { format!("({own} - {offset})") };
                let start = if behind.is_empty() { start.trim_matches(['(', ')']).to_owned() } else { start };
                let declared = pointer_to(name).replace("__restrict__ ", "").replace("const ", "");
                made.prologue.push(format!(
                    "{declared} = {};",
                    cast(
                        host,
                        &pointer_to("").replace("__restrict__ ", "").replace("const ", ""),
                        &start,
                        &behind,
                        has_run_time_size
                    )
                ));
                made.epilogue.push(format!("for (size_t {n} = 0; {n} < {count}; {n}++)"));
                made.epilogue.push(format!(
                    "    acc2omp::combine<{0}>({result}[{n}], acc2omp::block_reduce<{0}>({own}[{n}]));",
                    operator(*op)
                ));
                self.run_time_sizes(one, &behind, has_run_time_size, flat, made, host, names);
            }
            Role::Rows(method, rows) => {
                common.insert(one.symbol);
                let device = names.fresh(&format!("{name}_device"));
                let start = host.pointer(&host_type, name, here);
                let mut number = |what: &str, text: &str| {
                    let given = names.fresh(&format!("{name}_{what}"));
                    operand(&host.number("long", &given, text))
                };
                let (first, count) = (number("first", &rows.first), number("rows", &rows.count));
                let (from, length) = (number("from", &rows.from), number("length", &rows.length));
                let row = names.fresh("row");
                let pointers = if *method == "present" { "present" } else { "copyin" };
                host.lines.push(format!("{region}.{pointers}(\"{name}\", {start} + {first}, {count});"));
                host.lines.push(format!("for (long {row} = {first}; {row} < {first} + {count}; {row}++) {{"));
                host.lines
                    .push(format!("    {region}.{method}(\"{name}\", {start}[{row}] + {from}, {length});"));
                if *method != "present" {
                    host.lines.push(format!("    {region}.attach(\"{name}\", &{start}[{row}]);"));
                }
                host.lines.push("}".to_owned());
                host.lines.push(format!(
                    "{host_type}{device} = {region}.pointer(\"{name}\", {start} + {first}) - {first};"
                ));
                made.params.push((format!("{host_type}{name}"), device));
            }
        }
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
            host.number("long", &size, &format!("sizeof {outer} / sizeof {outer}[0]"));
            sizes.push(size);
        }
        flat.insert(one.symbol, sizes);
    }

    /// A private array whose length is a run-time value is memory behind a pointer, if nothing else is done with it than to
    /// index it.
    fn lengthen(&self, input: &Input, stmt: StmtId, one: &mut Captured) {
        let [Derived::Array(Some(size))] = one.decl.derived.as_slice() else { return };
        let text = input.file().text(input.stmt_span(stmt));
        let is_plain =
            only_indexed(input, stmt, one.symbol) && !super::text::words(&text).contains(&"sizeof");
        if input.in_place || !is_plain || self.is_constant(one, *size) {
            return;
        }
        let role = match &one.role {
            Role::Local => Role::PrivateMemory(super::item::whole(input, &one.name, &one.decl), false),
            Role::FirstArray(address) => Role::PrivateMemory(address.clone(), true),
            _ => return,
        };
        one.role = role;
    }

    /// Whether a size is a constant expression of the language.
    fn is_constant(&self, one: &Captured, size: ExprId) -> bool {
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
#[derive(Default)]
pub(super) struct Made {
    pub params: Vec<(String, String)>,
    pub prologue: Vec<String>,
    /// What fills private arrays.
    pub filling: Vec<String>,
    pub epilogue: Vec<String>,
    /// The launcher's names for addresses on the device.
    pub devices: HashMap<SymbolId, String>,
}

/// The launcher's own names.
#[derive(Default)]
pub(super) struct Words {
    pub region: String,
    pub gangs: String,
    pub threads: String,
    pub kernel: String,
    pub trips: String,
    pub gang_count: String,
    pub queue: String,
}

/// What the launcher takes and does before the launch.
#[derive(Default)]
pub(super) struct Host {
    pub words: Words,
    /// It is a block in the program's own text.
    pub in_place: bool,
    /// Its parameters in the device file, and in the header.
    pub params: Vec<(String, String)>,
    /// What the host passes.
    pub arguments: Vec<String>,
    pub lines: Vec<String>,
    pub results: Vec<String>,
}

impl Host {
    /// A pointer that the host passes. C knows no more of it than that.
    fn pointer(&mut self, kind: &str, name: &str, argument: &str) -> String {
        self.param(&format!("{kind}{name}"), &format!("const void *{name}"), argument)
    }

    /// A number that the host passes.
    fn number(&mut self, kind: &str, name: &str, argument: &str) -> String {
        let declared = format!("{kind} {name}");
        self.param(&declared, &declared, argument)
    }

    /// What the host passes, as a parameter; its name in the launcher. In place, nothing is passed.
    fn param(&mut self, device: &str, header: &str, argument: &str) -> String {
        if self.in_place {
            return argument.to_owned();
        }
        self.params.push((device.to_owned(), header.to_owned()));
        self.arguments.push(argument.to_owned());
        let name = device.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
        name.unwrap_or_default().to_owned()
    }
}

fn cast(host: &Host, declared: &str, argument: &str, behind: &[String], has_run_time_size: bool) -> String {
    match behind.is_empty() || has_run_time_size || host.in_place {
        true => argument.to_owned(),
        // `__restrict__` says nothing of a value.
        false => format!("({}){argument}", declared.replace("__restrict__ ", "")),
    }
}

/// A reduction is named on every loop between where it is combined and where it is computed (2.9.11); a reduction of the
/// construct, on all of its loops.
fn reductions_through<'a>(input: &Input<'a>, index: usize, nest: &mut Nest<'a>) {
    let symbol_of = |item: &ListItem, at: u32| input.symbols.lookup(&item.base.text, at);
    let place = input.bound[index].directive.span.start;
    let mut wanted: Vec<(StmtId, ReductionOp, &ListItem)> = Vec::new();
    let all: Vec<(Span, StmtId)> = nest.keys().map(|stmt| (input.stmt_span(*stmt), *stmt)).collect();
    let mut known: Vec<(Option<Span>, ReductionOp, &ListItem)> = Vec::new();
    for kind in input.clauses(index) {
        if let ClauseKind::Reduction(op, list) = kind {
            known.extend(list.iter().map(|item| (None, *op, item)));
        }
    }
    for (stmt, shared) in nest.iter() {
        known.extend(shared.reductions.iter().map(|(op, item)| (Some(input.stmt_span(*stmt)), *op, *item)));
    }
    for (from, op, item) in known {
        let at = from.map_or(place, |span| span.start);
        let Some(symbol) = symbol_of(item, at) else { continue };
        let scope = input.symbols.get(symbol).scope;
        for (span, stmt) in &all {
            let uses = sema::uses(input.unit(), input.symbols, *stmt);
            let used = uses.of(symbol);
            let inside = from.is_none_or(|from| from != *span && from.contains(*span));
            let is_updated = used.is_some_and(|used| used.written || used.part_written);
            // Outside, only what lives there and is carried from one iteration to the next.
            let body = nest[stmt].headers.last().map(|header| header.body);
            let outside = from.is_some_and(|from| from != *span && span.contains(from))
                && !span.contains(scope)
                && body.is_some_and(|body| {
                    sema::uses(input.unit(), input.symbols, body).of(symbol).is_some_and(|used| used.exposed)
                });
            let is_private =
                nest[stmt].private.iter().any(|item| symbol_of(item, span.start) == Some(symbol));
            let is_known =
                nest[stmt].reductions.iter().any(|(_, item)| symbol_of(item, span.start) == Some(symbol));
            let seen = wanted.iter().any(|(other, _, one)| other == stmt && one.base.text == item.base.text);
            if (inside && is_updated || outside) && !is_known && !is_private && !seen {
                wanted.push((*stmt, op, item));
            }
        }
    }
    for (stmt, op, item) in wanted {
        if let Some(shared) = nest.get_mut(&stmt) {
            shared.reductions.push((op, item));
        }
    }
}

/// Whether a region uses a variable outside the loops that reduce it.
fn used_beside(input: &Input, nest: &Nest, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    let inside = input.stmt_span(stmt);
    let reducing: Vec<Span> = nest
        .values()
        .filter(|shared| shared.reduces(input, symbol).next().is_some())
        .map(|shared| shared.span(input))
        .collect();
    // One result cannot be combined in two ways.
    let operators: HashSet<ReductionOp> =
        nest.values().flat_map(|shared| shared.reduces(input, symbol)).collect();
    if operators.len() > 1 {
        return true;
    }
    unit.exprs.iter().filter(|expr| inside.contains(expr.span)).any(|expr| match &expr.kind {
        ExprKind::Name(name) => {
            input.symbols.lookup(name, expr.span.start) == Some(symbol)
                && !reducing.iter().any(|span| span.contains(expr.span))
        }
        _ => false,
    })
}

/// Whether no two pointers of a kernel lead to the same memory: they are `restrict`, or distinct arrays.
fn are_distinct(captured: &[Captured]) -> bool {
    captured.iter().all(|one| match one.class {
        Class::Pointer => one.decl.is_restrict || matches!(one.role, Role::Local),
        Class::Array => one.decl.kind == DeclKind::Variable,
        _ => true,
    })
}

/// Whether a region uses a pointer or an array only to index it.
pub(super) fn only_indexed(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
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

/// What the launcher does for an item that the construct's code does not name.
fn extra_item(extra: &capture::Extra, names: &mut Names, host: &mut Host) {
    let region = host.words.region.clone();
    let text = extra.text.replace('"', "'");
    if let Some((method, address)) = &extra.brings {
        let (from, bytes) = (names.fresh("item"), names.fresh("item_bytes"));
        let mut from = host.pointer("char *", &from, &address.from);
        let bytes = host.number("size_t", &bytes, &address.bytes);
        if host.in_place {
            from = format!("(const char *){}", operand(&from));
        }
        host.lines.push(format!("{region}.{method}(\"{text}\", {from}, {bytes});"));
    }
    if let Some(pointer) = &extra.pointer {
        let variable = names.fresh("item_pointer");
        let variable = host.pointer("void *", &variable, &format!("&{pointer}"));
        host.lines.push(format!("{region}.attach(\"{text}\", {variable});"));
    }
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
        let tile = nest.values().filter_map(|shared| super::tiles::elements(&shared.tile)).max();
        let asked_for = match (literal(&asked.vector), literal(&asked.workers)) {
            (None, None) => tile.unwrap_or(THREADS),
            (vector, workers) => vector.unwrap_or(32) * workers.unwrap_or(1),
        };
        let threads = asked_for.clamp(32, 1024).next_multiple_of(32);
        return Sizes { shape, vector: threads, workers: 1 };
    }
    let inner = nest.values().filter(|shared| shared.levels.vector && !shared.levels.worker);
    let mut lanes: usize = 0;
    for shared in inner {
        let trips = shared.headers.last().and_then(|header| sema::trip_constant(input.unit(), header));
        let wanted = match trips {
            Some(trips) => usize::try_from(trips).unwrap_or(32).next_power_of_two().clamp(2, 32),
            None if shared.ragged => SHORT_ROW,
            None => 32,
        };
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
    /// The lines say how many iterations there are.
    pub is_counted: bool,
}

/// `has_tables`: each gang begins and ends with a table.
fn grid(
    input: &Input,
    nest: &Nest,
    captured: &[Captured],
    sizes: Sizes,
    (words, asked): (&Words, &Asked),
    has_tables: bool,
) -> Result<Grid, Refused> {
    let over_gangs: Vec<_> = nest.values().filter(|shared| shared.levels.gang).collect();
    let in_host = |expr: ExprId| {
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
    let mut trips: Vec<String> = Vec::new();
    for shared in &over_gangs {
        let is_known = |header: &crate::sema::Header| {
            in_host(header.first) && in_host(header.bound) && header.step.is_none_or(in_host)
        };
        if !shared.headers.iter().all(is_known) {
            continue;
        }
        let counted: Result<Vec<Counted>, Refused> =
            shared.headers.iter().map(|header| Counted::new(input, header)).collect();
        let product: Vec<String> = counted?.into_iter().map(|one| one.trips).collect();
        trips.push(product.join(" * "));
    }
    let all_known = trips.len() == over_gangs.len();
    let template = !input.in_place
        && over_gangs.iter().any(|shared| shared.headers.len() > 1)
        && nest.values().all(|shared| shared.levels.gang || shared.headers.len() == 1)
        && all_known
        && over_gangs.len() == 1;
    // The iterations that a gang takes at a time.
    let at_a_time = |shared: &Shared| match (shared.levels.worker, shared.levels.vector) {
        _ if !shared.tile.is_empty() => super::tiles::elements(&shared.tile).unwrap_or(1),
        (_, true) => sizes.vector * sizes.workers,
        (true, false) => sizes.workers,
        (false, false) => 1,
    };
    let counted = match trips.as_slice() {
        [one] if all_known => vec![format!("const unsigned long long {} = {one};", words.trips)],
        _ => Vec::new(),
    };
    if let Some(gangs) = &asked.gangs {
        let number = gangs.trim().parse::<u32>().is_ok();
        if input.in_place {
            let gangs = format!("acc2omp::gangs({})", gangs.trim());
            let lines = Vec::new();
            return Ok(Grid { gangs, lines, template, param: None, argument: None, is_counted: false });
        }
        let is_counted = !counted.is_empty() && (template || has_tables);
        return Ok(Grid {
            gangs: format!("acc2omp::gangs({})", if number { gangs.trim() } else { &words.gang_count }),
            lines: if is_counted { counted } else { Vec::new() },
            template,
            param: (!number).then(|| format!("long {}", words.gang_count)),
            argument: (!number).then(|| gangs.clone()),
            is_counted,
        });
    }
    // A reduction, and what each gang begins with, wants few of them; else there is one thread for each iteration.
    let is_resident = has_tables
        || captured.iter().any(|one| {
            matches!(
                one.role,
                Role::Reduction(_) | Role::ReductionArray(..) | Role::PrivateMemory(..) | Role::FirstArray(_)
            )
        });
    let threads = sizes.vector * sizes.workers;
    let blocks = |trips: &str, each: usize| match is_resident || trips == "~0ull" {
        false => format!("acc2omp::blocks({trips}, {each})"),
        true if each == threads => format!("acc2omp::resident_blocks({trips}, {each})"),
        true => format!("acc2omp::resident_blocks({trips}, {each}, {threads})"),
    };
    let gangs = match over_gangs.as_slice() {
        [] => "1".to_owned(),
        [one] if all_known => blocks(&words.trips, at_a_time(one)),
        several if all_known => {
            let each = several.iter().zip(&trips).map(|(one, trips)| blocks(trips, at_a_time(one)));
            format!("acc2omp::most({})", each.collect::<Vec<String>>().join(",\n        "))
        }
        _ => blocks("~0ull", 1),
    };
    let is_counted = !counted.is_empty();
    Ok(Grid { gangs, lines: counted, template, param: None, argument: None, is_counted })
}

/// The levels of the loops that hold a place.
fn levels_at(input: &Input, nest: &Nest, place: Span) -> Levels {
    let around = nest.values().filter(|shared| shared.span(input).contains(place));
    around.fold(Levels::NONE, |sum, shared| sum.with(shared.levels))
}

/// The levels of the loop that a variable is private to, and of those around it; none if it is private to the construct.
fn levels_of_owner(input: &Input, nest: &Nest, name: &str) -> Levels {
    let owner = nest.values().find(|shared| shared.private.iter().any(|item| item.base.text == name));
    owner.map_or(Levels::NONE, |owner| levels_at(input, nest, owner.span(input)))
}

/// Whether threads of a gang work on one private copy of a variable: some loop inside is spread over more threads than
/// the one that it is private to.
fn shared_by_threads(input: &Input, nest: &Nest, shape: Shape, one: &Captured) -> bool {
    let mode = levels_of_owner(input, nest, &one.name);
    shape.many
        && !(mode.worker && shape.rows)
        && nest.values().any(|shared| {
            let inner = sema::uses(input.unit(), input.symbols, shared.stmts[0]);
            shared.levels.without(mode).threads() && inner.of(one.symbol).is_some()
        })
}

/// Arrays that the threads of a gang share: private ones, and those that the region declares. Whether there are any.
fn shared_arrays(
    body: &mut Body,
    captured: &[Captured],
    stmt: StmtId,
    workers: usize,
    made: &mut Made,
) -> Result<bool, Refused> {
    let input = body.input;
    let threads_share = |symbol: SymbolId, from: Levels| {
        // Some loop inside spreads what uses it over more threads.
        body.shape.many
            && body.nest.values().any(|shared| {
                let more = shared.levels.without(from).threads();
                let inner = sema::uses(input.unit(), input.symbols, shared.stmts[0]);
                // What it reduces, it has a copy of for each thread.
                let reduces = shared.reduces(input, symbol).next().is_some();
                more && !reduces
                    && inner.of(symbol).is_some_and(|used| used.part_written || used.address_taken)
            })
    };
    let mut shared_now = Vec::new();
    let is_private = |one: &&Captured| matches!(one.role, Role::Local | Role::FirstArray(_));
    let mut filled_shared = false;
    for one in captured.iter().filter(|one| one.class == Class::Array).filter(is_private) {
        let element = capture::element(input, one)?;
        let sizes: String = one
            .decl
            .derived
            .iter()
            .filter_map(|part| match part {
                Derived::Array(Some(size)) => Some(format!("[{}]", one.seen.text(*size))),
                _ => None,
            })
            .collect();
        let stars = "*".repeat(types::stars(&one.decl));
        let mode = levels_of_owner(input, body.nest, &one.name);
        if threads_share(one.symbol, mode) {
            if mode.worker && body.shape.rows {
                let rows = body.names.fresh(&format!("{}_rows", one.name));
                made.prologue.push(format!("__shared__ {element} {stars}{rows}[{workers}]{sizes};"));
                made.prologue.push(format!("{element} {stars}(&{}){sizes} = {rows}[threadIdx.y];", one.name));
            } else {
                made.prologue.push(format!("__shared__ {element} {stars}{}{sizes};", one.name));
            }
            shared_now.push(one.symbol);
            filled_shared |= matches!(one.role, Role::FirstArray(_));
        } else {
            made.prologue.push(format!("{element} {stars}{}{sizes};", one.name));
        }
    }
    if filled_shared {
        made.filling.push("__syncthreads();".to_owned());
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
            let mode = levels_at(input, body.nest, part.span);
            if threads_share(symbol, mode) {
                if decl.init.is_some() || decls.len() > 1 {
                    return Err(refused(part.span, "an array of each gang, declared in this way"));
                }
                if mode.worker && body.shape.rows {
                    let sizes = input.file().text(Span { start: decl.name_span.end, end: part.span.end });
                    let head = input
                        .file()
                        .text(Span { start: part.span.start, end: decl.name_span.start })
                        .into_owned();
                    let sizes = sizes.trim().trim_end_matches(';').trim().to_owned();
                    let rows = body.names.fresh(&format!("{}_rows", decl.name));
                    body.edits.replace(
                        part.span,
                        format!(
                            "__shared__ {head}{rows}[{workers}]{sizes};\n{head}(&{}){sizes} = {rows}[threadIdx.y];",
                            decl.name
                        ),
                    );
                } else {
                    body.edits.insert(part.span.start, "__shared__ ");
                }
                shared_now.push(symbol);
            }
        }
    }
    let any = !shared_now.is_empty();
    body.common.extend(shared_now);
    Ok(any)
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

/// A call of the host, broken into lines where it is too long at its column.
fn fitted(line: &str, column: usize) -> Vec<String> {
    let whole = || vec![line.to_owned()];
    let Some((head, arguments)) = line.strip_suffix(");").and_then(|line| line.split_once('(')) else {
        return whole();
    };
    if column + line.len() <= 118 {
        return whole();
    }
    let indent = format!("{}    ", &line[..line.len() - line.trim_start().len()]);
    let mut lines = Vec::new();
    let mut last = format!("{head}(");
    for (at, argument) in super::text::arguments(arguments).into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        if column + last.len() + argument.len() + 4 > 118 {
            lines.push(format!("{last}{comma}"));
            last = format!("{indent}{argument}");
        } else {
            let blank = if at == 0 { "" } else { " " };
            last += &format!("{comma}{blank}{argument}");
        }
    }
    lines.push(format!("{last});"));
    lines
}

/// Lines in braces.
pub(super) fn braced(lines: Vec<String>) -> Vec<String> {
    under("{".to_owned(), lines)
}

/// Lines in braces, behind a line that opens them.
pub(super) fn under(head: String, lines: Vec<String>) -> Vec<String> {
    let mut all = vec![head];
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
