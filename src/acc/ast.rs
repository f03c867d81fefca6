//! The typed syntax tree of one OpenACC directive.
//!
//! Invariant: every part has the span of its bytes in the source; nothing here knows the host language's grammar.

use crate::source::Span;

/// One directive, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Which directive it is.
    pub kind: DirectiveKind,
    /// The bytes of its name (`parallel loop`, `enter data` …).
    pub name_span: Span,
    /// What stands in parentheses right after the name.
    pub argument: Argument,
    /// The clauses in the order written.
    pub clauses: Vec<Clause>,
    /// From the sentinel's first byte to the directive's last byte.
    pub span: Span,
}

/// The directives of OpenACC 3.3 chapter 2; combined constructs are directives of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DirectiveKind {
    /// `parallel` (2.5.1)
    Parallel,
    /// `serial` (2.5.2)
    Serial,
    /// `kernels` (2.5.3)
    Kernels,
    /// `parallel loop` (2.11)
    ParallelLoop,
    /// `serial loop` (2.11)
    SerialLoop,
    /// `kernels loop` (2.11)
    KernelsLoop,
    /// `data` (2.6.5)
    Data,
    /// `enter data` (2.6.6)
    EnterData,
    /// `exit data` (2.6.6)
    ExitData,
    /// `host_data` (2.8)
    HostData,
    /// `loop` (2.9)
    Loop,
    /// `cache` (2.10)
    Cache,
    /// `atomic` (2.12); which form is a clause
    Atomic,
    /// `declare` (2.13)
    Declare,
    /// `init` (2.14.1)
    Init,
    /// `shutdown` (2.14.2)
    Shutdown,
    /// `set` (2.14.3)
    Set,
    /// `update` (2.14.4)
    Update,
    /// `wait` (2.16.3)
    Wait,
    /// `routine` (2.15.1)
    Routine,
    /// Fortran's `end …` of one of the above
    End(EndKind),
}

impl DirectiveKind {
    /// Whether it makes the variable of the loop that it governs private (2.6.1).
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            DirectiveKind::Loop
                | DirectiveKind::ParallelLoop
                | DirectiveKind::SerialLoop
                | DirectiveKind::KernelsLoop
        )
    }

    /// Whether it is `kernels`, be it combined with a loop (2.5.3, 2.11).
    pub fn is_kernels(self) -> bool {
        matches!(self, DirectiveKind::Kernels | DirectiveKind::KernelsLoop)
    }

    /// Whether it is a compute construct, be it combined with a loop (2.5, 2.11).
    pub fn is_compute(self) -> bool {
        matches!(
            self,
            DirectiveKind::Parallel
                | DirectiveKind::Serial
                | DirectiveKind::Kernels
                | DirectiveKind::ParallelLoop
                | DirectiveKind::SerialLoop
                | DirectiveKind::KernelsLoop
        )
    }
}

/// What a Fortran `end` directive ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndKind {
    /// `end parallel`
    Parallel,
    /// `end serial`
    Serial,
    /// `end kernels`
    Kernels,
    /// `end loop`, which some write though the specification has none
    Loop,
    /// `end parallel loop`
    ParallelLoop,
    /// `end serial loop`
    SerialLoop,
    /// `end kernels loop`
    KernelsLoop,
    /// `end data`
    Data,
    /// `end host_data`
    HostData,
    /// `end atomic`
    Atomic,
}

/// What stands in parentheses after a directive's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// `routine(name)`
    Name(Name),
    /// `cache([readonly:] list)`
    List {
        /// The `readonly:` modifier stands before the list.
        readonly: bool,
        /// The list items.
        list: Vec<ListItem>,
    },
    /// `wait(…)`
    Wait(WaitArgument),
}

/// `[devnum: e :] [queues:] e, e …` (2.16)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitArgument {
    /// The expression after `devnum:`.
    pub devnum: Option<Expr>,
    /// The async arguments waited for.
    pub queues: Vec<Expr>,
}

/// An identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its text; in Fortran, where case does not matter, in lower case.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// An expression of the host language, not taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its text on one line: continuations and comments inside it are a blank.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// One clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What it says.
    pub kind: ClauseKind,
    /// The word as written (`pcopy`, `host` …).
    pub name: Name,
    /// The whole clause.
    pub span: Span,
    /// The modifier before a list, as `readonly`.
    pub modifier: Option<Span>,
    /// The `device_type` clause it stands after: its index in `Directive::clauses`; `None` if it stands before all.
    pub device_type: Option<usize>,
}

