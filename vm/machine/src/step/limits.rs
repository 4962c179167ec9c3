//! The limits of a sample. They bound its conversation: scorers are bounded by their own graphs.

use std::sync::Arc;

use aigo_ir::message::USER;
use aigo_ir::node::Ending;

use super::{Next, Stepper};
use crate::lane::{Effect, GraphRef};

impl Stepper<'_> {
    /// The end of a sample that would make a call, and has nothing left for one. The items of a map are not stopped on their
    /// way, because which of them would be must not depend on who is first; what they used counts when they are joined.
    pub(super) fn used_up(&self) -> Option<Next> {
        let counts = matches!(self.lane.graph, GraphRef::Solve(_)) && self.lane.item_of.is_none();
        let limits = &self.linked.program.limits.sample;
        (counts && self.lane.used.reaches(limits)).then_some(Next::Over(Effect::Ended(Ending::SampleLimit)))
    }

    /// The end of a sample whose user would begin a turn more than it may have.
    pub(super) fn turns_used_up(&self, author: &str, audience: Option<&Arc<str>>) -> Option<Next> {
        let begins = author == USER && audience.is_none() && matches!(self.lane.graph, GraphRef::Solve(_));
        let turns = self.linked.program.limits.sample.turns.filter(|_| begins)?;
        (u64::from(self.lane.conversation.turn()) >= turns).then_some(Next::Over(Effect::Ended(Ending::SampleLimit)))
    }
}
