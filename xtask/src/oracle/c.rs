//! C and C++ whose loops can run their iterations in another order.
//!
//! Invariant: read from the grammar's tree alone; a text that gets no order does what it did.

use acc2omp::source::Language;
use tree_sitter::Node;

use super::Chosen;
use crate::audit::code::{self, Code, Macros};

/// Goes before the text: which loop is permuted and how, is said by the environment.
const SUPPORT: &str = include_str!("support.c");

/// Each byte of a poisoned variable: large in every arithmetic type, and no address.
const BYTE: &str = "0x7F";

/// A counted loop's head.
struct Head<'t> {
    /// The words before the counter, where it is declared.
    declared: Option<&'t str>,
    /// The counter.
    counter: &'t str,
    first: &'t str,
    /// The bound, as the first number that is not reached.
    end: String,
    step: String,
}

/// The text with its chosen loops.
pub fn rewrite(text: &str, language: Language, chosen: &[Chosen]) -> Result<String, String> {
    let plain = without_directives(text);
    let tree = code::tree(plain.as_bytes(), language).ok_or("it cannot be read")?;
    let code = Code::new(plain.as_bytes(), language, &tree, &Macros::new());
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for node in code::nodes(tree.root_node()) {
        let is_chosen =
            |one: &&Chosen| node.kind() == "for_statement" && node.start_position().row == one.line;
        let Some(one) = chosen.iter().find(is_chosen) else { continue };
        let placed = |why: &str| format!("line {}: {why}", one.line + 1);
        let head = head(node, &code).ok_or_else(|| placed("the loop's head is not understood"))?;
        let body = node.child_by_field_name("body").ok_or_else(|| placed("the loop has no body"))?;
        let poison: Vec<&String> =
            one.private.iter().filter(|name| code.lookup(name, node.start_byte()).is_some()).collect();
        edits.push((node.start_byte(), body.start_byte(), head.text(one.id, &poison)));
        edits.push((body.end_byte(), body.end_byte(), " }".to_owned()));
    }
    if edits.len() != 2 * chosen.len() {
        return Err("a loop is not found where its label is".to_owned());
    }
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let mut result = text.to_owned();
    for (start, end, words) in edits.into_iter().rev() {
        result.replace_range(start..end, &words);
    }
    Ok(format!("{SUPPORT}{result}"))
}

