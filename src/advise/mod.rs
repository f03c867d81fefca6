//! `--advise`: what a performance engineer would say of an OpenACC source in review, and the edits that he would propose.
//!
//! Invariant: an edit is proposed only where it is proven that the program computes the same with it; where a proof fails,
//! nothing is said.

mod adds;
mod edits;
mod few;
mod host;
mod lanes;
mod moves;
mod narrower;
mod own;
mod pageable;
mod present;
mod private;
mod repeated;
mod size;
mod statement;
mod together;
mod update;

use std::collections::{HashMap, HashSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::diag::Diag;
use crate::edit::Edit;
use crate::host::ir::{BaseType, Derived, ExprId, FunctionId, StmtId, StmtKind, Unit};
use crate::plan::{Plan, effective};
use crate::scan::Define;
use crate::sema::{self, Facts, SymbolId, Symbols, Uses, Verdict};
use crate::source::{self, SourceFile, Span};

/// What advice is made from: one view of a file.
pub struct Ground<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its code.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
    /// What the file says of its variables.
    pub facts: &'a Facts<'a>,
    /// The directives as they are written.
    pub bound: &'a [Bound],
    /// The directives once it is settled which loops are parallel: those of the plan.
    pub settled: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// What was found out about the loops that are left to the compiler.
    pub verdicts: &'a [Verdict],
    /// The branches of the preprocessor that this view does not show.
    pub hidden: &'a [Span],
    /// The macros.
    pub macros: &'a [&'a Define],
    /// The device whose `device_type` clauses count.
    pub device_type: &'a str,
    tables: Tables,
}

/// What is looked up again and again.
#[derive(Default)]
struct Tables {
    /// The expression that each expression stands directly in.
    parents: Vec<Option<ExprId>>,
    /// The places where each variable is named, in order.
    mentions: HashMap<SymbolId, Vec<ExprId>>,
    /// The values that each variable is given by its name, those of declarations among them.
    values: HashMap<SymbolId, Vec<ExprId>>,
    /// The calls of each name.
    calls: HashMap<String, Vec<ExprId>>,
    /// The code of compute constructs.
    compute: Vec<Span>,
    /// The directives that name each variable in a data clause or move it.
    named: HashMap<SymbolId, Vec<usize>>,
    /// What other names are given to.
    lent: Vec<Span>,
    /// The words of the bodies of macros.
    in_macros: HashSet<String>,
    /// A macro pastes words together: it may name anything.
    pastes: bool,
}

/// One piece of advice.
#[derive(Debug)]
pub struct Piece {
    /// What there is to say.
    pub diag: Diag,
    /// What is proposed; none if it is only worth a thought.
    pub edits: Vec<Edit>,
}

/// All advice on a file, by place.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let moves = moves::moves(ground);
    let (mut all, handled) = repeated::pieces(ground, &moves);
    all.extend(narrower::pieces(ground, &moves, &handled));
    all.extend(update::pieces(ground));
    all.extend(lanes::pieces(ground));
    all.extend(statement::pieces(ground));
    all.extend(private::pieces(ground));
    all.extend(few::pieces(ground, &moves, &handled));
    all.extend(together::pieces(ground));
    all.extend(pageable::pieces(ground, &moves, &handled));
    all.sort_by_key(|piece| (piece.diag.primary.span.start, piece.diag.code));
    all
}

impl<'a> Ground<'a> {
    /// Reads what is looked up again and again.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        facts: &'a Facts<'a>,
        bound: &'a [Bound],
        settled: &'a [Bound],
        plan: &'a Plan,
        verdicts: &'a [Verdict],
        (hidden, macros): (&'a [Span], &'a [&'a Define]),
        device_type: &'a str,
    ) -> Ground<'a> {
        let (file, unit, symbols) = (facts.file, facts.unit, facts.symbols);
        let tables = Tables::default();
        let mut ground = Ground {
            file,
            unit,
            symbols,
            facts,
            bound,
            settled,
            plan,
            verdicts,
            hidden,
            macros,
            device_type,
            tables,
        };
        ground.tables = Tables::of(&ground);
        ground
    }

