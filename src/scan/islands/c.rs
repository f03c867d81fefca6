//! The functions of C and C++.
//!
//! Invariant: what is not certain to be a function is not taken for one, and the names in it are read.

use crate::source::Span;

use super::found::{Found, Function, is_word, words};
use super::token::next;

/// Words before parentheses and braces that are not names of functions, and words that do not begin a function.
const NO_NAMES: [&[u8]; 8] = [b"if", b"for", b"while", b"switch", b"return", b"sizeof", b"do", b"else"];

/// Words that begin something in C++ other than a function as we take it.
const NO_FUNCTIONS: [&[u8]; 9] = [
    b"template",
    b"operator",
    b"typedef",
    b"using",
    b"requires",
    b"concept",
    b"decltype",
    b"auto",
    b"explicit",
];

/// Words of types, which name no variable.
const TYPES: [&[u8]; 10] =
    [b"void", b"int", b"char", b"double", b"float", b"long", b"short", b"unsigned", b"signed", b"const"];

/// Words that define types.
const CLASSES: [&[u8]; 4] = [b"struct", b"union", b"enum", b"class"];

/// Words between a function's parameters and its body.
const BEFORE_BODIES: [&[u8]; 4] = [b"const", b"noexcept", b"override", b"final"];

/// Words of statements: a bracket after one begins a lambda expression.
const BEFORE_LAMBDAS: [&[u8]; 9] =
    [b"return", b"auto", b"case", b"throw", b"else", b"do", b"co_return", b"co_yield", b"const"];

/// What stands at file scope, as far as it is read, or in a class.
#[derive(Default)]
struct Item<'t> {
    start: usize,
    /// The words and signs outside of braces.
    tokens: Vec<(usize, &'t [u8])>,
}

/// What stands at file scope; `None` if brackets do not match.
pub(super) fn find<'t>(text: &'t [u8], is_cpp: bool) -> Option<Found<'t>> {
    let mut all = Found::default();
    let mut item = Item::default();
    let mut at = 0;
    // The namespaces that are open.
    let mut open = 0_usize;
    while let Some((start, token)) = next(text, &mut at)? {
        if item.tokens.is_empty() {
            item.start = start;
        }
        match token {
            b";" => {
                item.end(start, &mut all);
                item = Item::default();
            }
            b"{" if is_cpp && item.is_namespace() => {
                open += 1;
                item = Item::default();
            }
            b"{" => {
                let body = skip_braces(text, &mut at, is_cpp)?;
                let whole = Span::new(item.start, at);
                let node = |names: Vec<&'t [u8]>, is_sure: bool| Function {
                    names,
                    whole,
                    is_kept: is_sure && body.is_kept,
                    stays: !is_sure,
                };
                match item.function(is_cpp) {
                    Some(names) => {
                        all.functions.push(node(names, true));
                        item = Item::default();
                    }
                    None if is_cpp && item.is_class() && body.has_parentheses => {
                        all.functions.push(node(item.tags().collect(), false));
                        item.tokens.push((start, b"{"));
                    }
                    None if is_cpp && item.has_parameters() => {
                        match item.called() {
                            Some(name) => all.functions.push(node(vec![name], false)),
                            None => all.read.push(whole),
                        }
                        item = Item::default();
                    }
                    None => {
                        all.read.push(Span::new(start, at));
                        item.tokens.push((start, b"{"));
                    }
                }
            }
            b"}" => {
                open = open.checked_sub(1)?;
                item = Item::default();
            }
            _ => item.tokens.push((start, token)),
        }
    }
    item.end(text.len(), &mut all);
    (open == 0).then_some(all)
}

/// What the functions of a header name, and what else of it each word of which may name a function.
pub(super) fn read_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let spans = match find(text, true) {
        Some(found) => found.read.into_iter().chain(found.functions.iter().map(|one| one.whole)).collect(),
        None => vec![Span::new(0, text.len())],
    };
    spans.into_iter().flat_map(|span| words(text.get(span.range()).unwrap_or_default()))
}

