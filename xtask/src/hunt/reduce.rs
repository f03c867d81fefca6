//! Makes programs that fail smaller.
//!
//! Invariant: what remains is defined by the model, which says anew what it prints, and fails in the same way.

use std::collections::BTreeMap;

use super::lab::{Case, Failure, Lab, Outcome};
use super::model::{self, Expected};
use super::program::{Block, Clause, Expr, Program, Stmt};
use super::variant::Variant;
use super::walk::{self, change};
use crate::Result;

/// A change that makes a program smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// The statement with this number goes.
    Delete(usize),
    /// It becomes its body.
    Unwrap(usize),
    /// The clause with this number goes.
    Clause(usize),
    /// The first item of its list goes.
    Item(usize),
    /// The `loop` directive of the statement with this number goes.
    Directive(usize),
    /// The expression with this number becomes its left, right or third operand.
    Operand(usize, usize),
    /// It becomes 1.
    One(usize),
    /// The assignment with this number loses its operator.
    Plain(usize),
    /// The style is plain.
    Style,
    /// Lower bounds are 0.
    Lower,
}

/// So many candidates are built at once.
const AT_ONCE: usize = 24;
/// No more rounds.
const ROUNDS: usize = 60;

/// A smaller program that fails in the same way, and what it prints.
pub fn reduced(
    lab: &Lab,
    program: &Program,
    variant: &Variant,
    failure: &Failure,
) -> Result<(Program, Expected, Failure)> {
    let mut best = program.clone();
    let mut expected = model::expected(&best).map_err(|why| why.0)?;
    let mut last = failure.clone();
    for _ in 0..ROUNDS {
        let before = size(&best);
        for kind in 0..5 {
            let edits = edits(&best, kind);
            if let Some(found) = round(lab, &best, &edits, variant, failure)? {
                (best, expected, last) = found;
            }
        }
        if size(&best) >= before {
            break;
        }
    }
    Ok((best, expected, last))
}

/// How large a program is.
fn size(program: &Program) -> usize {
    struct Size(usize);
    impl walk::see::See for Size {
        fn stmt(&mut self, _: &Stmt) {
            self.0 += 10;
        }
        fn expr(&mut self, expr: &Expr) {
            self.0 += if *expr == Expr::Const(1) { 1 } else { 2 };
        }
        fn clauses(&mut self, clauses: &Vec<Clause>) {
            self.0 += 3 + 3 * clauses.len();
            for clause in clauses {
                if let Clause::Data(_, items) = clause {
                    self.0 += items.len();
                }
            }
        }
    }
    let mut size = Size(0);
    walk::program(program, &mut size);
    let style = program.style;
    let styles = [
        style.access_macros,
        style.constant_macros,
        style.loop_macros,
        style.name_macros,
        style.pragma_macros,
        style.stars,
    ];
    let lower: i64 = program.vars.iter().map(|var| var.lower).sum();
    size.0 + styles.iter().filter(|one| **one).count() + lower as usize
}

/// Tries edits, many at once, and keeps as many as go together.
fn round(
    lab: &Lab,
    program: &Program,
    edits: &[Edit],
    variant: &Variant,
    failure: &Failure,
) -> Result<Option<(Program, Expected, Failure)>> {
    let mut good: Vec<Edit> = Vec::new();
    let mut best = None;
    for some in edits.chunks(AT_ONCE) {
        let candidates: Vec<Vec<Edit>> = some.iter().map(|one| vec![*one]).collect();
        for (found, edit) in failing(lab, program, &candidates, variant, failure)?.into_iter().zip(some) {
            if found.is_some() {
                good.push(*edit);
                best = best.or(found);
            }
        }
    }
    if good.len() < 2 {
        return Ok(best);
    }
    // All of them, and halves, quarters … of them.
    let mut sets = vec![good.clone()];
    let mut length = good.len() / 2;
    while length > 0 && sets.len() < AT_ONCE {
        sets.extend(good.chunks(length).map(<[Edit]>::to_vec));
        length /= 2;
    }
    let found = failing(lab, program, &sets, variant, failure)?;
    let smallest = found.into_iter().flatten().min_by_key(|(program, ..)| size(program));
    Ok(smallest.or(best))
}

