//! Where requests may go: by what the task writes of an address, and by the hosts that it allows.

use crate::role::HttpCall;
use crate::template;

impl HttpCall {
    /// The scheme and the host that the task itself writes, such as `https://localhost:8080`; none where what they are is
    /// only known when the address is rendered. A place to fill in that stands directly behind the host is a part of it:
    /// what is filled in could go on with it.
    pub fn origin(&self) -> Option<&str> {
        let source = &*self.url.source;
        let tag = template::tag_at(source, 0);
        let literal = source.get(..tag.unwrap_or(source.len()))?;
        let after = literal.find("://").map(|at| at + 3)?;
        let host = literal.get(after..)?;
        match host.find(['/', '\\', '?', '#']) {
            Some(end) => literal.get(..after + end),
            None if tag.is_none() => Some(literal),
            None => None,
        }
    }

    /// Whether the task allows a host, with its port where the address names one: `allow_hosts` names it with or without
    /// the port.
    pub fn allows(&self, host: &str, port: Option<u16>) -> bool {
        self.allow_hosts.iter().any(|allowed| {
            let (name, of) = split(allowed);
            name.eq_ignore_ascii_case(host) && (of.is_none() || of == port)
        })
    }
}

/// A host and its port, if it has one. An address of IPv6 stands in brackets.
fn split(allowed: &str) -> (&str, Option<u16>) {
    let found = allowed.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match found {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (allowed, None),
    }
}

/// Whether a text can stand among the hosts that are allowed: a name or an address, with or without a port, and nothing else.
pub fn is_host(text: &str) -> bool {
    let (host, _) = split(text);
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let (name, more): (&str, &[char]) = match inner {
        Some(inner) => (inner, &[':', '.']),
        None => (host, &['-', '.', '_']),
    };
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || more.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::HttpMethod;
    use crate::template::Template;

    fn to(url: &str, hosts: &[&str]) -> HttpCall {
        HttpCall {
            method: HttpMethod::Post,
            url: Template::new(url),
            headers: Vec::new(),
            body: None,
            allow_hosts: hosts.iter().map(|host| (*host).into()).collect(),
            timeout_ms: None,
        }
    }

    #[test]
    fn a_host_is_the_tasks_only_where_nothing_can_go_on_with_it() {
        let origins = [
            ("https://a.org/x", Some("https://a.org")),
            ("https://a.org", Some("https://a.org")),
            ("http://a.org:8080?q={{ q }}", Some("http://a.org:8080")),
            ("http://a.org/{{ path }}", Some("http://a.org")),
            ("http://a.org{{ path }}", None),
            ("http://{{ host }}/x", None),
            ("http://localhost:{{ port }}/x", None),
            ("{{ url }}", None),
        ];
        for (url, origin) in origins {
            assert_eq!(to(url, &[]).origin(), origin, "{url}");
        }
    }

    #[test]
    fn hosts_are_allowed_with_or_without_their_port() {
        let call = to("{{ url }}", &["a.org", "b.org:81", "[::1]:80", "[::2]"]);
        let asked = [("a.org", Some(5)), ("A.org", None), ("b.org", Some(81)), ("[::1]", Some(80)), ("[::2]", Some(9))];
        assert!(asked.iter().all(|(host, port)| call.allows(host, *port)));
        let refused =
            [("b.org", Some(80)), ("b.org", None), ("evil.a.org", None), ("[::1]", Some(81)), ("a.org.", None)];
        assert!(!refused.iter().any(|(host, port)| call.allows(host, *port)));
        assert!(["a.org", "a.org:80", "[::1]:80", "10.0.0.1"].iter().all(|host| is_host(host)));
        assert!(!["", "http://a.org", "a.org/x", "*", "a b", "{{ host }}"].iter().any(|host| is_host(host)));
    }
}
