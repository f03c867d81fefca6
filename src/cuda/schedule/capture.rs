//! What a region uses of the variables around it, and how each gets to the device (OpenACC 3.3, 2.6.1, 2.6.2 and 2.5.13 to 2.5.15).
//!
//! Invariant: every variable declared outside the region and named in it, or in a macro that it uses, has a role.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::nest::Nest;
use super::unseen::{self, Shown};
use crate::acc::ast::{ClauseKind, DataClause, ReductionOp};
use crate::cuda::fit::object;
use crate::cuda::meaning::readers;
use crate::cuda::program::uses::{self, outer};
use crate::cuda::program::{Input, Refused, Seen, defines, qualified, refused};
use crate::cuda::types::item::{self, Address, Rows};
use crate::cuda::types::referred;
use crate::cuda::types::spelling;
use crate::cuda::types::unfolded;
use crate::host::ir::{BaseType, Decl, Derived, StmtId};
use crate::plan::{self, DataItem, Launched, Listed, LoopLists, Motion, Own, Sharing, Unlisted};
use crate::sema::{self, Class, Reach, SymbolId, SymbolKind, Use};
use crate::source::Span;

/// How a variable gets to the device.
#[derive(Clone, Debug)]
pub enum Role {
    /// As an argument, by value.
    Value,
    /// A variable of each thread without a first value.
    Local,
    /// What the gangs reduce.
    Reduction(ReductionOp),
    /// In device memory, by the item of a data region with this name; none of a pointer that no clause is about.
    Data(Motion, Option<Address>),
    /// Its value is a device address already.
    DevicePointer,
    /// An array of each thread or gang, filled from the host's.
    FirstArray(Address),
    /// An array of each thread, combined at the end.
    ReductionArray(ReductionOp, Address),
    /// Memory that a pointer leads to, a copy for each thread or gang; true if it begins with what the host has.
    PrivateMemory(Address, bool),
    /// A scalar member that is only read, of an object that may be on the device: the value that it has there.
    Member,
    /// A member of the object, which is on the device as a whole; its own item of a data region.
    Part(Option<(Motion, Address)>),
    /// Rows of a pointer to pointers, by the item of a data region with this name.
    Rows(Motion, Rows),
}

/// One captured variable.
#[derive(Clone, Debug)]
pub struct Captured<'a> {
    pub symbol: SymbolId,
    pub name: String,
    pub class: Class,
    pub kind: SymbolKind,
    /// A constant of the language, which the device knows as well.
    pub is_constant: bool,
    /// How the host names it.
    spelling: String,
    pub role: Role,
    pub used: Use,
    /// What the program shows of it, if its type is not seen.
    pub shown: Option<Shown>,
    /// Its declaration, with the arrays and pointers after its type's name.
    pub seen: Seen<'a>,
    pub decl: Cow<'a, Decl>,
    /// Its declaration, as it is written.
    pub written: (Seen<'a>, &'a Decl),
}

impl Captured<'_> {
    /// What the host calls it.
    pub fn host_name(&self) -> String {
        match self.kind {
            SymbolKind::Member => format!("this->{}", self.name),
            _ => self.spelling.clone(),
        }
    }
}

/// What the clauses of a construct bring to the device besides the variables that its code names.
#[derive(Clone, Debug)]
pub struct Extra {
    /// The item, as written.
    pub text: String,
    /// The item of a data region, and the memory.
    pub brings: Option<(Motion, Address)>,
    /// A pointer to attach.
    pub pointer: Option<String>,
    /// It is the object, which the members that the code names are parts of.
    pub is_object: bool,
}

/// What a region gets from outside.
#[derive(Clone, Debug, Default)]
pub struct Environment<'a> {
    pub variables: Vec<Captured<'a>>,
    pub extras: Vec<Extra>,
}

/// What kind of launch a region is.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub in_kernels: bool,
    /// The construct's data are on the device already.
    pub is_split: bool,
    /// One gang runs it.
    pub is_one_gang: bool,
}

