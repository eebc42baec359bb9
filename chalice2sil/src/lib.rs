//! chalice2sil
