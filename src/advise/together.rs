//! Constructs that follow one another and whose loops have the same iterations: one launch could run both.
//!
//! Invariant: no iteration of the second loop uses what another iteration of the first one has set, or the reverse.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::bind::{Bound, descendants};
use crate::diag;
use crate::edit::Edit;
use crate::host::ir::{Derived, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, Header, SymbolId, Use, elements, subscripts};
use crate::source::{self, Span};

use super::{Ground, Piece, edits, host, own, size};

/// The advice. A construct is in one piece at most: what three of them do together is not looked at.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut seconds = BTreeSet::new();
    for (index, one) in ground.bound.iter().enumerate() {
        if seconds.contains(&index) {
            continue;
        }
        let Some(pair) = Pair::of(ground, index) else { continue };
        if let Some(piece) = pair.piece(one) {
            seconds.insert(pair.indices[1]);
            found.push(piece);
        }
    }
    found
}

/// The construct that directly follows a construct with the loop `stmt` in the text.
fn following(ground: &Ground, index: usize, stmt: StmtId) -> Option<usize> {
    let one = &ground.bound[index];
    let end = ground.unit.stmt(stmt).span.end;
    let next = ground.bound.iter().position(|other| {
        other.directive.kind == DirectiveKind::ParallelLoop && other.directive.span.start >= end
    })?;
    let start = ground.bound[next].directive.span.start;
    let between = ground.file.text(Span { start: end, end: start }).to_ascii_lowercase();
    let is_end = |line: &str| ground.unit.is_fortran() && line.trim_start().starts_with("!$acc end parallel");
    let is_empty = between.lines().all(|line| line.trim().is_empty() || is_end(line));
    (is_empty && ground.bound[next].function == one.function).then_some(next)
}

/// The loop of a combined construct that says nothing but which loops are divided, and how data get to it.
fn loop_of(ground: &Ground, index: usize) -> Option<StmtId> {
    let one = &ground.bound[index];
    let is_plain = |kind: &ClauseKind| {
        matches!(
            kind,
            ClauseKind::Gang(_)
                | ClauseKind::Worker(_)
                | ClauseKind::Vector(_)
                | ClauseKind::VectorLength(_)
                | ClauseKind::Independent
                | ClauseKind::Collapse { .. }
                | ClauseKind::Data(DataClause::Present, _)
                | ClauseKind::Default { .. }
        )
    };
    let stmt = one.stmt().filter(|_| one.directive.kind == DirectiveKind::ParallelLoop)?;
    let are_loops =
        descendants(ground.bound, index).all(|at| ground.bound[at].directive.kind == DirectiveKind::Loop);
    let is_alone =
        !ground.bound.iter().enumerate().any(|(at, other)| at != index && other.stmt() == Some(stmt));
    let has_jump = ground.unit.stmts_in(ground.unit.stmt(stmt).span).any(|stmt| {
        matches!(
            stmt.kind,
            StmtKind::Goto(_) | StmtKind::Labeled { .. } | StmtKind::Return(_) | StmtKind::Opaque(_)
        )
    });
    let clauses = one.directive.clauses.iter();
    (clauses.map(|clause| &clause.kind).all(is_plain) && are_loops && is_alone && !has_jump).then_some(stmt)
}

/// Two constructs, one after the other.
struct Pair<'g, 'a> {
    ground: &'g Ground<'a>,
    indices: [usize; 2],
    stmts: [StmtId; 2],
    headers: [Header; 2],
}

impl<'g, 'a> Pair<'g, 'a> {
    /// A construct and the one that follows it.
    fn of(ground: &'g Ground<'a>, first: usize) -> Option<Pair<'g, 'a>> {
        let stmt = loop_of(ground, first)?;
        let second = following(ground, first, stmt)?;
        let stmts = [stmt, loop_of(ground, second)?];
        let header = |stmt| sema::header(ground.unit, ground.symbols, stmt).ok();
        let headers = [header(stmts[0])?, header(stmts[1])?];
        Some(Pair { ground, indices: [first, second], stmts, headers })
    }

