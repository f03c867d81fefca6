//! Which choices of the preprocessor a place of the program stands under, and what its macros mean there.
//!
//! Invariant: places have the order in which a compiler reads them, each header where it is included; a condition that the
//! language, the compiler or OpenACC itself decides is not a choice of the build.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::host::ir::DeclKind;
use crate::scan::{self, Include, MacroLine};
use crate::source::Span;

use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen};

/// Names by which a condition asks for the language or the compiler: device code is C++, whatever the host file is.
const COMPILERS: [&str; 12] = [
    "__cplusplus",
    "__STDC",
    "__CUDA",
    "__NVCC__",
    "__NVCOMPILER",
    "__PGI",
    "__GNUC",
    "__clang",
    "__INTEL",
    "__ICC",
    "__has_",
    "_MSC_VER",
];

/// The branch of a condition: the numbers of the file, of the condition and of the branch.
type Group = (usize, usize, usize);

/// A place in what the compiler reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The offsets of the inclusions that lead to it, and its own.
    key: Vec<u32>,
    /// The branches around it, outermost first.
    groups: Vec<Group>,
}

/// The conditions and macro lines of a source and its headers.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    files: Vec<File>,
    names: Rc<HashSet<String>>,
}

#[derive(Clone, Debug, Default)]
struct File {
    /// Where it is included, and the branches around that.
    at: Place,
    forks: Vec<Choice>,
    lines: Vec<MacroLine>,
    /// The lines as the file has them.
    texts: Vec<String>,
    /// It is read once, however often it is included.
    is_once: bool,
}

/// A condition with its branches.
#[derive(Clone, Debug)]
struct Choice {
    whole: Span,
    branches: Vec<Branch>,
    /// It is the build that decides it.
    travels: bool,
}

#[derive(Clone, Debug)]
struct Branch {
    inside: Span,
    head: String,
    is_shown: bool,
    /// The macro that the condition asks for alone, and whether this branch wants it defined.
    wants: Option<(String, bool)>,
}

impl Choice {
    /// Whether its first line stands in a span.
    fn begins_in(&self, span: Span) -> bool {
        span.start <= self.whole.start && self.whole.start < span.end
    }
}

impl Choices {
    /// Those of a source as it is seen.
    pub fn of(input: &Input) -> Choices {
        let all: Vec<Seen> = input.headers.iter().chain([&input.source]).copied().collect();
        let mut files: Vec<File> = all.iter().map(file).collect();
        let own = files.len() - 1;
        let inclusions = inclusions(&all);
        // A header is included by files after it.
        for number in (0..own).rev() {
            let lines = inclusions.get(last_of(&all[number].file.name)).into_iter().flatten();
            let places = lines.filter(|(by, _)| *by > number).map(|(by, include)| {
                let place = within(&files[*by], *by, include.span.start);
                (!include.active, !place.groups.is_empty(), place)
            });
            let unknown = || Place { key: vec![0, number as u32], groups: Vec::new() };
            files[number].at = places.min().map_or_else(unknown, |(.., place)| place);
        }
        let names = Rc::new(names(&all, &files));
        Choices { files, names }
    }

    /// The place of an offset of a file, by its number.
    pub fn place(&self, number: usize, offset: u32) -> Place {
        self.files.get(number).map_or_else(Place::default, |file| within(file, number, offset))
    }

    /// Whether an offset of a file may be read, whatever the options of the build are.
    pub fn may_show(&self, number: usize, offset: u32) -> bool {
        let around = self.files.get(number).map(|file| file.forks.as_slice()).unwrap_or_default();
        around.iter().filter(|fork| !fork.travels).all(|fork| {
            let branch = fork.branches.iter().find(|branch| holds(branch.inside, offset));
            branch.is_none_or(|branch| branch.is_shown)
        })
    }

