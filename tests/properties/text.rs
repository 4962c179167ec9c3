//! The text form: programs come back from it, and whatever is read can be verified.

use std::collections::BTreeSet;

use aigo_ir::print::print;
use aigo_ir::read::read;
use aigo_ir::verify::verify;
use proptest::prelude::*;

use super::dice::Dice;
use super::programs::program;

/// The text with some of its words, lines and marks changed, doubled, moved or gone.
pub(super) fn mutated(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(3) {
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(7) {
            6 => {
                // An edge less, or an operand.
                let words: Vec<&str> = lines[at].split(' ').collect();
                let gone = dice.below(words.len());
                let rest = words.iter().enumerate().filter(|(at, word)| *at != gone || !word.contains('='));
                lines[at] = rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
            }
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => {
                let line = lines[other].clone();
                lines.insert(at, line);
            }
            3 => {
                let word = *dice.pick(&["again", "break", "n0", "n1", "n2", "n3", "n7", "n99"]);
                let words: Vec<&str> = lines[at].split(' ').collect();
                let changed = words.iter().map(|one| match one.split_once('=') {
                    Some((key, value)) if value.starts_with('n') || value == "again" || value == "break" => {
                        format!("{key}={word}")
                    }
                    _ => (*one).to_owned(),
                });
                lines[at] = changed.collect::<Vec<_>>().join(" ");
            }
            4 => {
                let kinds = ["reply", "string", "integer", "verdict", "user_turn", "list<verdict>", "any"];
                let (from, to) = (*dice.pick(&kinds), *dice.pick(&kinds));
                lines[at] = lines[at].replace(from, to);
            }
            _ => {
                let line = &lines[at];
                let from =
                    line.char_indices().map(|(at, _)| at).nth(dice.below(line.chars().count().max(1))).unwrap_or(0);
                lines[at] = format!(
                    "{}{}{}",
                    &line[..from],
                    dice.pick(&["\"", "{", "}", "@", " ", "0", "#", ""]),
                    &line[from..]
                );
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_come_back_from_their_text(seed: u64, size in 0_usize..24) {
        let made = program(seed, size);
        let text = print(&made);
        let violations = verify(&made);
        prop_assert!(violations.is_empty(), "{:?}\n{}", violations, text);
        let back = read(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&back, &made, "{}", text);
        prop_assert_eq!(print(&back), text);
        prop_assert_eq!(back.hash(), made.hash());
        prop_assert!(!print(&made).contains(|c: char| c.is_control() && c != '\n'), "a line that could drive a terminal");
    }

    #[test]
    fn any_change_is_read_and_verified_or_refused(seed: u64, size in 0_usize..16) {
        let text = print(&program(seed, size));
        let changed = mutated(&text, &mut Dice::new(seed ^ 0x5eed));
        match read(&changed) {
            Err(error) => prop_assert!(error.line >= 1 && error.line <= changed.lines().count() + 1, "{}", error),
            Ok(back) => {
                let violations = verify(&back);
                prop_assert!(violations.iter().all(|one| !one.message.is_empty() && !one.invariant.is_empty()));
                // What is read can be written, whether it holds together or not.
                prop_assert_eq!(print(&read(&print(&back)).unwrap()), print(&back));
            }
        }
    }
}

#[test]
fn the_generator_makes_every_node_and_changes_break_every_invariant() {
    let (mut nodes, mut broken, mut sound, mut refused) = (BTreeSet::new(), BTreeSet::new(), 0, 0);
    for seed in 0..8000 {
        let made = program(seed, 16);
        for graph in made.graphs() {
            nodes.extend(graph.nodes().map(|(_, placed)| placed.node.word()));
        }
        let text = print(&made);
        for change in 0..4 {
            match read(&mutated(&text, &mut Dice::new(seed * 4 + change))) {
                Err(_) => refused += 1,
                Ok(back) => {
                    let violations = verify(&back);
                    sound += usize::from(violations.is_empty());
                    broken.extend(violations.into_iter().map(|one| one.invariant));
                }
            }
        }
    }
    assert_eq!(nodes.len(), 12, "{nodes:?}");
    assert!(sound > 100 && refused > 100, "{sound} still sound, {refused} refused");
    for invariant in ["ports", "regions", "acyclic", "reachable", "assigned_before_read", "types", "one_score_each"] {
        assert!(broken.contains(invariant), "no change breaks {invariant}: {broken:?}");
    }
}
