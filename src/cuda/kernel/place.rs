//! A construct that stays in its place: the launcher is a block there, and the kernel a lambda that captures by value.
//!
//! Invariant: inside, a name of the program means the device's variable; what is captured has another name, or the same value.

use crate::cuda::fit::object;
use std::collections::BTreeMap;

use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind, Use};
use crate::source::Span;

use super::parts::{Host, Made};
use crate::cuda::code::text::Edits;
use crate::cuda::program::Input;
use crate::cuda::program::names::Names;
use crate::cuda::schedule::capture::Captured;
use crate::cuda::schedule::grid::Grid;

/// What a block in place is made of.
pub struct Block<'a> {
    pub place: &'a str,
    pub host: &'a Host,
    pub made: &'a Made,
    pub captured: &'a [Captured<'a>],
    pub grid: &'a Grid,
    /// Lanes and workers.
    pub shape: (usize, usize),
    pub queue: Option<&'a str>,
    /// The code, indented by one level.
    pub code: &'a str,
}

/// The lines of a construct in its place.
pub fn lines(block: &Block, names: &mut Names) -> Vec<String> {
    let words = &block.host.words;
    let queue = block.queue.unwrap_or("acc_async_sync");
    let mut outer = vec![format!("acc2omp::Region {}(\"{}\", {queue});", words.region, block.place)];
    outer.extend(block.host.before().chain(&block.grid.lines).cloned());
    let (vector, workers) = block.shape;
    let size = if workers == 1 { format!("{vector}") } else { format!("{vector}, {workers}") };
    outer.push(format!("const dim3 {}({}), {}({size});", words.gangs, block.grid.gangs, words.threads));
    outer.extend(block.host.results.iter().cloned());
    let mut inner = Vec::new();
    for (declared, argument) in &block.made.params {
        let name = last_name(declared);
        let variable = block.captured.iter().find(|one| one.name == name);
        match variable {
            Some(one) if *argument == one.host_name() && !wants_copy(one) => {}
            Some(one) if *argument == one.host_name() => {
                let value = names.fresh(&format!("{name}_value"));
                outer.push(format!("const auto {value} = {argument};"));
                inner.push(format!("auto {name} = {value};"));
            }
            Some(_) if is_name(argument) => inner.push(format!("{declared} = {argument};")),
            Some(_) => {
                let value = names.fresh(&format!("{name}_value"));
                outer.push(format!("const auto {value} = {argument};"));
                inner.push(format!("{declared} = {value};"));
            }
            None if argument == name => {}
            None => outer.push(format!("{declared} = {argument};")),
        }
    }
    inner.extend(block.made.prologue.iter().chain(&block.made.filling).cloned());
    let threads = vector * workers;
    outer.push(format!(
        "acc2omp::launch<{threads}>({}, {}, {}, [=] __device__ () {{",
        words.region, words.gangs, words.threads
    ));
    let code = block.code.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned());
    let inner = inner.into_iter().chain(code).chain(block.made.epilogue.iter().cloned());
    let indented = |text: String| -> Vec<String> {
        text.lines()
            .map(|line| match line.is_empty() || line.starts_with('#') {
                true => line.to_owned(),
                false => format!("    {line}"),
            })
            .collect()
    };
    outer.extend(inner.flat_map(indented));
    outer.push("});".to_owned());
    let mut all = vec!["{".to_owned()];
    all.extend(outer.into_iter().flat_map(indented));
    all.push("}".to_owned());
    all
}

/// Whether a variable that is passed by value needs a name of its own inside: what is captured is constant, and neither
/// members nor statics are.
fn wants_copy(one: &Captured) -> bool {
    let used = &one.used;
    !one.is_constant
        && (used.written
            || used.address_taken
            || used.part_written
            || matches!(one.kind, SymbolKind::Member | SymbolKind::Static)
            || matches!(one.class, Class::Record))
}

