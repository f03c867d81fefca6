//! What is made once in a run, by whoever comes first.
//!
//! Invariant: nobody waits for what is made for another key.

use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

/// Made once.
pub type Once<T> = Arc<OnceLock<T>>;

/// What stands for `key`, made or not.
pub fn once<K: Eq + Hash, T>(all: &Mutex<FxHashMap<K, Once<T>>>, key: K) -> Once<T> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(all.entry(key).or_default())
}
