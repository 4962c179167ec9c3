//! Secrets are taken out of whatever comes back, before anything else sees it: servers echo headers, and quote keys in refusals.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Reply;
use crate::fault::Fault;

/// A shorter one could be a word, and taking it out would change what was said.
const LEAST: usize = 12;

/// The forms of secrets that are looked for, and what is put in their place.
#[derive(Clone, Default)]
pub(super) struct Redactor(Vec<(String, String)>);

impl Redactor {
    /// Of secrets, each with the name of its variable.
    pub(super) fn new(secrets: impl Iterator<Item = (String, String)>) -> Self {
        let mut forms: Vec<(String, String)> = Vec::new();
        for (secret, name) in secrets.filter(|(secret, _)| secret.len() >= LEAST) {
            let name = format!("{{{{secret:{name}}}}}");
            let encoded = (0..3).flat_map(|offset| {
                let plain = base64(secret.as_bytes(), offset);
                let for_addresses = plain.replace('+', "-").replace('/', "_");
                [plain, for_addresses]
            });
            for form in [secret.clone(), percent(&secret)].into_iter().chain(encoded) {
                if form.len() >= LEAST && !forms.iter().any(|(known, _)| *known == form) {
                    forms.push((form, name.clone()));
                }
            }
        }
        // A secret that is a part of another must not hide that one.
        forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        Self(forms)
    }

    /// Takes them out of a reply or a fault.
    pub(super) fn clean(&self, outcome: &mut Result<Reply, Fault>) {
        if self.0.is_empty() {
            return;
        }
        let shared = |text: &mut Arc<str>| {
            if let Some(clean) = self.cleaned(text) {
                *text = clean.into();
            }
        };
        match outcome {
            Ok(reply) => {
                shared(&mut reply.answer.text);
                reply.answer.context.iter_mut().for_each(shared);
                for call in &mut reply.answer.calls {
                    [&mut call.id, &mut call.tool, &mut call.arguments].into_iter().for_each(shared);
                }
                if let Some(clean) = reply.model.as_deref().and_then(|model| self.cleaned(model)) {
                    reply.model = Some(clean);
                }
            }
            Err(fault) => {
                if let Some(clean) = self.cleaned(&fault.message) {
                    fault.message = clean;
                }
            }
        }
    }

    /// The text without secrets; none where it had none.
    pub(super) fn cleaned(&self, text: &str) -> Option<String> {
        let mut clean: Option<String> = None;
        for (form, name) in &self.0 {
            let now = clean.as_deref().unwrap_or(text);
            if now.contains(form.as_str()) {
                clean = Some(now.replace(form.as_str(), name));
            }
        }
        clean
    }
}

/// As it stands in an address.
pub(super) fn percent(secret: &str) -> String {
    let mut out = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters that a secret has in the base64 of any text in which so many bytes, modulo three, stand before it: those
/// that depend on nothing but the secret.
fn base64(secret: &[u8], before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.iter().copied()).collect();
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number =
            three.iter().fold(0_u32, |number, byte| (number << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let six = (number >> (18 - 6 * at)) & 63;
            out.push(char::from(ALPHABET.get(six as usize).copied().unwrap_or(b'=')));
        }
    }
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    out.get(first..last).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_form() {
        let secret = "sk-abc/123+def~456";
        let redactor = Redactor::new([(secret.to_owned(), "KEY".to_owned())].into_iter());
        // `x:`, `xy:` and `:` before it, encoded by hand; and what stands before and after it stays.
        for told in [
            "it is sk-abc/123+def~456.",
            "sk-abc%2F123%2Bdef~456",
            "c2stYWJjLzEyMytkZWZ+NDU2",
            "eDpzay1hYmMvMTIzK2RlZn40NTY=",
            "eHk6c2stYWJjLzEyMytkZWZ-NDU2",
            "OnNrLWFiYy8xMjMrZGVmfjQ1Ng==",
        ] {
            let clean = redactor.cleaned(told).unwrap_or_else(|| panic!("{told}"));
            assert!(clean.contains("{{secret:KEY}}"), "{clean}");
        }
        assert_eq!(redactor.cleaned("nothing of it"), None);
        let short = Redactor::new([("password".to_owned(), "KEY".to_owned())].into_iter());
        assert_eq!(short.cleaned("my password"), None);
    }
}
