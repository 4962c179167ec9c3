//! Gates beside the number of samples: `zero_tolerance`, `coarse_sample`, `never_decided`, `unread_scorer`.
//!
//! Nothing is known of a run here, so the figures stand on assumptions, which the pages of the codes name: a judge is wrong
//! about a good conversation once in a hundred, scores spread by a quarter of their scale, epochs of one sample agree by 0.4.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::expr::Comparison;
use aigo_ir::gate::{Aggregate, CONFIRM, Gate};
use aigo_ir::program::VOIDS;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Span;
use aigo_ir::verdict::Scale;

use super::Linted;
use crate::ast::{Method, Scorer};
use crate::catalog;

/// How often a judge calls a good conversation bad.
const FALSE_ALARM: f64 = 0.01;
/// How often a gate may be red although nothing is wrong.
const BEARABLE: f64 = 0.05;
/// `z(0.975) + z(0.8)`: an effect of so many standard errors is found in four of five runs at a level of 5%.
const POWER: f64 = 1.96 + 0.84;
/// The correlation of epochs of one sample.
const WITHIN: f64 = 0.4;
/// The correlation of one sample's scores in two runs.
const BETWEEN: f64 = 0.6;

/// A gate over one scorer of the task, and how many conversations it is over at most.
struct Over<'l> {
    gate: &'l Gate,
    scorer: &'l Scorer,
    span: Span,
    samples: f64,
    epochs: f64,
}

/// The gates of which the number of conversations is known: all samples count, in one group.
fn over<'l>(linted: &Linted<'l>) -> impl Iterator<Item = Over<'l>> {
    let (samples, epochs) = (linted.profile.count as f64, f64::from(linted.program.epochs));
    let resolved = linted.resolved;
    resolved.gates.iter().filter(|gate| gate.by.is_none() && gate.tags.is_none() && !gate.of_turns).filter_map(
        move |gate| {
            let scorer = resolved.task.scorers.iter().find(|scorer| *scorer.name.value == *gate.scorer)?;
            Some(Over { gate, scorer, span: gate.origin.0?, samples, epochs })
        },
    )
}

/// How often a gate over so many verdicts is red although every conversation is good: `1 - (1 - f)^n`, where a verdict that
/// `confirm: k` asks again stands only if most of the `k` agree.
fn false_red(verdicts: f64, confirm: Option<u32>) -> f64 {
    let stands = confirm.map_or(1.0, |times| {
        // The first has failed; of the others at least this many must fail too.
        let (others, needed) = (times.saturating_sub(1), times / 2);
        (needed..=others).map(|failing| binomial(others, failing)).sum()
    });
    1.0 - libm::exp(verdicts * libm::log1p(-FALSE_ALARM * stands))
}

/// The chance that of so many verdicts exactly these many are false alarms.
fn binomial(of: u32, these: u32) -> f64 {
    let choose = (0..these).fold(1.0, |product, at| product * f64::from(of - at) / f64::from(at + 1));
    let power = |base: f64, times: u32| (0..times).fold(1.0, |product, _| product * base);
    choose * power(FALSE_ALARM, these) * power(1.0 - FALSE_ALARM, of - these)
}

/// `zero_tolerance`: one false verdict of a judge turns the gate red, and there are many.
pub(super) fn zero_tolerance(linted: &Linted<'_>, found: &mut Diagnostics) {
    for Over { gate, scorer, span, samples, epochs } in over(linted) {
        let judges = crate::check::judges_of(scorer);
        let by_rules = judges.iter().all(|role| linted.chat(role).is_none());
        if by_rules || scorer.when.is_some() || !gate.bears_none() {
            continue;
        }
        let verdicts = samples * epochs;
        let written = scorer.confirm.as_ref().map(|confirm| confirm.value);
        // What the program does where the task is silent.
        let by_default = matches!(scorer.method, Method::Judge(_)) && scorer.runs.is_none();
        let confirm = written.or(by_default.then_some(CONFIRM)).filter(|times| *times > 1);
        let risk = false_red(verdicts, confirm);
        if risk <= BEARABLE {
            continue;
        }
        let percent = format!("{:.0}%", risk * 100.0);
        let message = format!(
            "one wrong verdict of {verdicts} turns this gate red: with a judge that is wrong once in a hundred times, in \
             {percent} of all runs although nothing is wrong"
        );
        let instead = match gate.aggregate {
            Aggregate::Of(Reducer::Min) => {
                let least = gate.condition.map_or(0.0, |(_, number)| number);
                format!("or bear some: `rate({0} >= {least}) >= 0.97`", gate.scorer)
            }
            Aggregate::Count => format!("or bear one: `{} <= 1`", gate.text().split(" ==").next().unwrap_or_default()),
            _ => format!("or bear some: `rate({}) >= 0.97`", gate.scorer),
        };
        let help = match confirm {
            None => format!("have failing verdicts asked again, `confirm: 3` beside the scorer's judge, {instead}"),
            Some(_) => format!("have more of them asked again, {instead}"),
        };
        found.push(catalog::ZERO_TOLERANCE.at(span, message).help(help));
    }
}

