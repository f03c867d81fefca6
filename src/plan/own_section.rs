//! Sections of pointers in `private` and `firstprivate` of a compute construct in C: an array of the pointer's name, in a
//! block around the construct, has the elements that the section names, and OpenMP copies it as it copies arrays.
//!
//! Invariant: in the construct the array is used as the pointer was, so that its elements are all that counts.

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem, PathStep, Subscript};
use crate::host::ir::{BaseType, Decl, Derived, StmtId};
use crate::sema::{Class, SymbolKind, decays};
use crate::source::Span;

use super::Input;

/// An array that takes the place of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSection {
    /// The directive that names it.
    pub directive: usize,
    /// The code that the directive governs.
    pub stmt: StmtId,
    /// The pointer's name, and the array's.
    pub name: String,
    /// The type of an element.
    pub element: String,
    /// The first element of the section; none if that is the pointer's first one.
    pub first: Option<String>,
    /// The number of the section's elements.
    pub length: String,
    /// The array begins with the values that the host has.
    pub is_copied: bool,
}

/// An array of more elements may not fit on a stack.
const MOST: u64 = 65_536;

impl Input<'_> {
    /// The arrays that take the place of sections in the clauses of directive `index`.
    pub(super) fn own_sections(&self, index: usize) -> Vec<OwnSection> {
        let items = self.bound[index]
            .directive
            .clauses
            .iter()
            .flat_map(|clause| super::list(&clause.kind).iter().map(move |item| (&clause.kind, item)));
        items.filter_map(|(clause, item)| self.own_section(index, clause, item)).collect()
    }

    /// The array for a list item of directive `index`; none if its elements are not all that counts.
    pub(super) fn own_section(
        &self,
        index: usize,
        clause: &ClauseKind,
        item: &ListItem,
    ) -> Option<OwnSection> {
        let bound = &self.bound[index];
        let is_copied = match clause {
            ClauseKind::Private(_) => false,
            ClauseKind::Firstprivate(_) => true,
            _ => return None,
        };
        let [PathStep::Section(subscripts)] = item.parts.as_slice() else { return None };
        let [Subscript::Range { first, second: Some(length), stride: None }] = subscripts.as_slice() else {
            return None;
        };
        let first = first.as_ref().map(|first| first.text.trim().to_owned()).filter(|first| first != "0");
        let length = length.text.trim().to_owned();
        let numbers = [first.as_deref().unwrap_or("0"), &length].map(|text| self.value_of(text));
        let elements = numbers.iter().copied().sum::<Option<u64>>();
        let element = self.element_of(index, item)?;
        let stmt = bound.stmt()?;
        let is_kept = !self.unit.is_fortran()
            && is_plain(bound.directive.kind)
            && !bound.directive.clauses.iter().any(|clause| is_in_the_way(&clause.kind))
            && elements.is_some_and(|elements| (1..=MOST).contains(&elements))
            && self.is_used_as_array(index, item, self.unit.stmt(stmt).span);
        let name = item.base.text.clone();
        is_kept.then_some(OwnSection { directive: index, stmt, name, element, first, length, is_copied })
    }

    /// Whether the construct uses a pointer as it would use an array, and its directives name it once.
    fn is_used_as_array(&self, index: usize, item: &ListItem, body: Span) -> bool {
        let directive = self.bound[index].directive.span;
        let text = self.file.text(directive);
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let named = text.split(|char| !is_word(char)).filter(|word| *word == item.base.text).count();
        let symbol = self.symbols.lookup(item.variable(), directive.start);
        let is_decayed =
            symbol.is_some_and(|symbol| decays(self.file, self.unit, self.symbols, symbol, body));
        let is_address = self.visible(index).deviceptr.iter().any(|(pointer, _)| Some(*pointer) == symbol);
        named == 1
            && !self.is_parted(index, body)
            && is_decayed
            && !is_address
            && !self.is_spoken_of(&item.base.text, body)
    }

    /// The type of what a plain pointer to numbers leads to, as the source writes it.
    fn element_of(&self, index: usize, item: &ListItem) -> Option<String> {
        let symbol = self.symbols.get(self.symbol_of(index, item)?);
        let decl = symbol.decl.map(|decl| self.unit.decl(decl))?;
        let is_pointer = symbol.class == Class::Pointer
            && symbol.kind != SymbolKind::Member
            && !symbol.is_reference
            && decl.derived == [Derived::Pointer];
        let is_element = match &decl.base {
            BaseType::Builtin(_) => true,
            BaseType::Named(_) | BaseType::Tagged(_) => !self.unit.is_cpp(),
            BaseType::Void | BaseType::Record(_) | BaseType::Enum | BaseType::Unknown => false,
        };
        (is_pointer && is_element).then(|| self.element_words(decl)).flatten()
    }

    /// The words of a declaration before its first declarator. None if they are not the type alone.
    fn element_words(&self, decl: &Decl) -> Option<String> {
        let specifiers = self.specifiers(decl);
        let words: Vec<&str> = specifiers.split('*').next()?.split_whitespace().collect();
        let is_word = |word: &str| word.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        let is_kept = |word: &&str| !matches!(*word, "static" | "extern" | "register");
        let is_other =
            |word: &&str| matches!(*word, "const" | "volatile" | "auto" | "_Atomic" | "_Thread_local");
        let is_type =
            specifiers.contains('*') && words.iter().all(|word| is_word(word)) && !words.iter().any(is_other);
        is_type.then(|| words.iter().copied().filter(is_kept).collect::<Vec<_>>().join(" "))
    }

    /// The value of a number, or of a macro for a number.
    fn value_of(&self, text: &str) -> Option<u64> {
        text.parse().ok().or_else(|| u64::try_from(self.symbols.number(text)?).ok())
    }
}

/// Whether the construct's clauses hold for all of it.
fn is_plain(kind: DirectiveKind) -> bool {
    matches!(
        kind,
        DirectiveKind::Parallel
            | DirectiveKind::Serial
            | DirectiveKind::ParallelLoop
            | DirectiveKind::SerialLoop
    )
}

/// Whether the host may go on before the construct has run, or a clause is for some devices alone.
fn is_in_the_way(clause: &ClauseKind) -> bool {
    matches!(clause, ClauseKind::Async(_) | ClauseKind::DeviceType(_))
}
