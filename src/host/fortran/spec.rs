//! Specification statements: what they say of the scoping unit around and of its names.
//!
//! Invariant: knows every specification statement of the grammar; those that change nothing here are named all the same.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::decl::Said;
use super::{Reader, Word, span};

/// Whether a node of this kind stands in the specification part only.
pub(super) fn is_specification(kind: &str) -> bool {
    matches!(
        kind,
        "use_statement"
            | "implicit_statement"
            | "save_statement"
            | "import_statement"
            | "public_statement"
            | "private_statement"
            | "bind_statement"
            | "enum"
            | "enumeration_type"
            | "namelist_statement"
            | "common_statement"
            | "variable_declaration"
            | "variable_modification"
            | "parameter_statement"
            | "equivalence_statement"
            | "data_statement"
            | "cray_pointer_declaration"
            | "interface"
            | "derived_type_definition"
    )
}

impl<'t> Reader<'_, 't> {
    pub(super) fn specification(&mut self, node: Node<'t>) {
        match node.word() {
            "variable_declaration" => self.variable_declaration(node),
            "variable_modification" => self.variable_modification(node),
            "derived_type_definition" => self.derived_type(node),
            "interface" => self.interface(node),
            "use_statement" => self.use_statement(node),
            "private_statement" => self.access(node, false),
            "public_statement" => self.access(node, true),
            "implicit_statement" => self.implicit(node),
            "save_statement" => self.save(node),
            "common_statement" => self.common(node),
            "namelist_statement" => self.namelist(node),
            "parameter_statement" => self.parameters(node),
            "data_statement" => self.data(node),
            "equivalence_statement" => self.equivalence(node),
            "enum" | "enumeration_type" => self.enumeration(node),
            "cray_pointer_declaration" => self.cray_pointers(node),
            _ => {}
        }
    }

    /// `private` or `public`, with names or for all that no statement names.
    fn access(&mut self, node: Node<'t>, is_public: bool) {
        let names = self.named(node).into_iter().filter(|part| part.word() == "identifier");
        let names: Vec<(String, bool)> = names.map(|part| (self.name(part), is_public)).collect();
        let has_list = self.children(node).len() > 1;
        if let Some(scope) = self.scope_mut() {
            scope.is_private |= !has_list && !is_public;
            scope.access.extend(names);
        }
    }

    fn use_statement(&mut self, node: Node<'t>) {
        let mut found =
            ModuleUse { module: String::new(), span: self.trimmed(node), only: false, names: Vec::new() };
        for child in self.named(node) {
            match child.word() {
                "module_name" => found.module = self.name(child),
                "use_alias" => found.names.extend(self.alias(child)),
                "included_items" => {
                    found.only = true;
                    for item in self.named(child) {
                        match item.word() {
                            "use_alias" => found.names.extend(self.alias(item)),
                            "identifier" => found.names.push((self.name(item), self.name(item))),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(scope) = self.scope_mut() {
            scope.uses.push(found);
        }
    }

    fn alias(&mut self, node: Node<'t>) -> Option<(String, String)> {
        match self.named(node).as_slice() {
            [here, there] => Some((self.name(*here), self.name(*there))),
            _ => None,
        }
    }

    fn implicit(&mut self, node: Node<'t>) {
        let children = self.children(node);
        let mut letters = Vec::new();
        let (mut base, mut stated) = (BaseType::Unknown, self.trimmed(node));
        let says = |word: &str| children.iter().any(|child| child.word() == word);
        let is_none = says("none") && (says("type") || !says("external"));
        for child in &children {
            match child.word() {
                "intrinsic_type" | "derived_type" => {
                    (base, stated) = (self.type_of(*child), self.trimmed(*child));
                }
                "implicit_range" => {
                    let text = self.name(*child);
                    let bytes = text.trim().as_bytes();
                    if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
                        letters.push(Letters { first: *first, last: *last, base: base.clone(), stated });
                    }
                }
                _ => {}
            }
        }
        let Some(scope) = self.scope_mut() else { return };
        match &mut scope.implicit {
            _ if is_none => scope.implicit = Implicit::None,
            Implicit::Letters(known) => known.extend(letters),
            Implicit::Host if !letters.is_empty() => scope.implicit = Implicit::Letters(letters),
            Implicit::Host | Implicit::None => {}
        }
    }

    fn save(&mut self, node: Node<'t>) {
        let (whole, names) = (self.trimmed(node), self.named(node));
        if names.is_empty()
            && let Some(frame) = self.frames.last_mut()
        {
            frame.saves_all = true;
        }
        let said = Said { attributes: Attributes { save: true, ..Attributes::default() }, ..Said::default() };
        for name in names.into_iter().filter(|name| name.word() == "identifier") {
            self.declarator(name, &said, whole);
        }
    }

    fn common(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
        for child in self.named(node) {
            let inside = if child.word() == "variable_group" { self.named(child) } else { vec![child] };
            for part in inside {
                if part.word() == "name" {
                    blocks.push((self.name(part), Vec::new()));
                    continue;
                }
                if child.word() != "variable_group" && blocks.is_empty() {
                    blocks.push((String::new(), Vec::new()));
                }
                self.declarator(part, &Said::default(), whole);
                self.in_common(part, &mut blocks);
            }
        }
        if let Some(scope) = self.scope_mut() {
            scope.commons.extend(blocks);
        }
    }

    /// The groups of a `namelist` statement. Its names may be declared by the scoping unit around: it declares none.
    fn namelist(&mut self, node: Node<'t>) {
        let mut groups = Vec::new();
        for group in self.named(node).into_iter().filter(|part| part.word() == "variable_group") {
            let mut names = self.named(group).into_iter().map(|part| self.name(part));
            groups.extend(names.next().map(|name| (name, names.collect::<Vec<_>>())));
        }
        if let Some(scope) = self.scope_mut() {
            scope.namelists.extend(groups);
        }
    }

    /// Notes that the variable of a declarator belongs to the last one of `blocks`.
    fn in_common(&mut self, declarator: Node<'t>, blocks: &mut [(String, Vec<String>)]) {
        let mut at = declarator;
        while at.word() != "identifier" {
            let Some(inner) = self.named(at).into_iter().next() else { return };
            at = inner;
        }
        let name = self.name(at);
        if let Some(id) = self.declared(&name) {
            self.decl(id).is_static = true;
        }
        if let Some((_, names)) = blocks.last_mut() {
            names.push(name);
        }
    }

    /// `parameter (n = 3, …)`
    fn parameters(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        for assignment in self.named(node) {
            let [name, value] = self.named(assignment)[..] else { continue };
            let id = self.entity(name, whole);
            let value = self.expr(value);
            let decl = self.decl(id);
            decl.is_const = true;
            decl.init = Some(value);
        }
    }

    /// `data` gives initial values, and so saves.
    fn data(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        for set in self.named(node) {
            let mut pending = self.named(set);
            while let Some(part) = pending.pop() {
                match part.word() {
                    "identifier" => {
                        let id = self.entity(part, whole);
                        self.decl(id).fortran.save = true;
                    }
                    "call_expression" | "derived_type_member_expression" => {
                        pending.extend(self.named(part).first());
                    }
                    "implied_do_loop_expression" => {
                        let inside = self.named(part).into_iter();
                        pending.extend(inside.filter(|inside| inside.word() != "loop_control_expression"));
                    }
                    _ => {}
                }
            }
        }
    }

    /// `equivalence` gives its names the same storage: each of them may be changed under another name, as a `target` may.
    fn equivalence(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let said = Said {
            attributes: Attributes { target: true, is_equivalent: true, ..Attributes::default() },
            ..Said::default()
        };
        for set in self.named(node) {
            for part in self.named(set) {
                let name =
                    if part.word() == "identifier" { Some(part) } else { self.first_of(part, "identifier") };
                name.into_iter().for_each(|name| self.declarator(name, &said, whole));
            }
        }
    }

    fn enumeration(&mut self, node: Node<'t>) {
        for statement in self.named(node) {
            if statement.word() != "enumerator_statement" {
                continue;
            }
            let whole = self.trimmed(statement);
            let said = Said { base: Some(BaseType::Enum), is_const: true, ..Said::default() };
            for one in self.named(statement) {
                let name =
                    if one.word() == "identifier" { Some(one) } else { self.named(one).first().copied() };
                self.declarator(one, &said, whole);
                if let Some(id) = name.and_then(|name| self.declared(&self.name(name))) {
                    self.decl(id).kind = DeclKind::Enumerator;
                }
            }
        }
    }

    /// `pointer (p, a)`: `p` holds the address of `a`.
    fn cray_pointers(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        for pair in self.named(node) {
            let [pointer, target] = self.named(pair)[..] else { continue };
            let integer = BaseType::Builtin("integer".to_owned());
            let address = Said { base: Some(integer), ..Said::default() };
            self.declarator(pointer, &address, whole);
            let attributes = Attributes { pointer: true, ..Attributes::default() };
            self.declarator(target, &Said { attributes, ..Said::default() }, whole);
        }
    }

    /// The bodies of an interface are scoping units; their names and its own are procedures here.
    fn interface(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let said = Said { is_procedure: true, ..Said::default() };
        for child in self.named(node) {
            match child.word() {
                "interface_statement" => {
                    let parts = self.named(child);
                    let has = |word: &str| parts.iter().any(|part| part.word() == word);
                    let (assigns, operates) = (has("assignment"), has("operator"));
                    self.unit.has_assignment |= assigns;
                    self.unit.has_operators |= assigns || operates;
                    if let Some(name) = self.first_of(child, "name") {
                        let id = self.entity(name, whole);
                        self.apply(id, &said);
                    }
                }
                "subroutine" | "function" => {
                    let head = self.named(child).into_iter().next();
                    if let Some(name) = head.and_then(|head| self.first_of(head, "name")) {
                        let id = self.entity(name, whole);
                        self.apply(id, &said);
                    }
                    self.scoping_unit(child, ScopeKind::Interface);
                }
                _ => {}
            }
        }
    }

    /// The statement function that the assignment defines, and its dummy arguments: all that is assigned is a scalar with
    /// names in parentheses.
    pub(super) fn statement_function(&mut self, node: Node<'t>) -> Option<(DeclId, Vec<String>)> {
        let target = node.child_by_field_name("left").filter(|left| left.word() == "call_expression")?;
        let [name, list] = self.named(target)[..] else { return None };
        let dummies = self.named(list);
        let all_names = dummies.iter().all(|dummy| dummy.word() == "identifier");
        let id = self.declared(&self.name(name)).filter(|_| name.word() == "identifier" && all_names)?;
        let decl = self.unit.decl(id);
        let is_scalar = decl.derived.is_empty() && matches!(decl.base, BaseType::Builtin(_));
        let is_function = is_scalar && matches!(decl.kind, DeclKind::Variable);
        is_function.then(|| (id, dummies.iter().map(|dummy| self.name(*dummy)).collect()))
    }

    /// Offset of the end of the line that `place` ends on.
    pub(super) fn line_after(&self, place: Span) -> u32 {
        let lines = &self.file.lines;
        lines.span(lines.line(place.end.saturating_sub(1).max(place.start))).end
    }

    /// The bytes of the name that a head gives.
    pub(super) fn head_name(&mut self, head: Node<'t>) -> Option<Span> {
        self.first_of(head, "name").map(span)
    }
}
