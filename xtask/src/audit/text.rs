//! The audit of one finished text.
//!
//! Invariant: a directive whose code cannot be read is reported, so that silence means that everything was looked at.

use std::collections::BTreeSet;

use acc2omp::source::{Language, LineIndex, Span};

use super::code::{self, Code};
use super::construct::{self, Construct};
use super::fortran;
use super::pragma::{Page, pages};
use super::race::{self, Race, Resident};
use super::strike::OWNING;

/// What was found in a text.
#[derive(Debug, Default)]
pub struct Findings {
    /// The races, by place.
    pub races: BTreeSet<Race>,
    /// The directives whose code could not be found.
    pub unread: BTreeSet<usize>,
    /// The directives in macros.
    pub in_macros: BTreeSet<usize>,
    /// How many constructs were looked at.
    pub constructs: usize,
    /// The variables of clauses that are assigned where the clause counts: each must be a race without it.
    pub owned: Vec<Owned>,
}

/// A variable that a construct gives to each of its threads, and that its code assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The bytes of the code.
    pub code: Span,
    /// The variable.
    pub name: String,
}

/// Reads a text and looks for races.
pub fn audit(text: &[u8], language: Language) -> Findings {
    if let Language::Fortran(form) = language {
        return fortran::audit(text, form);
    }
    let mut findings = Findings::default();
    let pages = pages(text, language);
    let all: Vec<_> = pages.iter().flat_map(|page| page.pragmas.clone()).collect();
    let resident = Resident::new(&all);
    for page in &pages {
        audit_page(page, language, &resident, &mut findings);
    }
    findings
}

fn audit_page(page: &Page, language: Language, resident: &Resident, findings: &mut Findings) {
    let starts = |spans: &[Span]| spans.iter().map(|span| span.start as usize).collect::<Vec<_>>();
    findings.in_macros.extend(starts(&page.in_macros));
    let Some(tree) = code::tree(&page.code, language) else { return };
    let code = Code::new(&page.code, language, &tree, &page.macros);
    let (constructs, lost) = construct::all(page, &code);
    findings.unread.extend(starts(&lost));
    findings.constructs += constructs.len();
    findings.races.extend(race::all(&code, &constructs, resident));
    for one in &constructs {
        findings.owned.extend(owned(&code, one));
    }
}

fn owned(code: &Code, one: &Construct) -> Vec<Owned> {
    let names = OWNING.map(|clause| one.pragma.items(clause)).concat();
    let range = one.stmt.byte_range();
    let is_assigned = |name: &str| {
        code.writes.iter().any(|write| {
            let at = write.at;
            let outer = |at: usize| code.lookup(name, at).is_none_or(|known| !range.contains(&known.at));
            one.holds(at) && write.name == name && outer(at)
        })
    };
    let spreads = race::spreads(&one.pragma);
    names
        .into_iter()
        .filter(|name| spreads && !one.counters.contains(name) && is_assigned(name))
        .map(|name| Owned { code: Span::new(range.start, range.end), name: name.to_owned() })
        .collect()
}

/// The number of the line that holds the byte at `offset`.
pub fn line(text: &[u8], offset: usize) -> usize {
    LineIndex::new(text).line_column(offset as u32).0
}

#[cfg(test)]
mod tests {
    use acc2omp::source::Language;

    use super::{audit, line};

    /// The races of a function body, as `line: name`.
    fn races(body: &str) -> Vec<String> {
        let text = format!("int g, d;\nvoid f(int n, double *a, int x, int y) {{ int i, j;\n{body}\n}}\n");
        let found = audit(text.as_bytes(), Language::C);
        assert!(found.unread.is_empty(), "{text}");
        let placed = |at: usize, name: &str| format!("{}: {name}", line(text.as_bytes(), at) - 2);
        found.races.iter().map(|race| placed(race.at, &race.name)).collect()
    }

    const FLAT: &str = "#pragma omp target teams distribute parallel for";

    #[test]
    fn what_threads_assign_must_be_theirs() {
        let check =
            |clauses: &str, body: &str| races(&format!("{FLAT} {clauses}\nfor (i = 0; i < n; i++) {body}"));
        assert_eq!(check("", "{ x = i; a[i] = x; }"), ["2: x"]);
        assert_eq!(check("", "{ g += 1; a++; y--; }"), ["2: g", "2: a", "2: y"]);
        assert_eq!(check("", "for (j = 0; j < n; j++) a[j] = i;"), ["2: j", "2: j"]);
        assert_eq!(check("collapse(2)", "for (j = 0; j < n; j++) a[j] = i;"), [""; 0]);
        assert_eq!(check("", "{ int x; x = i; a[i] = x; }"), [""; 0]);
        for clause in
            ["private(x)", "firstprivate(y, x)", "lastprivate(x)", "reduction(+: x)", "map(from: x)"]
        {
            assert_eq!(check(clause, "{ x = i; a[i] = x; }"), [""; 0], "{clause}");
        }
    }

