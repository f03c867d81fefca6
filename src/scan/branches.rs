//! Conditions between a directive and the code that it governs.
//!
//! Invariant: names places only; what stands there is for others to read.

use std::collections::BTreeSet;

use crate::source::{self, SourceFile, Span};

use super::DirectiveText;
use super::c::{Event, Line};
use super::forks::{Fork, events};
use super::fortran;
use super::preproc::{self, Shown, View, keyword};
use super::shadow;

/// The directives that the default view shows before an `#if`, with no code between, each with the hidden branches of
/// that condition.
pub fn branches_after(file: &SourceFile) -> Vec<(Span, Vec<Span>)> {
    if !preproc::may_have_conditions(&file.bytes) {
        return Vec::new();
    }
    let is_fortran = file.language.is_fortran();
    let events = events(file);
    let lines: Vec<&Line> = events.iter().filter_map(condition).collect();
    let lines: Vec<(&str, &Line)> =
        lines.into_iter().map(|line| (keyword(&file.bytes, line).0, line)).collect();
    let opens = |word: &str| matches!(word, "if" | "ifdef" | "ifndef");
    let mut openings = lines.iter().filter(|(word, _)| opens(word)).map(|(_, line)| *line);
    let may_part = match is_fortran {
        true => fortran::may_follow_directive(file, openings),
        false => openings.next().is_some(),
    };
    if !may_part {
        return Vec::new();
    }
    let shown = preproc::shown(file, &events, &View::default());
    let all = if is_fortran { fortran::assemble } else { shadow::assemble };
    let all = all(file, &events, &shown.of_all());
    let is_wanted = |text: &&DirectiveText| text.in_macro.is_none() && shown.shows(text.span.start);
    let mut found = Vec::new();
    for text in all.directives.iter().filter(is_wanted) {
        let next = lines.partition_point(|(_, line)| line.span.start < text.span.end);
        let Some((word, line)) = lines.get(next) else { continue };
        if !opens(word) || line.span.start > text.next_code {
            continue;
        }
        let hidden: Vec<Span> = branches(lines.get(next..).unwrap_or_default())
            .into_iter()
            .filter(|branch| !shown.shows(branch.start) && !shown.rules_out(branch.start))
            .collect();
        if !hidden.is_empty() {
            found.push((text.span, hidden));
        }
    }
    found
}

/// A branch with code that a view hides, or the end of a condition without `#else`, for builds that read none of its branches.
#[derive(Clone, Debug)]
pub struct Branched {
    /// What stands in it.
    pub branch: Span,
    /// The names that its condition asks for.
    pub names: Vec<String>,
    /// Macros with which a build would read it; none if no value of these names is enough.
    pub defines: Vec<(String, Option<String>)>,
    /// It stands inside of a branch that the view hides.
    pub is_inside: bool,
    /// Where the branches begin of which such a build reads none.
    unread: Vec<u32>,
}

/// The branches of a file's conditions that hold code or macros, that a view hides, and that options do not rule out, by place.
/// Conditions on OpenACC or OpenMP alone choose other programs: their branches are not among them, nor are those inside of others.
pub fn hidden_code(file: &SourceFile, forks: &[Fork], view: &View) -> Vec<Branched> {
    if forks.is_empty() {
        return Vec::new();
    }
    let shown = preproc::shown(file, &events(file), view);
    let forks = forks.iter().filter(|fork| shown.shows(fork.whole.start));
    forks.flat_map(|fork| hidden(file, &shown, fork, &has_code)).collect()
}

/// The branches of a header, of which a file is shown this, that builds with other names defined read: they hold code, macros
/// or inclusions, or stand beside such that they do not read. By place.
pub fn read_otherwise(file: &SourceFile, forks: &[Fork], shown: &Shown) -> Vec<Branched> {
    let is_meant = |text: &str| has_code(text) || includes(text);
    let rest = |fork: &Fork| {
        let end = Span { start: fork.whole.end, end: file.bytes.len() as u32 };
        [Span { start: 0, end: fork.whole.start }, end]
    };
    // A condition around all of a header, which defines what it asks for, keeps it from being read twice.
    let is_around = |fork: &&Fork| {
        let text = file.text(fork.branches[0].inside);
        let name = first_defined(&text).and_then(|line| source::words(line).next());
        let is_whole = || !rest(fork).iter().any(|span| is_meant(&file.text(*span)));
        fork.branches.len() == 1 && name.is_some_and(|name| fork.names().any(|one| one == name)) && is_whole()
    };
    let first = usize::from(forks.first().is_some_and(|fork| is_around(&fork)));
    let mut found = read_by_others(file, &forks[first..], shown, &is_meant);
    found.retain(|one| !one.defines.is_empty());
    found
}

