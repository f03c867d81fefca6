//! The structure IR: what tree-sitter saw, in one shape for all host languages.
//!
//! Invariant: arenas and ids only (no boxes), every node has its span in the original bytes, and no grammar's node name appears here.

use crate::source::Span;

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
    RecordId
);

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
    /// Functions that take an argument by a reference through which they may write: the name, and the argument's place.
    pub by_reference: Vec<(String, usize)>,
    /// It was read as C++.
    pub is_cpp: bool,
    /// Spans of what the grammar could not understand.
    pub errors: Vec<Span>,
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
    /// Its body, a block.
    pub body: StmtId,
    /// The function contains something the grammar could not understand.
    pub has_error: bool,
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
    /// `case e:` or `default:` or `name:` with the statement behind it
    Labeled {
        /// The name of a goto label; `None` for `case` and `default`.
        label: Option<String>,
        /// The statement behind the label.
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
    /// `++` (`true`) or `--` on the operand; before or behind it.
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
    /// Not understood; the expressions inside that could be read, in order.
    Opaque(Vec<ExprId>),
}

impl ExprKind {
    /// The expressions directly inside, in source order.
    pub fn children(&self) -> Vec<ExprId> {
        match self {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => Vec::new(),
            ExprKind::Unary(_, operand)
            | ExprKind::Step { operand, .. }
            | ExprKind::Member { base: operand, .. }
            | ExprKind::Deref(operand)
            | ExprKind::AddressOf(operand)
            | ExprKind::Cast { operand, .. } => vec![*operand],
            ExprKind::Binary(_, left, right)
            | ExprKind::Assign(_, left, right)
            | ExprKind::Index(left, right)
            | ExprKind::Comma(left, right) => vec![*left, *right],
            ExprKind::Conditional(cond, then, other) => vec![*cond, *then, *other],
            ExprKind::Call { callee, args } => std::iter::once(*callee).chain(args.iter().copied()).collect(),
            ExprKind::Initialiser(all) | ExprKind::Opaque(all) => all.clone(),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Unit {
    /// The expression `id`.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// The statement `id`.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
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
