//! Writes out the macros that lead to a directive, as the preprocessor would, and keeps where each byte came from.
//!
//! Invariant: everything else is copied; every byte written knows its place in the source, or that it has none.

mod declarators;
mod fragments;
mod statements;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::source::{self, SourceFile, Span};

use super::DirectiveText;
use super::c::{self, Event, Line, is_word_start};
use super::preproc::{self, Shown, View, keyword};
use super::shadow;

pub use declarators::{declarators, declaring_macros};
pub use fragments::fragments;
pub use statements::{Statements, statements};

/// More tokens or deeper macros than this are not written out.
const LIMIT: usize = 20_000;
const DEPTH: usize = 64;

/// What a file defines and where it may use it.
#[derive(Debug)]
pub struct Macros {
    list: Vec<Macro>,
    by_name: HashMap<Vec<u8>, Vec<usize>>,
    /// The source without directives, comments and preprocessor lines, all branches of conditions shown.
    shadow: Vec<u8>,
    /// The directives that stand in code, and those in bodies.
    directives: Vec<DirectiveText>,
    /// Code has `_Pragma` with something else than a literal.
    has_operators: bool,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// Its line.
    pub span: Span,
    /// The directives that its body spells out.
    pub directives: Vec<Span>,
    /// It is a header's: its body cannot be changed.
    pub is_foreign: bool,
    /// It ends with an `#undef` in this file.
    pub is_undefined: bool,
    /// Where the first `#undef` after it stands that the default view shows.
    ends: Option<u32>,
    params: Option<Vec<Vec<u8>>>,
    variadic: bool,
    body: Vec<Token>,
    /// It stands in a branch that the default view takes.
    active: bool,
    /// Its body has a `_Pragma`, or names a macro that leads to one.
    leads: bool,
}

impl Macro {
    /// The words of its body.
    fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.body.iter().map(|token| token.text.as_slice())
    }

    /// Whether its body may put one of these names together.
    fn pastes(&self, names: &HashSet<Vec<u8>>) -> bool {
        let is_param = |token: &Token| self.params.iter().flatten().any(|param| token.is(param));
        self.body.windows(4).any(|four| {
            let [left, first, second, right] = four else { return false };
            let is_paste = first.is(b"#") && second.is(b"#") && !second.blank_before;
            let fits = |name: &Vec<u8>| {
                (is_param(left) || name.starts_with(&left.text))
                    && (is_param(right) || name.ends_with(&right.text))
            };
            is_paste && names.iter().any(fits)
        })
    }

    /// Whether its body has a directive, or names a macro that leads to one.
    pub fn leads_to_directives(&self) -> bool {
        self.leads
    }

    /// Whether it has a parameter of this name.
    pub fn has_param(&self, name: &[u8]) -> bool {
        self.params.iter().flatten().any(|param| param == name)
    }

    /// For a macro `ACC(x) NAME(acc x)`: the name.
    pub fn handed_on(&self) -> Option<&[u8]> {
        let [name, open, acc, words, close] = self.body.as_slice() else { return None };
        let [param] = self.params.as_deref()? else { return None };
        let fits = open.is(b"(") && acc.is(b"acc") && words.is(param) && close.is(b")");
        (fits && !self.variadic).then_some(&name.text)
    }

    /// Whether it is a macro `NAME(x) _Pragma(#x)`.
    fn is_operator(&self) -> bool {
        let Some([param]) = self.params.as_deref() else { return false };
        let words: [&[u8]; 5] = [b"_Pragma", b"(", b"#", param, b")"];
        !self.variadic
            && self.body.len() == words.len()
            && self.body.iter().zip(words).all(|(token, word)| token.is(word))
    }

    /// Whether the body is not an expression, but a section, the bounds of one, or several items of a list.
    fn is_part_of_list(&self) -> bool {
        let texts: Vec<&[u8]> = self.body.iter().map(|token| token.text.as_slice()).collect();
        let first = texts.first().copied().unwrap_or_default();
        let is = |at: usize, text: &[u8]| texts.get(at).is_some_and(|one| *one == text);
        let mut depth = 0usize;
        let mut is_list = first == b"[";
        for (at, text) in texts.iter().enumerate() {
            match *text {
                b"?" | b"::" => return false,
                b":" if is(at + 1, b":") || at > 0 && is(at - 1, b":") => return false,
                b"(" | b"{" => depth += 1,
                b")" | b"}" => depth = depth.saturating_sub(1),
                b"," | b":" if depth == 0 => is_list = true,
                _ => {}
            }
        }
        is_list
    }

    /// Whether it makes one word of its arguments, which may name a variable.
    fn makes_name(&self) -> bool {
        // `##` is two tokens.
        let fits = |(at, token): (usize, &Token)| if at % 3 == 0 { token.is_word() } else { token.is(b"#") };
        self.params.is_some() && self.body.len() % 3 == 1 && self.body.iter().enumerate().all(fits)
    }
}

#[derive(Clone, Debug)]
struct Token {
    text: Vec<u8>,
    blank_before: bool,
    parts: Vec<TokenPart>,
}

/// Bytes of a token, from one place.
#[derive(Clone, Debug)]
struct TokenPart {
    length: usize,
    from: Option<Span>,
    call: usize,
}

/// Which macros are to stay as they are, and which definition counts where there are several.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Macros whose uses are kept as they are.
    pub left: BTreeSet<usize>,
    /// Uses that are kept as they are, by their offsets.
    pub left_uses: BTreeSet<u32>,
    /// This one counts instead of the others of its name.
    pub instead: Option<usize>,
    /// All bodies go whose macro is written out at its uses: those of other definitions, too.
    pub for_good: bool,
}

/// A file with its macros written out.
#[derive(Debug, Default)]
pub struct Written {
    /// The text.
    pub text: Vec<u8>,
    /// Where its bytes come from: sorted, without gaps.
    pub pieces: Vec<Piece>,
    /// The uses, written out or kept.
    pub uses: Vec<Use>,
    /// Each time that a macro's body was put in.
    pub calls: Vec<Call>,
}

/// Some bytes of the text.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The bytes.
    pub at: Span,
    /// Where they stand in the source; of another length if only the ends correspond. `None`: nowhere.
    pub from: Option<Span>,
    /// The call in whose body they stand, as an index into `calls`.
    pub call: Option<usize>,
    /// The use that they were written for; `None` if they are copied.
    pub used: Option<usize>,
}

