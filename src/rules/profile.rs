//! Compiler profiles: what each compiler is best given, with the measurement that says so.
//!
//! Invariant: a profile changes how a nest is distributed, never what it computes.

use std::sync::{LazyLock, Mutex, PoisonError};

use serde::Deserialize;

use super::embed;

/// A profile as its page in `rules/profile/` states it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileRules {
    /// One sentence for the user.
    pub summary: String,
    /// The profile that is compiled in and that it is, or begins from: what that compiler does not build is reported.
    #[serde(skip)]
    pub family: String,
    /// The compilers' commands, without version and target.
    pub commands: Vec<String>,
    /// `collapse`: a tight nest becomes one loop; `split`: gangs outside, lanes inside.
    pub tight_nest: String,
    /// From OpenMP 5.0 on: `loop`: loops are `loop` constructs where these may stand; `distribute`: they say who distributes them.
    #[serde(default = "distribute")]
    pub nest: String,
    /// An inner loop with fewer literal iterations than this stays inside one thread.
    pub short_trip: u32,
    /// Loops that use arrays of variable length may be distributed inside others.
    pub variable_length_inside: bool,
    /// The compiler tiles loops that are collapsed.
    pub tile: bool,
    /// With `split`: nests that reduce nothing and name so many elements of arrays, or more, become one loop all the same.
    pub flat_from: Option<usize>,
    /// Threads of a team, one iteration each, for a loop whose iterations run loops in order.
    pub heavy_threads: Option<u32>,
    /// Threads of a team that shares the sums of rows.
    pub row_threads: Option<u32>,
    /// C, C++: threads of a team that collects atomic updates of an array in a table of its own; none: updates go to the array.
    pub table_threads: Option<u32>,
    /// C, C++: threads of a team that reduces into a variable of its own first, and combines it with the program's atomically; none:
    /// the `reduction` clause combines those of the teams.
    pub sum_threads: Option<u32>,
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

/// The pages of the profiles that are compiled in, by name; the default comes first.
fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut pages = embed::profiles();
    pages.sort_by_key(|(name, _)| *name != DEFAULT);
    pages.into_iter()
}

/// How nests are said where a profile does not tell.
fn distribute() -> String {
    "distribute".to_owned()
}

/// The profile for any compiler.
const DEFAULT: &str = "generic";

/// The profiles that are compiled in, by name.
static PROFILES: LazyLock<Vec<(&'static str, ProfileRules)>> = LazyLock::new(|| {
    let read = |(name, text): (&'static str, &str)| match toml::from_str::<ProfileRules>(text) {
        Ok(profile) => (name, ProfileRules { family: name.to_owned(), ..profile }),
        Err(error) => unreachable!("rules/profile/{name}.toml does not load: {error}"),
    };
    pages().map(read).collect()
});

/// The names of the profiles that are compiled in, the default first.
pub fn profiles() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// The profiles that users bring, by name: there are few, and they live as long as the program.
static OWN: Mutex<Vec<(&'static str, &'static ProfileRules)>> = Mutex::new(Vec::new());

/// Adds a profile that a user brings, and returns its name: a table of what differs from the profile that it `inherits`.
pub fn add_profile(name: &str, mut own: toml::Table) -> Result<&'static str, String> {
    let Some(toml::Value::String(base)) = own.remove("inherits") else {
        return Err("`inherits = \"NAME\"` is missing: the profile that it begins from".to_owned());
    };
    let Some((_, page)) = pages().find(|(known, _)| *known == base) else {
        let all: Vec<String> = pages().map(|(known, _)| format!("`{known}`")).collect();
        return Err(format!("`inherits` names no profile: there are {}", all.join(", ")));
    };
    let mut table: toml::Table = toml::from_str(page).map_err(|error| error.to_string())?;
    table.extend(own);
    let profile: ProfileRules =
        table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
    if !["collapse", "split"].contains(&profile.tight_nest.as_str()) {
        return Err("`tight_nest` is `collapse` or `split`".to_owned());
    }
    if !["loop", "distribute"].contains(&profile.nest.as_str()) {
        return Err("`nest` is `loop` or `distribute`".to_owned());
    }
    let profile: &'static ProfileRules = Box::leak(Box::new(ProfileRules { family: base, ..profile }));
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    OWN.lock().unwrap_or_else(PoisonError::into_inner).push((name, profile));
    Ok(name)
}

/// The name of a profile that a user has brought.
pub fn own_profile(name: &str) -> Option<&'static str> {
    own(name).map(|(name, _)| name)
}

/// The last profile of this name that a user has brought.
fn own(name: &str) -> Option<(&'static str, &'static ProfileRules)> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner).iter().rfind(|(known, _)| *known == name).copied()
}

/// The profile `name`; the first one, `generic`, if there is none of that name.
pub fn profile(name: &str) -> &'static ProfileRules {
    let own = || own(name).map(|(_, profile)| profile);
    let known = PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| profile);
    match known.or_else(own).or(PROFILES.first().map(|(_, profile)| profile)) {
        Some(profile) => profile,
        None => unreachable!("there are no profiles"),
    }
}

/// The name of the profile for a compiler by the name of its command, as in `x86_64-linux-gnu-gcc-12`; `generic` for others.
pub fn profile_of_command(command: &str) -> &'static str {
    let is_named = |profile: &ProfileRules| {
        command.split('-').any(|part| profile.commands.iter().any(|known| known == part))
    };
    let found = PROFILES.iter().find(|(_, profile)| is_named(profile)).or(PROFILES.first());
    found.map_or(DEFAULT, |(name, _)| name)
}

#[cfg(test)]
mod tests;
