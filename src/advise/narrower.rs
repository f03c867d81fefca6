//! `copy` of what the device only reads, of what it writes before it reads, or of what nobody wants afterwards.
//!
//! Invariant: a narrower clause is proposed only if the direction that it saves moves what is there already, or what nothing reads.

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::diag;
use crate::edit::Edit;
use crate::host::ir::{BinaryOp, Derived, ExprId, ExprKind, StmtId, StmtKind};
use crate::plan::Motion;
use crate::sema::{self, SymbolId, SymbolKind};
use crate::source::Span;

use super::host::{HostCode, Mention, Touch, mention};
use super::moves::{Move, is_address, on_device};
use super::repeated::Handled;
use super::{Ground, Piece, edits, own, present, size};

/// Implicit copies of so many bytes are worth a word.
const LARGE: i128 = 4096;

/// What a clause could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Better {
    Copyin,
    Copyout,
    Create,
}

impl Better {
    fn word(self) -> &'static str {
        match self {
            Better::Copyin => "copyin",
            Better::Copyout => "copyout",
            Better::Create => "create",
        }
    }

    /// Why it is enough.
    fn reason(self) -> &'static str {
        match self {
            Better::Copyin => "the device does not change what the host reads afterwards",
            Better::Copyout => "the device overwrites all of it before it reads it",
            Better::Create => "the device overwrites all of it, and nothing reads it afterwards",
        }
    }
}

/// The advice.
pub fn pieces(ground: &Ground, moves: &[Move], handled: &Handled) -> Vec<Piece> {
    let mut found: Vec<(usize, Vec<(Better, &Move)>)> = Vec::new();
    for one in moves.iter().filter(|one| one.motion == Motion::Copy) {
        if handled.contains(&(one.directive, one.symbol)) || is_small(ground, one) {
            continue;
        }
        if one.function.is_none() || present::may_be(ground, one.function, one.symbol) {
            continue;
        }
        let Some(better) = better(ground, one) else { continue };
        match found.iter_mut().find(|(at, _)| *at == one.directive) {
            Some((_, all)) => all.push((better, one)),
            None => found.push((one.directive, vec![(better, one)])),
        }
    }
    found.into_iter().map(|(index, all)| piece(ground, index, &all)).collect()
}

/// Whether it is an implicit copy of very little.
fn is_small(ground: &Ground, one: &Move) -> bool {
    size::bytes(ground, one.symbol).is_some_and(|bytes| bytes < LARGE)
}

fn better(ground: &Ground, one: &Move) -> Option<Better> {
    let span = ground.code(one.directive)?;
    own::is_own(ground, one.symbol).then_some(())?;
    let is_data = ground.bound[one.directive].directive.kind == DirectiveKind::Data;
    let part = HostCode::new(ground, span);
    let host = if is_data { part.touch(one.symbol) } else { Touch::Nothing };
    // What the host changes inside would be overwritten at the end.
    if host == Touch::Changes || is_data && is_named_inside(ground, span, one) {
        return None;
    }
    let others = own::roots(ground, one.symbol);
    if others.iter().any(|other| *other != one.symbol && part.touch(*other) != Touch::Nothing) {
        return None;
    }
    let constructs: Vec<StmtId> = match is_data {
        true => ground.constructs_in(span).map(|(_, stmt)| stmt).collect(),
        false => vec![one.stmt],
    };
    let is_written = constructs.iter().any(|stmt| on_device(ground, *stmt, one.symbol).1);
    if !is_written {
        return Some(Better::Copyin);
    }
    let is_wanted = is_wanted(ground, one, span);
    let is_overwritten = host == Touch::Nothing && !is_data && overwrites(ground, one);
    match (is_wanted, is_overwritten) {
        (false, true) => Some(Better::Create),
        (false, false) if host == Touch::Nothing => Some(Better::Copyin),
        (true, true) => Some(Better::Copyout),
        _ => None,
    }
}

/// Whether another directive in a region names the variable otherwise than to find it.
fn is_named_inside(ground: &Ground, span: Span, one: &Move) -> bool {
    ground.naming(one.symbol).iter().any(|at| {
        let other = &ground.bound[*at].directive;
        let is_inside = span.contains(other.span) && *at != one.directive;
        let is_plain = other.kind.is_compute() || other.kind == DirectiveKind::Data;
        is_inside && (!is_plain || is_address(ground, *at, one.symbol))
    })
}

