//! What the variables, members and casts of a file of C or C++ hold.
//!
//! Invariant: a type that is not seen holds nothing that is known.

use rustc_hash::FxHashMap;

use crate::host::forms::inside;
use crate::host::ir::{BaseType, Decl, DeclKind, Derived, Unit};
use crate::source;

use super::holds::{Element, Type, standard};
use super::symbols::{Symbols, Types};
use super::type_names::is_in_template;

/// Deeper chains of typedefs than this are not followed.
const DEPTH: usize = 16;

impl Symbols {
    /// The type of a member, if all structs that have one of this name declare it alike.
    pub fn member(&self, name: &str) -> Option<&Type> {
        self.member_types.get(name)?.as_ref()
    }

    /// The type that the words of a cast name, such as `const double (*)[3]`; `None` for one that is not understood.
    pub fn cast_type(&self, words: &str) -> Option<Type> {
        let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let end = words.find(|c: char| !is_inner(c) && !c.is_whitespace()).unwrap_or(words.len());
        let (base, declarator) = words.split_at(end);
        const PASSED: [&str; 7] = ["const", "volatile", "struct", "union", "class", "enum", "typename"];
        let kept: Vec<&str> = base.split_whitespace().filter(|word| !PASSED.contains(word)).collect();
        const BUILT_IN: [&str; 11] = [
            "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool", "void",
        ];
        let is_built_in = kept.iter().all(|word| BUILT_IN.contains(word));
        let mut found = match kept.as_slice() {
            [] => return None,
            ["void"] => Type { shape: Vec::new(), base: "void".to_owned(), element: None },
            _ if is_built_in => Type::of_words(&kept.join(" ")),
            [name] if is_in_template(name) => return None,
            [name] => match self.type_names.get(source::plain_name(name)) {
                Some(known) => known.clone(),
                None => Type {
                    shape: Vec::new(),
                    base: source::plain_name(name).to_owned(),
                    element: standard(name),
                },
            },
            _ => return None,
        };
        let mut shape = declared_shape(declarator)?;
        shape.append(&mut found.shape);
        Some(Type { shape, ..found })
    }
}

/// The shape that an abstract declarator such as `*`, `**` or `(*)[3]` adds.
fn declared_shape(declarator: &str) -> Option<Vec<bool>> {
    let mut text: String = declarator.to_owned();
    for word in ["const", "volatile", "__restrict__", "__restrict", "restrict"] {
        text = text.replace(word, "");
    }
    text.retain(|c| !c.is_whitespace());
    let (inner, after) = match text.split_once('(') {
        Some((before, rest)) => {
            let (inside, after) = rest.split_once(')')?;
            let outside = before.chars().all(|c| c == '*').then(|| vec![false; before.len()])?;
            let dimensions = after.matches('[').count();
            let is_plain = after.is_empty() || after.starts_with('[') && after.ends_with(']');
            is_plain.then_some(())?;
            (inside.to_owned(), [vec![true; dimensions], outside].concat())
        }
        None => (text, Vec::new()),
    };
    let is_plain = inner.chars().all(|c| c == '*');
    is_plain.then(|| [vec![false; inner.len()], after].concat())
}

impl Types<'_> {
    /// The type of a variable or member.
    pub(super) fn of(&self, decl: &Decl, shape: Vec<bool>) -> Type {
        let (base, element) = self.base(decl);
        Type { shape, base, element }
    }

    /// What comes after the pointers and dimensions of a variable or member.
    fn base(&self, decl: &Decl) -> (String, Option<Element>) {
        self.base_within(decl, DEPTH)
    }

    /// The same, along a chain of at most so many names.
    fn base_within(&self, decl: &Decl, depth: usize) -> (String, Option<Element>) {
        let (mut decl, mut name) = (decl, String::new());
        for depth in (0..depth).rev() {
            match &decl.base {
                BaseType::Builtin(words) => {
                    let known = Type::of_words(words);
                    return (known.base, known.element);
                }
                BaseType::Enum => {
                    let known = self.specifier(decl).map(|words| self.underlying(words, depth));
                    return known.unwrap_or((name, Some(Element::Integer)));
                }
                BaseType::Named(named) if is_in_template(named) => return (named.clone(), None),
                BaseType::Named(named) => {
                    name = source::plain_name(named).to_owned();
                    if let Some(words) = self.enums.get(&*name).copied().flatten() {
                        return self.underlying(words, depth);
                    }
                    match self.typedef(&name) {
                        Some(typedef) if typedef.derived.contains(&Derived::Function) => return (name, None),
                        Some(typedef) => decl = typedef,
                        None => return (name, standard(named)),
                    }
                }
                BaseType::Void => return ("void".to_owned(), None),
                BaseType::Tagged(tag) => return (tag.clone(), None),
                BaseType::Record(id) => {
                    let here = std::ptr::from_ref(decl);
                    let unit = self.units.iter().find(|unit| unit.decls.as_ptr_range().contains(&here));
                    let tag = unit.and_then(|unit| unit.record(*id).tag.clone());
                    return (tag.unwrap_or(name), None);
                }
                BaseType::Unknown => return (String::new(), None),
            }
        }
        (String::new(), None)
    }

    /// The words of the type that an enumeration which a declaration names says of its values.
    fn specifier(&self, decl: &Decl) -> Option<&str> {
        let here = std::ptr::from_ref(decl);
        let unit = self.units.iter().find(|unit| unit.decls.as_ptr_range().contains(&here))?;
        let one = inside(&unit.forms.enums, decl.span).next()?;
        let by_tag = || self.enums.get(one.tag.as_deref()?).copied().flatten();
        one.underlying.as_deref().or_else(by_tag)
    }

    /// The type of the values of an enumeration, which these words name.
    fn underlying(&self, words: &str, depth: usize) -> (String, Option<Element>) {
        let named = source::plain_name(words);
        match self.typedef(named) {
            Some(typedef) => self.base_within(typedef, depth),
            None if standard(words).is_some() => (named.to_owned(), standard(words)),
            None => {
                let known = Type::of_words(words);
                (known.base, known.element)
            }
        }
    }

    /// The members of all structs of all units by name; `None` for those that are not alike.
    pub(super) fn members(&self, units: &[&Unit]) -> FxHashMap<String, Option<Type>> {
        let mut found: FxHashMap<String, Option<Type>> = FxHashMap::default();
        for unit in units {
            for decl in unit.records.iter().flat_map(|record| &record.members).map(|id| unit.decl(*id)) {
                let member = self.of(decl, self.shape(unit, decl));
                let known = found.entry(decl.name.clone()).or_insert_with(|| Some(member.clone()));
                if known.as_ref() != Some(&member) {
                    *known = None;
                }
            }
        }
        found
    }

    /// The types that have names by `typedef`.
    pub(super) fn named_types(&self, units: &[&Unit]) -> FxHashMap<String, Type> {
        let stated = self.enums.iter().filter_map(|(tag, words)| Some((*tag, (*words)?)));
        let enums = stated.map(|(tag, words)| {
            let (base, element) = self.underlying(words, DEPTH);
            (tag.to_owned(), Type { shape: Vec::new(), base, element })
        });
        let all = units.iter().flat_map(|unit| unit.decls.iter().map(move |decl| (unit, decl)));
        all.filter(|(_, decl)| decl.kind == DeclKind::Typedef)
            .map(|(unit, decl)| {
                let known = self.of(decl, self.shape(unit, decl));
                let base = if known.base.is_empty() { decl.name.clone() } else { known.base };
                (decl.name.clone(), Type { base, ..known })
            })
            .chain(enums)
            .collect()
    }
}
