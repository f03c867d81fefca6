//! Every message, one constructor a code.
//!
//! Invariant: a message starts in lower case, has no full stop, and says what; the help says what to do; `rules/diag/` says why.

use super::{Code, Diag, Label, Severity};
use crate::source::Span;

fn diag(code: u16, severity: Severity, at: Span, message: String, label: &str, help: &str) -> Diag {
    let primary = Label { span: at, text: label.to_owned() };
    Diag {
        code: Code(code),
        severity,
        message,
        primary,
        others: Vec::new(),
        help: help.to_owned(),
        follows: false,
    }
}

/// A0001
pub fn unknown_directive(at: Span, word: &str, nearest: Option<&str>) -> Diag {
    let mut made =
        diag(1, Severity::Left, at, format!("`{word}` is not an OpenACC directive"), "not known", "");
    made.help = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "acc2omp knows OpenACC 3.3".to_owned(),
    };
    made
}

/// The code of `unknown_clause`.
pub const UNKNOWN_CLAUSE: Code = Code(2);

/// A0002
pub fn unknown_clause(at: Span, word: &str, nearest: Option<&str>) -> Diag {
    let mut made = diag(2, Severity::Left, at, format!("`{word}` is not an OpenACC clause"), "not known", "");
    made.help = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "acc2omp knows OpenACC 3.3".to_owned(),
    };
    made
}

/// A0003
pub fn malformed(at: Span, expected: &str) -> Diag {
    diag(3, Severity::Left, at, format!("expected {expected}"), "here", "correct the directive, or remove it")
}

/// A0004
pub fn clause_not_allowed(at: Span, clause: &str, directive: &str) -> Diag {
    diag(
        4,
        Severity::Left,
        at,
        format!("`{clause}` is not allowed on `{directive}`"),
        "not allowed here",
        "remove the clause",
    )
}

/// A0005
pub fn clause_conflict(at: Span, clause: &str, other: &str) -> Diag {
    diag(
        5,
        Severity::Left,
        at,
        format!("`{clause}` cannot stand beside `{other}`"),
        "conflicts",
        "keep one of the two",
    )
}

/// A0006
pub fn clause_missing(at: Span, directive: &str, needed: &str) -> Diag {
    diag(6, Severity::Left, at, format!("`{directive}` needs {needed}"), "incomplete", "add what is missing")
}

/// A0007
pub fn not_before_loop(at: Span, directive: &str) -> Diag {
    diag(
        7,
        Severity::Left,
        at,
        format!("`{directive}` must stand before a loop"),
        "no loop follows",
        "move the directive to the loop",
    )
}

/// A0008
pub fn not_before_statement(at: Span, directive: &str) -> Diag {
    diag(
        8,
        Severity::Left,
        at,
        format!("no statement follows `{directive}`"),
        "governs nothing",
        "move the directive before the code it is meant for",
    )
}

/// The code of `not_before_loop`.
pub const NOT_BEFORE_LOOP: Code = Code(7);

/// The code of `not_before_statement`.
pub const NOT_BEFORE_STATEMENT: Code = Code(8);

/// The code of `not_understood`.
pub const UNREAD: Code = Code(9);

/// The code of `branches_differ`.
pub const BRANCHES_DIFFER: Code = Code(250);

/// A0009
pub fn not_understood(at: Span) -> Diag {
    diag(
        9,
        Severity::Left,
        at,
        "the code that this directive governs could not be read".to_owned(),
        "governs code with a syntax error",
        "if it is a macro, say with `-D` or `-I` what it stands for, or write the code out; else report the file as a bug",
    )
}

/// A0010. A condition in place of a name splits the directive.
pub fn in_macro(at: Span, name: &str) -> Diag {
    let [message, label, help] = match name.starts_with('#') {
        true => [
            "a directive whose lines the preprocessor chooses is not translated",
            "split by `#if`",
            "say with `-D` or `-U` which branch is built, or write the whole directive in each branch",
        ],
        false => [
            &format!("a directive that the macro `{name}` stands for is not translated"),
            "in a macro",
            "write the directive out where the macro is used",
        ],
    };
    diag(10, Severity::Left, at, message.to_owned(), label, help)
}

/// A0011
pub fn not_canonical(at: Span, why: &str) -> Diag {
    diag(
        11,
        Severity::Weaker,
        at,
        format!("the loop runs on one thread: {why}"),
        "not a canonical loop",
        "let it count with a fixed step, and let nothing leave it early, to have it run in parallel",
    )
}

/// A0012
pub fn macro_uses_differ(at: Span, name: &str, uses: [Span; 2]) -> Diag {
    let made = diag(
        12,
        Severity::Left,
        at,
        format!("the uses of the macro `{name}` need different translations"),
        "one text for all uses",
        "write the directive out where it is needed in another way",
    );
    let [one, other] = uses;
    made.with(one, "one use").with(other, "another use")
}

/// A0013
pub fn macro_definitions_differ(at: Span, name: &str) -> Diag {
    diag(
        13,
        Severity::Left,
        at,
        format!("with this definition of `{name}` other lines of the file would need another translation"),
        "another definition is translated",
        "write the directives out under the condition",
    )
}

/// A0014
pub fn condition_in_directive(at: Span, line: &str) -> Diag {
    diag(
        14,
        Severity::Left,
        at,
        format!("`{line}` stands inside a continued directive, where the preprocessor does not see it"),
        "part of the directive's line",
        "write the whole directive once for each branch of the condition",
    )
}

/// A0015
pub fn clauses_in_macro(at: Span, name: &str) -> Diag {
    diag(
        15,
        Severity::Left,
        at,
        format!("it is not known which clauses the macro `{name}` stands for"),
        "no single definition before this line",
        "write the directive once for each definition of the macro, or say with `-D` or `-U` which one is built",
    )
}

/// A0016
pub fn end_alone(at: Span, directive: &str) -> Diag {
    diag(
        16,
        Severity::Left,
        at,
        format!("`{directive}` ends nothing"),
        "no directive before it in this procedure begins what it ends",
        "remove it, or write the directive that it ends",
    )
}

/// A0017
pub fn end_missing(at: Span, directive: &str) -> Diag {
    diag(
        17,
        Severity::Left,
        at,
        format!("`{directive}` has no end"),
        "begins a region that nothing ends",
        "write its `end` directive after the last statement of the region",
    )
}

/// A0018
pub fn region_not_whole(at: Span, end: Span) -> Diag {
    let said = diag(
        18,
        Severity::Left,
        at,
        "the region ends in another block than it begins".to_owned(),
        "begins here",
        "move the directive or its end, so that both stand in the same block",
    );
    said.with(end, "ends here")
}

