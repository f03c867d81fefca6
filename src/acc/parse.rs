//! Reads a directive's words into the typed tree, and goes on after an error to find the next one.
//!
//! Invariant: a directive comes back only if nothing at all was wrong with it; what is legal beside what is `check`'s.

use super::ast::{
    Argument, Clause, ClauseKind, DataClause, Directive, DirectiveKind, EndKind, Expr, GangArgument,
    ListItem, Name, PathStep, ReductionOp, Subscript, WaitArgument,
};
use super::lex::{Kind, Token, lex};
use super::nearest::nearest;
use crate::diag::{Diag, condition_in_directive, malformed, unknown_clause, unknown_directive};
use crate::rules::openacc::table;
use crate::scan::DirectiveText;
use crate::source::{Language, SourceFile, Span};

/// Every directive.
const KINDS: [DirectiveKind; 30] = {
    use DirectiveKind::*;
    [
        Parallel,
        Serial,
        Kernels,
        ParallelLoop,
        SerialLoop,
        KernelsLoop,
        Data,
        EnterData,
        ExitData,
        HostData,
        Loop,
        Cache,
        Atomic,
        Declare,
        Init,
        Shutdown,
        Set,
        Update,
        Wait,
        Routine,
        End(EndKind::Parallel),
        End(EndKind::Serial),
        End(EndKind::Kernels),
        End(EndKind::Loop),
        End(EndKind::ParallelLoop),
        End(EndKind::SerialLoop),
        End(EndKind::KernelsLoop),
        End(EndKind::Data),
        End(EndKind::HostData),
        End(EndKind::Atomic),
    ]
};

/// The words of a directive's name: `parallel loop`, `enter data`.
pub fn name(kind: DirectiveKind) -> &'static str {
    match kind {
        DirectiveKind::Parallel => "parallel",
        DirectiveKind::Serial => "serial",
        DirectiveKind::Kernels => "kernels",
        DirectiveKind::ParallelLoop => "parallel loop",
        DirectiveKind::SerialLoop => "serial loop",
        DirectiveKind::KernelsLoop => "kernels loop",
        DirectiveKind::Data => "data",
        DirectiveKind::EnterData => "enter data",
        DirectiveKind::ExitData => "exit data",
        DirectiveKind::HostData => "host_data",
        DirectiveKind::Loop => "loop",
        DirectiveKind::Cache => "cache",
        DirectiveKind::Atomic => "atomic",
        DirectiveKind::Declare => "declare",
        DirectiveKind::Init => "init",
        DirectiveKind::Shutdown => "shutdown",
        DirectiveKind::Set => "set",
        DirectiveKind::Update => "update",
        DirectiveKind::Wait => "wait",
        DirectiveKind::Routine => "routine",
        DirectiveKind::End(EndKind::Parallel) => "end parallel",
        DirectiveKind::End(EndKind::Serial) => "end serial",
        DirectiveKind::End(EndKind::Kernels) => "end kernels",
        DirectiveKind::End(EndKind::Loop) => "end loop",
        DirectiveKind::End(EndKind::ParallelLoop) => "end parallel loop",
        DirectiveKind::End(EndKind::SerialLoop) => "end serial loop",
        DirectiveKind::End(EndKind::KernelsLoop) => "end kernels loop",
        DirectiveKind::End(EndKind::Data) => "end data",
        DirectiveKind::End(EndKind::HostData) => "end host_data",
        DirectiveKind::End(EndKind::Atomic) => "end atomic",
    }
}

/// Reads the directive; `None` if anything in it was not understood.
pub fn parse(file: &SourceFile, text: &DirectiveText) -> (Option<Directive>, Vec<Diag>) {
    let fortran = match file.language {
        Language::C | Language::Cpp | Language::Header => false,
        Language::Fortran(_) => true,
    };
    parse_as(file, text, fortran)
}

