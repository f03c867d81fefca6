//! Data clauses and directives about data.
//!
//! Invariant: where memory is shared, they do nothing; what they name is looked up all the same, as a program must be defined
//! in each way.

use super::memory::{Ref, Value};
use super::present::{Counter, Range, Transfer};
use super::queue::{Action, Exit};
use super::{Context, Invalid, Machine, Reply, Visible};
use crate::hunt::program::{Alone, Block, Clause, DataKind, Item, Place, Type};

/// What an item of a data clause is.
pub(super) struct Datum {
    /// Its cells.
    pub range: Range,
    /// The pointer that leads there, where the host has it.
    pub pointer: Option<Ref>,
    /// How many cells after the start of the variable, or of the pointer's target, the range begins.
    pub low: i64,
}

/// Where a variable or a pointer's target begins, the pointer, and runs of cells as starts and lengths.
type Ranges = (Ref, Option<Ref>, Vec<(i64, i64)>);

impl<'p> Machine<'p> {
    /// What an item names; it must be contiguous.
    pub(super) fn datum(&mut self, item: &Item, context: &Context) -> Reply<Datum> {
        let (start, pointer, ranges) = self.ranges(item, context)?;
        match ranges.as_slice() {
            [(low, count)] if *count > 0 => {
                let range = Range { start: start.plus(*low), count: *count };
                Ok(Datum { range, pointer, low: *low })
            }
            _ => Err(Invalid::new("a data clause names what is not contiguous")),
        }
    }

    /// The cells of an item, as starts and lengths from the first cell of the variable or of the pointer's target.
    fn ranges(&mut self, item: &Item, context: &Context) -> Reply<Ranges> {
        let (at, ty) = self.locate(&item.place, context)?;
        let mut bounds = Vec::new();
        for (low, count) in &item.section {
            bounds.push((self.number(low, context)?, self.number(count, context)?));
        }
        match ty {
            Type::Pointer(element) if !bounds.is_empty() => {
                let Value::Pointer(Some(start)) = self.memory.read(at, false)? else {
                    return Err(Invalid::new("no pointer"));
                };
                let size = self.program.cells(&element) as i64;
                let [(low, count)] = bounds[..] else { return Err(Invalid::new("a section does not fit")) };
                let range = (low * size, count * size);
                for cell in [range.0, range.0 + range.1 - 1] {
                    self.memory.peek(start.plus(cell))?;
                }
                Ok((start, Some(at), vec![range]))
            }
            Type::Array(extents, element) if !bounds.is_empty() => {
                if extents.len() != bounds.len() {
                    return Err(Invalid::new("a section does not fit"));
                }
                for (extent, (low, count)) in extents.iter().zip(&bounds) {
                    if *low < 0 || *count < 1 || low + count > *extent as i64 {
                        return Err(Invalid::new("a section is out of bounds"));
                    }
                }
                let size = self.program.cells(&element) as i64;
                Ok((at, None, rectangle(&extents, &bounds, size)))
            }
            ty => Ok((at, None, vec![(0, self.program.cells(&ty) as i64)])),
        }
    }

    /// The data clauses of a list of clauses, item by item.
    pub(super) fn items(clauses: &'p [Clause]) -> impl Iterator<Item = (DataKind, &'p Item)> {
        clauses.iter().flat_map(|clause| match clause {
            Clause::Data(kind, items) => items.iter().map(|item| (*kind, item)).collect::<Vec<_>>(),
            _ => Vec::new(),
        })
    }

