//! The run-time library: what its calls, types and constants become, as their rule pages say.
//!
//! Invariant: a use is replaced as a whole or left as a whole, nested uses included.

use crate::acc::Queue;
use crate::bind::{ApiCall, ApiUse};
use crate::diag::{self, Diag};
use crate::host::ir::{ExprId, ExprKind};
use crate::rules::{Action, Page, Row, RowId, Situation, TemplateArg, rules};
use crate::sema::Class;
use crate::source::Span;

use super::Target;
use super::ast::{BaseLanguage, Body, Directive, Leaf};
use super::section::Sections;
use super::{flang, look, profile, queue};

/// The text that stands for the device in templates.
const DEVICE: &str = "omp_get_default_device()";
/// The text that stands for the host in templates.
const HOST: &str = "omp_get_initial_device()";

/// The name by which Fortran asks whether an array is there.
const PRESENT: &str = "acc2omp_is_present(";

/// The names of types of devices, with their values, and of kinds: OpenMP has none.
const CONSTANTS: [(&str, &str); 8] = [
    ("acc2omp_device_kind", "kind(0)"),
    ("acc2omp_handle_kind", "kind(0)"),
    ("acc2omp_device_none", "0"),
    ("acc2omp_device_default", "1"),
    ("acc2omp_device_host", "2"),
    ("acc2omp_device_not_host", "3"),
    ("acc2omp_device_nvidia", "4"),
    ("acc2omp_device_radeon", "5"),
];

/// What a Fortran scoping unit must declare where the text stands that uses of the library become.
pub fn declarations(text: &str) -> Vec<String> {
    let names = CONSTANTS.iter().filter(|(name, _)| text.contains(name));
    let constants = names.map(|(name, value)| format!("integer, parameter :: {name} = {value}"));
    constants.chain(text.contains(PRESENT).then(present_interface)).collect()
}

/// The interface of that routine of OpenMP: as it is known in Fortran, it wants a `target`.
fn present_interface() -> String {
    let lines = [
        "interface",
        "  function acc2omp_is_present(data, device) bind(c, name=\"omp_target_is_present\")",
        "    use, intrinsic :: iso_c_binding, only: c_int",
        "    type(*), intent(in) :: data(*)",
        "    integer(c_int), value :: device",
        "    integer(c_int) :: acc2omp_is_present",
        "  end function acc2omp_is_present",
        "end interface",
    ];
    lines.join("\n")
}

/// A change of code that uses the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiChange {
    /// The bytes become this text.
    Text(Span, String),
    /// The statement becomes these directives, each on a line of its own.
    Pragmas(Span, Vec<Directive>),
    /// These directives before the statement that begins here, and the bytes become this text.
    Led(u32, Vec<Directive>, Span, String),
    /// The statement goes, with its line.
    Gone(Span),
    /// The use stays as it is.
    Left,
}

/// What becomes of the uses of one file.
#[derive(Debug, Default)]
pub struct ApiLowered {
    /// One for each use that stands in no other.
    pub changes: Vec<ApiChange>,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// The rule rows used.
    pub rows: Vec<&'static RowId>,
}

struct Lowering<'a> {
    sections: &'a Sections<'a>,
    uses: &'a [ApiUse],
    target: Target<'a>,
    /// Whether nothing else stands on the lines of a statement.
    stands_alone: &'a dyn Fn(Span) -> bool,
    diags: Vec<Diag>,
    rows: Vec<&'static RowId>,
}

/// Whether `call` may stand before a text.
fn is_subroutine(text: &str) -> bool {
    ["omp_set_default_device(", "omp_target_free("].iter().any(|name| text.starts_with(name))
}

/// A use cannot be translated.
struct Refused;

/// Lowers the uses of the run-time library, which are in source order.
pub fn lower_api(
    sections: &Sections,
    uses: &[ApiUse],
    target: Target,
    stands_alone: &dyn Fn(Span) -> bool,
) -> ApiLowered {
    let mut lowering = Lowering { sections, uses, target, stands_alone, diags: Vec::new(), rows: Vec::new() };
    let mut changes = Vec::new();
    let mut after = 0;
    for used in uses {
        if used.span.start < after {
            continue;
        }
        after = used.extent().end;
        let said = lowering.diags.len();
        let change = lowering.outermost(used).unwrap_or_else(|Refused| {
            lowering.diags.truncate(said);
            lowering.diags.push(diag::api_left(used.span, &used.name));
            ApiChange::Left
        });
        changes.push(change);
    }
    ApiLowered { changes, diags: lowering.diags, rows: lowering.rows }
}

