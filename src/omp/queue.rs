//! Queues: an async argument becomes a dependence on an object that stands for the queue.
//!
//! Invariant: work of one queue keeps its order; where OpenMP cannot wait on the device, the host waits.

use crate::acc::Queue;
use crate::acc::ast::{Expr, WaitArgument};

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};

/// The async argument that means the default queue.
pub const DEFAULT: &str = "acc2omp_async_noval";

/// What is known about an async argument, as a fact for the pages, and its text.
pub fn argument(
    queue: Option<&Expr>,
    constant: &dyn Fn(&Expr) -> Option<Queue>,
    speech: BaseLanguage,
) -> (&'static str, String) {
    let noval = || ("noval", slot(DEFAULT, speech));
    let Some(queue) = queue else { return noval() };
    let text = queue.text.trim();
    let named = match Queue::of(text, speech == BaseLanguage::Fortran) {
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

/// Fortran has so many objects for the queues of a device; those beyond share them, which keeps their order and no more.
pub const SLOTS: u32 = 64;

/// The current device in Fortran: OpenMP's routine under a name of our own, so that it meets no other declaration of it.
const DEVICE: &str = "acc2omp_device()";

/// The declarations of the objects for queues in a Fortran scoping unit: all units share them. The numbers of devices begin
/// below zero for compilers that give the host such a one.
pub fn queue_objects() -> [String; 2] {
    [format!("integer :: acc2omp_queue(0:{SLOTS}, -10:63)"), "common /acc2omp/ acc2omp_queue".to_owned()]
}

/// The statement that makes the current device known where those stand. Only a compiler for OpenMP reads it. Another `use` of
/// the module there does not give what this one renames, so that it gives both names.
pub fn queue_module(is_used: bool) -> String {
    let renamed = "!$ use omp_lib, only: acc2omp_device => omp_get_default_device";
    if is_used { format!("{renamed}, omp_get_default_device") } else { renamed.to_owned() }
}

/// The index of the object of a queue of the current device: in C the queue itself.
pub fn slot(queue: &str, speech: BaseLanguage) -> String {
    match speech {
        BaseLanguage::C => queue.to_owned(),
        BaseLanguage::Fortran => format!("{}, {DEVICE}", number(queue)),
    }
}

/// The same for a queue of the device that is said, if one is; in C the queue and the device.
fn slot_of(queue: &str, device: Option<&Expr>, speech: BaseLanguage) -> String {
    match (device, speech) {
        (None, _) => slot(queue, speech),
        (Some(device), BaseLanguage::C) => format!("{queue}, {}", device.text.trim()),
        (Some(device), BaseLanguage::Fortran) => format!("{}, {}", number(queue), device.text.trim()),
    }
}

/// The number of a queue's object in Fortran.
fn number(queue: &str) -> String {
    let queue = if Queue::of(queue, true) == Queue::Default { DEFAULT } else { queue };
    match queue.parse::<u32>() {
        _ if queue == DEFAULT => SLOTS.to_string(),
        Ok(number) => (number % SLOTS).to_string(),
        Err(_) => format!("modulo({queue}, {SLOTS})"),
    }
}

/// The slots of the queues that a `wait` names.
pub fn slots(argument: &WaitArgument, speech: BaseLanguage) -> Vec<String> {
    let slot = |queue: &Expr| slot_of(queue.text.trim(), argument.devnum.as_ref(), speech);
    argument.queues.iter().map(slot).collect()
}

/// What stands for the queues of another device where `text` has those of the current one, in C.
fn of_device(text: &str) -> String {
    text.replace("acc2omp_queue(", "acc2omp_queue_of(")
        .replace("acc2omp_wait(", "acc2omp_wait_device(")
        .replace("acc2omp_wait_async(", "acc2omp_wait_device_async(")
}

/// A line about the slots of a `wait`, which may be those of another device.
pub fn line_of(line: String, argument: &WaitArgument, speech: BaseLanguage) -> String {
    let is_other = argument.devnum.is_some() && speech == BaseLanguage::C;
    if is_other { of_device(&line) } else { line }
}

/// The same for a clause.
pub fn of_argument(mut clause: Clause, argument: &WaitArgument, speech: BaseLanguage) -> Clause {
    if let Body::Text(text) = &mut clause.body {
        *text = line_of(std::mem::take(text), argument, speech);
    }
    clause
}

/// The lines with which the host waits for the queue of a slot.
pub fn wait(slot: &str, speech: BaseLanguage) -> Vec<String> {
    match speech {
        BaseLanguage::C => vec![format!("acc2omp_wait({slot});")],
        BaseLanguage::Fortran => empty_task(&[("inout", slot)], true),
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
    vec![task.line(BaseLanguage::Fortran), task.end().line(BaseLanguage::Fortran)]
}

/// The statements with which queue `waiting`, or the host, waits for the queues of a `wait`.
pub fn waits(argument: &WaitArgument, waiting: Option<&str>, speech: BaseLanguage) -> Vec<String> {
    let queues = slots(argument, speech).into_iter();
    let lines: Vec<String> = match (waiting, speech) {
        (Some(waiting), BaseLanguage::C) => {
            queues.map(|queue| format!("acc2omp_wait_async({queue}, {waiting});")).collect()
        }
        (Some(waiting), BaseLanguage::Fortran) => {
            queues.flat_map(|queue| empty_task(&[("in", &queue), ("inout", waiting)], false)).collect()
        }
        (None, _) => queues.flat_map(|queue| wait(&queue, speech)).collect(),
    };
    lines.into_iter().map(|line| line_of(line, argument, speech)).collect()
}

/// The line with which the host waits for everything.
pub fn wait_all(speech: BaseLanguage) -> String {
    Directive::new(&[Leaf::Named("taskwait")]).line(speech)
}

/// A queued `target` apart from what it is combined with: gfortran 12 forgets the dependences of combined constructs.
pub fn apart(directive: &Directive) -> Option<[Directive; 2]> {
    let is_queued = directive.clauses.iter().any(|clause| clause.name == "depend");
    let is_combined = directive.leaves.len() > 1;
    if is_queued && is_combined { split(directive) } else { None }
}

/// A `target` and what it is combined with, each with its clauses; `None` if the directive is not `target`.
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
