//! Reads the pages: one `toml rule` fence, and example fences.
//!
//! Invariant: every fence has a known tag, so that no example is skipped for a typing error.

use std::collections::BTreeMap;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::check;
use super::rule::{CudaRow, Row, Situation};
use crate::source::{Form, Language};

/// All pages.
#[derive(Debug, Default)]
pub struct Rules {
    pages: BTreeMap<String, Page>,
    /// The entry of the page about each routine and name of the run-time library.
    routines: BTreeMap<String, String>,
}

/// One page.
#[derive(Clone, Debug)]
pub struct Page {
    /// `clause/present`
    pub entry: String,
    /// The first heading's text.
    pub title: String,
    /// The sentence below it.
    pub summary: String,
    /// The directives it may stand on.
    pub on: Vec<String>,
    /// The routines and names that it is about; none for a page about a directive, a clause or an implicit rule.
    pub names: Vec<String>,
    /// The names of a routine's arguments; `None` for a name that is not called.
    pub args: Option<Vec<String>>,
    /// Calls of the routine are untranslated in Fortran.
    pub c_only: bool,
    /// The section that defines the word.
    pub cite: String,
    /// The whole page.
    pub text: String,
    /// The rows.
    pub rows: Vec<Row>,
    /// The rows about CUDA.
    pub cuda: Vec<CudaRow>,
    /// The examples.
    pub examples: Vec<Example>,
}

/// An example fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The heading it stands under.
    pub heading: String,
    /// The language it is written in.
    pub language: Language,
    /// The OpenMP version it is translated for.
    pub version: u8,
    /// The program around it.
    pub scene: Option<String>,
    /// The example's lines stand at file scope.
    pub at_top: bool,
    /// The codes that it must raise.
    pub codes: Vec<String>,
    /// It must stay as it is.
    pub keep: bool,
    /// No compiler that the tests use builds it before translation.
    pub unbuilt: bool,
    /// The fence's content as written.
    pub body: String,
    /// It is translated without queues.
    pub sync: bool,
    /// Its loops are `loop` constructs, where these may stand.
    pub by_loops: bool,
    /// The bytes of the content in the page.
    pub range: std::ops::Range<usize>,
}

/// What is wrong with a page, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The page's path.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Example {
    /// The end of the names of its scene's file and of its program's.
    pub fn ending(&self) -> &'static str {
        if self.language.is_fortran() { "f90" } else { "c" }
    }

    /// The comment in the scene where the example goes.
    pub fn mark(&self) -> &'static str {
        match (self.language.is_fortran(), self.at_top) {
            (false, false) => "//@body",
            (false, true) => "//@top",
            (true, false) => "!@body",
            (true, true) => "!@top",
        }
    }

    /// The lines before translation.
    pub fn input(&self) -> String {
        self.side('-')
    }

    /// The lines after translation.
    pub fn output(&self) -> String {
        self.side('+')
    }

    fn side(&self, marker: char) -> String {
        let lines = self.body.lines().filter_map(|line| {
            let mut rest = line.chars();
            match rest.next() {
                _ if self.keep => Some(line.to_owned()),
                Some(' ') => Some(rest.collect()),
                Some(first) if first == marker => Some(rest.collect()),
                Some('-' | '+') => None,
                _ => Some(line.to_owned()),
            }
        });
        lines.map(|line| line + "\n").collect()
    }
}

impl Rules {
    /// Reads and checks pages, each a path below `rules/` and its text.
    pub fn load(files: &[(&str, &str)]) -> Result<Rules, Vec<LoadError>> {
        let mut rules = Rules::default();
        let mut errors = Vec::new();
        for (path, text) in files {
            match read(path, text) {
                Ok(page) => {
                    let named = page.names.iter().map(|name| (name.clone(), page.entry.clone()));
                    rules.routines.extend(named);
                    rules.pages.insert(page.entry.clone(), page);
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(rules) } else { Err(errors) }
    }

    /// The row of page `entry` that applies: the newest one that `version` knows.
    pub fn row(&self, entry: &str, situation: &Situation, version: u8) -> Option<&Row> {
        let rows = &self.pages.get(entry)?.rows;
        rows.iter().filter(|row| row.since <= version && situation.fits(row)).max_by_key(|row| row.since)
    }

    /// The page about a routine or name of the run-time library.
    pub fn routine(&self, name: &str) -> Option<&Page> {
        self.pages.get(self.routines.get(name)?)
    }

    /// The pages called `name`: `present`, or `clause/present`.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Page> {
        let fits = move |page: &&Page| {
            page.entry == name
                || page.entry.rsplit('/').next() == Some(name)
                || page.names.iter().any(|known| known == name)
        };
        self.pages.values().filter(fits)
    }

    /// All pages by entry.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.values()
    }
}

fn read(path: &str, text: &str) -> Result<Page, LoadError> {
    let fail = |offset: usize, message: String| {
        let line = text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
        LoadError { path: path.to_owned(), line, message }
    };
    let parts = parts(text).map_err(|(offset, message)| fail(offset, message))?;
    let Some((rule, start)) = parts.rule else {
        return Err(fail(0, "the page has no `toml rule` fence".into()));
    };
    let raw = toml::from_str(&rule).map_err(|error: toml::de::Error| {
        fail(start + error.span().map_or(0, |span| span.start), error.message().to_owned())
    })?;
    let entry = path.strip_suffix(".md").unwrap_or(path).to_owned();
    let checked = check::page(&entry, raw).map_err(|(offset, message)| fail(start + offset, message))?;
    if parts.examples.is_empty() {
        return Err(fail(text.len(), "the page has no example".into()));
    }
    Ok(Page {
        entry,
        title: parts.title,
        summary: parts.summary,
        on: checked.on,
        names: checked.names,
        args: checked.args,
        c_only: checked.c_only,
        cite: checked.cite,
        text: text.to_owned(),
        rows: checked.rows,
        cuda: checked.cuda,
        examples: parts.examples,
    })
}