/// What a clause says. An alias has the kind of the word it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// `if(condition)`
    If(Expr),
    /// `self` or `self(condition)` on a compute construct
    SelfRun(Option<Expr>),
    /// `async` or `async(e)`
    Async(Option<Expr>),
    /// `wait` or `wait(…)`
    Wait(Option<WaitArgument>),
    /// `num_gangs(e[, e[, e]])`
    NumGangs(Vec<Expr>),
    /// `num_workers(e)`
    NumWorkers(Expr),
    /// `vector_length(e)`
    VectorLength(Expr),
    /// `device_type(list)`; `*` is a name too
    DeviceType(Vec<Name>),
    /// `private(list)`
    Private(Vec<ListItem>),
    /// `firstprivate(list)`
    Firstprivate(Vec<ListItem>),
    /// `reduction(op: list)`
    Reduction(ReductionOp, Vec<ListItem>),
    /// `default(none)` (`true`) or `default(present)` (`false`)
    Default {
        /// `none` rather than `present`.
        none: bool,
    },
    /// A data clause with its list: `copy`, `present`, `deviceptr` …
    Data(DataClause, Vec<ListItem>),
    /// `use_device(list)` of `host_data`
    UseDevice(Vec<ListItem>),
    /// `finalize`
    Finalize,
    /// `if_present`
    IfPresent,
    /// `gang`, with its arguments
    Gang(Vec<GangArgument>),
    /// `worker` or `worker([num:] e)`
    Worker(Option<Expr>),
    /// `vector` or `vector([length:] e)`
    Vector(Option<Expr>),
    /// `seq`
    Seq,
    /// `independent`
    Independent,
    /// `auto`
    Auto,
    /// `collapse([force:] n)`
    Collapse {
        /// The `force:` modifier.
        force: bool,
        /// How many loops, a constant expression.
        count: Expr,
    },
    /// `tile(size, …)`; a size is an expression or `*`
    Tile(Vec<Expr>),
    /// `read` of `atomic`
    AtomicRead,
    /// `write` of `atomic`
    AtomicWrite,
    /// `update` of `atomic`
    AtomicUpdate,
    /// `capture` of `atomic`
    AtomicCapture,
    /// `self(list)` or `host(list)` of `update`
    UpdateSelf(Vec<ListItem>),
    /// `device(list)` of `update`
    UpdateDevice(Vec<ListItem>),
    /// `bind(name)` or `bind("name")`, as written
    Bind(Expr),
    /// `nohost`
    Nohost,
    /// `default_async(e)` of `set`
    DefaultAsync(Expr),
    /// `device_num(e)` of `init`, `shutdown`, `set`
    DeviceNum(Expr),
}

/// The data clauses of 2.7 and 2.13, without the `pcopy` and `present_or_copy` aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataClause {
    /// `copy`
    Copy,
    /// `copyin`
    Copyin {
        /// The `readonly:` modifier.
        readonly: bool,
    },
    /// `copyout`
    Copyout {
        /// The `zero:` modifier.
        zero: bool,
    },
    /// `create`
    Create {
        /// The `zero:` modifier.
        zero: bool,
    },
    /// `present`
    Present,
    /// `no_create`
    NoCreate,
    /// `deviceptr`
    Deviceptr,
    /// `attach`
    Attach,
    /// `detach`
    Detach,
    /// `delete`
    Delete,
    /// `device_resident` of `declare`
    DeviceResident,
    /// `link` of `declare`
    Link,
}

/// A reduction operator, both languages' spellings (2.5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReductionOp {
    /// `+`
    Add,
    /// `*`
    Multiply,
    /// `max`
    Max,
    /// `min`
    Min,
    /// `&`, `iand`
    BitAnd,
    /// `|`, `ior`
    BitOr,
    /// `^`, `ieor`
    BitXor,
    /// `&&`, `.and.`
    And,
    /// `||`, `.or.`
    Or,
    /// `.eqv.`
    Eqv,
    /// `.neqv.`
    Neqv,
}

impl ReductionOp {
    /// The operator of this word, in lower case. OpenACC 3.3 has no `-`; gcc accepts it, and sums up.
    pub fn of(text: &str) -> Option<ReductionOp> {
        Some(match text {
            "+" | "-" => ReductionOp::Add,
            "*" => ReductionOp::Multiply,
            "max" => ReductionOp::Max,
            "min" => ReductionOp::Min,
            "&" | "iand" => ReductionOp::BitAnd,
            "|" | "ior" => ReductionOp::BitOr,
            "^" | "ieor" => ReductionOp::BitXor,
            "&&" | ".and." => ReductionOp::And,
            "||" | ".or." => ReductionOp::Or,
            ".eqv." => ReductionOp::Eqv,
            ".neqv." => ReductionOp::Neqv,
            _ => return None,
        })
    }

