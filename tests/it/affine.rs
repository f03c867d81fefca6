//! Nests made at random, whose iterations are counted out: none of a loop that is called parallel may meet another one.
//!
//! Invariant: the same nests in every run; what is true of them is worked out by running them, not by reasoning.
//! `NESTS=30000 cargo test --test it affine` makes more of them.

use std::collections::HashMap;
use std::fmt::Write;

use acc2omp::source::Language;
use acc2omp::{LoopVerdict, Options, Source, translate};

/// How many nests are made, unless the environment says so.
const NESTS: u64 = 400;

/// The values of the parameters `n` and `m` with which a nest is counted out.
const VALUES: [i64; 8] = [-3, 0, 1, 2, 3, 4, 7, 10];

/// The rows and columns of the array of two dimensions.
const SIDE: i64 = 30;

/// The numbers that decide a nest.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// The values of `i`, `j`, `n` and `m`.
type Values = [i64; 4];

const NAMES: [&str; 4] = ["i", "j", "n", "m"];

/// A product with a factor.
#[derive(Clone, Copy)]
enum Term {
    Number(i64),
    Times(i64, usize),
    Product(usize, usize),
    Quotient(usize, i64),
    Remainder(usize, i64),
}

impl Term {
    fn value(self, values: &Values) -> i64 {
        match self {
            Term::Number(number) => number,
            Term::Times(factor, at) => factor * values[at],
            Term::Product(one, two) => values[one] * values[two],
            Term::Quotient(at, by) => values[at] / by,
            Term::Remainder(at, by) => values[at] % by,
        }
    }

    fn text(self) -> String {
        match self {
            Term::Number(number) => number.to_string(),
            Term::Times(1, at) => NAMES[at].to_owned(),
            Term::Times(factor, at) => format!("{factor} * {}", NAMES[at]),
            Term::Product(one, two) => format!("{} * {}", NAMES[one], NAMES[two]),
            Term::Quotient(at, by) => format!("{} / {by}", NAMES[at]),
            Term::Remainder(at, by) => format!("{} % {by}", NAMES[at]),
        }
    }
}

/// A sum of terms.
#[derive(Clone)]
struct Sum(Vec<Term>);

impl Sum {
    fn value(&self, values: &Values) -> i64 {
        self.0.iter().map(|term| term.value(values)).sum()
    }

    fn text(&self) -> String {
        self.0.iter().map(|term| term.text()).collect::<Vec<_>>().join(" + ")
    }

    /// A subscript, in which the first `loops` names are counters.
    fn subscript(dice: &mut Dice, loops: usize) -> Sum {
        let counter = |dice: &mut Dice| dice.below(loops as u64) as usize;
        let mut terms = Vec::new();
        let at = counter(dice);
        terms.push(match dice.below(12) {
            0 => Term::Quotient(at, dice.one(&[2, 3])),
            1 => Term::Remainder(at, dice.one(&[2, 5])),
            2 | 3 => Term::Product(at, dice.one(&[2, 3])),
            _ => Term::Times(dice.one(&[1, 1, 1, 2, 3, -1, -2]), at),
        });
        if loops == 2 && dice.below(3) > 0 {
            terms.push(Term::Times(dice.one(&[1, 1, 1, 2, -1, 4]), 1 - at));
        }
        if dice.below(3) == 0 {
            terms.push(Term::Times(dice.one(&[1, 1, -1, 2]), dice.one(&[2, 3])));
        }
        if dice.below(2) == 0 {
            terms.push(Term::Number(dice.one(&[1, 1, 2, 3, -1, -2, 5, 8, 12])));
        }
        Sum(terms)
    }

    /// A number, a parameter, or a counter around it, perhaps with a number.
    fn bound(dice: &mut Dice, around: usize, numbers: &[i64]) -> Sum {
        let mut terms = Vec::new();
        match dice.below(4) {
            0 => terms.push(Term::Times(1, dice.one(&[2, 3]))),
            1 if around > 0 => terms.push(Term::Times(1, 0)),
            _ => {}
        }
        if terms.is_empty() || dice.below(3) == 0 {
            terms.push(Term::Number(dice.one(numbers)));
        }
        Sum(terms)
    }
}

/// The head of a loop.
struct Head {
    first: Sum,
    end: Sum,
    is_inclusive: bool,
    step: i64,
}

