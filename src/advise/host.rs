//! What the host does in a part of the program: which variables it names there, and what it calls.
//!
//! Invariant: what is not understood touches everything that others may know of.

use std::collections::BTreeSet;

use crate::acc::ast::DirectiveKind;
use crate::host::ir::{BinaryOp, Dialect, Expr, ExprId, ExprKind, FunctionId, StmtKind};
use crate::sema::{SymbolId, SymbolKind, is_mathematical, is_pure_intrinsic};
use crate::source::{self, Span};

use super::{Ground, own};

/// Functions that touch no memory of the program but what their arguments lead to, and keep no address.
const HARMLESS: [&str; 48] = [
    "printf",
    "fprintf",
    "puts",
    "fputs",
    "putchar",
    "fflush",
    "sprintf",
    "snprintf",
    "exit",
    "abort",
    "assert",
    "malloc",
    "calloc",
    "free",
    "clock",
    "time",
    "gettimeofday",
    "clock_gettime",
    "omp_get_wtime",
    "MPI_Wtime",
    "wtime",
    "strcmp",
    "strlen",
    "strcpy",
    "strncmp",
    "atoi",
    "atof",
    "strtol",
    "strtod",
    "rand",
    "srand",
    "drand48",
    "srand48",
    "memset",
    "memcpy",
    "memmove",
    "memcmp",
    "fopen",
    "fclose",
    "fread",
    "fwrite",
    "fscanf",
    "scanf",
    "sscanf",
    "perror",
    "fgets",
    "acc_wait_all",
    "MPI_Barrier",
];

/// Statements and subroutines of Fortran that do so.
const HARMLESS_FORTRAN: [&str; 14] = [
    "cpu_time",
    "system_clock",
    "date_and_time",
    "flush",
    "random_number",
    "random_seed",
    "mpi_wtime",
    "omp_get_wtime",
    "mpi_barrier",
    "move_alloc",
    "write",
    "print",
    "read",
    "get_command_argument",
];

/// What the host does with a variable, the worst of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// Nothing.
    Nothing,
    /// It reads elements.
    Reads,
    /// It may change elements, or where the variable leads, or passes it on.
    Changes,
}

/// How one mention uses a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention<'a> {
    /// An element is read.
    Read,
    /// An element, or the variable, is assigned.
    Write,
    /// It is passed to a procedure.
    Passed(&'a str, usize),
    /// It gives a value to something else: where it leads is known by another name.
    Value,
    /// Only its bounds, or whether it is allocated, are asked for; or its memory is given back.
    Inquiry,
}

/// How the name at `id` is used.
pub fn mention<'a>(ground: &'a Ground, id: ExprId) -> Mention<'a> {
    let unit = ground.unit;
    let parent = |id: ExprId| ground.tables.parents[id.0 as usize];
    let (mut at, mut is_part) = (id, false);
    while let Some(around) = parent(at) {
        match &unit.expr(around).kind {
            ExprKind::Index(base, _) if *base == at => is_part = true,
            ExprKind::Member { base, .. } | ExprKind::Deref(base) if *base == at => is_part = true,
            ExprKind::Cast { .. } => {}
            _ => break,
        }
        at = around;
    }
    let is_whole = unit.is_fortran() || is_part && !leads_on(ground, id, at);
    let Some(around) = parent(at) else { return if is_whole { Mention::Read } else { Mention::Value } };
    match &unit.expr(around).kind {
        ExprKind::Assign(_, left, _) if *left == at => Mention::Write,
        ExprKind::Step { .. } => Mention::Write,
        ExprKind::Call { callee, args } if *callee != at => match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let is_asked = ["free", "allocated", "associated"].contains(&name.as_str());
                match args.iter().position(|arg| *arg == at) {
                    _ if is_asked || ground.symbols.is_inquiry(name) => Mention::Inquiry,
                    Some(_) if is_whole && unit.dialect == Dialect::C => Mention::Read,
                    Some(_) if is_pure_call(ground, name) => Mention::Read,
                    Some(place) => Mention::Passed(name, place),
                    None => Mention::Value,
                }
            }
            _ => Mention::Passed("", 0),
        },
        ExprKind::AddressOf(_) => match parent(around) {
            Some(call) => match &unit.expr(call).kind {
                ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                    ExprKind::Name(name) => {
                        let place = args.iter().position(|arg| *arg == around).unwrap_or(0);
                        Mention::Passed(name, place)
                    }
                    _ => Mention::Passed("", 0),
                },
                _ => Mention::Value,
            },
            None => Mention::Value,
        },
        // `stream >> a[i]`
        ExprKind::Binary(BinaryOp::ShiftRight, _, right) if unit.is_cpp() && *right == at => Mention::Write,
        ExprKind::Opaque(_) if !unit.is_fortran() => Mention::Value,
        ExprKind::Opaque(_) => Mention::Write,
        _ if is_whole => Mention::Read,
        _ => Mention::Value,
    }
}

