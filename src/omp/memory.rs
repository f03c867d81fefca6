//! The bytes of a list item, as arguments for the functions of the support header.
//!
//! Invariant: bytes are given only where they are surely those of the item.

use crate::acc::ast::{Expr, ListItem, Subscript};
use crate::sema::Class;

use super::texts::{parenthesised, without_section};

/// What stands in the holes of a row's lines.
#[derive(Debug, Default)]
pub struct Holes {
    /// `{expr}`: the item or the expression.
    pub expr: String,
    /// `{memory}`: its address and its bytes.
    pub memory: Option<String>,
    /// `{rows}`: the pointers, the first row, how many; and in each row the first byte and how many.
    pub rows: Option<String>,
}

impl Holes {
    /// Just an expression.
    pub fn text(expr: &str) -> Holes {
        Holes { expr: expr.to_owned(), ..Holes::default() }
    }

    /// A list item of class `class`, written as `expr`.
    pub fn item(expr: String, item: &ListItem, class: Class) -> Holes {
        Holes { expr, memory: memory(item, class), rows: rows(item) }
    }

    /// A line with its holes filled. `None` if nothing is known for one of them.
    pub fn fill(&self, template: &str) -> Option<String> {
        let mut line = template.replace("{expr}", &self.expr);
        for (hole, known) in [("{memory}", &self.memory), ("{rows}", &self.rows)] {
            if line.contains(hole) {
                line = line.replace(hole, known.as_ref()?);
            }
        }
        Some(line)
    }
}

/// The directive that gives allocatable variables of Fortran memory on the device, after their allocation.
pub fn allocated(names: &str, has_values: bool) -> String {
    let kind = if has_values { "to" } else { "alloc" };
    format!("!$omp target enter data map({kind}: {names})")
}

/// The directive that takes it back, before they are deallocated.
pub fn freed(names: &str) -> String {
    format!("!$omp target exit data map(delete: {names})")
}

fn is_zero(first: Option<&Expr>) -> bool {
    first.is_none_or(|first| first.text.trim() == "0")
}

/// `a, n * sizeof(a[0])` for `a[0:n]`.
fn memory(item: &ListItem, class: Class) -> Option<String> {
    let mut object = without_section(&item.text).to_owned();
    let mut dimensions = item.subscripts().into_iter().peekable();
    if dimensions.peek().is_none() {
        let has_parts = !item.parts.is_empty() || object == "this";
        return match class {
            _ if has_parts => None,
            Class::Array => Some(format!("{object}, sizeof({object})")),
            Class::Scalar | Class::Record => Some(format!("&{object}, sizeof({object})")),
            Class::Pointer | Class::Unknown => None,
        };
    }
    while let Some(Subscript::Index(index)) = dimensions.peek() {
        object += &format!("[{}]", index.text);
        dimensions.next();
    }
    let Some(Subscript::Range { first, second, stride: None }) = dimensions.next() else { return None };
    // What comes after the first range is whole: the section is contiguous.
    let is_whole = |one: &Subscript| matches!(one, Subscript::Range { first, stride: None, .. } if is_zero(first.as_ref()));
    if !dimensions.all(is_whole) {
        return None;
    }
    let start = first.as_ref().filter(|_| !is_zero(first.as_ref())).map(|first| first.text.as_str());
    let address = match start {
        Some(start) => format!("&{object}[{start}]"),
        None => object.clone(),
    };
    let bytes = match (second, start) {
        (Some(count), _) => format!("{} * sizeof({object}[0])", parenthesised(&count.text)),
        (None, _) if class != Class::Array => return None,
        (None, None) => format!("sizeof({object})"),
        (None, Some(start)) => format!("sizeof({object}) - {} * sizeof({object}[0])", parenthesised(start)),
    };
    Some(format!("{address}, {bytes}"))
}

/// `(void **)d, 0, n, 0, m * sizeof(d[0][0])` for `d[0:n][0:m]`.
fn rows(item: &ListItem) -> Option<String> {
    let object = without_section(&item.text);
    let [rows, Subscript::Range { first, second: Some(length), stride: None }] = item.subscripts()[..] else {
        return None;
    };
    let (number, count) = match rows {
        Subscript::Index(row) => (row.text.as_str(), "1"),
        Subscript::Range { first, second: Some(count), stride: None } => {
            (first.as_ref().map_or("0", |first| first.text.as_str()), count.text.as_str())
        }
        Subscript::Range { .. } => return None,
    };
    let bytes = |count: &str| format!("{} * sizeof({object}[0][0])", parenthesised(count));
    let offset = match first {
        Some(first) if !is_zero(Some(first)) => bytes(&first.text),
        _ => "0".to_owned(),
    };
    Some(format!("(void **){object}, {number}, {count}, {offset}, {}", bytes(&length.text)))
}
