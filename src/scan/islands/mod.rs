//! The functions of a file that have nothing to do with its directives, and need not be read.
//!
//! Invariant: a function is read if it shares a function or a variable of the file with one that holds a directive, directly or
//! through others; so is what is not certain to be a function.

mod c;
mod fortran;
mod found;
mod parts;
mod token;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::{Language, SourceFile, Span};

use super::{Define, DirectiveText, Scan, shadow};

use found::{Found, Function, Text, words};

pub use parts::{Parts, parts};

/// What a body holds of OpenACC or OpenMP, or of directives at all.
const OURS: [&[u8]; 6] = [b"acc_", b"openacc", b"_OPENACC", b"omp_", b"_OPENMP", b"ragma"];

/// The same in Fortran, in lower case.
const OURS_IN_FORTRAN: [&[u8]; 7] = [b"acc_", b"openacc", b"omp_", b"_openmp", b"!$", b"$omp", b"!@acc"];

/// A header of a file, or a file of Fortran that it uses.
#[derive(Debug)]
pub struct Beside<'a> {
    /// What it holds.
    pub scan: &'a Scan,
    /// The names of variables that it declares for the file.
    pub variables: Vec<&'a str>,
}

/// The functions that have nothing to do with the directives of a scan.
pub fn functions_apart(file: &SourceFile, scan: &Scan, headers: &[Beside]) -> Vec<Span> {
    with_graph(file, scan, headers, |graph| graph.apart(scan)).unwrap_or_default()
}

/// Does something with the graph of a file; `None` if it is not clear what its functions are.
fn with_graph<T>(
    file: &SourceFile,
    scan: &Scan,
    headers: &[Beside],
    work: impl FnOnce(&Graph) -> T,
) -> Option<T> {
    let is_fortran = file.language.is_fortran();
    let lower = if is_fortran { file.bytes.to_ascii_lowercase() } else { Vec::new() };
    let text = Text { shadow: &scan.shadow, names: if is_fortran { &lower } else { &scan.shadow } };
    let found = match is_fortran {
        true => fortran::find(text, &scan.includes),
        false => c::find(&scan.shadow, file.language == Language::Cpp),
    };
    let Found { functions, mut variables, mut leads, read } = found?;
    let macros = macros(scan, headers, is_fortran);
    for (name, body) in &macros {
        leads.entry(name).or_default().extend(words(body));
    }
    variables.extend(headers.iter().flat_map(|one| &one.variables).map(|name| name.as_bytes()));
    variables.extend(functions.iter().flat_map(|function| function.names.iter().copied()));
    let uses = Uses::of(text, &functions, &variables, &leads);
    let mut names: Vec<&[u8]> = read.iter().flat_map(|span| text.words(*span)).collect();
    if !is_fortran {
        names.extend(headers.iter().flat_map(|header| c::read_of(&header.scan.shadow)));
    }
    let bytes = if is_fortran { &lower } else { &file.bytes };
    let ours = if is_fortran { &OURS_IN_FORTRAN[..] } else { &OURS };
    Some(work(&Graph { functions, leads, uses, names, bytes, ours }))
}

/// The functions of a file, and what leads from one to another.
struct Graph<'t> {
    functions: Vec<Function<'t>>,
    /// The names that stand for other ones.
    leads: FxHashMap<&'t [u8], Vec<&'t [u8]>>,
    uses: Uses<'t>,
    /// What is named outside of functions, where any word may name one.
    names: Vec<&'t [u8]>,
    /// The file; in Fortran in lower case.
    bytes: &'t [u8],
    /// What a function holds that may be of OpenACC or OpenMP.
    ours: &'t [&'t [u8]],
}

impl<'t> Graph<'t> {
    /// Whether a function is read, whatever leads to it.
    fn is_ours(&self, function: &Function) -> bool {
        let bytes = self.bytes.get(function.whole.range()).unwrap_or_default();
        function.is_kept || self.ours.iter().any(|word| memchr::memmem::find(bytes, word).is_some())
    }

