//! A program, before it is written in a language.
//!
//! Invariant: subscripts begin with 0 and rows are contiguous, as in C; how a language says it is known to its printer alone.

mod clause;
mod typing;

pub use self::clause::{Clause, DataKind, Item};

/// A variable, by its number in the program.
pub type VarId = usize;
/// A function, by its number in the program.
pub type FunctionId = usize;

/// What the values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Num {
    /// Logical values; only conditions.
    Truth,
    /// `int`.
    Int,
    /// An integer of 64 bits.
    Long,
    /// A real number of 32 bits; the values are small integers.
    Single,
    /// A real number of 64 bits; the values are small integers.
    Double,
}

impl Num {
    /// Whether it is a kind of real numbers.
    pub fn is_real(self) -> bool {
        matches!(self, Num::Single | Num::Double)
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Num(Num),
    /// An array with its extents, the last one contiguous.
    Array(Vec<usize>, Box<Type>),
    /// A structure, by its number in the program.
    Struct(usize),
    /// A pointer to elements; in Fortran an array with `pointer` or `allocatable`.
    Pointer(Box<Type>),
}

impl Type {
    /// An array of numbers.
    pub fn array(extents: &[usize], num: Num) -> Type {
        Type::Array(extents.to_vec(), Box::new(Type::Num(num)))
    }

    /// A pointer to numbers.
    pub fn pointer(num: Num) -> Type {
        Type::Pointer(Box::new(Type::Num(num)))
    }
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// How Fortran says a pointer.
    pub flavour: Flavour,
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its members.
    pub fields: Vec<Field>,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In the file, or in Fortran's module.
    Global,
    /// In the function, or in a block of it.
    Local,
    /// A parameter.
    Parameter,
}

/// What a variable is besides its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// Nothing special; a pointer of C.
    #[default]
    Plain,
    /// Fortran's `allocatable`.
    Allocatable,
    /// Fortran's `pointer` of an array.
    FortranPointer,
    /// A pointer to one number or structure, used without a subscript.
    ToScalar,
    /// Another name of an object: a reference of C++, a name of `associate`.
    Reference,
}

/// How Fortran declares a dummy argument that is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dummy {
    /// `a(0:n-1)`.
    Explicit(usize),
    /// `a(0:)`.
    Assumed,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it lives.
    pub storage: Storage,
    /// What it is besides.
    pub flavour: Flavour,
    /// A pointer with `restrict`.
    pub restrict: bool,
    /// A pointer to `const`; in Fortran `intent(in)`.
    pub constant: bool,
    /// Fortran's lower bound of an array.
    pub lower: i64,
    /// How Fortran declares an array that is a parameter.
    pub dummy: Dummy,
    /// The loop that counts with it declares it, in C.
    pub in_loop: bool,
}

/// A place in memory, as an expression names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A variable.
    Var(VarId),
    /// An element of an array (all subscripts) or of what a pointer points to (one).
    Index(Box<Place>, Vec<Expr>),
    /// A member of a structure, by its number.
    Member(Box<Place>, usize),
    /// What a pointer points to, without a subscript.
    Target(Box<Place>),
}

impl Place {
    /// The variable that the place is in, or is reached by.
    pub fn base(&self) -> VarId {
        match self {
            Place::Var(var) => *var,
            Place::Index(inner, _) | Place::Member(inner, _) | Place::Target(inner) => inner.base(),
        }
    }

    /// An element of it.
    pub fn at(self, subscripts: Vec<Expr>) -> Place {
        Place::Index(Box::new(self), subscripts)
    }

    /// A member of it.
    pub fn member(self, field: usize) -> Place {
        Place::Member(Box::new(self), field)
    }
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    /// The remainder of integers.
    Mod,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    Lt,
    Le,
    Eq,
    Ne,
    And,
    Or,
}

impl Op {
    /// Whether the result is a logical value.
    pub fn is_truth(self) -> bool {
        matches!(self, Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::And | Op::Or)
    }

    /// Whether only integers have it.
    pub fn is_of_integers(self) -> bool {
        matches!(self, Op::Mod | Op::BitAnd | Op::BitOr | Op::BitXor)
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// A number that a macro or a named constant stands for.
    Named(i64),
    /// What a place holds.
    Read(Place),
    /// Two operands.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A condition and two values.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function's value.
    Call(FunctionId, Vec<Expr>),
    /// The address of a place; in Fortran the place as a target or an actual argument.
    Address(Place),
}

impl Expr {
    /// A variable's value.
    pub fn var(var: VarId) -> Expr {
        Expr::Read(Place::Var(var))
    }

