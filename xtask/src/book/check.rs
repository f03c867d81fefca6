//! Whether a site is whole: its pages, its links, its index for the search.
//!
//! Invariant: reads the site alone, as a browser would.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Result, files};

/// Words that the search must find: a code, a clause, an option, a word of an explanation.
const SEARCHED: [&str; 4] = ["a0205", "no_create", "existing-omp", "invariant"];

/// The faults of a site, a line each.
pub fn site(out: &Path, chapters: &[String]) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut texts = BTreeMap::new();
    for chapter in chapters {
        let path = page(chapter);
        match files::read(&out.join(&path)) {
            Ok(text) => drop(texts.insert(path, text)),
            Err(why) => wrong.push(why),
        }
    }
    for (path, text) in &texts {
        for link in links(text).into_iter().filter(|link| !leads_somewhere(out, path, link, &texts)) {
            wrong.push(format!("{}: `{link}` leads nowhere", path.display()));
        }
    }
    wrong.extend(unsearchable(out)?);
    Ok(wrong)
}

/// Where the page of a chapter is.
fn page(chapter: &str) -> PathBuf {
    Path::new(chapter).with_extension("html")
}

/// The targets of all links and pictures of a page.
fn links(text: &str) -> Vec<&str> {
    let after = text.split("href=\"").skip(1).chain(text.split("src=\"").skip(1));
    after.filter_map(|rest| rest.split('"').next()).collect()
}

fn leads_somewhere(out: &Path, from: &Path, link: &str, texts: &BTreeMap<PathBuf, String>) -> bool {
    if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
        return true;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { from.to_owned() } else { joined(from, path) };
    if anchor.is_empty() {
        return out.join(&target).exists();
    }
    let id = format!("id=\"{anchor}\"");
    texts.get(&target).is_some_and(|text| text.contains(&id))
}

/// The path of a link, from the folder of its page.
fn joined(from: &Path, link: &str) -> PathBuf {
    let mut path = from.with_file_name("");
    for part in Path::new(link).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// What the index for the search does not have.
fn unsearchable(out: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let is_index = |name: &str| name.starts_with("searchindex") && name.ends_with(".js");
    let index = entries.flatten().find(|entry| entry.file_name().to_str().is_some_and(is_index));
    let Some(index) = index else { return Ok(vec!["there is no index for the search".to_owned()]) };
    let text = files::read(&index.path())?.to_lowercase();
    let missing = SEARCHED.iter().filter(|word| !text.contains(**word));
    Ok(missing.map(|word| format!("the search does not find `{word}`")).collect())
}
