//! What instrumented programs have recorded: events at directives, with the variables that these are about.
//!
//! Invariant: knows the form of the records and nothing of what they mean.

use std::fs;
use std::path::Path;

/// A directive of the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, seen from the root.
    pub file: String,
    /// The line of the directive, from 1.
    pub line: usize,
    /// The directive; `end data` for the end of a region.
    pub name: String,
}

/// What was recorded before or after a directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The directive.
    pub place: Place,
    /// It is about what the directive finds rather than what it leaves.
    pub is_entry: bool,
    /// How often the directive has run by then, from 1.
    pub execution: u64,
    /// The variables.
    pub variables: Vec<Recorded>,
}

impl Event {
    /// The names of the variables of which nothing is known.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        let all = self.variables.iter().filter(|one| one.held.is_none() && !one.is_there && !one.is_absent);
        all.map(|one| one.name.as_str())
    }
}

/// A variable at an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Its name, as the directive or the code has it.
    pub name: String,
    /// What it holds; none if it could not be recorded.
    pub held: Option<Held>,
    /// It is on the device, and nobody has looked what it holds.
    pub is_there: bool,
    /// It is not on the device, or not all of it, although its directive puts it there.
    pub is_absent: bool,
    /// The file with its bytes, if they were asked for.
    pub bytes: Option<String>,
}

/// What a variable holds, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The type of its elements.
    pub element: Element,
    /// How many elements it has.
    pub count: u64,
    /// A hash of all of them.
    pub all: String,
    /// How many of them its construct has changed; all at an entry.
    pub changed: u64,
    /// A hash of those.
    pub some: String,
    /// Their sum.
    pub sum: f64,
    /// The sum of their absolute values.
    pub size: f64,
    /// Some of them, with their places.
    pub samples: Vec<(u64, f64)>,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A floating number of 4 or 8 bytes.
    Float(usize),
    /// A complex number of 8 or 16 bytes.
    Complex(usize),
    /// An integer with a sign.
    Signed(usize),
    /// An integer without one.
    Unsigned(usize),
}

impl Element {
    fn of(text: &str) -> Option<Element> {
        let (kind, size) = (text.chars().next()?, text.get(1..)?.parse().ok()?);
        Some(match (kind, size) {
            ('f', 4 | 8) => Element::Float(size),
            ('c', 8 | 16) => Element::Complex(size),
            ('i', 1 | 2 | 4 | 8) => Element::Signed(size),
            ('u', 1 | 2 | 4 | 8) => Element::Unsigned(size),
            _ => return None,
        })
    }

    /// The bytes of one.
    pub fn size(self) -> usize {
        match self {
            Element::Float(size)
            | Element::Complex(size)
            | Element::Signed(size)
            | Element::Unsigned(size) => size,
        }
    }

    /// The distance of 1 to the next number; 0 for integers.
    pub fn epsilon(self) -> f64 {
        match self {
            Element::Float(4) | Element::Complex(8) => f64::from(f32::EPSILON),
            Element::Float(_) | Element::Complex(_) => f64::EPSILON,
            Element::Signed(_) | Element::Unsigned(_) => 0.0,
        }
    }

    /// The numbers that bytes hold: two for each complex one.
    pub fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        fn all<const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> f64) -> Vec<f64> {
            bytes.chunks_exact(N).filter_map(|one| one.try_into().ok()).map(of).collect()
        }
        match self {
            Element::Float(4) | Element::Complex(8) => all(bytes, |one| f64::from(f32::from_ne_bytes(one))),
            Element::Float(_) | Element::Complex(_) => all(bytes, f64::from_ne_bytes),
            Element::Signed(1) => all(bytes, |one| f64::from(i8::from_ne_bytes(one))),
            Element::Signed(2) => all(bytes, |one| f64::from(i16::from_ne_bytes(one))),
            Element::Signed(4) => all(bytes, |one| f64::from(i32::from_ne_bytes(one))),
            Element::Signed(_) => all(bytes, |one| i64::from_ne_bytes(one) as f64),
            Element::Unsigned(1) => all(bytes, |one| f64::from(u8::from_ne_bytes(one))),
            Element::Unsigned(2) => all(bytes, |one| f64::from(u16::from_ne_bytes(one))),
            Element::Unsigned(4) => all(bytes, |one| f64::from(u32::from_ne_bytes(one))),
            Element::Unsigned(_) => all(bytes, |one| u64::from_ne_bytes(one) as f64),
        }
    }
}

/// The events of each process, by its rank.
pub type Records = Vec<(String, Vec<Event>)>;

/// Reads what the processes of a run have recorded.
pub fn read(folder: &Path) -> Result<Records, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut records = Records::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "pins") {
            let text = String::from_utf8_lossy(&fs::read(&path).map_err(failed)?).into_owned();
            let rank = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            records.push((rank, events(&text)));
        }
    }
    records.sort_by(|one, two| one.0.len().cmp(&two.0.len()).then_with(|| one.0.cmp(&two.0)));
    Ok(records)
}

/// Reads the lines of a file; one that is cut short by the end of a program is passed over.
fn events(text: &str) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match (words.first(), all.last_mut()) {
            (Some(&"E"), _) => all.extend(event(&words)),
            (Some(&"V"), Some(event)) => event.variables.extend(recorded(&words)),
            (Some(&"B"), Some(event)) => {
                if let (Some(variable), Some(name)) = (event.variables.last_mut(), words.get(1)) {
                    variable.bytes = Some((*name).to_owned());
                }
            }
            _ => {}
        }
    }
    all
}

fn event(words: &[&str]) -> Option<Event> {
    let [_, file, line, name, phase, execution] = *words else { return None };
    let place = Place { file: file.to_owned(), line: line.parse().ok()?, name: name.to_owned() };
    let execution = execution.parse().ok()?;
    Some(Event { place, is_entry: phase == "entry", execution, variables: Vec::new() })
}

fn recorded(words: &[&str]) -> Option<Recorded> {
    let name = (*words.get(1)?).to_owned();
    let is_absent = words.get(2) == Some(&"!");
    let is_there = words.get(2) == Some(&"+");
    Some(Recorded { name, held: held(words), is_there, is_absent, bytes: None })
}

fn held(words: &[&str]) -> Option<Held> {
    let sample = |word: &&str| {
        let (at, value) = word.split_once('=')?;
        Some((at.parse().ok()?, value.parse().ok()?))
    };
    let [_, _, element, count, all, changed, some, sum, size, samples @ ..] = words else { return None };
    Some(Held {
        element: Element::of(element)?,
        count: count.parse().ok()?,
        all: (*all).to_owned(),
        changed: changed.parse().ok()?,
        some: (*some).to_owned(),
        sum: sum.parse().ok()?,
        size: size.parse().ok()?,
        samples: samples.iter().filter_map(sample).collect(),
    })
}

#[cfg(test)]
mod tests;
