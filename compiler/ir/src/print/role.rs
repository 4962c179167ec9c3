//! Roles and their rules, calls before and after a sample, limits.

use super::Printer;
use crate::lines::Line;
use crate::program::{
    Answer, Call, CallKind, ChatModel, CommandCall, Header, HeaderValue, HttpCall, HttpRole, Limits, Player, Role,
    Rule, Session, Structured,
};
use crate::value::Value;

impl Printer<'_> {
    pub(super) fn role(&mut self, role: &Role) {
        let mut line = Line::new(0, "role");
        line.text(&role.name);
        match &role.player {
            Player::Scripted(rules) => {
                self.open(line.word("scripted"));
                for rule in rules {
                    self.rule(rule);
                }
            }
            Player::Chat(model) => {
                self.open(line.word("chat"));
                self.model(model);
            }
            Player::Http(role) => {
                self.open(line.word("http"));
                self.http_role(role);
            }
            Player::Command(role) => {
                self.open(line.word("command"));
                self.command(&role.call);
                self.resumable(role.resumable);
                self.version(role.version.as_deref());
            }
        }
        self.close(0);
    }

    fn rule(&mut self, rule: &Rule) {
        let mut line = Line::new(1, "rule");
        if let Some(when) = &rule.when {
            line.pair("when", &when.to_string());
        }
        let status_of = |line: &mut Line, status: &Option<_>| {
            if let Some(status) = status {
                line.pair_word("status", status);
            }
        };
        let mut choices: &[_] = &[];
        match &rule.answer {
            Answer::Say { text, status } => {
                line.pair("say", &text.source);
                status_of(&mut line, status);
            }
            Answer::AnyOf { texts, status } => {
                line.word("any_of");
                status_of(&mut line, status);
                choices = texts;
            }
            Answer::Verdict(shape) => {
                line.pair_value("verdict", shape);
            }
            Answer::Fault(fault) => {
                line.pair_word("fault", fault.word());
            }
        }
        let has_block =
            matches!(rule.answer, Answer::AnyOf { .. }) || !rule.calls.is_empty() || !rule.context.is_empty();
        if !has_block {
            return self.line(&line);
        }
        self.open(&mut line);
        for (text, weight) in choices {
            self.line(Line::new(2, "choice").text(&text.source).pair_word("weight", weight));
        }
        for call in &rule.calls {
            self.line(Line::new(2, "call").text(&call.name).pair_value("args", &call.args));
        }
        for chunk in &rule.context {
            self.line(Line::new(2, "chunk").text(&chunk.source));
        }
        self.close(1);
    }

    fn model(&mut self, model: &ChatModel) {
        let mut line = Line::new(1, "model");
        line.text(&model.model).pair_word("dialect", model.dialect.word()).pair("endpoint", &model.endpoint);
        line.pair("base_url", &model.base_url);
        if let Some(name) = &model.api_key {
            line.pair("api_key", name);
        }
        timeout(&mut line, model.timeout_ms);
        if let Some(stream) = model.stream {
            line.pair_word("stream", stream);
        }
        if model.structured != Structured::default() {
            line.pair_word("structured", model.structured.word());
        }
        self.line(&line);
        self.headers(&model.headers);
        for (name, value) in &model.parameters {
            self.line(Line::new(1, "parameter").text(name).word(&format!("@{}", value.to_json())));
        }
        if let Some(price) = &model.price {
            let mut line = Line::new(1, "price");
            line.pair_number("input", price.input).pair_number("output", price.output);
            if let Some(cached) = price.cached_input {
                line.pair_number("cached_input", cached);
            }
            self.line(&line);
        }
    }

    fn headers(&mut self, headers: &[Header]) {
        for header in headers {
            let mut line = Line::new(1, "header");
            line.text(&header.name);
            match &header.value {
                HeaderValue::Text(text) => {
                    line.pair("say", &text.source);
                }
                HeaderValue::Env { name, prefix } => {
                    line.pair("env", name);
                    if !prefix.is_empty() {
                        line.pair("prefix", prefix);
                    }
                }
            }
            self.line(&line);
        }
    }

    fn http(&mut self, call: &HttpCall) {
        let mut line = Line::new(1, "request");
        line.word(call.method.word()).pair("url", &call.url.source);
        timeout(&mut line, call.timeout_ms);
        self.line(&line);
        if !call.allow_hosts.is_empty() {
            let hosts = Value::list(call.allow_hosts.iter().cloned().map(Value::Str).collect());
            self.line(Line::new(1, "allow_hosts").word(&format!("@{}", hosts.to_json())));
        }
        self.headers(&call.headers);
        if let Some(body) = &call.body {
            self.line(Line::new(1, "body").word(&format!("@{}", body.to_json())));
        }
    }

    fn http_role(&mut self, role: &HttpRole) {
        self.http(&role.call);
        if let Some(reply) = &role.reply {
            let mut line = Line::new(1, "reply");
            line.pair("text", &reply.text.to_string());
            for (key, path) in [("calls", &reply.calls), ("context", &reply.context), ("done", &reply.done)] {
                if let Some(path) = path {
                    line.pair(key, &path.to_string());
                }
            }
            self.line(&line);
        }
        if role.stream {
            self.line(&Line::new(1, "stream"));
        }
        match &role.session {
            Session::Stateless => {}
            Session::Client => self.line(Line::new(1, "session").word("client")),
            Session::Server { id } => self.line(Line::new(1, "session").word("server").pair("id", &id.to_string())),
        }
        self.resumable(role.resumable);
        self.version(role.version.as_deref());
    }

    fn resumable(&mut self, resumable: bool) {
        if resumable {
            self.line(&Line::new(1, "resumable"));
        }
    }

    fn version(&mut self, version: Option<&str>) {
        if let Some(version) = version {
            self.line(Line::new(1, "version").text(version));
        }
    }

    fn command(&mut self, call: &CommandCall) {
        let run = Value::list(call.run.iter().cloned().map(Value::Str).collect());
        let mut line = Line::new(1, "run");
        line.word(&format!("@{}", run.to_json()));
        timeout(&mut line, call.timeout_ms);
        self.line(&line);
        for (name, from) in &call.env {
            self.line(Line::new(1, "env").text(name).pair("from", from));
        }
    }

    pub(super) fn calls(&mut self, when: &str, calls: &[Call]) {
        for call in calls {
            self.out.push('\n');
            let mut line = Line::new(0, when);
            let word = match &call.does {
                CallKind::Http(_) => "http",
                CallKind::Command(_) => "command",
            };
            line.word(word);
            if let Some(name) = &call.name {
                line.pair("as", name);
            }
            self.open(&mut line);
            match &call.does {
                CallKind::Http(call) => self.http(call),
                CallKind::Command(call) => self.command(call),
            }
            self.close(0);
        }
    }

    pub(super) fn limits(&mut self, limits: &Limits) {
        let sample = &limits.sample;
        self.limit_line("limits", &[("calls", limits.calls), ("time_s", limits.time_s)], limits.cost_usd);
        let counts =
            [("calls", sample.calls), ("tokens", sample.tokens), ("turns", sample.turns), ("time_s", sample.time_s)];
        self.limit_line("sample_limits", &counts, sample.cost_usd);
    }

    fn limit_line(&mut self, word: &str, counts: &[(&str, Option<u64>)], cost_usd: Option<f64>) {
        let mut line = Line::new(1, word);
        for (key, count) in counts {
            if let Some(count) = count {
                line.pair_word(key, count);
            }
        }
        if let Some(cost) = cost_usd {
            line.pair_number("cost_usd", cost);
        }
        if cost_usd.is_some() || counts.iter().any(|(_, count)| count.is_some()) {
            self.line(&line);
        }
    }
}

fn timeout(line: &mut Line, timeout_ms: Option<u64>) {
    if let Some(timeout_ms) = timeout_ms {
        line.pair_word("timeout_ms", timeout_ms);
    }
}
