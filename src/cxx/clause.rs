//! The clauses of compute constructs and loops, as C++ writes them.
//!
//! Invariant: a clause is written with the same meaning, is done by the host, or is refused.

use crate::acc::ast::{ClauseKind, DataClause, Directive, Expr, GangArgument, ListItem, ReductionOp};
use crate::plan;
use crate::sema::{Class, SymbolId, Symbols};
use crate::source::Span;

use super::Why;
use super::interface::{Argument, Passed};
use super::types::Type;

/// When a directive is done: what Fortran sees to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The queue, as Fortran writes it; empty for `async` without a value.
    pub queue: Option<String>,
    /// The queues to wait for before, list by list; an empty list stands for all.
    pub waits: Vec<Vec<String>>,
    /// Where it is false, the host runs a construct, and nothing is done for others.
    pub condition: Option<String>,
}

impl Order {
    /// Takes in a clause that is about this, if it is one.
    pub fn takes(&mut self, kind: &ClauseKind) -> bool {
        match kind {
            ClauseKind::If(condition) => self.only_where(condition.text.clone()),
            ClauseKind::SelfRun(None) => self.only_where(".false.".to_owned()),
            ClauseKind::SelfRun(Some(condition)) => self.only_where(format!(".not. ({})", condition.text)),
            ClauseKind::Async(queue) => {
                self.queue = Some(queue.as_ref().map(|queue| queue.text.clone()).unwrap_or_default());
            }
            ClauseKind::Wait(None) => self.waits.push(Vec::new()),
            ClauseKind::Wait(Some(wait)) if wait.devnum.is_none() => {
                self.waits.push(wait.queues.iter().map(|queue| queue.text.clone()).collect());
            }
            _ => return false,
        }
        true
    }

    fn only_where(&mut self, condition: String) {
        self.condition = Some(match self.condition.take() {
            None => condition,
            Some(other) => format!("({other}) .and. ({condition})"),
        });
    }
}

/// What the clauses of a directive say.
#[derive(Default)]
pub struct Clauses {
    /// Those for C++.
    pub words: Vec<String>,
    /// Arguments for what C++ does not compute itself.
    pub args: Vec<Argument>,
    /// Scalars that C++ gets by reference, and arrays of which it has a copy of its own.
    pub scalars: Vec<(Keeps, SymbolId)>,
    /// The data clauses about arrays.
    pub data: Vec<(DataClause, ListItem)>,
    /// When it is done.
    pub order: Order,
    /// `default(present)`
    pub is_default_present: bool,
}

impl Clauses {
    /// The line for a directive in a construct, with the words that are read, which it takes.
    pub fn pragma(&mut self, directive: &str) -> String {
        let mut words = std::mem::take(&mut self.words);
        if words.iter().any(|word| word == "auto") {
            words.retain(|word| word != "independent");
        }
        words.insert(0, directive.to_owned());
        format!("    #pragma acc {}", words.join(" "))
    }
}

/// Where a variable of a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// In the memory of the host's variable.
    Reference,
    /// Each thread has its own.
    Private,
    /// In the host's memory; C++ makes copies of it.
    Section,
}

/// Reads the clauses of a directive.
pub struct Reader<'a> {
    /// What names mean.
    pub symbols: &'a Symbols,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// Variables that are declared inside of the construct.
    pub inside: &'a dyn Fn(SymbolId) -> bool,
    /// How C++ calls a variable.
    pub name: &'a dyn Fn(SymbolId) -> Option<String>,
    /// All elements of an array as a section of C++.
    pub section: &'a dyn Fn(SymbolId) -> Option<String>,
    /// The shape of a variable is the same in every run.
    pub is_fixed: &'a dyn Fn(SymbolId) -> bool,
}

