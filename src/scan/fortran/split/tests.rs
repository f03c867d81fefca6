//! Lines of Fortran with several statements.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn check(form: Form, text: &str, wanted: &str) {
    let file = SourceFile::new("a.F90", text.into(), Language::Fortran(form));
    let found = splits(&file);
    let new = found.iter().map(|split| String::from_utf8_lossy(&split.text)).collect::<String>();
    assert_eq!(new, wanted, "{text}");
}

#[test]
fn each_branch_has_the_whole_directive() {
    check(
        Form::Free,
        "!$acc parallel loop &\n#ifdef A\n!$acc& gang &\n#else\n! x\n!$acc& worker &\n#endif\n!$acc copy(a)\ndo\n",
        "#ifdef A\n!$acc parallel loop &\n!$acc& gang &\n!$acc copy(a)\n#else\n!$acc parallel loop &\n! x\n\
         !$acc& worker &\n!$acc copy(a)\n#endif\n",
    );
    check(
        Form::Fixed,
        "!$acc parallel loop\n#ifdef A\n!$acc& gang\n#endif\n      do\n",
        "#ifdef A\n!$acc parallel loop\n!$acc& gang\n#else\n!$acc parallel loop\n#endif\n",
    );
}

#[test]
fn conditions_nest() {
    check(
        Form::Free,
        "!$acc wait &\n#if A\n!$acc async(1) &\n#if B\n!$acc if(b)\n#else\n!$acc if(c)\n#endif\n#else\n!$acc\n#endif\n",
        "#if A\n#if B\n!$acc wait &\n!$acc async(1) &\n!$acc if(b)\n#else\n!$acc wait &\n!$acc async(1) &\n\
         !$acc if(c)\n#endif\n#else\n!$acc wait &\n!$acc\n#endif\n",
    );
}

#[test]
fn conditions_with_other_lines_stay() {
    for text in [
        "!$acc parallel loop &\n#ifdef A\n!$acc& gang\ndo i = 1, n\n#else\n!$acc& worker\ndo i = 1, m\n#endif\n",
        "!$acc parallel loop &\n#ifdef A\n#define B\n!$acc& gang\n#endif\ndo\n",
        "!$acc parallel loop\n#ifdef A\n!$acc wait\n#endif\ndo\n",
        "!$acc parallel &\n#ifdef A\n!$acc& async(1)\n!$acc loop\n#else\n!$acc& async(2)\n#endif\n",
    ] {
        check(Form::Free, text, "");
    }
}
