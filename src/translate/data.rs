//! What directives do with variables, for reports.
//!
//! Invariant: what clauses state comes before what is implied; each variable is named as the source writes it.

use crate::acc::ast::Directive;
use crate::plan::{self, Attribute, Item, Plan, Sharing};
use crate::rules;

/// What a directive does with one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataUse {
    /// The variable, or the part of it, as written.
    pub item: Box<str>,
    /// The clause as written, or the clause that says the same as what is implied.
    pub how: &'static str,
    /// The rule page that implies it; `None` if a clause states it.
    pub implied_by: Option<&'static str>,
}

/// What the clauses of a directive state that count for the device.
pub fn stated(directive: &Directive, device_type: &str) -> Vec<DataUse> {
    let (counting, _) = plan::effective(directive, device_type);
    let clauses = counting.into_iter().filter_map(|at| directive.clauses.get(at));
    let items = clauses.flat_map(|clause| {
        let how = rules::openacc::table().clause_word(&clause.name.text);
        plan::list(&clause.kind).iter().map(move |item| DataUse {
            item: item.text.as_str().into(),
            how,
            implied_by: None,
        })
    });
    items.collect()
}

/// What is implied for variables at a bound directive.
pub fn implied(plan: &Plan, index: usize) -> Vec<DataUse> {
    let attributes: Vec<&Attribute> = match plan.items.get(index) {
        Some(Item::Launch(launch)) => {
            let own = launch.attributes.iter();
            own.chain(launch.nest.iter().flat_map(|nest| &nest.attributes)).collect()
        }
        Some(Item::Loop(work)) => work.attributes.iter().collect(),
        Some(Item::Clauses { implied, .. }) => implied.iter().collect(),
        _ => Vec::new(),
    };
    let mut all: Vec<DataUse> = Vec::new();
    for one in attributes.into_iter().filter(|one| one.entry.starts_with("implicit/")) {
        let how = word(&one.sharing);
        let new = DataUse { item: one.item.as_str().into(), how, implied_by: Some(one.entry) };
        if !all.contains(&new) {
            all.push(new);
        }
    }
    all
}

/// The clause that says the same.
fn word(sharing: &Sharing) -> &'static str {
    match sharing {
        Sharing::Private => "private",
        Sharing::Firstprivate => "firstprivate",
        Sharing::Reduction(_) => "reduction",
        Sharing::Copy => "copy",
        Sharing::Deviceptr => "deviceptr",
    }
}
