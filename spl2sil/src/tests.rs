//! What single constructs become.
