//! The C or C++ of a text as far as the audit needs it: what is declared where, and what is assigned where.
//!
//! Invariant: read from the grammar's tree alone, so that a mistake in the translator's own facts is not repeated here.

use std::collections::{HashMap, HashSet};

use acc2omp::source::{Language, Span};
use tree_sitter::{Node, Parser, Tree};

/// The kinds of variables that the audit tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arithmetic, a pointer, or a type that is declared elsewhere.
    Scalar,
    /// An array, a struct or a class: its parts are assigned, and that does not matter here.
    Aggregate,
    /// No variable of its own: a reference, a function, a type.
    Other,
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The place of the name.
    pub at: usize,
    /// The kind.
    pub kind: Kind,
    /// One for the whole program: at file scope, `static` or `extern`.
    pub is_static: bool,
    scope: Span,
}

/// A place that assigns a whole variable.
#[derive(Clone, Debug)]
pub struct Write<'t> {
    /// The variable's name.
    pub name: String,
    /// Where it is assigned.
    pub at: usize,
    /// The assignment, the `++`, the `&`, or the macro's name.
    pub whole: Node<'t>,
}

/// The code of one page.
pub struct Code<'t> {
    text: &'t [u8],
    root: Node<'t>,
    declared: HashMap<&'t str, Vec<Declared>>,
    /// Structs and classes, by name.
    records: HashSet<&'t str>,
    /// The names of their members: in a member function, they stand alone.
    members: HashSet<&'t str>,
    /// Every assignment to a whole variable.
    pub writes: Vec<Write<'t>>,
}

/// The outer variables that macros assign, by the macro's name.
pub type Macros = HashMap<String, Vec<String>>;

/// What a macro's body assigns that is neither declared in it nor one of its parameters.
pub fn assigned_by_macro(params: &str, body: &str, language: Language) -> Vec<String> {
    let params: Vec<String> = params.split(',').map(|name| format!("int {name}")).collect();
    let text = format!("void f({}) {{ {body}; }}", params.join(", "));
    let Some(tree) = tree(text.as_bytes(), language) else { return Vec::new() };
    let code = Code::new(text.as_bytes(), language, &tree, &Macros::new());
    let outer = code.writes.iter().filter(|write| code.lookup(&write.name, write.at).is_none());
    outer.map(|write| write.name.clone()).collect()
}

/// Parses code that holds no directives any more.
pub fn tree(text: &[u8], language: Language) -> Option<Tree> {
    let grammar = match language {
        Language::C | Language::Header => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
        Language::Fortran(_) => return None,
    };
    let mut parser = Parser::new();
    parser.set_language(&grammar.into()).ok()?;
    parser.parse(text, None)
}

