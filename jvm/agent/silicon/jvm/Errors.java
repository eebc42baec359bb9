package silicon.jvm;

import java.lang.reflect.Constructor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** What is found, as errors of Silver that hold the client's nodes. */
final class Errors {
    private static final String ERRORS = "viper.silver.verifier.errors$";
    private static final String REASONS = "viper.silver.verifier.reasons$";

    /** The class of an error by the part of an id before the colon. */
    private static final Map<String, String> OF_ERROR = Map.ofEntries(
            Map.entry("assignment.failed", "AssignmentFailed"),
            Map.entry("call.failed", "CallFailed"),
            Map.entry("not.wellformed", "ContractNotWellformed"),
            Map.entry("call.precondition", "PreconditionInCallFalse"),
            Map.entry("application.precondition", "PreconditionInAppFalse"),
            Map.entry("exhale.failed", "ExhaleFailed"),
            Map.entry("inhale.failed", "InhaleFailed"),
            Map.entry("if.failed", "IfFailed"),
            Map.entry("while.failed", "WhileFailed"),
            Map.entry("assert.failed", "AssertFailed"),
            Map.entry("termination.failed", "TerminationFailed"),
            Map.entry("postcondition.violated", "PostconditionViolated"),
            Map.entry("fold.failed", "FoldFailed"),
            Map.entry("unfold.failed", "UnfoldFailed"),
            Map.entry("package.failed", "PackageFailed"),
            Map.entry("apply.failed", "ApplyFailed"),
            Map.entry("predicate.not.wellformed", "PredicateNotWellformed"),
            Map.entry("function.not.wellformed", "FunctionNotWellformed"),
            Map.entry("wand.not.wellformed", "MagicWandNotWellformed"),
            Map.entry("invariant.not.established", "LoopInvariantNotEstablished"),
            Map.entry("invariant.not.preserved", "LoopInvariantNotPreserved"),
            Map.entry("quasihavoc.failed", "QuasihavocFailed"),
            Map.entry("quasihavocall.failed", "HavocallFailed"));

    /** The class of a reason by the part of an id behind the colon. */
    private static final Map<String, String> OF_REASON = Map.ofEntries(
            Map.entry("assertion.false", "AssertionFalse"),
            Map.entry("insufficient.permission", "InsufficientPermission"),
            Map.entry("receiver.null", "ReceiverNull"),
            Map.entry("division.by.zero", "DivisionByZero"),
            Map.entry("negative.permission", "NegativePermission"),
            Map.entry("permission.not.positive", "NonPositivePermission"),
            Map.entry("qp.not.injective", "QPAssertionNotInjective"),
            Map.entry("quasihavocall.not.injective", "QuasihavocallNotInjective"),
            Map.entry("wand.not.found", "MagicWandChunkNotFound"),
            Map.entry("labelled.state.not.reached", "LabelledStateNotReached"),
            Map.entry("seq.index.negative", "SeqIndexNegative"),
            Map.entry("seq.index.length", "SeqIndexExceedsLength"),
            Map.entry("map.key.contains", "MapKeyNotContained"));

    private final Client client;
    private final Places places;
    private final Object program;

    Errors(Client client, Text text, Object program) {
        this.client = client;
        this.places = new Places(client, text);
        this.program = program;
    }

    /** The error that a finding stands for. There is one for each: what has no class is internal. */
    Object of(Map<String, Object> finding) {
        try {
            return made(finding);
        } catch (RuntimeException problem) {
            return internal(List.of(), message(finding) + " (" + problem + ")");
        }
    }

    private Object made(Map<String, Object> finding) {
        String id = String.valueOf(finding.get("id"));
        int colon = id.indexOf(':');
        String error = colon < 0 ? id : id.substring(0, colon);
        String reason = colon < 0 ? "" : id.substring(colon + 1);
        Places.Member member = places.member(finding);
        List<Places.Placed> at = member == null ? List.of() : places.at(member, finding);
        Object made = null;
        if (OF_ERROR.containsKey(error) && !at.isEmpty()) {
            made = make(ERRORS + OF_ERROR.get(error), at, member.member.node(),
                    node -> reason(reason, finding, node, at));
        }
        return made == null ? internal(at, message(finding)) : made;
    }

