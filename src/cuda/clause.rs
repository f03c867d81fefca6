//! What the clauses of a directive ask for besides data: condition, queue, waits, sizes.
//!
//! Invariant: expressions stay in the host's text; the host evaluates them.

use crate::acc::ast::{ClauseKind, Expr};

use super::kernel::{is_wait, wait_lines};
use super::{Input, Refused};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The device runs it if this holds.
    pub condition: Option<String>,
    /// The queue.
    pub queue: Option<String>,
    waits: Vec<String>,
    /// `num_gangs`
    pub gangs: Option<String>,
    /// `num_workers`
    pub workers: Option<String>,
    /// `vector_length`
    pub vector: Option<String>,
}

impl Asked {
    /// The clauses of directive `index`.
    pub fn of(input: &Input, index: usize) -> Result<Asked, Refused> {
        let mut asked = Asked::default();
        // In `_Pragma` quotes have their backslashes.
        let text = |expr: &Expr| expr.text.trim().replace("\\\"", "\"");
        for kind in input.clauses(index) {
            match kind {
                ClauseKind::Async(Some(queue)) => asked.queue = Some(text(queue)),
                ClauseKind::Async(None) => asked.queue = Some("acc_async_noval".to_owned()),
                _ => {}
            }
        }
        for kind in input.clauses(index) {
            match kind {
                ClauseKind::If(condition) => asked.add(text(condition)),
                ClauseKind::SelfRun(None) => asked.add("0".to_owned()),
                ClauseKind::SelfRun(Some(condition)) => asked.add(format!("!({})", text(condition))),
                ClauseKind::NumGangs(all) => {
                    let sizes: Vec<String> = all.iter().map(text).collect();
                    asked.gangs = Some(sizes.join(" * "));
                }
                ClauseKind::NumWorkers(expr) => asked.workers = Some(text(expr)),
                ClauseKind::VectorLength(expr) => asked.vector = Some(text(expr)),
                ClauseKind::Gang(arguments) => {
                    for argument in arguments {
                        if let crate::acc::ast::GangArgument::Num(expr) = argument {
                            asked.gangs = Some(text(expr));
                        }
                    }
                }
                ClauseKind::Worker(Some(expr)) => asked.workers = Some(text(expr)),
                ClauseKind::Vector(Some(expr)) => asked.vector = Some(text(expr)),
                other => {
                    if let Some(argument) = is_wait(other) {
                        let queue = asked.queue.clone();
                        asked.waits.extend(wait_lines(argument, queue.as_deref()));
                    }
                }
            }
        }
        Ok(asked)
    }

    fn add(&mut self, condition: String) {
        self.condition = Some(match self.condition.take() {
            Some(known) => format!("({known}) && ({condition})"),
            None => condition,
        });
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
