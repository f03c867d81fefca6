//! Puts the events of a file together: its directives, and the shadow text that the host grammar parses.
//!
//! Invariant: the shadow has the source's length, and its newlines stand where the source's stand.

use crate::source::{Language, SourceFile, Span, byte_order_mark};

use super::c::{Event, Line, Operator};
use super::defined::definition;
use super::noise::{asks_for_type, is_noise, is_readable, takes_argument};
use super::preproc::{self, Shown, joined, keyword};
use super::qualifier;
use super::{AccName, Define, DirectiveText, Form, Guard, Include, Scan};

/// What an `#include` line names.
pub fn include_of(file: &SourceFile, line: &Line) -> Option<Include> {
    let (word, rest) = keyword(&file.bytes, line);
    let (path, quoted) = included(&rest)?;
    let path = path.to_owned();
    (word == "include").then_some(Include { span: line.whole, path, quoted, active: true })
}

/// The path after the word `include`, and whether it stands between quotes.
pub fn included(rest: &[u8]) -> Option<(&str, bool)> {
    let text = std::str::from_utf8(rest.trim_ascii()).ok()?;
    let close = match text.chars().next() {
        Some('"') => '"',
        Some('<') => '>',
        _ => return None,
    };
    Some((text.get(1..)?.split(close).next()?, close == '"'))
}

/// Makes the scan of a file from its events.
pub fn assemble(file: &SourceFile, events: &[Event], shown: &Shown) -> Scan {
    let mut scan = Scan {
        directives: Vec::new(),
        includes: Vec::new(),
        defines: Vec::new(),
        shadow: file.bytes.clone(),
        names: Vec::new(),
        guards: Vec::new(),
        conditionals: Vec::new(),
        restricts: shown.restricts.clone(),
        hidden: shown.hidden.clone(),
        ruled_out: Vec::new(),
        index: Default::default(),
    };
    for event in events {
        match event {
            Event::Comment(span) => blank(&mut scan.shadow, *span),
            Event::Operator(operator) => {
                blank(&mut scan.shadow, operator.span);
                add_operator(file, operator, None, shown, &mut scan);
            }
            Event::Word(span) => word(file, *span, shown, &mut scan),
            Event::Line(line) => {
                blank(&mut scan.shadow, line.whole);
                self::line(file, line, shown, &mut scan);
            }
        }
    }
    blank(&mut scan.shadow, Span::new(0, byte_order_mark(&file.bytes)));
    for span in &shown.hidden {
        blank(&mut scan.shadow, *span);
    }
    qualifier::hide(&mut scan.shadow, &scan.restricts);
    scan.rule_out(shown);
    find_next_code(&mut scan);
    scan
}

/// Overwrites bytes of a shadow by blanks. Each byte is written, line ends too, and so many in a row that the compiler makes vector
/// instructions of it, even where it is to make little code.
pub fn blank(shadow: &mut [u8], span: Span) {
    let (lanes, rest) = shadow.get_mut(span.range()).unwrap_or_default().as_chunks_mut::<32>();
    let blank = |byte: &mut u8| *byte = if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' };
    lanes.iter_mut().for_each(|lane| lane.iter_mut().for_each(blank));
    rest.iter_mut().for_each(blank);
}

