//! Gates over a run: as scored, and with every missing value at its worst and at its best.

use aigo_ir::bounds::plural;
use aigo_ir::expr::Comparison;
use aigo_ir::gate::{Aggregate, Decide, Gate};
use aigo_ir::reduce::Reducer;
use aigo_ir::text::number;

use crate::against;
use crate::column::{Column, End};
use crate::interval::{Interval, LEAST_CLUSTERS, unseen};
use crate::sheet::Sheet;

/// What became of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// It holds, whatever the missing values are.
    Pass,
    /// It does not hold, whatever the missing values are.
    Red,
    /// The missing values could decide it, or too few values are there.
    Undecided,
    /// It is held against a baseline, and there is none.
    Skipped,
}

impl GateResult {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Red => "red",
            Self::Undecided => "undecided",
            Self::Skipped => "skipped",
        }
    }

    /// What is looked at first: red, undecided, passing, skipped.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Red => 0,
            Self::Undecided => 1,
            Self::Pass => 2,
            Self::Skipped => 3,
        }
    }
}

/// A gate's result and the numbers behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct GateValue {
    /// The gate as it is written.
    pub gate: String,
    /// Its aggregate over what was scored.
    pub value: Option<f64>,
    /// The aggregate with every missing value at its worst.
    pub low: Option<f64>,
    /// With every missing value at its best.
    pub high: Option<f64>,
    /// The interval of 95% over clusters, where the aggregate has one; missing values widen it.
    pub interval: Option<Interval>,
    /// What became of it.
    pub result: GateResult,
    /// Why, where the numbers do not say it.
    pub note: String,
    /// The scorer it is over.
    pub scorer: std::sync::Arc<str>,
    /// Of a rate or a count over conversations or turns: how many count, and of how many.
    pub passed: Option<(u64, u64)>,
    /// The groups of a gate that has them, in the order of their names.
    pub groups: Vec<GroupValue>,
}

/// One group of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupValue {
    /// The field's value.
    pub name: String,
    /// What became of the gate in it.
    pub result: GateResult,
    /// The mean of its values.
    pub mean: Option<f64>,
    /// How many of its values pass.
    pub passed: u64,
    /// How many values it has.
    pub scored: u64,
    /// How many are missing.
    pub missing: u64,
}

impl GroupValue {
    /// The share that passes; 0 of none.
    pub fn rate(&self) -> f64 {
        if self.scored == 0 { 0.0 } else { self.passed as f64 / self.scored as f64 }
    }
}

/// The values of one scorer in the groups of a gate: of all conversations, or of those with one value of a field.
pub(crate) struct Group {
    /// The field's value, as it prints; none where there is one group.
    pub(crate) name: Option<String>,
    pub(crate) column: Column,
}

/// Evaluates a gate: it must hold in every group. The baseline comes with the keys of the samples, by their numbers.
pub(crate) fn evaluate(gate: &Gate, groups: &[Group], baseline: Option<(&Sheet, &[&str])>) -> GateValue {
    let is_against = gate.aggregate.is_against_baseline();
    if is_against && baseline.is_none() {
        return GateValue { result: GateResult::Skipped, note: "no baseline".to_owned(), ..nothing(gate) };
    }
    let mut lines = Vec::new();
    let evaluated = groups.iter().map(|group| {
        let mut value = match baseline.filter(|_| is_against) {
            Some((sheet, keys)) => against::of_group(gate, &group.column, keys, sheet),
            None => of_group(gate, &group.column),
        };
        if let Some(name) = &group.name {
            lines.push(line(name, value.result, &group.column));
        }
        if let (Some(by), Some(name)) = (&gate.by, &group.name) {
            let colon = if value.note.is_empty() { "" } else { ": " };
            value.note = format!("{by}={name}{colon}{}", value.note);
        }
        value
    });
    // The group that decides: the first red one, else the first undecided one, else the first.
    let deciding = evaluated.reduce(|a, b| if b.result.rank() < a.result.rank() { b } else { a });
    let mut value = deciding.unwrap_or_else(|| nothing(gate));
    let same = lines.iter().filter(|line| line.result == value.result).count();
    if same > 1 && matches!(value.result, GateResult::Red | GateResult::Undecided) {
        value.note = format!("{}; {same} of {} groups are {}", value.note, lines.len(), value.result.word());
    }
    GateValue { groups: lines, ..value }
}

