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

/// The types of a unit that need names of their own.
struct Known {
    all: BTreeMap<(Space, String), Vec<Definition>>,
    is_cpp: bool,
}

/// Tells the types of a unit apart.
pub fn rename(file: &SourceFile, unit: &mut Unit) {
    if !spans(unit).any(|span| unit.function_around(span).is_some()) {
        return;
    }
    let known = Known::of(file, unit);
    if known.all.is_empty() {
        return;
    }
    for decl in &mut unit.decls {
        let at = decl.span.start;
        match &mut decl.base {
            BaseType::Named(name) => known.rename(Space::Name, name, at),
            BaseType::Tagged(tag) => known.rename(Space::Tag, tag, at),
            _ => {}
        }
        if decl.kind == DeclKind::Typedef {
            known.rename(Space::Name, &mut decl.name, decl.name_span.end);
        }
    }
    let records = unit.records.iter_mut().map(|one| (&mut one.tag, one.span));
    let enums = unit.forms.enums.iter_mut().map(|one| (&mut one.tag, one.span));
    for (tag, span) in records.chain(enums) {
        tag.iter_mut().for_each(|tag| known.rename(Space::Tag, tag, span.start));
    }
    for expr in &mut unit.exprs {
        if let ExprKind::Cast { to, .. } = &mut expr.kind {
            known.rename_in(to, expr.span.start);
        }
    }
    unit.forms.literals.iter_mut().for_each(|one| known.rename_in(&mut one.to, one.span.start));
}

impl Known {
    fn of(file: &SourceFile, unit: &Unit) -> Known {
        let differ = |several: &[(Span, u32)]| {
            let texts: BTreeSet<_> = several.iter().map(|(span, _)| file.text(*span)).collect();
            let has_functions = |span: &Span| may_have_functions(file, unit, *span);
            // What belongs to a class with functions is found by its name.
            texts.len() > 1
                && several.iter().any(|(span, _)| unit.function_around(*span).is_some())
                && !several.iter().any(|(span, _)| has_functions(span))
        };
        let all = definitions(unit).into_iter().filter(|(_, several)| differ(several));
        let all = all.map(|(name, several)| {
            let scoped = |(span, from)| Definition { span, scope: scope_from(unit, span, from) };
            (name, several.into_iter().map(scoped).collect())
        });
        Known { all: all.collect(), is_cpp: unit.is_cpp() }
    }

    /// The name in the tree of what a name means at a place, if that is a type of a function.
    fn meant(&self, space: Space, name: &str, at: u32) -> Option<String> {
        let space = if self.is_cpp { Space::Name } else { space };
        let several = self.all.get(&(space, name.to_owned()))?;
        let holds = |scope: &Span| scope.start <= at && at < scope.end;
        // What is declared further in begins later.
        let visible = several.iter().filter(|one| one.scope.as_ref().is_some_and(holds));
        let innermost = visible.max_by_key(|one| one.scope.map(|scope| scope.start))?;
        Some(format!("{name}{MARK}{}", innermost.span.start))
    }

    fn rename(&self, space: Space, name: &mut String, at: u32) {
        if let Some(found) = self.meant(space, name, at) {
            *name = found;
        }
    }

    /// Renames the type that the words of a cast begin with.
    fn rename_in(&self, to: &mut String, at: u32) {
        let mut words: Vec<String> = to.split_whitespace().map(str::to_owned).collect();
        let Some(first) = words.iter().position(|word| !["const", "volatile"].contains(&word.as_str()))
        else {
            return;
        };
        let is_tag = ["struct", "union", "enum"].contains(&words[first].as_str());
        let (space, place) = if is_tag { (Space::Tag, first + 1) } else { (Space::Name, first) };
        let Some(word) = words.get_mut(place) else { return };
        let end = word.find(['*', '(', '[']).unwrap_or(word.len());
        if let Some(found) = self.meant(space, &word[..end], at) {
            word.replace_range(..end, &found);
            *to = words.join(" ");
        }
    }
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
