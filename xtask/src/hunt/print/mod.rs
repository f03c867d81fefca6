//! Writes programs in their languages.
//!
//! Invariant: a program and a number give one text, and names of the file begin with the number, so that programs can be
//! built together.

mod c;
mod fortran;
mod needs;

use super::Language;
use super::program::{
    Alone, Clause, Compute, DataKind, Expr, Function, Item, Kind, Level, Op, Program, Stmt, VarId,
};

/// The text of a program as the case `number`.
pub fn text(program: &Program, language: Language, number: usize) -> String {
    match language {
        Language::C | Language::Cpp => c::text(program, language == Language::Cpp, number),
        Language::Fortran => fortran::text(program, number),
    }
}

/// The name of the procedure that runs a case.
pub fn entry(number: usize) -> String {
    format!("case_{number}")
}

/// How a language says what stands in clauses.
trait BaseLanguage {
    fn expr(&self, expr: &Expr) -> String;
    fn place(&self, place: &super::program::Place) -> String;
    fn item(&self, item: &Item) -> String;
    fn reducer(&self, op: Op) -> &'static str;
    fn name(&self, var: VarId) -> String;
}

/// The words of a list of clauses, each with a blank before it.
fn clauses(speech: &dyn BaseLanguage, clauses: &[Clause]) -> String {
    clauses.iter().map(|one| format!(" {}", clause(speech, one))).collect()
}

fn list<T>(items: &[T], say: impl Fn(&T) -> String) -> String {
    items.iter().map(say).collect::<Vec<_>>().join(", ")
}

fn clause(speech: &dyn BaseLanguage, clause: &Clause) -> String {
    let with = |word: &str, expr: &Expr| format!("{word}({})", speech.expr(expr));
    let names = |word: &str, vars: &[VarId]| format!("{word}({})", list(vars, |var| speech.name(*var)));
    match clause {
        Clause::Data(kind, items) => format!("{}({})", word(*kind), list(items, |item| speech.item(item))),
        Clause::Private(vars) => names("private", vars),
        Clause::FirstPrivate(vars) => names("firstprivate", vars),
        Clause::Reduction(op, places) => {
            format!("reduction({}: {})", speech.reducer(*op), list(places, |place| speech.place(place)))
        }
        Clause::Async(None) => "async".to_owned(),
        Clause::Async(Some(expr)) => with("async", expr),
        Clause::Wait(numbers) if numbers.is_empty() => "wait".to_owned(),
        Clause::Wait(numbers) => format!("wait({})", list(numbers, |one| speech.expr(one))),
        Clause::If(expr) => with("if", expr),
        Clause::OnSelf(expr) => with("self", expr),
        Clause::NumGangs(expr) => with("num_gangs", expr),
        Clause::NumWorkers(expr) => with("num_workers", expr),
        Clause::VectorLength(expr) => with("vector_length", expr),
        Clause::DefaultPresent => "default(present)".to_owned(),
        Clause::Finalize => "finalize".to_owned(),
        Clause::IfPresent => "if_present".to_owned(),
        Clause::Gang => "gang".to_owned(),
        Clause::Worker => "worker".to_owned(),
        Clause::Vector => "vector".to_owned(),
        Clause::Seq => "seq".to_owned(),
        Clause::Auto => "auto".to_owned(),
        Clause::Independent => "independent".to_owned(),
        Clause::Collapse(depth) => format!("collapse({depth})"),
        Clause::Tile(sizes) => format!("tile({})", list(sizes, usize::to_string)),
    }
}

fn word(kind: DataKind) -> &'static str {
    match kind {
        DataKind::Copy => "copy",
        DataKind::CopyIn => "copyin",
        DataKind::CopyOut => "copyout",
        DataKind::Create => "create",
        DataKind::Present => "present",
        DataKind::NoCreate => "no_create",
        DataKind::Delete => "delete",
        DataKind::Attach => "attach",
        DataKind::Detach => "detach",
        DataKind::DevicePtr => "deviceptr",
        DataKind::UseDevice => "use_device",
        DataKind::Device => "device",
        DataKind::ToSelf => "self",
        DataKind::DeviceResident => "device_resident",
        DataKind::Link => "link",
    }
}

/// The words of a directive without code.
fn alone(speech: &dyn BaseLanguage, kind: Alone, list: &[Clause]) -> String {
    let name = match kind {
        Alone::EnterData => "enter data",
        Alone::ExitData => "exit data",
        Alone::Update => "update",
        // Its queues stand after its name, as in a clause.
        Alone::Wait => "",
    };
    format!("{name}{}", clauses(speech, list)).trim_start().to_owned()
}

/// The words of a compute construct's directive, with its loop's if they are one.
fn compute(speech: &dyn BaseLanguage, compute: &Compute) -> String {
    let name = match compute.kind {
        Kind::Parallel => "parallel",
        Kind::Serial => "serial",
        Kind::Kernels => "kernels",
    };
    let of_loop = match compute.body.as_slice() {
        [Stmt::Loop(one)] if compute.combined => one.directive.as_deref(),
        _ => None,
    };
    match of_loop {
        Some(list) => format!("{name} loop{}{}", clauses(speech, list), clauses(speech, &compute.clauses)),
        None => format!("{name}{}", clauses(speech, &compute.clauses)),
    }
}

/// The clauses of each `declare` directive of a function.
fn declares(function: &Function) -> impl std::iter::Iterator<Item = &[Clause]> {
    let size = if function.is_one_declare { function.declares.len() } else { 1 };
    function.declares.chunks(size.max(1))
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Seq => "seq",
        Level::Vector => "vector",
        Level::Worker => "worker",
        Level::Gang => "gang",
    }
}

/// Lines of text, and how far they are indented.
#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"    ".repeat(self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    fn inside(&mut self, write: impl FnOnce(&mut Lines)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }
}
