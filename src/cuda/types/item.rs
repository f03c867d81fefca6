//! Where the memory is that a list item names, as expressions of the host language (OpenACC 3.3, 2.7.1).
//!
//! Invariant: an expression means the same wherever in the function it is put, as long as the variables in it keep their values.

use crate::acc::ast::{Expr, ListItem, PathStep, Subscript};
use crate::host::ir::{Decl, DeclKind, Derived};
use crate::sema::{Class, Symbol, SymbolKind};
use crate::source::Span;

use super::{referred, unfolded};
use crate::cuda::code::text::{operand, summand, words};
use crate::cuda::program::{Input, Refused, Seen, declared, functions, refused};

/// The memory of a list item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address of its first byte.
    pub from: String,
    /// Its length in elements.
    pub count: String,
    /// Its length in bytes.
    pub bytes: String,
    /// `from` is where the variable begins.
    pub at_start: bool,
}

/// The address of something in memory, whatever the program says of `&` before an object.
pub fn address_of(input: &Input, place: &str) -> String {
    match input.effects.is_some_and(|effects| effects.operators.takes_address()) {
        true => format!("__builtin_addressof({place})"),
        false => format!("&{place}"),
    }
}

/// All of a variable that is not a pointer.
pub fn whole(input: &Input, seen: Seen, name: &str, decl: &Decl) -> Address {
    let arrays = decl.derived.iter().filter(|part| matches!(part, Derived::Array(_))).count();
    if arrays == 0 {
        return Address {
            from: address_of(input, name),
            count: "1".to_owned(),
            bytes: format!("sizeof {name}"),
            at_start: true,
        };
    }
    let element = format!("{name}{}", "[0]".repeat(arrays));
    // To `sizeof`, a parameter is a pointer, except a reference.
    let before = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    if let (DeclKind::Parameter, Some(Derived::Array(Some(size)))) = (decl.kind, decl.derived.first())
        && !before.trim_end().ends_with('&')
    {
        let length = operand(&seen.text(*size));
        let rows =
            if arrays == 1 { String::new() } else { format!(" * (sizeof {name}[0] / sizeof {element})") };
        return Address {
            from: name.to_owned(),
            count: format!("{length}{rows}"),
            bytes: format!("{length} * sizeof {name}[0]"),
            at_start: true,
        };
    }
    Address {
        from: name.to_owned(),
        count: format!("sizeof {name} / sizeof {element}"),
        bytes: format!("sizeof {name}"),
        at_start: true,
    }
}

/// Whether something is a parameter that is declared as an array with a length: a clause that names it alone means all of it.
pub fn has_length(decl: &Decl) -> bool {
    decl.kind == DeclKind::Parameter && matches!(decl.derived.first(), Some(Derived::Array(Some(_))))
}

/// An element of an array of pointers, and how many subscripts it has: `r[j]` of `r[j][0:n]`. `None` if the memory of an item
/// is not reached by one, or by several.
pub fn element(input: &Input, index: usize, item: &ListItem) -> Option<(String, usize)> {
    let place = input.bound[index].directive.span.start;
    let last = item.parts.iter().rev().find_map(|part| match part {
        PathStep::Member(member) => Some(member.text.as_str()),
        PathStep::Section(_) => None,
    });
    let shape = match last {
        Some(member) => &input.symbols.member(member)?.shape,
        None => &input.symbols.get(input.symbols.lookup(&item.base.text, place)?).shape,
    };
    let subscripts = item.subscripts();
    let count = (1..subscripts.len()).rev().find(|at| shape.get(*at) == Some(&false))?;
    let mut element = if last.is_some() { item.head().to_owned() } else { item.base.text.clone() };
    for subscript in &subscripts[..count] {
        let Subscript::Index(at) = subscript else { return None };
        element += &format!("[{}]", at.text.trim());
    }
    Some((element, count))
}

/// How late an item comes among others: what it is a part of, or reached by, comes before it.
pub fn order(input: &Input, index: usize, item: &ListItem) -> usize {
    2 * item.depth() + usize::from(element(input, index, item).is_some())
}

