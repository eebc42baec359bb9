//! chalice
