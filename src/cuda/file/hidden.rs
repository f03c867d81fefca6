//! Definitions in branches that another build may choose.
//!
//! Invariant: a branch is parsed only if a definition is looked for of a name that it has.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::bind::Declared;
use crate::host::{self, ir::Unit};
use crate::scan::{self, Scan, View};
use crate::source::{SourceFile, Span};

use crate::cuda::code::text::words;
use crate::cuda::fit::copied;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::{Input, Seen};

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

    fn with(&self, word: &str) -> impl Iterator<Item = &Branch<'a>> {
        self.branches.iter().filter(move |branch| branch.words.contains(word))
    }

    fn seen<'s>(&'s self, branch: &'s Branch<'a>) -> Seen<'s> {
        let (scan, unit) = branch.read.get_or_init(|| {
            let (scan, _) = scan::scan(branch.file, &View::reaching(branch.span.start + 1));
            let unit = host::parse(branch.file, &scan);
            (scan, unit)
        });
        Seen { file: branch.file, unit, scan, declared: &self.declared }
    }
}
