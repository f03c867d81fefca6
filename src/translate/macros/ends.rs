//! What ends the directives of macros that stand for nothing in other builds: it stands under the condition of the macro.
//!
//! Invariant: where that condition cannot be said after the code, the macro stays.

use crate::diag;
use crate::edit::Edit;
use crate::scan::{self, Fork, Macros, Written};
use crate::source::{SourceFile, Span};

use super::{Edits, Trouble};

/// What ends a function of the device.
const END: &str = "end declare target";

/// Puts the ends of functions whose `routine` directive comes from a macro with other definitions under its condition.
pub fn under_conditions(
    file: &SourceFile,
    macros: &Macros,
    written: &Written,
    own: &mut Edits,
) -> Result<(), Vec<Trouble>> {
    if !own.iter().any(is_end) {
        return Ok(());
    }
    let forks = scan::forks(file);
    let mut troubles = Vec::new();
    for edit in own.iter_mut().filter(|edit| is_end(edit)) {
        let before = |span: Span| span.end <= edit.span.start;
        let uses = written.uses.iter().enumerate().filter(|(_, used)| before(used.span) && !used.left);
        // What stands between is the function.
        let Some((number, used)) = uses.max_by_key(|(_, used)| used.span.start) else { continue };
        let between = file.text(Span { start: used.span.end, end: edit.span.start });
        if between.contains("#pragma acc routine") {
            continue;
        }
        let calls = written.calls.iter().filter(|call| call.used == number).map(|call| call.of);
        let chosen = std::iter::once(used.of).chain(calls).filter(|of| {
            let one = macros.get(*of);
            !one.is_foreign && macros.of_same_name(*of).any(|other| !macros.get(other).leads_to_directives())
        });
        let mut conditions: Vec<Option<String>> = chosen
            .filter_map(|of| match around(&forks, macros.get(of).span)?.is_about_directives() {
                true => None,
                false => Some(condition(file, &forks, macros.get(of).span)),
            })
            .collect();
        conditions.dedup();
        match conditions.as_slice() {
            [] => {}
            [Some(condition)] => {
                let end = file.line_end(edit.span.start);
                let text = String::from_utf8_lossy(&edit.text).into_owned();
                let lines =
                    text.split_inclusive('\n').map(|line| match line.trim_end_matches(['\r', '\n']) {
                        words if words.contains(END) => {
                            format!("{condition}{end}{words}{end}#endif{}", &line[words.len()..])
                        }
                        _ => line.to_owned(),
                    });
                edit.text = lines.collect::<String>().into_bytes();
            }
            _ => {
                let one = macros.get(used.of);
                troubles.push(Trouble::Macro(used.of, diag::macro_definitions_differ(one.span, &one.name)));
            }
        }
    }
    if troubles.is_empty() { Ok(()) } else { Err(troubles) }
}

fn is_end(edit: &Edit) -> bool {
    memchr::memmem::find(&edit.text, END.as_bytes()).is_some()
}

/// The innermost condition around a line.
fn around(forks: &[Fork], span: Span) -> Option<&Fork> {
    forks.iter().rev().find(|fork| fork.whole.contains(span))
}

/// What asks for the branch of a line: it stands in one condition, whose names no line of the file gives another meaning.
fn condition(file: &SourceFile, forks: &[Fork], span: Span) -> Option<String> {
    let mut all = forks.iter().filter(|fork| fork.whole.contains(span));
    let (fork, None) = (all.next()?, all.next()) else { return None };
    let at = fork.branches.iter().position(|branch| branch.inside.contains(span))?;
    let changes = |name: &str| {
        let lines = String::from_utf8_lossy(&file.bytes).into_owned();
        lines.lines().any(|line| {
            let rest = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
            let rest = rest.strip_prefix("define").or_else(|| rest.strip_prefix("undef"));
            let named = rest.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_').nth(1);
            named == Some(name)
        })
    };
    if fork.names().any(changes) {
        return None;
    }
    let (word, text) = fork.branches[at].condition();
    let (first, asked) = fork.branches[0].condition();
    match (word, first, at) {
        ("else", "ifdef", 1) => Some(format!("#ifndef {asked}")),
        ("else", "ifndef", 1) => Some(format!("#ifdef {asked}")),
        ("else", "if", 1) => Some(format!("#if !({asked})")),
        (word, ..) if at == 0 => Some(format!("#{word} {text}")),
        _ => None,
    }
}
