//! Reports for machines and reviewers: their forms, what they say, and baselines.
//!
//! Invariant: each form is held against its schema, or read by the program that it is made for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{root, schema, text};

/// A `present` and an `update`, which are weaker in OpenMP 4.5, and a directive that is left untranslated.
const SOURCE: &str = "\
double b[8];
void f(int n, double *a)
{
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] *= b[0];
#pragma acc update self(a[0:n])
#pragma acc nothing
}
";

fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), text).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.args(arguments).current_dir(folder).env_remove("GITHUB_STEP_SUMMARY").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

fn check(name: &str, value: &Value) {
    let schema = json(text(root(name)).as_bytes());
    let misfits = schema::misfits(&schema, value);
    assert!(misfits.is_empty(), "{name}: {}", misfits.join("\n"));
}

/// The elements of an array.
fn all<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap()
}

#[test]
fn json_fits_its_schema() {
    for arguments in [
        &["fixtures/bad", "fixtures/c/extents", "fixtures/fortran/macro-lines", "--check"][..],
        &["fixtures/c/extents", "--check", "--to", "cuda"],
        &["fixtures/advise", "--advise"],
    ] {
        let output = run(&root("."), &[arguments, &["--format", "json"]].concat());
        let report = json(&output.stdout);
        check("schemas/report-1.json", &report);
        let mut seen = std::collections::HashSet::new();
        assert!(all(&report, "diagnostics").iter().all(|one| seen.insert(one["fingerprint"].to_string())));
    }
}

