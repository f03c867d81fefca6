//! Files of earlier translations to CUDA: what they call of OpenACC's library is the run-time library of these.
//!
//! Invariant: a file is one by its lines of code, or by the first words of what acc2omp has written; by no comment of the program.

use crate::source::SourceFile;

/// Whether a file belongs to a translation to CUDA.
pub fn is_to_cuda(file: &SourceFile) -> bool {
    let text = &file.bytes;
    if memchr::memmem::find(text, b"acc2omp").is_none() {
        return false;
    }
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        let has = |words: &[u8]| memchr::memmem::find(line, words).is_some();
        let names_module =
            |word: &[u8]| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(b" acc2omp_cuda"));
        let is_include = line.starts_with(b"#") && has(b"include") && has(b"acc2omp_cuda.h\"");
        let is_device = line.starts_with(b"// The device code of ") && has(b" made by acc2omp ");
        let is_library = line.starts_with(b"* acc2omp_cuda.h: OpenACC's run-time library");
        is_include || is_device || is_library || names_module(b"use") || names_module(b"module")
    })
}
