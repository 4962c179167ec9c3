//! The formats of `aigo check`: golden files of each, and what must hold of any output.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use super::check::{broken, clean, write};
use crate::golden::compare;
use crate::harness::{Ran, command, folder, root, run, run_with};

const FORMATS: [&str; 5] = ["text", "concise", "json", "sarif", "github"];

/// One value per line, so that a person can review it. The pages of codes in it are reviewed where they are written.
fn pretty(json: &str) -> String {
    let mut value: Value = serde_json::from_str(json).unwrap();
    for rule in value.pointer_mut("/runs/0/tool/driver/rules").and_then(Value::as_array_mut).into_iter().flatten() {
        rule.as_object_mut().and_then(|rule| rule.remove("help")).expect("a rule has its page");
    }
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

#[test]
fn each_format_is_the_golden_one() {
    for format in FORMATS {
        let ran = run(root(), &["check", "tests/fixtures/check", "--format", format]);
        assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{format}");
        let is_json = ["json", "sarif"].contains(&format);
        let (shown, end) = if is_json { (pretty(&ran.out), "json") } else { (ran.out, "txt") };
        compare(&format!("check/{format}.{end}"), &shown);
    }
    // The name that `text` had before.
    let full = run(root(), &["check", "tests/fixtures/check", "--format", "full"]);
    compare("check/text.txt", &full.out);
    let coloured = run(root(), &["check", "tests/fixtures/check/broken.yaml", "--color", "always"]);
    // A golden file of text: escapes are written out.
    compare("check/coloured.txt", &coloured.out.replace('\u{1b}', "^"));
}

#[test]
fn colour_is_for_terminals_and_those_who_ask() {
    let folder = folder("check_colour");
    write(&folder, "a.yaml", broken("a"));
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        run_with(&folder, &[&["check", "a.yaml"], arguments].concat(), environment).out.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    for format in ["concise", "json", "sarif", "github"] {
        assert!(!coloured(&["--color", "always", "--format", format], &[]), "{format}");
    }
}

#[test]
fn the_output_is_the_same_at_any_number_of_threads() {
    let folder = folder("check_threads");
    for n in 0..40 {
        let text = if n % 3 == 0 { clean("c", "") } else { broken("b").replace("Hello", "\"{{ x }}\"") };
        // Some take longer than others.
        write(&folder, &format!("{:02}/{n}.yaml", n % 7), text + &"# a comment\n".repeat(n * n));
    }
    for format in FORMATS {
        let of = |jobs: &str| run(&folder, &["check", "--format", format, "-j", jobs]);
        let one = of("1");
        assert_eq!(one.code, 3, "{}", one.err);
        for jobs in ["2", "7", "100"] {
            assert_eq!(of(jobs).out, one.out, "{format} at -j {jobs}");
        }
    }
}

/// The text of a file at the offsets that a place has must be what line and column point to.
fn assert_place(folder: &std::path::Path, place: &Value, what: &str) {
    let text = fs::read_to_string(folder.join(place["path"].as_str().unwrap())).unwrap();
    for end in ["start", "end"] {
        let number = |key: &str| usize::try_from(place[end][key].as_u64().unwrap()).unwrap();
        let before = &text[..number("offset")];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        assert_eq!((line, column), (number("line"), number("column")), "{what}: {place}");
    }
}

#[test]
fn json_counts_bytes_lines_and_characters() {
    let ran = run(root(), &["check", "tests/fixtures/check", "--format", "json"]);
    let object = ran.json();
    assert_eq!((object["version"].as_u64(), object["files"].as_u64()), (Some(2), Some(3)));
    let found = object["diagnostics"].as_array().unwrap();
    let count = |severity: &str| found.iter().filter(|one| one["severity"] == severity).count() as u64;
    for (key, severity) in [("errors", "error"), ("warnings", "warning"), ("notes", "note")] {
        assert_eq!(object[key].as_u64(), Some(count(severity)), "{key}");
        assert!(count(severity) > 0, "the fixtures have no {severity}");
    }
    let mut edits = 0;
    for one in found {
        assert_place(root(), one, "a finding");
        for related in one["related"].as_array().unwrap() {
            assert_place(root(), related, "a related place");
        }
        for edit in one["fix"]["edits"].as_array().into_iter().flatten() {
            assert_place(root(), edit, "an edit");
            edits += 1;
        }
    }
    assert_eq!(object["fixable"].as_u64(), Some(edits));
    // Behind letters of two bytes and an emoji of four.
    let misspelt = found.iter().find(|one| one["message"].as_str().unwrap().contains("anwser")).unwrap();
    let text = fs::read_to_string(root().join("tests/fixtures/check/broken.yaml")).unwrap();
    assert_eq!(misspelt["start"]["offset"].as_u64().map(|n| n as usize), text.find("anwser"));
}

#[test]
fn fixes_are_edits_that_can_be_applied() {
    let folder = folder("check_fixes");
    let text = clean("f", "").replace("Pro", "no").replace("samples", "sampels");
    write(&folder, "a.yaml", &text);
    let object = run(&folder, &["check", "a.yaml", "--format", "json"]).json();
    let mut mended = text;
    // From the end, so that the offsets before stay what they are.
    for one in object["diagnostics"].as_array().unwrap().iter().rev() {
        for edit in one["fix"]["edits"].as_array().unwrap() {
            let at = |end: &str| edit[end]["offset"].as_u64().unwrap() as usize;
            mended.replace_range(at("start")..at("end"), edit["text"].as_str().unwrap());
        }
    }
    write(&folder, "a.yaml", &mended);
    let again = run(&folder, &["check", "a.yaml"]);
    assert_eq!((again.code, again.out.as_str()), (0, "1 file: 0 errors, 0 warnings\n"), "{mended}");
}

/// Holds a value against the parts of JSON Schema that `tests/fixtures/sarif-2.1.0.json` uses.
fn against(schema: &Value, whole: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/definitions/")) {
        return against(&whole["definitions"][name], whole, value, at, wrong);
    }
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{at}: the schema has the type `{other}`"),
    };
    if schema["type"].as_str().is_some_and(|kind| !is_of(kind)) {
        wrong.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|known| !known.contains(value)) {
        wrong.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    if schema["minimum"].as_i64() > value.as_i64() && value.is_number() {
        wrong.push(format!("{at}: {value} is less than {}", schema["minimum"]));
    }
    if schema["format"] == "uri" && !value.as_str().is_some_and(|uri| uri.contains(':') && !uri.contains(' ')) {
        wrong.push(format!("{at}: {value} is no absolute address"));
    }
    if let Some(items) = value.as_array() {
        if schema["uniqueItems"] == true && (1..items.len()).any(|at| items[..at].contains(&items[at])) {
            wrong.push(format!("{at}: an item stands there twice"));
        }
        for (n, item) in items.iter().enumerate() {
            against(&schema["items"], whole, item, &format!("{at}[{n}]"), wrong);
        }
    }
    let Some(map) = value.as_object() else { return };
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(key) {
            wrong.push(format!("{at}: `{key}` is missing"));
        }
    }
    for (key, value) in map {
        let other = &schema["additionalProperties"];
        match schema["properties"].get(key) {
            Some(schema) => against(schema, whole, value, &format!("{at}.{key}"), wrong),
            None if *other == false => wrong.push(format!("{at}: `{key}` is not known")),
            None => against(other, whole, value, &format!("{at}.{key}"), wrong),
        }
    }
}

