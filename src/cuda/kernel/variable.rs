//! What one variable becomes in kernel and launcher, by its role.
//!
//! Invariant: inside the kernel, the variable has its own name and type, or a reference or pointer of it.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::parts::{Host, Made, Param};
use super::this;
use crate::acc::ast::{DirectiveKind, ReductionOp};
use crate::cuda::code::text::{self, operand};
use crate::cuda::meaning;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::names::Names;
use crate::cuda::program::uses::{beyond_indices, may_be_pointer};
use crate::cuda::program::{Input, Refused, effects, refused, sizes};
use crate::cuda::schedule::capture::{self, Captured, Extra, Role};
use crate::cuda::schedule::nest::Nest;
use crate::cuda::schedule::owners::{self, shared_by_threads};
use crate::cuda::schedule::reduction::{identity, operator};
use crate::cuda::schedule::sizes::Sizes;
use crate::cuda::schedule::unseen::Shown;
use crate::cuda::types::declarator::Type;
use crate::cuda::types::item::{self, Address, Rows};
use crate::cuda::types::{spelling, unfolded};
use crate::host::ir::{DeclKind, Derived, ExprId, StmtId};
use crate::plan;
use crate::sema::{self, Class, SymbolId, SymbolKind, Uses};
use crate::source::Span;

use crate::cuda::types::motion::word;
use crate::plan::Motion;

/// The number of a thread among all threads of the launch.
const THREAD: &str = "((blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)";

/// Kernel and launcher of one launch, as far as they are made.
pub struct Making<'a, 'b> {
    pub input: &'b Input<'a>,
    pub nest: &'b Nest<'a>,
    pub stmt: StmtId,
    pub shape: Sizes,
    /// No two pointers alias.
    pub distinct: bool,
    pub is_one_gang: bool,
    /// The scalars that `atomic` statements update.
    pub atomic: BTreeSet<SymbolId>,
    /// What the construct itself reduces.
    pub constructs: HashSet<SymbolId>,
    pub names: Names,
    pub made: Made,
    pub host: Host,
    /// Variables in device memory, or in memory that threads share.
    pub common: HashSet<SymbolId>,
    /// Arrays whose bounds are run-time values: the names of the sizes of their inner dimensions.
    pub flat: HashMap<SymbolId, Vec<String>>,
    /// What is known of the launch's code, once it is asked for.
    pub facts: CodeFacts,
}

/// What all variables of a launch ask its code.
#[derive(Default)]
pub struct CodeFacts {
    /// What it does with variables, except the headers of its shared loops.
    beside: OnceCell<Uses>,
    /// What it names and does more with than to index it.
    beyond_indices: OnceCell<FxHashSet<SymbolId>>,
}

/// A variable, and how its type is written.
struct Variable<'a, 'b> {
    one: &'b Captured<'a>,
    name: &'b str,
    /// What the host calls it.
    here: String,
    at: Span,
    /// What an array holds, or a pointer points to.
    element: String,
    /// How many pointers stand before its name.
    stars: usize,
    /// Pointers between the element and the array or pointer.
    inner: String,
    /// The sizes of the dimensions after the first.
    row_sizes: Vec<String>,
    has_run_time_size: bool,
    is_read_only: bool,
    is_in_place: bool,
    is_distinct: bool,
    /// The type of a pointer to its elements, in words that every file knows.
    known: Option<Type>,
}

impl<'a, 'b> Variable<'a, 'b> {
    fn new(making: &Making<'a, '_>, one: &'b Captured<'a>) -> Result<Variable<'a, 'b>, Refused> {
        let Making { input, stmt, .. } = *making;
        let at = one.used.first.unwrap_or(input.stmt_span(stmt));
        let element = capture::element(input, one)?;
        let derived = &one.decl.derived;
        // What a type name stands for is not known, or the build decides it.
        if matches!(one.class, Class::Array | Class::Pointer) && derived.is_empty() {
            return Err(refused(at, "an array or pointer hidden by a type name"));
        }
        let stars = spelling::stars(&one.decl);
        let is_pointer_first = matches!(derived.first(), Some(Derived::Pointer));
        let sizes = derived.iter().filter_map(|part| match part {
            Derived::Array(size) => Some(*size),
            _ => None,
        });
        let sizes: Vec<Option<ExprId>> = sizes.skip(usize::from(!is_pointer_first)).collect();
        let has_run_time_size = sizes.iter().flatten().any(|size| !is_constant(input, one, *size));
        if making.host.in_place && has_run_time_size {
            return Err(refused(at, "an array whose size is a run-time value"));
        }
        let is_read_only = stars <= usize::from(is_pointer_first)
            && !one.used.part_written
            && !one.used.address_taken
            && !making.beyond_indices().contains(&one.symbol)
            && meaning::readers::only_values(input, stmt, one.symbol);
        Ok(Variable {
            one,
            name: &one.name,
            here: one.host_name(),
            at,
            element,
            stars,
            inner: "*".repeat(if is_pointer_first { stars - 1 } else { stars }),
            row_sizes: sizes
                .iter()
                .map(|size| size.map_or(String::new(), |size| one.seen.text(size)))
                .collect(),
            has_run_time_size,
            is_read_only,
            is_in_place: making.host.in_place,
            is_distinct: making.distinct,
            known: known(input, stmt, one),
        })
    }

