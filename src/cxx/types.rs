//! The types of Fortran's numbers and logical values by their sizes, as gfortran, flang and nvfortran have them.
//!
//! Invariant: a kind that is not surely known has no size.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::host::ir::{BaseType, Decl, DeclKind, ExprId, ExprKind, Scope, ScopeId, ScopeKind, UnaryOp};
use crate::scan::{self, Fork, Include};
use crate::sema::{self, Symbol, SymbolKind, Symbols, Texts};
use crate::source::{self, Span};

/// Names that stand for others are followed no further than this.
const DEPTH: usize = 8;

/// Which variable a symbol is, in whatever file: its module, if it is one of a module, and its name.
pub type Identity = (Option<String>, String);

/// What a value is; numbers in the order in which one becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// `.true.` or `.false.`
    Logical,
    /// A whole number.
    Integer,
    /// A floating number.
    Real,
    /// Two of them.
    Complex,
    /// An object; the bytes of its type are its number among the records.
    Record,
}

/// A type with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it is.
    pub word: Word,
    /// Its bytes, or those of its parts: its kind.
    pub bytes: u8,
}

impl Type {
    /// `integer`
    pub const INTEGER: Type = Type { word: Word::Integer, bytes: 4 };
    /// `logical`
    pub const LOGICAL: Type = Type { word: Word::Logical, bytes: 4 };
    /// `double precision`
    pub const DOUBLE: Type = Type { word: Word::Real, bytes: 8 };

    fn new(word: Word, bytes: i128) -> Option<Type> {
        let is_known = match word {
            Word::Real | Word::Complex => matches!(bytes, 4 | 8),
            Word::Integer | Word::Logical => matches!(bytes, 1 | 2 | 4 | 8),
            Word::Record => false,
        };
        is_known.then_some(Type { word, bytes: bytes as u8 })
    }

    /// How C++ calls a variable's type. A logical value is a number of its size that is 0 or 1.
    pub fn cpp(self) -> &'static str {
        match (self.word, self.bytes) {
            (Word::Real, 4) => "float",
            (Word::Real, _) => "double",
            (Word::Complex, 4) => "float _Complex",
            (Word::Complex, _) => "double _Complex",
            (_, 1) => "signed char",
            (_, 2) => "short",
            (_, 8) => "long long",
            _ => "int",
        }
    }

    /// How an interface in Fortran calls it.
    pub fn fortran(self) -> String {
        match (self.word, self.bytes) {
            (Word::Real, 4) => "real(c_float)".to_owned(),
            (Word::Real, _) => "real(c_double)".to_owned(),
            (Word::Complex, 4) => "complex(c_float_complex)".to_owned(),
            (Word::Complex, _) => "complex(c_double_complex)".to_owned(),
            (Word::Integer, 1) => "integer(c_signed_char)".to_owned(),
            (Word::Integer, 2) => "integer(c_short)".to_owned(),
            (Word::Integer, 8) => "integer(c_long_long)".to_owned(),
            (Word::Integer, _) => "integer(c_int)".to_owned(),
            (Word::Logical, bytes) => format!("logical({bytes})"),
            (Word::Record, _) => "type(*)".to_owned(),
        }
    }

    /// How Fortran declares it by its size.
    pub fn declared(self) -> String {
        let word = match self.word {
            Word::Real => "real",
            Word::Complex => "complex",
            Word::Integer => "integer",
            Word::Logical => "logical",
            Word::Record => "type",
        };
        format!("{word}({})", self.bytes)
    }

    /// The type of the parts of a complex number, or itself.
    pub fn part(self) -> Type {
        if self.word == Word::Complex { Type { word: Word::Real, ..self } } else { self }
    }

    /// The type of a sum or a product (Fortran 2018, 10.1.9.3).
    pub fn joined(self, other: Type) -> Type {
        let both = self.bytes.max(other.bytes);
        match (self.word, other.word) {
            (Word::Complex, Word::Real) => return Type { bytes: both, ..self },
            (Word::Real, Word::Complex) => return Type { bytes: both, ..other },
            _ => {}
        }
        match self.word.cmp(&other.word) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Equal => Type { bytes: both, ..self },
        }
    }
}

