//! A view of the preprocessor: which conditional branches are shown, given what is defined.
//!
//! Invariant: an unknown macro is undefined, as for the preprocessor; a condition that cannot be read is false.

use rustc_hash::FxHashMap;

use crate::budget;
use crate::source::{Language, Span};

use super::c::{Event, Line, is_word_start};

/// What is defined, and which place must be shown.
#[derive(Clone, Debug)]
pub struct View {
    /// Macros defined before the file begins, with their bodies.
    pub defines: Vec<(String, Option<String>)>,
    /// A byte that must be in a shown branch, whatever the conditions say.
    pub reach: Option<u32>,
}

impl Default for View {
    /// What an OpenACC compiler defines; those at hand all call themselves GNU's.
    fn default() -> View {
        let defines = [("_OPENACC", "201711"), ("__GNUC__", "12")];
        let defines = defines.map(|(name, body)| (name.to_owned(), Some(body.to_owned())));
        View { defines: defines.to_vec(), reach: None }
    }
}

impl View {
    /// What an OpenMP compiler defines of our output; guards that were left keep what they showed.
    pub fn of_output() -> View {
        let mut view = View::default();
        view.defines.push(("_OPENMP".to_owned(), Some("201511".to_owned())));
        view
    }

    /// The same for a file of that language.
    pub fn for_language(&self, language: Language) -> View {
        let mut view = self.clone();
        let standard = match language {
            Language::C => Some(("__STDC_VERSION__", "201710L")),
            Language::Cpp => Some(("__cplusplus", "201703")),
            _ => None,
        };
        let standard = standard.map(|(name, body)| (name.to_owned(), Some(body.to_owned())));
        view.defines.extend(standard);
        view
    }

    /// What is defined before a file begins.
    pub fn defined(&self) -> Defined {
        self.defines.iter().map(|(name, body)| (name.clone(), body.clone().unwrap_or_default())).collect()
    }

    /// The default view, but with every branch taken that holds the byte at `offset`.
    pub fn reaching(offset: u32) -> View {
        View { reach: Some(offset), ..View::default() }
    }
}

/// What a view shows of a file.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The byte ranges of branches not taken: sorted, disjoint.
    pub hidden: Vec<Span>,
    /// The macros that spell `restrict`.
    pub restricts: Vec<String>,
}

impl Shown {
    /// Whether the byte at `offset` is shown.
    pub fn shows(&self, offset: u32) -> bool {
        let next = self.hidden.partition_point(|span| span.end <= offset);
        self.hidden.get(next).is_none_or(|span| offset < span.start)
    }
}

/// The first word of a preprocessor line behind `#`, and its rest.
pub fn keyword(bytes: &[u8], line: &Line) -> (&'static str, Vec<u8>) {
    let joined = joined(bytes, line);
    let rest = joined.get(1..).unwrap_or_default();
    let lead = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let word_length =
        rest.iter().skip(lead).take_while(|byte| is_word_start(**byte) || byte.is_ascii_digit()).count();
    let word = rest.get(lead..lead + word_length).unwrap_or_default();
    let known = ["if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef", "include", "pragma"];
    let word = known.into_iter().find(|known| known.as_bytes() == word).unwrap_or("");
    (word, rest.get(lead + word_length..).unwrap_or_default().to_vec())
}

/// A logical line's bytes without comments, the pieces joined by a blank.
pub fn joined(bytes: &[u8], line: &Line) -> Vec<u8> {
    let pieces: Vec<&[u8]> =
        line.pieces.iter().map(|piece| bytes.get(piece.range()).unwrap_or_default()).collect();
    pieces.join(&b' ')
}

struct Group {
    /// The branch that the conditions show is over or not yet found.
    taken: bool,
    /// The current branch is shown.
    shown: bool,
    /// The branch that must be shown, by the offset of its head.
    forced: Option<u32>,
    /// Where the current branch begins.
    start: u32,
    /// The groups around it are shown.
    is_open: bool,
}

impl Group {
    fn is_shown(&self) -> bool {
        self.shown && self.is_open
    }
}

/// The macros that are defined at a place, with their bodies.
pub type Defined = FxHashMap<String, String>;

/// A preprocessor line that decides what is shown, or what a later line means; or an `include` line of Fortran.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its first word.
    pub word: &'static str,
    /// What is behind the word, joined.
    pub rest: Vec<u8>,
    /// Where it begins.
    pub start: u32,
    /// Where it ends, without the line end.
    pub end: u32,
}

