//! Finds the construct that makes a test go wrong by running the first ones on the device and the others on the host.
//!
//! Invariant: what counts is what the program does in the end, as in any comparison.

use crate::pins::Purpose;

use super::config::Program;
use super::program::Shared;
use super::{Right, Search, Verification};

impl Verification<'_> {
    /// What bisection finds of a test, in words.
    pub(super) fn bisected(
        &self,
        search: &Search,
        (name, test): (&str, &Program),
        right: &Right,
        shared: &mut Shared,
    ) -> Result<String, String> {
        let own = format!("bisect/{name}");
        let copy = self.copied(&own, shared)?;
        let sites = (search.instrument)(&copy, Purpose::Choose(0))?;
        let count = sites.iter().filter(|(_, site)| site.is_compute).count();
        if count == 0 {
            return Err("the sources have no compute construct that can run on either side".to_owned());
        }
        self.built(&own, test, &copy, shared).map_err(|failed| format!("{}\n{}", failed.why, failed.said))?;
        let mut runs = 0;
        // Whether the program is right with so many constructs on the device.
        let mut is_right = |on_device: usize| {
            runs += 1;
            let last = [("ACC2OMP_PIN_LAST", (on_device as i64 - 1).to_string())];
            // One that does not end is wrong.
            self.ran(&own, test, &copy, &last, shared).is_ok_and(|ran| {
                let comparisons = self.compared([right.reference, &ran], right.noise);
                comparisons.iter().all(|one| one.differences == 0 && one.unknown.is_none())
            })
        };
        if !is_right(0) {
            return Ok("it is wrong, too, with all constructs on the host: the difference does not come from them alone"
                .to_owned());
        }
        if is_right(count) {
            return Ok("it is right with statements around constructs: they wait for all queues, and bring data where the host runs; look for what is not waited for".to_owned());
        }
        // Right with `low` constructs on the device, wrong with `high`.
        let (mut low, mut high) = (0, count);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_right(middle) { low = middle } else { high = middle }
        }
        let (file, site) = &sites[low];
        Ok(format!(
            "{file}:{}: `{}` makes it wrong when it runs on the device ({runs} runs)",
            site.line, site.name
        ))
    }
}
