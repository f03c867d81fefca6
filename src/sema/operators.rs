//! Operators, conversions and assignments that the program defines for its types: code that runs where no call is written.
//!
//! Invariant: an operator counts as plain only if all of it is seen, it changes nothing but its own variables, and it reads
//! nothing but its operands and constants.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{BaseType, Decl, DeclKind, Derived, ExprId, ExprKind, Function, Record, Unit};

/// Functions that only make a value of their arguments.
const MATHEMATICAL: [&str; 16] = [
    "sqrt",
    "std::sqrt",
    "fabs",
    "std::fabs",
    "abs",
    "std::abs",
    "pow",
    "std::pow",
    "exp",
    "std::exp",
    "fmin",
    "fmax",
    "std::min",
    "std::max",
    "min",
    "max",
];

/// What the code at hand defines.
#[derive(Clone, Debug, Default)]
pub struct Operators {
    /// The classes of C++, if there are operators or conversions at all.
    pub(super) classes: FxHashSet<String>,
    /// All enumerations of C++.
    pub(super) enumerations: FxHashSet<String>,
    /// Some operator takes an enumeration of C++; `classes` has all enumerations then.
    has_enumerations: bool,
    /// What an operator or a conversion reads or changes is not known.
    are_unclear: bool,
    /// C++: a class has an assignment of its own. Fortran: an interface defines assignment.
    assigns: bool,
    /// The classes of C++ whose objects run code that is not plain where they begin or end.
    busy: FxHashSet<String>,
    /// The classes of C++ whose objects `<<`, `>>`, `,` or the `&` of an address take, where the program defines these: they may
    /// change what they like.
    pub(super) taken: FxHashSet<String>,
    /// There are operators, conversions, assignments, or code that runs when an object ends.
    any: bool,
}

impl Operators {
    /// The operators of a file and its headers, or of the modules that it uses.
    pub(super) fn of(units: &[&Unit]) -> Operators {
        let mut found = Operators {
            assigns: units.iter().any(|unit| unit.has_assignment),
            any: units.iter().any(|unit| unit.has_operators),
            ..Operators::default()
        };
        let cpp: Vec<Classes> =
            units.iter().filter(|unit| unit.is_cpp()).map(|unit| Classes::of(unit)).collect();
        found.enumerations = cpp.iter().flat_map(|one| &one.unit.enums).cloned().collect();
        let mut defines = false;
        for one in &cpp {
            defines |= found.take_functions(one);
            defines |= found.take_prototypes(one, &cpp);
        }
        if defines {
            found.any = true;
            let records = units.iter().flat_map(|unit| &unit.records);
            found.classes = records.filter_map(|record| record.tag.clone()).collect();
            let enumerations = found.enumerations.iter().filter(|_| found.has_enumerations);
            found.classes.extend(enumerations.cloned());
        }
        found.spread(units);
        found
    }

    /// Takes in the functions of a unit that are defined; whether there are operators among them.
    fn take_functions(&mut self, classes: &Classes) -> bool {
        let unit = classes.unit;
        let mut defines = false;
        for function in &unit.functions {
            self.any |= function.name.starts_with('~');
            self.busy.extend(classes.busy(function));
            if is_free(&function.name) || gives_address(function) {
                let params = function.params.iter().map(|id| unit.decl(*id));
                let changed =
                    params.filter(|decl| decl.derived.first() == Some(&Derived::Reference) && !decl.is_const);
                let types = changed.filter_map(Decl::type_name).map(str::to_owned);
                self.taken.extend(types.chain(function.member_of.clone()));
            }
            let Some(kind) = Kind::of(&function.name) else { continue };
            defines = true;
            self.has_enumerations |= function.params.iter().any(|id| match &unit.decl(*id).base {
                BaseType::Named(name) | BaseType::Tagged(name) => self.enumerations.contains(name),
                _ => false,
            });
            self.assigns |= kind == Kind::Assignment;
            self.are_unclear |= kind == Kind::Value && !classes.is_plain(function);
        }
        defines
    }

    /// Takes in the functions of a unit that are declared, of which `all` has those that are defined; whether there are operators
    /// among them.
    fn take_prototypes(&mut self, classes: &Classes, all: &[Classes]) -> bool {
        let mut defines = false;
        for decl in classes.unit.decls.iter().filter(|decl| decl.kind == DeclKind::Prototype) {
            let is_seen = |unit: &Unit| unit.function_places(&decl.name).next().is_some();
            let class = decl.name.trim_start_matches('~');
            self.any |= class != decl.name;
            if classes.records.contains_key(class) && !is_seen(classes.unit) {
                self.busy.insert(class.to_owned());
            }
            let Some(kind) = Kind::of(&decl.name) else { continue };
            defines = true;
            self.assigns |= kind == Kind::Assignment;
            self.are_unclear |= kind == Kind::Value && !all.iter().any(|one| is_seen(one.unit));
        }
        defines
    }

    /// An object with a part or a base that runs code runs it, too.
    fn spread(&mut self, units: &[&Unit]) {
        let records = || units.iter().flat_map(|unit| unit.records.iter().map(move |record| (unit, record)));
        loop {
            let more: Vec<String> = records()
                .filter(|(unit, record)| {
                    let members = record.members.iter().filter_map(|id| match &unit.decl(*id).base {
                        BaseType::Named(name) | BaseType::Tagged(name) => Some(name),
                        _ => None,
                    });
                    members.chain(&record.bases).any(|name| self.busy.contains(name))
                })
                .filter_map(|(_, record)| record.tag.clone().filter(|tag| !self.busy.contains(tag)))
                .collect();
            if more.is_empty() {
                return;
            }
            self.busy.extend(more);
        }
    }

