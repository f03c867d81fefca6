//! Macros of the program that have the name of a word of OpenMP: compilers replace them in directives.
//!
//! Invariant: only words that the translation uses are mentioned.

use std::collections::BTreeSet;

use crate::diag::{self, Diag};
use crate::scan::{self, Define, View};
use crate::source;

use super::{Outcome, Source, Translation};

/// The words of directives and clauses of OpenMP that translations have.
const WORDS: [&str; 58] = [
    "target",
    "teams",
    "distribute",
    "parallel",
    "for",
    "simd",
    "loop",
    "do",
    "data",
    "enter",
    "exit",
    "update",
    "declare",
    "end",
    "task",
    "taskwait",
    "taskgroup",
    "atomic",
    "read",
    "write",
    "capture",
    "critical",
    "single",
    "masked",
    "ordered",
    "barrier",
    "map",
    "to",
    "from",
    "tofrom",
    "alloc",
    "release",
    "delete",
    "always",
    "close",
    "present",
    "private",
    "firstprivate",
    "lastprivate",
    "shared",
    "reduction",
    "nowait",
    "depend",
    "inout",
    "in",
    "out",
    "collapse",
    "device",
    "is_device_ptr",
    "use_device_ptr",
    "use_device_addr",
    "num_teams",
    "thread_limit",
    "num_threads",
    "schedule",
    "dist_schedule",
    "static",
    "bind",
];

impl Translation {
    /// Says which directives have become such a word.
    pub(super) fn say_replaced(&mut self, source: &Source) {
        if self.edits.is_empty() {
            return;
        }
        let file = &source.file;
        let own: Vec<Define> = match memchr::memmem::find(&file.bytes, b"define") {
            Some(_) => scan::scan(file, &View::default()).0.defines,
            None => scan::predefined(file).collect(),
        };
        let of_headers = source.headers.iter().flat_map(|header| &header.scan.defines);
        let is_word = |define: &&Define| WORDS.contains(&define.name.as_str()) && define.body != define.name;
        let defines = of_headers.chain(&own).filter(is_word);
        let names: BTreeSet<&str> = defines.map(|define| define.name.as_str()).collect();
        if names.is_empty() {
            return;
        }
        let mut said: Vec<Diag> = Vec::new();
        for edit in &self.edits {
            let text = String::from_utf8_lossy(&edit.text);
            let at = self.directives.partition_point(|one| one.span.start <= edit.span.start);
            let before = at.checked_sub(1).and_then(|at| self.directives.get(at));
            let place = before.filter(|one| one.outcome != Outcome::Left).map_or(edit.span, |one| one.span);
            let mut words = source::words(&text);
            if !words.clone().any(|word| word == "omp") {
                continue;
            }
            if let Some(word) = words.find(|word| names.contains(word)) {
                said.push(diag::macro_named_as_word(place, word));
            }
        }
        if !said.is_empty() {
            self.diagnostics.extend(said);
            self.mark();
            self.settle();
        }
    }
}
