//! Pictures of hostile programs and of tasks: they parse, they say what is in the program, nothing is drawn over another thing.

use std::fmt::Write as _;

use aigo_compiler::NoSources;
use aigo_ir::draw::{dot, svg};
use aigo_ir::program::Program;
use aigo_ir::span::SourceMap;

use super::xml::{Part, dot_strings, parse};
use crate::harness::root;
use crate::properties::programs::program;

/// Boxes, forks and pills: what has text of its own and nothing in it. Left, top, right, bottom.
fn boxes(parts: &[Part]) -> Vec<[i64; 4]> {
    let mut out = Vec::new();
    for part in parts {
        match part.attribute("class") {
            Some("box" | "pill") => {
                let (x, y) = (part.number("x"), part.number("y"));
                out.push([x, y, x + part.number("width"), y + part.number("height")]);
            }
            Some("fork") => {
                let d = part.attribute("d").expect("a path");
                let numbers: Vec<i64> = d
                    .split(|c: char| !(c.is_ascii_digit() || c == '-'))
                    .filter(|word| !word.is_empty())
                    .map(|word| word.parse().expect("a whole number"))
                    .collect();
                // M l y H r L right middle L r bottom H l L x middle
                let [_, top, _, right, _, _, bottom, _, left, _] = numbers.as_slice() else { panic!("{d}") };
                out.push([*left, *top, *right, *bottom]);
            }
            _ => {}
        }
    }
    out
}

fn assert_apart(boxes: &[[i64; 4]], what: &str) {
    for (n, a) in boxes.iter().enumerate() {
        for b in boxes.iter().skip(n + 1) {
            let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
            assert!(apart, "{what}: {a:?} and {b:?} lie over each other");
        }
    }
}

/// Everything is inside of the page.
fn assert_inside(parts: &[Part], what: &str) {
    let page = parts.iter().find(|part| matches!(part, Part::Open(name, _) if name == "svg")).expect("an svg");
    let (wide, tall) = (page.number("width"), page.number("height"));
    for part in parts {
        if let Some("box" | "pill" | "region" | "panel") = part.attribute("class") {
            let (x, y) = (part.number("x"), part.number("y"));
            let (right, bottom) = (x + part.number("width"), y + part.number("height"));
            assert!(x >= 0 && y >= 0 && right <= wide && bottom <= tall, "{what}: {part:?} is not on {wide} by {tall}");
        }
    }
}

#[test]
fn pictures_of_hostile_programs_parse_and_nothing_overlaps() {
    for seed in 0..400 {
        let program = program(seed, 4 + (seed % 12) as usize);
        let picture = svg(&program, &SourceMap::default());
        let parts = parse(&picture);
        let elements: Vec<&str> = parts
            .iter()
            .filter_map(|part| if let Part::Open(name, _) = part { Some(name.as_str()) } else { None })
            .collect();
        let known = ["svg", "title", "style", "rect", "text", "path", "g", "a"];
        assert!(elements.iter().all(|name| known.contains(name)), "seed {seed}: {elements:?}");
        assert_apart(&boxes(&parts), &format!("seed {seed}"));
        assert_inside(&parts, &format!("seed {seed}"));
        assert_eq!(picture, svg(&program, &SourceMap::default()), "the same each time");
        let strings = dot_strings(&dot(&program, &SourceMap::default()));
        let name = aigo_ir::text::printable(&program.name);
        assert_eq!(strings.first().map(|text| text.trim_end_matches('\n')), Some(name.trim_end_matches('\n')));
        let nodes: usize = program.graphs().map(|graph| graph.nodes().len()).sum();
        assert!(strings.len() > nodes, "seed {seed}: each node has a label");
    }
}

fn compiled(text: &str) -> (Program, SourceMap) {
    let compiled = aigo_compiler::compile("task.yaml", text.as_bytes(), &NoSources);
    let Some((program, _)) = compiled.program else { panic!("{:?}", compiled.diagnostics) };
    (program, compiled.sources)
}

/// What a stranger has to read in the picture of a task with a simulated user.
#[test]
fn a_picture_says_what_the_task_does() {
    let text = std::fs::read_to_string(root().join("tests/fixtures/quickstart/task.yaml")).unwrap();
    let (program, sources) = compiled(&text);
    let parts = parse(&svg(&program, &sources));
    let said: Vec<&str> =
        parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.trim()) } else { None }).collect();
    for words in [
        "instruct assistant",
        "loop, at most 6 passes",
        "user, simulated, writes the next message",
        "assistant answers",
        "goes on",
        "done, or gave up",
        "judge judges",
        "plan_kept",
        "assistant: scripted",
    ] {
        assert!(said.iter().any(|said| said.contains(words)), "no `{words}` in {said:?}");
    }
    let links: Vec<&str> = parts.iter().filter_map(|part| part.attribute("href")).collect();
    let line = text.lines().position(|line| line.contains("simulate_user")).unwrap() + 1;
    assert!(links.contains(&format!("task.yaml#L{line}").as_str()), "{links:?}");
    assert!(
        said.iter().any(|said| said.contains(&format!("task.yaml:{line}: - simulate_user:"))),
        "the line in the tip"
    );
    assert_apart(&boxes(&parts), "quickstart");
}

/// Two hundred steps and fifty scorers are one picture, in which nothing overlaps.
#[test]
fn a_large_task_is_still_a_picture() {
    let mut task = String::from(
        "aigo: 1\nname: large\nmodels:\n  assistant: {scripted: [{say: Yes.}]}\n  judge: {scripted: [{verdict: {score: true}}]}\ndataset: {samples: [{plan: Pro}]}\nsolvers:\n",
    );
    for n in 0..66 {
        let _ = writeln!(
            task,
            "  - user: Question {n} & <more>?\n  - generate\n  - if: {{when: \"'{n}' in last.text\", then: [{{stop: {{reason: over}}}}]}}"
        );
    }
    task.push_str("scorers:\n");
    for n in 0..50 {
        let _ = writeln!(
            task,
            "  - {{name: s{n}, judge: {{rubric: It is \"{n}\" <times> & polite., scale: boolean, per: turn}}}}"
        );
    }
    let (program, sources) = compiled(&task);
    let parts = parse(&svg(&program, &sources));
    assert!(boxes(&parts).len() > 300);
    assert_apart(&boxes(&parts), "large");
    assert_inside(&parts, "large");
}
