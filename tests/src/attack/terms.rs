//! Expressions that are defined in the state of a run.

use num_traits::Zero;

use crate::concrete::{Target, Value, expression};

use super::members::FIELDS;
use super::statements::Generator;

impl Generator<'_> {
    /// The value of a text in the state of the run.
    pub(super) fn value(&self, text: &str) -> Option<Value> {
        self.run.evaluator().eval(&expression(text).ok()?).ok()
    }

    pub(super) fn is_true(&self, text: &str) -> bool {
        self.value(text) == Some(Value::Bool(true))
    }

    /// The variables of a type.
    pub(super) fn variables(&self, ty: &str) -> Vec<String> {
        let all = self.formals.iter().chain(&self.locals);
        all.filter(|one| one.ty == ty).map(|one| one.name.clone()).collect()
    }

    /// Expressions for an object: variables and fields that may be read.
    pub(super) fn names_of(&self, object: u32) -> Vec<String> {
        let is_it = |value: Option<&Value>| value == Some(&Value::Ref(object));
        let variables = self.variables("Ref");
        let mut names: Vec<String> = variables
            .iter()
            .filter(|name| is_it(self.run.state.store.get(&***name)))
            .cloned()
            .collect();
        for name in &variables {
            let Some(Value::Ref(holder)) = self.run.state.store.get(&**name) else { continue };
            let target = Target::Field(*holder, "n".into());
            let heap = &self.run.state.heap;
            if !heap.amount(&target).is_zero() && is_it(heap.value(*holder, "n")) {
                names.push(format!("{name}.n"));
            }
        }
        names
    }

    /// Fields of a type that may be read.
    pub(super) fn readable(&self, ty: &str) -> Vec<String> {
        let mut all = Vec::new();
        for (target, _) in self.run.state.heap.held() {
            let Target::Field(object, field) = target else { continue };
            if FIELDS.iter().any(|(name, one)| **name == **field && *one == ty) {
                let names = self.names_of(*object);
                all.extend(names.into_iter().map(|name| format!("{name}.{field}")));
            }
        }
        all
    }

    /// A value as a text that means it here: a variable with this value, or a literal.
    pub(super) fn text_of(&mut self, value: &Value, ty: &str) -> Option<String> {
        let mut same: Vec<String> = self.variables(ty);
        same.extend(self.readable(ty));
        same.retain(|text| self.value(text).as_ref() == Some(value));
        if self.pick.chance(60)
            && let Some(text) = self.pick.text(&same)
        {
            return Some(text);
        }
        self.literal_of(value, ty).or_else(|| self.pick.text(&same))
    }

    /// A value as a literal; objects by the variables that are them.
    pub(super) fn literal_of(&self, value: &Value, ty: &str) -> Option<String> {
        value.text(ty, &|object| self.names_of(object).first().cloned())
    }

    /// An expression of a type, which need not be defined.
    pub(super) fn term(&mut self, ty: &'static str, depth: u32) -> Option<String> {
        let mut simple = self.variables(ty);
        let readable = self.readable(ty);
        // Fields are more interesting.
        simple.extend(readable.iter().cloned());
        simple.extend(readable);
        if depth == 0 || self.pick.chance(40) {
            return self.pick.text(&simple).or_else(|| self.constant(ty));
        }
        let below = depth - 1;
        Some(match ty {
            "Int" => return self.integer(below),
            "Bool" => return self.boolean(below),
            "Perm" => return self.amount(below),
            "Ref" => match self.pick.below(3) {
                0 => {
                    let condition = self.term("Bool", below)?;
                    format!("({condition} ? {} : {})", self.term("Ref", 0)?, self.term("Ref", 0)?)
                }
                _ => return self.pick.text(&simple),
            },
            "Set[Ref]" => match self.pick.below(3) {
                0 => format!("Set({}, {})", self.term("Ref", 0)?, self.term("Ref", 0)?),
                1 => format!("Set({})", self.term("Ref", 0)?),
                _ => {
                    let op = self.pick.of(&["union", "intersection", "setminus"]);
                    format!("({} {op} {})", self.term(ty, 0)?, self.term(ty, 0)?)
                }
            },
            "Seq[Int]" => match self.pick.below(3) {
                0 => format!("Seq({}, {})", self.term("Int", 0)?, self.term("Int", 0)?),
                1 => format!("({} ++ {})", self.term(ty, 0)?, self.term(ty, 0)?),
                _ => format!("{}[{}..]", self.term(ty, 0)?, self.pick.between(0, 2)),
            },
            _ => return self.constant(ty),
        })
    }

    fn constant(&mut self, ty: &str) -> Option<String> {
        Some(match ty {
            "Int" => self.pick.between(-2, 5).to_string().replace('-', "0 - "),
            "Bool" => self.pick.chance(50).to_string(),
            "Perm" => self.pick.of(&["none", "1/4", "1/3", "1/2", "write"]).to_owned(),
            "Ref" => "null".to_owned(),
            "Set[Ref]" => "Set[Ref]()".to_owned(),
            "Seq[Int]" => "Seq[Int]()".to_owned(),
            _ => return None,
        })
    }

    fn integer(&mut self, depth: u32) -> Option<String> {
        Some(match self.pick.below(9) {
            0 | 1 => {
                let op = self.pick.of(&["+", "-", "+", "*"]);
                format!("({} {op} {})", self.term("Int", depth)?, self.term("Int", depth)?)
            }
            2 => {
                let op = self.pick.of(&["\\", "%"]);
                format!("({} {op} {})", self.term("Int", depth)?, self.pick.of(&["2", "3"]))
            }
            3 => {
                let condition = self.term("Bool", depth)?;
                format!("({condition} ? {} : {})", self.term("Int", 0)?, self.term("Int", 0)?)
            }
            4 | 5 => return self.application(),
            6 if self.pick.chance(20) => return self.asserting(),
            6 => return self.unfolding(),
            7 => {
                let label = self.pick.text(&self.labels.clone())?;
                let location = self.location(&["f", "g"])?;
                format!("old{label}({location})")
            }
            _ => {
                let ty = self.pick.of(&["Set[Ref]", "Seq[Int]"]);
                let ty = if ty == "Set[Ref]" { "Set[Ref]" } else { "Seq[Int]" };
                format!("|{}|", self.term(ty, 0)?)
            }
        })
    }

    /// A field of an object that has a name, readable or not.
    pub(super) fn location(&mut self, fields: &[&str]) -> Option<String> {
        let variables = self.variables("Ref");
        let name = self.pick.text(&variables)?;
        Some(format!("{name}.{}", self.pick.of(fields)))
    }

    /// An application of a function, with some arguments.
    pub(super) fn application(&mut self) -> Option<String> {
        let functions = self.functions.clone();
        let function = self.pick.one(&functions)?;
        // The held instances tell which arguments are likely.
        let wanted = function.name.strip_prefix("of_").unwrap_or("L").to_owned();
        if function.name.starts_with("of_") || function.name == "sum" {
            let arguments = self.held_instance(&wanted)?;
            return Some(format!("{}({arguments})", function.name));
        }
        let mut arguments = Vec::new();
        for ty in &function.formals {
            arguments.push(self.term(ty, 0)?);
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// The arguments of an instance that is held of some predicate.
    pub(super) fn held_instance(&mut self, predicate: &str) -> Option<String> {
        let held: Vec<Vec<Value>> = self
            .run
            .state
            .heap
            .held()
            .filter_map(|(target, _)| match target {
                Target::Predicate(name, arguments) if **name == *predicate => {
                    Some(arguments.clone())
                }
                _ => None,
            })
            .collect();
        let arguments = self.pick.one(&held)?.clone();
        self.instance_text(predicate, &arguments)
    }

    /// Values as arguments of a predicate.
    pub(super) fn instance_text(&mut self, predicate: &str, values: &[Value]) -> Option<String> {
        // As it was written before, mostly: a verifier need not know that another text means the
        // same.
        let target = Target::Predicate(predicate.into(), values.to_vec());
        let is_it = |text: &&String| {
            let found = expression(text).and_then(|expr| self.run.evaluator().target(&expr));
            found.is_ok_and(|found| found == target)
        };
        let written: Vec<String> = self.folded.iter().filter(is_it).cloned().collect();
        if self.pick.chance(80)
            && let Some(text) = self.pick.text(&written)
        {
            let arguments = text.split_once('(')?.1;
            return Some(arguments[..arguments.len() - 1].to_owned());
        }
        let formals = self.predicates.iter().find(|one| one.name == predicate)?.formals.clone();
        let mut texts = Vec::new();
        for (value, ty) in values.iter().zip(formals) {
            texts.push(self.text_of(value, ty)?);
        }
        Some(texts.join(", "))
    }

    fn unfolding(&mut self) -> Option<String> {
        let predicates = self.predicates.clone();
        let name = &self.pick.one(&predicates)?.name;
        let arguments = self.held_instance(name)?;
        let share = self.pick.of(&["wildcard", "1/4", "1/2", "write"]);
        let location = self.location(&["f", "g"])?;
        Some(format!("(unfolding acc({name}({arguments}), {share}) in {location})"))
    }

    fn asserting(&mut self) -> Option<String> {
        let (held, _) = self.held()?;
        let share = self.pick.of(&["wildcard", "epsilon", "1/4", "write"]);
        let location = self.location(&["f", "g"])?;
        Some(format!("(asserting (acc({held}, {share})) in {location})"))
    }

    fn boolean(&mut self, depth: u32) -> Option<String> {
        Some(match self.pick.below(10) {
            0..=2 => {
                let op = self.pick.of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {op} {}", self.term("Int", depth)?, self.term("Int", depth)?)
            }
            3 => {
                let op = self.pick.of(&["==", "!="]);
                format!("{} {op} {}", self.term("Ref", 0)?, self.term("Ref", 0)?)
            }
            4 => format!("!({})", self.term("Bool", depth)?),
            5 | 6 => {
                let op = self.pick.of(&["&&", "||", "==>"]);
                format!("(({}) {op} ({}))", self.term("Bool", depth)?, self.term("Bool", depth)?)
            }
            7 => format!("{} in {}", self.term("Ref", 0)?, self.term("Set[Ref]", 0)?),
            8 => {
                let op = self.pick.of(&["==", "<", "<="]);
                format!("{} {op} {}", self.term("Perm", depth)?, self.term("Perm", depth)?)
            }
            _ => {
                let value = self.term("Int", depth)?;
                format!("(let it == ({value}) in it > 0 || it == {})", self.term("Int", 0)?)
            }
        })
    }

    /// An amount: often not what is held.
    pub(super) fn amount(&mut self, depth: u32) -> Option<String> {
        Some(match self.pick.below(8) {
            0..=2 => self.pick.text(&self.variables("Perm"))?,
            3 => {
                let condition = self.term("Bool", depth)?;
                let some = self.pick.of(&["write", "1/2", "1/4"]).to_owned();
                let other = self.pick.of(&["none", "none", "1/2"]).to_owned();
                format!("({condition} ? {some} : {other})")
            }
            // Contracts may not ask.
            4 if self.entered && self.pick.chance(25) => {
                format!("perm({})", self.pick.text(&self.folded.clone())?)
            }
            4 if self.entered => {
                let location = self.location(&["f", "g", "n"])?;
                format!("perm({location})")
            }
            5 => format!("{} * 1/2", self.term("Perm", 0)?),
            _ => return self.constant("Perm"),
        })
    }
}
