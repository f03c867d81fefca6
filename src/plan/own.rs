//! The scalars of which each thread of a parallel loop has its own: every OpenACC compiler gives them to the threads one by one.
//!
//! Invariant: no diagnostic and no word of a target; both back ends ask here, each with the loops that it divides.

use crate::host::ir::{StmtId, Unit};
use crate::sema::{Header, Symbol, SymbolId, Symbols, Use, Uses};
use crate::source::Span;

use super::sharing::is_thread_scalar;
use super::{Names, Sharing};

/// A scalar that the body of a parallel loop assigns.
#[derive(Clone, Debug)]
pub struct Own {
    /// The variable.
    pub symbol: SymbolId,
    /// Private, or firstprivate if the body may read the value from before the loop.
    pub sharing: Sharing,
    /// Its first use.
    pub at: Option<Span>,
    /// Its value is carried from one iteration to the next.
    pub is_carried: bool,
    /// The value that the loop leaves in it is wanted after the loop: no thread's value is it.
    pub is_lost: bool,
}

/// The scalars that the loop `stmt` with these headers assigns, whose body uses `used`; except those that are `shared`:
/// a clause names them, or an `atomic` does. `live` are those whose value is read after the loop.
pub fn own_scalars(
    (unit, symbols): (&Unit, &Symbols),
    (stmt, headers): (StmtId, &[Header]),
    used: &Uses,
    live: &Names,
    shared: &dyn Fn(SymbolId, &Symbol, &Use) -> bool,
) -> Vec<Own> {
    let inside = unit.stmt(stmt).span;
    let assigned = used.iter().filter(|(symbol, how)| {
        let known = symbols.get(*symbol);
        (how.written || how.address_taken)
            && is_thread_scalar(known, how)
            && !inside.contains(known.scope)
            && !headers.iter().any(|header| header.var == *symbol)
            && !shared(*symbol, known, how)
    });
    let own = assigned.map(|(symbol, how)| Own {
        symbol,
        sharing: if how.exposed { Sharing::Firstprivate } else { Sharing::Private },
        at: how.first,
        is_carried: how.exposed && how.written && !how.address_taken,
        is_lost: live.contains(&symbol) && how.written,
    });
    own.collect()
}
