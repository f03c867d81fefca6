//! What code of C++ calls without a function's name: operators, conversions, constructors and destructors of the program's
//! classes, and what range-based loops over them call.
//!
//! Invariant: an operator that may be the program's is found; of operands that are plain numbers and pointers none is.

use std::collections::BTreeSet;

use super::hosts;
use crate::bind::Bound;
use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen, defines, functions};
use crate::cuda::types::spelling;
use crate::host::ir::{
    BinaryOp, Decl, DeclKind, Derived, ExprId, ExprKind, Function, Stmt, StmtKind, UnaryOp,
};
use crate::plan;
use crate::sema::{Class, SymbolKind};
use crate::source::Span;

/// The name of what runs when an object is called.
const CALL: &str = "operator()";

/// The names of the functions that the code in `span` of the source calls so.
pub fn implied(input: &Input, span: Span) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !input.unit().is_cpp() {
        return found;
    }
    found.extend(structors(input, &input.source, span));
    found.extend(structors_of(input, classes_of_privates(input, span)));
    found.extend(conversions(input, span));
    let known = operators(input);
    found.extend(iterators(input, &known, span));
    if known.is_empty() {
        return found;
    }
    found.extend(literals(input, &known, span));
    let unit = input.unit();
    if known.contains(CALL) && unit.exprs_in(span).any(|expr| calls_object(input, &expr.kind)) {
        found.insert(CALL.to_owned());
    }
    for expr in unit.exprs_in(span) {
        let Some((sign, operands)) = operation(&expr.kind) else { continue };
        let name = format!("operator{sign}");
        if known.contains(&name) && operands.into_iter().any(|one| may_be_object(input, one)) {
            found.insert(name);
        }
    }
    found
}

/// The names of all operators that the program has.
fn operators(input: &Input) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for seen in input.files() {
        let declared = seen.unit.decls_beginning("operator");
        let prototypes = declared.filter(|decl| decl.kind == DeclKind::Prototype).map(|decl| &decl.name);
        let names = prototypes.chain(seen.unit.functions_beginning("operator").map(|one| &one.name));
        found.extend(names.cloned());
    }
    found
}

/// The operators of the program's own literals, such as `3_k`, that code has, in macros as well.
fn literals(input: &Input, known: &BTreeSet<String>, span: Span) -> Vec<String> {
    let named = known.iter().filter_map(|name| Some((name, name.strip_prefix("operator\"\"")?)));
    let mut named = named.peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let texts = defines::reached(input, &input.file().text(span));
    named
        .filter(|(_, suffix)| texts.iter().any(|text| has_literal(text, suffix)))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Whether a text has a literal that ends in `suffix`.
fn has_literal(text: &str, suffix: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(suffix).any(|(at, _)| {
        let before = text[..at].trim_end_matches(|c| is_inner(c) || c == '.');
        let number = text[before.len()..at].trim_start_matches('.');
        let is_literal = match number.is_empty() {
            true => before.ends_with(['"', '\'']),
            false => number.starts_with(|c: char| c.is_ascii_digit()),
        };
        is_literal && !text[at + suffix.len()..].starts_with(is_inner)
    })
}

/// Whether an expression calls an object that is not a variable itself: `v[i](0)`, `(*p)(0)`, `a.part(0)`. Of what is called by
/// a variable's name, `callable` knows more.
fn calls_object(input: &Input, kind: &ExprKind) -> bool {
    let ExprKind::Call { callee, .. } = kind else { return false };
    let unit = input.unit();
    let called = unit.expr(*callee);
    match &called.kind {
        ExprKind::Name(_) => false,
        ExprKind::Member { name, .. } => {
            let mut parts = input.files().flat_map(|seen| seen.unit.decls_named(name));
            parts.any(|decl| decl.kind == DeclKind::Member) && is_objects_member(input, name, 0)
        }
        _ => !unit.lambdas.iter().any(|(lambda, _)| *lambda == called.span) && may_be_object(input, *callee),
    }
}

/// What range-based loops over objects of the program call.
fn iterators(input: &Input, known: &BTreeSet<String>, span: Span) -> BTreeSet<String> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    let is_defined = |name: &str| input.files().any(|seen| seen.unit.functions_named(name).next().is_some());
    let has_range =
        unit.stmts_in(span).any(|stmt| range(input, stmt).is_some_and(|at| may_be_object(input, at)));
    if has_range && is_defined("begin") {
        let names = ["begin", "end"].into_iter().filter(|name| is_defined(name));
        let signs = ["operator*", "operator++", "operator!=", "operator=="];
        found.extend(names.chain(signs.into_iter().filter(|name| known.contains(*name))).map(str::to_owned));
    }
    found
}

