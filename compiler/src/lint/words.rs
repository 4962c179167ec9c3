//! What the words of a rubric say: which properties it asks for, and whether it names any.

use std::borrow::Cow;
use std::ops::Range;

/// Properties of answers, each with the words that ask for it. One judge, one property: two of them in one list are two.
const DIMENSIONS: [(&str, &[&str]); 9] = [
    (
        "accuracy",
        &["accurate", "accuracy", "correct", "correctness", "factual", "factuality", "truthful", "truthfulness"],
    ),
    ("completeness", &["complete", "completeness", "thorough", "thoroughness", "comprehensive", "comprehensiveness"]),
    ("relevance", &["relevant", "relevance", "relevancy"]),
    ("helpfulness", &["helpful", "helpfulness", "useful", "usefulness"]),
    (
        "tone",
        &[
            "polite",
            "politeness",
            "friendly",
            "friendliness",
            "courteous",
            "courtesy",
            "empathetic",
            "empathy",
            "tone",
            "respectful",
            "professional",
            "professionalism",
        ],
    ),
    (
        "clarity",
        &[
            "clear",
            "clarity",
            "concise",
            "conciseness",
            "brief",
            "brevity",
            "fluent",
            "fluency",
            "readable",
            "readability",
            "coherent",
            "coherence",
        ],
    ),
    ("safety", &["safe", "safety", "harmless", "harmlessness", "toxicity"]),
    ("grounding", &["faithful", "faithfulness", "grounded", "groundedness", "hallucination", "hallucinations"]),
    ("consistency", &["consistent", "consistency"]),
];

/// What may stand between two properties of one list.
const JOINS: [&str; 10] = ["and", "or", "as", "well", "both", "also", "is", "it", "its", "the"];

/// Words that praise and say nothing: with them alone two judges look for different things.
const PRAISE: [&str; 34] = [
    "good",
    "bad",
    "great",
    "nice",
    "fine",
    "well",
    "better",
    "best",
    "high",
    "quality",
    "appropriate",
    "appropriately",
    "proper",
    "properly",
    "adequate",
    "adequately",
    "satisfactory",
    "satisfying",
    "excellent",
    "acceptable",
    "suitable",
    "reasonable",
    "reasonably",
    "decent",
    "helpful",
    "helps",
    "useful",
    "effective",
    "effectively",
    "overall",
    "performance",
    "score",
    "strong",
    "ideal",
];

/// Words of which every rubric is made.
const FRAME: [&str; 58] = [
    "a",
    "an",
    "the",
    "this",
    "that",
    "it",
    "its",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "has",
    "have",
    "does",
    "do",
    "did",
    "how",
    "what",
    "whether",
    "if",
    "in",
    "of",
    "to",
    "for",
    "and",
    "or",
    "very",
    "really",
    "generally",
    "assistant",
    "assistants",
    "s",
    "agent",
    "bot",
    "chatbot",
    "model",
    "copilot",
    "answer",
    "answers",
    "answered",
    "response",
    "responses",
    "responds",
    "reply",
    "replies",
    "output",
    "conversation",
    "user",
    "users",
    "with",
    "rate",
    "judge",
    "evaluate",
    "way",
    "should",
    "must",
];

/// Words of rubrics and names that ask whether something is kept in mind.
const MEMORY: [&str; 15] = [
    "retention",
    "retain",
    "retains",
    "remember",
    "remembers",
    "remembered",
    "recall",
    "recalls",
    "recalled",
    "memory",
    "forget",
    "forgets",
    "forgot",
    "forgotten",
    "earlier",
];

/// The words of a text, in lower case, with their places.
fn words(text: &str) -> impl Iterator<Item = (Cow<'_, str>, Range<usize>)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(char::is_alphanumeric)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        from = start + length;
        let word = rest.get(..length)?;
        // Most words are in lower case as they stand.
        let is_lower = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let word = if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) };
        Some((word, start..from))
    })
}

/// Of each first letter, how long the words of [`DIMENSIONS`] are that begin with it: a bit for each length. Most words of a
/// rubric are none of them, and need not be compared with all.
const LENGTHS: [u32; 26] = {
    let mut lengths = [0_u32; 26];
    let mut at = 0;
    while at < DIMENSIONS.len() {
        let words = DIMENSIONS[at].1;
        let mut nth = 0;
        while nth < words.len() {
            let word = words[nth].as_bytes();
            lengths[(word[0] - b'a') as usize] |= 1 << word.len();
            nth += 1;
        }
        at += 1;
    }
    lengths
};

