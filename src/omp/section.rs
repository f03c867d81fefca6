//! The array section that an address and a number of bytes describe.
//!
//! Invariant: a section is given only where its bytes are surely those of the call.

use crate::host::ir::{BaseType, BinaryOp, Decl, Derived, ExprId, ExprKind, Unit};
use crate::sema::{Class, Symbol, Symbols};
use crate::source::{SourceFile, Span};

/// What sections are read from.
pub struct Sections<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its structure.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
}

impl Sections<'_> {
    /// The list item for a Fortran variable, or a part of one, that is an argument. With a length after it, an element
    /// is where memory begins: the first one stands for the whole array.
    pub fn variable(&self, argument: ExprId, has_length: bool) -> Option<String> {
        if let ExprKind::Index(base, first) = self.unit.expr(argument).kind
            && has_length
        {
            let is_first = matches!(self.unit.expr(first).kind, ExprKind::Int(1) | ExprKind::Triplet(_));
            let is_element = matches!(self.unit.expr(first).kind, ExprKind::Int(1));
            let is_row = matches!(self.unit.expr(base).kind, ExprKind::Name(_));
            return (is_first && is_row).then(|| self.text(if is_element { base } else { argument }));
        }
        let expr = self.unit.expr(argument);
        let is_variable = match &expr.kind {
            ExprKind::Name(name) => self.symbols.lookup(name, expr.span.start).is_some(),
            ExprKind::Index(..) | ExprKind::Member { .. } => true,
            _ => false,
        };
        is_variable.then(|| self.text(argument))
    }

    /// The list item for `bytes` bytes from `address`: `a[0:n]`, `x`, `table`.
    pub fn section(&self, address: ExprId, bytes: ExprId) -> Option<String> {
        let address = self.without_cast(address);
        let kind = &self.unit.expr(address).kind;
        if let ExprKind::AddressOf(object) = kind
            && let ExprKind::Name(name) = &self.unit.expr(*object).kind
        {
            return self.object(name, *object, bytes);
        }
        let (array, first) = match kind {
            ExprKind::Name(_) => (address, "0".to_owned()),
            ExprKind::AddressOf(element) => match &self.unit.expr(*element).kind {
                ExprKind::Index(array, first) => (*array, self.text(*first)),
                _ => return None,
            },
            ExprKind::Binary(BinaryOp::Add, array, first) => (*array, self.text(*first)),
            _ => return None,
        };
        let ExprKind::Name(name) = &self.unit.expr(array).kind else { return None };
        let (symbol, decl) = self.declared(name, array)?;
        let is_row = decl.derived.len() == 1 && matches!(symbol.class, Class::Array | Class::Pointer);
        if !is_row || decl.base == BaseType::Void {
            return None;
        }
        if symbol.class == Class::Array && first == "0" && self.is_sizeof(bytes, std::slice::from_ref(name)) {
            return Some(name.clone());
        }
        let element = [type_words(decl)?, format!("*{name}"), format!("{name}[0]")];
        let count = self.count(bytes, &element)?;
        Some(format!("{name}[{first}:{count}]"))
    }

    /// A whole variable whose address is taken.
    fn object(&self, name: &str, object: ExprId, bytes: ExprId) -> Option<String> {
        let (symbol, decl) = self.declared(name, object)?;
        let whole = match symbol.class {
            Class::Scalar | Class::Record => type_words(decl).filter(|_| decl.derived.is_empty()),
            Class::Pointer | Class::Array | Class::Unknown => None,
        };
        let sizes: Vec<String> = whole.into_iter().chain([name.to_owned()]).collect();
        self.is_sizeof(bytes, &sizes).then(|| name.to_owned())
    }

    fn declared(&self, name: &str, at: ExprId) -> Option<(&Symbol, &Decl)> {
        let id = self.symbols.lookup(name, self.unit.expr(at).span.start)?;
        let symbol = self.symbols.get(id);
        Some((symbol, self.unit.decl(symbol.decl?)))
    }

    fn without_cast(&self, expr: ExprId) -> ExprId {
        match &self.unit.expr(expr).kind {
            ExprKind::Cast { operand, .. } => self.without_cast(*operand),
            _ => expr,
        }
    }

    /// `n` in `n * sizeof(element)`, in any order.
    fn count(&self, bytes: ExprId, element: &[String]) -> Option<String> {
        let mut factors = Vec::new();
        self.factors(bytes, &mut factors);
        let at = factors.iter().position(|factor| self.is_sizeof(*factor, element))?;
        factors.remove(at);
        match factors.as_slice() {
            [] => Some("1".to_owned()),
            [only] => Some(self.text(*only)),
            more => Some(more.iter().map(|factor| self.factor(*factor)).collect::<Vec<_>>().join(" * ")),
        }
    }

    fn factors(&self, expr: ExprId, into: &mut Vec<ExprId>) {
        match &self.unit.expr(expr).kind {
            ExprKind::Binary(BinaryOp::Multiply, left, right) => {
                self.factors(*left, into);
                self.factors(*right, into);
            }
            _ => into.push(expr),
        }
    }

    /// A factor's text; parentheses are not part of an expression's span.
    fn factor(&self, expr: ExprId) -> String {
        match &self.unit.expr(expr).kind {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                self.text(expr)
            }
            _ => format!("({})", self.text(expr)),
        }
    }

    /// Whether `expr` is `sizeof` of one of these.
    fn is_sizeof(&self, expr: ExprId, of: &[String]) -> bool {
        let expr = self.unit.expr(expr);
        let text = self.file.text(expr.span);
        let Some(operand) = text.strip_prefix("sizeof").filter(|_| matches!(expr.kind, ExprKind::Sizeof))
        else {
            return false;
        };
        let operand = operand.trim();
        let inner = operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(operand);
        let words = inner.split_whitespace().collect::<Vec<_>>().join(" ");
        of.contains(&words)
    }

    fn text(&self, expr: ExprId) -> String {
        let span: Span = self.unit.expr(expr).span;
        self.file.text(span).into_owned()
    }
}

/// The words of a declaration's element type.
fn type_words(decl: &Decl) -> Option<String> {
    if decl.derived.iter().any(|part| matches!(part, Derived::Function | Derived::Reference)) {
        return None;
    }
    match &decl.base {
        BaseType::Builtin(words) => Some(words.clone()),
        BaseType::Named(name) => Some(name.clone()),
        BaseType::Tagged(tag) => Some(format!("struct {tag}")),
        BaseType::Void | BaseType::Record(_) | BaseType::Enum | BaseType::Unknown => None,
    }
}
