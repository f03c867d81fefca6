//! The present table: what of the host's memory is on the device, with OpenACC's two counters and those of attached pointers.
//!
//! Invariant: a range is on the device as a whole or not at all (2.7: what is there in part only is an error).

use super::memory::{Memory, Ref, Sharing, Value};
use super::{Invalid, Reply};
use crate::hunt::program::DataKind;

/// Contiguous cells of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: Ref,
    pub count: i64,
}

impl Range {
    fn end(&self) -> i64 {
        self.start.cell + self.count
    }
}

/// A range that is on the device.
#[derive(Clone, Debug)]
struct Entry {
    host: Range,
    device: Ref,
    structured: usize,
    dynamic: usize,
    /// It stays for the whole run.
    is_static: bool,
}

/// A pointer that is attached on the device.
#[derive(Clone, Debug)]
struct Attachment {
    /// Where the host has it.
    pointer: Ref,
    /// What it pointed to when it was attached.
    target: Ref,
    count: usize,
}

/// All that is on the device.
#[derive(Clone, Debug, Default)]
pub struct Present {
    entries: Vec<Entry>,
    attachments: Vec<Attachment>,
}

/// A copy of some cells.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The host's cells.
    pub host: Range,
    /// The device's first cell.
    pub device: Ref,
    /// To the device, or from it.
    pub to_device: bool,
}

/// Which of the counters a construct uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Structured,
    Dynamic,
}

