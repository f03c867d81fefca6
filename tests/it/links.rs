//! Links between pages lead somewhere: to a file of the repository, and to a heading that is there.
//!
//! Invariant: links to other sites are not followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{files, root, shown, text};

/// The pages.
fn pages() -> Vec<PathBuf> {
    let pages = ["docs", "rules", "packaging", "benches"].into_iter().flat_map(files);
    let pages = pages.chain(["README.md", "CHANGELOG.md"].into_iter().map(root));
    pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// What a page links, and the anchors of its headings.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: Vec<String>,
}

fn read(markdown: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let same =
                    |one: &&String| one.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-') == anchor;
                let again = page.anchors.iter().filter(same).count();
                page.anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor of a heading, as code hosts and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
}

/// The path of a link from a page, without `..`.
fn target(page: &Path, link: &str) -> PathBuf {
    let mut path = page.with_file_name("");
    for part in Path::new(link).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[test]
fn links_lead_to_files_and_headings() {
    let read: BTreeMap<PathBuf, Page> =
        pages().into_iter().map(|path| (path.clone(), read(&text(path)))).collect();
    let mut wrong = Vec::new();
    for (path, page) in &read {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (name, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if name.is_empty() { path.clone() } else { target(path, name) };
            if !to.exists() {
                wrong.push(format!("{}: there is no `{link}`", shown(path)));
            } else if !anchor.is_empty()
                && !read.get(&to).is_some_and(|page| page.anchors.iter().any(|one| one == anchor))
            {
                wrong.push(format!("{}: no heading for `{link}`", shown(path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn headings_have_the_anchors_of_code_hosts() {
    let page =
        read("# On a GPU\n\n## `kernels` and `loop auto`\n\n## What is done?\n\n## On a GPU\n[x](a.md#b)\n");
    assert_eq!(page.anchors, ["on-a-gpu", "kernels-and-loop-auto", "what-is-done", "on-a-gpu-1"]);
    assert_eq!(page.links, ["a.md#b"]);
    assert_eq!(target(Path::new("/r/docs/a.md"), "../rules/b.md"), Path::new("/r/rules/b.md"));
}
