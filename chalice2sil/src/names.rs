//! Names of the generated program.
//!
//! SIL has one name space for all global names, and a local may not hide anything; Chalice has one
//! name space per class. A member `m` of class `C` is therefore called `C_m`; where that name is
//! taken, a number is added.

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::build::unused;
use sil::source::Name;

use chalice::program::{
    ChannelId, ClassId, FieldId, FunctionId, LocalId, LocalKind, Member, MethodId, PredicateId,
    Program,
};

/// Names that the lowering gives to what it adds to every program that needs it.
pub(crate) mod fixed {
    /// Makes the names, and the list of all of them.
    macro_rules! names {
        ($($name:ident = $text:literal,)*) => {
            $(pub(crate) const $name: &str = $text;)*
            pub(crate) const ALL: &[&str] = &[$($name,)*];
        };
    }

    names! {
        MU = "mu",
        JOINABLE = "joinable",
        LEVEL = "Mu",
        BELOW = "below",
        LOCKBOTTOM = "lockbottom",
        LEVELS = "MuMap",
        LEVEL_AT = "mu_at",
        LEVEL_SET = "mu_set",
        CREDITS = "CreditMap",
        CREDIT_AT = "credit_at",
        CREDIT_SET = "credit_set",
        NO_CREDITS = "no_credits",
        CHANNEL_LEVEL = "channel_mu",
        FRACTIONS = "ReadFractions",
        READ_FRACTION = "read_fraction",
        FORK_FRACTION = "fork_fraction",
        COUNTING = "counting_fraction",
        READERS = "readers_fraction",
        ALL_COUNTED = "all_counted",
        STRING = "String",
        CLASS = "Class",
        TYPE_OF = "typeOf",
        STATES = "StateMap",
        STATE_AT = "state_at",
        STATE_SET = "state_set",
        RECORDED = "States",
        FORK_STATE = "fork_state",
        VALUATION = "Valuation",
        VALUE_IN = "value_in",
        SUM_OVER = "sum_over",
        MU_THEN = "mu_then",
        MU_PERMISSION_THEN = "mu_permission_then",
        JOINABLE_THEN = "joinable_then",
        JOINABLE_PERMISSION_THEN = "joinable_permission_then",
    }
}

/// The global names of one generated program.
#[derive(Debug, Default)]
pub(crate) struct Names {
    used: FxHashSet<Name>,
    pub(crate) fields: ArenaMap<FieldId, Name>,
    pub(crate) methods: ArenaMap<MethodId, Name>,
    pub(crate) functions: ArenaMap<FunctionId, Name>,
    /// The methods that check that recursive functions end.
    pub(crate) terminations: ArenaMap<FunctionId, Name>,
    pub(crate) predicates: ArenaMap<PredicateId, Name>,
    /// Values of fields in recorded states.
    pub(crate) fields_then: ArenaMap<FieldId, Name>,
    /// Permissions to fields in recorded states.
    pub(crate) permissions_then: ArenaMap<FieldId, Name>,
    /// Values of functions in recorded states.
    pub(crate) functions_then: ArenaMap<FunctionId, Name>,
    /// Permissions to predicates in recorded states.
    pub(crate) predicates_then: ArenaMap<PredicateId, Name>,
    /// Back pointers of tracked fields.
    pub(crate) back_pointers: ArenaMap<FieldId, Name>,
    /// The methods that check history constraints.
    pub(crate) histories: ArenaMap<ClassId, Name>,
    /// The predicate that stands for a class's monitor invariant.
    pub(crate) monitors: ArenaMap<ClassId, Name>,
    /// The same as readers of the lock get it.
    pub(crate) read_monitors: ArenaMap<ClassId, Name>,
    /// The predicate that stands for a channel's where clause, if it can be one.
    pub(crate) channels: ArenaMap<ChannelId, Name>,
}

