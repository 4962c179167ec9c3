//! Reports in every form: what other programs read, of runs that ended and of runs that did not.

use std::path::{Path, PathBuf};

use aigo_ir::text::is_dangerous;
use serde_json::Value;

use crate::harness::{Ran, folder, only_run, root, run, run_with, task};
use crate::plan::xml::{Part, parse};

/// Each form, with the name of the file that tests write it to.
const FORMS: [(&str, &str); 7] = [
    ("text", "report.txt"),
    ("json", "report.json"),
    ("junit", "report.xml"),
    ("markdown", "report.md"),
    ("github", "report.github"),
    ("jsonl", "rows.jsonl"),
    ("csv", "rows.csv"),
];

/// Runs the task of a folder, with every report beside it.
fn with_reports(folder: &Path, arguments: &[&str]) -> Ran {
    let reports: Vec<String> = FORMS.iter().map(|(form, file)| format!("--report={form}=out/{file}")).collect();
    let all: Vec<&str> = arguments.iter().copied().chain(reports.iter().map(String::as_str)).collect();
    run(folder, &all)
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join("out").join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The rows of the JSON Lines.
fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The cells of CSV as RFC 4180 reads them.
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.push(chars.next().expect("a quote")),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            c => cell.push(c),
        }
    }
    assert!(!quoted && line.is_empty(), "an open cell");
    lines
}

/// What Jenkins' `junit-10.xsd` allows: of each element its attributes, those that must be there, and what may be in it.
fn assert_junit(text: &str) -> Vec<Part> {
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("the declaration");
    let parts = parse(body);
    let mut open: Vec<String> = Vec::new();
    for part in &parts {
        match part {
            Part::Open(name, attributes) => {
                let (may, must, inside): (&[&str], &[&str], &[&str]) = match name.as_str() {
                    "testsuites" => (&["name", "time", "tests", "failures", "errors"], &[], &[""]),
                    "testsuite" => (
                        &[
                            "name",
                            "tests",
                            "failures",
                            "errors",
                            "time",
                            "disabled",
                            "skipped",
                            "timestamp",
                            "hostname",
                            "id",
                            "package",
                        ],
                        &["name", "tests"],
                        &["testsuites"],
                    ),
                    "properties" => (&[], &[], &["testsuite"]),
                    "property" => (&["name", "value"], &["name", "value"], &["properties"]),
                    "testcase" => (&["name", "assertions", "time", "classname", "status"], &["name"], &["testsuite"]),
                    "failure" | "error" => (&["type", "message"], &[], &["testcase"]),
                    "skipped" => (&["message"], &[], &["testcase"]),
                    other => panic!("the element {other}"),
                };
                let parent = open.last().map_or("", String::as_str);
                assert!(inside.contains(&parent), "{name} in {parent}");
                assert!(attributes.iter().all(|(known, _)| may.contains(&known.as_str())), "{part:?}");
                assert!(must.iter().all(|wanted| part.attribute(wanted).is_some()), "{part:?}");
                open.push(name.clone());
            }
            Part::Close => drop(open.pop()),
            Part::Text(text) => {
                let may = matches!(open.last().map(String::as_str), Some("failure" | "error" | "skipped"));
                assert!(may || text.trim().is_empty(), "`{text}` in {open:?}");
            }
        }
    }
    parts
}

