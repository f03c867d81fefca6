//! The way of Fortran to CUDA: compute constructs become calls of functions in C++, which are translated like any C++, data
//! directives become calls of the run-time library.
//!
//! Invariant: a construct whose function in C++ is not translated as a whole stays as it is.

mod apart;
mod arguments;
mod declare;
mod host_data;
mod kept;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::acc::ast::{ClauseKind, DataClause, Directive, DirectiveKind, ListItem};
use crate::bind::{self, Bound, Target};
use crate::cxx::{self, Construct, Elsewhere, Files, Function, Ground, Order, Procedures, Used, Why};
use crate::diag::{self, Concern, pages};
use crate::edit::{Edit, Ours, Rewrite};
use crate::host::ir::{ScopeKind, StmtId, StmtKind, Unit};
use crate::omp::SourceChange;
use crate::plan::{self, Exit, Item};
use crate::scan::{self, Conditions, Include, Scan};
use crate::sema::{self, Class, Symbol, Texts};
use crate::source::{Language, SourceFile, Span, words};
use crate::{acc, cuda, layout};

use super::branches::Sights;
use super::fortran_device::{Names, functions_of, with_places, without_layouts};
use super::read::queued_elsewhere;
use super::specification::Specifications;
use super::views::{BackEnd, Gathered, Lowered, Made, Reached, Rest};
use super::{Beside, Options, Outcome, Source, Translation, branches, split, unlike, views};
use declare::listed;

/// The run-time library's module, by its file's name.
pub const MODULE: (&str, &str) =
    ("acc2omp_cuda_module.f90", include_str!("../cuda/runtime/acc2omp_cuda_module.f90"));

/// What stands before the functions in C++, whose texts these are.
fn head<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.collect();
    let names = |word: &str| texts.iter().any(|text| text.contains(word));
    let headers = [
        ("complex.h", names("_Complex") || names("CMPLX")),
        ("math.h", true),
        ("stdlib.h", true),
        ("string.h", names("memcpy")),
    ];
    let needed = headers.into_iter().filter(|(_, is_needed)| *is_needed);
    needed.map(|(name, _)| format!("#include <{name}>\n")).chain(["\n".to_owned()]).collect()
}

/// What a source in Fortran becomes in CUDA.
pub fn translate(source: &Source, options: &Options) -> Translation {
    let back = &mut |options: &Options| written_out(source, options, DEPTH);
    super::without_data(options, back).0
}

/// Directives with conditions inside, and then constructs with such.
const DEPTH: usize = 2;

/// A source whose directives and constructs with conditions of the preprocessor inside are written out, each of them whole in
/// each branch.
fn written_out(source: &Source, options: &Options, depth: usize) -> Translation {
    let mut back = FortranCuda::default();
    let mut plain = views::translate(source, options, &mut back);
    let see = |view: &scan::View| views::made_by_view(source, options, &mut FortranCuda::default(), view);
    let sights = Sights::new(&source.file, &see);
    branches::completed(&sights, &mut plain);
    let directives = scan::splits(&source.file);
    let splits = match directives.is_empty() {
        false => directives,
        true => scan::constructs(&source.file, &back.parted.into_iter().collect::<Vec<Span>>()),
    };
    let Some(depth) = depth.checked_sub(1).filter(|_| !splits.is_empty()) else {
        return compared(&sights, plain);
    };
    let seen = |source: &Source, view: Option<&scan::View>| {
        let back = &mut FortranCuda::default();
        match view {
            Some(view) => views::translate_view(source, options, back, view),
            None => views::translate(source, options, back),
        }
    };
    let translate = |source: &Source| written_out(source, options, depth);
    let written = split::written_out(source, splits, &translate, &seen);
    written.unwrap_or_else(|| compared(&sights, plain))
}

/// A translation that says which constructs other branches would need in another way.
fn compared(sights: &Sights, mut plain: Translation) -> Translation {
    unlike::other_branches(sights, &mut plain);
    plain
}

/// What the views seen so far have brought.
#[derive(Default)]
struct FortranCuda {
    /// The functions, by the places of their constructs.
    constructs: BTreeMap<u32, Construct>,
    /// What compute constructs run on the device.
    computed: BTreeSet<Span>,
    used: RefCell<Used>,
    /// The procedures that they call, each before those that call it: its name, and its text.
    procedures: Vec<(String, String)>,
    specifications: Specifications,
    /// The module with the interfaces of the functions.
    module: String,
    /// Lines that include `openacc_lib.h`, by place.
    headers: BTreeSet<Span>,
    /// `use openacc`, by place.
    modules: BTreeSet<Span>,
    /// The sentinels `!@acc`: what stands after them is there in each build.
    conditionals: BTreeSet<Span>,
    /// The lines at statements that allocate, by place.
    placed: BTreeSet<(u32, Vec<u8>)>,
    /// Lines that come after those of the directives of a view.
    later: Vec<Edit>,
    /// Where `_OPENACC` stands.
    macros: BTreeSet<Span>,
    /// What there is to say of directives that are translated.
    said: Vec<diag::Diag>,
    /// The constructs with conditions of the preprocessor inside.
    parted: BTreeSet<Span>,
}

/// A view with its directives.
struct View<'a> {
    ground: Ground<'a>,
    options: &'a Options,
    scan: &'a Scan,
    /// The conditions of the preprocessor.
    conditions: Arc<Conditions>,
}

