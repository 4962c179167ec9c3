//! Verdicts, scales and evidence: what a scorer says of a turn or a conversation.

use std::fmt;
use std::sync::Arc;

use crate::value::Value;

/// What became of a verdict. None of these ever becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It has a value.
    Scored,
    /// The scorer does not apply to the sample.
    NotApplicable,
    /// The judge broke its contract after the repair.
    Invalid,
    /// The simulator or the infrastructure failed.
    Void,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Scored, Self::NotApplicable, Self::Invalid, Self::Void];

    /// The word in reports and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::NotApplicable => "not_applicable",
            Self::Invalid => "invalid",
            Self::Void => "void",
        }
    }

    /// Whether a value should be there and is not.
    pub const fn is_missing(self) -> bool {
        matches!(self, Self::Invalid | Self::Void)
    }
}

/// The values that a score can take.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// True or false.
    Boolean,
    /// Whole numbers between two ends, both included.
    Range(i64, i64),
    /// Any number from 0 to 1.
    Unit,
    /// Words, each worth a number.
    Labels(Vec<(Arc<str>, f64)>),
}

impl Scale {
    /// The number that a judge's value of this scale counts as; `None` where the value is not of the scale.
    pub fn number(&self, value: &Value) -> Option<f64> {
        match (self, value) {
            (Self::Boolean, Value::Bool(b)) => Some(f64::from(u8::from(*b))),
            (Self::Range(low, high), Value::Int(n)) if (low..=high).contains(&n) => value.as_f64(),
            (Self::Unit, Value::Int(_) | Value::Float(_)) => value.as_f64().filter(|x| (0.0..=1.0).contains(x)),
            (Self::Labels(labels), Value::Str(word)) => labels.iter().find(|(label, _)| label == word).map(|(_, x)| *x),
            _ => None,
        }
    }

    /// The number that a verdict's value counts as, also where a reducer made it: means, rates and medians leave the steps of
    /// the scale and are numbers between its ends.
    pub fn number_of_reduced(&self, value: &Value) -> Option<f64> {
        self.number(value).or_else(|| {
            let (worst, best) = self.ends();
            // The rate is a share, whatever the scale is.
            let (least, most) = (worst.min(0.0), best.max(1.0));
            value.as_f64().filter(|x| (least..=most).contains(x))
        })
    }

    /// The worst and the best number.
    pub fn ends(&self) -> (f64, f64) {
        match self {
            Self::Boolean | Self::Unit => (0.0, 1.0),
            Self::Range(low, high) => {
                (Value::Int(*low).as_f64().unwrap_or(0.0), Value::Int(*high).as_f64().unwrap_or(0.0))
            }
            Self::Labels(labels) => {
                let numbers = labels.iter().map(|(_, x)| *x);
                (numbers.clone().fold(f64::INFINITY, f64::min), numbers.fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }

    /// The best value, and with `worst` the worst.
    pub fn end(&self, worst: bool) -> Value {
        match self {
            Self::Boolean => Value::Bool(!worst),
            Self::Range(low, high) => Value::Int(if worst { *low } else { *high }),
            Self::Unit => Value::Float(if worst { 0.0 } else { 1.0 }),
            Self::Labels(labels) => {
                let ends = self.ends();
                let wanted = if worst { ends.0 } else { ends.1 };
                let found = labels.iter().find(|(_, x)| *x == wanted);
                found.map_or(Value::Null, |(label, _)| Value::Str(label.clone()))
            }
        }
    }

    /// The least number that passes unless the task says otherwise: `true`, 4 on 1..5, the middle of 0..1, the best label.
    pub fn default_pass(&self) -> f64 {
        match self {
            Self::Boolean => 1.0,
            Self::Range(low, high) => {
                libm::ceil(Value::Int(*low).as_f64().unwrap_or(0.0) + 0.75 * ((high - low) as f64))
            }
            Self::Unit => 0.5,
            Self::Labels(_) => self.ends().1,
        }
    }

    /// Reads what `Display` writes for every scale but labels.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "boolean" => Some(Self::Boolean),
            "0..1" => Some(Self::Unit),
            _ => {
                let (low, high) = text.split_once("..")?;
                let (low, high) = (low.parse().ok()?, high.parse().ok()?);
                (low < high && high - low <= 100 && i64::abs(low) <= 1000).then_some(Self::Range(low, high))
            }
        }
    }
}

/// `boolean`, `1..5`, `0..1`, `{good: 1, bad: 0}`.
impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::Unit => f.write_str("0..1"),
            Self::Range(low, high) => write!(f, "{low}..{high}"),
            Self::Labels(labels) => {
                let words: Vec<String> = labels.iter().map(|(word, x)| format!("{word}: {x}")).collect();
                write!(f, "{{{}}}", words.join(", "))
            }
        }
    }
}

