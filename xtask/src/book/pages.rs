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
            "packaging/index.md",
        ],
    ),
    (
        "Reference",
        &[
            command_line::PAGE,
            "rules/coverage.md",
            "rules/index.md",
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
            "docs/verify-tried.md",
            "benches/index.md",
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
    adapt(root, out, out)?;
    files::write(&out.join(command_line::PAGE), command_line::page().as_bytes())?;
    let mut summary = "# Summary\n\n[acc2omp](index.md)\n".to_owned();
    let mut chapters = vec!["index.md".to_owned()];
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

/// Makes pages of the repository pages of a site, folder by folder: `README.md` is `index.md`, and folders have no links.
fn adapt(root: &Path, out: &Path, folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            adapt(root, out, &path)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let here = folder.strip_prefix(out).unwrap_or(folder);
            let text = without_folders(&files::read(&path)?, &root.join(here));
            let text = text.replace("README.md)", "index.md)").replace("README.md#", "index.md#");
            std::fs::remove_file(&path).map_err(failed)?;
            let is_readme = path.file_name().is_some_and(|name| name == "README.md");
            let path = if is_readme { path.with_file_name("index.md") } else { path };
            files::write(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// A page without its links to folders, which a site does not show.
fn without_folders(page: &str, folder: &Path) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, rest_of_page)) = after.split_once(')') else { break };
        match before.rsplit_once('[') {
            Some((text, name)) if folder.join(target).is_dir() && !target.is_empty() => {
                out += &format!("{text}{name}");
            }
            _ => out += &format!("{before}]({target})"),
        }
        rest = rest_of_page;
    }
    out + rest
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