    /// The type of a pointer to it, or to the first of its elements, on the device.
    fn pointer(&self) -> Type {
        let has_rows = !self.row_sizes.is_empty();
        if self.is_in_place {
            let is_const = self.is_read_only && !has_rows;
            return Type { is_const, is_restrict: self.is_distinct, ..Type::pointer("auto") };
        }
        let is_row = has_rows && !self.has_run_time_size;
        Type {
            is_const: self.is_read_only,
            is_restrict: self.is_distinct && (is_row || self.inner.is_empty()),
            rows: if is_row { self.row_sizes.clone() } else { Vec::new() },
            ..self.to_elements()
        }
    }

    /// The type of a pointer to its elements.
    fn to_elements(&self) -> Type {
        Type { stars: self.inner.len() + 1, ..Type::pointer(&self.element) }
    }

    /// The type of the host's pointer to its elements.
    fn host_type(&self) -> Type {
        if self.is_in_place { Type::pointer("auto") } else { self.to_elements() }
    }

    /// A pointer to elements as a pointer of a type that has the variable's rows.
    fn cast(&self, to: &Type, argument: &str) -> String {
        match self.row_sizes.is_empty() || self.has_run_time_size || self.is_in_place {
            true => argument.to_owned(),
            false => to.cast(argument),
        }
    }
}

/// The type of a pointer to a variable, or to the elements of an array, if both C and C++ have a word for it, and no option of
/// the build decides what it is.
fn known(input: &Input, stmt: StmtId, one: &Captured) -> Option<Type> {
    let derived = one.decl.derived.as_slice();
    let is_plain = matches!(derived, [] | [Derived::Pointer | Derived::Array(_) | Derived::Reference]);
    let is_own = matches!(one.decl.kind, DeclKind::Variable | DeclKind::Parameter);
    let (home, written) = one.written;
    let is_unfolded = one.decl.derived.len() > written.derived.len();
    if !is_plain
        || !is_own
        || is_chosen(input, stmt, one)
        || is_unfolded && unfolded::says_const(input, home, written)
    {
        return None;
    }
    let (words, is_const) = spelling::builtin(input, one.seen, &one.decl)?;
    Some(Type { is_const, ..Type::pointer(words) })
}

/// Whether the build may decide what the type of a variable of launch `stmt` is: by the type's name, or by conditions in its
/// declaration or around it that the launch does not stand under itself.
fn is_chosen(input: &Input, stmt: StmtId, one: &Captured) -> bool {
    if spelling::is_chosen(input, &one.decl) {
        return true;
    }
    let (seen, decl) = one.written;
    let number = input.number(&seen);
    let is_under = |choices: &Choices| {
        let there = choices.place(number, decl.span.start);
        let here = choices.place(input.headers.len(), input.stmt_span(stmt).start);
        choices.is_chosen(&there) && !there.is_around(&here)
            || !choices.hidden_in(number, decl.span).is_empty()
    };
    input.choices.is_some_and(is_under)
}

/// Copies of memory that a pointer leads to, in scratch memory of the device: the host's first byte of it, its length, and how
/// far it begins after the pointer.
struct Copies {
    copies: String,
    count: String,
    from: String,
    length: String,
    offset: Option<String>,
}

