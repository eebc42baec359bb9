//! The same for Chalice: errors planted into the text, so that either way of verifying it can be
//! judged, and the other way asked about what survives.
//!
//! SOUNDNESS of the judgement: both ways share the engine's lower half, and nothing of what Chalice
//! means.

use std::collections::BTreeSet;

use chalice::program::walk::{each_block, each_stmt};
use chalice::program::{
    Access, AccessTarget, Block, Expr, ExprKind, FieldId, Member, PermissionKind, Program, Stmt,
    StmtKind, Type,
};
use chalice::{SourceFile, Span};
use silicon::report::{MemberKind, Verdict};
use silicon::session::{Input, MemberOutcome, Outcome, Session};

use super::{Cause, Fate, Kind, Limits};

/// How a Chalice program is verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Through SIL.
    Translated,
    /// By direct execution.
    Direct,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Self::Translated => Self::Direct,
            Self::Direct => Self::Translated,
        }
    }
}

/// A part of the text, and what stands there instead.
type Edit = (Span, String);

/// How to find out why a mutant verifies.
#[derive(Clone, Debug)]
enum Probe {
    /// The text cannot verify where a path gets to its place, which these edits find out.
    Reached(Vec<Edit>),
    /// A verdict of "verified" may have good reasons.
    MayVerify,
}

/// A Chalice program with one error.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub kind: Kind,
    /// The changed place.
    pub span: Span,
    edits: Vec<Edit>,
    probe: Probe,
}

impl Mutant {
    /// The text with the error.
    pub fn text(&self, text: &str) -> String {
        edited(text, &self.edits)
    }
}

/// The changed part: a member alone is judged, or all users of a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A method or a function, by its name.
    Member(String),
    /// A predicate, a monitor or a channel.
    Declaration(String),
}

impl Subject {
    pub fn name(&self) -> &str {
        match self {
            Self::Member(name) | Self::Declaration(name) => name,
        }
    }
}

/// All errors that can be planted into a text, by what they change, in a fixed order; none if it is
/// no program.
pub fn mutants(text: &str) -> Vec<(Subject, Vec<Mutant>)> {
    let (Some(program), _) = chalice::check(&SourceFile::new("planted", text)) else {
        return Vec::new();
    };
    let sites = |end_of_class| Sites { program: &program, text, end_of_class, found: Vec::new() };
    let mut all = Vec::new();
    for (_, class) in program.classes.iter() {
        let named = |name: &str| format!("{}.{name}", class.name);
        for member in &class.members {
            let mut sites = sites(class.span.end as usize);
            let subject = match *member {
                Member::Method(id) => {
                    let method = &program.methods[id];
                    sites.contract(&method.requires, &method.ensures, true);
                    sites.block(&method.body);
                    Subject::Member(named(&method.name))
                }
                Member::Function(id) => {
                    let function = &program.functions[id];
                    // A function without body promises without a proof.
                    let ensures = if function.body.is_some() { &*function.ensures } else { &[] };
                    sites.contract(&function.requires, ensures, false);
                    Subject::Member(named(&function.name))
                }
                Member::Predicate(id) => {
                    let predicate = &program.predicates[id];
                    sites.dropped(Kind::DroppedInBody, &predicate.body);
                    Subject::Declaration(named(&predicate.name))
                }
                Member::Field(_) | Member::Condition(_) => continue,
            };
            all.push((subject, sites.sorted()));
        }
        let mut sites = sites(0);
        class.invariants.iter().for_each(|clause| sites.dropped(Kind::DroppedInBody, clause));
        all.push((Subject::Declaration(class.name.clone()), sites.sorted()));
    }
    for (_, channel) in program.channels.iter() {
        let mut sites = sites(0);
        let clause = channel.where_clause.iter();
        clause.for_each(|clause| sites.dropped(Kind::DroppedInBody, clause));
        all.push((Subject::Declaration(channel.name.clone()), sites.sorted()));
    }
    all
}

/// The name of the method that keeps what it is given: not one of those that people choose.
const KEEPER: &str = "keeps_what_it_is_given";

struct Sites<'t> {
    program: &'t Program,
    text: &'t str,
    /// Behind the class around.
    end_of_class: usize,
    found: Vec<Mutant>,
}

