//! Suites: what they select and spread over exists.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::SourceMap;

use crate::Suite;
use crate::ast::Task;
use crate::catalog;
use crate::dataset::Profile;
use crate::resolve::meant;

/// The suites of a task. What they name and no sample has is reported.
pub(crate) fn check(
    task: &Task,
    profile: &Profile,
    fields_known: bool,
    _sources: &SourceMap,
    found: &mut Diagnostics,
) -> Vec<Suite> {
    let fields: Vec<&str> = profile.joined().fields().iter().map(|field| &*field.name).collect();
    for suite in &task.suites {
        for field in suite.subset.iter().flat_map(|(_, stratify)| stratify) {
            if fields_known && !fields.contains(&field.value.as_str()) {
                let message = format!("`stratify` names `{}`, which no sample has", field.value);
                let unknown = catalog::UNKNOWN_NAME.at(field.span, message).help("no sample has a field: remove it");
                found.push(meant(unknown, &field.value, field.span, fields.iter().copied()));
            }
        }
    }
    let one = |suite: &crate::ast::Suite| Suite {
        name: suite.name.value.clone(),
        select: suite.select.as_ref().map(|leaf| leaf.text.clone()),
        subset: suite.subset.as_ref().map(|(n, fields)| (*n, fields.iter().map(|f| f.value.clone()).collect())),
    };
    task.suites.iter().map(one).collect()
}
