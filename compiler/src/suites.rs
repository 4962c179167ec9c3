//! Suites, and whatever else chooses samples by tags: what they select and spread over exists.

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::selection::{self, Selection};
use aigo_ir::span::{SourceMap, Spanned};

use crate::Suite;
use crate::ast::Leaf;
use crate::catalog;
use crate::dataset::Profile;
use crate::resolve::{Resolved, meant};

/// The suites of a task. What they and the gates name and no sample has is reported.
pub(crate) fn check(
    resolved: &Resolved,
    profile: &Profile,
    fields_known: bool,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Vec<Suite> {
    let suites = &resolved.task.suites;
    let mut tags = resolved.tags.clone();
    for select in suites.iter().filter_map(|suite| suite.select.as_ref()) {
        tags.extend(selected(select, profile, fields_known, sources, found));
    }
    let fields: Vec<&str> = profile.joined().fields().iter().map(|field| &*field.name).collect();
    for field in suites.iter().filter_map(|suite| suite.subset.as_ref()).flat_map(|(_, stratify)| stratify) {
        if fields_known && !fields.contains(&field.value.as_str()) {
            let message = format!("`stratify` names `{}`, which no sample has", field.value);
            let unknown = catalog::UNKNOWN_NAME.at(field.span, message).help("no sample has a field: remove it");
            found.push(meant(unknown, &field.value, field.span, fields.iter().copied()));
        }
    }
    for tag in tags {
        let known = profile.tags.iter().flatten();
        if fields_known && !known.clone().any(|known| *known == tag.value) {
            let unknown = catalog::ABSENT_TAG
                .at(tag.span, format!("no sample has the tag `{}`", tag.value))
                .help("no sample has a tag: give them some, `tags: [p0]`");
            let known: std::collections::BTreeSet<&str> = known.map(String::as_str).collect();
            // Of a short tag every other one is near: `p2` is as likely a tag that was forgotten.
            found.push(match tag.value.len() {
                0..4 => unknown.maybe_help(diagnostic::suggest(&tag.value, known)),
                _ => meant(unknown, &tag.value, tag.span, known),
            });
        }
    }
    let one = |suite: &crate::ast::Suite| Suite {
        name: suite.name.value.clone(),
        select: suite.select.as_ref().map(|leaf| leaf.text.clone()),
        subset: suite.subset.as_ref().map(|(n, fields)| (*n, fields.iter().map(|f| f.value.clone()).collect())),
    };
    suites.iter().map(one).collect()
}

/// The tags that a suite's `select` names. One that cannot be read, or that fits no sample, is reported.
fn selected(
    select: &Leaf,
    profile: &Profile,
    fields_known: bool,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Vec<Spanned<String>> {
    let selection = match Selection::parse(&select.text) {
        Ok(selection) => selection,
        Err(error) => {
            let rest = select.text.get(error.at..).unwrap_or_default();
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let at = select.locate(sources, error.at..error.at + length);
            let message = format!("`select` cannot be read: {}", error.message);
            found
                .push(catalog::BAD_VALUE.at(at, message).help("write tags with `and`, `or`, `not`: `p0 and not slow`"));
            return Vec::new();
        }
    };
    let place = |(range, tag)| Spanned::new(tag, select.locate(sources, range));
    let tags: Vec<_> = selection::named(&select.text).into_iter().map(place).collect();
    let is_known = |tag: &Spanned<String>| profile.tags.iter().flatten().any(|known| *known == tag.value);
    if fields_known && tags.iter().all(is_known) && !profile.tags.iter().any(|tags| selection.matches(tags)) {
        let message = "the suite selects no sample: none has tags that fit";
        found.push(catalog::NO_SAMPLES.at(select.span, message).help("mend `select`, or the `tags` of the samples"));
    }
    tags
}