#[test]
fn directives_name_their_translation() {
    let place = folder(SOURCE);
    let output = run(place.path(), &["a.c", "-o", "out", "--format", "json", "--output", "r.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(output.stdout.is_empty() && !said(&output).contains("-->"), "{}", said(&output));
    let report = json(&fs::read(place.path().join("r.json")).unwrap());
    let directives = all(&report, "directives");
    let words = |name: &str| directives.iter().map(|one| one[name].to_string()).collect::<Vec<_>>();
    assert_eq!(words("status"), ["\"weaker\"", "\"weaker\"", "\"left\""]);
    assert_eq!(words("line"), ["4", "7", "8"]);
    assert_eq!(directives[0]["label"], "parallel loop");
    assert_eq!(directives[0]["original"], "#pragma acc parallel loop present(a[0:n])");
    assert_eq!(directives[0]["out_file"], "out/a.c");
    assert_eq!(directives[0]["data"][0]["item"], "a[0:n]");
    assert_eq!(directives[0]["data"][0]["clause"], "present");
    assert!(directives[0]["rules"].to_string().contains("acc33:2.7.5"), "{}", directives[0]["rules"]);
    let translation = text(place.path().join("out/a.c"));
    for one in &directives[..2] {
        let line = translation.lines().nth(one["out_line"].as_u64().unwrap() as usize - 1).unwrap();
        assert_eq!(one["target"].as_str().unwrap().lines().next(), Some(line));
    }
    assert_eq!(report["summary"]["left"], 1);
    assert_eq!(all(&report, "diagnostics")[0]["directive"], directives[0]["id"]);
}

#[test]
fn every_translation_is_where_it_is_said_to_be() {
    let place = tempfile::tempdir().unwrap();
    let (mut checked, mut implied) = (0, 0);
    for folder in ["fixtures/c", "fixtures/fortran"] {
        let out = place.path().join(folder);
        fs::create_dir_all(&out).unwrap();
        let output = run(&root("."), &[folder, "-o", out.to_str().unwrap(), "--format", "json"]);
        let report = json(&output.stdout);
        for one in all(&report, "directives") {
            implied += usize::from(one["data"].to_string().contains("implicit/"));
            let target = one["target"].as_str().unwrap();
            let (Some(first), Some(line)) = (target.lines().next(), one["out_line"].as_u64()) else {
                continue;
            };
            let bytes = fs::read(one["out_file"].as_str().unwrap()).unwrap();
            let file = String::from_utf8_lossy(&bytes);
            let there = file.split('\n').nth(line as usize - 1).unwrap_or_default();
            assert!(there.contains(first.trim_end()), "{one}: {there}");
            checked += 1;
        }
    }
    assert!(checked > 2000 && implied > 100, "{checked}, {implied}");
}

#[test]
fn every_untranslated_directive_has_its_reason() {
    for target in ["openmp", "cuda"] {
        let output = run(&root("."), &["fixtures", "--check", "--to", target, "--format", "json"]);
        let report = json(&output.stdout);
        let serious = |one: &&Value| ["left", "bug"].contains(&one["severity"].as_str().unwrap());
        let reasons = all(&report, "diagnostics").iter().filter(serious);
        let reasons: std::collections::HashSet<&Value> = reasons.map(|one| &one["fingerprint"]).collect();
        let left = |one: &&Value| one["status"] == "left";
        let left: Vec<&Value> = all(&report, "directives").iter().filter(left).collect();
        let silent = |one: &&&Value| !all(one, "diagnostics").iter().any(|said| reasons.contains(said));
        let silent: Vec<String> =
            left.iter().filter(silent).map(|one| format!("{}:{}", one["file"], one["line"])).collect();
        assert!(left.len() > 100 && silent.is_empty(), "{target}: {}", silent.join(", "));
    }
}

#[test]
fn a_reason_is_that_of_the_construct() {
    let place = folder(
        "void f(int n, double *a)\n{\n#pragma acc nothing\n    // acc2omp: leave\n#pragma acc parallel copy(a[0:n])\n    {\n\
         #pragma acc loop gang\n        for (int i = 0; i < n; i++)\n            a[i] *= 2.0;\n    }\n}\n",
    );
    let report = json(&run(place.path(), &["a.c", "--check", "--format", "json"]).stdout);
    let [_, construct, inner] = all(&report, "directives") else { panic!("{report}") };
    assert_eq!((&construct["status"], &inner["status"]), (&Value::from("left"), &Value::from("left")));
    assert_eq!(construct["diagnostics"], inner["diagnostics"]);
    let reason = all(&report, "diagnostics").iter().find(|one| one["fingerprint"] == inner["diagnostics"][0]);
    assert_eq!(reason.unwrap()["directive"], construct["id"]);
}

#[test]
fn uses_of_the_library_are_about_no_directive() {
    let place = folder(
        "#include <openacc.h>\nvoid f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n\
         \x20   for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n    acc_hostptr(a);\n}\n",
    );
    let report = json(&run(place.path(), &["a.c", "--check", "--format", "json"]).stdout);
    let [said] = all(&report, "diagnostics") else { panic!("{report}") };
    assert!(said["code"] == "A0305" && said["directive"].is_null(), "{said}");
    assert_eq!(report["directives"][0]["status"], "exact");
    assert_eq!((&report["summary"]["left"], &report["summary"]["library_left"]), (&0.into(), &1.into()));
}

#[test]
fn what_has_no_translation_is_in_every_report() {
    let place = folder("#include <openacc.h>\nvoid *f(void *a)\n{\n    return acc_hostptr(a);\n}\n");
    fs::write(place.path().join("b.cuf"), "!$acc parallel loop\n").unwrap();
    fs::write(place.path().join("c.c"), "#pragma acc wait\n").unwrap();
    // A folder stands where the translation goes.
    fs::create_dir_all(place.path().join("out/c.c")).unwrap();
    let arguments = |format: &'static str| ["a.c", "b.cuf", "c.c", "-o", "out", "-q", "--format", format];
    let output = run(place.path(), &arguments("json"));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let report = json(&output.stdout);
    check("schemas/report-1.json", &report);
    let errors: Vec<_> = all(&report, "errors").iter().map(|one| (&one["file"], &one["kind"])).collect();
    assert_eq!(errors, [(&"b.cuf".into(), &"language".into()), (&"c.c".into(), &"failed".into())]);
    let summary = &report["summary"];
    assert_eq!((&summary["failed"], &summary["unknown_language"]), (&1.into(), &1.into()));
    // A file with uses of the library alone counts.
    assert_eq!(all(&report, "files").len() as u64, summary["with_openacc"].as_u64().unwrap());
    assert!(all(&report, "files").iter().any(|one| one["file"] == "a.c"));
    let sarif = json(&run(place.path(), &arguments("sarif")).stdout);
    check("schemas/sarif-2.1.0-parts.json", &sarif);
    let ended = &sarif["runs"][0]["invocations"][0];
    assert_eq!(ended["executionSuccessful"], false);
    assert_eq!(all(ended, "toolExecutionNotifications").len(), 2);
    let github = String::from_utf8(run(place.path(), &arguments("github")).stdout).unwrap();
    assert!(
        github.starts_with("::error file=b.cuf,title=no translation::OpenACC is untranslated"),
        "{github}"
    );
    let html = String::from_utf8(run(place.path(), &arguments("html")).stdout).unwrap();
    assert!(html.contains("OpenACC is untranslated here") && html.contains("<noscript>"));
}

#[test]
fn advice_counts_directives() {
    let place = folder(SOURCE);
    let report = json(&run(place.path(), &["a.c", "--advise", "--format", "json"]).stdout);
    let summary = &report["summary"];
    assert_eq!((&summary["with_openacc"], &summary["directives"]), (&1.into(), &3.into()));
    assert_eq!(report["files"][0]["directives"], 3);
}

#[test]
fn a_report_leaves_standard_output_to_a_difference() {
    let place = folder(SOURCE);
    let refused = run(place.path(), &["a.c", "--diff", "--format", "json"]);
    assert!(refused.status.code() == Some(2) && said(&refused).contains("--output"), "{}", said(&refused));
    let output = run(place.path(), &["a.c", "--diff", "--format", "sarif", "--output", "r.sarif"]);
    assert!(output.stdout.starts_with(b"--- a/a.c"));
    let report = json(&fs::read(place.path().join("r.sarif")).unwrap());
    check("schemas/sarif-2.1.0-parts.json", &report);
    let messages = run(place.path(), &["a.c", "--check", "--output", "r.txt"]);
    assert!(!said(&messages).contains("-->"), "{}", said(&messages));
    assert!(text(place.path().join("r.txt")).contains("weaker[A0201]"));
}

#[test]
fn sarif_has_rules_and_fixes() {
    let output = run(&root("."), &["fixtures/advise", "--advise", "--format", "sarif"]);
    let report = json(&output.stdout);
    check("schemas/sarif-2.1.0-parts.json", &report);
    let run = &report["runs"][0];
    let rules = all(&run["tool"]["driver"], "rules");
    let results = all(run, "results");
    for one in results {
        assert_eq!(rules[one["ruleIndex"].as_u64().unwrap() as usize]["id"], one["ruleId"]);
    }
    assert!(results.iter().any(|one| one.get("fixes").is_some()));
}

#[test]
fn annotations_keep_to_the_limits() {
    let place = tempfile::tempdir().unwrap();
    let summary = place.path().join("summary.md");
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    let output = command
        .args(["fixtures/bad", "fixtures/c", "--check", "--format", "github", "-q"])
        .current_dir(root("."))
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let count = |level: &str| lines.lines().filter(|line| line.starts_with(level)).count();
    assert_eq!((count("::error file="), count("::warning file=")), (10, 10), "{lines}");
    assert_eq!(lines.lines().count(), 20);
    let severity = |line: &str| {
        ["(bug)", "(untranslated)", "(differs)", "(weaker)"].iter().position(|word| line.contains(word))
    };
    assert!(lines.lines().map(severity).is_sorted(), "{lines}");
    assert!(text(&summary).contains("rows have no annotation"));
}

#[test]
fn reviewed_diagnostics_are_not_shown_again() {
    let place = folder(SOURCE);
    let here = place.path();
    let first = run(here, &["a.c", "--check", "--write-baseline", "known.json"]);
    assert!(
        said(&first).contains("weaker[A0201]") && said(&first).contains("untranslated["),
        "{}",
        said(&first)
    );
    // Moving lines, and other blanks, change nothing.
    let moved = format!("int other;\n\n{}", SOURCE.replace("present(a", "present( a").replace("( a", "(a"));
    fs::write(here.join("a.c"), moved).unwrap();
    let second = run(here, &["a.c", "--check", "--baseline", "known.json"]);
    assert_eq!(second.status.code(), Some(0), "{}", said(&second));
    assert!(
        !said(&second).contains("-->") && said(&second).contains("3 reviewed messages"),
        "{}",
        said(&second)
    );
    // A new one is shown.
    let more = text(here.join("a.c")).replace("}\n", "#pragma acc update self(a[1:n])\n}\n");
    fs::write(here.join("a.c"), more).unwrap();
    let third = run(here, &["a.c", "--check", "--baseline", "known.json"]);
    assert_eq!(third.status.code(), Some(0), "{}", said(&third));
    assert_eq!(said(&third).matches("-->").count(), 1, "{}", said(&third));
    let left = text(here.join("a.c")).replace("}\n", "#pragma acc nothing more\n}\n");
    fs::write(here.join("a.c"), left).unwrap();
    assert_eq!(run(here, &["a.c", "--check", "--baseline", "known.json"]).status.code(), Some(1));
    fs::write(here.join("known.json"), "{}").unwrap();
    assert_eq!(run(here, &["a.c", "--check", "--baseline", "known.json"]).status.code(), Some(2));
}

#[test]
fn many_directives_need_few_lines() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let loops: String = (0..5)
            .map(|at| {
                format!(
                    "void f{at}(int n, double *a)\n{{\n#pragma acc parallel loop present(a[0:n])\n    \
                     for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n#pragma acc update self(a[0:n])\n}}\n"
                )
            })
            .collect();
        fs::write(place.path().join(format!("{number}.c")), loops).unwrap();
    }
    let output = run(place.path(), &[".", "--check"]);
    let said = said(&output);
    assert!(said.contains(" 400 "), "{said}");
    assert!(said.lines().count() < 50, "{} lines:\n{said}", said.lines().count());
    let all = run(place.path(), &[".", "--check", "-v"]);
    assert_eq!(String::from_utf8_lossy(&all.stderr).matches("-->").count(), 400);
}