/// The pointer that an item, or a section of it, names if it has a counterpart on the device, to which the memory is attached
/// (OpenACC 3.3, 2.6.4 and 2.7.2).
pub fn declared_pointer(input: &Input, index: usize, item: &ListItem) -> Option<String> {
    let place = input.bound[index].directive.span.start;
    let known = input.symbols.get(input.symbols.lookup(&item.base.text, place)?);
    let is_global = known.kind == SymbolKind::Static && known.class == Class::Pointer;
    let is_whole = item.variable() == item.base.text && item.depth() == 0;
    let has_counterpart = || declared::has_counterpart(input, functions::bare(&item.base.text));
    (is_global && is_whole && has_counterpart()).then(|| item.base.text.clone())
}

/// The expression of a pointer that the item's memory is reached by, if that pointer is a part of something else, or is on
/// the device itself: `s->p` of `s->p[0:n]`, a member `p` of the object, and one that `declare` names.
pub fn pointer(input: &Input, index: usize, item: &ListItem) -> Option<String> {
    if let Some((element, _)) = element(input, index, item) {
        return Some(element);
    }
    if let Some(pointer) = declared_pointer(input, index, item).filter(|_| !item.subscripts().is_empty()) {
        return Some(pointer);
    }
    let symbol = input.symbols.lookup(&item.base.text, input.bound[index].directive.span.start);
    let known = symbol.map(|symbol| input.symbols.get(symbol));
    let is_member = |known: &Symbol| known.kind == SymbolKind::Member && known.class == Class::Pointer;
    if known.is_some_and(is_member) && !item.subscripts().is_empty() && item.variable() == item.base.text {
        return Some(item.base.text.clone());
    }
    let last = item.parts.iter().rposition(|part| matches!(part, PathStep::Member(_)))?;
    let after = item.parts.get(last + 1..)?;
    if after.is_empty() {
        return None;
    }
    let PathStep::Member(member) = item.parts.get(last)? else { return None };
    // What is in an array that is a member is a part of the object.
    let is_array = input.symbols.member(&member.text).is_some_and(|known| known.shape.first() == Some(&true));
    (!is_array).then(|| item.head().to_owned())
}

/// The memory of a list item.
pub fn address(input: &Input, index: usize, item: &ListItem) -> Result<Address, Refused> {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place);
    let has_members = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
    let decl = symbol.filter(|_| !has_members).and_then(|symbol| unfolded::declaration(input, symbol));
    let depth = item.subscripts().len();
    let pointers_inside = decl.is_some_and(|(_, decl)| {
        decl.derived.iter().take(depth).skip(1).any(|part| matches!(part, Derived::Pointer))
    });
    if pointers_inside && element(input, index, item).is_none() {
        return Err(refused(item.span, "an array of row pointers"));
    }
    piece(input, index, item)
}

/// The memory of a list item that is one piece, perhaps after several pointers.
pub fn piece(input: &Input, index: usize, item: &ListItem) -> Result<Address, Refused> {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place);
    let is_member = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
    let declared = symbol.filter(|_| !is_member).and_then(|symbol| unfolded::declaration(input, symbol));
    let declared = declared.as_ref().map(|(seen, decl)| (*seen, &**decl));
    if declared.is_some_and(|(seen, decl)| is_volatile(input, seen, decl)) {
        return Err(refused(item.span, "a `volatile` variable in a data clause, in C++"));
    }
    let base = if is_member { item.head() } else { item.base.text.as_str() };
    if !item.subscripts().is_empty() {
        let (base, skipped) = element(input, index, item).unwrap_or((base.to_owned(), 0));
        let is_unseen = symbol.is_some_and(|symbol| input.symbols.get(symbol).class == Class::Unknown)
            && !is_member
            && declared.is_none_or(|(_, decl)| referred::array(input, decl).is_none());
        if is_unseen && item.subscripts().len() > 1 {
            return Err(refused(item.span, "a section of rows of a variable whose type is not seen,"));
        }
        let section = Section::of(input, item, (base, skipped, is_member), declared)?;
        return Ok(section.address(input));
    }
    if let Some((seen, decl, derived)) =
        declared.and_then(|(seen, decl)| Some((seen, decl, referred::array(input, decl)?)))
    {
        return Ok(whole(input, seen, base, &Decl { derived, ..decl.clone() }));
    }
    let is_array = symbol.is_some_and(|symbol| input.symbols.get(symbol).class == Class::Array);
    match declared.filter(|(_, decl)| is_array || has_length(decl)) {
        Some((seen, decl)) if base != "this" => Ok(whole(input, seen, base, decl)),
        _ => Ok(object(input, base)),
    }
}

