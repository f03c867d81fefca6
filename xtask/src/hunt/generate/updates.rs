//! Updates of parts: rows, columns, blocks, several at once.
//!
//! Invariant: both sides have other values before each update, so that what it does not copy shows.

use super::writer::{Data, Writer};
use crate::hunt::program::{Alone, Clause, DataKind, Expr, Item, Place, Stmt, Storage};

/// A data region, changes on both sides, updates.
pub fn write(writer: &mut Writer) {
    for _ in 0..2 {
        let num = writer.num();
        let extents: Vec<usize> = match writer.random.below(5) {
            0 => vec![writer.random.between(8, 12) as usize],
            1 => (0..3).map(|_| writer.random.between(2, 4) as usize).collect(),
            _ => (0..2).map(|_| writer.random.between(3, 6) as usize).collect(),
        };
        let storage = if writer.random.chance(20) { Storage::Global } else { Storage::Local };
        let data = writer.array(&extents, num, storage);
        writer.data.push(data);
    }
    let items = writer.data.iter().map(Data::item).collect();
    let kind = writer.random.pick(&[DataKind::Copy, DataKind::CopyIn]);
    let clauses = vec![Clause::Data(kind, items)];
    writer.open(move |body| Stmt::Data { clauses: clauses.clone(), body });
    for _ in 0..writer.random.between(3, 6) {
        let data = {
            let all = writer.data.clone();
            writer.random.pick(&all)
        };
        change_device(writer, &data);
        if writer.random.chance(60) {
            writer.fill(&data);
        }
        update(writer);
        writer.show_all();
    }
    writer.close();
    writer.show_all();
}

fn change_device(writer: &mut Writer, data: &Data) {
    let end = data.extents[0] as i64;
    let one = writer.work_loop(std::slice::from_ref(data), 0, end);
    let clauses = match data.is_pointer && !writer.is_fortran() {
        true => vec![Clause::Data(DataKind::Present, vec![data.item()])],
        false => Vec::new(),
    };
    let construct = writer.construct(vec![one], clauses);
    writer.offer(construct);
}

fn update(writer: &mut Writer) {
    for _ in 0..3 {
        let mut clauses = Vec::new();
        let mut used = Vec::new();
        for _ in 0..writer.random.between(1, 2) {
            let all = writer.data.clone();
            let data = writer.random.pick(&all);
            // One directive names a variable once.
            if used.contains(&data.var) && writer.random.chance(80) {
                continue;
            }
            used.push(data.var);
            let kind = writer.random.pick(&[DataKind::Device, DataKind::ToSelf, DataKind::ToSelf]);
            let item = block(writer, &data);
            clauses.push(Clause::Data(kind, vec![item]));
        }
        if writer.random.chance(10) {
            let condition = writer.condition(&[]);
            clauses.push(Clause::If(condition));
        }
        if writer.random.chance(10) {
            clauses.push(Clause::IfPresent);
        }
        if writer.offer(Stmt::Alone { kind: Alone::Update, clauses }) {
            return;
        }
    }
}

/// A block of an array: some of each dimension.
fn block(writer: &mut Writer, data: &Data) -> Item {
    let mut section = Vec::new();
    let mut whole = true;
    for extent in &data.extents {
        let extent = *extent as i64;
        let (low, count) = match writer.random.below(4) {
            0 | 1 => (0, extent),
            2 => (writer.random.between(0, extent - 1), 1),
            _ => {
                let low = writer.random.between(0, extent - 2);
                (low, writer.random.between(1, extent - low))
            }
        };
        whole &= low == 0 && count == extent;
        section.push((Expr::Const(low), Expr::Const(count)));
    }
    match whole && !data.is_pointer {
        true => Item { place: Place::Var(data.var), section: Vec::new(), whole },
        false => Item { place: Place::Var(data.var), section, whole },
    }
}
