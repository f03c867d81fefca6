//! The rules that are data: language tables, and one page for each OpenACC word.
//!
//! Invariant: a page names facts, places and strategies from closed lists; nothing in `rules/` computes, and what is
//! wrong with a page is found when it is loaded, by the tests and at every start alike.

mod check;
mod coverage;
mod embed;
pub mod openacc;
mod openmp;
mod page;
mod profile;
pub mod pure;
mod rule;
mod schema;

pub use coverage::{index, matrix};
pub use embed::FILES;
pub use page::{Example, LoadError, Page, Rules, with_outputs};
pub use profile::{ProfileRules, add_profile, own_profile, profile, profile_of_command, profiles};
pub use rule::{
    Action, CudaRow, Lines, Meaning, Place, Pragma, Row, RowId, Situation, Strategy, Template, TemplateArg,
};

/// The pages that count: those that are compiled in, unless others were installed before.
static RULES: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();

/// The pages that count.
pub fn rules() -> &'static Rules {
    RULES.get_or_init(|| match Rules::load(&files()) {
        Ok(rules) => rules,
        // A test loads the same files: a program that gets here was not tested.
        Err(errors) => unreachable!("the rule pages do not load: {errors:?}"),
    })
}

/// The pages that are compiled in.
fn files() -> Vec<(&'static str, &'static str)> {
    FILES.iter().map(|(path, text)| (path.as_str(), *text)).collect()
}

/// Reads the pages that are compiled in with `own` ones (a path below `rules/`, and its text) in place of those of their names.
pub fn with_own(own: &[(String, String)]) -> Result<Rules, Vec<LoadError>> {
    let is_replaced = |name: &str| own.iter().any(|(path, _)| path == name);
    let own_files = own.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let all: Vec<(&str, &str)> =
        files().into_iter().filter(|(path, _)| !is_replaced(path)).chain(own_files).collect();
    Rules::load(&all)
}

/// Lets these pages count; false if pages were used before.
pub fn install(rules: Rules) -> bool {
    RULES.set(rules).is_ok()
}
