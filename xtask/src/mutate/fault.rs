//! Faults of translations: one word, clause or line of OpenMP that is lost or wrong, or one operator of the code.
//!
//! Invariant: a fault is found again by its number in any translation that has the same directives in the same order.

use std::fmt;
use std::str::FromStr;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing comes to the device.
    To,
    /// Nothing comes back.
    From,
    /// What comes and goes only comes.
    OnlyTo,
    /// What comes and goes only goes.
    OnlyFrom,
    /// `private` is lost.
    Private,
    /// `firstprivate` is lost.
    Firstprivate,
    /// `reduction` is lost.
    Reduction,
    /// A section has half its length.
    Section,
    /// A section begins one element later.
    Shift,
    /// An `update` is lost.
    Update,
    /// The order of queues is lost.
    Order,
    /// What is queued runs after what is queued next.
    Late,
    /// Nothing waits for a queue.
    Wait,
    /// Loops do not run as one.
    Collapse,
    /// One loop more runs as one with the others.
    Deeper,
    /// The code subtracts where it should add, or the other way round.
    Operand,
}

impl Kind {
    /// Whether it changes nothing but the order in which things run.
    pub fn is_order(self) -> bool {
        matches!(self, Kind::Order | Kind::Late | Kind::Wait)
    }
}

/// All kinds, with their names.
pub const KINDS: [(Kind, &str); 16] = [
    (Kind::To, "to"),
    (Kind::From, "from"),
    (Kind::OnlyTo, "only-to"),
    (Kind::OnlyFrom, "only-from"),
    (Kind::Private, "private"),
    (Kind::Firstprivate, "firstprivate"),
    (Kind::Reduction, "reduction"),
    (Kind::Section, "section"),
    (Kind::Shift, "shift"),
    (Kind::Update, "update"),
    (Kind::Order, "order"),
    (Kind::Late, "late"),
    (Kind::Wait, "wait"),
    (Kind::Collapse, "collapse"),
    (Kind::Deeper, "deeper"),
    (Kind::Operand, "operand"),
];

/// A fault in a file: at the directive of this number, from 0, or in the code after it. What waits is counted by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, seen from the root of the tree.
    pub file: String,
    /// The directive.
    pub number: usize,
    /// What goes wrong.
    pub kind: Kind,
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, name)| name);
        write!(to, "{}:{}:{name}", self.file, self.number)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let wrong = || format!("{text}: a fault is FILE:NUMBER:KIND");
        let mut words = text.rsplitn(3, ':');
        let (kind, number, file) = (words.next(), words.next(), words.next());
        let kind = KINDS.iter().find(|(_, name)| Some(*name) == kind).ok_or_else(wrong)?.0;
        let number = number.and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
        Ok(Fault { file: file.ok_or_else(wrong)?.to_owned(), number, kind })
    }
}

/// The directives of OpenMP in a text: the first and the last line of each, from 0. Those of the library that records have no
/// faults.
pub fn directives(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let own = lines[at].trim_start().to_ascii_lowercase();
        if own.starts_with("module acc2omp_pin_") {
            let is_end = |line: &&str| line.trim_start().starts_with("end module acc2omp_pin_");
            at += lines[at..].iter().position(is_end).unwrap_or_default();
        }
        let is_first =
            own.starts_with("#pragma omp ") || own.starts_with("!$omp ") && !own.starts_with("!$omp end");
        let first = at;
        if is_first {
            while lines[at].trim_end().ends_with(['\\', '&']) && at + 1 < lines.len() {
                at += 1;
            }
            found.push((first, at));
        }
        at += 1;
    }
    found
}

