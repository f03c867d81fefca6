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
