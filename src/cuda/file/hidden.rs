//! Definitions in branches that another build may choose.
//!
//! Invariant: a branch is parsed only if a definition is looked for of a name that it has.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::bind::Declared;
use crate::host;
use crate::host::ir::{Decl, DeclKind, Unit};
use crate::scan::{self, Scan, View};
use crate::source::{SourceFile, Span};

use crate::cuda::code::text::words;
use crate::cuda::fit::copied;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::{Input, Refused, Seen, refused};

/// The branches of a source and its headers that are not shown.
pub struct Hidden<'a> {
    branches: Vec<Branch<'a>>,
    declared: Declared,
}

struct Branch<'a> {
    number: usize,
    file: &'a SourceFile,
    span: Span,
    words: FxHashSet<String>,
    read: OnceCell<(Scan, Unit)>,
}

impl Branch<'_> {
    /// Whether it declares a variable of this name that code at an offset of the source, by its number, may name.
    fn declares(&self, unit: &Unit, decl: &Decl, (own, offset): (usize, u32)) -> bool {
        let holds = |span: Span| span.start <= offset && offset < span.end;
        let is_visible = |other: &Decl| {
            let mut around = unit.functions.iter().filter(|function| function.span.contains(other.span));
            unit.globals.iter().any(|id| unit.decl(*id).name_span == other.name_span)
                || self.number == own && around.any(|function| holds(function.span))
        };
        let is_variable = |kind: DeclKind| matches!(kind, DeclKind::Variable | DeclKind::Parameter);
        let mut named = unit.decls_named(&decl.name).filter(|other| is_variable(other.kind));
        named.any(|other| self.span.contains(other.name_span) && is_visible(other))
    }
}

impl<'a> Hidden<'a> {
    /// Those that a build may choose.
    pub fn of(input: &Input<'a>, choices: &Choices) -> Hidden<'a> {
        let files: Vec<&SourceFile> =
            input.headers.iter().chain([&input.source]).map(|seen| seen.file).collect();
        let branches = choices.hidden().map(|(number, span)| {
            let file = files[number];
            let words = words(&file.text(span)).into_iter().map(str::to_owned).collect();
            Branch { number, file, span, words, read: OnceCell::new() }
        });
        Hidden { branches: branches.collect(), declared: Declared::new() }
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
        let what = format!("`{}`, declared under a condition on a macro that changes behind it,", decl.name);
        Err(refused(at, &what))
    }

    fn with(&self, word: &str) -> impl Iterator<Item = &Branch<'a>> {
        self.branches.iter().filter(move |branch| branch.words.contains(word))
    }

    fn seen<'s>(&'s self, branch: &'s Branch<'a>) -> Seen<'s> {
        let (scan, unit) = branch.read.get_or_init(|| {
            let (scan, _) = scan::scan(branch.file, &View::reaching(branch.file, branch.span.start + 1));
            let unit = host::parse(branch.file, &scan);
            (scan, unit)
        });
        Seen { file: branch.file, unit, scan, declared: &self.declared }
    }
}
