//! What of a prompt its author wrote, and what aigo puts around it: prompts taken apart again, so that a lock can say which
//! of them moved.
//!
//! No word is lost: where a prompt is not of this build's making, all of it counts as the author's.

use aigo_ir::schema::Items;
use aigo_ir::verdict::{EvidenceRule, Scale};

use super::{
    ANSWER_AS_USER, DONE_WHEN, END_OF_ITEM, INDEX, ONE_TURN, PARTS, PROPERTIES, PROPERTY, TO_FIND, form, form_of_each,
    scale,
};

/// What a judge is asked, in parts. The line that explains the scale is in none of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The rubric, or what is to be found and its parts.
    pub(crate) rubric: String,
    /// What the values of the scale mean.
    pub(crate) anchors: String,
    /// The verdicts on other conversations.
    pub(crate) examples: String,
    /// aigo's own words.
    pub(crate) frame: String,
}

/// What the answer must hold to.
pub(crate) enum Wanted<'w> {
    /// A verdict, or several.
    Verdict(&'w Scale, EvidenceRule),
    /// A list of things found.
    Items(&'w Items),
}

/// Takes a judge's question apart.
pub(crate) fn asked(question: &str, wanted: &Wanted<'_>) -> Asked {
    let parts = match wanted {
        Wanted::Verdict(scale, rule) => of_judge(question, scale, *rule),
        Wanted::Items(items) => of_extraction(question, items),
    };
    parts.unwrap_or_else(|| Asked { rubric: question.to_owned(), ..Asked::default() })
}

fn of_judge(question: &str, on: &Scale, rule: EvidenceRule) -> Option<Asked> {
    let (one, each) = (form(rule), form_of_each(rule));
    let of_each = || Some((question.rsplit_once(&*each)?, &each));
    let ((before, repair), form) = question.rsplit_once(&*one).map(|parts| (parts, &one)).or_else(of_each)?;
    let (head, after) = before.rsplit_once(&*scale(on))?;
    let examples_at = after.find("\n<example 1>\n").unwrap_or(after.len());
    let (anchors, examples) = after.split_at_checked(examples_at)?;
    let of_all;
    let (rubric, around) = if let Some(body) = head.strip_prefix(PROPERTY) {
        let of_turn = body.strip_suffix(ONE_TURN);
        let rubric = of_turn.unwrap_or(body).strip_suffix("\n\n")?;
        (rubric, [PROPERTY, of_turn.map_or("", |_| ONE_TURN)])
    } else {
        let (about, rest) = head.split_once(PROPERTIES)?;
        let body = rest.split_once(INDEX)?.1.strip_suffix(END_OF_ITEM)?;
        of_all = format!("{about}{body}");
        (of_all.as_str(), [PROPERTIES, INDEX])
    };
    let frame = [around[0], around[1], form, &without_slot(repair)].concat();
    Some(Asked { rubric: rubric.to_owned(), anchors: anchors.to_owned(), examples: examples.to_owned(), frame })
}

fn of_extraction(question: &str, items: &Items) -> Option<Asked> {
    let (prompt, rest) = question.strip_prefix(TO_FIND)?.rsplit_once(PARTS)?;
    let most = format!("at most {} items", items.max);
    let (fields, form) = rest.split_once("\n\n").unwrap_or(("", rest));
    let (words, shape) = form.split_once("\n{\"items\"").unwrap_or((form, ""));
    let (shape, repair) = shape.split_once("{% if ").unwrap_or((shape, ""));
    let frame = [TO_FIND, PARTS, &words.replace(&most, ""), &without_slot(&format!("{{% if {repair}"))].concat();
    Some(Asked { rubric: [prompt, PARTS, fields, &most, shape].concat(), frame, ..Asked::default() })
}

/// What is said after a broken answer, whatever the slot is called that the verdict is in.
fn without_slot(repair: &str) -> String {
    let slot = repair.strip_prefix("{% if ").and_then(|rest| rest.split_once(".complaint"));
    slot.map_or_else(|| repair.to_owned(), |(slot, _)| repair.replace(&format!("{slot}.complaint"), "complaint"))
}

/// What a simulated user is told, without its stop rule, and the stop rule if it has one.
pub(crate) fn told(system: &str) -> (String, Option<String>) {
    let whole = || (system.to_owned(), None);
    let Some(body) = system.strip_suffix(ANSWER_AS_USER) else { return whole() };
    match body.rsplit_once(&format!("\n{DONE_WHEN}")) {
        Some((before, rule)) => ([before, "\n", ANSWER_AS_USER].concat(), Some(rule.trim_end().to_owned())),
        None => whole(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aigo_ir::schema::ItemKind;
    use aigo_ir::template::Template;

    use super::super::{batch, extraction, question, simulated_user};
    use super::*;
    use crate::ast::Example;
    use crate::typed::{Judge, Simulate};

    fn judge(rubric: &str, scale: Scale, evidence: EvidenceRule) -> Judge {
        Judge {
            roles: vec!["judge".into()],
            panel: None,
            rubric: Template::new(rubric),
            scale,
            anchors: Vec::new(),
            examples: Vec::new(),
            per_turn: false,
            window: None,
            sees_system: false,
            evidence,
            skip: None,
        }
    }

    #[test]
    fn a_question_falls_into_the_parts_that_it_was_made_of() {
        let labels = Scale::Labels(vec![("good".into(), 1.0), ("bad".into(), 0.0)]);
        for scale in [Scale::Boolean, Scale::Range(1, 5), Scale::Unit, labels] {
            for evidence in [EvidenceRule::None, EvidenceRule::Commission, EvidenceRule::Pair, EvidenceRule::Omission] {
                let wanted = Wanted::Verdict(&scale, evidence);
                let plain = judge("It keeps\n\n{{ plan }} in mind.", scale.clone(), evidence);
                let anchored = Judge {
                    anchors: vec![("1".into(), "{{ never".into()), ("5".into(), "always".into())],
                    examples: vec![Example {
                        shown: "[1u] Hi".into(),
                        score: aigo_ir::value::Value::Int(1),
                        reason: Some("Short.".into()),
                    }],
                    ..plain.clone()
                };
                let of_turn = Judge { per_turn: true, ..anchored.clone() };
                let [a, b, c] =
                    [&plain, &anchored, &of_turn].map(|judge| asked(&question(judge, "_verdict").source, &wanted));
                assert_eq!(a.rubric, "It keeps\n\n{{ plan }} in mind.");
                assert_eq!((&*a.anchors, &*a.examples, &a.rubric), ("", "", &b.rubric));
                assert_eq!(a.frame, b.frame);
                assert!(b.anchors.contains("5: always") && b.examples.contains("[1u] Hi"), "{b:?}");
                assert_eq!((&b.rubric, &b.anchors, &b.examples), (&c.rubric, &c.anchors, &c.examples));
                assert_ne!(b.frame, c.frame);
                // What asks again in a slot of another name asks the same.
                assert_eq!(asked(&question(&plain, "_verdict_again").source, &wanted), a);
                let each = asked(&batch(&anchored, None, "fact", "_batch_facts", "_found_facts").source, &wanted);
                assert_eq!((&b.rubric, &b.anchors, &b.examples), (&each.rubric, &each.anchors, &each.examples));
                assert!(each.frame.contains("one verdict for each item") && !each.frame.contains("_found"), "{each:?}");
            }
        }
    }

    #[test]
    fn of_an_extraction_the_items_are_the_authors() {
        let items = |max| Items { fields: vec![(Arc::from("fact"), ItemKind::Str)], max };
        let of = |prompt: &str, max, slot: &str| {
            asked(&extraction(&Template::new(prompt), &items(max), slot).source, &Wanted::Items(&items(max)))
        };
        let one = of("Facts.", 5, "_found_a");
        assert_eq!(one, of("Facts.", 5, "_found_b"));
        for other in [of("Others.", 5, "_found_a"), of("Facts.", 6, "_found_a")] {
            assert_eq!(one.frame, other.frame);
            assert_ne!(one.rubric, other.rubric);
        }
    }

    #[test]
    fn what_is_not_of_this_builds_making_is_the_authors() {
        let wanted = Wanted::Verdict(&Scale::Boolean, EvidenceRule::None);
        for text in ["", "Is it kind?", "The property to judge:\nIs it kind?\n\nScore: true or false."] {
            assert_eq!(asked(text, &wanted), Asked { rubric: text.to_owned(), ..Asked::default() });
        }
        assert_eq!(told("Play the user."), ("Play the user.".to_owned(), None));
    }

    #[test]
    fn a_stop_rule_is_taken_out_of_what_a_simulated_user_is_told() {
        let simulate = |stop: Option<&str>| Simulate {
            goal: Template::new("Five seats."),
            persona: None,
            knows: None,
            withholds: None,
            language: None,
            stop: stop.map(Template::new),
            opening: None,
            min_turns: 1,
        };
        let of = |stop| told(&simulated_user(&simulate(stop)).source);
        assert_eq!(of(Some("the price is known")), (of(None).0, Some("the price is known".to_owned())));
    }
}
