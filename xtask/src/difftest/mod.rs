//! Builds and runs every fixture as OpenACC and as its translation, and compares what they print.
//!
//! Invariant: a fixture passes only if the translation was built, ran on a device where the compiler has one, launched
//! at least as many kernels as the original has constructs, and printed the same; before that, programs that are wrong
//! have shown that they are found.

mod canary;
pub mod case;
pub mod compare;
pub mod fixture;
mod gpu;
mod page;
pub mod same;
mod spent;
mod together;
pub mod toolchain;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::case::{Case, Tally};
use self::fixture::Fixture;
use self::together::Together;
use self::toolchain::{Toolchain, Toolchains};
use crate::hunt::Language;
use crate::{Result, Verdict, process};

/// No compiler and no fixture may take longer.
const LIMIT: Duration = Duration::from_secs(120);

/// The whole tree is translated at once.
const TRANSLATION_LIMIT: Duration = Duration::from_secs(60);

/// Which comparisons to make.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Only the fixtures whose name holds NAME
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Only programs in a language
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<Language>,

    /// The profiles to translate for [default: all]
    #[arg(long, value_name = "PROFILE")]
    profile: Vec<Profile>,

    /// Only the translations to CUDA
    #[arg(long)]
    cuda: bool,

    /// Put the translations to CUDA into DIR, with a script that builds and runs them on a GPU
    #[arg(long, value_name = "DIR", conflicts_with_all = ["profile", "keep"])]
    gpu: Option<PathBuf>,

    /// Keep the translations and the programs, and say where they are
    #[arg(long)]
    keep: bool,

    /// Translate with this program instead of the acc2omp of this tree
    #[arg(long, value_name = "PROGRAM")]
    translator: Option<PathBuf>,
}

/// A profile of the translator, by its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// One flat loop.
    Generic,
    /// Tuned for clang.
    Clang,
    /// Tuned for gcc.
    Gcc,
    /// For a compiler that takes lanes from `simd`.
    Cray,
}

impl Profile {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Generic => "generic",
            Profile::Clang => "clang",
            Profile::Gcc => "gcc",
            Profile::Cray => "cray",
        }
    }
}

/// Translations of one kind, in a folder of their own, and what builds them.
pub struct Output {
    /// The folder's name.
    pub name: String,
    /// The translator's options.
    options: Vec<String>,
    /// What builds them.
    pub toolchains: &'static [Toolchain],
    /// The original stands beside the translation.
    pub guarded: bool,
    /// It does so under macros of our own.
    named: bool,
}

/// The macros of `--guard`, under which OpenACC and OpenMP stand.
const MACROS: [&str; 2] = ["BY_ACC", "BY_OMP"];

impl Output {
    fn is_cuda(&self) -> bool {
        self.options.iter().any(|option| option == "cuda")
    }

    /// The translations for a profile.
    pub fn of_profile(profile: Profile) -> Output {
        let name = profile.name().to_owned();
        let options = vec!["--profile".to_owned(), name.clone()];
        Output { name, options, guarded: false, named: false, toolchains: Toolchain::of(profile) }
    }

    /// The translations of Fortran for a profile; `None` if no compiler at hand stands for it.
    fn of_fortran(profile: Profile) -> Option<Output> {
        let toolchains = Toolchain::of_fortran(profile);
        (!toolchains.is_empty()).then(|| Output { toolchains, ..Output::of_profile(profile) })
    }

    /// The original and the translation side by side.
    fn guarded() -> Output {
        let toolchains = &[Toolchain::OpenAcc, Toolchain::GccOpenMp, Toolchain::ClangOpenMp];
        let options = vec!["--guard".to_owned()];
        Output { name: "guard".to_owned(), options, guarded: true, named: false, toolchains }
    }

    /// The same under macros of our own: with neither of them, with the one, and with the other.
    fn named() -> Output {
        let toolchains = &[Toolchain::Plain, Toolchain::OpenAcc, Toolchain::GccOpenMp];
        let options = vec![format!("--guard={}", MACROS.join(","))];
        Output { name: "guard-names".to_owned(), options, guarded: true, named: true, toolchains }
    }

