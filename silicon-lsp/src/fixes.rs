//! Edits that may remove an error. What they are worth is found out by trying them
//! ([`crate::trial`]), so they are made freely here: one that is no program, or removes nothing, is
//! never offered.

mod claims;
mod sites;

use std::ops::Range;

use front::Words;
use hints::spelling::Spelling;
use lsp_types::NumberOrString;
use silicon::report::{ErrorId, Reason};
use silicon::session::Missing;
use silicon::session::input::Language;

use self::sites::Site;
use crate::analysis::Analysis;
use crate::index::Means;
use crate::protocol::{Edit, Found};
use crate::tokens::{Declares, Kind};

/// An edit that may remove a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// The number of the finding.
    pub(crate) cures: usize,
    pub(crate) title: String,
    /// In the order of the text, apart from each other.
    pub(crate) edits: Vec<Edit>,
}

/// So many are tried for one finding.
const MOST: usize = 24;

/// Guesses edits that may remove the findings in a range, best first.
pub(crate) fn candidates(
    analysis: &Analysis,
    found: &[Found],
    range: &lsp_types::Range,
) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (number, found) in found.iter().enumerate() {
        let whole = range_in_data(found, "whole").unwrap_or(found.diagnostic.range);
        let reason = range_in_data(found, "reason");
        let is_near = |one: &lsp_types::Range| one.start <= range.end && range.start <= one.end;
        let is_meant = is_near(&whole) || reason.as_ref().is_some_and(is_near);
        if found.uri == analysis.uri && is_meant {
            let of_it = Cure { analysis, found, whole, reason }.candidates();
            let numbered = of_it.into_iter().take(MOST);
            all.extend(numbered.map(|(title, edits)| Candidate { cures: number, title, edits }));
        }
    }
    all
}

fn range_in_data(found: &Found, name: &str) -> Option<lsp_types::Range> {
    let range = found.diagnostic.data.as_ref()?.get(name)?;
    serde_json::from_value(range.clone()).ok()
}

/// A finding that is to be removed.
struct Cure<'a> {
    analysis: &'a Analysis,
    found: &'a Found,
    /// The statement or the clause, of which an editor marks a part.
    whole: lsp_types::Range,
    reason: Option<lsp_types::Range>,
}

type Titled = (String, Vec<Edit>);

