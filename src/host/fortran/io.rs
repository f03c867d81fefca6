//! Statements that move data in and out, or allocate it.
//!
//! Invariant: what such a statement may change is in an `Opaque`, what it only reads in an `Initialiser`.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Reader, Word, span};

impl<'t> Reader<'_, 't> {
    /// `read`, `write`, `open` and the like; a label in it is a jump that it may do.
    pub(super) fn transfer(&mut self, node: Node<'t>, whole: Span) -> StmtKind {
        let is_output = matches!(node.word(), "write_statement" | "print_statement");
        let (mut reads, mut changes, mut jumps) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(group) = self.group(node) {
            let list = if is_output { &mut reads } else { &mut changes };
            self.members(group, list);
        }
        for part in self.named(node) {
            match part.word() {
                "unit_identifier" | "format_identifier" => {
                    let is_unit = part.word() == "unit_identifier";
                    for value in self.named(part) {
                        let value = self.expr(value);
                        let is_file = is_unit && is_output && !self.is_integer(value);
                        let list = if is_file { &mut changes } else { &mut reads };
                        list.push(value);
                    }
                }
                "keyword_argument" => match self.branch(part) {
                    Some(label) => jumps.push((span(part), label)),
                    None => {
                        let reads_only = is_output || node.word() == "read_statement";
                        self.specifier(part, reads_only, &mut reads, &mut changes);
                    }
                },
                "output_item_list" if is_output => {
                    let items = self.named(part);
                    reads.extend(self.exprs(items));
                }
                "input_item_list" | "output_item_list" => self.input_items(part, &mut changes),
                _ => changes.push(self.expr(part)),
            }
        }
        let kind = if changes.is_empty() {
            StmtKind::Expr(self.push_expr(whole, ExprKind::Initialiser(reads)))
        } else if reads.is_empty() {
            StmtKind::Opaque(changes)
        } else {
            reads.push(self.push_expr(whole, ExprKind::Opaque(changes)));
            StmtKind::Expr(self.push_expr(whole, ExprKind::Initialiser(reads)))
        };
        if jumps.is_empty() {
            return kind;
        }
        let first = self.push_stmt(whole, kind);
        self.with_jumps(first, jumps)
    }

    /// The name of the namelist group that a statement transfers: that of `nml=`, or one instead of a format. If no group of
    /// that name is seen, it must be a name without a declaration, and there must be no items.
    fn group(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        let parts = self.named(node);
        let has_items = parts.iter().any(|part| part.word().ends_with("put_item_list"));
        for part in parts {
            match (part.word(), &self.named(part)[..]) {
                ("keyword_argument", [name, .., value]) if self.name(*name) == "nml" => return Some(*value),
                ("format_identifier", [value]) if value.word() == "identifier" && !has_items => {
                    let name = self.name(*value);
                    let known = self.scope.and_then(|scope| self.in_scopes(scope, &name));
                    return known.is_none().then_some(*value);
                }
                _ => {}
            }
        }
        None
    }

    /// The variables of a namelist group; for one of another scoping unit, where they may have other names, a call that may
    /// do anything with them, too.
    fn members(&mut self, group: Node<'t>, list: &mut Vec<ExprId>) {
        let (name, whole) = (self.name(group), span(group));
        let mut at = self.scope;
        let mut names = Vec::new();
        while let (Some(scope), true) = (at, names.is_empty()) {
            let scope = self.unit.scope(scope);
            let own = scope.namelists.iter().filter(|(group, _)| *group == name);
            names = own.flat_map(|(_, names)| names.clone()).collect();
            at = scope.parent;
        }
        let is_own = self
            .scope
            .is_some_and(|scope| self.unit.scope(scope).namelists.iter().any(|(group, _)| *group == name));
        if !is_own {
            let callee = self.push_expr(whole, ExprKind::Name(name));
            list.push(self.push_expr(whole, ExprKind::Call { callee, args: Vec::new() }));
        }
        for name in names {
            list.push(self.push_expr(whole, ExprKind::Name(name)));
        }
    }

    /// `name=value` in the parentheses of an I/O statement.
    fn specifier(
        &mut self,
        node: Node<'t>,
        reads_only: bool,
        reads: &mut Vec<ExprId>,
        changes: &mut Vec<ExprId>,
    ) {
        let [name, .., value] = self.named(node)[..] else { return };
        let name = self.name(name);
        let value = self.expr(value);
        let is_result = matches!(name.as_str(), "iostat" | "iomsg" | "size" | "id" | "nml");
        let list = if is_result || !reads_only { changes } else { reads };
        list.push(value);
    }

    /// What a `read` changes: the items, and those in implied `do` lists.
    fn input_items(&mut self, list: Node<'t>, changes: &mut Vec<ExprId>) {
        let mut pending = self.named(list);
        pending.reverse();
        while let Some(item) = pending.pop() {
            if item.word() == "implied_do_loop_expression" {
                pending.extend(self.implied_do(item).into_iter().rev());
            } else {
                changes.push(self.expr(item));
            }
        }
    }

    /// Whether the expression is surely no internal file: a number, or a variable declared as an integer.
    fn is_integer(&self, value: ExprId) -> bool {
        match &self.unit.expr(value).kind {
            ExprKind::Int(_) | ExprKind::Literal | ExprKind::Binary(..) => true,
            ExprKind::Name(name) => match self.scope.and_then(|scope| self.in_scopes(scope, name)) {
                Some(decl) => self.unit.decl(decl).base == BaseType::Builtin("integer".to_owned()),
                None => is_known_unit(name),
            },
            _ => false,
        }
    }

    fn in_scopes(&self, scope: ScopeId, name: &str) -> Option<DeclId> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            let scope = self.unit.scope(scope);
            let found = scope.decls.iter().find(|decl| self.unit.decl(**decl).name == name);
            if found.is_some() {
                return found.copied();
            }
            at = scope.parent;
        }
        None
    }

    /// `allocate` and `deallocate`
    pub(super) fn allocation(&mut self, node: Node<'t>, whole: Span) -> StmtId {
        let (mut objects, mut others) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        let (mut is_type, mut copies) = (false, false);
        for part in self.children(node).into_iter().rev() {
            // What stands before `::` is a type.
            is_type |= part.word() == "::";
            if part.is_named() && !is_type {
                parts.push(part);
            }
        }
        for part in parts.into_iter().rev() {
            match part.word() {
                "keyword_argument" => {
                    let inside = self.named(part);
                    copies |= inside.first().is_some_and(|name| self.name(*name) == "source");
                    if let Some(value) = inside.last() {
                        others.push(self.expr(*value));
                    }
                }
                "coarray_allocation" => {
                    if let Some(inner) = self.named(part).first() {
                        objects.push(self.expr(*inner));
                    }
                }
                _ => objects.push(self.expr(part)),
            }
        }
        let all = objects.iter().copied().chain(others).collect();
        let stmt = self.push_stmt(whole, StmtKind::Opaque(all));
        let frees = node.word() == "deallocate_statement";
        self.unit.allocations.push(Allocation { stmt, frees, copies, objects });
        stmt
    }
}

/// Whether a name that is not declared is that of a unit in `iso_fortran_env`.
fn is_known_unit(name: &str) -> bool {
    matches!(name, "output_unit" | "error_unit")
}
