//! Roles, limits, calls around a sample: every mistake at its place, with what to do; what this build cannot run is refused
//! before anything is asked.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use aigo_compiler::families::{Efforts, FAMILIES, Sampling};
use aigo_compiler::{Compiled, NoSources, compile};
use aigo_ir::diagnostic::Diagnostic;

use crate::golden::{blesses, compare, golden};
use crate::harness::{folder, only_run, root, run, run_with, task, trial};

/// A case of the table: its name and a part of a task.
struct Case {
    name: String,
    part: String,
}

/// The cases of a golden table: `# name`, a part of a task, and behind `=>` each what was found.
fn cases(text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            found.push(Case { name: name.to_owned(), part: String::new() });
        } else if let Some(case) = found.last_mut().filter(|_| !line.starts_with("=>") && !line.trim().is_empty()) {
            case.part.push_str(line);
            case.part.push('\n');
        }
    }
    found
}

/// A whole task around a part; the part begins in line 3.
fn around(part: &str) -> String {
    let has = |key: &str| part.lines().any(|line| line.starts_with(key));
    let models = if has("models:") { "" } else { "models: {assistant: {scripted: [Certainly.]}}\n" };
    let scorers = if has("scorers:") { "" } else { "scorers: [{name: s, check: {contains: x}}]\n" };
    format!(
        "aigo: 1\nname: t\n{part}{models}dataset: {{samples: [{{id: a, plan: Pro, seats: 3}}]}}\nsolvers: [{{user: Hi}}, generate]\n{scorers}"
    )
}

/// Without the lints: what surrounds a part pleases none.
fn compiled(task: &str) -> Compiled {
    let mut compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    compiled.diagnostics.retain(|found| !found.row.code.starts_with("W06"));
    compiled
}

fn fixed(task: &str, diagnostic: &Diagnostic) -> Option<String> {
    let fix = diagnostic.fix.as_ref()?;
    let mut text = task.to_owned();
    text.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.text);
    Some(text)
}

/// A finding as the table shows it: place, code, message, help, and the first line that the fix changes.
fn shown(task: &str, compiled: &Compiled, diagnostic: &Diagnostic) -> String {
    let mut out = format!("=> {}\n", diagnostic.concise(&compiled.sources));
    for (span, label) in &diagnostic.related {
        let at = compiled.sources.position(*span);
        let _ = writeln!(out, "=>   {}:{}: {label}", at.line, at.column);
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "=>   help: {help}");
    }
    if let Some(mended) = fixed(task, diagnostic) {
        let changed = task.lines().zip(mended.lines()).find(|(before, after)| before != after);
        let (before, after) = changed.unwrap_or_default();
        let gone = mended.lines().count() < task.lines().count();
        let _ = writeln!(
            out,
            "=>   fix: `{}` {}",
            before.trim(),
            if gone { "is taken out".to_owned() } else { format!("-> `{}`", after.trim()) }
        );
    }
    out
}

#[test]
fn every_mistake_in_a_role_is_told_at_its_place() {
    let table = std::fs::read_to_string(golden("roles.txt")).unwrap();
    let cases = cases(&table);
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut now = String::new();
    for case in cases {
        let task = around(&case.part);
        let found = compiled(&task);
        assert!(!found.diagnostics.is_empty(), "{}: nothing is found in\n{task}", case.name);
        let _ = write!(now, "# {}\n{}", case.name, case.part);
        for diagnostic in &found.diagnostics {
            now.push_str(&shown(&task, &found, diagnostic));
            assert_ne!(diagnostic.row.code, "E0507", "{}: {}", case.name, diagnostic.message);
            // A fix mends what it says that it mends.
            if let Some(mended) = fixed(&task, diagnostic) {
                let again = compiled(&mended);
                let same = again.diagnostics.iter().any(|d| d.message == diagnostic.message);
                let lines = again.diagnostics.iter().map(|d| d.concise(&again.sources)).collect::<Vec<_>>().join("\n");
                assert!(
                    !same && again.diagnostics.len() < found.diagnostics.len(),
                    "{}:\n{mended}\n{lines}",
                    case.name
                );
            }
        }
        now.push('\n');
    }
    compare("roles.txt", now.trim_end());
    assert!(!blesses() || !now.is_empty());
}

