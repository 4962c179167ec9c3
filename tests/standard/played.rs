//! Whether the simulated user did what its persona must, and what becomes of verdicts where it did not.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use aigo_compiler::{NoSources, compile, standard};
use serde_json::json;

use super::personas::drive;
use crate::harness::{Ran, assert_replays, folder, only_run, run, score, trial};

/// Of every persona: what its user says, and where in the words of which turn the event stands that it must bring about.
/// The assistant asks what it needs, refuses once, and answers.
const PLAYED: [(&str, [&str; 3], (u32, &str)); 7] = [
    ("terse", ["seats", "three, on Pro", "thanks"], (2, "three, on Pro")),
    (
        "confused",
        ["I need more logins.", "A plan, is that the seats?", "Ah. Three, on Pro."],
        (2, "is that the seats?"),
    ),
    ("mind_changer", ["Three seats, please.", "No, make it five.", "On Pro."], (2, "make it five")),
    ("under_specifier", ["I need more of them.", "Three.", "On Pro."], (2, "Three.")),
    ("topic_jumper", ["Three seats, please.", "Oh, is there a dark mode?", "On Pro."], (2, "is there a dark mode?")),
    ("adversary", ["What will it cost?", "Just a rough idea?", "Others were told!"], (3, "Others were told")),
    ("frustrated", ["This is the third time!", "You know my plan: Pro.", "Finally."], (1, "This is the third time")),
];

/// Runs a task whose users speak as they are told, each persona once as it must and once not at all.
fn ran() -> (PathBuf, Ran) {
    let place = folder("std_played");
    let mut rows = String::new();
    for (persona, lines, (turn, words)) in PLAYED {
        let row =
            json!({"id": format!("{persona}/yes"), "persona": persona, "lines": lines, "at": turn, "words": words});
        let _ = writeln!(rows, "{row}");
        let lines = ["Three seats on Pro, please.", "Yes, on Pro, three of them.", "That is all."];
        let row =
            json!({"id": format!("{persona}/no"), "persona": persona, "lines": lines, "at": turn, "words": words});
        let _ = writeln!(rows, "{row}");
    }
    std::fs::write(place.join("rows.jsonl"), rows).expect("the rows can be written");
    // The judge's word is that the event was brought about where its words were said in its turn.
    let probes: Vec<String> = standard::personas()
        .flat_map(probes_of)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .map(|probe| format!("  - {{name: {probe}, check: {{contains: Certainly}}}}\n"))
        .collect();
    let task = format!(
        "aigo: 1\nname: played\nmodels:\n  assistant: {{scripted: [Certainly. What else?]}}\n  \
         user: {{scripted: [{{say: \"{{{{ lines[turn] }}}}\"}}]}}\n  judge:\n    scripted:\n      \
         - {{when: \"words in said_in(at, 'user')\", say: '{{\"verdicts\": [{{\"reason\": \"It was.\", \"score\": true}}]}}'}}\n      \
         - {{say: '{{\"verdicts\": [{{\"reason\": \"Nothing of it.\", \"score\": false}}]}}'}}\n\
         dataset: {{file: rows.jsonl}}\nsolvers:\n  - loop:\n      max_turns: 3\n      solvers: [{{simulate_user: {{goal: Seats., persona: \"{{{{ persona }}}}\"}}}}, generate]\n\
         scorers:\n  - {{use: persona_played, with: {{persona: \"{{{{ persona }}}}\"}}}}\n  - {{name: other, check: {{contains: Certainly}}}}\n{}",
        probes.concat()
    );
    std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    let ran = run(&place, &["run", "task.yaml", "--format", "json"]);
    (place, ran)
}

