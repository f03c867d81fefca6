//! Directives that are divided by preprocessor conditions, written out: the whole directive in each branch.
//!
//! Invariant: a build reads the same of the new lines as of the old ones.

use crate::source::{Form, Language, SourceFile, Span};

use super::super::c::Event;
use super::super::forks::{Fork, forks};
use super::super::preproc::{self, View, keyword};
use super::code;
use super::line::{self, Kind};
use super::walk::leading_ampersand;

/// A directive is written out so many times at most.
const BRANCHES: usize = 8;

/// A directive whose lines stand in several branches, and what it is with each of them.
#[derive(Clone, Debug)]
pub struct Split {
    /// Its lines and those of its conditions, line ends included.
    pub span: Span,
    /// Where the new lines come from, one by one.
    pub lines: Vec<Span>,
    /// The new lines.
    pub text: Vec<u8>,
    /// Where each new line begins in the new text.
    pub starts: Vec<u32>,
    /// How many whole directives it holds, or constructs.
    pub directives: usize,
    /// It is a construct with all that stands in it.
    pub is_construct: bool,
}

/// What a line means for a directive that it may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// `#if` and its like.
    Opens,
    /// `#elif`
    Parts,
    /// `#else`
    Else,
    /// `#endif`
    Closes,
    /// A line of a directive: whether it continues one in fixed form, and whether it ends with an ampersand in free form.
    Directive { is_marked: bool, asks: bool },
    /// Blank, or a comment.
    Comment,
    /// Anything else.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    span: Span,
    role: Role,
}

/// A part of a directive that is divided by conditions.
#[derive(Clone, Debug)]
enum Node {
    Line(Span),
    Group(Group),
}

#[derive(Clone, Debug)]
struct Group {
    /// What begins each branch, and its lines.
    branches: Vec<(Span, Vec<Node>)>,
    has_else: bool,
    closes: Span,
}

/// The directives of a file that are divided by conditions, without those in branches that options rule out.
pub fn splits(file: &SourceFile) -> Vec<Split> {
    if !preproc::may_have_conditions(&file.bytes) {
        return Vec::new();
    }
    let events = super::events(file);
    let shown = preproc::shown(file, &events, &View::default());
    let scan = super::assemble(file, &events, &shown);
    let is_parted = |text: &&super::super::DirectiveText| text.in_macro.as_deref() == Some(super::PARTED);
    let starts: Vec<u32> = scan.directives.iter().filter(is_parted).map(|text| text.span.start).collect();
    if starts.is_empty() {
        return Vec::new();
    }
    let rows = rows(file, &events);
    let is_free = file.language == Language::Fortran(Form::Free);
    let mut found: Vec<Split> = Vec::new();
    for start in starts {
        if found.last().is_some_and(|last| start < last.span.end) {
            continue;
        }
        let at = rows.partition_point(|row| row.span.end <= start);
        let reader = Reader { rows: &rows, is_free };
        found.extend(reader.directive(at).and_then(|nodes| written(file, &nodes)));
    }
    found
}

/// The constructs at these places with conditions inside, written out: the whole construct in each branch.
pub fn constructs(file: &SourceFile, places: &[Span]) -> Vec<Split> {
    let forks = forks(file);
    let mut all: Vec<Span> = Vec::new();
    for place in places {
        let mut place = *place;
        // A condition that begins before the construct and ends in it is written out with it.
        for fork in &forks {
            let is_apart = fork.whole.end <= place.start || place.end <= fork.whole.start;
            let is_inside = fork.branches.iter().any(|branch| branch.inside.contains(place));
            if !is_apart && !is_inside && !place.contains(fork.whole) {
                place = place.to(fork.whole);
            }
        }
        match all.last_mut().filter(|last| place.start < last.end) {
            Some(last) => *last = last.to(place),
            None => all.push(place),
        }
    }
    let events = super::events(file);
    let rows = rows(file, &events);
    let reader = Reader { rows: &rows, is_free: true };
    let split = |place: &Span| {
        let first = rows.partition_point(|row| row.span.end <= place.start);
        let end = rows.partition_point(|row| row.span.start < place.end);
        // OpenMP of the source has a directive of its own there.
        let is_about_openmp =
            |fork: &Fork| place.contains(fork.whole) && fork.names().any(|one| one == "_OPENMP");
        if forks.iter().any(is_about_openmp) {
            return None;
        }
        let (nodes, after) = reader.all(file, first, end, 0)?;
        let split = written(file, &nodes).filter(|_| after == end)?;
        Some(Split { is_construct: true, ..split })
    };
    all.iter().filter_map(split).collect()
}

