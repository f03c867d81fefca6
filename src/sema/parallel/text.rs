//! Numbers that the body of a macro stands for: sums and products of names and numbers, in parentheses.
//!
//! Invariant: a body with anything else in it is not a number.

use super::affine::Poly;

/// Reads the text of an expression; `name` tells what a name holds.
pub(super) fn number(text: &str, name: &mut dyn FnMut(&str) -> Option<Poly>) -> Option<Poly> {
    let mut reader = Reader { rest: text.trim(), name, depth: 0 };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

/// Whether each use of a parameter in a macro's body has parentheses of its own, so that any argument may stand there.
pub(super) fn encloses(body: &str, param: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(param).all(|(at, _)| {
        let (before, after) = (&body[..at], &body[at + param.len()..]);
        let is_word = !before.ends_with(inner) && !after.starts_with(inner);
        !is_word || before.trim_end().ends_with('(') && after.trim_start().starts_with(')')
    })
}

/// Whether parentheses stand around all of a macro's body.
pub(super) fn is_enclosed(body: &str) -> bool {
    let mut depth = 0;
    let last = body.trim().len();
    body.trim().char_indices().all(|(at, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth > 0 || at + 1 == last && c == ')'
    })
}

struct Reader<'a> {
    rest: &'a str,
    name: &'a mut dyn FnMut(&str) -> Option<Poly>,
    depth: usize,
}

/// Deeper parentheses are not followed.
const DEPTH: usize = 32;

impl Reader<'_> {
    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign).map(str::trim_start);
        rest.map(|rest| self.rest = rest).is_some()
    }

    fn sum(&mut self) -> Option<Poly> {
        let mut value = self.product()?;
        loop {
            if self.takes('+') {
                value = value.plus(&self.product()?, 1)?;
            } else if self.takes('-') {
                value = value.plus(&self.product()?, -1)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<Poly> {
        let mut value = self.factor()?;
        while self.takes('*') {
            value = value.times(&self.factor()?)?;
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<Poly> {
        if self.takes('(') {
            self.depth += 1;
            let value = if self.depth < DEPTH { self.sum()? } else { return None };
            self.depth -= 1;
            return self.takes(')').then_some(value);
        }
        if self.takes('-') {
            return self.factor()?.scaled(-1);
        }
        let inner = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !inner(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok().map(Poly::constant);
        }
        if word.is_empty() { None } else { (self.name)(word) }
    }
}

#[cfg(test)]
mod tests;
