//! Objects that their own operators and conversions change, where no assignment to them is written: `m(i) = 1`, `x = -b`.
//!
//! Invariant: an operator counts as one that changes its object unless its words say that it does not.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxHashSet;

use super::{Input, Seen};
use crate::cuda::code::text::words;
use crate::host::ir::{Decl, DeclKind, Derived, Expr, ExprId, ExprKind, Function, Record, StmtId};
use crate::sema::{self, SymbolId};
use crate::source::{Span, plain_name};

/// Classes of C++ by the way in which a use of their objects may change them.
#[derive(Clone, Debug, Default)]
pub struct Operators {
    /// A call of the object.
    call: FxHashSet<String>,
    /// A call of the object gives a part of it, and no more.
    leads: FxHashSet<String>,
    index: FxHashSet<String>,
    star: FxHashSet<String>,
    arrow: FxHashSet<String>,
    /// All other operators, and conversions.
    other: FxHashSet<String>,
    /// The `&` of an address may be one of the program's.
    takes_address: bool,
}

impl Operators {
    /// What the files at hand define.
    pub fn of(input: &Input) -> Operators {
        let mut found = Operators::default();
        if !input.unit().is_cpp() {
            return found;
        }
        let files: Vec<Seen> = input.files().collect();
        let holders = holders(&files);
        let has_mutable = files.iter().any(|seen| !seen.unit.mutable.is_empty());
        let changing = Changing { holders, has_mutable };
        for seen in &files {
            for function in &seen.unit.functions {
                found.take(seen, function, &changing);
            }
            for decl in seen.unit.decls.iter().filter(|decl| decl.kind == DeclKind::Prototype) {
                found.take_prototype(seen, decl, &files);
            }
        }
        let sets = [
            &mut found.call,
            &mut found.leads,
            &mut found.index,
            &mut found.star,
            &mut found.arrow,
            &mut found.other,
        ];
        sets.into_iter().for_each(|set| spread(&files, set));
        found
    }

    /// Whether the program says for some class what the `&` of an address does.
    pub fn takes_address(&self) -> bool {
        self.takes_address
    }

    fn is_empty(&self) -> bool {
        let Operators { call, leads, index, star, arrow, other, .. } = self;
        [call, leads, index, star, arrow, other].iter().all(|set| set.is_empty())
    }

    /// Takes in a function that is defined.
    fn take(&mut self, seen: &Seen, function: &Function, changing: &Changing) {
        let class = function.member_of.as_deref().map(plain_name);
        let is_begin = class == Some(function.name.as_str());
        let is_address =
            function.name == "operator&" && function.params.len() == usize::from(!is_own(seen, function));
        self.takes_address |= is_address;
        if !is_begin && !is_operator(&function.name) || changing.is_quiet(seen, function) {
            return self.take_access(seen, function, changing);
        }
        let is_member = is_own(seen, function);
        let is_assignment = is_begin || sema::is_assignment(sign(&function.name));
        if is_member && !is_assignment && changing.may(seen, function) {
            self.add(&function.name, class.unwrap_or_default());
        }
        // The left operand of an assignment is seen to change.
        let skipped = usize::from(is_assignment && !is_member);
        for id in function.params.iter().skip(skipped) {
            let decl = seen.unit.decl(*id);
            if let Some(class) = decl.type_name().filter(|_| is_changeable(seen, decl)) {
                self.other.insert(class.to_owned());
            }
        }
    }

    /// Takes in a call of an object that changes nothing by itself: what it gives may be a part of the object.
    fn take_access(&mut self, seen: &Seen, function: &Function, changing: &Changing) {
        let Some(class) = function.member_of.as_deref().map(plain_name) else { return };
        let gives_part = function.returns.contains(['&', '*']) || function.returns.is_empty();
        if is_operator(&function.name) && gives_part && changing.may(seen, function) {
            match sign(&function.name) {
                "()" => self.leads.insert(class.to_owned()),
                "[]" | "*" | "->" => false,
                _ => self.other.insert(class.to_owned()),
            };
        }
    }

