//! `aigo noise`: how sure the scores of a run are, and where their noise comes from.

use super::drive;
use crate::args::{Format, NoiseArgs};
use crate::measured::{self, Measured};
use crate::{exit, out};

pub(crate) fn noise(args: &NoiseArgs) -> u8 {
    let measured = match Measured::load(&args.run, &args.runs) {
        Ok(measured) => measured,
        Err(code) => return code,
    };
    let sheet = &measured.sheet;
    if let Some(name) = args.scorers.iter().find(|name| !sheet.measures.iter().any(|one| *one.name == ***name)) {
        out::error(&measured::no_scorer(name, sheet.measures.iter().map(|one| &*one.name)));
        return exit::USAGE;
    }
    let draws = match measured.log.as_ref().map(aigo_vm::draws).transpose() {
        Ok(draws) => draws.unwrap_or_default(),
        Err(error) => return drive::fail(&error),
    };
    let noise = aigo_report::noise(sheet, &args.scorers, &draws);
    match args.format {
        Format::Json => out::line(&aigo_report::noise_json(sheet, &noise)),
        Format::Text => out::text(&aigo_report::noise_text(&noise)),
    }
    exit::PASSED
}
