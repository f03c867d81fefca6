//! Objects of which only a part is mapped. With the target of a member, OpenMP maps the member, too (5.2, 5.8.6), and
//! refuses to map more of the object as long as the part is there. OpenACC attaches the member where its object is present.
//!
//! Invariant: an object that something at hand puts on the device before its parts is not mentioned.

use std::collections::BTreeSet;

use crate::acc::ast::{Clause, ClauseKind, DataClause, DirectiveKind, Expr, ListItem, PathStep, Subscript};
use crate::bind::{Bound, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{ExprId, ExprKind, FunctionId, Unit};
use crate::plan;
use crate::sema::{self, Class, Path, Place, SymbolId, SymbolKind, Symbols};
use crate::source::Span;

use super::pointers::place;
use super::texts::without_section;

/// Says where an object, or more of it, is needed on the device while the target of one of its members is there without it.
pub fn partial(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> Vec<Diag> {
    let mut work = Members { unit, symbols, bound, targets: Vec::new(), paths: Vec::new() };
    work.targets = (0..bound.len()).flat_map(|index| work.lone_targets(index)).collect();
    if work.targets.is_empty() {
        return Vec::new();
    }
    if !unit.is_fortran() {
        let roots = work.targets.iter().map(|target| target.place.0).collect();
        work.paths = sema::paths(unit, symbols, &roots);
    }
    let mut reported = BTreeSet::new();
    let said = work.targets.iter().filter_map(|target| work.first_need(target));
    said.filter(|one| reported.insert((one.primary.span.start, one.primary.span.end))).collect()
}

/// Brings a directive's objects and members of them into a form that compilers take: clang 19 attaches nothing where the
/// member stands before the object, and gcc refuses, in combined constructs, arrays of structs that are not sections.
pub fn with_objects_first(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if unit.is_fortran() {
        return bound;
    }
    let enter = bound.iter_mut().filter(|one| one.directive.kind != DirectiveKind::ExitData);
    enter.for_each(|one| objects_first(&mut one.directive.clauses));
    bound.iter_mut().for_each(|one| arrays_as_sections(symbols, one));
    bound
}

/// Puts clauses and items about an object before those about its members.
fn objects_first(clauses: &mut Vec<Clause>) {
    let names = |clause: &Clause, wanted: bool| -> BTreeSet<String> {
        let ClauseKind::Data(_, list) = &clause.kind else { return BTreeSet::new() };
        let named = list.iter().filter(|item| has_member(item) == wanted);
        named.map(|item| item.base.text.clone()).collect()
    };
    for at in 1..clauses.len() {
        let objects = names(&clauses[at], false);
        let first = (0..at).find(|before| !names(&clauses[*before], true).is_disjoint(&objects));
        if let Some(first) = first {
            let clause = clauses.remove(at);
            clauses.insert(first, clause);
        }
    }
    for clause in clauses {
        let both = !names(clause, true).is_disjoint(&names(clause, false));
        if let ClauseKind::Data(_, list) = &mut clause.kind
            && both
        {
            members_later(list);
        }
    }
}

/// Puts each object before the first of its members.
fn members_later(list: &mut [ListItem]) {
    for at in 1..list.len() {
        let is_its = |item: &ListItem| has_member(item) && item.base.text == list[at].base.text;
        if !has_member(&list[at])
            && let Some(first) = list[..at].iter().position(is_its)
        {
            list[first..=at].rotate_right(1);
        }
    }
}

pub(super) fn has_member(item: &ListItem) -> bool {
    item.parts.iter().any(|part| matches!(part, PathStep::Member(_)))
}

/// Whether a member of C is a pointer, as far as its declaration is known.
pub(super) fn may_be_pointer(symbols: &Symbols, member: &str) -> bool {
    symbols.dimensions_of_member(member).is_none_or(|known| known.shape.first() == Some(&false))
}

/// Writes `a[0:]` for an array of structs that the directive names beside members of it, and in constructs without a loop of
/// their own also for a section that is all of it: where no loop joins them, `structs` gives the array's name again.
fn arrays_as_sections(symbols: &Symbols, one: &mut Bound) {
    let here = one.directive.span.start;
    let is_array = |name: &str| {
        symbols.lookup(name, here).is_some_and(|symbol| symbols.get(symbol).class == Class::Array)
    };
    let members = data(one).map(|(_, item)| item).filter(|item| has_member(item));
    let arrays: BTreeSet<String> =
        members.map(|item| item.base.text.clone()).filter(|name| is_array(name)).collect();
    let is_region = matches!(
        one.directive.kind,
        DirectiveKind::Parallel | DirectiveKind::Serial | DirectiveKind::Kernels | DirectiveKind::SerialLoop
    );
    for clause in &mut one.directive.clauses {
        let ClauseKind::Data(_, list) = &mut clause.kind else { continue };
        let is_all = |item: &ListItem| item.parts.is_empty() || is_region && is_whole(symbols, item, here);
        for item in list.iter_mut().filter(|item| arrays.contains(&item.base.text) && is_all(item)) {
            let zero = Expr { text: "0".to_owned(), span: item.span };
            let all = Subscript::Range { first: Some(zero), second: None, stride: None };
            item.parts = vec![PathStep::Section(vec![all])];
            item.text = format!("{}[0:]", item.base.text);
        }
    }
}

/// Whether an item is a section that says the length of its array, word by word.
fn is_whole(symbols: &Symbols, item: &ListItem, here: u32) -> bool {
    let [PathStep::Section(section)] = item.parts.as_slice() else { return false };
    let [Subscript::Range { first, second: Some(length), stride: None }] = section.as_slice() else {
        return false;
    };
    let symbol = symbols.lookup(&item.base.text, here).map(|symbol| symbols.get(symbol));
    let size = symbol.filter(|known| known.shape == [true]).and_then(|known| known.bounds.first());
    first.as_ref().is_none_or(|first| first.text.trim() == "0")
        && size.and_then(|size| size.upper.as_deref()).is_some_and(|size| size.trim() == length.text.trim())
}

/// The target of a member that a directive puts on the device without the member's object.
struct Target {
    /// The directive.
    index: usize,
    /// The member.
    place: Place,
    /// The list item.
    text: String,
    /// The member with the subscripts before it.
    path: String,
}

/// How a list item leads to its last member, without blanks.
pub(super) fn path(item: &ListItem) -> String {
    let last = item.parts.iter().rposition(|part| matches!(part, PathStep::Member(_)));
    let steps = item.parts.iter().take(last.map_or(0, |last| last + 1)).map(|part| match part {
        PathStep::Member(name) => format!("%{}", name.text),
        PathStep::Section(subscripts) => subscripts.iter().map(subscript).collect(),
    });
    let text = item.base.text.clone() + &steps.collect::<String>();
    text.split_whitespace().collect()
}

fn subscript(one: &Subscript) -> String {
    let text = |bound: &Option<Expr>| bound.as_ref().map_or(String::new(), |bound| bound.text.clone());
    match one {
        Subscript::Index(index) => format!("[{}]", index.text),
        Subscript::Range { first, second, .. } => format!("[{}:{}]", text(first), text(second)),
    }
}

/// A member that a directive maps.
struct Member<'a> {
    /// Its name, without blanks and sections.
    name: String,
    /// Its object, and its number in the struct, where that is known.
    number: Option<(String, usize)>,
    item: &'a ListItem,
}

/// An object and the first and the last of its members, if they are known and of one object.
fn range<'m>(members: &'m [Member]) -> Option<(&'m str, usize, usize)> {
    let (object, _) = members.first()?.number.as_ref()?;
    let numbers = members.iter().map(|member| member.number.as_ref().filter(|(of, _)| of == object));
    let numbers: Option<Vec<usize>> = numbers.map(|number| number.map(|(_, at)| *at)).collect();
    let numbers = numbers?;
    Some((object, *numbers.iter().min()?, *numbers.iter().max()?))
}