/// What decides the roles of the variables of one launch.
struct Capture<'a, 'b> {
    input: &'b Input<'a>,
    index: usize,
    stmt: StmtId,
    launch: Kind,
    /// What `private`, `firstprivate` and `reduction` name.
    listed: Listed<'a>,
    /// The items of the construct's data clauses that the launch has to see to.
    own: &'a [DataItem],
    /// Those that are on the device around it.
    around: Vec<&'a DataItem>,
    /// Scalars of which each thread has its own.
    own_scalars: &'b [Own],
    atomic: BTreeSet<SymbolId>,
}

/// Roles for the variables of a region. `own_scalars` are those of which each thread has its own.
pub fn capture<'a>(
    input: &Input<'a>,
    index: usize,
    stmt: StmtId,
    nest: &Nest<'a>,
    launch: Kind,
    own_scalars: &[Own],
) -> Result<Environment<'a>, Refused> {
    let said = input.plan.construct(index);
    // Of a construct that is split, the data are there around its launches.
    let (own, outside): (&[DataItem], &[DataItem]) =
        if launch.is_split { (&[], &said.data) } else { (&said.data, &[]) };
    let is_there = |said: &&DataItem| said.clause != DataClause::Link;
    let capture = Capture {
        input,
        index,
        stmt,
        launch,
        listed: listed(input, index, stmt, nest, launch),
        own,
        around: outside.iter().chain(said.around().filter(is_there)).collect(),
        own_scalars,
        atomic: super::threads::atomic_scalars(input, index),
    };
    let mut variables: Vec<Captured> = Vec::new();
    for (symbol, used) in outer(input, stmt) {
        let mut one = capture.variable(symbol, used)?;
        one.role = capture.role(&one)?;
        if !input.is_c && variables.iter().any(|other| other.name == one.name) {
            let at = used.first.unwrap_or(input.bound[index].directive.span);
            return Err(refused(at, "two variables of one name in a construct"));
        }
        variables.push(one);
    }
    let extras = capture.extras(&variables)?;
    Ok(Environment { variables, extras })
}

/// What the clauses of a launch and of its loops name.
fn listed<'a>(input: &Input<'a>, index: usize, stmt: StmtId, nest: &Nest<'a>, launch: Kind) -> Listed<'a> {
    let loops: Vec<LoopLists> = nest
        .values()
        .map(|shared| LoopLists {
            span: shared.span(input),
            levels: shared.levels(),
            private: &shared.division.private,
            reductions: &shared.division.reductions,
        })
        .collect();
    let Kind { in_kernels, is_one_gang, .. } = launch;
    Listed::of(
        input.code(),
        Launched { index, region: input.stmt_span(stmt), in_kernels, is_one_gang },
        &loops,
    )
}

