//! Samples: what is read from every kind of source, what is said about rows that are wrong, and what a run makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::Path;

use aigo_compiler::{Compiled, Row, Sources, compile};

use crate::harness::{assert_replays, folder, only_run, run, trials};

/// Files by name.
struct Files(BTreeMap<String, Vec<u8>>);

impl Sources for Files {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let bytes = self.0.get(path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))?;
        Ok(Box::new(Cursor::new(bytes.clone())))
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        Ok(self.0.keys().filter(|path| aigo_compiler::glob::matches(pattern, path)).cloned().collect())
    }
}

fn files(named: &[(&str, &str)]) -> Files {
    Files(named.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect())
}

/// A task around a dataset, whose steps say `said`.
fn task(top: &str, dataset: &str, said: &str) -> String {
    format!(
        "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [x]}}}}\n{top}dataset: {dataset}\n\
         solvers:\n  - user: \"{said}\"\n  - generate\nscorers: [{{name: s, check: {{contains: x}}}}]\n"
    )
}

/// All but the lints: these tasks are about their samples, and read little of them.
fn findings(compiled: &Compiled) -> Vec<String> {
    let found = compiled.diagnostics.iter().filter(|found| !found.row.code.starts_with("W06"));
    found.map(|found| found.concise(&compiled.sources)).collect()
}

/// What is said about a dataset.
fn said(named: &[(&str, &str)], dataset: &str) -> Vec<String> {
    findings(&compile("t.yaml", task("", dataset, "Hi").as_bytes(), &files(named)))
}

/// The samples of a task.
fn rows(world: &Files, task: &str) -> Vec<Row> {
    let compiled = compile("t.yaml", task.as_bytes(), world);
    let found = findings(&compiled);
    let (_, dataset) = compiled.program.unwrap_or_else(|| panic!("{task}\n{found:#?}"));
    let rows: Vec<Row> = dataset.rows(world).map(|row| row.unwrap_or_else(|error| panic!("{error}"))).collect();
    assert_eq!(rows.len(), dataset.count);
    rows
}

fn keys(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| &*row.key).collect()
}

const ALL: [(&str, &str); 6] = [
    ("a.jsonl", "{\"id\": \"one\", \"q\": \"x\"}\n{\"id\": \"two\", \"q\": \"y\"}\n"),
    ("a.json", "[{\"id\": \"one\", \"q\": \"x\"}, {\"id\": \"two\", \"q\": \"y\"}]"),
    ("a.csv", "id,q\none,x\ntwo,y\n"),
    ("a.tsv", "id\tq\none\tx\ntwo\ty\n"),
    ("a.yaml", "- {id: one, q: x}\n- {id: two, q: y}\n"),
    ("a.txt", "id,q\ntwo,y\none,x\n"),
];

#[test]
fn a_dataset_is_the_same_in_every_format_and_order() {
    let world = files(&ALL);
    let mut hashes = BTreeSet::new();
    for file in ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.yaml", "{path: a.txt, format: csv}"] {
        let task = task("", &format!("{{file: {file}, tags: [t]}}"), "{{ q }}");
        let found: BTreeSet<String> = rows(&world, &task).iter().map(|row| row.key.to_string()).collect();
        assert!(found.iter().eq(["one", "two"]), "{file}: {found:?}");
        let compiled = compile("t.yaml", task.as_bytes(), &world);
        hashes.insert(compiled.program.expect("it compiles").1.hash);
    }
    assert_eq!(hashes.len(), 1);
}

