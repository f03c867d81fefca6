//! What one variable becomes in kernel and launcher, by its role.
//!
//! Invariant: inside the kernel, the variable has its own name and type, or a reference or pointer of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::parts::{Host, Made};
use super::this;
use crate::acc::ast::{DirectiveKind, ReductionOp};
use crate::cuda::code::text::{self, operand};
use crate::cuda::meaning;
use crate::cuda::program::choices::Choices;
use crate::cuda::program::names::Names;
use crate::cuda::program::uses::{may_be_pointer, only_indexed};
use crate::cuda::program::{Input, Refused, effects, refused};
use crate::cuda::schedule::capture::{self, Captured, Extra, Role};
use crate::cuda::schedule::nest::Nest;
use crate::cuda::schedule::owners::{self, shared_by_threads};
use crate::cuda::schedule::reduction::{identity, operator, used_beside};
use crate::cuda::schedule::sizes::Sizes;
use crate::cuda::types::item::{self, Address, Rows};
use crate::cuda::types::spelling;
use crate::host::ir::{DeclKind, Derived, ExprId, ExprKind, StmtId};
use crate::sema::{self, Class, SymbolId, SymbolKind};
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
    /// No two pointers lead to the same memory.
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
    /// The sizes of the dimensions behind the first.
    behind: Vec<String>,
    has_run_time_size: bool,
    is_read_only: bool,
    is_in_place: bool,
    is_distinct: bool,
    /// The type of a pointer to its elements, in words that every file knows.
    known: Option<String>,
}

