//! Classes that refine others (Leino and Yessenov 2012).
//!
//! A refining class has all members of the refined one. `replaces f by e` turns the field `f` into
//! a ghost and ties it to other fields; `refines` gives a method another body, and `transforms`
//! other code in places. The contract stays, and may promise more.
//!
//! The obligations become code: behind what replaces code, the replaced code runs once more, as
//! ghost code on copies of the state before ([`replay`]). Then both have to agree on variables and
//! fields. Replaced fields have no copies: ghost code is the only one that changes them, so they
//! are what the replaced code makes of them. The coupling invariant is part of every contract that
//! asks for them ([`coupling`]), so the end of the method shows it.
//!
//! SOUNDNESS
//! - What is verified is an ordinary class with ghost code in it: whatever this module leaves out,
//!   contracts hold.
//! - Ghost code ends: loops in it have measures. It fails instead of assuming, and its choices
//!   (specification statements) are those of the new code.
//! - Both sides see the same state apart from what is compared: the replaced code changes variables
//!   and fields of `this` only, and so does the new code, apart from fields that neither the
//!   refined class nor the contract names. Calls are part of the new code only where the contract
//!   asks for nothing but declared fields of `this`: with predicates, locks, credits or conditional
//!   permissions, nobody knows what a call may change.

mod coupling;
mod effects;
mod pattern;
mod replay;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::{
    Block, Class, Declaration, Expr, Formal, Ident, Member, MemberKind, Program, Signature, Spec,
    SpecKind, TypeExprKind,
};
use pattern::{Bodies, Scope};
use replay::{Names, Setting};

/// A part of the program, or the rule that it breaks.
type Found<T> = Result<T, Diagnostic>;

/// Gives refining classes the members that follow from the classes they refine. The rest of the
/// program is as before.
///
/// # Errors
/// The first rule of refinement that the program breaks.
pub(crate) fn flatten(program: &mut Program) -> Found<()> {
    let classes = program.declarations.iter().enumerate().filter_map(|(at, one)| match one {
        Declaration::Class(class) => Some((class.name.name.clone(), at)),
        Declaration::Channel(_) => None,
    });
    let places: FxHashMap<String, usize> = classes.collect();
    let mut names = Names::default();
    for one in &program.declarations {
        let Declaration::Class(class) = one else { continue };
        names.predicates.extend(class.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Predicate { name, .. } | MemberKind::Condition { name, .. } => {
                Some(name.name.clone())
            }
            _ => None,
        }));
    }
    let mut done = FxHashSet::default();
    for at in 0..program.declarations.len() {
        flatten_class(program, &names, &places, at, &mut done)?;
    }
    Ok(())
}

/// Gives a class its members, and first the classes that it refines.
fn flatten_class(
    program: &mut Program,
    names: &Names,
    places: &FxHashMap<String, usize>,
    at: usize,
    done: &mut FxHashSet<usize>,
) -> Found<()> {
    let mut chain = vec![at];
    while let Some(refined) = refined_by(program, *chain.last().unwrap_or(&at)) {
        let Some(&next) = places.get(&refined.name) else {
            let words = format!("there is no class `{}` to refine", refined.name);
            return Err(error(words, refined.span));
        };
        if chain.contains(&next) {
            return Err(error("a class cannot refine itself", refined.span));
        }
        chain.push(next);
    }
    for pair in chain.windows(2).rev() {
        let [at, refined] = *pair else { continue };
        if !done.insert(at) {
            continue;
        }
        let Declaration::Class(refined) = program.declarations[refined].clone() else { continue };
        if let Declaration::Class(class) = &mut program.declarations[at] {
            class.members = members(names, class, &refined)?;
        }
    }
    if chain.len() == 1
        && let Declaration::Class(class) = &program.declarations[at]
    {
        expect_nothing_to_refine(class)?;
    }
    Ok(())
}

fn refined_by(program: &Program, at: usize) -> Option<Ident> {
    match &program.declarations[at] {
        Declaration::Class(class) => class.refines.clone(),
        Declaration::Channel(_) => None,
    }
}

fn expect_nothing_to_refine(class: &Class) -> Found<()> {
    let refines = |member: &&Member| {
        matches!(
            member.kind,
            MemberKind::Coupling { .. } | MemberKind::Refine { .. } | MemberKind::Transform { .. }
        )
    };
    match class.members.iter().find(refines) {
        None => Ok(()),
        Some(member) => {
            let name = &class.name.name;
            let words = format!("`{name}` refines no class, so it has nothing to refine here");
            Err(error(words, member.span))
        }
    }
}

/// Reports a member that is refined twice.
fn expect_each_once(class: &Class) -> Found<()> {
    let mut seen = FxHashSet::default();
    for member in &class.members {
        if let MemberKind::Refine { signature, .. } | MemberKind::Transform { signature, .. } =
            &member.kind
            && !seen.insert(signature.name.name.as_str())
        {
            let words = format!("`{}` is refined twice", signature.name.name);
            return Err(error(words, signature.name.span));
        }
    }
    Ok(())
}

