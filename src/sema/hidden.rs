//! The variables that macros name where they are used.
//!
//! Invariant: too many may be among them, never too few.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::host::ir::{ExprId, ExprKind, Unit};
use crate::source;

use super::macros;
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;

/// The names in the text that a macro stands for.
#[derive(Debug, Default)]
struct Words {
    found: BTreeSet<String>,
    /// The macros that were met, with their arguments.
    met: FxHashSet<(String, Option<Vec<String>>)>,
}

/// Of arguments longer than this together, and beyond so many macros, all names of the bodies count.
const LONGEST: usize = 4096;
const MOST: usize = 64;

/// Macros that stand for macros are followed no further than this.
const FURTHEST: usize = 16;

/// What a macro stands for that is assigned, or whose address is taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A variable, and nothing else.
    Variable(SymbolId),
    /// No variable: an element, a component, what a pointer leads to.
    Other,
    /// It may be any variable that the macro names.
    Unknown,
}

impl Target {
    fn variable(self) -> Option<SymbolId> {
        if let Target::Variable(symbol) = self { Some(symbol) } else { None }
    }
}

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
        if !self.names_macro(name) {
            return BTreeSet::new();
        }
        let args = texts(unit, args);
        let mut words = Words::default();
        self.words(name, self.is_called_macro(name).then_some(&args), &mut words);
        let named = words.found.iter().filter_map(|word| self.lookup(word, offset));
        named.filter(|symbol| !self.is_macro(*symbol)).collect()
    }

    /// Adds the names in the text that a macro stands for, with these arguments if it has parameters.
    fn words(&self, name: &str, args: Option<&[String]>, into: &mut Words) {
        if !into.met.insert((name.to_owned(), args.map(<[String]>::to_vec))) {
            return;
        }
        let is_small = is_short(args) && into.met.len() <= MOST;
        let count = args.map_or(0, <[String]>::len);
        let known = self.known(name, args).filter(|(params, _)| is_small && params.len() == count);
        let Some((params, body)) = known else {
            let reached = self.reached_macros(name);
            let all = reached.iter().filter_map(|one| self.standing.get(one)).flatten();
            into.found.extend(all.cloned());
            return;
        };
        let text = macros::with_arguments(body, &params, args.unwrap_or_default());
        for (at, word) in source::placed_names(&text) {
            let is_called = self.is_called_macro(word);
            match is_called.then(|| macros::first_call(&text[at..])).flatten() {
                Some((_, args)) => self.words(word, Some(&args), into),
                None if word != name && self.bodies.contains_key(word) => self.words(word, None, into),
                None => drop(into.found.insert(word.to_owned())),
            }
        }
    }

    /// The parameters and the body of a macro, of one with parameters if there are arguments; `None` if there is none, or several
    /// that differ.
    fn known(&self, name: &str, args: Option<&[String]>) -> Option<(Vec<&str>, &str)> {
        let (params, body) = match args {
            Some(_) => self.macro_of(name)?,
            None => (&[][..], self.body_of(name)?),
        };
        Some((params.iter().map(String::as_str).filter(|param| !param.is_empty()).collect(), body))
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
            ExprKind::Name(name) => self.target_of_macro(unit, name, at, None).variable(),
            ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                ExprKind::Name(name) => self.target_of_macro(unit, name, at, Some(args)).variable(),
                _ => None,
            },
            _ => None,
        };
        by_macro.or_else(|| self.named(unit, expr))
    }

    /// What a macro stands for that is assigned where it is used at `offset`, with arguments if it has parameters.
    pub(super) fn target_of_macro(
        &self,
        unit: &Unit,
        name: &str,
        offset: u32,
        args: Option<&[ExprId]>,
    ) -> Target {
        let args = args.map(|args| texts(unit, args));
        match self.expansion(name, args.as_deref(), FURTHEST) {
            Some(text) if is_word(&text) => {
                let variable = self.lookup(&text, offset).filter(|symbol| !self.is_macro(*symbol));
                variable.map_or(Target::Other, Target::Variable)
            }
            Some(text) if unit.is_cpp() && text.contains('?') => Target::Unknown,
            Some(_) => Target::Other,
            None => Target::Unknown,
        }
    }

    /// The text that a macro stands for, with these arguments if it has parameters, as far as macros are all that it is; `None` if
    /// it may be a variable that is not known.
    fn expansion(&self, name: &str, args: Option<&[String]>, further: usize) -> Option<String> {
        let Some((params, body)) = self.known(name, args) else {
            return (!self.variable_like.contains(&*self.folded(name))).then(String::new);
        };
        let is_short = is_short(args);
        let args = args.unwrap_or_default();
        let further = further.checked_sub(1).filter(|_| is_short && params.len() == args.len())?;
        let text = macros::with_arguments(body, &params, args);
        let text = macros::without_parentheses(&text);
        if is_word(text) && text != name && self.bodies.contains_key(text) {
            return self.expansion(text, None, further);
        }
        match macros::call(text).filter(|(callee, _)| self.names_macro(callee)) {
            Some((callee, args)) => self.expansion(callee, Some(&args), further),
            None => Some(text.to_owned()),
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

fn is_short(args: Option<&[String]>) -> bool {
    args.unwrap_or_default().iter().map(String::len).sum::<usize>() <= LONGEST
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The arguments of a macro as it takes them: names and numbers; what else they are names no variable as a whole.
fn texts(unit: &Unit, args: &[ExprId]) -> Vec<String> {
    let text = |arg: &ExprId| match &unit.expr(*arg).kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(number) => number.to_string(),
        _ => "()".to_owned(),
    };
    args.iter().map(text).collect()
}