/// The text with a fault, and the line at which it is; none if nothing there can go wrong in this way.
pub fn with_fault(text: &str, number: usize, kind: Kind) -> Option<(String, usize)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // Translations in which nothing is queued wait less often.
    let is_wait = |(first, _): &(usize, usize)| lines[*first].contains("taskwait");
    let mut all = directives(&lines).into_iter().filter(|one| is_wait(one) == (kind == Kind::Wait));
    let (first, last) = all.nth(number)?;
    let directive = lines[first..=last].concat();
    // After others, there is code of the host.
    let is_motion = ["target data", "target enter", "target exit", "target update"];
    let is_compute = directive.contains("target") && !is_motion.iter().any(|words| directive.contains(words));
    let (place, changed) = match kind {
        Kind::Operand => {
            let mut own = own_lines(&lines, last + 1).take(15);
            let code = own.find(|at| is_code(lines[*at]))?;
            let line = lines[code];
            let other = if line.contains(" - ") {
                line.replacen(" - ", " + ", 1)
            } else {
                line.replacen(" + ", " - ", 1)
            };
            return is_compute.then(|| (joined(&lines, (code, code), &other), code));
        }
        Kind::Late => return late(&lines, (first, last)),
        Kind::Wait => (directive.contains("taskwait"), String::new()),
        Kind::Update => (directive.contains("target update"), String::new()),
        Kind::To => swapped(&directive, "map(to:", "map(alloc:"),
        Kind::From => swapped(&directive, "map(from:", "map(alloc:"),
        Kind::OnlyTo => swapped(&directive, "map(tofrom:", "map(to:"),
        Kind::OnlyFrom => swapped(&directive, "map(tofrom:", "map(from:"),
        Kind::Private => without(&directive, " private("),
        Kind::Firstprivate => without(&directive, " firstprivate("),
        Kind::Reduction => without(&directive, " reduction("),
        Kind::Order => without(&directive, " depend("),
        Kind::Collapse => without(&directive, " collapse("),
        Kind::Deeper => deeper(&directive),
        Kind::Section => halved(&directive),
        Kind::Shift => shifted(&directive),
    };
    place.then(|| (joined(&lines, (first, last), &changed), first))
}

/// The lines from this one on, without what `verify` puts in: that is not code of the program.
fn own_lines(lines: &[&str], first: usize) -> impl Iterator<Item = usize> {
    let mut is_put_in = false;
    (first..lines.len()).filter(move |at| {
        let word = lines[*at].trim();
        is_put_in |= word == "block" && lines.get(at + 1).is_some_and(|next| next.contains("acc2omp_pin"));
        let is_own = !is_put_in && !lines[*at].contains("acc2omp_pin");
        is_put_in &= word != "end block";
        is_own
    })
}

/// Whether a line is a statement that computes.
fn is_code(line: &str) -> bool {
    let own = line.trim_start();
    let is_other = ["#", "!", "for", "do", "if", "//", "/*"].iter().any(|start| own.starts_with(start));
    !is_other && own.contains('=') && (own.contains(" - ") || own.contains(" + "))
}

fn joined(lines: &[&str], (first, last): (usize, usize), own: &str) -> String {
    lines[..first].concat() + own + &lines[last + 1..].concat()
}

fn swapped(text: &str, old: &str, new: &str) -> (bool, String) {
    (text.contains(old), text.replacen(old, new, 1))
}

/// A text without the first clause that begins in this way.
fn without(text: &str, start: &str) -> (bool, String) {
    let Some(at) = text.find(start) else { return (false, String::new()) };
    let mut depth = 0;
    let end = text[at..].char_indices().find(|(_, char)| {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        *char == ')' && depth == 0
    });
    match end {
        Some((end, _)) => (true, format!("{}{}", &text[..at], &text[at + end + 1..])),
        None => (false, String::new()),
    }
}

/// A directive whose first mapped section has half its length.
fn halved(text: &str) -> (bool, String) {
    match section(text) {
        Some([_, colon, end]) => {
            let half = format!("({}) / 2", &text[colon + 1..end]);
            (true, replaced(text, colon + 1, end, &half))
        }
        None => (false, String::new()),
    }
}

