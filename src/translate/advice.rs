//! `--advise`: the advice on one source, and what it becomes if all edits are made.
//!
//! Invariant: the source is read as its translation reads it, in the first view of the preprocessor; nothing is translated.

use crate::advise::{self, Ground};
use crate::budget;
use crate::diag::Diag;
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host;
use crate::plan;
use crate::scan::{self, View};
use crate::sema::Facts;

use super::read;
use super::{Options, Source, To};

/// The advice on one source.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// The directives of the source.
    pub directives: usize,
    /// What there is to say, by place.
    pub diagnostics: Vec<Diag>,
    /// The edits that each of them proposes, in their order; none for those that propose nothing, or whose edits overlap
    /// those of an earlier one.
    pub edits: Vec<Vec<Edit>>,
    /// How many pieces propose an edit.
    pub proposed: usize,
    /// The source with all edits; those that overlap an earlier one are not made.
    pub text: Vec<u8>,
}

/// The advice on a source. Nothing is said of one that costs more than its budget.
pub fn advice(source: &Source, options: &Options) -> Advice {
    let length = source.file.bytes.len();
    let limits = options.budget.of_file(length);
    let made = budget::within(limits, || {
        budget::keep_source(length);
        within_budget(source, options)
    });
    made.unwrap_or_else(|_| Advice { text: source.file.bytes.clone(), ..Advice::default() })
}

fn within_budget(source: &Source, options: &Options) -> Advice {
    let file = &source.file;
    let (scan, _) = scan::scan(file, &source.shown(&View::default()));
    let mut unit = host::parse(file, &scan);
    let mut parsed = Vec::new();
    let mut held = Vec::new();
    for (number, text) in scan.directives.iter().enumerate().filter(|(_, text)| text.active) {
        match read::parse(file, text, &mut Vec::new()) {
            Some(directive) => parsed.push((number, directive)),
            None => held.push(text.span),
        }
    }
    let symbols = source.symbols(&unit, &scan);
    let (bound, _) = read::bound_in(file, (&scan, &symbols), &mut unit, parsed, &mut held);
    let settings = match options.to {
        To::Cuda => source.cuda_aim(options),
        To::OpenMp => plan::Settings {
            queued_elsewhere: read::queued_elsewhere(file, &scan, (&bound, &held)),
            ..source.openmp_aim(options)
        },
    };
    let macros = source.macros(&scan);
    let facts = Facts::new(file, &unit, &symbols, &macros, options.assume_no_alias).within(options.budget);
    let settled = plan::settle(&facts, bound.clone(), &settings);
    let ready = plan::without_macros(&unit, &symbols, settled.bound);
    let ready = plan::with_plain_names(&unit, &symbols, ready);
    let (ready, _) = plan::with_extents(file, &unit, &symbols, ready, &settings);
    let (plan, _) = plan::plan(file, &unit, &symbols, &ready, &held, &settled.reached, &settings);
    let unseen = (scan.hidden.as_slice(), macros.as_slice());
    let ground = Ground::new(&facts, &bound, &ready, &plan, &settled.verdicts, unseen, &options.device_type);
    let mut edits = EditSet::default();
    let mut advice = Advice { directives: scan.directives.len(), ..Advice::default() };
    for (owner, piece) in advise::pieces(&ground).into_iter().enumerate() {
        let mut own = piece.edits;
        if !own.is_empty() && edits.add(Rewrite { owner: owner as u32, edits: own.clone() }).is_err() {
            own.clear();
        }
        advice.proposed += usize::from(!own.is_empty());
        advice.edits.push(own);
        advice.diagnostics.push(piece.diag);
    }
    advice.text = edits.apply(&file.bytes);
    advice
}
