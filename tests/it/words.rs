//! The words of pages, messages, help and comments: plain technical English (docs/style.md).
//!
//! Invariant: a phrase of the list stands nowhere that people read, but in this list and on the page that explains it.

use super::{files, root, shown, text};

/// A phrase, what to write for it, and the words before and after it with which it is something else.
struct Phrase {
    words: &'static [&'static str],
    plain: &'static str,
    fine_after: &'static [&'static str],
    fine_before: &'static [&'static str],
}

const fn phrase(words: &'static [&'static str], plain: &'static str) -> Phrase {
    Phrase { words, plain, fine_after: &[], fine_before: &[] }
}

/// `there is no X` and `is no longer` are plain; `X is no Y` is not.
const fn is_no(words: &'static [&'static str]) -> Phrase {
    let fine_before = &["longer", "more", "less", "larger", "smaller", "better", "worse", "farther", "room"];
    Phrase { words, plain: "is not a", fine_after: &["there"], fine_before }
}

/// `is left to the compiler` is plain; `the directive is left` is not.
const fn is_left(words: &'static [&'static str]) -> Phrase {
    let fine_before = &["untranslated", "to", "out", "over", "open", "empty", "unchanged"];
    Phrase { words, plain: "is untranslated, or: remains", fine_after: &[], fine_before }
}

/// The phrases; `docs/style.md` says why.
const PHRASES: &[Phrase] = &[
    phrase(&["behind"], "after, or: that a pointer leads to"),
    is_no(&["is", "no"]),
    is_no(&["are", "no"]),
    is_no(&["was", "no"]),
    is_no(&["were", "no"]),
    is_left(&["is", "left"]),
    is_left(&["are", "left"]),
    is_left(&["was", "left"]),
    is_left(&["were", "left"]),
    is_left(&["stays", "left"]),
    phrase(&["told"], "reported, given, known"),
    phrase(&["tells", "of"], "reports"),
    phrase(&["tell", "of"], "report"),
    phrase(&["heed"], "apply"),
    phrase(&["heeds"], "applies"),
    phrase(&["heeded"], "applied"),
    phrase(&["stuck"], "not extractable"),
    phrase(&["twin"], "device counterpart"),
    phrase(&["twins"], "device counterparts"),
    phrase(&["speaks", "of"], "is about"),
    phrase(&["speak", "of"], "are about"),
    phrase(&["spoken", "of"], "mentioned, reported"),
    phrase(&["says", "yes"], "returns true"),
    phrase(&["bring", "home"], "copy back"),
    phrase(&["brings", "home"], "copies back"),
    phrase(&["brought", "home"], "copied back"),
    phrase(&["share", "out"], "distribute"),
    phrase(&["shares", "out"], "distributes"),
    phrase(&["shared", "out"], "distributed"),
    phrase(&["shares", "them", "out"], "distributes them"),
    phrase(&["truth", "value"], "logical value"),
    phrase(&["truth", "values"], "logical values"),
    phrase(&["lead", "to", "the", "same", "memory"], "alias"),
    phrase(&["leads", "to", "the", "same", "memory"], "aliases"),
    phrase(&["in", "its", "place"], "inline, instead"),
    phrase(&["in", "their", "place"], "inline, instead"),
    phrase(&["in", "the", "place", "of"], "in place of"),
    phrase(&["parted"], "split"),
    phrase(&["is", "no", "matter"], "does not matter"),
    phrase(&["unified", "difference"], "unified diff"),
    phrase(&["but", "for"], "except"),
];

/// The page that shows the phrases, and the file that lists them.
const ABOUT_WORDS: [&str; 2] = ["docs/style.md", "tests/it/words.rs"];

/// The phrases of a line, each with what to write.
fn found(line: &str) -> Vec<String> {
    let lower = line.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for one in PHRASES {
        for (at, window) in words.windows(one.words.len()).enumerate() {
            let before = at.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
            let after = words.get(at + one.words.len()).copied().unwrap_or_default();
            if window == one.words && !one.fine_after.contains(&before) && !one.fine_before.contains(&after) {
                found.push(format!("`{}`; write: {}", one.words.join(" "), one.plain));
            }
        }
    }
    found
}

/// A line without what stands in backticks, which are a program's own words.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" x ")
}

/// Fences whose sentences are read as prose: rules, and comments beside commands.
const SHOWN: [&str; 3] = ["toml rule", "console", "sh"];

/// The prose of a page.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (line, number) in page.lines().zip(1..) {
        let mark = line.trim_start();
        let ticks = mark.chars().take_while(|c| *c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some((ticks, SHOWN.iter().any(|one| mark.ends_with(one)))),
            None => lines.push((number, without_code(line))),
            Some((opened, _)) if ticks >= opened && mark.len() == ticks => fence = None,
            Some((_, true)) => lines.push((number, without_code(line))),
            Some(_) => {}
        }
    }
    lines
}

