//! Fortran: a tree-sitter tree becomes the structure IR.
//!
//! Invariant: only this folder knows the grammar's node names; what it does not know becomes `Opaque`, never nothing.

mod bare;
mod construct;
mod decl;
mod expr;
mod io;
mod label;
mod repeat;
mod scope;
mod spec;
mod stmt;

use std::sync::LazyLock;

use tree_sitter::{Language, Node, Parser, Tree, TreeCursor};

use crate::scan::Scan;
use crate::source::{SourceFile, Span};

use super::ir::*;

/// Copies the tree of a file.
pub fn unit(file: &SourceFile, scan: &Scan, tree: Option<Tree>) -> Unit {
    let Some(tree) = tree else { return Unit { dialect: Dialect::Fortran, ..Unit::default() } };
    let mut reader = Reader {
        file,
        shadow: &scan.shadow,
        unit: Unit { dialect: Dialect::Fortran, ..Unit::default() },
        cursor: tree.walk(),
        frames: Vec::new(),
        scope: None,
        labels: label::Labels::default(),
        around: Vec::new(),
        terminal: None,
    };
    reader.units(tree.root_node());
    let mut unit = reader.unit;
    unit.errors = errors(&tree, &scan.shadow);
    unit.top_level.sort_by_key(|span| span.start);
    let (mut errors, mut reached) = (unit.errors.iter().peekable(), 0);
    for function in &mut unit.functions {
        while let Some(error) = errors.next_if(|error| error.start < function.span.start) {
            reached = reached.max(error.end);
        }
        function.has_error = reached > function.span.start
            || errors.peek().is_some_and(|error| error.start < function.span.end);
    }
    unit
}

/// A parser of Fortran.
pub fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&LANGUAGE).ok()?;
    Some(parser)
}

fn plain_tree(text: &[u8]) -> Option<Tree> {
    super::read(&mut parser()?, text, None)
}

/// Whether a text is an expression that may stand alone in parentheses.
pub fn is_condition(text: &str) -> bool {
    let head = "subroutine f\nif ";
    let whole = format!("{head}({text}) then\nend if\nend subroutine\n");
    plain_tree(whole.as_bytes()).is_some_and(|tree| super::is_parenthesised(&tree, head.len(), text))
}

/// The tree of a file. A file to be included may hold just a part of a program, which is parsed better with an `end` after it.
pub fn tree(text: &[u8]) -> Option<Tree> {
    let tree = plain_tree(text)?;
    if !tree.root_node().has_error() {
        return Some(tree);
    }
    let with_end = [text, b"\nend\n"].concat();
    let other = plain_tree(&with_end)?;
    let bytes = |tree: &Tree| errors(tree, &with_end).iter().map(|span| span.len() + 1).sum::<usize>();
    Some(if bytes(&other) < bytes(&tree) { other } else { tree })
}

/// The tree of a file without what its procedures execute, if the grammar can read that.
pub fn declarations(text: &[u8]) -> Option<Tree> {
    plain_tree(&bare::without_execution(text)?).filter(|tree| !tree.root_node().has_error())
}

/// The places that the grammar could not read, or where it made something up.
pub fn errors(tree: &Tree, text: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    let mut around: Vec<Node> = Vec::new();
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error && !is_known_gap(around.last(), node, text) {
            // The `end` after the text is not part of the file.
            found.push(Span::new(node.start_byte().min(text.len()), node.end_byte().min(text.len())));
        }
        if node.has_error() && !is_error && cursor.goto_first_child() {
            around.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            around.pop();
        }
    }
}

/// What is right in Fortran and not in the grammar, where what is around is read all the same: an alternate return, and the
/// comma between two common blocks.
fn is_known_gap(around: Option<&Node>, error: Node, text: &[u8]) -> bool {
    let Some(around) = around else { return false };
    let inside = text.get(error.byte_range()).unwrap_or_default();
    match around.word() {
        "parameters" | "subroutine_statement" | "argument_list" => {
            !error.is_missing() && inside.iter().all(|byte| b",* \t".contains(byte) || byte.is_ascii_digit())
        }
        "common_statement" | "namelist_statement" => inside == b",",
        _ => false,
    }
}

static LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_fortran::LANGUAGE.into());