impl Reader<'_> {
    /// Adds what the clauses of a directive say; those about the whole construct only where it is one.
    pub fn read(&self, directive: &Directive, all: &mut Clauses) -> Result<(), Why> {
        for at in plan::effective(directive, self.device_type).0 {
            let Some(clause) = directive.clauses.get(at) else { continue };
            self.clause(&clause.kind, clause.span, all)?;
        }
        Ok(())
    }

    fn clause(&self, kind: &ClauseKind, at: Span, all: &mut Clauses) -> Result<(), Why> {
        let refused = |what: &str| Err(Why::new(at, format!("{what} of a compute construct of Fortran")));
        if all.order.takes(kind) {
            return Ok(());
        }
        if let Some(word) = level(kind, all) {
            all.words.push(word);
            return Ok(());
        }
        match kind {
            ClauseKind::Wait(_) => return refused("`wait(devnum: …)`"),
            ClauseKind::Private(list) | ClauseKind::Firstprivate(list) | ClauseKind::Reduction(_, list)
                if list.iter().any(|item| self.is_object(item) && !self.is_struct(item, kind)) =>
            {
                return refused("an object in a clause about its copies");
            }
            ClauseKind::Private(list) => {
                for item in list {
                    self.listed(item, "private", Keeps::Private, all)?;
                }
            }
            ClauseKind::Firstprivate(list) => {
                for item in list {
                    let (symbol, class) = self.symbol(item)?;
                    if class == Class::Array {
                        self.section(item, "firstprivate(", symbol, all)?;
                    } else {
                        all.words.extend((self.name)(symbol).map(|name| format!("firstprivate({name})")));
                    }
                }
            }
            ClauseKind::Reduction(op, list) => {
                let Some(operator) = operator(*op) else { return refused("this reduction") };
                for item in list {
                    let (symbol, class) = self.symbol(item)?;
                    if class == Class::Array {
                        if !item.parts.is_empty() {
                            return refused("a reduction of a section");
                        }
                        self.section(item, &format!("reduction({operator}:"), symbol, all)?;
                        continue;
                    }
                    all.words.extend((self.name)(symbol).map(|name| format!("reduction({operator}:{name})")));
                    all.scalars.push((Keeps::Reference, symbol));
                }
            }
            ClauseKind::Default { none } => all.is_default_present |= !none,
            ClauseKind::Data(clause, list) => {
                for item in list {
                    self.data(*clause, item, all)?;
                }
            }
            ClauseKind::Seq => all.words.push("seq".to_owned()),
            ClauseKind::Independent => all.words.push("independent".to_owned()),
            ClauseKind::Auto => all.words.push("auto".to_owned()),
            ClauseKind::Collapse { force: false, count } if is_number(&count.text) => {
                all.words.push(format!("collapse({})", count.text.trim()));
            }
            ClauseKind::Collapse { .. } => return refused("this `collapse`"),
            ClauseKind::Tile(sizes) => {
                if !sizes.iter().all(|size| is_number(&size.text) || size.text.trim() == "*") {
                    return refused("`tile` with a size that is not a number");
                }
                let sizes: Vec<&str> = sizes.iter().map(|size| size.text.trim()).collect();
                all.words.push(format!("tile({})", sizes.join(", ")));
            }
            ClauseKind::AtomicRead => all.words.push("read".to_owned()),
            ClauseKind::AtomicWrite => all.words.push("write".to_owned()),
            ClauseKind::AtomicUpdate => all.words.push("update".to_owned()),
            ClauseKind::AtomicCapture => all.words.push("capture".to_owned()),
            _ => return refused("this clause"),
        }
        Ok(())
    }

    fn symbol(&self, item: &ListItem) -> Result<(SymbolId, Class), Why> {
        let at = item.span;
        if item.common || item.depth() > 0 {
            return Err(Why::new(at, format!("`{}` in a clause", item.text)));
        }
        let symbol = self.symbols.lookup(item.variable(), at.start);
        let symbol =
            symbol.ok_or_else(|| Why::new(at, format!("`{}`, whose type is not seen,", item.text)))?;
        Ok((symbol, self.symbols.get(symbol).class))
    }

    fn is_object(&self, item: &ListItem) -> bool {
        let symbol = self.symbols.lookup(item.variable(), item.span.start);
        symbol.is_some_and(|symbol| {
            let known = self.symbols.get(symbol);
            known.record.is_some() || known.class == Class::Record
        })
    }

    /// Whether an item is an object that is a struct in C++, in a clause that may name one.
    fn is_struct(&self, item: &ListItem, kind: &ClauseKind) -> bool {
        let symbol = self.symbols.lookup(item.variable(), item.span.start);
        let is_plain = symbol.is_some_and(|symbol| self.symbols.get(symbol).shape.is_empty());
        is_plain
            && item.parts.is_empty()
            && !matches!(kind, ClauseKind::Reduction(..))
            && symbol.is_some_and(|symbol| (self.name)(symbol).is_some())
    }

    fn listed(&self, item: &ListItem, word: &str, keeps: Keeps, all: &mut Clauses) -> Result<(), Why> {
        let (symbol, class) = self.symbol(item)?;
        if (self.inside)(symbol) {
            // An array of a block stands around the directive; a scalar may be declared in the head of its loop.
            let name = (self.name)(symbol).filter(|_| class == Class::Array);
            all.words.extend(name.map(|name| format!("{word}({name})")));
            return Ok(());
        }
        if !(self.is_fixed)(symbol) {
            return self.section(item, &format!("{word}("), symbol, all);
        }
        all.words.extend((self.name)(symbol).map(|name| format!("{word}({name})")));
        all.scalars.push((keeps, symbol));
        Ok(())
    }

    /// A clause about memory that the pointer leads to that an array is in C++: all of it, also where a section is named.
    fn section(&self, item: &ListItem, word: &str, symbol: SymbolId, all: &mut Clauses) -> Result<(), Why> {
        let known = self.symbols.get(symbol);
        let named = (self.name)(symbol).filter(|_| !known.fortran.assumed_size);
        let section = named.zip((self.section)(symbol));
        let (name, section) =
            section.ok_or_else(|| Why::new(item.span, format!("`{}` in a clause", item.text)))?;
        all.words.push(format!("{word}{name}{section})"));
        all.scalars.push((Keeps::Section, symbol));
        Ok(())
    }

    fn data(&self, clause: DataClause, item: &ListItem, all: &mut Clauses) -> Result<(), Why> {
        if item.depth() > 0 && !item.common {
            all.data.push((clause, item.clone()));
            return Ok(());
        }
        let (symbol, class) = self.symbol(item)?;
        if matches!(class, Class::Array | Class::Record) {
            all.data.push((clause, item.clone()));
            return Ok(());
        }
        // The variable of a loop is declared in its head.
        if (self.inside)(symbol) {
            return Ok(());
        }
        let word = match clause {
            DataClause::Copy => "copy",
            DataClause::Copyin { .. } => "copyin",
            DataClause::Copyout { .. } => "copyout",
            DataClause::Create { .. } => "create",
            DataClause::Present => "present",
            _ => return Err(Why::new(item.span, "this clause about a scalar")),
        };
        all.words.extend((self.name)(symbol).map(|name| format!("{word}({name})")));
        all.scalars.push((Keeps::Reference, symbol));
        Ok(())
    }
}

