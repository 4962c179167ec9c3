//! Reading gates: a small grammar of its own, whose every part has a place.

use std::ops::Range;
use std::sync::Arc;

use super::{AGGREGATES, Aggregate, Decide, Gate, MAX_MISSING, MIN_N, WORDS};
use crate::diagnostic;
use crate::expr::Comparison;
use crate::reduce::Reducer;
use crate::span::Origin;

/// The comparisons of gates, the longer signs first.
const COMPARISONS: [Comparison; 6] = [
    Comparison::GreaterOrEqual,
    Comparison::LessOrEqual,
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Greater,
    Comparison::Less,
];

const SHAPE: &str = "a gate is written `mean(scorer) >= 4` or `rate(scorer) >= 0.95`";

/// Why a gate cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateError {
    /// What was seen.
    pub message: String,
    /// Where in the gate's text.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
    /// What surely belongs there, where one thing does.
    pub fix: Option<String>,
}

/// The scorers that a gate is over.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The one that the gate names.
    One,
    /// Every scorer of a scale, as it is written: one gate each.
    Scale(String),
}

/// Where the parts of a gate stand in its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The aggregate's word.
    pub aggregate: Range<usize>,
    /// The scorer, or the scale of `every_scorer`.
    pub scorer: Range<usize>,
    /// The number of `pass_at`, `pass_all`, `quantile` and `margin`.
    pub number: Range<usize>,
    /// The field of `by`.
    pub by: Range<usize>,
    /// The text of `tags`.
    pub tags: Range<usize>,
    /// What the counted values are compared with.
    pub counted: Range<usize>,
    /// What the aggregate is compared with.
    pub threshold: Range<usize>,
}

/// A gate as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The gate; where it is over every scorer of a scale its scorer has no name.
    pub gate: Gate,
    /// Which scorers it is over.
    pub over: Selection,
    /// Where its parts stand.
    pub places: Places,
}

type Read<T> = Result<T, GateError>;

impl Gate {
    /// Reads a gate.
    pub fn parse(text: &str) -> Read<Written> {
        let mut reader = Reader { text, at: 0, places: Places::default() };
        let written = reader.gate()?;
        reader.blanks();
        if reader.at < text.len() {
            return reader.fail("something is left over behind the gate", reader.at..text.len());
        }
        Ok(written)
    }
}

/// What stands between the parentheses.
#[derive(Default)]
struct Arguments {
    counted: Option<(Comparison, f64)>,
    number: Option<f64>,
    margin: Option<f64>,
    by: Option<Arc<str>>,
    tags: Option<Arc<str>>,
    scale: Option<(String, Range<usize>)>,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    places: Places,
}

impl<'t> Reader<'t> {
    fn fail<T>(&self, message: &str, range: Range<usize>) -> Read<T> {
        let range = range.start.min(self.text.len())..range.end.min(self.text.len());
        Err(GateError { message: message.to_owned(), range, help: Some(SHAPE.to_owned()), fix: None })
    }

