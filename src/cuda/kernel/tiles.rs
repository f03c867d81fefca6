//! Tiled loops (OpenACC 3.3, 2.9.8): the gangs distribute the tiles, the threads of a gang the elements of a tile.
//!
//! Invariant: each iteration runs once, those of tiles that stick out do not run.

use super::body::Body;
use super::counted::Counted;
use crate::cuda::code::text::operand;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::{Refused, refused};
use crate::cuda::schedule::nest::Shared;
use crate::cuda::schedule::sizes;
use crate::plan::TILE;

/// A tiled loop: its number of iterations and of tiles, the size of a tile, and where an element is, by name.
struct Tiled {
    counted: Counted,
    trips: String,
    tiles: String,
    size: String,
    place: String,
}

impl Body<'_, '_> {
    /// What counts the tiles of a nest, the two `for` lines, and the lines that set its variables.
    pub fn tiled(&mut self, shared: &Shared) -> Result<(String, String, Vec<String>), Refused> {
        if sizes::is_beyond_int(&shared.division.tile) {
            return Err(refused(shared.span(self.input), "tiles of more elements than an `int` counts"));
        }
        let index = self.index_type(shared);
        let gangs = Levels { gang: shared.levels().gang, ..Levels::NONE };
        let (first, stride) = match gangs.gang {
            true => self.threads(gangs),
            false => ("0".to_owned(), "1".to_owned()),
        };
        let (lane, lanes) = match shared.levels().threads() {
            true => self.threads(shared.levels().without(gangs)),
            false => ("0".to_owned(), "1".to_owned()),
        };
        let (tile, at) = (self.names.fresh("tile"), self.names.fresh("at"));
        let mut counts = Vec::new();
        let mut loops: Vec<Tiled> = Vec::new();
        for (level, header) in shared.headers.iter().enumerate() {
            let counted = Counted::new(self.input, header, &self.edits)?;
            let trips = self.names.fresh(&format!("{}_trips", counted.name));
            let tiles = self.names.fresh(&format!("{}_tiles", counted.name));
            let size = shared.division.tile.get(level).map_or("*", String::as_str);
            let size = operand(if size == "*" { TILE } else { size });
            let place = self.names.fresh(&format!("{}_at", counted.name));
            counts.push(format!("{trips} = {}, {tiles} = ({trips} + {size} - 1) / {size}", counted.trips));
            loops.push(Tiled { counted, trips, tiles, size, place });
        }
        let product = |of: &dyn Fn(usize) -> String, from: usize| -> String {
            (from..loops.len()).map(of).collect::<Vec<String>>().join(" * ")
        };
        let tiles = |one: usize| loops[one].tiles.clone();
        let sizes = |one: usize| loops[one].size.clone();
        let header = format!(
            "for ({index} {tile} = {first}; {tile} < {}; {tile} += {stride})\n    for (unsigned {at} = {lane}; {at} < {}; {at} += {lanes})",
            product(&tiles, 0),
            product(&sizes, 0)
        );
        let part = |name: &str, of: &dyn Fn(usize) -> String, one: usize| {
            let after = product(of, one + 1);
            let divided =
                if after.is_empty() { name.to_owned() } else { format!("{name} / {}", operand(&after)) };
            if one == 0 { divided } else { format!("{divided} % {}", of(one)) }
        };
        let places: Vec<String> = loops
            .iter()
            .enumerate()
            .map(|(one, Tiled { size, place, .. })| {
                format!("{place} = {} * {size} + {}", part(&tile, &tiles, one), part(&at, &sizes, one))
            })
            .collect();
        let outside: Vec<String> =
            loops.iter().map(|one| format!("{} >= {}", one.place, one.trips)).collect();
        let mut lines = vec![
            format!("const {index} {};", places.join(", ")),
            format!("if ({})\n        continue;", outside.join(" || ")),
        ];
        for (one, header) in loops.iter().zip(&shared.headers) {
            if self.is_used(shared, &one.counted, header) {
                lines.push(one.counted.value(&one.place, index, false));
            }
        }
        Ok((format!("const {index} {};\n", counts.join(",\n    ")), header, lines))
    }

    /// The same for a nest of two loops without tiles of its own, each thread an element of a tile: of rows and columns.
    pub fn reused(&mut self, shared: &Shared) -> Result<(String, String, Vec<String>), Refused> {
        let index = self.index_type(shared);
        let (tiles, tile) = (self.names.fresh("tiles"), self.names.fresh("tile"));
        let (mut trips, mut places, mut outside, mut values) = (vec![], vec![], vec![], vec![]);
        for (header, (which, all)) in shared.headers.iter().zip([("row", "rows"), ("column", "columns")]) {
            let counted = Counted::new(self.input, header, &self.edits)?;
            let place = self.names.fresh(&format!("{}_at", counted.name));
            places.push(format!("{place} = {tiles}.{which}({tile})"));
            outside.push(format!("{place} >= {tiles}.{all}"));
            if self.is_used(shared, &counted, header) {
                values.push(counted.value(&place, index, false));
            }
            trips.push(counted.trips);
        }
        let mut lines = vec![
            format!("const {index} {};", places.join(", ")),
            format!("if ({})\n        continue;", outside.join(" || ")),
        ];
        lines.append(&mut values);
        let (first, stride) = self.threads(Levels { gang: true, ..Levels::NONE });
        Ok((
            format!("const acc2omp::Tiles<{index}> {tiles}({});\n", trips.join(", ")),
            format!("for ({index} {tile} = {first}; {tile} < {tiles}.count; {tile} += {stride})"),
            lines,
        ))
    }
}
