//! The structs of a definition, and those of their members whose places can be asked for.
//!
//! Invariant: what is listed means the same at the end of the source and in the device file, whatever the build chooses.

use std::collections::HashSet;

use crate::cuda::code::text::words;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::{Input, Seen, functions};
use crate::host::ir::{BaseType, Decl, DeclKind, Derived, Record, RecordId};
use crate::source::Span;

/// A struct or union of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its type: `struct cell`, or a type name.
    pub name: String,
    /// Its members, those of structs without a name in it as `inner.member`.
    pub members: Vec<String>,
}

/// The structs that the definition in `span` of file `number` defines.
pub fn of_definition(
    input: &Input,
    choices: &Choices,
    (number, seen): (usize, &Seen),
    span: Span,
) -> Vec<Layout> {
    // The host's file compares them at file scope.
    if seen.unit.function_around(span).is_some()
        || choices.is_chosen(&choices.place(number, span.start))
        || !input.is_c && functions::in_namespace(seen, span)
    {
        return Vec::new();
    }
    let finder = Finder { seen, choices, number, names: choices.macros().collect(), is_c: input.is_c, span };
    let unit = seen.unit;
    let inside = (0..unit.records.len() as u32).map(RecordId);
    let inside = inside.filter(|id| span.contains(unit.record(*id).span));
    inside.filter_map(|id| finder.layout(id)).collect()
}

struct Finder<'a, 's> {
    seen: &'s Seen<'a>,
    choices: &'s Choices,
    number: usize,
    names: HashSet<&'s str>,
    is_c: bool,
    /// The whole definition.
    span: Span,
}

impl Finder<'_, '_> {
    fn layout(&self, id: RecordId) -> Option<Layout> {
        let unit = self.seen.unit;
        let record = unit.record(id);
        let is_inner =
            unit.records.iter().any(|other| other.span != record.span && other.span.contains(record.span));
        if is_inner && (!self.is_c || record.tag.is_none()) || self.is_template(record) {
            return None;
        }
        let name = self.name(id, record)?;
        let mut members = Vec::new();
        if self.has_places(record) {
            self.add(id, "", &mut members);
        }
        Some(Layout { name, members })
    }

    /// What the type is called where all files know it.
    fn name(&self, id: RecordId, record: &Record) -> Option<String> {
        let is_its = |decl: &&Decl| {
            decl.kind == DeclKind::Typedef && decl.base == BaseType::Record(id) && decl.derived.is_empty()
        };
        let typedef = self.seen.unit.decls_in(self.span).find(is_its);
        let name = match (typedef, &record.tag) {
            (Some(decl), _) => return self.is_free(&decl.name).then(|| decl.name.clone()),
            (None, tag) => tag.as_ref().filter(|tag| self.is_free(tag))?,
        };
        let text = self.seen.file.text(record.span);
        let keyword = ["struct", "union", "class"].into_iter().find(|word| text.starts_with(word))?;
        Some(format!("{keyword} {name}"))
    }

    /// No macro has this name.
    fn is_free(&self, name: &str) -> bool {
        !self.names.contains(name)
    }

    fn is_template(&self, record: &Record) -> bool {
        let before = self.seen.scan.shadow.get(..record.span.start as usize).unwrap_or_default();
        !self.is_c && before.trim_ascii_end().ends_with(b">")
    }

    /// Whether the language lets everybody ask where members are: not of a class of C++ with bases, functions, or private members.
    fn has_places(&self, record: &Record) -> bool {
        let unit = self.seen.unit;
        let is_of_classes = |word: &&str| ["private", "protected", "virtual", "operator"].contains(word);
        let is_plain = || {
            record.bases.is_empty()
                && !self.seen.file.text(record.span).starts_with("class")
                && !unit.functions.iter().any(|one| record.span.contains(one.span))
                && unit.decls_in(record.span).all(|decl| decl.kind == DeclKind::Member && !decl.is_static)
                && !words(&self.seen.code(record.span)).iter().any(is_of_classes)
        };
        !record.is_union && (self.is_c || is_plain())
    }

    /// Adds the members of a struct, and of those in it that have no name.
    fn add(&self, id: RecordId, lead: &str, found: &mut Vec<String>) {
        let unit = self.seen.unit;
        let record = unit.record(id);
        for decl in record.members.iter().map(|id| unit.decl(*id)) {
            if !self.may_ask(record, decl) {
                continue;
            }
            let path = format!("{lead}{}", decl.name);
            found.push(path.clone());
            let elements: Option<String> = decl.derived.iter().map(element).collect();
            if let (BaseType::Record(inner), Some(elements)) = (&decl.base, elements)
                && unit.record(*inner).tag.is_none()
            {
                self.add(*inner, &format!("{path}{elements}."), found);
            }
        }
        for inner in (0..unit.records.len() as u32).map(RecordId).filter(|one| self.is_part(*one, record)) {
            self.add(inner, lead, found);
        }
    }

    /// Whether a struct without any name stands right in another one, whose members are its members.
    fn is_part(&self, id: RecordId, of: &Record) -> bool {
        let unit = self.seen.unit;
        let record = unit.record(id);
        let is_around = |other: &Record| other.span != record.span && other.span.contains(record.span);
        let is_between =
            |other: &Record| other.span != of.span && is_around(other) && of.span.contains(other.span);
        record.tag.is_none()
            && record.span != of.span
            && of.span.contains(record.span)
            && !unit.records.iter().any(is_between)
            && !unit.decls_in(of.span).any(|decl| decl.base == BaseType::Record(id))
    }

    /// Whether a member has a place that can be asked for, in every build.
    fn may_ask(&self, record: &Record, decl: &Decl) -> bool {
        let place = |at: u32| self.choices.place(self.number, at);
        let after = Span { start: decl.name_span.end, end: record.span.end };
        let is_bits = self.seen.code(after).trim_start().starts_with(':');
        self.is_free(&decl.name)
            && !is_bits
            && !decl.derived.contains(&Derived::Reference)
            && place(decl.name_span.start).is_around(&place(record.span.start))
    }
}

/// How the first element of a dimension is named; `None` for what is not an array.
fn element(part: &Derived) -> Option<&'static str> {
    matches!(part, Derived::Array(Some(_))).then_some("[0]")
}
