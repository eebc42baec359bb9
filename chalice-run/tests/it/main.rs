//! Programs that are run: what they do, which schedules they have, and what the command prints.

mod command;
mod constructs;
mod emitted;
mod programs;
mod schedules;
mod sizes;