/// Whether anybody may read what a construct leaves in the host's copy.
fn is_wanted(ground: &Ground, one: &Move, span: Span) -> bool {
    let known = ground.symbols.get(one.symbol);
    let is_result = own::is_parameter(ground, one.symbol);
    if known.kind != SymbolKind::Local || is_result || !own::is_closed(ground, one.symbol) {
        return true;
    }
    if ground.unit.is_fortran() && (known.fortran.save || known.home.is_some()) {
        return true;
    }
    let Some(function) = one.function else { return true };
    let loops = ground.host_loops(function);
    let mut around =
        loops.iter().map(|stmt| ground.unit.stmt(*stmt).span).filter(|around| around.contains(span));
    let outermost = around.next().unwrap_or(span);
    // In the next iteration, the construct itself reads it.
    if outermost != span && !overwrites(ground, one) {
        return true;
    }
    let is_later = |at: Span| outermost.contains(at) && !span.contains(at) || at.start >= span.end;
    let is_hidden = ground.hidden.iter().any(|hidden| is_later(*hidden));
    let is_read = ground
        .mentions(one.symbol)
        .iter()
        .any(|id| is_later(ground.unit.expr(*id).span) && mention(ground, *id) != Mention::Inquiry);
    let is_named = ground.naming(one.symbol).iter().any(|at| is_later(ground.bound[*at].directive.span));
    let is_goto = ground
        .unit
        .stmts_in(ground.unit.function(function).span)
        .any(|stmt| matches!(stmt.kind, StmtKind::Goto(_)));
    is_hidden || is_read || is_named || is_goto
}

/// Whether the construct assigns each element that the clause names, and reads none.
fn overwrites(ground: &Ground, one: &Move) -> bool {
    let (reads, _) = on_device(ground, one.stmt, one.symbol);
    if reads
        || ground
            .clauses(one.directive)
            .any(|kind| matches!(kind, ClauseKind::If(_) | ClauseKind::SelfRun(_)))
    {
        return false;
    }
    let Some(extents) = extents(ground, one) else { return false };
    let mut headers = Vec::new();
    let mut at = one.stmt;
    while let Ok(header) = sema::header(ground.unit, ground.symbols, at) {
        headers.push(header);
        match sema::only_loop(ground.unit, header.body) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let Some(last) = headers.last() else { return false };
    let body = match &ground.unit.stmt(last.body).kind {
        StmtKind::Block(list) => list.clone(),
        _ => vec![last.body],
    };
    if ground.unit.stmts_in(ground.unit.stmt(last.body).span).any(|stmt| {
        matches!(stmt.kind, StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Return(_))
    }) {
        return false;
    }
    body.iter().any(|stmt| {
        let StmtKind::Expr(expr) = ground.unit.stmt(*stmt).kind else { return false };
        let ExprKind::Assign(None, target, _) = ground.unit.expr(expr).kind else { return false };
        let (root, subscripts) = sema::subscripts(ground.unit, target);
        let root = ground.symbols.named(ground.unit, root);
        let mut seen = std::collections::BTreeSet::new();
        root == Some(one.symbol)
            && subscripts.len() == extents.len()
            && subscripts.iter().zip(&extents).all(|(subscript, extent)| {
                let variable = ground.symbols.named(ground.unit, *subscript);
                headers.iter().any(|header| {
                    Some(header.var) == variable && seen.insert(header.var) && covers(ground, header, extent)
                })
            })
    })
}

/// The first and the last element of a dimension, or in C how many there are, as texts.
struct Extent {
    first: String,
    last: String,
}

/// What the clause names, dimension by dimension.
fn extents(ground: &Ground, one: &Move) -> Option<Vec<Extent>> {
    let known = ground.symbols.get(one.symbol);
    if let Some((text, _)) = &one.item
        && let Some(section) =
            text.strip_prefix(known.name.as_str()).map(str::trim).filter(|rest| !rest.is_empty())
    {
        let inner = section.strip_prefix('[')?.strip_suffix(']')?;
        let (first, count) = inner.split_once(':').filter(|_| !inner.contains(['[', ']']))?;
        let first = if first.trim().is_empty() { "0" } else { first.trim() };
        return (first == "0").then(|| vec![Extent { first: "0".to_owned(), last: plain(count) }]);
    }
    let decl = ground.unit.decl(known.decl?);
    let text = |expr: ExprId| plain(&ground.file.text(ground.unit.expr(expr).span));
    let all = decl.derived.iter().enumerate().map(|(at, part)| match part {
        Derived::Array(Some(size)) => {
            let lower = decl.fortran.lower.get(at).copied().flatten().map(text);
            let first =
                if ground.unit.is_fortran() { lower.unwrap_or("1".to_owned()) } else { "0".to_owned() };
            Some(Extent { first, last: text(*size) })
        }
        _ => None,
    });
    all.collect()
}

/// A text without blanks and without parentheses around all of it.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) if !inner.contains(['(', ')']) => inner.to_owned(),
        _ => text,
    }
}

