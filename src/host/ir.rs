//! The structure IR: what tree-sitter saw, in one shape for all host languages.
//!
//! Invariant: arenas and ids only (no boxes), every node has its span in the original bytes, and no grammar's node name appears here.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use crate::budget;
use crate::source::{self, Named, Span};

use super::anonymous::Anonymous;
use super::asked::Asked;
use super::forms::Forms;
use super::unseen::Unseen;
use super::within::Places;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}
id!(
    /// Index into `Unit::exprs`.
    ExprId,
    /// Index into `Unit::stmts`.
    StmtId,
    /// Index into `Unit::decls`.
    DeclId,
    /// Index into `Unit::functions`.
    FunctionId,
    /// Index into `Unit::records`.
    RecordId,
    /// Index into `Unit::scopes`.
    ScopeId
);

/// The language that a unit was read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// C
    #[default]
    C,
    /// C++
    Cpp,
    /// Fortran: names are in lower case, and an argument is passed by reference.
    Fortran,
}

/// How the name begins of a loop that has none in the program.
pub const UNNAMED: &str = "loop without a name";

/// One translation unit's file.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// All expressions.
    pub exprs: Vec<Expr>,
    /// All statements.
    pub stmts: Vec<Stmt>,
    /// All declarations of variables, parameters, typedefs, functions (prototypes) and enumerators.
    pub decls: Vec<Decl>,
    /// All function definitions, in source order.
    pub functions: Vec<Function>,
    /// All struct, union and class definitions.
    pub records: Vec<Record>,
    /// Declarations at file scope, in source order.
    pub globals: Vec<DeclId>,
    /// Spans at file scope of everything there (functions, declarations …), in source order, for binding.
    pub top_level: Vec<Span>,
    /// The names of all enumerations that have one.
    pub enums: Vec<String>,
    /// All lambda expressions, by place: their bytes, and whether they capture anything.
    pub lambdas: Vec<(Span, bool)>,
    /// The lines that include files, in source order.
    pub included: Vec<Span>,
    /// The variables that conditions of C++ declare, and the bytes of the statements that they are visible in.
    pub conditional: Vec<(Span, DeclId)>,
    /// The names of structured bindings.
    pub bindings: BTreeSet<DeclId>,
    /// The members that are `mutable`.
    pub mutable: BTreeSet<DeclId>,
    /// Functions that take an argument by a reference through which they may write: the name, and the argument's place.
    pub by_reference: Vec<(String, usize)>,
    /// Names of C++ types that are references.
    pub reference_types: BTreeSet<String>,
    /// What it was read as.
    pub dialect: Dialect,
    /// Fortran's scoping units, outer ones before inner ones.
    pub scopes: Vec<Scope>,
    /// Fortran: an interface or a type defines assignment (Fortran 2018, 10.2.1.4).
    pub has_assignment: bool,
    /// Fortran: an interface or a type defines an operator, assignment, or what happens when an object ends.
    pub has_operators: bool,
    /// C: where the floating-point numbers begin that are written out.
    pub reals: FxHashSet<u32>,
    /// Fortran's `allocate` and `deallocate` statements, by place.
    pub allocations: Vec<Allocation>,
    /// The labels of `switch` and `select` that are taken if no other is, in order.
    pub defaults: Vec<StmtId>,
    /// The values of the labels of Fortran's `select case`, ranges as `Triplet`s.
    pub cases: Vec<(StmtId, Vec<ExprId>)>,
    /// Fortran's named loops, and those that an `exit` in a `select` leaves, which get an `UNNAMED` one. Where the loop is not the innermost one, `exit name` is a `Goto` with the label `name`, and
    /// `cycle name` one with the label `cycle name`.
    pub loop_names: Vec<(StmtId, String)>,
    /// Dummy arguments of Fortran procedures that the procedure does not change (`intent(in)`, `value`): the procedure's
    /// name, and the argument's place.
    pub inputs: Vec<(String, usize)>,
    /// Fortran's `do concurrent` loops, inner ones before outer ones.
    pub concurrent: Vec<Concurrent>,
    /// The loops of Fortran's `forall`, which are not `do` loops.
    pub forall: Vec<StmtId>,
    /// Fortran's statement functions.
    pub statement_functions: Vec<StatementFunction>,
    /// Arguments of Fortran's references that are named there: the value, and the name; by id of the value.
    pub keywords: Vec<(ExprId, String)>,
    /// What C writes and the nodes here do not say.
    pub forms: Forms,
    /// The anonymous unions and structs, once it was asked.
    pub(super) anonymous: OnceLock<Anonymous>,
    /// What directives do with variables; set where they are joined to the code.
    pub asked: OnceLock<Asked>,
    /// What the structure does not show of functions.
    pub unseen: Unseen,
    /// Spans of what the grammar could not understand.
    pub errors: Vec<Span>,
    /// Where the expressions begin.
    pub(super) expr_places: Places,
    /// Where the statements begin.
    pub(super) stmt_places: Places,
    /// Where the declarations begin.
    pub(super) decl_places: Places,
    /// Where the names of the declarations begin.
    pub(super) decl_name_places: Places,
    /// The declarations by name.
    pub(super) decl_names: Named,
    /// The enumerators by name.
    pub(super) enumerator_names: Named,
    /// The names of types by name.
    pub(super) typedef_names: Named,
    /// The functions by name.
    pub(super) function_names: Named,
    /// The records by tag.
    pub(super) record_names: Named,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, without that of its class or namespace.
    pub name: String,
    /// The bytes of its name.
    pub name_span: Span,
    /// The class (or namespace) that its name is qualified with, or whose body it stands in.
    pub member_of: Option<String>,
    /// From the first byte of its declaration, `template` included, to its closing brace.
    pub span: Span,
    /// Its parameters.
    pub params: Vec<DeclId>,
    /// The type that it returns, as C writes it in a cast; empty where that is not known.
    pub returns: String,
    /// Its definition says `static`.
    pub is_static: bool,
    /// Its body, a block.
    pub body: StmtId,
    /// The function contains something the grammar could not understand.
    pub has_error: bool,
}

