//! Functions that the device cannot have: what calls them stays with the host, too.
//!
//! Invariant: device code calls no function of the program that the device does not have.

use std::collections::{BTreeMap, BTreeSet};

use super::{copied, counterpart, cpp, implied};
use crate::acc::ast::DirectiveKind;
use crate::cuda::code::text::{is_tag, placed_words, words};
use crate::cuda::meaning;
use crate::cuda::program::{
    Input, Refused, Seen, declared, defines, functions, levels, predefined, qualified, refused, repeated,
    routines,
};
use crate::cuda::types::{cpp_complex, spelling};
use crate::diag;
use crate::host::ir::{Decl, DeclKind, ExprKind, Function, Stmt, StmtKind};
use crate::sema::SymbolId;
use crate::source::{self, Span};

/// Functions of the standard library that the device has, which a program may declare for itself.
const DEVICES: &str = "abs labs llabs fabs fabsf sqrt sqrtf cbrt exp expf exp2 expm1 log logf log2 log10 log1p pow powf \
    sin sinf cos cosf tan tanf asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot floor ceil round trunc rint \
    nearbyint fmod remainder fmin fmax fminf fmaxf fdim fma erf erfc tgamma lgamma isnan isinf isfinite signbit copysign \
    min max printf malloc free memcpy memset clock";

/// Functions of C's library and of POSIX that the device does not have.
const HOSTS: &str = "sleep usleep nanosleep clock_gettime gettimeofday time times getpid sched_yield fopen fclose fflush \
    fprintf vfprintf fputs fputc fgets fgetc fread fwrite fscanf scanf sscanf sprintf snprintf puts putchar getchar perror \
    exit atexit getenv system signal raise rand srand random srandom drand48 erand48 lrand48 srand48 rand_r qsort bsearch \
    atoi atol atof strtol strtoul strtod strlen strcmp strncmp strcpy strncpy strcat strchr strstr strtok strdup memcmp \
    memmove memchr calloc realloc posix_memalign aligned_alloc setjmp longjmp open close read write";

/// What is said of a function that has a message of its own.
const OWN: &str = "is untranslated";

/// Why the device cannot have a function.
#[derive(Clone, Debug)]
struct Why {
    /// As a sentence about the function goes on.
    text: String,
    /// What is said of the function itself.
    said: Option<Refused>,
}

/// The functions that are left untranslated, by name.
#[derive(Clone, Debug, Default)]
pub struct Left {
    known: BTreeMap<String, Why>,
}

/// Whether the body of a function can be written for the device, by its number in its file.
pub type Writable<'a> = &'a dyn Fn(&Input, usize) -> Result<(), Refused>;

impl Left {
    /// Those among the functions that constructs and `routine` directives lead to. `placed`: those that constructs in
    /// their place call.
    pub fn of(input: &Input, placed: &BTreeSet<u32>, writable: Writable) -> Left {
        let mut left = Left::default();
        let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut pending: Vec<String> = roots(input).into_iter().collect();
        while let Some(name) = pending.pop() {
            if callers.contains_key(&name) {
                continue;
            }
            let mut calls = BTreeSet::new();
            let mut is_defined = false;
            for (is_own, seen) in files(input) {
                for function in seen.unit.functions_named(&name) {
                    is_defined = true;
                    calls.extend(called(input, &seen, function.span));
                    let candidate = Candidate::new(input, (is_own, &seen), function, placed);
                    if let Some(why) = candidate.obstacle(writable) {
                        left.known.entry(name.clone()).or_insert(why);
                    }
                }
            }
            let is_librarys = HOSTS.split_whitespace().any(|known| known == name)
                && !files(input).any(|(_, seen)| seen.unit.decls_named(&name).next().is_some());
            if !is_defined && is_librarys {
                let text = "is a function of the host's library".to_owned();
                left.known.insert(name.clone(), Why { text, said: None });
            } else if !is_defined && is_hosts(input, &name) {
                let text = "is declared without `routine`, and defined elsewhere".to_owned();
                left.known.insert(name.clone(), Why { text, said: None });
            }
            pending.extend(calls.iter().cloned());
            callers.insert(name, calls);
        }
        left.spread(&callers);
        left
    }

