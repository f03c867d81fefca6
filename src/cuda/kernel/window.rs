//! Arrays of which a loop names, in a `cache` directive (OpenACC 3.3, 2.10), the part that an iteration reads: what the
//! iterations of a gang read is fetched into shared memory, if each reads so much that this pays. Beside it, a gang fetches
//! the parts that are the same for all iterations, once.
//!
//! Invariant: the program writes to no such array while the loop runs, and all that the loop reads of it is in the part.

use std::collections::HashMap;

use super::body::Body;
use super::counted::Counted;
use super::parts::{Host, Made};
use crate::acc::ast::{Argument, DirectiveKind, Expr, ListItem, PathStep, Subscript};
use crate::bind::Bound;
use crate::cuda::code::text::{operand, words};
use crate::cuda::program::levels::Levels;
use crate::cuda::program::{Input, Refused, defines};
use crate::cuda::schedule::capture::{self, Captured, Role};
use crate::cuda::schedule::nest::{Nest, Shared};
use crate::cuda::types::declarator::Type;
use crate::cuda::types::spelling;
use crate::host::ir::{Derived, ExprId, ExprKind, StmtKind};
use crate::scan::{self, Defined};
use crate::sema::{self, Class, SymbolId};
use crate::source::Span;

/// How many bytes an iteration reads, at least, for shared memory to be faster than the caches (`docs/cuda.md`).
const PAYS: i64 = 256;
/// How many threads a multiprocessor is to hold: the compiler would unroll the loops over a part, and take registers for them
/// that are better used by more threads.
const HELD: i64 = 1536;
/// How many bytes of shared memory a gang gets for it, at most.
const ROOM: i64 = 32 * 1024;

/// How many bytes of shared memory a gang gets for a part that is the same for all iterations, at most.
const FIXED_ROOM: i64 = 4 * 1024;

/// The part of an array that an iteration reads.
pub struct Window {
    /// The array's name.
    array: String,
    element: String,
    /// Its first element and their number, as the directive says them.
    first: String,
    length: String,
    /// How often a gang fetches it.
    fetched: Fetched,
    /// The names of what is shared, of its first element, and of where the array's elements are.
    shared: String,
    start: String,
    extent: String,
}

/// A part that is worth fetching.
struct Found<'c, 'e> {
    one: &'c Captured<'e>,
    /// What the launcher calls the array's place on the device.
    device: String,
    first: &'c Expr,
    length: &'c Expr,
    /// Where the loop names the array, and the index there.
    reads: Vec<(Span, Span)>,
    fetched: Fetched,
}

/// Windows of the loop of a launch, with what kernel and launcher need for them. `is_distinct`: no two names lead to the
/// same memory.
pub fn declare(
    body: &mut Body,
    captured: &[Captured],
    is_distinct: bool,
    (made, host): (&mut Made, &Host),
) -> Result<Vec<Window>, Refused> {
    let input = body.input;
    let mut found = Vec::new();
    let Some(shared) = only_loop(input, body.nest).filter(|_| !input.in_place && !body.shape.rows) else {
        return Ok(found);
    };
    let threads = body.threads_of_gang() as i64;
    let mut parts = Vec::new();
    for (readonly, item) in items(input, shared) {
        let Some((first, length)) = part(item) else { continue };
        let symbol = input.symbols.lookup(&item.base.text, item.span.start);
        let Some(one) = captured.iter().find(|one| Some(one.symbol) == symbol) else { continue };
        let Some(device) = made.devices.get(&one.symbol) else { continue };
        let Some(reads) = reads(input, one.symbol, shared) else { continue };
        let is_read_only = one.used.is_unchanged() && (is_distinct || readonly);
        if let Some(fetched) = fetched(input, shared, threads, (one, first, length)).filter(|_| is_read_only)
        {
            parts.push(Found { one, device: device.clone(), first, length, reads, fetched });
        }
    }
    if parts.iter().all(|part| part.fetched == Fetched::Once) {
        return Ok(found);
    }
    for Found { one, device, first, length, reads, fetched } in parts {
        let names = &mut body.names;
        let window = Window {
            array: one.name.clone(),
            element: capture::element(input, one)?,
            first: first.text.trim().to_owned(),
            length: length.text.trim().to_owned(),
            fetched,
            shared: names.fresh(&format!("{}_window", one.name)),
            start: names.fresh(&format!("{}_start", one.name)),
            extent: names.fresh(&format!("{}_extent", one.name)),
        };
        let extent = format!("{}.extent({device})", host.words.region);
        made.param(Type::value("acc2omp::Extent"), &window.extent, extent);
        for (name, index) in reads {
            body.edits.replace_all(name, window.shared.clone());
            let text = input.file().text(index).trim().to_owned();
            let is_sum = text.chars().all(|c| c.is_alphanumeric() || "_ +-*".contains(c));
            body.edits.insert(index.start, if is_sum { "" } else { "(" });
            body.edits.insert(index.end, format!("{} - {}", if is_sum { "" } else { ")" }, window.start));
        }
        found.push(window);
        made.fills_once |= fetched == Fetched::Once;
        made.held = Some(HELD / threads).and_then(|held| usize::try_from(held.max(1)).ok());
    }
    Ok(found)
}

