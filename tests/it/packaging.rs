//! What stands in `packaging/`, and what shells and `man` read.
//!
//! Invariant: scripts are run as their hosts run them, with the program of this build.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{root, text};

/// A file that is translated, with something that is weaker.
const SOURCE: &str = "void f(int n, double *a)\n{\n#pragma acc update self(a[0:n])\n}\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), SOURCE).unwrap();
    folder
}

/// Runs a script of bash in `folder`, where `acc2omp` is the program of this build.
fn bash(folder: &Path, script: &str, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_acc2omp"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(folder).env("PATH", path).env_remove("GITHUB_STEP_SUMMARY");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn says(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_acc2omp")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_action_annotates_and_reports() {
    let place = folder();
    let script = text(root("packaging/github/check.sh"));
    fs::write(place.path().join("b c.c"), SOURCE).unwrap();
    let variables = [
        ("ACC2OMP_PATHS", "a.c\n'b c.c'"),
        ("ACC2OMP_OPTIONS", "--omp 4.5\n-D 'F(x)=x + 1'"),
        ("ACC2OMP_BASELINE", ""),
        ("ACC2OMP_REPORT", "r.html"),
    ];
    let output = bash(place.path(), &script, &variables);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.starts_with("::warning file=a.c,line=3"), "{said}");
    assert!(text(place.path().join("r.html")).contains("A0204"));
    assert!(text(place.path().join("r.html")).contains("b c.c"));
    for (name, _) in variables {
        assert!(
            text(root("packaging/github/action.yml")).contains(&format!("{name}: ${{{{ inputs.")),
            "{name}"
        );
    }
}

#[test]
fn the_job_keeps_reports() {
    let place = folder();
    let job = text(root("packaging/gitlab/acc2omp.yml"));
    let (_, rest) = job.split_once("  script:\n").unwrap();
    let script: Vec<&str> = rest.lines().map_while(|line| line.strip_prefix("    - ")).collect();
    assert_eq!(script.len(), 5);
    let output = bash(place.path(), &script.join("\n"), &[("ACC2OMP_PATHS", "a.c"), ("ACC2OMP_OPTIONS", "")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(place.path().join("acc2omp.json").is_file() && place.path().join("acc2omp.html").is_file());
}

#[test]
fn the_hook_takes_files() {
    let place = folder();
    let hooks = text(root(".pre-commit-hooks.yaml"));
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: ")).unwrap();
    assert!(bash(place.path(), &format!("{entry} a.c"), &[]).status.success());
    fs::write(place.path().join("b.c"), SOURCE.replace("update", "nothing")).unwrap();
    assert_eq!(bash(place.path(), &format!("{entry} a.c b.c"), &[]).status.code(), Some(1));
    // The example passes a baseline, whatever files of it have changed.
    assert!(text(root("packaging/pre-commit/example.yaml")).contains("[--baseline, reviewed.json]"));
    bash(place.path(), "acc2omp a.c b.c --check --quiet --write-baseline reviewed.json", &[]);
    let output = bash(place.path(), &format!("{entry} --baseline reviewed.json a.c"), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn versions_agree() {
    let package = text(root("packaging/spack/package.py"));
    let cargo: toml::Value = toml::from_str(&text(root("Cargo.toml"))).unwrap();
    let own = &cargo["workspace"]["package"];
    let version = own["version"].as_str().unwrap();
    assert!(package.contains(&format!("version(\"{version}\"")), "packaging/spack/package.py");
    assert!(text(root("packaging/README.md")).contains(&format!("acc2omp-{version}.crate")));
    let license = own["license"].as_str().unwrap();
    assert!(package.contains(&format!("license(\"{license}\")")), "packaging/spack/package.py");
    let rust = own["rust-version"].as_str().unwrap();
    assert!(package.contains(&format!("rust@{rust}:")), "packaging/spack/package.py");
}

/// Literals of a source that begin so, each up to the next quotation mark.
fn literals<'a>(source: &'a str, begin: &str) -> Vec<&'a str> {
    let begins = source.match_indices(begin);
    begins.filter_map(|(at, _)| source[at..].split('"').next()).collect()
}

#[test]
fn spack_installs_what_the_archive_has() {
    let (spack, dist) = (text(root("packaging/spack/package.py")), text(root("xtask/src/dist.rs")));
    let places = literals(&spack, "share/");
    let completions: Vec<&str> =
        literals(&dist, "share/").into_iter().filter(|place| place.contains("acc2omp")).collect();
    assert!(
        completions.iter().filter(|place| !place.contains("/doc/")).all(|place| places.contains(place)),
        "{places:?}"
    );
    let list = |source: &str, begin: &str| {
        let (_, rest) = source.split_once(begin).unwrap();
        let names =
            rest.split_once(']').unwrap().0.split(['"', ',', ' ', '\n']).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let topics = list(&dist, "const TOPICS: [&str; 8] = [");
    assert_eq!(list(&spack, "for topic in ["), topics);
    assert!(topics.iter().all(|topic| says(&["--help"]).contains(topic.as_str())));
}

#[test]
fn modules_keep_what_is_searched_anyway() {
    let files = ["acc2omp.lua", "acc2omp.tcl"].map(|name| text(root("packaging/modulefiles").join(name)));
    let plain = |text: &str| text.replace("_path(", "-path ").replace(['"', ',', ')'], "");
    let paths = files.map(|text| {
        let text = plain(&text).replace("MANPATH {}", "MANPATH ");
        text.lines().filter(|line| line.contains("-path ")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(paths[0], paths[1]);
    for path in
        ["prepend-path PATH @prefix@/bin", "append-path MANPATH ", "append-path XDG_DATA_DIRS /usr/share"]
    {
        assert!(paths[0].iter().any(|line| line == path), "{path}: {paths:?}");
    }
}

#[test]
fn completions_and_pages_know_the_options() {
    for shell in ["bash", "zsh", "fish"] {
        let text = says(&["completions", shell]);
        for word in ["write-baseline", "verify", "sarif"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let checked = bash(&root("."), "acc2omp completions bash | bash -n", &[]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(says(&["man"]).contains(".TH acc2omp 1"));
    assert!(says(&["man", "verify"]).contains("acc2omp\\-verify"));
    let wrong = Command::new(env!("CARGO_BIN_EXE_acc2omp")).args(["man", "nothing"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