/// The use of a macro in the source.
#[derive(Clone, Debug)]
pub struct Use {
    /// Its bytes: the name, and the arguments.
    pub span: Span,
    /// The macro.
    pub of: usize,
    /// The choice keeps it as it is.
    pub left: bool,
    /// It is kept because its words are not known; nothing else reports that.
    pub is_unknown: bool,
    /// It stands for clauses of a directive: no part of its body can be changed.
    pub in_directive: bool,
}

/// A macro's body, put in for a use.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The macro.
    pub of: usize,
    /// For which use.
    pub used: usize,
    /// Where the name and the arguments stand in the source, and the call in whose body, if they stand in one.
    pub inside: Option<(Span, usize)>,
}

/// The macros of a header, which may lead to directives of the files that include it and are shown this much of it.
pub fn header_macros(file: &SourceFile, shown: &Shown) -> Vec<Macro> {
    if file.language.is_fortran() || memchr::memmem::find(&file.bytes, b"define").is_none() {
        return Vec::new();
    }
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let defines =
        lines.filter(|line| keyword(&file.bytes, line).0 == "define" && !shown.rules_out(line.span.start));
    let mut list: Vec<Macro> = defines.filter_map(|line| definition(file, line, shown)).collect();
    for one in &mut list {
        one.span = Span::at(0);
        one.is_foreign = true;
        one.body.iter_mut().flat_map(|token| &mut token.parts).for_each(|part| part.from = None);
    }
    list
}

/// Reads the macros of a file, with those of its headers before them; `None` if none of them has to do with directives.
/// In Fortran, none has: it knows no `_Pragma`.
pub fn macros(file: &SourceFile, headers: &[&[Macro]]) -> Option<Macros> {
    if file.language.is_fortran() {
        return None;
    }
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let defines: Vec<&Line> = lines.filter(|line| keyword(&file.bytes, line).0 == "define").collect();
    let foreign = headers.iter().copied().flatten();
    let mut list: Vec<Macro> = foreign.cloned().collect();
    list.extend(spelled(file, file.predefined.names().filter_map(|(_, line)| line)));
    list.extend(unseen(file, &defines, &list));
    if defines.is_empty() && list.is_empty() {
        return None;
    }
    let shown = preproc::shown(file, &events, &View::default());
    let defines = defines.into_iter().filter(|line| !shown.rules_out(line.span.start));
    list.extend(defines.filter_map(|line| definition(file, line, &shown)));
    find_undefined(file, &events, &shown, &mut list);
    find_leads(&mut list);
    let all = shadow::assemble(file, &events, &shown.of_all());
    let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (index, one) in list.iter_mut().enumerate() {
        by_name.entry(one.name.clone().into_bytes()).or_default().push(index);
        let inside = all.directives.iter().filter(|text| one.span.contains(text.span));
        one.directives = inside.map(|text| text.span).collect();
    }
    let has_operators = memchr::memmem::find(&all.shadow, b"_Pragma").is_some();
    let macros = Macros { list, by_name, shadow: all.shadow, directives: all.directives, has_operators };
    let concerns = |text: &DirectiveText| macros.has_clauses(file, text);
    (macros.leads() || macros.directives.iter().any(concerns)).then_some(macros)
}

/// Macros that are defined where we do not see it, in a file that includes this one or in a header that is not read: a name before
/// `(acc parallel …)` is a macro that makes its argument a directive, as such words have no other meaning.
fn unseen(file: &SourceFile, defines: &[&Line], seen: &[Macro]) -> Vec<Macro> {
    let mut names = shadow::wrappers(&file.bytes);
    names.retain(|name| !seen.iter().any(|one| one.name == *name));
    if names.is_empty() {
        return Vec::new();
    }
    let own = |line: &&Line| definition(file, line, &Shown::default()).map(|one| one.name);
    let own: Vec<String> = defines.iter().filter_map(own).collect();
    names.retain(|name| !own.contains(name));
    let lines: Vec<String> = names.iter().map(|name| format!("{name}(x) _Pragma(#x)")).collect();
    spelled(file, lines.iter().map(String::as_str))
}

/// The macros that these texts after `#define` spell, as far as they lead to directives.
fn spelled<'a>(file: &SourceFile, lines: impl Iterator<Item = &'a str>) -> Vec<Macro> {
    let text: String = lines.map(|line| format!("#define {line}\n")).collect();
    header_macros(&file.with(text.into_bytes()), &Shown::default())
}

fn definition(file: &SourceFile, line: &Line, shown: &Shown) -> Option<Macro> {
    let mut tokens = Vec::new();
    for piece in &line.pieces {
        let first = tokens.len();
        lex(&file.bytes, *piece, &mut tokens);
        if let Some(token) = tokens.get_mut(first).filter(|_| first > 0) {
            token.blank_before = true;
        }
    }
    let name = tokens.get(2)?;
    let mut body = 3;
    let mut params = None;
    let mut variadic = false;
    if tokens.get(3).is_some_and(|token| token.is(b"(") && !token.blank_before) {
        let close = tokens.iter().position(|token| token.is(b")"))?;
        let mut names = Vec::new();
        for token in tokens.get(4..close)?.iter().filter(|token| !token.is(b",")) {
            if token.is(b".") {
                variadic = true;
            } else {
                names.push(token.text.clone());
            }
        }
        if variadic && tokens.get(close.checked_sub(4)?).is_none_or(|token| token.is(b",") || token.is(b"("))
        {
            names.push(b"__VA_ARGS__".to_vec());
        }
        params = Some(names);
        body = close + 1;
    }
    Some(Macro {
        name: String::from_utf8_lossy(&name.text).into_owned(),
        span: line.whole,
        directives: Vec::new(),
        is_foreign: false,
        is_undefined: false,
        ends: None,
        params,
        variadic,
        body: tokens.split_off(body.min(tokens.len())),
        active: shown.shows(line.span.start),
        leads: false,
    })
}

