//! Sets of variables that are copied at no cost.
//!
//! Invariant: a set is never changed: a new one shares what is equal, so that a branch costs what it assigns, not what is
//! assigned around it.

use std::rc::Rc;

use super::symbol::SymbolId;

/// A set of variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Assigned(Option<Rc<Node>>);

/// A part of a set: the numbers of 64 variables, or two parts whose numbers differ first in one bit.
#[derive(Debug)]
enum Node {
    Leaf { key: u32, members: u64 },
    Branch { key: u32, bit: u32, zero: Rc<Node>, one: Rc<Node> },
}

impl Node {
    /// The bits that all its numbers have in common, and the first in which they may differ; 0 for a leaf.
    fn head(&self) -> (u32, u32) {
        match self {
            Node::Leaf { key, .. } => (*key, 0),
            Node::Branch { key, bit, .. } => (*key, *bit),
        }
    }

    /// Whether this is a branch, and all numbers of a node `key`, `bit` belong below it.
    fn is_above(&self, key: u32, bit: u32) -> bool {
        let (own, own_bit) = self.head();
        own_bit > bit && (key ^ own) & !(own_bit | (own_bit - 1)) == 0
    }
}

impl Assigned {
    /// Whether a variable is in it.
    pub(super) fn contains(&self, symbol: SymbolId) -> bool {
        let (key, member) = place(symbol);
        let mut at = self.0.as_deref();
        while let Some(node) = at {
            at = match node {
                Node::Leaf { key: own, members } => return *own == key && members & member != 0,
                Node::Branch { bit, zero, one, .. } => Some(if key & bit == 0 { zero } else { one }),
            }
        }
        false
    }

    /// Adds a variable.
    pub(super) fn insert(&mut self, symbol: SymbolId) {
        let (key, members) = place(symbol);
        *self = self.with(&Assigned(Some(Rc::new(Node::Leaf { key, members }))));
    }

    /// What is in this set or in the other one.
    pub(super) fn with(&self, other: &Assigned) -> Assigned {
        Assigned(match (&self.0, &other.0) {
            (Some(one), Some(other)) => Some(united(one, other)),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        })
    }

    /// What is in both sets.
    pub(super) fn common(&self, other: &Assigned) -> Assigned {
        Assigned(self.0.as_ref().zip(other.0.as_ref()).and_then(|(one, other)| shared(one, other)))
    }
}

/// The leaf of a variable, and its bit there.
fn place(symbol: SymbolId) -> (u32, u64) {
    (symbol.0 / 64, 1 << (symbol.0 % 64))
}

fn united(one: &Rc<Node>, other: &Rc<Node>) -> Rc<Node> {
    if Rc::ptr_eq(one, other) {
        return Rc::clone(one);
    }
    let ((key, bit), (other_key, other_bit)) = (one.head(), other.head());
    if one.is_above(other_key, other_bit) {
        return below(one, other_key, |child| united(child, other));
    }
    if other.is_above(key, bit) {
        return below(other, key, |child| united(one, child));
    }
    match (&**one, &**other) {
        (Node::Leaf { members, .. }, Node::Leaf { members: others, .. }) if key == other_key => {
            match members | others == *members {
                true => Rc::clone(one),
                false => Rc::new(Node::Leaf { key, members: members | others }),
            }
        }
        (Node::Branch { zero, one: first, .. }, Node::Branch { zero: other_zero, one: second, .. })
            if (key, bit) == (other_key, other_bit) =>
        {
            branch(key, bit, united(zero, other_zero), united(first, second))
        }
        _ => {
            let bit = 1 << (key ^ other_key).ilog2();
            let (zero, last) = if key & bit == 0 { (one, other) } else { (other, one) };
            branch(key & !(bit | (bit - 1)), bit, Rc::clone(zero), Rc::clone(last))
        }
    }
}

/// A branch with another child in place of that which holds `key`.
fn below(node: &Rc<Node>, key: u32, change: impl FnOnce(&Rc<Node>) -> Rc<Node>) -> Rc<Node> {
    let Node::Branch { key: own, bit, zero, one } = &**node else { return Rc::clone(node) };
    let child = if key & bit == 0 { zero } else { one };
    let new = change(child);
    match Rc::ptr_eq(child, &new) {
        true => Rc::clone(node),
        false if key & bit == 0 => branch(*own, *bit, new, Rc::clone(one)),
        false => branch(*own, *bit, Rc::clone(zero), new),
    }
}

fn branch(key: u32, bit: u32, zero: Rc<Node>, one: Rc<Node>) -> Rc<Node> {
    Rc::new(Node::Branch { key, bit, zero, one })
}

fn shared(one: &Rc<Node>, other: &Rc<Node>) -> Option<Rc<Node>> {
    if Rc::ptr_eq(one, other) {
        return Some(Rc::clone(one));
    }
    let ((key, bit), (other_key, other_bit)) = (one.head(), other.head());
    match (&**one, &**other) {
        (Node::Branch { zero, one: last, .. }, _) if one.is_above(other_key, other_bit) => {
            shared(if other_key & bit == 0 { zero } else { last }, other)
        }
        (_, Node::Branch { zero, one: last, .. }) if other.is_above(key, bit) => {
            shared(one, if key & other_bit == 0 { zero } else { last })
        }
        (Node::Leaf { members, .. }, Node::Leaf { members: others, .. }) if key == other_key => {
            match members & others {
                0 => None,
                both if both == *members => Some(Rc::clone(one)),
                both => Some(Rc::new(Node::Leaf { key, members: both })),
            }
        }
        (Node::Branch { zero, one: last, .. }, Node::Branch { zero: other_zero, one: other_last, .. })
            if (key, bit) == (other_key, other_bit) =>
        {
            match (shared(zero, other_zero), shared(last, other_last)) {
                (Some(a), Some(b)) if Rc::ptr_eq(&a, zero) && Rc::ptr_eq(&b, last) => Some(Rc::clone(one)),
                (Some(a), Some(b)) => Some(branch(key, bit, a, b)),
                (a, b) => a.or(b),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
