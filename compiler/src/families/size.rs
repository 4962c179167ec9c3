//! How large models are, by what their names say of it.

/// What is known of a model's size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Billions of parameters, where the name has them.
    billions: Option<f64>,
    /// Of makers that sell sizes by name, from 0, the smallest.
    tier: Option<u8>,
}

/// Words of names that are sizes.
const TIERS: [(&str, u8); 14] = [
    ("nano", 0),
    ("lite", 0),
    ("micro", 0),
    ("tiny", 0),
    ("mini", 1),
    ("haiku", 1),
    ("flash", 1),
    ("small", 1),
    ("ministral", 1),
    ("sonnet", 2),
    ("medium", 2),
    ("opus", 3),
    ("large", 3),
    ("ultra", 3),
];

/// How names begin that, without such a word, are the full size of their maker.
const FULL: [(&str, u8); 7] =
    [("gpt-3.5", 1), ("gpt-4", 2), ("gpt-5", 2), ("chatgpt-", 2), ("o1", 2), ("o3", 2), ("gemini-", 2)];

/// At most so many billions are small, whoever made them.
const SMALL_BILLIONS: f64 = 15.0;
/// The tier from which a model is not small.
const FULL_TIER: u8 = 2;

impl Size {
    /// What the name of a model says.
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let words = || name.split(['-', ':', '_', '@']);
        let billions = words().find_map(billions);
        let tier =
            words().filter_map(|word| TIERS.iter().find(|(known, _)| *known == word)).map(|(_, tier)| *tier).min();
        let full = FULL.iter().find(|(start, _)| name.starts_with(start)).map(|(_, tier)| *tier);
        let full =
            full.map(|tier| if words().any(|word| word == "pro") && !name.starts_with("gemini") { 3 } else { tier });
        Self { billions, tier: tier.or(full).filter(|_| billions.is_none()) }
    }

    /// Whether a model of this size is surely smaller than another. Names of sizes are only held against each other in full
    /// where one maker has given both (`related`); of two makers a small one is below a full one.
    pub fn is_below(self, other: Self, related: bool) -> bool {
        match (self.billions, other.billions, self.tier, other.tier) {
            (Some(own), Some(other), ..) => own < other * 0.95,
            (None, None, Some(own), Some(other)) => own < other && (related || (own < FULL_TIER && other >= FULL_TIER)),
            (Some(own), None, _, Some(other)) => own <= SMALL_BILLIONS && other >= FULL_TIER,
            _ => false,
        }
    }
}

/// `8b`, `1.5b`, `135m`, `8x7b`.
fn billions(word: &str) -> Option<f64> {
    let (digits, unit) = match word.strip_suffix('b') {
        Some(digits) => (digits, 1.0),
        None => (word.strip_suffix('m')?, 0.001),
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
    let count = match digits.split_once('x') {
        Some((experts, each)) => number(experts)? * number(each)?,
        None => number(digits)?,
    };
    Some(count * unit)
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_are_known_by_names() {
        let below = |a: &str, b: &str, related| Size::of(a).is_below(Size::of(b), related);
        assert!(below("gpt-5-mini-2025-08-07", "gpt-5-2025-08-07", true));
        assert!(below("gpt-4.1-nano", "gpt-4.1-mini", true));
        assert!(below("claude-sonnet-4-5", "claude-opus-4-5", true));
        assert!(below("claude-haiku-4-5", "gpt-5.2", false));
        assert!(below("gemini-2.5-flash", "claude-sonnet-4-5", false));
        assert!(below("llama3.2:3b", "qwen3:14b", false));
        assert!(below("llama-3.1-8b-instruct", "gpt-4o", false));
        assert!(below("mistral-7b", "mixtral-8x7b", true));
        assert!(below("smollm2-135m-instruct", "llama3.2:3b", false));
        let not = [
            ("gpt-5.2", "gpt-5-mini", true),
            ("gpt-5.2", "claude-opus-4-5", false),
            ("gpt-5-mini", "claude-haiku-4-5", false),
            ("our-own-model", "gpt-5.2", false),
            ("gpt-5.2", "our-own-model", false),
            ("qwen3:14b", "llama3.2:3b", false),
            ("llama-3.3-70b", "gpt-5.2", false),
            ("deepseek-chat", "gpt-5.2", false),
            ("mini", "8b", true),
        ];
        for (own, other, related) in not {
            assert!(!below(own, other, related), "{own} {other}");
        }
    }
}
