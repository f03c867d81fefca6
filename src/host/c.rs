//! C and C++: a tree-sitter tree becomes the structure IR.
//!
//! Invariant: the only file that knows the grammars' node names; what it does not know becomes `Opaque`, never nothing.

pub mod apart;
mod hidden;
mod node;
pub mod references;

use tree_sitter::{Parser, Tree};

use crate::scan::{self, Scan};
use crate::source::{Language, SourceFile, Span};

use super::forms::{
    CompoundLiteral, Designated, Designator, EnumSpecifier, Instance, Local, Measured, ValueBlock,
};
use super::ir::*;

use node::Node;

/// No attribute of an enumeration is further from its list.
const ATTRIBUTE: u32 = 48;

/// Copies the tree of a file.
pub fn unit(file: &SourceFile, scan: &Scan, tree: Option<Tree>) -> Unit {
    let mut reader =
        Reader { file, scan, unit: Unit::default(), classes: Vec::new(), has_reference_members: false };
    if let Some(tree) = tree {
        let is_cpp = *tree.language() == tree_sitter_cpp::LANGUAGE.into();
        reader.unit.dialect = if is_cpp { Dialect::Cpp } else { Dialect::C };
        reader.top(Node::root(&tree, is_cpp));
        reader.unit.errors = errors(&tree);
    }
    let errors = std::mem::take(&mut reader.unit.errors);
    for function in &mut reader.unit.functions {
        function.has_error = errors.iter().any(|error| function.span.contains(*error));
    }
    reader.unit.errors = errors;
    apart::rename(file, &mut reader.unit);
    reader.unit
}

/// The tree of a text in C or C++.
pub fn tree(text: &[u8], cpp: bool) -> Option<Tree> {
    super::read(&mut parser(cpp)?, text, None)
}

/// A parser of C or C++.
pub fn parser(cpp: bool) -> Option<Parser> {
    let mut parser = Parser::new();
    let language = if cpp { tree_sitter_cpp::LANGUAGE } else { tree_sitter_c::LANGUAGE };
    parser.set_language(&language.into()).ok()?;
    Some(parser)
}

/// The expression that a text is, and a unit that holds nothing else.
pub fn expression(text: &str, is_cpp: bool) -> Option<(Unit, ExprId)> {
    let language = if is_cpp { Language::Cpp } else { Language::C };
    let whole = format!("int value = ({text}\n);\n");
    let file = SourceFile::new("an expression", whole.into_bytes(), language);
    let tree = tree(&file.bytes, is_cpp).filter(|tree| !tree.root_node().has_error())?;
    let unit = unit(&file, &Scan::default(), Some(tree));
    let only = unit.globals.first().filter(|_| unit.top_level.len() == 1)?;
    let value = unit.decl(*only).init?;
    Some((unit, value))
}

/// Whether a text is an expression that may stand alone in parentheses.
pub fn is_condition(text: &str) -> bool {
    let head = "void f(void) { if ";
    let whole = format!("{head}({text}) ; }}\n");
    tree(whole.as_bytes(), true).is_some_and(|tree| super::is_parenthesised(&tree, head.len(), text))
}

/// A header's tree: as C, unless it reads better as C++, or as well and says words of C++.
pub fn better_tree(text: &[u8]) -> Option<Tree> {
    let c = tree(text, false)?;
    let says = says_cpp(text);
    if !c.root_node().has_error() && !says {
        return Some(c);
    }
    let cpp = tree(text, true)?;
    let bytes = |tree: &Tree| errors(tree).iter().map(|span| span.len() + 1).sum::<usize>();
    let (of_cpp, of_c) = (bytes(&cpp), bytes(&c));
    Some(if of_cpp < of_c || says && of_cpp == of_c { cpp } else { c })
}

/// Whether a word stands in the text that makes a header C++; to C's grammar `namespace n { … }` is a function.
fn says_cpp(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"namespace", b"template", b"using", b"constexpr", b"typename"];
    let mut words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words.any(|word| WORDS.contains(&word))
}

fn span(node: Node) -> Span {
    span_of(*node)
}

fn span_of(node: tree_sitter::Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The places that the grammar could not read, or where it made something up.
pub fn errors(tree: &Tree) -> Vec<Span> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            found.push(span_of(node));
        }
        if node.has_error() && !is_error && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// What the words before a declarator say.
#[derive(Clone)]
struct Specifiers {
    base: BaseType,
    is_static: bool,
    is_extern: bool,
    is_const: bool,
    is_mutable: bool,
    is_typedef: bool,
    /// The type itself is a reference.
    is_reference: bool,
}

struct Reader<'a> {
    file: &'a SourceFile,
    scan: &'a Scan,
    unit: Unit,
    /// The classes whose bodies are being read, outermost first.
    classes: Vec<String>,
    /// Some class has a member that is a reference.
    has_reference_members: bool,
}

