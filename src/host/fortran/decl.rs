//! Declarations: names, types, attributes, shapes, derived types.
//!
//! Invariant: a name has one declaration in its scoping unit, however many statements give it attributes.

use rustc_hash::FxHashMap;

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Reader, Word, span};

/// The declarations of a scoping unit, a type or a block construct.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) decls: Vec<DeclId>,
    pub(super) names: FxHashMap<String, DeclId>,
    /// It is a derived type.
    pub(super) is_type: bool,
    /// Its variables belong to a procedure, a main program or a block construct.
    pub(super) is_local: bool,
    /// `save` without names stands there.
    pub(super) saves_all: bool,
}

/// What a statement says of the names that it lists.
#[derive(Clone, Default)]
pub(super) struct Said {
    pub(super) base: Option<BaseType>,
    pub(super) attributes: Attributes,
    pub(super) shape: Vec<Derived>,
    pub(super) is_const: bool,
    /// It is a procedure rather than a variable.
    pub(super) is_procedure: bool,
    /// `public` or `private` is said.
    pub(super) is_public: Option<bool>,
}

impl<'t> Reader<'_, 't> {
    /// The declaration of a name in the innermost frame; `whole` is the statement that it stands in.
    pub(super) fn entity(&mut self, name: Node<'t>, whole: Span) -> DeclId {
        let text = self.name(name);
        if let Some(known) = self.declared(&text) {
            return known;
        }
        let frame = self.frames.last();
        let is_type = frame.is_some_and(|frame| frame.is_type);
        let id = DeclId(self.unit.decls.len() as u32);
        self.unit.decls.push(Decl {
            kind: if is_type { DeclKind::Member } else { DeclKind::Variable },
            name: text.clone(),
            name_span: span(name),
            span: whole,
            base: BaseType::Unknown,
            derived: Vec::new(),
            init: None,
            is_static: false,
            is_extern: false,
            is_const: false,
            is_restrict: false,
            fortran: Attributes::default(),
        });
        if let Some(frame) = self.frames.last_mut() {
            frame.decls.push(id);
            frame.names.insert(text, id);
        }
        id
    }

    /// The name in the innermost frame.
    pub(super) fn declared(&self, name: &str) -> Option<DeclId> {
        self.frames.last()?.names.get(name).copied()
    }

    pub(super) fn decl(&mut self, id: DeclId) -> &mut Decl {
        &mut self.unit.decls[id.0 as usize]
    }

    pub(super) fn apply(&mut self, id: DeclId, said: &Said) {
        let decl = self.decl(id);
        if let Some(base) = &said.base {
            decl.base = base.clone();
        }
        if !said.shape.is_empty() {
            decl.derived = said.shape.clone();
            decl.fortran.lower = said.attributes.lower.clone();
        }
        decl.is_const |= said.is_const;
        let (now, new) = (&mut decl.fortran, &said.attributes);
        now.allocatable |= new.allocatable;
        now.pointer |= new.pointer;
        now.target |= new.target;
        now.is_equivalent |= new.is_equivalent;
        now.contiguous |= new.contiguous;
        now.optional |= new.optional;
        now.value |= new.value;
        now.intent_in |= new.intent_in;
        now.save |= new.save;
        now.assumed_size |= new.assumed_size;
        now.assumed_rank |= new.assumed_rank;
        now.procedure |= said.is_procedure;
        if said.is_procedure && decl.kind == DeclKind::Variable {
            decl.kind = DeclKind::Prototype;
        }
    }

    /// `type, attributes :: names`
    pub(super) fn variable_declaration(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let mut said = Said::default();
        let first = self.unit.decls.len();
        let children = self.named(node);
        // Names whose attributes a macro may say are as unknown as those of modules that are not read.
        if children.iter().any(|child| child.word() == "ERROR" && self.has_name(*child)) {
            return;
        }
        for child in children {
            match child.word() {
                "intrinsic_type" | "derived_type" | "declared_type" => {
                    said.base = Some(self.type_of(child));
                }
                "procedure" => self.procedure_type(child, &mut said),
                "type_qualifier" => self.qualifier(child, &mut said),
                "language_binding" => {}
                _ => self.declarator(child, &said, whole),
            }
        }
        if let Some(is_public) = said.is_public {
            let own = self.unit.decls.iter().skip(first).filter(|decl| decl.kind != DeclKind::Member);
            let names: Vec<(String, bool)> = own.map(|decl| (decl.name.clone(), is_public)).collect();
            if let Some(scope) = self.scope_mut() {
                scope.access.extend(names);
            }
        }
    }

    fn has_name(&self, node: Node<'t>) -> bool {
        crate::source::names(&self.file.text(span(node))).next().is_some()
    }

    /// `dimension a(10)`, `save b` and the like.
    pub(super) fn variable_modification(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let mut said = Said::default();
        for child in self.named(node) {
            match child.word() {
                "type_qualifier" => self.qualifier(child, &mut said),
                "variable_attributes" => {}
                _ => self.declarator(child, &said, whole),
            }
        }
    }

    /// One name with what is said of it alone.
    pub(super) fn declarator(&mut self, node: Node<'t>, said: &Said, whole: Span) {
        let (mut at, mut init, mut has_value) = (node, None, false);
        if matches!(node.word(), "init_declarator" | "pointer_init_declarator" | "data_declarator") {
            let parts = self.named(node);
            let Some(first) = parts.first() else { return };
            at = *first;
            has_value = true;
            init = parts.get(1).filter(|value| value.word() != "data_value").copied();
        }
        let mut own = None;
        while at.word() != "identifier" {
            let parts = self.named(at);
            if let Some(size) = parts.iter().find(|part| part.word() == "size") {
                let mut said = said.clone();
                self.shape(*size, &mut said);
                own = Some(said);
            }
            let Some(inner) = parts.first().filter(|_| is_declarator(at.word())) else { return };
            at = *inner;
        }
        let id = self.entity(at, whole);
        self.apply(id, own.as_ref().unwrap_or(said));
        let init = init.map(|init| self.expr(init));
        let is_member = self.frames.last().is_some_and(|frame| frame.is_type);
        let decl = self.decl(id);
        if said.base.is_some() {
            (decl.name_span, decl.span) = (span(at), whole);
        }
        decl.init = init.or(decl.init);
        decl.fortran.save |= has_value && !decl.is_const && !is_member;
    }

    pub(super) fn type_of(&mut self, node: Node<'t>) -> BaseType {
        let children = self.children(node);
        if node.word() == "intrinsic_type" {
            let words: Vec<&str> =
                children.iter().filter(|child| !child.is_named()).map(|child| child.word()).collect();
            let word = match words.as_slice() {
                ["double", "precision"] | ["doubleprecision"] => "double precision",
                ["double", "complex"] | ["doublecomplex"] => "complex",
                ["byte"] => "integer",
                [word, ..] => word,
                [] => return BaseType::Unknown,
            };
            return BaseType::Builtin(word.to_owned());
        }
        let inner = children.iter().find(|child| matches!(child.word(), "intrinsic_type" | "type_name"));
        match inner {
            Some(inner) if inner.word() == "type_name" => BaseType::Tagged(self.name(*inner)),
            Some(inner) => self.type_of(*inner),
            None => BaseType::Unknown,
        }
    }

    /// `procedure(interface), attributes`
    fn procedure_type(&mut self, node: Node<'t>, said: &mut Said) {
        said.is_procedure = true;
        said.base = Some(BaseType::Unknown);
        for child in self.named(node) {
            match child.word() {
                "intrinsic_type" | "derived_type" => said.base = Some(self.type_of(child)),
                "procedure_attribute" => {
                    said.attributes.pointer |= self.name(child) == "pointer";
                }
                _ => {}
            }
        }
    }

    fn qualifier(&mut self, node: Node<'t>, said: &mut Said) {
        let children = self.children(node);
        let Some((word, rest)) = children.split_first() else { return };
        let attributes = &mut said.attributes;
        match word.word() {
            "allocatable" => attributes.allocatable = true,
            "pointer" => attributes.pointer = true,
            "target" => attributes.target = true,
            "contiguous" => attributes.contiguous = true,
            "optional" => attributes.optional = true,
            "value" => attributes.value = true,
            "save" | "static" => attributes.save = true,
            "parameter" => said.is_const = true,
            "private" => said.is_public = Some(false),
            "public" => said.is_public = Some(true),
            "external" | "intrinsic" => said.is_procedure = true,
            "intent" => {
                let says = |word: &str| rest.iter().any(|child| child.word() == word);
                attributes.intent_in = says("in") && !says("out");
            }
            "dimension" => {
                if let Some(list) = rest.iter().find(|child| child.word() == "argument_list") {
                    self.shape(*list, said);
                }
            }
            _ => {}
        }
    }

    /// The dimensions in their parentheses.
    pub(super) fn shape(&mut self, node: Node<'t>, said: &mut Said) {
        said.shape.clear();
        said.attributes.lower.clear();
        for dimension in self.named(node) {
            let (mut lower, mut upper) = (None, None);
            match dimension.word() {
                "assumed_size" => said.attributes.assumed_size = true,
                "assumed_rank" => said.attributes.assumed_rank = true,
                "extent_specifier" => {
                    let inside = self.children(dimension);
                    said.attributes.assumed_size |= inside.iter().any(|part| part.word() == "assumed_size");
                    if let ExprKind::Triplet([first, last, _]) = self.triplet(dimension) {
                        (lower, upper) = (first, last);
                    }
                }
                _ => upper = Some(self.expr(dimension)),
            }
            said.shape.push(Derived::Array(upper));
            said.attributes.lower.push(lower);
        }
    }

    /// `type, extends(base) :: name … end type`
    pub(super) fn derived_type(&mut self, node: Node<'t>) {
        self.frames.push(Frame { is_type: true, ..Frame::default() });
        let (mut tag, mut bases) = (None, Vec::new());
        let mut is_open = true;
        for child in self.named(node) {
            let statement = self.name(child);
            is_open &= !statement.split("::").next().is_some_and(|words| words.contains("private"));
            match child.word() {
                "derived_type_statement" => {
                    for part in self.named(child) {
                        match part.word() {
                            "type_name" => tag = Some(self.name(part)),
                            "base_type_specifier" => {
                                let base = self.first_of(part, "identifier");
                                bases.extend(base.map(|base| self.name(base)));
                            }
                            _ => {}
                        }
                    }
                }
                "variable_declaration" => self.variable_declaration(child),
                "derived_type_procedures" => {
                    let text = self.file.text(span(child)).to_ascii_lowercase();
                    let words: String = text.split_whitespace().collect();
                    self.unit.has_assignment |= words.contains("::assignment(=)");
                    self.unit.has_operators |= words.contains("generic") || words.contains("final");
                }
                _ => {}
            }
        }
        let members = self.frames.pop().map(|frame| frame.decls).unwrap_or_default();
        let span = self.trimmed(node);
        self.unit.records.push(Record { tag, bases, members, is_union: false, is_open, span });
    }

    /// Ends the innermost frame: what only all of its statements together say.
    pub(super) fn close_frame(&mut self) -> Vec<DeclId> {
        let Some(frame) = self.frames.pop() else { return Vec::new() };
        for id in &frame.decls {
            let decl = self.decl(*id);
            let is_open = decl.derived.iter().all(|part| matches!(part, Derived::Array(None)));
            let (is_variable, is_dummy) = (decl.kind == DeclKind::Variable, decl.kind == DeclKind::Parameter);
            let known = &mut decl.fortran;
            let is_descriptor =
                known.allocatable || known.pointer || known.assumed_size || known.assumed_rank;
            known.assumed_shape = is_dummy && is_open && !decl.derived.is_empty() && !is_descriptor;
            known.save |= frame.saves_all && is_variable && !decl.is_const;
            decl.is_static |= frame.is_local && is_variable && known.save;
        }
        frame.decls
    }
}

fn is_declarator(kind: &str) -> bool {
    matches!(kind, "sized_declarator" | "coarray_declarator")
}
