//! One unit of several programs.
//!
//! Invariant: each has names of its own, and the macros of none are there for the next one.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use acc2omp::source::Language;
use tree_sitter::Node;

use crate::audit::code::{nodes, tree};
use crate::difftest::fixture::{HEADERS, read_text};
use crate::{Result, cuda};

/// What a unit is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Programs in C, whose names are changed by macros.
    C,
    /// Programs in C++, each in a namespace.
    Cpp,
    /// Files of CUDA, each in a namespace.
    Device,
    /// Programs in C++ with kernels in them, each in a namespace.
    InPlace,
}

impl Form {
    /// The ending of the unit's name.
    pub fn ending(self) -> &'static str {
        match self {
            Form::C => "c",
            Form::Cpp => "cpp",
            Form::Device | Form::InPlace => "cu",
        }
    }

    fn has_main(self) -> bool {
        matches!(self, Form::C | Form::Cpp)
    }
}

/// Whether a source is in C++, by its name.
pub fn is_cpp(source: &str) -> bool {
    matches!(Language::of(Path::new(source)), Some(Language::Cpp))
}

/// The unit of some sources. The last word of its program's name says which of them runs.
pub fn text(form: Form, sources: &[PathBuf]) -> Result<String> {
    let (mut includes, mut members, mut cases) = (Vec::new(), String::new(), String::new());
    for (number, source) in sources.iter().enumerate() {
        let facts = Facts::of(form, source)?;
        for include in facts.includes {
            if !includes.contains(&include) {
                includes.push(include);
            }
        }
        let path = source.display();
        match form {
            Form::C => {
                for name in &facts.names {
                    let _ = writeln!(members, "#define {name} {name}_{number}");
                }
                let _ = writeln!(members, "#include \"{path}\"");
                for name in &facts.names {
                    let _ = writeln!(members, "#undef {name}");
                }
                let _ = writeln!(
                    cases,
                    "    case {number}: return ((int (*)(int, char **))main_{number})(argc, argv);"
                );
            }
            _ => {
                let _ = writeln!(members, "namespace member_{number} {{\n#include \"{path}\"\n}}");
                let _ = writeln!(cases, "    case {number}: return member_{number}::main();");
            }
        }
        for name in &facts.macros {
            let _ = writeln!(members, "#undef {name}");
        }
    }
    let mut whole = String::new();
    for include in ["<stdlib.h>".to_owned(), "<string.h>".to_owned()].iter().chain(&includes) {
        let _ = writeln!(whole, "#include {include}");
    }
    whole += &members;
    if form.has_main() {
        let _ = writeln!(
            whole,
            "int main(int argc, char **argv)\n{{\n    switch (atoi(strrchr(argv[0], '-') + 1)) {{\n{cases}    }}\n    return argc + 99;\n}}"
        );
    }
    Ok(whole)
}

/// What is known of a program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    /// What it includes that is not its own, with brackets or quotes.
    includes: Vec<String>,
    /// Its macros.
    macros: BTreeSet<String>,
    /// In C, what it declares at file scope.
    names: BTreeSet<String>,
}

/// Words that the grammar may take for names, where macros stand around them or in pragmas.
const NO_NAMES: [&str; 6] = ["complex", "data", "do", "enter", "for", "while"];

impl Facts {
    fn of(form: Form, source: &Path) -> Result<Facts> {
        let folder = source.parent().unwrap_or(Path::new(""));
        let mut files = vec![source.to_path_buf()];
        for ending in HEADERS {
            files.extend(cuda::files(folder, ending)?);
        }
        let mut facts = Facts::default();
        for file in &files {
            facts.read(form, folder, &read_text(file)?);
        }
        facts.names.retain(|name| !facts.macros.contains(name) && !NO_NAMES.contains(&name.as_str()));
        if form == Form::C {
            facts.names.insert("main".to_owned());
        }
        Ok(facts)
    }

