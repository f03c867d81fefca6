//! Procedures that regions of data which stay call: directives in them may count on data that is not on the device then.
//!
//! Invariant: where such a directive can bring what it names itself, it does; of the others there is something to say.

use std::collections::BTreeSet;

use crate::acc::ast::{Clause, ClauseKind, DataClause, Directive, DirectiveKind, ListItem, PathStep};
use crate::bind::{self, Bound, bare_name};
use crate::diag::{self, Diag};
use crate::host::ir::{ExprKind, Function, Unit};
use crate::sema::{self, Class, SymbolKind, Symbols};
use crate::source::Span;

use super::staying::{self, Region};

/// Prefixes of the names of libraries that know nothing of the program's data on the device.
const LIBRARIES: [&str; 3] = ["acc_", "omp_", "__builtin_"];

/// Functions of C, and subroutines of Fortran, that the languages have.
const OF_LANGUAGES: [&str; 48] = [
    "abort",
    "assert",
    "atof",
    "atoi",
    "calloc",
    "clock",
    "clock_gettime",
    "command_argument_count",
    "cpu_time",
    "date_and_time",
    "difftime",
    "execute_command_line",
    "exit",
    "fclose",
    "fflush",
    "fopen",
    "fprintf",
    "fputs",
    "fread",
    "free",
    "fwrite",
    "get_command",
    "get_command_argument",
    "get_environment_variable",
    "getenv",
    "gettimeofday",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "move_alloc",
    "mvbits",
    "perror",
    "printf",
    "putchar",
    "puts",
    "rand",
    "random_number",
    "random_seed",
    "realloc",
    "snprintf",
    "sprintf",
    "srand",
    "strcmp",
    "strlen",
    "system_clock",
    "time",
];

/// So many calls are marked after the one that a message is about.
const MARKED: usize = 3;

/// A call inside of a region that stays.
struct Call {
    name: String,
    at: Span,
}

/// Has the directives of procedures that such regions call bring what they name. What there is to say of those that cannot, and
/// of procedures that are not seen.
pub fn bring(
    (unit, symbols): (&Unit, &Symbols),
    bound: &[Bound],
    regions: &[Region],
    parsed: &mut [(usize, Directive)],
) -> Vec<Diag> {
    let mut said = Vec::new();
    for region in regions {
        let mut unseen = Vec::new();
        for call in calls(unit, bound, region.extent()) {
            let reached = reached(unit, bound, &call.name);
            if reached.is_empty() && !is_library(symbols, &call.name) {
                unseen.push(call);
                continue;
            }
            let mut counts = false;
            for function in reached {
                for one in bound.iter().filter(|one| function.span.contains(one.directive.span)) {
                    counts |= counts_on_others((unit, symbols), bound, one, function);
                }
                let inside = parsed.iter_mut().filter(|(_, one)| function.span.contains(one.span));
                for (_, directive) in inside.filter(|(_, one)| brings(one)) {
                    let at = directive.span.start;
                    let is_whole = |item: &ListItem| {
                        is_of_callers(symbols, at, &item.base.text) && !is_open((unit, symbols), at, item)
                    };
                    staying::copied(directive, &is_whole);
                    directive.clauses.retain(|clause| !is_default_present(clause));
                }
            }
            if counts {
                said.push(diag::counts_on_data_that_stays(
                    call.at,
                    &format!("`{}`", call.name),
                    region.directive(),
                ));
            }
        }
        said.extend(of_unseen(&unseen, region));
        let lends = |one: &&Bound| {
            one.directive.kind == DirectiveKind::HostData && region.extent().contains(one.directive.span)
        };
        let lent = bound.iter().filter(lends).map(|one| one.directive.name_span);
        said.extend(lent.map(|at| diag::counts_on_data_that_stays(at, "`host_data`", region.directive())));
    }
    said
}

/// What is said of calls of procedures that are not seen: once for a region, at the first of them, which marks some of the
/// others.
fn of_unseen(calls: &[Call], region: &Region) -> Option<Diag> {
    let (first, others) = calls.split_first()?;
    let what = match others {
        [] => format!("`{}`", first.name),
        [other] => format!("`{}`, or `{}`,", first.name, other.name),
        _ => format!("`{}`, or one of {} other procedures,", first.name, others.len()),
    };
    let said = diag::counts_on_data_that_stays(first.at, &what, region.directive());
    Some(others.iter().take(MARKED).fold(said, |said, call| said.with(call.at, "this one, too")))
}

/// Whether a directive may bring what its clauses name.
fn brings(directive: &Directive) -> bool {
    directive.kind.is_compute() || directive.kind == DirectiveKind::Data
}