/// Returns the members of a class that refines another.
fn members(names: &Names, class: &Class, refined: &Class) -> Found<Vec<Member>> {
    expect_each_once(class)?;
    let couplings = coupling::of(class, refined)?;
    let replaced: Vec<String> =
        couplings.iter().flat_map(|coupling| coupling.fields.iter().cloned()).collect();
    let mut all = Vec::new();
    for member in &refined.members {
        let own = class.members.iter().find(|own| {
            name(own).is_some_and(|own| name(member).is_some_and(|name| name.name == own.name))
        });
        let mut inherited = member.clone();
        coupling::couple_member(&mut inherited, &couplings)?;
        match (own, &mut inherited.kind) {
            (None, _) => {}
            (Some(own), MemberKind::Method { signature, body }) => {
                let MemberKind::Method { signature: old, body: written } = &member.kind else {
                    continue;
                };
                let setting = Setting::new(names, (refined, class), old, &replaced);
                let bodies = Bodies { written: &written.stmts, coupled: &body.stmts };
                *body = new_body(own, old, &setting, bodies)?;
                let at = name(own).map_or(own.span, |name| name.span);
                body.stmts.extend(couplings.iter().flat_map(|one| one.at_end(old, at)));
                inherited.span = own.span;
                if let MemberKind::Refine { signature: new, .. }
                | MemberKind::Transform { signature: new, .. } = &own.kind
                {
                    signature.name = new.name.clone();
                    add_promises(signature, &new.specs)?;
                }
            }
            (Some(own), _) => return Err(inherited_already(own, refined)),
        }
        all.push(inherited);
    }
    for member in &class.members {
        match &member.kind {
            MemberKind::Coupling { .. } => {}
            MemberKind::Refine { signature, .. } | MemberKind::Transform { signature, .. } => {
                let is_refined = |one: &&Member| {
                    matches!(&one.kind, MemberKind::Method { signature: old, .. }
                        if old.name.name == signature.name.name)
                };
                if !refined.members.iter().any(|one| is_refined(&one)) {
                    let (name, of) = (&signature.name.name, &refined.name.name);
                    let words = format!("`{of}` has no method `{name}` to refine");
                    return Err(error(words, signature.name.span));
                }
            }
            _ => all.push(member.clone()),
        }
    }
    Ok(all)
}

/// Returns the body of a refined method, with what shows that it does what the old one does.
fn new_body(
    own: &Member,
    old: &Signature,
    setting: &Setting<'_>,
    bodies: Bodies<'_>,
) -> Found<Block> {
    let formals = old.parameters.iter().chain(&old.results);
    let old_names = formals.map(|formal| formal.name.name.clone()).collect();
    let mut scope = Scope { old: old_names, new: Vec::new() };
    match &own.kind {
        MemberKind::Refine { signature, body: new } => {
            expect_same_formals(signature, old)?;
            let (variables, at) = ((scope.old.as_slice(), &[][..]), signature.name.span);
            let stmts = setting.side_by_side(variables, bodies.written, &new.stmts, false, at)?;
            Ok(Block { stmts, span: new.span })
        }
        MemberKind::Transform { signature, pattern } => {
            expect_same_formals(signature, old)?;
            let stmts = pattern::transformed(setting, bodies, pattern, &mut scope)?;
            Ok(Block { stmts, span: pattern.span })
        }
        _ => Err(inherited_already(own, setting.class)),
    }
}

fn inherited_already(own: &Member, refined: &Class) -> Diagnostic {
    let name = name(own).map_or_else(String::new, |name| name.name.clone());
    let of = &refined.name.name;
    error(
        format!("`{name}` is a member of `{of}` already; a method is changed by `refines`"),
        own.span,
    )
}

fn expect_same_formals(new: &Signature, old: &Signature) -> Found<()> {
    let names = |signature: &Signature| {
        let all = signature.parameters.iter().chain(&signature.results);
        all.map(|Formal { name, ty }| {
            (name.clone(), ty.as_ref().map_or(TypeExprKind::Int, |ty| ty.kind.clone()))
        })
        .collect::<Vec<_>>()
    };
    if names(new) == names(old) && new.results.len() == old.results.len() {
        return Ok(());
    }
    let words = format!(
        "`{}` needs the parameters and results of the method that it refines, with the same names",
        new.name.name
    );
    Err(error(words, new.name.span))
}

/// Adds to a contract the promises of a refinement, which may add nothing else.
fn add_promises(signature: &mut Signature, specs: &[Spec]) -> Found<()> {
    for spec in specs {
        if !matches!(spec.kind, SpecKind::Ensures(_)) {
            let words = "a refinement can only add postconditions to the contract";
            return Err(error(words, spec.span));
        }
        signature.specs.push(spec.clone());
    }
    Ok(())
}

/// Returns the name of a member that has one.
fn name(member: &Member) -> Option<&Ident> {
    match &member.kind {
        MemberKind::Field { formal, .. } => Some(&formal.name),
        MemberKind::Method { signature, .. }
        | MemberKind::Function { signature, .. }
        | MemberKind::Refine { signature, .. }
        | MemberKind::Transform { signature, .. } => Some(&signature.name),
        MemberKind::Condition { name, .. } | MemberKind::Predicate { name, .. } => Some(name),
        MemberKind::Invariant(_) | MemberKind::Coupling { .. } => None,
    }
}

/// Returns the field of `this` that an expression is, if the name is no variable's.
fn own_field<'e>(e: &'e Expr, is_variable: &dyn Fn(&str) -> bool) -> Option<&'e str> {
    use crate::syntax::ExprKind;
    match &e.kind {
        ExprKind::Name(name) if !is_variable(name) => Some(name),
        ExprKind::Select { receiver, member } if receiver.kind == ExprKind::This => {
            Some(&member.name)
        }
        _ => None,
    }
}

fn error(words: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::new(Code::TypecheckerError, span, words)
}
