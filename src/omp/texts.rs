//! Texts of list items and expressions, taken apart at their brackets.
//!
//! Invariant: looks at brackets, members and blanks alone; what a name means is not asked here.

/// An item's text without its last section: `d[0:n]` of `d[0:n][0:m]`.
pub fn pointers(text: &str) -> &str {
    text.rfind(']').and_then(|end| opening(&text[..end], ['[', ']'])).map_or(text, |at| text[..at].trim_end())
}

/// An item's text without its sections after the last member: `s.p` of `s.p[0:n]`.
pub fn without_section(text: &str) -> &str {
    let mut depth = 0;
    let mut section = None;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => {
                section = section.or((c == '[' && depth == 0).then_some(at));
                depth += 1;
            }
            ']' | ')' => depth -= 1,
            // A member begins; those in a subscript are other objects'.
            '.' | '>' if depth == 0 => section = None,
            _ => {}
        }
    }
    section.map_or(text, |at| text[..at].trim_end())
}

/// Where the bracket opens that is closed after `text`; `open` and `close` are the brackets.
pub fn opening(text: &str, [open, close]: [char; 2]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        if c == close {
            depth += 1;
        } else if c == open {
            match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(at),
            }
        }
    }
    None
}

/// `a`, or `a * (b + c)`; numbers are multiplied.
pub fn multiplied(factors: &[&str]) -> String {
    let literals: Option<Vec<u64>> = factors.iter().map(|factor| factor.trim().parse().ok()).collect();
    let product =
        literals.and_then(|all| all.iter().try_fold(1u64, |product, one| product.checked_mul(*one)));
    if let Some(product) = product {
        return product.to_string();
    }
    match factors {
        [only] => (*only).to_owned(),
        _ => factors.iter().map(|factor| parenthesised(factor)).collect::<Vec<_>>().join(" * "),
    }
}

/// An expression as a factor.
pub fn parenthesised(text: &str) -> String {
    let simple = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if simple { text.to_owned() } else { format!("({text})") }
}
