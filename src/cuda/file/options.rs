//! What options of the build choose in the device file: other texts for other branches, and what the host compares.
//!
//! Invariant: code of which another branch was not read refuses to be built for it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Span;

use super::device::Device;
use crate::cuda::code::text::words;
use crate::cuda::program::choices::Place;
use crate::cuda::program::renamed;

/// The words of conditions that are not macros.
const CONDITIONS: [&str; 8] = ["if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "defined"];

/// What refuses a build whose options choose code that was not read.
pub const OTHER_BUILD: &str = "#error \"acc2omp has read this code for other options of the compiler\"\n";

/// The text of code in other branches of one condition in it: the condition by its file and number, the texts by branch.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    fork: (usize, usize),
    texts: BTreeMap<usize, String>,
}

impl Device {
    /// The branches in its code that another build may choose, by the numbers of their files.
    pub fn hidden_branches(&self) -> Vec<(usize, Span)> {
        let all = self.origins.iter().flat_map(|((number, _), span)| {
            let inside = self.choices.hidden_in(*number, *span);
            inside.into_iter().map(|branch| (*number, branch))
        });
        let all: BTreeSet<(usize, Span)> = all.chain(self.dependents.keys().copied()).collect();
        all.into_iter().collect()
    }

    /// Lets the code around a branch refuse to be built for it, unless the device code of the view that shows the branch has
    /// the same text.
    pub fn compare(&mut self, (number, branch): (usize, Span), other: Option<&Device>) {
        let is_in = |span: Span| self.choices.is_decided_in(number, span, branch);
        let around = self.origins.iter().filter(|((file, _), span)| *file == number && is_in(**span));
        let mut places: BTreeSet<(usize, u32)> = around.map(|(place, _)| *place).collect();
        places.extend(self.dependents.get(&(number, branch)).into_iter().flatten());
        for place in places {
            let is_sources = place.0 == self.choices.own();
            let own = |device: &Device| match is_sources {
                true => {
                    let known = device.kernels.get(&place.1).or_else(|| device.globals.get(&place.1));
                    known.or_else(|| device.functions.get(&place)).cloned()
                }
                false => device.functions.get(&place).cloned(),
            };
            let is_called_alike = |other: &&Device| {
                !is_sources || self.prototypes.get(&place.1) == other.prototypes.get(&place.1)
            };
            let there = other.filter(is_called_alike).and_then(own);
            if there.is_some() && there == own(self) {
                continue;
            }
            let fork = self.choices.fork_at(number, branch).map(|(fork, branch)| ((number, fork), branch));
            let may_choose = |fork: (usize, usize)| {
                self.variants.get(&place).is_none_or(|known| known.fork == fork)
                    && self.choices.is_decided_around(fork, &self.choices.place(place.0, place.1))
            };
            // A condition elsewhere that chooses alike may have brought this text.
            let is_known = |text: &String| {
                let variants = self.variants.get(&place).zip(fork);
                variants.is_some_and(|(known, fork)| {
                    let alike = |at: usize| self.choices.is_same_choice((known.fork, at), fork);
                    known.texts.iter().any(|(at, one)| one == text && alike(*at))
                })
            };
            match (there, fork, other) {
                (Some(text), ..) if is_known(&text) => {}
                (Some(text), Some((fork, branch)), Some(other)) if may_choose(fork) => {
                    let new = || Variants { fork, texts: BTreeMap::new() };
                    let known = self.variants.entry(place).or_insert_with(new);
                    known.texts.insert(branch, text);
                    self.complete(other);
                }
                _ => self.guard(place, (number, branch)),
            }
        }
    }

    /// The directives, of those that begin at these sorted places, whose kernels the device code of another view has in another
    /// way; those that refuse the builds which choose that, or have another text for them, are not among them.
    pub fn unlike(&self, other: &Device, directives: &[u32]) -> BTreeSet<u32> {
        let own = self.choices.own();
        // A kernel may stand with a loop that is implied.
        let directive = |at: u32| {
            let after = directives.partition_point(|start| *start <= at);
            after.checked_sub(1).map(|last| directives[last])
        };
        let grouped = |device: &Device| {
            let mut groups: BTreeMap<u32, Vec<(String, Option<String>)>> = BTreeMap::new();
            for (at, text) in &device.kernels {
                let group = directive(*at).map(|start| groups.entry(start).or_default());
                group.into_iter().for_each(|all| {
                    all.push((text.clone(), device.prototypes.get(at).cloned()));
                });
            }
            groups
        };
        let reported: BTreeSet<u32> = self
            .kernels
            .keys()
            .filter(|at| {
                let there = other.kernels.get(*at);
                let is_variant = |known: &Variants| {
                    known.texts.values().any(|one| there.is_some_and(|there| one == there))
                };
                let place = (own, **at);
                self.guards.contains_key(&place) || self.variants.get(&place).is_some_and(is_variant)
            })
            .filter_map(|at| directive(*at))
            .collect();
        let theirs = grouped(other);
        let differs = |(start, texts): &(u32, Vec<(String, Option<String>)>)| {
            theirs.get(start).is_some_and(|there| there != texts) && !reported.contains(start)
        };
        grouped(self).into_iter().filter(differs).map(|(start, _)| start).collect()
    }