    /// What calls a function that is left untranslated is left untranslated.
    fn spread(&mut self, calls: &BTreeMap<String, BTreeSet<String>>) {
        let mut pending: Vec<String> = self.known.keys().cloned().collect();
        while let Some(name) = pending.pop() {
            for (caller, _) in calls.iter().filter(|(_, calls)| calls.contains(&name)) {
                if !self.known.contains_key(caller) {
                    let said = self.known.get(&name).and_then(|why| why.said.clone());
                    let text = match self.known.get(&name) {
                        Some(why) if why.text.starts_with("calls") => why.text.clone(),
                        Some(why) => format!("calls `{name}`, which {}", why.text),
                        None => continue,
                    };
                    self.known.insert(caller.clone(), Why { text, said });
                    pending.push(caller.clone());
                }
            }
        }
    }

    /// Whether a function of this name is left untranslated.
    pub fn holds(&self, name: &str) -> bool {
        self.known.contains_key(functions::bare(name))
    }

    /// Why code cannot be the device's that calls one of them; `at` is its directive.
    pub fn refusal(&self, input: &Input, at: Span, code: &[Span]) -> Option<Refused> {
        let mut names = code.iter().flat_map(|span| called(input, &input.source, *span));
        let name = names.find(|name| self.known.contains_key(name))?;
        self.reported(at, &name)
    }

    /// Whether the function of a `routine` directive is left untranslated.
    pub fn is_about(&self, input: &Input, index: usize) -> bool {
        routines::routine_name(input, index).is_some_and(|name| self.holds(name))
    }

    /// Why the function of a `routine` directive is left untranslated.
    pub fn routine(&self, input: &Input, index: usize) -> Refused {
        let at = input.bound[index].directive.span;
        let name = functions::bare(routines::routine_name(input, index).unwrap_or_default());
        let own = self.known.get(name).filter(|why| why.text == OWN).and_then(|why| why.said.clone());
        own.or_else(|| self.reported(at, name)).unwrap_or_else(|| refused(at, "a routine that is not seen"))
    }

    fn reported(&self, at: Span, name: &str) -> Option<Refused> {
        let why = self.known.get(name)?;
        let reported = diag::not_callable(at, name, &format!("it {}", why.text));
        Some(Box::new(match &why.said {
            Some(said) => reported.with(said.primary.span, said.message.clone()),
            None => reported,
        }))
    }
}

/// The files, and whether each is the source itself.
fn files<'a>(input: &Input<'a>) -> impl Iterator<Item = (bool, Seen<'a>)> + use<'a> {
    input.headers.iter().map(|seen| (false, *seen)).chain([(true, input.source)])
}

/// The functions that device code begins with.
fn roots(input: &Input) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (index, bound) in input.bound.iter().enumerate() {
        if bound.directive.kind == DirectiveKind::Routine {
            found.extend(routines::routine_name(input, index).map(|name| functions::bare(name).to_owned()));
        } else if let Some(stmt) = bound.stmt().filter(|_| bound.directive.kind.is_compute()) {
            for span in cpp::code(input, input.stmt_span(stmt)) {
                found.extend(called(input, &input.source, span));
            }
        }
    }
    found
}

/// What of some code the device runs: the host runs the rest of a `kernels` region.
fn device_parts(input: &Input, span: Span) -> Vec<Span> {
    let mut by_host: Vec<Span> = input.plan.by_host.keys().map(|stmt| input.stmt_span(*stmt)).collect();
    by_host.retain(|one| span.contains(*one));
    by_host.sort();
    let mut parts = Vec::new();
    let mut start = span.start;
    for one in by_host {
        parts.push(Span { start, end: one.start.max(start) });
        start = one.end;
    }
    parts.push(Span { start, end: span.end });
    parts
}

/// The functions that the device calls in some code, those of macros included.
fn called(input: &Input, seen: &Seen, span: Span) -> BTreeSet<String> {
    match std::ptr::eq(seen.unit, input.unit()) {
        true => device_parts(input, span).into_iter().flat_map(|part| called_in(input, seen, part)).collect(),
        false => called_in(input, seen, span),
    }
}

