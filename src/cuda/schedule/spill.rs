//! Private arrays that lie in device memory: those of gangs that are larger than the memory which threads of a block share, and
//! firstprivate ones that nobody writes to, of which one copy is enough.
//!
//! Invariant: what stays in shared memory fits into what every device has for a block without being asked (48 KiB).

use super::capture::{self, Captured, Role};
use super::nest::Nest;
use super::owners::{levels_at, levels_of_owner, shared_by_threads};
use super::sizes::Sizes;
use crate::cuda::code::text;
use crate::cuda::meaning;
use crate::cuda::program::uses::may_be_pointer;
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::types::{enums, item, spelling};
use crate::host::ir::{BaseType, BinaryOp, Decl, Derived, ExprId, ExprKind, Record, StmtId, StmtKind};
use crate::sema::Class;
use crate::source::Span;

/// The bytes that arrays of a gang may have in shared memory; reductions need some, too.
const LIMIT: i128 = 44 * 1024;

/// The bytes that the arrays of a routine may have there: a gang may call several.
const OF_ROUTINE: i128 = 24 * 1024;

/// The bytes of local memory that CUDA gives a thread at most.
const LOCAL: i128 = 512 * 1024;

/// The bytes that a firstprivate array has at most to be copied by each thread although nobody writes to it.
const COPIED: i128 = 128;

/// The bytes that the parameters of a kernel have together at most, from CUDA 12.1 on.
const PARAMETERS: i128 = 32_764;

/// Finds the private arrays that lie in device memory.
pub fn spill(
    input: &Input,
    nest: &Nest,
    (stmt, sizes): (StmtId, Sizes),
    captured: &mut [Captured],
) -> Result<(), Refused> {
    for one in captured.iter_mut().filter(|_| !input.in_place) {
        let Role::FirstArray(address) = &one.role else { continue };
        let bytes = bytes(input, one.seen, &one.decl.derived, &capture::element(input, one)?);
        if one.used.is_unchanged()
            && bytes.is_none_or(|bytes| bytes > COPIED)
            && may_be_pointer(input, stmt, one.symbol)
        {
            one.role = Role::PrivateMemory(address.clone(), true);
        }
    }
    large(input, nest, (stmt, sizes), captured)?;
    fits_parameters(input, stmt, captured)?;
    let own = captured.iter().filter(|one| {
        matches!(one.role, Role::Local | Role::FirstArray(_) | Role::ReductionArray(..))
            && !shared_by_threads(input, nest, sizes.shape, one)
    });
    let held = own.map(|one| size(input, one.seen, &one.decl)).sum();
    let span = input.stmt_span(stmt);
    let is_threads = |span: Span| !sizes.shape.many || levels_at(input, nest, span).vector;
    fits_threads(input, span, held, is_threads)?;
    none_lasting(input, span, is_threads)
}

/// That what the host passes by value fits into the parameters of a kernel; all else are pointers and numbers.
fn fits_parameters(input: &Input, stmt: StmtId, captured: &[Captured]) -> Result<(), Refused> {
    let is_passed = |one: &&Captured| matches!(one.role, Role::Value) && one.class == Class::Record;
    let sized = captured.iter().filter(is_passed).map(|one| (size(input, one.seen, &one.decl), one));
    let sized: Vec<(i128, &Captured)> = sized.collect();
    let total: i128 = sized.iter().map(|(size, _)| size).sum();
    let Some((_, largest)) = sized.into_iter().max_by_key(|(size, _)| *size) else { return Ok(()) };
    if total + 8 * captured.len() as i128 <= PARAMETERS {
        return Ok(());
    }
    let at = largest.used.first.unwrap_or(input.stmt_span(stmt));
    let what = format!(
        "`{}`, an object of which each thread has its own, larger than the 32764 bytes that a kernel's parameters may have,",
        largest.name
    );
    Err(refused(at, &what))
}

/// That no address leads to a compound literal where threads share what is declared.
pub fn none_lasting(input: &Input, span: Span, is_threads: impl Fn(Span) -> bool) -> Result<(), Refused> {
    match meaning::lasting(input, input.unit(), span).into_iter().find(|one| !is_threads(one.span)) {
        Some(literal) if input.is_c => {
            Err(refused(literal.span, "the address of a compound literal in code that a whole gang runs"))
        }
        _ => Ok(()),
    }
}

