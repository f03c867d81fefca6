//! Data directives as calls of the run-time library (OpenACC 3.3, 2.6, 2.8, 2.13, 2.14).
//!
//! Invariant: what a region brought to the device is undone at its end by the library, which remembers it.

use std::collections::HashSet;

use super::control;
use super::lowering::Lowering;
use crate::acc::ast::{ClauseKind, DataClause, ListItem, Name, PathStep};
use crate::cuda::code::change::Change;
use crate::cuda::code::lines::{braced, under};
use crate::cuda::code::text::{operand, words};
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::capture::{self, Role};
use crate::cuda::schedule::clause::{LaunchRequest, wait_lines};
use crate::cuda::schedule::nest::Nest;
use crate::cuda::types::item;
use crate::cuda::types::motion::word;
use crate::host::ir::{ExprKind, StmtId};
use crate::plan::{Exit, Item, Motion};
use crate::sema::{Class, SymbolId, decays};
use crate::source::Span;

/// The items of the data clauses of a directive, objects before what is in them.
pub fn items<'a>(input: &Input<'a>, index: usize) -> Vec<(&'a DataClause, &'a ListItem)> {
    let mut items: Vec<(&DataClause, &ListItem)> = Vec::new();
    for kind in input.clauses(index) {
        if let ClauseKind::Data(clause, list) = kind {
            items.extend(list.iter().map(|item| (clause, item)));
        }
    }
    items.sort_by_key(|(_, item)| item::order(input, index, item));
    items
}

/// Whether an item is a pointer without a section, of which no length is declared.
pub fn is_bare_pointer(input: &Input, index: usize, item: &ListItem) -> bool {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place);
    let decl = symbol.and_then(|symbol| input.declaration(symbol));
    item.parts.is_empty()
        && symbol.is_some_and(|symbol| input.symbols.get(symbol).class == Class::Pointer)
        && !decl.is_some_and(|(_, decl)| item::has_length(decl))
}