#[derive(Default)]
struct Parts {
    title: String,
    summary: String,
    rule: Option<(String, usize)>,
    examples: Vec<Example>,
}

/// Takes a page's Markdown apart.
fn parts(text: &str) -> Result<Parts, (usize, String)> {
    let mut parts = Parts::default();
    let mut heading = String::new();
    let mut fence: Option<(String, usize)> = None;
    let mut body = String::new();
    let mut body_range = 0..0;
    let mut in_heading = false;
    let mut in_summary = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                heading.clear();
                in_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => {
                in_heading = false;
                if parts.title.is_empty() {
                    parts.title = heading.clone();
                }
            }
            Event::Start(Tag::Paragraph) => in_summary = parts.summary.is_empty(),
            Event::End(TagEnd::Paragraph) => in_summary = false,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(tag))) => {
                fence = Some((tag.to_string(), range.start));
                body.clear();
                body_range = range.start..range.start;
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((tag, start)) = fence.take() {
                    let example = fenced(&tag, start, &heading, &body, body_range.clone(), &mut parts.rule)?;
                    parts.examples.extend(example);
                }
            }
            Event::Text(words) if fence.is_some() => {
                if body.is_empty() {
                    body_range = range.clone();
                }
                body_range.end = range.end;
                body.push_str(&words);
            }
            Event::Text(words) if in_heading => heading.push_str(&words),
            Event::Code(words) if in_heading => heading.push_str(&words),
            Event::Text(words) if in_summary => parts.summary.push_str(&words),
            Event::Code(words) if in_summary => parts.summary.push_str(&format!("`{words}`")),
            Event::SoftBreak if in_summary => parts.summary.push(' '),
            _ => {}
        }
    }
    Ok(parts)
}

fn fenced(
    tag: &str,
    start: usize,
    heading: &str,
    body: &str,
    range: std::ops::Range<usize>,
    rule: &mut Option<(String, usize)>,
) -> Result<Option<Example>, (usize, String)> {
    let words: Vec<&str> = tag.split_whitespace().collect();
    let unknown = || (start, format!("unknown fence tag `{tag}`"));
    match words.as_slice() {
        ["toml", "rule"] if rule.is_some() => Err((start, "the page has two `toml rule` fences".into())),
        ["toml", "rule"] => {
            *rule = Some((body.to_owned(), range.start));
            Ok(None)
        }
        ["text"] => Ok(None),
        ["diff", language, more @ ..] => {
            let language = language_named(language).ok_or_else(unknown)?;
            example(Fence { keep: false, language, start }, more, heading, body, range).map(Some)
        }
        [language, "keep", more @ ..] => {
            let language = language_named(language).ok_or_else(unknown)?;
            example(Fence { keep: true, language, start }, more, heading, body, range).map(Some)
        }
        _ => Err(unknown()),
    }
}

/// The language of examples that a fence's tag names.
fn language_named(word: &str) -> Option<Language> {
    match word {
        "c" => Some(Language::C),
        "fortran" => Some(Language::Fortran(Form::Free)),
        _ => None,
    }
}

/// What the first words of an example's fence say, and where it stands.
struct Fence {
    keep: bool,
    language: Language,
    start: usize,
}

fn example(
    fence: Fence,
    options: &[&str],
    heading: &str,
    body: &str,
    range: std::ops::Range<usize>,
) -> Result<Example, (usize, String)> {
    let Fence { keep, language, start } = fence;
    let mut example = Example {
        heading: heading.to_owned(),
        language,
        version: 45,
        scene: None,
        at_top: false,
        codes: Vec::new(),
        keep,
        unbuilt: false,
        sync: false,
        by_loops: false,
        body: body.to_owned(),
        range,
    };
    for option in options {
        match option.split_once('=') {
            Some(("omp", version)) => {
                example.version =
                    version.parse().map_err(|_| (start, format!("unknown version `{version}`")))?;
            }
            Some(("scene", scene)) => example.scene = Some(scene.to_owned()),
            Some(("code", codes)) => example.codes = codes.split(',').map(str::to_owned).collect(),
            Some(("at", "top")) => example.at_top = true,
            None if *option == "unbuilt" => example.unbuilt = true,
            None if *option == "sync" => example.sync = true,
            Some(("nest", "loop")) => example.by_loops = true,
            _ => return Err((start, format!("unknown fence option `{option}`"))),
        }
    }
    Ok(example)
}

/// The page with the `+` lines of each diff fence made anew from `translated(example)`.
pub fn with_outputs(text: &str, page: &Page, translated: &dyn Fn(&Example) -> String) -> String {
    let mut out = text.to_owned();
    for example in page.examples.iter().rev().filter(|example| !example.keep) {
        let (input, output) = (example.input(), translated(example));
        let diff = similar::TextDiff::from_lines(&input, &output);
        let lines = diff.iter_all_changes().map(|change| match change.tag() {
            similar::ChangeTag::Equal if change.value().trim().is_empty() => "\n".to_owned(),
            similar::ChangeTag::Equal => format!(" {}", change.value()),
            similar::ChangeTag::Delete => format!("-{}", change.value()),
            similar::ChangeTag::Insert => format!("+{}", change.value()),
        });
        out.replace_range(example.range.clone(), &lines.collect::<String>());
    }
    out
}
