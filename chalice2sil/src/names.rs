//! Names of the generated program.
//!
//! SIL has one name space for all global names, and a local may not hide anything; Chalice has one
//! name space per class. A member `m` of class `C` is therefore called `C_m`; where that name is
//! taken, a number is added.

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::build::{RESERVED, unused};
use sil::source::Name;

use chalice::program::{
    ChannelId, ClassId, FieldId, FunctionId, LocalId, LocalKind, Member, MethodId, PredicateId,
    Program,
};

/// Names that the lowering gives to what it adds to every program that needs it.
pub(crate) mod fixed {
    pub(crate) const MU: &str = "mu";
    pub(crate) const JOINABLE: &str = "joinable";
    pub(crate) const LEVEL: &str = "Mu";
    pub(crate) const BELOW: &str = "below";
    pub(crate) const LOCKBOTTOM: &str = "lockbottom";
    pub(crate) const LEVELS: &str = "MuMap";
    pub(crate) const LEVEL_AT: &str = "mu_at";
    pub(crate) const LEVEL_SET: &str = "mu_set";
    pub(crate) const CREDITS: &str = "CreditMap";
    pub(crate) const CREDIT_AT: &str = "credit_at";
    pub(crate) const CREDIT_SET: &str = "credit_set";
    pub(crate) const NO_CREDITS: &str = "no_credits";
    pub(crate) const CHANNEL_LEVEL: &str = "channel_mu";
    pub(crate) const FRACTIONS: &str = "ReadFractions";
    pub(crate) const READ_FRACTION: &str = "read_fraction";
    pub(crate) const FORK_FRACTION: &str = "fork_fraction";
    pub(crate) const COUNTING: &str = "counting_fraction";
    pub(crate) const READERS: &str = "readers_fraction";
    pub(crate) const ALL_COUNTED: &str = "all_counted";
    pub(crate) const STRING: &str = "String";
    pub(crate) const CLASS: &str = "Class";
    pub(crate) const TYPE_OF: &str = "typeOf";

    pub(crate) const STATES: &str = "StateMap";
    pub(crate) const STATE_AT: &str = "state_at";
    pub(crate) const STATE_SET: &str = "state_set";
    pub(crate) const RECORDED: &str = "States";
    pub(crate) const FORK_STATE: &str = "fork_state";
    pub(crate) const VALUATION: &str = "Valuation";
    pub(crate) const VALUE_IN: &str = "value_in";
    pub(crate) const SUM_OVER: &str = "sum_over";
    pub(crate) const MU_THEN: &str = "mu_then";
    pub(crate) const MU_PERMISSION_THEN: &str = "mu_permission_then";
    pub(crate) const JOINABLE_THEN: &str = "joinable_then";
    pub(crate) const JOINABLE_PERMISSION_THEN: &str = "joinable_permission_then";

    pub(crate) const ALL: &[&str] = &[
        STATES,
        STATE_AT,
        STATE_SET,
        RECORDED,
        FORK_STATE,
        VALUATION,
        VALUE_IN,
        SUM_OVER,
        MU_THEN,
        MU_PERMISSION_THEN,
        JOINABLE_THEN,
        JOINABLE_PERMISSION_THEN,
        MU,
        JOINABLE,
        LEVEL,
        BELOW,
        LOCKBOTTOM,
        LEVELS,
        LEVEL_AT,
        LEVEL_SET,
        CREDITS,
        CREDIT_AT,
        CREDIT_SET,
        NO_CREDITS,
        CHANNEL_LEVEL,
        FRACTIONS,
        READ_FRACTION,
        FORK_FRACTION,
        COUNTING,
        READERS,
        ALL_COUNTED,
        STRING,
        CLASS,
        TYPE_OF,
    ];
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
        names.used.extend(RESERVED.iter().chain(fixed::ALL).map(|&word| Name::from(word)));
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
