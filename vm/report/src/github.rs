//! Annotations of GitHub's workflows: one for each gate that does not pass, and one for what is missing.

use std::fmt::Write as _;

use aigo_ir::text::{excerpt, printable};

use crate::failures;
use crate::text::{figures, gates_in_words};
use crate::{GateResult, Summary};

/// GitHub shows no more of one level in one step.
const MOST: usize = 10;

/// Commands, one a line. `task` is the task's file, at which GitHub shows them; `line_of` says where a gate stands in it.
/// There is no transcript text in them: they are shown to whoever sees the change.
pub fn github(summary: &Summary, task: Option<&str>, line_of: impl Fn(&str) -> Option<u32>) -> String {
    let mut out = String::new();
    let name = excerpt(&summary.program.name, 80);
    for (result, level) in [(GateResult::Red, "error"), (GateResult::Undecided, "warning")] {
        let gates: Vec<_> = summary.gates.iter().filter(|gate| gate.result == result).collect();
        for gate in gates.iter().take(MOST) {
            let scorer = summary.program.scorers.iter().position(|scorer| scorer.name == gate.scorer);
            let kinds: Vec<_> = summary.kinds.iter().filter(|kind| Some(kind.scorer) == scorer).collect();
            let first = kinds.first().map_or_else(String::new, |kind| {
                let places = failures::places(kinds.iter().copied(), |_| String::new());
                format!("\nfails {places}, for example {}", excerpt(&kind.key, 80))
            });
            let note = if gate.note.is_empty() { String::new() } else { format!("\n{}", gate.note) };
            let message = format!("{}{note}{first}", figures(gate));
            let title = format!("{name}: {} is {}", gate.gate, result.word());
            command(level, task, line_of(&gate.gate), &title, &message, &mut out);
        }
        if gates.len() > MOST {
            let _ = writeln!(out, "{} more gates are {}", gates.len() - MOST, result.word());
        }
    }
    let trouble = [
        summary.unreachable.as_ref().map(|what| format!("the application is of no use: {what}")),
        (summary.open > 0).then(|| format!("{} conversations are open", summary.open)),
        summary.missing.as_ref().map(|what| format!("missing: {what}")),
    ];
    let trouble: Vec<String> = trouble.into_iter().flatten().map(|what| excerpt(&what, 300)).collect();
    if summary.exit != 0 && summary.exit != 1 && !trouble.is_empty() {
        let title = format!("{name}: {}", gates_in_words(summary));
        command("warning", task, None, &title, &trouble.join("\n"), &mut out);
    }
    out
}

fn command(level: &str, task: Option<&str>, line: Option<u32>, title: &str, message: &str, out: &mut String) {
    let file =
        task.map_or_else(String::new, |task| format!("file={},", property(task.strip_prefix("./").unwrap_or(task))));
    let line = line.filter(|_| task.is_some()).map_or_else(String::new, |line| format!("line={line},"));
    let _ = writeln!(out, "::{level} {file}{line}title={}::{}", property(title), data(message));
}

/// Text behind the command.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