/// A Fortran scoping unit (Fortran 2018, 2.2): program, module, submodule, procedure or interface body.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// Its name in lower case; empty for a main program without one.
    pub name: String,
    /// All of it, from its first statement to its `end` statement, contained procedures included.
    pub span: Span,
    /// The scoping unit that it stands in.
    pub parent: Option<ScopeId>,
    /// For a submodule, the module (or submodule) that it extends.
    pub extends: Option<String>,
    /// What it declares, dummy arguments and the result among them.
    pub decls: Vec<DeclId>,
    /// Its `use` statements.
    pub uses: Vec<ModuleUse>,
    /// How names without a declaration are typed.
    pub implicit: Implicit,
    /// From the end of its first statement to the end of its last specification statement.
    pub specification: Span,
    /// Offset of the line end after its last `use`, `import` or `implicit` statement, or after its first statement: directives
    /// about its variables and itself may stand from there on.
    pub directives_from: u32,
    /// Of a module, names that are not accessible unless something says so: `private` without names.
    pub is_private: bool,
    /// Names whose access is stated: in a statement, or beside the type. True of those that are `public`.
    pub access: Vec<(String, bool)>,
    /// Its `common` blocks: the name, empty for the blank one, and the variables.
    pub commons: Vec<(String, Vec<String>)>,
    /// Its `namelist` groups: the name, and the variables.
    pub namelists: Vec<(String, Vec<String>)>,
    /// The variable that a function gives back: its own name, or that in `result`.
    pub result: Option<String>,
    /// `pure`, or `elemental` and not `impure`.
    pub is_pure: bool,
    /// `elemental` and not `impure`
    pub is_elemental: bool,
    /// `module procedure name` of an interface in another file, which declares the dummies and the result
    pub is_declared_elsewhere: bool,
    /// The procedure or main program, if it has statements of its own.
    pub function: Option<FunctionId>,
}

/// What a scoping unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// A main program.
    Program,
    /// A module.
    Module,
    /// A submodule.
    Submodule,
    /// A procedure, external, of a module, or contained in another one.
    Procedure,
    /// The body of an interface: the declaration of a procedure.
    Interface,
}

/// How names without a declaration are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Implicit {
    /// No `implicit` statement: as in the scoping unit around; in the outermost one, `i` to `n` are integers, others real.
    Host,
    /// `implicit none`
    None,
    /// `implicit type (letters) …`; other letters as in `Host`.
    Letters(Vec<Letters>),
}

/// A range of letters in an `implicit` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letters {
    /// The first letter.
    pub first: u8,
    /// The last one.
    pub last: u8,
    /// The type of the names that begin with them.
    pub base: BaseType,
    /// How the statement writes the type, its kind included.
    pub stated: Span,
}

