//! One cheap call per endpoint, which says whether key and model are accepted: of the model itself where the provider tells
//! of it, else for an answer of one token.

use std::time::Duration;

use aigo_ir::program::{ChatModel, Dialect, Structured};
use aigo_ir::value::Value;
use aigo_machine::{ChatMessage, ChatRole, Request};
use tokio::task::JoinSet;

use super::client::{self, Client};
use super::{Header, wire};
use crate::error::{CALL_REFUSED, KEY_REFUSED, MODEL_REFUSED, MONEY_GONE, NO_CLIENT, RunError};
use crate::fault::{Class, Fault};
use aigo_ir::diagnostic::Row;

/// The longest that one of the calls may take.
const LONGEST: Duration = Duration::from_secs(15);

/// What a call has shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Key and model are accepted; what was seen, for people.
    Accepted(String),
    /// They are not: the code of what is wrong, and what the endpoint said.
    Refused(&'static Row, String),
    /// Nobody knows: the endpoint did not answer, or not now.
    Unreachable(String),
}

/// An endpoint to ask.
pub(super) struct Probe {
    client: Client,
    model: ChatModel,
    /// Whether the endpoint is told a secret: where it is not, its list of models says all there is to know.
    has_secret: bool,
}

impl Probe {
    pub(super) fn new(
        http: reqwest::Client,
        model: &ChatModel,
        key: Option<String>,
        headers: Vec<Header>,
    ) -> Result<Self, RunError> {
        let has_secret = key.is_some() || headers.iter().any(|header| header.secret.is_some());
        let model = smallest(model);
        let client = Client::new(http, &model, key, headers).map_err(RunError::Told)?;
        Ok(Self { client, model, has_secret })
    }

    async fn verdict(&self) -> Verdict {
        let told = match self.model.dialect {
            Dialect::OpenAi | Dialect::OpenAiResponses => {
                self.client.get(&format!("/models/{}", escaped(&self.model.model))).await.map(|_| true)
            }
            Dialect::Anthropic => {
                self.client.get(&format!("/v1/models/{}", escaped(&self.model.model))).await.map(|_| true)
            }
            // Lists of models are often public: they say nothing of a key.
            Dialect::OpenAiCompatible | Dialect::CompatibleResponses if self.has_secret => Ok(false),
            Dialect::OpenAiCompatible | Dialect::CompatibleResponses => {
                self.client.get("/models").await.map(|list| lists(&list, &self.model.model))
            }
        };
        match told {
            Ok(true) => return Verdict::Accepted("the endpoint has the model".to_owned()),
            Err(fault) if !asks_on(&fault) => return verdict(&fault),
            // Not listed, or not told: a key may be for answers alone, and a server may have no such path.
            Ok(false) | Err(_) => {}
        }
        let request = Request {
            role: "keys".into(),
            messages: vec![ChatMessage::new(ChatRole::User, "Hi")],
            schema: None,
            tools: std::sync::Arc::default(),
            tool: None,
            scope: None,
            input: None,
        };
        match self.client.ask(&request).await {
            Ok(reply) => {
                let usage = reply.answer.usage;
                let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
                Verdict::Accepted(format!("the model has answered, for {tokens} tokens"))
            }
            Err(fault) => verdict(&fault),
        }
    }
}

/// Asks all of them side by side, on a runtime of its own. The verdicts are in the order of the probes.
pub(super) fn ask(probes: Vec<Probe>) -> Result<Vec<Verdict>, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| RunError::told(NO_CLIENT.nowhere(format!("the runtime does not start: {error}"))))?;
    runtime.block_on(async {
        let mut verdicts = vec![Verdict::Unreachable("it was not asked".to_owned()); probes.len()];
        let mut tasks = JoinSet::new();
        for (at, probe) in probes.into_iter().enumerate() {
            tasks.spawn(async move { (at, probe.verdict().await) });
        }
        while let Some(joined) = tasks.join_next().await {
            if let Ok((at, verdict)) = joined
                && let Some(place) = verdicts.get_mut(at)
            {
                *place = verdict;
            }
        }
        Ok(verdicts)
    })
}

/// Whether a refusal to tell of models leaves it open if the model would answer.
fn asks_on(fault: &Fault) -> bool {
    let is_401 = fault.message.starts_with("HTTP 401");
    matches!(fault.class, Class::Config | Class::Request(_) | Class::Protocol)
        || (fault.class == Class::Auth && !is_401)
}

fn verdict(fault: &Fault) -> Verdict {
    let message = fault.message.clone();
    // A model that says how many tokens it wants was reached with a good key.
    let of_length =
        ["max_tokens", "max_completion_tokens", "max_output_tokens"].iter().any(|key| message.contains(key));
    match fault.class {
        Class::Auth => Verdict::Refused(&KEY_REFUSED, message),
        Class::Quota => Verdict::Refused(&MONEY_GONE, message),
        Class::Config | Class::Protocol => Verdict::Refused(&MODEL_REFUSED, message),
        Class::RateLimit => Verdict::Accepted("it answers that there are too many requests just now".to_owned()),
        Class::Request("filtered") => Verdict::Accepted("a filter has answered".to_owned()),
        Class::Request(_) if of_length => Verdict::Accepted("the model wants to say more than one word".to_owned()),
        Class::Request(_) => Verdict::Refused(&CALL_REFUSED, message),
        // The last two are of applications, and no model is one.
        Class::Overloaded | Class::Transient | Class::Unreachable | Class::NoConnection | Class::Failed { .. } => {
            Verdict::Unreachable(message)
        }
    }
}

/// The model, asked for as little as its API lets one ask for.
fn smallest(model: &ChatModel) -> ChatModel {
    const KEYS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
    let known = model.parameters.iter().map(|(name, _)| &**name).find(|name| KEYS.contains(name));
    let (usual, least) = match model.dialect {
        Dialect::OpenAi => ("max_completion_tokens", 1),
        Dialect::OpenAiCompatible | Dialect::Anthropic => ("max_tokens", 1),
        Dialect::OpenAiResponses | Dialect::CompatibleResponses => ("max_output_tokens", 16),
    };
    ChatModel {
        parameters: vec![(known.unwrap_or(usual).into(), Value::Int(least))],
        timeout_ms: u64::try_from(LONGEST.as_millis()).ok(),
        stream: Some(false),
        structured: Structured::default(),
        ..model.clone()
    }
}

/// Whether a list of models, as `OpenAI` or as Ollama writes one, has this one.
fn lists(list: &[u8], model: &str) -> bool {
    let list: serde_json::Value = serde_json::from_slice(list).unwrap_or_default();
    let items = ["data", "models"].into_iter().filter_map(|key| list.get(key)?.as_array());
    let mut names = items.flatten().flat_map(|item| ["id", "name", "model"].map(|key| item.get(key)));
    names.any(|name| name.and_then(serde_json::Value::as_str) == Some(model))
}

/// A name within a path.
fn escaped(name: &str) -> String {
    super::secrets::percent(name)
}

impl Client {
    /// The body of a good reply to a request for a path of the endpoint.
    async fn get(&self, path: &str) -> Result<Vec<u8>, Fault> {
        let url = wire::url(self.wire.base_url(), path);
        let outcome = match self.read(&url, LONGEST).await {
            Ok((status, body)) if (200..300).contains(&status) => return Ok(body),
            Ok((status, body)) => Err(super::refusal::of_reply(status, &body)),
            Err(fault) => Err(fault),
        };
        self.cleaned(outcome)
    }
}

/// Connections for probes.
pub(super) fn http() -> Result<reqwest::Client, RunError> {
    client::http(1).map_err(RunError::Told)
}
