//! Names for components: the `associate` blocks around directives.
//!
//! Invariant: within a block a component has one name, and a name one component.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::bind::Bound;
use crate::source::Span;

use super::ast::{BaseLanguage, Clause, Directive, Leaf};

/// The longest name that Fortran has.
const LONGEST: usize = 63;

/// Bound directives that name aliases, and what stands around them.
#[derive(Debug)]
pub struct Aliased<'a> {
    /// The directives, with aliases for components in their clauses.
    pub bound: Cow<'a, [Bound]>,
    /// The blocks, by directive.
    pub blocks: BTreeMap<usize, Block>,
    /// The directives that must be left untranslated.
    pub refused: BTreeSet<usize>,
}

/// An `associate` block.
#[derive(Debug, Default)]
pub struct Block {
    /// The aliases.
    names: Vec<Alias>,
    /// Mentions of components in its body, and what stands for them.
    pub respelled: Vec<(Span, String)>,
    /// Scalars among the aliases that the body assigns.
    pub written: Vec<String>,
    /// Scalars among the aliases: they stand for the value where the body only reads them, since gfortran 12 cannot bring
    /// the name of a scalar variable to the device.
    pub scalars: Vec<String>,
    /// Scalars among the aliases that are variables of their own, since the body assigns them.
    pub temporaries: Vec<Temporary>,
    /// Those of the temporaries whose variables the device may have values of, which count then.
    pub updated: Vec<String>,
    /// Those of the temporaries that a clause copies in: nothing comes back.
    pub only_read: Vec<String>,
    /// Pointers that an `exit data` brings back by their aliases: the device may have descriptions of them, which go, too.
    pub released: Vec<String>,
    /// Some alias stands for a name that the program's own `associate` gives to a scalar.
    pub has_lent: bool,
    /// Pairs of a name and what it stands for that the code of a directive inside uses: the block has them for that one.
    pub lent: Vec<String>,
    /// The directive around this one whose block has its names, where that directive is translated.
    pub lender: Option<usize>,
    /// The conditions of the preprocessor that part the directive, and its `end`, from the code between them.
    pub parted: [Option<Span>; 2],
}

/// A variable that has a scalar's value while a construct runs.
#[derive(Clone, Debug)]
pub struct Temporary {
    /// Its name: the alias.
    pub name: String,
    /// Its declaration.
    pub declaration: String,
    /// The offset after which the declaration may stand.
    pub place: u32,
}

#[derive(Debug)]
struct Alias {
    /// The component's path without blanks, in lower case.
    key: String,
    name: String,
    selector: String,
    /// The variable, in lower case.
    root: String,
    /// No clause names it, and it is an array.
    is_bare_array: bool,
    /// It is not a new name: the variable that the key is another name of.
    is_variable: bool,
}

impl Block {
    /// The statement that opens the block; none if there is nothing to name.
    pub fn opening(&self) -> Option<String> {
        let mut pairs = self.pairs();
        let more = self.lent.iter().filter(|pair| !pairs.contains(pair)).cloned().collect::<Vec<_>>();
        pairs.extend(more);
        (!pairs.is_empty()).then(|| format!("associate ({})", pairs.join(", ")))
    }

    /// The names, each with what it stands for.
    fn pairs(&self) -> Vec<String> {
        let is_name = |alias: &&Alias| !alias.is_variable && !self.is_temporary(&alias.name);
        self.names.iter().filter(is_name).map(|alias| self.pair(alias)).collect()
    }

    /// Has this block, which stands around another, have the names of that one; `false` if it cannot.
    pub fn lend(&mut self, other: &Block) -> bool {
        let pairs = other.pairs();
        let is_other = |alias: &Alias| {
            let own = self.pair(alias);
            other.names.iter().any(|theirs| theirs.name == alias.name && other.pair(theirs) != own)
        };
        let can_lend = other.temporaries.is_empty() && other.released.is_empty();
        let can_lend = can_lend && !self.names.iter().any(is_other);
        if can_lend {
            self.lent = pairs;
        }
        can_lend
    }

    /// Whether an alias is a variable of its own.
    pub fn is_temporary(&self, name: &str) -> bool {
        self.temporaries.iter().any(|temporary| temporary.name == name)
    }

    /// The statements that give the temporaries their values, and those that bring the values back.
    pub fn copies(&self) -> [Vec<String>; 2] {
        let own: Vec<&Alias> = self.names.iter().filter(|alias| self.is_temporary(&alias.name)).collect();
        let update = |alias: &Alias, motion: &str| {
            let mut update = Directive::new(&[Leaf::Named("target update")]);
            update.add(Clause::list(motion, None, &alias.selector));
            self.updated.contains(&alias.name).then(|| update.line(BaseLanguage::Fortran))
        };
        let there = own.iter().flat_map(|alias| {
            let copy = format!("{} = {}", alias.name, alias.selector);
            update(alias, "from").into_iter().chain([copy])
        });
        let is_back =
            |alias: &&&Alias| !self.only_read.contains(&alias.name) || self.updated.contains(&alias.name);
        let back = own.iter().filter(is_back).flat_map(|alias| {
            let copy = format!("{} = {}", alias.selector, alias.name);
            std::iter::once(copy).chain(update(alias, "to"))
        });
        [there.collect(), back.collect()]
    }

