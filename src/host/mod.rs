//! The host languages: source through tree-sitter into one structure IR.
//!
//! Invariant: knows nothing of directives and targets; node names of a grammar stand in one
//! place, `c.rs` for C and C++, the folder `fortran` for Fortran.

pub mod forms;
pub mod ir;

mod anonymous;
mod asked;
mod c;
mod fortran;
mod gaps;
mod past;
mod unseen;
mod within;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::budget;
use crate::scan::{self, Scan};
use crate::source::{Language, SourceFile, Span};

pub use asked::Asked;
pub use c::apart;
pub use c::references::refer;
pub use past::{Past, Replaced};
pub use unseen::Unseen;
pub use within::with_bases;

/// Parses the shadow of a file.
pub fn parse(file: &SourceFile, scan: &Scan) -> ir::Unit {
    parse_again(file, scan, &mut None)
}

/// Parses the shadow of a file with the help of what another view of it has left, or leaves that to the next.
pub fn parse_again(file: &SourceFile, scan: &Scan, past: &mut Option<Past>) -> ir::Unit {
    let again = past.as_ref().and_then(|past| past.again(&scan.shadow, &[]));
    let tree = again.or_else(|| tree(file.language, &scan.shadow));
    // For a header, two grammars are asked.
    if past.is_none() && file.language != Language::Header {
        *past = tree.as_ref().and_then(|tree| Past::new(&scan.shadow, tree, &[]));
    }
    unit(file, scan, tree)
}

/// The same for a shadow in which some functions are blank: the grammar passes over them, if it can read the rest without errors.
pub fn parse_apart(file: &SourceFile, scan: &Scan, apart: &[Span], past: &mut Option<Past>) -> ir::Unit {
    let gone = past::runs(&scan.shadow, apart);
    let is_first = past.is_none() && !gone.is_empty();
    let tree = is_first.then(|| tree_without(file.language, &scan.shadow, &gone)).flatten();
    match tree.filter(|tree| !tree.root_node().has_error()) {
        Some(tree) => {
            *past = Past::new(&scan.shadow, &tree, &gone);
            unit(file, scan, Some(tree))
        }
        None => parse_again(file, scan, past),
    }
}

/// What a tree of the shadow of a file says.
fn unit(file: &SourceFile, scan: &Scan, tree: Option<Tree>) -> ir::Unit {
    let mut unit = match file.language {
        Language::C | Language::Cpp | Language::Header => c::unit(file, scan, tree),
        Language::Fortran(_) => fortran::unit(file, scan, tree),
    };
    unit.unseen = gaps::unseen(file, &scan.shadow, &unit);
    let lines = if unit.is_fortran() { scan::fortran_includes(file) } else { Vec::new() };
    let lines = scan.includes.iter().chain(&lines).map(|include| include.span);
    unit.included = lines.collect::<BTreeSet<Span>>().into_iter().collect();
    unit
}

/// Parses the shadow of a file that is read for its declarations: what procedures of Fortran execute may be missing.
pub fn declarations(file: &SourceFile, scan: &Scan) -> ir::Unit {
    let bare = file.language.is_fortran().then(|| fortran::declarations(&scan.shadow)).flatten();
    match bare {
        Some(tree) => fortran::unit(file, scan, Some(tree)),
        None => parse(file, scan),
    }
}

/// The expression of C or C++ that a text is by itself, as the body of a macro may be one, and a unit that holds nothing else.
pub fn expression(text: &str, is_cpp: bool) -> Option<(ir::Unit, ir::ExprId)> {
    c::expression(text, is_cpp)
}

/// How many places of a shadow the grammar cannot read. The shadow is that of `past`, except for what was `replaced`.
pub fn errors(file: &SourceFile, scan: &Scan, past: Option<&Past>, replaced: &[Replaced]) -> usize {
    if past.is_some_and(|past| past.again(&scan.shadow, replaced).is_some()) {
        return 0;
    }
    let Some(tree) = tree(file.language, &scan.shadow) else { return 0 };
    match file.language {
        Language::C | Language::Cpp | Language::Header => c::errors(&tree).len(),
        Language::Fortran(_) => fortran::errors(&tree, &scan.shadow).len(),
    }
}

