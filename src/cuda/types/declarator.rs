//! The types of what kernels and launchers declare, apart from the names.
//!
//! Invariant: one type, declared for two names, is the same type.

/// What stands around a name in its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it leads to is not changed.
    pub is_const: bool,
    /// A value, or what the innermost pointer points to.
    pub base: String,
    /// How many pointers lead to it.
    pub stars: usize,
    /// The sizes of the rows that the last pointer points to; none if these are not arrays.
    pub rows: Vec<String>,
    /// No other pointer aliases it.
    pub is_restrict: bool,
}

impl Type {
    /// A value.
    pub fn value(base: impl Into<String>) -> Type {
        Type { is_const: false, base: base.into(), stars: 0, rows: Vec::new(), is_restrict: false }
    }

    /// A pointer.
    pub fn pointer(base: impl Into<String>) -> Type {
        Type { stars: 1, ..Type::value(base) }
    }

    /// The same, of what does not change.
    pub fn constant(self) -> Type {
        Type { is_const: true, ..self }
    }

    /// The same, of what may change, and without a word about other pointers.
    pub fn plain(self) -> Type {
        Type { is_const: false, is_restrict: false, ..self }
    }

    /// The declaration of a name.
    pub fn declare(&self, name: &str) -> String {
        let lead = format!("{}{} ", if self.is_const { "const " } else { "" }, self.base);
        let restrict = if self.is_restrict { "__restrict__ " } else { "" };
        if self.rows.is_empty() {
            return format!("{lead}{}{restrict}{name}", "*".repeat(self.stars));
        }
        let rows: String = self.rows.iter().map(|size| format!("[{size}]")).collect();
        format!("{lead}{}(*{restrict}{name}){rows}", "*".repeat(self.stars.saturating_sub(1)))
    }

    /// A value as one of this type; `__restrict__` says nothing of a value.
    pub fn cast(&self, value: &str) -> String {
        let plain = Type { is_restrict: false, ..self.clone() };
        format!("({}){value}", plain.declare("").trim_end())
    }
}

#[cfg(test)]
mod tests;
