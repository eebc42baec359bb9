//! Messages and the right to receive them.

use std::sync::Arc;

use super::transfer::Transfer;
use super::{Thread, blamed};
use crate::flaw::Flaw;
use crate::levels::Level;
use crate::object::Object;
use crate::trouble::{At, Res, fail};
use crate::value::Value;
use crate::world::Wish;

impl Thread {
    /// `send`
    ///
    /// # Errors
    /// The channel's contract does not hold.
    pub fn send(&mut self, channel: &Arc<Object>, values: Vec<Value>, at: At) -> Res<()> {
        if self.checks() {
            self.with_holding(|holding| holding.credit(channel, 1));
        }
        let taken = self.take_contract(channel, &values, Transfer::give(), self.reader.clone());
        let taken = blamed(taken, "send.failed", Some(at))?;
        self.world.change(channel, |status| status.queue.push_back((values, taken)));
        Ok(())
    }

    /// `receive`
    ///
    /// # Errors
    /// There is no right to receive, or the channel is not above what is held and owed.
    pub fn receive(&mut self, channel: &Arc<Object>, at: At) -> Res<Vec<Value>> {
        if self.checks() {
            if self.with_holding(|holding| holding.balance(channel)) <= 0 {
                return fail(Flaw::NoCredit, at, &[channel]);
            }
            let level = self.read(channel, 0, at)?.level();
            let is_above = level != Level::BOTTOM
                && self.wait_levels().iter().all(|held| self.is_below(*held, level));
            if self.world.program.deadlock_checks && !is_above {
                return fail(Flaw::WaitOrder, at, &[channel]);
            }
        }
        let wish = Wish::Message(channel.clone());
        let message = self.world.wait(self.number, at, wish, |status| status.queue.pop_front())?;
        let (values, left) = message.unwrap_or_default();
        if self.checks() {
            self.with_holding(|holding| {
                holding.add_all(left);
                holding.credit(channel, -1);
            });
        }
        Ok(values)
    }
}