/// Whether an element of the variable at `id` is an address itself, as a row of a matrix is.
fn leads_on(ground: &Ground, id: ExprId, at: ExprId) -> bool {
    let Some(symbol) = ground.symbols.named(ground.unit, id) else { return true };
    let mut steps = 0;
    let mut inner = at;
    while inner != id {
        inner = match &ground.unit.expr(inner).kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                steps += 1;
                *base
            }
            ExprKind::Member { base, .. } => {
                steps += 1;
                *base
            }
            ExprKind::Cast { operand, .. } => *operand,
            _ => return true,
        };
    }
    steps < ground.symbols.get(symbol).shape.len()
}

/// Whether a procedure only gives a value.
pub fn is_pure_call(ground: &Ground, name: &str) -> bool {
    match ground.unit.is_fortran() {
        true => is_pure_intrinsic(name),
        false => is_mathematical(name),
    }
}

/// Whether a procedure is known to touch nothing but what its arguments lead to.
pub fn is_harmless(ground: &Ground, name: &str) -> bool {
    let known = match ground.unit.is_fortran() {
        true => HARMLESS_FORTRAN.contains(&name) || ground.symbols.is_inquiry(name),
        false => HARMLESS.contains(&name),
    };
    known || is_pure_call(ground, name)
}

/// A part of a function, without the compute constructs in it.
pub struct HostCode<'g, 'a> {
    ground: &'g Ground<'a>,
    span: Span,
}

impl<'g, 'a> HostCode<'g, 'a> {
    /// The bytes of a part.
    pub fn new(ground: &'g Ground<'a>, span: Span) -> HostCode<'g, 'a> {
        HostCode { ground, span }
    }

    fn is_host(&self, span: Span) -> bool {
        self.span.contains(span) && !self.ground.is_computed(span)
    }

    /// What the host does with a variable here.
    pub fn touch(&self, symbol: SymbolId) -> Touch {
        let ground = self.ground;
        let mut found = Touch::Nothing;
        for id in ground.mentions(symbol) {
            if !self.is_host(ground.unit.expr(*id).span) {
                continue;
            }
            found = found.max(match mention(ground, *id) {
                Mention::Read => Touch::Reads,
                Mention::Inquiry if ground.unit.is_fortran() => Touch::Nothing,
                Mention::Passed(name, _) if !ground.unit.is_fortran() && reads_only(name) => Touch::Reads,
                _ => Touch::Changes,
            });
        }
        if found < Touch::Changes && (self.is_hidden(symbol) || self.calls_touch(symbol)) {
            return Touch::Changes;
        }
        found
    }

    /// Whether another device may be chosen here, or several threads of the host run it.
    pub fn changes_device(&self) -> bool {
        let ground = self.ground;
        let calls = ground.unit.exprs_in(self.span).any(|expr| match &expr.kind {
            ExprKind::Name(name) => {
                name.starts_with("acc_set_device") || name.starts_with("omp_set_default_device")
            }
            _ => false,
        });
        let sets = ground.bound.iter().any(|one| {
            let is_set = matches!(
                one.directive.kind,
                DirectiveKind::Set | DirectiveKind::Init | DirectiveKind::Shutdown
            );
            is_set && self.span.contains(one.directive.span)
        });
        let line = ground.file.lines.line(self.span.start);
        let from = ground.file.lines.span(line.saturating_sub(1)).start;
        let text = ground.file.text(Span { start: from, end: self.span.end }).to_ascii_lowercase();
        let has_threads = text.contains("!$omp") || text.contains("#pragma omp");
        calls || sets || has_threads
    }