/// A `use` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleUse {
    /// The module.
    pub module: String,
    /// The whole statement.
    pub span: Span,
    /// `only:` stands there: nothing but `names` is seen.
    pub only: bool,
    /// The names after `only:`, or the renamed ones: the name here, and the name in the module.
    pub names: Vec<(String, String)>,
}

/// An `allocate` or `deallocate` statement.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The statement.
    pub stmt: StmtId,
    /// `deallocate`
    pub frees: bool,
    /// `source=`: the memory gets values.
    pub copies: bool,
    /// What is allocated: names, members, each with its bounds as in a reference to an element.
    pub objects: Vec<ExprId>,
}

/// A `do concurrent` loop (Fortran 2018, 11.1.7): a `For` whose condition only holds what the header reads.
#[derive(Clone, Debug)]
pub struct Concurrent {
    /// The loop.
    pub stmt: StmtId,
    /// Its indices, the slowest first as written.
    pub indices: Vec<ConcurrentIndex>,
    /// The mask.
    pub mask: Option<ExprId>,
    /// `local(…)`
    pub local: Vec<String>,
    /// `local_init(…)`
    pub local_init: Vec<String>,
    /// `shared(…)`
    pub shared: Vec<String>,
    /// `reduce(operator : …)`: the operator or intrinsic in lower case, and the variable.
    pub reduce: Vec<(String, String)>,
    /// Its first statement.
    pub header: Span,
    /// The `do` statements that can replace it, if its `For` stands for a nest.
    pub nested: Option<Nested>,
}

/// The `do` loops that a `do concurrent` may be written as.
#[derive(Clone, Debug)]
pub struct Nested {
    /// The statements that replace its first one.
    pub heads: Vec<String>,
    /// Declarations of the indices that only its header declares.
    pub declarations: Vec<String>,
    /// Where its `end do` begins, which ends the innermost loop.
    pub end: u32,
}

/// An index of a `do concurrent` loop: `name = first : last : step`.
#[derive(Clone, Debug)]
pub struct ConcurrentIndex {
    /// The name.
    pub name: String,
    /// The bytes of the name.
    pub span: Span,
    /// The first value.
    pub first: ExprId,
    /// The last value.
    pub last: ExprId,
    /// The step, if one is written.
    pub step: Option<ExprId>,
}

/// A statement function (Fortran 2018, 15.6.4).
#[derive(Clone, Debug)]
pub struct StatementFunction {
    /// The declaration of its name.
    pub decl: DeclId,
    /// Its dummy arguments.
    pub dummies: Vec<String>,
    /// What it gives.
    pub value: ExprId,
}

