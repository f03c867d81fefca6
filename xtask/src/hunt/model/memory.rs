//! Memory of the host and of the device, and who has used it in which iteration.
//!
//! Invariant: what a program may not rely on is an error: values never set, memory of the other side, memory given back, and
//! two iterations of a parallel loop that meet.

use std::collections::HashMap;

use super::Invalid;
use crate::hunt::program::Op;

/// A cell of an object. `via` is the `restrict` pointer that it was reached by, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ref {
    pub object: usize,
    pub cell: i64,
    pub via: u32,
}

impl Ref {
    /// So many cells further.
    pub fn plus(self, cells: i64) -> Ref {
        Ref { cell: self.cell + cells, ..self }
    }
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing that may be used.
    Undefined,
    /// A number.
    Num(i64),
    /// An address.
    Pointer(Option<Ref>),
}

/// Who has a copy of an object of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All gangs share it.
    Shared,
    /// Each gang (or each thread inside) has one.
    Gang,
}

/// Some cells that live together.
#[derive(Clone, Debug)]
pub struct Object {
    pub cells: Vec<Value>,
    pub on_device: bool,
    pub is_live: bool,
    pub sharing: Sharing,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// A value is added (or the like) to what is there, by a statement of that form.
    Accumulate(Op),
    /// The same as an atomic operation.
    Atomic(Op),
}

/// What was done to a cell in a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    writer: Option<u32>,
    reader: Option<u32>,
    has_many_readers: bool,
    atomic: Option<Op>,
    is_plain: bool,
}

/// A parallel loop that is running, or the whole region of a `parallel` construct.
#[derive(Clone, Debug, Default)]
pub struct Race {
    /// The iteration that is running; 0 in a region is the code that each gang runs.
    pub token: u32,
    /// The iterations are those of gangs.
    pub is_gang: bool,
    /// It is the region of a construct.
    pub is_construct: bool,
    /// It is one with more than one gang.
    pub is_region: bool,
    /// What is reduced here: each thread has its own.
    pub accumulators: Vec<usize>,
    /// Cells of which each thread may have its own, if it sets them first.
    pub lenient: Vec<(usize, i64)>,
    /// What was done to each cell.
    pub marks: HashMap<(usize, i64), Marks>,
}

/// A `restrict` pointer whose block runs.
#[derive(Clone, Debug, Default)]
pub struct Restricted {
    /// Its number.
    pub via: u32,
    /// How each cell was reached meanwhile: by it, or not; and whether it was changed.
    pub cells: HashMap<(usize, i64), (bool, bool, bool)>,
}

/// All memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub objects: Vec<Object>,
    pub races: Vec<Race>,
    /// Scalars that compilers give to each thread although nothing says so.
    pub lenient: Vec<(usize, i64)>,
    pub restricted: Vec<Restricted>,
    /// Whether there is a device with other memory.
    pub is_separate: bool,
}

impl Memory {
    /// A new object.
    pub fn make(&mut self, cells: usize, on_device: bool, sharing: Sharing) -> Ref {
        let on_device = on_device && self.is_separate;
        self.objects.push(Object { cells: vec![Value::Undefined; cells], on_device, is_live: true, sharing });
        Ref { object: self.objects.len() - 1, cell: 0, via: 0 }
    }

    /// What a cell holds, without an access of the program.
    pub fn peek(&self, at: Ref) -> Result<Value, Invalid> {
        let object = &self.objects[at.object];
        if !object.is_live {
            return Err(Invalid::new("memory is used that was given back"));
        }
        let cell = usize::try_from(at.cell).ok().and_then(|cell| object.cells.get(cell));
        cell.copied().ok_or_else(|| Invalid::new("beyond the end of an object"))
    }

    /// Changes a cell, without an access of the program.
    pub fn poke(&mut self, at: Ref, value: Value) -> Result<(), Invalid> {
        self.peek(at)?;
        if let Ok(cell) = usize::try_from(at.cell) {
            self.objects[at.object].cells[cell] = value;
        }
        Ok(())
    }

    /// Reads a cell.
    pub fn read(&mut self, at: Ref, on_device: bool) -> Result<Value, Invalid> {
        self.check(at, on_device, Access::Read)?;
        match self.peek(at)? {
            Value::Undefined => Err(Invalid::new("a value is used that was never set")),
            value => Ok(value),
        }
    }