    /// Whether something leaves the part in its middle.
    pub fn is_left(&self) -> bool {
        let stmts = self.ground.unit.stmts_in(self.span).filter(|stmt| self.is_host(stmt.span));
        let mut leaving = stmts.filter(|stmt| matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Goto(_)));
        leaving.next().is_some()
    }

    /// Whether a branch of the preprocessor that is not shown, or the body of a macro, names the variable.
    fn is_hidden(&self, symbol: SymbolId) -> bool {
        let ground = self.ground;
        let name = &ground.symbols.get(symbol).name;
        let mut branches = ground.hidden.iter().filter(|hidden| self.span.contains(**hidden));
        if branches.any(|hidden| has_word(&ground.file.text(*hidden), name, ground.unit.is_fortran())) {
            return true;
        }
        ground.unit.exprs_in(self.span).any(|expr| match &expr.kind {
            ExprKind::Name(word) if word != name && self.is_host(expr.span) => {
                let object = ground.symbols.body_of(word);
                let called = ground.symbols.macro_of(word).map(|(_, body)| body);
                object.into_iter().chain(called).any(|body| has_word(body, name, false))
            }
            _ => false,
        })
    }

    /// Whether a procedure that is called here may touch the variable without being given it.
    fn calls_touch(&self, symbol: SymbolId) -> bool {
        let ground = self.ground;
        let mut seen = BTreeSet::new();
        let calls = ground.unit.exprs_in(self.span).filter(|expr| self.is_host(expr.span));
        let mut all: Vec<&Expr> = calls.collect();
        all.retain(|expr| matches!(expr.kind, ExprKind::Call { .. }));
        let is_cpp = ground.unit.is_cpp();
        (is_cpp || all.iter().any(|call| is_unseen(ground, call, &mut seen)))
            && !own::is_closed(ground, symbol)
            || all.iter().any(|call| reaches(ground, call, symbol, &mut BTreeSet::new()))
    }
}

/// Whether a call goes to code that is not seen, be it by way of functions that are.
fn is_unseen(ground: &Ground, call: &Expr, seen: &mut BTreeSet<FunctionId>) -> bool {
    let ExprKind::Call { callee, .. } = &call.kind else { return false };
    let ExprKind::Name(name) = &ground.unit.expr(*callee).kind else { return true };
    if is_harmless(ground, name) {
        return false;
    }
    if let Some((_, body)) = ground.symbols.macro_of(name) {
        return calls_in(body).any(|called| !is_harmless(ground, called));
    }
    let mut known = ground.unit.function_places(name).peekable();
    if known.peek().is_none() {
        return true;
    }
    known.any(|at| {
        let id = FunctionId(at as u32);
        seen.insert(id) && {
            let span = ground.unit.function(id).span;
            ground.unit.exprs_in(span).any(|expr| is_unseen(ground, expr, seen))
        }
    })
}

/// Whether a call goes to a function of this file that names the variable, or calls one that does.
fn reaches(ground: &Ground, call: &Expr, symbol: SymbolId, seen: &mut BTreeSet<FunctionId>) -> bool {
    let ExprKind::Call { callee, .. } = &call.kind else { return false };
    let (ExprKind::Name(name) | ExprKind::Member { name, .. }) = &ground.unit.expr(*callee).kind else {
        return false;
    };
    ground.unit.function_places(name).any(|at| {
        let id = FunctionId(at as u32);
        seen.insert(id) && {
            let span = ground.unit.function(id).span;
            names(ground, span, symbol)
                || ground.unit.exprs_in(span).any(|expr| reaches(ground, expr, symbol, seen))
        }
    })
}

/// Whether a function that is called in some bytes names the variable, or calls one that does.
pub fn is_reached(ground: &Ground, span: Span, symbol: SymbolId) -> bool {
    let mut seen = BTreeSet::new();
    ground.unit.exprs_in(span).any(|expr| reaches(ground, expr, symbol, &mut seen))
}

/// Whether the code of a function names a variable. One that more than a function may see has a name of its own in each module
/// and block that declares it again: all of its name count.
pub fn names(ground: &Ground, span: Span, symbol: SymbolId) -> bool {
    let known = ground.symbols.get(symbol);
    if ground.mentions(symbol).iter().any(|id| span.contains(ground.unit.expr(*id).span)) {
        return true;
    }
    let is_renamed = || {
        let uses = ground.unit.scopes.iter().flat_map(|scope| &scope.uses);
        let mut names = uses.flat_map(|used| &used.names);
        names.any(|(here, there)| here != there && (*here == known.name || *there == known.name))
    };
    known.kind == SymbolKind::Static
        && (is_renamed()
            || ground.unit.exprs_in(span).any(|expr| {
                matches!(&expr.kind, ExprKind::Name(name) if ground.symbols.folded(name) == known.name)
            }))
}

/// The words before parentheses in the body of a macro, except those of the language.
fn calls_in(body: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let heads = body.match_indices('(').map(move |(at, _)| {
        let before = body[..at].trim_end();
        &before[before.trim_end_matches(is_part).len()..]
    });
    heads.filter(|word| !matches!(*word, "" | "if" | "for" | "while" | "sizeof" | "switch" | "return"))
}

/// Whether a function of C only reads what its arguments lead to.
fn reads_only(name: &str) -> bool {
    ["printf", "fprintf", "fwrite", "memcmp"].contains(&name)
}

/// Whether a text has a word.
fn has_word(text: &str, name: &str, folds: bool) -> bool {
    let mut words = source::words(text);
    words.any(|word| if folds { word.eq_ignore_ascii_case(name) } else { word == name })
}
