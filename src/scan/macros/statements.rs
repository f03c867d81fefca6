//! Macros that stand for statements: `COUNT` with `#define COUNT m++;`, and Fortran's `ADD(x)` with `#define ADD(v) m = m + (v)`.
//!
//! Invariant: a use stands for the definition that its preprocessor branch sees; each branch with definitions of its own has its
//! own set of uses.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::scan::{Define, View, c, forks, fortran, hidden_code, preproc, shadow};
use crate::source::{Form, Language, SourceFile, Span};

use super::fragments::{defined, in_lines};
use super::{Choice, LIMIT, Macro, Macros, Token, Writing, arguments, lex, needs_blank, rendered};

/// The last column that a word may reach in fixed form.
const LAST_COLUMN: usize = 70;

/// Words that begin a statement of C.
const C_WORDS: [&[u8]; 7] = [b"if", b"do", b"switch", b"break", b"continue", b"return", b"goto"];

/// Words that begin a statement of Fortran, and no expression.
const FORTRAN_WORDS: [&str; 5] = ["call", "if", "where", "forall", "do"];

/// Words that begin a declaration of Fortran.
const FORTRAN_TYPES: [&str; 8] =
    ["integer", "real", "logical", "complex", "double", "character", "type", "class"];

/// Uses of such macros.
#[derive(Debug)]
pub struct Statements {
    /// The branch that the default view hides and whose definitions count; `None` for those that the default view sees.
    pub branch: Option<Span>,
    /// The uses, and what replaces each.
    pub uses: Vec<(Span, Vec<u8>)>,
}

/// The uses of macros that stand for statements, for the default view and for each branch that defines them otherwise.
/// `defines` are those of headers and of options.
pub fn statements(file: &SourceFile, defines: &[&Define]) -> Vec<Statements> {
    let is_fortran = file.language.is_fortran();
    let own = memchr::memmem::find(&file.bytes, b"define").is_some();
    if !own && defines.is_empty() {
        return Vec::new();
    }
    let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
    let shown = preproc::shown(file, &events, &View::default());
    let (mut list, gone) = defined(file, &events, &shown, defines);
    list.retain(|one| !gone.contains(one.name.as_bytes()));
    find_leads(&mut list, is_fortran);
    if !list.iter().any(|one| one.leads) {
        return Vec::new();
    }
    let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (index, one) in list.iter().enumerate() {
        by_name.entry(one.name.clone().into_bytes()).or_default().push(index);
    }
    let all = if is_fortran { fortran::assemble } else { shadow::assemble };
    let shadow = all(file, &events, &shown.of_all()).shadow;
    let macros = Macros { list, by_name, shadow, directives: Vec::new(), has_operators: false };
    let found = Found { file, macros: &macros, events: &events, hidden: &shown.hidden };
    found.all()
}

/// Marks the macros that stand for statements, by name: those that are empty in another branch, too.
fn find_leads(list: &mut [Macro], is_fortran: bool) {
    let names = spread(list, |one, by_name| {
        let is_one = if is_fortran { one.is_fortran_statement() } else { one.is_c_statement() };
        (is_one || by_name && !one.is_text()) && !one.has_pragma()
    });
    let spoiled = spread(list, |one, by_name| by_name || one.has_pragma());
    for one in list {
        one.leads = names.contains(&one.name) && !spoiled.contains(&one.name);
    }
}

