//! The OpenMP directives of a finished text: their words, their clauses, and the code after them.
//!
//! Invariant: knows the text alone; the original and how it was translated are out of sight.

use acc2omp::scan::{self, DirectiveText, Scan, View};
use acc2omp::source::{Language, SourceFile, Span};

use super::code::{Macros, assigned_by_macro};

/// The words that name directives, on their own or combined.
const DIRECTIVE_WORDS: [&str; 24] = [
    "target",
    "teams",
    "distribute",
    "parallel",
    "for",
    "do",
    "simd",
    "loop",
    "sections",
    "section",
    "single",
    "master",
    "masked",
    "critical",
    "atomic",
    "ordered",
    "task",
    "taskloop",
    "data",
    "enter",
    "exit",
    "declare",
    "end",
    "taskwait",
];

/// One directive.
#[derive(Clone, Debug)]
pub struct Pragma {
    /// Its bytes.
    pub span: Span,
    /// The words of its name (`target`, `teams`, …).
    pub name: Vec<String>,
    /// Its clauses.
    pub clauses: Vec<Clause>,
    /// Where the code after it begins.
    pub next_code: u32,
}

/// One clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its word.
    pub name: String,
    /// What stands in its parentheses.
    pub argument: String,
}

impl Pragma {
    /// Whether its name holds `word`.
    pub fn is(&self, word: &str) -> bool {
        self.name.iter().any(|own| own == word)
    }

    /// Whether it governs the code after it.
    pub fn is_construct(&self) -> bool {
        let first = self.name.first().map_or("", String::as_str);
        let stands_alone = matches!(first, "" | "declare" | "end" | "taskwait")
            || self.is("enter")
            || self.is("exit")
            || (self.name == ["target"] && self.clause("update").is_some());
        !stands_alone
    }

    /// Reads the words of a directive after its sentinel.
    pub fn read(text: &str, span: Span, next_code: u32) -> Pragma {
        let mut rest = text;
        let mut name = Vec::new();
        let mut clauses = Vec::new();
        while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_' || c == '(') {
            let end = rest.get(start..).unwrap_or_default();
            let length = end.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(end.len());
            let (word, after) = end.split_at(length);
            let (argument, after) = argument(after);
            if clauses.is_empty() && DIRECTIVE_WORDS.contains(&word) {
                name.push(word.to_owned());
            }
            let is_name = name.last().is_some_and(|last| last == word);
            if !is_name || !argument.is_empty() {
                let argument = argument.trim().to_owned();
                clauses.push(Clause { name: word.to_owned(), argument });
            }
            rest = after;
        }
        Pragma { span, name, clauses, next_code }
    }

    /// The first clause of that name.
    pub fn clause(&self, name: &str) -> Option<&Clause> {
        self.clauses.iter().find(|clause| clause.name == name)
    }

    /// The items of all clauses of that name.
    pub fn items(&self, name: &str) -> Vec<&str> {
        self.clauses.iter().filter(|clause| clause.name == name).flat_map(Clause::items).collect()
    }
}

impl Clause {
    /// The items of its list, without what stands before a colon (`tofrom:`, `+:`), or after it in `linear`.
    pub fn items(&self) -> Vec<&str> {
        let list = match (self.name.as_str(), split(&self.argument, ':').as_slice()) {
            ("linear", [list, ..]) | (_, [list]) => *list,
            (_, [first, ..]) => self.argument.get(first.len() + 1..).unwrap_or_default(),
            (_, []) => "",
        };
        split(list, ',').into_iter().map(str::trim).filter(|item| !item.is_empty()).collect()
    }
}

/// The parts of `text` between the bytes `at` that stand in no brackets.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut depth = 0usize;
    let outside = |letter: char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && letter == at
    };
    text.split(outside).collect()
}

/// What one view of the preprocessor shows of a text.
pub struct Page {
    /// The code, with everything that a grammar of C does not know overwritten by blanks.
    pub code: Vec<u8>,
    /// The directives it shows, by place.
    pub pragmas: Vec<Pragma>,
    /// What its macros assign.
    pub macros: Macros,
    /// The directives that stand in macros: what code they govern cannot be seen.
    pub in_macros: Vec<Span>,
}

