//! Edits, the rewrites that own them, and their application.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{self, Span};

use super::branch;

/// Replace the bytes of `span` by `text`; an empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go.
    pub span: Span,
    /// The bytes that come.
    pub text: Vec<u8>,
}

/// All edits that one directive asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Which directive of the file asks for them, from 0.
    pub owner: u32,
    /// Its edits.
    pub edits: Vec<Edit>,
}

/// Two rewrites want to change the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner of the rewrite that was there first.
    pub with: u32,
}

/// Edits by place; an insertion comes before the replacement that begins at its place. The third number orders insertions
/// at one place, and is 0 for a single one.
type Places = BTreeMap<(u32, u32, u32), (u32, Edit)>;

/// Sorted, disjoint edits of one file.
#[derive(Clone, Debug, Default)]
pub struct EditSet {
    edits: Places,
    /// The other owners that ask for an edit, by its place.
    also: BTreeMap<(u32, u32, u32), BTreeSet<u32>>,
}

impl EditSet {
    /// Adds a rewrite whole, or says which rewrite it conflicts with and adds nothing.
    /// Two identical edits of one place unite, and lines under conditions of the preprocessor stand beside others. What was text
    /// of the source becomes its bytes.
    pub fn add(&mut self, mut rewrite: Rewrite) -> Result<(), Conflict> {
        for edit in &mut rewrite.edits {
            edit.text = source::bytes(std::mem::take(&mut edit.text));
        }
        self.add_bytes(rewrite)
    }

    /// The same for a rewrite that is made of bytes.
    pub(super) fn add_bytes(&mut self, rewrite: Rewrite) -> Result<(), Conflict> {
        let (mut fresh, mut united) = (Places::new(), Vec::new());
        for edit in rewrite.edits {
            let met = near(&self.edits, edit.span).chain(near(&fresh, edit.span));
            let met: Vec<Placed> = met.filter(|(_, _, other)| clash(&edit, other)).collect();
            if let Some((place, owner, _)) = met.iter().find(|(_, _, other)| **other == edit) {
                united.extend((*owner != rewrite.owner).then_some(*place));
                continue;
            }
            let stands_beside = |other: &Edit| {
                let both = [other, &edit];
                other.span == edit.span
                    && edit.span.is_empty()
                    && both.iter().all(|edit| branch::is_lines(&edit.text))
                    && both.iter().any(|edit| branch::has_conditions(&edit.text))
            };
            if let Some((_, with, _)) = met.iter().find(|(_, _, other)| !stands_beside(other)) {
                return Err(Conflict { with: *with });
            }
            let order = if met.is_empty() { 0 } else { rewrite.owner };
            fresh.insert((edit.span.start, edit.span.end, order), (rewrite.owner, edit));
        }
        self.edits.extend(fresh);
        united.into_iter().for_each(|place| _ = self.also.entry(place).or_default().insert(rewrite.owner));
        Ok(())
    }

    /// Takes no more memory than it needs, until edits are added.
    pub fn pack(&mut self) {
        // A map that is made of sorted entries has full nodes.
        self.edits = std::mem::take(&mut self.edits).into_iter().collect();
    }

    /// Adds lines: where those of other owners are inserted already, after them, and apart from them.
    pub fn add_beside(&mut self, owner: u32, edit: Edit) -> Result<(), Conflict> {
        let met: Vec<Span> = near(&self.edits, edit.span)
            .filter(|(_, _, other)| clash(&edit, other))
            .map(|(_, _, other)| other.span)
            .collect();
        if met.is_empty() || !edit.span.is_empty() || met.iter().any(|span| *span != edit.span) {
            return self.add(Rewrite { owner, edits: vec![edit] });
        }
        let text = source::bytes(edit.text);
        let place = (edit.span.start, edit.span.end, owner);
        let empty = || (owner, Edit { span: edit.span, text: Vec::new() });
        self.edits.entry(place).or_insert_with(empty).1.text.extend(text);
        Ok(())
    }

