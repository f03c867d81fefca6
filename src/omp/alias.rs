//! Names for components that a compiler cannot map: an `associate` block around each directive that needs them.
//!
//! Invariant: a construct names the components of a variable by their aliases everywhere, or it is left.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem, Part as ItemPart};
use crate::bind::{Bound, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{StmtId, Unit};
use crate::sema::{self, Path, Symbols, Uses};
use crate::source::{SourceFile, Span};

use super::{Speech, Target, profile};

/// The longest name that Fortran has.
const LONGEST: usize = 63;

/// Bound directives that name aliases, and what stands around them.
#[derive(Debug)]
pub struct Aliased<'a> {
    /// The directives, with aliases for components in their clauses.
    pub bound: Cow<'a, [Bound]>,
    /// The blocks, by directive.
    pub blocks: BTreeMap<usize, Block>,
    /// The directives that must be left.
    pub refused: BTreeSet<usize>,
}

/// An `associate` block.
#[derive(Debug, Default)]
pub struct Block {
    /// The aliases.
    names: Vec<Alias>,
    /// Mentions of components in its body, and what stands for them.
    pub respelled: Vec<(Span, String)>,
    /// Scalars among the aliases that the body assigns.
    pub written: Vec<String>,
}

#[derive(Debug)]
struct Alias {
    /// The component's path without blanks, in lower case.
    key: String,
    name: String,
    selector: String,
}

impl Block {
    /// The statement that opens the block; none if there is nothing to name.
    pub fn opening(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.names.iter().map(|alias| format!("{} => {}", alias.name, alias.selector)).collect();
        (!pairs.is_empty()).then(|| format!("associate ({})", pairs.join(", ")))
    }

    /// The alias of a component.
    fn name(&mut self, selector: &str) -> String {
        let selector: String = selector.split_whitespace().collect();
        let key = selector.to_ascii_lowercase();
        if let Some(known) = self.names.iter().find(|alias| alias.key == key) {
            return known.name.clone();
        }
        let plain = plain(&key);
        let is_free = |name: &String| self.names.iter().all(|alias| alias.name != *name);
        let numbered = (2..).map(|number| {
            let ending = format!("_{number}");
            let kept: String = plain.chars().take(LONGEST - ending.len()).collect();
            kept + &ending
        });
        let first: String = plain.chars().take(LONGEST).collect();
        let name = std::iter::once(first).chain(numbered).find(is_free).unwrap_or_default();
        self.names.push(Alias { key, name: name.clone(), selector });
        name
    }
}

/// `acc2omp_a_b` for `a(k)%b`.
fn plain(key: &str) -> String {
    let mut name = "acc2omp_".to_owned();
    let mut depth = 0usize;
    for char in key.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '%' => name.push('_'),
            char => name.push(char),
        }
    }
    name
}

/// Gives names to the components that the directives of a Fortran file speak of and the target's compilers cannot map.
pub fn alias<'a>(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    bound: &'a [Bound],
    target: Target,
) -> (Aliased<'a>, Vec<Diag>) {
    let aliased = Aliased { bound: Cow::Borrowed(bound), blocks: BTreeMap::new(), refused: BTreeSet::new() };
    if target.speech != Speech::Fortran {
        return (aliased, Vec::new());
    }
    let maps_components = !profile::tuning(target.profile).associate;
    let paths = sema::paths(unit, symbols);
    let mut work = Work { file, unit, symbols, paths, maps_components, aliased, diags: Vec::new() };
    for index in 0..bound.len() {
        work.directive(index, bound);
    }
    (work.aliased, work.diags)
}

struct Work<'a, 'b> {
    file: &'a SourceFile,
    unit: &'a Unit,
    symbols: &'a Symbols,
    paths: Vec<Path>,
    /// The compilers map components of all types.
    maps_components: bool,
    aliased: Aliased<'b>,
    diags: Vec<Diag>,
}

/// What becomes of a list item.
enum Named {
    /// It stays.
    Same,
    /// The component has an alias.
    Component,
    /// The variable has components that cannot go with it.
    Whole,
}

/// Why a construct cannot use the aliases.
enum Problem {
    /// The component is that of another element from time to time.
    Varies,
    /// The variable itself is used.
    Whole,
}

