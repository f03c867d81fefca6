//! Profiles of compilers.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn own_profiles_say_what_differs() {
    let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap_or_default();
    let name = add_profile("mine", table("inherits = \"clang\"\nshort_trip = 7\n"));
    assert_eq!(name, Ok("mine"));
    let (mine, clang) = (profile("mine"), profile("clang"));
    assert_eq!((mine.short_trip, mine.tight_nest.as_str(), mine.family.as_str()), (7, "split", "clang"));
    assert_eq!(clang.short_trip, 32);
    for wrong in [
        "short_trip = 7",
        "inherits = \"no\"",
        "inherits = \"gcc\"\nshort = 7",
        "inherits = \"gcc\"\ntile = 7",
        "inherits = \"gcc\"\nnest = \"loops\"",
    ] {
        assert!(add_profile("wrong", table(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn compilers_are_known_by_their_commands() {
    let commands = ["x86_64-linux-gnu-gcc-12", "clang++-19", "flang-new-22", "nvc", "mpicc", "ifx", "clangd"];
    let expected = ["gcc", "clang", "clang", "nvc", "generic", "icx", "generic"];
    assert_eq!(commands.map(profile_of_command), expected);
}