impl Head {
    fn new(dice: &mut Dice, around: usize) -> Head {
        let step = dice.one(&[1, 1, 1, 1, 2, 3, -1, -2]);
        let (low, high) = (Sum::bound(dice, around, &[0, 0, 1, 2]), Sum::bound(dice, around, &[6, 8, 9, 12]));
        let (first, end) = if step > 0 { (low, high) } else { (high, low) };
        Head { first, end, is_inclusive: dice.below(3) == 0, step }
    }

    fn text(&self, at: usize) -> String {
        let (name, first, end) = (NAMES[at], self.first.text(), self.end.text());
        let less = if self.step > 0 { "<" } else { ">" };
        let equal = if self.is_inclusive { "=" } else { "" };
        format!("for (int {name} = {first}; {name} {less}{equal} {end}; {name} += {})", self.step)
    }

    fn counts(&self, values: &Values) -> Vec<i64> {
        let (mut at, end) = (self.first.value(values), self.end.value(values));
        let mut counts = Vec::new();
        while (at - end) * self.step.signum() < i64::from(self.is_inclusive) {
            counts.push(at);
            at += self.step;
        }
        counts
    }
}

/// A condition around a statement: the text, and whether it holds.
#[derive(Clone, Copy)]
enum Guard {
    Always,
    Differs(usize, i64),
    Below(usize, usize),
    Equal(usize, usize),
    Not(usize, usize),
}

impl Guard {
    fn new(dice: &mut Dice, loops: usize) -> Guard {
        let (at, other) = (dice.below(loops as u64) as usize, dice.one(&[2, 3]));
        match dice.below(10) {
            0 => Guard::Differs(at, dice.one(&[0, 3, 5])),
            1 => Guard::Below(at, other),
            2 => Guard::Equal(at, other),
            3 => Guard::Not(at, other),
            4 if loops == 2 => Guard::Below(at, 1 - at),
            _ => Guard::Always,
        }
    }

    fn text(self) -> String {
        match self {
            Guard::Always => String::new(),
            Guard::Differs(at, number) => format!("if ({} != {number}) ", NAMES[at]),
            Guard::Below(one, two) => format!("if ({} < {}) ", NAMES[one], NAMES[two]),
            Guard::Equal(one, two) => format!("if ({} == {}) ", NAMES[one], NAMES[two]),
            Guard::Not(one, two) => format!("if ({} != {}) ", NAMES[one], NAMES[two]),
        }
    }

    fn holds(self, values: &Values) -> bool {
        match self {
            Guard::Always => true,
            Guard::Differs(at, number) => values[at] != number,
            Guard::Below(one, two) => values[one] < values[two],
            Guard::Equal(one, two) => values[one] == values[two],
            Guard::Not(one, two) => values[one] != values[two],
        }
    }
}

/// An element is assigned, of another one; in two dimensions, each has two subscripts.
struct Assignment {
    guard: Guard,
    to: Vec<Sum>,
    from: Vec<Sum>,
}

struct Nest {
    heads: Vec<Head>,
    body: Vec<Assignment>,
    rank: usize,
}

impl Nest {
    fn new(dice: &mut Dice) -> Nest {
        let loops = dice.one(&[1, 2, 2]);
        let rank = if loops == 2 { dice.one(&[1, 1, 2]) } else { 1 };
        let heads = (0..loops).map(|around| Head::new(dice, around)).collect();
        let place = |dice: &mut Dice| (0..rank).map(|_| Sum::subscript(dice, loops)).collect();
        let mut body = Vec::new();
        for _ in 0..dice.one(&[1, 1, 2]) {
            let to: Vec<Sum> = place(dice);
            // A place nearby is met more often than any.
            let mut from = if dice.below(2) == 0 { to.clone() } else { place(dice) };
            if dice.below(2) == 0 {
                from[0].0.push(Term::Number(dice.one(&[1, -1, 2, 4, -7, 20])));
            }
            body.push(Assignment { guard: Guard::new(dice, loops), to, from });
        }
        Nest { heads, body, rank }
    }

