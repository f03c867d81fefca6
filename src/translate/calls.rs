//! Uses of OpenACC's run-time library in texts of our own: finding them, and translating one by itself.
//!
//! Invariant: a text that holds none stays as it is.

use crate::diag::Diag;
use crate::edit::{Edit, EditSet, Rewrite};
use crate::omp::{self, ApiChange};
use crate::scan::{self, View};
use crate::sema::{Others, Symbols};
use crate::source::{Language, SourceFile, Span};
use crate::{bind, host, rules};

/// A text of our own that is longer than a line of Fortran, in free form: continued after commas.
pub fn folded(text: &str) -> String {
    const WIDTH: usize = 80;
    let mut out = String::new();
    let mut width = 0;
    for (at, piece) in text.split_inclusive(", ").enumerate() {
        if at > 0 && width + piece.len() > WIDTH {
            out.truncate(out.trim_end().len());
            out.push_str(" &\n      ");
            width = 0;
        }
        width += piece.len();
        out.push_str(piece);
    }
    out
}

/// Whether a name is the library's.
pub fn is_ours(name: &str) -> bool {
    let name = &*name.to_ascii_lowercase();
    rules::rules().routine(name).is_some() || rules::openacc::table().routine(name).is_some()
}

/// Whether a text begins with a loop variable of ours, which is declared where it is used.
pub fn is_loop_variable(text: &str) -> bool {
    let name = text.split(|c: char| !is_inner(c)).next().unwrap_or_default();
    name.strip_prefix("acc2omp_i").is_some_and(|rest| rest.parse::<u32>().is_ok())
}

/// Whether a name may go on with `c`.
pub fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first use of the library in a text: what stands before it, the name with its arguments, what stands after it.
pub fn next_use(text: &str) -> Option<(&str, &str, &str)> {
    let starts = text.match_indices("acc_").map(|(at, _)| at);
    let begins = |at: &usize| {
        let word = text[..*at].rsplit(|c| !is_inner(c)).next().unwrap_or_default();
        // The kind of a number follows its digits.
        word.is_empty() || word.ends_with('_') && word.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut names = starts.filter(begins).map(|at| {
        let length = text[at..].find(|c: char| !is_inner(c)).unwrap_or(text.len() - at);
        (at, at + length)
    });
    let (start, name_end) = names.find(|(start, end)| is_ours(&text[*start..*end]))?;
    let arguments = &text[name_end..];
    let end = match arguments.trim_start().starts_with('(') {
        true => name_end + closing(arguments)?,
        false => name_end,
    };
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// The length of a text that opens with a parenthesis, to the one that closes it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// A use of the library that stands by itself, translated, and what there is to say of it.
pub fn expression(used: &str, target: omp::Target) -> Option<(String, Vec<Diag>)> {
    let head = "int x = ";
    let file = SourceFile::new("", format!("{head}{used};").into_bytes(), Language::C);
    let (scan, _) = scan::scan(&file, &View::default());
    let unit = host::parse(&file, &scan);
    let symbols = Symbols::new(&unit, &file.bytes, Others::default(), &[]);
    let names: Vec<(String, Span)> = scan
        .names
        .into_iter()
        .filter(|name| is_ours(&name.name))
        .map(|name| (name.name, name.span))
        .collect();
    let uses = bind::api_uses(&unit, &names);
    let sections = omp::Sections { file: &file, unit: &unit, symbols: &symbols };
    let lowered = omp::lower_api(&sections, &uses, target, &|_| false);
    let mut edits = EditSet::default();
    for change in lowered.changes {
        let ApiChange::Text(span, text) = change else { return None };
        edits.add(Rewrite { owner: u32::MAX, edits: vec![Edit { span, text: text.into_bytes() }] }).ok()?;
    }
    let text = String::from_utf8(edits.apply(&file.bytes)).ok()?;
    Some((text.strip_prefix(head)?.strip_suffix(';')?.to_owned(), lowered.diags))
}
