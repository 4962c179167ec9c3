//! What `spec/fmt.md` shows is what `aigo fmt` does, and the table of short forms is that of the code, in both directions.

use aigo_compiler::expand::{self, SHORT_FORMS};
use aigo_ir::span::FileId;
use aigo_source::{layout, parse};

use super::page::{Block, Page};
use super::surroundings;
use crate::harness;

fn page() -> Page {
    Page::of("spec/fmt.md")
}

fn laid_out(text: &str) -> String {
    layout::formatted(&parse(text, FileId(0))).unwrap_or_else(|fault| panic!("{}:\n{text}", fault.what))
}

fn expanded(text: &str) -> String {
    laid_out(&expand::expanded(&parse(text, FileId(0)), |text| parse(text, FileId(0))))
}

/// The blocks that say one word, each with the next that says another.
fn pairs<'p>(page: &'p Page, first: &str, second: &str) -> Vec<(&'p Block, &'p Block)> {
    let blocks: Vec<&Block> = page.blocks.iter().filter(|block| block.says(first) || block.says(second)).collect();
    let pairs = blocks.chunks(2).map(|pair| match pair {
        [a, b] if a.says(first) && b.says(second) => (*a, *b),
        _ => panic!("`{first}` and `{second}` do not follow each other"),
    });
    pairs.collect()
}

#[test]
fn what_stands_before_becomes_what_stands_after() {
    let page = page();
    let pairs = pairs(&page, "before", "after");
    assert!(pairs.len() >= 3, "{} pairs", pairs.len());
    for (before, after) in pairs {
        assert_eq!(laid_out(&before.text), after.text, "{}", before.place(&page));
        assert_eq!(laid_out(&after.text), after.text, "{}", after.place(&page));
    }
}

fn hash(task: &str) -> String {
    let compiled = surroundings::compiled(task.as_bytes(), &page());
    let (program, _) = compiled.program.unwrap_or_else(|| panic!("{:?}:\n{task}", compiled.diagnostics));
    program.hash().hex(32)
}

#[test]
fn short_forms_become_long_ones_and_the_program_stays() {
    let page = page();
    for (short, long) in pairs(&page, "short", "long") {
        assert_eq!(expanded(&short.text), long.text);
        assert_eq!(expanded(&long.text), long.text);
        assert_eq!(hash(&short.text), hash(&long.text));
    }
}

