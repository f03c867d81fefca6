//! The races: variables that the threads of a construct assign, and share.
//!
//! Invariant: what makes threads and what makes a variable theirs is read from the directives around an assignment, from
//! the outside, and from nothing else; a `private` at the teams does not reach into a parallel region.

use std::collections::HashSet;

use tree_sitter::Node;

use super::code::{Code, Kind, Write, nodes};
use super::construct::Construct;
use super::pragma::Pragma;

/// Clauses that give each thread, or each iteration, a variable of its own.
const OWN: [&str; 6] = ["private", "firstprivate", "lastprivate", "reduction", "in_reduction", "linear"];

/// A variable that threads assign and share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// Where it is assigned.
    pub at: usize,
    /// Its name.
    pub name: String,
}

/// The variables that are on the device for good: `declare target` names them, or they stand between its two lines.
pub struct Resident {
    names: HashSet<String>,
    ranges: Vec<std::ops::Range<usize>>,
}

impl Resident {
    /// Reads the `declare target` directives of a file.
    pub fn new(pragmas: &[Pragma]) -> Resident {
        let mut resident = Resident { names: HashSet::new(), ranges: Vec::new() };
        let mut open = Vec::new();
        for one in pragmas.iter().filter(|one| one.is("declare") && one.is("target")) {
            let listed = ["target", "to", "link", "enter"].map(|clause| one.items(clause)).concat();
            if one.is("end") {
                let start = open.pop().unwrap_or(one.span.start as usize);
                resident.ranges.push(start..one.span.start as usize);
            } else if listed.is_empty() {
                open.push(one.span.end as usize);
            }
            resident.names.extend(listed.into_iter().map(str::to_owned));
        }
        resident
    }

    fn holds(&self, name: &str, declared: Option<usize>) -> bool {
        self.names.contains(name)
            || declared.is_some_and(|at| self.ranges.iter().any(|range| range.contains(&at)))
    }
}

/// The races in the code that `constructs` govern.
pub fn all(code: &Code, constructs: &[Construct], resident: &Resident) -> Vec<Race> {
    let mut races: Vec<Race> = code
        .writes
        .iter()
        .filter(|write| is_race(code, constructs, resident, write))
        .map(|write| Race { at: write.at, name: write.name.clone() })
        .collect();
    races.sort();
    races
}

/// Who can assign a variable at once, seen from where we are on the way in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// One thread.
    One,
    /// Many threads.
    Many,
    /// Many, but it is the user's wish.
    Wanted,
}

fn is_race(code: &Code, constructs: &[Construct], resident: &Resident, write: &Write) -> bool {
    let (at, name) = (write.at, write.name.as_str());
    let declared = code.lookup(name, at);
    if declared.map_or(code.is_member(name), |one| one.kind != Kind::Scalar) {
        return false;
    }
    let outlives = declared.is_none_or(|one| one.is_static);
    let place = declared.map(|one| one.at);
    if outlives && resident.holds(name, place) {
        return false;
    }
    let is_local = |one: &Construct| !outlives && place.is_some_and(|at| one.holds(at));
    let mut sharing = Sharing::One;
    let mut limited = false;
    let accumulates = accumulates(code, write);
    for one in constructs.iter().filter(|one| one.holds(at) && !is_local(one)) {
        limited |= is_one(&one.pragma, "thread_limit");
        if one.pragma.is("atomic") && is_atomic(code, one, write) {
            return false;
        }
        let is_counter = one.counters.contains(&name);
        sharing = inside(&one.pragma, is_counter, name, sharing, limited, accumulates);
    }
    sharing == Sharing::Many
}

/// Whether the new value depends on the old one. No one wants to share what is summed up without protection.
fn accumulates(code: &Code, write: &Write) -> bool {
    let name = write.name.as_str();
    let names_it =
        |value: Node| nodes(value).iter().any(|node| node.kind() == "identifier" && code.word(*node) == name);
    if write.whole.kind() == "update_expression"
        || write.whole.child_by_field_name("right").is_some_and(names_it)
    {
        return true;
    }
    let operator = write.whole.child_by_field_name("operator");
    if operator.is_some_and(|word| !matches!(word.kind(), "=" | "&")) {
        return true;
    }
    let mut at = Some(write.whole);
    while let Some(node) = at {
        let depends =
            node.kind() == "if_statement" && node.child_by_field_name("condition").is_some_and(names_it);
        if depends {
            return true;
        }
        at = node.parent().filter(|parent| parent.kind() != "function_definition");
    }
    false
}

/// How `name` is shared inside of a construct, if it is shared as `sharing` around it.
pub fn inside(
    pragma: &Pragma,
    is_counter: bool,
    name: &str,
    sharing: Sharing,
    limited: bool,
    accumulates: bool,
) -> Sharing {
    let is_listed = |clause: &&str| pragma.items(clause).contains(&name);
    if OWN.iter().any(is_listed) || is_counter {
        return Sharing::One;
    }
    let scalars = pragma.clause("defaultmap").is_some_and(|clause| clause.argument.starts_with("tofrom"));
    let guarded = ["critical", "single", "master", "masked"].iter().any(|word| pragma.is(word));
    // A scalar that a device construct does not map is a copy there, whatever is mapped around it.
    let is_copy = pragma.is("target") && !pragma.is("data");
    let sharing = if is_copy { Sharing::One } else { sharing };
    if (is_listed(&"map") && !accumulates) || scalars || guarded || sharing == Sharing::Wanted {
        return Sharing::Wanted;
    }
    let (teams, threads) = (has_teams(pragma), has_threads(pragma) && !limited);
    let lanes = ["simd", "loop", "taskloop", "task"].iter().any(|word| pragma.is(word));
    if teams || threads || lanes { Sharing::Many } else { sharing }
}

/// Whether a construct has more than one team or thread.
pub fn spreads(pragma: &Pragma) -> bool {
    has_teams(pragma) || has_threads(pragma)
}

fn has_teams(pragma: &Pragma) -> bool {
    pragma.is("teams") && !is_one(pragma, "num_teams")
}

fn has_threads(pragma: &Pragma) -> bool {
    pragma.is("parallel") && !is_one(pragma, "num_threads")
}

/// Whether a clause says 1.
pub fn is_one(pragma: &Pragma, clause: &str) -> bool {
    pragma.clause(clause).is_some_and(|clause| clause.argument.trim() == "1")
}

/// Whether `atomic` protects this assignment: all but those that only take the old or the new value.
fn is_atomic(code: &Code, atomic: &Construct, write: &Write) -> bool {
    if atomic.pragma.clause("read").is_some() {
        return false;
    }
    if atomic.pragma.clause("capture").is_none() {
        return true;
    }
    let assigned: Vec<Node> = nodes(atomic.stmt)
        .into_iter()
        .filter_map(|node| match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            _ => None,
        })
        .collect();
    let value = write.whole.child_by_field_name("right");
    let Some(value) = value.filter(|_| assigned.len() > 1) else { return true };
    // `v = x++`, and `v = x` beside a statement that assigns `x`.
    let takes = assigned.iter().any(|other| {
        value.byte_range().contains(&other.start_byte())
            || (other.start_byte() != write.at && code.word(*other) == code.word(value))
    });
    !takes
}
