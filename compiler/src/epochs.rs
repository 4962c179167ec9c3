//! Epochs: those that the task asks for, and those that recordings bring.

use aigo_ir::diagnostic::Diagnostics;

use crate::ast::Source;
use crate::catalog;
use crate::dataset::Profile;
use crate::resolve::Resolved;

/// Tells of gates over more epochs than there are, and of epochs that come from two sides. Where the samples are not known, their
/// epochs are not either.
pub(crate) fn check(resolved: &mut Resolved, profile: &Profile, is_known: bool, found: &mut Diagnostics) {
    let recorded = profile.epochs.unwrap_or(1);
    for (wanted, diagnostic) in resolved.epochs.drain(..) {
        let may_be_recorded = !is_known && resolved.task.dataset.iter().any(Source::is_recorded);
        if wanted > recorded && !may_be_recorded {
            found.push(diagnostic);
        }
    }
    if let (Some(asked), Some(recorded)) = (&resolved.task.epochs, profile.epochs)
        && asked.value > 1
    {
        let message = format!("the recordings bring {recorded} epochs, and the task asks for {}", asked.value);
        let help = "remove `epochs`: each recording is scored once, as the epoch that it says";
        found.push(catalog::EPOCHS_TWICE.at(asked.span, message).help(help));
    }
}
