//! Loops of a nest that change places, so that the lanes go from neighbour to neighbour through memory.
//!
//! Invariant: of the loops that change places, and of those between them, none decides about the bounds of another; nothing
//! but their heads changes.

use crate::bind::ancestors;
use crate::host::ir::{StmtId, Unit};
use crate::sema::{self, Header, SymbolId, Symbols};
use crate::source::{self, Form, Language, SourceFile, Span};

use super::Input;
use super::strides::strides;

/// Fewer iterations than this do not fill the lanes of a warp.
const WARP: i128 = 32;

/// Two pieces of the source, each with the text of the other one.
pub type Exchange = Vec<(Span, String)>;

/// The heads of the first and the last one of nested loops in each other's place; nothing if one of them is more than its text
/// says, or if one of all these loops decides about the bounds of another.
pub fn exchange(
    file: &SourceFile,
    (unit, symbols): (&Unit, &Symbols),
    loops: &[(StmtId, &Header)],
) -> Option<Exchange> {
    let is_apart = loops.iter().enumerate().all(|(at, (_, outer))| {
        loops[at + 1..].iter().all(|(_, inner)| is_rectangular(unit, symbols, outer, inner))
    });
    if !is_apart || !mean_the_same(file, unit, symbols, loops) {
        return None;
    }
    let [one, two] = [loops.first()?, loops.last()?].map(|(stmt, header)| head(file, unit, *stmt, header));
    let (one, two) = (one?, two?);
    let all = file.text(Span { start: one.start, end: two.end });
    let fits = |own: Span, other: Span| {
        let line = file.lines.span(file.lines.line(own.start));
        let width = file.text(line).trim_end().chars().count();
        width.max((width + other.len()).saturating_sub(own.len())) <= width_of_lines(file)
    };
    let text = |span: Span| file.text(span).into_owned();
    (!has_conditions(&all) && fits(one, two) && fits(two, one))
        .then(|| vec![(one, text(two)), (two, text(one))])
}

/// The longest line that every compiler reads whole.
fn width_of_lines(file: &SourceFile) -> usize {
    match file.language {
        Language::Fortran(Form::Fixed) => 72,
        Language::Fortran(Form::Free) => 132,
        _ => usize::MAX,
    }
}

/// Whether neither loop's bounds depend on the other's variable.
fn is_rectangular(unit: &Unit, symbols: &Symbols, outer: &Header, inner: &Header) -> bool {
    let reads = |header: &Header| -> Vec<SymbolId> {
        header.values().flat_map(|expr| sema::reads_of_expr(unit, symbols, expr)).collect()
    };
    !reads(outer).contains(&inner.var) && !reads(inner).contains(&outer.var) && outer.var != inner.var
}

/// The bytes of a loop's head, without its body; nothing if it is more than one plain line.
pub fn head(file: &SourceFile, unit: &Unit, stmt: StmtId, header: &Header) -> Option<Span> {
    let head = first_line(file, unit, stmt, header)?;
    let is_whole = header.values().all(|part| head.contains(unit.expr(part).span));
    (is_whole && !file.is_by_macro(head)).then_some(head)
}

fn first_line(file: &SourceFile, unit: &Unit, stmt: StmtId, header: &Header) -> Option<Span> {
    let span = unit.stmt(stmt).span;
    if unit.is_fortran() {
        let line = file.lines.span(file.lines.line(span.start));
        let line = file.text(Span { start: span.start, end: line.end.min(span.end) }).into_owned();
        let head = Span { start: span.start, end: span.start + line.trim_end().len() as u32 };
        let text = line.trim_end().to_ascii_lowercase();
        let rest = text.strip_prefix("do ")?.trim_start();
        let is_plain = rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !text.contains(['&', '!', ';']);
        return (is_plain && !text.contains("concurrent") && !text.contains("while")).then_some(head);
    }
    let body = unit.stmt(header.body).span.start;
    let text = file.text(Span { start: span.start, end: body }).into_owned();
    let mut depth = 0usize;
    let mut end = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    end = Some(at + 1);
                    break;
                }
            }
            _ => {}
        }
    }
    let end = end?;
    let is_plain = !text[..end].contains(['#', '\n', '"', '\''])
        && !text[..end].contains("/*")
        && !text[..end].contains("//");
    is_plain.then_some(Span { start: span.start, end: span.start + end as u32 })
}

/// Whether some code has lines for the preprocessor, other than pragmas.
pub(super) fn has_conditions(text: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start().strip_prefix('#').is_some_and(|rest| !rest.trim_start().starts_with("pragma"))
    })
}

/// The names and numbers in some code.
pub(super) fn words(file: &SourceFile, span: Span) -> Vec<String> {
    source::words(&file.text(span)).map(str::to_owned).collect()
}

/// Whether the names in the heads of loops mean the same if the loops change places: no head of C declares what another one names,
/// and no macro names anything.
fn mean_the_same(file: &SourceFile, unit: &Unit, symbols: &Symbols, loops: &[(StmtId, &Header)]) -> bool {
    let heads = loops.iter().map(|(stmt, header)| Some(words(file, head(file, unit, *stmt, header)?)));
    heads.collect::<Option<Vec<_>>>().is_some_and(|heads| {
        let is_apart = |(at, head): (usize, &Vec<String>)| {
            let mut others = loops.iter().enumerate().filter(|(other, _)| *other != at);
            others.all(|(_, (_, header))| !head.contains(&symbols.get(header.var).name))
        };
        (unit.is_fortran() || heads.iter().enumerate().all(is_apart))
            && heads.iter().flatten().all(|word| symbols.is_no_macro(word))
    })
}

impl Input<'_> {
    /// The directive of the source that says, or implies, what directive `at` says.
    pub(super) fn written_above(&self, at: usize) -> Option<Span> {
        let mut all = std::iter::once(at).chain(ancestors(self.bound, at));
        Some(self.bound[all.find(|at| self.bound[*at].text.is_some())?].directive.span)
    }

    /// The exchange in the nest of directive `at`, whose loops run as one.
    pub(super) fn exchange_in(&self, at: usize, stmt: StmtId, headers: &[Header]) -> Option<Exchange> {
        if headers.len() < 2 || !self.settings.preference.exchanges || self.settings.as_written {
            return None;
        }
        let loops = self.loop_statements(stmt, headers.len());
        let loops: Vec<(StmtId, &Header)> = loops.into_iter().zip(headers).collect();
        let directive = self.written_above(at)?;
        let start = self.unit.stmt(stmt).span.start;
        // What holds for a directive alone does not change its loops.
        let is_parted = directive.end <= start
            && has_conditions(&self.file.text(Span { start: directive.end, end: start }));
        if loops.len() < headers.len() || is_parted {
            return None;
        }
        self.exchange(&loops)
    }

    /// The exchange of the innermost of some loops that run as one and the one among them that the memory suits best.
    fn exchange(&self, loops: &[(StmtId, &Header)]) -> Option<Exchange> {
        let ((_, inner), outer) = loops.split_last()?;
        let body = self.unit.stmt(inner.body).span;
        let of = |header: &Header| strides(self.unit, self.symbols, body, header.var);
        let own = of(inner);
        let is_long =
            |header: &Header| sema::trips(header, |expr| self.value(expr)).is_none_or(|trips| trips >= WARP);
        let better = outer.iter().enumerate().filter(|(_, (_, header))| {
            own.are_worse_than(of(header)) && is_long(header) && header.declared == inner.declared
        });
        let (at, _) = better.max_by_key(|(_, (_, header))| of(header).unit)?;
        exchange(self.file, (self.unit, self.symbols), &loops[at..])
    }
}