impl Cure<'_> {
    fn candidates(&self) -> Vec<Titled> {
        let at = self.analysis.text.offsets(self.whole);
        let data = self.found.diagnostic.data.as_ref();
        let member = data.and_then(|data| data.get("member")).filter(|it| !it.is_null());
        if member.is_none() {
            let mut all = self.names(&at);
            all.extend(self.meant(&at));
            let mut seen = Vec::new();
            all.retain(|(_, edits)| {
                !seen.contains(edits) && {
                    seen.push(edits.clone());
                    true
                }
            });
            return all;
        }
        let Some(site) = Site::new(self.analysis, at) else { return Vec::new() };
        if site.language() == Language::Spl {
            return Vec::new();
        }
        let Some(NumberOrString::String(id)) = &self.found.diagnostic.code else {
            return Vec::new();
        };
        let (error, reason) = id.split_once(':').unwrap_or((id, ""));
        let missing = data.and_then(|data| serde_json::from_value(data["missing"].clone()).ok());
        let mut all = missing.map_or(Vec::new(), |missing| self.permission(&site, error, &missing));
        for condition in self.conditions(&site, reason) {
            all.extend(stated(&site, &condition, Place::Last));
        }
        all.extend(self.claims(&site, error, reason));
        all
    }

    /// Returns an unknown word: the nearest one that is known.
    fn names(&self, at: &Range<usize>) -> Vec<Titled> {
        let Analysis { text, index, .. } = self.analysis;
        let is_it = |token: &&crate::tokens::Token| token.range == *at && token.kind == Kind::Word;
        if !index.tokens.iter().any(|token| is_it(&token)) {
            return Vec::new();
        }
        let (word, spelling) = (&text.text[at.clone()], Spelling::default());
        let known = index.symbols.iter().map(|symbol| symbol.name.as_str());
        let nearest = [
            spelling.nearest(word, known),
            spelling.nearest(word, Words::of(index.language).all()),
        ];
        let change = |name: &str| {
            let edit = Edit { range: at.clone(), text: name.to_owned() };
            (format!("Change `{word}` to `{name}`"), vec![edit])
        };
        let nearest = nearest.into_iter().flatten().map(change);
        self.declared(at).into_iter().chain(nearest).collect()
    }

    /// Makes edits that put the word which the message proposes in the place of the word there, or
    /// before it.
    fn meant(&self, at: &Range<usize>) -> Vec<Titled> {
        let Analysis { text, index, .. } = self.analysis;
        let Some(meant) = meant(&self.found.diagnostic.message) else { return Vec::new() };
        let here = index.tokens.partition_point(|token| token.range.end <= at.start);
        let near = [Some(here), here.checked_sub(1), Some(here + 1)];
        let ranges = near.into_iter().flatten().filter_map(|number| {
            let token = index.tokens.get(number).filter(|token| !token.is_comment())?;
            Some(token.range.clone())
        });
        let change = |range: Range<usize>| {
            let title = format!("Change `{}` to `{meant}`", &text.text[range.clone()]);
            (title, vec![Edit { range, text: meant.to_owned() }])
        };
        ranges.map(change).collect()
    }

    /// Returns a variable that is assigned and not declared.
    fn declared(&self, at: &Range<usize>) -> Vec<Titled> {
        let Analysis { text, index, .. } = self.analysis;
        let rest = text.text[at.end..].trim_start();
        let types: &[&str] = match index.language {
            Language::Sil => &[": Int", ": Bool", ": Ref", ": Perm"],
            Language::Chalice => &[""],
            Language::Spl => &[],
        };
        if !rest.starts_with(":=") {
            return Vec::new();
        }
        let word = &text.text[at.clone()];
        let declaration = |of: &&str| {
            let edits = vec![
                Edit { range: at.start..at.start, text: "var ".to_owned() },
                Edit { range: at.end..at.end, text: (*of).to_owned() },
            ];
            (format!("Declare `{word}{of}`"), edits)
        };
        types.iter().map(declaration).collect()
    }

    /// Permission is missing: it is in an instance that is held, or to be asked for; or an instance
    /// is to be made.
    fn permission(&self, site: &Site<'_>, error: &str, missing: &Missing) -> Vec<Titled> {
        let is_function = site.declares() == Declares::Function;
        let Missing { location, is_some } = missing;
        let mut all = Vec::new();
        let is_instance = match site.language() {
            Language::Chalice => location.rsplit('.').next().is_some_and(|name| {
                let is_it = |it: &crate::index::Symbol| it.name == name;
                let predicate = Means::Declared(Declares::Predicate);
                self.analysis.index.symbols.iter().any(|it| is_it(it) && it.means == predicate)
            }),
            _ => location.ends_with(')'),
        };
        if is_instance && !is_function {
            let fold = site.statement(&format!("fold {location}"));
            if error == ErrorId::PostconditionViolated.id() {
                let title = format!("Fold `{location}` at the end");
                all.extend(site.at_end(&fold).map(|edit| (title, vec![edit])));
            } else {
                let title = format!("Fold `{location}` before");
                all.extend(site.before(&fold).map(|edit| (title, vec![edit])));
            }
        }
        for instance in site.instances() {
            all.extend(self.opened(site, &instance));
        }
        let halves = match site.language() {
            Language::Chalice => [format!("rd({location})"), format!("acc({location})")],
            _ if is_instance => [format!("acc({location}, 1/2)"), location.clone()],
            _ => [format!("acc({location}, 1/2)"), format!("acc({location})")],
        };
        // A clause that reads a field comes behind permission to the field.
        let place = if location.matches('.').count() > 1 { Place::Last } else { Place::First };
        for access in halves.iter().skip(usize::from(!is_some)) {
            all.extend(stated(site, access, place));
        }
        all
    }

    /// Returns an instance that is opened for what is done or read.
    fn opened(&self, site: &Site<'_>, instance: &str) -> Vec<Titled> {
        let mut all = Vec::new();
        let opened = format!("unfolding {instance} in ");
        if site.declares() == Declares::Function {
            let title = format!("Unfold `{instance}` in the body");
            all.extend(site.at_start(&opened).map(|edit| (title, vec![edit])));
            return all;
        }
        let (unfold, fold) = [format!("unfold {instance}"), format!("fold {instance}")]
            .map(|it| site.statement(&it))
            .into();
        let before = site.before(&unfold);
        let title = format!("Unfold `{instance}` before");
        all.extend(before.clone().map(|edit| (title, vec![edit])));
        if let (Some(before), Some(after)) = (before, site.after(&fold)) {
            let title = format!("Unfold `{instance}` before, and fold it again");
            all.push((title, vec![before, after]));
        }
        if let Some(reason) = &self.reason {
            let range = self.analysis.text.offsets(*reason);
            let text = format!("({opened}{})", &self.analysis.text.text[range.clone()]);
            all.push((format!("Read it in `{instance}`"), vec![Edit { range, text }]));
        }
        all
    }

    /// Guesses conditions that would exclude the failure.
    fn conditions(&self, site: &Site<'_>, reason: &str) -> Vec<String> {
        let text = &self.analysis.text.text;
        let offsets = |range: &lsp_types::Range| self.analysis.text.offsets(*range);
        let whole = offsets(&self.whole);
        // A clause that stands elsewhere is about all that is done here.
        let at = self
            .reason
            .as_ref()
            .map(offsets)
            .filter(|at| whole.start <= at.start && at.end <= whole.end);
        let is_meant = |range: &Range<usize>| at.as_ref().is_none_or(|at| at == range);
        let is = |one: Reason| reason == one.id();
        let mut all = Vec::new();
        if is(Reason::ReceiverNull) || is(Reason::AssertionFalse) {
            let receivers = site.receivers().into_iter().filter(is_meant);
            all.extend(receivers.map(|it| format!("{} != null", &text[it])));
        }
        if is(Reason::LockOrder) && site.language() == Language::Chalice {
            let locks = site.operands(&["acquire", "lock"]);
            all.extend(locks.into_iter().map(|it| format!("waitlevel << {}.mu", &text[it])));
        }
        if is(Reason::DivisionByZero) {
            let divisors = site.divisors().into_iter().filter(is_meant);
            all.extend(divisors.map(|it| format!("{} != 0", &text[it])));
        }
        for (sequence, index) in site.indexed() {
            let (sequence, inside) = (&text[sequence], &text[index.clone()]);
            if is(Reason::IndexNegative) && is_meant(&index) {
                all.push(format!("0 <= {inside}"));
            }
            if is(Reason::IndexTooLarge) && is_meant(&index) {
                all.push(format!("{inside} < |{sequence}|"));
            }
        }
        all.dedup();
        all
    }
}

/// Returns the word or operator that a message about the text proposes.
fn meant(message: &str) -> Option<&str> {
    let marks = ["did you mean `", "is written `", "write `", "use `"];
    let (at, mark) = marks.iter().find_map(|mark| Some((message.find(mark)?, mark)))?;
    let meant = message[at + mark.len()..].split('`').next()?;
    (!meant.is_empty() && !meant.contains(char::is_whitespace) && !meant.contains('…'))
        .then_some(meant)
}

/// Where among the clauses something is stated: what reads must come behind permission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    First,
    Last,
}

/// Asks for something in the contract, in the invariant of the loop, and in both.
fn stated(site: &Site<'_>, what: &str, place: Place) -> Vec<Titled> {
    let requires = site.requires(what, place);
    let invariant = site.innermost_loop().map(|it| site.invariant(&it, what, place));
    let mut all = Vec::new();
    if let Some(invariant) = &invariant {
        all.push((format!("Add `{what}` to the invariant"), vec![invariant.clone()]));
    }
    all.push((format!("Add `{what}` to the precondition"), vec![requires.clone()]));
    if let Some(invariant) = invariant {
        let title = format!("Add `{what}` to the invariant and the precondition");
        all.push((title, vec![requires, invariant]));
    }
    all
}
