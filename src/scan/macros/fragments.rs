//! Macros that are not expressions: `N HALF` with `#define HALF / 2`, heads of loops, and those that expand to nothing.
//!
//! Invariant: a use is written out only if every definition that a build may see says the same, as the preprocessor would.

use std::collections::{HashMap, HashSet};

use crate::scan::{Define, View, c, preproc, shadow};
use crate::source::{SourceFile, Span};

use super::declarators::pushed;
use super::{Choice, LIMIT, Macro, Macros, OPERATOR, Token, Writing, arguments, definition, lex, rendered};

/// Operators with something on both sides.
const OPERATORS: &[u8] = b"/%<>=|^.?:,*&+-";

/// Words that begin a statement.
const STATEMENTS: [&[u8]; 6] = [b"for", b"while", b"if", b"do", b"else", b"switch"];

/// The uses of such macros, and what replaces each. `defines` are those of headers and of options.
pub fn fragments(file: &SourceFile, defines: &[&Define]) -> Vec<(Span, Vec<u8>)> {
    let events = c::events(&file.bytes);
    let shown = preproc::shown(file, &events, &View::default());
    let (list, gone) = defined(file, &events, &shown, defines);
    let list = agreeing(list, &gone);
    if list.is_empty() {
        return Vec::new();
    }
    let by_name = list.iter().enumerate().map(|(of, one)| (one.name.clone().into_bytes(), vec![of]));
    let by_name: HashMap<Vec<u8>, Vec<usize>> = by_name.collect();
    let shadow = shadow::assemble(file, &events, &shown.of_all()).shadow;
    let macros = Macros { list, by_name, shadow, directives: Vec::new(), has_operators: false };
    let mut tokens = Vec::new();
    lex(&macros.shadow, Span::new(0, macros.shadow.len()), &mut tokens);
    let mut found: Vec<(Span, Vec<u8>)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let used = macros.written(&tokens, at);
        let next = used.as_ref().map_or(at + 1, |(_, next)| *next);
        if let (Some((text, _)), Some(first), Some(last)) = (used, tokens.get(at), tokens.get(next - 1)) {
            let span = first.span().to(last.span());
            found.push((span, in_lines(file, span, text)));
        }
        at = next;
    }
    found
}

/// The replacement of a use, with as many line ends.
pub(super) fn in_lines(file: &SourceFile, span: Span, text: Vec<u8>) -> Vec<u8> {
    let lines = file.slice(span).iter().filter(|byte| **byte == b'\n').count();
    [text, vec![b'\n'; lines]].concat()
}

/// The macros of headers and options, and those of a file that some build sees; and the names that are undefined or pushed
/// somewhere.
pub(super) fn defined(
    file: &SourceFile,
    events: &[c::Event],
    shown: &preproc::Shown,
    defines: &[&Define],
) -> (Vec<Macro>, HashSet<Vec<u8>>) {
    let mut list = spelled(file, defines);
    let mut gone: HashSet<Vec<u8>> = HashSet::new();
    for event in events {
        let c::Event::Line(line) = event else { continue };
        match preproc::keyword(&file.bytes, line) {
            _ if shown.rules_out(line.span.start) => {}
            ("define", _) => list.extend(definition(file, line, shown)),
            ("undef", name) => drop(gone.insert(name.trim_ascii().to_vec())),
            ("pragma", rest) => gone.extend(pushed(&rest)),
            _ => {}
        }
    }
    (list, gone)
}

/// The macros of headers and options.
fn spelled(file: &SourceFile, defines: &[&Define]) -> Vec<Macro> {
    let line = |define: &&Define| {
        let params = define.params.as_ref().map(|params| format!("({})", params.join(", ")));
        format!("#define {}{} {}\n", define.name, params.unwrap_or_default(), define.body)
    };
    let text: String = defines.iter().map(line).collect();
    let file = file.with(text.into_bytes());
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        c::Event::Line(line) => Some(line),
        c::Event::Operator(_) | c::Event::Comment(_) | c::Event::Word(_) => None,
    });
    let all = lines.filter_map(|line| definition(&file, line, &preproc::Shown::default()));
    all.map(|one| Macro { span: Span::at(0), ..one }).collect()
}

/// The first definition of each macro that is such a one, if all of its name say the same.
fn agreeing(list: Vec<Macro>, gone: &HashSet<Vec<u8>>) -> Vec<Macro> {
    let mut by_name: HashMap<String, Vec<Macro>> = HashMap::new();
    for one in list {
        by_name.entry(one.name.clone()).or_default().push(one);
    }
    let mut found = Vec::new();
    for (name, mut all) in by_name {
        let Some(last) = all.pop() else { continue };
        let says_same = |one: &Macro| {
            one.params.is_some() == last.params.is_some()
                && (one.is_nothing() && last.is_nothing()
                    || one.params == last.params && rendered(&one.body) == rendered(&last.body))
        };
        if !gone.contains(name.as_bytes()) && last.is_fragment() && all.iter().all(says_same) {
            found.push(Macro { leads: true, active: true, ..last });
        }
    }
    found
}

impl Macro {
    /// Whether it expands to nothing, or to pragmas that belong neither to OpenACC nor to OpenMP.
    fn is_nothing(&self) -> bool {
        self.body.chunks(4).all(|four| {
            let begin = |(token, text): (&Token, &[u8])| token.text.starts_with(text);
            let text = four.get(2).map(|token| String::from_utf8_lossy(&token.text).into_owned());
            let words = text.as_deref().unwrap_or_default().trim_start_matches('"').trim_start();
            let is_ours = ["acc", "omp"].iter().any(|word| words.starts_with(word));
            four.len() == 4 && four.iter().zip(OPERATOR).all(begin) && !is_ours
        })
    }

    /// Whether the body is not an expression.
    fn is_fragment(&self) -> bool {
        let has_pragma = || self.body.iter().any(|token| token.is(b"_Pragma"));
        let is_operator = |token: Option<&Token>| {
            token.is_some_and(|token| matches!(token.text.as_slice(), [byte] if OPERATORS.contains(byte)))
        };
        let count = |text: &[u8]| self.body.iter().filter(|token| token.is(text)).count();
        let pairs: [[&[u8]; 2]; 3] = [[b"(", b")"], [b"[", b"]"], [b"{", b"}"]];
        let begins = || self.body.first().is_some_and(|first| STATEMENTS.contains(&first.text.as_slice()));
        self.is_nothing()
            || !has_pragma()
                && (is_operator(self.body.first())
                    || is_operator(self.body.last())
                    || pairs.iter().any(|[open, close]| count(open) != count(close))
                    || count(b";") > 0
                    || begins())
    }
}

impl Macros {
    /// What the macro that token `at` uses becomes, and the index after the use.
    fn written(&self, tokens: &[Token], at: usize) -> Option<(Vec<u8>, usize)> {
        let token = tokens.get(at).filter(|token| token.is_word())?;
        let (choice, mut calls) = (Choice::default(), Vec::new());
        let of = self.meant(&token.text, token.span().start, &choice)?;
        let close = match self.list[of].params {
            None => at,
            Some(_) => arguments(tokens, at + 1)?.1,
        };
        if self.list[of].is_nothing() {
            return Some((Vec::new(), close + 1));
        }
        let mut writing = Writing {
            macros: self,
            choice: &choice,
            place: token.span().start,
            used: 0,
            calls: &mut calls,
            open: Vec::new(),
            of: None,
            exact: false,
            budget: LIMIT,
        };
        let mut out = Vec::new();
        writing.expand(tokens.get(at..=close)?, false, &mut out)?;
        Some((rendered(&out), close + 1))
    }
}
