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
pub use profile::{ProfileRules, profile, profile_of_command};
pub use rule::{
    Action, CudaRow, Lines, Meaning, Place, Pragma, Row, RowId, Situation, Strategy, Template, TemplateArg,
};

/// The pages that are compiled in.
pub fn rules() -> &'static Rules {
    static RULES: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(|| match Rules::load(FILES) {
        Ok(rules) => rules,
        // A test loads the same files: a program that gets here was not tested.
        Err(errors) => unreachable!("the rule pages do not load: {errors:?}"),
    });
    &RULES
}
