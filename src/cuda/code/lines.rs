//! Lines of the host and of the device file: broken where they are too long, put into braces.
//!
//! Invariant: only blanks between arguments, and the indentation, change.

/// A list of parameters, broken into lines.
pub fn wrapped(params: &[String], indent: usize, column: usize) -> String {
    let mut out = String::new();
    let mut at = column;
    for (index, param) in params.iter().enumerate() {
        if index > 0 {
            out.push(',');
            at += 1;
        }
        if at + param.len() + 2 > 118 {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            at = indent;
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(param);
        at += param.len();
    }
    out
}

/// A call of the host, broken into lines where it is too long at its column.
pub fn fitted(line: &str, column: usize) -> Vec<String> {
    let whole = || vec![line.to_owned()];
    let Some((head, arguments)) = line.strip_suffix(");").and_then(|line| line.split_once('(')) else {
        return whole();
    };
    if column + line.len() <= 118 {
        return whole();
    }
    let indent = format!("{}    ", &line[..line.len() - line.trim_start().len()]);
    let mut lines = Vec::new();
    let mut last = format!("{head}(");
    for (at, argument) in super::text::arguments(arguments).into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        if column + last.len() + argument.len() + 4 > 118 {
            lines.push(format!("{last}{comma}"));
            last = format!("{indent}{argument}");
        } else {
            let blank = if at == 0 { "" } else { " " };
            last += &format!("{comma}{blank}{argument}");
        }
    }
    lines.push(format!("{last});"));
    lines
}

/// Lines in braces.
pub fn braced(lines: Vec<String>) -> Vec<String> {
    under("{".to_owned(), lines)
}

/// Lines in braces, after a line that opens them.
pub fn under(head: String, lines: Vec<String>) -> Vec<String> {
    let mut all = vec![head];
    all.extend(lines.into_iter().map(|line| format!("    {line}")));
    all.push("}".to_owned());
    all
}

/// The lines of a block without its braces, if they stand on lines of their own.
pub fn unbraced(code: &str) -> String {
    let trimmed = code.trim();
    let lines: Vec<&str> = trimmed.lines().collect();
    match lines.as_slice() {
        [first, inner @ .., last] if first.trim() == "{" && last.trim() == "}" && !inner.is_empty() => {
            let least = inner
                .iter()
                .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
                .map(|line| line.len() - line.trim_start().len())
                .min()
                .unwrap_or(4);
            let moved = |line: &&str| match line.get(least..).filter(|_| !line.starts_with('#')) {
                Some(rest) if !rest.trim().is_empty() => format!("    {rest}"),
                _ => line.trim_end().to_owned(),
            };
            inner.iter().map(moved).collect::<Vec<String>>().join("\n")
        }
        _ => format!("    {trimmed}"),
    }
}
