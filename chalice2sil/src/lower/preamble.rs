//! Fields and domains that a generated program needs beside what the Chalice program declares.

use chalice::program::Type;
use num_bigint::BigInt;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::Lowering;
use crate::build::*;
use crate::names::fixed;

/// The parts of the preamble that generated code refers to.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) levels: bool,
    pub(crate) level_maps: bool,
    pub(crate) read_fraction: bool,
    pub(crate) fork_fraction: bool,
    pub(crate) counting: bool,
    pub(crate) readers: bool,
    pub(crate) joinable: bool,
    pub(crate) credits: bool,
    pub(crate) classes: bool,
    pub(crate) state_maps: bool,
    pub(crate) fork_states: bool,
    pub(crate) set_sums: bool,
}

impl Lowering<'_> {
    /// Returns the SIL type of a Chalice type.
    pub(crate) fn ty(&self, of: &Type) -> s::Type {
        match of {
            Type::Int => ty(TypeKind::Int),
            Type::Bool => ty(TypeKind::Bool),
            Type::String => domain_type(fixed::STRING),
            Type::Mu => self.level_type(),
            Type::Null | Type::Class(_) | Type::Channel(_) | Type::Token(_) | Type::Unknown => {
                ty(TypeKind::Ref)
            }
            Type::Seq(element) => ty(TypeKind::Seq(Box::new(self.ty(element)))),
            Type::Set(element) => ty(TypeKind::Set(Box::new(self.ty(element)))),
        }
    }

    /// Returns the type of lock levels.
    pub(crate) fn level_type(&self) -> s::Type {
        self.used.borrow_mut().levels = true;
        domain_type(fixed::LEVEL)
    }

    /// Returns the type of maps from objects to lock levels.
    pub(crate) fn levels_type(&self) -> s::Type {
        self.used.borrow_mut().level_maps = true;
        domain_type(fixed::LEVELS)
    }

    /// Returns the type of maps from channels to credits.
    pub(crate) fn credits_type(&self) -> s::Type {
        self.used.borrow_mut().credits = true;
        domain_type(fixed::CREDITS)
    }

    /// `Set[Ref]`
    pub(crate) fn objects_type(&self) -> s::Type {
        ty(TypeKind::Set(Box::new(ty(TypeKind::Ref))))
    }

    /// Returns the constant that a string literal is.
    pub(crate) fn string(&self, text: &str) -> s::Expr {
        let (index, _) = self.strings.borrow_mut().insert_full(text.to_owned());
        call(&string_name(index), Vec::new())
    }

    /// Returns some value of a type.
    pub(crate) fn any_value(&self, of: &Type) -> s::Expr {
        match of {
            Type::Int => int(0),
            Type::Bool => truth(true),
            Type::String => self.string(""),
            Type::Mu => self.lockbottom(),
            Type::Seq(element) => literal(s::Collection::Seq, self.ty(element), Vec::new()),
            Type::Set(element) => literal(s::Collection::Set, self.ty(element), Vec::new()),
            Type::Null | Type::Class(_) | Type::Channel(_) | Type::Token(_) | Type::Unknown => {
                null()
            }
        }
    }

    /// Returns the least lock level, that of objects that are not shared.
    pub(crate) fn lockbottom(&self) -> s::Expr {
        self.used.borrow_mut().levels = true;
        call(fixed::LOCKBOTTOM, Vec::new())
    }

    /// `lower << upper`
    pub(crate) fn below(&self, lower: s::Expr, upper: s::Expr) -> s::Expr {
        self.used.borrow_mut().levels = true;
        call(fixed::BELOW, vec![lower, upper])
    }

    /// `e.mu`
    pub(crate) fn level_of(&self, object: s::Expr) -> s::Expr {
        self.used.borrow_mut().levels = true;
        field(object, fixed::MU)
    }

    /// Returns the level of an object in a map of levels.
    pub(crate) fn level_at(&self, levels: s::Expr, object: s::Expr) -> s::Expr {
        self.used.borrow_mut().level_maps = true;
        call(fixed::LEVEL_AT, vec![levels, object])
    }

    /// Returns the read fraction common to predicates, monitors and channels.
    pub(crate) fn common_fraction(&self) -> s::Expr {
        self.used.borrow_mut().read_fraction = true;
        call(fixed::READ_FRACTION, Vec::new())
    }

    /// Returns the read fraction of the fork that made a token.
    pub(crate) fn fork_fraction(&self, token: s::Expr) -> s::Expr {
        self.used.borrow_mut().fork_fraction = true;
        call(fixed::FORK_FRACTION, vec![token])
    }

    /// Returns the lower bound of every fraction: nothing, or any number of counting permissions.
    pub(crate) fn least_fraction(&self) -> s::Expr {
        if !self.facts.counting {
            return none();
        }
        self.used.borrow_mut().counting = true;
        self.used.borrow_mut().read_fraction = true;
        call(fixed::ALL_COUNTED, Vec::new())
    }

    /// Makes the claim that a fraction is far above all counting permissions; nothing in programs
    /// without them.
    pub(crate) fn above_counting(&self, fraction: s::Expr) -> Option<s::Expr> {
        self.facts.counting.then(|| self.known_fraction(fraction))
    }

    /// Makes the known bound of an amount that is a fraction. The bound to show is less:
    /// [`Self::least_fraction`] is below a fraction, and never below counting permissions.
    pub(crate) fn known_fraction(&self, amount: s::Expr) -> s::Expr {
        lt(mul(int(1000), self.least_fraction()), amount)
    }

    /// One counting permission.
    pub(crate) fn counting_fraction(&self) -> s::Expr {
        self.used.borrow_mut().counting = true;
        self.used.borrow_mut().read_fraction = true;
        call(fixed::COUNTING, Vec::new())
    }

    /// Returns a reader's share of what a monitor counts.
    pub(crate) fn readers_fraction(&self) -> s::Expr {
        self.used.borrow_mut().readers = true;
        // Its bound.
        self.counting_fraction();
        call(fixed::READERS, Vec::new())
    }

    /// Everything in use, in a fixed order.
    pub(crate) fn preamble(&self) -> Vec<s::Member> {
        let used = *self.used.borrow();
        let mut members = Vec::new();
        let levels = used.levels || used.level_maps || self.facts.levels;
        if levels {
            members.push(field_member(fixed::MU, domain_type(fixed::LEVEL)).with(named(fixed::MU)));
        }
        if used.joinable {
            members.push(
                field_member(fixed::JOINABLE, ty(TypeKind::Bool)).with(named(fixed::JOINABLE)),
            );
        }
        if levels {
            let domain = parsed(include_str!("preamble/levels.sil"));
            members.extend(domain.into_iter().map(|domain| domain.with(values_called("level"))));
        }
        if used.level_maps {
            let (name, read, write) = (fixed::LEVELS, fixed::LEVEL_AT, fixed::LEVEL_SET);
            members.extend(map_domain(name, read, write, fixed::LEVEL));
        }
        if used.credits {
            members.extend(credit_domain());
        }
        if used.read_fraction || used.fork_fraction {
            members.extend(fraction_domain(used, &self.facts.most_counted));
        }
        if used.classes {
            members.push(self.class_domain());
        }
        if used.state_maps {
            let (name, read, write) = (fixed::STATES, fixed::STATE_AT, fixed::STATE_SET);
            members.extend(map_domain(name, read, write, "Int"));
        }
        if used.set_sums {
            members.extend(parsed(include_str!("preamble/set_sums.sil")));
        }
        members.extend(self.recorded_domain(used));
        let strings = self.strings.borrow();
        if !strings.is_empty()
            || self.program.locals.iter().any(|(_, local)| mentions_string(&local.ty))
            || self.program.fields.iter().any(|(_, field)| mentions_string(&field.ty))
            || self.program.functions.iter().any(|(_, function)| mentions_string(&function.result))
        {
            let constants = (0..strings.len())
                .map(|index| unique_constant(&string_name(index), domain_type(fixed::STRING)));
            members.push(domain(fixed::STRING, constants.collect(), Vec::new()));
        }
        members
    }

    /// Makes the axioms about recorded states, by their numbers.
    fn recorded_domain(&self, used: Used) -> Option<s::Member> {
        let (state, object) =
            (|| typed("state", ty(TypeKind::Int)), || typed("object", ty(TypeKind::Ref)));
        let mut functions: Vec<_> = self
            .recorded
            .borrow()
            .iter()
            .map(|(name, result)| domain_function(name, vec![state(), object()], result.clone()))
            .collect();
        for &id in self.recorded_functions.borrow().iter() {
            let function = &self.program.functions[id];
            let mut formals = vec![state()];
            if !function.is_static {
                formals.push(object());
            }
            formals.extend(function.parameters.iter().enumerate().map(|(number, &local)| {
                typed(&format!("x{number}"), self.ty(&self.program.locals[local].ty))
            }));
            let name = self.names.borrow().functions_then[id].clone();
            functions.push(domain_function(&name, formals, self.ty(&function.result)));
        }
        if used.fork_states {
            let token = typed("token", ty(TypeKind::Ref));
            functions.push(domain_function(fixed::FORK_STATE, vec![token], ty(TypeKind::Int)));
        }
        (!functions.is_empty()).then(|| domain(fixed::RECORDED, functions, Vec::new()))
    }

    /// Classes as values: an object is of exactly one class.
    fn class_domain(&self) -> s::Member {
        let class = || domain_type(fixed::CLASS);
        let mut functions: Vec<_> = self
            .program
            .classes
            .iter()
            .map(|(id, _)| unique_constant(&self.class_constant(id), class()))
            .collect();
        functions.push(domain_function(
            fixed::TYPE_OF,
            vec![typed("object", ty(TypeKind::Ref))],
            class(),
        ));
        domain(fixed::CLASS, functions, Vec::new())
    }
}

