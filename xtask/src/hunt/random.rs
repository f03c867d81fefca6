//! Random numbers from a seed.
//!
//! Invariant: the numbers of a seed never change, so that a seed names a program.

/// A stream of random numbers (splitmix64, public domain).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of the program `number` of a seed.
    pub fn of_case(seed: u64, language: u64, number: u64) -> Random {
        let mut mixed = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (language << 56));
        let first = mixed.next();
        Random(first ^ number.wrapping_mul(0xd129_0ddb_53c4_3e49))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both possible.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1).max(1) as u64) as i64
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of some values.
    pub fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }

    /// Some of the values, in their order, at least one.
    pub fn some<T: Clone>(&mut self, values: &[T]) -> Vec<T> {
        let chosen: Vec<T> = values.iter().filter(|_| self.next().is_multiple_of(2)).cloned().collect();
        match chosen.is_empty() && !values.is_empty() {
            true => vec![self.pick(values)],
            false => chosen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_stays_a_seed() {
        let mut random = Random(1);
        assert_eq!([random.next(), random.next()], [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67]);
    }
}
