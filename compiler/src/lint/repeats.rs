//! `equal_repeats`: epochs, runs and confirmations that come out the same.

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

/// `runs` and `confirm` of judges that give the same verdict again.
pub(super) fn of_scorers(linted: &Linted<'_>, found: &mut Diagnostics) {
    for scorer in &linted.task().scorers {
        let judges = crate::check::judges_of(scorer);
        if judges.is_empty() || judges.iter().any(|role| linted.varies(role)) {
            continue;
        }
        let repeats = [("runs", &scorer.runs), ("confirm", &scorer.confirm)];
        for (key, times) in repeats.into_iter().filter_map(|(key, times)| Some((key, times.as_ref()?))) {
            if times.value < 2 || times.span.file != scorer.name.span.file {
                continue;
            }
            let of_model = judges.iter().any(|role| linted.chat(role).is_some());
            let why = if of_model { "at temperature 0" } else { "by rules without `any_of`" };
            let message =
                format!("the judge of `{}` answers {why}, so asking it again tells nothing new", scorer.name.value);
            let help =
                format!("give its role a `temperature` such as 0.7, let another role judge too, or remove `{key}`");
            found.push(catalog::EQUAL_REPEATS.at(times.span, message).help(help));
        }
    }
}
