//! The programs of `spec/ir.md` are read and verified, its tables are those of the code, and its hashes are recomputed from
//! the bytes that it defines, without the project's own writer.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::schema::{ItemKind, Items, items_schema, user_turn_schema, verdict_schema};
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_ir::verify::verify;
use aigo_ir::{print, read};
use aigo_machine::{Answer, Linked, Sample, Trial};

use super::page::Page;
use super::{between, column, source, surroundings};

fn page() -> Page {
    Page::of("spec/ir.md")
}

/// A whole program around a part of one.
fn program(part: &str, text: &str) -> String {
    let is = |wanted: &str, usual: &str| if part == wanted { text.to_owned() } else { usual.to_owned() };
    let solve = is("solve", "n0 \"end\" exit completed\n");
    let rule = is("role", "rule say=\"Certainly.\"\n");
    let score = is(
        "score",
        "slot \"v\" type=\"verdict\"\nn0 \"check\" check contains=\"x\" text=\"last.text\" author=\"assistant\" turn=\"turn\" into=\"v\" next=n1\n\
         n1 \"score\" score scorer=\"helpful\" from=\"v\" next=n2\nn2 \"end\" exit completed\n",
    );
    let tool = is("tool", "");
    format!(
        "aigo-ir 1\nprogram \"example\" {{\nseed 0\nepochs 1\nfield \"plan\" type=\"string\"\n}}\n\
         role \"assistant\" scripted {{\n{rule}}}\nrole \"judge\" scripted {{\nrule fault=500\n}}\n{tool}\
         solve \"main\" {{\n{solve}}}\nscore \"helpful\" scale=boolean pass=@1.0 evidence=none {{\n{score}}}\n"
    )
}

