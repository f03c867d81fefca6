//! Says each directive in CUDA: calls of launchers and of the run-time library in the host file, kernels beside it.
//!
//! Invariant: the host file stays in its language; device code is text of the source with edits, in a file of its own.

mod access;
mod assembled;
mod atomic;
mod body;
mod callable;
mod capture;
mod choices;
mod clause;
mod complex;
mod copied;
mod counted;
mod cpp;
mod cpp_complex;
mod data;
mod declare;
mod device;
mod distinct;
mod effects;
mod flat;
mod grid;
mod hidden;
mod hoisted;
mod implied;
mod item;
mod kernel;
mod launcher;
mod left;
mod levels;
mod lines;
mod macros;
mod meaning;
mod names;
mod object;
mod obstacle;
mod options;
mod origin;
mod packed;
mod parts;
mod place;
mod predefined;
mod reduction;
mod renamed;
mod reuse;
mod shared;
mod spill;
mod stuck;
mod table;
mod text;
mod threads;
mod tiles;
mod twin;
mod types;
mod unseen;
mod variable;
mod window;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{Bound, Declared, ancestors};
use crate::diag::{self, Diag};
use crate::host::ir::{Decl, ExprId, StmtId, Unit};
use crate::plan::{self, Plan};
use crate::scan::Scan;
use crate::sema::{SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

pub use choices::Choices;
pub use device::{Device, header_ending, routine_prototypes, unit_name};
pub use effects::Effects;
pub use meaning::is_c;
pub use renamed::{MACRO, with_own_macro};
pub use stuck::Stuck;
pub use unseen::is_of_system;

/// One file as this room sees it: a source, or a header that it includes.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// What the host grammar made of it.
    pub unit: &'a Unit,
    /// Its preprocessor lines.
    pub scan: &'a Scan,
    /// The variables that it places on the device.
    pub declared: &'a Declared,
}

impl Seen<'_> {
    /// An expression, as written.
    fn text(&self, expr: ExprId) -> String {
        self.file.text(self.unit.expr(expr).span).trim().to_owned()
    }
}

/// What is lowered.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The source.
    pub source: Seen<'a>,
    /// The headers that it includes.
    pub headers: &'a [Seen<'a>],
    /// Those of them that have directives, each as it is read itself.
    pub read: &'a [Input<'a>],
    /// The names of all of them.
    pub symbols: &'a Symbols,
    /// The directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// The program is C, whose code means something else in C++.
    pub is_c: bool,
    /// The code stays where it stands: all names and types of the source are known there.
    pub in_place: bool,
    /// The name of the object on the device, where a construct in its place needs the object itself.
    pub object: Option<&'static str>,
    /// What the calls of the program's functions do.
    pub effects: Option<&'a Effects>,
    /// What names of its device code begin with.
    pub unit_name: &'a str,
    /// Functions that the device file can have no copy of.
    pub stuck: Option<&'a Stuck>,
    /// What the preprocessor chooses.
    pub choices: Option<&'a Choices>,
    /// No two names lead to the same memory.
    pub assume_no_alias: bool,
    /// Device code says with `#line` where it comes from.
    pub line_directives: bool,
}

/// A change of the host file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// These bytes become lines, indented like the first of them.
    Lines(Span, Vec<String>),
    /// These bytes go, with their lines if nothing else stands there.
    Gone(Span),
    /// Lines behind the code that ends at the offset, indented like the span.
    After(u32, Span, Vec<String>),
    /// Lines before the code at the offset.
    Before(u32, Vec<String>),
    /// A statement gets braces, and lines behind the opening one.
    Braced(Span, Vec<String>),
    /// These bytes become this text.
    Text(Span, String),
}

/// What becomes of one directive.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The changes of the host file; `None` if the directive is left.
    pub changes: Option<Vec<Change>>,
}

/// Why something is left: the diagnostic that says so.
type Refused = Box<Diag>;

