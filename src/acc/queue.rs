//! What the argument of `async` says by the names that OpenACC gives queues (3.3, 2.16).
//!
//! Invariant: the only place that compares with those names.

/// What is known of an async argument by its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// `acc_async_sync`: none, the host waits.
    Synchronous,
    /// `acc_async_noval` or `acc_async_default`: the one without a number.
    Default,
    /// A number, or an expression.
    Other,
}

impl Queue {
    /// Reads an argument. In Fortran case does not matter.
    pub fn of(text: &str, ignores_case: bool) -> Queue {
        let text = text.trim();
        let is = |name: &str| text == name || ignores_case && text.eq_ignore_ascii_case(name);
        match () {
            () if is("acc_async_sync") => Queue::Synchronous,
            () if is("acc_async_noval") || is("acc_async_default") => Queue::Default,
            () => Queue::Other,
        }
    }
}

#[cfg(test)]
mod tests;
