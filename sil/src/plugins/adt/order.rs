//! The well-founded order of an adt's values for termination checks: parts are smaller than the
//! whole.

use front::grow_stack;

use crate::diagnostics::Diagnostic;
use crate::imports;
use crate::source::{Name, Sources};
use crate::syntax::{
    Adt, Block, Body, Contract, Decreases, DecreasesKind, Domain, Expr, Graph, MemberKind,
    NodeKind, Program, StmtKind, Type,
};

use super::tree::{Tree, substitute};
use super::{
    Adts, application, argument_types, destructor_name, self_type, tag, tag_name, transitive,
};

const ORDER: &str = "WellFoundedOrder";

/// How many ways from an adt through others back to itself are followed.
const MAX_WAYS: usize = 64;

/// Tells whether orders are needed. If there are termination clauses but no [`ORDER`] yet, it is
/// imported.
pub(super) fn is_wanted(
    program: &mut Program,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let is_declared = |program: &Program| has_domain(program, ORDER);
    if !is_declared(program) && has_tuples(program) {
        imports::add_standard("decreases/declaration.vpr", program, sources, diagnostics);
    }
    is_declared(program)
}

/// Tells whether the user declares how values of the adt are ordered.
pub(super) fn is_declared(program: &Program, adt: &Adt) -> bool {
    has_domain(program, &format!("{}{ORDER}", adt.name.name))
}

fn has_domain(program: &Program, name: &str) -> bool {
    program.members.iter().any(|member| match &member.kind {
        MemberKind::Domain(domain) => &*domain.name.name == name,
        _ => false,
    })
}

/// Returns the domain `AWellFoundedOrder`.
///
/// SOUNDNESS: of what has no finite value nothing is said. Its parts have parts for ever, and a
/// function that visits them never ends; that each is smaller, and all are bounded, holds of no
/// value at all (`termination/adts_without_finite_values`).
pub(super) fn domain(adt: &Adt, adts: &Adts) -> Domain {
    let tree = Tree { span: adt.name.span };
    let whole = self_type(adt);
    let mut axioms = Vec::new();
    let mut is_recursive = false;
    let is_finite = adts.has_finite_value(&whole);
    let constructors = if is_finite { &adt.constructors[..] } else { &[] };
    for constructor in constructors {
        let made = application(adt, constructor);
        let types = argument_types(constructor, tree.span);
        let mut facts = Vec::new();
        for ((variable, _), ty) in made.variables.iter().zip(types) {
            let mut ways = Ways { adts, whole: &whole, tree, found: Vec::new() };
            ways.follow(&tree.variable(variable), &ty, &[], &mut Vec::new());
            facts.extend(ways.found.into_iter().map(|(conditions, part)| {
                let smaller = tree.call("decreasing", vec![part, made.term.clone()]);
                if conditions.is_empty() {
                    smaller
                } else {
                    tree.implies(tree.and(conditions), smaller)
                }
            }));
        }
        if !facts.is_empty() {
            is_recursive = true;
            let triggers = vec![vec![made.term.clone()]];
            axioms.push(tree.axiom(tree.forall(&made.variables, triggers, tree.and(facts))));
        }
    }
    if is_recursive {
        axioms.push(transitive(tree, "decreasing", [whole.clone(), whole.clone(), whole.clone()]));
    }
    if is_finite {
        let bounded = tree.call("bounded", vec![tree.variable("t$")]);
        let variables = [(Name::from("t$"), whole)];
        axioms.push(tree.axiom(tree.forall(&variables, vec![vec![bounded.clone()]], bounded)));
    }
    Domain {
        name: tree.ident(&format!("{}{ORDER}", adt.name.name)),
        parameters: adt.parameters.clone(),
        interpretations: Vec::new(),
        functions: Vec::new(),
        axioms,
    }
}

/// The search for values of a type inside a value of another one.
struct Ways<'a> {
    adts: &'a Adts,
    whole: &'a Type,
    tree: Tree,
    /// Under which conditions which term is a part of the type looked for.
    found: Vec<(Vec<Expr>, Expr)>,
}

impl Ways<'_> {
    /// Looks for parts in `value`, which is of type `ty` under `conditions`; `seen` are the adts
    /// passed so far.
    fn follow(&mut self, value: &Expr, ty: &Type, conditions: &[Expr], seen: &mut Vec<Name>) {
        if self.found.len() >= MAX_WAYS {
            return;
        }
        let tree = self.tree;
        if ty == self.whole {
            self.found.push((conditions.to_vec(), value.clone()));
            return;
        }
        let Some((adt, instance)) = self.adts.instance(ty) else { return };
        if seen.contains(&adt.name.name) {
            return;
        }
        seen.push(adt.name.name.clone());
        for constructor in &adt.constructors {
            // A destructor says something about values of its own constructor only.
            let number = tag(adt, &constructor.name.name);
            let is_made_so = tree.call(&tag_name(&adt.name.name), vec![value.clone()]);
            let mut conditions = conditions.to_vec();
            conditions.push(tree.eq(is_made_so, tree.int(number)));
            for formal in &constructor.formals {
                let name = destructor_name(&adt.name.name, &formal.name.name);
                let part = tree.call(&name, vec![value.clone()]);
                let ty = substitute(&formal.ty, &instance, tree.span);
                grow_stack(|| self.follow(&part, &ty, &conditions, seen));
            }
        }
        seen.pop();
    }
}

// ---- termination clauses
// -----------------------------------------------------------------------------------

/// Tells whether there is a termination clause with something to compare.
fn has_tuples(program: &Program) -> bool {
    program.members.iter().any(|member| match &member.kind {
        MemberKind::Function(function) => in_contract(&function.contract),
        MemberKind::Method(method) => {
            in_contract(&method.contract)
                || method.implementations.iter().any(|implementation| match &implementation.body {
                    Body::Structured(block) => in_block(block),
                    Body::Graph(graph) => in_graph(graph),
                })
        }
        _ => false,
    })
}

fn in_contract(contract: &Contract) -> bool {
    in_clauses(&contract.decreases)
}

fn in_clauses(clauses: &[Decreases]) -> bool {
    clauses.iter().any(|clause| match &clause.kind {
        DecreasesKind::Tuple(elements) => !elements.is_empty(),
        DecreasesKind::Wildcard | DecreasesKind::Star => false,
    })
}

fn in_block(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::While { decreases, body, .. } => {
            in_clauses(decreases) || grow_stack(|| in_block(body))
        }
        StmtKind::Label { decreases, .. } => in_clauses(decreases),
        StmtKind::If { then, otherwise, .. } => {
            grow_stack(|| in_block(then) || otherwise.as_ref().is_some_and(in_block))
        }
        StmtKind::Block(block) => grow_stack(|| in_block(block)),
        _ => false,
    })
}

fn in_graph(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| {
        in_clauses(&node.decreases)
            || match &node.kind {
                NodeKind::Block { .. } => false,
                NodeKind::Loop { graph, .. } => grow_stack(|| in_graph(graph)),
            }
    })
}
