//! What families of models take and refuse: one table, by the beginning of the model's name.
//!
//! As of 2026-11-30, from the providers' references and the refusals that their users report. A model that is in no row is
//! taken as capable of everything: its server says otherwise soon enough. The longest prefix counts.

mod size;

use aigo_ir::program::{Dialect, Structured};

pub use size::Size;

/// What a family takes of `temperature` and `top_p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Both, freely.
    Free,
    /// Either of them, never both.
    OneOfBoth,
    /// Only where `reasoning_effort` is `none`.
    WithoutReasoning,
    /// Nothing but 1, which is what it does anyway.
    Fixed,
    /// Nobody knows of a model of this maker that the table does not have: what the task sets is sent, and no default is.
    Unsure,
}

/// What a family takes of `reasoning_effort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Efforts {
    /// Any of [`EFFORTS`].
    Any,
    /// These; none at all where the list is empty.
    Only(&'static [&'static str]),
}

/// Every `reasoning_effort` that a provider has.
pub const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A family of models.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// How the names of its models begin.
    pub prefix: &'static str,
    /// Who made it: models of one maker are related, which lints about judges ask.
    pub maker: &'static str,
    /// `temperature` and `top_p`.
    pub sampling: Sampling,
    /// The greatest `temperature`.
    pub most_temperature: f64,
    /// `reasoning_effort`.
    pub efforts: Efforts,
    /// Whether it takes `seed`.
    pub seed: bool,
    /// Whether it takes `stop`.
    pub stop: bool,
    /// The name of `max_tokens` on the wire.
    pub max_tokens: &'static str,
    /// How it is asked for an object.
    pub structured: Structured,
}

const CLASSIC: &[&str] = &["low", "medium", "high"];
const OF_OPENAI: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh"];
const TO_MAX: &[&str] = &["low", "medium", "high", "max"];
const OF_CLAUDE: &[&str] = &["low", "medium", "high", "xhigh", "max"];
const NO_EFFORT: Efforts = Efforts::Only(&[]);

/// A row of a model that takes everything but `reasoning_effort`, to be changed.
const fn row(prefix: &'static str, maker: &'static str) -> Family {
    Family {
        prefix,
        maker,
        sampling: Sampling::Free,
        most_temperature: 2.0,
        efforts: NO_EFFORT,
        seed: true,
        stop: true,
        max_tokens: "max_tokens",
        structured: Structured::Schema,
    }
}

/// A row of a model that knows no JSON Schema for its answers, and calls tools.
const fn by_tool(row: Family) -> Family {
    Family { structured: Structured::Tool, ..row }
}

/// A reasoning model of `OpenAI`.
const fn reasoning(prefix: &'static str, sampling: Sampling, efforts: &'static [&'static str]) -> Family {
    let efforts = Efforts::Only(efforts);
    Family { sampling, efforts, stop: false, max_tokens: "max_completion_tokens", ..row(prefix, "OpenAI") }
}

const fn claude(prefix: &'static str, sampling: Sampling, efforts: &'static [&'static str]) -> Family {
    let efforts = Efforts::Only(efforts);
    Family { sampling, most_temperature: 1.0, seed: false, efforts, ..row(prefix, "Anthropic") }
}

const fn other(prefix: &'static str, maker: &'static str) -> Family {
    Family { efforts: Efforts::Any, structured: Structured::BoundedSchema, ..row(prefix, maker) }
}

/// The table. Rows of one maker stand together.
pub static FAMILIES: &[Family] = &[
    by_tool(row("gpt-3.5", "OpenAI")),
    by_tool(row("gpt-4", "OpenAI")),
    row("gpt-4o", "OpenAI"),
    row("gpt-4.", "OpenAI"),
    Family { structured: Structured::Prompt, ..row("chatgpt-", "OpenAI") },
    other("gpt-oss", "OpenAI"),
    Family { stop: true, ..reasoning("o1", Sampling::Fixed, CLASSIC) },
    reasoning("o3", Sampling::Fixed, CLASSIC),
    Family { stop: true, ..reasoning("o3-mini", Sampling::Fixed, CLASSIC) },
    reasoning("o4", Sampling::Fixed, CLASSIC),
    reasoning("gpt-5", Sampling::Fixed, &["minimal", "low", "medium", "high"]),
    Family { max_tokens: "max_completion_tokens", ..row("gpt-5-chat", "OpenAI") },
    reasoning("gpt-5-pro", Sampling::Fixed, &["high"]),
    reasoning("gpt-5.", Sampling::Unsure, OF_OPENAI),
    reasoning("gpt-5.1", Sampling::WithoutReasoning, &["none", "low", "medium", "high"]),
    reasoning("gpt-5.1-codex", Sampling::Fixed, &["low", "medium", "high", "xhigh"]),
    reasoning("gpt-5.2", Sampling::WithoutReasoning, &["none", "low", "medium", "high", "xhigh"]),
    reasoning("gpt-5.2-pro", Sampling::Fixed, &["medium", "high", "xhigh"]),
    reasoning("gpt-5.6", Sampling::Fixed, OF_OPENAI),
    claude("claude-", Sampling::Unsure, OF_CLAUDE),
    by_tool(claude("claude-3", Sampling::Free, &[])),
    by_tool(claude("claude-opus-4-2", Sampling::Free, &[])),
    by_tool(claude("claude-opus-4-0", Sampling::Free, &[])),
    by_tool(claude("claude-sonnet-4-2", Sampling::Free, &[])),
    by_tool(claude("claude-sonnet-4-0", Sampling::Free, &[])),
    by_tool(claude("claude-opus-4-1", Sampling::OneOfBoth, &[])),
    claude("claude-opus-4-5", Sampling::OneOfBoth, CLASSIC),
    claude("claude-opus-4-6", Sampling::OneOfBoth, TO_MAX),
    claude("claude-sonnet-4-5", Sampling::OneOfBoth, &[]),
    claude("claude-sonnet-4-6", Sampling::OneOfBoth, TO_MAX),
    claude("claude-haiku-4-5", Sampling::OneOfBoth, &[]),
    claude("claude-opus-4-7", Sampling::Fixed, OF_CLAUDE),
    claude("claude-opus-4-8", Sampling::Fixed, OF_CLAUDE),
    claude("claude-fable", Sampling::Fixed, OF_CLAUDE),
    other("gemini-", "Google"),
    other("gemma", "Google"),
    other("llama", "Meta"),
    other("mistral", "Mistral AI"),
    other("mixtral", "Mistral AI"),
    other("qwen", "Alibaba"),
    other("qwq", "Alibaba"),
    other("deepseek", "DeepSeek"),
    other("phi", "Microsoft"),
];

/// The family of a model by its name on the wire; a folder before the name, as routers have it, is passed over.
pub fn family(model: &str) -> Option<&'static Family> {
    let name = model.rsplit('/').next().unwrap_or_default();
    let first = name.bytes().next()?.to_ascii_lowercase();
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let fitting = FAMILIES.iter().filter(|family| family.prefix.bytes().next() == Some(first) && begins(family.prefix));
    fitting.max_by_key(|family| family.prefix.len())
}

/// The family of a model at a provider, where the provider itself settles what the name does not.
pub fn family_at(dialect: Dialect, model: &str) -> Option<&'static Family> {
    let found = family(model);
    match dialect {
        Dialect::Anthropic => found.or_else(|| family("claude-")),
        _ => found,
    }
}

