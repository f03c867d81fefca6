//! One OpenACC clause becomes OpenMP clauses, as its rule page says.
//!
//! Invariant: a clause that no page translates refuses the whole directive; nothing is passed over in silence.

use crate::acc::Queue;
use crate::acc::ast::{Clause as AccClause, ClauseKind, DataClause, Expr, ListItem, Name, WaitArgument};
use crate::diag::{self, Code, Diag};
use crate::plan::{Section, is_whole_pointer};
use crate::rules::{Action, Place, Row, Strategy};
use crate::sema::Class;

use super::ast::{BaseLanguage, Body, Clause};
use super::gathered::{Gathered, Start};
use super::look::{self, RuleQuery};
use super::memory::Holes;
use super::pieces::{Piece, Pieces};
use super::queue;
use super::shadow;
use super::texts::{multiplied, pointers, without_section};

/// The page that is about a clause.
pub fn entry(kind: &ClauseKind) -> &'static str {
    match kind {
        ClauseKind::If(_) => "clause/if",
        ClauseKind::SelfRun(_) => "clause/self",
        ClauseKind::Async(_) => "clause/async",
        ClauseKind::Wait(_) => "clause/wait",
        ClauseKind::NumGangs(_) => "clause/num_gangs",
        ClauseKind::NumWorkers(_) => "clause/num_workers",
        ClauseKind::VectorLength(_) => "clause/vector_length",
        ClauseKind::DeviceType(_) => "clause/device_type",
        ClauseKind::Private(_) => "clause/private",
        ClauseKind::Firstprivate(_) => "clause/firstprivate",
        ClauseKind::Reduction(..) => "clause/reduction",
        ClauseKind::Default { .. } => "clause/default",
        ClauseKind::Data(data, _) => data_entry(*data),
        ClauseKind::UseDevice(_) => "clause/use_device",
        ClauseKind::Finalize => "clause/finalize",
        ClauseKind::IfPresent => "clause/if_present",
        ClauseKind::Gang(_) => "clause/gang",
        ClauseKind::Worker(_) => "clause/worker",
        ClauseKind::Vector(_) => "clause/vector",
        ClauseKind::Seq => "clause/seq",
        ClauseKind::Independent => "clause/independent",
        ClauseKind::Auto => "clause/auto",
        ClauseKind::Collapse { .. } => "clause/collapse",
        ClauseKind::Tile(_) => "clause/tile",
        ClauseKind::AtomicRead => "clause/read",
        ClauseKind::AtomicWrite => "clause/write",
        ClauseKind::AtomicUpdate => "clause/update",
        ClauseKind::AtomicCapture => "clause/capture",
        ClauseKind::UpdateSelf(_) => "clause/self",
        ClauseKind::UpdateDevice(_) => "clause/device",
        ClauseKind::Bind(_) => "clause/bind",
        ClauseKind::Nohost => "clause/nohost",
        ClauseKind::DefaultAsync(_) => "clause/default_async",
        ClauseKind::DeviceNum(_) => "clause/device_num",
    }
}

fn data_entry(data: DataClause) -> &'static str {
    match data {
        DataClause::Copy => "clause/copy",
        DataClause::Copyin { .. } => "clause/copyin",
        DataClause::Copyout { .. } => "clause/copyout",
        DataClause::Create { .. } => "clause/create",
        DataClause::Present => "clause/present",
        DataClause::NoCreate => "clause/no_create",
        DataClause::Deviceptr => "clause/deviceptr",
        DataClause::Attach => "clause/attach",
        DataClause::Detach => "clause/detach",
        DataClause::Delete => "clause/delete",
        DataClause::DeviceResident => "clause/device_resident",
        DataClause::Link => "clause/link",
    }
}

/// The constant of the support header for a device type, written as a word or as a constant of `openacc.h`.
fn device_constant(name: &str) -> Option<String> {
    const TYPES: [&str; 7] = ["none", "default", "host", "not_host", "nvidia", "radeon", "current"];
    let word = name.strip_prefix("acc_device_").unwrap_or(name).to_ascii_lowercase();
    let word = match word.as_str() {
        "*" => "default",
        "multicore" => "host",
        word => word,
    };
    TYPES.contains(&word).then(|| format!("acc2omp_device_{word}"))
}

