//! sil