    /// What a compiler gets for them.
    pub fn given(&self, toolchain: Toolchain, is_fortran: bool) -> Vec<String> {
        let [acc, omp] = MACROS;
        let chosen = match toolchain {
            Toolchain::OpenAcc => Some(acc),
            Toolchain::GccOpenMp => Some(omp),
            _ => None,
        };
        let preprocess = (self.named && is_fortran).then(|| "-cpp".to_owned());
        let define = chosen.filter(|_| self.named).map(|name| format!("-D{name}"));
        preprocess.into_iter().chain(define).collect()
    }

    /// The translations to CUDA.
    fn cuda() -> Output {
        let options = ["--to", "cuda"].map(str::to_owned).to_vec();
        let toolchains = &[Toolchain::Shim, Toolchain::Nvcc];
        Output { name: "cuda".to_owned(), options, guarded: false, named: false, toolchains }
    }

    fn of_examples(target: page::Target) -> Output {
        let page::Target { version, sync, by_loops, fortran } = target;
        let dotted = format!("{}.{}", version / 10, version % 10);
        let mut options = vec!["--omp".to_owned(), dotted];
        let mut name = format!("omp{version}");
        if sync {
            options.extend(["--async".to_owned(), "sync".to_owned()]);
            name += "-sync";
        }
        if by_loops {
            options.extend(["--nest".to_owned(), "loop".to_owned()]);
            name += "-loop";
        }
        if fortran {
            name += "-fortran";
        }
        Output {
            name,
            options,
            guarded: false,
            named: false,
            toolchains: Toolchain::of_version(version, fortran),
        }
    }
}

/// Programs that are translated in the same ways.
pub struct Suite {
    /// Where they are.
    pub folder: PathBuf,
    /// The programs that can be built.
    pub fixtures: Vec<Fixture>,
    /// How they are translated.
    pub outputs: Vec<Output>,
    /// Where their translations and programs go: names are unique in a suite, and in all suites of one place.
    pub work: PathBuf,
}

/// Makes the comparisons; the last line printed counts them.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = root()?;
    let work = tempfile::Builder::new().prefix("acc2omp-difftest-").tempdir().map_err(|e| e.to_string())?;
    let mut toolchains = Toolchains::find()?;
    let mut suites = suites(options, &root, work.path())?;
    toolchains = toolchains.with_cuda(&root)?;
    suites.iter_mut().for_each(|suite| with_cuda(suite, options.cuda || options.gpu.is_some()));
    for suite in &mut suites {
        let has_name =
            |fixture: &Fixture| options.only.as_ref().is_none_or(|name| fixture.name.contains(name.as_str()));
        let is_in = |fixture: &Fixture| options.language.is_none_or(|wanted| fixture.language() == wanted);
        suite.fixtures.retain(|fixture| has_name(fixture) && is_in(fixture));
    }
    if suites.iter().all(|suite| suite.fixtures.is_empty()) {
        return Err("no fixture and no example has such a name".to_owned());
    }
    let translator = match &options.translator {
        Some(program) => program.clone(),
        None => build(&root)?,
    };
    if let Some(folder) = &options.gpu {
        return gpu::fill(folder, &root, suites, &toolchains, &translator);
    }
    let mut tally = Tally::default();
    let mut in_units = 0;
    for suite in suites.iter().filter(|suite| !suite.fixtures.is_empty()) {
        translate(&translator, suite)?;
        if suite.outputs.iter().any(|output| output.toolchains.contains(&Toolchain::FlangDevice)) {
            canary::check(&root, &toolchains, &suite.work)?;
        }
        let together = Together::build(suite, &toolchains)?;
        in_units += together.len();
        tally = tally.and(&compare_all(suite, &toolchains, &together)?);
    }
    if options.keep {
        println!("kept in {}", work.keep().display());
    }
    println!("{}", toolchains.spent);
    println!("{in_units} built together with others");
    println!(
        "{} not made: the same compiler has built the same text, before or after its preprocessor",
        tally.same
    );
    println!("{} not run: the compiler or the translator does not know all that they use", tally.not_run);
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

/// Adds the translations of fixtures to CUDA, or leaves them alone.
fn with_cuda(suite: &mut Suite, alone: bool) {
    if alone {
        suite.outputs.clear();
    }
    match suite.folder.file_name().and_then(|name| name.to_str()) {
        Some("c" | "cpp" | "fortran") => suite.outputs.push(Output::cuda()),
        _ if alone => suite.fixtures.clear(),
        _ => {}
    }
}