/// Of each set of edits, the program with them if it still fails.
fn failing(
    lab: &Lab,
    program: &Program,
    sets: &[Vec<Edit>],
    variant: &Variant,
    failure: &Failure,
) -> Result<Vec<Option<(Program, Expected, Failure)>>> {
    let mut found: Vec<Option<(Program, Expected, Failure)>> = vec![None; sets.len()];
    let before = size(program);
    let defined: Vec<(usize, Program, Expected)> = sets
        .iter()
        .enumerate()
        .filter_map(|(place, edits)| {
            let candidate = applied(program, edits);
            let is_smaller = size(&candidate) < before;
            let expected = if is_smaller { model::expected(&candidate).ok() } else { None };
            Some((place, candidate, expected?))
        })
        .collect();
    let cases: Vec<Case> = defined
        .iter()
        .map(|(place, program, expected)| Case { number: place + 1, program, expected })
        .collect();
    if cases.is_empty() {
        return Ok(found);
    }
    let outcomes = lab.trial(&cases, variant, &mut BTreeMap::new())?;
    for ((place, candidate, expected), outcome) in defined.into_iter().zip(outcomes) {
        if let Outcome::Failed(other) = outcome
            && other.is_like(failure)
        {
            found[place] = Some((candidate, expected, other));
        }
    }
    Ok(found)
}

/// The edits of a kind; larger ones first.
fn edits(program: &Program, kind: usize) -> Vec<Edit> {
    let mut seen = Seen::default();
    walk::program(program, &mut seen);
    let of_statements = |how: fn(usize) -> Edit| (0..seen.statements).map(how).collect();
    match kind {
        0 => of_statements(Edit::Delete),
        1 => seen.blocks.iter().copied().map(Edit::Unwrap).collect(),
        2 => (0..seen.clauses).flat_map(|one| [Edit::Clause(one), Edit::Item(one)]).collect(),
        3 => {
            let of_program = [Edit::Style, Edit::Lower];
            let directives = seen.blocks.iter().copied().map(Edit::Directive);
            directives.chain((0..seen.statements).map(Edit::Plain)).chain(of_program).collect()
        }
        _ => seen.expressions,
    }
}

/// What there is to edit.
#[derive(Default)]
struct Seen {
    statements: usize,
    clauses: usize,
    numbers: usize,
    /// Statements that hold others.
    blocks: Vec<usize>,
    /// Edits of expressions.
    expressions: Vec<Edit>,
}

impl walk::see::See for Seen {
    fn stmt(&mut self, stmt: &Stmt) {
        let is_plain = matches!(
            stmt,
            Stmt::Assign { .. }
                | Stmt::Alone { .. }
                | Stmt::Call(..)
                | Stmt::Point { .. }
                | Stmt::Allocate { .. }
                | Stmt::Free { .. }
                | Stmt::Fill { .. }
                | Stmt::Show { .. }
                | Stmt::Leave { .. }
                | Stmt::Elements { .. }
        );
        if !is_plain {
            self.blocks.push(self.statements);
        }
        self.statements += 1;
    }

    fn clauses(&mut self, clauses: &Vec<Clause>) {
        self.clauses += clauses.len();
    }

    fn expr(&mut self, expr: &Expr) {
        let number = self.numbers;
        self.numbers += 1;
        match expr {
            Expr::Const(1) | Expr::Address(_) => {}
            Expr::Const(_) => self.expressions.push(Edit::One(number)),
            Expr::Named(_) => self.expressions.push(Edit::Operand(number, 0)),
            Expr::Read(_) | Expr::Call(..) => self.expressions.push(Edit::One(number)),
            Expr::Binary(..) | Expr::Choice(..) => {
                let operands = [Edit::Operand(number, 0), Edit::Operand(number, 1), Edit::One(number)];
                self.expressions.extend(operands);
            }
        }
    }
}

