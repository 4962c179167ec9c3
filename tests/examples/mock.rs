//! The tests' server of chat APIs, started by hand: `cargo run -p aigo-tests --example mock -- --help`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;
use std::time::Duration;

use aigo_tests::mock::{Fault, Mock, rows};

const HELP: &str = "\
A server of chat APIs that answers from the request alone: POST …/chat/completions, …/messages, …/responses,
whole or as a stream. Equal requests get equal answers.

usage: mock [--port N] [--latency MILLISECONDS] [--threads N] [--script FILE | --row NAME] [--worst] [--rows]

  --port N         the port on 127.0.0.1, 8080 unless given; 0 takes any
  --latency MS     every answer waits so long
  --threads N      threads that serve, 1 unless given
  --script FILE    faults: [{\"from\": 1, \"to\": 2, \"status\": 429, \"code\": \"slow\", \"headers\": {\"retry-after\": \"1\"}}]
                   further keys: model, body, lasts_ms, per (\"body\" counts the attempts of each call), and one of
                   cut, reset, stall, each a number of bytes after which the reply breaks off so
  --row NAME       the faults of a row of the table; without it, a base_url of http://127.0.0.1:N/row/NAME/v1 has them
  --worst          bills a token for each byte of a prompt, and all that max_tokens allows for each answer
  --rows           prints the names of the rows and ends

GET /bill prints what each key was billed, as JSON.";

struct Typed {
    port: u16,
    latency: Duration,
    threads: usize,
    faults: Vec<Fault>,
    worst: bool,
}

/// What was typed; none where that was answered already.
fn typed() -> Result<Option<Typed>, String> {
    let mut typed = Typed { port: 8080, latency: Duration::ZERO, threads: 1, faults: Vec::new(), worst: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        match flag.as_str() {
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(None);
            }
            "--rows" => {
                println!("{}", rows::ROWS.join("\n"));
                return Ok(None);
            }
            "--worst" => {
                typed.worst = true;
                continue;
            }
            _ => {}
        }
        let value = arguments.next().ok_or_else(|| format!("`{flag}` is unknown, or needs a value: see --help"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{flag}` is `{value}`, and must be a whole number"));
        match flag.as_str() {
            "--port" => typed.port = u16::try_from(number()?).map_err(|error| error.to_string())?,
            "--latency" => typed.latency = Duration::from_millis(number()?),
            "--threads" => typed.threads = usize::try_from(number()?.max(1)).map_err(|error| error.to_string())?,
            "--script" => {
                let text = std::fs::read_to_string(&value).map_err(|error| format!("{value}: {error}"))?;
                typed.faults = Fault::script(&text).map_err(|error| format!("{value}: {error}"))?;
            }
            "--row" => {
                typed.faults = rows::by_name(&value).ok_or_else(|| format!("no row `{value}`: see --rows"))?;
            }
            _ => return Err(format!("unknown flag `{flag}`: see --help")),
        }
    }
    Ok(Some(typed))
}

fn main() -> ExitCode {
    let started = typed().and_then(|typed| {
        let Some(typed) = typed else { return Ok(None) };
        let mock = Mock::with_threads(typed.port, typed.latency, typed.threads, false);
        let mock = mock.map_err(|error| format!("port {}: {error}", typed.port))?;
        mock.script(typed.faults);
        mock.bill_worst(typed.worst);
        Ok(Some(mock))
    });
    match started {
        Err(message) => {
            eprintln!("mock: {message}");
            ExitCode::from(2)
        }
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(mock)) => {
            println!("{}", mock.base_url());
            loop {
                std::thread::park();
            }
        }
    }
}
