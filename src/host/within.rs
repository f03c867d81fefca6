//! What lies within some bytes of the source, or has a name, without a look at all that a unit holds.
//!
//! Invariant: a query finds what was added after the query before it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::source::{Named, Span};

use super::anonymous::Anonymous;
use super::ir::{
    BaseType, Decl, DeclId, DeclKind, Expr, ExprId, Function, Record, RecordId, Stmt, StmtId, StmtKind, Unit,
};

/// Nodes by where they begin: the offset, and the number of the node.
#[derive(Clone, Debug, Default)]
pub struct Places(OnceLock<Vec<(u32, u32)>>);

impl Places {
    /// The numbers of the nodes in `span`, in their order, of `count` nodes each of which has a place.
    fn within(&self, span: Span, count: usize, place: impl Fn(usize) -> Span) -> Vec<u32> {
        let known = self.0.get_or_init(|| {
            let mut all: Vec<(u32, u32)> = (0..count).map(|at| (place(at).start, at as u32)).collect();
            all.sort();
            all
        });
        let first = known.partition_point(|(start, _)| *start < span.start);
        // A node without bytes may begin where the span ends.
        let begun = known.iter().skip(first).take_while(|(start, _)| *start <= span.end);
        let later = known.len() as u32..count as u32;
        let all = begun.map(|(_, at)| *at).chain(later);
        let mut found: Vec<u32> = all.filter(|at| span.contains(place(*at as usize))).collect();
        // What stands together was read together: mostly, all numbers from the first to the last are there.
        match (found.iter().min().copied(), found.iter().max().copied()) {
            (Some(first), Some(last)) if (last - first) as usize + 1 == found.len() => {
                (first..=last).collect()
            }
            _ => {
                found.sort_unstable();
                found
            }
        }
    }
}

/// A class and those that it comes from, as far as these units show them.
pub fn with_bases<'u>(units: &[&'u Unit], class: &'u str) -> BTreeSet<&'u str> {
    let mut found = BTreeSet::new();
    let mut pending = vec![class];
    while let Some(class) = pending.pop() {
        if found.insert(class) {
            let records = units.iter().flat_map(|unit| unit.records_named(class));
            pending.extend(records.flat_map(|record| record.bases.iter().map(String::as_str)));
        }
    }
    found
}

impl Unit {
    /// The expressions within some bytes, by their numbers.
    pub fn expr_ids_in(&self, span: Span) -> impl DoubleEndedIterator<Item = ExprId> + use<> {
        let found = self.expr_places.within(span, self.exprs.len(), |at| self.exprs[at].span);
        found.into_iter().map(ExprId)
    }

    /// The expressions within some bytes, in the order of their numbers.
    pub fn exprs_in(&self, span: Span) -> impl DoubleEndedIterator<Item = &Expr> {
        self.expr_ids_in(span).map(|id| self.expr(id))
    }

    /// The statements within some bytes, by their numbers.
    pub fn stmt_ids_in(&self, span: Span) -> impl DoubleEndedIterator<Item = StmtId> + use<> {
        let found = self.stmt_places.within(span, self.stmts.len(), |at| self.stmts[at].span);
        found.into_iter().map(StmtId)
    }

    /// The statements within some bytes, in the order of their numbers.
    pub fn stmts_in(&self, span: Span) -> impl DoubleEndedIterator<Item = &Stmt> {
        self.stmt_ids_in(span).map(|id| self.stmt(id))
    }

    /// Whether a loop of Fortran ends with a statement, which its label says.
    pub fn ends_loop(&self, stmt: Span) -> bool {
        let is_loop = |kind: &StmtKind| matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
        let is_around = |span: Span| span.start < stmt.start && span.end == stmt.end;
        self.stmts.iter().any(|other| is_loop(&other.kind) && is_around(other.span))
    }

    /// The declarations within some bytes, in the order of their numbers.
    pub fn decls_in(&self, span: Span) -> impl DoubleEndedIterator<Item = &Decl> {
        let found = self.decl_places.within(span, self.decls.len(), |at| self.decls[at].span);
        found.into_iter().map(|at| self.decl(DeclId(at)))
    }

    /// The declarations whose names stand within some bytes, in the order of their numbers.
    pub fn decls_with_names_in(&self, span: Span) -> impl DoubleEndedIterator<Item = &Decl> {
        let found = self.decl_name_places.within(span, self.decls.len(), |at| self.decls[at].name_span);
        found.into_iter().map(|at| self.decl(DeclId(at)))
    }

