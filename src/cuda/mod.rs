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

use std::cell::OnceCell;
use std::rc::Rc;

use crate::diag::{self, Diag};
use crate::source::Span;

pub use code::change::Change;
pub use code::text::with_escapes;
pub use file::device::Device;
pub use file::unseen::is_of_system;
pub use host::control::calls as control_calls;
pub use meaning::is_c;
pub use program::choices::Choices;
pub use program::effects::Effects;
pub use program::renamed::{MACRO, with_own_macro};
pub use program::routines::routine_prototypes;
pub use program::units::{beside_stem, header_ending, own_name, unit_name};
pub use program::{Input, Seen};
pub use schedule::PREFERENCE;

use file::device::Fit;
use file::hidden::Hidden;
use fit::placement::Placements;
use fit::{hoisted, kept, uncopyable};
use host::lowering::Lowering;
use kernel::routine::Routines;
use program::names;
use program::repeated::Repeated;
use program::type_uses::LastTexts;

/// What becomes of one directive.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The changes of the host file; `None` if the directive is left untranslated.
    pub changes: Option<Vec<Change>>,
}

/// What is said of a directive that stays for constructs which are left untranslated.
pub fn called_by_untranslated(at: Span) -> Diag {
    Diag { follows: true, ..diag::not_yet_cuda(at, "what an untranslated construct calls") }
}

/// Lowers the directives of one view: one result for each, and what the device file gets.
pub fn lower(input: &Input) -> (Vec<Lowered>, Device, Vec<Diag>) {
    let uncopyable = uncopyable::functions(input);
    let effects = Effects::of(input);
    let choices = Rc::new(Choices::of(input));
    let repeated = Repeated::of(input, &choices);
    let texts = LastTexts::default();
    let input = &Input {
        uncopyable: Some(&uncopyable),
        effects: Some(&effects),
        choices: Some(&choices),
        repeated: Some(&repeated),
        texts: Some(&texts),
        ..*input
    };
    let routines = Routines::default();
    let placements = Placements::of(input, &|input, at| routines.writable(input, at));
    let hidden = Hidden::of(input, &choices);
    let mut lowering = Lowering {
        input,
        hidden: &hidden,
        placements: &placements,
        device: Device::among(Rc::clone(&choices)),
        diags: Vec::new(),
        launchers: names::Names::default(),
        words: OnceCell::new(),
        marked: Default::default(),
        hoisted: Vec::new(),
        published: Default::default(),
        is_reported: false,
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
    let left: Vec<_> = (0..done.len())
        .filter(|at| done[*at].changes.is_none() && input.bound[*at].directive.kind.is_compute())
        .filter_map(|at| input.bound[at].stmt())
        .collect();
    for index in kept::for_untranslated(input, &left) {
        if done[index].changes.take().is_some() {
            let span = input.bound[index].directive.span;
            lowering.diags.push(called_by_untranslated(span));
        }
    }
    let Lowering { mut device, mut diags, .. } = lowering;
    // Each kernel of a region asks for its sizes.
    let asked = input.plan.saved.iter().filter(|one| one.is_size() && done[one.directive].changes.is_some());
    diags.extend(asked.map(|one| diag::computed_again(one.span, &one.text)));
    device.declare_for_headers(input, &hidden, &mut diags);
    device.routines_of_headers(input);
    device.close(input, &hidden, Fit { placements: &placements, routines: &routines }, &mut diags);
    (done, device, diags)
}
