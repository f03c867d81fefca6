//! OpenMP directives as values: leaf constructs and typed clauses.
//!
//! Invariant: a directive's text comes from here and from the rule pages only.

use crate::source::Language;

/// The host language that directives are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseLanguage {
    /// `#pragma omp …`
    #[default]
    C,
    /// `!$omp …`, in free form
    Fortran,
}

impl BaseLanguage {
    /// The one of `language`.
    pub fn of(language: Language) -> BaseLanguage {
        if language.is_fortran() { BaseLanguage::Fortran } else { BaseLanguage::C }
    }

    /// The fact by which pages know it.
    pub fn name(self) -> &'static str {
        match self {
            BaseLanguage::C => "c",
            BaseLanguage::Fortran => "fortran",
        }
    }
}

/// A leaf construct, or a directive that is one by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    /// `target`
    Target,
    /// `teams`
    Teams,
    /// `distribute`
    Distribute,
    /// `parallel`
    Parallel,
    /// `for`
    For,
    /// `loop`
    Loop,
    /// `simd`
    Simd,
    /// A directive named by a rule page: `target data`, `taskwait`, `atomic` …
    Named(&'static str),
}

impl Leaf {
    /// Its word.
    pub fn word(self, speech: BaseLanguage) -> &'static str {
        match self {
            Leaf::For if speech == BaseLanguage::Fortran => "do",
            Leaf::Target => "target",
            Leaf::Teams => "teams",
            Leaf::Distribute => "distribute",
            Leaf::Parallel => "parallel",
            Leaf::For => "for",
            Leaf::Loop => "loop",
            Leaf::Simd => "simd",
            Leaf::Named(words) => words,
        }
    }
}

/// A directive with its clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directive {
    /// The constructs it combines, outermost first.
    pub leaves: Vec<Leaf>,
    /// A parenthesis right after the words, as in `declare target(f)`.
    pub argument: Option<String>,
    /// Its clauses.
    pub clauses: Vec<Clause>,
}

/// A clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its word.
    pub name: String,
    /// What stands before the colon.
    pub modifier: Option<String>,
    /// What it holds.
    pub body: Body,
}

/// What a clause holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing: no parentheses.
    None,
    /// List items.
    List(Vec<String>),
    /// An expression, or other fixed text.
    Text(String),
}

impl Clause {
    /// `name(modifier: item)`
    pub fn list(name: &str, modifier: Option<&str>, item: &str) -> Clause {
        let body = Body::List(vec![item.to_owned()]);
        Clause { name: name.to_owned(), modifier: modifier.map(str::to_owned), body }
    }

    /// `name(text)`
    pub fn text(name: &str, text: impl Into<String>) -> Clause {
        Clause { name: name.to_owned(), modifier: None, body: Body::Text(text.into()) }
    }

    fn spell(&self) -> String {
        let inside = match &self.body {
            Body::None => return self.name.clone(),
            Body::List(items) => items.join(", "),
            Body::Text(text) => text.clone(),
        };
        let blank = if self.name == "reduction" { "" } else { " " };
        let modifier = self.modifier.as_ref().map(|words| format!("{words}:{blank}")).unwrap_or_default();
        format!("{}({modifier}{inside})", self.name)
    }
}

/// The place of a clause in our output: what says where and how wide comes first, then data.
fn rank(name: &str) -> usize {
    const ORDER: [&str; 24] = [
        "read",
        "write",
        "update",
        "capture",
        "if",
        "num_teams",
        "thread_limit",
        "num_threads",
        "bind",
        "collapse",
        "dist_schedule",
        "sizes",
        "schedule",
        "private",
        "firstprivate",
        "reduction",
        "map",
        "to",
        "from",
        "is_device_ptr",
        "has_device_addr",
        "defaultmap",
        "nowait",
        "depend",
    ];
    ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len())
}