    /** A counterexample of a kind, to a finding. */
    Object state(Map<String, Object> finding, String kind, Map<?, ?> found) {
        Places.Member member = places.member(finding);
        Object node = member == null ? program : member.member.node();
        return States.of(client, program, node, kind, found);
    }

    /** The nodes of the conditions on the way to a finding. */
    List<Object> conditions(Map<String, Object> finding) {
        List<Object> conditions = new ArrayList<>();
        if (!(finding.get("steps") instanceof List<?> steps)) {
            return conditions;
        }
        for (Object step : steps) {
            Places.Member member = places.member(step);
            Places.Placed placed = member == null ? null
                    : first("viper.silver.ast.Exp", places.at(member, step));
            // The reference takes no decision where there is none.
            if (placed != null && !client.is(placed.node(), "viper.silver.ast.BoolLit")) {
                boolean holds = Boolean.TRUE.equals(((Map<?, ?>) step).get("holds"));
                conditions.add(holds ? placed.node() : not(placed.node()));
            }
        }
        return conditions;
    }

    private Object not(Object condition) {
        Object pos = client.call("viper.silver.ast.Positioned", condition, "pos");
        Object info = client.call("viper.silver.ast.Infoed", condition, "info");
        Object trafos = client.module("viper.silver.ast.NoTrafos");
        return client.make("viper.silver.ast.Not", condition, pos, info, trafos);
    }

    private static String message(Map<String, Object> finding) {
        return finding.get("id") + ": " + finding.get("message");
    }

    /** An error that clients take as one of the verifier's own. */
    private Object internal(List<Places.Placed> at, String message) {
        Object node = at.isEmpty() ? program : at.get(0).node();
        Object reason = client.make(REASONS + "InternalReason", node, message);
        return client.make(ERRORS + "Internal", node, reason, false);
    }

    /** How a reason is made, once the node of the error is known. */
    private interface Why {
        Object of(Places.Placed error);
    }

    /**
     * Makes an object of a class of errors or reasons; null where no node has a type that its
     * constructor takes.
     */
    private Object make(String type, List<Places.Placed> at, Object member, Why why) {
        Constructor<?> constructor = longest(type);
        List<Object> arguments = new ArrayList<>();
        Places.Placed node = null;
        for (Class<?> parameter : constructor.getParameterTypes()) {
            if (parameter == boolean.class) {
                arguments.add(false);
            } else if (parameter == client.type("viper.silver.ast.Contracted")) {
                arguments.add(member);
            } else if (parameter == client.type("viper.silver.verifier.ErrorReason")) {
                arguments.add(why.of(node));
            } else if (node == null) {
                node = first(parameter.getName(), at);
                if (node == null) {
                    return null;
                }
                arguments.add(node.node());
            } else {
                return null;
            }
        }
        boolean fits = arguments.size() == constructor.getParameterCount()
                && (member == null || !isContracted(constructor)
                        || client.is(member, "viper.silver.ast.Contracted"));
        return fits ? client.make(constructor, arguments.toArray()) : null;
    }

    private boolean isContracted(Constructor<?> constructor) {
        return List.of(constructor.getParameterTypes())
                .contains(client.type("viper.silver.ast.Contracted"));
    }

    private Constructor<?> longest(String type) {
        Constructor<?> longest = null;
        for (Constructor<?> one : client.type(type).getConstructors()) {
            if (longest == null || one.getParameterCount() > longest.getParameterCount()) {
                longest = one;
            }
        }
        if (longest == null) {
            throw new IllegalStateException(type + " has no constructor");
        }
        return longest;
    }

    /** The reason of an error at a node. Where there is no class or node for it, it is in words. */
    private Object reason(
            String id, Map<String, Object> finding, Places.Placed error, List<Places.Placed> at) {
        Object place = finding.get("reason");
        Places.Member member = place == null ? null : places.member(place);
        List<Places.Placed> there = member == null ? at : places.at(member, place);
        Object made = null;
        if (OF_REASON.containsKey(id)) {
            made = reason(REASONS + OF_REASON.get(id), there, error, member);
        }
        if (made != null) {
            return made;
        }
        Object node = there.isEmpty() ? error.node() : there.get(0).node();
        return client.make(REASONS + "InternalReason", node, message(finding));
    }

