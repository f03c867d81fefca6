//! A page to review a translation in a browser: one file that needs nothing else.
//!
//! Invariant: the page loads nothing from anywhere; what a source says is never read as HTML.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Serialize;
use similar::{Algorithm, DiffOp};

use super::diff::changes;
use super::record::{Report, Whole};
use crate::diag::pages;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The two texts of a file.
#[derive(Serialize)]
struct Texts<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The lines of both that stand beside each other, from one, 0 for none; and whether they are the same.
    rows: Vec<(usize, usize, u8)>,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    whole: Whole<'a>,
    texts: BTreeMap<&'a str, Texts<'a>>,
    pages: BTreeMap<String, String>,
}

impl Report {
    /// The report as a page.
    pub fn html(&self) -> String {
        let texts = self.files.iter().filter_map(|file| {
            let (old, new) = file.texts.as_ref()?;
            Some((file.file.as_str(), Texts::of(old, new)))
        });
        let codes = self
            .codes()
            .into_iter()
            .filter_map(|(code, _)| Some((code.to_string(), as_html(pages::page(code)?))));
        let rules = self.pages.iter().map(|(name, text)| (name.clone(), as_html(text)));
        let data = Data { whole: self.whole(), texts: texts.collect(), pages: codes.chain(rules).collect() };
        // Nothing in the data can end the element that it stands in.
        let data = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
        let parts = [("@style@", STYLE), ("@script@", SCRIPT), ("@data@", &data)];
        parts.iter().fold(PAGE.to_owned(), |page, (name, text)| page.replacen(name, text, 1))
    }
}

impl<'a> Texts<'a> {
    fn of(old: &'a str, new: &'a str) -> Texts<'a> {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let [before, after] =
            [&old, &new].map(|lines| lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
        let mut rows = Vec::with_capacity(new.len());
        for op in changes(Algorithm::Myers, &before, &after) {
            let (before, after) = (op.old_range(), op.new_range());
            let is_same = matches!(op, DiffOp::Equal { .. });
            for at in 0..before.len().max(after.len()) {
                let number =
                    |range: &std::ops::Range<usize>| if at < range.len() { range.start + at + 1 } else { 0 };
                rows.push((number(&before), number(&after), u8::from(is_same)));
            }
        }
        Texts { old, new, rows }
    }
}

/// A page of Markdown, without the block that the program reads. HTML in it is shown as text.
fn as_html(text: &str) -> String {
    let mut is_hidden = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(move |event| match event {
        Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(ref info)))
            if &**info == "toml rule" =>
        {
            is_hidden = true;
            None
        }
        Event::End(TagEnd::CodeBlock) if is_hidden => {
            is_hidden = false;
            None
        }
        _ if is_hidden => None,
        // Pages link files that a report does not have.
        Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => None,
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        event => Some(event),
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

#[cfg(test)]
mod tests;