/// Parses the shadow of a file without some functions, which are blank there; `None` if the grammar cannot read all of it.
pub fn parse_part(file: &SourceFile, scan: &Scan, gone: &[Span]) -> Option<ir::Unit> {
    let tree =
        tree_without(file.language, &scan.shadow, gone).filter(|tree| !tree.root_node().has_error())?;
    Some(unit(file, scan, Some(tree)))
}

/// Whether the grammar can read all of a shadow but some functions.
pub fn is_clear_without(file: &SourceFile, shadow: &[u8], gone: &[Span]) -> bool {
    tree_without(file.language, shadow, gone).is_some_and(|tree| !tree.root_node().has_error())
}

/// The tree of a text in which bytes are passed over: what is before and after them does not meet.
fn tree_without(language: Language, text: &[u8], gone: &[Span]) -> Option<Tree> {
    let mut parser = match language {
        Language::C | Language::Header => c::parser(false),
        Language::Cpp => c::parser(true),
        Language::Fortran(_) => fortran::parser(),
    }?;
    parser.set_included_ranges(&past::around(text, gone)).ok()?;
    read(&mut parser, text, None)
}

fn tree(language: Language, text: &[u8]) -> Option<Tree> {
    match language {
        Language::C => c::tree(text, false),
        Language::Cpp => c::tree(text, true),
        Language::Header => c::better_tree(text),
        Language::Fortran(_) => fortran::tree(text),
    }
}

/// Stack for each level of nested statements and expressions: what walks over them calls itself at each.
const STACK_PER_LEVEL: usize = 4096;

/// Does something with a unit that is so deep, on a stack that is large enough for it.
pub fn with_stack<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    budget::reach(depth);
    let needed = depth.saturating_mul(STACK_PER_LEVEL).saturating_add(256 * 1024);
    stacker::maybe_grow(needed, needed.saturating_add(1024 * 1024), work)
}

/// Whether a text is one expression of C or of Fortran that may stand alone in parentheses.
pub fn is_condition(text: &str) -> bool {
    let text = text.trim();
    let is_line = !text.is_empty() && !text.contains(['\n', '\r']) && !text.contains("//");
    is_line && (c::is_condition(text) || fortran::is_condition(text))
}

/// Whether a text of which `condition` lies in parentheses from `start` on is read without errors, and so that these
/// parentheses are a pair.
fn is_parenthesised(tree: &Tree, start: usize, condition: &str) -> bool {
    let whole = start..start + condition.len() + 2;
    let mut inside = tree.root_node().descendant_for_byte_range(whole.start, whole.end);
    let is_whole = inside.is_some_and(|node| node.byte_range() == whole);
    // A node that holds one other node has its extent: a comment is not part of an expression, and a list has several.
    while let Some(node) = inside.filter(|node| node.byte_range() == whole) {
        let only = node.named_child(0).filter(|_| node.named_child_count() == 1);
        match only {
            Some(child) if child.byte_range() == (whole.start + 1..whole.end - 1) => {
                let is_list = child.kind().contains("comma");
                return is_whole && !tree.root_node().has_error() && !is_list;
            }
            other => inside = other,
        }
    }
    false
}

/// Steps for what a grammar does from one report of its progress to the next.
const PROGRESS: u64 = 100;

/// Reads a text with the help of the tree of an earlier one.
fn read(parser: &mut Parser, text: &[u8], old: Option<&Tree>) -> Option<Tree> {
    let mut is_over = false;
    let mut progress = |_: &ParseState| match budget::try_spend(PROGRESS) {
        true => ControlFlow::Continue(()),
        false => {
            is_over = true;
            ControlFlow::Break(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), old, Some(options));
    // The grammar itself cannot be left from its middle.
    if is_over {
        budget::spend(PROGRESS);
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::is_condition;

    #[test]
    fn a_condition_is_one_expression() {
        for text in [
            "n > 100",
            "a && !b",
            "f(x, 2)",
            "1",
            " x ",
            "use_gpu .and. n > 100",
            ".true.",
            "(a) + (b)",
            "p->n",
        ] {
            assert!(is_condition(text), "{text}");
        }
        for text in
            ["", "  ", "a)b(", "a)) ((b", "a, b", "a;", "a // b", "a /* b */", "n >", "a\nb", "a b", "int x"]
        {
            assert!(!is_condition(text), "{text}");
        }
    }
}
