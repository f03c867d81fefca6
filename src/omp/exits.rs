//! Several `declare` directives of one function, and `data` regions that jumps leave: what each puts where the function begins
//! and where control leaves it.
//!
//! Invariant: lines at one place come from one directive; data enters in the order of the directives, and leaves in the
//! opposite order.

use crate::acc::ast::DirectiveKind;
use crate::bind::Bound;
use crate::host::ir::StmtId;
use crate::plan::{Item, Plan};
use crate::source::Span;

use super::lowered::{Lowered, SourceChange};

/// A place at which several directives may put lines.
#[derive(PartialEq, Eq)]
enum Place {
    /// Before a directive, where a Fortran procedure begins.
    Directive(Span),
    /// Before a statement: the first one, or a jump.
    Stmt(StmtId),
    /// At the end of the function.
    End(StmtId),
}

/// Gives the lines of later directives to the first one that puts lines at the same place.
pub(super) fn merge(bound: &[Bound], plan: &Plan, done: &mut [Lowered]) {
    let is_declare =
        |at: &usize| bound[*at].directive.kind == DirectiveKind::Declare && bound[*at].function.is_some();
    let has_jumps = |at: &usize| !plan.notes[*at].jumps.is_empty() && !done[*at].left;
    let declares: Vec<usize> = (0..bound.len()).filter(|at| is_declare(at) || has_jumps(at)).collect();
    for (nth, at) in declares.iter().enumerate() {
        let before = declares[..nth].iter().filter(|other| bound[**other].function == bound[*at].function);
        let before: Vec<usize> = before.copied().collect();
        let entry = match &plan.items[*at] {
            Item::Declare { entry, .. } => entry.map(|(stmt, _)| Place::Stmt(stmt)),
            _ => None,
        };
        let is_entry = |place: &Place| matches!(place, Place::Directive(_)) || entry.as_ref() == Some(place);
        for part in std::mem::take(&mut done[*at].parts) {
            if let Some(part) = given_away(part, &before, done, &is_entry) {
                done[*at].parts.push(part);
            }
        }
    }
}

/// Gives the lines of a part to one of the directives `before`, or gives the part back.
fn given_away(
    mut part: SourceChange,
    before: &[usize],
    done: &mut [Lowered],
    is_entry: &dyn Fn(&Place) -> bool,
) -> Option<SourceChange> {
    let Some((place, lines)) = lines_at(&mut part) else { return Some(part) };
    for at in before {
        let parts = done[*at].parts.iter_mut().filter_map(lines_at);
        let Some((_, known)) = parts.into_iter().find(|(other, _)| *other == place) else { continue };
        // What came last goes first.
        let at = if is_entry(&place) { known.len() } else { 0 };
        known.splice(at..at, lines.drain(..));
        return None;
    }
    Some(part)
}

/// Where a part puts lines at such a place, and the lines.
fn lines_at(part: &mut SourceChange) -> Option<(Place, &mut Vec<String>)> {
    match part {
        SourceChange::BeforeDirective(span, lines) => Some((Place::Directive(*span), lines)),
        SourceChange::Before(stmt, lines) | SourceChange::Braced(stmt, lines) => {
            Some((Place::Stmt(*stmt), lines))
        }
        SourceChange::AtEnd(body, lines) => Some((Place::End(*body), lines)),
        _ => None,
    }
}
