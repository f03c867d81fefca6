//! Commands for a makefile: which of its variables name compilers, which of their flags stay, and what program it links.
//!
//! Invariant: a program is named only if a rule links it below the folder; what stays in the way is a remark.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::makefile::{self, Line, Makefile, Rule};
use super::programs::{self, Choice, Program, SOURCES};
use super::toolchain::{ALL, Compiler, Kind, LANGUAGES, Of, for_gcc};

/// What a makefile says.
#[derive(Debug, Default)]
pub struct Made {
    /// The commands that build the programs; none if no variable names a compiler.
    pub builds: Option<[String; 3]>,
    /// The command that runs the program, if it is known.
    pub run: Option<String>,
    /// The files that were read.
    pub files: Vec<String>,
    /// What stays in the way, and what was changed.
    pub remarks: Vec<String>,
}

/// A variable that names a compiler.
struct Named {
    variable: String,
    compiler: Compiler,
    /// The program, as the value has it.
    program: String,
    /// The words after it.
    rest: String,
}

/// Reads the makefile of a folder, if there is one.
pub fn made(root: &Path) -> Option<Made> {
    let makefile = Makefile::of(root)?;
    let named = compilers(&makefile);
    let (flags, dropped) = flags(&makefile, &named);
    let mut remarks = remarks(&makefile, named.is_empty());
    remarks.extend(makefile.lines.iter().filter_map(|line| staying(&makefile, &named, &flags, line)));
    if !dropped.is_empty() {
        let all = dropped.join(" ");
        remarks.push(format!("flags that are not for gcc and clang are dropped or replaced: {all}"));
    }
    if named.iter().any(|one| one.compiler.is_mpi) {
        let why = "the scripts of MPI must call gcc and clang: `OMPI_CC`, `MPICH_CC` and the like say so";
        remarks.push(why.to_owned());
    }
    let again = if has_clean(&makefile) { Again::Clean } else { Again::Always };
    let builds = (!named.is_empty()).then(|| ALL.map(|of| build(of, again, &named, &flags)));
    let programs = programs(&makefile, root);
    let run = match programs::choose(root, &programs) {
        Choice::One(Program { path, .. }, why) if is_below(path) => {
            remarks.extend(why);
            Some(run(&makefile, path))
        }
        Choice::One(Program { path, .. }, _) => {
            remarks.push(format!(
                "the program is linked outside of this folder, where copies would meet: {}",
                path.display()
            ));
            None
        }
        Choice::Unclear(run, why) => {
            remarks.push(why);
            Some(run)
        }
        Choice::Nothing => {
            let why = "no rule from the default target on links a program whose name is known without make: fill in `run`";
            remarks.extend(builds.is_some().then(|| why.to_owned()));
            None
        }
    };
    let files = makefile.files.iter().map(|file| file.display().to_string()).collect();
    Some(Made { builds, run, files, remarks })
}

/// How all is built anew, because a copy of the folder holds what was built there.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    /// The makefile removes it.
    Clean,
    /// Make takes nothing for up to date.
    Always,
}

/// Whether a rule makes `clean`.
fn has_clean(makefile: &Makefile) -> bool {
    let mut targets = makefile.rules.iter().filter_map(|rule| makefile.expand(&rule.targets));
    targets.any(|all| all.split_whitespace().any(|target| target == "clean"))
}

/// Whether a path leads into the folder.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// What stands in the way of building copies.
fn remarks(makefile: &Makefile, has_no_compiler: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    let outside = makefile.files.iter().chain(&makefile.missing).find(|file| !is_below(file));
    if let Some(file) = outside {
        remarks.push(format!(
            "{} lies outside of this folder, and copies lack it: move acc2omp.toml to the folder that holds both, and begin the commands with `cd FOLDER &&`",
            file.display()
        ));
    }
    if let Some(file) = makefile.missing.iter().find(|file| is_below(file)) {
        remarks.push(format!("{}, which the makefile includes, is not there", file.display()));
    }
    let called = makefile.rules.iter().flat_map(|rule| &rule.recipe).find_map(|line| {
        let word = plain(line).split_whitespace().next()?;
        Compiler::called(word).map(|_| word.to_owned())
    });
    if let Some(word) = called {
        remarks.push(format!(
            "commands of the makefile call `{word}` by name: write a variable for it, as $(CC)"
        ));
    } else if has_no_compiler {
        remarks.push(
            "no variable that its commands use is set to a compiler that acc2omp knows, as CC, CXX, FC, F77"
                .to_owned(),
        );
    }
    remarks
}

/// A command without the signs before it.
fn plain(line: &str) -> &str {
    line.trim_start_matches(['@', '-', '+', ' '])
}

