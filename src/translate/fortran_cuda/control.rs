//! `init`, `shutdown` and `set` as calls of the routines that OpenACC has for them (3.3, 2.14.1 to 2.14.3).
//!
//! Invariant: what a directive says of another device than the one that programs are translated for stays unsaid, as in C.

use crate::acc::ast::{ClauseKind, Directive, DirectiveKind};

use super::super::Options;
use super::{counting, int};

/// The calls.
pub fn lines(directive: &Directive, options: &Options) -> Vec<String> {
    let mut number = None;
    let mut lines = Vec::new();
    for clause in counting(directive, options) {
        match clause {
            ClauseKind::DeviceNum(expr) => number = Some(int(&expr.text)),
            ClauseKind::DefaultAsync(expr) => {
                lines.push(format!("call acc_set_default_async({})", int(&expr.text)));
            }
            _ => {}
        }
    }
    let routine = match directive.kind {
        DirectiveKind::Init => "acc_init",
        DirectiveKind::Shutdown => "acc_shutdown",
        _ => "",
    };
    match (routine, number) {
        ("", Some(number)) => lines.push(format!("call acc_set_device_num({number}, acc_device_nvidia)")),
        ("", None) => {}
        (routine, Some(number)) => lines.push(format!("call {routine}_device({number}, acc_device_nvidia)")),
        (routine, None) => lines.push(format!("call {routine}(acc_device_nvidia)")),
    }
    lines
}