/// What a range-based loop runs over, if the statement is one.
fn range(input: &Input, stmt: &Stmt) -> Option<ExprId> {
    let unit = input.unit();
    let StmtKind::For { init: Some(init), cond: None, step: None, .. } = &stmt.kind else { return None };
    let StmtKind::Decl(decls) = &unit.stmt(*init).kind else { return None };
    let range = unit.decl(*decls.first()?).init?;
    let head = Span { start: stmt.span.start, end: unit.expr(range).span.start.max(stmt.span.start) };
    input.file().text(head).replace("::", "").contains(':').then_some(range)
}

/// The functions that convert objects of classes to other types, where the code has objects of them as values.
fn conversions(input: &Input, span: Span) -> BTreeSet<String> {
    let all = || {
        let functions = input.files().flat_map(|seen| seen.unit.functions_beginning("operator"));
        functions.filter(|one| is_conversion(&one.name))
    };
    if all().next().is_none() || !has_objects_as_values(input, span) {
        return BTreeSet::new();
    }
    let unit = input.unit();
    let mut named: Vec<String> = words(&input.source.code(span)).into_iter().map(str::to_owned).collect();
    for expr in unit.exprs_in(span) {
        let ExprKind::Name(name) = &expr.kind else { continue };
        let symbol = input.symbols.lookup(name, expr.span.start);
        let decl = symbol.and_then(|symbol| input.declaration(symbol)).map(|(_, decl)| decl);
        named.extend(decl.and_then(spelling::named).map(|class| functions::bare(class).to_owned()));
    }
    let known = classes(input, named);
    let is_of =
        |one: &&Function| one.member_of.as_deref().is_some_and(|of| known.contains(functions::bare(of)));
    all().filter(is_of).map(|one| one.name.clone()).collect()
}

/// Whether a function of this name is one that converts an object: `operator double() const`.
fn is_conversion(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("operator") else { return false };
    let is_spaced = rest.starts_with(|c: char| c.is_ascii_whitespace());
    let is_type = rest.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_spaced && is_type && rest.contains('(') && !rest.contains("::")
}

/// Whether code uses an object otherwise than for one of its members.
fn has_objects_as_values(input: &Input, span: Span) -> bool {
    let unit = input.unit();
    let heads: BTreeSet<ExprId> = unit
        .exprs_in(span)
        .filter_map(|expr| match &expr.kind {
            ExprKind::Member { base, arrow: false, .. } => Some(*base),
            ExprKind::Call { callee, .. } => Some(*callee),
            _ => None,
        })
        .collect();
    unit.expr_ids_in(span).filter(|id| !heads.contains(id)).any(|id| {
        let is_value = matches!(
            &unit.expr(id).kind,
            ExprKind::Name(_)
                | ExprKind::Call { .. }
                | ExprKind::Member { .. }
                | ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Cast { .. }
        );
        is_value && may_be_object(input, id)
    })
}

/// The constructors and destructors of the classes that code names, and of those of their members.
pub fn structors(input: &Input, seen: &Seen, span: Span) -> BTreeSet<String> {
    let text = seen.code(span);
    structors_of(input, words(&text).into_iter().map(str::to_owned).collect())
}