fn called_in(input: &Input, seen: &Seen, span: Span) -> BTreeSet<String> {
    let unit = seen.unit;
    let mut found = match std::ptr::eq(unit, input.unit()) {
        true => implied::implied(input, span),
        false => BTreeSet::new(),
    };
    if std::ptr::eq(unit, input.unit()) {
        found.extend(meaning::addresses(input, span));
    }
    for expr in unit.exprs_in(span) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => {
                found.insert(functions::bare(name).to_owned())
            }
            _ => continue,
        };
    }
    let shadow = seen.code(span);
    let is_called = |word: &str| defines::define(input, word).is_some_and(|define| define.params.is_some());
    let named = placed_words(&shadow).into_iter();
    let named = named.filter(|(at, word)| !(is_tag(&shadow, *at, word) && is_called(word)));
    let mut pending: Vec<String> = named.map(|(_, word)| word.to_owned()).collect();
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(word) = pending.pop() {
        let Some(define) = defines::define(input, &word).filter(|_| known.insert(word.clone())) else {
            continue;
        };
        found.remove(&word);
        for (at, inner) in placed_words(&define.body) {
            let after = define.body[at + inner.len()..].trim_start();
            if after.starts_with('(') && defines::define(input, inner).is_none() {
                found.insert(inner.to_owned());
            }
            pending.push(inner.to_owned());
        }
    }
    found
}

/// A function that device code leads to.
struct Candidate<'a, 'b> {
    input: &'b Input<'a>,
    seen: &'b Seen<'a>,
    function: &'b Function,
    of: Origin<'a>,
    /// The device has it where it stands.
    is_in_place: bool,
}

/// The file that a function stands in.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// The source itself.
    Own,
    /// A header with directives, as it is read itself.
    Read(&'a Input<'a>),
    /// Another header.
    Plain,
}

impl Why {
    fn about(text: impl Into<String>) -> Why {
        Why { text: text.into(), said: None }
    }

    /// A function of the source with a message of its own.
    fn own(why: Refused) -> Why {
        Why { text: OWN.to_owned(), said: Some(why) }
    }

    fn in_header(why: &Refused) -> Why {
        Why::about(format!("stands in a header: {}", why.message))
    }
}

impl<'a, 'b> Candidate<'a, 'b> {
    /// `placed`: the functions that inline constructs call.
    fn new(
        input: &'b Input<'a>,
        (is_own, seen): (bool, &'b Seen<'a>),
        function: &'b Function,
        placed: &BTreeSet<u32>,
    ) -> Candidate<'a, 'b> {
        let of = match (is_own, input.reading(seen)) {
            (true, _) => Origin::Own,
            (false, Some(there)) => Origin::Read(there),
            (false, None) => Origin::Plain,
        };
        let is_in_place = input.unit().is_cpp() && !functions::is_plain_in(seen, function)
            || is_own && placed.contains(&function.span.start);
        Candidate { input, seen, function, of, is_in_place }
    }

    fn is_own(&self) -> bool {
        matches!(self.of, Origin::Own)
    }

    /// Why the device cannot have the function, whatever it calls.
    fn obstacle(&self, writable: Writable) -> Option<Why> {
        if self.holds_left_loop() {
            return Some(Why::about("holds a `loop` that is untranslated"));
        }
        if self.has_chosen_head() {
            return Some(Why::about("has a head that conditions of the preprocessor choose"));
        }
        if let Err(why) = repeated::none(self.input, self.seen, self.function.span)
            && !self.is_in_place
        {
            return Some(if self.is_own() { Why::own(why) } else { Why::in_header(&why) });
        }
        let of_file = match self.of {
            Origin::Own => self.of_source(writable),
            Origin::Read(there) => self.of_header(there, writable),
            Origin::Plain => self.of_plain_header(),
        };
        of_file.or_else(|| self.of_language()).or_else(|| {
            let name = self.hosts_variable()?;
            Some(Why::about(format!("names `{name}`, a variable of the host")))
        })
    }

    /// Whether another build gives the same body another head.
    fn has_chosen_head(&self) -> bool {
        let Candidate { input, seen, function, is_in_place, .. } = *self;
        let number = input.number(seen);
        let head = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
        input.choices.filter(|_| !is_in_place).is_some_and(|choices| {
            let (begin, end) = (choices.place(number, head.start), choices.place(number, head.end));
            !begin.is_around(&end) || !choices.hidden_in(number, head).is_empty()
        })
    }