impl<'a> Capture<'a, '_> {
    /// A variable that the code names, with its declaration; its role is not known yet.
    fn variable(&self, symbol: SymbolId, used: Use) -> Result<Captured<'a>, Refused> {
        let (input, stmt) = (self.input, self.stmt);
        let known = input.symbols.get(symbol);
        let at = self.place(&used);
        if known.kind == SymbolKind::Member && !input.in_place {
            return Err(refused(at, "a member of the object in a compute construct"));
        }
        let Some((seen, decl)) = input.declaration(symbol) else {
            return Err(refused(at, "a variable whose declaration is not seen"));
        };
        let written = (seen, decl);
        let shown = unseen::shown(input, stmt, symbol).filter(|_| !self.is_private(symbol));
        let decl = object(input, stmt, (symbol, decl), shown);
        if let Some(what) = distinguished(input, seen, &decl).filter(|_| !input.in_place) {
            return Err(refused(at, &what));
        }
        let (seen, decl) = unfolded::unfolded(input, seen, &decl).unwrap_or((seen, decl));
        let name = known.name.clone();
        let said = input.file().text(at);
        let is_qualified = said.ends_with(&format!("::{name}"));
        let spelling = match qualified::spelling(input, input.stmt_span(stmt), symbol) {
            Some(path) => path,
            None if is_qualified => said.into_owned(),
            None => name.clone(),
        };
        let class = match (known.class, decl.derived.first()) {
            (Class::Unknown, Some(Derived::Pointer)) => Class::Pointer,
            (Class::Unknown, Some(Derived::Array(_))) => Class::Array,
            (Class::Unknown, None) if input.in_place && shown == Some(Shown::Object) => Class::Record,
            (class, _) => class,
        };
        let is_constant = (known.kind == SymbolKind::Static || decl.is_static)
            && known.class == Class::Scalar
            && known.is_const
            && !known.is_floating
            && decl.init.is_some();
        let (kind, role) = (known.kind, Role::Value);
        Ok(Captured {
            symbol,
            name,
            class,
            kind,
            is_constant,
            spelling,
            role,
            used,
            shown,
            seen,
            decl,
            written,
        })
    }

    /// Whether threads have variables of their own for it, and no memory that it leads to.
    fn is_private(&self, symbol: SymbolId) -> bool {
        self.listed.role(symbol).is_some()
            && self.listed.own_section(symbol).is_none()
            && self.listed.reduced_item(symbol).is_none_or(|item| item.parts.is_empty())
    }

    fn place(&self, used: &Use) -> Span {
        used.first.unwrap_or(self.input.bound[self.index].directive.span)
    }

    /// The way of a variable to the device: a member of an object there, what clauses say, or what is implied.
    fn role(&self, one: &Captured) -> Result<Role, Refused> {
        let input = self.input;
        if input.object.is_some() && one.kind == SymbolKind::Member && !one.decl.is_static {
            return self.part(one);
        }
        let section = self.listed.own_section(one.symbol).filter(|_| one.class == Class::Pointer);
        match (self.listed.role(one.symbol), section) {
            (Some(plan::Role::Reduction(op)), _) => return self.reduction(one, op),
            (_, Some((item, is_first))) => {
                return Ok(Role::PrivateMemory(item::address(input, self.index, item)?, is_first));
            }
            (Some(plan::Role::Private), _) => return Ok(Role::Local),
            _ if self.is_device_pointer(one.symbol) => return Ok(Role::DevicePointer),
            (Some(_), _) if one.class == Class::Array => {
                return Ok(Role::FirstArray(item::whole(input, one.seen, &one.spelling, &one.decl)));
            }
            (Some(_), _) => return Ok(Role::Value),
            (None, None) => {}
        }
        match self.stated(one.symbol) {
            Some((motion, said)) => self.data(one, motion, said),
            None if one.class == Class::Pointer && one.used.written && self.leaves(one) => {
                Err(refused(self.place(&one.used), "a pointer that `kernels` leaves a value in"))
            }
            None => Ok(self.implied(one)),
        }
    }

    /// A member of an object that is on the device as a whole.
    fn part(&self, one: &Captured) -> Result<Role, Refused> {
        let is_section = |said: &DataItem| !said.item.subscripts().is_empty();
        let said =
            self.stated(one.symbol).filter(|(_, said)| one.class != Class::Pointer || is_section(said));
        let address = |(motion, said): (Motion, &DataItem)| -> Result<_, Refused> {
            Ok((motion, item::address(self.input, said.directive, &said.item)?))
        };
        Ok(Role::Part(said.map(address).transpose()?))
    }

    /// What the gangs or threads reduce.
    fn reduction(&self, one: &Captured, op: ReductionOp) -> Result<Role, Refused> {
        let item = self.listed.reduced_item(one.symbol);
        match item.filter(|item| !item.parts.is_empty() || one.class == Class::Array) {
            Some(item) => Ok(Role::ReductionArray(op, item::address(self.input, self.index, item)?)),
            None if matches!(one.class, Class::Scalar | Class::Unknown) => Ok(Role::Reduction(op)),
            None => Err(refused(self.place(&one.used), "a reduction of this variable")),
        }
    }

    /// The construct's own item about a variable, and what all of its items ask for together.
    fn stated(&self, symbol: SymbolId) -> Option<(Motion, &'a DataItem)> {
        let own = || self.own.iter().filter(|said| is_about(self.input, said, symbol));
        let merged = own().filter_map(|said| said.motion).reduce(Motion::and)?;
        Some((merged, own().next()?))
    }

    /// The innermost item around the construct about a variable.
    fn around(&self, symbol: SymbolId) -> Option<&'a DataItem> {
        self.around.iter().copied().find(|said| is_about(self.input, said, symbol))
    }

    fn is_device_pointer(&self, symbol: SymbolId) -> bool {
        let own = self.own.iter().find(|said| is_about(self.input, said, symbol));
        [own, self.around(symbol)].into_iter().flatten().any(|said| said.clause == DataClause::Deviceptr)
    }

    /// What a data clause of the construct names.
    fn data(&self, one: &Captured, motion: Motion, said: &DataItem) -> Result<Role, Refused> {
        let input = self.input;
        if let Some(rows) = item::rows(input, said.directive, &said.item) {
            return Ok(Role::Rows(motion, rows));
        }
        let is_bare = said.item.subscripts().is_empty();
        let is_pointer = one.class == Class::Pointer && !item::has_length(&one.decl);
        Ok(match one.kind {
            _ if is_pointer && is_bare => Role::Data(Motion::Find, None),
            SymbolKind::Member if is_bare => {
                Role::Data(motion, Some(item::whole(input, one.seen, &one.spelling, &one.decl)))
            }
            _ => Role::Data(motion, Some(item::address(input, said.directive, &said.item)?)),
        })
    }

    /// What is implied for a variable that no clause of the construct names.
    fn implied(&self, one: &Captured) -> Role {
        let input = self.input;
        match plan::implied(&self.unlisted(one)).0 {
            plan::Role::Private => Role::Local,
            plan::Role::Member => Role::Member,
            plan::Role::Mapped(Motion::Find) => Role::Data(Motion::Find, self.inside(one)),
            plan::Role::Mapped(motion) => {
                Role::Data(motion, Some(item::whole(input, one.seen, &one.spelling, &one.decl)))
            }
            plan::Role::Firstprivate | plan::Role::Reduction(_) => Role::Value,
        }
    }

    /// What decides about it.
    fn unlisted(&self, one: &Captured) -> Unlisted {
        let input = self.input;
        let known = input.symbols.get(one.symbol);
        let is_memory = matches!(one.class, Class::Array | Class::Record);
        let is_visible = self.around(one.symbol).is_some()
            || input.symbols.is_on_device(one.symbol)
            || self.launch.is_split
                && stays(input, self.index, one.symbol)
                && !self.is_set_by_threads(one.symbol);
        let is_read = || is_read_only(input, self.stmt, one.symbol, &one.used);
        Unlisted {
            class: Some(one.class),
            used: one.used,
            is_member: one.kind == SymbolKind::Member,
            is_static: one.decl.is_static,
            is_const: one.decl.is_const,
            is_array_parameter: one.class == Class::Array
                && one.kind == SymbolKind::Parameter
                && !known.is_reference,
            is_visible,
            is_default_present: input.plan.construct(self.index).is_default_present,
            // What is constant may not come back.
            is_input: is_memory && (one.decl.is_const && !known.has_mutable && input.in_place || is_read()),
            may_have_object: input.plan.notes[self.index].may_have_object,
            is_wanted: !is_memory && !is_visible && one.class != Class::Pointer && self.is_wanted(one),
        }
    }

    /// Whether each thread of the launch has a scalar of its own, and gives it its value.
    fn is_set_by_threads(&self, symbol: SymbolId) -> bool {
        self.own_scalars.iter().any(|own| own.symbol == symbol && own.sharing == Sharing::Private)
    }

    /// Whether the value that a `kernels` construct gives a pointer itself is wanted after it.
    fn leaves(&self, one: &Captured) -> bool {
        !(one.used.part_read || one.used.part_written) && self.is_wanted(one)
    }

    /// Whether a scalar of a `kernels` construct is wanted after it, or changes in it by another name.
    fn is_wanted(&self, one: &Captured) -> bool {
        let (input, index, symbol) = (self.input, self.index, one.symbol);
        if !self.launch.in_kernels || self.own_scalars.iter().any(|own| own.symbol == symbol) {
            return false;
        }
        // A part of a `kernels` construct runs beside the others.
        let region = input.bound[index].stmt().unwrap_or(self.stmt);
        let code = (input.unit(), input.symbols, input.bound);
        let is_live =
            || !plan::live_after(input.code(), index, self.stmt, &BTreeSet::from([symbol])).is_empty();
        (one.used.written || one.used.address_taken)
            && !plan::is_own_counter(code, self.stmt, symbol)
            && (is_live() || self.atomic.contains(&symbol))
            || has_other_names(input, region, symbol)
    }

    /// A section around the region that does not begin where the variable does: the rest of it is not on the device.
    fn inside(&self, one: &Captured) -> Option<Address> {
        let is_section = |said: &&DataItem| {
            matches!(one.class, Class::Pointer | Class::Array)
                && said.item.base.text == one.name
                && !said.item.subscripts().is_empty()
                && item::rows(self.input, said.directive, &said.item).is_none()
                && item::element(self.input, said.directive, &said.item).is_none()
        };
        let said = self.around(one.symbol).filter(is_section)?;
        let address = item::address(self.input, said.directive, &said.item).ok();
        address.filter(|address| !address.at_start)
    }

    /// What the construct's clauses bring besides the variables that its code names.
    fn extras(&self, variables: &[Captured]) -> Result<Vec<Extra>, Refused> {
        let input = self.input;
        let mut extras = Vec::new();
        let mut own: Vec<&DataItem> = self.own.iter().collect();
        own.sort_by_key(|said| item::order(input, said.directive, &said.item));
        for said in own {
            let is_object = object::is_whole(&said.item);
            let is_named = variables.iter().any(|one| Some(one.symbol) == said.symbol);
            let text = said.item.text.trim().to_owned();
            if said.clause == DataClause::Attach {
                extras.push(Extra { pointer: Some(text.clone()), text, brings: None, is_object: false });
            } else if input.object.is_some() && is_object {
                // `object` brings it.
            } else if let Some(motion) = said.motion.filter(|_| !(is_whole(input, said) && is_named)) {
                if item::rows(input, said.directive, &said.item).is_some() {
                    return Err(refused(said.item.span, "rows that the construct does not name"));
                }
                let brings = Some((motion, item::address(input, said.directive, &said.item)?));
                let pointer = item::pointer(input, said.directive, &said.item);
                extras.push(Extra { text, brings, pointer, is_object });
            } else if let Some(pointer) = item::declared_pointer(input, said.directive, &said.item)
                && !said.item.subscripts().is_empty()
            {
                // Routines read it by that name.
                extras.push(Extra { text, brings: None, pointer: Some(pointer), is_object });
            }
        }
        Ok(extras)
    }
}