fn hostile(name: &str) -> (PathBuf, Ran) {
    let folder = folder(name);
    task(&folder, "hostile_report", &[]);
    let ran = with_reports(&folder, &["run", "task.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    (folder, ran)
}

#[test]
fn what_was_said_is_shown_literally_in_every_form() {
    let (folder, ran) = hostile("report_hostile");
    for (form, file) in FORMS {
        let text = read(&folder, file);
        let bad: Vec<char> = text.chars().filter(|c| is_dangerous(*c) && *c != '\n').collect();
        // CSV ends its lines as RFC 4180 says.
        assert!(bad.iter().all(|c| *c == '\r' && form == "csv"), "{form}: {bad:?}");
    }
    assert_eq!(read(&folder, "report.txt"), ran.out, "the file is what was printed");
    assert!(
        ran.out.contains(">><script>alert(1)</script> ") && ran.out.contains("hostile <b>report</b>"),
        "{}",
        ran.out
    );

    let markdown = read(&folder, "report.md");
    assert!(
        !markdown.contains("alert(1)") && !markdown.contains("evil.test/p.png"),
        "no text unless asked: {markdown}"
    );
    let shown = run(&folder, &["report", "last", "--format", "markdown", "--with-text"]).out;
    assert!(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{shown}");
    for bad in ["<script", "<img", "[c](javascript", "@team", "http://", "<b>"] {
        assert!(!shown.contains(bad), "{bad} in {shown}");
    }

    let github = read(&folder, "report.github");
    let commands: Vec<&str> = github.lines().collect();
    assert!(commands.iter().all(|line| line.starts_with("::error file=task.yaml,line=")), "{github}");
    assert_eq!(commands.len(), 1, "{github}");
    assert!(!github.contains("alert(1)") && !github.contains("::set-output"), "{github}");
}

#[test]
fn junit_is_valid_and_every_sample_is_in_it_once() {
    let (folder, _) = hostile("report_junit");
    let parts = assert_junit(&read(&folder, "report.xml"));
    let suites: Vec<&Part> =
        parts.iter().filter(|part| matches!(part, Part::Open(name, _) if name == "testsuite")).collect();
    let figures = |suite: &Part| ["tests", "failures", "errors", "skipped"].map(|name| suite.number(name));
    assert_eq!(
        suites.iter().map(|suite| suite.attribute("name").unwrap()).collect::<Vec<_>>(),
        ["gates", "safe", "sometimes"]
    );
    assert_eq!(
        suites.iter().map(|suite| figures(suite)).collect::<Vec<_>>(),
        [[1, 1, 0, 0], [9, 7, 1, 0], [9, 0, 0, 2]]
    );
    let messages: Vec<&str> = parts.iter().filter_map(|part| part.attribute("message")).collect();
    assert!(messages.iter().any(|message| message.contains("<script>alert(1)</script>")), "{messages:#?}");
    assert!(messages.iter().any(|message| message.contains("\\u{1b}[2J")), "{messages:#?}");
    assert!(messages.iter().any(|message| message.contains("]]></failure><failure")), "{messages:#?}");
}

#[test]
fn each_verdict_is_one_row_and_no_cell_a_formula() {
    let (folder, _) = hostile("report_rows");
    let json = rows(&read(&folder, "rows.jsonl"));
    let csv = cells(&read(&folder, "rows.csv"));
    assert_eq!(csv[0], aigo_report::COLUMNS);
    assert_eq!((json.len(), csv.len()), (18 + 7, 18 + 7 + 1), "nine samples by two scorers, and the turns of one");
    for (row, line) in json.iter().zip(&csv[1..]) {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), aigo_report::COLUMNS.len(), "{keys:?}");
        for cell in line {
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
        }
        // Both say the same; an apostrophe stands before what a spreadsheet would compute.
        let sample = row["sample"].as_str().unwrap();
        assert!(line[0] == sample || line[0] == format!("'{sample}"), "{} {sample}", line[0]);
        assert_eq!(line[4], row["outcome"].as_str().unwrap());
    }
    let of = |sample: &str| json.iter().find(|row| row["sample"] == sample && row["scorer"] == "safe").unwrap();
    assert_eq!(of("script")["evidence"][0]["quote"], "=cmd|'/C calc'!A0");
    assert_eq!(of("escape")["evidence"][0]["quote"], "before \u{1b}[2J\u{1b}]0;owned\u{7} after");
    assert_eq!((&of("script")["value"], &of("script")["number"]), (&Value::Bool(false), &Value::from(0.0)));
    assert_eq!((&of("-2+3")["outcome"], &of("-2+3")["pass"]), (&"invalid".into(), &Value::Null));
    assert_eq!(of("@SUM(A1)")["pass"], true, "what the assistant says is no verdict");
}

#[test]
fn a_finished_run_is_reported_later_as_it_was_then() {
    let folder = folder("report_later");
    let tasks = root().join("tests/fixtures/quickstart");
    let ran = with_reports(&folder, &["run", tasks.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    for (form, file) in FORMS {
        let later = run(&folder, &["report", "last", "--format", form]);
        assert_eq!((later.code, later.out), (0, read(&folder, file)), "{form}: {}", later.err);
        let again = run(&folder, &["report", "last", "--format", form, "-o", &format!("again/{file}")]);
        assert_eq!((again.code, again.out.as_str()), (0, ""), "{form}: {}", again.err);
    }
    let log = only_run(&folder);
    let json = run(&folder, &["replay", log.to_str().unwrap(), "--format", "json"]).out;
    assert_eq!(json, read(&folder, "report.json"), "the object of a report is that of the run and of its replay");
    let none = run(&folder, &["report", "nothing"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    let unwritten = run(&folder, &["report", "last", "-o", "report.txt/inside"]);
    assert_eq!(unwritten.code, 0, "the folder is made: {}", unwritten.err);
    let unwritten = run(&folder, &["report", "last", "-o", "."]);
    assert_eq!(unwritten.code, 2, "{}", unwritten.err);
    let misspelt = run(&folder, &["run", "x", "--report", "junits=a"]);
    assert!(misspelt.code == 2 && misspelt.err.contains("there is no format `junits`"), "{}", misspelt.err);
}

#[test]
fn on_githubs_runners_the_summary_of_the_step_gets_the_markdown() {
    let folder = folder("report_github");
    let tasks = root().join("tests/fixtures/quickstart");
    let summary = folder.join("summary.md");
    std::fs::write(&summary, "# Before\n").unwrap();
    let environment = [("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())];
    let ran = run_with(&folder, &["run", tasks.to_str().unwrap(), "--report", "github"], &environment);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let commands: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(commands.len(), 2, "{}", ran.out);
    let written = std::fs::read_to_string(&summary).unwrap();
    assert!(written.starts_with("# Before\n### quickstart: failed\n"), "{written}");
    assert!(written.contains("| **red** | `mean(plan_kept) >= 4` | 3.667 |"), "{written}");
    assert!(written.contains("| plan\\_kept | 3.667 | 66.7% | 9 scored of 9 |"), "{written}");
}

/// A limit of calls stops the run: some conversations have ended, some are open, some never began.
#[test]
fn an_interrupted_run_gets_every_report_with_the_denominators_it_has() {
    let folder = folder("report_open");
    let text = std::fs::read_to_string(root().join("tests/fixtures/quickstart/task.yaml")).unwrap();
    // No gate is red at the best end, whichever conversations have ended.
    let text =
        text.replace("rate(no_price) >= 0.95", "rate(no_price) >= 0.2").replace("plan_kept) >= 4", "plan_kept) >= 2");
    std::fs::write(folder.join("task.yaml"), text + "\nlimits: {calls: 30}\n").unwrap();
    let ran = with_reports(&folder, &["run", "task.yaml", "-j", "2"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let object: Value = serde_json::from_str(&read(&folder, "report.json")).unwrap();
    let counts = &object["outcomes"]["no_price"];
    let (scored, open) = (counts["scored"].as_u64().unwrap(), counts["open"].as_u64().unwrap());
    assert_eq!(counts["planned"], 9);
    assert!(scored > 0 && open > 0 && scored + open == 9, "{counts}");
    assert_eq!(object["exit"], 4);
    let denominator = format!("{scored} scored · {open} open of 9");
    for file in ["report.txt", "report.md", "report.xml"] {
        assert!(read(&folder, file).contains(&denominator), "{file}: {}", read(&folder, file));
    }
    assert!(read(&folder, "report.txt").contains("INCOMPLETE"), "{}", read(&folder, "report.txt"));
    let parts = assert_junit(&read(&folder, "report.xml"));
    let begun = rows(&read(&folder, "rows.jsonl"));
    let is_open = |row: &&Value| row["outcome"] == "open" && row["scorer"] == "no_price";
    let errors = parts.iter().filter(|part| part.attribute("type") == Some("open")).count();
    assert_eq!(errors, 2 * begun.iter().filter(is_open).count(), "by two scorers, every conversation that began");
    assert!(begun.iter().filter(is_open).all(|row| row["ending"].is_null() && row["pass"].is_null()));
    assert!(read(&folder, "report.github").contains("conversations are open"), "{}", read(&folder, "report.github"));
    // What was reported does not depend on when: the log alone says it.
    let later = run(&folder, &["report", "last", "--format", "csv"]);
    assert_eq!((later.code, later.out), (0, read(&folder, "rows.csv")), "{}", later.err);
}

#[test]
fn colours_are_the_reports_and_never_the_transcripts() {
    let (folder, _) = hostile("report_colour");
    let plain = run(&folder, &["report", "last", "--color", "never"]).out;
    let coloured = run(&folder, &["report", "last", "--color", "always"]).out;
    assert!(!plain.contains('\u{1b}') && plain.contains("FAILED"), "{plain}");
    let mut without = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        without.push_str(before);
        let (code, after) = after.split_once('m').expect("a colour ends");
        assert!(code.starts_with('[') && code[1..].chars().all(|c| c.is_ascii_digit() || c == ';'), "{code:?}");
        rest = after;
    }
    assert_eq!(without + rest, plain);
}