/// The lines of a file; one of the preprocessor with its continuations.
fn rows(file: &SourceFile, events: &[Event]) -> Vec<Row> {
    let mut lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let (mut rows, mut at) = (Vec::new(), 0);
    let mut next_line = lines.next();
    while at < file.bytes.len() {
        let (end, mut next) = line::ends(&file.bytes, at);
        let role = match next_line.filter(|line| (line.span.start as usize) < next) {
            Some(line) => {
                next = line::ends(&file.bytes, line.whole.end as usize).1;
                next_line = lines.next();
                match keyword(&file.bytes, line).0 {
                    "if" | "ifdef" | "ifndef" => Role::Opens,
                    "elif" => Role::Parts,
                    "else" => Role::Else,
                    "endif" => Role::Closes,
                    _ => Role::Other,
                }
            }
            None => role(file, Span::new(at, end)),
        };
        rows.push(Row { span: Span::new(at, next), role });
        at = next;
    }
    rows
}

fn role(file: &SourceFile, whole: Span) -> Role {
    let form = if let Language::Fortran(form) = file.language { form } else { Form::Free };
    let line = line::read(file, whole, form);
    match line.kind {
        Kind::Blank | Kind::Comment => return Role::Comment,
        Kind::Code | Kind::Conditional => return Role::Other,
        Kind::Directive => {}
    }
    let lead = leading_ampersand(file.slice(line.text));
    let text = Span { start: line.text.start + lead, end: line.text.end };
    let read = code::read(&file.bytes, text, None, form);
    match read.quote {
        // A literal goes on.
        Some(_) => Role::Other,
        None => Role::Directive { is_marked: line.mark.is_some(), asks: read.ampersand.is_some() },
    }
}

struct Reader<'a> {
    rows: &'a [Row],
    is_free: bool,
}

impl Reader<'_> {
    fn row(&self, at: usize) -> Option<Row> {
        self.rows.get(at).copied()
    }

    /// The parts of the directive that begins there; `None` if no condition divides it, or if one holds more than its lines.
    fn directive(&self, at: usize) -> Option<Vec<Node>> {
        let first = self.row(at)?;
        let Role::Directive { asks, .. } = first.role else { return None };
        let (mut nodes, _, _) = self.lines(at + 1, asks || !self.is_free, 0)?;
        nodes.insert(0, Node::Line(first.span));
        nodes.iter().any(|node| matches!(node, Node::Group(_))).then_some(nodes)
    }

    /// The lines from `at` on that continue a directive, the row after them, and whether that row may continue it, too.
    fn lines(&self, at: usize, may_go_on: bool, depth: usize) -> Option<(Vec<Node>, usize, bool)> {
        let (mut nodes, mut done, mut may_go_on) = (Vec::new(), at, may_go_on);
        while may_go_on {
            let comments = self.rows.get(done..).unwrap_or_default();
            let next =
                done + comments.iter().position(|row| row.role != Role::Comment).unwrap_or(comments.len());
            let Some(row) = self.row(next) else { break };
            let (node, after) = match row.role {
                Role::Directive { asks, .. } if self.is_free => {
                    may_go_on = asks;
                    (Node::Line(row.span), next + 1)
                }
                Role::Directive { is_marked: true, .. } => (Node::Line(row.span), next + 1),
                Role::Opens => match self.group(next, may_go_on, depth) {
                    Some((group, after, goes_on)) => {
                        may_go_on = goes_on;
                        (Node::Group(group), after)
                    }
                    None => break,
                },
                _ => break,
            };
            nodes
                .extend(self.rows.get(done..next).unwrap_or_default().iter().map(|row| Node::Line(row.span)));
            nodes.push(node);
            done = after;
        }
        Some((nodes, done, may_go_on))
    }

    /// All lines from `at` on up to `end`, or to where a branch ends, and the row after them; `None` if preprocessor lines other
    /// than conditions are among them.
    fn all(&self, file: &SourceFile, at: usize, end: usize, depth: usize) -> Option<(Vec<Node>, usize)> {
        let (mut nodes, mut at) = (Vec::new(), at);
        while let Some(row) = self.row(at).filter(|_| at < end) {
            match row.role {
                Role::Opens if depth < BRANCHES => {
                    let mut group = Group { branches: Vec::new(), has_else: false, closes: row.span };
                    let mut head = row;
                    loop {
                        let (inside, after) = self.all(file, at + 1, end, depth + 1)?;
                        group.branches.push((head.span, inside));
                        (head, at) = (self.row(after).filter(|_| after < end)?, after);
                        match head.role {
                            Role::Parts if !group.has_else => {}
                            Role::Else if !group.has_else => group.has_else = true,
                            Role::Closes => break,
                            _ => return None,
                        }
                    }
                    group.closes = head.span;
                    nodes.push(Node::Group(group));
                }
                Role::Opens => return None,
                Role::Parts | Role::Else | Role::Closes => break,
                _ if file.slice(row.span).starts_with(b"#") => return None,
                _ => nodes.push(Node::Line(row.span)),
            }
            at += 1;
        }
        Some((nodes, at))
    }

    /// The condition that begins there, if all that it holds belongs to a directive, and at least a line does.
    fn group(&self, at: usize, may_go_on: bool, depth: usize) -> Option<(Group, usize, bool)> {
        // Each level has at least two branches.
        if depth >= BRANCHES {
            return None;
        }
        let (mut head, mut at) = (self.row(at)?, at + 1);
        let mut group = Group { branches: Vec::new(), has_else: false, closes: head.span };
        let mut ends = Vec::new();
        loop {
            let (mut nodes, mut after, goes_on) = self.lines(at, may_go_on, depth + 1)?;
            while let Some(row) = self.row(after).filter(|row| row.role == Role::Comment) {
                nodes.push(Node::Line(row.span));
                after += 1;
            }
            ends.push(goes_on);
            group.branches.push((head.span, nodes));
            head = self.row(after)?;
            at = after + 1;
            match head.role {
                Role::Parts if !group.has_else => {}
                Role::Else if !group.has_else => group.has_else = true,
                Role::Closes => break,
                _ => return None,
            }
        }
        group.closes = head.span;
        if !group.has_else {
            ends.push(may_go_on);
        }
        let has_lines = group.branches.iter().any(|(_, nodes)| !nodes.is_empty());
        has_lines.then(|| (group, at, ends.into_iter().all(|goes_on| goes_on)))
    }
}

