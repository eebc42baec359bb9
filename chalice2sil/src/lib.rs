//! chalice2sil

pub mod messages;