fn line(file: &SourceFile, line: &Line, shown: &Shown, scan: &mut Scan) {
    let active = shown.shows(line.span.start);
    let (keyword, rest) = keyword(&file.bytes, line);
    match keyword {
        "pragma" => {
            if let Some(words) = openacc_words(file, line) {
                scan.directives.push(DirectiveText {
                    span: line.span,
                    form: Form::Pragma,
                    words,
                    comments: line.comments.clone(),
                    in_macro: None,
                    active,
                    next_code: 0,
                });
            }
        }
        "include" => {
            scan.includes.extend(include_of(file, line).map(|include| Include { active, ..include }));
        }
        "define" => {
            let (name, params, body) = definition(&rest);
            let known = scan.directives.len();
            for operator in &line.operators {
                add_operator(file, operator, Some(&name), shown, scan);
            }
            let words = line.pieces.iter().flat_map(|piece| words_of(&file.bytes, *piece));
            for span in words.filter(|span| file.slice(*span) == b"acc") {
                let directive = macro_argument(file, span, shown);
                scan.directives
                    .extend(directive.map(|text| DirectiveText { in_macro: Some(name.clone()), ..text }));
            }
            scan.directives[known..].sort_by_key(|text| text.span.start);
            let words = line.pieces.iter().flat_map(|piece| words_of(&file.bytes, *piece));
            let names = words.filter(|span| is_name_of_openacc(file.slice(*span)));
            scan.names.extend(names.map(|span| AccName {
                name: file.text(span).into_owned(),
                span,
                active,
                in_macro: true,
            }));
            if active {
                scan.defines.push(Define { name, params, body, span: line.whole });
            }
        }
        "if" | "ifdef" | "ifndef" | "elif" => {
            scan.guards.extend(guard(file, line));
        }
        _ => {}
    }
}

/// The pieces of a pragma line after `acc`; `None` if it is not an OpenACC directive.
fn openacc_words(file: &SourceFile, line: &Line) -> Option<Vec<Span>> {
    words_after(file, line, b"acc")
}

/// The pieces of a pragma line after the name that it begins with; `None` if it begins with another one.
pub fn words_after(file: &SourceFile, line: &Line, name: &[u8]) -> Option<Vec<Span>> {
    let sign: &[u8] = if file.slice(line.span).starts_with(b"#") { b"#" } else { b"%:" };
    let mut wanted: &[&[u8]] = &[sign, b"pragma", name];
    let mut pieces = line.pieces.iter().copied();
    let mut piece = pieces.next()?;
    while let [word, more @ ..] = wanted {
        let text = file.slice(piece);
        let lead = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if lead == text.len() {
            piece = pieces.next()?;
            continue;
        }
        let rest = text.get(lead..).unwrap_or_default();
        if rest.len() < word.len() && word.starts_with(rest) {
            // The line ends within the word.
            let next = pieces.next().filter(|next| preproc::goes_on(&file.bytes, piece, *next))?;
            let after = file.slice(next).strip_prefix(&word[rest.len()..])?;
            piece = Span { start: next.end - after.len() as u32, end: next.end };
            wanted = more;
            continue;
        }
        let ends =
            rest.get(word.len()).is_none_or(|byte| !super::c::is_word_start(*byte) && !byte.is_ascii_digit());
        if !rest.starts_with(word) || (*word != sign && !ends) {
            return None;
        }
        piece = Span { start: piece.start + (lead + word.len()) as u32, end: piece.end };
        wanted = more;
    }
    let text = file.slice(piece);
    let lead = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let first = Span { start: piece.start + lead as u32, end: piece.end };
    Some(std::iter::once(first).filter(|piece| !piece.is_empty()).chain(pieces).collect())
}

fn add_operator(
    file: &SourceFile,
    operator: &Operator,
    in_macro: Option<&str>,
    shown: &Shown,
    scan: &mut Scan,
) {
    let text = file.slice(operator.text);
    let lead = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_openacc = text.get(lead..).is_some_and(|text| {
        text.starts_with(b"acc") && text.get(3).is_none_or(|byte| byte.is_ascii_whitespace())
    });
    if !is_openacc {
        return;
    }
    let words = Span { start: operator.text.start + lead as u32 + 3, end: operator.text.end };
    let mut words = super::c::spliced(&file.bytes, words);
    if words.is_empty() {
        words.push(Span::at(operator.text.end as usize));
    }
    scan.directives.push(DirectiveText {
        span: operator.span,
        form: Form::Operator,
        words,
        comments: Vec::new(),
        in_macro: in_macro.map(str::to_owned),
        active: shown.shows(operator.span.start),
        next_code: 0,
    });
}