/// The shape of the evidence that a failing verdict must bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceRule {
    /// At least one quote from the assistant.
    Commission,
    /// A quote from the user's statement and one from the assistant's breach.
    Pair,
    /// The user's words that went unanswered, and the turn where the answer was due.
    Omission,
    /// At least one quote from the user: where the user's side is judged.
    User,
    /// None.
    None,
}

impl EvidenceRule {
    /// All rules.
    pub const ALL: [Self; 5] = [Self::Commission, Self::Pair, Self::Omission, Self::User, Self::None];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Commission => "commission",
            Self::Pair => "pair",
            Self::Omission => "omission",
            Self::User => "user",
            Self::None => "none",
        }
    }
}

/// A quote and the message it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The message's label: `6a`.
    pub turn: Arc<str>,
    /// Words of that message.
    pub quote: Arc<str>,
}

impl Evidence {
    /// The number of the turn that its message is of.
    pub fn turn_number(&self) -> Option<u32> {
        self.turn.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    }
}

/// What a judge, a check or a reducer says.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What became of it.
    pub outcome: Outcome,
    /// The value on the scorer's scale, where scored.
    pub value: Option<Value>,
    /// Whether that value passes.
    pub pass: Option<bool>,
    /// Why, in a sentence.
    pub reason: Arc<str>,
    /// The words it rests on.
    pub evidence: Vec<Evidence>,
}

impl Verdict {
    /// A verdict with a value.
    pub fn scored(value: Value, pass: bool, reason: impl Into<Arc<str>>) -> Self {
        Self {
            outcome: Outcome::Scored,
            value: Some(value),
            pass: Some(pass),
            reason: reason.into(),
            evidence: Vec::new(),
        }
    }

    /// A verdict without a value.
    pub fn without_value(outcome: Outcome, reason: impl Into<Arc<str>>) -> Self {
        Self { outcome, value: None, pass: None, reason: reason.into(), evidence: Vec::new() }
    }

    /// As slots hold it. The reason of an invalid one is also its `complaint`, which a repair call tells the judge.
    pub fn to_value(&self) -> Value {
        let complaint = if self.outcome == Outcome::Invalid { self.reason.clone() } else { "".into() };
        let evidence = self
            .evidence
            .iter()
            .map(|e| Value::map([("turn", Value::Str(e.turn.clone())), ("quote", Value::Str(e.quote.clone()))]));
        Value::map([
            ("outcome", Value::str(self.outcome.word())),
            ("value", self.value.clone().unwrap_or_default()),
            ("pass", self.pass.map_or(Value::Null, Value::Bool)),
            ("reason", Value::Str(self.reason.clone())),
            ("complaint", Value::Str(complaint)),
            ("evidence", Value::list(evidence.collect())),
        ])
    }

    /// The other way; `None` where the value is no verdict.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |key: &str| match value.get(key) {
            Some(Value::Str(text)) => Some(text.clone()),
            _ => None,
        };
        let word = text("outcome")?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word() == &*word)?;
        let evidence =
            value.get("evidence")?.as_list()?.iter().map(|item| match (item.get("turn"), item.get("quote")) {
                (Some(Value::Str(turn)), Some(Value::Str(quote))) => {
                    Some(Evidence { turn: turn.clone(), quote: quote.clone() })
                }
                _ => None,
            });
        Some(Self {
            outcome,
            value: value.get("value").filter(|value| **value != Value::Null).cloned(),
            pass: value.get("pass").and_then(Value::as_bool),
            reason: text("reason")?,
            evidence: evidence.collect::<Option<Vec<_>>>()?,
        })
    }

    /// The number of the turn that the verdict points to: of its last evidence, where the breach stands.
    pub fn turn(&self) -> Option<u32> {
        self.evidence.last()?.turn_number()
    }
}
