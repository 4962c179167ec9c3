//! Embeds the pages of `spec/diagnostics`: a table of codes and texts, sorted by code.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../spec/diagnostics").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let is_code = name.len() == 5 && name.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        if is_code && path.extension().is_some_and(|end| end == "md") {
            println!("cargo::rerun-if-changed={}", path.display());
            pages.push((name, path));
        }
    }
    pages.sort();
    let mut table = String::from("static PAGES: &[(&str, &str)] = &[\n");
    for (code, path) in pages {
        writeln!(table, "    ({code:?}, include_str!({:?})),", path.display().to_string())?;
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pages.rs"), table)?;
    Ok(())
}