/// What the page shows to somebody who filters, ticks and exports; the script in `page/drive.js` is that reader.
fn driven(page: &str, folder: &Path) -> Value {
    let drive = format!("<script>{}</script></body>", text(root("tests/it/page/drive.js")));
    let file = folder.join("driven.html");
    fs::write(&file, page.replace("</body>", &drive)).unwrap();
    let dom = browser(folder, &["--dump-dom"], &file).stdout;
    let dom = String::from_utf8_lossy(&dom).into_owned();
    let (_, seen) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("the script did not end"));
    let seen = seen.split("</pre>").next().unwrap();
    json(seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").as_bytes())
}

fn browser(folder: &Path, arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", file.display()));
    command.output().expect("chromium is not there: `cargo xtask setup` installs it")
}

/// The pictures of `docs/report.md`, which `UPDATE_PICTURES=1` makes anew.
fn pictures(page: &str, folder: &Path) {
    let review = "<script>document.getElementById('show-review').click();\
                  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))</script></body>";
    for (name, page) in [("start", page.to_owned()), ("review", page.replace("</body>", review))] {
        let file = folder.join(format!("{name}.html"));
        fs::write(&file, page).unwrap();
        let picture: PathBuf = root(&format!("docs/pictures/{name}.png"));
        let shot = format!("--screenshot={}", picture.display());
        browser(folder, &[&shot, "--window-size=1200,720", "--hide-scrollbars"], &file);
    }
}