/// A struct, union or class definition.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its tag; `None` if it has none.
    pub tag: Option<String>,
    /// The names of its base classes.
    pub bases: Vec<String>,
    /// Its members.
    pub members: Vec<DeclId>,
    /// Its members lie over one another.
    pub is_union: bool,
    /// All code may name its members, and each has an address: it is not a class, makes no member private, and has no bit-field.
    pub is_open: bool,
    /// Its bytes.
    pub span: Span,
}

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclKind {
    /// A variable.
    Variable,
    /// A parameter of a function.
    Parameter,
    /// A member of a struct or union.
    Member,
    /// A type name.
    Typedef,
    /// A function without its body.
    Prototype,
    /// A constant of an enumeration.
    Enumerator,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Decl {
    /// What it declares.
    pub kind: DeclKind,
    /// The name.
    pub name: String,
    /// The bytes of the name.
    pub name_span: Span,
    /// The whole declaration it stands in, semicolon included.
    pub span: Span,
    /// The type before the declarator.
    pub base: BaseType,
    /// What the declarator adds, from the name outwards: `double *a[3]` is array, then pointer.
    pub derived: Vec<Derived>,
    /// The initialiser.
    pub init: Option<ExprId>,
    /// `static`
    pub is_static: bool,
    /// `extern`
    pub is_extern: bool,
    /// `const` on the object itself
    pub is_const: bool,
    /// `restrict` on the outermost pointer
    pub is_restrict: bool,
    /// What only Fortran says.
    pub fortran: Attributes,
}

impl Decl {
    /// Whether it is an object or an array of objects: a pointer, a reference or a function leads to another place.
    pub fn is_object(&self) -> bool {
        self.derived.iter().all(|part| matches!(part, Derived::Array(_)))
    }

    /// The sizes of arrays that the declarator says.
    pub fn sizes(&self) -> impl Iterator<Item = ExprId> {
        self.derived.iter().filter_map(|part| match part {
            Derived::Array(size) => *size,
            _ => None,
        })
    }

    /// The name of the class or type that it is of, without what qualifies it and without template arguments.
    pub fn type_name(&self) -> Option<&str> {
        match &self.base {
            BaseType::Named(name) | BaseType::Tagged(name) => Some(source::plain_name(name)),
            _ => None,
        }
    }

    /// Whether it is another name of an object.
    pub fn is_alias(&self) -> bool {
        self.derived.first() == Some(&Derived::Reference) && !self.is_const
    }
}

/// The attributes of a Fortran entity (Fortran 2018, 8.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `allocatable`
    pub allocatable: bool,
    /// `pointer`
    pub pointer: bool,
    /// `target`
    pub target: bool,
    /// It shares its memory with other variables, by `equivalence`.
    pub is_equivalent: bool,
    /// `contiguous`
    pub contiguous: bool,
    /// `optional`
    pub optional: bool,
    /// `value`
    pub value: bool,
    /// `intent(in)`
    pub intent_in: bool,
    /// `save`, or it has an initial value
    pub save: bool,
    /// `external` or `procedure(…)`, or a generic name
    pub procedure: bool,
    /// Its shape is assumed: `a(:)` of a dummy argument that is neither allocatable nor a pointer.
    pub assumed_shape: bool,
    /// Its size is assumed: the last dimension is `*`.
    pub assumed_size: bool,
    /// Its rank is assumed: `a(..)`
    pub assumed_rank: bool,
    /// The lower bounds of its dimensions, where they are written.
    pub lower: Vec<Option<ExprId>>,
}

/// The type words of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseType {
    /// Built-in arithmetic words, normalised to single blanks: `unsigned long`, `double`, `_Bool`.
    Builtin(String),
    /// `void`
    Void,
    /// A type name that a typedef (or a header we do not see) declares.
    Named(String),
    /// A struct or union with this tag, defined elsewhere or here.
    Tagged(String),
    /// A struct or union defined right here.
    Record(RecordId),
    /// An enumeration.
    Enum,
    /// Not understood (`typeof`, `auto` …).
    Unknown,
}