fn find_undefined(file: &SourceFile, events: &[Event], shown: &Shown, list: &mut [Macro]) {
    let mut all: HashMap<String, Vec<u32>> = HashMap::new();
    for event in events {
        let Event::Line(line) = event else { continue };
        if let ("undef", name) = keyword(&file.bytes, line) {
            let name = String::from_utf8_lossy(&name).trim().to_owned();
            all.entry(name).or_default().push(line.span.start);
        }
    }
    for one in list {
        let after = all.get(&one.name).into_iter().flatten().filter(|at| one.span.start < **at);
        one.is_undefined = after.clone().next().is_some();
        one.ends = after.copied().find(|at| shown.shows(*at));
    }
}

fn find_leads(list: &mut [Macro]) {
    let mut names: HashSet<Vec<u8>> = HashSet::from([b"_Pragma".to_vec()]);
    loop {
        let before = names.len();
        for one in list.iter_mut().filter(|one| !one.leads) {
            one.leads = one.body.iter().any(|token| names.contains(&token.text));
            if one.leads {
                names.insert(one.name.clone().into_bytes());
            }
        }
        if names.len() == before {
            break;
        }
    }
    find_pasted(list, &names);
    // Where one macro opens a block after its directive, another one closes it.
    if list.iter().any(|one| one.leads && is_unbalanced(&one.body)) {
        list.iter_mut().for_each(|one| one.leads |= is_unbalanced(&one.body));
    }
}

/// Macros that lead to a directive by names which they put together: `ACC_##kind`.
fn find_pasted(list: &mut [Macro], names: &HashSet<Vec<u8>>) {
    if !list.iter().any(|one| one.leads) {
        return;
    }
    let mut pasting: HashSet<Vec<u8>> = HashSet::new();
    loop {
        let before = pasting.len();
        for one in list.iter_mut() {
            if one.pastes(names) || one.body.iter().any(|token| pasting.contains(&token.text)) {
                one.leads = true;
                pasting.insert(one.name.clone().into_bytes());
            }
        }
        if pasting.len() == before {
            break;
        }
    }
}

impl Token {
    fn is(&self, text: &[u8]) -> bool {
        self.text == text
    }

    fn is_word(&self) -> bool {
        self.text.first().is_some_and(|byte| is_word_start(*byte))
    }

    fn made(text: &[u8]) -> Token {
        let parts = vec![TokenPart { length: text.len(), from: None, call: 0 }];
        Token { text: text.to_vec(), blank_before: false, parts }
    }

    /// Where it and what follows up to `last` stand in the source, and in which call's body.
    fn inside(&self, last: &Token) -> Option<(Span, usize)> {
        let ([first], [last]) = (self.parts.as_slice(), last.parts.as_slice()) else { return None };
        let call = first.call.checked_sub(1).filter(|_| first.call == last.call)?;
        Some((first.from?.to(last.from?), call))
    }

    /// Where it stands in the source, if it does in one piece.
    fn span(&self) -> Span {
        self.parts.first().and_then(|part| part.from).unwrap_or(Span::at(0))
    }
}

/// The tokens of `span`; operators are taken byte by byte.
fn lex(bytes: &[u8], span: Span, tokens: &mut Vec<Token>) {
    let text = bytes.get(span.range()).unwrap_or_default();
    let (mut at, mut blank_before) = (0, false);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let inner = |byte: &&u8| is_word_start(**byte) || byte.is_ascii_digit();
        let length = match rest.first() {
            Some(byte) if byte.is_ascii_whitespace() => {
                blank_before = true;
                at += 1;
                continue;
            }
            Some(byte) if is_word_start(*byte) || byte.is_ascii_digit() => {
                rest.iter().take_while(inner).count()
            }
            Some(quote @ (b'"' | b'\'')) => source::literal_length(rest, *quote),
            _ => 1,
        };
        let start = span.start as usize + at;
        let from = Some(Span::new(start, start + length));
        let text = rest.get(..length).unwrap_or_default().to_vec();
        tokens.push(Token { text, blank_before, parts: vec![TokenPart { length, from, call: 0 }] });
        blank_before = false;
        at += length;
    }
}

/// The arguments between the parenthesis at `open` and the one that closes it, and the index of that one.
fn arguments(tokens: &[Token], open: usize) -> Option<(Vec<Vec<Token>>, usize)> {
    tokens.get(open).filter(|token| token.is(b"("))?;
    let mut all: Vec<Vec<Token>> = vec![Vec::new()];
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open).take(LIMIT) {
        match token.text.as_slice() {
            b"(" => depth += 1,
            b")" if depth == 1 => return Some((all, at)),
            b")" => depth -= 1,
            b"," if depth == 1 => {
                all.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if at > open {
            all.last_mut()?.push(token.clone());
        }
    }
    None
}

/// What writing out one use needs to know.
struct Writing<'a> {
    macros: &'a Macros,
    choice: &'a Choice,
    place: u32,
    used: usize,
    calls: &'a mut Vec<Call>,
    /// The macros being written out at the moment.
    open: Vec<usize>,
    /// The macro that is used: it is written out whether it leads to a directive by itself or not.
    of: Option<usize>,
    /// Arguments are written out before they are put in, as the preprocessor does.
    exact: bool,
    budget: usize,
}