/// The names of the macros that `counts` accepts; its second argument says whether the macro's body has one of these names.
fn spread(list: &[Macro], counts: impl Fn(&Macro, bool) -> bool) -> HashSet<String> {
    let mut names: HashSet<String> = HashSet::new();
    loop {
        let before = names.len();
        for one in list {
            let by_name = one.words().any(|word| names.contains(String::from_utf8_lossy(word).as_ref()));
            if counts(one, by_name) {
                names.insert(one.name.clone());
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

impl Macro {
    /// Whether it may lead to a directive.
    fn has_pragma(&self) -> bool {
        self.body.iter().any(|token| ["_Pragma", "acc", "omp"].iter().any(|word| token.is(word.as_bytes())))
            || self.body.first().is_some_and(|token| token.is(b"!"))
    }

    fn is_text(&self) -> bool {
        matches!(self.body.as_slice(), [one] if one.text.starts_with(b"\""))
    }

    /// Whether it assigns outside of parentheses, or begins like a statement or, without parameters, like a declaration.
    fn is_fortran_statement(&self) -> bool {
        let first = self.body.first().map(|token| String::from_utf8_lossy(&token.text).to_ascii_lowercase());
        let begins = |first: &str| {
            FORTRAN_WORDS.contains(&first) || self.params.is_none() && FORTRAN_TYPES.contains(&first)
        };
        first.is_some_and(|first| begins(&first)) || self.assigns(true)
    }

    /// Whether its uses are a statement without a semicolon of their own, or it has no parameters and assigns.
    fn is_c_statement(&self) -> bool {
        let ends = self.body.last().is_some_and(|last| last.is(b";") || last.is(b"}"));
        let begins = || self.body.first().is_some_and(|first| C_WORDS.contains(&first.text.as_slice()));
        let steps = || {
            let is_step = |pair: &[Token]| {
                let [one, two] = pair else { return false };
                (one.is(b"+") && two.is(b"+") || one.is(b"-") && two.is(b"-")) && !two.blank_before
            };
            self.body.windows(2).any(is_step)
        };
        // A body that begins with a lone brace, or has one too many, opens a block that another macro closes.
        let count = |text: &[u8]| self.body.iter().filter(|token| token.is(text)).count();
        let is_whole = count(b"{") == count(b"}") && count(b"(") == count(b")");
        is_whole && (ends || self.params.is_none() && (begins() || steps() || self.assigns(false)))
    }

    /// Whether there is a `=` that assigns; outside of parentheses, if that is asked for.
    fn assigns(&self, outside: bool) -> bool {
        let (mut depth, mut before) = (0usize, &b""[..]);
        for (at, token) in self.body.iter().enumerate() {
            match token.text.as_slice() {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                b"=" if outside && depth > 0 || at == 0 => {}
                b"=" => {
                    let doubled = self.body.get(at + 1).is_some_and(|next| next.is(b"="));
                    let shifts = matches!(before, b"<" | b">")
                        && at.checked_sub(2).is_some_and(|two| self.body[two].text == before);
                    let compares = matches!(before, b"=" | b"!" | b"<" | b">") && !shifts;
                    if !(doubled || compares || before == b"/" && outside) {
                        return true;
                    }
                }
                _ => {}
            }
            before = token.text.as_slice();
        }
        false
    }
}

/// The uses in a file.
struct Found<'a> {
    file: &'a SourceFile,
    macros: &'a Macros,
    events: &'a [c::Event],
    hidden: &'a [Span],
}

impl Found<'_> {
    fn all(&self) -> Vec<Statements> {
        let mut tokens = Vec::new();
        lex(&self.macros.shadow, Span::new(0, self.macros.shadow.len()), &mut tokens);
        let mut found = vec![Statements { branch: None, uses: self.uses(&tokens, &BTreeMap::new()) }];
        if found[0].uses.is_empty() {
            return Vec::new();
        }
        for one in hidden_code(self.file, &forks(self.file), &View::default()) {
            let inside = self.macros.list.iter().enumerate().filter(|(_, define)| {
                define.leads && !define.span.is_empty() && one.branch.contains(define.span)
            });
            let instead: BTreeMap<&str, usize> =
                inside.map(|(of, define)| (define.name.as_str(), of)).collect();
            if instead.is_empty() {
                continue;
            }
            let uses = self.uses(&tokens, &instead);
            if uses != found[0].uses {
                found.push(Statements { branch: Some(one.branch), uses });
            }
        }
        found
    }

    /// The uses, where some definitions count instead of others.
    fn uses(&self, tokens: &[Token], instead: &BTreeMap<&str, usize>) -> Vec<(Span, Vec<u8>)> {
        let is_fortran = self.file.language.is_fortran();
        let mut views: HashMap<Span, preproc::Shown> = HashMap::new();
        let mut found = Vec::new();
        let (mut at, mut depth) = (0, 0usize);
        while let Some(token) = tokens.get(at) {
            match token.text.as_slice() {
                b"{" => depth += 1,
                b"}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_place = is_fortran || depth > 0;
            let used = Some(token).filter(|_| is_place && token.is_word());
            let used = used.and_then(|token| self.meant(token, instead, &mut views));
            let Some((span, out, next)) = used.and_then(|of| self.written(tokens, at, of)) else {
                at += 1;
                continue;
            };
            at = next;
            let text = if is_fortran {
                self.in_columns(span, &out)
            } else {
                in_lines(self.file, span, rendered(&out))
            };
            found.push((span, text));
        }
        found
    }

    /// The definition that a name has where it stands.
    fn meant(
        &self,
        token: &Token,
        instead: &BTreeMap<&str, usize>,
        views: &mut HashMap<Span, preproc::Shown>,
    ) -> Option<usize> {
        let place = token.span().start;
        let all = self.macros.by_name.get(&token.text)?;
        let list = &self.macros.list;
        all.first().filter(|of| list[**of].leads)?;
        let name = std::str::from_utf8(&token.text).ok()?;
        if let Some(of) = instead.get(name).filter(|of| list[**of].span.start <= place) {
            return Some(*of);
        }
        let before = || all.iter().rev().copied().filter(|of| list[*of].span.start <= place);
        let branch = self.hidden.get(self.hidden.partition_point(|span| span.end <= place));
        if let Some(branch) = branch.filter(|span| span.start <= place) {
            let shown = views.entry(*branch).or_insert_with(|| {
                preproc::shown(self.file, self.events, &View::reaching(self.file, branch.start))
            });
            let seen = before().find(|of| list[*of].span.is_empty() || shown.shows(list[*of].span.start));
            return seen.or_else(|| before().next());
        }
        before().find(|of| list[*of].active).or_else(|| before().next())
    }

    /// The bytes of a use, what becomes of it, and the index after it.
    fn written(&self, tokens: &[Token], at: usize, of: usize) -> Option<(Span, Vec<Token>, usize)> {
        let token = tokens.get(at)?;
        let one = &self.macros.list[of];
        let close = match one.params {
            None => at,
            Some(_) => arguments(tokens, at + 1)?.1,
        };
        let is_called = || tokens.get(close + 1).is_some_and(|next| next.is(b";"));
        if !self.file.language.is_fortran() && one.params.is_some() && is_called() {
            // The grammar reads a call, and what a called macro assigns is known.
            return None;
        }
        let span = token.span().to(tokens.get(close)?.span());
        let (choice, mut calls) = (Choice { instead: Some(of), ..Choice::default() }, Vec::new());
        let mut writing = Writing {
            macros: self.macros,
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
        Some((span, out, close + 1))
    }

    /// The words in place of a use in Fortran: in fixed form, they go on in further lines.
    fn in_columns(&self, span: Span, tokens: &[Token]) -> Vec<u8> {
        if self.file.language != Language::Fortran(Form::Fixed) {
            return rendered(tokens);
        }
        let lines = &self.file.lines;
        let line = lines.span(lines.line(span.start));
        let mut column = (span.start - line.start) as usize;
        let mut text = Vec::new();
        for token in tokens {
            if column + token.text.len() >= LAST_COLUMN {
                text.extend(b"\n     &");
                column = 6;
            }
            let blank = !text.is_empty() && needs_blank(&text, token);
            text.extend(blank.then_some(b' '));
            text.extend(&token.text);
            column += token.text.len() + usize::from(blank);
        }
        let line = lines.span(lines.line(span.end));
        let rest =
            &self.file.slice(line)[(span.end.saturating_sub(line.start) as usize).min(line.range().len())..];
        if column + rest.trim_ascii_end().len() >= LAST_COLUMN && !rest.trim_ascii().is_empty() {
            text.extend(b"\n     &");
        }
        text
    }
}
