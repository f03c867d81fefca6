//! Dependence tests: whether two iterations of a loop can meet in memory.
//!
//! Invariant: "apart" is a proof. Two accesses meet if their subscripts are equal within the bounds of their loops and under
//! their conditions; that is a system of linear equations and inequalities, which contains the ZIV, SIV, GCD and Banerjee
//! tests. Subscripts that were made linear by hand (`i * n + j`) are split again where the parts stay within their strides.

use rustc_hash::FxHashMap;

use crate::budget;

use super::access::{Access, Nest, Step};
use super::affine::{Atom, AtomId, Monomial, Poly};
use super::condition::{ConditionId, Guard};
use super::solve::System;
use crate::sema::Element;

/// How far apart two iterations are that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// So many iterations, always.
    Exactly(i64),
    /// The second one is later.
    Later,
    /// The second one is earlier.
    Earlier,
    /// It may be either.
    Any,
}

/// Which of the two instances of a nest an access belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Copy {
    Both,
    First,
    Second,
}

/// The unknowns of a system, and the system.
struct Equations<'n, 'a> {
    nest: &'n Nest<'a>,
    /// The loop whose iterations are compared.
    carrier: usize,
    unknowns: FxHashMap<(Monomial, Copy), usize>,
    system: System,
}

impl Equations<'_, '_> {
    /// Whether the atom is the same in both iterations: what is counted, or set, inside the loop is not.
    fn is_shared(&self, atom: AtomId) -> bool {
        self.nest.is_fixed_atom(atom, self.carrier)
    }

    /// A polynomial as a sum over the unknowns.
    fn row(&mut self, parts: &[(&Poly, Copy, i128)], constant: i128) -> Vec<i128> {
        let mut row = vec![0; self.unknowns.len()];
        let mut constant = constant;
        for (poly, copy, times) in parts {
            for (monomial, factor) in poly.terms() {
                budget::spend(1);
                let factor = i128::from(factor) * times;
                if monomial.is_empty() {
                    constant += factor;
                    continue;
                }
                let shared = monomial.iter().all(|atom| self.is_shared(*atom));
                let copy = if shared { Copy::Both } else { *copy };
                let next = self.unknowns.len();
                let at = *self.unknowns.entry((monomial.clone(), copy)).or_insert(next);
                if row.len() <= at {
                    row.resize(at + 1, 0);
                }
                row[at] += factor;
            }
        }
        row.push(constant);
        budget::spend(row.len() as u64 / 8);
        row
    }

    fn not_negative(&mut self, parts: &[(&Poly, Copy, i128)], constant: i128) {
        let row = self.row(parts, constant);
        self.push(row, false);
    }

    fn zero(&mut self, parts: &[(&Poly, Copy, i128)]) {
        let row = self.row(parts, 0);
        self.push(row, true);
    }

    fn push(&mut self, mut row: Vec<i128>, is_equation: bool) {
        // The constant stands last, whatever unknowns are still to come.
        let constant = row.pop().unwrap_or(0);
        budget::spend(WIDTH as u64 / 4);
        row.resize(WIDTH, 0);
        row.push(constant);
        if is_equation { self.system.zero(row) } else { self.system.not_negative(row) }
    }

    /// The bounds of the loops around an access, and its conditions.
    fn around(&mut self, access: &Access, copy: Copy) {
        self.surrounded(access.inside, access.conditions, copy);
    }

    /// The bounds of a loop and those around it, and conditions.
    fn surrounded(&mut self, inside: Option<usize>, conditions: Option<ConditionId>, copy: Copy) {
        let nest = self.nest;
        for at in nest.around(inside) {
            for bound in &nest.loops[at].bounds {
                self.not_negative(&[(bound, copy, 1)], 0);
            }
        }
        for guard in nest.all_conditions.guards(conditions) {
            if let Guard::NotNegative(poly) = guard {
                self.not_negative(&[(poly, copy, 1)], 0);
            }
        }
    }

    fn may_hold(self) -> bool {
        self.unknowns.len() > WIDTH || self.system.may_be_solved()
    }
}

/// More unknowns than this are not worked on.
const WIDTH: usize = 40;