/// Whether a scalar stays on the device between the launches of a `kernels` construct, and the host has not got its value.
pub fn stays(input: &Input, index: usize, symbol: SymbolId) -> bool {
    let place = input.bound[index].directive.span.start;
    let is_queued = input.clauses(index).any(|kind| matches!(kind, ClauseKind::Async(_)));
    let mut scalars = input.plan.scalars_left(index, is_queued);
    scalars.any(|item| input.symbols.lookup(item, place) == Some(symbol))
}

/// Whether an item names a variable, or a section of it.
fn is_about(input: &Input, said: &DataItem, symbol: SymbolId) -> bool {
    said.symbol == Some(symbol) && is_whole(input, said)
}

/// Whether a region may change a scalar by another name: the program takes its address, or a reference leads to it, and the
/// region assigns what a pointer or a reference leads to that may be the scalar.
pub fn has_other_names(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    let is_reference = input.symbols.get(symbol).is_reference;
    let escapes = |body: StmtId| is_reference || sema::escaping(unit, input.symbols, body).contains(&symbol);
    let is_taken = match (input.symbols.get(symbol).kind, unit.function_around(input.stmt_span(stmt))) {
        (SymbolKind::Local | SymbolKind::Parameter, Some(function)) => escapes(function.body),
        _ => unit.functions.iter().any(|function| escapes(function.body)),
    };
    if !is_taken {
        return false;
    }
    let facts = sema::Facts::new(input.file(), unit, input.symbols, &[], false);
    let leads_there = |other: SymbolId, used: &Use| {
        let known = input.symbols.get(other);
        let reach = match known.class {
            Class::Scalar if is_reference && !known.is_reference && used.written => Reach::Object,
            _ if known.is_reference && (used.written || used.part_written) => Reach::Pointer,
            Class::Pointer if used.part_written => Reach::Pointer,
            Class::Record | Class::Unknown if used.part_written => Reach::Memory,
            _ => return false,
        };
        let own = if is_reference { Reach::Pointer } else { Reach::Object };
        facts.may_be_same_memory((other, reach), (symbol, own))
    };
    let uses = sema::uses(unit, input.symbols, stmt);
    uses.iter().any(|(other, used)| other != symbol && leads_there(other, used))
}

