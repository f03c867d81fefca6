//! Asks the rule pages: which row applies here, and what its template says with the hole filled.
//!
//! Invariant: the situation of a clause or an attribute is put together here; that of a call, in `api.rs`.

use crate::acc::ast::{ListItem, PathStep, ReductionOp};
use crate::plan::{Attribute, Sharing};
use crate::rules::{Action, Row, RowId, Situation, Template, TemplateArg, rules};
use crate::sema::Class;
use crate::source::Span;

use super::Target;
use super::ast::{BaseLanguage, Body, Clause};

/// The situation in which a page is asked.
#[derive(Clone, Debug)]
pub struct RuleQuery {
    /// The directive that the clause stands on (`parallel`, `data`, `enter data` …).
    pub on: &'static str,
    /// The class of the list item.
    pub item: &'static str,
    /// The argument: `absent` or `runtime`.
    pub argument: &'static str,
    /// A word as argument: `none` or `present`.
    pub keyword: &'static str,
    /// How a scalar is copied to the threads: `private` or `firstprivate`.
    pub copies: &'static str,
    /// The modifier before a list: `none`, `readonly`, `zero`.
    pub modifier: &'static str,
    /// Whether the list item is one `block` of memory, or `rows` after an array of pointers.
    pub memory: &'static str,
    /// Where a `declare` stands: `program` or `function`.
    pub scope: &'static str,
    /// How many iterations a gang takes at a time: `none` says nothing, `own` leaves it open, `given`.
    pub chunk: &'static str,
    /// Whether the nest's tiles are `kept`, `loops` of their own, or `lost`.
    pub tiles: &'static str,
    /// What the construct wants of the list item: its `address` alone, or the `object` itself.
    pub used_as: &'static str,
    /// What is known about an async argument: `noval`, `constant`, `runtime` or `sync`.
    pub queue: &'static str,
    /// Whether queues are kept, or the host waits at once: `kept` or `dropped`.
    pub queues: &'static str,
    /// The OpenMP version.
    pub version: u8,
    /// The directive, for diagnostics.
    pub span: Span,
    /// The notes have been said elsewhere.
    pub quiet: bool,
    /// The host language.
    pub speech: BaseLanguage,
}

impl RuleQuery {
    /// A clause of directive `on`.
    pub fn new(on: &'static str, target: Target, span: Span) -> RuleQuery {
        let (item, argument, keyword, copies, modifier, scope, queue) = ("", "", "", "", "none", "", "");
        let (version, queues) = (target.version, target.queues.name());
        let (chunk, tiles, memory) = ("none", "lost", "block");
        RuleQuery {
            on,
            item,
            argument,
            keyword,
            copies,
            modifier,
            memory,
            scope,
            chunk,
            tiles,
            used_as: "",
            queue,
            queues,
            version,
            span,
            quiet: false,
            speech: target.speech,
        }
    }

    /// With another argument.
    pub fn with_argument(&self, argument: &'static str) -> RuleQuery {
        RuleQuery { argument, ..self.clone() }
    }

    /// With another modifier.
    pub fn with_modifier(&self, modifier: &'static str) -> RuleQuery {
        RuleQuery { modifier, ..self.clone() }
    }

    /// About this list item.
    pub fn with_item(&self, item: &ListItem, class: Class) -> RuleQuery {
        let is_member = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
        let item = match class {
            _ if is_member => "member",
            Class::Scalar | Class::Record => "scalar",
            Class::Array => "array",
            Class::Pointer => "pointer",
            Class::Unknown => "unknown",
        };
        RuleQuery { item, ..self.clone() }
    }

    /// Whether the directive is a compute construct.
    pub fn is_compute(&self) -> bool {
        matches!(self.on, "parallel" | "serial" | "kernels")
    }
}

/// The row of page `entry` that applies.
pub fn row(entry: &str, query: &RuleQuery) -> Option<&'static Row> {
    let mut situation = Situation::new(query.on);
    let facts = [
        ("item", query.item),
        ("argument", query.argument),
        ("modifier", query.modifier),
        ("memory", query.memory),
        ("keyword", query.keyword),
        ("copies", query.copies),
        ("scope", query.scope),
        ("chunk", query.chunk),
        ("tiles", query.tiles),
        ("used_as", query.used_as),
        ("async", query.queue),
        ("queues", query.queues),
        ("lang", query.speech.name()),
    ];
    for (fact, value) in facts {
        if !value.is_empty() {
            situation = situation.fact(fact, value);
        }
    }
    rules().row(entry, &situation, query.version)
}

/// A template with `text` in its hole, and `op` where it wants an operator.
pub fn fill(template: &Template, text: &str, op: &str) -> Clause {
    let modifier = template.modifier.as_ref().map(|words| words.replace("{op}", op));
    let body = match &template.argument {
        TemplateArg::None => Body::None,
        TemplateArg::List => Body::List(vec![text.to_owned()]),
        TemplateArg::Expr(pattern) => Body::Text(pattern.replace("{expr}", text)),
        TemplateArg::Literal(words) => Body::Text(words.clone()),
    };
    Clause { name: template.clause.clone(), modifier, body }
}

/// The reduction of complex numbers that the support header declares.
fn complex_operator(op: ReductionOp) -> Option<&'static str> {
    match op {
        ReductionOp::Add => Some("acc2omp_add"),
        ReductionOp::Multiply => Some("acc2omp_multiply"),
        ReductionOp::And => Some("acc2omp_and"),
        ReductionOp::Or => Some("acc2omp_or"),
        ReductionOp::Max
        | ReductionOp::Min
        | ReductionOp::BitAnd
        | ReductionOp::BitOr
        | ReductionOp::BitXor
        | ReductionOp::Eqv
        | ReductionOp::Neqv => None,
    }
}

/// The clause for an attribute, and the row it is from.
pub fn attribute(attribute: &Attribute, query: &RuleQuery) -> Option<(Clause, &'static RowId)> {
    let copies = if attribute.sharing == Sharing::Firstprivate { "firstprivate" } else { "private" };
    let row = match attribute.entry {
        "implicit/scalar-temporary" => row(attribute.entry, &RuleQuery { copies, ..query.clone() })?,
        entry => row(entry, query)?,
    };
    let op = match &attribute.sharing {
        Sharing::Reduction(op) if attribute.entry == "implicit/reduction-complex" => complex_operator(*op)?,
        Sharing::Reduction(op) => op.spelled(query.speech == BaseLanguage::Fortran),
        Sharing::Private | Sharing::Firstprivate | Sharing::Copy | Sharing::Deviceptr => "",
    };
    let name = match attribute.sharing {
        Sharing::Private => "private",
        Sharing::Firstprivate => "firstprivate",
        Sharing::Reduction(_) => "reduction",
        Sharing::Copy => "map",
        Sharing::Deviceptr => "is_device_ptr",
    };
    let clause = match &row.action {
        Action::Emit { templates, .. } => {
            fill(templates.iter().find(|template| template.clause == name)?, &attribute.item, op)
        }
        _ => return None,
    };
    Some((clause, &row.id))
}
