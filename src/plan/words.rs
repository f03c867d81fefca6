//! Expressions of the source, put together as text.
//!
//! Invariant: parentheses stand where the operators need them, and numbers are added up.

/// The words of a value: an expression, if there is one, and the number that is added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: Option<(String, Level)>,
    pub(super) number: i64,
}

/// How tight the words of an expression hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Sum,
    Product,
    Whole,
}

impl Words {
    pub(super) fn number(number: i64) -> Words {
        Words { text: None, number }
    }

    pub(super) fn of(text: String, level: Level) -> Words {
        Words { text: Some((text, level)), number: 0 }
    }

    /// Its value, if it is a number.
    pub(super) fn known(&self) -> Option<i64> {
        self.text.is_none().then_some(self.number)
    }

    pub(super) fn whole(&self) -> (String, Level) {
        match &self.text {
            None if self.number < 0 => (self.number.to_string(), Level::Sum),
            None => (self.number.to_string(), Level::Whole),
            Some(text) if self.number == 0 => text.clone(),
            Some((text, _)) => {
                let sign = if self.number < 0 { '-' } else { '+' };
                (format!("{text} {sign} {}", self.number.unsigned_abs()), Level::Sum)
            }
        }
    }

    /// Its text where what stands there must hold together so tight.
    pub(super) fn at(&self, level: Level) -> String {
        let (text, own) = self.whole();
        if own < level { format!("({text})") } else { text }
    }

    pub(super) fn plus(&self, other: &Words) -> Option<Words> {
        let text = match (&self.text, &other.text) {
            (None, text) | (text, None) => text.clone(),
            (Some((one, _)), Some(_)) => {
                let other = Words { number: 0, ..other.clone() };
                let bare = other.at(Level::Sum);
                let bare = if bare.starts_with('-') { other.at(Level::Whole) } else { bare };
                Some((format!("{one} + {bare}"), Level::Sum))
            }
        };
        Some(Words { text, number: self.number.checked_add(other.number)? })
    }

    pub(super) fn minus(&self, other: &Words) -> Option<Words> {
        let taken = Words { number: 0, ..other.clone() }.at(Level::Product);
        let number = self.number.checked_sub(other.number)?;
        Some(match (&self.text, &other.text) {
            (_, None) => Words { text: self.text.clone(), number },
            (Some((one, _)), Some(_)) => {
                Words { text: Some((format!("{one} - {taken}"), Level::Sum)), number }
            }
            (None, Some(_)) if number == 0 => Words::of(format!("-{taken}"), Level::Sum),
            (None, Some(_)) => Words::of(format!("{number} - {taken}"), Level::Sum),
        })
    }

    pub(super) fn times(&self, other: &Words) -> Option<Words> {
        Some(match (self.known(), other.known()) {
            (Some(a), Some(b)) => Words::number(a.checked_mul(b)?),
            (Some(0), _) | (_, Some(0)) => Words::number(0),
            (Some(1), _) => other.clone(),
            (_, Some(1)) => self.clone(),
            _ => {
                let text = format!("{} * {}", self.at(Level::Product), other.at(Level::Whole));
                Words::of(text, Level::Product)
            }
        })
    }

    pub(super) fn over(&self, by: i64) -> Words {
        match by {
            1 => self.clone(),
            _ => Words::of(format!("{} / {by}", self.at(Level::Product)), Level::Product),
        }
    }
}

#[cfg(test)]
mod tests;