impl Work<'_, '_> {
    fn directive(&mut self, index: usize, bound: &[Bound]) {
        let one = &bound[index];
        let is_inside = ancestors(bound, index).any(|above| is_compute(bound[above].directive.kind));
        let kind = one.directive.kind;
        let is_data = matches!(
            kind,
            DirectiveKind::Data
                | DirectiveKind::HostData
                | DirectiveKind::EnterData
                | DirectiveKind::ExitData
                | DirectiveKind::Update
        );
        if is_inside || !is_data && !is_compute(kind) {
            return;
        }
        let mut block = Block::default();
        self.clauses(index, bound, &mut block);
        match one.stmt() {
            Some(stmt) if is_compute(kind) && !self.maps_components => {
                if let Err((problem, path)) = self.body(one, stmt, &mut block) {
                    let (span, root) = (path.span, self.symbols.get(path.root).name.clone());
                    self.diags.push(match problem {
                        Problem::Varies => diag::component_varies(span, &self.file.text(span)),
                        Problem::Whole => diag::variable_on_device(span, &root),
                    });
                    self.aliased.refused.insert(index);
                }
            }
            Some(stmt) if kind == DirectiveKind::HostData => self.named_in(stmt, &mut block),
            _ => {}
        }
        if !block.names.is_empty() {
            self.aliased.blocks.insert(index, block);
        }
    }

