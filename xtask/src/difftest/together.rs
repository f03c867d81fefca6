//! Programs that one call of a compiler builds: a call takes longer to begin than to read a small program.
//!
//! Invariant: what cannot be built with others, or does something else then, is built alone, and only that counts.

mod unit;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;

use self::unit::{Form, text};
use super::fixture::{Fixture, left_directive, name, read_text};
use super::toolchain::{Toolchain, Toolchains};
use super::{LIMIT, Output, Suite};
use crate::{Result, cuda, files, process};

/// More programs in one unit gain little, and one of them that fails costs more.
const MEMBERS: usize = 12;

/// Sources, and the programs of others and themselves that they were built into; their object, where nothing is linked.
#[derive(Debug, Default)]
pub struct Together {
    programs: HashMap<(Toolchain, PathBuf), PathBuf>,
}

/// Sources that one compiler builds in one form.
struct Group {
    toolchain: Toolchain,
    form: Form,
    /// The translator's output that they are of.
    output: String,
    sources: Vec<PathBuf>,
}

/// A source and its program.
type Program = ((Toolchain, PathBuf), PathBuf);

impl Together {
    /// Builds what can be of a suite that is translated.
    pub fn build(suite: &Suite, toolchains: &Toolchains) -> Result<Together> {
        let place = suite.work.join("together").join(suite.folder.file_name().unwrap_or_default());
        files::make_folder(&place)?;
        let groups = groups(suite)?;
        let units: Vec<(usize, &Group, &[PathBuf])> = groups
            .iter()
            .flat_map(|group| group.sources.chunks(MEMBERS).map(move |sources| (group, sources)))
            .enumerate()
            .map(|(number, (group, sources))| (number, group, sources))
            .collect();
        let built: Vec<Vec<Program>> = units
            .par_iter()
            .map(|(number, group, sources)| {
                group.build(&place.join(format!("{number}")), sources, toolchains)
            })
            .collect::<Result<_>>()?;
        Ok(Together { programs: built.into_iter().flatten().collect() })
    }

    /// What a compiler has built of `source` and others.
    pub fn program(&self, toolchain: Toolchain, source: &Path) -> Option<&Path> {
        self.programs.get(&(toolchain, source.to_path_buf())).map(PathBuf::as_path)
    }

    /// How many sources were built with others.
    pub fn len(&self) -> usize {
        self.programs.len()
    }
}

/// What of a suite is built together.
///
/// Not what gcc makes of the first translation of a program: it tells whether that stands alone.
fn groups(suite: &Suite) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut add = |toolchain, form, output: &Output, source: PathBuf| {
        let is_this = |group: &&mut Group| {
            group.toolchain == toolchain && group.form == form && group.output == output.name
        };
        match groups.iter_mut().find(is_this) {
            Some(group) => group.sources.push(source),
            None => {
                groups.push(Group { toolchain, form, output: output.name.clone(), sources: vec![source] })
            }
        }
    };
    for fixture in &suite.fixtures {
        let mut known: HashSet<(Toolchain, String)> = HashSet::new();
        for output in suite.outputs.iter().filter(|output| !output.guarded) {
            let folder = suite.work.join(&output.name).join(&fixture.name);
            if output.is_cuda() {
                for (form, source) in device_code(fixture, &folder)? {
                    add(Toolchain::Nvcc, form, output, source);
                }
                continue;
            }
            let Some((form, source)) = program(fixture, &folder)? else { continue };
            let text = read_text(&source)?;
            for &toolchain in output.toolchains {
                let is_first = !known.iter().any(|(known, _)| *known == toolchain);
                let is_new = known.insert((toolchain, text.clone()));
                let wanted = match toolchain {
                    Toolchain::ClangOpenMp => output.toolchains.contains(&Toolchain::GccOpenMp) || !is_first,
                    Toolchain::GccOpenMp => !is_first,
                    _ => false,
                };
                if wanted && is_new {
                    add(toolchain, form, output, source.clone());
                }
            }
        }
    }
    Ok(groups)
}

/// The sources of a translation to CUDA that nvcc builds.
fn device_code(fixture: &Fixture, folder: &Path) -> Result<Vec<(Form, PathBuf)>> {
    if fixture.marks.openmp || !fixture.marks.options.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<(Form, PathBuf)> =
        cuda::files(folder, "cu")?.into_iter().map(|source| (Form::Device, source)).collect();
    for source in fixture.sources.iter().filter(|source| unit::is_cpp(source)) {
        let source = folder.join(source);
        if cuda::is_for_device(&name(&source), &read_text(&source)?) {
            found.push((Form::InPlace, source));
        }
    }
    Ok(found)
}

/// A translation to OpenMP of one source in C or C++ that nothing is known against.
fn program(fixture: &Fixture, folder: &Path) -> Result<Option<(Form, PathBuf)>> {
    let marks = &fixture.marks;
    let [source] = fixture.sources.as_slice() else { return Ok(None) };
    if marks.cuda || marks.left || !marks.options.is_empty() || fixture.is_fortran() {
        return Ok(None);
    }
    let form = if unit::is_cpp(source) { Form::Cpp } else { Form::C };
    let path = folder.join(source);
    let is_left = left_directive(source, &read_text(&path)?).is_some();
    Ok((!is_left).then_some((form, path)))
}

impl Group {
    /// Builds sources as one unit at `path` with an ending; fewer at a time where that fails, and none alone.
    fn build(&self, path: &Path, sources: &[PathBuf], toolchains: &Toolchains) -> Result<Vec<Program>> {
        if sources.len() < 2 {
            return Ok(Vec::new());
        }
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let unit = path.with_extension(self.form.ending());
        fs::write(&unit, text(self.form, sources)?).map_err(failed)?;
        let program = path.with_extension("built");
        let mut command = self.command(&unit, &program, toolchains)?;
        let done = toolchains.spent.on(self.toolchain, "builds", || process::capture(&mut command, LIMIT))?;
        if !done.succeeded() {
            let part = |name: &str| PathBuf::from(format!("{}{name}", path.display()));
            let is_named = |source: &Path| {
                let source = source.display().to_string();
                done.stderr.lines().any(|line| line.contains("error") && line.contains(&source))
            };
            let others: Vec<PathBuf> = sources.iter().filter(|one| !is_named(one)).cloned().collect();
            if others.len() < sources.len() {
                return self.build(&part("o"), &others, toolchains);
            }
            let (left, right) = sources.split_at(sources.len() / 2);
            let mut built = self.build(&part("l"), left, toolchains)?;
            built.extend(self.build(&part("r"), right, toolchains)?);
            return Ok(built);
        }
        let mut built = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let link = PathBuf::from(format!("{}-{number}", path.display()));
            symlink(&program, &link).map_err(failed)?;
            built.push(((self.toolchain, source.clone()), link));
        }
        Ok(built)
    }

    fn command(&self, unit: &Path, program: &Path, toolchains: &Toolchains) -> Result<Command> {
        let name = unit.display().to_string();
        let commands = match self.form {
            Form::Device | Form::InPlace => {
                let mut command = toolchains.device_code(self.form == Form::InPlace);
                command.arg(unit).arg("-o").arg(program);
                vec![command]
            }
            Form::C | Form::Cpp => {
                toolchains.build(self.toolchain, std::slice::from_ref(&name), program, true)?
            }
        };
        commands.into_iter().next().ok_or_else(|| format!("{name}: no command"))
    }
}