    /// Whether the `if` clause says no.
    pub(super) fn is_off(&mut self, clauses: &[Clause], context: &Context) -> Reply<bool> {
        for clause in clauses {
            match clause {
                Clause::If(condition) if self.number(condition, context)? == 0 => return Ok(true),
                Clause::OnSelf(condition) if self.number(condition, context)? != 0 => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    /// The start of the lifetimes that clauses name: what must be copied, and how they end.
    pub(super) fn enter(
        &mut self,
        clauses: &'p [Clause],
        counter: Counter,
        context: &Context,
    ) -> Reply<(Vec<Transfer>, Vec<Exit>)> {
        let (mut transfers, mut exits) = (Vec::new(), Vec::new());
        for (kind, item) in Self::items(clauses) {
            if matches!(kind, DataKind::DevicePtr | DataKind::UseDevice) {
                continue;
            }
            let datum = self.datum(item, context)?;
            let mut exit = Exit { kind, range: Some(datum.range), counter, finalize: false, pointer: None };
            if kind == DataKind::Attach {
                exit.range = None;
            } else if let Some(transfer) = self.present.enter(&mut self.memory, kind, datum.range, counter)? {
                // What is attached next is not overwritten by the copy of what holds the pointer.
                transfers.push(transfer);
                if self.holds_pointers(transfer) {
                    self.present.copy(&mut self.memory, transfer)?;
                    transfers.pop();
                }
            }
            let is_there = self.present.device(datum.range.start, datum.range)?.is_some();
            if let (Some(pointer), true) = (datum.pointer, is_there)
                && self.present.attach(&mut self.memory, pointer, datum.range.start)?
            {
                exit.pointer = Some(pointer);
            }
            exits.insert(0, exit);
        }
        Ok((transfers, exits))
    }

    fn holds_pointers(&self, transfer: Transfer) -> bool {
        (0..transfer.host.count)
            .any(|cell| matches!(self.memory.peek(transfer.host.start.plus(cell)), Ok(Value::Pointer(_))))
    }

    /// What clauses say to the code inside: which variables have a place on the device.
    pub(super) fn visible(&mut self, clauses: &'p [Clause], context: &mut Context) -> Reply<()> {
        for (kind, item) in Self::items(clauses) {
            let Place::Var(var) = item.place else { continue };
            if matches!(kind, DataKind::Attach | DataKind::Detach | DataKind::DevicePtr) {
                continue;
            }
            let datum = self.datum(item, context)?;
            context.visible.push(Visible { var, low: datum.low, count: datum.range.count });
        }
        Ok(())
    }

    /// A `data` construct.
    pub(super) fn data(
        &mut self,
        clauses: &'p [Clause],
        body: &'p Block,
        context: &mut Context,
    ) -> Reply<()> {
        if context.on_device() {
            return Err(Invalid::new("data in a compute region"));
        }
        if Self::items(clauses).next().is_none() {
            return Err(Invalid::new("a directive about no data"));
        }
        if self.is_serial() || self.is_off(clauses, context)? {
            return self.block(body, context);
        }
        let queue = self.queue_of(clauses, context)?;
        self.wait(clauses, queue, context)?;
        let known = context.visible.len();
        self.visible(clauses, context)?;
        if !self.is_separate() {
            self.block(body, context)?;
            context.visible.truncate(known);
            return Ok(());
        }
        let (transfers, exits) = self.enter(clauses, Counter::Structured, context)?;
        self.enqueue(queue, Action::Copy(transfers))?;
        self.block(body, context)?;
        context.visible.truncate(known);
        self.enqueue(queue, Action::Exit(exits))
    }

    /// A `host_data` construct: names of pointers and arrays stand for the device's addresses.
    pub(super) fn host_data(
        &mut self,
        clauses: &'p [Clause],
        body: &'p Block,
        context: &mut Context,
    ) -> Reply<()> {
        let known = context.env.0.len();
        for (_, item) in Self::items(clauses) {
            let Place::Var(var) = item.place else { return Err(Invalid::new("host_data of a part")) };
            if !self.is_separate() {
                continue;
            }
            let (at, ty) = self.locate(&item.place, context)?;
            let absent = || Invalid::new("data must be present");
            match ty {
                Type::Pointer(_) => {
                    let Value::Pointer(Some(target)) = self.memory.read(at, false)? else {
                        return Err(absent());
                    };
                    let device = self.present.device_of(target)?.ok_or_else(absent)?;
                    let place = self.memory.make(1, false, super::memory::Sharing::Shared);
                    self.memory.poke(place, Value::Pointer(Some(device)))?;
                    context.env.bind(var, place);
                }
                _ => {
                    let device = self.present.device_of(at)?.ok_or_else(absent)?;
                    context.env.bind(var, device);
                }
            }
        }
        self.block(body, context)?;
        context.env.0.truncate(known);
        Ok(())
    }

    /// A directive without code.
    pub(super) fn alone(&mut self, kind: Alone, clauses: &'p [Clause], context: &Context) -> Reply<()> {
        if context.on_device() {
            return Err(Invalid::new("a directive about data in a compute region"));
        }
        if kind != Alone::Wait && Self::items(clauses).next().is_none() {
            return Err(Invalid::new("a directive about no data"));
        }
        if self.is_serial() || self.is_off(clauses, context)? {
            return Ok(());
        }
        let queue = self.queue_of(clauses, context)?;
        self.wait(clauses, queue, context)?;
        match kind {
            Alone::Wait => Ok(()),
            _ if !self.counts(kind) => Self::items(clauses).try_for_each(|(_, item)| {
                self.ranges(item, context)?;
                Ok(())
            }),
            Alone::EnterData => {
                let (transfers, _) = self.enter(clauses, Counter::Dynamic, context)?;
                self.enqueue(queue, Action::Copy(transfers))
            }
            Alone::ExitData => {
                let finalize = clauses.contains(&Clause::Finalize);
                let mut exits = Vec::new();
                for (kind, item) in Self::items(clauses) {
                    let datum = self.datum(item, context)?;
                    let range = Some(datum.range).filter(|_| kind != DataKind::Detach);
                    let pointer = datum.pointer;
                    exits.push(Exit { kind, range, counter: Counter::Dynamic, finalize, pointer });
                }
                self.enqueue(queue, Action::Exit(exits))
            }
            Alone::Update => self.update(clauses, queue, context),
        }
    }

    fn update(&mut self, clauses: &'p [Clause], queue: Option<i64>, context: &Context) -> Reply<()> {
        let mut transfers = Vec::new();
        for (kind, item) in Self::items(clauses) {
            let (start, _, ranges) = self.ranges(item, context)?;
            for (low, count) in ranges {
                let range = Range { start: start.plus(low), count };
                match self.present.update(range, kind == DataKind::Device)? {
                    Some(transfer) => transfers.push(transfer),
                    None if clauses.contains(&Clause::IfPresent) => {}
                    None => return Err(Invalid::new("data must be present")),
                }
            }
        }
        self.enqueue(queue, Action::Copy(transfers))
    }

    /// A function's body with its `declare` directives.
    pub(super) fn block_with_declares(
        &mut self,
        declares: &'p [Clause],
        body: &'p Block,
        context: &mut Context,
    ) -> Reply<()> {
        if declares.is_empty() || context.on_device() {
            return self.block(body, context);
        }
        self.data(declares, body, context)
    }
}

/// A section of an array as runs of cells.
fn rectangle(extents: &[usize], bounds: &[(i64, i64)], size: i64) -> Vec<(i64, i64)> {
    let mut runs = vec![(0, size)];
    let mut stride = size;
    for (extent, (low, count)) in extents.iter().zip(bounds).rev() {
        let is_contiguous = runs.len() == 1 && runs[0] == (0, stride);
        runs = match is_contiguous {
            true => vec![(low * stride, count * stride)],
            false => (*low..low + count)
                .flat_map(|row| runs.iter().map(move |(start, count)| (row * stride + start, *count)))
                .collect(),
        };
        stride *= *extent as i64;
    }
    // One run that covers its row is contiguous with what follows.
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (start, count) in runs {
        match joined.last_mut() {
            Some((last, length)) if *last + *length == start => *length += count,
            _ => joined.push((start, count)),
        }
    }
    joined
}
