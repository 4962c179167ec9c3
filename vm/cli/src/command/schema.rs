//! `aigo schema`: the JSON schema of tasks, or of one task that knows its own names.

use aigo_compiler::{Known, known, schema};
use aigo_source::MAX_FILE_BYTES;

use crate::args::SchemaArgs;
use crate::read::{self, Unread};
use crate::world::Folder;
use crate::{exit, out, task};

pub(crate) fn schema(args: &SchemaArgs) -> u8 {
    let known = match args.task.as_deref().map(names_of).transpose() {
        Ok(known) => known,
        Err((why, code)) => {
            out::error(&why);
            return code;
        }
    };
    out::text(&schema::print(&schema::schema(known.as_ref())));
    exit::PASSED
}

/// The names of a task, also of one with mistakes: it is being written.
fn names_of(path: &std::path::Path) -> Result<Known, (String, u8)> {
    let path = task::file(path);
    let shown = read::shown(&path);
    let bytes = read::file(&path, MAX_FILE_BYTES).map_err(|unread| match unread {
        Unread::TooLarge => {
            (format!("{shown}: it has more than {MAX_FILE_BYTES} bytes: move data to a file of its own"), exit::TASK)
        }
        Unread::Refused(why) => (why, exit::USAGE),
    })?;
    let world = Folder::new(&task::folder(&path));
    let unreadable = || (format!("{shown}: it is no text that can be read: see `aigo check {shown}`"), exit::TASK);
    known(&shown, &bytes, &world).ok_or_else(unreadable)
}
