//! Types of one name: those of functions that differ from another of their name get a name of their own in the tree.
//!
//! Invariant: a name of a type in the tree stands for one definition, or for several of one text; the source is as it was.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ir::*;
use crate::source::{SourceFile, Span};

/// What stands between a name and the place that tells it apart: no name has it.
const MARK: char = '@';

/// The name as the source writes it.
pub fn written(name: &str) -> &str {
    name.split(MARK).next().unwrap_or(name)
}

/// Whether a type of a function has a name of its own, as another one of its name differs.
pub fn is_apart(name: &str) -> bool {
    name.contains(MARK) && !name.starts_with(MARK)
}

/// The name spaces of C: tags, and other names. C++ has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    Tag,
    Name,
}

/// A definition of a type.
struct Definition {
    /// Its bytes.
    span: Span,
    /// Where its name means it, if a function declares it.
    scope: Option<Span>,
}

/// Definitions by name; each with where its name begins to mean it.
type Definitions = BTreeMap<(Space, String), Vec<(Span, u32)>>;

/// Tells the types of a unit apart.
pub fn tell(file: &SourceFile, unit: &mut Unit) {
    let is_cpp = unit.is_cpp();
    if !spans(unit).any(|span| unit.function_around(span).is_some()) {
        return;
    }
    let all: BTreeMap<(Space, String), Vec<Definition>> = definitions(unit)
        .into_iter()
        .filter(|(_, several)| {
            let texts: BTreeSet<_> = several.iter().map(|(span, _)| file.text(*span)).collect();
            let has_functions = |span: &Span| may_have_functions(file, unit, *span);
            // What belongs to a class with functions is found by its name.
            texts.len() > 1
                && several.iter().any(|(span, _)| unit.function_around(*span).is_some())
                && !several.iter().any(|(span, _)| has_functions(span))
        })
        .map(|(name, several)| {
            let several = several
                .into_iter()
                .map(|(span, from)| Definition { span, scope: scope_from(unit, span, from) });
            (name, several.collect::<Vec<_>>())
        })
        .collect();
    if all.is_empty() {
        return;
    }
    let meant = |space: Space, name: &str, at: u32| -> Option<String> {
        let space = if is_cpp { Space::Name } else { space };
        let several = all.get(&(space, name.to_owned()))?;
        let holds = |scope: &Span| scope.start <= at && at < scope.end;
        // What is declared further in begins later.
        let visible = several.iter().filter(|one| one.scope.as_ref().is_some_and(holds));
        let innermost = visible.max_by_key(|one| one.scope.map(|scope| scope.start))?;
        Some(format!("{name}{MARK}{}", innermost.span.start))
    };
    let mut named: Vec<(&mut String, String)> = Vec::new();
    for decl in &mut unit.decls {
        let found = match &decl.base {
            BaseType::Named(name) => meant(Space::Name, name, decl.span.start),
            BaseType::Tagged(tag) => meant(Space::Tag, tag, decl.span.start),
            _ => None,
        };
        if let (BaseType::Named(name) | BaseType::Tagged(name), Some(found)) = (&mut decl.base, found) {
            named.push((name, found));
        }
        if decl.kind == DeclKind::Typedef
            && let Some(found) = meant(Space::Name, &decl.name, decl.name_span.end)
        {
            named.push((&mut decl.name, found));
        }
    }
    for record in &mut unit.records {
        let at = record.span.start;
        if let Some(tag) = &mut record.tag
            && let Some(found) = meant(Space::Tag, tag, at)
        {
            named.push((tag, found));
        }
    }
    for one in &mut unit.forms.enums {
        let at = one.span.start;
        if let Some(tag) = &mut one.tag
            && let Some(found) = meant(Space::Tag, tag, at)
        {
            named.push((tag, found));
        }
    }
    let said = |to: &str, at: u32| -> Option<String> {
        let mut words: Vec<String> = to.split_whitespace().map(str::to_owned).collect();
        let first = words.iter().position(|word| !["const", "volatile"].contains(&word.as_str()))?;
        let is_tag = ["struct", "union", "enum"].contains(&words[first].as_str());
        let (space, place) = if is_tag { (Space::Tag, first + 1) } else { (Space::Name, first) };
        let word = words.get_mut(place)?;
        let end = word.find(['*', '(', '[']).unwrap_or(word.len());
        let found = meant(space, &word[..end], at)?;
        word.replace_range(..end, &found);
        Some(words.join(" "))
    };
    for expr in &mut unit.exprs {
        if let ExprKind::Cast { to, .. } = &mut expr.kind
            && let Some(found) = said(to, expr.span.start)
        {
            named.push((to, found));
        }
    }
    for one in &mut unit.forms.literals {
        if let Some(found) = said(&one.to, one.span.start) {
            named.push((&mut one.to, found));
        }
    }
    named.into_iter().for_each(|(name, found)| *name = found);
}

