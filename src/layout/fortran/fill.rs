//! Fills lines with words, and continues them where they are full.
//!
//! Invariant: a literal is never split, and no line is longer than its limit unless one word alone is.

/// How lines are continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What stands before the first line's words.
    pub first: String,
    /// What stands before the words of each further line.
    pub next: String,
    /// What ends a line that goes on.
    pub tail: Tail,
    /// The last column that may be written to.
    pub limit: usize,
}

/// The end of a line that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing: the next line says that it goes on.
    None,
    /// An ampersand after a blank.
    Near,
    /// An ampersand in this column.
    Column(usize),
}

impl Frame {
    /// The lines, without line ends, that hold `words` with a blank between them.
    pub fn fill(&self, words: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = self.first.clone();
        let mut is_empty = true;
        let count = words.len();
        for (at, word) in words.iter().enumerate() {
            let is_last = at + 1 == count;
            let blank = usize::from(!is_empty);
            if line.len() + blank + word.len() <= self.room(is_last) {
                line.push_str(&" "[..blank]);
                line.push_str(word);
                is_empty = false;
                continue;
            }
            if !is_empty && self.next.len() + word.len() <= self.room(is_last) {
                lines.push(self.ended(std::mem::replace(&mut line, self.next.clone() + word)));
                continue;
            }
            // The word alone is longer than a line.
            let mut gap = &" "[..blank];
            for part in parts(word, self.room(false).saturating_sub(self.next.len())) {
                if !is_empty && line.len() + gap.len() + part.trim_end().len() > self.room(false) {
                    lines.push(self.ended(std::mem::replace(&mut line, self.next.clone())));
                    gap = "";
                }
                line.push_str(gap);
                line.push_str(part);
                gap = "";
                is_empty = false;
            }
        }
        lines.push(line);
        lines
    }

    /// The last column for words.
    fn room(&self, is_last: bool) -> usize {
        match self.tail {
            _ if is_last => self.limit,
            // The next line's words follow without a blank, so that there is one here.
            Tail::None => self.limit.saturating_sub(1),
            Tail::Near => self.limit.saturating_sub(2),
            Tail::Column(column) => self.limit.min(column).saturating_sub(2),
        }
    }

    /// A line with what says that it goes on.
    fn ended(&self, mut line: String) -> String {
        line.truncate(line.trim_end().len());
        match self.tail {
            Tail::None => {}
            Tail::Near => line.push_str(" &"),
            Tail::Column(column) => {
                let gap = column.saturating_sub(line.len() + 1).max(1);
                line.extend(std::iter::repeat_n(' ', gap));
                line.push('&');
            }
        }
        line
    }
}

/// The words of a text: they end at blanks outside of literals and parentheses.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut walk = Walk::default();
    let mut start = 0;
    for (at, char) in text.char_indices() {
        if walk.quote.is_none() && walk.depth == 0 && char.is_ascii_whitespace() {
            words.extend(text.get(start..at).filter(|word| !word.is_empty()).map(str::to_owned));
            start = at + 1;
        }
        walk.step(char);
    }
    words.extend(text.get(start..).filter(|word| !word.is_empty()).map(str::to_owned));
    words
}

/// The parts of a word that is longer than `room`: they end after the commas of a list; where one is still too long,
/// after inner commas; and then after blanks, colons and parentheses.
fn parts(word: &str, room: usize) -> Vec<&str> {
    let cuts = cuts(word);
    let mut ranges = vec![(0, word.len())];
    for level in [3, 2, 1] {
        let mut finer = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            let from = cuts.partition_point(|(_, at)| *at <= start);
            let inside = cuts.iter().skip(from).take_while(|(_, at)| end - start > room && *at < end);
            let mut last = start;
            for (_, at) in inside.filter(|(value, _)| *value >= level) {
                finer.push((last, *at));
                last = *at;
            }
            finer.push((last, end));
        }
        ranges = finer;
    }
    ranges.into_iter().filter_map(|(start, end)| word.get(start..end)).collect()
}

/// Where a word may be split, and how well.
fn cuts(word: &str) -> Vec<(u8, usize)> {
    let mut cuts: Vec<(u8, usize)> = Vec::new();
    let mut walk = Walk::default();
    for (at, char) in word.char_indices() {
        walk.step(char);
        let value = match char {
            _ if walk.quote.is_some() => continue,
            ',' if walk.depth <= 1 => 3,
            ',' => 2,
            // A blank goes along with what it stands after.
            ' ' => match cuts.last_mut().filter(|(_, last)| *last == at) {
                Some((_, last)) => {
                    *last = at + 1;
                    continue;
                }
                None => 1,
            },
            '(' | ':' => 1,
            _ => continue,
        };
        cuts.push((value, at + 1));
    }
    cuts
}

/// Where in a text a walk is.
#[derive(Default)]
struct Walk {
    quote: Option<char>,
    depth: usize,
}

impl Walk {
    fn step(&mut self, char: char) {
        match (self.quote, char) {
            (Some(quote), char) if char == quote => self.quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => self.quote = Some(char),
            (None, '(') => self.depth += 1,
            (None, ')') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
    }
}
