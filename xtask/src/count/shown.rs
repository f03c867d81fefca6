//! Reads what a preprocessor has written.
//!
//! Invariant: a directive's place is that of the line which the preprocessor names, in the file that it names.

use std::collections::BTreeMap;

/// How a directive's line begins in Fortran, in any case; all but the first in the first column only.
const SENTINELS: [&str; 3] = ["!$acc", "c$acc", "*$acc"];

/// How many directives a preprocessed text shows, by file and line from 1. In Fortran each line of a directive counts.
pub fn directives(name: &str, text: &str, is_fortran: bool) -> BTreeMap<(String, usize), usize> {
    let mut found = BTreeMap::new();
    let (mut file, mut line) = (name.to_owned(), 1);
    let text = if is_fortran { text.to_owned() } else { without_raw_strings(text) };
    for text in text.lines() {
        if let Some((number, name)) = marker(text) {
            (file, line) = (name, number);
            continue;
        }
        let is_directive = if is_fortran { is_sentinel(text) } else { is_pragma(text) };
        if is_directive {
            *found.entry((file.clone(), line)).or_insert(0) += 1;
        }
        line += 1;
    }
    found
}

/// The text of C or C++ with nothing but line ends in `R"tag(…)tag"`.
fn without_raw_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("R\"") {
        let end = after.split_once('(').filter(|(tag, _)| tag.len() <= 16 && !tag.contains([' ', '"', '\n']));
        let inside = end.and_then(|(tag, inside)| inside.split_once(&format!("){tag}\"")));
        out.push_str(before);
        out.push_str("R\"");
        rest = match inside {
            Some((inside, rest)) => {
                out.extend(inside.chars().filter(|c| *c == '\n'));
                rest
            }
            None => after,
        };
    }
    out + rest
}

/// The line and the file of `# 12 "a.c" 3`.
fn marker(text: &str) -> Option<(usize, String)> {
    let (number, rest) = text.strip_prefix("# ")?.split_once(" \"")?;
    let (name, _) = rest.rsplit_once('"')?;
    Some((number.parse().ok()?, name.to_owned()))
}

fn is_pragma(text: &str) -> bool {
    let words = text.trim_start().strip_prefix('#').map(str::split_whitespace);
    words.is_some_and(|mut words| words.next() == Some("pragma") && words.next() == Some("acc"))
}

fn is_sentinel(text: &str) -> bool {
    let is = |text: &str, sentinel: &str| {
        let (head, rest) = text.split_at_checked(sentinel.len()).unwrap_or_default();
        let ends = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        head.eq_ignore_ascii_case(sentinel) && ends && !rest.trim().is_empty()
    };
    is(text.trim_start(), SENTINELS[0]) || SENTINELS[1..].iter().any(|one| is(text, one))
}

/// A macro that a text defines.
#[derive(Debug, PartialEq, Eq)]
pub struct Define {
    /// Its name.
    pub name: String,
    /// Its first and its last line, from 1.
    pub lines: (usize, usize),
    /// The words of its body, and of its parameters.
    pub words: Vec<String>,
    /// Its body puts names together.
    pub pastes: bool,
}

/// The macros that a text defines, in all branches.
pub fn defines(text: &str) -> Vec<Define> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (whole, last) = logical(&lines, at);
        let code = whole.trim_start().strip_prefix('#').map(str::trim_start);
        if let Some(rest) = code.and_then(|code| code.strip_prefix("define")) {
            let mut words = words(rest);
            if !words.is_empty() {
                let name = words.remove(0);
                let pastes = rest.contains("##");
                found.push(Define { name, lines: (at + 1, last + 1), words, pastes });
            }
        }
        at = last + 1;
    }
    found
}

/// A line with those that continue it, and the number of the last one.
pub fn logical(lines: &[&str], first: usize) -> (String, usize) {
    let mut whole = String::new();
    for (at, line) in lines.iter().enumerate().skip(first) {
        match line.trim_end().strip_suffix('\\') {
            Some(line) => whole = whole + line + " ",
            None => return (whole + line, at),
        }
    }
    (whole, lines.len().saturating_sub(1))
}

/// The identifiers of a text.
pub fn words(text: &str) -> Vec<String> {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !is_inner(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The names that conditions ask for.
pub fn asked(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(code) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        if !(code.starts_with("if") || code.starts_with("elif")) {
            continue;
        }
        for word in words(code).into_iter().skip(1) {
            let is_name = word != "defined" && word.starts_with(|c: char| c.is_alphabetic());
            if is_name && !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_fortran: bool, wanted: &[(&str, usize, usize)]) {
        let found = directives("a", text, is_fortran);
        let found: Vec<_> =
            found.iter().map(|((file, line), count)| (file.as_str(), *line, *count)).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn places_are_those_of_the_markers() {
        let text = "# 1 \"a.c\"\nint x;\n#pragma acc loop\n# 9 \"a.c\"\n#pragma acc data\n# 9 \"a.c\"\n #pragma acc loop\n";
        check(text, false, &[("a.c", 2, 1), ("a.c", 9, 2)]);
        check(
            "# 3 \"b.h\" 1 3\n#pragma omp loop\n#pragma accurate\n#pragma acc wait",
            false,
            &[("b.h", 5, 1)],
        );
    }

    #[test]
    fn raw_strings_show_nothing() {
        check("f(R\"x(\n#pragma acc loop\n)\")x\");\n#pragma acc loop\n", false, &[("a", 4, 1)]);
    }

    #[test]
    fn each_line_with_a_sentinel_counts() {
        check(
            "!$acc data &\n\n!$ACC& copy(a)\nc$acc loop\n c$acc loop\n!$accu\n!$acc\n",
            true,
            &[("a", 1, 1), ("a", 3, 1), ("a", 4, 1)],
        );
    }

    #[test]
    fn macros_have_their_lines() {
        let found = defines("int x;\n # define A(x) B(acc \\\n  x)\n#define C\n#undef C\n");
        let named: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.lines, one.words.len())).collect();
        assert_eq!(named, [("A", (2, 3), 4), ("C", (4, 4), 0)]);
    }
}
