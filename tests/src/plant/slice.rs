//! Leaves out of a program what the verification of one member cannot depend on.

use std::collections::BTreeSet;

use sil::program::{Contract, DecreasesKind, FunctionId, Member, MethodId, PredicateId, Program};
use sil::walk::Uses;

/// The program with the functions and predicates that a member does not mention, directly or not,
/// reduced to their signatures: functions are verified before everything else, once for each
/// mutant.
pub(super) fn around(program: &Program, member: Member) -> Program {
    let needed = Needed::of(program, member);
    let mut slice = program.clone();
    for (id, function) in slice.functions.iter_mut() {
        if !needed.functions.contains(&id) {
            function.contract = Contract::default();
            function.body = None;
        }
    }
    for (id, predicate) in slice.predicates.iter_mut() {
        if !needed.predicates.contains(&id) {
            predicate.body = None;
        }
    }
    for (id, method) in slice.methods.iter_mut() {
        if Member::Method(id) != member {
            method.implementations.clear();
        }
    }
    slice
}

/// The declarations that a member mentions, through contracts, bodies and axioms.
#[derive(Default)]
struct Needed {
    functions: BTreeSet<FunctionId>,
    predicates: BTreeSet<PredicateId>,
    methods: BTreeSet<MethodId>,
    open: Uses,
}

impl Needed {
    fn of(program: &Program, member: Member) -> Self {
        let mut needed = Self::default();
        // Axioms are there for everybody.
        for (_, domain) in program.domains.iter() {
            domain.axioms.iter().for_each(|axiom| needed.open.add_expr(&axiom.body));
        }
        match member {
            Member::Method(id) => {
                needed.open.methods.insert(id);
                for implementation in &program.methods[id].implementations {
                    needed.add(Uses::of_body(&implementation.body));
                }
            }
            Member::Function(id) => {
                needed.open.functions.insert(id);
            }
            Member::Predicate(id) => {
                needed.open.predicates.insert(id);
            }
            Member::Field(_) | Member::Domain(_) => {}
        }
        needed.close(program);
        needed
    }

    fn add(&mut self, uses: Uses) {
        self.open.functions.extend(uses.functions);
        self.open.predicates.extend(uses.predicates);
        self.open.methods.extend(uses.methods);
    }

    fn close(&mut self, program: &Program) {
        loop {
            let open = std::mem::take(&mut self.open);
            let mut grown = false;
            for id in open.functions {
                if self.functions.insert(id) {
                    grown = true;
                    let function = &program.functions[id];
                    self.add_contract(&function.contract);
                    function.body.iter().for_each(|body| self.open.add_expr(body));
                }
            }
            for id in open.predicates {
                if self.predicates.insert(id) {
                    grown = true;
                    program.predicates[id].body.iter().for_each(|body| self.open.add_expr(body));
                }
            }
            for id in open.methods {
                if self.methods.insert(id) {
                    grown = true;
                    self.add_contract(&program.methods[id].contract);
                }
            }
            if !grown {
                return;
            }
        }
    }

    fn add_contract(&mut self, contract: &Contract) {
        for expr in contract.preconditions.iter().chain(&contract.postconditions) {
            self.open.add_expr(expr);
        }
        for clause in &contract.decreases {
            if let DecreasesKind::Tuple(elements) = &clause.kind {
                elements.iter().for_each(|expr| self.open.add_expr(expr));
            }
            clause.condition.iter().for_each(|expr| self.open.add_expr(expr));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mentioned_stays() {
        let text = "function used(): Int ensures result > deep() { 1 }
            function deep(): Int { 0 }
            function other(): Int { 2 }
            predicate p() { used() > 0 }
            method callee() requires p()
            method m() { callee() }";
        let program = sil::load::load_text("test.sil", text).program.expect("well formed");
        let member = *program.order.last().expect("there are members");
        let slice = around(&program, member);
        let has_body = |name: &str| {
            slice.functions.iter().any(|(_, one)| &*one.name == name && one.body.is_some())
        };
        assert!(has_body("used") && has_body("deep") && !has_body("other"));
        assert!(slice.predicates.iter().all(|(_, predicate)| predicate.body.is_some()));
    }
}
