//! Components that a compiler cannot map: which directives name such, in clauses or in their bodies.
//!
//! Invariant: a construct names the components of a variable by their aliases everywhere, or it is left untranslated.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::acc::ast::{Clause, ClauseKind, DataClause, DirectiveKind, ListItem, PathStep};
use crate::bind::{self, Bound, ancestors, descendants};
use crate::diag::{self, Diag};
use crate::host::ir::{BaseType, Derived, FunctionId, StmtId, Unit};
use crate::plan::Plan;
use crate::sema::{self, Class, Component, Path, Place, SymbolId, SymbolKind, Symbols, Uses};
use crate::source::{SourceFile, Span};

use super::alias::{Aliased, Block, Temporary};
use super::apart::Apart;
use super::pointers::{self, Moving};
use super::texts::opening;
use super::{BaseLanguage, Target, profile};

/// Gives names to the components that the directives of a Fortran file are about and the target's compilers cannot map.
pub fn alias<'a>(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    bound: &'a [Bound],
    plan: &Plan,
    target: Target,
) -> (Aliased<'a>, Vec<Diag>) {
    let aliased = Aliased { bound: Cow::Borrowed(bound), blocks: BTreeMap::new(), refused: BTreeSet::new() };
    if target.speech != BaseLanguage::Fortran {
        return (aliased, Vec::new());
    }
    let is_flang = profile::tuning(target.profile).flang;
    let Moving { places, moves, diags } = pointers::moving(unit, symbols, bound);
    let gapped = sema::gapped(unit, symbols).into_iter();
    let gapped: BTreeMap<Place, (Span, Option<Place>)> =
        gapped.map(|(at, place, whole)| (place, (at, whole))).collect();
    let roots = places.keys().chain(gapped.keys()).map(|(root, _)| *root).collect();
    let paths = sema::paths(unit, symbols, &roots);
    // The loops of array statements, and the heads of `do concurrent`, are written anew, with the aliases in them.
    let rewritten = plan.arrays.keys().map(|stmt| unit.stmt(*stmt).span);
    let nested = unit.concurrent.iter().filter(|one| plan.concurrent.contains_key(&one.stmt));
    let rewritten = rewritten.chain(nested.map(|one| one.header)).collect();
    let mut work = Aliases {
        file,
        unit,
        symbols,
        paths,
        rewritten,
        is_flang,
        declared: BTreeMap::new(),
        moving: BTreeMap::new(),
        moves,
        gapped,
        reported: BTreeSet::new(),
        apart: BTreeSet::new(),
        aliased,
        diags,
    };
    work.part(bound);
    for index in 0..bound.len() {
        work.moving = places.clone();
        work.directive(index, bound);
    }
    work.routines(bound, plan);
    (work.aliased, work.diags)
}

struct Aliases<'a, 'b> {
    file: &'a SourceFile,
    unit: &'a Unit,
    symbols: &'a Symbols,
    paths: Vec<Path>,
    /// The statements in whose place other code stands.
    rewritten: Vec<Span>,
    /// The compiler is flang.
    is_flang: bool,
    /// The variables declared for scalars, by the start of the scope and their name.
    declared: BTreeMap<(u32, String), Temporary>,
    /// The pointers that the directive at hand must name by aliases, and where each gets another target.
    moving: BTreeMap<Place, Option<Span>>,
    /// Where pointers get other targets.
    moves: Vec<(Span, Place)>,
    /// The pointers to elements that do not stand side by side, and where each gets them.
    gapped: BTreeMap<Place, (Span, Option<Place>)>,
    /// What the author knows already.
    reported: BTreeSet<Place>,
    /// The types of objects that stay on the host while the targets of their pointers are on the device.
    apart: BTreeSet<String>,
    aliased: Aliased<'b>,
    diags: Vec<Diag>,
}

/// What becomes of a list item.
enum Named {
    /// It stays.
    Same,
    /// The component has an alias.
    Component,
    /// The variable has an alias that is spelled as it is.
    Itself,
    /// The variable has components that cannot go with it.
    Whole,
    /// The scalar goes to the device with each construct, and has no place there between them.
    Scalar,
}

/// What an alias stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A scalar of an intrinsic type.
    Scalar,
    /// A scalar of a derived type.
    Record,
    /// An array.
    Array,
}

fn shape(component: &Component) -> Shape {
    match &component.record {
        _ if component.is_array() => Shape::Array,
        Some(_) => Shape::Record,
        None => Shape::Scalar,
    }
}

/// Why a construct cannot use the aliases.
enum Problem {
    /// The component is that of another element from time to time.
    Varies,
    /// The variable itself is used.
    Whole,
}