/// Whether C++ takes no address of a variable as one of bytes: it is `volatile`.
pub fn is_volatile(input: &Input, seen: Seen, decl: &Decl) -> bool {
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    !input.is_c && words(&head).contains(&"volatile")
}

/// The memory of a scalar or a struct, or of what `this` leads to.
fn object(input: &Input, base: &str) -> Address {
    let (from, bytes) = match base {
        "this" => (base.to_owned(), "sizeof *this".to_owned()),
        _ => (address_of(input, base), format!("sizeof {}", operand(base))),
    };
    Address { from, count: "1".to_owned(), bytes, at_start: true }
}

/// A part of an array, or of what pointers lead to.
struct Section {
    base: String,
    /// The base is a member of something.
    is_member: bool,
    extents: Vec<Extent>,
    /// How many dimensions the array has.
    dimensions: usize,
}

/// What a section takes of one dimension.
struct Extent {
    first: String,
    length: String,
    /// It is all of what the declaration says.
    is_full: bool,
}

impl Extent {
    fn last(&self) -> String {
        match self.first.as_str() {
            "0" => format!("{} - 1", operand(&self.length)),
            first => format!("{} + {} - 1", operand(first), operand(&self.length)),
        }
    }
}

impl Section {
    /// `skipped`: how many of the subscripts the base has.
    fn of(
        input: &Input,
        item: &ListItem,
        (base, skipped, is_member): (String, usize, bool),
        declared: Option<(Seen, &Decl)>,
    ) -> Result<Section, Refused> {
        let sizes: Vec<Option<String>> = declared.map(|(seen, decl)| sizes(seen, decl)).unwrap_or_default();
        let mut extents = Vec::new();
        for (at, subscript) in item.subscripts().into_iter().enumerate().skip(skipped) {
            let size = sizes.get(at).cloned().flatten();
            let (first, length) = bounds(subscript);
            let known = || input.plan.section(item.span).and_then(|section| section.sizes[at]);
            let length = match (length, &size) {
                (Some(length), _) => length,
                (None, Some(size)) if first == "0" => size.clone(),
                (None, Some(size)) => format!("{} - {}", operand(size), operand(&first)),
                (None, None) => {
                    let size = known().ok_or_else(|| refused(item.span, "a section without a length"))?;
                    if first == "0" { size.to_string() } else { format!("{size} - {}", operand(&first)) }
                }
            };
            let is_full = first == "0" && size.is_some_and(|size| size == length);
            extents.push(Extent { first, length, is_full });
        }
        let is_dimension = |part: &&Derived| matches!(part, Derived::Array(_) | Derived::Pointer);
        let dimensions = declared.map_or(0, |(_, decl)| decl.derived.iter().filter(is_dimension).count());
        let dimensions = dimensions.saturating_sub(skipped).max(extents.len());
        Ok(Section { base, is_member, extents, dimensions })
    }

    fn address(&self, input: &Input) -> Address {
        let at_start = self.extents.iter().all(|extent| extent.first == "0");
        let (count, bytes) = self.size(input);
        let from = match at_start && (self.dimensions == 1 || !self.is_member) {
            true => self.base.clone(),
            false => address_of(input, &self.element_at(|extent| extent.first.clone())),
        };
        Address { from, count, bytes, at_start }
    }

    /// The length in elements and in bytes.
    fn size(&self, input: &Input) -> (String, String) {
        let element = self.element_at(|_| "0".to_owned());
        let outer = format!("{}[0]", self.base);
        let length = self.extents.first().map_or("", |extent| extent.length.as_str());
        let (is_row, length_in_product) = (self.dimensions == 1, operand(length));
        if is_row {
            return (length.to_owned(), format!("{length_in_product} * sizeof {outer}"));
        }
        if self.extents.iter().skip(1).all(|extent| extent.is_full) {
            let count = format!("{length_in_product} * (sizeof {outer} / sizeof {element})");
            return (count, format!("{length_in_product} * sizeof {outer}"));
        }
        let first = self.element_at(|extent| extent.first.clone());
        let last = self.element_at(Extent::last);
        let count = format!("{} - {} + 1", address_of(input, &last), address_of(input, &first));
        (count.clone(), format!("({count}) * sizeof {element}"))
    }

