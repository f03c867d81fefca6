//! The code of a region as device code: loops distributed, the rest run by the threads that OpenACC says run it.
//!
//! Invariant: what is outside worker and vector loops has the effect of one thread of its worker or gang (2.9: worker-single
//! and vector-single mode); threads of a gang meet before and after such code.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::privates;
use super::window::Window;
use crate::acc::ast::{DirectiveKind, ReductionOp};
use crate::cuda::code::text::{self, Edits, columns};
use crate::cuda::meaning;
use crate::cuda::program::levels::{Levels, called_levels};
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::nest::{Nest, Shared};
use crate::cuda::schedule::sizes::Shape;
use crate::cuda::types::spelling;
use crate::host::ir::{Derived, ExprId, ExprKind, FunctionId, StmtId, StmtKind};
use crate::plan;
use crate::sema::{Class, SymbolId};
use crate::source::Span;

/// The columns of one level of indentation in what is added.
const STEP: i32 = 4;

/// Makes a region's code.
pub struct Body<'a, 'b> {
    pub input: &'b Input<'a>,
    pub nest: &'b Nest<'a>,
    /// The bytes of the region.
    pub region: Span,
    pub shape: Shape,
    pub names: Names,
    pub edits: Edits,
    /// Variables in device memory, or in memory that threads share: what is written there, others see.
    pub common: HashSet<SymbolId>,
    /// Those of them that each gang or worker has: an iteration of its loop finds what the one before has left.
    pub reused: HashSet<SymbolId>,
    /// Arrays whose bounds are run-time values: the names of the sizes of their inner dimensions.
    pub flat: HashMap<SymbolId, Vec<String>>,
    /// The kernel is made for two widths of the index of flat loops.
    pub template: bool,
    /// What that type is called.
    pub index: &'static str,
    /// Reductions of the gangs, which begin with their identity.
    pub results: HashMap<SymbolId, ReductionOp>,
    /// Arrays of each thread, which are combined at the end.
    pub arrays: HashSet<SymbolId>,
    /// Tables of arrays that are only updated atomically, by name.
    pub tables: HashMap<SymbolId, String>,
    /// Windows of the one loop there is, in shared memory.
    pub windows: Vec<Window>,
    /// It is the body of a routine.
    pub is_routine: bool,
    /// The function that the code of a kernel stands in.
    pub function: Option<FunctionId>,
    /// The levels that are distributed where it begins: workers, where each calls a routine with vector loops.
    pub mode: Levels,
    /// The lanes of a worker and the workers of a gang, if they are known here.
    pub sizes: Option<(usize, usize)>,
    /// All threads that run what comes next are after what they did before.
    pub is_together: bool,
    /// The variables whose addresses the region gives to pointers, once that was asked.
    pub led_to: OnceCell<BTreeSet<SymbolId>>,
    /// One gang runs all of it.
    pub is_one_gang: bool,
}

impl Body<'_, '_> {
    /// Says the statement as the device's C++, before its loops are distributed.
    pub fn prepare(&mut self, stmt: StmtId) -> Result<(), Refused> {
        let span = self.input.stmt_span(stmt);
        super::flat::flatten(self.input, &self.flat, span, &mut self.edits)?;
        meaning::edit(self.input, span, &mut self.edits)?;
        if !self.is_routine {
            let is_outer = |symbol| !span.contains(self.input.symbols.get(symbol).scope);
            super::whole::decltypes(self.input, span, &is_outer, &mut self.edits);
        }
        crate::cuda::program::qualified::edit(self.input, span, &mut self.edits)?;
        Ok(())
    }

    /// The code of the prepared statement, indented by one level.
    pub fn code(&mut self, stmt: StmtId, indent: usize) -> Result<String, Refused> {
        let span = self.input.stmt_span(stmt);
        self.directives(span)?;
        privates::of_sequential(self, span)?;
        match &self.input.unit().stmt(stmt).kind {
            // The braces of a function stay outside of what one thread does.
            StmtKind::Block(list) if self.is_routine && !self.holds_shared(stmt) => {
                self.single(&list.clone(), self.mode, true, true)?
            }
            _ => self.walk(stmt, self.mode, true, true)?,
        }
        let code = match self.input.says_lines() {
            true => self.edits.render_directed(self.input.file(), span, indent)?,
            false => self.edits.render(self.input.file(), span, indent)?,
        };
        match text::has_whole_conditions(&code) {
            true => Ok(code),
            false => Err(refused(
                Span { start: span.start, end: span.start + 1 },
                "an `#if` around a part of a statement",
            )),
        }
    }

