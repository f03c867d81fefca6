//! Names of types, by themselves.
//!
//! Invariant: knows what the standards say of names, and no declaration.

/// Whether a name is that of a type in a class template, as `W<int>::type`.
pub(super) fn is_in_template(name: &str) -> bool {
    name.contains(">::")
}

/// Arithmetic type names of the standard headers, which we never read.
pub(super) fn is_standard_scalar(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
        "intmax_t",
        "uintmax_t",
        "time_t",
        "clock_t",
        "bool",
        "wchar_t",
        "off_t",
        "float_t",
        "double_t",
    ];
    let fixed = name.strip_prefix('u').unwrap_or(name);
    let width = fixed.strip_prefix("int").and_then(|rest| rest.strip_suffix("_t"));
    let width = width.map(|rest| rest.trim_start_matches("_fast").trim_start_matches("_least"));
    NAMES.contains(&name) || width.is_some_and(|bits| ["8", "16", "32", "64"].contains(&bits))
}
