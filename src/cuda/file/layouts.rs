//! How structs lie in memory in the host file and in the device file: the host compares both before `main`.
//!
//! Invariant: both files list the same structs and members in the same order.

use super::device::Device;
use crate::cuda::code::lines::wrapped;
use crate::cuda::types::layout::Layout;

/// More members than this do not fit into one `ACC2OMP_LAYOUT`.
const MOST: usize = 8;

impl Device {
    /// The list of structs with their members, as a variable; `None` if there is no struct.
    fn layouts_list(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut all: Vec<String> = self.layouts.values().flatten().flat_map(entries).collect();
        if all.is_empty() {
            return None;
        }
        all.push("{0, 0}".to_owned());
        let head = "    static const acc2omp_layout layouts[] = {";
        Some(format!("{head}{}}};", wrapped(&all, 8, head.len())))
    }

    /// The function of the device file that says how structs lie there.
    pub fn layouts_for_host(&self, unit: &str) -> Option<String> {
        let list = self.layouts_list()?;
        Some(format!(
            "// How structs lie in memory here, for the host to compare.\nextern \"C\" const acc2omp_layout *{}(void)\n{{\n{list}\n    return layouts;\n}}\n",
            function(unit)
        ))
    }

    /// Its declaration.
    pub fn layouts_prototype(&self, unit: &str) -> Option<String> {
        self.layouts_list()?;
        Some(format!("const acc2omp_layout *{}(void);\n", function(unit)))
    }

    /// What the host file compares. `of` ends the name of its function.
    pub fn compared_layouts(&self, source: &str, unit: &str, of: &str) -> Option<String> {
        let list = self.layouts_list()?;
        Some(format!(
            "\n/* Structs must lie in memory as they do in the device code. */\n__attribute__((constructor)) static void acc2omp_check_layouts{of}(void)\n{{\n{list}\n    acc2omp_compare_layouts(\"{source}\", layouts, {}());\n}}\n",
            function(unit)
        ))
    }
}

/// The function of the device file.
fn function(unit: &str) -> String {
    format!("acc2omp_layouts_of_{unit}")
}

/// One struct as entries of the list.
fn entries(one: &Layout) -> Vec<String> {
    if one.members.is_empty() {
        return vec![format!("ACC2OMP_SIZE({})", one.name)];
    }
    let parts = one.members.chunks(MOST);
    parts.map(|part| format!("ACC2OMP_LAYOUT({}, {})", one.name, part.join(", "))).collect()
}
