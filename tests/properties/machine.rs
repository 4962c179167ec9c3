//! The machine: every verified program ends, whatever it is answered, and the order in which answers arrive cannot be seen.

use std::sync::Arc;

use aigo_ir::key::KeyWriter;
use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::print::print;
use aigo_ir::program::Program;
use aigo_ir::read::read;
use aigo_ir::value::Value;
use aigo_machine::{Answer, Ask, Linked, Outcome, Sample, ToolCall, Trial};
use proptest::prelude::*;

use super::dice::Dice;
use super::programs::program;
use super::text::mutated;

/// Far more calls than the generator's bounds allow.
const MOST_CALLS: usize = 20_000;

fn sample(program: &Program, graph: usize) -> Arc<Sample> {
    let mut row = aigo_ir::value::Map::default();
    row.set("plan", Value::str("Pro {{ x }}"));
    for field in &program.fields {
        if row.get(&field.name).is_none() {
            row.set(field.name.clone(), Value::Null);
        }
    }
    // Some begin with what was recorded.
    let mut conversation = Conversation::default();
    if program.seed.is_multiple_of(2) {
        conversation.push(USER.into(), MessageKind::Say, "Hello?".into());
        conversation.push(ASSISTANT.into(), MessageKind::Say, "Good morning.".into());
    }
    Arc::new(Sample {
        key: "k".into(),
        epoch: 1,
        graph: program.solves.get(graph).map(|graph| graph.name.clone()).unwrap_or_default(),
        row: Arc::new(row),
        conversation: Arc::new(conversation),
        tags: Arc::default(),
        cluster: None,
    })
}

/// An answer that depends on the call alone: prose, objects of both shapes, silence, faults, tool calls.
fn answer(ask: &Ask) -> Answer {
    let mut writer = KeyWriter::new("test.answer");
    ask.position.hash_into(&mut writer);
    let dice = &mut Dice::new(writer.key(&ask.content).finish().number());
    let text: Arc<str> = match dice.below(6) {
        0 => "".into(),
        1 => r#"{"message":"go on","status":"going"}"#.into(),
        2 => r#"{"message":"bye","status":"done"}"#.into(),
        3 => r#"{"evidence":[],"reason":"fine","score":1}"#.into(),
        4 => r#"{"evidence":[{"turn":"1a","quote":"x"}],"reason":"bad","score":false}"#.into(),
        _ => dice.hostile().into(),
    };
    let call = || ToolCall { id: "c".into(), tool: "t0".into(), arguments: "{}".into() };
    let calls = if dice.one_in(5) { vec![call(), call()] } else { Vec::new() };
    let fault = dice.one_in(6).then(|| Arc::from(*dice.pick(&["filtered", "context_length", "http_500"])));
    Answer { text, calls, stop: "stop".into(), fault, ..Answer::default() }
}

/// Runs a trial to its end, the next answer chosen by `choose` among those that are waited for.
fn ended(linked: &Arc<Linked>, graph: usize, mut choose: impl FnMut(usize) -> usize) -> (Outcome, usize, usize) {
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), sample(&linked.program, graph));
    let (mut calls, mut side_by_side) = (0, 0);
    while !pending.is_empty() {
        side_by_side = side_by_side.max(pending.len());
        let next = pending.swap_remove(choose(pending.len()));
        calls += 1;
        assert!(calls < MOST_CALLS, "no end");
        pending.extend(trial.answer(next.lane, answer(&next.ask)));
        // An answer for a lane that does not wait for one changes nothing.
        assert!(trial.answer(next.lane + 1_000_000, Answer::default()).is_empty());
    }
    (trial.outcome().expect("nothing is waited for, so it has ended"), calls, side_by_side)
}