/// The nodes below and including `root`, each before its children.
pub fn nodes(root: Node) -> Vec<Node> {
    let mut pending = vec![root];
    let mut found = Vec::new();
    while let Some(node) = pending.pop() {
        found.push(node);
        let mut cursor = node.walk();
        let children: Vec<Node> = node.named_children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
    found
}

impl<'t> Code<'t> {
    /// Reads a tree; `text` is what it was parsed from.
    pub fn new(text: &'t [u8], language: Language, tree: &'t Tree, macros: &Macros) -> Code<'t> {
        let root = tree.root_node();
        let mut code = Code {
            text,
            root,
            declared: HashMap::new(),
            records: HashSet::new(),
            members: HashSet::new(),
            writes: Vec::new(),
        };
        let nodes = nodes(root);
        for node in &nodes {
            let is_record = matches!(node.kind(), "struct_specifier" | "union_specifier" | "class_specifier");
            if let Some(name) = node.child_by_field_name("name").filter(|_| is_record) {
                code.records.insert(code.word(name));
            } else if node.kind() == "field_identifier" && language == Language::Cpp {
                code.members.insert(code.word(*node));
            }
        }
        for node in &nodes {
            match node.kind() {
                "declaration"
                | "function_definition"
                | "parameter_declaration"
                | "optional_parameter_declaration"
                | "field_declaration"
                | "type_definition"
                | "for_range_loop" => code.declare(*node),
                "assignment_expression" => match code.pointer_by_typeof(*node) {
                    Some(pointer) => code.declared.entry(code.word(pointer.0)).or_default().push(pointer.1),
                    None => code.write(*node, "left"),
                },
                "update_expression" => code.write(*node, "argument"),
                // Whoever gets a variable's address is taken to assign it.
                "pointer_expression" if code.word(*node).starts_with('&') => code.write(*node, "argument"),
                _ => {}
            }
        }
        for node in nodes.iter().filter(|node| node.kind() == "identifier") {
            let at = node.start_byte();
            for name in macros.get(code.word(*node)).into_iter().flatten() {
                if code.lookup(name, at).is_some() {
                    code.writes.push(Write { name: name.clone(), at, whole: *node });
                }
            }
        }
        code
    }

    /// The text of a node.
    pub fn word(&self, node: Node) -> &'t str {
        self.text.get(node.byte_range()).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or("")
    }

    /// The outermost statement that begins at `offset`.
    pub fn statement(&self, offset: u32) -> Option<Node<'t>> {
        let at = offset as usize;
        let mut node = self.root.descendant_for_byte_range(at, at + 1)?;
        let mut found = None;
        loop {
            let is_statement = node.kind().ends_with("_statement") || node.kind() == "for_range_loop";
            if is_statement && node.start_byte() == at {
                found = Some(node);
            }
            match node.parent().filter(|parent| parent.start_byte() == at) {
                Some(parent) => node = parent,
                None => return found,
            }
        }
    }

    /// What `name` means at `at`: the innermost declaration that is visible there.
    pub fn lookup(&self, name: &str, at: usize) -> Option<&Declared> {
        let visible = |one: &&Declared| one.scope.range().contains(&at) && one.at <= at;
        self.declared
            .get(name)?
            .iter()
            .filter(visible)
            .min_by_key(|one| (one.scope.len(), usize::MAX - one.at))
    }

    /// Whether a name that is not declared can be a member of the object at hand.
    pub fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    fn declare(&mut self, node: Node<'t>) {
        let Some(scope) = scope(node) else { return };
        let mut cursor = node.walk();
        let declarators: Vec<Node> = node.children_by_field_name("declarator", &mut cursor).collect();
        let words: Vec<&str> = node.named_children(&mut cursor).map(|word| self.word(word)).collect();
        let is_static = scope.kind() == "translation_unit"
            || node.parent().is_some_and(|parent| parent.kind() == "declaration_list")
            || words.iter().any(|word| matches!(*word, "static" | "extern"));
        for declarator in declarators {
            let Some((name, kind)) = self.declarator(node, declarator) else { continue };
            let span = Span::new(scope.start_byte(), scope.end_byte());
            let at = name.start_byte();
            let declared = Declared { at, kind, is_static, scope: span };
            let word = self.word(name);
            if node.kind() == "type_definition" && kind == Kind::Aggregate {
                self.records.insert(word);
            }
            self.declared.entry(word).or_default().push(declared);
        }
    }

    /// The name that a declarator declares, and its kind: the part next to the name decides.
    fn declarator(&self, whole: Node<'t>, node: Node<'t>) -> Option<(Node<'t>, Kind)> {
        let mut at = node;
        let mut kind = None;
        loop {
            match at.kind() {
                "identifier" | "field_identifier" | "type_identifier" => break,
                "pointer_declarator" => kind = Some(Kind::Scalar),
                "array_declarator" => kind = Some(Kind::Aggregate),
                "function_declarator" | "structured_binding_declarator" => {
                    kind = Some(Kind::Other);
                }
                // A parameter is what the caller has; another reference may be a part of an array.
                "reference_declarator" if !whole.kind().ends_with("parameter_declaration") => {
                    kind = Some(Kind::Other);
                }
                _ => {}
            }
            let inner = at.child_by_field_name("declarator");
            at = inner.or_else(|| at.named_child(at.named_child_count().checked_sub(1)? as u32))?;
        }
        let kind = match kind {
            // A parameter that is written as an array is a pointer.
            Some(Kind::Aggregate) if whole.kind().ends_with("parameter_declaration") => Kind::Scalar,
            Some(kind) => kind,
            None => self.base(whole.child_by_field_name("type")?),
        };
        Some((at, kind))
    }

    /// The pointer that `__typeof__(x) *p = &x;` declares, which the grammar of C takes for a product where a declaration
    /// goes before it.
    fn pointer_by_typeof(&self, assignment: Node<'t>) -> Option<(Node<'t>, Declared)> {
        let product = assignment.parent().filter(|parent| parent.kind() == "binary_expression")?;
        let function = product.child_by_field_name("left")?.child_by_field_name("function")?;
        let name = assignment.child_by_field_name("left").filter(|name| name.kind() == "identifier")?;
        let span = scope(product).map(|scope| Span::new(scope.start_byte(), scope.end_byte()))?;
        let declared = Declared { at: name.start_byte(), kind: Kind::Scalar, is_static: false, scope: span };
        (self.word(function) == "__typeof__").then_some((name, declared))
    }

    fn base(&self, node: Node<'t>) -> Kind {
        match node.kind() {
            "struct_specifier" | "union_specifier" | "class_specifier" | "template_type" => Kind::Aggregate,
            "type_identifier" if self.records.contains(self.word(node)) => Kind::Aggregate,
            _ => Kind::Scalar,
        }
    }

    fn write(&mut self, whole: Node<'t>, field: &str) {
        let mut at = whole.child_by_field_name(field);
        while let Some(node) = at {
            match node.kind() {
                "parenthesized_expression" => at = node.named_child(0),
                "identifier" => {
                    let name = self.word(node).to_owned();
                    self.writes.push(Write { name, at: node.start_byte(), whole });
                    return;
                }
                _ => return,
            }
        }
    }
}

