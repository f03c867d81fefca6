//! The code of a region as device code: loops distributed, the rest run by the threads that OpenACC says run it.
//!
//! Invariant: what is outside worker and vector loops has the effect of one thread of its worker or gang (2.9: worker-single
//! and vector-single mode); threads of a gang meet before and after such code.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::counted::{Counted, WIDE, is_narrow};
use super::privates;
use super::window::Window;
use crate::acc::ast::{DirectiveKind, ReductionOp};
use crate::cuda::code::text::{self, Edits, columns};
use crate::cuda::fit::object;
use crate::cuda::meaning;
use crate::cuda::program::levels::{Levels, called_levels, routine_levels};
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, effects, refused};
use crate::cuda::schedule::nest::{Nest, Shared};
use crate::cuda::schedule::reduction::{combined, identity, operator};
use crate::cuda::schedule::sizes::Shape;
use crate::cuda::types::{spelling, unfolded};
use crate::host::ir::{Derived, Expr, ExprId, ExprKind, FunctionId, StmtId, StmtKind};
use crate::plan;
use crate::sema::{self, Class, Header, SymbolId, SymbolKind};
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

    fn vector_sync(&self) -> String {
        match self.sizes {
            Some((lanes, _)) => format!("acc2omp::vector_sync<{lanes}>();"),
            None => "acc2omp::vector_sync();".to_owned(),
        }
    }

    /// The barrier of the threads that run what stands on these levels together.
    fn sync(&self, mode: Levels) -> String {
        match self.shape.rows && mode.worker {
            true => self.vector_sync(),
            false => "__syncthreads();".to_owned(),
        }
    }

    fn missing(&self, mode: Levels) -> Levels {
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

    /// What threads share and a statement changes in another way if several of them run it: all but what is assigned a value that
    /// does not depend on it.
    fn changed_by_each(&self, span: Span) -> Option<Span> {
        let unit = self.input.unit();
        let root = |place: ExprId| {
            let mut base = place;
            while let ExprKind::Index(inner, _)
            | ExprKind::Member { base: inner, .. }
            | ExprKind::Deref(inner)
            | ExprKind::Cast { operand: inner, .. } = unit.expr(base).kind
            {
                base = inner;
            }
            base
        };
        let is_named = |name: ExprId, within: ExprId| match &unit.expr(name).kind {
            ExprKind::Name(name) => {
                let text = self.input.file().text(unit.expr(within).span);
                text::words(&text).contains(&name.as_str())
            }
            _ => true,
        };
        unit.exprs_in(span).find_map(|expr| {
            let (place, is_same) = match expr.kind {
                ExprKind::Assign(None, left, right) => (left, !is_named(root(left), right)),
                ExprKind::Assign(Some(_), left, _) => (left, false),
                ExprKind::Step { operand, .. } => (operand, false),
                _ => return None,
            };
            (!is_same && self.is_common(place)).then_some(expr.span)
        })
    }

    /// For a call, or the assignment of its result that all lanes of a worker may make: the variable of the threads' own
    /// that gets the result, if it is one.
    fn result(&self, expr: ExprId) -> Option<Option<String>> {
        let unit = self.input.unit();
        let is_call = |expr: ExprId| matches!(unit.expr(expr).kind, ExprKind::Call { .. });
        if is_call(expr) {
            return Some(None);
        }
        let ExprKind::Assign(None, left, right) = unit.expr(expr).kind else { return None };
        let mut base = left;
        while let ExprKind::Index(inner, _) | ExprKind::Member { base: inner, .. } = unit.expr(base).kind {
            base = inner;
        }
        let ExprKind::Name(name) = &unit.expr(base).kind else { return None };
        let text = self.input.file().text(unit.expr(right).span);
        if !is_call(right) || text::words(&text).contains(&name.as_str()) {
            return None;
        }
        match self.is_common(left) {
            true => Some(None),
            false => (base == left).then(|| Some(name.clone())),
        }
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
        let (thread, _, broadcast) = single_thread(missing, self.shape, &self.vector_sync());
        self.edits.insert(span.start, format!("{broadcast}({thread} ? (bool)("));
        self.edits.insert(span.end, ") : false)");
        Ok(())
    }

    /// Whether a call may change a variable that each thread has for itself.
    fn gives_own(&self, call: &Expr) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let ExprKind::Call { callee, args } = &call.kind else { return false };
        let takes = |at: usize| match &unit.expr(*callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => symbols.takes_reference(name, at),
            _ => true,
        };
        args.iter().enumerate().any(|(at, arg)| match &unit.expr(*arg).kind {
            ExprKind::AddressOf(place) => !self.is_common(*place),
            ExprKind::Name(name) => {
                let symbol = symbols.lookup(name, unit.expr(*arg).span.start);
                let known = symbol.map(|symbol| symbols.get(symbol));
                let is_array = known
                    .is_some_and(|known| known.class == Class::Array && known.kind != SymbolKind::Parameter);
                (is_array || takes(at)) && !self.is_common(*arg)
            }
            _ => takes(at) && !self.is_common(*arg),
        })
    }

    /// The first call in `span` that may change what threads share.
    fn changing_call(&self, span: Span) -> Option<Span> {
        effects::changing_call(self.input, span, &|base| !self.is_common(base))
    }

    /// What all threads evaluate must change nothing that they share.
    fn pure(&self, expr: ExprId, mode: Levels) -> Result<(), Refused> {
        if !self.missing(mode).any() {
            return Ok(());
        }
        let unit = self.input.unit();
        if let Some(call) = self.changing_call(unit.expr(expr).span) {
            return Err(refused(
                call,
                "a call that may change something, in the head of a loop around worker or vector loops,",
            ));
        }
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let kind = &unit.expr(expr).kind;
            let changed = match kind {
                ExprKind::Assign(_, left, _) => Some(*left),
                ExprKind::Step { operand, .. } => Some(*operand),
                _ => None,
            };
            if changed.is_some_and(|changed| self.is_common(changed)) {
                return Err(refused(
                    unit.expr(expr).span,
                    "a condition that changes memory, around a worker or vector loop",
                ));
            }
            pending.extend(kind.children());
        }
        Ok(())
    }

    /// Whether what an expression names is in memory that threads share.
    fn is_common(&self, expr: ExprId) -> bool {
        let unit = self.input.unit();
        match &unit.expr(expr).kind {
            ExprKind::Name(name) => {
                let symbol = self.input.symbols.lookup(name, unit.expr(expr).span.start);
                symbol.is_none_or(|symbol| self.common.contains(&symbol))
            }
            ExprKind::Index(base, _) => self.is_common_base(*base),
            ExprKind::Member { base, arrow: false, .. } => self.is_common(*base),
            _ => true,
        }
    }

    /// Whether what an index goes into is shared: an array of the thread's own is not.
    fn is_common_base(&self, base: ExprId) -> bool {
        let unit = self.input.unit();
        match &unit.expr(base).kind {
            ExprKind::Name(name) => {
                let symbol = self.input.symbols.lookup(name, unit.expr(base).span.start);
                symbol.is_none_or(|symbol| {
                    self.common.contains(&symbol) || self.input.symbols.get(symbol).class != Class::Array
                })
            }
            ExprKind::Index(base, _) => self.is_common_base(*base),
            ExprKind::Member { base, arrow: false, .. } => self.is_common_base(*base),
            _ => true,
        }
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
        let (condition, barrier, broadcast) = single_thread(missing, self.shape, &self.vector_sync());
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

    /// Whether a statement changes memory that threads share.
    fn has_effect(&self, stmt: StmtId) -> bool {
        let unit = self.input.unit();
        let span = self.input.stmt_span(stmt);
        if self.changing_call(span).is_some() {
            return true;
        }
        // Jumps stay with their loops.
        unit.exprs_in(span).any(|expr| match &expr.kind {
            ExprKind::Assign(_, left, _) => self.is_common(*left),
            ExprKind::Step { operand, .. } => self.is_common(*operand),
            ExprKind::Call { .. } => self.is_call_with_effect(expr),
            _ => false,
        })
    }

    /// Whether an expression in a declaration changes what threads share.
    fn changes_shared(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(_, place, _) | ExprKind::Step { operand: place, .. } => self.is_common(*place),
            _ => self.changes_argument(expr),
        }
    }

    /// Whether a call of a function that one thread runs changes what an argument leads to, and threads share.
    fn changes_argument(&self, call: &Expr) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let ExprKind::Call { callee, args } = &call.kind else { return false };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { return false };
        if routine_levels(self.input, name).any() {
            return false;
        }
        let function = unit.functions_named(name).next();
        args.iter().enumerate().any(|(at, arg)| match &unit.expr(*arg).kind {
            ExprKind::AddressOf(place) => self.is_common(*place),
            ExprKind::Name(_) => function.is_some_and(|function| {
                let param = function.params.get(at).map(|param| &unit.decl(*param).name);
                let uses = sema::uses(unit, symbols, function.body);
                let body = unit.stmt(function.body).span;
                let symbol = param.and_then(|param| symbols.lookup(param, body.start + 1));
                symbol.and_then(|symbol| uses.of(symbol)).is_some_and(|used| used.part_written)
            }),
            _ => false,
        })
    }

    /// Whether a call may change memory that threads share, by what it is given.
    fn is_call_with_effect(&self, expr: &Expr) -> bool {
        let unit = self.input.unit();
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = self.input.file().text(unit.expr(*callee).span);
                let writes = |arg: &ExprId| {
                    let expr = unit.expr(*arg);
                    match &expr.kind {
                        ExprKind::AddressOf(_) => true,
                        ExprKind::Name(name) => {
                            let symbol = self.input.symbols.lookup(name, expr.span.start);
                            symbol.is_some_and(|symbol| {
                                !matches!(
                                    self.input.symbols.get(symbol).class,
                                    Class::Scalar | Class::Unknown
                                )
                            })
                        }
                        _ => false,
                    }
                };
                name == "printf"
                    || routine_levels(self.input, name.rsplit(['>', '.']).next().unwrap_or(&name)).any()
                    || name.starts_with("atomic")
                    || args.iter().any(writes)
                    || object::is_changed_by(self.input, expr.span, &name)
            }
            _ => false,
        }
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
        let (condition, barrier, broadcast) = single_thread(missing, self.shape, &self.vector_sync());
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

    /// Whether the body of a loop names a variable that each gang or worker has.
    fn names_reused(&self, stmt: StmtId) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let mut names = unit.expr_ids_in(self.input.stmt_span(stmt)).filter_map(|id| symbols.named(unit, id));
        !self.reused.is_empty() && names.any(|symbol| self.reused.contains(&symbol))
    }

    /// Puts a reduction over threads around a loop.
    fn reduce(
        &mut self,
        op: ReductionOp,
        item: &crate::acc::ast::ListItem,
        shared: &Shared,
        threads: Levels,
        one_row: bool,
        (before, after): (&mut String, &mut String),
    ) -> Result<Option<String>, Refused> {
        let place = shared.span(self.input).start;
        let symbol = self.input.symbols.lookup(item.variable(), place);
        let decl = symbol.and_then(|symbol| unfolded::declaration(self.input, symbol));
        let (Some(symbol), Some((seen, decl))) = (symbol, decl) else {
            return Err(refused(item.span, "a reduction of a variable whose declaration is not seen"));
        };
        if self.arrays.contains(&symbol) {
            // Each thread has its own until the end.
            return Ok(None);
        }
        let base = spelling::base(self.input, seen, &decl)
            .ok_or_else(|| refused(item.span, "a reduction of this type"))?;
        let name = match crate::cuda::program::qualified::is_variable(self.input, symbol) {
            true => item.variable().rsplit("::").next().unwrap_or_default(),
            false => item.variable(),
        };
        let reduce = match (threads.worker, threads.vector) {
            (true, false) => "worker_reduce",
            (false, true) if self.shape.rows => "vector_reduce",
            _ => "block_reduce",
        };
        let lanes = match self.sizes.filter(|_| reduce == "vector_reduce") {
            Some((lanes, _)) => format!(", {lanes}"),
            None => String::new(),
        };
        let derived: Vec<&Derived> =
            decl.derived.iter().filter(|part| **part != Derived::Reference).collect();
        let is_bare = item.parts.len() == usize::from(item.variable() != item.base.text);
        if is_bare && !derived.is_empty() {
            // A copy for each thread, which has the array's name in the loop.
            let mut sizes = String::new();
            for part in &derived {
                let Derived::Array(Some(size)) = part else {
                    return Err(refused(
                        item.span,
                        "a reduction of something else than a scalar or an array",
                    ));
                };
                sizes += &format!("[{}]", seen.text(*size));
            }
            let (own, n) = (self.names.fresh(&format!("{name}_own")), self.names.fresh("n"));
            let each = format!("for (size_t {n} = 0; {n} < sizeof {own} / sizeof({base}); {n}++)");
            *before += &format!(
                "{base} {own}{sizes};\n{each}\n    (({base} *){own})[{n}] = {};\n",
                identity(op, &base)
            );
            let place = format!("(({base} *){name})[{n}]");
            let call = format!("acc2omp::{reduce}<{}{lanes}>((({base} *){own})[{n}])", operator(op));
            *after += &format!("\n{each}\n    {place} = {};", combined(op, &place, &call));
            return Ok(Some(format!("{base} (&{name}){sizes} = {own};")));
        }
        if !is_bare || !derived.is_empty() {
            return Err(refused(item.span, "a reduction of something else than a scalar or an array"));
        }
        let call = format!("acc2omp::{reduce}<{}{lanes}>({name})", operator(op));
        if shared.levels().gang && self.results.contains_key(&symbol) && self.is_only(shared, symbol) {
            *after += &format!("\n{name} = {call};");
            return Ok(None);
        }
        let outer = self.names.fresh(&format!("{name}_before"));
        *before += &format!("const {base} {outer} = {name};\n{name} = {};\n", identity(op, &base));
        *after += &format!("\n{name} = {};", combined(op, &outer, &call));
        if one_row {
            *after += &format!("\n{name} = acc2omp::gang_broadcast({name});");
        }
        Ok(None)
    }

    /// Whether the loop is the only place where the region uses a variable, and is reached once.
    fn is_only(&self, shared: &Shared, symbol: SymbolId) -> bool {
        let outer = shared.span(self.input);
        let reducing =
            self.nest.values().filter(|other| {
                other.levels().threads()
                    && other.division.reductions.iter().any(|(_, item)| {
                        self.input.symbols.lookup(&item.base.text, outer.start) == Some(symbol)
                    })
            });
        let unit = self.input.unit();
        let mut elsewhere = unit.expr_ids_in(self.region).filter(|id| !outer.contains(unit.expr(*id).span));
        reducing.count() == 1
            && !elsewhere.any(|id| self.input.symbols.named(unit, id) == Some(symbol))
            && self.nest.values().all(|other| {
                let span = other.span(self.input);
                span == outer || !span.contains(outer)
            })
            && !self.in_sequential_loop(outer)
    }

    /// Whether other code of the region runs after a loop.
    fn is_followed(&self, outer: Span) -> bool {
        let rest = Span { start: outer.end, end: self.region.end };
        self.input.unit().stmts_in(rest).next().is_some() || self.in_sequential_loop(outer)
    }

    /// Whether a sequential loop of the region holds `inner`.
    fn in_sequential_loop(&self, inner: Span) -> bool {
        let is_loop = |kind: &StmtKind| {
            matches!(kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. })
        };
        let holds = |span: Span| span != inner && span.contains(inner);
        self.input.unit().stmts_in(self.region).any(|stmt| is_loop(&stmt.kind) && holds(stmt.span))
    }

    /// What counts the loops of a nest, the `for` line of a shared loop, and the lines that set its variables.
    fn header(&mut self, shared: &Shared) -> Result<(String, String, Vec<String>), Refused> {
        if !shared.division.tile.is_empty() {
            return self.tiled(shared);
        }
        if shared.reuses {
            return self.reused(shared);
        }
        if !self.windows.is_empty() {
            return self.windowed(shared);
        }
        let (first, stride) = self.threads(shared.levels());
        let index = self.index_type(shared);
        let k = self.names.fresh("k");
        let mut parts = Vec::new();
        for header in &shared.headers {
            parts.push(Counted::new(self.input, header, &self.edits)?);
        }
        let names: Vec<String> =
            parts.iter().map(|part| self.names.fresh(&format!("{}_trips", part.name))).collect();
        let counted: Vec<String> =
            names.iter().zip(&parts).map(|(name, part)| format!("{name} = {}", part.trips)).collect();
        let header = match names.as_slice() {
            [only] => {
                format!("for ({index} {k} = {first}, {};\n     {k} < {only}; {k} += {stride})", counted[0])
            }
            many => {
                let total = many.join(" * ");
                format!("for ({index} {k} = {first}; {k} < {total}; {k} += {stride})")
            }
        };
        let counts = match names.len() {
            1 => String::new(),
            _ => format!("const {index} {};\n", counted.join(", ")),
        };
        let mut lines = Vec::new();
        for (at, (part, header)) in parts.iter().zip(&shared.headers).enumerate() {
            if !self.is_used(shared, part, header) {
                continue;
            }
            let own = own_index(&k, &names, &shared.order, at);
            lines.push(part.value(&own, index, names.len() > 1));
        }
        Ok((counts, header, lines))
    }

    /// Whether the body of a nest names the variable of one of its loops.
    pub fn is_used(&self, shared: &Shared, part: &Counted, header: &Header) -> bool {
        let Some(body) = shared.headers.last().map(|header| header.body) else { return false };
        let uses = sema::uses(self.input.unit(), self.input.symbols, body);
        let text = self.input.file().text(self.input.stmt_span(body));
        uses.of(header.var).is_some() || text::words(&text).contains(&part.name.as_str())
    }

    /// The first iteration of a thread, and how many there are from one to the next.
    pub fn threads(&self, levels: Levels) -> (String, String) {
        let rows = self.shape.rows;
        let (first, stride) = match (levels.gang, levels.worker, levels.vector) {
            _ if !self.shape.many => match levels.gang {
                true => ("blockIdx.x", "gridDim.x"),
                false => ("0", "1"),
            },
            (true, false, false) => ("blockIdx.x", "gridDim.x"),
            (false, true, false) => ("threadIdx.y", "blockDim.y"),
            (true, true, false) => ("blockIdx.x * blockDim.y + threadIdx.y", "gridDim.x * blockDim.y"),
            (true, true, true) if rows => (
                "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
                "gridDim.x * blockDim.y * blockDim.x",
            ),
            (false, true, true) if rows => {
                ("threadIdx.y * blockDim.x + threadIdx.x", "blockDim.y * blockDim.x")
            }
            (true, _, _) => ("blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"),
            (false, _, _) => ("threadIdx.x", "blockDim.x"),
        };
        (first.to_owned(), stride.to_owned())
    }

    /// The type that counts the iterations: 32 bits where they surely suffice.
    pub fn index_type(&self, shared: &Shared) -> &'static str {
        match shared.headers.as_slice() {
            _ if self.template && shared.headers.len() > 1 => self.index,
            [only] if is_narrow(self.input, only, !shared.levels().gang) => "unsigned",
            _ => WIDE,
        }
    }
}

