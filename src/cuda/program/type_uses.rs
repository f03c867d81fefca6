//! Arrays whose type code asks for, by `sizeof`, an address or the like.
//!
//! Invariant: where an array stands as a whole and its type may count, it is reported.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Input, Refused, defines, refused, uses};
use crate::cuda::code::text::{placed_words, words};
use crate::host::ir::StmtId;
use crate::sema::SymbolKind;
use crate::source::Span;

/// Words that ask for the type of what comes after them.
const ASKING: [&str; 9] = [
    "sizeof",
    "typeof",
    "__typeof__",
    "__typeof",
    "decltype",
    "alignof",
    "_Alignof",
    "__alignof__",
    "__builtin_object_size",
];

/// That a region does not ask for the types of expressions, which C and C++ say in other ways, and of variables that it does not use.
pub fn none_asked(input: &Input, stmt: StmtId) -> Result<(), Refused> {
    let span = input.stmt_span(stmt);
    // Each byte is a character: letters of comments may be of any encoding.
    let plain = |bytes: &[u8]| -> String {
        bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { ' ' }).collect()
    };
    let text = plain(input.source.scan.shadow.get(span.range()).unwrap_or_default());
    let whole = plain(input.file().slice(span));
    let used = OnceCell::new();
    for (at, word) in placed_words(&text) {
        let start = at + word.len();
        let inside = text[start..].trim_start().strip_prefix('(').filter(|_| word.contains("typeof"));
        let Some((operand, _)) = inside.and_then(|inside| inside.split_once(')')) else { continue };
        let from = text.len() - inside.map_or(0, str::len);
        let is_used = |name: &str| {
            let Some(symbol) = input.symbols.lookup(name, span.start + at as u32) else { return true };
            let known = input.symbols.get(symbol);
            let is_variable =
                matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
            let used = || used.get_or_init(|| uses::outer(input, stmt)).iter().any(|(one, _)| *one == symbol);
            input.in_place || !is_variable || span.contains(known.scope) || used()
        };
        if whole.get(from..from + operand.len()) != Some(operand) || !words(operand).into_iter().all(is_used)
        {
            let at = Span { start: span.start + at as u32, end: span.start + start as u32 };
            return Err(refused(
                at,
                &format!("`{word}` of an expression, or of what is not used otherwise,"),
            ));
        }
    }
    Ok(())
}

/// Whether a region, or a macro that it uses, says an array as a whole where its type counts.
pub fn uses_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, !input.is_c)
}

/// Whether it does so where only an array will do.
pub fn asks_for_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, false)
}

/// The texts of the region that was asked for last: most questions are about the variables of one region, one after the other.
#[derive(Debug, Default)]
pub struct LastTexts(RefCell<Option<(StmtId, Rc<Texts>)>>);

/// The code of a region, and the macros that it leads to.
#[derive(Debug)]
struct Texts {
    texts: Vec<String>,
    /// A word asks for a type.
    asks: bool,
    /// Where each word stands: the number of the text, and the place in it.
    places: FxHashMap<String, Vec<(usize, usize)>>,
}

impl Texts {
    fn of(input: &Input, stmt: StmtId) -> Texts {
        let texts = defines::reached(input, &input.source.code(input.stmt_span(stmt)));
        let asks = texts.iter().any(|text| words(text).iter().any(|word| ASKING.contains(word)));
        let mut places: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
        for (number, text) in texts.iter().enumerate() {
            for (at, word) in placed_words(text) {
                match places.get_mut(word) {
                    Some(known) => known.push((number, at)),
                    None => drop(places.insert(word.to_owned(), vec![(number, at)])),
                }
            }
        }
        Texts { texts, asks, places }
    }
}

impl LastTexts {
    fn of(&self, input: &Input, stmt: StmtId) -> Rc<Texts> {
        if let Some((_, texts)) = self.0.borrow().as_ref().filter(|(known, _)| *known == stmt) {
            return Rc::clone(texts);
        }
        let texts = Rc::new(Texts::of(input, stmt));
        self.0.replace(Some((stmt, Rc::clone(&texts))));
        texts
    }
}

/// `anywhere`: everywhere but in sums.
fn says_whole(input: &Input, stmt: StmtId, name: &str, anywhere: bool) -> bool {
    let known = match input.texts {
        Some(last) => last.of(input, stmt),
        None => Rc::new(Texts::of(input, stmt)),
    };
    known.places.get(name).into_iter().flatten().any(|(number, at)| {
        let text = &known.texts[*number];
        let (before, after) = (text[..*at].trim_end(), text[at + name.len()..].trim_start());
        let is_member = before.ends_with('.') || before.ends_with("->");
        let is_part = after.starts_with('[') && !before.ends_with("sizeof");
        let is_address = before.ends_with('&') && !before.ends_with("&&");
        let is_value = after.starts_with(['+', '-']) || before.ends_with(['+', '-', '*']);
        !is_member && !is_part && (known.asks || is_address || anywhere && !is_value)
    })
}