impl Aliases<'_, '_> {
    /// Finds the types of objects that stay on the host while the targets of their pointers are on the device.
    fn part(&mut self, bound: &[Bound]) {
        let mut apart = Apart::new(self.unit, self.symbols, bound);
        self.apart = apart.types(self.symbols);
        if self.apart.is_empty() {
            return;
        }
        let constructs = bound.iter().filter(|one| one.directive.kind.is_compute());
        for (one, stmt) in constructs.filter_map(|one| Some((one, one.stmt()?))) {
            let used = sema::uses(self.unit, self.symbols, stmt);
            for path in self.paths_in(stmt) {
                let is_own = !is_private(one, &self.symbols.get(path.root).name);
                let is_named = matches!(self.component(&path, &used, stmt), Ok(Some(_)));
                if is_own && self.is_deep(&path) && !is_named {
                    let record = sema::record_of(self.unit, self.symbols, path.root);
                    let way = self.way_of(&path).unwrap_or_else(|| vec![record]);
                    apart.keep(way.into_iter().flatten());
                }
            }
        }
        self.apart = apart.types(self.symbols);
    }

    /// Whether variables of a type cannot be mapped with their components: it has allocatable ones, or the targets of its
    /// pointers are on the device without their object.
    fn is_deep_type(&self, record: &str) -> bool {
        self.symbols.is_deep(record) || self.apart.contains(record)
    }

    fn directive(&mut self, index: usize, bound: &[Bound]) {
        let one = &bound[index];
        let is_inside = ancestors(bound, index).any(|above| bound[above].directive.kind.is_compute());
        let kind = one.directive.kind;
        let is_data = matches!(
            kind,
            DirectiveKind::Data
                | DirectiveKind::HostData
                | DirectiveKind::EnterData
                | DirectiveKind::ExitData
                | DirectiveKind::Update
        );
        if is_inside || !is_data && !kind.is_compute() {
            return;
        }
        self.keep_pointers(index, bound);
        self.unknown(index, bound);
        let mut block = Block::default();
        if let Some(stmt) = one.stmt().filter(|_| kind.is_compute()) {
            self.other_names(index, bound, stmt, &mut block);
        }
        let notes = self.clauses(index, bound, &mut block);
        let body = match one.stmt() {
            Some(stmt) if kind.is_compute() => self.body(one, stmt, &mut block),
            Some(stmt) if kind == DirectiveKind::HostData => {
                self.named_in(stmt, &mut block);
                Ok(())
            }
            _ => Ok(()),
        };
        match body {
            Ok(()) => self.diags.extend(notes),
            Err((problem, path)) => {
                self.diags.push(match problem {
                    Problem::Varies => diag::component_varies(path.span, &self.file.text(path.span)),
                    Problem::Whole => diag::variable_on_device(path.span, &self.symbols.get(path.root).name),
                });
                self.aliased.refused.insert(index);
            }
        }
        if !block.is_empty() {
            if kind == DirectiveKind::EnterData && !self.is_flang {
                self.diags.push(diag::descriptor_left(one.directive.span));
            }
            self.aliased.blocks.insert(index, block);
        }
    }

    /// The names of `associate` for scalars that the construct also uses by their own names: the variable's own name stands for
    /// both, unless each is a copy of its own. Where that cannot be, the device has two places for one.
    fn other_names(&mut self, index: usize, bound: &[Bound], stmt: StmtId, block: &mut Block) {
        let one = &bound[index];
        let paths = self.paths_in(stmt);
        let lent: BTreeMap<SymbolId, &Path> =
            paths.iter().filter(|path| self.is_lent_scalar(path)).map(|path| (path.root, path)).collect();
        if lent.is_empty() {
            return;
        }
        let used = sema::uses(self.unit, self.symbols, stmt);
        let is_changed =
            |symbol: SymbolId| used.of(symbol).is_some_and(|how| how.written || how.part_written);
        let from = |symbol: SymbolId| sema::lent(self.unit, self.symbols, symbol);
        for (symbol, path) in &lent {
            let Some(part) = from(*symbol) else { continue };
            let meets = |other: &SymbolId| from(*other).is_some_and(|other| other.meets(&part));
            let others = lent.keys().filter(|other| *other != symbol && meets(other));
            let mut names: Vec<SymbolId> = others.copied().collect();
            let mut own = paths.iter().filter(|path| path.root == part.root);
            if used.of(part.root).is_some()
                && (part.members.is_empty() || own.any(|path| may_meet(path, &part.members)))
            {
                names.push(part.root);
            }
            if names.is_empty() || !is_changed(*symbol) && !names.iter().any(|name| is_changed(*name)) {
                continue;
            }
            let known = self.symbols.get(part.root);
            let is_seen = self.symbols.lookup(&known.name, path.span.start) == Some(part.root);
            let is_plain = known.class == Class::Scalar && !known.fortran.pointer;
            let name = self.symbols.get(*symbol).name.clone();
            if part.is_whole && is_plain && is_seen {
                match copies(index, bound, &[&name, &known.name]) {
                    Copies::One => block.stand_for(&name, &known.name),
                    Copies::Each => {}
                    Copies::Unclear => self.diags.push(diag::two_names(path.span, &name, &known.name)),
                }
            } else if matches!(
                one.directive.kind,
                DirectiveKind::Kernels
                    | DirectiveKind::KernelsLoop
                    | DirectiveKind::Serial
                    | DirectiveKind::SerialLoop
            ) {
                self.diags.push(diag::two_names(path.span, &name, &known.name));
            }
        }
    }