/// `coarse_sample`: the gate tells apart what so few conversations cannot.
pub(super) fn coarse_sample(linted: &Linted<'_>, found: &mut Diagnostics) {
    // Rules give the same in every run: there is no chance that could be mistaken for a change.
    if linted.is_scripted() {
        return;
    }
    for Over { gate, scorer, span, samples, epochs } in over(linted) {
        // What decides nothing cannot be too fine.
        if samples * epochs < f64::from(gate.min_n) {
            continue;
        }
        let Some(scale) = scorer.method.scale().filter(|_| !matches!(scorer.method, Method::Use(_))) else { continue };
        let said = match gate.aggregate {
            Aggregate::Of(Reducer::Rate) => coarse_rate(gate, samples * epochs),
            Aggregate::Of(Reducer::Mean) => coarse_mean(gate, scale, samples, epochs),
            Aggregate::Delta(Reducer::Mean | Reducer::Rate) => {
                let drop = gate.condition.map_or(0.0, |(_, number)| -number);
                coarse_change(drop, scale, samples, epochs)
            }
            Aggregate::NotInferior(margin) => coarse_change(margin, scale, samples, epochs),
            _ => None,
        };
        if let Some((message, help)) = said {
            found.push(catalog::COARSE_SAMPLE.at(span, message).help(help));
        }
    }
}

/// A share that bears some failures, of so few conversations that it bears none.
fn coarse_rate(gate: &Gate, conversations: f64) -> Option<(String, String)> {
    let (comparison, share) = gate.condition?;
    let at_least = matches!(comparison, Comparison::GreaterOrEqual | Comparison::Greater);
    let bears = (1.0 - share) * conversations;
    // The least float above a whole number of failures is that number.
    if !at_least || share <= 0.0 || share >= 1.0 || bears + 1e-9 >= 1.0 {
        return None;
    }
    let needed = (1.0 / (1.0 - share) - 1e-9).ceil();
    let one = format!("{:.0}%", 100.0 / conversations);
    let message = format!(
        "of {conversations} conversations one is {one}: this gate bears no failing one, whatever its number says"
    );
    let help = format!("have at least {needed} conversations, or say what is meant: `rate({}) == 1`", gate.scorer);
    Some((message, help))
}

/// The smallest difference that is found in four of five runs lies beyond the best value of the scale.
fn coarse_mean(gate: &Gate, scale: &Scale, samples: f64, epochs: f64) -> Option<(String, String)> {
    let (comparison, least) = gate.condition?;
    let (worst, best) = scale.ends();
    let room = best - least;
    if *scale == Scale::Boolean
        || !matches!(comparison, Comparison::GreaterOrEqual | Comparison::Greater)
        || room <= 0.0
    {
        return None;
    }
    let spread = ((best - worst) / 4.0).min(room);
    let smallest = detectable(spread, samples, epochs);
    if smallest <= room {
        return None;
    }
    let message = format!(
        "{samples} conversations tell a mean of {least} only from one that is {smallest:.1} away, and the best that there is \
         lies {room:.1} above it"
    );
    Some((message, help_for(spread, room, epochs)))
}

/// A change that is smaller than what two runs of so many conversations tell from chance.
fn coarse_change(change: f64, scale: &Scale, samples: f64, epochs: f64) -> Option<(String, String)> {
    if change <= 0.0 {
        return None;
    }
    let (worst, best) = scale.ends();
    let spread = (best - worst) / 4.0 * (2.0 * (1.0 - BETWEEN)).sqrt();
    let smallest = detectable(spread, samples, epochs);
    if smallest <= change {
        return None;
    }
    let message = format!(
        "two runs of {samples} conversations tell a change of {smallest:.2} from chance, and the gate is about one of {change}"
    );
    Some((message, help_for(spread, change, epochs)))
}

