//! Compiler profiles: what each compiler is best given, with the measurement that says so.
//!
//! Invariant: a profile changes how a nest is shared out, never what it computes.

use std::sync::LazyLock;

use serde::Deserialize;

/// A profile as its page in `rules/profile/` states it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileRules {
    /// One sentence for the user.
    pub summary: String,
    /// The compilers' commands, without version and target.
    pub commands: Vec<String>,
    /// `collapse`: a tight nest becomes one loop; `split`: gangs outside, lanes inside.
    pub tight_nest: String,
    /// An inner loop with fewer literal iterations than this stays inside one thread.
    pub short_trip: u32,
    /// Loops that use arrays of variable length may be shared out inside others.
    pub variable_length_inside: bool,
    /// The compiler tiles loops that are collapsed.
    pub tile: bool,
    /// Threads of a team, one iteration each, for a loop whose inner loops have varying trip counts.
    pub ragged_threads: Option<u32>,
    /// The innermost loops that fill the lanes are `simd`, too.
    #[serde(default)]
    pub simd: bool,
    /// C: the compiler loses the bounds of a loop over addresses of an array where one construct divides it among gangs and lanes.
    #[serde(default)]
    pub loses_address_bounds: bool,
    /// Fortran is built by flang, which lacks some clauses of OpenMP and has others for them.
    #[serde(default)]
    pub flang: bool,
    /// Which measurements say so.
    pub measured: Vec<String>,
}

/// The profiles that are compiled in, by name.
static PROFILES: LazyLock<Vec<(&'static str, ProfileRules)>> = LazyLock::new(|| {
    let files = [
        ("generic", include_str!("../../rules/profile/generic.toml")),
        ("clang", include_str!("../../rules/profile/clang.toml")),
        ("gcc", include_str!("../../rules/profile/gcc.toml")),
        ("nvc", include_str!("../../rules/profile/nvc.toml")),
        ("cray", include_str!("../../rules/profile/cray.toml")),
        ("amdclang", include_str!("../../rules/profile/amdclang.toml")),
        ("icx", include_str!("../../rules/profile/icx.toml")),
    ];
    let read = |(name, text)| match toml::from_str(text) {
        Ok(profile) => (name, profile),
        Err(error) => unreachable!("rules/profile/{name}.toml does not load: {error}"),
    };
    files.into_iter().map(read).collect()
});

/// The profile `name`; the first one, `generic`, if there is none of that name.
pub fn profile(name: &str) -> &'static ProfileRules {
    let found = PROFILES.iter().find(|(known, _)| *known == name).or(PROFILES.first());
    match found {
        Some((_, profile)) => profile,
        None => unreachable!("there are no profiles"),
    }
}

/// The name of the profile for a compiler by the name of its command, as in `x86_64-linux-gnu-gcc-12`; `generic` for others.
pub fn profile_of_command(command: &str) -> &'static str {
    let is_named = |profile: &ProfileRules| {
        command.split('-').any(|part| profile.commands.iter().any(|known| known == part))
    };
    let found = PROFILES.iter().find(|(_, profile)| is_named(profile)).or(PROFILES.first());
    found.map_or("generic", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_commands() {
        let commands =
            ["x86_64-linux-gnu-gcc-12", "clang++-19", "flang-new-22", "nvc", "mpicc", "ifx", "clangd"];
        let expected = ["gcc", "clang", "clang", "nvc", "generic", "icx", "generic"];
        assert_eq!(commands.map(profile_of_command), expected);
    }
}
