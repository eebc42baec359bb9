//! Constructors for the nodes of SIL's parse tree.

pub(crate) use sil::build::*;