impl Lowering<'_> {
    /// The lines that open a data region for the data clauses of directive `index`; with `implied`, for what its region uses
    /// without a clause, too.
    pub fn region_lines(
        &mut self,
        index: usize,
        stmt: StmtId,
        implied: bool,
    ) -> Result<Vec<String>, Refused> {
        let request = LaunchRequest::of(self.input, index);
        let place = self.input.place(self.input.bound[index].directive.span.start);
        let mut lines = vec![format!("acc2omp_begin(\"{place}\", {});", request.queue_or_sync())];
        let stated = self.item_lines(index)?;
        let mut others = Vec::new();
        if implied {
            let placement = self.placements.directive(index);
            let input = Input { in_place: placement.is_in_place(), ..*self.input };
            if placement.object().is_some() {
                let at = self.input.bound[index].directive.span;
                return Err(refused(at, "the object itself in a `kernels` construct of several launches"));
            }
            let kind = capture::Kind { in_kernels: true, is_split: false, is_one_gang: false };
            for one in capture::capture(&input, index, stmt, &Nest::new(), kind, &[])?.variables {
                let mut stated = items(self.input, index).into_iter();
                let named = stated.any(|(_, item)| item.base.text == one.name && item.depth() == 0);
                // Scalars go with each launch, if these wait for each other.
                let is_large = matches!(one.class, Class::Array | Class::Record);
                let brought = match &one.role {
                    _ if named => None,
                    Role::Data(motion, Some(address)) if is_large => Some((*motion, address.clone())),
                    _ if capture::stays(&input, index, one.symbol) => {
                        Some((Motion::Copy, item::whole(&input, one.seen, &one.host_name(), &one.decl)))
                    }
                    _ => None,
                };
                if let Some((motion, address)) = brought {
                    let method = word(motion);
                    let line =
                        format!("acc2omp_{method}(\"{}\", {}, {});", one.name, address.from, address.bytes);
                    // An object comes before what clauses bring of it.
                    let has_members = items(self.input, index)
                        .iter()
                        .any(|(_, item)| item.depth() > 0 && item.base.text == one.name);
                    if has_members { lines.push(line) } else { others.push(line) }
                }
            }
        }
        lines.extend(stated);
        lines.extend(others);
        Ok(lines)
    }

    /// What the data clauses of a directive ask for one item.
    fn motions(&self, index: usize, item: &ListItem) -> Vec<Motion> {
        let mut motions = Vec::new();
        for kind in self.input.clauses(index) {
            let ClauseKind::Data(clause, list) = kind else { continue };
            let same = list.iter().filter(|other| other.text.trim() == item.text.trim());
            motions.extend(same.filter_map(|_| Motion::of(*clause)));
        }
        motions
    }

    fn item_lines(&mut self, index: usize) -> Result<Vec<String>, Refused> {
        let mut said: Vec<String> = Vec::new();
        let mut lines = Vec::new();
        for (clause, item) in items(self.input, index) {
            let again = said.iter().any(|text| text == item.text.trim());
            match (clause, Motion::of(*clause)) {
                (_, Some(_)) if again => {}
                (DataClause::Attach, _) => {
                    lines.push(format!("acc2omp_attach(\"{0}\", &{0});", item.text.trim()));
                }
                (_, Some(motion)) => {
                    said.push(item.text.trim().to_owned());
                    let motion = self.motions(index, item).into_iter().fold(motion, Motion::and);
                    lines.extend(self.enter_lines(index, item, motion)?);
                }
                _ => {}
            }
        }
        Ok(lines)
    }

    /// The lines that bring one list item to the device in a region.
    fn enter_lines(&mut self, index: usize, item: &ListItem, motion: Motion) -> Result<Vec<String>, Refused> {
        let method = word(motion);
        if let Some(rows) = item::rows(self.input, index, item) {
            let item::Rows { name, count, length, .. } = &rows;
            let pointers = word(if motion == Motion::Present { motion } else { Motion::Copyin });
            let (start, row) = (rows.start(), rows.row());
            let mut lines = vec![
                format!("acc2omp_{pointers}(\"{name}\", {start}, {} * sizeof *{name});", operand(count)),
                rows.head(),
                format!(
                    "    acc2omp_{method}(\"{}\", {row}, {} * sizeof **{name});",
                    item.text.trim(),
                    operand(length)
                ),
                format!("    acc2omp_attach(\"{name}\", &{name}[acc_row]);"),
                "}".to_owned(),
            ];
            let declared = item::declared_pointer(self.input, index, item);
            lines.extend(declared.map(|pointer| format!("acc2omp_attach(\"{name}\", &{pointer});")));
            return Ok(lines);
        }
        if is_bare_pointer(self.input, index, item) {
            // The memory that the pointer leads to is meant.
            return Ok(match motion {
                Motion::Present | Motion::NoCreate => {
                    vec![format!("acc2omp_{method}(\"{0}\", {0}, 1);", item.text.trim())]
                }
                _ => {
                    let address = item::address(self.input, index, item)?;
                    vec![format!(
                        "acc2omp_{method}(\"{}\", {}, {});",
                        item.text.trim(),
                        address.from,
                        address.bytes
                    )]
                }
            });
        }
        let address = item::address(self.input, index, item)?;
        let name = item.text.trim().replace('"', "'");
        let mut lines = vec![format!("acc2omp_{method}(\"{name}\", {}, {});", address.from, address.bytes)];
        if let Some(pointer) = item::pointer(self.input, index, item) {
            lines.push(format!("acc2omp_attach(\"{name}\", &{pointer});"));
        }
        Ok(lines)
    }

    /// `data`
    pub fn data(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        let stmt = bound.stmt().ok_or_else(|| refused(span, "a construct without a statement"))?;
        let request = LaunchRequest::of(self.input, index);
        let mut lines = request.waits();
        if !lines.is_empty() && LaunchRequest::has_effects(self.input, index) {
            return Err(refused(span, "a queue whose number is computed with effects, beside `wait`,"));
        }
        let mut region = self.region_lines(index, stmt, false)?;
        if let Some(condition) = &request.condition {
            let items: Vec<String> = region.drain(1..).collect();
            if !items.is_empty() {
                region.extend(under(format!("if ({condition}) {{"), items));
            }
        }
        lines.extend(region);
        let body = self.input.stmt_span(stmt);
        let mut end = vec!["acc2omp_end();".to_owned()];
        if bound.unbraced || bound.is_body {
            lines.insert(0, "{".to_owned());
            end.push("}".to_owned());
        }
        let jumps = &self.input.plan.notes[index].jumps;
        let mut changes: Vec<Change> = jumps.iter().map(|exit| self.end_at(*exit)).collect();
        changes.extend([Change::Lines(span, lines), Change::After(body.end, body, end)]);
        Ok(changes)
    }

    /// `update`
    pub fn update(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let request = LaunchRequest::of(self.input, index);
        let if_present = self.input.clauses(index).any(|kind| *kind == ClauseKind::IfPresent);
        let (suffix, queue) = request.suffix();
        let mut lines = Vec::new();
        for kind in self.input.clauses(index) {
            let (routine, list) = match kind {
                ClauseKind::UpdateSelf(list) => ("acc_update_self", list),
                ClauseKind::UpdateDevice(list) => ("acc_update_device", list),
                _ => continue,
            };
            for item in list {
                if let Some(rows) = item::rows(self.input, index, item) {
                    let item::Rows { name, length, .. } = &rows;
                    let row = rows.row();
                    lines.push(rows.head());
                    let length = operand(length);
                    lines.push(format!("    {routine}{suffix}({row}, {length} * sizeof **{name}{queue});"));
                    lines.push("}".to_owned());
                    continue;
                }
                if is_bare_pointer(self.input, index, item) {
                    return Err(refused(item.span, "an update of a pointer without a section"));
                }
                let (heads, piece) = item::pieces(self.input, item)?;
                let address = match heads.as_slice() {
                    [] => item::address(self.input, index, &piece)?,
                    _ => item::piece(self.input, index, &piece)?,
                };
                let guard = match if_present {
                    true => format!("if (acc_is_present({}, {})) ", address.from, address.bytes),
                    false => String::new(),
                };
                let call = format!("{guard}{routine}{suffix}({}, {}{queue});", address.from, address.bytes);
                lines.extend(heads.into_iter().rev().fold(vec![call], |inner, head| under(head, inner)));
            }
        }
        self.standalone(index, &request, lines)
    }

    /// Statements in place of a directive that stands for itself.
    pub fn standalone(
        &mut self,
        index: usize,
        request: &LaunchRequest,
        lines: Vec<String>,
    ) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let mut all = request.waits();
        all.extend(lines);
        all = request.around(all);
        if let Some(condition) = &request.condition {
            all = under(format!("if ({condition}) {{"), all);
        } else if (bound.unbraced || bound.is_body) && all.len() != 1 {
            all = braced(all);
        }
        if all.is_empty() {
            return Ok(vec![Change::Gone(bound.directive.span)]);
        }
        Ok(vec![Change::Lines(bound.directive.span, all)])
    }

    /// `wait`
    pub fn wait(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let mut request = LaunchRequest::of(self.input, index);
        let argument = match &self.input.bound[index].directive.argument {
            crate::acc::ast::Argument::Wait(argument) => Some(argument),
            _ => None,
        };
        let lines = wait_lines(argument, request.queue.as_deref());
        request.queue = None;
        self.standalone(index, &request, lines)
    }

    /// `init`, `shutdown` and `set`
    pub fn device_control(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let request = LaunchRequest::of(self.input, index);
        let directive = &self.input.bound[index].directive;
        let clauses = directive.clauses.iter().map(|clause| &clause.kind);
        let calls = control::calls(directive.kind, clauses, &|number| number.to_owned());
        let lines = calls.into_iter().map(|call| format!("{call};")).collect();
        self.standalone(index, &request, lines)
    }

    /// `host_data`: in its block, the names mean addresses on the device.
    pub fn host_data(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        let stmt = bound.stmt().ok_or_else(|| refused(span, "a construct without a statement"))?;
        let body = self.input.stmt_span(stmt);
        // A construct that is the whole body begins with its directive.
        let inside = Span { start: span.end, end: body.end };
        let request = LaunchRequest::of(self.input, index);
        let if_present = self.input.clauses(index).any(|kind| *kind == ClauseKind::IfPresent);
        let unit = self.input.unit();
        let is_cpp = unit.is_cpp();
        let around = bound.function.map_or(body, |id| unit.function(id).span);
        let mut names = Names::among(self.input, &self.input.file().text(around));
        let mut lines = Vec::new();
        let mut changes = Vec::new();
        let mut known = HashSet::new();
        for kind in self.input.clauses(index) {
            let ClauseKind::UseDevice(list) = kind else { continue };
            for item in list.iter().filter(|item| known.insert(&item.text)) {
                if let Some(PathStep::Member(member)) = item.parts.last() {
                    let (line, renamed) =
                        self.device_member(inside, item, member, span, (&request, if_present))?;
                    lines.push(line);
                    changes.extend(renamed);
                    continue;
                }
                let name = &item.base.text;
                let Some(symbol) =
                    self.input.symbols.lookup(name, span.start).filter(|_| item.parts.is_empty())
                else {
                    return Err(refused(item.span, "this item of `use_device`"));
                };
                let class = self.input.symbols.get(symbol).class;
                let device = names.fresh(&format!("{name}_device"));
                let is_own = class == Class::Array
                    && (is_cpp || !decays(self.input.file(), unit, self.input.symbols, symbol, body));
                let (kind, host, used) = match class {
                    Class::Array if is_own => {
                        (format!("__typeof__({name}) *"), format!("&{name}"), format!("(*{device})"))
                    }
                    // What has a type that is not seen is hardly a number.
                    Class::Array | Class::Pointer | Class::Unknown => {
                        (format!("__typeof__(&{name}[0])"), name.clone(), device.clone())
                    }
                    _ => {
                        let host = item::address_of(self.input, name);
                        (format!("__typeof__({host})"), host, format!("(*{device})"))
                    }
                };
                let converted = if is_cpp { format!("({kind})") } else { String::new() };
                let mut value = format!("{converted}{}", self.use_device(span, name, &host));
                let plain =
                    if class == Class::Array && is_cpp { format!("({kind}){host}") } else { host.clone() };
                if if_present {
                    value = format!("acc_is_present({host}, 1) ? {value} : {plain}");
                }
                if let Some(condition) = &request.condition {
                    value = format!("({condition}) ? ({value}) : {plain}");
                }
                let separator = if kind.ends_with('*') { "" } else { " " };
                lines.push(format!("{kind}{separator}{device} = {value};"));
                changes.extend(self.renamed(inside, symbol, &used)?);
            }
        }
        let mut open = lines;
        open.insert(0, "{".to_owned());
        changes.push(Change::Lines(span, open));
        changes.push(Change::After(body.end, body, vec!["}".to_owned()]));
        Ok(changes)
    }

    /// The call that gives the address on the device of what the directive at `at` names.
    fn use_device(&self, at: Span, name: &str, address: &str) -> String {
        format!("acc2omp_use_device(\"{}\", \"{name}\", (void *){address})", self.input.place(at.start))
    }

    /// An item `s.p` of `use_device`, a pointer or an array: the line that finds its address, and the changes of its uses.
    fn device_member(
        &self,
        within: Span,
        item: &ListItem,
        member: &Name,
        at: Span,
        (request, if_present): (&LaunchRequest, bool),
    ) -> Result<(String, Vec<Change>), Refused> {
        let (unit, host) = (self.input.unit(), item.text.trim());
        let known = self.input.symbols.member(&member.text);
        if known.is_none_or(|known| known.shape.is_empty()) {
            return Err(refused(item.span, "this item of `use_device`"));
        }
        self.no_compute_naming(within, &item.base.text)?;
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let name: String =
            bare(host).chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect::<String>()
                + "_device";
        let kind = format!("__typeof__(&{host}[0])");
        let mut value = format!("({kind}){}", self.use_device(at, host, host));
        if if_present {
            value = format!("acc_is_present({host}, 1) ? {value} : ({kind}){host}");
        }
        if let Some(condition) = &request.condition {
            value = format!("({condition}) ? ({value}) : ({kind}){host}");
        }
        let uses = unit.exprs_in(within).filter(|expr| {
            matches!(expr.kind, ExprKind::Member { .. })
                && bare(&self.input.file().text(expr.span)) == bare(host)
        });
        let changes = uses.map(|expr| Change::Text(expr.span, name.clone())).collect();
        Ok((format!("{kind} {name} = {value};"), changes))
    }

    /// Refuses a compute construct in `host_data` that names what has another meaning there.
    fn no_compute_naming(&self, within: Span, name: &str) -> Result<(), Refused> {
        let inner = self.input.bound.iter().filter(|one| within.contains(one.directive.span));
        let names = |span: Span| words(&self.input.file().text(span)).contains(&name);
        let found = inner.filter(|one| one.directive.kind.is_compute()).find(|one| {
            let body = one.stmt().map(|stmt| self.input.stmt_span(stmt));
            names(one.directive.span) || body.is_none_or(names)
        });
        let what = format!("a compute construct in `host_data` that names `{name}`");
        found.map_or(Ok(()), |one| Err(refused(one.directive.span, &what)))
    }

    /// Another text for each use of a variable.
    fn renamed(&self, within: Span, symbol: SymbolId, text: &str) -> Result<Vec<Change>, Refused> {
        let unit = self.input.unit();
        self.no_compute_naming(within, &self.input.symbols.get(symbol).name)?;
        let mut changes = Vec::new();
        for expr in unit.exprs_in(within) {
            let ExprKind::Name(name) = &expr.kind else { continue };
            if self.input.symbols.lookup(name, expr.span.start) == Some(symbol) {
                changes.push(Change::Text(expr.span, text.to_owned()));
            }
        }
        changes.dedup();
        Ok(changes)
    }

    /// The end of a region at an exit of it. What is returned is none of the data that comes back: the plan has seen to that.
    fn end_at(&self, exit: Exit) -> Change {
        let end = "acc2omp_end();".to_owned();
        match exit {
            Exit::Jump { stmt, braces: true } => Change::Braced(self.input.stmt_span(stmt), vec![end]),
            Exit::Jump { stmt, braces: false } => Change::Before(self.input.stmt_span(stmt).start, vec![end]),
            Exit::End(block) => Change::Before(self.input.stmt_span(block).end - 1, vec![end]),
        }
    }

    /// `declare`
    pub fn declare(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        if bound.function.is_none() {
            self.device.declare(self.input, self.hidden, index)?;
            return Ok(vec![Change::Gone(span)]);
        }
        let Item::Declare { exits, .. } = &self.input.plan.items[index] else {
            return Err(refused(span, "a `declare` here"));
        };
        let place = self.input.place(span.start);
        let mut lines = vec![format!("acc2omp_begin(\"{place}\", acc_async_sync);")];
        lines.extend(self.item_lines(index)?);
        let mut changes = vec![Change::Lines(span, lines)];
        changes.extend(exits.iter().map(|exit| self.end_at(*exit)));
        Ok(changes)
    }
}