/// What a declarator adds to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derived {
    /// `*`
    Pointer,
    /// `[size]`; `None` for `[]`
    Array(Option<ExprId>),
    /// `(…)`
    Function,
    /// C++ `&` or `&&`
    Reference,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its bytes, its semicolon or closing brace included.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ … }`
    Block(Vec<StmtId>),
    /// A declaration.
    Decl(Vec<DeclId>),
    /// An expression statement.
    Expr(ExprId),
    /// `;`
    Empty,
    /// `if`
    If {
        /// The condition.
        cond: ExprId,
        /// The first branch.
        then: StmtId,
        /// The `else` branch.
        other: Option<StmtId>,
    },
    /// `for`, or a Fortran `do`
    For {
        /// The initialisation: a declaration or an expression statement (not in any block's list).
        init: Option<StmtId>,
        /// The condition.
        cond: Option<ExprId>,
        /// The increment.
        step: Option<ExprId>,
        /// The body.
        body: StmtId,
    },
    /// `while`
    While {
        /// The condition.
        cond: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `do … while`
    DoWhile {
        /// The body.
        body: StmtId,
        /// The condition.
        cond: ExprId,
    },
    /// `switch`
    Switch {
        /// The controlling expression.
        cond: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `case e:` or `default:` or `name:` with the statement after it
    Labeled {
        /// The name of a goto label; `None` for `case` and `default`.
        label: Option<String>,
        /// The statement after the label.
        stmt: Option<StmtId>,
    },
    /// `return`
    Return(Option<ExprId>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `goto`
    Goto(String),
    /// Not understood; the expressions inside that could be read.
    Opaque(Vec<ExprId>),
}

impl StmtKind {
    /// The statements directly inside, in source order.
    pub fn children(&self) -> Children<'_, StmtId> {
        match self {
            StmtKind::Block(list) => Children::listed([None; 3], list),
            StmtKind::If { then, other, .. } => Children::few([Some(*then), *other, None]),
            StmtKind::For { init, body, .. } => Children::few([*init, Some(*body), None]),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Switch { body, .. } => {
                Children::few([Some(*body), None, None])
            }
            StmtKind::Labeled { stmt, .. } => Children::few([*stmt, None, None]),
            StmtKind::Decl(_)
            | StmtKind::Expr(_)
            | StmtKind::Empty
            | StmtKind::Return(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Opaque(_) => Children::few([None; 3]),
        }
    }
}

/// What stands directly inside a node, in source order.
#[derive(Clone, Debug)]
pub struct Children<'a, T> {
    few: std::array::IntoIter<Option<T>, 3>,
    rest: std::slice::Iter<'a, T>,
}

impl<'a, T> Children<'a, T> {
    fn few(few: [Option<T>; 3]) -> Children<'a, T> {
        Children::listed(few, &[])
    }

    fn listed(few: [Option<T>; 3], rest: &'a [T]) -> Children<'a, T> {
        Children { few: few.into_iter(), rest: rest.iter() }
    }
}

impl<T: Copy> Iterator for Children<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.few.by_ref().flatten().next().or_else(|| self.rest.next().copied())
    }
}

impl<T: Copy> DoubleEndedIterator for Children<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        self.rest.next_back().copied().or_else(|| self.few.by_ref().rev().flatten().next())
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its bytes.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is. Parentheses are not kept (the inner node has the inner span).
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name.
    Name(String),
    /// An integer literal's value.
    Int(i128),
    /// Any other literal (floating, string, character).
    Literal,
    /// A prefix operator without side effect: `-`, `+`, `!`, `~`.
    Unary(UnaryOp, ExprId),
    /// A binary operator without side effect.
    Binary(BinaryOp, ExprId, ExprId),
    /// `left = right`, or with the operator of a compound assignment.
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `++` (`true`) or `--` on the operand; before or after it.
    Step {
        /// `++`
        up: bool,
        /// The operand.
        operand: ExprId,
        /// `x++` rather than `++x`
        postfix: bool,
    },
    /// `base[index]`
    Index(ExprId, ExprId),
    /// `base.name`, or `base->name` if `arrow`
    Member {
        /// The object or pointer.
        base: ExprId,
        /// The member's name.
        name: String,
        /// `->`
        arrow: bool,
    },
    /// `*e`
    Deref(ExprId),
    /// `&e`
    AddressOf(ExprId),
    /// A call.
    Call {
        /// The function.
        callee: ExprId,
        /// The arguments.
        args: Vec<ExprId>,
    },
    /// `(type)e`; true if the type is a pointer
    Cast {
        /// The target type's text.
        to: String,
        /// The operand.
        operand: ExprId,
    },
    /// `sizeof` of anything: reads nothing
    Sizeof,
    /// `cond ? a : b`
    Conditional(ExprId, ExprId, ExprId),
    /// `a, b`
    Comma(ExprId, ExprId),
    /// `{ a, b … }`, designators dropped
    Initialiser(Vec<ExprId>),
    /// Fortran's `first : last : stride`, each of which may be missing
    Triplet([Option<ExprId>; 3]),
    /// Not understood; the expressions inside that could be read, in order.
    Opaque(Vec<ExprId>),
}

impl ExprKind {
    /// The expressions directly inside, in source order.
    pub fn children(&self) -> Children<'_, ExprId> {
        match self {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => {
                Children::few([None; 3])
            }
            ExprKind::Unary(_, operand)
            | ExprKind::Step { operand, .. }
            | ExprKind::Member { base: operand, .. }
            | ExprKind::Deref(operand)
            | ExprKind::AddressOf(operand)
            | ExprKind::Cast { operand, .. } => Children::few([Some(*operand), None, None]),
            ExprKind::Binary(_, left, right)
            | ExprKind::Assign(_, left, right)
            | ExprKind::Index(left, right)
            | ExprKind::Comma(left, right) => Children::few([Some(*left), Some(*right), None]),
            ExprKind::Conditional(cond, then, other) => {
                Children::few([Some(*cond), Some(*then), Some(*other)])
            }
            ExprKind::Call { callee, args } => Children::listed([Some(*callee), None, None], args),
            ExprKind::Initialiser(all) | ExprKind::Opaque(all) => Children::listed([None; 3], all),
            ExprKind::Triplet(parts) => Children::few(*parts),
        }
    }
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
}

impl Scope {
    /// Whether others may use a name of a module (Fortran 2018, 8.5.2).
    pub fn is_accessible(&self, name: &str) -> bool {
        let stated = self.access.iter().find(|(listed, _)| listed == name);
        stated.map_or(!self.is_private, |(_, is_public)| *is_public)
    }
}

impl Unit {
    /// The first line in some bytes that includes a file: what stands there is not read with them.
    pub fn included_in(&self, bytes: Span) -> Option<Span> {
        let first = self.included.partition_point(|line| line.start < bytes.start);
        self.included.get(first).copied().filter(|line| bytes.contains(*line))
    }

    /// The first line that includes a file among the statements of a block, after the first one: before it, variables are declared.
    pub fn included_among(&self, block: StmtId) -> Option<Span> {
        let whole = self.stmt(block);
        let StmtKind::Block(statements) = &whole.kind else { return None };
        let start = self.stmt(*statements.first()?).span.start;
        self.included_in(Span { start, end: whole.span.end })
    }

    /// Adds an expression.
    pub fn push_expr(&mut self, span: Span, kind: ExprKind) -> ExprId {
        budget::keep(size_of::<Expr>());
        self.exprs.push(Expr { span, kind });
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a statement.
    pub fn push_stmt(&mut self, span: Span, kind: StmtKind) -> StmtId {
        budget::keep(size_of::<Stmt>());
        self.stmts.push(Stmt { span, kind });
        StmtId(self.stmts.len() as u32 - 1)
    }

    /// How deep its statements and expressions are nested.
    pub fn depth(&self) -> usize {
        // What is inside was read before what is around it.
        let deepest = |known: &[u32], inner: usize| known.get(inner).copied().unwrap_or(0);
        let mut exprs: Vec<u32> = Vec::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            let inner = expr.kind.children().map(|child| deepest(&exprs, child.0 as usize));
            exprs.push(inner.max().unwrap_or(0) + 1);
        }
        let mut stmts: Vec<u32> = Vec::with_capacity(self.stmts.len());
        for stmt in &self.stmts {
            let inner = stmt.kind.children().map(|child| deepest(&stmts, child.0 as usize));
            stmts.push(inner.max().unwrap_or(0) + 1);
        }
        let most = |all: Vec<u32>| all.into_iter().max().unwrap_or(0) as usize;
        most(exprs) + most(stmts)
    }

    /// The labels that a named loop stands for: the end of its body, and the place after the loop.
    pub fn loop_labels(&self, stmt: StmtId) -> Option<[String; 2]> {
        let (_, name) = self.loop_names.iter().find(|(named, _)| *named == stmt)?;
        Some([format!("cycle {name}"), name.clone()])
    }

    /// Whether it was read as C++.
    pub fn is_cpp(&self) -> bool {
        self.dialect == Dialect::Cpp
    }

    /// Whether it was read as Fortran.
    pub fn is_fortran(&self) -> bool {
        self.dialect == Dialect::Fortran
    }

    /// Whether computing an expression may change something; calls do, except those of functions that are `is_harmless`.
    pub fn has_effect(&self, expr: ExprId, is_harmless: &dyn Fn(ExprId) -> bool) -> bool {
        match &self.expr(expr).kind {
            ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Opaque(_) => true,
            ExprKind::Call { callee, .. } => !is_harmless(*callee),
            kind => kind.children().any(|child| self.has_effect(child, is_harmless)),
        }
    }

    /// The innermost scoping unit that holds `offset`.
    pub fn scope_at(&self, offset: u32) -> Option<ScopeId> {
        // Outer ones stand before inner ones.
        let holds = |scope: &Scope| scope.span.start <= offset && offset < scope.span.end;
        self.scopes.iter().rposition(holds).map(|index| ScopeId(index as u32))
    }

    /// The scoping unit `id`.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// The expression `id`.
    #[inline]
    pub fn expr(&self, id: ExprId) -> &Expr {
        budget::spend(1);
        &self.exprs[id.0 as usize]
    }

    /// The statement `id`.
    #[inline]
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        budget::spend(1);
        &self.stmts[id.0 as usize]
    }

    /// The declaration `id`.
    pub fn decl(&self, id: DeclId) -> &Decl {
        &self.decls[id.0 as usize]
    }

    /// The function `id`.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The record `id`.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }
}
