//! Tools.

use super::Printer;
use crate::lines::Line;
use crate::program::{Tool, ToolAnswer};

impl Printer<'_> {
    pub(super) fn tool(&mut self, tool: &Tool) {
        let rules = match &tool.answer {
            ToolAnswer::Role(role) if tool.description.is_empty() && tool.params.is_empty() && !tool.idempotent => {
                return self.line(Line::new(0, "tool").text(&tool.name).pair("role", role));
            }
            ToolAnswer::Role(role) => {
                self.described(tool);
                self.line(Line::new(1, "role").text(role));
                if tool.idempotent {
                    self.line(&Line::new(1, "idempotent"));
                }
                return self.close(0);
            }
            ToolAnswer::Rules(rules) => rules,
        };
        self.described(tool);
        if let Some(require) = &rules.require {
            self.line(Line::new(1, "require").text(&require.to_string()));
        }
        for (path, value) in &rules.set {
            self.line(Line::new(1, "set").text(&path.to_string()).pair("to", &value.to_string()));
        }
        if let Some(returns) = &rules.returns {
            self.line(Line::new(1, "returns").text(&returns.to_string()));
        }
        if let Some((on_call, error)) = &rules.fail {
            self.line(Line::new(1, "fail").pair_word("on_call", on_call).pair("error", error));
        }
        if let Some(ending) = rules.ends {
            self.line(Line::new(1, "ends").word(ending.word()));
        }
        self.close(0);
    }

    /// Opens a tool, with what is said of it however it is answered.
    fn described(&mut self, tool: &Tool) {
        self.out.push('\n');
        self.open(Line::new(0, "tool").text(&tool.name));
        if !tool.description.is_empty() {
            self.line(Line::new(1, "description").text(&tool.description));
        }
        for param in &tool.params {
            let mut line = Line::new(1, "param");
            line.text(&param.name).pair("type", &param.ty.to_string());
            if let Some(default) = &param.default {
                line.pair_value("default", default);
            }
            self.line(&line);
        }
    }
}
