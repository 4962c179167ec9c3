//! What a trial keeps between its calls of one application: the session that they are in, the process that they go to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use aigo_ir::engine::SharedScope;
use aigo_ir::eval::Scope;
use aigo_ir::key::KeyWriter;
use aigo_ir::message::Conversation;
use aigo_ir::program::Session;
use aigo_ir::value::Value;

use super::process::Process;

/// The place of a role's process: whoever asks it waits until the one before has been answered.
pub(super) type Seat = Arc<tokio::sync::Mutex<Option<Process>>>;

/// The sessions and processes of a trial.
#[derive(Default)]
pub(crate) struct Talk {
    /// The id of the sessions that we make: one for each trial, and another where a sample begins again.
    id: Arc<str>,
    made: Mutex<BTreeMap<Arc<str>, Arc<str>>>,
    seats: Mutex<BTreeMap<Arc<str>, Seat>>,
}

impl Talk {
    /// Of a trial, by the run's id and the trial's number in the log.
    pub(crate) fn new(run: &str, trial: u64) -> Self {
        let id = KeyWriter::new("aigo.session.1").str(run).u64(trial).finish().hex(16);
        Self { id: id.into(), ..Self::default() }
    }

    /// The id of the session with a role; empty before a server has made one, and of a role that knows none.
    pub(super) fn session(&self, role: &str, session: &Session) -> Arc<str> {
        match session {
            Session::Stateless => Arc::default(),
            Session::Client => Arc::clone(&self.id),
            Session::Server { .. } => self.made().get(role).cloned().unwrap_or_default(),
        }
    }

    /// Keeps the id of a session that a role has made.
    pub(crate) fn keep(&self, role: &Arc<str>, session: &Arc<str>) {
        self.made().insert(Arc::clone(role), Arc::clone(session));
    }

    /// The place of a role's process.
    pub(super) fn seat(&self, role: &Arc<str>) -> Seat {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(seats.entry(Arc::clone(role)).or_default())
    }

    /// Ends the processes, with all that they have started.
    pub(crate) async fn end(&self) {
        let seats = std::mem::take(&mut *self.seats.lock().unwrap_or_else(PoisonError::into_inner));
        for seat in seats.into_values() {
            if let Some(process) = seat.lock().await.take() {
                process.end().await;
            }
        }
    }

    fn made(&self) -> std::sync::MutexGuard<'_, BTreeMap<Arc<str>, Arc<str>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of a request, with the session that it is in.
pub(super) struct InSession {
    pub(super) names: SharedScope,
    pub(super) session: Arc<str>,
}

impl Scope for InSession {
    fn get(&self, name: &str) -> Option<Value> {
        // Of a tool or a call around a sample `session` is no name of ours: it may be a parameter or a field.
        let own = self.names.get(name)?;
        Some(if name == "session" && !self.session.is_empty() { Value::Str(Arc::clone(&self.session)) } else { own })
    }

    fn conversation(&self) -> &Conversation {
        self.names.conversation()
    }
}
