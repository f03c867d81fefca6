//! The folders that a compiler searches for headers by itself: scripts around compilers add some.
//!
//! Invariant: the compiler is asked once at most, and only for a file that no option of the command finds.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::build::in_real_folder;
use crate::source::Language;

/// How compilers begin and end the list of these folders.
const BEGIN: &str = "#include \"...\" search starts here:";
const END: &str = "End of search list.";

/// What lies in these is the system's, and holds no OpenACC of the program.
const OF_SYSTEM: [&str; 3] = ["/usr/include", "/usr/lib", "/usr/local/include"];

/// The folders of one compiler, which are asked for when they are needed.
pub struct Folders {
    /// Its command without sources and outputs, up to the language.
    words: Vec<OsString>,
    /// Where it runs.
    here: PathBuf,
    known: OnceCell<Option<Vec<PathBuf>>>,
}

impl Folders {
    /// Those of the command that these words are, for a source of that language.
    pub fn of(words: &[OsString], language: Language, here: &Path) -> Folders {
        let name = match language {
            Language::Fortran(_) => "f95-cpp-input",
            Language::C => "c",
            _ => "c++",
        };
        let asking = ["-v", "-E", "-x", name, "/dev/null"].map(OsString::from);
        let words = words.iter().cloned().chain(asking).collect();
        Folders { words, here: here.to_path_buf(), known: OnceCell::new() }
    }

    /// The first file of this name; `Err` if the compiler does not say where it searches.
    pub fn find(&self, name: &str) -> Result<Option<PathBuf>, ()> {
        let folders = self.known.get_or_init(|| self.asked()).as_ref().ok_or(())?;
        let path = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        Ok(path.and_then(|path| in_real_folder(&path)))
    }

    /// What the compiler has said so far.
    pub fn known(&self) -> &[PathBuf] {
        self.known.get().and_then(Option::as_deref).unwrap_or_default()
    }

    fn asked(&self) -> Option<Vec<PathBuf>> {
        let (program, rest) = self.words.split_first()?;
        let mut command = Command::new(program);
        command.args(rest).current_dir(&self.here).env("LC_ALL", "C");
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let list = text.split_once(BEGIN)?.1.split_once(END)?.0;
        let lines = list.lines().filter_map(|line| line.strip_prefix(' '));
        let folders = lines.filter_map(|line| self.here.join(line.trim()).canonicalize().ok());
        Some(folders.filter(|folder| !OF_SYSTEM.iter().any(|system| folder.starts_with(system))).collect())
    }
}