fn line(name: &str, result: GateResult, column: &Column) -> GroupValue {
    GroupValue {
        name: name.to_owned(),
        result,
        mean: column.mean(),
        passed: column.values.iter().filter(|value| value.pass).count() as u64,
        scored: column.values.len() as u64,
        missing: column.missing(),
    }
}

pub(crate) fn nothing(gate: &Gate) -> GateValue {
    let note = "nothing was scored".to_owned();
    GateValue {
        gate: gate.text(),
        value: None,
        low: None,
        high: None,
        interval: None,
        result: GateResult::Undecided,
        note,
        scorer: gate.scorer.clone(),
        passed: None,
        groups: Vec::new(),
    }
}

/// A gate's aggregate over a group, computed.
struct Computed {
    value: Option<f64>,
    low: f64,
    high: f64,
    interval: Option<Interval>,
}

impl Computed {
    fn of(gate: &Gate, column: &Column) -> Option<Self> {
        let at = |end: End| column.value(gate, end);
        let (low, high) = at(End::Worst).zip(at(End::Best))?;
        let ends = column.interval(gate, End::Worst).zip(column.interval(gate, End::Best));
        // Which end of the scale makes an aggregate small depends on what it counts.
        let interval = ends.map(|(a, b)| Interval {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
            clusters: a.clusters.min(b.clusters),
        });
        Some(Self { value: at(End::Out), low: low.min(high), high: low.max(high), interval })
    }
}

/// Whether a gate holds everywhere between two values, nowhere, or here and not there.
pub(crate) fn between(gate: &Gate, low: f64, high: f64) -> Option<bool> {
    // Equality can hold between two ends at which it does not.
    let is_inside = |(comparison, threshold): (Comparison, f64)| {
        matches!(comparison, Comparison::Equal | Comparison::NotEqual) && low < threshold && threshold < high
    };
    let (at_low, at_high) = (gate.holds(low), gate.holds(high));
    (at_low == at_high && !gate.condition.is_some_and(is_inside)).then_some(at_low)
}

fn of_group(gate: &Gate, column: &Column) -> GateValue {
    let missing = column.missing();
    let applicable = column.values.len() as u64 + missing;
    let Some(computed) = Computed::of(gate, column) else {
        let mut value = nothing(gate);
        if gate.aggregate == Aggregate::CiLow && applicable > 0 {
            value.note = few(column);
        }
        return value;
    };
    let (result, note) = if applicable < u64::from(gate.min_n) {
        (GateResult::Undecided, format!("{applicable} applicable, the gate needs {} (`min_n`)", gate.min_n))
    } else {
        match between(gate, computed.low, computed.high) {
            Some(false) => decided(gate, &computed, column, GateResult::Red),
            Some(true) => {
                let share = missing as f64 / applicable as f64;
                if share > gate.max_missing {
                    let most = number(gate.max_missing * 100.0);
                    (GateResult::Undecided, format!("{missing} of {applicable} missing, more than {most}%"))
                } else {
                    decided(gate, &computed, column, GateResult::Pass)
                }
            }
            None => (GateResult::Undecided, format!("{missing} missing could decide it")),
        }
    };
    let Computed { value, low, high, interval } = computed;
    let passed = column.passed(gate);
    GateValue { value, low: Some(low), high: Some(high), interval, result, note, passed, ..nothing(gate) }
}

