//! The façade: one source in, one translation out.
//!
//! Invariant: the same source and options give the same translation; nothing outside the returned edits changes.

mod advice;
mod allocations;
mod branches;
mod builds;
mod calls;
mod cuda;
mod data;
mod declarators;
mod elsewhere;
mod existing;
mod extents;
mod fortran_cuda;
mod fortran_device;
mod fragments;
mod governed;
mod inductions;
mod input;
mod instrument;
mod lent;
mod library;
mod look;
mod loops;
mod macros;
mod named_macros;
mod openmp;
mod options;
mod parted;
mod read;
mod reading;
mod specification;
mod split;
mod standing;
mod statements;
mod staying;
mod support;
mod together;
mod translated;
mod translation;
mod unlike;
mod views;
mod wishes;
mod words;
mod written;

use std::borrow::Cow;

use crate::budget::{self, Exceeded};
use crate::diag::{self, Diag, Severity};
use crate::edit::{self, Edit};
use crate::scan::{self, Macro, View};
use crate::source::Span;

pub use crate::edit::Guards;
pub use advice::{Advice, advice};
pub use cuda::RUNTIME;
pub use data::DataUse;
pub use existing::Existing;
pub use extents::{Extent, extents};
pub use fortran_cuda::MODULE as RUNTIME_MODULE;
pub use governed::{Governed, governed};
pub use input::{Declarations, Header, OtherBuild, Source};
pub use instrument::instrument;
pub use options::{Options, Profile, To, Version};
pub use support::{SUPPORT, support, support_names, whole_support};
pub use translation::{Beside, DirectiveReport, Outcome, Translation};
pub use wishes::{Wish, lines_of};

use branches::Sights;
use openmp::OpenMp;

/// So many times a source is translated again, as `data` directives turn out to stay.
const ROUNDS: usize = 3;

/// What is said of a `data` directive that is left untranslated for the sake of others.
const TOGETHER: &str = "`data` with the directives around and inside it";

/// Translates one source. One that costs more than its budget stays as it is.
pub fn translate(source: &Source, options: &Options) -> Translation {
    let mut translation = for_one_build(source, options);
    elsewhere::compared(source, &mut translation, &|source| for_one_build(source, options));
    translation
}

/// Translates one source with its headers as one build reads them.
fn for_one_build(source: &Source, options: &Options) -> Translation {
    let mentions = scan::mentions_openacc(&source.file.bytes, source.file.language);
    if !mentions && !source.may_write() && !source.declares(options) {
        return Translation::untouched(source);
    }
    let again = |guards| standing::standing(source, guards, &|source| translated(source, options));
    options.guard.as_ref().and_then(again).unwrap_or_else(|| translated(source, options))
}

/// Translates one source, whatever has been translated before in it, and says which comments ask in vain.
fn translated(source: &Source, options: &Options) -> Translation {
    let mut translation = whatever_was(source, options);
    wishes::say_unused(source, &mut translation);
    translation
}

/// Translates one source, whatever has been translated before in it.
fn whatever_was(source: &Source, options: &Options) -> Translation {
    let length = source.file.bytes.len();
    let limits = options.budget.of_file(length);
    let done = budget::within(limits, || {
        budget::keep_source(length);
        within_budget(source, options)
    });
    if let Ok(plain) = &done
        && plain.is_unread()
        && let Ok(Some(more)) = budget::within(limits, || {
            budget::keep_source(length);
            fragments::translated(source, options, plain, &within_budget)
        })
    {
        return guarded(source, more, options);
    }
    done.unwrap_or_else(|exceeded| {
        let untranslated = || Translation::untranslated(source, |first| over_budget(first, exceeded));
        budget::within(limits, untranslated).unwrap_or_else(|_| {
            let diagnostics = vec![over_budget(Span::at(0), exceeded)];
            Translation { diagnostics, ..Translation::untouched(source) }
        })
    })
}

/// What is said of a file that costs more than its budget.
fn over_budget(at: Span, exceeded: Exceeded) -> Diag {
    let limit = exceeded.to_string();
    match exceeded {
        Exceeded::Steps(_) => diag::too_much_work(at, &limit),
        Exceeded::Bytes(_) => diag::too_much_memory(at, &limit),
        Exceeded::Depth(_) => diag::too_deep(at, &limit),
    }
}

fn within_budget(source: &Source, options: &Options) -> Translation {
    let is_fortran = source.file.language.is_fortran();
    if let Some(line) = scan::fypp(&source.file.bytes).filter(|_| is_fortran) {
        return Translation::untranslated(source, |_| diag::other_preprocessor(line));
    }
    let mut translation = if options.to == To::Cuda && is_fortran {
        fortran_cuda::translate(source, options)
    } else {
        let statements = statements::found(source);
        statements::translated(source, statements, options.to, &|source| unguarded(source, options))
    };
    translation.leave_written(&source.written_by_macros());
    match options.to {
        To::Cuda => translation,
        To::OpenMp => guarded(source, translation, options),
    }
}

