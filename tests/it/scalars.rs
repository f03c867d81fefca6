//! Loops made at random whose iterations set scalars: run in another order, as their verdict says that it is done.
//!
//! Invariant: what a verdict means is played, not argued: each iteration begins with poison in what is private and with
//! nothing in what is combined. `LOOPS=50000 cargo test --test it scalars` makes more of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use acc2omp::source::Language;
use acc2omp::{LoopVerdict, Options, Source, translate};

/// How many loops are made, unless the environment says so.
const LOOPS: u64 = 1500;

/// How many iterations each has.
const TRIPS: usize = 6;

const POISON: i64 = 0x7f7f_7f7f;

const NAMES: [&str; 3] = ["t", "u", "s"];

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    Max,
    Min,
}

use Operator::{Add, And, Max, Min, Multiply, Or, Subtract, Xor};

impl Operator {
    fn named(name: &str) -> Operator {
        match name {
            "+" => Add,
            "*" => Multiply,
            "&" => And,
            "|" => Or,
            "^" => Xor,
            "max" => Max,
            "min" => Min,
            other => panic!("`{other}` combines what the loop does not"),
        }
    }

    fn of(self, one: i64, two: i64) -> i64 {
        match self {
            Add => one.wrapping_add(two),
            Subtract => one.wrapping_sub(two),
            Multiply => one.wrapping_mul(two),
            And => one & two,
            Or => one | two,
            Xor => one ^ two,
            Max => one.max(two),
            Min => one.min(two),
        }
    }

    /// What changes nothing.
    fn nothing(self) -> i64 {
        match self {
            Add | Subtract | Or | Xor => 0,
            Multiply => 1,
            And => -1,
            Max => i64::MIN,
            Min => i64::MAX,
        }
    }

    fn text(self, one: &str, two: &str) -> String {
        let word = match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            And => "&",
            Or => "|",
            Xor => "^",
            Max => return format!("({one} > {two} ? {one} : {two})"),
            Min => return format!("({one} < {two} ? {one} : {two})"),
        };
        format!("({one} {word} {two})")
    }
}

#[derive(Clone)]
enum Value {
    Number(i64),
    Scalar(usize),
    Read,
    Here,
    Of(Operator, Box<Value>, Box<Value>),
}

impl Value {
    fn new(dice: &mut Dice, depth: usize) -> Value {
        match dice.below(if depth == 0 { 7 } else { 10 }) {
            0 => Value::Number(dice.one(&[0, 1, 2, 5])),
            1 | 2 => Value::Scalar(dice.below(3) as usize),
            3 => Value::Here,
            4..7 => Value::Read,
            _ => {
                let operator = dice.one(&[Add, Subtract, Multiply, And, Max]);
                let (one, two) = (Value::new(dice, depth - 1), Value::new(dice, depth - 1));
                Value::Of(operator, Box::new(one), Box::new(two))
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Scalar(at) => NAMES[*at].to_owned(),
            Value::Read => "b[i]".to_owned(),
            Value::Here => "a[i]".to_owned(),
            Value::Of(operator, one, two) => operator.text(&one.text(), &two.text()),
        }
    }

    fn value(&self, state: &State, i: usize) -> i64 {
        match self {
            Value::Number(number) => *number,
            Value::Scalar(at) => state.scalars[*at],
            Value::Read => state.b[i],
            Value::Here => state.a[i],
            Value::Of(operator, one, two) => operator.of(one.value(state, i), two.value(state, i)),
        }
    }
}

enum Step {
    /// `t = value`
    Set(usize, Value),
    /// `t += value`, or the value before the scalar.
    Combine(usize, Operator, Value, bool),
    /// `if (value > t) t = value`
    Raise(usize, Value),
    /// `a[i] = value`
    Store(Value),
    /// `if (one > two) … else …`
    If(Value, Value, Vec<Step>, Vec<Step>),
    /// `for (j < count) …`
    For(Value, Vec<Step>),
    Continue(Value),
}

impl Step {
    fn new(dice: &mut Dice, depth: usize, is_inner: bool) -> Step {
        let at = dice.below(3) as usize;
        match dice.below(if depth == 0 { 12 } else { 17 }) {
            0..5 => Step::Set(at, Value::new(dice, 1)),
            5..8 => {
                let operator = dice.one(&[Add, Add, Subtract, Multiply, And, Or, Xor, Max, Min]);
                Step::Combine(at, operator, Value::new(dice, 1), dice.below(3) == 0)
            }
            8 => Step::Raise(at, Value::new(dice, 1)),
            9..12 => Step::Store(Value::new(dice, 1)),
            12..15 => {
                let other =
                    if dice.below(2) == 0 { Step::some(dice, depth - 1, is_inner) } else { Vec::new() };
                let then = Step::some(dice, depth - 1, is_inner);
                Step::If(Value::new(dice, 0), Value::new(dice, 0), then, other)
            }
            15 if !is_inner => Step::Continue(Value::new(dice, 0)),
            _ if is_inner => Step::Set(at, Value::Read),
            _ => {
                let count = if dice.below(2) == 0 { Value::Number(3) } else { Value::Read };
                Step::For(count, Step::some(dice, depth - 1, true))
            }
        }
    }

