//! Applications behind HTTP, programs, and calls before and after a sample.

use aigo_ir::program::HttpMethod;
use aigo_ir::span::Spanned;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader};
use super::is_variable;
use crate::ast::{Call, CallKind, Command, Header, HeaderValue, Http, Leaf, Reply, Request, Session, ToolBy};
use crate::catalog;
use crate::shape;

/// Headers that aigo sets itself.
const OWN_HEADERS: [(&str, &str); 4] = [
    ("content-length", "remove it"),
    ("host", "remove it"),
    ("connection", "remove it"),
    ("transfer-encoding", "remove it"),
];

/// How the names of headers end whose value is a secret.
const SECRET_HEADERS: [&str; 7] = ["authorization", "api-key", "apikey", "token", "secret", "password", "cookie"];

impl Reader<'_> {
    /// The application of `http`; `version` and `timeout` may stand beside the verb or in its map.
    pub(super) fn http_role(&mut self, role: &Fields<'_>, node: NodeRef<'_>) -> Option<Http> {
        let fields = self.map(node, &shape::HTTP)?;
        for key in ["version", "timeout"] {
            if fields.node.get(key).is_some() && role.node.get(key).is_some() {
                let message = format!("`{key}` stands beside `http` and in it");
                let diagnostic = catalog::BAD_VALUE.at(role.key_span(key), message);
                self.report(diagnostic.related(fields.key_span(key), "here too").help("remove one of them"));
            }
        }
        let version = fields.get("version").or_else(|| role.get("version"));
        let version = version.and_then(|node| self.version_of(node));
        let timeout = fields.get("timeout").or_else(|| role.get("timeout"));
        let request = self.request(&fields, timeout);
        let reply = match fields.get("reply") {
            None => None,
            Some(node) => Some(self.reply(node)?),
        };
        let stream = fields.get("stream").is_some_and(|node| self.flag(node, "stream").unwrap_or_default());
        let session = fields.get("session").map_or(Some(Session::Stateless), |node| self.session(node));
        let resumable = role.get("resumable").is_some_and(|node| self.flag(node, "resumable").unwrap_or_default());
        Some(Http { request: request?, reply, stream, session: session?, version, resumable })
    }

    pub(super) fn flag(&mut self, node: NodeRef<'_>, what: &str) -> Option<bool> {
        if let Some(aigo_ir::value::Value::Bool(found)) = node.value() {
            return Some(found);
        }
        self.wrong_kind(node, &format!("`{what}`"), "`true` or `false`");
        None
    }

    /// The request of an application or of a call: the keys that both constructs have.
    fn request(&mut self, fields: &Fields<'_>, timeout: Option<NodeRef<'_>>) -> Option<Request> {
        let url = self.required(fields, "url").and_then(|node| self.url(node));
        let methods = HttpMethod::ALL.map(|method| (method.word(), method));
        let written = fields.get("method");
        let method = written.map_or(Some(HttpMethod::Post), |node| self.one_of(node, "method", &methods));
        let headers = fields.get("headers").map(|node| self.headers(node, &OWN_HEADERS)).unwrap_or_default();
        let body = match fields.get("body") {
            None => None,
            Some(node) => Some(self.tree(node)?),
        };
        if let (Some(HttpMethod::Get), Some(_)) = (method, &body) {
            let message = "a `GET` sends no body";
            self.report(
                catalog::BAD_VALUE.at(fields.key_span("body"), message).help("remove it, or write `method: POST`"),
            );
        }
        let timeout_ms = timeout.and_then(|node| self.duration_ms(node, "timeout"));
        let allow_hosts = fields.get("allow_hosts").map(|node| self.hosts(node)).unwrap_or_default();
        Some(Request { method: method?, url: url?, headers, body, allow_hosts, timeout_ms })
    }

    /// The hosts that a request may go to.
    fn hosts(&mut self, node: NodeRef<'_>) -> Vec<String> {
        let items = self.items(node, "allow_hosts", "hosts: `host` or `host:port`");
        let mut found = Vec::new();
        for item in items {
            let Some(host) = self.text(item, "a host") else { continue };
            if !aigo_ir::address::is_host(&host.value) {
                let message = format!("`{}` is no host", host.value);
                let help = "write a name or an address, with its port if only that is meant: `api.example.org:8443`";
                self.report(catalog::BAD_VALUE.at(host.span, message).help(help));
                continue;
            }
            found.push(host.value);
        }
        found
    }

    fn url(&mut self, node: NodeRef<'_>) -> Option<Leaf> {
        let leaf = self.leaf(node, "url")?;
        let text = leaf.text.trim();
        if !["http://", "https://", "{{", "{%"].iter().any(|start| text.starts_with(start)) {
            let message = format!("`url` is `{}`, and must begin with `http://` or `https://`", leaf.text);
            let help = "write the whole address, such as `https://localhost:8080/chat`";
            self.report(catalog::BAD_VALUE.at(leaf.span, message).help(help));
            return None;
        }
        Some(leaf)
    }

    /// Headers: each a text or a secret.
    pub(super) fn headers(&mut self, node: NodeRef<'_>, own: &[(&str, &str)]) -> Vec<Header> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`headers`", "a map of headers");
        }
        let mut found: Vec<Header> = Vec::new();
        for entry in node.entries().filter(|entry| !entry.value.is_error()) {
            let name = entry.key.map(str::to_ascii_lowercase);
            let first = found.iter().find(|known| known.name.value == name.value).map(|known| known.name.span);
            if let Some((_, help)) = own.iter().find(|(own, _)| *own == name.value) {
                let message = format!("the header `{}` is aigo's own", name.value);
                self.report(catalog::BAD_VALUE.at(name.span, message).help(*help));
            } else if let Some(first) = first {
                let message = format!("the header `{}` is given twice: upper and lower case are one", name.value);
                let diagnostic = catalog::NAME_TWICE.at(name.span, message);
                self.report(diagnostic.related(first, "the first").help("remove one of them"));
            } else if !is_header(&name.value) {
                let message = format!("`{}` cannot be the name of a header", name.value);
                let help = "a header's name has letters, digits and `-`";
                self.report(catalog::BAD_VALUE.at(name.span, message).help(help));
            } else if let Some(value) = self.header(entry.value, &name.value) {
                found.push(Header { name, value });
            }
        }
        found
    }

    fn header(&mut self, node: NodeRef<'_>, name: &str) -> Option<HeaderValue> {
        if !matches!(node.kind(), NodeKind::Scalar(_)) {
            let fields = self.map(node, &shape::HEADER)?;
            let variable = self.required(&fields, "env").and_then(|node| self.variable(node));
            let prefix = fields.get("prefix").and_then(|node| self.text(node, "prefix"));
            let prefix = prefix.map(|text| text.value).unwrap_or_default();
            return Some(HeaderValue::Env(variable?, prefix));
        }
        let leaf = self.leaf(node, name)?;
        let secret = SECRET_HEADERS.iter().any(|end| name.ends_with(end));
        if secret && !leaf.text.contains("{{") && !leaf.text.trim().is_empty() {
            let message = format!("the header `{name}` holds a secret, and a secret must not stand in a task");
            let help = format!(
                "write `{name}: {{env: NAME}}`, with `prefix: \"Bearer \"` where one is due, and set NAME in the environment"
            );
            self.report(catalog::SECRET_IN_TASK.at(leaf.span, message).help(help));
            return None;
        }
        if leaf.text.contains(['\n', '\r']) {
            let message = format!("the header `{name}` has more than one line");
            self.report(catalog::BAD_VALUE.at(leaf.span, message).help("write it on one line, without `|` or `>`"));
            return None;
        }
        Some(HeaderValue::Text(leaf))
    }

    /// The paths of a reply; a text is the path of its text.
    fn reply(&mut self, node: NodeRef<'_>) -> Option<Reply> {
        if node.as_str().is_some() {
            return Some(Reply { text: self.path(node, "reply")?, calls: None, context: None, done: None });
        }
        let fields = self.map(node, &shape::REPLY)?;
        let text = self.required(&fields, "text").and_then(|node| self.path(node, "text"));
        let mut other = |key: &str| fields.get(key).and_then(|node| self.path(node, key));
        let (calls, context, done) = (other("calls"), other("context"), other("done"));
        Some(Reply { text: text?, calls, context, done })
    }

    /// A path, which is read when names are checked.
    fn path(&mut self, node: NodeRef<'_>, what: &str) -> Option<Leaf> {
        self.text(node, what)?;
        self.leaf(node, what)
    }

    fn session(&mut self, node: NodeRef<'_>) -> Option<Session> {
        const KINDS: [(&str, bool); 2] = [("stateless", false), ("sticky", true)];
        if node.as_str().is_some() {
            let sticky = self.one_of(node, "session", &KINDS)?;
            return Some(if sticky { Session::Client } else { Session::Stateless });
        }
        let fields = self.map(node, &shape::SESSION)?;
        let sticky = self.required(&fields, "kind").and_then(|node| self.one_of(node, "kind", &KINDS))?;
        let creators = [("client", false), ("server", true)];
        let server = fields.get("created_by").map_or(Some(false), |node| self.one_of(node, "created_by", &creators))?;
        let id = fields.get("id");
        if !sticky {
            for key in ["created_by", "id"].into_iter().filter(|key| fields.node.get(key).is_some()) {
                let message = format!("`{key}` means nothing for a stateless session");
                self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help("remove it"));
            }
            return Some(Session::Stateless);
        }
        match (server, id) {
            (true, Some(node)) => self.path(node, "id").map(Session::Server),
            (true, None) => {
                let message = "a session that the server makes needs `id`";
                let help = "write where its first reply has the id: `id: session.id`";
                self.report(catalog::MISSING_KEY.at(fields.key_span("created_by"), message).help(help));
                None
            }
            (false, Some(_)) => {
                let message =
                    "`id` is where a server's reply has the id that it made, and this session's id is made by aigo";
                let help = "remove it, or write `created_by: server`";
                self.report(catalog::BAD_VALUE.at(fields.key_span("id"), message).help(help));
                None
            }
            (false, None) => Some(Session::Client),
        }
    }

    /// `command: [program, arg, …]`; `timeout` and `env` stand beside it.
    pub(super) fn command(&mut self, beside: &Fields<'_>, node: NodeRef<'_>) -> Option<Command> {
        if node.as_str().is_some() {
            let message = "`command` is a list: the program, then each argument; there is no shell";
            let words: Vec<&str> = node.as_str().unwrap_or_default().split_whitespace().collect();
            let help = format!("write `command: [{}]`", words.join(", "));
            self.report(catalog::WRONG_KIND.at(node.site(), message).help(help));
            return None;
        }
        let items = self.items(node, "command", "texts: the program and its arguments");
        let count = items.len();
        let run: Vec<Spanned<String>> = items
            .into_iter()
            .filter_map(|item| self.leaf(item, "command"))
            .map(|leaf| Spanned::new(leaf.text, leaf.span))
            .collect();
        let empty = run.first().is_none_or(|program| program.value.trim().is_empty());
        if empty && matches!(node.kind(), NodeKind::List(_)) && !node.is_incomplete() && run.len() == count {
            let help = "write `command: [python3, app.py]`";
            self.report(catalog::BAD_VALUE.at(node.site(), "`command` names no program").help(help));
        }
        for word in run.iter().filter(|word| word.value.contains("{{") || word.value.contains("{%")) {
            let message = "the program and its arguments are no templates: nothing is rendered in them";
            let help = "write it plain; a role is told of the sample on its input, and a call of `setup` by `env`";
            self.report(catalog::BAD_VALUE.at(word.span, message).help(help));
        }
        let timeout_ms = beside.get("timeout").and_then(|node| self.duration_ms(node, "timeout"));
        let env = beside.get("env").map(|node| self.environment(node)).unwrap_or_default();
        (!empty && run.len() == count).then_some(Command { run, env, timeout_ms, resumable: false })
    }

    fn environment(&mut self, node: NodeRef<'_>) -> Vec<(Spanned<String>, Spanned<String>)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`env`", "a map of variables, each `{env: NAME}`");
        }
        let mut found = Vec::new();
        for entry in node.entries().filter(|entry| !entry.value.is_error()) {
            let name = entry.key.map(str::to_owned);
            let from = self.secret(entry.value, &name.value);
            if !is_variable(&name.value) {
                let message = format!("`{}` cannot be the name of an environment variable", name.value);
                let help = "such a name has letters, digits and `_`";
                self.report(catalog::BAD_VALUE.at(name.span, message).help(help));
                continue;
            }
            found.extend(from.map(|from| (name, from)));
        }
        found
    }

    /// The calls of `setup` or `teardown`.
    pub(in crate::parse) fn calls(&mut self, node: NodeRef<'_>, when: &'static str) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        for item in self.items(node, when, "calls: `http` or `command`") {
            let Some(call) = self.without_secrets(item, |reader| reader.call(item, when)) else { continue };
            if let Some(name) = &call.name
                && let Some(first) =
                    calls.iter().filter_map(|call| call.name.as_ref()).find(|first| first.value == name.value)
            {
                let message = format!("a second call is called `{}`", name.value);
                let diagnostic = catalog::NAME_TWICE.at(name.span, message).related(first.span, "the first");
                self.report(diagnostic.help("choose another name"));
                continue;
            }
            calls.push(call);
        }
        calls
    }

    /// Who answers a tool in the place of rules: `http` or `command`, and what stands beside it.
    pub(in crate::parse) fn tool_by(&mut self, fields: &Fields<'_>) -> Option<ToolBy> {
        let has = |key: &str| fields.node.get(key).is_some();
        let verb = ["http", "command"].into_iter().find(|verb| has(verb));
        let idle: &[&str] = match verb {
            Some("http") => &["command", "env", "require", "set", "returns", "fail", "ends"],
            Some(_) => &["reply", "require", "set", "returns", "fail", "ends"],
            None => &["reply", "env", "timeout", "version", "idempotent"],
        };
        for key in idle.iter().filter(|key| has(key)) {
            let message = match verb {
                Some(verb) => format!("`{key}` means nothing beside `{verb}`, which answers the tool's calls"),
                None => format!("`{key}` means nothing for a tool that rules answer"),
            };
            let help = if verb.is_some() { "remove it" } else { "remove it, or let `http` or `command` answer" };
            self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help(help));
        }
        let does = match verb? {
            "http" => {
                let inner = self.map(fields.get("http")?, &shape::REQUEST)?;
                CallKind::Http(Box::new(self.request(&inner, fields.get("timeout"))?))
            }
            _ => CallKind::Command(self.command(fields, fields.get("command")?)?),
        };
        let reply = fields.get("reply").and_then(|node| self.path(node, "reply"));
        let version = fields.get("version").and_then(|node| self.version_of(node));
        let idempotent = fields.get("idempotent").is_some_and(|node| self.flag(node, "idempotent").unwrap_or_default());
        Some(ToolBy { does, reply, version, idempotent })
    }

    fn call(&mut self, node: NodeRef<'_>, when: &str) -> Option<Call> {
        let fields = self.map(node, &shape::CALL)?;
        let (verb, value) = self.verb(&fields)?;
        let name = fields.get("as").and_then(|node| self.name(node, "as"));
        if when == "teardown" && fields.node.get("as").is_some() {
            let message = "`as` means nothing in `teardown`: nothing comes after it that could read the reply";
            self.report(catalog::BAD_VALUE.at(fields.key_span("as"), message).help("remove it"));
        }
        let does = if verb.value == "http" {
            if fields.node.get("env").is_some() {
                let message = "`env` means nothing beside `http`";
                let help = "a header takes a secret as `{env: NAME}`";
                self.report(catalog::BAD_VALUE.at(fields.key_span("env"), message).help(help));
            }
            let inner = self.map(value, &shape::REQUEST)?;
            CallKind::Http(Box::new(self.request(&inner, fields.get("timeout"))?))
        } else {
            CallKind::Command(self.command(&fields, value)?)
        };
        Some(Call { name, does, span: verb.span })
    }
}

fn is_header(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
