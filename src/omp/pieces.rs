//! Updates of sections that are not one piece of memory: a directive for each piece, in loops over the pieces.
//!
//! Invariant: the pieces together are the section, each element once, and OpenMP moves each of them as it would move the whole.

use crate::acc::ast::{Expr, ListItem, Subscript};
use crate::plan::{Contiguity, Extent, Section};

use super::array::loop_variable;
use super::ast::{BaseLanguage, Body, Clause, Directive};
use super::texts::{opening, parenthesised, without_section};

/// How a list item is written so that each directive moves one piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The list item of a directive.
    pub item: String,
    /// The loops around it, outermost first.
    loops: Vec<Loop>,
    /// The item as it was, where the program has to find out whether it is one piece.
    checked: Option<String>,
    /// What the item is a name of, which an `associate` block gives it: of part of a variable that `declare target` gives its
    /// place, flang 22 moves as many elements from the first one of the variable on.
    selector: Option<String>,
}

/// The name of a piece.
const NAME: &str = "acc2omp_part";

/// A loop over the values of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loop {
    /// The number of the dimension, from zero.
    dimension: usize,
    head: String,
}

/// A clause that a directive of its own says, for each piece.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The pieces.
    pub pieces: Pieces,
    /// The clause about one piece.
    pub clause: Clause,
}

impl Pieces {
    /// The pieces of an item with this section.
    pub fn of(item: &ListItem, section: &Section, speech: BaseLanguage) -> Pieces {
        let contiguity = section.contiguity();
        let piece = section.piece();
        let looped = section.loops();
        let subscripts = item.subscripts();
        let mut loops: Vec<Loop> = Vec::new();
        let mut texts = Vec::new();
        let object = object(item, speech);
        for (at, subscript) in subscripts.iter().enumerate() {
            let row = Row { object, at, size: section.sizes[at] };
            if looped.contains(&at) {
                let head = match speech {
                    BaseLanguage::C => row.c_head(subscript),
                    BaseLanguage::Fortran => row.fortran_head(subscript),
                };
                loops.push(Loop { dimension: at, head });
                texts.push(loop_variable(at));
            } else {
                texts.push(row.text(subscript, speech, section.is_row(at)));
            }
        }
        let item_text = match speech {
            BaseLanguage::C => {
                // What comes after the piece's slowest dimension is whole, and so may that dimension be.
                let is_all = |at: usize| section.extents[at] == Extent::Whole;
                let kept = piece.map_or(texts.len(), |piece| piece + usize::from(!is_all(piece)));
                let is_row = (0..texts.len()).any(|at| section.is_row(at));
                let is_open =
                    subscripts.iter().any(|one| matches!(one, Subscript::Range { second: None, .. }));
                let kept = if loops.is_empty() && is_row && !is_open { texts.len() } else { kept };
                texts.iter().take(kept).fold(object.to_owned(), |text, one| format!("{text}[{one}]"))
            }
            BaseLanguage::Fortran => {
                // The first dimension is the fastest.
                loops.reverse();
                let is_element = section.extents.first() != Some(&Extent::One) && piece.is_none();
                if let Some(first) = texts.first_mut().filter(|_| is_element && section.has_descriptor) {
                    *first = format!("{first}:{first}");
                }
                format!("{object}({})", texts.join(", "))
            }
        };
        let is_checked = speech == BaseLanguage::Fortran && contiguity == Contiguity::Unknown;
        let checked = is_checked.then(|| item.text.clone());
        Pieces { item: item_text, loops, checked, selector: None }
    }

    /// An item that one directive can move.
    pub fn plain(item: &ListItem) -> Pieces {
        Pieces { item: item.text.clone(), loops: Vec::new(), checked: None, selector: None }
    }

    /// The same pieces, which the directives know by another name.
    pub fn named(self) -> Pieces {
        Pieces { item: NAME.to_owned(), selector: Some(self.item), ..self }
    }

    /// Whether one directive can move it without a loop.
    pub fn is_one(&self) -> bool {
        self.loops.is_empty() && self.selector.is_none()
    }
}