    fn of_source(&self, writable: Writable) -> Option<Why> {
        let Candidate { input, function, is_in_place, .. } = *self;
        if let Err(why) = spelling::none_too_long(input, function.span) {
            return Some(Why::own(why));
        }
        if !is_in_place {
            let directed = predefined::directed(input, function.span);
            return writable(&directed, place_of(self.seen, function)?).err().map(Why::own);
        }
        if cpp_complex::computes(input, function.span) {
            let text = "computes with `std::complex`, whose operators and functions are the host's";
            return Some(Why::about(text));
        }
        if !levels::routine_levels(input, &function.name).any() {
            return None;
        }
        if let Some(what) = counterpart::obstacle(input, &function.name) {
            return Some(Why::about(format!("is {}", what.trim_end_matches(','))));
        }
        let inline = Input { in_place: true, ..*input };
        writable(&inline, place_of(self.seen, function)?).err().map(Why::own)
    }

    fn of_header(&self, there: &Input, writable: Writable) -> Option<Why> {
        let at = place_of(self.seen, self.function)?;
        let whole = spelling::none_too_long(there, self.function.span);
        let made = whole.and_then(|()| writable(there, at)).err().filter(|_| !self.is_in_place)?;
        Some(Why::in_header(&made))
    }

    fn of_plain_header(&self) -> Option<Why> {
        let text = self.seen.file.text(self.function.span);
        let is_long = words(&text).windows(2).any(|two| two == ["long", "double"]);
        is_long.then(|| Why::about("computes in `long double`, which the device does not have"))
    }

    /// What of C has no form in C++.
    fn of_language(&self) -> Option<Why> {
        let Candidate { input, seen, function, .. } = *self;
        if !input.is_c {
            return None;
        }
        let body = seen.unit.stmt(function.body).span;
        let made = meaning::head(input, seen, function).and_then(|_| match self.of {
            Origin::Plain => meaning::of_header(input, seen, body).map(|_| ()),
            Origin::Own | Origin::Read(_) => Ok(()),
        });
        let why = made.err()?;
        Some(if self.is_own() { Why::own(why) } else { Why::in_header(&why) })
    }

    /// Whether the plan leaves a loop that a routine divides.
    fn holds_left_loop(&self) -> bool {
        let input = match self.of {
            Origin::Own => Some(self.input),
            Origin::Read(there) => Some(there),
            Origin::Plain => None,
        };
        input.is_some_and(|input| {
            let mut stay = input
                .plan
                .notes
                .iter()
                .zip(input.bound)
                .filter(|(note, _)| note.stays)
                .map(|(_, one)| &one.directive);
            stay.any(|one| one.kind == DirectiveKind::Loop && self.function.span.contains(one.span))
        })
    }

    /// Whether a name is declared at its place, by a variable, a type or an enumerator of the function, or is a label's.
    fn is_new(&self, place: Span, before: &str) -> bool {
        let unit = self.seen.unit;
        let name = self.seen.file.text(place);
        let is_label = |stmt: &Stmt| {
            let is_named =
                matches!(&stmt.kind, StmtKind::Labeled { label: Some(label), .. } if *label == name);
            is_named && stmt.span.start == place.start
        };
        before == "goto"
            || unit.decls_with_names_in(place).next().is_some()
            || unit.stmts_in(unit.stmt(self.function.body).span).any(is_label)
    }

