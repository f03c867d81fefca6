//! The variables of directives: which ones, and where their elements are.
//!
//! Invariant: a variable is recorded only if its declaration or a clause says how long it is.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DataClause, Expr, ListItem, PathStep, Subscript};
use crate::bind::descendants;
use crate::host::ir::StmtId;
use crate::plan::{Code, DataItem, Item, Names, Region, Sharing, list, live_after};
use crate::sema::{Class, Dimensions, SymbolId, SymbolKind, Use, Uses, children, header, uses};
use crate::source::Span;

use super::Input;
use super::components::components;
use super::fortran_variables::{self, Fortran};

/// A variable: pieces of memory, each with a number of elements side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// As a report names it, and as a clause does.
    pub name: String,
    /// How many pieces there are, dimension by dimension: `acc2omp_0`, `acc2omp_1` … count them.
    pub loops: Vec<String>,
    /// The first element of a piece.
    pub first: String,
    /// How many elements a piece has.
    pub count: String,
    /// What only Fortran says of it.
    pub fortran: Fortran,
    /// Of C and C++, the variable whose elements these are; none where a clause names a part of an object.
    pub symbol: Option<SymbolId>,
    /// It is a scalar.
    pub is_scalar: bool,
    /// It has no address in C: a copy of it is recorded.
    pub is_register: bool,
    /// It is what a pointer leads to: how long that is is asked when the program runs.
    pub is_pointed: bool,
    /// Its construct may change it.
    pub is_changed: bool,
    /// A clause of its construct, or of one around it, says that it is on the device.
    pub is_listed: bool,
}

/// The variables of a construct.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that can be recorded.
    pub variables: Vec<Variable>,
    /// The names of others.
    pub unknown: Vec<String>,
}

/// The variables of a compute construct.
pub fn of_construct(input: &Input, index: usize) -> Found {
    let mut found = Found::default();
    let Some(stmt) = input.bound[index].stmt() else { return found };
    let body = input.unit.stmt(stmt).span;
    let construct = input.plan.construct(index);
    let own = own_names(input, index);
    let reduced = reduced_names(input, index);
    let all = uses(input.unit, input.symbols, stmt);
    let calls = !all.calls.is_empty();
    let counters = counters(input, stmt);
    let known = found.listed(input, index, &all, &own);
    for (symbol, used) in all.iter() {
        let one = input.symbols.get(symbol);
        let is_variable = !matches!(one.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant)
            && !one.is_const;
        let is_inside = one.decl.is_some_and(|decl| body.contains(input.unit.decl(decl).span));
        if !is_variable || is_inside || known.contains(&symbol) || own.contains(&symbol) {
            continue;
        }
        let is_listed = construct.data.iter().chain(construct.around()).any(|item| names(item, symbol));
        let is_changed = calls || !used.is_unchanged();
        match one.class {
            Class::Scalar => {
                let is_result = reduced.contains(&symbol)
                    || is_listed
                    || used.written && !counters.contains(&symbol) && is_left(input, index, stmt, symbol);
                if used.exposed || is_result {
                    match scalar(input, symbol) {
                        Some(variable) => {
                            found.variables.push(Variable { is_changed: is_result, is_listed, ..variable })
                        }
                        None => found.unknown.push(one.name.clone()),
                    }
                }
            }
            Class::Array if input.unit.is_fortran() && one.record.is_some() => {
                found.objects(input, symbol, [is_changed, is_listed]);
            }
            Class::Array => match whole(input, symbol) {
                Some(variable) => found.variables.push(Variable { is_changed, is_listed, ..variable }),
                None => found.pointed(input, symbol, used, [is_changed, is_listed]),
            },
            Class::Pointer if leads(used) => {
                found.pointed(input, symbol, used, [is_changed, is_listed]);
            }
            Class::Record => found.objects(input, symbol, [is_changed, is_listed]),
            // As of a template's type: the library finds out whether it is a number.
            Class::Unknown if reduced.contains(&symbol) && !input.unit.is_fortran() => {
                found.variables.push(Variable { is_listed, ..of_scalar(one.name.clone(), one.name.clone()) })
            }
            Class::Pointer | Class::Unknown => {}
        }
    }
    for variable in &found.variables {
        found.unknown.extend(components(input, variable).unknown);
    }
    found
}