    /// Says which routines of the device use variables of modules whose components are not there.
    fn routines(&mut self, bound: &[Bound], plan: &Plan) {
        let named = bound.iter().filter(|one| one.directive.kind == DirectiveKind::Routine);
        let named = named.filter_map(|one| match one.target {
            bind::Target::Function(function) => Some(function),
            _ => one.function,
        });
        let routines: BTreeSet<FunctionId> =
            named.chain(plan.callees.iter().map(|(_, function)| *function)).collect();
        for routine in routines.into_iter().map(|id| self.unit.function(id)) {
            let used = sema::uses(self.unit, self.symbols, routine.body);
            let deep = used.iter().filter(|(symbol, _)| {
                let record = sema::record_of(self.unit, self.symbols, *symbol);
                self.symbols.get(*symbol).home.is_some()
                    && record.is_some_and(|record| self.symbols.is_deep(&record))
            });
            let said = deep.filter_map(|(symbol, how)| {
                let name = &self.symbols.get(symbol).name;
                Some(diag::variable_in_routine(how.first?, name, &routine.name))
            });
            self.diags.extend(said.collect::<Vec<_>>());
        }
    }

    /// Says which variables on a directive have a type that no file at hand declares, and which pointers are to elements
    /// that do not stand side by side.
    fn unknown(&mut self, index: usize, bound: &[Bound]) {
        let one = &bound[index];
        let mut met: Vec<(Span, Place)> = Vec::new();
        for item in one.directive.clauses.iter().filter_map(|clause| list(&clause.kind)).flatten() {
            met.extend(pointers::place(self.symbols, item).map(|place| (item.span, place)));
        }
        let stmt = one.stmt().filter(|_| one.directive.kind.is_compute());
        for path in stmt.into_iter().flat_map(|stmt| self.paths_in(stmt)) {
            let steps = path.steps.into_iter().map(|step| step.name);
            met.push((path.span, (path.root, steps.collect())));
        }
        let around = ancestors(bound, index).chain([index]).flat_map(|at| &bound[at].directive.clauses);
        let brought: BTreeSet<Place> = around
            .filter_map(|clause| list(&clause.kind))
            .flatten()
            .filter_map(|item| pointers::place(self.symbols, item))
            .collect();
        for (span, place) in met {
            let name = &self.symbols.get(place.0).name;
            if self.unseen(&place) && self.reported.insert((place.0, Vec::new())) {
                self.diags.push(diag::type_not_declared(span, name));
            }
            // Of an array that a clause brings, the device has the elements.
            let gaps = self
                .gapped
                .get(&place)
                .filter(|(_, whole)| !whole.as_ref().is_some_and(|whole| brought.contains(whole)));
            if let Some((at, _)) = gaps.filter(|_| self.reported.insert(place)) {
                self.diags.push(diag::pointer_with_gaps(span, &self.file.text(*at), *at));
            }
        }
    }

    /// Whether the type of a variable, or of a component on the way, is one that no file at hand declares.
    fn unseen(&self, (root, members): &Place) -> bool {
        let known = self.symbols.get(*root);
        if known.kind == SymbolKind::Function {
            return false;
        }
        let Some(mut record) = sema::record_of(self.unit, self.symbols, *root) else {
            let is_alias = sema::is_selected(self.unit, self.symbols, *root);
            return !members.is_empty() && known.intrinsic.is_none() && !is_alias;
        };
        // Those of an intrinsic module have nothing that a directive could name.
        let is_unknown = |record: &String| {
            !matches!(record.as_str(), "c_ptr" | "c_funptr") && !self.symbols.is_declared(record)
        };
        for member in members {
            if is_unknown(&record) {
                return true;
            }
            match self.symbols.component(&record, member).and_then(|one| one.record.clone()) {
                Some(next) => record = next,
                None => return false,
            }
        }
        is_unknown(&record)
    }

