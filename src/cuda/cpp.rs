//! What of C++ cannot be taken out of its place into a device file, and what cannot stay there either.
//!
//! Invariant: what is not sure to mean the same elsewhere stays in its place.

use std::collections::BTreeSet;

use crate::acc::ast::{Argument, DirectiveKind};
use crate::bind::Target;
use crate::host::ir::{BaseType, DeclKind, Derived, ExprId, ExprKind, Function, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::text::words;
use super::{Change, Input, Lowering, Refused, Seen, capture, device, levels, place, refused, types};

/// Whether a construct has to stay in its place: it, or what it names, means something only there.
pub fn is_in_place(input: &Input, index: usize, stmt: StmtId) -> bool {
    let unit = input.unit();
    if !unit.is_cpp() {
        return false;
    }
    let span = unit.stmt(stmt).span;
    let Some(function) = input.bound[index].function.map(|id| unit.function(id)) else { return false };
    let known = input.file().text(span);
    let known = words(&known);
    let own = ["this", "auto", "decltype", "std", "operator", "new", "delete"];
    !is_plain(input, function)
        || in_class(input, function.span)
        || unit.lambdas.iter().any(|(lambda, _)| lambda.contains(span) || span.contains(*lambda))
        || known.iter().any(|word| own.contains(word))
        || called(input, stmt).any(|(name, is_alone)| {
            name.contains("::") || !is_alone || functions(input, &name).any(|one| !is_plain(input, one))
        })
        || capture::outer(input, stmt).into_iter().any(|(symbol, _)| is_placed(input, symbol))
}

/// Whether a variable is one that other files cannot be told of.
fn is_placed(input: &Input, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let is_complex = words(&text).iter().any(|word| word.contains("_Complex") || *word == "__complex__");
    let is_written = types::base(input, seen, decl).is_some() && !text.contains('<');
    let is_hidden = matches!(known.class, Class::Pointer) && decl.derived.is_empty();
    // The size of a row is a part of the type.
    let has_named_size = decl.derived.iter().skip(1).any(|part| match part {
        Derived::Array(Some(size)) => names_constant(input, seen, *size, decl.span.start),
        _ => false,
    });
    known.kind == SymbolKind::Member || !is_complex && !is_written || is_hidden || has_named_size
}

/// Whether an expression names a `const` variable that is a constant of the language.
fn names_constant(input: &Input, seen: Seen, expr: ExprId, offset: u32) -> bool {
    match &seen.unit.expr(expr).kind {
        ExprKind::Name(name) => input.symbols.lookup(name, offset).is_some_and(|symbol| {
            let known = input.symbols.get(symbol);
            let init = input.declaration(symbol).and_then(|(_, decl)| decl.init);
            known.kind != SymbolKind::Constant && known.is_const && init.is_some()
        }),
        kind => kind.children().into_iter().any(|inner| names_constant(input, seen, inner, offset)),
    }
}

/// What a statement calls: the name, and whether it is that of one function, which is no member.
fn called<'a>(input: &Input<'a>, stmt: StmtId) -> impl Iterator<Item = (String, bool)> + use<'a> {
    let unit = input.unit();
    let span = unit.stmt(stmt).span;
    let all = &unit.functions;
    unit.exprs.iter().filter(move |expr| span.contains(expr.span)).filter_map(move |expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return None };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let bare = name.rsplit("::").next().unwrap_or(name);
                Some((name.clone(), all.iter().filter(|function| function.name == bare).count() < 2))
            }
            ExprKind::Member { name, .. } => Some((name.clone(), false)),
            _ => None,
        }
    })
}

/// The functions of a name that the file defines.
fn functions<'a>(input: &Input<'a>, name: &str) -> impl Iterator<Item = &'a Function> + use<'a> {
    let name = name.rsplit("::").next().unwrap_or(name).to_owned();
    input.unit().functions.iter().filter(move |function| function.name == name)
}

/// Whether a function is one that a device file can have a copy of: outside of classes, templates and namespaces.
fn is_plain(input: &Input, function: &Function) -> bool {
    is_plain_in(&input.source, function)
}