    fn piece(&self, one: &Bound) -> Option<Piece> {
        let ground = self.ground;
        let hidden = ground.hidden.iter().any(|hidden| self.span().contains(*hidden));
        if hidden || !self.is_one_space() || !self.are_alike() || !self.are_apart() {
            return None;
        }
        let trips = size::trips(ground, self.stmts[0]).map_or(String::new(), |trips| format!(" of {trips}"));
        let edits = self.merged().unwrap_or_default();
        let diag = diag::two_launches(ground.head(self.stmts[1]), &trips);
        Some(Piece { diag: diag.with(one.directive.span, "the launch before"), edits })
    }

    /// Both constructs.
    fn span(&self) -> Span {
        let start = self.ground.bound[self.indices[0]].directive.span.start;
        Span { start, end: self.ground.unit.stmt(self.stmts[1]).span.end }
    }

    /// Whether both loops have the same iterations, whatever runs in them.
    fn is_one_space(&self) -> bool {
        let ground = self.ground;
        let text = |expr| {
            let text = ground.file.text(ground.unit.expr(expr).span).into_owned();
            text.split_whitespace().collect::<String>()
        };
        let shape = |header: &Header| {
            let name = ground.symbols.get(header.var).name.clone();
            let class = ground.symbols.type_of(header.var).map(|known| known.base.clone());
            (
                name,
                class,
                text(header.first),
                text(header.bound),
                header.compare,
                header.step.map(text),
                header.down,
            )
        };
        let [first, second] = &self.headers;
        let parts = [Some(first.first), Some(first.bound), first.step];
        let read = parts.into_iter().flatten();
        let read: BTreeSet<SymbolId> =
            read.flat_map(|expr| sema::reads_of_expr(ground.unit, ground.symbols, expr)).collect();
        let uses = ground.uses(self.stmts[0]);
        let is_fixed = |symbol: &SymbolId| uses.of(*symbol).is_none_or(Use::is_unchanged);
        let calls = |expr: Option<_>| {
            expr.is_some_and(|expr| {
                let span = ground.unit.expr(expr).span;
                ground.unit.exprs_in(span).any(|one| matches!(one.kind, ExprKind::Call { .. }))
            })
        };
        shape(first) == shape(second)
            && first.declared == second.declared
            && read.iter().all(is_fixed)
            && !parts.into_iter().any(calls)
    }

    /// Whether both directives say the same of levels and sizes.
    fn are_alike(&self) -> bool {
        let words = |index: usize| -> BTreeSet<String> {
            let clauses = &self.ground.bound[index].directive.clauses;
            let levels = clauses.iter().filter(|clause| !matches!(clause.kind, ClauseKind::Data(..)));
            let text = |span| self.ground.file.text(span).split_whitespace().collect::<String>();
            levels.map(|clause| text(clause.span)).collect()
        };
        words(self.indices[0]) == words(self.indices[1])
    }

    /// Whether each iteration uses what the same iteration of the other loop has set, or what none sets.
    fn are_apart(&self) -> bool {
        let ground = self.ground;
        let (one, two) = (ground.uses(self.stmts[0]), ground.uses(self.stmts[1]));
        let mut calls = one.calls.keys().chain(two.calls.keys());
        if !calls.all(|name| host::is_pure_call(ground, name)) {
            return false;
        }
        let changes = |used: Option<&Use>| used.is_some_and(|used| !used.is_unchanged());
        let all: BTreeSet<SymbolId> = one.iter().chain(two.iter()).map(|(symbol, _)| symbol).collect();
        let shared = all.iter().filter(|symbol| {
            let scope = ground.symbols.get(**symbol).scope;
            !self.stmts.iter().any(|stmt| ground.unit.stmt(*stmt).span.contains(scope))
        });
        let mut changed = shared.filter(|symbol| changes(one.of(**symbol)) || changes(two.of(**symbol)));
        changed.all(|symbol| {
            let is_counter = self.headers.iter().any(|header| header.var == *symbol);
            let meets = one.of(*symbol).is_some() && two.of(*symbol).is_some();
            match ground.symbols.get(*symbol).class {
                // Each iteration has its own.
                Class::Scalar => is_counter || !meets,
                Class::Array | Class::Pointer => {
                    self.is_direct(*symbol)
                        && own::is_own(ground, *symbol)
                        && (!meets || self.is_of_iteration(*symbol))
                }
                _ => false,
            }
        })
    }