    /// Puts aliases into the clauses, and takes out the variables that cannot be mapped, with a note on each.
    fn clauses(&mut self, index: usize, bound: &[Bound], block: &mut Block) -> Vec<Diag> {
        let mut notes = Vec::new();
        let here = &bound[index].directive;
        for (at, clause) in here.clauses.iter().enumerate() {
            let Some(list) = list(&clause.kind) else { continue };
            let mut fresh = Vec::with_capacity(list.len());
            let mut is_same = true;
            for item in list {
                if matches!(clause.kind, ClauseKind::UseDevice(_))
                    && self.is_flang
                    && self.may_have_gaps(item)
                {
                    notes.push(diag::address_not_found(item.span, &item.text));
                }
                if item.parts.is_empty()
                    && let Some(variable) = block.variable(&item.text)
                {
                    fresh.push(plain(item, variable));
                    is_same = false;
                    continue;
                }
                match self.named(item, &clause.kind, here.kind) {
                    Named::Same => fresh.push(item.clone()),
                    Named::Component => {
                        if here.kind == DirectiveKind::Update
                            && self.is_scalar_component(item)
                            && !self.is_flang
                        {
                            notes.push(diag::scalar_not_brought(item.span, &item.text));
                        }
                        if here.kind == DirectiveKind::HostData && !self.is_flang {
                            notes.push(diag::host_address_stays(item.span, &item.text));
                        }
                        let is_plain = item.parts.iter().all(|part| member(part).is_none());
                        if here.kind == DirectiveKind::ExitData && is_plain && self.is_moving(item) {
                            block.released.push(item.variable().to_owned());
                        }
                        fresh.push(renamed(item, block));
                        is_same = false;
                    }
                    Named::Itself => {
                        block.itself(&item.base.text);
                        fresh.push(item.clone());
                    }
                    Named::Scalar if here.kind.is_compute() => {
                        let renamed = renamed(item, block);
                        block.has_lent |= item.parts.is_empty();
                        self.assigned(&renamed.text, (&item.text, item.span), block);
                        if matches!(clause.kind, ClauseKind::Data(DataClause::Copyin { .. }, _)) {
                            block.only_read.push(renamed.text.clone());
                        }
                        fresh.push(renamed);
                        is_same = false;
                    }
                    Named::Scalar => {
                        notes.push(diag::scalar_not_kept(item.span, &item.text));
                        is_same = false;
                    }
                    Named::Whole => {
                        notes.push(diag::variable_not_mapped(item.span, &item.text));
                        is_same = false;
                    }
                }
            }
            if !is_same {
                let clauses = &mut self.aliased.bound.to_mut()[index].directive.clauses;
                if let Some(list) = list_mut(&mut clauses[at].kind) {
                    *list = fresh;
                }
            }
        }
        notes
    }

    /// Takes the pointers out of `moving` that the construct of a directive uses as an alias cannot be used.
    fn keep_pointers(&mut self, index: usize, bound: &[Bound]) {
        if self.moving.is_empty() {
            return;
        }
        let mut kept = pointers::kept(self.unit, self.symbols, &self.moves, (bound, index));
        let stmt = bound[index].stmt().filter(|_| bound[index].directive.kind.is_compute());
        for path in stmt.into_iter().flat_map(|stmt| self.paths_in(stmt)).filter(|path| path.is_inquired) {
            kept.insert((path.root, path.steps.into_iter().map(|step| step.name).collect()));
        }
        for place in kept {
            if let Some(Some(at)) = self.moving.remove(&place) {
                self.diags.push(diag::pointer_moves(at, &self.file.text(at)));
            }
        }
    }

    /// Whether a list item is a pointer that the directive at hand must name by an alias.
    fn is_moving(&self, item: &ListItem) -> bool {
        pointers::place(self.symbols, item).is_some_and(|place| self.moving.contains_key(&place))
    }

    /// Whether the object of a list item stays on the host, and constructs use nothing but its components.
    fn is_apart(&self, item: &ListItem) -> bool {
        let root = self.symbols.lookup(&item.base.text, item.span.start);
        let record = root.and_then(|root| sema::record_of(self.unit, self.symbols, root));
        record.is_some_and(|record| self.apart.contains(&record) && !self.symbols.is_deep(&record))
    }

    fn named(&self, item: &ListItem, clause: &ClauseKind, on: DirectiveKind) -> Named {
        let moves = self.is_moving(item);
        // flang 22 finds what `enter data` brings by the name of a component only by that name, unless constructs use
        // nothing of the object itself.
        let is_alone = item.parts.iter().all(|part| member(part).is_none());
        let is_kept = on == DirectiveKind::EnterData && (is_alone || !self.is_flang || self.is_apart(item))
            || matches!(clause, ClauseKind::UseDevice(_) | ClauseKind::Data(DataClause::Delete, _));
        if moves && !is_kept {
            return Named::Component;
        }
        let members: Vec<&str> = item.parts.iter().filter_map(member).collect();
        let is_device = matches!(clause, ClauseKind::UseDevice(_));
        let whole = if is_device { Named::Same } else { Named::Whole };
        let root = self.symbols.lookup(&item.base.text, item.span.start);
        if !is_device && self.is_scalar(item) {
            return Named::Scalar;
        }
        if is_device
            && self.is_flang
            && members.is_empty()
            && root.is_some_and(|root| self.has_descriptor(root))
        {
            return Named::Itself;
        }
        let record = root.and_then(|root| sema::record_of(self.unit, self.symbols, root));
        let Some(way) = self.way(record, &members) else {
            // The type stands in a file that we do not see.
            let is_alias = (is_device || on == DirectiveKind::Update) && !members.is_empty();
            return if is_alias { Named::Component } else { Named::Same };
        };
        let is_deep = |record: &Option<String>| record.as_ref().is_some_and(|one| self.is_deep_type(one));
        match way.split_last() {
            Some((last, _)) if is_deep(last) => whole,
            Some((_, [])) | None => Named::Same,
            Some((_, before)) => {
                // The description of an alias would stay on the device, where it lies on the stack: `enter data` and
                // `exit data` name the component itself where compilers can map it.
                let is_held = matches!(on, DirectiveKind::EnterData | DirectiveKind::ExitData);
                let is_apart = match is_held {
                    true => before.iter().flatten().any(|record| self.symbols.is_deep(record)),
                    false => before.iter().any(is_deep),
                };
                let wanted = is_device || on == DirectiveKind::Update || is_apart;
                if wanted { Named::Component } else { Named::Same }
            }
        }
    }