/// The same for a function of a header.
pub fn is_plain_in(seen: &Seen, function: &Function) -> bool {
    let head = Span { start: function.span.start, end: function.name_span.start };
    // Class templates and what the standard library has stay where they are.
    let params = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
    function.member_of.is_none()
        && !seen.file.text(params).contains('<')
        && !words(&seen.file.text(head)).contains(&"template")
        && !in_namespace(seen, function.span)
}

/// Why the compilers for CUDA do not take device code in this place, or why it would mean something else; `None` if they do.
pub fn obstacle(input: &Input, index: usize, stmt: StmtId) -> Option<&'static str> {
    let unit = input.unit();
    let span = unit.stmt(stmt).span;
    if unit.lambdas.iter().any(|(lambda, _)| lambda.contains(span)) {
        return Some("a construct in a lambda expression");
    }
    let function = input.bound[index].function.map(|id| unit.function(id))?;
    let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
    let is_structor = function.member_of.as_deref().is_some_and(|class| {
        let bare = class.split('<').next().unwrap_or(class).trim();
        function.name.trim_start_matches('~').trim() == bare
    });
    if is_structor || function.name.starts_with('~') {
        return Some("a construct in a constructor or destructor");
    }
    if words(&head).contains(&"auto") {
        return Some("a construct in a function whose result is `auto`");
    }
    if function.member_of.is_some() && !is_public(input, function) {
        return Some("a construct in a private or protected member function");
    }
    if has_cuda_type(input) {
        return Some("a construct beside a type with the name of one of CUDA's");
    }
    if capture::outer(input, stmt).into_iter().any(|(symbol, _)| is_local_type(input, symbol)) {
        return Some("a variable of a type that only this function knows");
    }
    let named = place::named_members(input, stmt);
    if named.iter().any(|(_, member)| member.is_none()) {
        return Some("a member whose name something hides, or a call of a member function of the object,");
    }
    let all = words(&input.file().text(span)).into_iter().filter(|word| *word == "this").count();
    if all > named.len() {
        return Some("the object itself in a construct");
    }
    for (name, is_alone) in called(input, stmt) {
        let is_bare = !name.contains("::");
        let of_object = |one: &Function| {
            one.member_of.is_some()
                && one.member_of == function.member_of
                && !words(&input.file().text(Span { start: one.span.start, end: one.name_span.start }))
                    .contains(&"static")
        };
        let is_member_call = !is_alone && functions(input, &name).count() < 2;
        if is_bare && !is_member_call && functions(input, &name).any(of_object) {
            return Some("a call of a member function of the object");
        }
        if levels::routine_levels(input, &name).any() {
            return Some("a call of a routine with levels of parallelism, in this place,");
        }
        if functions(input, &name).next().is_none() && is_hosts(input, &name) {
            return Some("a call of a function that a header defines without `routine`");
        }
    }
    None
}

/// Whether the source has a type at file scope with a name that CUDA's headers take.
fn has_cuda_type(input: &Input) -> bool {
    let seen_here = [&input.source].into_iter().chain(input.headers);
    let mut records =
        seen_here.flat_map(|seen| seen.unit.records.iter().filter_map(|one| one.tag.as_deref()));
    records.any(|tag| {
        let bare = tag.trim_start_matches('u').trim_end_matches(|c: char| c.is_ascii_digit());
        let count = tag.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let is_vector = ["char", "short", "int", "long", "longlong", "float", "double"].contains(&bare);
        tag == "dim3" || is_vector && ["1", "2", "3", "4"].contains(&count)
    })
}

/// Whether a variable is of a class that a function defines, or is a lambda expression.
fn is_local_type(input: &Input, symbol: SymbolId) -> bool {
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let unit = seen.unit;
    let is_lambda =
        decl.init.is_some_and(|init| unit.lambdas.iter().any(|(lambda, _)| *lambda == unit.expr(init).span));
    let in_function =
        |span: Span| unit.functions.iter().any(|function| unit.stmt(function.body).span.contains(span));
    let is_local = match &decl.base {
        BaseType::Named(tag) | BaseType::Tagged(tag) => {
            let is_said = |text: &str| {
                ["struct", "class", "union"].iter().any(|word| {
                    let said = format!("{word} {tag}");
                    text.match_indices(&said)
                        .any(|(at, _)| text[at + said.len()..].trim_start().starts_with(['{', ':']))
                })
            };
            let mut around = unit.functions.iter().filter(|function| function.span.contains(decl.span));
            around.any(|function| is_said(&seen.file.text(unit.stmt(function.body).span)))
        }
        BaseType::Record(id) => in_function(unit.record(*id).span),
        _ => false,
    };
    is_lambda || is_local
}

