//! How files are built: what is read of the commands.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use std::fs;

use super::*;

fn names(flags: &CompilerFlags) -> String {
    let all = flags.predefined.names().map(|(name, line)| line.unwrap_or(&format!("!{name}")).to_owned());
    all.collect::<Vec<_>>().join("; ")
}

#[test]
fn words_of_commands_are_read() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    ["inc", "sys"].iter().for_each(|name| fs::create_dir(root.join(name)).unwrap());
    fs::write(root.join("inc/first.h"), "").unwrap();
    fs::write(root.join("more"), "-DMORE='a b'\n@more2 -U MORE2").unwrap();
    fs::write(root.join("more2"), "-DMORE2").unwrap();
    let command = "cc -DA -D B=2 '-DT=\"x y\"' -Wp,-DW,-UV -Iinc -Ino -isystem sys -isysroot /x \
            -include first.h -Wp,-include,first.h -Xclang -imacrosinc/first.h -include-pch x @more -DLAST -o -UX a.c";
    let flags = CompilerFlags::read(shlex::split(command).unwrap(), &root);
    assert_eq!(names(&flags), "A 1; B 2; LAST 1; MORE a b; !MORE2; T \"x y\"; !V; W 1; !X");
    assert_eq!(flags.folders, [root.join("inc")]);
    assert_eq!(flags.system, [root.join("sys")]);
    assert_eq!(flags.first, vec![root.join("inc/first.h"); 3]);
}

#[test]
fn options_say_how_long_fixed_lines_are() {
    let column = |command: &str| {
        let words = command.split(' ').map(str::to_owned).collect();
        CompilerFlags::read(words, Path::new(".")).predefined.last_column()
    };
    assert_eq!(column("gfortran -ffixed-line-length-132 -c a.f"), Some(132));
    assert_eq!(column("flang -ffixed-line-length=100 a.f"), Some(100));
    assert!(column("gfortran -ffixed-line-length-none a.f").is_some_and(|column| column > 10_000));
    assert_eq!(column("ifx -extend-source 80 a.f"), Some(80));
    assert_eq!(column("ifx -extend-source -c a.f"), Some(132));
    assert_eq!(column("gfortran -c a.f"), None);
}

#[test]
fn entries_for_one_file_say_what_all_of_them_say() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    ["a.c", "b.c", "silent.c", "open.c"].iter().for_each(|name| fs::write(root.join(name), "").unwrap());
    let text = r#"[{"directory": "BUILD", "file": "../a.c", "command": "cc -DP=4 -DGPU -DN=1 -c ../a.c", "output": "a4.o"},
            {"directory": "BUILD", "file": "../a.c", "arguments": ["cc", "-DP=8", "-DGPU", "-DN=1"]},
            {"directory": ".", "file": "b.c", "arguments": ["cc", "-UGPU", "-DN=1"]},
            {"directory": ".", "file": "gone.c", "arguments": ["cc", "-DX"]},
            {"directory": ".", "file": "silent.c"}, {"directory": ".", "file": "open.c", "command": "cc 'x"}]"#;
    fs::create_dir(root.join("build")).unwrap();
    let text = text.replace("BUILD", &root.join("build").display().to_string());
    fs::write(root.join(DATABASE), text).unwrap();
    let mut all = CompilerFlags::default();
    all.add(Asks::Define, "N=2", &root);
    let build = Build::new(all, Some(&root)).unwrap();
    let said = |name: &str| build.listed(&root.join(name)).map(|flags| names(flags));
    assert_eq!(said("a.c").unwrap(), "GPU 1; N 2");
    assert_eq!(said("b.c").unwrap(), "!GPU; N 2");
    assert_eq!((said("c.c"), said("silent.c"), said("open.c")), (None, None, None));
    assert_eq!((names(build.of_included()), names(build.of_all())), ("N 2".to_owned(), "N 2".to_owned()));
    fs::write(root.join(DATABASE), "{").unwrap();
    assert!(Build::new(CompilerFlags::default(), Some(&root.join(DATABASE))).is_err());
}
