//! The functions of a file in C that have nothing to do with its directives, and need not be read.
//!
//! Invariant: a function that shares a function or a variable of the file with one that holds a directive, at whatever distance,
//! is read; so is what is not surely a function.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::{SourceFile, Span};

use super::Scan;

/// What a body holds of OpenACC or OpenMP, or of directives at all.
const OURS: [&[u8]; 6] = [b"acc_", b"openacc", b"_OPENACC", b"omp_", b"_OPENMP", b"ragma"];

/// Words before parentheses and braces that are no names of functions, and those that begin no function.
const NO_NAMES: [&[u8]; 8] = [b"if", b"for", b"while", b"switch", b"return", b"sizeof", b"do", b"else"];

/// Words of types, which name no variable.
const TYPES: [&[u8]; 10] =
    [b"void", b"int", b"char", b"double", b"float", b"long", b"short", b"unsigned", b"signed", b"const"];

/// What stands at file scope.
#[derive(Default)]
struct FileScope<'t> {
    functions: Vec<Function<'t>>,
    /// The names of variables.
    variables: FxHashSet<&'t [u8]>,
    /// Initialisers, and what stands between braces of no function.
    read: Vec<Span>,
}

/// A function with its body.
#[derive(Debug)]
struct Function<'t> {
    /// The names that it may have.
    names: Vec<&'t [u8]>,
    /// From its first word to its closing brace.
    whole: Span,
    /// It defines types of its own.
    has_types: bool,
}

/// A function, or what else stands at file scope, as far as it is read.
#[derive(Default)]
struct Item<'t> {
    start: usize,
    /// The words and signs outside of braces.
    tokens: Vec<(usize, &'t [u8])>,
}

/// The functions that have nothing to do with the directives of a scan. `others` are variables
/// that headers declare, `macros` the names and bodies of their macros.
pub fn functions_apart<'s>(
    file: &SourceFile,
    scan: &'s Scan,
    others: impl Iterator<Item = &'s str>,
    macros: impl Iterator<Item = (&'s str, &'s str)>,
) -> Vec<Span> {
    let Some(all) = file_scope(&scan.shadow) else { return Vec::new() };
    let FileScope { functions, variables: mut shared, read } = all;
    shared.extend(others.map(str::as_bytes));
    shared.extend(functions.iter().flat_map(|function| function.names.iter().copied()));
    // The names that a name leads to: its own, and by macros.
    let own = scan.defines.iter().map(|define| (define.name.as_str(), define.body.as_str()));
    let mut leads: FxHashMap<&[u8], Vec<&[u8]>> = FxHashMap::default();
    for (name, body) in macros.chain(own) {
        leads.entry(name.as_bytes()).or_default().extend(words(body.as_bytes()));
    }
    let mut users: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
    let mut named: Vec<Vec<&[u8]>> = Vec::with_capacity(functions.len());
    for (at, function) in functions.iter().enumerate() {
        let mut met: FxHashSet<&[u8]> = FxHashSet::default();
        let mut pending: Vec<&[u8]> =
            words(scan.shadow.get(function.whole.range()).unwrap_or_default()).collect();
        let mut found = Vec::new();
        while let Some(word) = pending.pop() {
            let more = leads.get(word);
            let is_shared = shared.contains(word);
            if (is_shared || more.is_some()) && met.insert(word) {
                pending.extend(more.into_iter().flatten());
                found.extend(is_shared.then_some(word));
            }
        }
        for name in &found {
            users.entry(name).or_default().push(at);
        }
        named.push(found);
    }
    let mut kept = vec![false; functions.len()];
    let mut pending: Vec<usize> = Vec::new();
    let text = |span: &Span| scan.shadow.get(span.range()).unwrap_or_default();
    let mut names: Vec<&[u8]> = read.iter().flat_map(|span| words(text(span))).collect();
    // Directives, and what they name where no function holds them.
    for text in &scan.directives {
        for place in [text.span.start, text.next_code] {
            let next = functions.partition_point(|function| function.whole.end <= place);
            match functions.get(next).filter(|function| function.whole.start <= place) {
                Some(_) => pending.push(next),
                None => names.extend(words(file.slice(text.span))),
            }
        }
    }
    let is_ours = |function: &Function| {
        let bytes = file.bytes.get(function.whole.range()).unwrap_or_default();
        function.has_types || OURS.iter().any(|word| memchr::memmem::find(bytes, word).is_some())
    };
    pending.extend((0..functions.len()).filter(|at| is_ours(&functions[*at])));
    let mut known: FxHashSet<&[u8]> = FxHashSet::default();
    loop {
        while let Some(name) = names.pop() {
            if known.insert(name) {
                pending.extend(users.get(name).into_iter().flatten());
                names.extend(leads.get(name).into_iter().flatten());
            }
        }
        let Some(at) = pending.pop() else { break };
        if !std::mem::replace(&mut kept[at], true) {
            names.extend(&named[at]);
        }
    }
    let apart = functions.iter().zip(kept).filter(|(_, is_kept)| !is_kept);
    apart.map(|(function, _)| function.whole).collect()
}