#[test]
fn a_bad_row_is_told_at_its_place_in_its_file_and_the_others_are_read() {
    let named = [
        ("a.jsonl", "{\"q\": 1}\n\n{\"q\": 1,}\n{\"id\": [], \"q\": 2}\n"),
        ("b.csv", "q,r\n1\n2,3\n"),
        ("c.json", "[{\"q\": 1},\n {\"turn\": 3}]"),
        ("d.yaml", "- {q: 1}\n- q\n"),
    ];
    let found = said(
        &named,
        "[{file: a.jsonl}, {file: b.csv}, {file: c.json}, {file: d.yaml}, {file: gone.csv}, {file: x.parquet}]",
    );
    let expected = [
        "t.yaml:4:82: error[E0208]: `gone.csv` cannot be read: no such file",
        "t.yaml:4:100: error[E0520]: `x.parquet` says not by its extension what it holds; known are `.jsonl`, `.ndjson`, \
         `.json`, `.csv`, `.tsv`, `.yaml`, `.yml`",
        "a.jsonl:3:9: error[E0503]: a.jsonl, line 3: a comma stands before the closing bracket: JSON allows none there",
        "a.jsonl:4:2: error[E0503]: row 3 of a.jsonl (line 4): `id` must be a text of 1 to 200 bytes or a whole number, and \
         is []",
        "b.csv:2:2: error[E0503]: b.csv, line 2: this row has 1 cell, and the header has 2",
        "c.json:2:3: error[E0503]: row 2 of c.json (line 2): a field cannot be called `turn`, which is always in scope",
        "d.yaml:2:3: error[E0503]: d.yaml, line 2: this item is a string; each item is a map of a sample's fields",
    ];
    assert_eq!(found, expected);
}

#[test]
fn of_a_thousand_bad_rows_twenty_are_shown_and_the_rest_counted() {
    let text = "{\"q\": }\n".repeat(1_000);
    let found = said(&[("a.jsonl", &text)], "{file: a.jsonl}");
    assert_eq!(found.len(), 21);
    assert_eq!(found[0], "t.yaml:4:17: error[E0503]: 980 more rows of this source are bad");
}

#[test]
fn a_missing_field_names_file_row_and_how_many_lack_it() {
    let line = |n: usize| format!("{{\"id\": {n}, \"plan\": \"Pro\"}}\n");
    let mut text = (1..=1_200).map(line).collect::<Vec<_>>().concat();
    for row in ["{\"id\": 731, \"plan\": \"Pro\"}\n", "{\"id\": 900, \"plan\": \"Pro\"}\n"] {
        text = text.replace(row, &row.replace(", \"plan\": \"Pro\"", ""));
    }
    let text = format!("\n\n{text}");
    let world = files(&[("data.jsonl", &text)]);
    let compiled = compile("t.yaml", task("", "{file: data.jsonl}", "On {{ plan }}").as_bytes(), &world);
    let found = &compiled.diagnostics[0];
    assert_eq!(
        found.concise(&compiled.sources),
        "t.yaml:6:18: error[E0404]: `plan` is read here, and 2 of 1,200 samples lack it: first row 731 of data.jsonl (line 733)"
    );
    let (span, label) = &found.related[0];
    let at = compiled.sources.position(*span);
    let name = &compiled.sources.get(span.file).expect("a file").name;
    assert_eq!(
        (name.as_str(), at.line, at.column, label.as_str()),
        ("data.jsonl", 733, 1, "the field is missing here")
    );
}

