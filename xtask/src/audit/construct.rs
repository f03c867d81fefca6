//! The constructs of a page: the directives with the code they govern and the loops they spread.
//!
//! Invariant: a construct whose code cannot be found is counted, never forgotten.

use acc2omp::source::Span;
use tree_sitter::Node;

use super::code::Code;
use super::pragma::{Page, Pragma};

/// Words of directives whose loops are spread.
const LOOP_WORDS: [&str; 5] = ["distribute", "for", "simd", "loop", "taskloop"];

/// A directive and its code.
pub struct Construct<'t> {
    /// The directive.
    pub pragma: Pragma,
    /// The code.
    pub stmt: Node<'t>,
    /// The loops that it spreads, from the outside.
    pub loops: Vec<Node<'t>>,
    /// Their variables.
    pub counters: Vec<&'t str>,
}

/// The constructs of a page, by place, and the directives whose code is not found.
pub fn all<'t>(page: &Page, code: &Code<'t>) -> (Vec<Construct<'t>>, Vec<Span>) {
    let mut found = Vec::new();
    let mut lost = Vec::new();
    for pragma in page.pragmas.iter().filter(|one| one.is_construct()) {
        let Some(stmt) = code.statement(pragma.next_code) else {
            lost.push(pragma.span);
            continue;
        };
        let spreads = LOOP_WORDS.iter().any(|word| pragma.is(word));
        let loops = if spreads { nest(stmt, depth(pragma)) } else { Vec::new() };
        if stmt.has_error() || (spreads && loops.len() < depth(pragma)) {
            lost.push(pragma.span);
        }
        let counters = loops.iter().filter_map(|one| counter(*one)).map(|name| code.word(name)).collect();
        found.push(Construct { pragma: pragma.clone(), stmt, loops, counters });
    }
    (found, lost)
}

impl Construct<'_> {
    /// Whether `at` is in its code.
    pub fn holds(&self, at: usize) -> bool {
        self.stmt.byte_range().contains(&at)
    }
}

fn depth(pragma: &Pragma) -> usize {
    pragma.clause("collapse").and_then(|clause| clause.argument.trim().parse().ok()).unwrap_or(1)
}

/// The loop `stmt` and those tightly inside it, `depth` of them.
fn nest(stmt: Node, depth: usize) -> Vec<Node> {
    let mut loops = Vec::new();
    let mut at = Some(stmt);
    while let Some(node) = at.filter(|_| loops.len() < depth) {
        at = match node.kind() {
            "for_statement" => {
                loops.push(node);
                node.child_by_field_name("body")
            }
            "compound_statement" => node.named_child(0),
            _ => None,
        };
    }
    loops
}

/// The name of a loop's variable.
fn counter(node: Node) -> Option<Node> {
    let first = node.child_by_field_name("initializer")?;
    let mut at = match first.kind() {
        "declaration" => first.child_by_field_name("declarator")?,
        _ => first.child_by_field_name("left")?,
    };
    while at.kind() != "identifier" {
        at = at.child_by_field_name("declarator")?;
    }
    Some(at)
}
