//! The parts that kernel and launcher are made of, as one variable after the other adds to them.
//!
//! Invariant: a parameter of the kernel stands beside the launcher's argument for it.

use std::collections::HashMap;

use crate::sema::SymbolId;

/// The parts of a kernel: its parameters with the launcher's arguments, and lines before and behind the code.
#[derive(Default)]
pub struct Made {
    pub params: Vec<(String, String)>,
    pub prologue: Vec<String>,
    /// What fills private arrays.
    pub filling: Vec<String>,
    pub epilogue: Vec<String>,
    /// How many gangs a multiprocessor is to hold, if the compiler needs to be told.
    pub held: Option<usize>,
    /// A gang fetches something before its iterations: it should run many of them.
    pub fills_once: bool,
    /// The launcher's names for addresses on the device.
    pub devices: HashMap<SymbolId, String>,
}

/// The launcher's own names.
#[derive(Default)]
pub struct Words {
    pub region: String,
    pub gangs: String,
    pub threads: String,
    pub kernel: String,
    pub trips: String,
    pub gang_count: String,
    pub queue: String,
    /// The type that counts iterations, if the launcher chooses it.
    pub index: &'static str,
}

/// What the launcher takes and does before the launch.
#[derive(Default)]
pub struct Host {
    pub words: Words,
    /// It is a block in the program's own text.
    pub in_place: bool,
    /// Its parameters in the device file, and in the header.
    pub params: Vec<(String, String)>,
    /// What the host passes.
    pub arguments: Vec<String>,
    pub lines: Vec<String>,
    /// What finds memory that no clause of the construct names, after all that clauses bring.
    pub lookups: Vec<String>,
    pub results: Vec<String>,
}

impl Host {
    /// What the launcher does before the launch, in order.
    pub fn before(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().chain(&self.lookups)
    }

    /// A pointer that the host passes. C knows no more of it than that.
    pub fn pointer(&mut self, kind: &str, name: &str, argument: &str) -> String {
        self.param(&format!("{kind}{name}"), &format!("const void *{name}"), argument)
    }

    /// A number that the host passes.
    pub fn number(&mut self, kind: &str, name: &str, argument: &str) -> String {
        let declared = format!("{kind} {name}");
        self.param(&declared, &declared, argument)
    }

    /// What the host passes, as a parameter; its name in the launcher. In place, nothing is passed.
    pub fn param(&mut self, device: &str, header: &str, argument: &str) -> String {
        if self.in_place {
            return argument.to_owned();
        }
        self.params.push((device.to_owned(), header.to_owned()));
        self.arguments.push(argument.to_owned());
        let name = device.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
        name.unwrap_or_default().to_owned()
    }
}