#[test]
fn declared_types_hold_for_every_row() {
    let top = "fields: {seats: integer, note: 'string?', goal: {id: string}}\n";
    let said = |named: &[(&str, &str)], dataset: &str| {
        findings(&compile("t.yaml", task(top, dataset, "{{ seats }}").as_bytes(), &files(named)))
    };
    assert_eq!(
        said(
            &[("a.csv", "seats,note,goal\n5,,\"{\"\"id\"\": \"\"x\"\"}\"\n7,x,\"{\"\"id\"\": \"\"y\"\"}\"\n")],
            "{file: a.csv}"
        ),
        [""; 0]
    );
    assert_eq!(
        said(&[("a.csv", "note,seats\n,5\nx,five\n")], "{file: a.csv}"),
        ["a.csv:3:3: error[E0503]: a.csv, line 3: the cell of `seats` is `five`, which is no integer"]
    );
    assert_eq!(
        said(&[("a.jsonl", "{\"seats\": 1}\n{\"note\": null, \"seats\": 1.5}\n")], "{file: a.jsonl}"),
        ["a.jsonl:2:16: error[E0522]: `seats` of row 2 of a.jsonl (line 2) is 1.5, and is declared as integer"]
    );
    assert_eq!(
        said(&[], "{samples: [{seats: 1, goal: {id: [x]}}]}"),
        ["t.yaml:5:38: error[E0522]: `goal` of sample 1 has `id` that is a list, and is declared as string"]
    );
    let found = findings(&compile(
        "t.yaml",
        task("fields: {a: str, b: 'list<', turn: any}\n", "{samples: [{}]}", "x").as_bytes(),
        &files(&[]),
    ));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("t.yaml:4:13: error[E0521]: `str` is no type"), "{found:#?}");
}

#[test]
fn a_matrix_takes_its_values_from_files() {
    let world =
        files(&[("goals.csv", "id,text\nrefund,Get a refund.\nseats,Add seats.\n"), ("plans.yaml", "[Pro, Team]\n")]);
    let dataset = "{matrix: {goal: {file: goals.csv}, plan: {file: plans.yaml}}}";
    let found = rows(&world, &task("", dataset, "{{ goal.text }} {{ plan }}"));
    assert_eq!(keys(&found), ["refund/Pro", "refund/Team", "seats/Pro", "seats/Team"]);
    assert_eq!(found.iter().map(|row| &*row.cluster).collect::<Vec<_>>(), ["refund", "refund", "seats", "seats"]);
    assert_eq!(
        said(&[], "{matrix: {goal: [x, {text: y}, [z]]}}"),
        [
            "t.yaml:4:30: error[E0523]: a value of `goal` is a map without an `id`, which the sample's id is made of",
            "t.yaml:4:41: error[E0523]: a value of `goal` is a list; a matrix combines texts, numbers, booleans and maps \
             with an `id`",
        ]
    );
    let many = (0..1_001).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let found = said(&[], &format!("{{matrix: {{a: [{many}], b: [{many}]}}}}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("more than 1,000,000 combinations: 1001 of `a`, 1001 of `b`"), "{found:?}");
}

#[test]
fn a_filter_is_a_condition_and_what_it_leaves_out_is_not_there() {
    let world = files(&[(
        "a.jsonl",
        "{\"q\": \"a\", \"n\": 1}\n{\"q\": \"b\", \"n\": 5, \"q2\": 1}\n{\"q\": \"c\", \"n\": 7, \"q2\": 2}\n",
    )]);
    // What only rows lack that are left out is not missing.
    let dataset = "{file: a.jsonl, filter: n > 2, tags: [big]}";
    let found = rows(&world, &task("", dataset, "{{ q }} {{ q2 }}"));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|row| row.tags == ["big"]));
    for (filter, expected) in [
        ("n > 'x'", "t.yaml:4:35: error[E0403]"),
        ("nn > 2", "t.yaml:4:35: error[E0302]: `nn` is not defined"),
        ("n + 1", "t.yaml:4:35: error[E0403]"),
        (
            "q2 == 1",
            "t.yaml:4:35: error[E0404]: `q2` is read here, and 1 of 3 samples lacks it: row 1 of a.jsonl (line 1)",
        ),
        ("n >", "error[E0401]"),
        ("n > 9", "error[E0502]"),
        ("n == 9", "warning[W0520]: the filter leaves no row of this source"),
    ] {
        let dataset = format!("{{file: a.jsonl, filter: \"{filter}\"}}");
        // A filter with a mistake is not said to leave nothing as well.
        let dataset = if filter == "n > 9" { dataset } else { format!("[{dataset}, {{samples: [{{a: 1}}]}}]") };
        let expected = if filter == "n > 9" { expected.to_owned() } else { expected.replace(":35:", ":36:") };
        let found = findings(&compile("t.yaml", task("", &dataset, "Hi").as_bytes(), &world));
        assert!(found.len() == 1 && found[0].contains(&expected), "{filter}: {found:#?}");
    }
}

