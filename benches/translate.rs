//! Speed of the translation, in MB/s, on the fixtures and on text without directives.
//!
//! Invariant: reads its inputs before the clock starts.

use std::path::{Path, PathBuf};

use acc2omp::source::Language;
use acc2omp::{Options, Source, translate};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// All fixtures in C, one after the other.
#[divan::bench(sample_count = 10)]
fn fixtures(bencher: Bencher) {
    one_by_one(bencher, "fixtures/c");
}

/// All fixtures in Fortran, one after the other.
#[divan::bench(sample_count = 10)]
fn fortran(bencher: Bencher) {
    one_by_one(bencher, "fixtures/fortran");
}

fn one_by_one(bencher: Bencher, folder: &str) {
    let sources = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let bytes: usize = sources.iter().map(|source| source.file.bytes.len()).sum();
    let options = Options::default();
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| sources.iter().map(|source| translate(source, &options).text.len()).sum::<usize>());
}

/// A million lines without the letters of `acc`.
#[divan::bench(sample_count = 10)]
fn no_openacc(bencher: Bencher) {
    repeated(bencher, b"    total += values[i] * scale;\n");
}

/// A million lines that name `acc` and hold no directive.
#[divan::bench(sample_count = 10)]
fn no_directive(bencher: Bencher) {
    repeated(bencher, b"    access(values, i, scale); /* acc */\n");
}

fn repeated(bencher: Bencher, line: &[u8]) {
    let source = Source::new("big.c", line.repeat(1_000_000), Language::C);
    let options = Options::default();
    let counter = BytesCount::new(source.file.bytes.len());
    bencher.counter(counter).bench(|| translate(&source, &options).edits.len());
}

fn read(folder: &Path) -> Vec<Source> {
    let mut files: Vec<PathBuf> =
        walkdir::WalkDir::new(folder).into_iter().flatten().map(|entry| entry.into_path()).collect();
    files.sort();
    let languages = files.iter().filter_map(|path| Some((path, Language::of(path)?)));
    languages
        .filter_map(|(path, language)| {
            Some(Source::new(path.to_string_lossy(), std::fs::read(path).ok()?, language))
        })
        .collect()
}
