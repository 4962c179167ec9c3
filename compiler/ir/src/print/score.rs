//! Scorers.

use super::Printer;
use crate::lines::Line;
use crate::program::Scorer;
use crate::value::Value;
use crate::verdict::Scale;

impl Printer<'_> {
    pub(super) fn scorer(&mut self, scorer: &Scorer) {
        let mut line = Line::new(0, "score");
        line.text(&scorer.name);
        match &scorer.scale {
            Scale::Labels(labels) => {
                let value =
                    Value::map(labels.iter().map(|(label, x)| (label.clone(), Value::float(*x).unwrap_or_default())));
                line.pair_value("labels", &value);
            }
            plain => {
                line.pair_word("scale", plain);
            }
        }
        line.pair_number("pass", scorer.pass);
        if let Some(over) = scorer.over {
            line.pair_word("over", over.word());
        }
        line.pair_word("evidence", scorer.evidence.word());
        match &scorer.graph {
            Some(graph) => {
                self.open(&mut line);
                self.graph(graph);
                self.close(0);
            }
            None => self.line(&line),
        }
    }
}
