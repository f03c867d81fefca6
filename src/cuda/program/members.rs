//! Members of classes that headers define.
//!
//! Invariant: the class of the function that sees a member comes before its bases.

use super::{Input, Seen};
use crate::host::ir::Decl;
use crate::sema::SymbolId;
use crate::source;

/// The declaration of a member that a header has: in the class of the function that sees it, or in a base.
pub fn member<'a>(input: &Input<'a>, symbol: SymbolId) -> Option<(Seen<'a>, &'a Decl)> {
    let known = input.symbols.get(symbol);
    let bare = |name: &str| source::plain_name(name).to_owned();
    let mut pending = vec![bare(input.symbols.class_of(symbol)?)];
    let mut met: Vec<String> = Vec::new();
    while let Some(name) = pending.pop().filter(|name| !met.contains(name)) {
        let all = std::iter::once(input.source).chain(input.headers.iter().copied());
        for seen in all {
            for record in seen.unit.records.iter().filter(|record| record.tag.as_deref() == Some(&name)) {
                let mut members = record.members.iter().map(|id| seen.unit.decl(*id));
                if let Some(decl) = members.find(|decl| decl.name == known.name) {
                    return Some((seen, decl));
                }
                pending.extend(record.bases.iter().map(|base| bare(base)));
            }
        }
        met.push(name);
    }
    None
}
