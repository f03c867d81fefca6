//! Variables that a function lends to what is not followed: macros, statement functions, and what C++ may keep references in.
//!
//! Invariant: too many may be among them, never too few; their values may be read at any time.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::host::ir::{BaseType, Decl, ExprId, ExprKind, StmtId, Unit};
use crate::source::{self, Span};

use super::c_library;
use super::symbol::SymbolId;
use super::symbols::Symbols;
use super::type_names::is_standard_scalar;

/// The variables that the body of a function lends.
pub(super) fn lent(unit: &Unit, symbols: &Symbols, body: StmtId) -> Rc<BTreeSet<SymbolId>> {
    symbols.lent.or(body, || find(unit, symbols, unit.stmt(body).span))
}

fn find(unit: &Unit, symbols: &Symbols, span: Span) -> BTreeSet<SymbolId> {
    let mut lent = Lent { unit, symbols, found: BTreeSet::new() };
    for (place, name) in unit.unseen.names_in(span) {
        lent.found.extend(symbols.lookup(name, *place));
    }
    for id in unit.expr_ids_in(span) {
        match &unit.expr(id).kind {
            ExprKind::Call { callee, args } => lent.call(*callee, args),
            ExprKind::Cast { to, operand } if unit.is_cpp() && may_be_class(to) => lent.value(*operand),
            _ => {}
        }
    }
    if unit.is_cpp() {
        unit.decls_in(span).for_each(|decl| lent.object(decl));
    }
    lent.found
}

struct Lent<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    found: BTreeSet<SymbolId>,
}

impl Lent<'_> {
    fn call(&mut self, callee: ExprId, args: &[ExprId]) {
        let at = self.unit.expr(callee).span.start;
        let (name, is_member) = match &self.unit.expr(callee).kind {
            ExprKind::Name(name) => (name, false),
            ExprKind::Member { name, .. } => (name, true),
            _ => return,
        };
        if !is_member && self.symbols.is_called_macro(name) {
            return self.by_macro(name, at, args);
        }
        if self.unit.is_fortran() {
            return self.statement_function(callee);
        }
        if self.unit.is_cpp() && may_keep(self.symbols, name, is_member, at) {
            args.iter().for_each(|arg| self.value(*arg));
        }
    }

    /// What a macro names and is given, and the names that it puts together, unless it only computes with them.
    fn by_macro(&mut self, name: &str, at: u32, args: &[ExprId]) {
        let symbols = self.symbols;
        let reached = symbols.reached_macros(name);
        let computes = |name: &String| symbols.macro_body(name).is_some_and(is_plain_body);
        if !reached.iter().all(computes) {
            args.iter().for_each(|arg| self.value(*arg));
        } else if !self.unit.is_cpp() || !reached.iter().any(|name| self.keeps(name)) {
            return;
        }
        self.found.extend(symbols.named_by_macro(self.unit, name, at, args));
    }

    /// Whether a macro calls a function that may keep references.
    fn keeps(&self, name: &str) -> bool {
        let body = self.symbols.macro_body(name).unwrap_or_default();
        source::placed_names(body).any(|(at, word)| {
            let is_called = body[at + word.len()..].trim_start().starts_with('(');
            is_called && !self.symbols.names_macro(word) && !is_copying(word)
        })
    }

    /// What a statement function of Fortran names besides its dummy arguments.
    fn statement_function(&mut self, callee: ExprId) {
        let Some(symbol) = self.symbols.named(self.unit, callee) else { return };
        let decl = self.symbols.get(symbol).decl;
        let all = self.unit.statement_functions.iter();
        for one in all.filter(|one| Some(one.decl) == decl) {
            self.value(one.value);
        }
    }

    /// An object that may keep a reference to what it is made from.
    fn object(&mut self, decl: &Decl) {
        if let (Some(init), BaseType::Named(name)) = (decl.init, &decl.base)
            && may_be_class(name)
        {
            self.value(init);
        }
    }

    /// The names in a value.
    fn value(&mut self, value: ExprId) {
        let mut pending = vec![value];
        while let Some(id) = pending.pop() {
            self.found.extend(self.symbols.named(self.unit, id));
            pending.extend(self.unit.expr(id).kind.children());
        }
    }
}

