//! Compute constructs: which become one launch with their loop, and which a region with loops inside.
//!
//! Invariant: a construct and everything below it is translated together, or left together.

use std::collections::BTreeMap;

use crate::acc::ast::DirectiveKind;
use crate::bind::{ancestors, descendants};
use crate::diag;
use crate::host::ir::{Decl, DeclKind, ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{Class, children, only_loop, uses};
use crate::source::Span;

use super::clauses::LoopClauses;
use super::{Gangs, Input, Item, Launch, Maker, Region, Sharing};

impl Input<'_> {
    /// Where a construct of C++ names, in two ways, what may be two variables of different namespaces.
    fn names_alike(&self, index: usize, stmt: StmtId) -> Option<Span> {
        if !self.unit.is_cpp() {
            return None;
        }
        let within = self.unit.stmt(stmt).span;
        let used = self.unit.exprs_in(within).filter_map(|expr| match &expr.kind {
            ExprKind::Name(name) => Some((name.as_str(), expr.span)),
            _ => None,
        });
        let around = ancestors(self.bound, index).chain([index]);
        let clauses = around.flat_map(|at| &self.bound[at].directive.clauses);
        let listed = clauses.flat_map(|clause| super::list(&clause.kind));
        let listed = listed.map(|item| (item.name_in_full(), item.span));
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        used.chain(listed).find_map(|(name, span)| {
            let last = name.rsplit_once("::").map_or(name, |(_, last)| last);
            let first = known.entry(last).or_insert(name);
            (*first != name && self.symbols.has_namesakes(name, span.start)).then_some(span)
        })
    }

    /// Where a construct declares a variable `extern` that its name does not mean before: no clause can name it.
    fn first_declared_extern(&self, stmt: StmtId) -> Option<Span> {
        let mut declared = self.unit.decls_in(self.unit.stmt(stmt).span);
        let before = self.unit.stmt(stmt).span.start;
        let is_first = |decl: &&Decl| {
            let meant = |place: u32| self.symbols.lookup(&decl.name, place);
            decl.is_extern
                && decl.kind == DeclKind::Variable
                && meant(decl.name_span.end)
                    .is_some_and(|symbol| self.is_inside(symbol, stmt) || meant(before) != Some(symbol))
        };
        declared.find(is_first).map(|decl| decl.name_span)
    }

    /// Whether the way to the struct `base` begins with more than a variable.
    fn is_led_to(&self, base: ExprId) -> bool {
        let mut at = base;
        loop {
            at = match &self.unit.expr(at).kind {
                ExprKind::Index(inner, _) | ExprKind::Deref(inner) => *inner,
                ExprKind::Member { base, .. } => *base,
                ExprKind::Binary(_, left, _) => match self.symbols.named(self.unit, *left) {
                    Some(symbol) if self.symbols.get(symbol).class == Class::Array => return true,
                    _ => *left,
                },
                ExprKind::Cast { .. }
                | ExprKind::AddressOf(_)
                | ExprKind::Conditional(..)
                | ExprKind::Initialiser(_)
                | ExprKind::Step { .. } => {
                    return true;
                }
                ExprKind::Call { callee, .. } => return !self.is_macro_call(*callee),
                _ => return false,
            }
        }
    }

    fn is_macro_call(&self, callee: ExprId) -> bool {
        let name = if let ExprKind::Name(name) = &self.unit.expr(callee).kind { name } else { return false };
        self.symbols.is_spelled_as_macro(name)
    }

    /// The loop directive whose loop is all there is in the construct.
    pub(super) fn sole_loop(&self, index: usize, stmt: StmtId) -> Option<(usize, StmtId)> {
        let only = only_loop(self.unit, stmt)?;
        let at = self.loops_below(index).into_iter().find(|at| self.bound[*at].stmt() == Some(only))?;
        Some((at, only))
    }

    /// A variable that `kernels` construct `index` may change, that no clause of it names, and whose declaration a macro or a header
    /// hides: only a scalar is copied (2.5.1), and nobody sees what this one is.
    fn changes_unseen(&self, index: usize, stmt: StmtId) -> Option<(&str, Span)> {
        let function = self.bound[index].function.map(|function| self.unit.function(function));
        // A class that is not seen may have it, and each object has its members.
        let is_method = function.is_some_and(|function| function.member_of.is_some());
        if !self.bound[index].directive.kind.is_kernels() || self.unit.is_fortran() || is_method {
            return None;
        }
        let clauses = self.with_loops_below(index).flat_map(|at| &self.bound[at].directive.clauses);
        let stated: Vec<&str> = clauses
            .flat_map(|clause| super::list(&clause.kind))
            .map(|item| item.base.text.as_str())
            .collect();
        let is_unseen = |name: &str, at: u32| {
            let is_named = stated.contains(&name) || name == "this" || name.contains("::");
            !is_named && self.symbols.lookup(name, at).is_none() && !self.symbols.is_of_union(name, at)
        };
        let changed = self.unit.exprs_in(self.unit.stmt(stmt).span).filter_map(|expr| match &expr.kind {
            ExprKind::Assign(_, at, _) | ExprKind::Step { operand: at, .. } | ExprKind::AddressOf(at) => {
                Some(*at)
            }
            _ => None,
        });
        let mut named = changed.filter_map(|at| match &self.unit.expr(at).kind {
            ExprKind::Name(name) => Some((name.as_str(), self.unit.expr(at).span)),
            _ => None,
        });
        named.find(|(name, span)| is_unseen(name, span.start))
    }
}