impl Reader<'_> {
    fn text(&self, node: Node) -> String {
        self.file.text(span(node)).into_owned()
    }

    fn named<'t>(&self, node: Node<'t>) -> Vec<Node<'t>> {
        node.named()
    }

    fn top(&mut self, root: Node) {
        let mut pending: Vec<(Node, Span)> = Vec::new();
        push(&mut pending, self.named(root));
        while let Some((node, whole)) = pending.pop() {
            match node.kind() {
                "linkage_specification" | "namespace_definition" | "declaration_list" | "ERROR" => {
                    match node.child_by_field_name("body") {
                        Some(body) if body.kind() == "declaration_list" => {
                            push(&mut pending, self.named(body))
                        }
                        // `extern "C"` before one declaration belongs to it.
                        Some(body) => {
                            let word = Span::new(node.start_byte(), body.start_byte());
                            self.unit.forms.storage.push(word);
                            pending.push((body, whole))
                        }
                        None => push(&mut pending, self.named(node)),
                    }
                }
                "template_declaration" => pending.extend(self.templated(node).map(|inner| (inner, whole))),
                _ => {
                    let decls = self.outside(node, whole, DeclKind::Variable);
                    self.unit.globals.extend(decls);
                }
            }
        }
        self.unit.top_level.sort_by_key(|span| span.start);
        self.unit.lambdas.sort_by_key(|(span, _)| span.start);
        self.unit.forms.sort();
        self.unit.functions.sort_by_key(|function| function.span.start);
        // A function of a class that stands in a function is a part of that function.
        let mut end = 0;
        self.unit.functions.retain(|function| {
            let is_outer = function.span.start >= end;
            end = end.max(function.span.end);
            is_outer
        });
    }

    /// What a template is a template of.
    fn templated<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.named(node).pop().filter(|inner| inner.kind() != "template_parameter_list")
    }

    /// Something that stands outside of functions, in a file or in a class; `whole` is it with the words before it.
    fn outside(&mut self, node: Node, whole: Span, kind: DeclKind) -> Vec<DeclId> {
        if node.kind() != "access_specifier" {
            self.unit.top_level.push(whole);
        }
        match node.kind() {
            "function_definition" => self.function(node, whole),
            // The class that defines a friend holds it.
            "friend_declaration" => {
                let inside = self.named(node).into_iter().find(|inner| inner.kind() == "function_definition");
                if let Some(inner) = inside {
                    self.function(inner, span(inner));
                }
            }
            "declaration" | "type_definition" | "field_declaration" => return self.declaration(node, kind),
            "alias_declaration" => return self.alias(node).into_iter().collect(),
            "expression_statement" => {
                let inside = self.named(node).into_iter().next();
                if let Some(expr) = inside.filter(|expr| hidden::is_declaration(self, *expr)) {
                    return hidden::declaration(self, node, expr);
                }
            }
            "template_declaration" => {
                if let Some(inner) = self.templated(node) {
                    return stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.outside(inner, whole, kind));
                }
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
                self.specifier_type(node);
            }
            _ => {}
        }
        Vec::new()
    }

    fn function(&mut self, node: Node, whole: Span) {
        let (Some(declarator), Some(body)) =
            (node.child_by_field_name("declarator"), node.child_by_field_name("body"))
        else {
            return;
        };
        let Some(name) = innermost_name(declarator) else { return };
        let (name, scope) = self.unqualified(name);
        self.references(name, declarator);
        let is_static = self.storage(node);
        let returns = self.returns(node, declarator);
        let params = self.params(declarator, node);
        let body = self.stmt(body);
        self.unit.functions.push(Function {
            name: self.declared_name(name),
            name_span: span(name),
            member_of: scope.or_else(|| self.classes.last().cloned()),
            span: whole,
            params,
            returns,
            is_static,
            body,
            has_error: false,
        });
    }

    /// Notes the words of storage that a declaration or a function begins with; whether `static` is one of them.
    fn storage(&mut self, node: Node) -> bool {
        let mut words = self.named(node);
        words.retain(|child| child.kind() == "storage_class_specifier");
        self.unit.forms.storage.extend(words.iter().map(|word| span(*word)));
        words.into_iter().any(|word| self.text(word) == "static")
    }

    /// The type that a function returns, as a cast writes it.
    fn returns(&mut self, node: Node, declarator: Node) -> String {
        let Some(kind) = node.child_by_field_name("type") else { return String::new() };
        if kind.kind() == "enum_specifier" || kind.kind().ends_with("_specifier") {
            self.specifier_type(kind);
        }
        let (mut at, mut signs) = (declarator, String::new());
        while matches!(at.kind(), "pointer_declarator" | "reference_declarator") {
            signs.insert(0, if at.kind() == "pointer_declarator" { '*' } else { '&' });
            // To the grammar, a reference has an inside without a name.
            let inner = at.child_by_field_name("declarator").or_else(|| at.named_child(0));
            let Some(inner) = inner else { return String::new() };
            at = inner;
        }
        // `auto f() -> type`
        let mut parts = self.named(at).into_iter();
        let after = parts.rfind(|part| part.kind() == "trailing_return_type");
        match at.kind() {
            "function_declarator" => match after.and_then(|after| after.named_child(0)) {
                Some(kind) => self.text(kind),
                None => format!("{}{signs}", self.text(kind)),
            },
            _ => String::new(),
        }
    }

    /// Notes the enumerations that a type in a cast, a `sizeof` or a compound literal names.
    fn mentioned(&mut self, node: Node) {
        if let Some(kind) = node.child_by_field_name("type").filter(|kind| kind.kind() == "enum_specifier") {
            self.enumeration(kind);
        }
    }

    /// Notes an enumeration, with the type that it says its values have.
    fn enumeration(&mut self, node: Node) {
        let tag = node.child_by_field_name("name").map(|name| self.text(name));
        let is_definition = node.child_by_field_name("body").is_some();
        let stated = ["base", "underlying_type"].iter().find_map(|field| node.child_by_field_name(field));
        // Attributes are not part of the tree: they stand before the list, or after it.
        let whole = span(node);
        let end = (whole.end + ATTRIBUTE).min(self.file.bytes.len() as u32);
        let near = self.file.slice(Span { end, ..whole });
        let is_packed = memchr::memmem::find(near, b"packed").is_some();
        let underlying = stated.map(|kind| self.text(kind)).or_else(|| is_packed.then(|| "char".to_owned()));
        self.unit.forms.enums.push(EnumSpecifier { span: span(node), tag, is_definition, underlying });
    }

    /// Notes the operand of a `sizeof`, with expressions of its own.
    fn measured(&mut self, node: Node) {
        let operand = node.child_by_field_name("value").or_else(|| {
            let kind = node.child_by_field_name("type")?;
            self.mentioned(kind);
            let only = kind.named_child(0).filter(|_| kind.named_child_count() == 1)?;
            (only.kind() == "type_identifier").then_some(only)
        });
        let Some(operand) = operand else { return };
        let own = std::mem::take(&mut self.unit.exprs);
        if operand.kind() == "type_identifier" {
            let name = ExprKind::Name(self.text(operand));
            self.push_expr(span(operand), name);
        } else {
            self.expr(operand);
        }
        let operand = std::mem::replace(&mut self.unit.exprs, own);
        self.unit.forms.measured.push(Measured { span: span(node), operand });
    }

    /// The sizes of arrays in the type that `sizeof` asks for: what is not a number is evaluated (C11, 6.5.3.4).
    fn evaluated_sizes(&mut self, node: Node) -> Vec<ExprId> {
        let mut sizes = Vec::new();
        let mut at = node.child_by_field_name("type").and_then(|kind| kind.child_by_field_name("declarator"));
        while let Some(part) = at {
            let size = part.child_by_field_name("size").filter(|size| size.kind() != "number_literal");
            sizes.extend(size.map(|size| self.expr(size)));
            at = part.child_by_field_name("declarator").or_else(|| part.named_child(0));
        }
        sizes
    }

    /// `.name = e` and the like.
    fn designated(&mut self, node: Node) -> Option<ExprKind> {
        let mut path = Vec::new();
        for one in node.children_by_field_name("designator") {
            let inner = one.named_child(0);
            path.push(match (one.kind(), inner) {
                ("field_designator", Some(name)) => Designator::Member(self.text(name)),
                ("subscript_designator", Some(index)) => Designator::Element(self.expr(index)),
                _ => Designator::Other,
            });
        }
        let value = self.expr(node.child_by_field_name("value")?);
        self.unit.forms.designated.push(Designated { span: span(node), path, value });
        Some(ExprKind::Initialiser(vec![value]))
    }

    /// `(type){ … }`
    fn compound_literal(&mut self, node: Node) -> Option<ExprKind> {
        let kind = node.child_by_field_name("type")?;
        self.mentioned(kind);
        let to = self.text(kind);
        let is_array = to.contains('[');
        self.unit.forms.literals.push(CompoundLiteral { span: span(node), to, is_array });
        Some(ExprKind::Initialiser(vec![self.expr(node.child_by_field_name("value")?)]))
    }

    /// The last part of a name such as `N::A<T>::f`, and the part before it without its arguments.
    fn unqualified<'t>(&self, node: Node<'t>) -> (Node<'t>, Option<String>) {
        let (mut at, mut scope) = (node, None);
        while at.kind() == "qualified_identifier"
            && let Some(name) = at.child_by_field_name("name")
        {
            let before = at.child_by_field_name("scope");
            let before = before.map(|before| before.child_by_field_name("name").unwrap_or(before));
            scope = before.map(|before| self.text(before));
            at = name;
        }
        (at, scope)
    }

    /// The name that a declarator declares; that of an operator has no blanks before its sign.
    fn declared_name(&self, node: Node) -> String {
        let text = self.text(node);
        let sign =
            text.strip_prefix("operator").map(str::trim_start).filter(|_| node.kind() == "operator_name");
        match sign {
            Some(sign) if !sign.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                text.split_whitespace().collect()
            }
            Some(_) | None => text,
        }
    }

    /// Notes which arguments the function may write through.
    fn references(&mut self, name: Node, declarator: Node) {
        let mut at = declarator;
        while at.kind() != "function_declarator" {
            let inner = at.child_by_field_name("declarator");
            let Some(next) = inner.or_else(|| at.named_child(0)) else { return };
            at = next;
        }
        let Some(list) = at.child_by_field_name("parameters") else { return };
        for (place, param) in self.named(list).into_iter().enumerate() {
            // What the reference leads to is `const`: the type itself, or the innermost pointer.
            let (mut qualified, mut at) = (param, param.child_by_field_name("declarator"));
            while let Some(pointer) = at.filter(|node| node.kind().ends_with("pointer_declarator")) {
                let inner =
                    self.named(pointer).into_iter().find(|child| child.kind().ends_with("declarator"));
                (qualified, at) = (pointer, inner);
            }
            let is_named = at.is_none_or(|node| node.kind() == "identifier");
            let is_reference = at.is_some_and(|node| node.kind().ends_with("reference_declarator"))
                || is_named && references::is_reference(self, param);
            let is_const = self
                .named(qualified)
                .into_iter()
                .any(|child| child.kind() == "type_qualifier" && self.file.slice(span(child)) == b"const");
            if is_reference && !is_const {
                self.unit.by_reference.push((self.text(name), place));
            }
        }
    }

    /// The parameters of a function; an old-style definition declares them after its declarator.
    fn params(&mut self, declarator: Node, definition: Node) -> Vec<DeclId> {
        let mut at = Some(declarator);
        let mut params = Vec::new();
        while let Some(node) = at {
            if node.kind() == "function_declarator"
                && let Some(list) = node.child_by_field_name("parameters")
            {
                for param in self.named(list) {
                    if matches!(param.kind(), "parameter_declaration" | "optional_parameter_declaration") {
                        params.extend(self.declaration(param, DeclKind::Parameter));
                    }
                }
            }
            // To the grammar, a reference has an inside without a name.
            let inner = || node.named_child(0).filter(|_| node.kind() == "reference_declarator");
            at = node.child_by_field_name("declarator").or_else(inner);
        }
        for old in self.named(definition) {
            if old.kind() == "declaration" {
                params.extend(self.declaration(old, DeclKind::Parameter));
            }
        }
        params
    }

    fn specifiers(&mut self, node: Node) -> Specifiers {
        let base =
            node.child_by_field_name("type").map_or(BaseType::Unknown, |kind| self.specifier_type(kind));
        let mut found = Specifiers {
            base,
            is_static: false,
            is_extern: false,
            is_const: false,
            is_mutable: false,
            is_typedef: node.kind() == "type_definition",
            is_reference: references::is_reference(self, node),
        };
        self.storage(node);
        // `__attribute__((mode(QI)))` gives another size.
        let has_mode = || memchr::memmem::find(self.file.slice(span(node)), b"mode").is_some();
        if matches!(found.base, BaseType::Builtin(_)) && has_mode() && self.text(node).contains("__attribute")
        {
            found.base = BaseType::Unknown;
        }
        // In `unsigned const int`, a qualifier stands among the words of the type.
        let words = node.child_by_field_name("type").filter(|kind| kind.kind() == "sized_type_specifier");
        let inside = words.map(|words| self.named(words)).unwrap_or_default();
        for child in self.named(node).into_iter().chain(inside) {
            match (child.kind(), self.file.slice(span(child))) {
                ("storage_class_specifier", b"static") => found.is_static = true,
                ("storage_class_specifier", b"extern") => found.is_extern = true,
                ("storage_class_specifier", b"typedef") => found.is_typedef = true,
                ("type_qualifier", b"const" | b"constexpr") => found.is_const = true,
                ("type_qualifier" | "storage_class_specifier", b"mutable") => found.is_mutable = true,
                _ => {}
            }
        }
        found
    }

    fn specifier_type(&mut self, node: Node) -> BaseType {
        match node.kind() {
            "primitive_type" | "sized_type_specifier" => {
                let text = self.text(node);
                let is_qualifier = |word: &&str| matches!(*word, "const" | "volatile");
                let words: Vec<&str> = text.split_whitespace().filter(|word| !is_qualifier(word)).collect();
                let words = words.join(" ");
                if words == "void" { BaseType::Void } else { BaseType::Builtin(words) }
            }
            "type_identifier" | "qualified_identifier" | "template_type" => BaseType::Named(self.text(node)),
            "enum_specifier" => {
                let name = node.child_by_field_name("name").map(|name| self.text(name));
                self.unit.enums.extend(name);
                self.enumeration(node);
                self.enumerators(node);
                BaseType::Enum
            }
            "struct_specifier" | "union_specifier" | "class_specifier" => self.record(node),
            _ => BaseType::Unknown,
        }
    }

    fn record(&mut self, node: Node) -> BaseType {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.record_here(node))
    }

    fn record_here(&mut self, node: Node) -> BaseType {
        let tag = node.child_by_field_name("name").map(|name| self.text(self.without_arguments(name)));
        let Some(body) = node.child_by_field_name("body") else {
            return tag.map_or(BaseType::Unknown, BaseType::Tagged);
        };
        let mut members = Vec::new();
        let mut bases = Vec::new();
        self.classes.push(tag.clone().unwrap_or_default());
        for child in self.named(node) {
            if child.kind() == "base_class_clause" {
                let named = self.named(child).into_iter().filter(|base| base.kind() != "access_specifier");
                bases.extend(named.map(|base| self.text(self.without_arguments(base))));
            }
        }
        let mut is_open = node.kind() != "class_specifier";
        for field in self.named(body) {
            let is_bits = |part: &Node| part.kind() == "bitfield_clause";
            is_open &= field.kind() != "access_specifier" && !self.named(field).iter().any(is_bits);
            members.extend(self.outside(field, span(field), DeclKind::Member));
        }
        self.classes.pop();
        members.retain(|member| self.unit.decl(*member).kind == DeclKind::Member);
        let id = RecordId(self.unit.records.len() as u32);
        let is_union = node.kind() == "union_specifier";
        self.unit.records.push(Record { tag, bases, members, is_union, is_open, span: span(node) });
        BaseType::Record(id)
    }

    /// `A` for `N::A<T>`.
    fn without_arguments<'t>(&self, node: Node<'t>) -> Node<'t> {
        let (last, _) = self.unqualified(node);
        last.child_by_field_name("name").unwrap_or(last)
    }

    /// `using name = type;`
    fn alias(&mut self, node: Node) -> Option<DeclId> {
        let (name, target) = (node.child_by_field_name("name")?, node.child_by_field_name("type")?);
        let specifiers = self.specifiers(target);
        let mut derived = Vec::new();
        let mut at = target.child_by_field_name("declarator");
        while let Some(declarator) = at {
            match declarator.kind() {
                "abstract_pointer_declarator" => derived.push(Derived::Pointer),
                "abstract_array_declarator" => {
                    let size = declarator.child_by_field_name("size").map(|size| self.expr(size));
                    derived.push(Derived::Array(size));
                }
                "abstract_function_declarator" => derived.push(Derived::Function),
                "abstract_reference_declarator" => derived.push(Derived::Reference),
                _ => {}
            }
            at = declarator.child_by_field_name("declarator");
        }
        derived.reverse();
        if specifiers.is_reference {
            references::refer_to(&mut derived);
        }
        Some(self.push_decl(Decl {
            kind: DeclKind::Typedef,
            name: self.text(name),
            name_span: span(name),
            span: span(node),
            base: specifiers.base,
            derived,
            init: None,
            is_static: false,
            is_extern: false,
            is_const: specifiers.is_const,
            is_restrict: false,
            fortran: Attributes::default(),
        }))
    }

    /// Enumerators are declared in the scope around; at file scope is where nearly all stand.
    fn enumerators(&mut self, node: Node) {
        let Some(body) = node.child_by_field_name("body") else { return };
        for one in self.named(body) {
            let Some(name) = one.child_by_field_name("name") else { continue };
            let init = one.child_by_field_name("value").map(|value| self.expr(value));
            let id = self.push_decl(Decl {
                kind: DeclKind::Enumerator,
                name: self.text(name),
                name_span: span(name),
                span: span(node),
                base: BaseType::Enum,
                derived: Vec::new(),
                init,
                is_static: false,
                is_extern: false,
                is_const: true,
                is_restrict: false,
                fortran: Attributes::default(),
            });
            self.unit.globals.push(id);
        }
    }

    fn push_decl(&mut self, decl: Decl) -> DeclId {
        if decl.derived.first() == Some(&Derived::Reference) {
            match decl.kind {
                DeclKind::Typedef => drop(self.unit.reference_types.insert(decl.name.clone())),
                DeclKind::Member => self.has_reference_members = true,
                _ => {}
            }
        }
        self.unit.decls.push(decl);
        DeclId(self.unit.decls.len() as u32 - 1)
    }

    /// All names that a declaration declares.
    fn declaration(&mut self, node: Node, kind: DeclKind) -> Vec<DeclId> {
        let specifiers = self.specifiers(node);
        let mut found = Vec::new();
        for declarator in node.children_by_field_name("declarator") {
            match bindings(declarator) {
                Some(names) => self.bound(node, declarator, names, &specifiers, &mut found),
                None => found.extend(self.declared(node, declarator, &specifiers, kind)),
            }
        }
        found
    }

    /// The names of a structured binding, as in `auto [x, y] = e`: each has a part of what it begins with.
    fn bound(
        &mut self,
        whole: Node,
        node: Node,
        names: Node,
        specifiers: &Specifiers,
        found: &mut Vec<DeclId>,
    ) {
        let init = node.child_by_field_name("value").map(|value| self.expr(value));
        let is_reference = names.parent().is_some_and(|outer| outer.kind() == "reference_declarator")
            || references::may_bind(self, node.child_by_field_name("value"));
        for name in self.named(names).into_iter().filter(|name| name.kind() == "identifier") {
            let decl = Decl {
                kind: DeclKind::Variable,
                name: self.text(name),
                name_span: span(name),
                span: span(whole),
                base: BaseType::Unknown,
                derived: if is_reference { vec![Derived::Reference] } else { Vec::new() },
                init,
                is_static: specifiers.is_static,
                is_extern: false,
                is_const: specifiers.is_const,
                is_restrict: false,
                fortran: Attributes::default(),
            };
            let id = self.push_decl(decl);
            self.unit.bindings.insert(id);
            found.push(id);
        }
    }

    fn declared(
        &mut self,
        whole: Node,
        node: Node,
        specifiers: &Specifiers,
        kind: DeclKind,
    ) -> Option<DeclId> {
        let (declarator, value) = match node.kind() {
            "init_declarator" => (node.child_by_field_name("declarator")?, node.child_by_field_name("value")),
            _ => (
                node,
                // The way to the parent begins at the root of the file.
                default_value(whole)
                    .filter(|_| node.parent().is_some_and(|parent| parent.id() == whole.id())),
            ),
        };
        let mut derived = Vec::new();
        let mut is_const = specifiers.is_const;
        let name = self.declarator(declarator, &mut derived, &mut is_const)?;
        if specifiers.is_reference {
            references::refer_to(&mut derived);
        }
        if !derived.is_empty() && !matches!(derived.first(), Some(Derived::Array(_))) {
            is_const = is_const && !specifiers.is_const;
        }
        let passed = self.passed(whole, declarator, &specifiers.base);
        if passed.is_some() {
            derived.retain(|part| *part != Derived::Function);
        }
        let init = value.map(|value| self.expr(value)).or(passed);
        let kind = match (kind, derived.first()) {
            _ if specifiers.is_typedef => DeclKind::Typedef,
            (DeclKind::Variable | DeclKind::Member, Some(Derived::Function)) => DeclKind::Prototype,
            (kind, _) => kind,
        };
        let (name, _) = self.unqualified(name);
        if kind == DeclKind::Prototype {
            self.references(name, declarator);
        }
        let is_restrict = self.is_restrict(span(declarator), span(name), derived.first());
        let id = self.push_decl(Decl {
            kind,
            name: self.declared_name(name),
            name_span: span(name),
            span: span(whole),
            base: specifiers.base.clone(),
            derived,
            init,
            is_static: specifiers.is_static,
            is_extern: specifiers.is_extern,
            is_const,
            is_restrict,
            fortran: Attributes::default(),
        });
        if specifiers.is_mutable {
            self.unit.mutable.insert(id);
        }
        Some(id)
    }

    /// The arguments of `T object(a, b[i]);` or `int &name(a);` in a C++ function, which reads like the prototype of a function
    /// with unnamed parameters of the types `a` and `b[i]`: among statements, an object is meant, or another name.
    fn passed(&mut self, whole: Node, declarator: Node, base: &BaseType) -> Option<ExprId> {
        let is_class = matches!(base, BaseType::Named(_) | BaseType::Tagged(_));
        const PLACES: [&str; 4] = ["compound_statement", "init_statement", "for_statement", "case_statement"];
        let is_reference = declarator.kind() == "reference_declarator";
        let declarator = if is_reference { declarator.named_child(0)? } else { declarator };
        if !self.unit.is_cpp() || declarator.kind() != "function_declarator" {
            return None;
        }
        // The way to the parent begins at the root of the file.
        whole.parent().filter(|around| PLACES.contains(&around.kind()))?;
        let list = declarator.child_by_field_name("parameters")?;
        let mut found = Vec::new();
        for parameter in self.named(list) {
            found.push(self.argument(parameter)?);
        }
        // A function of numbers may be declared among statements, too: with names of types.
        let is_value =
            |(name, sizes): &(Node, Vec<Node>)| !sizes.is_empty() || self.is_variable(&self.text(*name));
        if !(is_class || is_reference || found.iter().all(is_value)) {
            return None;
        }
        let mut arguments = Vec::new();
        for (name, sizes) in found {
            let kind = ExprKind::Name(self.text(name));
            let mut argument = self.push_expr(span(name), kind);
            for size in sizes {
                let whole = span(name).to(span(size));
                let index = self.expr(size);
                argument = self.push_expr(whole, ExprKind::Index(argument, index));
            }
            arguments.push(argument);
        }
        (!arguments.is_empty()).then(|| self.push_expr(span(list), ExprKind::Initialiser(arguments)))
    }

    /// Whether a variable of this name was declared.
    fn is_variable(&self, name: &str) -> bool {
        let is_one =
            |decl: &Decl| matches!(decl.kind, DeclKind::Variable | DeclKind::Parameter) && decl.name == name;
        self.unit.decls.iter().any(is_one)
    }

    /// The name and the subscripts of an argument that reads like an unnamed parameter.
    fn argument<'t>(&self, parameter: Node<'t>) -> Option<(Node<'t>, Vec<Node<'t>>)> {
        let parts = self.named(parameter);
        let (name, rest) = parts.split_first()?;
        if parameter.kind() != "parameter_declaration" || name.kind() != "type_identifier" || rest.len() > 1 {
            return None;
        }
        let (mut sizes, mut at) = (Vec::new(), rest.first().copied());
        while let Some(array) = at {
            if array.kind() != "abstract_array_declarator" {
                return None;
            }
            sizes.push(array.child_by_field_name("size")?);
            at = array.child_by_field_name("declarator");
        }
        sizes.reverse();
        Some((*name, sizes))
    }

    /// Walks from the outside of a declarator to its name; `derived` reads from the name outwards.
    fn declarator<'t>(
        &mut self,
        node: Node<'t>,
        derived: &mut Vec<Derived>,
        is_const: &mut bool,
    ) -> Option<Node<'t>> {
        let mut at = node;
        loop {
            match at.kind() {
                "identifier"
                | "field_identifier"
                | "type_identifier"
                | "qualified_identifier"
                | "destructor_name"
                | "operator_name"
                | "operator_cast"
                | "primitive_type" => {
                    derived.reverse();
                    return Some(at);
                }
                "pointer_declarator" => {
                    let qualified = self.named(at).into_iter().any(|child| {
                        child.kind() == "type_qualifier" && self.file.slice(span(child)) == b"const"
                    });
                    *is_const |= qualified;
                    derived.push(Derived::Pointer);
                }
                "array_declarator" => {
                    let size = at.child_by_field_name("size").map(|size| self.expr(size));
                    derived.push(Derived::Array(size));
                    let words = at.children().into_iter();
                    let words = words.filter(|word| matches!(word.kind(), "static" | "type_qualifier"));
                    self.unit.forms.bound_words.extend(words.map(span));
                }
                "function_declarator" => derived.push(Derived::Function),
                "reference_declarator" => derived.push(Derived::Reference),
                _ => {}
            }
            let inner = at.child_by_field_name("declarator");
            at = inner.or_else(|| at.named_child(at.named_child_count().checked_sub(1)? as u32))?;
        }
    }

    /// Whether the outermost pointer of a declarator is `restrict`. The shadow has lost the word; the source has not.
    fn is_restrict(&self, declarator: Span, name: Span, outermost: Option<&Derived>) -> bool {
        let inner = |c: char| c.is_alphanumeric() || c == '_';
        let says = |text: &str| {
            let mut words = text.split(|c: char| !inner(c));
            words.any(|word| scan::is_restrict(word) || self.scan.restricts.iter().any(|one| one == word))
        };
        match outermost {
            Some(Derived::Pointer) => {
                let before = self.file.text(Span { start: declarator.start, end: name.start });
                before.rsplit('*').next().is_some_and(says)
            }
            // Of a parameter: `a[restrict n]`.
            Some(Derived::Array(_)) => {
                let after = self.file.text(Span { start: name.end, end: declarator.end });
                after.split(']').next().is_some_and(says)
            }
            _ => false,
        }
    }

    fn push_stmt(&mut self, span: Span, kind: StmtKind) -> StmtId {
        self.unit.push_stmt(span, kind)
    }

    /// Whether what reads like a declaration assigns a part of a complex number: `__real__ z = 1;`.
    fn names_part(&self, node: Node) -> bool {
        const PARTS: [&str; 4] = ["__real__", "__imag__", "__real", "__imag"];
        node.child_by_field_name("type").is_some_and(|kind| PARTS.contains(&&*self.text(kind)))
    }

    /// `z = 1` in it.
    fn assigned_part(&mut self, node: Node) -> ExprId {
        let target = node.child_by_field_name("declarator").unwrap_or(node);
        let name = ExprKind::Name(self.text(target));
        let mut parts = vec![self.push_expr(span(target), name)];
        parts.extend(node.child_by_field_name("value").map(|value| self.expr(value)));
        self.push_expr(span(node), ExprKind::Opaque(parts))
    }

    fn stmt(&mut self, node: Node) -> StmtId {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.stmt_here(node))
    }

    fn stmt_here(&mut self, node: Node) -> StmtId {
        let field = |name: &str| node.child_by_field_name(name);
        let kind = match node.kind() {
            "compound_statement" => {
                let mut list = Vec::new();
                for child in self.named(node) {
                    self.block_item(child, &mut list);
                }
                StmtKind::Block(list)
            }
            "declaration" if self.names_part(node) => {
                let parts = self.named(node).into_iter().skip(1);
                let parts: Vec<ExprId> = parts.map(|part| self.assigned_part(part)).collect();
                StmtKind::Opaque(parts)
            }
            "declaration" | "type_definition" => StmtKind::Decl(self.declaration(node, DeclKind::Variable)),
            "alias_declaration" => StmtKind::Decl(self.alias(node).into_iter().collect()),
            "try_statement" => self.try_stmt(node),
            "expression_statement" => match self.named(node).first() {
                Some(expr) if hidden::is_declaration(self, *expr) => {
                    StmtKind::Decl(hidden::declaration(self, node, *expr))
                }
                Some(expr) => StmtKind::Expr(self.expr(*expr)),
                None => StmtKind::Empty,
            },
            "if_statement" | "for_statement" | "for_range_loop" | "while_statement" | "switch_statement"
            | "do_statement" => self.control(node).unwrap_or_else(|| self.opaque_stmt(node)),
            "labeled_statement" => {
                let label = field("label").map(|label| self.text(label));
                let inside =
                    self.named(node).into_iter().rfind(|child| child.kind() != "statement_identifier");
                StmtKind::Labeled { label, stmt: inside.map(|inside| self.stmt(inside)) }
            }
            "case_statement" => {
                let mut list = Vec::new();
                self.block_item(node, &mut list);
                StmtKind::Block(list)
            }
            "return_statement" => {
                let value = self.named(node).first().map(|value| self.expr(*value));
                StmtKind::Return(value)
            }
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "goto_statement" => {
                StmtKind::Goto(field("label").map(|label| self.text(label)).unwrap_or_default())
            }
            // Its constants are all that it declares.
            "enum_specifier" => {
                self.specifier_type(node);
                StmtKind::Decl(Vec::new())
            }
            // A type with nothing but members is all that it declares.
            "struct_specifier" | "union_specifier" if self.has_only_fields(node) => {
                self.specifier_type(node);
                StmtKind::Decl(Vec::new())
            }
            _ => self.opaque_stmt(node),
        };
        self.push_stmt(span(node), kind)
    }

    /// A loop or a branch; `None` if it is not whole.
    fn control(&mut self, node: Node) -> Option<StmtKind> {
        let field = |name: &str| node.child_by_field_name(name);
        Some(match node.kind() {
            "if_statement" => {
                let (cond, then) = (field("condition")?, field("consequence")?);
                let cond = self.condition(node, cond);
                let then = self.stmt(then);
                let other = field("alternative").and_then(|other| match other.kind() {
                    "else_clause" => self.named(other).into_iter().next(),
                    _ => Some(other),
                });
                StmtKind::If { cond, then, other: other.map(|other| self.stmt(other)) }
            }
            "for_range_loop" => self.range_loop(node)?,
            "for_statement" => {
                let body = field("body")?;
                let init = field("initializer").map(|init| self.for_init(init));
                let cond = field("condition").map(|cond| self.expr(cond));
                let step = field("update").map(|step| self.expr(step));
                StmtKind::For { init, cond, step, body: self.stmt(body) }
            }
            "do_statement" => {
                let (body, cond) = (field("body")?, field("condition")?);
                StmtKind::DoWhile { body: self.stmt(body), cond: self.condition(node, cond) }
            }
            kind => {
                let (cond, body) = (field("condition")?, field("body")?);
                let (cond, body) = (self.condition(node, cond), self.stmt(body));
                if kind == "while_statement" {
                    StmtKind::While { cond, body }
                } else {
                    StmtKind::Switch { cond, body }
                }
            }
        })
    }

    /// Whether the body of a struct or union has members and no definitions of functions.
    fn has_only_fields(&self, node: Node) -> bool {
        let body = node.child_by_field_name("body");
        body.is_some_and(|body| self.named(body).iter().all(|field| field.kind() == "field_declaration"))
    }

    /// A statement of a block. In the tree, a `case` holds the statements after it; in the IR they are its neighbours.
    fn block_item(&mut self, node: Node, list: &mut Vec<StmtId>) {
        if node.kind() != "case_statement" {
            list.push(self.stmt(node));
            return;
        }
        let value = node.child_by_field_name("value");
        let inside: Vec<Node> = self
            .named(node)
            .into_iter()
            .filter(|child| Some(child.id()) != value.map(|value| value.id()))
            .collect();
        let end = inside.first().map_or(node.end_byte(), |first| first.start_byte());
        let mark = Span::new(node.start_byte(), end);
        let label = self.push_stmt(mark, StmtKind::Labeled { label: None, stmt: None });
        self.unit.defaults.extend(value.is_none().then_some(label));
        list.push(label);
        for child in inside {
            self.block_item(child, list);
        }
    }

    /// `for (declaration : range)`: a loop without condition whose variable begins as the range.
    fn range_loop(&mut self, node: Node) -> Option<StmtKind> {
        let field = |name: &str| node.child_by_field_name(name);
        let (declarator, right, body) = (field("declarator")?, field("right")?, field("body")?);
        let specifiers = self.specifiers(node);
        let range = self.expr(right);
        let decl = self.declared(node, declarator, &specifiers, DeclKind::Variable)?;
        let whole = Span::new(field("type").unwrap_or(declarator).start_byte(), right.end_byte());
        if let Some(decl) = self.unit.decls.get_mut(decl.0 as usize) {
            decl.init = Some(range);
            decl.span = whole;
        }
        let init = Some(self.push_stmt(whole, StmtKind::Decl(vec![decl])));
        Some(StmtKind::For { init, cond: None, step: None, body: self.stmt(body) })
    }

    /// `try` and its handlers: blocks of which each may run, or not.
    fn try_stmt(&mut self, node: Node) -> StmtKind {
        let handlers = self.named(node).into_iter().filter(|child| child.kind() == "catch_clause");
        let mut parts = Vec::new();
        for one in std::iter::once(node).chain(handlers) {
            let Some(body) = one.child_by_field_name("body") else { continue };
            let params = one.child_by_field_name("parameters");
            let caught = params.map(|params| (span(params), self.caught(params)));
            let cond = self.push_expr(Span::at(body.start_byte()), ExprKind::Literal);
            let then = self.stmt(body);
            let part = self.push_stmt(span(body), StmtKind::If { cond, then, other: None });
            parts.push(match caught {
                Some((place, decls)) if !decls.is_empty() => {
                    let declared = self.push_stmt(place, StmtKind::Decl(decls));
                    self.push_stmt(span(one), StmtKind::Block(vec![declared, part]))
                }
                Some(_) | None => part,
            });
        }
        StmtKind::Block(parts)
    }

    /// The variable that a handler catches what was thrown in.
    fn caught(&mut self, params: Node) -> Vec<DeclId> {
        let mut found = Vec::new();
        for param in self.named(params) {
            if param.kind() == "parameter_declaration" {
                found.extend(self.declaration(param, DeclKind::Variable));
            }
        }
        found
    }

    fn for_init(&mut self, node: Node) -> StmtId {
        match node.kind() {
            "declaration" => self.stmt(node),
            "init_statement" => match self.named(node).first() {
                Some(inner) => self.stmt(*inner),
                None => self.push_stmt(span(node), StmtKind::Empty),
            },
            "expression_statement" => self.stmt(node),
            _ => {
                let expr = self.expr(node);
                self.push_stmt(span(node), StmtKind::Expr(expr))
            }
        }
    }

    /// The condition of statement `whole` in its parentheses; C++ wraps it once more, and may declare variables there, which
    /// get their values as by assignments.
    fn condition(&mut self, whole: Node, node: Node) -> ExprId {
        if node.kind() != "condition_clause" {
            return self.expr(node);
        }
        let first =
            node.child_by_field_name("initializer").and_then(|first| self.named(first).first().copied());
        let parts = first.into_iter().chain(node.child_by_field_name("value"));
        let mut all: Option<ExprId> = None;
        for part in parts {
            let values = match part.kind() {
                "declaration" => self.declared_in_condition(whole, part),
                "expression_statement" => {
                    self.named(part).into_iter().map(|inside| self.expr(inside)).collect()
                }
                _ => vec![self.expr(part)],
            };
            for value in values {
                all = Some(match all {
                    Some(before) => self.push_expr(span(node), ExprKind::Comma(before, value)),
                    None => value,
                });
            }
        }
        all.unwrap_or_else(|| self.expr(node))
    }

    /// The variables that a condition declares, as assignments.
    fn declared_in_condition(&mut self, whole: Node, node: Node) -> Vec<ExprId> {
        let value = node.child_by_field_name("value").map(|value| self.expr(value));
        let mut found = Vec::new();
        for id in self.declaration(node, DeclKind::Variable) {
            self.unit.conditional.push((span(whole), id));
            let decl = &mut self.unit.decls[id.0 as usize];
            decl.init = decl.init.or(value);
            let (name, at, init) = (decl.name.clone(), decl.name_span, decl.init);
            let name = self.push_expr(at, ExprKind::Name(name));
            let assigned = init.map(|init| self.push_expr(span(node), ExprKind::Assign(None, name, init)));
            found.push(assigned.unwrap_or(name));
        }
        found
    }

    fn opaque_stmt(&mut self, node: Node) -> StmtKind {
        StmtKind::Opaque(self.named(node).into_iter().map(|child| self.expr(child)).collect())
    }

    fn push_expr(&mut self, span: Span, kind: ExprKind) -> ExprId {
        self.unit.push_expr(span, kind)
    }

    fn expr(&mut self, node: Node) -> ExprId {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.expr_here(node))
    }

    fn expr_here(&mut self, node: Node) -> ExprId {
        let (outer, mut node) = (node.kind(), node);
        while node.kind() == "parenthesized_expression" {
            let inside = self.named(node);
            let [only] = inside.as_slice() else { break };
            node = *only;
        }
        if node.kind() == "compound_statement" && outer == "parenthesized_expression" {
            let kind = self.value_block(node);
            return self.push_expr(span(node), kind);
        }
        let kind = self.expr_kind(node).unwrap_or_else(|| self.opaque_expr(node));
        self.push_expr(span(node), kind)
    }

    fn opaque_expr(&mut self, node: Node) -> ExprKind {
        ExprKind::Opaque(self.named(node).into_iter().map(|child| self.expr(child)).collect())
    }

    /// `static_cast<type>(e)` and the like.
    fn named_cast(&mut self, function: Node, arguments: Node) -> Option<ExprKind> {
        const CASTS: [&str; 4] = ["static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"];
        let name = function.child_by_field_name("name").filter(|_| function.kind() == "template_function")?;
        CASTS.contains(&self.text(name).as_str()).then_some(())?;
        let types = self.named(function.child_by_field_name("arguments")?);
        let values = self.named(arguments);
        let ([to], [operand]) = (types.as_slice(), values.as_slice()) else { return None };
        Some(ExprKind::Cast { to: self.text(*to), operand: self.expr(*operand) })
    }

    /// What is captured, and the body.
    fn lambda(&mut self, node: Node) -> ExprKind {
        let field = |name: &str| node.child_by_field_name(name);
        let captures =
            field("captures").is_some_and(|all| !self.named(all).is_empty() || all.child_count() > 2);
        self.unit.lambdas.push((span(node), captures));
        // The parameters are names of their own.
        let list = field("declarator").and_then(|declarator| declarator.child_by_field_name("parameters"));
        let params = list.map(|list| self.named(list)).unwrap_or_default();
        for param in params.into_iter().filter_map(|param| param.child_by_field_name("declarator")) {
            if let Some(name) = self.declarator(param, &mut Vec::new(), &mut false) {
                self.push_expr(span(name), ExprKind::Opaque(Vec::new()));
            }
        }
        let parts = [field("captures"), field("body")].into_iter().flatten();
        ExprKind::Opaque(parts.map(|part| self.expr(part)).collect())
    }

    /// What an `asm` reads and changes.
    fn asm_operands(&mut self, node: Node) -> Vec<ExprId> {
        let parts = self.named(node).into_iter();
        let lists = parts.filter(|part| part.kind().ends_with("_operand_list"));
        let operands = lists.flat_map(Node::named).filter_map(|one| one.child_by_field_name("value"));
        operands.map(|value| self.expr(value)).collect()
    }

    fn assignment(&mut self, node: Node) -> Option<ExprKind> {
        let field = |name: &str| node.child_by_field_name(name);
        let (left, right) = (self.expr(field("left")?), self.expr(field("right")?));
        let op = match field("operator")?.kind().strip_suffix('=') {
            Some("") | None => None,
            Some(op) => Some(binary(op)?),
        };
        Some(ExprKind::Assign(op, left, right))
    }

    /// A call, or a cast that is written like one.
    fn call(&mut self, node: Node) -> Option<ExprKind> {
        let (function, arguments) =
            (node.child_by_field_name("function")?, node.child_by_field_name("arguments")?);
        if let Some(cast) = self.named_cast(function, arguments) {
            return Some(cast);
        }
        if matches!(function.kind(), "primitive_type" | "sized_type_specifier")
            && let [operand] = self.named(arguments)[..]
        {
            return Some(ExprKind::Cast { to: self.text(function), operand: self.expr(operand) });
        }
        let callee = self.expr(function);
        let args = self.named(arguments).into_iter().map(|arg| self.expr(arg)).collect();
        Some(ExprKind::Call { callee, args })
    }

    /// `({ … })`
    fn value_block(&mut self, node: Node) -> ExprKind {
        let (mut locals, mut value) = (Vec::new(), None);
        let mut parts = Vec::new();
        for child in self.named(node) {
            let part = self.expr(child);
            parts.push(part);
            let ExprKind::Opaque(inside) = &self.unit.expr(part).kind else { continue };
            value = inside.first().copied().filter(|_| child.kind() == "expression_statement");
            let kind = child.child_by_field_name("type").filter(|_| child.kind() == "declaration");
            let Some(words) = kind.map(|kind| self.text(kind)) else { continue };
            for declared in inside {
                let name = |id: &ExprId| match &self.unit.expr(*id).kind {
                    ExprKind::Name(name) => Some(name.clone()),
                    _ => None,
                };
                let found = match &self.unit.expr(*declared).kind {
                    ExprKind::Opaque(parts) => {
                        parts.first().and_then(name).map(|name| (name, parts.get(1).copied()))
                    }
                    _ => name(declared).map(|name| (name, None)),
                };
                locals.extend(found.map(|(name, init)| Local { name, words: words.clone(), init }));
            }
        }
        self.unit.forms.blocks.push(ValueBlock { span: span(node), locals, value });
        ExprKind::Opaque(parts)
    }

    /// A member of an object.
    fn member(&mut self, node: Node) -> Option<ExprKind> {
        let (base, name) = (node.child_by_field_name("argument")?, node.child_by_field_name("field")?);
        let sign = node.child_by_field_name("operator").map(Node::kind);
        // A pointer to a member leads to any of them; the grammar has no `->*`.
        if sign == Some(".*") || node.has_error() {
            let pointer = self.push_expr(span(name), ExprKind::Name(self.text(name)));
            return Some(ExprKind::Opaque(vec![self.expr(base), pointer]));
        }
        Some(ExprKind::Member { base: self.expr(base), name: self.text(name), arrow: sign == Some("->") })
    }

    /// A number that is written out.
    fn number(&mut self, node: Node) -> ExprKind {
        match integer(&self.text(node)) {
            Some(value) => ExprKind::Int(value),
            None => {
                self.unit.reals.insert(node.start_byte() as u32);
                ExprKind::Literal
            }
        }
    }

    /// A literal whose suffix the program defines: what a whole number with one is, nobody knows.
    fn literal_of_program(&mut self, node: Node) -> Option<ExprKind> {
        let text = self.text(node);
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let has_fraction = text.split('_').next().is_some_and(|number| number.contains('.'));
            has_fraction.then(|| self.unit.reals.insert(node.start_byte() as u32))?;
        }
        Some(ExprKind::Literal)
    }

    /// `None` for a node that is not known or not whole.
    fn expr_kind(&mut self, node: Node) -> Option<ExprKind> {
        let field = |name: &str| node.child_by_field_name(name);
        let operator = || field("operator").map(Node::kind);
        let kind = match node.kind() {
            "identifier" | "this" | "qualified_identifier" => ExprKind::Name(self.text(node)),
            "template_function" => {
                self.unit.forms.instances.push(Instance { span: span(node), text: self.text(node) });
                ExprKind::Name(self.text(field("name")?))
            }
            "lambda_expression" => self.lambda(node),
            // Their arguments are read.
            "argument_list" | "new_expression" | "new_declarator" | "delete_expression" => {
                ExprKind::Initialiser(self.named(node).into_iter().map(|child| self.expr(child)).collect())
            }
            "number_literal" => self.number(node),
            "user_defined_literal" => return self.literal_of_program(node),
            kind if is_literal(kind) => ExprKind::Literal,
            "assignment_expression" => return self.assignment(node),
            "binary_expression" => {
                let (left, right) = (self.expr(field("left")?), self.expr(field("right")?));
                ExprKind::Binary(binary(operator()?)?, left, right)
            }
            "unary_expression" => {
                let operand = self.expr(field("argument")?);
                ExprKind::Unary(unary(operator()?)?, operand)
            }
            "update_expression" => {
                let argument = field("argument")?;
                let postfix = argument.start_byte() == node.start_byte();
                ExprKind::Step { up: operator()? == "++", operand: self.expr(argument), postfix }
            }
            "pointer_expression" => {
                let operand = self.expr(field("argument")?);
                if operator()? == "&" { ExprKind::AddressOf(operand) } else { ExprKind::Deref(operand) }
            }
            "call_expression" => return self.call(node),
            "subscript_expression" => {
                let base = self.expr(field("argument")?);
                let index = match field("index") {
                    Some(index) => index,
                    None => self.named(field("indices")?).into_iter().next()?,
                };
                ExprKind::Index(base, self.expr(index))
            }
            "field_expression" => return self.member(node),
            "gnu_asm_expression" => ExprKind::Opaque(self.asm_operands(node)),
            "cast_expression" => {
                self.mentioned(field("type")?);
                ExprKind::Cast { to: self.text(field("type")?), operand: self.expr(field("value")?) }
            }
            "sizeof_expression" => {
                self.measured(node);
                match self.evaluated_sizes(node) {
                    sizes if sizes.is_empty() => ExprKind::Sizeof,
                    sizes => ExprKind::Opaque(sizes),
                }
            }
            "alignof_expression" | "offsetof_expression" => ExprKind::Sizeof,
            "generic_expression" => {
                self.unit.forms.generic.push(span(node));
                return None;
            }
            "conditional_expression" => {
                let cond = self.expr(field("condition")?);
                let first = match field("consequence") {
                    Some(first) => self.expr(first),
                    None => cond,
                };
                ExprKind::Conditional(cond, first, self.expr(field("alternative")?))
            }
            "comma_expression" => ExprKind::Comma(self.expr(field("left")?), self.expr(field("right")?)),
            "initializer_list" => {
                ExprKind::Initialiser(self.named(node).into_iter().map(|child| self.expr(child)).collect())
            }
            "initializer_pair" => return self.designated(node),
            "compound_literal_expression" => return self.compound_literal(node),
            _ => return None,
        };
        Some(kind)
    }
}

