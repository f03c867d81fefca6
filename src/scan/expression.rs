//! The expressions of conditions: what they amount to, and whether options alone decide them.
//!
//! Invariant: a name that is not defined is 0, as for the preprocessor; a condition that cannot be read is false, and nothing
//! decides it.

use rustc_hash::FxHashMap;

use crate::budget;

use super::defined::Defined;

/// What a condition amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, and options decide so.
    Always,
    /// It does not hold, and options decide so.
    Never,
    /// It holds as far as is known.
    Holds,
    /// It does not hold as far as is known.
    Fails,
}

impl Verdict {
    fn new(holds: bool, is_decided: bool) -> Verdict {
        match (holds, is_decided) {
            (true, true) => Verdict::Always,
            (false, true) => Verdict::Never,
            (true, false) => Verdict::Holds,
            (false, false) => Verdict::Fails,
        }
    }

    /// Whether it holds.
    pub fn holds(self) -> bool {
        matches!(self, Verdict::Always | Verdict::Holds)
    }
}

/// What the condition of a line amounts to.
pub fn verdict(word: &str, rest: &[u8], macros: &Defined) -> Verdict {
    let text = String::from_utf8_lossy(rest);
    let text = text.trim();
    let name = first_word(text);
    match word {
        "else" => Verdict::Holds,
        "ifdef" => Verdict::new(macros.contains(name), macros.is_decided(name)),
        "ifndef" => Verdict::new(!macros.contains(name), macros.is_decided(name)),
        _ => {
            let mut condition = Condition::new(macros);
            let Some(value) = condition.whole(text) else { return Verdict::Fails };
            // A condition that names nothing that options decide, such as `0`, is not decided by them.
            Verdict::new(value.number != 0, value.is_sure && condition.asks)
        }
    }
}

/// Whether the condition of a line holds.
pub fn holds(word: &str, rest: &[u8], macros: &Defined) -> bool {
    verdict(word, rest, macros).holds()
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("")
}

/// Deeper macro expansion or nesting than this is given up.
const DEPTH: usize = 64;

/// The value of an integer expression, as the preprocessor computes it: other names are 0.
pub fn constant(text: &str, macros: &Defined) -> Option<i64> {
    Condition::new(macros).whole(text).map(|value| value.number)
}

/// What an expression or a part of it amounts to.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Of unsigned values, the bits.
    number: i64,
    /// Its type is unsigned (C11, 6.10.1).
    is_unsigned: bool,
    /// It depends only on names that options decide.
    is_sure: bool,
}

fn tokens(text: &str) -> Vec<String> {
    const PAIRS: [&str; 8] = ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>"];
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at).copied() {
        let pair: String = chars.iter().skip(at).take(2).collect();
        let length = if first.is_whitespace() {
            at += 1;
            continue;
        } else if first.is_alphanumeric() || first == '_' {
            chars.iter().skip(at).take_while(|c| c.is_alphanumeric() || **c == '_').count()
        } else if PAIRS.contains(&pair.as_str()) {
            2
        } else {
            1
        };
        tokens.push(chars.iter().skip(at).take(length).collect());
        at += length;
    }
    tokens
}

struct Condition<'a> {
    tokens: Vec<String>,
    at: usize,
    macros: &'a Defined,
    /// The values of the macros met so far: each is computed once, however often it is named.
    values: FxHashMap<String, Option<Value>>,
    depth: usize,
    /// It asks for a name that options decide.
    asks: bool,
}

