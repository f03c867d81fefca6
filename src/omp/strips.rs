//! Tiles as loops: those over the tiles stand before the nest, whose own loops run over the elements of a tile.
//!
//! Invariant: of the nest, only the first values and the bounds change.

use crate::host::ir::BinaryOp;
use crate::plan::{Count, Strip, WorkLoop};
use crate::rules::RowId;

use super::ast::BaseLanguage;
use super::launch;
use super::look::RuleQuery;
use super::lowered::SourceChange;
use super::profile::Tuning;

/// The changes that make loops of the tiles of a nest; none if it has no such tiles.
pub fn parts(
    work: &WorkLoop,
    query: &RuleQuery,
    rows: &mut Vec<&'static RowId>,
    tuning: &Tuning,
) -> Vec<SourceChange> {
    if work.strips.is_empty() {
        return Vec::new();
    }
    let speech = query.speech;
    let head = |strip: &Strip| match speech {
        BaseLanguage::C => c_head(strip),
        BaseLanguage::Fortran => fortran_head(strip),
    };
    let mut lines: Vec<String> = work.strips.iter().map(head).collect();
    let elements = work.elements.as_ref().map(|elements| launch::work_loop(elements, query, rows, tuning));
    lines.extend(elements.map(|elements| elements.line(speech)));
    let bounds = work.strips.iter().flat_map(|strip| {
        let (first, bound) = match speech {
            BaseLanguage::C => c_bounds(strip),
            BaseLanguage::Fortran => fortran_bounds(strip),
        };
        [(strip.first.0, first), (strip.bound.0, bound)]
    });
    let mut parts = vec![SourceChange::Before(work.stmt, lines), SourceChange::Respelled(bounds.collect())];
    if speech == BaseLanguage::Fortran {
        let tiles: Vec<&str> = work.strips.iter().map(|strip| strip.tile.as_str()).collect();
        parts.push(SourceChange::AtEnd(work.stmt, vec!["end do".to_owned(); tiles.len()]));
        parts.extend(
            tiles.iter().map(|tile| SourceChange::DeclaredFor(work.stmt, format!("integer(8) :: {tile}"))),
        );
    }
    parts
}

/// Whether the bound belongs to the loop.
fn is_inclusive(strip: &Strip) -> bool {
    matches!(strip.compare, BinaryOp::LessEqual | BinaryOp::GreaterEqual)
}

/// How far a tile goes on in its loop, less `less`.
fn span(strip: &Strip, less: i128) -> String {
    let (value, name) = &strip.size;
    let is_number = name.parse::<i128>().is_ok();
    match (strip.step, less) {
        (1, 0) => name.clone(),
        (1, less) if !is_number => format!("{name} - {less}"),
        (step, less) => (value * step - less).to_string(),
    }
}

/// What is added or subtracted: sums and differences in parentheses.
fn operand(text: &str) -> String {
    if text.contains(['+', '-']) { format!("({text})") } else { text.to_owned() }
}

/// The difference of two texts, of which the first binds as a sum does; that one, if the other is zero.
fn difference(from: &str, less: &str) -> String {
    if less == "0" { from.to_owned() } else { format!("{from} - {}", operand(less)) }
}

/// The head of the loop over tiles.
fn c_head(strip: &Strip) -> String {
    let Strip { tile, first: (_, first), bound: (_, bound), .. } = strip;
    let ty = match strip.count {
        Count::Small => "int",
        Count::First | Count::Number(true) => "long long",
        Count::Number(false) => "unsigned long long",
    };
    if let Count::Number(_) = strip.count {
        let all = if strip.down { difference(first, bound) } else { difference(bound, first) };
        let more = span(strip, i128::from(!is_inclusive(strip)));
        return format!("for ({ty} {tile} = 0; {tile} < ({all} + {more}) / {}; {tile}++)", span(strip, 0));
    }
    let compare = match strip.compare {
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        _ => "<",
    };
    let step = if strip.down { "-=" } else { "+=" };
    format!("for ({ty} {tile} = {first}; {tile} {compare} {bound}; {tile} {step} {})", span(strip, 0))
}

/// The first value and the bound of the loop over the elements of a tile.
fn c_bounds(strip: &Strip) -> (String, String) {
    let Strip { tile, first: (_, first), bound: (_, bound), .. } = strip;
    let whole = span(strip, 0);
    let begin = match strip.count {
        Count::Number(_) if strip.down => format!("{first} - {tile} * {whole}"),
        Count::Number(_) if first == "0" => format!("{tile} * {whole}"),
        Count::Number(_) => format!("{first} + {tile} * {whole}"),
        Count::Small | Count::First => tile.clone(),
    };
    let (rest, sign) = match strip.down {
        true => (difference(&begin, bound), "-"),
        false => (difference(bound, &begin), "+"),
    };
    let last = span(strip, i128::from(is_inclusive(strip)));
    (begin.clone(), format!("({rest} < {whole} ? {bound} : {begin} {sign} {})", operand(&last)))
}

/// The head of the loop over tiles.
fn fortran_head(strip: &Strip) -> String {
    let Strip { tile, first: (_, first), bound: (_, bound), .. } = strip;
    let sign = if strip.down { "-" } else { "" };
    format!("do {tile} = {first}, {bound}, {sign}{}", span(strip, 0))
}

/// The first value and the bound of the loop over the elements of a tile.
fn fortran_bounds(strip: &Strip) -> (String, String) {
    let Strip { tile, bound: (_, bound), .. } = strip;
    let last = match span(strip, 1) {
        number if number.parse::<i128>().is_ok() => format!("{number}_8"),
        text => format!("int({text}, 8)"),
    };
    let bound = match strip.down {
        true => format!("{tile} - min({last}, {})", difference(tile, bound)),
        false => format!("{tile} + min({last}, {})", difference(bound, tile)),
    };
    (tile.clone(), bound)
}
