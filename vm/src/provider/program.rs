//! Applications that are programs, tools and calls around a sample that are: who plays a role is given a line for each call and
//! goes on living, whoever else is started for each.

use std::time::Duration;

use aigo_ir::value::Value;
use aigo_machine::{Answer, Request};
use tokio::time::timeout;

use super::Reply;
use super::application::Purpose;
use super::process::{NoLine, Start};
use super::reading::{Gathered, Places};
use super::secrets::Redactor;
use super::talk::Talk;
use crate::fault::{Class, Fault};
use crate::rates::Rates;
use aigo_ir::path::Path;
use aigo_ir::program::ReplyPaths;

/// As long as a model may think.
const LONGEST: Duration = super::client::FIRST;
const LONGEST_AROUND: Duration = Duration::from_mins(1);

/// A program.
pub(crate) struct Program {
    pub(super) start: Start,
    pub(super) purpose: Purpose,
    pub(super) secrets: Redactor,
    /// Whether it may be run: only where the task is trusted.
    pub(super) is_allowed: bool,
}

impl Program {
    /// One attempt.
    pub(super) async fn ask(&self, request: &Request, talk: &Talk) -> Result<Reply, Fault> {
        if !self.is_allowed {
            let message = "commands of this task are not allowed to run: `--allow-commands`";
            return Err(Fault::new(Class::Config, message));
        }
        let usual = if self.purpose == Purpose::Around { LONGEST_AROUND } else { LONGEST };
        let longest = self.start.call.timeout_ms.map_or(usual, Duration::from_millis);
        let input = request.input.as_deref().unwrap_or("{}");
        let said = match self.purpose {
            Purpose::Talk => self.line(request, input, talk, longest).await,
            Purpose::Tool | Purpose::Around => self.output(input, longest).await,
        };
        let mut outcome = said.map(|(answer, lossy)| Reply { answer, model: None, lossy, rates: Rates::default() });
        self.secrets.clean(&mut outcome);
        outcome
    }

    /// What the program that lives as long as the trial says to a line. One that has ended after an answer is started again:
    /// a program may answer once and be done.
    async fn line(
        &self,
        request: &Request,
        input: &str,
        talk: &Talk,
        longest: Duration,
    ) -> Result<(Answer, bool), Fault> {
        let seat = talk.seat(&request.role);
        let mut seat = seat.lock().await;
        loop {
            let mut process = match seat.take() {
                Some(process) => process,
                None => self.start.process()?,
            };
            let may_have_ended = process.has_answered;
            let line = match timeout(longest, process.exchange(input)).await {
                Ok(Ok(line)) => line,
                Ok(Err(NoLine::Ended)) => {
                    let how = process.end().await;
                    if may_have_ended {
                        continue;
                    }
                    return Err(Fault::failed("exited", format!("the program ended without an answer: {how}"), false));
                }
                Ok(Err(NoLine::Unasked(said))) => {
                    process.end().await;
                    let message = format!("the program printed a line that it was not asked for: {said}");
                    return Err(Fault::failed("bad_reply", message, false));
                }
                Ok(Err(NoLine::TooLong)) => {
                    process.end().await;
                    return Err(Fault::failed("bad_reply", super::wire::too_long().message, false));
                }
                Err(_) => {
                    process.end().await;
                    return Err(Fault::failed(
                        "timeout",
                        format!("no answer within {} s", longest.as_secs_f64()),
                        false,
                    ));
                }
            };
            *seat = Some(process);
            return read(&line);
        }
    }

    /// All that a program prints that is started for this call alone.
    async fn output(&self, input: &str, longest: Duration) -> Result<(Answer, bool), Fault> {
        let process = self.start.process()?;
        let Ok((said, how)) = timeout(longest, process.run(input)).await else {
            return Err(Fault::failed("timeout", format!("it did not end within {} s", longest.as_secs_f64()), false));
        };
        match said {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let lossy = matches!(text, std::borrow::Cow::Owned(_));
                Ok((Answer { text: text.trim_end().into(), stop: "stop".into(), ..Answer::default() }, lossy))
            }
            Err(NoLine::TooLong) => Err(Fault::failed("bad_reply", super::wire::too_long().message, false)),
            Err(NoLine::Ended | NoLine::Unasked(_)) => {
                Err(Fault::failed("exited", format!("the program failed: {how}"), false))
            }
        }
    }
}

/// A line of a program: `{text, calls, context}`.
fn read(line: &[u8]) -> Result<(Answer, bool), Fault> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    let bad = |message: String| Fault::failed("bad_reply", message, false);
    let key = |name: &str| Path::parse(name).map_err(|error| bad(error.message));
    if !matches!(Value::of_json(&text), Some(Value::Map(_))) {
        let shown = aigo_ir::text::excerpt(&text, 120);
        return Err(bad(format!("the program printed a line that is no JSON object: {shown}")));
    }
    let reply =
        ReplyPaths { text: key("text")?, calls: Some(key("calls")?), context: Some(key("context")?), done: None };
    let places = Places { reply: Some(reply), session: None };
    let mut gathered = Gathered::default();
    let answer = gathered.take(&places, &text).and_then(|()| gathered.answer(&places, false));
    answer.map(|answer| (answer, lossy)).map_err(bad)
}
