//! What a run would do and cost at most, told before anything is asked: `aigo run --dry-run`.

use std::fmt::Write as _;

use aigo_ir::bounds::{Bounds, Count, Samples, dollars, grouped};
use aigo_ir::program::{HeaderValue, Limits, Player, Program};
use aigo_ir::text::printable;
use aigo_ir::value::Value;
use aigo_vm::Foreseen;

use super::from;
use crate::args::{Driving, Format};
use crate::task::Task;
use crate::world::{Folder, secrets};
use crate::{exit, out, show};

/// What a run of the task can come to at most. The error names a row that cannot be read.
pub(crate) fn bounds(task: &Task) -> Result<Bounds, String> {
    let (world, mut samples) = (Folder::new(&task.root), Samples::of(&task.program));
    for row in task.dataset.rows(&world) {
        let row = row?;
        if task.chosen.has(&row.key) {
            samples.add(&row.graph, &row.fields, &row.conversation);
        }
    }
    Ok(aigo_ir::bounds::bound(&task.program, &samples))
}

/// Prints the plan, with what is used again of an earlier run, which is named. A task that this build cannot run is told as a
/// run would tell it.
pub(crate) fn dry_run(task: &Task, driving: &Driving, foreseen: Option<(&str, &Foreseen)>) -> u8 {
    let bounds = match bounds(task) {
        Ok(bounds) => bounds,
        Err(message) => {
            out::error(&message);
            return exit::TASK;
        }
    };
    let plan = Plan {
        missing: missing(&task.program, &secrets(&task.root)),
        bounds,
        driving,
        program: &task.program,
        foreseen,
    };
    match driving.format {
        Format::Text => out::text(&plan.text()),
        Format::Json => out::line(&plan.to_value().to_json()),
    }
    let refused = aigo_vm::support::missing(&task.program);
    if refused.is_empty() {
        return exit::PASSED;
    }
    out::note(show::plain(&task.path.display().to_string(), &refused, &task.sources).trim_end());
    exit::TASK
}

/// The variables of the environment that the program needs and that are not set, each once.
fn missing(program: &Program, secrets: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for role in &program.roles {
        let (key, headers) = match &role.player {
            Player::Chat(model) => (model.api_key.as_ref(), &model.headers[..]),
            Player::Http(http) => (None, &http.call.headers[..]),
            Player::Scripted(_) | Player::Command(_) => (None, &[][..]),
        };
        let of_headers = headers.iter().filter_map(|header| match &header.value {
            HeaderValue::Env { name, .. } => Some(name),
            HeaderValue::Text(_) => None,
        });
        let of_program = match &role.player {
            Player::Command(command) => command.call.env.iter().map(|(_, ours)| ours).collect(),
            _ => Vec::new(),
        };
        for name in key.into_iter().chain(of_headers).chain(of_program) {
            let is_set = secrets(name).is_some_and(|value| !value.is_empty());
            if !is_set && !names.iter().any(|known| **known == **name) {
                names.push(name.to_string());
            }
        }
    }
    names
}

/// A limit of the run, and whether it would stop it.
struct Limit {
    word: &'static str,
    shown: String,
    /// None where nothing says how long calls take.
    stops: Option<bool>,
}

struct Plan<'p> {
    bounds: Bounds,
    missing: Vec<String>,
    driving: &'p Driving,
    program: &'p Program,
    foreseen: Option<(&'p str, &'p Foreseen)>,
}

impl Plan<'_> {
    fn limits(&self) -> Vec<Limit> {
        let Limits { calls, time_s, cost_usd, .. } = &self.program.limits;
        let passes = |most: Count, limit: u64| most.is_none_or(|most| most > limit);
        let of_calls = calls.map(|limit| Limit {
            word: "calls",
            shown: grouped(limit),
            stops: Some(passes(self.bounds.calls.in_all, limit)),
        });
        let of_cost = cost_usd.map(|limit| Limit {
            word: "cost",
            shown: dollars(limit),
            stops: Some(self.bounds.cost_usd.is_none_or(|most| most > limit)),
        });
        let of_time = time_s.map(|limit| Limit { word: "time", shown: format!("{} s", grouped(limit)), stops: None });
        of_calls.into_iter().chain(of_cost).chain(of_time).collect()
    }

    /// The most attempts at all calls.
    fn attempts(&self) -> Count {
        self.bounds.calls.in_all.map(|calls| aigo_vm::most_attempts(calls, u64::from(self.driving.jobs)))
    }

    fn text(&self) -> String {
        let mut out = self.bounds.text();
        let _ = writeln!(out, "\nrun");
        let _ = writeln!(
            out,
            "  {} calls in flight at most; the log goes below {}",
            self.driving.jobs,
            self.driving.runs.display()
        );
        if let Some(attempts) = self.attempts() {
            let attempts = grouped(attempts);
            let _ = writeln!(out, "  {attempts} attempts at most, with those that are made again after a fault");
        }
        for limit in self.limits() {
            let says = match limit.stops {
                Some(true) => "the worst case passes it: the run would stop there, and can be resumed",
                Some(false) => "even the worst case stays below it",
                None => "nothing says beforehand how long calls take",
            };
            let _ = writeln!(out, "  limits.{} {}: {says}", limit.word, limit.shown);
        }
        if self.program.limits.sample != aigo_ir::program::SampleLimits::default() {
            out.push_str("  limits.sample: samples may end before these bounds\n");
        }
        for name in &self.missing {
            let _ =
                writeln!(out, "  {} is not set, in the environment or in `.env`: the run needs it", printable(name));
        }
        if let Some((run, foreseen)) = self.foreseen {
            let _ = write!(out, "\n{}\n", from::text(foreseen, run));
        }
        out.push_str("  nobody was asked, and nothing was written\n");
        out
    }

    fn to_value(&self) -> Value {
        let limits = self.limits().into_iter().map(|limit| {
            let stops = limit.stops.map_or(Value::Null, Value::Bool);
            (limit.word, Value::map([("limit", Value::str(limit.shown)), ("stops", stops)]))
        });
        let missing = self.missing.iter().map(|name| Value::str(name.as_str())).collect();
        let mut pairs = vec![
            ("bounds", self.bounds.to_value()),
            ("jobs", Value::Int(i64::from(self.driving.jobs))),
            ("attempts", self.attempts().map_or(Value::Null, |n| Value::Int(i64::try_from(n).unwrap_or(i64::MAX)))),
            ("limits", Value::map(limits)),
            ("missing_keys", Value::list(missing)),
        ];
        pairs.extend(self.foreseen.map(|(run, foreseen)| ("from", from::to_value(foreseen, run))));
        Value::map(pairs)
    }
}