/// A0019
pub fn end_of_other_form(at: Span, own: &str) -> Diag {
    diag(
        19,
        Severity::Info,
        at,
        format!("this is taken for `{own}`"),
        "not the name that the construct begins with",
        "nothing to do: compilers take it for the same",
    )
}

/// A0020
pub fn no_data(at: Span, directive: &str) -> Diag {
    diag(
        20,
        Severity::Info,
        at,
        format!("`{directive}` names no data: it does nothing, and goes"),
        "without data",
        "nothing to do, unless a clause was forgotten",
    )
}

/// A0021
pub fn ends_before_jumps(at: Span, word: &str) -> Diag {
    diag(
        21,
        Severity::Info,
        at,
        format!("`{word}` leaves the region of data: the region ends before it"),
        "a jump leaves it",
        "nothing to do; OpenACC wants the region to end at its own end only",
    )
}

/// A0022
pub fn other_preprocessor(at: Span) -> Diag {
    diag(
        22,
        Severity::Left,
        at,
        "this file is for Fypp, which writes the Fortran that compilers read".to_owned(),
        "a line of Fypp's",
        "run `fypp` first, and translate the files that it writes",
    )
}

/// A0023
pub fn within_statement(at: Span, directive: &str) -> Diag {
    diag(
        23,
        Severity::Left,
        at,
        format!("`{directive}` stands within a statement"),
        "between the lines of a statement",
        "move the directive before the statement or after it",
    )
}

/// A0030
pub fn left_as_asked(at: Span) -> Diag {
    diag(
        30,
        Severity::Left,
        at,
        "the directive stays as it is: a comment or `acc2omp.toml` asks for it".to_owned(),
        "untranslated",
        "remove the comment `acc2omp: leave`, or the line of `acc2omp.toml`, to have it translated",
    )
}

/// A0031
pub fn in_order_as_asked(at: Span) -> Diag {
    diag(
        31,
        Severity::Info,
        at,
        "the loop runs in order: a comment or `acc2omp.toml` asks for it".to_owned(),
        "translated as with `seq`",
        "remove the comment `acc2omp: seq`, or the line of `acc2omp.toml`, to have it run in parallel",
    )
}

/// A0032
pub fn unknown_wish(at: Span, words: &str, nearest: Option<&str>) -> Diag {
    let mut made = diag(
        32,
        Severity::Differs,
        at,
        format!("a comment asks acc2omp for `{words}`, which it does not know"),
        "not known",
        "",
    );
    made.help = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "comments ask for `leave` or `seq`".to_owned(),
    };
    made
}

/// A0033
pub fn wish_without_directive(at: Span, words: &str) -> Diag {
    diag(
        33,
        Severity::Differs,
        at,
        format!("a comment asks acc2omp for `{words}`, and applies to no directive"),
        "it is about no directive, or about one without a loop",
        "write it alone on the line before the directive, with nothing between",
    )
}

/// A0201
pub fn present_unchecked(at: Span, clause: &str) -> Diag {
    diag(
        201,
        Severity::Weaker,
        at,
        format!("`{clause}` no longer stops the program when the data is absent"),
        "unchecked before OpenMP 5.1",
        "use `--omp 5.1` to keep the check",
    )
}

/// A0202
pub fn default_none_dropped(at: Span) -> Diag {
    diag(
        202,
        Severity::Weaker,
        at,
        "`default(none)` is dropped: the compiler no longer checks that every variable is listed".to_owned(),
        "check lost",
        "check with an OpenACC compiler before you translate",
    )
}

/// A0203
pub fn default_present_unchecked(at: Span) -> Diag {
    diag(
        203,
        Severity::Weaker,
        at,
        "`default(present)` no longer stops the program when an array is absent: it is copied instead"
            .to_owned(),
        "unchecked before OpenMP 5.1",
        "use `--omp 5.1` to keep the check",
    )
}

/// A0204
pub fn absent_unchecked(at: Span, directive: &str) -> Diag {
    let (label, help) = match directive {
        "host_data" => ("OpenMP does not check", "have a data construct or `enter data` map the data before"),
        "component" => {
            ("flang 22 cannot check it", "have a data construct or `enter data` map the data before")
        }
        _ => ("unchecked before OpenMP 5.1", "use `--omp 5.1` to keep the check"),
    };
    diag(204, Severity::Weaker, at, "data that is absent here is no longer an error".to_owned(), label, help)
}

/// A0205
pub fn synchronous(at: Span, clause: &str) -> Diag {
    diag(
        205,
        Severity::Weaker,
        at,
        format!("the host waits here, for `{clause}`"),
        "now synchronous",
        "results are the same; overlap of transfers and kernels is lost",
    )
}

/// The code of `hint_dropped`.
pub const HINT_DROPPED: Code = Code(206);

/// A0206
pub fn hint_dropped(at: Span, what: &str) -> Diag {
    diag(
        206,
        Severity::Info,
        at,
        format!("{what} is dropped: a hint that OpenMP has no word for"),
        "dropped",
        "nothing to do: results are the same",
    )
}

/// A0208
pub fn device_management_dropped(at: Span, directive: &str) -> Diag {
    // What is on the device stays there.
    let severity = if directive.contains("shutdown") { Severity::Differs } else { Severity::Weaker };
    diag(
        208,
        severity,
        at,
        format!("`{directive}` is dropped: OpenMP starts and stops devices by itself"),
        "dropped",
        "nothing to do, unless the program expects the memory of the device to be empty after it",
    )
}

/// A0209
pub fn other_device_dropped(at: Span) -> Diag {
    diag(
        209,
        Severity::Info,
        at,
        "clauses for other device types are dropped".to_owned(),
        "not the chosen device",
        "use `--device-type` to choose another",
    )
}

/// A0210
pub fn loop_sequential(at: Span, why: &str) -> Diag {
    diag(
        210,
        Severity::Info,
        at,
        format!("this loop runs inside one thread: {why}"),
        "one thread",
        "nothing to do: results are the same",
    )
}

/// A0211
pub fn kernels_sequential(at: Span) -> Diag {
    diag(
        211,
        Severity::Weaker,
        at,
        "no loop here is marked or proven independent: this code runs on one thread of the device".to_owned(),
        "sequential",
        "if its iterations are independent, say so with `loop independent` and translate again",
    )
}

/// The code of `loop_in_order`.
pub const LOOP_IN_ORDER: Code = Code(212);

/// A0212
pub fn loop_in_order(at: Span, why: &str, help: &str) -> Diag {
    diag(212, Severity::Weaker, at, format!("this loop is not proven parallel: {why}"), "in order", help)
}

/// A0213
pub fn routine_sequential(at: Span, level: &str) -> Diag {
    let message = match level {
        "gang" => "the loops of a `gang` routine run in the threads that call it, and each gang has its part of them".to_owned(),
        _ => format!("the loops of a `{level}` routine run in the thread that calls it"),
    };
    diag(213, Severity::Weaker, at, message, "parallelism lost", "inline the routine where speed matters")
}

