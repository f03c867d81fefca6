//! What threads of a gang share: private arrays of a gang or a worker, and arrays that a region declares.
//!
//! Invariant: an array is shared where a loop inside of what it belongs to spreads over more threads, nowhere else.

use std::collections::{BTreeSet, HashSet};

use super::body::Body;
use super::parts::Made;
use super::sharers::Sharers;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::{Refused, refused};
use crate::cuda::schedule::capture::{self, Captured, Role};
use crate::cuda::schedule::owners::{levels_at, levels_of_owner};
use crate::cuda::schedule::{sizes, spill, threads};
use crate::cuda::types::spelling;
use crate::host::ir::{Decl, Expr, ExprId, ExprKind, Function, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

/// Arrays that the threads of a gang share: private ones, and those that the region declares. Whether there are any.
pub fn shared_arrays(
    body: &mut Body,
    captured: &[Captured],
    stmt: StmtId,
    workers: usize,
    made: &mut Made,
) -> Result<bool, Refused> {
    let sharers = Sharers::of(body);
    refuse_objects(body, &sharers, captured, stmt)?;
    let mut shared = private_arrays(body, &sharers, captured, workers, made)?;
    shared.extend(declared_arrays(body, &sharers, stmt, workers)?.into_iter().map(|(symbol, _)| symbol));
    let any = !shared.is_empty();
    body.common.extend(shared);
    body.reused = reused(body, captured);
    Ok(any)
}

/// What each gang or worker has for itself, and its threads share.
fn reused(body: &Body, captured: &[Captured]) -> HashSet<SymbolId> {
    let is_private = |one: &Captured| match one.role {
        Role::Local | Role::Value | Role::FirstArray(_) | Role::PrivateMemory(..) => !one.used.is_unchanged(),
        _ => false,
    };
    let is_reused = |symbol: &SymbolId| match captured.iter().find(|one| one.symbol == *symbol) {
        Some(one) => is_private(one),
        None => body.region.contains(body.input.symbols.get(*symbol).scope),
    };
    body.common.iter().copied().filter(is_reused).collect()
}

/// Has the arrays and counters that a routine declares be shared where threads share them.
pub fn of_routine(body: &mut Body, function: &Function) -> Result<(), Refused> {
    if !body.shape.many {
        return Ok(());
    }
    let input = body.input;
    let unit = input.unit();
    let known = body.common.len();
    counters(body, &threads::atomic_scalars_in(input, body.region))?;
    let sharers = Sharers::of(body);
    refuse_objects(body, &sharers, &[], function.body)?;
    let uses = sema::uses(unit, input.symbols, function.body);
    let is_object = |symbol: SymbolId| {
        let known = input.symbols.get(symbol);
        known.kind == SymbolKind::Parameter && known.class == Class::Record && !known.is_reference
    };
    let mut objects = uses.iter().map(|(symbol, _)| symbol).filter(|symbol| is_object(*symbol));
    if objects.any(|symbol| sharers.levels(symbol, body.mode).is_some()) {
        return Err(refused(function.name_span, OBJECT));
    }
    let shared = declared_arrays(body, &sharers, function.body, sizes::CALLERS)?;
    let decls = shared.iter().filter_map(|(symbol, is_workers)| {
        let copies = if *is_workers { sizes::CALLERS } else { 1 };
        Some((input.declaration(*symbol)?.1, copies))
    });
    spill::fits_routine(input, decls)?;
    body.common.extend(shared.iter().map(|(symbol, _)| symbol));
    body.reused.extend(shared.iter().map(|(symbol, _)| symbol));
    // A call inside of a call has the same ones.
    let is_itself = |expr: &Expr| match expr.kind {
        ExprKind::Call { callee, .. } => {
            matches!(&unit.expr(callee).kind, ExprKind::Name(name) if *name == function.name)
        }
        _ => false,
    };
    match unit.exprs_in(body.region).find(|expr| body.common.len() > known && is_itself(expr)) {
        Some(call) => {
            Err(refused(call.span, "a routine that calls itself, and whose threads share what it declares"))
        }
        None => Ok(()),
    }
}

/// An object of each gang or worker that more threads fill by parts, and an array that they fill by a pointer, are not shared:
/// each thread would fill its own.
fn refuse_objects(
    body: &Body,
    sharers: &Sharers,
    captured: &[Captured],
    stmt: StmtId,
) -> Result<(), Refused> {
    let input = body.input;
    let (unit, region) = (input.unit(), input.stmt_span(stmt));
    let private = captured.iter().filter(|one| one.class == Class::Record && matches!(one.role, Role::Local));
    for one in private {
        if sharers.levels(one.symbol, Levels::NONE).is_some() {
            return Err(refused(region, OBJECT));
        }
    }
    // Its address goes somewhere: it is named otherwise than for an element or a member.
    let decays = |symbol: SymbolId| {
        let is_it = |expr: ExprId| input.symbols.named(unit, expr) == Some(symbol);
        let all = || unit.expr_ids_in(region);
        let parts = all().filter(|id| match unit.expr(*id).kind {
            ExprKind::Index(base, _) => is_it(base),
            ExprKind::Member { base, arrow: false, .. } => is_it(base),
            _ => false,
        });
        let addressed =
            all().any(|id| matches!(unit.expr(id).kind, ExprKind::AddressOf(part) if is_it(part)));
        addressed
            || input.symbols.get(symbol).class == Class::Array
                && all().filter(|id| is_it(*id)).count() > parts.count()
    };
    let (mut may_be_addressed, mut filled) = (Vec::new(), false);
    for part in unit.stmts_in(region) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| unit.decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            let is_filled = || sharers.levels(symbol, sharers.levels_at(part.span)).is_some();
            match input.symbols.get(symbol).class {
                Class::Record if is_filled() => return Err(refused(part.span, OBJECT)),
                Class::Array | Class::Record => may_be_addressed.push((symbol, part.span)),
                Class::Pointer => filled |= is_filled(),
                _ => {}
            }
        }
    }
    match may_be_addressed.iter().rev().find(|(symbol, _)| filled && decays(*symbol)) {
        Some((_, at)) => Err(refused(*at, "an array of each gang that threads may fill by a pointer")),
        None => Ok(()),
    }
}

