//! Constructs that choose or only enclose: `if`, `where`, `select`, `associate`, `block`.
//!
//! Invariant: chains of `else if` are read in a loop, without recursion, however long.

use tree_sitter::Node;

use crate::source::Span;

use super::super::ir::*;
use super::decl::Frame;
use super::spec::is_specification;
use super::{Around, Reader, Word, span};

/// A branch of an `if` or `where`.
struct Branch<'t> {
    start: usize,
    /// `None` for `else`.
    cond: Option<Node<'t>>,
    body: Vec<Node<'t>>,
    /// Where its body begins.
    place: usize,
    /// An `end` follows it.
    is_ended: bool,
}

impl<'t> Reader<'_, 't> {
    /// `if` and `where`, as a statement or a construct.
    pub(super) fn if_stmt(&mut self, node: Node<'t>, whole: Span) -> StmtId {
        let mut branches = Vec::new();
        let mut first = self.branch_of(node);
        let clauses: Vec<Node> = first.body.extract_if(.., |part| is_clause(*part)).collect();
        // In the tree, a label before `end if` comes after all branches.
        let lone = first.body.pop_if(|last| last.word() == "statement_label");
        let is_block = first.is_ended;
        branches.push(first);
        for clause in clauses {
            let branch = self.branch_of(clause);
            branches.push(branch);
        }
        let end = branches.last().map_or(whole.end as usize, |last| {
            last.body.last().map_or(last.place, |stmt| self.trimmed(*stmt).end as usize)
        });
        let mut other = None;
        let mut bodies = Vec::new();
        for branch in &branches {
            let body = match branch.body.as_slice() {
                [only] if !is_block => self.stmt(*only, only.start_byte()),
                body => self.block(body, branch.place),
            };
            bodies.push(body);
        }
        for (place, (branch, body)) in branches.iter().zip(bodies).enumerate().rev() {
            let Some(cond) = branch.cond else {
                other = Some(body);
                continue;
            };
            let cond = self.expr(cond);
            let code = if place == 0 { whole } else { Span::new(branch.start, end.max(branch.place)) };
            other = Some(self.push_stmt(code, StmtKind::If { cond, then: body, other }));
        }
        let chosen = other.unwrap_or_else(|| self.push_stmt(whole, StmtKind::Opaque(Vec::new())));
        match lone.and_then(|lone| self.lone_label(span(lone))) {
            Some(label) => self.push_stmt(whole, StmtKind::Block(vec![chosen, label])),
            None => chosen,
        }
    }

    fn branch_of(&mut self, node: Node<'t>) -> Branch<'t> {
        let start = node.start_byte();
        let mut branch = Branch { start, cond: None, body: Vec::new(), place: start, is_ended: false };
        for part in self.children(node) {
            match part.word() {
                "parenthesized_expression" if branch.cond.is_none() && branch.body.is_empty() => {
                    branch.cond = Some(part);
                    branch.place = part.end_byte();
                }
                "end_if_statement" | "end_where_statement" => branch.is_ended = true,
                "block_label" | "block_label_start_expression" => {}
                _ if part.is_named() => branch.body.push(part),
                ";" => {}
                _ => branch.place = branch.place.max(part.end_byte()),
            }
        }
        branch
    }

    /// `select case`, `select type`, `select rank`
    pub(super) fn select(&mut self, node: Node<'t>, whole: Span) -> StmtKind {
        let (mut selector, mut name, mut alias, mut cases) = (None, None, None, Vec::new());
        let mut end = whole.end as usize;
        for part in self.named(node) {
            match part.word() {
                "selector" => match self.named(part).first() {
                    Some(pair) if pair.word() == "pointer_association_statement" => {
                        let parts = self.named(*pair);
                        (name, selector) = (parts.first().copied(), parts.get(1).copied());
                        alias = self.alias_of(*pair, &parts);
                    }
                    value => {
                        selector = value.copied();
                        name = selector.filter(|value| value.word() == "identifier");
                    }
                },
                "case_statement" | "type_statement" | "rank_statement" => cases.push(part),
                "end_select_statement" => end = part.start_byte(),
                _ => {}
            }
        }
        let cond = match alias.and(name).or(selector) {
            Some(cond) => self.expr(cond),
            None => self.push_expr(Span::at(whole.start as usize), ExprKind::Literal),
        };
        self.around.push(Around::Switch);
        let mut list = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            let end = cases.get(at + 1).map_or(end, |next| next.start_byte());
            list.push(self.case(*case, end, name.zip(selector)));
        }
        self.around.pop();
        let body = self.block_of(list, whole.end as usize);
        let switch = StmtKind::Switch { cond, body };
        match alias {
            Some(alias) => {
                let switch = self.push_stmt(whole, switch);
                StmtKind::Block(vec![alias, switch])
            }
            None => switch,
        }
    }

    /// A branch of a `select` that ends before `end`; in one of `select type`, the name is one of the branch's type.
    fn case(&mut self, case: Node<'t>, end: usize, selected: Option<(Node<'t>, Node<'t>)>) -> StmtId {
        let inside = self.named(case);
        let is_stmt = |part: &&Node| !is_case_head(part.word());
        let body: Vec<Node> = inside.iter().filter(is_stmt).copied().collect();
        let code = self.trimmed(case);
        let place = body.first().map_or(code.end as usize, |first| first.start_byte());
        let is_type = case.word() == "type_statement";
        let typed = case.child_by_field_name("type").filter(|_| is_type).zip(selected);
        let (code, block) = match typed {
            Some((base, (name, selector))) => {
                // It holds the directives after its last statement, too.
                let whole = Span::new(case.start_byte(), end.min(self.shadow.len()));
                let narrowed = self.narrowed(base, name, selector);
                let list = std::iter::once(narrowed).chain(self.list(&body)).collect();
                (whole, self.push_stmt(whole, StmtKind::Block(list)))
            }
            None => (code, self.block(&body, place)),
        };
        let label = self.push_stmt(code, StmtKind::Labeled { label: None, stmt: Some(block) });
        self.unit.defaults.extend(inside.iter().any(|part| part.word() == "default").then_some(label));
        for list in inside.iter().filter(|part| part.word() == "case_value_range_list") {
            let values = self.named(*list);
            let values = self.exprs(values);
            self.unit.cases.push((label, values));
        }
        label
    }

    /// The name of a `select type`, as one of the type of a branch.
    fn narrowed(&mut self, base: Node<'t>, name: Node<'t>, selector: Node<'t>) -> StmtId {
        let base_type = match base.word() {
            "intrinsic_type" => self.type_of(base),
            _ => BaseType::Tagged(self.name(base)),
        };
        let init = self.expr(selector);
        self.frames.push(Frame { is_local: true, ..Frame::default() });
        let id = self.entity(name, span(base));
        self.frames.pop();
        let decl = self.decl(id);
        (decl.base, decl.derived, decl.init) = (base_type, vec![Derived::Reference], Some(init));
        self.push_stmt(span(base), StmtKind::Decl(vec![id]))
    }

    /// `name => selector`: another name, or the name of a value.
    fn alias_of(&mut self, node: Node<'t>, parts: &[Node<'t>]) -> Option<StmtId> {
        let [name, selector] = parts else { return None };
        let init = self.expr(*selector);
        let is_value = selector.kind() == "parenthesized_expression";
        let is_object = matches!(
            self.unit.expr(init).kind,
            ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Index(..) | ExprKind::Call { .. }
        ) && !is_value;
        self.frames.push(Frame { is_local: true, ..Frame::default() });
        let id = self.entity(*name, span(node));
        self.frames.pop();
        let decl = self.decl(id);
        decl.derived = vec![Derived::Reference];
        decl.init = Some(init);
        decl.is_const = !is_object;
        Some(self.push_stmt(span(node), StmtKind::Decl(vec![id])))
    }

    pub(super) fn associate(&mut self, node: Node<'t>) -> StmtKind {
        let mut list = Vec::new();
        let mut body = Vec::new();
        for part in self.named(node) {
            match part.word() {
                "association_list" => {
                    for association in self.named(part) {
                        let parts = self.named(association);
                        list.extend(self.alias_of(association, &parts));
                    }
                }
                "end_associate_statement" => {}
                _ => body.push(part),
            }
        }
        list.extend(self.list(&body));
        StmtKind::Block(list)
    }

    pub(super) fn block_construct(&mut self, node: Node<'t>) -> StmtKind {
        self.frames.push(Frame { is_local: true, ..Frame::default() });
        let (mut body, mut place) = (Vec::new(), None::<Span>);
        for part in self.named(node) {
            if is_specification(part.word()) {
                self.specification(part);
                place = Some(place.map_or(self.trimmed(part), |place| place.to(self.trimmed(part))));
            } else if part.word() != "end_block_construct_statement" {
                body.push(part);
            }
        }
        let decls = self.close_frame();
        let mut list = Vec::new();
        if let Some(place) = place {
            list.push(self.push_stmt(place, StmtKind::Decl(decls)));
        }
        list.extend(self.list(&body));
        StmtKind::Block(list)
    }

    /// Statements that the preprocessor may leave out.
    pub(super) fn conditional(&mut self, node: Node<'t>) -> StmtKind {
        let mut body = self.named(node);
        if node.word() != "preproc_else" && !body.is_empty() {
            body.remove(0);
        }
        let cond = self.push_expr(Span::at(node.start_byte()), ExprKind::Literal);
        let then = self.block(&body, node.start_byte());
        StmtKind::If { cond, then, other: None }
    }

    /// `critical` and `change team`
    pub(super) fn coarray_block(&mut self, node: Node<'t>) -> StmtKind {
        let mut body = self.named(node);
        body.retain(|part| !part.word().starts_with("end_coarray_") && part.word() != "argument_list");
        StmtKind::Block(self.list(&body))
    }
}

fn is_clause(node: Node) -> bool {
    matches!(node.word(), "elseif_clause" | "else_clause" | "elsewhere_clause")
}

fn is_case_head(kind: &str) -> bool {
    matches!(
        kind,
        "case_value_range_list"
            | "default"
            | "block_label"
            | "intrinsic_type"
            | "assumed_size"
            | "identifier"
    )
}