/// A clause about levels and their sizes.
fn level(kind: &ClauseKind, all: &mut Clauses) -> Option<String> {
    let (word, sizes): (&str, Vec<String>) = match kind {
        ClauseKind::NumGangs(sizes) => {
            ("num_gangs", sizes.iter().map(|size| number(size, "gangs", all)).collect())
        }
        ClauseKind::NumWorkers(size) => ("num_workers", vec![number(size, "workers", all)]),
        ClauseKind::VectorLength(size) => ("vector_length", vec![number(size, "length", all)]),
        ClauseKind::Gang(args) => ("gang", args.iter().map(|arg| gang(arg, all)).collect()),
        ClauseKind::Worker(size) => {
            ("worker", size.iter().map(|size| number(size, "workers", all)).collect())
        }
        ClauseKind::Vector(size) => ("vector", size.iter().map(|size| number(size, "length", all)).collect()),
        _ => return None,
    };
    Some(with_arguments(word, &sizes))
}

fn with_arguments(word: &str, args: &[String]) -> String {
    if args.is_empty() { word.to_owned() } else { format!("{word}({})", args.join(", ")) }
}

fn is_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A size: a number, or the name of what Fortran computes and passes.
fn number(expr: &Expr, word: &str, all: &mut Clauses) -> String {
    let text = expr.text.trim();
    if is_number(text) || text == "*" {
        return text.to_owned();
    }
    let name = format!("{word}_{}", all.args.len() + 1);
    let actual = format!("int({text}, 4)");
    let passed = Passed::Value;
    all.args.push(Argument { name: name.clone(), passed, ty: Type::INTEGER, actual, object: None });
    name
}

fn gang(arg: &GangArgument, all: &mut Clauses) -> String {
    match arg {
        GangArgument::Num(size) => format!("num: {}", number(size, "gangs", all)),
        GangArgument::Dim(size) => format!("dim: {}", number(size, "dim", all)),
        GangArgument::Static(size) => format!("static: {}", number(size, "chunk", all)),
    }
}

/// The operator of a reduction in C++.
fn operator(op: ReductionOp) -> Option<&'static str> {
    Some(match op {
        ReductionOp::Add => "+",
        ReductionOp::Multiply => "*",
        ReductionOp::Max => "max",
        ReductionOp::Min => "min",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Eqv | ReductionOp::Neqv => return None,
    })
}
