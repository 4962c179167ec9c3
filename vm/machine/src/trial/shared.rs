//! Lists that several scorers ask for in the same words of the same role: each is asked for once, by the first of them in the
//! program, and its answer is told to all. So they score the same items, and pay for them once.

use super::{LaneId, Pending, Trial};
use crate::ask::{Answer, Ask};
use crate::lane::{Event, Lane};
use crate::step::is_shared;

impl Trial {
    /// Whether a lane need not ask, because another one has asked the same and its answer is on its way.
    pub(super) fn joins(&mut self, id: LaneId, lane: &Lane, ask: &Ask) -> bool {
        if !is_shared(lane, &ask.request) {
            return false;
        }
        if let Some(others) = self.shared.get_mut(&ask.content) {
            others.push(id);
            return true;
        }
        self.shared.insert(ask.content, Vec::new());
        false
    }

    /// Tells a lane what another one was answered.
    pub(super) fn tell(&mut self, id: LaneId, answer: Answer, asks: &mut Vec<Pending>) {
        if let Some(resting) = self.lanes.remove(&id) {
            self.advance(id, resting.lane, resting.parent, Event::Answered(answer), asks);
        }
    }
}