    /// Whether some operator takes an enumeration.
    pub fn has_enumerations(&self) -> bool {
        self.has_enumerations
    }

    /// Whether an object of a class runs code that is not plain where it begins or ends.
    pub fn is_busy(&self, class: &str) -> bool {
        self.busy.contains(class)
    }

    /// Whether an operator or a conversion may read or change what nobody names.
    pub fn are_unclear(&self) -> bool {
        self.are_unclear
    }

    /// Whether code of the program may run where no call is written.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Whether the program defines assignment for some type.
    pub fn assigns(&self) -> bool {
        self.assigns
    }
}

/// Whether a name is that of an operator that does not only make a value of its operands, as a rule.
fn is_free(name: &str) -> bool {
    matches!(name, "operator<<" | "operator>>" | "operator,")
}

/// Whether a function is `&` before an object, which may lead anywhere.
fn gives_address(function: &Function) -> bool {
    function.name == "operator&" && function.params.len() == usize::from(function.member_of.is_none())
}

/// What stands after `operator` in the name of an operator or a conversion; none for other names.
pub fn operator_sign(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("operator")?;
    let is_longer = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (!is_longer).then(|| rest.trim())
}

/// Whether an operator changes its left operand by its meaning.
pub fn is_assignment(sign: &str) -> bool {
    match sign {
        "++" | "--" => true,
        "==" | "!=" | "<=" | ">=" => false,
        sign => sign.ends_with('='),
    }
}

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It makes a value of its operands.
    Value,
    /// It changes its left operand: `=`, `+=`, `++`.
    Assignment,
}

impl Kind {
    /// That of a function, by its name; none for one that is not an operator, and for those that are met as calls, elements or
    /// streams.
    fn of(name: &str) -> Option<Kind> {
        match operator_sign(name)? {
            "()" | "[]" | "<<" | ">>" | "->" | "new" | "delete" | "," => None,
            sign if is_assignment(sign) => Some(Kind::Assignment),
            _ => Some(Kind::Value),
        }
    }
}

/// A unit of C++, and its classes by their names; of two of one name, the first.
struct Classes<'u> {
    unit: &'u Unit,
    records: FxHashMap<&'u str, &'u Record>,
}

impl<'u> Classes<'u> {
    fn of(unit: &'u Unit) -> Classes<'u> {
        let mut records = FxHashMap::default();
        for record in &unit.records {
            if let Some(tag) = &record.tag {
                records.entry(tag.as_str()).or_insert(record);
            }
        }
        Classes { unit, records }
    }

    /// The class of which a function is a constructor or a destructor that is not plain.
    fn busy(&self, function: &Function) -> Option<String> {
        let class = function.name.trim_start_matches('~');
        self.records.get(class)?;
        let is_end = class != function.name;
        let is_empty = || self.unit.exprs_in(self.unit.stmt(function.body).span).next().is_none();
        let is_quiet = if is_end { is_empty() } else { self.is_plain(function) };
        (!is_quiet).then(|| class.to_owned())
    }

    /// Whether a function makes its value, or its object, of nothing but its operands.
    fn is_plain(&self, function: &Function) -> bool {
        let unit = self.unit;
        let class = function.member_of.as_deref().unwrap_or_default();
        let members = self.records.get(class).map(|record| record.members.as_slice()).unwrap_or_default();
        let is_begin = function.name == class;
        let is_own = |name: &str| members.iter().any(|id| unit.decl(*id).name == name);
        let is_constant = |name: &str| {
            let mut all = unit.decls_named(name);
            all.any(|decl| {
                decl.kind == DeclKind::Enumerator || decl.kind == DeclKind::Variable && decl.is_const
            })
        };
        let is_this = |expr: ExprId| matches!(&unit.expr(expr).kind, ExprKind::Name(name) if name == "this");
        let decls = unit.decls_with_names_in(function.span);
        let locals: FxHashSet<&str> = decls.map(|decl| decl.name.as_str()).collect();
        let is_local = |expr: ExprId| {
            let mut at = expr;
            while let ExprKind::Member { base, arrow: false, .. } = unit.expr(at).kind {
                at = base;
            }
            match &unit.expr(at).kind {
                ExprKind::Name(name) => locals.contains(name.as_str()) || is_begin && is_own(name),
                ExprKind::Member { base, .. } => is_begin && is_this(*base),
                _ => false,
            }
        };
        let is_function =
            |name: &String| MATHEMATICAL.contains(&name.as_str()) || self.records.contains_key(name.as_str());
        let is_given = |name: &String| {
            let mut params = function.params.iter().map(|id| &unit.decl(*id).name);
            is_own(name) || name == "this" || params.any(|param| param == name)
        };
        !function.has_error
            && unit.exprs_in(function.span).all(|expr| match &expr.kind {
                ExprKind::Assign(_, left, _) => is_local(*left),
                ExprKind::Step { operand, .. } => is_local(*operand),
                ExprKind::Index(..) | ExprKind::AddressOf(_) | ExprKind::Opaque(_) => false,
                ExprKind::Deref(inner) => is_this(*inner),
                ExprKind::Call { callee, .. } => {
                    matches!(&unit.expr(*callee).kind, ExprKind::Name(name) if is_function(name))
                }
                ExprKind::Name(name) => {
                    is_given(name) || is_constant(name) || locals.contains(name.as_str()) || is_function(name)
                }
                _ => true,
            })
    }
}
