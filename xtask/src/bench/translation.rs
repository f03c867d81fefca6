//! The translations of the suite: one for each language, style and target.
//!
//! Invariant: a folder holds the whole language, so that headers are read; what is left untranslated is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{Language, Program, Style};
use crate::cuda::{LIMIT, build, files};
use crate::{Result, process};

/// What programs are translated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// CUDA.
    Cuda,
    /// OpenMP for clang.
    Clang,
    /// OpenMP for gcc.
    Gcc,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Target::Cuda => "cuda",
            Target::Clang => "clang",
            Target::Gcc => "gcc",
        }
    }

    fn options(self) -> [&'static str; 2] {
        match self {
            Target::Cuda => ["--to", "cuda"],
            Target::Clang => ["--profile", "clang"],
            Target::Gcc => ["--profile", "gcc"],
        }
    }
}

/// The suite, and where its translations are made.
#[derive(Debug)]
pub struct Place {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The folder for what is made.
    pub work: PathBuf,
}

impl Place {
    /// The source of a program in its style.
    pub fn source(&self, program: &Program) -> PathBuf {
        self.sources(program.language, program.style).join(program.file())
    }

    /// The folder of a translation.
    pub fn translated(&self, program: &Program, target: Target) -> PathBuf {
        self.folder(program.language, program.style, target.name())
    }

    fn folder(&self, language: Language, style: Style, name: &str) -> PathBuf {
        self.work.join(format!("{name}-{}-{}", language.name(), style.name()))
    }

    /// The folder of the sources in a style: the preprocessor has been over those in Fortran.
    pub fn sources(&self, language: Language, style: Style) -> PathBuf {
        match language {
            Language::C => language.folder(&self.root),
            Language::Fortran => self.folder(language, style, "source"),
        }
    }

    /// Translates what `programs` have, to each target that `targets` names for its language.
    pub fn translate(
        &self,
        translator: &Path,
        programs: &[Program],
        targets: impl Fn(Language) -> &'static [Target],
    ) -> Result<()> {
        for language in Language::ALL {
            for &style in Style::ALL {
                let is_here = |one: &&Program| one.language == language && one.style == style;
                let here: Vec<&Program> = programs.iter().filter(is_here).collect();
                if here.is_empty() {
                    continue;
                }
                if language == Language::Fortran {
                    self.preprocess(style, &here)?;
                }
                for &target in targets(language) {
                    self.translate_one(translator, language, style, target)?;
                }
            }
        }
        Ok(())
    }

    fn preprocess(&self, style: Style, programs: &[&Program]) -> Result<()> {
        let place = self.sources(Language::Fortran, style);
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        for included in files(&Language::Fortran.folder(&self.root), "inc")? {
            let copy = place.join(included.file_name().unwrap_or_default());
            fs::copy(&included, copy).map_err(|error| format!("{}: {error}", included.display()))?;
        }
        for program in programs {
            let mut command = Command::new("gfortran");
            command.args(["-cpp", "-E", "-P"]).args(program.defines()).arg(&program.original);
            build(command.arg("-o").arg(self.source(program)))?;
        }
        Ok(())
    }

    fn translate_one(
        &self,
        translator: &Path,
        language: Language,
        style: Style,
        target: Target,
    ) -> Result<()> {
        let mut command = Command::new(translator);
        command.arg(self.sources(language, style)).args(target.options());
        if language == Language::C {
            command.args(style.defines());
        }
        command.args(["--quiet", "-o"]).arg(self.folder(language, style, target.name()));
        let said = process::capture(&mut command, LIMIT)?;
        match said.status.and_then(|status| status.code()) {
            Some(0) => Ok(()),
            // A directive is left untranslated.
            Some(1) => {
                println!("{} {} to {}:", language.name(), style.name(), target.name());
                print!("{}{}", said.stdout, said.stderr);
                Ok(())
            }
            _ => Err(format!("{}: {}\n{}", translator.display(), said.end(), said.stderr)),
        }
    }
}