impl<'a> Making<'a, '_> {
    /// Adds a variable.
    pub fn variable(&mut self, one: &Captured<'a>) -> Result<(), Refused> {
        if let Role::Part(data) = &one.role {
            this::part(self, one.symbol, &one.name, data.as_ref());
            return Ok(());
        }
        let variable = Variable::new(self, one)?;
        let written = one.written.1;
        if spelling::is_unnamed(self.input, written) {
            return Err(refused(variable.at, "a variable of C whose type has no name,"));
        }
        let is_reduced = matches!(one.role, Role::Reduction(_));
        if let Some(what) = spelling::not_repeatable(self.input, written).filter(|_| is_reduced) {
            return Err(refused(variable.at, what));
        }
        match &one.role {
            Role::Part(_) => {}
            Role::PrivateMemory(address, is_filled) => self.private_memory(&variable, address, *is_filled),
            Role::Local | Role::Value if self.atomic.contains(&one.symbol) => {
                self.gangs_value(&variable, matches!(one.role, Role::Value))?
            }
            Role::Local => self.local(&variable)?,
            Role::Value | Role::DevicePointer => self.value(&variable),
            Role::Member => self.member(&variable),
            Role::Reduction(_) if self.is_only_gangs(one.symbol) => self.only_gang(&variable),
            Role::Reduction(op) => self.reduction(&variable, *op),
            Role::Data(method, address) => match one.class {
                Class::Scalar | Class::Unknown | Class::Record => self.single(&variable, *method),
                Class::Array | Class::Pointer => self.data(&variable, *method, address.as_ref())?,
            },
            Role::FirstArray(address) => self.first_array(&variable, address),
            Role::ReductionArray(op, address) => self.reduction_array(&variable, *op, address)?,
            Role::Rows(method, rows) => self.rows(&variable, *method, rows),
        }
        Ok(())
    }

    /// Whether a reduction is that of the only gang, which has its result as any other variable: loops reduce it, none of them
    /// over gangs, or the region uses it beside such loops.
    pub fn is_only_gangs(&self, symbol: SymbolId) -> bool {
        let reducing = || self.nest.values().filter(|shared| shared.reduces(self.input, symbol));
        let is_in_gang = || reducing().next().is_some() && reducing().all(|shared| !shared.levels().gang);
        let is_loops = || is_in_gang() && !self.constructs.contains(&symbol);
        let is_used_beside = || {
            let region = self.input.stmt_span(self.stmt);
            let divisions = self.nest.values().map(|shared| shared.division);
            plan::is_used_beside(self.input.code(), region, divisions, symbol)
        };
        self.is_one_gang && (is_loops() || is_used_beside())
    }

    /// Where copies of a variable's memory come from. Both use these names in this order.
    fn copies(
        &mut self,
        variable: &Variable,
        address: &Address,
        made_first: &[&str],
    ) -> (Copies, Vec<String>) {
        let name = variable.name;
        let copies = self.names.fresh(&format!("{name}_copies"));
        let count = self.names.fresh(&format!("{name}_count"));
        let own = made_first.iter().map(|name| self.names.fresh(name)).collect();
        let host_type = variable.host_type();
        let start = self.host.pointer(&host_type, name, &variable.here, variable.known.as_ref());
        let length = operand(&self.host.number("size_t", &count, &address.count));
        let mut found = Copies { copies, count, from: start.clone(), length, offset: None };
        if !address.at_start {
            let wanted = self.names.fresh(&format!("{name}_from"));
            found.from = self.host.pointer(&host_type, &wanted, &address.from, variable.known.as_ref());
            let offset = self.names.fresh(&format!("{name}_offset"));
            self.made.param(Type::value("long"), &offset, format!("{} - {start}", found.from));
            found.offset = Some(offset);
        }
        (found, own)
    }

    /// The parameters for copies, `each` of them for a gang.
    fn scratch(&mut self, variable: &Variable, found: &Copies, each: usize) {
        let Copies { copies, count, length, .. } = found;
        let element = &variable.element;
        let words = &self.host.words;
        let times = if each == 1 { String::new() } else { format!(" * {each}") };
        let scratch = format!("{}.scratch<{element}>({length} * {}.x{times})", words.region, words.gangs);
        self.made.param(Type::pointer(element), copies, scratch);
        self.made.param(Type::value("size_t"), count, length);
    }

    fn private_memory(&mut self, variable: &Variable, address: &Address, is_filled: bool) {
        let name = variable.name;
        let (found, _) = self.copies(variable, address, &[]);
        if is_filled && variable.one.used.is_unchanged() {
            self.read_only(variable, &found);
            return;
        }
        let is_shared = shared_by_threads(self.input, self.nest, self.shape.shape, variable.one);
        let (each, own) = match is_shared {
            true => (1, "blockIdx.x"),
            false => (self.shape.vector * self.shape.workers, THREAD),
        };
        self.scratch(variable, &found, each);
        let Copies { copies, count, offset, .. } = &found;
        let minus = offset.as_ref().map_or(String::new(), |offset| format!(" - {offset}"));
        self.pointer_to_memory(variable, &format!("{copies} + {count} * {own}{minus}"), false);
        if is_filled {
            let first = self.first(variable, &found);
            let count = &found.count;
            let start = match (&found.offset, variable.row_sizes.is_empty()) {
                (None, true) => name.to_owned(),
                (None, false) => format!("({} *){name}", variable.element),
                (Some(offset), _) => {
                    format!("({})", item::address_of(self.input, &format!("{name}[{offset}]")))
                }
            };
            self.made.filling.push(match is_shared {
                true => format!("acc2omp::fill({start}, {first}, {count});"),
                false => {
                    let n = self.names.fresh("n");
                    let start = if start.starts_with('(') { format!("({start})") } else { start };
                    format!(
                        "for (size_t {n} = 0; {n} < {count}; {n}++)\n        {start}[{n}] = {first}[{n}];"
                    )
                }
            });
        }
        if is_shared {
            self.common.insert(variable.one.symbol);
        }
    }

    /// Memory of firstprivate copies that nobody writes to: all gangs read one.
    fn read_only(&mut self, variable: &Variable, found: &Copies) {
        let first = self.first(variable, found);
        let minus = found.offset.as_ref().map_or(String::new(), |offset| format!(" - {offset}"));
        self.pointer_to_memory(variable, &format!("{first}{minus}"), true);
        self.common.insert(variable.one.symbol);
    }

    /// The parameter that leads to what fills copies.
    fn first(&mut self, variable: &Variable, found: &Copies) -> String {
        let first = self.names.fresh(&format!("{}_first", variable.name));
        let region = &self.host.words.region;
        let argument = format!("{region}.first({}, {})", found.from, found.length);
        self.made.param(Type::pointer(&variable.element).constant(), &first, argument);
        first
    }

    /// Declares the variable in the kernel as a pointer to the memory at `start`.
    fn pointer_to_memory(&mut self, variable: &Variable, start: &str, is_const: bool) {
        let Variable { name, element, .. } = variable;
        self.made.prologue.push(match variable.row_sizes.is_empty() {
            true => {
                let of = Type { is_const, ..Type::pointer(element) };
                format!("{} = {start};", of.declare(name))
            }
            false => {
                let of = Type { is_const, ..variable.pointer().plain() };
                format!("{} = {};", of.declare(name), of.cast(&format!("({start})")))
            }
        });
    }

    /// What the launch's code does with variables, except the headers of its shared loops.
    fn beside(&self) -> &Uses {
        self.facts.beside.get_or_init(|| {
            let all = self.nest.values();
            let pairs = all.flat_map(|shared| {
                shared.division.stmts.iter().copied().zip(shared.headers.iter().map(|header| header.var))
            });
            let controlled: FxHashMap<StmtId, SymbolId> = pairs.collect();
            sema::uses_beside(self.input.unit(), self.input.symbols, self.stmt, &controlled)
        })
    }

    /// What the launch's code names and does more with than to index it.
    fn beyond_indices(&self) -> &FxHashSet<SymbolId> {
        self.facts.beyond_indices.get_or_init(|| beyond_indices(self.input, self.stmt))
    }

    fn local(&mut self, variable: &Variable) -> Result<(), Refused> {
        let Variable { one, name, element, stars, .. } = variable;
        if is_shared_variable_only(self.nest, self.beside(), one.symbol) {
            return Ok(());
        }
        if one.class == Class::Array {
            let is_known = |part: &Derived| match part {
                Derived::Array(size) => size.is_some_and(|size| is_constant(self.input, one, size)),
                _ => true,
            };
            return match one.decl.derived.iter().all(is_known) {
                // It is declared with what threads share.
                true => Ok(()),
                false => Err(refused(variable.at, "a private array of variable length")),
            };
        }
        let is_read = one.used.read || one.used.part_read || one.used.address_taken;
        let unread = if is_read { "" } else { "[[maybe_unused]] " };
        self.made.prologue.push(format!("{unread}{element} {}{name};", "*".repeat(*stars)));
        Ok(())
    }

    /// A scalar that `atomic` statements update: each gang has one, which its threads share. (What is atomic is not a thread's own.)
    fn gangs_value(&mut self, variable: &Variable, is_filled: bool) -> Result<(), Refused> {
        let Variable { one, name, here, element, .. } = variable;
        let mode = owners::levels_of_owner(self.input, self.nest, &one.name);
        if mode.threads() {
            return Err(refused(variable.at, "an `atomic` on a variable of each thread or worker"));
        }
        self.common.insert(one.symbol);
        self.made.prologue.push(format!("__shared__ {element} {name};"));
        if is_filled {
            let first = self.names.fresh(&format!("{name}_first"));
            let given = match self.host.in_place {
                true => here.clone(),
                false => {
                    let of = Type::pointer(element).constant();
                    let known = variable.known.clone().map(Type::constant);
                    format!(
                        "*{}",
                        self.host.pointer(&of, &first, &item::address_of(self.input, here), known.as_ref())
                    )
                }
            };
            self.made.param(Type::value(element), &first, given);
            self.made.filling.push("if (threadIdx.x == 0 && threadIdx.y == 0)".to_owned());
            self.made.filling.push(format!("    {name} = {first};"));
            self.made.filling.push("__syncthreads();".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, variable: &Variable) {
        let Variable { one, name, here, element, .. } = variable;
        if one.class == Class::Pointer {
            let given = self.host.pointer(&variable.host_type(), name, here, variable.known.as_ref());
            let of = variable.pointer();
            let argument = variable.cast(&of, &given);
            self.made.param(of, *name, argument);
            return self.run_time_sizes(variable);
        }
        // A pointer or an object.
        let is_unseen = one.shown == Some(Shown::Indexed) && matches!(one.role, Role::Value);
        let argument = |host: &str| match is_unseen {
            true => format!("{}.argument(\"{name}\", {host})", self.host.words.region),
            false => host.to_owned(),
        };
        if self.host.in_place {
            let argument = argument(here);
            return self.made.param(Type::value("auto"), *name, argument);
        }
        let argument = argument(name);
        self.made.param(Type::value(element), *name, argument);
        let plain = spelling::plain(self.input, one.seen, &one.decl).filter(|_| one.class != Class::Record);
        // What the build chooses, the header does not know.
        let plain = plain.filter(|_| !is_chosen(self.input, self.stmt, one));
        if let Some(plain) = plain {
            let is_same = *element == plain || variable.known.is_some();
            self.host.param((Type::value(element), Type::value(plain)), name, here, is_same);
            return;
        }
        let at = self.names.fresh(&format!("{name}_value"));
        let known = variable.known.clone().map(Type::constant);
        self.host.pointer(
            &Type::pointer(element).constant(),
            &at,
            &item::address_of(self.input, here),
            known.as_ref(),
        );
        self.host.lines.push(format!("const {element} {name} = *{at};"));
    }

    /// A member that has the value of the device's object. The host's decides how many gangs there are.
    fn member(&mut self, variable: &Variable) {
        let Variable { name, here, .. } = variable;
        let device = self.names.fresh(&format!("{name}_device"));
        let region = &self.host.words.region;
        self.host.lines.push(format!(
            "auto *{device} = {region}.copyin(\"{name}\", {}, 1);",
            item::address_of(self.input, here)
        ));
        self.made.param(Type::pointer("auto"), &device, &device);
        self.made.prologue.push(format!("auto {name} = *{device};"));
    }

    /// A reduction in the only gang: what it computes is the result.
    fn only_gang(&mut self, variable: &Variable) {
        let Variable { name, here, element, .. } = variable;
        let there = self.names.fresh(&format!("{name}_there"));
        let device = self.names.fresh(&format!("{name}_device"));
        self.made.param(Type::pointer(element), &there, &device);
        self.made.prologue.push(format!("{element} {name} = *{there};"));
        // All threads have read it before one writes it.
        self.made.epilogue.push("__syncthreads();".to_owned());
        self.made.epilogue.push("if (threadIdx.x == 0 && threadIdx.y == 0)".to_owned());
        self.made.epilogue.push(format!("    *{there} = {name};"));
        let given = self.host.pointer(
            &Type::pointer(element),
            name,
            &item::address_of(self.input, here),
            variable.known.as_ref(),
        );
        let region = &self.host.words.region;
        self.host.lines.push(format!("{element} *{device} = {region}.copy(\"{name}\", {given}, 1);"));
    }

    fn reduction(&mut self, variable: &Variable, op: ReductionOp) {
        let Variable { name, here, element, .. } = variable;
        let result = self.names.fresh(&format!("{name}_result"));
        self.made.param(Type::value(format!("acc2omp::Result<{element}>")), &result, &result);
        self.made.prologue.push(format!("{element} {name} = {};", identity(op, element)));
        self.made.epilogue.push(format!("acc2omp::combine<{}>({result}, {name});", operator(op)));
        let given = self.host.pointer(
            &Type::pointer(element),
            name,
            &item::address_of(self.input, here),
            variable.known.as_ref(),
        );
        let words = &self.host.words;
        self.host.results.push(format!(
            "acc2omp::Result<{element}> {result} = {}.result(\"{name}\", {given}, {});",
            words.region, words.gangs
        ));
    }

    /// A scalar or a record in device memory.
    fn single(&mut self, variable: &Variable, motion: Motion) {
        let method = word(motion);
        let Variable { one, name, here, element, .. } = variable;
        self.common.insert(one.symbol);
        let device = self.names.fresh(&format!("{name}_device"));
        let (there, kind) = match self.host.in_place {
            true => (device.clone(), "auto"),
            false => (self.names.fresh(&format!("{name}_there")), element.as_str()),
        };
        // A pointer or an object.
        let is_unseen = one.shown == Some(Shown::Indexed);
        let of = match (is_unseen, self.host.in_place) {
            (false, _) => Type::pointer(kind),
            (true, true) => Type::value(kind),
            (true, false) => Type::value(format!("acc2omp::There<{kind}>")),
        };
        self.made.param(of.clone(), &there, &device);
        // What the kernel does not change, each thread reads once.
        let is_value = one.class == Class::Scalar && self.is_only_read(one);
        self.made.prologue.push(match is_value {
            true => format!("const {kind} {name} = *{there};"),
            false if is_unseen => format!("auto &{name} = *{there};"),
            false => format!("{kind} &{name} = *{there};"),
        });
        let given = self.host.pointer(
            &Type::pointer(element),
            name,
            &item::address_of(self.input, here),
            variable.known.as_ref(),
        );
        let count = if motion == Motion::Find { "" } else { ", 1" };
        let region = &self.host.words.region;
        let found = format!("{region}.{method}(\"{name}\", {given}{count})");
        let found = match is_unseen {
            true => format!("{region}.named(\"{name}\", {given}, [&] {{ return {found}; }})"),
            false => found,
        };
        let line = format!("{} = {found};", of.declare(&device));
        match motion {
            Motion::Find => self.host.lookups.push(line),
            _ => self.host.lines.push(line),
        }
    }

    /// Whether nothing that a region does can change a scalar: no statement assigns it or takes its address, and no function is
    /// called that might.
    fn is_only_read(&self, one: &Captured) -> bool {
        let Input { symbols, .. } = *self.input;
        let is_changed = one.used.written || one.used.part_written || one.used.address_taken;
        let span = self.input.stmt_span(self.stmt);
        let head = Span { start: one.decl.span.start, end: one.decl.name_span.start };
        let is_volatile = text::words(&one.seen.file.text(head)).contains(&"volatile");
        !is_changed
            && !is_volatile
            && !self.atomic.contains(&one.symbol)
            && !symbols.get(one.symbol).is_reference
            && !symbols.is_static_member(one.symbol)
            && !capture::has_other_names(self.input, self.stmt, one.symbol)
            && effects::changing_call(self.input, span, &|_| false).is_none()
            && !self.reads_atomically(one.symbol)
    }

    /// Whether an `atomic read` is about a variable: others may change it while the kernel runs.
    fn reads_atomically(&self, symbol: SymbolId) -> bool {
        let span = self.input.stmt_span(self.stmt);
        let inside = self.input.bound.iter().filter(|one| span.contains(one.directive.span));
        let atomic = inside.filter(|one| one.directive.kind == DirectiveKind::Atomic);
        let mut stmts = atomic.filter_map(|one| one.stmt());
        stmts.any(|stmt| sema::uses(self.input.unit(), self.input.symbols, stmt).of(symbol).is_some())
    }

    /// An array, or what a pointer leads to, in device memory.
    fn data(
        &mut self,
        variable: &Variable,
        motion: Motion,
        address: Option<&Address>,
    ) -> Result<(), Refused> {
        let method = word(motion);
        let Variable { one, name, here, row_sizes, .. } = variable;
        self.common.insert(one.symbol);
        let device = self.names.fresh(&format!("{name}_device"));
        let of = variable.pointer();
        let argument = variable.cast(&of, &device);
        let name_there = match super::whole::dimensions(self.input, self.stmt, one)? {
            None => (*name).to_owned(),
            Some(dimensions) => self.whole(variable, &dimensions),
        };
        self.made.params.push(Param { name: name_there, of, argument, memory: Some(one.symbol) });
        let host_type = variable.host_type();
        let start = self.host.pointer(&host_type, name, here, variable.known.as_ref());
        let region = self.host.words.region.clone();
        let call = match address {
            None => format!("{region}.pointer(\"{name}\", {start})"),
            Some(address) if motion == Motion::Find => {
                let from = self.names.fresh(&format!("{name}_from"));
                let from = self.host.pointer(&host_type, &from, &address.from, variable.known.as_ref());
                format!("{region}.pointer(\"{name}\", {from}) - ({from} - {start})")
            }
            Some(address) => {
                let count = self.names.fresh(&format!("{name}_count"));
                // In place, rows are counted.
                let rows = format!("({}) / sizeof {here}[0]", address.bytes);
                let has_rows = self.host.in_place && !row_sizes.is_empty();
                let length = if has_rows { &rows } else { &address.count };
                let count = self.host.number("size_t", &count, length);
                if address.at_start {
                    format!("{region}.{method}(\"{name}\", {start}, {count})")
                } else if has_rows {
                    return Err(refused(variable.at, "a part of an array of rows, in this place"));
                } else {
                    let from = self.names.fresh(&format!("{name}_from"));
                    let from = self.host.pointer(&host_type, &from, &address.from, variable.known.as_ref());
                    format!("{region}.{method}(\"{name}\", {from}, {count}) - ({from} - {start})")
                }
            }
        };
        let line = format!("{} = {call};", host_type.declare(&device));
        match motion {
            Motion::Find => self.host.lookups.push(line),
            _ => self.host.lines.push(line),
        }
        self.made.devices.insert(one.symbol, device);
        self.run_time_sizes(variable);
        Ok(())
    }

    /// An array that the kernel has as one: the name of the parameter that leads to it.
    fn whole(&mut self, variable: &Variable, dimensions: &str) -> String {
        let Variable { one, name, here, element, inner, .. } = variable;
        let there = self.names.fresh(&format!("{name}_there"));
        let (kind, array) = if self.host.in_place {
            let alias = self.names.fresh(&format!("{name}_type"));
            self.host.lines.push(format!("using {alias} = acc2omp::Value<decltype({here})>;"));
            ("auto".to_owned(), format!("{alias} *"))
        } else {
            let constant = if variable.is_read_only || one.decl.is_const { "const " } else { "" };
            let kind = format!("{constant}{element} {inner}");
            (kind.clone(), format!("{kind}(*){dimensions}"))
        };
        self.made.prologue.push(match self.host.in_place {
            true => format!("[[maybe_unused]] {kind} &{name} = *({array}){there};"),
            false => format!("[[maybe_unused]] {kind}(&{name}){dimensions} = *({array}){there};"),
        });
        there
    }

    /// What fills an array of each thread or gang, which is declared with what threads share.
    fn first_array(&mut self, variable: &Variable, address: &Address) {
        let Variable { name, here, element, row_sizes, .. } = variable;
        let first = self.names.fresh(&format!("{name}_first"));
        let count = self.names.fresh(&format!("{name}_count"));
        let start = self.host.pointer(&Type::pointer(element), name, here, variable.known.as_ref());
        let length = self.host.number("size_t", &count, &address.count);
        let start = match self.host.in_place && !row_sizes.is_empty() {
            true => format!("(const {element} *){start}"),
            false => start,
        };
        let region = &self.host.words.region;
        let argument = format!("{region}.first({start}, {length})");
        self.made.param(Type::pointer(element).constant(), &first, argument);
        self.made.param(Type::value("size_t"), &count, length);
        let n = self.names.fresh("n");
        let place = format!("(({element} *){name})[{n}]");
        let each = format!("for (size_t {n} = 0; {n} < {count}; {n}++)");
        self.made.filling.push(format!("{each}\n        {place} = {first}[{n}];"));
    }

    fn reduction_array(
        &mut self,
        variable: &Variable,
        op: ReductionOp,
        address: &Address,
    ) -> Result<(), Refused> {
        let Variable { name, element, row_sizes, .. } = variable;
        if self.host.in_place && !row_sizes.is_empty() {
            return Err(refused(variable.at, "a reduction of an array of rows, in this place"));
        }
        let (found, own_names) = self.copies(variable, address, &[&format!("{name}_result"), "n"]);
        let [result, n] = own_names.as_slice() else { return Ok(()) };
        let own = self.names.fresh(&format!("{name}_own"));
        self.scratch(variable, &found, self.shape.vector * self.shape.workers);
        let Copies { copies, count, from, length, offset } = found;
        let of = Type::value(format!("acc2omp::ResultArray<{element}>"));
        let words = &self.host.words;
        self.host.results.push(format!(
            "{} = {}.result_array(\"{name}\", {from}, {length}, {});",
            of.declare(result),
            words.region,
            words.gangs
        ));
        self.made.param(of, result, result);
        let each = format!("for (size_t {n} = 0; {n} < {count}; {n}++)");
        let prologue = &mut self.made.prologue;
        prologue.push("// A copy for each thread.".to_owned());
        prologue.push(format!("{element} *{own} = {copies} + {count} * {THREAD};"));
        prologue.push(each.clone());
        prologue.push(format!("    {own}[{n}] = {};", identity(op, element)));
        let start = match &offset {
            Some(offset) if row_sizes.is_empty() => format!("{own} - {offset}"),
            Some(offset) => format!("({own} - {offset})"),
            None => own.clone(),
        };
        let of = variable.pointer().plain();
        prologue.push(format!("{} = {};", of.declare(name), variable.cast(&of, &start)));
        self.made.epilogue.push(each);
        self.made.epilogue.push(format!(
            "    acc2omp::combine<{0}>({result}[{n}], acc2omp::block_reduce<{0}>({own}[{n}]));",
            operator(op)
        ));
        self.run_time_sizes(variable);
        Ok(())
    }

    fn rows(&mut self, variable: &Variable, motion: Motion, rows: &Rows) {
        let method = word(motion);
        let Variable { one, name, here, .. } = variable;
        self.common.insert(one.symbol);
        let device = self.names.fresh(&format!("{name}_device"));
        let host_type = variable.host_type();
        let start = self.host.pointer(&host_type, name, here, None);
        let (names, host) = (&mut self.names, &mut self.host);
        let mut number = |what: &str, text: &str| {
            let given = names.fresh(&format!("{name}_{what}"));
            operand(&host.number("long", &given, text))
        };
        let (first, count) = (number("first", &rows.first), number("rows", &rows.count));
        let (from, length) = (number("from", &rows.from), number("length", &rows.length));
        let row = self.names.fresh("row");
        let pointers = word(if motion == Motion::Present { motion } else { Motion::Copyin });
        let region = self.host.words.region.clone();
        let lines = &mut self.host.lines;
        lines.push(format!("{region}.{pointers}(\"{name}\", {start} + {first}, {count});"));
        lines.push(format!("for (long {row} = {first}; {row} < {first} + {count}; {row}++) {{"));
        lines.push(format!("    {region}.{method}(\"{name}\", {start}[{row}] + {from}, {length});"));
        if motion != Motion::Present {
            lines.push(format!("    {region}.attach(\"{name}\", &{start}[{row}]);"));
        }
        lines.push("}".to_owned());
        lines.push(format!(
            "{} = {region}.pointer(\"{name}\", {start} + {first}) - {first};",
            host_type.declare(&device)
        ));
        self.made.param(host_type, *name, device);
    }

    /// Parameters for the sizes of an array's inner dimensions, if they are run-time values.
    fn run_time_sizes(&mut self, variable: &Variable) {
        if !variable.has_run_time_size {
            return;
        }
        let mut sizes = Vec::new();
        for at in 1..=variable.row_sizes.len() {
            let size = self.names.fresh(&format!("{}_size{at}", variable.name));
            self.made.param(Type::value("long"), &size, &size);
            let outer = format!("{}{}", variable.name, "[0]".repeat(at));
            self.host.number("long", &size, &format!("sizeof {outer} / sizeof {outer}[0]"));
            sizes.push(size);
        }
        self.flat.insert(variable.one.symbol, sizes);
    }

    /// What the launcher does for an item that the construct's code does not name.
    pub fn extra_item(&mut self, extra: &Extra) {
        let (names, host) = (&mut self.names, &mut self.host);
        let region = host.words.region.clone();
        let text = extra.text.replace('"', "'");
        if let Some((motion, address)) = &extra.brings {
            let method = word(*motion);
            let (from, bytes) = (names.fresh("item"), names.fresh("item_bytes"));
            let mut from = host.pointer(&Type::pointer("char"), &from, &address.from, None);
            let bytes = host.number("size_t", &bytes, &address.bytes);
            if host.in_place {
                from = format!("(const char *){}", operand(&from));
            }
            host.lines.push(format!("{region}.{method}(\"{text}\", {from}, {bytes});"));
        }
        if let Some(pointer) = &extra.pointer {
            let variable = names.fresh("item_pointer");
            let variable = host.pointer(&Type::pointer("void"), &variable, &format!("&{pointer}"), None);
            host.lines.push(format!("{region}.attach(\"{text}\", {variable});"));
        }
    }
}

/// A private array whose length is a run-time value is memory that a pointer leads to, if nothing else is done with it than to
/// index it.
pub fn lengthen(input: &Input, stmt: StmtId, one: &mut Captured) {
    let [Derived::Array(Some(size))] = one.decl.derived.as_slice() else { return };
    let role = match &one.role {
        Role::Local => Role::PrivateMemory(item::whole(input, one.seen, &one.name, &one.decl), false),
        Role::FirstArray(address) => Role::PrivateMemory(address.clone(), true),
        _ => return,
    };
    // The last question reads the whole region.
    if !input.in_place && !is_constant(input, one, *size) && may_be_pointer(input, stmt, one.symbol) {
        one.role = role;
    }
}

/// Whether a size is a constant expression of the language.
pub fn is_constant(input: &Input, one: &Captured, size: ExprId) -> bool {
    sizes::names(one.seen.unit, [size]).into_iter().all(|(name, _)| {
        let symbol = input.symbols.lookup(name, one.decl.span.start);
        symbol
            .map(|symbol| input.symbols.get(symbol))
            .is_none_or(|known| known.kind == SymbolKind::Constant || input.unit().is_cpp() && known.is_const)
    })
}

/// Whether a region uses a variable as that of shared loops only, which declare it themselves.
fn is_shared_variable_only(nest: &Nest, beside: &Uses, symbol: SymbolId) -> bool {
    let Some(used) = beside.of(symbol) else { return true };
    if used.written || used.address_taken {
        return false;
    }
    // It is read inside its loops, where they declare it.
    nest.values().any(|shared| shared.headers.iter().any(|header| header.var == symbol))
}