/// Why an object stays.
const OBJECT: &str = "an object of each gang or worker whose parts several threads set";

/// Declares the private arrays of a construct in its kernel; those that threads share.
fn private_arrays(
    body: &mut Body,
    sharers: &Sharers,
    captured: &[Captured],
    workers: usize,
    made: &mut Made,
) -> Result<Vec<SymbolId>, Refused> {
    let input = body.input;
    let is_private = |one: &&Captured| matches!(one.role, Role::Local | Role::FirstArray(_));
    let mut shared = Vec::new();
    let mut is_filled = false;
    for one in captured.iter().filter(|one| one.class == Class::Array).filter(is_private) {
        let element = capture::element(input, one)?;
        let sizes = spelling::sizes(&one.seen, &one.decl);
        let head = format!("{element} {}", "*".repeat(spelling::stars(&one.decl)));
        let mode = levels_of_owner(input, body.nest, &one.name);
        if sharers.levels(one.symbol, Levels::NONE).is_none() {
            made.prologue.push(format!("{head}{}{sizes};", one.name));
            continue;
        }
        made.prologue.extend(match mode.worker && body.shape.rows {
            true => Vec::from(of_workers(body, &head, (&one.name, &sizes), workers)),
            false => vec![format!("__shared__ {head}{}{sizes};", one.name)],
        });
        shared.push(one.symbol);
        is_filled |= matches!(one.role, Role::FirstArray(_));
    }
    if is_filled {
        made.filling.push("__syncthreads();".to_owned());
    }
    Ok(shared)
}