fn linked(program: Program) -> Arc<Linked> {
    Arc::new(Linked::new(program).unwrap_or_else(|violations| panic!("{violations:?}")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_program_ends_and_the_order_of_answers_cannot_be_seen(seed: u64, size in 0_usize..24, graph in 0_usize..3) {
        let linked = linked(program(seed, size));
        let (first, calls, _) = ended(&linked, graph, |_| 0);
        let dice = &mut Dice::new(seed);
        for (order, choose) in [("last first", &mut (|n: usize| n - 1) as &mut dyn FnMut(usize) -> usize), ("any", &mut |n| dice.below(n))] {
            let (again, more, _) = ended(&linked, graph, choose);
            prop_assert_eq!(calls, more, "{}", order);
            prop_assert_eq!(again.leaf(), first.leaf(), "{}", order);
            prop_assert_eq!(&again, &first, "{}", order);
        }
        // What was said is one of a closed set of endings, and every scorer has exactly one value of the whole.
        for scorer in &linked.program.scorers {
            let whole = first.scores.iter().filter(|row| row.scorer == scorer.name && row.turn.is_none()).count();
            prop_assert_eq!(whole, 1, "{}", &scorer.name);
        }
    }

    /// A program that was read and verified is as good as one that was compiled: it ends.
    #[test]
    fn changed_programs_that_are_sound_end_as_well(seed: u64, size in 0_usize..12) {
        let text = mutated(&print(&program(seed, size)), &mut Dice::new(seed));
        if let Ok(read) = read(&text)
            && let Ok(linked) = Linked::new(read)
        {
            let linked = Arc::new(linked);
            let (first, ..) = ended(&linked, 0, |_| 0);
            let (again, ..) = ended(&linked, 0, |n| n - 1);
            prop_assert_eq!(first, again);
        }
    }
}

#[test]
fn the_generator_makes_programs_that_call_side_by_side_and_end_in_many_ways() {
    let (mut most_calls, mut most_wide, mut endings) = (0, 0, std::collections::BTreeSet::new());
    let mut scored = 0;
    for seed in 0..1200 {
        let (outcome, calls, wide) = ended(&linked(program(seed, 20)), 0, |_| 0);
        // However alike two calls of a trial are, they are draws of their own: nothing asked twice may be answered once.
        let contents: std::collections::BTreeSet<_> =
            outcome.calls.iter().map(|call| (&call.position.graph, call.content)).collect();
        assert_eq!(contents.len(), outcome.calls.len(), "seed {seed}: two calls share a content");
        most_calls = most_calls.max(calls);
        most_wide = most_wide.max(wide);
        scored += outcome.scores.iter().filter(|row| row.turn.is_some()).count();
        endings.insert(outcome.ending.word());
    }
    assert!(most_calls >= 20 && most_wide >= 4, "{most_calls} calls, {most_wide} side by side");
    assert!(endings.len() >= 10 && scored > 50, "{endings:?}, {scored} scores of turns");
}

/// Two items of a map fail in different words. Which of them is told must not depend on who was answered first, in a score
/// graph (the scorer is void, with a reason) and in a solve graph (the trial ends as a task error).
#[test]
fn of_several_faults_the_same_one_is_told() {
    let graph = "slot \"i\" type=\"integer\"\nslot \"r\" type=\"reply\"\nslot \"v\" type=\"verdict\"\nslot \"vs\" type=\"list<verdict>\"\n\
         slot \"n\" type=\"any\"\nslot \"w\" type=\"verdict\"\n\
         n0 \"map\" map in=\"[1, 2, 2]\" item=\"i\" cap=3 give=\"v\" into=\"vs\" done=n6 {\n\
          n1 \"ask\" generate role=\"assistant\" view=chat opening=\"{{ i }}\" into=\"r\" ok=n2 bad=n2\n\
          n2 \"fork\" branch when=\"i == 1\" yes=n3 no=n4\n\
          n3 \"one\" let into=\"n\" value=\"first([])\" next=n5\n n4 \"two\" let into=\"n\" value=\"last([])\" next=n5\n\
          n5 \"check\" check contains=\"a\" text=\"r.text\" author=\"assistant\" turn=\"i\" into=\"v\" next=again\n}\n\
         n6 \"over\" reduce from=\"vs\" by=all into=\"w\" next=n7\n";
    let head = "aigo-ir 1\nprogram \"p\" {\n seed 0\n epochs 1\n}\nrole \"assistant\" scripted {\n rule say=\"a\"\n}\n";
    let spoken = "n0 \"u\" append author=\"user\" say=\"Hi.\" next=n1\nn1 \"a\" append author=\"assistant\" say=\"Hi.\" next=n2\n";
    let solve = format!("{head}solve \"main\" {{\n{graph}n7 \"end\" exit completed\n}}\n");
    let score = format!(
        "{head}solve \"main\" {{\n{spoken}n2 \"end\" exit completed\n}}\nscore \"s\" scale=boolean pass=@1 evidence=none {{\n\
         {graph}n7 \"score\" score scorer=\"s\" from=\"w\" next=n8\nn8 \"end\" exit completed\n}}\n"
    );
    for text in [solve, score] {
        let linked = linked(read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
        let (first, calls, wide) = ended(&linked, 0, |_| 0);
        let (last, ..) = ended(&linked, 0, |n| n - 1);
        assert_eq!((calls, wide), (3, 3), "the other items go on");
        assert_eq!(first, last);
        let told = first.fault.clone().or_else(|| first.scores.first().map(|row| row.verdict.reason.to_string()));
        assert!(told.unwrap().starts_with("`first([])`"));
    }
}

/// Equal items of a list ask the same, and are two draws all the same.
#[test]
fn equal_items_are_draws_of_their_own() {
    let text = "aigo-ir 1\nprogram \"p\" {\n seed 0\n epochs 1\n}\nrole \"assistant\" scripted {\n rule say=\"a\"\n}\nsolve \"main\" {\n\
         slot \"i\" type=\"integer\"\nslot \"r\" type=\"reply\"\nslot \"rs\" type=\"list<reply>\"\n\
         n0 \"map\" map in=\"[7, 7, 7]\" item=\"i\" cap=3 give=\"r\" into=\"rs\" done=n3 {\n\
          n1 \"ask\" generate role=\"assistant\" view=chat opening=\"{{ i }}\" into=\"r\" ok=n2 bad=n2\n\
          n2 \"again\" generate role=\"assistant\" view=chat opening=\"{{ i }}\" into=\"r\" ok=again bad=again\n}\n\
         n3 \"end\" exit completed\n}";
    let linked = linked(read(text).unwrap());
    let (outcome, ..) = ended(&linked, 0, |_| 0);
    let contents: std::collections::BTreeSet<_> = outcome.calls.iter().map(|call| call.content).collect();
    assert_eq!((outcome.calls.len(), contents.len()), (6, 6));
}
