//! What a run of the task can come to, held against its own limits.

use aigo_ir::bounds::{self, Bounds, Samples, grouped};
use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::program::Program;

use crate::catalog;
use crate::dataset::Dataset;
use crate::lower::Aside;
use crate::sources::Sources;

/// What a run of the program over a dataset can come to at most: [`aigo_ir::bounds`]. It reads all rows once; the error is
/// that of a row that cannot be read.
pub fn bounds(program: &Program, dataset: &Dataset, world: &dyn Sources) -> Result<Bounds, String> {
    Ok(bounds::bound(program, &samples(program, dataset, world)?))
}

fn samples(program: &Program, dataset: &Dataset, world: &dyn Sources) -> Result<Samples, String> {
    let mut samples = Samples::of(program);
    for row in dataset.rows(world) {
        let row = row?;
        samples.add(&row.graph, &row.fields, &row.conversation);
    }
    Ok(samples)
}

/// Whether a quick count leaves it open that the run can pass its limit of calls. Of the scorers that were put aside the
/// program has no graphs.
pub(crate) fn may_pass(program: &Program, aside: &Aside, samples: usize, begun: bool) -> bool {
    let conversations = (samples as u64).saturating_mul(u64::from(program.epochs));
    let crude = || bounds::crude_beside(program, |turns| aside.calls(turns));
    let is_over = |limit| begun || crude().saturating_mul(conversations) > limit;
    program.limits.calls.is_some_and(is_over)
}

/// A limit of calls that the run is sure to meet, however short its conversations are. That the longest could meet it is no
/// mistake: limits are there for runs that go astray, and [`bounds`] tell what the worst case is. Most tasks are so far below
/// theirs that a quick count shows it; for the others the rows are read once more. `begun` says whether there are
/// conversations that have begun: transcripts.
pub(crate) fn check(program: &Program, dataset: &Dataset, begun: bool, world: &dyn Sources, found: &mut Diagnostics) {
    let (Some(limit), Some(span)) = (program.limits.calls, program.limits.origin.0) else { return };
    if !may_pass(program, &Aside::default(), dataset.count, begun) {
        return;
    }
    let Ok(samples) = samples(program, dataset, world) else { return };
    let least = bounds::least(program, &samples);
    if least <= limit {
        return;
    }
    let conversations = samples.count().saturating_mul(u64::from(program.epochs));
    let message = format!(
        "{} conversations make at least {} calls, and `limits.calls` is {}: the run would stop there",
        grouped(conversations),
        grouped(least),
        grouped(limit)
    );
    let help = "raise `calls`, or take fewer epochs or samples; `aigo compile TASK --emit bounds` shows how many it can be at most";
    found.push(catalog::OVER_CALLS.at(span, message).help(help));
}