/// What two accesses have in common on the way to what they touch.
pub(super) enum Way {
    /// They are different parts: they never meet.
    Apart,
    /// They meet where all these are equal; `None` is not known. One may be a part of the other.
    Equal(Vec<Option<(Poly, Poly)>>),
    /// They go through pointers that may be equal or not.
    Pointers,
}

fn is_cast(step: &Step) -> bool {
    matches!(step, Step::As(_))
}

impl Nest<'_> {
    /// Compares the steps of two accesses of one variable. With `rows_differ`, pointers in an array lead to different memory.
    pub(super) fn way(&self, one: &Access, two: &Access, carrier: Option<usize>, rows_differ: bool) -> Way {
        let mut pairs: Vec<Option<(Poly, Poly)>> = Vec::new();
        let (steps, others) = (&one.place.steps, &two.place.steps);
        let is_fortran = self.facts.unit.is_fortran();
        let is_hop = |step: &Step| match step {
            Step::Hop => true,
            Step::Member(name) => is_fortran && self.is_pointer_member(name),
            Step::Index(_) | Step::As(_) => false,
        };
        let last_hop = steps.iter().zip(others).rposition(|(a, b)| a == b && is_hop(a));
        let is_same = |a: &Option<Poly>, b: &Option<Poly>| {
            a.is_some() && a == b && a.iter().all(|a| self.is_fixed(a, carrier))
        };
        for (at, (a, b)) in steps.iter().zip(others).enumerate() {
            let is_before_hop = last_hop.is_some_and(|last| at < last);
            match (a, b) {
                (Step::Hop, Step::Hop) => {}
                // Another shape begins at the same place, and is the same one.
                (Step::As(a), Step::As(b)) if a == b && a.is_some() => {
                    let same = |(a, b): &(Poly, Poly)| is_same(&Some(a.clone()), &Some(b.clone()));
                    if !pairs.iter().all(|pair| pair.as_ref().is_some_and(same)) {
                        return Way::Pointers;
                    }
                }
                (Step::Member(a), Step::Member(b)) if a == b => {}
                // Where members of a union begin to differ, they have a part in common.
                (Step::Member(a), Step::Member(b)) if self.facts.symbols.are_overlaid(a, b) => {
                    return if is_before_hop { Way::Pointers } else { Way::Equal(pairs) };
                }
                (Step::Member(_), Step::Member(_)) => {
                    let is_apart =
                        rows_differ || self.are_members_apart((one, two), &steps[at..], &others[at..]);
                    return if is_apart { Way::Apart } else { Way::Pointers };
                }
                (Step::Index(a), Step::Index(b)) => {
                    if is_before_hop && !is_same(a, b) && !rows_differ {
                        return Way::Pointers;
                    }
                    pairs.push(a.clone().zip(b.clone()));
                }
                _ => return Way::Pointers,
            }
        }
        let (shorter, longer) = if steps.len() > others.len() { (two, one) } else { (one, two) };
        let rest = &longer.place.steps[shorter.place.steps.len()..];
        if rest.iter().any(|step| matches!(step, Step::As(_))) {
            return Way::Pointers;
        }
        // One is a part of the other; a pointer on the rest of the way leads elsewhere, unless all of it is meant.
        if !(one.is_deep || two.is_deep) && rest.contains(&Step::Hop) {
            let is_link = rest.first() == Some(&Step::Hop) && self.held_at(longer) == Some(Element::Pointer);
            return if is_link && !rows_differ && self.is_c() { Way::Pointers } else { Way::Apart };
        }
        Way::Equal(pairs)
    }

    /// Whether two accesses are to other parts of one variable.
    pub(super) fn are_other_parts(&self, one: &Access, two: &Access) -> bool {
        matches!(self.way(one, two, None, self.facts.no_alias), Way::Apart)
    }

    /// Whether what lies after two different members is apart: `rest` and `others` are the steps from there on.
    fn are_members_apart(&self, pair: (&Access, &Access), rest: &[Step], others: &[Step]) -> bool {
        let hop = |steps: &[Step]| steps.iter().rposition(|step| *step == Step::Hop);
        let (short, long, last) = match (hop(rest), hop(others)) {
            (None, None) => return true,
            _ if !self.is_c() => return hop(rest).is_none() || hop(others).is_none(),
            _ if self.hold_other_types(pair.0, pair.1) => return true,
            (Some(_), Some(_)) => return false,
            (None, Some(last)) => (rest, others, last),
            (Some(last), None) => (others, rest, last),
        };
        let origins = self.facts.origins();
        let names = |steps: &[Step]| -> Vec<String> {
            let name = |step: &Step| match step {
                Step::Member(name) => Some(name.clone()),
                _ => None,
            };
            steps.iter().filter_map(name).collect()
        };
        let (named, found) = (names(short), names(&long[last..]));
        let is_overlaid = |name: &String| self.facts.symbols.overlaid().contains(name);
        if origins.has_overlays() || named.iter().chain(&found).any(is_overlaid) || long.iter().any(is_cast) {
            return false;
        }
        match found.is_empty() {
            // A pointer to a number: some member's address must have been taken.
            true => !named.iter().any(|name| origins.is_member_taken(name)),
            // A pointer to a struct: to the one that holds the member, or to one around it or in it.
            false => !named.ends_with(&found) && !found.ends_with(&named),
        }
    }

    fn is_c(&self) -> bool {
        !self.facts.unit.is_fortran()
    }

    /// Whether the loop does not change a value.
    fn is_fixed(&self, poly: &Poly, carrier: impl Into<Option<usize>>) -> bool {
        let carrier = carrier.into();
        poly.atoms().all(|atom| self.is_fixed_atom(atom, carrier))
    }

    fn is_fixed_atom(&self, atom: AtomId, carrier: impl Into<Option<usize>>) -> bool {
        let carrier = carrier.into();
        budget::spend(1);
        self.atoms.is_fixed(atom, &|atom| match atom {
            Atom::Counter(at) => carrier.is_some_and(|carrier| !self.is_within(Some(*at), carrier)),
            Atom::Unknown(inside, _) => carrier.is_some_and(|carrier| !self.is_within(*inside, carrier)),
            Atom::Entry(_) | Atom::Member(..) | Atom::Of(..) | Atom::Converted(..) => true,
        })
    }

    /// Whether `one` in an iteration of loop `carrier` and `two` in a later one can touch the same element.
    pub(super) fn may_meet(
        &self,
        one: &Access,
        two: &Access,
        carrier: usize,
        pairs: &[Option<(Poly, Poly)>],
    ) -> bool {
        let known: Vec<(Poly, Poly)> = pairs.iter().flatten().cloned().collect();
        if self.never_equal(&known, carrier) {
            return false;
        }
        let known = self.parted(one, two, carrier, known);
        if self.never_equal(&known, carrier) {
            return false;
        }
        self.feasible(one, two, carrier, &known)
    }

    /// Whether the quick tests alone keep two accesses with these subscripts apart, whatever their conditions are.
    pub(super) fn never_meet(&self, pairs: &[Option<(Poly, Poly)>], carrier: usize) -> bool {
        let known: Vec<(Poly, Poly)> = pairs.iter().flatten().cloned().collect();
        let turned: Vec<(Poly, Poly)> = known.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
        self.never_equal(&known, carrier) && self.never_equal(&turned, carrier)
    }

    /// The quick tests of one subscript: both are fixed and differ, or both move on alike and differ by what no iteration does.
    fn never_equal(&self, pairs: &[(Poly, Poly)], carrier: usize) -> bool {
        let counter = self.loops[carrier].counter;
        pairs.iter().any(|(a, b)| {
            let (Some(one), Some(two)) = (a.coefficient(counter), b.coefficient(counter)) else {
                return false;
            };
            let Some(step) = one.value().filter(|_| one == two) else { return false };
            let moved = Poly::atom(counter).scaled(step);
            let rests = moved.and_then(|moved| Some((a.plus(&moved, -1)?, b.plus(&moved, -1)?)));
            let Some((a, b)) = rests.filter(|(a, b)| self.is_fixed(a, carrier) && self.is_fixed(b, carrier))
            else {
                return false;
            };
            match (step, b.plus(&a, -1).and_then(|rest| rest.value())) {
                (0, Some(rest)) => rest != 0,
                // The same element in another iteration: never, unless the distance is a whole number of steps.
                (step, Some(rest)) => rest % step != 0 || rest == 0,
                _ => false,
            }
        })
    }

    /// Subscripts that were made linear by hand, split again.
    fn parted(
        &self,
        one: &Access,
        two: &Access,
        carrier: usize,
        pairs: Vec<(Poly, Poly)>,
    ) -> Vec<(Poly, Poly)> {
        let mut pending = pairs;
        let mut parted = Vec::new();
        while let Some((a, b)) = pending.pop() {
            let stride = [&a, &b].into_iter().find_map(|poly| self.stride(poly));
            let split = stride.and_then(|stride| {
                let ((high, low), (other_high, other_low)) = (a.divided(&stride)?, b.divided(&stride)?);
                // Rows may begin anywhere, if they all do: after an offset, or where the program counts from one, at one.
                let offset = low.common(&other_low, |atom| self.is_fixed_atom(atom, carrier));
                let [low_part, other_part] = [&low, &other_low].map(|low| low.plus(&offset, -1));
                let (low_part, other_part) = (low_part?, other_part?);
                let [first, second] = [&low_part, &other_part].map(Poly::constant_term);
                let mut starts = vec![0, 1, first, second];
                // From one, after an offset.
                starts.extend([first, second].into_iter().filter_map(|start| start.checked_add(1)));
                starts.dedup();
                let stays = starts.into_iter().any(|start| {
                    let stays = |access, low: &Poly| {
                        let low = low.shifted(start.checked_neg().unwrap_or(0));
                        low.is_some_and(|low| self.stays_within(access, &low, &stride, carrier))
                    };
                    stays(one, &low_part) && stays(two, &other_part)
                });
                // Or where the loops that count within a row begin.
                let stays = stays
                    || [self.least(one, &low), self.least(two, &other_low)].into_iter().flatten().any(
                        |start| {
                            let stays = |access, low: &Poly| {
                                let low = low.plus(&start, -1);
                                low.is_some_and(|low| self.stays_within(access, &low, &stride, carrier))
                            };
                            self.is_fixed(&start, carrier) && stays(one, &low) && stays(two, &other_low)
                        },
                    );
                stays.then_some([(high, other_high), (low, other_low)])
            });
            match split {
                Some(parts) if parted.len() + pending.len() < 8 => pending.extend(parts),
                _ => parted.push((a, b)),
            }
        }
        parted
    }

    /// The value where each loop that counts in it is at the end of its range that makes it least.
    fn least(&self, access: &Access, value: &Poly) -> Option<Poly> {
        let mut least = value.clone();
        for at in self.around(access.inside) {
            let counter = self.loops[at].counter;
            let times = least.coefficient(counter)?.value()?;
            let is_end = |bound: &&Poly| {
                let factor = bound.coefficient(counter).and_then(|factor| factor.value());
                factor == Some(times.signum())
            };
            if times != 0 {
                let end = self.loops[at].bounds.iter().find(is_end)?;
                least = least.plus(end, times.checked_abs()?.checked_neg()?)?;
            }
        }
        Some(least)
    }

    /// The shortest stride of a counter that is not a number.
    fn stride(&self, poly: &Poly) -> Option<Poly> {
        let counters =
            poly.atoms().filter(|atom| !matches!(self.atoms.get(*atom), Atom::Entry(_) | Atom::Member(..)));
        let strides = counters.filter_map(|counter| poly.coefficient(counter));
        let is_symbolic = |stride: &Poly| {
            stride.value().is_none()
                && stride
                    .atoms()
                    .all(|atom| matches!(self.atoms.get(atom), Atom::Entry(_) | Atom::Member(..)))
        };
        let degree = |stride: &Poly| stride.terms().map(|(monomial, _)| monomial.len()).max();
        strides.filter(is_symbolic).min_by_key(|stride| (degree(stride), stride.clone()))
    }

    /// Whether `0 <= low < stride` wherever the access happens.
    fn stays_within(&self, access: &Access, low: &Poly, stride: &Poly, carrier: usize) -> bool {
        let outside = |times: i128, with_stride: bool| {
            let mut equations = self.equations(carrier);
            equations.around(access, Copy::First);
            match with_stride {
                // low - stride >= 0
                true => equations.not_negative(&[(low, Copy::First, times), (stride, Copy::First, -1)], 0),
                // -low - 1 >= 0
                false => equations.not_negative(&[(low, Copy::First, times)], -1),
            }
            equations.may_hold()
        };
        !outside(-1, false) && !outside(1, true)
    }

    /// Whether a value lies in a range wherever the code is reached that is being read.
    pub(super) fn is_between(&self, value: &Poly, low: i64, high: i64) -> bool {
        if let Some(value) = value.value() {
            return low <= value && value <= high;
        }
        let Some(inside) = self.inside else { return false };
        let may_be = |times: i128, constant: i128| {
            let mut equations = self.equations(inside);
            equations.surrounded(self.inside, self.conditions.last().copied(), Copy::First);
            equations.not_negative(&[(value, Copy::First, times)], constant);
            equations.may_hold()
        };
        // high + 1 <= value, or value <= low - 1
        !may_be(1, -i128::from(high) - 1) && !may_be(-1, i128::from(low) - 1)
    }

    fn equations(&self, carrier: usize) -> Equations<'_, '_> {
        Equations { nest: self, carrier, unknowns: FxHashMap::default(), system: System::default() }
    }

    /// The full test.
    fn feasible(&self, one: &Access, two: &Access, carrier: usize, pairs: &[(Poly, Poly)]) -> bool {
        let mut equations = self.equations(carrier);
        let counter = Poly::atom(self.loops[carrier].counter);
        equations.not_negative(&[(&counter, Copy::Second, 1), (&counter, Copy::First, -1)], -1);
        self.meet(&mut equations, one, two, pairs);
        let excluded = self.excluded(one, two);
        match excluded.as_slice() {
            [] => equations.may_hold(),
            // What is not zero is less or more.
            [(poly, copy), ..] => [1, -1].into_iter().any(|sign| {
                let mut with = Equations {
                    nest: self,
                    carrier,
                    unknowns: equations.unknowns.clone(),
                    system: equations.system.clone(),
                };
                with.not_negative(&[(poly, *copy, sign)], -1);
                match excluded.get(1) {
                    None => with.may_hold(),
                    Some((poly, copy)) => [1, -1].into_iter().any(|sign| {
                        let mut both = Equations {
                            nest: self,
                            carrier,
                            unknowns: with.unknowns.clone(),
                            system: with.system.clone(),
                        };
                        both.not_negative(&[(poly, *copy, sign)], -1);
                        both.may_hold()
                    }),
                }
            }),
        }
    }

    fn meet(&self, equations: &mut Equations, one: &Access, two: &Access, pairs: &[(Poly, Poly)]) {
        for (a, b) in pairs {
            equations.zero(&[(a, Copy::First, 1), (b, Copy::Second, -1)]);
        }
        equations.around(one, Copy::First);
        equations.around(two, Copy::Second);
    }

    /// What conditions say is not zero.
    fn excluded(&self, one: &Access, two: &Access) -> Vec<(Poly, Copy)> {
        let of = |access: &Access, copy| {
            let excluded = self.guards_of(access).filter_map(|guard| match guard {
                Guard::NotZero(poly) => Some(poly.clone()),
                Guard::NotNegative(_) => None,
            });
            excluded.map(move |poly| (poly, copy)).collect::<Vec<_>>()
        };
        [of(one, Copy::First), of(two, Copy::Second)].concat()
    }

    /// How far apart the iterations are in which the two meet, for each loop around both from the carrier inwards.
    pub(super) fn distances(
        &self,
        one: &Access,
        two: &Access,
        carrier: usize,
        pairs: &[Option<(Poly, Poly)>],
    ) -> Vec<Distance> {
        let known: Vec<(Poly, Poly)> = pairs.iter().flatten().cloned().collect();
        let known = self.parted(one, two, carrier, known);
        let (first, second) = (self.around(one.inside), self.around(two.inside));
        let common = first.iter().zip(&second).take_while(|(a, b)| a == b).map(|(at, _)| *at);
        common
            .skip_while(|at| *at != carrier)
            .map(|at| self.distance(one, two, carrier, at, &known))
            .collect()
    }

    fn distance(
        &self,
        one: &Access,
        two: &Access,
        carrier: usize,
        at: usize,
        pairs: &[(Poly, Poly)],
    ) -> Distance {
        let counter = self.loops[at].counter;
        let exact = pairs.iter().find_map(|(a, b)| {
            let step = a.coefficient(counter)?.value().filter(|step| *step != 0)?;
            let moved = Poly::atom(counter).scaled(step)?;
            let (a, b) = (a.plus(&moved, -1)?, b.plus(&moved, -1)?);
            let rest = a.plus(&b, -1)?.value().filter(|_| self.is_fixed(&a, carrier))?;
            (rest % step == 0).then_some(rest / step)
        });
        if let Some(exact) = exact {
            return Distance::Exactly(exact);
        }
        if at == carrier {
            return Distance::Later;
        }
        let counter = Poly::atom(counter);
        let carried = Poly::atom(self.loops[carrier].counter);
        let possible = |sign: i128, slack: i128| {
            let mut equations = self.equations(carrier);
            equations.not_negative(&[(&carried, Copy::Second, 1), (&carried, Copy::First, -1)], -1);
            equations.not_negative(&[(&counter, Copy::Second, sign), (&counter, Copy::First, -sign)], slack);
            self.meet(&mut equations, one, two, pairs);
            equations.may_hold()
        };
        match (possible(1, -1), possible(-1, -1)) {
            (true, false) if !possible(-1, 0) => Distance::Later,
            (false, true) if !possible(1, 0) => Distance::Earlier,
            (false, false) => Distance::Exactly(0),
            _ => Distance::Any,
        }
    }

    /// Whether each element that access `read` touches in an iteration of loop `carrier` was set by access `write` before, in
    /// the same iteration.
    pub(super) fn covers(&self, write: usize, read: usize, carrier: usize) -> bool {
        // Accesses are listed in the order in which they happen.
        let is_before = write < read;
        let (write, read) = (&self.accesses[write], &self.accesses[read]);
        let (steps, others) = (&write.place.steps, &read.place.steps);
        if !is_before || !self.is_sure(write, carrier) || steps.len() != others.len() {
            return false;
        }
        let around = self.around(read.inside);
        let inner = self.around(write.inside).into_iter().skip_while(|at| *at != carrier).skip(1);
        // A loop around both has not come to its end: only what the same iteration sets counts.
        let (shared, own): (Vec<usize>, Vec<usize>) = inner.partition(|at| around.contains(at));
        let mut used = Vec::new();
        let covered = steps.iter().zip(others).all(|pair| match pair {
            (Step::Index(Some(set)), Step::Index(Some(wanted))) => {
                let runs = |at: &usize| set.atoms().any(|atom| atom == self.loops[*at].counter);
                let running: Vec<usize> = own.iter().copied().filter(runs).collect();
                match running.as_slice() {
                    [] => set == wanted,
                    [at] if !used.contains(at) && !shared.iter().any(runs) => {
                        used.push(*at);
                        self.runs_over(*at, set, wanted, read, carrier)
                    }
                    _ => false,
                }
            }
            (one, other) => one == other && !matches!(one, Step::Index(_)),
        });
        covered && own.iter().all(|at| used.contains(at))
    }

    /// Whether loop `at` gives `set`, its counter and a fixed number, every value that `wanted` has where `read` happens.
    fn runs_over(&self, at: usize, set: &Poly, wanted: &Poly, read: &Access, carrier: usize) -> bool {
        let counter = Poly::atom(self.loops[at].counter);
        let Some(past) = set.plus(&counter, -1) else { return false };
        let [low, high] = self.loops[at].bounds.as_slice() else { return false };
        let is_own = |poly: &Poly| {
            poly.atoms().filter(|atom| *atom != self.loops[at].counter).all(|atom| {
                // What is counted in the iteration may be another value where it is read.
                self.is_fixed_atom(atom, carrier) || atom == self.loops[carrier].counter
            })
        };
        let counts = past.atoms().any(|atom| atom == self.loops[at].counter);
        if counts || !is_own(&past) || !is_own(low) || !is_own(high) {
            return false;
        }
        // The counter's value that sets the wanted element, put into the bounds.
        let Some(value) = wanted.plus(&past, -1) else { return false };
        [low, high].into_iter().all(|bound| {
            let Some(times) = bound.coefficient(self.loops[at].counter).and_then(|times| times.value())
            else {
                return false;
            };
            let moved = counter.scaled(-times).and_then(|gone| bound.plus(&gone, 1)?.plus(&value, times));
            let Some(moved) = moved else { return false };
            let mut equations = self.equations(carrier);
            equations.around(read, Copy::First);
            equations.not_negative(&[(&moved, Copy::First, -1)], -1);
            !equations.may_hold()
        })
    }
}
