//! `explain` and `rules`: prints pages.
//!
//! Invariant: a page is printed as it stands in the repository; after that of a code stands what the code concerns.

use super::{Verdict, fail, print};
use crate::SUPPORT;
use crate::acc::nearest;
use crate::diag::{Code, pages};

/// Prints the pages of diagnostics, or the list of all codes.
pub fn codes(codes: &[String]) -> Verdict {
    if codes.is_empty() {
        let lines = pages::PAGES.iter().map(|(code, ..)| match pages::title(*code) {
            Some(title) => format!("{code}  {title}\n"),
            None => format!("{code}\n"),
        });
        return print(lines.collect::<String>().as_bytes());
    }
    let mut found = Vec::new();
    for text in codes {
        let known = text.parse::<Code>().ok().and_then(|code| Some((code, pages::page(code)?)));
        let Some((code, page)) = known else {
            return fail(&format!("no diagnostic has the code `{text}`; `acc2omp explain` lists them all"));
        };
        found.push(format!("{page}\n## Where\n\n{}\n", pages::concern(code).sentence()));
    }
    print(found.join("\n").as_bytes())
}

/// Prints the pages of a rule, the support header, or the list of all rules. A name is a page's (`present`) or its path (`clause/present`).
pub fn rule(name: Option<&str>) -> Verdict {
    let Some(name) = name else {
        return print(crate::rules::index(crate::rules::rules()).as_bytes());
    };
    if name == SUPPORT {
        return print(crate::whole_support().as_bytes());
    }
    // A directive of several words: its page has hyphens between them.
    let name = name.split_whitespace().collect::<Vec<_>>().join("-");
    let rules = crate::rules::rules();
    let pages: Vec<&str> = rules.named(&name).map(|page| page.text.as_str()).collect();
    if pages.is_empty() {
        let index = crate::rules::index(rules);
        let names = index.lines().filter_map(|line| line.split_whitespace().next()?.rsplit('/').next());
        let near = nearest(&name, names);
        let near = near.map_or(";".to_owned(), |near| format!(": did you mean `{near}`?"));
        return fail(&format!("no rule is called `{name}`{near} `acc2omp rules` lists them all"));
    }
    print(pages.join("\n").as_bytes())
}