/// An item's text without the subscripts after its last member.
fn object(item: &ListItem, speech: BaseLanguage) -> &str {
    match speech {
        BaseLanguage::C => without_section(&item.text),
        BaseLanguage::Fortran => {
            let end = item.text.trim_end().strip_suffix(')');
            let open = end.and_then(|inner| opening(inner, ['(', ')']));
            open.map_or(item.text.as_str(), |at| item.text[..at].trim_end())
        }
    }
}

/// A dimension of an object.
struct Row<'a> {
    object: &'a str,
    /// Its number, from zero.
    at: usize,
    size: Option<i64>,
}

impl Row<'_> {
    /// The number of its elements, in C.
    fn size(&self) -> String {
        let array = format!("{}{}", self.object, "[0]".repeat(self.at));
        self.size
            .map_or_else(|| format!("(long)(sizeof({array}) / sizeof({array}[0]))"), |size| size.to_string())
    }

    /// A subscript as it was written; in C with the length, and as an element on request.
    fn text(&self, subscript: &Subscript, speech: BaseLanguage, as_element: bool) -> String {
        let bound = |bound: &Option<Expr>| bound.as_ref().map_or("", |bound| bound.text.as_str()).to_owned();
        match subscript {
            Subscript::Index(index) => index.text.clone(),
            Subscript::Range { first, .. } if as_element && speech == BaseLanguage::C => {
                first.as_ref().map_or_else(|| "0".to_owned(), |first| first.text.clone())
            }
            Subscript::Range { first, second: None, .. } if speech == BaseLanguage::C => {
                format!("{}:{}", bound(first), less(&self.size(), &bound(first)))
            }
            Subscript::Range { first, second, stride: None } => format!("{}:{}", bound(first), bound(second)),
            Subscript::Range { first, second, stride } => {
                format!("{}:{}:{}", bound(first), bound(second), bound(stride))
            }
        }
    }

    /// The head of a loop over `first : length`.
    fn c_head(&self, subscript: &Subscript) -> String {
        let variable = loop_variable(self.at);
        let Subscript::Range { first, second, .. } = subscript else { return String::new() };
        let first = first.as_ref().map_or("0", |first| first.text.trim());
        let length = second.as_ref().map(|length| length.text.trim());
        let last = match (first.parse::<i64>(), length.map(|length| (length, length.parse::<i64>()))) {
            (Ok(first), Some((_, Ok(length)))) => first.saturating_add(length).to_string(),
            (Ok(0), Some((length, _))) => parenthesised(length),
            (_, Some((length, _))) => format!("{} + {}", parenthesised(first), parenthesised(length)),
            (_, None) => self.size(),
        };
        format!("for (long {variable} = {first}; {variable} < {last}; {variable}++) {{")
    }

    fn fortran_head(&self, subscript: &Subscript) -> String {
        let variable = loop_variable(self.at);
        let Subscript::Range { first, second, stride } = subscript else { return String::new() };
        let bound = |bound: &Option<Expr>, inquiry: &str| match bound {
            Some(bound) => bound.text.clone(),
            None => format!("{inquiry}({}, {})", self.object, self.at + 1),
        };
        // Backwards, what is omitted is the other bound; the order of the pieces does not matter.
        let is_backwards = stride.as_ref().is_some_and(|stride| stride.text.trim().starts_with('-'));
        let inquiries = if is_backwards { ["ubound", "lbound"] } else { ["lbound", "ubound"] };
        let (first, last) = (bound(first, inquiries[0]), bound(second, inquiries[1]));
        match stride {
            Some(stride) => format!("do {variable} = {first}, {last}, {}", stride.text),
            None => format!("do {variable} = {first}, {last}"),
        }
    }
}

/// `size - first`
fn less(size: &str, first: &str) -> String {
    match (size.parse::<i64>(), first.trim().parse::<i64>()) {
        (Ok(size), Ok(first)) => (size - first).to_string(),
        _ if first.trim().is_empty() => size.to_owned(),
        _ => format!("{size} - {}", parenthesised(first.trim())),
    }
}

