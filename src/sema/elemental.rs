//! Which functions of Fortran are about elements, and which about whole arrays.
//!
//! Invariant: a function that is not known counts as one about whole arrays.

use crate::host::ir::{StmtId, Unit};

/// What a function does with arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The same with each element (Fortran 2018, 15.8).
    Elemental,
    /// It asks about an array, reads no element of it, and gives a scalar.
    Inquiry,
    /// Something with all elements.
    Transformational,
    /// Not known.
    Unknown,
}

/// What an intrinsic function of so many arguments does.
pub fn intrinsic(name: &str, args: usize) -> Kind {
    match name {
        "lbound" | "ubound" => {
            if args > 1 {
                Kind::Inquiry
            } else {
                Kind::Transformational
            }
        }
        _ if is_in(INQUIRY, name) => Kind::Inquiry,
        _ if is_in(ELEMENTAL, name) => Kind::Elemental,
        _ if is_in(TRANSFORMATIONAL, name) => Kind::Transformational,
        _ => Kind::Unknown,
    }
}

/// Whether a name is that of an intrinsic procedure that leaves its arguments as they are (Fortran 2018, 16). The ones that
/// change an argument (`move_alloc`, `random_number` …) are not among them.
pub fn is_intrinsic(name: &str) -> bool {
    [INQUIRY, ELEMENTAL, TRANSFORMATIONAL].into_iter().any(|list| is_in(list, name))
}

/// Whether a name is that of an intrinsic function that makes one value of all elements, or an array of another shape.
pub fn is_transformational(name: &str) -> bool {
    is_in(TRANSFORMATIONAL, name)
}

/// Whether a sorted list holds a name.
fn is_in(list: &[&str], name: &str) -> bool {
    list.binary_search(&name).is_ok()
}

/// How many arguments of an elemental intrinsic function are values, if a kind may stand after them.
pub fn values(name: &str) -> Option<usize> {
    match name {
        "cmplx" => Some(2),
        "achar" | "aint" | "anint" | "ceiling" | "char" | "floor" | "iachar" | "ichar" | "int"
        | "logical" | "maskl" | "maskr" | "nint" | "real" => Some(1),
        _ => None,
    }
}

/// What a function of the program does.
pub fn procedure(unit: &Unit, name: &str) -> Kind {
    let mut known = unit.scopes.iter().filter(|scope| scope.name == name && scope.result.is_some());
    match (known.next(), known.next()) {
        (Some(only), None) if only.is_elemental => Kind::Elemental,
        _ => Kind::Unknown,
    }
}

/// The body of a function of the program.
pub fn body(unit: &Unit, name: &str) -> Option<StmtId> {
    let scope = unit.scopes.iter().find(|scope| scope.name == name && scope.result.is_some())?;
    Some(unit.function(scope.function?).body)
}

const INQUIRY: &[&str] = &[
    "allocated",
    "associated",
    "bit_size",
    "digits",
    "epsilon",
    "huge",
    "kind",
    "len",
    "maxexponent",
    "minexponent",
    "precision",
    "present",
    "radix",
    "range",
    "rank",
    "size",
    "storage_size",
    "tiny",
];

const ELEMENTAL: &[&str] = &[
    "abs",
    "achar",
    "acos",
    "acosh",
    "adjustl",
    "adjustr",
    "aimag",
    "aint",
    "alog",
    "alog10",
    "amax0",
    "amax1",
    "amin0",
    "amin1",
    "amod",
    "anint",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "bge",
    "bgt",
    "ble",
    "blt",
    "btest",
    "cabs",
    "ccos",
    "ceiling",
    "cexp",
    "char",
    "clog",
    "cmplx",
    "conjg",
    "cos",
    "cosh",
    "csin",
    "csqrt",
    "dabs",
    "dacos",
    "dasin",
    "datan",
    "datan2",
    "dble",
    "dcmplx",
    "dcos",
    "dcosh",
    "dexp",
    "dfloat",
    "dim",
    "dimag",
    "dint",
    "dlog",
    "dlog10",
    "dmax1",
    "dmin1",
    "dmod",
    "dnint",
    "dprod",
    "dreal",
    "dshiftl",
    "dshiftr",
    "dsign",
    "dsin",
    "dsinh",
    "dsqrt",
    "dtan",
    "dtanh",
    "erf",
    "erfc",
    "erfc_scaled",
    "exp",
    "exponent",
    "float",
    "floor",
    "fraction",
    "gamma",
    "hypot",
    "iabs",
    "iachar",
    "iand",
    "ibclr",
    "ibits",
    "ibset",
    "ichar",
    "idim",
    "idint",
    "idnint",
    "ieor",
    "ifix",
    "int",
    "ior",
    "ishft",
    "ishftc",
    "isign",
    "leadz",
    "lge",
    "lgt",
    "lle",
    "llt",
    "log",
    "log10",
    "log_gamma",
    "logical",
    "maskl",
    "maskr",
    "max",
    "max0",
    "max1",
    "merge",
    "merge_bits",
    "min",
    "min0",
    "min1",
    "mod",
    "modulo",
    "nearest",
    "nint",
    "not",
    "popcnt",
    "poppar",
    "real",
    "rrspacing",
    "scale",
    "set_exponent",
    "shifta",
    "shiftl",
    "shiftr",
    "sign",
    "sin",
    "sinh",
    "sngl",
    "spacing",
    "sqrt",
    "tan",
    "tanh",
    "trailz",
];

/// About whole arrays, or taken to be.
const TRANSFORMATIONAL: &[&str] = &[
    "alimag",
    "all",
    "any",
    "bessel_jn",
    "bessel_yn",
    "command_argument_count",
    "count",
    "cshift",
    "dot_product",
    "eoshift",
    "extends_type_of",
    "findloc",
    "iall",
    "iany",
    "index",
    "iparity",
    "lbound",
    "len_trim",
    "matmul",
    "maxloc",
    "maxval",
    "minloc",
    "minval",
    "new_line",
    "norm2",
    "null",
    "pack",
    "parity",
    "product",
    "repeat",
    "reshape",
    "same_type_as",
    "scan",
    "selected_char_kind",
    "selected_int_kind",
    "selected_real_kind",
    "shape",
    "spread",
    "sum",
    "transfer",
    "transpose",
    "trim",
    "ubound",
    "unpack",
    "verify",
];

/// Whether a name is that of an intrinsic function that asks for properties of its argument, not for its value.
pub fn is_inquiry(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "bit_size",
        "digits",
        "epsilon",
        "huge",
        "is_contiguous",
        "kind",
        "lbound",
        "len",
        "maxexponent",
        "minexponent",
        "new_line",
        "precision",
        "radix",
        "range",
        "rank",
        "shape",
        "size",
        "storage_size",
        "tiny",
        "ubound",
    ];
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests;