impl<'t> Sites<'t> {
    fn sorted(mut self) -> Vec<Mutant> {
        self.found.sort_by_key(|mutant| mutant.kind);
        self.found
    }

    fn add(&mut self, kind: Kind, span: Span, edits: Vec<Edit>, probe: Probe) {
        self.found.push(Mutant { kind, span, edits, probe });
    }

    fn of(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn contract(&mut self, requires: &[Expr], ensures: &[Expr], is_method: bool) {
        for clause in ensures {
            self.negated(Kind::NegatedPostcondition, clause);
            for conjunct in conjuncts(clause) {
                if is_method && is_full_access(conjunct) {
                    let written = self.of(conjunct.span);
                    let twice = vec![(conjunct.span, format!("({written} && {written})"))];
                    let reached = Probe::Reached(vec![(conjunct.span, "false".to_owned())]);
                    self.add(Kind::DoubledPermission, conjunct.span, twice, reached);
                }
            }
        }
        for clause in requires {
            self.dropped(Kind::DroppedPermission, clause);
            for conjunct in conjuncts(clause).into_iter().filter(|part| is_plain(part)) {
                let edit = vec![(conjunct.span, "true".to_owned())];
                self.add(Kind::DroppedClaim, conjunct.span, edit, Probe::MayVerify);
            }
            for access in accesses(clause) {
                if is_method && access.amount.kind == PermissionKind::Full {
                    let written = self.of(access.span);
                    let half = match written.strip_suffix(')') {
                        Some(rest) if !access.is_bare => format!("{rest}, 50)"),
                        _ => format!("acc({written}, 50)"),
                    };
                    let edit = vec![(access.span, half)];
                    self.add(Kind::HalvedPermission, access.span, edit, Probe::MayVerify);
                }
            }
        }
    }

    /// Permissions that a clause gives no longer.
    fn dropped(&mut self, kind: Kind, clause: &Expr) {
        for access in accesses(clause) {
            let edit = vec![(access.span, "true".to_owned())];
            self.add(kind, access.span, edit, Probe::MayVerify);
        }
    }

    /// Pure conjuncts that are not so.
    fn negated(&mut self, kind: Kind, clause: &Expr) {
        for conjunct in conjuncts(clause).into_iter().filter(|part| is_plain(part)) {
            let negated = vec![(conjunct.span, format!("!({})", self.of(conjunct.span)))];
            let reached = Probe::Reached(vec![(conjunct.span, "false".to_owned())]);
            self.add(kind, conjunct.span, negated, reached);
        }
    }

    fn block(&mut self, body: &Block) {
        for at in boundaries(self.text, body) {
            let never = vec![before(at, "assert false; ")];
            let is_end = matches!(self.text.as_bytes()[at], b'}' | b']');
            let kind = if is_end { Kind::AssertFalse } else { Kind::FalseAtBoundary };
            let span = Span::at(at);
            self.add(kind, span, never.clone(), Probe::Reached(never));
        }
        let mut all = Vec::new();
        each_stmt(body, &mut |stmt| all.push(stmt));
        all.retain(|stmt| !is_generated(stmt));
        all.into_iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        let at = stmt.span.start as usize;
        let written = self.of(stmt.span);
        // A branch may be one statement, beside which there is room for nothing.
        let is_alone = self.text[..at].trim_end().ends_with("else");
        let never = vec![before(at, "assert false; ")];
        let again = vec![before(at, &format!("{}; ", written.trim_end().trim_end_matches(';')))];
        match &stmt.kind {
            StmtKind::Assert(assertion) => self.negated(Kind::NegatedAssertion, assertion),
            StmtKind::While { invariants, .. } => {
                for clause in invariants {
                    self.negated(Kind::NegatedInvariant, clause);
                    self.dropped(Kind::DroppedInvariant, clause);
                }
            }
            StmtKind::If { arms, .. } => {
                for arm in arms {
                    let span = arm.condition.span;
                    let edit = vec![(span, format!("!({})", self.of(span)))];
                    self.add(Kind::NegatedCondition, span, edit, Probe::MayVerify);
                }
            }
            StmtKind::AssignField { receiver, field, .. } if !is_alone => {
                if let Some(edits) = self.losing(at, receiver, *field) {
                    self.add(Kind::HalvedAtWrite, stmt.span, edits, Probe::Reached(never));
                }
            }
            StmtKind::Release { .. } | StmtKind::Join { .. } | StmtKind::Free(_) if !is_alone => {
                self.add(Kind::RepeatedStatement, stmt.span, again, Probe::Reached(never));
                self.left_out(stmt);
            }
            StmtKind::Fold(_)
            | StmtKind::Unfold(_)
            | StmtKind::Acquire { .. }
            | StmtKind::Share { .. }
            | StmtKind::Unshare(_)
                if !is_alone =>
            {
                self.add(Kind::RepeatedStatement, stmt.span, again, Probe::MayVerify);
                self.left_out(stmt);
            }
            StmtKind::Send { .. } | StmtKind::Receive { .. } | StmtKind::Reorder { .. }
                if !is_alone =>
            {
                self.left_out(stmt);
            }
            _ => {}
        }
    }

    fn left_out(&mut self, stmt: &Stmt) {
        let edit = vec![(stmt.span, "assert true;".to_owned())];
        self.add(Kind::DroppedStatement, stmt.span, edit, Probe::MayVerify);
    }

    /// A call that loses half of a field, and the method that it calls.
    fn losing(&self, at: usize, receiver: &Expr, field: FieldId) -> Option<Vec<Edit>> {
        let Type::Class(class) = receiver.ty else { return None };
        let end = self.text[..self.end_of_class].rfind('}')?;
        let (class, field) = (&self.program.classes[class].name, &self.program.fields[field].name);
        let keeper = format!(" method {KEEPER}(o: {class}) requires acc(o.{field}, 50) {{ }} ");
        let object = match receiver.kind {
            ExprKind::This => "this",
            _ => self.of(receiver.span),
        };
        Some(vec![before(at, &format!("call {KEEPER}({object}); ")), before(end, &keeper)])
    }
}

fn before(at: usize, what: &str) -> Edit {
    (Span::at(at), what.to_owned())
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|(span, _)| span.start);
    let mut changed = text.to_owned();
    for (span, new) in edits.into_iter().rev() {
        changed.replace_range(span.start as usize..span.end as usize, new);
    }
    changed
}

