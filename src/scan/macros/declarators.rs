//! Macros that declare something: `double ROW(x, n)` with `#define ROW(x, n) x[n]`, and those of whole declarations and of types.
//!
//! Invariant: a use is written out only if every definition of its macro says the same, and only where no expression can stand.

use std::collections::{HashMap, HashSet};

use crate::scan::{Shown, c, preproc, shadow};
use crate::source::{SourceFile, Span};

use super::{Macro, Token, arguments, definition, lex, rendered};

/// Macros in macros are followed no further than this.
const DEPTH: usize = 8;

/// Words that stand before an expression, or are part of one.
const OF_EXPRESSIONS: [&[u8]; 22] = [
    b"return",
    b"sizeof",
    b"else",
    b"case",
    b"goto",
    b"do",
    b"in",
    b"typeof",
    b"throw",
    b"new",
    b"delete",
    b"co_return",
    b"co_await",
    b"co_yield",
    b"and",
    b"or",
    b"not",
    b"operator",
    b"typename",
    b"if",
    b"while",
    b"for",
];

/// Words of types and of storage.
const OF_TYPES: [&[u8]; 22] = [
    b"void",
    b"char",
    b"short",
    b"int",
    b"long",
    b"float",
    b"double",
    b"signed",
    b"unsigned",
    b"bool",
    b"_Bool",
    b"const",
    b"volatile",
    b"static",
    b"extern",
    b"register",
    b"struct",
    b"union",
    b"enum",
    b"auto",
    b"class",
    b"size_t",
];

/// Words that may stand beside the `*` of a declarator.
const QUALIFIERS: [&[u8]; 7] =
    [b"const", b"volatile", b"restrict", b"__restrict", b"__restrict__", b"__const", b"__volatile__"];

/// The macros of a file, those of all branches; none if no one of them may declare something.
pub fn declaring_macros(file: &SourceFile) -> Vec<Macro> {
    if file.language.is_fortran() {
        return Vec::new();
    }
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        c::Event::Line(line) => Some(line),
        c::Event::Operator(_) | c::Event::Comment(_) | c::Event::Word(_) => None,
    });
    let mut found = Vec::new();
    let mut gone: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        match preproc::keyword(&file.bytes, line) {
            ("define", _) => found.extend(definition(file, line, &Shown::default())),
            ("undef", name) => gone.push(name.trim_ascii().to_vec()),
            ("pragma", rest) => gone.extend(pushed(&rest)),
            _ => {}
        }
    }
    found.iter_mut().for_each(|one| one.is_undefined = gone.iter().any(|name| one.name.as_bytes() == name));
    if found.iter().any(may_declare) { found } else { Vec::new() }
}

/// The macro that `push_macro("X")` names.
pub fn pushed(rest: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(rest);
    let inside = text.trim().strip_prefix("push_macro")?.split('"').nth(1)?;
    Some(inside.as_bytes().to_vec())
}

/// Whether the body of a macro begins like a declaration or a declarator.
fn may_declare(one: &Macro) -> bool {
    let Some(first) = one.body.first() else { return false };
    let is_qualified = one.body.iter().any(|token| QUALIFIERS.contains(&token.text.as_slice()));
    (first.is_word() || first.is(b"*") || first.is(b"(") && one.params.is_some())
        && (one.params.is_some() || is_qualified || one.body.len() > 1)
}

/// The uses of macros that declare something, and what replaces each. `types` are names of types.
pub fn declarators(file: &SourceFile, headers: &[&[Macro]], types: HashSet<&str>) -> Vec<(Span, Vec<u8>)> {
    let own = declaring_macros(file);
    let all = || headers.iter().copied().flatten().map(|one| (one, false));
    let mut known = Known::of(all().chain(own.iter().map(|one| (one, true))));
    if known.by_name.is_empty() {
        return Vec::new();
    }
    let code = shadow::assemble(file, &c::events(&file.bytes), &Shown::default()).shadow;
    let mut tokens = Vec::new();
    lex(&code, Span::new(0, code.len()), &mut tokens);
    known.types = types.into_iter().map(|name| name.as_bytes().to_vec()).chain(types_of(&tokens)).collect();
    let mut found: Vec<(Span, Vec<u8>)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = match known.use_at(&tokens, at) {
            Some((text, next)) => {
                let span = tokens[at].span().to(tokens[next - 1].span());
                let lines = file.slice(span).iter().filter(|byte| **byte == b'\n').count();
                let text = [text, vec![b'\n'; lines]].concat();
                found.push((span, text));
                next
            }
            None => at + 1,
        };
    }
    found
}