    /// The line that takes descriptions of pointers from the device, if there are any.
    pub fn release(&self, condition: Option<&str>) -> Option<String> {
        let mut release = Directive::new(&[Leaf::Named("target exit data")]);
        if let Some(condition) = condition {
            release.add(Clause::text("if", condition));
        }
        release.add(Clause::list("map", Some("release"), &self.released.join(", ")));
        (!self.released.is_empty()).then(|| release.line(BaseLanguage::Fortran))
    }

    fn pair(&self, alias: &Alias) -> String {
        match self.scalars.contains(&alias.name) && !self.written.contains(&alias.name) {
            true => format!("{} => ({})", alias.name, alias.selector),
            false => format!("{} => {}", alias.name, alias.selector),
        }
    }

    /// There is nothing to name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.lent.is_empty()
    }

    /// The alias of the component with this path, if it has one.
    pub fn known(&self, path: &str) -> Option<&str> {
        let key = key(path);
        self.names.iter().find(|alias| alias.key == key).map(|alias| alias.name.as_str())
    }

    /// The variable that stands for this other name of it.
    pub fn variable(&self, path: &str) -> Option<&str> {
        let key = key(path);
        let known = self.names.iter().find(|alias| alias.is_variable && alias.key == key);
        known.map(|alias| alias.name.as_str())
    }

    /// A line of code with the aliases in place of the components.
    pub fn respell(&self, line: &str) -> String {
        let mut names: Vec<&Alias> = self.names.iter().collect();
        names.sort_by_key(|alias| std::cmp::Reverse(alias.key.len()));
        let mut text = String::new();
        let mut rest = line;
        let mut quote = None;
        while let Some(char) = rest.chars().next() {
            let may_begin = quote.is_none()
                && !text.ends_with(is_word)
                && !text.trim_end().ends_with('%')
                && char.is_ascii_alphabetic();
            let found = names.iter().filter(|_| may_begin);
            let found = found.filter_map(|alias| Some((alias, after(rest, &alias.key)?))).next();
            if let Some((alias, after)) = found {
                text.push_str(&alias.name);
                rest = after;
                continue;
            }
            match quote {
                Some(open) if open == char => quote = None,
                None if matches!(char, '\'' | '"') => quote = Some(char),
                _ => {}
            }
            text.push(char);
            rest = &rest[char.len_utf8()..];
        }
        text
    }

    /// The arrays of variable `root` that no clause names; `None` if no component of it has an alias.
    pub fn bare_arrays(&self, root: &str) -> Option<Vec<&str>> {
        let own: Vec<&Alias> = self.names.iter().filter(|alias| alias.root == root).collect();
        let arrays = own.iter().filter(|alias| alias.is_bare_array).map(|alias| alias.name.as_str());
        (!own.is_empty()).then(|| arrays.collect())
    }

    /// Gives a variable an alias that is spelled as the variable is: the block makes a plain array of an allocatable or
    /// pointer variable.
    pub fn itself(&mut self, variable: &str) {
        if self.known(variable).is_none() {
            let (name, key) = (variable.to_owned(), key(variable));
            let (selector, root) = (name.clone(), key.clone());
            self.names.push(Alias { key, name, selector, root, is_bare_array: false, is_variable: false });
        }
    }

    /// The alias of the component with this path; `is_bare_array` counts where it is new.
    pub fn name(&mut self, path: &str, is_bare_array: bool) -> String {
        self.name_unless(path, is_bare_array, &|_| false)
    }

    /// The alias of a component: a new one is none of those that are taken.
    pub fn name_unless(
        &mut self,
        path: &str,
        is_bare_array: bool,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> String {
        if let Some(known) = self.known(path) {
            return known.to_owned();
        }
        let key = key(path);
        let plain = plain(&key);
        let is_free = |name: &String| !is_taken(name) && self.names.iter().all(|alias| alias.name != *name);
        let numbered = (2..).map(|number| {
            let ending = format!("_{number}");
            let kept: String = plain.chars().take(LONGEST - ending.len()).collect();
            kept + &ending
        });
        let first: String = plain.chars().take(LONGEST).collect();
        let name = std::iter::once(first).chain(numbered).find(is_free).unwrap_or_default();
        let root = key.split(['%', '(']).next().unwrap_or_default().to_owned();
        let selector = path.split_whitespace().collect();
        self.names.push(Alias { key, name: name.clone(), selector, root, is_bare_array, is_variable: false });
        name
    }

    /// Has the variable stand for another name of it.
    pub fn stand_for(&mut self, path: &str, variable: &str) {
        if self.known(path).is_none() {
            let (key, name) = (key(path), variable.to_owned());
            let (root, selector) = (key.clone(), name.clone());
            self.names.push(Alias { key, name, selector, root, is_bare_array: false, is_variable: true });
            self.has_lent = true;
        }
    }
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// What stands after the path `key` at the beginning of a text, whatever its case and its blanks.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = text;
    for wanted in key.chars() {
        rest = rest.trim_start_matches(' ');
        let char = rest.chars().next().filter(|char| char.eq_ignore_ascii_case(&wanted))?;
        rest = &rest[char.len_utf8()..];
    }
    (!rest.starts_with(is_word)).then_some(rest)
}

/// A path without blanks, in lower case.
fn key(path: &str) -> String {
    path.split_whitespace().collect::<String>().to_ascii_lowercase()
}

/// `acc2omp_a_b` for `a(k)%b`.
fn plain(key: &str) -> String {
    let mut name = "acc2omp_".to_owned();
    let mut depth = 0usize;
    for char in key.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '%' => name.push('_'),
            char => name.push(char),
        }
    }
    name
}

#[cfg(test)]
mod tests;
