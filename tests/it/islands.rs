//! What is passed over of large files changes nothing, nor that their parts are translated one by one.
//!
//! Invariant: a source is translated alike, and mentioned alike, whether functions that have nothing to do with its directives
//! are read or not, and whether functions that have nothing to do with one another are read together or not.

use acc2omp::budget::Threads;
use acc2omp::report;
use acc2omp::scan::{self, View};
use acc2omp::source::{Language, Languages, SourceFile};
use acc2omp::{Options, Source, To, translate};

use super::{files, shown};

/// Whether a source is translated at all; what is different if not all of it is read, or not all of it together.
fn alike(name: &str, bytes: &[u8], language: Language, to: To) -> Result<bool, String> {
    let source = Source::new(name, bytes.to_vec(), language);
    let read = |islands_from, parts_from| {
        // Parts are translated on another thread, too.
        let threads = Threads::default();
        threads.free();
        let options = Options { islands_from, parts_from, to, threads, ..Options::default() };
        let translation = translate(&source, &options);
        let said = report::diagnostics(&source.file, &translation.diagnostics, report::Manner::default());
        let beside = translation.beside.iter().map(|file| String::from_utf8_lossy(&file.text).into_owned());
        let beside: Vec<String> = beside.collect();
        (String::from_utf8_lossy(&translation.text).into_owned(), said, beside)
    };
    let never = usize::MAX;
    let whole = read(never, never);
    let mut ways = vec![("islands", 0, never)];
    // Files are not translated to CUDA in parts.
    ways.extend((to == To::OpenMp).then_some(("parts", never, 0)));
    for (how, islands_from, parts_from) in ways {
        let other = read(islands_from, parts_from);
        if whole != other {
            return Err(format!("{name} ({to:?}, {how}):\n{}", first_difference(&whole, &other)));
        }
    }
    Ok(whole.0.as_bytes() != bytes)
}

/// The lines where two translations begin to differ.
fn first_difference(
    whole: &(String, String, Vec<String>),
    islands: &(String, String, Vec<String>),
) -> String {
    let all = |one: &(String, String, Vec<String>)| format!("{}{}{}", one.1, one.0, one.2.concat());
    let (whole, islands) = (all(whole), all(islands));
    let mut lines = whole.lines().zip(islands.lines());
    let differs = lines.find(|(one, other)| one != other);
    differs.map_or_else(|| "in length".to_owned(), |(one, other)| format!("- {one}\n+ {other}"))
}

/// So many fixtures are read alone for one that is read with another one after it.
const ALONE: usize = 4;

/// A fixture with a function whose name kernels use for a counter: they have another one where they see it.
const HAS_COUNTERS_NAME: &str = "functions-named-as-counters";

/// So many fixtures of a language have several parts without their main program, at least.
const DIVIDED: usize = 3;

