//! Which macros are defined at a place of a file, and which of them are decided by options.
//!
//! Invariant: an option decides a name until a line that only some builds read defines or undefines it; a line in a branch that
//! options choose makes its name one that options decide.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::{Language, Predefined, SourceFile};

/// The macros that are defined at a place, with their bodies.
#[derive(Clone, Debug, Default)]
pub struct Defined {
    bodies: FxHashMap<String, String>,
    /// The names, defined or not, whose meaning options decide.
    decided: FxHashSet<String>,
}

/// Which builds read a line that defines or undefines a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Every build with the options at hand.
    All,
    /// The builds with these options, which choose the line's branch.
    Chosen,
    /// Some builds.
    Some,
}

impl Defined {
    /// What is defined before a file begins: by an OpenACC compiler (those at hand all call themselves GNU's), for the
    /// file's language, and by options.
    pub fn before(file: &SourceFile) -> Defined {
        Defined::with(file.language, &file.predefined)
    }

    /// The same for a file in this language with these options.
    pub fn with(language: Language, predefined: &Predefined) -> Defined {
        let standard = match language {
            Language::C => Some(("__STDC_VERSION__", "201710L")),
            Language::Cpp => Some(("__cplusplus", "201703")),
            _ => None,
        };
        let known = [("_OPENACC", "201711"), ("__GNUC__", "12")].into_iter().chain(standard);
        let mut defined: Defined = known.map(|(name, body)| (name.to_owned(), body.to_owned())).collect();
        for (name, line) in predefined.names() {
            match line {
                Some(line) => defined.define(name.to_owned(), value(line.as_bytes()), Reader::Chosen),
                None => defined.undefine(name, Reader::Chosen),
            }
        }
        defined
    }

    /// The body of a macro that is defined.
    pub fn get(&self, name: &str) -> Option<&String> {
        self.bodies.get(name)
    }

    /// Whether a name is defined.
    pub fn contains(&self, name: &str) -> bool {
        self.bodies.contains_key(name)
    }

    /// The names that are defined.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.bodies.keys()
    }

    /// Whether there are names whose meaning options decide here.
    pub fn has_decided(&self) -> bool {
        !self.decided.is_empty()
    }

    /// Whether options decide what a name means here.
    pub fn is_decided(&self, name: &str) -> bool {
        self.decided.contains(name)
    }

    /// A line that `reader` reads defines a name.
    pub fn define(&mut self, name: String, body: String, reader: Reader) {
        self.note(&name, reader);
        self.bodies.insert(name, body);
    }

    /// A line that `reader` reads undefines a name.
    pub fn undefine(&mut self, name: &str, reader: Reader) {
        self.note(name, reader);
        self.bodies.remove(name);
    }

    /// The build at hand defines these names, too, where nothing is known of them.
    pub fn assume(&mut self, names: &[(String, Option<String>)]) {
        for (name, body) in names {
            if !self.contains(name) && !self.is_decided(name) {
                self.define(name.clone(), body.clone().unwrap_or_default(), Reader::Chosen);
            }
        }
    }

    /// A line about a name stands in a branch that other builds read.
    pub fn doubt(&mut self, name: &str) {
        self.decided.remove(name);
    }

    /// A file that is not known may define or undefine any name.
    pub fn doubt_all(&mut self) {
        self.decided.clear();
    }

    fn note(&mut self, name: &str, reader: Reader) {
        match reader {
            Reader::All => {}
            Reader::Chosen => drop(self.decided.insert(name.to_owned())),
            Reader::Some => self.doubt(name),
        }
    }
}

impl FromIterator<(String, String)> for Defined {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(all: I) -> Defined {
        Defined { bodies: all.into_iter().collect(), decided: FxHashSet::default() }
    }
}

/// What a name stands for in conditions: one with parameters has no value there.
pub fn value(line: &[u8]) -> String {
    match definition(line) {
        (_, None, body) => body,
        (_, Some(_), _) => "0".to_owned(),
    }
}

/// A `#define`'s name, whether it has parameters, and its body.
pub fn definition(rest: &[u8]) -> (String, Option<Vec<String>>, String) {
    let text = String::from_utf8_lossy(rest);
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (params, body) = match rest.strip_prefix('(').map(|rest| rest.split_once(')').unwrap_or((rest, ""))) {
        Some((params, body)) => {
            (Some(params.split(',').map(|param| param.trim().to_owned()).collect()), body)
        }
        None => (None, rest),
    };
    (name.to_owned(), params, body.trim().to_owned())
}