fn is_default_present(clause: &Clause) -> bool {
    matches!(clause.kind, ClauseKind::Default { none: false })
}

/// The calls that the host makes inside of some bytes, one for each name.
fn calls(unit: &Unit, bound: &[Bound], extent: Span) -> Vec<Call> {
    let constructs = bound.iter().filter(|one| one.directive.kind.is_compute());
    let constructs: Vec<Span> = constructs
        .filter_map(|one| Some(unit.stmt(one.stmt()?).span))
        .filter(|span| extent.contains(*span))
        .collect();
    let mut met = BTreeSet::new();
    let mut calls = Vec::new();
    for expr in unit.exprs_in(extent) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let callee = unit.expr(*callee);
        let (ExprKind::Name(name) | ExprKind::Member { name, .. }) = &callee.kind else { continue };
        let is_device = constructs.iter().any(|span| span.contains(callee.span));
        if !is_device && met.insert(name.clone()) {
            calls.push(Call { name: name.clone(), at: callee.span });
        }
    }
    calls
}

/// The procedures of the file that a call of this name reaches.
fn reached<'u>(unit: &'u Unit, bound: &[Bound], name: &str) -> Vec<&'u Function> {
    let mut pending = vec![name.to_owned()];
    let mut met: BTreeSet<String> = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(name) = pending.pop() {
        if !met.insert(bare_name(&name).to_owned()) {
            continue;
        }
        for function in unit.functions_named(bare_name(&name)) {
            found.push(function);
            pending.extend(calls(unit, bound, function.span).into_iter().map(|call| call.name));
        }
    }
    found
}

/// Whether a function that the file does not have is one of a language or of a library.
fn is_library(symbols: &Symbols, name: &str) -> bool {
    let name = bare_name(name).to_ascii_lowercase();
    OF_LANGUAGES.binary_search(&name.as_str()).is_ok()
        || LIBRARIES.iter().any(|prefix| name.starts_with(prefix))
        || sema::is_mathematical(&name)
        || sema::is_pure_intrinsic(&name)
        || symbols.macro_of(&name).is_some()
}

/// Whether a variable may be one that callers have brought to the device.
fn is_of_callers(symbols: &Symbols, at: u32, name: &str) -> bool {
    symbols.lookup(name, at).is_none_or(|id| symbols.get(id).kind != SymbolKind::Local)
}

/// Whether an item cannot be copied as it stands: a pointer whose size is not said, an object, a part of one.
fn is_open((unit, symbols): (&Unit, &Symbols), at: u32, item: &ListItem) -> bool {
    let known = symbols.lookup(&item.base.text, at).map(|id| symbols.get(id));
    let is_part = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
    let is_whole = item.parts.is_empty();
    is_part
        || known.is_none_or(|symbol| match symbol.class {
            Class::Pointer => is_whole && !unit.is_fortran(),
            Class::Record => true,
            _ => is_whole && symbol.fortran.assumed_size,
        })
}

/// Whether a directive of a procedure counts on data of others that it cannot bring: pointers whose sizes are not said, and
/// parts of objects.
fn counts_on_others(
    (unit, symbols): (&Unit, &Symbols),
    bound: &[Bound],
    one: &Bound,
    function: &Function,
) -> bool {
    let at = one.directive.span.start;
    match one.directive.kind {
        DirectiveKind::HostData => return true,
        kind if kind.is_compute() || kind == DirectiveKind::Data => {}
        _ => return false,
    }
    let counts =
        |item: &ListItem| is_of_callers(symbols, at, &item.base.text) && is_open((unit, symbols), at, item);
    let lists = one.directive.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Data(DataClause::Present | DataClause::NoCreate | DataClause::Deviceptr, list) => {
            Some(list)
        }
        _ => None,
    });
    if lists.flatten().any(counts) {
        return true;
    }
    let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute() && !unit.is_fortran()) else {
        return false;
    };
    let index = bound.iter().position(|other| other.directive.span == one.directive.span);
    let around = index.into_iter().flat_map(|index| bind::ancestors(bound, index)).map(|above| &bound[above]);
    let listed: BTreeSet<&str> = std::iter::once(one)
        .chain(around)
        .flat_map(|one| staying::listed(&one.directive))
        .map(|item| item.variable())
        .collect();
    unit.expr_ids_in(unit.stmt(stmt).span).filter_map(|id| symbols.named(unit, id)).any(|id| {
        let symbol = symbols.get(id);
        let is_parameter = symbol.kind == SymbolKind::Parameter && function.span.contains(symbol.scope);
        symbol.class == Class::Pointer
            && (is_parameter || symbol.kind == SymbolKind::Static)
            && !listed.contains(symbol.name.as_str())
    })
}