/// The classes of what directives in the code make private: each thread constructs its own.
fn classes_of_privates(input: &Input, span: Span) -> Vec<String> {
    let is_inside = |one: &&Bound| one.stmt().is_some_and(|stmt| span.contains(input.stmt_span(stmt)));
    let items = input.bound.iter().filter(is_inside).flat_map(plan::private);
    let symbols = items.filter_map(|item| input.symbols.lookup(item.variable(), item.span.start));
    let decls = symbols.filter_map(|symbol| input.declaration(symbol));
    decls.filter_map(|(_, decl)| spelling::named(decl).map(|name| functions::bare(name).to_owned())).collect()
}

/// The constructors and destructors of the classes among these names, and of those of their members.
fn structors_of(input: &Input, named: Vec<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for class in classes(input, named) {
        for seen in input.files() {
            let structors = seen.unit.functions_named(&class).chain(seen.unit.functions_beginning("~"));
            for function in structors.filter(|one| is_structor(one, &class)) {
                found.insert(function.name.clone());
            }
        }
    }
    found
}

/// The classes and other types among these names, and those of their bases and members.
fn classes(input: &Input, mut pending: Vec<String>) -> BTreeSet<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let files = || input.files();
    let names_type = |seen: Seen, word: &str| {
        seen.unit.records_named(word).next().is_some() || spelling::typedefs(&seen, word).next().is_some()
    };
    while let Some(word) = pending.pop() {
        if known.contains(&word) || !files().any(|seen| names_type(seen, &word)) {
            continue;
        }
        known.insert(word.clone());
        for seen in files() {
            for record in seen.unit.records_named(&word) {
                let members = record.members.iter().map(|id| seen.unit.decl(*id));
                pending.extend(members.filter_map(|decl| spelling::named(decl).map(str::to_owned)));
                pending.extend(record.bases.iter().map(|base| functions::bare(base).to_owned()));
            }
            for decl in spelling::typedefs(&seen, &word) {
                pending.extend(spelling::named(decl).map(str::to_owned));
            }
        }
    }
    known
}

/// Whether a function is a constructor of a class, or its destructor.
fn is_structor(function: &Function, class: &str) -> bool {
    function.name.trim_start_matches('~').trim() == class
        && function.member_of.as_deref().is_some_and(|of| functions::bare(of) == class)
}

/// The sign of an operation that a class may define, and its operands.
fn operation(kind: &ExprKind) -> Option<(&'static str, Vec<ExprId>)> {
    Some(match kind {
        ExprKind::Binary(op, left, right) => (sign(*op), vec![*left, *right]),
        ExprKind::Comma(left, right) => (",", vec![*left, *right]),
        ExprKind::AddressOf(operand) => ("&", vec![*operand]),
        ExprKind::Assign(None, left, _) => ("=", vec![*left]),
        ExprKind::Assign(Some(op), left, right) => (assigning(*op), vec![*left, *right]),
        ExprKind::Unary(op, operand) => {
            let sign = match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::Not => "!",
                UnaryOp::BitNot => "~",
            };
            (sign, vec![*operand])
        }
        ExprKind::Step { up, operand, .. } => (if *up { "++" } else { "--" }, vec![*operand]),
        ExprKind::Index(base, _) => ("[]", vec![*base]),
        ExprKind::Deref(operand) => ("*", vec![*operand]),
        ExprKind::Member { base, arrow: true, .. } => ("->", vec![*base]),
        _ => return None,
    })
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn assigning(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+=",
        BinaryOp::Subtract => "-=",
        BinaryOp::Multiply => "*=",
        BinaryOp::Divide => "/=",
        BinaryOp::Remainder => "%=",
        BinaryOp::ShiftLeft => "<<=",
        BinaryOp::ShiftRight => ">>=",
        BinaryOp::BitAnd => "&=",
        BinaryOp::BitOr => "|=",
        BinaryOp::BitXor => "^=",
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::And
        | BinaryOp::Or => "=",
    }
}

