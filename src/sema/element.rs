//! What an object of C or C++ holds, as far as it tells whether two objects can be the same memory (C11, 6.5, 7).
//!
//! Invariant: a type that is not seen, and one that may be read as another one, holds nothing that is known.

use rustc_hash::FxHashMap;

use crate::host::ir::{BaseType, Decl, DeclKind, Derived, Unit};

use super::symbols::{Symbols, Types, is_standard_scalar, plain};

/// Deeper chains of typedefs than this are not followed.
const DEPTH: usize = 16;

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A character, or a byte: it may be a part of anything.
    Byte,
    /// A number of this type: its words without those that do not make another type.
    Number(String),
    /// An integer whose type the file does not show, but no character.
    Integer,
    /// A pointer.
    Pointer,
}

/// A type of C or C++.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Its pointers (`false`) and dimensions (`true`), outermost first.
    pub shape: Vec<bool>,
    /// What is behind them: the words of a built-in type, the name of another one; empty for one without a name.
    pub base: String,
    /// What the elements hold, if that is known.
    pub element: Option<Element>,
}

impl Element {
    /// Whether objects that hold these are never the same memory.
    pub fn is_apart_from(&self, other: &Element) -> bool {
        use Element::{Byte, Integer, Number, Pointer};
        let is_floating = |words: &String| words.contains("float") || words.contains("double");
        match (self, other) {
            (Byte, _) | (_, Byte) | (Pointer, Pointer) | (Integer, Integer) => false,
            (Pointer, _) | (_, Pointer) => true,
            (Number(one), Number(two)) => one != two,
            (Integer, Number(words)) | (Number(words), Integer) => is_floating(words),
        }
    }

    /// What the words of a built-in type say. The grammar takes some names of the standard headers for such.
    fn of_words(words: &str) -> Option<Element> {
        if words.ends_with("_t") {
            return standard(words);
        }
        let passed = ["signed", "unsigned", "int", "const", "volatile"];
        let mut kept: Vec<&str> = words.split_whitespace().filter(|word| !passed.contains(word)).collect();
        kept.sort_unstable();
        kept.dedup();
        Some(match kept.as_slice() {
            [] => Element::Number("int".to_owned()),
            _ if kept.contains(&"char") || kept.contains(&"byte") => Element::Byte,
            ["_Bool"] => Element::Number("bool".to_owned()),
            _ => Element::Number(kept.join(" ")),
        })
    }
}

impl Type {
    /// What an object of this type holds: for an array, what its elements hold.
    pub fn held(&self) -> Option<Element> {
        match self.shape.iter().find(|is_array| !**is_array) {
            Some(_) => Some(Element::Pointer),
            None => self.element.clone(),
        }
    }

    /// Whether both are the same type, as far as memory is concerned.
    pub fn is_same(&self, other: &Type) -> bool {
        self.shape == other.shape && self.base == other.base && !self.base.is_empty()
    }
}

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
            [name] => match self.type_names.get(plain(name)) {
                Some(known) => known.clone(),
                None => Type { shape: Vec::new(), base: plain(name).to_owned(), element: standard(name) },
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
    let (inner, behind) = match text.split_once('(') {
        Some((before, rest)) => {
            let (inside, behind) = rest.split_once(')')?;
            let outside = before.chars().all(|c| c == '*').then(|| vec![false; before.len()])?;
            let dimensions = behind.matches('[').count();
            let is_plain = behind.is_empty() || behind.starts_with('[') && behind.ends_with(']');
            is_plain.then_some(())?;
            (inside.to_owned(), [vec![true; dimensions], outside].concat())
        }
        None => (text, Vec::new()),
    };
    let is_plain = inner.chars().all(|c| c == '*');
    is_plain.then(|| [vec![false; inner.len()], behind].concat())
}

impl Type {
    /// The type that the words of a built-in one name.
    fn of_words(words: &str) -> Type {
        let element = Element::of_words(words);
        let base = match &element {
            Some(Element::Number(words)) => words.clone(),
            _ => words.to_owned(),
        };
        Type { shape: Vec::new(), base, element }
    }
}

impl Types<'_> {
    /// The type of a variable or member.
    pub(super) fn of(&self, decl: &Decl, shape: Vec<bool>) -> Type {
        let (base, element) = self.base(decl);
        Type { shape, base, element }
    }

    /// What is behind the pointers and dimensions of a variable or member.
    fn base(&self, decl: &Decl) -> (String, Option<Element>) {
        let (mut decl, mut name) = (decl, String::new());
        for _ in 0..DEPTH {
            match &decl.base {
                BaseType::Builtin(words) => {
                    let known = Type::of_words(words);
                    return (known.base, known.element);
                }
                BaseType::Enum => return (name, Some(Element::Integer)),
                BaseType::Named(named) => {
                    name = plain(named).to_owned();
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
        let all = units.iter().flat_map(|unit| unit.decls.iter().map(move |decl| (unit, decl)));
        all.filter(|(_, decl)| decl.kind == DeclKind::Typedef)
            .map(|(unit, decl)| {
                let known = self.of(decl, self.shape(unit, decl));
                let base = if known.base.is_empty() { decl.name.clone() } else { known.base };
                (decl.name.clone(), Type { base, ..known })
            })
            .collect()
    }
}

/// What an object of a type of the standard headers holds.
fn standard(name: &str) -> Option<Element> {
    let is_byte = name.ends_with("t8_t") || name == "char8_t";
    let is_floating = ["float_t", "double_t"].contains(&name);
    match name {
        "bool" | "_Bool" => Some(Element::Number("bool".to_owned())),
        _ if is_byte => Some(Element::Byte),
        _ if is_standard_scalar(name) && !is_floating => Some(Element::Integer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn types_that_share_memory_are_known() {
        let of = |words: &str| Element::of_words(words).expect(words);
        for (one, two) in [
            ("int", "unsigned"),
            ("long int", "unsigned long"),
            ("char", "double"),
            ("_Bool", "bool"),
            ("int32_t", "int"),
            ("size_t", "long"),
            ("uint8_t", "float"),
        ] {
            assert!(!of(one).is_apart_from(&of(two)), "{one}, {two}");
        }
        for (one, two) in [("int", "float"), ("double", "float"), ("int", "long"), ("short int", "int")] {
            assert!(of(one).is_apart_from(&of(two)), "{one}, {two}");
        }
        assert!(!Element::Integer.is_apart_from(&of("long")));
        assert!(Element::Integer.is_apart_from(&of("double")));
        assert!(Element::Pointer.is_apart_from(&of("double")));
    }
}
