//! A compute construct as a function in C++, and what Fortran does around its call.
//!
//! Invariant: each variable of the construct is what it is in Fortran: in the host's memory, a value, or each thread's own.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem, Subscript};
use crate::bind;
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::plan::{Attribute, Item, KernelsPart, Launch, Region, Sharing};
use crate::sema::{self, SymbolId, SymbolKind, Texts};
use crate::source::Span;

use super::Why;
use super::block;
use super::call;
use super::clause::{Clauses, Keeps, Order, Reader};
use super::component;
use super::expression::Values;
use super::ground::Ground;
use super::interface::{Argument, Function, Passed};
use super::loops;
use super::record;
use super::signature::DummyKind;
use super::statement::{Around, Body};
use super::types::Type;
use super::variable::{
    Bound as Limit, BoundQuery, Variable, Variables, names_in, passed_name, place_name, presence_name,
};

/// A data clause that the host does before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The clause.
    pub clause: DataClause,
    /// The array or section, as Fortran writes it.
    pub name: String,
    /// The same, as an argument.
    pub item: String,
}

/// A variable of a module that a `declare` directive gives its place on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The clause.
    pub clause: DataClause,
    /// How the code calls it.
    pub name: String,
    /// It has memory where it is allocated.
    pub is_allocated: bool,
    /// Its derived type.
    pub record: Option<String>,
}

/// A construct in C++.
#[derive(Debug)]
pub struct Construct {
    /// The function, as Fortran calls it.
    pub function: Function,
    /// Its text.
    pub text: String,
    /// The data clauses that Fortran does.
    pub data: Vec<Data>,
    /// The variables of modules that `declare` directives give their place on the device.
    pub declared: Vec<Declared>,
    /// The objects whose size is to be that of their structs: the struct, the variable, and the bytes.
    pub sizes: Vec<(String, String, i128)>,
    /// What it needs of modules: the module, and the item of `only`.
    pub uses: Vec<(String, String)>,
    /// When it is done.
    pub order: Order,
    /// Several names may alias.
    pub is_aliased: bool,
    /// The directives in the text: the number of the line, from zero, and the place of the directive in Fortran.
    pub places: Vec<(usize, u32)>,
}

/// The intrinsic functions that calls of launchers ask.
const HIDEABLE: [&str; 4] = ["size", "lbound", "present", "int"];

/// The name of the parameter for a queue.
const QUEUE: &str = "queue";

/// Writes the compute construct of directive `index` as the function `name`.
pub fn construct(ground: &Ground, index: usize, name: &str) -> Result<Construct, Why> {
    Maker::new(ground, index)?.construct(name)
}

struct Maker<'a> {
    ground: &'a Ground<'a>,
    index: usize,
    region: StmtId,
    extent: Span,
    variables: Variables,
    /// The variables in the order in which they appear.
    order: Vec<SymbolId>,
    around: Around,
    clauses: Clauses,
    /// The data clauses for C++ that stand around all parts.
    outside: Vec<String>,
    /// What the host does after the last part.
    after: Vec<Host>,
    /// How procedures get the variables around them that they use.
    captured: BTreeMap<SymbolId, DummyKind>,
    /// Sections that begin elsewhere than their arrays.
    sections: BTreeMap<SymbolId, Section>,
}

/// A section that begins elsewhere than its array.
struct Section {
    /// The clause of C++ that finds it.
    word: &'static str,
    /// How many elements lie before it, in Fortran.
    first: String,
    /// How many it has, in Fortran.
    count: String,
}

/// What a scalar is to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// It is declared in the function.
    Local,
    /// Its value is passed.
    Value,
    /// Its address is passed.
    Reference,
}

/// A part of a construct that is one construct in C++.
struct Piece {
    stmt: StmtId,
    /// `parallel loop`, `parallel` or `serial`
    word: &'static str,
    /// The loop directive that it is combined with.
    combined: Option<usize>,
    /// What the host does before it.
    before: Vec<Host>,
}

/// What the host does between the parts of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    If(ExprId),
    Loop(StmtId),
    Else,
    End,
}

impl Piece {
    /// Whether it is a part of `kernels` that one thread runs.
    fn is_one_thread(&self) -> bool {
        self.word == "serial" && self.combined.is_none()
    }
}

