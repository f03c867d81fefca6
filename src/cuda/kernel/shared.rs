//! What threads of a gang share: private arrays of a gang or a worker, and arrays that a region declares.
//!
//! Invariant: an array is shared where a loop inside of what it belongs to spreads over more threads, nowhere else.

use super::body::Body;
use super::parts::Made;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::{Refused, refused};
use crate::cuda::schedule::capture::{self, Captured, Role};
use crate::cuda::schedule::owners::{levels_at, levels_of_owner};
use crate::cuda::schedule::threads;
use crate::cuda::types::spelling;
use crate::host::ir::{Derived, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId};
use crate::source::Span;

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
                    let text = |start, end| body.edits.render(input.file(), Span { start, end }, 0);
                    let sizes = text(decl.name_span.end, part.span.end)?;
                    let written = Span { start: part.span.start, end: decl.name_span.start };
                    let written = input.file().text(written);
                    let blanks = &written[written.trim_end().len()..];
                    let head = text(part.span.start, decl.name_span.start)?;
                    let head = format!("{}{blanks}", head.trim_end());
                    let sizes = sizes.trim().trim_end_matches(';').trim().to_owned();
                    let rows = body.names.fresh(&format!("{}_rows", decl.name));
                    body.edits.replace_all(
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
