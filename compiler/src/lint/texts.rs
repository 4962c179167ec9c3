//! Texts: `empty_text`, `key_in_text`.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::Span;
use aigo_source::Tree;

use super::Linted;
use crate::ast::{self, Leaf, Lines, Said, Step, Verb};
use crate::catalog;
use crate::parse::is_long_key;

/// `empty_text`: something is said that says nothing.
pub(super) fn empty(linted: &Linted<'_>, found: &mut Diagnostics) {
    let task = linted.task();
    of_steps(&task.solvers, found);
    for scenario in &task.scenarios {
        of_steps(scenario.solvers.as_deref().unwrap_or_default(), found);
    }
}

/// The same, in definitions.
pub(super) fn empty_in_definitions(define: &ast::Define, found: &mut Diagnostics) {
    define.solvers.iter().for_each(|defined| of_steps(&defined.body, found));
}

fn of_steps(steps: &[Step], found: &mut Diagnostics) {
    for step in steps {
        match &step.verb {
            Verb::System(said) => of_said(said, "the instruction is empty", found),
            Verb::User(said) | Verb::Assistant(said) => of_said(said, "nothing is said here: the text is empty", found),
            Verb::Script(Lines::Texts(lines)) => {
                for line in lines {
                    of_leaf(line, "nothing is said here: the line is empty", found);
                }
            }
            Verb::SimulateUser(simulate) => {
                of_leaf(&simulate.goal, "the user has no goal: the text is empty", found);
                if let Some(persona) = &simulate.persona {
                    of_leaf(persona, "the persona is empty", found);
                }
            }
            Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => of_steps(steps, found),
            Verb::If { then, otherwise, .. } => {
                of_steps(then, found);
                of_steps(otherwise, found);
            }
            _ => {}
        }
    }
}

fn of_said(said: &Said, message: &str, found: &mut Diagnostics) {
    match said {
        Said::One(leaf) => of_leaf(leaf, message, found),
        Said::AnyOf(choices) => choices.iter().for_each(|(leaf, _)| of_leaf(leaf, message, found)),
    }
}

fn of_leaf(leaf: &Leaf, message: &str, found: &mut Diagnostics) {
    if leaf.text.trim().is_empty() {
        let help = "write what is meant, or remove it";
        found.push(catalog::EMPTY_TEXT.at(leaf.span, message).help(help));
    }
}

/// The bytes that words are made of which may be keys.
const PARTS: [bool; 256] = {
    let mut parts = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        parts[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        byte += 1;
    }
    parts
};

/// No key is shorter, and most words are.
const SHORTEST: usize = 20;

/// `key_in_text`: a word anywhere in the file, comments included, that has the looks of a provider's key. Where keys are used
/// one is an error; here it may be made up, so that a test can see whether it is given away.
pub(super) fn keys(tree: &Tree, found: &mut Diagnostics) {
    let text = tree.text();
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| PARTS.get(usize::from(*byte)).is_some_and(|is_part| *is_part);
    // Behind a byte of no word. Where the next bytes are no long word, the next one begins behind the last of them that is of
    // no word, so most bytes are not looked at.
    let mut at = 0;
    while let Some(next) = bytes.get(at..at + SHORTEST) {
        if let Some(last) = next.iter().rposition(|byte| !is_part(byte)) {
            at += last + 1;
            continue;
        }
        let length = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_part(byte)).count();
        if text.get(at..at + length).is_some_and(is_long_key) {
            let message = "this has the looks of a key, and whoever reads the task can use it";
            let help = "remove it and change it where it is used: `{env: NAME}` takes one from the environment";
            let span = Span::new(tree.file(), at, at + length);
            found.push(catalog::KEY_IN_TEXT.at(span, message).help(help).secret());
        }
        at += length;
    }
}
