//! The traps of the grammar.