struct Members<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    bound: &'a [Bound],
    /// All such targets of the file.
    targets: Vec<Target>,
    /// The uses of their objects, in C and C++.
    paths: Vec<Path>,
}

impl Members<'_> {
    fn lone_targets(&self, index: usize) -> Vec<Target> {
        let one = &self.bound[index];
        if !matches!(one.directive.kind, DirectiveKind::Data | DirectiveKind::EnterData) {
            return Vec::new();
        }
        let items = data(one).filter(|(kind, _)| allocates(kind)).filter(|(_, item)| self.is_target(item));
        let places = items.filter_map(|(_, item)| Some((place(self.symbols, item)?, item)));
        let lone = places.filter(|(place, _)| !self.is_provided(index, place));
        lone.map(|(place, item)| Target { index, place, text: item.text.clone(), path: path(item) }).collect()
    }

    /// Whether an item names what a member points to, or an allocatable component.
    fn is_target(&self, item: &ListItem) -> bool {
        let last = item.parts.iter().rposition(|part| matches!(part, PathStep::Member(_)));
        let Some((last, PathStep::Member(name))) = last.map(|last| (last, &item.parts[last])) else {
            return false;
        };
        if self.unit.is_fortran() {
            return place(self.symbols, item).is_some_and(|place| self.is_pointer(&place, place.1.len() - 1));
        }
        let known = self.symbols.dimensions_of_member(&name.text);
        known.is_some_and(|known| known.shape.first() == Some(&false)) && last + 1 < item.parts.len()
    }

    /// Whether the member number `at` of a place is a pointer, or allocatable.
    fn is_pointer(&self, (root, members): &Place, at: usize) -> bool {
        if !self.unit.is_fortran() {
            return may_be_pointer(self.symbols, &members[at]);
        }
        let record = sema::record_of(self.unit, self.symbols, *root);
        let component = self.symbols.component_at(record.as_deref(), &members[..=at]);
        component.is_some_and(|known| known.is_pointer || known.is_allocatable)
    }

    /// Whether an item names all of the object that a member belongs to.
    fn is_object(&self, item: &ListItem, member: &Place) -> bool {
        let Some(whole) = place(self.symbols, item) else { return false };
        let depth = whole.1.len();
        let is_around = whole.0 == member.0 && depth < member.1.len() && member.1.starts_with(&whole.1);
        let is_pointer = match depth.checked_sub(1) {
            _ if self.unit.is_fortran() => false,
            None => self.symbols.get(whole.0).class == Class::Pointer,
            Some(last) => self.is_pointer(&whole, last),
        };
        let has_section = matches!(item.parts.last(), Some(PathStep::Section(_)));
        is_around
            && (has_section || !is_pointer)
            && (depth..member.1.len() - 1).all(|at| !self.is_pointer(member, at))
    }

    /// Whether something at hand puts the object of a member on the device before directive `index`.
    fn is_provided(&self, index: usize, member: &Place) -> bool {
        let function = self.bound[index].function;
        let names = |at: usize| data(&self.bound[at]).any(|(_, item)| self.is_object(item, member));
        let is_entered = (0..self.bound.len()).any(|at| match self.bound[at].directive.kind {
            DirectiveKind::Declare => names(at),
            DirectiveKind::EnterData => (self.bound[at].function != function || at < index) && names(at),
            _ => false,
        });
        is_entered
            || ancestors(self.bound, index).chain([index]).any(names)
            || self.unit.exprs.iter().any(|expr| self.is_routine(&expr.kind, member))
    }

    /// Whether an expression calls a routine of OpenACC with the address of a member's object.
    fn is_routine(&self, kind: &ExprKind, member: &Place) -> bool {
        let ExprKind::Call { callee, args } = kind else { return false };
        let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { return false };
        name.starts_with("acc_") && args.iter().any(|arg| self.root(*arg) == Some(member.0))
    }

    /// The variable whose address, or whose value, an argument is.
    fn root(&self, arg: ExprId) -> Option<SymbolId> {
        match &self.unit.expr(arg).kind {
            ExprKind::AddressOf(inner) | ExprKind::Cast { operand: inner, .. } => self.root(*inner),
            ExprKind::Index(base, _) => self.root(*base),
            _ => self.symbols.named(self.unit, arg),
        }
    }

    /// What is said of the first directive that needs more of the object while the target is on the device.
    fn first_need(&self, target: &Target) -> Option<Diag> {
        let later = (0..self.bound.len()).filter(|at| self.is_live(target, *at));
        later.into_iter().find_map(|at| {
            let by_clause = self.object_of(target, at).or_else(|| self.more_of(target, at));
            by_clause.or_else(|| self.use_of(target, at))
        })
    }

    /// Whether directive `at` may be reached while the target is on the device.
    fn is_live(&self, target: &Target, at: usize) -> bool {
        let (one, other) = (&self.bound[target.index], &self.bound[at]);
        let is_structured = one.directive.kind == DirectiveKind::Data;
        if at == target.index || is_structured && ancestors(self.bound, at).any(|above| above == target.index)
        {
            return at != target.index;
        }
        if one.function == other.function {
            return !is_structured && at > target.index && !self.is_gone(target, at);
        }
        if is_structured {
            return self.calls(target.index, other.function);
        }
        !ancestors(self.bound, at).chain([at]).any(|around| self.calls(around, one.function))
    }

    /// Whether `exit data` takes the target away between its directive and directive `at`: as often as `enter data` has
    /// brought it, or with `finalize`.
    fn is_gone(&self, target: &Target, at: usize) -> bool {
        let block = self.unit.block_around(self.bound[target.index].directive.span);
        let function = self.bound[target.index].function;
        let names = |one: &Bound| {
            data(one).any(|(_, item)| {
                let is_element = path(item).eq_ignore_ascii_case(&target.path);
                is_element && place(self.symbols, item).as_ref() == Some(&target.place)
            })
        };
        let mut count = 0usize;
        let mut is_left = false;
        for before in (0..at).filter(|before| self.bound[*before].function == function) {
            let one = &self.bound[before];
            let finalizes = one.directive.clauses.iter().any(|clause| clause.kind == ClauseKind::Finalize);
            match one.directive.kind {
                DirectiveKind::EnterData if names(one) => count += 1,
                DirectiveKind::ExitData
                    if self.unit.block_around(one.directive.span) == block && names(one) =>
                {
                    count = if finalizes { 0 } else { count.saturating_sub(1) };
                    is_left |= before > target.index;
                }
                _ => {}
            }
        }
        is_left && count == 0
    }

    /// Whether the construct of directive `index` calls a function.
    fn calls(&self, index: usize, function: Option<FunctionId>) -> bool {
        let (Some(stmt), Some(function)) = (self.bound[index].stmt(), function) else { return false };
        let name = &self.unit.function(function).name;
        self.unit.exprs_in(self.unit.stmt(stmt).span).any(|expr| match &expr.kind {
            ExprKind::Call { callee, .. } => {
                matches!(&self.unit.expr(*callee).kind, ExprKind::Name(called) if called == name)
            }
            _ => false,
        })
    }

    /// A clause of directive `at` that puts the object of the target on the device.
    fn object_of(&self, target: &Target, at: usize) -> Option<Diag> {
        let items = data(&self.bound[at]).filter(|(kind, _)| allocates(kind));
        let whole = items.map(|(_, item)| item).find(|item| self.is_object(item, &target.place))?;
        Some(diag::part_before_object(whole.span, &whole.text, None, &target.text))
    }

    /// Members of the object that directive `at` names together, which are more of the object than the part of it that is on
    /// the device with the target, and not apart from it.
    fn more_of(&self, target: &Target, at: usize) -> Option<Diag> {
        if self.bound[at].directive.kind == DirectiveKind::ExitData {
            return None;
        }
        let part = self.members_of(target.index, target.place.0);
        let more = self.members_of(at, target.place.0);
        let [first, second, ..] = more.as_slice() else { return None };
        let is_new = |member: &Member| part.iter().all(|known| known.name != member.name);
        let has_all = |earlier: &Target| {
            let own = self.members_of(earlier.index, earlier.place.0);
            earlier.place.0 == target.place.0
                && earlier.index < target.index
                && self.is_live(earlier, at)
                && more.iter().all(|member| own.iter().any(|known| known.name == member.name))
        };
        let stands_apart = match (range(&part), range(&more)) {
            (Some((object, low, high)), Some((of, first, last))) if object == of => {
                last < low || high < first || low <= first && last <= high
            }
            _ => false,
        };
        if !more.iter().any(is_new) || stands_apart || self.targets.iter().any(has_all) {
            return None;
        }
        Some(diag::part_before_object(
            second.item.span,
            &first.item.text,
            Some(&second.item.text),
            &target.text,
        ))
    }

    /// The members of a variable that directive `at` maps.
    fn members_of(&self, at: usize, root: sema::SymbolId) -> Vec<Member<'_>> {
        let one = &self.bound[at];
        let maps = |kind: &DataClause| allocates(kind) || *kind == DataClause::Present;
        let items = data(one).filter(|(kind, _)| maps(kind)).map(|(_, item)| item);
        let own = items.filter(|item| has_member(item) && item.base.text != "this");
        let mut members: Vec<Member> = Vec::new();
        for item in own.filter(|item| place(self.symbols, item).is_some_and(|place| place.0 == root)) {
            let name = match self.unit.is_fortran() {
                true => path(item).to_ascii_lowercase(),
                false => without_section(&item.text).split_whitespace().collect(),
            };
            if members.iter().all(|known| known.name != name) {
                members.push(Member { number: self.number(&name), name, item });
            }
        }
        members
    }

    /// What stands before the last member in a name, and which one of its struct the member is.
    fn number(&self, name: &str) -> Option<(String, usize)> {
        let at = name.rfind(['.', '>'])?;
        let (object, member) = (&name[..at], &name[at + 1..]);
        let mut records = self
            .unit
            .records
            .iter()
            .filter_map(|record| record.members.iter().position(|id| self.unit.decl(*id).name == member));
        // Of several structs with such a member it is not known which one it is.
        let number = records.next()?;
        records.next().is_none().then(|| (object.to_owned(), number))
    }

    /// A use of another part of the object in the construct of directive `at`, which would copy the object by itself.
    fn use_of(&self, target: &Target, at: usize) -> Option<Diag> {
        let (one, root) = (&self.bound[at], target.place.0);
        if self.unit.is_fortran() || !one.directive.kind.is_compute() || !self.is_own(target) {
            return None;
        }
        let is_root = |item: &ListItem| place(self.symbols, item).is_some_and(|place| place.0 == root);
        let clauses = ancestors(self.bound, at).chain([at]).flat_map(|at| &self.bound[at].directive.clauses);
        let mut clauses = clauses.map(|clause| &clause.kind);
        if clauses.any(|kind| match kind {
            ClauseKind::Default { none } => !none,
            kind => plan::list(kind).iter().any(|item| item.parts.is_empty() && is_root(item)),
        }) {
            return None;
        }
        let own = data(one).filter_map(|(_, item)| place(self.symbols, item));
        let mut parts: Vec<Place> = own.collect();
        parts.extend(self.targets.iter().map(|target| target.place.clone()));
        let within = self.unit.stmt(one.stmt()?).span;
        let other = path_outside(&self.paths, root, within, &parts)?;
        let name = &self.symbols.get(root).name;
        Some(diag::part_in_use(other.span, name, &target.text))
    }

    /// Whether the object is a variable that no other file can put on the device.
    fn is_own(&self, target: &Target) -> bool {
        let known = self.symbols.get(target.place.0);
        let is_static = known.decl.is_some_and(|decl| self.unit.decl(decl).is_static);
        let is_here = known.kind == SymbolKind::Local || known.kind == SymbolKind::Static && is_static;
        is_here && !known.is_reference && matches!(known.class, Class::Record | Class::Array)
    }
}