/// The same text, with blanks for its directives, which may stand where a statement is half read.
fn without_directives(text: &str) -> String {
    let blank = |line: &str| match line.trim_start().starts_with("#pragma") {
        true => " ".repeat(line.trim_end().len()) + &line[line.trim_end().len()..],
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(blank).collect()
}

fn head<'t>(node: Node<'t>, code: &Code<'t>) -> Option<Head<'t>> {
    let initializer = node.child_by_field_name("initializer")?;
    let (declared, left, right) = if initializer.kind() == "declaration" {
        let declarator = initializer.child_by_field_name("declarator")?;
        let of = initializer.child_by_field_name("type")?;
        let (name, value) =
            (declarator.child_by_field_name("declarator")?, declarator.child_by_field_name("value")?);
        (Some(code.word(of)), name, value)
    } else {
        (None, initializer.child_by_field_name("left")?, initializer.child_by_field_name("right")?)
    };
    let counter = code.word(left);
    let condition = node.child_by_field_name("condition")?;
    let bound = condition.child_by_field_name("right").map(|bound| code.word(bound))?;
    if condition.child_by_field_name("left").map(|left| code.word(left)) != Some(counter) {
        return None;
    }
    let end = match code.word(condition.child_by_field_name("operator")?) {
        "<" | ">" => bound.to_owned(),
        "<=" => format!("{bound} + 1L"),
        ">=" => format!("{bound} - 1L"),
        _ => return None,
    };
    let step = step(node.child_by_field_name("update")?, counter, code)?;
    Some(Head { declared, counter, first: code.word(right), end, step })
}

fn step(update: Node, counter: &str, code: &Code) -> Option<String> {
    let operator = code.word(update.child_by_field_name("operator")?);
    let changed = update.child_by_field_name("argument").or_else(|| update.child_by_field_name("left"))?;
    let amount = || update.child_by_field_name("right").map(|amount| code.word(amount));
    if code.word(changed) != counter {
        return None;
    }
    match operator {
        "++" => Some("1".to_owned()),
        "--" => Some("-1".to_owned()),
        "+=" => Some(amount()?.to_owned()),
        "-=" => Some(format!("-({})", amount()?)),
        _ => None,
    }
}

impl Head<'_> {
    /// What stands for the head, and before the body: one block, which is left open.
    fn text(&self, id: usize, poison: &[&String]) -> String {
        let Head { counter, first, end, step, declared } = self;
        let value = format!("acc_f{id} + acc_s{id} * acc_at({id}, acc_k{id}, acc_n{id})");
        // A counter that lives on has the value that ended the loop.
        let (declare, at_end) = match declared {
            Some(of) => (format!("{of} "), String::new()),
            None => (String::new(), format!(" || ({counter} = acc_f{id} + acc_s{id} * acc_n{id}, 0)")),
        };
        let poison: String = poison
            .iter()
            .map(|name| format!(" __builtin_memset((void *)&{name}, {BYTE}, sizeof({name}));"))
            .collect();
        let poison = if poison.is_empty() { poison } else { format!(" if (acc_loop == {id}) {{{poison} }}") };
        format!(
            "for (long acc_f{id} = (long)({first}), acc_s{id} = (long)({step}), \
             acc_n{id} = acc_trips(acc_f{id}, (long)({end}), acc_s{id}), acc_k{id} = 0; \
             acc_k{id} < acc_n{id}{at_end}; acc_k{id}++) {{{poison} {declare}{counter} = {value}; "
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use acc2omp::source::Language;

    use super::{Chosen, SUPPORT, rewrite};

    fn rewritten(text: &str, line: usize) -> Result<String, String> {
        let chosen =
            Chosen { id: 7, file: 0, line, private: vec!["t".to_owned(), "u".to_owned()], differs: false };
        let result = rewrite(text, Language::C, &[chosen])?;
        Ok(result.strip_prefix(SUPPORT).unwrap().to_owned())
    }

    #[test]
    fn a_loop_counts_through_a_permutation() {
        let text = "void f(int n, int t)\n{\n#pragma acc kernels\nfor (int i = 1; i <= n; i += 2) // @loop parallel\n{ int u = t = 1; }\n}\n";
        let head = "for (long acc_f7 = (long)(1), acc_s7 = (long)(2), acc_n7 = acc_trips(acc_f7, (long)(n + 1L), acc_s7), \
                    acc_k7 = 0; acc_k7 < acc_n7; acc_k7++) { \
                    if (acc_loop == 7) { __builtin_memset((void *)&t, 0x7F, sizeof(t)); } \
                    int i = acc_f7 + acc_s7 * acc_at(7, acc_k7, acc_n7); ";
        let expected =
            format!("void f(int n, int t)\n{{\n#pragma acc kernels\n{head}{{ int u = t = 1; }} }}\n}}\n");
        assert_eq!(rewritten(text, 3).unwrap(), expected);
    }

    #[test]
    fn a_counter_that_lives_on_ends_as_it_did() {
        let found = rewritten("void f(int i)\n{\nfor (i = 9; i > 0; --i)\n;\n}\n", 2).unwrap();
        assert!(found.contains("|| (i = acc_f7 + acc_s7 * acc_n7, 0); acc_k7++) { i = acc_f7"), "{found}");
    }

    #[test]
    fn what_does_not_count_is_refused() {
        assert!(rewritten("void f(int i)\n{\nfor (; i > 0; i /= 2)\n;\n}\n", 2).is_err());
        assert!(rewritten("void f(int i)\n{\nwhile (i)\n;\n}\n", 2).is_err());
    }
}
