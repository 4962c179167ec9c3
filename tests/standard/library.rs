//! The library as such: its files, its names and versions, its pages.

use aigo_compiler::standard::{self, FILES};
use aigo_compiler::{NoSources, compile};

use crate::golden::compare;
use crate::harness::{folder, root, run};

/// A task that scores by some scorers.
fn task(more: &str, scorers: &str) -> String {
    format!(
        "aigo: 1\nname: example\nmodels: {{assistant: {{scripted: [Certainly.]}}, judge: {{scripted: [{{verdict: {{score: true}}}}]}}}}\n\
         dataset: {{samples: [{{id: one, plan: Pro}}]}}\nsolvers: [{{user: Hello}}, generate]\n{more}scorers: [{scorers}]\n"
    )
}

/// The findings of a task, without what other models than scripted ones would please.
fn findings(task: &str) -> Vec<String> {
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect()
}

#[test]
fn the_files_define_what_the_table_says() {
    for file in FILES {
        let disk = std::fs::read_to_string(root().join("tasks").join(file.path)).expect("the file is there");
        assert_eq!(disk, file.text, "{}", file.path);
        let names: Vec<&str> = file.scorers.iter().chain(file.personas).copied().collect();
        let is_name = |line: &&str| line.starts_with("    ") && !line.starts_with("     ");
        let own: Vec<&str> = file.text.lines().filter(is_name).map(|line| line.trim().trim_end_matches(':')).collect();
        assert_eq!(own, names, "{}", file.path);
        assert_eq!(
            file.text.matches(&format!("      version: {}\n", file.version)).count(),
            names.len(),
            "{}",
            file.path
        );
    }
    let folder = std::fs::read_dir(root().join("tasks/std")).expect("the folder is there");
    assert_eq!(folder.count(), FILES.len(), "a file in tasks/std is not in the table");
    let ran = run(root(), &["fmt", "--check", "tasks/std"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn every_definition_has_its_page() {
    for file in FILES {
        for name in file.scorers.iter().chain(file.personas) {
            let page = standard::page(file, name).expect("a page");
            assert!(!page.description.is_empty() && page.source.contains("description:"), "{name}");
            let judged = page.calls.as_ref().is_some_and(|calls| calls != "0");
            assert_eq!(judged, !page.fails.is_empty(), "{name} shows a conversation that fails");
            assert!(!judged || !page.limits.is_empty(), "{name} says what it does not see");
            assert!(page.inputs.iter().all(|(.., told)| !told.is_empty()), "{name} explains what it takes");
        }
    }
    compare("std/list.txt", &run(root(), &["list"]).out);
    let shown = run(root(), &["show", "knowledge_retention", "policy_adherence@1", "mind_changer", "contains"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    compare("std/show.txt", &shown.out);
    let unknown = run(root(), &["show", "knowledge_retentoin"]);
    assert_eq!((unknown.code, unknown.err.contains("did you mean knowledge_retention?")), (2, true), "{}", unknown.err);
}

#[test]
fn what_is_printed_can_be_copied_and_changed() {
    let source = run(root(), &["show", "repetition", "--source"]).out.replace("repetition:", "told_once:");
    let own = source.lines().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat();
    let task = task(&format!("define:\n  scorers:\n{own}"), "{use: told_once}");
    assert_eq!(findings(&task).iter().filter(|one| one.contains("error")).count(), 0, "{:#?}\n{task}", findings(&task));
}

#[test]
fn a_scorer_is_asked_for_by_name_and_version() {
    let with = "with: {policy: [No price.]}";
    let program = |scorers: &str| {
        let compiled = compile("task.yaml", task("", scorers).as_bytes(), &NoSources);
        let found: Vec<String> = compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect();
        compiled.program.unwrap_or_else(|| panic!("{found:#?}")).0
    };
    let plain = program(&format!("{{use: policy_adherence, {with}}}"));
    assert_eq!(plain.scorers[0].name.as_ref(), "policy_adherence");
    assert!(plain.library.contains(&("std/policy_adherence".into(), 1)));
    assert_eq!(program(&format!("{{use: policy_adherence@1, {with}}}")).hash(), plain.hash());
    for (scorers, wanted) in [
        ("{use: policy_adherence@9}", "E0592"),
        ("{use: policy_adherance}", "did you mean `policy_adherence`?"),
        ("{use: policy_adherence@}", "no name with a version"),
        ("{use: role_adherence}", "`role_adherence` needs `role`"),
        // Without a reference the judge would grade a goal of its own making.
        ("{use: goal_accuracy}", "`goal_accuracy` needs `expected`"),
    ] {
        let compiled = compile("task.yaml", task("", scorers).as_bytes(), &NoSources);
        let told = compiled.diagnostics.iter().any(|one| {
            format!("{} {} {}", one.row.code, one.message, one.help.clone().unwrap_or_default()).contains(wanted)
        });
        assert!(told, "{scorers}: {:#?}", findings(&task("", scorers)));
    }
}

#[test]
fn a_definition_of_the_task_goes_before_the_librarys() {
    let own = "define: {scorers: {repetition: {check: {contains: Certainly}}}}\n";
    let compiled = compile("task.yaml", task(own, "{use: repetition}").as_bytes(), &NoSources);
    let (program, _) = compiled.program.expect("it compiles");
    assert!(program.library.is_empty(), "{:?}", program.library);
}

#[test]
fn a_finding_shows_the_library_by_its_path_and_no_lint_is_about_it() {
    let place = folder("std_findings");
    std::fs::write(place.join("task.yaml"), task("", "{use: role_adherence}")).expect("the task can be written");
    let ran = run(&place, &["check", "task.yaml"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let shown = ran.out.clone() + &ran.err;
    assert!(shown.contains("std/role_adherence.yaml:"), "{shown}");
    let all: Vec<String> = ["task_completion", "turn_relevancy", "knowledge_retention", "repetition", "recovery"]
        .iter()
        .chain(&["conversation_completeness", "goal_abandonment", "tool_use"])
        .map(|name| format!("{{use: {name}}}"))
        .collect();
    let compiled = compile("task.yaml", task("", &all.join(", ")).as_bytes(), &NoSources);
    let within = compiled.diagnostics.iter().filter_map(|one| compiled.sources.get(one.span?.file));
    let within: Vec<&str> = within.map(|file| &*file.name).filter(|name| name.starts_with("std/")).collect();
    assert!(within.is_empty(), "{within:?}");
}

#[test]
fn the_lock_pins_what_is_used_of_the_library() {
    let place = folder("std_lock");
    std::fs::write(place.join("task.yaml"), task("", "{use: repetition}")).expect("the task can be written");
    let ran = run(&place, &["lock", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let lock = std::fs::read_to_string(place.join("aigo.lock")).expect("there is a lock");
    assert!(lock.contains("library \"std/repetition\" version=1"), "{lock}");
    assert_eq!(run(&place, &["check", "--locked", "task.yaml"]).code, 0);
}