/// A use of `root` in the bytes `within` that is not part of any of `places`.
pub(super) fn path_outside<'a>(
    paths: &'a [Path],
    root: SymbolId,
    within: Span,
    places: &[Place],
) -> Option<&'a Path> {
    let mut used = paths.iter().filter(|path| path.root == root && within.contains(path.span));
    used.find(|path| {
        let is_part = |(of, members): &Place| {
            let mut steps = path.steps.iter().map(|step| &step.name);
            *of == root && members.iter().all(|member| steps.next() == Some(member))
        };
        !places.iter().any(is_part)
    })
}

/// The items of a directive's data clauses.
pub(super) fn data(one: &Bound) -> impl Iterator<Item = (&DataClause, &ListItem)> {
    one.directive.clauses.iter().flat_map(|clause| {
        let (kind, list) = match &clause.kind {
            ClauseKind::Data(DataClause::Deviceptr | DataClause::Attach | DataClause::Detach, _) => {
                (None, &[][..])
            }
            ClauseKind::Data(kind, list) => (Some(kind), list.as_slice()),
            _ => (None, &[][..]),
        };
        list.iter().filter_map(move |item| Some((kind?, item)))
    })
}

/// Whether a data clause puts what it names on the device.
pub(super) fn allocates(kind: &DataClause) -> bool {
    matches!(
        kind,
        DataClause::Copy | DataClause::Copyin { .. } | DataClause::Copyout { .. } | DataClause::Create { .. }
    )
}
