//! What to translate to.
//!
//! Invariant: the default is OpenMP 4.5 for any compiler.

use crate::budget::{Budget, Threads};
use crate::edit::Guards;
use crate::omp::{self, Nest, Queues};
use crate::rules;
use crate::source::Language;

use super::{Existing, Wish};

/// An OpenMP version, as `45` for 4.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u8);

/// The compiler that the output is tuned for: a page of `rules/profile/`, or one that a user has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Profile(&'static str);

impl Profile {
    /// Any compiler: one flat parallel loop.
    pub const GENERIC: Profile = Profile("generic");
    /// LLVM clang.
    pub const CLANG: Profile = Profile("clang");
    /// GNU gcc.
    pub const GCC: Profile = Profile("gcc");
    /// NVIDIA's nvc and nvc++.
    pub const NVC: Profile = Profile("nvc");
    /// The Cray compilers.
    pub const CRAY: Profile = Profile("cray");

    /// Those that are compiled in, the default first.
    pub fn all() -> impl Iterator<Item = Profile> {
        rules::profiles().map(Profile)
    }

    /// The profile for the compiler with this command, without folder.
    pub fn of_compiler(command: &str) -> Profile {
        Profile(rules::profile_of_command(command))
    }

    /// The profile of this name, which may be one that a user has brought.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::all()
            .find(|profile| profile.name() == name)
            .or_else(|| rules::own_profile(name).map(Profile))
    }

    /// One that a user has brought.
    pub(crate) fn own(name: &'static str) -> Profile {
        Profile(name)
    }

    /// The name of its page in `rules/profile/`.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::GENERIC
    }
}

/// The language that takes OpenACC's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum To {
    /// OpenMP `target` directives.
    #[default]
    OpenMp,
    /// CUDA C, for C and C++.
    Cuda,
}

/// What to translate to.
#[derive(Clone, Debug)]
pub struct Options {
    /// The language that takes OpenACC's place.
    pub to: To,
    /// The newest OpenMP version that the output may use.
    pub omp: Version,
    /// The compiler that the output is tuned for.
    pub profile: Profile,
    /// How loops are said to run in parallel, from OpenMP 5.0 on; what the profile has, if nothing is said.
    pub nest: Option<Nest>,
    /// What becomes of queues.
    pub queues: Queues,
    /// The original stays beside the translation, and the preprocessor chooses.
    pub guard: Option<Guards>,
    /// What becomes of OpenMP that the source has for the code of an OpenACC directive.
    pub existing: Existing,
    /// A condition in C: where it is false when the program runs, the host runs what the device would.
    pub host_fallback: Option<String>,
    /// The device type whose `device_type` clauses count, in lower case (`nvidia`, `host` …).
    pub device_type: String,
    /// No two pointers alias.
    pub assume_no_alias: bool,
    /// Loops without a directive inside of loops that have one stay in order, even where they are proven parallel.
    pub as_written: bool,
    /// Device code in CUDA says with `#line` where it comes from.
    pub line_directives: bool,
    /// The lines, from one, of directives of which something is asked for.
    pub wishes: Vec<(usize, Wish)>,
    /// Another source of its folder has the same name except the ending: files beside it have the ending in theirs.
    pub has_namesake: bool,
    /// How the file calls the folder of the run-time library: empty if that lies beside it, or `../`, `../../`.
    pub library: String,
    /// What names of its device code begin with, as another source that is given has its name: the folders that it lies in.
    pub folder: String,
    /// The places of `data` directives that are known to stay as they are: what is said of them has been said.
    pub stays: Vec<u32>,
    /// What a file may cost.
    pub budget: Budget,
    /// Files of so many bytes are not read as a whole: functions that have nothing to do with directives are passed over.
    pub islands_from: usize,
    /// Files of so many bytes are translated in parts that have nothing to do with one another, each of half as many bytes at
    /// least.
    pub parts_from: usize,
    /// What the parts of such a file may have of threads.
    pub threads: Threads,
}

impl Options {
    /// What names of a source's device code begin with.
    pub fn unit_name(&self, name: &str) -> String {
        let name = crate::cuda::unit_name(name, self.has_namesake);
        let whole = if self.folder.is_empty() { name } else { format!("{}_{name}", self.folder) };
        // A folder's name may begin with a digit.
        let sign = if whole.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        format!("{sign}{whole}")
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            to: To::OpenMp,
            omp: Version(45),
            profile: Profile::GENERIC,
            nest: None,
            queues: Queues::Kept,
            guard: None,
            existing: Existing::Ask,
            host_fallback: None,
            device_type: "nvidia".to_owned(),
            assume_no_alias: false,
            as_written: false,
            line_directives: false,
            wishes: Vec::new(),
            has_namesake: false,
            library: String::new(),
            folder: String::new(),
            stays: Vec::new(),
            budget: Budget::default(),
            islands_from: 16 * 1024,
            parts_from: 64 * 1024,
            threads: Threads::default(),
        }
    }
}

impl Options {
    pub(super) fn target(&self, language: Language) -> omp::Target<'_> {
        let host_fallback = self.host_fallback.as_deref();
        let (profile, speech) = (self.profile.name(), omp::BaseLanguage::of(language));
        omp::Target {
            version: self.omp.0,
            profile,
            device_type: &self.device_type,
            queues: self.queues,
            host_fallback,
            speech,
            nest: self.nest.unwrap_or_else(|| omp::nest(profile)),
        }
    }
}

#[cfg(test)]
mod tests;
