//! Texts that may hold OpenACC, and texts that do not.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::source::Form;

#[test]
fn every_spelling_is_known() {
    for text in ["#pragma acc loop", "_Pragma(\"acc loop\")", "#ifdef _OPENACC", "acc_init(0);"] {
        assert!(mentions_openacc(text.as_bytes(), Language::C), "{text}");
    }
    for text in ["", "ac", "int main(void) { return 0; }", "Accumulate", "aCC", "ac c"] {
        assert!(!mentions_openacc(text.as_bytes(), Language::C), "{text}");
    }
}

#[test]
fn fortran_knows_no_case() {
    let fortran = Language::Fortran(Form::Free);
    assert!(
        ["!$Acc loop", "use OpenAcc", "aCC_init", "!@acc"]
            .iter()
            .all(|text| mentions_openacc(text.as_bytes(), fortran))
    );
    assert!(!mentions_openacc(b"ac c", fortran));
}

#[test]
fn the_seam_of_two_pieces_is_seen() {
    for at in PIECE - 4..PIECE + 2 {
        let mut text = vec![b' '; at];
        text.extend_from_slice(b"acc");
        assert!(mentions_openacc(&text, Language::C), "at {at}");
    }
}