    /// Puts aliases into the clauses, and takes out the variables that cannot be mapped.
    fn clauses(&mut self, index: usize, bound: &[Bound], block: &mut Block) {
        let here = &bound[index].directive;
        for (at, clause) in here.clauses.iter().enumerate() {
            let Some(list) = list(&clause.kind) else { continue };
            let mut fresh = Vec::with_capacity(list.len());
            let mut is_same = true;
            for item in list {
                match self.named(item, &clause.kind, here.kind) {
                    Named::Same => fresh.push(item.clone()),
                    Named::Component => {
                        fresh.push(renamed(item, block));
                        is_same = false;
                    }
                    Named::Whole => {
                        self.diags.push(diag::variable_not_mapped(item.span, &item.text));
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
    }

    fn named(&self, item: &ListItem, clause: &ClauseKind, on: DirectiveKind) -> Named {
        let members: Vec<&str> = item.parts.iter().filter_map(member).collect();
        let is_device = matches!(clause, ClauseKind::UseDevice(_));
        let whole = if is_device { Named::Same } else { Named::Whole };
        if self.maps_components && (!is_device || members.is_empty()) {
            return Named::Same;
        }
        let root = self.symbols.lookup(&item.base.text, item.span.start);
        let record = root.and_then(|root| sema::record_of(self.unit, self.symbols, root));
        let Some(way) = self.way(record, &members) else {
            // The type stands in a file that we do not see.
            let is_alias = (is_device || on == DirectiveKind::Update) && !members.is_empty();
            return if is_alias { Named::Component } else { Named::Same };
        };
        let is_deep = |record: &Option<String>| record.as_ref().is_some_and(|one| self.symbols.is_deep(one));
        match way.split_last() {
            Some((last, _)) if is_deep(last) => whole,
            Some((_, [])) | None => Named::Same,
            Some((_, before)) => {
                let wanted = is_device || on == DirectiveKind::Update || before.iter().any(is_deep);
                if wanted { Named::Component } else { Named::Same }
            }
        }
    }

    /// The derived types of a variable and of the components on the way; `None` where one is not known.
    fn way(&self, record: Option<String>, members: &[&str]) -> Option<Vec<Option<String>>> {
        let mut way = vec![record];
        for member in members {
            let record = way.last()?.as_ref()?;
            way.push(self.symbols.component(record, member)?.record.clone());
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
        for path in inside.filter(|path| !span_holds(self.symbols.get(path.root).scope, span)) {
            if path.span.start >= end {
                end = path.span.end;
                outer.push(path.clone());
            }
        }
        outer
    }

    /// The body of a compute construct: every component of a type that cannot be mapped goes by its alias.
    fn body(&self, one: &Bound, stmt: StmtId, block: &mut Block) -> Result<(), (Problem, Path)> {
        let mut used: Option<Uses> = None;
        let is_private = |name: &str| {
            one.directive.clauses.iter().any(|clause| match &clause.kind {
                ClauseKind::Private(list) => list.iter().any(|item| item.base.text == name),
                _ => false,
            })
        };
        for path in self.paths_in(stmt) {
            let Some(record) = sema::record_of(self.unit, self.symbols, path.root) else { continue };
            let members: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
            let way = self.way(Some(record.clone()), &members);
            let is_deep =
                |record: &Option<String>| record.as_ref().is_some_and(|one| self.symbols.is_deep(one));
            let is_concerned =
                way.as_ref().map_or(self.symbols.is_deep(&record), |way| way.iter().any(is_deep));
            if !is_concerned || is_private(&self.symbols.get(path.root).name) {
                continue;
            }
            let Some(way) = way else { return Err((Problem::Whole, path)) };
            if path.is_asked || path.steps.is_empty() {
                return Err((Problem::Whole, path));
            }
            let used = used.get_or_insert_with(|| sema::uses(self.unit, self.symbols, stmt));
            let kept = path.steps.iter().take_while(|step| !self.varies(step, used, stmt)).count();
            let is_cut = kept < path.steps.len();
            if kept == 0 || way.get(kept).is_none_or(is_deep) {
                let problem = if is_cut { Problem::Varies } else { Problem::Whole };
                return Err((problem, path));
            }
            let end = path.steps[kept - 1].end;
            let span = Span { start: path.span.start, end };
            let text = self.file.text(span);
            if text.contains('\n') {
                return Err((Problem::Varies, path));
            }
            let name = block.name(&text);
            let last =
                self.symbols.component(way[kept - 1].as_deref().unwrap_or_default(), members[kept - 1]);
            let is_scalar = last.is_some_and(|last| !last.is_array && last.record.is_none());
            if path.is_written && is_scalar && !block.written.contains(&name) {
                block.written.push(name.clone());
            }
            block.respelled.push((span, name));
        }
        Ok(())
    }

    /// Whether the subscripts before a component change in the construct.
    fn varies(&self, step: &sema::Step, used: &Uses, stmt: StmtId) -> bool {
        let span = self.unit.stmt(stmt).span;
        let names = step
            .subscripts
            .iter()
            .flat_map(|subscript| sema::reads_of_expr(self.unit, self.symbols, *subscript));
        names.into_iter().any(|symbol| {
            let is_inside = span_holds(self.symbols.get(symbol).scope, span);
            is_inside || used.of(symbol).is_some_and(|used| used.written || used.part_written)
        })
    }

    /// The body of a `host_data`: what its clauses name goes by its alias, and nothing else.
    fn named_in(&self, stmt: StmtId, block: &mut Block) {
        for path in self.paths_in(stmt) {
            let text: String = self.file.text(path.span).split_whitespace().collect();
            let key = text.to_ascii_lowercase();
            if let Some(alias) = block.names.iter().find(|alias| alias.key == key) {
                block.respelled.push((path.span, alias.name.clone()));
            }
        }
    }
}

/// Whether `inner` is a part of `outer`.
fn span_holds(inner: Span, outer: Span) -> bool {
    outer.contains(inner)
}

/// The item with the alias of its component; a section behind it stays.
fn renamed(item: &ListItem, block: &mut Block) -> ListItem {
    let mut renamed = item.clone();
    let section = match item.parts.last() {
        Some(section @ ItemPart::Section(_)) => Some(section.clone()),
        _ => None,
    };
    let at = section.as_ref().and_then(|_| opening(&item.text)).unwrap_or(item.text.len());
    let (path, rest) = item.text.split_at(at);
    let name = block.name(path);
    renamed.text = format!("{name}{rest}");
    renamed.base.text = name;
    renamed.parts = section.into_iter().collect();
    renamed
}

/// Where the last parenthesis of a text opens.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, char) in text.char_indices().rev() {
        match char {
            ')' => depth += 1,
            '(' if depth <= 1 => return Some(at),
            '(' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn member(part: &ItemPart) -> Option<&str> {
    match part {
        ItemPart::Member(name) => Some(&name.text),
        ItemPart::Section(_) => None,
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

fn is_compute(kind: DirectiveKind) -> bool {
    matches!(
        kind,
        DirectiveKind::Parallel
            | DirectiveKind::Serial
            | DirectiveKind::Kernels
            | DirectiveKind::ParallelLoop
            | DirectiveKind::SerialLoop
            | DirectiveKind::KernelsLoop
    )
}
