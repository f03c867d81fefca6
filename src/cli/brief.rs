//! What files say of others at first sight: enough to find those that write directives by macros of their headers
//! alone.
//!
//! Invariant: says too much, never too little: comments and conditions are not looked at. What is kept of a file is kept for the
//! options that it was read with.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::scan;
use crate::source::Language;

use super::build::CompilerFlags;
use super::once::{Once, once};

/// What files say of OpenACC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// There is the operator that writes directives.
    pub has_operator: bool,
    /// There may be words of OpenACC.
    pub mentions_openacc: bool,
}

impl Said {
    /// What a text says.
    pub fn by(text: &[u8], language: Language) -> Said {
        Said {
            has_operator: scan::mentions_operator(text),
            mentions_openacc: scan::mentions_openacc(text, language),
        }
    }

    /// What both say.
    pub fn and(self, other: Said) -> Said {
        Said {
            has_operator: self.has_operator || other.has_operator,
            mentions_openacc: self.mentions_openacc || other.mentions_openacc,
        }
    }
}

/// What a file says at first sight.
#[derive(Debug)]
struct Brief {
    said: Said,
    /// The files that it includes.
    includes: Vec<PathBuf>,
}

/// A file by the number of its options, and the language of the file that includes it.
type Key = (usize, Language, PathBuf);

/// Finds a file that one in a folder includes by this name, and whether the name stands between quotes.
pub type Find<'f> = &'f dyn Fn(&Path, &str, bool) -> Option<PathBuf>;

/// What the files of a run say, each of which is read once for the same options.
#[derive(Debug, Default)]
pub struct Briefs {
    /// A number for all that is the same.
    options: Mutex<HashMap<Arc<CompilerFlags>, usize>>,
    known: Mutex<FxHashMap<Key, Once<Arc<Brief>>>>,
    /// Files that say nothing of OpenACC, nor does one that they lead to.
    silent: Mutex<FxHashSet<Key>>,
}

impl Briefs {
    /// What is said in a text that lies at `real`, and in what it and its options lead to.
    pub fn said(
        &self,
        (real, text, language): (&Path, &[u8], Language),
        flags: &Arc<CompilerFlags>,
        find: Find,
    ) -> Said {
        let number = {
            let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
            let next = options.len();
            *options.entry(Arc::clone(flags)).or_insert(next)
        };
        let key = |path: PathBuf| (number, language, path);
        let own = Brief::of(real, text, language, find);
        let mut said = own.said;
        let mut met: HashSet<PathBuf> = HashSet::from([real.to_path_buf()]);
        let mut open: Vec<PathBuf> = flags.first.iter().cloned().chain(own.includes).collect();
        while let Some(path) = open.pop() {
            if !met.insert(path.clone()) {
                continue;
            }
            let key = key(path);
            if self.silent.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
                continue;
            }
            let read = |path: &Path| Brief::of(path, &fs::read(path).unwrap_or_default(), language, find);
            let brief = once(&self.known, key.clone());
            let brief = brief.get_or_init(|| Arc::new(read(&key.2)));
            said = said.and(brief.said);
            open.extend(brief.includes.iter().filter(|path| !met.contains(*path)).cloned());
        }
        if said == Said::default() {
            let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
            silent.extend(met.into_iter().map(key));
        }
        said
    }
}

impl Brief {
    fn of(path: &Path, text: &[u8], language: Language, find: Find) -> Brief {
        let folder = path.parent().unwrap_or(Path::new(""));
        let names = included(text);
        let includes = names.iter().filter_map(|(name, is_quoted)| find(folder, name, *is_quoted));
        Brief { said: Said::by(text, language), includes: includes.collect() }
    }
}

/// The names that a text includes, and whether they stand between quotes.
pub fn included(text: &[u8]) -> Vec<(String, bool)> {
    memchr::memchr_iter(b'#', text).filter_map(|at| inclusion(text.get(at + 1..)?)).collect()
}

/// The name in what may be the rest of an `#include` line.
fn inclusion(rest: &[u8]) -> Option<(String, bool)> {
    let line = rest.trim_ascii_start();
    let name = line.strip_prefix(b"include").or_else(|| line.strip_prefix(b"import"))?.trim_ascii_start();
    let (close, is_quoted) = match name.first()? {
        b'"' => (b'"', true),
        b'<' => (b'>', false),
        _ => return None,
    };
    let name = name.get(1..)?;
    let end = memchr::memchr2(close, b'\n', name).filter(|end| name[*end] == close)?;
    Some((String::from_utf8_lossy(&name[..end]).into_owned(), is_quoted))
}

#[cfg(test)]
mod tests;
