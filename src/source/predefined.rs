//! What options say of the preprocessor's names before a file begins: `-D` and `-U`.
//!
//! Invariant: of what is said of one name, the last word counts; of all other names nothing is known.

use std::collections::BTreeMap;

/// The names that options define, or say to be undefined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Predefined {
    /// What stands behind `#define`, name and all; `None` for a name that is not defined.
    names: BTreeMap<String, Option<String>>,
}

impl Predefined {
    /// What stands behind `-D`: `NAME`, which is 1, `NAME=V` or `NAME(x)=V`.
    pub fn define(&mut self, text: &str) {
        let (head, body) = text.split_once('=').unwrap_or((text, "1"));
        self.names.insert(name_of(head), Some(format!("{head} {body}")));
    }

    /// What stands behind `-U`.
    pub fn undefine(&mut self, name: &str) {
        self.names.insert(name_of(name), None);
    }

    /// The names, and what stands behind the `#define` of each that is defined.
    pub fn names(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.names.iter().map(|(name, line)| (name.as_str(), line.as_deref()))
    }

    /// Takes over what `other` says, which is said behind it.
    pub fn extend(&mut self, other: &Predefined) {
        self.names.extend(other.names.clone());
    }

    /// Says nothing more of these names.
    pub fn forget(&mut self, names: &[String]) {
        names.iter().for_each(|name| drop(self.names.remove(name)));
    }

    /// Keeps what `other` says, too.
    pub fn keep_common(&mut self, other: &Predefined) {
        self.names.retain(|name, line| other.names.get(name) == Some(line));
    }
}

/// The name before a list of parameters.
fn name_of(head: &str) -> String {
    head.split('(').next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Predefined;

    #[test]
    fn the_last_word_counts() {
        let mut said = Predefined::default();
        ["A", "B=2", "C=", "F(x)=x = 1", "D"].iter().for_each(|text| said.define(text));
        ["D", "E"].iter().for_each(|name| said.undefine(name));
        said.define("E=5");
        let all: Vec<_> = said.names().map(|(name, line)| (name, line.unwrap_or("-"))).collect();
        let wanted = [("A", "A 1"), ("B", "B 2"), ("C", "C "), ("D", "-"), ("E", "E 5"), ("F", "F(x) x = 1")];
        assert_eq!(all, wanted);
        let mut other = Predefined::default();
        ["A", "B=3"].iter().for_each(|text| other.define(text));
        said.keep_common(&other);
        assert_eq!(said.names().map(|(name, _)| name).collect::<Vec<_>>(), ["A"]);
    }
}
