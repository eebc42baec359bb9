//! The flags of the reference verifier's command line, for scripts that call it (`--compat
//! silicon`).
//!
//! One rule decides: we may be stricter than asked, never laxer. So what would weaken a check, or
//! trade proofs for time, has no effect; what asks for a check that we do not have is refused.

use std::ffi::OsString;
use std::path::Path;

/// The meaning of a flag of the reference here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Means {
    /// We have it, by that name.
    Same,
    /// We have it, but its values are others.
    Counterexample,
    AssertTimeout,
    ResourcesPerMillisecond,
    Plugins,
    /// Names of members, separated by commas.
    Select,
    /// We do more than it asks for.
    Check,
    /// The flag chooses among things that we do not have, or would weaken a check, or concerns the
    /// reference's own files.
    Nothing,
    /// The flag asks for a check that we do not have.
    Refused,
}

/// How many values follow a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    None,
    One,
    /// All up to the next flag, or to a program.
    Several,
}

use Means::{
    AssertTimeout, Check, Counterexample, Nothing, Plugins, Refused, ResourcesPerMillisecond, Same,
    Select,
};
use Values::{None as No, One, Several};

/// All of them, but for those that are options of ours by the same name
/// ([`crate::args::silicon_flags`]). Those that are not here are unknown to the reference, too.
const FLAGS: &[(&str, Values, Means)] = &[
    ("--assertionMode", Several, Nothing),
    ("--assertTimeout", One, AssertTimeout),
    ("--assumeInjectivityOnInhale", No, Same),
    ("--checkTimeout", One, Nothing),
    ("--conditionalizePermissions", No, Nothing),
    ("--counterexample", One, Counterexample),
    ("--cvc5Exe", One, Nothing),
    ("--cvc5ResourcesPerMillisecond", One, Nothing),
    ("--dependencies", No, Nothing),
    ("--disableAdtPlugin", No, Nothing),
    ("--disableCaches", No, Nothing),
    ("--disableCaching", No, Nothing),
    ("--disableCatchingExceptions", No, Nothing),
    ("--disableChunkOrderHeuristics", No, Nothing),
    ("--disableDefaultPlugins", No, Nothing),
    ("--disableFunctionUnfoldTrigger", No, Nothing),
    ("--disableHavocHack407", No, Nothing),
    ("--disableISCTriggers", No, Nothing),
    ("--disableNL", No, Nothing),
    // Operands behind `&&`, `||` and `==>` would have to be well-defined whatever stands before.
    ("--disableShortCircuitingEvaluations", No, Refused),
    ("--disableSubsumption", No, Nothing),
    ("--disableTempDirectory", No, Nothing),
    // Measures that are written are still checked.
    ("--disableTerminationPlugin", No, Nothing),
    ("--disableValueMapCaching", No, Nothing),
    ("--enableBranchconditionReporting", No, Nothing),
    ("--enableDebugging", No, Nothing),
    ("--enableMoreCompleteExhale", No, Nothing),
    ("--enablePredicateTriggersOnInhale", No, Nothing),
    ("--enableSimplifiedUnfolds", No, Nothing),
    ("--enableSmokeDetection", No, Same),
    ("--enableTempDirectory", No, Nothing),
    ("--excludeMethods", One, Same),
    ("--exhaleModeQP", One, Nothing),
    ("--generateBlockMessages", No, Nothing),
    ("--ideModeAdvanced", No, Nothing),
    ("--ignoreFile", No, Nothing),
    ("--includeMethods", One, Same),
    ("--logConfig", One, Nothing),
    ("--logLevel", One, Nothing),
    ("--mapAxiomatizationFile", One, Nothing),
    ("--maskHeapMode", No, Nothing),
    ("--moreJoins", One, Nothing),
    ("--multisetAxiomatizationFile", One, Nothing),
    ("--no-timing", No, Nothing),
    ("--numberOfErrorsToReport", One, Same),
    ("--numberOfParallelVerifiers", One, Same),
    ("--parallelizeBranches", No, Nothing),
    ("--parseOnly", No, Check),
    ("--plugin", One, Plugins),
    ("--prettyPrint", No, Nothing),
    ("--printMethodCFGs", No, Nothing),
    ("--printTranslatedProgram", No, Nothing),
    ("--prover", One, Nothing),
    ("--proverArgs", One, Nothing),
    ("--proverConfigArgs", Several, Nothing),
    ("--proverEnableTimeBounds", No, Nothing),
    ("--proverLogFile", One, Nothing),
    ("--proverRandomizeSeeds", No, Nothing),
    ("--proverSaturationTimeout", One, Nothing),
    ("--proverSaturationTimeoutWeights", Several, Nothing),
    ("--pushTimeout", One, Nothing),
    ("--qpSplitTimeout", One, Nothing),
    ("--recursivePredicateUnfoldings", One, Nothing),
    ("--reportPartialResults", No, Nothing),
    ("--reportReasonUnknown", No, Nothing),
    ("--respectFunctionPrePermAmounts", No, Same),
    ("--select", One, Select),
    ("--sequenceAxiomatizationFile", One, Nothing),
    ("--setAxiomatizationFile", One, Nothing),
    ("--stateConsolidationMode", One, Nothing),
    ("--submitForEvaluation", No, Nothing),
    ("--tempDirectory", One, Nothing),
    ("--timeout", One, Same),
    ("--unsafeWildcardOptimization", No, Nothing),
    ("--useOldAxiomatization", No, Nothing),
    ("--z3Args", One, Nothing),
    ("--z3ConfigArgs", Several, Nothing),
    ("--z3Exe", One, Nothing),
    ("--z3LogFile", One, Nothing),
    ("--z3ResourcesPerMillisecond", One, ResourcesPerMillisecond),
    ("-L", Several, Nothing),
];

