//! Numbers in text.
//!
//! Invariant: the tokens of a line, one after the other, are the line.

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// What is not a number and no blank.
    Text(&'a str),
    /// Blanks.
    Space(&'a str),
    /// A number, as it is written and what it means.
    Number(&'a str, f64),
}

impl<'a> Token<'a> {
    /// As it is written.
    pub fn text(&self) -> &'a str {
        match self {
            Token::Text(text) | Token::Space(text) | Token::Number(text, _) => text,
        }
    }
}

/// The pieces of a line.
pub fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let before = line[..at].chars().next_back();
        let token = match blanks(rest) {
            0 => number(rest, before).unwrap_or_else(|| Token::Text(&rest[..word(rest)])),
            length => Token::Space(&rest[..length]),
        };
        at += token.text().len();
        all.push(token);
    }
    all
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a name or of a single other character.
fn word(text: &str) -> usize {
    let name = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    name.max(first)
}

/// The number at the start of a text, after a character.
fn number(text: &str, before: Option<char>) -> Option<Token<'_>> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let is_inside = before.is_some_and(|c| c.is_alphabetic() || c == '_');
    if is_inside || sign == 0 && before.is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    if let Some(length) = named(&text[sign..]) {
        let text = &text[..sign + length];
        let value = text.split('(').next().unwrap_or(text).parse().ok()?;
        return Some(Token::Number(text, value));
    }
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    let has_point = bytes.get(end) == Some(&b'.');
    let part = if has_point { digits(end + 1) } else { 0 };
    if whole + part == 0 || text[sign..].starts_with("0x") || text[sign..].starts_with("0X") {
        return None;
    }
    end += usize::from(has_point) + part;
    let mantissa = end;
    let (mut exponent, has_letter) = (end, bytes.get(end).is_some_and(|byte| b"eEdDqQ".contains(byte)));
    exponent += usize::from(has_letter);
    let has_sign = matches!(bytes.get(exponent), Some(b'+' | b'-'));
    let count = digits((exponent + usize::from(has_sign)).min(bytes.len()));
    // Without a letter, Fortran writes exponents of three digits.
    let is_exponent = has_letter && count > 0 || !has_letter && has_point && has_sign && count == 3;
    if !is_exponent {
        return Some(Token::Number(&text[..mantissa], text[..mantissa].parse().ok()?));
    }
    end = exponent + usize::from(has_sign) + count;
    let value = format!("{}e{}", &text[..mantissa], &text[exponent..end]).parse().ok()?;
    Some(Token::Number(&text[..end], value))
}

/// The length of a NaN or an infinity at the start of a text.
fn named(text: &str) -> Option<usize> {
    let length = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let name = text[..length].to_ascii_lowercase();
    match name.as_str() {
        "inf" | "infinity" => Some(length),
        "nan" => {
            let after = text[length..].strip_prefix('(').and_then(|rest| rest.find(')'));
            Some(length + after.map_or(0, |end| end + 2))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
