//! A file under translation: view by view, until every directive and every name has been met.
//!
//! Invariant: a directive is translated in the first view that reaches it, and reported once.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::DirectiveKind;
use crate::bind::{self, Bound, Regions};
use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host::ir::{Scope, StmtId, StmtKind, Unit};
use crate::omp::{self, ApiChange, Lowered, Part, Speech};
use crate::scan::{self, Conditions, DirectiveText, Form, Scan, View};
use crate::sema::{self, Symbols};
use crate::source::{self, SourceFile, Span};
use crate::{acc, host, layout, plan};

use super::allocations;
use super::existing::{Apart, Chosen};
use super::library::Library;
use super::loops::Found;
use super::parted;
use super::read::{fresh, parse};
use super::{DirectiveReport, Options, Outcome, Source, Translation};

/// What the views seen so far have brought.
pub struct Work<'a> {
    source: &'a Source,
    options: &'a Options,
    edits: EditSet,
    diags: Vec<Diag>,
    reports: BTreeMap<u32, DirectiveReport>,
    /// All directives of the file, with whether a view has tried to reach them.
    known: BTreeMap<u32, bool>,
    texts: BTreeMap<u32, Span>,
    /// How many places of the source the host grammar cannot read, as the first view shows it.
    errors: Option<usize>,
    /// The source's shadow in the first view.
    shadow: Vec<u8>,
    /// The first view that was parsed.
    past: Option<host::Past>,
    scanned: bool,
    library: Library<'a>,
    /// Lines for specification parts of Fortran: by the offset behind which they may stand.
    specification: BTreeMap<u32, Vec<String>>,
    /// The lines at statements that allocate, by place: every view finds them.
    placed: BTreeSet<(u32, Vec<u8>)>,
    /// What was found out about loops.
    found: Found,
    /// The OpenMP of the source.
    apart: Apart,
}