impl<'a, 'b> Variable<'a, 'b> {
    fn new(making: &Making<'a, '_>, one: &'b Captured<'a>) -> Result<Variable<'a, 'b>, Refused> {
        let Making { input, stmt, .. } = *making;
        let at = one.used.first.unwrap_or(input.stmt_span(stmt));
        let element = capture::element(input, one)?;
        let derived = &one.decl.derived;
        // The declared type of an array that stands behind a typedef is not taken apart.
        if matches!(one.class, Class::Array | Class::Pointer) && derived.is_empty() {
            return Err(refused(at, "an array or pointer behind a type name"));
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
            && only_indexed(input, stmt, one.symbol)
            && meaning::readers::only_values(input, stmt, one.symbol);
        Ok(Variable {
            one,
            name: &one.name,
            here: one.host_name(),
            at,
            element,
            stars,
            inner: "*".repeat(if is_pointer_first { stars - 1 } else { stars }),
            behind: sizes.iter().map(|size| size.map_or(String::new(), |size| one.seen.text(size))).collect(),
            has_run_time_size,
            is_read_only,
            is_in_place: making.host.in_place,
            is_distinct: making.distinct,
            known: known(input, one),
        })
    }

    /// The type of a pointer that only reads its elements, in words that every file knows.
    fn known_to_const(&self) -> Option<String> {
        let known = self.known.as_ref()?;
        Some(if known.starts_with("const ") { known.clone() } else { format!("const {known}") })
    }

    /// The declaration of a pointer to it, or to the first of its elements, on the device.
    fn pointer_to(&self, device: &str) -> String {
        let Variable { element, inner, behind, .. } = self;
        let constant = if self.is_read_only { "const " } else { "" };
        let distinct = if self.is_distinct { "__restrict__ " } else { "" };
        if self.is_in_place {
            let constant = if behind.is_empty() { constant } else { "" };
            format!("{constant}auto *{distinct}{device}")
        } else if self.has_run_time_size || behind.is_empty() {
            let distinct = if inner.is_empty() { distinct } else { "" };
            format!("{constant}{element} {inner}*{distinct}{device}")
        } else {
            let sizes: String = behind.iter().map(|size| format!("[{size}]")).collect();
            format!("{constant}{element} {inner}(*{distinct}{device}){sizes}")
        }
    }

    /// The type of the host's pointer to its elements.
    fn host_type(&self) -> String {
        match self.is_in_place {
            true => "auto *".to_owned(),
            false => format!("{} {}*", self.element, self.inner),
        }
    }

    /// A pointer to elements as a pointer of type `declared`.
    fn cast(&self, declared: &str, argument: &str) -> String {
        match self.behind.is_empty() || self.has_run_time_size || self.is_in_place {
            true => argument.to_owned(),
            // `__restrict__` says nothing of a value.
            false => format!("({}){argument}", declared.replace("__restrict__ ", "")),
        }
    }
}

/// The type of a pointer to a variable, or to the elements of an array, if both C and C++ have a word for it, and no option of
/// the build decides what it is.
fn known(input: &Input, one: &Captured) -> Option<String> {
    let is_plain = matches!(
        one.decl.derived.as_slice(),
        [] | [Derived::Pointer] | [Derived::Array(_)] | [Derived::Reference]
    );
    let is_own = matches!(one.decl.kind, DeclKind::Variable | DeclKind::Parameter);
    if !is_plain || !is_own || spelling::is_chosen(input, &one.decl) {
        return None;
    }
    let number = input
        .headers
        .iter()
        .chain([&input.source])
        .position(|seen| std::ptr::eq(seen.unit, one.seen.unit))?;
    let is_chosen = |choices: &Choices| choices.is_chosen(&choices.place(number, one.decl.span.start));
    if input.choices.is_some_and(is_chosen) {
        return None;
    }
    let (words, is_const) = spelling::builtin(input, one.seen, &one.decl)?;
    Some(if is_const { format!("const {words} *") } else { format!("{words} *") })
}

/// Copies of memory behind a pointer, in scratch memory of the device: the host's first byte of it, its length, and how
/// far it begins behind the pointer.
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
        let reducing =
            || self.nest.values().filter(|shared| shared.reduces(self.input, symbol).next().is_some());
        let is_in_gang = || reducing().next().is_some() && reducing().all(|shared| !shared.levels.gang);
        let is_loops = || is_in_gang() && !self.constructs.contains(&symbol);
        self.is_one_gang && (is_loops() || used_beside(self.input, self.nest, self.stmt, symbol))
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
        let known = variable.known.as_deref();
        let start = self.host.pointer(&host_type, name, &variable.here, known);
        let length = operand(&self.host.number("size_t", &count, &address.count));
        let mut found = Copies { copies, count, from: start.clone(), length, offset: None };
        if !address.at_start {
            let wanted = self.names.fresh(&format!("{name}_from"));
            found.from = self.host.pointer(&host_type, &wanted, &address.from, known);
            let offset = self.names.fresh(&format!("{name}_offset"));
            self.made.params.push((format!("long {offset}"), format!("{} - {start}", found.from)));
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
        self.made.params.push((
            format!("{element} *{copies}"),
            format!("{}.scratch<{element}>({length} * {}.x{times})", words.region, words.gangs),
        ));
        self.made.params.push((format!("size_t {count}"), length.clone()));
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
        let behind = offset.as_ref().map_or(String::new(), |offset| format!(" - {offset}"));
        self.pointer_to_memory(variable, &format!("{copies} + {count} * {own}{behind}"), false);
        if is_filled {
            let first = self.first(variable, &found);
            let count = &found.count;
            let start = match (&found.offset, variable.behind.is_empty()) {
                (None, true) => name.to_owned(),
                (None, false) => format!("({} *){name}", variable.element),
                (Some(offset), _) => format!("(&{name}[{offset}])"),
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
        let behind = found.offset.as_ref().map_or(String::new(), |offset| format!(" - {offset}"));
        self.pointer_to_memory(variable, &format!("{first}{behind}"), true);
        self.common.insert(variable.one.symbol);
    }

    /// The parameter that leads to what fills copies.
    fn first(&mut self, variable: &Variable, found: &Copies) -> String {
        let first = self.names.fresh(&format!("{}_first", variable.name));
        let region = &self.host.words.region;
        let declared = format!("const {} *{first}", variable.element);
        self.made.params.push((declared, format!("{region}.first({}, {})", found.from, found.length)));
        first
    }

    /// Declares the variable in the kernel as a pointer to the memory at `start`.
    fn pointer_to_memory(&mut self, variable: &Variable, start: &str, is_const: bool) {
        let Variable { name, element, .. } = variable;
        let lead = if is_const { "const " } else { "" };
        self.made.prologue.push(match variable.behind.is_empty() {
            true => format!("{lead}{element} *{name} = {start};"),
            false => {
                let plain = |text: String| {
                    let plain = text.replace("__restrict__ ", "").replace("const ", "");
                    format!("{lead}{plain}")
                };
                let kind = plain(variable.pointer_to(""));
                format!("{} = ({kind})({start});", plain(variable.pointer_to(name)))
            }
        });
    }

    fn local(&mut self, variable: &Variable) -> Result<(), Refused> {
        let Variable { one, name, element, stars, .. } = variable;
        if is_shared_variable_only(self.input, self.nest, self.stmt, one.symbol) {
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

    /// A scalar that `atomic` statements update: each gang has one, which its threads share. (What is atomic is no thread's own.)
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
                    let known = variable.known_to_const();
                    let kind = format!("const {element} *");
                    let given = self.host.pointer(&kind, &first, &format!("&{here}"), known.as_deref());
                    format!("*{given}")
                }
            };
            self.made.params.push((format!("{element} {first}"), given));
            self.made.filling.push("if (threadIdx.x == 0 && threadIdx.y == 0)".to_owned());
            self.made.filling.push(format!("    {name} = {first};"));
            self.made.filling.push("__syncthreads();".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, variable: &Variable) {
        let Variable { one, name, here, element, .. } = variable;
        if one.class == Class::Pointer {
            let given = self.host.pointer(&variable.host_type(), name, here, variable.known.as_deref());
            let argument = variable.cast(&variable.pointer_to(""), &given);
            self.made.params.push((variable.pointer_to(name), argument));
            return self.run_time_sizes(variable);
        }
        if self.host.in_place {
            return self.made.params.push((format!("auto {name}"), here.clone()));
        }
        self.made.params.push((format!("{element} {name}"), (*name).to_owned()));
        let plain = spelling::plain(self.input, one.seen, &one.decl).filter(|_| one.class != Class::Record);
        // What the build chooses, the header does not know.
        let plain = plain.filter(|_| !spelling::is_chosen(self.input, &one.decl));
        if let Some(plain) = plain {
            let is_same = *element == plain || variable.known.is_some();
            self.host.param((&format!("{element} {name}"), &format!("{plain} {name}")), here, is_same);
            return;
        }
        let at = self.names.fresh(&format!("{name}_value"));
        let known = variable.known_to_const();
        self.host.pointer(&format!("const {element} *"), &at, &format!("&{here}"), known.as_deref());
        self.host.lines.push(format!("const {element} {name} = *{at};"));
    }

    /// A member that has the value of the device's object. The host's decides how many gangs there are.
    fn member(&mut self, variable: &Variable) {
        let Variable { name, here, .. } = variable;
        let device = self.names.fresh(&format!("{name}_device"));
        let region = &self.host.words.region;
        self.host.lines.push(format!("auto *{device} = {region}.copyin(\"{name}\", &{here}, 1);"));
        self.made.params.push((format!("auto *{device}"), device.clone()));
        self.made.prologue.push(format!("auto {name} = *{device};"));
    }

    /// A reduction in the only gang: what it computes is the result.
    fn only_gang(&mut self, variable: &Variable) {
        let Variable { name, here, element, .. } = variable;
        let there = self.names.fresh(&format!("{name}_there"));
        let device = self.names.fresh(&format!("{name}_device"));
        self.made.params.push((format!("{element} *{there}"), device.clone()));
        self.made.prologue.push(format!("{element} {name} = *{there};"));
        // All threads have read it before one writes it.
        self.made.epilogue.push("__syncthreads();".to_owned());
        self.made.epilogue.push("if (threadIdx.x == 0 && threadIdx.y == 0)".to_owned());
        self.made.epilogue.push(format!("    *{there} = {name};"));
        let given =
            self.host.pointer(&format!("{element} *"), name, &format!("&{here}"), variable.known.as_deref());
        let region = &self.host.words.region;
        self.host.lines.push(format!("{element} *{device} = {region}.copy(\"{name}\", {given}, 1);"));
    }

    fn reduction(&mut self, variable: &Variable, op: ReductionOp) {
        let Variable { name, here, element, .. } = variable;
        let result = self.names.fresh(&format!("{name}_result"));
        self.made.params.push((format!("acc2omp::Result<{element}> {result}"), result.clone()));
        self.made.prologue.push(format!("{element} {name} = {};", identity(op, element)));
        self.made.epilogue.push(format!("acc2omp::combine<{}>({result}, {name});", operator(op)));
        let given =
            self.host.pointer(&format!("{element} *"), name, &format!("&{here}"), variable.known.as_deref());
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
        self.made.params.push((format!("{kind} *{there}"), device.clone()));
        // What the kernel does not change, each thread reads once.
        let is_value = one.class == Class::Scalar && self.is_only_read(one);
        self.made.prologue.push(match is_value {
            true if kind.starts_with("const ") => format!("{kind} {name} = *{there};"),
            true => format!("const {kind} {name} = *{there};"),
            false => format!("{kind} &{name} = *{there};"),
        });
        let given =
            self.host.pointer(&format!("{element} *"), name, &format!("&{here}"), variable.known.as_deref());
        let count = if motion == Motion::Find { "" } else { ", 1" };
        let region = &self.host.words.region;
        let line = format!("{kind} *{device} = {region}.{method}(\"{name}\", {given}{count});");
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
        let Variable { one, name, here, behind, .. } = variable;
        self.common.insert(one.symbol);
        let device = self.names.fresh(&format!("{name}_device"));
        let argument = variable.cast(&variable.pointer_to(""), &device);
        match super::whole::dimensions(self.input, self.stmt, one)? {
            None => self.made.params.push((variable.pointer_to(name), argument)),
            Some(dimensions) => self.whole(variable, &dimensions, argument),
        }
        let host_type = variable.host_type();
        let known = variable.known.as_deref();
        let start = self.host.pointer(&host_type, name, here, known);
        let region = self.host.words.region.clone();
        let call = match address {
            None => format!("{region}.pointer(\"{name}\", {start})"),
            Some(address) if motion == Motion::Find => {
                let from = self.names.fresh(&format!("{name}_from"));
                let from = self.host.pointer(&host_type, &from, &address.from, known);
                format!("{region}.pointer(\"{name}\", {from}) - ({from} - {start})")
            }
            Some(address) => {
                let count = self.names.fresh(&format!("{name}_count"));
                // In place, rows are counted.
                let rows = format!("({}) / sizeof {here}[0]", address.bytes);
                let has_rows = self.host.in_place && !behind.is_empty();
                let length = if has_rows { &rows } else { &address.count };
                let count = self.host.number("size_t", &count, length);
                if address.at_start {
                    format!("{region}.{method}(\"{name}\", {start}, {count})")
                } else if has_rows {
                    return Err(refused(variable.at, "a part of an array of rows, in this place"));
                } else {
                    let from = self.names.fresh(&format!("{name}_from"));
                    let from = self.host.pointer(&host_type, &from, &address.from, known);
                    format!("{region}.{method}(\"{name}\", {from}, {count}) - ({from} - {start})")
                }
            }
        };
        let line = format!("{host_type}{device} = {call};");
        match motion {
            Motion::Find => self.host.lookups.push(line),
            _ => self.host.lines.push(line),
        }
        self.made.devices.insert(one.symbol, device);
        self.run_time_sizes(variable);
        Ok(())
    }

    /// The parameter for an array that the kernel has as one, and its name there.
    fn whole(&mut self, variable: &Variable, dimensions: &str, argument: String) {
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
        self.made.params.push((variable.pointer_to(&there), argument));
        self.made.prologue.push(match self.host.in_place {
            true => format!("[[maybe_unused]] {kind} &{name} = *({array}){there};"),
            false => format!("[[maybe_unused]] {kind}(&{name}){dimensions} = *({array}){there};"),
        });
    }

    /// What fills an array of each thread or gang, which is declared with what threads share.
    fn first_array(&mut self, variable: &Variable, address: &Address) {
        let Variable { name, here, element, behind, .. } = variable;
        let first = self.names.fresh(&format!("{name}_first"));
        let count = self.names.fresh(&format!("{name}_count"));
        let start = self.host.pointer(&format!("{element} *"), name, here, variable.known.as_deref());
        let length = self.host.number("size_t", &count, &address.count);
        let start = match self.host.in_place && !behind.is_empty() {
            true => format!("(const {element} *){start}"),
            false => start,
        };
        let region = &self.host.words.region;
        self.made
            .params
            .push((format!("const {element} *{first}"), format!("{region}.first({start}, {length})")));
        self.made.params.push((format!("size_t {count}"), length));
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
        let Variable { name, element, behind, .. } = variable;
        if self.host.in_place && !behind.is_empty() {
            return Err(refused(variable.at, "a reduction of an array of rows, in this place"));
        }
        let (found, own_names) = self.copies(variable, address, &[&format!("{name}_result"), "n"]);
        let [result, n] = own_names.as_slice() else { return Ok(()) };
        let own = self.names.fresh(&format!("{name}_own"));
        self.scratch(variable, &found, self.shape.vector * self.shape.workers);
        let Copies { copies, count, from, length, offset } = found;
        self.made.params.push((format!("acc2omp::ResultArray<{element}> {result}"), result.clone()));
        let words = &self.host.words;
        self.host.results.push(format!(
            "acc2omp::ResultArray<{element}> {result} = {}.result_array(\"{name}\", {from}, {length}, {});",
            words.region, words.gangs
        ));
        let each = format!("for (size_t {n} = 0; {n} < {count}; {n}++)");
        let prologue = &mut self.made.prologue;
        prologue.push("// A copy for each thread.".to_owned());
        prologue.push(format!("{element} *{own} = {copies} + {count} * {THREAD};"));
        prologue.push(each.clone());
        prologue.push(format!("    {own}[{n}] = {};", identity(op, element)));
        let start = match &offset {
            Some(offset) if behind.is_empty() => format!("{own} - {offset}"),
            Some(offset) => format!("({own} - {offset})"),
            None => own.clone(),
        };
        let plain = |text: String| text.replace("__restrict__ ", "").replace("const ", "");
        let declared = plain(variable.pointer_to(name));
        let value = variable.cast(&plain(variable.pointer_to("")), &start);
        prologue.push(format!("{declared} = {value};"));
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
            "{host_type}{device} = {region}.pointer(\"{name}\", {start} + {first}) - {first};"
        ));
        self.made.params.push((format!("{host_type}{name}"), device));
    }

