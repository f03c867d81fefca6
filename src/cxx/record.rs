//! Objects of derived types as structs of C++, where a construct needs them whole or not always the same one.
//!
//! Invariant: a struct has all that its type has, in one order and in the same places: numbers, logical values, arrays of these
//! whose shape is the same in every run, and objects of such types.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ListItem;
use crate::host::ir::{BaseType, Decl, ExprId, ExprKind, StmtId};
use crate::sema::{self, SymbolId, SymbolKind, Texts};
use crate::source::Span;

use super::Why;
use super::component;
use super::ground::Ground;
use super::structs::{Member, Record};
use super::types::{Files, Type, Word, plain_code};
use super::variable::{Bound, Dimension, Variable, Variables, cpp_name, shape, shape_of, spelled};

/// Types that hold one another are followed no further than this.
const DEPTH: usize = 16;

/// The type of the objects of a derived type.
pub fn of(ground: &Ground, tag: &str, at: Span) -> Result<Type, Why> {
    made(ground, tag, at, DEPTH)
}

/// The record that a type is.
pub fn record(ground: &Ground, ty: Type) -> Option<Record> {
    if ty.word != Word::Record {
        return None;
    }
    ground.procedures.borrow().records.get(usize::from(ty.bytes)).cloned()
}

/// How C++ calls a type.
pub fn cpp(ground: &Ground, ty: Type) -> String {
    record(ground, ty).map_or_else(|| ty.cpp().to_owned(), |record| record.name)
}

/// A component of an object of this type.
pub fn member(ground: &Ground, ty: Type, name: &str) -> Option<Member> {
    let record = record(ground, ty)?;
    let own = record.members.into_iter().find(|member| member.name == name);
    own.or_else(|| {
        let (base, ty) = record.base?;
        if base == name {
            let path = format!(".{}", member_name(ground, &base));
            return Some(Member { name: base, path, ty, shape: Vec::new() });
        }
        let inherited = member(ground, ty, name)?;
        let path = format!(".{}{}", member_name(ground, &base), inherited.path);
        Some(Member { path, ..inherited })
    })
}

/// All components of a type that extends none, in their order.
pub fn members(ground: &Ground, ty: Type) -> Option<Vec<Member>> {
    record(ground, ty).filter(|record| record.base.is_none()).map(|record| record.members)
}

/// Whether an assignment of whole objects may be a procedure of the program.
pub fn may_assign_otherwise(files: &Files) -> bool {
    // The letters of the word may be large or small; few files have it at all.
    let has_word = |bytes: &[u8]| bytes.windows(10).any(|word| word.eq_ignore_ascii_case(b"assignment"));
    let mut all = std::iter::once(&files.own).chain(&files.others);
    all.any(|seen| has_word(&seen.file.bytes))
}

/// How C++ calls a component: not as it calls a struct.
fn member_name(ground: &Ground, name: &str) -> String {
    let mut name = cpp_name(name);
    if ground.procedures.borrow().records.iter().any(|record| record.name == name) {
        name.push('_');
    }
    name
}

/// The variables of derived type whose objects become structs: those that code names whole, or of which it names a component
/// that is not always the same, and those that clauses copy.
pub fn objects(
    ground: &Ground,
    variables: &mut Variables,
    (region, extent): (StmtId, Span),
    (members, inner): (&[(ExprId, component::Named)], &BTreeSet<ExprId>),
    copied: &[&ListItem],
) -> Result<BTreeSet<SymbolId>, Why> {
    let (files, symbols, unit) = (ground.files, ground.symbols, ground.files.own.unit);
    let mut objects = BTreeMap::new();
    let is_declared_here = |symbol: SymbolId| ground.is_declared_in(symbol, extent);
    for (id, named) in members.iter().filter(|(id, _)| !inner.contains(id)) {
        if is_declared_here(named.root) {
            objects.entry(named.root).or_insert((unit.expr(*id).span, None));
        } else if let Err(why) = named.variable(files, symbols, region) {
            objects.entry(named.root).or_insert((unit.expr(*id).span, Some(why)));
        }
    }
    for id in unit.expr_ids_in(extent).filter(|id| !inner.contains(id)) {
        let Some(symbol) = symbols.named(unit, id) else { continue };
        let is_name = matches!(unit.expr(id).kind, ExprKind::Name(_));
        if is_name && symbols.get(symbol).record.is_some() {
            objects.entry(symbol).or_insert((unit.expr(id).span, None));
        }
    }
    for item in copied {
        let symbol = symbols.lookup(item.variable(), item.span.start);
        if let Some(symbol) = symbol.filter(|symbol| symbols.get(*symbol).record.is_some()) {
            objects.entry(symbol).or_insert((item.span, None));
        }
    }
    for (symbol, (at, why)) in &objects {
        let at = Span { start: at.start, end: at.start };
        add(ground, variables, *symbol, at).map_err(|other| why.clone().unwrap_or(other))?;
    }
    for (symbol, (at, _)) in objects.iter().filter(|(symbol, _)| is_declared_here(**symbol)) {
        let record = variables.get(*symbol).and_then(|variable| record(ground, variable.ty));
        if record.is_some_and(|record| record.has_defaults) {
            let name = &symbols.get(*symbol).name;
            return Err(Why::new(*at, format!("`{name}`, which begins with values of its type,")));
        }
    }
    take_parts(ground, variables, extent)?;
    Ok(objects.into_keys().collect())
}

