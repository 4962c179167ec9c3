//! Applications: what their templates read, what is sent to them, and what it adds to a call's identity.

use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::program::{Player, Role, SETUP};
use aigo_ir::value::Value;

use super::Stepper;
use crate::ask::Request;
use crate::scope::{Names, Snapshot};
use crate::sent::{self, Sent};

impl Stepper<'_> {
    /// Fills in what is asked of an application, and gives the hash of what is sent to it; none where the role is none. The
    /// id of a session is no part of it: it names a conversation, and no other conversation has it.
    pub(super) fn outside(&self, role: &Role, request: &mut Request) -> Result<Option<Key>, String> {
        let setup = self.lane.world.setup.as_ref();
        match &role.player {
            Player::Http(http) => {
                let scope = self.scope_of_request(request);
                let sent = Sent::of(&self.linked.engine, &http.call, &scope)?;
                request.scope = Some(scope);
                if request.tool.is_some() {
                    request.input = Some(self.arguments(request).to_json().into());
                }
                let mut writer = KeyWriter::new("aigo.sent.1");
                sent.hash_into(&mut writer);
                Ok(Some(writer.maybe_str(request.input.as_deref()).finish()))
            }
            Player::Command(_) => {
                let line = match &request.tool {
                    Some(call) => sent::tool_line(&call.tool, self.arguments(request), self.sample, setup),
                    None => sent::role_line(request, self.sample, self.lane.conversation.turn(), setup),
                };
                let key = KeyWriter::new("aigo.line.1").str(&line).finish();
                request.input = Some(line);
                Ok(Some(key))
            }
            Player::Chat(_) | Player::Scripted(_) => Ok(None),
        }
    }

    /// What the templates of a request read: of an application what it is to answer, of a tool its arguments.
    fn scope_of_request(&self, request: &Request) -> SharedScope {
        let text = |text: &str| Value::str(text);
        let mut names: Names = match self.arguments(request) {
            Value::Map(args) => args.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            _ => {
                let last = request.messages.last().map_or("", |message| &*message.text);
                vec![
                    ("message".into(), text(last)),
                    ("session".into(), text("")),
                    ("chat".into(), sent::chat(&request.messages)),
                ]
            }
        };
        let world = &self.lane.world;
        names.extend(world.setup.iter().map(|setup| (SETUP.into(), setup.clone())));
        names.extend(world.state.iter().map(|state| ("state".into(), state.clone())));
        let conversation = Arc::clone(&self.lane.conversation);
        Arc::new(Snapshot { sample: Arc::clone(self.sample), conversation, names })
    }

    /// The arguments of the call that a tool is to answer, its defaults filled in; null where it is no tool that is asked.
    fn arguments(&self, request: &Request) -> Value {
        let Some(call) = &request.tool else { return Value::Null };
        let tool = self.linked.program.tools.iter().find(|tool| tool.name == call.tool);
        let filled = tool.and_then(|tool| crate::world::filled(tool, &call.arguments).ok());
        Value::Map(Arc::new(filled.unwrap_or_default()))
    }
}
