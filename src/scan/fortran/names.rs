//! Variables and constructs that are named like a statement's word: Fortran reserves none, the host grammar does.
//!
//! Invariant: a name is distinguished from a statement by what follows it, and only bytes of such names are written.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// What the grammar may take for the beginning of a statement.
const WORDS: &str = "abstract all allocatable allocate assign associate asynchronous attributes automatic \
    backspace bind block blockdata byte call case change character class classof close codimension common \
    complex concurrent constant contains contiguous continue critical cycle data deallocate default device \
    dimension do double doublecomplex doubleprecision elemental else elseif elsewhere end endassociate \
    endblock endblockdata endcritical enddo endenum endfile endforall endfunction endif endinterface endmodule \
    endprocedure endprogram endselect endsubmodule endsubroutine endteam endtype endwhere entry enum \
    enumeration enumerator equivalence error event exit external fail final flush forall form format function \
    generic go goto if implicit import impure include inquire integer intent interface intrinsic lock logical \
    managed module namelist notify null nullify open optional parameter pause pinned pointer post print private \
    procedure program protected public pure rank read real recursive return rewind save select selectcase \
    selectrank selecttype sequence shared simple static stop submodule subroutine sync target team texture then \
    type typeof unit unlock use value volatile wait where while write";

/// The same one by one.
static KNOWN: LazyLock<FxHashSet<&'static [u8]>> =
    LazyLock::new(|| WORDS.split_ascii_whitespace().map(str::as_bytes).collect());

/// The length of the longest of them.
const LONGEST: usize = 15;

/// Replaces each byte of a name.
const MASK: u8 = b'z';

/// Hides such names in a shadow each of whose statements is on one line.
pub fn mask(shadow: &mut [u8]) {
    let mut rest = shadow;
    while !rest.is_empty() {
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, more) = rest.split_at_mut(length);
        statements(line);
        rest = more;
    }
}

/// Those of a line.
fn statements(line: &mut [u8]) {
    let mut rest = line;
    while let Some(end) = ended(rest) {
        let (first, more) = rest.split_at_mut(end);
        statement(first);
        rest = more.get_mut(1..).unwrap_or_default();
    }
    statement(rest);
}

/// Where the `;` stands that ends the statement which a text begins with.
fn ended(text: &[u8]) -> Option<usize> {
    memchr::memchr(b';', text)?;
    let mut at = 0;
    loop {
        at += memchr::memchr3(b';', b'\'', b'"', text.get(at..)?)?;
        if text.get(at) == Some(&b';') {
            return Some(at);
        }
        at = after_literal(text, at)?;
    }
}

/// Hides the name that a statement begins with, or the one that a part of it does: its construct or its action.
fn statement(text: &mut [u8]) {
    let mut at = 0;
    loop {
        at = skip(text, at, |byte| byte.is_ascii_whitespace() || byte.is_ascii_digit());
        let end = skip(text, at, is_inner);
        let next = skip(text, end, |byte| byte.is_ascii_whitespace());
        let is_construct = text.get(next) == Some(&b':') && text.get(next + 1) != Some(&b':');
        let mut word = [0; LONGEST];
        let Some(word) = lower(text.get(at..end).unwrap_or_default(), &mut word) else { return };
        if (is_construct || is_assigned(text, next)) && KNOWN.contains(word) {
            text.get_mut(at..end).unwrap_or_default().fill(MASK);
            if !is_construct {
                return;
            }
        }
        at = match word {
            _ if is_construct => next + 1,
            b"do" => next,
            b"if" | b"where" | b"forall" => match closed(text, next) {
                Some(action) => action,
                None => return,
            },
            _ => return,
        };
    }
}

/// A word in lower case; `None` if there is none or a longer one than those that are known.
fn lower<'a>(word: &[u8], room: &'a mut [u8; LONGEST]) -> Option<&'a [u8]> {
    let room = room.get_mut(..word.len()).filter(|room| !room.is_empty())?;
    room.copy_from_slice(word);
    room.make_ascii_lowercase();
    Some(room)
}

/// Whether a variable goes on at `at` to which something is assigned: subscripts, components, and `=` or `=>`.
fn is_assigned(text: &[u8], at: usize) -> bool {
    let mut at = at;
    loop {
        at = skip(text, at, |byte| byte.is_ascii_whitespace());
        at = match text.get(at) {
            Some(b'=') => return text.get(at + 1) != Some(&b'='),
            Some(b'%') => {
                let name = skip(text, at + 1, |byte| byte.is_ascii_whitespace());
                skip(text, name, is_inner)
            }
            _ => match closed(text, at) {
                Some(after) => after,
                None => return false,
            },
        };
    }
}

/// The offset after the parenthesis or bracket that closes the one at `at`.
fn closed(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        match text.get(at)? {
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth <= 1 => return (depth == 1).then_some(at + 1),
            b')' | b']' => depth -= 1,
            b'\'' | b'"' if depth > 0 => {
                at = after_literal(text, at)?;
                continue;
            }
            _ if depth == 0 => return None,
            _ => {}
        }
        at += 1;
    }
}

/// The offset after the literal that begins with the quote at `at`.
fn after_literal(text: &[u8], at: usize) -> Option<usize> {
    let length = memchr::memchr(*text.get(at)?, text.get(at + 1..)?)?;
    Some(at + 1 + length + 1)
}

/// The first offset from `at` whose byte is not such a one.
fn skip(text: &[u8], at: usize, is_such: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len())
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
