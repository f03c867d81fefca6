//! Reductions of loops over the threads of a gang or a worker.
//!
//! Invariant: a variable has one value for all threads after the loop.

use super::body::Body;
use crate::acc::ast::ReductionOp;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::{Refused, refused};
use crate::cuda::schedule::nest::Shared;
use crate::cuda::schedule::reduction::{combined, identity, operator};
use crate::cuda::types::{spelling, unfolded};
use crate::host::ir::Derived;
use crate::sema::SymbolId;

impl Body<'_, '_> {
    /// Puts a reduction over threads around a loop.
    pub(super) fn reduce(
        &mut self,
        op: ReductionOp,
        item: &crate::acc::ast::ListItem,
        shared: &Shared,
        threads: Levels,
        one_row: bool,
        (before, after): (&mut String, &mut String),
    ) -> Result<Option<String>, Refused> {
        let place = shared.span(self.input).start;
        let symbol = self.input.symbols.lookup(item.variable(), place);
        let decl = symbol.and_then(|symbol| unfolded::declaration(self.input, symbol));
        let (Some(symbol), Some((seen, decl))) = (symbol, decl) else {
            return Err(refused(item.span, "a reduction of a variable whose declaration is not seen"));
        };
        if self.arrays.contains(&symbol) {
            // Each thread has its own until the end.
            return Ok(None);
        }
        let base = spelling::base(self.input, seen, &decl)
            .ok_or_else(|| refused(item.span, "a reduction of this type"))?;
        let name = match crate::cuda::program::qualified::is_variable(self.input, symbol) {
            true => item.variable().rsplit("::").next().unwrap_or_default(),
            false => item.variable(),
        };
        let reduce = match (threads.worker, threads.vector) {
            (true, false) => "worker_reduce",
            (false, true) if self.shape.rows => "vector_reduce",
            _ => "block_reduce",
        };
        let lanes = match self.sizes.filter(|_| reduce == "vector_reduce") {
            Some((lanes, _)) => format!(", {lanes}"),
            None => String::new(),
        };
        let derived: Vec<&Derived> =
            decl.derived.iter().filter(|part| **part != Derived::Reference).collect();
        let is_bare = item.parts.len() == usize::from(item.variable() != item.base.text);
        if is_bare && !derived.is_empty() {
            // A copy for each thread, which has the array's name in the loop.
            let mut sizes = String::new();
            for part in &derived {
                let Derived::Array(Some(size)) = part else {
                    return Err(refused(
                        item.span,
                        "a reduction of something else than a scalar or an array",
                    ));
                };
                sizes += &format!("[{}]", seen.text(*size));
            }
            let (own, n) = (self.names.fresh(&format!("{name}_own")), self.names.fresh("n"));
            let each = format!("for (size_t {n} = 0; {n} < sizeof {own} / sizeof({base}); {n}++)");
            *before += &format!(
                "{base} {own}{sizes};\n{each}\n    (({base} *){own})[{n}] = {};\n",
                identity(op, &base)
            );
            let place = format!("(({base} *){name})[{n}]");
            let call = format!("acc2omp::{reduce}<{}{lanes}>((({base} *){own})[{n}])", operator(op));
            *after += &format!("\n{each}\n    {place} = {};", combined(op, &place, &call));
            return Ok(Some(format!("{base} (&{name}){sizes} = {own};")));
        }
        if !is_bare || !derived.is_empty() {
            return Err(refused(item.span, "a reduction of something else than a scalar or an array"));
        }
        let call = format!("acc2omp::{reduce}<{}{lanes}>({name})", operator(op));
        if shared.levels().gang && self.results.contains_key(&symbol) && self.is_only(shared, symbol) {
            *after += &format!("\n{name} = {call};");
            return Ok(None);
        }
        let outer = self.names.fresh(&format!("{name}_before"));
        *before += &format!("const {base} {outer} = {name};\n{name} = {};\n", identity(op, &base));
        *after += &format!("\n{name} = {};", combined(op, &outer, &call));
        if one_row {
            *after += &format!("\n{name} = acc2omp::gang_broadcast({name});");
        }
        Ok(None)
    }

    /// Whether the loop is the only place where the region uses a variable, and is reached once.
    fn is_only(&self, shared: &Shared, symbol: SymbolId) -> bool {
        let outer = shared.span(self.input);
        let reducing =
            self.nest.values().filter(|other| {
                other.levels().threads()
                    && other.division.reductions.iter().any(|(_, item)| {
                        self.input.symbols.lookup(&item.base.text, outer.start) == Some(symbol)
                    })
            });
        let unit = self.input.unit();
        let mut elsewhere = unit.expr_ids_in(self.region).filter(|id| !outer.contains(unit.expr(*id).span));
        reducing.count() == 1
            && !elsewhere.any(|id| self.input.symbols.named(unit, id) == Some(symbol))
            && self.nest.values().all(|other| {
                let span = other.span(self.input);
                span == outer || !span.contains(outer)
            })
            && !self.in_sequential_loop(outer)
    }
}
