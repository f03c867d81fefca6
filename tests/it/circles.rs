//! Circles of files that import one another: small ones are tolerated, larger ones mean that a fact lives in the wrong file.
//!
//! Invariant: a path counts as an import of the file that its longest known prefix names; tests and comments do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::tidy::expand;
use super::{files, shown, text};

/// So many files may import one another in a circle.
const LARGEST: usize = 3;

/// Folders whose circles are still larger. An entry that is not needed any more is an error.
const STILL_LARGER: &[&str] = &["src/cuda"];

/// A module's path: `["sema", "parallel", "access"]`; none for the crate's root.
type Module = Vec<String>;

/// The modules by path, each with its file.
fn modules() -> BTreeMap<Module, String> {
    let names = files("src").into_iter().map(|path| shown(&path));
    let sources =
        names.filter(|name| name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "src/main.rs");
    sources.map(|name| (module_of(&name), name)).collect()
}

fn module_of(name: &str) -> Module {
    let path = name.trim_start_matches("src/").trim_end_matches(".rs");
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// The paths in a source that begin with `crate`, `self` or `super`, as paths from the crate's root.
fn named(source: &str, module: &Module) -> BTreeSet<Module> {
    let core = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = core.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let code = code.join("\n");
    let mut found = BTreeSet::new();
    for start in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_start =
                !code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'));
            let mut paths = Vec::new();
            if is_start {
                expand(&code[at..], "", &mut paths);
            }
            found.extend(paths.iter().map(|path| from_root(path, module)));
        }
    }
    found
}

fn from_root(path: &str, module: &Module) -> Module {
    let mut base = module.clone();
    let mut parts = path.split("::").peekable();
    while let Some(word) = parts.next_if(|part| matches!(*part, "crate" | "self" | "super")) {
        match word {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            _ => {}
        }
    }
    base.into_iter().chain(parts.map(str::to_owned)).collect()
}

/// Who imports whom.
fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let imported = |module: &Module, file: &String| {
        let longest = |mut path: Module| {
            while !modules.contains_key(&path) {
                path.pop()?;
            }
            Some(path)
        };
        let found = named(&text(super::root(file)), module).into_iter().filter_map(longest);
        found.filter(|other| other != module).collect()
    };
    modules.iter().map(|(module, file)| (module.clone(), imported(module, file))).collect()
}

/// Tarjan's search for strongly connected components.
struct Search<'a> {
    imports: &'a BTreeMap<Module, BTreeSet<Module>>,
    /// When a module was met, and the earliest one that it leads back to.
    met: BTreeMap<&'a Module, (usize, usize)>,
    open: Vec<&'a Module>,
    circles: Vec<BTreeSet<&'a Module>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, module: &'a Module) {
        let number = self.met.len();
        self.met.insert(module, (number, number));
        self.open.push(module);
        for other in &self.imports[module] {
            if !self.met.contains_key(other) {
                self.visit(other);
            }
            if self.open.contains(&other) {
                let earliest = self.met[other].1.min(self.met[module].1);
                self.met.insert(module, (number, earliest));
            }
        }
        if self.met[module].1 == number {
            let at = self.open.iter().position(|one| *one == module).unwrap();
            self.circles.push(self.open.split_off(at).into_iter().collect());
        }
    }
}

fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<&Module>> {
    let mut search = Search { imports, met: BTreeMap::new(), open: Vec::new(), circles: Vec::new() };
    for module in imports.keys() {
        if !search.met.contains_key(module) {
            search.visit(module);
        }
    }
    search.circles
}

#[test]
fn no_large_circle_of_files() {
    let modules = modules();
    let imports = imports(&modules);
    let mut needed = BTreeSet::new();
    let mut wrong = Vec::new();
    for circle in circles(&imports).iter().filter(|circle| circle.len() > LARGEST) {
        let files: Vec<&str> = circle.iter().map(|module| modules[*module].as_str()).collect();
        let all_in = |folder: &&&str| files.iter().all(|file| file.starts_with(**folder));
        match STILL_LARGER.iter().find(all_in) {
            Some(folder) => drop(needed.insert(*folder)),
            None => wrong.push(format!("{} files import one another: {}", files.len(), files.join(", "))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let spare: Vec<&&str> = STILL_LARGER.iter().filter(|folder| !needed.contains(**folder)).collect();
    assert!(spare.is_empty(), "these have no large circle any more: {spare:?}");
}

#[test]
fn paths_are_resolved_from_the_root() {
    let module: Module = ["a", "b"].map(str::to_owned).into();
    let source = "use super::c::{D, e};\nuse crate::f::G; // crate::no\nlet x = self::h::i();\n#[cfg(test)]\nuse super::j;";
    let expected = [["a", "c", "D"], ["a", "c", "e"], ["a", "b", "h"]];
    let found = named(source, &module);
    for path in expected {
        assert!(found.iter().any(|one| one.starts_with(&path.map(str::to_owned))), "{path:?}: {found:?}");
    }
    assert!(found.contains(["f", "G"].map(str::to_owned).as_slice()), "{found:?}");
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn circles_are_found() {
    let graph = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d")];
    let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (one, other) in graph {
        imports.entry(vec![one.to_owned()]).or_default().insert(vec![other.to_owned()]);
    }
    let mut sizes: Vec<usize> = circles(&imports).iter().map(BTreeSet::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 3]);
}
