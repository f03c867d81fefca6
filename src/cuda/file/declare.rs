//! Variables of `declare` at file scope: their counterparts among the globals of the device (OpenACC 3.3, 2.13).
//!
//! Invariant: a counterpart is defined where the host's variable is; other device files declare it.

use std::collections::BTreeMap;

use super::device::Device;
use super::hidden::Hidden;
use super::options::OTHER_BUILD;
use crate::acc::ast::{ClauseKind, DataClause, ListItem};
use crate::cuda::code::text::words;
use crate::cuda::program::declared::has_memory;
use crate::cuda::program::{Input, Refused, Seen, qualified, refused};
use crate::cuda::types::{item, spelling};
use crate::diag::Diag;
use crate::host::ir::{Decl, DeclKind, Derived};
use crate::source::Span;

/// A variable that has a counterpart on the device.
struct Counterpart<'a> {
    /// Its last name, which the counterpart has, too.
    name: &'a str,
    /// How the host names it at the end of the file.
    path: &'a str,
    /// The declaration of the counterpart.
    declaration: &'a str,
}

impl Device {
    /// A `declare` at file scope: the variables that this file defines get a counterpart on the device.
    pub fn declare(&mut self, input: &Input, hidden: &Hidden, index: usize) -> Result<(), Refused> {
        let clauses = &input.bound[index].directive.clauses;
        for clause in clauses {
            if let ClauseKind::Data(data, _) = &clause.kind
                && !has_memory(*data)
                && *data != DataClause::Link
            {
                return Err(refused(
                    clause.span,
                    &format!("`{}` of a variable at file scope", clause.name.text),
                ));
            }
        }
        for (clause, item) in items(input, index) {
            let (seen, decl) = declaration(input, index, &item.base.text)
                .ok_or_else(|| refused(item.span, "a variable whose declaration is not seen"))?;
            let counterpart = counterpart(input, seen, decl)
                .ok_or_else(|| refused(item.span, "a variable of this type"))?;
            if is_member(input, index, item) {
                return Err(refused(item.span, "a static data member"));
            }
            let path = qualified::path(&seen, decl);
            if path != decl.name && self.declared.contains(&decl.name) {
                return Err(refused(
                    item.span,
                    "a variable whose name another variable with `declare` has, too,",
                ));
            }
            self.declared.insert(decl.name.clone());
            if !decl.is_extern && self.is_first(input, seen, decl) {
                let names = Counterpart { name: &decl.name, path: &path, declaration: &counterpart };
                let others = hidden.declarations(input, (self.choices.own(), decl), item.span)?;
                self.depends(item.span.start, others);
                self.define(input, item.span.start, &names, (clause, decl.is_static));
            }
        }
        Ok(())
    }

    /// Counterparts for the variables of this file that headers place on the device.
    pub fn declare_for_headers(&mut self, input: &Input, hidden: &Hidden, diags: &mut Vec<Diag>) {
        for (name, clause) in of_headers(input) {
            self.declared.insert(name.to_owned());
            let Some(decl) = definition(input, name) else { continue };
            let place = decl.name_span.start;
            if !self.is_first(input, input.source, decl) {
                continue;
            }
            match hidden.declarations(input, (self.choices.own(), decl), decl.name_span) {
                Ok(others) => self.depends(place, others),
                Err(why) => diags.push(*why),
            }
            match counterpart(input, input.source, decl) {
                Some(counterpart) => {
                    let path = qualified::path(&input.source, decl);
                    let names = Counterpart { name, path: &path, declaration: &counterpart };
                    self.define(input, place, &names, (clause, decl.is_static))
                }
                None => diags.push(*refused(decl.name_span, "a variable of this type")),
            }
        }
    }

    /// Whether a variable has no counterpart yet: several directives may name one, at a declaration and at the definition.
    fn is_first(&mut self, input: &Input, seen: Seen, decl: &Decl) -> bool {
        self.counterparts.insert((input.number(&seen), decl.name_span.start))
    }

    /// Declares the counterparts that other files define and these texts name; the texts that came in.
    pub fn declare_extern(&mut self, input: &Input, hidden: &Hidden, texts: &[String]) -> Vec<String> {
        let mut known: BTreeMap<&str, (Seen, &Decl)> = BTreeMap::new();
        for (name, _) in of_headers(input) {
            let found = input.headers.iter().find_map(|seen| Some((*seen, global(seen, name)?)));
            let is_foreign = definition(input, name).is_none();
            known.extend(found.filter(|_| is_foreign).map(|found| (name, found)));
        }
        let own = (0..input.bound.len()).filter(|at| input.bound[*at].function.is_none());
        for (index, (_, item)) in own.flat_map(|index| items(input, index).map(move |item| (index, item))) {
            let found = declaration(input, index, &item.base.text);
            known.extend(
                found.filter(|(_, decl)| decl.is_extern).map(|found| (item.base.text.as_str(), found)),
            );
        }
        let end = Span { start: u32::MAX - 1, end: u32::MAX };
        let mut came = Vec::new();
        for name in texts.iter().flat_map(|text| words(text)) {
            let Some((seen, decl)) = known.remove(name) else { continue };
            let Some(counterpart) = counterpart(input, seen, decl) else { continue };
            let mut text = format!("namespace device {{ extern __device__ {counterpart}; }}\n");
            let declared = (input.number(&seen), decl);
            for (number, branch) in hidden.declarations(input, declared, end).unwrap_or_default() {
                let place = self.choices.place(number, branch.start);
                text = self.choices.arranged(vec![(place, OTHER_BUILD.to_owned())]) + &text;
            }
            self.externs.insert(name.to_owned(), text.clone());
            came.push(text);
        }
        came
    }