#[test]
fn shuffled_rows_come_in_the_seeds_order_wherever_they_stand() {
    let line = |n: usize| format!("{{\"id\": \"r{n}\", \"q\": \"{}\"}}\n", "x".repeat(n % 7));
    let text: String = (0..200).map(line).collect();
    let turned: String = (0..200).rev().map(line).collect();
    let world = files(&[("a.jsonl", &text), ("b.jsonl", &turned)]);
    let order = |file: &str, more: &str| -> Vec<String> {
        let found = rows(&world, &task("seed: 9\n", &format!("{{file: {file}{more}}}"), "{{ q }}"));
        found.iter().map(|row| row.key.to_string()).collect()
    };
    let shuffled = order("a.jsonl", ", shuffle: 3");
    assert_eq!(shuffled[..4], ["r149", "r154", "r60", "r158"], "the same on every machine, for ever");
    assert_eq!(shuffled, order("b.jsonl", ", shuffle: 3"));
    assert_ne!(shuffled, order("a.jsonl", ", shuffle: true"));
    assert_eq!(order("a.jsonl", ", shuffle: true"), order("a.jsonl", ", shuffle: 9"));
    assert_eq!(shuffled.iter().collect::<BTreeSet<_>>().len(), 200);
    assert_eq!(order("b.jsonl", ", shuffle: 3, limit: 5"), shuffled[..5]);
    assert_eq!(order("a.jsonl", ", limit: 2"), ["r0", "r1"]);
}

#[test]
fn clusters_say_what_belongs_together() {
    let world = files(&[("a.jsonl", "{\"id\": 1, \"goal\": {\"id\": \"g\", \"n\": 4}}\n")]);
    let cluster =
        |more: &str| rows(&world, &task("", &format!("{{file: a.jsonl{more}}}"), "Hi"))[0].cluster.to_string();
    assert_eq!(["", ", cluster: goal", ", cluster: goal.n"].map(cluster), ["1", "g", "4"]);
    assert_eq!(
        said(&[("a.jsonl", "{\"goal\": 1}\n{\"goal\": 2}\n")], "{file: a.jsonl, cluster: gaol}"),
        [
            "t.yaml:4:17: error[E0503]: 1 more row of this source is bad",
            "t.yaml:4:35: error[E0526]: `cluster: gaol` reads a field of every sample, and row 1 of a.jsonl (line 1) has no such \
             field",
        ]
    );
}

const RECORDED: &str = "{\"messages\": [{\"role\": \"user\", \"content\": \"1\"}, {\"role\": \"assistant\", \"content\": \"x\"}, {\"role\": \
                        \"user\", \"content\": \"2\"}], \"user_id\": \"u\", \"expected\": \"e\"}\n";