/// For each form: a part of a task, its kind, and what it becomes.
const EXAMPLES: [(&str, &str, &str, &str); 16] = [
    ("`- generate`", "step", "- generate\n", "- generate: {}\n"),
    ("`- stop`", "step", "- generate\n- stop\n", "- generate: {}\n- stop: {}\n"),
    (
        "`generate: {as, expect, on_fail}`",
        "step",
        "- generate: {max_tool_rounds: 2, as: x, expect: [{contains: C}], on_fail: stop}\n",
        "- generate: {max_tool_rounds: 2}\n  as: x\n  expect: [{contains: C}]\n  on_fail: stop\n",
    ),
    (
        "`expect: {…}`",
        "step",
        "- generate: {}\n  expect:\n    contains: C\n",
        "- generate: {}\n  expect:\n    - contains: C\n",
    ),
    ("`import: path`", "top", "import: lib.yaml\n", "import: [lib.yaml]\n"),
    (
        "`NAME: [steps]` under `define: {solvers}`",
        "top",
        "define:\n  solvers:\n    a:\n    # first\n    - generate: {}\n    - stop: {}\n    b:\n      - generate: {}\n",
        "define:\n  solvers:\n    a:\n      # first\n      solvers:\n        - generate: {}\n        - stop: {}\n    b:\n      solvers:\n        - generate: {}\n",
    ),
    (
        "`NAME: some text` under `define: {personas}`",
        "top",
        "define:\n  personas:\n    a: Short, and calm.\n    b: |\n      Slow.\n\n      Calm.\n",
        "define:\n  personas:\n    a:\n      text: Short, and calm.\n    b:\n      text: |\n        Slow.\n\n        Calm.\n",
    ),
    (
        "`NAME: string` under `params`",
        "top",
        "define: {solvers: {a: {params: {x: string}, solvers: [user: \"{{ x }}\"]}}}\n",
        "define: {solvers: {a: {params: {x: {type: string}}, solvers: [user: \"{{ x }}\"]}}}\n",
    ),
    (
        "`dataset: {…}`",
        "task",
        "aigo: 1\nname: t\nmodels: {assistant: {scripted: [{say: Yes.}]}}\ndataset:\n  samples:\n    - {id: a}\n  # none\nsolvers: [user: Hi, generate: {}]\n\
         scorers: [{name: s, check: {contains: Y}}]\n",
        "aigo: 1\nname: t\nmodels: {assistant: {scripted: [{say: Yes.}]}}\ndataset:\n  - samples:\n      - {id: a}\n  # none\nsolvers: [user: Hi, generate: {}]\n\
         scorers: [{name: s, check: {contains: Y}}]\n",
    ),
    (
        "`assistant: openai/NAME` as a role",
        "model",
        "user: openai/gpt-5-mini-2025-08-07\n",
        "user: {model: openai/gpt-5-mini-2025-08-07}\n",
    ),
    ("`- some text` as a rule", "rule", "- \"Five, I think.\"\n", "- {say: \"Five, I think.\"}\n"),
    (
        "`reply: a.b` of an application",
        "model",
        "assistant: {http: {url: \"http://localhost:1\", body: \"{{ message }}\", reply: a.b}}\n",
        "assistant: {http: {url: \"http://localhost:1\", body: \"{{ message }}\", reply: {text: a.b}}}\n",
    ),
    (
        "`session: sticky`",
        "model",
        "assistant: {http: {url: \"http://localhost:1/{{ session }}\", body: \"{{ message }}\", reply: {text: a}, session: sticky}}\n",
        "assistant:\n  http: {url: \"http://localhost:1/{{ session }}\", body: \"{{ message }}\", reply: {text: a}, session: {kind: sticky, \
         created_by: client}}\n",
    ),
    (
        "`session: stateless`",
        "model",
        "assistant: {http: {url: \"http://localhost:1\", body: \"{{ message }}\", reply: {text: a}, session: stateless}}\n",
        "assistant: {http: {url: \"http://localhost:1\", body: \"{{ message }}\", reply: {text: a}, session: {kind: stateless}}}\n",
    ),
    (
        "`- some text` in `any_of`",
        "step",
        "- user:\n    any_of:\n      - Hi\n      - |\n        Hello,\n        you\n",
        "- user:\n    any_of:\n      - {say: Hi, weight: 1}\n      - weight: 1\n        say: |\n          Hello,\n          you\n",
    ),
    ("`- rate(x) >= 1` as a gate", "gate", "- rate(polite) >= 0.5\n", "- {gate: rate(polite) >= 0.5}\n"),
];

#[test]
fn the_table_of_short_forms_is_that_of_the_code_in_both_directions() {
    let table = Page::of("spec/language.md").table("written");
    let rows: Vec<(&str, &str)> = table.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let forms: Vec<(&str, &str)> = SHORT_FORMS.iter().map(|form| (form.written, form.long)).collect();
    assert_eq!(rows, forms);
    assert_eq!(forms.iter().map(|form| form.0).collect::<Vec<_>>(), EXAMPLES.map(|example| example.0));
    for (form, kind, short, long) in EXAMPLES {
        let (short, long) = (surroundings::task(kind, short), laid_out(&surroundings::task(kind, long)));
        // What stands around the example has short forms too.
        let long_around = expanded(&long);
        assert_eq!(expanded(&short), long_around, "{form}");
        assert_eq!(hash(&short), hash(&long), "{form}");
        assert_ne!(laid_out(&short), long, "{form}");
    }
}

#[test]
fn the_options_are_those_of_the_binary() {
    let help = harness::run(harness::root(), &["fmt", "--help"]).out;
    for row in page().table("option") {
        let flag = row[0].replace('`', "");
        let flag = flag.split(' ').next().unwrap_or_default();
        assert!(help.contains(flag), "no `{flag}` in\n{help}");
    }
}

#[test]
fn the_tasks_of_the_project_are_laid_out() {
    let ran = harness::run(harness::root(), &["fmt", "--check", "tasks"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}
