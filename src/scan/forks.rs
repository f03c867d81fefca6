//! The preprocessor's conditions of a file: what stands in which branch, and which branch compilers for OpenMP read.
//!
//! Invariant: a condition that names more than `_OPENACC` and `_OPENMP` is taken as it is where it does not matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{self, SourceFile, Span};

use super::c::{self, Event};
use super::defined::{Defined, definition};
use super::expression::holds;
use super::fortran;
use super::preproc::{View, keyword, may_have_conditions, shown};

/// An `#if` with its branches, up to its `#endif`.
#[derive(Clone, Debug)]
pub struct Fork {
    /// From the beginning of the first line to the end of the last one, without its line end.
    pub whole: Span,
    /// Its branches in their order.
    pub branches: Vec<Branch>,
    /// The names in its conditions that stand for a number, as lines before it say.
    numbers: Vec<(String, String)>,
}

/// A branch of a condition.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The line that opens it.
    pub head: Span,
    /// What stands in it: from after that line to the next one of the condition.
    pub inside: Span,
    /// `if`, `ifdef`, `ifndef`, `elif` or `else`.
    word: &'static str,
    /// What follows that word.
    text: String,
}

/// What the preprocessor meets in a file.
pub(super) fn events(file: &SourceFile) -> Vec<Event> {
    if file.language.is_fortran() { fortran::events(file) } else { c::events(&file.bytes) }
}