#[test]
fn a_browser_shows_filters_ticks_and_exports() {
    let place = tempfile::tempdir().unwrap();
    let output = run(&root("."), &["fixtures/c", "--check", "--format", "html"]);
    let page = String::from_utf8(output.stdout).unwrap();
    let start = Instant::now();
    let seen = driven(&page, place.path());
    println!("driven in {:?}, slowest step {} ms", start.elapsed(), seen["slowest_ms"]);
    assert!(start.elapsed() < Duration::from_secs(100));
    assert_eq!(seen["errors"].as_array().unwrap().len(), 0, "{}", seen["errors"]);
    let count = |name: &str| seen[name].as_u64().unwrap();
    assert!(count("all") > 2000 && count("tiles") == 8, "{seen}");
    let sum: u64 = seen["by_status"].as_object().unwrap().values().map(|one| one.as_u64().unwrap()).sum();
    assert_eq!(sum, count("all"));
    assert!(count("of_file") > 0 && count("of_file") < 100 && count("of_code") > 1, "{seen}");
    assert!(seen["card"].as_str().unwrap().contains(seen["code"].as_str().unwrap()), "{}", seen["card"]);
    assert!(seen["progress"].as_str().unwrap().starts_with("2 of"), "{}", seen["progress"]);
    // Of thousands of rows, those in sight are in the page.
    assert!(count("rows_in_page") < 100 && count("marked") == 1, "{seen}");
    // A busy machine may take ten times as long as a quiet one.
    assert!(seen["slowest_ms"].as_f64().unwrap() < 1000.0, "{}", seen["slowest_ms"]);
    // What is exported is a baseline.
    let known = place.path().join("known.json");
    fs::write(&known, seen["exported"].as_str().unwrap()).unwrap();
    let arguments = ["fixtures/c", "--check", "--baseline", known.to_str().unwrap()];
    assert!(said(&run(&root("."), &arguments)).contains("2 reviewed messages"));
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        pictures(&page, place.path());
    }
}

#[test]
fn a_page_needs_nothing_else() {
    let place = folder("/* </script><b>x</b> */\nvoid f(void)\n{\n#pragma acc nothing\n}\n");
    let page = String::from_utf8(run(place.path(), &["a.c", "--check", "--format", "html"]).stdout).unwrap();
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<b>x"));
    for loads in ["src=", "@import", "http://", "url(", "<link"] {
        assert!(!page.contains(loads), "{loads}");
    }
}