/// The branches with code that a view hides, those in others, too, and the conditions without `#else` of which the view shows a
/// branch and other builds may read none. By place.
pub fn other_builds(file: &SourceFile, forks: &[Fork], view: &View) -> Vec<Branched> {
    match forks.is_empty() {
        true => Vec::new(),
        false => read_by_others(file, forks, &preproc::shown(file, &events(file), view), &has_code),
    }
}

/// The branches whose text is meant and that other builds read, by place.
fn read_by_others(
    file: &SourceFile,
    forks: &[Fork],
    shown: &Shown,
    is_meant: &dyn Fn(&str) -> bool,
) -> Vec<Branched> {
    let mut found = Vec::new();
    let mut open: Vec<&Fork> = Vec::new();
    for fork in forks {
        let place = fork.whole.start;
        open.retain(|outer| place < outer.whole.end);
        // The conditions around it of which such a build reads a branch that the view hides.
        let around = open.iter().filter_map(|outer| Some((*outer, outer.branch_at(place)?)));
        let around: Vec<(&Fork, usize)> =
            around.filter(|(outer, branch)| !shown.shows(outer.branches[*branch].inside.start)).collect();
        open.push(fork);
        if shown.rules_out(place) || !around.iter().all(|(outer, branch)| outer.chooses(*branch)) {
            continue;
        }
        let mut own = hidden(file, shown, fork, is_meant);
        own.extend(passed_over(file, shown, fork, is_meant, !around.is_empty()));
        for one in &mut own {
            one.is_inside = !around.is_empty();
            for (outer, branch) in &around {
                one.names.extend(outer.names().map(str::to_owned));
                one.defines.extend(outer.defines_for(*branch));
            }
        }
        found.extend(own);
    }
    found.sort_by_key(|one| one.branch.start);
    found
}

/// The branches of a condition that a view hides, and whose text is meant.
fn hidden(file: &SourceFile, shown: &Shown, fork: &Fork, is_meant: &dyn Fn(&str) -> bool) -> Vec<Branched> {
    let branches = fork.branches.iter().enumerate().filter(|(at, _)| fork.chooses(*at));
    let is_hidden = |branch: &Span| {
        let is_hidden = !shown.shows(branch.start) && !shown.rules_out(branch.start);
        is_hidden && !branch.is_empty() && is_meant(&file.text(*branch))
    };
    let hidden = branches.filter(|(_, branch)| is_hidden(&branch.inside));
    let names = || fork.names().map(str::to_owned).collect();
    hidden
        .map(|(at, branch)| Branched {
            branch: branch.inside,
            names: names(),
            defines: fork.defines_for(at),
            is_inside: false,
            unread: Vec::new(),
        })
        .collect()
}

/// A condition without `#else` of which a view shows a branch whose text is meant, or would, as it stands inside of one that is
/// hidden, and other builds may read none. One that defines what it asks for as nothing keeps a file from being read twice, and does
/// not count; nor does one that defines it with parameters, which options hardly do.
fn passed_over(
    file: &SourceFile,
    shown: &Shown,
    fork: &Fork,
    is_meant: &dyn Fn(&str) -> bool,
    is_inside: bool,
) -> Vec<Branched> {
    let names: Vec<String> = fork.names().map(str::to_owned).collect();
    let is_settled = shown.settled.binary_search(&fork.whole.start).is_ok();
    let end = fork.end_without_else().filter(|_| !names.is_empty() && !is_settled);
    let Some(end) = end.filter(|_| fork.chooses(fork.branches.len())) else { return Vec::new() };
    let is_guard = |text: &str| {
        let defined = first_defined(text).map(str::trim).unwrap_or_default();
        names.iter().any(|name| {
            defined.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        })
    };
    let is_read = |inside: Span| {
        let text = file.text(inside);
        is_meant(&text) && !is_guard(&text)
    };
    let mut branches = fork.branches.iter().map(|branch| branch.inside);
    let is_read = branches.find(|inside| is_inside || shown.shows(inside.start)).is_some_and(is_read);
    let unread = fork.branches.iter().map(|branch| branch.inside.start).collect();
    let defines = fork.defines_for(fork.branches.len());
    is_read.then_some(Branched { branch: end, names, defines, is_inside, unread }).into_iter().collect()
}