/// The iteration of the loop at a place in a nest, where `index` counts the iterations of all of them: the last loop of `order`
/// is counted first. `trips`: the names for their numbers of iterations.
fn own_index(index: &str, trips: &[String], order: &[usize], at: usize) -> String {
    let place = order.iter().position(|one| *one == at).unwrap_or(at);
    let faster: Vec<&str> = order.iter().skip(place + 1).map(|one| trips[*one].as_str()).collect();
    let within = match faster.as_slice() {
        [] => index.to_owned(),
        [only] => format!("{index} / {only}"),
        several => format!("{index} / ({})", several.join(" * ")),
    };
    if place == 0 { within } else { format!("{within} % {}", trips[at]) }
}

/// The condition that one thread of those that differ in `missing` meets, the barrier that they share, and what gives its
/// value to all of them.
fn single_thread(missing: Levels, shape: Shape, vector_sync: &str) -> (&'static str, String, &'static str) {
    let all = "__syncthreads();".to_owned();
    match (shape.rows, missing.worker, missing.vector) {
        (true, false, true) => ("threadIdx.x == 0", vector_sync.to_owned(), "acc2omp::vector_broadcast"),
        (true, true, false) => ("threadIdx.y == 0", all, "acc2omp::gang_broadcast"),
        (true, _, _) => ("threadIdx.x == 0 && threadIdx.y == 0", all, "acc2omp::gang_broadcast"),
        (false, _, _) => ("threadIdx.x == 0", all, "acc2omp::gang_broadcast"),
    }
}