/// The code of `span` in small letters and without blanks.
pub fn plain_code(texts: Texts, span: Span) -> String {
    sema::plain(&texts.code(span))
}

/// The file to translate, and those whose modules it uses.
#[derive(Clone)]
pub struct Files<'a> {
    /// The file.
    pub own: Texts<'a>,
    /// The others.
    pub others: Vec<Texts<'a>>,
    /// What the names of the first mean, macros of all among them.
    pub symbols: &'a Symbols,
    /// Which files the first includes, once that was asked.
    includes: OnceCell<Vec<Include>>,
    /// Declarations under conditions, by their units and places: whether another build may have another one.
    chosen: RefCell<FxHashMap<(usize, u32), bool>>,
    /// The names of those whose types were asked for.
    asked: RefCell<BTreeSet<String>>,
}

/// Files that are often included and state no types of letters.
const WITHOUT_RULES: [&str; 4] = ["mpif.h", "openacc_lib.h", "omp_lib.h", "fftw3.f"];

/// What a name means in a scoping unit.
enum Found<'a> {
    Decl(Texts<'a>, &'a Decl),
    /// A constant of an intrinsic module.
    Intrinsic(String),
}

impl<'a> Files<'a> {
    /// A file and those whose modules it uses or which it includes.
    pub fn new(own: Texts<'a>, others: Vec<Texts<'a>>, symbols: &'a Symbols) -> Files<'a> {
        Files {
            own,
            others,
            symbols,
            includes: OnceCell::new(),
            chosen: RefCell::default(),
            asked: RefCell::default(),
        }
    }

    /// The declaration of a variable, the file where it stands, and a place in its scoping unit.
    pub fn decl_of(&self, symbol: &Symbol) -> Option<(Texts<'a>, &'a Decl)> {
        if let Some(id) = symbol.decl {
            return Some((self.own, self.own.unit.decl(id)));
        }
        let Some(home) = symbol.home.as_deref() else { return self.included(symbol) };
        let (seen, scope) = self.module(home)?;
        let decls = seen.unit.scope(scope).decls.iter().map(|id| seen.unit.decl(*id));
        decls.into_iter().find(|decl| decl.name == symbol.name).map(|decl| (seen, decl))
    }

    /// The declaration of a variable of a module that others may use, and the file where it stands.
    pub fn public(&self, home: &str, name: &str) -> Option<(Texts<'a>, &'a Decl)> {
        let (seen, scope) = self.module(home)?;
        let scope = seen.unit.scope(scope);
        let mut decls = scope.decls.iter().map(|id| seen.unit.decl(*id));
        let found = decls.find(|decl| decl.name == name)?;
        scope.is_accessible(name).then_some((seen, found))
    }

    /// The declaration of a variable in a file that is included, if one alone has the name.
    fn included(&self, symbol: &Symbol) -> Option<(Texts<'a>, &'a Decl)> {
        // What a separate module procedure gets from its interface may have the same name.
        if self.own.unit.scopes.iter().any(|scope| scope.is_declared_elsewhere) {
            return None;
        }
        let is_part = |scope: &&Scope| scope.kind == ScopeKind::Program && scope.name.is_empty();
        let mut found = self.others.iter().flat_map(|seen| {
            let parts = seen.unit.scopes.iter().filter(is_part);
            let decls = parts.flat_map(|scope| &scope.decls).map(|id| seen.unit.decl(*id));
            decls.filter(|decl| decl.name == symbol.name).map(|decl| (*seen, decl)).collect::<Vec<_>>()
        });
        // A name that all of the file sees may mean something else where another file is not included.
        let is_declared =
            symbol.scope.end < u32::MAX && (symbol.intrinsic.is_some() || symbol.record.is_some());
        let first = found.next().filter(|_| symbol.kind == SymbolKind::Constant || is_declared)?;
        let is_it = |one: &&Include| Path::new(&first.0.file.name).ends_with(&one.path);
        let includes = self.includes.get_or_init(|| scan::fortran_includes(self.own.file));
        let mut places = includes.iter().filter(is_it).map(|one| one.span.start);
        let is_chosen = places.any(|place| !scan::branches_beside(self.own.file, place).is_empty());
        (found.next().is_none() && !is_chosen).then_some(first)
    }

    /// The type of a variable's elements; `at` is a place where the variable is used.
    pub fn type_of(&self, symbol: &Symbol, at: u32) -> Option<Type> {
        if let Some((seen, decl)) = self.decl_of(symbol)
            && decl.base != BaseType::Unknown
        {
            return self.declared(seen, decl);
        }
        let is_foreign = symbol.decl.is_none() && (symbol.home.is_some() || symbol.intrinsic.is_some());
        let scope = self.own.unit.scope_at(at).filter(|_| !is_foreign)?;
        if self.is_declared_by_macro(scope, &symbol.name) {
            return None;
        }
        let (word, stated) = sema::type_of_letter(self.own.unit, scope, &symbol.name)?;
        match stated {
            Some(span) => self.stated(self.own, &plain_code(self.own, span), span.start),
            None => match self.included_rule(scope, &symbol.name)? {
                Some((seen, span)) => self.stated(seen, &plain_code(seen, span), span.start),
                None => self.stated(self.own, word, at),
            },
        }
    }

    /// Whether a line of a specification part declares a name by a word that is not a type of Fortran: a macro writes the type.
    fn is_declared_by_macro(&self, scope: ScopeId, name: &str) -> bool {
        const TYPES: [&str; 8] =
            ["integer", "real", "double", "complex", "character", "logical", "type", "class"];
        let unit = self.own.unit;
        let defines = |first: &str| {
            let text = self.own.file.bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
            let mut lines =
                text.filter_map(|line| line.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"define"));
            lines.any(|line| String::from_utf8_lossy(line).split_whitespace().next() == Some(first))
        };
        std::iter::successors(Some(scope), |at| unit.scope(*at).parent).any(|at| {
            let text = self.own.file.text(unit.scope(at).specification);
            text.lines().any(|line| {
                let (head, names) = line.split_once("::").unwrap_or(("", line));
                let Some(first) = source::words(line).next() else { return false };
                let is_type = TYPES.contains(&first.to_ascii_lowercase().as_str());
                let declares = source::words(names).any(|word| word.eq_ignore_ascii_case(name));
                declares && !is_type && (!head.trim().is_empty() && !head.contains('!') || defines(first))
            })
        })
    }

