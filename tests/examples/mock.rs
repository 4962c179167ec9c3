//! The tests' chat-completions server, started by hand:
//!
//! ```text
//! cargo run -p aigo-tests --example mock -- --port 8080 --latency 50 --script faults.json
//! ```
//! The script is a list of faults: `[{"from": 1, "to": 2, "status": 429, "headers": {"retry-after": "1"}}]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;
use std::time::Duration;

use aigo_tests::mock::{Fault, Mock};

const USAGE: &str = "usage: mock [--port N] [--latency MILLISECONDS] [--script FILE]";

struct Typed {
    port: u16,
    latency: Duration,
    faults: Vec<Fault>,
}

fn typed() -> Result<Typed, String> {
    let mut typed = Typed { port: 8080, latency: Duration::ZERO, faults: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{flag}` is `{value}`, and must be a whole number"));
        match flag.as_str() {
            "--port" => typed.port = u16::try_from(number()?).map_err(|error| error.to_string())?,
            "--latency" => typed.latency = Duration::from_millis(number()?),
            "--script" => {
                let text = std::fs::read_to_string(&value).map_err(|error| format!("{value}: {error}"))?;
                typed.faults = Fault::script(&text).map_err(|error| format!("{value}: {error}"))?;
            }
            _ => return Err(format!("unknown flag `{flag}`")),
        }
    }
    Ok(typed)
}

fn main() -> ExitCode {
    let started = typed().and_then(|typed| {
        let mock = Mock::start(typed.port, typed.latency).map_err(|error| error.to_string())?;
        mock.script(typed.faults);
        Ok(mock)
    });
    match started {
        Err(message) => {
            eprintln!("mock: {message}\n{USAGE}");
            ExitCode::from(2)
        }
        Ok(mock) => {
            println!("{}", mock.base_url());
            loop {
                std::thread::park();
            }
        }
    }
}