impl<'a> Work<'a> {
    /// Nothing has been seen.
    pub fn new(source: &'a Source, options: &'a Options) -> Work<'a> {
        Work {
            source,
            options,
            edits: EditSet::default(),
            diags: Vec::new(),
            reports: BTreeMap::new(),
            known: BTreeMap::new(),
            texts: BTreeMap::new(),
            errors: None,
            shadow: Vec::new(),
            past: None,
            scanned: false,
            specification: BTreeMap::new(),
            placed: BTreeSet::new(),
            found: Found::default(),
            library: Library::new(options.target(source.file.language)),
            apart: Apart::new(&source.file, options.existing, options.guard),
        }
    }

    /// A directive or a name of the run-time library that no view has reached or tried to.
    pub fn next_unreached(&mut self) -> Option<u32> {
        let directive = self.known.iter_mut().find(|(_, tried)| !**tried);
        let directive = directive.map(|(offset, tried)| {
            *tried = true;
            *offset
        });
        directive.or_else(|| self.library.next_unreached())
    }

    /// Translates what `view` reaches and no view before did.
    pub fn view(&mut self, view: &View) {
        let file = &self.source.file;
        let (scan, said) = scan::scan(file, &self.source.shown(view));
        for text in &scan.directives {
            self.texts.insert(text.span.start, text.span);
            self.known.entry(text.span.start).or_insert(false);
        }
        let fresh = fresh(&scan, &self.reports);
        let is_first = !self.scanned;
        if is_first {
            self.diags.extend(said);
            self.library.scanned(&scan);
            self.shadow.clone_from(&scan.shadow);
            self.scanned = true;
        }
        let names = self.library.fresh(&scan);
        if !fresh.is_empty() || !names.is_empty() || (is_first && self.source.declares(self.options)) {
            let unit = host::parse_again(file, &scan, &mut self.past);
            if is_first {
                self.errors = Some(unit.errors.len());
            }
            self.translate_view(&scan, unit, &fresh, &names);
        }
    }

    fn translate_view(&mut self, scan: &Scan, mut unit: Unit, fresh: &[usize], names: &[(String, Span)]) {
        let file = &self.source.file;
        let mut parsed = Vec::new();
        let mut held = Vec::new();
        for at in fresh {
            let text = &scan.directives[*at];
            self.known.insert(text.span.start, true);
            match parse(file, text, &mut self.diags) {
                Some(directive) => parsed.push((*at, directive)),
                None => held.push(text.span),
            }
        }
        let symbols = self.source.symbols(&unit, scan);
        let mut unbound: BTreeSet<Span> = parsed.iter().map(|(_, directive)| directive.span).collect();
        let mut regions = Regions::default();
        if unit.is_fortran() {
            sema::resolve(&mut unit, &symbols);
            let (found, said) = bind::enclose(&mut unit, &scan.directives, &parsed);
            regions = found;
            self.diags.extend(said);
        }
        let (mut bound, said) = bind::bind(&unit, &scan.directives, parsed, &regions);
        bound = bind::imply_concurrent(&unit, bound);
        bind::nest_concurrent(file, &mut unit, &mut bound);
        let unit = &unit;
        unbound.retain(|span| bound.binary_search_by_key(span, |one| one.directive.span).is_err());
        held.extend(unbound);
        self.diags.extend(said);
        let mut chosen = self.apart.choose(unit, bound);
        let bound = plan::with_plain_names(unit, &symbols, std::mem::take(&mut chosen.bound));
        self.set_apart(&mut chosen);
        held.extend(&chosen.left);
        let target = self.options.target(self.source.file.language);
        let aim = plan::Aim {
            device_type: self.options.device_type.clone(),
            preference: omp::preference(target.profile, target.version, target.speech),
            queues: target.queues == omp::Queues::Kept,
            asks: true,
        };
        let (bound, reached) =
            self.source.settled((unit, scan, &symbols), bound, &aim, self.options, &mut self.found);
        let bound = self.with_clear_items(unit, &symbols, bound, target);
        let (bound, said) = plan::with_extents(file, unit, &symbols, bound, &aim);
        self.diags.extend(said);
        let (plan, said) = plan::plan(file, unit, &symbols, &bound, &held, &reached, &aim);
        self.found.spread(unit, &bound, &plan);
        self.diags.extend(said);
        let (mut aliased, said) = omp::alias(file, unit, &symbols, &bound, &plan, target);
        self.diags.extend(said);
        self.diags.extend(omp::reduced(file, unit, &symbols, &plan, &mut aliased));
        let conditions = Conditions::of(file);
        self.diags.extend(parted::find(file, unit, &bound, &conditions, &mut aliased));
        let (lowered, said) = omp::lower(&plan, unit, &symbols, &aliased, target);
        self.diags.extend(said);
        let mut changes = self.changes((scan, &conditions), unit, &bound, &lowered);
        self.without_regions(&bound, &chosen, &mut changes);
        leave_whole(&bound, &mut changes);
        leave_declares(&bound, &lowered, &mut changes);
        for (at, ((bound, lowered), edits)) in bound.iter().zip(lowered).zip(changes).enumerate() {
            let span = bound.directive.span;
            if let Some(edits) = &edits {
                self.specify(unit, span, &lowered.parts, edits);
            }
            self.rewrite(at as u32, span, bound, lowered.rows, edits);
        }
        for span in held {
            self.report(span, "", Outcome::Left, Vec::new());
        }
        self.allocations(scan, unit, &symbols, &bound);
        self.library.used(unit);
        // What a `use` statement lists goes with it.
        let used: Vec<Span> =
            unit.scopes.iter().flat_map(|scope| &scope.uses).map(|used| used.span).collect();
        let is_listed = |span: Span| used.iter().any(|used| used.contains(span));
        let names: Vec<_> = names.iter().filter(|(_, span)| !is_listed(*span)).cloned().collect();
        let uses = bind::api_uses(unit, &names);
        let sections = omp::Sections { file, unit, symbols: &symbols };
        let lowered = omp::lower_api(&sections, &uses, target, &|span| layout::stands_alone(file, span));
        for change in lowered.changes.iter().filter(|_| unit.is_fortran()) {
            let (at, text) = match change {
                ApiChange::Pragmas(span, lines) | ApiChange::Led(_, lines, span, _) => {
                    (span.start, lines.iter().map(|one| one.line(Speech::Fortran)).collect())
                }
                ApiChange::Text(span, text) => (span.start, text.clone()),
                ApiChange::Gone(_) | ApiChange::Left => continue,
            };
            self.need_queues(unit, at, text.as_bytes());
            let Some(place) = place_in_specification(unit, at) else { continue };
            omp::declarations(&text).into_iter().for_each(|line| self.add_specification(place, line));
        }
        self.library.lowered(file, lowered, &mut self.edits);
    }

    /// Brings the list items of the directives into the form that plan and OpenMP want, and reports those that have none.
    fn with_clear_items(
        &mut self,
        unit: &Unit,
        symbols: &Symbols,
        bound: Vec<Bound>,
        target: omp::Target,
    ) -> Vec<Bound> {
        let (bound, said) = plan::sizes_as_arrays(unit, symbols, bound);
        self.diags.extend(said);
        let (bound, said) = plan::sections_of_parameters(&self.source.file, unit, symbols, bound);
        self.diags.extend(said);
        let bound = plan::with_objects(unit, symbols, bound);
        let bound = plan::merge_data_clauses(unit, bound);
        let bound = omp::with_variables(unit, bound);
        let bound = omp::with_used_objects(unit, symbols, bound);
        let bound = omp::with_objects_first(unit, symbols, bound);
        self.diags.extend(omp::partial(unit, symbols, &bound));
        self.diags.extend(omp::limits(unit, symbols, &bound, target));
        bound
    }

    /// Reports the directives that OpenMP of the source stands for, and takes those away that go.
    fn set_apart(&mut self, chosen: &mut Chosen) {
        self.diags.append(&mut chosen.diags);
        for span in &chosen.stay {
            self.report(*span, "", Outcome::Exact, Vec::new());
        }
        for span in &chosen.gone {
            let edits = vec![layout::removed(&self.source.file, *span)];
            let outcome = match self.edits.add(Rewrite { owner: u32::MAX - 3, edits }) {
                Ok(()) => Outcome::Exact,
                Err(_) => Outcome::Left,
            };
            self.report(*span, "", outcome, Vec::new());
        }
    }

    /// Regions of data whose place OpenMP of the source takes become nothing.
    fn without_regions(&self, bound: &[Bound], chosen: &Chosen, changes: &mut [Option<Vec<Edit>>]) {
        for (at, one) in bound.iter().enumerate() {
            let begin = match one.directive.kind {
                DirectiveKind::End(_) => one.partner.unwrap_or(at),
                _ => at,
            };
            if chosen.gone_data.contains(&bound[begin].directive.span.start) {
                changes[at] = Some(vec![layout::removed(&self.source.file, one.directive.span)]);
            }
        }
    }

    /// The OpenMP of the source that a translation has replaced goes; what is in force with the translation is told.
    fn finish_existing(&mut self) {
        let is_translated =
            |start: u32| self.reports.get(&start).is_some_and(|report| report.outcome != Outcome::Left);
        for span in self.apart.replaced(is_translated) {
            let edits = vec![layout::removed(&self.source.file, span)];
            if self.edits.add(Rewrite { owner: u32::MAX - 3, edits }).is_err() {
                self.diags.push(diag::edit_conflict(span));
            }
        }
        let is_changed = self.edits.edits().next().is_some();
        self.diags.extend(self.apart.awakes().filter(|_| is_changed).map(diag::own_openmp));
    }

    fn report(&mut self, span: Span, name: &str, outcome: Outcome, rows: Vec<String>) {
        let report = DirectiveReport { span, name: name.to_owned(), outcome, rows };
        self.reports.insert(span.start, report);
    }

    /// The edits for each directive; none for those that are left.
    fn changes(
        &mut self,
        (scan, conditions): (&Scan, &Conditions),
        unit: &Unit,
        bound: &[Bound],
        lowered: &[Lowered],
    ) -> Vec<Option<Vec<Edit>>> {
        let file = &self.source.file;
        let mut changes = Vec::with_capacity(bound.len());
        for (bound, lowered) in bound.iter().zip(lowered) {
            let span = bound.directive.span;
            let text = bound.text.and_then(|text| scan.directives.get(text));
            let edits = match lowered.left {
                true => None,
                false => edits_of(file, unit, conditions, (span, text), &lowered.parts),
            };
            let edits = edits.map(|edits| behind_label(file, scan, bound, edits));
            if edits.is_none() && !lowered.left {
                let name = acc::name(bound.directive.kind);
                self.diags.push(diag::not_yet(span, &format!("`{name}` among other code on one line")));
            }
            changes.push(edits.and_then(|edits| self.library.in_texts(edits, span)));
        }
        changes
    }

    /// Gives variables their memory on the device where they are allocated.
    fn allocations(&mut self, scan: &Scan, unit: &Unit, symbols: &Symbols, bound: &[Bound]) {
        let file = &self.source.file;
        if !unit.is_fortran() {
            return;
        }
        let mut declared = bind::declared(file, scan, unit);
        for header in &self.source.headers {
            declared.extend(header.declared.iter().map(|(place, clause)| (place.clone(), *clause)));
        }
        let is_declare = |one: &Bound| one.directive.kind == DirectiveKind::Declare;
        if declared.is_empty() && !bound.iter().any(is_declare) {
            return;
        }
        let (edits, said) = allocations::edits(file, unit, symbols, bound, &declared);
        self.diags.extend(said);
        for edit in edits {
            let span = edit.span;
            if !self.placed.insert((span.start, edit.text.clone())) {
                continue;
            }
            if self.edits.add_line(u32::MAX - 2, edit).is_err() {
                self.diags.push(diag::edit_conflict(span));
            }
        }
    }

    /// Remembers what a directive asks of specification parts: its own lines, and the objects of queues.
    fn specify(&mut self, unit: &Unit, old: Span, parts: &[Part], edits: &[Edit]) {
        for (place, line) in specified(unit, old, parts) {
            self.add_specification(place, line);
        }
        for edit in edits.iter().filter(|_| unit.is_fortran()) {
            self.need_queues(unit, old.start, &edit.text);
        }
    }

    /// Declares the objects of queues in the scoping unit that holds `offset`, if a text there names them.
    fn need_queues(&mut self, unit: &Unit, offset: u32, text: &[u8]) {
        let is_named = text.windows(13).any(|word| word == b"acc2omp_queue");
        let Some(scope) = innermost(unit, offset).filter(|_| is_named) else { return };
        let is_used = scope.uses.iter().any(|used| matches!(used.module.as_str(), "openacc" | "omp_lib"));
        self.add_specification(self.behind_head(scope), omp::queue_module(is_used));
        for line in omp::queue_objects() {
            self.add_specification(scope.directives_from, line);
        }
    }

    /// Where the line behind the first statement of a scoping unit begins: `use` statements may stand from there on.
    fn behind_head(&self, scope: &Scope) -> u32 {
        let head = scope.specification.start;
        let rest = self.source.file.bytes.get(head as usize..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        if head == 0 { 0 } else { head + length as u32 }
    }

    fn add_specification(&mut self, place: u32, line: String) {
        let known = self.specification.entry(place).or_default();
        if !known.contains(&line) {
            known.push(line);
        }
    }

    /// Puts the lines into the specification parts, before the first code that stands there: `use` statements come first.
    fn finish_specifications(&mut self) {
        let file = &self.source.file;
        let mut places: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (place, lines) in std::mem::take(&mut self.specification) {
            let behind = file.bytes.get(place as usize..).unwrap_or_default();
            let blanks = behind.iter().take_while(|byte| byte.is_ascii_whitespace()).count() as u32;
            places.entry(place + blanks).or_default().extend(lines);
        }
        for (place, mut lines) in places {
            lines.sort_by_key(|line| !line.trim_start_matches("!$ ").starts_with("use "));
            let edits = lines.iter().filter_map(|line| layout::inserted(file, place, line));
            let edits = joined(edits.collect());
            if self.edits.add(Rewrite { owner: u32::MAX - 1, edits }).is_err() {
                self.diags.push(diag::edit_conflict(Span { start: place, end: place }));
            }
        }
    }

    fn rewrite(
        &mut self,
        owner: u32,
        span: Span,
        bound: &Bound,
        rows: Vec<String>,
        edits: Option<Vec<Edit>>,
    ) {
        let outcome = match edits {
            None => Outcome::Left,
            Some(edits) => match self.edits.add(Rewrite { owner, edits: edits.clone() }) {
                Ok(()) => {
                    edits.iter().for_each(|edit| self.library.notice_directive(&edit.text));
                    Outcome::Exact
                }
                Err(_) => {
                    self.diags.push(diag::edit_conflict(span));
                    Outcome::Left
                }
            },
        };
        if bound.text.is_some() {
            self.report(span, acc::name(bound.directive.kind), outcome, rows);
        }
    }

    /// Whether the host grammar can read less of the output than of the source. Where only directives have changed, both
    /// have the same code, and there is nothing to read.
    fn breaks(&self, text: &[u8]) -> bool {
        let file = &self.source.file;
        let output = SourceFile::new(file.name.clone(), text.to_vec(), file.language);
        let (scan, _) = scan::scan(&output, &View::of_output());
        // The declarations of queues read the same in every scoping unit: they are no news to the grammar.
        let objects = omp::queue_objects();
        if are_same(&self.shadow, &scan.shadow, &objects) {
            return false;
        }
        let before = self.errors.unwrap_or_else(|| {
            let (scan, _) = scan::scan(file, &View::default());
            host::errors(file, &scan, self.past.as_ref(), &[])
        });
        let replaced =
            self.edits.edits().map(|edit| host::Replaced { old: edit.span, length: edit.text.len() });
        let replaced: Vec<host::Replaced> = replaced.collect();
        host::errors(&output, &scan, self.past.as_ref(), &replaced) > before
    }

    /// Nothing more can be reached.
    pub fn finish(mut self) -> Translation {
        self.finish_specifications();
        let file = &self.source.file;
        for (start, span) in &self.texts {
            if !self.reports.contains_key(start) {
                self.diags.push(diag::not_understood(*span));
                let report = DirectiveReport {
                    span: *span,
                    name: String::new(),
                    outcome: Outcome::Left,
                    rows: Vec::new(),
                };
                self.reports.insert(*start, report);
            }
        }
        self.finish_existing();
        let apart = &self.apart;
        self.library.finish(file, &mut self.edits, &|guard| apart.keeps(guard));
        self.diags.append(&mut self.found.diags);
        let text = self.edits.apply(&file.bytes);
        let breaks = text != file.bytes && self.breaks(&text);
        let mut translation = Translation {
            text,
            edits: self.edits.edits().cloned().collect(),
            diagnostics: self.diags,
            directives: self.reports.into_values().collect(),
            api_rows: std::mem::take(&mut self.library.rows),
            needs_support: self.library.needs_support(),
            beside: Vec::new(),
            loops: self.found.loops(),
            inductions: Vec::new(),
            closed: std::mem::take(&mut self.found.closed),
        };
        if breaks {
            translation.withdraw(file);
        }
        translation.mark();
        translation.diagnostics.extend(self.library.diags);
        translation.settle();
        translation
    }
}

