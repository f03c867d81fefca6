//! Messages by code: one example of each code of a run, and where else it is said.
//!
//! Invariant: what is printed of a code has a limit, however many files and directives there are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Manner;
use super::excerpt::Columns;
use super::terminal::one;
use crate::diag::{Code, Diag, Severity};
use crate::source::SourceFile;

/// Lines named of one file; the rest is an ellipsis.
const LINES_NAMED: usize = 10;

/// Files named of one code; the others are counted.
const FILES_NAMED: usize = 3;

/// Verdicts about loops that are printed one by one.
const LOOPS_NAMED: usize = 10;

/// The messages of one code.
#[derive(Clone, Debug)]
struct Group {
    /// How serious the worst one is, and whether it has its own reason.
    weight: (Severity, bool),
    /// The first message of that weight, as it is printed.
    example: String,
    /// Its file and line.
    place: (String, usize),
    /// The other files, and the lines and number of further messages in each, by place.
    more: Vec<(String, Vec<usize>, usize)>,
}

/// The messages of a run, by code, and the verdicts about loops.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    codes: BTreeMap<Code, Group>,
    loops: Vec<String>,
}

impl Groups {
    /// The messages of one file. Notes of severity `Info` are left to the table.
    pub fn of(file: &SourceFile, diags: &[&Diag], manner: Manner) -> Groups {
        let mut codes: BTreeMap<Code, Vec<&Diag>> = BTreeMap::new();
        for diag in diags.iter().filter(|diag| diag.severity > Severity::Info) {
            codes.entry(diag.code).or_default().push(diag);
        }
        let mut columns = Columns::default();
        let group = |(code, diags): (Code, Vec<&Diag>)| {
            let weigh = |diag: &&Diag| (diag.severity, !diag.follows);
            let weight = diags.iter().map(weigh).max()?;
            let first = diags.iter().position(|diag| weigh(diag) == weight)?;
            let line = |diag: &Diag| file.line_number(diag.primary.span.start);
            let mut group = Group {
                weight,
                example: one(file, diags[first], manner, &mut columns),
                place: (file.name.clone(), line(diags[first])),
                more: Vec::new(),
            };
            for (_, diag) in diags.iter().enumerate().filter(|(at, _)| *at != first) {
                group.add(&file.name, &[line(diag)], 1);
            }
            Some((code, group))
        };
        Groups { codes: codes.into_iter().filter_map(group).collect(), loops: Vec::new() }
    }

    /// Adds the verdicts about loops of a file, a line each.
    pub fn with_loops(mut self, lines: &str) -> Groups {
        self.loops.extend(lines.lines().map(str::to_owned));
        self
    }

    /// Adds the messages of another file.
    pub fn add(&mut self, other: Groups) {
        for (code, mut group) in other.codes {
            let Some(known) = self.codes.get_mut(&code) else {
                self.codes.insert(code, group);
                continue;
            };
            if group.weight > known.weight {
                std::mem::swap(known, &mut group);
            }
            known.add(&group.place.0, &[group.place.1], 1);
            for (file, lines, count) in &group.more {
                known.add(file, lines, *count);
            }
        }
        self.loops.extend(other.loops);
    }

    /// The text, worst codes first.
    pub fn text(&self) -> String {
        let mut groups: Vec<(&Code, &Group)> = self.codes.iter().collect();
        groups.sort_by_key(|(code, group)| (Reverse(group.weight.0), **code));
        let mut out: String = groups.iter().map(|(code, group)| group.text(**code)).collect();
        let shown = if self.loops.len() > LOOPS_NAMED { LOOPS_NAMED } else { self.loops.len() };
        self.loops.iter().take(shown).for_each(|line| {
            out += line;
            out += "\n";
        });
        if self.loops.len() > shown {
            out += &format!("… and {} more loops (`-v` shows all)\n", self.loops.len() - shown);
        }
        if self.loops.is_empty() { out } else { out + "\n" }
    }
}

impl Group {
    fn add(&mut self, file: &str, lines: &[usize], count: usize) {
        match self.more.iter_mut().find(|(known, ..)| known == file) {
            Some((_, known, sum)) => {
                known.extend(lines);
                *sum += count;
            }
            None => self.more.push((file.to_owned(), lines.to_vec(), count)),
        }
    }

    fn text(&self, code: Code) -> String {
        let count: usize = self.more.iter().map(|(.., count)| count).sum();
        let rest = match self.more.as_slice() {
            [] => String::new(),
            [(only, lines, _)] if *only == self.place.0 => {
                format!("… and {count} more of {code} in this file: {}\n\n", named_lines(lines))
            }
            more => {
                let shown = more.iter().take(FILES_NAMED);
                let mut rest = format!("… and {count} more of {code} (`-v` shows all):\n");
                shown.for_each(|(file, lines, _)| rest += &format!("    {file}: {}\n", named_lines(lines)));
                if more.len() > FILES_NAMED {
                    let files = more.len() - FILES_NAMED;
                    rest += &format!("    … and {files} more file{}\n", if files == 1 { "" } else { "s" });
                }
                rest + "\n"
            }
        };
        self.example.clone() + &rest
    }
}

/// The first ones of some lines, after the word for them.
pub(super) fn named_lines(lines: &[usize]) -> String {
    let (text, count) = numbers(lines);
    let word = if count == 1 { "line" } else { "lines" };
    format!("{word} {text}")
}

/// The first ones of some lines, in order, and how many different ones there are.
pub(super) fn numbers(lines: &[usize]) -> (String, usize) {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines.dedup();
    let ellipsis = if lines.len() > LINES_NAMED { ", …" } else { "" };
    let named: Vec<String> = lines.iter().take(LINES_NAMED).map(usize::to_string).collect();
    (named.join(", ") + ellipsis, lines.len())
}

#[cfg(test)]
mod tests;