    /// Two operands.
    pub fn binary(op: Op, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// A sum with a number, which may be 0 or less.
    pub fn plus(self, number: i64) -> Expr {
        match number {
            0 => self,
            ..0 => Expr::binary(Op::Sub, self, Expr::Const(-number)),
            _ => Expr::binary(Op::Add, self, Expr::Const(number)),
        }
    }
}

/// Some statements.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// An assignment, perhaps with an operator, perhaps atomic.
    Assign { place: Place, op: Option<Op>, value: Expr, atomic: bool },
    /// A condition.
    If { condition: Expr, then: Block, other: Block },
    /// A counted loop.
    Loop(Loop),
    /// A compute construct.
    Compute(Compute),
    /// A `data` construct.
    Data { clauses: Vec<Clause>, body: Block },
    /// A `host_data` construct.
    HostData { clauses: Vec<Clause>, body: Block },
    /// A directive without code.
    Alone { kind: Alone, clauses: Vec<Clause> },
    /// A call; nothing is done with its value.
    Call(FunctionId, Vec<Expr>),
    /// A pointer gets a target.
    Point { place: Place, target: Expr },
    /// A pointer or an allocatable array gets memory for so many elements.
    Allocate { place: Place, count: usize },
    /// It gives the memory back.
    Free { place: Place },
    /// Every number of a place (or so many elements that a pointer leads to) gets `(k * factor + add) % modulus`.
    Fill { place: Place, count: usize, factor: i64, add: i64, modulus: i64 },
    /// A check line: the values of a place (or of so many elements that a pointer leads to).
    Show { id: usize, place: Place, count: usize },
    /// A block of variables of its own.
    Scope { vars: Vec<VarId>, body: Block },
    /// Another name for a place.
    Alias { var: VarId, target: Place, body: Block },
    /// Code of the host that is run so many times, or left before its end.
    Path(Path),
    /// A jump to the end of a path around, if the condition is true; `again`: to its next turn.
    Leave { shape: Shape, number: usize, again: bool, condition: Expr },
    /// All elements of an array at once (Fortran): `a(lo:lo+n-1) = value`, where `counter` is the element.
    Elements { place: Place, counter: VarId, low: i64, count: i64, value: Expr },
}

/// How code of the host is written that jumps leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A counted loop.
    Loop,
    /// `do … while (0)`; in Fortran a block with a name.
    Once,
    /// A branch of `switch` or `select case`.
    Branch,
    /// Labels before and after it.
    Labels,
}

/// Code of the host that is run so many times, or left before its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// How it is written.
    pub shape: Shape,
    /// No other path has it.
    pub number: usize,
    /// Counts the turns, from 0.
    pub counter: VarId,
    /// So many turns; one, unless it is a loop or has labels.
    pub turns: i64,
    /// Its code.
    pub body: Block,
}

/// A directive that governs no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    EnterData,
    ExitData,
    Update,
    Wait,
}

/// A counted loop: `counter` goes from `low` as long as it is below `end` (above it, if `step` is negative).
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The variable that counts.
    pub counter: VarId,
    /// Its first value.
    pub low: Expr,
    /// The value that it does not reach.
    pub end: Expr,
    /// What is added; not 0.
    pub step: i64,
    /// The condition says `<=` or `>=`.
    pub inclusive: bool,
    /// The clauses of its `loop` directive, if it has one.
    pub directive: Option<Vec<Clause>>,
    /// Its body.
    pub body: Block,
}

/// The kind of a compute construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Parallel,
    Serial,
    Kernels,
}

/// A compute construct.
#[derive(Clone, Debug, PartialEq)]
pub struct Compute {
    /// Its kind.
    pub kind: Kind,
    /// Its clauses.
    pub clauses: Vec<Clause>,
    /// Written as one directive with its loop, which is the only statement of the body and has a directive.
    pub combined: bool,
    /// Its body.
    pub body: Block,
}

/// The level of a device routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Seq,
    Vector,
    Worker,
    Gang,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<VarId>,
    /// The kind of its value; none for a procedure.
    pub value: Option<Num>,
    /// It is a device routine.
    pub routine: Option<Level>,
    /// The clauses of its `declare` directives.
    pub declares: Vec<Clause>,
    /// They stand in one directive.
    pub is_one_declare: bool,
    /// Its statements.
    pub body: Block,
    /// The expression that it returns.
    pub result: Option<Expr>,
}

/// How the program is written, where the tree does not say it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Directives come from macros.
    pub pragma_macros: bool,
    /// Loop headers come from macros.
    pub loop_macros: bool,
    /// Numbers with names are macros; if not, they are constants of the language.
    pub constant_macros: bool,
    /// Elements come from macros.
    pub access_macros: bool,
    /// Numbers that vary are named by macros.
    pub name_macros: bool,
    /// Pointers of C are written `*(p + i)`.
    pub stars: bool,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its structures.
    pub structs: Vec<Struct>,
    /// All variables.
    pub vars: Vec<Var>,
    /// Its functions; the first one is the entry.
    pub functions: Vec<Function>,
    /// `declare` directives of the file or module.
    pub declares: Vec<Clause>,
    /// First values of variables of the file.
    pub initial: Vec<(VarId, i64)>,
    /// How it is written.
    pub style: Style,
}
