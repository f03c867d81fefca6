//! What the clauses of a directive ask for besides data: condition, queue, waits, sizes.
//!
//! Invariant: expressions stay in the host's text; the host evaluates them.

use crate::acc::ast::{ClauseKind, DirectiveKind, Expr, WaitArgument};
use crate::cuda::code::lines::braced;
use crate::cuda::code::text::operand;
use crate::cuda::program::Input;
use crate::plan;

/// What a queue's number is kept in.
const QUEUE: &str = "acc2omp_queue";

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct LaunchRequest {
    /// The device runs it if this holds.
    pub condition: Option<String>,
    /// The queue.
    pub queue: Option<String>,
    /// How the queue's number is computed, if that has effects, or if the region may change what it is computed from: a variable
    /// has it where several calls need it.
    kept: Option<String>,
    waits: Vec<String>,
    /// `num_gangs`
    pub gangs: Option<String>,
    /// `num_workers`
    pub workers: Option<String>,
    /// `vector_length`
    pub vector: Option<String>,
}

impl LaunchRequest {
    /// The clauses of directive `index`.
    pub fn of(input: &Input, index: usize) -> LaunchRequest {
        // In `_Pragma` quotes have their backslashes.
        let plain = |text: &String| text.replace("\\\"", "\"");
        let text = |expr: &Expr| plain(&expr.text.trim().to_owned());
        let sizes = &input.plan.notes[index].sizes;
        let mut request = LaunchRequest {
            gangs: sizes.gangs.as_ref().map(|all| product(&all.iter().map(plain).collect::<Vec<String>>())),
            workers: sizes.workers.as_ref().map(plain),
            vector: sizes.lanes.as_ref().map(plain),
            ..LaunchRequest::default()
        };
        for kind in input.clauses(index) {
            match kind {
                ClauseKind::Async(Some(queue)) => request.put_into(input, index, (queue, text(queue))),
                ClauseKind::Async(None) => request.queue = Some("acc_async_noval".to_owned()),
                _ => {}
            }
        }
        for kind in input.clauses(index) {
            match kind {
                ClauseKind::If(condition) => request.add(text(condition)),
                ClauseKind::SelfRun(None) => request.add("0".to_owned()),
                ClauseKind::SelfRun(Some(condition)) => request.add(format!("!({})", text(condition))),
                ClauseKind::Wait(argument) => {
                    let lines = wait_lines(argument.as_ref(), request.queue.as_deref());
                    request.waits.extend(lines);
                }
                _ => {}
            }
        }
        request
    }

    fn put_into(&mut self, input: &Input, index: usize, (queue, text): (&Expr, String)) {
        // The calls at the beginning and at the end of a region of data have no block in common.
        let has_block = input.bound[index].directive.kind != DirectiveKind::Data;
        let is_saved = || input.plan.saved.iter().any(|one| one.directive == index && one.span == queue.span);
        if has_block && (plan::has_effects(input.unit(), input.symbols, queue) || is_saved()) {
            self.kept = Some(text);
            self.queue = Some(QUEUE.to_owned());
        } else {
            self.queue = Some(text);
        }
    }

    /// Whether computing the queue's number may change something.
    pub fn has_effects(input: &Input, index: usize) -> bool {
        let mut clauses = input.clauses(index);
        clauses.any(|kind| match kind {
            ClauseKind::Async(Some(queue)) => plan::has_effects(input.unit(), input.symbols, queue),
            _ => false,
        })
    }

    /// The lines of a directive, after what they need first.
    pub fn around(&self, lines: Vec<String>) -> Vec<String> {
        let Some(text) = &self.kept else { return lines };
        let uses: usize = lines.iter().map(|line| line.matches(QUEUE).count()).sum();
        let is_head = |line: &String| {
            let line = line.trim();
            line == "do" || ["for (", "while (", "do {"].iter().any(|head| line.starts_with(head))
        };
        let is_repeated = lines.iter().any(is_head);
        if uses > 1 || is_repeated {
            let kept = format!("const int {QUEUE} = {text};");
            return braced(std::iter::once(kept).chain(lines).collect());
        }
        lines.into_iter().map(|line| line.replace(QUEUE, text)).collect()
    }

    fn add(&mut self, condition: String) {
        self.condition = Some(match self.condition.take() {
            Some(known) => format!("({known}) && ({condition})"),
            None => condition,
        });
    }

    /// The queue as an expression: that of the host's own work if none is asked for.
    pub fn queue_or_sync(&self) -> &str {
        self.queue.as_deref().unwrap_or("acc_async_sync")
    }

    /// The end of a routine's name, and its last argument, for the queue.
    pub fn suffix(&self) -> (&'static str, String) {
        match &self.queue {
            Some(queue) => ("_async", format!(", {queue}")),
            None => ("", String::new()),
        }
    }

    /// Lines that wait for other queues.
    pub fn waits(&self) -> Vec<String> {
        self.waits.clone()
    }

    /// Only what counts for each launch of a region stays.
    pub fn keep_gangs(&mut self) {
        self.condition = None;
        self.waits.clear();
    }
}

/// The product of some sizes.
fn product(sizes: &[String]) -> String {
    match sizes {
        [] => "1".to_owned(),
        [only] => only.clone(),
        several => several.iter().map(|size| operand(size)).collect::<Vec<String>>().join(" * "),
    }
}

/// What a `wait` clause or directive waits for.
pub fn wait_lines(argument: Option<&WaitArgument>, queue: Option<&str>) -> Vec<String> {
    let queues = argument.map(|argument| argument.queues.as_slice()).unwrap_or_default();
    let device = argument.and_then(|argument| argument.devnum.as_ref());
    let mut lines = Vec::new();
    if queues.is_empty() {
        lines.push(match (device, queue) {
            (None, None) => "acc_wait_all();".to_owned(),
            (None, Some(queue)) => format!("acc_wait_all_async({queue});"),
            (Some(device), None) => format!("acc_wait_all_device({});", device.text),
            (Some(device), Some(queue)) => format!("acc_wait_all_device_async({queue}, {});", device.text),
        });
    }
    for one in queues {
        lines.push(match (device, queue) {
            (None, None) => format!("acc_wait({});", one.text),
            (None, Some(queue)) => format!("acc_wait_async({}, {queue});", one.text),
            (Some(device), None) => format!("acc_wait_device({}, {});", one.text, device.text),
            (Some(device), Some(queue)) => {
                format!("acc_wait_device_async({}, {queue}, {});", one.text, device.text)
            }
        });
    }
    lines
}
