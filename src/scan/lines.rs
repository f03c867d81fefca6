//! The `#define` and `#undef` lines of a file, those of all branches.
//!
//! Invariant: in source order; whether a line is shown is for others to say.

use crate::source::{SourceFile, Span};

use super::c::{self, Event};
use super::preproc::{definition, keyword};

/// A line that gives a macro a meaning, or takes it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroLine {
    /// The macro's name.
    pub name: String,
    /// Its parameters, if it has a list of them.
    pub params: Option<Vec<String>>,
    /// The body's text, continuations joined; empty for `#undef`.
    pub body: String,
    /// The line is `#undef`.
    pub is_undef: bool,
    /// The whole logical line.
    pub span: Span,
}

/// Those of a file of C or C++.
pub fn macro_lines(file: &SourceFile) -> Vec<MacroLine> {
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let read = lines.filter_map(|line| {
        let (word, rest) = keyword(&file.bytes, line);
        let is_undef = match word {
            "define" => false,
            "undef" => true,
            _ => return None,
        };
        let (name, params, body) = definition(&rest);
        let body = if is_undef { String::new() } else { body };
        Some(MacroLine { name, params, body, is_undef, span: line.whole })
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::macro_lines;
    use crate::source::{Language, SourceFile};

    #[test]
    fn lines_of_all_branches_are_read() {
        let text = "#define W 3\n#if 0\n# undef W // no more\n#define F(a, b) a \\\n + b\n#endif\n";
        let file = SourceFile::new("a.c", text.into(), Language::C);
        let found = macro_lines(&file);
        let said: Vec<(&str, bool, &str)> =
            found.iter().map(|line| (line.name.as_str(), line.is_undef, line.body.as_str())).collect();
        assert_eq!(said, [("W", false, "3"), ("W", true, ""), ("F", false, "a + b")]);
    }
}