/// A0214
pub fn tile_dropped(at: Span) -> Diag {
    diag(
        214,
        Severity::Weaker,
        at,
        "`tile` is dropped: the loops are not tiled".to_owned(),
        "not tiled",
        "results are the same; `--omp 5.1` keeps the tiles where the compiler knows them",
    )
}

/// A0215
pub fn one_counter(at: Span, name: &str) -> Diag {
    diag(
        215,
        Severity::Differs,
        at,
        format!("`{name}` is unmapped here even if an enclosing `data` region still holds it"),
        "OpenMP has one reference counter, OpenACC two",
        "move the `exit data` after the data region",
    )
}

/// A0216
pub fn read_before_write(at: Span, name: &str) -> Diag {
    diag(
        216,
        Severity::Differs,
        at,
        format!("each thread starts with its own copy of `{name}`, which is read before it is written"),
        "carried from one iteration to the next",
        "make the dependence explicit: `private`, `reduction` or `seq`",
    )
}

/// A0217
pub fn last_value_lost(at: Span, name: &str) -> Diag {
    diag(
        217,
        Severity::Differs,
        at,
        format!("the value that the parallel loop leaves in `{name}` is lost"),
        "assigned in a parallel loop, used afterwards",
        "compute the last value after the loop",
    )
}

/// A0218
pub fn pointer_must_be_present(at: Span, name: &str) -> Diag {
    diag(
        218,
        Severity::Differs,
        at,
        format!("`{name}` is a pointer without a data clause: its target must be on the device already"),
        "extent unknown",
        "add a data clause with a section, as in `copy(p[0:n])`",
    )
}

/// A0218 where the loops tell how much of its target a pointer is used for.
pub fn extent_inferred(at: Span, name: &str, clause: &str) -> Diag {
    diag(
        218,
        Severity::Differs,
        at,
        format!("`{name}` is a pointer without a data clause: `{clause}` is added, as the loops use it"),
        "extent found in the subscripts",
        "write the clause, or `present` if the data must be on the device already",
    )
}

/// A0220
pub fn gang_dims_merged(at: Span) -> Diag {
    diag(
        220,
        Severity::Differs,
        at,
        "OpenMP has one dimension of teams: the sizes of `num_gangs` are multiplied".to_owned(),
        "merged",
        "each iteration of a `gang` loop runs once: see that none is to run once for each gang of another dimension",
    )
}

/// A0221
pub fn attach_uncounted(at: Span, word: &str) -> Diag {
    diag(
        221,
        Severity::Differs,
        at,
        format!("`{word}` is not counted: the first detach undoes every attach"),
        "no attachment counter",
        "nothing to do, unless the pointer is attached more than once",
    )
}

/// A0222
pub fn cache_dropped(at: Span) -> Diag {
    diag(
        222,
        Severity::Info,
        at,
        "`cache` is dropped: OpenMP has no word for it".to_owned(),
        "dropped",
        "nothing to do: results are the same",
    )
}

/// A0230
pub fn queue_at_run_time(at: Span) -> Diag {
    diag(
        230,
        Severity::Differs,
        at,
        "the queue is chosen at run time: should it be `acc_async_sync`, the host does not wait here"
            .to_owned(),
        "always queued",
        "nothing to do if it is always the number of a queue",
    )
}

/// A0231
pub fn may_not_outlive(at: Span, name: &str) -> Diag {
    diag(
        231,
        Severity::Differs,
        at,
        format!(
            "`{name}` may go out of scope before the async queue completes: nothing waits for it in this function"
        ),
        "local to the function",
        "wait before the function ends, or give the variable a longer life",
    )
}

/// A0232
pub fn test_waits(at: Span, name: &str) -> Diag {
    diag(
        232,
        Severity::Weaker,
        at,
        format!("`{name}` blocks: OpenMP cannot ask whether work is done"),
        "blocks, then returns true",
        "results are the same; what the host could do meanwhile is not done",
    )
}

/// A0233
pub fn not_held(at: Span) -> Diag {
    diag(
        233,
        Severity::Differs,
        at,
        "`no_create` is dropped: the region does not keep the data on the device until it ends".to_owned(),
        "not kept",
        "see that nothing in the region takes the data off the device",
    )
}

/// A0241
pub fn length_not_kept(at: Span) -> Diag {
    diag(
        241,
        Severity::Differs,
        at,
        "the directive is about the whole variable, not about so many bytes of it".to_owned(),
        "not used",
        "if the length is not that of the variable, name the part: `a(1:n)`",
    )
}

/// A0242
pub fn array_not_elementwise(at: Span, reason: &str) -> Diag {
    diag(
        242,
        Severity::Weaker,
        at,
        format!("this array statement runs on one thread of the device: {reason}"),
        "the reason",
        "write the loops yourself, with `!$acc loop independent`, or move the statement out of the region",
    )
}

/// A0243
pub fn array_overlap(at: Span, name: &str) -> Diag {
    diag(
        243,
        Severity::Weaker,
        at,
        format!(
            "this array statement runs on one thread of the device: `{name}` is assigned and read at other elements"
        ),
        "other elements of the array that is assigned",
        "assign to another array first, and copy it in a second statement",
    )
}

/// A0244
pub fn array_alias(at: Span, one: &str, two: &str) -> Diag {
    diag(
        244,
        Severity::Weaker,
        at,
        format!(
            "this array statement runs on one thread of the device: `{one}` and `{two}` may be the same memory"
        ),
        "may be the memory that is assigned",
        "take `pointer` and `target` away if they are not, or write the loops with `!$acc loop independent`",
    )
}

/// A0270
pub fn output_on_device(at: Span, reason: &str) -> Diag {
    diag(
        270,
        Severity::Weaker,
        at,
        format!("this output stays on one thread of the device: {reason}"),
        "the reason",
        "print after the region, or end the region before it",
    )
}

/// A0271
pub fn unseen_call(at: Span, name: &str) -> Diag {
    diag(
        271,
        Severity::Weaker,
        at,
        format!(
            "`{name}` is called on one thread of the device: what it uses is not known, so the host does not call it"
        ),
        "must exist for the device",
        "say `routine` where it is declared, or end the region before the call",
    )
}

/// A0247
pub fn component_varies(at: Span, path: &str) -> Diag {
    diag(
        247,
        Severity::Left,
        at,
        format!(
            "the construct changes which object the component `{path}` belongs to: no single name stands for it"
        ),
        "the object changes in the construct",
        "name the component by a pointer or an `associate` block outside of the construct",
    )
}

