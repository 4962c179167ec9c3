//! Keys that were meant: misspelt ones, and the words that other tools have for the same thing. What stands under such a key
//! is read as what it was meant to be, so that the one slip has no consequences and what is inside is checked all the same.

use aigo_ir::diagnostic::{self, Diagnostic};
use aigo_source::NodeRef;

use crate::catalog;
use crate::shape::{self, Construct};

/// Words of other tools, and ours. A word counts where the construct has ours and not theirs.
const OTHER_WORDS: [(&str, &str); 37] = [
    ("assert", "expect"),
    ("asserts", "expect"),
    ("assertion", "expect"),
    ("assertions", "expect"),
    ("expectations", "expect"),
    ("bot", "assistant"),
    ("cases", "samples"),
    ("rows", "samples"),
    ("tests", "samples"),
    ("tests", "dataset"),
    ("data", "dataset"),
    ("providers", "models"),
    ("roles", "models"),
    ("targets", "models"),
    ("steps", "solvers"),
    ("solver", "solvers"),
    ("prompts", "solvers"),
    ("evaluators", "scorers"),
    ("graders", "scorers"),
    ("metrics", "scorers"),
    ("thresholds", "gates"),
    ("repeat", "epochs"),
    ("vars", "with"),
    ("variables", "with"),
    ("args", "with"),
    ("label", "as"),
    ("id", "as"),
    ("criteria", "rubric"),
    ("prompt", "rubric"),
    ("threshold", "pass"),
    ("regex", "matches"),
    ("times", "max_turns"),
    ("max_iterations", "max_turns"),
    ("condition", "when"),
    ("parameters", "params"),
    ("message", "user"),
    ("max_words", "words"),
];

/// In a map with more unknown keys than this, no slip is looked for in those behind: such a file was not typed by a person, and a
/// hundred thousand comparisons of names help nobody.
pub(super) const SLIPS: usize = 500;

/// The key of the construct that was meant by a name that is none.
pub(super) fn meant(name: &str, construct: &'static Construct) -> Option<&'static str> {
    let known = |ours: &str| construct.names().find(|key| *key == ours);
    let of_others = OTHER_WORDS.iter().filter(|(theirs, _)| *theirs == name).find_map(|(_, ours)| known(ours));
    // A letter that is missing is a likelier slip than one that is another: `usr` is `user`, and not `use`.
    let dropped = || construct.names().find(|key| key.len() == name.len() + 1 && is_within(name, key));
    // Of the shortest names everything is near.
    // One that means the contrary was not meant.
    let is_same_way = |key: &&str| !key.starts_with("not_") || name.starts_with("no");
    let near = || diagnostic::nearest(name, construct.names().filter(is_same_way));
    let near_others = || {
        let words = OTHER_WORDS.iter().filter(|(_, ours)| known(ours).is_some());
        let theirs = diagnostic::nearest(name, words.map(|(theirs, _)| *theirs).filter(|theirs| theirs.len() > 5))?;
        OTHER_WORDS.iter().filter(|(word, _)| *word == theirs).find_map(|(_, ours)| known(ours))
    };
    of_others.or_else(|| if name.len() > 2 { dropped().or_else(near).or_else(near_others) } else { None })
}

/// Whether the letters of one stand in the other, in their order.
fn is_within(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short.chars().all(|letter| letters.any(|other| other == letter))
}

/// The finding of a key that is none. A key that was meant and is there already is no fix: it would stand twice.
pub(super) fn unknown(
    name: &str,
    span: aigo_ir::span::Span,
    node: NodeRef<'_>,
    construct: &'static Construct,
    may_be_slip: bool,
) -> Diagnostic {
    let found = catalog::UNKNOWN_KEY.at(span, format!("`{name}` is not a key of {}", construct.name));
    if !may_be_slip {
        return found;
    }
    match meant(name, construct) {
        Some(key) if node.get(key).is_some() => {
            found.help(format!("if you mean `{key}`, that is there already: join the two, or remove this one"))
        }
        Some(key) => found.help(format!("did you mean `{key}`?")).fix(format!("write `{key}`"), span, key),
        // A key of the task that stands too far to the right.
        None if construct.name != shape::TASK.name && shape::TASK.key(name).is_some() => {
            found.help(format!("`{name}` is a key of the task itself: move it to the left margin"))
        }
        None => found.maybe_help(diagnostic::suggest(name, construct.names())),
    }
}
