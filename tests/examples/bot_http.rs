//! The example bot behind HTTP: `cargo run -p aigo-tests --example bot_http -- 8081`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;

use aigo_tests::bot::Bot;

fn main() -> ExitCode {
    let port = std::env::args().nth(1).map_or(Ok(8081), |port| port.parse::<u16>());
    let started =
        port.map_err(|error| format!("{error}")).and_then(|port| Bot::start(port).map_err(|e| format!("{e}")));
    match started {
        Err(message) => {
            eprintln!("bot_http: {message}; usage: bot_http [PORT]");
            ExitCode::from(2)
        }
        Ok(bot) => {
            println!("{}", bot.url());
            loop {
                std::thread::park();
            }
        }
    }
}
