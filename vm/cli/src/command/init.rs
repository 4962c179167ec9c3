//! `aigo init`: a task to start from. Nothing that is there is written over.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use aigo_compiler::schema;

use crate::args::InitArgs;
use crate::template::{self, IGNORED, SCHEMA};
use crate::world::Folder;
use crate::{exit, out, read, task};

pub(crate) fn init(args: &InitArgs) -> u8 {
    let files = template::files(args.template);
    let folder = &args.folder;
    let taken: Vec<&str> = files.iter().map(|file| file.path).filter(|path| is_there(&folder.join(path))).collect();
    if !taken.is_empty() {
        let shown = read::shown(folder);
        let message = format!("{shown} has {} already, and nothing is written over", taken.join(", "));
        out::error(&format!("{message}\n  help: name a folder of its own, such as `aigo init evals/NAME`"));
        return exit::USAGE;
    }
    let schema = schema::print(&schema::schema(None));
    let mut wanted: Vec<(&str, &str, &str)> = files.iter().map(|file| (file.path, file.text, file.about)).collect();
    // These two say the same for every task, so those that are there will do.
    let shared = [
        (SCHEMA, schema.as_str(), "what editors complete and check from"),
        (IGNORED.path, IGNORED.text, IGNORED.about),
    ];
    wanted.extend(shared.into_iter().filter(|(path, ..)| !is_there(&folder.join(path))));
    let width = wanted.iter().map(|(path, ..)| folder.join(path).display().to_string().len()).max().unwrap_or(0);
    for (path, text, about) in wanted {
        let path = folder.join(path);
        if let Err(error) = write(&path, text) {
            out::error(&format!("{} cannot be written: {error}", read::shown(&path)));
            return exit::USAGE;
        }
        out::line(&format!("wrote {:<width$}  {about}", path.display().to_string()));
    }
    next(folder);
    exit::PASSED
}

/// Whether anything stands at a path, also a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Writes a new file, and the folders above it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())
}

/// The next two commands; where this build cannot run a part of the task yet, that is said in the place of the second.
fn next(folder: &Path) {
    let path = folder.join("task.yaml");
    let shown = if folder == Path::new(".") { "task.yaml".to_owned() } else { read::shown(folder) };
    out::line("\nnext:");
    out::line(&format!("  aigo check {shown} --deny warnings"));
    let missing = missing(&path);
    if missing.is_empty() {
        out::line(&format!("  aigo run {shown}"));
        out::line(
            "\nRules play every role, so no key is needed; the comments of the task show how models take their place.",
        );
        return;
    }
    out::line("\nThis build checks and compiles the task, and cannot run these parts of it yet:");
    for part in missing {
        out::line(&format!("  {part}"));
    }
}

/// What this build cannot run of the task that was written.
fn missing(path: &Path) -> Vec<String> {
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    let compiled = aigo_compiler::compile(&path.display().to_string(), &bytes, &Folder::new(&task::folder(path)));
    let Some((program, _)) = compiled.program else { return Vec::new() };
    let parts = aigo_vm::missing(&program).into_iter().map(|part| {
        let said = part.message.trim_start_matches("this build checks and compiles ");
        said.trim_end_matches(", and cannot run it yet").to_owned()
    });
    parts.collect()
}