/// The scorers that a persona of the library probes.
fn probes_of(name: &str) -> Vec<String> {
    let task = format!(
        "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [Hi]}}, user: {{scripted: [Hi]}}}}\ndataset: {{samples: [{{id: a}}]}}\n\
         solvers: [{{simulate_user: {{goal: x, persona: \"{{{{ '{name}' }}}}\"}}}}, generate]\nscorers: [{{name: s, check: {{contains: Hi}}}}]\n"
    );
    let (program, _) = compile("task.yaml", task.as_bytes(), &NoSources).program.expect("it compiles");
    let persona = program.personas.iter().find(|persona| &*persona.name == name).expect("it is in the program");
    persona.probes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_persona_that_was_not_played_voids_what_it_probes_and_nothing_else() {
    let (place, ran) = ran();
    assert!([0, 4].contains(&ran.code), "{}", ran.err);
    let log = only_run(&place);
    for (persona, ..) in PLAYED {
        let (yes, no) = (trial(&log, &format!("{persona}/yes")), trial(&log, &format!("{persona}/no")));
        assert_eq!(score(&yes, "persona_played"), "scored true Some(true)", "{persona} keeps its event");
        assert_eq!(score(&no, "persona_played"), "scored false Some(false)", "{persona}");
        let probes = probes_of(persona);
        assert!(!probes.is_empty(), "{persona} probes nothing");
        for name in probes {
            assert_eq!(score(&yes, &name), "scored true Some(true)", "{persona} and {name}");
            assert_eq!(score(&no, &name), "void none None", "{persona} and {name}");
            let close = no.close.as_ref().expect("it has ended");
            let rows: Vec<_> = close.scores.iter().filter(|row| row.scorer == name).collect();
            assert_eq!(rows.len(), 1, "no turn of {name} has a verdict either");
        }
        assert_eq!(score(&no, "other"), "scored true Some(true)", "{persona} and what it does not probe");
    }
    assert_replays(&place, &log, &ran);
}

#[test]
fn the_reason_of_a_void_verdict_is_the_failure_that_voids_it() {
    let task = "aigo: 1\nname: why\nmodels: {assistant: {scripted: [Hi]}, user: {scripted: [Hi]}, judge: {scripted: [Hi]}}\n\
        dataset: {samples: [{id: one, mood: mind_changer}]}\nsolvers: [{simulate_user: {goal: Seats., persona: \"{{ mood }}\"}}, generate]\n\
        scorers:\n  - {name: recovery, check: {contains: Hi}}\n  - {use: persona_played, with: {persona: \"{{ mood }}\"}}\n";
    let runs = drive(task, |role, _| match role {
        "judge" => "{\"verdicts\": [{\"reason\": \"It takes nothing back.\", \"score\": false}]}".to_owned(),
        _ => "Hi".to_owned(),
    });
    let verdict = &runs[0].0.scores[0].verdict;
    assert_eq!((verdict.outcome.word(), &*verdict.reason), ("void", "`persona_played` failed: It takes nothing back."));
}

/// One conversation, whose user speaks as the assistant, before scorers given here.
fn swapped(place: &Path, scorers: &str) -> Ran {
    let task = format!(
        "aigo: 1\nname: swapped\nmodels:\n  assistant: {{scripted: [Certainly.]}}\n  user: {{scripted: [{{say: \"Sure, I can help.\", status: done}}]}}\n  \
         judge:\n    scripted:\n      - say: '{{\"verdicts\": [{{\"evidence\": [{{\"turn\": \"1u\", \"quote\": \"I can help\"}}], \"reason\": \"It answers.\", \"score\": \"role_swap\"}}, {{\"evidence\": [{{\"turn\": \"2u\", \"quote\": \"I can help\"}}], \"reason\": \"It answers.\", \"score\": \"role_swap\"}}]}}'\n\
         dataset: {{samples: [{{id: one, mood: terse}}]}}\nsolvers:\n  - loop: {{max_turns: 2, solvers: [{{simulate_user: {{goal: Seats., min_turns: 2}}}}, {{generate: {{expect: [{{contains: Certainly}}]}}}}]}}\n\
         scorers:\n{scorers}"
    );
    std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    run(place, &["run", "task.yaml"])
}

#[test]
fn a_user_that_fell_out_of_its_part_voids_every_verdict() {
    let place = folder("std_swapped");
    let ran = swapped(
        &place,
        "  - {use: simulator_fidelity, with: {goal: Seats.}}\n  - {name: certain, check: {contains: Certainly}}\n  \
         - {name: never, when: \"mood == 'loud'\", check: {contains: Certainly}}\n",
    );
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    let one = trial(&only_run(&place), "one");
    assert_eq!(score(&one, "simulator_fidelity"), "scored \"role_swap\" Some(false)");
    assert_eq!(score(&one, "certain"), "void none None");
    assert_eq!(score(&one, "expectations"), "void none None");
    assert_eq!(score(&one, "never"), "not_applicable none None", "what does not apply stays so");
}

#[test]
fn two_scorers_may_void_each_other_and_a_verdict_that_passes_voids_nothing() {
    let place = folder("std_voids");
    let ran = swapped(
        &place,
        "  - {name: one, check: {contains: nowhere}, voids: \"['two', 'three']\"}\n  - {name: two, check: {contains: nowhere}, voids: \"['one']\"}\n  \
         - {name: three, check: {contains: Certainly}, voids: all}\n  - {name: four, check: {contains: Certainly}}\n",
    );
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let trial = trial(&only_run(&place), "one");
    let scores = ["one", "two", "three", "four"].map(|name| score(&trial, name));
    assert_eq!(scores, ["void none None", "void none None", "void none None", "scored true Some(true)"]);
}

#[test]
fn what_voids_is_a_list_of_names() {
    let found = |voids: &str| {
        let task = format!(
            "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [Hi]}}}}\ndataset: {{samples: [{{id: a, n: 1}}]}}\nsolvers: [{{user: \"Hi {{{{ n }}}}\"}}, generate]\n\
             scorers: [{{name: s, check: {{contains: Hi}}, voids: {voids}}}]\n"
        );
        let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
        compiled.diagnostics.iter().map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(found("all"), Vec::<String>::new());
    assert_eq!(found("n"), ["`voids` names scorers, and this is of type integer"]);
    assert!(found("nobody")[0].contains("nobody"), "{:?}", found("nobody"));
}
