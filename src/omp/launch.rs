//! Launches and their loops: which leaf constructs, and which clause on which of them.
//!
//! Invariant: a variable has one data-sharing attribute on a directive, and a map beside it only for a reduction.

use std::collections::BTreeSet;

use crate::bind::{Bound, descendants};
use crate::diag;
use crate::host::ir::{ExprId, ExprKind, StmtId, Unit};
use crate::plan::{Attribute, Gangs, Item, Launch, Plan, Sharing, WorkLoop};
use crate::rules::{Action, Place, RowId};
use crate::source::{Span, names};

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use super::gathered::Gathered;
use super::look::{self, RuleQuery};
use super::profile::Tuning;
use super::texts::multiplied;

/// The leaves that distribute a loop's iterations.
fn loop_leaves(work: &WorkLoop, tuning: &Tuning) -> Vec<Leaf> {
    let (gangs, lanes) = (work.spread.gangs, work.spread.lanes);
    if tuning.by_loops {
        // Both gcc 12 and clang 19 refuse `loop bind(parallel)` where no `parallel` is around it.
        return if gangs { vec![Leaf::Loop] } else { vec![Leaf::Parallel, Leaf::Loop] };
    }
    // No construct may stand inside `simd`, and the loops of `tile` are not there when it is asked for.
    // gcc 12 loses what `simd` adds to an array section.
    let sections = work
        .attributes
        .iter()
        .any(|one| matches!(one.sharing, Sharing::Reduction(_)) && one.item.contains('['));
    let simd = lanes && tuning.simd && work.is_plain && work.tile.is_empty() && !sections;
    let all = [(gangs, Leaf::Distribute), (lanes, Leaf::Parallel), (lanes, Leaf::For), (simd, Leaf::Simd)];
    all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, leaf)| leaf).collect()
}

/// The directive of a launch.
pub fn launch(launch: &Launch, gathered: &mut Gathered, query: &RuleQuery, tuning: &Tuning) -> Directive {
    let mut leaves = vec![Leaf::Target];
    if launch.gangs == Gangs::Many {
        leaves.push(Leaf::Teams);
    }
    leaves.extend(launch.nest.iter().flat_map(|nest| loop_leaves(nest, tuning)));
    let mut directive = Directive::new(&leaves);
    let mut attributes = launch.attributes.clone();
    if let Some(nest) = &launch.nest {
        nest_clauses(nest, &mut directive, query, &mut gathered.rows);
        attributes.extend(nest.attributes.iter().cloned());
    }
    sizes(launch, gathered, &mut directive, tuning, query.speech);
    if let Some(joined) = condition(&gathered.conditions, query.speech) {
        directive.add(Clause { modifier: Some("target".into()), ..Clause::text("if", joined) });
    }
    share(&attributes, &mut directive, query, &mut gathered.rows);
    for (_, mut clause) in gathered.clauses.drain(..) {
        if clause.name != "map" || leave_shared(&mut clause, &attributes) {
            directive.add(clause);
        }
    }
    directive
}

/// Whether code of construct `index` that teams run beside their loops calls `acc_on_device`: OpenMP's function may not stand there
/// (4.5, 2.17).
pub fn asks(unit: &Unit, bound: &[Bound], plan: &Plan, (index, stmt): (usize, StmtId)) -> bool {
    let loops = descendants(bound, index).filter(|at| matches!(plan.items[*at], Item::Loop(_)));
    let loops: Vec<Span> = loops.filter_map(|at| Some(unit.stmt(bound[at].stmt()?).span)).collect();
    // What was translated before has OpenMP's name.
    let is_asking = |name: &str| matches!(name, "acc_on_device" | "omp_is_initial_device");
    let asks = |callee: ExprId| matches!(&unit.expr(callee).kind, ExprKind::Name(name) if is_asking(name));
    let mut calls = unit.exprs_in(unit.stmt(stmt).span).filter(|expr| match &expr.kind {
        ExprKind::Call { callee, .. } | ExprKind::Index(callee, _) => asks(*callee),
        _ => false,
    });
    calls.any(|call| !loops.iter().any(|inside| inside.contains(call.span)))
}

/// Gives what one thread runs a team, if it has none: gfortran 12 allocates no variables of a `target` alone that are its own.
pub fn in_one_team(directive: &mut Directive) {
    if directive.leaves == [Leaf::Target] {
        directive.leaves.push(Leaf::Teams);
        directive.add(Clause::text("num_teams", "1"));
    }
}

/// Leaves a clause the list items that are not private to the threads; whether it has any. The data of the others would come and
/// go as it is.
fn leave_shared(clause: &mut Clause, attributes: &[Attribute]) -> bool {
    let Body::List(items) = &mut clause.body else { return true };
    let own = attributes.iter().filter(|one| one.sharing.is_private());
    let own: BTreeSet<&str> = own.map(|one| one.item.as_str()).collect();
    items.retain(|item| !own.contains(root(item)));
    !items.is_empty()
}

/// The variable that a list item begins with, without the namespaces before it.
fn root(item: &str) -> &str {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = item.find(|c| !is_inner(c)).unwrap_or(item.len());
    item[..end].rsplit("::").next().unwrap_or(item)
}