/// That the variables which code declares for each thread fit into what a thread may have, beside `held` bytes.
pub fn fits_threads(
    input: &Input,
    span: Span,
    held: i128,
    is_threads: impl Fn(Span) -> bool,
) -> Result<(), Refused> {
    let unit = input.unit();
    let mut total = held;
    for part in unit.stmts_in(span) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        let own = decls.iter().map(|id| unit.decl(*id)).filter(|decl| !decl.is_static && !decl.is_extern);
        let of_threads = own.filter(|_| is_threads(part.span));
        total += of_threads.map(|decl| size(input, input.source, decl)).sum::<i128>();
        if total > LOCAL {
            return Err(refused(part.span, TOO_LARGE));
        }
    }
    if total > LOCAL {
        Err(refused(Span { start: span.start, end: span.start + 1 }, TOO_LARGE))
    } else {
        Ok(())
    }
}

/// More than `LOCAL`.
const TOO_LARGE: &str =
    "an array of each thread, with the others more than the 512 KiB that a thread may have,";

/// The bytes of a variable, as far as numbers say them.
fn size(input: &Input, seen: Seen, decl: &Decl) -> i128 {
    size_of(input, seen, decl, 16)
}

fn size_of(input: &Input, seen: Seen, decl: &Decl, depth: usize) -> i128 {
    let is_pointer = decl.derived.iter().any(|part| !matches!(part, Derived::Array(_)));
    let dimensions = decl.derived.iter().map_while(|part| match part {
        Derived::Array(size) => Some(size.and_then(|size| value(input, seen, size)).unwrap_or(1)),
        Derived::Pointer | Derived::Function | Derived::Reference => None,
    });
    let count: i128 = dimensions.fold(1, i128::saturating_mul);
    let each = match is_pointer || depth == 0 {
        true => 8,
        false => size_of_base(input, seen, &decl.base, depth - 1),
    };
    count.saturating_mul(each)
}

fn size_of_base(input: &Input, seen: Seen, base: &BaseType, depth: usize) -> i128 {
    let of_record = |seen: Seen, record: &Record| -> i128 {
        let members = record.members.iter().map(|id| size_of(input, seen, seen.unit.decl(*id), depth));
        if record.is_union { members.max().unwrap_or(0) } else { members.sum() }
    };
    let named = |name: &str| {
        let found = input.files().find_map(|seen| Some((seen, seen.unit.records_named(name).next()?)));
        found.map(|(seen, record)| of_record(seen, record))
    };
    match base {
        BaseType::Builtin(words) if words.contains("char") || words.contains("ool") => 1,
        BaseType::Builtin(words) if words.contains("short") => 2,
        BaseType::Builtin(words) if words.contains("long") || words.contains("double") => 8,
        BaseType::Builtin(_) | BaseType::Enum => 4,
        BaseType::Record(id) => of_record(seen, seen.unit.record(*id)),
        BaseType::Tagged(name) => named(name).unwrap_or(8),
        BaseType::Named(name) => {
            let mut known = input.files();
            let typedef = known.find_map(|seen| Some((seen, spelling::typedefs(&seen, name).next()?)));
            match typedef {
                Some((seen, typedef)) if depth > 0 => size_of(input, seen, typedef, depth - 1),
                _ => named(name).unwrap_or(8),
            }
        }
        BaseType::Void | BaseType::Unknown => 8,
    }
}

