//! Faults of attempts, by what to do about them.

use std::error::Error;

use crate::rates::Rates;

/// A fault of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What to do about it.
    pub class: Class,
    /// What was seen, for people.
    pub message: String,
    /// Whether the attempt may have been billed all the same: it was sent, and nobody refused it.
    pub billed: bool,
    /// What the endpoint said about its limits with it.
    pub(crate) rates: Box<Rates>,
}

/// The classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// The key is refused: everything will be.
    Auth,
    /// The money is gone.
    Quota,
    /// The address or the model does not exist.
    Config,
    /// The endpoint cannot be reached, and it will most likely stay so: its name, its certificate, a proxy.
    Unreachable,
    /// This request will always be refused; the word is recorded as the answer's fault.
    Request(&'static str),
    /// Too many requests: the endpoint rests, for as long as it says.
    RateLimit,
    /// The endpoint has too much to do: as transient, and fewer calls are made side by side.
    Overloaded,
    /// It may go well next time.
    Transient,
    /// What came back is no answer.
    Protocol,
    /// An application has failed: that is its result, and the word is recorded as the answer's fault.
    Failed {
        /// The word.
        word: String,
        /// Whether it may go well next time, and a second call does no harm.
        again: bool,
    },
    /// An application takes no connection. Nothing was sent.
    NoConnection,
}

impl Fault {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        let billed = matches!(class, Class::Transient | Class::Overloaded | Class::Protocol);
        Self { class, message: message.into(), billed, rates: Box::default() }
    }

    /// Of an application that has failed.
    pub(crate) fn failed(word: impl Into<String>, message: impl Into<String>, again: bool) -> Self {
        Self { billed: true, ..Self::new(Class::Failed { word: word.into(), again }, message) }
    }

    /// With what the endpoint said about its limits.
    #[must_use]
    pub(crate) fn with(mut self, rates: Rates) -> Self {
        self.rates = Box::new(rates);
        self
    }

    /// Of an attempt that brought no status. `connecting` says that nothing was sent.
    pub(crate) fn of_connection(error: &(dyn Error + 'static), connecting: bool) -> Self {
        let mut message = error.to_string();
        let mut unreachable = false;
        let mut source = error.source();
        while let Some(cause) = source {
            let said = cause.to_string();
            // What the platform says of names and certificates has no code that lasts through the layers.
            unreachable |= connecting && is_lasting(&said);
            if !message.ends_with(&said) {
                message = format!("{message}: {said}");
            }
            source = cause.source();
        }
        let class = if unreachable { Class::Unreachable } else { Class::Transient };
        let fault = Self::new(class, aigo_ir::text::excerpt(&message, 300));
        Self { billed: !connecting, ..fault }
    }
}

/// Whether a cause of a failed connection will be there again: a name that does not exist, a certificate that is refused, a
/// proxy that wants to know who asks.
fn is_lasting(cause: &str) -> bool {
    let cause = cause.to_ascii_lowercase();
    let again = ["try again", "temporary"].iter().any(|word| cause.contains(word));
    let lasting = [
        "name or service not known",
        "no such host",
        "nodename nor servname",
        "certificate",
        "invalid peer",
        "unknownissuer",
        "corrupt message",
        "proxy authentication",
        "unsuccessful tunnel",
        "link-local",
    ];
    !again && lasting.iter().any(|word| cause.contains(word))
}
