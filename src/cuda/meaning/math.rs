//! Calls of the mathematical functions: C has one function to a name, C++ one for each type of the argument.
//!
//! Invariant: the function of the type that C's prototype has is called; where that is certain anyway, the text stays.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::Place;
use super::wraps::Wraps;
use crate::cuda::code::text::{self, Edits, placed_words, replaced};
use crate::cuda::program::{Input, defines};
use crate::host::ir::{ExprId, ExprKind, StmtKind};
use crate::scan::MacroLine;
use crate::sema::{CNumber, CType, Overloaded, Parameter, Rank, SymbolKind, overloaded};

/// The functions of C's prototypes, in the header of the run-time library.
const OWN: &str = "acc2omp::c::";

/// Casts arguments of calls.
pub fn calls(place: &Place, wraps: &mut Wraps, edits: &mut Edits) {
    let unit = place.types.unit;
    let floats = FloatPlaces::of(place);
    let mut callees = std::collections::HashSet::new();
    let mut names = Vec::new();
    for id in unit.expr_ids_in(place.span) {
        match &unit.expr(id).kind {
            ExprKind::Call { callee, args } => {
                callees.insert(*callee);
                if let Some(function) = called(place, *callee) {
                    arguments(place, function, (id, args), &floats, wraps);
                }
            }
            ExprKind::Name(name) => names.push((id, name)),
            _ => {}
        }
    }
    for (id, name) in names.into_iter().filter(|(id, _)| !callees.contains(id)) {
        // A function that a macro or a pointer gets.
        if function(place, id, name).is_some()
            && !is_generic(place.input)
            && place.types.symbols.lookup(name, unit.expr(id).span.start).is_none()
        {
            edits.insert(unit.expr(id).span.start, OWN);
        }
    }
}

/// Casts arguments of calls in C++: where integers are among them, its library computes in `double`, by a function that is the
/// host's alone.
pub fn cpp_calls(place: &Place, wraps: &mut Wraps) {
    let unit = place.types.unit;
    for id in unit.expr_ids_in(place.span) {
        let ExprKind::Call { callee, args } = &unit.expr(id).kind else { continue };
        let Some(function) = called(place, *callee) else { continue };
        let all = args.iter().zip(function.params).filter(|(_, param)| **param == Parameter::Double);
        let all: Vec<(ExprId, Option<CNumber>)> =
            all.map(|(arg, _)| (*arg, place.types.of(*arg).number())).collect();
        let is_known = |arg: &ExprId| {
            let within = unit.expr(*arg).span;
            unit.exprs_in(within).all(|inner| match &inner.kind {
                ExprKind::Call { callee, .. } => has_one_type(place, *callee),
                _ => true,
            })
        };
        let is_number =
            |(_, found): &(ExprId, Option<CNumber>)| found.is_some_and(|found| found != CNumber::LongDouble);
        let is_float = |number: &Option<CNumber>| *number == Some(CNumber::Float);
        let makes_double = all.iter().any(|(arg, number)| !is_float(number) && is_known(arg));
        let has_double = all.iter().any(|(arg, number)| *number == Some(CNumber::Double) && is_known(arg));
        if all.iter().all(is_number) && makes_double && !(function.takes_mixed && has_double) {
            for (arg, number) in &all {
                if *number != Some(CNumber::Double) || !is_known(arg) && all.len() > 1 {
                    wraps.cast(place, *arg, "double");
                }
            }
        }
    }
}

/// Whether what is called is a function of the program without overloads.
fn has_one_type(place: &Place, callee: ExprId) -> bool {
    let ExprKind::Name(name) = &place.types.unit.expr(callee).kind else { return false };
    place.input.files().map(|seen| seen.unit.functions_named(name).count()).sum::<usize>() == 1
}

fn called(place: &Place, callee: ExprId) -> Option<Overloaded> {
    let ExprKind::Name(name) = &place.types.unit.expr(callee).kind else { return None };
    function(place, callee, name)
}

/// The function of the library that a name means.
fn function(place: &Place, id: ExprId, name: &str) -> Option<Overloaded> {
    let found = overloaded(name)?;
    let symbols = place.types.symbols;
    let symbol = symbols.lookup(name, place.types.unit.expr(id).span.start);
    let is_librarys = symbol.is_none_or(|symbol| symbols.get(symbol).kind == SymbolKind::Function)
        && symbols.macro_of(name).is_none()
        && !super::taken::is_own(place.input, name);
    is_librarys.then_some(found)
}

/// Whether the program includes `<tgmath.h>`, whose functions are those of the argument's type in C, too.
fn is_generic(input: &Input) -> bool {
    input.files().any(|seen| seen.scan.includes.iter().any(|one| one.path.as_str() == "tgmath.h"))
}

