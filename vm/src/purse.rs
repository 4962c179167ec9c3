//! What a run spends. Amounts are whole numbers of 10^-12 USD: a price of 0.15 USD for a million tokens is 150,000 of them a
//! token, and no sum is rounded.
//!
//! A call reserves the most that it can cost before it is sent, so a run never passes `limits.cost`, whatever the calls in
//! flight turn out to cost.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aigo_ir::program::{ChatModel, PER_USD, Player, Program};
use aigo_ir::value::Value;
use aigo_log::Trial as LoggedTrial;
use aigo_machine::{Request, Usage, cost};
use tokio::sync::Notify;

use crate::stop::Stop;

/// What a message costs in tokens beside its text: roles, marks, names of fields. Templates of chats take three to ten.
const PER_MESSAGE: u64 = 20;
const PER_REQUEST: u64 = 100;

/// The money of a run.
pub(crate) struct Purse {
    limit: Option<u64>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    spent: u64,
    reserved: u64,
}

/// A part of the limit that a call may use up. What is not spent of it is given back when it is dropped.
pub(crate) struct Reserved<'p> {
    purse: &'p Purse,
    most: u64,
}

impl Purse {
    pub(crate) fn new(limit_usd: Option<f64>, spent: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above zero; casts saturate")]
        let limit = limit_usd.map(|usd| (usd * PER_USD) as u64);
        Self { limit, state: Mutex::new(State { spent, reserved: 0 }), changed: Notify::new() }
    }

    /// What was spent so far, in USD.
    pub(crate) fn spent_usd(&self) -> f64 {
        self.state().spent as f64 / PER_USD
    }

    /// Whether there is a limit, so that reserving means something.
    pub(crate) const fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves an amount, or waits until calls in flight have cost less than they might have. None where there is nothing
    /// left to wait for, or the run has stopped.
    pub(crate) async fn reserve(&self, most: u64, stop: &Stop) -> Option<Reserved<'_>> {
        let Some(limit) = self.limit else { return Some(Reserved { purse: self, most: 0 }) };
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.state();
                if state.spent.saturating_add(state.reserved).saturating_add(most) <= limit {
                    state.reserved += most;
                    return Some(Reserved { purse: self, most });
                }
                if state.reserved == 0 {
                    return None;
                }
            }
            tokio::select! {
                () = changed => {}
                () = stop.stopped() => return None,
            }
        }
    }
}

impl Reserved<'_> {
    /// The call has cost so much; where nobody knows, as much as it could.
    pub(crate) fn spend(mut self, cost: Option<u64>) {
        let cost = cost.unwrap_or(self.most);
        {
            let mut state = self.purse.state();
            state.spent = state.spent.saturating_add(cost);
            state.reserved = state.reserved.saturating_sub(self.most);
        }
        self.most = 0;
        self.purse.changed.notify_waiters();
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.most > 0 {
            let mut state = self.purse.state();
            state.reserved = state.reserved.saturating_sub(self.most);
            drop(state);
            self.purse.changed.notify_waiters();
        }
    }
}

/// How many tokens an answer of a model has at most, where the task says so.
pub(crate) fn most_output(model: &ChatModel) -> Option<u64> {
    let whole = |wanted: &str| {
        let found = model.parameters.iter().find(|(name, _)| &**name == wanted);
        found.and_then(|(_, value)| match value {
            Value::Int(n) => u64::try_from(*n).ok(),
            _ => None,
        })
    };
    let most = whole("max_completion_tokens").or_else(|| whole("max_tokens")).or_else(|| whole("max_output_tokens"))?;
    // Several answers are billed each.
    Some(most.saturating_mul(whole("n").unwrap_or(1).max(1)))
}

/// The most that a call can cost: no tokenizer in use makes more tokens of a text than it has bytes, and an answer has at most
/// the tokens that the task allows it.
pub(crate) fn most(player: &Player, request: &Request) -> u64 {
    let Player::Chat(model) = player else { return 0 };
    let messages = request.messages.iter().map(|message| {
        let calls = message.calls.iter().map(|call| call.tool.len() + call.arguments.len() + call.id.len());
        (message.text.len() + calls.sum::<usize>()) as u64 + PER_MESSAGE
    });
    let schema = request.schema.as_ref().map_or(0, |(name, schema)| name.len() + schema.to_json().len()) as u64;
    let tools = request
        .tools
        .iter()
        .map(|tool| (tool.name.len() + tool.description.len() + tool.parameters.to_json().len()) as u64 + PER_MESSAGE);
    let input = messages.sum::<u64>() + schema + tools.sum::<u64>() + PER_REQUEST;
    let output = Some(most_output(model).unwrap_or(0));
    of(model, &Usage { input: Some(input), output, ..Usage::default() })
}

/// What a call has cost; none where the provider did not say.
pub(crate) fn spent(player: &Player, usage: &Usage) -> Option<u64> {
    let Player::Chat(model) = player else { return Some(0) };
    (usage.input.is_some() && usage.output.is_some()).then(|| of(model, usage))
}

fn of(model: &ChatModel, usage: &Usage) -> u64 {
    model.price.as_ref().map_or(0, |price| cost(price, usage))
}

/// What a logged trial has cost, in 10^-12 USD: its answers as the provider counted them, and calls without an answer or a
/// count as much as they could cost.
pub fn spent_by(program: &Program, trial: &LoggedTrial) -> u64 {
    let costs = trial.calls.iter().map(|call| {
        let Some(role) = program.role(&call.site.role) else { return 0 };
        // It was paid by the run that asked for it.
        if call.got.as_ref().is_some_and(|got| got.from.is_some()) {
            return 0;
        }
        let told = call.got.as_ref().and_then(|got| {
            // A request that was refused as it stands costs nothing.
            let refused = got.fault.is_some() && got.usage == aigo_log::Usage::default();
            let usage = Usage {
                input: got.usage.input,
                output: got.usage.output,
                cached: got.usage.cached,
                reasoning: got.usage.reasoning,
            };
            if refused { Some(0) } else { spent(&role.player, &usage) }
        });
        told.or(call.ask.most).unwrap_or_else(|| match &role.player {
            Player::Chat(model) => of(model, &Usage { output: most_output(model), ..Usage::default() }),
            _ => 0,
        })
    });
    costs.fold(0, u64::saturating_add)
}
