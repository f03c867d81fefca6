//! The heads of loops whose iterations threads share: what counts them, and how each thread comes to its own.
//!
//! Invariant: each iteration is one thread's, whatever the number of threads.

use super::body::Body;
use super::counted::{Counted, WIDE, is_narrow};
use crate::cuda::code::text;
use crate::cuda::program::Refused;
use crate::cuda::program::levels::Levels;
use crate::cuda::schedule::nest::Shared;
use crate::sema::{self, Header};

impl Body<'_, '_> {
    /// What counts the loops of a nest, the `for` line of a shared loop, and the lines that set its variables.
    pub(super) fn header(&mut self, shared: &Shared) -> Result<(String, String, Vec<String>), Refused> {
        if !shared.division.tile.is_empty() {
            return self.tiled(shared);
        }
        if shared.reuses {
            return self.reused(shared);
        }
        if !self.windows.is_empty() {
            return self.windowed(shared);
        }
        let (first, stride) = self.threads(shared.levels());
        let index = self.index_type(shared);
        let k = self.names.fresh("k");
        let mut parts = Vec::new();
        for header in &shared.headers {
            parts.push(Counted::new(self.input, header, &self.edits)?);
        }
        let names: Vec<String> =
            parts.iter().map(|part| self.names.fresh(&format!("{}_trips", part.name))).collect();
        let counted: Vec<String> =
            names.iter().zip(&parts).map(|(name, part)| format!("{name} = {}", part.trips)).collect();
        let header = match names.as_slice() {
            [only] => {
                format!("for ({index} {k} = {first}, {};\n     {k} < {only}; {k} += {stride})", counted[0])
            }
            many => {
                let total = many.join(" * ");
                format!("for ({index} {k} = {first}; {k} < {total}; {k} += {stride})")
            }
        };
        let counts = match names.len() {
            1 => String::new(),
            _ => format!("const {index} {};\n", counted.join(", ")),
        };
        let mut lines = Vec::new();
        for (at, (part, header)) in parts.iter().zip(&shared.headers).enumerate() {
            if !self.is_used(shared, part, header) {
                continue;
            }
            let own = own_index(&k, &names, &shared.order, at);
            lines.push(part.value(&own, index, names.len() > 1));
        }
        Ok((counts, header, lines))
    }

    /// Whether the body of a nest names the variable of one of its loops.
    pub fn is_used(&self, shared: &Shared, part: &Counted, header: &Header) -> bool {
        let Some(body) = shared.headers.last().map(|header| header.body) else { return false };
        let uses = sema::uses(self.input.unit(), self.input.symbols, body);
        let text = self.input.file().text(self.input.stmt_span(body));
        uses.of(header.var).is_some() || text::words(&text).contains(&part.name.as_str())
    }

    /// The first iteration of a thread, and how many there are from one to the next.
    pub fn threads(&self, levels: Levels) -> (String, String) {
        let rows = self.shape.rows;
        let (first, stride) = match (levels.gang, levels.worker, levels.vector) {
            _ if !self.shape.many => match levels.gang {
                true => ("blockIdx.x", "gridDim.x"),
                false => ("0", "1"),
            },
            (true, false, false) => ("blockIdx.x", "gridDim.x"),
            (false, true, false) => ("threadIdx.y", "blockDim.y"),
            (true, true, false) => ("blockIdx.x * blockDim.y + threadIdx.y", "gridDim.x * blockDim.y"),
            (true, true, true) if rows => (
                "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
                "gridDim.x * blockDim.y * blockDim.x",
            ),
            (false, true, true) if rows => {
                ("threadIdx.y * blockDim.x + threadIdx.x", "blockDim.y * blockDim.x")
            }
            (true, _, _) => ("blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"),
            (false, _, _) => ("threadIdx.x", "blockDim.x"),
        };
        (first.to_owned(), stride.to_owned())
    }

    /// The type that counts the iterations: 32 bits where they surely suffice.
    pub fn index_type(&self, shared: &Shared) -> &'static str {
        match shared.headers.as_slice() {
            _ if self.template && shared.headers.len() > 1 => self.index,
            [only] if is_narrow(self.input, only, !shared.levels().gang) => "unsigned",
            _ => WIDE,
        }
    }
}

/// The iteration of the loop at a place in a nest, where `index` counts the iterations of all of them: the last loop of `order`
/// is counted first. `trips`: the names for their numbers of iterations.
fn own_index(index: &str, trips: &[String], order: &[usize], at: usize) -> String {
    let place = order.iter().position(|one| *one == at).unwrap_or(at);
    let faster: Vec<&str> = order.iter().skip(place + 1).map(|one| trips[*one].as_str()).collect();
    let within = match faster.as_slice() {
        [] => index.to_owned(),
        [only] => format!("{index} / {only}"),
        several => format!("{index} / ({})", several.join(" * ")),
    };
    if place == 0 { within } else { format!("{within} % {}", trips[at]) }
}