/// How often a gang fetches a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetched {
    /// For each iteration of its threads: the part moves with the loop's variable.
    Again,
    /// Before the loop.
    Once,
}

/// How often a gang fetches the part of an array, if that pays and there is room for it.
fn fetched(
    input: &Input,
    shared: &Shared,
    threads: i64,
    (one, first, length): (&Captured, &Expr, &Expr),
) -> Option<Fetched> {
    let bytes = width(input, one)?;
    let count = scan::constant(&length.text, &macros(input))?;
    if slides(input, shared, &first.text) {
        let pays = bytes * count >= PAYS && (threads + count) * bytes <= ROOM;
        return pays.then_some(Fetched::Again);
    }
    let at = input.stmt_span(shared.headers[0].body).start;
    let texts = defines::reached(input, &first.text);
    let is_constant =
        texts.iter().flat_map(|text| words(text)).all(|word| input.symbols.lookup(word, at).is_none());
    (is_constant && bytes * count <= FIXED_ROOM).then_some(Fetched::Once)
}

impl Body<'_, '_> {
    /// What counts a loop with windows, its `for` line, and the lines that fetch them and set its variable.
    pub fn windowed(&mut self, shared: &Shared) -> Result<(String, String, Vec<String>), Refused> {
        let header = &shared.headers[0];
        let counted = Counted::new(self.input, header, &self.edits)?;
        let index = self.index_type(shared);
        let (k, trips) = (self.names.fresh("k"), self.names.fresh(&format!("{}_trips", counted.name)));
        let mut counts = String::new();
        let mut lines = vec![counted.value(&k, index, false)];
        for window in &self.windows {
            let Window { array, element, first, length, fetched, shared, start, extent } = window;
            let begins = format!("const long long {start} = {first};");
            let fetch = format!("acc2omp::fetch({shared}, {array}, {start}, {extent});");
            if *fetched == Fetched::Once {
                counts += &format!("__shared__ {element} {shared}[{length}];\n{begins}\n{fetch}\n");
                continue;
            }
            let threads = self.threads_of_gang();
            counts += &format!("__shared__ {element} {shared}[{threads} + {} - 1];\n", operand(length));
            lines.extend([begins, fetch]);
        }
        lines.push(format!("if ({k} + threadIdx.x >= {trips})\n        continue;"));
        lines.push(format!("{} += threadIdx.x;", counted.name));
        let head = format!("for ({index} {k} = blockIdx.x * blockDim.x, {trips} = {};", counted.trips);
        Ok((counts, format!("{head}\n     {k} < {trips}; {k} += gridDim.x * blockDim.x)"), lines))
    }

    fn threads_of_gang(&self) -> usize {
        self.sizes.map_or(1, |(lanes, workers)| lanes * workers)
    }
}

/// The one loop of a launch that all threads distribute, if it counts upwards by one and its body is a block.
fn only_loop<'n>(input: &Input, nest: &'n Nest) -> Option<&'n Shared<'n>> {
    let mut all = nest.values();
    let shared =
        all.next().filter(|shared| shared.levels() == Levels::ALL && shared.division.tile.is_empty())?;
    let [header] = shared.headers.as_slice() else { return None };
    let is_number = input.symbols.get(header.var).class == Class::Scalar;
    let is_plain = header.step.is_none() && !header.down && is_number;
    let is_block = matches!(input.unit().stmt(header.body).kind, StmtKind::Block(_));
    (all.next().is_none() && is_plain && is_block).then_some(shared)
}

