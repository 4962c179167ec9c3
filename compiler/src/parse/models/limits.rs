//! Limits, money and durations.

use aigo_ir::program::SampleLimits;
use aigo_ir::span::Origin;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::Reader;
use crate::ast::Limits;
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(in crate::parse) fn limits(&mut self, node: NodeRef<'_>) -> Limits {
        let mut limits = Limits::default();
        limits.values.origin = Origin::at(node.site());
        let Some(fields) = self.map(node, &shape::LIMITS) else { return limits };
        let values = &mut limits.values;
        values.calls = fields.get("calls").and_then(|node| self.at_least_one(node, "calls"));
        values.time_s = fields.get("time").and_then(|node| self.duration(node, "time"));
        values.cost_usd = fields.get("cost").and_then(|node| self.money(node, "cost"));
        if values.cost_usd.is_some() {
            limits.costs.push(fields.key_span("cost"));
        }
        let Some(fields) = fields.get("sample").and_then(|node| self.map(node, &shape::SAMPLE_LIMITS)) else {
            return limits;
        };
        limits.values.sample = SampleLimits {
            calls: fields.get("calls").and_then(|node| self.at_least_one(node, "calls")),
            tokens: fields.get("tokens").and_then(|node| self.at_least_one(node, "tokens")),
            turns: fields.get("turns").and_then(|node| self.at_least_one(node, "turns")),
            time_s: fields.get("time").and_then(|node| self.duration(node, "time")),
            cost_usd: fields.get("cost").and_then(|node| self.money(node, "cost")),
        };
        if limits.values.sample.cost_usd.is_some() {
            limits.costs.push(fields.key_span("cost"));
        }
        limits
    }

    fn at_least_one(&mut self, node: NodeRef<'_>, what: &str) -> Option<u64> {
        self.whole(node, what, 1, i64::MAX).map(i64::unsigned_abs)
    }

    /// `25 USD`, in USD.
    fn money(&mut self, node: NodeRef<'_>, what: &str) -> Option<f64> {
        let Some(text) = node.scalar_text().filter(|_| !node.is_implicit()) else {
            self.wrong_kind(node, &format!("`{what}`"), "an amount such as `25 USD`");
            return None;
        };
        let text = text.trim();
        let amount = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let (number, currency) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let currency = currency.trim();
        if plain(number)
            && currency == "USD"
            && let Some(usd) = amount(number)
        {
            return Some(usd);
        }
        let bare = text.strip_prefix('$').or_else(|| text.strip_suffix('$')).map_or(text, str::trim);
        let bare =
            bare.strip_suffix("USD").or_else(|| bare.strip_suffix("usd")).or_else(|| bare.strip_suffix("dollars"));
        let bare = bare.unwrap_or_else(|| text.trim_matches('$')).trim();
        let diagnostic = if plain(bare) && amount(bare).is_some() {
            let message = format!("`{what}` is `{text}`, and an amount is written with its currency behind it");
            let diagnostic = catalog::BAD_VALUE.at(node.site(), message).help(format!("write `{bare} USD`"));
            diagnostic.fix(format!("write `{bare} USD`"), node.site(), format!("{bare} USD"))
        } else if plain(number) && !currency.is_empty() && amount(number).is_some() {
            let message = format!("`{what}` is in `{currency}`, and prices are in USD");
            catalog::BAD_VALUE.at(node.site(), message).help("convert it: `25 USD`")
        } else {
            let message = format!("`{what}` is `{text}`, and must be an amount above zero such as `25 USD`");
            catalog::BAD_VALUE.at(node.site(), message).help("write a number, a blank and `USD`")
        };
        self.report(diagnostic);
        None
    }

    /// `90s`, `60m`, `2h`, in seconds.
    pub(in crate::parse) fn duration(&mut self, node: NodeRef<'_>, what: &str) -> Option<u64> {
        let found = self.duration_ms(node, what)?;
        if found % 1000 != 0 {
            let message = format!("`{what}` is {found} ms, and must be whole seconds");
            self.report(
                catalog::BAD_VALUE.at(node.site(), message).help("write a duration such as `90s`, `60m`, `2h`"),
            );
            return None;
        }
        Some(found / 1000)
    }

    /// `500ms`, `90s`, `5m`, `2h`, in milliseconds.
    pub(in crate::parse) fn duration_ms(&mut self, node: NodeRef<'_>, what: &str) -> Option<u64> {
        if let Some(Value::Int(n)) = node.value() {
            let message = format!("`{what}` is {n}, and a duration has a unit");
            let diagnostic = catalog::BAD_VALUE.at(node.site(), message).help(format!("write `{n}s` for seconds"));
            self.report(diagnostic);
            return None;
        }
        if !matches!(node.kind(), NodeKind::Scalar(_)) || node.as_str().is_none() {
            self.wrong_kind(node, &format!("`{what}`"), "a duration such as `500ms`, `90s`, `5m`");
            return None;
        }
        let text = node.as_str().unwrap_or_default();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(digits).unwrap_or_default();
        let scales = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
        let scale = scales.into_iter().find(|(name, _)| *name == unit).map(|(_, scale)| scale);
        let found = scale.and_then(|scale| number.parse::<u64>().ok()?.checked_mul(scale)).filter(|ms| *ms > 0);
        if found.is_none() {
            let message = format!("`{what}` is `{text}`, and must be a duration such as `500ms`, `90s`, `5m`, `2h`");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write a whole number and its unit"));
        }
        found
    }
}