/// Whether lines of the preprocessor may part a file: false only where none opens a condition.
pub fn may_have_conditions(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'#', bytes).any(|at| {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let lead = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        let rest = rest.get(lead..).unwrap_or_default();
        // Whatever else stands there is looked at in earnest.
        rest.starts_with(b"if") || !rest.first().is_some_and(u8::is_ascii_alphabetic)
    })
}

/// The steps of a file.
pub fn steps(bytes: &[u8], events: &[Event]) -> Vec<Step> {
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let step = |line: &Line| {
        let (word, rest) = keyword(bytes, line);
        Step { word, rest, start: line.span.start, end: line.whole.end }
    };
    lines.map(step).filter(|step| !step.word.is_empty() && step.word != "pragma").collect()
}

/// Evaluates the conditionals of a file.
pub fn shown(bytes: &[u8], events: &[Event], view: &View) -> Shown {
    let steps = steps(bytes, events);
    let forced = view.reach.map(|offset| heads_around(&steps, offset)).unwrap_or_default();
    let mut macros = view.defined();
    follow(&steps, &forced, &mut macros, &mut |_, _, _| ())
}

/// Follows the steps of a file, in which `macros` are defined at first. `met` is told of each inclusion, whether it is shown,
/// and what is defined there.
pub fn follow(
    steps: &[Step],
    forced: &[(u32, u32)],
    macros: &mut Defined,
    met: &mut dyn FnMut(&Step, bool, &mut Defined),
) -> Shown {
    let mut stack: Vec<Group> = Vec::new();
    let mut hidden: Vec<Span> = Vec::new();
    for step in steps {
        let Step { word, rest, start, end } = step;
        let active = stack.last().is_none_or(Group::is_shown);
        match *word {
            "if" | "ifdef" | "ifndef" => {
                // Those around a place are in its order.
                let at = forced.partition_point(|(opening, _)| opening < start);
                let group_forced =
                    forced.get(at).filter(|(opening, _)| opening == start).map(|(_, head)| *head);
                let condition = active && holds(word, rest, macros);
                let shown = group_forced.map_or(condition, |head| head == *start);
                let (taken, forced, start) = (shown, group_forced, *end);
                stack.push(Group { taken, shown, forced, start, is_open: active });
            }
            "elif" | "else" => {
                let Some(mut group) = stack.pop() else { continue };
                close(&mut hidden, &group, *start);
                let condition = *word == "else" || holds("if", rest, macros);
                let shown = match group.forced {
                    Some(head) => head == *start,
                    None => !group.taken && condition,
                };
                group.taken |= shown;
                group.shown = shown;
                group.start = *end;
                stack.push(group);
            }
            "endif" => {
                if let Some(group) = stack.pop() {
                    close(&mut hidden, &group, *start);
                }
            }
            "define" if active => {
                let (name, params, body) = definition(rest);
                if params.is_none() {
                    macros.insert(name, body);
                } else {
                    macros.insert(name, "0".to_owned());
                }
            }
            "undef" if active => {
                macros.remove(String::from_utf8_lossy(rest).trim());
            }
            "include" => met(step, active, macros),
            _ => {}
        }
    }
    hidden.sort();
    Shown { hidden, restricts: super::qualifier::spelled(macros) }
}

/// Ends a branch: its bytes are hidden if it was not shown and stands in a shown place.
fn close(hidden: &mut Vec<Span>, group: &Group, end: u32) {
    if !group.shown && group.is_open && group.start < end {
        hidden.push(Span { start: group.start, end });
    }
}

/// The conditional groups around `offset`: the offset of each one's `#if`, and of the head of the branch that holds it.
fn heads_around(steps: &[Step], offset: u32) -> Vec<(u32, u32)> {
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for step in steps.iter().take_while(|step| step.start < offset) {
        match step.word {
            "if" | "ifdef" | "ifndef" => stack.push((step.start, step.start)),
            "elif" | "else" => {
                if let Some(top) = stack.last_mut() {
                    top.1 = step.start;
                }
            }
            "endif" => {
                stack.pop();
            }
            _ => {}
        }
    }
    stack
}

