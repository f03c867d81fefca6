//! The variables that macros name where they are used.
//!
//! Invariant: too many may be among them, never too few.

use std::collections::BTreeSet;

use crate::host::ir::{ExprId, ExprKind, Unit};

use super::macros;
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;

/// Macros that stand for macros are followed no further than this.
const FURTHEST: usize = 16;

impl Symbols {
    /// The variables that a macro of any kind names by its body and those of other macros where it is used at `offset` with
    /// arguments, with the names that it puts together; none if there is no such macro.
    pub fn named_by_macro(
        &self,
        unit: &Unit,
        name: &str,
        offset: u32,
        args: &[ExprId],
    ) -> BTreeSet<SymbolId> {
        let mut found = BTreeSet::new();
        if !self.names_macro(name) {
            return found;
        }
        let reached = self.reached_macros(name);
        let words = reached.iter().filter_map(|one| self.standing.get(one)).flatten();
        let words: BTreeSet<&str> = words.map(String::as_str).collect();
        found.extend(words.iter().filter_map(|word| self.lookup(word, offset)));
        if reached.iter().any(|one| self.pasting.contains(one)) {
            let of_args = args.iter().flat_map(|arg| unit.exprs_in(unit.expr(*arg).span));
            let names = of_args.filter_map(|expr| match &expr.kind {
                ExprKind::Name(name) => Some(name.as_str()),
                _ => None,
            });
            let parts: BTreeSet<&str> = names.chain(words).collect();
            let pasted = self.names().filter(|name| is_made_of(name, &parts));
            found.extend(pasted.filter_map(|name| self.lookup(name, offset)));
        }
        found.retain(|symbol| !self.is_macro(*symbol));
        found
    }

    /// The scalar variables among those that a macro names.
    pub(super) fn scalars_of_macro(
        &self,
        unit: &Unit,
        name: &str,
        offset: u32,
        args: &[ExprId],
    ) -> Vec<SymbolId> {
        let is_scalar = |symbol: &SymbolId| {
            let known = self.get(*symbol);
            let is_variable =
                matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
            is_variable && known.class == Class::Scalar
        };
        self.named_by_macro(unit, name, offset, args).into_iter().filter(is_scalar).collect()
    }

    /// Whether a macro, or one that it leads to, takes the address of a variable.
    pub(super) fn is_lent_by_macro(&self, name: &str, variable: SymbolId) -> bool {
        let reached = self.reached_macros(name);
        let mut bodies = reached.iter().filter_map(|one| self.macro_body(one));
        bodies.any(|body| macros::lent_names(body).contains(&self.get(variable).name.as_str()))
    }

    /// The variable that an expression is, by its name or by that of a macro.
    pub fn variable(&self, unit: &Unit, expr: ExprId) -> Option<SymbolId> {
        let at = unit.expr(expr).span.start;
        let by_macro = match &unit.expr(expr).kind {
            ExprKind::Name(name) => self.variable_of_macro(unit, name, at, None),
            ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                ExprKind::Name(name) => self.variable_of_macro(unit, name, at, Some(args)),
                _ => None,
            },
            _ => None,
        };
        by_macro.or_else(|| self.named(unit, expr))
    }

    /// The variable that is all that a macro stands for where it is used at `offset` with arguments.
    pub(super) fn variable_of_macro(
        &self,
        unit: &Unit,
        name: &str,
        offset: u32,
        args: Option<&[ExprId]>,
    ) -> Option<SymbolId> {
        let text = |arg: &ExprId| match &unit.expr(*arg).kind {
            ExprKind::Name(name) => name.clone(),
            ExprKind::Int(number) => number.to_string(),
            _ => String::new(),
        };
        let args = args.map(|args| args.iter().map(text).collect::<Vec<String>>());
        let name = self.whole(name, args.as_deref(), FURTHEST)?;
        self.lookup(&name, offset).filter(|symbol| !self.is_macro(*symbol))
    }

    /// The name that is all that the text of a macro is, with these arguments if it has parameters.
    fn whole(&self, name: &str, args: Option<&[String]>, further: usize) -> Option<String> {
        let (params, body) = match args {
            Some(_) => self.macro_of(name)?,
            None => (&[][..], self.body_of(name)?),
        };
        let args = args.unwrap_or_default();
        let params: Vec<&String> = params.iter().filter(|param| !param.is_empty()).collect();
        let further = further.checked_sub(1).filter(|_| params.len() == args.len())?;
        let mut body = body.trim();
        while let Some(inside) = body.strip_prefix('(').and_then(|body| body.strip_suffix(')')) {
            body = inside.trim();
        }
        let given = |word: &str| {
            let word = word.trim();
            let place = params.iter().position(|param| *param == word);
            let text = place.map_or(word, |place| &args[place]);
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            (!text.is_empty() && text.chars().all(is_word)).then(|| text.to_owned())
        };
        if let Some((callee, inside)) = body.strip_suffix(')').and_then(|body| body.split_once('(')) {
            let words = inside.split(',').filter(|_| !inside.trim().is_empty());
            let args = words.map(given).collect::<Option<Vec<String>>>()?;
            return self.whole(callee.trim(), Some(&args), further);
        }
        let found = body.split("##").map(given).collect::<Option<Vec<String>>>()?.concat();
        match self.bodies.contains_key(&found) && found != name {
            true => self.whole(&found, None, further),
            false => Some(found),
        }
    }

    /// A macro, and those that its body leads to.
    pub(super) fn reached_macros(&self, name: &str) -> BTreeSet<String> {
        let (mut pending, mut met) = (vec![self.folded(name).into_owned()], BTreeSet::new());
        while let Some(name) = pending.pop() {
            let Some(words) = self.standing.get(&name) else { continue };
            if met.insert(name) {
                pending.extend(words.iter().cloned());
            }
        }
        met
    }
}

/// Whether a name can be put together from such parts, and from digits.
fn is_made_of(name: &str, parts: &BTreeSet<&str>) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for at in 0..name.len() {
        if !reached[at] {
            continue;
        }
        reached[at + 1] |= name.as_bytes()[at].is_ascii_digit();
        for part in parts {
            if name.as_bytes()[at..].starts_with(part.as_bytes()) {
                reached[at + part.len()] = true;
            }
        }
    }
    reached[name.len()]
}