impl Maker<'_> {
    /// A compute construct with all that is below it.
    pub(super) fn compute(&mut self, index: usize, held: &[Span]) {
        let directive = &self.input.bound[index].directive;
        let Some(stmt) = self.input.bound[index].stmt() else { return };
        let extent = directive.span.to(self.input.unit.stmt(stmt).span);
        if held.iter().any(|span| extent.contains(*span)) {
            self.plan.notes[index].stays = true;
            return;
        }
        if let Some(word) = jump_out(self.input.unit, stmt) {
            self.stay(index, diag::leaves_region(directive.span, word));
            return;
        }
        if let Some(span) = self.input.names_alike(index, stmt) {
            self.diags.push(diag::not_yet(span, "variables of one name in several namespaces"));
            return;
        }
        if let Some(span) = self.input.first_declared_extern(stmt) {
            self.diags.push(diag::not_yet(span, "a variable of the file that only the construct declares"));
            return;
        }
        if let Some((name, span)) = self.input.changes_unseen(index, stmt) {
            self.diags.push(diag::not_yet(span, &format!("`{name}`, whose declaration is not seen,")));
            return;
        }
        let below: Vec<usize> = descendants(self.input.bound, index).collect();
        if let Some(other) = below.iter().find(|at| !may_stand_inside(self.input.bound[**at].directive.kind))
        {
            let other = &self.input.bound[*other].directive;
            self.diags.push(diag::not_yet(
                other.span,
                "a directive inside a compute construct other than `loop`, `atomic` or `cache`",
            ));
            return;
        }
        let divided = below.iter().chain([&index]).find(|at| self.input.divides_gang_routine(**at));
        if let Some(at) = divided {
            self.stay(index, diag::gang_routine_in_gang_loop(self.input.bound[*at].directive.span));
            return;
        }
        self.plan.own_sections.extend(self.input.own_sections(index));
        let counting = self.counting(index);
        let mut ok = self.items_ok(index, &counting);
        for at in self.input.all_loops_below(index) {
            let counting = self.counting(at);
            ok &= self.items_ok(at, &counting);
        }
        if below.iter().any(|at| self.plan.notes[*at].stays) {
            self.plan.notes[index].stays = true;
        }
        if !ok {
            return;
        }
        for at in below {
            match self.input.bound[at].directive.kind {
                DirectiveKind::Cache => self.cache(at),
                // A loop's line goes unless it is given a construct below.
                DirectiveKind::Loop => self.plan.items[at] = Item::Gone,
                _ => {}
            }
        }
        self.report_lambdas(stmt);
        self.report_members(stmt);
        self.report_bindings(stmt);
        match region(directive.kind) {
            Region::Kernels => self.kernels(index, stmt, counting),
            Region::Serial => self.serial(index, stmt, counting),
            Region::Parallel => self.parallel(index, stmt, counting),
        }
    }

    /// Says where a member of what an expression leads to is more than clang compiles.
    fn report_members(&mut self, stmt: StmtId) {
        if self.input.unit.is_fortran() {
            return;
        }
        let extent = self.input.unit.stmt(stmt).span;
        let found = self.input.unit.exprs_in(extent).find(|expr| match &expr.kind {
            ExprKind::Member { base, .. } => self.input.is_led_to(*base),
            _ => false,
        });
        if let Some(expr) = found {
            self.diags.push(diag::clang_refuses(
                expr.span,
                "a member of what a call, a cast, a compound literal or a computed address leads to in a target construct",
            ));
        }
    }

    /// Says which names of structured bindings around it the construct uses.
    fn report_bindings(&mut self, stmt: StmtId) {
        if self.input.unit.bindings.is_empty() {
            return;
        }
        let used = uses(self.input.unit, self.input.symbols, stmt);
        let found = used.iter().find_map(|(symbol, how)| {
            let decl =
                self.input.symbols.get(symbol).decl.filter(|decl| self.input.unit.bindings.contains(decl))?;
            let first = how.first.filter(|_| !self.input.is_inside(symbol, stmt))?;
            Some((first, &self.input.unit.decl(decl).name))
        });
        if let Some((at, name)) = found {
            let what = format!("`{name}`, a name of a structured binding in a target construct");
            self.diags.push(diag::clang_refuses(at, &what));
        }
    }

    /// Says which lambdas of the code around it the construct calls, and whether it defines some.
    fn report_lambdas(&mut self, stmt: StmtId) {
        if self.input.unit.lambdas.is_empty() {
            return;
        }
        let extent = self.input.unit.stmt(stmt).span;
        let first = self.input.unit.lambdas.partition_point(|(span, _)| span.start < extent.start);
        if let Some((span, _)) = self.input.unit.lambdas.get(first).filter(|(span, _)| extent.contains(*span))
        {
            self.diags.push(diag::lambda_inside(*span));
        }
        for (name, at) in &uses(self.input.unit, self.input.symbols, stmt).calls {
            let Some(symbol) = self.input.symbols.lookup(name, at.start) else { continue };
            let init = self.input.symbols.get(symbol).decl.and_then(|decl| self.input.unit.decl(decl).init);
            let is_lambda = init.is_some_and(|init| {
                self.input.unit.lambdas.contains(&(self.input.unit.expr(init).span, true))
            });
            if is_lambda && !self.input.is_inside(symbol, stmt) {
                self.diags.push(diag::lambda_on_device(*at, name));
            }
        }
    }

    fn parallel(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) {
        let combined = self.input.bound[index].directive.kind == DirectiveKind::ParallelLoop;
        let sole = if combined { Some((index, stmt)) } else { self.input.sole_loop(index, stmt) };
        let launched = sole.and_then(|(at, loop_stmt)| self.combined(index, at, loop_stmt, &counting));
        let (at, launch) = match launched {
            Some((at, launch)) => (at, launch),
            None => (index, self.region_with_loops(index, stmt, counting)),
        };
        self.plan.items[index] = Item::Gone;
        self.plan.items[at] = Item::Launch(Box::new(launch));
    }

    /// One launch that is the loop nest at `at`. `None` if that loop is not to run in parallel.
    fn combined(
        &mut self,
        index: usize,
        at: usize,
        stmt: StmtId,
        counting: &[usize],
    ) -> Option<(usize, Launch)> {
        let mut attributes = self.sharing(index, stmt, counting, Region::Parallel);
        let nest = self.nest(index, at, stmt, Region::Parallel, &mut attributes)?;
        let nest = self.input.absorb(nest, &mut attributes);
        self.report_implicit_gang(index, at, &nest);
        let launch = Launch {
            region: Region::Parallel,
            directive: index,
            gangs: Gangs::Many,
            attributes,
            nest: Some(nest),
            data_outside: false,
        };
        Some((at, launch))
    }

    /// A region of several statements: every gang runs them, loops distribute their iterations.
    fn region_with_loops(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) -> Launch {
        let mut attributes = self.sharing(index, stmt, &counting, Region::Parallel);
        let clauses = LoopClauses::new(&self.input.bound[index].directive, &counting);
        let is_combined = self.input.bound[index].directive.kind == DirectiveKind::ParallelLoop;
        let asks = self.input.asks_for_gangs(index);
        let in_one = self.whole_in_one_gang(index) || asks && self.only_one_gang(index, stmt);
        if is_combined {
            self.in_order(index, index, self.input.is_redundant_loop(index), &mut attributes);
        }
        let inside = self.loops_inside(index, in_one || !asks, &mut attributes);
        let reduces = !is_combined && !clauses.reduction.is_empty();
        let many = !in_one && (inside.over_gangs || clauses.num_gangs || reduces);
        for at in inside.once.into_iter().filter(|_| many) {
            self.plan.items[at] = Item::ByOneGang;
        }
        if !many {
            attributes.retain(|attribute| !matches!(attribute.sharing, Sharing::Reduction(_)));
        }
        let gangs = if many { Gangs::Many } else { Gangs::One };
        if gangs == Gangs::Many {
            self.gang_private(index, stmt, &mut attributes);
        }
        Launch {
            region: Region::Parallel,
            directive: index,
            gangs,
            attributes,
            nest: None,
            data_outside: false,
        }
    }

    fn serial(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) {
        let mut attributes = self.sharing(index, stmt, &counting, Region::Serial);
        let loops = if self.input.bound[index].directive.kind == DirectiveKind::SerialLoop {
            Some(index)
        } else {
            None
        };
        self.sequential_loops(index, stmt, loops, &mut attributes);
        let launch = Launch {
            region: Region::Serial,
            directive: index,
            gangs: Gangs::One,
            attributes,
            nest: None,
            data_outside: false,
        };
        self.plan.items[index] = Item::Launch(Box::new(launch));
    }
}

