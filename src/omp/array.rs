//! The loops that do what an array statement of Fortran does.
//!
//! Invariant: each element is touched by one iteration, and the program's own expressions are spelled as they were.

use crate::sema::{Elementwise, LineKind, Piece, Range, Subscript, plain};

/// The declaration of the variable of the loop over dimension `at`, counted from zero.
pub fn loop_declaration(at: usize) -> String {
    format!("integer :: {}", loop_variable(at))
}

/// The name of that variable.
pub fn loop_variable(at: usize) -> String {
    format!("acc2omp_i{}", at + 1)
}

/// The loops, the last dimension outermost, each line indented by what it stands in.
pub fn loops(elementwise: &Elementwise) -> Vec<String> {
    let rank = elementwise.ranges.len();
    let is_counted: Vec<bool> = (0..rank).map(|at| is_counted(elementwise, at)).collect();
    let mut lines = Vec::new();
    let mut depth = 0;
    for at in (0..rank).rev() {
        let head = head(&elementwise.ranges[at], is_counted[at]);
        lines.push(format!("{}do {} = {head}", indent(depth), loop_variable(at)));
        depth += 1;
    }
    for line in &elementwise.lines {
        let code: String = line.code.iter().map(|piece| spell(piece, elementwise, &is_counted)).collect();
        let (code, before, after) = match line.kind {
            LineKind::Assignment => (code, 0, 0),
            LineKind::If => (format!("if ({code}) then"), 0, 1),
            LineKind::ElseIf => (format!("else if ({code}) then"), 1, 1),
            LineKind::Else => ("else".to_owned(), 1, 1),
            LineKind::EndIf => ("end if".to_owned(), 1, 0),
        };
        depth -= before;
        lines.push(format!("{}{code}", indent(depth)));
        depth += after;
    }
    for _ in 0..rank {
        depth -= 1;
        lines.push(format!("{}end do", indent(depth)));
    }
    lines
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// The arrays of all lines.
fn arrays(elementwise: &Elementwise) -> impl Iterator<Item = impl Iterator<Item = &Range>> {
    let pieces = elementwise.lines.iter().flat_map(|line| &line.code);
    pieces.filter_map(|piece| match piece {
        Piece::Array { subscripts, .. } => Some(subscripts.iter().filter_map(|one| match one {
            Subscript::Range(range) => Some(range),
            Subscript::Fixed(_) => None,
        })),
        Piece::Text(_) => None,
    })
}

/// Whether the loop of dimension `at` counts its iterations from zero: the steps of the arrays differ.
fn is_counted(elementwise: &Elementwise, at: usize) -> bool {
    let step = &elementwise.ranges[at].step;
    step != "1"
        && arrays(elementwise).any(|mut ranges| ranges.nth(at).is_some_and(|range| range.step != *step))
}

fn head(range: &Range, is_counted: bool) -> String {
    let Range { first, last, step } = range;
    if is_counted {
        let (first, step) = (atom(first), atom(step));
        return format!("0, ({last} - {first} + {step}) / {step} - 1");
    }
    match step.as_str() {
        "1" => format!("{first}, {last}"),
        step => format!("{first}, {last}, {step}"),
    }
}

fn spell(piece: &Piece, elementwise: &Elementwise, is_counted: &[bool]) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Array { name, subscripts } => {
            let mut dimensions = elementwise.ranges.iter().zip(is_counted).enumerate();
            let subscripts = subscripts.iter().map(|subscript| match subscript {
                Subscript::Fixed(text) => text.clone(),
                Subscript::Range(range) => {
                    dimensions.next().map_or_else(String::new, |(at, (target, counted))| {
                        if *counted { counted_index(at, range) } else { index(at, target, range) }
                    })
                }
            });
            format!("{name}({})", subscripts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The subscript in a loop that counts from zero.
fn counted_index(at: usize, range: &Range) -> String {
    let variable = loop_variable(at);
    let by = match range.step.as_str() {
        "1" => variable,
        step => format!("{variable} * {}", atom(step)),
    };
    format!("{} + {by}", range.first)
}

/// The subscript in a loop over the values of `target`.
fn index(at: usize, target: &Range, range: &Range) -> String {
    let variable = loop_variable(at);
    let is_same = plain(&target.first) == plain(&range.first);
    if plain(&target.step) == plain(&range.step) {
        return if is_same { variable } else { shifted(variable, &target.first, &range.first) };
    }
    let from_zero = shifted(variable, &target.first, "0");
    format!("{} + ({from_zero}) * {}", range.first, atom(&range.step))
}

/// `variable - from + to`
fn shifted(variable: String, from: &str, to: &str) -> String {
    let added = |text: &str| if text.starts_with(['-', '+']) { format!("({text})") } else { text.to_owned() };
    match (from.parse::<i64>(), to.parse::<i64>()) {
        (Ok(from), Ok(to)) => match i128::from(to) - i128::from(from) {
            0 => variable,
            by if by > 0 => format!("{variable} + {by}"),
            by => format!("{variable} - {}", -by),
        },
        (Ok(0), _) => format!("{variable} + {}", added(to)),
        (_, Ok(0)) => format!("{variable} - {}", atom(from)),
        _ => format!("{variable} - {} + {}", atom(from), added(to)),
    }
}

/// An expression as an operand.
fn atom(text: &str) -> String {
    let is_word = |text: &str| text.chars().all(|char| char.is_alphanumeric() || char == '_');
    let (head, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_reference = inner.is_some_and(|inner| !inner.contains(['(', ')']));
    let is_atom = is_word(head) && !text.is_empty() && (rest.is_empty() || is_reference);
    if is_atom { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
mod tests;
