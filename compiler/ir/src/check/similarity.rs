//! How alike two texts are: deterministic measures from 0 to 1, of the texts as [quotes](crate::quote) are compared.

use std::collections::BTreeSet;

use crate::quote::normalise;

/// A measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// 1 where the texts are equal, else 0.
    Exact,
    /// 1 less the number of single-character edits, as a share of the longer text's length (Levenshtein 1966).
    Levenshtein,
    /// The words in both as a share of the words in either (Jaccard 1912); how often a word stands there does not count.
    Jaccard,
    /// The same of runs of three characters of the words, marks between them left out.
    Trigrams,
    /// The harmonic mean of precision and recall over words, each as often as it stands there (Rajpurkar et al. 2016, the Stanford question answering data).
    F1,
}

/// Of longer texts the edits are counted in the first so many characters: their number grows with the square of it.
const MOST_CHARACTERS: usize = 10_000;

impl Measure {
    /// All measures.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Levenshtein, Self::Jaccard, Self::Trigrams, Self::F1];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Levenshtein => "levenshtein",
            Self::Jaccard => "jaccard",
            Self::Trigrams => "trigrams",
            Self::F1 => "f1",
        }
    }

    /// The measure of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.word() == word)
    }

    /// How alike the texts are, from 0 to 1. Two empty texts are equal.
    pub fn of(self, a: &str, b: &str) -> f64 {
        let (a, b) = (normalise(a), normalise(b));
        if a == b {
            return 1.0;
        }
        match self {
            Self::Exact => 0.0,
            Self::Levenshtein => {
                let cut = |text: &str| text.chars().take(MOST_CHARACTERS).collect::<String>();
                strsim::normalized_levenshtein(&cut(&a), &cut(&b))
            }
            Self::Jaccard => shared(&words(&a).collect(), &words(&b).collect()),
            Self::Trigrams => shared(&trigrams(&a), &trigrams(&b)),
            Self::F1 => f1(&a, &b),
        }
    }
}

fn shared<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// Twice the words that are in both, as a share of all words of the two.
fn f1(a: &str, b: &str) -> f64 {
    let (a, mut left): (Vec<&str>, Vec<&str>) = (words(a).collect(), words(b).collect());
    let all = a.len() + left.len();
    left.sort_unstable();
    let mut both = 0_usize;
    for word in a {
        if let Ok(at) = left.binary_search(&word) {
            left.remove(at);
            both += 1;
        }
    }
    if all == 0 { 0.0 } else { 2.0 * both as f64 / all as f64 }
}

/// The words without the marks around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty())
}

/// Runs of three characters of the words, with a blank before and behind each.
fn trigrams(text: &str) -> BTreeSet<[char; 3]> {
    let spaced = words(text).fold(" ".to_owned(), |spaced, word| spaced + word + " ");
    let characters: Vec<char> = spaced.chars().collect();
    characters.windows(3).filter_map(|three| <[char; 3]>::try_from(three).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_what_their_definitions_say() {
        let close = |measure: Measure, a: &str, b: &str, wanted: f64| {
            assert!((measure.of(a, b) - wanted).abs() < 1e-9, "{measure:?} {a} {b}: {}", measure.of(a, b));
            assert_eq!(measure.of(a, b).to_bits(), measure.of(b, a).to_bits());
        };
        close(Measure::Levenshtein, "kitten", "sitting", 1.0 - 3.0 / 7.0);
        close(Measure::Jaccard, "the plan is Pro", "The plan: *Team*", 2.0 / 5.0);
        // " ab", "ab " against " ab", "abc", "bc ".
        close(Measure::Trigrams, "ab", "abc", 1.0 / 4.0);
        close(Measure::Trigrams, "Two seats, on Pro!", "two **seats** on pro.", 1.0);
        close(Measure::F1, "the cat sat", "the the cat", 2.0 * 2.0 / 6.0);
        close(Measure::Exact, "It’s  DONE", "it's done", 1.0);
        close(Measure::Exact, "a", "b", 0.0);
        for measure in Measure::ALL {
            close(measure, "", "", 1.0);
            close(measure, "", "a", 0.0);
        }
    }
}
