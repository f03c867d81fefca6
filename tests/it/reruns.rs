//! Output trees that are written again: what somebody wrote into them stays.
//!
//! Invariant: no test depends on the time that a run takes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

/// A source with three constructs, of which each number chooses one of the queues.
fn source(queues: [u8; 3]) -> String {
    let construct = |queue: &u8| {
        format!(
            "void f{queue}(double *a)\n{{\n    int n = 100;\n\n#pragma acc parallel loop copy(a[0:n]) async({queue})\n    \
             for (int i = 0; i < n; i++)\n        a[i] += 1;\n\n    return;\n}}\n\n"
        )
    };
    queues.iter().map(construct).collect()
}

struct Place {
    folder: TempDir,
}

impl Place {
    fn new(sources: &[(&str, String)]) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path().join("src")).unwrap();
        sources.iter().for_each(|(name, text)| place.write(&format!("src/{name}"), text));
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
        command.args(words).current_dir(self.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Translates, and returns the status and what was said.
    fn translate(&self, more: &[&str]) -> (i32, String) {
        let output = self.run(&[&["src", "-o", "out"], more].concat());
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Status and output of `acc2omp drift`.
    fn drift(&self) -> (i32, String) {
        let output = self.run(&["drift", "out"]);
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

#[test]
fn what_nobody_changed_is_replaced_and_the_rest_is_not_touched() {
    let place =
        Place::new(&[("a.c", source([1, 2, 3])), ("b.c", source([4, 5, 6])), ("data", "x".to_owned())]);
    assert_eq!(place.translate(&["-q"]), (0, String::new()));
    let time = |name: &str| fs::metadata(place.path().join(name)).unwrap().modified().unwrap();
    let before = time("out/b.c");
    place.write("src/a.c", &source([1, 2, 7]));
    assert_eq!(place.translate(&["-q"]), (0, String::new()));
    assert!(place.read("out/a.c").contains("acc2omp_queue(7)"));
    assert_eq!(time("out/b.c"), before);
    assert_eq!(place.drift(), (0, String::new()));
}

#[test]
fn edits_are_kept_and_merged() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    let edited = place.read("out/a.c").replacen("int n = 100;", "int n = 100; /* mine */", 1);
    place.write("out/a.c", &edited);
    let (status, said) = place.translate(&[]);
    assert!(
        status == 0 && said.contains("note: out/a.c: edited since acc2omp wrote it, and stays"),
        "{said}"
    );
    assert_eq!(place.read("out/a.c"), edited);
    place.write("src/a.c", &source([1, 2, 7]));
    let (status, said) = place.translate(&[]);
    assert!(status == 0 && said.contains("the changes of the translation are put in"), "{said}");
    let merged = place.read("out/a.c");
    assert!(merged.contains("/* mine */") && merged.contains("acc2omp_queue(7)"), "{merged}");
}

#[test]
fn a_merge_that_was_killed_is_no_edit() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    let edited = place.read("out/a.c").replacen("int n = 100;", "int n = 100; /* mine */", 1);
    place.write("out/a.c", &edited);
    let known = ["out/.acc2omp/manifest.json", "out/.acc2omp/base/a.c"];
    let before = known.map(|name| place.read(name));
    place.write("src/a.c", &source([1, 2, 7]));
    place.translate(&["-q"]);
    let hash = |name: &str| {
        let output = Command::new("sha256sum").arg(place.path().join(name)).output().unwrap();
        String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap().to_owned()
    };
    let (merged, ground) = (hash("out/a.c"), hash("out/.acc2omp/base/a.c"));
    // What such a run leaves, after each of its steps.
    let (late, text) = (place.read(known[1]), place.read("out/a.c"));
    let leave = |base: &str, there: &str| {
        place.write(known[0], &before[0]);
        place.write(known[1], base);
        place.write("out/.acc2omp/next/a.c", &late);
        place.write("out/.acc2omp/journal", &format!("merged {merged} {ground} 0 a.c\n"));
        place.write("out/a.c", there);
    };
    for base in [&before[1], &late] {
        place.write("src/a.c", &source([1, 2, 3]));
        leave(base, &text);
        let (status, said) = place.translate(&[]);
        assert!(status == 0 && said.contains("the changes of the translation are put in"), "{said}");
        assert_eq!(place.read("out/a.c"), edited);
        // Somebody edits what the killed run left.
        let more = text.replacen("/* mine */", "/* mine, too */", 1);
        leave(base, &more);
        let (status, said) = place.translate(&[]);
        let is_reported = status == 2 && said.contains("out/a.c: conflict of your edits");
        assert!(is_reported || place.read("out/a.c").contains("acc2omp_queue(3)"), "{said}");
    }
}

#[test]
fn edits_where_the_translation_changes_stay_with_an_error() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    let edited = place.read("out/a.c").replace("acc2omp_queue(3)", "acc2omp_queue(33)");
    place.write("out/a.c", &edited);
    place.write("src/a.c", &source([1, 2, 7]));
    for _ in 0..2 {
        let (status, said) = place.translate(&[]);
        assert!(
            status == 2 && said.contains("out/a.c: conflict of your edits with the new translation"),
            "{said}"
        );
        assert_eq!(place.read("out/a.c"), edited);
    }
    assert_eq!(place.translate(&["-q", "--force"]), (0, String::new()));
    assert!(place.read("out/a.c").contains("acc2omp_queue(7)"));
}

