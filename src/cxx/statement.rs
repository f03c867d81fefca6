//! Statements.
//!
//! Invariant: each statement has a counterpart that does the same, in the same order.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind, UNNAMED};
use crate::sema::{self, SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::call;
use super::types::{Word, plain_code};
use super::value::{Value, Values, binds};
use super::variable::{literal, names_in};

/// What stands around statements.
#[derive(Default)]
pub struct Around {
    /// The lines before a statement: its directives.
    pub lines: BTreeMap<StmtId, Vec<String>>,
    /// The statements of `atomic` directives.
    pub atomic: BTreeSet<StmtId>,
    /// The loops that directives divide.
    pub divided: BTreeSet<StmtId>,
    /// Of a procedure, what `return` gives, if anything.
    pub returns: Option<Option<String>>,
    /// The variables that are declared in the heads of their loops.
    pub in_heads: BTreeSet<SymbolId>,
    /// The variables that are declared where the body of a loop begins.
    pub in_bodies: BTreeMap<StmtId, Vec<SymbolId>>,
}

impl Around {
    /// Whether a variable is declared in the head or the body of a loop.
    pub fn is_in_loop(&self, symbol: SymbolId) -> bool {
        self.in_heads.contains(&symbol) || self.in_bodies.values().any(|all| all.contains(&symbol))
    }
}

/// Writes statements.
pub struct Body<'a> {
    pub(super) values: &'a Values<'a>,
    around: &'a Around,
    pub(super) lines: Vec<String>,
    pub(super) depth: usize,
    /// What is written is the statement of an `atomic` directive.
    is_atomic: bool,
    /// Variables of its own so far.
    kept: usize,
    /// The code that is written.
    extent: Span,
    /// Loops that are left by a jump: those whose label stands at the end of the body, and those whose label stands behind.
    jumps: BTreeSet<(StmtId, bool)>,
}

/// The parts of a counted loop.
struct Counted {
    var: ExprId,
    first: ExprId,
    last: ExprId,
    step: i128,
    /// From its first word to its last bound or its step.
    header: Span,
}

impl<'a> Body<'a> {
    /// Nothing has been written; `depth` is how far lines are indented.
    pub fn new(values: &'a Values<'a>, around: &'a Around, extent: Span, depth: usize) -> Body<'a> {
        let (lines, jumps) = (Vec::new(), BTreeSet::new());
        Body { values, around, lines, depth, is_atomic: false, kept: 0, extent, jumps }
    }

    /// The lines.
    pub fn finish(self) -> Vec<String> {
        self.lines
    }

    pub(super) fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    /// Writes a statement, or the statements of a list one by one.
    pub fn stmt(&mut self, id: StmtId) -> Result<(), Why> {
        let is_atomic = self.is_atomic;
        self.is_atomic |= self.around.atomic.contains(&id);
        let done = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.stmt_here(id));
        self.is_atomic = is_atomic;
        done
    }

