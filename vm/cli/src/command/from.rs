//! Runs that use the answers of an earlier one: what is used, what is asked, why, and at most for how much.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use aigo_ir::bounds::{dollars, grouped};
use aigo_ir::program::{ChatModel, Program};
use aigo_ir::value::Value;
use aigo_machine::Linked;
use aigo_vm::{Foreseen, Parent, Planned, Rules, RunError};

use super::drive;
use crate::{exit, out, runs};

/// How many reasons are shown.
const SHOWN: usize = 20;

/// Whose answers may be used again in a program.
pub(crate) fn rules(program: &Program, reuse_floating: bool) -> Rules {
    let floats = |model: &ChatModel| aigo_compiler::families::is_floating(&model.model);
    Rules::new(program, &floats, reuse_floating)
}

/// Opens an earlier run by whatever names it.
pub(crate) fn open(named: &str, runs: &Path, rules: Rules) -> Result<Parent, u8> {
    let path = runs::find(named, runs).map_err(|message| {
        out::error(&message);
        exit::USAGE
    })?;
    Parent::open(&path, rules).map_err(|error| drive::fail(&error))
}

/// Gives each trial what the earlier run has of it.
pub(crate) fn with<'p>(
    parent: Option<&'p Parent>,
    linked: &'p Arc<Linked>,
    planned: impl Iterator<Item = Result<Planned, RunError>> + 'p,
) -> impl Iterator<Item = Result<Planned, RunError>> + 'p {
    planned.map(move |planned| {
        let mut planned = planned?;
        if let Some(parent) = parent.filter(|_| planned.closed.is_none()) {
            planned.reusable = Some(Arc::new(parent.answers(linked, &planned.sample)?));
        }
        Ok(planned)
    })
}

/// Looks ahead in all trials.
pub(crate) fn foresee(
    parent: &Parent,
    linked: &Arc<Linked>,
    planned: impl Iterator<Item = Result<Planned, RunError>>,
) -> Result<Foreseen, u8> {
    let mut foreseen = Foreseen::new(linked, parent);
    for planned in planned {
        let added = planned.and_then(|planned| {
            let reusable = parent.answers(linked, &planned.sample)?;
            foreseen.add(parent, &planned.sample, &reusable)
        });
        added.map_err(|error| drive::fail(&error))?;
    }
    Ok(foreseen)
}

/// The plan, for people.
pub(crate) fn text(foreseen: &Foreseen, run: &str) -> String {
    let mut out = format!("from {run}\n");
    let counts: Vec<String> = foreseen.reused.iter().map(|(role, n)| format!("{role} {}", grouped(*n))).collect();
    let counts = if counts.is_empty() { "no answer".to_owned() } else { counts.join(" · ") };
    let _ = writeln!(out, "  used again: {counts}");
    let most = foreseen.most();
    for (role, most) in &most {
        let least = grouped(foreseen.least.get(role).copied().unwrap_or(0));
        let most = most.map_or_else(|| "no bound is known".to_owned(), |most| format!("{} at most", grouped(most)));
        let _ = writeln!(out, "  to ask: {role}, {least} calls at least, {most}");
    }
    if most.is_empty() {
        out.push_str("  to ask: nobody\n");
    } else if let Some(usd) = foreseen.most_usd() {
        let _ = writeln!(out, "  cost: {} at most, an estimate of the worst case", dollars(usd));
    }
    if foreseen.stuck > 0 {
        let n = grouped(foreseen.stuck);
        let _ = writeln!(out, "  {n} conversations have not come to their end in that run, and stay open");
    }
    for (reason, reasoned) in foreseen.reasons.iter().take(SHOWN) {
        let (n, graph, node, role) = (grouped(reasoned.calls), &reason.graph, &reason.node, &reason.role);
        let _ = writeln!(out, "  why: {n} × {role}, {graph} at {node}: {}", reason.why);
        if let Some(example) = &reasoned.example {
            let _ = writeln!(out, "    {example}");
        }
    }
    let more = foreseen.reasons.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "  … and {more} more reasons");
    }
    out
}

/// The plan, for machines.
pub(crate) fn to_value(foreseen: &Foreseen, run: &str) -> Value {
    let whole = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let reused = foreseen.reused.iter().map(|(role, n)| (Arc::clone(role), whole(*n)));
    let asked = foreseen.most().into_iter().map(|(role, most)| {
        let least = whole(foreseen.least.get(&role).copied().unwrap_or(0));
        (role, Value::map([("least", least), ("most", most.map_or(Value::Null, whole))]))
    });
    let why = foreseen.reasons.iter().map(|(reason, reasoned)| {
        let mut pairs = vec![
            ("graph", Value::Str(Arc::clone(&reason.graph))),
            ("node", Value::Str(Arc::clone(&reason.node))),
            ("role", Value::Str(Arc::clone(&reason.role))),
            ("why", Value::str(reason.why.as_str())),
            ("calls", whole(reasoned.calls)),
        ];
        if let Some(example) = &reasoned.example {
            pairs.push(("field", Value::str(example.field.as_str())));
            pairs.push(("recorded", Value::str(example.recorded.as_str())));
            pairs.push(("now", Value::str(example.now.as_str())));
        }
        Value::map(pairs)
    });
    Value::map([
        ("run", Value::str(run)),
        ("used_again", Value::map(reused)),
        ("to_ask", Value::map(asked)),
        ("cost_usd", foreseen.most_usd().map_or(Value::Null, Value::Float)),
        ("stuck", whole(foreseen.stuck)),
        ("why", Value::list(why.collect())),
    ])
}
