//! How many gangs a kernel has, and how many threads a gang (OpenACC 3.3, 2.5.10 to 2.5.12).
//!
//! Invariant: any grid computes all iterations; this is about speed, except what the program asks for.

use super::counted::{Counted, head_edits};
use super::parts::Words;
use crate::cuda::program::{Input, Refused};
use crate::cuda::schedule::capture::{Captured, Role};
use crate::cuda::schedule::clause::LaunchRequest;
use crate::cuda::schedule::nest::{Nest, Shared};
use crate::cuda::schedule::sizes::{self, Sizes};
use crate::host::ir::{ExprId, ExprKind};
use crate::sema::{Header, SymbolKind};

/// How many gangs there are.
pub struct Grid {
    /// The expression for it in the launcher.
    pub gangs: String,
    /// Lines before it.
    pub lines: Vec<String>,
    /// The number of iterations decides the width of the index.
    pub template: bool,
    /// The number that the host passes, if the program computes it.
    pub passed: Option<Passed>,
    /// The lines say how many iterations there are.
    pub is_counted: bool,
}

/// A value that the host passes to a launcher.
pub struct Passed {
    /// The parameter, in the device file and in the header.
    pub param: String,
    /// What the host says.
    pub argument: String,
}

/// A launch whose number of gangs is wanted.
pub struct Launched<'a, 'b> {
    pub input: &'b Input<'a>,
    pub nest: &'b Nest<'a>,
    pub captured: &'b [Captured<'a>],
    pub sizes: Sizes,
    pub words: &'b Words,
    pub request: &'b LaunchRequest,
    /// The name of the kernel.
    pub kernel: &'b str,
    /// Each gang begins and ends with a table.
    pub has_tables: bool,
}

/// The loops that gangs divide, counted by the launcher.
struct Trips<'a, 'b> {
    over_gangs: Vec<&'b Shared<'a>>,
    /// The numbers of iterations of those that the launcher can count.
    counts: Vec<String>,
}

impl Trips<'_, '_> {
    fn all_known(&self) -> bool {
        self.counts.len() == self.over_gangs.len()
    }

    /// The number of iterations, if there is one loop nest and it is known.
    fn only(&self) -> Option<&String> {
        match self.counts.as_slice() {
            [one] if self.all_known() => Some(one),
            _ => None,
        }
    }
}

/// The number of gangs of a launch.
pub fn grid(launched: &Launched) -> Result<Grid, Refused> {
    let trips = launched.trips()?;
    let template = launched.chooses_index(&trips);
    let name = &launched.words.trips;
    let counted = trips.only().map(|one| format!("const unsigned long long {name} = {one};"));
    let counted: Vec<String> = counted.into_iter().collect();
    if let Some(gangs) = &launched.request.gangs {
        return Ok(launched.as_requested(gangs, counted, template));
    }
    let gangs = launched.gangs(&trips, template);
    let is_counted = !counted.is_empty();
    Ok(Grid { gangs, lines: counted, template, passed: None, is_counted })
}

impl<'a, 'b> Launched<'a, 'b> {
    /// The loops that gangs divide, with the numbers of iterations that the launcher can compute.
    fn trips(&self) -> Result<Trips<'a, 'b>, Refused> {
        let over_gangs: Vec<&Shared> = self.nest.values().filter(|shared| shared.levels().gang).collect();
        let mut counts: Vec<String> = Vec::new();
        for shared in &over_gangs {
            if !shared.headers.iter().all(|header| self.can_count(header)) {
                continue;
            }
            let mut product = Vec::new();
            for header in &shared.headers {
                let edits = head_edits(self.input, header)?;
                product.push(Counted::new(self.input, header, &edits)?.trips);
            }
            counts.push(product.join(" * "));
        }
        Ok(Trips { over_gangs, counts })
    }

    fn can_count(&self, header: &Header) -> bool {
        header.values().all(|expr| self.has_value(expr))
    }