fn last_name(declared: &str) -> &str {
    declared.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The expressions in a statement.
fn inside(input: &Input, stmt: StmtId) -> impl Iterator<Item = ExprId> {
    let unit = input.unit();
    unit.expr_ids_in(unit.stmt(stmt).span)
}

/// Whether a statement puts an index behind a variable, or a star before it.
pub fn is_indexed(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    inside(input, stmt).any(|id| match unit.expr(id).kind {
        ExprKind::Index(base, _) | ExprKind::Deref(base) => input.symbols.named(unit, base) == Some(symbol),
        _ => false,
    })
}

/// The data members of the object that a statement names with `this->`: each place, the member if nothing hides it.
pub fn named_members(input: &Input, stmt: StmtId) -> Vec<(ExprId, Option<SymbolId>)> {
    let unit = input.unit();
    let mut found = Vec::new();
    if !unit.is_cpp() {
        return found;
    }
    for id in inside(input, stmt) {
        let expr = unit.expr(id);
        let ExprKind::Member { base, name, arrow: true } = &expr.kind else { continue };
        if matches!(&unit.expr(*base).kind, ExprKind::Name(this) if this == "this") {
            let symbol = input.symbols.lookup(name, expr.span.start);
            let member = symbol.filter(|symbol| input.symbols.is_data_member(*symbol));
            found.push((id, member));
        }
    }
    found
}

/// What a statement does with the members that it names with `this->`.
pub fn members(input: &Input, stmt: StmtId) -> Vec<(SymbolId, Use)> {
    let unit = input.unit();
    let places: BTreeMap<ExprId, SymbolId> =
        named_members(input, stmt).into_iter().filter_map(|(id, symbol)| Some((id, symbol?))).collect();
    let mut found: Vec<(SymbolId, Use)> = Vec::new();
    if places.is_empty() {
        return found;
    }
    for (id, symbol) in &places {
        let first = Some(unit.expr(*id).span);
        found.push((*symbol, Use { read: true, exposed: true, part_read: true, first, ..Use::default() }));
    }
    for id in inside(input, stmt) {
        let (targets, is_address) = match &unit.expr(id).kind {
            ExprKind::Assign(_, left, _) => (vec![*left], false),
            ExprKind::Step { operand, .. } => (vec![*operand], false),
            ExprKind::AddressOf(operand) => (vec![*operand], true),
            ExprKind::Call { args, .. } => (args.clone(), true),
            _ => continue,
        };
        for mut at in targets {
            let mut is_part = is_address;
            loop {
                if let Some(symbol) = places.get(&at) {
                    let used = Use { written: !is_part, part_written: true, ..Use::default() };
                    found.push((*symbol, used));
                    break;
                }
                match unit.expr(at).kind {
                    ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, .. } => {
                        at = base
                    }
                    _ => break,
                }
                is_part = true;
            }
        }
    }
    found
}

/// Both uses.
pub fn add(known: &mut Use, more: Use) {
    known.read |= more.read;
    known.written |= more.written;
    known.exposed |= more.exposed;
    known.address_taken |= more.address_taken;
    known.part_read |= more.part_read;
    known.part_written |= more.part_written;
    known.first = known.first.or(more.first);
}

/// Takes `this->` and namespaces away: inside, members and statics are variables.
pub fn bare(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    let is_known = |name: &str, at: u32| {
        let symbol = input.symbols.lookup(name, at);
        symbol.is_some_and(|symbol| input.symbols.is_data_member(symbol))
    };
    for expr in unit.exprs_in(within) {
        let name = match &expr.kind {
            ExprKind::Member { base, name, arrow: true } => {
                let is_own = matches!(&unit.expr(*base).kind, ExprKind::Name(this) if this == "this");
                (is_own && is_known(name, expr.span.start)).then_some(name.as_str())
            }
            ExprKind::Name(name) => {
                let symbol = input.symbols.lookup(name, expr.span.start).map(|id| input.symbols.get(id));
                let is_variable = symbol.is_some_and(|known| {
                    known.kind == SymbolKind::Static
                        && (!known.is_const || known.is_floating || known.class != Class::Scalar)
                });
                name.rsplit_once("::").map(|(_, last)| last).filter(|_| is_variable)
            }
            _ => None,
        };
        if let Some(name) = name {
            let end = expr.span.end - name.len() as u32;
            edits.replace(Span { start: expr.span.start, end }, "");
        }
    }
    object::name(input, within, edits);
    super::twin::calls(input, within, edits);
}

/// The text of a part of the code as it stands inside.
pub fn text(input: &Input, span: Span) -> String {
    let mut edits = Edits::default();
    bare(input, span, &mut edits);
    edits.render(input.file(), span, 0).trim().to_owned()
}
