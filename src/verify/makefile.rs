//! Makefiles: their variables and rules, with those of the files that they include.
//!
//! Invariant: nothing runs. What only make can tell, as most of its functions, has no value here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names that make looks for, in its order.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// So many files are read at most, and so deep are variables of variables followed.
const LIMIT: usize = 32;

/// A value that a command makes (`NAME != command`): it is not known here.
const BY_COMMAND: &str = "$(shell !=)";

/// What stands for the end of a line that goes on, while lines are counted.
const JOINT: &str = "\u{1}";

/// A makefile with what it includes.
#[derive(Debug, Default)]
pub struct Makefile {
    /// The files that were read, as the makefile names them; its own comes first.
    pub files: Vec<PathBuf>,
    /// The files that it includes and that are not there.
    pub missing: Vec<PathBuf>,
    /// Its rules, in their order.
    pub rules: Vec<Rule>,
    /// The lines of its recipes, and those that set a variable for one target or with `override`.
    pub lines: Vec<Line>,
    variables: BTreeMap<String, String>,
}

/// A rule, as it is written.
#[derive(Debug, Default)]
pub struct Rule {
    /// What it makes.
    pub targets: String,
    /// What that is made of.
    pub needs: String,
    /// Its commands.
    pub recipe: Vec<String>,
}

/// A line that the variables of a command line do not replace, or not always.
#[derive(Debug)]
pub struct Line {
    /// Its file and its number.
    pub place: String,
    /// The command, or the value.
    pub text: String,
    /// What it is.
    pub of: Of,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub enum Of {
    /// A command.
    Recipe,
    /// The value of a variable for one target.
    Target(String),
    /// The value of a variable that keeps it, whatever the command line says.
    Override(String),
}

/// A condition that is open while lines are read.
struct Condition {
    /// Whether its lines count.
    holds: bool,
    /// Whether one of its branches has counted.
    was_true: bool,
    /// Whether the lines around it count.
    around: bool,
}

impl Makefile {
    /// The makefile of a folder.
    pub fn of(root: &Path) -> Option<Makefile> {
        let name = NAMES.into_iter().find(|name| root.join(name).is_file())?;
        let mut makefile = Makefile::default();
        makefile.file(root, Path::new(name));
        Some(makefile)
    }

    fn file(&mut self, root: &Path, name: &Path) {
        let Ok(bytes) = fs::read(root.join(name)) else { return self.missing.push(name.to_path_buf()) };
        if self.files.len() >= LIMIT {
            return;
        }
        self.files.push(name.to_path_buf());
        let text = String::from_utf8_lossy(&bytes).replace("\\\r\n", JOINT).replace("\\\n", JOINT);
        let mut next = 1;
        let mut conditions: Vec<Condition> = Vec::new();
        let mut is_in_rule = false;
        let mut is_defining = false;
        for line in text.lines() {
            let place = format!("{}:{next}", name.display());
            next += 1 + line.matches(JOINT).count();
            let line = line.replace(JOINT, " ");
            if is_in_rule && line.starts_with('\t') {
                let counts = conditions.last().is_none_or(|one| one.holds);
                if let Some(rule) = self.rules.last_mut().filter(|_| counts) {
                    rule.recipe.push(line.trim().to_owned());
                    self.lines.push(Line { place, text: line.trim().to_owned(), of: Of::Recipe });
                }
                continue;
            }
            let line = without_comment(&line).trim();
            let word = line.split_whitespace().next().unwrap_or_default();
            is_defining = word == "define" || is_defining && word != "endef";
            if line.is_empty() || is_defining || word == "endef" || self.condition(line, &mut conditions) {
                continue;
            }
            if conditions.last().is_some_and(|one| !one.holds) {
                continue;
            }
            if ["include", "-include", "sinclude"].contains(&word) {
                let names = self.expand(&line[word.len()..]).unwrap_or_default();
                names.split_whitespace().for_each(|name| self.file(root, Path::new(name)));
                continue;
            }
            let set = set(line);
            let is_for_target = set.as_ref().is_some_and(|(_, _, is_for_target)| *is_for_target);
            if let Some((of, text, _)) = set {
                self.lines.push(Line { place, text, of });
            }
            if !is_for_target && !self.assign(line) {
                is_in_rule = self.rule(line) || is_in_rule;
            }
        }
    }

