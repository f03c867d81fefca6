//! What loading refuses: words, places and codes that nobody knows, templates that are not OpenMP, rows that overlap or
//! leave a situation without an answer, a lost meaning that no diagnostic reports.
//!
//! Invariant: the same function serves the tests and every start of the program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::diag::Code;

use super::rule::{
    Action, CudaRow, FACTS, Lines, Meaning, Place, Pragma, Row, RowId, Strategy, Template, TemplateArg,
};
use super::schema::{RawCudaRow, RawPage, RawRow, RawSubject};
use super::{openacc, openmp};

/// A page's typed part.
pub struct Checked {
    /// The directives it may stand on.
    pub on: Vec<String>,
    /// The routines and names it is about.
    pub names: Vec<String>,
    /// The names of a routine's arguments.
    pub args: Option<Vec<String>>,
    /// Its calls are untranslated in Fortran.
    pub c_only: bool,
    /// The section that defines it.
    pub cite: String,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its rows about CUDA.
    pub cuda: Vec<CudaRow>,
}

type Error = (usize, String);

const VERSIONS: [u8; 4] = [45, 50, 51, 52];

fn error(message: String) -> Error {
    (0, message)
}

/// Checks the fence of page `entry`.
pub fn page(entry: &str, raw: RawPage) -> Result<Checked, Error> {
    let (kind, subject) = subject(&raw)?;
    let folder = if kind == "routine" { "api" } else { kind };
    let expected = format!("{folder}/{}", subject.name.replace(' ', "-"));
    if expected != entry {
        return Err(error(format!("the page is called `{entry}`, its fence says `{expected}`")));
    }
    known_word(kind, subject)?;
    cited(&subject.cite)?;
    let mut rows = Vec::new();
    for (number, raw) in raw.omp.iter().enumerate() {
        // An error that knows no better place is one of the row.
        let checked = row(entry, number, raw.get_ref(), kind, subject);
        rows.push(checked.map_err(|(at, message)| (at.max(raw.span().start), message))?);
    }
    let domain = domain(kind, subject);
    total_and_disjoint(&rows, &domain)?;
    let cuda = cuda_rows(&raw.cuda, subject)?;
    if !cuda.is_empty() {
        let situations = situations(&domain, cuda.iter().map(|row| &row.when));
        only_one(&situations, |situation| cuda.iter().filter(|row| fits(&row.when, situation)).count())?;
    }
    let names = match kind {
        "routine" => std::iter::once(&subject.name).chain(&subject.also).cloned().collect(),
        _ => Vec::new(),
    };
    Ok(Checked {
        on: subject.on.clone(),
        names,
        args: subject.args.clone(),
        c_only: subject.c_only,
        cite: subject.cite.clone(),
        rows,
        cuda,
    })
}

fn subject(raw: &RawPage) -> Result<(&'static str, &RawSubject), Error> {
    let all = [
        ("clause", &raw.clause),
        ("directive", &raw.directive),
        ("implicit", &raw.implicit),
        ("routine", &raw.routine),
    ];
    let mut found = all.into_iter().filter_map(|(kind, subject)| Some((kind, subject.as_ref()?)));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(error("a page is about one clause, one directive, one implicit rule or one routine".into())),
    }
}

fn known_word(kind: &str, subject: &RawSubject) -> Result<(), Error> {
    let table = openacc::table();
    let known = match kind {
        "clause" => table.clause(&subject.name).is_some(),
        "directive" => table.directive(&subject.name).is_some(),
        "routine" if subject.args.is_some() => {
            match std::iter::once(&subject.name)
                .chain(&subject.also)
                .find(|name| table.routine(name).is_none())
            {
                Some(name) => return Err(error(format!("OpenACC has no routine `{name}`"))),
                None => true,
            }
        }
        _ => true,
    };
    if !known {
        return Err(error(format!("OpenACC has no {kind} `{}`", subject.name)));
    }
    match subject.on.iter().find(|on| table.directive(on).is_none()) {
        Some(on) => Err(error(format!("OpenACC has no directive `{on}`"))),
        None => Ok(()),
    }
}

/// The titles of cited sections.
static SECTIONS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| match toml::from_str(include_str!("../../rules/spec.toml")) {
        Ok(sections) => sections,
        Err(error) => unreachable!("rules/spec.toml does not load: {error}"),
    });

