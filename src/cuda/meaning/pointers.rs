//! Conversions of pointers that C makes by itself: from `void *`, and of strings.
//!
//! Invariant: the pointer is the same; only its type is written.

use crate::cuda::code::text;
use crate::host::ir::{Decl, ExprId, ExprKind, StmtKind};
use crate::sema::{CNumber, CType, Rank};
use crate::source::Span;

use super::wraps::Wraps;
use super::{Place, files};
use crate::cuda::program::{Refused, refused};

/// Casts what C converts.
pub fn conversions(place: &Place, wraps: &mut Wraps) -> Result<(), Refused> {
    let types = &place.types;
    let unit = types.unit;
    for id in unit.expr_ids_in(place.span) {
        match &unit.expr(id).kind {
            ExprKind::Assign(None, left, right) => convert(place, *right, (&types.of(*left), true), wraps)?,
            ExprKind::Call { callee, args } => {
                for (arg, wanted) in args.iter().zip(parameters(place, *callee)) {
                    convert(place, *arg, (&wanted, true), wraps)?;
                }
            }
            _ => {}
        }
    }
    for decl in unit.decls_in(place.span) {
        if let Some(init) = decl.init {
            convert(place, init, (&types.of_decl(unit, decl), is_constant(place, decl)), wraps)?;
        }
    }
    let around = unit.function_around(place.span);
    let returned = around.map_or(CType::Unknown, |function| types.of_words(&function.returns));
    for stmt in unit.stmts_in(place.span) {
        if let StmtKind::Return(Some(value)) = stmt.kind {
            convert(place, value, (&returned, true), wraps)?;
        }
    }
    Ok(())
}

/// Whether a declaration says `const`: what it leads to takes a string as it is.
fn is_constant(place: &Place, decl: &Decl) -> bool {
    let head = Span { start: decl.span.start, end: decl.name_span.start };
    text::words(&place.types.file.text(head)).contains(&"const")
}

/// The types of the parameters of a function of the program.
fn parameters(place: &Place, callee: ExprId) -> Vec<CType> {
    let ExprKind::Name(name) = &place.types.unit.expr(callee).kind else { return Vec::new() };
    let mut found = files(place.input)
        .flat_map(|seen| seen.unit.functions_named(name).map(move |function| (seen.unit, function)));
    let Some((home, function)) = found.next() else { return Vec::new() };
    let params: Vec<&Decl> = function.params.iter().map(|id| home.decl(*id)).collect();
    params.into_iter().map(|decl| place.types.of_decl(home, decl)).collect()
}

/// Casts one expression; the type that it becomes comes with whether it takes a string without a cast.
fn convert(place: &Place, from: ExprId, to: (&CType, bool), wraps: &mut Wraps) -> Result<(), Refused> {
    let (to, takes_strings) = to;
    let CType::Pointer(target) = to else { return Ok(()) };
    if **target == CType::Void {
        return Ok(());
    }
    let expr = place.types.unit.expr(from);
    let is_void = place.types.of(from).target() == Some(&CType::Void);
    let is_string = !takes_strings
        && expr.kind_is_string(place)
        && **target == CType::Number(CNumber::Integer(Rank::Char, true));
    if !is_void && !is_string {
        return Ok(());
    }
    let words = words(to).ok_or_else(|| refused(expr.span, "a conversion of `void *` to such a type"))?;
    wraps.cast(place, from, &words);
    Ok(())
}

trait IsString {
    fn kind_is_string(&self, place: &Place) -> bool;
}

impl IsString for crate::host::ir::Expr {
    fn kind_is_string(&self, place: &Place) -> bool {
        matches!(self.kind, ExprKind::Literal) && place.types.file.text(self.span).starts_with('"')
    }
}

/// The words of a type.
fn words(of: &CType) -> Option<String> {
    Some(match of {
        CType::Void => "void".to_owned(),
        CType::Number(number) => number.words().to_owned(),
        CType::Record(tag) if tag.starts_with('@') => return None,
        CType::Record(tag) => tag.clone(),
        CType::Pointer(to) => {
            let inner = words(to)?;
            let blank = if inner.ends_with('*') { "" } else { " " };
            format!("{inner}{blank}*")
        }
        CType::Array(_) | CType::Function(_) | CType::Unknown => return None,
    })
}