#[test]
fn transcripts_are_samples_of_their_own_graph() {
    let other = RECORDED.replace("\"2\"", "\"3\"");
    let twice = format!("{RECORDED}{other}{RECORDED}");
    let world = files(&[
        ("r/a.jsonl", &twice),
        ("r/b.json", "{\"id\": \"b\", \"messages\": [{\"role\": \"user\", \"content\": \"4\"}]}"),
    ]);
    let found = rows(&world, &task("", "{transcripts: r/*, tags: [real]}", "Hi"));
    assert_eq!(
        found.iter().map(|row| (&*row.graph, row.conversation.messages().len())).collect::<Vec<_>>(),
        [("recorded", 3), ("recorded", 3), ("recorded", 3), ("recorded", 1)]
    );
    let names: BTreeSet<&str> = keys(&found).into_iter().collect();
    assert!(names.len() == 4 && names.contains("b"), "{names:?}");
    assert_eq!(found.iter().map(|row| &*row.cluster).collect::<Vec<_>>(), ["u", "u", "u", "b"]);
    // Equal transcripts share a key but for an ordinal, wherever they stand.
    let world = files(&[("r/a.jsonl", &format!("{RECORDED}{RECORDED}{other}"))]);
    let again = rows(&world, &task("", "{transcripts: r/a.jsonl}", "Hi"));
    let mut turned: Vec<String> = again.iter().map(|row| row.key.to_string()).collect();
    turned.sort();
    let mut first: Vec<String> = found.iter().take(3).map(|row| row.key.to_string()).collect();
    first.sort();
    assert_eq!(turned, first);

    let found = rows(&world, &task("", "{transcripts: r/a.jsonl, continue: each_turn, limit: 2}", "Hi"));
    let shown: Vec<_> = found
        .iter()
        .map(|row| {
            (
                &*row.graph,
                row.conversation.messages().len(),
                row.fields.get("recorded_reply").map(aigo_ir::value::Value::to_json),
            )
        })
        .collect();
    assert_eq!(shown, [("each_turn", 1, Some("\"x\"".to_owned())), ("each_turn", 3, Some("\"\"".to_owned()))]);
    assert_eq!(said(&[], "{transcripts: r/*.jsonl}"), ["t.yaml:4:24: error[E0525]: no file matches `r/*.jsonl`"]);
    assert_eq!(
        said(&[("a.jsonl", "{\"messages\": [{\"role\": \"user\"}]}\n")], "{transcripts: a.jsonl}"),
        ["a.jsonl:1:2: error[E0524]: a.jsonl, line 1: message 1 has no text: `content` was expected"]
    );
}

#[test]
fn ids_are_unique_over_all_sources() {
    let named = [("a.csv", "id,q\none,x\n"), ("b.jsonl", "{\"id\": \"t\"}\n{\"id\": \"one\"}\n")];
    assert_eq!(
        said(&named, "[{file: a.csv}, {file: b.jsonl}]"),
        [
            "b.jsonl:2:2: error[E0504]: row 2 of b.jsonl (line 2) has the id `one`, which row 1 of a.csv (line 2) has too"
        ]
    );
}

#[test]
fn thirty_thousand_fields_are_no_more_than_rows() {
    let text = (0..30_000).map(|n| format!("{{\"id\": {n}, \"field{n}\": {n}}}\n")).collect::<Vec<_>>().concat();
    let found = rows(&files(&[("a.jsonl", &text)]), &task("", "{file: a.jsonl}", "Hi"));
    assert_eq!(found.len(), 30_000);
}

#[test]
fn transcripts_are_scored_as_they_are_and_answered_turn_by_turn() {
    let folder = folder("transcripts");
    std::fs::write(folder.join("a.jsonl"), RECORDED.replace("{\"messages\"", "{\"id\": \"c\", \"messages\""))
        .expect("written");
    // Transcripts alone need no steps.
    let text = task("", "[{transcripts: '*.jsonl'}]", "Hi").replace("solvers:\n  - user: \"Hi\"\n  - generate\n", "");
    assert!(!text.contains("solvers"));
    std::fs::write(folder.join("task.yaml"), text).expect("written");
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    let found = trials(&path);
    assert_eq!((ran.code, found.len()), (0, 1), "{}", ran.err);
    assert_eq!(found[0].close.as_ref().expect("closed").ending, "recorded");
    assert_eq!(crate::harness::score(&found[0], "s"), "scored true Some(true)");
    assert_replays(&folder, &path, &ran);
}