    /// Defines a counterpart, and tells the library of it. What is static is of its file alone.
    fn define(
        &mut self,
        input: &Input,
        place: u32,
        Counterpart { name, path, declaration: counterpart }: &Counterpart,
        (clause, is_static): (DataClause, bool),
    ) {
        let own = if is_static { "static " } else { "" };
        let getter = format!("{}_{name}_device", input.unit_name);
        self.globals.insert(
            place,
            format!(
                "namespace device {{ {own}__device__ {counterpart}; }}\n\nextern \"C\" void *{getter}(void)\n{{\n    void *address = nullptr;\n    cudaGetSymbolAddress(&address, device::{name});\n    return address;\n}}\n"
            ),
        );
        self.prototype(place, format!("void *{getter}(void);\n"));
        let copies = matches!(clause, DataClause::Copyin { .. });
        let line = format!(
            "    acc2omp_declare({}, sizeof {path}, {getter}, {});\n",
            item::address_of(input, path),
            u8::from(copies)
        );
        self.registrations.insert(place, line);
    }
}

/// The list items of a `declare` that have a place on the device as long as the program runs.
fn items<'a>(input: &Input<'a>, index: usize) -> impl Iterator<Item = (DataClause, &'a ListItem)> + use<'a> {
    let is_declare = input.bound[index].directive.kind == crate::acc::ast::DirectiveKind::Declare;
    let lists = input.clauses(index).filter_map(move |kind| match kind {
        ClauseKind::Data(clause, list) if is_declare && has_memory(*clause) => Some((*clause, list)),
        _ => None,
    });
    lists.flat_map(|(clause, list)| list.iter().map(move |item| (clause, item)))
}

/// What headers place on the device, each variable once.
fn of_headers<'a>(input: &Input<'a>) -> BTreeMap<&'a str, DataClause> {
    let declared = input.headers.iter().flat_map(|seen| seen.declared);
    let placed = declared.filter(|(_, clause)| has_memory(**clause));
    placed.map(|((_, name), clause)| (name.as_str(), *clause)).collect()
}

/// The declaration of what a `declare` names: the definition, if it stands after the directive.
fn declaration<'a>(input: &Input<'a>, index: usize, name: &str) -> Option<(Seen<'a>, &'a Decl)> {
    let span: Span = input.bound[index].directive.span;
    let symbol =
        input.symbols.lookup(name, u32::MAX - 1).or_else(|| input.symbols.lookup(name, span.start))?;
    let found = input.declaration(symbol)?;
    match definition(input, name).filter(|_| found.1.is_extern) {
        Some(definition) => Some((input.source, definition)),
        None => Some(found),
    }
}

/// The definition of a global variable, if it stands in this file.
fn definition<'a>(input: &Input<'a>, name: &str) -> Option<&'a Decl> {
    let mut globals = input.source.unit.globals.iter().map(|id| input.source.unit.decl(*id));
    globals.find(|decl| decl.name == name && !decl.is_extern && decl.kind == DeclKind::Variable)
}

/// Whether an item of a `declare` is a static data member of a class.
fn is_member(input: &Input, index: usize, item: &ListItem) -> bool {
    let place = input.bound[index].directive.span.start;
    let known = [item.name_in_full(), &item.base.text].map(|name| input.symbols.lookup(name, place));
    known.into_iter().flatten().any(|symbol| input.symbols.is_data_member(symbol))
}

/// The declaration of a header's variable.
fn global<'a>(seen: &Seen<'a>, name: &str) -> Option<&'a Decl> {
    seen.unit.globals.iter().map(|id| seen.unit.decl(*id)).find(|decl| decl.name == name)
}

/// The declaration of the counterpart of a variable, without what says where it lies; `None` if the device cannot have it.
fn counterpart(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    let base = spelling::base(input, seen, decl)?;
    let mut declarator = decl.name.clone();
    for part in &decl.derived {
        match part {
            Derived::Pointer => declarator = format!("*{declarator}"),
            Derived::Array(Some(size)) => declarator += &format!("[{}]", seen.text(*size)),
            _ => return None,
        }
    }
    Some(format!("{base} {declarator}"))
}
