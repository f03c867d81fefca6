//! What threads share, where the checks of the shim see each access.
//!
//! Invariant: a program does the same with and without it, and its lines keep their numbers.

use std::path::{Path, PathBuf};

use crate::difftest::fixture::read_text;
use crate::{Result, cuda, files};

/// What a declaration of shared memory begins with.
const SHARED: &str = "__shared__ ";

/// A copy of a folder's files beside it, in which shared variables are named by references: g++ checks no access of a static
/// variable at a place in it that it knows.
pub fn folder(folder: &Path) -> Result<PathBuf> {
    let mut name = folder.as_os_str().to_owned();
    name.push(".watched");
    let copy = PathBuf::from(name);
    files::copy(folder, &copy)?;
    for ending in ["cu", "cpp", "cc", "h", "hpp"] {
        for path in cuda::files(&copy, ending)? {
            let known = read_text(&path)?;
            if known.contains(SHARED) {
                files::write(&path, text(&known).as_bytes())?;
            }
        }
    }
    Ok(copy)
}

/// A source that names its shared variables by references.
pub fn text(source: &str) -> String {
    source.split_inclusive('\n').map(|line| declaration(line).unwrap_or_else(|| line.to_owned())).collect()
}

/// A line that declares a shared variable.
fn declaration(line: &str) -> Option<String> {
    let start = line.len() - line.trim_start().len();
    let (declared, rest) = line.get(start..)?.strip_prefix(SHARED)?.split_once(';')?;
    let (head, sizes) = declared.split_at(declared.find('[').unwrap_or(declared.len()));
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (kind, name) = head.split_at(head.trim_end_matches(is_letter).len());
    if name.is_empty() || declared.contains(['=', '(', ',']) {
        return None;
    }
    let indent = &line[..start];
    let place = format!("{name}_in_block");
    Some(format!("{indent}{SHARED}{kind}{place}{sizes}; auto &{name} = cuda_shim::watched({place});{rest}"))
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn shared_variables_get_references() {
        assert_eq!(
            text("    __shared__ unsigned long p[M][2];\n"),
            "    __shared__ unsigned long p_in_block[M][2]; auto &p = cuda_shim::watched(p_in_block);\n"
        );
        assert_eq!(
            text("__shared__ int n; n = 1;"),
            "__shared__ int n_in_block; auto &n = cuda_shim::watched(n_in_block); n = 1;"
        );
        assert_eq!(text("extern __shared__ int n[];"), "extern __shared__ int n[];");
    }
}
