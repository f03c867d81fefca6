//! Tests of `html.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn rows_stand_beside_each_other() {
    let texts = Texts::of("a\nb\nc\n", "a\nx\ny\nc\n");
    assert_eq!(texts.rows, [(1, 1, 1), (2, 2, 0), (0, 3, 0), (3, 4, 1)]);
}

#[test]
fn pages_are_shown_without_their_tables() {
    let html = as_html("# `a`\n\n```toml rule\nomp = []\n```\n\n[b](c.md) <i>\n");
    assert_eq!(html, "<h1><code>a</code></h1>\n<p>b &lt;i&gt;</p>\n");
}