fn cited(section: &str) -> Result<(), Error> {
    let of_openacc =
        section.strip_prefix("acc33:").is_some_and(|section| openacc::table().has_section(section));
    if of_openacc || SECTIONS.contains_key(section) {
        Ok(())
    } else {
        Err(error(format!("`{section}` is not in spec.toml")))
    }
}

fn row(entry: &str, number: usize, raw: &RawRow, kind: &str, subject: &RawSubject) -> Result<Row, Error> {
    if !VERSIONS.contains(&raw.since) {
        return Err(error(format!("unknown OpenMP version {}", raw.since)));
    }
    let meaning = meaning(&raw.meaning)?;
    let code = raw.code.as_ref().map(|code| reportable(code)).transpose()?;
    if meaning != Meaning::Same && code.is_none() {
        return Err(error(format!("row {number} is `{}` but has no `code`", raw.meaning)));
    }
    for section in &raw.cite {
        cited(section)?;
    }
    asked(&raw.when, subject)?;
    let lines = lines(raw)?;
    let action = match lines {
        Some(_) if raw.emit.is_none() => Action::Lines,
        _ => action(raw, meaning)?,
    };
    if let Action::Call(text) = &action {
        holes(text, subject.args.as_deref().unwrap_or_default())?;
    }
    if let Action::Emit { templates, on } = &action {
        for template in templates {
            placed(template, *on, raw, kind, subject)?;
        }
    }
    Ok(Row {
        id: RowId { entry: entry.to_owned(), number },
        since: raw.since,
        when: raw.when.clone(),
        action,
        lines,
        meaning,
        code,
        cite: raw.cite.clone(),
    })
}

fn meaning(word: &str) -> Result<Meaning, Error> {
    match word {
        "same" => Ok(Meaning::Same),
        "weaker" => Ok(Meaning::Weaker),
        "differs" => Ok(Meaning::Differs),
        "refused" => Ok(Meaning::Refused),
        other => Err(error(format!("unknown meaning `{other}`"))),
    }
}

/// The facts that a row asks for, and their values, must be known.
fn asked(when: &BTreeMap<String, Vec<String>>, subject: &RawSubject) -> Result<(), Error> {
    for (fact, values) in when {
        let known: Vec<&str> = match fact.as_str() {
            "on" => subject.on.iter().map(String::as_str).collect(),
            _ => FACTS
                .iter()
                .find(|(known, _)| known == fact)
                .map(|(_, values)| values.to_vec())
                .unwrap_or_default(),
        };
        if let Some(value) = values.iter().find(|value| !known.contains(&value.as_str())) {
            return Err(error(format!("unknown fact or value `{fact} = {value}`")));
        }
    }
    Ok(())
}

/// Checks the rows about CUDA.
fn cuda_rows(raw: &[toml::Spanned<RawCudaRow>], subject: &RawSubject) -> Result<Vec<CudaRow>, Error> {
    let checked = raw.iter().map(|raw| {
        cuda_row(raw.get_ref(), subject).map_err(|(at, message)| (at.max(raw.span().start), message))
    });
    checked.collect()
}

fn cuda_row(raw: &RawCudaRow, subject: &RawSubject) -> Result<CudaRow, Error> {
    let meaning = meaning(&raw.meaning)?;
    let code = match &raw.code {
        None if meaning != Meaning::Same => {
            return Err(error(format!("a row about CUDA is `{}` but has no `code`", raw.meaning)));
        }
        None => None,
        Some(text) => {
            let known = text.parse::<Code>().ok().filter(|code| crate::diag::pages::title(*code).is_some());
            Some(known.ok_or_else(|| error(format!("there is no diagnostic `{text}`")))?)
        }
    };
    if (meaning == Meaning::Refused) == raw.shows.is_some() {
        return Err(error("a row about CUDA shows what is written, or is refused".into()));
    }
    if !raw.says.ends_with('.') {
        return Err(error("what a row about CUDA says is a sentence".into()));
    }
    asked(&raw.when, subject)?;
    let (when, says, shows) = (raw.when.clone(), raw.says.clone(), raw.shows.clone());
    Ok(CudaRow { when, says, shows, meaning, code })
}