/// The variables that name compilers, those alone that must be set anew.
fn compilers(makefile: &Makefile) -> Vec<Named> {
    let mut used = makefile.used();
    let is_set = |name: &&str| makefile.value(name).is_some();
    used.extend(["CC", "CXX", "FC"].iter().filter(|name| is_set(name)).map(|name| (*name).to_owned()));
    let all: Vec<Named> = used.iter().filter_map(|name| compiler(makefile, name)).collect();
    // Of `LINK = $(CC)`, CC alone is set; of `CC = $(CC_$(WHO))`, CC is, too, and CC_GNU is not.
    let is_known = |name: &String| all.iter().any(|one| one.variable == *name);
    let first = |one: &Named| {
        let value = makefile.value(&one.variable)?;
        let word = value.trim_start().starts_with('$').then_some(value)?;
        let names = makefile.names(word);
        Some((names.first().cloned()?, names.last().cloned()?, word.starts_with("$(") && names.len() > 1))
    };
    let hidden: BTreeSet<String> = all
        .iter()
        .filter_map(|one| {
            let (inner, name, _) = first(one)?;
            let value = makefile.value(&one.variable)?.trim_start();
            let is_computed = value[2..].split([')', '}']).next().is_some_and(|name| name.contains('$'));
            match is_computed {
                true => Some(name),
                false => is_known(&inner).then(|| one.variable.clone()),
            }
        })
        .collect();
    let mut all: Vec<Named> = all.into_iter().filter(|one| !hidden.contains(&one.variable)).collect();
    all.sort_by_key(|one| (one.compiler.kind, one.variable.clone()));
    all
}

/// The compiler that a variable names.
fn compiler(makefile: &Makefile, name: &str) -> Option<Named> {
    let value = makefile.value(name).map(|value| makefile.expand(value));
    let text = value.clone().flatten().unwrap_or_default();
    let mut words = text.split_whitespace().peekable();
    while words.peek().is_some_and(|word| ["ccache", "sccache", "distcc"].contains(word)) {
        words.next();
    }
    let program = words.next().unwrap_or_default().to_owned();
    let mut compiler = match Compiler::called(&program) {
        Some(compiler) => compiler,
        // A list of flags or files is not a compiler, whatever its name is.
        None if text.is_empty() => Compiler::of_variable(name)?,
        None => Compiler::of_variable(name).filter(|_| !program.starts_with('-'))?,
    };
    compiler.is_mpi |= name.to_uppercase().split('_').any(|part| part.starts_with("MPI"));
    // A command for compilations has a variable for the compiler, if `-c` is in it.
    let rest: Vec<&str> = words.collect();
    (!rest.contains(&"-c")).then(|| Named {
        variable: name.to_owned(),
        compiler,
        program,
        rest: for_gcc(&rest).0.join(" "),
    })
}

/// The variables whose flags are not all for gcc and clang, with those that are, and the other flags.
fn flags(makefile: &Makefile, named: &[Named]) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut set, mut dropped) = (BTreeMap::new(), BTreeSet::new());
    let mut used = makefile.used();
    // Make's own rules use them.
    used.extend(["CFLAGS", "CXXFLAGS", "FFLAGS", "CPPFLAGS", "LDFLAGS"].map(str::to_owned));
    used.retain(|name| named.iter().all(|one| one.variable != *name));
    for name in used {
        let Some(value) = makefile.value(&name).filter(|value| !value.contains('\'')) else { continue };
        let is_flags = value.split_whitespace().next().is_some_and(|word| word.starts_with(['-', '$']));
        let words: Vec<&str> = value.split_whitespace().collect();
        let (kept, mut gone) = for_gcc(&words);
        gone.retain(|word| !is_overriding(makefile, &name, word));
        if is_flags && !gone.is_empty() {
            set.insert(name, kept.join(" "));
            dropped.extend(gone.into_iter().map(str::to_owned));
        }
    }
    (set, dropped.into_iter().collect())
}

/// Whether a word of a variable stays because of `override`.
fn is_overriding(makefile: &Makefile, name: &str, word: &str) -> bool {
    let of = makefile::Of::Override(name.to_owned());
    let mut lines = makefile.lines.iter().filter(|line| line.of == of);
    lines.any(|line| line.text.split_whitespace().any(|one| one == word))
}