    fn text(&self) -> String {
        let mut text =
            String::from("static double grid[30][30];\nvoid f(double *restrict a, int n, int m)\n{\n");
        text.push_str("#pragma acc kernels copy(a[0:1000], grid)\n");
        for (at, head) in self.heads.iter().enumerate() {
            let _ = writeln!(text, "{}", head.text(at));
        }
        text.push_str("{\n");
        for one in &self.body {
            let element = |place: &[Sum]| match place {
                [one] => format!("a[{}]", one.text()),
                _ => format!("grid[{}][{}]", place[0].text(), place[1].text()),
            };
            let _ =
                writeln!(text, "{}{} = {} + 1.0;", one.guard.text(), element(&one.to), element(&one.from));
        }
        text.push_str("}\n}\n");
        text
    }

    /// Whether no two iterations of loop `level` meet, with these parameters; `None`: the nest leaves its array.
    fn is_parallel(&self, level: usize, n: i64, m: i64) -> Option<bool> {
        let mut outer: Vec<Values> = vec![[0, 0, n, m]];
        for (at, head) in self.heads.iter().enumerate().take(level) {
            let step = |values: &Values| {
                let values = *values;
                head.counts(&values).into_iter().map(move |count| with(values, at, count))
            };
            outer = outer.iter().flat_map(step).collect();
        }
        let mut meets = false;
        for around in outer {
            // Of each place: the iteration that touched it, and whether one wrote.
            let mut touched: HashMap<(i64, i64), (usize, bool)> = HashMap::new();
            for (number, count) in self.heads[level].counts(&around).into_iter().enumerate() {
                for (place, writes) in self.accesses(level, with(around, level, count))? {
                    let (first, is_written) = touched.entry(place).or_insert((number, writes));
                    meets |= *first != number && (*is_written || writes);
                    *is_written |= writes;
                }
            }
        }
        Some(!meets)
    }

    /// What one iteration of a loop touches.
    fn accesses(&self, level: usize, values: Values) -> Option<Vec<((i64, i64), bool)>> {
        let mut all = vec![values];
        if let Some(inner) = self.heads.get(level + 1) {
            all = inner.counts(&values).into_iter().map(|count| with(values, level + 1, count)).collect();
        }
        let mut found = Vec::new();
        for values in all {
            for one in self.body.iter().filter(|one| one.guard.holds(&values)) {
                for (place, writes) in [(&one.from, false), (&one.to, true)] {
                    let at = match place.as_slice() {
                        [one] => (0, one.value(&values)),
                        _ => (place[0].value(&values), place[1].value(&values)),
                    };
                    if self.rank == 2 && !((0..SIDE).contains(&at.0) && (0..SIDE).contains(&at.1)) {
                        return None;
                    }
                    found.push((at, writes));
                }
            }
        }
        Some(found)
    }
}

fn with(mut values: Values, at: usize, value: i64) -> Values {
    values[at] = value;
    values
}

#[test]
fn what_is_called_parallel_never_meets() {
    let nests = std::env::var("NESTS").ok().and_then(|count| count.parse().ok()).unwrap_or(NESTS);
    let (mut found, mut meetings) = (0, 0);
    for seed in 0..nests {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let nest = Nest::new(&mut dice);
        let text = nest.text();
        let source = Source::new("nest.c", text.clone().into_bytes(), Language::C);
        let translation = translate(&source, &Options::default());
        // The heads stand in lines of their own, after the four lines before them.
        for level in 0..nest.heads.len() {
            let verdict =
                translation.loops.iter().find(|one| source.file.lines.line(one.span.start) == 4 + level);
            let Some(verdict) = verdict else { panic!("no verdict on loop {level}:\n{text}") };
            let cases = VALUES.iter().flat_map(|n| VALUES.iter().map(move |m| (*n, *m)));
            let mut counted = cases.filter_map(|(n, m)| Some((n, m, nest.is_parallel(level, n, m)?)));
            let meeting = counted.find(|(.., is_parallel)| !is_parallel);
            match (&verdict.verdict, meeting) {
                (LoopVerdict::Parallel { .. }, Some((n, m, _))) => {
                    panic!("nest {seed}, loop {level}, meets with n = {n}, m = {m}:\n{text}");
                }
                (LoopVerdict::Parallel { .. }, None) => found += 1,
                (LoopVerdict::Sequential { .. }, meeting) => meetings += u64::from(meeting.is_some()),
            }
        }
    }
    println!("{found} parallel, {meetings} that meet");
    assert!(found > nests / 10 && meetings > nests / 10, "{found} parallel, {meetings} that meet");
}