/// A model's name without a folder before it, a tag behind it, and its date: what versions of one model have in common.
pub fn base(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let digits = |part: &str, n: usize| part.len() == n && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut before = name;
    let mut last = || {
        let (rest, part) = before.rsplit_once(['-', '@'])?;
        before = rest;
        Some((rest, part))
    };
    match (last(), last(), last()) {
        (Some((_, day)), Some((_, month)), Some((rest, year)))
            if digits(day, 2) && digits(month, 2) && digits(year, 4) =>
        {
            rest
        }
        (Some((rest, date)), ..) if digits(date, 8) || digits(date, 4) => rest,
        _ => name,
    }
}

/// Whether two names are of one model, in whatever versions and from whatever provider.
pub fn is_same_model(one: &str, other: &str) -> bool {
    base(one).eq_ignore_ascii_case(base(other))
}

/// Whether a name of a known family stands for whatever its maker serves at the time: it carries no date, and is of a time in
/// which names without one were aliases. Anthropic's names from 4.6 on are versions themselves.
pub fn is_floating(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    let name = name.split(':').next().unwrap_or_default();
    if name.ends_with("-latest") {
        return true;
    }
    let Some(family) = family(model) else { return false };
    let aliased = match family.maker {
        "OpenAI" => !name.starts_with("gpt-oss"),
        "Anthropic" => DATED_CLAUDE.iter().any(|prefix| name.starts_with(prefix)),
        _ => false,
    };
    aliased && base(name) == name
}

/// How the names of Anthropic's models begin whose versions have dates.
const DATED_CLAUDE: [&str; 10] = [
    "claude-2",
    "claude-3",
    "claude-instant",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "claude-sonnet-4-2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_counts_and_no_prefix_stands_twice() {
        let prefix = |model: &str| family(model).map(|family| family.prefix);
        assert_eq!(prefix("gpt-5-mini-2025-08-07"), Some("gpt-5"));
        assert_eq!(prefix("openai/gpt-5.2-2025-12-11"), Some("gpt-5.2"));
        assert_eq!(prefix("GPT-4o"), Some("gpt-4o"));
        assert_eq!(prefix("gpt-4-0613"), Some("gpt-4"));
        assert_eq!(prefix("claude-sonnet-4-5-20250929"), Some("claude-sonnet-4-5"));
        assert_eq!(prefix("claude-sonnet-4-20250514"), Some("claude-sonnet-4-2"));
        assert_eq!(prefix("our-own-model"), None);
        let mut prefixes: Vec<&str> = FAMILIES.iter().map(|family| family.prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        assert_eq!(prefixes.len(), FAMILIES.len());
    }

    #[test]
    fn a_name_without_a_date_floats() {
        let floats = ["gpt-5-mini", "chatgpt-4o-latest", "claude-sonnet-4-5", "openai/gpt-4o"];
        let stays =
            ["gpt-5-mini-2025-08-07", "claude-sonnet-4-5-20250929", "gpt-4-0613", "llama3.2:3b", "gpt-oss-20b", "own"];
        assert_eq!(floats.map(is_floating), [true; 4]);
        assert_eq!(stays.map(is_floating), [false; 6]);
        assert!(!is_floating("claude-opus-4-6") && !is_floating("claude-fable-5"), "these names are versions");
    }

    #[test]
    fn versions_of_one_model_have_one_name() {
        assert_eq!(base("openai/gpt-5-mini-2025-08-07"), "gpt-5-mini");
        assert_eq!(base("claude-sonnet-4-5-20250929"), "claude-sonnet-4-5");
        assert_eq!(base("claude-3-5-sonnet-latest"), "claude-3-5-sonnet");
        assert_eq!(base("gpt-4-0613"), "gpt-4");
        assert_eq!(base("qwen3:14b"), "qwen3:14b");
        assert!(is_same_model("openai/GPT-5-mini", "gpt-5-mini-2025-08-07"));
        assert!(!is_same_model("qwen3:8b", "qwen3:14b"));
    }
}
