//! The rule pages: what they show is what the program does, every row is shown, and what cannot be right does not load.
//!
//! Invariant: a page's output lines are the program's own; `UPDATE_RULES=1` writes them anew.

use std::collections::BTreeSet;

use acc2omp::diag::Severity;
use acc2omp::rules::{self, Example, FILES, Page, RowId, Rules};
use acc2omp::{Nest, Options, Outcome, Queues, Source, Translation, Version, translate};

use super::{files, root, shown, text};

/// Marks the end of an example in its scene, after what begins a comment.
const END: &str = "@end";

/// An example in its scene, as the program's text.
pub fn in_scene(example: &Example, input: &str) -> String {
    let scene = example.scene.as_deref().unwrap_or_else(|| panic!("`{}`: no scene", example.heading));
    let program = text(root(&format!("fixtures/scene/{scene}.{}", example.ending())));
    let mark = example.mark();
    assert_eq!(program.matches(mark).count(), 1, "scene {scene}: {mark}");
    program.replace(mark, &format!("{mark}\n{input}{}", end(example)))
}

fn end(example: &Example) -> String {
    let comment = if example.language.is_fortran() { "!" } else { "//" };
    format!("{comment}{END}")
}

fn translated(example: &Example) -> Translation {
    let program = in_scene(example, &example.input());
    let queues = if example.sync { Queues::Dropped } else { Queues::Kept };
    let nest = example.by_loops.then_some(Nest::Loop);
    let options = Options { omp: Version(example.version), queues, nest, ..Options::default() };
    translate(
        &Source::new(format!("example.{}", example.ending()), program.into_bytes(), example.language),
        &options,
    )
}

/// What an example becomes: the lines between the marks.
fn output(example: &Example) -> String {
    let program = String::from_utf8(translated(example).text).unwrap();
    let after = program.split(example.mark()).nth(1).unwrap();
    let lines = after.trim_start_matches([' ', '\t']).trim_start_matches('\n');
    lines.split(&end(example)).next().unwrap().trim_end_matches([' ', '\t']).to_owned()
}

fn examples() -> impl Iterator<Item = (&'static Page, &'static Example)> {
    rules::rules().pages().flat_map(|page| page.examples.iter().map(move |example| (page, example)))
}

#[test]
fn the_pages_show_our_output() {
    let update = std::env::var_os("UPDATE_RULES").is_some();
    for page in rules::rules().pages() {
        let path = root(&format!("rules/{}.md", page.entry));
        let fresh = rules::with_outputs(&page.text, page, &output);
        if update {
            std::fs::write(path, fresh).unwrap();
        } else {
            assert_eq!(page.text, fresh, "run `UPDATE_RULES=1 cargo test --test it rules`");
        }
    }
}

