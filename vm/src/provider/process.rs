//! Programs that are run without a shell, each in a process group of its own, which is ended as a whole: lines of JSON in and
//! out, or one input and all that is printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aigo_ir::program::CommandCall;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::wire::MOST_BYTES;
use crate::fault::{Class, Fault};

/// What is kept of what a program says of itself: the end of it, in bytes.
const MOST_OF_ERRORS: usize = 2 << 10;
/// How long after its end a program's last line may still come.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// A process that has been killed is gone at once; one that is not hangs in the system, and is left to it.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A program as it is started. It holds secrets, so nothing shows it.
pub(super) struct Start {
    pub(super) call: CommandCall,
    /// The folder that it is started in.
    pub(super) root: PathBuf,
    /// The variables that it is given, beside the search path.
    pub(super) variables: Vec<(String, String)>,
}

/// A running program.
pub(super) struct Process {
    child: Child,
    group: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Whether it has answered before.
    pub(super) has_answered: bool,
}

/// A process group of ours. Whatever is left of it is killed when it is dropped.
struct Group(Option<u32>);

/// The groups that there are, for an end that drops nothing; none where that end has come.
static GROUPS: Mutex<Option<BTreeSet<u32>>> = Mutex::new(Some(BTreeSet::new()));

/// Kills whatever is left of all programs that were started, where the process is about to end at once. None is started after.
pub fn end_programs() {
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner).take();
    for id in groups.unwrap_or_default() {
        drop(Group(Some(id)));
    }
}

impl Start {
    /// Starts the program.
    pub(super) fn process(&self) -> Result<Process, Fault> {
        let mut command = self.command();
        // Held from before the start to after it, so that none begins behind the back of who ends them all.
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = groups.as_mut() else {
            return Err(Fault::new(Class::Config, "aigo is about to end, and starts no program"));
        };
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        known.extend(child.id());
        let group = Group(child.id());
        drop(groups);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Fault::new(Class::Config, "a program was started without its pipes"));
        };
        let errors: Arc<Mutex<Vec<u8>>> = Arc::default();
        tokio::spawn(keep_end(stderr, Arc::clone(&errors)));
        Ok(Process { child, group, stdin, stdout: BufReader::new(stdout), errors, has_answered: false })
    }

    fn command(&self) -> Command {
        let mut words = self.call.run.iter();
        let program = words.next().map_or("", |program| &**program);
        // A path is the task's; a name alone is looked for in the search path.
        let at = if program.contains(['/', '\\']) { self.root.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(at);
        command.args(words.map(|word| &**word)).current_dir(folder(&self.root)).env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    fn not_started(&self, error: &std::io::Error) -> Fault {
        let program = self.call.run.first().map_or("", |program| &**program);
        let fault = Fault::new(Class::Config, format!("the program `{program}` cannot be started: {error}"));
        Fault { billed: false, ..fault }
    }
}

fn folder(root: &Path) -> &Path {
    if root.as_os_str().is_empty() { Path::new(".") } else { root }
}

/// Why a program gave no line.
pub(super) enum NoLine {
    /// It has ended, or takes nothing more.
    Ended,
    /// It says too much.
    TooLong,
    /// It has said something before it was asked: the beginning of that.
    Unasked(String),
}

impl Process {
    /// Gives it a line and waits for one.
    pub(super) async fn exchange(&mut self, line: &str) -> Result<Vec<u8>, NoLine> {
        let text = format!("{line}\n");
        let (stdin, stdout, child) = (&mut self.stdin, &mut self.stdout, &mut self.child);
        // A line too many would be the answer to this question, and each answer that of the question before. One that comes
        // later than the question cannot be told from an answer.
        tokio::task::yield_now().await;
        if let Ok(Ok(waiting @ [_, ..])) = timeout(Duration::ZERO, stdout.fill_buf()).await {
            return Err(NoLine::Unasked(aigo_ir::text::excerpt(&String::from_utf8_lossy(waiting), 120)));
        }
        // A program may answer before it has read all, and must not be waited for while it waits for us.
        let write = async {
            stdin.write_all(text.as_bytes()).await?;
            stdin.flush().await
        };
        let read = async {
            let mut line = Vec::new();
            let mut limited = stdout.take(MOST_BYTES as u64 + 1);
            match limited.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => Err(NoLine::Ended),
                Ok(n) if n > MOST_BYTES => Err(NoLine::TooLong),
                Ok(_) => Ok(line),
            }
        };
        let said = async { tokio::join!(write, read).1 };
        let line = tokio::select! {
            biased;
            line = said => line,
            () = gone(child) => Err(NoLine::Ended),
        };
        if child.id().is_none() {
            // It has been waited for: its number is free for others from now on.
            self.group.kill().await;
        }
        let line = line?;
        self.has_answered = true;
        Ok(line)
    }

    /// Gives it one input, closes that, and takes all that it prints, and how it ended.
    pub(super) async fn run(self, input: &str) -> (Result<Vec<u8>, NoLine>, String) {
        let Self { mut child, mut group, mut stdin, stdout, errors, .. } = self;
        let text = format!("{input}\n");
        let write = async {
            // One that reads nothing of it is content without.
            let _ = stdin.write_all(text.as_bytes()).await;
            let _ = stdin.shutdown().await;
            drop(stdin);
        };
        let mut bytes = Vec::new();
        let mut limited = stdout.take(MOST_BYTES as u64 + 1);
        let read = async { tokio::join!(write, limited.read_to_end(&mut bytes)).1 };
        let read = tokio::select! {
            biased;
            read = read => read,
            () = gone(&mut child) => Ok(0),
        };
        let bytes = match read {
            Ok(_) if bytes.len() > MOST_BYTES => Err(NoLine::TooLong),
            Ok(_) => Ok(bytes),
            Err(_) => Err(NoLine::Ended),
        };
        // One that says too much is not waited for; and what a program has started must not outlive it.
        let status = if bytes.is_err() {
            group.kill().await;
            child.wait().await
        } else {
            let status = child.wait().await;
            group.kill().await;
            status
        };
        match status {
            Ok(status) if status.success() => (bytes, String::new()),
            Ok(status) => (Err(NoLine::Ended), ended(&status.to_string(), &errors)),
            Err(error) => (Err(NoLine::Ended), ended(&error.to_string(), &errors)),
        }
    }

    /// Ends it, and says how it ended and what it had to say of itself.
    pub(super) async fn end(mut self) -> String {
        // Given a chance to end by itself, it says why it has.
        drop(self.stdin);
        let by_itself = timeout(Duration::from_millis(100), self.child.wait()).await;
        self.group.kill().await;
        let status = match by_itself {
            Ok(status) => status,
            Err(_) => {
                timeout(LAST_WAIT, self.child.wait()).await.unwrap_or_else(|_| Err(std::io::Error::other("it stays")))
            }
        };
        ended(&status.map_or_else(|error| error.to_string(), |status| status.to_string()), &self.errors)
    }
}

