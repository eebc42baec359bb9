//! The constructors keep the value of what they simplify, and what they promise about form and
//! cost.

mod amounts;
mod forms;
mod meaning;