fn reportable(code: &str) -> Result<Code, Error> {
    let known = code
        .parse::<Code>()
        .ok()
        .filter(|code| crate::diag::of_code(*code, crate::source::Span::at(0), "").is_some());
    known.ok_or_else(|| error(format!("no page may report `{code}`")))
}

/// The lines of a row, which goes with a clause or with nothing else.
fn lines(raw: &RawRow) -> Result<Option<Lines>, Error> {
    let (inside, pair) = match (&raw.around, &raw.inside) {
        (None, None) => return Ok(None),
        (Some(pair), None) => (false, pair),
        (None, Some(pair)) => (true, pair),
        (Some(_), Some(_)) => return Err(error("lines stand around a construct or inside it".into())),
    };
    let is_alone = raw.directive.is_none()
        && raw.statement.is_none()
        && raw.call.is_none()
        && raw.pragma.is_empty()
        && raw.strategy.is_none()
        && !raw.drop
        && raw.meaning != "refused";
    if !is_alone {
        return Err(error("lines go with `emit`, or with nothing".into()));
    }
    let [first, last] = pair.clone();
    Ok(Some(Lines { inside, first, last }))
}

fn action(raw: &RawRow, meaning: Meaning) -> Result<Action, Error> {
    let said = [
        raw.emit.is_some(),
        raw.directive.is_some(),
        raw.statement.is_some(),
        raw.call.is_some(),
        !raw.pragma.is_empty(),
        raw.strategy.is_some(),
        raw.drop,
    ];
    let count = said.iter().filter(|said| **said).count();
    if meaning == Meaning::Refused {
        return if count == 0 {
            Ok(Action::Refuse)
        } else {
            Err(error("a refused row emits nothing".into()))
        };
    }
    if count != 1 {
        return Err(error(
            "a row emits a clause, a directive or a statement, names a strategy, or drops".into(),
        ));
    }
    if let Some(emit) = &raw.emit {
        let templates = templates(emit.get_ref()).map_err(|message| (emit.span().start, message))?;
        let on = match raw.on.as_deref() {
            Some("map-leaf") => Place::MapLeaf,
            Some("target") => Place::Target,
            Some("teams") => Place::Teams,
            Some("level-leaf") => Place::LevelLeaf,
            Some("distribute") => Place::Distribute,
            Some("directive") => Place::Directive,
            other => return Err(error(format!("unknown place `{}`", other.unwrap_or("")))),
        };
        return Ok(Action::Emit { templates, on });
    }
    if let Some(text) = &raw.directive {
        return pragma(text, raw.since).map(Action::Directive).map_err(error);
    }
    if let Some(call) = &raw.call {
        return Ok(Action::Call(call.clone()));
    }
    if !raw.pragma.is_empty() {
        let pragmas = raw.pragma.iter().map(|text| pragma(text, raw.since));
        return pragmas.collect::<Result<_, String>>().map(Action::Pragmas).map_err(error);
    }
    if let Some(statement) = &raw.statement {
        return Ok(Action::Statement(statement.clone()));
    }
    match raw.strategy.as_deref() {
        None => Ok(Action::Drop),
        Some("thread-limit") => Ok(Action::Strategy(Strategy::ThreadLimit)),
        Some("condition") => Ok(Action::Strategy(Strategy::Condition)),
        Some("finalize") => Ok(Action::Strategy(Strategy::Finalize)),
        Some("push-down") => Ok(Action::Strategy(Strategy::PushDown)),
        Some("levels") => Ok(Action::Strategy(Strategy::Levels)),
        Some("tile") => Ok(Action::Strategy(Strategy::Tile)),
        Some("choose-device") => Ok(Action::Strategy(Strategy::ChooseDevice)),
        Some("launch") => Ok(Action::Strategy(Strategy::Launch)),
        Some("wait-before") => Ok(Action::Strategy(Strategy::WaitBefore)),
        Some("wait-around") => Ok(Action::Strategy(Strategy::WaitAround)),
        Some("wait-queues") => Ok(Action::Strategy(Strategy::WaitQueues)),
        Some("waiting-queue") => Ok(Action::Strategy(Strategy::WaitingQueue)),
        Some("declare-variant") => Ok(Action::Strategy(Strategy::DeclareVariant)),
        Some("declare-target") => Ok(Action::Strategy(Strategy::DeclareTarget)),
        Some("declare-target-link") => Ok(Action::Strategy(Strategy::DeclareTargetLink)),
        Some("declare-region") => Ok(Action::Strategy(Strategy::DeclareRegion)),
        Some("shadow") => Ok(Action::Strategy(Strategy::Shadow)),
        Some("associate") => Ok(Action::Strategy(Strategy::Associate)),
        Some("declare-target-data") => Ok(Action::Strategy(Strategy::DeclareTargetData)),
        Some(other) => Err(error(format!("unknown strategy `{other}`"))),
    }
}