/// Where the names of a declaration are visible; `None` if nowhere: in a prototype or a record.
fn scope(node: Node) -> Option<Node> {
    if node.kind() == "for_range_loop" {
        return Some(node);
    }
    let mut at = node.parent();
    while let Some(parent) = at {
        match parent.kind() {
            "compound_statement"
            | "for_statement"
            | "for_range_loop"
            | "if_statement"
            | "while_statement"
            | "function_definition"
            | "lambda_expression"
            | "catch_clause"
            | "translation_unit"
            | "declaration_list" => return Some(parent),
            "declaration" | "field_declaration_list" | "type_definition" | "type_descriptor" => return None,
            _ => at = parent.parent(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use acc2omp::source::Language;

    use super::{Code, Kind, Macros, Write, tree};

    /// The assigned names with the place of their declaration's line.
    fn writes(text: &str) -> Vec<String> {
        writes_in(text, Language::Cpp)
    }

    fn writes_in(text: &str, language: Language) -> Vec<String> {
        let tree = tree(text.as_bytes(), language).unwrap();
        let code = Code::new(text.as_bytes(), language, &tree, &Macros::new());
        let placed = |write: &Write| {
            let declared = code.lookup(&write.name, write.at);
            let line = declared.map(|one| text[..one.at].matches('\n').count() + 1);
            let kind = declared.map(|one| one.kind);
            format!("{} {:?} {:?}", write.name, line.unwrap_or(0), kind.unwrap_or(Kind::Other))
        };
        code.writes.iter().map(placed).collect()
    }

    #[test]
    fn writes_are_of_whole_variables() {
        let text = "int a[2], *p;\nvoid f(int n, int q[]) { (n) = 1; a[0] = 2; *p = 3; p++; s.x = 1; q += 1; z = 1; }";
        assert_eq!(writes(text), ["n 2 Scalar", "p 1 Scalar", "q 2 Scalar", "z 0 Other"]);
    }

    #[test]
    fn the_innermost_declaration_counts() {
        let text = "int x;\nvoid g(int x);\nvoid f() { x = 1; {\nx = 2; double x;\nx = 3; } \nfor (int x = 0;;) x++; }";
        assert_eq!(writes(text), ["x 1 Scalar", "x 1 Scalar", "x 4 Scalar", "x 6 Scalar"]);
    }

    #[test]
    fn pointers_to_named_types_are_declared() {
        let text = "void f() { double a, b; {\n__typeof__(a) *p = &a;\n__typeof__(b) b = 0;\n\
                    __typeof__(b) *q = &b;\n__typeof__(b) c = 0;\n__typeof__(c) *r = &c;\n q = 0; r = 0; } }";
        let found = writes_in(text, Language::C);
        assert_eq!(found, ["a 1 Scalar", "b 3 Scalar", "c 5 Scalar", "q 4 Scalar", "r 6 Scalar"]);
    }

    #[test]
    fn records_and_local_references_are_no_scalars() {
        let text = "struct s { int m; };\ntypedef struct { int m; } t;\n\
                    void f(int &r) { t v; s w; int &q = w.m; v = w; w = v; q = 1; r = 1; }";
        assert_eq!(writes(text), ["v 3 Aggregate", "w 3 Aggregate", "q 3 Other", "r 3 Scalar"]);
    }
}
