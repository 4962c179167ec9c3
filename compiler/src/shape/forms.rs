//! What values may be.

use super::{CHOICE, Construct};

/// What a value may be. The parser holds values to it; what it says beyond kinds and ranges, such as whether a name is known,
/// other stages look at.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Text that is rendered; numbers and booleans are taken as they are written.
    Template,
    /// Text that is rendered, and nothing else.
    TextTemplate,
    /// An expression; numbers and booleans are taken as they are written.
    Expression,
    /// Text that is taken as it is.
    Text,
    /// Text that is taken as it is; numbers and booleans are taken as they are written.
    Scalar,
    /// A name: it begins with a letter and has letters, digits and `_`.
    Name(Names),
    /// One of several words.
    Word(&'static [&'static str]),
    /// Text of a small grammar, taken as it is.
    Like(&'static Grammar),
    /// The same; a whole number is taken as it is written.
    LikeOrWhole(&'static Grammar),
    /// Text of a small grammar that is rendered.
    Rendered(&'static Grammar),
    /// A whole number, ends included.
    Whole(i64, i64),
    /// A number, ends included.
    Number(f64, f64),
    /// A number above 0, up to 1.
    Share,
    /// True or false.
    Boolean,
    /// `true`, or not there.
    True,
    /// A map of a construct.
    Map(&'static Construct),
    /// A map of a construct without some of its keys.
    Part(&'static Narrow),
    /// A map of names to values of a form.
    Named(Keys, &'static Form),
    /// A list of so many items at least.
    List(usize, &'static Form),
    /// One of several forms, told apart by their kinds: text, number, list, map. Of two maps the first is meant where its
    /// required keys are there and no others than its own.
    Either(&'static [Form]),
    /// Nothing behind the colon.
    Nothing,
    /// Whatever YAML can say.
    Any,
    /// Text in which names of this sort can stand.
    Mentions(Names, &'static Form),
    /// A form that has a name of its own.
    Shared(&'static Shared),
}

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Something new, or of another file.
    New,
    /// A role.
    Role,
    /// The label of a step.
    Label,
    /// Any scorer.
    Scorer,
    /// A scorer that is defined.
    DefinedScorer,
    /// A defined list of steps.
    DefinedSolvers,
    /// A persona.
    Persona,
    /// A tool.
    Tool,
    /// A field of the samples.
    Field,
    /// A tag of samples.
    Tag,
}

/// What the keys of a map of names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Whatever YAML takes as a key.
    Any,
    /// Names.
    Names,
    /// Names of roles, of which [`ROLES`] are always known.
    Roles,
    /// Names of environment variables.
    Variables,
}

/// A form that is met in many places, or within itself.
#[derive(Debug)]
pub struct Shared {
    /// As messages name it, with its article.
    pub name: &'static str,
    /// The form.
    pub form: Form,
}

/// The roles that every task knows, and what they do.
pub const ROLES: [(&str, &str); 3] = [
    ("assistant", "The role that is tested."),
    ("user", "The role that is simulated: it says what a user would say."),
    ("judge", "The role that judges conversations, of another family of models than the assistant."),
];

/// A construct without some of its keys.
#[derive(Debug)]
pub struct Narrow {
    /// As messages name it, with its article.
    pub name: &'static str,
    /// The construct.
    pub of: &'static Construct,
    /// The keys that it has not.
    pub without: &'static [&'static str],
}

/// A small grammar of texts.
#[derive(Debug)]
pub struct Grammar {
    /// What such a text is, with its article, and what one looks like.
    pub name: &'static str,
    /// A regular expression that every such text matches.
    pub pattern: &'static str,
    /// Texts that are such.
    pub examples: &'static [&'static str],
}

impl Form {
    const fn word_of(forms: &[Self]) -> &'static str {
        match forms {
            [first, ..] => first.word(),
            [] => "any",
        }
    }

    /// In a word, for the tables of the manual.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Template | Self::TextTemplate | Self::Rendered(_) => "template",
            Self::Expression => "expression",
            Self::Text | Self::Scalar | Self::Name(_) | Self::Word(_) | Self::Like(_) | Self::LikeOrWhole(_) => "name",
            Self::Whole(..) | Self::Number(..) | Self::Share => "number",
            Self::Boolean | Self::True => "boolean",
            Self::Map(_) | Self::Part(_) | Self::Named(..) => "map",
            Self::List(..) => "list",
            Self::Nothing | Self::Any => "any",
            Self::Mentions(_, form) => form.word(),
            Self::Shared(shared) => shared.form.word(),
            Self::Either(forms) => Self::word_of(forms),
        }
    }
}

/// The pattern of names.
pub const NAME: &str = "^[A-Za-z][A-Za-z0-9_]*$";

/// A whole number of so much at least.
pub(super) const fn at_least(least: i64) -> Form {
    Form::Whole(least, i64::MAX)
}

/// Names for values of a form.
pub(super) const fn names_to(form: &'static Form) -> Form {
    Form::Named(Keys::Names, form)
}

/// A map of whatever keys to values of a form.
pub(super) const fn map_of(form: &'static Form) -> Form {
    Form::Named(Keys::Any, form)
}

/// A list, which may be empty.
pub(super) const fn list(form: &'static Form) -> Form {
    Form::List(0, form)
}

/// Several texts, one of which is drawn.
pub(super) const CHOICES: Form = Form::List(1, &Form::Either(&[Form::TextTemplate, Form::Map(&CHOICE)]));

/// Names and types of parameters.
pub(super) const PARAMS: Form = Form::Named(Keys::Names, &Form::Either(&[Form::Like(&TYPE), Form::Map(&super::PARAM)]));

/// The words of a type of which `ALL` values have a `word`.
macro_rules! words {
    ($of:ty) => {{
        const N: usize = <$of>::ALL.len();
        const WORDS: [&str; N] = {
            let mut words = [""; N];
            let mut at = 0;
            while at < N {
                words[at] = <$of>::ALL[at].word();
                at += 1;
            }
            words
        };
        $crate::shape::Form::Word(&WORDS)
    }};
}
pub(super) use words;

/// A duration.
pub static DURATION: Grammar = Grammar {
    name: "a duration such as `500ms`, `90s`, `5m`, `2h`",
    pattern: "^0*[1-9][0-9]*(ms|s|m|h)$",
    examples: &["30s", "2m"],
};

/// A duration of whole seconds.
pub static SECONDS: Grammar = Grammar {
    name: "a duration such as `90s`, `60m`, `2h`",
    pattern: "^0*[1-9][0-9]*(ms|s|m|h)$",
    examples: &["90s", "60m"],
};

/// The longest time of an answer.
pub static ANSWER_TIME: Grammar = Grammar {
    name: "a duration such as `3s` or `500ms`",
    pattern: "^[0-9.eE+-]+(ms|s|m)$",
    examples: &["3s", "500ms"],
};

/// An amount of money.
pub static MONEY: Grammar =
    Grammar { name: "an amount such as `25 USD`", pattern: "^\\s*[0-9.]+\\s+USD\\s*$", examples: &["25 USD"] };

/// How many.
pub static RANGE: Grammar = Grammar {
    name: "a range such as `3..20`, `3..`, `..20`",
    pattern: "^\\s*(\\+?[0-9]+\\s*(\\.\\.\\s*(\\+?[0-9]+)?)?|\\.\\.\\s*\\+?[0-9]+)\\s*$",
    examples: &["3..20", "..80"],
};

/// A scale.
pub static SCALE: Grammar = Grammar {
    name: "`boolean`, `1..5`, `0..1`, or `{labels: {good: 1, bad: 0}}`",
    pattern: "^(boolean|[+-]?[0-9]+\\.\\.[+-]?[0-9]+)$",
    examples: &["1..5", "boolean", "0..1"],
};

/// A type, as expressions name it.
pub static TYPE: Grammar = Grammar {
    name: "a type such as `string`, `integer`, `number`, `boolean`, `list<string>`",
    pattern: "^\\s*[A-Za-z{]",
    examples: &["string", "integer", "number", "boolean", "list<string>"],
};

/// A chat model.
pub static MODEL: Grammar = Grammar {
    name: "a model: `openai/NAME`, `anthropic/NAME`, or `openai_compatible/NAME` with a `base_url`",
    pattern: "^(openai|anthropic|openai_compatible)/\\S+$",
    examples: &["openai/", "anthropic/", "openai_compatible/"],
};

/// An address before the path of an API.
pub static ADDRESS: Grammar = Grammar {
    name: "an address that begins with `http://` or `https://`",
    pattern: "^https?://\\S*$",
    examples: &["http://localhost:11434/v1"],
};

/// An address that is rendered.
pub static URL: Grammar = Grammar {
    name: "an address that begins with `http://` or `https://`",
    pattern: "^\\s*(https?://|\\{\\{|\\{%)",
    examples: &["https://localhost:8080/chat"],
};

/// The name of an environment variable.
pub static VARIABLE: Grammar = Grammar {
    name: "the name of an environment variable, such as `OPENAI_API_KEY`",
    pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
    examples: &["OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
};