/// Whether a header defines a function for the host only.
fn is_hosts(input: &Input, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    input.headers.iter().any(|seen| {
        let mut found = seen.unit.functions.iter().filter(|function| function.name == name).peekable();
        found.peek().is_some()
            && found.all(|function| {
                !seen.scan.directives.iter().any(|text| {
                    let says = seen.file.text(text.span).contains("routine");
                    let between = Span { start: text.span.end, end: function.span.start.max(text.span.end) };
                    says && text.span.end <= function.span.start && seen.file.text(between).trim().is_empty()
                })
            })
    })
}

/// Whether a member function can be named by everyone, as far as the file and its headers show.
fn is_public(input: &Input, function: &Function) -> bool {
    let seen_here = [&input.source].into_iter().chain(input.headers);
    for seen in seen_here {
        for record in &seen.unit.records {
            let here = std::ptr::eq(seen.unit, input.unit());
            let inside = here && record.span.contains(function.span);
            let class =
                function.member_of.as_deref().map(|class| class.split('<').next().unwrap_or(class).trim());
            let is_class = class.is_some() && record.tag.as_deref() == class;
            let offset = if inside {
                Some(function.span.start)
            } else if is_class {
                let declared = |decl: &&crate::host::ir::Decl| {
                    decl.kind == DeclKind::Prototype
                        && decl.name == function.name
                        && record.span.contains(decl.span)
                };
                seen.unit.decls.iter().find(declared).map(|decl| decl.span.start)
            } else {
                None
            };
            if offset.is_some_and(|offset| !access(seen, record.span, offset)) {
                return false;
            }
        }
    }
    true
}

/// Whether what stands at `offset` in a class is public.
fn access(seen: &super::Seen, record: Span, offset: u32) -> bool {
    let shadow = seen.scan.shadow.get(record.start as usize..offset as usize).unwrap_or_default();
    let text = String::from_utf8_lossy(shadow);
    let mut is_public = !text.trim_start().starts_with("class");
    let mut depth = 0;
    let mut word = String::new();
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth == 1 && word == "public" => is_public = true,
            ':' if depth == 1 && (word == "private" || word == "protected") => is_public = false,
            _ => {}
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if !c.is_whitespace() || !["public", "private", "protected"].contains(&word.as_str()) {
            word.clear();
        }
    }
    is_public
}

/// The functions that constructs in place call, one through another, by place.
pub fn called_in_place(input: &Input) -> BTreeSet<u32> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    if !unit.is_cpp() {
        return found;
    }
    let mut pending: Vec<StmtId> = (0..input.bound.len())
        .filter(|index| input.bound[*index].directive.kind.is_compute())
        .filter_map(|index| input.bound[index].stmt().filter(|stmt| is_in_place(input, index, *stmt)))
        .collect();
    while let Some(stmt) = pending.pop() {
        for (name, _) in called(input, stmt) {
            for function in functions(input, &name) {
                if found.insert(function.span.start) {
                    pending.push(function.body);
                }
            }
        }
    }
    found
}

/// Where the macro goes that makes a function one of the device too: behind `template <…>` and attributes.
pub fn mark(input: &Input, span: Span) -> u32 {
    let text = input.file().text(span);
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let rest = &text[at..];
        if rest.starts_with("template") {
            let mut depth = 0;
            let end = rest.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>');
                *c == '>' && depth == 0
            });
            let Some((end, _)) = end else { break };
            at += end + 1;
        } else if rest.starts_with("[[") {
            let Some(end) = rest.find("]]") else { break };
            at += end + 2;
        } else if rest.starts_with("extern \"C\"")
            && !rest["extern \"C\"".len()..].trim_start().starts_with('{')
        {
            at += "extern \"C\"".len();
        } else {
            break;
        }
    }
    span.start + at as u32
}

