//! silicon