/// The directive of these parts in each branch; `None` if there are too many.
fn written(file: &SourceFile, nodes: &[Node]) -> Option<Split> {
    let span = match (nodes.first()?, nodes.last()?) {
        (Node::Line(first), Node::Line(last)) => first.to(*last),
        (Node::Line(first), Node::Group(last)) => first.to(last.closes),
        (Node::Group(first), Node::Line(last)) => first.branches.first()?.0.to(*last),
        (Node::Group(first), Node::Group(last)) => first.branches.first()?.0.to(last.closes),
    };
    let (lines, text, starts) = (Vec::new(), Vec::new(), Vec::new());
    let mut split = Split { span, lines, text, starts, directives: 0, is_construct: false };
    let nodes: Vec<&Node> = nodes.iter().collect();
    split.branch(file, &[], &nodes).then_some(split)
}

impl Split {
    /// Adds what stands in a branch: lines, and what follows them. False if the directive is written out too often.
    fn branch(&mut self, file: &SourceFile, before: &[Span], nodes: &[&Node]) -> bool {
        let mut before = before.to_vec();
        for (at, node) in nodes.iter().enumerate() {
            let group = match node {
                Node::Line(line) => {
                    before.push(*line);
                    continue;
                }
                Node::Group(group) => group,
            };
            let rest = nodes.get(at + 1..).unwrap_or_default();
            for (head, inside) in &group.branches {
                self.line(file, *head);
                let nodes: Vec<&Node> = inside.iter().chain(rest.iter().copied()).collect();
                if !self.branch(file, &before, &nodes) {
                    return false;
                }
            }
            if !group.has_else {
                self.added(group.closes, &["#else", file.line_end(group.closes.start)].concat());
                if !self.branch(file, &before, rest) {
                    return false;
                }
            }
            self.line(file, group.closes);
            return true;
        }
        self.directives += 1;
        before.into_iter().for_each(|line| self.line(file, line));
        self.directives <= BRANCHES
    }

    fn line(&mut self, file: &SourceFile, line: Span) {
        self.added(line, &file.text(line));
    }

    fn added(&mut self, from: Span, text: &str) {
        self.lines.push(from);
        self.starts.push(self.text.len() as u32);
        self.text.extend(crate::source::bytes(text.as_bytes().to_vec()));
    }
}

#[cfg(test)]
mod tests;