/// Lowers the directives of one view: one result for each, and what the device file gets.
pub fn lower(input: &Input) -> (Vec<Lowered>, Device, Vec<Diag>) {
    let stuck = stuck::functions(input);
    let effects = Effects::of(input);
    let choices = Rc::new(Choices::of(input));
    let input = &Input { stuck: Some(&stuck), effects: Some(&effects), choices: Some(&choices), ..*input };
    let placed = cpp::called_in_place(input);
    let mut lowering = Lowering {
        input,
        left: left::Left::of(input, &placed),
        device: Device::among(Rc::clone(&choices)),
        diags: Vec::new(),
        launchers: names::Names::default(),
        marked: Default::default(),
        placed,
        hoisted: Vec::new(),
        published: Default::default(),
        is_told: false,
    };
    let mut done = Vec::with_capacity(input.bound.len());
    for index in 0..input.bound.len() {
        let changes = match lowering.directive(index) {
            Ok(changes) => Some(changes),
            Err(why) => {
                lowering.diags.push(*why);
                None
            }
        };
        done.push(Lowered { changes });
    }
    for (index, change) in hoisted::added(&lowering.hoisted) {
        done[index].changes.iter_mut().for_each(|changes| changes.push(change.clone()));
    }
    let Lowering { mut device, placed, left, mut diags, .. } = lowering;
    // Each kernel of a region asks for its sizes.
    let asked = input.plan.saved.iter().filter(|one| one.is_size() && done[one.directive].changes.is_some());
    diags.extend(asked.map(|one| diag::computed_again(one.span, &one.text)));
    device.declare_for_headers(input, &mut diags);
    device.routines_of_headers(input);
    device.close(input, &placed, &left, &mut diags);
    (done, device, diags)
}

struct Lowering<'a> {
    input: &'a Input<'a>,
    device: Device,
    diags: Vec<Diag>,
    /// The functions that the device cannot have.
    left: left::Left,
    /// The names of launchers.
    launchers: names::Names,
    /// Functions that the device has where they stand, by place.
    marked: std::collections::BTreeSet<u32>,
    /// The functions that constructs in place call, by place.
    placed: std::collections::BTreeSet<u32>,
    /// Functions that hold launches, with the numbers of their directives.
    hoisted: Vec<(usize, hoisted::Hoisted)>,
    /// Member functions that become public, by place.
    published: std::collections::BTreeSet<u32>,
    /// It is said that the file holds device code.
    is_told: bool,
}

impl<'a> Input<'a> {
    /// Whether device code says where it comes from: code that stays in its place need not.
    fn says_lines(&self) -> bool {
        self.line_directives && !self.in_place
    }

    fn file(&self) -> &'a SourceFile {
        self.source.file
    }

    fn unit(&self) -> &'a Unit {
        self.source.unit
    }

    /// The line of `offset`, as a message names it: `jacobi.c:28`.
    fn place(&self, offset: u32) -> String {
        let name = self.file().name.rsplit(['/', '\\']).next().unwrap_or_default();
        format!("{name}:{}", self.file().line_number(offset))
    }

    /// The declaration of a variable, and the file that it stands in.
    fn declaration(&self, symbol: SymbolId) -> Option<(Seen<'a>, &'a Decl)> {
        let known = self.symbols.get(symbol);
        if let Some(decl) = known.decl {
            return Some((self.source, self.unit().decl(decl)));
        }
        if known.kind == SymbolKind::Member {
            return object::member(self, symbol);
        }
        self.headers.iter().find_map(|seen| {
            seen.unit.decls_named(&known.name).next()?;
            let named = |id: &&crate::host::ir::DeclId| seen.unit.decl(**id).name == known.name;
            seen.unit.globals.iter().find(named).map(|id| (*seen, seen.unit.decl(*id)))
        })
    }

    /// A header as it is read itself, if it has directives.
    fn reading(&self, header: &Seen) -> Option<&'a Input<'a>> {
        self.read.iter().find(|read| std::ptr::eq(read.source.unit, header.unit))
    }

    /// The clauses of directive `index` that count.
    fn clauses(&self, index: usize) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
        let directive = &self.bound[index].directive;
        let (counting, _) = plan::effective(directive, self.device_type);
        counting.into_iter().map(|at| &directive.clauses[at].kind)
    }

    fn stmt_span(&self, stmt: StmtId) -> Span {
        self.unit().stmt(stmt).span
    }
}

