//! Directives of Fortran that conditions of the preprocessor part are translated as if each branch held the whole directive.
//!
//! Invariant: of a directive that has several branches, each becomes what it becomes by itself, or the directive stays as it
//! is.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::{Edit, applied};
use crate::scan::{self, Split, View};
use crate::source::{SourceFile, Span};

use super::openmp::OpenMp;
use super::{DirectiveReport, Options, Outcome, Source, Translation, views};

/// After so many attempts all such directives stay.
const ATTEMPTS: usize = 4;

/// So many views are compared with the translation of the file.
const VIEWS: usize = 16;

/// A directive in the text that has it written out.
struct Site {
    /// Its lines in the source.
    here: Span,
    /// The new lines.
    there: Span,
    /// How many whole directives they are.
    directives: usize,
    /// They are a construct with all that stands in it.
    is_construct: bool,
    /// Each new line, and the line of the source that it comes from; the ends of both after them.
    lines: Vec<(Span, Span)>,
}

/// The translation of a source by `translate`, which sees such directives written out.
pub fn translated(
    source: &Source,
    options: &Options,
    translate: &dyn Fn(&Source) -> Translation,
) -> Translation {
    let splits = match source.file.language.is_fortran() {
        true => scan::splits(&source.file),
        false => Vec::new(),
    };
    let seen = |there: &Source, view: Option<&View>| {
        let back = &mut OpenMp::new(there, options);
        match view {
            Some(view) => views::translate_view(there, options, back, view),
            None => views::translate(there, options, back),
        }
    };
    written_out(source, splits, translate, &seen).unwrap_or_else(|| translate(source))
}

/// The translation of a source by `translate`, which sees directives or constructs written out; `None` if all stay. `seen` is
/// what all views of a source together are translated to, or one.
pub fn written_out(
    source: &Source,
    mut splits: Vec<Split>,
    translate: &dyn Fn(&Source) -> Translation,
    seen: &dyn Fn(&Source, Option<&View>) -> Translation,
) -> Option<Translation> {
    for _ in 0..ATTEMPTS {
        if splits.is_empty() {
            break;
        }
        let (there, sites) = written(source, &splits);
        let translation = translate(&there);
        let stay = refused(&there, seen, &sites, &translation);
        if !stay.contains(&true) {
            return Some(at_home(source, &there.file, &sites, translation));
        }
        let mut stay = stay.into_iter();
        splits.retain(|_| stay.next() == Some(false));
    }
    None
}

/// The source with these directives written out.
fn written(source: &Source, splits: &[Split]) -> (Source, Vec<Site>) {
    let (file, mut text, mut done, mut inserted) = (&source.file, Vec::new(), 0, Vec::new());
    let mut sites: Vec<Site> = Vec::new();
    let kept = |from: Span, to: u32| {
        let old = file.inserted.iter().filter(move |at| from.start <= **at && **at < from.end);
        old.map(move |at| at - from.start + to)
    };
    for split in splits {
        let plain = Span { start: done, end: split.span.start };
        inserted.extend(kept(plain, text.len() as u32));
        text.extend(file.slice(plain));
        let base = text.len() as u32;
        text.extend(&split.text);
        let ends = split.starts.iter().skip(1).copied().chain([split.text.len() as u32]);
        let spans = split.starts.iter().zip(ends);
        let spans = spans.map(|(start, end)| Span { start: base + start, end: base + end });
        let mut lines: Vec<(Span, Span)> = spans.zip(split.lines.iter().copied()).collect();
        let before = file.lines.line(split.span.end - 1) + 1 - file.lines.line(split.span.start);
        for (at, (there, here)) in lines.iter().enumerate() {
            let is_new = at >= before || kept(*here, 0).next().is_some();
            inserted.extend(is_new.then_some(there.end - 1));
        }
        lines.push((Span::at(text.len()), Span::at(split.span.end as usize)));
        let there = Span { start: base, end: text.len() as u32 };
        sites.push(Site {
            here: split.span,
            there,
            directives: split.directives,
            is_construct: split.is_construct,
            lines,
        });
        done = split.span.end;
    }
    let rest = Span { start: done, end: file.bytes.len() as u32 };
    inserted.extend(kept(rest, text.len() as u32));
    text.extend(file.slice(rest));
    let mut file = file.with(text);
    file.inserted = inserted;
    (source.with(file), sites)
}

/// Which of the sites must stay as they are: of their branches only some are translated, or in another way than if the
/// other branches were not there.
fn refused(
    there: &Source,
    seen: &dyn Fn(&Source, Option<&View>) -> Translation,
    sites: &[Site],
    translation: &Translation,
) -> Vec<bool> {
    let reports = |site: &Site| {
        let all = &translation.directives;
        let first = all.partition_point(|report| report.span.start < site.there.start);
        let after = all.partition_point(|report| report.span.start < site.there.end);
        &all[first..after]
    };
    let is_left = |report: &DirectiveReport| report.outcome == Outcome::Left;
    let mut stay: Vec<bool> = Vec::new();
    for site in sites {
        let reports = reports(site);
        let is_whole = reports.iter().all(is_left) || !reports.iter().any(is_left);
        let is_read = site.is_construct || reports.len() <= site.directives;
        stay.push(!is_whole || !is_read);
    }
    let has_several = |all: &&[DirectiveReport]| all.len() > 1 && !all.iter().any(is_left);
    let live: Vec<u32> =
        sites.iter().map(reports).filter(has_several).flatten().map(|one| one.span.start).collect();
    if live.is_empty() || stay.contains(&true) {
        return stay;
    }
    let all = seen(there, None);
    let known = changes(&all);
    let (mut met, mut views_left): (BTreeSet<u32>, usize) = (BTreeSet::new(), VIEWS);
    for start in live {
        if met.contains(&start) {
            continue;
        }
        let site = sites.partition_point(|site| site.there.end <= start);
        if views_left == 0 {
            stay[site] = true;
            continue;
        }
        views_left -= 1;
        let view = View::reaching(&there.file, start);
        let alone = seen(there, Some(&view));
        let alone = changes(&alone);
        met.extend(alone.keys());
        // What is left untranslated for all is left untranslated for each.
        let differs = alone.iter().any(|(at, edits)| known.get(at).is_some_and(|known| known != edits));
        // What `translate` has written out anew was compared there.
        stay[site] |= differs || known.contains_key(&start) && !alone.contains_key(&start);
    }
    stay
}

