//! The functions of a group: their contracts, and then their bodies.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use sil::program::{FunctionId, Member};
use smt::prover::Workspace;

use super::member::verify_member;
use super::reports::both;
use super::tasks::observed;
use symex::knowledge::functions::Phase;
use symex::report::{MemberReport, Severity};
use symex::{Context, Engine, Visible};
use symex_sil::members::function::InSil;
use syxc::Statements;

/// Contracts first: a body may rely on those of its whole group (trap T5a). But what a function in
/// `promise_late` promises is for later functions of that kind only. A body may rely on the
/// definitions of the bodies checked before, too.
///
/// SOUNDNESS: contracts are proved by induction on how long bodies take. What a body applies takes
/// less time, and meets its definition. What the postcondition applies need not end, and a
/// definition may contradict itself where it does not: so those in `promise_late` get none.
pub(super) fn functions_of_group(
    context: &Context<'_>,
    functions: &[FunctionId],
    recursive: bool,
    promise_late: &[FunctionId],
    visible: Visible<'_>,
    workspace: &Workspace,
) -> Vec<(Member, MemberReport)> {
    let group: FxHashSet<FunctionId> =
        if recursive { functions.iter().copied().collect() } else { FxHashSet::default() };
    let check =
        |phase: Phase, index: usize, contract: Option<&MemberReport>, shown: &[FunctionId]| {
            let function = functions[index];
            let part = match phase {
                Phase::Contract => "contract",
                Phase::Body => "body",
            };
            let is_ill_formed = contract.is_some_and(has_error);
            let contracts = match phase {
                Phase::Contract => Vec::new(),
                Phase::Body => usable_contracts(function, functions, promise_late),
            };
            let is_late = promise_late.contains(&function);
            let is_usable = |other: &&FunctionId| !is_late && contracts.contains(other);
            let definitions: Vec<_> = shown.iter().filter(is_usable).copied().collect();
            let visible = Visible { contracts: &contracts, definitions: &definitions, ..visible };
            let member = Member::Function(function);
            let run = |engine: &mut Engine<'_>| {
                engine.setting.recursion_group = group.clone();
                engine.setting.is_function = true;
                let is_direct = context.own.is_some();
                let in_sil = InSil(&engine.program.functions[function]);
                match phase {
                    // A body that builds on an ill-formed contract would be reported for no other
                    // reason.
                    Phase::Body if is_ill_formed => Ok(None),
                    Phase::Contract if is_direct => {
                        Statements::of(engine).function_contract(function).map(Some)
                    }
                    Phase::Body if is_direct => Statements::of(engine).function_body(function),
                    Phase::Contract => engine.verify_function_contract(in_sil, function).map(Some),
                    Phase::Body => engine.verify_function_body(in_sil, function),
                }
            };
            observed(context, member, None, |_| {
                verify_member(context, member, part, visible, workspace, run)
            })
        };
    let all = 0..functions.len();
    let outcomes: Vec<_> =
        all.clone().map(|index| check(Phase::Contract, index, None, &[])).collect();
    let mut contracts = Vec::with_capacity(functions.len());
    for (&function, (report, axioms)) in functions.iter().zip(outcomes) {
        if let Some(axioms) = axioms {
            context.functions.insert(function, Phase::Contract, Arc::new(axioms));
        }
        contracts.push(report);
    }
    let mut bodies: Vec<Option<MemberReport>> = vec![None; functions.len()];
    let mut shown: Vec<FunctionId> = Vec::new();
    let mut open: Vec<usize> = all.collect();
    // Functions that have failed are looked at again if more definitions have been shown since.
    while !open.is_empty() {
        let mut failed = Vec::new();
        for index in open {
            let (report, axioms) = check(Phase::Body, index, Some(&contracts[index]), &shown);
            if has_error(&report) && !promise_late.contains(&functions[index]) {
                failed.push((index, shown.len()));
            }
            bodies[index] = Some(report);
            // A body that is looked at again may have shown its definition before.
            if let Some(axioms) = axioms
                && !shown.contains(&functions[index])
            {
                context.functions.insert(functions[index], Phase::Body, Arc::new(axioms));
                shown.push(functions[index]);
            }
        }
        failed.retain(|(_, known)| *known < shown.len());
        open = failed.into_iter().map(|(index, _)| index).collect();
    }
    let bodies = bodies.into_iter().flatten();
    let reports = contracts.into_iter().zip(bodies).map(|(contract, body)| both(contract, body));
    functions.iter().map(|&function| Member::Function(function)).zip(reports).collect()
}

fn has_error(report: &MemberReport) -> bool {
    report.findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Returns the functions of a group whose contracts the body of `function` may be checked with.
fn usable_contracts(
    function: FunctionId,
    functions: &[FunctionId],
    promise_late: &[FunctionId],
) -> Vec<FunctionId> {
    let early = functions.iter().filter(|other| !promise_late.contains(other));
    let own_place = promise_late.iter().position(|&other| other == function).unwrap_or(0);
    early.chain(&promise_late[..own_place]).copied().collect()
}