fn word(file: &SourceFile, span: Span, shown: &Shown, scan: &mut Scan) {
    let text = file.slice(span);
    if text == b"__asm__" && is_statement(&file.bytes[..span.start as usize]) {
        // The grammar reads its operands.
    } else if is_noise(text) {
        let end =
            if takes_argument(text) { closing(&file.bytes, span.end as usize) } else { span.end as usize };
        blank(&mut scan.shadow, Span { start: span.start, end: end as u32 });
    } else if asks_for_type(text) {
        unexpressed(file, span, &mut scan.shadow);
    } else if text == b"complex" {
        // `complex.h` makes it a word of the type; anything else may be called so.
        if is_beside_type(&file.bytes, span) {
            blank(&mut scan.shadow, span);
        }
    } else if text == b"acc" {
        scan.directives.extend(macro_argument(file, span, shown));
    } else if is_name_of_openacc(text) {
        let active = shown.shows(span.start);
        scan.names.push(AccName { name: file.text(span).into_owned(), span, active, in_macro: false });
    } else if matches!(file.language, Language::Cpp | Language::Header) {
        // The grammar of C knows a row of texts and names, that of C++ a suffix.
        blank(&mut scan.shadow, span);
    }
}

/// Whether what comes after this text begins a statement; after the name of a variable, `__asm__` says where it is kept.
fn is_statement(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let is_word = |word: &[u8]| before.ends_with(word);
    before.last().is_none_or(|last| b";{}:)/".contains(last)) || is_word(b"else") || is_word(b"do")
}

/// Whether a word may be a name of the run-time library, or is the macro that says that OpenACC is there.
fn is_name_of_openacc(word: &[u8]) -> bool {
    word.starts_with(b"acc_") || word == b"_OPENACC"
}

/// Shows a name in place of an expression whose type the word at `span` asks for.
fn unexpressed(file: &SourceFile, span: Span, shadow: &mut [u8]) {
    let end = closing(&file.bytes, span.end as usize);
    let whole = file.bytes.get(span.end as usize..end).unwrap_or_default();
    let Some(open) = whole.iter().position(|byte| *byte == b'(') else { return };
    let operand = Span::new(span.end as usize + open + 1, end - 1);
    if !is_readable(file.slice(operand)) {
        blank(shadow, operand);
        shadow[operand.range()]
            .iter_mut()
            .find(|byte| **byte == b' ')
            .into_iter()
            .for_each(|byte| *byte = b'x');
    }
}

/// The names before `(acc` and a directive's word, each once.
pub fn wrappers(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(bytes, b"acc") {
        if let Some((name, _)) = wrapper(bytes, Span::new(at, at + 3))
            && !found.contains(&name)
        {
            found.push(name);
        }
    }
    found
}

/// The name before `(acc` and a directive's word, and where it stands; the word `acc` is at `span`. No other code has a name,
/// `(acc` and such a word in a row.
fn wrapper(bytes: &[u8], span: Span) -> Option<(String, Span)> {
    let before = bytes.get(..span.start as usize)?.trim_ascii_end().strip_suffix(b"(")?.trim_ascii_end();
    let is_inner = |byte: &u8| super::c::is_word_start(*byte) || byte.is_ascii_digit();
    let length = before.iter().rev().take_while(|byte| is_inner(byte)).count();
    let after = bytes.get(span.end as usize..)?;
    let words = after.trim_ascii_start();
    let word = words.get(..words.iter().take_while(|byte| is_inner(byte)).count())?;
    const FIRST: [&[u8]; 17] = [
        b"parallel",
        b"serial",
        b"kernels",
        b"data",
        b"enter",
        b"exit",
        b"host_data",
        b"loop",
        b"cache",
        b"atomic",
        b"declare",
        b"init",
        b"shutdown",
        b"set",
        b"update",
        b"wait",
        b"routine",
    ];
    if length == 0 || !FIRST.contains(&word) || words.len() == after.len() {
        return None;
    }
    let place = Span::new(before.len() - length, before.len());
    let name = before.get(place.range())?;
    Some((String::from_utf8_lossy(name).into_owned(), place))
}

