//! Where code gives what a variable leads to another name, or follows pointers in objects: what is read and changed there is not
//! seen by the variable's name.
//!
//! Invariant: a use that is not understood gives the variable away.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{BaseType, BinaryOp, Decl, Derived, ExprId, ExprKind, StmtId, UnaryOp, Unit};
use crate::sema::{SymbolId, Symbols};

/// Records in records are followed no further than this.
const DEPTH: usize = 4;

/// What some code does with the places that variables lead to.
#[derive(Debug, Default)]
pub(super) struct Escape {
    /// How often a variable is named, and how often of these for an element or a member, in a comparison or as an argument.
    named: FxHashMap<SymbolId, (usize, usize)>,
    /// The variables of which an address is taken.
    addressed: FxHashSet<SymbolId>,
    /// The variables in which a pointer is followed.
    followed: FxHashSet<SymbolId>,
}

impl Escape {
    /// What code does with the places that variables lead to. In Fortran a pointer gets its target by an assignment alone,
    /// which data flow tells.
    pub(super) fn of(unit: &Unit, symbols: &Symbols, body: StmtId) -> Escape {
        let (code, mut found) = (Code { unit, symbols }, Escape::default());
        for id in unit.expr_ids_in(unit.stmt(body).span) {
            match unit.is_fortran() {
                true => code.followed_in_fortran(id, &mut found),
                false => code.given_away(id, &mut found),
            }
        }
        found
    }

    /// Whether the code may give what a variable leads to another name: it does more with it than to name its elements and its
    /// members, to compare it, and to pass it on.
    pub(super) fn is_given_away(&self, symbol: SymbolId) -> bool {
        let (named, plain) = self.named.get(&symbol).copied().unwrap_or_default();
        self.addressed.contains(&symbol) || plain != named
    }

    /// Whether the code follows a pointer that is a member of an object.
    pub(super) fn is_followed(&self, symbol: SymbolId) -> bool {
        self.followed.contains(&symbol)
    }

    /// Whether the code names a variable.
    pub(super) fn is_named(&self, symbol: SymbolId) -> bool {
        self.named.get(&symbol).is_some_and(|(named, _)| *named > 0)
    }
}

/// The code of a file and its names.
struct Code<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
}

impl Code<'_> {
    fn followed_in_fortran(&self, id: ExprId, found: &mut Escape) {
        if let ExprKind::Member { name, .. } = &self.unit.expr(id).kind
            && is_pointer_member(self.unit, name)
        {
            found.followed.extend(self.variable_of(id));
        }
    }

    fn given_away(&self, id: ExprId, found: &mut Escape) {
        let named = |expr: ExprId| self.symbols.named(self.unit, expr);
        let mut plain = |expr: ExprId| {
            if let Some(symbol) = named(expr) {
                found.named.entry(symbol).or_default().1 += 1;
            }
        };
        match &self.unit.expr(id).kind {
            ExprKind::Deref(base) | ExprKind::Index(base, _) | ExprKind::Member { base, .. } => plain(*base),
            ExprKind::Binary(op, left, right) if compares(*op) => {
                plain(*left);
                plain(*right);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => plain(*operand),
            ExprKind::Call { callee, args } if matches!(self.unit.expr(*callee).kind, ExprKind::Name(_)) => {
                args.iter().for_each(|arg| plain(*arg));
            }
            ExprKind::AddressOf(operand) => found.addressed.extend(self.variable_of(*operand)),
            _ => {}
        }
        if let Some(symbol) = named(id) {
            found.named.entry(symbol).or_default().0 += 1;
        }
        let (ExprKind::Deref(base) | ExprKind::Index(base, _) | ExprKind::Member { base, arrow: true, .. }) =
            &self.unit.expr(id).kind
        else {
            return;
        };
        if let ExprKind::Member { name, .. } = &self.unit.expr(*base).kind
            && !is_array_member(self.unit, name)
        {
            found.followed.extend(self.variable_of(*base));
        }
    }

    /// The variable that an element or a member is a part of.
    fn variable_of(&self, expr: ExprId) -> Option<SymbolId> {
        let mut at = expr;
        loop {
            match &self.unit.expr(at).kind {
                ExprKind::Deref(base) | ExprKind::Index(base, _) | ExprKind::Member { base, .. } => {
                    at = *base
                }
                _ => return self.symbols.named(self.unit, at),
            }
        }
    }
}

/// Whether a parameter leads to other memory than its own: it is an array of pointers, or in C++ an object with pointers, whose
/// operators and conversions may follow them.
pub(super) fn leads_on(unit: &Unit, decl: &Decl) -> bool {
    let pointers = decl.derived.iter().filter(|part| matches!(part, Derived::Pointer)).count();
    let is_of_pointers =
        pointers > 1 || pointers == 1 && matches!(decl.derived.first(), Some(Derived::Array(_)));
    !unit.is_fortran() && (is_of_pointers || unit.is_cpp() && holds_pointers(unit, &decl.base, 0))
}

/// Whether a type is one of objects that hold pointers.
fn holds_pointers(unit: &Unit, base: &BaseType, depth: usize) -> bool {
    let tag = match base {
        BaseType::Named(name) | BaseType::Tagged(name) => name.rsplit("::").next().unwrap_or(name),
        _ => return false,
    };
    let tag = tag.split('<').next().unwrap_or(tag).trim();
    let mut records = unit.records.iter().filter(|record| record.tag.as_deref() == Some(tag));
    records.any(|record| {
        let mut members = record.members.iter().map(|id| unit.decl(*id));
        depth > DEPTH
            || !record.bases.is_empty()
            || members.any(|member| {
                member.derived.iter().any(|part| matches!(part, Derived::Pointer | Derived::Reference))
                    || holds_pointers(unit, &member.base, depth + 1)
            })
    })
}

/// All members of records.
fn members(unit: &Unit) -> impl Iterator<Item = &Decl> {
    unit.records.iter().flat_map(|record| &record.members).map(|id| unit.decl(*id))
}

/// Whether every member of this name is an array.
pub(super) fn is_array_member(unit: &Unit, name: &str) -> bool {
    let is_array = |decl: &Decl| matches!(decl.derived.first(), Some(Derived::Array(_)));
    let mut named = members(unit).filter(|decl| decl.name == name).peekable();
    named.peek().is_some() && named.all(is_array)
}

/// Whether a component of this name may be a pointer, or belongs to a type that is not seen.
fn is_pointer_member(unit: &Unit, name: &str) -> bool {
    let mut named = members(unit).filter(|decl| decl.name.eq_ignore_ascii_case(name)).peekable();
    named.peek().is_none() || named.any(|decl| decl.fortran.pointer)
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
    matches!(op, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
}