    private Object reason(
            String type, List<Places.Placed> there, Places.Placed error, Places.Member member) {
        Constructor<?> constructor = longest(type);
        Class<?>[] parameters = constructor.getParameterTypes();
        if (parameters.length == 2) {
            // An index or key, and what it is an index or a key of.
            Places.Placed index = first(parameters[1].getName(), there);
            Object of = index == null ? null : collection(index);
            return of == null ? null : client.make(constructor, of, index.node());
        }
        Places.Placed placed = first(parameters[0].getName(), there);
        if (placed == null) {
            return null;
        }
        return client.make(constructor, atCall(placed.node(), error.node(), member));
    }

    /** What is indexed by a node; null if that is no index. */
    private Object collection(Places.Placed index) {
        Places.Placed around = index.around();
        if (around == null) {
            return null;
        }
        for (String kind : List.of("SeqIndex", "SeqUpdate", "MapLookup")) {
            if (client.is(around.node(), "viper.silver.ast." + kind)) {
                return client.subnodes(around.node()).get(0);
            }
        }
        return null;
    }

    /** A part of a callee's precondition, with the arguments of the call in the place of formals. */
    private Object atCall(Object part, Object call, Places.Member member) {
        Object callee = member == null ? null : member.member.node();
        String formals;
        if (client.is(call, "viper.silver.ast.FuncApp")
                && client.is(callee, "viper.silver.ast.Function")) {
            formals = "viper.silver.ast.Function";
        } else if (client.is(call, "viper.silver.ast.MethodCall")
                && client.is(callee, "viper.silver.ast.Method")) {
            formals = "viper.silver.ast.Method";
        } else {
            return part;
        }
        if (!client.is(part, "viper.silver.ast.Exp") || !isOf(call, callee, formals)) {
            return part;
        }
        String of = client.is(call, "viper.silver.ast.FuncApp")
                ? "viper.silver.ast.FuncApp" : "viper.silver.ast.MethodCall";
        List<Object> variables = new ArrayList<>();
        for (Object formal : client.list(client.call(formals, callee, "formalArgs"))) {
            variables.add(client.call("viper.silver.ast.LocalVarDecl", formal, "localVar"));
        }
        Object actuals = client.call(of, call, "args");
        return client.call("viper.silver.ast.utility.Expressions$",
                client.module("viper.silver.ast.utility.Expressions"), "instantiateVariables",
                part, client.seq(variables), actuals);
    }

    private boolean isOf(Object call, Object callee, String kind) {
        Object called = kind.endsWith("Function")
                ? client.call("viper.silver.ast.FuncApp", call, "funcname")
                : client.call("viper.silver.ast.MethodCall", call, "methodName");
        return called.equals(client.call(kind, callee, "name"));
    }

    /** The first node of a type; where there is none, the first one below those that stand there. */
    private Places.Placed first(String type, List<Places.Placed> at) {
        if (at.isEmpty()) {
            return null;
        }
        Class<?> wanted = client.type(type);
        // What is exactly there, and what is in it, comes before what is around.
        int start = at.get(0).start();
        int end = at.get(0).end();
        for (Places.Placed one : at) {
            if (one.start() == start && one.end() == end && wanted.isInstance(one.node())) {
                return one;
            }
        }
        Places.Placed below = below(wanted, at.get(0));
        if (below != null) {
            return below;
        }
        for (Places.Placed one : at) {
            if (wanted.isInstance(one.node())) {
                return one;
            }
        }
        return null;
    }

    /** The first node of a type below another one, breadth first. */
    private Places.Placed below(Class<?> wanted, Places.Placed root) {
        Deque<Object> waiting = new ArrayDeque<>(client.subnodes(root.node()));
        while (!waiting.isEmpty()) {
            Object node = waiting.poll();
            if (wanted.isInstance(node)) {
                return new Places.Placed(node, root.start(), root.end(), root);
            }
            waiting.addAll(client.subnodes(node));
        }
        return null;
    }
}