#[test]
fn a_task_with_every_kind_of_role_compiles_to_the_golden_program() {
    let ran = run(root(), &["compile", "tests/fixtures/roles.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    compare("roles.ir", &ran.out);
    let text = std::fs::read_to_string(golden("roles.ir")).unwrap();
    let read = aigo_ir::read::read(&text).unwrap();
    assert_eq!(aigo_ir::verify::verify(&read), []);
    assert_eq!(aigo_ir::read::read(&aigo_ir::print::print(&read)).as_ref(), Ok(&read));
}

#[test]
fn commands_are_told_one_by_one_before_anything_is_asked() {
    let folder = folder("roles_refused");
    task(&folder, "roles", &[]);
    let checked = run(&folder, &["check", "task.yaml", "--deny", "warnings"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let ran = run(&folder, &["run", "task.yaml"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    // Wrapped and drawn for people: what is said, without the drawing.
    let err = ran.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(err.matches("R0140").count(), 1, "{}", ran.err);
    for said in ["task.yaml:54:3", "`python3 app.py two words`, `./seed.sh --fast`", "--allow-commands"] {
        assert!(err.contains(said), "{said}\n{err}");
    }
    assert!(!folder.join("runs").exists(), "a run that cannot begin leaves nothing");
    assert!(!ran.err.contains("R0101"), "what is not allowed asks for no key: {}", ran.err);
}

#[test]
fn a_scripted_role_makes_calls_and_plays_faults() {
    let folder = folder("roles_scripted");
    let text = "aigo: 1\nname: t\nmodels:\n  assistant:\n    scripted:\n      - {when: sample.id == 'slow', fault: timeout}\n      \
                - {when: sample.id == 'taken', fault: filtered}\n      - when: plan == 'Pro'\n        say: Done.\n        \
                calls: [{name: set_seats, args: {order: \"{{ sample.id }}\", n: 5}}]\n      - {calls: [{name: ping}]}\n\
                dataset: {samples: [{id: a, plan: Pro}, {id: b, plan: Team}, {id: slow, plan: Pro}, {id: taken, plan: Pro}]}\n\
                solvers: [{user: Hi}, generate]\nscorers: [{name: s, check: {contains: Done}}]\n";
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = only_run(&folder);
    let got = |key: &str| trial(&path, key).calls[0].got.clone().unwrap();
    let made = got("a");
    assert_eq!(&*made.text, "Done.");
    let calls: Vec<String> = made.calls.iter().map(|call| format!("{call:?}")).collect();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].contains("set_seats") && calls[0].contains(r#"{\"order\":\"a\",\"n\":5}"#), "{}", calls[0]);
    assert_eq!((got("b").calls.len(), got("b").fault.as_deref()), (1, None), "calls alone are an answer");
    assert_eq!(got("slow").fault.as_deref(), Some("timeout"));
    assert_eq!(crate::harness::ending(&path, "slow").as_deref(), Some("application_failure"));
    assert_eq!(crate::harness::ending(&path, "taken").as_deref(), Some("filtered"));
}

/// A server for one request: it gives the request back whole, and echoes a text in its answer.
fn one_request(echoed: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut seen = Vec::new();
        let whole = |seen: &[u8]| {
            let text = String::from_utf8_lossy(seen).to_ascii_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            length.is_some_and(|length: usize| body.len() >= length)
        };
        while !whole(&seen) {
            let mut buffer = [0; 4096];
            let n = stream.read(&mut buffer).unwrap();
            assert!(n > 0, "the request is cut off");
            seen.extend_from_slice(&buffer[..n]);
        }
        let body = format!(r#"{{"choices":[{{"message":{{"content":"I saw {echoed}."}},"finish_reason":"stop"}}]}}"#);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close"
        );
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        String::from_utf8(seen).unwrap()
    });
    (url, served)
}

#[test]
fn headers_and_parameters_reach_the_server_and_no_secret_stays() {
    const SECRET: &str = "an-organisation-9876";
    let folder = folder("roles_headers");
    let (url, served) = one_request(SECRET);
    let text = format!(
        "aigo: 1\nname: t\nmodels:\n  assistant:\n    model: openai/gpt-5-mini-2025-08-07\n    base_url: {url}\n    \
         api_key: {{env: OPENAI_API_KEY}}\n    max_tokens: 70\n    reasoning_effort: low\n    extra: {{service_tier: flex}}\n    headers: {{X-Org: {{env: ORG, prefix: \"Org \"}}, X-Title: aigo}}\n\
         dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi}}, generate]\nscorers: [{{name: s, check: {{contains: saw}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let unset = run(&folder, &["run", "task.yaml"]);
    assert_eq!(unset.code, 3, "{}", unset.err);
    // The key that is named is asked for, and the header's.
    assert!(unset.err.contains("OPENAI_API_KEY, which is not set"), "{}", unset.err);
    let key = ("OPENAI_API_KEY", "the-key-0123456789");
    let no_header = run_with(&folder, &["run", "task.yaml"], &[key]);
    assert!(no_header.err.contains("ORG, which is not set"), "{}", no_header.err);
    // A value that no header can carry is told without being repeated.
    let bad = run_with(&folder, &["run", "task.yaml"], &[key, ("ORG", "very\nsecret-value")]);
    assert_eq!(bad.code, 3, "{}", bad.err);
    assert!(bad.err.contains("`x-org` has characters") && !bad.err.contains("secret-value"), "{}", bad.err);

    let ran = run_with(&folder, &["run", "task.yaml"], &[key, ("ORG", SECRET)]);
    assert!([0, 4].contains(&ran.code), "{}", ran.err);
    let request = served.join().unwrap();
    for part in [
        "POST /v1/chat/completions",
        "x-org: Org an-organisation-9876",
        "x-title: aigo",
        "authorization: Bearer the-key-0123456789",
        r#"{"model":"gpt-5-mini-2025-08-07","max_completion_tokens":70,"reasoning_effort":"low","service_tier":"flex","messages":"#,
        r#","stream":true,"#,
    ] {
        assert!(request.contains(part), "{part}\n{request}");
    }
    let log = std::fs::read_to_string(only_run(&folder).join("log.jsonl")).unwrap();
    assert!(log.contains("I saw {{secret:ORG}}.") && !log.contains(SECRET), "{log}");
}

#[test]
fn the_manual_lists_every_family_of_models() {
    let manual = std::fs::read_to_string(root().join("spec/language.md")).unwrap();
    let (_, table) = manual.split_once("### What families of models take").unwrap();
    let table: Vec<&str> = table.split("\n###").next().unwrap().lines().filter(|line| line.starts_with('|')).collect();
    for family in FAMILIES {
        let named = table.iter().filter(|row| row.split('|').nth(1).unwrap().contains(&format!("`{}`", family.prefix)));
        let [row] = named.collect::<Vec<_>>()[..] else { panic!("{} is not in one row", family.prefix) };
        // What the row says of seeds and stops is what the table of the code says.
        let refuses = row.split('|').nth(4).unwrap();
        assert_eq!((refuses.contains("seed"), refuses.contains("stop")), (!family.seed, !family.stop), "{row}");
        let wanted = match family.sampling {
            Sampling::Free => "free",
            Sampling::OneOfBoth => "one of both",
            Sampling::WithoutReasoning => "only with `reasoning_effort: none`",
            Sampling::Fixed => "only 1",
            Sampling::Unsure => "as the task says",
        };
        assert!(row.split('|').nth(2).unwrap().trim().starts_with(wanted), "{row}");
        let efforts = match family.efforts {
            Efforts::Any => "any".to_owned(),
            Efforts::Only([]) => "none".to_owned(),
            Efforts::Only(known) => known.join(", "),
        };
        assert_eq!(row.split('|').nth(3).unwrap().trim(), efforts, "{row}");
    }
}

#[test]
fn limits_of_a_run_are_no_part_of_a_program_and_those_of_a_sample_are() {
    let hash = |limits: &str| {
        let task = around(limits);
        compiled(&task).program.unwrap_or_else(|| panic!("{task}")).0.hash()
    };
    let plain = hash("");
    assert_eq!(plain, hash("limits: {calls: 5, time: 60m, cost: 25 USD}\n"));
    assert_ne!(plain, hash("limits: {sample: {calls: 5}}\n"));
    assert_ne!(hash("limits: {sample: {calls: 5}}\n"), hash("limits: {sample: {calls: 6}}\n"));
}
