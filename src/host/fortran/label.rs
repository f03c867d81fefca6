//! Statement labels: which of them something jumps to.
//!
//! Invariant: the labels of a procedure are looked for once, and only if it has any.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Reader, Word, span};

/// The labels of a procedure that something jumps to.
#[derive(Default)]
pub(super) struct Labels<'t> {
    /// The procedure or program.
    around: Option<Node<'t>>,
    targets: Option<HashSet<String>>,
}

impl<'t> Labels<'t> {
    pub(super) fn new(around: Node<'t>) -> Labels<'t> {
        Labels { around: Some(around), targets: None }
    }
}

impl<'t> Reader<'_, 't> {
    /// The label as it is compared: without zeros before it.
    pub(super) fn label(&self, node: Node) -> String {
        self.label_of(&self.file.text(span(node)))
    }

    pub(super) fn label_of(&self, text: &str) -> String {
        text.trim_matches(|other: char| !other.is_ascii_digit()).trim_start_matches('0').to_owned()
    }

    pub(super) fn is_target(&mut self, label: &str) -> bool {
        if self.labels.targets.is_none() {
            let around = self.labels.around;
            self.labels.targets = Some(around.map(|around| self.targets(around)).unwrap_or_default());
        }
        self.labels.targets.as_ref().is_some_and(|targets| targets.contains(label))
    }

    /// The labels that `goto`, arithmetic `if`, alternate returns and I/O statements name.
    fn targets(&self, around: Node<'t>) -> HashSet<String> {
        let mut found = HashSet::new();
        let mut cursor = around.walk();
        let mut enter = cursor.goto_first_child();
        while enter {
            let node = cursor.node();
            let inside = match node.word() {
                "statement_label_reference" => {
                    found.insert(self.label(node));
                    false
                }
                "keyword_argument" => {
                    found.extend(self.branch(node));
                    false
                }
                // After `*` in a call.
                "ERROR" => {
                    found.insert(self.label(node));
                    true
                }
                "do_statement" | "format_identifier" | "internal_procedures" | "assignment_statement" => {
                    false
                }
                _ => true,
            };
            if inside && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() || cursor.node().id() == around.id() {
                    enter = false;
                    break;
                }
            }
        }
        found
    }

    /// The label in `err=10`, `end=10` and `eor=10`.
    pub(super) fn branch(&self, keyword: Node<'t>) -> Option<String> {
        let name = keyword.child_by_field_name("name")?;
        let value = keyword.child_by_field_name("value").filter(|value| value.word() == "number_literal")?;
        matches!(self.name(name).as_str(), "err" | "end" | "eor").then(|| self.label(value))
    }

    /// A statement with the label before it.
    pub(super) fn labelled(&mut self, label: Option<Node<'t>>, node: Node<'t>) -> StmtId {
        let Some(mark) = label else { return self.stmt(node, node.start_byte()) };
        let label = self.label(mark);
        if !self.is_target(&label) {
            return self.stmt(node, mark.start_byte());
        }
        let inner = self.stmt(node, node.start_byte());
        let whole = span(mark).to(self.unit.stmt(inner).span);
        self.push_stmt(whole, StmtKind::Labeled { label: Some(label), stmt: Some(inner) })
    }

    /// The place after a named construct other than a loop, if an `exit` statement goes there.
    pub(super) fn place_after(&mut self, node: Node<'t>) -> Option<StmtId> {
        let is_loop = matches!(node.word(), "do_loop" | "forall_statement");
        let first = node.named_child(0).filter(|first| first.word() == "block_label_start_expression");
        let name = first.filter(|_| !is_loop)?;
        let name = self.name(name).trim_end_matches(':').trim().to_owned();
        let end = Span::at(self.trimmed(node).end as usize);
        let is_target = self.is_left(node, &name);
        is_target.then(|| self.push_stmt(end, StmtKind::Labeled { label: Some(name), stmt: None }))
    }

    /// Whether an `exit` statement in a construct says its name.
    fn is_left(&mut self, construct: Node<'t>, name: &str) -> bool {
        let mut pending = vec![construct];
        while let Some(node) = pending.pop() {
            let parts = self.children(node);
            if let [word, other] = parts.as_slice()
                && node.word() == "keyword_statement"
                && word.word() == "exit"
                && self.name(*other) == name
            {
                return true;
            }
            pending.extend(parts);
        }
        false
    }

    /// The label of an `end` statement, if something jumps there.
    pub(super) fn lone_label(&mut self, mark: Span) -> Option<StmtId> {
        let label = self.label_of(&self.file.text(mark));
        let is_target = self.is_target(&label);
        is_target.then(|| self.push_stmt(mark, StmtKind::Labeled { label: Some(label), stmt: None }))
    }
}
