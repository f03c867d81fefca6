//! The parts of a file that can be translated one after the other: functions that share no function and no variable of the file
//! with those of another part.
//!
//! Invariant: two functions between which a chain of names leads are in one part; what is outside of functions is in each.

use crate::source::{SourceFile, Span};

use super::super::{AccName, DirectiveText, Index, Scan};
use super::{Beside, Graph, blank, with_graph};

/// The parts of a file.
#[derive(Debug)]
pub struct Parts {
    /// All functions that are in one part or in none, by place.
    functions: Vec<Span>,
    parts: Vec<Part>,
}

/// Functions that are read together, with their directives.
#[derive(Debug, Default)]
struct Part {
    /// Their numbers, in order.
    functions: Vec<usize>,
    /// The numbers of the directives, in order.
    directives: Vec<usize>,
}

/// The parts of a file, each with functions of `length` bytes or with more that belong together; `None` if there is only one.
/// `is_local` says which directives concern no function but their own and those that names lead to.
pub fn parts(
    file: &SourceFile,
    scan: &Scan,
    headers: &[Beside],
    is_local: &dyn Fn(&DirectiveText) -> bool,
    length: usize,
) -> Option<Parts> {
    with_graph(file, scan, headers, |graph| Groups::of(graph, scan, is_local).parts(graph, length))?
}

/// The functions of a graph, joined to groups by what leads from one to another. One more number stands for what is outside
/// of functions.
struct Groups {
    /// The number that leads to that of the group.
    joined: Vec<usize>,
    /// Where each directive belongs.
    directives: Vec<usize>,
}

impl Groups {
    fn of(graph: &Graph, scan: &Scan, is_local: &dyn Fn(&DirectiveText) -> bool) -> Groups {
        let outside = graph.functions.len();
        let mut groups = Groups { joined: (0..=outside).collect(), directives: Vec::new() };
        for users in graph.uses.users.values() {
            users.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
        }
        for (at, function) in graph.functions.iter().enumerate() {
            if function.stays || function.is_kept {
                groups.join(at, outside);
            }
        }
        let mut names = graph.names.clone();
        for text in &scan.directives {
            let [own, code] = [text.span.start, text.next_code].map(|place| graph.at(place));
            if own.is_none() {
                names.extend(graph.words(text));
            }
            let own = own.unwrap_or(outside);
            groups.directives.push(own);
            if let Some(code) = code {
                groups.join(own, code);
            }
            if !is_local(text) {
                groups.join(own, outside);
            }
        }
        let kept = graph.uses.reached(Vec::new(), names, &graph.leads);
        for (at, _) in kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
            groups.join(at, outside);
        }
        groups
    }

    /// The number that stands for a group.
    fn group(&mut self, mut at: usize) -> usize {
        while self.joined[at] != at {
            self.joined[at] = self.joined[self.joined[at]];
            at = self.joined[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.group(one), self.group(other));
        self.joined[one.max(other)] = one.min(other);
    }

    /// Puts groups together as they come; functions that have nothing to do with directives are in none.
    fn parts(mut self, graph: &Graph, length: usize) -> Option<Parts> {
        let outside = graph.functions.len();
        let of: Vec<usize> = (0..=outside).map(|at| self.group(at)).collect();
        let mut is_live = vec![false; outside + 1];
        is_live[of[outside]] = true;
        self.directives.iter().for_each(|at| is_live[of[*at]] = true);
        for (at, function) in graph.functions.iter().enumerate() {
            is_live[of[at]] |= graph.is_ours(function);
        }
        let mut sizes = vec![0; outside + 1];
        for (at, function) in graph.functions.iter().enumerate().filter(|(_, one)| !one.stays) {
            sizes[of[at]] += function.whole.len();
        }
        // The group of what is outside comes first.
        let mut part_of: Vec<Option<usize>> = vec![None; outside + 1];
        part_of[of[outside]] = Some(0);
        let (mut last, mut filled) = (0, sizes[of[outside]]);
        for at in (0..outside).filter(|at| of[*at] == *at && is_live[*at] && *at != of[outside]) {
            if filled > 0 && filled + sizes[at] > length {
                (last, filled) = (last + 1, 0);
            }
            filled += sizes[at];
            part_of[at] = Some(last);
        }
        let mut all = Parts { functions: Vec::new(), parts: Vec::new() };
        all.parts.resize_with(last + 1, Part::default);
        for (at, function) in graph.functions.iter().enumerate().filter(|(_, one)| !one.stays) {
            if let Some(part) = part_of[of[at]] {
                all.parts[part].functions.push(all.functions.len());
            }
            all.functions.push(function.whole);
        }
        for (number, at) in self.directives.iter().enumerate() {
            all.parts[part_of[of[*at]]?].directives.push(number);
        }
        (last > 0).then_some(all)
    }
}

impl Parts {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// All functions that are in one part or in none, by place.
    pub fn functions(&self) -> &[Span] {
        &self.functions
    }

    /// The functions that a part does not have, by place.
    pub fn gone(&self, part: usize) -> Vec<Span> {
        let own = &self.parts[part].functions;
        let others = self.functions.iter().enumerate().filter(|(at, _)| own.binary_search(at).is_err());
        others.map(|(_, span)| *span).collect()
    }

    /// What a scan has of a part, the first of which has the names that stand outside of functions. Others than `gone`
    /// functions are in it.
    pub fn scan(&self, whole: &Scan, part: usize, gone: &[Span]) -> Scan {
        let own = &self.parts[part];
        let has = |name: &&AccName| {
            let place = name.span.start;
            let next = self.functions.partition_point(|function| function.end <= place);
            match self.functions.get(next).filter(|function| function.start <= place) {
                Some(_) => own.functions.binary_search(&next).is_ok(),
                None => part == 0,
            }
        };
        let mut shadow = whole.shadow.clone();
        blank(&mut shadow, gone);
        Scan {
            directives: own.directives.iter().map(|at| whole.directives[*at].clone()).collect(),
            includes: whole.includes.clone(),
            defines: whole.defines.clone(),
            shadow,
            names: whole.names.iter().filter(has).cloned().collect(),
            guards: whole.guards.clone(),
            conditionals: whole.conditionals.clone(),
            restricts: whole.restricts.clone(),
            hidden: whole.hidden.clone(),
            ruled_out: whole.ruled_out.clone(),
            index: Index::default(),
        }
    }
}

#[cfg(test)]
mod tests;