/// Reads the directive in the spelling of Fortran, or of C.
fn parse_as(file: &SourceFile, text: &DirectiveText, fortran: bool) -> (Option<Directive>, Vec<Diag>) {
    let (tokens, diags) = lex(file, &text.words, fortran);
    if let Some(diag) = condition(file, &tokens) {
        return (None, vec![diag]);
    }
    let mut parser = Parser { file, text, fortran, tokens, at: 0, diags };
    let directive = parser.directive();
    let mut diags = parser.diags;
    diags.sort_by_key(|diag| diag.primary.span.start);
    (directive.filter(|_| diags.is_empty()), diags)
}

/// What looks like a line for the preprocessor, among the continued lines of a directive.
fn condition(file: &SourceFile, tokens: &[Token]) -> Option<Diag> {
    const WORDS: [&[u8]; 8] = [b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif", b"define", b"undef"];
    let found = tokens.windows(2).find_map(|two| {
        let [mark, word] = two else { return None };
        let is_line = file.slice(mark.span) == b"#" && WORDS.contains(&file.slice(word.span));
        is_line.then(|| mark.span.to(word.span))
    })?;
    Some(condition_in_directive(found, &file.text(found)))
}

/// A range of tokens.
#[derive(Clone, Copy)]
struct Run {
    from: usize,
    to: usize,
}

/// What stands in parentheses after a word, and the word.
#[derive(Clone, Copy)]
struct Args<'a> {
    word: &'a str,
    at: Span,
    run: Option<Run>,
}

/// Where the parser is. Its functions return `None` when they have reported an error.
struct Parser<'a> {
    file: &'a SourceFile,
    text: &'a DirectiveText,
    fortran: bool,
    tokens: Vec<Token>,
    at: usize,
    diags: Vec<Diag>,
}