/// A0248
pub fn variable_not_mapped(at: Span, item: &str) -> Diag {
    diag(
        248,
        Severity::Differs,
        at,
        format!("`{item}` itself is not put on the device; its components are named one by one"),
        "not mapped",
        "see that the clauses name each array component that the device uses",
    )
}

/// A0249
pub fn variable_on_device(at: Span, name: &str) -> Diag {
    diag(
        249,
        Severity::Left,
        at,
        format!("the device uses `{name}` itself, and its allocatable components do not go with it"),
        "used here",
        "use or pass the components one by one",
    )
}

/// A0255
pub fn scalar_not_brought(at: Span, name: &str) -> Diag {
    diag(
        255,
        Severity::Differs,
        at,
        format!("gfortran 12 does not copy `{name}` to a GPU: `associate` names it, and it is not an array"),
        "stands for a place on the host",
        "use the variable itself, or a local one that has its value",
    )
}

/// A0256
pub fn scalar_not_kept(at: Span, name: &str) -> Diag {
    diag(
        256,
        Severity::Differs,
        at,
        format!(
            "`{name}` is not kept on the device: its value goes there with each construct, and comes back from it"
        ),
        "not mapped",
        "see that the host does not change it where the device should not see that",
    )
}

/// A0257
pub fn statement_function(at: Span, name: &str, variable: &str) -> Diag {
    diag(
        257,
        Severity::Differs,
        at,
        format!("the statement function `{name}` uses `{variable}`, which is another one on the device"),
        "called here",
        "make it a function of its own that gets all it uses by its arguments",
    )
}

/// A0258
pub fn first_element_only(at: Span) -> Diag {
    diag(
        258,
        Severity::Differs,
        at,
        "only the first element is looked for: a part that is absent is not noticed".to_owned(),
        "asks for one address",
        "see that the whole array goes to the device at once",
    )
}

/// The code that another build reads.
#[derive(Clone, Debug)]
pub enum OtherCode {
    /// A branch of the same file.
    Branch(Span),
    /// Branches of other files: their places, for people.
    Files(String),
}

impl From<Span> for OtherCode {
    fn from(branch: Span) -> Self {
        OtherCode::Branch(branch)
    }
}

/// A0250
pub fn branches_differ(at: Span, other: impl Into<OtherCode>) -> Diag {
    let made = |message: &str, help: &str| {
        diag(250, Severity::Differs, at, message.to_owned(), "translated for one branch", help)
    };
    match other.into() {
        OtherCode::Branch(branch) => made(
            "the code of another branch of `#if` would need another translation of this directive",
            "say with `-D` what the build defines, or write the directive once in each branch",
        )
        .with(branch, "the other branch"),
        OtherCode::Files(places) => made(
            &format!(
                "the code of another branch of `#if` in other files ({places}) would need another translation here"
            ),
            "say with `-D` what the build defines",
        ),
    }
}

/// A0234
pub fn queued_data(at: Span) -> Diag {
    diag(
        234,
        Severity::Differs,
        at,
        "the data is present when its queue gets here, and nothing in this function waits for it".to_owned(),
        "present later than in OpenACC",
        "wait before another function, or another queue, uses the data",
    )
}

/// A0235
pub fn pointer_moves(at: Span, name: &str) -> Diag {
    diag(
        235,
        Severity::Differs,
        at,
        format!("the device's copy of `{name}` keeps its old target until the end of the data region"),
        "gets another target here",
        "end the region before, or give the compute constructs the targets by other names",
    )
}

/// A0282
pub fn pointer_with_gaps(used: Span, name: &str, at: Span) -> Diag {
    let made = diag(
        282,
        Severity::Differs,
        used,
        format!(
            "the elements of `{name}` do not stand side by side: compilers copy other memory, or more, for it"
        ),
        "is on the device here",
        "name its target in a data clause, and the pointer in none, or copy the elements to an array of their own",
    );
    made.with(at, "points to every second element, a row, or the like")
}

/// A0283
pub fn type_not_declared(at: Span, name: &str) -> Diag {
    diag(
        283,
        Severity::Differs,
        at,
        format!(
            "no file at hand declares the type of `{name}`: it is translated as one without allocatable components"
        ),
        "its type is not known",
        "translate the file with the file that declares the type, or that includes this one",
    )
}

/// A0236
pub fn descriptor_left(at: Span) -> Diag {
    diag(
        236,
        Severity::Differs,
        at,
        "with gfortran 12, this leaves the description of a component on the device, and a later one may meet it".to_owned(),
        "named by `associate`",
        "for gfortran, put the data into a `data` region; flang has no such limit",
    )
}

/// A0240
pub fn one_gang(at: Span, name: &str, shows: bool) -> Diag {
    let severity = if shows { Severity::Differs } else { Severity::Weaker };
    diag(
        240,
        severity,
        at,
        format!("the region runs in one gang: per-gang partial results of `{name}` cannot be combined"),
        "reduced here",
        "give the variable its value before the region",
    )
}

/// A0287
pub fn implicit_gang(at: Span) -> Diag {
    diag(
        287,
        Severity::Differs,
        at,
        "the gangs divide the iterations of this loop, as OpenACC 3.1 and later say: before, each gang ran all of them"
            .to_owned(),
        "has no `gang` clause",
        "say `gang` to make this clear; each gang runs what is in a `seq` loop or in no loop",
    )
}

/// A0288
pub fn gang_reduction_in_routine(at: Span, name: &str) -> Diag {
    diag(
        288,
        Severity::Left,
        at,
        format!(
            "`{name}` is reduced over gangs in a routine, where its value can be combined by no construct"
        ),
        "not allowed (OpenACC 3.3, 2.9.11)",
        "reduce it in the compute construct, or let the loop be `worker` or `vector`",
    )
}

/// A0289
pub fn gang_routine_in_gang_loop(at: Span) -> Diag {
    diag(
        289,
        Severity::Left,
        at,
        "a procedure that all gangs must run together is called in a loop that they divide".to_owned(),
        "calls a `routine gang`",
        "call it outside of the loop, or give it another level",
    )
}

/// A0290
pub fn property_unknown(at: Span, name: &str) -> Diag {
    diag(
        290,
        Severity::Differs,
        at,
        format!("`{name}` finds nothing: OpenMP cannot ask for it"),
        "answered by 0: not known",
        "check that the program works with 0, or an empty string, as the answer",
    )
}

/// A0254
pub fn lambda_on_device(at: Span, name: &str) -> Diag {
    diag(
        254,
        Severity::Differs,
        at,
        format!("the lambda `{name}` is called on the device: what it captures goes there only in part"),
        "captures are not translated",
        "write a function with `routine` instead",
    )
}

