//! A source file as read: its bytes, its language, and where its lines are.
//!
//! Invariant: the bytes are never decoded, re-encoded or changed; every offset in the program refers to them.

mod file;
mod language;
mod lines;
mod named;
mod predefined;
mod span;
mod text;
mod words;

pub use file::SourceFile;
pub use language::{Form, Language, Languages};
pub use lines::{LineIndex, byte_order_mark, lines};
pub use named::Named;
pub use predefined::Predefined;
pub use span::Span;
pub use text::{byte_of, bytes, in_place, readable};
pub use words::{literal_length, names, placed_names, plain_name, words};