/// Of some branches, those that a view shows.
pub fn shown_of<'b>(file: &SourceFile, view: &View, branched: &[&'b Branched]) -> Vec<&'b Branched> {
    let shown = preproc::shown(file, &events(file), view);
    branched.iter().copied().filter(|one| one.is_shown(&shown)).collect()
}

impl Branched {
    /// What stands in it, or in the branches that it is read without.
    pub fn text(&self) -> Span {
        let start = self.unread.first().copied().unwrap_or(self.branch.start);
        Span { start, end: self.branch.end }
    }

    /// Whether a build that is shown this reads it.
    pub fn is_shown(&self, shown: &Shown) -> bool {
        shown.shows(self.branch.start) && !self.unread.iter().any(|start| shown.shows(*start))
    }
}

/// Of some branches, those that one build may read with the first one, by number.
pub fn together(branched: &[&Branched]) -> Vec<usize> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut group = Vec::new();
    for (at, one) in branched.iter().enumerate() {
        if group.is_empty() || one.names.iter().all(|name| !names.contains(name.as_str())) {
            names.extend(one.names.iter().map(String::as_str));
            group.push(at);
        }
    }
    group
}

/// The conditions of which two views show different branches, without those in others of them, by place.
pub fn parted(file: &SourceFile, forks: &[Fork], views: [&View; 2]) -> Vec<Span> {
    let events = events(file);
    let [one, other] = views.map(|view| preproc::shown(file, &events, view));
    let mut found: Vec<Span> = Vec::new();
    for fork in forks {
        let mut branches = fork.branches.iter().map(|branch| branch.inside.start);
        let differs = branches.any(|at| one.shows(at) != other.shows(at));
        if differs && found.last().is_none_or(|last| !last.contains(fork.whole)) {
            found.push(fork.whole);
        }
    }
    found
}

/// What the first line of a text that is not a comment defines: a name, with what follows it.
fn first_defined(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !is_comment(line))?;
    first.strip_prefix('#')?.trim_start().strip_prefix("define")
}

/// Whether a line, without blanks around it, is a comment.
fn is_comment(line: &str) -> bool {
    ["//", "/*", "*", "!"].iter().any(|start| line.starts_with(start))
}

/// Whether a text has lines other than comments and preprocessor lines. Definitions of macros count, and so do directives of
/// OpenACC, which may change the translation of others.
fn has_code(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| match line.strip_prefix('#').map(str::trim_start) {
        Some(rest) => rest.starts_with("define") || rest.starts_with("undef") || is_directive(rest),
        None => !line.is_empty() && (!is_comment(line) || is_directive(line)),
    })
}

/// Whether a text includes files.
fn includes(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| line.strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include")))
}

/// Whether a line, without the `#` of a pragma, is a directive of OpenACC.
fn is_directive(line: &str) -> bool {
    source::words(line).find(|word| *word != "pragma").is_some_and(|word| word.eq_ignore_ascii_case("acc"))
}

fn condition(event: &Event) -> Option<&Line> {
    match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    }
}

/// The branches of the condition that the first of `lines` opens, without the lines that separate them.
fn branches(lines: &[(&str, &Line)]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (word, line) in lines {
        match *word {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "elif" | "else" | "endif" => {
                if depth == 1 && start < line.span.start {
                    found.push(Span { start, end: line.span.start });
                }
                if *word == "endif" {
                    depth -= 1;
                }
            }
            _ => continue,
        }
        if depth == 0 {
            break;
        }
        if depth == 1 {
            start = line.whole.end;
        }
    }
    found
}