    /// Whether a list item is an array whose elements need not lie one after the other.
    fn may_have_gaps(&self, item: &ListItem) -> bool {
        let Some(root) = self.symbols.lookup(&item.base.text, item.span.start) else { return false };
        match self.last_component(item) {
            Some(last) => last.is_pointer && !last.is_contiguous,
            None => {
                let known = &self.symbols.get(root).fortran;
                (known.pointer || known.assumed_shape) && !known.contiguous
            }
        }
    }

    /// Whether a variable is allocatable or a pointer.
    fn has_descriptor(&self, root: SymbolId) -> bool {
        let attributes = &self.symbols.get(root).fortran;
        attributes.allocatable || attributes.pointer
    }

    /// The derived types of a variable and of the components on the way; `None` where one is not known.
    fn way(&self, record: Option<String>, members: &[&str]) -> Option<Vec<Option<String>>> {
        let mut way = vec![record];
        for member in members {
            let record = way.last()?.as_ref()?;
            way.push(self.symbols.component(record, &member.to_ascii_lowercase())?.record.clone());
        }
        Some(way)
    }

    /// The paths in a statement, those in subscripts of others left out.
    fn paths_in(&self, stmt: StmtId) -> Vec<Path> {
        let span = self.unit.stmt(stmt).span;
        let first = self.paths.partition_point(|path| path.span.start < span.start);
        let inside = self.paths[first..].iter().take_while(|path| path.span.start < span.end);
        let mut end = 0;
        let mut outer = Vec::new();
        for path in inside.filter(|path| !span.contains(self.symbols.get(path.root).scope)) {
            if path.span.start >= end {
                end = path.span.end;
                outer.push(path.clone());
            }
        }
        outer
    }

    /// The body of a compute construct: every component of a type that cannot be mapped goes by its alias, and so does a
    /// scalar that the program's own `associate` names.
    fn body(&mut self, one: &Bound, stmt: StmtId, block: &mut Block) -> Result<(), (Problem, Path)> {
        let paths = self.paths_in(stmt);
        let is_own =
            |path: &&Path| self.is_lent_scalar(path) || !is_private(one, &self.symbols.get(path.root).name);
        let (same, own): (Vec<&Path>, Vec<&Path>) = paths.iter().filter(is_own).partition(|path| {
            self.is_lent_scalar(path) && block.variable(&self.file.text(path.span)).is_some()
        });
        for path in same {
            let variable = block.variable(&self.file.text(path.span)).map(str::to_owned);
            if !self.rewritten.iter().any(|stmt| stmt.contains(path.span)) {
                block.respelled.extend(variable.map(|variable| (path.span, variable)));
            }
        }
        let mut used: Option<Rc<Uses>> = None;
        let mut kept = Vec::new();
        let mut whole: BTreeMap<SymbolId, Span> = BTreeMap::new();
        for path in own {
            if let Some(count) = path.leads_to(&self.moving) {
                let used = used.get_or_insert_with(|| sema::uses(self.unit, self.symbols, stmt));
                let span = self.pointer(path, count, (used, stmt));
                let span = span.ok_or_else(|| (Problem::Varies, path.clone()))?;
                kept.push((path, span, Shape::Array));
                continue;
            }
            let is_deep = self.is_deep(path);
            if !is_deep && !sema::is_lent(self.unit, self.symbols, path.root) {
                continue;
            }
            let used = used.get_or_insert_with(|| sema::uses(self.unit, self.symbols, stmt));
            match self.component(path, used, stmt) {
                Ok(Some((span, shape))) => kept.push((path, span, shape)),
                Ok(None) if is_deep => return Err((Problem::Whole, path.clone())),
                Err(why) if is_deep => return Err((why, path.clone())),
                Ok(None) | Err(_) => drop(whole.entry(path.root).or_insert(path.span)),
            }
        }
        for (root, span) in whole.iter().filter(|_| !self.is_flang) {
            self.diags.push(diag::scalar_not_brought(*span, &self.symbols.get(*root).name));
        }
        for (path, span, shape) in kept {
            if whole.contains_key(&path.root) {
                continue;
            }
            let text = self.file.text(span);
            let is_fresh = block.known(&text).is_none();
            let is_taken = |name: &str| self.is_taken(name, &text, span.start);
            let name = block.name_unless(&text, shape == Shape::Array, &is_taken);
            block.has_lent |= self.is_lent_scalar(path);
            if is_fresh && shape != Shape::Array {
                block.scalars.push(name.clone());
            }
            if path.is_written && shape != Shape::Array && !block.is_temporary(&name) {
                self.assigned(&name, (&text, span), block);
            }
            let is_mapped = path.is_written && shape == Shape::Scalar && !self.is_lent_scalar(path);
            if is_mapped && !block.written.contains(&name) {
                block.written.push(name.clone());
            }
            if !self.rewritten.iter().any(|stmt| stmt.contains(span)) {
                block.respelled.push((span, name));
            }
        }
        Ok(())
    }