fn sarif_flaws(value: &Value) -> Vec<String> {
    let schema = fs::read_to_string(root().join("tests/fixtures/sarif-2.1.0.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut wrong = Vec::new();
    against(&schema, &schema, value, "$", &mut wrong);
    wrong
}

#[test]
fn sarif_is_valid_and_refers_to_what_is_there() {
    for path in ["tests/fixtures/check", "tests/fixtures/spine.yaml", "missing.yaml"] {
        let log = run(root(), &["check", path, "--format", "sarif"]).json();
        assert_eq!(sarif_flaws(&log), [] as [&str; 0], "{path}");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert_eq!(rules[index]["defaultConfiguration"]["level"], result["level"]);
            assert!(rules[index]["help"]["text"].as_str().unwrap().starts_with(result["ruleId"].as_str().unwrap()));
            assert!(!result["partialFingerprints"]["aigoLine/v1"].as_str().unwrap().is_empty());
        }
        let is_read = path != "missing.yaml";
        assert_eq!(run["invocations"][0]["executionSuccessful"], is_read, "{path}");
    }
    // The test can fail.
    let mut log = run(root(), &["check", "tests/fixtures/check", "--format", "sarif"]).json();
    log["runs"][0]["results"][0]["level"] = "bad".into();
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into();
    log["runs"][0]["results"][1]["extra"] = 1.into();
    log["runs"][0]["results"][1].as_object_mut().unwrap().remove("message");
    assert_eq!(sarif_flaws(&log).len(), 4, "{:?}", sarif_flaws(&log));
}

#[test]
fn fingerprints_stay_when_lines_above_move() {
    let folder = folder("check_fingerprints");
    let twice =
        clean("f", "").replace("user: Hello", "user: \"{{ x }}\", user: \"{{ x }}\"").replace(", user", ",\n  user");
    let prints =
        |text: &str| -> Vec<String> {
            write(&folder, "a b.yaml", text);
            let log = run(&folder, &["check", "a b.yaml", "--format", "sarif"]).json();
            let results = log["runs"][0]["results"].as_array().unwrap().clone();
            assert!(results.iter().all(|result| {
                result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.yaml"
            }));
            results.iter().map(|one| one["partialFingerprints"]["aigoLine/v1"].as_str().unwrap().to_owned()).collect()
        };
    let before = prints(&twice.replace("{{ x }}\",", "{{ y }}\","));
    assert_eq!(before.len(), 2);
    assert_ne!(before[0], before[1]);
    assert_eq!(prints(&format!("# a\n# b\n\n{}", twice.replace("{{ x }}\",", "{{ y }}\","))), before);
    // Equal lines are told apart.
    let equal = prints(&clean("f", "").replace("scorers:", "scorers: [\n{x: 1},\n{x: 1},\n] #"));
    let mut unique = equal.clone();
    unique.dedup();
    assert_eq!(equal, unique);
}

#[test]
fn github_gets_ten_of_a_level_and_a_count() {
    let folder = folder("check_github");
    let steps = (0..14).map(|n| format!("  - user: \"{{{{ x{n} }}}}\"\n")).collect::<Vec<_>>().concat();
    let text =
        clean("g", "").replace("solvers: [user: Hello, generate]\n", &format!("solvers:\n{steps}  - generate\n"));
    write(&folder, "a,b:c%.yaml", text);
    let ran = run(&folder, &["check", "./a,b:c%.yaml", "--format", "github"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 11, "{}", ran.out);
    let first =
        "::error file=a%2Cb%3Ac%25.yaml,line=6,col=15,endLine=6,endColumn=17,title=E0302%3A a name or attribute";
    assert!(lines[0].starts_with(first), "{}", lines[0]);
    assert_eq!(lines[10], "4 errors more: `aigo check --format concise` lists all");
    assert!(!lines[10].starts_with("::"));
}

#[test]
fn a_reader_who_goes_away_is_no_error() {
    let folder = folder("check_pipe");
    let steps = "  - user: \"{{ x }}\"\n".repeat(5_000);
    write(
        &folder,
        "a.yaml",
        clean("p", "").replace("solvers: [user: Hello, generate]\n", &format!("solvers:\n{steps}")),
    );
    for format in FORMATS {
        let mut child = command(&folder, &["check", "a.yaml", "--format", format], &[])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 5]).unwrap();
        drop(out);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{format}");
    }
}

