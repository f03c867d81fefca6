//! `enter data` and `exit data` as calls of the run-time library (OpenACC 3.3, 2.7, 2.14).
//!
//! Invariant: memory is on the device before a pointer is attached to it, and a pointer is detached before its memory goes.

use super::data::{is_bare_pointer, items};
use super::lowering::Lowering;
use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::cuda::code::change::Change;
use crate::cuda::code::lines::under;
use crate::cuda::code::text::operand;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::clause::LaunchRequest;
use crate::cuda::types::item::{self, Address, Rows};

/// What the calls of one directive have in common.
struct Calls<'a, 'b> {
    input: &'b Input<'a>,
    index: usize,
    /// Memory leaves the device.
    leaves: bool,
    /// What the names of routines end with: `_finalize` where counters go to zero, `_async` where there is a queue.
    end: &'static str,
    suffix: &'static str,
    /// The last argument of routines with a queue, and the queue itself.
    queue: String,
    queue_or_sync: String,
}

/// What moves an item.
enum Move {
    /// A routine of OpenACC.
    Routine(String),
    /// The run-time library's for `create(zero:)`.
    CreateZero,
}

impl Lowering<'_> {
    /// `enter data` and `exit data`
    pub fn unstructured(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let request = LaunchRequest::of(self.input, index);
        let calls = Calls::of(self.input, index, &request);
        let mut items = items(self.input, index);
        if calls.leaves {
            items.sort_by_key(|(_, item)| std::cmp::Reverse(item::order(self.input, index, item)));
        }
        let mut lines = Vec::new();
        for (clause, item) in items {
            lines.extend(calls.of_item(*clause, item)?);
        }
        self.standalone(index, &request, lines)
    }
}

impl<'a, 'b> Calls<'a, 'b> {
    fn of(input: &'b Input<'a>, index: usize, request: &LaunchRequest) -> Calls<'a, 'b> {
        let (suffix, queue) = request.suffix();
        let finalize = input.clauses(index).any(|kind| *kind == ClauseKind::Finalize);
        Calls {
            input,
            index,
            leaves: input.bound[index].directive.kind == DirectiveKind::ExitData,
            end: if finalize { "_finalize" } else { "" },
            suffix,
            queue,
            queue_or_sync: request.queue_or_sync().to_owned(),
        }
    }

    /// The lines for an item of a clause.
    fn of_item(&self, clause: DataClause, item: &ListItem) -> Result<Vec<String>, Refused> {
        let text = item.text.trim();
        let moved = match clause {
            DataClause::Attach => return Ok(vec![self.attach(text)]),
            DataClause::Detach => return Ok(vec![self.detach(text)]),
            DataClause::Copyin { .. } | DataClause::Copy => Move::Routine("acc_copyin".to_owned()),
            DataClause::Create { zero: false } => Move::Routine("acc_create".to_owned()),
            DataClause::Create { zero: true } => Move::CreateZero,
            DataClause::Copyout { .. } => Move::Routine(format!("acc_copyout{}", self.end)),
            DataClause::Delete => Move::Routine(format!("acc_delete{}", self.end)),
            _ => return Err(refused(item.span, "this clause here")),
        };
        if let Some(rows) = item::rows(self.input, self.index, item) {
            let lines = self.of_rows(&moved, text, &rows);
            return Ok(match item::declared_pointer(self.input, self.index, item) {
                Some(pointer) if self.leaves => [vec![self.detach(&pointer)], lines].concat(),
                Some(pointer) => [lines, vec![self.attach(&pointer)]].concat(),
                None => lines,
            });
        }
        if self.leaves && is_bare_pointer(self.input, self.index, item) {
            // All that the pointer leads to.
            let detached = item::declared_pointer(self.input, self.index, item).map(|one| self.detach(&one));
            return Ok(detached.into_iter().chain([self.call(&moved, text, text, "1")]).collect());
        }
        let address = item::address(self.input, self.index, item)?;
        let line = self.call(&moved, text, &address.from, &address.bytes);
        Ok(match item::pointer(self.input, self.index, item) {
            Some(pointer) if self.leaves => vec![self.detach(&pointer), line],
            Some(pointer) => vec![line, self.attach_to(&pointer, text, &address)],
            None => vec![line],
        })
    }

    /// The call that moves `bytes` from `from`, of what the clause says as `text`.
    fn call(&self, moved: &Move, text: &str, from: &str, bytes: &str) -> String {
        let Calls { suffix, queue, queue_or_sync, .. } = self;
        match moved {
            Move::Routine(routine) => format!("{routine}{suffix}({from}, {bytes}{queue});"),
            Move::CreateZero => {
                let name = text.replace('"', "'");
                format!("acc2omp_create_zero_dynamic(\"{name}\", {from}, {bytes}, {queue_or_sync});")
            }
        }
    }

    fn attach(&self, pointer: &str) -> String {
        format!("acc_attach{}((void **)&{pointer}{});", self.suffix, self.queue)
    }

    fn detach(&self, pointer: &str) -> String {
        format!("acc_detach{}{}((void **)&{pointer}{});", self.end, self.suffix, self.queue)
    }

    /// Attaches a pointer to memory that may begin elsewhere than it points.
    fn attach_to(&self, pointer: &str, text: &str, address: &Address) -> String {
        if address.from == pointer {
            return self.attach(pointer);
        }
        let (name, from, queue) = (text.replace('"', "'"), &address.from, &self.queue_or_sync);
        format!("acc2omp_attach_dynamic(\"{name}\", &{pointer}, {from}, {queue});")
    }

    /// The lines for rows that an array of pointers leads to.
    fn of_rows(&self, moved: &Move, text: &str, rows: &Rows) -> Vec<String> {
        let Rows { name, count, from, length, .. } = rows;
        let (start, row) = (rows.start(), rows.row());
        let bytes = format!("{} * sizeof *{name}", operand(count));
        let each = self.call(moved, text, &row, &format!("{} * sizeof **{name}", operand(length)));
        let pointer = format!("{name}[acc_row]");
        let Calls { end, suffix, queue, queue_or_sync, .. } = self;
        if self.leaves {
            let mut lines = under(rows.head(), vec![self.detach(&pointer), each]);
            lines.push(format!("acc_delete{end}{suffix}({start}, {bytes}{queue});"));
            return lines;
        }
        let attached = match from.as_str() {
            "0" => self.attach(&pointer),
            _ => format!("acc2omp_attach_dynamic(\"{name}\", &{pointer}, {row}, {queue_or_sync});"),
        };
        let mut lines = vec![format!("acc_copyin{suffix}({start}, {bytes}{queue});")];
        lines.extend(under(rows.head(), vec![each, attached]));
        lines
    }
}
