//! Fortran whose loops can run their iterations in another order.
//!
//! Invariant: read line by line, from the labelled `do` statements alone; a text that gets no order does what it did.

use super::Chosen;

/// Goes before the text, in a form that is free and fixed at once; the counters' declarations stand in for a line.
const SUPPORT: &str = include_str!("support.f");
const COUNTERS: &str = "! counters\n";

/// A counted loop's head.
struct Head<'t> {
    /// What stands before the counter: a name, `do`, a label.
    before: &'t str,
    counter: &'t str,
    /// The first number, the last one, the step.
    range: [&'t str; 3],
}

/// The text with its chosen loops; the loops' numbers are all below `count`. The first file defines the module that all use.
pub fn rewrite(text: &str, is_first: bool, count: usize, chosen: &[Chosen]) -> Result<String, String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut units: Vec<usize> = Vec::new();
    for one in chosen {
        let placed = |why: &str| format!("line {}: {why}", one.line + 1);
        let line = text.lines().nth(one.line).ok_or_else(|| placed("there is no such line"))?;
        let head = head(line).ok_or_else(|| placed("the loop's head is not understood"))?;
        let above = text.lines().take(one.line).collect::<Vec<_>>();
        let unit =
            above.iter().rposition(|line| begins_unit(line)).ok_or_else(|| placed("it is in no unit"))?;
        units.push(unit);
        if let Some(line) = lines.get_mut(one.line) {
            *line = head.text(one);
        }
    }
    units.sort_unstable();
    units.dedup();
    for unit in units.into_iter().rev() {
        lines.insert(unit + 1, "      use acc_oracle".to_owned());
    }
    let body = lines.join("\n") + "\n";
    if !is_first {
        return Ok(body);
    }
    let counters: String = (0..count).map(|id| format!("      integer :: acc_k{id}\n")).collect();
    let size = format!("      integer :: acc_first(0:{count}), acc_step(0:{count})\n");
    Ok(SUPPORT.replace(COUNTERS, &format!("{counters}{size}")) + &body)
}

/// Whether a line begins a program or a procedure.
fn begins_unit(line: &str) -> bool {
    let line = line.split('!').next().unwrap_or(line).trim_start().to_ascii_lowercase();
    let words = || line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words().next() != Some("end")
        && (line.starts_with("program ") || words().any(|word| matches!(word, "subroutine" | "function")))
}

fn head(line: &str) -> Option<Head<'_>> {
    let code = line.split('!').next()?;
    let (left, right) = code.split_once('=')?;
    let counter = left.split_whitespace().next_back()?;
    let before = left.trim_end().strip_suffix(counter)?;
    if !before.split([' ', ':']).any(|word| word.eq_ignore_ascii_case("do")) {
        return None;
    }
    let parts = parts(right);
    let range = match parts.as_slice() {
        [first, last] => [*first, *last, "1"],
        [first, last, step] => [*first, *last, *step],
        _ => return None,
    };
    Some(Head { before, counter, range })
}

/// What stands between the commas outside of parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let outside = |c: char| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    };
    text.split(outside).map(str::trim).collect()
}

impl Head<'_> {
    fn text(&self, one: &Chosen) -> String {
        let (id, Head { before, counter, range: [first, last, step] }) = (one.id, self);
        let mut lines = vec![format!("{before}acc_k{id} = 1, acc_trips({id}, {first}, {last}, {step})")];
        lines.extend(
            one.private.iter().map(|name| format!("      if (acc_loop == {id}) call acc_poison({name})")),
        );
        lines.push(format!("      {counter} = acc_at({id}, acc_k{id})"));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Chosen, rewrite};

    fn rewritten(line: &str) -> Result<String, String> {
        let private = vec!["t".to_owned()];
        let chosen = Chosen { id: 3, file: 0, line: 1, private, differs: false };
        rewrite(&format!("subroutine f(n)\n{line} ! @loop parallel\n"), false, 4, &[chosen])
    }

    #[test]
    fn a_loop_counts_through_a_permutation() {
        let expected = |head: &str, counter: &str| {
            format!(
                "subroutine f(n)\n      use acc_oracle\n{head}\n      if (acc_loop == 3) call acc_poison(t)\n      \
                 {counter} = acc_at(3, acc_k3)\n"
            )
        };
        let one = expected("  do acc_k3 = 1, acc_trips(3, 2, size(a, 1), 1)", "i");
        assert_eq!(rewritten("  do i = 2, size(a, 1)").unwrap(), one);
        let two = expected("rows: do 10 acc_k3 = 1, acc_trips(3, n, 1, -2)", "j");
        assert_eq!(rewritten("rows: do 10 j = n, 1, -2").unwrap(), two);
    }

    #[test]
    fn what_does_not_count_is_refused() {
        assert!(rewritten("do while (i == 1)").is_err());
        assert!(rewritten("i = 1, 2").is_err());
    }
}
