//! Programs that stand together as those of people do: what chance makes of bytes are choices, not letters.
//!
//! Invariant: each word of a grammar has alternatives, and the first of them lead to an end: so the choices that an input does not
//! make anymore.

mod c;
mod cpp;
mod fortran;
mod shared;

use acc2omp::source::Language;

/// The alternatives of a word. `@word` stands for one of another word.
type Grammar = [(&'static str, &'static [&'static str])];

/// So many choices are made for a program at most.
const MOST: usize = 2000;

/// So many texts wait for those in them to be made at most, about four for each level of a nest: deeper nests are for other tests.
const DEEPEST: usize = 60;

/// What begins a word, and the word that a program is.
const MARK: char = '@';
const START: &str = "@file";

/// What programs in C have for the head of a loop that a macro makes.
pub const HEAD_BY_MACRO: &str = "LOOP(j)";

/// A name that conditions ask for.
pub const NAME: &str = "DEBUG";

/// The words of a language. Of two with the same name the first one counts.
fn grammar(language: Language) -> impl Iterator<Item = &'static (&'static str, &'static [&'static str])> {
    let (own, more): (&Grammar, &Grammar) = match language {
        Language::Fortran(_) => (fortran::GRAMMAR, &[]),
        Language::Cpp => (cpp::GRAMMAR, c::GRAMMAR),
        Language::C | Language::Header => (c::GRAMMAR, &[]),
    };
    own.iter().chain(more).chain(shared::GRAMMAR)
}

/// The program that `choices` make.
pub fn program(language: Language, choices: &[u8]) -> String {
    let mut choices = choices.iter().take(MOST);
    let (mut made, mut pending) = (String::new(), vec![START]);
    while let Some(text) = pending.pop() {
        let Some((before, rest)) = text.split_once(MARK) else {
            made.push_str(text);
            continue;
        };
        made.push_str(before);
        let (word, rest) =
            rest.split_at(rest.find(|char: char| !char.is_ascii_lowercase()).unwrap_or(rest.len()));
        pending.push(rest);
        let all = grammar(language).find(|(known, _)| *known == word).map_or(&[][..], |(_, all)| all);
        let is_chosen = all.len() > 1 && pending.len() <= DEEPEST;
        let number = if is_chosen { choices.next().copied().map_or(0, usize::from) } else { 0 };
        pending.extend(all.get(number % all.len().max(1)));
    }
    made
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use acc2omp::source::{Form, Language};

    use super::{HEAD_BY_MACRO, MARK, START, grammar, program};

    const LANGUAGES: [Language; 3] = [Language::C, Language::Cpp, Language::Fortran(Form::Free)];

    #[test]
    fn words_are_known_and_used() {
        for language in LANGUAGES {
            let texts = || grammar(language).flat_map(|(_, all)| all.iter().copied()).chain([START]);
            let words = texts().flat_map(|text| text.split(MARK).skip(1));
            let end = |text: &str| text.find(|char: char| !char.is_ascii_lowercase()).unwrap_or(text.len());
            let used: BTreeSet<&str> = words.map(|text| &text[..end(text)]).collect();
            let known: BTreeSet<&str> = grammar(language).map(|(word, _)| *word).collect();
            assert_eq!(used, known);
        }
    }

    #[test]
    fn heads_by_macros_are_in_the_grammar() {
        assert!(grammar(Language::C).any(|(_, all)| all.iter().any(|text| text.contains(HEAD_BY_MACRO))));
    }

    #[test]
    fn first_alternatives_end() {
        assert!(program(Language::C, &[]).contains("void f(int n"));
        assert!(program(Language::Fortran(Form::Fixed), &[]).contains("subroutine f(n"));
    }

    #[test]
    fn choices_make_programs() {
        assert!(program(Language::C, &[0, 3, 1]) != program(Language::C, &[]));
    }
}