    /// The branches that the build may choose and that are not shown: their files, and their bytes.
    pub fn hidden(&self) -> impl Iterator<Item = (usize, Span)> + use<'_> {
        self.files.iter().enumerate().flat_map(|(number, file)| {
            let forks = file.forks.iter().filter(|fork| fork.travels);
            let branches = forks.flat_map(|fork| &fork.branches).filter(|branch| !branch.is_shown);
            branches.map(move |branch| (number, branch.inside))
        })
    }

    /// The branches that are not shown and that the build may choose, of the conditions that begin in a span of a file. A condition
    /// that no branch may be chosen of has one that is empty.
    pub fn hidden_in(&self, number: usize, span: Span) -> Vec<Span> {
        let forks = self.files.get(number).into_iter().flat_map(|file| &file.forks);
        let inside = forks.filter(|fork| fork.travels && fork.begins_in(span));
        let branches = inside.flat_map(|fork| &fork.branches).filter(|branch| !branch.is_shown);
        branches.map(|branch| branch.inside).collect()
    }

    /// Whether the condition that a branch belongs to begins in a span of a file.
    pub fn is_decided_in(&self, number: usize, span: Span, branch: Span) -> bool {
        self.fork_at(number, branch).is_some_and(|(fork, _)| self.files[number].forks[fork].begins_in(span))
    }

    /// Whether some of the lines of a condition stand in a span of a file, and others do not.
    pub fn is_cut(&self, number: usize, span: Span) -> bool {
        let mut forks = self.files.get(number).into_iter().flat_map(|file| &file.forks);
        forks.any(|fork| {
            let meets = fork.whole.start < span.end && span.start < fork.whole.end;
            let is_around = || fork.branches.iter().any(|branch| branch.inside.contains(span));
            meets && !span.contains(fork.whole) && !is_around()
        })
    }

    /// Whether the build may decide what stands at a place.
    pub fn is_chosen(&self, place: &Place) -> bool {
        !place.groups.is_empty()
    }

    /// The lines that define a macro, or end its definition, in their order: each with its text and its place in its file.
    pub fn lines(&self, name: &str) -> Vec<Line<'_>> {
        let mut found = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            for (line, text) in file.lines.iter().zip(&file.texts).filter(|(line, _)| line.name == name) {
                if self.may_show(number, line.span.start) {
                    let place = within(file, number, line.span.start);
                    found.push(Line { number, line, text, place });
                }
            }
        }
        found.sort_by(|one, other| one.place.cmp(&other.place));
        found
    }

    /// Whether a file is read once, however often it is included.
    pub fn is_read_once(&self, number: usize) -> bool {
        self.files.get(number).is_none_or(|file| file.is_once)
    }

    /// Whether nothing has been read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The place after all others.
    pub fn end(&self) -> Place {
        Place { key: vec![u32::MAX], groups: Vec::new() }
    }

    /// Whether no line about a macro stands between two places.
    pub fn is_same_between(&self, name: &str, one: &Place, other: &Place) -> bool {
        let count =
            |place: &Place| self.lines(name).iter().filter(|line| line.place.is_before(place)).count();
        count(one) == count(other)
    }

    /// The number of the source among its headers.
    pub fn own(&self) -> usize {
        self.files.len().saturating_sub(1)
    }

    /// The names of macros, of what these name, of types, of functions, and of constants, which stand in the lengths of arrays.
    pub fn names(&self) -> Rc<HashSet<String>> {
        Rc::clone(&self.names)
    }

    /// The names of all macros.
    pub fn macros(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| &file.lines).map(|line| line.name.as_str())
    }

    /// The conditions around a place.
    pub fn conditions(&self, place: &Place) -> Vec<&str> {
        let heads = place
            .groups
            .iter()
            .flat_map(|(file, fork, branch)| self.files[*file].forks[*fork].branches.iter().take(branch + 1));
        heads.map(|branch| branch.head.as_str()).collect()
    }

    /// The conditions around a place, outermost first: where each begins, and the lines that lead into the branch.
    pub fn forks_around(&self, place: &Place) -> Vec<(Place, Vec<&str>)> {
        let around = place.groups.iter().map(|(file, fork, branch)| {
            let known = &self.files[*file].forks[*fork];
            let heads = known.branches.iter().take(branch + 1).map(|branch| branch.head.as_str());
            (self.place(*file, known.whole.start), heads.collect())
        });
        around.collect()
    }

    /// The condition right around a branch, and the number of the branch.
    pub fn fork_at(&self, number: usize, branch: Span) -> Option<(usize, usize)> {
        let forks = self.files.get(number)?.forks.iter().enumerate();
        let mut found = forks
            .filter_map(|(at, fork)| Some((at, fork.branches.iter().position(|one| one.inside == branch)?)));
        found.next()
    }

    /// Whether a condition stands under no others than those around `place`.
    pub fn is_decided_around(&self, (number, fork): (usize, usize), place: &Place) -> bool {
        let whole = self.files[number].forks[fork].whole;
        self.place(number, whole.start).is_around(place)
    }

    /// Whether two branches are read by the same builds, as far as their own conditions go.
    pub fn is_same_choice(&self, one: ((usize, usize), usize), other: ((usize, usize), usize)) -> bool {
        let branches = |(number, fork): (usize, usize)| self.files[number].forks[fork].branches.as_slice();
        let (first, second) = (branches(one.0), branches(other.0));
        let wants = |branches: &[Branch], at: usize| branches.get(at).and_then(|branch| branch.wants.clone());
        let heads = |branches: &[Branch], at: usize| -> Vec<String> {
            let heads = branches.iter().take(at + 1).map(|branch| branch.head.split_whitespace());
            heads.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
        };
        let wanted = wants(first, one.1);
        wanted.is_some() && wanted == wants(second, other.1) || heads(first, one.1) == heads(second, other.1)
    }

    /// Whether a condition around a branch means the same at `place`: no line about a macro that it asks for stands between.
    pub fn is_same_condition(&self, (number, branch): (usize, Span), place: &Place) -> bool {
        let there = self.place(number, branch.start);
        let heads = self.conditions(&there).join("\n");
        let mut pending: Vec<String> = words(&heads).into_iter().map(str::to_owned).collect();
        let mut known: HashSet<String> = HashSet::new();
        while let Some(name) = pending.pop() {
            if !self.is_same_between(&name, &there, place) {
                return false;
            }
            if known.insert(name.clone()) {
                let bodies = self.lines(&name);
                let named = bodies.iter().flat_map(|line| words(&line.line.body));
                pending.extend(named.filter(|word| !known.contains(*word)).map(str::to_owned));
            }
        }
        true
    }

    /// A text where a condition chooses another in some of its branches.
    pub fn choice(
        &self,
        (number, fork): (usize, usize),
        text: &str,
        others: &BTreeMap<usize, String>,
    ) -> String {
        let branches = &self.files[number].forks[fork].branches;
        let mut out = String::new();
        for (at, branch) in branches.iter().enumerate() {
            let text = others.get(&at).map_or(text, String::as_str);
            out += &format!("{}\n{}\n", branch.head, text.trim_end());
        }
        let has_last = branches.last().is_some_and(|last| words(&last.head).contains(&"else"));
        if !has_last {
            out += &format!("#else\n{}\n", text.trim_end());
        }
        out + "#endif\n"
    }

    /// Texts in their order, with the conditions around them.
    pub fn arranged(&self, mut items: Vec<(Place, String)>) -> String {
        items.sort_by(|one, other| one.0.key.cmp(&other.0.key));
        let mut out = String::new();
        let mut open: Vec<Group> = Vec::new();
        for (place, text) in items {
            self.turn(&mut open, &place.groups, &mut out);
            out += &text;
        }
        self.turn(&mut open, &[], &mut out);
        out
    }

    /// Closes and opens conditions, so that the branches `wanted` are open.
    fn turn(&self, open: &mut Vec<Group>, wanted: &[Group], out: &mut String) {
        let same = open.iter().zip(wanted).take_while(|(one, other)| one == other).count();
        let heads = |(file, fork, _): Group| &self.files[file].forks[fork].branches;
        let goes_on = match (open.get(same), wanted.get(same)) {
            (Some(one), Some(other)) => (one.0, one.1) == (other.0, other.1) && one.2 < other.2,
            _ => false,
        };
        let kept = same + usize::from(goes_on);
        let has_gap = out.ends_with("\n\n") && open.len() > same;
        if has_gap {
            out.pop();
        }
        while open.len() > kept {
            open.pop();
            *out += "#endif\n";
        }
        for (level, group) in wanted.iter().enumerate().skip(same) {
            let from = match goes_on && level == same {
                true => open.pop().map_or(0, |last| last.2 + 1),
                false => 0,
            };
            for branch in &heads(*group)[from..=group.2] {
                *out += &format!("{}\n", branch.head);
            }
            open.push(*group);
        }
        if has_gap && wanted.len() <= same {
            out.push('\n');
        }
    }
}