impl Directive {
    /// A directive without clauses.
    pub fn new(leaves: &[Leaf]) -> Directive {
        Directive { leaves: leaves.to_vec(), argument: None, clauses: Vec::new() }
    }

    /// Whether `leaf` is one of its constructs.
    pub fn has(&self, leaf: Leaf) -> bool {
        self.leaves.contains(&leaf)
    }

    /// Whether it maps the variable `name` itself.
    pub fn maps(&self, name: &str) -> bool {
        let mut maps = self.clauses.iter().filter(|clause| clause.name == "map");
        maps.any(|clause| matches!(&clause.body, Body::List(items) if items.iter().any(|item| item == name)))
    }

    /// Whether a list of it has an empty item: a mistake of ours.
    pub fn lacks_item(&self) -> bool {
        let is_empty = |item: &String| item.trim().is_empty();
        let mut bodies = self.clauses.iter().map(|clause| &clause.body);
        bodies.any(|body| matches!(body, Body::List(items) if items.iter().any(is_empty)))
    }

    /// Adds a clause; lists of the same clause and modifier become one.
    pub fn add(&mut self, clause: Clause) {
        let same = self
            .clauses
            .iter_mut()
            .find(|other| other.name == clause.name && other.modifier == clause.modifier);
        match (same.map(|other| &mut other.body), clause.body) {
            (Some(Body::List(items)), Body::List(more)) => {
                let fresh: Vec<String> = more.into_iter().filter(|item| !items.contains(item)).collect();
                items.extend(fresh);
            }
            (_, body) => self.clauses.push(Clause { body, ..clause }),
        }
    }

    /// The whole line, with `#pragma` or the sentinel.
    pub fn line(&self, speech: BaseLanguage) -> String {
        let words = self.words(speech).join(" ");
        match speech {
            BaseLanguage::C => format!("#pragma {words}"),
            BaseLanguage::Fortran => format!("!$omp {words}"),
        }
    }

    /// The words of the directive, piece by piece: its name (in C after `omp`), then each clause in our order.
    pub fn words(&self, speech: BaseLanguage) -> Vec<String> {
        let name: Vec<&str> = self.leaves.iter().map(|leaf| leaf.word(speech)).collect();
        let argument = self.argument.as_ref().map(|text| format!("({text})")).unwrap_or_default();
        let mut clauses = self.clauses.clone();
        if !self.has(Leaf::Named("target exit data")) {
            super::map_order::objects_first(&mut clauses);
        }
        clauses.sort_by_key(|clause| rank(&clause.name));
        let head = match speech {
            BaseLanguage::C => format!("omp {}{argument}", name.join(" ")),
            BaseLanguage::Fortran => format!("{}{argument}", name.join(" ")),
        };
        std::iter::once(head).chain(clauses.iter().map(Clause::spell)).collect()
    }

    /// Fortran's `end` of it.
    pub fn end(&self) -> Directive {
        Directive::new(&[&[Leaf::Named("end")], self.leaves.as_slice()].concat())
    }

    /// What of Fortran's `end` it has.
    pub fn ending(&self) -> Ending {
        match self.leaves.last() {
            Some(Leaf::Target | Leaf::Teams | Leaf::Parallel) => Ending::Needed,
            Some(Leaf::Distribute | Leaf::For | Leaf::Loop | Leaf::Simd) => Ending::Optional,
            Some(Leaf::Named("target data" | "task" | "critical" | "master")) => Ending::Needed,
            Some(Leaf::Named("atomic")) => {
                let captures = self.clauses.iter().any(|clause| clause.name == "capture");
                if captures { Ending::Needed } else { Ending::Optional }
            }
            Some(Leaf::Named("tile")) => Ending::Optional,
            Some(Leaf::Named(_)) | None => Ending::None,
        }
    }
}

/// Whether a directive has an `end` in Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It stands by itself.
    None,
    /// The loop or statement after it says where it ends.
    Optional,
    /// Its region goes up to there.
    Needed,
}
