//! What a region uses of the variables around it, and how each gets to the device (OpenACC 3.3, 2.6.1, 2.6.2 and 2.5.13 to 2.5.15).
//!
//! Invariant: every variable declared outside the region and named in it, or in a macro that it uses, has a role.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::nest::Nest;
use crate::acc::ast::{ClauseKind, DataClause, ListItem, ReductionOp};
use crate::bind::descendants;
use crate::cuda::fit::object;
use crate::cuda::program::uses::{self, outer};
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::program::{privates, qualified};
use crate::cuda::types::item::{self, Address, Rows};
use crate::cuda::types::referred;
use crate::cuda::types::spelling;
use crate::host::ir::{BaseType, Decl, Derived, StmtId};
use crate::plan::{DataItem, Motion, Own};
use crate::sema::{self, Class, Reach, SymbolId, SymbolKind, Use};

/// How a variable gets to the device.
#[derive(Clone, Debug)]
pub enum Role {
    /// As an argument, by value.
    Value,
    /// A variable of each thread without a first value.
    Local,
    /// What the gangs reduce.
    Reduction(ReductionOp),
    /// In device memory, by the item of a data region with this name; none of a pointer that no clause speaks of.
    Data(Motion, Option<Address>),
    /// Its value is a device address already.
    DevicePointer,
    /// An array of each thread or gang, filled from the host's.
    FirstArray(Address),
    /// An array of each thread, combined at the end.
    ReductionArray(ReductionOp, Address),
    /// Memory behind a pointer, a copy for each thread or gang; true if it begins with what the host has.
    PrivateMemory(Address, bool),
    /// A scalar member that is only read, of an object that may be on the device: the value that it has there.
    Member,
    /// A member of the object, which is on the device as a whole; its own item of a data region.
    Part(Option<(Motion, Address)>),
    /// Rows behind a pointer to pointers, by the item of a data region with this name.
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
    /// Its declaration.
    pub seen: Seen<'a>,
    pub decl: Cow<'a, Decl>,
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

/// Roles for the variables of a region. `own` are the directives whose clauses are the construct's.
pub fn capture<'a>(
    input: &Input<'a>,
    index: usize,
    stmt: StmtId,
    nest: &Nest,
    launch: Kind,
    own_scalars: &[Own],
) -> Result<Environment<'a>, Refused> {
    let Kind { in_kernels, is_split, is_one_gang } = launch;
    let bound = input.bound;
    let span = bound[index].directive.span;
    let region = input.stmt_span(stmt);
    let symbol_of = |item: &ListItem| input.symbols.lookup(item.variable(), span.start);
    let said = input.plan.construct(index);
    let default_present = said.is_default_present;
    // Of a construct that is split, the data are there around its launches.
    let (own, outside): (&[DataItem], &[DataItem]) =
        if is_split { (&[], &said.data) } else { (&said.data, &[]) };
    let is_there = |said: &&DataItem| said.clause != DataClause::Link;
    let around: Vec<&DataItem> = outside.iter().chain(said.around.iter().filter(is_there)).collect();
    let mut private: Vec<SymbolId> = Vec::new();
    let mut first: Vec<SymbolId> = Vec::new();
    let mut reductions: Vec<(SymbolId, ReductionOp)> = Vec::new();
    for kind in input.clauses(index) {
        match kind {
            ClauseKind::Private(list) => private.extend(list.iter().filter_map(symbol_of)),
            ClauseKind::Firstprivate(list) => first.extend(list.iter().filter_map(symbol_of)),
            ClauseKind::Reduction(op, list) => {
                reductions.extend(list.iter().filter_map(symbol_of).map(|symbol| (symbol, *op)))
            }
            _ => {}
        }
    }
    for shared in nest.values() {
        let at = shared.span(input);
        let own =
            shared.private.iter().filter(|item| privates::used_outside(input, item, at, region).is_none());
        private.extend(own.filter_map(|item| symbol_of(item)));
        // What the threads of the only gang reduce is the result, too; what was found for `auto` in a `parallel` construct has
        // no clause: the variable is firstprivate (2.5.1).
        let is_said = |item: &ListItem| in_kernels || !item.span.is_empty();
        let is_result = |item: &ListItem| (shared.levels.gang || is_one_gang) && is_said(item);
        for (op, item) in shared.reductions.iter().filter(|(_, item)| is_result(item)) {
            reductions.extend(symbol_of(item).map(|symbol| (symbol, *op)));
        }
    }
    // Loops that stay sequential have private variables, too.
    for below in descendants(bound, index) {
        let at = bound[below].stmt().map_or(span, |stmt| input.stmt_span(stmt));
        let own = privates::private(&bound[below])
            .filter(|item| privates::used_outside(input, item, at, region).is_none());
        private.extend(own.filter_map(symbol_of));
    }
    let reduced_item = |symbol: SymbolId| {
        let loops = nest.values().flat_map(|shared| shared.reductions.iter().map(|(_, item)| *item));
        let own = input.clauses(index).flat_map(|kind| match kind {
            ClauseKind::Reduction(_, list) => list.as_slice(),
            _ => &[],
        });
        loops.chain(own).find(|item| symbol_of(item) == Some(symbol))
    };
    let private_memory = |symbol: SymbolId| {
        let is_pointer = input.symbols.get(symbol).class == Class::Pointer;
        let loops = nest.values().flat_map(|shared| shared.private.iter().map(|item| (*item, false)));
        let own = input.clauses(index).flat_map(|kind| match kind {
            ClauseKind::Private(list) => list.iter().map(|item| (item, false)).collect::<Vec<_>>(),
            ClauseKind::Firstprivate(list) => list.iter().map(|item| (item, true)).collect(),
            _ => Vec::new(),
        });
        let mut all = loops.chain(own).filter(|_| is_pointer);
        all.find(|(item, _)| !item.parts.is_empty() && symbol_of(item) == Some(symbol))
    };
    // A section around the region that does not begin where the variable does: the rest of it is not on the device.
    let inside = |said: Option<&DataItem>, name: &str, class: Class| -> Option<Address> {
        let is_section = |said: &&DataItem| {
            matches!(class, Class::Pointer | Class::Array)
                && said.item.base.text == name
                && !said.item.subscripts().is_empty()
                && item::rows(input, said.directive, &said.item).is_none()
        };
        let said = said.filter(is_section)?;
        item::address(input, said.directive, &said.item).ok().filter(|address| !address.at_start)
    };
    let is_own = |symbol: SymbolId| own_scalars.iter().any(|one| one.symbol == symbol);
    let atomic = super::threads::atomic_scalars(input, index);
    let may_be_there = input.plan.notes[index].may_have_object;
    // A part of a `kernels` construct runs beside the others.
    let region = bound[index].stmt().unwrap_or(stmt);
    let mut captured = Vec::new();
    for (symbol, used) in outer(input, stmt) {
        let known = input.symbols.get(symbol);
        let at = used.first.unwrap_or(span);
        if known.kind == SymbolKind::Member && !input.in_place {
            return Err(refused(at, "a member of the object in a compute construct"));
        }
        let Some((seen, decl)) = input.declaration(symbol) else {
            return Err(refused(at, "a variable whose declaration is not seen"));
        };
        let decl = object(input, stmt, symbol, decl);
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
            (class, _) => class,
        };
        let whole = |said: &&DataItem| said.symbol == Some(symbol) && is_whole(&said.item);
        let own_item = own.iter().find(whole);
        let merged = own.iter().filter(whole).filter_map(|said| said.motion).reduce(Motion::and);
        let own_method = own_item.and_then(|said| merged.map(|method| (method, said)));
        let around = around.iter().copied().find(whole);
        let is_device_pointer =
            [own_item, around].into_iter().flatten().any(|said| said.clause == DataClause::Deviceptr);
        let is_visible = around.is_some() || input.symbols.is_on_device(symbol);
        let reduced = reductions.iter().find(|(other, _)| *other == symbol).map(|(_, op)| *op);
        let is_scalar = matches!(class, Class::Scalar | Class::Unknown);
        let is_record = class == Class::Record;
        let role = if input.object.is_some() && known.kind == SymbolKind::Member && !decl.is_static {
            let said =
                own_method.filter(|(_, said)| class != Class::Pointer || !said.item.subscripts().is_empty());
            let address = |(method, said): (Motion, &DataItem)| -> Result<_, Refused> {
                Ok((method, item::address(input, said.directive, &said.item)?))
            };
            Role::Part(said.map(address).transpose()?)
        } else if let Some(op) = reduced {
            match reduced_item(symbol).filter(|item| !item.parts.is_empty() || class == Class::Array) {
                Some(item) => Role::ReductionArray(op, item::address(input, index, item)?),
                None if is_scalar => Role::Reduction(op),
                None => return Err(refused(at, "a reduction of this variable")),
            }
        } else if let Some((item, is_first)) = private_memory(symbol) {
            Role::PrivateMemory(item::address(input, index, item)?, is_first)
        } else if private.contains(&symbol) {
            Role::Local
        } else if is_device_pointer {
            Role::DevicePointer
        } else if first.contains(&symbol) {
            match class {
                Class::Array => Role::FirstArray(item::whole(input, &spelling, &decl)),
                _ => Role::Value,
            }
        } else if let Some((method, rows)) = own_method
            .and_then(|(method, said)| Some((method, item::rows(input, said.directive, &said.item)?)))
        {
            Role::Rows(method, rows)
        } else if let Some((method, said)) = own_method {
            let is_pointer = class == Class::Pointer && !item::has_length(&decl);
            let is_bare_pointer = is_pointer && said.item.subscripts().is_empty();
            let is_bare_member = known.kind == SymbolKind::Member && said.item.subscripts().is_empty();
            match is_bare_pointer {
                true => Role::Data(Motion::Find, None),
                false if is_bare_member => Role::Data(method, Some(item::whole(input, &spelling, &decl))),
                false => Role::Data(method, Some(item::address(input, said.directive, &said.item)?)),
            }
        } else if class == Class::Pointer {
            match used.written && !used.part_read && !used.part_written {
                true => Role::Value,
                false if used.written && !used.exposed => Role::Local,
                false => Role::Data(Motion::Find, inside(around, &name, class)),
            }
        } else if class == Class::Array || is_record {
            let address = item::whole(input, &spelling, &decl);
            let is_parameter = known.kind == SymbolKind::Parameter && !known.is_reference;
            // What the region only reads need not come back, and may be constant.
            let is_input = || decl.is_const && input.in_place || is_read_only(input, stmt, symbol, &used);
            if is_visible || class == Class::Array && is_parameter {
                Role::Data(Motion::Find, inside(around, &name, class))
            } else if default_present {
                Role::Data(Motion::Present, Some(address))
            } else {
                Role::Data(if is_input() { Motion::Copyin } else { Motion::Copy }, Some(address))
            }
        } else if known.kind == SymbolKind::Member && used.written && !decl.is_const {
            Role::Data(Motion::Copy, Some(item::whole(input, &spelling, &decl)))
        } else if may_be_there && known.kind == SymbolKind::Member && !decl.is_const && !decl.is_static {
            Role::Member
        } else if is_visible {
            Role::Data(Motion::Present, Some(item::whole(input, &spelling, &decl)))
        } else if in_kernels
            && (used.written || used.address_taken)
            && !is_own(symbol)
            && !is_loop_only(input, index, stmt, symbol)
            && (used_after(input, index, stmt, symbol) || atomic.contains(&symbol))
            || in_kernels && !is_own(symbol) && has_other_names(input, region, symbol)
        {
            Role::Data(Motion::Copy, Some(item::whole(input, &spelling, &decl)))
        } else if used.written && !used.exposed && !used.address_taken {
            Role::Local
        } else {
            Role::Value
        };
        let is_constant = (known.kind == SymbolKind::Static || decl.is_static)
            && known.class == Class::Scalar
            && known.is_const
            && !known.is_floating
            && decl.init.is_some();
        let kind = known.kind;
        if !input.is_c && captured.iter().any(|one: &Captured| one.name == name) {
            return Err(refused(at, "two variables of one name in a construct"));
        }
        captured.push(Captured { symbol, name, class, kind, is_constant, spelling, role, used, seen, decl });
    }
    let mut extras = Vec::new();
    let mut own: Vec<&DataItem> = own.iter().collect();
    own.sort_by_key(|said| said.item.depth());
    for said in own {
        let symbol = said.symbol;
        let is_whole = is_whole(&said.item);
        let is_object = object::is_whole(&said.item);
        let is_named = captured.iter().any(|one| Some(one.symbol) == symbol);
        let text = said.item.text.trim().to_owned();
        if said.clause == DataClause::Attach {
            extras.push(Extra { pointer: Some(text.clone()), text, brings: None, is_object: false });
        } else if input.object.is_some() && is_object {
            // `object` brings it.
        } else if let Some(method) = said.motion.filter(|_| !(is_whole && is_named)) {
            if item::rows(input, said.directive, &said.item).is_some() {
                return Err(refused(said.item.span, "rows that the construct does not name"));
            }
            let brings = Some((method, item::address(input, said.directive, &said.item)?));
            let pointer = item::pointer(input, said.directive, &said.item);
            extras.push(Extra { text, brings, pointer, is_object });
        }
    }
    Ok(Environment { variables: captured, extras })
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
    used.is_unchanged() && (!is_array || uses::only_indexed(input, stmt, symbol))
}

