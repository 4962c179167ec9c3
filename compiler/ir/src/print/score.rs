//! Scorers.

use super::Printer;
use super::check::between;
use crate::lines::Line;
use crate::program::Scorer;
use crate::schema::SKIP;
use crate::value::Value;
use crate::verdict::Scale;

pub(super) fn scale(scale: &Scale, line: &mut Line) {
    match scale {
        Scale::Labels(labels) => {
            let worth = |x: &f64| Value::float(*x).unwrap_or_default();
            line.pair_value("labels", &Value::map(labels.iter().map(|(label, x)| (label.clone(), worth(x)))))
        }
        plain => line.pair_word("scale", plain),
    };
}

impl Printer<'_> {
    pub(super) fn scorer(&mut self, scorer: &Scorer) {
        let mut line = Line::new(0, "score");
        line.text(&scorer.name);
        scale(&scorer.scale, &mut line);
        line.pair_number("pass", scorer.pass);
        if let Some(over) = scorer.over {
            line.pair_word("over", over.word());
        }
        line.pair_word("evidence", scorer.evidence.word());
        if scorer.skips {
            line.pair_word("skips", SKIP);
        }
        if let Some(label) = &scorer.at {
            line.pair("at", label);
        }
        if let Some(turns) = scorer.turns {
            line.pair_value("turns", &between(turns));
        }
        if scorer.completion {
            line.pair_word("completion", true);
        }
        if !scorer.tags.is_empty() {
            line.pair_value("tags", &Value::list(scorer.tags.iter().map(|tag| Value::Str(tag.clone())).collect()));
        }
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
