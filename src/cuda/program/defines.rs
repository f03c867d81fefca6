//! The macros of a program by name.
//!
//! Invariant: the source's own definition counts before one of a header.

use super::Input;
use crate::scan::Define;

/// The macro of this name.
pub fn define<'a>(input: &Input<'a>, name: &str) -> Option<&'a Define> {
    let own = input.source.scan.defines_named(name).next_back();
    own.or_else(|| {
        let mut headers = input.headers.iter().flat_map(|seen| seen.scan.defines_named(name));
        headers.next()
    })
}
