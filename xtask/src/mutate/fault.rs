//! Faults of translations: one word, clause or line of OpenMP that is lost or wrong, or one operator of the code.
//!
//! Invariant: a fault is found again by its number in any translation that has the same directives in the same order.

use std::fmt;
use std::str::FromStr;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing comes to the device.
    To,
    /// Nothing comes back.
    From,
    /// What comes and goes only comes.
    OnlyTo,
    /// What comes and goes only goes.
    OnlyFrom,
    /// `private` is lost.
    Private,
    /// `firstprivate` is lost.
    Firstprivate,
    /// `reduction` is lost.
    Reduction,
    /// A section has half its length.
    Section,
    /// An `update` is lost.
    Update,
    /// The order of queues is lost.
    Order,
    /// Loops do not run as one.
    Collapse,
    /// The code subtracts where it should add, or the other way round.
    Operand,
}

/// All kinds, with their names.
pub const KINDS: [(Kind, &str); 12] = [
    (Kind::To, "to"),
    (Kind::From, "from"),
    (Kind::OnlyTo, "only-to"),
    (Kind::OnlyFrom, "only-from"),
    (Kind::Private, "private"),
    (Kind::Firstprivate, "firstprivate"),
    (Kind::Reduction, "reduction"),
    (Kind::Section, "section"),
    (Kind::Update, "update"),
    (Kind::Order, "order"),
    (Kind::Collapse, "collapse"),
    (Kind::Operand, "operand"),
];

/// A fault in a file: at the directive of this number, from 0, or in the code behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, seen from the root of the tree.
    pub file: String,
    /// The directive.
    pub number: usize,
    /// What goes wrong.
    pub kind: Kind,
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, name)| name);
        write!(to, "{}:{}:{name}", self.file, self.number)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let wrong = || format!("{text}: a fault is FILE:NUMBER:KIND");
        let mut words = text.rsplitn(3, ':');
        let (kind, number, file) = (words.next(), words.next(), words.next());
        let kind = KINDS.iter().find(|(_, name)| Some(*name) == kind).ok_or_else(wrong)?.0;
        let number = number.and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
        Ok(Fault { file: file.ok_or_else(wrong)?.to_owned(), number, kind })
    }
}

/// The directives of OpenMP in a text: the first and the last line of each, from 0.
pub fn directives(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let own = lines[at].trim_start().to_ascii_lowercase();
        let is_first =
            own.starts_with("#pragma omp ") || own.starts_with("!$omp ") && !own.starts_with("!$omp end");
        let first = at;
        if is_first {
            while lines[at].trim_end().ends_with(['\\', '&']) && at + 1 < lines.len() {
                at += 1;
            }
            found.push((first, at));
        }
        at += 1;
    }
    found
}

/// The text with a fault, and the line at which it is; none if nothing there can go wrong in this way.
pub fn with_fault(text: &str, number: usize, kind: Kind) -> Option<(String, usize)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, last) = *directives(&lines).get(number)?;
    let directive = lines[first..=last].concat();
    let is_target = directive.contains("target");
    let (place, changed) = match kind {
        Kind::Operand => {
            // What `verify` puts in is not code of the program.
            let own = (last + 1..lines.len()).filter(|at| !lines[*at].contains("acc2omp_pin")).take(15);
            let code = own.into_iter().find(|at| is_code(lines[*at]))?;
            let line = lines[code];
            let other = if line.contains(" - ") {
                line.replacen(" - ", " + ", 1)
            } else {
                line.replacen(" + ", " - ", 1)
            };
            return is_target.then(|| (joined(&lines, (code, code), &other), code));
        }
        Kind::Update => (directive.contains("target update"), String::new()),
        Kind::To => swapped(&directive, "map(to:", "map(alloc:"),
        Kind::From => swapped(&directive, "map(from:", "map(alloc:"),
        Kind::OnlyTo => swapped(&directive, "map(tofrom:", "map(to:"),
        Kind::OnlyFrom => swapped(&directive, "map(tofrom:", "map(from:"),
        Kind::Private => without(&directive, " private("),
        Kind::Firstprivate => without(&directive, " firstprivate("),
        Kind::Reduction => without(&directive, " reduction("),
        Kind::Order => without(&directive, " depend("),
        Kind::Collapse => without(&directive, " collapse("),
        Kind::Section => halved(&directive),
    };
    place.then(|| (joined(&lines, (first, last), &changed), first))
}

/// Whether a line is a statement that computes.
fn is_code(line: &str) -> bool {
    let own = line.trim_start();
    let is_other = ["#", "!", "for", "do", "if", "//", "/*"].iter().any(|start| own.starts_with(start));
    !is_other && own.contains('=') && (own.contains(" - ") || own.contains(" + "))
}

fn joined(lines: &[&str], (first, last): (usize, usize), own: &str) -> String {
    lines[..first].concat() + own + &lines[last + 1..].concat()
}

fn swapped(text: &str, old: &str, new: &str) -> (bool, String) {
    (text.contains(old), text.replacen(old, new, 1))
}

/// A text without the first clause that begins in this way.
fn without(text: &str, start: &str) -> (bool, String) {
    let Some(at) = text.find(start) else { return (false, String::new()) };
    let mut depth = 0;
    let end = text[at..].char_indices().find(|(_, char)| {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        *char == ')' && depth == 0
    });
    match end {
        Some((end, _)) => (true, format!("{}{}", &text[..at], &text[at + end + 1..])),
        None => (false, String::new()),
    }
}

/// A directive whose first section of C has half its length.
fn halved(text: &str) -> (bool, String) {
    let section = text.match_indices('[').find_map(|(open, _)| {
        let close = open + text[open..].find(']')?;
        let colon = open + text[open..close].find(':')?;
        Some((colon + 1, close))
    });
    match section {
        Some((start, end)) if text.contains("map(") => {
            (true, format!("{}({}) / 2{}", &text[..start], &text[start..end], &text[end..]))
        }
        _ => (false, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_made() {
        let text = "#pragma omp target map(to: a[0:n]) \\\n    reduction(+: s)\nfor (;;)\n  s = s + a[i];\n";
        let made = |kind| with_fault(text, 0, kind).map(|(text, _)| text).unwrap_or_default();
        assert!(made(Kind::To).contains("map(alloc: a[0:n])"));
        assert!(made(Kind::Section).contains("a[0:(n) / 2]"));
        assert!(!made(Kind::Reduction).contains("reduction"));
        assert!(made(Kind::Operand).contains("s = s - a[i]"));
        assert_eq!(with_fault(text, 0, Kind::Update), None);
        let again = "a/b.c:3:only-to".parse::<Fault>().map(|fault| fault.to_string());
        assert_eq!(again.as_deref(), Ok("a/b.c:3:only-to"));
    }
}
