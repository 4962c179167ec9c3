//! The closed list of functions, one typed row each. Expressions call them, `lower(x)` or `x | lower`; templates have them as
//! filters, `x | lower`. Parser, checker, evaluator, engine and the language's page read this one table.

use std::ops::RangeInclusive;

/// What a function takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// Any value.
    Any,
    /// A value that need not be there.
    Optional,
    /// Text.
    Text,
    /// Text that is a regular expression.
    Pattern,
    /// A number.
    Number,
    /// A whole number.
    Int,
    /// What prints: text, a number, a boolean.
    Printable,
    /// What has a length: text, a list, a map.
    Sized,
    /// Text or a list.
    TextOrList,
    /// A map.
    Map,
    /// A list of anything.
    List,
    /// A list of what prints.
    Printables,
    /// A list of numbers.
    Numbers,
    /// A list of numbers or of texts: of what has an order.
    Ordered,
    /// A list of booleans.
    Booleans,
}

impl Param {
    /// As messages name it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Any | Self::Optional => "any value",
            Self::Text | Self::Pattern => "a string",
            Self::Number => "a number",
            Self::Int => "an integer",
            Self::Printable => "a string, a number or a boolean",
            Self::Sized => "a string, a list or a map",
            Self::TextOrList => "a string or a list",
            Self::Map => "a map",
            Self::List => "a list",
            Self::Printables => "a list of strings, numbers or booleans",
            Self::Numbers => "a list of numbers",
            Self::Ordered => "a list of numbers or of strings",
            Self::Booleans => "a list of booleans",
        }
    }
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Text.
    Text,
    /// Text or null.
    MaybeText,
    /// A boolean.
    Bool,
    /// A whole number.
    Int,
    /// A list of whole numbers.
    Ints,
    /// A list of texts.
    Texts,
    /// A list of pairs of a key and a value.
    Pairs,
    /// The type of the first argument.
    Same,
    /// The type of an item of the first argument.
    Item,
    /// The first argument as a list: of a list its items, of a text its characters, of a map its keys.
    Listed,
    /// The type of the first argument, if it is there, joined with that of the second.
    Either,
}

