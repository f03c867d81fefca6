//! Tests of `queue.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Queue;

#[test]
fn case_matters_in_c_only() {
    assert_eq!(Queue::of(" acc_async_sync", false), Queue::Synchronous);
    assert_eq!(Queue::of("ACC_Async_Sync", true), Queue::Synchronous);
    assert_eq!(Queue::of("ACC_ASYNC_SYNC", false), Queue::Other);
    assert_eq!(Queue::of("acc_async_Default", true), Queue::Default);
    assert_eq!(Queue::of("acc_async_sync + 1", true), Queue::Other);
}
