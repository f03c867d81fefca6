//! The functions of the C and C++ libraries that only give a value.
//!
//! Invariant: the names are those of `rules/lang/pure.toml`, and no others.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    functions: BTreeSet<String>,
}

/// Whether `name`, without a namespace, is that of such a function.
pub fn is_pure(name: &str) -> bool {
    static TABLE: LazyLock<Table> =
        LazyLock::new(|| match toml::from_str(include_str!("../../rules/lang/pure.toml")) {
            Ok(table) => table,
            Err(error) => unreachable!("rules/lang/pure.toml does not load: {error}"),
        });
    let is_in = |name: &str| TABLE.functions.contains(name);
    is_in(name) || name.strip_suffix(['f', 'l']).is_some_and(is_in)
}
