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
            "tile" => self.each(run, Self::expr).map(ClauseKind::Tile),
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
        let expr = self.expr(run)?;
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
            [only] => self.expr(only).map(Subscript::Index),
            [first, second] => {
                let (first, second) = (self.bound(first), self.bound(second));
                Some(Subscript::Range { first, second, stride: None })
            }
            [first, second, stride] if self.fortran => {
                let (first, second) = (self.bound(first), self.bound(second));
                Some(Subscript::Range { first, second, stride: Some(self.expr(stride)?) })
            }
            _ => self.fail(self.place(run), "`start:length`"),
        }
    }

    fn bound(&self, run: Run) -> Option<Expr> {
        (run.from < run.to).then(|| self.whole(run))
    }
}

/// Tokens, text and places.
impl Parser<'_> {
    /// One expression; a macro's name is one too.
    fn expr(&mut self, run: Run) -> Option<Expr> {
        if run.from == run.to {
            return self.fail(self.place(run), "an expression");
        }
        let comma = self.top_level(run).find(|at| self.is(*at, ","));
        match comma {
            Some(comma) => self.fail(self.tokens[comma].span, "one expression"),
            None => Some(self.whole(run)),
        }
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
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use proptest::prelude::*;

    use super::*;
    use crate::acc::check;
    use crate::scan::Form;

    type Parsed = (Option<Directive>, Vec<Diag>);

    /// A file whose lines are the pieces of one directive.
    fn directive(bytes: &[u8]) -> (SourceFile, DirectiveText) {
        let file = SourceFile::new("test.c", bytes.to_vec(), Language::C);
        let mut words = Vec::new();
        let mut start = 0;
        for line in bytes.split(|byte| *byte == b'\n') {
            words.push(Span::new(start, start + line.len()));
            start += line.len() + 1;
        }
        let text = DirectiveText {
            span: Span::new(0, bytes.len()),
            form: Form::Pragma,
            words,
            comments: Vec::new(),
            in_macro: None,
            active: true,
            next_code: bytes.len() as u32,
        };
        (file, text)
    }

    fn read(source: &str, fortran: bool) -> Parsed {
        let (file, text) = directive(source.as_bytes());
        parse_as(&file, &text, fortran)
    }

    fn good(source: &str) -> Directive {
        let (directive, diags) = read(source, false);
        assert_eq!(diags, [], "{source}");
        directive.unwrap()
    }

    fn good_fortran(source: &str) -> Directive {
        let (directive, diags) = read(source, true);
        assert_eq!(diags, [], "{source}");
        directive.unwrap()
    }

    /// The diagnostics as `code text: message`.
    fn wrong(source: &str) -> Vec<String> {
        let (directive, diags) = read(source, false);
        assert_eq!(directive, None, "{source}");
        diags.iter().map(|diag| shown(source, diag)).collect()
    }

    fn checked(source: &str) -> Vec<String> {
        check(&good(source)).iter().map(|diag| shown(source, diag)).collect()
    }

    fn shown(source: &str, diag: &Diag) -> String {
        format!("{} {}: {}", diag.code, &source[diag.primary.span.range()], diag.message)
    }

    #[test]
    fn members_of_what_a_pointer_leads_to_are_read_as_one_path() {
        let text = |item: &str| {
            let tree = good(&format!("update self({item})"));
            let ClauseKind::UpdateSelf(list) = &tree.clauses[0].kind else { panic!("{item}") };
            assert_eq!(list[0].base.text, "q");
            (list[0].text.clone(), list[0].parts.len())
        };
        let same = [
            ("(*q).in.x[0:n]", "q->in.x[0:n]", 3),
            ("( * q ) . x", "q->x", 1),
            ("(q)->x[2:n]", "q->x[2:n]", 2),
            ("(&q)->x", "q.x", 1),
            ("(q)[1:2]", "q[1:2]", 1),
            ("(*q[i].p).x[0:n]", "q[i].p->x[0:n]", 4),
            ("((*q).p)->x", "q->p->x", 2),
            ("(*(*q).p).x", "q->p->x", 2),
            ("(&q->s)->x", "q->s.x", 2),
        ];
        for (written, meant, parts) in same {
            assert_eq!(text(written), (meant.to_owned(), parts), "{written}");
        }
        for item in ["(*q)[0:n]", "(q + 1)->x", "(*q)", "*q", "(**q).x", "()->x", "(&q).x"] {
            assert_eq!(
                wrong(&format!("update self({item})")),
                [format!("A0003 {item}: expected a variable")]
            );
        }
    }

    #[test]
    fn every_clause_of_the_table_is_read_on_its_directives() {
        for row in &table().directives {
            for clause in &row.clauses {
                let known = table().clauses.iter().find(|known| known.name == *clause).unwrap();
                for sample in &known.samples {
                    let tree = good(&format!("{} {sample}", row.name));
                    assert_eq!(name(tree.kind), row.name);
                    assert_eq!(tree.clauses.len(), 1, "{sample}");
                    assert!(check(&tree).iter().all(|diag| diag.code.0 == 6), "{} {sample}", row.name);
                    for alias in &known.aliases {
                        let alias = good(&format!("update {}", sample.replacen(clause, alias, 1)));
                        let same = good(&format!("update {sample}"));
                        let kind = |tree: &Directive| std::mem::discriminant(&tree.clauses[0].kind);
                        assert_eq!(kind(&alias), kind(&same));
                    }
                }
            }
        }
    }

    #[test]
    fn every_directive_has_a_row_and_every_row_a_directive() {
        let known: Vec<&str> = KINDS.into_iter().map(name).filter(|name| !name.starts_with("end ")).collect();
        let rows: Vec<&str> = table().directives.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(known.iter().collect::<std::collections::BTreeSet<_>>(), rows.iter().collect());
    }

    #[test]
    fn spans_are_the_words() {
        let source =
            "  parallel  loop copyin( readonly : a[0:n][1 : m] , s.p[ :k ]) gang(num: 4, static: *)async";
        let tree = good(source);
        let text = |span: Span| &source[span.range()];
        assert_eq!(text(tree.name_span), "parallel  loop");
        let spans: Vec<&str> = tree.clauses.iter().map(|clause| text(clause.span)).collect();
        assert_eq!(spans[0], "copyin( readonly : a[0:n][1 : m] , s.p[ :k ])");
        assert_eq!(spans[1..], ["gang(num: 4, static: *)", "async"]);
        let ClauseKind::Data(DataClause::Copyin { readonly: true }, list) = &tree.clauses[0].kind else {
            panic!()
        };
        assert_eq!(list[0].text, "a[0:n][1 : m]");
        assert_eq!(list[0].parts.len(), 2);
        assert_eq!(text(list[1].span), "s.p[ :k ]");
        let [PathStep::Member(member), PathStep::Section(section)] = list[1].parts.as_slice() else {
            panic!()
        };
        assert_eq!(text(member.span), "p");
        let [Subscript::Range { first: None, second: Some(length), stride: None }] = section.as_slice()
        else {
            panic!()
        };
        assert_eq!((length.text.as_str(), text(length.span)), ("k", "k"));
    }

    #[test]
    fn pieces_are_joined_with_a_blank() {
        let tree = good("parallel if(n >\n   10 &&  m) \n\ncopy(a\n[0:n])");
        let ClauseKind::If(condition) = &tree.clauses[0].kind else { panic!() };
        assert_eq!(condition.text, "n > 10 &&  m");
        let ClauseKind::Data(DataClause::Copy, list) = &tree.clauses[1].kind else { panic!() };
        assert_eq!(list[0].text, "a [0:n]");
    }

    #[test]
    fn device_type_divides_the_clauses() {
        let tree = good("parallel async dtype(nvidia) num_gangs(4), async(2) device_type(*) num_gangs(8)");
        let groups: Vec<_> = tree.clauses.iter().map(|clause| clause.device_type).collect();
        assert_eq!(groups, [None, None, Some(1), Some(1), Some(1), Some(4)]);
        assert_eq!(check(&tree), []);
        let tree = good("init device_type(nvidia) device_num(1)");
        assert_eq!(tree.clauses[1].device_type, None);
    }

    #[test]
    fn arguments_of_directives() {
        let Argument::Wait(wait) = good("wait(devnum: d ? 1 : 2: queues: 1, q) async").argument else {
            panic!()
        };
        assert_eq!(wait.devnum.unwrap().text, "d ? 1 : 2");
        assert_eq!(wait.queues.len(), 2);
        let Argument::List { readonly: true, list } = good("cache(readonly: a[i:4])").argument else {
            panic!()
        };
        assert_eq!(list.len(), 1);
        let Argument::Name(routine) = good("routine (f) seq").argument else { panic!() };
        assert_eq!(routine.text, "f");
        assert_eq!(good("wait").argument, Argument::None);
    }

    #[test]
    fn self_is_a_condition_or_a_list() {
        assert!(matches!(good("parallel self").clauses[0].kind, ClauseKind::SelfRun(None)));
        assert!(matches!(good("parallel self(a > b)").clauses[0].kind, ClauseKind::SelfRun(Some(_))));
        assert!(matches!(good("update self(a[0:n])").clauses[0].kind, ClauseKind::UpdateSelf(_)));
        assert_eq!(checked("parallel host(a)"), ["A0004 host(a): `host` is not allowed on `parallel`"]);
    }

    #[test]
    fn c_has_its_own_expressions() {
        good(
            "parallel num_gangs(N) async(f(a, b)) copy(a[c ? 0 : 1:n], this, p->q[0:(n)], b[:]) reduction(-:s)",
        );
        good("routine seq bind(\"f\\\"(\") nohost");
        good("routine seq bind(\\\"name\\\")");
        good("parallel if(x == ')' && y['\\'']) async");
    }

    #[test]
    fn fortran_has_its_own_spelling() {
        assert_eq!(good_fortran("END Parallel LOOP").kind, DirectiveKind::End(EndKind::ParallelLoop));
        assert_eq!(good_fortran("end loop").kind, DirectiveKind::End(EndKind::Loop));
        let tree = good_fortran(
            "Parallel Loop Reduction(.AND.: x) Reduction(IEOR:y) COPY(A(1:n:2, :), s%p(::2), /blk/)",
        );
        assert!(matches!(tree.clauses[0].kind, ClauseKind::Reduction(ReductionOp::And, _)));
        assert!(matches!(tree.clauses[1].kind, ClauseKind::Reduction(ReductionOp::BitXor, _)));
        let ClauseKind::Data(DataClause::Copy, list) = &tree.clauses[2].kind else { panic!() };
        assert_eq!(list[0].base.text, "a");
        let [PathStep::Section(section)] = list[0].parts.as_slice() else { panic!() };
        assert!(matches!(
            section[..],
            [Subscript::Range { stride: Some(_), .. }, Subscript::Range { first: None, .. }]
        ));
        assert!(list[2].common && list[2].base.text == "blk");
        assert_eq!(check(&tree), []);
        good_fortran("kernels if(x%y .gt. 1.and.flag) default(None)");
    }

    #[test]
    fn unknown_words_have_a_nearest_one() {
        let near = |source: &str| read(source, false).1.into_iter().map(|diag| diag.help).collect::<Vec<_>>();
        assert_eq!(near("paralel loop"), ["did you mean `parallel`?"]);
        assert_eq!(near("enter dta copyin(a)"), ["did you mean `enter data`?"]);
        assert_eq!(near("exit"), ["did you mean `exit data`?"]);
        assert_eq!(near("simd"), ["acc2omp knows OpenACC 3.3"]);
        assert_eq!(near("end data"), ["acc2omp knows OpenACC 3.3"]);
        assert_eq!(
            near("parallel colapse(2) pcpy(a)"),
            ["did you mean `collapse`?", "did you mean `pcopy`?"]
        );
    }

    #[test]
    fn errors_do_not_hide_later_ones() {
        assert_eq!(
            wrong("parallel copy(a b) foo(x) num_gangs() + async(1,2) wait() seq(1) if"),
            [
                "A0003 b: expected a comma, a member or an array section",
                "A0002 foo: `foo` is not an OpenACC clause",
                "A0003 ): expected an expression",
                "A0003 +: expected a clause",
                "A0003 ,: expected one expression",
                "A0003 ): expected an expression",
                "A0003 (1): expected no argument after `seq`",
                "A0003 if: expected an argument in parentheses after `if`",
            ]
        );
    }

    #[test]
    fn malformed_arguments() {
        let only = |source: &str| {
            let found = wrong(source);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].clone()
        };
        assert_eq!(only("data copy(*p)"), "A0003 *p: expected a variable");
        assert_eq!(only("data copy(a,)"), "A0003 ): expected a variable");
        assert_eq!(only("data copy(a[])"), "A0003 ]: expected an expression");
        assert_eq!(only("data copy(a[1:2:3])"), "A0003 1:2:3: expected `start:length`");
        assert_eq!(only("data copy(a.)"), "A0003 ): expected one name");
        assert_eq!(only("data copyin(zero: a)"), "A0003 zero: expected `readonly:`");
        assert_eq!(only("loop gang(len: 4)"), "A0003 len: expected `num:` or `dim:` or `static:`");
        assert_eq!(only("loop reduction(a)"), "A0003 a: expected an operator, `:` and a list");
        assert_eq!(only("loop reduction(/:a)"), "A0003 /: expected a reduction operator");
        assert_eq!(only("parallel default(all)"), "A0003 all: expected `none` or `present`");
        assert_eq!(only("parallel num_gangs(1,2,3,4)"), "A0003 4: expected at most three numbers of gangs");
        assert_eq!(only("wait(devnum: 1)"), "A0003 devnum: 1: expected `devnum: number :` before the queues");
        assert_eq!(only("parallel async,"), "A0003 ,: expected a clause after the comma");
        assert_eq!(only("parallel(1) async"), "A0003 (1): expected a clause");
        assert_eq!(only("cache"), "A0003 cache: expected an argument in parentheses after `cache`");
        assert_eq!(only("(a)"), "A0003 (: expected the name of a directive");
        assert_eq!(only(""), "A0003 : expected the name of a directive");
        assert_eq!(only("parallel copy(a[0:n) async"), "A0003 [: expected the matching bracket");
        assert_eq!(only("parallel copy(a b(c) async"), "A0003 (: expected the matching bracket");
        assert_eq!(only("parallel copy(a)) async"), "A0003 ): expected the matching bracket");
        assert_eq!(only("routine seq bind(f(x))"), "A0003 f(x): expected a name or a string");
        assert_eq!(wrong("routine seq bind(\"f)").len(), 2);
    }

    #[test]
    fn what_the_table_forbids() {
        assert_eq!(checked("data gang copy(a)"), ["A0004 gang: `gang` is not allowed on `data`"]);
        assert_eq!(checked("loop seq gang"), ["A0005 gang: `gang` cannot stand beside `seq`"]);
        assert_eq!(checked("parallel if(a) if(b)"), ["A0005 if(b): `if` cannot stand beside `if`"]);
        assert_eq!(checked("update if(a)"), ["A0006 update: `update` needs one of `self`, `device`"]);
        assert_eq!(checked("host_data if(a)"), [""; 0]);
        assert_eq!(
            checked("exit data async wait(1)"),
            ["A0006 exit data: `exit data` needs one of `copyout`, `delete`, `detach`"]
        );
        assert_eq!(
            checked("parallel device_type(nvidia) if(a)"),
            ["A0004 if(a): `if` is not allowed on `parallel device_type(…)`"]
        );
        assert_eq!(checked("parallel copy(a) pcopy(b) copy(a) wait(1) wait(2)"), [""; 0]);
        assert_eq!(checked("loop gang device_type(nvidia) seq device_type(host) vector"), [""; 0]);
        let diags = check(&good_fortran("end data copy(a)"));
        assert_eq!(diags[0].message, "`copy` is not allowed on `end data`");
    }

    #[test]
    fn long_input_takes_linear_time() {
        let deep = format!("parallel if({}1{})", "(".repeat(100_000), ")".repeat(100_000));
        good(&deep);
        let many = format!("parallel copy({}a)", "a[0:n], ".repeat(100_000));
        good(&many);
        read(&format!("parallel {}{}", "(".repeat(100_000), "]".repeat(100_000)), false);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), fortran: bool) {
            let (file, text) = directive(&bytes);
            let (directive, diags) = parse_as(&file, &text, fortran);
            prop_assert_eq!(directive.is_none(), !diags.is_empty());
        }

        #[test]
        fn any_tokens_are_read(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "parallel", "loop", "wait", "cache", "routine", "copy", "gang", "self", "reduction", "tile", "bind",
                    "devnum", "queues", "static", "device_type", "end", "data", "update", "a", "1", "(", ")", "[", "]",
                    ":", ",", "*", "+", "?", "/", "%", ".", "->", "\n", "\"", "::", "\\",
                ]),
                0..40,
            ),
            fortran: bool,
        ) {
            let source = words.join(" ");
            let (directive, diags) = read(&source, fortran);
            prop_assert_eq!(directive.is_none(), !diags.is_empty());
            prop_assert!(directive.iter().all(|tree| check(tree).iter().all(|diag| !diag.message.is_empty())));
        }
    }
}
