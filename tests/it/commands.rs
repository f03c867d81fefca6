//! Every `acc2omp` command of the README and the pages of `docs` runs as it is printed.
//!
//! Invariant: a block that is not run says why on the line before it (`<!-- not run: … -->`). Blocks are fences of `console` or
//! `sh`; each runs in a project of its own, whose compilers do nothing, and its lines in their order, with status 0, or with
//! status 1 where the line before says so (`<!-- status 1 -->`). A file that a page shows (`<!-- file: … -->`) is in the projects
//! after it, changed as the page says (`<!-- edit FILE: OLD => NEW -->`), and what a page shows of an output
//! (`<!-- output of: … -->`) is there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{files, root, shown, text};

/// A marker before a block that is not run.
const NOT_RUN: &str = "<!-- not run: ";

/// A comment of `acc2omp.toml`, which the user completes after `verify --init`.
const CONFIG: &str = "[verify]\nreference = { build = \"cc -fopenacc a.c -o a\", run = \"./a\" }\n\
                      [verify.tests.clang]\nbuild = \"acc2omp cc -q -- cc -fopenmp a.c -o a\"\ndevice = false\n";

const MAKEFILE: &str = "CC = cc\nsolve: jacobi.c\n\t$(CC) $(CFLAGS) -c jacobi.c -o jacobi.o\n";

const DATABASE: &str =
    "[{\"directory\": \".\", \"file\": \"../src/saxpy.c\", \"command\": \"cc -c ../src/saxpy.c\"}]\n";

const FIXED: &str = "      program a\n      integer i\n      real x(9)\n!$acc parallel loop\n      do i = 1, 9\n\
                     \u{20}       x(i) = i\n      end do\n      end program a\n";

/// A block of commands.
struct Block {
    line: usize,
    commands: Vec<String>,
    is_run: bool,
    status: i32,
}

/// The blocks of a page that call `acc2omp`.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = "";
    for (line, number) in page.lines().zip(1..) {
        let fence = line.trim_start();
        match &mut open {
            None if ["```console", "```sh"].contains(&fence) => {
                let status = i32::from(before == "<!-- status 1 -->");
                let is_run = !before.starts_with(NOT_RUN);
                open = Some(Block { line: number, commands: Vec::new(), is_run, status });
            }
            Some(block) if fence == "```" => {
                block.commands.retain(|command| calls(command));
                blocks.extend(open.take().filter(|block| !block.commands.is_empty()));
            }
            Some(block) => block.commands.push(line.to_owned()),
            None => {}
        }
        before = line;
    }
    blocks
}

/// A fence of a page whose line before has a marker.
#[derive(Debug, PartialEq, Eq)]
struct Marked {
    line: usize,
    /// What the marker names.
    name: String,
    text: String,
}

/// The fences of a page with a marker.
fn marked(page: &str, marker: &str) -> Vec<Marked> {
    let mut found: Vec<Marked> = Vec::new();
    let (mut before, mut is_open) = ("", None);
    for (text, line) in page.lines().zip(1..) {
        let name = before.strip_prefix(marker).and_then(|rest| rest.strip_suffix(" -->"));
        match (is_open, text.starts_with("```")) {
            (None, true) => {
                is_open = Some(name.is_some());
                found.extend(name.map(|name| Marked { line, name: name.to_owned(), text: String::new() }));
            }
            (Some(_), true) => is_open = None,
            (Some(true), false) => found.last_mut().unwrap().text += &format!("{text}\n"),
            (_, false) => {}
        }
        before = text;
    }
    found
}

/// Whether a line calls the program, by itself or through another one.
fn calls(line: &str) -> bool {
    let command = line.split(" #").next().unwrap_or_default();
    command.split([' ', '"', ';', '=']).any(|word| word == "acc2omp")
}