impl Found {
    /// Adds the sections that clauses name. The variables that are settled by them.
    fn listed(
        &mut self,
        input: &Input,
        index: usize,
        all: &Uses,
        own: &BTreeSet<SymbolId>,
    ) -> BTreeSet<SymbolId> {
        let place = input.bound[index].directive.span.start;
        let construct = input.plan.construct(index);
        let calls = !all.calls.is_empty();
        let mut known = BTreeSet::new();
        for item in construct.data.iter().chain(construct.around()) {
            // Of an object, several components may be listed.
            let is_part = input.unit.is_fortran() && item.item.depth() > 0;
            let is_named = self.variables.iter().any(|one| one.name == item.item.text);
            let is_fresh = |symbol: &SymbolId| if is_part { !is_named } else { !known.contains(symbol) };
            let Some(symbol) = item.symbol.filter(|symbol| is_fresh(symbol) && !own.contains(symbol)) else {
                continue;
            };
            let used = all.of(symbol).copied();
            let is_own = item.directive == index;
            if item.clause == DataClause::Deviceptr || used.is_none() && !is_own {
                known.insert(symbol);
                continue;
            }
            if let Some(mut variable) = of_item(input, place, &item.item) {
                known.insert(symbol);
                variable.is_changed = calls || used.is_none_or(|used| !used.is_unchanged());
                variable.is_listed = true;
                self.variables.push(variable);
            }
        }
        known
    }

    /// Adds an object, or the components of objects of Fortran.
    fn objects(&mut self, input: &Input, symbol: SymbolId, [is_changed, is_listed]: [bool; 2]) {
        let (parts, unknown) = objects(input, symbol);
        match parts.is_empty() {
            true => self.unknown.push(input.symbols.get(symbol).name.clone()),
            false => self.unknown.extend(unknown),
        }
        let parts = parts.into_iter().map(|one| Variable {
            is_changed,
            is_listed: is_listed && one.is_listed,
            ..one
        });
        self.variables.extend(parts);
    }

    /// Adds what a pointer, or a parameter that is declared as an array, leads to. Arrays of Fortran know how long they are.
    fn pointed(&mut self, input: &Input, symbol: SymbolId, used: &Use, [is_changed, is_listed]: [bool; 2]) {
        let one = input.symbols.get(symbol);
        let is_row = one.shape.iter().skip(1).all(|is_array| *is_array);
        // Where an element is used, its type is complete.
        let is_used = used.part_read || used.part_written;
        if input.unit.is_fortran() || !is_row || one.shape.is_empty() || !is_used {
            self.unknown.push(one.name.clone());
            return;
        }
        let first = format!("{}{}", one.name, "[0]".repeat(one.shape.len()));
        self.variables.push(Variable {
            count: format!("acc2omp_pin_elements(&({first}), sizeof({first}))"),
            name: one.name.clone(),
            first,
            symbol: Some(symbol),
            is_pointed: true,
            is_changed,
            is_listed,
            ..Variable::default()
        });
    }
}

/// A scalar.
fn scalar(input: &Input, symbol: SymbolId) -> Option<Variable> {
    if input.unit.is_fortran() {
        return fortran_variables::scalar(input, symbol);
    }
    let name = input.symbols.get(symbol).name.clone();
    Some(Variable { is_register: is_register(input, symbol), ..of_scalar(name.clone(), name) })
}

/// Whether C refuses the address of a variable.
fn is_register(input: &Input, symbol: SymbolId) -> bool {
    let Some(decl) = input.symbols.get(symbol).decl.map(|decl| input.unit.decl(decl)) else { return false };
    let specifiers = input.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    !input.unit.is_cpp() && specifiers.split_whitespace().any(|word| word == "register")
}

fn of_scalar(name: String, first: String) -> Variable {
    let count = "1".to_owned();
    Variable { name, first, count, is_scalar: true, is_changed: true, is_listed: true, ..Variable::default() }
}

/// An object of C or C++, or the components of one of Fortran, if some of these are known, and the names of others.
fn objects(input: &Input, symbol: SymbolId) -> (Vec<Variable>, Vec<String>) {
    match input.unit.is_fortran() {
        true => fortran_variables::components(input, symbol),
        false => (object(input, symbol).into_iter().collect(), Vec::new()),
    }
}

