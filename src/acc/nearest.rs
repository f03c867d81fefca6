//! The known word nearest to a misspelt one.
//!
//! Invariant: knows no words of its own.

/// The candidate with the fewest letters added, dropped, changed or swapped; `None` if none is near, or if half of the letters
/// differ.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(MAX_LENGTH + 1).flat_map(char::to_lowercase).collect();
    if word.len() > MAX_LENGTH {
        return None;
    }
    let limit = word.len().div_ceil(3).min(3);
    candidates
        .map(|candidate| (distance(&word, &candidate.chars().collect::<Vec<_>>()), candidate))
        .filter(|(distance, _)| *distance <= limit && 2 * distance < word.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

const MAX_LENGTH: usize = 40;

/// The Damerau-Levenshtein distance of neighbouring swaps, row by row.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let change = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests;