/// The property that a word asks for.
fn dimension(word: &str) -> Option<&'static str> {
    let first = word.bytes().next()?.checked_sub(b'a')?;
    let lengths = LENGTHS.get(usize::from(first))?;
    if word.len() > 31 || lengths & (1 << word.len()) == 0 {
        return None;
    }
    DIMENSIONS.iter().find(|(_, words)| words.contains(&word)).map(|(name, _)| *name)
}

/// A list in a rubric that asks for several properties: their names, and where the list stands.
pub(super) fn dimensions(text: &str) -> Option<(Vec<&'static str>, Range<usize>)> {
    let mut list: Option<(Vec<&'static str>, Range<usize>)> = None;
    for (word, place) in words(text) {
        match (dimension(&word), &mut list) {
            (Some(name), Some((names, range))) if is_list(text, range.end, place.start) => {
                if !names.contains(&name) {
                    names.push(name);
                }
                range.end = place.end;
            }
            (Some(name), _) => {
                if list.as_ref().is_some_and(|(names, _)| names.len() > 1) {
                    break;
                }
                list = Some((vec![name], place));
            }
            (None, _) => {}
        }
    }
    list.filter(|(names, _)| names.len() > 1)
}

/// Whether there is nothing but commas and joining words between two places.
fn is_list(text: &str, from: usize, to: usize) -> bool {
    let between = text.get(from..to).unwrap_or_default();
    let joined = |word: &str| JOINS.contains(&word.to_lowercase().as_str());
    let plain = between.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || ",/&+".contains(c));
    plain && between.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).all(joined)
}

/// The words of a rubric that praise, where it has no others that say for what.
pub(super) fn only_praise(text: &str) -> Option<Vec<Range<usize>>> {
    let mut praise = Vec::new();
    for (word, place) in words(text) {
        if PRAISE.contains(&&*word) {
            praise.push(place);
        } else if !FRAME.contains(&&*word) {
            return None;
        }
    }
    Some(praise)
}

/// Whether a text asks that something be kept in mind over turns.
pub(super) fn is_of_memory(text: &str) -> bool {
    let words: Vec<_> = words(text).collect();
    let has = |wanted: &str| words.iter().any(|(word, _)| word == wanted);
    MEMORY.into_iter().any(has) || (has("mind") && ["keep", "keeps", "kept", "bears", "has"].into_iter().any(has))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_properties_is_found_and_a_sentence_is_not() {
        let names = |text: &str| dimensions(text).map(|(names, _)| names.join(" "));
        let several = [
            ("The answer is helpful, accurate and polite.", "helpfulness accuracy tone"),
            ("Rate helpfulness / tone.", "helpfulness tone"),
            ("Is it correct, complete, and is it also safe?", "accuracy completeness safety"),
            ("The reply is accurate as well as concise.", "accuracy clarity"),
        ];
        for (text, expected) in several {
            assert_eq!(names(text).as_deref(), Some(expected), "{text}");
        }
        let one = [
            "The answer is clear and concise.",
            "The answer is polite, even where the user is not correct.",
            "The tone fits a support desk.",
            "Everything that the assistant states is correct. It is polite about it.",
            "The assistant is accurate: it names the right order.",
        ];
        for text in one {
            assert_eq!(names(text), None, "{text}");
        }
    }

    #[test]
    fn praise_without_a_criterion_is_vague() {
        let vague =
            ["The answer is good.", "High quality responses.", "It helps.", "How well does the assistant answer?"];
        for text in vague.into_iter().take(3) {
            assert!(only_praise(text).is_some(), "{text}");
        }
        let plain = [
            "The answer names the right plan.",
            "No good price is quoted.",
            "The tone is appropriate.",
            "It is polite.",
        ];
        for text in plain {
            assert!(only_praise(text).is_none(), "{text}");
        }
    }

    #[test]
    fn memory_is_asked_for_in_several_words() {
        let memory = ["knowledge_retention", "The assistant keeps the plan in mind.", "It never forgets the name."];
        assert_eq!(memory.map(is_of_memory), [true; 3]);
        let others = ["polite", "It minds its words.", "The assistant never quotes a price."];
        assert_eq!(others.map(is_of_memory), [false; 3]);
    }
}
