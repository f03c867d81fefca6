//! The variables of directives in Fortran: where their elements are, and under which conditions there are any.
//!
//! Invariant: of a variable only elements that lie side by side are one piece, and none is named that it does not have.

use crate::acc::ast::{Expr, ListItem, Part, Subscript};
use crate::host::ir::Attributes;
use crate::sema::{Class, Component, Symbol, SymbolId, SymbolKind, type_of_letter};

use super::Input;
use super::variables::Variable;

/// Arrays have at most so many dimensions.
const RANK: usize = 15;

/// What only Fortran says of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fortran {
    /// The kind of its elements: `f` real, `c` complex, `i` integer, `u` logical.
    pub kind: char,
    /// All of it, as `storage_size` takes it.
    pub whole: String,
    /// The element behind the first one of a piece.
    pub next: String,
    /// The bounds of each dimension that is run through, outermost first, with its number.
    pub loops: Vec<(usize, String, String)>,
    /// What must be so for there to be elements: each is asked only if those before it are.
    pub guards: Vec<String>,
    /// As `guards`, for all of it.
    pub is_there: Vec<String>,
}

/// The variable that counts the elements of a dimension.
pub fn counter(dimension: usize) -> String {
    format!("acc2omp_pin_{dimension}")
}

/// A scalar.
pub fn scalar(input: &Input, symbol: SymbolId) -> Option<Variable> {
    let known = input.symbols.get(symbol);
    let kind = kind(input, known).filter(|_| known.shape.is_empty())?;
    let name = known.spelled(input.file);
    Some(of_scalar(name, kind, guards(known)))
}

fn of_scalar(name: String, kind: char, guards: Vec<String>) -> Variable {
    let fortran = Fortran {
        kind,
        whole: name.clone(),
        next: name.clone(),
        is_there: guards.clone(),
        guards,
        ..Fortran::default()
    };
    Variable {
        first: name.clone(),
        name,
        count: "1_acc2omp_pin_k".to_owned(),
        is_scalar: true,
        is_changed: true,
        is_listed: true,
        fortran,
        ..Variable::default()
    }
}

/// All of an array.
pub fn whole(input: &Input, symbol: SymbolId) -> Option<Variable> {
    let known = input.symbols.get(symbol);
    let is_open = known.fortran.assumed_size || known.fortran.assumed_rank || known.fortran.procedure;
    let kind = kind(input, known).filter(|_| !is_open)?;
    let is_parted = is_parted(&known.fortran) || known.is_reference && known.kind != SymbolKind::Parameter;
    let name = known.spelled(input.file);
    of_array(&name, (kind, known.shape.len()), is_parted, guards(known))
}

fn of_array(
    name: &str,
    (kind, rank): (char, usize),
    is_parted: bool,
    guards: Vec<String>,
) -> Option<Variable> {
    if rank == 0 || rank > RANK {
        return None;
    }
    if is_parted {
        let all = (1..=rank).map(|at| bounds(name, at)).collect();
        return Some(section(name, name.to_owned(), kind, all, guards));
    }
    let subscripts: Vec<String> = (1..=rank).map(|at| format!("lbound({name}, {at})")).collect();
    let first = format!("{name}({})", subscripts.join(", "));
    let mut with_size = guards.clone();
    with_size.push(format!("size({name}, kind=acc2omp_pin_k) > 0"));
    let fortran = Fortran {
        kind,
        whole: name.to_owned(),
        next: first.clone(),
        loops: Vec::new(),
        guards: with_size,
        is_there: guards,
    };
    Some(Variable {
        name: name.to_owned(),
        first,
        count: format!("size({name}, kind=acc2omp_pin_k)"),
        is_changed: true,
        is_listed: true,
        fortran,
        ..Variable::default()
    })
}

fn bounds(name: &str, dimension: usize) -> (String, String) {
    (format!("lbound({name}, {dimension})"), format!("ubound({name}, {dimension})"))
}