#[test]
fn a_conflict_ends_where_its_lines_are_edited() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    place.write("out/a.c", &place.read("out/a.c").replace("acc2omp_queue(3)", "acc2omp_queue(33)"));
    place.write("src/a.c", &source([4, 2, 7]));
    let (status, said) = place.translate(&[]);
    assert!(status == 2 && said.contains("out/.acc2omp/wanted/a.c has the translation"), "{said}");
    assert!(place.read("out/.acc2omp/wanted/a.c").contains("acc2omp_queue(7)"));
    // What is edited elsewhere says nothing of the conflict.
    place.write("out/a.c", &place.read("out/a.c").replacen("int n = 100;", "int n = 100; /* mine */", 1));
    assert_eq!(place.translate(&["-q"]).0, 2);
    place.write("out/a.c", &place.read("out/a.c").replace("acc2omp_queue(33)", "acc2omp_queue(77)"));
    let (status, said) = place.translate(&[]);
    assert!(status == 0 && said.contains("note: out/a.c: edited since"), "{said}");
    let text = place.read("out/a.c");
    assert!(["/* mine */", "queue(77)", "queue(4)"].iter().all(|words| text.contains(words)), "{text}");
    assert!(!place.path().join("out/.acc2omp/wanted/a.c").exists());
    assert_eq!(place.drift(), (0, String::new()));
    place.write("src/a.c", &source([4, 8, 7]));
    assert_eq!(place.translate(&["-q"]), (0, String::new()));
    let text = place.read("out/a.c");
    assert!(text.contains("queue(77)") && text.contains("queue(8)"), "{text}");
}

#[test]
fn files_that_acc2omp_has_not_written_stay() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    fs::create_dir(place.path().join("out")).unwrap();
    place.write("out/a.c", "int mine;\n");
    place.write("out/other.c", "int other;\n");
    let (status, said) = place.translate(&[]);
    assert!(status == 2 && said.contains("out/a.c: a file that acc2omp has not written"), "{said}");
    assert_eq!(
        (place.read("out/a.c"), place.read("out/other.c")),
        ("int mine;\n".into(), "int other;\n".into())
    );
}

#[test]
fn what_has_no_source_any_more_is_named() {
    let place = Place::new(&[("a.c", source([1, 2, 3])), ("b.c", source([4, 5, 6]))]);
    place.translate(&["-q"]);
    fs::remove_file(place.path().join("src/b.c")).unwrap();
    let (status, said) = place.translate(&[]);
    assert!(status == 0 && said.contains("note: out/b.c: its source src/b.c is gone"), "{said}");
    assert!(place.read("out/b.c").contains("#pragma omp"));
    let (status, said) = place.drift();
    assert!(status == 1 && said.contains("out/b.c: its source"), "{said}");
}

