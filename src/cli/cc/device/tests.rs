//! Tests of `device.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn options_are_passed_to_the_compiler_of_the_host() {
    let words = shlex::split("g++ -O2 -Wall -Wl,-z,now -I inc -DX=1 -MD -MF a.d -c -o a.o -lm").unwrap();
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let expected = ["-O2", "-Xcompiler", "-Wall", "-Xcompiler", "-Wl\\,-z\\,now", "-I", "inc", "-DX=1"];
    assert_eq!(for_nvcc(&words), expected);
}
