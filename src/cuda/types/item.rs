//! Where the memory is that a list item names, as expressions of the host language (OpenACC 3.3, 2.7.1).
//!
//! Invariant: an expression means the same wherever in the function it is put, as long as the variables in it keep their values.

use crate::acc::ast::{Expr, ListItem, Part, Subscript};
use crate::host::ir::{Decl, DeclKind, Derived};
use crate::sema::{Class, Symbol, SymbolKind};
use crate::source::Span;

use super::referred;
use crate::cuda::code::text::{operand, summand};
use crate::cuda::program::{Input, Refused, refused};

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

/// All of a variable that is no pointer.
pub fn whole(input: &Input, name: &str, decl: &Decl) -> Address {
    let arrays = decl.derived.iter().filter(|part| matches!(part, Derived::Array(_))).count();
    if arrays == 0 {
        return Address {
            from: format!("&{name}"),
            count: "1".to_owned(),
            bytes: format!("sizeof {name}"),
            at_start: true,
        };
    }
    let element = format!("{name}{}", "[0]".repeat(arrays));
    // To `sizeof`, a parameter is a pointer, but for a reference.
    let before = input.file().text(Span { start: decl.span.start, end: decl.name_span.start });
    if let (DeclKind::Parameter, Some(Derived::Array(Some(size)))) = (decl.kind, decl.derived.first())
        && !before.trim_end().ends_with('&')
    {
        let length = operand(&input.source.text(*size));
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

/// The expression of a pointer that the item's memory is reached by, if that pointer is a part of something else: `s->p` of
/// `s->p[0:n]`, and a member `p` of the object.
pub fn pointer(input: &Input, index: usize, item: &ListItem) -> Option<String> {
    let symbol = input.symbols.lookup(&item.base.text, input.bound[index].directive.span.start);
    let known = symbol.map(|symbol| input.symbols.get(symbol));
    let is_member = |known: &Symbol| known.kind == SymbolKind::Member && known.class == Class::Pointer;
    if known.is_some_and(is_member) && !item.subscripts().is_empty() && item.variable() == item.base.text {
        return Some(item.base.text.clone());
    }
    let last = item.parts.iter().rposition(|part| matches!(part, Part::Member(_)))?;
    let behind = item.parts.get(last + 1..)?;
    if behind.is_empty() {
        return None;
    }
    let Part::Member(member) = item.parts.get(last)? else { return None };
    // What is in an array that is a member is a part of the object.
    let is_array = input.symbols.member(&member.text).is_some_and(|known| known.shape.first() == Some(&true));
    (!is_array).then(|| item.head().to_owned())
}

/// The memory of a list item.
pub fn address(input: &Input, index: usize, item: &ListItem) -> Result<Address, Refused> {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place);
    let has_members = item.parts.iter().any(|part| matches!(part, Part::Member(_)));
    let decl = symbol.filter(|_| !has_members).and_then(|symbol| input.declaration(symbol));
    let depth = item.subscripts().len();
    let pointers_inside = decl.is_some_and(|(_, decl)| {
        decl.derived.iter().take(depth).skip(1).any(|part| matches!(part, Derived::Pointer))
    });
    if pointers_inside {
        return Err(refused(item.span, "rows behind pointers"));
    }
    piece(input, index, item)
}

/// The memory of a list item that is one piece, perhaps behind several pointers.
pub fn piece(input: &Input, index: usize, item: &ListItem) -> Result<Address, Refused> {
    let place = input.bound[index].directive.span.start;
    let symbol = input.symbols.lookup(&item.base.text, place);
    let known = symbol.map(|symbol| input.symbols.get(symbol));
    let class = known.map_or(Class::Unknown, |known| known.class);
    let last_member = item.parts.iter().rposition(|part| matches!(part, Part::Member(_)));
    let sections: Vec<&Subscript> = item.subscripts();
    let base = match last_member {
        Some(_) => item.head(),
        None => item.base.text.as_str(),
    };
    if sections.is_empty() && base == "this" {
        return Ok(Address {
            from: base.to_owned(),
            count: "1".to_owned(),
            bytes: "sizeof *this".to_owned(),
            at_start: true,
        });
    }
    if sections.is_empty() {
        if last_member.is_none() {
            let decl = symbol.and_then(|symbol| input.declaration(symbol)).map(|(_, decl)| decl);
            if let Some(decl) = decl.filter(|decl| class == Class::Array || has_length(decl)) {
                return Ok(whole(input, base, decl));
            }
            if let Some((decl, derived)) = decl.and_then(|decl| Some((decl, referred::array(input, decl)?))) {
                return Ok(whole(input, base, &Decl { derived, ..decl.clone() }));
            }
        }
        return Ok(Address {
            from: format!("&{base}"),
            count: "1".to_owned(),
            bytes: format!("sizeof {}", operand(base)),
            at_start: true,
        });
    }
    // The sizes of the dimensions, if they are declared.
    let decl = symbol.filter(|_| last_member.is_none()).and_then(|symbol| input.declaration(symbol));
    let declared: Vec<Option<String>> = match decl {
        Some((seen, decl)) => {
            let size = |part: &Derived| match part {
                Derived::Array(Some(size)) => Some(seen.text(*size)),
                _ => None,
            };
            decl.derived.iter().map(size).collect()
        }
        None => Vec::new(),
    };
    let depth = sections.len();
    let total = match decl {
        Some((_, decl)) => decl
            .derived
            .iter()
            .filter(|part| matches!(part, Derived::Array(_) | Derived::Pointer))
            .count()
            .max(depth),
        None => depth,
    };
    let mut from = base.to_owned();
    let mut end = base.to_owned();
    let mut product: Vec<String> = Vec::new();
    let mut dense = true;
    let mut at_start = true;
    for (at, subscript) in sections.iter().enumerate() {
        let (first, length) = bounds(subscript);
        let declared = declared.get(at).cloned().flatten();
        let length = match (length, &declared) {
            (Some(length), _) => length,
            (None, Some(size)) if first == "0" => size.clone(),
            (None, Some(size)) => format!("{} - {}", operand(size), operand(&first)),
            (None, None) => {
                let known = input.plan.section(item.span).and_then(|section| section.sizes[at]);
                let size = known.ok_or_else(|| refused(item.span, "a section without a length"))?;
                if first == "0" { size.to_string() } else { format!("{size} - {}", operand(&first)) }
            }
        };
        if at > 0 {
            let full = first == "0" && declared.as_deref().is_some_and(|size| size == length);
            dense &= full;
        }
        at_start &= first == "0";
        from += &format!("[{first}]");
        let last = if first == "0" {
            format!("{} - 1", operand(&length))
        } else {
            format!("{} + {} - 1", operand(&first), operand(&length))
        };
        end += &format!("[{last}]");
        product.push(length);
    }
    let rest = "[0]".repeat(total - depth);
    let element = format!("{base}{}{rest}", "[0]".repeat(depth));
    let outer = format!("{base}[0]");
    let (count, bytes) = if depth == 1 && total == 1 {
        let length = product.first().cloned().unwrap_or_default();
        (length.clone(), format!("{} * sizeof {outer}", operand(&length)))
    } else if dense {
        let length = operand(product.first().map_or("", String::as_str));
        (format!("{length} * (sizeof {outer} / sizeof {element})"), format!("{length} * sizeof {outer}"))
    } else {
        let count = format!("&{end}{rest} - &{from}{rest} + 1");
        (count.clone(), format!("({count}) * sizeof {element}"))
    };
    let from = match (at_start, total) {
        (true, 1) => base.to_owned(),
        (true, _) if last_member.is_none() => base.to_owned(),
        _ => format!("&{from}{rest}"),
    };
    Ok(Address { from, count, bytes, at_start })
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
        let Some(Part::Section(subscripts)) = piece.parts.get_mut(first + at) else { continue };
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

/// Rows behind a pointer to pointers: the address of the pointers and how many there are, and the bounds of each row.
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

/// Rows behind a pointer to pointers.
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