    /// Whether the launcher can compute an expression: from numbers, and from values that it is given.
    fn has_value(&self, expr: ExprId) -> bool {
        let unit = self.input.unit();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let expr = unit.expr(expr);
            match &expr.kind {
                ExprKind::Name(name) if !self.is_given(name, expr.span.start) => return false,
                ExprKind::Name(_)
                | ExprKind::Int(_)
                | ExprKind::Literal
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast { .. }
                | ExprKind::Sizeof => {}
                _ => return false,
            }
            pending.extend(expr.kind.children());
        }
        true
    }

    /// Whether the launcher is given the value of a name, or knows it.
    fn is_given(&self, name: &str, at: u32) -> bool {
        let Some(symbol) = self.input.symbols.lookup(name, at) else { return true };
        if self.input.symbols.get(symbol).kind == SymbolKind::Constant {
            return true;
        }
        let known = self.captured.iter().find(|one| one.symbol == symbol);
        known.is_some_and(|one| {
            matches!(one.role, Role::Value | Role::Member | Role::Part(_)) && !one.used.written
        })
    }

    /// Whether the launcher chooses the width of the index: of one nest of several loops, whose iterations it counts.
    fn chooses_index(&self, trips: &Trips) -> bool {
        let is_alone = |shared: &Shared| shared.levels().gang || shared.headers.len() == 1;
        !self.input.in_place
            && trips.over_gangs.iter().any(|shared| shared.headers.len() > 1)
            && self.nest.values().all(is_alone)
            && trips.only().is_some()
    }

    /// As many gangs as the program asks for.
    fn as_requested(&self, gangs: &str, counted: Vec<String>, template: bool) -> Grid {
        if self.input.in_place {
            let gangs = format!("acc2omp::gangs({})", gangs.trim());
            return Grid { gangs, lines: Vec::new(), template, passed: None, is_counted: false };
        }
        let is_number = gangs.trim().parse::<u32>().is_ok();
        let is_counted = !counted.is_empty() && (template || self.has_tables);
        let name = &self.words.gang_count;
        let passed = Passed { param: format!("long {name}"), argument: gangs.to_owned() };
        Grid {
            gangs: format!("acc2omp::gangs({})", if is_number { gangs.trim() } else { name }),
            lines: if is_counted { counted } else { Vec::new() },
            template,
            passed: (!is_number).then_some(passed),
            is_counted,
        }
    }

    /// As many gangs as suit the number of iterations.
    fn gangs(&self, trips: &Trips, template: bool) -> String {
        match trips.over_gangs.as_slice() {
            [] => "1".to_owned(),
            [one] if trips.all_known() => self.blocks(&self.words.trips, self.at_a_time(one), template),
            several if trips.all_known() => {
                let both = several.iter().zip(&trips.counts);
                let each = both.map(|(one, trips)| self.blocks(trips, self.at_a_time(one), template));
                format!("acc2omp::most({})", each.collect::<Vec<String>>().join(",\n        "))
            }
            _ => self.blocks("~0ull", 1, template),
        }
    }

    /// The iterations that a gang takes at a time.
    fn at_a_time(&self, shared: &Shared) -> usize {
        match (shared.levels().worker, shared.levels().vector) {
            _ if !shared.division.tile.is_empty() => sizes::elements(&shared.division.tile).unwrap_or(1),
            (_, true) => self.sizes.vector * self.sizes.workers,
            (true, false) => self.sizes.workers,
            (false, false) => 1,
        }
    }

    /// As many gangs as take `each` of the iterations, or as the device holds.
    fn blocks(&self, trips: &str, each: usize, template: bool) -> String {
        let threads = self.sizes.vector * self.sizes.workers;
        // A kernel that stays inline has no name yet.
        let kernel = match (self.input.in_place, template) {
            (true, _) => String::new(),
            (false, true) => format!("{}, ", self.words.kernel),
            (false, false) => format!("{}, ", self.kernel),
        };
        match self.is_resident() || trips == "~0ull" {
            false => format!("acc2omp::blocks({trips}, {each})"),
            true if each == threads => format!("acc2omp::resident_blocks({kernel}{trips}, {each})"),
            true => format!("acc2omp::resident_blocks({kernel}{trips}, {each}, {threads})"),
        }
    }

    /// Whether few gangs are wanted: for a reduction, and for what each gang begins with. Else there is one thread for each
    /// iteration.
    fn is_resident(&self) -> bool {
        let costs = |one: &Captured| {
            matches!(
                one.role,
                Role::Reduction(_) | Role::ReductionArray(..) | Role::PrivateMemory(..) | Role::FirstArray(_)
            )
        };
        self.has_tables || self.captured.iter().any(costs)
    }
}
