//! Queues: an async argument becomes a dependence on an object that stands for the queue.
//!
//! Invariant: work of one queue keeps its order; where OpenMP cannot wait on the device, the host waits.

use crate::acc::ast::{Expr, WaitArgument};

use super::ast::{Body, Clause, Directive, Leaf};

/// The async argument that means the default queue.
pub const DEFAULT: &str = "acc2omp_async_noval";

/// What is known about an async argument, as a fact for the pages, and its text.
pub fn argument(queue: Option<&Expr>, is_constant: &dyn Fn(&Expr) -> bool) -> (&'static str, String) {
    let Some(queue) = queue else { return ("noval", DEFAULT.to_owned()) };
    match queue.text.trim() {
        "acc_async_sync" => ("sync", String::new()),
        "acc_async_noval" | "acc_async_default" => ("noval", DEFAULT.to_owned()),
        text if text.parse::<u32>().is_ok() || is_constant(queue) => ("constant", text.to_owned()),
        text => ("runtime", text.to_owned()),
    }
}

/// The statement with which the host waits for a queue.
pub fn wait(queue: &str) -> String {
    format!("acc2omp_wait({queue});")
}

/// The statements with which queue `waiting`, or the host, waits for the queues of a `wait`.
pub fn waits(argument: &WaitArgument, waiting: Option<&str>) -> Vec<String> {
    let queues = argument.queues.iter().map(|queue| queue.text.as_str());
    match waiting {
        Some(waiting) => queues.map(|queue| format!("acc2omp_wait_async({queue}, {waiting});")).collect(),
        None => queues.map(wait).collect(),
    }
}

/// The line with which the host waits for everything.
pub fn wait_all() -> String {
    Directive::new(&[Leaf::Named("taskwait")]).line()
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