    /// Follows a line that opens, changes or ends a condition.
    fn condition(&self, line: &str, open: &mut Vec<Condition>) -> bool {
        let (word, rest) = line.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((line, ""));
        let rest = &line[line.len() - rest.len()..];
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                let around = open.last().is_none_or(|one| one.holds);
                let is_true = self.is_true(word, &line[word.len()..]);
                open.push(Condition { holds: around && is_true, was_true: is_true, around });
            }
            "else" => {
                let rest = rest.trim();
                let (word, _) =
                    rest.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((rest, ""));
                let is_true = word.is_empty() || self.is_true(word, &rest[word.len()..]);
                if let Some(last) = open.last_mut() {
                    last.holds = last.around && !last.was_true && is_true;
                    last.was_true |= is_true;
                }
            }
            "endif" => drop(open.pop()),
            _ => return false,
        }
        true
    }

    /// Whether a condition holds; of two texts that are not known, it is taken that they differ.
    fn is_true(&self, word: &str, rest: &str) -> bool {
        let rest = rest.trim();
        let is_set = || self.expand(rest).is_some_and(|name| self.variables.contains_key(name.trim()));
        let is_equal = || {
            let (left, right) = two(rest)?;
            Some(self.expand(left)?.trim() == self.expand(right)?.trim())
        };
        match word {
            "ifdef" => is_set(),
            "ifndef" => !is_set(),
            "ifeq" => is_equal() == Some(true),
            _ => is_equal() != Some(true),
        }
    }

    /// Reads a line that sets a variable.
    fn assign(&mut self, line: &str) -> bool {
        let mut line = line;
        while let Some(rest) = ["export ", "override "].iter().find_map(|word| line.strip_prefix(word)) {
            line = rest.trim_start();
        }
        let Some((name, value)) = line.split_once('=') else { return false };
        let value = value.trim();
        let sign = name.chars().last().filter(|sign| "?:+!".contains(*sign));
        let name = name.trim_end_matches(['?', ':', '+', '!']).trim();
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ':') && !name.starts_with('$')
        {
            return false;
        }
        let name = self.expand(name).unwrap_or_else(|| name.to_owned());
        let old = self.variables.get(&name).cloned();
        let value = match (sign, old) {
            (Some('?'), Some(old)) => old,
            (Some('!'), _) => BY_COMMAND.to_owned(),
            (Some('+'), Some(old)) => format!("{old} {value}"),
            // What a variable is made of itself is written out.
            (_, old) => [format!("$({name})"), format!("${{{name}}}")]
                .iter()
                .fold(value.to_owned(), |value, own| value.replace(own, old.as_deref().unwrap_or_default())),
        };
        self.variables.insert(name, value);
        true
    }

    fn rule(&mut self, line: &str) -> bool {
        let Some(at) = outer(line, ':') else { return false };
        let needs = line[at..].trim_start_matches(':');
        let (needs, first) = needs.split_once(';').unwrap_or((needs, ""));
        let recipe = Some(first.trim()).filter(|first| !first.is_empty()).map(str::to_owned);
        self.rules.push(Rule {
            targets: line[..at].trim().to_owned(),
            needs: needs.replace('|', " ").trim().to_owned(),
            recipe: recipe.into_iter().collect(),
        });
        true
    }

    /// What a variable is set to, as it is written.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A text with the values of its variables; those that are not set are empty, as for make.
    pub fn expand(&self, text: &str) -> Option<String> {
        self.expanded(text, 0)
    }

    fn expanded(&self, text: &str, depth: usize) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out += &rest[..at];
            let (inner, after) = reference(&rest[at + 1..]);
            rest = after;
            match inner {
                "$" => out.push('$'),
                _ if depth > LIMIT => return None,
                _ => out += &self.referred(inner, depth + 1)?,
            }
        }
        Some(out + rest)
    }

    /// What `$(…)` stands for.
    fn referred(&self, inner: &str, depth: usize) -> Option<String> {
        if let Some((word, rest)) = inner.split_once(char::is_whitespace) {
            let rest = self.expanded(rest, depth)?;
            let (first, second) = rest.split_once(',').unwrap_or((&rest, ""));
            let words = second.split_whitespace();
            return match word {
                "strip" => Some(rest.split_whitespace().collect::<Vec<_>>().join(" ")),
                "filter" if !first.contains('%') => {
                    let kept = words.filter(|word| first.split_whitespace().any(|one| one == *word));
                    Some(kept.collect::<Vec<_>>().join(" "))
                }
                "findstring" => {
                    Some(if second.contains(first.trim()) { first.trim() } else { "" }.to_owned())
                }
                _ => None,
            };
        }
        let inner = self.expanded(inner, depth)?;
        let (name, change) =
            inner.split_once(':').map_or((&*inner, None), |(name, change)| (name, Some(change)));
        let value = self.expanded(self.value(name).unwrap_or_default(), depth)?;
        let Some((old, new)) = change.and_then(|change| change.split_once('=')) else { return Some(value) };
        let (old, new) = (old.trim_start_matches('%'), new.trim_start_matches('%'));
        let changed = |word: &str| match word.strip_suffix(old) {
            Some(stem) => format!("{stem}{new}"),
            None => word.to_owned(),
        };
        Some(value.split_whitespace().map(changed).collect::<Vec<_>>().join(" "))
    }

    /// The variables that a text names itself.
    pub fn names(&self, text: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (inner, after) = reference(&rest[at + 1..]);
            rest = after;
            if inner.contains('$') {
                all.extend(self.names(inner));
            }
            let name = inner.split(':').next().and_then(|name| self.expand(name)).unwrap_or_default();
            all.push(name);
        }
        all
    }

    /// The variables that commands use, by others, too.
    pub fn used(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        let mut open: Vec<String> = self.rules.iter().flat_map(|rule| rule.recipe.iter().cloned()).collect();
        while let Some(text) = open.pop() {
            for name in self.names(&text) {
                if used.insert(name.clone()) {
                    open.extend(self.value(&name).map(str::to_owned));
                }
            }
        }
        used
    }
}