    /// What an `implicit` statement in a file that a specification part includes says of a name; the outer `None` if such a
    /// file is not at hand, or the name has no intrinsic type.
    fn included_rule(&self, scope: ScopeId, name: &str) -> Option<Option<(Texts<'a>, Span)>> {
        let unit = self.own.unit;
        let scopes = std::iter::successors(Some(scope), |at| unit.scope(*at).parent);
        let parts: Vec<Span> = scopes.map(|scope| unit.scope(scope).specification).collect();
        let includes = self.includes.get_or_init(|| scan::fortran_includes(self.own.file));
        let included = includes.iter().filter(|one| parts.iter().any(|part| part.contains(one.span)));
        let mut rule = None;
        for include in included.filter(|one| !WITHOUT_RULES.contains(&one.path.as_str())) {
            let is_it = |seen: &&Texts| Path::new(&seen.file.name).ends_with(&include.path);
            let seen = *self.others.iter().find(is_it)?;
            let part = seen.unit.scopes.iter().position(|part| part.name.is_empty() && part.parent.is_none());
            let Some(part) = part else { continue };
            let (_, stated) = sema::type_of_letter(seen.unit, ScopeId(part as u32), name)?;
            rule = rule.or(stated.map(|span| (seen, span)));
        }
        Some(rule)
    }

    /// The type that a declaration states.
    pub fn declared(&self, seen: Texts<'a>, decl: &Decl) -> Option<Type> {
        let stated = plain_code(seen, Span { start: decl.span.start, end: decl.name_span.start });
        let stated = without_prefixes(&stated);
        let after = plain_code(seen, Span { start: decl.name_span.end, end: decl.span.end });
        // An old way to state a kind after the name.
        if after.starts_with('*') {
            return None;
        }
        self.ask(seen, decl, stated);
        self.stated(seen, stated, decl.span.start)
    }

