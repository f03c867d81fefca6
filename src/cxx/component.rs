//! Components of derived types as variables of their own: C++ gets each that a construct names, not the object.
//!
//! Invariant: what leads to a component is the same wherever the construct names it, and all through the construct.

use crate::acc::ast::{ListItem, Part};
use crate::host::ir::{BaseType, Decl, ExprId, ExprKind, Unit};
use crate::sema::{self, SymbolId, Symbols, Texts};
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
    /// The expression that names the variable.
    pub begins: ExprId,
    /// The whole in small letters and without blanks.
    pub path: String,
    /// The names, from the variable inwards.
    names: Vec<String>,
    /// The subscripts on the way.
    subscripts: Vec<ExprId>,
    at: Span,
}

/// The component that an expression names, without subscripts behind it; `None` of an object in one.
pub fn named(files: &Files, symbols: &Symbols, expr: ExprId) -> Option<Named> {
    let seen = files.own;
    let at = seen.unit.expr(expr).span;
    let (mut names, mut subscripts) = (Vec::new(), Vec::new());
    let mut inner = expr;
    loop {
        match &seen.unit.expr(inner).kind {
            ExprKind::Member { base, name, .. } => {
                names.push(name.clone());
                inner = *base;
            }
            ExprKind::Index(base, subscript) if !names.is_empty() => {
                subscripts.push(*subscript);
                inner = *base;
            }
            ExprKind::Name(_) if !names.is_empty() => break,
            _ => return None,
        }
    }
    let root = symbols.named(seen.unit, inner)?;
    names.reverse();
    Some(Named { root, begins: inner, path: plain_code(seen, at), names, subscripts, at })
}

impl Named {
    /// It as a variable.
    pub fn variable(&self, files: &Files, symbols: &Symbols, extent: Span) -> Result<Variable, Why> {
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
        if !self.is_steady(files.own.unit, symbols, extent) {
            return Err(refused("which leads elsewhere from one iteration to the next"));
        }
        let ty = files.declared(seen, decl).ok_or_else(|| refused("of a type that is not surely known"))?;
        let shape = shape_of(files, seen, decl).ok_or_else(|| refused("of a shape that is not known"))?;
        let mut name = known.name.clone();
        for part in &self.names {
            name = format!("{name}_{part}");
        }
        let spelled = plain_or_spelled(files.own, self.at);
        let is_aliased = decl.fortran.pointer
            || known.fortran.target
            || known.fortran.pointer
            || !self.subscripts.is_empty();
        Ok(Variable { name, spelled, ty, shape, is_aliased, bounds: String::new() })
    }

    /// Whether what leads to it is the same all through the construct.
    fn is_steady(&self, unit: &Unit, symbols: &Symbols, extent: Span) -> bool {
        let is_constant = |expr: &crate::host::ir::Expr| {
            matches!(
                expr.kind,
                ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Binary(..) | ExprKind::Unary(..)
            )
        };
        self.subscripts.iter().all(|one| {
            let span = unit.expr(*one).span;
            unit.exprs_in(span).all(is_constant)
                && unit.expr_ids_in(span).all(|id| {
                    let symbol = symbols.named(unit, id);
                    symbol.is_none_or(|symbol| !is_assigned(unit, symbols, symbol, extent))
                })
        })
    }
}

/// Whether a derived type has procedures, or is one that no file at hand declares.
pub fn has_procedures(files: &Files, tag: &str) -> bool {
    let mut all = std::iter::once(&files.own).chain(&files.others);
    let found = all.find_map(|seen| {
        let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
        let code = seen.file.text(record.span).to_ascii_lowercase();
        let is_one = code.lines().any(|line| line.trim() == "contains");
        Some(is_one || record.bases.iter().any(|base| has_procedures(files, base)))
    });
    found.unwrap_or(true)
}

/// Whether code assigns a variable as a whole.
fn is_assigned(unit: &Unit, symbols: &Symbols, symbol: SymbolId, extent: Span) -> bool {
    unit.exprs_in(extent).any(|expr| match expr.kind {
        ExprKind::Assign(_, left, _) => symbols.named(unit, left) == Some(symbol),
        ExprKind::Step { operand, .. } => symbols.named(unit, operand) == Some(symbol),
        _ => false,
    })
}

/// The text on one line.
fn plain_or_spelled(seen: Texts, at: Span) -> String {
    seen.code(at).split_whitespace().collect::<Vec<_>>().join("")
}

/// The declaration of a component, an inherited one among them, and the file where it stands.
fn component<'a>(files: &Files<'a>, tag: &str, name: &str, depth: usize) -> Option<(Texts<'a>, &'a Decl)> {
    let depth = depth.checked_sub(1)?;
    std::iter::once(&files.own).chain(&files.others).find_map(|seen| {
        let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
        let own = record.members.iter().map(|id| seen.unit.decl(*id)).find(|decl| decl.name == name);
        let found = own.map(|decl| (*seen, decl));
        found.or_else(|| record.bases.iter().find_map(|base| component(files, base, name, depth)))
    })
}

/// The components and elements that lead to a component.
pub fn inside(unit: &Unit, expr: ExprId) -> Vec<ExprId> {
    let (mut all, mut inner) = (Vec::new(), expr);
    while let ExprKind::Member { base, .. } | ExprKind::Index(base, _) = unit.expr(inner).kind {
        all.push(base);
        inner = base;
    }
    all
}

/// What leads to the item of a clause, without the subscripts behind it.
pub fn path(item: &ListItem) -> String {
    let behind: usize = item.parts.iter().rev().take_while(|part| matches!(part, Part::Section(_))).count();
    let text: String = item.text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.to_ascii_lowercase();
    let end = if behind == 0 { text.len() } else { last_list(&text) };
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
