//! The builds that read other branches of headers, and of the modules of Fortran, than the one that a file is translated for.
//!
//! Invariant: each finds in its headers what the file names; what is common to all builds is read once.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scan::{self, Branched, Fork, Outline};
use crate::source::{self, SourceFile};
use crate::{Header, OtherBuild, Source};

use super::{Headers, Walk};

/// So many builds are read that read other branches of headers.
const BUILDS: usize = 8;

/// Of so many such branches.
const BRANCHES: usize = 64;

/// A branch of a header that other builds read.
struct Other {
    path: PathBuf,
    /// The file's name without folder, and the branch's line, counted from 1.
    place: (String, usize),
    branched: Branched,
    /// The names that stand in the condition's branches.
    names: BTreeSet<String>,
}

impl Headers {
    /// The builds that read other branches of the headers of a file than those that `walk` has read, and find in them what the
    /// file names.
    pub(super) fn other_builds(
        &self,
        (source, outline): (&Source, &Outline),
        real: &Path,
        walk: &Walk,
    ) -> Vec<OtherBuild> {
        let file = (&source.file, outline);
        let mut builds: Vec<OtherBuild> = walk.with_shown_last().into_iter().collect();
        let mut others = walk.others(file, real);
        others.truncate(BRANCHES);
        let named = if others.is_empty() { BTreeSet::new() } else { source.names_of_headers() };
        while !others.is_empty() && builds.len() < BUILDS {
            let branched: Vec<&Branched> = others.iter().map(|other| &other.branched).collect();
            let mut groups = vec![scan::together(&branched)];
            let mut tried: BTreeSet<(String, usize)> = BTreeSet::new();
            while let Some(group) = groups.pop().filter(|_| builds.len() < BUILDS) {
                let mut there = Walk::new(self, file.0.language, real);
                there.assumed = group.iter().flat_map(|at| branched[*at].defines.clone()).collect();
                there.all(file, real);
                let is_whole = there.has(&named);
                if !is_whole && group.len() > 1 {
                    let (first, second) = group.split_at(group.len() / 2);
                    groups.extend([second.to_vec(), first.to_vec()]);
                    continue;
                }
                let is_read = |other: &&Other| {
                    there.shown.get(&other.path).is_some_and(|shown| other.branched.is_shown(shown))
                };
                let mut read: Vec<&Other> = others.iter().filter(is_read).collect();
                // Those come first that say something of what the file names.
                read.sort_by_key(|other| !other.names.iter().any(|name| named.contains(name)));
                let branches: Vec<_> = read.into_iter().map(|other| other.place.clone()).collect();
                tried.insert(others[group[0]].place.clone());
                if is_whole && !branches.is_empty() {
                    tried.extend(branches.iter().cloned());
                    let headers =
                        there.with_shown_last().map_or_else(|| there.headers(), |build| build.headers);
                    builds.push(OtherBuild { headers, branches });
                }
            }
            others.retain(|other| !tried.contains(&other.place));
        }
        builds
    }
}

impl Walk<'_> {
    /// Whether its headers, or the options of the build, have all these names.
    fn has(&self, names: &BTreeSet<String>) -> bool {
        let assumed = self.assumed.iter().map(|(name, _)| name.as_str());
        let own: HashSet<&str> =
            self.found.iter().flat_map(|(_, header)| header.names()).chain(assumed).collect();
        names.iter().all(|name| own.contains(name.as_str()))
    }

    /// The headers in another order, of which the last one with a name counts: those that the file is shown come after those that
    /// only other builds read. None if they do already.
    fn with_shown_last(&self) -> Option<OtherBuild> {
        let is_read = |(path, _): &&(PathBuf, Arc<Header>)| self.met.get(path) == Some(&true);
        let (read, others): (Vec<_>, Vec<_>) = self.found.iter().partition(is_read);
        let first = others.len();
        let all: Vec<&(PathBuf, Arc<Header>)> = others.into_iter().chain(read).collect();
        let is_other = all.iter().zip(&self.found).any(|(one, other)| one.0 != other.0);
        is_other.then(|| OtherBuild {
            headers: all.iter().map(|(_, header)| Arc::clone(header)).collect(),
            branches: all[..first].iter().map(|(path, _)| (file_name(path), 1)).collect(),
        })
    }

    /// The branches that other builds read: of the headers that are read, and those of the file itself that include others.
    fn others(&self, (file, outline): (&SourceFile, &Outline), real: &Path) -> Vec<Other> {
        let mut others = Vec::new();
        let mut add = |path: &Path, file: &SourceFile, forks: &[Fork]| {
            let Some(shown) = self.shown.get(path) else { return };
            for branched in scan::read_otherwise(file, forks, shown) {
                let place = (file_name(path), file.lines.line(branched.branch.start) + 1);
                let text = file.text(branched.text());
                let names = source::names(&text).map(str::to_owned).collect();
                others.push(Other { path: path.to_path_buf(), place, branched, names });
            }
        };
        for (path, header) in self.found.iter().filter(|(path, _)| self.met.get(path) == Some(&true)) {
            add(path, &header.file, &scan::forks(&header.file));
        }
        let mut forks = scan::forks(file);
        forks.retain(|fork| outline.includes().any(|(.., line)| fork.whole.contains(line)));
        add(real, file, &forks);
        others
    }
}

/// A file's name without folder.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