/// A list item of a directive that moves data, or the components of the object of Fortran that it names.
pub fn of_items(input: &Input, place: u32, item: &ListItem) -> Vec<Variable> {
    let whole = of_item(input, place, item);
    if whole.is_none() && !input.unit.is_fortran() && item.depth() > 0 && item.subscripts().is_empty() {
        // A component of C, of which the library finds out whether it is a number.
        return vec![of_scalar(item.text.clone(), item.text.clone())];
    }
    let is_object = whole.is_none() && input.unit.is_fortran() && !item.common;
    let symbol = input.symbols.lookup(item.variable(), place).filter(|_| is_object);
    let parts = symbol.map(|symbol| match item.parts.as_slice() {
        [] => fortran_variables::components(input, symbol).0,
        [PathStep::Section(_)] => fortran_variables::components_of_section(input, symbol, item),
        _ => Vec::new(),
    });
    whole.into_iter().chain(parts.into_iter().flatten()).collect()
}

/// An object of C or C++ of whose type some components are known.
fn object(input: &Input, symbol: SymbolId) -> Option<Variable> {
    let name = input.symbols.get(symbol).name.clone();
    let symbol = Some(symbol).filter(|_| !input.unit.is_fortran());
    let own = Variable { symbol, is_scalar: false, ..of_scalar(name.clone(), name) };
    (!components(input, &own).known.is_empty()).then_some(own)
}

fn names(item: &DataItem, symbol: SymbolId) -> bool {
    item.symbol == Some(symbol)
}

/// Whether something that a pointer leads to is used.
fn leads(used: &Use) -> bool {
    used.part_read || used.part_written || used.read
}

/// The variables that count the loops of Fortran in a statement: each thread has its own (OpenACC 3.3, 2.6.1).
fn counters(input: &Input, stmt: StmtId) -> BTreeSet<SymbolId> {
    let mut found = BTreeSet::new();
    let mut pending = if input.unit.is_fortran() { vec![stmt] } else { Vec::new() };
    while let Some(at) = pending.pop() {
        found.extend(header(input.unit, input.symbols, at).ok().map(|header| header.var));
        pending.extend(children(input.unit, at));
    }
    found
}

/// Whether a scalar that a `kernels` construct changes is used after it.
fn is_left(input: &Input, index: usize, stmt: StmtId, symbol: SymbolId) -> bool {
    let is_kernels = matches!(&input.plan.items[index], Item::Launch(launch) if launch.region == Region::Kernels)
        || input.plan.kernels.contains_key(&index);
    let code =
        Code { unit: input.unit, symbols: input.symbols, bound: input.bound, device_type: input.device_type };
    is_kernels && live_after(code, index, stmt, &Names::from([symbol])).contains(&symbol)
}

/// The variables of which each thread of a construct has its own, by clauses or by rules.
fn own_names(input: &Input, index: usize) -> BTreeSet<SymbolId> {
    let mut own = BTreeSet::new();
    for at in std::iter::once(index).chain(descendants(input.bound, index)) {
        let directive = &input.bound[at].directive;
        for clause in &directive.clauses {
            if matches!(clause.kind, ClauseKind::Private(_)) {
                let items = list(&clause.kind).iter();
                own.extend(
                    items.filter_map(|item| input.symbols.lookup(item.variable(), directive.span.start)),
                );
            }
        }
        let attributes = match &input.plan.items[at] {
            Item::Launch(launch) => launch.attributes.as_slice(),
            Item::Loop(work) => work.attributes.as_slice(),
            _ => &[],
        };
        let private = attributes.iter().filter(|attribute| attribute.sharing == Sharing::Private);
        own.extend(private.filter_map(|one| input.symbols.lookup(&one.item, directive.span.start)));
    }
    own
}

/// The variables that a construct or one of its outermost loops reduces: those of loops inside are each gang's own there.
fn reduced_names(input: &Input, index: usize) -> BTreeSet<SymbolId> {
    let is_outermost = |at: &usize| input.bound[*at].parent == Some(index);
    let loops = descendants(input.bound, index).filter(is_outermost);
    let loops = loops.filter(|_| !input.bound[index].directive.kind.is_loop());
    let all = std::iter::once(index).chain(loops);
    let clauses = all.flat_map(|at| {
        let directive = &input.bound[at].directive;
        directive.clauses.iter().map(|clause| (directive.span.start, &clause.kind))
    });
    let reduced = clauses.filter(|(_, kind)| matches!(kind, ClauseKind::Reduction(..)));
    let items = reduced.flat_map(|(place, kind)| list(kind).iter().map(move |item| (place, item)));
    items.filter_map(|(place, item)| input.symbols.lookup(item.variable(), place)).collect()
}