    /// The names, whose types were asked for since the last call, that other builds may declare otherwise.
    pub fn take_asked(&self) -> BTreeSet<String> {
        self.asked.take()
    }

    /// Notes a name if a branch of the preprocessor that another build may read declares it without `stated` in the line.
    fn ask(&self, seen: Texts<'a>, decl: &Decl, stated: &str) {
        if !is_conditional(seen, decl) {
            return;
        }
        let find = || {
            // The translation of this file defines a name where OpenACC defines its own.
            let is_own = std::ptr::eq(seen.unit, self.own.unit);
            let all = scan::forks(seen.file);
            let is_open = |fork: &&Fork| !is_own || fork.names().any(|name| name != "_OPENACC");
            let open: Vec<Span> = all.iter().filter(is_open).map(|fork| fork.whole).collect();
            let branches = scan::branches_beside(seen.file, decl.span.start).into_iter();
            let may_be_read =
                |branch: &Span| open.iter().any(|fork| fork.contains(*branch) && fork.contains(decl.span));
            branches.filter(may_be_read).any(|branch| {
                let text = seen.file.text(branch).to_lowercase();
                let mut lines = text.lines().filter(|line| source::words(line).any(|word| word == decl.name));
                lines.any(|line| !sema::plain(line).contains(stated))
            })
        };
        let key = (std::ptr::from_ref(seen.unit).addr(), decl.name_span.start);
        if *self.chosen.borrow_mut().entry(key).or_insert_with(find) {
            self.asked.borrow_mut().insert(decl.name.clone());
        }
    }

    /// The type that a text without blanks begins with.
    fn stated(&self, seen: Texts<'a>, stated: &str, at: u32) -> Option<Type> {
        if stated.starts_with("doubleprecision") {
            return Some(Type::DOUBLE);
        }
        if stated.starts_with("doublecomplex") {
            return Some(Type { word: Word::Complex, ..Type::DOUBLE });
        }
        let words = [
            ("logical", Word::Logical),
            ("integer", Word::Integer),
            ("real", Word::Real),
            ("complex", Word::Complex),
        ];
        let (name, word) = words.into_iter().find(|(name, _)| stated.starts_with(name))?;
        let rest = stated.get(name.len()..)?;
        let bytes = match rest.as_bytes().first() {
            Some(b'*') => {
                let digits = rest.get(1..)?;
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let bytes: i128 = digits.get(..end)?.parse().ok()?;
                if word == Word::Complex { bytes / 2 } else { bytes }
            }
            Some(b'(') => self.kind(seen, sema::enclosed(rest.get(1..)?)?, at, DEPTH)?,
            _ => 4,
        };
        Type::new(word, bytes)
    }

    /// The type of this word with the kind that a text without blanks means at a place of a file.
    pub fn of_kind(&self, seen: Texts<'a>, word: Word, text: &str, at: u32) -> Option<Type> {
        Type::new(word, self.kind(seen, text, at, DEPTH)?)
    }

    /// The number that a kind is.
    fn kind(&self, seen: Texts<'a>, text: &str, at: u32, depth: usize) -> Option<i128> {
        let depth = depth.checked_sub(1)?;
        let text = text.strip_prefix("kind=").unwrap_or(text);
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        if let Some(inner) = text.strip_suffix(')') {
            let (function, argument) = inner.split_once('(')?;
            return self.kind_from(seen, function, argument, at, depth);
        }
        match self.find_at(seen, at, text, depth)? {
            Found::Intrinsic(name) => bytes(&name),
            Found::Decl(there, decl) => {
                let init = there.unit.expr(decl.init.filter(|_| decl.is_const)?).span;
                let text = plain_code(there, init);
                self.ask(there, decl, &format!("{}={text}", decl.name));
                self.kind(there, &text, init.start, depth)
            }
        }
    }