/// Overwrites bytes of a shadow by blanks.
pub fn blank(shadow: &mut [u8], spans: &[Span]) {
    for span in spans {
        let bytes = shadow.get_mut(span.range()).unwrap_or_default();
        bytes.iter_mut().filter(|byte| !b"\r\n".contains(byte)).for_each(|byte| *byte = b' ');
    }
}

/// What stands at file scope; none if brackets do not fit.
fn file_scope(text: &[u8]) -> Option<FileScope<'_>> {
    let mut all = FileScope::default();
    let mut item = Item::default();
    let mut at = 0;
    while let Some((start, token)) = next(text, &mut at)? {
        if item.tokens.is_empty() {
            item.start = start;
        }
        match token {
            b";" => {
                item.end(start, &mut all);
                item = Item::default();
            }
            b"{" => {
                let has_types = skip_braces(text, &mut at)?;
                match item.function() {
                    Some(names) => {
                        let whole = Span::new(item.start, at);
                        all.functions.push(Function { names, whole, has_types });
                        item = Item::default();
                    }
                    None => {
                        all.read.push(Span::new(start, at));
                        item.tokens.push((start, b"{"));
                    }
                }
            }
            b"}" => return None,
            _ => item.tokens.push((start, token)),
        }
    }
    item.end(text.len(), &mut all);
    Some(all)
}

/// Goes behind the brace that closes an open one; whether types are defined before it.
fn skip_braces(text: &[u8], at: &mut usize) -> Option<bool> {
    let (mut depth, mut has_types) = (1, false);
    let mut last: [&[u8]; 2] = [b"", b""];
    while depth > 0 {
        let (_, token) = next(text, at)??;
        let is_of_type = |word: &[u8]| matches!(word, b"struct" | b"union" | b"enum");
        match token {
            b"{" => {
                has_types |= last.iter().any(|word| is_of_type(word));
                depth += 1;
            }
            b"}" => depth -= 1,
            b"typedef" => has_types = true,
            _ => {}
        }
        last = [last[1], token];
    }
    Some(has_types)
}

