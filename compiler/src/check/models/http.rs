//! Applications, and calls before and after a sample.

use aigo_ir::path::Path;
use aigo_ir::program::{
    Call, CallKind, CommandCall, CommandRole, Header, HeaderValue, HttpCall, HttpRole, Player, ReplyPaths, Role,
    Session,
};
use aigo_ir::span::Origin;
use aigo_ir::typing::Names;

use super::{Checker, insert_setup};
use crate::ast::{self, Leaf};
use crate::catalog;

impl Checker<'_> {
    /// None where a path cannot be read.
    pub(super) fn http_role(&mut self, http: &ast::Http) -> Option<HttpRole> {
        let call = self.request(&http.request);
        let reply = match &http.reply {
            None => Some(None),
            Some(reply) => {
                let text = self.path(&reply.text);
                let mut other = |leaf: &Option<Leaf>| match leaf {
                    None => Some(None),
                    Some(leaf) => self.path(leaf).map(Some),
                };
                let (calls, context, done) = (other(&reply.calls), other(&reply.context), other(&reply.done));
                // Every path is read before one that cannot be ends the role.
                (|| Some(Some(ReplyPaths { text: text?, calls: calls?, context: context?, done: done? })))()
            }
        };
        let session = match &http.session {
            ast::Session::Stateless => Some(Session::Stateless),
            ast::Session::Client => Some(Session::Client),
            ast::Session::Server(id) => self.path(id).map(|id| Session::Server { id }),
        };
        let version = http.version.as_ref().map(|version| version.value.as_str().into());
        Some(HttpRole {
            call,
            reply: reply?,
            stream: http.stream,
            session: session?,
            resumable: http.resumable,
            version,
        })
    }

    pub(super) fn headers(&mut self, headers: &[ast::Header], rendered: bool) -> Vec<Header> {
        let mut found = Vec::new();
        for header in headers {
            let value = match &header.value {
                ast::HeaderValue::Text(leaf) if rendered => HeaderValue::Text(self.template(leaf)),
                ast::HeaderValue::Text(leaf) => HeaderValue::Text(aigo_ir::template::Template::new(leaf.text.as_str())),
                ast::HeaderValue::Env(name, prefix) => {
                    HeaderValue::Env { name: name.value.as_str().into(), prefix: prefix.as_str().into() }
                }
            };
            found.push(Header { name: header.name.value.as_str().into(), value });
        }
        found
    }

    fn request(&mut self, request: &ast::Request) -> HttpCall {
        let url = self.template(&request.url);
        let headers = self.headers(&request.headers, true);
        let body = request.body.as_ref().map(|(value, leaves)| {
            self.templates(leaves);
            value.clone()
        });
        let allow_hosts = request.allow_hosts.iter().map(|host| host.as_str().into()).collect();
        let call = HttpCall { method: request.method, url, headers, body, allow_hosts, timeout_ms: request.timeout_ms };
        if call.origin().is_none() && call.allow_hosts.is_empty() && !call.url.source.is_empty() {
            let message = "where this request goes is only known in the run: a value would say to which host";
            let help = "write the host, and a `/` behind it, or name those that are possible: `allow_hosts: [api.example.org]`";
            self.found.push(catalog::UNKNOWN_HOST.at(request.url.span, message).help(help));
        }
        call
    }

    /// Who answers a tool's calls in the place of rules: a role of its own.
    pub(in crate::check) fn tool_role(&mut self, tool: &ast::Tool, task: &ast::Task, names: &Names) -> Option<Role> {
        let by = tool.by.as_ref()?;
        self.names.clone_from(names);
        insert_setup(&mut self.names, &task.setup);
        for param in &tool.params {
            self.names.insert(param.name.value.as_str(), param.ty.clone());
        }
        let version = by.version.as_ref().map(|version| version.value.as_str().into());
        let player = match &by.does {
            ast::CallKind::Http(request) => {
                let call = self.request(request);
                let text = match &by.reply {
                    None => None,
                    Some(leaf) => Some(self.path(leaf)?),
                };
                let reply = text.map(|text| ReplyPaths { text, calls: None, context: None, done: None });
                let session = Session::Stateless;
                let http = HttpRole { call, reply, stream: false, session, resumable: true, version };
                Player::Http(Box::new(http))
            }
            ast::CallKind::Command(command) => {
                Player::Command(CommandRole { call: self::command(command), resumable: true, version })
            }
        };
        let origin = Origin::at(tool.name.span);
        Some(Role { name: aigo_ir::reuse::tool_role(&tool.name.value), player, origin })
    }

    /// A path; what is wrong with it is shown at its place in the text.
    fn path(&mut self, leaf: &Leaf) -> Option<Path> {
        let error = match Path::parse(&leaf.text) {
            Ok(path) => return Some(path),
            Err(error) => error,
        };
        let place = leaf.locate(self.sources, error.range);
        let message = format!("the path `{}` cannot be read: {}", leaf.text, error.message);
        let mut diagnostic = catalog::BAD_PATH.at(place, message).maybe_help(error.help);
        if let Some(text) = error.fix {
            diagnostic = diagnostic.fix("leave it out", place, text);
        }
        self.found.push(diagnostic);
        None
    }

    /// The calls of `setup` and of `teardown`. Each reads the replies of those before it.
    pub(in crate::check) fn calls(&mut self, task: &ast::Task, names: &Names) -> (Vec<Call>, Vec<Call>) {
        let mut setup = Vec::new();
        for (at, call) in task.setup.iter().enumerate() {
            self.names.clone_from(names);
            insert_setup(&mut self.names, task.setup.get(..at).unwrap_or_default());
            setup.push(self.call(call));
        }
        self.names.clone_from(names);
        insert_setup(&mut self.names, &task.setup);
        let teardown = task.teardown.iter().map(|call| self.call(call)).collect();
        self.names.clone_from(names);
        (setup, teardown)
    }

    fn call(&mut self, call: &ast::Call) -> Call {
        let does = match &call.does {
            ast::CallKind::Http(request) => CallKind::Http(self.request(request)),
            ast::CallKind::Command(command) => CallKind::Command(self::command(command)),
        };
        let name = call.name.as_ref().map(|name| name.value.as_str().into());
        Call { name, does, origin: Origin::at(call.span) }
    }
}

pub(super) fn command(command: &ast::Command) -> CommandCall {
    let env = command.env.iter().map(|(name, from)| (name.value.as_str().into(), from.value.as_str().into()));
    CommandCall {
        run: command.run.iter().map(|word| word.value.as_str().into()).collect(),
        env: env.collect(),
        timeout_ms: command.timeout_ms,
    }
}