    /// Parameters for the sizes of an array's inner dimensions, if they are run-time values.
    fn run_time_sizes(&mut self, variable: &Variable) {
        if !variable.has_run_time_size {
            return;
        }
        let mut sizes = Vec::new();
        for at in 1..=variable.behind.len() {
            let size = self.names.fresh(&format!("{}_size{at}", variable.name));
            self.made.params.push((format!("long {size}"), size.clone()));
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
            let mut from = host.pointer("char *", &from, &address.from, None);
            let bytes = host.number("size_t", &bytes, &address.bytes);
            if host.in_place {
                from = format!("(const char *){}", operand(&from));
            }
            host.lines.push(format!("{region}.{method}(\"{text}\", {from}, {bytes});"));
        }
        if let Some(pointer) = &extra.pointer {
            let variable = names.fresh("item_pointer");
            let variable = host.pointer("void *", &variable, &format!("&{pointer}"), None);
            host.lines.push(format!("{region}.attach(\"{text}\", {variable});"));
        }
    }
}

/// A private array whose length is a run-time value is memory behind a pointer, if nothing else is done with it than to
/// index it.
pub fn lengthen(input: &Input, stmt: StmtId, one: &mut Captured) {
    let [Derived::Array(Some(size))] = one.decl.derived.as_slice() else { return };
    if input.in_place || !may_be_pointer(input, stmt, one.symbol) || is_constant(input, one, *size) {
        return;
    }
    let role = match &one.role {
        Role::Local => Role::PrivateMemory(item::whole(input, &one.name, &one.decl), false),
        Role::FirstArray(address) => Role::PrivateMemory(address.clone(), true),
        _ => return,
    };
    one.role = role;
}