fn arguments(
    place: &Place,
    function: Overloaded,
    (call, args): (ExprId, &[ExprId]),
    floats: &FloatPlaces,
    wraps: &mut Wraps,
) {
    let of = |wanted: Parameter| {
        let all = args.iter().zip(function.params).filter(move |(_, param)| **param == wanted);
        all.map(|(arg, _)| (*arg, place.types.of(*arg)))
    };
    for (arg, found) in of(Parameter::Int) {
        let is_int = |number: CNumber| number.promoted() == CNumber::Integer(Rank::Int, true);
        if !found.number().is_some_and(is_int) {
            wraps.cast(place, arg, "int");
        }
    }
    let doubles: Vec<(ExprId, CType)> = of(Parameter::Double).collect();
    // There, the function is that of the widest type of its arguments; for integers, that of `double`.
    if is_generic(place.input) {
        let all: Option<Vec<CNumber>> = doubles.iter().map(|(_, found)| found.number()).collect();
        if all.is_none_or(|all| all.iter().all(|number| *number == CNumber::Float)) {
            return;
        }
    }
    let is_wide = |found: &CType| *found == CType::Number(CNumber::Double);
    let is_float = |found: &CType| *found == CType::Number(CNumber::Float);
    // With one of its arguments a `double`, CUDA has `pow` for all numbers, and no other function.
    if function.takes_mixed && doubles.iter().any(|(_, found)| is_wide(found)) {
        return;
    }
    if function.is_exact && doubles.iter().all(|(_, found)| is_float(found)) && floats.holds(call) {
        return;
    }
    for (arg, found) in doubles {
        if !is_wide(&found) {
            wraps.cast(place, arg, "double");
        }
    }
}

/// The expressions whose values become a `float` at once.
struct FloatPlaces(HashMap<ExprId, ()>);

impl FloatPlaces {
    fn of(place: &Place) -> FloatPlaces {
        let types = &place.types;
        let unit = types.unit;
        let is_float = |found: CType| found == CType::Number(CNumber::Float);
        let mut found = HashMap::new();
        for id in unit.expr_ids_in(place.span) {
            match &unit.expr(id).kind {
                ExprKind::Assign(None, left, right) if is_float(types.of(*left)) => {
                    found.insert(*right, ());
                }
                ExprKind::Cast { operand, .. } if is_float(types.of(id)) => {
                    found.insert(*operand, ());
                }
                _ => {}
            }
        }
        for decl in unit.decls_in(place.span) {
            if let Some(init) = decl.init.filter(|_| is_float(types.of_decl(unit, decl))) {
                found.insert(init, ());
            }
        }
        let around = unit.function_around(place.span);
        if around.is_some_and(|function| is_float(types.of_words(&function.returns))) {
            let returned = unit.stmts_in(place.span).filter_map(|stmt| match stmt.kind {
                StmtKind::Return(value) => value,
                _ => None,
            });
            found.extend(returned.map(|value| (value, ())));
        }
        FloatPlaces(found)
    }

    fn holds(&self, expr: ExprId) -> bool {
        self.0.contains_key(&expr)
    }
}

/// The definition of a macro with C's functions; its arguments may be of any type.
pub fn in_macro(input: &Input, define: &MacroLine, body: &str) -> String {
    let is_own =
        |word: &str| word == define.name || define.params.iter().flatten().any(|param| param == word);
    let stands_for = define.body.trim();
    let all = placed_words(body).into_iter().filter(|(at, word)| {
        let before = body[..*at].trim_end();
        let is_call = body[at + word.len()..].trim_start().starts_with('(');
        let is_alone = stands_for == *word;
        !before.ends_with('.') && !before.ends_with("->") && (is_call || is_alone) && !is_own(word)
    });
    // The files are searched for it.
    let is_typed = LazyCell::new(|| has_floats(input) && !is_generic(input));
    replaced(body, all.collect(), |word| {
        let is_wanted = overloaded(word).is_some()
            && (word == "abs" || *is_typed)
            && defines::define(input, word).is_none()
            && !super::taken::is_own(input, word);
        is_wanted.then(|| format!("{OWN}{word}"))
    })
}

/// Whether the program has anything of type `float`.
fn has_floats(input: &Input) -> bool {
    input.files().any(|seen| {
        let text = String::from_utf8_lossy(&seen.scan.shadow);
        let is_float = |number: &str| {
            number.ends_with(['f', 'F']) && !number.starts_with("0x") && number.contains(['.', 'e', 'E'])
        };
        placed_words(&text).iter().any(|(_, word)| ["float", "real", "float_t"].contains(word))
            || text::placed_numbers(&text).iter().any(|(_, number)| is_float(number))
            || seen.scan.defines.iter().any(|define| text::words(&define.body).contains(&"float"))
    })
}
