//! What stands where an output belongs and is not acc2omp's: files of others, fifos, and files of one name for two sources.
//!
//! Invariant: each test runs in a folder of its own; what a run refuses is there afterwards, byte for byte, and a second run says
//! the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const BY_HAND: &str = "/* by hand */\n";

const CALL: &str = "#include <openacc.h>\nvoid g(double *a, int n) { acc_copyin(a, n); }\n";

const FOREIGN: &str = "a file that acc2omp has not written: it stays; `--force` replaces it";

/// A function with a construct.
fn function(name: &str) -> String {
    format!(
        "void {name}(int n, double *a)\n{{\n#pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++)\n        \
         a[i] *= 2.0;\n}}\n"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn said(folder: &Path, arguments: &[&str], status: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said:\n{text}");
    text + &String::from_utf8_lossy(&output.stdout)
}

fn text(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn listing(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".acc2omp").collect();
    names.sort();
    names
}

#[test]
fn in_place_and_in_patches_files_of_others_stay() {
    let cuda = function("f");
    for (source, to, names) in [
        (CALL, "openmp", &["acc2omp.h"][..]),
        (&cuda, "cuda", &["a_acc.h", "a_acc.cu", "acc2omp_cuda.h", "acc2omp_cuda.cu"]),
    ] {
        for name in names {
            let place = folder(&[("a.c", source), (name, BY_HAND)]);
            let is_in_patch = !name.starts_with("acc2omp_cuda");
            for how in ["--in-place", "--in-place", "--diff"].into_iter().take(2 + usize::from(is_in_patch)) {
                let text = said(place.path(), &["a.c", "--to", to, how], 2);
                assert!(text.contains(&format!("{name}: {FOREIGN}")), "{name} {how}: {text}");
            }
            assert_eq!(listing(place.path()), if "a.c" < *name { ["a.c", name] } else { [name, "a.c"] });
            assert_eq!((text(&place, "a.c").as_str(), text(&place, name).as_str()), (source, BY_HAND));
            said(place.path(), &["a.c", "--to", to, "--in-place", "--force"], 0);
            assert!(text(&place, "a.c") != source && text(&place, name) != BY_HAND);
        }
    }
}

/// The device code of the first translation would be lost.
#[test]
fn what_a_source_calls_of_an_earlier_translation_stays() {
    let (one, two) = (function("f"), function("f") + &function("g"));
    let place = folder(&[("a.c", &one)]);
    let arguments = ["a.c", "--to", "cuda", "--in-place"];
    said(place.path(), &arguments, 0);
    let (host, header) = (text(&place, "a.c"), text(&place, "a_acc.h"));
    let more = host + &function("g");
    fs::write(place.path().join("a.c"), &more).unwrap();
    let why = "a_acc.h: the source calls code of an earlier translation in it: it stays";
    assert!(said(place.path(), &arguments, 2).contains(why));
    assert_eq!((text(&place, "a.c"), text(&place, "a_acc.h")), (more, header));
    // Who begins with the source again gets all of it.
    fs::write(place.path().join("a.c"), two).unwrap();
    said(place.path(), &arguments, 0);
    assert!(text(&place, "a_acc.h").contains("void a_f_") && text(&place, "a_acc.h").contains("void a_g_"));
}

#[test]
fn device_code_of_two_sources_has_two_names() {
    let files = ["a.c", "a.cpp", "a_c.c", "b.c", "b_acc.h"];
    let functions = ["fa", "fb", "fc", "fd"].map(function);
    let texts: Vec<(&str, &str)> =
        files.into_iter().zip(functions.iter().map(String::as_str).chain([BY_HAND])).collect();
    let place = folder(&texts);
    for _ in 0..2 {
        said(place.path(), &[".", "--to", "cuda", "-o", "out"], 0);
    }
    let out = place.path().join("out");
    for name in ["a_c_acc", "a_c_c_acc", "a_cpp_acc", "b_c_acc"] {
        assert!(
            out.join(format!("{name}.h")).is_file() && out.join(format!("{name}.cu")).is_file(),
            "{name}"
        );
    }
    assert_eq!(fs::read_to_string(out.join("b_acc.h")).unwrap(), BY_HAND);
    // With the endings, too, these have one name.
    let place =
        folder(&[("a.b.c", &functions[0]), ("a_b.c", &functions[1]), ("a.b.cpp", ""), ("a_b.cpp", "")]);
    for how in [&["--in-place"][..], &["--diff"], &["-o", "out"], &["-o", "out"]] {
        let text = said(place.path(), &[&[".", "--to", "cuda"], how].concat(), 2);
        assert!(
            text.contains("error: a.b.c: files of its device code would have the names of those of a_b.c"),
            "{text}"
        );
        assert!(text.contains("error: a_b.c: files of its device code"), "{text}");
    }
    assert_eq!((text(&place, "a.b.c"), text(&place, "a_b.c")), (functions[0].clone(), functions[1].clone()));
}

#[test]
#[cfg(unix)]
fn names_that_no_inclusion_can_have_are_changed() {
    let (one, three) = (
        function("f"),
        "subroutine s(a)\n  real :: a(9)\n  !$acc parallel loop\n  do i = 1, 9\n    a(i) = 1\n  end do\nend\n",
    );
    let place = folder(&[("a\"q.c", &one), ("n\nl.c", &one), ("o\"q.f90", three)]);
    said(place.path(), &[".", "--to", "cuda", "-o", "out"], 0);
    for name in ["a_q_acc.cu", "n_l_acc.cu", "o_q_acc.cu"] {
        assert!(place.path().join("out").join(name).is_file(), "{name}");
    }
    assert!(text(&place, "out/a\"q.c").contains("#include \"a_q_acc.h\""));
    assert!(text(&place, "out/n_l_acc.h").starts_with("// What n_l.c calls"));
}

/// Translates a file that takes a while, and changes it meanwhile.
#[test]
#[cfg(unix)]
fn what_somebody_saves_during_a_run_stays() {
    let calls: String = (0..3000).map(|at| format!("acc_copyin(a, {at}); acc_wait({at});\n")).collect();
    let place = folder(&[("a.c", &format!("#include <openacc.h>\nvoid f(double *a)\n{{\n{calls}}}\n"))]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.args(["a.c", "--in-place", "--jobs", "1"]).current_dir(place.path());
    let file = place.path().join("a.c");
    let before = fs::read_to_string(&file).unwrap();
    let edited = before.clone() + "/* edited */\n";
    // The edit may come before the file is read: then the edit is translated, too.
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    fs::write(&file, &edited).unwrap();
    let status = child.wait().unwrap();
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.ends_with("/* edited */\n"), "{status}");
    assert!(status.code() == Some(2) && after == edited || status.success() && after != edited, "{status}");
}

#[test]
#[cfg(unix)]
fn nothing_waits_for_a_fifo() {
    let source = function("f");
    for (name, status) in
        [("a.c", 0), (".acc2omp/manifest.json", 0), (".acc2omp/lock", 2), (".acc2omp/journal", 2)]
    {
        let place = folder(&[("src/a.c", &source)]);
        said(place.path(), &["src", "-o", "out"], 0);
        let fifo = place.path().join("out").join(name);
        let _ = fs::remove_file(&fifo);
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        said(place.path(), &["src", "-o", "out"], 2);
        let is_named = |text: String| text.contains("manifest.json: not a regular file\n");
        assert!(!name.ends_with("manifest.json") || is_named(said(place.path(), &["drift", "out"], 2)));
        said(place.path(), &["src", "-o", "out", "--force"], status);
    }
    let place = folder(&[("a.c", CALL)]);
    assert!(Command::new("mkfifo").arg(place.path().join("acc2omp.h")).status().unwrap().success());
    assert!(said(place.path(), &["a.c", "--in-place"], 2).contains(FOREIGN));
    assert_eq!(text(&place, "a.c"), CALL);
}

/// What is kept of a file for later merges may fail after the file is there.
#[test]
fn a_file_of_a_run_that_failed_is_known_to_the_next_one() {
    let place = folder(&[("src/a.c", &function("f")), ("out/.acc2omp/base", "not a folder")]);
    let first = said(place.path(), &["src/a.c", "-o", "out"], 2);
    assert!(first.contains("base") && place.path().join("out/a.c").is_file(), "{first}");
    fs::remove_file(place.path().join("out/.acc2omp/base")).unwrap();
    fs::write(place.path().join("src/a.c"), function("g")).unwrap();
    said(place.path(), &["src/a.c", "-o", "out"], 0);
    assert!(text(&place, "out/a.c").contains("void g("));
}

#[test]
fn files_of_options_that_name_themselves_come_to_an_end() {
    let here = |place: &TempDir| place.path().display().to_string().replace('\\', "/");
    let place = folder(&[("a.c", &function("f")), ("o.rsp", "@o.rsp @o.rsp @o.rsp -DX")]);
    let entry = format!(
        "[{{\"directory\": \"{}\", \"file\": \"a.c\", \"command\": \"gcc @o.rsp -c a.c\"}}]",
        here(&place)
    );
    fs::write(place.path().join("compile_commands.json"), entry).unwrap();
    said(place.path(), &["a.c", "-p", ".", "--check"], 0);
}

#[test]
#[cfg(unix)]
fn an_output_follows_the_mode_of_its_source() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder(&[("src/a.c", "int x;\n")]);
    said(place.path(), &["src", "-o", "out"], 0);
    fs::set_permissions(place.path().join("src/a.c"), fs::Permissions::from_mode(0o600)).unwrap();
    said(place.path(), &["src", "-o", "out"], 0);
    let meta = fs::metadata(place.path().join("out/a.c")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
}

#[test]
#[cfg(unix)]
fn a_configuration_that_cannot_be_read_is_an_error() {
    let place = folder(&[("a.c", "int x;\n")]);
    let path = place.path().join("acc2omp.toml");
    for to in ["gone.toml", "acc2omp.toml"] {
        std::os::unix::fs::symlink(to, &path).unwrap();
        assert!(said(place.path(), &["a.c", "--check"], 2).contains("acc2omp.toml: "));
        fs::remove_file(&path).unwrap();
    }
    fs::create_dir(&path).unwrap();
    assert!(said(place.path(), &["a.c", "--check"], 2).contains("acc2omp.toml: is a directory"));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "D = [\"=3\"]\n").unwrap();
    let text = said(place.path(), &["a.c", "--check"], 2);
    assert!(text.contains("acc2omp.toml:1: `D` is `=3`"), "{text}");
}

/// It has its own run-time library, whose names are OpenACC's.
#[test]
fn a_translation_to_cuda_stays_as_it_is_in_one_to_openmp() {
    let c = "#include <openacc.h>\nint f(void)\n{\n    acc_init(acc_device_default);\n#pragma acc parallel\n    ;\n    \
             return acc_get_num_devices(acc_device_nvidia);\n}\n";
    let fortran = "program p\n  use openacc\n  integer :: i, a(8)\n  call acc_init(acc_device_default)\n  \
                   !$acc parallel loop\n  do i = 1, 8\n    a(i) = i\n  end do\n  \
                   print *, a(3), acc_get_num_devices(acc_device_nvidia)\nend program p\n";
    let place = folder(&[("a.c", c), ("b.f90", fortran)]);
    said(place.path(), &["a.c", "b.f90", "--to", "cuda", "--in-place"], 0);
    let names = listing(place.path());
    let texts = || names.iter().map(|name| text(&place, name)).collect::<Vec<_>>();
    let before = texts();
    assert!(before.iter().any(|text| text.contains("acc_async_sync")) && before[0].contains("acc_init"));
    said(place.path(), &[".", "--in-place"], 0);
    assert_eq!((listing(place.path()), texts()), (names.clone(), before));
}
