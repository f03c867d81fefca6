//! The run-time library of OpenACC in one file: its calls and names, its header, and the guards that ask for it.
//!
//! Invariant: `openacc.h` goes only when no name of it remains.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag, Label};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host::ir::Unit;
use crate::omp::{self, ApiChange, ApiLowered};
use crate::rules::RowId;
use crate::scan::{self, Fork, Guard, Include, Scan};
use crate::source::{Form, Language, SourceFile, Span};
use crate::{layout, plan};

use super::calls::{expression, folded, is_inner, is_loop_variable, is_ours, next_use};
use super::support::SUPPORT;

/// A text of so many characters fits on a line of Fortran in free form.
const LONGEST: usize = 120;

/// The owner of the edits made here: no directive.
const OWNER: u32 = u32::MAX;

/// What is known about the library in one file.
#[derive(Debug)]
pub struct Library<'a> {
    target: omp::Target<'a>,
    /// How the file calls the folder of `SUPPORT`.
    folder: &'a str,
    /// The names, by place; true once a view has reached them or tried to.
    known: BTreeMap<u32, bool>,
    names: BTreeMap<u32, (String, Span)>,
    /// The names in the bodies of macros, by place.
    in_macros: BTreeMap<u32, (String, Span)>,
    includes: Vec<Include>,
    guards: Vec<Guard>,
    /// Fortran's `use openacc` statements.
    modules: BTreeSet<Span>,
    /// Fortran's sentinels `!@acc`.
    conditionals: Vec<Span>,
    /// Where `_OPENACC` stands in code and in the bodies of macros.
    values: Vec<Span>,
    /// The output calls routines of `omp.h`.
    omp: bool,
    /// The output calls routines of `SUPPORT`.
    support: bool,
    /// It does so where directives stood, whatever the conditions around calls say.
    by_directives: bool,
    /// Some name remains.
    left: bool,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// The rule rows used.
    pub rows: Vec<&'static RowId>,
}

impl<'a> Library<'a> {
    /// Nothing is known yet.
    pub fn new(target: omp::Target<'a>, folder: &'a str) -> Library<'a> {
        Library {
            target,
            folder,
            known: BTreeMap::new(),
            names: BTreeMap::new(),
            in_macros: BTreeMap::new(),
            includes: Vec::new(),
            guards: Vec::new(),
            modules: BTreeSet::new(),
            conditionals: Vec::new(),
            values: Vec::new(),
            omp: false,
            support: false,
            by_directives: false,
            left: false,
            diags: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Remembers what a file holds, whatever a view shows of it.
    pub fn scanned(&mut self, scan: &Scan) {
        let values = scan.names.iter().filter(|name| name.name == "_OPENACC");
        self.values = values.map(|name| name.span).collect();
        for name in &scan.names {
            let span = name.span;
            if is_ours(&name.name) && name.in_macro {
                self.in_macros.insert(span.start, (name.name.clone(), span));
            } else if is_ours(&name.name) {
                self.known.insert(span.start, false);
                self.names.insert(span.start, (name.name.clone(), span));
            }
        }
        self.includes = scan.includes.clone();
        self.guards = scan.guards.clone();
        self.conditionals = scan.conditionals.clone();
    }

    /// The same, for a part of the file: it knows the names that no view has shown.
    pub fn part(&self) -> Library<'a> {
        Library { names: self.names.clone(), ..Library::new(self.target, self.folder) }
    }

    /// Takes over what a part of the file has brought.
    pub fn join(&mut self, mut part: Library) {
        self.names.retain(|place, _| part.names.contains_key(place));
        self.modules.append(&mut part.modules);
        self.omp |= part.omp;
        self.support |= part.support;
        self.by_directives |= part.by_directives;
        self.left |= part.left;
        self.diags.append(&mut part.diags);
        self.rows.append(&mut part.rows);
    }

