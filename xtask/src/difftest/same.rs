//! Which translations a compiler has read before, and which of them it need not build again.
//!
//! Invariant: two are the same only if the same compiler with the same options reads the same text, or its preprocessor makes
//! the same text of them.

use std::cell::OnceCell;
use std::path::PathBuf;

use super::case::Case;
use super::toolchain::{Toolchain, Toolchains};
use super::{LIMIT, Output};
use crate::{Result, process};

/// What a compiler gets.
pub struct Given {
    toolchain: Toolchain,
    folder: PathBuf,
    /// Options beside the toolchain's.
    options: Vec<String>,
    /// The original stands beside the translation, under a condition.
    guarded: bool,
    /// The sources and what they include of the program.
    pub texts: Vec<String>,
    preprocessed: OnceCell<Option<Vec<String>>>,
}

impl Given {
    /// What `toolchain` gets of a translation.
    pub fn of(case: &Case, output: &Output, toolchain: Toolchain) -> Result<Given> {
        let folder = case.work.join(&output.name).join(&case.fixture.name);
        let options = output.given(toolchain, case.fixture.is_fortran());
        Given::new(case, toolchain, folder, options, output.guarded)
    }

    /// What `toolchain` gets of a folder, with more options.
    pub fn new(
        case: &Case,
        toolchain: Toolchain,
        folder: PathBuf,
        options: Vec<String>,
        guarded: bool,
    ) -> Result<Given> {
        let texts = case.texts(&folder)?;
        Ok(Given { toolchain, folder, options, guarded, texts, preprocessed: OnceCell::new() })
    }

    /// What the preprocessor makes of the sources; `None` if it complains.
    fn preprocessed(&self, case: &Case) -> Result<Option<&Vec<String>>> {
        if let Some(known) = self.preprocessed.get() {
            return Ok(known.as_ref());
        }
        let mut all = Some(Vec::new());
        for source in &case.fixture.sources {
            let mut command = Toolchains::preprocess(self.toolchain, source);
            command.args(&case.fixture.marks.options).args(&self.options).current_dir(&self.folder);
            let done = case
                .toolchains
                .spent
                .on(self.toolchain, "reads", || process::capture(&mut command, LIMIT))?;
            match &mut all {
                Some(texts) if done.succeeded() && done.stderr.is_empty() => texts.push(done.stdout),
                _ => all = None,
            }
        }
        Ok(self.preprocessed.get_or_init(|| all).as_ref())
    }
}

/// What was built of a fixture.
pub struct Built<'a> {
    case: &'a Case<'a>,
    all: Vec<Given>,
}

impl<'a> Built<'a> {
    /// Nothing, or the original.
    pub fn new(case: &'a Case, original: bool) -> Result<Built<'a>> {
        let folder = case.fixture.folder.clone();
        let original =
            original.then(|| Given::new(case, case.of_original(), folder, Vec::new(), false)).transpose()?;
        Ok(Built { case, all: Vec::from_iter(original) })
    }

    /// Whether the same was built before. If not, it is from now on.
    pub fn holds(&mut self, given: Given) -> Result<bool> {
        let by_this = || self.all.iter().filter(|known| known.toolchain == given.toolchain);
        let is_read = |known: &Given| known.options == given.options && known.texts == given.texts;
        let mut found = by_this().any(is_read);
        // What is not under a condition of ours differs by more than the preprocessor takes away.
        if !found
            && given.guarded
            && let Some(here) = given.preprocessed(self.case)?
        {
            for known in by_this() {
                found = found || known.preprocessed(self.case)? == Some(here);
            }
        }
        if !found {
            self.all.push(given);
        }
        Ok(found)
    }
}
