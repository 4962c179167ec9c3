//! What a model said, gathered from a whole reply or from a stream, and the answer that it is.

use aigo_machine::{Answer, ToolCall, Usage};

use super::Reply;
use crate::fault::{Class, Fault};
use crate::rates::Rates;

/// Why a model stopped: a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was through, or came to a text at which it was to stop.
    Through,
    /// The answer is as long as it may be.
    Length,
    /// It waits for the results of tools.
    ToolCalls,
    /// A filter has taken the rest.
    Filter,
    /// It does not want to.
    Refusal,
    /// The provider did not say, or said what nobody knows.
    Unknown,
}

impl Stop {
    /// The word in answers.
    const fn word(self) -> &'static str {
        match self {
            Self::Through => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Filter => "filter",
            Self::Refusal => "refusal",
            Self::Unknown => "unknown",
        }
    }

    /// By a provider's word. A word that says that the provider broke off is a fault.
    pub(super) fn of(word: &str) -> Result<Self, Fault> {
        Ok(match word {
            "stop" | "end_turn" | "stop_sequence" | "eos" | "completed" => Self::Through,
            "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
                Self::Length
            }
            "tool_calls" | "tool_use" | "function_call" => Self::ToolCalls,
            "content_filter" | "safety" | "sensitive" => Self::Filter,
            "refusal" => Self::Refusal,
            "error" | "abort" | "cancelled" | "insufficient_system_resource" | "network_error" => {
                let message = format!("the answer was broken off by its server: `{word}`");
                return Err(Fault::new(Class::Transient, message));
            }
            _ => Self::Unknown,
        })
    }
}

/// A tool call, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct SaidCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: String,
}

/// What a model said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// Why it does not want to, where the provider keeps that apart from the text.
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<SaidCall>,
    pub(super) stop: Option<Stop>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) is_lossy: bool,
}

impl Said {
    /// The reply. `wanted` is the tool that the model had to call where an object was asked for in that way: its arguments
    /// are the answer.
    pub(super) fn reply(mut self, wanted: Option<&str>) -> Reply {
        let mut stop = self.stop.unwrap_or(Stop::Unknown);
        if let Some(at) = wanted.and_then(|wanted| self.calls.iter().position(|call| call.tool == wanted)) {
            self.text = self.calls.swap_remove(at).arguments;
            self.calls.clear();
            stop = if stop == Stop::ToolCalls { Stop::Through } else { stop };
        }
        if let Some(refusal) = self.refusal.filter(|refusal| !refusal.is_empty()) {
            stop = Stop::Refusal;
            if self.text.is_empty() {
                self.text = refusal;
            }
        }
        if !self.calls.is_empty() && matches!(stop, Stop::Through | Stop::Unknown) {
            stop = Stop::ToolCalls;
        }
        // A filter or a refusal with text left something to judge; without, there is nothing.
        let nothing = self.text.is_empty() && self.calls.is_empty();
        let fault = (nothing && matches!(stop, Stop::Filter | Stop::Refusal)).then(|| "filtered".into());
        let answer = Answer {
            text: self.text.into(),
            calls: calls(self.calls),
            stop: stop.word().into(),
            fault,
            usage: known(self.usage),
            ..Answer::default()
        };
        Reply {
            answer,
            model: self.model.filter(|model| !model.is_empty()),
            lossy: self.is_lossy,
            rates: Rates::default(),
        }
    }
}

/// The calls with an id of its own for each: results name them by it.
fn calls(said: Vec<SaidCall>) -> Vec<ToolCall> {
    let mut made: Vec<ToolCall> = Vec::with_capacity(said.len());
    for (at, call) in said.into_iter().enumerate() {
        let is_taken = call.id.is_empty() || made.iter().any(|earlier| *earlier.id == *call.id);
        let mut id = if is_taken { format!("call_{at}") } else { call.id };
        while is_taken && made.iter().any(|earlier| *earlier.id == *id) {
            id.push('_');
        }
        made.push(ToolCall { id: id.into(), tool: call.tool.into(), arguments: call.arguments.into() });
    }
    made
}

/// Some servers count nothing, and say zero.
fn known(usage: Usage) -> Usage {
    if usage.input.unwrap_or(0) == 0 && usage.output.unwrap_or(0) == 0 { Usage::default() } else { usage }
}