/// A line about a macro, and where it stands.
pub struct Line<'a> {
    /// The number of its file.
    pub number: usize,
    /// The line.
    pub line: &'a MacroLine,
    /// Its text.
    pub text: &'a str,
    /// Its place.
    pub place: Place,
}

impl Place {
    /// Whether it comes before another one.
    pub fn is_before(&self, other: &Place) -> bool {
        self.key < other.key
    }

    /// The same without conditions.
    pub fn bare(&self) -> Place {
        Place { key: self.key.clone(), groups: Vec::new() }
    }

    /// The same where the conditions around `other` hold.
    pub fn relative(&self, other: &Place) -> Place {
        let same = self.groups.iter().zip(&other.groups).take_while(|(one, other)| one == other).count();
        Place { key: self.key.clone(), groups: self.groups[same..].to_vec() }
    }

    /// Whether what stands here is read wherever `other` is.
    pub fn is_around(&self, other: &Place) -> bool {
        other.groups.starts_with(&self.groups)
    }
}

/// The names of macros, of what these name, of types, of functions, and of constants, which stand in the lengths of arrays.
fn names(all: &[Seen], files: &[File]) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    for line in files.iter().flat_map(|file| &file.lines) {
        found.insert(line.name.clone());
        found.extend(words(&line.body).into_iter().map(str::to_owned));
    }
    for seen in all {
        let types = seen
            .unit
            .decls
            .iter()
            .filter(|decl| matches!(decl.kind, DeclKind::Typedef | DeclKind::Enumerator));
        let constants = seen.unit.globals.iter().map(|id| seen.unit.decl(*id)).filter(|decl| decl.is_const);
        found.extend(constants.map(|decl| decl.name.clone()));
        found.extend(types.map(|decl| decl.name.clone()));
        found.extend(seen.unit.records.iter().filter_map(|record| record.tag.clone()));
        let functions = seen.unit.functions.iter().filter(|function| function.member_of.is_none());
        found.extend(functions.map(|function| function.name.clone()));
    }
    found
}