    /// Whether it has kernels of its own.
    pub fn has_kernels(&self) -> bool {
        !self.kernels.is_empty()
    }

    /// Lets code refuse to be built for a branch.
    fn guard(&mut self, place: (usize, u32), (number, branch): (usize, Span)) {
        let at = (self.choices.place(place.0, place.1), self.choices.place(number, branch.start));
        let guard = self.choices.arranged(vec![(at.1.relative(&at.0), OTHER_BUILD.to_owned())]);
        self.guards.entry(place).or_default().push_str(&guard);
    }

    /// Adds what the code of another view needs.
    fn complete(&mut self, other: &Device) {
        let add = |own: &mut BTreeMap<(usize, u32), String>, theirs: &BTreeMap<(usize, u32), String>| {
            for (place, text) in theirs {
                own.entry(*place).or_insert_with(|| text.clone());
            }
        };
        add(&mut self.parts, &other.parts);
        add(&mut self.constants, &other.constants);
        add(&mut self.functions, &other.functions);
        add(&mut self.device_prototypes, &other.device_prototypes);
        self.macros.extend(other.macros.iter().cloned());
        self.taken.extend(other.taken.iter().cloned());
        self.includes.extend(other.includes.iter().cloned());
        for (place, structs) in &other.layouts {
            self.layouts.entry(*place).or_insert_with(|| structs.clone());
        }
    }

    /// The text of code at a place, with those of other branches, and what refuses to be built.
    pub fn chosen(&self, at: (usize, u32), text: &str) -> String {
        let guard = self.guards.get(&at).map_or("", String::as_str);
        let text = self.variants.get(&at).map_or_else(
            || text.to_owned(),
            |variants| self.choices.choice(variants.fork, text, &variants.texts),
        );
        format!("{guard}{}", text.trim_end())
    }

    /// An expression for what the build chooses: a string. `None` if there is no choice.
    pub fn options(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let choices = &self.choices;
        let parts = self.parts.keys().chain(self.functions.keys()).chain(self.constants.keys());
        let places: Vec<Place> = parts.map(|(number, at)| choices.place(*number, *at)).collect();
        let types = self.parts.iter().flat_map(|((number, at), text)| {
            let inside = choices.hidden_in(*number, Span { start: *at, end: at + text.len() as u32 });
            inside.into_iter().map(|span| (*number, span))
        });
        let inside = self.hidden_branches().into_iter().chain(types);
        let inside: Vec<Place> = inside.map(|(number, span)| choices.place(number, span.start)).collect();
        let places: Vec<Place> = places.into_iter().chain(inside).collect();
        let named = places.iter().flat_map(|place| choices.conditions(place)).flat_map(words);
        let is_name = |word: &&str| !CONDITIONS.contains(word);
        let mut names: BTreeSet<&str> = named.filter(is_name).collect();
        let is_chosen =
            |name: &&String| choices.lines(name).iter().any(|line| choices.is_chosen(&line.place));
        names.extend(self.macros.iter().filter(is_chosen).map(String::as_str));
        let texts: Vec<String> = names.into_iter().filter_map(|name| self.option(name)).collect();
        (!texts.is_empty()).then(|| texts.join("\n        "))
    }

    /// The text that a macro leads to, as an expression; `None` if device code may write it in another way.
    fn option(&self, name: &str) -> Option<String> {
        let lines = self.choices.lines(name);
        let mut all = lines.iter().flat_map(|line| words(&line.line.body)).chain([name]);
        if all.any(|word| renamed::is_rewritten(word) || self.taken.contains(word) || word == "_OPENACC") {
            return None;
        }
        let params = lines.iter().find_map(|line| line.line.params.clone());
        match params {
            None => Some(format!("\" {name}=\" ACC2OMP_TEXT({name})")),
            Some(params) if params.iter().any(|param| param.contains('.')) => None,
            Some(params) => Some(format!("\" {name}=\" ACC2OMP_TEXT({name}({}))", params.join(", "))),
        }
    }
}
