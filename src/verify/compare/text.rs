//! Compares texts, number by number.
//!
//! Invariant: text around numbers is the same; blanks differ only beside a number whose width differs, or where the rule
//! does not compare them.

use super::Comparison;
use super::tokens::{Token, tokens};
use crate::verify::config::Rule;

/// Compares two texts; `noise` is what the noise build makes of the first.
pub fn compare(what: &str, rule: &Rule, reference: &str, test: &str, noise: Option<&str>) -> Comparison {
    let mut all = Comparison::of(what);
    let noise: Option<Vec<_>> = noise.map(|text| lines(rule, text).collect());
    let (mut left, mut right) = (lines(rule, reference), lines(rule, test));
    let reference_count = lines(rule, reference).count();
    // Lines of the noise build are those of the reference only if there are as many.
    let noise = noise.filter(|noise| noise.len() == reference_count);
    for at in 0.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (Some((_, a)), Some((number, b))) => {
                let noise = noise.as_ref().and_then(|noise| noise.get(at)).map(|(_, line)| *line);
                line(&mut all, rule, number, [a, b], noise);
            }
            (Some((number, a)), None) => all.differ(format!("line {number}"), a, "(end)"),
            (None, Some((number, b))) => all.differ(format!("line {number}"), "(end)", b),
        }
    }
    all
}

/// The lines that are compared, with their numbers.
fn lines<'a>(rule: &'a Rule, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_ignored = |line: &str| rule.ignore.iter().any(|word| line.contains(word.as_str()));
    (1..).zip(text.lines()).filter(move |(_, line)| !is_ignored(line))
}

/// The numbers of a line of the noise build, if it has as many as that of the reference.
fn noise_of(line: &str, reference: &[Token<'_>]) -> Vec<f64> {
    let value = |token: &Token<'_>| if let Token::Number(_, value) = token { Some(*value) } else { None };
    let own: Vec<f64> = tokens(line).iter().filter_map(value).collect();
    if own.len() == reference.iter().filter_map(value).count() { own } else { Vec::new() }
}

fn line(all: &mut Comparison, rule: &Rule, number: usize, texts: [&str; 2], noise: Option<&str>) {
    let [left, right] = texts.map(tokens);
    let mut noise = noise.map(|noise| noise_of(noise, &left)).unwrap_or_default().into_iter();
    let is_space = |token: &&Token<'_>| matches!(token, Token::Space(_));
    let words = |line: &[Token<'_>]| line.iter().filter(|token| !is_space(token)).count();
    if words(&left) != words(&right) {
        return all.differ(format!("line {number}"), texts[0], texts[1]);
    }
    let [mut left, mut right] = [left.iter().peekable(), right.iter().peekable()];
    let mut column = 1;
    let mut before_is_wider = false;
    loop {
        let spaces =
            [left.next_if(is_space), right.next_if(is_space)].map(|token| token.map_or("", Token::text));
        let (a, b) = (left.next(), right.next());
        let is_wider = is_wider(a, b);
        let is_inside = column > 1 && (a.is_some() || b.is_some());
        let is_same = match rule.any_blanks {
            true => !is_inside || spaces[0].is_empty() == spaces[1].is_empty(),
            false => spaces[0] == spaces[1],
        };
        if !is_same && !is_wider && !before_is_wider {
            return all.differ(format!("line {number}, column {column}"), texts[0], texts[1]);
        }
        column += spaces[1].chars().count();
        let (Some(a), Some(b)) = (a, b) else { return };
        let place = || format!("line {number}, column {column}");
        match (a, b) {
            (Token::Number(one, x), Token::Number(other, y)) => {
                let own = noise.next();
                let is_same = all.number(rule, *x, *y, own);
                if !is_same || is_exact(rule) && own.is_none() && differ_as_integers(one, other) {
                    all.apart(rule, place(), [one, other], [*x, *y, own.unwrap_or(f64::NAN)]);
                }
            }
            _ if a == b => {}
            _ => {
                // What follows on this line need not belong together.
                return all.differ(place(), a.text(), b.text());
            }
        }
        before_is_wider = is_wider;
        column += b.text().chars().count();
    }
}

/// Whether two tokens are numbers of different width.
fn is_wider(a: Option<&Token<'_>>, b: Option<&Token<'_>>) -> bool {
    matches!((a, b), (Some(Token::Number(a, _)), Some(Token::Number(b, _))) if a.len() != b.len())
}

fn is_exact(rule: &Rule) -> bool {
    rule.atol.is_none() && rule.rtol.is_none() && rule.ulp.is_none()
}

/// Whether texts are different integers, however large.
fn differ_as_integers(a: &str, b: &str) -> bool {
    let digits = |text: &str| {
        let bare = text.trim_start_matches(['+', '-']);
        bare.bytes().all(|byte| byte.is_ascii_digit()).then(|| bare.trim_start_matches('0').to_owned())
    };
    matches!((digits(a), digits(b)), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests;