/// The conditions and macro lines of one file.
fn file(seen: &Seen) -> File {
    let lines = scan::macro_lines(seen.file);
    let forks = scan::forks(seen.file).into_iter().map(|fork| {
        let words_of = |branch: &scan::Branch| -> Vec<String> {
            words(branch.condition().1).into_iter().map(str::to_owned).collect()
        };
        let named: Vec<String> = fork.branches.iter().flat_map(words_of).collect();
        let is_compilers = |word: &String| COMPILERS.iter().any(|lead| word.starts_with(lead));
        let is_openacc = |word: &String| word == "_OPENACC" || word == "defined";
        let travels = !is_include_guard(seen, &fork, &lines)
            && !named.iter().any(is_compilers)
            && !named.iter().all(is_openacc);
        let first = fork.branches.first().and_then(|first| first.is_defined());
        let wants = |at: usize| {
            let (name, is_defined) =
                first.filter(|_| at == 0 || fork.branches.len() == 2 && is_else(&fork.branches[1]))?;
            Some((name.to_owned(), is_defined == (at == 0)))
        };
        let branches = fork.branches.iter().enumerate().map(|(at, branch)| Branch {
            inside: branch.inside,
            head: seen.file.text(branch.head).trim_end().to_owned(),
            is_shown: seen.scan.shows(branch.inside.start),
            wants: wants(at),
        });
        Choice { whole: fork.whole, branches: branches.collect(), travels }
    });
    let texts = lines.iter().map(|line| {
        if let Some(instead) = &line.instead {
            return instead.clone();
        }
        // What is continued by nothing ends there.
        seen.file.text(line.span).trim_end().trim_end_matches('\\').trim_end().to_owned()
    });
    let forks: Vec<Choice> = forks.collect();
    let is_pragma = |line: &str| words(line).starts_with(&["pragma", "once"]);
    let is_once = scan::forks(seen.file).first().is_some_and(|fork| is_include_guard(seen, fork, &lines))
        || memchr::memmem::find(&seen.file.bytes, b"once").is_some()
            && String::from_utf8_lossy(&seen.file.bytes).lines().any(is_pragma);
    File { at: Place::default(), forks, texts: texts.collect(), lines, is_once }
}

