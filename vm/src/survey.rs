//! What a log holds in all, counted without running anything.

use aigo_ir::program::PER_USD;
use aigo_ir::read;
use aigo_log::{Log, LogError};

use crate::purse::spent_by;

/// What a log holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Survey {
    /// Trials that the run has, those that never began with them.
    pub trials: u64,
    /// Those that have ended.
    pub ended: u64,
    /// Calls that were about to be made.
    pub calls: u64,
    /// Those that were answered.
    pub answers: u64,
    /// What they cost at the prices of the task, in USD; none where the program cannot be read.
    pub cost_usd: Option<f64>,
}

/// Counts what a log holds.
pub fn survey(log: &Log) -> Result<Survey, LogError> {
    let program = read::read(&log.header().program).ok();
    let mut survey = Survey::default();
    let (mut begun, mut spent) = (0, 0_u64);
    for trial in log.trials() {
        let trial = trial?;
        begun += 1;
        survey.ended += u64::from(trial.close.is_some());
        survey.calls += trial.calls.len() as u64;
        survey.answers += trial.calls.iter().filter(|call| call.got.is_some()).count() as u64;
        spent = spent.saturating_add(program.as_ref().map_or(0, |program| spent_by(program, &trial)));
    }
    survey.trials = log.header().trials.unwrap_or(begun);
    survey.cost_usd = program.is_some().then_some(spent as f64 / PER_USD);
    Ok(survey)
}
