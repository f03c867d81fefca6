//! A source whose macros declare something is translated with these uses written out.
//!
//! Invariant: in the output such a use stands as it was, unless an edit is about it.

use crate::edit::{self, Edit};
use crate::host::ir::DeclKind;
use crate::scan::{self, Macro};
use crate::source::{SourceFile, Span};

use super::{Source, Translation};

/// A use that was written out: its bytes in the source, and what they became.
pub struct Site {
    here: Span,
    there: Span,
}

/// The translation of a source by `translate`, which sees declarations in place of macros.
pub fn translated(source: &Source, translate: &dyn Fn(&Source) -> Translation) -> Translation {
    let headers: Vec<&[Macro]> = source.headers.iter().map(|header| header.declaring.as_slice()).collect();
    let units = source.headers.iter().map(|header| &header.unit);
    let types = units.flat_map(|unit| {
        let typedefs = unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef);
        let tags = unit.records.iter().filter_map(|record| record.tag.as_deref());
        typedefs.map(|decl| decl.name.as_str()).chain(tags)
    });
    let found = scan::declarators(&source.file, &headers, types.collect());
    if found.is_empty() {
        return translate(source);
    }
    let (file, sites) = written(&source.file, found);
    let there = source.with(file);
    at_home(source, &sites, translate(&there))
}

/// A file with uses written out, and where they are.
pub fn written(file: &SourceFile, found: Vec<(Span, Vec<u8>)>) -> (SourceFile, Vec<Site>) {
    let (mut text, mut sites, mut done) = (Vec::new(), Vec::new(), 0);
    for (here, new) in found {
        text.extend(file.slice(Span { start: done, end: here.start }));
        let start = text.len();
        text.extend(new);
        sites.push(Site { here, there: Span::new(start, text.len()) });
        done = here.end;
    }
    text.extend(file.slice(Span { start: done, end: file.bytes.len() as u32 }));
    let macro_texts = sites.iter().map(|site| site.there).collect();
    (SourceFile { macro_texts, ..file.with(text) }, sites)
}

/// The translation with all places those of the source.
pub fn at_home(source: &Source, sites: &[Site], mut translation: Translation) -> Translation {
    let place = |span: &mut Span| *span = home(sites, *span);
    for diag in &mut translation.diagnostics {
        place(&mut diag.primary.span);
        diag.others.iter_mut().for_each(|label| place(&mut label.span));
    }
    translation.loops.iter_mut().for_each(|one| place(&mut one.span));
    translation.directives.iter_mut().for_each(|report| place(&mut report.span));
    translation.inductions.iter_mut().for_each(|edit| place(&mut edit.span));
    let parts = |edit: &Edit, site: &Site| {
        let (edit, site) = (edit.span, site.there);
        edit.start < site.end && site.start < edit.end && !edit.contains(site)
    };
    let is_apart = |edit: &Edit| !sites.iter().any(|site| parts(edit, site));
    if translation.edits.iter().all(is_apart) {
        translation.edits.iter_mut().for_each(|edit| place(&mut edit.span));
        translation.text = edit::applied(&source.file.bytes, 0, &translation.edits);
    } else {
        translation.edits = vec![super::written::whole_change(&source.file.bytes, &translation.text)];
    }
    translation
}

/// Where something stands in the source.
fn home(sites: &[Site], span: Span) -> Span {
    let of = |at: u32, is_end: bool| {
        let before = sites.partition_point(|site| site.there.start < at);
        let Some(site) = before.checked_sub(1).map(|last| &sites[last]) else { return at };
        match at < site.there.end {
            true if is_end => site.here.end,
            true => site.here.start,
            false => at - site.there.end + site.here.end,
        }
    };
    let start = of(span.start, false);
    Span { start, end: if span.is_empty() { start } else { of(span.end, true) } }
}