impl BackEnd for FortranCuda {
    fn scanned(&mut self, _scan: &Scan, first: Option<&Scan>, _all: &mut Gathered) -> bool {
        if let Some(scan) = first {
            let guards = scan.guards.iter().flat_map(|guard| &guard.words);
            let named = scan.names.iter().filter(|name| name.name == "_OPENACC").map(|name| &name.span);
            self.macros.extend(guards.chain(named));
        }
        first.is_some_and(|scan| !scan.names.is_empty())
    }

    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered {
        let Reached { scan, mut unit, parsed, mut held } = view;
        let source = all.source;
        let file = &source.file;
        let symbols = source.symbols(&unit, scan);
        let bound = all.bind((scan, &symbols), &mut unit, parsed, &mut held);
        let unit = &unit;
        let queued_elsewhere = queued_elsewhere(file, scan, (&bound, &held));
        let settings = plan::Settings { queued_elsewhere, ..source.cuda_aim(all.options) };
        let (bound, reached) =
            source.settled((unit, scan, &symbols), bound, &settings, all.options, &mut all.found);
        let bound = plan::merge_data_clauses(unit, bound);
        let (plan, said) = plan::plan(file, unit, &symbols, &bound, &held, &reached, &settings);
        all.found.spread(unit, &bound, &plan);
        all.diags.extend(said.into_iter().filter(|diag| pages::concern(diag.code) == Concern::Both));
        let others = source.headers.iter().map(|header| header.texts()).collect();
        let files = Files::new(Texts { file, unit }, others, &symbols);
        let used = RefCell::new(Used::new());
        let procedures = RefCell::new(Procedures::default());
        let elsewhere: Vec<OnceCell<Option<Elsewhere>>> =
            source.headers.iter().map(|_| OnceCell::new()).collect();
        let options = all.options;
        let declared = source.declared(scan, unit);
        let ground = Ground {
            files: &files,
            number: None,
            symbols: &symbols,
            bound: &bound,
            plan: &plan,
            declared: &declared,
            device_type: &all.options.device_type,
            used: &used,
            procedures: &procedures,
            write: cxx::procedure,
            constant: cxx::constant,
            read: &|at| source.elsewhere(at, options),
            elsewhere: &elsewhere,
        };
        let view = View { ground, options: all.options, scan, conditions: all.conditions() };
        self.conditionals.extend(&scan.conditionals);
        for used in unit.scopes.iter().flat_map(|scope| &scope.uses).filter(|used| used.module == "openacc") {
            self.modules.insert(used.span);
        }
        self.name_module(&view);
        self.old_header(&view);
        let mut changes = self.directives(&view, all);
        all.leave_whole(unit, &bound, &held, &mut changes);
        keep_called(unit, &bound, &mut changes, all);
        self.allocations(&view, all);
        self.arguments(&view, all);
        all.diags.append(&mut self.said);
        for (one, _) in bound.iter().zip(&changes).filter(|(_, edits)| edits.is_none()) {
            self.constructs.remove(&one.directive.span.start);
        }
        self.used.borrow_mut().extend(used.into_inner());
        for (name, text) in &procedures.borrow().texts {
            if !self.procedures.iter().any(|(known, _)| known == name) {
                self.procedures.push((name.clone(), text.clone()));
            }
        }
        let made =
            changes.into_iter().map(|edits| Made { edits, rows: Vec::new(), implied: Vec::new() }).collect();
        Lowered { bound, made, held }
    }

    fn after_view(&mut self, all: &mut Gathered) {
        for edit in std::mem::take(&mut self.later) {
            let span = edit.span;
            if all.edits.add_beside(u32::MAX - 2, edit).is_err() {
                all.diags.push(diag::edit_conflict(span));
            }
        }
    }

    fn device_code(&self) -> BTreeMap<u32, String> {
        self.constructs.iter().map(|(at, construct)| (*at, construct.text.clone())).collect()
    }

    fn finish(&mut self, all: &mut Gathered) -> Rest {
        let file = &all.source.file;
        let is_left =
            |start: u32| all.reports.get(&start).is_some_and(|report| report.outcome == Outcome::Left);
        self.specifications.finish(file, &is_left, &mut all.edits, &mut all.diags);
        for span in std::mem::take(&mut self.conditionals) {
            let edit = layout::without_sentinel(file, span);
            // In a construct, it is gone with that.
            let _ = all.edits.add(Rewrite { owner: u32::MAX, edits: vec![edit] });
        }
        let is_unchanged = all.edits.edits().next().is_none() && self.macros.is_empty();
        if is_unchanged && self.modules.is_empty() && self.headers.is_empty() {
            return Rest::default();
        }
        self.name_macros(all);
        let modules = std::mem::take(&mut self.modules).into_iter().map(|span| {
            let text = with_own_module(&file.text(span));
            Edit { span, text: text.into_bytes() }
        });
        let headers = std::mem::take(&mut self.headers).into_iter().map(|span| layout::removed(file, span));
        for edit in modules.chain(headers) {
            let span = edit.span;
            if all.edits.add(Rewrite { owner: u32::MAX, edits: vec![edit] }).is_err() {
                all.diags.push(diag::edit_conflict(span));
            }
        }
        let beside = self.beside(all.source, all.options);
        Rest { beside, ours: Ours::default(), ..Rest::default() }
    }
}

/// What directives become: each with its edits.
type Changes = Vec<(usize, Vec<Edit>)>;

impl FortranCuda {
    /// Gives the module of the interfaces a name that no module at hand has.
    fn name_module(&mut self, view: &View) {
        let files = view.ground.files;
        self.module = module_name(files.own.file, view.options);
        let scopes = std::iter::once(&files.own).chain(&files.others).flat_map(|seen| &seen.unit.scopes);
        let modules = scopes.filter(|scope| scope.kind == ScopeKind::Module);
        let modules: Vec<&str> = modules.map(|scope| scope.name.as_str()).collect();
        while modules.iter().any(|other| other.eq_ignore_ascii_case(&self.module)) {
            self.module = format!("{}_calls_acc", self.module.trim_end_matches("_acc"));
        }
    }

