//! A node of the grammars' trees that knows its words.
//!
//! Invariant: answers as the node of the grammar does; only the words come from tables instead of from C.

use std::ops::Deref;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tree_sitter::{Language, Tree};

/// Lists of so many nodes are read by number: a cursor costs more than it saves.
const FEW: usize = 6;

/// The words of a grammar.
#[derive(Debug)]
pub struct Words {
    /// The kinds of nodes, by number.
    kinds: Vec<&'static str>,
    /// The numbers of the fields.
    fields: FxHashMap<&'static str, u16>,
}

static C_LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_c::LANGUAGE.into());
static CPP_LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_cpp::LANGUAGE.into());
static C: LazyLock<Words> = LazyLock::new(|| Words::of(&C_LANGUAGE));
static CPP: LazyLock<Words> = LazyLock::new(|| Words::of(&CPP_LANGUAGE));

impl Words {
    fn of(language: &'static Language) -> Words {
        let kinds = 0..language.node_kind_count() as u16;
        let fields = 1..=language.field_count() as u16;
        Words {
            kinds: kinds.map(|id| language.node_kind_for_id(id).unwrap_or_default()).collect(),
            fields: fields.filter_map(|id| Some((language.field_name_for_id(id)?, id))).collect(),
        }
    }
}

/// A node.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    node: tree_sitter::Node<'t>,
    words: &'static Words,
}

impl<'t> Deref for Node<'t> {
    type Target = tree_sitter::Node<'t>;

    fn deref(&self) -> &tree_sitter::Node<'t> {
        &self.node
    }
}

impl<'t> Node<'t> {
    /// The root of a tree.
    pub fn root(tree: &'t Tree, is_cpp: bool) -> Node<'t> {
        Node { node: tree.root_node(), words: if is_cpp { &CPP } else { &C } }
    }

    fn of(self, node: tree_sitter::Node<'t>) -> Node<'t> {
        Node { node, words: self.words }
    }

    /// What it is.
    pub fn kind(self) -> &'static str {
        // The number of an error is larger than all others.
        self.words.kinds.get(usize::from(self.node.kind_id())).copied().unwrap_or("ERROR")
    }

    /// The first part that the grammar calls so.
    pub fn child_by_field_name(self, name: &str) -> Option<Node<'t>> {
        let field = self.words.fields.get(name)?;
        self.node.child_by_field_id(*field).map(|node| self.of(node))
    }

    /// All parts that the grammar calls so.
    pub fn children_by_field_name(self, name: &str) -> Vec<Node<'t>> {
        let Some(field) = self.words.fields.get(name).copied().and_then(|id| id.try_into().ok()) else {
            return Vec::new();
        };
        self.node.children_by_field_id(field, &mut self.node.walk()).map(|node| self.of(node)).collect()
    }

    /// The part with a name of its own at this place among those.
    pub fn named_child(self, at: u32) -> Option<Node<'t>> {
        self.node.named_child(at).map(|node| self.of(node))
    }

    /// All parts.
    pub fn children(self) -> Vec<Node<'t>> {
        self.node.children(&mut self.node.walk()).map(|node| self.of(node)).collect()
    }

    /// What it is a part of. The way there begins at the root of the file.
    pub fn parent(self) -> Option<Node<'t>> {
        self.node.parent().map(|node| self.of(node))
    }

    /// The parts with names of their own, without comments.
    pub fn named(self) -> Vec<Node<'t>> {
        let count = self.node.named_child_count();
        let mut all = Vec::with_capacity(count);
        let is_code = |node: &Node| node.kind() != "comment";
        if count <= FEW {
            all.extend((0..count as u32).filter_map(|at| self.named_child(at)).filter(is_code));
        } else {
            let mut cursor = self.node.walk();
            all.extend(self.node.named_children(&mut cursor).map(|node| self.of(node)).filter(is_code));
        }
        all
    }
}
