//! Definitions in branches that another build may choose.
//!
//! Invariant: a branch is parsed only if a definition is looked for of a name that it has.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bind::Declared;
use crate::host;
use crate::host::ir::{Decl, DeclKind, Unit};
use crate::scan::{self, Fork, Scan, View};
use crate::source::{SourceFile, Span};

use crate::cuda::code::text::words;
use crate::cuda::fit::copied;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::{Input, Refused, Seen, refused};

/// So many views show branches that have nothing to do with one another; each of the others has a view of its own.
const VIEWS: usize = 8;

/// The branches of a source and its headers that are not shown.
pub struct Hidden<'a> {
    branches: Vec<Branch<'a>>,
    /// Views that show several branches.
    views: Vec<SharedView<'a>>,
    declared: Declared,
}

struct Branch<'a> {
    number: usize,
    file: &'a SourceFile,
    span: Span,
    words: FxHashSet<String>,
    /// The view that shows it with others.
    shared: Option<usize>,
    read: OnceCell<(Scan, Unit)>,
    /// What it declares.
    variables: OnceCell<FxHashMap<String, Vec<Variable>>>,
}

/// Branches whose conditions ask for different names: a build may read them all, and what each declares is the same there.
struct SharedView<'a> {
    file: &'a SourceFile,
    places: Vec<u32>,
    /// The names that the conditions ask for.
    names: BTreeSet<String>,
    /// Where the last condition ends.
    end: u32,
    /// None if there is an error, which may be of another branch.
    read: OnceCell<Option<(Scan, Unit)>>,
}

/// Where a variable of a branch is visible.
struct Variable {
    /// It stands at file scope.
    is_global: bool,
    /// The function of the source that it stands in.
    function: Option<Span>,
}

impl Branch<'_> {
    /// Whether it declares a variable of this name that code at an offset of the source, by its number, may name.
    fn declares(&self, unit: &Unit, decl: &Decl, (own, offset): (usize, u32)) -> bool {
        let known = self.variables.get_or_init(|| self.variables(unit)).get(&decl.name);
        let holds = |span: Span| span.start <= offset && offset < span.end;
        let mut known = known.into_iter().flatten();
        known.any(|one| one.is_global || self.number == own && one.function.is_some_and(holds))
    }

    fn variables(&self, unit: &Unit) -> FxHashMap<String, Vec<Variable>> {
        let is_variable = |kind: DeclKind| matches!(kind, DeclKind::Variable | DeclKind::Parameter);
        let globals = unit.globals.iter().map(|id| unit.decl(*id).name_span);
        let globals: FxHashSet<Span> = globals.filter(|span| self.span.contains(*span)).collect();
        let mut found: FxHashMap<String, Vec<Variable>> = FxHashMap::default();
        for decl in unit.decls_with_names_in(self.span).filter(|decl| is_variable(decl.kind)) {
            // Functions come by place, and none stands in another.
            let next = unit.functions.partition_point(|function| function.span.end < decl.span.end);
            let around = unit.functions.get(next).map(|function| function.span);
            let function = around.filter(|function| function.contains(decl.span));
            let one = Variable { is_global: globals.contains(&decl.name_span), function };
            found.entry(decl.name.clone()).or_default().push(one);
        }
        found
    }
}