/// What a clause's translation asks about the program.
pub struct Facts<'a> {
    /// The class of a list item's variable.
    pub class: &'a dyn Fn(&ListItem) -> Class,
    /// Whether a list item is rows of a pointer to pointers.
    pub is_rows: &'a dyn Fn(&ListItem) -> bool,
    /// The queue that an expression of constants names.
    pub constant: &'a dyn Fn(&Expr) -> Option<Queue>,
    /// The section of a list item, where it is not plainly one piece of memory.
    pub section: &'a dyn Fn(&ListItem) -> Option<&'a Section>,
    /// Whether an `update` must know a list item by another name.
    pub needs_name: &'a dyn Fn(&ListItem) -> bool,
    /// Whether a list item of `host_data` is named in the construct for its address alone.
    pub is_address: &'a dyn Fn(&ListItem) -> bool,
    /// Whether a new directive begins with a list item.
    pub begins: &'a dyn Fn(&ListItem) -> bool,
}

/// Translates one clause.
pub fn translate(clause: &AccClause, query: &RuleQuery, facts: &Facts, into: &mut Gathered) {
    let class = facts.class;
    let entry = entry(&clause.kind);
    match &clause.kind {
        ClauseKind::Data(data, list) => {
            let query = query.with_modifier(modifier(*data));
            for item in list {
                item_by_row(
                    entry,
                    clause,
                    (item, class(item)),
                    &about_rows(&query, item, facts),
                    facts,
                    into,
                );
            }
        }
        ClauseKind::UseDevice(list) => {
            for item in list {
                let used_as = if (facts.is_address)(item) { "address" } else { "object" };
                let query = RuleQuery { used_as, ..query.clone() };
                item_by_row(entry, clause, (item, class(item)), &query, facts, into);
            }
        }
        ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => {
            moved(entry, clause, list, query, facts, into)
        }
        ClauseKind::If(expr) | ClauseKind::DeviceNum(expr) | ClauseKind::DefaultAsync(expr) => {
            by_row(entry, clause, Some(expr), query, into);
        }
        ClauseKind::SelfRun(condition) => by_row(entry, clause, condition.as_ref(), query, into),
        ClauseKind::NumGangs(sizes) => num_gangs(entry, clause, sizes, query, into),
        ClauseKind::NumWorkers(size) | ClauseKind::VectorLength(size) => {
            by_row(entry, clause, Some(size), query, into);
        }
        ClauseKind::Default { none } => {
            let keyword = if *none { "none" } else { "present" };
            by_row(entry, clause, None, &RuleQuery { keyword, ..query.clone() }, into);
        }
        ClauseKind::Async(queue) => async_queue(entry, clause, queue.as_ref(), query, facts, into),
        ClauseKind::Wait(Some(argument)) if !argument.queues.is_empty() => {
            waits(entry, clause, argument, query, into);
        }
        ClauseKind::Wait(_)
        | ClauseKind::Finalize
        | ClauseKind::IfPresent
        | ClauseKind::AtomicRead
        | ClauseKind::AtomicWrite
        | ClauseKind::AtomicUpdate
        | ClauseKind::AtomicCapture
        | ClauseKind::Nohost => by_row(entry, clause, None, query, into),
        ClauseKind::Bind(name) => match look::row(entry, query) {
            Some(row) => apply(row, clause, name.text.trim_matches('"'), query, into),
            None => unknown(clause, into),
        },
        // Here it names what the program runs on; elsewhere it groups clauses, which the plan has resolved.
        ClauseKind::DeviceType(names) if query.on == "set" => {
            device_type(entry, clause, names.first(), query, into);
        }
        ClauseKind::DeviceType(_) if matches!(query.on, "init" | "shutdown") => {
            by_row(entry, clause, None, query, into)
        }
        // The plan has turned these into attributes, levels and nests.
        ClauseKind::DeviceType(_)
        | ClauseKind::Private(_)
        | ClauseKind::Firstprivate(_)
        | ClauseKind::Reduction(..)
        | ClauseKind::Gang(_)
        | ClauseKind::Worker(_)
        | ClauseKind::Vector(_)
        | ClauseKind::Seq
        | ClauseKind::Independent
        | ClauseKind::Auto
        | ClauseKind::Collapse { .. }
        | ClauseKind::Tile(_) => {}
    }
}

/// What stands before the list of a clause.
fn modifier(data: DataClause) -> &'static str {
    match data {
        DataClause::Copyin { readonly: true } => "readonly",
        DataClause::Copyout { zero: true } | DataClause::Create { zero: true } => "zero",
        _ => "none",
    }
}

/// What an `update` moves.
fn moved(
    entry: &str,
    clause: &AccClause,
    list: &[ListItem],
    query: &RuleQuery,
    facts: &Facts,
    into: &mut Gathered,
) {
    for item in list {
        if (facts.begins)(item) {
            into.turns.push(Start::here(into));
        }
        let about = (item, (facts.class)(item));
        item_by_row(entry, clause, about, &about_rows(query, item, facts), facts, into);
    }
}

