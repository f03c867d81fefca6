//! What becomes of each directive in the host file.
//!
//! Invariant: a directive in a compute construct goes with it; what has no form leaves the directive as it is.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::acc;
use crate::acc::ast::DirectiveKind;
use crate::bind::{ancestors, descendants};
use crate::cuda::code::change::Change;
use crate::cuda::file::device::Device;
use crate::cuda::file::hidden::Hidden;
use crate::cuda::file::unseen::includers_name;
use crate::cuda::fit::hoisted::Hoisted;
use crate::cuda::fit::placement::{Placement, Placements};
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, refused};
use crate::diag::{self, Diag};

/// The lowering of one view: what is known, and what has come so far.
pub struct Lowering<'a> {
    /// The program.
    pub input: &'a Input<'a>,
    /// What the device file gets.
    pub device: Device,
    /// What other builds define and declare.
    pub hidden: &'a Hidden<'a>,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// Where the device gets constructs and routines.
    pub placements: &'a Placements<'a>,
    /// The names of launchers.
    pub launchers: Names,
    /// The words of the program that begin as these do.
    pub words: OnceCell<FxHashSet<String>>,
    /// Functions that the device has where they stand, by place.
    pub marked: BTreeSet<u32>,
    /// Functions that hold launches, with the numbers of their directives.
    pub hoisted: Vec<(usize, Hoisted)>,
    /// Member functions that become public, by place.
    pub published: BTreeSet<u32>,
    /// It is said that the file holds device code.
    pub is_reported: bool,
}

impl Lowering<'_> {
    /// A compute construct; where it stays inline, the functions that it calls are the device's.
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
            && self.placements.directive(index).is_in_place()
        {
            if !std::mem::replace(&mut self.is_reported, true) {
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

    /// What becomes of directive `index`.
    pub fn directive(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let above = ancestors(self.input.bound, index);
        if above.into_iter().any(|at| self.input.bound[at].directive.kind.is_compute()) {
            // It goes with the region that holds it.
            return Ok(Vec::new());
        }
        let span = bound.directive.span;
        if acc::is_idle(&bound.directive) {
            return Ok(vec![Change::Gone(span)]);
        }
        match bound.directive.kind {
            DirectiveKind::Parallel
            | DirectiveKind::Serial
            | DirectiveKind::Kernels
            | DirectiveKind::ParallelLoop
            | DirectiveKind::SerialLoop
            | DirectiveKind::KernelsLoop => {
                self.has_names(index)?;
                self.construct(index)
            }
            DirectiveKind::Data => self.data(index),
            DirectiveKind::EnterData | DirectiveKind::ExitData => self.unstructured(index),
            DirectiveKind::Update => self.update(index),
            DirectiveKind::HostData => self.host_data(index),
            DirectiveKind::Wait => self.wait(index),
            DirectiveKind::Init | DirectiveKind::Shutdown | DirectiveKind::Set => self.device_control(index),
            DirectiveKind::Declare => self.declare(index),
            DirectiveKind::Routine if self.placements.directive(index).found()?.is_in_place() => {
                self.routine_in_place(index)
            }
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

    /// That the device file of a header declares what a construct of it names.
    fn has_names(&self, index: usize) -> Result<(), Refused> {
        if !matches!(self.placements.directive(index), Placement::DeviceFile) {
            return Ok(());
        }
        let Some(name) = includers_name(self.input, index) else { return Ok(()) };
        let what =
            format!("a construct of a header that uses `{name}`, which the header's includers define,");
        Err(refused(self.input.bound[index].directive.span, &what))
    }
}