/// The names of types that a file declares: after `typedef`, and tags.
fn types_of(tokens: &[Token]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    // How many braces are open after a `typedef`.
    let mut typedef: Option<usize> = None;
    for two in tokens.windows(2) {
        let [first, second] = two else { continue };
        let is_tag = [b"struct".as_slice(), b"union", b"enum", b"class"].contains(&first.text.as_slice());
        if is_tag && second.is_word() {
            found.push(second.text.clone());
        }
        typedef = match (first.text.as_slice(), typedef) {
            (b"typedef", _) => Some(0),
            (b"{", Some(depth)) => Some(depth + 1),
            (b"}", Some(depth)) => depth.checked_sub(1),
            (b";", Some(0)) => None,
            (_, open) => open,
        };
        if typedef == Some(0) && first.is_word() && (second.is(b";") || second.is(b",")) {
            found.push(first.text.clone());
        }
    }
    found
}

/// The macros with one meaning.
struct Known<'a> {
    by_name: HashMap<&'a [u8], (&'a Macro, bool)>,
    /// Names of types.
    types: HashSet<Vec<u8>>,
}

impl<'a> Known<'a> {
    /// Of definitions, each with whether it is the file's own.
    fn of(all: impl Iterator<Item = (&'a Macro, bool)>) -> Known<'a> {
        let mut by_name: HashMap<&[u8], Option<(&Macro, bool)>> = HashMap::new();
        for (one, is_own) in all {
            let same = |known: &Macro| {
                known.params == one.params
                    && known.body.len() == one.body.len()
                    && known.body.iter().zip(&one.body).all(|(a, b)| a.text == b.text)
            };
            by_name
                .entry(one.name.as_bytes())
                .and_modify(|known| *known = known.filter(|(known, _)| same(known)))
                .or_insert(Some((one, is_own)));
        }
        let kept = by_name.into_iter().filter_map(|(name, one)| Some((name, one?)));
        let by_name = kept.filter(|(_, (one, _))| !one.is_undefined).collect();
        Known { by_name, types: HashSet::new() }
    }

    /// What the macro that token `at` uses becomes, and the index after the use, if it declares something.
    fn use_at(&self, tokens: &[Token], at: usize) -> Option<(Vec<u8>, usize)> {
        let (one, _) = self.of_token(tokens, at)?;
        if let Some(name) = self.pasted(one, tokens, at) {
            return Some(name);
        }
        if !may_declare(one) {
            return None;
        }
        let before = &tokens[..at];
        let after_type = self.follows_type(before);
        if !after_type && !self.begins_declaration(before) {
            return None;
        }
        let (body, next) = self.expanded(tokens, at)?;
        let follows = |text: &[u8]| tokens.get(next).is_some_and(|token| token.is(text));
        let is_named = tokens.get(next).is_some_and(Token::is_word);
        let is_it = if after_type && one.params.is_none() && is_named {
            is_qualified_star(&body)
        } else if is_named {
            one.params.is_some() && is_type(&body)
        } else if after_type {
            !follows(b"(") && self.declarator(&body, 0, DEPTH).is_some()
        } else {
            one.params.is_some() && self.declaration(&body)
        };
        if !is_it {
            return None;
        }
        let written = self.opened(body);
        Some((rendered(&written), next))
    }

    /// The name that a macro pastes together, and the index after the use; the name appears nowhere else in the program.
    fn pasted(&self, one: &Macro, tokens: &[Token], at: usize) -> Option<(Vec<u8>, usize)> {
        let pastes = one.body.windows(2).any(|two| two[0].is(b"#") && two[1].is(b"#"));
        let (body, next) = self.expanded(tokens, at).filter(|_| pastes)?;
        let is_name =
            body.len() == 1 && body[0].is_word() && !self.by_name.contains_key(body[0].text.as_slice());
        is_name.then(|| (rendered(&body), next))
    }

    /// The macro that a token uses.
    fn of_token(&self, tokens: &[Token], at: usize) -> Option<(&'a Macro, bool)> {
        let token = tokens.get(at).filter(|token| token.is_word())?;
        let (one, is_own) = self.by_name.get(token.text.as_slice()).copied()?;
        // What comes from a macro's body has no place in this file.
        let is_before = !is_own || token.span().is_empty() || one.span.start <= token.span().start;
        is_before.then_some((one, is_own))
    }

    /// The body of the macro that a token uses, with its arguments, and the index after the use.
    fn expanded(&self, tokens: &[Token], at: usize) -> Option<(Vec<Token>, usize)> {
        let (one, _) = self.of_token(tokens, at)?;
        let (args, next) = match &one.params {
            None => (Vec::new(), at + 1),
            Some(_) => arguments(tokens, at + 1).map(|(args, close)| (args, close + 1))?,
        };
        let args = one.matched(args)?;
        let mut body = one.substituted(&args, &args, 0);
        // They stand in no file any more.
        body.iter_mut().flat_map(|token| &mut token.parts).for_each(|part| part.from = None);
        Some((body, next))
    }

    /// The text in which the macro that holds the declared name is written out: the first one, or the one after a type.
    fn opened(&self, mut tokens: Vec<Token>) -> Vec<Token> {
        for _ in 0..DEPTH {
            let is_use = |at: &usize| {
                let is_call =
                    |at: usize| self.of_token(&tokens, at).is_some_and(|(one, _)| one.params.is_some());
                let is_after_type = *at == 0
                    || tokens[*at - 1].is(b"*")
                    || tokens[*at - 1].is(b"(")
                    || tokens[*at - 1].is_word() && !is_call(*at - 1);
                let in_brackets = depth(&tokens[..*at]) > 0;
                let macro_here = self.of_token(&tokens, *at).filter(|(one, _)| one.params.is_some());
                is_after_type && !in_brackets && macro_here.is_some()
            };
            let Some(at) = (0..tokens.len().min(64)).find(is_use) else { break };
            let Some((body, next)) = self.expanded(&tokens, at) else { break };
            tokens.splice(at..next, body);
        }
        tokens
    }

    /// The index after a declarator that begins at `at`.
    fn declarator(&self, tokens: &[Token], at: usize, depth: usize) -> Option<usize> {
        let mut at = at;
        while tokens.get(at).is_some_and(|token| {
            token.is(b"*") || token.is(b"&") || QUALIFIERS.contains(&token.text.as_slice())
        }) {
            at += 1;
        }
        let first = tokens.get(at)?;
        let mut end = if first.is(b"(") {
            let close = self.declarator(tokens, at + 1, depth.checked_sub(1)?)?;
            tokens.get(close).filter(|token| token.is(b")"))?;
            close + 1
        } else if let Some((body, next)) = self.expanded(tokens, at).filter(|_| depth > 0) {
            self.declarator(&body, 0, depth - 1).filter(|end| *end == body.len())?;
            next
        } else {
            let is_name = first.is_word() && !is_among(first, &OF_EXPRESSIONS) && !is_among(first, &OF_TYPES);
            is_name.then_some(at + 1)?
        };
        while tokens.get(end).is_some_and(|token| token.is(b"[")) {
            end = closing(tokens, end)? + 1;
        }
        let ends = tokens.get(end).is_none_or(|token| b"=,;)".contains(&token.text[0]));
        ends.then_some(end)
    }

    /// Whether tokens begin with a type and a declarator.
    fn declaration(&self, tokens: &[Token]) -> bool {
        let words = tokens.iter().take_while(|token| token.is_word()).count();
        let is_type = |first: &Token| is_among(first, &OF_TYPES) || self.types.contains(&first.text);
        let is_known = tokens.first().is_some_and(is_type);
        // The last word is the name, unless a star or a macro stands before that.
        let from = (1..=words).rev().find(|at| self.declarator(tokens, *at, DEPTH).is_some());
        let first_says = tokens.first().is_some_and(|first| !is_among(first, &OF_EXPRESSIONS));
        let from_star = from.is_some_and(|at| tokens.get(at).is_some_and(|token| !token.is_word()));
        first_says && from.is_some() && (is_known || !from_star)
    }

    /// Whether what stands before is a type, or a type, declarators and a comma.
    fn follows_type(&self, before: &[Token]) -> bool {
        let Some(last) = before.last() else { return false };
        if last.is_word() {
            return !is_among(last, &OF_EXPRESSIONS) && self.is_type_word(before, before.len() - 1);
        }
        if last.is(b",") {
            return self.is_list_of_declarators(before);
        }
        let stars = before.iter().rev().take_while(|token| {
            token.is(b"*") || token.is(b"&") || QUALIFIERS.contains(&token.text.as_slice())
        });
        let Some(at) = before.len().checked_sub(stars.count() + 1) else { return false };
        (last.is(b"*") || last.is(b"&")) && before[at].is_word() && {
            let lead = at.checked_sub(1).map(|lead| &before[lead]);
            let word = before[at].text.as_slice();
            is_among(&before[at], &OF_TYPES)
                || word.ends_with(b"_t")
                || self.types.contains(word)
                || lead.is_some_and(|lead| is_among(lead, &OF_TYPES))
                || self.by_name.contains_key(word) && self.is_type_word(before, at)
        }
    }

    /// Whether a word may be a type: it is not a macro that stands for something else.
    fn is_type_word(&self, tokens: &[Token], at: usize) -> bool {
        let Some((one, _)) = self.of_token(tokens, at) else { return true };
        one.params.is_none() && is_type(&one.body)
    }

    /// Whether `,` separates declarators: the statement begins with a type, and no parenthesis is open.
    fn is_list_of_declarators(&self, before: &[Token]) -> bool {
        let mut depth = 0usize;
        let mut start = before.len();
        for (at, token) in before.iter().enumerate().rev().take(400) {
            match token.text.first() {
                Some(b')' | b']') => depth += 1,
                Some(b'(' | b'[') if depth == 0 => return false,
                Some(b'(' | b'[') => depth -= 1,
                Some(b';' | b'{' | b'}') if depth == 0 => break,
                _ => {}
            }
            start = at;
        }
        match &before[start..] {
            [first, second, ..] => {
                let is_pair = first.is_word() && second.is_word() && !is_among(first, &OF_EXPRESSIONS);
                is_among(first, &OF_TYPES) || is_pair
            }
            _ => false,
        }
    }

    /// Whether a declaration can begin here.
    fn begins_declaration(&self, before: &[Token]) -> bool {
        before.last().is_none_or(|last| b"(,;{}".contains(&last.text[0]))
    }
}

fn is_among(token: &Token, words: &[&[u8]]) -> bool {
    words.contains(&token.text.as_slice())
}

/// Whether tokens are a type: words and stars, of which at least one shows that it is a type.
fn is_type(tokens: &[Token]) -> bool {
    let all =
        tokens.iter().all(|token| token.is_word() && !is_among(token, &OF_EXPRESSIONS) || token.is(b"*"));
    let says = |token: &Token| is_among(token, &OF_TYPES) || token.is(b"*");
    let is_word = tokens.len() == 1 && tokens[0].is_word();
    all && tokens.first().is_some_and(Token::is_word) && (tokens.iter().any(says) || is_word)
}

/// Whether tokens are a `*` with qualifiers.
fn is_qualified_star(tokens: &[Token]) -> bool {
    let is_part = |token: &Token| token.is(b"*") || QUALIFIERS.contains(&token.text.as_slice());
    tokens.first().is_some_and(|first| first.is(b"*")) && tokens.len() > 1 && tokens.iter().all(is_part)
}

/// How many brackets are open after these tokens.
fn depth(tokens: &[Token]) -> usize {
    tokens.iter().fold(0usize, |depth, token| match token.text.first() {
        Some(b'[') => depth + 1,
        Some(b']') => depth.saturating_sub(1),
        _ => depth,
    })
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.first() {
            Some(b'[' | b'(' | b'{') => depth += 1,
            Some(b']' | b')' | b'}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests;
