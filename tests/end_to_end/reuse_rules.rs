//! Whose answers can be used again: a function of who plays the role.

use aigo_compiler::{NoSources, compile};
use aigo_vm::{Rule, rule};

/// The rule of an assistant that is played like this.
fn of(player: &str) -> Rule {
    let task = format!(
        "aigo: 1\nname: rules\nmodels:\n  assistant: {player}\ndataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi.}}, generate]\nscorers: [{{name: x, check: {{contains: y}}}}]\n"
    );
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    let (program, _) = compiled.program.unwrap_or_else(|| panic!("{player}: {:?}", compiled.diagnostics));
    let role = program.role("assistant").expect("the task has it");
    rule(role, &|model| aigo_compiler::families::is_floating(&model.model))
}

#[test]
fn models_by_content_applications_by_their_version_and_sessions_whole() {
    for (player, expected) in [
        ("{scripted: [{say: Yes.}]}", Rule::Computed),
        ("{model: openai/gpt-4o-2024-11-20}", Rule::ByContent),
        ("{model: openai/gpt-4o}", Rule::Floating),
        ("{model: openai_compatible/mine, base_url: 'http://127.0.0.1:1/v1'}", Rule::ByContent),
        ("{http: {url: 'http://127.0.0.1:1/chat', body: {text: '{{ last.text }}'}}}", Rule::Unversioned),
        ("{http: {url: 'http://127.0.0.1:1/chat', body: {text: '{{ last.text }}'}}, version: '3'}", Rule::ByContent),
        ("{command: [./app]}", Rule::Unversioned),
        ("{command: [./app], version: '3'}", Rule::ByContent),
    ] {
        assert_eq!(of(player), expected, "{player}");
    }
}