    fn stmt_here(&mut self, id: StmtId) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let stmt = unit.stmt(id);
        let at = stmt.span;
        // A directive about a block stands before its first statement.
        for line in self.around.lines.get(&id).into_iter().flatten() {
            self.lines.push(line.clone());
        }
        match &stmt.kind {
            StmtKind::Block(list) => {
                let is_decl = |inner: &StmtId| matches!(unit.stmt(*inner).kind, StmtKind::Decl(_));
                let is_directed = self.around.lines.contains_key(&id) || list.iter().any(is_decl);
                if is_directed {
                    self.line("{");
                    self.depth += 1;
                }
                let (first, mut sizes) = (self.lines.len(), Vec::new());
                for inner in list {
                    match &unit.stmt(*inner).kind {
                        StmtKind::Decl(decls) => sizes.extend(self.declarations(decls, id)?),
                        _ => self.stmt(*inner)?,
                    }
                }
                self.sized(first, sizes);
                if is_directed {
                    self.depth -= 1;
                    self.line("}");
                }
                Ok(())
            }
            StmtKind::Empty => Ok(()),
            StmtKind::Expr(expr) => self.expression(*expr, at),
            StmtKind::If { cond, then, other } => self.choice(*cond, *then, *other, at),
            StmtKind::For { .. } => self.counted(id),
            StmtKind::While { cond, body } => self.while_loop(id, *cond, *body),
            StmtKind::Break => self.simple("break;"),
            StmtKind::Continue => self.simple("continue;"),
            StmtKind::Labeled { stmt, .. } => {
                // Jumps there are refused where they stand.
                stmt.map_or(Ok(()), |inner| self.stmt(inner))
            }
            StmtKind::Goto(label) => self.jump(label, at),
            StmtKind::Switch { cond, body } => self.select(*cond, *body, at),
            StmtKind::Return(None) if self.around.returns.is_some() => {
                let value = self.around.returns.clone().flatten();
                self.simple(&value.map_or("return;".to_owned(), |name| format!("return {name};")))
            }
            StmtKind::Return(_) | StmtKind::DoWhile { .. } | StmtKind::Decl(_) | StmtKind::Opaque(_) => {
                Err(Why::new(at, "this statement in a compute construct"))
            }
        }
    }

    pub(super) fn is_in_loop(&self, symbol: SymbolId) -> bool {
        self.around.is_in_loop(symbol)
    }

    pub(super) fn simple(&mut self, text: &str) -> Result<(), Why> {
        self.line(text);
        Ok(())
    }

    pub(super) fn expression(&mut self, expr: ExprId, at: Span) -> Result<(), Why> {
        let seen = self.values.files.own;
        let (left, right) = match &seen.unit.expr(expr).kind {
            ExprKind::Assign(None, left, right) => (*left, *right),
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &seen.unit.expr(*callee).kind else {
                    return Err(Why::new(at, "a call by a component"));
                };
                let call = call::call(self.values, name, args, at)?;
                return self.simple(&format!("{};", call.text));
            }
            _ => return Err(Why::new(at, "this statement in a compute construct")),
        };
        if matches!(seen.unit.expr(right).kind, ExprKind::AddressOf(_)) {
            return Err(Why::new(at, "an assignment of a pointer"));
        }
        let code = seen.code(at);
        let ranges = self.ranges(left, at)?;
        if !ranges.is_empty() {
            return self.elements((left, right), &ranges, at);
        }
        self.whole_arrays(right)?;
        let target = self.values.value(left)?;
        let updated = if self.is_atomic { self.values.updated(&target, right)? } else { None };
        let value = updated.map_or_else(|| self.values.value(right), Ok)?;
        if (target.ty.word == Word::Logical) != (value.ty.word == Word::Logical) {
            return Err(Why::new(at, "an assignment of another type"));
        }
        let text = format!("{} = {};", target.text, value.text);
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if plain != format!("{};", plain_code(seen, at)) && !code.ends_with('\\') {
            self.line(&format!("// {}", code.trim()));
        }
        self.line(&text);
        Ok(())
    }

    fn choice(&mut self, cond: ExprId, then: StmtId, other: Option<StmtId>, at: Span) -> Result<(), Why> {
        let seen = self.values.files.own;
        let mut text = plain_code(seen, at);
        if let Some((name, rest)) = text.split_once(':')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            text = rest.to_owned();
        }
        if text.starts_with("where(") {
            return self.masked(at);
        }
        let is_if = text.starts_with("if(") || text.starts_with("elseif(");
        if !is_if || seen.unit.expr(cond).span.is_empty() {
            return Err(Why::new(at, "this statement"));
        }
        self.whole_arrays(cond)?;
        let cond = self.values.value(cond)?;
        if cond.ty.word != Word::Logical {
            return Err(Why::new(at, "this condition"));
        }
        self.line(&format!("if ({}) {{", cond.text));
        self.inside(then)?;
        let mut rest = other;
        while let Some(id) = rest {
            rest = None;
            if let StmtKind::If { cond, then, other } = &seen.unit.stmt(id).kind
                && plain_code(seen, seen.unit.stmt(id).span).starts_with("elseif(")
            {
                let cond = self.values.value(*cond)?;
                self.line(&format!("}} else if ({}) {{", cond.text));
                self.inside(*then)?;
                rest = *other;
            } else {
                self.line("} else {");
                self.inside(id)?;
            }
        }
        self.simple("}")
    }

    fn inside(&mut self, stmt: StmtId) -> Result<(), Why> {
        self.depth += 1;
        let done = self.stmt(stmt);
        self.depth -= 1;
        done
    }

    /// `select case` as a chain of `if`, which `exit` and `cycle` inside may leave.
    fn select(&mut self, cond: ExprId, body: StmtId, at: Span) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let refused = || Why::new(at, "`select` in a compute construct");
        let StmtKind::Block(branches) = &unit.stmt(body).kind else { return Err(refused()) };
        self.whole_arrays(cond)?;
        let mut selected = self.values.value(cond)?;
        if !matches!(unit.expr(cond).kind, ExprKind::Name(_)) {
            let name = self.fresh("selected");
            self.line(&format!("const {} {name} = {};", selected.ty.cpp(), selected.text));
            selected = Value::name(name, selected.ty);
        }
        let is_default = |branch: &&StmtId| unit.defaults.contains(branch);
        let (last, others): (Vec<&StmtId>, Vec<&StmtId>) = branches.iter().partition(is_default);
        for (place, branch) in others.iter().enumerate() {
            let values = unit.cases.iter().find(|(label, _)| label == *branch).ok_or_else(refused)?;
            let cond = self.chosen(&selected, &values.1, at)?;
            let word = if place == 0 { "if" } else { "} else if" };
            self.line(&format!("{word} ({cond}) {{"));
            self.inside(**branch)?;
        }
        if let Some(branch) = last.first() {
            self.line(if others.is_empty() { "{" } else { "} else {" });
            self.inside(**branch)?;
        }
        if !branches.is_empty() {
            self.line("}");
        }
        Ok(())
    }

    /// Whether a value is one of those of a `case`.
    fn chosen(&self, selected: &Value, values: &[ExprId], at: Span) -> Result<String, Why> {
        let mut conds = Vec::with_capacity(values.len());
        for value in values {
            let compared = |sign: &str, value: ExprId| {
                let value = self.values.value(value)?;
                if value.ty.word != selected.ty.word {
                    return Err(Why::new(at, "`select` in a compute construct"));
                }
                Ok(format!("{} {sign} {}", selected.text, value.within(binds::SHIFT)))
            };
            conds.push(match self.values.files.own.unit.expr(*value).kind {
                ExprKind::Triplet([Some(first), Some(last), _]) => {
                    format!("({} && {})", compared(">=", first)?, compared("<=", last)?)
                }
                ExprKind::Triplet([Some(first), None, _]) => compared(">=", first)?,
                ExprKind::Triplet([None, Some(last), _]) => compared("<=", last)?,
                _ => compared("==", *value)?,
            });
        }
        Ok(conds.join(" || "))
    }

    /// A jump to the end of the body of a loop with a name, or behind it.
    fn jump(&mut self, label: &str, at: Span) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let around = unit.stmt_ids_in(self.extent).filter(|id| {
            let is_loop = matches!(unit.stmt(*id).kind, StmtKind::For { .. } | StmtKind::While { .. });
            is_loop && unit.stmt(*id).span.contains(at)
        });
        let is_meant =
            |id: &StmtId| unit.loop_labels(*id).is_some_and(|own| own.iter().any(|own| own == label));
        let target = around.filter(is_meant).min_by_key(|id| unit.stmt(*id).span.len());
        let target = target.ok_or_else(|| Why::new(at, "a jump that leaves no loop"))?;
        let is_cycle = label.starts_with("cycle ");
        if !is_cycle && self.around.divided.contains(&target) {
            return Err(Why::new(at, "a jump out of a loop that a directive divides"));
        }
        self.jumps.insert((target, is_cycle));
        let label = self.label_of(target, is_cycle);
        self.simple(&format!("goto {label};"))
    }

    /// What follows the head of a loop, with the labels for jumps to the end of its body and behind it.
    fn body_of(&mut self, id: StmtId, body: StmtId) -> Result<(), Why> {
        self.depth += 1;
        for symbol in self.around.in_bodies.get(&id).into_iter().flatten() {
            if let Some(variable) = self.values.variables.get(*symbol) {
                self.line(&format!("{} {};", variable.ty.cpp(), variable.name));
            }
        }
        let first = self.lines.len();
        let done = self.stmt(body);
        if self.jumps.remove(&(id, true)) {
            let indent = "    ".repeat(self.depth);
            // What is declared in the body is none of what a jump may pass.
            self.lines.insert(first, format!("{indent}{{"));
            self.line("}");
            self.line(&format!("{}:;", self.label_of(id, true)));
        }
        self.depth -= 1;
        done?;
        self.line("}");
        if self.jumps.remove(&(id, false)) {
            self.line(&format!("{}:;", self.label_of(id, false)));
        }
        Ok(())
    }

    /// The label for jumps to the end of a loop's body, or behind the loop.
    fn label_of(&self, id: StmtId, is_cycle: bool) -> String {
        let seen = self.values.files.own;
        let name = seen.unit.loop_names.iter().find(|(stmt, _)| *stmt == id);
        let own = name.map(|(_, name)| name.as_str()).filter(|name| !name.starts_with(UNNAMED));
        let name = own.unwrap_or("loop");
        let line = seen.file.line_number(seen.unit.stmt(id).span.start);
        format!("{}_{name}_{line}", if is_cycle { "cycle" } else { "exit" })
    }

    /// A name that no variable has.
    pub(super) fn fresh(&mut self, word: &str) -> String {
        loop {
            self.kept += 1;
            let name = format!("{word}_{}", self.kept);
            if !self.values.variables.is_named(&name) {
                return name;
            }
        }
    }

    fn while_loop(&mut self, id: StmtId, cond: ExprId, body: StmtId) -> Result<(), Why> {
        let is_endless = self.values.files.own.unit.expr(cond).span.is_empty();
        let cond = if is_endless { "true".to_owned() } else { self.values.value(cond)?.text };
        self.line(&format!("while ({cond}) {{"));
        self.body_of(id, body)
    }

    /// A `do` loop with a variable. Its bounds are what they are before its first iteration.
    fn counted(&mut self, id: StmtId) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let at = unit.stmt(id).span;
        let Counted { var, first, last, step, header } = self
            .counted_parts(id)
            .ok_or_else(|| Why::new(at, "a loop whose step is no number, or of this form"))?;
        let symbol = self.values.symbol(var).ok_or_else(|| Why::new(at, "this loop"))?;
        let StmtKind::For { body, .. } = unit.stmt(id).kind else { return Ok(()) };
        let [variable, first, bound] = [var, first, last].map(|expr| self.values.value(expr));
        let (variable, first, bound) = (variable?, first?, bound?);
        if [&variable, &first, &bound].iter().any(|one| one.ty.word != Word::Integer) {
            return Err(Why::new(at, "a loop that counts no whole numbers"));
        }
        let inside = sema::uses(unit, self.values.symbols, body);
        if inside.of(symbol).is_some_and(|how| how.written) {
            return Err(Why::new(at, "a loop that changes its variable"));
        }
        let bound = if self.is_steady(last, id) { bound } else { self.keep(&variable.text, &bound) };
        let head = if self.around.in_heads.contains(&symbol) {
            format!("{} ", variable.ty.cpp())
        } else {
            String::new()
        };
        let name = &variable.text;
        let next = match step {
            1 => format!("{name}++"),
            -1 => format!("{name}--"),
            step if step > 0 => format!("{name} += {step}"),
            step => format!("{name} -= {}", -step),
        };
        let compare = if step > 0 { "<=" } else { ">=" };
        let bound = bound.within(binds::LESS + 1);
        let note = self.note(header);
        self.line(&format!("for ({head}{name} = {}; {name} {compare} {bound}; {next}) {{{note}", first.text));
        self.body_of(id, body)
    }

    /// The header of a loop as it was, as a comment, where names of constants have become numbers.
    fn note(&self, header: Span) -> String {
        let symbols = self.values.symbols;
        let code = self.values.files.own.code(header);
        let is_constant = |word: &str| {
            let symbol = symbols.lookup(word, header.start);
            symbol.is_some_and(|symbol| symbols.get(symbol).kind == SymbolKind::Constant)
        };
        if names_in(&code).any(is_constant) { format!("  // {}", code.trim()) } else { String::new() }
    }

    fn counted_parts(&self, id: StmtId) -> Option<Counted> {
        let unit = self.values.files.own.unit;
        let StmtKind::For { init, cond, step, .. } = &unit.stmt(id).kind else { return None };
        let StmtKind::Expr(init) = unit.stmt((*init)?).kind else { return None };
        let ExprKind::Assign(None, var, first) = unit.expr(init).kind else { return None };
        let ExprKind::Binary(_, _, last) = unit.expr((*cond)?).kind else { return None };
        let counts = unit.expr((*step)?);
        let header =
            Span { start: unit.stmt(id).span.start, end: unit.expr(last).span.end.max(counts.span.end) };
        let step = match &counts.kind {
            ExprKind::Step { .. } => 1,
            ExprKind::Assign(Some(BinaryOp::Subtract), _, by) => -literal(self.values.files.own, *by)?,
            ExprKind::Assign(_, _, by) => literal(self.values.files.own, *by)?,
            _ => return None,
        };
        (step != 0).then_some(Counted { var, first, last, step, header })
    }

    /// Whether the last value of a loop stays the same while it runs.
    fn is_steady(&self, last: ExprId, id: StmtId) -> bool {
        if self.around.divided.contains(&id) {
            return true;
        }
        let (unit, symbols) = (self.values.files.own.unit, self.values.symbols);
        let inside = sema::uses(unit, symbols, id);
        let has_element =
            unit.exprs_in(unit.expr(last).span).any(|expr| matches!(expr.kind, ExprKind::Index(..)));
        !has_element
            && sema::reads_of_expr(unit, symbols, last)
                .into_iter()
                .all(|symbol| inside.of(symbol).is_none_or(|how| !how.written && !how.part_written))
    }

    /// A variable that keeps a bound.
    fn keep(&mut self, variable: &str, bound: &Value) -> Value {
        let name = self.fresh(&format!("{variable}_last"));
        self.line(&format!("const {} {name} = {};", bound.ty.cpp(), bound.text));
        Value::name(name, bound.ty)
    }
}
