//! What single compilers do not build, where there are no other words for it.
//!
//! Invariant: nothing is written otherwise here; the author is reported.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem, PathStep};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::{BaseType, Decl, Derived, Unit};
use crate::sema::{Class, SymbolId, SymbolKind, Symbols};
use crate::{plan, rules};

use super::partial::{data, path};
use super::{BaseLanguage, Target};

/// Says what the compilers of the target's profile do not build.
pub fn limits(unit: &Unit, symbols: &Symbols, bound: &[Bound], target: Target) -> Vec<Diag> {
    let mut diags = Vec::new();
    let family = rules::profile(target.profile).family.as_str();
    if target.speech == BaseLanguage::C && matches!(family, "clang" | "generic") {
        diags.extend(updates_of_statics(unit, symbols, bound));
        diags.extend(union_members(symbols, bound));
    }
    if target.speech == BaseLanguage::C && matches!(family, "gcc" | "generic") {
        diags.extend(static_members(unit, symbols, bound));
    }
    if target.speech == BaseLanguage::C && family == "gcc" {
        diags.extend(bound.iter().filter_map(|one| member_of_pointer(symbols, one)));
    }
    if target.speech == BaseLanguage::Fortran && family == "clang" {
        diags.extend(bound.iter().filter_map(members_of_elements));
    }
    diags
}

/// flang 22: components of several elements of an array in one directive.
fn members_of_elements(one: &Bound) -> Option<Diag> {
    if matches!(one.directive.kind, DirectiveKind::ExitData | DirectiveKind::Update) {
        return None;
    }
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    data(one).map(|(_, item)| item).find_map(|item| {
        let path = path(item).to_ascii_lowercase();
        let (element, _) = path.split_once('%').filter(|(element, _)| element.ends_with(']'))?;
        let known = first.entry(item.base.text.to_ascii_lowercase()).or_insert_with(|| element.to_owned());
        (*known != element).then(|| diag::components_of_elements(item.span, &item.text))
    })
}

/// gcc 12: members through pointers on `data`, and members of members.
fn member_of_pointer(symbols: &Symbols, one: &Bound) -> Option<Diag> {
    let kind = one.directive.kind;
    let is_bad = |item: &ListItem| {
        let has_member = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
        let meant = symbol(symbols, item).filter(|_| item.base.text != "this");
        meant.is_some_and(|meant| {
            let known = symbols.get(meant);
            match kind {
                DirectiveKind::Data if known.class == Class::Pointer => has_member,
                _ => known.kind == SymbolKind::Member && has_member,
            }
        })
    };
    let item = data(one).map(|(_, item)| item).find(|item| is_bad(item))?;
    Some(diag::member_not_built(item.span, &item.text))
}

/// clang 19: updates of static variables that `declare` at file scope gives a place on the device.
fn updates_of_statics(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> Vec<Diag> {
    let declares =
        bound.iter().filter(|one| one.directive.kind == DirectiveKind::Declare && one.function.is_none());
    let lists = declares.flat_map(|one| &one.directive.clauses).filter_map(|clause| match &clause.kind {
        ClauseKind::Data(kind, list) if *kind != DataClause::Link => Some(list),
        _ => None,
    });
    let named = lists.flatten().filter_map(|item| symbol(symbols, item));
    let statics: BTreeSet<SymbolId> =
        named.filter(|id| declaration(unit, symbols, *id).is_some_and(|decl| decl.is_static)).collect();
    let updates =
        bound.iter().flat_map(|one| &one.directive.clauses).filter_map(|clause| match &clause.kind {
            ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => Some(list),
            _ => None,
        });
    let bad = updates.flatten().filter(|item| symbol(symbols, item).is_some_and(|id| statics.contains(&id)));
    bad.map(|item| diag::update_of_static(item.span, item.variable())).collect()
}

/// clang 19: members of anonymous unions in clauses, where no object has the union.
fn union_members(symbols: &Symbols, bound: &[Bound]) -> Vec<Diag> {
    let lists = bound.iter().flat_map(|one| &one.directive.clauses).map(|clause| plan::list(&clause.kind));
    let bad = lists.flatten().filter(|item| symbols.is_of_union(&item.base.text, item.span.start));
    bad.map(|item| {
        let what = format!("`{}`, a member of an anonymous union, in a clause", item.base.text);
        diag::clang_refuses(item.span, &what)
    })
    .collect()
}

/// gcc 12: objects in `map` whose class has a static member, or a base or a member of such a class.
fn static_members(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> Vec<Diag> {
    let statics = classes_with_statics(unit);
    if statics.is_empty() {
        return Vec::new();
    }
    let own = |one: &Bound| one.function.and_then(|id| unit.function(id).member_of.as_deref());
    let bad = bound.iter().flat_map(|one| {
        data(one).filter_map(|(_, item)| {
            let is_section = !item.parts.is_empty() && item.subscripts().len() == item.parts.len();
            let class = if item.base.text == "this" {
                own(one).map(unqualified)?
            } else {
                let decl = declaration(unit, symbols, symbol(symbols, item)?)?;
                let is_object = item.parts.is_empty() && !decl.derived.contains(&Derived::Pointer);
                class_of(unit, decl).filter(|_| is_object || is_section)?
            };
            let is_whole = item.parts.is_empty() || is_section;
            let home = statics.get(class).filter(|_| is_whole)?;
            Some(diag::static_member(item.span, &item.text, home))
        })
    });
    bad.collect()
}

/// The classes of which gcc 12 maps no object, each with the class, itself or one in it, that has a static member.
fn classes_with_statics(unit: &Unit) -> FxHashMap<&str, &str> {
    let is_static = |decl: &Decl| decl.is_static && !decl.derived.contains(&Derived::Function);
    let mut holders: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    let mut found = Vec::new();
    for record in &unit.records {
        let Some(tag) = record.tag.as_deref() else { continue };
        let members = || record.members.iter().map(|id| unit.decl(*id));
        if members().any(is_static) {
            found.push((tag, tag));
        }
        let parts = members()
            .filter(|decl| {
                !decl.derived.iter().any(|one| matches!(one, Derived::Pointer | Derived::Function))
            })
            .filter_map(|decl| class_of(unit, decl));
        for part in parts.chain(record.bases.iter().map(|base| unqualified(base))) {
            holders.entry(part).or_default().push(tag);
        }
    }
    let mut statics = FxHashMap::default();
    while let Some((class, home)) = found.pop() {
        if statics.insert(class, home).is_none() {
            found.extend(holders.get(class).into_iter().flatten().map(|holder| (*holder, home)));
        }
    }
    statics
}

/// The class of what `decl` declares, without its namespaces.
fn class_of<'a>(unit: &'a Unit, decl: &'a Decl) -> Option<&'a str> {
    match &decl.base {
        BaseType::Tagged(name) | BaseType::Named(name) => Some(unqualified(name)),
        BaseType::Record(id) => unit.record(*id).tag.as_deref(),
        _ => None,
    }
}

fn unqualified(class: &str) -> &str {
    class.rsplit("::").next().unwrap_or(class)
}

fn symbol(symbols: &Symbols, item: &ListItem) -> Option<SymbolId> {
    symbols.lookup(item.variable(), item.span.start)
}

fn declaration<'a>(unit: &'a Unit, symbols: &Symbols, symbol: SymbolId) -> Option<&'a Decl> {
    symbols.get(symbol).decl.map(|id| unit.decl(id))
}