impl Writing<'_> {
    /// Writes out the macros outside of parentheses: what an argument names is kept.
    fn expand_clauses(&mut self, tokens: &[Token], out: &mut Vec<Token>) -> Option<()> {
        let (mut at, mut depth) = (0, 0usize);
        while let Some(token) = tokens.get(at) {
            self.budget = self.budget.checked_sub(1)?;
            match token.text.as_slice() {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            match (depth == 0).then(|| self.body(tokens, at, true)).flatten() {
                Some((of, body, next)) => {
                    (self.open.len() < DEPTH).then_some(())?;
                    self.open.push(of);
                    self.expand_clauses(&body, out)?;
                    self.open.pop();
                    at = next;
                }
                None => {
                    out.push(token.clone());
                    at += 1;
                }
            }
        }
        Some(())
    }

    /// Writes out what `tokens` name: macros that lead to a directive, or all of them.
    fn expand(&mut self, tokens: &[Token], all: bool, out: &mut Vec<Token>) -> Option<()> {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            self.budget = self.budget.checked_sub(1)?;
            if token.is(b"_Pragma")
                && let Some((operand, close)) = arguments(tokens, at + 1)
            {
                out.extend(tokens.get(at..at + 2)?.iter().cloned());
                self.expand(&operand.join(&Token::made(b",")), true, out)?;
                out.push(tokens.get(close)?.clone());
                at = close + 1;
                continue;
            }
            match self.body(tokens, at, all) {
                Some((of, body, next)) => {
                    (self.open.len() < DEPTH).then_some(())?;
                    self.open.push(of);
                    self.expand(&body, all, out)?;
                    self.open.pop();
                    at = next;
                    // The resulting name may be that of a macro whose arguments follow.
                    let name =
                        out.pop_if(|name| self.is_called(name, all) && arguments(tokens, at).is_some());
                    if let (Some(name), Some((_, close))) = (name, arguments(tokens, at)) {
                        let mut call = vec![name];
                        call.extend(tokens.get(at..=close)?.iter().cloned());
                        self.expand(&call, all, out)?;
                        at = close + 1;
                    }
                }
                None => {
                    out.push(token.clone());
                    at += 1;
                }
            }
        }
        Some(())
    }

    /// The definition that a name means.
    fn meant(&self, name: &[u8]) -> Option<usize> {
        let says = || self.macros.meant_for_openacc(name, self.place);
        self.exact.then(says).flatten().or_else(|| self.macros.meant(name, self.place, self.choice))
    }

    /// Whether a token is the name of a macro with parameters that is to be written out, or the operator's.
    fn is_called(&self, name: &Token, all: bool) -> bool {
        let of = self.meant(&name.text);
        let one = of.filter(|of| !self.open.contains(of)).and_then(|of| self.macros.list.get(of));
        name.is(b"_Pragma") || one.is_some_and(|one| one.params.is_some() && (all || one.leads))
    }

    /// The words of a directive as a macro hands them on: those that stand for clauses are written out before that.
    fn handed(&mut self, words: &[Token]) -> Option<Vec<Token>> {
        let place = self.place;
        let (mut out, mut at) = (Vec::new(), 0);
        for (of, used) in self.macros.uses_in(words, &|_| place) {
            out.extend(words.get(at..used.start)?.iter().cloned());
            let uses = words.get(used.clone())?;
            let mut tokens = Vec::new();
            let mut writing =
                Writing { calls: &mut Vec::new(), open: self.open.clone(), of: Some(of), ..*self };
            writing.expand_clauses(uses, &mut tokens)?;
            let (first, last) = (uses.first()?, uses.last()?);
            let text = rendered(&tokens);
            let (begin, end) = (first.parts.first()?, last.parts.last()?);
            let from = begin.from.zip(end.from).filter(|_| begin.call == end.call);
            let from = from.map(|(begin, end)| begin.to(end));
            let parts = vec![TokenPart { length: text.len(), from, call: begin.call }];
            out.push(Token { text, blank_before: first.blank_before, parts });
            at = used.end;
        }
        out.extend(words.get(at..)?.iter().cloned());
        Some(out)
    }

    /// The body of the macro that token `at` uses, with its arguments, and the index after the use.
    fn body(&mut self, tokens: &[Token], at: usize, all: bool) -> Option<(usize, Vec<Token>, usize)> {
        let token = tokens.get(at).filter(|token| token.is_word())?;
        let of = self.meant(&token.text)?;
        let one = self.macros.list.get(of)?;
        if self.open.contains(&of)
            || !(all || one.leads || self.of == Some(of))
            || self.choice.left.contains(&of)
        {
            return None;
        }
        let (args, next) = match &one.params {
            None => (Vec::new(), at + 1),
            Some(_) => arguments(tokens, at + 1).map(|(args, close)| (args, close + 1))?,
        };
        let args = one.matched(args)?;
        let is_directive = |arg: &Vec<Token>| arg.first().is_some_and(|word| word.is(b"acc"));
        let hands_on = self.macros.hands_on(one, self.place, self.choice)
            || one.is_operator() && args.iter().all(is_directive);
        let args = match !all && hands_on {
            true => args.iter().map(|arg| self.handed(arg)).collect::<Option<_>>()?,
            false => args,
        };
        let call = self.calls.len() + 1;
        let inside = tokens.get(next - 1).and_then(|last| token.inside(last));
        self.calls.push(Call { of, used: self.used, inside });
        let mut whole = Vec::new();
        let to_expand = if self.exact { args.as_slice() } else { &[] };
        for arg in to_expand {
            let mut out = Vec::new();
            self.expand(arg, true, &mut out)?;
            whole.push(out);
        }
        let mut body = one.substituted(&args, if self.exact { &whole } else { &args }, call);
        if let Some(first) = body.first_mut() {
            first.blank_before |= token.blank_before;
        }
        Some((of, body, next))
    }
}

impl Macro {
    /// One list of tokens for each parameter.
    fn matched(&self, mut args: Vec<Vec<Token>>) -> Option<Vec<Vec<Token>>> {
        let wanted = self.params.as_ref().map_or(0, Vec::len);
        if self.variadic && args.len() + 1 == wanted {
            args.push(Vec::new());
        } else if self.variadic && args.len() >= wanted {
            // A list that cannot be read may have no parameter.
            let rest = args.split_off(wanted.checked_sub(1)?);
            args.push(rest.join(&Token::made(b",")));
        }
        if wanted == 0 && args.len() == 1 {
            args.clear();
        }
        (args.len() == wanted).then_some(args)
    }

    /// The body with arguments for parameters: `args` beside `#` and `##`, `whole` elsewhere.
    fn substituted(&self, args: &[Vec<Token>], whole: &[Vec<Token>], call: usize) -> Vec<Token> {
        let params = self.params.as_deref().unwrap_or_default();
        let given = |all: &[Vec<Token>], token: &Token| {
            all.get(params.iter().position(|param| token.is(param))?).cloned()
        };
        let is_paste = |at: usize| {
            let is_sign = |at: usize| self.body.get(at).is_some_and(|token| token.is(b"#"));
            is_sign(at) && is_sign(at + 1)
        };
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(token) = self.body.get(at) {
            let next = self.body.get(at + 1);
            at += 1;
            if is_paste(at - 1) {
                at += 1;
                let Some(right) = self.body.get(at) else { break };
                let is_rest = self.variadic && params.last().is_some_and(|param| right.is(param));
                paste(&mut out, right, given(args, right), is_rest);
                at += 1;
            } else if let Some(text) =
                next.filter(|_| token.is(b"#") && self.params.is_some()).and_then(|next| given(args, next))
            {
                out.push(Token { blank_before: token.blank_before, ..in_quotes(&text) });
                at += 1;
            } else if let Some(text) = given(if is_paste(at) { args } else { whole }, token) {
                let first = out.len();
                out.extend(text);
                if let Some(first) = out.get_mut(first) {
                    first.blank_before = token.blank_before;
                }
            } else {
                let mut token = token.clone();
                token.parts.iter_mut().for_each(|part| part.call = call);
                out.push(token);
            }
        }
        out
    }
}

