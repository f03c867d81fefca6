//! Arrays and, in C++, scalars in `host_data`: a pointer takes `use_device_ptr`, and a variable of the array's name hides it.
//!
//! Invariant: in the block, the name means the address on the device wherever the code names it.

use crate::host::ir::Unit;

use super::gathered::Gathered;
use super::lowered::SourceChange;

/// What the names of such pointers begin with.
pub const POINTER: &str = "acc2omp_at_";

/// The pointer that stands for a variable in a clause.
pub fn pointer(name: &str) -> String {
    format!("{POINTER}{name}")
}

/// What opens the blocks before the directive and after it, and what closes them after its construct; empty without
/// such variables.
pub fn blocks(gathered: &Gathered, unit: &Unit) -> [Vec<String>; 3] {
    let names = &gathered.shadowed;
    if names.is_empty() {
        return Default::default();
    }
    let opened = |line: fn(&str, &str) -> String| {
        let lines = names.iter().map(|name| line(name, &pointer(name)));
        std::iter::once("{".to_owned()).chain(lines).collect()
    };
    let [before, after] = match unit.is_cpp() {
        true => [
            opened(|name, pointer| format!("auto *{pointer} = &{name};")),
            opened(|name, pointer| format!("auto &{name} = *{pointer};")),
        ],
        false => [
            opened(|name, pointer| format!("__typeof__({name}[0]) *{pointer} = {name};")),
            opened(|name, pointer| format!("__typeof__(*{pointer}) *{name} = {pointer};")),
        ],
    };
    [before, after, vec!["}".to_owned(), "}".to_owned()]]
}

/// The line after the directive as a part.
pub fn opened(lines: Vec<String>) -> Option<SourceChange> {
    (!lines.is_empty()).then_some(SourceChange::LinesAfter(lines))
}
