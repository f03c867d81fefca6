//! How many bytes variables have and how many iterations loops, as far as the source says it.
//!
//! Invariant: what is not known is `None`, never a guess.

use crate::host::ir::{BaseType, Derived, ExprId, StmtId};
use crate::sema::{self, Symbol, SymbolId, SymbolKind};

use super::Ground;

/// The bytes of a variable that is an array, or of the elements of one, if all of its extents are known.
pub fn bytes(ground: &Ground, symbol: SymbolId) -> Option<i128> {
    let decl = ground.unit.decl(ground.symbols.get(symbol).decl?);
    let mut count = element(ground, symbol)?;
    for (at, part) in decl.derived.iter().enumerate() {
        let Derived::Array(Some(size)) = part else { return None };
        let upper = value(ground, *size)?;
        let lower = match decl.fortran.lower.get(at).copied().flatten() {
            Some(lower) => value(ground, lower)?,
            None => 1,
        };
        let extent = if ground.unit.is_fortran() { upper - lower + 1 } else { upper };
        count = count.checked_mul(extent.max(0))?;
    }
    (!decl.derived.is_empty()).then_some(count)
}

/// The bytes of one number of a variable's type.
pub fn element(ground: &Ground, symbol: SymbolId) -> Option<i128> {
    let known = ground.symbols.get(symbol);
    let decl = ground.unit.decl(known.decl?);
    if decl.derived.contains(&Derived::Pointer) && decl.derived.first() != Some(&Derived::Pointer) {
        return Some(8);
    }
    let base = ground.symbols.type_of(symbol).map(|known| known.base.clone());
    let words = match &decl.base {
        BaseType::Builtin(words) => words.clone(),
        BaseType::Named(name) => base.filter(|base| !base.is_empty()).unwrap_or_else(|| name.clone()),
        _ => return None,
    };
    let words = words.to_ascii_lowercase();
    if ground.unit.is_fortran() {
        let text: String = words.chars().filter(|c| !c.is_whitespace()).collect();
        return match text.as_str() {
            "doubleprecision" => Some(8),
            _ if text.contains('8') => Some(8),
            "real" | "integer" | "logical" => Some(4),
            _ if text.starts_with("real") && text.contains("dp") => Some(8),
            _ if text.contains("(4)") || text.contains("kind=4") => Some(4),
            _ => None,
        };
    }
    let has = |word: &str| words.split_whitespace().any(|known| known == word);
    Some(match () {
        () if has("double") || has("long") || has("int64_t") || has("size_t") => 8,
        () if has("float") || has("int32_t") => 4,
        () if has("short") => 2,
        () if has("char") || has("bool") || has("_bool") => 1,
        () if has("int") || has("unsigned") => 4,
        () => return None,
    })
}

/// The value of an expression of constants.
pub fn value(ground: &Ground, expr: ExprId) -> Option<i128> {
    let is_fixed = |known: &Symbol| known.is_const || known.kind == SymbolKind::Constant;
    sema::constant(ground.unit, ground.symbols, expr, &is_fixed)
}

/// How many iterations a loop has.
pub fn trips(ground: &Ground, stmt: StmtId) -> Option<i128> {
    let header = sema::header(ground.unit, ground.symbols, stmt).ok()?;
    sema::trips(&header, |expr| value(ground, expr))
}

/// A number of bytes in words.
pub fn in_words(bytes: i128) -> String {
    match bytes {
        ..=999 => format!("{bytes} bytes"),
        1_000..=999_999 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// What variables have together, as `: 12.0 MB`; empty if that is not known.
pub fn sum_in_words(ground: &Ground, symbols: &[SymbolId]) -> String {
    let all = symbols.iter().try_fold(0i128, |all, symbol| Some(all + bytes(ground, *symbol)?));
    all.map_or(String::new(), |all| format!(": {}", in_words(all)))
}
