//! Paths in the manifest and the journal, which are text.
//!
//! Invariant: each path has a text of its own, of one line, from which it comes back byte for byte.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The path of a file in a tree, or of another one as seen from the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Name(PathBuf);

impl Name {
    /// Its text: a byte that is not UTF-8, or that ends a line, is a NUL, which no path has, and two digits.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for chunk in self.as_os_str().as_encoded_bytes().utf8_chunks() {
            for letter in chunk.valid().chars() {
                match letter {
                    '\n' | '\r' => text += &escaped(letter as u8),
                    _ => text.push(letter),
                }
            }
            text.extend(chunk.invalid().iter().copied().map(escaped));
        }
        text
    }
}

fn escaped(byte: u8) -> String {
    format!("\0{byte:02x}")
}

impl Deref for Name {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Name {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Name {
        Name(path.to_path_buf())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.text()
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        let mut parts = text.split('\0');
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.extend(byte);
            bytes.extend(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
        }
        Name(path_of(bytes))
    }
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    name.into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests;