#[test]
fn drift_names_outputs_that_are_older_than_their_sources() {
    let place = Place::new(&[("a.c", source([1, 2, 3])), ("b.c", source([4, 5, 6]))]);
    assert_eq!(place.drift().0, 2);
    place.translate(&["-q"]);
    assert_eq!(place.drift(), (0, String::new()));
    place.write("src/a.c", &source([1, 2, 7]));
    place.write("src/c.c", &source([1, 2, 7]));
    fs::remove_file(place.path().join("out/b.c")).unwrap();
    let expected = "out/a.c: older than src/a.c\nout/b.c: gone\nsrc/c.c: not translated yet\n";
    assert_eq!(place.drift(), (1, expected.to_owned()));
}

#[test]
fn two_runs_do_not_write_into_one_tree() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    let other = fs::File::options().append(true).open(place.path().join("out/.acc2omp/lock")).unwrap();
    other.lock().unwrap();
    let (status, said) = place.translate(&[]);
    assert!(status == 2 && said.contains("out: another run of acc2omp writes into it"), "{said}");
    drop(other);
    assert_eq!(place.translate(&["-q"]).0, 0);
}

/// If the run ends in the middle, no source that is replaced lacks what it calls.
#[test]
fn what_a_source_needs_is_there_before_it_is_replaced() {
    for (to, needed) in [("openmp", "acc2omp.h"), ("cuda", "acc2omp_cuda.cu")] {
        let place = Place::new(&[("a.c", source([1, 2, 3])), ("b.c", source([4, 5, 6]))]);
        let output = place.run(&["--in-place", "--to", to, "src"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let written =
            |name: &str| place.path().join("src").join(name).metadata().unwrap().modified().unwrap();
        for source in ["a.c", "b.c"] {
            assert!(written(needed) <= written(source), "{source} was replaced before {needed} was there");
        }
    }
}

#[test]
fn a_changed_configuration_is_drift() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.write("acc2omp.toml", "omp = 5.1\n");
    place.translate(&["-q"]);
    assert_eq!(place.drift(), (0, String::new()));
    place.write("acc2omp.toml", "async = \"sync\"\n");
    assert_eq!(place.drift(), (1, "out: older than acc2omp.toml\n".to_owned()));
}

#[test]
fn what_a_translation_read_elsewhere_is_drift() {
    let use_of = |value: u8| format!("#undef USE\n#define USE {value}\n");
    let text = format!("#include \"e.h\"\n#if USE\n{}#endif\n", source([1, 2, 3]));
    let place = Place::new(&[("a.c", text), ("b.c", source([4, 5, 6]))]);
    fs::create_dir(place.path().join("elsewhere")).unwrap();
    place.write("elsewhere/e.h", "");
    place.write("elsewhere/compile_commands.json", "[]");
    let words = ["-q", "-Ielsewhere", "-p", "elsewhere"];
    assert_eq!(place.translate(&words).0, 0);
    assert_eq!(place.drift(), (0, String::new()));
    place.write("elsewhere/e.h", &use_of(1));
    assert_eq!(place.drift(), (1, "out/a.c: older than elsewhere/e.h\n".to_owned()));
    place.translate(&words);
    assert_eq!(place.drift(), (0, String::new()));
    place.write("elsewhere/compile_commands.json", "[ ]");
    assert_eq!(place.drift(), (1, "out: older than elsewhere/compile_commands.json\n".to_owned()));
}

#[test]
fn a_broken_manifest_is_named() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    place.write("out/.acc2omp/manifest.json", "{");
    let (status, said) = place.translate(&[]);
    assert!(status == 2 && said.contains("manifest.json: EOF") && said.contains("`--force`"), "{said}");
    assert_eq!(place.translate(&["-q", "--force"]).0, 0);
    assert_eq!(place.drift().0, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn names_may_be_no_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    let name = std::ffi::OsStr::from_bytes(b"src/\xe9.c");
    fs::write(place.path().join(name), source([4, 5, 6])).unwrap();
    assert_eq!(place.translate(&["-q"]), (0, String::new()));
    assert_eq!(place.translate(&["-q"]), (0, String::new()));
}

#[test]
fn a_tree_may_be_moved_with_its_sources() {
    let place = Place::new(&[("a.c", source([1, 2, 3]))]);
    place.translate(&["-q"]);
    let moved = place.path().join("moved");
    fs::create_dir(&moved).unwrap();
    ["src", "out"].iter().for_each(|name| fs::rename(place.path().join(name), moved.join(name)).unwrap());
    let output =
        Command::new(env!("CARGO_BIN_EXE_acc2omp")).args(["drift", "out"]).current_dir(&moved).output();
    assert_eq!(output.unwrap().status.code(), Some(0));
}

/// Something that happens to a tree or its sources.
#[derive(Clone, Debug)]
enum Event {
    /// The source changes.
    Source(usize, [u8; 3]),
    /// The source goes.
    Remove(usize),
    /// Somebody writes a line into an output.
    Edit(usize, usize),
    /// Somebody writes a file of their own into the output.
    Own(usize),
    /// A run.
    Run,
    /// A run that is killed so many microseconds after its start.
    Killed(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let file = 0..3usize;
    prop_oneof![
        3 => (file.clone(), [1..9u8, 1..9u8, 1..9u8]).prop_map(|(file, queues)| Event::Source(file, queues)),
        1 => file.clone().prop_map(Event::Remove),
        3 => (file.clone(), 0..36usize).prop_map(|(file, line)| Event::Edit(file, line)),
        1 => file.prop_map(Event::Own),
        2 => Just(Event::Run),
        3 => (0..30_000u64).prop_map(Event::Killed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each line that somebody writes has a number of its own, and is looked for after each event.
    #[test]
    fn nothing_that_somebody_wrote_is_lost(events in prop::collection::vec(event(), 1..14)) {
        let names = ["a.c", "b.c", "c.c"];
        let place = Place::new(&names.map(|name| (name, source([1, 2, 3]))));
        let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (number, event) in events.iter().enumerate() {
            let mine = format!("/* line {number} is mine */");
            match event {
                Event::Source(file, queues) => place.write(&format!("src/{}", names[*file]), &source(*queues)),
                Event::Remove(file) => drop(fs::remove_file(place.path().join("src").join(names[*file]))),
                Event::Edit(file, line) => {
                    let name = format!("out/{}", names[*file]);
                    let Ok(text) = fs::read_to_string(place.path().join(&name)) else { continue };
                    let mut lines: Vec<&str> = text.lines().collect();
                    lines.insert((*line).min(lines.len()), &mine);
                    place.write(&name, &(lines.join("\n") + "\n"));
                    written.entry(name).or_default().push(mine);
                }
                Event::Own(file) => {
                    let name = format!("out/{}", names[*file]);
                    if place.path().join("out").is_dir() && !place.path().join(&name).exists() {
                        place.write(&name, &format!("{mine}\n"));
                        written.entry(name).or_default().push(mine);
                    }
                }
                Event::Run => drop(place.translate(&["-q"])),
                Event::Killed(after) => {
                    let mut child = place.command(&["-q", "src", "-o", "out"]);
                    let mut child = child.stderr(Stdio::null()).spawn().unwrap();
                    std::thread::sleep(Duration::from_micros(*after));
                    drop(child.kill());
                    child.wait().unwrap();
                }
            }
            for (name, lines) in &written {
                let text = place.read(name);
                prop_assert!(lines.iter().all(|line| text.contains(line)), "{name} after {event:?}:\n{text}");
            }
        }
        // Whatever happened, a last run leaves sources and outputs that agree, or says that they do not.
        let (status, said) = place.translate(&[]);
        prop_assert!(status < 2 || said.contains("error: "), "{said}");
        if status < 2 {
            let mut fresh = place.command(&["-q", "src", "-o", "fresh"]);
            fresh.output().unwrap();
            for name in names.iter().filter(|name| place.path().join("src").join(name).exists()) {
                let text = place.read(&format!("out/{name}"));
                let own: String = text.split_inclusive('\n').filter(|line| !line.contains("is mine")).collect();
                prop_assert_eq!(own, place.read(&format!("fresh/{name}")));
            }
        }
    }
}
