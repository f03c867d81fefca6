//! What the README and the pages of `docs` show is what the program does.
//!
//! Invariant: an example there is the program's own output, to the byte; `UPDATE_README=1` writes it anew.

use acc2omp::{Options, report, translate};

use super::{fixtures, root, text};

/// The pages with examples.
const PAGES: [&str; 3] = ["README.md", "docs/cuda.md", "docs/fortran.md"];

/// An example begins with this, and the path of a fixture, perhaps after `cuda` …
const BEGIN: &str = "<!-- example: ";
/// … and its fence ends before this.
const END: &str = "<!-- end of example -->";

/// Some lines of an output begin with this, how many, of which fixture, and a text of the first line …
const EXCERPT: &str = "<!-- excerpt: ";
/// … and their fence ends before this.
const END_OF_EXCERPT: &str = "<!-- end of excerpt -->";

/// The page with every example written anew. `fence` makes the fence for what a marker says.
fn refreshed(page: &str, (begin, end): (&str, &str), fence: impl Fn(&str) -> String) -> String {
    let mut pieces = page.split(begin);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (said, rest) =
            piece.split_once(" -->").unwrap_or_else(|| panic!("an example's marker is not closed"));
        let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{said}: no `{end}`"));
        out += &format!("{begin}{said} -->\n{}{end}{after}", fence(said));
    }
    out
}

fn difference(path: &str) -> String {
    let diff = match path.strip_prefix("cuda ") {
        Some(path) => fixtures::cuda(&root(path)),
        None => {
            let source = fixtures::source(&root(path));
            let translation = translate(&source, &Options::default());
            report::unified(path, &source.file.bytes, &translation.text)
        }
    };
    let diff = String::from_utf8(diff).unwrap();
    // An empty line of context is a blank in a difference, and nothing on a page.
    diff.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn example(path: &str) -> String {
    format!("```diff\n{}```\n", difference(path))
}

/// The lines for `5 lines of cuda PATH from TEXT`: added ones, from the first that holds TEXT on.
fn excerpt(said: &str) -> String {
    let parts =
        said.split_once(" lines of ").and_then(|(count, rest)| Some((count, rest.split_once(" from ")?)));
    let (count, (path, first)) = parts.unwrap_or_else(|| panic!("{said}: want `N lines of PATH from TEXT`"));
    let diff = difference(path);
    let added =
        diff.lines().filter(|line| !line.starts_with("+++")).filter_map(|line| line.strip_prefix('+'));
    let count = count.parse().unwrap_or_else(|_| panic!("{said}: how many lines?"));
    let lines: Vec<&str> = added.skip_while(|line| !line.contains(first)).take(count).collect();
    assert_eq!(lines.len(), count, "{said}: no such lines in the output");
    let indents =
        lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indents.min().unwrap_or(0);
    let shown: String =
        lines.iter().map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
    let language = if path.ends_with(".c") { "c" } else { "cpp" };
    format!("```{language}\n{shown}```\n")
}

#[test]
fn the_examples_are_our_output() {
    for name in PAGES {
        let page = text(root(name));
        let fresh = refreshed(&page, (BEGIN, END), example);
        let fresh = refreshed(&fresh, (EXCERPT, END_OF_EXCERPT), excerpt);
        if std::env::var_os("UPDATE_README").is_some() {
            std::fs::write(root(name), fresh).unwrap();
        } else {
            assert_eq!(page, fresh, "{name}: run `UPDATE_README=1 cargo test --test it readme`");
        }
    }
}

#[test]
fn an_example_is_replaced_between_its_markers() {
    let page = "a\n<!-- example: x.c -->\n```diff\nold\n```\n<!-- end of example -->\nb\n";
    let expected = "a\n<!-- example: x.c -->\nnew x.c\n<!-- end of example -->\nb\n";
    assert_eq!(refreshed(page, (BEGIN, END), |path| format!("new {path}\n")), expected);
}

/// The commands of the page's first fence, without what is said beside them.
fn commands(page: &str) -> Vec<&str> {
    let fence = page.split("```console\n").nth(1).and_then(|rest| rest.split("```").next());
    fence.unwrap_or_default().lines().map(|line| line.split('#').next().unwrap_or_default().trim()).collect()
}

#[test]
fn the_page_is_short() {
    let lines = text(root("README.md")).lines().count();
    assert!(lines < 150, "README.md has {lines} lines: move facts to docs/");
}

#[test]
fn the_first_command_shows_a_small_success() {
    let page = text(root("README.md"));
    let command = commands(&page)[0];
    let arguments = command.strip_prefix("cargo run --release -- ").expect("the first command runs acc2omp");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    let ran = program.args(arguments.split_whitespace()).current_dir(root(".")).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stderr}");
    assert!(stdout.contains("+#pragma omp target"), "no difference in {stdout}");
    assert!(stderr.contains("directives"), "no table in {stderr}");
    assert!(stdout.lines().count() + stderr.lines().count() < 60);
}

#[test]
fn continuous_integration_runs_the_command_of_the_page() {
    let page = text(root("README.md"));
    let command = commands(&page)[1];
    assert!(command.ends_with("cargo xtask test"), "the second command runs the tests");
    assert!(text(root(".ci/run")).lines().any(|line| line == command), ".ci/run does not call `{command}`");
}
