//! Queues: an async argument becomes a dependence on an object that stands for the queue.
//!
//! Invariant: work of one queue keeps its order; where OpenMP cannot wait on the device, the host waits.

use crate::acc::Queue;
use crate::acc::ast::{Expr, WaitArgument};

use super::ast::{Body, Clause, Directive, Leaf, Speech};

/// The async argument that means the default queue.
pub const DEFAULT: &str = "acc2omp_async_noval";

/// What is known about an async argument, as a fact for the pages, and its text.
pub fn argument(
    queue: Option<&Expr>,
    constant: &dyn Fn(&Expr) -> Option<Queue>,
    speech: Speech,
) -> (&'static str, String) {
    let noval = || ("noval", slot(DEFAULT, speech));
    let Some(queue) = queue else { return noval() };
    let text = queue.text.trim();
    let named = match Queue::of(text, speech == Speech::Fortran) {
        Queue::Other if text.parse::<u32>().is_err() => constant(queue),
        other => Some(other),
    };
    match named {
        Some(Queue::Synchronous) => ("sync", String::new()),
        Some(Queue::Default) => noval(),
        Some(Queue::Other) => ("constant", slot(text, speech)),
        None => ("runtime", slot(text, speech)),
    }
}

/// Fortran has so many objects for queues; those beyond share them, which keeps their order and no more.
pub const SLOTS: u32 = 64;

/// The declarations of the objects for queues in a Fortran scoping unit: all units share them.
pub fn queue_objects() -> [String; 2] {
    [format!("integer :: acc2omp_queue(0:{SLOTS})"), "common /acc2omp/ acc2omp_queue".to_owned()]
}

/// The index of a queue's object: in C the queue itself.
pub fn slot(queue: &str, speech: Speech) -> String {
    let is_default = speech == Speech::Fortran && Queue::of(queue, true) == Queue::Default;
    let queue = if is_default { DEFAULT } else { queue };
    match (speech, queue.parse::<u32>()) {
        (Speech::C, _) => queue.to_owned(),
        (Speech::Fortran, _) if queue == DEFAULT => SLOTS.to_string(),
        (Speech::Fortran, Ok(number)) => (number % SLOTS).to_string(),
        (Speech::Fortran, Err(_)) => format!("modulo({queue}, {SLOTS})"),
    }
}

/// The lines with which the host waits for the queue of a slot.
pub fn wait(slot: &str, speech: Speech) -> Vec<String> {
    match speech {
        Speech::C => vec![format!("acc2omp_wait({slot});")],
        Speech::Fortran => empty_task(&[("inout", slot)], true),
    }
}

/// An empty task with dependences on the queues of slots; the host waits for it unless it is deferred.
fn empty_task(queues: &[(&str, &str)], waits: bool) -> Vec<String> {
    let mut task = Directive::new(&[Leaf::Named("task")]);
    for (kind, slot) in queues {
        task.add(Clause::list("depend", Some(kind), &format!("acc2omp_queue({slot})")));
    }
    if waits {
        task.add(Clause::text("if", ".false."));
    }
    vec![task.line(Speech::Fortran), task.end().line(Speech::Fortran)]
}

/// The statements with which queue `waiting`, or the host, waits for the queues of a `wait`.
pub fn waits(argument: &WaitArgument, waiting: Option<&str>, speech: Speech) -> Vec<String> {
    let queues = argument.queues.iter().map(|queue| slot(queue.text.trim(), speech));
    match (waiting, speech) {
        (Some(waiting), Speech::C) => {
            queues.map(|queue| format!("acc2omp_wait_async({queue}, {waiting});")).collect()
        }
        (Some(waiting), Speech::Fortran) => {
            queues.flat_map(|queue| empty_task(&[("in", &queue), ("inout", waiting)], false)).collect()
        }
        (None, _) => queues.flat_map(|queue| wait(&queue, speech)).collect(),
    }
}

/// The line with which the host waits for everything.
pub fn wait_all(speech: Speech) -> String {
    Directive::new(&[Leaf::Named("taskwait")]).line(speech)
}

/// A queued `target` apart from what it is combined with: gfortran 12 forgets the dependences of combined constructs.
pub fn apart(directive: &Directive) -> Option<[Directive; 2]> {
    let is_queued = directive.clauses.iter().any(|clause| clause.name == "depend");
    let is_combined = directive.leaves.len() > 1;
    if is_queued && is_combined { split(directive) } else { None }
}

/// A `target` and what it is combined with, each with its clauses; `None` if the directive is no `target`.
pub fn split(directive: &Directive) -> Option<[Directive; 2]> {
    let (first, rest) = directive.leaves.split_first()?;
    if *first != Leaf::Target {
        return None;
    }
    const OF_TARGET: [&str; 7] =
        ["if", "map", "is_device_ptr", "has_device_addr", "defaultmap", "nowait", "depend"];
    let mut both = [Directive::new(&[Leaf::Target]), Directive::new(rest)];
    for clause in &directive.clauses {
        let place = usize::from(!OF_TARGET.contains(&clause.name.as_str()));
        both[place].clauses.push(clause.clone());
    }
    Some(both)
}

/// Makes the host wait for the directive, which keeps its place in its queue.
pub fn hold(directive: &mut Directive) {
    directive.clauses.retain(|clause| clause.name != "nowait");
}

/// Takes what only allocates out of an `enter data` that is queued: there is nothing to wait for, and the data is there
/// at once for the directives of other queues, as it is in OpenACC. An object goes before its members. `None` if nothing
/// is queued.
pub fn allocations(directive: &mut Directive) -> Option<Directive> {
    let is_queued = directive.clauses.iter().any(|clause| clause.name == "nowait");
    let is_alloc = |clause: &Clause| match &clause.body {
        Body::List(items) => {
            clause.modifier.as_deref() == Some("alloc") || items.iter().any(|item| item.starts_with("this["))
        }
        _ => false,
    };
    let (allocs, others): (Vec<Clause>, Vec<Clause>) =
        std::mem::take(&mut directive.clauses).into_iter().partition(|clause| is_queued && is_alloc(clause));
    directive.clauses = others;
    let conditions = directive.clauses.iter().filter(|clause| clause.name == "if").cloned();
    let clauses: Vec<Clause> = conditions.chain(allocs.iter().cloned()).collect();
    (!allocs.is_empty()).then(|| Directive { leaves: directive.leaves.clone(), argument: None, clauses })
}
