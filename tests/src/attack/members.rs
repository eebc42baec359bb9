//! Fields, predicates and functions that a method is attacked with.

use super::assertions::{Grammar, Scope};
use super::pick::Picker;

/// The fields of every program.
pub(super) const FIELDS: [(&str, &str); 7] = [
    ("f", "Int"),
    ("g", "Int"),
    ("fb", "Bool"),
    ("n", "Ref"),
    ("fp", "Perm"),
    ("fs", "Set[Ref]"),
    ("fq", "Seq[Int]"),
];

/// A predicate, function or method, as far as somebody mentions it.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) name: String,
    /// The types of the parameters.
    pub(super) formals: Vec<&'static str>,
}

/// Members as text.
#[derive(Default)]
pub(super) struct Members {
    /// The text that a verifier gets.
    pub(super) shown: String,
    /// The same with the bodies of those that are shown without.
    pub(super) meant: String,
    pub(super) predicates: Vec<Signature>,
    /// Functions with an integer as result.
    pub(super) functions: Vec<Signature>,
    pub(super) methods: Vec<super::methods::Callee>,
}

impl Members {
    pub(super) fn new(pick: &mut Picker) -> Self {
        let mut members = Self::default();
        for (name, ty) in FIELDS {
            members.add(&format!("field {name}: {ty}"), None);
        }
        for index in 0..=pick.below(3) {
            members.predicate(index, pick);
        }
        if pick.chance(30) {
            members.list(pick);
        }
        for index in 0..=pick.below(2) {
            members.getter(index, pick);
        }
        super::methods::add(&mut members, pick);
        members
    }

    /// A member; `body` is what it does where it is not shown.
    pub(super) fn add(&mut self, text: &str, body: Option<&str>) {
        self.shown.push_str(text);
        self.shown.push('\n');
        self.meant.push_str(text);
        if let Some(body) = body {
            self.meant.push_str(&format!(" {body}"));
        }
        self.meant.push('\n');
    }

    fn predicate(&mut self, index: usize, pick: &mut Picker) {
        let name = format!("P{index}");
        let mut scope = Scope { refs: vec!["x".into()], ..Scope::default() };
        let (mut formals, mut types) = ("x: Ref".to_owned(), vec!["Ref"]);
        for (name, ty, percent) in [
            ("y", "Ref", 25),
            ("q", "Perm", 55),
            ("c", "Bool", 30),
            ("i", "Int", 15),
            ("t", "Set[Ref]", 15),
        ] {
            if pick.chance(percent) {
                formals.push_str(&format!(", {name}: {ty}"));
                types.push(ty);
                match ty {
                    "Ref" => scope.refs.push(name.into()),
                    "Bool" => scope.bools.push(name.into()),
                    "Int" => scope.ints.push(name.into()),
                    "Set[Ref]" => scope.sets.push(name.into()),
                    _ => {}
                }
            }
        }
        let mut conjuncts = Vec::new();
        if types.contains(&"Perm") {
            let strict = pick.chance(25);
            conjuncts.push(if strict { "none < q" } else { "none <= q" }.to_owned());
            scope.amounts.push("q".into());
            if strict {
                scope.some.push("q".into());
            }
        }
        let grammar = Grammar { predicates: &self.predicates };
        for _ in 0..=pick.below(4) {
            conjuncts.extend(grammar.any(&mut scope, 2, pick));
        }
        let arguments = ["x", "y", "q", "c", "i", "t"];
        let named: Vec<&str> =
            arguments.into_iter().filter(|name| formals.contains(&format!("{name}: "))).collect();
        if conjuncts.is_empty() {
            conjuncts.push("x != null".into());
        }
        if scope.amounts.first().is_some_and(|first| first == "q") && pick.chance(6) {
            let own: Vec<&str> = ["x", "y", "q", "c", "i", "t"]
                .into_iter()
                .filter(|name| formals.contains(&format!("{name}: ")))
                .collect();
            conjuncts.push(format!("acc({name}({}), q)", own.join(", ")));
        }
        let body = conjuncts.join(" && ");
        self.add(&format!("predicate {name}({formals}) {{ {body} }}"), None);
        let instance = format!("{name}({})", named.join(", "));
        self.reader(&name, &formals, &types, &instance, &scope, pick);
        self.predicates.push(Signature { name, formals: types });
    }