/// Moves private arrays out of shared memory, the largest first, until the others fit.
fn large(
    input: &Input,
    nest: &Nest,
    (stmt, sizes): (StmtId, Sizes),
    captured: &mut [Captured],
) -> Result<(), Refused> {
    let is_shared = |one: &Captured| {
        one.class == Class::Array
            && matches!(one.role, Role::Local | Role::FirstArray(_))
            && (shared_by_threads(input, nest, sizes.shape, one) || is_workers(input, nest, sizes, one))
    };
    let mut large: Vec<(i128, usize)> = Vec::new();
    for (at, one) in captured.iter().enumerate().filter(|(_, one)| is_shared(one)) {
        let element = capture::element(input, one)?;
        let copies = if is_workers(input, nest, sizes, one) { sizes.workers as i128 } else { 1 };
        if let Some(bytes) = bytes(input, one.seen, &one.decl.derived, &element) {
            large.push((bytes * copies, at));
        }
    }
    let mut total: i128 =
        large.iter().map(|(bytes, _)| bytes).sum::<i128>() + declared(input, nest, stmt, sizes)?;
    large.sort_unstable();
    while total > LIMIT {
        let Some((bytes, at)) = large.pop() else { break };
        let one = &mut captured[at];
        let span = one.used.first.unwrap_or(input.stmt_span(stmt));
        if is_workers(input, nest, sizes, one) || input.in_place || !may_be_pointer(input, stmt, one.symbol) {
            return Err(refused(span, "a private array that is larger than the shared memory of a gang"));
        }
        one.role = match &one.role {
            Role::FirstArray(address) => Role::PrivateMemory(address.clone(), true),
            _ => Role::PrivateMemory(item::whole(input, one.seen, &one.name, &one.decl), false),
        };
        total -= bytes;
    }
    Ok(())
}

fn is_workers(input: &Input, nest: &Nest, sizes: Sizes, one: &Captured) -> bool {
    sizes.shape.rows && levels_of_owner(input, nest, &one.name).worker
}

/// The bytes of the arrays that a region declares for its gangs, which stay in shared memory.
fn declared(input: &Input, nest: &Nest, stmt: StmtId, sizes: Sizes) -> Result<i128, Refused> {
    let unit = input.unit();
    let mut total = 0;
    for part in unit.stmts_in(input.stmt_span(stmt)).filter(|_| sizes.shape.many) {
        let StmtKind::Decl(decls) = &part.kind else { continue };
        let mode = levels_at(input, nest, part.span);
        for decl in decls.iter().map(|id| unit.decl(*id)).filter(|_| !mode.vector) {
            let copies = if mode.worker { sizes.workers as i128 } else { 1 };
            if matches!(decl.derived.first(), Some(Derived::Array(_))) {
                total += of_array(input, decl) * copies;
            }
        }
        if total > LIMIT {
            return Err(refused(part.span, "an array of each gang that is larger than its shared memory"));
        }
    }
    Ok(total)
}

/// That the arrays fit into shared memory of which threads share so many copies each, for what a routine declares.
pub fn fits_routine<'a>(
    input: &Input,
    shared: impl Iterator<Item = (&'a Decl, usize)>,
) -> Result<(), Refused> {
    let mut total = 0;
    for (decl, copies) in shared {
        total += of_array(input, decl) * copies as i128;
        if total > OF_ROUTINE {
            return Err(refused(
                decl.span,
                "an array of a routine that is too large for the memory that threads share",
            ));
        }
    }
    Ok(())
}

/// The bytes of an array that the source declares; none are counted of sizes that are not numbers.
fn of_array(input: &Input, decl: &Decl) -> i128 {
    let element = spelling::base(input, input.source, decl).unwrap_or_default();
    bytes(input, input.source, &decl.derived, &element).unwrap_or(0)
}

/// The bytes of an array, if its sizes are numbers.
fn bytes(input: &Input, seen: Seen, derived: &[Derived], element: &str) -> Option<i128> {
    let has_word = |word: &str| text::words(element).contains(&word);
    let each = match derived.last() {
        Some(Derived::Pointer) => 8,
        _ if has_word("char") || has_word("bool") => 1,
        _ if has_word("short") => 2,
        _ if (has_word("int") || has_word("float")) && !has_word("long") => 4,
        _ => 8,
    };
    derived.iter().try_fold(each, |product, part| match part {
        Derived::Array(size) => Some(product * value(input, seen, (*size)?)?),
        Derived::Pointer | Derived::Function | Derived::Reference => Some(product),
    })
}

fn value(input: &Input, seen: Seen, expr: ExprId) -> Option<i128> {
    match &seen.unit.expr(expr).kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Name(name) => input.symbols.number(name).or_else(|| enums::constant(input, name)),
        ExprKind::Binary(op, one, two) => {
            let (one, two) = (value(input, seen, *one)?, value(input, seen, *two)?);
            match op {
                BinaryOp::Add => Some(one + two),
                BinaryOp::Subtract => Some(one - two),
                BinaryOp::Multiply => one.checked_mul(two),
                BinaryOp::Divide if two != 0 => Some(one / two),
                _ => None,
            }
        }
        _ => None,
    }
}
