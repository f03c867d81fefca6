//! Checked rule types: what a page's rows say.
//!
//! Invariant: values of these types have passed the checks of loading.

use std::collections::BTreeMap;
use std::fmt;

use crate::diag::Code;

/// A row's identity: its page and its number there, as `clause/present#0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId {
    /// The page's entry, `clause/present`.
    pub entry: String,
    /// The row's number on the page, from 0.
    pub number: usize,
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.entry, self.number)
    }
}

/// How the output's meaning compares with the original's; a larger one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// The same.
    Same,
    /// Results of a conforming program are the same; a check or some parallelism is lost.
    Weaker,
    /// A named situation changes.
    Differs,
    /// The original stays.
    Refused,
}

/// Which of the emitted directives a clause goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The construct that maps data: `target`, or a data directive.
    MapLeaf,
    /// `target`
    Target,
    /// `teams`
    Teams,
    /// The construct that distributes the loop's iterations.
    LevelLeaf,
    /// `distribute`
    Distribute,
    /// The one directive there is.
    Directive,
}

/// Code that a row calls for: each stands in the `omp` room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// `num_workers` times `vector_length` limits the threads of a team.
    ThreadLimit,
    /// The condition under which the statements of the directive run.
    Condition,
    /// `finalize`: bring the data home, then delete it whatever its counter says.
    Finalize,
    /// The clause is said at the compute constructs inside.
    PushDown,
    /// The plan has turned the clause into who distributes the loop.
    Levels,
    /// A directive of its own after the loop's.
    Tile,
    /// The plan has chosen the clauses of one device type.
    ChooseDevice,
    /// The plan has made the launch, its loops and its data environment.
    Launch,
    /// The host waits, at the line before the directive.
    WaitBefore,
    /// The host waits for the queue where the region begins and where it ends.
    WaitAround,
    /// The host, or a queue, waits for queues.
    WaitQueues,
    /// The queue that waits.
    WaitingQueue,
    /// `declare target` around a routine.
    DeclareTarget,
    /// `declare variant` before a routine: the device calls another one.
    DeclareVariant,
    /// `declare target` of variables.
    DeclareTargetData,
    /// `declare target link` of variables.
    DeclareTargetLink,
    /// Data enter where the directive stands, and leave where the function returns.
    DeclareRegion,
    /// A pointer takes the clause, and hides the variable in the construct.
    Shadow,
    /// An `associate` block around the directive names components.
    Associate,
}

/// What a row makes of its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Clauses.
    Emit {
        /// The clauses, each with a hole.
        templates: Vec<Template>,
        /// Where they go.
        on: Place,
    },
    /// A directive's words, and clauses that it always has.
    Directive(Pragma),
    /// A statement with the hole `{expr}`.
    Statement(String),
    /// An expression in place of a call, with the call's arguments in its holes.
    Call(String),
    /// Directives in place of a call's statement.
    Pragmas(Vec<Pragma>),
    /// The row's lines, and nothing else.
    Lines,
    /// Code.
    Strategy(Strategy),
    /// Nothing.
    Drop,
    /// The directive is left untranslated.
    Refuse,
}

/// An OpenMP directive with clauses, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragma {
    /// Its words.
    pub words: String,
    /// Its clauses.
    pub clauses: Vec<Template>,
}

/// An OpenMP clause with a hole, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The clause's word.
    pub clause: String,
    /// What stands before the colon; may hold `{op}`.
    pub modifier: Option<String>,
    /// What stands after it.
    pub argument: TemplateArg,
}

/// The argument of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateArg {
    /// No parentheses.
    None,
    /// `{list}`
    List,
    /// Text with `{expr}`.
    Expr(String),
    /// Text without a hole.
    Literal(String),
}

/// Statements that come in pairs, with the holes `{expr}`, `{memory}` (address and bytes) and `{rows}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// They need the construct's data, and stand where it is on the device; others stand around the construct.
    pub inside: bool,
    /// The first statement.
    pub first: String,
    /// The last one.
    pub last: String,
}

/// One row of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its identity.
    pub id: RowId,
    /// The OpenMP version from which it applies.
    pub since: u8,
    /// The facts it asks for, each with the values it accepts.
    pub when: BTreeMap<String, Vec<String>>,
    /// What it makes.
    pub action: Action,
    /// The lines that go with it.
    pub lines: Option<Lines>,
    /// What becomes of the meaning.
    pub meaning: Meaning,
    /// The diagnostic that says so.
    pub code: Option<Code>,
    /// The sections that say so.
    pub cite: Vec<String>,
}

/// One row of a page about CUDA, which a person reads and the tests hold against the translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaRow {
    /// The facts it asks for, each with the values it accepts.
    pub when: BTreeMap<String, Vec<String>>,
    /// What the translation does, in a sentence.
    pub says: String,
    /// A text that the translation of an example has in it.
    pub shows: Option<String>,
    /// What becomes of the meaning.
    pub meaning: Meaning,
    /// The diagnostic that says so.
    pub code: Option<Code>,
}

impl CudaRow {
    /// Whether it is about a word on directive `on`.
    pub fn is_about(&self, on: &str) -> bool {
        self.when.get("on").is_none_or(|all| all.iter().any(|one| one == on))
    }
}

/// The facts of one place where a page is asked.
#[derive(Clone, Debug)]
pub struct Situation {
    /// In the order of their names, as those that rows ask for.
    facts: Vec<(&'static str, &'static str)>,
}

impl Situation {
    /// On directive `on`.
    pub fn new(on: &'static str) -> Situation {
        Situation { facts: vec![("on", on)] }
    }

    /// With one more fact.
    pub fn fact(mut self, fact: &'static str, value: &'static str) -> Situation {
        let place = self.facts.partition_point(|(known, _)| *known < fact);
        self.facts.insert(place, (fact, value));
        self
    }

    /// Whether a row applies: every fact it asks for is stated with a value it accepts.
    pub fn fits(&self, row: &Row) -> bool {
        let mut facts = self.facts.iter();
        row.when.iter().all(|(fact, values)| {
            let value = facts.find(|(known, _)| known == fact).map(|(_, value)| *value);
            value.is_some_and(|value| values.iter().any(|other| other == value))
        })
    }
}

/// The facts that a row may ask for, with all their values. `on` is any directive of the page's list.
pub const FACTS: &[(&str, &[&str])] = &[
    ("item", &["scalar", "array", "pointer", "member", "unknown"]),
    ("argument", &["absent", "runtime"]),
    ("modifier", &["none", "readonly", "zero"]),
    ("keyword", &["none", "present"]),
    ("memory", &["block", "rows"]),
    ("copies", &["private", "firstprivate"]),
    ("value", &["used", "unused"]),
    ("section", &["known", "unknown"]),
    ("used_as", &["address", "object"]),
    ("scope", &["program", "function"]),
    ("queue", &["none", "given"]),
    ("async", &["noval", "constant", "runtime", "sync"]),
    ("queues", &["kept", "dropped"]),
    ("device", &["host", "other", "current", "none", "unknown"]),
    ("chunk", &["none", "own", "given"]),
    ("tiles", &["kept", "loops", "lost"]),
    ("lang", &["c", "fortran"]),
];
