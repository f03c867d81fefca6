//! Poison: a text in which each private variable holds a value at the start of each iteration that no one wants.
//!
//! Invariant: a program that reads no private variable before it assigns it does what it did.

use acc2omp::source::Language;
use tree_sitter::Node;

use super::code::{self, Code};
use super::construct::{self, Construct};
use super::pragma::pages;

/// Each byte of a poisoned variable: large in every arithmetic type, and no address.
const BYTE: &str = "0x7F";

/// The poisoned text, and how many variables are poisoned in it.
pub fn poisoned(text: &[u8], language: Language) -> (Vec<u8>, usize) {
    let pages = pages(text, language);
    let Some(page) = pages.first() else { return (text.to_vec(), 0) };
    let Some(tree) = code::tree(&page.code, language) else { return (text.to_vec(), 0) };
    let code = Code::new(&page.code, language, &tree, &page.macros);
    let (constructs, _) = construct::all(page, &code);
    let mut count = 0;
    let mut insertions: Vec<(usize, String)> = Vec::new();
    for one in &constructs {
        let names = private(one);
        count += names.len();
        if !names.is_empty() {
            insertions.extend(insert(one, &names));
        }
    }
    // Of two texts for one place the inner construct's goes last where a block opens.
    insertions.sort_by_key(|(at, _)| *at);
    let mut result = text.to_vec();
    for (at, words) in insertions.into_iter().rev() {
        result.splice(at..at, words.into_bytes());
    }
    (result, count)
}

/// The private variables of a construct except those that its loops set.
fn private<'a>(one: &'a Construct) -> Vec<&'a str> {
    let mut names = one.pragma.items("private");
    names.retain(|name| !one.counters.contains(name));
    names
}

/// What is to be inserted, and where: a block's first statement, or a block around the one statement there is.
fn insert(one: &Construct, names: &[&str]) -> Vec<(usize, String)> {
    let poison: String = names
        .iter()
        .map(|name| format!(" __builtin_memset((void *)&{name}, {BYTE}, sizeof({name}));"))
        .collect();
    let innermost = one.loops.last().copied();
    let body = innermost.and_then(|inner| inner.child_by_field_name("body")).unwrap_or(one.stmt);
    if body.kind() == "compound_statement" {
        return vec![(body.start_byte() + 1, poison)];
    }
    let start = innermost.and_then(head_end).unwrap_or(one.stmt.start_byte());
    vec![(start, format!(" {{{poison}")), (body.end_byte(), " }".to_owned())]
}

/// Where the head of a loop ends: a directive may follow before its body does.
fn head_end(inner: Node) -> Option<usize> {
    let mut cursor = inner.walk();
    inner.children(&mut cursor).filter(|child| child.kind() == ")").last().map(|child| child.end_byte())
}

#[cfg(test)]
mod tests {
    use acc2omp::source::Language;

    use super::poisoned;

    fn check(directive: &str, code: &str, expected: &str) {
        let text = |code: &str| format!("void f(int n, int x) {{\n#pragma omp {directive}\n{code}\n}}\n");
        let (found, _) = poisoned(text(code).as_bytes(), Language::C);
        let poison = " __builtin_memset((void *)&x, 0x7F, sizeof(x));";
        assert_eq!(String::from_utf8_lossy(&found), text(&expected.replace("POISON", poison)));
    }

    #[test]
    fn each_iteration_begins_with_poison() {
        check("parallel for private(x)", "for (;;) { x = 1; }", "for (;;) {POISON x = 1; }");
        check("parallel for private(x)", "for (;;)\n  x = 1;", "for (;;) {POISON\n  x = 1; }");
        check("parallel for collapse(2) private(x)", "for (;;) for (;;) ;", "for (;;) for (;;) {POISON ; }");
        check("target private(x)", "{ x = 1; }", "{POISON x = 1; }");
    }

    #[test]
    fn loop_variables_are_left_alone() {
        check("parallel for private(x)", "for (x = 0;;) ;", "for (x = 0;;) ;");
        check("parallel for firstprivate(x)", "for (;;) ;", "for (;;) ;");
    }

    #[test]
    fn directives_stay_before_their_loops() {
        let inner = "#pragma omp simd\nfor (;;) ;";
        check(
            "parallel for private(x)",
            &format!("for (;;)\n{inner}"),
            &format!("for (;;) {{POISON\n{inner} }}"),
        );
    }
}
