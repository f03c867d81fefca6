//! What the loops of the fixtures `nests-…` say of themselves at the end of their lines, and whether a verdict agrees.
//!
//! Invariant: a label is the truth of the program, whatever an analysis finds; one that is not understood is an error.

use acc2omp::LoopVerdict;

/// What stands before a label.
const MARK: &str = "@loop ";

/// The label of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// `parallel`: the iterations may run in any order.
    Parallel {
        /// `private(x)`: variables that each iteration must have its own of; only what is remarkable is named.
        private: Vec<String>,
        /// `reduction(+: x)`: the operators and the variables that are combined.
        reductions: Vec<(String, String)>,
        /// False with `not proven`: true, but out of reach.
        in_reach: bool,
    },
    /// `sequential`: they may not, or nothing that the file says lets one know.
    Sequential {
        /// `distance`: another order of the iterations has another result, with the program's data.
        distance: bool,
    },
    /// `accumulates`: the iterations add to elements of an array. Whether that is parallel depends on the means.
    Accumulates,
}

/// How a verdict stands to a label with which it agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Parallel, and found to be.
    Found,
    /// Parallel, and not found to be, as was expected.
    OutOfReach,
    /// Sequential.
    Sequential,
    /// An accumulation, which may be called either.
    Free,
}

/// The labels of a text, each with its line from 0.
pub fn labels(text: &str) -> Result<Vec<(usize, Label)>, String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some((_, words)) = line.split_once(MARK) {
            let label =
                read(words).ok_or_else(|| format!("line {}: `{words}` is not a label", number + 1))?;
            found.push((number, label));
        }
    }
    Ok(found)
}

/// Whether a line begins a loop that counts.
pub fn begins_loop(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("for (") || (line.starts_with("do ") && line.contains('='))
}

fn read(words: &str) -> Option<Label> {
    let (truth, rest) = words.split_at(words.find([',', ':']).unwrap_or(words.len()));
    match truth.trim_end() {
        "parallel" => parallel(rest),
        "sequential" => {
            let (attribute, reason) = rest.split_once(':')?;
            let distance = match attribute.trim_start_matches(',').trim() {
                "" => false,
                "distance" => true,
                _ => return None,
            };
            (!reason.trim().is_empty()).then_some(Label::Sequential { distance })
        }
        "accumulates" => (!rest.strip_prefix(':')?.trim().is_empty()).then_some(Label::Accumulates),
        _ => None,
    }
}

/// What stands after `parallel`: clauses after commas, at last perhaps why it is out of reach.
fn parallel(rest: &str) -> Option<Label> {
    let (mut private, mut reductions) = (Vec::new(), Vec::new());
    let mut rest = rest.trim();
    while !rest.is_empty() {
        rest = rest.strip_prefix(',')?.trim_start();
        if let Some(reason) = rest.strip_prefix("not proven:") {
            let is_said = !reason.trim().is_empty();
            return is_said.then_some(Label::Parallel { private, reductions, in_reach: false });
        }
        let (clause, after) = rest.split_once(')')?;
        match clause.split_once('(')? {
            ("private", names) => private.extend(names.split(',').map(|name| name.trim().to_owned())),
            ("reduction", inside) => {
                let (operator, name) = inside.split_once(':')?;
                reductions.push((operator.trim().to_owned(), name.trim().to_owned()));
            }
            _ => return None,
        }
        rest = after.trim();
    }
    Some(Label::Parallel { private, reductions, in_reach: true })
}

/// Whether a verdict agrees with a label; what is wrong if it does not.
pub fn judge(label: &Label, verdict: Option<&LoopVerdict>) -> Result<Standing, String> {
    let Some(verdict) = verdict else { return Err("the loop has no verdict".to_owned()) };
    match (label, verdict) {
        (Label::Parallel { reductions, .. }, LoopVerdict::Parallel { reductions: found, .. }) => {
            if sorted(reductions) != sorted(found) {
                return Err(format!("the reductions are {reductions:?}, and {found:?} are found"));
            }
            needs_private(label, verdict)
        }
        (Label::Parallel { in_reach: true, .. }, LoopVerdict::Sequential { reason, .. }) => {
            Err(format!("parallel, but found sequential: {reason}"))
        }
        (Label::Parallel { .. }, LoopVerdict::Sequential { .. }) => Ok(Standing::OutOfReach),
        (Label::Sequential { .. }, LoopVerdict::Parallel { .. }) => {
            Err("sequential, but found parallel".to_owned())
        }
        (Label::Sequential { .. }, LoopVerdict::Sequential { .. }) => Ok(Standing::Sequential),
        (Label::Accumulates, _) => Ok(Standing::Free),
    }
}

/// Reductions in one order, their operators as C writes them.
fn sorted(reductions: &[(String, String)]) -> Vec<(String, String)> {
    let as_c = |operator: &str| {
        let fortran =
            [("iand", "&"), ("ior", "|"), ("ieor", "^"), (".and.", "&&"), (".or.", "||"), (".eqv.", "==")];
        let known = fortran.into_iter().chain([(".neqv.", "!=")]).find(|(one, _)| *one == operator);
        known.map_or_else(|| operator.to_owned(), |(_, c)| c.to_owned())
    };
    let plain = |(operator, name): &(String, String)| (as_c(&operator.to_lowercase()), name.to_lowercase());
    let mut list: Vec<_> = reductions.iter().map(plain).collect();
    list.sort();
    list
}

fn needs_private(label: &Label, verdict: &LoopVerdict) -> Result<Standing, String> {
    let (Label::Parallel { private, .. }, LoopVerdict::Parallel { private: found, .. }) = (label, verdict)
    else {
        return Ok(Standing::Found);
    };
    match private.iter().find(|name| !found.iter().any(|one| one.eq_ignore_ascii_case(name))) {
        Some(name) => Err(format!("`{name}` is private, but is not found to be")),
        None => Ok(Standing::Found),
    }
}