#[test]
fn every_program_is_what_the_page_says() {
    let page = page();
    let mut shown = BTreeSet::new();
    for block in page.blocks.iter().filter(|block| block.is("ir")) {
        let place = block.place(&page);
        let part = block.words.get(1).filter(|word| ["solve", "score", "role", "tool"].contains(&word.as_str()));
        let text = part.map_or_else(|| block.text.clone(), |part| program(part, &block.text));
        let read_back = read::read(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(read::read(&print::print(&read_back)).as_ref(), Ok(&read_back), "{place}: read(print(p)) == p");
        let broken: BTreeSet<&str> = verify(&read_back).iter().map(|violation| violation.invariant).collect();
        let wanted: BTreeSet<&str> = if block.says("invalid") {
            block.words.last().map(String::as_str).into_iter().collect()
        } else {
            BTreeSet::new()
        };
        assert_eq!(broken, wanted, "{place}: {:?}", verify(&read_back));
        shown.extend(wanted.into_iter().map(str::to_owned));
    }
    let listed: BTreeSet<String> = column(&page, "invariant").into_iter().collect();
    let unshown: Vec<_> = listed.difference(&shown).collect();
    // The text form cannot say it.
    assert_eq!(unshown, ["again_to_own_header"]);
}

#[test]
fn the_invariants_are_the_functions_that_verify() {
    let mut functions = BTreeSet::new();
    for file in ["names", "structure", "slots", "types", "tools", "effects"] {
        let text = source(&format!("compiler/ir/src/verify/{file}.rs"));
        let named = between(&text, "pub(super) fn ", "(").into_iter();
        functions.extend(named.filter(|name| text.contains(&format!("\"{name}\""))));
    }
    let listed: BTreeSet<String> = column(&page(), "invariant").into_iter().collect();
    assert_eq!(listed, functions);
}

#[test]
fn the_kinds_of_nodes_are_those_of_the_code() {
    let text = source("compiler/ir/src/node.rs");
    let (_, node) = text.split_once("impl Node {").expect("the kinds of nodes");
    let (_, words) = node.split_once("fn word").expect("their words");
    let words = words.split_once("fn is_header").expect("the end of the words").0;
    let words: BTreeSet<String> = between(words, "=> \"", "\"");
    let page = page();
    assert_eq!(column(&page, "node").into_iter().collect::<BTreeSet<_>>(), words);
    // The ports of every kind that is shown; no front end makes a `tool` yet.
    let mut shown = BTreeSet::from(["tool".to_owned()]);
    for block in page.blocks.iter().filter(|block| block.is("ir")) {
        let part = block.words.get(1).filter(|word| ["solve", "score"].contains(&word.as_str()));
        let text = part.map_or_else(|| block.text.clone(), |part| program(part, &block.text));
        let Ok(read_back) = read::read(&text) else { continue };
        for (_, placed) in read_back.graphs().flat_map(aigo_ir::graph::Graph::nodes) {
            let kind = placed.node.word();
            let ports: Vec<&str> = placed.node.ports().iter().map(|port| port.word()).collect();
            let row = page.table("node").into_iter().find(|row| row[0] == format!("`{kind}`"));
            assert_eq!(row.expect(kind)[2], ports.join(", "), "{kind}");
            shown.insert(kind.to_owned());
        }
    }
    assert_eq!(shown, words);
}

#[test]
fn the_domains_are_those_of_the_code() {
    let mut found = BTreeSet::new();
    let files = [
        "compiler/ir/src/program.rs",
        "compiler/ir/src/message.rs",
        "compiler/src/dataset/ids.rs",
        "compiler/src/dataset/keys.rs",
        "compiler/src/dataset/profile.rs",
        "compiler/src/dataset/raw.rs",
        "compiler/src/select.rs",
        "vm/machine/src/ask.rs",
        "vm/machine/src/linked.rs",
        "vm/machine/src/outcome.rs",
        "vm/machine/src/step.rs",
        "vm/machine/src/step/append.rs",
        "vm/machine/src/step/outside.rs",
        "vm/machine/src/trial/around.rs",
        "vm/log/src/digest.rs",
        "vm/src/provider/scripted.rs",
    ];
    for file in files {
        found.extend(between(&source(file), "KeyWriter::new(\"", "\""));
    }
    assert_eq!(column(&page(), "domain").into_iter().collect::<BTreeSet<_>>(), found);
}

#[test]
fn the_schemas_are_those_that_are_sent() {
    let page = page();
    let block =
        |name: &str| page.blocks.iter().find(|block| block.is("json") && block.says(name)).expect(name).text.trim_end();
    assert_eq!(block("user-turn"), user_turn_schema().to_json());
    let labels = ["1u".to_owned(), "1a".to_owned()];
    let schema = |scale: &Scale| verdict_schema(scale, EvidenceRule::Commission, false, &labels).to_json();
    assert_eq!(block("verdict"), schema(&Scale::Range(1, 5)));
    let fields = [("fact", ItemKind::Str), ("turn", ItemKind::Turn), ("quote", ItemKind::Quote), ("n", ItemKind::Int)];
    let items = Items { fields: fields.map(|(name, kind)| (name.into(), kind)).into(), max: 5 };
    assert_eq!(block("items"), items_schema(&items, &labels).to_json());
    for (scale, score) in
        [(Scale::Boolean, r#"{"type":"boolean"}"#), (Scale::Unit, r#"{"type":"number","minimum":0,"maximum":1}"#)]
    {
        assert!(schema(&scale).contains(&format!("\"score\":{score}")) && page.text.contains(score));
    }
}

/// The bytes of the page's table of items, made without the project's writer.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn of(domain: &str) -> Self {
        Self::default().text(domain)
    }

    fn tagged(mut self, tag: u8, n: usize) -> Self {
        self.0.push(tag);
        self.0.extend(u64::try_from(n).expect("a length").to_le_bytes());
        self
    }

    fn text(self, text: &str) -> Self {
        let mut bytes = self.tagged(b's', text.len());
        bytes.0.extend(text.as_bytes());
        bytes
    }

    fn number(self, n: usize) -> Self {
        self.tagged(b'u', n)
    }

    fn list(self, n: usize) -> Self {
        self.tagged(b'l', n)
    }

    fn hash(mut self, hash: [u8; 32]) -> Self {
        self.0.push(b'k');
        self.0.extend(hash);
        self
    }

    fn byte(mut self, tag: u8) -> Self {
        self.0.push(tag);
        self
    }

    fn value(self, value: &Value) -> Self {
        match value {
            Value::Null => self.byte(b'n'),
            Value::Bool(true) => self.byte(b't'),
            Value::Bool(false) => self.byte(b'f'),
            Value::Int(n) => {
                let mut bytes = self.byte(b'i');
                bytes.0.extend(n.to_le_bytes());
                bytes
            }
            Value::Float(x) => {
                let mut bytes = self.byte(b'd');
                bytes.0.extend(x.to_le_bytes());
                bytes
            }
            Value::Str(text) => self.text(text),
            Value::List(items) => items.iter().fold(self.list(items.len()), Self::value),
            Value::Map(map) => {
                map.iter().fold(self.tagged(b'm', map.len()), |bytes, (key, value)| bytes.text(key).value(value))
            }
        }
    }

    fn done(self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }
}

fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Every hash of the example, from the page's definitions: by name, in order.
fn by_hand(printed: &str) -> Vec<(&'static str, String)> {
    let row = Value::map([("who", Value::str("Ada"))]);
    let program = Bytes::of("aigo.program.1").text(printed).done();
    let row_hash = Bytes::of("aigo.row.1").value(&Value::Null).value(&row).done();
    let lanes = row_hash.chunks(8).map(|lane| usize::from_le_bytes(lane.try_into().expect("eight bytes")));
    let dataset = lanes.fold(Bytes::of("aigo.dataset.1").number(1), Bytes::number).done();
    let sample = hex(&Bytes::of("aigo.sample.1").text("who").text("Ada").done()[..8]);
    let role = "role \"assistant\" scripted {\n  rule say=\"Hello, {{ who }}.\"\n}\n";
    let role = Bytes::of("aigo.role.1").text("scripted").number(0).list(1).text(role).done();
    let message = Bytes::of("aigo.call.1").hash(role).list(1).text("user").text("I am Ada.").byte(b'n').list(0);
    let call = message.byte(b'n').byte(b'n').done();
    let draw = Bytes::of("aigo.draw.1").hash(call).text(&sample).number(1).text("solve/main").list(0).number(0);
    let content = draw.done();
    let answer = Bytes::of("aigo.answer.1").text("Hello, Ada.").text("stop").byte(b'n').list(0).done();
    let verdict = [
        ("outcome", Value::str("scored")),
        ("value", Value::Bool(true)),
        ("pass", Value::Bool(true)),
        ("reason", Value::str("")),
        ("complaint", Value::str("")),
        ("evidence", Value::list(Vec::new())),
    ];
    let leaf = Bytes::of("aigo.leaf.1").text(&sample).number(1).text("completed").list(1);
    let leaf = leaf.text("solve/main").text("generate").list(0).text("assistant").hash(content).hash(answer);
    let leaf = leaf.list(1).text("greets").byte(b'n').text("score").value(&Value::map(verdict)).done();
    let mut ended = [0; 2048];
    let opened = Bytes::of("aigo.opened.1").text("main").value(&row).byte(b'n').list(0).byte(b'n').done();
    let hashed = Bytes::of("aigo.ended.1").text(&sample).number(1).hash(opened).hash(leaf);
    blake3::Hasher::new().update(&hashed.0).finalize_xof().fill(&mut ended);
    // Of one trial the sums are its numbers.
    let sums = ended.chunks(2).map(|pair| usize::from(u16::from_le_bytes(pair.try_into().expect("two bytes"))));
    let digest = Bytes::of("aigo.digest.2").hash(program).hash(dataset).number(1).number(1).list(1024);
    let digest = sums.fold(digest, Bytes::number).done();
    vec![
        ("program", hex(&program)),
        ("dataset", hex(&dataset)),
        ("sample", sample),
        ("role", hex(&role)),
        ("call", hex(&call)),
        ("content", hex(&content)),
        ("answer", hex(&answer)),
        ("leaf", hex(&leaf)),
        ("digest", hex(&digest)),
    ]
}

#[test]
fn the_example_compiles_to_its_program_and_runs_to_its_hashes() {
    let page = page();
    let task = page.blocks.iter().find(|block| block.is("yaml") && block.says("task")).expect("a task");
    let shown = page.blocks.iter().find(|block| block.is("ir") && block.says("compiled")).expect("its program");
    let (program, dataset) = surroundings::compiled(task.text.as_bytes(), &page).program.expect("it compiles");
    let printed = print::print(&program);
    assert_eq!(printed, shown.text);
    let by_hand = by_hand(&printed);
    let lines = by_hand.iter().map(|(name, hash)| format!("{name:<8} {hash}\n")).collect::<Vec<_>>().concat();
    let hashes = page.blocks.iter().find(|block| block.is("text") && block.says("hashes")).expect("the hashes");
    assert_eq!(hashes.text, lines);

    // What the machine makes of it.
    let row = dataset.rows(&aigo_compiler::NoSources).next().expect("a row").expect("a good one");
    let sample = Sample {
        key: row.key,
        epoch: 1,
        graph: row.graph,
        row: row.fields,
        conversation: Arc::default(),
        tags: Arc::default(),
        cluster: None,
    };
    let (key, dataset_hash) = (sample.key.to_string(), dataset.hash);
    let linked = Arc::new(Linked::new(program).map_err(|found| found[0].to_string()).expect("it is sound"));
    let program_hash = linked.hash;
    let row = Value::Map(Arc::clone(&sample.row));
    let (graph, messages, tags, cluster) = (sample.graph.to_string(), None, Vec::new(), None);
    let open = aigo_log::Open { trial: 1, key: key.clone(), epoch: 1, graph, row, messages, tags, cluster };
    let opened = open.hash();
    let (mut trial, mut pending) = Trial::start(linked, Arc::new(sample));
    let ask = pending.pop().expect("it asks the assistant");
    let content = ask.ask.content;
    let answer = Answer { text: "Hello, Ada.".into(), stop: "stop".into(), ..Answer::default() };
    let answer_hash = answer.key();
    assert!(trial.answer(ask.lane, answer).is_empty());
    let leaf = trial.outcome().expect("it has ended").leaf();
    let mut digest = aigo_log::Digest::new(&[aigo_log::SUMMED], program_hash, dataset_hash);
    digest.add(&key, 1, &opened, &leaf);
    let digest = digest.finish();
    let made = [program_hash, dataset_hash, content, answer_hash, leaf, digest].map(|hash| hash.to_string());
    let names = ["program", "dataset", "content", "answer", "leaf", "digest"];
    for (name, made) in names.into_iter().zip(made).chain([("sample", key)]) {
        assert!(by_hand.contains(&(name, made.clone())), "the hash of the {name} is {made}");
    }
}