/// What is said of a line whose flags or compiler stay, whatever the command line sets.
fn staying(
    makefile: &Makefile,
    named: &[Named],
    set: &BTreeMap<String, String>,
    Line { place, text, of }: &Line,
) -> Option<String> {
    let names_compiler = |name: &String| named.iter().any(|one| one.variable == *name);
    let why = match of {
        makefile::Of::Override(name) if names_compiler(name) => {
            return Some(format!(
                "{place} sets `{name}` with `override`, and the command line cannot change it: take `override` out"
            ));
        }
        makefile::Of::Override(_) => "`override` keeps it: take `override` out",
        // The command line counts.
        makefile::Of::Target(name) if names_compiler(name) || set.contains_key(name) => return None,
        makefile::Of::Target(_) => "it is set for one target alone: set the variable in the commands",
        makefile::Of::Recipe => {
            let calls = |name: &String| {
                let value = makefile.expand(&format!("$({name})")).unwrap_or_default();
                names_compiler(name) || value.split_whitespace().next().and_then(Compiler::called).is_some()
            };
            makefile.names(text).iter().find(|name| calls(name))?;
            "it stands in a command: write a variable for it, as $(ACCFLAGS)"
        }
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let gone = for_gcc(&words).1;
    (!gone.is_empty()).then(|| {
        format!(
            "{place} holds `{}`, which is not for gcc and clang: the reference build may fail because of it; {why}",
            gone.join(" ")
        )
    })
}

/// The command that builds a program. With the name of the compiler, the flags of the makefile stay what they are: it may say
/// there where headers are.
fn build(of: Of, again: Again, named: &[Named], flags: &BTreeMap<String, String>) -> String {
    let mut before = BTreeSet::new();
    let mut variables = String::new();
    for Named { variable, compiler, program, rest } in named {
        let language = &LANGUAGES[compiler.kind as usize];
        let plain = if of == Of::Test { language.clang } else { language.gcc };
        let (script, names) = match compiler.kind {
            Kind::C => ("mpicc", ["OMPI_CC", "MPICH_CC"]),
            Kind::Cpp => ("mpicxx", ["OMPI_CXX", "MPICH_CXX"]),
            Kind::Fortran => ("mpif90", ["OMPI_FC", "MPICH_FC"]),
        };
        let calls = if compiler.is_mpi {
            before.extend(names.map(|name| format!("{name}={plain} ")));
            if program.starts_with("mpi") && !program.starts_with("mpii") { program } else { script }
        } else {
            plain
        };
        let launcher =
            if of == Of::Test { format!("acc2omp {} -- ", language.command) } else { String::new() };
        let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
        // These link the library of mathematical functions by themselves.
        let is_linked = ["pgcc", "nvc"].iter().any(|name| program.ends_with(name));
        let library = if is_linked { " -Wl,--no-as-needed -lm" } else { "" };
        variables += &format!(" {variable}='{launcher}{calls}{rest} {}{library}'", of.options(language));
    }
    let before: String = before.into_iter().collect();
    let flags: String = flags.iter().map(|(name, value)| format!(" {name}='{value}'")).collect();
    match again {
        Again::Clean => format!("make clean; {before}make{variables}{flags}"),
        Again::Always => format!("{before}make -B{variables}{flags}"),
    }
}

/// The programs that a makefile links, from the rule on that make begins with.
fn programs(makefile: &Makefile, root: &Path) -> Vec<Program> {
    let first = makefile.rules.iter().find_map(|rule| {
        let targets = makefile.expand(&rule.targets)?;
        let target = targets.split_whitespace().next()?.to_owned();
        (!target.starts_with('.') && !target.contains('%')).then_some(target)
    });
    let mut all = Vec::new();
    if let Some(first) = first {
        linked(makefile, root, &first, &mut BTreeSet::new(), &mut all);
    }
    all
}

/// The rules for a target.
fn rules<'m>(makefile: &'m Makefile, target: &str) -> Vec<&'m Rule> {
    let is_of = |rule: &&Rule| {
        makefile.expand(&rule.targets).is_some_and(|all| all.split_whitespace().any(|one| one == target))
    };
    makefile.rules.iter().filter(is_of).collect()
}

/// Finds the programs that are linked for a target.
fn linked(
    makefile: &Makefile,
    root: &Path,
    target: &str,
    seen: &mut BTreeSet<String>,
    all: &mut Vec<Program>,
) {
    if !seen.insert(target.to_owned()) {
        return;
    }
    let rules = rules(makefile, target);
    let recipe = rules.iter().flat_map(|rule| &rule.recipe);
    let outputs: Vec<(PathBuf, &String)> =
        recipe.filter_map(|line| Some((output(makefile, line, target)?, line))).collect();
    let is_one = outputs.iter().all(|(path, _)| *path == outputs[0].0);
    for (path, line) in &outputs {
        let mut sources = named_sources(makefile, root, line);
        if is_one {
            sources_of(makefile, root, target, &mut BTreeSet::new(), &mut sources);
        }
        programs::add(all, Program { path: path.clone(), sources });
    }
    if !outputs.is_empty() {
        return;
    }
    let needs: Vec<String> = rules.iter().filter_map(|rule| makefile.expand(&rule.needs)).collect();
    let mut needs: Vec<&str> = needs.iter().flat_map(|needs| needs.split_whitespace()).collect();
    let is_made_by_make = || {
        let has_object = needs.contains(&&*format!("{target}.o"));
        has_object || SOURCES.iter().any(|end| root.join(format!("{target}.{end}")).is_file())
    };
    let has_recipe = rules.iter().any(|rule| !rule.recipe.is_empty());
    if !has_recipe && !target.contains('.') && is_made_by_make() {
        let mut sources = BTreeSet::new();
        sources_of(makefile, root, target, &mut BTreeSet::new(), &mut sources);
        return programs::add(all, Program { path: PathBuf::from(target), sources });
    }
    needs.retain(|need| !need.ends_with(".o"));
    for need in needs {
        linked(makefile, root, need, seen, all);
    }
}

