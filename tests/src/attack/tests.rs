//! Few programs, always the same.