/// Takes in the components of objects that an extent names and that are arrays.
pub fn take_parts(ground: &Ground, variables: &mut Variables, extent: Span) -> Result<(), Why> {
    let unit = ground.files.own.unit;
    let mut found: Vec<(ExprId, Type, Vec<Dimension>)> = Vec::new();
    for id in unit.expr_ids_in(extent) {
        let expr = unit.expr(id);
        if !matches!(expr.kind, ExprKind::Member { .. }) {
            continue;
        }
        let Some(chain) = sema::chain(unit, id) else { continue };
        let Some(root) = ground.symbols.named(unit, chain.root) else { continue };
        let Some(mut ty) = variables.get(root).map(|root| root.ty).filter(|ty| ty.word == Word::Record)
        else {
            continue;
        };
        let mut shape = Vec::new();
        for step in &chain.steps {
            if ty.word == Word::Complex {
                shape.clear();
                break;
            }
            let unknown = || Why::new(expr.span, format!("`{}`, a component that is not seen,", step.name));
            let member = member(ground, ty, &step.name).ok_or_else(unknown)?;
            (ty, shape) = (member.ty, member.shape);
        }
        if !shape.is_empty() {
            found.push((id, ty, shape));
        }
    }
    found.into_iter().for_each(|(id, ty, shape)| variables.add_part(id, ty, shape));
    Ok(())
}

fn made(ground: &Ground, tag: &str, at: Span, depth: usize) -> Result<Type, Why> {
    let files = ground.files;
    let refused = |what: &str| Why::new(at, format!("an object of type `{tag}`, {what},"));
    let unseen = "which is not seen";
    let depth = depth.checked_sub(1).ok_or_else(|| refused(unseen))?;
    let tag = files.tag(tag).ok_or_else(|| refused(unseen))?;
    let mut all = std::iter::once(&files.own).chain(&files.others);
    let found = all.find_map(|seen| {
        let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
        Some((*seen, record))
    });
    let (seen, stated) = found.ok_or_else(|| refused(unseen))?;
    let place = (seen.file.name.clone(), stated.span.start);
    let known = ground.procedures.borrow().records.iter().position(|record| record.place == place);
    if let Some(known) = known {
        return Ok(Type { word: Word::Record, bytes: known as u8 });
    }
    if component::has_procedures(files, tag) {
        return Err(refused("which has procedures"));
    }
    let base = match stated.bases.as_slice() {
        [] => None,
        [base] => Some((base.clone(), made(ground, base, at, depth)?)),
        _ => return Err(refused(unseen)),
    };
    let inherits =
        base.as_ref().and_then(|(_, ty)| record(ground, *ty)).is_some_and(|base| base.has_defaults);
    let mut has_defaults = inherits;
    let mut members = Vec::new();
    for id in &stated.members {
        let decl = seen.unit.decl(*id);
        let what = || refused(&format!("with the component `{}`", decl.name));
        if decl.fortran.allocatable || decl.fortran.pointer || decl.fortran.procedure {
            return Err(what());
        }
        let ty = match &decl.base {
            BaseType::Tagged(inner) if is_type(seen, decl) => made(ground, inner, at, depth)?,
            BaseType::Tagged(_) => return Err(what()),
            _ => files.declared(seen, decl).ok_or_else(what)?,
        };
        has_defaults |= decl.init.is_some() || record(ground, ty).is_some_and(|inner| inner.has_defaults);
        let shape = shape_of(files, seen, decl).ok_or_else(what)?;
        if shape
            .iter()
            .any(|one| !matches!((one.lower, one.extent), (Bound::Constant(_), Bound::Constant(_))))
        {
            return Err(what());
        }
        let path = format!(".{}", member_name(ground, &decl.name));
        members.push(Member { name: decl.name.clone(), path, ty, shape });
    }
    if members.is_empty() && base.is_none() {
        return Err(refused("which has no components"));
    }
    let mut record = Record { place, name: String::new(), members, base, has_defaults, size: 0, align: 1 };
    record.lay_out(ground);
    record.put(ground, tag, at).ok_or_else(|| refused("one of too many"))
}