/// Adds nodes to what is still to be read, the first one last.
fn push<'t>(pending: &mut Vec<(Node<'t>, Span)>, nodes: Vec<Node<'t>>) {
    pending.extend(nodes.into_iter().rev().map(|node| (node, span(node))));
}

/// Where a declarator lists the names of a structured binding.
fn bindings(declarator: Node) -> Option<Node> {
    let mut at = declarator;
    loop {
        at = match at.kind() {
            "structured_binding_declarator" => return Some(at),
            "init_declarator" => at.child_by_field_name("declarator")?,
            "reference_declarator" => at.named_child(0)?,
            _ => return None,
        };
    }
}

/// The default value of a C++ parameter.
fn default_value(node: Node) -> Option<Node> {
    node.child_by_field_name("default_value")
}

fn innermost_name(declarator: Node) -> Option<Node> {
    let mut at = declarator;
    loop {
        match at.kind() {
            "identifier"
            | "field_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_cast"
            | "operator_name" => {
                return Some(at);
            }
            // A specialisation: `f<int>`.
            "template_function" => return at.child_by_field_name("name"),
            _ => {}
        }
        at = at
            .child_by_field_name("declarator")
            .or_else(|| at.named_child(at.named_child_count().checked_sub(1)? as u32))?;
    }
}