/// A directive whose first mapped section begins one element later.
fn shifted(text: &str) -> (bool, String) {
    match section(text).filter(|[start, colon, _]| !text[*start..*colon].trim().is_empty()) {
        Some([start, colon, _]) => {
            let later = format!("{} + 1", text[start..colon].trim());
            (true, replaced(text, start, colon, &later))
        }
        None => (false, String::new()),
    }
}

fn replaced(text: &str, start: usize, end: usize, own: &str) -> String {
    format!("{}{own}{}", &text[..start], &text[end..])
}

/// A directive of loops that takes one loop more.
fn deeper(text: &str) -> (bool, String) {
    if let Some(at) = text.find(" collapse(").map(|at| at + " collapse(".len()) {
        let count = text[at..].find(')').and_then(|end| text[at..at + end].trim().parse::<usize>().ok());
        return match count {
            Some(count) => {
                (true, text.replacen(&format!(" collapse({count})"), &format!(" collapse({})", count + 1), 1))
            }
            None => (false, String::new()),
        };
    }
    let words = ["parallel for", "parallel do"];
    let end = words.iter().find_map(|words| Some(text.find(words)? + words.len()));
    match end.filter(|_| text.contains("target teams")) {
        Some(end) => (true, replaced(text, end, end, " collapse(2)")),
        None => (false, String::new()),
    }
}

/// A text in which what a directive queues stands after what the next one queues, if nothing stands between them.
fn late(lines: &[&str], own: (usize, usize)) -> Option<(String, usize)> {
    let end = construct(lines, own)?;
    let next = (end + 1..lines.len()).find(|at| !lines[*at].trim().is_empty())?;
    let other = *directives(lines).iter().find(|(first, _)| *first == next)?;
    let is_queued = |(first, last): (usize, usize)| lines[first..=last].concat().contains(" depend(");
    let last = construct(lines, other).filter(|_| is_queued(own) && is_queued(other))?;
    let swapped = lines[next..=last].concat() + &lines[own.0..next].concat();
    Some((joined(lines, (own.0, last), &swapped), own.0))
}

/// The last line of the construct of a directive: of an update, the directive's; of others, that of the loop or block after it.
fn construct(lines: &[&str], (first, last): (usize, usize)) -> Option<usize> {
    let directive = lines[first..=last].concat();
    if directive.contains("target update") {
        return Some(last);
    }
    if !directive.contains("target teams") {
        return None;
    }
    let is_fortran = directive.trim_start().starts_with('!');
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate().skip(last + 1) {
        let own = line.trim().to_ascii_lowercase();
        if is_fortran {
            let is_end = own.starts_with("end do") || own.starts_with("enddo");
            depth += i32::from(own.starts_with("do ")) - i32::from(is_end);
            if is_end && depth == 0 {
                let is_closed =
                    lines.get(at + 1).is_some_and(|line| line.trim_start().starts_with("!$omp end"));
                return Some(at + usize::from(is_closed));
            }
        } else {
            depth += own.matches('{').count() as i32 - own.matches('}').count() as i32;
            if depth == 0 && own.ends_with([';', '}']) {
                return Some(at);
            }
        }
    }
    None
}

/// The first section that a directive maps: its beginning, its colon and its end.
fn section(text: &str) -> Option<[usize; 3]> {
    let map = text.find("map(")?;
    if text.trim_start().starts_with('!') {
        return section_of_fortran(text, map + 4);
    }
    text.match_indices('[').find_map(|(open, _)| {
        let close = open + text[open..].find(']')?;
        let colon = open + text[open..close].find(':')?;
        Some([open + 1, colon, close])
    })
}