    /// A parenthesis that is not closed. A gate with a comma is cut there by the brackets of a list.
    fn unclosed<T>(&self, at: usize) -> Read<T> {
        let help = "a comma in `[…]` ends a gate: write the list as lines with `- `, or the gate in quotes";
        let failed: Read<T> = self.fail("`(` without `)`", at..self.text.len());
        failed.map_err(|error| GateError { help: Some(help.to_owned()), ..error })
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    /// Letters, digits, `_`, `-` and, where `dots`, `.`.
    fn word(&mut self, dots: bool) -> (&'t str, Range<usize>) {
        self.blanks();
        let rest = self.rest();
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || (dots && c == '.');
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let range = self.at..self.at + end;
        self.at = range.end;
        (rest.get(..end).unwrap_or_default(), range)
    }

    fn gate(&mut self) -> Read<Written> {
        let (mut word, mut range) = self.word(false);
        let of_turns = word == "turns" && self.eat(".");
        if of_turns {
            (word, range) = self.word(false);
        }
        self.places.aggregate = range.clone();
        if word.is_empty() {
            return self.fail("a gate begins with an aggregate and `(`", range.start..self.text.len());
        }
        if !WORDS.contains(&word) {
            // Without parentheses it is no aggregate that was misspelt.
            self.blanks();
            if !self.rest().starts_with('(') {
                return self.fail("a gate begins with an aggregate and `(`", 0..self.text.len());
            }
            let near = diagnostic::nearest(word, WORDS).map(str::to_owned);
            let help = diagnostic::suggest(word, WORDS);
            return Err(GateError { message: format!("unknown aggregate `{word}`"), range, help, fix: near });
        }
        if !self.eat("(") {
            return self.fail(&format!("`{word}` has no `(` behind it"), range.start..self.text.len());
        }
        let (mut aggregate, scorer, over) = self.over(word)?;
        let arguments = self.arguments(word)?;
        let over = match (over, arguments.scale) {
            (true, Some((scale, place))) => {
                self.places.scorer = place;
                Selection::Scale(scale)
            }
            (true, None) => {
                return self.fail("`every_scorer` needs the scale: `every_scorer(mean, scale='1..5') >= 3`", range);
            }
            (false, _) => Selection::One,
        };
        self.numbers(&mut aggregate, word, arguments.number, arguments.margin)?;
        let condition = self.condition(aggregate, word)?;
        let gate = Gate {
            aggregate,
            scorer,
            counted: arguments.counted,
            of_turns,
            by: arguments.by,
            tags: arguments.tags,
            condition,
            min_n: MIN_N,
            max_missing: MAX_MISSING,
            decide: Decide::Point,
            origin: Origin::default(),
        };
        Ok(Written { gate, over, places: std::mem::take(&mut self.places) })
    }

    /// The aggregate, the scorer, and whether it is over every scorer of a scale.
    fn over(&mut self, word: &str) -> Read<(Aggregate, Arc<str>, bool)> {
        match word {
            "every_scorer" => {
                let (inner, range) = self.word(false);
                let Some(reducer) = AGGREGATES.into_iter().find(|known| known.word() == inner) else {
                    let help = diagnostic::suggest(inner, AGGREGATES.map(Reducer::word));
                    let message = format!("`{inner}` is no aggregate that `every_scorer` takes");
                    return Err(GateError { message, range, help, fix: None });
                };
                Ok((Aggregate::Of(reducer), "".into(), true))
            }
            "delta" => {
                let (inner, range) = self.word(false);
                let reducer = AGGREGATES.into_iter().find(|known| known.word() == inner);
                let Some(reducer) = reducer.filter(|_| self.eat("(")) else {
                    return Err(GateError {
                        message: "`delta` is over an aggregate of a scorer".to_owned(),
                        range,
                        help: Some("write `delta(mean(scorer)) >= -0.1`".to_owned()),
                        fix: None,
                    });
                };
                let scorer = self.scorer()?;
                if !self.eat(")") {
                    return self.unclosed(self.at);
                }
                Ok((Aggregate::Delta(reducer), scorer, false))
            }
            _ => {
                let aggregate = match word {
                    "count" => Aggregate::Count,
                    "quantile" => Aggregate::Quantile(0.5),
                    "pass_at" => Aggregate::PassAt(1),
                    "pass_all" => Aggregate::PassAll(1),
                    "ci_low" => Aggregate::CiLow,
                    "regressed" => Aggregate::Regressed,
                    "not_inferior" => Aggregate::NotInferior(0.0),
                    other => Aggregate::Of(Reducer::parse(other).unwrap_or(Reducer::Mean)),
                };
                Ok((aggregate, self.scorer()?, false))
            }
        }
    }

    fn scorer(&mut self) -> Read<Arc<str>> {
        let (name, range) = self.word(false);
        if name.is_empty() {
            let end = self.rest().find([')', ',']).map_or(self.text.len(), |end| self.at + end + 1);
            return self
                .fail("between the parentheses stands the name of one scorer", range.start.saturating_sub(1)..end);
        }
        self.places.scorer = range;
        Ok(name.into())
    }

    fn arguments(&mut self, word: &str) -> Read<Arguments> {
        let mut arguments = Arguments::default();
        if let Some((comparison, _)) = self.comparison() {
            let (number, range) = self.number()?;
            if !["rate", "count"].contains(&word) {
                let message =
                    format!("`{word}` takes all values: only `rate` and `count` count those that a comparison picks");
                return self.fail(&message, range);
            }
            self.places.counted = range;
            arguments.counted = Some((comparison, number));
        }
        loop {
            if self.eat(")") {
                return Ok(arguments);
            }
            let start = self.at;
            if !self.eat(",") {
                if self.rest().contains(')') {
                    let end = self.rest().find(')').map_or(self.text.len(), |end| self.at + end);
                    return self
                        .fail("between the parentheses stands the name of one scorer", start..end.max(start + 1));
                }
                return self.unclosed(self.places.aggregate.end);
            }
            self.argument(word, &mut arguments)?;
        }
    }

    fn argument(&mut self, word: &str, arguments: &mut Arguments) -> Read<()> {
        self.blanks();
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let (number, range) = self.number()?;
            if arguments.number.is_some() || !["quantile", "pass_at", "pass_all"].contains(&word) {
                return self.fail(&format!("`{word}` takes no number here"), range);
            }
            self.places.number = range;
            arguments.number = Some(number);
            return Ok(());
        }
        let (key, range) = self.word(false);
        let known: &[&str] = match word {
            "every_scorer" => &["scale", "by", "tags"],
            "not_inferior" => &["margin", "tags"],
            _ => &["by", "tags"],
        };
        if !known.contains(&key) {
            let help = diagnostic::suggest(key, known.iter().copied());
            let message = format!("`{key}` is nothing that `{word}` takes");
            return Err(GateError { message, range, help, fix: None });
        }
        if !self.eat("=") {
            return self.fail(&format!("`{key}` has no `=` behind it"), range);
        }
        match key {
            "margin" => {
                let (number, range) = self.number()?;
                self.places.number = range;
                arguments.margin = Some(number);
            }
            "by" => {
                let (field, range) = self.word(true);
                if field.is_empty() {
                    return self.fail("`by` needs the name of a field: `by=persona`", range.start..range.end + 1);
                }
                self.places.by = range;
                arguments.by = Some(field.into());
            }
            _ => {
                let (text, range) = self.quoted(key)?;
                if key == "scale" {
                    arguments.scale = Some((text.to_owned(), range));
                } else if let Err(error) = crate::selection::Selection::parse(text) {
                    let at = range.start + error.at;
                    let end = text.get(error.at..).and_then(|rest| rest.find(' ')).map_or(range.end, |len| at + len);
                    return Err(GateError {
                        message: format!("the tags cannot be read: {}", error.message),
                        range: at..end,
                        help: Some("write `tags='p0 and not slow'`".to_owned()),
                        fix: None,
                    });
                } else {
                    self.places.tags = range;
                    arguments.tags = Some(text.into());
                }
            }
        }
        Ok(())
    }

