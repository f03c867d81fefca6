//! How much of the memory that a pointer leads to a compute construct uses, where no data clause says so: subscripts that are sums of
//! loop variables, in loops with known bounds, tell it.
//!
//! Invariant: a section is reported only if the construct uses its first and its last element whenever all of its loops run; what
//! is used under a condition lies in what is used without one.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::acc::ast::{Clause, ClauseKind, DataClause, Expr, ListItem, Name, PathStep, Subscript};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::{BinaryOp, ExprId, ExprKind, FunctionId, StmtId, StmtKind, UnaryOp, Unit};
use crate::sema::{self, Class, Element, Header, SymbolId, SymbolKind, Symbols, uses};
use crate::source::{self, SourceFile, Span};

use super::{Input, Settings};

/// In more loops than these, nothing is read.
const DEPTH: usize = 32;

/// A polynomial over names, by the sorted names of each product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Poly(BTreeMap<Vec<String>, i128>);

impl Poly {
    fn number(value: i128) -> Poly {
        Poly::default().plus(&Poly(BTreeMap::from([(Vec::new(), value)])), 1)
    }

    fn name(name: &str) -> Poly {
        Poly(BTreeMap::from([(vec![name.to_owned()], 1)]))
    }

    /// `self + factor * other`
    fn plus(&self, other: &Poly, factor: i128) -> Poly {
        let mut sum = self.0.clone();
        for (product, count) in &other.0 {
            *sum.entry(product.clone()).or_default() += factor * count;
        }
        sum.retain(|_, count| *count != 0);
        Poly(sum)
    }

    fn times(&self, other: &Poly) -> Poly {
        let mut all = Poly::default();
        for (one, count) in &self.0 {
            for (two, more) in &other.0 {
                let mut product: Vec<String> = one.iter().chain(two).cloned().collect();
                product.sort();
                all = all.plus(&Poly(BTreeMap::from([(product, count * more)])), 1);
            }
        }
        all
    }