/// Two tokens become one: the last one of `out`, and `right` or the first one of its argument. What a directive means does not
/// depend on where such a token comes from. After a comma, compilers take the rest of the arguments as it is, and without any,
/// they drop the comma.
fn paste(out: &mut Vec<Token>, right: &Token, arg: Option<Vec<Token>>, is_rest: bool) {
    let arg = arg.unwrap_or_else(|| vec![right.clone()]);
    let is_list = is_rest && out.last().is_some_and(|left| left.is(b","));
    match (arg.split_first(), out.last_mut()) {
        (None, Some(_)) if is_list => drop(out.pop()),
        (None, _) => {}
        (Some((first, rest)), Some(left)) if !is_list => {
            let text = [left.text.as_slice(), first.text.as_slice()].concat();
            *left = Token { blank_before: left.blank_before, ..Token::made(&text) };
            out.extend(rest.iter().cloned());
        }
        _ => out.extend(arg),
    }
}

/// `#x`
fn in_quotes(tokens: &[Token]) -> Token {
    let mut all = Token::made(b"\"");
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && token.blank_before {
            all.text.push(b' ');
            all.parts.push(TokenPart { length: 1, from: None, call: 0 });
        }
        let is_literal = token.text.starts_with(b"\"") || token.text.starts_with(b"'");
        if is_literal {
            let escape =
                |byte: &u8| if matches!(byte, b'"' | b'\\') { vec![b'\\', *byte] } else { vec![*byte] };
            let text: Vec<u8> = token.text.iter().flat_map(escape).collect();
            let call = token.parts.first().map_or(0, |part| part.call);
            let from = token.parts.first().and_then(|part| part.from);
            all.parts.push(TokenPart { length: text.len(), from, call });
            all.text.extend(text);
        } else {
            all.parts.extend(token.parts.iter().cloned());
            all.text.extend(&token.text);
        }
    }
    all.text.push(b'"');
    all.parts.push(TokenPart { length: 1, from: None, call: 0 });
    all
}

/// Whether a `_Pragma("acc …")` is among the tokens.
fn has_directive(tokens: &[Token]) -> bool {
    tokens.windows(3).any(|three| {
        let [word, open, text] = three else { return false };
        let inside = text.text.get(1..).unwrap_or_default().trim_ascii_start();
        let ends = inside.get(3).is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'"');
        word.is(b"_Pragma")
            && open.is(b"(")
            && text.text.starts_with(b"\"")
            && inside.starts_with(b"acc")
            && ends
    })
}

/// Whether there is nothing but `_Pragma(…)`.
fn only_operators(tokens: &[Token]) -> bool {
    tokens.chunks(4).all(|four| {
        four.len() == 4 && four.iter().zip(OPERATOR).all(|(token, text)| token.text.starts_with(text))
    })
}

/// What the tokens of an operator begin with.
const OPERATOR: [&[u8]; 4] = [b"_Pragma", b"(", b"\"", b")"];

/// Whether more braces open than close, or the other way round.
fn is_unbalanced(tokens: &[Token]) -> bool {
    let count = |brace: &[u8]| tokens.iter().filter(|token| token.is(brace)).count();
    count(b"{") != count(b"}")
}

/// A use that is to be written out: its bytes, and what they become.
struct Site {
    used: Use,
    index: usize,
    tokens: Vec<Token>,
}

impl Macros {
    /// The macro with this index.
    pub fn get(&self, of: usize) -> &Macro {
        &self.list[of]
    }

    /// The macros whose bodies spell out directives.
    pub fn with_directives(&self) -> impl Iterator<Item = usize> {
        (0..self.list.len()).filter(|of| !self.list[*of].directives.is_empty())
    }

    /// The definitions that lead to directives by other macros, where their names have others in this file.
    pub fn alternatives(&self) -> impl Iterator<Item = usize> {
        let is_one = |of: &usize| {
            let one = &self.list[*of];
            one.leads && one.directives.is_empty() && !one.is_foreign && self.of_same_name(*of).count() > 1
        };
        (0..self.list.len()).filter(is_one)
    }