/// The condition under which a launch runs on the device; none if it always does.
pub fn condition(conditions: &[String], speech: BaseLanguage) -> Option<String> {
    match conditions {
        [] => None,
        [only] => Some(only.clone()),
        more => {
            let and = if speech == BaseLanguage::Fortran { " .and. " } else { " && " };
            Some(more.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(and))
        }
    }
}

/// The directive of a loop inside a launch.
pub fn work_loop(
    work: &WorkLoop,
    query: &RuleQuery,
    rows: &mut Vec<&'static RowId>,
    tuning: &Tuning,
) -> Directive {
    let mut directive = Directive::new(&loop_leaves(work, tuning));
    if tuning.by_loops && work.spread.gangs {
        directive.add(Clause::text("bind", "teams"));
    }
    nest_clauses(work, &mut directive, query, rows);
    if !work.sizes.lanes.is_empty() && directive.has(Leaf::Parallel) {
        let factors: Vec<&str> = work.sizes.lanes.iter().map(String::as_str).collect();
        directive.add(Clause::text("num_threads", multiplied(&factors)));
    }
    share(&work.attributes, &mut directive, query, rows);
    directive
}

fn nest_clauses(
    work: &WorkLoop,
    directive: &mut Directive,
    query: &RuleQuery,
    rows: &mut Vec<&'static RowId>,
) {
    if work.collapse > 1 {
        directive.add(Clause::text("collapse", work.collapse.to_string()));
    }
    if let Some(chunk) = &work.sizes.chunk {
        // Of a variable that each thread has, gcc would take the thread's value.
        let is_own = names(chunk).any(|name| work.attributes.iter().any(|one| one.item == name));
        let kind = if chunk.trim() == "*" || is_own { "own" } else { "given" };
        let row = look::row("clause/gang", &RuleQuery { chunk: kind, ..query.clone() });
        if let Some((row, Action::Emit { templates, .. })) = row.map(|row| (row, &row.action)) {
            rows.push(&row.id);
            templates.iter().for_each(|template| directive.add(look::fill(template, chunk, "")));
        }
    }
}

/// Numbers of teams and threads: the user's, unless the profile knows better for a nest of this shape.
fn sizes(
    launch: &Launch,
    gathered: &mut Gathered,
    directive: &mut Directive,
    tuning: &Tuning,
    speech: BaseLanguage,
) {
    let mut lanes = std::mem::take(&mut gathered.lanes);
    let mut requested_teams = gathered.clauses.iter().any(|(_, clause)| clause.name == "num_teams");
    // What the loop says itself, where the construct says nothing.
    let own = launch.nest.as_ref().map(|nest| &nest.sizes);
    if let Some(own) = own.filter(|_| lanes.is_empty()) {
        lanes.clone_from(&own.lanes);
    }
    if let Some(gangs) = own.and_then(|own| own.gangs.as_ref()).filter(|_| !requested_teams) {
        directive.add(Clause::text("num_teams", gangs.clone()));
        requested_teams = true;
    }
    let heavy = launch.nest.as_ref().filter(|nest| nest.is_heavy && nest.spread.lanes);
    let tuned = heavy.and_then(|nest| tuning.heavy_threads.zip(nest.trips.as_ref()));
    if let Some((threads, trips)) = tuned.filter(|_| !requested_teams && lanes.is_empty()) {
        let teams = match speech {
            BaseLanguage::C => format!("{trips} > 0 ? {trips} / {threads} + 1 : 1"),
            BaseLanguage::Fortran => format!("max({trips}, 0) / {threads} + 1"),
        };
        directive.add(Clause::text("num_teams", teams));
        directive.add(Clause::text("thread_limit", threads.to_string()));
        return;
    }
    let has_teams = directive.has(Leaf::Teams);
    if !lanes.is_empty() && has_teams {
        let factors: Vec<&str> = lanes.iter().map(String::as_str).collect();
        directive.add(Clause::text("thread_limit", multiplied(&factors)));
    } else if let Some(threads) = preferred(launch, tuning).filter(|_| has_teams) {
        directive.add(Clause::text("thread_limit", threads.to_string()));
    }
    if !has_teams {
        gathered.clauses.retain(|(place, _)| *place != Place::Teams);
    }
}

/// How many threads of a team the profile prefers for a loop without sizes of its own.
fn preferred(launch: &Launch, tuning: &Tuning) -> Option<u32> {
    let nest = launch.nest.as_ref().filter(|nest| nest.spread.gangs && !nest.spread.lanes)?;
    tuning.row_threads.filter(|_| nest.has_busy_rows)
}

/// Data-sharing and implied maps. Teams combine nothing where they only divide a loop.
fn share(
    attributes: &[Attribute],
    directive: &mut Directive,
    query: &RuleQuery,
    rows: &mut Vec<&'static RowId>,
) {
    let is_bare_distribute = directive.leaves == [Leaf::Distribute];
    for attribute in attributes {
        if is_bare_distribute && matches!(attribute.sharing, Sharing::Reduction(_)) {
            continue;
        }
        if let Some((clause, row)) = look::attribute(attribute, query) {
            rows.push(row);
            directive.add(clause);
        }
    }
}

/// Says that sizes were not used.
pub fn unused_sizes(launch: &Launch, query: &RuleQuery, gathered: &mut Gathered) {
    if !gathered.lanes.is_empty() && launch.gangs == Gangs::One {
        gathered.diags.push(diag::hint_dropped(query.span, "the number of workers or lanes"));
    }
}
