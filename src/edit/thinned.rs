//! What need not be read again of a procedure of Fortran that has changed: declarations, assignments, and loops and branches of
//! these, that are as they were, between lines that are.
//!
//! Invariant: a list of statements from which whole statements are taken stays one. A line holds one statement: others stay.

use rustc_hash::FxHashSet;

use crate::source::{self, Span};

/// What a line is, as far as that is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// A statement by itself.
    Statement,
    /// It begins a loop, or a branch.
    Begin(Block),
    /// `else`.
    Other,
    /// It ends what the last such line has begun.
    End(Block),
    /// Anything else.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Loop,
    Branch,
}

/// A loop or a branch whose end has not come yet.
struct Open {
    block: Block,
    /// Its lines that are not in others.
    lines: Vec<usize>,
    /// All in it goes.
    goes: bool,
}

/// Overwrites such statements by blanks, in the bytes of a procedure that were others.
pub fn thin(text: &mut [u8], procedure: Span, old: &[u8]) {
    let Some(code) = text.get_mut(procedure.range()) else { return };
    let before = lines(old);
    let known: FxHashSet<[&[u8]; 2]> =
        before.windows(2).map(|pair| [&old[pair[0].range()], &old[pair[1].range()]]).collect();
    let after = lines(code);
    // Whether a line comes after the one before it as it did.
    let follows = |at: usize| known.contains(&[&code[after[at - 1].range()], &code[after[at].range()]]);
    let inside = |at: usize| follows(at) && at + 1 < after.len() && follows(at + 1);
    let kinds: Vec<Option<Line>> =
        (0..after.len()).map(|at| (at > 0 && inside(at)).then(|| line(&code[after[at].range()]))).collect();
    for at in gone(&kinds) {
        code[after[at].range()].fill(b' ');
    }
}

/// The lines with words, without the blanks around them.
fn lines(text: &[u8]) -> Vec<Span> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in source::lines(text) {
        let words = line.trim_ascii();
        if !words.is_empty() {
            let first = start + line.len() - line.trim_ascii_start().len();
            found.push(Span::new(first, first + words.len()));
        }
        start += line.len() + 1;
    }
    found
}

/// The lines that go: whole statements. `None` is a line that is not as it was, or not between such lines.
fn gone(lines: &[Option<Line>]) -> Vec<usize> {
    let (mut open, mut gone): (Vec<Open>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        match (line, open.last_mut()) {
            (None, _) => open.clear(),
            (Some(Line::Statement), _) => gone.push(at),
            (Some(Line::Begin(block)), _) => {
                open.push(Open { block: *block, lines: vec![at], goes: true });
            }
            (Some(Line::Other), Some(last)) if last.block == Block::Branch => last.lines.push(at),
            (Some(Line::End(block)), Some(last)) if last.block == *block => {
                let is_whole = last.goes;
                gone.extend(open.pop().into_iter().flat_map(|last| last.lines).filter(|_| is_whole));
                gone.extend(is_whole.then_some(at));
                open.last_mut().into_iter().for_each(|around| around.goes &= is_whole);
            }
            (Some(Line::Unknown), last) => last.into_iter().for_each(|last| last.goes = false),
            (Some(Line::Other | Line::End(_)), _) => open.clear(),
        }
    }
    gone
}

/// What a line is.
fn line(line: &[u8]) -> Line {
    let is_plain = !line.iter().any(|byte| matches!(byte, b';' | b'!' | b'&' | b'\'' | b'"'));
    let lower = line.to_ascii_lowercase();
    match lower.as_slice() {
        _ if !is_plain => Line::Unknown,
        b"end do" | b"enddo" => Line::End(Block::Loop),
        b"end if" | b"endif" => Line::End(Block::Branch),
        b"else" => Line::Other,
        _ if is_loop(&lower) => Line::Begin(Block::Loop),
        _ if is_branch(&lower) => Line::Begin(Block::Branch),
        _ if is_declaration(&lower) || is_assignment(&lower) => Line::Statement,
        _ => Line::Unknown,
    }
}

/// Whether a line is surely `do` with a variable and its bounds, without a label.
fn is_loop(line: &[u8]) -> bool {
    let words = line.strip_prefix(b"do ").map(<[u8]>::trim_ascii_start).unwrap_or_default();
    let end = words.iter().position(|byte| !is_word(byte)).unwrap_or(words.len());
    let is_name = words.first().is_some_and(u8::is_ascii_alphabetic);
    is_name && words[end..].trim_ascii_start().first() == Some(&b'=')
}

/// Whether a line is surely `if (…) then`.
fn is_branch(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"if").map(<[u8]>::trim_ascii_start).unwrap_or_default();
    rest.first() == Some(&b'(')
        && after_parentheses(rest).is_some_and(|after| after.trim_ascii_start() == b"then")
}

/// Whether a line is surely a declaration of variables.
fn is_declaration(line: &[u8]) -> bool {
    const TYPES: [&[u8]; 5] = [b"integer", b"real", b"logical", b"complex", b"double precision"];
    let rest = TYPES.iter().find_map(|name| line.strip_prefix(*name)).unwrap_or_default();
    let rest = rest.trim_ascii_start();
    matches!(rest, [b',' | b'(', ..] | [b':', b':', ..]) && rest.windows(2).any(|pair| pair == b"::")
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Whether a line, in lower case, is surely an assignment.
fn is_assignment(line: &[u8]) -> bool {
    // `do10i=1,9` is a loop, in fixed form.
    if !line.first().is_some_and(u8::is_ascii_alphabetic) || line.starts_with(b"do") {
        return false;
    }
    let mut rest = line;
    loop {
        let end = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
        if rest.first() == Some(&b'(') {
            let Some(after) = after_parentheses(rest) else { return false };
            rest = after.trim_ascii_start();
        }
        match rest {
            [b'%', ..] => rest = rest[1..].trim_ascii_start(),
            [b'=', b'=' | b'>', ..] => return false,
            [b'=', ..] => return true,
            _ => return false,
        }
    }
}

/// What comes after the parentheses that a text begins with.
fn after_parentheses(text: &[u8]) -> Option<&[u8]> {
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return text.get(at + 1..);
        }
    }
    None
}

#[cfg(test)]
mod tests;