    fn read(&mut self, form: Form, folder: &Path, text: &str) {
        let language = if form == Form::C { Language::C } else { Language::Cpp };
        let Some(tree) = tree(text.as_bytes(), language) else { return };
        let word = |node: Node| text.get(node.byte_range()).unwrap_or("").to_owned();
        for node in nodes(tree.root_node()) {
            let field = |name| node.child_by_field_name(name);
            match node.kind() {
                "preproc_def" | "preproc_function_def" => self.macros.extend(field("name").map(word)),
                "preproc_include" => {
                    self.includes.extend(field("path").map(word).and_then(|path| shared(folder, path)))
                }
                "function_definition" | "declaration" | "type_definition"
                    if form == Form::C && is_at_file_scope(node) =>
                {
                    let mut cursor = node.walk();
                    for declarator in node.children_by_field_name("declarator", &mut cursor) {
                        let is_prototype = node.kind() == "declaration" && is_function(declarator);
                        self.names.extend(innermost(declarator).filter(|_| !is_prototype).map(word));
                    }
                }
                "struct_specifier" | "union_specifier" | "enum_specifier"
                    if form == Form::C && is_at_file_scope(node) =>
                {
                    self.names.extend(field("name").filter(|_| field("body").is_some()).map(word));
                }
                "enumerator" if form == Form::C && is_at_file_scope(node) => {
                    self.names.extend(field("name").map(word))
                }
                _ => {}
            }
        }
    }
}

/// What stands in all programs' place: a header of the system, or one that lies outside of the program's folder.
fn shared(folder: &Path, path: String) -> Option<String> {
    let outside = path.strip_prefix("\"../").and_then(|rest| rest.strip_suffix('"'));
    match outside {
        Some(rest) => Some(format!("\"{}\"", folder.parent()?.join(rest).display())),
        None => path.starts_with('<').then_some(path),
    }
}

/// Whether no function is around a node.
fn is_at_file_scope(node: Node) -> bool {
    let mut around = node.parent();
    while let Some(outer) = around {
        if matches!(outer.kind(), "compound_statement" | "parameter_list") {
            return false;
        }
        around = outer.parent();
    }
    true
}

/// Whether a declarator is that of a function, and not of a pointer to one.
fn is_function(declarator: Node) -> bool {
    match declarator.kind() {
        "function_declarator" => declarator
            .child_by_field_name("declarator")
            .is_some_and(|inner| inner.kind() != "parenthesized_declarator"),
        "pointer_declarator" => declarator.child_by_field_name("declarator").is_some_and(is_function),
        _ => false,
    }
}

/// The name that a declarator declares.
fn innermost(declarator: Node) -> Option<Node> {
    let mut node = declarator;
    loop {
        match node.kind() {
            "identifier" | "type_identifier" => return Some(node),
            "parenthesized_declarator" => node = node.named_child(0)?,
            _ => node = node.child_by_field_name("declarator")?,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::{Form, text};

    #[test]
    fn names_of_a_program_in_c_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.c");
        let program = "#include <stdio.h>\n#include \"../lib.h\"\n#define N 4\nstruct point { int x; };\n\
                       enum { LOW, HIGH = N };\ntypedef struct point (*maker)(int);\nint other(int);\n\
                       static double a[N], *b = 0;\nint main(void)\n{\n    int inner = LOW;\n    return inner;\n}\n";
        fs::write(&source, program).unwrap();
        let unit = text(Form::C, &[source]).unwrap();
        let named = |line: &&str| line.starts_with("#define");
        let names: Vec<&str> = unit.lines().filter(named).filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(names, ["HIGH", "LOW", "a", "b", "main", "maker", "point"]);
        assert!(unit.contains("#undef N\n") && unit.contains("/lib.h\"\n"));
        assert!(unit.contains("case 0: return ((int (*)(int, char **))main_0)(argc, argv);"));
    }

    #[test]
    fn a_program_in_cpp_has_a_namespace() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.cpp");
        fs::write(&source, "#define M 1\nint main() { return M; }\n").unwrap();
        let unit = text(Form::Cpp, std::slice::from_ref(&source)).unwrap();
        let member = format!("namespace member_0 {{\n#include \"{}\"\n}}\n#undef M\n", source.display());
        assert!(unit.contains(&member) && unit.contains("case 0: return member_0::main();"));
        assert!(!text(Form::Device, &[source]).unwrap().contains("int main"));
    }
}