    /// Whether the elements of an array lie in it, and not where pointers in it lead.
    fn is_direct(&self, symbol: SymbolId) -> bool {
        let known = self.ground.symbols.get(symbol);
        let Some(decl) = known.decl.map(|decl| self.ground.unit.decl(decl)) else { return false };
        let pointers = decl.derived.iter().filter(|part| **part == Derived::Pointer).count();
        match known.class {
            Class::Array => pointers == 0,
            _ => pointers == 1 && decl.derived.first() == Some(&Derived::Pointer),
        }
    }

    /// Whether each place where both loops name an array is an element with the counter as one and the same subscript.
    fn is_of_iteration(&self, symbol: SymbolId) -> bool {
        let (ground, unit) = (self.ground, self.ground.unit);
        let mut columns: Option<BTreeSet<usize>> = None;
        let mut places = BTreeSet::new();
        for (stmt, header) in self.stmts.iter().zip(&self.headers) {
            for element in elements(unit, unit.stmt(*stmt).span) {
                let (base, indices) = subscripts(unit, element);
                if ground.symbols.named(unit, base) != Some(symbol) {
                    continue;
                }
                let is_counter = |at: &usize| ground.symbols.named(unit, indices[*at]) == Some(header.var);
                let here: BTreeSet<usize> = (0..indices.len()).filter(is_counter).collect();
                columns = Some(columns.map_or(here.clone(), |before| &before & &here));
                places.insert(base);
            }
        }
        let mut named = ground.mentions(symbol).iter().filter(|id| {
            let at = unit.expr(**id).span;
            self.stmts.iter().any(|stmt| unit.stmt(*stmt).span.contains(at))
        });
        columns.is_some_and(|columns| !columns.is_empty()) && named.all(|id| places.contains(id))
    }

    /// One loop with both bodies, in C.
    fn merged(&self) -> Option<Vec<Edit>> {
        let ground = self.ground;
        let unit = ground.unit;
        let [first, second] = self.headers.map(|header| unit.stmt(header.body));
        let (StmtKind::Block(before), StmtKind::Block(_)) = (&first.kind, &second.kind) else { return None };
        let second_text = ground.file.text(second.span).into_owned();
        let words: BTreeSet<&str> = source::words(&second_text).collect();
        let is_declared = before.iter().any(|stmt| {
            let span = unit.stmt(*stmt).span;
            let is_decl = matches!(unit.stmt(*stmt).kind, StmtKind::Decl(_));
            is_decl && unit.decls_with_names_in(span).any(|decl| words.contains(decl.name.as_str()))
        });
        let closing = Span { start: first.span.end.checked_sub(1)?, end: second.span.start + 1 };
        let lines = &ground.file.lines;
        let close = lines.span(lines.line(closing.start));
        let open = lines.line(second.span.start);
        let opening = lines.span(open);
        let text = |start: u32, end: u32| ground.file.text(Span { start, end }).trim().to_owned();
        let is_written = !unit.is_fortran()
            && ground.file.slice(closing).first() == Some(&b'}')
            && ground.file.slice(second.span).first() == Some(&b'{')
            && text(close.start, closing.start).is_empty()
            && text(second.span.start + 1, opening.end).is_empty();
        (is_written && !is_declared).then_some(())?;
        let mut edits = self.added()?;
        edits.push(edits::replace(Span { start: close.start, end: lines.span(open + 1).start }, ""));
        Some(edits)
    }

    /// The edits that make the first directive name what the second one says is present; none if they cannot be written.
    fn added(&self) -> Option<Vec<Edit>> {
        let ground = self.ground;
        let named = |index: usize| {
            let clauses = ground.bound[index].directive.clauses.iter();
            let lists = clauses.filter_map(|clause| match &clause.kind {
                ClauseKind::Data(_, list) => Some(list),
                _ => None,
            });
            lists.flatten().map(|item| item.text.clone()).collect::<Vec<String>>()
        };
        let before = named(self.indices[0]);
        let items: Vec<String> =
            named(self.indices[1]).into_iter().filter(|item| !before.contains(item)).collect();
        if items.is_empty() {
            return Some(Vec::new());
        }
        edits::clauses(ground, self.indices[0], &[edits::clause("present", &items)]).map(|edit| vec![edit])
    }
}