#[test]
fn ten_thousand_findings_are_enough() {
    let folder = folder("check_many");
    let rows = "    - {note: no}\n".repeat(6_000);
    for file in ["a.yaml", "b.yaml"] {
        let text = clean("m", "").replace("{samples: [{note: Pro}]}", &format!("\n  samples:\n{rows}"));
        write(&folder, file, text);
    }
    // However many warnings there are, errors behind them are shown.
    let keys = (0..6_000).map(|n| format!("k{n}: 1\n")).collect::<Vec<_>>().concat();
    write(&folder, "c.yaml", clean("m", &keys));
    let ran = run(&folder, &["check", "--format", "concise"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((ran.code, lines.len()), (3, 10_001), "{}", ran.err);
    assert!(lines[4_999].contains("a.yaml:") && lines[5_000].contains("c.yaml:"), "{:?}", &lines[4_999..5_001]);
    assert_eq!(lines[10_000], "… and 8,000 more findings");
    let object = run(&folder, &["check", "--format", "json"]).json();
    let listed = object["diagnostics"].as_array().unwrap().len();
    let count = |key: &str| object[key].as_u64();
    assert_eq!((count("warnings"), count("errors"), listed), (Some(10_000), Some(6_000), 10_000));
    assert_eq!(count("omitted"), Some(8_000));
}