/// Words in braces that every routine's template may use, beside the names of its arguments.
const HOLES: [&str; 4] = ["device", "host", "word", "queue"];

/// Every hole of a call's template must be known.
fn holes(text: &str, args: &[String]) -> Result<(), Error> {
    let mut names = text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    match names.find(|name| !HOLES.contains(name) && !args.iter().any(|arg| arg == name)) {
        Some(name) => Err(error(format!("unknown hole `{name}` in `{text}`"))),
        None => Ok(()),
    }
}

/// Parses a directive with its clauses: `target enter data map(to: {list})`, `taskwait`.
fn pragma(text: &str, since: u8) -> Result<Pragma, String> {
    let directives = openmp::table().directive.iter().filter(|(_, directive)| directive.since <= since);
    let is_head = |words: &&String| {
        text.strip_prefix(words.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let words = directives.map(|(words, _)| words).filter(is_head);
    let Some(words) = words.max_by_key(|words| words.len()) else {
        return Err(format!("OpenMP {since} has no directive `{text}`"));
    };
    let clauses = templates(text.get(words.len()..).unwrap_or_default())?;
    match clauses.iter().find(|template| !openmp::allowed(words, &template.clause, since)) {
        Some(wrong) => Err(format!("`{}` is not allowed on `{words}` in OpenMP {since}", wrong.clause)),
        None => Ok(Pragma { words: words.clone(), clauses }),
    }
}

/// Parses clause templates with blanks between them: `nowait depend(inout: q)`.
fn templates(text: &str) -> Result<Vec<Template>, String> {
    let mut depth = 0usize;
    let clauses = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    });
    clauses.filter(|clause| !clause.is_empty()).map(template).collect()
}

/// Parses a clause template: `map(to: {list})`, `if(target: {expr})`, `nowait`.
fn template(text: &str) -> Result<Template, String> {
    let (word, inside) = match text.split_once('(') {
        Some((word, rest)) => (
            word,
            Some(rest.strip_suffix(')').ok_or_else(|| format!("`{text}` has no closing parenthesis"))?),
        ),
        None => (text, None),
    };
    let clause = openmp::table().clause.get(word).ok_or_else(|| format!("OpenMP has no clause `{word}`"))?;
    let (modifier, argument) = match inside.map(|inside| inside.rsplit_once(": ").unwrap_or(("", inside))) {
        None => (None, TemplateArg::None),
        Some((modifier, argument)) => {
            let modifier = (!modifier.is_empty()).then(|| modifier.to_owned());
            let argument = match argument {
                "{list}" => TemplateArg::List,
                text if text.contains("{expr}") || text.contains("{waited}") => {
                    TemplateArg::Expr(text.to_owned())
                }
                text if text.contains('{') => return Err(format!("unknown hole in `{text}`")),
                text => TemplateArg::Literal(text.to_owned()),
            };
            (modifier, argument)
        }
    };
    let fits = match argument {
        TemplateArg::None => clause.argument == "none",
        TemplateArg::List => clause.argument == "list",
        TemplateArg::Expr(_) => clause.argument == "expr",
        TemplateArg::Literal(_) => clause.argument == "expr" || clause.argument == "word",
    };
    if !fits {
        return Err(format!("`{word}` takes {} argument", clause.argument));
    }
    if let Some(modifier) = &modifier
        && !clause.modifiers.contains_key(modifier)
    {
        return Err(format!("`{word}` has no modifier `{modifier}`"));
    }
    Ok(Template { clause: word.to_owned(), modifier, argument })
}