/// Where a statement may be put: before each statement, and at the end of each block.
pub fn boundaries(text: &str, block: &Block) -> BTreeSet<usize> {
    fn collect(text: &str, block: &Block, to: &mut BTreeSet<usize>) {
        let (start, end) = (block.span.start as usize, block.span.end as usize);
        // A single statement behind `else` has no braces.
        let has_braces = text[start..end].starts_with(['{', '[']);
        if has_braces {
            let width = if text[start..end].ends_with("]]") { 2 } else { 1 };
            to.insert(end - width);
        }
        // Code of a refinement stands nowhere.
        let is_written = |stmt: &&Stmt| {
            let span = stmt.span;
            start < span.start as usize && span.end as usize <= end && !is_generated(stmt)
        };
        for stmt in block.stmts.iter().filter(is_written) {
            if has_braces {
                to.insert(stmt.span.start as usize);
            }
            each_block(stmt, &mut |inner| collect(text, inner, to));
        }
    }
    let mut all = BTreeSet::new();
    collect(text, block, &mut all);
    all
}

/// Is it code of a refinement, which is not written?
fn is_generated(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Prove(_) => true,
        StmtKind::Block(block) => block.is_ghost,
        _ => false,
    }
}

/// The conjuncts of a clause that are written as such.
fn conjuncts(clause: &Expr) -> Vec<&Expr> {
    match &clause.kind {
        ExprKind::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![clause],
    }
}

/// The accesses in a clause.
fn accesses(clause: &Expr) -> Vec<&Access> {
    let mut all = Vec::new();
    clause.for_each(&mut |part| {
        if let ExprKind::Access(access) = &part.kind {
            all.push(&**access);
        }
    });
    all
}

/// Tells whether a conjunct can be negated.
fn is_plain(conjunct: &Expr) -> bool {
    let moves = |part: &Expr| matches!(part.kind, ExprKind::Access(_) | ExprKind::Credit { .. });
    !matches!(conjunct.kind, ExprKind::Bool(_)) && !conjunct.any(&mut |part| moves(part))
}

