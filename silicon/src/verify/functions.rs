//! The functions of a group: their contracts, and then their bodies.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use sil::program::{FunctionId, Member};
use smt::prover::Workspace;

use super::member::verify_member;
use super::reports::both;
use super::tasks::observed;
use crate::engine::knowledge::functions::Phase;
use crate::engine::members::function::InSil;
use crate::engine::{Context, Engine, Visible};
use crate::report::{MemberReport, Severity};

/// Contracts first: a body may rely on those of its whole group, and on nothing else of it (trap T5a). But what a
/// function in `promise_late` promises is for later functions of that kind only.
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
    let phase = |phase: Phase, contracts_were: &[MemberReport]| -> Vec<MemberReport> {
        let part = match phase {
            Phase::Contract => "contract",
            Phase::Body => "body",
        };
        let outcomes: Vec<_> = functions
            .iter()
            .enumerate()
            .map(|(index, &function)| {
                let is_ill_formed = contracts_were.get(index).is_some_and(|report| {
                    report.findings.iter().any(|finding| finding.severity == Severity::Error)
                });
                let contracts = match phase {
                    Phase::Contract => Vec::new(),
                    Phase::Body => usable_contracts(function, functions, promise_late),
                };
                let visible = Visible { contracts: &contracts, ..visible };
                let member = Member::Function(function);
                let run = |engine: &mut Engine<'_>| {
                    engine.setting.recursion_group = group.clone();
                    let is_direct = context.direct.is_some();
                    let in_sil = InSil(&engine.program.functions[function]);
                    match phase {
                        // What builds on an ill-formed contract would be reported for no other reason.
                        Phase::Body if is_ill_formed => Ok(None),
                        Phase::Contract if is_direct => {
                            engine.direct_function_contract(function).map(Some)
                        }
                        Phase::Body if is_direct => engine.direct_function_body(function),
                        Phase::Contract => {
                            engine.verify_function_contract(in_sil, function).map(Some)
                        }
                        Phase::Body => engine.verify_function_body(in_sil, function),
                    }
                };
                observed(context, member, None, |_| {
                    verify_member(context, member, part, visible, workspace, run)
                })
            })
            .collect();
        let mut reports = Vec::with_capacity(functions.len());
        for (&function, (report, axioms)) in functions.iter().zip(outcomes) {
            if let Some(axioms) = axioms {
                context.functions.insert(function, phase, Arc::new(axioms));
            }
            reports.push(report);
        }
        reports
    };
    let contracts = phase(Phase::Contract, &[]);
    let bodies = phase(Phase::Body, &contracts);
    let reports = contracts.into_iter().zip(bodies).map(|(contract, body)| both(contract, body));
    functions.iter().map(|&function| Member::Function(function)).zip(reports).collect()
}

/// The functions of a group whose contracts the body of `function` may be checked with.
fn usable_contracts(
    function: FunctionId,
    functions: &[FunctionId],
    promise_late: &[FunctionId],
) -> Vec<FunctionId> {
    let early = functions.iter().filter(|other| !promise_late.contains(other));
    let own_place = promise_late.iter().position(|&other| other == function).unwrap_or(0);
    early.chain(&promise_late[..own_place]).copied().collect()
}
