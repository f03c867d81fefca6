//! Bytes of any encoding as text, and back.
//!
//! Invariant: text that was made of bytes becomes the same bytes again, whatever they were.

use std::borrow::Cow;

/// A byte that is not UTF-8 is shown as this character and as many after it: the end of the last plane for private use.
const FIRST: u32 = 0x10_ff00;

/// The first bytes, in UTF-8, of all these characters.
const LEAD: [u8; 2] = [0xf4, 0x8f];

fn stand_in(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte that a character stands for; `None` if it stands for itself.
pub fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()
}

/// Text in which each byte that is not UTF-8 is one character.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly all of it is UTF-8, and checking that is faster than converting it.
    if let Ok(text) = std::str::from_utf8(bytes)
        && !has_stand_in(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 4);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => out.push(c),
                // A source that has these characters gets them back byte by byte, too.
                Some(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(stand_in)),
            }
        }
        out.extend(chunk.invalid().iter().copied().map(stand_in));
    }
    Cow::Owned(out)
}

/// Text for reading, with a question mark for each byte that is not UTF-8: places in it are those in the bytes.
pub fn in_place(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(out)
}

/// The bytes that a text was made of.
pub fn bytes(text: Vec<u8>) -> Vec<u8> {
    if !has_stand_in(&text) {
        return text;
    }
    let Ok(text) = std::str::from_utf8(&text) else { return text };
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// A text for people: what stands for a byte is shown as a replacement character.
pub fn readable(text: &str) -> Cow<'_, str> {
    match has_stand_in(text.as_bytes()) {
        false => Cow::Borrowed(text),
        true => {
            let shown = |c: char| if byte_of(c).is_some() { char::REPLACEMENT_CHARACTER } else { c };
            Cow::Owned(text.chars().map(shown).collect())
        }
    }
}

fn has_stand_in(text: &[u8]) -> bool {
    memchr::memmem::find(text, &LEAD).is_some()
}

#[cfg(test)]
mod tests;