    fn some(dice: &mut Dice, depth: usize, is_inner: bool) -> Vec<Step> {
        (0..dice.one(&[1, 1, 2, 3])).map(|_| Step::new(dice, depth, is_inner)).collect()
    }

    fn write(steps: &[Step], text: &mut String) {
        for step in steps {
            let _ = match step {
                Step::Set(at, value) => writeln!(text, "{} = {};", NAMES[*at], value.text()),
                Step::Combine(at, operator, value, is_after) => {
                    let (name, value) = (NAMES[*at], value.text());
                    let whole = if *is_after && *operator != Subtract {
                        operator.text(&value, name)
                    } else {
                        operator.text(name, &value)
                    };
                    writeln!(text, "{name} = {whole};")
                }
                Step::Raise(at, value) => {
                    let (name, value) = (NAMES[*at], value.text());
                    writeln!(text, "if ({value} > {name}) {name} = {value};")
                }
                Step::Store(value) => writeln!(text, "a[i] = {};", value.text()),
                Step::If(one, two, then, other) => {
                    let _ = writeln!(text, "if ({} > {}) {{", one.text(), two.text());
                    Step::write(then, text);
                    text.push_str("} else {\n");
                    Step::write(other, text);
                    writeln!(text, "}}")
                }
                Step::For(count, body) => {
                    let _ = writeln!(text, "for (int j = 0; j < {}; j++) {{", count.text());
                    Step::write(body, text);
                    writeln!(text, "}}")
                }
                Step::Continue(value) => writeln!(text, "if ({} > 2) continue;", value.text()),
            };
        }
    }

    /// Runs steps of iteration `i`; false: a jump leaves the iteration.
    fn run(steps: &[Step], state: &mut State, i: usize) -> bool {
        for step in steps {
            match step {
                Step::Set(at, value) => state.scalars[*at] = value.value(state, i),
                Step::Combine(at, operator, value, _) => {
                    state.scalars[*at] = operator.of(state.scalars[*at], value.value(state, i));
                }
                Step::Raise(at, value) => {
                    let value = value.value(state, i);
                    state.scalars[*at] = state.scalars[*at].max(value);
                }
                Step::Store(value) => state.a[i] = value.value(state, i),
                Step::If(one, two, then, other) => {
                    let side = if one.value(state, i) > two.value(state, i) { then } else { other };
                    if !Step::run(side, state, i) {
                        return false;
                    }
                }
                Step::For(count, body) => {
                    // The count may not change on its way: it is a number, or an element that is only read.
                    for _ in 0..count.value(state, i) {
                        Step::run(body, state, i);
                    }
                }
                Step::Continue(value) if value.value(state, i) > 2 => return false,
                Step::Continue(_) => {}
            }
        }
        true
    }

