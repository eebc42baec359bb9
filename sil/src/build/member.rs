//! Members: each made by `new` and filled by methods.

use super::{ident, typed};
use crate::source::{Name, Span};
use crate::syntax::{
    Adt, Axiom, Block, Body, Constructor, Contract, Decreases, DecreasesKind, Define, Domain,
    DomainFunction, Expr, Function, Graph, Implementation, Member, MemberKind, Method, Predicate,
    Program, Stmt, Type, TypedName,
};

impl Program {
    /// Adds a member.
    #[must_use]
    pub fn with(mut self, member: impl Into<Member>) -> Self {
        self.members.push(member.into());
        self
    }
}

impl FromIterator<Member> for Program {
    fn from_iter<T: IntoIterator<Item = Member>>(members: T) -> Self {
        Self { members: members.into_iter().collect() }
    }
}

/// Returns a member without annotations.
pub fn member(kind: MemberKind) -> Member {
    Member { annotations: Vec::new(), span: Span::default(), kind }
}

/// Each kind of declaration is a member.
macro_rules! members {
    ($($kind:ident)*) => {
        $(impl From<$kind> for Member {
            fn from(declaration: $kind) -> Self {
                member(MemberKind::$kind(declaration))
            }
        })*
    };
}

members! { Predicate Function Method Domain Adt Define }

/// `field name: T`
pub fn field_member(name: &str, ty: impl Into<Type>) -> Member {
    member(MemberKind::Fields(vec![typed(name, ty)]))
}

/// Returns a domain without type parameters.
pub fn domain(name: &str, functions: Vec<DomainFunction>, axioms: Vec<Axiom>) -> Member {
    Domain { functions, axioms, ..Domain::new(name) }.into()
}

/// Returns a function of a domain.
pub fn domain_function(
    name: &str,
    formals: impl IntoIterator<Item = TypedName>,
    result: impl Into<Type>,
) -> DomainFunction {
    DomainFunction {
        annotations: Vec::new(),
        name: ident(name),
        unique: false,
        is_constructor: false,
        formals: formals.into_iter().map(|formal| (Some(formal.name), formal.ty)).collect(),
        result: result.into(),
        interpretation: None,
        span: Span::default(),
    }
}

/// `unique function name(): T`
pub fn unique_constant(name: &str, result: impl Into<Type>) -> DomainFunction {
    DomainFunction { unique: true, ..domain_function(name, [], result) }
}

/// Returns a named axiom.
pub fn axiom(name: &str, body: Expr) -> Axiom {
    Axiom { annotations: Vec::new(), name: Some(ident(name)), body, span: Span::default() }
}

/// `decreases measures`
pub fn decreases(measures: impl IntoIterator<Item = Expr>) -> Decreases {
    let kind = DecreasesKind::Tuple(measures.into_iter().collect());
    Decreases {
        kind,
        condition: None,
        in_postcondition: false,
        measure: Span::default(),
        span: Span::default(),
    }
}

impl Predicate {
    /// `predicate name()`, abstract.
    pub fn new(name: &str) -> Self {
        Self { name: ident(name), formals: Vec::new(), body: None }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn formal(mut self, name: &str, ty: impl Into<Type>) -> Self {
        self.formals.push(typed(name, ty));
        self
    }

    /// Says what it stands for.
    #[must_use]
    pub fn body(mut self, body: Expr) -> Self {
        self.body = Some(body);
        self
    }
}

impl Function {
    /// `function name(): result`, abstract.
    pub fn new(name: &str, result: impl Into<Type>) -> Self {
        Self {
            name: ident(name),
            formals: Vec::new(),
            result: result.into(),
            contract: Contract::default(),
            body: None,
        }
    }

    /// Says what its value is.
    #[must_use]
    pub fn body(mut self, body: Expr) -> Self {
        self.body = Some(body);
        self
    }
}

impl Method {
    /// `method name()`, abstract.
    pub fn new(name: &str) -> Self {
        Self {
            name: ident(name),
            formals: Vec::new(),
            returns: Vec::new(),
            contract: Contract::default(),
            implementations: Vec::new(),
        }
    }

