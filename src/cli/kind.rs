//! Files whose names do not tell a language that is translated.
//!
//! Invariant: one that holds an OpenACC directive, or asks whether OpenACC is there, is named, whatever it is called, unless its name says that it is not a source.

use std::path::Path;

/// Endings of what is not a source: texts, data, scripts, what other programs make.
const NO_SOURCES: [&str; 72] = [
    "1", "adoc", "am", "asciidoc", "aux", "awk", "bak", "bash", "bib", "bmp", "cfg", "cmake", "conf", "css",
    "csv", "dat", "diff", "doc", "docx", "eps", "gif", "go", "gz", "htm", "html", "ini", "ipynb", "java",
    "jl", "jpg", "js", "json", "log", "lua", "m", "md", "mk", "o", "odt", "org", "orig", "out", "patch",
    "pdf", "pl", "pm", "png", "po", "ps", "py", "r", "rb", "rej", "rs", "rst", "sed", "sh", "svg", "tcl",
    "tex", "toml", "ts", "tsv", "txt", "vim", "xml", "xz", "yaml", "yml", "zip", "zsh", "zst",
];

/// How the sentinels begin, each at the beginning of a line.
const SENTINELS: [(&[u8], &str); 4] =
    [(b"#pragma", "c++"), (b"!$acc", "fortran"), (b"c$acc", "fortran"), (b"*$acc", "fortran")];

/// The language of the OpenACC directives in a file whose name tells none, as `--language` calls it; `None` if it has none, and
/// no condition on OpenACC.
pub fn foreign(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let is_source = match &ending {
        Some(ending) => !NO_SOURCES.contains(&ending.as_str()),
        // `README`, `Makefile`; but C++ has headers without an ending.
        None => !path.file_name().is_some_and(is_title),
    };
    let may_hold = || {
        memchr::memmem::find_iter(bytes, b"acc").next().is_some()
            || memchr::memmem::find(bytes, b"ACC").is_some()
    };
    if !is_source || !may_hold() || bytes.contains(&0) {
        return None;
    }
    bytes.split(|byte| *byte == b'\n').find_map(|line| directive(line).or_else(|| condition(line)))
}

/// Whether a file has a condition on OpenACC.
pub fn asks_for_openacc(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"_OPENACC").is_some()
        && bytes.split(|byte| *byte == b'\n').any(|line| condition(line).is_some())
}

/// The language of a line of the preprocessor with a condition on OpenACC: it is C's way.
fn condition(line: &[u8]) -> Option<&'static str> {
    let words = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    let is_condition = words.starts_with(b"if") || words.starts_with(b"elif");
    (is_condition && memchr::memmem::find(words, b"_OPENACC").is_some()).then_some("c++")
}

/// Whether a name without ending is that of a text about the sources.
fn is_title(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_shout = name.bytes().all(|byte| byte.is_ascii_uppercase() || !byte.is_ascii_alphabetic());
    is_shout || name.to_ascii_lowercase().contains("makefile") || ["ChangeLog", "configure"].contains(&&*name)
}

/// The language of the OpenACC directive that begins a line.
fn directive(line: &[u8]) -> Option<&'static str> {
    let code = line.trim_ascii_start();
    SENTINELS.iter().find_map(|(sentinel, language)| {
        let head = code.get(..sentinel.len())?;
        let rest = &code[sentinel.len()..];
        let is_meant = match *language {
            // A comment of fixed form begins in the first column.
            "fortran" if sentinel[0] != b'!' && code.len() != line.len() => false,
            "fortran" => rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'&'),
            _ => {
                let rest = rest.trim_ascii_start();
                rest.starts_with(b"acc") && rest.get(3).is_some_and(u8::is_ascii_whitespace)
            }
        };
        (head.eq_ignore_ascii_case(sentinel) && is_meant).then_some(*language)
    })
}

/// The first line, from one, with a carriage return that something other than blanks follows in it: C's compilers end lines there.
pub fn carriage_return(bytes: &[u8]) -> Option<usize> {
    let is_blank = |byte: &u8| matches!(byte, b'\r' | b' ' | b'\t' | b'\x0c');
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'\r', &bytes[from..]).map(|at| from + at) {
        let after = at + bytes[at..].iter().take_while(|byte| is_blank(byte)).count();
        if bytes.get(after).is_some_and(|byte| *byte != b'\n') {
            return Some(memchr::memchr_iter(b'\n', &bytes[..at]).count() + 1);
        }
        from = after;
    }
    None
}

#[cfg(test)]
mod tests;