/// The directive, its clauses, and what stands in their parentheses.
impl Parser<'_> {
    fn directive(&mut self) -> Option<Directive> {
        let (kind, name_span) = self.directive_name()?;
        let run = self.parentheses();
        let argument = self.argument(kind, Args { word: name(kind), at: name_span, run });
        let clauses = self.clauses(kind);
        Some(Directive { kind, name_span, argument: argument?, clauses, span: self.text.span })
    }

    /// The longest known name that the tokens begin with.
    fn directive_name(&mut self) -> Option<(DirectiveKind, Span)> {
        let words = self.tokens.iter().take_while(|token| token.kind == Kind::Word).take(3).count();
        if words == 0 {
            let at = self.tokens.first().map_or(self.text.span, |token| token.span);
            return self.fail(at, "the name of a directive");
        }
        for count in (1..=words).rev() {
            let joined = self.joined(count);
            // Compilers take `end` without the blank after it, too.
            let glued = joined.starts_with("end").then(|| joined.replace(' ', ""));
            let is_glued = |known: &str, glued: &String| {
                known.starts_with("end ") && known.bytes().filter(|byte| *byte != b' ').eq(glued.bytes())
            };
            let is_named = |kind: &DirectiveKind| {
                let known = name(*kind);
                known == joined || glued.as_ref().is_some_and(|glued| is_glued(known, glued))
            };
            if let Some(kind) = self.kinds().find(is_named) {
                self.at = count;
                return Some((kind, self.span(Run { from: 0, to: count })));
            }
        }
        let first = self.word(0);
        let half = matches!(first.as_str(), "enter" | "exit") || self.fortran && first == "end";
        let count = if half { words.min(2) } else { 1 };
        let wrong = self.joined(count);
        let known: Vec<&str> =
            self.kinds().map(name).filter(|known| !half || known.starts_with(&first)).collect();
        let near = nearest(&wrong, known.iter().copied()).or(known.first().copied().filter(|_| half));
        let at = self.span(Run { from: 0, to: count });
        self.diags.push(unknown_directive(at, &wrong, near));
        None
    }

    /// The directives of the language: only Fortran has `end`.
    fn kinds(&self) -> impl Iterator<Item = DirectiveKind> + use<> {
        let fortran = self.fortran;
        KINDS.into_iter().filter(move |kind| fortran || !matches!(kind, DirectiveKind::End(_)))
    }

    fn joined(&self, count: usize) -> String {
        (0..count).map(|at| self.word(at)).collect::<Vec<_>>().join(" ")
    }

    fn argument(&mut self, kind: DirectiveKind, args: Args) -> Option<Argument> {
        if args.run.is_some_and(|run| self.broken(run)) {
            return None;
        }
        match (kind, args.run) {
            (DirectiveKind::Routine, Some(run)) => self.one_name(run).map(Argument::Name),
            (DirectiveKind::Wait, Some(run)) => self.wait(run).map(Argument::Wait),
            (DirectiveKind::Cache, _) => {
                let run = self.need(args)?;
                let (readonly, list) = self.modified_list(run, "readonly")?;
                Some(Argument::List { readonly, list })
            }
            (_, Some(run)) => self.fail(self.around(run), "a clause"),
            (_, None) => Some(Argument::None),
        }
    }

    /// The rest of the directive, with or without commas between the clauses.
    fn clauses(&mut self, kind: DirectiveKind) -> Vec<Clause> {
        let grouped = table().directive(name(kind)).is_some_and(|row| row.after_device_type.is_some());
        let mut clauses = Vec::new();
        let mut group = None;
        while self.at < self.tokens.len() {
            if self.is(self.at, ",") {
                self.at += 1;
                if self.tokens.get(self.at).is_none_or(|token| token.kind != Kind::Word) {
                    let comma = self.tokens[self.at - 1].span;
                    self.diags.push(malformed(comma, "a clause after the comma"));
                }
                continue;
            }
            let Some(mut clause) = self.clause(kind) else { continue };
            clause.device_type = group;
            if grouped && matches!(clause.kind, ClauseKind::DeviceType(_)) {
                group = Some(clauses.len());
            }
            clauses.push(clause);
        }
        clauses
    }

    fn clause(&mut self, directive: DirectiveKind) -> Option<Clause> {
        let token = self.tokens[self.at];
        if token.kind != Kind::Word {
            return self.skip();
        }
        let name = self.name(self.at);
        let word = self.word(self.at);
        self.at += 1;
        let run = self.parentheses();
        let Some(row) = table().clause(&word) else {
            let near = nearest(&word, table().clause_words());
            self.diags.push(unknown_clause(token.span, &name.text, near));
            return None;
        };
        if run.is_some_and(|run| self.broken(run)) {
            return None;
        }
        let listed = row.name == "self" && (word == "host" || directive == DirectiveKind::Update);
        let args = Args { word: &word, at: token.span, run };
        let kind = if listed { self.listed("self", args)? } else { self.clause_kind(&row.name, args)? };
        let span = run.map_or(token.span, |run| token.span.to(self.around(run)));
        let modifier = run.filter(|run| matches!(kind, ClauseKind::Data(..)) && self.is(run.from + 1, ":"));
        let modifier = modifier.map(|run| self.tokens[run.from].span);
        Some(Clause { kind, name, span, modifier, device_type: None })
    }

    /// Steps over something that is not a clause; a bracket without partner has been reported.
    fn skip(&mut self) -> Option<Clause> {
        let token = self.tokens[self.at];
        self.at += 1;
        match token.kind {
            Kind::Open(None) | Kind::Close(false) => None,
            Kind::Open(Some(partner)) => {
                let span = token.span.to(self.tokens[partner].span);
                self.at = partner + 1;
                self.fail(span, "a clause")
            }
            _ => self.fail(token.span, "a clause"),
        }
    }

    /// The tokens in the parentheses that begin here, if they do, and steps after them. If the closing one is missing
    /// (that has been reported) everything to the end lies in them.
    fn parentheses(&mut self) -> Option<Run> {
        let from = self.at + 1;
        let Kind::Open(partner) = self.tokens.get(self.at)?.kind else { return None };
        if !self.is(self.at, "(") {
            return None;
        }
        let to = partner.unwrap_or(self.tokens.len());
        self.at = self.tokens.len().min(to + 1);
        Some(Run { from, to })
    }

    /// Whether a bracket in the parentheses, or the parenthesis itself, has no partner.
    fn broken(&self, run: Run) -> bool {
        let alone = |token: &Token| matches!(token.kind, Kind::Open(None) | Kind::Close(false));
        self.tokens[run.from - 1..run.to].iter().any(alone)
    }

    fn clause_kind(&mut self, word: &str, args: Args) -> Option<ClauseKind> {
        match word {
            "seq" => self.bare(args, ClauseKind::Seq),
            "independent" => self.bare(args, ClauseKind::Independent),
            "auto" => self.bare(args, ClauseKind::Auto),
            "read" => self.bare(args, ClauseKind::AtomicRead),
            "write" => self.bare(args, ClauseKind::AtomicWrite),
            "update" => self.bare(args, ClauseKind::AtomicUpdate),
            "capture" => self.bare(args, ClauseKind::AtomicCapture),
            "finalize" => self.bare(args, ClauseKind::Finalize),
            "if_present" => self.bare(args, ClauseKind::IfPresent),
            "nohost" => self.bare(args, ClauseKind::Nohost),
            "self" => self.optional(args, Self::expr).map(ClauseKind::SelfRun),
            "async" => self.optional(args, Self::expr).map(ClauseKind::Async),
            "wait" => self.optional(args, Self::wait).map(ClauseKind::Wait),
            "worker" => self.optional(args, |p, run| p.modified_expr(run, "num")).map(ClauseKind::Worker),
            "vector" => self.optional(args, |p, run| p.modified_expr(run, "length")).map(ClauseKind::Vector),
            "gang" => {
                let arguments = self.optional(args, |p, run| p.each(run, Self::gang_argument))?;
                Some(ClauseKind::Gang(arguments.unwrap_or_default()))
            }
            _ => {
                let run = self.need(args)?;
                self.needy(word, args, run)
            }
        }
    }

    /// The clauses that must have an argument.
    fn needy(&mut self, word: &str, args: Args, run: Run) -> Option<ClauseKind> {
        match word {
            "if" => self.expr(run).map(ClauseKind::If),
            "num_gangs" => self.num_gangs(run),
            "num_workers" => self.expr(run).map(ClauseKind::NumWorkers),
            "vector_length" => self.expr(run).map(ClauseKind::VectorLength),
            "default_async" => self.expr(run).map(ClauseKind::DefaultAsync),
            "device_num" => self.expr(run).map(ClauseKind::DeviceNum),
            "tile" => self.each(run, Self::size).map(ClauseKind::Tile),
            "device_type" => self.each(run, Self::device_name).map(ClauseKind::DeviceType),
            "default" => self.default(run),
            "reduction" => self.reduction(run),
            "bind" => self.bind(run),
            "collapse" => {
                let (force, run) = self.modifier(run, &["force"])?;
                Some(ClauseKind::Collapse { force: force.is_some(), count: self.expr(run)? })
            }
            _ => self.listed(word, args),
        }
    }

    /// The clauses that have a list of variables.
    fn listed(&mut self, word: &str, args: Args) -> Option<ClauseKind> {
        let run = self.need(args)?;
        let data = match word {
            "copyin" => {
                let (readonly, list) = self.modified_list(run, "readonly")?;
                return Some(ClauseKind::Data(DataClause::Copyin { readonly }, list));
            }
            "copyout" => {
                let (zero, list) = self.modified_list(run, "zero")?;
                return Some(ClauseKind::Data(DataClause::Copyout { zero }, list));
            }
            "create" => {
                let (zero, list) = self.modified_list(run, "zero")?;
                return Some(ClauseKind::Data(DataClause::Create { zero }, list));
            }
            "private" => return self.list(run).map(ClauseKind::Private),
            "firstprivate" => return self.list(run).map(ClauseKind::Firstprivate),
            "use_device" => return self.list(run).map(ClauseKind::UseDevice),
            "self" => return self.list(run).map(ClauseKind::UpdateSelf),
            "device" => return self.list(run).map(ClauseKind::UpdateDevice),
            "copy" => DataClause::Copy,
            "present" => DataClause::Present,
            "no_create" => DataClause::NoCreate,
            "deviceptr" => DataClause::Deviceptr,
            "attach" => DataClause::Attach,
            "detach" => DataClause::Detach,
            "delete" => DataClause::Delete,
            "device_resident" => DataClause::DeviceResident,
            "link" => DataClause::Link,
            _ => {
                self.diags.push(unknown_clause(args.at, args.word, None));
                return None;
            }
        };
        Some(ClauseKind::Data(data, self.list(run)?))
    }

    fn bare(&mut self, args: Args, kind: ClauseKind) -> Option<ClauseKind> {
        match args.run {
            Some(run) => self.fail(self.around(run), &format!("no argument after `{}`", args.word)),
            None => Some(kind),
        }
    }

    fn need(&mut self, args: Args) -> Option<Run> {
        match args.run {
            None => self.fail(args.at, &format!("an argument in parentheses after `{}`", args.word)),
            run => run,
        }
    }

    fn optional<T>(&mut self, args: Args, read: impl Fn(&mut Self, Run) -> Option<T>) -> Option<Option<T>> {
        match args.run {
            Some(run) => read(self, run).map(Some),
            None => Some(None),
        }
    }

    /// Reads each part between commas.
    fn each<T>(&mut self, run: Run, read: impl Fn(&mut Self, Run) -> Option<T>) -> Option<Vec<T>> {
        let parts: Vec<Option<T>> = self.split(run, ",").into_iter().map(|part| read(self, part)).collect();
        parts.into_iter().collect()
    }
}

