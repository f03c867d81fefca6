//! Where outputs go.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_file_is_written_below_and_what_was_left_is_swept() {
    let place = tempfile::tempdir().unwrap();
    let like = place.path().join("like");
    fs::write(&like, "").unwrap();
    let folder = Folder::open(place.path()).unwrap().below(Path::new("a/b")).unwrap();
    folder.write(OsStr::new("c"), b"text", Like::Mode(&like)).unwrap();
    assert_eq!(fs::read(place.path().join("a/b/c")).unwrap(), b"text");
    let left = folder.fresh_name();
    fs::write(place.path().join("a/b").join(&left), "half").unwrap();
    assert!(is_unfinished(&left) && !is_unfinished(OsStr::new(".acc2omp-mine")));
    folder.sweep();
    assert_eq!(fs::read_dir(place.path().join("a/b")).unwrap().count(), 1);
}

#[test]
fn what_is_being_written_stays() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let name = folder.fresh_name();
    let file = fs::File::create(place.path().join(&name)).unwrap();
    file.lock().unwrap();
    folder.sweep();
    assert!(place.path().join(&name).exists());
    drop(file);
    folder.sweep();
    assert!(!place.path().join(&name).exists());
}

#[test]
fn nothing_leads_out() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    assert!(folder.below(Path::new("../x")).is_err());
    assert!(folder.below(Path::new("/tmp")).is_err());
}
