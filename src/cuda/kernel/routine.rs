//! The body of a function as device code.
//!
//! Invariant: the loops of a routine with levels are distributed over the threads that call it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::body::Body;
use crate::acc::ast::DirectiveKind;
use crate::cuda::code::text::Edits;
use crate::cuda::program::levels::{self, Levels};
use crate::cuda::program::names::Names;
use crate::cuda::program::routines::routine_name;
use crate::cuda::program::{Input, Refused};
use crate::cuda::schedule::nest;
use crate::cuda::schedule::owners::levels_at;
use crate::cuda::schedule::sizes::Shape;
use crate::cuda::schedule::spill;
use crate::cuda::types::spelling;
use crate::host::ir::{FunctionId, Unit};
use crate::sema::{self, Class};
use crate::source::Span;

/// The body of a function as device code: the loops of a routine with levels are distributed.
pub fn routine_code(input: &Input, at: usize, edits: Edits, indent: usize) -> Result<String, Refused> {
    let unit = input.unit();
    let function = &unit.functions[at];
    let name = &function.name;
    spelling::none_too_long(input, function.span)?;
    let levels = levels::routine_levels(input, name);
    let has_directive = (0..input.bound.len()).any(|index| {
        input.bound[index].directive.kind == DirectiveKind::Routine
            && routine_name(input, index) == Some(name)
    });
    let body = function.body;
    let mut nest = nest::Nest::new();
    if has_directive && levels.any() {
        nest = nest::nest_in(input, unit.stmt(body).span);
    }
    let mut body_of = Body {
        input,
        nest: &nest,
        region: unit.stmt(body).span,
        // Vector lanes belong to one of the workers that there may be.
        shape: Shape { rows: levels.threads(), many: levels.threads() },
        mode: Levels { worker: levels.threads() && !levels.worker, ..Levels::NONE },
        names: Names::among(input, &input.file().text(function.span)),
        edits,
        common: common(input, FunctionId(at as u32)),
        reused: Default::default(),
        flat: Default::default(),
        template: false,
        index: "Index",
        results: Default::default(),
        arrays: Default::default(),
        tables: Default::default(),
        windows: Vec::new(),
        is_routine: true,
        function: None,
        sizes: None,
        is_together: true,
        led_to: OnceCell::new(),
        is_one_gang: false,
    };
    let whole = unit.stmt(body).span;
    let is_threads = |span: Span| !levels.threads() || levels_at(input, &nest, span).vector;
    spill::fits_threads(input, whole, 0, is_threads)?;
    spill::none_lasting(input, whole, is_threads)?;
    body_of.prepare(body)?;
    super::shared::of_routine(&mut body_of, function)?;
    body_of.code(body, indent)
}

/// What a function's threads share: everything that it is given an address of, and statics.
pub fn common(input: &Input, function: FunctionId) -> std::collections::HashSet<sema::SymbolId> {
    let unit = input.unit();
    let function = unit.function(function);
    let uses = sema::uses(unit, input.symbols, function.body);
    uses.iter()
        .map(|(symbol, _)| symbol)
        .filter(|symbol| {
            let known = input.symbols.get(*symbol);
            matches!(known.kind, sema::SymbolKind::Static | sema::SymbolKind::Member)
                || known.kind == sema::SymbolKind::Parameter
                    && (known.class == Class::Array || known.is_reference)
        })
        .collect()
}

/// The bodies of functions as device code, each written once: for whoever asks whether that can be, and for the device file.
#[derive(Default)]
pub struct Routines {
    written: RefCell<HashMap<Written, Result<String, Refused>>>,
}

/// What the code of a function depends on: its file, its number there, whether it stays there, and whether it says where it comes
/// from.
#[derive(PartialEq, Eq, Hash)]
struct Written {
    unit: *const Unit,
    at: usize,
    in_place: bool,
    line_directives: bool,
}

impl Routines {
    /// The body of a function.
    pub fn code(&self, input: &Input, at: usize) -> Result<String, Refused> {
        let key = Written {
            unit: input.unit(),
            at,
            in_place: input.in_place,
            line_directives: input.line_directives,
        };
        if let Some(known) = self.written.borrow().get(&key) {
            return known.clone();
        }
        let made = routine_code(input, at, Edits::default(), 0);
        self.written.borrow_mut().insert(key, made.clone());
        made
    }

    /// Whether the body of a function can be written for the device.
    pub fn writable(&self, input: &Input, at: usize) -> Result<(), Refused> {
        self.code(input, at).map(|_| ())
    }
}
