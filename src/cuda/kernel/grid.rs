//! How many gangs a kernel has, and how many threads a gang (OpenACC 3.3, 2.5.10 to 2.5.12).
//!
//! Invariant: any grid computes all iterations; this is about speed, but for what the program asks for.

use super::counted::{Counted, head_edits};
use super::parts::Words;
use crate::cuda::program::{Input, Refused};
use crate::cuda::schedule::capture::{Captured, Role};
use crate::cuda::schedule::clause::Asked;
use crate::cuda::schedule::nest::{Nest, Shared};
use crate::cuda::schedule::sizes::{self, Sizes};
use crate::host::ir::{ExprId, ExprKind};
use crate::sema::SymbolKind;

/// How many gangs there are.
pub struct Grid {
    /// The expression for it in the launcher.
    pub gangs: String,
    /// Lines before it.
    pub lines: Vec<String>,
    /// The number of iterations decides the width of the index.
    pub template: bool,
    /// A parameter for it, in the device file and in the header.
    pub param: Option<String>,
    /// What the host passes for it.
    pub argument: Option<String>,
    /// The lines say how many iterations there are.
    pub is_counted: bool,
}

/// `kernel`: the name of the kernel; `has_tables`: each gang begins and ends with a table.
pub fn grid(
    input: &Input,
    nest: &Nest,
    captured: &[Captured],
    sizes: Sizes,
    (words, asked): (&Words, &Asked),
    (kernel, has_tables): (&str, bool),
) -> Result<Grid, Refused> {
    let over_gangs: Vec<_> = nest.values().filter(|shared| shared.levels.gang).collect();
    let in_host = |expr: ExprId| {
        let unit = input.unit();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let expr = unit.expr(expr);
            match &expr.kind {
                ExprKind::Name(name) => {
                    let symbol = input.symbols.lookup(name, expr.span.start);
                    let Some(symbol) = symbol else { continue };
                    if input.symbols.get(symbol).kind == SymbolKind::Constant {
                        continue;
                    }
                    let known = captured.iter().find(|one| one.symbol == symbol);
                    let is_given =
                        |one: &Captured| matches!(one.role, Role::Value | Role::Member | Role::Part(_));
                    if !known.is_some_and(|one| is_given(one) && !one.used.written) {
                        return false;
                    }
                }
                ExprKind::Int(_)
                | ExprKind::Literal
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast { .. }
                | ExprKind::Sizeof => {}
                _ => return false,
            }
            pending.extend(expr.kind.children());
        }
        true
    };
    let mut trips: Vec<String> = Vec::new();
    for shared in &over_gangs {
        let is_known = |header: &crate::sema::Header| {
            in_host(header.first) && in_host(header.bound) && header.step.is_none_or(in_host)
        };
        if !shared.headers.iter().all(is_known) {
            continue;
        }
        let counted: Result<Vec<Counted>, Refused> = shared
            .headers
            .iter()
            .map(|header| Counted::new(input, header, &head_edits(input, header)?))
            .collect();
        let product: Vec<String> = counted?.into_iter().map(|one| one.trips).collect();
        trips.push(product.join(" * "));
    }
    let all_known = trips.len() == over_gangs.len();
    let template = !input.in_place
        && over_gangs.iter().any(|shared| shared.headers.len() > 1)
        && nest.values().all(|shared| shared.levels.gang || shared.headers.len() == 1)
        && all_known
        && over_gangs.len() == 1;
    // The iterations that a gang takes at a time.
    let at_a_time = |shared: &Shared| match (shared.levels.worker, shared.levels.vector) {
        _ if !shared.tile.is_empty() => sizes::elements(&shared.tile).unwrap_or(1),
        (_, true) => sizes.vector * sizes.workers,
        (true, false) => sizes.workers,
        (false, false) => 1,
    };
    let counted = match trips.as_slice() {
        [one] if all_known => vec![format!("const unsigned long long {} = {one};", words.trips)],
        _ => Vec::new(),
    };
    if let Some(gangs) = &asked.gangs {
        let number = gangs.trim().parse::<u32>().is_ok();
        if input.in_place {
            let gangs = format!("acc2omp::gangs({})", gangs.trim());
            let lines = Vec::new();
            return Ok(Grid { gangs, lines, template, param: None, argument: None, is_counted: false });
        }
        let is_counted = !counted.is_empty() && (template || has_tables);
        return Ok(Grid {
            gangs: format!("acc2omp::gangs({})", if number { gangs.trim() } else { &words.gang_count }),
            lines: if is_counted { counted } else { Vec::new() },
            template,
            param: (!number).then(|| format!("long {}", words.gang_count)),
            argument: (!number).then(|| gangs.clone()),
            is_counted,
        });
    }
    // A reduction, and what each gang begins with, wants few of them; else there is one thread for each iteration.
    let is_resident = has_tables
        || captured.iter().any(|one| {
            matches!(
                one.role,
                Role::Reduction(_) | Role::ReductionArray(..) | Role::PrivateMemory(..) | Role::FirstArray(_)
            )
        });
    let threads = sizes.vector * sizes.workers;
    // How many gangs of a kernel the device holds; a kernel that stays in its place has no name yet.
    let kernel = match (input.in_place, template) {
        (true, _) => String::new(),
        (false, true) => format!("{}, ", words.kernel),
        (false, false) => format!("{kernel}, "),
    };
    let blocks = |trips: &str, each: usize| match is_resident || trips == "~0ull" {
        false => format!("acc2omp::blocks({trips}, {each})"),
        true if each == threads => format!("acc2omp::resident_blocks({kernel}{trips}, {each})"),
        true => format!("acc2omp::resident_blocks({kernel}{trips}, {each}, {threads})"),
    };
    let gangs = match over_gangs.as_slice() {
        [] => "1".to_owned(),
        [one] if all_known => blocks(&words.trips, at_a_time(one)),
        several if all_known => {
            let each = several.iter().zip(&trips).map(|(one, trips)| blocks(trips, at_a_time(one)));
            format!("acc2omp::most({})", each.collect::<Vec<String>>().join(",\n        "))
        }
        _ => blocks("~0ull", 1),
    };
    let is_counted = !counted.is_empty();
    Ok(Grid { gangs, lines: counted, template, param: None, argument: None, is_counted })
}
