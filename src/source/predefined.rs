//! What options say before a file begins: of the preprocessor's names, `-D` and `-U`, and how long lines of Fortran's fixed form
//! are.
//!
//! Invariant: of what is said of one name, the last word counts; of all other names nothing is known.

use std::collections::BTreeMap;

/// The names that options define, or say to be undefined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Predefined {
    /// What stands after `#define`, name and all; `None` for a name that is not defined.
    names: BTreeMap<String, Option<String>>,
    /// The last column of fixed form that is read.
    last_column: Option<usize>,
}

/// No line is longer: the last column where all of a line is read.
const ANY_LENGTH: usize = 1 << 20;

impl Predefined {
    /// What stands after `-D`: `NAME`, which is 1, `NAME=V` or `NAME(x)=V`.
    pub fn define(&mut self, text: &str) {
        let (head, body) = text.split_once('=').unwrap_or((text, "1"));
        self.names.insert(name_of(head), Some(format!("{head} {body}")));
    }

    /// What stands after `-U`.
    pub fn undefine(&mut self, name: &str) {
        self.names.insert(name_of(name), None);
    }

    /// Says that lines of fixed form are read up to this column, or, with 0, all of them.
    pub fn end_lines_at(&mut self, column: usize) {
        self.last_column = Some(if column == 0 { ANY_LENGTH } else { column.min(ANY_LENGTH) });
    }

    /// The last column of fixed form that is read, if options say it.
    pub fn last_column(&self) -> Option<usize> {
        self.last_column
    }

    /// The names, and what stands after the `#define` of each that is defined.
    pub fn names(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.names.iter().map(|(name, line)| (name.as_str(), line.as_deref()))
    }

    /// Takes over what `other` says, which is said after it.
    pub fn extend(&mut self, other: &Predefined) {
        self.names.extend(other.names.clone());
        self.last_column = other.last_column.or(self.last_column);
    }

    /// Says nothing more of these names.
    pub fn forget(&mut self, names: &[String]) {
        names.iter().for_each(|name| drop(self.names.remove(name)));
    }

    /// Keeps what `other` says, too.
    pub fn keep_common(&mut self, other: &Predefined) {
        self.names.retain(|name, line| other.names.get(name) == Some(line));
        self.last_column = self.last_column.filter(|column| other.last_column == Some(*column));
    }
}

/// The name before a list of parameters.
fn name_of(head: &str) -> String {
    head.split('(').next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests;
