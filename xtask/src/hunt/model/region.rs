//! Compute constructs: what the names inside lead to, and how the region runs.
//!
//! Invariant: the rules of 2.6.2 stand here, in the order in which they apply.

use super::memory::{Race, Ref, Sharing, Value};
use super::present::{Counter, Range, Transfer};
use super::queue::{Action, Exit};
use super::{Context, Env, Invalid, Machine, Reply, Visible, Within};
use crate::hunt::program::{Clause, Compute, DataKind, Expr, Item, Kind, Place, Stmt, Storage, Type, VarId};
use crate::hunt::walk;

/// A compute construct that waits to run.
#[derive(Clone, Debug)]
pub(super) struct Region<'p> {
    compute: &'p Compute,
    context: Context,
    transfers: Vec<Transfer>,
    exits: Vec<Exit>,
    lenient: Vec<(usize, i64)>,
}

impl<'p> Machine<'p> {
    /// A compute construct.
    pub(super) fn compute(&mut self, compute: &'p Compute, context: &mut Context) -> Reply<()> {
        if context.on_device() {
            return Err(Invalid::new("a compute construct on the device"));
        }
        if self.is_serial() {
            return self.block(&compute.body, context);
        }
        let queue = self.queue_of(&compute.clauses, context)?;
        self.wait(&compute.clauses, queue, context)?;
        if self.is_off(&compute.clauses, context)? {
            // The local thread may run it later, too (2.16.1): nothing is written that depends on it.
            if queue.is_some() {
                return Err(Invalid::new("async on the host"));
            }
            return self.block(&compute.body, context);
        }
        let region = self.launch(compute, context)?;
        self.enqueue(queue, Action::Region(Box::new(region)))
    }

    /// What is done when the construct is met: the data is made, and values are taken.
    fn launch(&mut self, compute: &'p Compute, context: &Context) -> Reply<Region<'p>> {
        let within = match compute.kind {
            Kind::Parallel => Within::Parallel { in_gangs: false },
            Kind::Serial => Within::Serial,
            Kind::Kernels => Within::Kernels,
        };
        let (mut transfers, mut exits) = match self.is_separate() {
            true => self.enter(&compute.clauses, Counter::Structured, context)?,
            false => Default::default(),
        };
        let mut inner = Context { env: Env::default(), within, visible: context.visible.clone() };
        let mut own = Context { visible: Vec::new(), ..context.clone() };
        self.visible(&compute.clauses, &mut own)?;
        inner.visible.extend(own.visible);
        let mut lenient = Vec::new();
        for var in walk::vars(&compute.body) {
            if context.env.find(var).is_none() && self.globals.find(var).is_none() {
                continue;
            }
            let name = Name { var, compute, visible: &inner.visible.clone() };
            let bound = self.bind(&name, context, &mut transfers, &mut exits)?;
            if bound.is_lenient {
                lenient.push((bound.at.object, bound.at.cell));
            }
            inner.env.bind(var, bound.at);
        }
        Ok(Region { compute, context: inner, transfers, exits, lenient })
    }

    /// Where a name of the region leads.
    fn bind(
        &mut self,
        name: &Name,
        context: &Context,
        transfers: &mut Vec<Transfer>,
        exits: &mut Vec<Exit>,
    ) -> Reply<Bound> {
        let host = self.variable(name.var, context)?;
        let known = &self.program.vars[name.var];
        let cells = self.program.cells(&known.ty) as i64;
        let whole = Range { start: host, count: cells };
        if name.is_private() {
            return Ok(Bound::strict(self.memory.make(cells as usize, true, Sharing::Gang)));
        }
        if name.is_first_private() {
            return Ok(Bound::strict(self.copy_of(whole)?));
        }
        if name.is_device_pointer() {
            return Ok(Bound::strict(self.copy_of(whole)?));
        }
        let visible = name.visible.iter().rev().find(|one| one.var == name.var);
        let is_scalar = matches!(known.ty, Type::Num(_));
        if let Type::Pointer(_) = known.ty {
            return Ok(Bound::strict(self.pointer(whole, visible, name)?));
        }
        if let Some(visible) = visible {
            return Ok(Bound::strict(self.visible_place(host, visible, name)?));
        }
        let is_global = known.storage == Storage::Global;
        if let Some(at) = self.device_globals.find(name.var).filter(|_| is_global && self.is_separate()) {
            return Ok(Bound::strict(at));
        }
        let is_declared = |clause: &Clause| match clause {
            Clause::Data(_, items) => items.iter().any(|item| item.place == Place::Var(name.var)),
            _ => false,
        };
        if is_global && self.program.declares.iter().any(is_declared) && !self.is_separate() {
            return Ok(Bound::strict(host));
        }
        let is_reduced = name.is_reduced();
        if is_scalar && name.compute.kind != Kind::Kernels && !is_reduced {
            return Ok(Bound { at: self.copy_of(whole)?, is_lenient: true });
        }
        let is_lenient = is_scalar && !is_reduced;
        if !self.is_separate() {
            return Ok(Bound { at: host, is_lenient });
        }
        let is_default = name.compute.clauses.contains(&Clause::DefaultPresent) && !is_scalar;
        let kind = if is_default { DataKind::Present } else { DataKind::Copy };
        if let Some(transfer) = self.present.enter(&mut self.memory, kind, whole, Counter::Structured)? {
            transfers.push(transfer);
        }
        exits.push(Exit {
            kind,
            range: Some(whole),
            counter: Counter::Structured,
            finalize: false,
            pointer: None,
        });
        let absent = || Invalid::new("data must be present");
        let at = self.present.device(host, whole)?.ok_or_else(absent)?;
        Ok(Bound { at, is_lenient })
    }

    /// A copy that each gang has.
    fn copy_of(&mut self, whole: Range) -> Reply<Ref> {
        let copy = self.memory.make(whole.count as usize, true, Sharing::Gang);
        for cell in 0..whole.count {
            let value = self.memory.peek(whole.start.plus(cell))?;
            self.memory.poke(copy.plus(cell), value)?;
        }
        Ok(copy)
    }

    /// Where the device has a variable that a data clause names.
    fn visible_place(&mut self, host: Ref, visible: &Visible, name: &Name) -> Reply<Ref> {
        if !self.is_separate() {
            return Ok(host);
        }
        let range = Range { start: host.plus(visible.low), count: visible.count };
        match self.present.device(host, range)? {
            Some(at) => Ok(at),
            None if name.is_no_create() => Ok(host),
            None => Err(Invalid::new("data must be present")),
        }
    }

    /// A pointer of the device: it leads to where the data of the clause is.
    fn pointer(&mut self, whole: Range, visible: Option<&Visible>, name: &Name) -> Reply<Ref> {
        let copy = self.copy_of(whole)?;
        let Value::Pointer(Some(target)) = self.memory.peek(whole.start)? else { return Ok(copy) };
        if !self.is_separate() {
            return Ok(copy);
        }
        let Some(visible) = visible else {
            // In Fortran the name is the array, whether its code runs or not, and all of it must be there or none.
            let count = self.memory.objects[target.object].cells.len() as i64;
            self.present.device(target, Range { start: Ref { cell: 0, ..target }, count })?;
            // The address of the host, which the device must not use, unless it is there by `default(present)`.
            if !name.compute.clauses.contains(&Clause::DefaultPresent) {
                return Ok(copy);
            }
            let device =
                self.present.device_of(target)?.ok_or_else(|| Invalid::new("data must be present"))?;
            self.memory.poke(copy, Value::Pointer(Some(device)))?;
            return Ok(copy);
        };
        let range = Range { start: target.plus(visible.low), count: visible.count };
        match self.present.device(target, range)? {
            Some(device) => self.memory.poke(copy, Value::Pointer(Some(device)))?,
            None if name.is_no_create() => {}
            None => return Err(Invalid::new("data must be present")),
        }
        Ok(copy)
    }

    /// Runs the region.
    pub(super) fn region(&mut self, region: Region<'p>) -> Reply<()> {
        let Region { compute, mut context, transfers, exits, lenient } = region;
        for one in transfers {
            self.present.copy(&mut self.memory, one)?;
        }
        let known = context.env.0.len();
        let (accumulators, results) = self.reductions(&compute.clauses, &mut context)?;
        let has_one_gang = compute.clauses.contains(&Clause::NumGangs(Expr::Const(1)));
        let before = self.memory.races.len();
        if compute.kind == Kind::Parallel {
            let race = Race { accumulators, is_construct: true, is_region: !has_one_gang, ..Race::default() };
            self.memory.races.push(race);
        }
        self.memory.lenient = lenient;
        self.block(&compute.body, &mut context)?;
        self.memory.races.truncate(before);
        self.combine(results, &context)?;
        self.memory.lenient.clear();
        context.env.0.truncate(known);
        for exit in exits {
            self.enqueue(None, Action::Exit(vec![exit]))?;
        }
        Ok(())
    }
}

/// A name of a region.
struct Name<'a> {
    var: VarId,
    compute: &'a Compute,
    visible: &'a [Visible],
}

