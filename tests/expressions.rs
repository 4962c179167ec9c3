//! Expressions and templates, through the front door: text in, mistakes with their places out.

mod hostile;
mod narrowing;
mod refusals;
mod renaming;
mod rendering;

use aigo_ir::ty::Type;
use aigo_ir::typing::Names;

/// What the texts of these tests may read.
fn names() -> Names {
    let mut names = Names::always();
    for (name, ty) in [
        ("plan", "string"),
        ("seats", "integer"),
        ("limit", "number"),
        ("vip", "boolean"),
        ("note", "string?"),
        ("count", "integer?"),
        ("names", "list<string>"),
        ("extras", "list<string>?"),
        ("scores", "list<integer>"),
        ("flags", "list<boolean>"),
        ("rows", "list<{\"n\": integer, \"word\": string}>"),
        ("goal", "{\"id\": string, \"text\": string, \"hint\": string?}"),
        ("prices", "{\"pro\": number, \"team\": integer}"),
        ("shape", "{\"inner\": {\"deep\": string?}?}"),
        ("loose", "any"),
        ("größe", "integer"),
        ("first", "reply"),
        ("verdict", "verdict"),
    ] {
        names.insert(name, Type::parse(ty).unwrap());
    }
    names
}
