//! Statements of a `kernels` region that print: the host runs them between the launches, if it has the values that they print.
//!
//! Invariant: what the host has of a variable is brought up to date only if the region would do so at its end, and if nobody
//! can tell the difference until then.

use std::collections::BTreeMap;

use crate::acc::ast::{Argument, ClauseKind, DataClause, DirectiveKind, ListItem, PathStep, Subscript};
use crate::bind::{Target, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{BaseType, Derived, ExprId, ExprKind, Stmt, StmtId, StmtKind};
use crate::sema::{self, Class, Output, SymbolId, SymbolKind, Use, uses};
use crate::source::Span;

use super::parts::{Parts, is_host_value};
use super::{Attribute, ByHost, Input, Maker, Sharing, list};

/// The statements of a region that print.
#[derive(Default)]
pub(super) struct Outputs {
    /// Those that the host runs, with what is brought from the device before.
    pub(super) by_host: BTreeMap<StmtId, ByHost>,
    /// Those that the device runs, and why.
    pub(super) refused: BTreeMap<StmtId, Diag>,
}

/// Where the host has a value from.
enum Origin {
    /// It has it.
    Host,
    /// The device has changed it: this is brought from there.
    Device(String),
}

/// One statement of a region that prints.
struct Printing<'p> {
    index: usize,
    region: StmtId,
    parts: &'p Parts,
    stmt: StmtId,
    output: Output,
    /// The launches that may have run before it.
    before: Vec<StmtId>,
    /// The variables of the loops around that the host runs.
    controlled: Vec<SymbolId>,
}