#[test]
fn the_examples_report_what_their_fences_say() {
    let mut wrong = Vec::new();
    for (page, example) in examples() {
        let reported: BTreeSet<String> =
            translated(example).diagnostics.iter().map(|diag| diag.code.to_string()).collect();
        let said: BTreeSet<String> = example.codes.iter().cloned().collect();
        if reported != said {
            wrong.push(format!(
                "{} `{}`: reports {reported:?}, its fence says {said:?}",
                page.entry, example.heading
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_kept_stays_and_says_why() {
    let mut wrong = Vec::new();
    for (page, example) in examples().filter(|(_, example)| example.keep) {
        let says_why = translated(example).diagnostics.iter().any(|diag| diag.severity == Severity::Left);
        if output(example) != example.input() || !says_why {
            wrong.push(format!("{} `{}`: {}", page.entry, example.heading, output(example)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_translated_leaves_nothing() {
    let mut wrong = Vec::new();
    for (page, example) in examples().filter(|(_, example)| !example.keep) {
        if translated(example).directives.iter().any(|one| one.outcome == Outcome::Left) {
            wrong.push(format!("{} `{}`: {}", page.entry, example.heading, output(example)));
        }
    }
    assert!(wrong.is_empty(), "a directive is untranslated:\n{}", wrong.join("\n"));
}

#[test]
fn every_row_has_an_example() {
    let mut used: BTreeSet<&RowId> = BTreeSet::new();
    for (_, example) in examples() {
        let translation = translated(example);
        used.extend(translation.directives.into_iter().flat_map(|one| one.rows));
        used.extend(translation.api_rows);
    }
    let rows = rules::rules().pages().flat_map(|page| &page.rows);
    let silent: Vec<String> =
        rows.map(|row| &row.id).filter(|row| !used.contains(row)).map(RowId::to_string).collect();
    assert!(silent.is_empty(), "rows that no example uses: {silent:?}");
}

#[test]
fn every_page_is_compiled_in() {
    let folders = ["directive", "clause", "implicit", "api"];
    let pages = folders.iter().flat_map(|folder| files(&format!("rules/{folder}")));
    let in_folders: BTreeSet<String> = pages
        .map(|path| shown(&path).trim_start_matches("rules/").to_owned())
        .filter(|path| path.ends_with(".md"))
        .collect();
    let compiled: BTreeSet<String> = FILES.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(compiled, in_folders, "src/rules/embed.rs");
}

#[test]
fn every_word_of_openacc_has_a_page() {
    let table = rules::openacc::table();
    let rules = rules::rules();
    let mut missing: Vec<String> = Vec::new();
    let directives = table.directives.iter().map(|one| format!("directive/{}", one.name.replace(' ', "-")));
    let clauses = table.clauses.iter().map(|one| format!("clause/{}", one.name));
    for entry in directives.chain(clauses) {
        if !rules.pages().any(|page| page.entry == entry) && !is_end(&entry) {
            missing.push(entry);
        }
    }
    let routines = table.routine_names().filter(|name| rules.routine(name).is_none());
    missing.extend(routines.map(str::to_owned));
    assert!(missing.is_empty(), "no page: {missing:?}");
}

/// Fortran's `end` directives say nothing by themselves.
fn is_end(entry: &str) -> bool {
    entry.starts_with("directive/end")
}

#[test]
fn the_coverage_is_up_to_date() {
    let path = root("rules/coverage.md");
    let fresh = rules::matrix(rules::rules());
    if std::env::var_os("UPDATE_RULES").is_some() {
        std::fs::write(path, fresh).unwrap();
    } else {
        assert_eq!(text(path), fresh, "run `UPDATE_RULES=1 cargo test --test it rules`");
    }
}

/// The line that says what the pages below are about; their first row stands two lines after it.
const SUBJECT: usize = 6;

/// A page about `copyin` with these rows.
fn page(rows: &str) -> String {
    let head = "# `copyin`\n\nText.\n\n```toml rule\nclause = { name = \"copyin\", on = [\"data\"], cite = \"acc33:2.7.8\" }\n";
    let example = "```diff c omp=45 scene=vec\n-#pragma acc data copyin(a[0:n])\n {\n }\n```\n";
    format!("{head}omp = [\n{rows}\n]\n```\n\n## One\n\n{example}")
}

#[test]
fn a_good_page_loads() {
    let good = page("{ since = 45, emit = \"map(to: {list})\", on = \"map-leaf\", meaning = \"same\" },");
    assert!(Rules::load(&[("clause/copyin.md", &good)]).is_ok());
}

#[test]
fn what_cannot_be_right_does_not_load() {
    let cases = [
        ("{ since = 44, drop = true, meaning = \"same\" },", "unknown OpenMP version 44"),
        ("{ since = 45, drop = true, meaning = \"equal\" },", "unknown meaning `equal`"),
        ("{ since = 45, drop = true, meaning = \"weaker\" },", "has no `code`"),
        (
            "{ since = 45, drop = true, meaning = \"weaker\", code = \"A0901\" },",
            "no page may report `A0901`",
        ),
        ("{ since = 45, drop = true, meaning = \"same\", cite = [\"omp45:9.9\"] },", "is not in spec.toml"),
        ("{ since = 45, when = { shape = [\"x\"] }, drop = true, meaning = \"same\" },", "unknown fact"),
        (
            "{ since = 45, emit = \"mapp(to: {list})\", on = \"map-leaf\", meaning = \"same\" },",
            "no clause `mapp`",
        ),
        (
            "{ since = 45, emit = \"map(to: {list}\", on = \"map-leaf\", meaning = \"same\" },",
            "no closing parenthesis",
        ),
        (
            "{ since = 45, emit = \"map(into: {list})\", on = \"map-leaf\", meaning = \"same\" },",
            "no modifier `into`",
        ),
        (
            "{ since = 45, emit = \"map(to: {lists})\", on = \"map-leaf\", meaning = \"same\" },",
            "unknown hole",
        ),
        (
            "{ since = 45, emit = \"map(to: {list})\", on = \"somewhere\", meaning = \"same\" },",
            "unknown place",
        ),
        (
            "{ since = 45, emit = \"private({list})\", on = \"directive\", meaning = \"same\" },",
            "is not allowed on",
        ),
        (
            "{ since = 45, emit = \"map(present, alloc: {list})\", on = \"map-leaf\", meaning = \"same\" },",
            "newer than OpenMP 45",
        ),
        ("{ since = 45, strategy = \"magic\", meaning = \"same\" },", "unknown strategy `magic`"),
        ("{ since = 45, directive = \"targets\", meaning = \"same\" },", "has no directive `targets`"),
        ("{ since = 45, drop = true, strategy = \"levels\", meaning = \"same\" },", "a row emits"),
        ("{ since = 50, drop = true, meaning = \"same\" },", "no row for"),
        (
            "{ since = 45, drop = true, meaning = \"same\" },\n{ since = 45, drop = true, meaning = \"same\" },",
            "two rows for",
        ),
        ("{ since = 45, dropped = true, meaning = \"same\" },", "unknown field"),
    ];
    for (rows, expected) in cases {
        let errors = Rules::load(&[("clause/copyin.md", &page(rows))]).unwrap_err();
        let [error] = errors.as_slice() else { panic!("{rows}: {errors:?}") };
        assert!(error.message.contains(expected), "{rows}\n says: {}", error.message);
        let about_all = ["no row for", "two rows for"].iter().any(|all| error.message.starts_with(all));
        assert_eq!(error.line, if about_all { SUBJECT } else { SUBJECT + 2 }, "{rows}: {}", error.message);
    }
}

#[test]
fn rows_about_cuda_that_cannot_be_right_do_not_load() {
    let good = page("{ since = 45, drop = true, meaning = \"same\" },");
    let with = |rows: &str| good.replacen("]\n```", &format!("]\ncuda = [\n{rows}\n]\n```"), 1);
    let row = "{ says = \"It is copied.\", shows = \"copyin(\", meaning = \"same\" },";
    assert!(Rules::load(&[("clause/copyin.md", &with(row))]).is_ok());
    let cases = [
        (row.replace("same", "weaker"), "has no `code`"),
        (row.replace("same", "equal"), "unknown meaning `equal`"),
        (row.replace("\" },", "\", code = \"A9999\" },"), "there is no diagnostic `A9999`"),
        (row.replace("same\"", "refused\", code = \"A0401\""), "shows what is written, or is refused"),
        (row.replace("copied.", "copied"), "is a sentence"),
        (row.replace("{ says", "{ when = { on = [\"loop\"] }, says"), "unknown fact or value"),
        (row.replace("{ says", "{ when = { modifier = [\"zero\"] }, says"), "no row for"),
        (format!("{row}\n{row}"), "two rows for"),
    ];
    for (rows, expected) in cases {
        let errors = Rules::load(&[("clause/copyin.md", &with(&rows))]).unwrap_err();
        assert!(errors[0].message.contains(expected), "{rows}\n says: {}", errors[0].message);
    }
}

#[test]
fn the_row_that_is_wrong_is_named() {
    let good = "{ since = 45, when = { modifier = [\"none\", \"zero\"] }, drop = true, meaning = \"same\" },";
    let bad = "{ since = 45, when = { modifier = [\"readonly\"] }, drop = true, meaning = \"weaker\" },";
    let errors = Rules::load(&[("clause/copyin.md", &page(&format!("{good}\n{bad}")))]).unwrap_err();
    assert_eq!(errors[0].line, SUBJECT + 3, "{errors:?}");
    assert_eq!(errors[0].message, "row 1 is `weaker` but has no `code`");
}

#[test]
fn what_a_page_is_about_must_be_known() {
    let good = page("{ since = 45, emit = \"map(to: {list})\", on = \"map-leaf\", meaning = \"same\" },");
    let cases = [
        ("clause/copyin.md", ", cite = \"acc33:2.7.8\"", "", "missing field `cite`", SUBJECT),
        ("clause/copyin.md", "acc33:2.7.8", "acc33:9.9", "is not in spec.toml", SUBJECT),
        ("clause/copyin.md", "\"data\"", "\"date\"", "OpenACC has no directive `date`", SUBJECT),
        ("clause/copyim.md", "\"copyin\"", "\"copyim\"", "OpenACC has no clause `copyim`", SUBJECT),
        (
            "directive/dat.md",
            "clause = { name = \"copyin\"",
            "directive = { name = \"dat\"",
            "no directive `dat`",
            SUBJECT,
        ),
        ("clause/copyin.md", "clause =", "clauses =", "unknown field `clauses`", SUBJECT),
    ];
    for (path, from, to, expected, line) in cases {
        let errors = Rules::load(&[(path, &good.replacen(from, to, 1))]).unwrap_err();
        assert!(errors[0].message.contains(expected), "{expected}: {errors:?}");
        assert_eq!((errors[0].path.as_str(), errors[0].line), (path, line), "{errors:?}");
    }
}

#[test]
fn fences_must_be_known() {
    let good = page("{ since = 45, emit = \"map(to: {list})\", on = \"map-leaf\", meaning = \"same\" },");
    let cases = [
        (good.replace("diff c omp", "dif c omp"), "unknown fence tag", 14),
        (good.replace("scene=vec", "seen=vec"), "unknown fence option", 14),
        (good.replace("omp=45", "omp=x"), "unknown version", 14),
        (good.replace("```toml rule", "```text"), "no `toml rule` fence", 1),
        (format!("{good}\n```toml rule\n```\n"), "two `toml rule` fences", 20),
        (good.split("## One").next().unwrap().to_owned(), "no example", 12),
        (good.replace("name = \"copyin\"", "name = \"copy\""), "its fence says", SUBJECT),
    ];
    for (bad, expected, line) in cases {
        let errors = Rules::load(&[("clause/copyin.md", &bad)]).unwrap_err();
        assert!(errors[0].message.contains(expected), "{expected}: {errors:?}");
        assert_eq!(errors[0].line, line, "{expected}: {errors:?}");
    }
}