impl<'t> Item<'t> {
    /// The names of the function whose head this is, if it surely is one: words, a name, and parentheses up to the end.
    fn function(&self) -> Option<Vec<&'t [u8]>> {
        let words = self.tokens.iter().take_while(|(_, token)| is_word(token) || *token == b"*");
        let count = words.count();
        let (_, name) = self.tokens.get(count.checked_sub(1)?)?;
        let is_head = count > 1
            && is_word(name)
            && !name.starts_with(b"__")
            && self.tokens[..count].iter().all(|(_, token)| !NO_NAMES.contains(token))
            && self.tokens.get(count).is_some_and(|(_, token)| *token == b"(");
        if !is_head {
            return None;
        }
        let mut names = vec![*name];
        let mut depth = 0;
        for (at, (_, token)) in self.tokens.iter().enumerate().skip(count) {
            match *token {
                b"(" => depth += 1,
                b")" => depth -= 1,
                // A name alone between commas: perhaps a macro makes the function's name of it.
                word if depth == 1 && is_word(word) => {
                    let around = [self.tokens.get(at - 1), self.tokens.get(at + 1)];
                    let ends = |token: &[u8]| matches!(token, b"(" | b"," | b")");
                    let is_alone = around.iter().all(|token| token.is_none_or(|(_, token)| ends(token)));
                    names.extend((is_alone && word != b"void").then_some(word));
                }
                _ => {}
            }
            if depth == 0 && at + 1 < self.tokens.len() {
                return None;
            }
        }
        (depth == 0).then_some(names)
    }

    /// What is no function ends here.
    fn end(&self, end: usize, all: &mut FileScope<'t>) {
        if let Some((start, _)) = self.tokens.iter().find(|(_, token)| *token == b"=") {
            all.read.push(Span::new(*start, end));
        }
        self.variables(&mut all.variables);
    }

    /// The names that may be those of variables that this declares.
    fn variables(&self, shared: &mut FxHashSet<&'t [u8]>) {
        let token = |at: usize| self.tokens.get(at).map_or(&b""[..], |(_, token)| token);
        if token(0) == b"typedef" {
            return;
        }
        let open = (0..self.tokens.len()).find(|at| token(*at) == b"(");
        let is_prototype = open.is_some_and(|at| {
            at > 1
                && is_word(token(at - 1))
                && !matches!(token(at + 1), b"*" | b"(")
                && !token(at - 1).starts_with(b"__")
        });
        let mut depth = 0;
        for at in 0..self.tokens.len() {
            match token(at) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                word if is_word(word) && !(is_prototype && depth > 0) => {
                    let behind = token(at + 1);
                    let is_named = matches!(behind, b"" | b"=" | b"[" | b"," | b")" | b":")
                        || behind.starts_with(b"__")
                        || behind == b"(" && !is_prototype;
                    if is_named && !TYPES.contains(&word) {
                        shared.insert(word);
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_word(token: &[u8]) -> bool {
    token.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 0x80)
}

fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// The words of a text, those in its comments and strings among them.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_part(byte)).filter(|word| is_word(word))
}

/// The next token behind blanks and comments, with its place: a word, a number, a literal, or a single byte. `Some(None)` at the
/// end, `None` where a literal or a comment has none.
#[allow(clippy::option_option)]
fn next<'t>(text: &'t [u8], at: &mut usize) -> Option<Option<(usize, &'t [u8])>> {
    loop {
        let rest = text.get(*at..).unwrap_or_default();
        let Some(lead) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else { return Some(None) };
        *at += lead;
        let start = *at;
        let rest = &text[start..];
        *at += match rest {
            [b'/', b'/', ..] => {
                *at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                continue;
            }
            [b'/', b'*', ..] => {
                *at += memchr::memmem::find(&rest[2..], b"*/")? + 4;
                continue;
            }
            [quote @ (b'"' | b'\''), ..] => literal(rest, *quote)?,
            [first, ..] if is_part(first) => {
                rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
            }
            _ => 1,
        };
        return Some(Some((start, &text[start..*at])));
    }
}

/// The length of the literal that a text begins with.
fn literal(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{file_scope, functions_apart};
    use crate::scan::{View, scan};
    use crate::source::{Language, SourceFile};

    fn check(text: &str, expected: &[&str]) {
        let file = SourceFile::new("a.c", text.into(), Language::C);
        let (scan, _) = scan(&file, &View::default());
        let found = functions_apart(&file, &scan, std::iter::empty(), std::iter::empty());
        let found: Vec<String> = found.iter().map(|span| file.text(*span).trim().to_owned()).collect();
        assert_eq!(found, expected, "{text}");
    }

    const CONSTRUCT: &str =
        "void k(int n) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) f(i);\n}\n";

    #[test]
    fn a_function_without_directives_is_apart() {
        let plain = "int g(void) { return 1; }";
        check(&format!("{CONSTRUCT}{plain}\n"), &[plain]);
        let other = "static inline struct s *g(int a, char *b) { x = \"}\"; /* } */ }";
        check(&format!("{other}\n{CONSTRUCT}"), &[other]);
    }

    #[test]
    fn what_a_construct_leads_to_is_not() {
        check(&format!("int h(int i) {{ return i; }}\nint f(int i) {{ return h(i); }}\n{CONSTRUCT}"), &[]);
        check(&format!("{CONSTRUCT}int main(void) {{ k(1); return 0; }}\n"), &[]);
        check(&format!("#define P k(1)\n{CONSTRUCT}int main(void) {{ P; return 0; }}\n"), &[]);
        check(&format!("int v;\nint g(void) {{ return v; }}\nint f(int i) {{ v = i; }}\n{CONSTRUCT}"), &[]);
    }

    #[test]
    fn what_is_no_function_for_sure_is_read() {
        check(&format!("{CONSTRUCT}DEFINE(g) {{ return 1; }}\nint g(a) int a; {{ return a; }}\n"), &[]);
        check(&format!("{CONSTRUCT}struct s {{ int a; }};\nint a[] = {{ 1 }};\n"), &[]);
        check(&format!("{CONSTRUCT}int g(void) {{ struct t {{ int a; }} b; return 1; }}\n"), &[]);
    }

    #[test]
    fn variables_at_file_scope_are_found() {
        let text = "int a, *b = 0, c[3]; typedef int t; extern t d; double p(int q, double *r); int (*e)(int);\nstruct s { int m; } g;";
        let found = file_scope(text.as_bytes()).unwrap_or_default();
        let mut found: Vec<&str> =
            found.variables.iter().filter_map(|name| std::str::from_utf8(name).ok()).collect();
        found.sort_unstable();
        for name in ["a", "b", "c", "d", "e", "g"] {
            assert!(found.contains(&name), "{name}: {found:?}");
        }
        for name in ["t", "q", "r", "m", "p"] {
            assert!(!found.contains(&name), "{name}: {found:?}");
        }
    }
}