/// Whether a region reads an array or a record, and does no more with it.
fn is_read_only(input: &Input, stmt: StmtId, symbol: SymbolId, used: &Use) -> bool {
    let is_array = input.symbols.get(symbol).class == Class::Array;
    used.is_unchanged()
        && (!is_array || uses::only_indexed(input, stmt, symbol))
        && readers::ends_in_values(input, stmt, symbol)
}

/// Whether an item is a variable or a section of it, `this->p[0:n]` included, and not what an element of it leads to.
fn is_whole(input: &Input, said: &DataItem) -> bool {
    let item = &said.item;
    if item::element(input, said.directive, item).is_some() {
        return false;
    }
    let skipped = usize::from(item.variable() != item.base.text);
    item.parts.iter().skip(skipped).all(|part| !is_member(part))
}

fn is_member(part: &crate::acc::ast::PathStep) -> bool {
    matches!(part, crate::acc::ast::PathStep::Member(_))
}

/// What of a declaration the device file has no words for.
fn distinguished(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    let name = &decl.name;
    if let BaseType::Named(base) = &decl.base
        && defines::define(input, base).is_some_and(|define| define.params.is_some())
    {
        return Some(format!("`{name}`, which the macro `{base}` declares,"));
    }
    let is_memory = !decl.derived.is_empty();
    (is_memory && item::is_volatile(input, seen, decl))
        .then(|| format!("`{name}`, which is `volatile`, in C++"))
}

