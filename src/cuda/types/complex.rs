//! Complex numbers: a class of the run-time library stands for C's types, which device code does not have.
//!
//! Invariant: the class has the bytes of C's type; code of the program is changed where it names such a type, nowhere else.

use crate::host::forms;
use crate::host::ir::{BaseType, Decl};
use crate::source::Span;

use super::spelling::typedefs;
use crate::cuda::code::text::{placed_numbers, placed_words, replaced, words};
use crate::cuda::program::{Input, Seen};

/// The words that make a type complex. The grammar is not shown them.
const COMPLEX: [&str; 3] = ["_Complex", "__complex__", "complex"];

/// The type of the parts of a complex type, through type names.
pub fn part(input: &Input, seen: Seen, decl: &Decl) -> Option<&'static str> {
    part_through(input, seen, decl, 0)
}

fn part_through(input: &Input, seen: Seen, decl: &Decl, depth: usize) -> Option<&'static str> {
    // A declaration that begins with such a word begins after it for the grammar.
    let before = Span { start: decl.span.start.saturating_sub(32), end: decl.span.start };
    let before = seen.file.text(before);
    let text = forms::specifiers(seen.file, decl);
    let mut all = words(&text);
    let first = before.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
    all.extend(first.filter(|word| COMPLEX.contains(word)));
    if all.iter().any(|word| COMPLEX.contains(word)) {
        return Some(match (all.contains(&"long"), all.contains(&"float")) {
            (true, _) => "long double",
            (_, true) => "float",
            _ => "double",
        });
    }
    let BaseType::Named(name) = &decl.base else { return None };
    let known = std::iter::once(&input.source).chain(input.headers);
    let mut all = known.flat_map(|seen| typedefs(seen, name).map(move |decl| (*seen, decl)));
    let (seen, decl) = all.next()?;
    if depth < 16 { part_through(input, seen, decl, depth + 1) } else { None }
}

/// The class for a complex type that is written out.
pub fn class(part: &str) -> String {
    format!("acc2omp::Complex<{part}>")
}

/// Code with the class in place of C's types. `has_header`: `complex` is a word for them.
pub fn rewritten(text: &str, has_header: bool) -> String {
    let text = &imaginary(text);
    let all = placed_words(text);
    let is_complex = |word: &str| COMPLEX[..if has_header { 3 } else { 2 }].contains(&word);
    let is_part = |word: &str| ["float", "double"].contains(&word);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut index = 0;
    while index < all.len() {
        let first = index;
        let (start, mut end) = (all[first].0, all[first].0);
        let (mut parts, mut kinds) = (Vec::new(), 0);
        while let Some((place, word)) = all.get(index) {
            let is_next = index == first || text[end..*place].trim().is_empty();
            if !is_next || !(is_complex(word) || is_part(word)) {
                break;
            }
            kinds += usize::from(is_complex(word));
            parts.extend(is_part(word).then_some(*word));
            end = place + word.len();
            index += 1;
        }
        if kinds == 1 && parts.len() <= 1 {
            out += &text[at..start];
            out += &class(parts.first().copied().unwrap_or("double"));
            at = end;
        }
        index = index.max(first + 1);
    }
    out + &text[at..]
}

/// Code without GNU's imaginary numbers: `1.5i` and `1.5I` are a number of the class.
fn imaginary(text: &str) -> String {
    replaced(text, placed_numbers(text), |number| {
        let digits = number.trim_end_matches(['i', 'I', 'j', 'J', 'f', 'F', 'l', 'L', 'u', 'U']);
        let suffix = &number[digits.len()..];
        let is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
        let part = if suffix.contains(['f', 'F']) { "float" } else { "double" };
        let is_imaginary = suffix.contains(['i', 'I', 'j', 'J']) && !is_hexadecimal;
        is_imaginary.then(|| format!("{}(0, {digits})", class(part)))
    })
}

/// The macros of `<complex.h>` that some code uses.
pub fn macros(text: &str) -> String {
    let used = words(text);
    let known = [
        ("I", "I acc2omp::Complex<float>(0, 1)"),
        ("_Complex_I", "_Complex_I acc2omp::Complex<float>(0, 1)"),
        ("CMPLX", "CMPLX(real, imaginary) acc2omp::Complex<double>((real), (imaginary))"),
        ("CMPLXF", "CMPLXF(real, imaginary) acc2omp::Complex<float>((real), (imaginary))"),
    ];
    let used = known.iter().filter(|(name, _)| used.contains(name));
    used.map(|(_, line)| format!("#define {line}\n")).collect()
}

#[cfg(test)]
mod tests;
