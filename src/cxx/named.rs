//! What code names, taken in as the variables that C++ has for it.
//!
//! Invariant: a name is taken in once.

use crate::sema::{Class, SymbolId};
use crate::source::Span;

use super::Why;
use super::constant;
use super::ground::Ground;
use super::record;
use super::variable::Variables;

/// Takes in the variable of a symbol that is used at `at`, an object or a constant array.
pub fn add(ground: &Ground, variables: &mut Variables, symbol: SymbolId, at: Span) -> Result<(), Why> {
    if variables.get(symbol).is_some() {
        return Ok(());
    }
    let known = ground.symbols.get(symbol);
    if known.record.is_some() || known.class == Class::Record {
        return record::add(ground, variables, symbol, at);
    }
    variables.add(ground.files, ground.symbols, symbol, at)?;
    if variables.get(symbol).is_some_and(|one| one.is_constant) {
        let name = constant::function(ground, variables, symbol, at)?;
        variables.rename(symbol, name);
    }
    Ok(())
}
