//! The functions as Fortran calls them: their interfaces, and their calls.
//!
//! Invariant: the parameters of C++, the dummy arguments of the interface and the arguments of the call are in one order.

use super::types::Type;

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// The address of an array's first element.
    Array,
    /// A number or logical value.
    Value,
    /// The address of one.
    Reference,
    /// A bound of an array, or how many elements a dimension has.
    Size,
    /// The address of an array's first element, or of nothing.
    ArrayOrNothing,
    /// The address of a number or logical value, or of nothing.
    ValueOrNothing,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the parameter.
    pub name: String,
    /// How it is passed.
    pub passed: Passed,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// What the call gives for it.
    pub actual: String,
    /// The struct that its objects are.
    pub object: Option<String>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, in both languages.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Argument>,
}

impl Argument {
    fn parameter(&self) -> String {
        let (cpp, name) = (self.object.as_deref().unwrap_or(self.ty.cpp()), &self.name);
        match self.passed {
            Passed::Array | Passed::ArrayOrNothing => format!("{cpp} *{name}"),
            Passed::ValueOrNothing => format!("const {cpp} *{name}"),
            Passed::Value => format!("{cpp} {name}"),
            Passed::Reference => format!("{cpp} &{name}"),
            Passed::Size => format!("long {name}"),
        }
    }

    /// Its declaration in an interface, where its name is `dummy`.
    fn declaration(&self, dummy: &str) -> String {
        let fortran = self.ty.fortran();
        match self.passed {
            Passed::Array => format!("{fortran} :: {dummy}(*)"),
            Passed::ArrayOrNothing => format!("{fortran}, optional :: {dummy}(*)"),
            Passed::ValueOrNothing => format!("{fortran}, optional :: {dummy}"),
            Passed::Value => format!("{fortran}, value :: {dummy}"),
            Passed::Reference => format!("{fortran} :: {dummy}"),
            Passed::Size => format!("integer(c_long), value :: {dummy}"),
        }
    }
}

impl Function {
    /// Its head in C++.
    pub fn head(&self) -> String {
        let parameters: Vec<String> = self.args.iter().map(Argument::parameter).collect();
        format!("extern \"C\" void {}({})", self.name, parameters.join(", "))
    }

    /// The statement of Fortran that calls it.
    pub fn call(&self) -> String {
        let actual: Vec<&str> = self.args.iter().map(|arg| arg.actual.as_str()).collect();
        format!("call {}({})", self.name, actual.join(", "))
    }

    fn interface(&self) -> String {
        // A parameter of C++ may end with a mark that Fortran knows, too.
        let dummies: Vec<&str> = self.args.iter().map(|arg| arg.name.as_str()).collect();
        let mut lines = vec![
            format!("    subroutine {}({}) bind(c)", self.name, dummies.join(", ")),
            "      import".to_owned(),
        ];
        lines.extend(self.args.iter().map(|arg| format!("      {}", arg.declaration(&arg.name))));
        lines.push(format!("    end subroutine {}", self.name));
        lines.iter().map(|line| folded(line) + "\n").collect()
    }
}

/// The module `name` with the interfaces of functions; `source` is the file that calls them.
pub fn module(name: &str, source: &str, functions: &[Function]) -> String {
    let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    // Names of the intrinsic module would hide those of the program.
    let public = folded(&format!("  public :: {}", names.join(", ")));
    let interfaces: Vec<String> = functions.iter().map(Function::interface).collect();
    format!(
        "! What {source} calls of its device code, made by acc2omp from its OpenACC directives.\nmodule {name}\n  use, intrinsic :: iso_c_binding\n  implicit none\n  private\n{public}\n\n  interface\n{}  end interface\nend module {name}\n",
        interfaces.join("\n")
    )
}

/// A line of free form, continued where it grows too long.
fn folded(line: &str) -> String {
    const WIDTH: usize = 100;
    let indent = line.len() - line.trim_start().len();
    let mut out = String::new();
    let mut width = 0;
    for (at, piece) in line.split_inclusive(", ").enumerate() {
        if at > 0 && width + piece.len() > WIDTH {
            let end = out.trim_end().len();
            out.truncate(end);
            out.push_str(&format!(" &\n{}", " ".repeat(indent + 4)));
            width = indent + 4;
        }
        width += piece.len();
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests;
