//! Calls: what they do with their arguments, and macros that are numbers.
//!
//! Invariant: what a function does that is not seen is an obstacle.

use rustc_hash::FxHashMap;

use crate::host::ir::{ExprId, ExprKind};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::access::{Nest, Place, Step};
use super::affine::Poly;
use super::calls::{Argument, Effect};

impl Nest<'_> {
    pub(super) fn call(&mut self, expr: ExprId, callee: ExprId, args: &[ExprId]) -> Option<Poly> {
        let unit = self.facts.unit;
        let span = unit.expr(expr).span;
        let ExprKind::Name(name) = &unit.expr(callee).kind else {
            if unit.is_fortran()
                && let Some(place) = self.place(expr)
            {
                self.access(place, false, span);
                return None;
            }
            self.trouble(span, "it is not known what this call does");
            args.iter().for_each(|arg| drop(self.value(*arg)));
            return None;
        };
        if let Some(number) = self.written_out(expr, name, args) {
            return Some(number);
        }
        if self.facts.symbols.is_inquiry(name) {
            let parts = crate::sema::flow::evaluated(unit, args).into_iter();
            parts.for_each(|part| drop(self.value(part)));
            return None;
        }
        if self.facts.is_called_macro(name) {
            args.iter().for_each(|arg| drop(self.value(*arg)));
            if !self.is_harmless(name, span) {
                self.trouble(span, format!("the macro `{name}` is more than a number"));
            }
            return None;
        }
        match self.facts.effect(name) {
            Effect::Changes(why) => {
                args.iter().for_each(|arg| drop(self.value(*arg)));
                self.trouble(span, why);
            }
            Effect::Does(does) => {
                for (place, arg) in args.iter().enumerate() {
                    self.argument(*arg, does.arguments.get(place).copied(), span);
                }
                for symbol in does.reads {
                    self.global(symbol, span);
                }
            }
        }
        None
    }

    /// An argument, and what the function does with it.
    pub(super) fn argument(&mut self, arg: ExprId, does: Option<Argument>, at: Span) {
        let Some(does) = does else {
            // It may read all that a pointer leads to.
            if let Some(mut place) = self.value(arg).leads_to {
                place.steps.pop();
                self.deep_access(place, at);
            }
            return;
        };
        let place = match self.facts.unit.is_fortran() {
            true => match self.facts.unit.expr(arg).kind {
                ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => self.place(arg),
                _ => {
                    self.value(arg);
                    return;
                }
            },
            false => self.value(arg).leads_to,
        };
        let Some(mut place) = place else {
            if does.writes {
                self.trouble(at, "the call changes an argument");
            }
            return;
        };
        let is_scalar = place.steps.is_empty()
            && matches!(self.facts.symbols.get(place.root).class, Class::Scalar | Class::Unknown);
        if is_scalar {
            // Scalars are looked at by themselves.
            let unknown = self.atoms.unknown(self.inside);
            self.known.set_value(place.root, unknown);
            return;
        }
        let is_section = place.steps.contains(&Step::Index(None)) || place.steps.is_empty();
        if does.is_whole && !(self.facts.unit.is_fortran() && is_section) {
            // From the element onwards.
            while matches!(place.steps.last(), Some(Step::Index(_))) {
                place.steps.pop();
            }
        }
        for writes in [false, true].into_iter().filter(|writes| does.writes || !writes) {
            self.access(place.clone(), writes, at);
            if let Some(last) = self.accesses.last_mut() {
                last.is_deep = does.is_whole;
            }
        }
    }

    /// A variable of the file that a function reads.
    pub(super) fn global(&mut self, symbol: SymbolId, at: Span) {
        let known = self.facts.symbols.get(symbol);
        if self.assigned.contains(&symbol) {
            self.trouble(at, format!("the call reads `{}`, which the loop assigns", known.name));
        }
        match known.class {
            Class::Array | Class::Record => self.deep_access(Place::new(symbol, Vec::new()), at),
            Class::Pointer => self.deep_access(Place::new(symbol, vec![Step::Hop]), at),
            Class::Scalar | Class::Unknown => {}
        }
    }

    /// The number that a macro such as `IDX(i, j)` stands for.
    pub(super) fn written_out(&mut self, expr: ExprId, name: &str, args: &[ExprId]) -> Option<Poly> {
        let (define, params) = self.facts.function_like(name)?;
        if params.len() != args.len()
            || !(super::text::is_enclosed(&define.body) || self.subscript == Some(expr))
        {
            return None;
        }
        let is_word =
            |arg: &ExprId| matches!(self.facts.unit.expr(*arg).kind, ExprKind::Name(_) | ExprKind::Int(_));
        if params
            .iter()
            .zip(args)
            .any(|(param, arg)| !is_word(arg) && !super::text::encloses(&define.body, param))
        {
            return None;
        }
        let mut values = FxHashMap::default();
        for (param, arg) in params.iter().zip(args) {
            values.insert(param.as_str(), self.number(*arg));
        }
        let at = self.facts.unit.expr(*args.first()?).span.start;
        super::text::number(&define.body, &mut |word| match values.get(word) {
            Some(known) => known.clone(),
            None => {
                let symbol = self.facts.symbols.lookup(word, at)?;
                match self.facts.symbols.get(symbol).kind {
                    SymbolKind::Constant => self.facts.number_of(word).map(Poly::constant),
                    _ => {
                        let span = Span { start: at, end: at };
                        self.names.push((symbol, span));
                        self.held(symbol)
                    }
                }
            }
        })
    }
}
