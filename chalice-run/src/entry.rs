//! Where a program starts.

pub mod arguments;

use chalice::Span;
use chalice::program::Type;
use front::counted;

use crate::choices::{Choices, Policy};
use crate::code::Code;
use crate::fault::PartValue;
use crate::generate::{Bounds, Found, Order, Starts};
use crate::heap::ObjectKind;
use crate::machine::{Config, Machine};
use crate::value::Value;

/// Returns the method that a run starts with.
///
/// # Errors
/// The list of methods that can start, if no method, or more than one, has the name of an entry.
pub fn entry(code: &Code, name: Option<&str>, has_arguments: bool) -> Result<u32, String> {
    if let Some(name) = name {
        return code.method(name).ok_or_else(|| format!("there is no method `{name}`"));
    }
    for wanted in ["main", "Main", "Start"] {
        let named: Vec<u32> = (0..code.methods.len() as u32)
            .filter(|&method| {
                let method = &code.methods[method as usize];
                let name = method.name.rsplit('.').next().unwrap_or_default();
                name == wanted && (has_arguments || method.parameters == 0)
            })
            .collect();
        match &named[..] {
            [] => {}
            [method] => return Ok(*method),
            several => {
                let names: Vec<_> =
                    several.iter().map(|one| code.methods[*one as usize].name.as_str()).collect();
                let names = names.join(", ");
                return Err(format!("there are several entries: {names}; choose one with --entry"));
            }
        }
    }
    let methods = code.methods.iter().filter(|method| method.parameters == 0);
    let names: Vec<_> = methods.map(|method| method.name.as_str()).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(format!("there is no method `main`; methods without parameters: {names}"))
}

/// Why an entry is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoStart {
    /// The run cannot begin as the command says: the arguments do not fit, or the precondition
    /// cannot be executed.
    Refused(String),
    /// The precondition does not hold of the arguments.
    Precondition {
        /// The method.
        method: String,
        /// Its claim that is false, where that is known.
        claim: Option<Span>,
        /// The values of the parts of the claim.
        parts: Vec<PartValue>,
    },
    /// No small start was found that satisfies the precondition; there may be a larger one.
    NotFound(String),
}

impl From<String> for NoStart {
    fn from(words: String) -> Self {
        Self::Refused(words)
    }
}

/// Returns a machine about to execute the entry, which has been given what its precondition asks
/// for.
///
/// # Errors
/// Arguments that do not fit, or a precondition that cannot be granted, or not within the default
/// bounds.
pub fn start<'c>(
    code: &'c Code,
    method: u32,
    config: &Config,
    texts: &[String],
) -> Result<Machine<'c>, NoStart> {
    let described = &code.methods[method as usize];
    if texts.is_empty() && described.parameters == 0 {
        let bounds = Bounds::default();
        let mut starts = Starts::new(code, method, config.clone(), bounds, Order::All);
        return match starts.next_start() {
            Found::Start(mut machine) => {
                machine.choices = Choices::new(Vec::new(), Policy::First);
                machine.is_generated = described.requires.iter().any(|clause| !clause.is_pure);
                machine.close();
                Ok(*machine)
            }
            Found::Impossible(what) => {
                let name = &described.name;
                let words = format!("the precondition of {name} cannot be granted ({what})");
                Err(NoStart::Refused(words))
            }
            Found::Exhausted | Found::GaveUp => Err(NoStart::NotFound(format!(
                "no start within the bounds was found that satisfies the precondition of {}",
                described.name
            ))),
        };
    }
    if texts.len() != described.parameters {
        return Err(NoStart::Refused(format!(
            "{} has {}, and {} given",
            described.name,
            counted(described.parameters, "parameter"),
            match texts.len() {
                1 => "1 argument is".to_owned(),
                more => format!("{more} arguments are"),
            }
        )));
    }
    let mut machine = Machine::new(code, config.clone());
    let mut slots = described.frame.initial.clone();
    slots[0] = Value::Ref(machine.new_object(ObjectKind::Class(described.class)));
    for (at, text) in texts.iter().enumerate() {
        let ty = described.frame.types[at + 1].as_ref().unwrap_or(&Type::Int);
        slots[at + 1] = arguments::read(&mut machine, text, ty)
            .map_err(|what| format!("argument {}: {what}", at + 1))?;
    }
    match machine.start(method, slots.clone()) {
        Ok(()) => {
            machine.close();
            Ok(machine)
        }
        Err(_) => {
            let claim = machine
                .refuted
                .and_then(|span| described.requires.iter().find_map(|clause| clause.part_at(span)));
            let parts = claim.map(|claim| machine.values_of_parts(claim, &mut slots));
            Err(NoStart::Precondition {
                method: described.name.clone(),
                claim: claim.map(|claim| claim.span),
                parts: parts.unwrap_or_default(),
            })
        }
    }
}