    fn quoted(&mut self, key: &str) -> Read<(&'t str, Range<usize>)> {
        self.blanks();
        let start = self.at;
        let quote = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"'));
        let inner = self.rest().get(1..).unwrap_or_default();
        match quote.and_then(|quote| inner.find(quote)) {
            Some(end) => {
                self.at = start + end + 2;
                Ok((inner.get(..end).unwrap_or_default(), start + 1..start + 1 + end))
            }
            None => {
                let range = self.word(true).1;
                self.fail(
                    &format!("`{key}` needs a text in quotes: `{key}='…'`"),
                    range.start..range.end.max(range.start + 1),
                )
            }
        }
    }

    fn comparison(&mut self) -> Option<(Comparison, Range<usize>)> {
        self.blanks();
        let found = COMPARISONS.into_iter().find(|known| self.rest().starts_with(known.sign()))?;
        let range = self.at..self.at + found.sign().len();
        self.at = range.end;
        Some((found, range))
    }

    fn number(&mut self) -> Read<(f64, Range<usize>)> {
        self.blanks();
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_' | '%' | '\'' | '"' | '=');
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let (word, range) = (rest.get(..end).unwrap_or_default(), self.at..self.at + end);
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at = range.end;
                Ok((if number == 0.0 { 0.0 } else { number }, range))
            }
            _ => {
                let inner = word.trim_matches(['\'', '"']);
                let is_text = inner.len() < word.len();
                let share =
                    word.strip_suffix('%').and_then(|word| word.parse::<f64>().ok()).map(|x| super::number(x / 100.0));
                let fix = share
                    .or_else(|| (is_text && inner.parse::<f64>().is_ok_and(f64::is_finite)).then(|| inner.to_owned()));
                let message = if is_text {
                    format!("a number is compared with the text {word}")
                } else {
                    format!("`{word}` is no number")
                };
                let help = fix.as_ref().map_or_else(|| SHAPE.to_owned(), |fix| format!("write `{fix}`"));
                let end = range.end.max((range.start + 1).min(self.text.len()));
                Err(GateError { message, range: range.start.min(end)..end, help: Some(help), fix })
            }
        }
    }

    /// Puts the numbers of the arguments into the aggregate.
    fn numbers(&self, aggregate: &mut Aggregate, word: &str, number: Option<f64>, margin: Option<f64>) -> Read<()> {
        let needs = |help: &str| {
            Err(GateError {
                message: format!("`{word}` needs a number behind the scorer"),
                range: self.places.aggregate.clone(),
                help: Some(help.to_owned()),
                fix: None,
            })
        };
        match aggregate {
            Aggregate::Quantile(q) => match number {
                Some(x) if (0.0..=1.0).contains(&x) => *q = x,
                Some(_) => {
                    return self.fail("a quantile is a share, 0 to 1: `quantile(x, 0.1)`", self.places.number.clone());
                }
                None => return needs("write the share: `quantile(scorer, 0.1) >= 3`"),
            },
            Aggregate::PassAt(k) | Aggregate::PassAll(k) => match number {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of epochs")]
                Some(x) if x.fract() == 0.0 && (1.0..=1000.0).contains(&x) => *k = x as u32,
                Some(_) => return self.fail("the number of epochs is whole, 1 to 1000", self.places.number.clone()),
                None => return needs(&format!("write how many epochs: `{word}(scorer, 4) >= 0.9`")),
            },
            Aggregate::NotInferior(margin_of) => match margin {
                Some(x) if x > 0.0 => *margin_of = x,
                Some(_) => return self.fail("a margin is above 0", self.places.number.clone()),
                None => {
                    let mut error = needs("write the margin: `not_inferior(scorer, margin=0.1)`");
                    if let Err(error) = &mut error {
                        "`not_inferior` needs a margin".clone_into(&mut error.message);
                    }
                    return error;
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn condition(&mut self, aggregate: Aggregate, word: &str) -> Read<Option<(Comparison, f64)>> {
        let start = self.at;
        match self.comparison() {
            Some(_) if aggregate.is_condition() => Err(GateError {
                message: format!("`{word}` is a condition itself, and is compared with nothing"),
                range: start..self.text.len(),
                help: Some(format!("write `{}`", self.text.get(..start).unwrap_or_default().trim())),
                fix: Some(String::new()),
            }),
            None if aggregate.is_condition() => Ok(None),
            None => self.fail("a comparison is missing", self.at..self.text.len()),
            Some((comparison, _)) => {
                let (number, range) = self.number()?;
                self.places.threshold = range;
                Ok(Some((comparison, number)))
            }
        }
    }
}
