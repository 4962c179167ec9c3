//! Simulated users: `all_simulated`, `endless_user`, `unprobed_persona`, `near_persona`.

use std::collections::BTreeSet;

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::message::USER;
use aigo_ir::program::{Answer, Player};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;

use super::Linted;
use crate::ast::{self, ColumnValues, Leaf, Samples, Step, Verb};
use crate::catalog;

/// `all_simulated`: no conversation is one that people had or wrote.
pub(super) fn all_simulated(linted: &Linted<'_>, found: &mut Diagnostics) {
    let by_rules = matches!(linted.model(USER).map(|model| &model.player), Some(ast::Player::Scripted(_)) | None);
    let ways = linted.solves.all.iter().filter(|way| linted.profile.group(&way.name).is_some());
    let mut ways = ways.peekable();
    if by_rules || linted.profile.transcripts() != (false, false) || ways.peek().is_none() {
        return;
    }
    let Some(span) = linted.task().dataset_span.filter(|_| ways.all(|way| way.simulates.is_some())) else { return };
    let message = "every sample is simulated: none is a conversation that people had, or that somebody wrote";
    let help = "add recorded conversations, `- transcripts: real/*.jsonl`, or a scenario whose user's words you write";
    found.push(catalog::ALL_SIMULATED.at(span, message).help(help));
}

/// `endless_user`: nothing but the number of passes ends a loop, because the user never says that it is done.
pub(super) fn endless(linted: &Linted<'_>, found: &mut Diagnostics) {
    let Some(way) = linted.solves.all.iter().find(|way| way.only_user_ends) else { return };
    let Some(role) = linted.program.role(USER) else { return };
    let (ends, help) = match &role.player {
        Player::Scripted(rules) => {
            let ends = |answer: &Answer| match answer {
                Answer::Say { text, status } => {
                    status.as_deref().is_some_and(|word| word != "going") || ends(&text.source)
                }
                Answer::AnyOf { texts, status } => {
                    status.as_deref().is_some_and(|word| word != "going")
                        || texts.iter().any(|(text, _)| ends(&text.source))
                }
                Answer::Fault(_) => true,
                Answer::Verdict(_) => false,
            };
            let help = "give its last rule a status: `- {say: \"Thanks, that is all.\", status: done}`";
            (rules.iter().any(|rule| ends(&rule.answer)), help)
        }
        Player::Http(http) => {
            let ends = http.reply.as_ref().is_none_or(|reply| reply.done.is_some());
            (ends, "say where its reply tells that it is done: `reply: {text: …, done: …}`")
        }
        Player::Chat(_) | Player::Command(_) => return,
    };
    let Some(span) = role.origin.0.filter(|_| !ends) else { return };
    let message = "this user never says that it is done, so every conversation goes on to the last pass of its loop";
    let diagnostic = catalog::ENDLESS_USER.at(span, message).help(help);
    found.push(match way.simulates {
        Some(step) => diagnostic.related(step, "it is asked here"),
        None => diagnostic,
    });
}

/// Whether a text has the mark with which users end.
fn ends(text: &str) -> bool {
    text.contains("[DONE]")
}

/// The texts that `persona` has in steps.
fn personas_of<'s>(steps: &'s [Step], found: &mut Vec<&'s Leaf>) {
    for step in steps {
        match &step.verb {
            Verb::SimulateUser(simulate) => found.extend(&simulate.persona),
            Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => personas_of(steps, found),
            Verb::If { then, otherwise, .. } => {
                personas_of(then, found);
                personas_of(otherwise, found);
            }
            _ => {}
        }
    }
}

/// The name in a text that is `{{ name }}` and nothing else.
pub(crate) fn name_in(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

/// The personas that simulated users have: by name, and by the fields that name them.
pub(super) struct Played<'l> {
    names: BTreeSet<&'l str>,
    fields: BTreeSet<&'l str>,
    /// Whether something names personas of which nothing is known here: a file, a parameter, a computed text.
    unknown: bool,
}

impl<'l> Played<'l> {
    pub(super) fn of(linted: &Linted<'l>) -> Self {
        let task = linted.task();
        let mut played = Self { names: BTreeSet::new(), fields: BTreeSet::new(), unknown: false };
        let mut leaves = Vec::new();
        personas_of(&task.solvers, &mut leaves);
        task.scenarios.iter().filter_map(|one| one.solvers.as_ref()).for_each(|own| personas_of(own, &mut leaves));
        for leaf in leaves {
            match name_in(&leaf.text) {
                Some(field) => {
                    played.fields.insert(field);
                }
                None if leaf.text.contains("{{") || leaf.text.contains("{%") => played.unknown = true,
                None => {
                    played.names.insert(leaf.text.trim());
                }
            }
        }
        for field in &played.fields {
            let values = values_of(linted.task(), field);
            played.unknown |= values.is_none();
            played.names.extend(values.into_iter().flatten().map(|value| value.value));
        }
        // Of steps that are used by name, who plays in them may be given.
        let mut given = Vec::new();
        task.define.solvers.iter().for_each(|defined| personas_of(&defined.body, &mut given));
        let is_own = |name: &str| task.define.solvers.iter().any(|defined| defined.name.value == name);
        played.unknown |= given.iter().any(|leaf| leaf.text.contains("{{"))
            || linted.scope.solvers.iter().any(|(name, defined)| defined.simulates && !is_own(name));
        played.names.extend(given.into_iter().map(|leaf| leaf.text.trim()));
        played
    }

