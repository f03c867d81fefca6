//! A file in parts that have nothing to do with one another: each is translated by itself, in whatever thread, and what they have
//! brought is put together in their order.
//!
//! Invariant: what is put together is what one view of the whole file would bring; where that is not certain, there are no parts.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::budget;
use crate::host;
use crate::scan::{self, Conditions, Scan, View};
use crate::source::Span;

use super::super::read::fresh;
use super::super::{Options, Source, Translation};
use super::{BackEnd, Gathered, Parted, STEPS_PER_BYTE, Views};

/// A back end that can translate the parts of a file apart.
pub trait InParts: BackEnd + Send + Sync + Sized {
    /// Notes what all of the file holds.
    fn begin(&mut self, whole: &Scan);

    /// A back end for one part of the file.
    fn part(&self) -> Self;

    /// Takes over what a part has brought; the parts come in their order.
    fn join(&mut self, part: Self);
}

/// What a part has brought.
struct Piece<'a> {
    all: Gathered<'a>,
    /// The directives with edits: no other view will ask for what these are.
    made: Vec<u32>,
    constructs: BTreeMap<u32, (Span, BTreeSet<u32>)>,
    parted: Vec<Parted>,
}

/// Translates a source in parts. `None` if it has no such parts, if the grammar cannot read all of it, if `data` directives
/// stay, which concern what is called in their regions, or if two parts change the same place.
pub fn in_parts(source: &Source, options: &Options, back: &mut impl InParts) -> Option<Translation> {
    let file = &source.file;
    budget::spend(file.bytes.len() as u64 * STEPS_PER_BYTE);
    let (scan, said) = scan::scan(file, &source.shown(&View::default()));
    let parts = source.parts(&scan, options)?;
    back.begin(&scan);
    let conditions = Arc::new(Conditions::of(file));
    let pieces = options.threads.each(parts.count(), |at| {
        let mut own = back.part();
        let mut views = Views::new(source, options, &mut own);
        views.all.conditions = OnceCell::from(Arc::clone(&conditions));
        let gone = parts.gone(at);
        let piece = views.part(&parts.scan(&scan, at, &gone), &gone)?;
        Some((piece, own))
    })?;
    let (pieces, backs): (Vec<Piece>, Vec<_>) = pieces.into_iter().unzip();
    backs.into_iter().for_each(|own| back.join(own));
    let mut views = Views::new(source, options, back);
    views.known = scan.directives.iter().map(|text| (text.span.start, (text.span, true))).collect();
    views.all.diags.extend(said);
    views.all.conditions = OnceCell::from(conditions);
    views.errors = Some(0);
    views.in_parts = parts.functions().to_vec();
    views.shadow = Some(scan.shadow);
    pieces.into_iter().try_for_each(|piece| views.join(piece))?;
    Some(views.finish())
}

impl<'a> Views<'a, '_> {
    /// Translates what the first view shows of a part, which has all functions but those that are `gone`.
    fn part(mut self, part: &Scan, gone: &[Span]) -> Option<Piece<'a>> {
        let has_more = self.back.scanned(part, None, &mut self.all);
        let fresh = fresh(part, &self.all.reports);
        if !fresh.is_empty() || has_more {
            let unit = host::parse_part(&self.all.source.file, part, gone)?;
            host::with_stack(unit.depth(), || self.translate_view(part, unit, &fresh));
        }
        let Views { mut all, made, constructs, staying, parted, .. } = self;
        all.edits.pack();
        let made = made.into_keys().collect();
        staying.is_empty().then_some(Piece { all, made, constructs, parted })
    }

    fn join(&mut self, piece: Piece<'a>) -> Option<()> {
        let Piece { all, made, constructs, parted } = piece;
        self.all.edits.join(all.edits)?;
        self.all.diags.extend(all.diags);
        self.all.reports.extend(all.reports);
        self.all.found.join(all.found);
        self.all.left.extend(all.left);
        self.made.extend(made.into_iter().map(|at| (at, Vec::new())));
        self.constructs.extend(constructs);
        self.parted.extend(parted);
        Some(())
    }
}