/// The variable that a line sets for one target or with `override`, its value, and whether it is for one target.
fn set(line: &str) -> Option<(Of, String, bool)> {
    let (left, value) = line.split_once('=')?;
    let left = left.trim_end_matches(['?', ':', '+', '!']).trim();
    // References hold blanks and colons.
    let start = outer(left, ':').map(|at| at + 1);
    let mut words: Vec<&str> = left[start.unwrap_or(0)..].split_whitespace().collect();
    let name = words.pop().filter(|name| !name.contains([';', ':', '|']))?.to_owned();
    if !words.iter().all(|word| ["export", "override", "private"].contains(word)) {
        return None;
    }
    let of = match words.contains(&"override") {
        true => Of::Override(name),
        false if start.is_some() => Of::Target(name),
        false => return None,
    };
    Some((of, value.trim().to_owned(), start.is_some()))
}

fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| !line[..*at].ends_with('\\');
    line.match_indices('#').map(|(at, _)| at).find(is_comment).map_or(line, |at| &line[..at])
}

/// What stands between the parentheses after `$`, or the letter there, and the text after it.
fn reference(text: &str) -> (&str, &str) {
    let close = match text.chars().next() {
        Some('(') => ')',
        Some('{') => '}',
        first => return text.split_at(first.map_or(0, char::len_utf8)),
    };
    let open = if close == ')' { '(' } else { '{' };
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    ("", "")
}

/// Where a character stands outside of references.
fn outer(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ if c == wanted && depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The two texts that a condition compares: `(a,b)`, or between quotes.
fn two(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let at = outer(inner, ',')?;
        return Some((&inner[..at], &inner[at + 1..]));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut parts = text.split(quote);
    Some((parts.nth(1)?, parts.nth(1)?))
}

#[cfg(test)]
mod tests;