impl<'a> Maker<'a> {
    fn new(ground: &'a Ground<'a>, index: usize) -> Result<Maker<'a>, Why> {
        let directive = &ground.bound[index].directive;
        let region = ground.bound[index].stmt().ok_or_else(|| Why::new(directive.span, "this construct"))?;
        let extent = ground.files.own.unit.stmt(region).span;
        let mut maker = Maker {
            ground,
            index,
            region,
            extent,
            variables: Variables::default(),
            order: Vec::new(),
            around: Around::default(),
            clauses: Clauses::default(),
            outside: Vec::new(),
            after: Vec::new(),
            captured: BTreeMap::new(),
            sections: BTreeMap::new(),
        };
        maker.gather()?;
        maker.capture()?;
        maker.loops()?;
        Ok(maker)
    }

    /// Takes in the variables that the construct names.
    fn gather(&mut self) -> Result<(), Why> {
        let directives = bind::descendants(self.ground.bound, self.index).chain([self.index]);
        let clauses = directives.flat_map(|at| &self.ground.bound[at].directive.clauses);
        let copied = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Private(list) | ClauseKind::Firstprivate(list) => Some(list),
            _ => None,
        });
        let copied: Vec<&ListItem> = copied.flatten().collect();
        let place = (self.region, self.extent);
        let has_value = |symbol, at| block::has_value(self.ground, symbol, at);
        self.order = block::gather(self.ground, &mut self.variables, place, &copied, &has_value)?;
        Ok(())
    }

    /// Takes in the variables that the procedures use which the construct calls.
    fn capture(&mut self) -> Result<(), Why> {
        let ground = self.ground;
        let used = sema::uses(ground.files.own.unit, ground.symbols, self.region);
        for (symbol, kind) in call::captured_in(ground, &mut self.variables, self.extent)? {
            let at = Span { start: self.extent.start, end: self.extent.start };
            if !self.variables.is_component(symbol) {
                self.variables.add(ground.files, ground.symbols, symbol, at)?;
            }
            if !self.order.contains(&symbol) {
                self.order.push(symbol);
            }
            let is_scalar = self.variables.get(symbol).is_some_and(|one| one.shape.is_empty());
            // A procedure means the variable itself, which a copy of the construct is not.
            if is_scalar && used.of(symbol).is_some_and(|how| how.written) {
                let name = &ground.symbols.get(symbol).name;
                return Err(Why::new(self.extent, format!("`{name}`, which a procedure uses, too,")));
            }
            let known = self.captured.entry(symbol).or_insert(kind);
            if kind == DummyKind::Reference {
                *known = kind;
            }
        }
        Ok(())
    }

    /// Finds out where the variables of loops are declared.
    fn loops(&mut self) -> Result<(), Why> {
        let unit = self.ground.files.own.unit;
        for at in bind::descendants(self.ground.bound, self.index).chain([self.index]) {
            if self.ground.bound[at].directive.kind.is_loop() {
                self.around.divided.extend(self.ground.bound[at].stmt());
            }
        }
        for at in bind::descendants(self.ground.bound, self.index).chain([self.index]) {
            self.around.takes_leads(loops::leads(self.ground, &self.ground.bound[at]), unit);
        }
        let symbols = self.ground.symbols;
        for (symbol, counter) in loops::counters(unit, symbols, self.extent) {
            if counter.is_apart() {
                self.around.in_heads.insert(symbol);
                continue;
            }
            if self.is_inside(symbol) {
                continue;
            }
            if counter.is_index {
                let what =
                    format!("`{}`, an index whose name is used beside its loop,", symbols.get(symbol).name);
                return Err(Why::new(counter.loops[0], what));
            }
            // Each iteration of a loop of a directive has its own: of the innermost one that holds all uses in the outermost.
            let is_around = |id: &StmtId, at: &Span| {
                let span = unit.stmt(*id).span;
                loops::variable(unit, symbols, *id) != Some(symbol) && span.contains(*at)
            };
            let mut owners: BTreeMap<StmtId, Vec<Span>> = BTreeMap::new();
            let mut has_all = true;
            for at in &counter.uses {
                let around = self.around.divided.iter().filter(|id| is_around(id, at));
                match around.max_by_key(|id| unit.stmt(**id).span.len()) {
                    Some(outermost) => owners.entry(*outermost).or_default().push(*at),
                    None => has_all = false,
                }
            }
            if !has_all {
                continue;
            }
            for uses in owners.values() {
                let holds = |id: &&StmtId| uses.iter().all(|at| is_around(id, at));
                let all = self.around.divided.iter().filter(holds);
                if let Some(innermost) = all.min_by_key(|id| unit.stmt(**id).span.len()).copied() {
                    self.around.in_bodies.entry(innermost).or_default().push(symbol);
                }
            }
        }
        Ok(())
    }

    /// Whether a variable is declared inside of the construct.
    fn is_inside(&self, symbol: SymbolId) -> bool {
        self.around.is_in_loop(symbol)
            || !self.variables.is_component(symbol) && self.ground.is_declared_in(symbol, self.extent)
    }

    fn construct(mut self, name: &str) -> Result<Construct, Why> {
        let pieces = self.pieces()?;
        let directives = self.directives(&pieces)?;
        let roles = self.roles(&pieces)?;
        self.absent(&roles)?;
        self.leads_inside(&roles)?;
        self.named_twice(&roles)?;
        let arrays = self.arrays();
        let data = self.data(&arrays)?;
        let values = Values::new(self.ground, &self.variables);
        let mut lines = self.locals(&roles)?;
        let mut places = Vec::new();
        if !self.outside.is_empty() {
            places.push((lines.len() + 2, self.ground.bound[self.index].directive.span.start));
            let queue =
                self.clauses.order.queue.as_ref().map(|_| format!(" async({QUEUE})")).unwrap_or_default();
            lines.push(format!("    #pragma acc data {}{queue}", self.outside.join(" ")));
            lines.push("    {".to_owned());
        }
        for (piece, words) in pieces.iter().zip(&directives) {
            let (words, at) = words;
            self.host(&piece.before, &values, &mut lines)?;
            places.push((lines.len() + 2, *at));
            lines.push(format!("    #pragma acc {}", self.words(piece, words, &roles, &arrays)));
            let is_loop = piece.combined.is_some();
            if !is_loop {
                lines.push("    {".to_owned());
            }
            let mut body = Body::new(&values, &self.around, self.extent, if is_loop { 1 } else { 2 });
            body.stmt(piece.stmt)?;
            lines.extend(body.finish());
            if !is_loop {
                lines.push("    }".to_owned());
            }
        }
        self.host(&self.after, &values, &mut lines)?;
        if !self.outside.is_empty() {
            lines.push("    }".to_owned());
        }
        // A name may only say a kind.
        let text = lines.join("\n");
        let names: BTreeSet<&str> = names_in(&text).collect();
        let mut args = self.args(&roles, &arrays)?;
        args.retain(|arg| names.contains(arg.name.as_str()));
        let function = Function { name: name.to_owned(), args };
        let text = format!("{}\n{{\n{text}\n}}\n", function.head());
        let is_aliased = arrays.iter().filter_map(|one| self.variables.get(*one)).any(|one| one.is_aliased);
        let (declared, uses, sizes) = (self.declared(), self.uses(), self.sizes(&function));
        Ok(Construct {
            function,
            text,
            data,
            declared,
            uses,
            sizes,
            order: self.clauses.order,
            is_aliased,
            places,
        })
    }

    /// The variables of modules with a place on the device.
    fn declared(&self) -> Vec<Declared> {
        let symbols = self.ground.symbols;
        let mut found = Vec::new();
        let all: BTreeSet<SymbolId> = self.order.iter().copied().chain(self.variables.roots()).collect();
        for symbol in all {
            let Some(clause) = self.place_of(symbol) else { continue };
            let variable = self.variables.get(symbol).map(|variable| variable.spelled.clone());
            let (name, is_allocated, record) = if self.variables.is_component(symbol) {
                let identity = self.variables.identity(symbol);
                let decl = identity.and_then(|(home, name)| self.ground.files.public(home.as_deref()?, name));
                let is_allocated =
                    decl.is_some_and(|(_, decl)| decl.fortran.allocatable || decl.fortran.pointer);
                (variable.unwrap_or_default(), is_allocated, None)
            } else {
                let known = symbols.get(symbol);
                let is_allocated = known.fortran.allocatable || known.fortran.pointer;
                (variable.unwrap_or_else(|| known.name.clone()), is_allocated, known.record.clone())
            };
            found.push(Declared { clause, name, is_allocated, record });
        }
        found
    }

    /// The clause that gives a variable of a module its place on the device.
    fn place_of(&self, symbol: SymbolId) -> Option<DataClause> {
        match self.variables.identity(symbol) {
            Some(identity) => self.ground.has_place(identity),
            None if self.variables.is_component(symbol) => None,
            None => self.ground.declared(symbol),
        }
    }

    /// The objects whose size is to be that of their structs, one for each struct.
    fn sizes(&self, function: &Function) -> Vec<(String, String, i128)> {
        let mut found: Vec<(String, String, i128)> = Vec::new();
        for symbol in &self.order {
            let Some(variable) = self.variables.get(*symbol) else { continue };
            let Some(record) = record::record(self.ground, variable.ty) else { continue };
            let is_passed = function.args.iter().any(|arg| arg.name == variable.name);
            if is_passed && found.iter().all(|(name, _, _)| *name != record.name) {
                found.push((record.name, variable.spelled.clone(), record.size));
            }
        }
        found
    }

    /// What the construct needs of modules.
    fn uses(&self) -> Vec<(String, String)> {
        let named = |symbol: &SymbolId| {
            let (home, name) = self.variables.identity(*symbol)?;
            let spelled = &self.variables.get(*symbol)?.spelled;
            let item = if spelled == name { name.clone() } else { format!("{spelled} => {name}") };
            Some((home.clone()?, item))
        };
        self.order.iter().filter_map(named).collect()
    }

    /// Refuses a scalar that the construct changes for the host, and uses by a name of `associate` as well: one name is an
    /// address, the other one the value before the construct.
    fn named_twice(&self, roles: &BTreeMap<SymbolId, Role>) -> Result<(), Why> {
        let (unit, symbols) = (self.ground.files.own.unit, self.ground.symbols);
        let is_scalar = |symbol: &&SymbolId| {
            let variable = self.variables.get(**symbol);
            variable.is_some_and(|one| one.shape.is_empty()) && !self.variables.is_component(**symbol)
        };
        let mut known: BTreeMap<SymbolId, (SymbolId, bool)> = BTreeMap::new();
        for symbol in self.order.iter().filter(is_scalar) {
            let is_shared = self.role(roles, *symbol) == Role::Reference;
            let (other, has_shared) =
                *known.entry(sema::lent_whole(unit, symbols, *symbol)).or_insert((*symbol, is_shared));
            // Two addresses are that of one variable.
            if other != *symbol && is_shared != has_shared {
                let [one, two] = [other, *symbol].map(|symbol| symbols.get(symbol).name.as_str());
                let what = format!("`{one}` with its other name `{two}`, a variable that changes,");
                return Err(Why::new(self.extent, what));
            }
        }
        Ok(())
    }

    /// Refuses a scalar pointer whose value is passed and that may lead to what the construct changes.
    fn leads_inside(&self, roles: &BTreeMap<SymbolId, Role>) -> Result<(), Why> {
        let symbols = self.ground.symbols;
        let own = |symbol: &&SymbolId| !self.variables.is_component(**symbol);
        let uses = sema::uses(self.ground.files.own.unit, symbols, self.region);
        for symbol in self.order.iter().filter(own) {
            let Some(pointer) = self.variables.get(*symbol) else { continue };
            let is_value = pointer.shape.is_empty() && self.role(roles, *symbol) == Role::Value;
            if !is_value || !symbols.get(*symbol).fortran.pointer {
                continue;
            }
            let is_changed = |other: &&SymbolId| {
                let is_kept = uses.of(**other).is_none_or(|how| how.is_unchanged());
                let is_aliased = self.variables.get(**other).is_some_and(|one| one.is_aliased);
                *other != symbol && is_aliased && !is_kept
            };
            if self.order.iter().filter(own).any(|other| is_changed(&other)) {
                let what =
                    format!("`{}`, a pointer that may lead to what the construct changes,", pointer.spelled);
                return Err(Why::new(self.extent, what));
            }
        }
        Ok(())
    }

    /// Refuses what may be absent where something has to be there.
    fn absent(&self, roles: &BTreeMap<SymbolId, Role>) -> Result<(), Why> {
        for symbol in &self.order {
            let Some(variable) = self.variables.get(*symbol).filter(|one| one.is_optional) else { continue };
            let is_scalar = variable.shape.is_empty();
            let is_there = if is_scalar {
                self.role(roles, *symbol) != Role::Reference
            } else {
                variable.shape.iter().all(|one| one.lower != Limit::Passed)
                    && !self.clauses.scalars.iter().any(|(_, other)| other == symbol)
            };
            if !is_there {
                let what = format!("`{}`, an optional argument in this place,", variable.spelled);
                return Err(Why::new(self.extent, what));
            }
        }
        Ok(())
    }

    /// The constructs in C++ that the construct becomes, in their order.
    fn pieces(&mut self) -> Result<Vec<Piece>, Why> {
        let (ground, index) = (self.ground, self.index);
        let kind = ground.bound[index].directive.kind;
        let piece = |word, combined| vec![Piece { stmt: self.region, word, combined, before: Vec::new() }];
        Ok(match kind {
            DirectiveKind::ParallelLoop => piece("parallel loop", Some(index)),
            DirectiveKind::SerialLoop => piece("serial loop", Some(index)),
            DirectiveKind::Parallel => piece("parallel", None),
            DirectiveKind::Serial => piece("serial", None),
            _ => {
                let parts = ground.plan.kernels.get(&index).map(Vec::as_slice).unwrap_or_default();
                let (mut pieces, mut host) = (Vec::with_capacity(parts.len()), Vec::new());
                self.parts(parts, &mut pieces, &mut host)?;
                self.after = host;
                pieces
            }
        })
    }

    /// Writes what the host does between parts.
    fn host(&self, all: &[Host], values: &Values, lines: &mut Vec<String>) -> Result<(), Why> {
        for one in all {
            lines.push(match one {
                Host::If(cond) => format!("    if ({}) {{", values.value(*cond)?.text),
                Host::Loop(stmt) => {
                    let body = Body::new(values, &self.around, self.extent, 1);
                    format!("    {}", body.host_loop(*stmt)?)
                }
                Host::Else => "    } else {".to_owned(),
                Host::End => "    }".to_owned(),
            });
        }
        Ok(())
    }

    /// Adds parts of `kernels`; `host` is what the host does before the next one.
    fn parts(&self, parts: &[KernelsPart], pieces: &mut Vec<Piece>, host: &mut Vec<Host>) -> Result<(), Why> {
        let unit = self.ground.files.own.unit;
        for part in parts {
            match part {
                KernelsPart::Launch { stmt, directive } => {
                    let combined = directive.or_else(|| self.launched(*stmt));
                    // One thread makes one value of an array.
                    let combined = combined.filter(|_| !self.makes_one_value(*stmt));
                    let word = if combined.is_some() { "parallel loop" } else { "serial" };
                    pieces.push(Piece { stmt: *stmt, word, combined, before: std::mem::take(host) });
                }
                KernelsPart::Host { stmt, bodies }
                    if matches!(unit.stmt(*stmt).kind, StmtKind::If { .. }) =>
                {
                    let StmtKind::If { cond, .. } = unit.stmt(*stmt).kind else { continue };
                    host.push(Host::If(cond));
                    for (at, (_, parts)) in bodies.iter().enumerate() {
                        host.extend((at > 0).then_some(Host::Else));
                        self.parts(parts, pieces, host)?;
                    }
                    host.push(Host::End);
                }
                KernelsPart::Host { stmt, bodies }
                    if matches!(unit.stmt(*stmt).kind, StmtKind::For { .. }) =>
                {
                    host.push(Host::Loop(*stmt));
                    for (_, parts) in bodies {
                        self.parts(parts, pieces, host)?;
                    }
                    host.push(Host::End);
                }
                KernelsPart::Host { stmt, .. } | KernelsPart::Output(stmt) => {
                    let at = unit.stmt(*stmt).span;
                    return Err(Why::new(at, "what the host runs in a `kernels` construct"));
                }
            }
        }
        Ok(())
    }

    /// Whether a statement assigns one value, which it makes of an array.
    fn makes_one_value(&self, stmt: StmtId) -> bool {
        let Texts { file, unit } = self.ground.files.own;
        let read = sema::elementwise(file, unit, self.ground.symbols, stmt);
        matches!(unit.stmt(stmt).kind, StmtKind::Expr(_))
            && read.is_some_and(|read| read.is_ok_and(|read| read.reduction.is_some()))
    }

    /// The directive of a loop that is a launch by itself.
    fn launched(&self, stmt: StmtId) -> Option<usize> {
        let ground = self.ground;
        let mut all = bind::descendants(ground.bound, self.index).chain([self.index]);
        let own = all.find(|at| match &ground.plan.items[*at] {
            Item::Launch(launch) => launch.nest.as_ref().is_some_and(|nest| nest.stmt == stmt),
            _ => false,
        });
        // The loops of an array statement that is one of several parts have no directive of their own.
        own.or_else(|| {
            let mut inserted = ground.plan.inserted.iter().filter(|(at, ..)| *at == self.index);
            let is_its = |launch: &Launch| launch.nest.as_ref().is_some_and(|nest| nest.stmt == stmt);
            inserted.any(|(_, part, launch)| *part == stmt && is_its(launch)).then_some(self.index)
        })
    }

    /// Clauses for the scalars that one part leaves for another on the device alone.
    fn left(&self, is_queued: bool) -> impl Iterator<Item = String> {
        let scalars = self.ground.plan.scalars_left(self.index, is_queued);
        let symbols = scalars.filter_map(|item| self.ground.symbols.lookup(item, self.extent.start));
        symbols.filter_map(|symbol| Some(format!("copy({})", self.variables.get(symbol)?.name)))
    }

    /// Reads the clauses: those of the construct and of the loops in it. For each piece what it says of its own, and its place.
    fn directives(&mut self, pieces: &[Piece]) -> Result<Vec<(Vec<String>, u32)>, Why> {
        let ground = self.ground;
        let mut all = Clauses::default();
        let mut own = Vec::with_capacity(pieces.len());
        let (mut outside, mut atomic) = (Vec::new(), BTreeSet::new());
        {
            let inside = |symbol| self.is_inside(symbol);
            let name = |symbol| self.variables.get(symbol).map(|variable| variable.name.clone());
            let section = |symbol| self.variables.section(symbol);
            let is_fixed = |symbol| self.variables.get(symbol).is_none_or(Variable::is_fixed);
            let (symbols, device_type) = (ground.symbols, ground.device_type);
            let reader = Reader {
                symbols,
                device_type,
                inside: &inside,
                name: &name,
                section: &section,
                is_fixed: &is_fixed,
            };
            reader.read(&ground.bound[self.index].directive, &mut all)?;
            let is_of_levels = |word: &String| {
                let levels = ["gang", "worker", "vector", "seq", "collapse", "tile", "independent", "auto"];
                levels.contains(&word.split('(').next().unwrap_or_default())
            };
            let mut of_construct = std::mem::take(&mut all.words);
            if pieces.len() > 1 {
                // Data stay on the device from one part to the next.
                let is_data = |word: &mut String| {
                    let clauses = ["copy(", "copyin(", "copyout(", "create(", "present("];
                    clauses.iter().any(|clause| word.starts_with(clause))
                };
                outside = of_construct.extract_if(.., is_data).collect();
                outside.extend(self.left(all.order.queue.is_some()));
            }
            let mut lines: BTreeMap<StmtId, Vec<String>> = BTreeMap::new();
            let combined: BTreeSet<usize> = pieces.iter().filter_map(|piece| piece.combined).collect();
            for piece in pieces {
                let mut words = of_construct.clone();
                let mut at = ground.bound[self.index].directive.span.start;
                if let Some(combined) = piece.combined.filter(|at| *at != self.index) {
                    let directive = &ground.bound[combined].directive;
                    reader.read(directive, &mut all)?;
                    words.append(&mut all.words);
                    if ground.bound[combined].text.is_some() {
                        at = directive.span.start;
                    }
                }
                // What a loop of `kernels` that one thread runs says of levels means nothing.
                let is_of_kernels = |word: &str| {
                    let sizes = ["num_gangs(", "num_workers(", "vector_length("];
                    sizes.iter().any(|size| word.starts_with(size))
                };
                let is_meant = |word: &String| {
                    let is_settled = matches!(word.as_str(), "independent" | "auto");
                    !is_settled && !(piece.is_one_thread() && (is_of_kernels(word) || is_of_levels(word)))
                };
                words.retain(is_meant);
                own.push((words, at));
            }
            for at in bind::descendants(ground.bound, self.index).filter(|at| !combined.contains(at)) {
                let directive = &ground.bound[at].directive;
                let word = match directive.kind {
                    DirectiveKind::Loop => "loop",
                    DirectiveKind::Atomic => "atomic",
                    DirectiveKind::Cache | DirectiveKind::End(_) => continue,
                    _ => return Err(Why::new(directive.span, "this directive in a compute construct")),
                };
                let Some(stmt) = ground.bound[at].stmt() else { continue };
                if directive.kind == DirectiveKind::Atomic {
                    atomic.insert(stmt);
                }
                reader.read(directive, &mut all)?;
                lines.entry(stmt).or_default().push(all.pragma(word));
            }
            self.around.lines = lines;
        }
        (self.clauses, self.outside, self.around.atomic) = (all, outside, atomic);
        Ok(own)
    }

    /// The launches of the construct.
    fn launches(&self, pieces: &[Piece]) -> Vec<&'a Launch> {
        let plan = self.ground.plan;
        let below = bind::descendants(self.ground.bound, self.index).chain([self.index]);
        let mut found: Vec<&Launch> = below
            .filter_map(|at| match &plan.items[at] {
                Item::Launch(launch) => Some(&**launch),
                _ => None,
            })
            .collect();
        let is_own = |stmt: &StmtId| pieces.iter().any(|piece| piece.stmt == *stmt);
        let inserted = plan.inserted.iter().filter(|(at, stmt, _)| *at == self.index && is_own(stmt));
        found.extend(inserted.map(|(_, _, launch)| launch));
        found
    }

    /// What each scalar is to the function.
    fn roles(&self, pieces: &[Piece]) -> Result<BTreeMap<SymbolId, Role>, Why> {
        let mut roles: BTreeMap<SymbolId, Role> = BTreeMap::new();
        let at = self.extent.start;
        let launches = self.launches(pieces);
        let is_one = launches.len() == 1;
        for launch in launches {
            for attribute in launch.all_attributes() {
                let Some(symbol) = self.ground.symbols.lookup(&attribute.item, at) else { continue };
                let role = self.role_of(attribute, launch);
                let known = roles.entry(symbol).or_insert(role);
                *known = (*known).max(role);
            }
        }
        for (keeps, symbol) in &self.clauses.scalars {
            let role = if *keeps == Keeps::Reference { Role::Reference } else { Role::Value };
            // A loop inside may reduce what the construct has of its own.
            let is_of_construct = is_one && roles.get(symbol) == Some(&Role::Local);
            if !is_of_construct {
                let known = roles.entry(*symbol).or_insert(Role::Value);
                *known = (*known).max(if self.is_of_loop(*symbol) { Role::Value } else { role });
            }
        }
        Ok(roles)
    }

    /// Whether only a loop in the construct names a variable in its clauses, which is not a launch of its own.
    fn is_of_loop(&self, symbol: SymbolId) -> bool {
        let directive = &self.ground.bound[self.index].directive;
        let listed = directive.clauses.iter().flat_map(|clause| crate::plan::list(&clause.kind));
        let is_it =
            |item: &ListItem| self.ground.symbols.lookup(item.variable(), item.span.start) == Some(symbol);
        !listed.into_iter().any(is_it)
    }

    fn role_of(&self, attribute: &Attribute, launch: &Launch) -> Role {
        match attribute.sharing {
            Sharing::Private => Role::Local,
            Sharing::Firstprivate => Role::Value,
            Sharing::Copy | Sharing::Deviceptr => Role::Reference,
            // What one thread reduces stays its own.
            Sharing::Reduction(_) if launch.region == Region::Serial => Role::Value,
            Sharing::Reduction(_) => Role::Reference,
        }
    }

    fn role(&self, roles: &BTreeMap<SymbolId, Role>, symbol: SymbolId) -> Role {
        let is_shared = self.captured.get(&symbol) == Some(&DummyKind::Reference);
        if is_shared || self.place_of(symbol).is_some() {
            return Role::Reference;
        }
        if self.variables.identity(symbol).is_some() {
            return Role::Value;
        }
        if self.variables.is_component(symbol) {
            // A part of an object, which may be on the device.
            return Role::Reference;
        }
        match self.ground.symbols.get(symbol).kind {
            SymbolKind::Constant => Role::Value,
            _ => roles.get(&symbol).copied().unwrap_or(Role::Value),
        }
    }

    /// The arrays that the host passes, in their order.
    fn arrays(&self) -> Vec<SymbolId> {
        let is_own = |symbol: &SymbolId| self.clauses.scalars.contains(&(Keeps::Private, *symbol));
        let is_array = |symbol: &SymbolId| {
            self.variables.get(*symbol).is_some_and(|one| !one.shape.is_empty() && !one.is_constant)
        };
        let is_passed = |symbol: &SymbolId| is_array(symbol) && !is_own(symbol) && !self.is_inside(*symbol);
        self.order.iter().copied().filter(is_passed).collect()
    }

    /// The data clauses that Fortran does: the construct's own, and those that are implied.
    fn data(&mut self, arrays: &[SymbolId]) -> Result<Vec<Data>, Why> {
        let symbols = self.ground.symbols;
        let said = self.ground.plan.construct(self.index);
        let mut data = Vec::new();
        let copied = self.clauses.scalars.iter().filter(|(keeps, _)| *keeps == Keeps::Section);
        let mut stated: BTreeSet<SymbolId> = copied.map(|(_, symbol)| *symbol).collect();
        for (clause, item) in &self.clauses.data.clone() {
            stated.extend(self.symbol_of(item));
            let root = symbols.lookup(item.variable(), item.span.start);
            let is_struct =
                root.and_then(|root| self.variables.get(root)).is_some_and(|one| one.object.is_some());
            if is_struct && item.depth() > 0 {
                return Err(Why::new(item.span, "a component of an object that the construct uses whole"));
            }
            let is_known = matches!(
                clause,
                DataClause::Copy
                    | DataClause::Copyin { .. }
                    | DataClause::Copyout { .. }
                    | DataClause::Create { .. }
                    | DataClause::Present
                    | DataClause::NoCreate
                    | DataClause::Deviceptr
            );
            if !is_known {
                return Err(Why::new(item.span, "this data clause"));
            }
            self.begins(*clause, item)?;
            if *clause != DataClause::Deviceptr {
                let refused = || Why::new(item.span, format!("`{}` in a clause", item.text));
                let passed = component::passed(self.ground.files, symbols, item).ok_or_else(refused)?;
                data.push(Data { clause: *clause, name: item.text.clone(), item: passed });
            }
        }
        for item in said.around() {
            let symbol = self.symbol_of(&item.item).filter(|symbol| arrays.contains(symbol));
            if symbol.is_some_and(|symbol| !stated.contains(&symbol) && !self.sections.contains_key(&symbol))
            {
                // What the region around did not find is missing here.
                let clause = match item.clause {
                    DataClause::NoCreate => DataClause::Present,
                    clause => clause,
                };
                self.begins(clause, &item.item)?;
            }
        }
        let is_whole = |item: &&crate::plan::DataItem| item.item.depth() == 0;
        stated.extend(said.around().filter(is_whole).filter_map(|item| item.symbol));
        stated.extend(said.around().filter_map(|item| self.symbol_of(&item.item)));
        for symbol in arrays.iter().filter(|symbol| !stated.contains(symbol)) {
            if self.place_of(*symbol).is_some() {
                continue;
            }
            if self.variables.is_component(*symbol) {
                let item = self.variables.get(*symbol).map(|one| one.spelled.clone());
                let clause = if said.is_default_present { DataClause::Present } else { DataClause::Copy };
                data.extend(item.map(|item| Data { clause, name: item.clone(), item }));
                continue;
            }
            let known = symbols.get(*symbol);
            if known.fortran.is_equivalent {
                let what = format!("`{}`, a part of whose memory has another name,", known.name);
                return Err(Why::new(self.extent, what));
            }
            if known.fortran.assumed_size {
                let what = format!("`{}`, of assumed size and without a data clause,", known.name);
                return Err(Why::new(self.extent, what));
            }
            let clause = if said.is_default_present { DataClause::Present } else { DataClause::Copy };
            let item = self.variables.get(*symbol).map(|one| one.spelled.clone());
            data.extend(item.map(|item| Data { clause, name: item.clone(), item }));
        }
        Ok(data)
    }

    /// What an item of a clause names: a variable, or a component that the construct uses.
    fn symbol_of(&self, item: &ListItem) -> Option<SymbolId> {
        let root = self.ground.symbols.lookup(item.variable(), item.span.start)?;
        if item.depth() == 0 {
            return Some(root);
        }
        self.variables.component(root, &component::path(item))
    }

    /// Takes in a section that may begin elsewhere than its array: what is there has no address on the device.
    fn begins(&mut self, clause: DataClause, item: &ListItem) -> Result<(), Why> {
        let Some(symbol) = self.symbol_of(item) else { return Ok(()) };
        let Some(variable) = self.variables.get(symbol) else { return Ok(()) };
        let array = &variable.spelled;
        let (mut steps, mut is_apart, mut is_range) = (Vec::new(), false, false);
        for (at, subscript) in item.subscripts().into_iter().enumerate() {
            is_range |= matches!(subscript, Subscript::Range { .. });
            let first = match subscript {
                Subscript::Index(first) => Some(first),
                Subscript::Range { stride: Some(_), .. } => {
                    return Err(Why::new(item.span, "a section with a stride in a clause"));
                }
                Subscript::Range { first, .. } => first.as_ref(),
            };
            let Some(first) = first else { continue };
            let lower = variable.shape.get(at).map(|dimension| dimension.lower);
            let is_lower = match (lower, first.text.trim().parse::<i128>()) {
                (Some(Limit::Constant(lower)), Ok(first)) => lower == first,
                _ => false,
            };
            is_apart |= !is_lower;
            let row = (1..=at).map(|before| format!("size({array}, {before}, 8) * ")).collect::<String>();
            steps.push(format!("{row}({} - lbound({array}, {}, 8))", first.text.trim(), at + 1));
        }
        // What need not be there has no address on the device either.
        let is_whole = steps.is_empty() && clause == DataClause::NoCreate && !variable.shape.is_empty();
        if is_whole {
            steps.push("0".to_owned());
        }
        if is_apart || is_whole {
            let count = match (is_whole, is_range) {
                // What has no memory has no elements.
                (true, _) => {
                    let sizes = (1..=variable.shape.len()).map(|at| format!("acc2omp_size({array}, {at})"));
                    sizes.collect::<Vec<_>>().join(" * ")
                }
                (_, true) => format!("size({}, kind=8)", item.text),
                _ => "1_8".to_owned(),
            };
            let word = if clause == DataClause::NoCreate { "no_create" } else { "present" };
            self.sections.insert(symbol, Section { word, first: steps.join(" + "), count });
        }
        Ok(())
    }

    /// How C++ calls where the section of an array begins, and how many elements it has.
    fn section_names(variable: &Variable) -> [String; 2] {
        ["first", "count"].map(|word| format!("{}_{word}", variable.bounds))
    }

    /// The declarations of what the function has of its own.
    fn locals(&self, roles: &BTreeMap<SymbolId, Role>) -> Result<Vec<String>, Why> {
        let mut lines = Vec::new();
        for symbol in self.order.iter().filter(|symbol| !self.is_inside(**symbol)) {
            let Some(variable) = self.variables.get(*symbol) else { continue };
            if variable.shape.is_empty() {
                if variable.is_optional && self.role(roles, *symbol) == Role::Value {
                    let (cpp, place) = (variable.ty.cpp(), place_name(&variable.bounds));
                    lines.push(format!("    {cpp} {} = {place} ? *{place} : 0;", variable.name));
                }
                if self.role(roles, *symbol) == Role::Local {
                    let value = if self.is_passed_on(*symbol) { " = 0" } else { "" };
                    lines.push(format!("    {} {}{value};", variable.cpp(), variable.name));
                }
            } else if self.clauses.scalars.contains(&(Keeps::Private, *symbol)) {
                self.check_private(*symbol)?;
                lines.push(format!("    {} {}[{}];", variable.cpp(), variable.name, self.size(variable)?));
            }
        }
        Ok(lines)
    }

    /// Refuses an array that loops have private and that the construct names outside of them, too: it would need two of them.
    fn check_private(&self, symbol: SymbolId) -> Result<(), Why> {
        let (unit, symbols) = (self.ground.files.own.unit, self.ground.symbols);
        let names = |item: &ListItem| symbols.lookup(item.variable(), item.span.start) == Some(symbol);
        let below = bind::descendants(self.ground.bound, self.index).chain([self.index]);
        let owners = below.map(|at| &self.ground.bound[at]).filter(|one| {
            one.directive.clauses.iter().any(|clause| match &clause.kind {
                ClauseKind::Private(list) => list.iter().any(names),
                _ => false,
            })
        });
        let parts: Vec<Span> = owners.filter_map(|one| Some(unit.stmt(one.stmt()?).span)).collect();
        match sema::is_named_outside(unit, symbols, (self.region, symbol), &parts) {
            true => {
                let name = &symbols.get(symbol).name;
                let what =
                    format!("`{name}`, a private array of a loop that is used outside of the loop, too,");
                Err(Why::new(self.extent, what))
            }
            false => Ok(()),
        }
    }

    /// Whether a variable is an argument of a procedure, which may give it its value.
    fn is_passed_on(&self, symbol: SymbolId) -> bool {
        let (unit, symbols) = (self.ground.files.own.unit, self.ground.symbols);
        unit.exprs_in(self.extent).any(|expr| match &expr.kind {
            ExprKind::Call { callee, args } => {
                symbols.named(unit, *callee).is_some()
                    && args.iter().any(|arg| symbols.named(unit, *arg) == Some(symbol))
            }
            _ => false,
        })
    }

    /// How many elements an array has that each thread has of its own.
    fn size(&self, variable: &Variable) -> Result<i128, Why> {
        let mut size = 1;
        for dimension in &variable.shape {
            let Limit::Constant(extent) = dimension.extent else {
                let what = format!("`{}`, a private array of variable size,", variable.name);
                return Err(Why::new(self.extent, what));
            };
            size *= extent;
        }
        Ok(size)
    }

    /// The words of the directive of a piece.
    fn words(
        &self,
        piece: &Piece,
        own: &[String],
        roles: &BTreeMap<SymbolId, Role>,
        arrays: &[SymbolId],
    ) -> String {
        let unit = self.ground.files.own.unit;
        let extent = unit.stmt(piece.stmt).span;
        let asked = inquired(unit, extent);
        let is_used = |symbol: SymbolId| {
            self.captured.contains_key(&symbol)
                || unit.expr_ids_in(extent).any(|id| {
                    !asked.contains(&id)
                        && self.variables.named(self.ground.symbols, unit, id) == Some(symbol)
                })
        };
        let mut words = vec![piece.word.to_owned()];
        words.extend(own.iter().cloned());
        let names = |wanted: &dyn Fn(SymbolId) -> bool| {
            let all = self.order.iter().filter(|symbol| wanted(**symbol) && is_used(**symbol));
            let all = all.filter_map(|symbol| self.variables.get(*symbol));
            all.map(|variable| variable.name.clone()).collect::<Vec<String>>()
        };
        let is_named = |name: &str| {
            own.iter()
                .any(|word| word.ends_with(&format!("({name})")) || word.ends_with(&format!(":{name})")))
        };
        let is_copied = |symbol: SymbolId| self.clauses.scalars.contains(&(Keeps::Section, symbol));
        let is_section = |symbol: SymbolId| self.sections.contains_key(&symbol);
        let whole = names(&|symbol| arrays.contains(&symbol) && !is_copied(symbol) && !is_section(symbol));
        let mut there = BTreeMap::from([("present", whole), ("no_create", Vec::new())]);
        for (symbol, section) in &self.sections {
            let is_named = arrays.contains(symbol) && is_used(*symbol);
            if let Some(variable) = self.variables.get(*symbol).filter(|_| is_named) {
                let [first, count] = Maker::section_names(variable);
                let text = format!("{}[{first}:{count}]", variable.name);
                there.entry(section.word).or_default().push(text);
            }
        }
        let there = there.into_iter().rev().filter(|(_, names)| !names.is_empty());
        words.extend(there.map(|(word, names)| format!("{word}({})", names.join(", "))));
        let is_shared = |symbol: SymbolId| {
            let variable = self.variables.get(symbol);
            let is_scalar = variable.is_some_and(|one| one.shape.is_empty() && !is_named(&one.name));
            is_scalar && !self.is_inside(symbol) && self.role(roles, symbol) == Role::Reference
        };
        // What another part of the construct gives back, the threads of this one may have of their own.
        let of_threads = self.of_threads(piece);
        let private = names(&|symbol| is_shared(symbol) && of_threads.contains(&symbol));
        if !private.is_empty() {
            words.push(format!("private({})", private.join(", ")));
        }
        let shared = names(&|symbol| is_shared(symbol) && !of_threads.contains(&symbol));
        if !shared.is_empty() {
            words.push(format!("copy({})", shared.join(", ")));
        }
        if self.clauses.order.queue.is_some() {
            words.push(format!("async({QUEUE})"));
        }
        words.join(" ")
    }

    /// The variables that each thread has of its own in the loop that a piece is.
    fn of_threads(&self, piece: &Piece) -> BTreeSet<SymbolId> {
        let launches = self.launches(std::slice::from_ref(piece)).into_iter();
        let of_piece =
            launches.filter(|launch| launch.nest.as_ref().is_some_and(|nest| nest.stmt == piece.stmt));
        let private = of_piece
            .flat_map(Launch::all_attributes)
            .filter(|attribute| attribute.sharing == Sharing::Private);
        let symbols = self.ground.symbols;
        private.filter_map(|one| symbols.lookup(&one.item, self.extent.start)).collect()
    }

    fn args(&self, roles: &BTreeMap<SymbolId, Role>, arrays: &[SymbolId]) -> Result<Vec<Argument>, Why> {
        let bounds_passed = self.variables.bounds_passed();
        let mut args = Vec::new();
        for symbol in self.order.iter().filter(|symbol| !self.is_inside(**symbol)) {
            let Some(variable) = self.variables.get(*symbol) else { continue };
            let is_array = arrays.contains(symbol);
            let passed = match self.role(roles, *symbol) {
                _ if is_array && variable.is_optional => Passed::ArrayOrNothing,
                _ if is_array => Passed::Array,
                _ if !variable.shape.is_empty() => continue,
                Role::Local => continue,
                Role::Value if variable.is_optional => Passed::ValueOrNothing,
                Role::Value if variable.object.is_none() => Passed::Value,
                Role::Value | Role::Reference => Passed::Reference,
            };
            let name = match passed {
                Passed::ValueOrNothing => place_name(&variable.bounds),
                _ => variable.name.clone(),
            };
            let (ty, actual, object) = (variable.ty, variable.spelled.clone(), variable.object.clone());
            args.push(Argument { name, passed, ty, actual, object });
            if self.variables.is_presence_asked(*symbol) {
                let (name, ty) = (presence_name(&variable.bounds), Type::LOGICAL);
                let actual = format!("present({})", variable.spelled);
                args.push(Argument { name, passed: Passed::Value, ty, actual, object: None });
            }
            if let Some(Section { first, count, .. }) = self.sections.get(symbol) {
                for (name, actual) in Maker::section_names(variable).into_iter().zip([first, count]) {
                    let actual = format!("int({actual}, 8)");
                    let passed = Passed::Size;
                    args.push(Argument { name, passed, ty: Type::INTEGER, actual, object: None });
                }
            }
            for (_, at, which) in bounds_passed.iter().filter(|(other, _, _)| other == symbol) {
                let (function, kind) = match which {
                    BoundQuery::Lower => ("lbound", ", 8"),
                    // One that is absent has no size to ask for.
                    BoundQuery::Extent if variable.is_optional || self.is_hidden("size") => {
                        ("acc2omp_size", "")
                    }
                    BoundQuery::Extent => ("size", ", 8"),
                };
                args.push(Argument {
                    name: passed_name(&variable.bounds, *at, *which),
                    passed: Passed::Size,
                    ty: Type::INTEGER,
                    actual: format!("{function}({}, {}{kind})", variable.spelled, at + 1),
                    object: None,
                });
            }
        }
        args.extend(self.clauses.args.iter().cloned());
        if let Some(queue) = &self.clauses.order.queue {
            let actual = if queue.is_empty() { "-1".to_owned() } else { format!("int({queue}, 4)") };
            let name = QUEUE.to_owned();
            let passed = Passed::Value;
            args.push(Argument { name, passed, ty: Type::INTEGER, actual, object: None });
        }
        for (arg, name) in args.iter().flat_map(|arg| HIDEABLE.map(|name| (arg, name))) {
            let call = format!("{name}(");
            let mut calls = arg.actual.match_indices(&call);
            let is_whole =
                |at: usize| !arg.actual[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if self.is_hidden(name) && calls.any(|(at, _)| is_whole(at)) && arg.actual != name {
                return Err(Why::new(
                    self.extent,
                    format!("`{name}`, the name of a variable and of a function,"),
                ));
            }
        }
        Ok(args)
    }

    /// Whether the name of an intrinsic function means something else where the construct stands.
    fn is_hidden(&self, name: &str) -> bool {
        self.ground.symbols.lookup(name, self.extent.start).is_some()
    }
}

/// The arrays in `extent` of which only the shape is asked: the host passes that, and the device need not have the elements.
fn inquired(unit: &Unit, extent: Span) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    for expr in unit.exprs_in(extent) {
        let ExprKind::Call { callee, args } = &expr.kind else { continue };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
        if ["size", "lbound", "ubound"].iter().any(|one| name.eq_ignore_ascii_case(one)) {
            found.extend(args.first());
        }
    }
    found
}