/// A list item, if it is known how long it is.
pub fn of_item(input: &Input, place: u32, item: &ListItem) -> Option<Variable> {
    if input.unit.is_fortran() {
        return fortran_variables::of_item(input, place, item);
    }
    let symbol = input.symbols.lookup(item.variable(), place)?;
    let subscripts = item.subscripts();
    let known = input.symbols.get(symbol);
    let is_plain = item.depth() == 0;
    if is_plain && subscripts.is_empty() {
        return match known.class {
            Class::Scalar => scalar(input, symbol),
            Class::Array => whole(input, symbol),
            Class::Record => object(input, symbol),
            _ => None,
        };
    }
    let dimensions = match is_plain {
        true => Dimensions { shape: known.shape.clone(), bounds: known.bounds.clone() },
        false => Dimensions::default(),
    };
    let rank = dimensions.shape.len().max(subscripts.len());
    let mut all = Vec::new();
    for at in 0..rank {
        let declared = dimensions.bounds.get(at).and_then(|bounds| bounds.upper.as_deref());
        all.push(dimension(subscripts.get(at).copied(), declared, dimensions.shape.get(at) == Some(&true))?);
    }
    let symbol = (is_plain && subscripts.len() == known.shape.len()).then_some(symbol);
    (!all.is_empty()).then(|| Variable { symbol, ..pieces(item.text.clone(), item.head(), all) })
}

/// A dimension of a section: its first index, how many there are, and whether that is all of an array's dimension.
struct Dimension {
    first: String,
    count: String,
    is_whole: bool,
}

fn dimension(subscript: Option<&Subscript>, declared: Option<&str>, is_array: bool) -> Option<Dimension> {
    let text = |expr: &Expr| expr.text.trim().to_owned();
    let all = || declared.map(|count| ("0".to_owned(), count.to_owned()));
    let (first, count) = match subscript {
        None => all()?,
        Some(Subscript::Index(expr)) => (text(expr), "1".to_owned()),
        Some(Subscript::Range { first, second, stride: None }) => {
            let first = first.as_ref().map_or("0".to_owned(), text);
            match second {
                Some(count) => (first, text(count)),
                None => (first.clone(), format!("({}) - ({first})", declared?)),
            }
        }
        Some(_) => return None,
    };
    let is_whole = is_array && first == "0" && declared == Some(count.as_str());
    Some(Dimension { first, count, is_whole })
}

/// A variable of these dimensions; those at the end that are whole are one piece.
fn pieces(name: String, head: &str, mut all: Vec<Dimension>) -> Variable {
    let mut count = String::new();
    let mut after = String::new();
    while let Some(last) = all.pop() {
        count = match count.is_empty() {
            true => last.count.clone(),
            false => format!("({}) * (long long)({count})", last.count),
        };
        after = format!("[{}]{after}", last.first);
        if !last.is_whole {
            break;
        }
    }
    let counters = all.iter().enumerate().map(|(at, one)| format!("[({}) + acc2omp_{at}]", one.first));
    let first = format!("{head}{}{after}", counters.collect::<String>());
    let loops = all.into_iter().map(|one| one.count).collect();
    Variable { name, loops, first, count, is_changed: true, is_listed: true, ..Variable::default() }
}

/// All of an array.
fn whole(input: &Input, symbol: SymbolId) -> Option<Variable> {
    if input.unit.is_fortran() {
        return fortran_variables::whole(input, symbol);
    }
    let known = input.symbols.get(symbol);
    let name = known.name.clone();
    if known.shape.iter().any(|is_array| !is_array) {
        return None;
    }
    if known.kind != SymbolKind::Parameter {
        let first = format!("{name}{}", "[0]".repeat(known.shape.len()));
        let count = format!("sizeof({name}) / sizeof({first})");
        return Some(Variable {
            name,
            first,
            count,
            symbol: Some(symbol),
            is_changed: true,
            is_listed: true,
            ..Variable::default()
        });
    }
    let whole = |upper: &String| Dimension { first: "0".to_owned(), count: upper.clone(), is_whole: true };
    let all: Option<Vec<Dimension>> =
        known.bounds.iter().map(|bounds| bounds.upper.as_ref().map(whole)).collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some(Variable { symbol: Some(symbol), ..pieces(name.clone(), &name, all) })
}