    /// Takes in a function of a class that is declared there and defined nowhere at hand.
    fn take_prototype(&mut self, seen: &Seen, decl: &Decl, files: &[Seen]) {
        let is_defined = || files.iter().any(|seen| seen.unit.functions_named(&decl.name).next().is_some());
        self.takes_address |= decl.name == "operator&";
        if !is_operator(&decl.name) || sema::is_assignment(sign(&decl.name)) || is_defined() {
            return;
        }
        let tail = seen.file.text(Span { start: decl.name_span.end, end: decl.span.end });
        let is_const = words(tail.rsplit(')').next().unwrap_or_default()).contains(&"const");
        let record = seen.unit.records.iter().rev().find(|record| record.span.contains(decl.span));
        if let Some(tag) = record.and_then(|record| record.tag.as_deref()).filter(|_| !is_const) {
            self.add(&decl.name, tag);
        }
    }

    /// An operator of a class changes its object.
    fn add(&mut self, name: &str, class: &str) {
        let set = match sign(name) {
            "()" => &mut self.call,
            "[]" => &mut self.index,
            "*" => {
                // As a prefix or between two operands.
                self.other.insert(class.to_owned());
                &mut self.star
            }
            "->" => &mut self.arrow,
            _ => &mut self.other,
        };
        set.insert(class.to_owned());
    }
}

/// What decides whether an operator may change its object.
struct Changing {
    /// The classes with operators that are not `const`.
    holders: FxHashSet<String>,
    /// Some member of a class is `mutable`.
    has_mutable: bool,
}

impl Changing {
    /// Whether a member function may change its object, as far as its head says.
    fn may(&self, seen: &Seen, function: &Function) -> bool {
        self.has_mutable || !is_const(seen, function)
    }

    /// Whether a function changes nothing by itself.
    fn is_quiet(&self, seen: &Seen, function: &Function) -> bool {
        let unit = seen.unit;
        let class = function.member_of.as_deref().map(plain_name).unwrap_or_default();
        let holds = |record: &Record| {
            let members = record.members.iter().filter_map(|id| unit.decl(*id).type_name());
            members
                .chain(record.bases.iter().map(|base| plain_name(base)))
                .any(|name| name != class && self.holders.contains(name))
        };
        let takes = |id| unit.decl(id).type_name().is_some_and(|name| self.holders.contains(name));
        let is_plain = |expr: &Expr| match &expr.kind {
            ExprKind::Call { callee, .. } => {
                matches!(&unit.expr(*callee).kind, ExprKind::Name(name) if sema::is_mathematical(name))
            }
            ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::AddressOf(_)
            | ExprKind::Initialiser(_)
            | ExprKind::Opaque(_) => false,
            _ => true,
        };
        !self.has_mutable
            && !function.has_error
            && !unit.records_named(class).any(holds)
            && !function.params.iter().any(|id| takes(*id))
            && unit.exprs_in(unit.stmt(function.body).span).all(is_plain)
            && unit.decls_with_names_in(unit.stmt(function.body).span).next().is_none()
    }
}

/// The classes with operators that are not `const`.
fn holders(files: &[Seen]) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for seen in files {
        for function in seen.unit.functions.iter().filter(|function| is_operator(&function.name)) {
            let class = function.member_of.as_deref().map(plain_name);
            found.extend(class.filter(|_| !is_const(seen, function)).map(str::to_owned));
        }
    }
    spread(files, &mut found);
    found
}

/// What a class has, those that derive from it have, too.
fn spread(files: &[Seen], set: &mut FxHashSet<String>) {
    let records = || files.iter().flat_map(|seen| &seen.unit.records);
    loop {
        let derives = |record: &&Record| record.bases.iter().any(|base| set.contains(plain_name(base)));
        let tags = records().filter(derives).filter_map(|record| record.tag.clone());
        let more: Vec<String> = tags.filter(|tag| !set.contains(tag)).collect();
        if more.is_empty() {
            return;
        }
        set.extend(more);
    }
}

/// Whether a function is a member of a class, and no friend.
fn is_own(seen: &Seen, function: &Function) -> bool {
    let head = seen.file.text(Span { start: function.span.start, end: function.name_span.start });
    let before = seen.file.slice(Span { start: 0, end: function.span.start }).trim_ascii_end();
    let is_friend = words(&head).contains(&"friend") || before.ends_with(b"friend");
    function.member_of.is_some() && !is_friend
}

/// Whether a member function says `const` after its parameters.
fn is_const(seen: &Seen, function: &Function) -> bool {
    let head = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
    let head = seen.file.text(head);
    words(head.rsplit(')').next().unwrap_or_default()).contains(&"const")
}

/// Whether code may change an object by a reference.
fn is_changeable(seen: &Seen, decl: &Decl) -> bool {
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    decl.derived.first() == Some(&Derived::Reference) && !words(&head).contains(&"const")
}