/// A0251
pub fn type_not_seen(at: Span, name: &str) -> Diag {
    diag(
        251,
        Severity::Differs,
        at,
        format!("the type of `{name}` cannot be seen here: each thread gets its own, as of a scalar"),
        "taken for a scalar",
        "if it may be a class, say `private`, `firstprivate` or `copy`",
    )
}

/// A0252
pub fn object_absent(at: Span, name: &str) -> Diag {
    diag(
        252,
        Severity::Differs,
        at,
        format!(
            "`{name}` is a member of an object that is not on the device: a part of the object is mapped"
        ),
        "the object is absent",
        "put the object there first, as in `copyin(this[0:1])`, or copy the member to a local variable",
    )
}

/// A0253
pub fn lambda_inside(at: Span) -> Diag {
    diag(
        253,
        Severity::Weaker,
        at,
        "gcc 12 stops with an internal error at a lambda in a target construct".to_owned(),
        "for other compilers only",
        "write a function with `routine` instead, or build with clang",
    )
}

/// A0259
pub fn host_address_stays(at: Span, name: &str) -> Diag {
    diag(
        259,
        Severity::Differs,
        at,
        format!(
            "gfortran 12 passes the host's address of `{name}`: `associate` names it in `use_device_ptr`"
        ),
        "the host's copy is used",
        "use a pointer or an allocatable variable with the component's place; `--profile clang` needs neither",
    )
}

/// A0297
pub fn address_not_found(at: Span, name: &str) -> Diag {
    diag(
        297,
        Severity::Differs,
        at,
        format!("flang 22 finds no address of the device for `{name}`, which may not be contiguous"),
        "the host's address is used, or the program stops",
        "declare it `contiguous`, or pass it to a procedure where its shape is explicit, with the construct there",
    )
}

/// A0275
pub fn parameter_of_macro(at: Span, item: &str, name: &str) -> Diag {
    diag(
        275,
        Severity::Differs,
        at,
        format!("`{item}` is a parameter that the macro `{name}` declares, and its size is not known"),
        "if it is an array or a pointer, only its address is mapped",
        "name its elements, as `a[0:count]`",
    )
}

/// A0276
pub fn update_of_static(at: Span, name: &str) -> Diag {
    diag(
        276,
        Severity::Differs,
        at,
        format!(
            "clang 19 does not build an update of `{name}`, which is static and has its place on the device by `declare`"
        ),
        "the host cannot update a declare target variable that is not externally visible",
        "take `static` from its declaration",
    )
}

/// A0277
pub fn static_member(at: Span, name: &str, class: &str) -> Diag {
    diag(
        277,
        Severity::Differs,
        at,
        format!("gcc 12 does not map `{name}`, as class `{class}` has a static member"),
        "`variable does not have a mappable type`, in OpenACC, too",
        "declare the member outside of the class, or use another compiler",
    )
}

/// A0278
pub fn static_member_is_shared(at: Span, name: &str, clause: &str) -> Diag {
    diag(
        278,
        Severity::Differs,
        at,
        format!("`{name}` is a static data member, which OpenMP does not take in `{clause}`"),
        "compilers reject the translation",
        "let the loop use a local variable, and copy its value",
    )
}

/// A0279
pub fn components_of_elements(at: Span, item: &str) -> Diag {
    diag(
        279,
        Severity::Differs,
        at,
        format!("flang 22 does not map `{item}` beside a component of another element of the array"),
        "the program stops, or writes over its own memory",
        "name the components of each element in a directive of their own",
    )
}

/// A0284
pub fn member_not_built(at: Span, item: &str) -> Diag {
    diag(
        284,
        Severity::Differs,
        at,
        format!("gcc 12 does not build `{item}` in this directive"),
        "an internal error, or no array, in OpenACC, too",
        "name the member by a local variable, or use another compiler",
    )
}

/// A0260
pub fn induction_computed(at: Span, statements: &str) -> Diag {
    diag(
        260,
        Severity::Info,
        at,
        format!("this loop counts, and is parallel with `{statements}` at the beginning of its iterations"),
        "computed from the loop variables",
        "nothing to do: the statement changes no value",
    )
}

/// A0261
pub fn pointer_apart(at: Span, name: &str) -> Diag {
    diag(
        261,
        Severity::Differs,
        at,
        format!(
            "what `{name}` points to goes to the device apart from its object, which nothing here puts there"
        ),
        "no pointer is attached",
        "if other code puts the object on the device, do so here, as in `copyin(this[0:1])`",
    )
}

/// A0280
pub fn memory_moves(at: Span, name: &str, how: &str) -> Diag {
    diag(
        280,
        Severity::Differs,
        at,
        format!("`{name}` may get other memory here, and the device's copy stays with the old one"),
        how,
        "use `allocate` and `deallocate`, and assign to `a(:)` where the shape stays the same",
    )
}

/// A0272
pub fn two_names(at: Span, name: &str, variable: &str) -> Diag {
    diag(
        272,
        Severity::Differs,
        at,
        format!(
            "`{name}` is another name of `{variable}`, or of a part of it, and the construct uses both: the device has two places"
        ),
        "a copy on the device",
        "use one of the two names in the construct",
    )
}

/// A0273
pub fn clang_refuses(at: Span, what: &str) -> Diag {
    diag(
        273,
        Severity::Weaker,
        at,
        format!("clang 19 does not compile {what}"),
        "for other compilers only",
        "give a local variable its value, and use that; gcc compiles it as it is",
    )
}

/// A0274
pub fn pointer_to_changed(at: Span, name: &str) -> Diag {
    diag(
        274,
        Severity::Differs,
        at,
        format!(
            "`{name}` may point to what the construct changes by another name: the program may stop, or change a copy"
        ),
        "a pointer without a clause",
        "use the variable itself in the construct",
    )
}

/// A0281
pub fn variable_in_routine(at: Span, name: &str, routine: &str) -> Diag {
    diag(
        281,
        Severity::Differs,
        at,
        format!("`{routine}` uses `{name}` on the device, where its allocatable components are not"),
        "used here",
        "pass the components to the routine as arguments",
    )
}

/// A0291
pub fn bound_not_seen(at: Span) -> Diag {
    diag(
        291,
        Severity::Differs,
        at,
        "the type of this bound or step is not understood, and an integer is taken for granted".to_owned(),
        "of a type that is not seen",
        "assign it to an integer before the construct, if it is one, and use that",
    )
}

/// A0292
pub fn size_for_array(at: Span, item: &str) -> Diag {
    diag(
        292,
        Severity::Info,
        at,
        format!("`{item}` is taken for the whole array"),
        "the array's size: it has no such element",
        "write the array's name alone, or a section `[first:count]`",
    )
}

