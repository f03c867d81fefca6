//! What was found out about loops, a line each, as a compiler tells it.
//!
//! Invariant: each line begins with the file and the number of the loop's line.

use std::fmt::Write;

use crate::source::{SourceFile, Span};

/// What was found out about one loop of a `kernels` region, or with `auto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFeedback {
    /// The bytes of the loop.
    pub span: Span,
    /// Whether it is parallel.
    pub verdict: LoopVerdict,
}

/// Whether a loop is parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopVerdict {
    /// Its iterations may run in any order.
    Parallel {
        /// Variables that each iteration has its own of.
        private: Vec<String>,
        /// Variables that are combined: the operator, or `max` or `min`, and the name.
        reductions: Vec<(String, String)>,
        /// The user says so; it is not proven.
        asserted: bool,
        /// Variables that are computed from the loop variables, as `k = i * 2`.
        computed: Vec<String>,
        /// Who shares its iterations out, as `gang vector`; empty: nobody, as the loops around it use the device already.
        levels: &'static str,
    },
    /// They are run in their order.
    Sequential {
        /// Why.
        reason: String,
        /// Two iterations meet in memory, as far as is known.
        by_dependence: bool,
    },
}

/// The lines of one file.
pub fn loops(file: &SourceFile, loops: &[LoopFeedback]) -> String {
    let mut text = String::new();
    for one in loops {
        let line = file.lines.line(one.span.start) + 1;
        let _ = writeln!(text, "{}:{line}: loop: {}", file.name, verdict(&one.verdict));
    }
    text
}

/// A verdict in words.
pub fn verdict(verdict: &LoopVerdict) -> String {
    match verdict {
        LoopVerdict::Parallel { private, reductions, asserted, computed, levels } => {
            let mut words = "parallel".to_owned();
            words.push_str(if *asserted { ", as the program says" } else { "" });
            match *levels {
                "" => words.push_str(", run by one thread inside the loops around it"),
                levels => words.extend([", ", levels]),
            }
            for (operator, name) in reductions {
                let _ = write!(words, "; reduction({operator}: {name})");
            }
            if !private.is_empty() {
                let _ = write!(words, "; private({})", private.join(", "));
            }
            if !computed.is_empty() {
                let _ = write!(words, "; computed: {}", computed.join(", "));
            }
            words
        }
        LoopVerdict::Sequential { reason, .. } => format!("sequential: {reason}"),
    }
}