/// Whether a declaration says `type(…)`, and not `class(…)`.
pub fn is_type(seen: Texts, decl: &Decl) -> bool {
    let stated = plain_code(seen, Span { start: decl.span.start, end: decl.name_span.start });
    stated.starts_with("type(")
}

impl Record {
    /// Computes its bytes: each component is where its own size allows it.
    fn lay_out(&mut self, ground: &Ground) {
        let size_of = |ty: Type| match record(ground, ty) {
            Some(inner) => (inner.size, inner.align),
            None if ty.word == Word::Complex => (2 * i128::from(ty.bytes), i128::from(ty.bytes)),
            None => (i128::from(ty.bytes), i128::from(ty.bytes)),
        };
        let base = self.base.iter().map(|(_, ty)| (size_of(*ty), 1));
        let own = self.members.iter().map(|member| (size_of(member.ty), member.count()));
        for ((size, align), count) in base.chain(own) {
            self.size = rounded(self.size, align) + size * count;
            self.align = self.align.max(align);
        }
        self.size = rounded(self.size, self.align);
    }

    /// Writes it, under a name that nothing else has.
    fn put(mut self, ground: &Ground, tag: &str, at: Span) -> Option<Type> {
        let mut lines: Vec<String> = self
            .base
            .iter()
            .map(|(name, ty)| format!("    {} {};", cpp(ground, *ty), member_name(ground, name)))
            .collect();
        for member in &self.members {
            let is_array = !member.shape.is_empty();
            let count = if is_array { format!("[{}]", member.count()) } else { String::new() };
            lines.push(format!("    {} {}{count};", cpp(ground, member.ty), &member.path[1..]));
        }
        self.name = cpp_name(tag);
        let is_variable = |name: &str| {
            ground
                .symbols
                .lookup(name, at.start)
                .is_some_and(|symbol| ground.symbols.get(symbol).kind != SymbolKind::Type)
        };
        let mut procedures = ground.procedures.borrow_mut();
        while is_variable(&self.name) || procedures.texts.iter().any(|(other, _)| *other == self.name) {
            self.name.push('_');
        }
        let text = format!("struct {} {{\n{}\n}};\n", self.name, lines.join("\n"));
        let number = u8::try_from(procedures.records.len()).ok()?;
        procedures.texts.push((self.name.clone(), text));
        procedures.records.push(self);
        Some(Type { word: Word::Record, bytes: number })
    }
}

/// The next number that is so many times another.
fn rounded(number: i128, of: i128) -> i128 {
    (number + of - 1) / of.max(1) * of.max(1)
}

/// The declared type of a variable whose objects become structs.
pub fn of_variable(ground: &Ground, symbol: SymbolId, at: Span) -> Result<Type, Why> {
    let known = ground.symbols.get(symbol);
    let refused = || Why::new(at, format!("`{}`, a variable of derived type,", known.name));
    let (seen, decl) = ground.files.decl_of(known).ok_or_else(refused)?;
    match &decl.base {
        BaseType::Tagged(tag) if is_type(seen, decl) => of(ground, tag, at),
        _ => Err(refused()),
    }
}

/// Takes in a variable of derived type whose objects become structs.
pub fn add(ground: &Ground, variables: &mut Variables, symbol: SymbolId, at: Span) -> Result<(), Why> {
    if variables.get(symbol).is_some() {
        return Ok(());
    }
    let (files, symbols) = (ground.files, ground.symbols);
    let known = symbols.get(symbol);
    let named = |what: &str| Why::new(at, format!("`{}`, {what},", known.name));
    let ty = of_variable(ground, symbol, at)?;
    let is_variable = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
    if !is_variable || known.fortran.optional {
        return Err(named("a variable of derived type"));
    }
    let shape = shape(files, known).ok_or_else(|| named("of a shape that is not known"))?;
    let said = &known.fortran;
    let variable = Variable {
        is_aliased: said.pointer || said.target || said.is_equivalent,
        object: Some(cpp(ground, ty)),
        ..Variable::new(cpp_name(&known.name), spelled(files.own, known, at), ty, shape)
    };
    variables.insert(symbols, symbol, variable, at);
    Ok(())
}