impl Present {
    /// The entry that holds all of a range. An entry that holds a part only is an error.
    fn find(&self, range: Range) -> Reply<Option<usize>> {
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.host.start.object != range.start.object {
                continue;
            }
            let is_in = entry.host.start.cell <= range.start.cell && range.end() <= entry.host.end();
            if is_in {
                return Ok(Some(number));
            }
            let meets = entry.host.start.cell < range.end() && range.start.cell < entry.host.end();
            if meets {
                return Err(Invalid::new("data is present in part"));
            }
        }
        Ok(None)
    }

    /// Whether something of an object is present.
    pub fn holds(&self, object: usize) -> bool {
        self.entries.iter().any(|entry| entry.host.start.object == object && !entry.is_static)
    }

    /// Where the device has a cell of the host that is in a range; `None` if the range is absent.
    pub fn device(&self, at: Ref, range: Range) -> Reply<Option<Ref>> {
        let found = self.find(range)?.map(|number| &self.entries[number]);
        Ok(found.map(|entry| Ref { via: at.via, ..entry.device.plus(at.cell - entry.host.start.cell) }))
    }

    /// Where the device has one cell of the host.
    pub fn device_of(&self, at: Ref) -> Reply<Option<Ref>> {
        self.device(at, Range { start: at, count: 1 })
    }

    /// Puts a variable on the device for the whole run.
    pub fn place(&mut self, memory: &mut Memory, host: Range) -> Ref {
        let device = memory.make(host.count as usize, true, Sharing::Shared);
        self.entries.push(Entry { host, device, structured: 1, dynamic: 0, is_static: true });
        device
    }

    /// The start of a data lifetime. What must be copied is returned.
    pub fn enter(
        &mut self,
        memory: &mut Memory,
        kind: DataKind,
        host: Range,
        counter: Counter,
    ) -> Reply<Option<Transfer>> {
        let (found, is_new) = match self.find(host)? {
            Some(number) => (number, false),
            None if kind == DataKind::NoCreate => return Ok(None),
            None if kind == DataKind::Present => return Err(Invalid::new("data must be present")),
            None => {
                for cell in 0..host.count {
                    memory.peek(host.start.plus(cell))?;
                }
                let device = memory.make(host.count as usize, true, Sharing::Shared);
                self.entries.push(Entry { host, device, structured: 0, dynamic: 0, is_static: false });
                (self.entries.len() - 1, true)
            }
        };
        let entry = &mut self.entries[found];
        match counter {
            Counter::Structured => entry.structured += 1,
            Counter::Dynamic => entry.dynamic += 1,
        }
        let copies = is_new && matches!(kind, DataKind::Copy | DataKind::CopyIn);
        Ok(copies.then_some(Transfer { host, device: entry.device, to_device: true }))
    }

    /// The end of a data lifetime; `finalize` is that of `exit data`.
    pub fn exit(
        &mut self,
        memory: &mut Memory,
        kind: DataKind,
        host: Range,
        counter: Counter,
        finalize: bool,
    ) -> Reply<()> {
        let Some(number) = self.find(host)? else {
            return match kind {
                DataKind::NoCreate => Ok(()),
                _ if counter == Counter::Dynamic => Ok(()),
                _ => Err(Invalid::new("data went before its region ended")),
            };
        };
        let entry = &mut self.entries[number];
        match counter {
            Counter::Structured => entry.structured = entry.structured.saturating_sub(1),
            Counter::Dynamic if finalize => entry.dynamic = 0,
            Counter::Dynamic if entry.dynamic == 0 => return Ok(()),
            Counter::Dynamic => entry.dynamic -= 1,
        }
        if entry.structured + entry.dynamic > 0 {
            return Ok(());
        }
        if entry.host != host {
            return Err(Invalid::new("the last one to leave names a part"));
        }
        let (device, host) = (entry.device, entry.host);
        if matches!(kind, DataKind::Copy | DataKind::CopyOut) {
            self.copy(memory, Transfer { host, device, to_device: false })?;
        }
        if self.attachments.iter().any(|one| self.within(one.pointer, host)) {
            return Err(Invalid::new("a pointer goes while it is attached"));
        }
        if self.attachments.iter().any(|one| self.within(one.target, host)) {
            return Err(Invalid::new("the target of an attached pointer goes"));
        }
        memory.objects[device.object].is_live = false;
        self.entries.remove(number);
        Ok(())
    }

    fn within(&self, at: Ref, range: Range) -> bool {
        at.object == range.start.object && (range.start.cell..range.end()).contains(&at.cell)
    }

    /// Copies cells; pointers that are attached keep what each side has.
    pub fn copy(&self, memory: &mut Memory, transfer: Transfer) -> Reply<()> {
        for cell in 0..transfer.host.count {
            let (host, device) = (transfer.host.start.plus(cell), transfer.device.plus(cell));
            let (from, to) = if transfer.to_device { (host, device) } else { (device, host) };
            let (value, old) = (memory.peek(from)?, memory.peek(to)?);
            if matches!(value, Value::Pointer(_)) && !transfer.to_device {
                continue;
            }
            if matches!(old, Value::Pointer(_)) && self.attachments.iter().any(|one| one.pointer == host) {
                return Err(Invalid::new("an attached pointer is overwritten"));
            }
            memory.poke(to, value)?;
        }
        Ok(())
    }

    /// The copies of an `update`; `None` if the data is absent.
    pub fn update(&self, range: Range, to_device: bool) -> Reply<Option<Transfer>> {
        let device = self.device(range.start, range)?;
        Ok(device.map(|device| Transfer { host: range, device, to_device }))
    }

    /// Attaches the pointer that the host has at `pointer`, if it is on the device; `target` is the first cell of what it
    /// leads to that is there. Whether it was attached is returned.
    pub fn attach(&mut self, memory: &mut Memory, pointer: Ref, target: Ref) -> Reply<bool> {
        let pointer = Ref { via: 0, ..pointer };
        let Some(place) = self.device_of(pointer)? else { return Ok(false) };
        let Value::Pointer(Some(value)) = memory.peek(pointer)? else {
            return Err(Invalid::new("a pointer without a target is attached"));
        };
        let Some(device) = self.device_of(target)? else { return Ok(false) };
        let known = self.attachments.iter().position(|one| one.pointer == pointer);
        if let Some(known) = known {
            if self.attachments[known].target.object != target.object {
                return Err(Invalid::new("an attached pointer has another target"));
            }
            self.attachments[known].count += 1;
            return Ok(true);
        }
        self.attachments.push(Attachment { pointer, target, count: 1 });
        let value = device.plus(value.cell - target.cell);
        memory.poke(place, Value::Pointer(Some(value)))?;
        Ok(true)
    }

    /// Detaches a pointer; then the device has what the host has.
    pub fn detach(&mut self, memory: &mut Memory, pointer: Ref, finalize: bool) -> Reply<()> {
        let pointer = Ref { via: 0, ..pointer };
        let Some(known) = self.attachments.iter().position(|one| one.pointer == pointer) else {
            return Ok(());
        };
        let one = &mut self.attachments[known];
        one.count = if finalize { 0 } else { one.count - 1 };
        if one.count > 0 {
            return Ok(());
        }
        self.attachments.remove(known);
        if let Some(place) = self.device_of(pointer)? {
            let value = memory.peek(pointer)?;
            memory.poke(place, value)?;
        }
        Ok(())
    }
}
