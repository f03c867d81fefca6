//! Variables of teams into which a launch reduces, and what combines them with the program's.
//!
//! Invariant: only a `parallel` construct, of one thread, is in the teams beside the loops: no other construct than loops and
//! `parallel` may be there (OpenMP 5.1, 2.7).

use crate::plan::TeamSum;

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};

/// Whether the variables of teams are all that a construct reduces.
pub fn are_all(sums: &[TeamSum], directive: &Directive) -> bool {
    let is_sum = |clause: &Clause| match &clause.body {
        Body::List(items) => items.iter().all(|item| {
            sums.iter().any(|sum| {
                sum.variable == *item && clause.modifier.as_deref() == Some(sum.operator.spelled(false))
            })
        }),
        _ => false,
    };
    let mut reductions = directive.clauses.iter().filter(|clause| clause.name == "reduction").peekable();
    !sums.is_empty() && reductions.peek().is_some() && reductions.all(is_sum)
}

/// What declares the variable of a team, where the name still is the program's.
pub fn begun(sum: &TeamSum, type_of: &str) -> [String; 2] {
    let TeamSum { variable, pointer, neutral, .. } = sum;
    [
        format!("{type_of}({variable}) *{pointer} = &{variable};"),
        format!("{type_of}({variable}) {variable} = {neutral};"),
    ]
}

/// What combines it with the program's, after the loops.
pub fn added(sum: &TeamSum) -> [String; 3] {
    let TeamSum { variable, pointer, operator, .. } = sum;
    let mut alone = Directive::new(&[Leaf::Parallel]);
    alone.add(Clause::text("num_threads", "1"));
    let update = format!("*{pointer} {}= {variable};", operator.spelled(false));
    [
        alone.line(BaseLanguage::C),
        Directive::new(&[Leaf::Named("atomic update")]).line(BaseLanguage::C),
        update,
    ]
}