    /// Adds a result.
    #[must_use]
    pub fn returns(mut self, name: &str, ty: impl Into<Type>) -> Self {
        self.returns.push(typed(name, ty));
        self
    }

    /// Gives it a body of statements, as in Viper.
    #[must_use]
    pub fn body(self, statements: impl IntoIterator<Item = Stmt>) -> Self {
        let statements = statements.into_iter().collect();
        let body = Body::Structured(Block { statements, span: Span::default() });
        self.implementation(Implementation::new(None, body))
    }

    /// Gives it a body that is a graph.
    #[must_use]
    pub fn graph(self, graph: Graph) -> Self {
        self.implementation(Implementation::new(None, Body::Graph(graph)))
    }

    /// Adds a body, which is verified on its own: callers see the contract only.
    #[must_use]
    pub fn implementation(mut self, implementation: Implementation) -> Self {
        self.implementations.push(implementation);
        self
    }
}

/// The shared methods of functions and methods.
macro_rules! contracts {
    ($($kind:ident)*) => {
        $(impl $kind {
            /// Adds a parameter.
            #[must_use]
            pub fn formal(mut self, name: &str, ty: impl Into<Type>) -> Self {
                self.formals.push(typed(name, ty));
                self
            }

            /// Adds a precondition.
            #[must_use]
            pub fn requires(mut self, precondition: Expr) -> Self {
                self.contract.preconditions.push(precondition);
                self
            }

            /// Adds a postcondition.
            #[must_use]
            pub fn ensures(mut self, postcondition: Expr) -> Self {
                self.contract.postconditions.push(postcondition);
                self
            }

            /// Adds a termination clause.
            #[must_use]
            pub fn decreases(mut self, clause: Decreases) -> Self {
                self.contract.decreases.push(clause);
                self
            }
        })*
    };
}

contracts! { Function Method }

impl Implementation {
    /// Returns a body; with a name it prints as `implementation name`.
    pub fn new(name: Option<&str>, body: Body) -> Self {
        Self {
            annotations: Vec::new(),
            name: name.map(ident),
            explicit: name.is_some(),
            body,
            span: Span::default(),
        }
    }
}

/// Makes the domain that stands for an empty program, `domain Nothing { }`: otherwise the text of a
/// translation could not be told from a lost text.
pub fn nothing() -> Member {
    Domain::new("Nothing").into()
}

impl Domain {
    /// `domain name { }`
    pub fn new(name: &str) -> Self {
        Self {
            name: ident(name),
            parameters: Vec::new(),
            interpretations: Vec::new(),
            functions: Vec::new(),
            axioms: Vec::new(),
        }
    }

    /// Adds a type parameter.
    #[must_use]
    pub fn parameter(mut self, name: &str) -> Self {
        self.parameters.push(ident(name));
        self
    }

    /// Says which sort of a back end (such as `SMTLIB`) it stands for.
    #[must_use]
    pub fn interpretation(mut self, back_end: &str, sort: impl Into<Name>) -> Self {
        self.interpretations.push((ident(back_end), sort.into()));
        self
    }

    /// Adds a function.
    #[must_use]
    pub fn function(mut self, function: DomainFunction) -> Self {
        self.functions.push(function);
        self
    }

    /// Adds an axiom.
    #[must_use]
    pub fn axiom(mut self, axiom: Axiom) -> Self {
        self.axioms.push(axiom);
        self
    }
}

impl Adt {
    /// `adt name { }`; it needs a constructor.
    pub fn new(name: &str) -> Self {
        Self {
            name: ident(name),
            parameters: Vec::new(),
            constructors: Vec::new(),
            derives: Vec::new(),
        }
    }

    /// Adds a type parameter.
    #[must_use]
    pub fn parameter(mut self, name: &str) -> Self {
        self.parameters.push(ident(name));
        self
    }

    /// Adds a constructor with its fields.
    #[must_use]
    pub fn constructor(mut self, name: &str, fields: impl IntoIterator<Item = TypedName>) -> Self {
        self.constructors.push(Constructor {
            annotations: Vec::new(),
            name: ident(name),
            formals: fields.into_iter().collect(),
            span: Span::default(),
        });
        self
    }
}