/// The items of the `cache` directives that stand at the top of a loop, and whether they say `readonly`.
fn items<'a>(input: &Input<'a>, shared: &Shared) -> Vec<(bool, &'a ListItem)> {
    let body = shared.headers[0].body;
    let StmtKind::Block(list) = &input.unit().stmt(body).kind else { return Vec::new() };
    let Some(first) = list.first().map(|stmt| input.stmt_span(*stmt).start) else { return Vec::new() };
    let is_here = |one: &&Bound| {
        let span = one.directive.span;
        one.directive.kind == DirectiveKind::Cache
            && input.stmt_span(body).contains(span)
            && span.end <= first
    };
    let mut found = Vec::new();
    for one in input.bound.iter().filter(is_here) {
        if let Argument::List { readonly, list } = &one.directive.argument {
            found.extend(list.iter().map(|item| (*readonly, item)));
        }
    }
    found
}

/// The first element and the number of them in an item with one section.
fn part(item: &ListItem) -> Option<(&Expr, &Expr)> {
    let [PathStep::Section(subscripts)] = item.parts.as_slice() else { return None };
    match subscripts.as_slice() {
        [Subscript::Range { first: Some(first), second: Some(second), stride: None }] => {
            Some((first, second))
        }
        _ => None,
    }
}

/// The bytes of an element of an array of one dimension, of which the host passes the beginning.
fn width(input: &Input, one: &Captured) -> Option<i64> {
    let is_whole = match &one.role {
        Role::Data(_, address) => address.as_ref().is_none_or(|address| address.at_start),
        _ => false,
    };
    let is_row = matches!(one.decl.derived.as_slice(), [Derived::Pointer] | [Derived::Array(_)]);
    let is_array = matches!(one.class, Class::Pointer | Class::Array);
    match spelling::plain(input, one.seen, &one.decl).filter(|_| is_whole && is_row && is_array)?.as_str() {
        "double" | "long" | "unsigned long" | "long long" | "unsigned long long" | "size_t" => Some(8),
        "float" | "int" | "unsigned" | "unsigned int" => Some(4),
        _ => None,
    }
}

/// Whether the beginning of a part is the loop's variable, or that and what does not change in the loop.
fn slides(input: &Input, shared: &Shared, first: &str) -> bool {
    let header = &shared.headers[0];
    let variable = &input.symbols.get(header.var).name;
    let Some(rest) = first.trim().strip_prefix(variable.as_str()).map(str::trim_start) else { return false };
    let uses = sema::uses(input.unit(), input.symbols, header.body);
    let at = input.stmt_span(header.body).start;
    let is_plain = |c: char| c.is_alphanumeric() || "_ +-*()".contains(c);
    (rest.is_empty() || rest.starts_with(['+', '-']))
        && rest.chars().all(is_plain)
        && words(rest).into_iter().all(|word| match input.symbols.lookup(word, at) {
            Some(symbol) => symbol != header.var && uses.of(symbol).is_none_or(|used| !used.written),
            None => true,
        })
}

/// Where a loop names an array, and the index there; none if it does something else with it than to read an element.
fn reads(input: &Input, array: SymbolId, shared: &Shared) -> Option<Vec<(Span, Span)>> {
    let unit = input.unit();
    let within = input.stmt_span(shared.headers[0].body);
    let mut indices: HashMap<ExprId, ExprId> = HashMap::new();
    for expr in unit.exprs_in(within) {
        if let ExprKind::Index(base, index) = expr.kind {
            indices.insert(base, index);
        }
    }
    let mut found = Vec::new();
    for id in unit.expr_ids_in(within) {
        let expr = unit.expr(id);
        let ExprKind::Name(name) = &expr.kind else { continue };
        if input.symbols.lookup(name, expr.span.start) == Some(array) {
            found.push((expr.span, unit.expr(*indices.get(&id)?).span));
        }
    }
    Some(found)
}

/// The values of macros without parameters.
fn macros(input: &Input) -> Defined {
    let files = input.headers.iter().chain([&input.source]);
    let all = files.flat_map(|seen| seen.scan.defines.iter()).filter(|define| define.params.is_none());
    all.map(|define| (define.name.clone(), define.body.clone())).collect()
}