    /// Gives the scalar alias `name` of a path, which the device assigns, a variable of its own, or says that there is none.
    fn assigned(&mut self, name: &str, (path, at): (&str, Span), block: &mut Block) {
        let scope = self.scope_start(at.start);
        // A variable that the scope has already is declared where it is.
        let temporary = self.temporary(name, path, at.start).and_then(|one| {
            let known = self.declared.entry((scope, name.to_owned())).or_insert_with(|| one.clone());
            (known.declaration == one.declaration).then(|| known.clone())
        });
        match temporary {
            Some(_) if block.is_temporary(name) => {}
            Some(temporary) => block.temporaries.push(temporary),
            None => {
                if !block.written.iter().any(|known| known == name) {
                    block.written.push(name.to_owned());
                }
                if !self.is_flang {
                    self.diags.push(diag::scalar_not_brought(at, path));
                }
            }
        }
    }

    /// Whether the scope at `offset` has declared a variable `name` for something else than `path`.
    fn is_taken(&self, name: &str, path: &str, offset: u32) -> bool {
        let known = self.declared.get(&(self.scope_start(offset), name.to_owned()));
        known.is_some_and(|known| {
            self.temporary(name, path, offset).is_none_or(|own| own.declaration != known.declaration)
        })
    }

    fn scope_start(&self, offset: u32) -> u32 {
        self.unit.scope_at(offset).map_or(0, |scope| self.unit.scope(scope).span.start)
    }

    /// The variable that has the value of a scalar while a construct runs; `None` if its type cannot be said here.
    fn temporary(&self, name: &str, path: &str, offset: u32) -> Option<Temporary> {
        let (root, rest) = path.split_at(path.find(['%', '(', ' ']).unwrap_or(path.len()));
        let symbol = self.symbols.lookup(root, offset)?;
        let rest = first_elements(rest);
        let members = rest.split('%').skip(1).map(|member| member.split('(').next().unwrap_or_default());
        let members: Vec<&str> = members.collect();
        let intrinsic = if members.is_empty() {
            self.symbols.get(symbol).intrinsic.clone()?
        } else {
            let record = sema::record_of(self.unit, self.symbols, symbol);
            self.symbols.component_at(record.as_deref(), &members)?.intrinsic.clone()?
        };
        let word = match intrinsic.as_str() {
            "double precision" => "real",
            word @ ("real" | "integer" | "logical" | "complex") => word,
            _ => return None,
        };
        let narrowed = self.narrowed(symbol).filter(|_| members.is_empty());
        let (kind, variable) = match narrowed {
            Some(words) => (words, None),
            None => {
                let (head, variable) = sema::inquired(self.unit, self.symbols, (root, symbol))?;
                (format!("{word}(kind({head}{rest}))"), Some(variable))
            }
        };
        let declaration = format!("{kind} :: {name}");
        let scope = self.unit.scope_at(offset)?;
        let decl = variable.and_then(|variable| self.symbols.get(variable).decl);
        let decl = decl.map(|id| self.unit.decl(id));
        let decl = decl.filter(|decl| self.unit.scope_at(decl.name_span.start) == Some(scope));
        let place = match decl {
            Some(decl) => self.line_after(decl.span.end),
            None => self.unit.scope(scope).directives_from,
        };
        Some(Temporary { name: name.to_owned(), declaration, place })
    }

    /// The intrinsic type that a branch of `select type` gives a variable, as it is written.
    fn narrowed(&self, symbol: SymbolId) -> Option<String> {
        let decl = self.unit.decl(self.symbols.get(symbol).decl?);
        let is_narrowed = decl.derived == [Derived::Reference] && matches!(decl.base, BaseType::Builtin(_));
        is_narrowed.then(|| self.file.text(decl.span).into_owned())
    }

