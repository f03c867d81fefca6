//! Components of derived types as variables of their own: C++ gets each that a construct names, not the object.
//!
//! Invariant: what leads to a component is the same wherever the construct names it, and all through the construct.

use crate::acc::ast::{ListItem, PathStep};
use crate::host::ir::{BaseType, Decl, Expr, ExprId, ExprKind, StmtId, Unit};
use crate::sema::{self, Chain, Class, SymbolId, Symbols, Texts};
use crate::source::Span;

use super::Why;
use super::types::{Files, plain_code};
use super::variable::{Variable, shape_of};

/// Types that extend one another are followed no further than this.
const DEPTH: usize = 16;

/// A component where code names it.
pub struct Named {
    /// The variable that it begins with.
    pub root: SymbolId,
    /// The variable and the components on the way, as expressions.
    pub inner: Vec<ExprId>,
    /// The whole in small letters and without blanks.
    pub path: String,
    /// The names, from the variable inwards.
    names: Vec<String>,
    /// The subscripts on the way.
    subscripts: Vec<ExprId>,
    at: Span,
}

/// The component that an expression names, without subscripts after it; `None` of an object in one.
pub fn named(files: &Files, symbols: &Symbols, expr: ExprId) -> Option<Named> {
    let seen = files.own;
    let Expr { span: at, kind: ExprKind::Member { .. } } = *seen.unit.expr(expr) else { return None };
    let Chain { root, mut inner, steps } = sema::chain(seen.unit, expr)?;
    inner.retain(|one| *one != expr);
    let (names, subscripts): (Vec<String>, Vec<Vec<ExprId>>) =
        steps.into_iter().map(|step| (step.name, step.subscripts)).unzip();
    let (root, path) = (symbols.named(seen.unit, root)?, plain_code(seen, at));
    // The parts of a complex number.
    let is_part = names.len() == 1 && matches!(names[0].as_str(), "re" | "im");
    if is_part && symbols.get(root).record.is_none() && symbols.get(root).class != Class::Record {
        return None;
    }
    Some(Named { root, inner, path, names, subscripts: subscripts.concat(), at })
}

impl Named {
    /// It as a variable.
    pub fn variable(&self, files: &Files, symbols: &Symbols, region: StmtId) -> Result<Variable, Why> {
        let known = symbols.get(self.root);
        let refused = |what: &str| Why::new(self.at, format!("`{}`, {what},", self.path));
        if known.fortran.optional {
            return Err(refused("a component of an optional argument"));
        }
        let mut record = sema::record_of(files.own.unit, symbols, self.root);
        let mut found = None;
        for name in &self.names {
            let tag = record.take().ok_or_else(|| refused("of a type that is not seen"))?;
            let (seen, decl) =
                component(files, &tag, name, DEPTH).ok_or_else(|| refused("of a type that is not seen"))?;
            if let BaseType::Tagged(tag) = &decl.base {
                record = Some(tag.clone());
            }
            found = Some((seen, decl));
        }
        let (seen, decl) = found.filter(|_| record.is_none()).ok_or_else(|| refused("an object"))?;
        if !self.is_steady(files.own.unit, symbols, region) {
            return Err(refused("which leads elsewhere from one iteration to the next"));
        }
        let ty = files.declared(seen, decl).ok_or_else(|| refused("of a type that is not surely known"))?;
        let shape = shape_of(files, seen, decl).ok_or_else(|| refused("of a shape that is not known"))?;
        let mut name = known.name.clone();
        for part in &self.names {
            name = format!("{name}_{part}");
        }
        let spelled = without_blanks(files.own, self.at);
        let is_aliased = decl.fortran.pointer
            || known.fortran.target
            || known.fortran.pointer
            || !self.subscripts.is_empty();
        Ok(Variable { is_aliased, ..Variable::new(name, spelled, ty, shape) })
    }

    /// Whether what leads to it is the same all through the construct.
    fn is_steady(&self, unit: &Unit, symbols: &Symbols, region: StmtId) -> bool {
        let is_constant = |expr: &Expr| {
            matches!(
                expr.kind,
                ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Binary(..) | ExprKind::Unary(..)
            )
        };
        let used = sema::uses(unit, symbols, region);
        let is_kept = |symbol: SymbolId| used.of(symbol).is_none_or(|how| !how.written);
        self.subscripts.iter().all(|one| {
            unit.exprs_in(unit.expr(*one).span).all(is_constant)
                && sema::reads_of_expr(unit, symbols, *one).into_iter().all(is_kept)
        })
    }
}

/// Whether a derived type has procedures, or is one that no file at hand declares.
pub fn has_procedures(files: &Files, tag: &str) -> bool {
    let Some(tag) = files.tag(tag) else { return true };
    let mut all = std::iter::once(&files.own).chain(&files.others);
    let found = all.find_map(|seen| {
        let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
        let code = seen.file.text(record.span).to_ascii_lowercase();
        let is_one = code.lines().any(|line| line.trim() == "contains");
        Some(is_one || record.bases.iter().any(|base| has_procedures(files, base)))
    });
    found.unwrap_or(true)
}

/// An item of a clause as Fortran passes it to an argument of assumed type, which takes no object with procedures but its
/// memory. `None` if it cannot.
pub fn passed(files: &Files, symbols: &Symbols, item: &ListItem) -> Option<String> {
    let own = Some(item.text.clone());
    if item.depth() > 0 {
        return own;
    }
    let Some(symbol) = symbols.lookup(item.variable(), item.span.start) else { return own };
    let known = symbols.get(symbol);
    if !known.record.as_deref().is_some_and(|tag| has_procedures(files, tag)) {
        return own;
    }
    if known.fortran.optional || !item.parts.is_empty() {
        return None;
    }
    let count = if known.shape.is_empty() { String::new() } else { format!(" * size({})", item.text) };
    Some(format!("acc2omp_object(loc({0}), storage_size({0}) / 8{count})", item.text))
}

/// The code without blanks, in the letters of the source.
fn without_blanks(seen: Texts, at: Span) -> String {
    seen.code(at).split_whitespace().collect()
}

/// The declaration of a component, an inherited one among them, and the file where it stands.
fn component<'a>(files: &Files<'a>, tag: &str, name: &str, depth: usize) -> Option<(Texts<'a>, &'a Decl)> {
    let (depth, tag) = (depth.checked_sub(1)?, files.tag(tag)?);
    std::iter::once(&files.own).chain(&files.others).find_map(|seen| {
        let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
        let own = record.members.iter().map(|id| seen.unit.decl(*id)).find(|decl| decl.name == name);
        let found = own.map(|decl| (*seen, decl));
        found.or_else(|| record.bases.iter().find_map(|base| component(files, base, name, depth)))
    })
}

/// What leads to the item of a clause, without the subscripts after it.
pub fn path(item: &ListItem) -> String {
    let has_list = matches!(item.parts.last(), Some(PathStep::Section(_)));
    let text = sema::plain(&item.text);
    let end = if has_list { last_list(&text) } else { text.len() };
    text[..end].to_owned()
}

/// Where the last list in parentheses begins, which ends a text.
fn last_list(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