/// The smallest effect that is found in four of five runs at a level of 5%: `(z(0.975) + z(0.8)) * sd / sqrt(m)`, Miller, Adding
/// Error Bars to Evals (2024), section 5; of paired runs `sd` is that of the differences. `m` is the number of samples that
/// `epochs` of each are worth, `n * e / (1 + (e - 1) * r)`, Kish, Survey Sampling (1965), section 5.4.
fn detectable(spread: f64, samples: f64, epochs: f64) -> f64 {
    POWER * spread / (samples * worth(epochs)).sqrt()
}

/// How many samples the epochs of one sample are worth.
fn worth(epochs: f64) -> f64 {
    epochs / (1.0 + (epochs - 1.0) * WITHIN)
}

fn help_for(spread: f64, effect: f64, epochs: f64) -> String {
    let ratio = POWER * spread / effect;
    let needed = (ratio * ratio / worth(epochs)).ceil();
    format!("have at least {needed} samples, or a gate that asks for less")
}

/// `never_decided`: there are fewer conversations than the gate needs, whatever they come to.
pub(super) fn never_decided(linted: &Linted<'_>, found: &mut Diagnostics) {
    let samples = u64::try_from(linted.profile.count).unwrap_or(u64::MAX);
    for gate in linted.resolved.gates.iter().filter(|gate| !gate.of_turns) {
        let Some(span) = gate.origin.0 else { continue };
        // Held against a baseline, the epochs of a scenario are one pair.
        let epochs = if gate.aggregate.is_against_baseline() { 1 } else { u64::from(linted.program.epochs) };
        let (most, needed) = (samples.saturating_mul(epochs), u64::from(gate.min_n));
        if most >= needed {
            continue;
        }
        let have = if epochs == 1 { most.to_string() } else { format!("{samples} times {epochs} epochs") };
        let message = format!("this gate needs {needed} conversations, and there are {have}: it decides nothing");
        let least = if gate.tags.is_some() || gate.by.is_some() { 1 } else { most };
        let help = format!("have more samples, or say with `{{gate: …, min_n: {least}}}` that so few are enough");
        found.push(catalog::NEVER_DECIDED.at(span, message).help(help));
    }
}

/// `unread_scorer`: it costs, and nothing hangs on it.
pub(super) fn unread_scorer(linted: &Linted<'_>, found: &mut Diagnostics) {
    let gates = &linted.resolved.gates;
    // A task whose gates are only those of its expectations, or that has none, reports and decides nothing.
    if linted.task().gates.is_empty() {
        return;
    }
    for scorer in &linted.task().scorers {
        let name = &scorer.name.value;
        let compiled = linted.program.scorer(name);
        // What voids others where it fails decides by that.
        let voids = compiled.and_then(|scorer| scorer.graph.as_ref()).is_some_and(|graph| graph.slot(VOIDS).is_some());
        if voids || gates.iter().any(|gate| *gate.scorer == **name) {
            continue;
        }
        let message = format!("no gate reads `{name}`: it is computed and reported, and no run fails by it");
        let help = match scorer.method.scale() {
            Some(Scale::Boolean) | None => format!("add a gate, `rate({name}) >= 0.95`, or remove the scorer"),
            Some(scale) => {
                let pass = compiled.map_or(scale.default_pass(), |scorer| scorer.pass);
                format!("add a gate, `mean({name}) >= {pass}`, or remove the scorer")
            }
        };
        found.push(catalog::UNREAD_SCORER.at(scorer.name.span, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the design: 64 verdicts, 800, and `min` over 8, 20 and 100.
    #[test]
    fn false_alarms_are_those_that_one_can_compute_by_hand() {
        let percent = |verdicts: f64, confirm| (false_red(verdicts, confirm) * 1000.0).round() / 10.0;
        assert_eq!((percent(64.0, None), percent(64.0, Some(3))), (47.4, 1.3));
        assert_eq!(percent(800.0, Some(3)), 14.7);
        assert_eq!((percent(8.0, None), percent(20.0, None), percent(100.0, None)), (7.7, 18.2, 63.4));
    }

    #[test]
    fn the_smallest_effect_shrinks_with_the_root_of_the_samples() {
        // Paired, sd 0.8, correlation 0.6: 0.45 at 20, 0.20 at 100.
        let of_differences = 0.8 * (2.0_f64 * (1.0 - BETWEEN)).sqrt();
        assert!((detectable(of_differences, 20.0, 1.0) - 0.448).abs() < 0.001);
        assert!((detectable(of_differences, 100.0, 1.0) - 0.200).abs() < 0.001);
        assert!((worth(5.0) - 1.923).abs() < 0.001, "five epochs are worth two samples");
    }
}