impl Lowering<'_> {
    /// Whether a `routine` directive makes its function the device's where it stands.
    pub(super) fn is_routine_in_place(&self, index: usize) -> bool {
        let input = self.input;
        if !input.unit().is_cpp() {
            return false;
        }
        let is_header = device::header_ending(&input.file().name).is_some();
        let Some(name) = device::routine_name(input, index) else { return is_header };
        let mut known = functions(input, name).peekable();
        let span = input.bound[index].directive.span;
        let is_inside = in_namespace(&input.source, Span { start: span.start, end: span.start });
        let is_alone = known.peek().is_some() && functions(input, name).count() == 1;
        is_header
            || is_inside
            || name.contains("::")
            || known.peek().is_some() && !is_alone
            || known.any(|function| !is_plain(input, function) || self.placed.contains(&function.span.start))
    }

    /// The macro before the function of a `routine` directive, and before what else declares it.
    pub(super) fn routine_in_place(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let input = self.input;
        let bound = &input.bound[index];
        let span = bound.directive.span;
        if levels::declared_levels(input, index).any() {
            return Err(refused(span, "a routine with levels of parallelism, in this place,"));
        }
        let targets: Vec<Span> = match (&bound.directive.argument, bound.target) {
            (Argument::Name(name), _) => self.declarations(&name.text),
            (_, Target::Function(id)) => vec![input.unit().function(id).span],
            (_, Target::Declaration(span)) => vec![span],
            _ => return Err(refused(span, "a routine that is not seen")),
        };
        let mut changes = vec![Change::Gone(span)];
        if let [target] = targets.as_slice() {
            let place = mark(input, *target);
            let is_behind = input.file().text(Span { start: span.end, end: place.max(span.end) });
            if span.end <= place && is_behind.trim().is_empty() && self.marked.insert(place) {
                return Ok(vec![Change::Lines(span, vec!["ACC2OMP_ROUTINE".to_owned()])]);
            }
        }
        for target in targets {
            changes.extend(self.marked_at(target));
        }
        Ok(changes)
    }

    /// What declares or defines a function.
    fn declarations(&self, name: &str) -> Vec<Span> {
        let name = name.rsplit("::").next().unwrap_or(name);
        let unit = self.input.unit();
        let prototypes =
            unit.decls.iter().filter(|decl| decl.kind == DeclKind::Prototype && decl.name == name);
        functions(self.input, name)
            .map(|function| function.span)
            .chain(prototypes.map(|decl| decl.span))
            .collect()
    }

    fn marked_at(&mut self, span: Span) -> Option<Change> {
        let place = mark(self.input, span);
        self.marked
            .insert(place)
            .then(|| Change::Text(Span { start: place, end: place }, "ACC2OMP_ROUTINE ".to_owned()))
    }

    /// The functions that a construct in place calls without `routine`: they are the device's, too.
    pub(super) fn implicit_routines(&mut self, stmt: StmtId) -> Vec<Change> {
        let input = self.input;
        let mut changes = Vec::new();
        let mut pending = vec![stmt];
        let mut met = BTreeSet::new();
        while let Some(stmt) = pending.pop() {
            for (name, _) in called(input, stmt) {
                if !met.insert(name.clone()) {
                    continue;
                }
                for span in self.declarations(&name) {
                    let is_said = (0..input.bound.len()).any(|index| {
                        input.bound[index].directive.kind == DirectiveKind::Routine
                            && match (&input.bound[index].directive.argument, input.bound[index].target) {
                                (Argument::Name(said), _) => said.text == name,
                                (_, Target::Function(id)) => input.unit().function(id).span == span,
                                (_, Target::Declaration(target)) => {
                                    target.contains(span) || span.contains(target)
                                }
                                _ => false,
                            }
                    });
                    if !is_said {
                        changes.extend(self.marked_at(span));
                    }
                }
                pending.extend(functions(input, &name).map(|function| function.body));
            }
        }
        changes
    }
}

/// Whether a class holds a place.
fn in_class(input: &Input, span: Span) -> bool {
    input.unit().records.iter().any(|record| record.span.contains(span))
}

/// Whether a namespace holds a place: an open brace before it that no function or class has.
fn in_namespace(seen: &Seen, span: Span) -> bool {
    let shadow = seen.scan.shadow.get(..span.start as usize).unwrap_or_default();
    let mut depth = 0i32;
    for byte in shadow {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}
