//! Simple statements.
//!
//! Invariant: a statement's span ends with its last byte of code, without the end of the line.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Around, Reader, Word, span};

impl<'t> Reader<'_, 't> {
    /// A list of statements; an empty one stands at `place`.
    pub(super) fn block(&mut self, nodes: &[Node<'t>], place: usize) -> StmtId {
        let list = self.list(nodes);
        self.block_of(list, place)
    }

    pub(super) fn block_of(&mut self, list: Vec<StmtId>, place: usize) -> StmtId {
        let place = place.min(self.shadow.len());
        let whole = match (list.first(), list.last()) {
            (Some(first), Some(last)) => self.unit.stmt(*first).span.to(self.unit.stmt(*last).span),
            _ => Span::at(place),
        };
        self.push_stmt(whole, StmtKind::Block(list))
    }

    /// The statements of a list, each with its label.
    pub(super) fn list(&mut self, nodes: &[Node<'t>]) -> Vec<StmtId> {
        let mut list = Vec::new();
        let mut label: Option<Node> = None;
        for node in nodes {
            match node.word() {
                "statement_label" => label = Some(*node),
                "block_label_start_expression" => {}
                _ => {
                    list.push(self.labelled(label.take(), *node));
                    list.extend(self.place_after(*node));
                }
            }
        }
        if let Some(label) = label {
            list.extend(self.lone_label(span(label)));
        }
        list
    }

    /// A statement whose span begins at `start`: at its label or at itself.
    pub(super) fn stmt(&mut self, node: Node<'t>, start: usize) -> StmtId {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.stmt_here(node, start))
    }

    fn stmt_here(&mut self, node: Node<'t>, start: usize) -> StmtId {
        let whole = Span::new(start, self.trimmed(node).end as usize);
        let kind = match node.word() {
            "assignment_statement" | "pointer_association_statement" => self.assignment(node, whole),
            "subroutine_call" => self.call(node),
            "call_expression" => StmtKind::Expr(self.expr(node)),
            "keyword_statement" => self.keyword(node, whole),
            "if_statement" => return self.if_stmt(node, whole),
            "where_statement" => return self.if_stmt(node, whole),
            "arithmetic_if_statement" => self.arithmetic_if(node, whole),
            "do_loop" => return self.do_loop(node, whole),
            "forall_statement" => return self.forall(node, whole),
            "select_case_statement" | "select_type_statement" | "select_rank_statement" => {
                self.select(node, whole)
            }
            "associate_statement" => self.associate(node),
            "block_construct" => self.block_construct(node),
            "coarray_team_statement" | "coarray_critical_statement" => self.coarray_block(node),
            "allocate_statement" | "deallocate_statement" => return self.allocation(node, whole),
            "read_statement"
            | "write_statement"
            | "print_statement"
            | "open_statement"
            | "close_statement"
            | "inquire_statement"
            | "file_position_statement" => self.transfer(node, whole),
            "format_statement" => StmtKind::Empty,
            "include_statement" | "entry_statement" => StmtKind::Opaque(Vec::new()),
            "preproc_include" | "preproc_def" | "preproc_function_def" | "preproc_call" => StmtKind::Empty,
            kind if is_conditional(kind) => self.conditional(node),
            _ => {
                let inside = self.named(node);
                StmtKind::Opaque(self.exprs(inside))
            }
        };
        self.push_stmt(whole, kind)
    }

    fn assignment(&mut self, node: Node<'t>, whole: Span) -> StmtKind {
        let [left, right] = self.named(node)[..] else {
            let inside = self.named(node);
            return StmtKind::Opaque(self.exprs(inside));
        };
        let (left, mut value) = (self.expr(left), self.expr(right));
        if node.word() == "pointer_association_statement" {
            value = self.push_expr(span(right), ExprKind::AddressOf(value));
        }
        let code = Span { start: self.unit.expr(left).span.start.min(node.start_byte() as u32), ..whole };
        StmtKind::Expr(self.push_expr(code, ExprKind::Assign(None, left, value)))
    }

    /// `call p(…)`; a return to a label is a jump that it may do.
    fn call(&mut self, node: Node<'t>) -> StmtKind {
        let mut callee = None;
        let (mut args, mut jumps) = (Vec::new(), Vec::new());
        for part in self.named(node) {
            match part.word() {
                "argument_list" => {
                    args = self.arguments(part);
                    for label in self.named(part).into_iter().filter(|inside| inside.is_error()) {
                        jumps.push((span(label), self.label(label)));
                    }
                }
                "cuda_kernel_argument_list" => {}
                _ => callee = Some(part),
            }
        }
        let Some(callee) = callee else { return StmtKind::Opaque(args) };
        let code = span(callee).to(span(node));
        let callee = self.expr(callee);
        let call = self.push_expr(code, ExprKind::Call { callee, args });
        jumps.retain(|(_, label)| !label.is_empty());
        if jumps.is_empty() {
            return StmtKind::Expr(call);
        }
        let call = self.push_stmt(span(node), StmtKind::Expr(call));
        self.with_jumps(call, jumps)
    }

    /// A statement after which the program may continue at one of several labels.
    pub(super) fn with_jumps(&mut self, first: StmtId, jumps: Vec<(Span, String)>) -> StmtKind {
        let mut list = vec![first];
        for (place, label) in jumps {
            let cond = self.push_expr(place, ExprKind::Literal);
            list.push(self.jump_if(cond, place, label));
        }
        StmtKind::Block(list)
    }

    fn jump_if(&mut self, cond: ExprId, place: Span, label: String) -> StmtId {
        let then = self.push_stmt(place, StmtKind::Goto(label));
        self.push_stmt(place, StmtKind::If { cond, then, other: None })
    }

    fn keyword(&mut self, node: Node<'t>, whole: Span) -> StmtKind {
        let children = self.children(node);
        let Some((word, rest)) = children.split_first() else { return StmtKind::Empty };
        let name = rest.iter().find(|part| part.is_named()).copied();
        match word.word() {
            "continue" => StmtKind::Empty,
            "return" => StmtKind::Return(name.map(|value| self.expr(value))),
            "exit" => self.exit(name),
            "cycle" => self.cycle(name),
            _ => self.goto(rest, whole),
        }
    }

    fn exit(&mut self, name: Option<Node<'t>>) -> StmtKind {
        let name = name.map(|name| self.name(name));
        match (self.around.last(), name) {
            (Some(Around::Loop(_)), None) => StmtKind::Break,
            (Some(Around::Loop(Some(known))), Some(name)) if *known == name => StmtKind::Break,
            // Out of a `select` there is more to leave than that.
            (_, name) => StmtKind::Goto(name.or_else(|| self.innermost_loop()).unwrap_or_default()),
        }
    }

    /// The name of the innermost loop, which gets one that no program can write if it has none.
    fn innermost_loop(&mut self) -> Option<String> {
        let count = self.unit.loop_names.len();
        let depth = self.around.len();
        self.around.iter_mut().rev().find_map(|around| match around {
            Around::Loop(name) => {
                Some(name.get_or_insert_with(|| format!("{UNNAMED} {count} {depth}")).clone())
            }
            Around::Switch => None,
        })
    }

    fn cycle(&mut self, name: Option<Node<'t>>) -> StmtKind {
        let name = name.map(|name| self.name(name));
        let inner = self.around.iter().rev().find_map(|around| match around {
            Around::Loop(known) => Some(known),
            Around::Switch => None,
        });
        match (inner, name) {
            (_, None) => StmtKind::Continue,
            (Some(Some(known)), Some(name)) if *known == name => StmtKind::Continue,
            (_, Some(name)) => StmtKind::Goto(format!("cycle {name}")),
        }
    }

    /// `goto 10`, or with several labels and a value.
    fn goto(&mut self, rest: &[Node<'t>], whole: Span) -> StmtKind {
        let is_label = |part: &&Node| part.word() == "statement_label_reference";
        let labels: Vec<Node> = rest.iter().filter(is_label).copied().collect();
        let value = rest.iter().find(|part| part.is_named() && !is_label(part));
        let (Some(value), Some(first)) = (value, labels.first()) else {
            let label = labels.first().map(|label| self.label(*label));
            return StmtKind::Goto(label.unwrap_or_default());
        };
        let cond = self.expr(*value);
        let to = self.label(*first);
        let first = self.jump_if(cond, whole, to);
        let others = labels.iter().skip(1).map(|label| (span(*label), self.label(*label))).collect();
        self.with_jumps(first, others)
    }

    /// `if (x) 10, 20, 30`
    fn arithmetic_if(&mut self, node: Node<'t>, whole: Span) -> StmtKind {
        let [value, first, second, third] = self.named(node)[..] else {
            return StmtKind::Goto(String::new());
        };
        let cond = self.expr(value);
        let [first, second, third] =
            [first, second, third].map(|to| self.push_stmt(span(to), StmtKind::Goto(self.label(to))));
        let either = self.push_expr(Span::at(whole.end as usize), ExprKind::Literal);
        let rest = StmtKind::If { cond: either, then: second, other: Some(third) };
        let place = self.unit.stmt(second).span.to(self.unit.stmt(third).span);
        let other = self.push_stmt(place, rest);
        StmtKind::If { cond, then: first, other: Some(other) }
    }
}

/// Whether the node is a branch of the preprocessor.
pub(super) fn is_conditional(kind: &str) -> bool {
    matches!(kind, "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef")
}