/// The sources that a command names.
fn named_sources(makefile: &Makefile, root: &Path, line: &str) -> BTreeSet<PathBuf> {
    let words: Vec<String> =
        line.split_whitespace().map(|word| makefile.expand(word).unwrap_or_default()).collect();
    let words = words.iter().flat_map(|words| words.split_whitespace());
    words.filter(|word| programs::is_source(root, word)).map(PathBuf::from).collect()
}

/// Finds the sources that a target is made of, by its rules, those with patterns and those of make.
fn sources_of(
    makefile: &Makefile,
    root: &Path,
    target: &str,
    seen: &mut BTreeSet<String>,
    all: &mut BTreeSet<PathBuf>,
) {
    if !seen.insert(target.to_owned()) {
        return;
    }
    if programs::is_source(root, target) {
        all.insert(PathBuf::from(target));
    }
    let stem = target.strip_suffix(".o").unwrap_or(target);
    let own = SOURCES.iter().map(|end| format!("{stem}.{end}"));
    all.extend(own.filter(|name| programs::is_source(root, name)).map(PathBuf::from));
    for rule in &makefile.rules {
        let (Some(targets), Some(needs)) = (makefile.expand(&rule.targets), makefile.expand(&rule.needs))
        else {
            continue;
        };
        let of = |pattern: &str| {
            let (before, after) = pattern.split_once('%')?;
            target.strip_prefix(before)?.strip_suffix(after).map(str::to_owned)
        };
        let is_own = targets.split_whitespace().any(|one| one == target);
        let stem = targets.split_whitespace().find_map(of);
        if is_own {
            rule.recipe.iter().for_each(|line| all.extend(named_sources(makefile, root, line)));
        }
        for need in needs.split_whitespace() {
            match &stem {
                Some(stem) => {
                    let name = need.replacen('%', stem, 1);
                    if programs::is_source(root, &name) {
                        all.insert(PathBuf::from(name));
                    }
                }
                None if is_own => sources_of(makefile, root, need, seen, all),
                None => {}
            }
        }
    }
}

/// The program that a command links.
fn output(makefile: &Makefile, line: &str, target: &str) -> Option<PathBuf> {
    let line = plain(line).replace("$@", target).replace("$(@)", target);
    let command = line.rsplit(['&', ';']).find(|part| part.contains("-o") || part.contains('$'))?.trim();
    let calls = command.split_whitespace().next()?;
    let calls = makefile.expand(calls).unwrap_or_else(|| calls.to_owned());
    let is_compiler = |word: &str| Compiler::called(word).is_some();
    let compiles = calls.split_whitespace().next().is_some_and(is_compiler) || command.starts_with('$');
    let text: Vec<String> =
        command.split_whitespace().map(|word| makefile.expand(word).unwrap_or_default()).collect();
    let text = text.join(" ");
    let words: Vec<&str> = text.split_whitespace().collect();
    if !compiles || words.iter().any(|word| ["-c", "-S", "-E", "-shared", "-M", "-MM"].contains(word)) {
        return None;
    }
    let at = words.iter().position(|word| *word == "-o")?;
    let name = words.get(at + 1)?;
    let is_program =
        ![".o", ".a", ".so", ".mod"].iter().any(|end| name.ends_with(end)) && !name.contains('$');
    let is_step = |part: &Component| !matches!(part, Component::CurDir);
    is_program.then(|| Path::new(name).components().filter(is_step).collect())
}

/// How a program is run: as the makefile does itself, if it does.
fn run(makefile: &Makefile, program: &Path) -> String {
    let call = format!("./{}", program.display());
    let runs = |line: &String| {
        let line = makefile.expand(plain(line))?;
        let first = line.split_whitespace().next()?;
        let is_own = first == call || first.starts_with("mpi") || first.contains('=') || first == "srun";
        (is_own && line.split_whitespace().any(|word| word == call) && !line.contains("nvprof"))
            .then_some(line)
    };
    let own = makefile.rules.iter().flat_map(|rule| &rule.recipe).find_map(runs);
    own.unwrap_or_else(|| format!("{call} # and its arguments"))
}

#[cfg(test)]
mod tests;
