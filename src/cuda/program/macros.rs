//! What macros mean at a place of the program, said again in the device file where that is another than before.
//!
//! Invariant: code of the device file reads each macro as its place in the source does.

use std::collections::{BTreeMap, BTreeSet};

use super::choices::{Choices, Line, Place};
use crate::cuda::code::text::words;

/// The macros that the device file has, and what they mean where it is being written.
pub struct Meanings<'a> {
    choices: &'a Choices,
    lines: BTreeMap<&'a str, Vec<Line<'a>>>,
    /// How many of a macro's lines have been read; `None` if code in between has lines of its own.
    now: BTreeMap<&'a str, Option<usize>>,
    /// The macros whose meaning before all lines, which an option of the compiler may give, is wanted again.
    kept: BTreeSet<&'a str>,
}

impl<'a> Meanings<'a> {
    /// The macros of these names, for code that stands at these places. What comes first in the device file has those lines
    /// about a macro that all code which names it has before it, or all lines.
    pub fn of(choices: &'a Choices, names: &'a BTreeSet<String>, code: &[(Place, &str)]) -> Meanings<'a> {
        let lines: BTreeMap<&str, Vec<Line>> =
            names.iter().map(|name| (name.as_str(), choices.lines(name))).collect();
        let now = lines.iter().map(|(name, lines)| (*name, Some(lines.len()))).collect();
        let mut meanings = Meanings { choices, lines, now, kept: BTreeSet::new() };
        let mut wanted: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (place, text) in code {
            for name in meanings.reached(text) {
                wanted.entry(name).or_default().insert(meanings.count(name, place));
            }
        }
        for (name, counts) in wanted {
            meanings.now.insert(name, counts.first().copied());
        }
        // What conditions ask for has all its lines among the definitions.
        for (place, _) in code {
            for name in meanings.reached(&choices.conditions(place).join("\n")) {
                if meanings.now[name] != Some(meanings.count(name, place)) {
                    meanings.now.insert(name, Some(meanings.lines[name].len()));
                }
            }
        }
        meanings
    }

    /// Whether a line about a macro is among those that come first.
    pub fn comes_first(&self, number: usize, offset: u32) -> bool {
        let is_it = |line: &Line| line.number == number && line.line.span.start == offset;
        self.lines.iter().all(|(name, lines)| {
            let at = lines.iter().position(is_it);
            at.is_none_or(|at| self.now.get(name).copied().flatten().is_none_or(|count| at < count))
        })
    }

    /// The lines that give macros the meaning that code from `place` finds there.
    pub fn before(&mut self, place: &Place, text: &str) -> String {
        let mut out = Vec::new();
        for name in self.reached(text) {
            let count = self.count(name, place);
            if self.now.insert(name, Some(count)) != Some(Some(count)) {
                out.extend(self.again(name, count, place));
                if self.is_given(name, count, place) {
                    self.kept.insert(name);
                }
            }
        }
        if ["#define", "#undef"].iter().any(|word| text.contains(word)) {
            self.now.values_mut().for_each(|count| *count = None);
        }
        self.choices.arranged(out)
    }

    /// Code with the lines that give macros the meaning that it finds at its place, and its place in the device file.
    pub fn meant(&mut self, place: Place, text: &str) -> (Place, String) {
        match self.under_conditions(&place, text) {
            Some(whole) => (place.bare(), whole),
            None => {
                let whole = self.before(&place, text) + text;
                (place, whole)
            }
        }
    }

    /// Code under conditions, with these: if the macros that they ask for, or the code, do not mean here what they mean there,
    /// their lines come again, each under its own conditions. `None` if nothing has changed, or no condition is around.
    fn under_conditions(&mut self, place: &Place, text: &str) -> Option<String> {
        let forks = self.choices.forks_around(place);
        let outermost = forks.first()?.0.clone();
        let mut wanted: Vec<(&'a str, usize)> = Vec::new();
        for (fork, heads) in &forks {
            wanted.extend(
                self.reached(&heads.join("\n")).into_iter().map(|name| (name, self.count(name, fork))),
            );
        }
        let asked: BTreeSet<&str> = wanted.iter().map(|(name, _)| *name).collect();
        wanted.extend(self.reached(text).into_iter().map(|name| (name, self.count(name, place))));
        if wanted.iter().all(|(name, count)| self.now.get(name) == Some(&Some(*count))) {
            return None;
        }
        let mut items = Vec::new();
        let names: BTreeSet<&str> = wanted.iter().map(|(name, _)| *name).collect();
        for name in &names {
            let count = self.count(name, place);
            let before = &self.lines[name][..count];
            // What conditions ask for has all its lines; of others, those from the last one on that surely counts.
            let last = before.iter().rposition(|line| line.place.is_around(&outermost));
            let first = last.filter(|_| !asked.contains(name));
            items.push((
                Place::default(),
                match first {
                    Some(_) => format!("#undef {name}\n"),
                    None => format!("#pragma pop_macro(\"{name}\")\n#pragma push_macro(\"{name}\")\n"),
                },
            ));
            if first.is_none() {
                self.kept.insert(name);
            }
            let again = before.iter().skip(first.unwrap_or(0));
            items.extend(again.map(|line| (line.place.clone(), format!("{}\n", line.text))));
            let is_sure = self.count(name, &outermost) == count;
            self.now.insert(name, Some(count).filter(|_| is_sure));
        }
        items.push((place.clone(), text.to_owned()));
        if ["#define", "#undef"].iter().any(|word| text.contains(word)) {
            self.now.values_mut().for_each(|count| *count = None);
        }
        Some(self.choices.arranged(items))
    }

    /// The first lines about a macro, as far as they count, at `place`.
    fn again(&self, name: &str, count: usize, place: &Place) -> Vec<(Place, String)> {
        let before = &self.lines[name][..count];
        let last = before.iter().rposition(|line| line.place.is_around(place));
        let counting = &before[last.unwrap_or(0)..];
        let mut out = vec![(Place::default(), format!("#undef {name}\n"))];
        if last.is_none() {
            let text = format!("#pragma pop_macro(\"{name}\")\n#pragma push_macro(\"{name}\")\n");
            out = vec![(Place::default(), text)];
        }
        for (at, line) in counting.iter().enumerate() {
            if at == 0 && last.is_some() && line.line.is_undef {
                continue;
            }
            out.push((line.place.relative(place), format!("{}\n", line.text)));
        }
        out
    }

    /// Whether an option of the compiler may still count after the first lines about a macro.
    fn is_given(&self, name: &str, count: usize, place: &Place) -> bool {
        !self.lines[name][..count].iter().any(|line| line.place.is_around(place))
    }

    /// Lines for the beginning of the file.
    pub fn kept(&self) -> String {
        let lines = self.kept.iter().map(|name| format!("#pragma push_macro(\"{name}\")\n"));
        lines.collect()
    }

    fn count(&self, name: &str, place: &Place) -> usize {
        self.lines[name].iter().take_while(|line| line.place.is_before(place)).count()
    }

    /// The macros that a text names, through those that it names.
    fn reached(&self, text: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut pending: Vec<&'a str> = words(text)
            .into_iter()
            .filter_map(|word| self.lines.get_key_value(word))
            .map(|(name, _)| *name)
            .collect();
        while let Some(name) = pending.pop() {
            if !found.insert(name) {
                continue;
            }
            let named = self.lines[name].iter().flat_map(|line| {
                let conditions = self.choices.conditions(&line.place);
                conditions.into_iter().chain([line.line.body.as_str()]).flat_map(words).collect::<Vec<_>>()
            });
            let known = named.filter_map(|word| self.lines.get_key_value(word)).map(|(name, _)| *name);
            pending.extend(known.collect::<Vec<_>>());
        }
        found
    }
}