    fn line_after(&self, offset: u32) -> u32 {
        let after = self.file.bytes.get(offset as usize..).unwrap_or_default();
        let end = after.iter().position(|byte| *byte == b'\n').map_or(after.len(), |at| at + 1);
        offset + end as u32
    }

    /// Whether a path is a scalar of an intrinsic type that the program's own `associate` names.
    fn is_lent_scalar(&self, path: &Path) -> bool {
        path.steps.is_empty()
            && self.symbols.get(path.root).class == Class::Scalar
            && sema::is_lent(self.unit, self.symbols, path.root)
    }

    /// Whether a list item is a scalar that goes to the device by a variable of its own: one that `associate` names, or a
    /// component of what cannot be mapped.
    fn is_scalar(&self, item: &ListItem) -> bool {
        let Some(root) = self.symbols.lookup(&item.base.text, item.span.start) else { return false };
        let is_lent = sema::is_lent(self.unit, self.symbols, root);
        let members: Vec<&str> = item.parts.iter().filter_map(member).collect();
        let record = sema::record_of(self.unit, self.symbols, root);
        if is_lent && item.parts.is_empty() {
            return self.symbols.get(root).class == Class::Scalar
                && self.temporary("", &item.text, item.span.start).is_some();
        }
        let is_deep = |record: &Option<String>| record.as_ref().is_some_and(|one| self.is_deep_type(one));
        let is_part = is_lent || self.way(record, &members).is_some_and(|way| way.iter().any(is_deep));
        is_part && self.is_scalar_component(item) && self.temporary("", &item.text, item.span.start).is_some()
    }

    /// Whether a list item is a scalar component of an intrinsic type.
    fn is_scalar_component(&self, item: &ListItem) -> bool {
        self.last_component(item).is_some_and(|one| !one.is_array() && one.record.is_none())
    }

    /// The component that a list item ends with.
    fn last_component(&self, item: &ListItem) -> Option<&Component> {
        item.parts.last().and_then(member)?;
        let (root, members) = pointers::place(self.symbols, item)?;
        let record = sema::record_of(self.unit, self.symbols, root);
        self.symbols.component_at(record.as_deref(), &members)
    }

    /// The types of a path; `None` where one is not known.
    fn way_of(&self, path: &Path) -> Option<Vec<Option<String>>> {
        let record = sema::record_of(self.unit, self.symbols, path.root);
        let members: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
        self.way(record, &members)
    }

    /// Whether a type on the path, or that of its variable, has allocatable components.
    fn is_deep(&self, path: &Path) -> bool {
        let is_deep = |record: &String| self.is_deep_type(record);
        match self.way_of(path) {
            Some(way) => way.iter().flatten().any(is_deep),
            None => sema::record_of(self.unit, self.symbols, path.root).as_ref().is_some_and(is_deep),
        }
    }

    /// The part of a path that an alias can stand for all through the construct, and the component that it names: the
    /// longest one whose subscripts do not change. `None` if there is none, because the variable itself is used.
    fn component(&self, path: &Path, used: &Uses, stmt: StmtId) -> Result<Option<(Span, Shape)>, Problem> {
        if self.is_lent_scalar(path) {
            return Ok(Some((path.span, Shape::Scalar)));
        }
        let Some(way) = self.way_of(path).filter(|_| !path.is_inquired) else { return Ok(None) };
        let kept = path.steps.iter().take_while(|step| !self.varies(step, used, stmt)).count();
        let is_cut = kept < path.steps.len();
        let is_plain = way
            .get(kept)
            .is_some_and(|record| record.as_ref().is_none_or(|record| !self.is_deep_type(record)));
        let Some(step) = path.steps[..kept].last().filter(|_| is_plain) else {
            return if is_cut { Err(Problem::Varies) } else { Ok(None) };
        };
        let span = Span { start: path.span.start, end: step.end };
        if self.file.text(span).contains('\n') {
            return Err(Problem::Varies);
        }
        let record = way.get(kept - 1).and_then(Option::as_deref).unwrap_or_default();
        Ok(self.symbols.component(record, &step.name).map(|last| (span, shape(last))))
    }

    /// The part of a path that names the pointer after `count` components, if it is the same all through the construct.
    fn pointer(&self, path: &Path, count: usize, (used, stmt): (&Uses, StmtId)) -> Option<Span> {
        let steps = &path.steps[..count];
        let name = self.symbols.get(path.root).name.len() as u32;
        let end = steps.last().map_or(path.span.start + name, |step| step.end);
        let span = Span { start: path.span.start, end };
        let varies = steps.iter().any(|step| self.varies(step, used, stmt));
        (!varies && !self.file.text(span).contains('\n')).then_some(span)
    }

    /// Whether the subscripts before a component change in the construct.
    fn varies(&self, step: &sema::Step, used: &Uses, stmt: StmtId) -> bool {
        let span = self.unit.stmt(stmt).span;
        let names = step
            .subscripts
            .iter()
            .flat_map(|subscript| sema::reads_of_expr(self.unit, self.symbols, *subscript));
        names.into_iter().any(|symbol| {
            let is_inside = span.contains(self.symbols.get(symbol).scope);
            is_inside || used.of(symbol).is_some_and(|used| used.written || used.part_written)
        })
    }

