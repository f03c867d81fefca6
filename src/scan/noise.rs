//! Words that compilers know and the grammar of C does not: the shadow has blanks instead.
//!
//! Invariant: without these words, the code computes the same.

/// Words that compilers know and the host grammar does not; the flag says that parentheses after the word are hidden, too.
const NOISE: [(&str, bool); 21] = [
    ("__attribute__", true),
    ("__attribute", true),
    ("__declspec", true),
    ("__asm__", true),
    ("__extension__", false),
    ("__restrict__", false),
    ("__restrict", false),
    ("restrict", false),
    ("__inline__", false),
    ("__inline", false),
    ("__const", false),
    ("__volatile__", false),
    ("_Complex", false),
    ("__complex__", false),
    ("_Noreturn", false),
    ("_Atomic", false),
    ("__global__", false),
    ("__device__", false),
    ("__host__", false),
    ("__forceinline__", false),
    ("_Thread_local", false),
];

/// Whether the host grammar is not to see this word.
pub fn is_noise(word: &[u8]) -> bool {
    // Nearly all words are none of these, and their first letter shows it.
    matches!(word.first(), Some(b'_' | b'r')) && NOISE.iter().any(|(noise, _)| noise.as_bytes() == word)
}

/// Whether a parenthesis after the word is hidden with it.
pub fn takes_argument(word: &[u8]) -> bool {
    NOISE.iter().any(|(noise, argument)| *argument && noise.as_bytes() == word)
}

/// Where the words directly before an offset begin that the host grammar does not see; the offset, if there are none.
pub fn start_with_hidden(bytes: &[u8], offset: usize) -> usize {
    let mut start = offset;
    loop {
        let before = bytes[..start].trim_ascii_end();
        let opens = before.ends_with(b")").then(|| opening(before));
        let head = opens.map_or(before, |at| before[..at].trim_ascii_end());
        let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = head.len() - head.iter().rev().take_while(is_inner).count();
        if !is_noise(&head[word..]) || takes_argument(&head[word..]) != opens.is_some() {
            return start;
        }
        start = word;
    }
}

/// Where the parentheses open whose end a text has at its end.
fn opening(text: &[u8]) -> usize {
    let mut open = 0;
    let is_first = |byte: &u8| {
        open += i32::from(*byte == b')') - i32::from(*byte == b'(');
        open == 0
    };
    text.iter().rposition(is_first).unwrap_or(0)
}

/// Whether a word asks for the type of what stands in parentheses after it.
pub fn asks_for_type(word: &[u8]) -> bool {
    matches!(word, b"typeof" | b"__typeof__" | b"__typeof")
}

/// Whether the host grammar reads what such a word asks about: a name or an element, or a type of words and stars.
pub fn is_readable(operand: &[u8]) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_in_words = |byte: &u8| is_inner(byte) || byte.is_ascii_whitespace();
    let operand = operand.trim_ascii();
    let words = operand.iter().take_while(|byte| is_in_words(byte)).count();
    let mut in_brackets = false;
    operand.first().is_some_and(|first| is_inner(first) && !first.is_ascii_digit())
        && operand[words..].iter().all(|byte| match byte {
            b'[' | b']' => {
                in_brackets = *byte == b'[';
                true
            }
            b'*' => !in_brackets,
            byte => byte.is_ascii_whitespace() || in_brackets && is_inner(byte),
        })
}