/// Whether a name is that of an operator or a conversion.
fn is_operator(name: &str) -> bool {
    sema::operator_sign(name).is_some_and(|sign| !matches!(sign, "new" | "delete"))
}

/// What stands after `operator`.
fn sign(name: &str) -> &str {
    sema::operator_sign(name).unwrap_or_default()
}

/// The variables of which a use in a statement runs an operator or a conversion that may change them.
pub fn changed(input: &Input, stmt: StmtId) -> BTreeSet<SymbolId> {
    let Some(operators) = input.effects.map(|effects| &effects.operators).filter(|known| !known.is_empty())
    else {
        return BTreeSet::new();
    };
    let unit = input.unit();
    let mut parents: HashMap<ExprId, ExprId> = HashMap::new();
    for id in unit.expr_ids_in(input.stmt_span(stmt)) {
        for child in unit.expr(id).kind.children() {
            parents.insert(child, id);
        }
    }
    let sites = Sites { input, stmt, operators, parents };
    let names = unit.expr_ids_in(input.stmt_span(stmt)).filter_map(|id| {
        let ExprKind::Name(_) = unit.expr(id).kind else { return None };
        Some((id, input.symbols.named(unit, id)?))
    });
    names.filter(|(id, symbol)| sites.changes(*id, *symbol)).map(|(_, symbol)| symbol).collect()
}

/// The expressions of a statement, and what they stand in.
struct Sites<'a, 'b> {
    input: &'b Input<'a>,
    stmt: StmtId,
    operators: &'b Operators,
    parents: HashMap<ExprId, ExprId>,
}

impl Sites<'_, '_> {
    /// Whether what is done with a name may change its object, or what that holds.
    fn changes(&self, name: ExprId, symbol: SymbolId) -> bool {
        let unit = self.input.unit();
        let Operators { call, leads, index, star, arrow, other, .. } = self.operators;
        let is_unknown = self.is_unknown(symbol);
        let is_of = |expr: ExprId, set: &FxHashSet<String>| {
            !set.is_empty() && (is_unknown || self.input.symbols.levels_of(unit, expr, set) == Some(0))
        };
        let mut at = name;
        loop {
            let parent = self.parents.get(&at).copied();
            let set = match parent.map(|id| &unit.expr(id).kind) {
                Some(ExprKind::Member { arrow: false, .. }) => None,
                Some(ExprKind::Member { .. }) => Some(arrow),
                Some(ExprKind::Index(base, _)) if *base == at => Some(index),
                Some(ExprKind::Deref(_)) => Some(star),
                Some(ExprKind::Call { callee, .. }) if *callee == at => {
                    // What a member function does is seen elsewhere.
                    let is_call = !matches!(unit.expr(at).kind, ExprKind::Member { .. });
                    let parent = parent.unwrap_or(at);
                    return is_call && (is_of(at, call) || is_of(at, leads) && !self.is_value(parent));
                }
                _ => return is_of(at, other),
            };
            if set.is_some_and(|set| is_of(at, set)) {
                return true;
            }
            let Some(parent) = parent else { return false };
            at = parent;
        }
    }

    /// Whether nothing says of what type a variable is.
    fn is_unknown(&self, symbol: SymbolId) -> bool {
        let input = self.input;
        input.symbols.type_of(symbol).is_none_or(|known| {
            let has_record = |seen: Seen| seen.unit.records_named(&known.base).next().is_some();
            known.element.is_none() && !known.base.contains("::") && !input.files().any(has_record)
        })
    }

    /// Whether only the value of what a call of an object gives is used.
    fn is_value(&self, call: ExprId) -> bool {
        let unit = self.input.unit();
        match self.parents.get(&call).map(|id| &unit.expr(*id).kind) {
            Some(ExprKind::Binary(..) | ExprKind::Unary(..)) => self.operators.other.is_empty(),
            Some(ExprKind::Assign(_, _, right)) => *right == call,
            Some(ExprKind::Index(_, index)) => *index == call,
            None => {
                let mut decls = unit.decls_with_names_in(self.input.stmt_span(self.stmt));
                decls.any(|decl| {
                    decl.init == Some(call)
                        && !decl
                            .derived
                            .iter()
                            .any(|part| matches!(part, Derived::Reference | Derived::Pointer))
                })
            }
            _ => false,
        }
    }
}