/// Whether two texts have the same words, but for those of some lines.
fn are_same(old: &[u8], new: &[u8], but: &[String]) -> bool {
    let is_meant = |line: &&[u8]| {
        let words = line.trim_ascii_start();
        !words.is_empty() && !but.iter().any(|other| words == other.as_bytes())
    };
    let lines = |text| source::lines(text).map(<[u8]>::trim_ascii_end).filter(is_meant);
    let words = |line| <[u8]>::split(line, u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (mut old, mut new) = (lines(old), lines(new));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (one, other) if one == other => {}
            // They may still be the same on other lines.
            (one, other) => {
                let (one, other) = (one.into_iter().chain(old), other.into_iter().chain(new));
                return one.flat_map(words).eq(other.flat_map(words));
            }
        }
    }
}

/// A construct is translated with all directives in it or not at all; only regions of data stand for themselves.
fn leave_whole(bound: &[Bound], changes: &mut [Option<Vec<Edit>>]) {
    let is_data =
        |at: usize| matches!(bound[at].directive.kind, DirectiveKind::Data | DirectiveKind::HostData);
    // What ends a construct goes with it.
    let begin = |at: usize| match bound[at].directive.kind {
        DirectiveKind::End(_) => bound[at].partner.unwrap_or(at),
        _ => at,
    };
    let root = |at: usize| {
        let at = begin(at);
        bind::ancestors(bound, at).take_while(|above| !is_data(*above)).last().unwrap_or(at)
    };
    let roots: Vec<usize> = (0..bound.len()).map(root).collect();
    let left: BTreeSet<usize> =
        roots.iter().zip(&*changes).filter(|(_, edits)| edits.is_none()).map(|(root, _)| *root).collect();
    for (root, edits) in roots.iter().zip(changes) {
        if left.contains(root) {
            *edits = None;
        }
    }
}