impl Names {
    /// Names everything that is declared in `program`.
    pub(crate) fn of(program: &Program) -> Self {
        let mut names = Self::default();
        names.used.extend(fixed::ALL.iter().map(|&word| Name::from(word)));
        for (class_id, class) in program.classes.iter() {
            for &member in &class.members {
                names.name_member(program, &class.name, member);
            }
            let monitor = names.fresh(&format!("{}_monitor", class.name));
            names.monitors.insert(class_id, monitor);
            let monitor = names.fresh(&format!("{}_read_monitor", class.name));
            names.read_monitors.insert(class_id, monitor);
            let history = names.fresh(&format!("{}_history", class.name));
            names.histories.insert(class_id, history);
        }
        for (channel_id, channel) in program.channels.iter() {
            let name = names.fresh(&format!("{}_where", channel.name));
            names.channels.insert(channel_id, name);
        }
        names
    }

    fn name_member(&mut self, program: &Program, class: &str, member: Member) {
        match member {
            Member::Field(id) => {
                let name = self.fresh(&format!("{class}_{}", program.fields[id].name));
                let then = self.fresh(&format!("{name}_then"));
                self.fields_then.insert(id, then);
                let then = self.fresh(&format!("{name}_permission_then"));
                self.permissions_then.insert(id, then);
                if program.fields[id].is_tracked {
                    let back = self.fresh(&format!("{name}_back"));
                    self.back_pointers.insert(id, back);
                }
                self.fields.insert(id, name);
            }
            Member::Method(id) => {
                let name = self.fresh(&format!("{class}_{}", program.methods[id].name));
                self.methods.insert(id, name);
            }
            Member::Function(id) => {
                let name = self.fresh(&format!("{class}_{}", program.functions[id].name));
                let terminates = self.fresh(&format!("{name}_terminates"));
                let then = self.fresh(&format!("{name}_then"));
                self.functions_then.insert(id, then);
                self.functions.insert(id, name);
                self.terminations.insert(id, terminates);
            }
            Member::Predicate(id) => {
                let name = self.fresh(&format!("{class}_{}", program.predicates[id].name));
                let then = self.fresh(&format!("{name}_permission_then"));
                self.predicates_then.insert(id, then);
                self.predicates.insert(id, name);
            }
            Member::Condition(_) => {}
        }
    }

    /// Returns a global name that nothing has yet.
    pub(crate) fn fresh(&mut self, wanted: &str) -> Name {
        let name = unused(wanted, |name| self.used.contains(name));
        self.used.insert(name.clone());
        name
    }
}

/// The object of a member; no variable of the source is called so.
const THIS: &str = "this";

/// The names inside one member of the generated program.
#[derive(Debug, Default)]
pub(crate) struct LocalNames {
    used: FxHashSet<Name>,
    by_local: FxHashMap<LocalId, Name>,
}

impl LocalNames {
    /// Returns the name of a variable of the source; the first to ask for a word gets it.
    pub(crate) fn of_local(&mut self, global: &Names, program: &Program, local: LocalId) -> Name {
        if let Some(name) = self.by_local.get(&local) {
            return name.clone();
        }
        let name = self.fresh(global, &program.locals[local].name);
        self.by_local.insert(local, name.clone());
        name
    }

    /// Returns the variables of the source that have a name so far, by these, in their order in the
    /// source.
    pub(crate) fn of_source<'a>(&'a self, program: &'a Program) -> Vec<(&'a str, &'a str)> {
        // No identifier of the source has a `$`: replayed code has copies of variables.
        let is_named = |local: LocalId| {
            let local = &program.locals[local];
            local.kind != LocalKind::Measure && !local.name.contains('$')
        };
        let mut locals: Vec<_> =
            self.by_local.iter().filter(|&(&local, _)| is_named(local)).collect();
        locals.sort_unstable_by_key(|(local, _)| local.into_raw().into_u32());
        let called = |local: LocalId| &*program.locals[local].name;
        let this = self.used.contains(THIS).then_some((THIS, THIS));
        this.into_iter()
            .chain(locals.into_iter().map(|(&local, name)| (&**name, called(local))))
            .collect()
    }

    /// Returns a name that nothing in this member and nothing global has.
    pub(crate) fn fresh(&mut self, global: &Names, wanted: &str) -> Name {
        let name = unused(wanted, |name| self.used.contains(name) || global.used.contains(name));
        self.used.insert(name.clone());
        name
    }
}