/// What stands between braces.
struct Body {
    /// It is kept whether or not it is reached: it defines types, or holds lambda expressions.
    is_kept: bool,
    /// There are parentheses.
    has_parentheses: bool,
}

/// Moves past the brace that closes an open one.
fn skip_braces(text: &[u8], at: &mut usize, is_cpp: bool) -> Option<Body> {
    let mut body = Body { is_kept: false, has_parentheses: false };
    let mut depth = 1;
    let mut last: [&[u8]; 2] = [b"", b""];
    while depth > 0 {
        let (_, token) = next(text, at)??;
        match token {
            b"{" => {
                body.is_kept |= last.iter().any(|word| CLASSES.contains(word));
                depth += 1;
            }
            b"}" => depth -= 1,
            b"(" => body.has_parentheses = true,
            // Others may declare the same variable of another file.
            b"typedef" | b"extern" => body.is_kept = true,
            b"using" | b"namespace" | b"class" | b"struct" | b"union" | b"enum" => body.is_kept |= is_cpp,
            b"[" => {
                let is_of_array = is_word(last[1]) && !BEFORE_LAMBDAS.contains(&last[1])
                    || matches!(last[1], b")" | b"]")
                    || last[1].first() == Some(&b'"');
                body.is_kept |= is_cpp && !is_of_array;
            }
            _ => {}
        }
        last = [last[1], token];
    }
    Some(body)
}