fn mentions_string(of: &Type) -> bool {
    match of {
        Type::String => true,
        Type::Seq(element) | Type::Set(element) => mentions_string(element),
        _ => false,
    }
}

fn string_name(index: usize) -> String {
    format!("string_{index}")
}

/// Makes total maps from objects to values.
fn map_domain(name: &str, read: &str, write: &str, value: &str) -> Vec<s::Member> {
    map_domain_with(name, read, write, value, ("", ""))
}

/// Makes such maps with more functions and axioms.
fn map_domain_with(
    name: &str,
    read: &str,
    write: &str,
    value: &str,
    (functions, axioms): (&str, &str),
) -> Vec<s::Member> {
    let values =
        [('M', name), ('R', read), ('W', write), ('V', value), ('F', functions), ('A', axioms)];
    parsed(&filled(include_str!("preamble/map.sil"), &values))
}

fn credit_domain() -> Vec<s::Member> {
    let functions = "
        function no_credits(): CreditMap
        function channel_mu(channel: Ref): Mu";
    // Where a channel is made, its level is chosen above the least one.
    let axioms = "
        axiom no_credits_zero
        { forall o: Ref :: {credit_at(no_credits(), o)} credit_at(no_credits(), o) == 0 }
        axiom channels_are_shared
        { forall o: Ref :: {channel_mu(o)} channel_mu(o) != lockbottom() }";
    let more = (functions, axioms);
    map_domain_with(fixed::CREDITS, fixed::CREDIT_AT, fixed::CREDIT_SET, "Int", more)
}

