//! Every message, one constructor a code.
//!
//! Invariant: a message starts in lower case, has no full stop, and says what; the help says what to do; `rules/diag/` says why.

use super::{Code, Diag, Label, Severity};
use crate::source::Span;

fn diag(code: u16, severity: Severity, at: Span, message: String, label: &str, help: &str) -> Diag {
    let primary = Label { span: at, text: label.to_owned() };
    Diag { code: Code(code), severity, message, primary, others: Vec::new(), help: help.to_owned() }
}
