//! Tests of `qualified.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn items_get_their_namespace_once() {
    let names = BTreeMap::from([("n".to_owned(), "N::n".to_owned())]);
    let line = "#pragma omp target map(tofrom: n, N::n, m[0:n], s.n) if (n > 1)";
    assert_eq!(
        spelled(line, &names),
        "#pragma omp target map(tofrom: N::n, N::n, m[0:N::n], s.n) if (N::n > 1)"
    );
    assert_eq!(spelled("n[0:4]", &names), "N::n[0:4]");
    assert_eq!(spelled("n(x)", &names), "n(x)");
}