/// Arguments of single clauses.
impl Parser<'_> {
    fn num_gangs(&mut self, run: Run) -> Option<ClauseKind> {
        let gangs = self.each(run, Self::expr)?;
        match gangs.get(3) {
            Some(fourth) => self.fail(fourth.span, "at most three numbers of gangs"),
            None => Some(ClauseKind::NumGangs(gangs)),
        }
    }

    fn gang_argument(&mut self, run: Run) -> Option<GangArgument> {
        let (modifier, run) = self.modifier(run, &["num", "dim", "static"])?;
        let expr = self.size(run)?;
        Some(match modifier {
            Some(1) => GangArgument::Dim(expr),
            Some(2) => GangArgument::Static(expr),
            _ => GangArgument::Num(expr),
        })
    }

    fn modified_expr(&mut self, run: Run, modifier: &str) -> Option<Expr> {
        let (_, run) = self.modifier(run, &[modifier])?;
        self.expr(run)
    }

    fn default(&mut self, run: Run) -> Option<ClauseKind> {
        match (run.to - run.from, self.word(run.from).as_str()) {
            (1, "none") => Some(ClauseKind::Default { none: true }),
            (1, "present") => Some(ClauseKind::Default { none: false }),
            _ => self.fail(self.place(run), "`none` or `present`"),
        }
    }

    fn device_name(&mut self, run: Run) -> Option<Name> {
        if self.is(run.from, "*") && run.to == run.from + 1 {
            return Some(self.name(run.from));
        }
        self.one_name(run)
    }

    fn bind(&mut self, run: Run) -> Option<ClauseKind> {
        match self.tokens[run.from..run.to] {
            [Token { kind: Kind::Word | Kind::Text, .. }] => self.expr(run).map(ClauseKind::Bind),
            _ => self.fail(self.place(run), "a name or a string"),
        }
    }

    fn reduction(&mut self, run: Run) -> Option<ClauseKind> {
        let Some(colon) = self.top_level(run).find(|at| self.is(*at, ":")) else {
            return self.fail(self.place(run), "an operator, `:` and a list");
        };
        let operator = Run { from: run.from, to: colon };
        let Some(known) = ReductionOp::of(&self.lowered(self.span_text(operator))) else {
            return self.fail(self.place(operator), "a reduction operator");
        };
        self.list(Run { from: colon + 1, to: run.to }).map(|list| ClauseKind::Reduction(known, list))
    }

    fn wait(&mut self, run: Run) -> Option<WaitArgument> {
        let mut run = run;
        let mut devnum = None;
        if self.is(run.from, "devnum") && self.is(run.from + 1, ":") {
            let parts = self.split(Run { from: run.from + 2, to: run.to }, ":");
            let [number, _, ..] = parts.as_slice() else {
                return self.fail(self.place(run), "`devnum: number :` before the queues");
            };
            devnum = Some(self.expr(*number)?);
            run.from = number.to + 1;
        }
        if self.is(run.from, "queues") && self.is(run.from + 1, ":") {
            run.from += 2;
        }
        Some(WaitArgument { devnum, queues: self.each(run, Self::expr)? })
    }

    /// The index of the modifier `word:` that the tokens begin with, and what follows it.
    fn modifier(&mut self, run: Run, known: &[&str]) -> Option<(Option<usize>, Run)> {
        let begins = run.to - run.from >= 2 && self.tokens[run.from].kind == Kind::Word;
        if !begins || !self.is(run.from + 1, ":") {
            return Some((None, run));
        }
        let word = self.word(run.from);
        let rest = Run { from: run.from + 2, to: run.to };
        match known.iter().position(|modifier| *modifier == word) {
            Some(index) => Some((Some(index), rest)),
            None => {
                let quoted: Vec<String> = known.iter().map(|modifier| format!("`{modifier}:`")).collect();
                self.fail(self.tokens[run.from].span, &quoted.join(" or "))
            }
        }
    }

    fn modified_list(&mut self, run: Run, modifier: &str) -> Option<(bool, Vec<ListItem>)> {
        let (found, run) = self.modifier(run, &[modifier])?;
        Some((found.is_some(), self.list(run)?))
    }

    fn one_name(&mut self, run: Run) -> Option<Name> {
        match self.tokens[run.from..run.to] {
            [Token { kind: Kind::Word, .. }] => Some(self.name(run.from)),
            _ => self.fail(self.place(run), "one name"),
        }
    }
}