/// The queue of a construct.
fn async_queue(
    entry: &str,
    clause: &AccClause,
    queue: Option<&Expr>,
    query: &RuleQuery,
    facts: &Facts,
    into: &mut Gathered,
) {
    let (known, text) = queue::argument(queue, facts.constant, query.speech);
    match look::row(entry, &RuleQuery { queue: known, ..query.clone() }) {
        Some(row) => apply(row, clause, &text, query, into),
        None => unknown(clause, into),
    }
}

/// The queues that a clause waits for, one by one.
fn waits(entry: &str, clause: &AccClause, argument: &WaitArgument, query: &RuleQuery, into: &mut Gathered) {
    let speech = query.speech;
    for (text, queue) in queue::slots(argument, speech).into_iter().zip(&argument.queues) {
        let (clauses, lines) = (into.clauses.len(), into.before.len());
        by_row(entry, clause, Some(&Expr { text, span: queue.span }), query, into);
        let made = into.clauses.split_off(clauses).into_iter();
        let made = made.map(|(on, clause)| (on, queue::of_argument(clause, argument, speech)));
        into.clauses.extend(made.collect::<Vec<_>>());
        let waits = into.before.split_off(lines).into_iter();
        into.before.extend(waits.map(|line| queue::line_of(line, argument, speech)).collect::<Vec<_>>());
    }
}

/// The type of device that the program runs on from now on.
fn device_type(entry: &str, clause: &AccClause, name: Option<&Name>, query: &RuleQuery, into: &mut Gathered) {
    let known = name.and_then(|name| device_constant(&name.text));
    match (look::row(entry, query), known) {
        (Some(row), Some(text)) => apply(row, clause, &text, query, into),
        _ => unknown(clause, into),
    }
}

fn about_rows(query: &RuleQuery, item: &ListItem, facts: &Facts) -> RuleQuery {
    let memory = if (facts.is_rows)(item) { "rows" } else { "block" };
    RuleQuery { memory, ..query.clone() }
}

fn item_by_row(
    entry: &str,
    clause: &AccClause,
    (item, class): (&ListItem, Class),
    query: &RuleQuery,
    facts: &Facts,
    into: &mut Gathered,
) {
    let query = query.with_item(item, class);
    let Some(row) = look::row(entry, &query) else { return unknown(clause, into) };
    let pieces = (facts.section)(item).map(|section| Pieces::of(item, section, query.speech));
    let pieces = match (facts.needs_name)(item) {
        true => Some(pieces.unwrap_or_else(|| Pieces::plain(item)).named()),
        false => pieces,
    };
    // A pointer without a section: what is meant is what it points to, not the pointer's own bytes.
    let whole = is_whole_pointer(item, class) && entry == "clause/present";
    let text = match entry {
        // The object itself: OpenACC compilers take `this` for all of it.
        _ if item.text == "this" && class == Class::Unknown => "this[0:1]".to_owned(),
        "clause/no_create" if matches!(query.item, "pointer" | "member") => {
            format!("{}[:0]", without_section(&item.text))
        }
        // The pointers: what they point to is the business of the row's lines.
        _ if query.memory == "rows" => pointers(&item.text).to_owned(),
        _ if whole => format!("{}[:0]", item.text),
        _ => pieces.as_ref().map_or(&item.text, |pieces| &pieces.item).clone(),
    };
    let known = into.clauses.len();
    fill(row, clause, &Holes::item(text, item, class), &query, into);
    if let Some(pieces) = pieces.filter(|pieces| !pieces.is_one()) {
        let own = into.clauses.split_off(known);
        into.pieces.extend(own.into_iter().map(|(_, clause)| Piece { pieces: pieces.clone(), clause }));
    }
}

fn by_row(entry: &str, clause: &AccClause, expr: Option<&Expr>, query: &RuleQuery, into: &mut Gathered) {
    let query = match (query.argument, expr) {
        ("", None) => query.with_argument("absent"),
        ("", Some(_)) => query.with_argument("runtime"),
        _ => query.clone(),
    };
    let Some(row) = look::row(entry, &query) else { return unknown(clause, into) };
    apply(row, clause, expr.map_or("", |expr| expr.text.as_str()), &query, into);
}

fn num_gangs(entry: &str, clause: &AccClause, sizes: &[Expr], query: &RuleQuery, into: &mut Gathered) {
    let Some(row) = look::row(entry, query) else { return unknown(clause, into) };
    if sizes.len() > 1 {
        into.diags.push(diag::gang_dims_merged(clause.span));
    }
    let product: Vec<&str> = sizes.iter().map(|size| size.text.as_str()).collect();
    apply(row, clause, &multiplied(&product), query, into);
}