/// The lines of several `declare` directives of a function stand together: where one has no room for them, all are left.
fn leave_declares(bound: &[Bound], lowered: &[Lowered], changes: &mut [Option<Vec<Edit>>]) {
    let is_declare =
        |at: &usize| bound[*at].directive.kind == DirectiveKind::Declare && bound[*at].function.is_some();
    let declares: Vec<usize> = (0..bound.len()).filter(is_declare).collect();
    let failed = declares.iter().filter(|at| changes[**at].is_none() && !lowered[**at].left);
    let failed: BTreeSet<_> = failed.map(|at| bound[*at].function).collect();
    for at in declares.into_iter().filter(|at| failed.contains(&bound[*at].function)) {
        changes[at] = None;
    }
}

/// Insertions at one place become one, in their order.
fn joined(edits: Vec<Edit>) -> Vec<Edit> {
    let mut out: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.iter_mut().find(|other| edit.span.is_empty() && other.span == edit.span) {
            Some(other) => other.text.extend(edit.text),
            None => out.push(edit),
        }
    }
    out
}

/// The edits of a directive behind a label of C: OpenMP's directives that stand alone are no statements that it could mark.
fn behind_label(file: &SourceFile, scan: &Scan, bound: &Bound, mut edits: Vec<Edit>) -> Vec<Edit> {
    let span = bound.directive.span;
    let kind = bound.directive.kind;
    let is_alone = matches!(
        kind,
        DirectiveKind::EnterData | DirectiveKind::ExitData | DirectiveKind::Update | DirectiveKind::Wait
    );
    let before = scan.shadow.get(..span.start as usize).unwrap_or_default().trim_ascii_end();
    if file.language.is_fortran() || !is_alone || !before.ends_with(b":") || !layout::stands_alone(file, span)
    {
        return edits;
    }
    let becomes_pragma = |edit: &&mut Edit| {
        span.contains(edit.span) && !edit.text.is_empty() && !edit.text.starts_with(b"acc2omp_")
    };
    if let Some(first) = edits.iter_mut().find(becomes_pragma) {
        let column = file.lines.span(file.lines.line(span.start)).start;
        let indent = file.slice(Span { start: column, end: span.start });
        let kept = file.slice(Span { start: span.start, end: first.span.start });
        first.text = [&b";\n"[..], indent, kept, &first.text].concat();
        first.span.start = span.start;
    }
    edits
}