/// The elements between these bounds.
fn section(
    head: &str,
    name: String,
    kind: char,
    bounds: Vec<(String, String)>,
    guards: Vec<String>,
) -> Variable {
    let long = |bound: &String| format!("int({bound}, acc2omp_pin_k)");
    let (lower, upper) = &bounds[0];
    let (start, end) = (long(lower), long(upper));
    let element = |first: &str| {
        let others = (2..=bounds.len()).map(counter);
        let subscripts: Vec<String> = std::iter::once(first.to_owned()).chain(others).collect();
        format!("{head}({})", subscripts.join(", "))
    };
    let loops = bounds.iter().enumerate().skip(1).rev();
    let loops = loops.map(|(at, (lower, upper))| (at + 1, long(lower), long(upper))).collect();
    let mut with_size = guards.clone();
    with_size.push(format!("{end} >= {start}"));
    let fortran = Fortran {
        kind,
        whole: head.to_owned(),
        next: element(&format!("min({start} + 1, {end})")),
        loops,
        guards: with_size,
        is_there: guards,
    };
    Variable {
        name,
        first: element(lower),
        count: format!("{end} - {start} + 1"),
        is_changed: true,
        is_listed: true,
        fortran,
        ..Variable::default()
    }
}

/// The components of an object that hold numbers and lie in it, and the names of others.
pub fn components(input: &Input, symbol: SymbolId) -> (Vec<Variable>, Vec<String>) {
    let known = input.symbols.get(symbol);
    let is_variable = !matches!(known.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant);
    let Some(record) = known.record.as_deref().filter(|_| is_variable && known.shape.is_empty()) else {
        return (Vec::new(), Vec::new());
    };
    let name = known.spelled(input.file);
    let all = input.symbols.all_components(record);
    let variable = |(own, component): (&str, &Component)| {
        let kind = component.intrinsic.as_deref().and_then(of_word)?;
        let head = format!("{name}%{own}");
        match component.rank {
            _ if component.is_pointer || component.is_allocatable => None,
            0 => Some(Variable { is_scalar: false, ..of_scalar(head, kind, guards(known)) }),
            rank => of_array(&head, (kind, rank), false, guards(known)),
        }
    };
    let found: Vec<_> =
        all.iter().map(|one| variable(*one).ok_or_else(|| format!("{name}%{}", one.0))).collect();
    let unknown = found.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
    (found.into_iter().flatten().collect(), unknown)
}

/// A list item, if it is known how long it is.
pub fn of_item(input: &Input, place: u32, item: &ListItem) -> Option<Variable> {
    let symbol = input.symbols.lookup(item.variable(), place).filter(|_| !item.common)?;
    let known = input.symbols.get(symbol);
    if item.parts.is_empty() {
        return if known.class == Class::Array { whole(input, symbol) } else { scalar(input, symbol) };
    }
    let object = object(input, known, item)?;
    let subscripts = item.subscripts();
    if subscripts.is_empty() {
        return match object.rank {
            0 => Some(of_scalar(object.head, object.kind, object.guards)),
            rank => of_array(&object.head, (object.kind, rank), object.is_parted, object.guards),
        };
    }
    if subscripts.len() != object.rank || object.rank > RANK {
        return None;
    }
    let text = |expr: &Expr| expr.text.trim().to_owned();
    let mut all = Vec::new();
    for (at, subscript) in subscripts.iter().enumerate() {
        let (lower, upper) = bounds(&object.head, at + 1);
        let is_last = at + 1 == object.rank;
        all.push(match subscript {
            Subscript::Index(expr) => (text(expr), text(expr)),
            Subscript::Range { second: None, .. } if is_last && object.is_open => return None,
            Subscript::Range { first, second, stride: None } => {
                (first.as_ref().map_or(lower, text), second.as_ref().map_or(upper, text))
            }
            Subscript::Range { .. } => return None,
        });
    }
    Some(section(&object.head, item.text.clone(), object.kind, all, object.guards))
}