    #[test]
    fn a_level_does_not_help_another() {
        let check = |clauses: &str, inner: &str, before: &str| {
            races(&format!(
                "#pragma omp target teams distribute {clauses}\nfor (i = 0; i < n; i++) {{ {before}\n\
                 #pragma omp parallel for {inner}\nfor (j = 0; j < n; j++) {{ x = j; a[j] = x; }} }}"
            ))
        };
        assert_eq!(check("", "", ""), ["4: x"]);
        assert_eq!(check("private(x)", "", ""), ["4: x"]);
        assert_eq!(check("", "", "int x;"), ["4: x"]);
        assert_eq!(check("", "private(x)", ""), [""; 0]);
        assert_eq!(check("private(x)", "", "x = i;"), ["4: x"]);
        assert_eq!(check("", "private(x)", "x = i;"), ["2: x"]);
    }

    #[test]
    fn a_copy_of_the_target_is_shared_by_its_threads() {
        assert_eq!(races("#pragma omp target firstprivate(x)\n{\n#pragma omp parallel\nx = 1; }"), ["4: x"]);
        assert_eq!(races("#pragma omp target\nx = 1;"), [""; 0]);
        assert_eq!(races("#pragma omp target teams\nx = 1;"), ["2: x"]);
        assert_eq!(races("#pragma omp target teams num_teams(1)\nx = 1;"), [""; 0]);
        let inside =
            format!("#pragma omp target data map(tofrom: x)\n{FLAT}\nfor (i = 0; i < n; i++) x = i;");
        assert_eq!(races(&inside), ["3: x"]);
    }

    #[test]
    fn atomic_protects_what_it_updates() {
        let check = |kind: &str, body: &str| {
            races(&format!(
                "{FLAT} map(x)\nfor (i = 0; i < n; i++) {{\n#pragma omp atomic {kind}\n{body}\n}}"
            ))
        };
        assert_eq!(check("", "g += 1;"), [""; 0]);
        assert_eq!(check("write", "g = 1;"), [""; 0]);
        assert_eq!(check("read", "g = y;"), ["4: g"]);
        assert_eq!(check("capture", "y = g++;"), ["4: y"]);
        assert_eq!(check("capture", "{ y = g; g += 2; }"), ["4: y"]);
        assert_eq!(check("capture", "{ g += 2; y = g; }"), ["4: y"]);
    }

    #[test]
    fn a_map_is_a_wish_to_share_but_not_to_sum() {
        let check = |body: &str| races(&format!("{FLAT} map(tofrom: x)\nfor (i = 0; i < n; i++) {body}"));
        assert_eq!(check("if (i == 3) x = i;"), [""; 0]);
        assert_eq!(check("x += i;"), ["2: x"]);
        assert_eq!(check("x = i + x;"), ["2: x"]);
        assert_eq!(check("if (i > x) x = i;"), ["2: x"]);
    }

    #[test]
    fn an_address_is_taken_to_assign() {
        assert_eq!(races(&format!("{FLAT}\nfor (i = 0; i < n; i++) f(i, a, g & d, use(&x));")), ["2: x"]);
    }

    #[test]
    fn macros_assign_where_they_are_used() {
        let check = |body: &str| {
            races(&format!("#define SET(v, e) do {{ int y = 1; x = (e); (v) = y; }} while (0)\n{body}"))
        };
        assert_eq!(check(&format!("{FLAT}\nfor (i = 0; i < n; i++) SET(a[i], i);")), ["3: x"]);
        assert_eq!(check(&format!("{FLAT} private(x)\nfor (i = 0; i < n; i++) SET(a[i], i);")), [""; 0]);
    }

    #[test]
    fn what_is_on_the_device_for_good_is_shared_on_purpose() {
        let text = format!(
            "int g, d;\n#pragma omp declare target (g)\nvoid f(int n) {{\n{FLAT}\n\
             for (int i = 0; i < n; i++) {{ g = 1; d = 1; }} }}\n"
        );
        let found = audit(text.as_bytes(), Language::C);
        assert_eq!(found.races.iter().map(|race| race.name.as_str()).collect::<Vec<_>>(), ["d"]);
    }
}