/// Read fractions are positive and less than a thousandth of one percent.
fn is_small(fraction: s::Expr) -> s::Expr {
    let percent = binary(s::BinaryOp::Div, int(1), int(100));
    and([lt(none(), fraction.clone()), lt(mul(int(1000), fraction), percent)])
}

impl Lowering<'_> {
    /// Makes the known facts about every read fraction.
    pub(crate) fn is_read_fraction(&self, fraction: s::Expr) -> s::Expr {
        let above = self.above_counting(fraction.clone()).unwrap_or_else(|| truth(true));
        and([is_small(fraction), above])
    }
}

/// Fractions and counting permissions.
///
/// SOUNDNESS: counting permissions are infinitely smaller than fractions, which no rational is. An
/// execution chooses finitely many fractions and counts finitely often, so there are positive
/// rationals `all_counted` below all of its fractions and `counting_fraction` such that all of its
/// numbers of counting permissions are below `all_counted`. What is claimed of the two are such
/// upper bounds; what is held is taken for a fraction only if it is above `all_counted`. For the
/// same reason there is a positive `readers_fraction` such that all shares that readers hold of
/// what is counted are below `counting_fraction`. A thousand times as many counting permissions as
/// are written anywhere are still few.
fn fraction_domain(used: Used, most_counted: &BigInt) -> Vec<s::Member> {
    let small = |fraction: &str| format!("none < {fraction} && 1000 * {fraction} < 1 / 100");
    let above_counting = |fraction: &str| {
        let claim = format!(" && 1000 * all_counted() < {fraction}");
        if used.counting { claim } else { String::new() }
    };
    let mut text = format!("domain {} {{\n", fixed::FRACTIONS);
    if used.read_fraction {
        let small = small("read_fraction()");
        text += "@src.name(\"rd\") function read_fraction(): Perm\n";
        text += &format!("axiom read_fraction_small {{ {small} }}\n");
    }
    if used.counting {
        let many = most_counted.max(&BigInt::from(1000)) * 1000;
        let above = above_counting("read_fraction()");
        text += "@src.name(\"ε\") function counting_fraction(): Perm\n";
        text += "function all_counted(): Perm\n";
        text += &format!(
            "axiom counting_fraction_small {{ none < counting_fraction() && \
             {many} * counting_fraction() < all_counted(){above} }}\n"
        );
    }
    if used.readers {
        text += "function readers_fraction(): Perm\n\
                 axiom readers_fraction_small { none < readers_fraction() && \
                 1000 * readers_fraction() < counting_fraction() }\n";
    }
    if used.fork_fraction {
        let of = "fork_fraction(token)";
        let (small, above) = (small(of), above_counting(of));
        text += "function fork_fraction(token: Ref): Perm\n";
        text += &format!(
            "axiom fork_fraction_small {{ forall token: Ref :: {{ {of} }} {small}{above} }}\n"
        );
    }
    parsed(&(text + "}"))
}