/// Takes out of an update what needs directives of its own: `directive` keeps what one directive can say. Gives the lines
/// after it, and the dimensions whose loop variables they use.
pub fn apart(
    directive: &mut Directive,
    pieces: Vec<Piece>,
    speech: BaseLanguage,
) -> (Vec<String>, Vec<usize>) {
    let mut lines = Vec::new();
    let bare = without_lists(directive);
    for more in again(directive, &bare) {
        lines.push(more.line(speech));
    }
    let mut used = Vec::new();
    for Piece { pieces, clause } in pieces {
        used.extend(pieces.loops.iter().map(|one| one.dimension));
        let mut own = bare.clone();
        own.add(clause.clone());
        let inner = looped(&pieces.loops, &within(pieces.selector.as_ref(), own.line(speech)), speech);
        match &pieces.checked {
            None => lines.extend(inner),
            Some(item) => {
                let mut all = bare.clone();
                let name = if pieces.selector.is_some() { NAME } else { item };
                all.add(Clause { body: Body::List(vec![name.to_owned()]), ..clause });
                lines.push(format!("if (is_contiguous({item})) then"));
                lines.extend(within(pieces.selector.as_ref().map(|_| item), all.line(speech)));
                lines.push("else".to_owned());
                lines.extend(inner.into_iter().map(|line| deeper(&line)));
                lines.push("end if".to_owned());
            }
        }
    }
    used.sort();
    used.dedup();
    (lines, used)
}

/// A line of code within another construct; a directive says by itself where it stands.
fn deeper(line: &str) -> String {
    if line.starts_with(['!', '#']) { line.to_owned() } else { format!("  {line}") }
}

/// A directive's line, within a block that names a piece if that has a name.
fn within(selector: Option<&String>, line: String) -> Vec<String> {
    match selector {
        Some(selector) => {
            vec![format!("associate ({NAME} => {selector})"), line, "end associate".to_owned()]
        }
        None => vec![line],
    }
}

fn looped(loops: &[Loop], inner: &[String], speech: BaseLanguage) -> Vec<String> {
    let end = if speech == BaseLanguage::Fortran { "end do" } else { "}" };
    let indent = |depth: usize| "  ".repeat(if speech == BaseLanguage::Fortran { depth } else { 0 });
    let heads = loops.iter().enumerate().map(|(depth, one)| format!("{}{}", indent(depth), one.head));
    let ends = (0..loops.len()).rev().map(|depth| format!("{}{end}", indent(depth)));
    heads.chain(inner.iter().cloned()).chain(ends).collect()
}

/// The directive without what it lists.
pub fn without_lists(directive: &Directive) -> Directive {
    let mut bare = directive.clone();
    bare.clauses.retain(|clause| !matches!(clause.name.as_str(), "to" | "from"));
    bare
}

/// Whether a directive names a variable for the second time.
pub fn is_again(directive: &Directive) -> bool {
    !again(&mut directive.clone(), &without_lists(directive)).is_empty()
}

/// Takes the items out of `directive` that name a variable for the second time: clang 19 refuses two sections of one array in
/// one directive. Gives the directives for them.
fn again(directive: &mut Directive, bare: &Directive) -> Vec<Directive> {
    let mut taken: Vec<Vec<String>> = vec![Vec::new()];
    let mut more: Vec<Directive> = Vec::new();
    for clause in directive.clauses.iter_mut().filter(|clause| matches!(clause.name.as_str(), "to" | "from"))
    {
        let Body::List(items) = &mut clause.body else { continue };
        let mut kept = Vec::new();
        for item in items.drain(..) {
            let name = stem(&item);
            let free = taken.iter().position(|names| !names.contains(&name)).unwrap_or(taken.len());
            if free == taken.len() {
                taken.push(Vec::new());
                more.push(bare.clone());
            }
            taken[free].push(name);
            match free.checked_sub(1) {
                None => kept.push(item),
                Some(at) => more[at].add(Clause {
                    body: Body::List(vec![item]),
                    ..bare_clause(&clause.name, &clause.modifier)
                }),
            }
        }
        *items = kept;
    }
    directive.clauses.retain(|clause| !matches!(&clause.body, Body::List(items) if items.is_empty()));
    more
}

fn bare_clause(name: &str, modifier: &Option<String>) -> Clause {
    Clause { name: name.to_owned(), modifier: modifier.clone(), body: Body::None }
}

/// The object that an item is about, without blanks, in lower case: two names that differ in their case alone are taken for one.
fn stem(item: &str) -> String {
    let end = item.find(['[', '(']).unwrap_or(item.len());
    item[..end].chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect()
}