/// The last range of the first section in a list of Fortran that begins at `from`, if it has an upper bound.
fn section_of_fortran(text: &str, from: usize) -> Option<[usize; 3]> {
    let is_clause =
        |open: usize| ["map", "reduction", "depend"].iter().any(|word| text[..open].ends_with(word));
    let all = text[from..].match_indices('(').map(|(open, _)| from + open);
    all.filter(|open| !is_clause(*open)).find_map(|open| {
        let mut depth = 0;
        let mut start = open + 1;
        let mut colon = None;
        for (at, char) in text[open..].char_indices() {
            match char {
                '(' => depth += 1,
                ')' if depth == 1 => {
                    let (colon, end) = (colon?, open + at);
                    return (!text[colon + 1..end].trim().is_empty()).then_some([start, colon, end]);
                }
                ')' => depth -= 1,
                ',' if depth == 1 => (start, colon) = (open + at + 1, None),
                ':' if depth == 1 => colon = Some(open + at),
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_queued_runs_late() {
        let update = "#pragma omp target update to(a) nowait depend(inout: q)\n";
        let queued = "#pragma omp target teams distribute parallel for nowait depend(inout: q)\nfor (;;) {\n  a();\n}\n";
        let late = |text: &str| with_fault(text, 0, Kind::Late).map(|(text, _)| text);
        assert_eq!(late(&format!("{queued}\n{update}b();\n")), Some(format!("{update}{queued}\nb();\n")));
        assert_eq!(late(&format!("{update}{queued}")), Some(format!("{queued}{update}")));
        assert_eq!(late(&format!("{queued}b();\n{update}")), None);
    }

    #[test]
    fn faults_are_made() {
        let text = "#pragma omp target map(to: a[0:n]) \\\n    reduction(+: s)\nfor (;;)\n  s = s + a[i];\n";
        let made = |kind| with_fault(text, 0, kind).map(|(text, _)| text).unwrap_or_default();
        assert!(made(Kind::To).contains("map(alloc: a[0:n])"));
        assert!(made(Kind::Section).contains("a[0:(n) / 2]"));
        let fortran = "!$omp target update to(b(1:2)) map(to: a(:, 2:n))\n";
        let half = with_fault(fortran, 0, Kind::Section).map(|(text, _)| text).unwrap_or_default();
        assert!(half.contains("a(:, 2:(n) / 2)"), "{half}");
        let none = "!$omp target map(alloc: a) map(to: b)\n";
        assert_eq!(with_fault(none, 0, Kind::Section), None);
        let library = "module acc2omp_pin_1\n!$omp taskwait\nend module acc2omp_pin_1\n".to_owned() + fortran;
        let lines: Vec<&str> = library.split_inclusive('\n').collect();
        assert_eq!(directives(&lines), [(3, 3)]);
        let later = with_fault(fortran, 0, Kind::Shift).map(|(text, _)| text).unwrap_or_default();
        assert!(later.contains("a(:,2 + 1:n)"), "{later}");
        assert!(made(Kind::Shift).contains("a[0 + 1:n]"));
        assert!(!made(Kind::Reduction).contains("reduction"));
        assert!(made(Kind::Operand).contains("s = s - a[i]"));
        let pinned = "!$omp target\nblock\nuse acc2omp_pin_1\na = b + 1\nend block\n".to_owned()
            + &"\n".repeat(9)
            + "s = a - b\n";
        let operand = with_fault(&pinned, 0, Kind::Operand).map(|(text, _)| text);
        assert!(operand.is_some_and(|text| text.ends_with("s = a + b\n") && text.contains("b + 1")));
        assert_eq!(with_fault(text, 0, Kind::Update), None);
        let deep = "!$omp target teams distribute parallel do collapse(2)\n";
        let deeper = with_fault(deep, 0, Kind::Deeper).map(|(text, _)| text);
        assert_eq!(deeper.as_deref(), Some(&*deep.replace('2', "3")));
        let again = "a/b.c:3:only-to".parse::<Fault>().map(|fault| fault.to_string());
        assert_eq!(again.as_deref(), Ok("a/b.c:3:only-to"));
    }
}