    /// How it is spelled in C, or in Fortran.
    pub fn spelled(self, is_fortran: bool) -> &'static str {
        let (c, fortran) = match self {
            ReductionOp::Add => ("+", "+"),
            ReductionOp::Multiply => ("*", "*"),
            ReductionOp::Max => ("max", "max"),
            ReductionOp::Min => ("min", "min"),
            ReductionOp::BitAnd => ("&", "iand"),
            ReductionOp::BitOr => ("|", "ior"),
            ReductionOp::BitXor => ("^", "ieor"),
            ReductionOp::And => ("&&", ".and."),
            ReductionOp::Or => ("||", ".or."),
            ReductionOp::Eqv => (".eqv.", ".eqv."),
            ReductionOp::Neqv => (".neqv.", ".neqv."),
        };
        if is_fortran { fortran } else { c }
    }
}

/// An argument of `gang`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GangArgument {
    /// `num: e`, or a bare expression
    Num(Expr),
    /// `dim: e`
    Dim(Expr),
    /// `static: e`; `*` is an expression too
    Static(Expr),
}

/// A variable in a clause: `a`, `a[0:n]`, `s.p[0:n]`, `p->q`, `x%y(1:n)`, `/common/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// The variable the item begins with.
    pub base: Name,
    /// What follows it, in order.
    pub parts: Vec<PathStep>,
    /// The item's text on one line.
    pub text: String,
    /// Its bytes.
    pub span: Span,
    /// A Fortran common block name between slashes.
    pub common: bool,
}

impl ListItem {
    /// The variable that it is about: `p` for `p[0:n]`, and for `this->p[0:n]`.
    pub fn variable(&self) -> &str {
        match self.parts.first() {
            // `this` is a name like any other in Fortran.
            Some(PathStep::Member(member)) if self.base.text == "this" && !self.text.contains('%') => {
                &member.text
            }
            _ => &self.base.text,
        }
    }

    /// Its first name, with the namespaces or classes that stand before it.
    pub fn name_in_full(&self) -> &str {
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':');
        let end = self.text.find(|char| !is_part(char)).unwrap_or(self.text.len());
        match &self.text[..end] {
            name if name.ends_with(self.base.text.as_str()) => name,
            _ => &self.base.text,
        }
    }

    /// In C, the item without the subscripts that [`ListItem::subscripts`] gives: `v[j].x` for `v[j].x[0:n]`.
    pub fn head(&self) -> &str {
        let mut head = self.text.trim_end();
        let after = self.parts.iter().rev().take_while(|part| matches!(part, PathStep::Section(_)));
        for _ in after {
            let mut depth = 0usize;
            let opening = head.char_indices().rev().find(|(_, char)| {
                match char {
                    ']' => depth += 1,
                    '[' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                *char == '[' && depth == 0
            });
            let Some((at, _)) = opening else { break };
            head = head[..at].trim_end();
        }
        head
    }

    /// How many members lead to it: an object has fewer than what is in it.
    pub fn depth(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, PathStep::Member(_))).count()
    }

    /// The subscripts after its last member.
    pub fn subscripts(&self) -> Vec<&Subscript> {
        let after = self.parts.iter().rev().take_while(|part| matches!(part, PathStep::Section(_)));
        let mut sections: Vec<&PathStep> = after.collect();
        sections.reverse();
        sections
            .into_iter()
            .flat_map(|part| match part {
                PathStep::Section(subscripts) => subscripts.as_slice(),
                PathStep::Member(_) => &[],
            })
            .collect()
    }
}

/// One step after a list item's variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// `.name`, `->name` or `%name`
    Member(Name),
    /// One C bracket, or all subscripts of a Fortran parenthesis.
    Section(Vec<Subscript>),
}

/// One dimension of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// `e`: one element
    Index(Expr),
    /// `start : length` in C, `lower : upper [: stride]` in Fortran; each part may be missing
    Range {
        /// What stands before the first colon.
        first: Option<Expr>,
        /// What stands after it.
        second: Option<Expr>,
        /// Fortran's stride.
        stride: Option<Expr>,
    },
}