/// Whether a loop goes from the first to the last element of a dimension.
fn covers(ground: &Ground, header: &sema::Header, extent: &Extent) -> bool {
    let text = |expr: ExprId| plain(&ground.file.text(ground.unit.expr(expr).span));
    let is_one = header.step.is_none_or(|step| size::value(ground, step) == Some(1)) && !header.down;
    let compare = match ground.unit.is_fortran() {
        true => BinaryOp::LessEqual,
        false => BinaryOp::Less,
    };
    let same = |one: &str, two: &str| match ground.unit.is_fortran() {
        true => one.eq_ignore_ascii_case(two),
        false => one == two,
    };
    is_one
        && header.compare == compare
        && same(&text(header.first), &extent.first)
        && same(&text(header.bound), &extent.last)
}

/// The ways, in the order in which they get.
const WAYS: [Better; 3] = [Better::Copyin, Better::Copyout, Better::Create];

fn piece(ground: &Ground, index: usize, all: &[(Better, &Move)]) -> Piece {
    let symbols: Vec<SymbolId> = all.iter().map(|(_, one)| one.symbol).collect();
    let names: Vec<String> = symbols.iter().map(|symbol| format!("`{}`", ground.spelled(*symbol))).collect();
    let text =
        |one: &Move| one.item.as_ref().map_or_else(|| ground.spelled(one.symbol), |(text, _)| text.clone());
    let mut clauses = Vec::new();
    let mut reasons = Vec::new();
    for way in WAYS {
        let items: Vec<String> =
            all.iter().filter(|(better, _)| *better == way).map(|(_, one)| text(one)).collect();
        if !items.is_empty() {
            clauses.push(edits::clause(way.word(), &items));
            reasons.push(way.reason());
        }
    }
    let bytes = size::sum_in_words(ground, &symbols);
    let at = ground.bound[index].directive.span;
    let diag = diag::copied_needlessly(
        at,
        &edits::listed(&names),
        &bytes,
        reasons.first().copied().unwrap_or_default(),
        &clauses.join(" "),
    );
    Piece { diag, edits: respelled(ground, index, all).unwrap_or_default() }
}

/// The clauses with other words, or without the items that get a clause of their own; clauses for what is implied.
fn respelled(ground: &Ground, index: usize, all: &[(Better, &Move)]) -> Option<Vec<Edit>> {
    let directive = &ground.bound[index].directive;
    let mut made = Vec::new();
    let way = |span: Span| {
        all.iter().find(|(_, one)| one.item.as_ref().is_some_and(|(_, at)| *at == span)).map(|(way, _)| *way)
    };
    for clause in &directive.clauses {
        let ClauseKind::Data(_, list) = &clause.kind else { continue };
        if list.iter().all(|item| way(item.span).is_none()) {
            continue;
        }
        let first = list.first().and_then(|item| way(item.span));
        if first.is_some() && list.iter().all(|item| way(item.span) == first) {
            made.push(edits::replace(clause.name.span, first?.word()));
            continue;
        }
        (!ground.file.slice(clause.span).contains(&b'\n')).then_some(())?;
        let items = |wanted: Option<Better>| -> Vec<String> {
            list.iter().filter(|item| way(item.span) == wanted).map(|item| item.text.clone()).collect()
        };
        let mut words = vec![(clause.name.text.as_str(), items(None))];
        words.extend(WAYS.iter().map(|way| (way.word(), items(Some(*way)))));
        words.retain(|(_, items)| !items.is_empty());
        let text: Vec<String> = words.iter().map(|(word, items)| edits::clause(word, items)).collect();
        made.push(edits::replace(clause.span, &text.join(" ")));
    }
    let mut implied = Vec::new();
    for way in WAYS {
        let items: Vec<String> = all
            .iter()
            .filter(|(better, one)| *better == way && one.item.is_none())
            .map(|(_, one)| ground.spelled(one.symbol))
            .collect();
        if !items.is_empty() {
            implied.push(edits::clause(way.word(), &items));
        }
    }
    if !implied.is_empty() {
        made.push(edits::clauses(ground, index, &implied)?);
    }
    Some(made)
}
