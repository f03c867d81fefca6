//! Directives: what the parser makes of right and wrong ones.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

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
        assert_eq!(wrong(&format!("update self({item})")), [format!("A0003 {item}: expected a variable")]);
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
    let [PathStep::Member(member), PathStep::Section(section)] = list[1].parts.as_slice() else { panic!() };
    assert_eq!(text(member.span), "p");
    let [Subscript::Range { first: None, second: Some(length), stride: None }] = section.as_slice() else {
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
    let Argument::Wait(wait) = good("wait(devnum: d ? 1 : 2: queues: 1, q) async").argument else { panic!() };
    assert_eq!(wait.devnum.unwrap().text, "d ? 1 : 2");
    assert_eq!(wait.queues.len(), 2);
    let Argument::List { readonly: true, list } = good("cache(readonly: a[i:4])").argument else { panic!() };
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
    good("parallel num_gangs(N) async(f(a, b)) copy(a[c ? 0 : 1:n], this, p->q[0:(n)], b[:]) reduction(-:s)");
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
    assert_eq!(near("parallel colapse(2) pcpy(a)"), ["did you mean `collapse`?", "did you mean `pcopy`?"]);
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
    assert_eq!(only("wait(-)"), "A0003 -: expected an operand after the operator");
    assert_eq!(only("parallel vector_length(n +)"), "A0003 +: expected an operand after the operator");
    assert_eq!(only("parallel async(* 2) if(/ n)"), "A0003 /: expected an operand before the operator");
    assert_eq!(only("data copy(a[0:n *])"), "A0003 *: expected an operand after the operator");
    assert_eq!(only("wait(a \0 b)"), "A0003 \0: expected letters and marks");
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
    assert_eq!(
        checked("parallel private(a, b) firstprivate(b)"),
        ["A0005 b: `private(b)` cannot stand beside `firstprivate(b)`"]
    );
    assert_eq!(checked("parallel loop private(b) firstprivate(b)"), [""; 0]);
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