    /// Remembers the `use` statements of a Fortran file.
    pub fn used(&mut self, unit: &Unit) {
        let used = unit.scopes.iter().flat_map(|scope| &scope.uses);
        self.modules.extend(used.filter(|used| used.module == "openacc").map(|used| used.span));
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

    /// Whether the output includes `SUPPORT`.
    pub fn needs_support(&self) -> bool {
        self.support
    }

    fn leave(&mut self, span: Span, name: &str) {
        self.left = true;
        self.diags.push(diag::api_left(span, name));
    }

    /// Translates the uses of the library in the new text of a directive, whose expressions come from its clauses.
    /// `None` if one of them cannot be translated.
    pub fn in_texts(&mut self, mut edits: Vec<Edit>, at: Span) -> Option<Vec<Edit>> {
        for edit in &mut edits {
            let text = String::from_utf8_lossy(&edit.text).into_owned();
            if text.contains("acc_") {
                edit.text = self.in_text(&text, at)?.into_bytes();
            }
        }
        Some(edits)
    }

    fn in_text(&mut self, text: &str, at: Span) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, used, after)) = next_use(rest) {
            out += before;
            match expression(used, self.target) {
                Some((new, _)) => out += &new,
                None => {
                    let name = used.split('(').next().unwrap_or(used).trim();
                    self.leave(at, name);
                    return None;
                }
            }
            rest = after;
        }
        Some(out + rest)
    }

    /// Notes which headers a text needs.
    pub fn notice(&mut self, text: &[u8]) {
        // All that is looked for holds these bytes.
        if memchr::memmem::find(text, b"omp_").is_none() {
            return;
        }
        // A variable of ours is not a name of a library.
        let own = plan::SAVED.iter().chain([&omp::DECIDED, &omp::POINTER]);
        let text = own.fold(String::from_utf8_lossy(text).into_owned(), |text, name| text.replace(name, ""));
        if self.target.speech == omp::BaseLanguage::Fortran {
            self.omp |= text.match_indices("omp_").any(|(at, _)| !text[..at].ends_with(is_inner));
            return;
        }
        self.support |= text.match_indices("acc2omp_").any(|(at, _)| !is_loop_variable(&text[at..]));
        self.omp |= text.match_indices("omp_").any(|(at, _)| !text[..at].ends_with(is_inner));
    }

    /// Notes which headers the text of a directive needs.
    pub fn notice_directive(&mut self, text: &[u8]) {
        let before = std::mem::take(&mut self.support);
        self.notice(text);
        self.by_directives |= self.support;
        self.support |= before;
    }

    /// Makes the edits for the uses that one view has shown.
    pub fn lowered(&mut self, file: &SourceFile, lowered: ApiLowered, edits: &mut EditSet) {
        self.diags.extend(lowered.diags);
        self.rows.extend(lowered.rows);
        let mut texts = Vec::new();
        for change in lowered.changes {
            let is_led = matches!(change, ApiChange::Led(..));
            let edit = match change {
                ApiChange::Led(start, directives, span, text) => {
                    self.notice(text.as_bytes());
                    let lines: Vec<String> =
                        directives.iter().map(|one| one.line(self.target.speech)).collect();
                    let before = match layout::is_labelled(file, start) {
                        true => Some(layout::below_label(file, start, &lines)),
                        false => {
                            let inserted = lines.iter().map(|line| layout::inserted(file, start, line));
                            inserted.collect::<Option<Vec<Edit>>>().and_then(|all| layout::joined(all).pop())
                        }
                    };
                    let Some(before) = before else {
                        self.leave(span, &file.text(span));
                        continue;
                    };
                    texts.push((span, text));
                    before
                }
                ApiChange::Text(span, text) if file.language.is_fortran() => {
                    self.notice(text.as_bytes());
                    texts.push((span, text));
                    continue;
                }
                ApiChange::Text(span, text) => {
                    self.notice(text.as_bytes());
                    Edit { span, text: text.into_bytes() }
                }
                ApiChange::Pragmas(span, directives) => {
                    let lines: Vec<String> =
                        directives.iter().map(|one| one.line(self.target.speech)).collect();
                    lines.iter().for_each(|line| self.notice(line.as_bytes()));
                    layout::replaced(file, span, &lines)
                }
                ApiChange::Gone(span) => layout::removed(file, span),
                ApiChange::Left => {
                    self.left = true;
                    continue;
                }
            };
            let span = edit.span;
            let added = match is_led {
                true => edits.add_beside(OWNER, edit),
                false => edits.add(Rewrite { owner: OWNER, edits: vec![edit] }),
            };
            if added.is_err() {
                self.left = true;
                self.diags.push(diag::edit_conflict(span));
            }
        }
        self.respelled(file, &texts, edits);
    }

    /// Puts other names and calls into Fortran code, whose lines are continued where they grow too long.
    fn respelled(&mut self, file: &SourceFile, texts: &[(Span, String)], edits: &mut EditSet) {
        let line = |one: &(Span, String)| file.lines.line(one.0.start);
        for of_line in texts.chunk_by(|one, other| line(one) == line(other)) {
            let is_free = file.language == Language::Fortran(Form::Free);
            let plain = of_line.iter().map(|(span, text)| {
                let text = if is_free { folded(text) } else { text.clone() };
                Edit { span: *span, text: text.into_bytes() }
            });
            // What is longer than a line by itself has room on several only.
            let fits = !is_free || of_line.iter().all(|(_, text)| text.len() <= LONGEST);
            let laid = layout::respelled(file, of_line).filter(|_| fits);
            let all = laid.unwrap_or_else(|| plain.collect());
            let Some((span, _)) = of_line.first() else { continue };
            if edits.add(Rewrite { owner: OWNER, edits: all }).is_err() {
                self.left = true;
                self.diags.push(diag::edit_conflict(*span));
            }
        }
    }

    /// The uses in the bodies of macros, each of which is an expression by itself.
    fn macros(&mut self, file: &SourceFile, edits: &mut EditSet) {
        let mut after = 0;
        for (name, span) in std::mem::take(&mut self.in_macros).into_values() {
            if span.start < after {
                continue;
            }
            // A call that goes on in the next line is not followed there.
            let line = file.lines.span(file.lines.line(span.start));
            let before = file.text(Span { start: line.start, end: span.start }).replace("\\\"", "");
            if before.matches('"').count() % 2 == 1 {
                // It is a word of a string.
                continue;
            }
            let rest = file.text(Span { start: span.start, end: line.end });
            let used = next_use(&rest).filter(|(before, ..)| before.is_empty()).map(|(_, used, _)| used);
            let is_plain = !file.language.is_fortran();
            let made = used
                .filter(|used| is_plain && used.is_ascii())
                .and_then(|used| Some((used, expression(used, self.target)?)));
            let Some((used, (text, said))) = made else {
                self.leave(span, &name);
                continue;
            };
            after = span.start + used.len() as u32;
            self.notice(text.as_bytes());
            let here = |said: Diag| Diag { primary: Label { span, ..said.primary }, ..said };
            self.diags.extend(said.into_iter().map(here));
            add(edits, Edit { span: Span { start: span.start, end: after }, text: text.into_bytes() });
        }
    }

    /// The headers and the guards, once everything else is known; guards that `stay` do so.
    pub fn finish(&mut self, file: &SourceFile, edits: &mut EditSet, stay: &dyn Fn(Span) -> bool) {
        for (name, span) in std::mem::take(&mut self.names).into_values() {
            self.leave(span, &name);
        }
        self.macros(file, edits);
        self.values(file, edits, stay);
        for guard in std::mem::take(&mut self.guards) {
            if stay(guard.span) {
                continue;
            }
            if !guard.is_plain && is_for_both(&file.text(guard.span)) {
                continue;
            }
            if !guard.is_plain {
                self.diags.push(diag::guard_left(guard.span));
                continue;
            }
            for span in guard.words {
                add(edits, Edit { span, text: b"_OPENMP".to_vec() });
            }
        }
        if file.language.is_fortran() {
            self.modules(file, edits);
        } else {
            self.headers(file, edits);
        }
    }

    /// `_OPENACC` as a value; where a condition stays around it, the code is OpenACC's alone.
    fn values(&mut self, file: &SourceFile, edits: &mut EditSet, stay: &dyn Fn(Span) -> bool) {
        let forks = if self.values.is_empty() { Vec::new() } else { scan::forks(file) };
        let guards = &self.guards;
        let stays = |head: Span| {
            let guard =
                guards.iter().find(|guard| head.start <= guard.span.start && guard.span.start < head.end);
            guard.is_some_and(|guard| stay(guard.span) || !guard.is_plain)
        };
        for span in std::mem::take(&mut self.values) {
            let mut around = forks.iter().filter(|fork| fork.whole.contains(span));
            let line = file.lines.span(file.lines.line(span.start));
            let before = file.text(Span { start: line.start, end: span.start }).replace("\\\"", "");
            let is_text = before.matches('"').count() % 2 == 1;
            if is_text || around.any(|fork| fork.branches.iter().any(|branch| stays(branch.head))) {
                continue;
            }
            let asks = before.trim_end_matches([' ', '\t', '(']).ends_with("defined");
            self.diags.push(match asks {
                true => diag::woken_by_openmp(span, 1),
                false => diag::value_of_openacc(span),
            });
            add(edits, Edit { span, text: b"_OPENMP".to_vec() });
        }
    }

    /// Fortran's modules and included files, and its conditional lines, which become OpenMP's.
    fn modules(&mut self, file: &SourceFile, edits: &mut EditSet) {
        for span in std::mem::take(&mut self.conditionals) {
            let blank = |from, to| file.slice(Span { start: from, end: to }).trim_ascii().is_empty();
            let after = |module: &&Span| module.start > span.end && blank(span.end, module.start);
            match self.modules.iter().find(after).copied().filter(|_| !self.left && !self.omp) {
                // The line goes whole: nothing may stand before specifications.
                Some(module) => {
                    self.modules.remove(&module);
                    self.modules.insert(span.to(module));
                }
                // Of the old length, so that the line keeps its columns.
                None => add(edits, Edit { span, text: b"!$   ".to_vec() }),
            }
        }
        for span in std::mem::take(&mut self.modules) {
            match self.omp {
                // Names that remain untranslated need the old one beside the new one.
                _ if self.left => {
                    let more = self.omp.then(|| ["use omp_lib".to_owned()]);
                    let edit = more.and_then(|more| layout::lines_after(file, span.end, span, &more));
                    edit.into_iter().for_each(|edit| add(edits, edit));
                }
                true => add(edits, Edit { span, text: b"use omp_lib".to_vec() }),
                false => add(edits, layout::removed(file, span)),
            }
        }
        let includes = self.includes.iter().filter(|_| !self.left);
        for include in includes.filter(|include| include.path.eq_ignore_ascii_case("openacc_lib.h")) {
            let text = file.text(include.span).replace(&include.path, "omp_lib.h");
            match self.omp {
                true => add(edits, Edit { span: include.span, text: text.into_bytes() }),
                false => add(edits, layout::removed(file, include.span)),
            }
        }
    }

    fn headers(&mut self, file: &SourceFile, edits: &mut EditSet) {
        let (wanted, path) = match self.support {
            true => (format!("#include \"{}{SUPPORT}\"", self.folder), SUPPORT),
            false => ("#include <omp.h>".to_owned(), "omp.h"),
        };
        let is_it = |include: &Include| include.path.rsplit('/').next() == Some(path);
        // A build without OpenMP needs what stands for directives, too: there it is functions of the host alone.
        let forks = if self.by_directives { scan::forks(file) } else { Vec::new() };
        let guard = |include: &Include| {
            let holds =
                |fork: &&Fork| fork.is_about_directives() && fork.branch_at(include.span.start).is_some();
            forks.iter().find(holds).map(|fork| fork.whole.start)
        };
        // What directives become may stand before the header that the source includes for its own calls.
        let needs = edits.edits().filter(|_| self.by_directives).map(|edit| edit.span.start).min();
        let is_first = |include: &Include| needs.is_none_or(|needs| include.span.start <= needs);
        let brings = |include: &Include| include.active && guard(include).is_none() && is_first(include);
        let is_replaced = |include: &Include| include.path == "openacc.h" && !self.left;
        let mut includes = self.includes.iter();
        let is_brought = includes.any(|include| brings(include) && (is_it(include) || is_replaced(include)));
        for include in self.includes.iter().filter(|include| is_replaced(include)) {
            let text = if guard(include).is_some() { "#include <omp.h>" } else { &*wanted };
            add(edits, Edit { span: include.span, text: text.as_bytes().to_vec() });
        }
        if (self.omp || self.support) && !is_brought {
            let first = self.includes.iter().find(|include| include.active);
            let at = first.map_or(0, |include| guard(include).unwrap_or(include.span.start));
            layout::inserted(file, at, &wanted).into_iter().for_each(|edit| add(edits, edit));
        }
    }
}

/// Whether a condition names both already, as `--guard` writes it.
fn is_for_both(line: &str) -> bool {
    let text = line.trim().strip_prefix("#if ").unwrap_or_default();
    text.trim_start_matches('!').starts_with("(defined(_OPENACC) || defined(")
        || text.starts_with("defined(_OPENACC) || !defined(")
        || text.ends_with(") && !defined(_OPENACC)")
}

fn add(edits: &mut EditSet, edit: Edit) {
    // These places hold no directive, so that nothing else is rewritten there.
    let _ = edits.add(Rewrite { owner: OWNER, edits: vec![edit] });
}
