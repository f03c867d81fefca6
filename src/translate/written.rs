//! Uses of macros that lead to directives, written out where they stand: device code cannot be made of a macro.
//!
//! Invariant: what is said of the new text is said of the source.

use crate::diag;
use crate::edit::Edit;
use crate::scan::{self, Choice, Macros};
use crate::source::Span;

use super::cuda::translate;
use super::{Options, Source, Translation};

/// Translates a source whose macros lead to directives: each use is written out where it stands, as device code cannot be
/// made of a macro.
pub fn written_out(source: &Source, macros: &Macros, options: &Options) -> Translation {
    let choice = Choice { for_good: true, ..Choice::default() };
    let written = scan::written_out(&source.file, macros, &choice);
    if written.uses.is_empty() {
        let mut translation = translate(source, options);
        translation.name_clauses_in_macros(&source.file, macros);
        return translation;
    }
    let file = source.file.with(written.text.clone());
    let there = source.with(file);
    let mut translation = translate(&there, options);
    let home = |span: Span| {
        let piece =
            written.pieces.iter().find(|piece| piece.at.start <= span.start && span.start < piece.at.end);
        match piece.and_then(|piece| piece.from.map(|from| (piece, from))) {
            Some((piece, from)) => {
                let start = (from.start + span.start - piece.at.start).min(from.end);
                Span { start, end: (start + (span.end - span.start)).min(from.end.max(start)) }
            }
            None => Span { start: 0, end: 0 },
        }
    };
    for diag in &mut translation.diagnostics {
        diag.primary.span = home(diag.primary.span);
        diag.others.iter_mut().for_each(|label| label.span = home(label.span));
    }
    for one in &mut translation.loops {
        one.span = home(one.span);
    }
    for report in &mut translation.directives {
        report.span = home(report.span);
    }
    translation.name_clauses_in_macros(&source.file, macros);
    translation.directives.sort_by_key(|report| report.span);
    translation.edits = vec![whole_change(&source.file.bytes, &translation.text)];
    let unlike = macros.unlike(&written);
    if !unlike.is_empty() {
        // What is written out is right for one branch of the preprocessor alone.
        translation.leave(&source.file);
        let of = |(of, used): (usize, Span)| match macros.get(of).is_foreign {
            true => diag::definition_without_use(used, &macros.get(of).name),
            false => diag::definition_without_use(macros.get(of).span, &macros.get(of).name),
        };
        translation.diagnostics.extend(unlike.into_iter().map(of));
    }
    translation.settle();
    translation
}

/// The one edit that makes `new` of `old`.
pub(super) fn whole_change(old: &[u8], new: &[u8]) -> Edit {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (&old[same..], &new[same..]);
    let after = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
    let span = Span { start: same as u32, end: (old.len() - after) as u32 };
    Edit { span, text: new[same..new.len() - after].to_vec() }
}