/// Translates all fixtures in a language, and counts those that change; some with the code of another one after them, which
/// has nothing to do with their directives.
fn fixtures(to: To, is_of: impl Fn(Language) -> bool) -> usize {
    let all: Vec<(String, Vec<u8>, Language)> = files("fixtures")
        .into_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let language = scan::language_of(&path, &bytes, &Languages::default())?;
            is_of(language).then(|| (shown(&path), bytes, language))
        })
        .collect();
    let is_other = |name: &str| !name.contains(HAS_COUNTERS_NAME);
    let mut others: Vec<Option<Vec<u8>>> = all
        .iter()
        .map(|(name, bytes, language)| is_other(name).then(|| without_directives(bytes, *language)).flatten())
        .collect();
    others.rotate_left(1);
    let (mut translated, mut divided, mut different) = (0, 0, Vec::new());
    // A file is read in the same way for both back ends; that of CUDA asks more of what was read, and takes longer.
    let step = if to == To::Cuda { 3 } else { 1 };
    for (at, ((name, bytes, language), other)) in all.iter().zip(&others).enumerate().step_by(step) {
        if let Some(other) = other.as_ref().filter(|_| at % ALONE == 0) {
            let both = [bytes, &b"\n"[..], other].concat();
            different.extend(alike(&format!("{name} with another"), &both, *language, to).err());
        }
        // Without a main program, which calls them, functions have less to do with one another.
        if let Some(parts) = without_main(bytes, *language).filter(|_| to == To::OpenMp) {
            let file = SourceFile::new(name.clone(), parts.clone(), *language);
            let (scan, _) = scan::scan(&file, &View::default());
            divided += usize::from(scan::parts(&file, &scan, &[], &|_| true, 0).is_some());
            different.extend(alike(&format!("{name} without its main program"), &parts, *language, to).err());
        }
        match alike(name, bytes, *language, to) {
            Ok(is_changed) => translated += usize::from(is_changed),
            Err(how) => different.push(how),
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(to == To::Cuda || divided > DIVIDED, "{divided}");
    translated
}

/// A source without its main program.
fn without_main(bytes: &[u8], language: Language) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if !language.is_fortran() {
        let start = text.find("\nint main(")?;
        let end = start + text[start..].find("\n}")? + 2;
        return Some([&text[..start], &text[end..]].concat().into_bytes());
    }
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &&str, word: &str| line.trim_start().to_ascii_lowercase().starts_with(word);
    let start = lines.iter().position(|line| begins(line, "program "))?;
    let end = lines.iter().rposition(|line| begins(line, "end program"))?;
    Some([lines.get(..start)?, lines.get(end + 1..)?].concat().join("\n").into_bytes())
}

/// A source without what is OpenACC's or OpenMP's in it, and with other names for its main program.
fn without_directives(bytes: &[u8], language: Language) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_of_directive = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["acc", "omp", "pragma", "!$", "#"].iter().any(|word| line.contains(word))
    };
    let goes_on = |line: &str| line.trim_end().ends_with('\\');
    if text.lines().any(goes_on) {
        return None;
    }
    let lines: Vec<&str> = text.lines().filter(|line| !is_of_directive(line)).collect();
    let main = if language.is_fortran() { "program " } else { " main(" };
    let other = if language.is_fortran() { "program other_" } else { " other_main(" };
    Some(lines.join("\n").replace(main, other).into_bytes())
}

#[test]
fn fixtures_in_c_read_in_part_become_the_same() {
    for (to, least) in [(To::OpenMp, 150), (To::Cuda, 50)] {
        let translated = fixtures(to, |language| language == Language::C);
        assert!(translated > least, "{translated}");
    }
}

#[test]
fn fixtures_in_cpp_read_in_part_become_the_same() {
    for (to, least) in [(To::OpenMp, 40), (To::Cuda, 13)] {
        let translated = fixtures(to, |language| language == Language::Cpp);
        assert!(translated > least, "{translated}");
    }
}

#[test]
fn fixtures_in_fortran_read_in_part_become_the_same() {
    for (to, least) in [(To::OpenMp, 100), (To::Cuda, 33)] {
        let translated = fixtures(to, |language| language.is_fortran());
        assert!(translated > least, "{translated}");
    }
}

#[test]
fn what_is_passed_over_is_not_read() {
    let construct = "void k(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) a[i] = 0;\n}\n";
    let other = "int g(int a)\n{\nreturn a + + + ;\n}\nint main(void)\n{\nreturn g(1);\n}\n";
    let text = format!("{construct}{other}");
    assert_eq!(alike("apart.c", text.as_bytes(), Language::C, To::OpenMp), Ok(true));
    let spent = |islands_from: usize| {
        let many = (0..300).map(|k| other.replace("g(", &format!("g{k}(")).replace("main", &format!("m{k}")));
        let text = format!("{construct}{}", many.collect::<String>());
        let source = Source::new("many.c", text.into_bytes(), Language::C);
        let before = super::scaling::spent();
        translate(&source, &Options { islands_from, ..Options::default() });
        super::scaling::spent().saturating_sub(before).as_secs_f64()
    };
    let least = |islands_from: usize| (0..4).map(|_| spent(islands_from)).fold(f64::MAX, f64::min);
    let (whole, islands) = (least(usize::MAX), least(0));
    assert!(islands < whole, "{islands} {whole}");
}
