//! `explain` and `rules`: prints pages.
//!
//! Invariant: a page is printed as it stands in the repository; after that of a code stands what the code concerns.

use super::{Verdict, fail, print};
use crate::SUPPORT;
use crate::diag::{Code, pages};

/// Prints the page of a diagnostic, or the list of all codes.
pub fn code(code: Option<&str>) -> Verdict {
    let Some(text) = code else {
        let lines = pages::PAGES.iter().map(|(code, ..)| match pages::title(*code) {
            Some(title) => format!("{code}  {title}\n"),
            None => format!("{code}\n"),
        });
        return print(lines.collect::<String>().as_bytes());
    };
    let known = text.parse::<Code>().ok().and_then(|code| Some((code, pages::page(code)?)));
    match known {
        Some((code, page)) => {
            print(format!("{page}\n## Where\n\n{}\n", pages::concern(code).sentence()).as_bytes())
        }
        None => fail(&format!("no diagnostic has the code `{text}`; `acc2omp explain` lists them all")),
    }
}

/// Prints the pages of a rule, the support header, or the list of all rules. A name is a page's (`present`) or its path (`clause/present`).
pub fn rule(name: Option<&str>) -> Verdict {
    let Some(name) = name else {
        return print(crate::rules::index(crate::rules::rules()).as_bytes());
    };
    if name == SUPPORT {
        return print(crate::whole_support().as_bytes());
    }
    let pages: Vec<&str> = crate::rules::rules().named(name).map(|page| page.text.as_str()).collect();
    if pages.is_empty() {
        return fail(&format!("no rule is called `{name}`; `acc2omp rules` lists them all"));
    }
    print(pages.join("\n").as_bytes())
}
