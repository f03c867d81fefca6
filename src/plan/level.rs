//! The three levels of parallelism (OpenACC 3.3, 1.2), and sets of them.
//!
//! Invariant: gangs are the outermost level and vector lanes the innermost one.

/// Some of the levels of parallelism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Gangs.
    pub gang: bool,
    /// Workers of a gang.
    pub worker: bool,
    /// Vector lanes of a worker.
    pub vector: bool,
}

impl Levels {
    /// Every level.
    pub const ALL: Levels = Levels { gang: true, worker: true, vector: true };
    /// No level.
    pub const NONE: Levels = Levels { gang: false, worker: false, vector: false };
    /// The levels inside a gang.
    pub const THREADS: Levels = Levels { gang: false, worker: true, vector: true };

    /// Whether there is a level among them.
    pub fn any(self) -> bool {
        self.gang || self.worker || self.vector
    }

    /// Whether there is a level inside a gang among them.
    pub fn threads(self) -> bool {
        self.worker || self.vector
    }

    /// Those of either set.
    pub fn with(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang || other.gang,
            worker: self.worker || other.worker,
            vector: self.vector || other.vector,
        }
    }

    /// Those that `other` does not have.
    pub fn without(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang && !other.gang,
            worker: self.worker && !other.worker,
            vector: self.vector && !other.vector,
        }
    }

    /// Those of both sets.
    pub fn and(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang && other.gang,
            worker: self.worker && other.worker,
            vector: self.vector && other.vector,
        }
    }

    /// Those of the set that a loop may still have inside a loop which has taken some: levels go inward.
    pub fn inside(self, taken: Levels) -> Levels {
        let free = self.without(taken);
        Levels {
            gang: free.gang && !taken.threads(),
            worker: free.worker && !taken.vector,
            vector: free.vector,
        }
    }
}

#[cfg(test)]
mod tests;
