//! Loops: `do` in its kinds, and `forall`.
//!
//! Invariant: a loop's span ends with its `end do` or with the statement that its label names.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::{Around, Reader, Terminal, Word, span};

/// The parts of a `For` or `While` statement's header.
enum Header {
    /// Counted: first part, condition, last part.
    Counted(StmtId, ExprId, ExprId),
    While(ExprId),
    Concurrent(Concurrent),
}

impl<'t> Reader<'_, 't> {
    pub(super) fn do_loop(&mut self, node: Node<'t>, whole: Span) -> StmtId {
        let parts = self.named(node);
        let (mut name, mut head, mut end) = (None, None, None);
        let mut body = Vec::new();
        for part in &parts {
            match part.word() {
                "block_label_start_expression" => {
                    name = self.children(*part).first().map(|label| self.name(*label));
                }
                "do_statement" => head = Some(*part),
                "end_do_loop_statement" | "end_do_label_loop_statement" => end = Some(*part),
                _ => body.push(*part),
            }
        }
        let Some(head) = head else {
            let list = self.list(&body);
            return self.push_stmt(whole, StmtKind::Block(list));
        };
        let outer = self.terminal;
        let shares = self.own_terminal(end, &body);
        let last = self.terminal.map(|terminal| terminal.end).filter(|_| is_labelled_end(end));
        let whole = Span::new(whole.start as usize, last.unwrap_or(whole.end as usize));
        let mut header = self.header(head);
        if let Header::Concurrent(concurrent) = &mut header {
            concurrent.header = Span { start: whole.start, end: self.trimmed(head).end };
        }
        self.around.push(Around::Loop(name));
        let mut list = self.list(&body);
        if is_labelled_end(end) && !shares {
            list.extend(self.terminal_stmts());
        }
        let name = match self.around.pop() {
            Some(Around::Loop(name)) => name,
            _ => None,
        };
        self.terminal = outer;
        let body = self.block_of(list, self.trimmed(head).end as usize);
        let stmt = self.loop_of(whole, header, body);
        self.unit.loop_names.extend(name.map(|name| (stmt, name)));
        stmt
    }

    /// Sets the statement that ends this loop, if it is not the one of the loop around, too. Whether a loop inside ends with it.
    fn own_terminal(&mut self, end: Option<Node<'t>>, body: &[Node<'t>]) -> bool {
        let Some(end) = end.filter(|_| is_labelled_end(end)) else { return false };
        let parts = self.named(end);
        let inner = body.last().filter(|last| last.word() == "do_loop").copied();
        let virtual_end = inner.and_then(|inner| self.virtual_label(inner));
        if parts.first().is_none_or(|label| label.word() != "do_label_virtual") {
            let stmt = parts.get(1).filter(|stmt| stmt.word() != "block_label").copied();
            let own = parts.first().map_or(Span::at(end.start_byte()), |label| span(*label));
            self.terminal = Some(Terminal {
                label: virtual_end.unwrap_or(own),
                stmt,
                end: self.trimmed(end).end as usize,
            });
        }
        virtual_end.is_some()
    }

    /// The label that a loop inside has taken from the statement that ends it and the loop around.
    fn virtual_label(&mut self, node: Node<'t>) -> Option<Span> {
        let end = self.named(node).pop().filter(|end| end.word() == "end_do_label_loop_statement")?;
        let label = self.named(end).into_iter().next()?;
        (label.word() == "do_label_virtual").then(|| span(label))
    }

    /// The statement that ends a labelled loop, as the last one of the innermost loop's body; `continue` does nothing there. In
    /// code with errors the statement can be a loop, which must not end with itself: it is read without one that ends it.
    fn terminal_stmts(&mut self) -> Option<StmtId> {
        let terminal = self.terminal.take()?;
        let label = self.label_of(&self.file.text(terminal.label));
        let is_target = self.is_target(&label);
        let Some(node) = terminal.stmt else { return self.lone_label(terminal.label) };
        let stmt = self.stmt(node, node.start_byte());
        let is_empty = matches!(self.unit.stmt(stmt).kind, StmtKind::Empty);
        if !is_target {
            return (!is_empty).then_some(stmt);
        }
        let whole = terminal.label.to(self.unit.stmt(stmt).span);
        Some(self.push_stmt(whole, StmtKind::Labeled { label: Some(label), stmt: Some(stmt) }))
    }

    fn header(&mut self, head: Node<'t>) -> Header {
        for part in self.named(head) {
            match part.word() {
                "loop_control_expression" => {
                    if let [name, first, last, ref step @ ..] = self.named(part)[..] {
                        return self.counted(name, first, last, step.first().copied());
                    }
                }
                "while_statement" => {
                    if let Some(cond) = self.named(part).first() {
                        return Header::While(self.expr(*cond));
                    }
                }
                "concurrent_statement" => return Header::Concurrent(self.concurrent(part)),
                _ => {}
            }
        }
        Header::While(self.push_expr(Span::at(head.end_byte().min(self.shadow.len())), ExprKind::Int(1)))
    }

    fn counted(&mut self, name: Node<'t>, first: Node<'t>, last: Node<'t>, step: Option<Node<'t>>) -> Header {
        let start = span(name).to(span(first));
        let (var, first) = (self.expr(name), self.expr(first));
        let assign = self.push_expr(start, ExprKind::Assign(None, var, first));
        let init = self.push_stmt(start, StmtKind::Expr(assign));
        let (var, bound) = (self.expr(name), self.expr(last));
        let step = step.map(|step| self.expr(step));
        let down = step.and_then(|step| match self.unit.expr(step).kind {
            ExprKind::Unary(UnaryOp::Minus, size) => {
                matches!(self.unit.expr(size).kind, ExprKind::Int(_)).then_some(size)
            }
            _ => None,
        });
        let compare = if down.is_some() { BinaryOp::GreaterEqual } else { BinaryOp::LessEqual };
        let cond = self.push_expr(span(last), ExprKind::Binary(compare, var, bound));
        let var = self.expr(name);
        let (place, kind) = match (down, step) {
            (Some(size), Some(step)) => {
                (self.unit.expr(step).span, ExprKind::Assign(Some(BinaryOp::Subtract), var, size))
            }
            (_, Some(step)) => (self.unit.expr(step).span, ExprKind::Assign(Some(BinaryOp::Add), var, step)),
            (_, None) => (span(name), ExprKind::Step { up: true, operand: var, postfix: true }),
        };
        let step = self.push_expr(place, kind);
        Header::Counted(init, cond, step)
    }

    fn concurrent(&mut self, node: Node<'t>) -> Concurrent {
        let mut found = Concurrent {
            stmt: StmtId(0),
            indices: Vec::new(),
            mask: None,
            local: Vec::new(),
            local_init: Vec::new(),
            shared: Vec::new(),
            reduce: Vec::new(),
            header: Span::at(node.start_byte()),
            nested: None,
        };
        for part in self.named(node) {
            if part.word() == "concurrent_locality" {
                self.locality(part, &mut found);
                continue;
            }
            for inside in self.named(part) {
                match (inside.word(), &self.named(inside)[..]) {
                    ("concurrent_control", [name, first, last, step @ ..]) => {
                        let index = ConcurrentIndex {
                            name: self.name(*name),
                            span: span(*name),
                            first: self.expr(*first),
                            last: self.expr(*last),
                            step: step.first().map(|step| self.expr(*step)),
                        };
                        found.indices.push(index);
                    }
                    ("concurrent_mask", _) => found.mask = Some(self.expr(inside)),
                    _ => {}
                }
            }
        }
        found
    }

    fn locality(&mut self, node: Node<'t>, found: &mut Concurrent) {
        let children = self.children(node);
        let word = children.first().map_or("", |word| word.word());
        let names = children.iter().filter(|child| child.word() == "identifier");
        let names: Vec<String> = names.map(|child| self.name(*child)).collect();
        match word {
            "local" => found.local.extend(names),
            "local_init" => found.local_init.extend(names),
            "shared" => found.shared.extend(names),
            "reduce" => {
                let op = children.iter().find(|child| child.word() == "binary_op");
                let op = op.map(|op| self.name(*op)).unwrap_or_default();
                found.reduce.extend(names.into_iter().map(|name| (op.clone(), name)));
            }
            _ => {}
        }
    }

    fn loop_of(&mut self, whole: Span, header: Header, body: StmtId) -> StmtId {
        match header {
            Header::Counted(init, cond, step) => {
                let kind = StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body };
                self.push_stmt(whole, kind)
            }
            Header::While(cond) => self.push_stmt(whole, StmtKind::While { cond, body }),
            Header::Concurrent(concurrent) => {
                let mut reads: Vec<ExprId> = Vec::new();
                for index in &concurrent.indices {
                    reads.extend([Some(index.first), Some(index.last), index.step].into_iter().flatten());
                }
                reads.extend(concurrent.mask);
                let cond = self.push_expr(Span::at(whole.start as usize), ExprKind::Initialiser(reads));
                let kind = StmtKind::For { init: None, cond: Some(cond), step: None, body };
                let stmt = self.push_stmt(whole, kind);
                self.unit.concurrent.push(Concurrent { stmt, ..concurrent });
                stmt
            }
        }
    }

    /// `forall (i=1:n, j=1:m, mask) …`: a loop for each index, and an `if` for the mask.
    pub(super) fn forall(&mut self, node: Node<'t>, whole: Span) -> StmtId {
        let (mut headers, mut mask, mut body) = (Vec::new(), None, Vec::new());
        let mut is_head = true;
        for part in self.children(node) {
            match part.word() {
                "triplet_spec" => {
                    if let [name, first, last, ref step @ ..] = self.named(part)[..] {
                        headers.push((part, self.counted(name, first, last, step.first().copied())));
                    }
                }
                ")" => is_head = false,
                "end_forall_statement" | "block_label_start_expression" => {}
                _ if part.is_named() && is_head => mask = Some(self.expr(part)),
                _ if part.is_named() => body.push(part),
                _ => {}
            }
        }
        let mut inner = self.block(&body, whole.end as usize);
        if let Some(cond) = mask {
            let code = self.unit.expr(cond).span.to(self.unit.stmt(inner).span);
            inner = self.push_stmt(code, StmtKind::If { cond, then: inner, other: None });
        }
        for (place, (part, header)) in headers.into_iter().enumerate().rev() {
            let code = if place == 0 { whole } else { Span { start: part.start_byte() as u32, ..whole } };
            inner = self.loop_of(code, header, inner);
            self.unit.forall.push(inner);
        }
        inner
    }
}

fn is_labelled_end(end: Option<Node>) -> bool {
    end.is_some_and(|end| end.word() == "end_do_label_loop_statement")
}