impl Name<'_> {
    fn is_private(&self) -> bool {
        let names = |clause: &Clause| matches!(clause, Clause::Private(vars) if vars.contains(&self.var));
        self.compute.clauses.iter().any(names)
    }

    fn is_first_private(&self) -> bool {
        let names =
            |clause: &Clause| matches!(clause, Clause::FirstPrivate(vars) if vars.contains(&self.var));
        self.compute.clauses.iter().any(names)
    }

    fn is_reduced(&self) -> bool {
        let is_it = |place: &Place| *place == Place::Var(self.var);
        let names =
            |clause: &Clause| matches!(clause, Clause::Reduction(_, places) if places.iter().any(is_it));
        let of_loop = match self.compute.body.as_slice() {
            [Stmt::Loop(one)] if self.compute.combined => one.directive.as_deref().unwrap_or_default(),
            _ => &[],
        };
        self.compute.clauses.iter().chain(of_loop).any(names)
    }

    fn is_device_pointer(&self) -> bool {
        self.has(DataKind::DevicePtr)
    }

    fn is_no_create(&self) -> bool {
        self.has(DataKind::NoCreate)
    }

    fn has(&self, wanted: DataKind) -> bool {
        let is_it = |item: &Item| item.place == Place::Var(self.var);
        let names = |clause: &Clause| match clause {
            Clause::Data(kind, items) => *kind == wanted && items.iter().any(is_it),
            _ => false,
        };
        self.compute.clauses.iter().any(names)
    }
}

/// What a name leads to.
struct Bound {
    at: Ref,
    /// Each thread may have its own.
    is_lenient: bool,
}

impl Bound {
    fn strict(at: Ref) -> Bound {
        Bound { at, is_lenient: false }
    }
}