    /// The definitions of this file that lead to directives and whose names stand in the body of this one, or in theirs.
    pub fn used_by(&self, of: usize) -> BTreeSet<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![of]);
        while let Some(of) = open.pop() {
            let names = self.list[of].body.iter().filter_map(|token| self.by_name.get(&token.text));
            let fresh = names.flatten().filter(|of| self.list[**of].leads && !self.list[**of].is_foreign);
            open.extend(fresh.filter(|of| found.insert(**of)));
        }
        found
    }

    /// Whether a macro has no other definition, here or in a header.
    pub fn has_one_definition(&self, of: usize) -> bool {
        self.by_name.get(self.list[of].name.as_bytes()).is_some_and(|all| all.len() == 1)
    }

    /// The definitions of this file that have the name of this one, and this one.
    pub fn of_same_name(&self, of: usize) -> impl Iterator<Item = usize> {
        let all = self.by_name.get(self.list[of].name.as_bytes());
        all.into_iter().flatten().copied().filter(|of| !self.list[*of].is_foreign)
    }

    /// The macro on whose line `span` lies.
    pub fn around(&self, span: Span) -> Option<usize> {
        self.list.iter().position(|one| one.span.contains(span))
    }

    /// Whether another definition of the same name has a `_Pragma` that is not OpenACC's.
    pub fn has_other_pragma(&self, of: usize) -> bool {
        let all = self.by_name.get(self.list[of].name.as_bytes());
        all.into_iter().flatten().any(|other| {
            let other = &self.list[*other];
            other.leads && other.directives.is_empty()
        })
    }

    /// Whether a macro that leads to no directive by itself, as it is a text or is handed the operator, is used elsewhere, too.
    pub fn has_other_uses(&self, of: usize, calls: &[Call]) -> bool {
        let one = &self.list[of];
        if one.leads {
            return false;
        }
        let mut tokens = Vec::new();
        lex(&self.shadow, Span::new(0, self.shadow.len()), &mut tokens);
        let names = |token: &&Token| token.is(one.name.as_bytes());
        let used = tokens.iter().filter(names).count();
        let called = calls.iter().filter(|call| call.of == of && call.inside.is_none()).count();
        let in_bodies = || self.list.iter().any(|other| !other.leads && other.body.iter().any(|t| names(&t)));
        used != called || in_bodies()
    }

    /// Whether `name` is that of a macro `NAME(x) _Pragma(#x)` and of no other.
    pub fn is_operator(&self, name: &[u8]) -> bool {
        matches!(self.by_name.get(name).map(Vec::as_slice), Some([of]) if self.list[*of].is_operator())
    }

    /// Whether `name` is a macro's.
    pub fn names(&self, name: &str) -> bool {
        self.by_name.contains_key(name.as_bytes())
    }

    /// Whether a directive names a macro outside of its arguments, or one that is more or less than an expression in them.
    fn has_clauses(&self, file: &SourceFile, text: &DirectiveText) -> bool {
        let mut tokens = Vec::new();
        text.words.iter().for_each(|words| lex(&file.bytes, *words, &mut tokens));
        let mut depth = 0usize;
        tokens.iter().any(|token| {
            match token.text.as_slice() {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let named = self.by_name.get(&token.text).filter(|_| token.is_word());
            named.is_some_and(|all| depth == 0 || all.iter().any(|of| self.is_part_of_list(*of, 0)))
        })
    }

    /// Whether a macro stands for a part of a list, by itself or by the one macro that it names.
    fn is_part_of_list(&self, of: usize, depth: usize) -> bool {
        let named = |token: &Token| self.by_name.get(&token.text).and_then(|all| all.first());
        let inner = match self.list[of].body.as_slice() {
            [only] => named(only),
            // A call and nothing else.
            body @ [first, ..] if arguments(body, 1).is_some_and(|(_, close)| close + 1 == body.len()) => {
                named(first).filter(|inner| self.list[**inner].params.is_some())
            }
            _ => None,
        };
        match inner.filter(|_| depth < DEPTH) {
            Some(inner) => self.is_part_of_list(*inner, depth + 1),
            None => self.list[of].is_part_of_list() || self.list[of].makes_name(),
        }
    }

    /// The definition that `name` means at `place`: the last one that is shown, or the last one. One that leads to directives
    /// goes before one that does not, in another branch of the preprocessor.
    fn meant(&self, name: &[u8], place: u32, choice: &Choice) -> Option<usize> {
        let all = self.by_name.get(name)?;
        if let Some(one) = choice.instead.filter(|one| all.contains(one)) {
            return Some(one);
        }
        let before = || all.iter().rev().copied().filter(|of| self.list[*of].span.start <= place);
        let shown = before().find(|of| self.list[*of].active);
        let is_plain = shown.is_some_and(|of| !self.list[of].leads);
        let is_foreign = shown.is_some_and(|of| self.list[of].is_foreign);
        // Of two headers, the preprocessor may choose either.
        let may_count = |of: &usize| {
            let one = &self.list[*of];
            is_plain && one.leads && (!one.active || is_foreign && one.is_foreign)
        };
        let says = before().filter(may_count).find(|of| self.says_openacc(*of));
        let leading = says.or_else(|| before().find(may_count));
        leading.or(shown).or_else(|| before().next())
    }

    /// Of several definitions that a name may have at `place`, in other branches, one that says something of OpenACC.
    fn meant_for_openacc(&self, name: &[u8], place: u32) -> Option<usize> {
        let all = self.by_name.get(name).filter(|all| all.len() > 1)?;
        if all.iter().any(|of| self.list[*of].leads) {
            return None;
        }
        let before = || all.iter().rev().copied().filter(|of| self.list[*of].span.start <= place);
        let shown = before().find(|of| self.list[*of].active);
        let mut may_count = before().filter(|of| Some(*of) == shown || self.may_be_instead(*of, shown));
        may_count.find(|of| self.says_openacc(*of))
    }

    /// Whether the preprocessor may choose one definition of a name and not the other: in another branch, or in another header.
    fn may_be_instead(&self, of: usize, other: Option<usize>) -> bool {
        let one = &self.list[of];
        other
            .map(|other| &self.list[other])
            .is_none_or(|other| !one.active || !other.active || one.is_foreign && other.is_foreign)
    }

    /// Whether another build gives the name of this definition something else to say.
    fn may_differ(&self, of: usize) -> bool {
        let one = &self.list[of];
        let is_same = |other: &Macro| one.params == other.params && one.words().eq(other.words());
        let all = self.by_name.get(one.name.as_bytes());
        all.into_iter()
            .flatten()
            .any(|other| self.may_be_instead(*other, Some(of)) && !is_same(&self.list[*other]))
    }

    /// The macros that stand for clauses of a directive, with the tokens of their uses.
    fn in_clauses(&self, file: &SourceFile, text: &DirectiveText) -> Vec<(usize, Vec<Token>)> {
        if text.in_macro.is_some() {
            return Vec::new();
        }
        let mut tokens = Vec::new();
        text.words.iter().for_each(|words| lex(&file.bytes, *words, &mut tokens));
        let found = self.uses_in(&tokens, &|token| token.span().start).into_iter();
        found.map(|(of, used)| (of, tokens.get(used).unwrap_or_default().to_vec())).collect()
    }

    /// The macros that stand for clauses among the words of a directive, each of which stands at a place of its own, with the
    /// indices of their uses.
    fn uses_in(&self, tokens: &[Token], place: &dyn Fn(&Token) -> u32) -> Vec<(usize, Range<usize>)> {
        let (mut depth, mut at) = (0usize, 0);
        let mut found = Vec::new();
        while let Some(token) = tokens.get(at) {
            match token.text.as_slice() {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                name if token.is_word() => {
                    let only = self.only(name, place(token));
                    if let Some(of) = only.filter(|of| depth == 0 || self.is_part_of_list(*of, 0)) {
                        let end = match self.list[of].params {
                            None => Some(at),
                            Some(_) => arguments(tokens, at + 1).map(|(_, close)| close),
                        };
                        if let Some(end) = end {
                            found.push((of, at..end + 1));
                            at = end;
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Whether all that a macro does is to hand words on to one that makes a directive of them.
    fn hands_on(&self, one: &Macro, place: u32, choice: &Choice) -> bool {
        let to = one.handed_on().and_then(|name| self.meant(name, place, choice));
        to.is_some_and(|to| self.list[to].is_operator())
    }

    /// The definitions with directives whose name is written out by another definition wherever it is used.
    pub fn others(&self, written: &Written) -> Vec<usize> {
        let called: BTreeSet<usize> = written.calls.iter().map(|call| call.of).collect();
        let is_gone = |name: &str| {
            let mut uses = written.uses.iter().filter(|used| self.list[used.of].name == name).peekable();
            uses.peek().is_some() && uses.all(|used| !used.left && !used.in_directive)
        };
        let all = self.list.iter().enumerate().filter(|(of, one)| {
            !called.contains(of) && !one.is_foreign && !one.directives.is_empty() && is_gone(&one.name)
        });
        all.map(|(of, _)| of).collect()
    }

    /// The definitions that say something of OpenACC in branches that are not shown, where uses of their names are written out
    /// by other definitions; each with the first such use.
    pub fn unlike(&self, written: &Written) -> Vec<(usize, Span)> {
        let mut called: BTreeMap<usize, Span> = BTreeMap::new();
        for call in &written.calls {
            called.entry(call.of).or_insert(written.uses[call.used].span);
        }
        let mut found = BTreeMap::new();
        for (of, used) in &called {
            let own = &self.list[*of];
            for other in self.by_name.get(own.name.as_bytes()).into_iter().flatten() {
                let one = &self.list[*other];
                let is_same = one.params == own.params && one.words().eq(own.words());
                if !is_same && !one.active && !called.contains_key(other) && self.says_openacc(*other) {
                    found.entry(*other).or_insert(*used);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Whether a body has the word `acc`, or that of a macro it names.
    fn says_openacc(&self, of: usize) -> bool {
        let (mut met, mut open) = (BTreeSet::from([of]), vec![of]);
        while let Some(of) = open.pop() {
            let mut words = self.list[of].words();
            if words.any(|word| word == b"acc" || word.starts_with(b"\"acc") || word.starts_with(b"\" acc")) {
                return true;
            }
            let named = self.list[of].words().filter_map(|word| self.by_name.get(word)).flatten();
            open.extend(named.filter(|of| met.insert(**of)));
        }
        false
    }

    /// The one definition that a name has at `place`, if it is shown.
    fn only(&self, name: &[u8], place: u32) -> Option<usize> {
        let counts = |of: &&usize| {
            let one = &self.list[**of];
            one.span.start < place && one.ends.is_none_or(|end| place < end)
        };
        let mut all = self.by_name.get(name)?.iter().filter(counts);
        all.next().filter(|of| all.next().is_none() && self.list[**of].active).copied()
    }

    fn sites(&self, file: &SourceFile, choice: &Choice, calls: &mut Vec<Call>) -> Vec<Site> {
        let mut sites = Vec::new();
        let mut tokens = Vec::new();
        if self.leads() {
            lex(&self.shadow, Span::new(0, self.shadow.len()), &mut tokens);
        }
        let mut at = 0;
        while at < tokens.len() {
            let used = self.used(&tokens, at, choice);
            at += 1;
            let Some((of, close)) = used else { continue };
            let after = arguments(&tokens, close + 1).map(|(_, close)| close);
            for end in std::iter::once(close).chain(after) {
                let Some(uses) = tokens.get(at - 1..=end) else { continue };
                if let Some(site) = self.site(of, uses, choice, calls, sites.len()) {
                    at += uses.len() - 1;
                    sites.push(site);
                    break;
                }
            }
        }
        for text in &self.directives {
            for (of, uses) in self.in_clauses(file, text) {
                sites.extend(self.clauses(of, &uses, sites.len()));
            }
        }
        sites.sort_by_key(|site| site.used.span.start);
        sites
    }

    /// Whether there may be uses of macros that lead to directives.
    fn leads(&self) -> bool {
        self.has_operators || self.list.iter().any(|one| one.leads)
    }

    /// The macro that may lead to a directive where token `at` stands, and the last token of its use.
    fn used(&self, tokens: &[Token], at: usize, choice: &Choice) -> Option<(usize, usize)> {
        let token = tokens.get(at).filter(|token| token.is_word())?;
        let place = token.span().start;
        let meant = |token: &Token| self.meant(&token.text, place, choice);
        if token.is(b"_Pragma") {
            // A macro for nothing may stand before the parenthesis.
            let nothing = tokens
                .get(at + 1)
                .and_then(meant)
                .filter(|of| self.list[*of].params.is_none() && self.list[*of].body.is_empty());
            if let Some(of) = nothing {
                return Some((of, arguments(tokens, at + 2)?.1));
            }
            let close = arguments(tokens, at + 1)?.1;
            let of = tokens.get(at + 2..close)?.iter().find_map(meant)?;
            return Some((of, close));
        }
        let of = meant(token)?;
        let close = self.list[of].params.as_ref().map(|_| arguments(tokens, at + 1).map(|(_, close)| close));
        let close = close.unwrap_or(Some(at))?;
        // A macro that is handed the operator, or the name of one that leads to it.
        let is_handed = |pair: &[Token]| {
            let [name, next] = pair else { return false };
            let leads = || meant(name).is_some_and(|of| self.list[of].leads);
            matches!(next.text.as_slice(), b"," | b")") && (name.is(b"_Pragma") || leads())
        };
        let inside = tokens.get(at + 2..=close).unwrap_or_default();
        (self.list[of].leads || inside.windows(2).any(is_handed)).then_some((of, close))
    }

    /// A use of a macro that leads to a directive.
    fn site(
        &self,
        of: usize,
        uses: &[Token],
        choice: &Choice,
        calls: &mut Vec<Call>,
        index: usize,
    ) -> Option<Site> {
        let (first, last) = (uses.first()?.span(), uses.last()?.span());
        let before = calls.len();
        let (mut done, mut written) = self.expanded(of, uses, choice, (calls, index), false);
        let has_none = |written: &[Token]| !has_directive(written) && !is_unbalanced(&self.list[of].body);
        let mut differs = false;
        if done && has_none(&written) {
            // What arguments name may be the words of a directive.
            calls.truncate(before);
            (done, written) = self.expanded(of, uses, choice, (calls, index), true);
            if has_none(&written) {
                calls.truncate(before);
                return None;
            }
            differs = calls.get(before..).unwrap_or_default().iter().any(|call| self.may_differ(call.of));
        }
        let needed =
            calls.get(before..).unwrap_or_default().iter().any(|call| choice.left.contains(&call.of));
        let left = !done || needed || differs || choice.left_uses.contains(&first.start);
        if left {
            calls.truncate(before);
            // A directive without a name: nothing around it may be translated.
            let expanded = std::mem::replace(&mut written, vec![Token::made(b"_Pragma(\"acc\")")]);
            if !only_operators(&expanded) && self.list[of].params.is_some() {
                written.extend(uses.iter().cloned());
            }
        }
        let is_unknown = differs || !done;
        let used = Use { span: first.to(last), of, left, is_unknown, in_directive: false };
        Some(Site { used, index, tokens: written })
    }

    /// What a use becomes, and whether that is all of it.
    fn expanded(
        &self,
        of: usize,
        uses: &[Token],
        choice: &Choice,
        (calls, index): (&mut Vec<Call>, usize),
        exact: bool,
    ) -> (bool, Vec<Token>) {
        let nothing_left = Choice { left: BTreeSet::new(), ..choice.clone() };
        let mut written = Vec::new();
        let mut writing = Writing {
            macros: self,
            choice: &nothing_left,
            place: uses.first().map_or(0, |first| first.span().start),
            used: index,
            calls,
            open: Vec::new(),
            of: Some(of),
            exact,
            budget: LIMIT,
        };
        let done = writing.expand(uses, exact, &mut written).is_some();
        (done, written)
    }

    /// A use of a macro that stands for clauses.
    fn clauses(&self, of: usize, uses: &[Token], index: usize) -> Option<Site> {
        let span = uses.first()?.span().to(uses.last()?.span());
        let mut tokens = Vec::new();
        let mut writing = Writing {
            macros: self,
            choice: &Choice::default(),
            place: span.start,
            used: index,
            calls: &mut Vec::new(),
            open: Vec::new(),
            of: None,
            exact: false,
            budget: LIMIT,
        };
        writing.expand_clauses(uses, &mut tokens)?;
        let text = rendered(&tokens);
        let parts = vec![TokenPart { length: text.len(), from: Some(span), call: 0 }];
        let used = Use { span, of, left: false, is_unknown: false, in_directive: true };
        Some(Site { used, index, tokens: vec![Token { text, blank_before: false, parts }] })
    }
}

fn needs_blank(before: &[u8], token: &Token) -> bool {
    let inner = |byte: &u8| is_word_start(*byte) || byte.is_ascii_digit();
    token.blank_before || (before.last().is_some_and(inner) && token.text.first().is_some_and(inner))
}

fn rendered(tokens: &[Token]) -> Vec<u8> {
    let mut text = Vec::new();
    for token in tokens {
        if !text.is_empty() && needs_blank(&text, token) {
            text.push(b' ');
        }
        text.extend(&token.text);
    }
    text
}

/// Writes out the macros of `file` that lead to directives.
pub fn written_out(file: &SourceFile, macros: &Macros, choice: &Choice) -> Written {
    let mut written = Written::default();
    let mut sites = macros.sites(file, choice, &mut written.calls);
    let mut order: Vec<Use> =
        vec![
            Use { span: Span::at(0), of: 0, left: false, is_unknown: false, in_directive: false };
            sites.len()
        ];
    sites.iter().for_each(|site| order[site.index] = site.used.clone());
    written.uses = order;
    // A body whose directives are written out at its uses shows none of them itself.
    let called: BTreeSet<usize> = written.calls.iter().map(|call| call.of).collect();
    let shown_elsewhere =
        called.into_iter().filter(|of| !macros.list[*of].directives.is_empty() && !choice.left.contains(of));
    let mut gaps: Vec<(Span, Option<Site>)> = shown_elsewhere
        .chain(if choice.for_good { macros.others(&written) } else { Vec::new() })
        .filter_map(|of| {
            let body = &macros.list[of].body;
            let body = body.first()?.span().to(body.last()?.span());
            let before = file.slice(Span { start: 0, end: body.start });
            let mut kept = before.trim_ascii_end();
            while let Some(line) = kept.strip_suffix(b"\\") {
                kept = line.trim_ascii_end();
            }
            let start = if choice.for_good { kept.len() as u32 } else { body.start };
            Some((Span { start, end: body.end }, None))
        })
        .collect();
    gaps.extend(sites.drain(..).map(|site| (site.used.span, Some(site))));
    gaps.sort_by_key(|(span, _)| span.start);
    let mut at = 0;
    for (span, site) in gaps {
        if span.start < at {
            continue;
        }
        copy(file, Span { start: at, end: span.start }, &mut written);
        if let Some(site) = site {
            put(&site, &mut written);
        }
        at = span.end;
    }
    copy(file, Span { start: at, end: file.bytes.len() as u32 }, &mut written);
    written
}

fn copy(file: &SourceFile, from: Span, written: &mut Written) {
    let start = written.text.len();
    written.text.extend(file.slice(from));
    push(written, start, Some(from), None, None);
}

fn push(written: &mut Written, start: usize, from: Option<Span>, call: Option<usize>, used: Option<usize>) {
    let at = Span::new(start, written.text.len());
    if !at.is_empty() {
        written.pieces.push(Piece { at, from, call, used });
    }
}

fn put(site: &Site, written: &mut Written) {
    let used = Some(site.index);
    for (index, token) in site.tokens.iter().enumerate() {
        let start = written.text.len();
        if index > 0 && needs_blank(&written.text, token) {
            written.text.push(b' ');
            push(written, start, None, None, used);
        }
        let mut text = token.text.as_slice();
        for part in &token.parts {
            let start = written.text.len();
            let (here, rest) = text.split_at(part.length.min(text.len()));
            written.text.extend(here);
            push(written, start, part.from, part.call.checked_sub(1), used);
            text = rest;
        }
    }
}