/// A0293
pub fn own_openmp(at: Span, is_code: bool) -> Diag {
    diag(
        293,
        if is_code { Severity::Differs } else { Severity::Info },
        at,
        "this file has OpenMP of its own, which is in force with that of the translation".to_owned(),
        if is_code { "code that a build for OpenACC alone leaves out" } else { "the first of it" },
        "build without it before, to see what it does; or take it out",
    )
}

/// A0294
pub fn existing_kept(at: Span, directive: &str) -> Diag {
    diag(
        294,
        Severity::Info,
        at,
        format!("`{directive}` goes: the OpenMP that stands here is kept"),
        "not compared with it",
        "",
    )
}

/// A0295
pub fn existing_replaced(at: Span, directive: &str) -> Diag {
    diag(
        295,
        Severity::Info,
        at,
        format!("this OpenMP goes: the translation of `{directive}` takes its place"),
        "not compared with it",
        "",
    )
}

/// A0296
pub fn existing_kept_on_host(at: Span, directive: &str) -> Diag {
    diag(
        296,
        Severity::Differs,
        at,
        format!("`{directive}` goes, and the OpenMP that is kept runs on the host"),
        "where the data is on the device, its copy there keeps the old values",
        "use `--existing-omp replace`, or see to it that the data is not on the device here",
    )
}

/// The code of `host_inside_data`.
pub const HOST_INSIDE_DATA: Code = Code(298);

/// A0298
pub fn host_inside_data(at: Span, region: Span) -> Diag {
    let said = diag(
        298,
        Severity::Differs,
        at,
        "the host runs this construct, inside a `data` region of the device: neither sees what the other changes"
            .to_owned(),
        "stays untranslated",
        "write `update self` before the construct and `update device` after it, for the data that it uses",
    );
    said.with(region, "the data of this region is on the device")
}

/// A0298, of a construct whose own clause says that its data is on the device.
pub fn host_beside_data(at: Span, clause: Span) -> Diag {
    let said = diag(
        298,
        Severity::Differs,
        at,
        "the host runs this construct, whose data is on the device: neither sees what the other changes"
            .to_owned(),
        "stays untranslated",
        "write `update self` before the construct and `update device` after it, for the data that it uses",
    );
    said.with(clause, "the data is on the device")
}

/// A0299
pub fn inner_private(at: Span, name: &str) -> Diag {
    diag(
        299,
        Severity::Differs,
        at,
        format!("the loop has `{name}` private, but changes the variable of the code around it here"),
        "one variable for both",
        "declare a variable of its own in the loop",
    )
}

/// A0300
pub fn loop_variable_wanted(at: Span, name: &str) -> Diag {
    diag(
        300,
        Severity::Differs,
        at,
        format!("the loop counts with `{name}` of the code around it, which needs its value after the loop"),
        "one variable for both",
        "declare a variable of its own in the head of the loop, or count with another one",
    )
}

/// A0301
pub fn not_yet(at: Span, what: &str) -> Diag {
    diag(
        301,
        Severity::Left,
        at,
        format!("{what} is not translated yet"),
        "untranslated",
        "translate this directive by hand",
    )
}

/// A0302
pub fn not_contiguous(at: Span, item: &str) -> Diag {
    diag(
        302,
        Severity::Left,
        at,
        format!("`{item}` is not contiguous in memory"),
        "OpenMP maps contiguous sections only",
        "store the rows in one block, or map row by row",
    )
}

/// A0303
pub fn needs_version(at: Span, what: &str) -> Diag {
    diag(
        303,
        Severity::Left,
        at,
        format!("{what} needs a later version of OpenMP than the one chosen"),
        "untranslated",
        "translate with a later `--omp`; `acc2omp rules` says which",
    )
}

/// A0304
pub fn element_in_data_clause(at: Span, item: &str) -> Diag {
    diag(
        304,
        Severity::Left,
        at,
        format!("`{item}` names one element, which compilers interpret differently"),
        "ambiguous",
        "write `[first:count]`",
    )
}

/// A0305
pub fn api_left(at: Span, name: &str) -> Diag {
    diag(
        305,
        Severity::Left,
        at,
        format!("`{name}` of the run-time library is not translated"),
        "untranslated",
        "replace it by hand",
    )
}

/// A0306
pub fn guard_left(at: Span) -> Diag {
    diag(
        306,
        Severity::Differs,
        at,
        "this condition on `_OPENACC` is kept: no `_OPENACC` is defined when the translation is built"
            .to_owned(),
        "not a simple `#ifdef _OPENACC`",
        "test `_OPENMP` instead if the code is needed",
    )
}

/// A0307
pub fn leaves_region(at: Span, word: &str) -> Diag {
    diag(
        307,
        Severity::Left,
        at,
        format!("`{word}` leaves the region"),
        "jumps out",
        "restructure the code so that control leaves the region at its end only",
    )
}

/// A0308
pub fn standalone_as_body(at: Span, directive: &str) -> Diag {
    diag(
        308,
        Severity::Left,
        at,
        format!("`{directive}` cannot be the whole body of another statement"),
        "needs braces",
        "put the directive in braces",
    )
}

/// A0309
pub fn needs_preprocessor(at: Span) -> Diag {
    diag(
        309,
        Severity::Differs,
        at,
        "`--guard` puts lines for the preprocessor into a file whose name does not ask for it".to_owned(),
        "without a preprocessor both the original and the translation run",
        "build it with `-cpp`, or name it `.F90` or `.F`",
    )
}

/// A0320
pub fn in_lambda(at: Span, directive: &str) -> Diag {
    diag(
        320,
        Severity::Left,
        at,
        format!("`{directive}` stands in a lambda, whose captures are not followed"),
        "in a lambda",
        "move the code of the lambda into a function",
    )
}

/// A0321
pub fn existing_openmp(at: Span, directive: &str) -> Diag {
    diag(
        321,
        Severity::Left,
        at,
        format!("`{directive}` stands beside OpenMP for the same code"),
        "both stay as they are",
        "choose with `--existing-omp keep` or `--existing-omp replace`",
    )
}

/// A0322
pub fn existing_by_condition(at: Span, directive: &str) -> Diag {
    diag(
        322,
        Severity::Left,
        at,
        format!("`{directive}` stands where no compiler for OpenMP reads it"),
        "in a branch for OpenACC alone",
        "change the condition, or use `--existing-omp keep`",
    )
}

/// A0323
pub fn computed_again(at: Span, text: &str) -> Diag {
    diag(
        323,
        Severity::Differs,
        at,
        format!("`{text}` is computed more than once here"),
        "it may have another value then, or changes something",
        "compute it before the directive, and name a variable here",
    )
}

/// A0330
pub fn part_before_object(at: Span, object: &str, together: Option<&str>, part: &str) -> Diag {
    let what = match together {
        None => format!("`{object}` is"),
        Some(other) => format!("`{object}` and `{other}` are"),
    };
    diag(
        330,
        Severity::Differs,
        at,
        format!(
            "{what} mapped here, where `{part}` may be mapped already: OpenMP cannot extend a part of an object"
        ),
        "the run-time library stops the program here",
        "name the object in a data clause before its member, or in the same directive",
    )
}

