//! Statements.
//!
//! Invariant: each statement has a counterpart that does the same, in the same order.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BinaryOp, Concurrent, Expr, ExprId, ExprKind, StmtId, StmtKind, UNNAMED, Unit};
use crate::sema::{self, SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::block::declared_size;
use super::call;
use super::expression::{Values, is_part};
use super::helpers::Helper;
use super::loops;
use super::record;
use super::types::{Type, Word, plain_code};
use super::value::{Value, binds};
use super::variable::names_in;

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
    /// The loops whose bodies are nothing but the loop that becomes one with them.
    pub leads: BTreeSet<StmtId>,
}

impl Around {
    /// Takes in loops whose bodies are nothing but the loop that becomes one with them.
    pub fn takes_leads(&mut self, leads: Vec<StmtId>, unit: &Unit) {
        self.divided.extend(leads.iter().filter_map(|lead| loops::only_loop(unit, *lead)));
        self.leads.extend(leads);
    }

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
    /// The lines for the variables of loops that count otherwise, for the next body.
    counted: Vec<(String, String)>,
    /// Loops that a jump leaves: those whose label stands at the end of the body, and those whose label stands after.
    jumps: BTreeSet<(StmtId, bool)>,
}

/// What is refused of a loop that a directive divides.
const ODD: &str = "a loop of a directive that counts in an odd way";

/// The step of a counted loop.
#[derive(Clone, Copy)]
enum Step {
    Number(i128),
    /// The value of an expression, or what is so much less.
    Of(ExprId, bool),
}

/// The parts of a counted loop.
struct Counted {
    var: ExprId,
    first: ExprId,
    last: ExprId,
    step: Step,
    /// From its first word to its last bound or its step.
    header: Span,
}

