//! The documentation as a site: pages of `docs` and `rules`, and the command line, by mdBook.
//!
//! Invariant: no text of its own but titles of parts: every page is one of the repository, or made of clap's definition.

mod check;
mod command_line;
mod pages;

use std::path::{Path, PathBuf};

use clap::Args;
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;

use crate::{Result, Verdict, difftest};

/// How mdBook is set up.
const CONFIG: &str = include_str!("book.toml");

/// What the chore is asked for.
#[derive(Debug, Args)]
pub struct Options {
    /// The folder for the site
    #[arg(default_value = "target/book")]
    dir: PathBuf,
}

/// Writes the site into a folder, and looks for links in it that lead nowhere.
pub fn run(options: &Options) -> Result<Verdict> {
    let out = std::path::absolute(&options.dir).map_err(|error| error.to_string())?;
    let sources = tempfile::tempdir().map_err(|error| error.to_string())?;
    let chapters = pages::write(&difftest::root()?, sources.path())?;
    build(sources.path(), &out)?;
    let wrong = check::site(&out, &chapters)?;
    for line in &wrong {
        println!("{line}");
    }
    println!("{} pages in {}, {} faults", chapters.len(), out.display(), wrong.len());
    Ok(if wrong.is_empty() { Verdict::Passed } else { Verdict::Failed })
}

/// Builds the site, as a part of all tests.
pub fn test() -> Result<Verdict> {
    run(&Options { dir: difftest::root()?.join("target/book") })
}

fn build(sources: &Path, out: &Path) -> Result<()> {
    let mut config: Config = CONFIG.parse().map_err(|error| format!("book.toml: {error}"))?;
    config.build.build_dir = out.to_owned();
    let book = MDBook::load_with_config(sources, config).and_then(|book| book.build());
    book.map_err(|error| format!("mdBook: {error:#}"))
}