    /// An element: by these indices in the dimensions of the section, the first one in those that are omitted.
    fn element_at(&self, index: impl Fn(&Extent) -> String) -> String {
        let indices: String = self.extents.iter().map(|extent| format!("[{}]", index(extent))).collect();
        format!("{}{indices}{}", self.base, "[0]".repeat(self.dimensions - self.extents.len()))
    }
}

/// The sizes of the dimensions of a variable, where they are declared.
fn sizes(seen: Seen, decl: &Decl) -> Vec<Option<String>> {
    let size = |part: &Derived| match part {
        Derived::Array(Some(size)) => Some(seen.text(*size)),
        _ => None,
    };
    decl.derived.iter().map(size).collect()
}

/// First element and length of one dimension.
fn bounds(subscript: &Subscript) -> (String, Option<String>) {
    let text = |expr: &Expr| expr.text.trim().to_owned();
    match subscript {
        Subscript::Index(expr) => (text(expr), Some("1".to_owned())),
        Subscript::Range { first, second, .. } => {
            (first.as_ref().map_or("0".to_owned(), text), second.as_ref().map(text))
        }
    }
}

/// An item whose memory may not be one piece: the heads of the loops over its pieces, outermost first, and the item that is a
/// piece in the innermost one.
pub fn pieces(input: &Input, item: &ListItem) -> Result<(Vec<String>, ListItem), Refused> {
    let Some(section) = input.plan.section(item.span) else { return Ok((Vec::new(), item.clone())) };
    let looped = section.loops();
    let mut piece = item.clone();
    let mut heads = Vec::new();
    let first = piece.parts.len() - section.extents.len().min(piece.parts.len());
    for at in looped {
        let Some(PathStep::Section(subscripts)) = piece.parts.get_mut(first + at) else { continue };
        let [subscript] = subscripts.as_mut_slice() else { continue };
        let (begin, length) = bounds(subscript);
        let end = match (length, section.sizes[at]) {
            (Some(length), _) if begin == "0" => summand(&length),
            (Some(length), _) => format!("{} + {}", summand(&begin), summand(&length)),
            (None, Some(size)) => size.to_string(),
            (None, None) => return Err(refused(item.span, "a section without a length")),
        };
        let variable = format!("acc_row{}", at + 1);
        heads.push(format!("for (long {variable} = {begin}; {variable} < {end}; {variable}++) {{"));
        *subscript = Subscript::Index(Expr { text: variable, span: item.span });
    }
    Ok((heads, piece))
}

/// Rows of a pointer to pointers: the address of the pointers and how many there are, and the bounds of each row.
pub fn rows(input: &Input, index: usize, item: &ListItem) -> Option<Rows> {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place)?;
    if !crate::plan::is_rows(item, input.symbols.get(symbol)) {
        return None;
    }
    let sections = item.subscripts();
    let [outer, inner] = sections.as_slice() else { return None };
    let (first, count) = bounds(outer);
    let (from, length) = bounds(inner);
    Some(Rows { name: item.base.text.clone(), first, count: count?, from, length: length? })
}

/// Rows of a pointer to pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    pub name: String,
    pub first: String,
    pub count: String,
    pub from: String,
    pub length: String,
}

impl Rows {
    /// The address of the first pointer.
    pub fn start(&self) -> String {
        let Rows { name, first, .. } = self;
        if first == "0" { name.clone() } else { format!("&{name}[{first}]") }
    }

    /// The address of what is meant of each row, in the loop over them.
    pub fn row(&self) -> String {
        let Rows { name, from, .. } = self;
        if from == "0" { format!("{name}[acc_row]") } else { format!("&{name}[acc_row][{from}]") }
    }

    /// The head of a loop over them.
    pub fn head(&self) -> String {
        let Rows { first, count, .. } = self;
        let end = match first.as_str() {
            "0" => summand(count),
            first => format!("{} + {}", summand(first), summand(count)),
        };
        format!("for (long acc_row = {first}; acc_row < {end}; acc_row++) {{")
    }
}