    /// Adds lines: before what others insert there.
    pub fn add_above(&mut self, owner: u32, edit: Edit) -> Result<(), Conflict> {
        let first = self.edits.range_mut((edit.span.start, edit.span.end, 0)..).next();
        match first.filter(|(_, (_, other))| edit.span.is_empty() && other.span == edit.span) {
            Some((_, (_, other))) => {
                let own = std::mem::replace(&mut other.text, source::bytes(edit.text));
                other.text.extend(own);
                Ok(())
            }
            None => self.add(Rewrite { owner, edits: vec![edit] }),
        }
    }

    /// Takes over the edits of a part of the file; `None` if one of them meets one that is known.
    pub fn join(&mut self, part: EditSet) -> Option<()> {
        let meets = |edit: &Edit| near(&self.edits, edit.span).any(|(_, _, other)| clash(edit, other));
        if part.edits().any(meets) {
            return None;
        }
        self.edits.extend(part.edits);
        self.also.extend(part.also);
        Some(())
    }

    /// Takes back what these owners have added; what others ask for, too, stays.
    pub fn withdraw(&mut self, owners: &BTreeSet<u32>) {
        for also in self.also.values_mut() {
            also.retain(|owner| !owners.contains(owner));
        }
        self.edits.retain(|place, (owner, _)| {
            let mut other = || self.also.get_mut(place).and_then(BTreeSet::pop_first);
            !owners.contains(owner) || other().map(|other| *owner = other).is_some()
        });
    }

    /// The edits, by place.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> + Clone {
        self.edits.values().map(|(_, edit)| edit)
    }

    /// All edits, by place.
    pub fn into_edits(self) -> Vec<Edit> {
        self.edits.into_values().map(|(_, edit)| edit).collect()
    }

    /// The text with all edits made.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        applied(bytes, 0, self.edits())
    }
}

/// The bytes from `start` on with edits made, which come by place.
pub fn applied<'e>(
    bytes: &[u8],
    start: u32,
    edits: impl IntoIterator<Item = &'e Edit, IntoIter: Clone>,
) -> Vec<u8> {
    let edits = edits.into_iter();
    let more: usize = edits.clone().map(|edit| edit.text.len()).sum();
    let less: usize = edits.clone().map(|edit| edit.span.len()).sum();
    let mut out = Vec::with_capacity((bytes.len() + more).saturating_sub(less + start as usize));
    let mut at = start as usize;
    for edit in edits {
        out.extend_from_slice(bytes.get(at..edit.span.start as usize).unwrap_or_default());
        out.extend_from_slice(&edit.text);
        at = edit.span.end as usize;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}

/// An edit with its place and its owner.
type Placed<'e> = ((u32, u32, u32), u32, &'e Edit);

/// The edits that touch or overlap `span`, by place.
fn near(edits: &Places, span: Span) -> impl Iterator<Item = Placed<'_>> {
    // Those before it do not overlap one another: the first that ends before it is the last that counts.
    let before =
        edits.range(..(span.start, 0, 0)).rev().take_while(move |(_, (_, edit))| edit.span.end >= span.start);
    let mut before: Vec<Placed> = before.map(|(place, (owner, edit))| (*place, *owner, edit)).collect();
    before.reverse();
    let rest = edits.range((span.start, 0, 0)..).map(|(place, (owner, edit))| (*place, *owner, edit));
    before.into_iter().chain(rest.take_while(move |(_, _, edit)| edit.span.start <= span.end))
}

/// Whether two edits touch the same bytes, or insert at the same place.
fn clash(a: &Edit, b: &Edit) -> bool {
    if a.span.is_empty() && b.span.is_empty() {
        a.span == b.span
    } else {
        a.span.start < b.span.end && b.span.start < a.span.end
    }
}

#[cfg(test)]
mod tests;
