//! Functions of a C program with names that CUDA's headers have functions of, too: in kernels the program's own is called.
//!
//! Invariant: what a kernel calls by such a name is what the C source calls.

use crate::cuda::file::device;
use std::collections::BTreeSet;

use crate::sema::SymbolKind;

use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen};

/// Names of functions that the headers of C and CUDA have, and a program may have of its own.
const NAMES: &str = "abs acos acosf acosh acoshf all any asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf atof atoi \
    atol ballot basename bcmp bcopy bzero cbrt cbrtf ceil ceilf clock copysign copysignf cos cosf cosh coshf \
    cospi cospif cyl_bessel_i0 cyl_bessel_i1 dadd ddiv difftime div dmul double2int drand48 drem dsub dsqrt ecvt \
    erand48 erf erfc erfcf erfcinv erfcinvf erfcx erfcxf erff erfinv erfinvf exp exp10 exp10f exp2 exp2f expf \
    expm1 expm1f fabs fabsf fadd fcvt fdim fdimf fdiv fdivide fdividef ffma ffs ffsl ffsll finite finitef \
    float2double floor floorf fma fmaf fmax fmaxf fmaximum fmin fminf fminimum fmod fmodf fmul frexp frexpf \
    fsqrt fsub gamma gammaf gcvt hypot hypotf ilogb ilogbf index int2double isnanf j0 j0f j1 j1f jn jnf jrand48 \
    labs ldexp ldexpf ldiv lgamma lgammaf ll2double llabs lldiv llmax llmin llogb llrint llrintf llround \
    llroundf log log10 log10f log1p log1pf log2 log2f logb logbf logf lrand48 lrint lrintf lround lroundf max \
    memccpy memchr memcmp memmem min modf modff mrand48 nan nanf nearbyint nearbyintf nextafter nextafterf \
    nextdown nextup norm norm3d norm3df norm4d norm4df normcdf normcdff normcdfinv normcdfinvf normf nrand48 pow \
    powf qsort rand random rcbrt rcbrtf remainder remainderf remove remquo remquof rename rhypot rhypotf rindex \
    rint rintf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf round roundeven roundf rsqrt rsqrtf scalb scalbf \
    scalbln scalbn scalbnf select significand sin sincos sincosf sincospi sincospif sinf sinh sinhf sinpi sinpif \
    sqrt sqrtf strcmp strlen system tan tanf tanh tanhf tgamma tgammaf time toascii tolower toupper trunc truncf \
    uint2double ull2double ullmax ullmin umax umin y0 y0f y1 y1f yn ynf";

/// How the names of more of CUDA's functions begin.
const BEGINNINGS: [&str; 7] = ["atomic", "cuda", "make_", "tex", "surf", "__", "sync"];

fn is_taken(name: &str) -> bool {
    BEGINNINGS.iter().any(|lead| name.starts_with(lead))
        || NAMES.split_whitespace().any(|known| known == name)
}

/// Whether the program defines a function of this name.
pub fn is_own(input: &Input, name: &str) -> bool {
    let mut seen_here = [&input.source].into_iter().chain(input.headers);
    seen_here.any(|seen: &Seen| seen.unit.functions_named(name).next().is_some())
}

/// The declarations that a kernel begins with, so that it calls the program's functions. `code` is that of the kernel.
pub fn declarations(input: &Input, code: &str) -> Vec<String> {
    if !input.is_c {
        return Vec::new();
    }
    let mut pending: Vec<String> = words(code).into_iter().map(str::to_owned).collect();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut found: BTreeSet<String> = BTreeSet::new();
    while let Some(word) = pending.pop() {
        if !known.insert(word.clone()) {
            continue;
        }
        if let Some(define) = device::define(input, &word) {
            pending.extend(words(&define.body).into_iter().map(str::to_owned));
        } else if is_own(input, &word) && is_taken(&word) && !is_variable(input, &word) {
            found.insert(word);
        }
    }
    found.into_iter().map(|name| format!("using device::{name};")).collect()
}

/// Whether the name is a variable's somewhere: the function may be hidden by it.
fn is_variable(input: &Input, name: &str) -> bool {
    let kinds = [SymbolKind::Local, SymbolKind::Parameter];
    input.symbols.ids().any(|id| {
        let known = input.symbols.get(id);
        known.name == name && kinds.contains(&known.kind)
    })
}
