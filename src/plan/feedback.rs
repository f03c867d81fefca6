//! What was found out about loops, in words.
//!
//! Invariant: a sequential loop is reported with what stands in its way, and where.

use crate::sema::{Distance, Facts, Kind, Obstacle};
use crate::source::Span;

/// Why a loop is not parallel.
pub fn reason(facts: &Facts, obstacle: &Obstacle) -> String {
    let line = |span: Span| facts.line_number(span.start);
    match &obstacle.kind {
        Kind::Header(why) | Kind::Unclear(why) => why.clone(),
        Kind::Meets { name, distances, is_update: true, .. } => {
            format!("its iterations add to the same elements of `{name}`{}", apart(distances))
        }
        Kind::Meets { name, distances, writes, .. } => {
            let (one, other) = (line(obstacle.at), obstacle.other.map_or(0, line));
            let [first, second] = writes.map(|writes| if writes { "written" } else { "read" });
            format!("`{name}` is {first} at {one} and {second} at {other}{}", apart(distances))
        }
        Kind::Subscripts(name) => {
            format!("it is not known which elements of `{name}` its iterations touch")
        }
        Kind::Alias(one, other) if one == other => {
            format!("the pointers in `{one}` may alias")
        }
        Kind::Alias(one, other) => format!("`{one}` and `{other}` may be the same memory"),
        Kind::Carried(name) => format!("`{name}` brings a value from one iteration to the next"),
        Kind::Induction(name) => format!("`{name}` counts from one iteration to the next"),
        Kind::Budget(exceeded) => format!("whether it is parallel takes too long to find out: {exceeded}"),
        Kind::LastValue(name) => format!("the value that its last iteration leaves in `{name}` is wanted"),
        Kind::Location(name) => format!("it keeps more than the largest or smallest value in `{name}`"),
    }
}

/// What a user can do.
pub(super) fn help(obstacle: &Obstacle, is_fortran: bool) -> &'static str {
    match &obstacle.kind {
        Kind::Alias(..) if is_fortran => {
            "if no two pointers alias, say `loop independent` or `--assume-no-alias`"
        }
        Kind::Alias(..) => {
            "if no two pointers alias, say `restrict`, `loop independent` or `--assume-no-alias`"
        }
        Kind::Meets { is_update: true, .. } => "`atomic` or a reduction would make it parallel",
        Kind::Induction(_) => "compute it from the loop variable, and the loop is parallel",
        Kind::LastValue(_) => "set it after the loop, or let nothing read it there, and the loop is parallel",
        Kind::Budget(_) => "say `independent` if it is; or `--budget 10` allows ten times as much work",
        Kind::Location(_) => "find the value first, and then where it is",
        Kind::Header(_) | Kind::Unclear(_) | Kind::Meets { .. } | Kind::Subscripts(_) | Kind::Carried(_) => {
            "if its iterations are independent all the same, say `loop independent`"
        }
    }
}

/// The distances, as in `, with distance (1, any)` or `, in a later iteration`.
fn apart(distances: &[Distance]) -> String {
    if distances.is_empty() {
        return String::new();
    }
    let word = |distance: &Distance| match distance {
        Distance::Exactly(by) => by.to_string(),
        Distance::Later => "later".to_owned(),
        Distance::Earlier => "earlier".to_owned(),
        Distance::Any => "any".to_owned(),
    };
    match distances {
        [Distance::Later] => ", in a later iteration".to_owned(),
        [Distance::Earlier] => ", in an earlier iteration".to_owned(),
        [Distance::Any] => ", in any iteration".to_owned(),
        all => format!(", with distance ({})", all.iter().map(word).collect::<Vec<_>>().join(", ")),
    }
}
