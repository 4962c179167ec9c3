//! The simulated user: what it is told and shown, how it stops; the personas.

use std::fmt::Write as _;
use std::sync::Arc;

use aigo_compiler::{NoSources, compile, standard};
use aigo_machine::{Answer, ChatRole, Linked, Outcome, Trial};

use crate::golden::compare;

/// What a role was shown.
pub(super) struct Shown {
    role: String,
    messages: Vec<(ChatRole, String)>,
}

/// Runs the samples of a task; `answer` speaks for all roles, told who is asked and for the how many-th time.
pub(super) fn drive(task: &str, answer: impl Fn(&str, usize) -> String) -> Vec<(Outcome, Vec<Shown>)> {
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    let found: Vec<String> = compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect();
    let (program, dataset) = compiled.program.unwrap_or_else(|| panic!("{found:#?}"));
    let linked = Arc::new(Linked::new(program).map_err(|found| found[0].to_string()).expect("it is sound"));
    let run = |row: Result<aigo_compiler::Row, String>| {
        let row = row.expect("a good row");
        let sample = super::sample(row);
        let (mut trial, mut pending) = Trial::start(Arc::clone(&linked), Arc::new(sample));
        let mut shown: Vec<Shown> = Vec::new();
        while !pending.is_empty() {
            let next = pending.remove(0);
            let role = next.ask.request.role.to_string();
            let messages = next.ask.request.messages.iter().map(|m| (m.role, m.text.to_string())).collect();
            let times = shown.iter().filter(|one| one.role == role).count();
            shown.push(Shown { role: role.clone(), messages });
            let text = answer(&role, times);
            pending.extend(
                trial.answer(next.lane, Answer { text: text.into(), stop: "stop".into(), ..Answer::default() }),
            );
        }
        (trial.outcome().expect("it has ended"), shown)
    };
    dataset.rows(&NoSources).map(run).collect()
}

/// A task whose simulated user has these keys.
fn task(user: &str, rows: &str) -> String {
    format!(
        "aigo: 1\nname: simulated\nmodels:\n  assistant: {{scripted: [Certainly.]}}\n  user: {{scripted: [Hm.]}}\n  judge: {{scripted: [{{verdict: {{score: 5}}}}]}}\n\
         dataset: {{samples: {rows}}}\nsolvers:\n  - system: You are a support assistant.\n  - loop:\n      max_turns: 6\n      solvers:\n        - simulate_user: {user}\n\
         \x20       - generate: {{expect: [{{not_contains: secret expectation}}]}}\n\
         scorers:\n  - {{name: kept, judge: {{rubric: A secret rubric., anchors: {{1: bad, 5: good}}, evidence: none}}}}\n"
    )
}

const FULL: &str = "{goal: \"Add {{ n }} seats.\", persona: mind_changer, knows: The plan is Pro., withholds: The order is A1., \
    language: German, stop: The assistant asked for the same thing twice., opening: Hallo!, min_turns: 2}";

fn said(role: &str, times: usize) -> String {
    match (role, times) {
        ("user", 0) => "{\"message\": \"Drei Plätze, bitte.\", \"status\": \"going\"}".to_owned(),
        ("user", 1) => "{\"message\": \"Nein, fünf.\", \"status\": \"going\"}".to_owned(),
        ("user", _) => "{\"message\": \"Danke!\", \"status\": \"done\"}".to_owned(),
        ("judge", _) => "{\"reason\": \"fine\", \"score\": 5}".to_owned(),
        (_, times) => format!("Answer {}.", times + 1),
    }
}

#[test]
fn it_is_told_its_part_and_nothing_of_how_the_conversation_is_scored() {
    let runs = drive(&task(FULL, "[{id: one, n: 3}]"), said);
    let (outcome, shown) = &runs[0];
    let mut text = String::new();
    for (at, one) in shown.iter().filter(|one| one.role == "user").enumerate() {
        let _ = writeln!(text, "==== call {}", at + 1);
        for (role, said) in &one.messages {
            let _ = writeln!(text, "[{}]\n{said}\n", role.word());
        }
        let whole: String = one.messages.iter().map(|(_, text)| text.as_str()).collect();
        assert!(!whole.contains("secret") && !whole.contains("support assistant"), "{whole}");
        // The instruction, then its own line and the answer in turns: it sees what it opened with, and answers last.
        let roles: Vec<ChatRole> = one.messages.iter().map(|(role, _)| *role).collect();
        let turns = [ChatRole::Assistant, ChatRole::User].into_iter().cycle();
        let wanted: Vec<ChatRole> = [ChatRole::System].into_iter().chain(turns).take(roles.len()).collect();
        assert_eq!(roles, wanted);
        assert_eq!((one.messages[1].1.as_str(), roles.last()), ("Hallo!", Some(&ChatRole::User)));
    }
    compare("std/simulated_user.txt", &text);
    assert_eq!(outcome.ending.word(), "done");
    let authors: Vec<&str> =
        outcome.conversation.messages().iter().skip(1).map(|message| message.author.as_ref()).collect();
    assert_eq!(authors, ["user", "assistant", "user", "assistant", "user", "assistant", "user"]);
    assert_eq!(outcome.conversation.last().map(|last| last.text.to_string()), Some("Danke!".to_owned()));
}