/// A literal without what is filled in.
fn without_holes(literal: &str) -> String {
    literal
        .split('{')
        .map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest))
        .collect::<Vec<_>>()
        .join("x")
}

/// The comments of a source; and, where messages come from, the literals that hold sentences.
fn said(source: &str, has_messages: bool) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut is_test = false;
    for (line, number) in source.lines().zip(1..) {
        is_test |= line == "mod tests {";
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        lines.push((number, without_code(comment)));
        let literals = code.split('"').skip(1).step_by(2).filter(|literal| literal.contains(' '));
        if has_messages && !is_test {
            lines.extend(literals.map(|literal| (number, without_holes(&without_code(literal)))));
        }
    }
    lines
}

fn report(name: &str, lines: Vec<(usize, String)>) -> Vec<String> {
    let of_line = |(number, line): (usize, String)| {
        found(&line).into_iter().map(move |phrase| format!("{name}:{number}: {phrase}"))
    };
    lines.into_iter().flat_map(of_line).collect()
}

#[test]
fn pages_are_in_plain_english() {
    let pages = ["docs", "rules", "packaging", "benches"].into_iter().flat_map(files);
    let pages = pages.chain(["README.md", "CHANGELOG.md"].into_iter().map(root));
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let pages = pages.filter(|path| !ABOUT_WORDS.contains(&shown(path).as_str()));
    let wrong: Vec<String> = pages.flat_map(|path| report(&shown(&path), prose(&text(&path)))).collect();
    assert!(wrong.is_empty(), "{} (docs/style.md says why):\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn messages_and_comments_are_in_plain_english() {
    let sources = ["src", "tests", "xtask", "benches"].into_iter().flat_map(files);
    let sources = sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut wrong = Vec::new();
    for path in sources.filter(|path| !ABOUT_WORDS.contains(&shown(path).as_str())) {
        let name = shown(&path);
        wrong.extend(report(
            &name,
            said(&text(&path), name.starts_with("src/") || name.starts_with("xtask/")),
        ));
    }
    assert!(wrong.is_empty(), "{} (docs/style.md says why):\n{}", wrong.len(), wrong.join("\n"));
}

/// Words that names of ours do not have, for the reasons that phrases have.
const NOT_IN_NAMES: [&str; 10] =
    ["behind", "told", "tell", "tells", "heed", "heeds", "heeded", "unheeded", "stuck", "twin"];

/// The names that a line of Rust declares by a keyword.
fn declared(line: &str) -> Vec<&str> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let keywords = ["fn", "struct", "enum", "trait", "type", "mod", "const", "static", "let", "mut"];
    let pairs = words.windows(2).filter(|pair| keywords.contains(&pair[0]));
    pairs.map(|pair| pair[1]).collect()
}

/// Whether a name has a word: `is_told` and `LinesTold` have `told`.
fn has_word(name: &str, word: &str) -> bool {
    let is_camel = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let apart = |c: char| match is_camel && c.is_uppercase() {
        true => format!("_{}", c.to_lowercase()),
        false => c.to_lowercase().to_string(),
    };
    name.chars().map(apart).collect::<String>().split('_').any(|part| part == word)
}

#[test]
fn names_are_in_plain_english() {
    let sources = ["src", "tests", "xtask", "benches"].into_iter().flat_map(files);
    let sources = sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut wrong = Vec::new();
    for path in sources.filter(|path| !ABOUT_WORDS.contains(&shown(path).as_str())) {
        let name = shown(&path);
        let file = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for word in NOT_IN_NAMES {
            if has_word(&file, word) {
                wrong.push(format!("{name}: `{word}` in its name"));
            }
            for (line, number) in text(&path).lines().zip(1..) {
                let code = line.split_once("//").map_or(line, |(code, _)| code);
                if declared(code).into_iter().any(|name| has_word(name, word)) {
                    wrong.push(format!("{name}:{number}: `{word}` in a name"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} (docs/style.md says why):\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(declared("    pub fn is_told(let mut behind: B)"), ["is_told", "mut", "behind"]);
    assert!(has_word("LinesBehind", "behind") && has_word("is_told", "told") && !has_word("stolen", "told"));
}

#[test]
fn phrases_are_found_where_they_mean_that() {
    assert_eq!(found("The loop behind it").len(), 1);
    assert_eq!(found("It is no clause, and Is NO argument").len(), 2);
    assert!(found("there is no clause, and it is no longer one; is left to the compiler").is_empty());
    assert!(prose("a\n```c\nbehind\n```\nb `behind` c\n").iter().all(|(_, line)| found(line).is_empty()));
    assert_eq!(report("x", said("f(\"the loop behind it\"); // told\n", true)).len(), 2);
}