    /// The function that a place is in.
    fn at(&self, place: u32) -> Option<usize> {
        let next = self.functions.partition_point(|function| function.whole.end <= place);
        self.functions.get(next).filter(|function| function.whole.start <= place).map(|_| next)
    }

    /// The words of a directive.
    fn words(&self, text: &DirectiveText) -> impl Iterator<Item = &'t [u8]> {
        words(self.bytes.get(text.span.range()).unwrap_or_default())
    }

    /// The functions that have nothing to do with the directives of a scan.
    fn apart(&self, scan: &Scan) -> Vec<Span> {
        let functions = &self.functions;
        let mut names = self.names.clone();
        let mut pending: Vec<usize> =
            (0..functions.len()).filter(|at| self.is_ours(&functions[*at])).collect();
        // Directives, and what they name where no function holds them.
        for text in &scan.directives {
            for place in [text.span.start, text.next_code] {
                match self.at(place) {
                    Some(at) => pending.push(at),
                    None => names.extend(self.words(text)),
                }
            }
        }
        let kept = self.uses.reached(pending, names, &self.leads);
        let apart = functions.iter().zip(kept).filter(|(function, is_kept)| !is_kept && !function.stays);
        apart.map(|(function, _)| function.whole).collect()
    }
}

/// The macros of a file and its headers, with what they stand for; in Fortran in lower case, as the preprocessors of some
/// compilers read them.
fn macros(scan: &Scan, headers: &[Beside], is_fortran: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let spelled = |text: &str| match is_fortran {
        true => text.to_ascii_lowercase().into_bytes(),
        false => text.as_bytes().to_vec(),
    };
    let all = headers.iter().flat_map(|header| &header.scan.defines).chain(&scan.defines);
    all.map(|define: &Define| (spelled(&define.name), spelled(&define.body))).collect()
}

/// Which function names what.
struct Uses<'t> {
    /// The functions that name a function or a variable.
    users: FxHashMap<&'t [u8], Vec<usize>>,
    /// What each function names of these, by itself and by macros.
    named: Vec<Vec<&'t [u8]>>,
}

impl<'t> Uses<'t> {
    fn of(
        text: Text<'t>,
        functions: &[Function],
        shared: &FxHashSet<&'t [u8]>,
        leads: &FxHashMap<&'t [u8], Vec<&'t [u8]>>,
    ) -> Uses<'t> {
        let mut users: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
        let mut named = Vec::with_capacity(functions.len());
        for (at, function) in functions.iter().enumerate() {
            let mut met: FxHashSet<&[u8]> = FxHashSet::default();
            let mut found = Vec::new();
            let mut more: Vec<&[u8]> = Vec::new();
            for word in text.words(function.whole) {
                more.push(word);
                while let Some(word) = more.pop() {
                    let is_shared = shared.contains(word);
                    let leading = leads.get(word);
                    if (is_shared || leading.is_some()) && met.insert(word) {
                        more.extend(leading.into_iter().flatten());
                        found.extend(is_shared.then_some(word));
                    }
                }
            }
            for name in &found {
                users.entry(name).or_default().push(at);
            }
            named.push(found);
        }
        Uses { users, named }
    }

    /// Whether each function is reached from some of them and from some names.
    fn reached(
        &self,
        mut pending: Vec<usize>,
        mut names: Vec<&'t [u8]>,
        leads: &FxHashMap<&'t [u8], Vec<&'t [u8]>>,
    ) -> Vec<bool> {
        let mut kept = vec![false; self.named.len()];
        let mut known: FxHashSet<&[u8]> = FxHashSet::default();
        loop {
            while let Some(name) = names.pop() {
                if known.insert(name) {
                    pending.extend(self.users.get(name).into_iter().flatten());
                    names.extend(leads.get(name).into_iter().flatten());
                }
            }
            let Some(at) = pending.pop() else { return kept };
            if !std::mem::replace(&mut kept[at], true) {
                names.extend(&self.named[at]);
            }
        }
    }
}

/// Overwrites bytes of a shadow by blanks.
pub fn blank(shadow: &mut [u8], spans: &[Span]) {
    for span in spans {
        shadow::blank(shadow, *span);
    }
}

#[cfg(test)]
mod tests;
