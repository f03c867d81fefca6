//! Expressions.
//!
//! Invariant: a reference `name(…)` is a `Call`, whatever it names: the grammar cannot know.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Reader, Word, span};

impl<'t> Reader<'_, 't> {
    pub(super) fn expr(&mut self, node: Node<'t>) -> ExprId {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.expr_here(node))
    }

    pub(super) fn exprs(&mut self, nodes: impl IntoIterator<Item = Node<'t>>) -> Vec<ExprId> {
        nodes.into_iter().map(|node| self.expr(node)).collect()
    }

    fn expr_here(&mut self, node: Node<'t>) -> ExprId {
        let (mut node, mut word) = (node, node.word());
        while matches!(word, "parenthesized_expression" | "concurrent_mask") {
            let inside = self.named(node);
            let [only] = inside.as_slice() else { break };
            (node, word) = (*only, only.word());
        }
        match word {
            "identifier" => self.push_expr(span(node), ExprKind::Name(self.name(node))),
            "number_literal" => {
                let kind = integer(self.file.slice(span(node))).map_or(ExprKind::Literal, ExprKind::Int);
                self.push_expr(span(node), kind)
            }
            "call_expression" | "sized_allocation" => self.reference(node),
            _ => {
                let kind = self.expr_kind(node);
                self.push_expr(span(node), kind)
            }
        }
    }

    fn expr_kind(&mut self, node: Node<'t>) -> ExprKind {
        match node.word() {
            "string_literal"
            | "boolean_literal"
            | "null_literal"
            | "nil_literal"
            | "hollerith_constant"
            | "assumed_size"
            | "assumed_rank"
            | "assumed_shape"
            | "intrinsic_type"
            | "derived_type"
            | "statement_label_reference" => ExprKind::Literal,
            "math_expression"
            | "relational_expression"
            | "logical_expression"
            | "concatenation_expression"
            | "unary_expression" => self.operation(node),
            "derived_type_member_expression" => self.member(node),
            "extent_specifier" | "multiple_subscript_triplet" => self.triplet(node),
            "keyword_argument" => match self.named(node).as_slice() {
                [.., value] => ExprKind::Initialiser(vec![self.expr(*value)]),
                [] => ExprKind::Literal,
            },
            "output_item_list" => {
                let items = self.named(node);
                ExprKind::Initialiser(items.into_iter().map(|item| self.output_item(item)).collect())
            }
            "complex_literal" | "argument_list" | "size" | "multiple_subscript" => {
                let inside = self.named(node);
                ExprKind::Initialiser(self.exprs(inside))
            }
            "array_literal" => {
                let inside = self.named(node).into_iter().filter(|inside| !is_type(*inside));
                ExprKind::Initialiser(self.exprs(inside))
            }
            "implied_do_loop_expression" => {
                let from = self.unit.exprs.len();
                let parts = self.implied_do(node);
                let parts = self.exprs(parts);
                if let Some(variable) = self.implied_variable(node) {
                    self.forget(variable, from);
                }
                ExprKind::Initialiser(parts)
            }
            "conditional_expression" => match self.named(node).as_slice() {
                [cond, first, second] => {
                    ExprKind::Conditional(self.expr(*cond), self.expr(*first), self.expr(*second))
                }
                _ => self.opaque(node),
            },
            _ => self.opaque(node),
        }
    }

    fn opaque(&mut self, node: Node<'t>) -> ExprKind {
        let inside = self.named(node);
        ExprKind::Opaque(self.exprs(inside))
    }

    /// What an implied `do` lists, and then its bounds; its variable is none of them.
    pub(super) fn implied_do(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        let mut parts = Vec::new();
        for part in self.named(node).into_iter().filter(|part| !is_type(*part)) {
            if part.word() == "loop_control_expression" {
                parts.extend(self.named(part).into_iter().skip(1));
            } else {
                parts.push(part);
            }
        }
        parts
    }

    fn loop_control(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        self.named(node).into_iter().find(|part| part.word() == "loop_control_expression")
    }

    /// The variable of an implied `do`.
    fn implied_variable(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        let control = self.loop_control(node)?;
        self.named(control).first().copied()
    }

    /// The variable of an implied `do` of values has that as its scope (Fortran 2018, 19.4): the expressions from `from` on do
    /// not name the variable outside.
    fn forget(&mut self, variable: Node<'t>, from: usize) {
        let variable = self.name(variable);
        for expr in self.unit.exprs.iter_mut().skip(from) {
            if matches!(&expr.kind, ExprKind::Name(name) if *name == variable) {
                expr.kind = ExprKind::Opaque(Vec::new());
            }
        }
    }

    /// An item of an output list: an implied `do` there sets its variable before anything reads it.
    fn output_item(&mut self, node: Node<'t>) -> ExprId {
        let (Some(control), true) = (self.loop_control(node), node.word() == "implied_do_loop_expression")
        else {
            return self.expr(node);
        };
        let whole = self.trimmed(node);
        let mut parts = Vec::new();
        if let [variable, first, rest @ ..] = self.named(control).as_slice() {
            let (target, first) = (self.expr(*variable), self.expr(*first));
            parts.push(self.push_expr(whole, ExprKind::Assign(None, target, first)));
            parts.extend(self.exprs(rest.to_vec()));
        }
        let items = self.named(node).into_iter().filter(|part| part.word() != "loop_control_expression");
        let items: Vec<Node> = items.filter(|part| !is_type(*part)).collect();
        parts.extend(items.into_iter().map(|item| self.output_item(item)));
        self.push_expr(whole, ExprKind::Initialiser(parts))
    }

    fn operation(&mut self, node: Node<'t>) -> ExprKind {
        match self.children(node).as_slice() {
            [left, operator, right] => {
                let (left, right) = (self.expr(*left), self.expr(*right));
                match binary(operator.word()) {
                    Some(op) => ExprKind::Binary(op, left, right),
                    // A power, a concatenation or an operator of the program: it reads both.
                    None => ExprKind::Initialiser(vec![left, right]),
                }
            }
            [operator, operand] => {
                let operand = self.expr(*operand);
                match operator.word() {
                    "-" => ExprKind::Unary(UnaryOp::Minus, operand),
                    "+" => ExprKind::Unary(UnaryOp::Plus, operand),
                    ".not." => ExprKind::Unary(UnaryOp::Not, operand),
                    _ => ExprKind::Initialiser(vec![operand]),
                }
            }
            _ => self.opaque(node),
        }
    }

    fn member(&mut self, node: Node<'t>) -> ExprKind {
        match self.named(node).as_slice() {
            [base, member] => {
                ExprKind::Member { base: self.expr(*base), name: self.name(*member), arrow: false }
            }
            _ => self.opaque(node),
        }
    }

    pub(super) fn triplet(&mut self, node: Node<'t>) -> ExprKind {
        let mut parts = [None; 3];
        let mut at = 0;
        for child in self.children(node) {
            match child.word() {
                ":" => at += 1,
                "assumed_size" | "*" | "@" => {}
                _ => {
                    let part = self.expr(child);
                    if let Some(place) = parts.get_mut(at) {
                        *place = Some(part);
                    }
                }
            }
        }
        ExprKind::Triplet(parts)
    }

    /// `base(arguments)`, once or more.
    fn reference(&mut self, node: Node<'t>) -> ExprId {
        let parts = self.named(node);
        let Some((base, lists)) = parts.split_first() else {
            return self.push_expr(span(node), ExprKind::Literal);
        };
        let is_name = base.word() == "identifier";
        let start = base.start_byte();
        let mut base = self.expr(*base);
        for (place, list) in lists.iter().enumerate() {
            let args = self.arguments(*list);
            let whole = Span::new(start, list.end_byte());
            let named = args.iter().any(|arg| self.is_keyword(*arg));
            if is_name && place == 0 || args.is_empty() || named {
                base = self.push_expr(whole, ExprKind::Call { callee: base, args });
                continue;
            }
            for arg in args {
                base = self.push_expr(whole, ExprKind::Index(base, arg));
            }
        }
        base
    }

    fn is_keyword(&self, arg: ExprId) -> bool {
        self.unit.keywords.last().is_some_and(|(last, _)| *last >= arg)
            && self.unit.keywords.binary_search_by_key(&arg, |(arg, _)| *arg).is_ok()
    }

    /// The values of arguments or subscripts; labels of alternate returns are none.
    pub(super) fn arguments(&mut self, list: Node<'t>) -> Vec<ExprId> {
        let mut args = Vec::new();
        for node in self.named(list) {
            match node.word() {
                "assumed_size" | "assumed_rank" | "ERROR" => {}
                "keyword_argument" => {
                    let [name, .., value] = self.named(node)[..] else { continue };
                    let value = self.expr(value);
                    let name = self.name(name);
                    self.unit.keywords.push((value, name));
                    args.push(value);
                }
                _ => args.push(self.expr(node)),
            }
        }
        args
    }
}

/// Whether the node is a type rather than a value.
fn is_type(node: Node) -> bool {
    matches!(node.word(), "intrinsic_type" | "derived_type")
}

fn binary(operator: &str) -> Option<BinaryOp> {
    Some(match operator {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "<" | ".lt." => BinaryOp::Less,
        "<=" | ".le." => BinaryOp::LessEqual,
        ">" | ".gt." => BinaryOp::Greater,
        ">=" | ".ge." => BinaryOp::GreaterEqual,
        "==" | ".eq." | ".eqv." => BinaryOp::Equal,
        "/=" | ".ne." | ".neqv." => BinaryOp::NotEqual,
        ".and." => BinaryOp::And,
        ".or." => BinaryOp::Or,
        _ => return None,
    })
}

/// The value of an integer literal; `None` for any other number.
fn integer(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    text.split('_').next()?.trim().parse().ok()
}