    /// Takes the directives away, and says atomics in the target's way. In a routine, those that the host runs go.
    fn directives(&mut self, span: Span) -> Result<(), Refused> {
        let bound = self.input.bound;
        let inside = self.input.source.scan.directives.iter().filter(|text| span.contains(text.span));
        for text in inside.filter(|text| text.active && text.in_macro.is_none()) {
            if !bound.iter().any(|one| one.directive.span.start == text.span.start) {
                return Err(refused(text.span, "a directive that cannot be read"));
            }
        }
        for one in bound.iter().filter(|one| span.contains(one.directive.span)) {
            self.edits.remove_lines(self.input.file(), one.directive.span);
            if one.directive.kind == DirectiveKind::Atomic
                && let Some(stmt) = one.stmt()
            {
                super::atomic::atomic(self.input, one, stmt, &self.tables, &mut self.edits)?;
            }
            let goes = matches!(
                one.directive.kind,
                DirectiveKind::Atomic | DirectiveKind::Loop | DirectiveKind::Cache
            );
            if !goes && !self.is_routine {
                return Err(refused(one.directive.span, "this directive in a compute construct"));
            }
        }
        Ok(())
    }

    /// The levels that the shape distributes over, and the code does not yet.
    pub(super) fn missing(&self, mode: Levels) -> Levels {
        self.shape.levels().without(mode)
    }