/// Whether the value of an expression may be an object of a class.
fn may_be_object(input: &Input, expr: ExprId) -> bool {
    let unit = input.unit();
    let mut pending = vec![(expr, 0)];
    while let Some((at, indices)) = pending.pop() {
        let is_object = match &unit.expr(at).kind {
            ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof | ExprKind::AddressOf(_) => false,
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                pending.push((*base, indices + 1));
                false
            }
            ExprKind::Unary(_, inner) | ExprKind::Step { operand: inner, .. } => {
                pending.push((*inner, indices));
                false
            }
            ExprKind::Binary(_, left, right) | ExprKind::Conditional(_, left, right) => {
                pending.extend([(*left, indices), (*right, indices)]);
                false
            }
            ExprKind::Name(name) => match input.symbols.lookup(name, unit.expr(at).span.start) {
                Some(symbol) => {
                    let known = input.symbols.get(symbol);
                    let found = input.declaration(symbol);
                    let is_enum = found.is_some_and(|(seen, decl)| is_of_enum(seen, decl));
                    let is_plain = known.class == Class::Scalar && !is_enum;
                    known.kind == SymbolKind::Constant
                        || !is_plain
                            && found.is_none_or(|(seen, decl)| holds_objects(input, seen, decl, indices))
                }
                None => true,
            },
            ExprKind::Member { name, .. } => is_objects_member(input, name, indices),
            ExprKind::Cast { to, .. } => words(to).iter().any(|word| names_class(input, word)),
            ExprKind::Call { callee, .. } => match &unit.expr(*callee).kind {
                ExprKind::Name(name) => returns_object(input, name),
                ExprKind::Member { name, .. } => returns_object(input, name),
                _ => true,
            },
            _ => true,
        };
        if is_object {
            return true;
        }
    }
    false
}

/// Whether a variable may be of an enumeration: its type has a name that is not another type's.
fn is_of_enum(seen: Seen, decl: &Decl) -> bool {
    spelling::named(decl).is_some_and(|name| spelling::typedefs(&seen, name).next().is_none())
}

/// Whether what so many indices lead to in a variable may be an object.
fn holds_objects(input: &Input, seen: Seen, decl: &Decl, indices: usize) -> bool {
    let shape = decl.derived.iter().filter(|part| **part != Derived::Reference).count();
    spelling::plain(input, seen, decl).is_none() && indices >= shape
}

/// Whether a member of this name may be an object, or lead to one.
fn is_objects_member(input: &Input, name: &str, indices: usize) -> bool {
    let mut is_seen = false;
    let all = input.files();
    for seen in all.filter(|seen| seen.unit.decls_named(name).next().is_some()) {
        let members = seen.unit.records.iter().flat_map(|record| &record.members);
        for decl in members.map(|id| seen.unit.decl(*id)).filter(|decl| decl.name == name) {
            is_seen = true;
            if holds_objects(input, seen, decl, indices) {
                return true;
            }
        }
    }
    !is_seen
}

/// Whether a call of a function may have an object as its result.
fn returns_object(input: &Input, name: &str) -> bool {
    let bare = functions::bare(name);
    let mut is_seen = hosts::STANDARD.split_whitespace().any(|known| known == bare);
    for seen in input.files() {
        for function in seen.unit.functions_named(bare) {
            is_seen = true;
            let head = Span { start: function.span.start, end: function.name_span.start };
            let head = seen.file.text(head);
            let all = words(&head);
            if all.iter().any(|word| ["auto", "template"].contains(word) || names_class(input, word)) {
                return true;
            }
        }
    }
    !is_seen || names_class(input, bare)
}

/// Whether a word is the name of a class, or of a type that may be one.
fn names_class(input: &Input, word: &str) -> bool {
    input.files().any(|seen| {
        seen.unit.records_named(word).next().is_some()
            || spelling::typedefs(&seen, word).any(|decl| spelling::plain(input, seen, decl).is_none())
    })
}