/// The conditions of a file; a condition inside another one comes after it.
pub fn forks(file: &SourceFile) -> Vec<Fork> {
    if !may_have_conditions(&file.bytes) {
        return Vec::new();
    }
    let events = events(file);
    let mut open: Vec<Fork> = Vec::new();
    let mut found = Vec::new();
    let mut numbers: BTreeMap<String, String> = BTreeMap::new();
    for event in &events {
        let Event::Line(line) = event else { continue };
        let (word, rest) = keyword(&file.bytes, line);
        if word == "define" {
            let (name, parameters, body) = definition(&rest);
            let number = body.trim_matches(['(', ')']);
            let is_number = parameters.is_none() && number.parse::<u64>().is_ok();
            // A condition that asks for the name lets builds choose its value.
            if is_number && !open.iter().any(|fork| fork.names().any(|asked| asked == name)) {
                numbers.insert(name, number.to_owned());
            }
            continue;
        }
        let head = line.whole;
        let text = String::from_utf8_lossy(&rest).trim().to_owned();
        let branch = Branch { head, inside: Span { start: head.end, end: head.end }, word, text };
        match word {
            "if" | "ifdef" | "ifndef" => {
                open.push(Fork { whole: head, branches: vec![branch], numbers: Vec::new() });
            }
            "elif" | "else" => {
                if let Some(condition) = open.last_mut() {
                    condition.close(head.start);
                    condition.branches.push(branch);
                }
            }
            "endif" => {
                if let Some(mut condition) = open.pop() {
                    condition.close(head.start);
                    condition.whole.end = head.end;
                    let known = |name: &str| Some((name.to_owned(), numbers.get(name)?.clone()));
                    condition.numbers = condition.names().filter_map(known).collect();
                    found.push(condition);
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|condition| condition.whole.start);
    found
}

/// The other branches of the conditions around a place, as far as options do not rule them out.
pub fn branches_beside(file: &SourceFile, offset: u32) -> Vec<Span> {
    let mut all = forks(file);
    all.retain(|fork| fork.branch_at(offset).is_some());
    if all.is_empty() {
        return Vec::new();
    }
    let events = events(file);
    let shown = shown(file, &events, &View::default());
    let branches = all.iter().flat_map(|fork| &fork.branches).map(|branch| branch.inside);
    branches
        .filter(|inside| !inside.contains(Span::at(offset as usize)) && !shown.rules_out(inside.start))
        .collect()
}

/// Whether a build may read the byte at `beside` without any of these places, which stand in the branches of the condition that
/// begins there.
pub fn may_miss(file: &SourceFile, beside: u32, condition: u32, places: &[u32]) -> bool {
    let all = forks(file);
    let Some(fork) = all.iter().find(|fork| fork.whole.start == condition) else { return true };
    let events = events(file);
    let around = all.iter().filter(|fork| fork.branch_at(beside).is_some());
    let decided: BTreeSet<&str> = around.flat_map(Fork::names).collect();
    if fork.names().all(|name| decided.contains(name)) {
        // Conditions on the same names choose alike.
        let shown = shown(file, &events, &View::reaching_all(file, &all, &[beside]));
        return !places.iter().any(|place| shown.shows(*place));
    }
    let shown = shown(file, &events, &View::default());
    let met: BTreeSet<usize> = places.iter().filter_map(|place| fork.branch_at(*place)).collect();
    let is_missed = |(at, branch): (usize, &Branch)| {
        !met.contains(&at) && (branch.inside.is_empty() || !shown.rules_out(branch.inside.start))
    };
    let is_total = fork.branches.last().is_some_and(|last| last.word == "else");
    let is_settled = shown.settled.binary_search(&condition).is_ok();
    !is_total && !is_settled || fork.branches.iter().enumerate().any(is_missed)
}

impl View {
    /// The view of a build that reads the byte at `offset`: every branch is taken that holds it, and what their conditions ask
    /// for is defined, so that other conditions on the same names choose alike.
    pub fn reaching(file: &SourceFile, offset: u32) -> View {
        View::reaching_all(file, &forks(file), &[offset])
    }

    /// As `reaching`, for a build that reads several places, which are sorted, in a file with these conditions.
    pub fn reaching_all(file: &SourceFile, forks: &[Fork], places: &[u32]) -> View {
        let before = Defined::before(file);
        let around = forks.iter().filter_map(|fork| {
            let next = places.partition_point(|place| *place < fork.whole.start);
            let place = *places.get(next)?;
            match fork.branch_at(place) {
                Some(branch) => Some(fork.defines_for(branch)),
                None if place < fork.whole.end => Some(fork.defines_for(fork.branches.len())),
                None => None,
            }
        });
        let defines = around.flatten().filter(|(name, _)| !before.contains(name) && !before.is_decided(name));
        View { defines: defines.collect(), reach: places.to_vec() }
    }
}

impl Fork {
    fn close(&mut self, end: u32) {
        if let Some(last) = self.branches.last_mut() {
            last.inside.end = end;
        }
    }

    /// The branch that holds a place.
    pub fn branch_at(&self, offset: u32) -> Option<usize> {
        self.branches.iter().position(|branch| branch.inside.start <= offset && offset < branch.inside.end)
    }

    /// The last word of a condition without `#else`, a place for builds that read none of its branches.
    pub fn end_without_else(&self) -> Option<Span> {
        let last = self.branches.last().filter(|last| last.word != "else")?;
        // The line's `#` ends the last branch.
        Some(Span { start: last.inside.end + 1, end: self.whole.end })
    }

    /// Whether two places stand in different branches.
    pub fn parts(&self, one: u32, other: u32) -> bool {
        let branches = (self.branch_at(one), self.branch_at(other));
        matches!(branches, (Some(one), Some(other)) if one != other)
    }

    /// The names that its conditions ask for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let words = self.branches.iter().flat_map(|branch| source::words(&branch.text));
        words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && *word != "defined")
    }

    /// Whether it asks for OpenACC or OpenMP.
    pub fn is_about_directives(&self) -> bool {
        self.branches.iter().any(|branch| ["_OPENACC", "_OPENMP"].iter().any(|name| branch.names(name)))
    }

    /// Macros with which a compiler would read a branch; none if none are found, or if it is read without. One value for all names
    /// of its conditions comes first, then one for some of them, then one for each. The number of all branches is for a compiler
    /// that reads none of them.
    pub fn defines_for(&self, branch: usize) -> Vec<(String, Option<String>)> {
        let heads = self.branches.get(..=branch).unwrap_or(&self.branches);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let parts: BTreeSet<&str> = heads
            .iter()
            .flat_map(|head| head.text.split(|c: char| !is_part(c)))
            .filter(|one| !one.is_empty())
            .collect();
        let known = |name: &str| self.numbers.iter().find(|(known, _)| known == name);
        let (mut numbers, names): (Vec<&str>, Vec<&str>) = parts
            .into_iter()
            .filter(|one| *one != "defined" && known(one).is_none())
            .partition(|one| one.starts_with(|c: char| c.is_ascii_digit()));
        numbers.extend(self.numbers.iter().map(|(_, number)| number.as_str()));
        let next = |number: &&str| Some((number.parse::<u64>().ok()?.checked_add(1)?).to_string());
        let values = std::iter::once("1".to_owned()).chain(numbers.iter().map(|number| (*number).to_owned()));
        let values: Vec<String> = values.chain(numbers.iter().filter_map(next)).collect();
        let is_chosen = |choice: &Choice| {
            let chosen = choice.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            let defined: Defined = self.numbers.iter().cloned().chain(chosen).collect();
            let is_read = |head: &Branch| holds(head.word, head.text.as_bytes(), &defined);
            heads.iter().position(is_read).unwrap_or(self.branches.len()) == branch
        };
        let found = choices(&names, &values).find(is_chosen).unwrap_or_default();
        found.into_iter().map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).collect()
    }

    /// Whether the translation has the code of a branch in some builds: one that asks for OpenACC, too, does so for other names
    /// beside it. The number of all branches is for a build that reads none of them.
    pub fn chooses(&self, branch: usize) -> bool {
        let asks = |name: &str| self.branches.iter().any(|one| one.names(name));
        let is_for_openacc = || {
            let defines = self.defines_for(branch);
            defines.len() > 1 && defines.iter().any(|(name, _)| name == "_OPENACC")
        };
        !asks("_OPENMP") && (!asks("_OPENACC") || is_for_openacc())
    }

    /// The branch that a compiler for OpenMP alone reads, if `_OPENACC` becomes `_OPENMP` in conditions that name nothing else.
    pub fn branch_of_openmp(&self) -> Option<usize> {
        let defined: Defined = [("_OPENMP".to_owned(), "201511".to_owned())].into_iter().collect();
        self.branches.iter().position(|branch| {
            let is_plain = branch.names("_OPENACC") && !branch.names("_OPENMP") && !branch.compares();
            let text =
                if is_plain { branch.text.replace("_OPENACC", "_OPENMP") } else { branch.text.clone() };
            holds(branch.word, text.as_bytes(), &defined)
        })
    }
}

