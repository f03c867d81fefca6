//! `explain` and `rules`: prints pages.
//!
//! Invariant: a page is printed as it stands in the repository.

use super::{Verdict, fail, print};
use crate::diag::{Code, pages};

/// Prints the page of a diagnostic, or the list of all codes.
pub fn code(code: Option<&str>) -> Verdict {
    let Some(text) = code else {
        let lines = pages::PAGES.iter().map(|(code, _)| match pages::title(*code) {
            Some(title) => format!("{code}  {title}\n"),
            None => format!("{code}\n"),
        });
        return print(lines.collect::<String>().as_bytes());
    };
    match text.parse::<Code>().ok().and_then(pages::page) {
        Some(page) => print(page.as_bytes()),
        None => fail(&format!("no diagnostic has the code `{text}`; `acc2omp explain` lists them all")),
    }
}

/// Prints the page of a rule, or the list of all names. A name is a page's (`present`) or its path (`clause/present`).
pub fn rule(name: Option<&str>) -> Verdict {
    let Some(name) = name else {
        return print(RULES.iter().map(|(path, _)| format!("{path}\n")).collect::<String>().as_bytes());
    };
    let fits = |path: &str| path == name || path.rsplit('/').next() == Some(name);
    let pages: Vec<&str> = RULES.iter().filter(|(path, _)| fits(path)).map(|(_, page)| *page).collect();
    if pages.is_empty() {
        return fail(&format!("no rule is called `{name}`; `acc2omp rules` lists them all"));
    }
    print(pages.join("\n").as_bytes())
}

/// The pages of the `rules` room by path, without the ending.
const RULES: &[(&str, &str)] = &[];