/// Plugins whose language we have.
const PLUGINS: [&str; 6] =
    ["adt", "predicateinstance", "refute", "smokedetection", "termination", "decreases"];

/// The reference's default of `--z3ResourcesPerMillisecond`.
const RESOURCES_PER_MILLISECOND: u64 = 60_000;

/// Arguments in our words.
#[derive(PartialEq, Eq, Default, Debug)]
pub(crate) struct Translated {
    pub(crate) arguments: Vec<OsString>,
    /// Flags that have no effect here, in their order, each once.
    pub(crate) without_effect: Vec<String>,
}

/// Tells whether the arguments follow the reference's command line.
pub(crate) fn are_wanted(arguments: &[OsString]) -> bool {
    let follows = |pair: &[OsString]| pair[0] == "--compat" && pair[1] == "silicon";
    arguments.windows(2).any(follows) || arguments.iter().any(|one| one == "--compat=silicon")
}

/// Translates arguments of the reference; those that are ours stay. `Err`: what is wrong with them.
pub(crate) fn translate(arguments: Vec<OsString>) -> Result<Translated, String> {
    let mut translated = Translated::default();
    let mut limit: Option<u64> = None;
    let mut per_millisecond = RESOURCES_PER_MILLISECOND;
    let mut rest = arguments.into_iter().peekable();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        if text == "--" {
            translated.arguments.push(argument);
            translated.arguments.extend(rest);
            break;
        }
        let (name, own) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text.as_str(), None),
        };
        let is_it = |flag: &str| flag == name || flag == "-L" && name.starts_with("-L");
        let Some(&(flag, values, means)) = FLAGS.iter().find(|(flag, ..)| is_it(flag)) else {
            translated.arguments.push(argument);
            continue;
        };
        if means == Same {
            translated.arguments.push(argument);
            continue;
        }
        let mut given: Vec<String> = own.into_iter().collect();
        match values {
            No => {}
            One if given.is_empty() => match rest.next() {
                Some(value) => given.push(value.to_string_lossy().into_owned()),
                None => return Err(format!("a value is required for '{flag}'")),
            },
            One => {}
            Several => {
                while let Some(value) = rest.next_if(is_value) {
                    given.push(value.to_string_lossy().into_owned());
                }
            }
        }
        let value = given.first().map_or("", String::as_str);
        let number = || {
            value.parse::<u64>().map_err(|_| format!("'{value}' is no number, as '{flag}' needs"))
        };
        match means {
            Same => {}
            Counterexample => match value {
                "native" | "variables" | "mapped" | "extended" => {
                    translated.arguments.push("--counterexample".into());
                }
                _ => {
                    return Err(format!(
                        "'{flag}' takes native, variables or mapped, not '{value}'"
                    ));
                }
            },
            AssertTimeout => limit = Some(number()?),
            ResourcesPerMillisecond => per_millisecond = number()?,
            Plugins => {
                for plugin in value.split(':').filter(|plugin| !plugin.is_empty()) {
                    known_plugin(plugin)?;
                }
            }
            Select => {
                let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
                let members = names.map(|name| format!("--member={name}").into());
                translated.arguments.extend(members);
            }
            Check => translated.arguments.push("--check".into()),
            Refused => {
                return Err(format!(
                    "'{flag}' is not supported: what it would check is not checked"
                ));
            }
            Nothing if translated.without_effect.iter().all(|known| known != flag) => {
                translated.without_effect.push(flag.to_owned());
            }
            Nothing => {}
        }
    }
    // For the reference, 0 is no limit; ours stays.
    if let Some(limit) = limit.filter(|&limit| limit > 0) {
        let limit = limit.saturating_mul(per_millisecond).clamp(1, u64::from(u32::MAX));
        translated.arguments.push(format!("--limit={limit}").into());
    }
    Ok(translated)
}