/// The words that the grammar has for its kinds of nodes, by number.
static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let ids = 0..LANGUAGE.node_kind_count() as u16;
    ids.map(|id| LANGUAGE.node_kind_for_id(id).unwrap_or_default()).collect()
});

/// What a node is.
trait Word {
    /// As `kind`, which takes the text from C each time that it is asked.
    fn word(&self) -> &'static str;
}

impl Word for Node<'_> {
    fn word(&self) -> &'static str {
        // The number of an error is larger than all others.
        WORDS.get(usize::from(self.kind_id())).copied().unwrap_or("ERROR")
    }
}

/// Whether the node is more than a comment or a line of the preprocessor.
fn is_code(node: &Node) -> bool {
    !node.is_extra() || node.is_error()
}

fn span(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// So many children are found faster by their number than step by step.
const FEW: usize = 4;

/// What surrounds a statement, as far as `exit` and `cycle` ask.
enum Around {
    Loop(Option<String>),
    Switch,
}

/// The statement that ends loops `do 10 …`, one or several.
#[derive(Clone, Copy)]
struct Terminal<'t> {
    /// The label.
    label: Span,
    /// The statement; `None` for `end do`.
    stmt: Option<Node<'t>>,
    /// Offset of its end.
    end: usize,
}

struct Reader<'a, 't> {
    file: &'a SourceFile,
    shadow: &'a [u8],
    unit: Unit,
    cursor: TreeCursor<'t>,
    /// The scoping units, types and block constructs whose declarations are being read, outermost first.
    frames: Vec<decl::Frame>,
    scope: Option<ScopeId>,
    labels: label::Labels<'t>,
    around: Vec<Around>,
    terminal: Option<Terminal<'t>>,
}

impl<'t> Reader<'_, 't> {
    /// The text in lower case.
    fn name(&self, node: Node) -> String {
        self.lower(span(node))
    }

    fn lower(&self, span: Span) -> String {
        let mut text = self.file.text(span).into_owned();
        text.make_ascii_lowercase();
        text
    }

    /// The children, anonymous ones included.
    fn children(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        let count = node.child_count();
        if count as usize <= FEW {
            return (0..count).filter_map(|at| node.child(at)).filter(is_code).collect();
        }
        self.walked(node, |_| true)
    }

    fn named(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        let count = node.named_child_count();
        if count <= FEW {
            return (0..count as u32).filter_map(|at| node.named_child(at)).filter(is_code).collect();
        }
        self.walked(node, Node::is_named)
    }

    /// The children of one kind, found step by step.
    fn walked(&mut self, node: Node<'t>, is_wanted: impl Fn(&Node<'t>) -> bool) -> Vec<Node<'t>> {
        let count = node.child_count() as usize;
        let mut found = Vec::with_capacity(count);
        self.cursor.reset(node);
        // A step past the last one would search for a sibling in all nodes around.
        for at in 0..count {
            let goes_on =
                if at == 0 { self.cursor.goto_first_child() } else { self.cursor.goto_next_sibling() };
            if !goes_on {
                break;
            }
            let child = self.cursor.node();
            if is_wanted(&child) && is_code(&child) {
                found.push(child);
            }
        }
        found
    }

    fn first_of(&mut self, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
        self.children(node).into_iter().find(|child| child.word() == kind)
    }

    /// Without the end of the line that some nodes hold.
    fn trimmed(&self, node: Node) -> Span {
        Span::new(node.start_byte(), self.trimmed_end(node.start_byte(), node.end_byte()))
    }

    fn trimmed_end(&self, start: usize, end: usize) -> usize {
        let end = end.min(self.shadow.len());
        let inside = self.shadow.get(start..end).unwrap_or_default();
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
        start + inside.iter().rposition(|byte| !blank(byte)).map_or(0, |last| last + 1)
    }

    fn push_expr(&mut self, span: Span, kind: ExprKind) -> ExprId {
        self.unit.exprs.push(Expr { span, kind });
        ExprId(self.unit.exprs.len() as u32 - 1)
    }

    fn push_stmt(&mut self, span: Span, kind: StmtKind) -> StmtId {
        self.unit.stmts.push(Stmt { span, kind });
        StmtId(self.unit.stmts.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests;