    /// A recursive predicate, and a function that goes along.
    fn list(&mut self, pick: &mut Picker) {
        let part = pick.of(&["write", "1/2"]);
        let rest = pick.of(&["write", "1/2", "1/3"]);
        self.add(
            &format!(
                "predicate L(x: Ref) {{ acc(x.f, {part}) && acc(x.n, {part}) && \
                 (x.n != null ==> acc(L(x.n), {rest})) }}"
            ),
            None,
        );
        self.add(
            "function sum(x: Ref): Int requires acc(L(x), wildcard) \
             { unfolding acc(L(x), wildcard) in x.f + (x.n == null ? 0 : sum(x.n)) }",
            None,
        );
        self.predicates.push(Signature { name: "L".into(), formals: vec!["Ref"] });
        self.functions.push(Signature { name: "sum".into(), formals: vec!["Ref"] });
    }

    /// A function that looks into a predicate.
    fn reader(
        &mut self,
        predicate: &str,
        formals: &str,
        types: &[&'static str],
        instance: &str,
        scope: &Scope,
        pick: &mut Picker,
    ) {
        let own = |text: &&String| text.contains('.');
        let mut readable: Vec<String> = scope.ints.iter().filter(own).cloned().collect();
        readable.extend(scope.maybe.iter().cloned());
        let value = pick.text(&readable).unwrap_or_else(|| "1".into());
        let share = pick.of(&["wildcard", "1/2", "write"]);
        let body = format!("unfolding acc({instance}, wildcard) in {value}");
        let name = format!("of_{predicate}");
        let head = format!("function {name}({formals}): Int requires acc({instance}, {share})");
        match pick.below(4) {
            0 => self
                .add(&format!("{head} ensures result >= ({body})"), Some(&format!("{{ {body} }}"))),
            1 => self
                .add(&format!("{head} ensures result == ({body})"), Some(&format!("{{ {body} }}"))),
            2 => self.add(&head, Some(&format!("{{ {body} }}"))),
            _ => self.add(&format!("{head} {{ {body} }}"), None),
        }
        self.functions.push(Signature { name, formals: types.to_vec() });
    }

    /// A function of a field.
    fn getter(&mut self, index: usize, pick: &mut Picker) {
        let name = format!("get{index}");
        let (field, _) = FIELDS[pick.below(2)];
        let share = pick.of(&["wildcard", "1/2", "1/4", "write"]);
        let own = format!("acc(x.{field}, {share})");
        let own = match pick.below(12) {
            0 => format!("[{own} && x.{field} == x.{field}, {own}]"),
            1 => format!("[{own}, {own} && x.{field} == x.{field} && true]"),
            2 => format!("[(let y == (x) in acc(y.{field}, {share})), {own}]"),
            _ => own,
        };
        let (formals, types, requires, body) = match pick.below(5) {
            4 => (
                "x: Ref, a: Perm",
                vec!["Ref", "Perm"],
                format!("none <= a && acc(x.{field}, a)"),
                format!("(none < a ? x.{field} : 7)"),
            ),
            0 => ("x: Ref, k: Int", vec!["Ref", "Int"], own, format!("x.{field} + k")),
            1 => (
                "x: Ref, c: Bool",
                vec!["Ref", "Bool"],
                format!("(c ==> {own})"),
                format!("c ? x.{field} : 7"),
            ),
            2 => (
                "x: Ref, t: Set[Ref]",
                vec!["Ref", "Set[Ref]"],
                format!("(forall e: Ref :: {{ e in t }} e in t ==> acc(e.{field}, {share}))"),
                format!("x in t ? x.{field} : |t|"),
            ),
            _ => ("x: Ref", vec!["Ref"], own, format!("x.{field}")),
        };
        let head = format!("function {name}({formals}): Int requires {requires}");
        if pick.chance(25) {
            self.add(&format!("{head} ensures result == ({body})"), Some(&format!("{{ {body} }}")));
        } else {
            self.add(&format!("{head} {{ {body} }}"), None);
        }
        self.functions.push(Signature { name, formals: types });
    }
}
