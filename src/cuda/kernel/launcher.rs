//! The text of kernels, and of launchers: what the host calls in place of a construct.
//!
//! Invariant: a launcher's parameters have the same types in the device file and in the header, which it includes.

use std::collections::BTreeSet;

use super::grid::Grid;
use super::parts::{Host, HostParam, Made, Param, Words};
use crate::cuda::code::lines::wrapped;
use crate::cuda::code::text::words;

/// What a launcher is made of.
pub struct Launcher<'a> {
    pub name: &'a str,
    pub place: &'a str,
    pub host: &'a Host,
    pub made: &'a Made,
    pub grid: &'a Grid,
    /// Lanes and workers.
    pub shape: (usize, usize),
    pub queued: bool,
}

/// The name of the kernel that a launcher of this name starts.
pub fn kernel_name(launcher: &str) -> String {
    format!("{launcher}_kernel")
}

/// The definition of the kernel that a launcher starts.
pub fn kernel(launcher: &Launcher, code: &str) -> String {
    let Launcher { name, made, grid, shape: (vector, workers), .. } = launcher;
    let mut out = String::new();
    if grid.template {
        out += &format!("template <typename {}>\n", launcher.host.words.index);
    }
    let params: Vec<String> = made.params.iter().map(Param::declared).collect();
    let held = made.held.map(|held| format!(", {held}")).unwrap_or_default();
    let head =
        format!("__global__ void __launch_bounds__({}{held}) {}(", vector * workers, kernel_name(name));
    out += &format!("{head}{})\n{{\n", wrapped(&params, 4, head.len()));
    for line in made.prologue.iter().chain(&made.filling) {
        out += &format!("    {line}\n");
    }
    out += code.trim_end();
    out.push('\n');
    for line in &made.epilogue {
        out += &format!("    {line}\n");
    }
    out + "}\n\n"
}

/// The definition of a launcher.
pub fn text(launcher: &Launcher) -> String {
    let Launcher { name, place, host, grid, .. } = launcher;
    let body = launched(launcher);
    let (mut params, types) = parameters(host, &body);
    params.extend(grid.passed.as_ref().map(|passed| passed.param.clone()));
    if launcher.queued {
        params.push(format!("int {}", host.words.queue));
    }
    let head = format!("extern \"C\" void {name}(");
    let mut out = format!("{head}{})\n{{\n", wrapped(&params, 4, head.len()));
    let Words { region, queue, .. } = &host.words;
    let queue = if launcher.queued { queue.as_str() } else { "acc_async_sync" };
    out += &format!("    acc2omp::Region {region}(\"{place}\", {queue});\n");
    for line in types {
        out += &format!("    {line}\n");
    }
    out + &body + "}\n"
}

/// What a launcher does: what comes before the launch, and the launch.
fn launched(launcher: &Launcher) -> String {
    let Launcher { name, host, grid, .. } = launcher;
    let Words { region, gangs, threads, kernel: chosen, trips, .. } = &host.words;
    let mut out = String::new();
    for line in host.before().chain(&grid.lines) {
        out += &format!("    {line}\n");
    }
    let (vector, workers) = launcher.shape;
    let block = if workers == 1 { format!("{vector}") } else { format!("{vector}, {workers}") };
    let made = kernel_name(name);
    let kernel = match grid.template {
        true => {
            out += "    // 32 bits count the iterations, and the steps of all threads, or 64 do.\n";
            let head = format!("    const auto {chosen} = {trips} < (1ull << 31) ? {made}<unsigned>");
            out += &format!("{head}\n        : {made}<unsigned long long>;\n");
            chosen.clone()
        }
        false => made,
    };
    let blocks = match launcher.made.fills_once {
        true => format!("acc2omp::fewer_blocks({kernel}, {}, {})", grid.gangs, vector * workers),
        false => grid.gangs.clone(),
    };
    match blocks.contains('\n') || launcher.made.fills_once {
        true => out += &format!("    const dim3 {gangs}({blocks});\n    const dim3 {threads}({block});\n"),
        false => out += &format!("    const dim3 {gangs}({blocks}), {threads}({block});\n"),
    }
    for line in &host.results {
        out += &format!("    {line}\n");
    }
    let mut arguments = vec![region.clone(), gangs.clone(), threads.clone(), kernel];
    arguments.extend(launcher.made.params.iter().map(|param| param.argument.clone()));
    out += &format!("    acc2omp::launch({});\n", wrapped(&arguments, 8, 20));
    out
}

/// The parameters as the launcher's definition has them, and lines that give those their types of which the header says less
/// and which the launcher's `body` uses.
fn parameters(host: &Host, body: &str) -> (Vec<String>, Vec<String>) {
    let mut lines = Vec::new();
    let used: BTreeSet<&str> = words(body).into_iter().collect();
    let declared = |param: &HostParam| {
        if param.is_same {
            return param.of.declare(&param.name);
        }
        if !used.contains(param.name.as_str()) {
            return param.in_header.declare(&param.name);
        }
        let mut given = format!("{}_host", param.name);
        while host.params.iter().any(|other| other.name == given) {
            given.push('_');
        }
        lines.push(format!("{} = {};", param.of.declare(&param.name), param.of.cast(&given)));
        param.in_header.declare(&given)
    };
    let params = host.params.iter().map(declared).collect();
    (params, lines)
}

/// The declaration of a launcher for the host.
pub fn prototype(launcher: &Launcher) -> String {
    let Launcher { name, host, grid, queued, .. } = launcher;
    let mut params: Vec<String> =
        host.params.iter().map(|param| param.in_header.declare(&param.name)).collect();
    params.extend(grid.passed.as_ref().map(|passed| passed.param.clone()));
    if *queued {
        params.push(format!("int {}", host.words.queue));
    }
    if params.is_empty() {
        params.push("void".to_owned());
    }
    let head = format!("void {name}(");
    format!("{head}{});\n", wrapped(&params, 4, head.len()))
}
