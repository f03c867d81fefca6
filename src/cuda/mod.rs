//! Says each directive in CUDA: calls of launchers and of the run-time library in the host file, kernels beside it.
//!
//! Invariant: the host file stays in its language; device code is text of the source with edits, in a file of its own.

mod code;
mod file;
mod fit;
mod host;
mod kernel;
mod meaning;
mod program;
mod schedule;
mod types;

use std::rc::Rc;

use crate::acc::ast::DirectiveKind;
use crate::bind::{ancestors, descendants};
use crate::diag::{self, Diag};

pub use code::change::Change;
pub use file::device::{Device, header_ending, routine_prototypes, unit_name};
pub use file::unseen::is_of_system;
pub use fit::stuck::Stuck;
pub use meaning::is_c;
pub use program::choices::Choices;
pub use program::effects::Effects;
pub use program::renamed::{MACRO, with_own_macro};
pub use program::{Input, Seen};
pub use schedule::PREFERENCE;

use fit::{cpp, hoisted, left, stuck};
use program::{Refused, names, refused};

/// What becomes of one directive.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The changes of the host file; `None` if the directive is left.
    pub changes: Option<Vec<Change>>,
}

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
        // Why a directive stays, the plan has said.
        let made = (!input.plan.notes[index].stays).then(|| lowering.directive(index));
        let changes = match made {
            Some(Ok(changes)) => Some(changes),
            Some(Err(why)) => {
                lowering.diags.push(*why);
                None
            }
            None => None,
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

impl Lowering<'_> {
    /// A compute construct; where it stays in its place, the functions that it calls are the device's.
    fn construct(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        self.shows_all(index)?;
        self.holds_only_loops(index)?;
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

    /// Refuses a construct with a directive inside that says nothing about its loops.
    fn holds_only_loops(&self, index: usize) -> Result<(), Refused> {
        let may_stand = |kind: DirectiveKind| {
            matches!(kind, DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache)
        };
        let inside = descendants(self.input.bound, index).map(|at| &self.input.bound[at].directive);
        let other = inside.into_iter().find(|directive| !may_stand(directive.kind));
        other.map_or(Ok(()), |other| {
            let what = "a directive inside a compute construct that is not `loop`, `atomic` or `cache`";
            Err(refused(other.span, what))
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