impl Input<'_> {
    /// Why the device prints what a part of a region prints that was not read as output.
    pub(super) fn printing_part(&self, part: StmtId) -> Option<Diag> {
        let span = self.unit.stmt(part).span;
        let prints = sema::prints(self.file, self.unit, self.symbols, part);
        prints.then(|| diag::output_on_device(span, "other code of the region goes with it"))
    }

    /// Says of a call of a function that is not seen, that the device must have it, and why the host does not call it.
    pub(super) fn unseen_call(&self, part: StmtId) -> Option<Diag> {
        let StmtKind::Expr(expr) = self.unit.stmt(part).kind else { return None };
        let ExprKind::Call { callee, .. } = self.unit.expr(expr).kind else { return None };
        let ExprKind::Name(name) = &self.unit.expr(callee).kind else { return None };
        let is_seen = self.unit.functions.iter().any(|function| function.name == *name);
        let is_known = match self.unit.is_fortran() {
            true => sema::is_pure_intrinsic(name),
            false => !self.symbols.assigned_by(name).is_empty() || name.contains(':'),
        };
        let is_routine = self.bound.iter().any(|one| {
            one.directive.kind == DirectiveKind::Routine
                && match (&one.directive.argument, one.target) {
                    (Argument::Name(named), _) => named.text.eq_ignore_ascii_case(name),
                    (_, Target::Declaration(span)) => self.file.text(span).contains(name.as_str()),
                    _ => false,
                }
        });
        let is_macro = self
            .symbols
            .named(self.unit, callee)
            .is_some_and(|symbol| self.symbols.get(symbol).kind == SymbolKind::Constant);
        let at = self.unit.expr(callee).span;
        (!is_seen && !is_known && !is_routine && !is_macro).then(|| diag::unseen_call(at, name))
    }

    /// The launches that may have run before `stmt`, and the variables of the loops around it that the host runs.
    fn before(&self, parts: &Parts, stmt: StmtId) -> (Vec<StmtId>, Vec<SymbolId>) {
        let span = self.unit.stmt(stmt).span;
        let headers = parts.host_runs.iter().filter(|around| self.unit.stmt(**around).span.contains(span));
        let headers: Vec<(Span, SymbolId)> = headers
            .filter_map(|around| {
                let header = sema::header(self.unit, self.symbols, *around).ok()?;
                Some((self.unit.stmt(*around).span, header.var))
            })
            .collect();
        let may_come_first = |part: &StmtId| {
            let other = self.unit.stmt(*part).span;
            other.start < span.start || headers.iter().any(|(around, _)| around.contains(other))
        };
        let before = parts.all.iter().copied().filter(may_come_first).collect();
        (before, headers.into_iter().map(|(_, var)| var).collect())
    }

    /// Whether a statement before `stmt` has brought a variable from the device, and no launch has changed it since.
    fn is_brought(&self, outputs: &Outputs, parts: &Parts, stmt: StmtId, symbol: SymbolId) -> bool {
        let start = |stmt: StmtId| self.unit.stmt(stmt).span.start;
        let has = |list: &[StmtId], wanted: StmtId| list.contains(&wanted);
        let are_siblings = |one: StmtId, two: StmtId| {
            let mut blocks = self.unit.stmts.iter();
            blocks
                .any(|block| matches!(&block.kind, StmtKind::Block(list) if has(list, one) && has(list, two)))
        };
        let before = outputs.by_host.iter().filter(|(other, _)| start(**other) < start(stmt));
        let mut before = before.filter(|(_, by_host)| by_host.updates.values().any(|one| *one == symbol));
        before.any(|(other, _)| {
            let between = |part: &&StmtId| start(*other) < start(**part) && start(**part) < start(stmt);
            are_siblings(*other, stmt)
                && !parts.all.iter().filter(between).any(|part| self.changes(*part, symbol))
        })
    }

    /// Whether a statement may change a variable.
    fn changes(&self, stmt: StmtId, symbol: SymbolId) -> bool {
        let used = uses(self.unit, self.symbols, stmt);
        used.of(symbol).is_some_and(|how| how.written || how.address_taken || how.part_written)
    }

    /// Whether launches call functions of the program, which know its global variables.
    fn calls_program(&self, launches: &[StmtId]) -> bool {
        let is_own = |name: &String| self.unit.functions.iter().any(|function| function.name == *name);
        launches.iter().any(|part| uses(self.unit, self.symbols, *part).calls.keys().any(is_own))
    }

    /// Why there may be code in a region that is not seen.
    fn unseen(&self, region: StmtId) -> Option<&'static str> {
        let span = self.unit.stmt(region).span;
        let is_inside = |error: &Span| error.start < span.end && span.start < error.end;
        if self.unit.errors.iter().any(is_inside) {
            return Some("other code of the region is not understood");
        }
        let is_condition = |line: &str| {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            directive.is_some_and(|directive| !directive.starts_with("pragma"))
        };
        let is_branched = self.file.text(span).lines().any(is_condition);
        is_branched.then_some("lines of the preprocessor stand in the region")
    }

    /// Whether a variable holds characters, which no directive names.
    fn is_text(&self, symbol: SymbolId) -> bool {
        let decl = self.symbols.get(symbol).decl.map(|decl| &self.unit.decl(decl).base);
        let is_text =
            matches!(decl, Some(BaseType::Builtin(words)) if words.split(' ').any(|word| word == "char"));
        let is_named = |at: usize| {
            let mut items = self.bound[at].directive.clauses.iter().flat_map(|clause| list(&clause.kind));
            items.any(|item| self.symbol_of(at, item) == Some(symbol))
        };
        is_text && !(0..self.bound.len()).any(is_named)
    }

    /// What the region's own clauses say of a variable.
    pub(super) fn stated_item(&self, index: usize, symbol: SymbolId) -> Option<(DataClause, &ListItem)> {
        let mut items = self.clauses(index).data.into_iter();
        items.find(|(_, item)| self.symbol_of(index, item) == Some(symbol))
    }

    /// Whether a list item means the same wherever it stands in the region.
    fn is_fixed_item(&self, printing: &Printing, item: &ListItem) -> bool {
        let is_number = |word: &str| word.starts_with(|char: char| char.is_ascii_digit());
        let is_fixed = |word: &str| {
            let symbol = self.symbols.lookup(word, item.span.start);
            is_number(word)
                || symbol.is_some_and(|symbol| is_host_value(self, printing.index, printing.region, symbol))
        };
        let texts = item.parts.iter().flat_map(|part| match part {
            PathStep::Section(subscripts) => subscripts.iter().flat_map(texts).collect::<Vec<_>>(),
            PathStep::Member(_) => vec!["?"],
        });
        let word = |char: char| char.is_alphanumeric() || char == '_';
        texts.into_iter().all(|text| {
            let is_plain = text.chars().all(|char| word(char) || " \t+-*/()".contains(char));
            is_plain && text.split(|char| !word(char)).filter(|word| !word.is_empty()).all(is_fixed)
        })
    }

    /// Whether something in the region is written through a pointer.
    fn writes_through_pointer(&self, printing: &Printing) -> bool {
        let used = uses(self.unit, self.symbols, printing.region);
        let is_pointer = |symbol: SymbolId| {
            let known = self.symbols.get(symbol);
            known.class == Class::Pointer || known.fortran.pointer || known.class == Class::Unknown
        };
        used.iter().any(|(symbol, how)| how.part_written && is_pointer(symbol))
    }

    /// Whether a variable is the procedure's own, and no other part of the program can have put it on the device.
    pub(super) fn is_nowhere_else(&self, index: usize, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let Some(function) = self.bound[index].function else { return false };
        let is_own =
            known.kind == SymbolKind::Local || known.kind == SymbolKind::Parameter && !self.unit.is_fortran();
        let is_static = known.decl.is_none_or(|decl| self.unit.decl(decl).is_static);
        let said = &known.fortran;
        let has_names = said.pointer || said.target || said.is_equivalent || said.save;
        let is_reference = known.is_reference && !self.unit.is_fortran();
        let escapes = self.escaping.get(&function).is_none_or(|escaping| escaping.contains(&symbol));
        // Procedures that it contains know its variables.
        let mut contained = self.unit.functions.iter().filter(|_| self.unit.is_fortran());
        let is_lent = contained.any(|function| {
            uses(self.unit, self.symbols, function.body).of(symbol).is_some_and(|how| how.address_taken)
        });
        let is_named = |at: usize| {
            let mut items = self.bound[at].directive.clauses.iter().flat_map(|clause| match &clause.kind {
                ClauseKind::Data(..) | ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_) => {
                    list(&clause.kind)
                }
                _ => &[],
            });
            items.any(|item| self.symbol_of(at, item) == Some(symbol))
        };
        // What a construct brings leaves with it, unless a queue keeps it.
        let around: Vec<usize> = ancestors(self.bound, index).collect();
        let may_hold = |at: &usize| {
            let one = &self.bound[*at];
            let is_beside = one.directive.kind == DirectiveKind::Data
                && one.function == Some(function)
                && !around.contains(at);
            let is_queued =
                one.directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Async(_)));
            let is_over = (one.directive.kind.is_compute() || is_beside) && !is_queued;
            *at != index && one.text.is_some() && !is_over
        };
        let others = (0..self.bound.len()).filter(may_hold);
        is_own
            && !is_static
            && !has_names
            && !is_reference
            && !escapes
            && !is_lent
            && self.unit.lambdas.is_empty()
            && !others.into_iter().any(is_named)
            && (known.class != Class::Array || self.unit.is_fortran() || self.is_never_lent(symbol))
    }

    /// Whether an array of C is only ever used element by element: no pointer leads to it, and no function gets it.
    fn is_never_lent(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let dimensions = known.decl.map_or(0, |decl| {
            self.unit.decl(decl).derived.iter().filter(|part| matches!(part, Derived::Array(_))).count()
        });
        let mut depths: BTreeMap<ExprId, usize> = BTreeMap::new();
        for (at, expr) in self.unit.exprs.iter().enumerate() {
            let is_own = |id: ExprId| self.symbols.named(self.unit, id) == Some(symbol);
            match &expr.kind {
                ExprKind::Name(name) if *name == known.name && is_own(ExprId(at as u32)) => {
                    depths.entry(ExprId(at as u32)).or_insert(0);
                }
                ExprKind::Index(..) => {
                    let (mut base, mut depth) = (ExprId(at as u32), 0);
                    while let ExprKind::Index(inner, _) = &self.unit.expr(base).kind {
                        (base, depth) = (*inner, depth + 1);
                    }
                    if is_own(base) {
                        let known = depths.entry(base).or_insert(0);
                        *known = depth.max(*known);
                    }
                }
                _ => {}
            }
        }
        depths.values().all(|depth| *depth == dimensions)
    }
}

