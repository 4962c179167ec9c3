//! What the terminal can show: colours and a width.

use std::io::IsTerminal as _;

use crate::args::Color;

/// The width of text that goes elsewhere than to a terminal.
const PIPED: u16 = 100;
/// Narrower is not readable, wider is not read.
const WIDTHS: (u16, u16) = (60, 120);

/// How text is laid out on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    /// In columns.
    pub(crate) width: usize,
}

impl Look {
    /// Without colour, for standard error and for logs of other programs.
    pub(crate) fn plain() -> Self {
        Self { colour: false, width: usize::from(PIPED) }
    }

    /// As standard output is.
    pub(crate) fn of_output(color: Color) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let columns = is_terminal.then(|| terminal_size::terminal_size_of(std::io::stdout())).flatten();
        Self {
            colour: is_coloured(color, is_terminal, |name| std::env::var(name).unwrap_or_default()),
            width: width(columns.map(|(width, _)| width.0)),
        }
    }
}

fn width(columns: Option<u16>) -> usize {
    usize::from(columns.map_or(PIPED, |columns| columns.clamp(WIDTHS.0, WIDTHS.1)))
}

/// The flag decides; then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR` and `TERM`, in this order; then whether it is a terminal.
fn is_coloured(color: Color, is_terminal: bool, variable: impl Fn(&str) -> String) -> bool {
    let forced = variable("CLICOLOR_FORCE");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if !variable("NO_COLOR").is_empty() => false,
        Color::Auto if !forced.is_empty() && forced != "0" => true,
        Color::Auto => is_terminal && variable("CLICOLOR") != "0" && variable("TERM") != "dumb",
    }
}

#[cfg(test)]
mod tests {
    use super::{is_coloured, width};
    use crate::args::Color;

    #[test]
    fn the_flag_comes_first_then_the_environment_then_the_terminal() {
        let colour = |color, is_terminal, set: &[(&str, &str)]| {
            let value = |name: &str| {
                set.iter().find(|(own, _)| *own == name).map_or_else(String::new, |(_, v)| (*v).to_owned())
            };
            is_coloured(color, is_terminal, value)
        };
        assert!(colour(Color::Auto, true, &[]) && !colour(Color::Auto, false, &[]));
        assert!(!colour(Color::Auto, true, &[("NO_COLOR", "1")]) && colour(Color::Auto, true, &[("NO_COLOR", "")]));
        assert!(colour(Color::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!colour(Color::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!colour(Color::Auto, true, &[("TERM", "dumb")]) && !colour(Color::Auto, true, &[("CLICOLOR", "0")]));
        assert!(colour(Color::Always, false, &[("NO_COLOR", "1")]) && !colour(Color::Never, true, &[]));
    }

    #[test]
    fn text_is_60_to_120_wide_and_100_in_a_pipe() {
        assert_eq!([None, Some(20), Some(80), Some(400)].map(width), [100, 60, 80, 120]);
    }
}