/// The declaration of what a variable names: of a reference, the object; of what is a pointer by a type that does not say so,
/// a pointer.
fn object<'a>(
    input: &Input,
    stmt: StmtId,
    (symbol, decl): (SymbolId, &'a Decl),
    shown: Option<Shown>,
) -> Cow<'a, Decl> {
    let is_plain = decl.derived.iter().all(|part| *part == Derived::Reference);
    let is_pointer = is_plain
        && match shown {
            Some(Shown::Pointer) => true,
            Some(Shown::Indexed) => {
                let is_open = input.in_place && decl.base == BaseType::Unknown;
                is_open && uses::is_indexed(input, stmt, symbol)
            }
            _ => input.in_place && input.symbols.get(symbol).class == Class::Pointer,
        };
    if let Some(derived) = referred::array(input, decl).filter(|_| input.in_place) {
        return Cow::Owned(Decl { derived, ..decl.clone() });
    }
    if !is_pointer && !decl.derived.contains(&Derived::Reference) {
        return Cow::Borrowed(decl);
    }
    let mut object = decl.clone();
    object.derived.retain(|part| *part != Derived::Reference);
    if is_pointer {
        object.derived.push(Derived::Pointer);
        object.base = match &decl.base {
            BaseType::Named(name) if !input.in_place => BaseType::Named(format!("acc2omp::Element<{name}>")),
            _ => BaseType::Unknown,
        };
    }
    Cow::Owned(object)
}

/// The type of what an array holds, or a pointer points to.
pub fn element(input: &Input, captured: &Captured) -> Result<String, Refused> {
    let at = captured.used.first.unwrap_or(input.bound[0].directive.span);
    let base = spelling::base(input, captured.seen, &captured.decl);
    base.ok_or_else(|| match spelling::is_too_long(input, &captured.decl) {
        true => refused(
            at,
            &format!("`{}`, of the type `long double` that the device does not have,", captured.name),
        ),
        false => refused(at, "a variable of a type that has no name, or that the device does not have"),
    })
}