impl<'t> Item<'t> {
    fn token(&self, at: usize) -> &'t [u8] {
        self.tokens.get(at).map_or(b"", |(_, token)| token)
    }

    /// Whether a brace after it opens a namespace, or a block of declarations with C linkage.
    fn is_namespace(&self) -> bool {
        let is_plain = |at: usize| is_word(self.token(at)) || self.token(at) == b":";
        match self.token(0) {
            b"extern" => self.tokens.len() == 2 && self.token(1) == b"\"C\"",
            b"inline" => self.token(1) == b"namespace" && (2..self.tokens.len()).all(is_plain),
            b"namespace" => (1..self.tokens.len()).all(is_plain),
            _ => false,
        }
    }

    /// Whether a brace after it opens a class or an enumeration.
    fn is_class(&self) -> bool {
        let is_open = |token: &[u8]| matches!(token, b"(" | b"=");
        self.tokens.iter().any(|(_, token)| CLASSES.contains(token))
            && !self.tokens.iter().any(|(_, token)| is_open(token))
    }

    /// The names of the class.
    fn tags(&self) -> impl Iterator<Item = &'t [u8]> {
        let after = (1..self.tokens.len()).filter(|at| CLASSES.contains(&self.token(at - 1)));
        after.map(|at| self.token(at)).filter(|token| is_word(token))
    }

    /// The name before the list in parentheses.
    fn called(&self) -> Option<&'t [u8]> {
        let open = (1..self.tokens.len()).find(|at| self.token(*at) == b"(")?;
        let is_operator = self.tokens.iter().any(|(_, token)| *token == b"operator");
        Some(self.token(open - 1)).filter(|name| is_word(name) && !is_operator)
    }

    /// Whether it has a list in parentheses, and no initialiser: then a brace after it opens the body of a function.
    fn has_parameters(&self) -> bool {
        let mut depth = 0;
        let mut has_list = false;
        for (_, token) in &self.tokens {
            match *token {
                b"(" | b"<" => depth += 1,
                b")" | b">" => depth -= 1,
                b"=" if depth <= 0 => return false,
                _ => {}
            }
            has_list |= *token == b"(";
        }
        has_list
    }

    /// The names of the function whose head this is, if it surely is one: words, a name, and parentheses up to the end.
    fn function(&self, is_cpp: bool) -> Option<Vec<&'t [u8]>> {
        let count = if is_cpp { self.typed()? } else { self.led() };
        let name = self.token(count.checked_sub(1)?);
        let is_head = count > 1
            && is_word(name)
            && !name.starts_with(b"__")
            && self.tokens[..count].iter().all(|(_, token)| !NO_NAMES.contains(token))
            && self.token(count) == b"(";
        if !is_head {
            return None;
        }
        let mut names = vec![name];
        let mut depth = 0;
        for (at, (_, token)) in self.tokens.iter().enumerate().skip(count) {
            match *token {
                b"(" => depth += 1,
                b")" => depth -= 1,
                // A name alone between commas: perhaps a macro makes the function's name of it.
                word if depth == 1 && is_word(word) => {
                    let ends = |token: &[u8]| matches!(token, b"" | b"(" | b"," | b")");
                    let is_alone = ends(self.token(at - 1)) && ends(self.token(at + 1));
                    names.extend((is_alone && word != b"void").then_some(word));
                }
                _ => {}
            }
            if depth == 0 {
                let rest = &self.tokens[at + 1..];
                let is_end = rest.iter().all(|(_, token)| is_cpp && BEFORE_BODIES.contains(token));
                return is_end.then_some(names);
            }
        }
        None
    }

    /// How many tokens of C are the function's type and its name.
    fn led(&self) -> usize {
        self.tokens.iter().take_while(|(_, token)| is_word(token) || *token == b"*").count()
    }

    /// How many tokens of C++ are the function's type and its name, with the classes and namespaces before it.
    fn typed(&self) -> Option<usize> {
        let mut depth = 0_usize;
        let mut count = 0;
        while let Some((_, token)) = self.tokens.get(count) {
            match *token {
                b"<" => depth += 1,
                b">" => depth = depth.checked_sub(1)?,
                b"(" if depth == 0 => break,
                b"*" | b"&" | b":" => {}
                b"," => (depth > 0).then_some(())?,
                word if is_word(word) => (!NO_FUNCTIONS.contains(&word)).then_some(())?,
                number if number.first().is_some_and(u8::is_ascii_digit) => (depth > 0).then_some(())?,
                _ => return None,
            }
            count += 1;
        }
        // The name with what qualifies it: something must stand before it, or it is a constructor.
        let mut first = count.checked_sub(1)?;
        while first >= 3 && self.token(first - 1) == b":" {
            (self.token(first - 2) == b":" && is_word(self.token(first - 3))).then_some(())?;
            first -= 3;
        }
        let before = first.checked_sub(1).map(|at| self.token(at))?;
        (depth == 0 && (is_word(before) || matches!(before, b"*" | b"&" | b">"))).then_some(count)
    }

    /// Something other than a function ends here.
    fn end(&self, end: usize, all: &mut Found<'t>) {
        if let Some((start, _)) = self.tokens.iter().find(|(_, token)| *token == b"=") {
            all.read.push(Span::new(*start, end));
        }
        self.variables(&mut all.variables);
    }

    /// The names that may be those of variables that this declares.
    fn variables(&self, shared: &mut rustc_hash::FxHashSet<&'t [u8]>) {
        if matches!(self.token(0), b"typedef" | b"using") {
            return;
        }
        let open = (0..self.tokens.len()).find(|at| self.token(*at) == b"(");
        let is_prototype = open.is_some_and(|at| {
            at > 1
                && is_word(self.token(at - 1))
                && !matches!(self.token(at + 1), b"*" | b"(")
                && !self.token(at - 1).starts_with(b"__")
        });
        let mut depth = 0;
        for at in 0..self.tokens.len() {
            match self.token(at) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                word if is_word(word) && !(is_prototype && depth > 0) => {
                    let after = self.token(at + 1);
                    let is_tag = at > 0 && CLASSES.contains(&self.token(at - 1));
                    let is_named = matches!(after, b"" | b"=" | b"[" | b"," | b")" | b":")
                        || after == b"{" && !is_tag
                        || after.starts_with(b"__")
                        || after == b"(" && !is_prototype;
                    if is_named && !TYPES.contains(&word) {
                        shared.insert(word);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
