//! What has a name, without a look at all that a file holds.
//!
//! Invariant: of things with one name the first comes first; what is added after the first question is found by the next.

use std::sync::OnceLock;

/// Things by their names: their numbers in the order of the names, and of the numbers.
#[derive(Clone, Debug, Default)]
pub struct Named(OnceLock<Vec<u32>>);

impl Named {
    /// The numbers of the things with this name, of `count` things each of which may have one.
    pub fn of<'a>(&self, name: &str, count: usize, named: impl Fn(usize) -> Option<&'a str>) -> Vec<usize> {
        self.select(name, count, named, |own| own == name)
    }

    /// The numbers of the things whose names begin so; those of one name are in their order.
    pub fn beginning<'a>(
        &self,
        lead: &str,
        count: usize,
        named: impl Fn(usize) -> Option<&'a str>,
    ) -> Vec<usize> {
        self.select(lead, count, named, |own| own.starts_with(lead))
    }

    /// The numbers of the things with a name that is meant: names that are meant stand together, `first` before them.
    fn select<'a>(
        &self,
        first: &str,
        count: usize,
        named: impl Fn(usize) -> Option<&'a str>,
        is_meant: impl Fn(&str) -> bool,
    ) -> Vec<usize> {
        let known = self.0.get_or_init(|| {
            let mut all: Vec<u32> = (0..count as u32).filter(|at| named(*at as usize).is_some()).collect();
            all.sort_by_key(|at| named(*at as usize));
            all.push(count as u32);
            all
        });
        let Some((seen, known)) = known.split_last() else { return Vec::new() };
        let begin = known.partition_point(|at| named(*at as usize) < Some(first));
        let is_named = |at: &usize| named(*at).is_some_and(&is_meant);
        let begun = known[begin..].iter().map(|at| *at as usize).take_while(is_named);
        begun.chain((*seen as usize..count).filter(is_named)).collect()
    }
}

#[cfg(test)]
mod tests;