    fn kind_from(
        &self,
        seen: Texts<'a>,
        function: &str,
        argument: &str,
        at: u32,
        depth: usize,
    ) -> Option<i128> {
        let first = argument.split(',').next()?;
        let digits = || {
            let number = first.rsplit('=').next()?;
            number.parse::<i128>().ok()
        };
        match function {
            "selected_int_kind" => Some(match digits()? {
                ..=2 => 1,
                3..=4 => 2,
                5..=9 => 4,
                10..=18 => 8,
                _ => return None,
            }),
            "selected_real_kind" => {
                if first.starts_with("r=") {
                    return None;
                }
                let range = argument.split(',').nth(1).map(|text| text.rsplit('=').next().unwrap_or(text));
                let range = match range {
                    Some(text) => text.parse::<i128>().ok()?,
                    None => 0,
                };
                match (digits()?, range) {
                    (..=6, ..=37) => Some(4),
                    (..=15, ..=307) => Some(8),
                    _ => None,
                }
            }
            "kind" => {
                if matches!(argument, ".true." | ".false.") {
                    return Some(4);
                }
                if !argument.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                    return None;
                }
                match argument.split_once('_') {
                    Some((_, kind)) => self.kind(seen, kind, at, depth),
                    None => Some(if argument.contains('d') { 8 } else { 4 }),
                }
            }
            _ => None,
        }
    }

    /// What a name means at a place, by the `block` constructs around it and its scoping unit.
    fn find_at(&self, seen: Texts<'a>, at: u32, name: &str, depth: usize) -> Option<Found<'a>> {
        let unit = seen.unit;
        let scope = unit.scope_at(at)?;
        let is_of_unit = |decl: &Decl| {
            let of_scope = |scope: &Scope| scope.specification.contains(decl.span);
            decl.kind != DeclKind::Variable || unit.scopes.iter().any(of_scope)
        };
        let own = unit.decls_named(name).filter(|decl| !is_of_unit(decl));
        let blocks = own.filter_map(|decl| Some((unit.stmt(unit.block_around(decl.span)?).span, decl)));
        let around = blocks.filter(|(block, _)| block.start <= at && at < block.end);
        match around.min_by_key(|(block, _)| block.len()) {
            Some((_, decl)) => Some(Found::Decl(seen, decl)),
            None => self.find(seen, scope, name, depth),
        }
    }

    /// What a name means in a scoping unit, whichever file declares it.
    fn find(&self, seen: Texts<'a>, scope: ScopeId, name: &str, depth: usize) -> Option<Found<'a>> {
        let depth = depth.checked_sub(1)?;
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope: &'a Scope = seen.unit.scope(id);
            let mut decls = scope.decls.iter().map(|id| seen.unit.decl(*id));
            if let Some(decl) = decls.find(|decl| decl.name == name) {
                return Some(Found::Decl(seen, decl));
            }
            for used in &scope.uses {
                let renamed = used.names.iter().find(|(local, _)| local == name);
                if renamed.is_none() && used.only {
                    continue;
                }
                let original = renamed.map_or(name, |(_, original)| original.as_str());
                if used.module.starts_with("iso_") {
                    if renamed.is_some() || bytes(original).is_some() {
                        return Some(Found::Intrinsic(original.to_owned()));
                    }
                    continue;
                }
                let Some((there, module)) = self.module(&used.module) else { continue };
                if let Some(found) = self.find(there, module, original, depth) {
                    return Some(found);
                }
            }
            at = scope.parent;
        }
        None
    }

    fn module(&self, name: &str) -> Option<(Texts<'a>, ScopeId)> {
        std::iter::once(&self.own).chain(&self.others).find_map(|seen| Some((*seen, module_in(*seen, name)?)))
    }

    /// The name with which a derived type is defined, of the one that a `use` statement may have given to it; `None` if the
    /// name may mean several types.
    pub fn tag<'b>(&'b self, tag: &'b str) -> Option<&'b str> {
        let all = || std::iter::once(&self.own).chain(&self.others);
        let names = |seen: &'b Texts| {
            seen.unit.scopes.iter().flat_map(|scope| &scope.uses).flat_map(|used| &used.names)
        };
        let mut renamed = all().flat_map(names).filter(|(local, name)| local == tag && name != tag);
        let Some((_, name)) = renamed.next() else { return Some(tag) };
        let is_defined = all().any(|seen| seen.unit.records_named(tag).next().is_some());
        (!is_defined && renamed.all(|(_, other)| other == name)).then_some(name)
    }

    /// The number of the other file that has a module.
    pub fn number_of(&self, module: &str) -> Option<usize> {
        self.others.iter().position(|seen| module_in(*seen, module).is_some())
    }

    /// The value of a constant expression of whole numbers.
    pub fn constant(&self, seen: Texts<'a>, expr: ExprId) -> Option<i128> {
        self.constant_within(seen, expr, DEPTH)
    }

    fn constant_within(&self, seen: Texts<'a>, expr: ExprId, depth: usize) -> Option<i128> {
        use crate::host::ir::BinaryOp;
        let depth = depth.checked_sub(1)?;
        let known = seen.unit.expr(expr);
        match &known.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Unary(UnaryOp::Minus, inner) => Some(-self.constant_within(seen, *inner, depth)?),
            ExprKind::Binary(op, left, right) => {
                let left = self.constant_within(seen, *left, depth)?;
                let right = self.constant_within(seen, *right, depth)?;
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Subtract => left.checked_sub(right),
                    BinaryOp::Multiply => left.checked_mul(right),
                    BinaryOp::Divide => left.checked_div(right),
                    _ => None,
                }
            }
            ExprKind::Name(name) => match self.find_at(seen, known.span.start, name, depth)? {
                Found::Decl(there, decl) if decl.derived.is_empty() && !is_conditional(there, decl) => {
                    let is_integer = self.declared(there, decl)?.word == Word::Integer;
                    let init = decl.init.filter(|_| decl.is_const && is_integer)?;
                    self.constant_within(there, init, depth)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The module of a name in a file.
pub fn module_in(seen: Texts, name: &str) -> Option<ScopeId> {
    let is_it = |scope: &Scope| scope.kind == ScopeKind::Module && scope.name == name;
    seen.unit.scopes.iter().position(is_it).map(|at| ScopeId(at as u32))
}

/// Whether a condition of the preprocessor holds a declaration: another build may have another one. A condition around all of a
/// procedure holds what uses its variables, too.
pub fn is_conditional(seen: Texts, decl: &Decl) -> bool {
    let scope = seen.unit.scope_at(decl.span.start).map(|id| seen.unit.scope(id));
    let own = scope.filter(|scope| matches!(scope.kind, ScopeKind::Procedure | ScopeKind::Program));
    let from = own.map_or(0, |scope| scope.span.start);
    let before = &seen.file.bytes[from as usize..decl.span.start as usize];
    let mut depth = 0usize;
    for at in memchr::memchr_iter(b'#', before) {
        let start = memchr::memrchr(b'\n', &before[..at]).map_or(0, |end| end + 1);
        if !before[start..at].trim_ascii().is_empty() {
            continue;
        }
        let word = before[at + 1..].trim_ascii_start();
        if word.starts_with(b"if") {
            depth += 1;
        } else if word.starts_with(b"endif") {
            depth = depth.saturating_sub(1);
        }
    }
    depth > 0
}

/// The type of a function's result without the words that may stand before it.
fn without_prefixes(stated: &str) -> &str {
    const WORDS: [&str; 6] = ["non_recursive", "recursive", "impure", "pure", "elemental", "module"];
    let mut rest = stated;
    while let Some(after) = WORDS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    rest
}

/// The number of a kind that one of Fortran's own modules names.
pub fn intrinsic_kind(symbol: &Symbol) -> Option<i128> {
    let is_intrinsic = symbol.home.as_deref().is_some_and(|home| home.starts_with("iso_"));
    bytes(&symbol.name).filter(|_| is_intrinsic && symbol.kind == SymbolKind::Constant)
}

/// The bytes of the kinds that Fortran's own modules name.
fn bytes(name: &str) -> Option<i128> {
    Some(match name {
        "int8" | "c_signed_char" | "c_int8_t" => 1,
        "int16" | "c_short" | "c_int16_t" => 2,
        "int32" | "real32" | "logical32" | "c_int" | "c_float" | "c_int32_t" | "c_float_complex" => 4,
        "int64" | "real64" | "c_double" | "c_long_long" | "c_int64_t" | "c_long" | "c_size_t"
        | "c_double_complex" => 8,
        "c_bool" => 1,
        _ => return None,
    })
}