macro_rules! functions {
    ($($variant:ident $name:literal ($($needed:ident),*) [$($more:ident),*] $gives:ident $doc:literal;)*) => {
        /// The closed list of functions. All are pure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function { $(#[doc = $doc] $variant,)* }

        impl Function {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it takes, in order.
            pub const fn params(self) -> &'static [Param] {
                match self { $(Self::$variant => &[$(Param::$needed,)* $(Param::$more,)*],)* }
            }

            /// How many of these may be left out, from the end.
            pub const fn optional(self) -> usize {
                match self { $(Self::$variant => { const MORE: &[Param] = &[$(Param::$more,)*]; MORE.len() })* }
            }

            /// What it gives.
            pub const fn gives(self) -> Gives {
                match self { $(Self::$variant => Gives::$gives,)* }
            }

            /// What it gives, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

functions! {
    Length "length" (Sized) [] Int "The number of characters, items or keys.";
    Lower "lower" (Text) [] Text "The text in lower case.";
    Upper "upper" (Text) [] Text "The text in upper case.";
    Capitalize "capitalize" (Text) [] Text "The text with its first letter in upper case and the rest in lower.";
    Title "title" (Text) [] Text "The text with the first letter of each word in upper case and the rest in lower.";
    Trim "trim" (Text) [] Text "The text without white space at its ends.";
    Indent "indent" (Text) [Int] Text "The text with its lines, but for the first and the empty ones, indented by 4 blanks or by so many.";
    Replace "replace" (Text, Text, Text) [] Text "The text with the second text replaced by the third everywhere.";
    Split "split" (Text) [Text] Texts "The parts of the text between the second text, or between white space.";
    Words "words" (Text) [] Int "The number of words: of what stands between white space.";
    Contains "contains" (TextOrList, Any) [] Bool "Whether the text has the second text in it, or the list the item.";
    StartsWith "starts_with" (Text, Text) [] Bool "Whether the text begins with the second.";
    EndsWith "ends_with" (Text, Text) [] Bool "Whether the text ends with the second.";
    Matches "matches" (Text, Pattern) [] Bool "Whether the regular expression (Rust's syntax) matches somewhere in the text.";
    Capture "capture" (Text, Pattern) [] MaybeText "What the regular expression finds first: its first group that took part, else the whole; null where it does not match.";
    First "first" (List) [] Item "The first item; an empty list is a fault.";
    Last "last" (List) [] Item "The last item; an empty list is a fault.";
    Join "join" (Printables) [Text] Text "The printable items with the second text between them, or nothing.";
    Reverse "reverse" (TextOrList) [] Same "The items or characters from the end.";
    Sort "sort" (Ordered) [] Same "The items in order; texts by code point.";
    Unique "unique" (List) [] Same "Each item once, where it stands first.";
    Items "items" (Map) [] Pairs "The pairs of key and value of a map, without those that are null.";
    ListOf "list" (Sized) [] Listed "The value as a list: of a text its characters, of a map its keys.";
    Any "any" (Booleans) [] Bool "Whether some item is true.";
    All "all" (Booleans) [] Bool "Whether every item is true.";
    Abs "abs" (Number) [] Same "The number without its sign.";
    Round "round" (Number) [Int] Same "The number rounded half away from zero, to so many decimals.";
    Min "min" (Ordered) [] Item "The least item of a list of numbers or texts; an empty list is a fault.";
    Max "max" (Ordered) [] Item "The greatest item of a list of numbers or texts; an empty list is a fault.";
    Sum "sum" (Numbers) [] Item "The sum of a list of numbers; 0 of none.";
    Range "range" (Int) [Int] Ints "The whole numbers from 0, or from the first, up to and without the last; at most 10,000.";
    Text "string" (Printable) [] Text "The value as a template would print it.";
    Json "json" (Any) [] Text "The value as JSON.";
    Default "default" (Optional, Any) [] Either "The first, or the second where the first is null or not there.";
    JudgedTurns "judged_turns" () [] Ints "The numbers of the turns in which the assistant said something.";
    Turns "turns" () [] Ints "The numbers of all turns.";
    SaidIn "said_in" (Int) [Text] Text "What the assistant (or the role named second) said in the turn, joined by newlines.";
}

impl Function {
    /// The function of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// How many arguments it takes.
    pub const fn arity(self) -> RangeInclusive<usize> {
        let most = self.params().len();
        most - self.optional()..=most
    }

    /// Whether templates have it as a filter: not what asks for the conversation.
    pub const fn is_filter(self) -> bool {
        !matches!(self, Self::JudgedTurns | Self::Turns | Self::SaidIn)
    }

    /// The function that people of other languages mean by this name.
    pub fn meant_by(name: &str) -> Option<Self> {
        Some(match name {
            "len" | "count" | "size" => Self::Length,
            "lowercase" | "toLowerCase" | "to_lower" => Self::Lower,
            "uppercase" | "toUpperCase" | "to_upper" => Self::Upper,
            "strip" | "striptags" => Self::Trim,
            "startswith" | "startsWith" => Self::StartsWith,
            "endswith" | "endsWith" => Self::EndsWith,
            "includes" | "has" => Self::Contains,
            "match" | "regex" | "search" | "test" => Self::Matches,
            "regex_search" | "extract" | "find" => Self::Capture,
            "wordcount" => Self::Words,
            "str" | "toString" | "to_string" => Self::Text,
            "tojson" | "to_json" | "dumps" | "stringify" => Self::Json,
            "d" | "coalesce" => Self::Default,
            "dictsort" | "entries" => Self::Items,
            "keys" => Self::ListOf,
            "sorted" => Self::Sort,
            "reversed" => Self::Reverse,
            _ => return None,
        })
    }
}

macro_rules! tests {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// The tests that ask for the kind of a value: `x is string`. `is defined`, `is undefined` and `is none` ask whether it
        /// is there, and are [`Kind::Defined`](super::Kind::Defined).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Test { $(#[doc = $doc] $variant,)* }

        impl Test {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written behind `is`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

tests! {
    Text "string" "Text.";
    Number "number" "A number.";
    Boolean "boolean" "True or false.";
    Sequence "sequence" "A list.";
    Mapping "mapping" "A map.";
    Odd "odd" "An odd whole number.";
    Even "even" "An even one.";
}

impl Test {
    /// The names of all tests, in the order of the language's page.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        ["defined", "undefined", "none"].into_iter().chain(Self::ALL.iter().map(|test| test.name()))
    }

    /// Whether it asks something of a whole number, and not for a kind.
    pub const fn is_of_integers(self) -> bool {
        matches!(self, Self::Odd | Self::Even)
    }
}