impl Lowering<'_> {
    fn outermost(&mut self, used: &ApiUse) -> Result<ApiChange, Refused> {
        let (page, row) = self.row(used)?;
        let stmt = used.call.as_ref().and_then(|call| Some((call.stmt?, call.in_block)));
        let alone = |(stmt, in_block)| {
            let span = self.sections.unit.stmt(stmt).span;
            (in_block && (self.stands_alone)(span)).then_some(span)
        };
        match &row.action {
            Action::Pragmas(pragmas) => {
                let Some(call) = &used.call else { return Err(Refused) };
                // What waits gives an answer that is known then.
                let led = (self.is_fortran() && stmt.is_none() && used.name.starts_with("acc_async_test"))
                    .then(|| self.statement(used.extent()))
                    .flatten();
                let span = stmt.and_then(alone);
                if span.is_none() && led.is_none() {
                    return Err(Refused);
                }
                let section = self.section(page, call).unwrap_or_default();
                let queue = self.queue(page, call).or_else(|| self.named(page, call, "queue_argument"));
                let queue = self.slot(queue)?;
                let waited = self.slot(self.named(page, call, "wait_argument"))?;
                self.report_length(page, call);
                let directives = pragmas.iter().map(|pragma| {
                    let mut directive = Directive::new(&[Leaf::Named(&pragma.words)]);
                    let filled = pragma.clauses.iter().map(|clause| match clause.argument {
                        TemplateArg::List => look::fill(clause, &section, ""),
                        _ => {
                            let mut filled = look::fill(clause, &queue, "");
                            if let Body::Text(text) = &mut filled.body {
                                *text = text.replace("{waited}", &waited);
                            }
                            filled
                        }
                    });
                    directive.clauses.extend(filled);
                    directive
                });
                let directives: Vec<Directive> = directives.collect();
                let directives = if self.is_flang() { self.with_tasks(directives, used) } else { directives };
                self.report(row, used);
                match (span, led) {
                    (Some(span), _) => Ok(ApiChange::Pragmas(span, directives)),
                    (None, Some(start)) => {
                        Ok(ApiChange::Led(start, directives, used.extent(), ".true.".to_owned()))
                    }
                    (None, None) => Err(Refused),
                }
            }
            Action::Drop => {
                // Fortran has a statement that does nothing.
                let gone = match stmt {
                    Some((stmt, _)) if self.is_fortran() => Some(self.sections.unit.stmt(stmt).span),
                    _ => stmt.and_then(alone),
                };
                self.report(row, used);
                Ok(gone.map_or(ApiChange::Text(used.extent(), "(void)0".to_owned()), ApiChange::Gone))
            }
            _ => {
                let text = self.expression(used)?;
                let is_call = self.is_fortran() && stmt.is_some();
                // Fortran tells its functions from its subroutines.
                match is_call && !is_subroutine(&text) {
                    true => Err(Refused),
                    false => Ok(ApiChange::Text(used.extent(), text)),
                }
            }
        }
    }

    fn is_flang(&self) -> bool {
        self.is_fortran() && profile::tuning(self.target.profile).flang
    }

    /// Directives about data, before each one the task that waits for its queue.
    fn with_tasks(&mut self, directives: Vec<Directive>, used: &ApiUse) -> Vec<Directive> {
        let mut all = Vec::new();
        for mut directive in directives {
            let task = flang::task_before(&mut directive);
            if task.is_some() {
                self.diags.push(diag::synchronous(used.span, &used.name));
            }
            all.extend(task.into_iter().flatten());
            all.push(directive);
        }
        all
    }

    /// Says that Fortran moves all of an array whatever the length of the call is.
    fn report_length(&mut self, page: &Page, call: &ApiCall) {
        let length = self.named(page, call, "bytes").filter(|_| self.is_fortran());
        if let Some(length) = length {
            self.diags.push(diag::length_not_kept(self.sections.unit.expr(length).span));
        }
    }

    /// The index of the object for the queue that an argument chooses; empty if there is none.
    fn slot(&mut self, queue: Option<ExprId>) -> Result<String, Refused> {
        let Some(queue) = queue else { return Ok(queue::slot("", self.target.speech)) };
        let text = self.sections.file.text(self.sections.unit.expr(queue).span).into_owned();
        match Queue::of(&text, self.is_fortran()) {
            Queue::Synchronous => Ok(String::new()),
            Queue::Default if self.is_fortran() => Ok(queue::slot(&text, self.target.speech)),
            Queue::Default | Queue::Other => {
                Ok(queue::slot(self.argument(queue)?.trim(), self.target.speech))
            }
        }
    }

    /// Where the statement begins that holds a call, if code before it is run before the call.
    fn statement(&self, call: Span) -> Option<u32> {
        let around = self.sections.unit.stmts.iter().filter(|stmt| stmt.span.contains(call));
        let innermost = around.min_by_key(|stmt| stmt.span.len())?;
        let text = self.sections.file.text(innermost.span);
        let is_branch = text.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("else"));
        (!is_branch && !self.sections.unit.ends_loop(innermost.span)).then_some(innermost.span.start)
    }

    /// Whether an expression is an array, or a part of one.
    fn is_array(&self, expr: ExprId) -> bool {
        let mut at = expr;
        while let ExprKind::Index(base, _) = self.sections.unit.expr(at).kind {
            at = base;
        }
        let ExprKind::Name(name) = &self.sections.unit.expr(at).kind else { return false };
        let symbol = self.sections.symbols.lookup(name, self.sections.unit.expr(at).span.start);
        symbol.is_some_and(|symbol| self.sections.symbols.get(symbol).class == Class::Array)
    }

    fn is_fortran(&self) -> bool {
        self.target.speech == BaseLanguage::Fortran
    }

    fn report(&mut self, row: &'static Row, used: &ApiUse) {
        self.rows.push(&row.id);
        let said = row.code.and_then(|code| diag::of_code(code, used.span, &used.name));
        self.diags.extend(said);
    }

    /// The expression that a use becomes.
    fn expression(&mut self, used: &ApiUse) -> Result<String, Refused> {
        let (page, row) = self.row(used)?;
        let Action::Call(template) = &row.action else { return Err(Refused) };
        self.report(row, used);
        let mut text = template.replace("{device}", DEVICE).replace("{host}", HOST);
        text = text.replace("{word}", used.name.trim_start_matches("acc_"));
        if self.is_fortran() && self.is_for_c(used, &text) {
            return Err(Refused);
        }
        let Some(call) = &used.call else { return Ok(text) };
        if text.contains("{queue}") {
            let queue = self.queue(page, call).ok_or(Refused)?;
            text = text.replace("{queue}", &self.argument(queue)?);
        }
        for (name, arg) in page.args.iter().flatten().zip(&call.args) {
            let hole = format!("{{{name}}}");
            if text.contains(&hole) {
                text = text.replace(&hole, &self.argument(*arg)?);
            } else if self.has_effect(*arg) {
                return Err(Refused);
            }
        }
        Ok(text)
    }

    /// Whether what a use becomes is there in C only.
    fn is_for_c(&self, used: &ApiUse, text: &str) -> bool {
        let first = used.call.as_ref().and_then(|call| call.args.first());
        let is_declared = text.contains(PRESENT) && first.is_some_and(|data| self.is_array(*data));
        let mut ours = text.match_indices("acc2omp_").map(|(at, _)| text[at..].to_owned());
        let is_constant = ours.all(|rest| CONSTANTS.iter().any(|(name, _)| rest.starts_with(name)));
        text.contains("(size_t)") || !is_declared && !is_constant
    }

    /// An argument's text, with the uses inside it translated.
    fn argument(&mut self, arg: ExprId) -> Result<String, Refused> {
        let expr = self.sections.unit.expr(arg);
        let inside: Vec<&ApiUse> = self.uses.iter().filter(|used| expr.span.contains(used.span)).collect();
        let mut text = String::new();
        let mut at = expr.span.start;
        for used in inside {
            if used.span.start < at {
                continue;
            }
            text += &self.sections.file.text(Span { start: at, end: used.span.start });
            text += &self.expression(used)?;
            at = used.extent().end;
        }
        text += &self.sections.file.text(Span { start: at, end: expr.span.end });
        let is_list = matches!(expr.kind, ExprKind::Comma(..));
        Ok(if is_list { format!("({text})") } else { text })
    }

    /// Whether leaving an expression out would be noticed.
    fn has_effect(&self, expr: ExprId) -> bool {
        let Sections { unit, file, .. } = self.sections;
        unit.has_effect(expr, &|callee| file.text(unit.expr(callee).span).starts_with("acc_get_"))
    }

    /// The page of a use, and the row that applies to it.
    fn row(&mut self, used: &ApiUse) -> Result<(&'static Page, &'static Row), Refused> {
        let page = rules().routine(&used.name).ok_or(Refused)?;
        let is_async = page.args.is_some() && used.call.as_ref().is_some_and(|call| call.is_async);
        let wanted = page.args.as_ref().map(|args| args.len() + usize::from(is_async));
        let given = used.call.as_ref().map(|call| call.args.len());
        // Fortran's routines know the length of an array.
        let has_bytes = page.args.iter().flatten().any(|name| name == "bytes");
        let is_short = self.is_fortran() && has_bytes && given.is_some_and(|given| Some(given + 1) == wanted);
        if wanted != given && !is_short {
            return Err(Refused);
        }
        let queue = used.call.as_ref().filter(|_| is_async).and_then(|call| self.queue(page, call));
        let is_sync = |queue: ExprId| {
            let queue = self.sections.unit.expr(queue);
            let text = self.sections.file.text(queue.span);
            Queue::of(&text, self.is_fortran()) == Queue::Synchronous
        };
        let queued = queue.is_some_and(|queue| !is_sync(queue));
        let mut situation = Situation::new("call")
            .fact("queue", if queued { "given" } else { "none" })
            .fact("queues", self.target.queues.name())
            .fact("lang", self.target.speech.name());
        if let Some(call) = &used.call {
            situation = situation.fact("value", if call.stmt.is_some() { "unused" } else { "used" });
            let known = self.section(page, call).is_some();
            situation = situation.fact("section", if known { "known" } else { "unknown" });
            if let Some(device) = self.named(page, call, "type") {
                situation = situation.fact("device", self.device(device));
            }
        }
        let row = rules().row(&page.entry, &situation, self.target.version).ok_or(Refused)?;
        if row.action == Action::Refuse {
            self.rows.push(&row.id);
            return Err(Refused);
        }
        Ok((page, row))
    }

    /// The queue of a routine's `…_async` counterpart: its argument after those that the page names.
    fn queue(&self, page: &Page, call: &ApiCall) -> Option<ExprId> {
        if self.is_fortran() {
            return call.args.last().copied().filter(|_| call.is_async);
        }
        call.args.get(page.args.as_ref()?.len()).copied()
    }

    fn named(&self, page: &Page, call: &ApiCall, name: &str) -> Option<ExprId> {
        let at = page.args.iter().flatten().position(|known| known == name)?;
        let own = call.args.len() - usize::from(self.is_fortran() && call.is_async);
        call.args.get(at).filter(|_| at < own).copied()
    }

    /// The list item that a call is about, if a directive can take the call's place: empty if there is none to name.
    fn section(&self, page: &Page, call: &ApiCall) -> Option<String> {
        let stmt = call.stmt.filter(|_| call.in_block)?;
        if !(self.stands_alone)(self.sections.unit.stmt(stmt).span) {
            return None;
        }
        let wants_list = page.rows.iter().any(|row| match &row.action {
            Action::Pragmas(all) => all
                .iter()
                .flat_map(|pragma| &pragma.clauses)
                .any(|clause| clause.argument == TemplateArg::List),
            _ => false,
        });
        if !wants_list {
            return Some(String::new());
        }
        if self.is_fortran() {
            let has_length = self.named(page, call, "bytes").is_some();
            return self.sections.variable(self.named(page, call, "p")?, has_length);
        }
        self.sections.section(self.named(page, call, "p")?, self.named(page, call, "bytes")?)
    }

    /// What is known about a device type.
    fn device(&self, expr: ExprId) -> &'static str {
        let expr = self.sections.unit.expr(expr);
        let text = self.sections.file.text(expr.span);
        let text = if self.is_fortran() { text.to_ascii_lowercase() } else { text.into_owned() };
        match (&expr.kind, text.as_str()) {
            (ExprKind::Name(_), "acc_device_host") => "host",
            (ExprKind::Name(_), "acc_device_none") => "none",
            (ExprKind::Name(_), "acc_device_current") => "current",
            (ExprKind::Name(_), name) if name.starts_with("acc_device_") => "other",
            (ExprKind::Call { .. }, call) if call.starts_with("acc_get_device_type") => "current",
            _ => "unknown",
        }
    }
}