/// Lists of variables.
impl Parser<'_> {
    fn list(&mut self, run: Run) -> Option<Vec<ListItem>> {
        self.each(run, Self::item)
    }

    fn item(&mut self, run: Run) -> Option<ListItem> {
        if self.fortran && self.is(run.from, "/") && self.is(run.to - 1, "/") && run.to - run.from == 3 {
            let base = self.one_name(Run { from: run.from + 1, to: run.from + 2 })?;
            return Some(self.list_item(run, base, Vec::new(), true));
        }
        if let Some(item) = self.parenthesised(run) {
            return Some(item);
        }
        if run.from == run.to || self.tokens[run.from].kind != Kind::Word {
            return self.fail(self.place(run), "a variable");
        }
        let mut base = self.name(run.from);
        let mut parts = Vec::new();
        let mut at = run.from + 1;
        // C++ may name a variable with its namespace or class.
        while !self.fortran && at + 1 < run.to && self.is(at, "::") && self.tokens[at + 1].kind == Kind::Word
        {
            let whole = Run { from: run.from, to: at + 2 };
            base = Name { text: self.span_text(whole), span: self.span(whole) };
            at += 2;
        }
        while at < run.to {
            let (part, next) = self.part(at, run.to)?;
            parts.push(part);
            at = next;
        }
        Some(self.list_item(run, base, parts, false))
    }

    /// `(*q).x`, `(q)->x` and `(&s)->x`, as the items `q->x`, `q->x` and `s.x`, which mean the same; `None` if a member does
    /// not follow.
    fn parenthesised(&mut self, run: Run) -> Option<ListItem> {
        let Kind::Open(Some(close)) = self.tokens.get(run.from).filter(|_| run.from < run.to)?.kind else {
            return None;
        };
        if self.fortran || !self.is(run.from, "(") || close + 1 >= run.to {
            return None;
        }
        let sign = ["*", "&"].into_iter().find(|sign| self.is(run.from + 1, sign));
        let inner = Run { from: run.from + 1 + usize::from(sign.is_some()), to: close };
        let starts = self.tokens[inner.from].kind == Kind::Word || self.is(inner.from, "(");
        let step = [".", "->", "["].into_iter().find(|step| self.is(close + 1, step))?;
        let joint = match (sign, step) {
            (None, "[") => "",
            (Some("*"), ".") | (None, "->") => "->",
            (Some("&"), "->") | (None, ".") => ".",
            _ => return None,
        };
        // What is not a path of members and elements is reported where it stands.
        let before = self.diags.len();
        let item = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.item(inner));
        let Some(mut item) = item.filter(|_| starts) else {
            self.diags.truncate(before);
            return None;
        };
        let rest = close + 1 + usize::from(step != "[");
        let mut at = close + 1;
        while at < run.to {
            let (part, next) = self.part(at, run.to)?;
            item.parts.push(part);
            at = next;
        }
        let after = self.span_text(Run { from: rest, to: run.to });
        Some(ListItem { text: format!("{}{joint}{after}", item.text), span: self.span(run), ..item })
    }

    fn list_item(&self, run: Run, base: Name, parts: Vec<PathStep>, common: bool) -> ListItem {
        ListItem { base, parts, text: self.span_text(run), span: self.span(run), common }
    }

    /// The member or section at `at`, and the index after it.
    fn part(&mut self, at: usize, end: usize) -> Option<(PathStep, usize)> {
        let member = if self.fortran { self.is(at, "%") } else { self.is(at, ".") || self.is(at, "->") };
        if member {
            let name = self.one_name(Run { from: at + 1, to: end.min(at + 2) })?;
            return Some((PathStep::Member(name), at + 2));
        }
        let opening = if self.fortran { "(" } else { "[" };
        if let (true, Kind::Open(Some(close))) = (self.is(at, opening), self.tokens[at].kind) {
            let inner = Run { from: at + 1, to: close };
            let subscripts = match self.fortran {
                true => self.each(inner, Self::subscript)?,
                false => vec![self.subscript(inner)?],
            };
            return Some((PathStep::Section(subscripts), close + 1));
        }
        self.fail(self.tokens[at].span, "a comma, a member or an array section")
    }

    fn subscript(&mut self, run: Run) -> Option<Subscript> {
        let parts = self.split(run, ":");
        match parts[..] {
            [only] => self.size(only).map(Subscript::Index),
            [first, second] => {
                let (first, second) = (self.bound(first)?, self.bound(second)?);
                Some(Subscript::Range { first, second, stride: None })
            }
            [first, second, stride] if self.fortran => {
                let (first, second) = (self.bound(first)?, self.bound(second)?);
                Some(Subscript::Range { first, second, stride: Some(self.expr(stride)?) })
            }
            _ => self.fail(self.place(run), "`start:length`"),
        }
    }

    fn bound(&mut self, run: Run) -> Option<Option<Expr>> {
        if run.from == run.to { Some(None) } else { self.size(run).map(Some) }
    }
}

