//! Conditions between a directive and the code that it governs.
//!
//! Invariant: names places only; what stands there is for others to read.

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
    /// Where the branches begin of which such a build reads none.
    unread: Vec<u32>,
}

/// The branches of a file's conditions that hold code or macros, that a view hides, and that options do not rule out, by place.
/// Conditions on OpenACC or OpenMP alone choose other programs: their branches are not among them.
pub fn hidden_code(file: &SourceFile, forks: &[Fork], view: &View) -> Vec<Branched> {
    sorted(file, forks, view, &|shown, fork| hidden(file, shown, fork))
}

/// These branches, and the conditions without `#else` of which the view shows a branch and other builds may read none.
pub fn other_builds(file: &SourceFile, forks: &[Fork], view: &View) -> Vec<Branched> {
    let both = |shown: &Shown, fork: &Fork| {
        let mut all = hidden(file, shown, fork);
        all.extend(passed_over(file, shown, fork));
        all
    };
    sorted(file, forks, view, &both)
}

/// What is found of each condition that a view shows, by place.
fn sorted(
    file: &SourceFile,
    forks: &[Fork],
    view: &View,
    of: &dyn Fn(&Shown, &Fork) -> Vec<Branched>,
) -> Vec<Branched> {
    if forks.is_empty() {
        return Vec::new();
    }
    let shown = preproc::shown(file, &events(file), view);
    let forks = forks.iter().filter(|fork| shown.shows(fork.whole.start));
    let mut found: Vec<Branched> = forks.flat_map(|fork| of(&shown, fork)).collect();
    found.sort_by_key(|one| one.branch.start);
    found
}

/// The branches of a condition with code that a view hides.
fn hidden(file: &SourceFile, shown: &Shown, fork: &Fork) -> Vec<Branched> {
    let branches = fork.branches.iter().enumerate().filter(|(at, _)| fork.chooses(*at));
    let is_hidden = |branch: &Span| {
        let is_hidden = !shown.shows(branch.start) && !shown.rules_out(branch.start);
        is_hidden && !branch.is_empty() && has_code(&file.text(*branch))
    };
    let hidden = branches.map(|(_, branch)| branch.inside).filter(is_hidden);
    let names = || fork.names().map(str::to_owned).collect();
    hidden.map(|branch| Branched { branch, names: names(), unread: Vec::new() }).collect()
}

/// A condition without `#else` of which a view shows a branch with code, and other builds may read none. One that defines what it
/// asks for as nothing keeps a file from being read twice, and does not count.
fn passed_over(file: &SourceFile, shown: &Shown, fork: &Fork) -> Vec<Branched> {
    let names: Vec<String> = fork.names().map(str::to_owned).collect();
    let is_settled = shown.settled.binary_search(&fork.whole.start).is_ok();
    let end = fork.end_without_else().filter(|_| !names.is_empty() && !is_settled);
    let Some(end) = end.filter(|_| fork.chooses(fork.branches.len())) else { return Vec::new() };
    let is_guard = |text: &str| {
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default();
        let defined = first.strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("define"));
        defined.is_some_and(|name| names.iter().any(|one| one == name.trim()))
    };
    let is_meant = |inside: Span| {
        let text = file.text(inside);
        has_code(&text) && !is_guard(&text)
    };
    let mut branches = fork.branches.iter().map(|branch| branch.inside);
    let is_read = branches.find(|inside| shown.shows(inside.start)).is_some_and(is_meant);
    let unread = fork.branches.iter().map(|branch| branch.inside.start).collect();
    is_read.then_some(Branched { branch: end, names, unread }).into_iter().collect()
}

/// Of some branches, those that a view shows.
pub fn shown_of<'b>(file: &SourceFile, view: &View, branched: &[&'b Branched]) -> Vec<&'b Branched> {
    let shown = preproc::shown(file, &events(file), view);
    let is_shown = |one: &&Branched| {
        shown.shows(one.branch.start) && !one.unread.iter().any(|start| shown.shows(*start))
    };
    branched.iter().copied().filter(is_shown).collect()
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