/// Whether a size is a constant expression of the language.
pub fn is_constant(input: &Input, one: &Captured, size: ExprId) -> bool {
    let unit = one.seen.unit;
    let mut pending = vec![size];
    while let Some(expr) = pending.pop() {
        let expr = unit.expr(expr);
        if let ExprKind::Name(name) = &expr.kind {
            let symbol = input.symbols.lookup(name, one.decl.span.start);
            let known = symbol.map(|symbol| input.symbols.get(symbol));
            let constant = known.is_none_or(|known| {
                known.kind == SymbolKind::Constant || input.unit().is_cpp() && known.is_const
            });
            if !constant {
                return false;
            }
        }
        pending.extend(expr.kind.children());
    }
    true
}

/// Whether a region uses a variable as that of shared loops only, which declare it themselves.
fn is_shared_variable_only(input: &Input, nest: &Nest, stmt: StmtId, symbol: SymbolId) -> bool {
    let controlled: FxHashMap<StmtId, SymbolId> = nest
        .values()
        .flat_map(|shared| shared.stmts.iter().copied().zip(shared.headers.iter().map(|header| header.var)))
        .collect();
    let beside = sema::uses_beside(input.unit(), input.symbols, stmt, &controlled);
    let Some(used) = beside.of(symbol) else { return true };
    if used.written || used.address_taken {
        return false;
    }
    // It is read inside its loops, where they declare it.
    nest.values().any(|shared| shared.headers.iter().any(|header| header.var == symbol))
}
