//! How the members of a struct lie in memory: `#pragma pack`, and attributes after the definition.
//!
//! Invariant: a copied definition has the layout that the program's compiler gives the original.

use crate::source::Span;

use crate::cuda::code::text::words;
use crate::cuda::program::Seen;

/// The text of a definition as the device file has it.
pub fn definition(seen: &Seen, span: Span, text: String) -> String {
    let text = match text.ends_with(';') {
        true => text,
        false => format!("{text}{};", attributes(seen, span.end)),
    };
    match pack(seen, span.start) {
        Some(size) => format!("#pragma pack(push, {size})\n{text}\n#pragma pack(pop)"),
        None => text,
    }
}

/// The attributes that stand after a closing brace, with a blank before them.
fn attributes(seen: &Seen, from: u32) -> String {
    let text = seen.file.text(after(seen, from)).trim().to_owned();
    if text.is_empty() { text } else { format!(" {text}") }
}

/// Whether an attribute in or after the definition of an enumeration says that it has the smallest type.
pub fn is_packed(seen: &Seen, span: Span) -> bool {
    let whole = Span { start: span.start, end: after(seen, span.end).end };
    words(&seen.file.text(whole)).iter().any(|word| ["packed", "__packed__"].contains(word))
}

/// The bytes of the attributes that stand after a closing brace.
pub fn after(seen: &Seen, from: u32) -> Span {
    let rest = seen.file.text(Span { start: from, end: seen.file.bytes.len() as u32 });
    let mut end = 0;
    loop {
        let more = rest[end..].trim_start();
        let at = rest.len() - more.len();
        let is_attribute = ["__attribute__", "__attribute"].iter().any(|word| more.starts_with(word));
        let Some(close) = more
            .find('(')
            .filter(|_| is_attribute)
            .and_then(|open| closing(&more[open..]).map(|close| open + close))
        else {
            break;
        };
        end = at + close + 1;
    }
    Span { start: from, end: from + end as u32 }
}

/// Where the parenthesis closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, char)| {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// What `#pragma pack` says at an offset of a file, if it says anything.
fn pack(seen: &Seen, at: u32) -> Option<String> {
    let before = seen.file.text(Span { start: 0, end: at });
    let mut now: Option<String> = None;
    let mut stack: Vec<Option<String>> = Vec::new();
    for line in before.lines() {
        let Some(said) = said(line) else { continue };
        let words: Vec<&str> = said.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let size = words.iter().rfind(|word| word.chars().all(|c| c.is_ascii_digit()));
        let size = size.map(|word| (*word).to_owned());
        match words.first() {
            None => now = None,
            Some(&"push") => {
                stack.push(now.clone());
                now = size.or(now);
            }
            Some(&"pop") => now = stack.pop().flatten(),
            Some(word) => now = Some(size.unwrap_or_else(|| (*word).to_owned())),
        }
    }
    now.filter(|size| size != "0")
}

/// What stands in the parentheses of a line `#pragma pack(…)`.
fn said(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let rest = rest.trim_start().strip_prefix("pack")?.trim_start().strip_prefix('(')?;
    rest.split_once(')').map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests;