/// A0331
pub fn part_in_use(at: Span, object: &str, part: &str) -> Diag {
    diag(
        331,
        Severity::Differs,
        at,
        format!(
            "`{object}` is used here, and only its part `{part}` is mapped: OpenMP does not map the rest of `{object}`"
        ),
        "not copied to the device",
        "name the object in a data clause before its member, or in the same directive",
    )
}

/// A0333
pub fn too_much_work(at: Span, limit: &str) -> Diag {
    diag(
        333,
        Severity::Left,
        at,
        format!("the file stays as it is: its translation takes {limit}"),
        "this and all other directives stay as they are",
        "divide the file, or allow ten times as much by `--budget 10`",
    )
}

/// A0334
pub fn too_deep(at: Span, limit: &str) -> Diag {
    diag(
        334,
        Severity::Left,
        at,
        format!("the file stays as it is: its statements or expressions are nested {limit} deep"),
        "this and all other directives stay as they are",
        "write the code with fewer levels, or allow ten times as many by `--budget 10`",
    )
}

/// A0335
pub fn too_much_memory(at: Span, limit: &str) -> Diag {
    diag(
        335,
        Severity::Left,
        at,
        format!("the file stays as it is: its translation takes {limit}"),
        "this and all other directives stay as they are",
        "divide the file, or allow ten times as much by `--budget 10`",
    )
}

/// The code of `ruled_out`.
pub const RULED_OUT: Code = Code(336);

/// A0336
pub fn ruled_out(first: Span, count: usize) -> Diag {
    let directives = if count == 1 { "directive" } else { "directives" };
    diag(
        336,
        Severity::Info,
        first,
        format!("options rule out a branch of the preprocessor with {count} {directives}"),
        "no build reads it: it stays as it is",
        "leave the name out of `-D` and `-U` if there are builds that read the branch",
    )
}

/// A0339
pub fn asks_for_openmp(condition: Span, is_code: bool) -> Diag {
    diag(
        339,
        if is_code { Severity::Differs } else { Severity::Info },
        condition,
        "`_OPENMP` is defined where the translation is built, and this condition asks for it".to_owned(),
        "a build with OpenACC alone leaves this code out",
        "look whether that code and the translation go together, or say with `-D` or `-U` which branch is built",
    )
}

/// A0340
pub fn woken_by_openmp(condition: Span, count: usize) -> Diag {
    let conditions = match count {
        1 => "this condition".to_owned(),
        _ => format!("{count} conditions of this file"),
    };
    diag(
        340,
        Severity::Info,
        condition,
        format!(
            "`_OPENACC` becomes `_OPENMP` in {conditions}: builds with OpenMP for the host alone define it, too"
        ),
        "such builds read this code now, and not what is after `#else`",
        "look whether that code may run on the host, or name a macro of your own by `--guard _OPENACC,NAME`",
    )
}

/// A0341
pub fn value_of_openacc(at: Span) -> Diag {
    diag(
        341,
        Severity::Differs,
        at,
        "`_OPENACC` is a value here, and becomes `_OPENMP`".to_owned(),
        "another number",
        "look whether the number matters; both say by year and month which version a compiler knows",
    )
}

/// A0342
pub fn macro_named_as_word(at: Span, name: &str) -> Diag {
    diag(
        342,
        Severity::Differs,
        at,
        format!("the translation has the word `{name}` of OpenMP, and the program a macro of that name"),
        "compilers put the macro's text there",
        "give the macro another name, or take its definition away before the directive",
    )
}

/// A0343
pub fn needs_data_that_stays(at: Span, object: &str, region: Span) -> Diag {
    diag(
        343,
        Severity::Left,
        at,
        format!("this construct uses `{object}`, of which an untranslated data region copies parts"),
        "untranslated with the region",
        "translate the region by hand, or have the construct name in its own clauses what it needs",
    )
    .with(region, "stays OpenACC: its parts are not on the device")
}

/// A0345
pub fn macro_taken_for_variable(at: Span, name: &str) -> Diag {
    let folded = name.to_ascii_lowercase();
    diag(
        345,
        Severity::Left,
        at,
        format!("`{name}` is a macro, and would be taken for a variable `{folded}`"),
        "used in this construct",
        "give the macro a name that no variable has in other letters, and name variables themselves in clauses",
    )
}

/// A0344
pub fn counts_on_data_that_stays(at: Span, what: &str, region: Span) -> Diag {
    diag(
        344,
        Severity::Differs,
        at,
        format!("{what} may count on data of a region that stays OpenACC: it is not on the device"),
        "inside the region",
        "have the region translated, or have the directives there name what they need in `copy` clauses",
    )
    .with(region, "stays, so nothing is copied to the device here")
}

/// A0337
pub fn shared_by_branches(at: Span, inner: Span, choices: &[Span]) -> Diag {
    let mut made = diag(
        337,
        Severity::Left,
        at,
        "the preprocessor chooses directives of this construct, and its branches need different translations of the others".to_owned(),
        "untranslated",
        "write the whole construct in each branch, or say with `-D` or `-U` which one is built",
    );
    if inner != at {
        made = made.with(inner, "not the same for all branches");
    }
    choices.iter().fold(made, |made, choice| made.with(*choice, "chooses directives of the construct"))
}

/// A0401
pub fn not_yet_cuda(at: Span, what: &str) -> Diag {
    diag(
        401,
        Severity::Left,
        at,
        format!("{what} is not translated to CUDA"),
        "untranslated",
        "write it in another way, or translate this file to OpenMP",
    )
}

/// A0901
pub fn edit_conflict(at: Span) -> Diag {
    diag(
        901,
        Severity::Bug,
        at,
        "two changes of this file overlap, and this one was withdrawn".to_owned(),
        "withdrawn",
        "please report this file as a bug of acc2omp",
    )
}

/// A0902
pub fn output_not_parsed(at: Span) -> Diag {
    diag(
        902,
        Severity::Bug,
        at,
        "the translation of this file does not parse, and was withdrawn".to_owned(),
        "withdrawn",
        "please report this file as a bug of acc2omp",
    )
}