    /// The variable that a function names and that the device does not have.
    fn hosts_variable(&self) -> Option<String> {
        let Candidate { input, seen, function, is_in_place, .. } = *self;
        let is_own = self.is_own();
        let body = seen.unit.stmt(function.body).span;
        let text = seen.scan.shadow.get(body.range()).map(source::in_place)?;
        let mut last = "";
        for (at, word) in placed_words(&text) {
            let before_it = std::mem::replace(&mut last, word);
            let is_sized = before_it == "sizeof";
            let before = text[..at].trim_end();
            if before.ends_with('.') || before.ends_with("->") {
                continue;
            }
            if before.ends_with("::") {
                let own = qualified::symbol_of(input, &text, (at, word), body.start).filter(|_| is_own);
                if own.is_some_and(|symbol| is_hosts_alone(input, symbol, is_in_place)) {
                    return Some(word.to_owned());
                }
                continue;
            }
            let symbol = input.symbols.lookup(word, body.start + at as u32).filter(|_| is_own && is_in_place);
            let is_static_array =
                symbol.and_then(|symbol| input.declaration(symbol)).is_some_and(|(_, decl)| {
                    decl.kind == DeclKind::Member && decl.is_static && !decl.derived.is_empty()
                });
            if is_static_array {
                return Some(word.to_owned());
            }
            let Some(decl) = global(input, word).filter(|_| !is_sized) else { continue };
            let is_global = match is_own {
                true => input.symbols.lookup(word, body.start + at as u32).is_some_and(|symbol| {
                    let decl = input.symbols.get(symbol).decl;
                    decl.is_none_or(|decl| seen.unit.globals.contains(&decl))
                }),
                false => !seen.unit.decls_named(word).any(|decl| function.span.contains(decl.span)),
            };
            let start = body.start + at as u32;
            if !is_global || self.is_new(Span { start, end: start + word.len() as u32 }, before_it) {
                continue;
            }
            let has_copy = match is_in_place {
                true => copied::is_number(input, word) || is_constexpr(&decl),
                false => copied::constant(input, word).is_some() || declared::has_counterpart(input, word),
            };
            if !has_copy {
                return Some(word.to_owned());
            }
        }
        None
    }
}

/// The number of a function in its file.
fn place_of(seen: &Seen, function: &Function) -> Option<usize> {
    seen.unit.function_places(&function.name).find(|at| seen.unit.functions[*at].span == function.span)
}

/// Whether a variable of a namespace or of a class has no form on the device.
fn is_hosts_alone(input: &Input, symbol: SymbolId, is_in_place: bool) -> bool {
    let name = &input.symbols.get(symbol).name;
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let is_member = input.symbols.is_static_member(symbol);
    if !is_member && (decl.kind != DeclKind::Variable || !qualified::is_variable(input, symbol)) {
        return false;
    }
    let is_known = || copied::is_number(input, name) || is_constexpr(&(seen, decl));
    match is_in_place || is_member {
        true => !is_known() && !qualified::is_constant(input, symbol),
        false => copied::constant(input, name).is_none() && !declared::has_counterpart(input, name),
    }
}

/// The variable of this name at file scope.
fn global<'a>(input: &Input<'a>, name: &str) -> Option<(Seen<'a>, &'a Decl)> {
    let is_variable = |decl: &Decl| decl.kind == DeclKind::Variable;
    let known = files(input).filter(|(_, seen)| seen.unit.decls_named(name).any(is_variable));
    known.into_iter().find_map(|(_, seen)| {
        let mut all = seen.unit.globals.iter().map(|id| seen.unit.decl(*id));
        let decl = all.find(|decl| decl.kind == DeclKind::Variable && decl.name == name)?;
        Some((seen, decl))
    })
}

/// Whether a variable is a number that the language knows wherever it is named.
fn is_constexpr((seen, decl): &(Seen, &Decl)) -> bool {
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    decl.derived.is_empty() && words(&head).contains(&"constexpr")
}

/// Whether the program declares a function for the host alone, and defines it in another file.
fn is_hosts(input: &Input, name: &str) -> bool {
    if DEVICES.split_whitespace().any(|known| known == name) {
        return false;
    }
    let is_prototype = |seen: &Seen, decl: &Decl| {
        let after = Span { start: decl.name_span.end, end: decl.span.end };
        decl.kind == DeclKind::Prototype && !seen.file.text(after).contains('=')
    };
    let is_routine = |seen: &Seen| {
        let mut said = seen.scan.directives.iter().map(|text| seen.file.text(text.span));
        said.any(|said| words(&said).contains(&"routine") && words(&said).contains(&name))
            || routines::is_routine_prototype(seen, name)
    };
    files(input).any(|(_, seen)| seen.unit.decls_named(name).any(|decl| is_prototype(&seen, decl)))
        && !files(input).any(|(_, seen)| is_routine(&seen))
}