impl<'a> Hidden<'a> {
    /// Those that a build may choose.
    pub fn of(input: &Input<'a>, choices: &Choices) -> Hidden<'a> {
        let files: Vec<&Seen> = input.headers.iter().chain([&input.source]).collect();
        let (mut branches, mut views): (Vec<Branch>, Vec<SharedView>) = (Vec::new(), Vec::new());
        let mut known: Option<(usize, Vec<Fork>, usize)> = None;
        for (number, span) in choices.hidden() {
            let file = files[number].file;
            let words = words(&file.text(span)).into_iter().map(str::to_owned).collect();
            if known.as_ref().is_none_or(|(file, ..)| *file != number) {
                known = Some((number, scan::forks(file), views.len()));
            }
            let known = known.as_ref();
            let shared = known.and_then(|(_, forks, first)| share(file, forks, span, *first, &mut views));
            let (read, variables) = (OnceCell::new(), OnceCell::new());
            branches.push(Branch { number, file, span, words, shared, read, variables });
        }
        Hidden { branches, views, declared: Declared::new() }
    }

    /// The definitions of a type or an enumerator.
    pub fn definitions(&self, word: &str) -> Vec<(usize, Seen<'_>, Span)> {
        let all = self.with(word).flat_map(|branch| {
            let seen = self.seen(branch);
            let spans = copied::definitions(&seen, word).into_iter();
            spans.filter(|span| branch.span.contains(*span)).map(move |span| (branch.number, seen, span))
        });
        all.collect()
    }

    /// The definitions of a function.
    pub fn functions(&self, word: &str) -> Vec<(usize, Span)> {
        let all = self.with(word).flat_map(|branch| {
            let named = self.seen(branch).unit.functions_named(word).map(|function| function.span);
            let inside: Vec<Span> = named.filter(|span| branch.span.contains(*span)).collect();
            inside.into_iter().map(|span| (branch.number, span))
        });
        all.collect()
    }

    /// The branches that declare a variable otherwise than was read, for code at `at` in the source: they hold the declaration,
    /// or a part of it, as its type. Refused if a condition does not mean at `at` what it means there.
    pub fn declarations(
        &self,
        input: &Input,
        (number, decl): (usize, &Decl),
        at: Span,
    ) -> Result<BTreeSet<(usize, Span)>, Refused> {
        let Some(choices) = input.choices.filter(|_| !input.in_place) else { return Ok(BTreeSet::new()) };
        let own = choices.own();
        let others = self
            .with(&decl.name)
            .filter(|branch| branch.declares(self.seen(branch).unit, decl, (own, at.start)));
        let parts =
            self.branches.iter().filter(|branch| branch.number == number && decl.span.contains(branch.span));
        let all: BTreeSet<(usize, Span)> =
            others.chain(parts).map(|branch| (branch.number, branch.span)).collect();
        let place = choices.place(own, at.start);
        if all.iter().all(|branch| choices.is_same_condition(*branch, &place)) {
            return Ok(all);
        }
        let what = format!("`{}`, declared under a condition on a macro that changes after it,", decl.name);
        Err(refused(at, &what))
    }

    fn with(&self, word: &str) -> impl Iterator<Item = &Branch<'a>> {
        self.branches.iter().filter(move |branch| branch.words.contains(word))
    }

    fn seen<'s>(&'s self, branch: &'s Branch<'a>) -> Seen<'s> {
        let shared = branch.shared.and_then(|at| self.views[at].read());
        let (scan, unit) = shared.unwrap_or_else(|| {
            branch.read.get_or_init(|| read(branch.file, &View::reaching(branch.file, branch.span.start + 1)))
        });
        Seen { file: branch.file, unit, scan, declared: &self.declared }
    }
}

impl SharedView<'_> {
    fn read(&self) -> Option<&(Scan, Unit)> {
        let read = self.read.get_or_init(|| {
            let view = View::reaching_all(self.file, &scan::forks(self.file), &self.places);
            let several = (self.places.len() > 1).then(|| read(self.file, &view));
            several.filter(|(_, unit)| unit.errors.is_empty())
        });
        read.as_ref()
    }
}

fn read(file: &SourceFile, view: &View) -> (Scan, Unit) {
    let (scan, _) = scan::scan(file, view);
    let unit = host::parse(file, &scan);
    (scan, unit)
}

/// The view, of those from `first` on, that shows a branch beside others, which is made if there is none.
fn share<'a>(
    file: &'a SourceFile,
    forks: &[Fork],
    branch: Span,
    first: usize,
    views: &mut Vec<SharedView<'a>>,
) -> Option<usize> {
    let holds = |fork: &&Fork| fork.whole.start < branch.start && branch.end <= fork.whole.end;
    let around: Vec<&Fork> = forks.iter().filter(holds).collect();
    let outermost = around.first().filter(|_| !branch.is_empty())?;
    let asking = around.iter().filter(|fork| fork.branch_at(branch.start).is_some());
    let names: BTreeSet<String> = asking.flat_map(|fork| fork.names()).map(str::to_owned).collect();
    let place = branch.start + 1;
    let fits = |view: &SharedView| outermost.whole.start >= view.end && view.names.is_disjoint(&names);
    let end = outermost.whole.end;
    if let Some(at) = (first..views.len()).find(|at| fits(&views[*at])) {
        let view = &mut views[at];
        view.places.push(place);
        view.names.extend(names);
        view.end = end;
        return Some(at);
    }
    if views.len() >= first + VIEWS {
        return None;
    }
    views.push(SharedView { file, places: vec![place], names, end, read: OnceCell::new() });
    Some(views.len() - 1)
}
