//! What is the host's alone: types that not everyone can name, functions that headers define for the host.
//!
//! Invariant: what is not seen to be the host's is not said to be.

use super::access;
use crate::cuda::code::text::words;
use crate::cuda::program::functions::{self};
use crate::cuda::program::{Input, Refused, Seen, refused, uses};
use crate::cuda::types::own;
use crate::host::apart;
use crate::host::ir::{BaseType, Decl, StmtId};
use crate::sema::SymbolId;
use crate::source::Span;

/// Whether a variable is of a class or an enumeration that a function defines.
pub fn is_local_type(input: &Input, symbol: SymbolId) -> bool {
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let unit = seen.unit;
    let in_function =
        |span: Span| unit.functions.iter().any(|function| unit.stmt(function.body).span.contains(span));
    let own = own::around(&seen, decl.span);
    let mut base = &decl.base;
    for _ in 0..16 {
        let name = match base {
            BaseType::Named(name) | BaseType::Tagged(name) => name,
            BaseType::Record(id) => return in_function(unit.record(*id).span),
            _ => return false,
        };
        if own.iter().any(|one| one.is_tag && one.name == apart::written(name)) {
            return true;
        }
        let Some(typedef) = unit.typedefs_named(name).next() else { return false };
        base = &typedef.base;
    }
    false
}

/// That a construct has no variable of a vector type of gcc or clang: nvcc has none.
pub fn no_vectors(input: &Input, stmt: StmtId) -> Result<(), Refused> {
    let vector = uses::outer(input, stmt).into_iter().find(|(symbol, _)| is_vector_type(input, *symbol));
    vector.map_or(Ok(()), |(_, used)| {
        let at = used.first.unwrap_or_else(|| input.stmt_span(stmt));
        Err(refused(at, "a variable of a vector type of the compiler"))
    })
}

fn is_vector_type(input: &Input, symbol: SymbolId) -> bool {
    let says = |seen: &Seen, decl: &Decl| {
        let text = seen.file.text(decl.span);
        text.contains("vector_size") || text.contains("ext_vector_type")
    };
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let of_type =
        |name: &str| input.files().any(|seen| seen.unit.typedefs_named(name).any(|one| says(&seen, one)));
    says(&seen, decl) || matches!(&decl.base, BaseType::Named(name) if of_type(name))
}

/// Whether a variable is of a class that is a private part of another.
pub fn is_hidden_type(input: &Input, symbol: SymbolId) -> bool {
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let tag = match &decl.base {
        BaseType::Named(tag) | BaseType::Tagged(tag) => tag.rsplit("::").next().unwrap_or(tag),
        BaseType::Record(id) => return access::is_hidden_in(&seen, seen.unit.record(*id).span),
        _ => return false,
    };
    let mut seen_here = [&input.source].into_iter().chain(input.headers);
    seen_here.any(|seen| {
        let mut records = seen.unit.records.iter().filter(|record| record.tag.as_deref() == Some(tag));
        records.any(|record| access::is_hidden_in(seen, record.span))
    })
}

/// Whether a header defines a function for the host only.
pub fn is_hosts(input: &Input, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    input.headers.iter().any(|seen| {
        let mut found = seen.unit.functions_named(name).peekable();
        found.peek().is_some()
            && found.all(|function| {
                !seen.scan.directives.iter().any(|text| {
                    let said = seen.file.text(text.span);
                    let said = words(&said);
                    let has_levels = ["gang", "worker", "vector"].iter().any(|word| said.contains(word));
                    let says = said.contains(&"routine") && !has_levels;
                    let between = Span { start: text.span.end, end: function.span.start.max(text.span.end) };
                    says && text.span.end <= function.span.start && seen.file.text(between).trim().is_empty()
                })
            })
    })
}

/// What of the standard library a lambda expression may name: what nvcc has for the device, and types without code.
pub const STANDARD: &str = "abs fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh \
    cosh tanh asinh acosh atanh hypot floor ceil round trunc rint nearbyint fmod remainder fmin fmax \
    fdim fma erf erfc tgamma lgamma isnan isinf isfinite signbit copysign min max clamp numeric_limits \
    size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t \
    uintptr_t byte array move printf";

/// Functions of C++'s standard library that the language evaluates itself (`constexpr`), and others that nvcc knows.
const EVALUATED: &str = "forward get size data begin end cbegin cend gcd lcm minmax make_pair make_tuple tie as_const real \
    imag conj norm arg polar proj isnormal fpclassify ilogb logb scalbn scalbln frexp ldexp modf nextafter lround llround round \
    lrint llrint remquo isgreater isgreaterequal isless islessequal islessgreater isunordered memcpy memset memmove memcmp \
    strlen malloc free declval complex pair tuple array";

/// Whether a name is that of a function of C++'s standard library which no code of the device can call.
pub fn is_of_hosts_library(name: &str) -> bool {
    let Some(rest) = name.trim_start_matches("::").strip_prefix("std::") else { return false };
    let bare = functions::bare(rest);
    let is_nested = rest.split('<').next().is_some_and(|head| head.contains("::"));
    !is_nested && !is_known_to_devices(bare)
}

/// Whether a function of the standard library is one that device code may call.
pub fn is_known_to_devices(name: &str) -> bool {
    STANDARD.split_whitespace().chain(EVALUATED.split_whitespace()).any(|known| known == name)
}