/// All of a field's permission, unconditionally: nobody holds that twice.
fn is_full_access(conjunct: &Expr) -> bool {
    matches!(&conjunct.kind, ExprKind::Access(access)
        if access.amount.kind == PermissionKind::Full
            && matches!(access.target, AccessTarget::Field { .. }))
}

/// Verifies a mutant of what a way verifies without it, and asks the other way about what survives.
pub fn judge(text: &str, subject: &Subject, mutant: &Mutant, way: Way, limits: Limits) -> Fate {
    let changed = mutant.text(text);
    let name = match subject {
        Subject::Member(name) => name,
        Subject::Declaration(name) => return judge_users(text, &changed, name, way, limits),
    };
    match verdict(&changed, name, way, limits) {
        Some(Verdict::Verified) => {}
        Some(Verdict::Failed) => return Fate::Killed,
        _ => return Fate::Undecided,
    }
    // Chance decides whether somebody notices what follows from a function that fails.
    let suspect =
        || if has_bad_functions(&changed, way, limits) { Fate::Undecided } else { Fate::Suspect };
    if verdict(&changed, name, way.other(), limits) == Some(Verdict::Failed) {
        return suspect();
    }
    let Probe::Reached(probe) = &mutant.probe else { return Fate::MayVerify };
    let probe = edited(text, probe);
    if verdict(&probe, name, way, limits) != Some(Verdict::Verified)
        || verdict(&probe, name, way.other(), limits) == Some(Verdict::Failed)
    {
        return suspect();
    }
    let (start, end) = (mutant.span.start as usize, mutant.span.end as usize);
    let span = sil::source::Span::new(sil::source::FileId(0), start, end);
    let words = "the other way does not get there, either";
    Fate::Unreachable(Cause { words, span, suspicious: false })
}

fn has_bad_functions(text: &str, way: Way, limits: Limits) -> bool {
    let is_function =
        |one: &MemberOutcome| one.kind == MemberKind::Function || one.name.ends_with(&proof_of(""));
    let all = outcome(text, Vec::new(), way, limits);
    all.members.iter().any(|one| is_function(one) && one.verdict == Verdict::Failed)
}

/// Judges a change of a declaration by its users, if the error is not found in the declaration
/// itself: the other way is asked about each user that verifies.
fn judge_users(text: &str, changed: &str, name: &str, way: Way, limits: Limits) -> Fate {
    let all = |text, way| outcome(text, Vec::new(), way, limits);
    let ours = all(changed, way);
    if ours.members.is_empty() {
        return Fate::Undecided;
    }
    let is_it =
        |one: &MemberOutcome| one.name == name || one.name.starts_with(&format!("{name} ("));
    let failed = |one: &MemberOutcome| one.verdict == Verdict::Failed;
    if ours.members.iter().any(|one| is_it(one) && failed(one)) {
        return Fate::Killed;
    }
    let fails_on = |outcome: &Outcome, one: &MemberOutcome| {
        of_member(outcome, &one.name) == Some(Verdict::Failed)
    };
    let verified: Vec<_> =
        ours.members.iter().filter(|one| one.verdict == Verdict::Verified).collect();
    if !verified.is_empty() {
        let (others, before) = (all(changed, way.other()), all(text, way.other()));
        if verified.into_iter().any(|one| fails_on(&others, one) && !fails_on(&before, one)) {
            return Fate::Suspect;
        }
    }
    if ours.members.iter().any(failed) { Fate::Killed } else { Fate::MayVerify }
}

/// The verdict on a member of a text; `None`: it is no program.
pub fn verdict(text: &str, member: &str, way: Way, limits: Limits) -> Option<Verdict> {
    let members = vec![member.to_owned(), proof_of(member)];
    of_member(&outcome(text, members, way, limits), member)
}

/// Names the member that proves the termination of a function on one of the ways.
fn proof_of(member: &str) -> String {
    format!("{member} (termination)")
}

fn of_member(outcome: &Outcome, name: &str) -> Option<Verdict> {
    let proof = proof_of(name);
    let members = outcome.members.iter().filter(|one| one.name == name || one.name == proof);
    members.map(|one| one.verdict).max()
}

fn outcome(text: &str, members: Vec<String>, way: Way, limits: Limits) -> Outcome {
    let mut options = limits.options();
    options.members = members;
    let direct = way == Way::Direct;
    Session { direct, options, ..Session::default() }.run(&Input::text("planted.chalice", text))
}
