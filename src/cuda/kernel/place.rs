//! A construct that stays inline: the launcher is a block there, and the kernel a lambda that captures by value.
//!
//! Invariant: inside, a name of the program means the device's variable; what is captured has another name, or the same value.

use super::grid::Grid;
use super::parts::{Host, Made, Param};
use crate::cuda::program::names::Names;
use crate::cuda::schedule::capture::Captured;
use crate::host::ir::{DeclKind, Derived};
use crate::sema::{Class, SymbolKind};

/// What a block in place is made of.
pub struct Block<'a> {
    pub place: &'a str,
    pub host: &'a Host,
    pub made: &'a Made,
    pub captured: &'a [Captured<'a>],
    pub grid: &'a Grid,
    /// Lanes and workers.
    pub shape: (usize, usize),
    pub queue: Option<&'a str>,
    /// The code, indented by one level.
    pub code: &'a str,
}

/// The lines of an inline construct.
pub fn lines(block: &Block, names: &mut Names) -> Vec<String> {
    let words = &block.host.words;
    let queue = block.queue.unwrap_or("acc_async_sync");
    let mut outer = vec![format!("acc2omp::Region {}(\"{}\", {queue});", words.region, block.place)];
    outer.extend(block.host.before().chain(&block.grid.lines).cloned());
    let (vector, workers) = block.shape;
    let size = if workers == 1 { format!("{vector}") } else { format!("{vector}, {workers}") };
    outer.push(format!("const dim3 {}({}), {}({size});", words.gangs, block.grid.gangs, words.threads));
    outer.extend(block.host.results.iter().cloned());
    let mut inner = Vec::new();
    for param in &block.made.params {
        let Param { name, argument, .. } = param;
        let declared = param.declared();
        let variable = block.captured.iter().find(|one| one.name == *name);
        match variable {
            Some(one) if *argument == one.host_name() && !wants_copy(one) => {}
            Some(one) if *argument == one.host_name() => {
                let value = names.fresh(&format!("{name}_value"));
                outer.push(format!("const auto {value} = {argument};"));
                inner.push(format!("auto {name} = {value};"));
            }
            Some(_) if is_name(argument) => inner.push(format!("{declared} = {argument};")),
            Some(_) => {
                let value = names.fresh(&format!("{name}_value"));
                outer.push(format!("const auto {value} = {argument};"));
                inner.push(format!("{declared} = {value};"));
            }
            None if argument == name => {}
            None => outer.push(format!("{declared} = {argument};")),
        }
    }
    inner.extend(block.made.prologue.iter().chain(&block.made.filling).cloned());
    let threads = vector * workers;
    outer.push(format!(
        "acc2omp::launch<{threads}>({}, {}, {}, [=] __device__ () {{",
        words.region, words.gangs, words.threads
    ));
    let code = block.code.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned());
    let inner = inner.into_iter().chain(code).chain(block.made.epilogue.iter().cloned());
    let indented = |text: String| -> Vec<String> {
        text.lines()
            .map(|line| match line.is_empty() || line.starts_with('#') {
                true => line.to_owned(),
                false => format!("    {line}"),
            })
            .collect()
    };
    outer.extend(inner.flat_map(indented));
    outer.push("});".to_owned());
    let mut all = vec!["{".to_owned()];
    all.extend(outer.into_iter().flat_map(indented));
    all.push("}".to_owned());
    all
}

/// Whether a variable that is passed by value needs a name of its own inside: what is captured is constant, and neither
/// members nor statics are, nor a reference that may be a name of such.
fn wants_copy(one: &Captured) -> bool {
    let used = &one.used;
    let (_, written) = one.written;
    if written.kind == DeclKind::Variable && written.derived.contains(&Derived::Reference) {
        return true;
    }
    !one.is_constant
        && (used.written
            || used.address_taken
            || used.part_written
            || matches!(one.kind, SymbolKind::Member | SymbolKind::Static)
            || matches!(one.class, Class::Record))
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
