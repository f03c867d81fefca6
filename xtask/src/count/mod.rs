//! Counts the OpenACC directives that a compiler's preprocessor shows, of sources and of their translations.
//!
//! Invariant: the preprocessor is the judge of what is a directive, nothing of the translator's own scan. Each one that it shows
//! of a source must be among those that were reported, and each one that it still shows of the translation among those that
//! were reported as left.

mod project;
mod shown;

use std::path::PathBuf;

use clap::Args;

use self::project::{Project, Sum};
use crate::difftest::{self, fixture};
use crate::{Result, Verdict};

/// What to count.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Folders of sources [default: all fixtures]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Only the fixtures whose name holds NAME
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Counts; the last line printed sums up.
pub fn run(options: &Options) -> Result<Verdict> {
    let mut projects = Vec::new();
    if options.paths.is_empty() {
        let root = difftest::root()?.join("fixtures");
        for language in ["c", "cpp", "fortran"] {
            for fixture in fixture::all(&root.join(language))? {
                let is_wanted = |name: &String| fixture.name.contains(name.as_str());
                if options.only.as_ref().is_none_or(is_wanted) {
                    projects.push(Project::of_fixture(&fixture)?);
                }
            }
        }
        if projects.is_empty() {
            return Err("no fixture has such a name".to_owned());
        }
    } else {
        for path in &options.paths {
            projects.push(Project::of_folder(path)?);
        }
    }
    let mut sum = Sum::default();
    for project in &projects {
        sum = sum.and(project.count()?);
    }
    let Sum { files, unread, shown, left, wrong } = sum;
    println!("{files} files, {unread} of which the preprocessor could not read to the end");
    println!("{shown} directives shown, {left} of translations; {wrong} unknown to the translator");
    Ok(if wrong == 0 { Verdict::Passed } else { Verdict::Failed })
}