/// Whether the class that a definition of C++ defines may have functions.
pub fn may_have_functions(file: &SourceFile, unit: &Unit, span: Span) -> bool {
    let text = file.text(span);
    unit.is_cpp() && text.contains('{') && text.contains('(')
}

/// Where types are defined.
fn spans(unit: &Unit) -> impl Iterator<Item = Span> {
    let typedefs = unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef).map(|decl| decl.span);
    let records = unit.records.iter().map(|record| record.span);
    typedefs.chain(records).chain(unit.forms.enums.iter().map(|one| one.span))
}

/// The definitions of types, by name.
fn definitions(unit: &Unit) -> Definitions {
    let tags = if unit.is_cpp() { Space::Name } else { Space::Tag };
    let typedefs = unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef);
    let typedefs: Vec<(Space, &String, Span, u32)> =
        typedefs.map(|decl| (Space::Name, &decl.name, decl.span, decl.name_span.end)).collect();
    let records = unit.records.iter().filter_map(|one| Some((one.tag.as_ref()?, one.span)));
    let enums = unit.forms.enums.iter().filter(|one| one.is_definition);
    let enums = enums.filter_map(|one| Some((one.tag.as_ref()?, one.span)));
    let tagged = records.chain(enums).map(|(tag, span)| (tags, tag, span, span.start));
    // `typedef struct s { … } s;` is one definition to C++.
    let is_part = |one: &(Space, &String, Span, u32)| {
        unit.is_cpp() && typedefs.iter().any(|typedef| typedef.1 == one.1 && typedef.2.contains(one.2))
    };
    let tagged: Vec<_> = tagged.filter(|one| !is_part(one)).collect();
    let mut all = Definitions::new();
    for (space, name, span, from) in typedefs.iter().copied().chain(tagged) {
        all.entry((space, name.clone())).or_default().push((span, from));
    }
    all
}

/// The bytes around a definition in a function where its name may mean it.
pub fn scope(unit: &Unit, span: Span) -> Option<Span> {
    scope_from(unit, span, span.start)
}

/// Where a name means what a definition in a function declares, from `from` on.
fn scope_from(unit: &Unit, span: Span, from: u32) -> Option<Span> {
    let function = unit.function_around(span)?;
    let blocks = unit.stmts_in(function.span).filter(|stmt| is_scope(&stmt.kind)).map(|stmt| stmt.span);
    let classes = unit.records.iter().filter(|_| unit.is_cpp()).map(|record| record.span);
    let around = blocks.chain(classes).filter(|one| *one != span && one.contains(span));
    let innermost = around.min_by_key(|one| one.len()).unwrap_or(function.span);
    Some(Span { start: from, end: innermost.end })
}

fn is_scope(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Block(_)
            | StmtKind::For { .. }
            | StmtKind::If { .. }
            | StmtKind::Switch { .. }
            | StmtKind::While { .. }
    )
}
