//! Definitions: what has a name and parameters, and is used elsewhere.

use aigo_ir::span::{Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

use super::{Leaf, Scorer, Step};

/// `define`
#[derive(Clone, Debug, Default)]
pub(crate) struct Define {
    /// `solvers`
    pub(crate) solvers: Vec<Definition<Vec<Step>>>,
    /// `scorers`: a scorer without a name of its own.
    pub(crate) scorers: Vec<Definition<Option<Scorer>>>,
    /// `personas`
    pub(crate) personas: Vec<Persona>,
}

/// Something with a name and parameters.
#[derive(Clone, Debug)]
pub(crate) struct Definition<T> {
    /// Its name.
    pub(crate) name: Spanned<String>,
    /// `params`
    pub(crate) params: Vec<Param>,
    /// `version`
    pub(crate) version: u32,
    /// What it stands for.
    pub(crate) body: T,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: Spanned<String>,
    /// `type`
    pub(crate) ty: Type,
    /// `default`
    pub(crate) default: Option<Spanned<Value>>,
}

/// A persona.
#[derive(Clone, Debug)]
pub(crate) struct Persona {
    /// Its name.
    pub(crate) name: Spanned<String>,
    /// `text`
    pub(crate) text: Leaf,
    /// `must`
    pub(crate) must: Vec<String>,
    /// `probes`
    pub(crate) probes: Vec<Spanned<String>>,
}

/// `use` and `with`.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The definition's name.
    pub(crate) name: Spanned<String>,
    /// The version that is asked for, `NAME@1`.
    pub(crate) version: Option<u32>,
    /// What it is given.
    pub(crate) with: Vec<Argument>,
}

impl Use {
    /// What scopes call it.
    pub(crate) fn key(&self) -> String {
        self.version.map_or_else(|| self.name.value.clone(), |version| format!("{}@{version}", self.name.value))
    }
}

/// One entry of `with`.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// The parameter's name.
    pub(crate) name: Spanned<String>,
    /// Its value.
    pub(crate) value: Tree,
}

/// A value whose texts may be templates.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A text.
    Text(Leaf),
    /// A number, a boolean or null.
    Plain(Value, Span),
    /// A list.
    List(Vec<Tree>, Span),
    /// A map.
    Map(Vec<(String, Tree)>, Span),
}

impl Tree {
    /// Where it stands.
    pub(crate) const fn span(&self) -> Span {
        match self {
            Self::Text(leaf) => leaf.span,
            Self::Plain(_, span) | Self::List(_, span) | Self::Map(_, span) => *span,
        }
    }
}