impl Lowering<'_> {
    /// A compute construct; where it stays in its place, the functions that it calls are the device's.
    fn construct(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        self.shows_all(index)?;
        let before = self.hoisted.len();
        let made = self.compute(index);
        if made.is_err() {
            self.hoisted.truncate(before);
        }
        let mut changes = made?;
        let is_hoisted = self.hoisted.len() > before;
        if let Some(stmt) = self.input.bound[index].stmt()
            && cpp::is_in_place(self.input, index, stmt)
        {
            if !std::mem::replace(&mut self.is_told, true) {
                self.diags.push(diag::device_code(self.input.bound[index].directive.name_span));
            }
            changes.extend(self.implicit_routines(stmt));
            if !is_hoisted {
                changes.extend(self.published(self.input.stmt_span(stmt).start));
            }
        }
        Ok(changes)
    }

    /// Refuses a construct with directives in branches that are not shown: its kernel would be of one branch.
    fn shows_all(&self, index: usize) -> Result<(), Refused> {
        let Some(stmt) = self.input.bound[index].stmt() else { return Ok(()) };
        let span = self.input.stmt_span(stmt);
        let texts = self.input.source.scan.directives.iter();
        let hidden = texts.filter(|text| !text.active).find(|text| span.contains(text.span));
        hidden.map_or(Ok(()), |text| {
            Err(refused(text.span, "a directive that the preprocessor chooses, in a compute construct,"))
        })
    }

    fn directive(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let above = ancestors(self.input.bound, index);
        if above.into_iter().any(|at| self.input.bound[at].directive.kind.is_compute()) {
            // It goes with the region that holds it.
            return Ok(Vec::new());
        }
        let span = bound.directive.span;
        if let Some(why) = self.input.plan.refused_items.get(&index) {
            return Err(Box::new(why.clone()));
        }
        match bound.directive.kind {
            DirectiveKind::Parallel
            | DirectiveKind::Serial
            | DirectiveKind::Kernels
            | DirectiveKind::ParallelLoop
            | DirectiveKind::SerialLoop
            | DirectiveKind::KernelsLoop => self.construct(index),
            DirectiveKind::Data => self.data(index),
            DirectiveKind::EnterData | DirectiveKind::ExitData => self.unstructured(index),
            DirectiveKind::Update => self.update(index),
            DirectiveKind::HostData => self.host_data(index),
            DirectiveKind::Wait => self.wait(index),
            DirectiveKind::Init | DirectiveKind::Shutdown | DirectiveKind::Set => self.device_control(index),
            DirectiveKind::Declare => self.declare(index),
            DirectiveKind::Routine if self.left.is_about(self.input, index) => {
                Err(self.left.routine(self.input, index))
            }
            DirectiveKind::Routine if self.is_routine_in_place(index) => self.routine_in_place(index),
            DirectiveKind::Routine => {
                self.device.routine(self.input, index);
                Ok(vec![Change::Gone(span)])
            }
            // On the host, they say nothing.
            DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache => {
                Ok(vec![Change::Gone(span)])
            }
            DirectiveKind::End(_) => Err(refused(span, "Fortran")),
        }
    }
}

/// What the device file does not take yet.
fn refused(at: Span, what: &str) -> Refused {
    Box::new(diag::not_yet_cuda(at, what))
}

/// Device code of one region, by the offset of its directive.
type Kernels = BTreeMap<u32, String>;