/// Binary operators from loosest to tightest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Condition<'_> {
    fn new(macros: &Defined) -> Condition<'_> {
        Condition { tokens: Vec::new(), at: 0, macros, values: FxHashMap::default(), depth: 0, asks: false }
    }

    /// The value of a text, in the middle of another one or not.
    fn whole(&mut self, text: &str) -> Option<Value> {
        if self.depth > DEPTH {
            return None;
        }
        budget::spend(text.len() as u64 / 8);
        let around =
            (std::mem::replace(&mut self.tokens, tokens(text)), std::mem::take(&mut self.at), self.depth);
        let value = self.ternary().filter(|_| self.at == self.tokens.len());
        (self.tokens, self.at, self.depth) = around;
        value
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.eat("?") {
            let first = self.ternary()?;
            self.eat(":").then_some(())?;
            let second = self.ternary()?;
            let chosen = if condition.number != 0 { first } else { second };
            let is_unsigned = first.is_unsigned || second.is_unsigned;
            Value { is_sure: condition.is_sure && chosen.is_sure, is_unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<Value> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| **operator == self.peek()) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = if self.eat("!") {
            let value = self.unary()?.map(|number| i64::from(number == 0));
            Value { is_unsigned: false, ..value }
        } else if self.eat("-") {
            self.unary()?.map(i64::wrapping_neg)
        } else if self.eat("+") {
            self.unary()?
        } else if self.eat("~") {
            self.unary()?.map(|number| !number)
        } else if self.eat("(") {
            let value = self.ternary()?;
            self.eat(")").then_some(value)?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn primary(&mut self) -> Option<Value> {
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        if token == "defined" {
            let parenthesised = self.eat("(");
            let name = self.tokens.get(self.at)?.clone();
            self.at += 1;
            let number = i64::from(self.macros.contains(&name));
            let value = Value { number, is_unsigned: false, is_sure: self.ask(&name) };
            return (!parenthesised || self.eat(")")).then_some(value);
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return number(&token).map(|(number, is_unsigned)| Value { number, is_unsigned, is_sure: true });
        }
        if !token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        if self.peek() == "(" {
            return None;
        }
        let is_sure = self.ask(&token);
        match self.macros.get(&token) {
            Some(body) if *body == token => Some(Value { number: 0, is_unsigned: false, is_sure }),
            Some(body) => {
                if let Some(known) = self.values.get(&token) {
                    return *known;
                }
                self.depth += 1;
                let value =
                    self.whole(body).map(|value| Value { is_sure: is_sure && value.is_sure, ..value });
                self.depth -= 1;
                self.values.insert(token, value);
                value
            }
            None => Some(Value { number: 0, is_unsigned: false, is_sure }),
        }
    }

    /// Asks for a name: whether options decide what it means.
    fn ask(&mut self, name: &str) -> bool {
        let is_decided = self.macros.is_decided(name);
        self.asks |= is_decided;
        is_decided
    }
}

impl Value {
    fn map(self, change: impl FnOnce(i64) -> i64) -> Value {
        Value { number: change(self.number), ..self }
    }
}

/// The value of a number, and whether its type is unsigned.
fn number(token: &str) -> Option<(i64, bool)> {
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    let says_so = token.get(digits.len()..).unwrap_or_default().contains(['u', 'U']);
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok()?,
        None => digits.parse().ok()?,
    };
    Some((value as i64, says_so || value > i64::MAX as u64))
}

fn apply(operator: &str, left: Value, right: Value) -> Option<Value> {
    // One side may be enough.
    let settles = |value: Value| match operator {
        "&&" => value.is_sure && value.number == 0,
        "||" => value.is_sure && value.number != 0,
        _ => false,
    };
    let is_sure = left.is_sure && right.is_sure || settles(left) || settles(right);
    let is_unsigned = left.is_unsigned || right.is_unsigned;
    let number = match unsigned(operator, left.number as u64, right.number as u64).filter(|_| is_unsigned) {
        Some(number) => number,
        // What is shifted decides alone.
        None if operator == ">>" && left.is_unsigned => {
            (left.number as u64).checked_shr(right.number.try_into().ok()?)? as i64
        }
        None if is_unsigned && ["/", "%"].contains(&operator) => return None,
        None => compute(operator, left.number, right.number)?,
    };
    let is_unsigned = match operator {
        "+" | "-" | "*" | "/" | "%" | "|" | "^" | "&" => is_unsigned,
        "<<" | ">>" => left.is_unsigned,
        _ => false,
    };
    Some(Value { number, is_unsigned, is_sure })
}

/// What the operators make of unsigned values that make something else of signed ones.
fn unsigned(operator: &str, left: u64, right: u64) -> Option<i64> {
    match operator {
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        "/" => left.checked_div(right).map(|value| value as i64),
        "%" => left.checked_rem(right).map(|value| value as i64),
        _ => None,
    }
}

fn compute(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => left.checked_shl(right.try_into().ok()?),
        ">>" => left.checked_shr(right.try_into().ok()?),
        "+" => Some(left.wrapping_add(right)),
        "-" => Some(left.wrapping_sub(right)),
        "*" => Some(left.wrapping_mul(right)),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