/// The pages of a text: one for what its compiler sees, and more until each directive is on one.
pub fn pages(bytes: &[u8], language: Language) -> Vec<Page> {
    let (text, sentinels) = disguised(bytes);
    let file = SourceFile::new("", text, language);
    let is_ours = |one: &DirectiveText| sentinels.iter().any(|at| one.span.range().contains(at));
    let mut seen: Vec<Span> = Vec::new();
    let mut pages = Vec::new();
    let mut view = View::of_output();
    loop {
        let (scan, _) = scan::scan(&file, &view);
        // A view that does not show what it was made for never will.
        let wanted = |one: &DirectiveText| one.active || view.reach.contains(&one.span.start);
        let ours: Vec<&DirectiveText> = scan.directives.iter().filter(|one| is_ours(one)).collect();
        seen.extend(ours.iter().filter(|one| wanted(one)).map(|one| one.span));
        let next = ours.iter().find(|one| !seen.contains(&one.span)).map(|one| one.span.start);
        pages.push(page(&file, &scan, &ours));
        let Some(next) = next else { return pages };
        view = View { reach: vec![next], ..View::of_output() };
    }
}

fn page(file: &SourceFile, scan: &Scan, ours: &[&DirectiveText]) -> Page {
    let (inside, free): (Vec<&DirectiveText>, Vec<&DirectiveText>) =
        ours.iter().filter(|one| one.active).partition(|one| one.in_macro.is_some());
    Page {
        code: scan.shadow.clone(),
        macros: macros(file, scan),
        pragmas: free.into_iter().map(|one| pragma(file, one)).collect(),
        in_macros: inside.into_iter().map(|one| one.span).collect(),
    }
}

fn macros(file: &SourceFile, scan: &Scan) -> Macros {
    let mut found = Macros::new();
    for define in &scan.defines {
        let line = file.text(define.span);
        let after = line.split_once(define.name.as_str()).map_or("", |(_, after)| after);
        let (params, _) = if define.params.is_some() { argument(after) } else { ("", "") };
        let assigned = assigned_by_macro(params, &define.body, file.language);
        if !assigned.is_empty() {
            found.insert(define.name.clone(), assigned);
        }
    }
    found
}

/// The text with the word `omp` of each directive replaced by the one that our scanner looks for: a directive is where
/// it is in both languages. The offsets of the words are returned with it.
fn disguised(bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut text = bytes.to_vec();
    let mut found = Vec::new();
    for (at, three) in bytes.windows(3).enumerate() {
        let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
        if three == b"omp" && (before.ends_with(b"pragma") || before.ends_with(b"_Pragma(\"")) {
            text.splice(at..at + 3, *b"acc");
            found.push(at);
        }
    }
    (text, found)
}

fn pragma(file: &SourceFile, one: &DirectiveText) -> Pragma {
    let words: Vec<_> = one.words.iter().map(|span| file.text(*span)).collect();
    Pragma::read(&words.join(" "), one.span, one.next_code)
}

/// What stands in the parentheses at the start of `text`, and what stands after them.
fn argument(text: &str) -> (&str, &str) {
    let Some(inside) = text.trim_start().strip_prefix('(') else { return ("", text) };
    let mut depth = 1usize;
    for (at, letter) in inside.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (inside.get(..at).unwrap_or_default(), inside.get(at + 1..).unwrap_or_default());
        }
    }
    (inside, "")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use acc2omp::source::Language;

    use super::{Pragma, pages};

    fn only(text: &str) -> Pragma {
        let pages = pages(text.as_bytes(), Language::C);
        pages.into_iter().flat_map(|page| page.pragmas).next().unwrap()
    }

    #[test]
    fn clauses_are_read_over_continuations() {
        let one = only(
            "#pragma omp target teams \\\n  private(a, b) map(tofrom: c[0:n], d) \\\n reduction(+: e)\n;",
        );
        assert_eq!(one.name, ["target", "teams"]);
        assert_eq!(one.items("private"), ["a", "b"]);
        assert_eq!(one.items("map"), ["c[0:n]", "d"]);
        assert_eq!(one.items("reduction"), ["e"]);
        assert_eq!(only("#pragma omp simd linear(x: 2)\n;").items("linear"), ["x"]);
        assert_eq!(only("#pragma omp for lastprivate(x)\n;").items("lastprivate"), ["x"]);
    }

    #[test]
    fn directives_that_stand_alone_are_known() {
        let alone = |text| !only(text).is_construct();
        assert!(alone("#pragma omp target update from(x)\n;"));
        assert!(alone("#pragma omp target enter data map(to: x)\n;"));
        assert!(alone("#pragma omp declare target (x)\n;"));
        assert!(!alone("#pragma omp target data map(to: x)\n;"));
        assert!(!alone("#pragma omp atomic update\n;"));
    }

    #[test]
    fn hidden_branches_get_a_page() {
        let text = "#if 0\n#pragma omp target\n;\n#endif\n#pragma omp taskwait\n#pragma acc data\n;";
        let names: Vec<String> = pages(text.as_bytes(), Language::C)
            .iter()
            .flat_map(|page| page.pragmas.iter().map(|one| one.name.join(" ")))
            .collect();
        assert_eq!(names, ["taskwait", "target", "taskwait"]);
    }
}