/// The result of a gate whose value alone says `by_value`, with what its interval has to say where the task asks for it.
fn decided(gate: &Gate, computed: &Computed, column: &Column, by_value: GateResult) -> (GateResult, String) {
    let sure = computed.interval.map(|interval| between(gate, interval.low, interval.high));
    let noise = by_value == GateResult::Red && sure == Some(None);
    let noise = if noise { "within noise: its interval reaches what is asked for" } else { "" };
    let notes = [cannot(column.missing()), proves(gate, column, by_value), noise.to_owned()];
    let plain = (by_value, notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "));
    match (gate.decide, by_value) {
        (Decide::Sure, GateResult::Red) => match sure {
            Some(Some(false)) => plain,
            Some(_) => (GateResult::Pass, "below, but within noise: the interval is not".to_owned()),
            None => (GateResult::Undecided, few(column)),
        },
        (Decide::Safe, GateResult::Pass) => match sure {
            Some(Some(true)) => plain,
            Some(_) => (GateResult::Undecided, "holds, but within noise: the interval does not".to_owned()),
            None => (GateResult::Undecided, few(column)),
        },
        _ => plain,
    }
}

fn cannot(missing: u64) -> String {
    if missing == 0 { String::new() } else { format!("{missing} missing cannot change it") }
}

fn few(column: &Column) -> String {
    let clusters = clusters(column);
    if clusters < LEAST_CLUSTERS {
        format!("too few clusters for an interval: {clusters}, and it needs {LEAST_CLUSTERS}")
    } else {
        "it has no interval".to_owned()
    }
}

fn clusters(column: &Column) -> u32 {
    let mut seen: Vec<u32> = column.values.iter().map(|value| value.from.cluster).collect();
    seen.sort_unstable();
    seen.dedup();
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

/// What a gate of zero tolerance proves where it passes: how much it may still have missed.
fn proves(gate: &Gate, column: &Column, result: GateResult) -> String {
    let tolerates_nothing = match (gate.aggregate, gate.condition) {
        (Aggregate::Of(Reducer::Rate), Some((Comparison::Equal | Comparison::GreaterOrEqual, at))) => at == 1.0,
        (Aggregate::Count, Some((Comparison::Equal | Comparison::LessOrEqual, at))) => at == 0.0,
        _ => false,
    };
    let clusters = clusters(column);
    if result != GateResult::Pass || !tolerates_nothing || clusters == 0 || column.missing() > 0 {
        return String::new();
    }
    let share = number(libm::round(unseen(clusters) * 1000.0) / 10.0);
    format!("it fails in none of {}; {share}% may still do", plural(clusters.into(), "cluster"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Counted, From};

    /// One value a cluster.
    fn column(numbers: &[f64]) -> Column {
        let value = |(at, number): (usize, &f64)| {
            let at = u32::try_from(at).unwrap();
            Counted { number: *number, pass: *number >= 4.0, from: From { sample: at, cluster: at } }
        };
        Column {
            values: numbers.iter().enumerate().map(value).collect(),
            ends: (1.0, 5.0),
            epochs: 1,
            ..Column::default()
        }
    }

    fn result(text: &str, decide: Decide, numbers: &[f64]) -> (GateResult, String) {
        let gate = Gate { decide, min_n: 1, ..Gate::parse(text).unwrap().gate };
        let value = of_group(&gate, &column(numbers));
        (value.result, value.note)
    }

    #[test]
    fn the_interval_decides_where_the_task_asks_for_it() {
        use Decide::{Point, Safe, Sure};
        use GateResult::{Pass, Red, Undecided};
        let spread = [1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 2.0, 4.0];
        let low = [1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 2.0];
        let cases: [(Decide, &[f64], GateResult); 10] = [
            (Point, &spread, Red),
            (Sure, &spread, Pass),
            (Safe, &spread, Red),
            (Sure, &low, Red),
            (Safe, &[5.0, 5.0, 4.0, 5.0, 4.0, 5.0, 5.0, 5.0], Pass),
            (Safe, &[5.0, 5.0, 1.0, 5.0, 4.0, 5.0, 2.0, 5.0], Undecided),
            (Point, &[5.0, 5.0, 1.0, 5.0, 4.0, 5.0, 2.0, 5.0], Pass),
            (Sure, &[1.0, 2.0], Undecided),
            (Safe, &[5.0, 5.0], Undecided),
            (Sure, &[5.0, 5.0], Pass),
        ];
        for (decide, numbers, wanted) in cases {
            let (seen, note) = result("mean(x) >= 3.5", decide, numbers);
            assert_eq!(seen, wanted, "{decide:?} {numbers:?}: {note}");
        }
        assert!(result("mean(x) >= 3.5", Sure, &spread).1.contains("within noise"));
        assert!(result("mean(x) >= 3.5", Safe, &[5.0, 5.0]).1.contains("too few clusters"));
        assert_eq!(result("ci_low(x) > 1", Point, &spread).0, Pass);
        assert_eq!(result("ci_low(x) > 3", Point, &spread).0, Red);
        assert_eq!(result("ci_low(x) > 3", Point, &[5.0; 4]).0, Undecided);
    }

    #[test]
    fn a_pass_of_zero_tolerance_says_what_it_proves() {
        let (seen, note) = result("rate(x) == 1", Decide::Point, &[5.0; 64]);
        assert_eq!((seen, note.as_str()), (GateResult::Pass, "it fails in none of 64 clusters; 4.6% may still do"));
        assert_eq!(result("count(x < 4) == 0", Decide::Point, &[5.0; 64]).1, note);
        assert_eq!(result("rate(x) >= 0.9", Decide::Point, &[5.0; 64]).1, "");
    }
}