#[test]
fn it_stops_by_its_rule_and_not_before_its_least_number_of_turns() {
    let user = "{goal: Seats., min_turns: 3}";
    for (status, ending) in [("done", "done"), ("gave_up", "gave_up"), ("going", "turn_limit")] {
        let answer = |role: &str, times: usize| match role {
            "user" => format!("{{\"message\": \"m{times}\", \"status\": \"{status}\"}}"),
            _ => said(role, times),
        };
        let runs = drive(&task(user, "[{id: one}]"), answer);
        let (outcome, shown) = &runs[0];
        let asked = shown.iter().filter(|one| one.role == "user").count();
        // It goes on while fewer than three turns were begun; then its word counts.
        let wanted = if status == "going" { 6 } else { 4 };
        assert_eq!((outcome.ending.word(), asked), (ending, wanted), "{status}");
    }
    let runs = drive(&task("{goal: Seats.}", "[{id: one}]"), |role, times| match (role, times) {
        ("user", 1) => "Thanks! [DONE]".to_owned(),
        ("user", _) => "Two seats, please.".to_owned(),
        _ => said(role, times),
    });
    assert_eq!(runs[0].0.ending.word(), "done");
    assert_eq!(runs[0].0.conversation.last().map(|last| last.text.to_string()), Some("Thanks!".to_owned()));
}

/// Every persona by its name in a row: the user is told its text, and the program holds what it must do and what it probes.
#[test]
fn a_row_names_its_persona() {
    let names: Vec<&str> = standard::personas().collect();
    let rows = names.iter().map(|name| format!("{{id: {name}, persona: {name}}}, ")).collect::<Vec<_>>().concat();
    let text = task("{goal: Seats., persona: \"{{ persona }}\"}", &format!("[{rows}{{id: own, persona: You shout.}}]"));
    let runs = drive(&text, said);
    let told = |at: usize| runs[at].1.iter().find(|one| one.role == "user").expect("it is asked").messages[0].1.clone();
    for (at, name) in names.iter().enumerate() {
        let file = standard::of_persona(name).expect("it is there");
        let text = file.text.split(&format!("    {name}:")).nth(1).and_then(|rest| rest.split("text: ").nth(1));
        let first = text.and_then(|text| text.split(['.', ',', ':']).next()).expect("a text").trim_matches('"');
        assert!(told(at).contains(first), "{name}: {}\n{first}", told(at));
    }
    assert!(told(names.len()).contains("How you are: You shout."));
    let (program, _) = compile("task.yaml", text.as_bytes(), &NoSources).program.expect("it compiles");
    for name in names {
        let persona = program.personas.iter().find(|persona| &*persona.name == name).expect("it is in the program");
        assert!(!persona.must.is_empty() && !persona.probes.is_empty(), "{name}");
        for probe in &persona.probes {
            assert!(standard::of_scorer(probe, None).is_some(), "{name} probes {probe}, which is no scorer");
        }
    }
}

#[test]
fn a_slip_in_a_personas_name_is_found() {
    let compiled = compile("task.yaml", task("{goal: x, persona: tersse}", "[{id: one}]").as_bytes(), &NoSources);
    assert!(compiled.diagnostics.iter().any(|one| one.help.as_deref() == Some("did you mean `terse`?")));
    let task = task("{goal: x}", "[{id: one}]") + "  - {use: persona_played, with: {persona: tersse}}\n";
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    let told: Vec<&str> = compiled.diagnostics.iter().filter_map(|one| one.help.as_deref()).collect();
    assert!(told.contains(&"did you mean `terse`?"), "{told:?}");
}
