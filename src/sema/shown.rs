//! What the files at hand show of types, beside those of variables: members of records, results of functions, templates.
//!
//! Invariant: collected once for a file, in proportion to what is declared and to its text; knows no expression of the code.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{BaseType, Decl, DeclId, DeclKind, ExprId, ExprKind, RecordId, Unit};
use crate::scan::Define;
use crate::source::{self, Span};

use super::holds::Type;
use super::symbols::{Symbols, Types};

/// Longer lists of template arguments are not read.
const LIST: usize = 240;

/// So many definitions of one macro are read.
const VARIED: usize = 8;

/// So many lists of arguments of one template are read.
const INSTANCES: usize = 64;

/// So many bases of a class, and bases of these, are looked at.
const BASES: usize = 64;

/// A function or its prototype.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// The class that it belongs to, as far as that is seen.
    pub(super) class: Option<String>,
    /// The types of its parameters; none for a prototype.
    pub(super) params: Option<Vec<Type>>,
    /// The words of its result; for a prototype, its type.
    pub(super) result: Returned,
    /// All of it, if this file defines it.
    pub(super) body: Option<Span>,
}

/// What a function returns.
#[derive(Clone, Debug)]
pub(super) enum Returned {
    /// The words of a type.
    Words(String),
    /// A type.
    Known(Type),
}

/// The parameters of a macro, if it has a list of them, and its body.
type Definition = (Option<Vec<String>>, String);

/// The body of a macro, or what stands in the parentheses of `decltype`: an expression in a unit of its own.
pub(super) type Fragment = Rc<(Unit, ExprId)>;

/// What the files at hand show.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The members of records by name, by the tag of the record, the name of its type, or its number.
    members: FxHashMap<String, FxHashMap<String, Type>>,
    /// The bases of classes.
    bases: FxHashMap<String, Vec<String>>,
    /// The names of types that stand for a template with arguments: what they stand for.
    aliases: FxHashMap<String, String>,
    /// The functions by name.
    functions: FxHashMap<String, Vec<Signature>>,
    /// Macros that are defined in several ways: their parameters and bodies.
    varied: FxHashMap<String, Vec<Definition>>,
    /// The words before the names of variables whose type has no name.
    words: FxHashMap<DeclId, String>,
    /// The parameters of templates, by the name of the class or the function; several lists for several of one name.
    templates: FxHashMap<String, Vec<Vec<String>>>,
    /// The arguments that the text gives to those templates.
    instances: FxHashMap<String, FxHashSet<Vec<String>>>,
    /// Texts as expressions, as far as it was asked.
    fragments: RefCell<FxHashMap<String, Option<Fragment>>>,
    /// The calls by the name of the function, once it was asked.
    calls: OnceCell<FxHashMap<String, Vec<ExprId>>>,
    /// Whether the parameter of a template is given a floating-point number, by where the template begins, as far as it was asked.
    pub(super) given: RefCell<FxHashMap<(u32, String), bool>>,
    /// How many units there are before the file itself.
    before: usize,
}