fn script(path: &Path, words: &str) {
    fs::write(path, format!("#!/bin/sh\n{words}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A project as the pages have it: `src`, single files, a makefile, a compilation database, an empty folder for rules.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["src", "build", "include", "inc", "site/clause", "bin"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    let saxpy = text(root("fixtures/c/saxpy/saxpy.c"));
    for name in ["src/saxpy.c", "a.c", "jacobi.c"] {
        fs::write(at(name), &saxpy).unwrap();
    }
    fs::write(at("a.f"), FIXED).unwrap();
    fs::write(at("Makefile"), MAKEFILE).unwrap();
    fs::write(at("build/compile_commands.json"), DATABASE).unwrap();
    fs::write(at("acc2omp.toml"), CONFIG).unwrap();
    // Nobody is there to agree to the commands of `verify`.
    let program = env!("CARGO_BIN_EXE_acc2omp");
    symlink(program, at("bin/real")).unwrap();
    let verify = "case \"$1\" in verify) shift; exec \"$(dirname \"$0\")/real\" verify --yes \"$@\";; esac";
    script(&at("bin/acc2omp"), &format!("{verify}\nexec \"$(dirname \"$0\")/real\" \"$@\""));
    for compiler in ["clang", "gcc"] {
        script(&at(&format!("bin/{compiler}")), "exit 0");
    }
    folder
}

/// A project that has the files that a page shows before a line, as they are there; sources of ours if it shows none.
fn project_at(page: &str, line: usize) -> TempDir {
    let project = project();
    let before: String = page.lines().take(line - 1).map(|line| format!("{line}\n")).collect();
    let own = marked(&before, "<!-- file: ");
    if !own.is_empty() {
        fs::remove_file(project.path().join("src/saxpy.c")).unwrap();
    }
    for file in own {
        fs::write(project.path().join(file.name), file.text).unwrap();
    }
    let edits = before.lines().filter_map(|line| line.strip_prefix("<!-- edit ")?.strip_suffix(" -->"));
    for (file, change) in edits.map(|edit| edit.split_once(": ").unwrap()) {
        let (old, new) = change.split_once(" => ").unwrap();
        let path = project.path().join(file);
        let known = text(&path);
        assert!(known.contains(old), "{file}: no `{old}`");
        fs::write(path, known.replace(old, new)).unwrap();
    }
    project
}

/// What a page shows of an output that is not there.
fn missing(page: &str, shown: &Marked) -> Option<String> {
    let project = project_at(page, shown.line);
    let path = format!("{}:{}", project.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let command = format!("{} 2>&1", shown.name);
    let ran = shell.args(["-c", &command]).current_dir(project.path()).env("PATH", &path).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut rest = output.as_str();
    for part in shown.text.split("…\n") {
        let Some((_, after)) = rest.split_once(part) else {
            return Some(format!("{part}is not in\n{output}"));
        };
        rest = after;
    }
    None
}

/// What is wrong with a block, if anything.
fn fault(page: &str, block: &Block) -> Option<String> {
    let project = project_at(page, block.line);
    let path = format!("{}:{}", project.path().join("bin").display(), std::env::var("PATH").unwrap());
    for command in &block.commands {
        let is_init = command.contains("--init");
        if is_init {
            fs::remove_file(project.path().join("acc2omp.toml")).unwrap();
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(project.path()).env("PATH", &path).stdin(Stdio::null());
        let ran = shell.output().unwrap();
        if ran.status.code() != Some(block.status) {
            return Some(format!("`{command}`: {}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr)));
        }
        if is_init {
            fs::write(project.path().join("acc2omp.toml"), CONFIG).unwrap();
        }
    }
    None
}

#[test]
fn commands_of_pages_run_as_printed() {
    let pages = files("docs").into_iter().chain([root("README.md")]);
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let (mut count, mut wrong) = (0, Vec::new());
    for path in pages {
        let page = text(&path);
        for block in blocks(&page).into_iter().filter(|block| block.is_run) {
            count += block.commands.len();
            wrong.extend(fault(&page, &block).map(|why| format!("{}:{}: {why}", shown(&path), block.line)));
        }
        let outputs = marked(&page, "<!-- output of: ");
        wrong.extend(outputs.iter().filter_map(|one| missing(&page, one)));
    }
    assert!(count > 30, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_and_outputs_of_pages_are_found() {
    let page = "<!-- file: src/a.c -->\n```c\nint a;\n```\n```c\nint b;\n```\n<!-- edit src/a.c: a => bc -->\n\
                <!-- output of: cat src/a.c -->\n```text\nint bc\n```\n<!-- output of: cat src/a.c -->\n```text\n…\nint a;\n```\n";
    let file = Marked { line: 2, name: "src/a.c".to_owned(), text: "int a;\n".to_owned() };
    assert_eq!(marked(page, "<!-- file: "), [file]);
    let [right, wrong] = &marked(page, "<!-- output of: ")[..] else { panic!("two outputs") };
    assert_eq!((right.line, right.text.as_str()), (10, "int bc\n"));
    let right = Marked { text: "int bc;\n".to_owned(), line: right.line, name: right.name.clone() };
    assert!(missing(page, &right).is_none() && missing(page, wrong).is_some());
}

#[test]
fn commands_are_found() {
    let page = "```console\nacc2omp src # acc2omp\ncargo run # acc2omp\nmake CC=\"acc2omp cc\"\n```\n<!-- not run: why -->\n\
                ```sh\nacc2omp x\n```\n```c\nacc2omp\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].commands, ["acc2omp src # acc2omp", "make CC=\"acc2omp cc\""]);
    assert!(found[0].is_run && !found[1].is_run);
}
