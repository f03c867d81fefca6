//! Launches on the device, as run-time libraries report them.
//!
//! Invariant: a line that reports a launch is none of the program's output.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

/// What makes run-time libraries report launches.
pub const REPORT_LAUNCHES: [(&str, &str); 5] = [
    ("LIBOMPTARGET_INFO", "16"),
    ("GOMP_DEBUG", "1"),
    ("NVCOMPILER_ACC_NOTIFY", "1"),
    ("CRAY_ACC_DEBUG", "1"),
    ("ACC2OMP_TIMES", "1"),
];

/// A compute construct of the sources.
#[derive(Clone, Debug, Serialize)]
pub struct Construct {
    /// The file, seen from the root.
    pub file: String,
    /// Its first line, and the last one before the next construct: a launch may have the line of a loop inside.
    #[serde(serialize_with = "first", rename = "line")]
    pub lines: (usize, usize),
    /// Its name, as `parallel loop`.
    pub name: String,
}

/// Writes the first line alone.
fn first<S: serde::Serializer>(lines: &(usize, usize), to: S) -> Result<S::Ok, S::Error> {
    lines.0.serialize(to)
}

/// Where a launch comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    /// The file, if it is reported.
    pub file: Option<String>,
    /// The function or kernel, if it is reported.
    pub function: Option<String>,
    /// The line, if it is reported.
    pub line: Option<usize>,
}

/// The launches of a run by their origin.
pub type Launches = BTreeMap<Origin, u64>;

/// Takes the lines that report launches out of a text.
pub fn take(text: &str, launches: &mut Launches) -> String {
    let mut rest = String::new();
    for line in text.split_inclusive('\n') {
        match read(line.trim_end()) {
            Some((origin, count)) => *launches.entry(origin).or_default() += count,
            None => rest += line,
        }
    }
    rest
}

/// How many launches a text reports.
pub fn launched(text: &str) -> u64 {
    text.lines().filter_map(|line| read(line.trim_end())).map(|(_, count)| count).sum()
}

/// The launches that a line reports.
fn read(line: &str) -> Option<(Origin, u64)> {
    libomptarget(line).map(|origin| (origin, 1)).or_else(|| ours(line)).or_else(|| {
        let origin = libgomp(line).or_else(|| nvhpc(line)).or_else(|| cray(line))?;
        Some((origin, 1))
    })
}

/// `"PluginInterface" device 0 info: Launching kernel __omp_offloading_fe00_9bc03d_main_l3 with 1 blocks …`
fn libomptarget(line: &str) -> Option<Origin> {
    let (_, rest) = line.split_once("info: Launching kernel ")?;
    let kernel = rest.split_whitespace().next()?;
    let name = kernel.strip_prefix("__omp_offloading_").unwrap_or(kernel);
    // After the numbers of device and file.
    let name = name.splitn(3, '_').nth(2).unwrap_or(name);
    let (function, line) = name.rsplit_once("_l").unwrap_or((name, ""));
    // A second construct on a line has a number after that.
    let line = line.split('_').next()?.parse().ok();
    Some(Origin { file: None, function: Some(function.to_owned()), line })
}

/// `  nvptx_exec: kernel main$_omp_fn$0: launch gangs=…`, or `GOMP_OFFLOAD_run: kernel main$_omp_fn$0: launch …`
fn libgomp(line: &str) -> Option<Origin> {
    let (_, rest) = line.split_once(": kernel ")?;
    let (kernel, after) = rest.split_once(':')?;
    after
        .trim_start()
        .starts_with("launch")
        .then(|| Origin { function: Some(kernel.trim().to_owned()), ..Origin::default() })
}

/// `launch CUDA kernel  file=/src/a.c function=main line=12 device=0 …`
fn nvhpc(line: &str) -> Option<Origin> {
    let (_, rest) = line.split_once("launch CUDA kernel ")?;
    let value =
        |name: &str| rest.split_whitespace().find_map(|word| word.strip_prefix(name)).map(str::to_owned);
    let line = value("line=").and_then(|line| line.parse().ok());
    Some(Origin { file: value("file="), function: value("function="), line })
}

/// `ACC: Execute kernel main_$ck_L12_1 … from a.c:12`
fn cray(line: &str) -> Option<Origin> {
    let (_, rest) = line.split_once("ACC: Execute kernel ")?;
    let function = rest.split_whitespace().next().map(str::to_owned);
    let place = rest.split_whitespace().rev().find_map(|word| {
        let (file, line) = word.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let (file, line) = place.map_or((None, None), |(file, line)| (Some(file), Some(line)));
    Some(Origin { file, function, line })
}

/// `acc2omp: jacobi.c:28: 201 launches, 18.2 ms, …`
fn ours(line: &str) -> Option<(Origin, u64)> {
    let (place, rest) = line.strip_prefix("acc2omp: ")?.split_once(": ")?;
    let (file, number) = place.rsplit_once(':')?;
    let (count, after) = rest.split_once(' ')?;
    let origin = Origin { file: Some(file.to_owned()), function: None, line: Some(number.parse().ok()?) };
    after.starts_with("launch").then_some(())?;
    Some((origin, count.parse().ok()?))
}

/// The constructs that no launch comes from, if launches tell their lines.
pub fn never_ran<'a>(constructs: &'a [Construct], launches: &Launches) -> Option<Vec<&'a Construct>> {
    if launches.keys().any(|origin| origin.line.is_none()) {
        return None;
    }
    let is_of = |origin: &Origin, construct: &Construct| {
        let is_file = |file: &str| Path::new(&construct.file).file_name() == Path::new(file).file_name();
        let is_line = |line| (construct.lines.0..=construct.lines.1).contains(&line);
        origin.line.is_some_and(is_line) && origin.file.as_deref().is_none_or(is_file)
    };
    let ran = |construct: &Construct| launches.keys().any(|origin| is_of(origin, construct));
    Some(constructs.iter().filter(|construct| !ran(construct)).collect())
}

#[cfg(test)]
mod tests;
