//! Names that device code takes from headers that nobody has read, as a build makes some of its headers itself.
//!
//! Invariant: such a header is included only if a name comes from nowhere else.

use std::collections::BTreeSet;

use super::device::{Device, STANDARD};
use crate::acc::ast::DirectiveKind;
use crate::bind::{Bound, Target};
use crate::cuda::code::text::placed_words;
use crate::cuda::fit::copied::definitions;
use crate::cuda::fit::hosts::is_known_to_devices;
use crate::cuda::program::{Input, Seen, defines};
use crate::diag::{self, Diag};
use crate::scan::Include;
use crate::sema;
use crate::source::Language;

/// What C and C++ say themselves, or headers that every program has.
const KNOWN: [&str; 82] = [
    "alignas",
    "alignof",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "class",
    "clock_t",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "errno",
    "explicit",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "intptr_t",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "private",
    "protected",
    "ptrdiff_t",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "ssize_t",
    "static",
    "std",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "time_t",
    "true",
    "typedef",
    "typename",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "uintptr_t",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "FILE",
    "I",
];

/// How the names of the standard headers' constants begin.
const CONSTANTS: [&str; 22] = [
    "INT", "UINT", "LONG", "ULONG", "LLONG", "ULLONG", "SHRT", "USHRT", "CHAR", "SCHAR", "UCHAR", "SIZE_",
    "PTRDIFF_", "FLT_", "DBL_", "LDBL_", "M_", "HUGE_VAL", "NULL", "NAN", "RAND_MAX", "EXIT_",
];

/// Headers of systems and of libraries that run on the host.
const OF_SYSTEMS: [&str; 16] = [
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "getopt.h",
    "locale.h",
    "malloc.h",
    "memory.h",
    "mpi.h",
    "omp.h",
    "openacc.h",
    "pthread.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "time.h",
    "unistd.h",
];

impl Device {
    /// Includes the headers that nobody has read, if device code takes a name from them.
    pub fn include_unseen(&mut self, input: &Input, diags: &mut Vec<Diag>) {
        if self.is_empty() {
            return;
        }
        let unread: Vec<(bool, &Include)> = unread(input);
        if unread.is_empty() {
            return;
        }
        let Some(name) = unknown(input, input.bound, false) else { return };
        let quoted = unread.iter().any(|(_, include)| include.quoted);
        for (is_own, include) in unread.into_iter().filter(|(_, include)| include.quoted == quoted) {
            if is_own {
                diags.push(diag::header_unread(include.span, &name, &include.path));
            }
            let line = match include.quoted {
                true => format!("#include \"{}\"", include.path),
                false => format!("#include <{}>", include.path),
            };
            if !self.unseen.contains(&line) {
                self.unseen.push(line);
            }
        }
    }
}

/// Whether a header is the compiler's or the system's.
pub fn is_of_system(path: &str) -> bool {
    STANDARD.contains(&path) || OF_SYSTEMS.contains(&path) || path.starts_with("sys/") || !path.contains('.')
}

/// The headers that are included and were not read, and whether the source itself includes them.
fn unread<'a>(input: &Input<'a>) -> Vec<(bool, &'a Include)> {
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let read: BTreeSet<String> = input.headers.iter().map(|seen| name(&seen.file.name)).collect();
    let own = input.source.scan.includes.iter().map(|include| (true, include));
    let others = input.headers.iter().flat_map(|seen| &seen.scan.includes).map(|include| (false, include));
    let is_unread = |(_, include): &(bool, &Include)| {
        include.active && !is_of_system(&include.path) && !read.contains(&name(&include.path))
    };
    own.chain(others).filter(is_unread).collect()
}

/// A name that a directive's code takes from the files that include its header: the header's device file has none.
pub fn includers_name(input: &Input, index: usize) -> Option<String> {
    let is_header = input.file().language == Language::Header;
    (is_header && unread(input).is_empty())
        .then(|| unknown(input, &input.bound[index..=index], true))
        .flatten()
}

/// A name in the device code of directives that no file that was read declares; of functions, too, if `functions`.
fn unknown(input: &Input, directives: &[Bound], functions: bool) -> Option<String> {
    let mut pending: Vec<String> = Vec::new();
    for bound in directives {
        let region = match (bound.directive.kind, bound.target) {
            (kind, Target::Stmt(stmt)) if kind.is_compute() => {
                for (symbol, _) in sema::uses(input.unit(), input.symbols, stmt).iter() {
                    let declaration = input.declaration(symbol);
                    pending.extend(declaration.map(|(seen, decl)| seen.code(decl.span).into_owned()));
                }
                input.stmt_span(stmt)
            }
            (DirectiveKind::Routine, Target::Function(id)) => input.unit().function(id).span,
            _ => continue,
        };
        pending.push(input.source.code(region).into_owned());
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(text) = pending.pop() {
        for word in taken(&text, functions) {
            if !known.insert(word.to_owned()) {
                continue;
            }
            let define = defines::define(input, word);
            pending.extend(define.map(|define| define.body.clone()));
            known.extend(define.into_iter().flat_map(|define| define.params.iter().flatten().cloned()));
            let seen_here = || input.headers.iter().chain([&input.source]);
            for seen in seen_here() {
                pending.extend(definitions(seen, word).into_iter().map(|span| seen.code(span).into_owned()));
            }
            if define.is_none() && !seen_here().any(|seen| declares(seen, word)) {
                return Some(word.to_owned());
            }
        }
    }
    None
}

/// The words of a text that other text must declare: no keywords, no members, and of functions none that a library has.
fn taken(text: &str, functions: bool) -> impl Iterator<Item = &str> {
    let is_taken = move |(at, word): &(usize, &str)| {
        let before = text[..*at].trim_end();
        let after = text[at + word.len()..].trim_start();
        let is_constant = CONSTANTS.iter().any(|lead| word.starts_with(lead));
        let is_word = word.starts_with(|c: char| c.is_alphabetic());
        let is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
        let is_known = !functions || is_of_library(word);
        let is_call = after.starts_with("::") || is_known && after.starts_with('(');
        is_word && !is_member && !is_call && !is_constant && !KNOWN.contains(word)
    };
    placed_words(text).into_iter().filter(is_taken).map(|(_, word)| word)
}

/// Whether a function is one of C's library, of the compiler or of OpenACC.
fn is_of_library(name: &str) -> bool {
    let is_known = |name: &str| is_known_to_devices(name) || sema::overloaded(name).is_some();
    let is_other = matches!(name, "assert" | "labs" | "llabs" | "clock" | "abort");
    let is_reserved = name.starts_with("acc_") || name.contains("__");
    is_other || is_reserved || is_known(name) || is_known(name.trim_end_matches(['f', 'l']))
}

/// Whether a file declares a name, as whatever.
fn declares(seen: &Seen, word: &str) -> bool {
    let unit = seen.unit;
    unit.decls_named(word).next().is_some()
        || unit
            .functions
            .iter()
            .any(|function| function.name == word || function.member_of.as_deref() == Some(word))
        || unit.records_named(word).next().is_some()
        || unit.enums.iter().any(|tag| tag == word)
}