/// Whether a variable is changed as the variable of loops with directives only. (That of another loop is a scalar like
/// others.)
fn is_loop_only(input: &Input, index: usize, stmt: StmtId, symbol: SymbolId) -> bool {
    let own = std::iter::once(index).chain(descendants(input.bound, index));
    let loops = own.filter(|at| input.bound[*at].directive.kind.is_loop());
    let governed: Vec<StmtId> = loops.filter_map(|at| input.bound[at].stmt()).collect();
    let mut controlled = rustc_hash::FxHashMap::default();
    let mut pending = vec![stmt];
    while let Some(at) = pending.pop() {
        if let Ok(header) = sema::header(input.unit(), input.symbols, at)
            && (header.declared || governed.contains(&at))
        {
            controlled.insert(at, header.var);
        }
        pending.extend(sema::children(input.unit(), at));
    }
    let beside = sema::uses_beside(input.unit(), input.symbols, stmt, &controlled);
    beside.of(symbol).is_none_or(|used| !(used.written || used.address_taken))
}

/// Whether the value that a region leaves in a variable may be read behind it.
fn used_after(input: &Input, index: usize, stmt: StmtId, symbol: SymbolId) -> bool {
    let Some(function) = input.bound[index].function else { return true };
    let body = input.unit().function(function).body;
    let wanted = BTreeSet::from([symbol]);
    let escaping = sema::escaping(input.unit(), input.symbols, body);
    !sema::live_after(input.unit(), input.symbols, body, stmt, &wanted, &escaping).is_empty()
}

/// Whether an item is a variable or a section of it, `this->p[0:n]` included.
fn is_whole(item: &ListItem) -> bool {
    let skipped = usize::from(item.variable() != item.base.text);
    item.parts.iter().skip(skipped).all(|part| !is_member(part))
}

fn is_member(part: &crate::acc::ast::Part) -> bool {
    matches!(part, crate::acc::ast::Part::Member(_))
}

/// The declaration of what a variable names: of a reference, the object; of a name for a pointer, a pointer.
fn object<'a>(input: &Input, stmt: StmtId, symbol: SymbolId, decl: &'a Decl) -> Cow<'a, Decl> {
    let is_pointer = input.in_place
        && decl.derived.iter().all(|part| *part == Derived::Reference)
        && match input.symbols.get(symbol).class {
            Class::Pointer => true,
            Class::Unknown => decl.base == BaseType::Unknown && uses::is_indexed(input, stmt, symbol),
            _ => false,
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
        object.base = BaseType::Unknown;
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
