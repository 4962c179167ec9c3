//! `equal_repeats`: epochs and runs that come out the same.

use aigo_ir::diagnostic::Diagnostics;

use super::Linted;
use crate::catalog;

/// Epochs in which everybody says the same again.
pub(super) fn epochs(linted: &Linted<'_>, found: &mut Diagnostics) {
    let Some(epochs) = linted.task().epochs.as_ref().filter(|epochs| epochs.value > 1) else { return };
    let talkers = linted.talkers();
    let anew = linted.profile.transcripts().1 && linted.varies(aigo_ir::message::ASSISTANT);
    let varies =
        talkers.iter().any(|role| linted.varies(role)) || linted.solves.all.iter().any(|way| way.draws) || anew;
    if varies {
        return;
    }
    let message = if talkers.is_empty() {
        format!("nobody is asked anything in the conversations, so all {} epochs are the same", epochs.value)
    } else {
        format!("everybody who talks says the same again when asked the same, so all {} epochs are alike", epochs.value)
    };
    let help =
        "give the assistant or the user a `temperature` above 0, or a scripted role `any_of`; or remove `epochs`";
    found.push(catalog::EQUAL_REPEATS.at(epochs.span, message).help(help));
}

/// `runs` of a judge that gives the same verdict again. A confirmation is not meant: of a model at temperature 0 it is the same
/// question to the same model too, but it is asked only after a failing verdict, and costs next to nothing.
pub(super) fn of_scorers(linted: &Linted<'_>, found: &mut Diagnostics) {
    for scorer in &linted.task().scorers {
        let Some(runs) = scorer.runs.as_ref().filter(|runs| runs.value > 1) else { continue };
        let judges = crate::check::judges_of(scorer);
        let is_elsewhere = runs.span.file != scorer.name.span.file;
        if judges.is_empty() || is_elsewhere || judges.iter().any(|role| linted.varies(role)) {
            continue;
        }
        let of_model = judges.iter().any(|role| linted.chat(role).is_some());
        let why = if of_model { "at temperature 0" } else { "by rules without `any_of`" };
        let message =
            format!("the judge of `{}` answers {why}, so asking it again tells nothing new", scorer.name.value);
        let help = "give its role a `temperature` such as 0.7, let another role judge too, or remove `runs`";
        found.push(catalog::EQUAL_REPEATS.at(runs.span, message).help(help));
    }
}
