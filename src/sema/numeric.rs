//! The types of Fortran's numbers and logical values, with their kinds.
//!
//! Invariant: two types are called equal only if every compiler stores them alike; in doubt a type is not known.

use crate::host::ir::Decl;
use crate::source::Span;

use super::subscript::plain;
use super::symbol::SymbolKind;
use super::symbols::Symbols;
use super::texts::Texts;

/// Constants that name kinds are followed no further than this.
pub(super) const DEPTH: usize = 4;

/// An intrinsic type; numbers in the order in which one becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    Logical,
    Integer,
    Real,
    Complex,
}

/// How a value of a type is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As without a kind.
    Default,
    /// `double precision`
    Double,
    /// A number, or a name with the place that it comes from.
    Named(String),
}

/// A type with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) word: Word,
    pub(super) kind: Kind,
}

impl Number {
    pub(super) fn new(word: Word, kind: Kind) -> Number {
        Number { word, kind }
    }

    /// The type that a declaration states.
    pub(super) fn of_decl(texts: Texts, symbols: &Symbols, decl: &Decl) -> Option<Number> {
        let before = Span { start: decl.span.start, end: decl.name_span.start };
        let stated = plain(&texts.code(before));
        let after = Span { start: decl.name_span.end, end: decl.span.end };
        // An old way to state a kind after the name.
        if plain(&texts.code(after)).starts_with('*') {
            return None;
        }
        if stated.starts_with("doubleprecision") {
            return Some(Number::new(Word::Real, Kind::Double));
        }
        let words = [
            ("logical", Word::Logical),
            ("integer", Word::Integer),
            ("real", Word::Real),
            ("complex", Word::Complex),
        ];
        let (name, word) = words.into_iter().find(|(name, _)| stated.starts_with(name))?;
        let rest = stated.get(name.len()..)?;
        let kind = match rest.strip_prefix(['(', '*']) {
            // What counts there are the bytes of both parts.
            Some(_) if rest.starts_with('*') && word == Word::Complex => return None,
            Some(inner) if rest.starts_with('*') => {
                let digits = inner.find(|char: char| !char.is_ascii_digit()).unwrap_or(inner.len());
                Kind::Named(inner.get(..digits).filter(|digits| !digits.is_empty())?.to_owned())
            }
            Some(inner) => Kinds { texts, symbols }.of(enclosed(inner)?, decl.span.start, DEPTH)?,
            None => Kind::Default,
        };
        Some(Number::new(word, kind))
    }
}

/// What stands before the parenthesis that ends a list.
pub fn enclosed(inner: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, char) in inner.char_indices() {
        match char {
            '(' => depth += 1,
            ')' if depth == 0 => return inner.get(..at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Reads what states a kind.
pub(super) struct Kinds<'a> {
    pub(super) texts: Texts<'a>,
    pub(super) symbols: &'a Symbols,
}

impl Kinds<'_> {
    /// The kind that a text without blanks means at a place.
    pub(super) fn of(&self, text: &str, at: u32, depth: usize) -> Option<Kind> {
        let depth = depth.checked_sub(1)?;
        let text = text.strip_prefix("kind=").unwrap_or(text);
        if let Some(value) = text.strip_prefix("kind(").and_then(|rest| rest.strip_suffix(')')) {
            let is_number = value.starts_with(|char: char| char.is_ascii_digit() || char == '.');
            let (_, literal) = number(value).filter(|_| is_number && !value.contains('_'))?;
            return Some(literal.kind);
        }
        let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
        if text.starts_with("selected_") {
            let is_known = |word: &str| {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                is_number || matches!(word, "selected_real_kind" | "selected_int_kind" | "p" | "r")
            };
            return words.all(is_known).then(|| Kind::Named(text.to_owned()));
        }
        let is_word = text.chars().all(|char| char.is_alphanumeric() || char == '_');
        if !is_word || text.is_empty() {
            return None;
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Kind::Named(text.to_owned()));
        }
        self.named(text, at, depth)
    }

    /// The kind that a constant stands for.
    fn named(&self, name: &str, at: u32, depth: usize) -> Option<Kind> {
        let symbol = self.symbols.lookup(name, at).map(|id| self.symbols.get(id));
        if let Some(symbol) = symbol {
            if let Some(decl) = symbol.decl.map(|decl| self.texts.unit.decl(decl)) {
                let init = decl.init.filter(|_| symbol.kind == SymbolKind::Constant)?;
                let span = self.texts.unit.expr(init).span;
                return self.of(&plain(&self.texts.code(span)), span.start, depth);
            }
            if let Some(home) = &symbol.home {
                return Some(Kind::Named(format!("{}@{home}", symbol.name)));
            }
            // It is the name of a macro.
            if symbol.kind == SymbolKind::Constant {
                return None;
            }
        }
        // The module that it comes from is not seen.
        let unit = self.texts.unit;
        let mut scope = unit.scope_at(at);
        while let Some(id) = scope {
            for used in &unit.scope(id).uses {
                let listed = used.names.iter().find(|(local, _)| local == name);
                if listed.is_some() || !used.only {
                    let original = listed.map_or(name, |(_, original)| original.as_str());
                    let is_intrinsic = matches!(used.module.as_str(), "iso_fortran_env" | "iso_c_binding");
                    let bytes = bytes(original).filter(|_| is_intrinsic || listed.is_none());
                    let other = || format!("{original}@{}", used.module);
                    let is_sure = listed.is_some() || bytes.is_some() || unit.scope(id).uses.len() == 1;
                    return is_sure.then(|| Kind::Named(bytes.map_or_else(other, str::to_owned)));
                }
            }
            scope = unit.scope(id).parent;
        }
        None
    }
}

/// The bytes of the kinds that Fortran's own modules name.
fn bytes(name: &str) -> Option<&'static str> {
    match name {
        "int32" | "real32" | "c_int" | "c_float" => Some("4"),
        "int64" | "real64" | "c_double" | "c_long_long" | "c_int64_t" => Some("8"),
        _ => None,
    }
}

/// The type of a number in small letters without blanks, and its kind as it is written.
pub(super) fn number(text: &str) -> Option<(Option<&str>, Number)> {
    let (value, kind) = text.split_once('_').map_or((text, None), |(value, kind)| (value, Some(kind)));
    if !value.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return None;
    }
    let word = if value.contains(['.', 'e', 'd']) { Word::Real } else { Word::Integer };
    let is_double = value.contains('d');
    Some((kind, Number::new(word, if is_double { Kind::Double } else { Kind::Default })))
}
