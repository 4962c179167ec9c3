//! Who judges whom: `self_judging`, `related_judge`, `smaller_judge`, `floating_model`.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::Span;

use super::Linted;
use crate::ast::Chat;
use crate::catalog;
use crate::families::{self, Size};

/// A judge's role and what plays it, beside the model under test.
struct Pair<'l> {
    role: &'l str,
    /// Where the judge's model is named.
    span: Span,
    judge: &'l Chat,
    tested: &'l Chat,
}

fn pairs<'l>(linted: &Linted<'l>) -> Vec<Pair<'l>> {
    let Some((_, tested)) = linted.chat(ASSISTANT) else { return Vec::new() };
    let is_asked = linted.talkers().contains(ASSISTANT) || linted.profile.transcripts().1;
    let judges = linted.judges().into_iter().filter(|_| is_asked);
    let pair = |role| {
        let (_, judge) = linted.chat(role)?;
        Some(Pair { role, span: judge.model.span, judge, tested })
    };
    judges.filter_map(pair).collect()
}

/// `self_judging` and `related_judge`: judges prefer what reads like their own words.
pub(super) fn same_model_or_family(linted: &Linted<'_>, found: &mut Diagnostics) {
    for Pair { role, span, judge, tested } in pairs(linted) {
        let (own, other) = (&judge.model.value, &tested.model.value);
        let at = tested.model.span;
        if role == ASSISTANT || families::is_same_model(own, other) {
            let message = format!("`{role}` judges with the model that is tested, `{own}`: it prefers its own answers");
            let help = "let a model of another family judge";
            let diagnostic = catalog::SELF_JUDGING.at(span, message).help(help);
            found.push(if at == span { diagnostic } else { diagnostic.related(at, "the model under test") });
            continue;
        }
        let maker = |chat: &Chat| families::family_at(chat.dialect, &chat.model.value).map(|family| family.maker);
        if let (Some(a), Some(b)) = (maker(judge), maker(tested))
            && a == b
        {
            let message = format!(
                "`{role}` judges with `{own}`, of the family of `{other}`, which is tested: both come from {a}"
            );
            let help = "let a model of another maker judge, or have people label some of the verdicts";
            found.push(catalog::RELATED_JUDGE.at(span, message).related(at, "the model under test").help(help));
        }
    }
}

/// `smaller_judge`: a judge that is weaker than what it judges misses what that gets wrong.
pub(super) fn smaller(linted: &Linted<'_>, found: &mut Diagnostics) {
    for Pair { role, span, judge, tested } in pairs(linted) {
        let size = |chat: &Chat| Size::of(&chat.model.value);
        let related = families::family_at(judge.dialect, &judge.model.value).map(|family| family.maker)
            == families::family_at(tested.dialect, &tested.model.value).map(|family| family.maker);
        if !size(judge).is_below(size(tested), related) {
            continue;
        }
        let (own, other) = (&judge.model.value, &tested.model.value);
        let message = format!("`{role}` judges with `{own}`, which is smaller than `{other}`, which it judges");
        let help = "let a model judge that is at least as large, or ask it what is easier to judge than to do";
        found.push(
            catalog::SMALLER_JUDGE.at(span, message).related(tested.model.span, "the model under test").help(help),
        );
    }
}

/// `floating_model`: scores of two runs can only be compared where judge and user stayed the same.
pub(super) fn floating(linted: &Linted<'_>, found: &mut Diagnostics) {
    let simulates = linted.solves.all.iter().any(|way| way.simulates.is_some());
    let mut roles = linted.judges();
    if simulates && !roles.contains(&USER) {
        roles.push(USER);
    }
    for (model, chat) in roles.into_iter().filter_map(|role| linted.chat(role)) {
        let name = &chat.model.value;
        if !families::is_floating(name) {
            continue;
        }
        let does = if model.role.value == USER { "plays the user" } else { "judges" };
        let message = format!("`{name}` {does}, and stands for whatever is served under that name at the time");
        let help = match families::family(name).map(|family| family.maker) {
            Some("Anthropic") => format!("write the name with its date: `{}-YYYYMMDD`", families::base(name)),
            Some("OpenAI") => format!("write the name with its date: `{}-YYYY-MM-DD`", families::base(name)),
            _ => "write the name of one version".to_owned(),
        };
        found.push(catalog::FLOATING_MODEL.at(chat.model.span, message).help(help));
    }
}
