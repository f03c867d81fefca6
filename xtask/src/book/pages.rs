//! The pages of the book, and their order.
//!
//! Invariant: a page lies in the book where it lies in the repository, so that links between pages stay right.

use std::path::{Path, PathBuf};

use super::command_line;
use crate::{Result, files};

/// Parts of the book, each with its pages; a name that ends with `/` is a folder, whose pages come below its first one.
const PARTS: &[(&str, &[&str])] = &[
    ("Tutorial", &["docs/tutorial.md"]),
    (
        "How to",
        &[
            "docs/usage.md",
            "docs/builds.md",
            "docs/compile.md",
            "docs/verify.md",
            "docs/report.md",
            "docs/project.md",
            "docs/fortran.md",
            "docs/cuda.md",
            "docs/advise.md",
            "packaging/README.md",
        ],
    ),
    (
        "Reference",
        &[
            command_line::PAGE,
            "rules/coverage.md",
            "rules/README.md",
            "rules/directive/",
            "rules/clause/",
            "rules/implicit/",
            "rules/api/",
            "rules/diag/",
            "docs/limits.md",
        ],
    ),
    (
        "Explanation",
        &[
            "docs/architecture.md",
            "rules/schedule.md",
            "docs/conformance.md",
            "docs/speed.md",
            "docs/robustness.md",
            "docs/ports.md",
            "benches/README.md",
        ],
    ),
    ("Development", &["docs/contributing.md", "docs/style.md", "CHANGELOG.md"]),
];

/// Folders and files that pages show or link.
const COPIED: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "LICENSE-CC0",
    ".pre-commit-hooks.yaml",
    "docs",
    "rules",
    "packaging",
    "schemas",
    "benches/README.md",
    "benches/translate.rs",
    "benches/openmp/forms.c",
];

/// Titles of the folders of pages.
const FOLDERS: &[(&str, &str)] = &[
    ("rules/directive/", "Directives"),
    ("rules/clause/", "Clauses"),
    ("rules/implicit/", "Implicit rules"),
    ("rules/api/", "Run-time library"),
    ("rules/diag/", "Diagnostics"),
];

/// Puts the sources of the book into a folder; the pages that it has.
pub fn write(root: &Path, out: &Path) -> Result<Vec<String>> {
    for name in COPIED {
        files::copy(&root.join(name), &out.join(name))?;
    }
    files::write(&out.join(command_line::PAGE), command_line::page().as_bytes())?;
    let mut summary = "# Summary\n\n[acc2omp](README.md)\n".to_owned();
    let mut chapters = vec!["README.md".to_owned()];
    for (part, names) in PARTS {
        summary += &format!("\n# {part}\n\n");
        for name in *names {
            let pages = if name.ends_with('/') { folder(out, name)? } else { vec![(*name).to_owned()] };
            if let Some((_, title)) = FOLDERS.iter().find(|(folder, _)| folder == name) {
                summary += &format!("- [{title}]()\n");
            }
            let indent = if name.ends_with('/') { "  " } else { "" };
            for page in pages {
                let title = title(&files::read(&out.join(&page))?);
                summary += &format!("{indent}- [{title}]({page})\n");
                chapters.push(page);
            }
        }
    }
    files::write(&out.join("SUMMARY.md"), summary.as_bytes())?;
    Ok(chapters)
}

/// The pages of a folder, sorted.
fn folder(out: &Path, name: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(out.join(name)).map_err(|error| format!("{name}: {error}"))?;
    let paths = entries.flatten().map(|entry| PathBuf::from(name).join(entry.file_name()));
    let pages = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut pages: Vec<String> = pages.map(|path| path.display().to_string()).collect();
    pages.sort();
    Ok(pages)
}

/// The first heading of a page.
fn title(page: &str) -> String {
    let heading = page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("?");
    heading.replace('[', "\\[").replace(']', "\\]")
}