    /// The clauses of a directive that count.
    fn clauses(&self, index: usize) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
        let directive = &self.bound[index].directive;
        let counting = effective(directive, self.device_type).0;
        counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind))
    }

    /// The variable that an item of a directive is about.
    fn symbol_of(&self, index: usize, item: &ListItem) -> Option<SymbolId> {
        self.symbols.lookup(item.variable(), self.bound[index].directive.span.start)
    }

    /// What the code of a directive does with variables.
    fn uses(&self, stmt: StmtId) -> std::rc::Rc<Uses> {
        sema::uses(self.unit, self.symbols, stmt)
    }

    /// Whether a place is in the code of a compute construct.
    fn is_computed(&self, span: Span) -> bool {
        self.tables.compute.iter().any(|code| code.contains(span))
    }

    /// The bytes that a directive governs, from its end on: directives that stand before the same code are inside.
    fn code(&self, index: usize) -> Option<Span> {
        let one = &self.bound[index];
        let stmt = self.unit.stmt(one.stmt()?).span;
        Some(Span { start: one.directive.span.end.min(stmt.start), end: stmt.end })
    }

    /// The compute constructs in some bytes.
    fn constructs_in(&self, span: Span) -> impl Iterator<Item = (usize, StmtId)> {
        let is_inside = move |one: &Bound| span.contains(one.directive.span);
        self.bound.iter().enumerate().filter_map(move |(at, one)| {
            let stmt = one.stmt()?;
            (one.directive.kind.is_compute() && is_inside(one)).then_some((at, stmt))
        })
    }

    /// Where a variable is named.
    fn mentions(&self, symbol: SymbolId) -> &[ExprId] {
        self.tables.mentions.get(&symbol).map(Vec::as_slice).unwrap_or_default()
    }

    /// The directives that name a variable in clauses about data.
    fn naming(&self, symbol: SymbolId) -> &[usize] {
        self.tables.named.get(&symbol).map(Vec::as_slice).unwrap_or_default()
    }

    /// The loops of a function that the host runs, outermost first.
    fn host_loops(&self, function: FunctionId) -> Vec<StmtId> {
        let body = self.unit.stmt(self.unit.function(function).body).span;
        let mut loops: Vec<StmtId> = self.unit.stmt_ids_in(body).collect();
        loops.retain(|stmt| {
            let stmt = self.unit.stmt(*stmt);
            let is_loop =
                matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. });
            is_loop && !self.is_computed(stmt.span)
        });
        loops.sort_by_key(|stmt| {
            let span = self.unit.stmt(*stmt).span;
            (span.start, std::cmp::Reverse(span.end))
        });
        loops
    }

    /// The first line of a statement, as far as it is code.
    fn head(&self, stmt: StmtId) -> Span {
        let span = self.unit.stmt(stmt).span;
        let line = self.file.lines.span(self.file.lines.line(span.start));
        let text = self.file.text(Span { start: span.start, end: line.end.min(span.end) }).into_owned();
        Span { start: span.start, end: span.start + text.trim_end().len() as u32 }
    }

    /// A variable's name as the source spells it.
    fn spelled(&self, symbol: SymbolId) -> String {
        self.symbols.get(symbol).spelled(self.file)
    }
}

impl Tables {
    fn of(ground: &Ground) -> Tables {
        use crate::host::ir::ExprKind;
        let (unit, symbols) = (ground.unit, ground.symbols);
        let mut tables = Tables { parents: vec![None; unit.exprs.len()], ..Tables::default() };
        for at in 0..unit.exprs.len() {
            let id = ExprId(at as u32);
            for child in unit.expr(id).kind.children() {
                tables.parents[child.0 as usize] = Some(id);
            }
            match &unit.expr(id).kind {
                ExprKind::Name(_) => {
                    if let Some(symbol) = symbols.named(unit, id) {
                        tables.mentions.entry(symbol).or_default().push(id);
                    }
                }
                ExprKind::Assign(_, left, right) => {
                    if let Some(symbol) = symbols.named(unit, *left) {
                        tables.values.entry(symbol).or_default().push(*right);
                    }
                }
                ExprKind::Call { callee, .. } => {
                    if let ExprKind::Name(name) = &unit.expr(*callee).kind {
                        tables.calls.entry(name.clone()).or_default().push(id);
                    }
                }
                _ => {}
            }
        }
        for decl in &unit.decls {
            let is_name = decl.derived.first() == Some(&Derived::Reference)
                || unit.is_cpp() && decl.base == BaseType::Unknown;
            tables.lent.extend(decl.init.filter(|_| is_name).map(|init| unit.expr(init).span));
            if let Some((init, symbol)) = decl.init.zip(symbols.lookup(&decl.name, decl.name_span.end)) {
                tables.values.entry(symbol).or_default().push(init);
            }
        }
        for define in ground.macros {
            let words = source::words(&define.body);
            tables.in_macros.extend(words.map(|word| symbols.folded(word).into_owned()));
            tables.pastes |= define.body.contains("##");
        }
        for (index, one) in ground.bound.iter().enumerate() {
            if let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute()) {
                tables.compute.push(unit.stmt(stmt).span);
            }
            for clause in &one.directive.clauses {
                let list = match &clause.kind {
                    ClauseKind::Data(_, list)
                    | ClauseKind::UseDevice(list)
                    | ClauseKind::UpdateSelf(list)
                    | ClauseKind::UpdateDevice(list) => list,
                    _ => continue,
                };
                for item in list {
                    if let Some(symbol) = ground.symbol_of(index, item) {
                        tables.named.entry(symbol).or_default().push(index);
                    }
                }
            }
        }
        tables
    }
}

/// Whether a directive is about data that stay where they are put, or about the program as a whole.
fn is_lasting(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::EnterData | DirectiveKind::ExitData | DirectiveKind::Declare)
}
