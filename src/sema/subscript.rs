//! Subscripts of Fortran: the ones that run, and those that are the same for all elements; and which never meet.
//!
//! Invariant: two subscripts are called apart only if they cannot have a value in common.

/// A subscript of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// It is the same for all elements.
    Fixed(String),
    /// It runs.
    Range(Range),
}

/// The values of a subscript that runs, as expressions of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first one.
    pub first: String,
    /// The one that it does not pass.
    pub last: String,
    /// What is added.
    pub step: String,
}

/// What is known of the values of a subscript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// They lie between these, which are included.
    Between(i128, i128),
    /// It is this text and so much more.
    Text(String, i128),
    /// Nothing.
    Unknown,
}

impl Extent {
    pub(super) fn new(subscript: &Subscript) -> Extent {
        match subscript {
            Subscript::Fixed(text) => match Extent::of(&plain(text)) {
                (text, value) if text.is_empty() => Extent::Between(value, value),
                (text, by) => Extent::Text(text, by),
            },
            Subscript::Range(range) => {
                let [first, last] = [&range.first, &range.last].map(|text| Extent::of(&plain(text)));
                if !(first.0.is_empty() && last.0.is_empty()) {
                    return Extent::Unknown;
                }
                Extent::Between(first.1.min(last.1), first.1.max(last.1))
            }
        }
    }

    /// A text of the form `name + number`, split; the name is empty for a number alone.
    fn of(text: &str) -> (String, i128) {
        if let Ok(value) = text.parse() {
            return (String::new(), value);
        }
        let word = |char: char| char.is_alphanumeric() || char == '_';
        let end = text.find(|char| !word(char)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        match rest.parse() {
            Ok(by) if rest.starts_with(['+', '-']) => (name.to_owned(), by),
            _ => (text.to_owned(), 0),
        }
    }

    /// Whether the two have no value in common.
    pub(super) fn is_apart(&self, other: &Extent) -> bool {
        match (self, other) {
            (Extent::Between(first, last), Extent::Between(low, high)) => last < low || high < first,
            (Extent::Text(one, by), Extent::Text(two, more)) => one == two && by != more,
            _ => false,
        }
    }
}

/// A text in small letters, without blanks.
pub fn plain(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).map(|char| char.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