/// Waits until a program has ended, and its last words have had time to come: what it has started may hold its output open for
/// ever.
async fn gone(child: &mut Child) {
    let _ = child.wait().await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// How a program ended, with the end of what it said of itself.
fn ended(how: &str, errors: &Mutex<Vec<u8>>) -> String {
    let errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
    let said = String::from_utf8_lossy(&errors);
    let said = said.trim();
    if said.is_empty() { how.to_owned() } else { format!("{how}: {}", tail(said)) }
}

/// The last part of a text, on one line: that is where programs say what is wrong.
fn tail(text: &str) -> String {
    let last: String = text.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
    aigo_ir::text::excerpt(&last, 300)
}

/// Reads what a program says of itself to its end, and keeps the last part. It must be read, or the program would wait.
async fn keep_end(mut stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(buffer.get(..n).unwrap_or_default());
        let over = kept.len().saturating_sub(MOST_OF_ERRORS);
        kept.drain(..over);
    }
}

impl Group {
    /// Its number, for the last time.
    #[cfg(unix)]
    fn take(&mut self) -> Option<u32> {
        let id = self.0.take()?;
        if let Some(groups) = GROUPS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            groups.remove(&id);
        }
        Some(id)
    }

    /// Kills whatever is left of the group. Its leader has not been waited for yet, or has just been: nobody else can have its
    /// number. There is no call for this in the standard library, so the system's own program does it.
    async fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.take() {
            let mut kill = Command::new("kill");
            kill.args(["-KILL", "--", &format!("-{id}")]);
            let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.take() {
            let mut kill = std::process::Command::new("kill");
            kill.args(["-KILL", "--", &format!("-{id}")]);
            let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}