    /// `is_last`: it ends an iteration of a shared loop, or the region.
    fn walk(&mut self, stmt: StmtId, mode: Levels, in_block: bool, is_last: bool) -> Result<(), Refused> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.walk_here(stmt, mode, in_block, is_last))
    }

    fn walk_here(
        &mut self,
        stmt: StmtId,
        mode: Levels,
        in_block: bool,
        is_last: bool,
    ) -> Result<(), Refused> {
        let nest = self.nest;
        if let Some(shared) = nest.get(&stmt) {
            return self.shared(shared, mode, in_block);
        }
        if !self.holds_shared(stmt) {
            return self.single(&[stmt], mode, in_block, is_last);
        }
        match &self.input.unit().stmt(stmt).kind.clone() {
            StmtKind::Block(list) => {
                let mut run: Vec<StmtId> = Vec::new();
                for inner in list {
                    if self.holds_shared(*inner) {
                        self.single(&std::mem::take(&mut run), mode, true, false)?;
                        self.walk(*inner, mode, true, false)?;
                    } else {
                        run.push(*inner);
                    }
                }
                self.single(&run, mode, true, is_last)
            }
            StmtKind::If { cond, then, other } => {
                self.condition(*cond, mode)?;
                self.is_together = false;
                self.walk(*then, mode, false, false)?;
                self.is_together = false;
                let done = other.map_or(Ok(()), |other| self.walk(other, mode, false, false));
                self.is_together = false;
                done
            }
            StmtKind::For { init, cond, step, body } => {
                if let Some(cond) = cond {
                    self.condition(*cond, mode)?;
                }
                if let Some(step) = step {
                    self.pure(*step, mode)?;
                }
                if let Some(init) = init {
                    let unit = self.input.unit();
                    let firsts = match &unit.stmt(*init).kind {
                        StmtKind::Expr(expr) => vec![*expr],
                        StmtKind::Decl(decls) => decls.iter().filter_map(|id| unit.decl(*id).init).collect(),
                        _ => Vec::new(),
                    };
                    firsts.into_iter().try_for_each(|expr| self.pure(expr, mode))?;
                }
                self.is_together = false;
                self.walk(*body, mode, false, false)?;
                self.is_together = false;
                Ok(())
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.condition(*cond, mode)?;
                self.is_together = false;
                self.walk(*body, mode, false, false)?;
                self.is_together = false;
                Ok(())
            }
            StmtKind::Expr(_) | StmtKind::Decl(_) | StmtKind::Return(_) => self.call(stmt, mode, in_block),
            _ => Err(refused(self.input.stmt_span(stmt), "a loop directive inside this statement")),
        }
    }

    /// A call of a routine that distributes loops: all threads make it that share them, and meet before and after.
    fn call(&mut self, stmt: StmtId, mode: Levels, in_block: bool) -> Result<(), Refused> {
        let unit = self.input.unit();
        let span = self.input.stmt_span(stmt);
        let levels = called_levels(self.input, stmt);
        if mode.vector || !self.shape.many {
            return Ok(());
        }
        let one_row = self.shape.rows && !levels.worker && !mode.worker;
        let result = match &unit.stmt(stmt).kind {
            StmtKind::Expr(expr) => self.result(*expr),
            _ => None,
        };
        let Some(result) = result.or((!one_row).then_some(None)) else {
            return Err(refused(span, "the result of a vector routine, outside of worker loops,"));
        };
        if let Some(place) = self.changed_by_each(span) {
            return Err(refused(place, "memory that each thread would change by the result of a routine"));
        }
        let sync = self.sync(mode);
        let is_result = |symbol: &SymbolId| {
            result.as_ref().is_some_and(|name| *name == self.input.symbols.get(*symbol).name)
        };
        if !self.changed_by(stmt).iter().all(is_result) {
            return Err(refused(span, "a private variable that a worker or vector routine may change,"));
        }
        let is_last = matches!(unit.stmt(stmt).kind, StmtKind::Return(_));
        let before = if self.is_together { String::new() } else { format!("{sync}\n") };
        let row = if one_row { "if (threadIdx.y == 0)\n    " } else { "" };
        let (open, close) = if in_block { ("", "") } else { ("{\n", "\n}") };
        self.edits.insert(span.start, format!("{open}{before}{row}"));
        let mut after = if is_last { String::new() } else { format!("\n{sync}") };
        if let Some(name) = result.as_ref().filter(|_| one_row) {
            after += &format!("\n{name} = acc2omp::gang_broadcast({name});");
        }
        after += close;
        // The semicolon goes, too: a loop around it may end here.
        let end = Span { start: span.end - 1, end: span.end };
        self.edits.replace_like(end, format!(";{after}"), span.start);
        self.is_together = !is_last;
        Ok(())
    }

    /// A condition that all threads follow: if its calls may change something, one thread evaluates it for all.
    fn condition(&mut self, cond: ExprId, mode: Levels) -> Result<(), Refused> {
        let missing = self.missing(mode);
        let span = self.input.unit().expr(cond).span;
        if !missing.any() || self.changing_call(span).is_none() {
            return self.pure(cond, mode);
        }
        let unit = self.input.unit();
        let mut inside = unit.exprs_in(span);
        if inside.any(|expr| matches!(expr.kind, ExprKind::Assign(..) | ExprKind::Step { .. })) {
            return Err(refused(span, "a condition that changes something, around a worker or vector loop"));
        }
        if let Some(given) = unit.exprs_in(span).find(|expr| self.gives_own(expr)) {
            return Err(refused(
                given.span,
                "a condition that changes something, around a worker or vector loop",
            ));
        }
        let single = self.single_thread(missing);
        let (thread, broadcast) = (single.condition, single.broadcast);
        self.edits.insert(span.start, format!("{broadcast}({thread} ? (bool)("));
        self.edits.insert(span.end, ") : false)");
        Ok(())
    }

    /// Whether a statement is, or holds, a shared loop or a call of a routine that distributes loops.
    fn holds_shared(&self, stmt: StmtId) -> bool {
        let span = self.input.stmt_span(stmt);
        let has_loop = self.nest.keys().any(|at| span.contains(self.input.stmt_span(*at)));
        has_loop || called_levels(self.input, stmt).any()
    }

    /// Statements that no thread distributes: by one thread of those that `mode` leaves, if others could tell.
    fn single(
        &mut self,
        stmts: &[StmtId],
        mode: Levels,
        in_block: bool,
        is_last: bool,
    ) -> Result<(), Refused> {
        let missing = self.missing(mode);
        if stmts.is_empty() || !missing.any() {
            return Ok(());
        }
        let mut run: Vec<StmtId> = Vec::new();
        for stmt in stmts {
            let is_decl = matches!(self.input.unit().stmt(*stmt).kind, StmtKind::Decl(_));
            if self.has_effect(*stmt) && !is_decl {
                run.push(*stmt);
            } else {
                self.guard(&std::mem::take(&mut run), missing, in_block, false)?;
                self.initialisers(*stmt, missing)?;
                // What all threads do takes each its own time.
                self.is_together = false;
            }
        }
        self.guard(&run, missing, in_block, is_last)
    }

    /// The first values of declared variables that are to be computed once, as a pointer to new memory is: one thread computes
    /// each, the others get it.
    fn initialisers(&mut self, stmt: StmtId, missing: Levels) -> Result<(), Refused> {
        let unit = self.input.unit();
        let StmtKind::Decl(decls) = &unit.stmt(stmt).kind else { return Ok(()) };
        let single = self.single_thread(missing);
        let (condition, barrier, broadcast) = (single.condition, single.barrier, single.broadcast);
        for decl in decls.iter().map(|decl| unit.decl(*decl)) {
            let Some(init) = decl.init.map(|init| unit.expr(init).span) else { continue };
            let text = self.input.file().text(init);
            let is_new = text::words(&text).iter().any(|word| ["malloc", "calloc"].contains(word));
            let is_pointer = decl.derived.as_slice() == [Derived::Pointer];
            let base = spelling::base(self.input, self.input.source, decl);
            if let Some(base) = base.as_ref().filter(|_| is_new && is_pointer) {
                // What C converts by itself has its cast in front.
                let cast = if self.input.is_c { String::new() } else { format!("({base} *)") };
                self.edits.insert(init.start, format!("{broadcast}({condition} ? {cast}"));
                self.edits.insert(init.end, " : 0)");
                continue;
            }
            let mut inside = unit.exprs_in(init);
            let given = || inside.find(|expr| self.changes_shared(expr)).map(|expr| expr.span);
            let Some(call) = self.changing_call(init).or_else(given) else { continue };
            let symbol = self.input.symbols.lookup(&decl.name, decl.name_span.end);
            let class = symbol.map(|symbol| self.input.symbols.get(symbol).class);
            let is_other =
                |other: &SymbolId| decls.iter().all(|id| self.input.symbols.get(*other).decl != Some(*id));
            let changes_others = self.kept(&[stmt]).iter().any(is_other);
            let is_value =
                !changes_others && (is_pointer || class == Some(Class::Scalar) && decl.derived.is_empty());
            let Some(base) = base.filter(|_| is_value) else {
                return Err(refused(
                    call,
                    "a call that may change something, in the declaration of this variable,",
                ));
            };
            if !self.is_together {
                self.edits.insert(self.input.stmt_span(stmt).start, format!("{barrier}\n"));
                self.is_together = true;
            }
            let kind = if is_pointer { format!("{base} *") } else { base };
            self.edits.insert(init.start, format!("{broadcast}<{kind}>({condition} ? ({kind})("));
            self.edits.insert(init.end, format!(") : ({kind})0)"));
        }
        Ok(())
    }

    fn guard(
        &mut self,
        run: &[StmtId],
        missing: Levels,
        in_block: bool,
        is_last: bool,
    ) -> Result<(), Refused> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        let span = Span { start: self.input.stmt_span(*first).start, end: self.input.stmt_span(*last).end };
        for stmt in run {
            if plan::jump_out(self.input.unit(), *stmt).is_some() {
                return Err(refused(
                    self.input.stmt_span(*stmt),
                    "a jump in code that one thread of a gang runs",
                ));
            }
        }
        let single = self.single_thread(missing);
        let (condition, barrier, broadcast) = (single.condition, single.barrier, single.broadcast);
        let open = if in_block { "" } else { "{\n" };
        // After a reduction or a barrier, all threads are there already; at the end of an iteration that no other one
        // depends on, none waits.
        let barrier_before = if self.is_together { String::new() } else { format!("{barrier}\n") };
        let mut after = if is_last { "\n}".to_owned() } else { format!("\n}}\n{barrier}") };
        self.is_together = !is_last;
        for symbol in self.kept(run).into_iter().filter(|_| !is_last) {
            let known = self.input.symbols.get(symbol);
            let name = &known.name;
            after += &match known.class {
                Class::Array | Class::Record => format!("\n{broadcast}_whole({name});"),
                _ => format!("\n{name} = {broadcast}({name});"),
            };
        }
        if !in_block {
            after += "\n}";
        }
        self.edits.insert(span.start, format!("{open}{barrier_before}if ({condition}) {{\n    "));
        self.edits.shift(Span { start: span.start + 1, end: span.end }, -STEP);
        self.edits.replace_like(Span { start: span.end, end: span.end }, after, span.start);
        Ok(())
    }

    /// A loop whose iterations are distributed.
    fn shared(&mut self, shared: &Shared, mode: Levels, in_block: bool) -> Result<(), Refused> {
        let (Some(outer), Some(inner)) = (shared.division.stmts.first(), shared.headers.last()) else {
            return Ok(());
        };
        let span = self.input.stmt_span(*outer);
        // The vector lanes of one worker run it, the others wait.
        let one_row = self.shape.rows && shared.levels().vector && !shared.levels().worker && !mode.worker;
        let mut inside = mode.with(shared.levels());
        inside.worker |= one_row;
        let mut before = String::new();
        let mut after = String::new();
        let mut own = Vec::new();
        for (op, item) in &shared.division.reductions {
            let threads = Levels { gang: false, ..shared.levels() };
            if self.shape.many && threads.threads() {
                own.extend(self.reduce(*op, item, shared, threads, one_row, (&mut before, &mut after))?);
            }
        }
        let in_gang = shared.levels().threads() && (!shared.levels().gang || self.is_one_gang);
        if (in_gang || self.is_followed(span)) && self.shape.many && self.has_effect(*outer) {
            let sync = self.sync(mode);
            // What the threads have read before, some may write now; what one thread has written, the others see.
            if !self.is_together {
                before = format!("{sync}\n{before}");
            }
            after = format!("\n{sync}{after}");
        }
        self.is_together = !after.is_empty() && !one_row;
        let body = self.input.stmt_span(inner.body);
        let is_block = matches!(self.input.unit().stmt(inner.body).kind, StmtKind::Block(_));
        own.extend(privates::declarations(self, shared)?);
        let (counts, header, indices) = self.header(shared)?;
        before += &counts;
        if one_row {
            before += "if (threadIdx.y == 0)\n";
        }
        let has_lines = !before.is_empty() || !after.is_empty();
        let wrap = has_lines && !in_block;
        if wrap {
            before = format!("{{\n{before}");
            after += "\n}";
        }
        let mut text = format!("{before}{header} {{");
        for line in indices.into_iter().chain(own) {
            text += &format!("\n    {line}");
        }
        let file = self.input.file();
        if is_block {
            // The lines of the body keep their depth under the outermost loop.
            let shift = columns(file, body.start) as i32 - columns(file, span.start) as i32;
            let inner_lines = Span { start: body.start + 1, end: body.end };
            if file.lines.line(body.start) != file.lines.line(body.end - 1) {
                self.edits.shift(inner_lines, shift);
            } else {
                text += "\n    ";
            }
            self.edits.replace_all(Span { start: span.start, end: body.start + 1 }, text);
        } else {
            let shift = columns(file, body.start) as i32 - columns(file, span.start) as i32 - STEP;
            let own_line = file.lines.line(body.start) != file.lines.line(span.start);
            if own_line {
                self.edits.shift(Span { start: body.start + 1, end: body.end }, shift);
            }
            self.edits.replace_all(Span { start: span.start, end: body.start }, format!("{text}\n    "));
        }
        self.iteration(inner.body, inside)?;
        // After what ends in the body, which may end at the same place.
        let one_line = file.lines.line(body.start) == file.lines.line(body.end - 1);
        let brace = if is_block && !one_line { "}" } else { "\n}" };
        let end = Span { start: if is_block { body.end - 1 } else { body.end }, end: span.end };
        self.edits.replace_like(end, format!("{brace}{after}"), span.start);
        Ok(())
    }

    /// The body of a loop whose iterations are distributed. No other iteration depends on what an iteration does, but it may
    /// have the same memory.
    fn iteration(&mut self, body: StmtId, mode: Levels) -> Result<(), Refused> {
        let is_together = self.is_together;
        self.is_together = !(self.missing(mode).any() && self.names_reused(body));
        self.walk(body, mode, true, true)?;
        self.is_together = is_together;
        Ok(())
    }
}
