//! A text without what its procedures execute, for those who read no more than declarations.
//!
//! Invariant: as long as the text, line by line; where it is not clear what a line is, it stays.

/// Words that only statements begin with that execute something.
const WORDS: [&str; 19] = [
    "allocate",
    "call",
    "close",
    "deallocate",
    "do",
    "forall",
    "go",
    "goto",
    "if",
    "inquire",
    "nullify",
    "open",
    "print",
    "read",
    "return",
    "select",
    "stop",
    "where",
    "write",
];

/// The units that an `end` statement ends.
const UNITS: [&str; 6] = ["function", "module", "procedure", "program", "submodule", "subroutine"];

/// A shadow, of which each line is a statement, with blanks from the first statement of a procedure that surely executes
/// something up to its `contains` or its `end`; none where one line may hold both.
pub fn without_execution(shadow: &[u8]) -> Option<Vec<u8>> {
    let mut text = shadow.to_vec();
    let mut executes = false;
    for line in text.split_mut(|byte| *byte == b'\n') {
        executes = match executes {
            true => !ends(line),
            false => executable(line),
        };
        if executes && line.split(|byte| *byte == b';').skip(1).any(ends) {
            return None;
        }
        if executes {
            line.iter_mut().filter(|byte| **byte != b'\r').for_each(|byte| *byte = b' ');
        }
    }
    Some(text)
}

/// The first word of a statement after its label, in lower case, and what follows it.
fn first_word(line: &[u8]) -> (String, &[u8]) {
    let start = line.iter().position(|byte| !byte.is_ascii_digit() && !byte.is_ascii_whitespace());
    let line = line.get(start.unwrap_or(line.len())..).unwrap_or_default();
    let end = line.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    (String::from_utf8_lossy(word).to_ascii_lowercase(), rest.trim_ascii_start())
}

/// Whether a line surely executes something.
fn executable(line: &[u8]) -> bool {
    let (word, rest) = first_word(line);
    let is_assigned = rest.starts_with(b"=") && !rest.starts_with(b"==") && !rest.starts_with(b"=>");
    let is_known = WORDS.contains(&word.as_str()) && !rest.starts_with(b":") && !rest.starts_with(b",");
    !word.is_empty() && (is_assigned || is_known)
}

/// Whether a line ends what a procedure executes.
fn ends(line: &[u8]) -> bool {
    let (word, rest) = first_word(line);
    let is_alone = rest.is_empty() || rest.starts_with(b"!") || rest.starts_with(b";");
    match word.as_str() {
        "contains" => is_alone,
        "end" => is_alone || UNITS.contains(&first_word(rest).0.as_str()),
        word => word.strip_prefix("end").is_some_and(|unit| UNITS.contains(&unit)),
    }
}

#[cfg(test)]
mod tests;