/// Tells whether a flag, without its value, is one that only the reference knows.
pub(crate) fn is_only_known_to_it(flag: &str) -> bool {
    FLAGS.iter().any(|&(name, _, means)| name == flag && means != Same)
}

/// Tells whether an argument is one of the values of the flag before it.
fn is_value(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    let path = Path::new(argument);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_program = matches!(extension, Some("sil" | "vpr" | "chalice" | "spl"));
    !text.starts_with('-') && !is_program && !path.exists()
}

fn known_plugin(class: &str) -> Result<(), String> {
    let name = class.rsplit('.').next().unwrap_or(class).to_lowercase();
    let name = name.strip_suffix("plugin").unwrap_or(&name);
    if PLUGINS.contains(&name) {
        return Ok(());
    }
    Err(format!("the plugin '{class}' is not supported: what it would check is not checked"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::Cli;

    fn translated(arguments: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let arguments = arguments.iter().map(OsString::from).collect();
        translate(arguments).map(|Translated { arguments, without_effect }| {
            let text = |one: OsString| one.into_string().expect("text");
            (arguments.into_iter().map(text).collect(), without_effect)
        })
    }

    fn arguments(given: &[&str]) -> Vec<String> {
        translated(given).expect("well formed").0
    }

    #[test]
    fn values_go_with_their_flags() {
        assert_eq!(arguments(&["--z3Exe", "z3", "a.vpr"]), ["a.vpr"]);
        assert_eq!(arguments(&["--z3Exe=z3", "a.vpr", "-j", "2"]), ["a.vpr", "-j", "2"]);
        assert_eq!(arguments(&["--assertionMode", "pp", "a.vpr"]), ["a.vpr"]);
        assert_eq!(arguments(&["-Lx=DEBUG", "y=INFO", "a.vpr"]), ["a.vpr"]);
        assert_eq!(arguments(&["--includeMethods", "m*", "-"]), ["--includeMethods", "m*", "-"]);
        assert!(translated(&["a.vpr", "--z3Exe"]).is_err());
    }

    #[test]
    fn limits_are_counted_in_steps() {
        assert_eq!(arguments(&["--assertTimeout", "10"]), ["--limit=600000"]);
        let with_rate = ["--assertTimeout=10", "--z3ResourcesPerMillisecond", "9000"];
        assert_eq!(arguments(&with_rate), ["--limit=90000"]);
        assert_eq!(arguments(&["--assertTimeout", "0"]), Vec::<String>::new());
        assert!(translated(&["--assertTimeout", "soon"]).is_err());
    }

    #[test]
    fn counterexamples_have_kinds() {
        for kind in ["native", "variables", "mapped"] {
            assert_eq!(arguments(&["--counterexample", kind]), ["--counterexample"]);
        }
        assert!(translated(&["--counterexample", "a.vpr"]).is_err());
    }

    #[test]
    fn plugins_that_check_something_else_are_refused() {
        let known = "viper.silver.plugin.standard.termination.TerminationPlugin:Refute";
        assert_eq!(arguments(&["--plugin", known]), Vec::<String>::new());
        assert!(translated(&["--plugin", "viper.silver.sif.SIFExtendedPlugin"]).is_err());
    }

    #[test]
    fn members_are_selected_by_name() {
        assert_eq!(
            arguments(&["--select", "f, m", "a.vpr"]),
            ["--member=f", "--member=m", "a.vpr"]
        );
        assert_eq!(arguments(&["--parseOnly", "a.vpr"]), ["--check", "a.vpr"]);
    }

    /// The flags that Nagini, Gobra, VerCors, Prusti and ViperServer pass are all known.
    #[test]
    fn flags_of_clients_are_known() {
        for given in [
            "--assumeInjectivityOnInhale --z3Exe z3 --disableCatchingExceptions --exhaleMode=2 \
             --alternativeFunctionVerificationOrder --z3ResourcesPerMillisecond=9000 \
             --disableDefaultPlugins --plugin=viper.silver.plugin.standard.refute.RefutePlugin:\
             viper.silver.plugin.standard.termination.TerminationPlugin:\
             viper.silver.plugin.standard.predicateinstance.PredicateInstancePlugin \
             --counterexample=native --proverArgs=model.partial=true --disableNL",
            "--logLevel ERROR --disableCatchingExceptions --exhaleMode=1 --exhaleModeQP=1 \
             --moreJoins=2 --useOldAxiomatization --assumeInjectivityOnInhale \
             --respectFunctionPrePermAmounts --conditionalizePermissions --disableNL \
             --unsafeWildcardOptimization --parallelizeBranches --assertTimeout=1000 \
             --setAxiomatizationFile a.smt2 --prover=Z3-API --maskHeapMode",
            "--assertTimeout 30000 --timeout 0 --z3Exe z3 --proverConfigArgs a=1 b=2 \
             --ideModeAdvanced --parallelizeBranches --numberOfParallelVerifiers 1 \
             --logLevel INFO --proverEnableTimeBounds -",
            "--disableTerminationPlugin --assertTimeout 10000 --tempDirectory t --logLevel ERROR \
             --enableMoreCompleteExhale --numberOfErrorsToReport 10 --counterexample mapped \
             --proverConfigArgs smt.qi.eager_threshold=100 --z3ConfigArgs a=1",
            "--ignoreFile --disableAdtPlugin --no-timing --generateBlockMessages --prettyPrint \
             --dependencies --enableBranchconditionReporting --disableCaching",
        ] {
            let words: Vec<&str> = given.split_whitespace().collect();
            let own = arguments(&words);
            let read = Cli::try_parse_from(std::iter::once("silicon".to_owned()).chain(own));
            assert!(read.is_ok(), "{given}: {read:?}");
        }
        assert!(translated(&["--plugin=SIFPlugin"]).is_err(), "it checks something else");
    }

    #[test]
    fn checks_that_we_do_not_have_are_refused() {
        assert!(translated(&["--disableShortCircuitingEvaluations", "a.vpr"]).is_err());
    }

    #[test]
    fn what_has_no_effect_is_named_once() {
        let (_, without_effect) =
            translated(&["--logLevel", "OFF", "--disableNL", "--disableNL"]).expect("well formed");
        assert_eq!(without_effect, ["--logLevel", "--disableNL"]);
    }
}
