//! The table under the advice on sources.
//!
//! Invariant: the same numbers give the same text.

use super::Summary;
use crate::diag::pages;

/// How much there was to say, by code, and how many edits are proposed.
pub fn advice(summary: &Summary, (pieces, edits): (usize, usize)) -> String {
    let mut out = String::new();
    for (code, counted) in &summary.codes {
        out += &format!("{:>8}  {code}  {}\n", counted.count, pages::title(*code).unwrap_or_default());
    }
    if pieces > 0 {
        out += "\n";
    }
    let word = if pieces == 1 { "piece" } else { "pieces" };
    out + &format!("{pieces} {word} of advice, {edits} with an edit that `--advise --diff` shows\n")
}
