//! Reductions in Fortran of what compilers for OpenMP reduce no more than badly: scalars that are pointers or allocatable,
//! and elements of arrays.
//!
//! Invariant: all over its construct such a variable is a scalar of its own, or the construct is left untranslated.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem, PathStep, Subscript};
use crate::bind::{ancestors, descendants};
use crate::diag::{self, Diag};
use crate::host::ir::{ExprId, ExprKind, StmtId, Unit};
use crate::plan::Plan;
use crate::sema::{self, Class, SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

use super::alias::{Aliased, Block, Temporary};

/// Gives such variables of the compute constructs of a Fortran file scalars of their own.
pub fn reduced(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    plan: &Plan,
    aliased: &mut Aliased,
) -> Vec<Diag> {
    let mut diags = Vec::new();
    let rewritten = plan.arrays.keys().map(|stmt| unit.stmt(*stmt).span).collect();
    let work = Reductions { file, unit, symbols, rewritten };
    for index in (0..aliased.bound.len()).filter(|_| unit.is_fortran()) {
        let is_inside =
            || ancestors(&aliased.bound, index).any(|at| aliased.bound[at].directive.kind.is_compute());
        let Some(stmt) = aliased.bound[index].stmt() else { continue };
        if !aliased.bound[index].directive.kind.is_compute() || is_inside() {
            continue;
        }
        for (at, item) in work.items(index, aliased) {
            match work.scalar(index, at, &item, stmt, aliased) {
                Some(scalar) => work.apply(index, scalar, aliased),
                None => {
                    diags.push(diag::not_yet(item.span, "a reduction of a pointer or of an element here"));
                    aliased.refused.insert(index);
                }
            }
        }
    }
    diags
}

struct Reductions<'a> {
    file: &'a SourceFile,
    unit: &'a Unit,
    symbols: &'a Symbols,
    /// The statements in whose place other code stands.
    rewritten: Vec<Span>,
}

/// A variable that a scalar stands for.
struct Scalar {
    item: ListItem,
    /// Where the construct names it.
    mentions: Vec<Span>,
    declaration: String,
    place: u32,
    /// The device may have a value of its own.
    may_be_present: bool,
}

