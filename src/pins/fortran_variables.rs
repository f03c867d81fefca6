//! The variables of directives in Fortran: where their elements are, and under which conditions there are any.
//!
//! Invariant: of a variable only elements that lie side by side are one piece, and none is named that it does not have.

use crate::acc::ast::{Expr, ListItem, PathStep, Subscript};
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
    /// The element after the first one of a piece.
    pub next: String,
    /// The bounds of each dimension that is run through, outermost first, with its number.
    pub loops: Vec<(usize, String, String)>,
    /// What must be so for there to be elements: each is asked only if those before it are.
    pub guards: Vec<String>,
    /// As `guards`, for all of it.
    pub is_there: Vec<String>,
    /// The array of objects that it is a component of, if those can be moved as they are: an `update` names all of it.
    pub objects: Option<String>,
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
        objects: None,
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
    let element = |subscripts: &[String]| format!("{head}({})", subscripts.join(", "));
    section_of(&element, (head.to_owned(), name), kind, &bounds, guards)
}

/// The elements between these bounds, each of which has a text; all of them, or one of their size, have another.
fn section_of(
    text: &dyn Fn(&[String]) -> String,
    (whole, name): (String, String),
    kind: char,
    bounds: &[(String, String)],
    guards: Vec<String>,
) -> Variable {
    let long = |bound: &String| format!("int({bound}, acc2omp_pin_k)");
    let (lower, upper) = &bounds[0];
    let (start, end) = (long(lower), long(upper));
    let element = |first: &str| {
        let others = (2..=bounds.len()).map(counter);
        text(&std::iter::once(first.to_owned()).chain(others).collect::<Vec<_>>())
    };
    let loops = bounds.iter().enumerate().skip(1).rev();
    let loops = loops.map(|(at, (lower, upper))| (at + 1, long(lower), long(upper))).collect();
    let mut with_size = guards.clone();
    with_size.push(format!("{end} >= {start}"));
    let fortran = Fortran {
        kind,
        whole,
        next: element(&format!("min({start} + 1, {end})")),
        loops,
        guards: with_size,
        is_there: guards,
        objects: None,
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

/// The components of an object, or of the objects of an array, that hold numbers and lie in it, and the names of others.
pub fn components(input: &Input, symbol: SymbolId) -> (Vec<Variable>, Vec<String>) {
    let known = input.symbols.get(symbol);
    let name = known.spelled(input.file);
    let is_open = known.fortran.assumed_size || known.fortran.assumed_rank;
    match known.shape.len() {
        0 => of_objects(input, known, &name, &[]),
        rank if is_open || rank > RANK => (Vec::new(), Vec::new()),
        rank => {
            let all: Vec<_> = (1..=rank).map(|at| bounds(&name, at)).collect();
            of_objects(input, known, &name, &all)
        }
    }
}

/// The components of the objects of an array between the bounds that a list item says.
pub fn components_of_section(input: &Input, symbol: SymbolId, item: &ListItem) -> Vec<Variable> {
    let known = input.symbols.get(symbol);
    let name = known.spelled(input.file);
    let Some(all) = item_bounds(&name, &item.subscripts(), (known.shape.len(), known.fortran.assumed_size))
    else {
        return Vec::new();
    };
    of_objects(input, known, item.text.trim(), &all).0
}

/// The components of an object, or of those of an array between these bounds.
fn of_objects(
    input: &Input,
    known: &Symbol,
    said: &str,
    outer: &[(String, String)],
) -> (Vec<Variable>, Vec<String>) {
    let is_variable = !matches!(known.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant);
    let Some(record) = known.record.as_deref().filter(|_| is_variable) else {
        return (Vec::new(), Vec::new());
    };
    let name = known.spelled(input.file);
    let all = input.symbols.all_components(record);
    let is_movable = !all.iter().any(|(_, one)| one.is_pointer || one.is_allocatable || one.record.is_some());
    let variable = |(own, component): (&str, &Component)| {
        let kind = component.intrinsic.as_deref().and_then(of_word)?;
        let said = format!("{said}%{own}");
        match component.rank {
            _ if component.is_pointer || component.is_allocatable => None,
            0 if outer.is_empty() => {
                Some(Variable { is_scalar: false, ..of_scalar(said, kind, guards(known)) })
            }
            rank if outer.is_empty() => of_array(&said, (kind, rank), false, guards(known)),
            rank if rank + outer.len() > RANK => None,
            rank => {
                let mut each = of_each(&name, (own, rank), said, kind, outer, guards(known));
                each.fortran.objects = is_movable.then(|| name.clone());
                each.fortran.is_there = guards(known);
                each.is_listed = is_movable;
                Some(each)
            }
        }
    };
    let found: Vec<_> =
        all.iter().map(|one| variable(*one).ok_or_else(|| format!("{name}%{}", one.0))).collect();
    let unknown = found.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
    (found.into_iter().flatten().collect(), unknown)
}

/// A component of the objects of an array between these bounds; its own dimensions are run through first.
fn of_each(
    name: &str,
    (own, rank): (&str, usize),
    said: String,
    kind: char,
    outer: &[(String, String)],
    mut guards: Vec<String>,
) -> Variable {
    let firsts: Vec<&str> = outer.iter().map(|(lower, _)| lower.as_str()).collect();
    let first = format!("{name}({})%{own}", firsts.join(", "));
    let all: Vec<_> = (1..=rank).map(|at| bounds(&first, at)).chain(outer.iter().cloned()).collect();
    let text = |subscripts: &[String]| {
        let (inner, outer) = subscripts.split_at(rank);
        let object = format!("{name}({})%{own}", outer.join(", "));
        if inner.is_empty() { object } else { format!("{object}({})", inner.join(", ")) }
    };
    guards.push(format!("size({name}, kind=acc2omp_pin_k) > 0"));
    section_of(&text, (first.clone(), said), kind, &all, guards)
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
    let all = item_bounds(&object.head, &subscripts, (object.rank, object.is_open))?;
    Some(section(&object.head, item.text.clone(), object.kind, all, object.guards))
}

/// The bounds that subscripts say of an array of this rank, which may have no end.
fn item_bounds(
    head: &str,
    subscripts: &[&Subscript],
    (rank, is_open): (usize, bool),
) -> Option<Vec<(String, String)>> {
    if subscripts.len() != rank || rank == 0 || rank > RANK {
        return None;
    }
    let text = |expr: &Expr| expr.text.trim().to_owned();
    let bounds_of = |(at, subscript): (usize, &&Subscript)| {
        let (lower, upper) = bounds(head, at + 1);
        match subscript {
            Subscript::Index(expr) => Some((text(expr), text(expr))),
            Subscript::Range { second: None, .. } if at + 1 == rank && is_open => None,
            Subscript::Range { first, second, stride: None } => {
                Some((first.as_ref().map_or(lower, text), second.as_ref().map_or(upper, text)))
            }
            Subscript::Range { .. } => None,
        }
    };
    subscripts.iter().enumerate().map(bounds_of).collect()
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
        Some(PathStep::Section(_)) => without_subscripts(&item.text)?,
        _ => item.text.trim(),
    };
    let members = item.parts.iter().filter_map(|part| match part {
        PathStep::Member(name) => Some(name.text.as_str()),
        PathStep::Section(_) => None,
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
    // A component of an array of a type is not an array that we know.
    let inner = &item.parts
        [..item.parts.len() - usize::from(matches!(item.parts.last(), Some(PathStep::Section(_))))];
    let is_element = |part: &PathStep| match part {
        PathStep::Member(_) => true,
        PathStep::Section(all) => all.iter().all(|one| matches!(one, Subscript::Index(_))),
    };
    let is_indexed = matches!(item.parts.first(), Some(PathStep::Section(_)));
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
            of_word(type_of_letter(input.unit, scope, &known.name)?.0)
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
