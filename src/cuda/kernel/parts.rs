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

/// A parameter of a launcher.
pub struct Param {
    /// Its declaration as the launcher uses it.
    pub device: String,
    /// Its declaration in the header.
    pub header: String,
    /// Both say the same type.
    pub is_same: bool,
}

impl Param {
    /// Its name.
    pub fn name(&self) -> &str {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.device.rsplit(|c: char| !is_part(c)).next().unwrap_or_default()
    }
}

/// What the launcher takes and does before the launch.
#[derive(Default)]
pub struct Host {
    pub words: Words,
    /// It is a block in the program's own text.
    pub in_place: bool,
    pub params: Vec<Param>,
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

    /// A pointer that the host passes. `known`: its type in words that every file knows; without them, the header says no
    /// more than that it is a pointer.
    pub fn pointer(&mut self, kind: &str, name: &str, argument: &str, known: Option<&str>) -> String {
        let header = known.unwrap_or("const void *");
        let is_same = known.is_some_and(|known| !known.starts_with("const ") || kind.starts_with("const "));
        self.param((&format!("{kind}{name}"), &format!("{header}{name}")), argument, is_same)
    }

    /// A number that the host passes.
    pub fn number(&mut self, kind: &str, name: &str, argument: &str) -> String {
        let declared = format!("{kind} {name}");
        self.param((&declared, &declared), argument, true)
    }

    /// What the host passes, as a parameter in the device file and in the header; its name in the launcher. In place, nothing
    /// is passed. `is_same`: both say the same type.
    pub fn param(&mut self, (device, header): (&str, &str), argument: &str, is_same: bool) -> String {
        if self.in_place {
            return argument.to_owned();
        }
        let param = Param { device: device.to_owned(), header: header.to_owned(), is_same };
        let name = param.name().to_owned();
        self.params.push(param);
        self.arguments.push(argument.to_owned());
        name
    }
}