/// The program with edits; the last ones first, so that numbers stay.
fn applied(program: &Program, edits: &[Edit]) -> Program {
    let mut changed = program.clone();
    for edit in edits.iter().rev() {
        match edit {
            Edit::Style => changed.style = Default::default(),
            Edit::Lower => changed.vars.iter_mut().for_each(|var| var.lower = 0),
            _ => {
                let mut apply = Apply { edit: *edit, statements: 0, clauses: 0, expressions: 0 };
                walk::change_program(&mut changed, &mut apply);
            }
        }
    }
    walk::change_program(&mut changed, &mut Clean);
    changed
}

/// Applies an edit on a walk. Numbers are counted as the walk shows nodes.
struct Apply {
    edit: Edit,
    statements: usize,
    clauses: usize,
    expressions: usize,
}

impl change::Change for Apply {
    fn stmt(&mut self, stmt: &mut Stmt) {
        let number = self.statements;
        self.statements += 1;
        match self.edit {
            Edit::Delete(one) if one == number => {
                *stmt = Stmt::If { condition: Expr::Const(0), then: Vec::new(), other: Vec::new() }
            }
            Edit::Unwrap(one) if one == number => unwrap(stmt),
            Edit::Directive(one) if one == number => match stmt {
                Stmt::Loop(inner) => inner.directive = None,
                Stmt::Compute(inner) if inner.combined => inner.combined = false,
                _ => {}
            },
            Edit::Plain(one) if one == number => match stmt {
                Stmt::Assign { op, atomic, .. } => (*op, *atomic) = (None, false),
                Stmt::Loop(inner) => inner.inclusive = false,
                _ => {}
            },
            _ => {}
        }
    }

    fn clauses(&mut self, clauses: &mut Vec<Clause>) {
        let first = self.clauses;
        self.clauses += clauses.len();
        match self.edit {
            Edit::Clause(one) if (first..self.clauses).contains(&one) => {
                clauses.remove(one - first);
            }
            Edit::Item(one) if (first..self.clauses).contains(&one) => match &mut clauses[one - first] {
                Clause::Data(_, items) if items.len() > 1 => {
                    items.remove(0);
                }
                Clause::Private(vars) | Clause::FirstPrivate(vars) if vars.len() > 1 => {
                    vars.remove(0);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let number = self.expressions;
        self.expressions += 1;
        match self.edit {
            Edit::One(one) if one == number => match expr {
                Expr::Address(_) => {}
                _ => *expr = Expr::Const(1),
            },
            Edit::Operand(one, which) if one == number => {
                let inner = match (&*expr, which) {
                    (Expr::Binary(_, left, _), 0) | (Expr::Choice(_, left, _), 0) => (**left).clone(),
                    (Expr::Binary(_, _, right), 1) | (Expr::Choice(_, _, right), 1) => (**right).clone(),
                    (Expr::Named(number), _) => Expr::Const(*number),
                    _ => return,
                };
                *expr = inner;
            }
            _ => {}
        }
    }
}

/// Takes out what edits have left of statements that are gone.
struct Clean;

impl change::Change for Clean {
    fn block(&mut self, block: &mut Block) {
        let is_left =
            |stmt: &Stmt| matches!(stmt, Stmt::If { condition: Expr::Const(0), then, .. } if then.is_empty());
        while block.iter().any(is_left) {
            let all = std::mem::take(block);
            for stmt in all {
                match stmt {
                    Stmt::If { condition: Expr::Const(0), then, other } if then.is_empty() => {
                        block.extend(other)
                    }
                    other => block.push(other),
                }
            }
        }
    }
}

/// A construct becomes its body.
fn unwrap(stmt: &mut Stmt) {
    let body = match stmt {
        Stmt::Loop(one) => std::mem::take(&mut one.body),
        Stmt::Compute(one) => std::mem::take(&mut one.body),
        Stmt::Path(one) => std::mem::take(&mut one.body),
        Stmt::Data { body, .. }
        | Stmt::HostData { body, .. }
        | Stmt::Scope { body, .. }
        | Stmt::Alias { body, .. } => std::mem::take(body),
        Stmt::If { then, other, .. } => {
            let mut all = std::mem::take(then);
            all.append(other);
            all
        }
        _ => return,
    };
    *stmt = Stmt::If { condition: Expr::Const(0), then: Vec::new(), other: body };
}