    pub(super) fn has(&self, name: &str) -> bool {
        // A value that is nearly the name was meant as it: that is told there, and is no second mistake here.
        let is_near = || self.names.iter().any(|played| diagnostic::nearest(played, [name]).is_some());
        self.unknown || self.names.contains(name) || is_near()
    }
}

/// The texts that a field has, where all of them stand in the task.
pub(crate) fn values_of<'t>(task: &'t ast::Task, field: &str) -> Option<Vec<Spanned<&'t str>>> {
    fn text(value: &Value, span: Span) -> Option<Spanned<&str>> {
        value.as_str().map(|text| Spanned::new(text, span))
    }
    let mut found = Vec::new();
    for source in &task.dataset {
        match &source.samples {
            Samples::Inline(rows) => {
                for row in rows {
                    let pairs = row.fields.iter().zip(&row.places);
                    let own = pairs.filter(|((name, _), _)| ***name == *field);
                    found.extend(own.filter_map(|((_, value), span)| text(value, *span)));
                }
            }
            Samples::Matrix(columns) => {
                for column in columns.iter().filter(|column| column.name.value == field) {
                    match &column.values {
                        ColumnValues::Inline(values) => {
                            found.extend(values.iter().filter_map(|value| text(&value.value, value.span)));
                        }
                        ColumnValues::File(_) => return None,
                    }
                }
            }
            Samples::Scenarios(scenarios) => {
                let fields = scenarios.iter().flat_map(|scenario| &scenario.fields);
                let own = fields.filter(|(name, _)| name.value == field);
                found.extend(own.filter_map(|(name, value)| text(value, name.span)));
            }
            Samples::File(_) => return None,
            Samples::Transcripts { .. } => {}
        }
    }
    (!found.is_empty()).then_some(found)
}

/// `unprobed_persona`: a user behaves in a way on purpose, and no scorer looks at what that does.
pub(super) fn unprobed(linted: &Linted<'_>, found: &mut Diagnostics) {
    let personas = &linted.task().define.personas;
    if personas.is_empty() {
        return;
    }
    let played = Played::of(linted);
    let is_scored = |name: &str| linted.program.scorer(name).is_some();
    for persona in personas.iter().filter(|persona| played.has(&persona.name.value)) {
        if persona.probes.iter().any(|probe| is_scored(&probe.value)) {
            continue;
        }
        let name = &persona.name.value;
        let message = match persona.probes.first() {
            None => format!("the persona `{name}` is played, and no scorer is said to look at what it tries"),
            Some(probe) => format!("the persona `{name}` tries `{}`, which the task does not score", probe.value),
        };
        let help = "name the scorers that it tries: `probes: [SCORER]`, and have them under `scorers`";
        found.push(catalog::UNPROBED_PERSONA.at(persona.name.span, message).help(help));
    }
}

/// The words that users are played by and that are nearly the names of personas, with those names.
pub(super) fn slips<'l>(linted: &Linted<'l>) -> Vec<(Spanned<&'l str>, &'l str)> {
    let known = &linted.scope.personas;
    if known.is_empty() {
        return Vec::new();
    }
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    let fields = Played::of(linted).fields;
    let values = fields.into_iter().flat_map(|field| values_of(linted.task(), field).unwrap_or_default());
    let strange = values.filter(|value| !known.contains_key(value.value) && is_word(value.value));
    let near = |value: &str| diagnostic::nearest(value, known.keys().map(String::as_str));
    let named = strange.filter_map(|value| near(value.value).map(|near| (value, near)));
    named.collect()
}

/// `near_persona`: a value that is taken as a persona's text, and was surely meant as a persona's name.
pub(super) fn near_persona(linted: &Linted<'_>, found: &mut Diagnostics) {
    for (value, near) in slips(linted) {
        let message = format!("`{}` is no persona, so the user is played by this word alone", value.value);
        let warning = catalog::NEAR_PERSONA.at(value.span, message).help(format!("did you mean `{near}`?"));
        let stands = linted
            .sources
            .get(value.span.file)
            .and_then(|file| file.text.get(value.span.start as usize..value.span.end as usize));
        // In quotes the word stands with them.
        found.push(if stands == Some(value.value) {
            warning.fix(format!("write `{near}`"), value.span, near)
        } else {
            warning
        });
    }
}