#[test]
fn a_row_is_shown_with_its_line() {
    let folder = folder("shown_rows");
    let text = format!("{}{{\"q\": tru}}\n", "{\"q\": \"x\"}\n".repeat(732));
    std::fs::write(folder.join("a.jsonl"), text).expect("written");
    std::fs::write(folder.join("task.yaml"), task("", "{file: a.jsonl}", "Hi")).expect("written");
    let ran = run(&folder, &["check", "task.yaml"]);
    assert_eq!(ran.code, 3);
    assert!(ran.out.contains("[a.jsonl:733:10]") && ran.out.contains(" 733 │ {\"q\": tru}"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_of_the_task_is_refused() {
    let folder = folder("refused");
    let inside = folder.join("task");
    std::fs::create_dir_all(inside.join("dir.csv")).expect("a folder");
    std::fs::write(folder.join("out.csv"), "a\n1\n").expect("written");
    std::os::unix::fs::symlink("../out.csv", inside.join("link.csv")).expect("a link");
    std::os::unix::fs::symlink("loop.csv", inside.join("loop.csv")).expect("a link");
    let pipe = std::process::Command::new("mkfifo").arg(inside.join("pipe.csv")).status().expect("mkfifo runs");
    assert!(pipe.success());
    let names = ["../out.csv", "/etc/hostname.csv", "dir.csv", "link.csv", "loop.csv", "pipe.csv", "none.csv"];
    let sources: Vec<String> = names.iter().map(|name| format!("{{file: {name}}}")).collect();
    let dataset = format!("[{}, {{transcripts: '../*.csv'}}, {{samples: [{{a: 1}}]}}]", sources.join(", "));
    std::fs::write(inside.join("task.yaml"), task("", &dataset, "Hi")).expect("written");
    let ran = run(&inside, &["check", "--format", "concise", "task.yaml"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((ran.code, lines.len()), (3, 8), "{}", ran.out);
    assert!(lines.iter().all(|line| line.contains("error[E0208]")), "{}", ran.out);
    assert!(
        lines[2].contains("it is not a regular file") && lines[5].contains("it is not a regular file"),
        "{}",
        ran.out
    );
}

/// Files of real conversations, if they are at hand.
#[test]
#[expect(clippy::print_stderr, reason = "a test that did not run says so")]
fn real_transcripts_are_read_whole() {
    let Some(folder) = std::env::var_os("AIGO_TRANSCRIPTS") else {
        eprintln!("AIGO_TRANSCRIPTS names no folder with real conversations: not tested with any");
        return;
    };
    let mut calls = 0;
    for (file, count) in [
        ("mt_eval/mt-bench_extended.jsonl", 80),
        ("deepeval_goldens/convo_goldens.json", 15),
        ("deepeval_goldens/goldens_multi_turn.json", 5),
        ("tau_bench/gpt-4o-airline.json", 200),
    ] {
        let reader = BufReader::new(std::fs::File::open(Path::new(&folder).join(file)).expect("it is there"));
        let format = aigo_source::Format::of(file).expect("a known format");
        let rows = aigo_source::rows(format, reader, &[], aigo_source::Take::Records);
        let found: Vec<_> = aigo_source::transcript::conversations(rows, |error| error).collect();
        assert_eq!(found.len(), count, "{file}");
        for one in found {
            let one = one.unwrap_or_else(|error| panic!("{file}: {error}"));
            let map = one.row.value.as_map().expect("a map").clone();
            let line = aigo_source::transcript::write(&one.conversation, &map);
            let rows =
                aigo_source::rows(aigo_source::Format::JsonLines, line.as_bytes(), &[], aigo_source::Take::Records);
            let back =
                aigo_source::transcript::conversations(rows, |error| error).next().expect("one").expect("a good one");
            assert_eq!(back.conversation, one.conversation);
            let is_call = |message: &&aigo_ir::message::Message| {
                matches!(message.kind, aigo_ir::message::MessageKind::Call { .. })
            };
            calls += one.conversation.messages().iter().filter(is_call).count();
        }
    }
    assert_eq!(calls, 1164, "the calls of the airline's conversations");
}