/// A directive that is the argument of a macro, as in `PRAGMA(acc parallel loop)`; `span` is the word `acc`.
fn macro_argument(file: &SourceFile, span: Span, shown: &Shown) -> Option<DirectiveText> {
    let (name, place) = wrapper(&file.bytes, span)?;
    let after = place.range().end;
    let open = after + file.bytes.get(after..)?.iter().position(|byte| *byte == b'(')?;
    let end = closing(&file.bytes, open).max(span.range().end);
    Some(DirectiveText {
        span: Span { start: place.start, end: end as u32 },
        form: Form::Operator,
        words: Vec::new(),
        comments: Vec::new(),
        in_macro: Some(name),
        active: shown.shows(span.start),
        next_code: 0,
    })
}

/// Whether the word at `span` stands beside a floating type's.
fn is_beside_type(bytes: &[u8], span: Span) -> bool {
    const TYPES: [&[u8]; 3] = [b"float", b"double", b"long"];
    let before = bytes.get(..span.start as usize).unwrap_or_default().trim_ascii_end();
    let after = bytes.get(span.end as usize..).unwrap_or_default().trim_ascii_start();
    let is_inner = |byte: &u8| super::c::is_word_start(*byte) || byte.is_ascii_digit();
    TYPES.iter().any(|word| {
        let last = before.strip_suffix(*word).map(|rest| rest.last());
        let next = after.strip_prefix(*word).map(|rest| rest.first());
        let ends = |inner: Option<Option<&u8>>| inner.is_some_and(|byte| !byte.is_some_and(is_inner));
        ends(last) || ends(next)
    })
}

/// The identifiers in `piece`.
pub fn words_of(bytes: &[u8], piece: Span) -> Vec<Span> {
    let text = bytes.get(piece.range()).unwrap_or_default();
    let is_inner = |byte: &u8| super::c::is_word_start(*byte) || byte.is_ascii_digit();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.iter().take_while(|byte| is_inner(byte)).count();
        let start = piece.start as usize + at;
        if length > 0 && !rest.first().is_some_and(u8::is_ascii_digit) {
            found.push(Span::new(start, start + length));
        }
        at += length.max(1);
    }
    found
}

/// What a condition says about `_OPENACC`; `None` if it does not name it.
pub fn guard(file: &SourceFile, line: &Line) -> Option<Guard> {
    let words: Vec<Span> = line.pieces.iter().flat_map(|piece| words_of(&file.bytes, *piece)).collect();
    let named: Vec<Span> = words.iter().copied().filter(|span| file.slice(*span) == b"_OPENACC").collect();
    if named.is_empty() {
        return None;
    }
    let text = joined(&file.bytes, line);
    let compares = text.iter().any(|byte| b"<>=+-*/%?".contains(byte));
    let names_openmp = words.iter().any(|span| file.slice(*span) == b"_OPENMP");
    Some(Guard { span: line.span, words: named, is_plain: !compares && !names_openmp })
}

/// The offset after the parentheses that open at the first code byte from `at`; `at` if there are none.
fn closing(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0usize;
    for (ahead, byte) in bytes.get(at..).unwrap_or_default().iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth <= 1 => return if depth == 1 { at + ahead + 1 } else { at },
            b')' => depth -= 1,
            byte if depth == 0 && !byte.is_ascii_whitespace() => return at,
            _ => {}
        }
    }
    at
}

/// Finds the first byte of code after each directive: from the last one back, so that each byte is looked at once.
pub fn find_next_code(scan: &mut Scan) {
    let length = scan.shadow.len();
    let (mut later, mut code) = (length, length);
    for directive in scan.directives.iter_mut().rev() {
        let from = directive.span.range().end;
        let between = scan.shadow.get(from..later).unwrap_or_default();
        let found = between.iter().position(|byte| !byte.is_ascii_whitespace());
        code = found.map_or(code.max(from), |ahead| from + ahead);
        later = directive.span.range().start;
        directive.next_code = code as u32;
    }
}