/// A variable or a component.
struct Object {
    head: String,
    kind: char,
    rank: usize,
    is_parted: bool,
    is_open: bool,
    guards: Vec<String>,
}

/// What a list item with parts names, without the subscripts at its end.
fn object(input: &Input, known: &Symbol, item: &ListItem) -> Option<Object> {
    let head = match item.parts.last() {
        Some(Part::Section(_)) => without_subscripts(&item.text)?,
        _ => item.text.trim(),
    };
    let members = item.parts.iter().filter_map(|part| match part {
        Part::Member(name) => Some(name.text.as_str()),
        Part::Section(_) => None,
    });
    let members: Vec<&str> = members.collect();
    let mut guards = guards(known);
    if members.is_empty() {
        return Some(Object {
            head: head.to_owned(),
            kind: kind(input, known)?,
            rank: known.shape.len(),
            is_parted: is_parted(&known.fortran),
            is_open: known.fortran.assumed_size,
            guards,
        });
    }
    // A component of an array of a type is no array that we know.
    let inner =
        &item.parts[..item.parts.len() - usize::from(matches!(item.parts.last(), Some(Part::Section(_))))];
    let is_element = |part: &Part| match part {
        Part::Member(_) => true,
        Part::Section(all) => all.iter().all(|one| matches!(one, Subscript::Index(_))),
    };
    let is_indexed = matches!(item.parts.first(), Some(Part::Section(_)));
    if !inner.iter().all(is_element) || is_indexed == known.shape.is_empty() {
        return None;
    }
    let component = input.symbols.component_at(known.record.as_deref(), &members)?;
    let kind = component.intrinsic.as_deref().and_then(of_word)?;
    if component.is_allocatable {
        guards.push(format!("allocated({head})"));
    }
    if component.is_pointer {
        guards.push(format!("associated({head})"));
    }
    Some(Object {
        head: head.to_owned(),
        kind,
        rank: component.rank,
        is_parted: component.is_pointer && !component.is_contiguous,
        is_open: false,
        guards,
    })
}

/// A text without the parentheses at its end.
fn without_subscripts(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let mut depth = 0usize;
    for (at, char) in text.char_indices().rev() {
        match char {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (char == '(').then(|| text[..at].trim_end());
        }
    }
    None
}

/// Whether elements of an array may lie apart.
fn is_parted(attributes: &Attributes) -> bool {
    (attributes.assumed_shape || attributes.pointer) && !attributes.contiguous
}

/// What must be so for a variable to be there.
fn guards(known: &Symbol) -> Vec<String> {
    let Symbol { name, fortran, .. } = known;
    let all =
        [(fortran.optional, "present"), (fortran.allocatable, "allocated"), (fortran.pointer, "associated")];
    all.iter().filter(|(is, _)| *is).map(|(_, asks)| format!("{asks}({name})")).collect()
}

/// The kind of a variable's elements, if its type is an intrinsic one that holds numbers.
fn kind(input: &Input, known: &Symbol) -> Option<char> {
    let is_variable = !matches!(known.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant);
    let is_plain = matches!(known.class, Class::Scalar | Class::Array) && is_variable && !known.is_const;
    match &known.intrinsic {
        _ if !is_plain || known.record.is_some() => None,
        Some(word) => of_word(word),
        None => {
            let place = known.decl.map_or(known.scope.start, |decl| input.unit.decl(decl).span.start);
            let scope = input.unit.scope_at(place)?;
            of_word(type_of_letter(input.unit, scope, &known.name)?)
        }
    }
}

fn of_word(word: &str) -> Option<char> {
    match word {
        "real" | "double precision" => Some('f'),
        "complex" => Some('c'),
        "integer" => Some('i'),
        "logical" => Some('u'),
        _ => None,
    }
}