/// Tokens, text and places.
impl Parser<'_> {
    /// One expression, or a star.
    fn size(&mut self, run: Run) -> Option<Expr> {
        if run.to - run.from == 1 && self.is(run.from, "*") { Some(self.whole(run)) } else { self.expr(run) }
    }

    /// One expression; a macro's name is one too. What is within it is the host language's, except an operator at an end.
    fn expr(&mut self, run: Run) -> Option<Expr> {
        if run.from == run.to {
            return self.fail(self.place(run), "an expression");
        }
        let comma = self.top_level(run).find(|at| self.is(*at, ","));
        if let Some(comma) = comma {
            return self.fail(self.tokens[comma].span, "one expression");
        }
        if !self.begins_expression(run.from) {
            return self.fail(self.tokens[run.from].span, "an operand before the operator");
        }
        if !self.ends_expression(run) {
            return self.fail(self.tokens[run.to - 1].span, "an operand after the operator");
        }
        Some(self.whole(run))
    }

    /// Whether an expression may begin with a token: those of macros may begin with their marks, too.
    fn begins_expression(&self, at: usize) -> bool {
        const MARKS: [&str; 9] = ["-", "+", "!", "~", "*", "&", "::", "#", "\\"];
        self.tokens[at].kind != Kind::Mark || self.is_dotted(at) || MARKS.iter().any(|mark| self.is(at, mark))
    }

    /// Whether an expression may end with the last token of a run.
    fn ends_expression(&self, run: Run) -> bool {
        let last = run.to - 1;
        let is_step = |mark: &str| last > run.from && self.is(last, mark) && self.is(last - 1, mark);
        let is_mark = self.tokens[last].kind == Kind::Mark;
        !is_mark || self.is_dotted(last) || is_step("+") || is_step("-") || self.is(last, "\\")
    }

    /// Whether a token is a word of Fortran between dots.
    fn is_dotted(&self, at: usize) -> bool {
        self.fortran && self.tokens[at].span.len() > 2
    }

    fn whole(&self, run: Run) -> Expr {
        Expr { text: self.span_text(run), span: self.span(run) }
    }

    /// The indices of the tokens that are in no inner brackets; an opening bracket stands for all of its own.
    fn top_level(&self, run: Run) -> impl Iterator<Item = usize> {
        let next = |at: usize| match self.tokens[at].kind {
            Kind::Open(Some(partner)) => partner + 1,
            _ => at + 1,
        };
        let inside = move |at: &usize| *at < run.to;
        std::iter::successors(Some(run.from).filter(inside), move |at| Some(next(*at)).filter(inside))
    }

    /// The parts between separators; a colon that belongs to `?` is not one.
    fn split(&self, run: Run, separator: &str) -> Vec<Run> {
        let mut parts = Vec::new();
        let mut from = run.from;
        let mut questions = 0_usize;
        for at in self.top_level(run) {
            if self.is(at, "?") {
                questions += 1;
            } else if separator == ":" && questions > 0 && self.is(at, ":") {
                questions -= 1;
            } else if self.is(at, separator) {
                parts.push(Run { from, to: at });
                from = at + 1;
            }
        }
        parts.push(Run { from, to: run.to });
        parts
    }

    /// Whether token `at` reads `text`.
    fn is(&self, at: usize, text: &str) -> bool {
        let same = |bytes: &[u8]| match self.fortran {
            true => bytes.eq_ignore_ascii_case(text.as_bytes()),
            false => bytes == text.as_bytes(),
        };
        self.tokens.get(at).is_some_and(|token| same(self.file.slice(token.span)))
    }

    /// The text of token `at` as keywords are compared; empty after the end.
    fn word(&self, at: usize) -> String {
        self.tokens
            .get(at)
            .map_or(String::new(), |token| self.lowered(self.file.text(token.span).into_owned()))
    }

    fn lowered(&self, text: String) -> String {
        if self.fortran { text.to_ascii_lowercase() } else { text }
    }

    fn name(&self, at: usize) -> Name {
        let span = self.tokens[at].span;
        Name { text: self.lowered(self.file.text(span).into_owned()), span }
    }

    /// The text on one line: the gaps between the pieces are a blank.
    fn span_text(&self, run: Run) -> String {
        let span = self.span(run);
        let first = self.text.words.partition_point(|piece| piece.end <= span.start);
        let pieces = self.text.words[first..].iter().take_while(|piece| piece.start < span.end);
        let shown =
            pieces.map(|piece| Span { start: piece.start.max(span.start), end: piece.end.min(span.end) });
        let texts: Vec<String> = shown.map(|part| self.file.text(part).trim().to_owned()).collect();
        texts.join(" ")
    }

    /// From the first to the last token; empty after the token before if there is none.
    fn span(&self, run: Run) -> Span {
        match (self.tokens.get(run.from), self.tokens[..run.to].last()) {
            (Some(first), Some(last)) if run.from < run.to => first.span.to(last.span),
            (_, Some(last)) => Span { start: last.span.end, end: last.span.end },
            _ => self.text.span,
        }
    }

    /// Where to point at: the tokens, or if there are none what stands there instead.
    fn place(&self, run: Run) -> Span {
        match self.tokens.get(run.from) {
            Some(token) if run.from == run.to => token.span,
            _ => self.span(run),
        }
    }

    /// The tokens with their parentheses.
    fn around(&self, run: Run) -> Span {
        self.span(Run { from: run.from - 1, to: self.tokens.len().min(run.to + 1) })
    }

    fn fail<T>(&mut self, at: Span, expected: &str) -> Option<T> {
        self.diags.push(malformed(at, expected));
        None
    }
}

#[cfg(test)]
mod tests;
