//! Which headers a source is read with.
//!
//! Invariant: what compilers would find is found; where two headers are as near, none is taken.

use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::cli::Headers;
use acc2omp::source::{Language, SourceFile};
use acc2omp::{Options, Source, To, translate};

/// A folder with files, and the source of the first of them.
fn source(files: &[(&str, &str)]) -> Source {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let all: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let headers = Headers::among(vec![root], &all, To::OpenMp);
    let file = SourceFile::new(files[0].0, files[0].1.as_bytes().to_vec(), Language::C);
    headers.source(file, &paths[0])
}

#[test]
fn the_nearest_header_of_a_name_is_read() {
    let one = ("a/src/x.c", "#include \"sizes.h\"\n");
    assert_eq!(source(&[one, ("a/inc/sizes.h", ""), ("b/inc/sizes.h", "")]).headers.len(), 1);
    assert_eq!(source(&[one, ("b/inc/sizes.h", ""), ("c/inc/sizes.h", "")]).headers.len(), 0);
    assert_eq!(source(&[one, ("a/inc/other.h", "")]).headers.len(), 0);
    let deep = ("a/src/x.c", "#include \"lib/sizes.h\"\n");
    assert_eq!(source(&[deep, ("a/inc/lib/sizes.h", ""), ("a/inc/sizes.h", "")]).headers.len(), 1);
}

#[test]
fn a_header_is_what_the_file_is_shown() {
    let header = (
        "x.h",
        "extern int n, w;\n#pragma acc declare create(n)\n#ifdef WIDE\n#pragma acc declare create(w)\n#endif\n",
    );
    let placed = |text: &str| {
        let source = source(&[("x.c", &format!("{text}int n, w;\n")), header]);
        let translation = translate(&source, &Options { to: To::Cuda, ..Options::default() });
        let text = String::from_utf8(translation.text).unwrap();
        ["n", "w"].map(|name| text.contains(&format!("acc2omp_declare(&{name}")))
    };
    assert_eq!(placed("#include \"x.h\"\n"), [true, false]);
    assert_eq!(placed("#define WIDE\n#include \"x.h\"\n"), [true, true]);
    assert_eq!(placed("#define WIDE\n#undef WIDE\n#include \"x.h\"\n"), [true, false]);
    // Met where nobody sees it, and again.
    let again = "#ifdef NO\n#include \"x.h\"\n#endif\n#define WIDE\n#include \"x.h\"\n";
    assert_eq!(placed(again), [true, true]);
}
