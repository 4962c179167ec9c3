//! The tasks to start from. They are files of `tasks/templates`, and the tests check and run them.

use crate::args::Template;

/// A file of a template.
pub(crate) struct File {
    /// Its path in the new folder.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// What it is, in a few words.
    pub(crate) about: &'static str,
}

/// The schema, from the folder of the task: what its first line names.
pub(crate) const SCHEMA: &str = ".aigo/task.schema.json";
/// What is not for the repository.
pub(crate) const IGNORED: File = File {
    path: ".gitignore",
    text: "# Keys stay on this machine.\n.env\n# Runs can be large, and hold what users say.\nruns/\n",
    about: "keeps keys and runs out of the repository",
};

macro_rules! file {
    ($template:literal, $path:literal, $about:literal) => {
        File {
            path: $path,
            text: include_str!(concat!("../../../tasks/templates/", $template, "/", $path)),
            about: $about,
        }
    };
}

static SUPPORT: [File; 2] = [
    file!("support", "task.yaml", "the task: who talks, how it goes, how it is scored"),
    file!("support", "data/recorded.jsonl", "three real conversations: put your own there"),
];
static RAG: [File; 3] = [
    file!("rag", "task.yaml", "the task: who talks, how it goes, how it is scored"),
    file!("rag", "data/questions.jsonl", "questions, and what is true: put your own there"),
    file!("rag", "data/recorded.jsonl", "real conversations with what was looked up: put your own there"),
];
static TUTOR: [File; 2] = [
    file!("tutor", "task.yaml", "the task: who talks, how it goes, how it is scored"),
    file!("tutor", "data/recorded.jsonl", "real lessons: put your own there"),
];
static AGENT: [File; 2] = [
    file!("agent", "task.yaml", "the task: who talks, how it goes, how it is scored"),
    file!("agent", "data/recorded.jsonl", "real conversations with their tool calls: put your own there"),
];

/// The files of a template, the task first.
pub(crate) fn files(template: Template) -> &'static [File] {
    match template {
        Template::Support => &SUPPORT,
        Template::Rag => &RAG,
        Template::Tutor => &TUTOR,
        Template::Agent => &AGENT,
    }
}
