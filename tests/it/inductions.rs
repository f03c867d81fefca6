//! Where the statements stand that compute what counts, and what keeps them out.
//!
//! Invariant: the user's line ends, indentation and columns are kept; a text that cannot take a statement stays as it is.

use acc2omp::source::{Form, Language};
use acc2omp::{LoopVerdict, Options, Source, Translation, translate};

fn translation(text: &str, language: Language) -> Translation {
    translate(&Source::new("loops", text.as_bytes().to_vec(), language), &Options::default())
}

/// The lines of the translation that are not in the source and hold no directive.
fn added(text: &str, language: Language) -> Vec<String> {
    let translation = translation(text, language);
    let new = String::from_utf8(translation.text).unwrap();
    let is_fresh = |line: &&str| {
        let word = line.trim_start().to_ascii_lowercase();
        !text.split('\n').any(|old| old == *line) && !word.starts_with("#pragma") && !word.starts_with("!$")
    };
    new.split('\n').filter(is_fresh).map(str::to_owned).collect()
}

fn check_c(body: &str, expected: &[&str]) {
    let text = format!(
        "void f(int n, double *restrict a, const double *restrict b)\n{{\n    int k = 0;\n{body}\n}}\n"
    );
    assert_eq!(added(&text, Language::C), expected, "{text}");
}

#[test]
fn statements_stand_like_the_code_around_them() {
    let head = "#pragma acc kernels copy(a[0:n]) copyin(b[0:n])\n    for (int i = 0; i < n; i++)";
    let block = format!("{head} {{ // forth\n\t/* each */\n\ta[k] = b[i];\n\tk++;\n    }}");
    check_c(&block, &["\tk = i;"]);
    check_c(
        &format!("{head} {{ a[k] = b[i]; k++; }}"),
        &["    for (int i = 0; i < n; i++) { k = i; a[k] = b[i]; k++; }"],
    );
    check_c(&format!("{head}\n        a[k++] = b[i]; // one\n"), &["    {", "        k = i;", "    }"]);
    check_c(
        &format!("{head} a[k++] = b[i];"),
        &["    for (int i = 0; i < n; i++) { k = i; a[k++] = b[i]; }"],
    );
    let declared = format!(
        "{head}\n    {{\n        int t = 2;\n        int at = k;\n        a[at] = t;\n        k++;\n    }}"
    );
    check_c(&declared, &["        k = i;"]);
    let governed = format!(
        "{head} {{\n#pragma acc loop seq\n        for (int j = 0; j < 1; j++)\n            a[k] = b[i];\n        k++;\n    }}"
    );
    check_c(&governed, &["        k = i;"]);
}

#[test]
fn line_ends_are_kept() {
    let text = "void f(int n, double *restrict a)\r\n{\r\n    int k = 1;\r\n#pragma acc kernels copy(a[0:n])\r\n    \
                for (int i = 0; i < n; i++)\r\n        a[k++] = 0;\r\n    a[0] = k;\r\n}\r\n";
    let expected = ["    {\r", "        k = i + 1;\r", "    }\r", "    k = (n > 0 ? n : 0) + 1;\r"];
    assert_eq!(added(text, Language::C), expected);
}

#[test]
fn columns_of_fixed_form_are_kept() {
    let text = "      subroutine pack(nrows, ncols, field, buffer, length)
      integer nrows, ncols, length, i, j, number
      double precision field(nrows, ncols), buffer(*)
      number = length
!$acc kernels copyin(field) copy(buffer(1:length))
      do 20 j = length + 1, ncols
         do 10 i = length + 1, nrows
            buffer(number) = field(i, j)
            number = number + 1
   10    continue
   20 continue
!$acc end kernels
      end
";
    let expected = [
        "            number = length + (j - length - 1) * (nrows - length) + i -",
        "     &        length - 1",
    ];
    assert_eq!(added(text, Language::Fortran(Form::Fixed)), expected);
}

#[test]
fn lines_of_the_preprocessor_keep_statements_out() {
    let head = "#pragma acc kernels copy(a[0:n]) copyin(b[0:n])\n    for (int i = 0; i < n; i++)";
    let inside =
        format!("{head} {{\n        a[k] = b[i];\n#ifdef TWICE\n        k++;\n#endif\n        k++;\n    }}");
    check_c(&inside, &[]);
    check_c(&format!("#ifdef LATER\n    k = 5;\n#endif\n{head}\n        a[k++] = b[i];"), &[]);
}

#[test]
fn places_are_those_of_the_source() {
    let text = "void f(int n, double *restrict a)
{
    int k = 0;
#pragma acc kernels copy(a[0:n])
    {
        for (int i = 0; i < n; i++)
            a[k++] = 0;
        for (int i = 1; i < n; i++)
            a[i] += a[i - 1];
    }
}
";
    let translation = translation(text, Language::C);
    let reported: Vec<(usize, String)> = translation
        .loops
        .iter()
        .map(|one| {
            let line = text[..one.span.start as usize].lines().count();
            let words = match &one.verdict {
                LoopVerdict::Parallel { computed, .. } => computed.join(", "),
                LoopVerdict::Sequential { reason, .. } => reason.clone(),
            };
            (line, words)
        })
        .collect();
    let distance = "`a` is written at 9 and read at 9, with distance (1)".to_owned();
    assert_eq!(reported, [(6, "k = i".to_owned()), (8, distance)]);
    let lines = translation.diagnostics.iter().map(|diag| {
        let start = diag.primary.span.start as usize;
        (diag.code.to_string(), text[..start].matches('\n').count() + 1)
    });
    let lines: Vec<_> = lines.filter(|(code, _)| code != "A0211").collect();
    assert_eq!(lines, [("A0260".to_owned(), 6), ("A0212".to_owned(), 8)]);
    // The edits of the source make the text.
    let mut bytes = text.as_bytes().to_vec();
    for edit in translation.edits.iter().rev() {
        bytes.splice(edit.span.range(), edit.text.iter().copied());
    }
    assert_eq!(bytes, translation.text);
}
