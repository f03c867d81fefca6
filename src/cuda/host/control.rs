//! `init`, `shutdown` and `set` as calls of the routines that OpenACC has for them (3.3, 2.14.1 to 2.14.3).
//!
//! Invariant: what a directive says of another device than the one that programs are translated for stays unsaid.

use crate::acc::ast::{ClauseKind, DirectiveKind};

/// The calls that a directive stands for, without what a language writes around them; `number` writes a number of the program.
pub fn calls<'a>(
    kind: DirectiveKind,
    clauses: impl Iterator<Item = &'a ClauseKind>,
    number: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let (mut device, mut calls) = (None, Vec::new());
    for clause in clauses {
        match clause {
            ClauseKind::DeviceNum(expr) => device = Some(number(&expr.text)),
            ClauseKind::DefaultAsync(expr) => {
                calls.push(format!("acc_set_default_async({})", number(&expr.text)));
            }
            _ => {}
        }
    }
    let routine = match kind {
        DirectiveKind::Init => Some("acc_init"),
        DirectiveKind::Shutdown => Some("acc_shutdown"),
        _ => None,
    };
    calls.extend(match (routine, device) {
        (None, device) => device.map(|device| format!("acc_set_device_num({device}, acc_device_nvidia)")),
        (Some(routine), Some(device)) => Some(format!("{routine}_device({device}, acc_device_nvidia)")),
        (Some(routine), None) => Some(format!("{routine}(acc_device_nvidia)")),
    });
    calls
}
