//! Programs made at random, checks of single members, and the places of what is read.

mod generated;
mod member_wise;
mod positions;