/// The diagnostic that a rule page asks for by its code; `word` is the clause or directive it is about.
/// `None` for a code that no page may name.
pub fn of_code(code: Code, at: Span, word: &str) -> Option<Diag> {
    let made = match code.0 {
        201 => present_unchecked(at, word),
        202 => default_none_dropped(at),
        203 => default_present_unchecked(at),
        204 => absent_unchecked(at, word),
        205 => synchronous(at, word),
        206 => hint_dropped(at, &format!("`{word}`")),
        208 => device_management_dropped(at, word),
        209 => other_device_dropped(at),
        214 => tile_dropped(at),
        216 => read_before_write(at, word),
        221 => attach_uncounted(at, word),
        222 => cache_dropped(at),
        230 => queue_at_run_time(at),
        232 => test_waits(at, word),
        233 => not_held(at),
        290 => property_unknown(at, word),
        258 => first_element_only(at),
        301 => not_yet(at, &format!("`{word}`")),
        303 => needs_version(at, &format!("`{word}` here")),
        305 => api_left(at, word),
        _ => return None,
    };
    Some(made)
}

/// A0403
pub fn device_code(at: Span) -> Diag {
    diag(
        403,
        Severity::Info,
        at,
        "this file holds device code: nvcc compiles it".to_owned(),
        "stays inline, as a lambda expression",
        "build the file by `nvcc -x cu --extended-lambda --expt-relaxed-constexpr`",
    )
}

/// A0404
pub fn definition_without_use(at: Span, name: &str) -> Diag {
    diag(
        404,
        Severity::Left,
        at,
        format!(
            "`{name}` has other directives under other conditions, and device code can be made of one definition alone"
        ),
        "the whole file is untranslated",
        "say with `-D` or `-U` which definition is built",
    )
}

/// A0405
pub fn not_callable(at: Span, name: &str, why: &str) -> Diag {
    diag(
        405,
        Severity::Left,
        at,
        format!("`{name}` cannot be called on the device: {why}"),
        "untranslated",
        "capture numbers, arrays and plain structs by value, or write a `routine` that needs nothing of the host",
    )
}

/// A0406
pub fn made_public(at: Span, name: &str) -> Diag {
    diag(
        406,
        Severity::Info,
        at,
        format!("the member function `{name}` becomes public: it holds device code"),
        "nvcc takes no device code in private and protected member functions",
        "nothing; to keep it private, move the loop into a function outside of the class",
    )
}

/// A0407
pub fn header_unread(at: Span, name: &str, path: &str) -> Diag {
    diag(
        407,
        Severity::Info,
        at,
        format!("`{name}` is declared in no file that was read: the device code includes `{path}`, too"),
        "was not found",
        "name the folder of the header on the command line, too, so that its types and macros are known",
    )
}

/// A0408
pub fn value_of_first_use(at: Span, name: &str) -> Diag {
    diag(
        408,
        Severity::Differs,
        at,
        format!("the device gets the value that `{name}` has when the device first uses it"),
        "`copyin` of a variable of a module",
        "write `update device` where the host changes the value before that",
    )
}

/// A0409
pub fn openmp_before_call(at: Span, directive: &str) -> Diag {
    diag(
        409,
        Severity::Info,
        at,
        format!(
            "this OpenMP stands before the code of `{directive}`, which becomes a call: builds with OpenMP fail here"
        ),
        "needs a loop or a block after it",
        "build without OpenMP, as builds for OpenACC do; or remove this line",
    )
}

/// The code of `kind_by_condition`.
pub const KIND_BY_CONDITION: Code = Code(410);

/// A0410
pub fn kind_by_condition(at: Span, names: &str) -> Diag {
    diag(
        410,
        Severity::Differs,
        at,
        format!(
            "a condition of the preprocessor chooses {names}: the device code is for the branch that is read here"
        ),
        "compiled for one branch",
        "translate with the `-D` or `-U` of the build",
    )
}

/// A0501
pub fn copied_each_iteration(at: Span, names: &str, bytes: &str, help: &str) -> Diag {
    diag(
        501,
        Severity::Info,
        at,
        format!("data copied in each iteration of this loop of the host, {names}{bytes}"),
        "the host does not touch them in it",
        help,
    )
}

/// A0502
pub fn idle_update(at: Span, names: &str, to_host: bool, bytes: &str) -> Diag {
    let (message, label) = match to_host {
        true => ("update of what the host does not read", "the end of the region brings it"),
        false => ("update of what the host has not changed", "the device has these values already"),
    };
    diag(502, Severity::Info, at, format!("{message}, {names}{bytes}"), label, "remove it")
}

/// A0503
pub fn copied_needlessly(at: Span, names: &str, bytes: &str, reason: &str, clauses: &str) -> Diag {
    diag(
        503,
        Severity::Info,
        at,
        format!("data copied both ways where less is enough, {names}{bytes}"),
        reason,
        &format!("say `{clauses}`"),
    )
}

/// A0504
pub fn strided_lanes(at: Span, variable: &str, far: usize, all: usize, better: &str, help: &str) -> Diag {
    diag(
        504,
        Severity::Info,
        at,
        format!(
            "the vector lanes count with `{variable}`, which strides through memory in {far} of {all} accesses; `{better}` does not"
        ),
        "the lanes' loop",
        help,
    )
}

/// A0505
pub fn one_statement(at: Span, help: &str) -> Diag {
    diag(505, Severity::Info, at, "one statement keeps this loop in order".to_owned(), "runs in order", help)
}

/// A0506
pub fn large_private(at: Span, name: &str, bytes: &str, threads: &str, sum: &str) -> Diag {
    diag(
        506,
        Severity::Info,
        at,
        format!("each thread has its own {name}: {bytes}, for {threads} {sum}"),
        "lies in memory, not in registers",
        "make it smaller, compute its elements where they are used, or let a gang share one",
    )
}

/// A0507
pub fn few_iterations(at: Span, work: i128) -> Diag {
    diag(
        507,
        Severity::Info,
        at,
        format!("a construct with {work} statements to run, for which data are copied"),
        "the host would be done before the device begins",
        "let the host do it, or keep its data on the device in a `data` region around it",
    )
}

/// A0508
pub fn large_update(at: Span, name: &str, bytes: &str, items: &str) -> Diag {
    diag(
        508,
        Severity::Info,
        at,
        format!("update of more than the host reads, `{name}`{bytes}"),
        "the end of the region brings the rest",
        &format!("say `{items}`"),
    )
}

/// A0509
pub fn two_launches(at: Span, trips: &str) -> Diag {
    diag(
        509,
        Severity::Info,
        at,
        format!("two constructs, one after the other, with the same iterations{trips}"),
        "each iteration uses what the same iteration of the loop before has set",
        "put both bodies in one loop: one launch, and what both use is read once",
    )
}

/// A0510
pub fn pageable(at: Span, names: &str, bytes: &str) -> Diag {
    diag(
        510,
        Severity::Info,
        at,
        format!("{bytes} of {names} are transferred in each iteration of a loop, to or from pageable memory"),
        "the driver copies pageable memory a second time, and the host waits for it",
        "allocate the memory pinned, or pin it once before the loop",
    )
}