/// Whether nodes of a kind have nothing inside that counts.
fn is_literal(kind: &str) -> bool {
    matches!(
        kind,
        "string_literal"
            | "char_literal"
            | "concatenated_string"
            | "true"
            | "false"
            | "null"
            | "nullptr"
            | "raw_string_literal"
            | "template_type"
            | "type_descriptor"
            | "primitive_type"
            | "type_identifier"
            | "field_identifier"
    )
}

fn unary(operator: &str) -> Option<UnaryOp> {
    Some(match operator {
        "-" => UnaryOp::Minus,
        "+" => UnaryOp::Plus,
        "!" | "not" => UnaryOp::Not,
        "~" | "compl" => UnaryOp::BitNot,
        _ => return None,
    })
}

fn binary(operator: &str) -> Option<BinaryOp> {
    Some(match operator {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Remainder,
        "<<" => BinaryOp::ShiftLeft,
        ">>" => BinaryOp::ShiftRight,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        "==" => BinaryOp::Equal,
        "!=" | "not_eq" => BinaryOp::NotEqual,
        "&" | "bitand" => BinaryOp::BitAnd,
        "|" | "bitor" => BinaryOp::BitOr,
        "^" | "xor" => BinaryOp::BitXor,
        "&&" | "and" => BinaryOp::And,
        "||" | "or" => BinaryOp::Or,
        _ => return None,
    })
}

/// The value of an integer literal; `None` for a floating one.
fn integer(text: &str) -> Option<i128> {
    let digits = text.replace('\'', "");
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let lower = digits.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()
    } else if let Some(bits) = lower.strip_prefix("0b") {
        i128::from_str_radix(bits, 2).ok()
    } else if lower.len() > 1 && lower.starts_with('0') {
        i128::from_str_radix(&lower, 8).ok()
    } else {
        lower.parse().ok()
    }
}

#[cfg(test)]
mod tests;