    fn value(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// What a name is multiplied with, and the rest; none if it stands there squared.
    fn by(&self, name: &str) -> Option<(Poly, Poly)> {
        let (mut factor, mut rest) = (Poly::default(), Poly::default());
        for (product, count) in &self.0 {
            let times = product.iter().filter(|one| *one == name).count();
            let others: Vec<String> = product.iter().filter(|one| *one != name).cloned().collect();
            match times {
                0 => drop(rest.0.insert(product.clone(), *count)),
                1 => drop(factor.0.insert(others, *count)),
                _ => return None,
            }
        }
        Some((factor, rest))
    }

    /// Its text in C.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut terms: Vec<(&Vec<String>, &i128)> = self.0.iter().collect();
        terms.sort_by_key(|(product, count)| (product.is_empty(), **count < 0));
        for (product, count) in terms {
            let sign = match (text.is_empty(), *count < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let mut factors = product.clone();
            if count.abs() != 1 || factors.is_empty() {
                factors.insert(0, count.abs().to_string());
            }
            text += &format!("{sign}{}", factors.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

/// A loop around an access: its variable, and the first and the last value of it.
struct Range {
    name: String,
    first: Poly,
    last: Poly,
}

/// The elements that an access may use: the lowest and the highest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Used {
    low: Poly,
    high: Poly,
    is_conditional: bool,
}

/// Whether pointers lead to memory of their own, by the function that uses them.
type Known = FxHashMap<(Option<FunctionId>, SymbolId), bool>;

/// One pointer in one construct.
struct Reader<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    region: StmtId,
    pointer: SymbolId,
    /// Where the construct names it, in order.
    places: &'a [u32],
    loops: Vec<Range>,
    used: Vec<Used>,
    /// Something in the region leaves a loop.
    may_leave: bool,
    /// How many loops are around.
    depth: usize,
}

/// What is found out of a construct for all of its pointers at once.
struct Region {
    stmt: StmtId,
    /// Where it names each variable, in order.
    places: FxHashMap<SymbolId, Vec<u32>>,
    /// The words of the macros that it uses.
    in_macros: FxHashSet<String>,
    /// Something in it leaves a loop.
    may_leave: bool,
}

/// What a function, or a file, assigns to variables.
type Origins = FxHashMap<SymbolId, Origin>;

/// What is assigned to a variable.
#[derive(Default)]
struct Origin {
    values: Vec<ExprId>,
    /// It is changed in another way, or may be.
    is_changed: bool,
}

/// What is known of pointers, whatever the construct.
#[derive(Default)]
struct Memory {
    known: Known,
    origins: FxHashMap<Span, Origins>,
}

/// Adds data clauses for pointers that have none, and whose extents follow from the loops of a compute construct.
pub fn with_extents(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    mut bound: Vec<Bound>,
    settings: &Settings,
) -> (Vec<Bound>, Vec<Diag>) {
    let (mut found, mut diags) = (Vec::new(), Vec::new());
    if unit.is_fortran() {
        return (bound, diags);
    }
    let mut input = None;
    let mut memory = Memory::default();
    for index in 0..bound.len() {
        let directive = &bound[index].directive;
        // All uses of a macro that stands for a directive must ask for the same.
        let is_in_macro = file.text(directive.span).starts_with("_Pragma");
        let is_wanted = directive.kind.is_compute() && !is_in_macro;
        let Some(stmt) = bound[index].stmt().filter(|_| is_wanted) else { continue };
        let input = input.get_or_insert_with(|| Input::new(file, unit, symbols, &bound, settings));
        let mut region = None;
        for (symbol, at) in input.bare_pointers(index, stmt, &mut memory) {
            let region = region.get_or_insert_with(|| Region::of(input, stmt));
            let Some(section) = input.section_used(index, region, symbol) else { continue };
            let name = &symbols.get(symbol).name;
            let how = uses(unit, symbols, stmt).of(symbol).copied().unwrap_or_default();
            let data =
                if how.part_written { DataClause::Copy } else { DataClause::Copyin { readonly: false } };
            let word = if how.part_written { "copy" } else { "copyin" };
            let (clause, text) = clause(&bound[index], name, section, (data, word));
            diags.push(diag::extent_inferred(at, name, &text));
            found.push((index, clause));
        }
    }
    for (index, clause) in found {
        bound[index].directive.clauses.push(clause);
    }
    (bound, diags)
}

/// A data clause for a section, at the end of a directive, and its text.
fn clause(
    bound: &Bound,
    name: &str,
    (first, length): (String, String),
    (data, word): (DataClause, &str),
) -> (Clause, String) {
    // It has no place of its own in the source.
    let span = Span { start: bound.directive.name_span.end, end: bound.directive.name_span.end };
    let expr = |text: &String| Some(Expr { text: text.clone(), span });
    let part = PathStep::Section(vec![Subscript::Range {
        first: expr(&first),
        second: expr(&length),
        stride: None,
    }]);
    let text = format!("{name}[{first}:{length}]");
    let base = Name { text: name.to_owned(), span };
    let item = ListItem { base, parts: vec![part], text: text.clone(), span, common: false };
    let name = Name { text: word.to_owned(), span };
    let kind = ClauseKind::Data(data, vec![item]);
    (Clause { kind, name, span, modifier: None, device_type: None }, format!("{word}({text})"))
}

impl Input<'_> {
    /// The pointers to numbers or structs that a construct uses the targets of, and no clause around it names: variables that
    /// nothing else than an index is put after.
    fn bare_pointers(&self, index: usize, stmt: StmtId, memory: &mut Memory) -> Vec<(SymbolId, Span)> {
        let clauses = self.clauses(index);
        let is_present = |at: usize| {
            let clauses = &self.bound[at].directive.clauses;
            clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Default { .. }))
        };
        if crate::bind::ancestors(self.bound, index).chain([index]).any(is_present) {
            return Vec::new();
        }
        let visible = self.visible(index);
        // What a parameter leads to may be a part of what they name.
        let are_named = !clauses.data.is_empty() || !visible.arrays.is_empty();
        let used = uses(self.unit, self.symbols, stmt);
        let mut is_bare = |symbol: SymbolId, how: &sema::Use| {
            let known = self.symbols.get(symbol);
            let is_named = |item: &ListItem| item.variable() == known.name;
            let listed = clauses.private.iter().chain(&clauses.firstprivate);
            matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static)
                && known.class == Class::Pointer
                && known.shape == [false]
                && !(are_named && known.kind == SymbolKind::Parameter)
                && !known.is_reference
                && (how.part_read || how.part_written)
                && !(how.written || how.address_taken)
                && !self.is_inside(symbol, stmt)
                && !clauses.data.iter().any(|(_, item)| is_named(item))
                && !clauses.reduction.iter().any(|(_, item)| is_named(item))
                && !listed.into_iter().any(|item| is_named(item))
                && !visible.arrays.contains(&symbol)
                && !visible.deviceptr.iter().any(|(pointer, _)| *pointer == symbol)
                && !self.symbols.is_on_device(symbol)
                && !self.entered(index, symbol)
                && self.is_its_own(index, symbol, memory)
        };
        let bare = used.iter().filter(|(symbol, how)| is_bare(*symbol, how));
        bare.filter_map(|(symbol, how)| Some((symbol, how.first?))).collect()
    }

    /// As `leads_to_its_own`, which is found out once.
    fn is_its_own(&self, index: usize, symbol: SymbolId, memory: &mut Memory) -> bool {
        let Memory { known, origins } = memory;
        let leads = || self.leads_to_its_own(index, symbol, origins);
        *known.entry((self.bound[index].function, symbol)).or_insert_with(leads)
    }

    /// Whether the memory that a pointer leads to is surely no part of what has another name: it is a parameter that nothing assigns,
    /// or all that is assigned to it in the file comes from calls that make new memory.
    fn leads_to_its_own(
        &self,
        index: usize,
        symbol: SymbolId,
        origins: &mut FxHashMap<Span, Origins>,
    ) -> bool {
        let known = self.symbols.get(symbol);
        let Some(function) = self.bound[index].function else { return false };
        let decl = known.decl.map(|decl| self.unit.decl(decl));
        let within = match known.kind {
            SymbolKind::Static => Span { start: 0, end: self.file.bytes.len() as u32 },
            _ => self.unit.function(function).span,
        };
        let all = origins.entry(within).or_insert_with(|| self.origins(within));
        let assigned = all.get(&symbol);
        if assigned.is_some_and(|origin| origin.is_changed) {
            return false;
        }
        let assigned = assigned.into_iter().flat_map(|origin| origin.values.iter().copied());
        let mut given: Vec<ExprId> = decl.and_then(|decl| decl.init).into_iter().chain(assigned).collect();
        given.retain(|value| !self.is_null(*value));
        (known.kind == SymbolKind::Parameter || !given.is_empty())
            && given.into_iter().all(|value| self.is_new(value))
    }

    /// What the code in some bytes assigns to variables.
    fn origins(&self, within: Span) -> Origins {
        let mut found = Origins::default();
        let named = |expr: ExprId| self.symbols.named(self.unit, expr);
        for expr in self.unit.exprs_in(within) {
            match &expr.kind {
                ExprKind::Assign(None, left, right) => {
                    if let Some(symbol) = named(*left) {
                        found.entry(symbol).or_default().values.push(*right);
                    }
                }
                ExprKind::Assign(Some(_), operand, _)
                | ExprKind::Step { operand, .. }
                | ExprKind::AddressOf(operand) => {
                    if let Some(symbol) = named(*operand) {
                        found.entry(symbol).or_default().is_changed = true;
                    }
                }
                ExprKind::Call { callee, args } if self.unit.is_cpp() => {
                    let name = self.file.text(self.unit.expr(*callee).span);
                    let variables =
                        args.iter().enumerate().filter_map(|(place, arg)| Some((place, named(*arg)?)));
                    let changed = variables.filter(|(place, _)| self.symbols.takes_reference(&name, *place));
                    for (_, symbol) in changed {
                        found.entry(symbol).or_default().is_changed = true;
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn is_null(&self, value: ExprId) -> bool {
        ["0", "NULL", "nullptr"].contains(&self.file.text(self.unit.expr(value).span).trim())
    }

    fn is_new(&self, value: ExprId) -> bool {
        const NEW: [&str; 4] = ["malloc", "calloc", "aligned_alloc", "realloc"];
        match &self.unit.expr(value).kind {
            ExprKind::Cast { operand, .. } => self.is_new(*operand),
            ExprKind::Call { callee, .. } => {
                matches!(&self.unit.expr(*callee).kind, ExprKind::Name(name) if NEW.contains(&name.as_str()))
            }
            _ => self.file.text(self.unit.expr(value).span).trim_start().starts_with("new "),
        }
    }

    /// The first element and the length of what a construct uses through a pointer.
    fn section_used(&self, index: usize, region: &Region, pointer: SymbolId) -> Option<(String, String)> {
        let stmt = region.stmt;
        if region.in_macros.contains(&self.symbols.get(pointer).name) {
            return None;
        }
        let mut reader = Reader {
            unit: self.unit,
            symbols: self.symbols,
            region: stmt,
            pointer,
            places: region.places.get(&pointer).map_or(&[], Vec::as_slice),
            loops: Vec::new(),
            used: Vec::new(),
            may_leave: region.may_leave,
            depth: 0,
        };
        reader.stmt(stmt, false)?;
        let (low, high) = hull(&reader.used)?;
        let length = high.plus(&low, -1).plus(&Poly::number(1), 1);
        // Names mean the same where the directive stands.
        let place = self.bound[index].directive.span.start;
        let named = low.0.keys().chain(length.0.keys()).flatten();
        let is_same = |name: &String| {
            let symbol = self.symbols.lookup(name, place);
            symbol.is_none_or(|symbol| !self.is_inside(symbol, stmt))
        };
        if !named.into_iter().all(is_same) || length.value().is_some_and(|length| length <= 0) {
            return None;
        }
        Some((low.text(), length_text(&length)))
    }
}

impl Region {
    fn of(input: &Input, stmt: StmtId) -> Region {
        let span = input.unit.stmt(stmt).span;
        let mut places: FxHashMap<SymbolId, Vec<u32>> = FxHashMap::default();
        for id in input.unit.expr_ids_in(span) {
            if let Some(symbol) = input.symbols.named(input.unit, id) {
                places.entry(symbol).or_default().push(input.unit.expr(id).span.start);
            }
        }
        places.values_mut().for_each(|places| places.sort_unstable());
        let text = input.file.text(span);
        let once: FxHashSet<&str> = source::words(&text).collect();
        let body =
            |word: &&str| input.symbols.macro_of(word).map(|(_, body)| body).or(input.symbols.body_of(word));
        let bodies = once.iter().filter_map(body);
        let in_macros =
            bodies.flat_map(|body| source::words(body).map(str::to_owned).collect::<Vec<_>>()).collect();
        Region { stmt, places, in_macros, may_leave: leaves(input.unit, stmt) }
    }
}

/// A length that is never negative. (clang 19 stops at `?:` in the clauses of `target data`.)
fn length_text(length: &Poly) -> String {
    let text = length.text();
    let is_plain =
        length.value().is_some() || length.0.len() == 1 && length.0.values().all(|count| *count > 0);
    if is_plain { text } else { format!("({text} > 0) * ({text})") }
}

/// The lowest and the highest element of all that is used.
fn hull(used: &[Used]) -> Option<(Poly, Poly)> {
    let mut sure = used.iter().filter(|one| !one.is_conditional);
    let first = sure.next()?;
    let (mut low, mut high) = (first.low.clone(), first.high.clone());
    for one in sure {
        if one.low.plus(&low, -1).value()? < 0 {
            low = one.low.clone();
        }
        if one.high.plus(&high, -1).value()? > 0 {
            high = one.high.clone();
        }
    }
    let is_within = |one: &Used| {
        let below = one.low.plus(&low, -1).value();
        let above = high.plus(&one.high, -1).value();
        below.is_some_and(|below| below >= 0) && above.is_some_and(|above| above >= 0)
    };
    used.iter().all(is_within).then_some((low, high))
}

/// Code may be nested deeply.
fn deeper<T>(read: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, read)
}

/// Whether a jump may leave a loop's body before its end.
fn leaves(unit: &Unit, body: StmtId) -> bool {
    let mut pending = vec![body];
    while let Some(at) = pending.pop() {
        let kind = &unit.stmt(at).kind;
        if matches!(
            kind,
            StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Goto(_)
                | StmtKind::Return(_)
                | StmtKind::Opaque(_)
        ) {
            return true;
        }
        pending.extend(sema::children(unit, at));
    }
    false
}

impl Reader<'_> {
    /// Reads a statement; none if it is not understood how it uses the pointer.
    fn stmt(&mut self, stmt: StmtId, is_conditional: bool) -> Option<()> {
        deeper(|| self.stmt_here(stmt, is_conditional))
    }

    fn stmt_here(&mut self, stmt: StmtId, is_conditional: bool) -> Option<()> {
        let unit = self.unit;
        match &unit.stmt(stmt).kind {
            StmtKind::For { .. } if self.depth == DEPTH => None,
            _ if !self.is_named_in(unit.stmt(stmt).span) => Some(()),
            StmtKind::Block(list) => list.iter().try_for_each(|inner| self.stmt(*inner, is_conditional)),
            StmtKind::Empty => Some(()),
            StmtKind::Expr(expr) => self.expr(*expr, is_conditional),
            StmtKind::Decl(decls) => {
                let firsts = decls.iter().filter_map(|id| unit.decl(*id).init);
                firsts.into_iter().try_for_each(|init| self.expr(init, is_conditional))
            }
            StmtKind::If { cond, then, other } => {
                self.expr(*cond, is_conditional)?;
                self.stmt(*then, true)?;
                other.map_or(Some(()), |other| self.stmt(other, true))
            }
            StmtKind::For { init, cond, step, body } => {
                let header = sema::header(unit, self.symbols, stmt).ok();
                let range = header.as_ref().and_then(|header| self.range(header));
                init.map_or(Some(()), |init| self.stmt(init, is_conditional))?;
                cond.map_or(Some(()), |cond| self.expr(cond, is_conditional))?;
                step.map_or(Some(()), |step| self.expr(step, true))?;
                let range = range.filter(|_| !self.may_leave || !leaves(unit, *body));
                let known = self.loops.len();
                let is_conditional = is_conditional || range.is_none();
                self.depth += 1;
                self.loops.extend(range);
                let done = self.stmt(*body, is_conditional);
                self.loops.truncate(known);
                self.depth -= 1;
                done
            }
            _ => (!self.names(stmt)).then_some(()),
        }
    }

    /// Whether the pointer is named in some bytes.
    fn is_named_in(&self, span: Span) -> bool {
        let next = self.places.partition_point(|place| *place < span.start);
        self.places.get(next).is_some_and(|place| *place < span.end)
    }

    fn names(&self, stmt: StmtId) -> bool {
        let span = self.unit.stmt(stmt).span;
        self.unit.expr_ids_in(span).any(|id| self.is_pointer(id))
    }

    fn is_pointer(&self, id: ExprId) -> bool {
        self.symbols.named(self.unit, id) == Some(self.pointer)
    }

    /// Whether an expression is a part of what the pointer leads to.
    fn is_part(&self, expr: ExprId) -> bool {
        let mut at = expr;
        while let ExprKind::Member { base, .. } | ExprKind::Index(base, _) | ExprKind::Deref(base) =
            self.unit.expr(at).kind
        {
            at = base;
        }
        self.is_pointer(at)
    }

    /// Whether a member is surely a number, or an array of numbers.
    fn holds_numbers(&self, member: &str) -> bool {
        self.symbols.member(member).is_some_and(|known| {
            let is_number = known.element.as_ref().is_some_and(|element| *element != Element::Pointer);
            is_number && !known.shape.contains(&false)
        })
    }

    fn expr(&mut self, expr: ExprId, is_conditional: bool) -> Option<()> {
        deeper(|| self.expr_here(expr, is_conditional))
    }

    fn expr_here(&mut self, expr: ExprId, is_conditional: bool) -> Option<()> {
        match &self.unit.expr(expr).kind {
            ExprKind::Index(base, index) if self.is_pointer(*base) => {
                let value = self.value(*index)?;
                let (low, high) = self.bounds(&value)?;
                self.used.push(Used { low, high, is_conditional });
                self.expr(*index, is_conditional)
            }
            ExprKind::Name(_) => (!self.is_pointer(expr)).then_some(()),
            // What a pointer in the element leads to is not known from the element.
            ExprKind::Member { name, .. } if self.is_part(expr) && !self.holds_numbers(name) => None,
            ExprKind::Member { base, arrow: true, .. } | ExprKind::Deref(base) if self.is_pointer(*base) => {
                let (low, high) = (Poly::default(), Poly::default());
                self.used.push(Used { low, high, is_conditional });
                Some(())
            }
            ExprKind::Conditional(cond, one, two) => {
                self.expr(*cond, is_conditional)?;
                self.expr(*one, true)?;
                self.expr(*two, true)
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, one, two) => {
                self.expr(*one, is_conditional)?;
                self.expr(*two, true)
            }
            kind => kind.children().try_for_each(|inner| self.expr(inner, is_conditional)),
        }
    }

    /// The values of a loop's variable, if it counts up by one.
    fn range(&self, header: &Header) -> Option<Range> {
        let name = self.symbols.get(header.var).name.clone();
        if header.down || self.loops.iter().any(|other| other.name == name) {
            return None;
        }
        let (first, bound) = (self.value(header.first)?, self.value(header.bound)?);
        let last = match header.compare {
            BinaryOp::Less | BinaryOp::NotEqual => bound.plus(&Poly::number(1), -1),
            BinaryOp::LessEqual => bound,
            _ => return None,
        };
        let step = header.step.map_or(Some(1), |step| self.value(step)?.value())?;
        let body = uses(self.unit, self.symbols, header.body);
        let is_set = body.of(header.var).is_some_and(|used| used.written || used.address_taken);
        (step == 1 && !is_set).then_some(Range { name, first, last })
    }

    /// An integer expression as a polynomial over loop variables and what the construct does not change.
    fn value(&self, expr: ExprId) -> Option<Poly> {
        deeper(|| self.value_here(expr))
    }

    fn value_here(&self, expr: ExprId) -> Option<Poly> {
        let unit = self.unit;
        match &unit.expr(expr).kind {
            ExprKind::Int(value) => Some(Poly::number(*value)),
            ExprKind::Unary(UnaryOp::Minus, inner) => Some(Poly::default().plus(&self.value(*inner)?, -1)),
            ExprKind::Unary(UnaryOp::Plus, inner) => self.value(*inner),
            ExprKind::Binary(op, one, two) => {
                let (one, two) = (self.value(*one)?, self.value(*two)?);
                match op {
                    BinaryOp::Add => Some(one.plus(&two, 1)),
                    BinaryOp::Subtract => Some(one.plus(&two, -1)),
                    BinaryOp::Multiply => Some(one.times(&two)),
                    _ => None,
                }
            }
            ExprKind::Name(name) => {
                let Some(symbol) = self.symbols.lookup(name, unit.expr(expr).span.start) else {
                    // A macro that is a number.
                    return self.symbols.number(name).map(|_| Poly::name(name));
                };
                let known = self.symbols.get(symbol);
                let is_counter = self.loops.iter().any(|one| one.name == known.name);
                let changed = uses(unit, self.symbols, self.region);
                let is_changed = changed.of(symbol).is_some_and(|used| used.written || used.address_taken);
                let is_fixed = !is_changed && !self.unit.stmt(self.region).span.contains(known.scope);
                let is_integer =
                    known.class == Class::Scalar && !known.is_floating || known.kind == SymbolKind::Constant;
                (is_integer && (is_counter || is_fixed)).then(|| Poly::name(name))
            }
            _ => None,
        }
    }

    /// The lowest and the highest value of a polynomial over all iterations of the loops around.
    fn bounds(&self, value: &Poly) -> Option<(Poly, Poly)> {
        let (mut low, mut high) = (value.clone(), value.clone());
        for one in self.loops.iter().rev() {
            low = self.at(&low, one, false)?;
            high = self.at(&high, one, true)?;
        }
        Some((low, high))
    }

    /// A polynomial at the end of a loop's range where it is lowest or highest.
    fn at(&self, value: &Poly, range: &Range, highest: bool) -> Option<Poly> {
        let (factor, rest) = value.by(&range.name)?;
        if factor.0.is_empty() {
            return Some(rest);
        }
        let grows = self.is_positive(&factor)?;
        let end = if grows == highest { &range.last } else { &range.first };
        Some(rest.plus(&factor.times(end), 1))
    }

    /// Whether a factor is positive, or negative: names are positive that bound a loop which begins at zero or above and surely
    /// runs, and numbers.
    fn is_positive(&self, factor: &Poly) -> Option<bool> {
        if let Some(value) = factor.value() {
            return Some(value > 0);
        }
        let is_bound = |name: &String| {
            self.symbols.number(name).is_some_and(|value| value > 0)
                || self.loops.iter().any(|one| {
                    let trips = one.last.plus(&Poly::number(1), 1);
                    one.first.value().is_some_and(|first| first >= 0)
                        && trips.by(name).is_some_and(|(factor, rest)| {
                            factor.value() == Some(1) && rest.value().is_some_and(|rest| rest <= 0)
                        })
                })
        };
        let all_positive = factor.0.iter().all(|(product, count)| *count > 0 && product.iter().all(is_bound));
        all_positive.then_some(true)
    }
}