/// Whether the body of a macro only computes: nothing in it assigns, takes an address, or is more than an expression.
fn is_plain_body(body: &str) -> bool {
    let mut rest = body.trim_start();
    let mut after_value = false;
    while let Some(first) = rest.chars().next() {
        let pairs = ["==", "!=", "<=", ">=", "&&", "||"];
        let length = match pairs.into_iter().find(|pair| rest.starts_with(pair)) {
            Some(pair) => pair.len(),
            None if first == '&' && !after_value => return false,
            None if matches!(first, '=' | ';' | '{' | '#')
                || rest.starts_with("++")
                || rest.starts_with("--") =>
            {
                return false;
            }
            None => first.len_utf8(),
        };
        after_value = first.is_alphanumeric() || matches!(first, '_' | ')' | ']');
        rest = rest[length..].trim_start();
    }
    true
}

/// Functions of C++'s library that keep references to their arguments.
const KEEPING: [&str; 8] =
    ["cref", "forward_as_tuple", "make_shared", "make_unique", "ref", "tie", "bind", "addressof"];

/// Functions and member functions of the library that keep copies, or nothing.
const COPYING: [&str; 61] = [
    "accumulate",
    "append",
    "assign",
    "at",
    "atof",
    "atoi",
    "calloc",
    "clamp",
    "copy",
    "copy_n",
    "count",
    "erase",
    "exit",
    "fabs",
    "fill",
    "fill_n",
    "find",
    "fprintf",
    "free",
    "generate",
    "get",
    "insert",
    "iota",
    "isfinite",
    "isnan",
    "labs",
    "llabs",
    "malloc",
    "max",
    "memcpy",
    "memmove",
    "memset",
    "min",
    "now",
    "precision",
    "printf",
    "push_back",
    "put",
    "putchar",
    "puts",
    "qsort",
    "rand",
    "realloc",
    "reserve",
    "resize",
    "setfill",
    "setprecision",
    "setw",
    "snprintf",
    "sprintf",
    "srand",
    "str",
    "strcmp",
    "strlen",
    "strtod",
    "strtol",
    "substr",
    "to_string",
    "transform",
    "width",
    "write",
];

/// A name without what it is qualified with, and without arguments of a template.
fn unqualified(name: &str) -> &str {
    let bare = source::plain_name(name);
    bare.rsplit_once("::").map_or(bare, |(_, last)| last)
}

/// Whether a function that the files do not show may keep references to its arguments.
fn may_keep(symbols: &Symbols, name: &str, is_member: bool, at: u32) -> bool {
    let is_template = name.contains('<');
    let bare = unqualified(name);
    if KEEPING.contains(&bare) {
        return true;
    }
    let is_shown = symbols.lookup(name, at).is_some() || symbols.by_reference.contains_key(bare);
    (is_member || is_template || name.contains("::")) && !is_shown && !is_copying(bare)
}

/// Whether a function of the libraries keeps copies of its arguments, or nothing.
fn is_copying(name: &str) -> bool {
    let of_float = name.strip_suffix('f').unwrap_or(name);
    let computes = |name| c_library::overloaded(name).is_some();
    computes(name) || computes(of_float) || COPYING.binary_search(&name).is_ok()
}

/// Whether a type may be a class that keeps references.
fn may_be_class(name: &str) -> bool {
    const COPYING: [&str; 12] = [
        "array",
        "complex",
        "deque",
        "dim3",
        "initializer_list",
        "list",
        "map",
        "ofstream",
        "set",
        "string",
        "valarray",
        "vector",
    ];
    let bare = unqualified(name);
    let is_class =
        |word: &str| !word.is_empty() && !is_standard_scalar(word) && COPYING.binary_search(&word).is_err();
    // Of the built-in types, each word is a keyword.
    const WORDS: [&str; 14] = [
        "auto",
        "bool",
        "char",
        "const",
        "constexpr",
        "double",
        "float",
        "int",
        "long",
        "short",
        "signed",
        "static",
        "unsigned",
        "void",
    ];
    let all_known = source::names(name).all(|word| WORDS.contains(&word));
    !all_known && is_class(bare) && (name.contains('<') || name.contains('&') || !name.contains('*'))
}

#[cfg(test)]
mod tests;
