//! The parts that kernel and launcher are made of, as one variable after the other adds to them.
//!
//! Invariant: a parameter of the kernel stands beside the launcher's argument for it.

use std::collections::HashMap;

use crate::cuda::types::declarator::Type;
use crate::sema::SymbolId;

/// The parts of a kernel: its parameters with the launcher's arguments, and lines before and after the code.
#[derive(Default)]
pub struct Made {
    pub params: Vec<Param>,
    pub prologue: Vec<String>,
    /// What fills private arrays.
    pub filling: Vec<String>,
    pub epilogue: Vec<String>,
    /// How many gangs a multiprocessor is to hold, if the compiler needs to know.
    pub held: Option<usize>,
    /// A gang fetches something before its iterations: it should run many of them.
    pub fills_once: bool,
    /// The launcher's names for addresses on the device.
    pub devices: HashMap<SymbolId, String>,
}

/// A parameter of a kernel.
pub struct Param {
    pub name: String,
    pub of: Type,
    /// What the launcher passes.
    pub argument: String,
    /// The variable to whose memory it leads.
    pub memory: Option<SymbolId>,
}

impl Made {
    /// A parameter for which the launcher passes `argument`.
    pub fn param(&mut self, of: Type, name: impl Into<String>, argument: impl Into<String>) {
        self.params.push(Param { name: name.into(), of, argument: argument.into(), memory: None });
    }
}

impl Param {
    /// Its declaration.
    pub fn declared(&self) -> String {
        self.of.declare(&self.name)
    }
}

/// A parameter of a launcher.
pub struct HostParam {
    pub name: String,
    /// Its type in the device file, and in the header, which knows less of it.
    pub of: Type,
    pub in_header: Type,
    /// What the host passes.
    pub argument: String,
    /// The type in the header is the same, though it may have other words.
    pub is_same: bool,
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
    pub params: Vec<HostParam>,
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

    /// A pointer that the host passes. `known`: its type in words that every file knows; without it, the header says no more
    /// than that it is a pointer.
    pub fn pointer(&mut self, of: &Type, name: &str, argument: &str, known: Option<&Type>) -> String {
        let is_same = known.is_some_and(|known| known.is_const == of.is_const);
        let in_header = known.cloned().unwrap_or_else(|| Type::pointer("void").constant());
        self.param((of.clone(), in_header), name, argument, is_same)
    }

    /// A number that the host passes.
    pub fn number(&mut self, kind: &str, name: &str, argument: &str) -> String {
        self.param((Type::value(kind), Type::value(kind)), name, argument, true)
    }

    /// What the host passes, as a parameter of these types in the launcher and in the header; its name in the launcher. In
    /// place, nothing is passed. `is_same`: both types are the same.
    pub fn param(
        &mut self,
        (of, in_header): (Type, Type),
        name: &str,
        argument: &str,
        is_same: bool,
    ) -> String {
        if self.in_place {
            return argument.to_owned();
        }
        let (name, argument) = (name.to_owned(), argument.to_owned());
        let mut in_header = in_header;
        if in_header.base == "bool" {
            // C has the word only with `<stdbool.h>`.
            in_header.base = "acc2omp_bool".to_owned();
        }
        self.params.push(HostParam { name: name.clone(), of, in_header, argument, is_same });
        name
    }
}
