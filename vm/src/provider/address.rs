//! Where requests may go. The host is the task's own, or one that it allows; never a link-local address, where machines in
//! clouds keep their secrets, by whatever name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use aigo_ir::program::HttpCall;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The host of an address as it was written, and the IP address that it is, if it is one.
fn host_of(url: &Url) -> Option<(&str, Option<IpAddr>)> {
    let host = url.host_str()?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some((host, inner.parse().ok()))
}

/// Reads a rendered address, and refuses it where it does not lead to where the task says. The message of a refusal stands
/// alone.
pub(super) fn checked(rendered: &str, call: &HttpCall) -> Result<Url, String> {
    let shown = || aigo_ir::text::excerpt(rendered, 120);
    let url = Url::parse(rendered.trim()).map_err(|error| format!("`{}` is no address: {error}", shown()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}` is not `http://` or `https://`", shown()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "an address with a name or a password in it: a secret goes into a header, as `{env: NAME}`".to_owned()
        );
    }
    let Some((host, ip)) = host_of(&url) else { return Err(format!("`{}` has no host", shown())) };
    match call.origin() {
        Some(own) => {
            let own = Url::parse(own).map_err(|error| format!("`{own}` is no address: {error}"))?;
            if own.origin() != url.origin() {
                return Err(format!("the address leads to `{host}`, and the task names `{}`", own.authority()));
            }
        }
        None if !call.allows(host, url.port_or_known_default()) => {
            return Err(format!("the address leads to `{}`, which `allow_hosts` does not name", url.authority()));
        }
        None => {}
    }
    if ip.is_some_and(is_link_local) {
        return Err(format!("the address leads to `{host}`, which is link-local: nothing is sent there"));
    }
    Ok(url)
}

/// Whether an address that the task writes has a link-local one for its host.
pub(super) fn leads_to_link_local(address: &str) -> bool {
    let ip = Url::parse(address).ok().and_then(|url| host_of(&url)?.1);
    ip.is_some_and(is_link_local)
}

/// Whether an address is link-local, also where it is written as one of IPv6: `169.254.0.0/16` and `fe80::/10`, and the one
/// address beyond them under which machines are told of themselves, `fd00:ec2::254`.
fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => {
            let segments = ip.segments();
            let embedded = ip.to_ipv4().is_some_and(|ip| ip.is_link_local());
            // 64:ff9b::/96 is IPv4 behind a translator.
            let translated = matches!(segments, [0x64, 0xff9b, 0, 0, 0, 0, high, _] if high == 0xa9fe);
            ip.is_unicast_link_local() || embedded || translated || segments == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]
        }
    }
}

/// Resolves names, and leaves out what is link-local. What is connected to is what was looked at: a name that means
/// something else a moment later is asked for anew, and looked at anew.
pub(super) struct Guarded;

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = allowed(name.as_str(), found)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// A resolver for the clients.
pub(super) fn resolver() -> Arc<Guarded> {
    Arc::new(Guarded)
}

/// The addresses of a name without those that are link-local.
fn allowed(name: &str, found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, String> {
    let (refused, allowed): (Vec<_>, Vec<_>) = found.partition(|address| is_link_local(address.ip()));
    if allowed.is_empty() && !refused.is_empty() {
        return Err(format!("`{name}` leads to a link-local address, where nothing is sent"));
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aigo_ir::program::HttpMethod;
    use aigo_ir::template::Template;

    fn call(url: &str, hosts: &[&str]) -> HttpCall {
        HttpCall {
            method: HttpMethod::Post,
            url: Template::new(url),
            headers: Vec::new(),
            body: None,
            allow_hosts: hosts.iter().map(|host| (*host).into()).collect(),
            timeout_ms: None,
        }
    }

    /// What values of a row could make of an address that has its own host, and of one that has not.
    #[test]
    fn an_address_that_leads_elsewhere_is_refused() {
        let own = call("http://app.test:8080/chat/{{ x }}", &[]);
        assert!(checked("http://app.test:8080/chat/../admin", &own).is_ok());
        for stolen in
            ["http://app.test:8080@evil.test/", "http://evil.test:8080/", "https://app.test:8080/", "http://app.test/"]
        {
            assert!(checked(stolen, &own).is_err(), "{stolen}");
        }
        let listed = call("{{ url }}", &["good.test", "other.test:81"]);
        assert!(checked("https://good.test/x", &listed).is_ok() && checked("http://other.test:81/", &listed).is_ok());
        for stolen in [
            "http://evil.test/",
            "http://good.test.evil.test/",
            "http://good.test@evil.test/",
            "http://evil.test\\@good.test/",
            "http://other.test:82/",
            "ftp://good.test/",
            "file:///etc/passwd",
            "http://user:pass@good.test/",
            "no address",
            "",
        ] {
            assert!(checked(stolen, &listed).is_err(), "{stolen}");
        }
    }

    #[test]
    fn link_local_addresses_are_refused_in_every_spelling() {
        for url in [
            "http://169.254.169.254/latest/meta-data",
            "http://0xa9fea9fe/",
            "http://2852039166/",
            "http://0251.0376.0251.0376/",
            "http://[::ffff:169.254.169.254]/",
            "http://[fe80::1]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
        ] {
            let said = checked(url, &call(url, &[])).unwrap_err();
            assert!(said.contains("link-local"), "{url}: {said}");
        }
        assert!(checked("http://127.0.0.1/", &call("http://127.0.0.1/", &[])).is_ok());
    }

    /// A name can be made to mean anything: what it means is looked at, and not what it is called.
    #[test]
    fn names_that_lead_to_link_local_addresses_are_refused_after_they_were_resolved() {
        let address = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 80);
        let (bad, good) = (address("169.254.169.254"), address("10.0.0.1"));
        assert_eq!(allowed("a.test", [bad, good].into_iter()).unwrap(), [good]);
        assert!(allowed("a.test", [bad, address("fe80::1")].into_iter()).unwrap_err().contains("link-local"));
        assert_eq!(allowed("a.test", [].into_iter()).unwrap(), []);
    }
}
