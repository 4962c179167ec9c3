//! Applications over HTTP: `history_not_sent`, `epochs_without_setup`.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::program::{HttpRole, Player, Session};

use super::Linted;
use crate::catalog;

/// The applications that take part in conversations.
fn applications<'l>(linted: &Linted<'l>) -> impl Iterator<Item = (&'l aigo_ir::program::Role, &'l HttpRole)> {
    let mut talkers = linted.talkers();
    if linted.profile.transcripts().1 {
        talkers.insert(aigo_ir::message::ASSISTANT);
    }
    linted.program.roles.iter().filter(move |role| talkers.contains(&*role.name)).filter_map(|role| {
        match &role.player {
            Player::Http(http) => Some((role, &**http)),
            _ => None,
        }
    })
}

/// `history_not_sent`: nobody remembers the conversation, neither the request nor the application.
pub(super) fn history_not_sent(linted: &Linted<'_>, found: &mut Diagnostics) {
    let several = linted.profile.transcripts().1 || linted.solves.all.iter().any(|way| way.turns > 1);
    for (role, http) in applications(linted) {
        let names = role.player.names();
        let is_sent = |known: &[&str]| names.iter().any(|name| known.contains(&&**name));
        let sticky = http.session.is_sticky();
        // A user or an account that `setup` made may be what it remembers by.
        if !several || is_sent(&["messages", "chat"]) || (sticky && is_sent(&["session", "setup", "sample"])) {
            continue;
        }
        let Some(span) = role.origin.0 else { continue };
        let message = if sticky {
            format!("`{}` is said to remember, and nothing that it is sent says which conversation it is in", role.name)
        } else {
            format!(
                "`{}` is sent the last message and nothing of what was said before, so it cannot keep anything in mind",
                role.name
            )
        };
        let help = "put `messages` into its body, or let it remember: `session: sticky`, and `{{ session }}` in what it is sent";
        found.push(catalog::HISTORY_NOT_SENT.at(span, message).help(help));
    }
}

/// `epochs_without_setup`: what one epoch leaves behind in the application is there in the next.
pub(super) fn epochs_without_setup(linted: &Linted<'_>, found: &mut Diagnostics) {
    let Some(epochs) = linted.task().epochs.as_ref().filter(|epochs| epochs.value > 1) else { return };
    if !linted.task().setup.is_empty() {
        return;
    }
    for (role, http) in applications(linted) {
        let (true, Some(span)) = (!matches!(http.session, Session::Stateless), role.origin.0) else { continue };
        let message = format!(
            "`{}` keeps a state, and nothing puts it back before the next of {} epochs of a sample",
            role.name, epochs.value
        );
        let help = "add `setup`, a call that makes a new user or account for each sample, or run one epoch";
        let diagnostic = catalog::EPOCHS_WITHOUT_SETUP.at(epochs.span, message);
        found.push(diagnostic.related(span, "the application").help(help));
    }
}
