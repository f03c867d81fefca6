//! `host_data`: in its block, names mean memory on the device (OpenACC 3.3, 2.8).
//!
//! Invariant: a name means the device's memory only where `use_device` says so, with the bounds that it has outside.

use std::collections::HashSet;

use crate::acc::ast::{ClauseKind, ListItem};
use crate::cxx::{Order, Passing, Why};
use crate::layout;

use super::{Changes, FortranCuda, View, counting, place};

impl FortranCuda {
    /// What `host_data` and its end become: a block with a pointer for each item, and other names for those.
    pub(super) fn host_data(&mut self, view: &View, at: usize) -> Result<Changes, Why> {
        let bound = view.ground.bound;
        let directive = &bound[at].directive;
        let span = directive.span;
        let refused = |what: &str| Why { at: span, what: what.to_owned() };
        let end = bound[at].partner.ok_or_else(|| refused("this `host_data`"))?;
        let end_span = bound[end].directive.span;
        let file = view.ground.files.own.file;
        let (mut order, mut is_quiet, mut items) = (Order::default(), false, Vec::new());
        for clause in counting(directive, view.options) {
            match clause {
                ClauseKind::UseDevice(list) => items.extend(list),
                ClauseKind::IfPresent => is_quiet = true,
                _ if order.takes(clause) => {}
                _ => return Err(refused("this clause of `host_data` of Fortran")),
            }
        }
        let mut known = HashSet::new();
        items.retain(|item: &&ListItem| known.insert(item.text.to_ascii_lowercase()));
        let options = match (&order.condition, is_quiet) {
            (None, false) => String::new(),
            (None, true) => ", if_present=.true.".to_owned(),
            (Some(condition), false) => format!(", wanted={condition}"),
            (Some(condition), true) => format!(", wanted={condition}, if_present=.true."),
        };
        let mut head =
            vec!["block".to_owned(), "  use, intrinsic :: iso_c_binding, only: c_f_pointer".to_owned()];
        let (mut body, mut names) = (Vec::new(), Vec::new());
        for item in items {
            let Device { name, ty, rank, keeps_bounds } = device(view, item)?;
            let pointer = format!("{name}_device");
            let (shape, extents) = match rank {
                0 => (String::new(), String::new()),
                rank => (format!("({})", vec![":"; rank].join(", ")), format!(", shape({name})")),
            };
            let contiguous = if rank > 0 { ", contiguous" } else { "" };
            head.push(format!("  {ty}, pointer{contiguous} :: {pointer}{shape}"));
            let said = format!("\"{}\", \"{name}\", {name}{options}", place(file, span.start));
            body.push(format!("  call c_f_pointer(acc2omp_device({said}), {pointer}{extents})"));
            if !keeps_bounds {
                let bounds: Vec<String> =
                    (1..=rank).map(|dimension| format!("lbound({name}, {dimension}):")).collect();
                body.push(format!("  {pointer}({}) => {pointer}", bounds.join(", ")));
            }
            names.push(format!("{name} => {pointer}"));
        }
        if ![span, end_span].iter().all(|one| layout::stands_alone(file, *one)) {
            return Err(refused("a directive among other code on one line"));
        }
        if names.is_empty() {
            // Without a name it changes nothing inside, and goes (A0020).
            return Ok(vec![
                (at, vec![layout::removed(file, span)]),
                (end, vec![layout::removed(file, end_span)]),
            ]);
        }
        head.extend(body);
        head.push(format!("  associate ({})", names.join(", ")));
        self.need(view, file, span.start, false)?;
        let tail = ["  end associate".to_owned(), "end block".to_owned()];
        Ok(vec![
            (at, vec![layout::replaced(file, span, &head)]),
            (end, vec![layout::replaced(file, end_span, &tail)]),
        ])
    }
}

/// What an item of `use_device` is.
struct Device {
    name: String,
    ty: String,
    rank: usize,
    /// All lower bounds are 1.
    keeps_bounds: bool,
}

fn device(view: &View, item: &ListItem) -> Result<Device, Why> {
    let refused = || Why { at: item.span, what: format!("`{}` in `use_device` of Fortran", item.text) };
    if !item.parts.is_empty() || item.common {
        return Err(refused());
    }
    let symbol = view.ground.symbols.lookup(item.variable(), item.span.start).ok_or_else(refused)?;
    let Passing { spelled, ty, rank, keeps_bounds } =
        Passing::of(view.ground.files, view.ground.symbols, symbol, item.span)?;
    if view.ground.symbols.get(symbol).fortran.assumed_size {
        return Err(refused());
    }
    Ok(Device { name: spelled, ty, rank, keeps_bounds })
}