    /// `include 'openacc_lib.h'` gives way to the module.
    fn old_header(&mut self, view: &View) {
        let (file, unit) = (view.ground.files.own.file, view.ground.files.own.unit);
        let is_it = |include: &&Include| include.path.eq_ignore_ascii_case("openacc_lib.h");
        for include in view.scan.includes.iter().filter(is_it) {
            let Some(scope) = layout::innermost(unit, include.span.start) else { continue };
            let place = super::specification::after_head(file, scope);
            self.specifications.add(place, "use acc2omp_cuda".to_owned(), include.span.start);
            self.headers.insert(include.span);
        }
    }

    /// What each directive of a view becomes; none for those that stay.
    fn directives(&mut self, view: &View, all: &mut Gathered) -> Vec<Option<Vec<Edit>>> {
        let bound = view.ground.bound;
        let mut changes: Vec<Option<Vec<Edit>>> = Vec::with_capacity(bound.len());
        changes.resize_with(bound.len(), || None);
        let mut is_done = vec![false; bound.len()];
        for at in 0..bound.len() {
            if is_done[at] {
                continue;
            }
            match self.directive(view, at, all.source) {
                Ok(made) => {
                    for (at, edits) in made {
                        is_done[at] = true;
                        changes[at] = Some(edits);
                    }
                }
                Err(Some(why)) => all.diags.push(diag::not_yet_cuda(why.at, &why.what)),
                Err(None) => {}
            }
            if bound[at].directive.kind.is_compute() {
                bind::descendants(bound, at).for_each(|below| is_done[below] = true);
            }
        }
        changes
    }

    /// What a directive becomes, with those that belong to it. `Err(None)`: it stays, and it was said why.
    fn directive(&mut self, view: &View, at: usize, source: &Source) -> Result<Changes, Option<Why>> {
        let bound = view.ground.bound;
        let directive = &bound[at].directive;
        let refused = |what: &str| Err(Some(Why { at: directive.span, what: what.to_owned() }));
        if let Item::Left = view.ground.plan.items[at]
            && !matches!(directive.kind, DirectiveKind::End(_))
        {
            return if view.ground.plan.notes[at].stays {
                Err(None)
            } else {
                refused("this directive of Fortran")
            };
        }
        let is_in_host_data =
            bind::ancestors(bound, at).any(|above| bound[above].directive.kind == DirectiveKind::HostData);
        if is_in_host_data && !matches!(directive.kind, DirectiveKind::Wait | DirectiveKind::End(_)) {
            return refused("a directive in `host_data` of Fortran");
        }
        match directive.kind {
            kind if kind.is_compute() => self.compute(view, at, source).map_err(Some),
            DirectiveKind::Data => self.data(view, at).map_err(Some),
            DirectiveKind::HostData => self.host_data(view, at).map_err(Some),
            DirectiveKind::EnterData
            | DirectiveKind::ExitData
            | DirectiveKind::Update
            | DirectiveKind::Wait => self.standalone(view, at).map_err(Some),
            DirectiveKind::Init | DirectiveKind::Shutdown | DirectiveKind::Set => {
                self.control(view, at).map_err(Some)
            }
            DirectiveKind::Routine => self.routine(view, at).map_err(Some),
            DirectiveKind::Declare => self.declare(view, at).map_err(Some),
            DirectiveKind::End(_) => Err(None),
            kind => refused(&format!("`{}` of Fortran", acc::name(kind))),
        }
    }

    fn compute(&mut self, view: &View, at: usize, source: &Source) -> Result<Changes, Why> {
        let bound = view.ground.bound;
        let file = &source.file;
        let one = &bound[at];
        let span = one.directive.span;
        let unit = view.ground.files.own.unit;
        let Some(stmt) = one.stmt() else { return Err(Why { at: span, what: "this construct".to_owned() }) };
        let name = self.name(view, span);
        let end = one.partner.map(|end| bound[end].directive.span);
        let whole = span.to(end.unwrap_or(unit.stmt(stmt).span));
        if !layout::stands_alone(file, whole) {
            return Err(Why { at: span, what: "a construct among other code on one line".to_owned() });
        }
        ends_alone(view, at, stmt)?;
        if self.is_parted(file, whole) {
            return Err(Why {
                at: span,
                what: "a construct with lines of the preprocessor in it".to_owned(),
            });
        }
        view.ground.files.take_asked();
        let mut construct = cxx::construct(&view.ground, at, &name)?;
        let asked: Vec<String> =
            view.ground.files.take_asked().iter().map(|name| format!("`{name}`")).collect();
        if !asked.is_empty() {
            self.said.push(diag::kind_by_condition(span, &asked.join(", ")));
        }
        self.check(view, &construct, span, source)?;
        let mut calls = self.places(view, &construct.declared, span)?;
        // What a clause names may be in nothing that the kernel does.
        let named = self.places_of(view, listed(view, at).into_iter().map(|(_, item)| item))?;
        calls.extend(named.into_iter().filter(|line| !calls.contains(line)).collect::<Vec<_>>());
        let sizes = construct.sizes.iter().map(|(name, object, bytes)| {
            format!("call acc2omp_check_size(\"{name}\", storage_size({object}), {bytes})")
        });
        calls.extend(sizes);
        calls.extend(calls_of(file, span, &construct));
        let mut changes: Changes = bind::descendants(bound, at).map(|below| (below, Vec::new())).collect();
        changes.extend(one.partner.map(|end| (end, Vec::new())));
        let edits = match construct.order.condition.take() {
            None => vec![layout::replaced(file, whole, &calls)],
            Some(condition) => beside_host_code(view, (at, stmt), &condition, &calls)?,
        };
        changes.push((at, edits));
        self.need(view, file, span.start, true)?;
        if let Some(scope) = layout::innermost(unit, span.start) {
            let place = super::specification::after_head(file, scope);
            for (module, item) in &construct.uses {
                self.specifications.add(place, format!("use {module}, only: {item}"), span.start);
            }
        }
        self.constructs.insert(span.start, construct);
        Ok(changes)
    }

