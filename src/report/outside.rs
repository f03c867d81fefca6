//! What another program says of a line of a source.
//!
//! Invariant: text in, text out.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::Manner;

/// A message of another program with the line that it is about, from one.
pub fn outside(name: &str, text: &str, line: usize, message: &str, manner: Manner) -> String {
    let renderer = if manner.color { Renderer::styled() } else { Renderer::plain() };
    let group = Level::ERROR.primary_title(message);
    let Some(shown) = line.checked_sub(1).and_then(|at| text.lines().nth(at)) else {
        return format!("error: {name}:{line}: {message}\n");
    };
    let start = shown.len() - shown.trim_start().len();
    let mark = AnnotationKind::Primary.span(start..shown.trim_end().len().max(start));
    let snippet = Snippet::source(shown).path(name).line_start(line).annotation(mark);
    renderer.render(&[group.element(snippet)]) + "\n\n"
}