impl Shown {
    /// Reads the units of a file of C or C++, of which `own` is the file itself, of this text.
    pub(super) fn new(types: &Types, own: &Unit, text: &[u8]) -> Shown {
        let mut shown = Shown { before: types.units.len().saturating_sub(1), ..Shown::default() };
        for (number, unit) in types.units.iter().enumerate() {
            let typedefs = unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef);
            for decl in typedefs.filter(|decl| decl.derived.is_empty()) {
                if let BaseType::Named(name) = &decl.base
                    && let Some(whole) = shown.instance(name).map(str::to_owned)
                {
                    shown.aliases.insert(decl.name.clone(), whole);
                }
            }
            shown.take_records(types, number);
            shown.take_functions(types, unit, std::ptr::eq(*unit, own));
        }
        let unnamed = own.decls.iter().enumerate().filter(|(_, decl)| has_no_name(decl));
        shown.words = unnamed
            .map(|(at, decl)| {
                let words = text.get(decl.span.start as usize..decl.name_span.start as usize);
                (DeclId(at as u32), String::from_utf8_lossy(words.unwrap_or_default()).into_owned())
            })
            .collect();
        if own.is_cpp() && memchr::memmem::find(text, b"template").is_some() {
            let text = String::from_utf8_lossy(text);
            shown.take_templates(&text);
            shown.take_instances(&text);
        }
        shown
    }

    /// Notes the bodies of macros that are defined in several ways.
    pub(super) fn take_macros(&mut self, macros: &[&Define], is_varied: impl Fn(&str) -> bool) {
        for define in macros.iter().filter(|define| is_varied(&define.name)) {
            let all = self.varied.entry(define.name.clone()).or_default();
            if all.len() < VARIED {
                all.push((define.params.clone(), define.body.clone()));
            }
        }
    }

    fn take_records(&mut self, types: &Types, number: usize) {
        let unit = types.units[number];
        for (at, record) in unit.records.iter().enumerate() {
            let mut members = FxHashMap::default();
            let typed = |id: &DeclId| {
                let decl = unit.decl(*id);
                let known = types.of(decl, types.shape(unit, decl));
                match &decl.base {
                    BaseType::Record(id) if unit.record(*id).tag.is_none() => {
                        Type { base: numbered(number, *id), ..known }
                    }
                    BaseType::Named(name) => match self.instance(name) {
                        Some(whole) => Type { base: whole.to_owned(), ..known },
                        None => known,
                    },
                    _ => known,
                }
            };
            for id in &record.members {
                members.entry(unit.decl(*id).name.clone()).or_insert_with(|| typed(id));
            }
            // What an anonymous union or struct holds is found as what a base holds is.
            let parts: Vec<String> = unit.anonymous_in(record.span).map(|id| numbered(number, id)).collect();
            let name = record.tag.clone().unwrap_or_else(|| numbered(number, RecordId(at as u32)));
            self.bases.entry(name.clone()).or_insert_with(|| [record.bases.clone(), parts].concat());
            self.members.entry(name).or_insert(members);
        }
        let named = unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef);
        for decl in named {
            if let BaseType::Record(id) = decl.base
                && unit.record(id).tag.is_none()
                && !self.members.contains_key(&decl.name)
            {
                self.members.insert(decl.name.clone(), FxHashMap::default());
                self.bases.insert(decl.name.clone(), vec![numbered(number, id)]);
            }
        }
    }

    fn take_functions(&mut self, types: &Types, unit: &Unit, is_own: bool) {
        let typed = |id: &DeclId| {
            let decl = unit.decl(*id);
            types.of(decl, types.shape(unit, decl))
        };
        for function in &unit.functions {
            self.functions.entry(function.name.clone()).or_default().push(Signature {
                class: function.member_of.clone(),
                params: Some(function.params.iter().map(typed).collect()),
                result: Returned::Words(function.returns.clone()),
                body: is_own.then_some(function.span),
            });
        }
        for decl in unit.decls.iter().filter(|decl| decl.kind == DeclKind::Prototype) {
            let result = Returned::Known(types.of(decl, types.shape(unit, decl)));
            let signature = Signature { class: None, params: None, result, body: None };
            self.functions.entry(decl.name.clone()).or_default().push(signature);
        }
    }

    /// Notes the templates of a text: the names of their parameters, and of what they are templates of.
    fn take_templates(&mut self, text: &str) {
        for (at, word) in source::placed_names(text).filter(|(_, word)| *word == "template") {
            let Some(list) = list_of(&text[at + word.len()..]) else { continue };
            let params = parts_of(list).filter_map(|part| {
                let before = part.split('=').next().unwrap_or(part);
                source::names(before).last().map(str::to_owned)
            });
            let params: Vec<String> = params.collect();
            let end = list.as_ptr() as usize - text.as_ptr() as usize + list.len() + 1;
            let Some(name) = template_name(&text[end..]) else { continue };
            let known = self.templates.entry(name.to_owned()).or_default();
            if !params.is_empty() && !known.contains(&params) {
                known.push(params);
            }
        }
    }

    /// Notes the arguments that a text gives to its templates.
    fn take_instances(&mut self, text: &str) {
        for (at, word) in source::placed_names(text) {
            if !self.templates.contains_key(word) {
                continue;
            }
            let known = self.instances.entry(word.to_owned()).or_default();
            if let Some(list) = list_of(&text[at + word.len()..]).filter(|_| known.len() < INSTANCES) {
                known.insert(parts_of(list).map(|part| part.trim().to_owned()).collect());
            }
        }
    }

    /// The template with its arguments that the name of a type is, or stands for.
    pub(super) fn instance<'s>(&'s self, name: &'s str) -> Option<&'s str> {
        if name.contains('<') {
            Some(name)
        } else {
            self.aliases.get(source::plain_name(name)).map(String::as_str)
        }
    }

    /// The functions of a name.
    pub(super) fn functions(&self, name: &str) -> &[Signature] {
        self.functions.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The words before the name of a variable whose type has no name.
    pub(super) fn words(&self, decl: DeclId) -> Option<&str> {
        self.words.get(&decl).map(String::as_str)
    }

    /// Whether a class is at hand.
    pub(super) fn has_class(&self, class: &str) -> bool {
        self.members.contains_key(class)
    }

    /// The type of a member of a class or of its bases.
    pub(super) fn member(&self, class: &str, name: &str) -> Option<&Type> {
        self.classes(class).into_iter().find_map(|class| self.members.get(class)?.get(name))
    }

    /// A class, and its bases.
    pub(super) fn classes<'s>(&'s self, class: &'s str) -> Vec<&'s str> {
        let mut found = vec![class];
        let mut at = 0;
        while at < found.len().min(BASES) {
            let bases = self.bases.get(found[at]).into_iter().flatten();
            found.extend(bases.map(|base| source::plain_name(base)));
            at += 1;
        }
        found
    }

    /// Whether a template of this name has such a parameter.
    pub(super) fn is_parameter(&self, template: &str, parameter: &str) -> bool {
        let lists = self.templates.get(template).into_iter().flatten();
        lists.flatten().any(|known| known == parameter)
    }

    /// Whether any template has such a parameter.
    pub(super) fn is_parameter_of_any(&self, parameter: &str) -> bool {
        self.templates.values().flatten().flatten().any(|known| known == parameter)
    }

    /// What the text gives for a parameter of a template.
    pub(super) fn arguments<'s>(
        &'s self,
        template: &str,
        parameter: &str,
    ) -> impl Iterator<Item = &'s str> + use<'s> {
        let lists = self.templates.get(template).into_iter().flatten();
        let places: Vec<usize> =
            lists.filter_map(|list| list.iter().position(|known| known == parameter)).collect();
        let instances = self.instances.get(template).into_iter().flatten();
        instances.flat_map(move |list| {
            let given: Vec<&str> =
                places.iter().filter_map(|place| list.get(*place)).map(String::as_str).collect();
            given
        })
    }

    /// What a name with template arguments gives for a parameter of the template; of a template that is not at hand, its only
    /// argument.
    pub(super) fn argument<'n>(&self, name: &'n str, parameter: &str) -> Option<&'n str> {
        let list = list_of(&name[name.find('<')?..])?;
        let place = match self.templates.get(source::plain_name(name)) {
            Some(lists) => lists.iter().find_map(|list| list.iter().position(|known| known == parameter))?,
            None if self.has_class(parameter) || parts_of(list).nth(1).is_some() => return None,
            None => 0,
        };
        parts_of(list).nth(place).map(str::trim)
    }

    /// The first of the template arguments in a name.
    pub(super) fn first_argument<'n>(&self, name: &'n str) -> Option<&'n str> {
        parts_of(list_of(&name[name.find('<')?..])?).next().map(str::trim)
    }

    /// The name that a record of the file without a tag has here.
    pub(super) fn name_of(&self, record: RecordId) -> String {
        numbered(self.before, record)
    }

    /// A text as an expression.
    pub(super) fn fragment(&self, text: &str, is_cpp: bool) -> Option<Fragment> {
        if let Some(known) = self.fragments.borrow().get(text) {
            return known.clone();
        }
        let found = crate::host::expression(text, is_cpp).map(Rc::new);
        self.fragments.borrow_mut().insert(text.to_owned(), found.clone());
        found
    }

    /// The calls of a function in the file.
    pub(super) fn calls(&self, unit: &Unit, name: &str) -> &[ExprId] {
        let all = self.calls.get_or_init(|| {
            let mut found: FxHashMap<String, Vec<ExprId>> = FxHashMap::default();
            for (at, expr) in unit.exprs.iter().enumerate() {
                let ExprKind::Call { callee, .. } = &expr.kind else { continue };
                if let ExprKind::Name(name) | ExprKind::Member { name, .. } = &unit.expr(*callee).kind {
                    let name = source::plain_name(name).to_owned();
                    found.entry(name).or_default().push(ExprId(at as u32));
                }
            }
            found
        });
        all.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The name that a record without a tag has here: the number of its unit, and its own.
fn numbered(unit: usize, record: RecordId) -> String {
    format!("@{unit}:{}", record.0)
}

/// Whether the type of a variable is not named where it is declared.
fn has_no_name(decl: &Decl) -> bool {
    match &decl.base {
        BaseType::Unknown => true,
        BaseType::Named(name) => matches!(name.as_str(), "auto" | "__auto_type"),
        _ => false,
    }
}

/// What stands between the angle brackets that a text begins with.
fn list_of(text: &str) -> Option<&str> {
    let list = text.trim_start().strip_prefix('<')?;
    let mut depth = 1;
    let mut short = list.char_indices().take(LIST);
    let end = short.find(|(_, c)| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0 || matches!(c, ';' | '{')
    });
    let (end, last) = end?;
    (last == '>').then(|| &list[..end])
}

/// The parts of a list between its commas.
fn parts_of(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c: char| {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        c == ',' && depth == 0
    })
}

/// The name of the class or the function that stands after `template <…>`.
fn template_name(text: &str) -> Option<&str> {
    let first = source::names(text).next()?;
    if matches!(first, "struct" | "class" | "union" | "using") {
        return source::names(text).nth(1);
    }
    let head = &text[..text.find(['(', ';', '{'])?];
    source::names(head).last()
}

impl Symbols {
    /// The definitions of the macro `name`: the parameters, none for one that stands for itself, and the body.
    pub(super) fn definitions(&self, name: &str) -> Vec<(Option<&[String]>, &str)> {
        let with_params = self.macro_of(name).map(|(params, body)| (Some(params), body));
        let alone = self.body_of(name).map(|body| (None, body));
        let varied = self.shown.varied.get(name).into_iter().flatten();
        let varied = varied.map(|(params, body)| (params.as_deref(), body.as_str()));
        with_params.into_iter().chain(alone).chain(varied).collect()
    }
}