impl Reductions<'_> {
    /// The list items that need it, each once, with the directive that names it.
    fn items(&self, index: usize, aliased: &Aliased) -> Vec<(usize, ListItem)> {
        let mut found: Vec<(usize, ListItem)> = Vec::new();
        for at in std::iter::once(index).chain(descendants(&aliased.bound, index)) {
            for clause in &aliased.bound[at].directive.clauses {
                let ClauseKind::Reduction(_, list) = &clause.kind else { continue };
                for item in list.iter().filter(|item| self.is_wanted(item)) {
                    if !found.iter().any(|(_, known)| plain(&known.text) == plain(&item.text)) {
                        found.push((at, item.clone()));
                    }
                }
            }
        }
        found
    }

    fn is_wanted(&self, item: &ListItem) -> bool {
        let Some(symbol) = self.symbols.lookup(&item.base.text, item.span.start) else { return false };
        let known = self.symbols.get(symbol);
        match item.parts.as_slice() {
            [] => known.class == Class::Scalar && (known.fortran.pointer || known.fortran.allocatable),
            [PathStep::Section(subscripts)] => {
                known.class == Class::Array && subscripts.iter().all(|one| matches!(one, Subscript::Index(_)))
            }
            _ => false,
        }
    }

    /// What a scalar of its own for `item` of directive `at` takes; `None` if the item is not the same all over the
    /// construct, or if another name in it may be about it, too.
    fn scalar(
        &self,
        index: usize,
        at: usize,
        item: &ListItem,
        stmt: StmtId,
        aliased: &Aliased,
    ) -> Option<Scalar> {
        let symbol = self.symbols.lookup(&item.base.text, item.span.start)?;
        let is_outermost = at == index
            || !is_combined(aliased.bound[index].directive.kind)
                && ancestors(&aliased.bound, at).next() == Some(index);
        if !is_outermost || !self.is_fixed(item, stmt) {
            return None;
        }
        let mentions = match item.parts.is_empty() {
            true => self.named(symbol, stmt)?,
            false => self.elements(symbol, item, stmt)?,
        };
        let known = self.symbols.get(symbol);
        let word = match known.intrinsic.as_deref()? {
            "double precision" => "real",
            word @ ("real" | "integer" | "logical" | "complex") => word,
            _ => return None,
        };
        let scope = self.unit.scope_at(item.span.start)?;
        let decl = known.decl.map(|decl| self.unit.decl(decl));
        let own = decl.filter(|decl| self.unit.scope_at(decl.name_span.start) == Some(scope));
        let specification = self.unit.scope(scope).specification;
        let place = match own {
            // A variable of a `block` construct is not known in the specification part.
            Some(decl) if decl.span.start >= specification.end => return None,
            Some(decl) => self.line_after(decl.span.end),
            None => self.unit.scope(scope).directives_from,
        };
        Some(Scalar {
            item: item.clone(),
            mentions,
            declaration: format!("{word}(kind({}))", item.base.text),
            place,
            may_be_present: known.kind != SymbolKind::Local
                || known.fortran.pointer
                || self.is_on_device(index, symbol, aliased),
        })
    }

    /// Whether the subscripts of an item stay the same in the construct.
    fn is_fixed(&self, item: &ListItem, stmt: StmtId) -> bool {
        let used = sema::uses(self.unit, self.symbols, stmt);
        let inside = self.unit.stmt(stmt).span;
        let subscripts = item.subscripts().into_iter().map(|one| match one {
            Subscript::Index(index) => index.text.as_str(),
            Subscript::Range { .. } => "",
        });
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words = subscripts.flat_map(|text| text.split(move |c| !is_word(c)));
        words.all(|word| {
            word.is_empty()
                || word.bytes().all(|byte| byte.is_ascii_digit())
                || self.symbols.lookup(word, item.span.start).is_some_and(|symbol| {
                    let is_inside = inside.contains(self.symbols.get(symbol).scope);
                    let changes = used.of(symbol).is_some_and(|one| one.written || one.part_written);
                    self.symbols.get(symbol).class == Class::Scalar && !is_inside && !changes
                })
        })
    }

    /// Where the construct names a scalar; `None` if it asks for more than its value.
    fn named(&self, symbol: SymbolId, stmt: StmtId) -> Option<Vec<Span>> {
        let mut found = Vec::new();
        for id in self.unit.expr_ids_in(self.unit.stmt(stmt).span) {
            let expr = self.unit.expr(id);
            let is_it = |part: &ExprId| self.symbols.named(self.unit, *part) == Some(symbol);
            match &expr.kind {
                ExprKind::Name(_) if is_it(&id) => found.push(expr.span),
                ExprKind::AddressOf(part) if is_it(part) => return None,
                ExprKind::Assign(None, left, right) => {
                    let is_pointer = matches!(self.unit.expr(*right).kind, ExprKind::AddressOf(_));
                    if is_pointer && is_it(left) {
                        return None;
                    }
                }
                ExprKind::Call { callee, args } => {
                    let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { continue };
                    let asks = matches!(name.as_str(), "associated" | "allocated");
                    if asks && args.iter().any(is_it) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        found.sort_by_key(|span| span.start);
        found.dedup();
        Some(found)
    }

    /// Where the construct names an element of an array; `None` if it names others that may be the same.
    fn elements(&self, symbol: SymbolId, item: &ListItem, stmt: StmtId) -> Option<Vec<Span>> {
        let ids: Vec<ExprId> = self.unit.expr_ids_in(self.unit.stmt(stmt).span).collect();
        let bases = ids.iter().filter_map(|id| match &self.unit.expr(*id).kind {
            ExprKind::Index(base, _) => Some(*base),
            _ => None,
        });
        let bases: BTreeSet<ExprId> = bases.collect();
        let mut found = Vec::new();
        for id in ids.into_iter().filter(|id| !bases.contains(id)) {
            let mut at = id;
            let mut subscripts = Vec::new();
            while let ExprKind::Index(base, subscript) = &self.unit.expr(at).kind {
                subscripts.push(*subscript);
                at = *base;
            }
            if self.symbols.named(self.unit, at) != Some(symbol) {
                continue;
            }
            subscripts.reverse();
            let span = self.unit.expr(id).span;
            if plain(&self.file.text(span)) == plain(&item.text) {
                found.push(span);
            } else if !self.are_apart(item, &subscripts) {
                return None;
            }
        }
        found.sort_by_key(|span| span.start);
        found.dedup();
        Some(found)
    }

    /// Whether one of the subscripts is another number than that of the item.
    fn are_apart(&self, item: &ListItem, subscripts: &[ExprId]) -> bool {
        item.subscripts().into_iter().zip(subscripts).any(|(one, other)| {
            match (one, &self.unit.expr(*other).kind) {
                (Subscript::Index(index), ExprKind::Int(number)) => {
                    index.text.trim().parse::<i128>().is_ok_and(|known| known != *number)
                }
                _ => false,
            }
        })
    }

    /// Whether a directive of the procedure other than the construct names the variable.
    fn is_on_device(&self, index: usize, symbol: SymbolId, aliased: &Aliased) -> bool {
        let function = aliased.bound[index].function;
        let others =
            aliased.bound.iter().enumerate().filter(|(at, one)| *at != index && one.function == function);
        let mut lists =
            others.flat_map(|(_, one)| &one.directive.clauses).filter_map(|clause| match &clause.kind {
                ClauseKind::Data(_, list) => Some(list),
                _ => None,
            });
        lists.any(|list| {
            let mut names = list.iter().map(|item| (&item.base.text, item.span.start));
            names.any(|(name, at)| self.symbols.lookup(name, at) == Some(symbol))
        })
    }

    fn line_after(&self, offset: u32) -> u32 {
        let rest = self.file.bytes.get(offset as usize..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        offset + end as u32
    }

    fn apply(&self, index: usize, scalar: Scalar, aliased: &mut Aliased) {
        let Scalar { item, mentions, declaration, place, may_be_present } = scalar;
        let block: &mut Block = aliased.blocks.entry(index).or_default();
        let name = block.name(&item.text, false);
        block.has_lent = true;
        block.written.push(name.clone());
        if may_be_present {
            block.updated.push(name.clone());
        }
        let is_kept = |span: &Span| !self.rewritten.iter().any(|stmt| stmt.contains(*span));
        let kept = mentions.into_iter().filter(is_kept);
        block.respelled.extend(kept.map(|span| (span, name.clone())));
        let declaration = format!("{declaration} :: {name}");
        block.temporaries.push(Temporary { name, declaration, place });
        if !item.parts.is_empty() {
            return;
        }
        for clause in &mut aliased.bound.to_mut()[index].directive.clauses {
            if let ClauseKind::Data(_, list) = &mut clause.kind {
                list.retain(|other| !other.base.text.eq_ignore_ascii_case(&item.base.text));
            }
        }
    }
}

fn is_combined(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::ParallelLoop | DirectiveKind::SerialLoop | DirectiveKind::KernelsLoop)
}

/// A text without blanks, in lower case.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_ascii_lowercase()
}