/// The OpenMP leaf that stands for an OpenACC directive, as far as clauses at a place are concerned.
fn leaf(on: &str, place: Place) -> &'static str {
    match (on, place) {
        ("data" | "host_data", _) => "target data",
        ("enter data", _) => "target enter data",
        ("exit data", _) => "target exit data",
        ("update", _) => "target update",
        ("atomic", _) => "atomic",
        ("wait", _) => "taskwait",
        (_, Place::Teams) => "teams",
        (_, Place::LevelLeaf) => "for",
        (_, Place::Distribute) => "distribute",
        _ => "target",
    }
}

/// A clause must be allowed where the row puts it, at the row's version.
fn placed(
    template: &Template,
    on: Place,
    raw: &RawRow,
    kind: &str,
    subject: &RawSubject,
) -> Result<(), Error> {
    let chosen = raw.when.get("on").unwrap_or(&subject.on);
    for directive in chosen.iter().filter(|_| kind != "directive") {
        let leaf = leaf(directive, on);
        if !openmp::allowed(leaf, &template.clause, raw.since) {
            let message = format!("`{}` is not allowed on `{leaf}` in OpenMP {}", template.clause, raw.since);
            return Err(error(message));
        }
    }
    if let Some(modifier) = &template.modifier
        && let Some(clause) = openmp::table().clause.get(&template.clause)
        && clause.modifiers.get(modifier).is_some_and(|since| *since > raw.since)
    {
        return Err(error(format!("`{}: {modifier}` is newer than OpenMP {}", template.clause, raw.since)));
    }
    Ok(())
}

/// The facts that matter to a page, with their values.
fn domain(kind: &str, subject: &RawSubject) -> Vec<(String, Vec<String>)> {
    let on = if kind == "directive" { vec![subject.name.clone()] } else { subject.on.clone() };
    let facts = FACTS.iter().map(|(fact, values)| {
        ((*fact).to_owned(), values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    });
    std::iter::once(("on".to_owned(), on)).chain(facts).collect()
}

/// A situation: facts with their values.
type Facts<'a> = Vec<(&'a str, &'a str)>;

/// The situations that rows which ask for these facts tell apart.
fn situations<'a>(
    domain: &'a [(String, Vec<String>)],
    rows: impl Iterator<Item = &'a BTreeMap<String, Vec<String>>> + Clone,
) -> Vec<Facts<'a>> {
    let asked = domain.iter().filter(|(fact, _)| rows.clone().any(|when| when.contains_key(fact)));
    let mut situations: Vec<Facts> = vec![Vec::new()];
    for (fact, values) in asked {
        situations = situations
            .iter()
            .flat_map(|known| {
                values.iter().map(|value| [known.as_slice(), &[(fact.as_str(), value.as_str())]].concat())
            })
            .collect();
    }
    situations
}

/// Whether a row that asks for these facts applies.
fn fits(when: &BTreeMap<String, Vec<String>>, situation: &Facts) -> bool {
    when.iter().all(|(fact, values)| {
        situation.iter().any(|(known, value)| known == fact && values.iter().any(|other| other == value))
    })
}

fn only_one(situations: &[Facts], rows: impl Fn(&Facts) -> usize) -> Result<(), Error> {
    for situation in situations {
        match rows(situation) {
            0 => return Err(error(format!("no row for {situation:?} in CUDA"))),
            1 => {}
            _ => return Err(error(format!("two rows for {situation:?} in CUDA"))),
        }
    }
    Ok(())
}

/// Exactly one row for every situation and version: the newest that fits, and no two of one age.
fn total_and_disjoint(rows: &[Row], domain: &[(String, Vec<String>)]) -> Result<(), Error> {
    for situation in &situations(domain, rows.iter().map(|row| &row.when)) {
        let fitting: Vec<&Row> = rows.iter().filter(|row| fits(&row.when, situation)).collect();
        for version in VERSIONS {
            let newest = fitting.iter().map(|row| row.since).filter(|since| *since <= version).max();
            let count = fitting.iter().filter(|row| Some(row.since) == newest).count();
            if count == 0 {
                return Err(error(format!("no row for {situation:?} in OpenMP {version}")));
            }
            if count > 1 {
                return Err(error(format!("two rows for {situation:?} in OpenMP {version}")));
            }
        }
    }
    Ok(())
}
