//! Rows for other tools: one for each verdict, or one for each message, as JSON Lines or CSV.

use std::fmt::Write as _;

use aigo_ir::message::{Message, MessageKind};
use aigo_ir::text::{is_dangerous, json_string};
use aigo_ir::value::Value;

use crate::conversation::Told;

/// A table's row: what stands under each of its heads. `None` is a cell without a value.
pub type Cells = Vec<Option<Value>>;

/// The heads of rows of verdicts.
pub const VERDICTS: [&str; 11] =
    ["run", "sample", "epoch", "ending", "scorer", "turn", "outcome", "value", "pass", "reason", "evidence"];
/// The heads of rows of messages.
pub const MESSAGES: [&str; 11] =
    ["run", "sample", "epoch", "ending", "place", "turn", "label", "author", "kind", "tool", "text"];

/// What all rows of a trial begin with.
fn of_trial(run: &str, told: &Told<'_>) -> Cells {
    vec![
        Some(Value::str(run)),
        Some(Value::str(told.key)),
        Some(Value::Int(i64::from(told.epoch))),
        told.ending.map(Value::str),
    ]
}

/// The rows of a trial's verdicts, under [`VERDICTS`].
pub fn verdicts(run: &str, told: &Told<'_>) -> Vec<Cells> {
    let rows = told.scores.iter().map(|row| {
        let verdict = &row.verdict;
        let evidence = verdict.evidence.iter().map(|evidence| {
            Value::map([("turn", Value::Str(evidence.turn.clone())), ("quote", Value::Str(evidence.quote.clone()))])
        });
        let mut cells = of_trial(run, told);
        cells.extend([
            Some(Value::Str(row.scorer.clone())),
            row.turn.map(|turn| Value::Int(i64::from(turn))),
            Some(Value::str(verdict.outcome.word())),
            verdict.value.clone(),
            verdict.pass.map(Value::Bool),
            Some(Value::Str(verdict.reason.clone())),
            Some(Value::list(evidence.collect())),
        ]);
        cells
    });
    rows.collect()
}

/// The rows of a trial's messages, under [`MESSAGES`].
pub fn messages(run: &str, told: &Told<'_>) -> Vec<Cells> {
    let mut labels = told.conversation.labelled(0, u32::MAX).into_iter().peekable();
    let rows = told.conversation.messages().iter().zip(1_i64..).map(|(message, place)| {
        let label = labels.next_if(|(_, labelled)| std::ptr::eq(*labelled, message)).map(|(label, _)| label);
        let mut cells = of_trial(run, told);
        cells.extend([Some(Value::Int(place)), Some(Value::Int(i64::from(message.turn))), label.map(Value::str)]);
        cells.extend(said(message));
        cells
    });
    rows.collect()
}

/// Author, kind, tool and text of a message.
fn said(message: &Message) -> [Option<Value>; 4] {
    let text = |text: &std::sync::Arc<str>| Some(Value::Str(text.clone()));
    let author = text(&message.author);
    match &message.kind {
        MessageKind::System { audience } => [text(audience), Some(Value::str("system")), None, text(&message.text)],
        MessageKind::Say => [author, Some(Value::str("say")), None, text(&message.text)],
        MessageKind::Call { tool, arguments, .. } => [author, Some(Value::str("call")), text(tool), text(arguments)],
        MessageKind::Read => [author, Some(Value::str("read")), None, text(&message.text)],
        MessageKind::Result { tool, .. } => [author, Some(Value::str("result")), text(tool), text(&message.text)],
    }
}

/// A row as a JSON object, with its newline. Cells without a value are left out.
pub fn json_line(heads: &[&str], cells: &Cells) -> String {
    let mut out = String::from("{");
    for (head, value) in heads.iter().zip(cells) {
        let Some(value) = value else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        json_string(head, &mut out);
        out.push(':');
        match value {
            Value::Str(text) => json_string(text, &mut out),
            other => out.push_str(&other.to_json()),
        }
    }
    out.push_str("}\n");
    out
}

/// The heads as a line of CSV.
pub fn csv_heads(heads: &[&str]) -> String {
    heads.join(",") + "\r\n"
}

/// A row as a line of CSV (RFC 4180). No cell is a formula to a spreadsheet, and none can drive a terminal.
pub fn csv_line(cells: &Cells) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.as_ref().map_or_else(String::new, csv_cell)).collect();
    cells.join(",") + "\r\n"
}

fn csv_cell(value: &Value) -> String {
    let Value::Str(text) = value else {
        return quoted(&value.to_json());
    };
    let mut safe = String::with_capacity(text.len() + 2);
    // What a spreadsheet skips before it looks whether a formula begins.
    let skipped = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
    };
    if text.trim_start_matches(skipped).starts_with(['=', '+', '-', '@', '|', '＝', '＋', '－', '＠'])
        || text.starts_with(['\t', '\r'])
    {
        safe.push('\'');
    }
    for c in text.chars() {
        if is_dangerous(c) && c != '\n' && c != '\t' {
            let _ = write!(safe, "\\u{{{:x}}}", c as u32);
        } else {
            safe.push(c);
        }
    }
    quoted(&safe)
}

fn quoted(text: &str) -> String {
    let plain =
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '.' | '-' | ':' | '/'));
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_all_come_back() {
        for formula in ["=1+1", "+1", "-1+cmd", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\u{200b}=1", "\u{feff}@x", "|calc"]
        {
            let cell = csv_cell(&Value::str(formula));
            assert!(cell.trim_matches('"').starts_with('\''), "{formula:?}: {cell}");
        }
        let line = csv_line(&vec![
            Some(Value::str("say \"hi\", then\nleave")),
            None,
            Some(Value::Int(-3)),
            Some(Value::Float(0.5)),
            Some(Value::Bool(true)),
            Some(Value::str("\u{1b}[2J")),
        ]);
        assert_eq!(line, "\"say \"\"hi\"\", then\nleave\",,-3,0.5,true,\"\\u{1b}[2J\"\r\n");
    }

    #[test]
    fn cells_without_a_value_are_left_out_of_objects() {
        let line = json_line(&["a", "b", "c"], &vec![Some(Value::str("x\u{202e}")), None, Some(Value::Null)]);
        assert_eq!(line, "{\"a\":\"x\\u202e\",\"c\":null}\n");
    }
}