    /// Whether lines of the preprocessor stand in a construct that may choose other code; then it is noted.
    fn is_parted(&mut self, file: &SourceFile, whole: Span) -> bool {
        let count = file.text(whole).lines().filter(|line| line.starts_with('#')).count();
        if count == 0 {
            return false;
        }
        // `_OPENACC` is defined in the translation, too.
        let forks = scan::forks(file).into_iter().filter(|fork| whole.contains(fork.whole));
        let decided: usize = forks
            .filter(|fork| fork.names().all(|name| name == "_OPENACC"))
            .map(|fork| fork.branches.len() + 1)
            .sum();
        if decided == count {
            return false;
        }
        self.parted.insert(whole);
        true
    }

    /// The name of the function for the construct of a directive.
    fn name(&self, view: &View, span: Span) -> String {
        let files = view.ground.files;
        let unit_name = shortened(view.options.unit_name(&files.own.file.name));
        let procedure = layout::innermost(files.own.unit, span.start).map(|scope| scope.name.clone());
        let file = files.own.file;
        let mut line = file.line_number(span.start).to_string();
        // Of a construct that is written out for several branches.
        let own = file.lines.line(span.start);
        if file.inserted.binary_search(&(file.lines.span(own).end.saturating_sub(1))).is_ok() {
            line = format!("{line}_{}", own + 1);
        }
        let procedure =
            procedure.filter(|name| !name.is_empty() && *name != unit_name).map(|name| format!("_{name}"));
        let name = format!("{unit_name}{}_{line}", procedure.unwrap_or_default()).to_ascii_lowercase();
        let name = if name.len() < 60 { name } else { format!("{unit_name}_{line}").to_ascii_lowercase() };
        // Names of Fortran begin with a letter.
        if name.starts_with('_') { format!("file{name}") } else { name }
    }

    /// Whether the function of a construct is translated as a whole.
    fn check(&self, view: &View, construct: &Construct, span: Span, source: &Source) -> Result<(), Why> {
        let procedures = view.ground.procedures.borrow();
        let helpers = cxx::helpers(&view.ground.used.borrow());
        let text = format!("{helpers}{}{}", joined(&procedures.texts, &construct.text), construct.text);
        let text = format!("{}{text}", head(std::iter::once(text.as_str())));
        let translation = translated(source, view.options, text, construct.is_aliased);
        let left = translation.directives.iter().any(|report| report.outcome == Outcome::Left);
        if !left && !translation.beside.is_empty() {
            let host = String::from_utf8_lossy(&translation.text);
            if host.contains("acc2omp::launch") {
                let what = "a construct whose kernel C++ has to keep among the host's code".to_owned();
                return Err(Why { at: span, what });
            }
            return Ok(());
        }
        // What it calls stays for its sake.
        let is_left = |diag: &&diag::Diag| diag.severity == diag::Severity::Left && !diag.follows;
        let why = translation.diagnostics.iter().find(is_left);
        let why = why.map_or_else(|| "nothing comes of it".to_owned(), |diag| diag.message.clone());
        Err(Why { at: span, what: format!("this construct (as C++: {why})") })
    }

    /// Notes which modules the scoping unit around `offset` needs.
    fn need(&mut self, view: &View, file: &SourceFile, offset: u32, has_own: bool) -> Result<(), Why> {
        let unit = view.ground.files.own.unit;
        let Some(scope) = layout::innermost(unit, offset) else {
            let what = "a directive outside of all scoping units".to_owned();
            return Err(Why { at: Span { start: offset, end: offset }, what });
        };
        if scope.is_pure {
            let what = "a directive in a pure procedure".to_owned();
            return Err(Why { at: Span { start: offset, end: offset }, what });
        }
        let place = super::specification::after_head(file, scope);
        // With `only`, what is called here is not brought.
        if !scope.uses.iter().any(|used| used.module == "openacc" && !used.only && used.names.is_empty()) {
            self.specifications.add(place, "use acc2omp_cuda".to_owned(), offset);
        }
        if has_own {
            self.specifications.add(place, format!("use {}", self.module), offset);
        }
        Ok(())
    }

    fn data(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let bound = view.ground.bound;
        let one = &bound[at];
        let span = one.directive.span;
        let refused = |what: &str| Err(Why { at: span, what: what.to_owned() });
        let Some(end) = one.partner else { return refused("this `data` region") };
        let file = view.ground.files.own.file;
        let mut order = Order::default();
        let mut items = Vec::new();
        for clause in counting(&one.directive, view.options) {
            match clause {
                _ if order.takes(clause) => {}
                ClauseKind::Data(clause, list) => items.extend(list.iter().map(|item| (*clause, item))),
                ClauseKind::Default { .. } => {}
                _ => return refused("this clause of `data` of Fortran"),
            }
        }
        let mut lines = waits(&order.waits, None);
        lines.extend(self.places_of(view, items.iter().map(|(_, item)| *item))?);
        lines.push(begin(file, span, order.queue.as_deref()));
        let mut brought = Vec::new();
        for (clause, item) in items {
            let passed = self.item(view, item)?;
            brought.push(
                structured(clause, &item.text, &passed)
                    .ok_or_else(|| Why { at: item.span, what: "this data clause of Fortran".to_owned() })?,
            );
        }
        lines.extend(only_where(order.condition, brought));
        let end_span = bound[end].directive.span;
        if ![span, end_span].iter().all(|one| layout::stands_alone(file, *one)) {
            return refused("a directive among other code on one line");
        }
        self.need(view, file, span.start, false)?;
        let mut begin = vec![layout::replaced(file, span, &lines)];
        begin.extend(ended_at(view, at, Vec::new(), &view.ground.plan.notes[at].jumps)?);
        Ok(vec![
            (at, begin),
            (end, vec![layout::replaced(file, end_span, &["call acc2omp_end()".to_owned()])]),
        ])
    }