fn is_else(branch: &scan::Branch) -> bool {
    branch.condition().0 == "else"
}

/// Whether a condition is there for a header to be read once.
fn is_include_guard(seen: &Seen, fork: &scan::Fork, lines: &[MacroLine]) -> bool {
    let [branch] = fork.branches.as_slice() else { return false };
    let (word, text) = branch.condition();
    let name = match word {
        "ifndef" => text.trim(),
        "if" if text.trim_start().starts_with('!') => words(text).last().copied().unwrap_or_default(),
        _ => return false,
    };
    let is_blank = |range: std::ops::Range<usize>| {
        seen.scan.shadow.get(range).unwrap_or_default().trim_ascii().is_empty()
    };
    let whole = fork.whole.range();
    let first = lines.iter().find(|line| branch.inside.contains(line.span));
    first.is_some_and(|line| {
        let after = Span { start: line.span.end, end: branch.inside.end };
        let is_mark = line.name == name && (line.body.is_empty() || line.body == "1");
        is_mark && line.params.is_none() && !seen.file.text(after).trim().is_empty()
    }) && is_blank(0..whole.start)
}

/// The lines that include files, by the names of these without folders, each with the number of its own file.
fn inclusions<'a>(all: &[Seen<'a>]) -> HashMap<&'a str, Vec<(usize, &'a Include)>> {
    let mut found: HashMap<&str, Vec<(usize, &Include)>> = HashMap::new();
    for (by, seen) in all.iter().enumerate() {
        for include in &seen.scan.includes {
            found.entry(last_of(&include.path)).or_default().push((by, include));
        }
    }
    found
}

/// A path without its folders.
fn last_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn within(file: &File, number: usize, offset: u32) -> Place {
    after(file.at.clone(), &file.forks, number, offset)
}

/// The place of an offset of a file whose inclusion is at `place`.
fn after(mut place: Place, forks: &[Choice], number: usize, offset: u32) -> Place {
    place.key.push(offset);
    let forks = forks.iter().enumerate().filter(|(_, fork)| fork.travels);
    place.groups.extend(forks.filter_map(|(at, fork)| {
        let branch = fork.branches.iter().position(|branch| holds(branch.inside, offset))?;
        Some((number, at, branch))
    }));
    place
}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset < span.end
}
