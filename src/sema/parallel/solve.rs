//! Whether a system of linear equations and inequalities can have an integer solution.
//!
//! Invariant: `false` is a proof (Fourier-Motzkin elimination; equations by their greatest common divisor, bounds rounded to
//! integers). What grows too large counts as solvable.

use rustc_hash::FxHashMap;

use crate::budget;

/// More inequalities than this are not worked on.
const LIMIT: usize = 300;

/// A row: the factors of the unknowns, and after them the constant.
type Row = Vec<i128>;

/// A system over a fixed number of unknowns.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Sums that are zero.
    equal: Vec<Row>,
    /// Sums that are not negative.
    positive: Vec<Row>,
}

impl System {
    /// `row` is zero.
    pub(super) fn zero(&mut self, row: Row) {
        self.equal.push(row);
    }

    /// `row` is not negative.
    pub(super) fn not_negative(&mut self, row: Row) {
        self.positive.push(row);
    }

    /// Whether it may have a solution.
    pub(super) fn may_be_solved(mut self) -> bool {
        let width = self.equal.iter().chain(&self.positive).map(Vec::len).max().unwrap_or(1);
        self.equal.iter_mut().chain(&mut self.positive).for_each(|row| widen(row, width));
        self.eliminate_equations().is_some_and(|rows| may_hold(rows, width - 1))
    }

    /// Solves the equations; what remains are the inequalities. `None` if an equation cannot hold.
    fn eliminate_equations(mut self) -> Option<Vec<Row>> {
        let mut rows = std::mem::take(&mut self.positive);
        let mut pending = std::mem::take(&mut self.equal);
        while let Some(row) = pending.pop() {
            let (constant, factors) = row.split_last()?;
            let divisor = factors.iter().fold(0, |sum, factor| gcd(sum, *factor));
            if divisor == 0 {
                if *constant != 0 {
                    return None;
                }
                continue;
            }
            if constant % divisor != 0 {
                return None;
            }
            let row: Row = row.iter().map(|value| value / divisor).collect();
            let one = row[..row.len() - 1].iter().position(|factor| factor.abs() == 1);
            match one {
                Some(at) => {
                    for other in pending.iter_mut().chain(&mut rows) {
                        // Too large a number: it may hold.
                        if !substitute(other, &row, at) {
                            return Some(Vec::new());
                        }
                    }
                }
                // No unknown stands alone: two inequalities say less, and nothing wrong.
                None => {
                    rows.push(row.iter().map(|value| -value).collect());
                    rows.push(row);
                }
            }
        }
        Some(rows)
    }
}

/// Puts what `row`, which is zero, says of unknown `at` into `other`.
fn substitute(other: &mut Row, row: &Row, at: usize) -> bool {
    let times = other[at] * row[at].signum();
    if times == 0 {
        return true;
    }
    for (value, known) in other.iter_mut().zip(row) {
        let Some(new) = known.checked_mul(times).and_then(|part| value.checked_sub(part)) else {
            return false;
        };
        *value = new;
    }
    true
}

/// Whether inequalities over `unknowns` may all hold.
fn may_hold(mut rows: Vec<Row>, unknowns: usize) -> bool {
    let mut left: Vec<usize> = (0..unknowns).collect();
    loop {
        if !tighten(&mut rows) {
            return false;
        }
        // The unknown whose elimination makes the fewest rows.
        let cost = |at: usize| {
            let count = |sign: i128| rows.iter().filter(|row| row[at].signum() == sign).count();
            count(1) * count(-1)
        };
        left.retain(|at| rows.iter().any(|row| row[*at] != 0));
        let Some((place, at)) = left.iter().copied().enumerate().min_by_key(|(_, at)| cost(*at)) else {
            return true;
        };
        if cost(at) + rows.len() > LIMIT {
            return true;
        }
        left.swap_remove(place);
        match eliminated(rows, at) {
            Some(fewer) => rows = fewer,
            None => return true,
        }
    }
}

/// The rows without unknown `at`; `None` if a number grows too large.
fn eliminated(rows: Vec<Row>, at: usize) -> Option<Vec<Row>> {
    let (with, mut without): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row[at] != 0);
    let (lower, upper): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|row| row[at] > 0);
    let width = without.first().or(lower.first()).map_or(0, Vec::len);
    budget::spend((lower.len() * upper.len() * width) as u64 / 2);
    for low in &lower {
        for up in &upper {
            let pairs = low.iter().zip(up);
            let sum =
                pairs.map(|(one, two)| one.checked_mul(-up[at])?.checked_add(two.checked_mul(low[at])?));
            without.push(sum.collect::<Option<Row>>()?);
        }
    }
    Some(without)
}

/// Divides each row by what its factors have in common, rounds its constant down, and drops what others say better. False
/// if a row cannot hold.
fn tighten(rows: &mut Vec<Row>) -> bool {
    budget::spend(rows.iter().map(|row| row.len() as u64).sum());
    let mut known: FxHashMap<Row, i128> = FxHashMap::default();
    for mut factors in rows.drain(..) {
        let Some(constant) = factors.pop() else { continue };
        let divisor = divisor(&factors);
        if divisor == 0 {
            if constant < 0 {
                return false;
            }
            continue;
        }
        if divisor != 1 {
            factors.iter_mut().for_each(|factor| *factor /= divisor);
        }
        let constant = if divisor == 1 { constant } else { constant.div_euclid(divisor) };
        let least = known.entry(factors).or_insert(constant);
        *least = (*least).min(constant);
    }
    // A row and its opposite leave nothing between them.
    for (factors, constant) in &known {
        let opposite: Row = factors.iter().map(|factor| -factor).collect();
        if known.get(&opposite).is_some_and(|other| constant + other < 0) {
            return false;
        }
    }
    rows.extend(known.into_iter().map(|(mut factors, constant)| {
        factors.push(constant);
        factors
    }));
    rows.sort_unstable();
    true
}

/// Zeros for the unknowns that a row does not know, before its constant.
fn widen(row: &mut Row, width: usize) {
    let constant = row.pop().unwrap_or(0);
    row.resize(width - 1, 0);
    row.push(constant);
}

/// What all factors have in common.
fn divisor(factors: &[i128]) -> i128 {
    let mut common = 0;
    for factor in factors {
        common = gcd(common, *factor);
        if common == 1 {
            break;
        }
    }
    common
}

fn gcd(a: i128, b: i128) -> i128 {
    // Division of numbers that fit a register costs much less.
    match (u64::try_from(a.unsigned_abs()), u64::try_from(b.unsigned_abs())) {
        (Ok(mut a), Ok(mut b)) => {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            i128::from(a)
        }
        _ if b == 0 => a.abs(),
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests;