    /// A list item as an argument: an array, a scalar, an object or a component.
    fn item(&self, view: &View, item: &ListItem) -> Result<String, Why> {
        let (files, symbols) = (view.ground.files, view.ground.symbols);
        let refused = || Why { at: item.span, what: format!("`{}` in a clause of Fortran", item.text) };
        let passed = cxx::passed(files, symbols, item).ok_or_else(refused)?;
        if item.depth() > 0 {
            return Ok(passed);
        }
        let symbol = symbols.lookup(item.variable(), item.span.start).map(|id| symbols.get(id));
        let is_plain = symbol.is_some_and(|known| {
            let is_whole_of_assumed_size = known.fortran.assumed_size && item.parts.is_empty();
            matches!(known.class, Class::Array | Class::Scalar | Class::Record)
                && !is_whole_of_assumed_size
                // The library takes an argument that is absent for nothing, but a section of it is not an argument.
                && (!known.fortran.optional || item.parts.is_empty())
        });
        if is_plain && !item.common { Ok(passed) } else { Err(refused()) }
    }

    fn standalone(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let directive = &view.ground.bound[at].directive;
        let span = directive.span;
        let refused = |what: String| Err(Why { at: span, what });
        let (mut is_final, mut where_present) = (false, "");
        let mut order = Order::default();
        let mut items: Vec<(&'static str, &ListItem)> = Vec::new();
        if let acc::ast::Argument::Wait(wait) = &directive.argument {
            if wait.devnum.is_some() {
                return refused("`wait(devnum: …)`".to_owned());
            }
            order.waits.push(wait.queues.iter().map(|one| one.text.clone()).collect());
        } else if directive.kind == DirectiveKind::Wait {
            order.waits.push(Vec::new());
        }
        let kinds = || counting(directive, view.options);
        for clause in kinds() {
            is_final |= matches!(clause, ClauseKind::Finalize);
            if *clause == ClauseKind::IfPresent {
                where_present = ", if_present=.true.";
            }
        }
        for clause in kinds() {
            let word = match clause {
                _ if order.takes(clause) => continue,
                ClauseKind::Finalize | ClauseKind::IfPresent => continue,
                ClauseKind::Data(DataClause::Copyin { .. }, _) => "enter_copyin",
                ClauseKind::Data(DataClause::Create { zero: false }, _) => "enter_create",
                ClauseKind::Data(DataClause::Create { zero: true }, _) => "enter_create_zero",
                ClauseKind::Data(DataClause::Copyout { zero: false }, _) if is_final => {
                    "exit_copyout_finalize"
                }
                ClauseKind::Data(DataClause::Copyout { zero: false }, _) => "exit_copyout",
                ClauseKind::Data(DataClause::Delete, _) if is_final => "exit_delete_finalize",
                ClauseKind::Data(DataClause::Delete, _) => "exit_delete",
                ClauseKind::UpdateSelf(_) => "update_self",
                ClauseKind::UpdateDevice(_) => "update_device",
                _ => return refused(format!("this clause of `{}` of Fortran", acc::name(directive.kind))),
            };
            items.extend(plan::list(clause).iter().map(|item| (word, item)));
        }
        let is_wait = directive.kind == DirectiveKind::Wait;
        let Order { queue, waits: lists, condition } = order;
        let mut lines = waits(&lists, queue.as_deref());
        lines.extend(self.places_of(view, items.iter().map(|(_, item)| *item))?);
        let queue = queue.filter(|_| !is_wait).map(|queue| format!(", {}", queue_of(&queue)));
        for (word, item) in items {
            let passed = self.item(view, item)?;
            let name = item.text.replace('"', "'");
            lines.push(format!(
                "call acc2omp_{word}(\"{name}\", {passed}{}{where_present})",
                queue.as_deref().unwrap_or_default()
            ));
        }
        self.replaced(view, at, lines, condition)
    }

    /// `routine`, which goes: constructs bring the procedures that they call.
    fn routine(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let ground = &view.ground;
        let one = &ground.bound[at];
        let span = one.directive.span;
        let refused = |what: &str| Err(Why { at: span, what: what.to_owned() });
        let Target::Function(function) = one.target else {
            return refused("`routine` for a procedure that is not defined in this file");
        };
        let (file, id) = (ground.files.own.file, function);
        cxx::signature(ground, &ground.files.own.unit.function(id).name, span)?;
        let is_inside =
            |other: &Bound| other.function == Some(id) && !matches!(other.target, Target::Function(_));
        let inside = (0..ground.bound.len()).filter(|other| is_inside(&ground.bound[*other]));
        let mut changes = Changes::new();
        for gone in std::iter::once(at).chain(inside) {
            let own = &ground.bound[gone];
            let is_alone = layout::stands_alone(file, own.directive.span);
            match own.text {
                Some(_) if !is_alone => return refused("a directive among other code on one line"),
                Some(_) => changes.push((gone, vec![layout::removed(file, own.directive.span)])),
                None => changes.push((gone, Vec::new())),
            }
        }
        Ok(changes)
    }

    /// `init`, `shutdown` and `set`.
    fn control(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let directive = &view.ground.bound[at].directive;
        let mut order = Order::default();
        counting(directive, view.options).for_each(|clause| _ = order.takes(clause));
        let calls = cuda::control_calls(directive.kind, counting(directive, view.options), &int);
        let lines = calls.iter().map(|call| format!("call {call}")).collect();
        self.replaced(view, at, lines, order.condition)
    }

    /// Statements in place of a directive, which run where a condition is true.
    fn replaced(
        &mut self,
        view: &View,
        at: usize,
        lines: Vec<String>,
        condition: Option<String>,
    ) -> Result<Changes, Why> {
        let span = view.ground.bound[at].directive.span;
        let file = view.ground.files.own.file;
        let lines = only_where(condition, lines);
        if !layout::stands_alone(file, span) {
            let what = "a directive among other code on one line".to_owned();
            return Err(Why { at: span, what });
        }
        self.need(view, file, span.start, false)?;
        let edit =
            if lines.is_empty() { layout::removed(file, span) } else { layout::replaced(file, span, &lines) };
        Ok(vec![(at, vec![edit])])
    }

    /// `_OPENACC` gives way to the macro of the library, which the file defines.
    fn name_macros(&mut self, all: &mut Gathered) {
        let file = &all.source.file;
        let mut macros = std::mem::take(&mut self.macros);
        // What stands in a construct has gone with it.
        let gone: Vec<Span> = all.edits.edits().map(|edit| edit.span).collect();
        macros.retain(|at| !gone.iter().any(|span| span.contains(*at)));
        if macros.is_empty() {
            return;
        }
        let line = format!("#define {} 201711{}", cuda::MACRO, file.line_end(0));
        all.add(Edit { span: Span { start: 0, end: 0 }, text: line.into_bytes() });
        for span in macros {
            all.add(Edit { span, text: cuda::MACRO.as_bytes().to_vec() });
        }
    }

    /// The device code with the functions, and the module with their interfaces.
    fn beside(&self, source: &Source, options: &Options) -> Vec<Beside> {
        if self.constructs.is_empty() {
            return Vec::new();
        }
        let file = &source.file;
        let texts = self.constructs.values().map(|construct| construct.text.as_str());
        let constructs: String = texts.clone().collect();
        let used = format!("{}{}", cxx::helpers(&self.used.borrow()), joined(&self.procedures, &constructs));
        let mut text = format!("{}{used}", head(texts.chain([used.as_str()])));
        // Where the code of a line stands in the source: as the last line before it that says so.
        let mut places: BTreeMap<usize, u32> = BTreeMap::new();
        let mut first = text.lines().count();
        for (at, construct) in &self.constructs {
            places.insert(first, *at);
            places.extend(construct.places.iter().map(|(line, at)| (first + line + 1, *at)));
            text.push_str(&construct.text);
            text.push('\n');
            first += construct.text.lines().count() + 1;
        }
        let place_of = |line: usize| Some(place(file, *places.range(..=line).next_back()?.1));
        let is_aliased = self.constructs.values().any(|construct| construct.is_aliased);
        let name = format!("{}.cpp", own_stem(file, options));
        let translation = translated(source, options, text, is_aliased);
        let module = self.module.clone();
        let functions: BTreeSet<&str> =
            self.constructs.values().map(|construct| construct.function.name.as_str()).collect();
        let text_of = |made: &Beside| String::from_utf8_lossy(&made.text).into_owned();
        let code = translation.beside.iter().find(|made| made.name.ends_with(".cu")).map(text_of);
        let own = Options { has_namesake: false, ..options.clone() };
        let unit = own.unit_name(&virtual_name(file, options));
        let names = Names::of(code.as_deref().unwrap_or_default(), &unit, &functions);
        let mut beside = Vec::new();
        for mut made in translation.beside {
            let own = base(file);
            let head = format!("What {name} calls");
            let code = without_layouts(&names.put(&text_of(&made)));
            let mut code = code.replacen(&head, &format!("What {own} calls"), 1);
            if made.name.ends_with(".cu") {
                code = code.replacen(
                    &format!("The device code of {name}"),
                    &format!("The device code of {own}"),
                    1,
                );
                code.push_str(&format!("\n// What {own} calls.\n"));
                let host = String::from_utf8_lossy(&translation.text);
                code.push_str(&names.put(&functions_of(&host)));
                code = with_places(&code, &name, &place_of);
            }
            made.text = code.into_bytes();
            beside.push(made);
        }
        let functions: Vec<Function> =
            self.constructs.values().map(|construct| construct.function.clone()).collect();
        let text = cxx::module(&module, &base(file), &functions);
        // Compilers name objects after their sources: another name than that of the device code.
        beside.push(Beside { name: format!("{module}_module.f90"), text: text.into_bytes() });
        beside
    }
}

/// Leaves the directives of what untranslated constructs call.
fn keep_called(unit: &Unit, bound: &[Bound], changes: &mut [Option<Vec<Edit>>], all: &mut Gathered) {
    let is_left = |at: &usize| changes[*at].is_none() && bound[*at].directive.kind.is_compute();
    let left = (0..bound.len()).filter(is_left).filter_map(|at| Some(unit.stmt(bound[at].stmt()?).span));
    for at in kept::for_untranslated(unit, bound, left.collect()) {
        if changes[at].take().is_some() {
            all.diags.push(cuda::called_by_untranslated(bound[at].directive.span));
        }
    }
}

/// Whether Fortran passes a variable to an argument of assumed type: it passes no object with procedures.
fn is_passed(view: &View, known: &Symbol) -> bool {
    let is_object_with_procedures =
        known.record.as_deref().is_some_and(|tag| cxx::has_procedures(view.ground.files, tag));
    matches!(known.class, Class::Array | Class::Scalar | Class::Record) && !is_object_with_procedures
}

/// Refuses a loop whose last statement is that of a loop around it, too: what stands after the loop would stand in neither.
fn ends_alone(view: &View, at: usize, stmt: StmtId) -> Result<(), Why> {
    let one = &view.ground.bound[at];
    let unit = view.ground.files.own.unit;
    let Some(function) = one.function else { return Ok(()) };
    let end = unit.stmt(stmt).span.end;
    let is_shared = |outer: &StmtId| {
        let around = unit.stmt(*outer);
        *outer != stmt && around.span.end == end && matches!(around.kind, StmtKind::For { .. })
    };
    match sema::path_to(unit, unit.function(function).body, stmt).iter().any(is_shared) {
        true => Err(Why {
            at: one.directive.span,
            what: "a loop that ends where a loop around it does".to_owned(),
        }),
        false => Ok(()),
    }
}

/// The edits that put calls in place of construct `at` where a condition is true; otherwise the host runs the construct.
fn beside_host_code(
    view: &View,
    (at, stmt): (usize, StmtId),
    condition: &str,
    calls: &[String],
) -> Result<Vec<Edit>, Why> {
    let Ground { bound, files, .. } = view.ground;
    let Texts { file, unit } = files.own;
    let span = bound[at].directive.span;
    let after = |stmt: StmtId, like: Span, lines: &[String]| {
        let edit = layout::lines_after(file, unit.stmt(stmt).span.end, like, lines);
        edit.ok_or_else(|| Why { at: span, what: "a construct among other code on one line".to_owned() })
    };
    let mut lines = vec![format!("if ({condition}) then")];
    lines.extend(calls.iter().map(|call| format!("  {call}")));
    lines.push("else".to_owned());
    let apart::Kept { before, after: mut last, loops } = apart::kept(&view.ground, at, stmt)?;
    lines.extend(before);
    last.push("end if".to_owned());
    let mut edits = vec![layout::replaced(file, span, &lines)];
    for below in bind::descendants(bound, at).filter(|below| bound[*below].text.is_some()) {
        let own = bound[below].directive.span;
        match loops.get(&below) {
            Some(one) => {
                ends_alone(view, below, one.stmt)?;
                edits.push(layout::replaced(file, own, &one.before));
                edits.push(after(one.stmt, own, &one.after)?);
            }
            None => edits.push(layout::removed(file, own)),
        }
    }
    edits.push(match bound[at].partner {
        Some(end) => layout::replaced(file, bound[end].directive.span, &last),
        None => after(stmt, span, &last)?,
    });
    Ok(edits)
}

/// The edits that make these parts of directive `at`, and end its region where control leaves it.
fn ended_at(view: &View, at: usize, mut parts: Vec<SourceChange>, exits: &[Exit]) -> Result<Vec<Edit>, Why> {
    let ground = &view.ground;
    let one = &ground.bound[at];
    let jump = |exit: &Exit| match *exit {
        Exit::Jump { stmt, .. } => Some(stmt),
        Exit::End(_) => None,
    };
    let is_declare = |other: usize| ground.bound[other].directive.kind == DirectiveKind::Declare;
    let ended = |other: usize| match &ground.plan.items[other] {
        Item::Declare { exits, .. } => exits.iter().filter_map(jump).collect::<Vec<StmtId>>(),
        _ => ground.plan.notes[other].jumps.iter().filter_map(jump).collect(),
    };
    let others =
        (0..ground.bound.len()).filter(|other| *other != at && !(is_declare(at) && is_declare(*other)));
    let shared: BTreeSet<StmtId> = others.flat_map(ended).collect();
    if exits.iter().filter_map(jump).any(|stmt| shared.contains(&stmt)) {
        let what = "a region with a jump that leaves another region, too,".to_owned();
        return Err(Why { at: one.directive.span, what });
    }
    let lines = vec!["call acc2omp_end()".to_owned()];
    parts.extend(exits.iter().map(|exit| match *exit {
        Exit::Jump { stmt, braces: false } => SourceChange::Before(stmt, lines.clone()),
        // They stand inside of an `if` then.
        Exit::Jump { stmt, braces: true } => {
            SourceChange::Braced(stmt, lines.iter().map(|line| format!("  {line}")).collect())
        }
        Exit::End(body) => SourceChange::AtEnd(body, lines.clone()),
    }));
    let edits = edits_of(view, at, &parts);
    edits.ok_or_else(|| Why { at: one.directive.span, what: "a region with a jump out of it".to_owned() })
}

/// The edits for directive `at`; `None` if the source leaves no room for them.
fn edits_of(view: &View, at: usize, parts: &[SourceChange]) -> Option<Vec<Edit>> {
    let one = &view.ground.bound[at];
    let Texts { file, unit } = view.ground.files.own;
    let text = one.text.and_then(|at| view.scan.directives.get(at));
    let around = layout::Ground { file, unit, conditions: &view.conditions, guards: &view.scan.guards };
    layout::edits_of(around, one.directive.span, text, None, parts)
}

/// The texts of those procedures that `code` names, or that these name: each stands before what names it.
fn joined(procedures: &[(String, String)], code: &str) -> String {
    let mut named: BTreeSet<&str> = words(code).collect();
    let mut texts = Vec::new();
    for (name, text) in procedures.iter().rev() {
        if named.contains(name.as_str()) {
            texts.push(text.as_str());
            named.extend(words(text));
        }
    }
    texts.iter().rev().map(|text| format!("{text}\n")).collect()
}

/// `use openacc` as it becomes.
fn with_own_module(text: &str) -> String {
    let at = text.to_ascii_lowercase().find("openacc").unwrap_or(0);
    format!("{}acc2omp_cuda{}", &text[..at], &text[(at + "openacc".len()).min(text.len())..])
}

/// A file's name without its folder.
fn base(file: &SourceFile) -> String {
    cuda::own_name(&file.name)
}

/// The name of the file of C++ that is translated.
fn virtual_name(file: &SourceFile, options: &Options) -> String {
    let folder = file.name.rfind(['/', '\\']).map_or("", |at| &file.name[..=at]);
    format!("{folder}{}.cpp", own_stem(file, options))
}

/// What names the files beside a source, which may have a namesake in another language.
fn own_stem(file: &SourceFile, options: &Options) -> String {
    cuda::beside_stem(&file.name, options.has_namesake)
}

/// The module with the interfaces of a file's functions.
fn module_name(file: &SourceFile, options: &Options) -> String {
    let name = options.unit_name(&file.name);
    // A name begins with a letter.
    let name = if name.starts_with('_') { format!("file{name}") } else { name };
    format!("{}_acc", shortened(name))
}

/// A name that leaves enough for a name of Fortran, which has at most 63 characters, to have more after it.
fn shortened(name: String) -> String {
    const MOST: usize = 45;
    if name.len() <= MOST {
        return name;
    }
    let sum: String =
        Sha256::digest(name.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{sum}", &name[..MOST - sum.len() - 1])
}

/// Translates functions in C++ to CUDA.
fn translated(source: &Source, options: &Options, text: String, is_aliased: bool) -> Translation {
    let name = virtual_name(&source.file, options);
    let file = SourceFile::new(name, text.into_bytes(), Language::Cpp);
    let own = Options {
        has_namesake: false,
        assume_no_alias: !is_aliased,
        wishes: Vec::new(),
        stays: Vec::new(),
        line_directives: false,
        ..options.clone()
    };
    super::cuda::translate(&Source::among(file, Vec::new()), &own)
}

fn place(file: &SourceFile, at: u32) -> String {
    format!("{}:{}", base(file), file.line_number(at))
}

fn queue_of(queue: &str) -> String {
    if queue.is_empty() { "-1".to_owned() } else { int(queue) }
}

/// A number of Fortran as one of C.
fn int(text: &str) -> String {
    format!("int({text}, 4)")
}

/// Statements that run only where a condition is true.
fn only_where(condition: Option<String>, mut lines: Vec<String>) -> Vec<String> {
    if let Some(condition) = condition.filter(|_| !lines.is_empty()) {
        lines.iter_mut().for_each(|line| line.insert_str(0, "  "));
        lines.insert(0, format!("if ({condition}) then"));
        lines.push("end if".to_owned());
    }
    lines
}

fn begin(file: &SourceFile, span: Span, queue: Option<&str>) -> String {
    let queue = queue.map(|queue| format!(", {}", queue_of(queue))).unwrap_or_default();
    format!("call acc2omp_begin(\"{}\"{queue})", place(file, span.start))
}

/// The call for a data clause in the newest region; `item` is the argument for what the clause calls `name`.
fn structured(clause: DataClause, name: &str, item: &str) -> Option<String> {
    let word = match clause {
        DataClause::Copy => "copy",
        DataClause::Copyin { .. } => "copyin",
        DataClause::Copyout { zero: false } => "copyout",
        DataClause::Copyout { zero: true } => "copyout_zero",
        DataClause::Create { zero: false } => "create",
        DataClause::Create { zero: true } => "create_zero",
        DataClause::Present => "present",
        DataClause::NoCreate => "no_create",
        _ => return None,
    };
    Some(format!("call acc2omp_{word}(\"{}\", {item})", name.replace('"', "'")))
}

/// The calls that wait for lists of queues, each on `queue` if one is given; an empty list stands for all queues.
fn waits(lists: &[Vec<String>], queue: Option<&str>) -> Vec<String> {
    let on = queue.map(queue_of);
    let mut lines = Vec::new();
    for list in lists {
        match (&on, list.is_empty()) {
            (None, true) => lines.push("call acc_wait_all()".to_owned()),
            (Some(on), true) => lines.push(format!("call acc_wait_all_async({on})")),
            (None, false) => lines.extend(list.iter().map(|one| format!("call acc_wait({})", int(one)))),
            (Some(on), false) => {
                lines.extend(list.iter().map(|one| format!("call acc_wait_async({}, {on})", int(one))));
            }
        }
    }
    lines
}

/// The statements around the call of a construct's function.
fn calls_of(file: &SourceFile, span: Span, construct: &Construct) -> Vec<String> {
    let mut lines = waits(&construct.order.waits, construct.order.queue.as_deref());
    let data: Vec<String> =
        construct.data.iter().filter_map(|data| structured(data.clause, &data.name, &data.item)).collect();
    if data.is_empty() {
        lines.push(construct.function.call());
        return lines;
    }
    lines.push(begin(file, span, construct.order.queue.as_deref()));
    lines.extend(data);
    lines.push(construct.function.call());
    lines.push("call acc2omp_end()".to_owned());
    lines
}

/// The clauses of a directive that count.
fn counting<'a>(
    directive: &'a Directive,
    options: &Options,
) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
    let counting = plan::effective(directive, &options.device_type).0;
    counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind))
}