    /// The body of a `host_data`: what its clauses name goes by its alias, and nothing else.
    fn named_in(&self, stmt: StmtId, block: &mut Block) {
        for path in self.paths_in(stmt) {
            if let Some(name) = block.known(&self.file.text(path.span)).map(str::to_owned) {
                block.respelled.push((path.span, name));
            }
        }
    }
}

/// How many places a construct has for a scalar with two names.
enum Copies {
    /// Both names are for the same place.
    One,
    /// Each name has a place of its own.
    Each,
    /// One for a part of the construct, and two for another part.
    Unclear,
}

/// How many places the compute construct with this index has for a scalar that it uses by these names.
fn copies(index: usize, bound: &[Bound], names: &[&str]) -> Copies {
    let one = &bound[index];
    let is_named = |list: &[ListItem]| {
        list.iter().any(|item| names.iter().any(|name| item.base.text.eq_ignore_ascii_case(name)))
    };
    let has_own = |one: &Bound| {
        one.directive.clauses.iter().any(|clause| match &clause.kind {
            ClauseKind::Private(list) | ClauseKind::Firstprivate(list) => is_named(list),
            _ => false,
        })
    };
    let names_data = |clause: &Clause| match &clause.kind {
        ClauseKind::Data(_, list) => is_named(list),
        _ => false,
    };
    let is_mapped =
        |other: &Bound| other.function == one.function && other.directive.clauses.iter().any(names_data);
    let is_shared = one.directive.kind.is_kernels() || bound.iter().any(is_mapped);
    let is_own_inside = descendants(bound, index).any(|inner| has_own(&bound[inner]));
    match (is_shared && !has_own(one), is_own_inside) {
        (false, _) => Copies::Each,
        (true, false) => Copies::One,
        (true, true) => Copies::Unclear,
    }
}

/// Whether a directive gives each thread a variable of this name.
fn is_private(one: &Bound, name: &str) -> bool {
    one.directive.clauses.iter().any(|clause| match &clause.kind {
        ClauseKind::Private(list) => list.iter().any(|item| item.base.text.eq_ignore_ascii_case(name)),
        _ => false,
    })
}

/// Whether components that a path names may hold, or be part of, what others name.
fn may_meet(path: &Path, members: &[String]) -> bool {
    path.steps.iter().zip(members).all(|(step, member)| step.name.eq_ignore_ascii_case(member))
}

/// The item with another name.
fn plain(item: &ListItem, name: &str) -> ListItem {
    let mut renamed = item.clone();
    renamed.text = name.to_owned();
    renamed.base.text = name.to_owned();
    renamed
}

/// The subscripts and components after a variable's name, with the first element of each array.
fn first_elements(rest: &str) -> String {
    let (mut text, mut depth) = (String::new(), 0usize);
    for char in rest.chars().filter(|char| !char.is_whitespace()) {
        match char {
            '(' if depth == 0 => text.push_str("(1"),
            ')' if depth == 1 => text.push(')'),
            ',' if depth == 1 => text.push_str(", 1"),
            char if depth == 0 => text.push(char),
            _ => {}
        }
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text
}

/// The item with the alias of its component; a section after it stays.
fn renamed(item: &ListItem, block: &mut Block) -> ListItem {
    let mut renamed = item.clone();
    let section = match item.parts.last() {
        Some(section @ PathStep::Section(_)) => Some(section.clone()),
        _ => None,
    };
    let opens = section.as_ref().and_then(|_| opening(item.text.strip_suffix(')')?, ['(', ')']));
    let at = opens.unwrap_or(item.text.len());
    let (path, rest) = item.text.split_at(at);
    let name = block.name(path, false);
    renamed.text = format!("{name}{rest}");
    renamed.base.text = name;
    renamed.parts = section.into_iter().collect();
    renamed
}

fn member(part: &PathStep) -> Option<&str> {
    match part {
        PathStep::Member(name) => Some(&name.text),
        PathStep::Section(_) => None,
    }
}

/// The list of a clause about data.
fn list(kind: &ClauseKind) -> Option<&[ListItem]> {
    match kind {
        ClauseKind::Data(_, list)
        | ClauseKind::UseDevice(list)
        | ClauseKind::UpdateSelf(list)
        | ClauseKind::UpdateDevice(list) => Some(list),
        _ => None,
    }
}

fn list_mut(kind: &mut ClauseKind) -> Option<&mut Vec<ListItem>> {
    match kind {
        ClauseKind::Data(_, list)
        | ClauseKind::UseDevice(list)
        | ClauseKind::UpdateSelf(list)
        | ClauseKind::UpdateDevice(list) => Some(list),
        _ => None,
    }
}
