//! Expressions as sums of products with integer factors, read from their text: are two of them the same, and if not, how far
//! apart are they?
//!
//! Invariant: what is not read (a division, a call, an overflow) is a name of its own, never a wrong number.

use std::collections::BTreeMap;

use crate::host::ir::{BinaryOp, ExprId, ExprKind, UnaryOp, Unit};

/// Chains of names that stand for other texts are not followed further.
const DEPTH: usize = 16;

/// Products of more names than this are not multiplied out.
const DEGREE: usize = 4;

/// A sum: for each product of names the number of times that it counts; the empty product is the number one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    terms: BTreeMap<Vec<String>, i64>,
}

impl Sum {
    /// The sum that a text says; `meaning` is the text that a name stands for, where it stands for one.
    pub fn of(text: &str, meaning: &dyn Fn(&str) -> Option<String>) -> Sum {
        read(text, meaning, 0)
    }

    fn number(value: i64) -> Sum {
        let terms = if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), value)]) };
        Sum { terms }
    }

    fn name(name: String) -> Sum {
        Sum { terms: BTreeMap::from([(vec![name], 1)]) }
    }

    /// Its value, if it is a number.
    pub fn value(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// This one without `other`.
    pub fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus(&other.times(&Sum::number(-1))?)
    }

    /// The sum of both.
    pub fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut terms = self.terms.clone();
        for (names, factor) in &other.terms {
            let sum = terms.get(names).copied().unwrap_or(0).checked_add(*factor)?;
            terms.insert(names.clone(), sum);
        }
        terms.retain(|_, factor| *factor != 0);
        Some(Sum { terms })
    }

    fn times(&self, other: &Sum) -> Option<Sum> {
        let mut all = Sum::default();
        for (names, factor) in &self.terms {
            for (more, by) in &other.terms {
                let mut names = [names.as_slice(), more].concat();
                names.sort();
                if names.len() > DEGREE {
                    return None;
                }
                let product = Sum { terms: BTreeMap::from([(names, factor.checked_mul(*by)?)]) };
                all = all.plus(&product)?;
            }
        }
        Some(all)
    }
}

fn read(text: &str, meaning: &dyn Fn(&str) -> Option<String>, depth: usize) -> Sum {
    let words = words(text);
    let mut reader = Reader { words: &words, at: 0, meaning, depth };
    let sum = reader.sum().filter(|_| reader.at == words.len());
    sum.unwrap_or_else(|| Sum::name(words.concat()))
}

/// The words and marks of a text.
fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words: Vec<String> = Vec::new();
    let mut goes_on = false;
    for c in text.chars() {
        match words.last_mut() {
            Some(last) if goes_on && is_word(c) => last.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        goes_on = is_word(c);
    }
    words
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    meaning: &'a dyn Fn(&str) -> Option<String>,
    depth: usize,
}

impl Reader<'_> {
    fn eat(&mut self, mark: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|word| word == mark);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Option<Sum> {
        let mut sum = self.product()?;
        loop {
            if self.eat("+") {
                sum = sum.plus(&self.product()?)?;
            } else if self.eat("-") {
                sum = sum.minus(&self.product()?)?;
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Sum> {
        let mut product = self.factor()?;
        while self.eat("*") {
            // `**` is a power.
            product = product.times(&self.factor()?)?;
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Sum> {
        if self.depth > DEPTH {
            return None;
        }
        if self.eat("-") {
            return self.factor()?.times(&Sum::number(-1));
        }
        if self.eat("+") {
            return self.factor();
        }
        if self.eat("(") {
            self.depth += 1;
            let sum = self.sum()?;
            self.depth -= 1;
            return self.eat(")").then_some(sum);
        }
        let word = self.words.get(self.at)?;
        self.at += 1;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word).map(Sum::number);
        }
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        match (self.meaning)(word) {
            Some(text) if self.depth < DEPTH => Some(read(&text, self.meaning, self.depth + 1)),
            _ => Some(Sum::name(word.clone())),
        }
    }
}

/// The value of an integer literal.
fn number(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        // Octal in C, decimal in Fortran.
        None if digits.len() > 1 && digits.starts_with('0') => None,
        None => digits.parse().ok(),
    }
}

/// The text of an expression of a unit, as far as sums are made of such; else `None`.
pub(super) fn text_of(unit: &Unit, expr: ExprId) -> Option<String> {
    Some(match &unit.expr(expr).kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Unary(UnaryOp::Minus, operand) => format!("(-{})", text_of(unit, *operand)?),
        ExprKind::Binary(operator, left, right) => {
            let mark = match operator {
                BinaryOp::Add => "+",
                BinaryOp::Subtract => "-",
                BinaryOp::Multiply => "*",
                BinaryOp::Divide => "/",
                _ => return None,
            };
            format!("({}{mark}{})", text_of(unit, *left)?, text_of(unit, *right)?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