/// The edits for one directive; `None` if the source leaves no room for them.
fn edits_of(
    file: &SourceFile,
    unit: &Unit,
    conditions: &Conditions,
    (at, text): (Span, Option<&DirectiveText>),
    parts: &[Part],
) -> Option<Vec<Edit>> {
    let Some(old) = text else { return edits_of_implied(file, unit, at, parts) };
    let mut edits = Vec::new();
    // The same conditions hold for lines elsewhere.
    let same = |stmt: StmtId, lines: &[String]| -> Vec<String> {
        let around = conditions.between(old.span.start, unit.stmt(stmt).span.start);
        let heads = around.iter().rev().flat_map(|one| one.heads(old.span.start));
        let heads = heads.map(|head| file.text(*head).into_owned());
        let ends = around.iter().map(|_| "#endif".to_owned());
        heads.chain(lines.iter().cloned()).chain(ends).collect()
    };
    let speech = Speech::of(file.language);
    // What stands before the directive belongs to its own edit, so that it meets no other edit at the line's start.
    let mut above = String::new();
    let own = |above: &mut String, edit: Edit| {
        if above.is_empty() {
            return edit;
        }
        let kept = file.slice(Span { start: old.span.start, end: edit.span.start });
        let text = [std::mem::take(above).as_bytes(), kept, &edit.text].concat();
        Edit { span: Span { start: old.span.start, end: edit.span.end }, text }
    };
    for part in parts {
        match part {
            Part::Directive(directive) => {
                edits.push(own(&mut above, layout::relaid(file, old, &directive.words(speech))));
            }
            Part::Pair(first, second) => {
                above += &layout::above(file, old, &[first.line(speech)])?;
                edits.push(own(&mut above, layout::relaid(file, old, &second.words(speech))));
            }
            Part::Statements(statements) if layout::stands_alone(file, old.span) => {
                edits.push(layout::replaced(file, old.span, statements));
            }
            Part::Statements(statements) => {
                edits.push(Edit { span: old.span, text: layout::on_one_line(statements).into_bytes() })
            }
            Part::Gone => edits.push(layout::removed(file, old.span)),
            Part::Before(stmt, lines) if is_return_on_a_shared_line(file, unit, *stmt) => {
                edits.extend(layout::braced(file, unit.stmt(*stmt).span, lines));
            }
            Part::Before(stmt, lines) => {
                let at = unit.stmt(*stmt).span.start;
                for line in &same(*stmt, lines) {
                    edits.push(layout::inserted(file, at, line)?);
                }
            }
            Part::Braced(stmt, lines) => {
                edits.extend(layout::braced(file, unit.stmt(*stmt).span, lines));
            }
            Part::Inline(stmt, words) => {
                let at = unit.stmt(*stmt).span.start;
                let is_apart =
                    file.slice(Span { start: at.saturating_sub(1), end: at })[0].is_ascii_whitespace();
                let text = format!("{}{words} ", if is_apart { "" } else { " " }).into_bytes();
                edits.push(Edit { span: Span { start: at, end: at }, text });
            }
            Part::AfterHead(stmt, end, lines) => {
                // The lines of a body stand deeper than the head.
                let deeper: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
                edits.push(layout::lines_after(file, *end, unit.stmt(*stmt).span, &deeper)?);
            }
            Part::Loops(stmt, lines, _) => {
                let span = unit.stmt(*stmt).span;
                if !layout::stands_alone(file, span) {
                    return None;
                }
                edits.push(layout::replaced(file, span, lines));
            }
            Part::Nested(stmt, heads) => edits.extend(nested_edits(file, unit, *stmt, heads)?),
            Part::After(stmt, lines) => {
                let lines = same(*stmt, lines);
                edits.push(layout::lines_after(file, unit.stmt(*stmt).span.end, old.span, &lines)?);
            }
            Part::Closed(stmt, lines) => {
                edits.push(layout::lines_after(file, unit.stmt(*stmt).span.end, old.span, lines)?);
            }
            Part::Above(place, lines) => {
                for line in lines {
                    edits.push(layout::above_code(file, place.start, old.span.start, line)?);
                }
            }
            Part::Below(place, lines) => edits.push(layout::lines_after(file, place.end, old.span, lines)?),
            Part::AtStart(block, lines) => {
                let span = unit.stmt(*block).span;
                if !matches!(unit.stmt(*block).kind, StmtKind::Block(_)) {
                    return None;
                }
                edits.push(layout::lines_after(file, span.start + 1, span, lines)?);
            }
            Part::Behind(offset, directive) => {
                edits.push(layout::behind(file, *offset, &directive.line(speech)));
            }
            Part::Around(function, around) => {
                let span = unit.function(*function).span;
                let [before, behind] = around.as_ref();
                edits.extend(layout::around(file, span, [&before.line(speech), &behind.line(speech)]));
            }
            Part::Specified(directive) => match place_in_specification(unit, old.span.start) {
                // Where it stands, only a compiler for OpenACC takes it.
                Some(place) if old.span.start < place => edits.push(layout::removed(file, old.span)),
                _ => edits.push(own(&mut above, layout::relaid(file, old, &directive.words(speech)))),
            },
            Part::InFunction(..)
            | Part::Declared(..)
            | Part::Used(..)
            | Part::DeclaredFor(..)
            | Part::Counters(_) => {}
            Part::BeforeDirective(span, lines) => {
                for line in lines {
                    edits.push(layout::inserted(file, span.start, line)?);
                }
            }
            Part::AtEnd(block, lines) if speech == Speech::Fortran => {
                let at = end_of_body(file, unit, *block)?;
                for line in lines {
                    edits.push(layout::inserted(file, at, line)?);
                }
            }
            Part::AtEnd(block, lines) => {
                let brace = unit.stmt(*block).span.end - 1;
                if !matches!(unit.stmt(*block).kind, StmtKind::Block(_)) {
                    return None;
                }
                for line in lines {
                    edits.push(layout::inserted(file, brace, line)?);
                }
            }
            Part::LinesBefore(lines) => above += &layout::above(file, old, lines)?,
            Part::LinesBehind(lines) if old.form == Form::Operator => {
                let text = format!(" {}", layout::on_one_line(lines)).into_bytes();
                edits.push(Edit { span: Span { start: old.span.end, end: old.span.end }, text });
            }
            Part::LinesBehind(lines) => edits.push(layout::lines_behind(file, old.span, lines)?),
            Part::Respelled(names) if speech == Speech::Fortran => {
                edits.extend(layout::respelled(file, names)?);
            }
            Part::Respelled(names) => {
                let edit =
                    |(span, text): &(Span, String)| Edit { span: *span, text: text.clone().into_bytes() };
                edits.extend(names.iter().map(edit));
            }
        }
    }
    Some(joined(edits))
}