/// What becomes of the lines of each directive that is translated, by its place.
fn changes(translation: &Translation) -> BTreeMap<u32, Vec<&Edit>> {
    let edits = &translation.edits;
    let of = |report: &DirectiveReport| {
        let first = edits.partition_point(|edit| edit.span.end <= report.span.start);
        let meets = |edit: &&Edit| edit.span.start < report.span.end;
        let edits = edits.iter().skip(first).take_while(meets).filter(|edit| !edit.span.is_empty());
        (report.span.start, edits.collect())
    };
    let translated = translation.directives.iter().filter(|report| report.outcome != Outcome::Left);
    translated.map(of).collect()
}

/// The translation with all places those of the source.
fn at_home(source: &Source, there: &SourceFile, sites: &[Site], mut translation: Translation) -> Translation {
    let lines: Vec<(Span, Span)> = sites.iter().flat_map(|site| site.lines.iter().copied()).collect();
    let home = |span: Span| home(&lines, span);
    let site_of = |span: Span| {
        let site = sites.get(sites.partition_point(|site| site.there.end <= span.start))?;
        site.there.contains(span).then_some(site)
    };
    // The directive counts, whichever of its branches options rule out.
    let is_other = |diag: &Diag| diag.code != diag::RULED_OUT || site_of(diag.primary.span).is_none();
    translation.diagnostics.retain(is_other);
    for diag in &mut translation.diagnostics {
        diag.primary.span = home(diag.primary.span);
        diag.others.iter_mut().for_each(|label| label.span = home(label.span));
    }
    translation.loops.iter_mut().for_each(|one| one.span = home(one.span));
    translation.inductions.iter_mut().for_each(|edit| edit.span = home(edit.span));
    for report in &mut translation.directives {
        let site = site_of(report.span);
        report.span = home(report.span);
        if let Some(Site { here, is_construct: false, .. }) = site {
            report.span.end = here.start + source.file.slice(*here).trim_ascii_end().len() as u32;
        }
    }
    translation.directives = once(translation.directives);
    translation.settle();
    translation.edits = edits_at_home(there, sites, &translation.edits, &home);
    translation.text = applied(&source.file.bytes, 0, &translation.edits);
    translation
}

/// The reports, one for each directive of the source.
fn once(all: Vec<DirectiveReport>) -> Vec<DirectiveReport> {
    let mut once: Vec<DirectiveReport> = Vec::new();
    for report in all {
        match once.last_mut().filter(|other| other.span.start == report.span.start) {
            Some(other) => {
                other.span = other.span.to(report.span);
                other.outcome = other.outcome.max(report.outcome);
                other.rows.extend(report.rows);
            }
            None => once.push(report),
        }
    }
    once
}

/// The edits of the source: where one changes new lines, they come as a whole.
fn edits_at_home(
    there: &SourceFile,
    sites: &[Site],
    edits: &[Edit],
    home: &dyn Fn(Span) -> Span,
) -> Vec<Edit> {
    let at_home = |edit: &Edit| Edit { span: home(edit.span), text: edit.text.clone() };
    let (mut found, mut rest) = (Vec::new(), edits);
    for site in sites {
        let is_before = |edit: &Edit| {
            edit.span.end <= site.there.start || edit.span.is_empty() && edit.span.start <= site.there.start
        };
        let (before, after) = rest.split_at(rest.partition_point(is_before));
        // The first new line may come from one within the old ones.
        found.extend(before.iter().map(|edit| match edit.span.start == site.there.start {
            true => Edit { span: Span::at(site.here.start as usize), text: edit.text.clone() },
            false => at_home(edit),
        }));
        let (inside, after) = after.split_at(after.partition_point(|edit| edit.span.start < site.there.end));
        rest = after;
        let Some((first, last)) = inside.first().zip(inside.last()) else { continue };
        let whole = site.there.to(first.span).to(last.span);
        let text = applied(&there.bytes[..whole.end as usize], whole.start, inside);
        found.push(Edit { span: site.here.to(home(whole)), text });
    }
    found.extend(rest.iter().map(at_home));
    found
}

/// Where something stands in the source.
fn home(lines: &[(Span, Span)], span: Span) -> Span {
    let of = |at: u32| {
        let before = lines.partition_point(|(there, _)| there.start <= at);
        let Some((there, here)) = before.checked_sub(1).map(|last| lines[last]) else { return at };
        match at < there.end {
            true => (here.start + at - there.start).min(here.end),
            false => at - there.end + here.end,
        }
    };
    let start = of(span.start);
    Span { start, end: if span.is_empty() { start } else { (of(span.end - 1) + 1).max(start) } }
}
