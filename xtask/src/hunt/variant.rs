//! The ways in which programs are translated and built.
//!
//! Invariant: each program meets a device with its own memory, the host, and a rare version or profile.

use acc2omp::{Guards, Options, Profile, Queues, To, Version};

use super::Language;
use super::model::{Expected, Lines};
use crate::difftest::toolchain::Toolchain;

/// A way to translate and build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The profile.
    pub profile: Profile,
    /// The version of OpenMP.
    pub version: u8,
    /// Whether `async` is translated.
    pub queues: bool,
    /// The original stands beside the translation.
    pub guard: bool,
    /// What builds it; for CUDA, the back end as well.
    pub toolchain: Toolchain,
}

impl Variant {
    const fn of(profile: Profile, toolchain: Toolchain) -> Variant {
        Variant { profile, version: 45, queues: true, guard: false, toolchain }
    }

    const fn version(self, version: u8) -> Variant {
        Variant { version, ..self }
    }

    const fn sync(self) -> Variant {
        Variant { queues: false, ..self }
    }

    const fn guarded(self) -> Variant {
        Variant { guard: true, ..self }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        if self.toolchain.is_cuda() {
            return format!("cuda, {}", self.toolchain.name());
        }
        let mut name = self.profile.name().to_owned();
        if self.version != 45 {
            name += &format!(" {}.{}", self.version / 10, self.version % 10);
        }
        if !self.queues {
            name += " sync";
        }
        if self.guard {
            name += " guard";
        }
        format!("{name}, {}", self.toolchain.name())
    }

    /// The command-line options that translate so.
    pub fn options_text(&self) -> String {
        if self.toolchain.is_cuda() {
            return "--to cuda".to_owned();
        }
        let mut text = format!("--profile {}", self.profile.name());
        if self.version != 45 {
            text += &format!(" --omp {}.{}", self.version / 10, self.version % 10);
        }
        if !self.queues {
            text += " --async sync";
        }
        if self.guard {
            text += " --guard";
        }
        text
    }

    /// The translator's options.
    pub fn options(&self) -> Options {
        let queues = if self.queues { Queues::Kept } else { Queues::Dropped };
        Options {
            to: if self.toolchain.is_cuda() { To::Cuda } else { To::OpenMp },
            omp: Version(self.version),
            profile: self.profile,
            queues,
            guard: self.guard.then(Guards::default),
            ..Options::default()
        }
    }

    /// What a program must print; none if it is not defined there.
    pub fn expected<'a>(&self, expected: &'a Expected) -> Option<&'a Lines> {
        match self.toolchain {
            Toolchain::ClangOpenMp | Toolchain::FlangDevice | Toolchain::Shim | Toolchain::Nvcc => {
                Some(&expected.separate)
            }
            Toolchain::Plain => expected.serial.as_ref(),
            _ => expected.shared.as_ref(),
        }
    }
}

const HOST: Toolchain = Toolchain::GccOpenMp;
const DEVICE: Toolchain = Toolchain::ClangOpenMp;
const CUDA: Toolchain = Toolchain::Shim;
/// It only builds.
const NVCC: Variant = Variant::of(Profile::GENERIC, Toolchain::Nvcc);
const FLANG: Toolchain = Toolchain::FlangDevice;

/// The ways for all programs in C and C++.
const C: [Variant; 4] = [
    Variant::of(Profile::GENERIC, CUDA),
    Variant::of(Profile::GENERIC, DEVICE),
    Variant::of(Profile::CLANG, DEVICE),
    Variant::of(Profile::GENERIC, HOST),
];

/// Of these, each batch meets one.
const C_MORE: [Variant; 10] = [
    NVCC,
    Variant::of(Profile::GCC, HOST),
    NVCC,
    Variant::of(Profile::GENERIC, DEVICE).version(51),
    Variant::of(Profile::CLANG, DEVICE).version(52),
    Variant::of(Profile::CRAY, DEVICE),
    Variant::of(Profile::GENERIC, DEVICE).sync(),
    Variant::of(Profile::GENERIC, DEVICE).guarded(),
    Variant::of(Profile::CLANG, DEVICE).version(50),
    Variant::of(Profile::NVC, HOST).version(50),
];

const FORTRAN: [Variant; 3] = [
    Variant::of(Profile::GENERIC, CUDA),
    Variant::of(Profile::CLANG, FLANG).sync(),
    Variant::of(Profile::GENERIC, HOST),
];

const FORTRAN_MORE: [Variant; 5] = [
    NVCC,
    Variant::of(Profile::GCC, HOST),
    Variant::of(Profile::CLANG, FLANG).version(52).sync(),
    Variant::of(Profile::GENERIC, HOST).version(50),
    Variant::of(Profile::GENERIC, HOST).guarded(),
];

/// The ways that programs of a batch go.
pub fn of(language: Language, batch: u64) -> Vec<Variant> {
    let (all, more): (&[Variant], &[Variant]) = match language {
        Language::C | Language::Cpp => (&C, &C_MORE),
        Language::Fortran => (&FORTRAN, &FORTRAN_MORE),
    };
    let one = more[(batch % more.len() as u64) as usize];
    all.iter().copied().chain([one]).collect()
}

/// All ways of a language.
pub fn all(language: Language) -> Vec<Variant> {
    match language {
        Language::C | Language::Cpp => C.iter().chain(&C_MORE).copied().collect(),
        Language::Fortran => FORTRAN.iter().chain(&FORTRAN_MORE).copied().collect(),
    }
}

/// The original, as a compiler of the host reads it.
pub fn original(toolchain: Toolchain) -> Variant {
    Variant::of(Profile::GENERIC, toolchain)
}