    /// The scalars that steps set.
    fn sets(steps: &[Step], set: &mut BTreeSet<usize>) {
        for step in steps {
            match step {
                Step::Set(at, _) | Step::Combine(at, ..) | Step::Raise(at, _) => {
                    set.insert(*at);
                }
                Step::If(_, _, then, other) => {
                    Step::sets(then, set);
                    Step::sets(other, set);
                }
                Step::For(_, body) => Step::sets(body, set),
                Step::Store(_) | Step::Continue(_) => {}
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    scalars: [i64; 3],
    a: [i64; TRIPS],
    b: [i64; TRIPS],
}

impl State {
    fn new(dice: &mut Dice) -> State {
        let mut numbers = || std::array::from_fn(|_| dice.below(9) as i64 - 3);
        State { scalars: [4, -1, 2], a: numbers(), b: numbers() }
    }

    /// What the loop does as it stands.
    fn in_order(&self, body: &[Step]) -> State {
        let mut state = self.clone();
        for i in 0..TRIPS {
            Step::run(body, &mut state, i);
        }
        state
    }

    /// The iterations in another order, with what each has of its own.
    fn reordered(
        &self,
        body: &[Step],
        private: &BTreeSet<usize>,
        combined: &[(Operator, usize)],
        computed: &BTreeSet<usize>,
        dice: &mut Dice,
    ) -> State {
        let mut begins = vec![self.clone()];
        for i in 0..TRIPS {
            let mut next = begins[i].clone();
            Step::run(body, &mut next, i);
            begins.push(next);
        }
        let mut order: Vec<usize> = (0..TRIPS).collect();
        for at in 1..TRIPS {
            order.swap(at, dice.below(at as u64 + 1) as usize);
        }
        let mut state = self.clone();
        for i in order {
            private.iter().for_each(|at| state.scalars[*at] = POISON);
            computed.iter().for_each(|at| state.scalars[*at] = begins[i].scalars[*at]);
            let before = state.scalars;
            combined.iter().for_each(|(operator, at)| state.scalars[*at] = operator.nothing());
            Step::run(body, &mut state, i);
            for (operator, at) in combined {
                state.scalars[*at] = operator.of(before[*at], state.scalars[*at]);
            }
        }
        state
    }
}

#[test]
fn scalars_are_what_the_verdict_says() {
    let loops = std::env::var("LOOPS").ok().and_then(|count| count.parse().ok()).unwrap_or(LOOPS);
    let (mut parallel, mut combining, mut differing) = (0, 0, 0);
    let none = BTreeSet::new();
    for seed in 0..loops {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let body = (0..dice.one(&[2, 3, 4])).map(|_| Step::new(&mut dice, 2, false)).collect::<Vec<_>>();
        let live: Vec<usize> = (0..3).filter(|_| dice.below(3) == 0).collect();
        let text = program(&body, &live);
        let source = Source::new("loop.c", text.clone().into_bytes(), Language::C);
        let translation = translate(&source, &Options::default());
        let line = |start: u32| source.file.lines.line(start);
        let verdict = translation.loops.iter().find(|one| line(one.span.start) == 4);
        let Some(LoopVerdict::Parallel { private, reductions, computed, .. }) =
            verdict.map(|one| &one.verdict)
        else {
            let start = State::new(&mut dice);
            differing +=
                u64::from(start.in_order(&body) != start.reordered(&body, &none, &[], &none, &mut dice));
            continue;
        };
        let number = |name: &String| NAMES.iter().position(|one| one == name);
        let combined: Vec<(Operator, usize)> = reductions
            .iter()
            .filter_map(|(operator, name)| Some((Operator::named(operator), number(name)?)))
            .collect();
        let computed = computed.iter().filter_map(|text| text.split_once(" = "));
        let computed: BTreeSet<usize> = computed.filter_map(|(name, _)| number(&name.to_owned())).collect();
        // What loops inside have of their own, this one has, too.
        let inner = translation.loops.iter().filter_map(|one| match &one.verdict {
            LoopVerdict::Parallel { private, .. } => Some(private),
            LoopVerdict::Sequential { .. } => None,
        });
        let private: BTreeSet<usize> = private.iter().chain(inner.flatten()).filter_map(number).collect();
        let mut set = BTreeSet::new();
        Step::sets(&body, &mut set);
        let failure = |why: &str| format!("loop {seed}: {why}: {verdict:?}\n{text}");
        for at in &set {
            let is_known =
                private.contains(at) || computed.contains(at) || combined.iter().any(|(_, one)| one == at);
            assert!(is_known, "{}", failure(NAMES[*at]));
        }
        for _ in 0..6 {
            let start = State::new(&mut dice);
            let expected = start.in_order(&body);
            let found = start.reordered(&body, &private, &combined, &computed, &mut dice);
            assert_eq!(found.a, expected.a, "{}", failure("another order"));
            for at in live.iter().chain(combined.iter().map(|(_, at)| at)) {
                // What is computed is set after the loop, if it is wanted.
                let is_same = found.scalars[*at] == expected.scalars[*at] || computed.contains(at);
                assert!(is_same || private.contains(at) && !live.contains(at), "{}", failure(NAMES[*at]));
            }
        }
        parallel += 1;
        combining += u64::from(!combined.is_empty());
    }
    let counts =
        format!("{parallel} parallel, {combining} with reductions, {differing} where the order counts");
    println!("{counts}");
    assert!(parallel > loops / 20 && combining > loops / 100 && differing > loops / 3, "{counts}");
}

/// A function with the loop in its fifth line.
fn program(body: &[Step], live: &[usize]) -> String {
    let mut text = String::from("void f(int *restrict a, const int *restrict b, int *restrict out)\n{\n");
    text.push_str("int t = 4, u = -1, s = 2;\n#pragma acc kernels copy(a[0:6]) copyin(b[0:6])\n");
    text.push_str("for (int i = 0; i < 6; i++) {\n");
    Step::write(body, &mut text);
    text.push_str("}\n");
    for at in live {
        let _ = writeln!(text, "out[{at}] = {};", NAMES[*at]);
    }
    text.push_str("}\n");
    text
}