/// Which compute construct a directive is.
pub(super) fn region(kind: DirectiveKind) -> Region {
    match kind {
        DirectiveKind::Kernels | DirectiveKind::KernelsLoop => Region::Kernels,
        DirectiveKind::Serial | DirectiveKind::SerialLoop => Region::Serial,
        _ => Region::Parallel,
    }
}

fn may_stand_inside(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache | DirectiveKind::End(_))
}

/// The word of a jump that leaves the statement of a construct, if there is one; `return` if there is no other.
pub fn jump_out(unit: &Unit, stmt: StmtId) -> Option<&'static str> {
    let (leave, go_on) = if unit.is_fortran() { ("exit", "cycle") } else { ("break", "continue") };
    let mut labels = Vec::new();
    let mut jumps = Vec::new();
    let mut has_return = false;
    let mut pending = vec![(stmt, 0, 0)];
    while let Some((at, loops, switches)) = pending.pop() {
        let (mut inner_loops, mut inner_switches) = (loops, switches);
        labels.extend(unit.loop_labels(at).into_iter().flatten());
        match &unit.stmt(at).kind {
            StmtKind::Return(_) => has_return = true,
            StmtKind::Break if loops + switches == 0 => return Some(leave),
            StmtKind::Continue if loops == 0 => return Some(go_on),
            StmtKind::Goto(label) => jumps.push(label),
            StmtKind::Labeled { label: Some(label), .. } => labels.push(label.clone()),
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. } => inner_loops += 1,
            StmtKind::Switch { .. } => inner_switches += 1,
            _ => {}
        }
        pending.extend(children(unit, at).map(|child| (child, inner_loops, inner_switches)));
    }
    let goes = jumps.iter().find(|label| !labels.contains(label)).map(|label| {
        // Constructs of Fortran have names, statements have numbers.
        let is_name = unit.is_fortran() && label.starts_with(|c: char| c.is_ascii_alphabetic());
        match label.starts_with("cycle ") {
            true => go_on,
            false if is_name => leave,
            false => "goto",
        }
    });
    goes.or(has_return.then_some("return"))
}