/// The fixtures, and the examples of the rule pages for each version of OpenMP.
pub fn suites(options: &Options, root: &Path, work: &Path) -> Result<Vec<Suite>> {
    let mut suites = Vec::new();
    for folder in ["fixtures/c", "fixtures/cpp"].map(|folder| root.join(folder)) {
        let outputs = profiles(options)
            .into_iter()
            .map(Output::of_profile)
            .chain([Output::guarded(), Output::named()])
            .collect();
        suites.push(Suite { fixtures: fixture::all(&folder)?, folder, outputs, work: work.to_path_buf() });
    }
    suites.push(fortran(options, root, work)?);
    for target in page::targets() {
        let output = Output::of_examples(target);
        let folder = work.join(format!("examples-{}", output.name));
        let fixtures = page::all(root, &folder, target)?;
        suites.push(Suite { folder, fixtures, outputs: vec![output], work: work.to_path_buf() });
    }
    Ok(suites)
}

/// The fixtures in Fortran. Some have the name of one in C, so that they have a place of their own.
fn fortran(options: &Options, root: &Path, work: &Path) -> Result<Suite> {
    let (folder, work) = (root.join("fixtures/fortran"), work.join("fortran"));
    let outputs =
        profiles(options).into_iter().filter_map(Output::of_fortran).chain([Output::named()]).collect();
    Ok(Suite { fixtures: fixture::all(&folder)?, folder, outputs, work })
}

fn profiles(options: &Options) -> Vec<Profile> {
    match options.profile.as_slice() {
        [] => Profile::value_variants().to_vec(),
        chosen => chosen.to_vec(),
    }
}

/// The folder of the workspace.
pub fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).ok_or_else(|| format!("{} has no parent", here.display()))
}

/// Translates a suite in each of its ways.
pub fn translate(translator: &Path, suite: &Suite) -> Result<()> {
    for output in &suite.outputs {
        let place = suite.work.join(&output.name);
        translate_into(&place, translator, output, &suite.folder, &[])?;
        for fixture in &suite.fixtures {
            let more = fixture.marks.for_translator(output.is_cuda());
            if !more.is_empty() {
                translate_into(&place.join(&fixture.name), translator, output, &fixture.folder, &more)?;
            }
        }
    }
    Ok(())
}

fn translate_into(
    place: &Path,
    translator: &Path,
    output: &Output,
    folder: &Path,
    given: &[String],
) -> Result<()> {
    let mut command = Command::new(translator);
    // What is reported something is translated once more, over its translation with all others.
    command.arg(folder).arg("-o").arg(place).args(&output.options).args(given).args(["--quiet", "--force"]);
    let output = process::capture(&mut command, TRANSLATION_LIMIT)?;
    // 1 says that a directive is left untranslated; which one, and whether it may be, is seen in the text.
    match output.status.and_then(|status| status.code()) {
        Some(0 | 1) => Ok(()),
        _ => Err(format!("{}: {}\n{}", translator.display(), output.end(), output.stderr)),
    }
}

/// Builds the translator; it lies beside this program.
pub fn build(root: &Path) -> Result<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    // All programs of the workspace: for one alone cargo builds another library than the tests have.
    command.current_dir(root).args(["build", "--quiet", "--workspace", "--bins"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    process::show(&mut command)?;
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(here.with_file_name("acc2omp"))
}

/// Takes the fixtures one by one.
fn compare_all(suite: &Suite, toolchains: &Toolchains, together: &Together) -> Result<Tally> {
    each(&suite.fixtures, |fixture| {
        let case = Case { fixture, toolchains, work: &suite.work, together: Some(together) };
        case::run(&case, &suite.outputs)
    })
}

/// Does `job` for each of the items, on as many threads as there are processors, and adds up.
pub fn each<T: Sync>(items: &[T], job: impl Fn(&T) -> Result<Tally> + Sync) -> Result<Tally> {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Ok(Tally::default()));
    let take = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = job(item);
            let Ok(mut total) = total.lock() else { return };
            *total = match (std::mem::replace(&mut *total, Ok(Tally::default())), outcome) {
                (Ok(sum), Ok(more)) => Ok(sum.and(&more)),
                (Err(why), _) | (_, Err(why)) => Err(why),
            };
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(take);
        }
    });
    total.into_inner().map_err(|error| error.to_string())?
}