    /// Writes a cell.
    pub fn write(&mut self, at: Ref, value: Value, on_device: bool, access: Access) -> Result<(), Invalid> {
        self.check(at, on_device, access)?;
        self.poke(at, value)
    }

    fn check(&mut self, at: Ref, on_device: bool, access: Access) -> Result<(), Invalid> {
        self.peek(at)?;
        let object = &self.objects[at.object];
        if object.on_device != (on_device && self.is_separate) {
            return Err(Invalid::new("memory of the other side"));
        }
        let sharing = object.sharing;
        let key = (at.object, at.cell);
        for scope in &mut self.restricted {
            let seen = scope.cells.entry(key).or_default();
            if at.via == scope.via {
                seen.0 = true
            } else {
                seen.1 = true
            }
            seen.2 |= access != Access::Read;
        }
        if !on_device {
            return Ok(());
        }
        let is_scalar = self.lenient.contains(&key);
        for race in &mut self.races {
            race.check(key, access, sharing, is_scalar)?;
        }
        Ok(())
    }

    /// Ends a parallel loop: what each thread had of its own is gone.
    pub fn end_race(&mut self) -> Result<(), Invalid> {
        let Some(race) = self.races.pop() else { return Ok(()) };
        for (object, cell) in race.lenient {
            if self.objects[object].is_live {
                self.poke(Ref { object, cell, via: 0 }, Value::Undefined)?;
            }
        }
        Ok(())
    }

    /// Ends the block of a `restrict` pointer.
    pub fn end_restricted(&mut self) -> Result<(), Invalid> {
        let Some(scope) = self.restricted.pop() else { return Ok(()) };
        let is_wrong = |seen: &(bool, bool, bool)| seen.0 && seen.1 && seen.2;
        match scope.cells.values().any(is_wrong) {
            true => Err(Invalid::new("what a restrict pointer changes is reached without it")),
            false => Ok(()),
        }
    }
}

impl Race {
    fn check(
        &mut self,
        key: (usize, i64),
        access: Access,
        sharing: Sharing,
        is_scalar: bool,
    ) -> Result<(), Invalid> {
        if self.is_region {
            let is_own = sharing == Sharing::Gang || is_scalar;
            if is_own && !(self.token == 0 && matches!(access, Access::Accumulate(_)) && self.has(key)) {
                return Ok(());
            }
            if self.token == 0 && access != Access::Read {
                return Err(Invalid::new("each gang writes"));
            }
        } else if let (true, Access::Accumulate(_)) = (self.has(key), access) {
            return Ok(());
        }
        let is_lenient = is_scalar || (self.is_gang && sharing == Sharing::Gang);
        let token = self.token;
        let marks = self.marks.entry(key).or_default();
        match access {
            Access::Atomic(op) => {
                let is_same = marks.atomic.is_none_or(|other| other == op);
                if marks.is_plain || !is_same {
                    return Err(Invalid::new("an atomic operation beside another access"));
                }
                marks.atomic = Some(op);
                return Ok(());
            }
            Access::Read => {}
            Access::Write | Access::Accumulate(_) => {}
        }
        marks.is_plain = true;
        if marks.atomic.is_some() {
            return Err(Invalid::new("an atomic operation beside another access"));
        }
        if access != Access::Write && marks.writer != Some(token) {
            if marks.writer.is_some() {
                return Err(Invalid::new("an iteration reads what another one wrote"));
            }
            marks.has_many_readers |= marks.reader.is_some_and(|other| other != token);
            marks.reader = Some(token);
        }
        if access != Access::Read {
            if marks.has_many_readers || marks.reader.is_some_and(|other| other != token) {
                return Err(Invalid::new("an iteration writes what another one reads"));
            }
            if marks.writer.is_some_and(|other| other != token) && !is_lenient {
                return Err(Invalid::new("two iterations write one element"));
            }
            marks.writer = Some(token);
            if is_lenient && !self.lenient.contains(&key) {
                self.lenient.push(key);
            }
        }
        Ok(())
    }

    fn has(&self, key: (usize, i64)) -> bool {
        self.accumulators.contains(&key.0)
    }
}
