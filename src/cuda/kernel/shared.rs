//! What threads of a gang share: private arrays of a gang or a worker, and arrays that a region declares.
//!
//! Invariant: an array is shared where a loop inside of what it belongs to spreads over more threads, nowhere else.

use crate::cuda::schedule::threads;
use crate::host::ir::{Derived, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId};
use crate::source::Span;

use super::body::{Body, Shape};
use super::parts::Made;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::capture::{self, Captured, Role};
use crate::cuda::schedule::levels::{Levels, Nest};
use crate::cuda::types::spelling;

/// The levels of the loops that hold a place.
pub fn levels_at(input: &Input, nest: &Nest, place: Span) -> Levels {
    let around = nest.values().filter(|shared| shared.span(input).contains(place));
    around.fold(Levels::NONE, |sum, shared| sum.with(shared.levels))
}

/// The levels of the loop that a variable is private to, and of those around it; none if it is private to the construct.
pub fn levels_of_owner(input: &Input, nest: &Nest, name: &str) -> Levels {
    let owner = nest.values().find(|shared| shared.private.iter().any(|item| item.base.text == name));
    owner.map_or(Levels::NONE, |owner| levels_at(input, nest, owner.span(input)))
}

/// Whether threads of a gang work on one private copy of a variable: some loop inside is spread over more threads than
/// the one that it is private to.
pub fn shared_by_threads(input: &Input, nest: &Nest, shape: Shape, one: &Captured) -> bool {
    let mode = levels_of_owner(input, nest, &one.name);
    shape.many
        && !(mode.worker && shape.rows)
        && nest.values().any(|shared| {
            let inner = sema::uses(input.unit(), input.symbols, shared.stmts[0]);
            shared.levels.without(mode).threads() && inner.of(one.symbol).is_some()
        })
}

/// Arrays that the threads of a gang share: private ones, and those that the region declares. Whether there are any.
pub fn shared_arrays(
    body: &mut Body,
    captured: &[Captured],
    stmt: StmtId,
    workers: usize,
    made: &mut Made,
) -> Result<bool, Refused> {
    let input = body.input;
    let threads_share = |symbol: SymbolId, from: Levels| {
        // Some loop inside spreads what uses it over more threads.
        body.shape.many
            && body.nest.values().any(|shared| {
                let more = shared.levels.without(from).threads();
                let inner = sema::uses(input.unit(), input.symbols, shared.stmts[0]);
                // What it reduces, it has a copy of for each thread.
                let reduces = shared.reduces(input, symbol).next().is_some();
                more && !reduces
                    && inner.of(symbol).is_some_and(|used| used.part_written || used.address_taken)
            })
    };
    let mut shared_now = Vec::new();
    let is_private = |one: &&Captured| matches!(one.role, Role::Local | Role::FirstArray(_));
    let mut filled_shared = false;
    for one in captured.iter().filter(|one| one.class == Class::Array).filter(is_private) {
        let element = capture::element(input, one)?;
        let sizes: String = one
            .decl
            .derived
            .iter()
            .filter_map(|part| match part {
                Derived::Array(Some(size)) => Some(format!("[{}]", one.seen.text(*size))),
                _ => None,
            })
            .collect();
        let stars = "*".repeat(spelling::stars(&one.decl));
        let mode = levels_of_owner(input, body.nest, &one.name);
        if threads_share(one.symbol, mode) {
            if mode.worker && body.shape.rows {
                let rows = body.names.fresh(&format!("{}_rows", one.name));
                made.prologue.push(format!("__shared__ {element} {stars}{rows}[{workers}]{sizes};"));
                made.prologue.push(format!("{element} {stars}(&{}){sizes} = {rows}[threadIdx.y];", one.name));
            } else {
                made.prologue.push(format!("__shared__ {element} {stars}{}{sizes};", one.name));
            }
            shared_now.push(one.symbol);
            filled_shared |= matches!(one.role, Role::FirstArray(_));
        } else {
            made.prologue.push(format!("{element} {stars}{}{sizes};", one.name));
        }
    }
    if filled_shared {
        made.filling.push("__syncthreads();".to_owned());
    }
    // Declared in the region.
    let span = input.stmt_span(stmt);
    for part in input.unit().stmts_in(span) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| input.unit().decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            if input.symbols.get(symbol).class != Class::Array {
                continue;
            }
            let mode = levels_at(input, body.nest, part.span);
            if threads_share(symbol, mode) {
                if decl.init.is_some() || decls.len() > 1 {
                    return Err(refused(part.span, "an array of each gang, declared in this way"));
                }
                if mode.worker && body.shape.rows {
                    let sizes = input.file().text(Span { start: decl.name_span.end, end: part.span.end });
                    let head = input
                        .file()
                        .text(Span { start: part.span.start, end: decl.name_span.start })
                        .into_owned();
                    let sizes = sizes.trim().trim_end_matches(';').trim().to_owned();
                    let rows = body.names.fresh(&format!("{}_rows", decl.name));
                    body.edits.replace(
                        part.span,
                        format!(
                            "__shared__ {head}{rows}[{workers}]{sizes};\n{head}(&{}){sizes} = {rows}[threadIdx.y];",
                            decl.name
                        ),
                    );
                } else {
                    body.edits.insert(part.span.start, "__shared__ ");
                }
                shared_now.push(symbol);
            }
        }
    }
    let any = !shared_now.is_empty();
    body.common.extend(shared_now);
    Ok(any)
}

/// Scalars that a region declares for each gang and that the threads of a gang update by `atomic`: the threads share them.
pub fn gang_counters(body: &mut Body, index: usize) -> Result<(), Refused> {
    let input = body.input;
    let atomic = threads::atomic_scalars(input, index);
    for part in input.unit().stmts_in(body.region) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        for decl in decls.iter().map(|id| input.unit().decl(*id)) {
            let Some(symbol) = input.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            let mode = levels_at(input, body.nest, part.span);
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
            let head = Span { start: part.span.start, end: decl.name_span.end };
            let (head, name) = (input.file().text(head), &decl.name);
            let first = input.file().text(init);
            // The threads may still read what an earlier iteration left.
            let text = format!(
                "__shared__ {head};\n__syncthreads();\nif (threadIdx.x == 0 && threadIdx.y == 0)\n    {name} = {first};\n__syncthreads();"
            );
            body.edits.replace(part.span, text);
        }
    }
    Ok(())
}
