//! Which line of the source a line of device code comes from, said with `#line`: debuggers, profilers and compilers then speak
//! of the source.
//!
//! Invariant: what the lines say is for tools to read; the code is the same without them.

/// Stands after code of the source until the device file is whole.
pub const BACK: &str = "#line 0";

/// Lines of code, with a directive before each whose number does not follow from the line before it. `from`: the numbers of
/// their lines in the source, from 1, where they have any.
pub fn directed(lines: &[(Option<u32>, &str)], source: &str) -> String {
    let mut out = String::new();
    let source = source.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let (mut expected, mut may_stand) = (None, true);
    for (from, line) in lines {
        let code = line.trim();
        // A directive in the middle of a statement might be in the arguments of a macro.
        let is_brace = code.is_empty() || code == "{" || code == "}";
        if let Some(number) = from
            && expected != Some(*number)
            && may_stand
            && !is_brace
        {
            out += &format!("#line {number} \"{source}\"\n");
            expected = Some(*number);
        }
        out += line;
        out.push('\n');
        expected = expected.map(|number| number + 1);
        if !code.is_empty() {
            may_stand = code.ends_with([';', '{', '}']) || code.ends_with("*/");
        }
    }
    out.pop();
    out
}

/// The device file, its lines its own again after code of the source.
pub fn resolved(text: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.lines().enumerate() {
        match line == BACK {
            true => out += &format!("#line {} \"{name}\"", at + 2),
            false => out += line,
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
