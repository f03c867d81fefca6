//! The run-time library of OpenACC in one file: its calls and names, its header, and the guards that ask for it.
//!
//! Invariant: `openacc.h` goes only when no name of it is left.

use std::collections::BTreeMap;

use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::layout;
use crate::omp::{ApiChange, ApiLowered, ast};
use crate::rules;
use crate::scan::{Guard, Include, Scan};
use crate::source::{SourceFile, Span};

/// The header with what OpenMP has no routine for: its name, and its text.
pub const SUPPORT: (&str, &str) = ("acc2omp.h", include_str!("../../rules/api/acc2omp.h"));

/// The owner of the edits made here: no directive.
const OWNER: u32 = u32::MAX;

/// What is known about the library in one file.
#[derive(Debug, Default)]
pub struct Library {
    /// The names, by place; true once a view has reached them or tried to.
    known: BTreeMap<u32, bool>,
    names: BTreeMap<u32, (String, Span)>,
    includes: Vec<Include>,
    guards: Vec<Guard>,
    /// The output calls routines of `omp.h`.
    omp: bool,
    /// The output calls routines of `SUPPORT`.
    support: bool,
    /// Some name is left.
    left: bool,
    /// What there is to say.
    pub diags: Vec<Diag>,
}

impl Library {
    /// Remembers what a file holds, whatever a view shows of it.
    pub fn scanned(&mut self, scan: &Scan) {
        for name in &scan.names {
            let span = name.span;
            let is_ours = rules::rules().routine(&name.name).is_some()
                || rules::openacc::table().routine(&name.name).is_some()
                || name.name == "_OPENACC";
            if is_ours && name.in_macro {
                self.leave(span, &name.name);
            } else if is_ours {
                self.known.insert(span.start, false);
                self.names.insert(span.start, (name.name.clone(), span));
            }
        }
        self.includes = scan.includes.clone();
        self.guards = scan.guards.clone();
    }

    /// The names that `scan` shows and no scan before did.
    pub fn fresh(&mut self, scan: &Scan) -> Vec<(String, Span)> {
        let shown = scan.names.iter().filter(|name| name.active && !name.in_macro);
        shown.filter_map(|name| self.names.remove(&name.span.start)).collect()
    }

    /// A name that no view has reached or tried to.
    pub fn next_unreached(&mut self) -> Option<u32> {
        let (offset, tried) =
            self.known.iter_mut().find(|(offset, tried)| !**tried && self.names.contains_key(offset))?;
        *tried = true;
        Some(*offset)
    }

    /// The output calls routines of `omp.h`.
    pub fn needs_header(&mut self) {
        self.omp = true;
    }

    /// Whether the output includes `SUPPORT`.
    pub fn needs_support(&self) -> bool {
        self.support
    }

    fn leave(&mut self, span: Span, name: &str) {
        self.left = true;
        self.diags.push(diag::api_left(span, name));
    }

    /// Makes the edits for the uses that one view has shown.
    pub fn lowered(&mut self, file: &SourceFile, lowered: ApiLowered, edits: &mut EditSet) {
        self.diags.extend(lowered.diags);
        for change in lowered.changes {
            let edit = match change {
                ApiChange::Text(span, text) => {
                    self.support |= text.contains("acc2omp_");
                    self.omp |= text.contains("omp_");
                    Edit { span, text: text.into_bytes() }
                }
                ApiChange::Pragmas(span, directives) => {
                    let lines: Vec<String> = directives.iter().map(ast::Directive::line).collect();
                    layout::replaced(file, span, &lines)
                }
                ApiChange::Gone(span) => layout::removed_lines(file, span),
                ApiChange::Left => {
                    self.left = true;
                    continue;
                }
            };
            let span = edit.span;
            if edits.add(Rewrite { owner: OWNER, edits: vec![edit] }).is_err() {
                self.left = true;
                self.diags.push(diag::edit_conflict(span));
            }
        }
    }

    /// The headers and the guards, once everything else is known.
    pub fn finish(&mut self, file: &SourceFile, edits: &mut EditSet) {
        for (name, span) in std::mem::take(&mut self.names).into_values() {
            self.leave(span, &name);
        }
        for guard in std::mem::take(&mut self.guards) {
            if !guard.is_plain {
                self.diags.push(diag::guard_left(guard.span));
                continue;
            }
            for span in guard.words {
                add(edits, Edit { span, text: b"_OPENMP".to_vec() });
            }
        }
        self.headers(file, edits);
    }

    fn headers(&mut self, file: &SourceFile, edits: &mut EditSet) {
        let (wanted, path) = match self.support {
            true => (format!("#include \"{}\"", SUPPORT.0), SUPPORT.0),
            false => ("#include <omp.h>".to_owned(), "omp.h"),
        };
        let mut brought = self.includes.iter().any(|include| include.path == path && include.active);
        for include in self.includes.iter().filter(|include| include.path == "openacc.h" && !self.left) {
            add(edits, Edit { span: include.span, text: wanted.clone().into_bytes() });
            brought |= include.active;
        }
        if (self.omp || self.support) && !brought {
            let first = self.includes.iter().find(|include| include.active);
            let at = first.map_or(0, |include| include.span.start);
            edits_at(file, at, &wanted, edits);
        }
    }
}

fn add(edits: &mut EditSet, edit: Edit) {
    // These places hold no directive, so that nothing else is rewritten there.
    let _ = edits.add(Rewrite { owner: OWNER, edits: vec![edit] });
}

fn edits_at(file: &SourceFile, at: u32, line: &str, edits: &mut EditSet) {
    if let Some(edit) = layout::inserted(file, at, line) {
        add(edits, edit);
    }
}