impl<'a> Body<'a> {
    /// Nothing has been written; `depth` is how far lines are indented.
    pub fn new(values: &'a Values<'a>, around: &'a Around, extent: Span, depth: usize) -> Body<'a> {
        let (lines, jumps) = (Vec::new(), BTreeSet::new());
        Body { values, around, lines, depth, is_atomic: false, kept: 0, extent, counted: Vec::new(), jumps }
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
            StmtKind::For { .. } => match loops::concurrent(unit, id) {
                Some(concurrent) => self.concurrent(id, concurrent),
                None => self.counted(id),
            },
            StmtKind::While { cond, body } => self.while_loop(id, *cond, *body),
            StmtKind::Break => self.simple("break;"),
            StmtKind::Continue => self.simple("continue;"),
            StmtKind::Labeled { label, stmt } => {
                let is_meant = |inner: &StmtId| matches!((&unit.stmt(*inner).kind, label), (StmtKind::Goto(to), Some(label)) if to == label);
                if unit.stmt_ids_in(self.extent).any(|inner| is_meant(&inner)) {
                    self.line(&format!("{}:;", self.place_name(id)));
                }
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
        if self.product(left, right, at)? {
            return Ok(());
        }
        let ranges = self.ranges(left, at)?;
        if !ranges.is_empty() {
            return self.elements((left, right), &ranges, at);
        }
        self.whole_arrays(right)?;
        if let ExprKind::Member { base, name, .. } = &seen.unit.expr(left).kind
            && self.values.symbol(left).is_none()
            && is_part(name)
            && !self.is_atomic
        {
            return self.part((*base, name), right, at);
        }
        let target = self.values.value(left)?;
        let updated = if self.is_atomic { self.values.updated(&target, right)? } else { None };
        let value = updated.map_or_else(|| self.values.value(right), Ok)?;
        self.same_objects(&target, &value, at)?;
        if (target.ty.word == Word::Logical) != (value.ty.word == Word::Logical) {
            return Err(Why::new(at, "an assignment of another type"));
        }
        let is_to_part = value.ty.word == Word::Complex && target.ty.word != Word::Complex;
        let value = if is_to_part { value.to(target.ty) } else { value };
        let text = format!("{} = {};", target.text, value.text);
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if plain != format!("{};", plain_code(seen, at)) && !code.ends_with('\\') {
            self.line(&format!("// {}", code.trim()));
        }
        self.line(&text);
        Ok(())
    }

    /// Whether what is assigned to an object is one of its type, and the assignment one of all components.
    pub(super) fn same_objects(&self, target: &Value, value: &Value, at: Span) -> Result<(), Why> {
        let is_object = [target.ty, value.ty].iter().any(|ty| ty.word == Word::Record);
        if is_object && (target.ty != value.ty || record::may_assign_otherwise(self.values.files)) {
            return Err(Why::new(at, "an assignment of an object"));
        }
        Ok(())
    }

    /// An assignment to a part of a complex number.
    fn part(&mut self, (base, name): (ExprId, &str), right: ExprId, at: Span) -> Result<(), Why> {
        let (whole, value) = (self.values.value(base)?, self.values.value(right)?);
        if whole.ty.word != Word::Complex || value.ty.word == Word::Logical {
            return Err(Why::new(at, "an assignment of another type"));
        }
        let other = |function: &str| whole.of_complex(function, whole.ty.part());
        let parts = if name == "re" { [value, other("cimag")] } else { [other("creal"), value] };
        self.line(&format!("// {}", self.values.files.own.code(at).trim()));
        self.simple(&format!("{} = {};", whole.text, Value::complex(parts, whole.ty.bytes).text))
    }

    fn choice(&mut self, cond: ExprId, then: StmtId, other: Option<StmtId>, at: Span) -> Result<(), Why> {
        let seen = self.values.files.own;
        let mut text = plain_code(seen, head(seen.unit, cond, at));
        if let Some((name, rest)) = text.split_once(':')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            text = rest.to_owned();
        }
        if text.starts_with("where(") {
            return self.masked(at);
        }
        // The mask of `do concurrent` is not a statement of its own.
        let is_mask = seen.unit.expr(cond).span.start == at.start;
        let is_if = text.starts_with("if(") || text.starts_with("elseif(") || is_mask;
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
                && plain_code(seen, head(seen.unit, *cond, seen.unit.stmt(id).span)).starts_with("elseif(")
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

    /// A jump to the end of the body of a loop with a name, or after it.
    fn jump(&mut self, label: &str, at: Span) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let around = unit.stmt_ids_in(self.extent).filter(|id| {
            let is_loop = matches!(unit.stmt(*id).kind, StmtKind::For { .. } | StmtKind::While { .. });
            is_loop && unit.stmt(*id).span.contains(at)
        });
        let is_meant =
            |id: &StmtId| unit.loop_labels(*id).is_some_and(|own| own.iter().any(|own| own == label));
        let target = around.filter(is_meant).min_by_key(|id| unit.stmt(*id).span.len());
        let Some(target) = target else { return self.jump_to(label, at) };
        let is_cycle = label.starts_with("cycle ");
        if !is_cycle && self.around.divided.contains(&target) {
            return Err(Why::new(at, "a jump out of a loop that a directive divides"));
        }
        self.jumps.insert((target, is_cycle));
        let label = self.label_of(target, is_cycle);
        self.simple(&format!("goto {label};"))
    }

    /// A jump to a statement with a label, in the block of the jump or one around it.
    fn jump_to(&mut self, label: &str, at: Span) -> Result<(), Why> {
        let unit = self.values.files.own.unit;
        let blocks = unit.stmt_ids_in(self.extent).filter_map(|id| match &unit.stmt(id).kind {
            StmtKind::Block(list) if unit.stmt(id).span.contains(at) => Some(list),
            _ => None,
        });
        let is_meant = |id: &&StmtId| matches!(&unit.stmt(**id).kind, StmtKind::Labeled { label: Some(own), .. } if own == label);
        let mut places: Vec<StmtId> = blocks.flatten().filter(is_meant).copied().collect();
        // Several constructs may have one name: the one after which the place comes first is meant.
        places.sort_by_key(|id| (unit.stmt(*id).span.start < at.start, unit.stmt(*id).span.start));
        let place = places.first().ok_or_else(|| Why::new(at, "a jump to a place that is not around it"))?;
        let stays = |id: &StmtId| {
            let span = unit.stmt(*id).span;
            !span.contains(at) || span.contains(unit.stmt(*place).span)
        };
        if !self.around.divided.iter().all(stays) {
            return Err(Why::new(at, "a jump out of a loop that a directive divides"));
        }
        self.simple(&format!("goto {};", self.place_name(*place)))
    }

    /// The label of C++ for a statement that has one.
    fn place_name(&self, id: StmtId) -> String {
        let seen = self.values.files.own;
        let stmt = seen.unit.stmt(id);
        let StmtKind::Labeled { label: Some(label), .. } = &stmt.kind else { return String::new() };
        format!("to_{label}_{}", seen.file.line_number(stmt.span.start))
    }

    /// What follows the head of a loop, with the labels for jumps to the end of its body and after it.
    fn body_of(&mut self, id: StmtId, body: StmtId) -> Result<(), Why> {
        self.depth += 1;
        for symbol in self.around.in_bodies.get(&id).into_iter().flatten() {
            if let Some(variable) = self.values.variables.get(*symbol) {
                self.line(&format!("{} {};", variable.ty.cpp(), variable.name));
            }
        }
        if !self.around.leads.contains(&id) {
            for (_, line) in std::mem::take(&mut self.counted) {
                self.line(&line);
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

    /// The label for jumps to the end of a loop's body, or after the loop.
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
        if plain_code(self.values.files.own, at).starts_with("forall(") {
            return Err(Why::new(at, "`forall`"));
        }
        let Counted { var, first, last, step, header } =
            self.counted_parts(id).ok_or_else(|| Why::new(at, "a loop of this form"))?;
        let symbol = self.values.symbol(var).ok_or_else(|| Why::new(at, "this loop"))?;
        let StmtKind::For { body, .. } = unit.stmt(id).kind else { return Ok(()) };
        let [variable, first_value, bound] = [var, first, last].map(|expr| self.values.value(expr));
        let (variable, first_value, bound) = (variable?, first_value?, bound?);
        if [&variable, &first_value, &bound].iter().any(|one| one.ty.word != Word::Integer) {
            return Err(Why::new(at, "a loop that counts no whole numbers"));
        }
        let inside = sema::uses(unit, self.values.symbols, body);
        if inside.of(symbol).is_some_and(|how| how.written) {
            return Err(Why::new(at, "a loop that changes its variable"));
        }
        let is_pending =
            |text: &str| names_in(text).any(|word| self.counted.iter().any(|(name, _)| name == word));
        let asks_outer = [&first_value, &bound].iter().any(|part| is_pending(&part.text));
        let is_in_head = self.around.in_heads.contains(&symbol);
        let head = if is_in_head { format!("{} ", variable.ty.cpp()) } else { String::new() };
        let name = variable.text.clone();
        let note = self.note(header);
        let by = match step {
            Step::Of(by, _) => Some(by),
            Step::Number(_) => None,
        };
        let step = match step {
            Step::Number(number) if !self.may_overflow(last, number, variable.ty) => number,
            step => {
                let step = match step {
                    Step::Number(number) => Value::name(number.to_string(), variable.ty),
                    Step::Of(by, is_down) => {
                        let by = self.values.value(by)?;
                        if by.ty.word != Word::Integer {
                            return Err(Why::new(at, "a loop that counts no whole numbers"));
                        }
                        let minus = |by: &Value| Value {
                            text: format!("-{}", by.within(binds::NAME)),
                            binds: binds::PREFIX,
                            ty: by.ty,
                        };
                        if is_down { minus(&by) } else { by }
                    }
                };
                let is_divided = self.around.divided.contains(&id);
                if asks_outer
                    || is_pending(&step.text)
                    || is_divided && !self.is_kept_in([first, by.unwrap_or(first)], id)
                {
                    return Err(Why::new(at, ODD));
                }
                let parts = [first_value, bound, step].map(|part| part.to(variable.ty));
                return self.counted_by_trips(id, body, &variable, (&head, &note), parts);
            }
        };
        if asks_outer {
            return Err(Why::new(at, ODD));
        }
        let is_steady = self.is_steady(last, id);
        if !is_steady && self.around.divided.contains(&id) {
            return Err(Why::new(at, "a loop with a directive that changes its last value"));
        }
        let bound = if is_steady { bound } else { self.keep(&name, "last", &bound) };
        let next = match step {
            1 => format!("{name}++"),
            -1 => format!("{name}--"),
            step if step > 0 => format!("{name} += {step}"),
            step => format!("{name} -= {}", -step),
        };
        let compare = if step > 0 { "<=" } else { ">=" };
        let bound = bound.within(binds::LESS + 1);
        let first = first_value.text;
        self.line(&format!("for ({head}{name} = {first}; {name} {compare} {bound}; {next}) {{{note}"));
        self.body_of(id, body)
    }

    /// A `do concurrent`, in the order of its indices. Each iteration has its own of what is local to it.
    fn concurrent(&mut self, id: StmtId, concurrent: &Concurrent) -> Result<(), Why> {
        let (unit, values) = (self.values.files.own.unit, self.values);
        let at = unit.stmt(id).span;
        let refused = |what: &str| Why::new(at, format!("a `do concurrent` {what}"));
        let StmtKind::For { body, .. } = unit.stmt(id).kind else { return Ok(()) };
        if !self.counted.is_empty() {
            return Err(Why::new(at, ODD));
        }
        let named = |name: &str| values.symbols.lookup(name, unit.stmt(body).span.start);
        let variable = |name: &str| values.variables.get(named(name)?).map(|one| (one.name.clone(), one.ty));
        let mut lines = Vec::new();
        for name in &concurrent.local_init {
            let (name, ty) = variable(name).ok_or_else(|| refused("with `local_init`"))?;
            let value = self.fresh(&format!("{name}_first"));
            self.line(&format!("const {} {value} = {name};", ty.cpp()));
            lines.push(format!("{} {name} = {value};", ty.cpp()));
        }
        for name in &concurrent.local {
            let known = named(name).filter(|symbol| values.variables.get(*symbol).is_some());
            let Some(symbol) = known else { continue };
            let size = declared_size(values.variables, symbol);
            let (name, ty) = variable(name).ok_or_else(|| refused("with `local`"))?;
            let size = size.ok_or_else(|| refused("with a local array of variable size"))?;
            lines.push(format!("{} {name}{size};", ty.cpp()));
        }
        let mut heads = Vec::new();
        for index in &concurrent.indices {
            let step = match index.step.map(|step| values.files.constant(values.files.own, step)) {
                None => 1,
                Some(Some(step)) if step != 0 => step,
                Some(_) => return Err(refused("whose step is not a number")),
            };
            let (first, last) = (values.value(index.first)?, values.value(index.last)?);
            if [&first, &last].iter().any(|one| one.ty.word != Word::Integer)
                || self.may_overflow(index.last, step, first.ty)
            {
                return Err(refused("that counts in an odd way"));
            }
            let last =
                if self.is_kept_in([index.last], id) { last } else { self.keep(&index.name, "last", &last) };
            let Some((name, ty)) = variable(&index.name) else {
                // No iteration asks for it.
                let name = self.fresh(&index.name);
                heads.push((name, Type::INTEGER, first, last, step));
                continue;
            };
            heads.push((name, ty, first, last, step));
        }
        let count = heads.len();
        for (place, (name, ty, first, last, step)) in heads.into_iter().enumerate() {
            let (compare, next) =
                if step > 0 { ("<=", format!("+= {step}")) } else { (">=", format!("-= {}", -step)) };
            let last = last.within(binds::LESS + 1);
            let cpp = ty.cpp();
            self.line(&format!(
                "for ({cpp} {name} = {}; {name} {compare} {last}; {name} {next}) {{",
                first.text
            ));
            self.depth += usize::from(place + 1 < count);
        }
        if let Some(mask) = concurrent.mask {
            let mask = values.value(mask)?;
            lines.insert(0, format!("if (!{}) continue;", mask.within(binds::PREFIX)));
        }
        self.counted = lines.into_iter().map(|line| (String::new(), line)).collect();
        self.body_of(id, body)?;
        for _ in 1..count {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// A loop whose number of iterations is computed before, as its step may be of either sign.
    fn counted_by_trips(
        &mut self,
        id: StmtId,
        body: StmtId,
        variable: &Value,
        (head, note): (&str, &str),
        [first, last, step]: [Value; 3],
    ) -> Result<(), Why> {
        let long = Type { bytes: 8, ..Type::INTEGER };
        let name = &variable.text;
        if !self.around.divided.contains(&id) {
            // The first value may depend on the variable itself.
            let [first, last, step] = [("first", first), ("last", last), ("step", step)]
                .map(|(word, part)| self.fixed(name, word, part));
            let trips =
                self.values.help(Helper::Trips, variable.ty, &[first.clone(), last, step.clone()], long);
            let left = self.fresh(&format!("{name}_left"));
            self.line(&format!("long long {left} = {};", trips.text));
            self.line(&format!(
                "for ({head}{name} = {}; {left} > 0; {left}--, {name} += {}) {{{note}",
                first.text, step.text
            ));
            return self.body_of(id, body);
        }
        let at = self.values.files.own.unit.stmt(id).span;
        if head.is_empty() {
            return Err(Why::new(at, ODD));
        }
        let trips = self.values.help(Helper::Trips, variable.ty, &[first.clone(), last, step.clone()], long);
        let number = self.fresh(&format!("{name}_trip"));
        let moved = Value::binary(&Value::name(number.clone(), long), "*", &step, binds::PRODUCT, long);
        let value = Value::binary(&first, "+", &moved, binds::SUM, long).to(variable.ty);
        self.line(&format!("for (long long {number} = 0; {number} < {}; {number}++) {{{note}", trips.text));
        self.counted.push((name.clone(), format!("{head}{name} = {};", value.text)));
        self.body_of(id, body)
    }

    /// A value that code inside of a loop cannot change.
    fn fixed(&mut self, variable: &str, word: &str, value: Value) -> Value {
        if value.text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) {
            return value;
        }
        self.keep(variable, word, &value)
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

    /// The head of a loop that the host runs around what the device does.
    pub fn host_loop(&self, id: StmtId) -> Result<String, Why> {
        let unit = self.values.files.own.unit;
        let refused = || Why::new(unit.stmt(id).span, "a loop of this form that the host runs in `kernels`");
        let Counted { var, first, last, step, .. } = self.counted_parts(id).ok_or_else(refused)?;
        let symbol = self.values.symbol(var).ok_or_else(refused)?;
        let StmtKind::For { body, .. } = unit.stmt(id).kind else { return Err(refused()) };
        let [variable, first, bound] = [var, first, last].map(|expr| self.values.value(expr));
        let (variable, first, bound) = (variable?, first?, bound?);
        let are_whole = [&variable, &first, &bound].iter().all(|one| one.ty.word == Word::Integer);
        let is_written =
            sema::uses(unit, self.values.symbols, body).of(symbol).is_some_and(|how| how.written);
        let is_plain = are_whole && !is_written && self.around.in_heads.contains(&symbol);
        match step {
            Step::Number(by @ (1 | -1))
                if is_plain && self.is_steady(last, id) && !self.may_overflow(last, by, variable.ty) =>
            {
                let (name, cpp) = (&variable.text, variable.ty.cpp());
                let [compare, next] = if by == 1 { ["<=", "++"] } else { [">=", "--"] };
                let bound = bound.within(binds::LESS + 1);
                Ok(format!("for ({cpp} {name} = {}; {name} {compare} {bound}; {name}{next}) {{", first.text))
            }
            _ => Err(refused()),
        }
    }

    fn counted_parts(&self, id: StmtId) -> Option<Counted> {
        let seen = self.values.files.own;
        let unit = seen.unit;
        let StmtKind::For { init, cond, step, .. } = &unit.stmt(id).kind else { return None };
        let StmtKind::Expr(init) = unit.stmt((*init)?).kind else { return None };
        let ExprKind::Assign(None, var, first) = unit.expr(init).kind else { return None };
        let ExprKind::Binary(_, _, last) = unit.expr((*cond)?).kind else { return None };
        let counts = unit.expr((*step)?);
        let header =
            Span { start: unit.stmt(id).span.start, end: unit.expr(last).span.end.max(counts.span.end) };
        let step = match &counts.kind {
            ExprKind::Step { .. } => Step::Number(1),
            ExprKind::Assign(op, _, by) => {
                let is_down = *op == Some(BinaryOp::Subtract);
                match self.values.files.constant(seen, *by) {
                    Some(0) => return None,
                    Some(number) => Step::Number(if is_down { -number } else { number }),
                    None => Step::Of(*by, is_down),
                }
            }
            _ => return None,
        };
        Some(Counted { var, first, last, step, header })
    }

    /// Whether the last value of a loop is a number so large that the variable would pass the largest of its type.
    fn may_overflow(&self, last: ExprId, step: i128, ty: Type) -> bool {
        let largest = (1i128 << (8 * u32::from(ty.bytes) - 1)) - 1;
        let number = self.values.value(last).ok().and_then(|last| plain_number(&last.text));
        number.is_some_and(|last| last + step > largest || last + step < -largest - 1)
    }

    /// Whether the last value of a loop stays the same while it runs.
    fn is_steady(&self, last: ExprId, id: StmtId) -> bool {
        if self.around.divided.contains(&id) {
            return !self.is_assigned_in(last, id);
        }
        self.is_kept_in([last], id)
    }

    /// Whether a loop assigns a variable of an expression, or an element or a component by the words of the expression.
    fn is_assigned_in(&self, expr: ExprId, id: StmtId) -> bool {
        let seen = self.values.files.own;
        let (unit, symbols) = (seen.unit, self.values.symbols);
        let inside = sema::uses(unit, symbols, id);
        let is_written = |symbol| inside.of(symbol).is_some_and(|how| how.written);
        let parts = unit.exprs_in(unit.expr(expr).span);
        let is_part = |expr: &&Expr| matches!(expr.kind, ExprKind::Index(..) | ExprKind::Member { .. });
        let parts: Vec<String> = parts.filter(is_part).map(|part| plain_code(seen, part.span)).collect();
        let mut assigned = unit.exprs_in(unit.stmt(id).span).filter_map(|expr| match expr.kind {
            ExprKind::Assign(None, left, _) => Some(plain_code(seen, unit.expr(left).span)),
            _ => None,
        });
        sema::reads_of_expr(unit, symbols, expr).into_iter().any(is_written)
            || !parts.is_empty() && assigned.any(|left| parts.contains(&left))
    }

    /// Whether a loop assigns none of the variables of an expression.
    fn are_read_alone(&self, expr: ExprId, id: StmtId) -> bool {
        let (unit, symbols) = (self.values.files.own.unit, self.values.symbols);
        let inside = sema::uses(unit, symbols, id);
        let is_kept = |symbol| inside.of(symbol).is_none_or(|how| !how.written && !how.part_written);
        sema::reads_of_expr(unit, symbols, expr).into_iter().all(is_kept)
    }

    /// Whether what expressions compute stays the same while a loop runs.
    fn is_kept_in<const N: usize>(&self, all: [ExprId; N], id: StmtId) -> bool {
        if self.values.variables.has_other_names() {
            return false;
        }
        let unit = self.values.files.own.unit;
        all.into_iter().all(|one| {
            let mut parts = unit.exprs_in(unit.expr(one).span);
            let has_element = parts.any(|expr| matches!(expr.kind, ExprKind::Index(..)));
            !has_element && self.are_read_alone(one, id)
        })
    }

    /// A variable that keeps a bound.
    fn keep(&mut self, variable: &str, word: &str, bound: &Value) -> Value {
        let name = self.fresh(&format!("{variable}_{word}"));
        self.line(&format!("const {} {name} = {};", bound.ty.cpp(), bound.text));
        Value::name(name, bound.ty)
    }
}

/// The number that a text in C++ is.
fn plain_number(text: &str) -> Option<i128> {
    text.trim_end_matches("ll").parse().ok()
}

/// A statement up to the end of its condition.
fn head(unit: &Unit, cond: ExprId, at: Span) -> Span {
    let cond = unit.expr(cond).span;
    if cond.is_empty() { at } else { Span { start: at.start, end: cond.end } }
}