/// Translates one source whose macros for statements are written out, without what was there beside it.
fn unguarded(source: &Source, options: &Options) -> Translation {
    let headers: Vec<&[Macro]> = source.header_macros().collect();
    if options.to == To::Cuda {
        return declarators::translated(source, &|source| match scan::macros(&source.file, &headers) {
            Some(macros) => written::written_out(source, &macros, options),
            None => counting(source, &|source| cuda::translate(source, options)),
        });
    }
    match scan::macros(&source.file, &headers) {
        Some(macros) => macros::translate(source, &macros, options),
        None => {
            split::translated(source, options, &|source| counting(source, &|source| plainly(source, options)))
        }
    }
}

/// A translation with what was there beside it, if the options say so.
fn guarded(source: &Source, mut translation: Translation, options: &Options) -> Translation {
    if options.guard.as_ref().is_none_or(|guards| *guards == Guards::default()) {
        say_woken(source, &mut translation);
    }
    translation.say_replaced(source);
    let Some(guards) = &options.guard else { return translation };
    let guarded = edit::side_by_side(&source.file, &translation.edits, guards);
    translation.text = guarded.edits.apply(&source.file.bytes);
    translation.edits = guarded.edits.edits().cloned().collect();
    translation.say_unprocessed(&guarded.unprocessed);
    translation
}

/// Says that code under conditions on OpenACC is there in all builds with OpenMP, if there is such code.
fn say_woken(source: &Source, translation: &mut Translation) {
    let file = &source.file;
    if file.predefined.names().any(|(name, _)| name == "_OPENMP") {
        return;
    }
    let is_word = |edit: &&Edit| edit.text == b"_OPENMP" && file.slice(edit.span) == b"_OPENACC";
    let words: Vec<Span> = translation.edits.iter().filter(is_word).map(|edit| edit.span).collect();
    let gone: Vec<Span> = translation.edits.iter().map(|edit| edit.span).collect();
    if let Some((condition, count)) = scan::woken(file, &words, &gone) {
        translation.diagnostics.push(diag::woken_by_openmp(condition, count));
        translation.settle();
    }
}

/// Translates one source, with the variables computed that its loops count with.
fn counting(source: &Source, translate: &dyn Fn(&Source) -> Translation) -> Translation {
    let plain = translate(source);
    if plain.closed.is_empty() { plain } else { inductions::computed(source, plain, translate) }
}

/// Translates one source as it stands, whatever its macros hold.
fn plainly(source: &Source, options: &Options) -> Translation {
    let mut back = |options: &Options| {
        let new = || OpenMp::new(source, options);
        let parts = || views::in_parts(source, options, &mut new());
        let may = may_have_parts(source, options).then(parts).flatten();
        may.unwrap_or_else(|| views::translate(source, options, &mut new()))
    };
    let (mut translation, options) = without_data(options, &mut back);
    let see = |view: &View| views::made_by_view(source, &options, &mut OpenMp::new(source, &options), view);
    let sights = Sights::new(&source.file, &see);
    branches::completed(&sights, &mut translation);
    unlike::other_branches(&sights, &mut translation);
    if !translation.edits.is_empty()
        && let Some((condition, is_code)) = scan::asks_for_openmp(&source.file)
    {
        translation.diagnostics.push(diag::asks_for_openmp(condition, is_code));
        translation.settle();
    }
    translation
}

/// Whether a source is long enough to be translated in parts, and has no OpenMP, which is looked at as a whole.
fn may_have_parts(source: &Source, options: &Options) -> bool {
    let is_long = source.file.bytes.len() >= options.parts_from && options.stays.is_empty();
    is_long
        && !source.declares(options)
        && scan::openmp(&source.file).is_none_or(|found| found.directives.is_empty())
}

/// Translates a source, and again for each time that `data` directives turn out to stay: the constructs inside bring the data
/// then. With the options that say so.
fn without_data<'a>(
    options: &'a Options,
    translate: &mut dyn FnMut(&Options) -> Translation,
) -> (Translation, Cow<'a, Options>) {
    let mut options = Cow::Borrowed(options);
    let mut translation = translate(&options);
    let mut said: Vec<Diag> = Vec::new();
    for _ in 0..ROUNDS {
        let left = translation.data_left(&options.stays);
        let is_withdrawn = translation.diagnostics.iter().any(|diag| diag.severity == Severity::Bug);
        if left.is_empty() || is_withdrawn {
            break;
        }
        let is_of_these = |diag: &&Diag| left.iter().any(|span| span.contains(diag.primary.span));
        said.extend(translation.diagnostics.iter().filter(is_of_these).cloned());
        said.extend(translation.silent(&left).map(|span| diag::not_yet(span, TOGETHER)));
        options.to_mut().stays.extend(left.iter().map(|span| span.start));
        translation = translate(&options);
    }
    translation.say(said);
    (translation, options)
}