fn unknown(clause: &AccClause, into: &mut Gathered) {
    into.refused = true;
    into.diags.push(diag::not_yet(clause.span, &format!("`{}` here", clause.name.text)));
}

/// Does what a row says; `text` fills the hole of its template.
fn apply(row: &'static Row, clause: &AccClause, text: &str, query: &RuleQuery, into: &mut Gathered) {
    fill(row, clause, &Holes::text(text), query, into);
}

/// A statement in the host language. `None` if it calls what the support header has for C alone.
fn said(line: String, speech: BaseLanguage) -> Option<String> {
    match speech {
        BaseLanguage::C => Some(line),
        BaseLanguage::Fortran if line.contains("acc2omp_") => None,
        // Without OpenMP there is no such routine.
        BaseLanguage::Fortran => Some(format!("!$ call {}", line.trim_end_matches(';'))),
    }
}

/// The diagnostic of a row: about the clause, or about its modifier where only that is dropped.
fn said_of(code: Code, clause: &AccClause, query: &RuleQuery) -> Option<Diag> {
    let dropped = clause.modifier.filter(|_| query.modifier == "readonly" && code == diag::HINT_DROPPED);
    match dropped {
        Some(modifier) => diag::of_code(code, modifier, query.modifier),
        None => diag::of_code(code, clause.span, &clause.name.text),
    }
}

fn fill(row: &'static Row, clause: &AccClause, holes: &Holes, query: &RuleQuery, into: &mut Gathered) {
    let text = holes.expr.as_str();
    into.rows.push(&row.id);
    if let Some(said) = row.code.filter(|_| !query.quiet).and_then(|code| said_of(code, clause, query))
        && !into.diags.contains(&said)
    {
        into.diags.push(said);
    }
    if let Some(lines) = &row.lines {
        let line = |template: &str| holes.fill(template).and_then(|line| said(line, query.speech));
        let (Some(first), Some(last)) = (line(&lines.first), line(&lines.last)) else {
            return unknown(clause, into);
        };
        let (before, after) = if lines.inside { &mut into.inside } else { &mut into.around };
        before.push(first);
        // What came last goes first.
        after.insert(0, last);
    }
    match &row.action {
        Action::Emit { templates, on } => {
            for filled in templates.iter().map(|template| look::fill(template, text, "")) {
                match (&filled.body, filled.name.as_str()) {
                    (Body::Text(condition), "if") if query.is_compute() => {
                        into.conditions.push(condition.clone())
                    }
                    _ => into.clauses.push((*on, filled)),
                }
            }
        }
        Action::Statement(template) => match holes.fill(template).and_then(|line| said(line, query.speech)) {
            Some(statement) => into.statements.push(statement),
            None => unknown(clause, into),
        },
        Action::Strategy(Strategy::ThreadLimit) => into.lanes.push(text.to_owned()),
        Action::Strategy(Strategy::Condition) => into.condition = Some(text.to_owned()),
        Action::Strategy(Strategy::WaitBefore) if text.is_empty() => {
            into.before.push(queue::wait_all(query.speech))
        }
        Action::Strategy(Strategy::WaitBefore) => {
            into.before.extend(queue::wait(text, query.speech));
        }
        Action::Strategy(Strategy::WaitAround) => {
            into.before.extend(queue::wait(text, query.speech));
            into.at_end.extend(queue::wait(text, query.speech));
        }
        // A section here is all of an array.
        Action::Strategy(Strategy::DeclareTargetData) => {
            into.globals.0.push(without_section(text).to_owned());
        }
        Action::Strategy(Strategy::DeclareTargetLink) => {
            into.globals.1.push(without_section(text).to_owned());
        }
        Action::Pragmas(pragmas) => {
            let (enter, exit) = &mut into.region;
            for (pragma, clauses) in pragmas.iter().zip([enter, exit]) {
                clauses.extend(pragma.clauses.iter().map(|template| look::fill(template, text, "")));
            }
        }
        Action::Strategy(Strategy::DeclareVariant) => into.variant = Some(text.to_owned()),
        Action::Strategy(Strategy::Shadow) => {
            let list = Body::List(vec![shadow::pointer(text)]);
            let clause = Clause { name: "use_device_ptr".to_owned(), modifier: None, body: list };
            into.clauses.push((Place::MapLeaf, clause));
            into.shadowed.push(text.to_owned());
        }
        Action::Strategy(Strategy::WaitingQueue) => into.queue = Some(text.to_owned()),
        Action::Strategy(_) | Action::Directive(_) | Action::Call(_) | Action::Lines | Action::Drop => {}
        Action::Refuse => into.refused = true,
    }
}
