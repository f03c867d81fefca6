//! Edits, the rewrites that own them, and their application.

use crate::source::Span;

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

/// Sorted, disjoint edits of one file.
#[derive(Clone, Debug, Default)]
pub struct EditSet {
    edits: Vec<(u32, Edit)>,
}

impl EditSet {
    /// Adds a rewrite whole, or says which rewrite it conflicts with and adds nothing.
    /// Two identical insertions at one place unite.
    pub fn add(&mut self, rewrite: Rewrite) -> Result<(), Conflict> {
        let mut fresh: Vec<(u32, Edit)> = Vec::new();
        for edit in rewrite.edits {
            let known = self.edits.iter().chain(&fresh).find(|(_, other)| clash(&edit, other));
            match known {
                None => fresh.push((rewrite.owner, edit)),
                Some((_, other)) if *other == edit && edit.span.is_empty() => {}
                Some((with, _)) => return Err(Conflict { with: *with }),
            }
        }
        self.edits.append(&mut fresh);
        self.edits.sort_by_key(|(_, edit)| (edit.span.start, edit.span.end));
        Ok(())
    }

    /// The edits, by place.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter().map(|(_, edit)| edit)
    }

    /// The text with all edits made.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 8);
        let mut at = 0;
        for edit in self.edits() {
            out.extend_from_slice(bytes.get(at..edit.span.start as usize).unwrap_or_default());
            out.extend_from_slice(&edit.text);
            at = edit.span.end as usize;
        }
        out.extend_from_slice(bytes.get(at..).unwrap_or_default());
        out
    }
}

/// Whether two edits touch the same bytes, or insert at the same place.
fn clash(a: &Edit, b: &Edit) -> bool {
    if a.span.is_empty() && b.span.is_empty() {
        a.span == b.span
    } else {
        a.span.start < b.span.end && b.span.start < a.span.end
    }
}
