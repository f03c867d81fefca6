//! Where the device gets each construct and routine: in a file of its own, where it stands, or not at all.
//!
//! Invariant: decided once, before anything is written; whoever writes asks here.

use std::collections::{BTreeSet, HashMap};

use super::hoisted::{self, Home};
use super::left::{Left, Writable};
use super::{callable, copied, counterpart, cpp, hosts, object, obstacle, undeclared};
use crate::acc::ast::DirectiveKind;
use crate::cuda::program::functions::{functions, in_namespace, is_plain};
use crate::cuda::program::{Input, Refused, levels, refused, repeated, routines, type_uses, units};
use crate::cuda::types::spelling;
use crate::host::ir::StmtId;
use crate::plan::KernelsPart;
use crate::source::Span;

/// Where device code is.
#[derive(Clone)]
pub enum Placement<'a> {
    /// In the device file: a kernel with its launcher, or a copy of a function.
    DeviceFile,
    /// Where the code stands. `object`: the object's name on the device, for a construct that needs the object itself.
    InPlace { object: Option<&'static str> },
    /// In a function before the one around the construct.
    Hoisted { object: Option<&'static str>, home: Home<'a> },
    /// Nowhere, and why.
    Untranslated(Refused),
}

impl Placement<'_> {
    /// Whether it is among the code of the host.
    pub fn is_in_place(&self) -> bool {
        matches!(self, Placement::InPlace { .. } | Placement::Hoisted { .. })
    }

    /// The object's name on the device, if the object itself is needed.
    pub fn object(&self) -> Option<&'static str> {
        match self {
            Placement::InPlace { object } | Placement::Hoisted { object, .. } => *object,
            Placement::DeviceFile | Placement::Untranslated(_) => None,
        }
    }

    /// The same, or why there is none.
    pub fn found(&self) -> Result<&Self, Refused> {
        match self {
            Placement::Untranslated(why) => Err(why.clone()),
            _ => Ok(self),
        }
    }
}

/// The placements of all constructs and routines of a view.
pub struct Placements<'a> {
    /// Of compute constructs and `routine` directives, by their numbers.
    directives: HashMap<usize, Placement<'a>>,
    /// Of what may become a launch: the statement of a construct, and the parts of that of `kernels`.
    launches: HashMap<StmtId, Placement<'a>>,
    /// The functions that constructs in place call, by where they begin.
    called: BTreeSet<u32>,
    left: Left,
}

impl<'a> Placements<'a> {
    /// Decides all of them.
    pub fn of(input: &Input<'a>, writable: Writable) -> Placements<'a> {
        let computing = |index: &usize| input.bound[*index].directive.kind.is_compute();
        let with_code = |index: usize| Some((index, input.bound[index].stmt()?));
        let constructs: Vec<(usize, StmtId)> =
            (0..input.bound.len()).filter(computing).filter_map(with_code).collect();
        let in_place: HashMap<StmtId, bool> =
            constructs.iter().map(|(index, stmt)| (*stmt, cpp::is_in_place(input, *index, *stmt))).collect();
        let stay = constructs.iter().map(|(_, stmt)| *stmt).filter(|stmt| in_place[stmt]);
        let called = cpp::called_from(input, stay);
        let left = Left::of(input, &called, writable);
        let mut found = Placements { directives: HashMap::new(), launches: HashMap::new(), called, left };
        for (index, stmt) in constructs {
            let placement = found.construct_of(input, (index, stmt), in_place[&stmt]);
            found.directives.insert(index, placement);
            for part in parts(input, index, stmt) {
                let stays = if part == stmt { in_place[&stmt] } else { cpp::is_in_place(input, index, part) };
                found.launches.insert(part, launch_of(input, (index, part), stays));
            }
        }
        for (index, bound) in input.bound.iter().enumerate() {
            if bound.directive.kind == DirectiveKind::Routine {
                let placement = found.routine_of(input, index);
                found.directives.insert(index, placement);
            }
        }
        found
    }

    /// The placement of a compute construct or of a `routine` directive.
    pub fn directive(&self, index: usize) -> &Placement<'a> {
        self.directives.get(&index).unwrap_or(&Placement::DeviceFile)
    }