/// Whether a statement is a `return` of C before which other code stands on its line.
fn is_return_on_a_shared_line(file: &SourceFile, unit: &Unit, stmt: StmtId) -> bool {
    let stmt = unit.stmt(stmt);
    !unit.is_fortran()
        && matches!(stmt.kind, StmtKind::Return(_))
        && layout::inserted(file, stmt.span.start, "").is_none()
}

/// The edits for a directive that the source does not have: it stands before the loop at `at`.
fn edits_of_implied(file: &SourceFile, unit: &Unit, at: Span, parts: &[Part]) -> Option<Vec<Edit>> {
    let speech = Speech::of(file.language);
    let (mut before, mut edits) = (Vec::new(), Vec::new());
    let mut nested = None;
    for part in parts {
        match part {
            Part::Directive(directive) => before.push(directive.line(speech)),
            Part::Pair(first, second) => before.extend([first.line(speech), second.line(speech)]),
            Part::LinesBefore(lines) | Part::LinesBehind(lines) => before.extend(lines.iter().cloned()),
            Part::Gone
            | Part::InFunction(..)
            | Part::Declared(..)
            | Part::Used(..)
            | Part::DeclaredFor(..)
            | Part::Counters(_) => {}
            Part::Before(stmt, lines) if unit.stmt(*stmt).span.start == at.start => {
                before.extend(lines.iter().cloned());
            }
            Part::After(stmt, lines) | Part::Closed(stmt, lines) => {
                let span = unit.stmt(*stmt).span;
                edits.push(layout::lines_after(file, span.end, span, lines)?);
            }
            Part::Nested(stmt, heads) => nested = Some((*stmt, heads)),
            _ => return None,
        }
    }
    match nested {
        Some((stmt, heads)) => {
            before.extend(heads.iter().cloned());
            edits.splice(0..0, nested_edits(file, unit, stmt, &before)?);
        }
        None => {
            let lines = before.iter().map(|line| layout::inserted(file, at.start, line));
            edits.splice(0..0, lines.collect::<Option<Vec<_>>>()?);
        }
    }
    Some(joined(edits))
}

