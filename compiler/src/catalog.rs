//! Every diagnostic of the compiler, one row each. A row has a page in `spec/diagnostics/`.

use aigo_ir::diagnostic::Row;

macro_rules! rows {
    ($($name:ident $kind:ident $code:literal $($word:ident)? $title:literal;)*) => {
        $(#[doc = $title] pub static $name: Row = Row::$kind($code, $title)$(.named(stringify!($word)))?;)*

        /// All rows.
        pub static ROWS: &[&Row] = &[$(&$name,)*];
    };
}

rows! {
    // Shape: keys and kinds.
    UNKNOWN_KEY error "E0201" "an unknown key";
    MISSING_KEY error "E0202" "a key is missing";
    WRONG_KIND error "E0204" "a value of the wrong kind";
    NO_VERB error "E0205" "a step, scorer or rule without its verb";
    TWO_VERBS error "E0206" "a step, scorer or rule with two verbs";
    BAD_VALUE error "E0207" "a value that is not possible here";
    UNREADABLE_FILE error "E0208" "a file that cannot be read";
    // Names.
    UNKNOWN_ROLE error "E0301" "a role that the task does not have";
    UNKNOWN_NAME error "E0302" "a name or attribute that is not defined";
    UNKNOWN_SCORER error "E0303" "a gate over a scorer that the task does not have";
    NAME_TWICE error "E0304" "a name is given twice";
    UNKNOWN_DEFINITION error "E0305" "a definition that is not there";
    BAD_ARGUMENT error "E0306" "a definition is not given what it takes";
    RECURSION error "E0307" "a definition that uses itself";
    BAD_IMPORT error "E0308" "a file that cannot be imported";
    // Expressions, templates, types.
    BAD_EXPRESSION error "E0401" "an expression that cannot be read";
    BAD_TEMPLATE error "E0402" "a template that cannot be read";
    WRONG_TYPE error "E0403" "types that do not go together";
    MAY_BE_MISSING error "E0404" "a field that some samples lack";
    BAD_PATTERN error "E0405" "a pattern that is no regular expression";
    NOT_ASSIGNED error "E0406" "a name that is not bound on every path";
    ALWAYS_FAILS error "E0407" "an expression that can only fail";
    // Meaning.
    NOTHING_TO_SCORE error "E0501" "a task without scorers and expectations";
    NO_SAMPLES error "E0502" "a task without samples";
    BAD_ROW error "E0503" "a row that cannot be read";
    ID_TWICE error "E0504" "two samples with one id";
    NEVER_RUNS error "E0505" "steps that never run";
    NOBODY_TO_ANSWER error "E0506" "a step that has nothing to answer";
    UNSOUND error "E0507" "a program that does not hold together";
    BAD_GATE error "E0508" "a gate that cannot be read";
    // Samples.
    UNKNOWN_FORMAT error "E0520" "a data file of no known format";
    BAD_TYPE error "E0521" "a type that cannot be read";
    WRONG_VALUE error "E0522" "a value that does not fit its declared type";
    BAD_MATRIX error "E0523" "a matrix that cannot be formed";
    BAD_TRANSCRIPT error "E0524" "a record that is no conversation";
    NO_MATCH error "E0525" "a pattern that no file matches";
    BAD_CLUSTER error "E0526" "a cluster that a sample does not have";
    FILTER_FAILS error "E0527" "a filter that cannot be computed for a row";
    ABSENT_FIELD warning "W0521" absent_field "a declared field that no sample has";
    ABSENT_TAG warning "W0522" absent_tag "a tag that no sample has";
    NOTHING_LEFT warning "W0520" nothing_left "a source of which no row is left";
    // Roles and limits.
    RULE_NEVER_ANSWERS error "E0540" "a rule that can never answer";
    UNKNOWN_PROVIDER error "E0541" "a provider that aigo does not know";
    REFUSED_PARAMETER error "E0542" "a parameter that the model refuses";
    BAD_PATH error "E0543" "a path into a reply that cannot be read";
    SECRET_IN_TASK error "E0544" "a secret in a task";
    NO_PRICE error "E0545" "a limit of cost without prices";
    // Scorers and gates.
    UNKNOWN_LABEL error "E0560" "a label that no step has";
    NEVER_HOLDS error "E0561" "a gate that can never hold";
    ALWAYS_HOLDS error "E0562" "a gate that always holds";
    NO_SUCH_GROUP error "E0563" "a gate that groups by a field that no sample has";
    TOO_FEW_EPOCHS error "E0564" "a gate over more epochs than are run";
    NO_SUCH_SCALE error "E0565" "a gate over every scorer of a scale that none has";
    WHEN_READS_ANSWERS error "E0566" "applicability that depends on what the assistant says";
    NO_SCORE error "E0567" "a path through a graph that has no score";
    BAD_SCHEMA error "E0568" "a JSON schema that cannot be used";
    SCORE_OFF_SCALE error "E0569" "a score that is not on its scale";
    // Applications.
    UNKNOWN_HOST error "E0570" "a request whose host is not known";
    NEEDS_USER_SIDE error "E0590" "an extraction that would let the assistant decide whether a scorer applies";
    SKIPS_THE_WHOLE error "E0591" "a judge of the whole conversation that may skip it";
    UNKNOWN_VERSION error "E0592" "a version of a definition that is not there";
    // Epochs that recordings bring.
    BAD_EPOCH error "E0610" "a recorded epoch that is no count";
    EPOCHS_TWICE error "E0611" "epochs that are recorded, and asked for";
    // The lock.
    BAD_LOCK error "E0650" "a lock that cannot be read";
    MOVED error "E0651" "something moved since the task was locked";
    LACKS_LOCK error "E0652" "a task that is not locked";
    // Lints: what can be run, and probably says less than its author thinks.
    LAST_TURN_ONLY warning "W0601" last_turn_only "only the last turn is scored";
    SEVERAL_DIMENSIONS warning "W0602" several_dimensions "one judge for several dimensions";
    SELF_JUDGING warning "W0603" self_judging "the judge is the model under test";
    RELATED_JUDGE warning "W0604" related_judge "the judge is of the family of the model under test";
    SMALLER_JUDGE warning "W0605" smaller_judge "the judge is smaller than the model under test";
    ALL_SIMULATED warning "W0606" all_simulated "every sample is simulated";
    FLOATING_MODEL warning "W0607" floating_model "a judge or a simulated user that is not pinned";
    SHORT_CONVERSATIONS warning "W0608" short_conversations "conversations too short to forget anything";
    ENDLESS_USER warning "W0609" endless_user "a simulated user that has no way to stop";
    HISTORY_NOT_SENT warning "W0610" history_not_sent "an application that is not sent the history";
    EQUAL_REPEATS warning "W0611" equal_repeats "repeats that cannot differ";
    ZERO_TOLERANCE warning "W0612" zero_tolerance "a gate that one wrong verdict turns red";
    COARSE_SAMPLE warning "W0613" coarse_sample "a gate finer than its sample can resolve";
    UNREAD_SCORER warning "W0614" unread_scorer "a scorer that no gate reads";
    UNUSED_FIELD warning "W0615" unused_field "a field that nothing reads";
    UNUSED_ROLE warning "W0616" unused_role "a role that nobody asks";
    UNUSED_NAME warning "W0617" unused_name "a name that is bound and never read";
    UNUSED_DEFINITION warning "W0618" unused_definition "a definition or an import that nothing uses";
    DEAD_STOP warning "W0619" dead_stop "a stop that can never fire";
    MIN_TURNS_OUT_OF_REACH warning "W0620" min_turns_out_of_reach "a least number of turns that is never reached";
    UNANCHORED_SCALE warning "W0621" unanchored_scale "a scale without anchors";
    VAGUE_RUBRIC warning "W0622" vague_rubric "a rubric that names no criterion";
    UNPROBED_PERSONA warning "W0623" unprobed_persona "a persona that no scorer probes";
    EPOCHS_WITHOUT_SETUP warning "W0624" epochs_without_setup "epochs over a sticky session without `setup`";
    KEY_IN_TEXT warning "W0625" key_in_text "a text that looks like a key";
    NOBODY_IS_TESTED warning "W0626" nobody_is_tested "samples in which nobody is asked";
    NEAR_PERSONA warning "W0627" near_persona "a value that is nearly the name of a persona";
    UNUSED_SOLVERS warning "W0628" unused_solvers "steps that no sample runs";
    EMPTY_TEXT warning "W0629" empty_text "an empty text";
    NEVER_DECIDED warning "W0633" never_decided "a gate that so few conversations cannot decide";
    TURNS_OUT_OF_REACH warning "W0634" turns_out_of_reach "a check of turns that no conversation has";
    // Allowances; they have no names, because nothing allows them.
    BAD_ALLOWANCE warning "W0630" "an allowance that cannot be read";
    UNUSED_ALLOWANCE warning "W0631" "an allowance of what is not there";
    NO_REASON warning "W0632" "an allowance without a reason";
    // What a run can come to.
    OVER_CALLS warning "W0640" over_calls "a limit of calls that the run is sure to meet";
    // The lock.
    STALE_LOCK warning "W0650" stale_lock "a lock that is stale";
    NOT_LOCKED warning "W0651" not_locked "gates on models that no lock pins";
    // Around the task.
    KEY_NOT_SET note "N0101" "an API key that a run will need is not set";
}