    /// The placement of a launch.
    pub fn launch(&self, stmt: StmtId) -> &Placement<'a> {
        self.launches.get(&stmt).unwrap_or(&Placement::DeviceFile)
    }

    /// Whether a construct in place calls the function that begins at `offset`: the host's file gives it to the device, too.
    pub fn is_called_in_place(&self, offset: u32) -> bool {
        self.called.contains(&offset)
    }

    /// Whether the device cannot have the functions of this name.
    pub fn has_no(&self, name: &str) -> bool {
        self.left.holds(name)
    }

    fn construct_of(&self, input: &Input, (index, stmt): (usize, StmtId), in_place: bool) -> Placement<'a> {
        let code = cpp::code(input, input.stmt_span(stmt));
        let at = input.bound[index].directive.span;
        match (self.left.refusal(input, at, &code), in_place) {
            (Some(why), _) => Placement::Untranslated(why),
            (None, true) => Placement::InPlace { object: object::needed(input, index, stmt) },
            (None, false) => Placement::DeviceFile,
        }
    }

    fn routine_of(&self, input: &Input, index: usize) -> Placement<'a> {
        let at = input.bound[index].directive.span;
        if self.left.is_about(input, index) {
            return Placement::Untranslated(self.left.routine(input, index));
        }
        if !self.is_routine_in_place(input, index) {
            return Placement::DeviceFile;
        }
        let has_levels = levels::declared_levels(input, index).any();
        let name = routines::routine_name(input, index).filter(|_| has_levels);
        match name.and_then(|name| counterpart::obstacle(input, name)) {
            Some(what) => Placement::Untranslated(refused(at, what)),
            None => Placement::InPlace { object: None },
        }
    }

    /// Whether a `routine` directive makes its function the device's where it stands.
    fn is_routine_in_place(&self, input: &Input, index: usize) -> bool {
        if !input.unit().is_cpp() {
            return false;
        }
        let is_header = units::header_ending(&input.file().name).is_some();
        let Some(name) = routines::routine_name(input, index) else { return is_header };
        let mut known = functions(input, name).peekable();
        let span = input.bound[index].directive.span;
        let is_inside = in_namespace(&input.source, Span { start: span.start, end: span.start });
        let is_alone = known.peek().is_some() && functions(input, name).count() == 1;
        is_header
            || is_inside
            || name.contains("::")
            || known.peek().is_some() && !is_alone
            || cpp::is_uncopyable(input, name)
            || known.any(|function| !is_plain(input, function) || self.called.contains(&function.span.start))
    }
}

/// Where a launch is, and what speaks against it there.
fn launch_of<'a>(input: &Input<'a>, (index, stmt): (usize, StmtId), in_place: bool) -> Placement<'a> {
    let object = object::needed(input, index, stmt).filter(|_| in_place);
    let input = &Input { in_place, object, ..*input };
    let span = input.stmt_span(stmt);
    let whole = || {
        let short = spelling::none_too_long(input, span);
        short.and_then(|()| type_uses::none_asked(input, stmt)).and_then(|()| hosts::no_vectors(input, stmt))
    };
    if !in_place {
        let fits = whole()
            .and_then(|()| callable::none(input, index, stmt))
            .and_then(|()| undeclared::none(input, index, stmt))
            .and_then(|()| copied::all_types(input, index, stmt))
            .and_then(|()| repeated::none(input, &input.source, input.bound[index].directive.span.to(span)));
        return fits.map_or_else(Placement::Untranslated, |()| Placement::DeviceFile);
    }
    let why = obstacle::obstacle(input, index, stmt).or_else(|| whole().err());
    match (why, hoisted::home(input, index, stmt)) {
        (Some(why), _) => Placement::Untranslated(why),
        (None, Some(Ok(home))) => Placement::Hoisted { object, home },
        (None, _) => Placement::InPlace { object },
    }
}

/// What of a construct may become a launch: its statement, and those in it that a `kernels` construct launches one by one.
fn parts(input: &Input, index: usize, stmt: StmtId) -> Vec<StmtId> {
    let mut found = vec![stmt];
    let mut pending: Vec<&KernelsPart> = input.plan.kernels.get(&index).into_iter().flatten().collect();
    while let Some(part) = pending.pop() {
        match part {
            KernelsPart::Launch { stmt, .. } | KernelsPart::Output(stmt) => found.push(*stmt),
            KernelsPart::Host { bodies, .. } => pending.extend(bodies.iter().flat_map(|(_, parts)| parts)),
        }
    }
    found.dedup();
    found
}