/// The edits that put `heads` in the place of the first line of a `do concurrent`.
fn nested_edits(file: &SourceFile, unit: &Unit, stmt: StmtId, heads: &[String]) -> Option<Vec<Edit>> {
    let one = unit.concurrent.iter().find(|one| one.stmt == stmt)?;
    let nested = one.nested.as_ref().filter(|_| layout::stands_alone(file, one.header))?;
    let mut edits = vec![layout::replaced(file, one.header, heads)];
    if one.mask.is_some() {
        edits.push(layout::inserted(file, nested.end, "end if")?);
    }
    let ends = vec!["end do".to_owned(); one.indices.len() - 1];
    if !ends.is_empty() {
        edits.push(layout::lines_after(file, unit.stmt(stmt).span.end, one.header, &ends)?);
    }
    Some(edits)
}

/// Where directives may stand in the innermost specification part that holds `offset`.
fn place_in_specification(unit: &Unit, offset: u32) -> Option<u32> {
    innermost(unit, offset).map(|scope| scope.directives_from)
}

/// The innermost scoping unit that holds `offset`.
fn innermost(unit: &Unit, offset: u32) -> Option<&Scope> {
    unit.scope_at(offset).map(|id| unit.scope(id))
}

/// The lines that the parts put into specification parts: where, and the line.
fn specified(unit: &Unit, old: Span, parts: &[Part]) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    for part in parts {
        match part {
            Part::Specified(directive) => {
                let place = place_in_specification(unit, old.start);
                let moved = place.filter(|place| old.start < *place);
                lines.extend(moved.map(|place| (place, directive.line(Speech::Fortran))));
            }
            Part::InFunction(function, directive) => {
                let scope = unit.scopes.iter().find(|scope| scope.function == Some(*function));
                lines.extend(scope.map(|scope| (scope.directives_from, directive.line(Speech::Fortran))));
            }
            Part::Nested(stmt, _) => {
                let one = unit.concurrent.iter().find(|one| one.stmt == *stmt);
                let nested = one.and_then(|one| one.nested.as_ref());
                let place = place_in_specification(unit, unit.stmt(*stmt).span.start);
                let fresh = nested.iter().flat_map(|nested| &nested.declarations);
                lines.extend(
                    place.into_iter().flat_map(|place| fresh.clone().map(move |line| (place, line.clone()))),
                );
            }
            Part::Declared(place, line) => lines.push((*place, line.clone())),
            Part::DeclaredFor(stmt, line) => {
                let scope = innermost(unit, unit.stmt(*stmt).span.start);
                lines.extend(scope.map(|scope| (scope.directives_from, line.clone())));
            }
            Part::Used(stmt, line) => {
                let scope = innermost(unit, unit.stmt(*stmt).span.start);
                lines.extend(scope.map(|scope| (scope.specification.start, line.clone())));
            }
            Part::Loops(stmt, _, rank) => {
                lines.extend(counters(unit, unit.stmt(*stmt).span.start, 0..*rank));
            }
            Part::Counters(used) if unit.is_fortran() => {
                lines.extend(counters(unit, old.start, used.iter().copied()));
            }
            _ => {}
        }
    }
    lines
}

/// The declarations of the loop variables of these dimensions, where `offset` is.
fn counters(unit: &Unit, offset: u32, used: impl Iterator<Item = usize>) -> Vec<(u32, String)> {
    let Some(scope) = innermost(unit, offset) else { return Vec::new() };
    let fresh = used.filter(|at| !declares(unit, scope, &omp::loop_variable(*at)));
    fresh.map(|at| (scope.directives_from, omp::loop_declaration(at))).collect()
}

fn declares(unit: &Unit, scope: &Scope, name: &str) -> bool {
    scope.decls.iter().any(|decl| unit.decl(*decl).name == name)
}

/// The offset of the statement that ends a procedure's body: `end …` or `contains`.
fn end_of_body(file: &SourceFile, unit: &Unit, body: StmtId) -> Option<u32> {
    let function = unit.functions.iter().find(|function| function.body == body)?;
    let text = file.text(function.span);
    let last = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(last..)?;
    let is_end = line.trim_start().get(..3).is_some_and(|word| word.eq_ignore_ascii_case("end"));
    let lead = (line.len() - line.trim_start().len()) as u32;
    Some(if is_end { function.span.start + last as u32 + lead } else { function.span.end })
}