    /// The declarations of a name, in the order of their numbers.
    pub fn decls_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Decl> + use<'_> {
        let found = self.decl_names.of(name, self.decls.len(), |at| Some(&self.decls[at].name));
        found.into_iter().map(|at| &self.decls[at])
    }

    /// The definitions of a type name, in the order of their numbers.
    pub fn typedefs_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Decl> + use<'_> {
        self.decls_of(&self.typedef_names, DeclKind::Typedef, name)
    }

    /// The enumerators of a name, in the order of their numbers.
    pub fn enumerators_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Decl> + use<'_> {
        self.decls_of(&self.enumerator_names, DeclKind::Enumerator, name)
    }

    /// The declarations of a kind and a name; `names` are those of that kind.
    fn decls_of(
        &self,
        names: &Named,
        kind: DeclKind,
        name: &str,
    ) -> impl DoubleEndedIterator<Item = &Decl> + use<'_> {
        let name_of = |at: usize| {
            let decl = &self.decls[at];
            (decl.kind == kind).then_some(decl.name.as_str())
        };
        names.of(name, self.decls.len(), name_of).into_iter().map(|at| &self.decls[at])
    }

    /// The numbers of the functions of a name.
    pub fn function_places(&self, name: &str) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let name_of = |at: usize| Some(self.functions[at].name.as_str());
        self.function_names.of(name, self.functions.len(), name_of).into_iter()
    }

    /// The functions of a name, in source order.
    pub fn functions_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Function> + use<'_> {
        self.function_places(name).map(|at| &self.functions[at])
    }

    /// The records with a tag, in the order of their numbers.
    pub fn records_named(&self, tag: &str) -> impl DoubleEndedIterator<Item = &Record> + use<'_> {
        let found = self.record_names.of(tag, self.records.len(), |at| self.records[at].tag.as_deref());
        found.into_iter().map(|at| &self.records[at])
    }

    /// The anonymous unions and structs in the class with these bytes, and in such records there.
    pub fn anonymous_in(&self, class: Span) -> impl Iterator<Item = RecordId> + use<'_> {
        self.anonymous().inside(class).iter().copied().map(RecordId)
    }

    /// The anonymous unions and structs in no record: functions and files have them.
    pub fn anonymous_apart(&self) -> impl Iterator<Item = RecordId> + use<'_> {
        self.anonymous().apart().iter().copied().map(RecordId)
    }

    fn anonymous(&self) -> &Anonymous {
        self.anonymous.get_or_init(|| {
            if self.records.iter().all(|record| record.tag.is_some()) {
                return Anonymous::default();
            }
            // Before a semicolon the grammar may see an empty name.
            let declaring = self.decls.iter().filter(|decl| !decl.name.is_empty());
            let declared: BTreeSet<RecordId> = declaring
                .filter_map(|decl| match decl.base {
                    BaseType::Record(id) => Some(id),
                    _ => None,
                })
                .collect();
            let places: Vec<Span> = self.records.iter().map(|record| record.span).collect();
            Anonymous::of(&places, |at| {
                self.records[at].tag.is_none() && !declared.contains(&RecordId(at as u32))
            })
        })
    }

    /// The functions whose names begin so.
    pub fn functions_beginning(&self, lead: &str) -> impl Iterator<Item = &Function> + use<'_> {
        let name_of = |at: usize| Some(self.functions[at].name.as_str());
        let found = self.function_names.beginning(lead, self.functions.len(), name_of);
        found.into_iter().map(|at| &self.functions[at])
    }

    /// The innermost block that holds some bytes.
    pub fn block_around(&self, span: Span) -> Option<StmtId> {
        let is_block = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Block(_)) && stmt.span.contains(span);
        let blocks = self.stmts.iter().enumerate().filter(|(_, stmt)| is_block(stmt));
        blocks.min_by_key(|(_, stmt)| stmt.span.len()).map(|(at, _)| StmtId(at as u32))
    }

    /// The outermost function that holds some bytes.
    pub fn function_around(&self, span: Span) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.span.start <= span.start);
        self.functions[..after].last().filter(|function| function.span.contains(span))
    }

    /// The declarations whose names begin so.
    pub fn decls_beginning(&self, lead: &str) -> impl Iterator<Item = &Decl> + use<'_> {
        let name_of = |at: usize| Some(self.decls[at].name.as_str());
        let found = self.decl_names.beginning(lead, self.decls.len(), name_of);
        found.into_iter().map(|at| &self.decls[at])
    }
}

#[cfg(test)]
mod tests;