impl Maker<'_> {
    /// Finds the statements of a region that print, and takes those that the host runs out of its parts.
    pub(super) fn outputs(&self, index: usize, region: StmtId, parts: &mut Parts) -> Outputs {
        let mut outputs = Outputs::default();
        let read = |stmt: &StmtId| sema::output(self.input.file, self.input.unit, self.input.symbols, *stmt);
        let candidates: BTreeMap<StmtId, Output> = parts
            .all
            .iter()
            .filter(|stmt| !parts.nests.contains_key(stmt))
            .filter_map(|stmt| Some((*stmt, read(stmt)?)))
            .collect();
        if candidates.is_empty() {
            return outputs;
        }
        let launched: Vec<StmtId> =
            parts.all.iter().copied().filter(|stmt| !candidates.contains_key(stmt)).collect();
        let all = std::mem::replace(&mut parts.all, launched);
        let mut candidates: Vec<(StmtId, Output)> = candidates.into_iter().collect();
        candidates.sort_by_key(|(stmt, _)| self.input.unit.stmt(*stmt).span.start);
        for (stmt, output) in candidates {
            let (before, controlled) = self.input.before(parts, stmt);
            let printing = Printing { index, region, parts, stmt, output, before, controlled };
            match self.printed(&printing) {
                Ok(mut by_host) => {
                    by_host
                        .updates
                        .retain(|_, symbol| !self.input.is_brought(&outputs, parts, stmt, *symbol));
                    outputs.by_host.insert(stmt, by_host);
                }
                Err((at, why)) => drop(outputs.refused.insert(stmt, diag::output_on_device(at, &why))),
            }
        }
        parts.all = all.into_iter().filter(|stmt| !outputs.by_host.contains_key(stmt)).collect();
        outputs
    }

    /// What must be brought from the device before the statement.
    fn printed(&self, printing: &Printing) -> Result<ByHost, (Span, String)> {
        let span = self.input.unit.stmt(printing.stmt).span;
        if let Some(obstacle) = &printing.output.obstacle {
            return Err(obstacle.clone());
        }
        if let Some(why) = self.input.unseen(printing.region) {
            return Err((span, why.to_owned()));
        }
        let directive = &self.input.bound[printing.index].directive;
        let has = |wanted: fn(&ClauseKind) -> bool| directive.clauses.iter().any(|one| wanted(&one.kind));
        if self.input.settings.queues && has(|kind| matches!(kind, ClauseKind::Async(_))) {
            return Err((span, "the host would have to wait for the queue of the region".to_owned()));
        }
        let mut updates = BTreeMap::new();
        for (symbol, how) in uses(self.input.unit, self.input.symbols, printing.stmt).iter() {
            let at = how.first.unwrap_or(span);
            match self.origin(printing, symbol, how).map_err(|why| (at, why))? {
                Origin::Host => {}
                Origin::Device(item) => drop(updates.insert(item, symbol)),
            }
        }
        let by_host = ByHost { directive: printing.index, updates };
        if by_host.updates.is_empty() {
            return Ok(by_host);
        }
        if has(|kind| matches!(kind, ClauseKind::If(_) | ClauseKind::SelfRun(_))) {
            return Err((span, "the region runs on the device only if its condition says so".to_owned()));
        }
        let is_listed =
            |block: &Stmt| matches!(&block.kind, StmtKind::Block(list) if list.contains(&printing.stmt));
        if !self.input.begins_line(printing.stmt) || !self.input.unit.stmts.iter().any(is_listed) {
            return Err((span, "no line can stand before it".to_owned()));
        }
        Ok(by_host)
    }

    /// Where the host has the value of a variable from.
    fn origin(&self, printing: &Printing, symbol: SymbolId, how: &Use) -> Result<Origin, String> {
        let known = self.input.symbols.get(symbol);
        let name = known.name.as_str();
        let is_changed = |stmt: StmtId| self.input.changes(stmt, symbol);
        let changes_before = printing.before.iter().copied().any(is_changed);
        if matches!(known.kind, SymbolKind::Constant | SymbolKind::Type | SymbolKind::Function)
            || self.input.is_inside(symbol, printing.stmt)
        {
            return Ok(Origin::Host);
        }
        if printing.output.counters.contains(&symbol) || printing.controlled.contains(&symbol) {
            let is_read = |part: &StmtId| {
                uses(self.input.unit, self.input.symbols, *part).of(symbol).is_some_and(|how| how.exposed)
            };
            let is_around = printing.controlled.contains(&symbol);
            let is_free = is_around || !printing.parts.all.iter().any(is_read);
            // Fortran gives each loop its own; nobody reads the value after it.
            let is_own = self.input.unit.is_fortran() && !is_around
                || !printing.parts.all.iter().copied().any(is_changed);
            return match is_free && is_own && self.input.is_loop_variable(printing.region, symbol) {
                true => Ok(Origin::Host),
                false => Err(format!("`{name}` is used on the device, too")),
            };
        }
        if printing.output.streams.contains(&symbol) {
            let is_kept = known.class == Class::Pointer && !is_changed(printing.region) || !changes_before;
            return if is_kept { Ok(Origin::Host) } else { Err(format!("`{name}` is changed")) };
        }
        if known.kind == SymbolKind::Member {
            return Err(format!("`{name}` is a member of an object"));
        }
        let derived = known.decl.map(|decl| &self.input.unit.decl(decl).derived);
        let is_second = derived.is_some_and(|derived| derived.contains(&Derived::Reference));
        if known.kind == SymbolKind::Local && is_second || known.fortran.is_equivalent {
            return Err(format!("`{name}` is another name of something else"));
        }
        match known.class {
            Class::Array | Class::Pointer if !changes_before && self.input.is_text(symbol) => {
                Ok(Origin::Host)
            }
            Class::Scalar
                if is_host_value(&self.input, printing.index, printing.region, symbol)
                    && !(known.kind == SymbolKind::Static && self.input.calls_program(&printing.before)) =>
            {
                Ok(Origin::Host)
            }
            Class::Pointer if !how.part_read && !changes_before => Ok(Origin::Host),
            Class::Scalar | Class::Array => self.own_origin(printing, symbol, changes_before),
            Class::Pointer => Err(format!(
                "what `{name}` points to may be on the device longer than the region, and the host's copy must stay"
            )),
            Class::Record | Class::Unknown => {
                Err(format!("the type of `{name}` is not seen, or is not a number's"))
            }
        }
    }

    /// Where the host has the value of a variable from that must be the procedure's own.
    fn own_origin(
        &self,
        printing: &Printing,
        symbol: SymbolId,
        changes_before: bool,
    ) -> Result<Origin, String> {
        let name = &self.input.symbols.get(symbol).name;
        if !self.input.is_nowhere_else(printing.index, symbol) {
            return Err(format!(
                "`{name}` may be on the device longer than the region, and the host's copy must stay"
            ));
        }
        let is_array = self.input.symbols.get(symbol).class == Class::Array;
        if !is_array && self.input.is_loop_variable(printing.region, symbol) && changes_before {
            return Err(format!("`{name}` counts the iterations of a loop"));
        }
        if is_array && self.input.writes_through_pointer(printing) {
            return Err(format!("`{name}` may be changed through a pointer"));
        }
        let stated = self.input.stated_item(printing.index, symbol);
        let brings = |kind: DataClause| matches!(kind, DataClause::Copy | DataClause::Copyin { .. });
        let returns = |kind: DataClause| matches!(kind, DataClause::Copy | DataClause::Copyout { .. });
        match stated {
            _ if !changes_before => match stated {
                Some((kind, _)) if !brings(kind) => {
                    Err(format!("the region gives `{name}` no value on the device"))
                }
                _ => Ok(Origin::Host),
            },
            Some((kind, _)) if !returns(kind) => {
                Err(format!("the region does not copy `{name}` back, and the host's copy must stay"))
            }
            Some((_, item)) if self.input.is_fixed_item(printing, item) => {
                Ok(Origin::Device(item.text.clone()))
            }
            Some(_) => Err(format!("the bounds in the clause about `{name}` may change")),
            None if is_array || self.stays(printing, symbol) => {
                Ok(Origin::Device(self.input.symbols.get(symbol).spelled(self.input.file)))
            }
            // Its launch brings it back.
            None => Ok(Origin::Host),
        }
    }

    /// Whether a scalar keeps its place on the device between the launches of the region.
    fn stays(&self, printing: &Printing, symbol: SymbolId) -> bool {
        let name = self.input.symbols.get(symbol).name.clone();
        let item = Attribute { sharing: Sharing::Copy, item: name, entry: "implicit/scalar-kernels" };
        let is_reduced = self.surrounded(printing.parts).contains(&item.item);
        is_reduced || self.input.is_shared(printing.region, printing.parts, &item)
    }

    /// Whether nothing but statements that the host runs names a variable in the region of directive `index`.
    pub(super) fn is_for_host(&self, index: usize, region: StmtId, symbol: SymbolId) -> bool {
        let own = self.plan.by_host.iter().filter(|(_, by_host)| by_host.directive == index);
        let spans: Vec<Span> = own.map(|(stmt, _)| self.input.unit.stmt(*stmt).span).collect();
        let region = self.input.unit.stmt(region).span;
        let is_other = |id: ExprId| {
            let expr = self.input.unit.expr(id);
            matches!(expr.kind, ExprKind::Name(_))
                && !spans.iter().any(|span| span.contains(expr.span))
                && self.input.symbols.named(self.input.unit, id) == Some(symbol)
        };
        !spans.is_empty() && !self.input.unit.expr_ids_in(region).any(is_other)
    }
}

/// The expressions of a subscript.
fn texts(subscript: &Subscript) -> Vec<&str> {
    let parts = match subscript {
        Subscript::Index(only) => [Some(only), None, None],
        Subscript::Range { first, second, stride } => [first.as_ref(), second.as_ref(), stride.as_ref()],
    };
    parts.into_iter().flatten().map(|expr| expr.text.as_str()).collect()
}