/// A `#define`'s name, whether it has parameters, and its body.
pub fn definition(rest: &[u8]) -> (String, Option<Vec<String>>, String) {
    let text = String::from_utf8_lossy(rest);
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (params, body) = match rest.strip_prefix('(').map(|rest| rest.split_once(')').unwrap_or((rest, ""))) {
        Some((params, body)) => {
            (Some(params.split(',').map(|param| param.trim().to_owned()).collect()), body)
        }
        None => (None, rest),
    };
    (name.to_owned(), params, body.trim().to_owned())
}

/// Whether the condition of a line holds.
pub fn holds(word: &str, rest: &[u8], macros: &Defined) -> bool {
    if word == "else" {
        return true;
    }
    let text = String::from_utf8_lossy(rest);
    let name = text.trim();
    match word {
        "ifdef" => macros.contains_key(first_word(name)),
        "ifndef" => !macros.contains_key(first_word(name)),
        _ => evaluate(name, macros, 0).is_some_and(|value| value != 0),
    }
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("")
}

/// Deeper macro expansion or nesting than this is given up.
const DEPTH: usize = 64;

/// The value of an integer expression, as the preprocessor computes it: other names are 0.
pub fn constant(text: &str, macros: &Defined) -> Option<i64> {
    evaluate(text, macros, 0)
}

fn evaluate(text: &str, macros: &Defined, depth: usize) -> Option<i64> {
    Condition { tokens: Vec::new(), at: 0, macros, values: FxHashMap::default(), depth }.whole(text)
}

fn tokens(text: &str) -> Vec<String> {
    const PAIRS: [&str; 8] = ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>"];
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at).copied() {
        let pair: String = chars.iter().skip(at).take(2).collect();
        let length = if first.is_whitespace() {
            at += 1;
            continue;
        } else if first.is_alphanumeric() || first == '_' {
            chars.iter().skip(at).take_while(|c| c.is_alphanumeric() || **c == '_').count()
        } else if PAIRS.contains(&pair.as_str()) {
            2
        } else {
            1
        };
        tokens.push(chars.iter().skip(at).take(length).collect());
        at += length;
    }
    tokens
}

struct Condition<'a> {
    tokens: Vec<String>,
    at: usize,
    macros: &'a Defined,
    /// The values of the macros met so far: each is computed once, however often it is named.
    values: FxHashMap<String, Option<i64>>,
    depth: usize,
}

/// Binary operators from loosest to tightest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Condition<'_> {
    /// The value of a text, in the middle of another one or not.
    fn whole(&mut self, text: &str) -> Option<i64> {
        if self.depth > DEPTH {
            return None;
        }
        budget::spend(text.len() as u64 / 8);
        let around =
            (std::mem::replace(&mut self.tokens, tokens(text)), std::mem::take(&mut self.at), self.depth);
        let value = self.ternary().filter(|_| self.at == self.tokens.len());
        (self.tokens, self.at, self.depth) = around;
        value
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.eat("?") {
            let first = self.ternary()?;
            self.eat(":").then_some(())?;
            let second = self.ternary()?;
            if condition != 0 { first } else { second }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| **operator == self.peek()) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = if self.eat("!") {
            i64::from(self.unary()? == 0)
        } else if self.eat("-") {
            self.unary()?.wrapping_neg()
        } else if self.eat("+") {
            self.unary()?
        } else if self.eat("~") {
            !self.unary()?
        } else if self.eat("(") {
            let value = self.ternary()?;
            self.eat(")").then_some(value)?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn primary(&mut self) -> Option<i64> {
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        if token == "defined" {
            let parenthesised = self.eat("(");
            let name = self.tokens.get(self.at)?.clone();
            self.at += 1;
            let known = self.macros.contains_key(&name);
            return (!parenthesised || self.eat(")")).then_some(i64::from(known));
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return number(&token);
        }
        if !token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        if self.peek() == "(" {
            return None;
        }
        match self.macros.get(&token) {
            Some(body) if *body == token => Some(0),
            Some(body) => {
                if let Some(known) = self.values.get(&token) {
                    return *known;
                }
                self.depth += 1;
                let value = self.whole(body);
                self.depth -= 1;
                self.values.insert(token, value);
                value
            }
            None => Some(0),
        }
    }
}

fn number(token: &str) -> Option<i64> {
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => left.checked_shl(right.try_into().ok()?),
        ">>" => left.checked_shr(right.try_into().ok()?),
        "+" => Some(left.wrapping_add(right)),
        "-" => Some(left.wrapping_sub(right)),
        "*" => Some(left.wrapping_mul(right)),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}
