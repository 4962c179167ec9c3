//! One conversation for people: its messages whole, the quoted words marked, and every verdict with its reason.

use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::message::{Conversation, Message, MessageKind};
use aigo_ir::text::{excerpt, number};
use aigo_ir::value::{Map, Value};
use aigo_ir::verdict::{Evidence, Verdict};

use crate::Answered;

/// How much of a cell of the row is shown, and of a reason.
const WIDTH: usize = 400;

/// A verdict by the name of its scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The scorer.
    pub scorer: Arc<str>,
    /// The turn; none for the conversation.
    pub turn: Option<u32>,
    /// What it says.
    pub verdict: Verdict,
}

/// What is shown of a trial.
#[derive(Clone, Debug)]
pub struct Told<'t> {
    /// The sample's key.
    pub key: &'t str,
    /// From 1.
    pub epoch: u32,
    /// The solve graph.
    pub graph: &'t str,
    /// How it ended; none where it has not.
    pub ending: Option<&'t str>,
    /// Why it ended badly, or has not ended.
    pub fault: Option<&'t str>,
    /// The sample's fields.
    pub row: &'t Map,
    /// Its messages.
    pub conversation: &'t Conversation,
    /// Every verdict.
    pub scores: &'t [Named],
    /// The answered calls.
    pub calls: &'t [Answered],
}

/// The name of a verdict on the command line: `kind` for the conversation's, `kind:2` for that of turn 2.
pub fn verdict_id(scorer: &str, turn: Option<u32>) -> String {
    turn.map_or_else(|| scorer.to_owned(), |turn| format!("{scorer}:{turn}"))
}

/// The conversation and its verdicts.
pub fn conversation(told: &Told<'_>) -> String {
    let mut out = String::new();
    let ending = told.ending.map_or_else(|| "open".to_owned(), |ending| format!("ended: {}", ending.replace('_', " ")));
    let fault = told.fault.map_or_else(String::new, |fault| format!(" ({})", excerpt(fault, WIDTH)));
    let _ = writeln!(out, "{}   epoch {}   {}   {ending}{fault}", excerpt(told.key, WIDTH), told.epoch, told.graph);
    for (name, value) in told.row.iter() {
        let shown = value.as_str().map_or_else(|| value.to_json(), str::to_owned);
        let _ = writeln!(out, "  {}: {}", excerpt(name, 60), excerpt(&shown, WIDTH));
    }
    out.push('\n');
    let evidence: Vec<&Evidence> = told.scores.iter().flat_map(|row| &row.verdict.evidence).collect();
    let mut labels = told.conversation.labelled(0, u32::MAX).into_iter().peekable();
    for message in told.conversation.messages() {
        // Instructions have no label.
        let label = labels.next_if(|(_, labelled)| std::ptr::eq(*labelled, message)).map(|(label, _)| label);
        say(label.as_deref(), message, &evidence, &mut out);
    }
    if !told.scores.is_empty() {
        out.push('\n');
    }
    for row in told.scores {
        verdict(row, &mut out);
    }
    out
}

/// A message: its label, who says it, its text, in which the quoted words stand between marks.
fn say(label: Option<&str>, message: &Message, evidence: &[&Evidence], out: &mut String) {
    let cited: Vec<&str> = evidence.iter().filter(|e| Some(&*e.turn) == label).map(|e| &*e.quote).collect();
    let (who, text) = match &message.kind {
        MessageKind::System { audience } => (format!("to {audience}"), message.text.to_string()),
        MessageKind::Say => (message.author.to_string(), message.text.to_string()),
        MessageKind::Call { tool, arguments, .. } => (format!("call of {tool}"), arguments.to_string()),
        MessageKind::Result { tool, .. } => (format!("result of {tool}"), message.text.to_string()),
        MessageKind::Read => (format!("read by {}", message.author), message.text.to_string()),
    };
    let text = marked(&text, &cited);
    let sign = if cited.is_empty() { ' ' } else { '>' };
    let mut lines = text.lines();
    let _ = writeln!(out, "{sign} {:<4} {}: {}", label.unwrap_or(""), excerpt(&who, 60), lines.next().unwrap_or(""));
    for line in lines {
        let _ = writeln!(out, "         {line}");
    }
}

/// The text with each quote between `>>` and `<<`, where it stands in it letter by letter, but for case. Quotes that overlap
/// are marked as one.
pub fn marked(text: &str, quotes: &[&str]) -> String {
    let lower = text.to_lowercase();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for quote in quotes.iter().filter(|quote| !quote.is_empty()) {
        let at = text.find(quote).or_else(|| {
            // Lowering can change lengths; then the place is not known.
            (lower.len() == text.len()).then(|| lower.find(&quote.to_lowercase())).flatten()
        });
        found.extend(at.map(|at| (at, at + quote.len())));
    }
    found.sort_unstable();
    let (mut out, mut done) = (String::new(), 0);
    let mut ranges = found.into_iter().peekable();
    while let Some((start, mut end)) = ranges.next() {
        while let Some((_, further)) = ranges.next_if(|(next, _)| *next <= end) {
            end = end.max(further);
        }
        let (Some(before), Some(quoted)) = (text.get(done..start), text.get(start..end)) else {
            return text.to_owned();
        };
        let _ = write!(out, "{before}>>{quoted}<<");
        done = end;
    }
    out + text.get(done..).unwrap_or_default()
}

fn verdict(row: &Named, out: &mut String) {
    let said = match &row.verdict.value {
        Some(value) => shown(value),
        None => row.verdict.outcome.word().replace('_', " "),
    };
    let pass = match row.verdict.pass {
        Some(true) => "   passes",
        Some(false) => "   fails",
        None => "",
    };
    let why = if row.verdict.reason.is_empty() {
        String::new()
    } else {
        format!("   why: {}", excerpt(&row.verdict.reason, WIDTH))
    };
    let _ = writeln!(out, "{} = {said}{pass}{why}", excerpt(&verdict_id(&row.scorer, row.turn), 80));
    for evidence in &row.verdict.evidence {
        let _ = writeln!(out, "    {:<4} \"{}\"", excerpt(&evidence.turn, 20), excerpt(&evidence.quote, WIDTH));
    }
}

/// A value as people read it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Float(x) => number(*x),
        Value::Str(text) => excerpt(text, 60),
        other => other.to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_marked_where_they_stand() {
        assert_eq!(marked("You get 3 seats. Fine.", &["3 seats"]), "You get >>3 seats<<. Fine.");
        assert_eq!(marked("You get 3 Seats.", &["you get", "get 3 seats", "no"]), ">>You get 3 Seats<<.");
        assert_eq!(marked("é a é", &["a", "", "é a"]), ">>é a<< é");
        assert_eq!(marked("nothing", &[]), "nothing");
    }
}
