//! Scoping units: programs, modules, procedures, interface bodies.
//!
//! Invariant: a scoping unit comes before those inside it, and the functions' spans are in order and apart.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::decl::{Frame, Said};
use super::label::Labels;
use super::spec::is_specification;
use super::stmt::is_conditional;
use super::{Reader, Word, span};

/// The parts of a scoping unit's node.
struct Parts<'t> {
    /// Its first statement; none for a main program without one.
    head: Option<Node<'t>>,
    specification: Vec<Node<'t>>,
    execution: Vec<Node<'t>>,
    /// `contains` and what follows it.
    contained: Option<Node<'t>>,
    /// Offset of `contains` or of the `end` statement.
    end: usize,
}

impl<'t> Reader<'_, 't> {
    /// The scoping units below a node that is none.
    pub(super) fn units(&mut self, node: Node<'t>) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.units_here(node));
    }

    fn units_here(&mut self, node: Node<'t>) {
        for child in self.named(node) {
            match child.word() {
                "program" => self.scoping_unit(child, ScopeKind::Program),
                "module" | "block_data" => self.scoping_unit(child, ScopeKind::Module),
                "submodule" => self.scoping_unit(child, ScopeKind::Submodule),
                "subroutine" | "function" | "module_procedure" => {
                    self.scoping_unit(child, ScopeKind::Procedure);
                }
                "internal_procedures" | "ERROR" => self.units(child),
                "interface" if self.scope.is_none() => self.outer_interface(child),
                _ => {}
            }
        }
    }

    /// An interface outside of everything, as in a file to be included.
    fn outer_interface(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        let id = self.open_scope(ScopeKind::Program, String::new(), whole, Span::at(node.start_byte()));
        self.frames.push(Frame::default());
        let outer = self.scope.replace(id);
        self.specification(node);
        self.scope = outer;
        let decls = self.close_frame();
        let scope = &mut self.unit.scopes[id.0 as usize];
        scope.decls = decls;
        scope.specification = whole;
    }

    fn open_scope(&mut self, kind: ScopeKind, name: String, whole: Span, head: Span) -> ScopeId {
        self.unit.scopes.push(Scope {
            kind,
            name,
            span: whole,
            parent: self.scope,
            extends: None,
            decls: Vec::new(),
            uses: Vec::new(),
            implicit: Implicit::Host,
            specification: Span::at(head.end as usize),
            directives_from: head.end,
            is_private: false,
            access: Vec::new(),
            commons: Vec::new(),
            namelists: Vec::new(),
            result: None,
            is_pure: false,
            is_elemental: false,
            is_declared_elsewhere: false,
            function: None,
        });
        ScopeId(self.unit.scopes.len() as u32 - 1)
    }

    pub(super) fn scope_mut(&mut self) -> Option<&mut Scope> {
        let id = self.scope?;
        self.unit.scopes.get_mut(id.0 as usize)
    }

    pub(super) fn scoping_unit(&mut self, node: Node<'t>, kind: ScopeKind) {
        let whole = self.trimmed(node);
        let parts = self.parts(node);
        let head = parts.head.map_or(Span::at(node.start_byte()), |head| self.trimmed(head));
        let name_span = match parts.head {
            Some(head) => self.head_name(head),
            None => None,
        };
        let name = name_span.map(|name| self.lower(name)).unwrap_or_default();
        let id = self.open_scope(kind, name.clone(), whole, head);
        let outer = self.scope.replace(id);
        let is_local = matches!(kind, ScopeKind::Program | ScopeKind::Procedure);
        self.frames.push(Frame { is_local, ..Frame::default() });
        let params = parts.head.map(|head| self.head(head, kind)).unwrap_or_default();
        let execution = self.specification_part(&parts, head);
        let decls = self.close_frame();
        self.inputs(&name, &params);
        self.unit.scopes[id.0 as usize].decls = decls;
        // Declarations without a statement are a file to be included.
        if is_local && (parts.head.is_some() || !execution.is_empty()) {
            let end = parts.contained.map_or(whole.end as usize, |_| parts.end);
            let function = Function {
                name,
                name_span: name_span.unwrap_or(Span::at(node.start_byte())),
                member_of: None,
                span: Span::new(node.start_byte(), end.max(node.start_byte())),
                params,
                returns: String::new(),
                body: self.execution_part(node, &execution, parts.end),
                is_static: false,
                has_error: false,
            };
            self.unit.scopes[id.0 as usize].function = Some(FunctionId(self.unit.functions.len() as u32));
            self.unit.functions.push(function);
        }
        parts.contained.into_iter().for_each(|contained| self.units(contained));
        self.scope = outer;
    }

    fn execution_part(&mut self, node: Node<'t>, execution: &[Node<'t>], end: usize) -> StmtId {
        self.labels = Labels::new(node);
        self.around.clear();
        self.terminal = None;
        self.block(execution, end)
    }

    fn parts(&mut self, node: Node<'t>) -> Parts<'t> {
        let mut parts = Parts {
            head: None,
            specification: Vec::new(),
            execution: Vec::new(),
            contained: None,
            end: self.trimmed(node).end as usize,
        };
        let mut pending = self.named(node);
        pending.reverse();
        while let Some(child) = pending.pop() {
            match child.word() {
                // A line of the preprocessor that the shadow still shows.
                kind if is_conditional(kind) => {
                    let inside = self.named(child);
                    if inside.iter().any(|part| is_specification(part.word())) {
                        pending.extend(inside.into_iter().skip(1).rev());
                    } else {
                        parts.execution.push(child);
                    }
                }
                "program_statement"
                | "module_statement"
                | "submodule_statement"
                | "subroutine_statement"
                | "function_statement"
                | "module_procedure_statement"
                | "block_data_statement" => parts.head = Some(child),
                "internal_procedures" => {
                    parts.contained = Some(child);
                    parts.end = child.start_byte();
                }
                "end_program_statement"
                | "end_module_statement"
                | "end_submodule_statement"
                | "end_subroutine_statement"
                | "end_function_statement"
                | "end_module_procedure_statement"
                | "end_block_data_statement" => {
                    if parts.contained.is_none() {
                        parts.end = child.start_byte().min(self.shadow.len());
                    }
                }
                kind if is_specification(kind) => parts.specification.push(child),
                // These may stand in either part: they belong to the first one if no other statement came before. A
                // statement function has no label.
                "assignment_statement" if parts.execution.is_empty() => parts.specification.push(child),
                "include_statement" | "entry_statement" | "format_statement"
                    if !parts.execution.iter().any(|before| before.word() != "statement_label") =>
                {
                    parts.execution.clear();
                    parts.specification.push(child);
                }
                _ => parts.execution.push(child),
            }
        }
        parts
    }

    /// Reads the specification part, and returns the execution part: from the first assignment on that is none of it.
    fn specification_part(&mut self, parts: &Parts<'t>, head: Span) -> Vec<Node<'t>> {
        let mut end = head.end;
        let mut directives_from = parts.head.map_or(self.line_start(head.start), |_| self.line_after(head));
        let mut execution = Vec::new();
        for node in &parts.specification {
            let whole = self.trimmed(*node);
            match node.word() {
                "assignment_statement" => {
                    match self.statement_function(*node).filter(|_| execution.is_empty()) {
                        Some((decl, dummies)) => {
                            self.decl(decl).kind = DeclKind::Prototype;
                            let name = self.unit.decl(decl).name.clone();
                            let inputs = (0..dummies.len()).map(|place| (name.clone(), place));
                            self.unit.inputs.extend(inputs);
                            if let Some(value) = node.child_by_field_name("right") {
                                let value = self.expr(value);
                                let function = StatementFunction { decl, dummies, value };
                                self.unit.statement_functions.push(function);
                            }
                        }
                        None => {
                            execution.push(*node);
                            continue;
                        }
                    }
                }
                "format_statement" => continue,
                "include_statement" | "entry_statement" if !execution.is_empty() => {
                    execution.push(*node);
                    continue;
                }
                "entry_statement" => self.entry(*node),
                "use_statement" | "import_statement" | "implicit_statement" => {
                    self.specification(*node);
                    directives_from = self.line_after(whole);
                }
                _ => self.specification(*node),
            }
            end = end.max(whole.end);
        }
        execution.extend(&parts.execution);
        for node in &execution {
            if node.word() == "entry_statement" {
                self.entry(*node);
            }
        }
        if let Some(scope) = self.scope_mut() {
            scope.specification = Span { start: head.end, end };
            scope.directives_from = directives_from;
        }
        execution
    }

    fn line_start(&self, at: u32) -> u32 {
        self.file.lines.span(self.file.lines.line(at)).start
    }

    /// Dummy arguments and the result of a procedure; the arguments in order.
    fn head(&mut self, head: Node<'t>, kind: ScopeKind) -> Vec<DeclId> {
        let whole = self.trimmed(head);
        if kind == ScopeKind::Procedure {
            self.unit.top_level.push(whole);
        }
        let (mut params, mut base, mut qualifiers) = (Vec::new(), None, Vec::new());
        let (mut result, mut has_list) = (None, false);
        for part in self.named(head) {
            match part.word() {
                "parameters" => {
                    has_list = true;
                    params = self.dummies(part, whole);
                }
                "procedure_qualifier" => qualifiers.push(self.name(part)),
                "intrinsic_type" | "derived_type" => base = Some(self.type_of(part)),
                "name" => result = result.or(Some(part)),
                "function_result" => result = self.first_of(part, "identifier").or(result),
                "module_name" => {
                    let name = self.name(part);
                    if let Some(scope) = self.scope_mut() {
                        scope.extends = Some(name);
                    }
                }
                _ => {}
            }
        }
        let says = |word: &str| qualifiers.iter().any(|qualifier| qualifier == word);
        let is_elemental = says("elemental") && !says("impure");
        if let Some(scope) = self.scope_mut() {
            scope.is_pure = says("pure") || says("simple") || is_elemental;
            scope.is_elemental = is_elemental;
        }
        if head.word() == "function_statement"
            && let Some(result) = result
        {
            let id = self.entity(result, whole);
            self.apply(id, &Said { base, ..Said::default() });
            let name = self.lower(span(result));
            if let Some(scope) = self.scope_mut() {
                scope.result = Some(name);
            }
        }
        if head.word() == "module_procedure_statement" && !has_list {
            params = self.of_interface();
        }
        params
    }

    fn dummies(&mut self, list: Node<'t>, whole: Span) -> Vec<DeclId> {
        let mut params = Vec::new();
        for name in self.named(list).into_iter().filter(|name| name.word() == "identifier") {
            let id = self.entity(name, whole);
            self.decl(id).kind = DeclKind::Parameter;
            params.push(id);
        }
        params
    }

    /// `entry name(arguments)`: its arguments are dummies too.
    fn entry(&mut self, node: Node<'t>) {
        let whole = self.trimmed(node);
        if let Some(list) = self.first_of(node, "parameters") {
            self.dummies(list, whole);
        }
    }

    /// What the interface body of a separate module procedure declares, once more for the procedure itself; its dummies.
    fn of_interface(&mut self) -> Vec<DeclId> {
        let Some(name) = self.scope_mut().map(|scope| scope.name.clone()) else { return Vec::new() };
        let body =
            self.unit.scopes.iter().find(|scope| scope.kind == ScopeKind::Interface && scope.name == name);
        let Some((declared, result, is_pure)) =
            body.map(|body| (body.decls.clone(), body.result.clone(), body.is_pure))
        else {
            self.scope_mut().into_iter().for_each(|scope| scope.is_declared_elsewhere = true);
            return Vec::new();
        };
        if let Some(scope) = self.scope_mut() {
            scope.result = result;
            scope.is_pure |= is_pure;
        }
        let mut params = Vec::new();
        for from in declared {
            let decl = self.unit.decl(from).clone();
            let id = DeclId(self.unit.decls.len() as u32);
            if decl.kind == DeclKind::Parameter {
                params.push(id);
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.decls.push(id);
                frame.names.insert(decl.name.clone(), id);
            }
            self.unit.decls.push(decl);
        }
        params
    }

    fn inputs(&mut self, name: &str, params: &[DeclId]) {
        for (place, param) in params.iter().enumerate() {
            let known = &self.unit.decl(*param).fortran;
            if known.intent_in || known.value {
                self.unit.inputs.push((name.to_owned(), place));
            }
        }
    }
}