/// An array for each worker: the shared one of all, and the worker's own by the array's name. `head`: what stands before it.
fn of_workers(body: &mut Body, head: &str, (name, sizes): (&str, &str), workers: usize) -> [String; 2] {
    let rows = body.names.fresh(&format!("{name}_rows"));
    [
        format!("__shared__ {head}{rows}[{workers}]{sizes};"),
        format!("{head}(&{name}){sizes} = {rows}[threadIdx.y];"),
    ]
}

/// Has the arrays that a region declares and that threads share be shared: which they are, each with whether every worker has one.
fn declared_arrays(
    body: &mut Body,
    sharers: &Sharers,
    stmt: StmtId,
    workers: usize,
) -> Result<Vec<(SymbolId, bool)>, Refused> {
    let input = body.input;
    let mut shared = Vec::new();
    for part in input.unit().stmts_in(input.stmt_span(stmt)) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| input.unit().decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            let is_array = input.symbols.get(symbol).class == Class::Array;
            // A static one is the same for all threads of all gangs.
            if !is_array || decl.is_static {
                continue;
            }
            let Some(mode) = sharers.levels(symbol, sharers.levels_at(part.span)) else { continue };
            if decl.init.is_some() || decls.len() > 1 {
                return Err(refused(part.span, "an array of each gang, declared in this way"));
            }
            match mode.worker && body.shape.rows {
                true => array_of_workers(body, part.span, decl, workers)?,
                false => body.edits.insert(part.span.start, "__shared__ "),
            }
            shared.push((symbol, mode.worker));
        }
    }
    Ok(shared)
}

/// Writes the declaration of an array as one for each worker.
fn array_of_workers(body: &mut Body, span: Span, decl: &Decl, workers: usize) -> Result<(), Refused> {
    let file = body.input.file();
    let written = file.text(Span { start: span.start, end: decl.name_span.start });
    let blanks = &written[written.trim_end().len()..];
    let text = |start, end| body.edits.render(file, Span { start, end }, 0);
    let head = format!("{}{blanks}", text(span.start, decl.name_span.start)?.trim_end());
    let sizes = text(decl.name_span.end, span.end)?;
    let sizes = sizes.trim().trim_end_matches(';').trim();
    let lines = of_workers(body, &head, (&decl.name, sizes), workers);
    body.edits.replace_all(span, lines.join("\n"));
    Ok(())
}

/// Scalars that a region declares for each gang and that the threads of a gang update by `atomic`: the threads share them.
pub fn gang_counters(body: &mut Body, index: usize) -> Result<(), Refused> {
    counters(body, &threads::atomic_scalars(body.input, index))
}

/// The same for a region whose `atomic` statements update these scalars.
fn counters(body: &mut Body, atomic: &BTreeSet<SymbolId>) -> Result<(), Refused> {
    let input = body.input;
    for part in input.unit().stmts_in(body.region) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| input.unit().decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            let mode = levels_at(input, body.nest, part.span).with(body.mode);
            if !atomic.contains(&symbol) || body.common.contains(&symbol) {
                continue;
            }
            if mode.threads() || decls.len() > 1 || decl.is_static {
                return Err(refused(part.span, "an `atomic` on a variable of each thread or worker"));
            }
            body.common.insert(symbol);
            let Some(init) = decl.init.map(|init| input.unit().expr(init).span) else {
                body.edits.insert(part.span.start, "__shared__ ");
                continue;
            };
            let text = |span| body.edits.render(input.file(), span, 0);
            let head = text(Span { start: part.span.start, end: decl.name_span.end })?;
            let (first, name) = (text(init)?, &decl.name);
            // The threads may still read what an earlier iteration left.
            let text = format!(
                "__shared__ {head};\n__syncthreads();\nif (threadIdx.x == 0 && threadIdx.y == 0)\n    {name} = {first};\n__syncthreads();"
            );
            body.edits.replace_all(part.span, text);
        }
    }
    Ok(())
}