/// Names that are defined, each with its value.
type Choice<'t> = Vec<(&'t str, &'t str)>;

/// So many choices of names and values are tried for one branch.
const CHOICES: usize = 24;

/// Choices of names, with values, of which conditions may ask: one value for all names, none, one for some, or one for each.
fn choices<'t>(names: &'t [&'t str], values: &'t [String]) -> impl Iterator<Item = Choice<'t>> {
    let with = |value: &'t str, mask: usize| -> Choice<'t> {
        let chosen = names.iter().enumerate().filter(move |(at, _)| mask >> at & 1 == 1);
        chosen.map(|(_, name)| (*name, value)).collect()
    };
    let all = values.iter().map(move |value| names.iter().map(|name| (*name, value.as_str())).collect());
    // The last masks have the most names.
    let masks = (1..1usize << names.len().min(8)).rev();
    let some = masks.flat_map(move |mask| values.iter().map(move |value| with(value, mask)));
    // Each name is undefined or has one of the values.
    let each = (1..usize::MAX).map(move |number| {
        let mut rest = number;
        let mut choice = Choice::new();
        for name in names {
            let value = rest % (values.len() + 1);
            rest /= values.len() + 1;
            choice.extend(
                value.checked_sub(1).and_then(|at| values.get(at)).map(|value| (*name, value.as_str())),
            );
        }
        (choice, rest)
    });
    let each = each.take_while(|(_, rest)| *rest == 0).map(|(choice, _)| choice);
    all.chain([Choice::new()]).chain(some.take(CHOICES)).chain(each.take(CHOICES))
}

impl Branch {
    /// `ifdef`, `if` and so on, and what follows that word.
    pub fn condition(&self) -> (&'static str, &str) {
        (self.word, &self.text)
    }

    /// The macro that it asks for alone, and whether it wants it defined.
    pub fn is_defined(&self) -> Option<(&str, bool)> {
        let text = self.text.trim();
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let asked = |text: &'_ str| -> Option<String> {
            let name = text.trim().strip_prefix("defined")?.trim();
            let bare = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).map(str::trim);
            Some(bare.unwrap_or(name).to_owned()).filter(|name| is_name(&name.as_str()))
        };
        let place = |name: String| text.find(&name).map(|at| &text[at..at + name.len()]);
        match self.word {
            "ifdef" => Some((text, true)).filter(|(name, _)| is_name(name)),
            "ifndef" => Some((text, false)).filter(|(name, _)| is_name(name)),
            "if" => match text.strip_prefix('!') {
                Some(rest) => asked(rest).and_then(place).map(|name| (name, false)),
                None => asked(text).and_then(place).map(|name| (name, true)),
            },
            _ => None,
        }
    }

    /// Whether its condition names a macro.
    pub fn names(&self, name: &str) -> bool {
        source::words(&self.text).any(|word| word == name)
    }

    fn compares(&self) -> bool {
        self.text.contains(['<', '>', '=', '+', '-', '*', '/', '%', '?'])
    }
}

#[cfg(test)]
mod tests;
