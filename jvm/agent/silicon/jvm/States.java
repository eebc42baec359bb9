package silicon.jvm;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * States in which a program may go wrong, in the classes in which the reference tells them: a
 * store, chunks of a heap, and a model that has the values of their symbols.
 *
 * <p>Each variable and each value in the heap is a symbol of its own. The model is written as the
 * reference's solver prints models, and read by the client.
 */
final class States {
    private static final String TERMS = "viper.silicon.state.terms.";
    private static final String STATE = "viper.silicon.state.";

    private final Client client;
    private final Object program;
    private final Object sorts;
    private final Map<String, Object> symbols = new LinkedHashMap<>();
    private final Map<String, String> constants = new LinkedHashMap<>();
    /** Of each function, the values at its arguments, and the one at all others. */
    private final Map<String, Map<String, String>> functions = new TreeMap<>();
    /** The names of collections, by what is in them. */
    private final Map<String, String> collections = new LinkedHashMap<>();

    private States(Client client, Object program) {
        this.client = client;
        this.program = program;
        sorts = client.make(STATE + "DefaultSymbolConverter");
        constants.put("$Ref.null", "$Ref!val!0");
    }

    /** Makes a counterexample of a kind as clients name it, in a member. */
    static Object of(Client client, Object program, Object member, String kind, Map<?, ?> found) {
        return new States(client, program).made(member, kind, found);
    }

    private Object made(Object member, String kind, Map<?, ?> found) {
        declareFunctions();
        for (Object one : list(found, "functions")) {
            apply((Map<?, ?>) one);
        }
        Object store = store(member, list(found, "variables"));
        List<Object> heap = heap(list(found, "heap"));
        List<Object> old = found.get("old") == null ? heap : heap(list(found, "old"));
        Object model = client.call("viper.silver.verifier.Model$",
                client.module("viper.silver.verifier.Model"), "apply", model());
        String type = "viper.silicon.interfaces.Silicon";
        switch (kind) {
            case "native":
                return client.make(type + "NativeCounterexample", store, client.seq(heap),
                        map("Map", pair("old", client.seq(old))), model);
            case "variables":
                return client.make(type + "VariableCounterexample", store, model);
            default:
                Object before = client.call(STATE + "Heap$", client.module(STATE + "Heap"),
                        "apply", client.seq(old));
                return client.make(type + "MappedCounterexample", store, client.seq(heap),
                        map("TreeSeqMap", pair("old", before)), model, program);
        }
    }

    private static List<?> list(Map<?, ?> of, String key) {
        return of.get(key) instanceof List<?> list ? list : List.of();
    }

    private Object pair(Object key, Object value) {
        return client.make("scala.Tuple2", key, value);
    }

    private Object map(String type, Object... entries) {
        String name = "scala.collection.immutable." + type;
        return client.call(name + "$", client.module(name), "from", client.seq(List.of(entries)));
    }

    private Object store(Object member, List<?> variables) {
        Map<String, Object> declared = new LinkedHashMap<>();
        declarations(member, declared);
        if (client.is(member, "viper.silver.ast.Function")) {
            declared.put("result", client.make("viper.silver.ast.Result",
                    client.call("viper.silver.ast.Typed", member, "typ"),
                    client.module("viper.silver.ast.NoPosition"),
                    client.module("viper.silver.ast.NoInfo"),
                    client.module("viper.silver.ast.NoTrafos")));
        }
        List<Object> entries = new ArrayList<>();
        for (Object one : variables) {
            Map<?, ?> variable = (Map<?, ?>) one;
            String name = String.valueOf(variable.get("name"));
            Object local = declared.get(name);
            if (local != null) {
                Object type = client.call("viper.silver.ast.Typed", local, "typ");
                Object value = symbol(name + "@" + symbols.size(), type, variable.get("value"));
                entries.add(pair(local, pair(value, client.none())));
            }
        }
        return client.call(STATE + "Store$", client.module(STATE + "Store"), "apply",
                client.seq(entries));
    }

    /** Collects the variables that a member declares. */
    private void declarations(Object node, Map<String, Object> declared) {
        if (client.is(node, "viper.silver.ast.LocalVarDecl")) {
            Object local = client.call("viper.silver.ast.LocalVarDecl", node, "localVar");
            String name = (String) client.call("viper.silver.ast.AbstractLocalVar", local, "name");
            declared.putIfAbsent(name, local);
        }
        for (Object child : client.subnodes(node)) {
            declarations(child, declared);
        }
    }

    private List<Object> heap(List<?> locations) {
        List<Object> chunks = new ArrayList<>();
        for (Object one : locations) {
            Map<?, ?> location = (Map<?, ?>) one;
            String words = String.valueOf(location.get("location"));
            Object amount = amount(String.valueOf(location.get("amount")));
            int dot = words.lastIndexOf('.');
            Object field = dot < 0 ? null : named("fields", words.substring(dot + 1));
            if (field != null) {
                Object type = client.call("viper.silver.ast.Field", field, "typ");
                String name = words.substring(dot + 1);
                Object value = symbol(
                        name + "@" + symbols.size(), type, location.get("value"));
                chunks.add(chunk("FieldID", name, List.of(reference(words.substring(0, dot))),
                        value, amount));
                continue;
            }
            Value instance = Value.read(words);
            Object predicate = named("predicates", instance.name);
            if (predicate != null) {
                List<Object> formals =
                        client.list(client.call("viper.silver.ast.Predicate", predicate,
                                "formalArgs"));
                List<Object> arguments = new ArrayList<>();
                for (int index = 0; index < formals.size(); index++) {
                    Object type = client.call("viper.silver.ast.Typed", formals.get(index), "typ");
                    arguments.add(symbol(instance.name + "@" + symbols.size(), type,
                            instance.parts.get(index).text));
                }
                chunks.add(chunk("PredicateID", instance.name, arguments,
                        client.module(TERMS + "Unit"), amount));
            }
        }
        return chunks;
    }

    private Object chunk(String kind, String name, List<?> arguments, Object value, Object amount) {
        Object none = client.none();
        return client.make(STATE + "BasicChunk",
                client.module("viper.silicon.resources." + kind),
                client.make(STATE + "BasicChunkIdentifier", name), client.seq(arguments), none,
                value, none, amount, none);
    }

    /** The member of the program of a kind that has a name; null if there is none. */
    private Object named(String kind, String name) {
        for (Object one : client.list(client.call("viper.silver.ast.Program", program, kind))) {
            if (name.equals(client.call("viper.silver.ast.Member", one, "name"))) {
                return one;
            }
        }
        return null;
    }

    private Object amount(String words) {
        String[] parts = number(words).split("/");
        try {
            Object[] numbers = {BigInteger.ONE, BigInteger.ONE};
            for (int index = 0; index < parts.length; index++) {
                numbers[index] = new BigInteger(parts[index].strip());
            }
            Object rational = client.make("viper.silver.utility.Common$Rational",
                    client.make("scala.math.BigInt", numbers[0]),
                    client.make("scala.math.BigInt", numbers[1]));
            return client.call(TERMS + "FractionPermLiteral$",
                    client.module(TERMS + "FractionPermLiteral"), "apply", rational);
        } catch (NumberFormatException open) {
            return client.make(TERMS + "Var", client.make(STATE + "SimpleIdentifier", words),
                    client.module(TERMS + "sorts$Perm"), false);
        }
    }

    private static String number(String amount) {
        return amount.equals("write") ? "1" : amount.equals("none") ? "0" : amount;
    }

    private Object reference(String words) {
        return symbol(words + "@0", client.module("viper.silver.ast.Ref"), words);
    }

    /** A symbol of a type whose value in the model is that one; of the reference's form. */
    private Object symbol(String stem, Object type, Object value) {
        String name = stem + "@00";
        return symbols.computeIfAbsent(name, key -> {
            Object sort = client.call(STATE + "SymbolConverter", sorts, "toSort", type);
            if (value != null) {
                constants.put(name, entry(Value.read(String.valueOf(value)), sort.toString()));
            }
            return client.make(TERMS + "Var",
                    client.make(STATE + "SimpleIdentifier", name), sort, false);
        });
    }

    /** A value as models have it. */
    private String entry(Value value, String sort) {
        if (sort.equals("Perm") || sort.equals("$Perm")) {
            String[] parts = number(value.text).split("/");
            return parts.length == 2
                    ? "(/ " + parts[0] + ".0 " + parts[1] + ".0)" : parts[0] + ".0";
        }
        if (value.text.equals("null")) {
            return "$Ref!val!0";
        }
        if (value.text.matches("ref\\d+")) {
            return "$Ref!val!" + value.text.substring(3);
        }
        if (value.text.matches("-\\d+")) {
            return "(- " + value.text.substring(1) + ")";
        }
        int number = value.text.lastIndexOf('#');
        if (number > 0) {
            return inModels(value.text.substring(0, number)) + "!val!"
                    + value.text.substring(number + 1);
        }
        if (value.parts == null) {
            return value.text;
        }
        String inner = sort.contains("[") ? sort.substring(sort.indexOf('[') + 1,
                sort.lastIndexOf(']')) : "";
        switch (value.name) {
            case "Seq":
            case "Set":
            case "Multiset":
            case "Map":
                return collections.containsKey(value.text + sort)
                        ? collections.get(value.text + sort) : collection(value, sort, inner);
            default:
                List<String> words = new ArrayList<>(List.of(value.name));
                for (Value part : value.parts) {
                    words.add(entry(part, ""));
                }
                return words.size() == 1 ? value.name : "(" + String.join(" ", words) + ")";
        }
    }

    private String collection(Value value, String sort, String inner) {
        String name = inModels(sort) + "!val!" + collections.size();
        collections.put(value.text + sort, name);
        put(value.name.equals("Seq") ? "Seq_length" : value.name + "_card", name,
                Integer.toString(value.size()));
        int index = 0;
        for (Value part : value.parts) {
            if (part.isRest()) {
                continue;
            }
            if (value.name.equals("Seq")) {
                put("Seq_index", name + " " + index++, entry(part, inner));
            } else if (value.name.equals("Map")) {
                String[] sides = part.text.split(" := ", 2);
                String key = entry(Value.read(sides[0]), inner);
                put("Map_apply", name + " " + key, entry(Value.read(sides[1]), inner));
            } else {
                put("Set_in", entry(part, inner) + " " + name, "true");
            }
        }
        return name;
    }

    private void put(String function, String arguments, String value) {
        functions.computeIfAbsent(function, key -> new LinkedHashMap<>())
                .put(arguments, value);
    }

    /** Has the model say something of each function of the program. */
    private void declareFunctions() {
        functions.put("Set_in", new LinkedHashMap<>(Map.of("", "false")));
        for (Object domain : client.list(client.call("viper.silver.ast.Program", program,
                "domains"))) {
            for (Object one : client.list(client.call("viper.silver.ast.Domain", domain,
                    "functions"))) {
                declare(one);
            }
        }
        client.list(client.call("viper.silver.ast.Program", program, "functions"))
                .forEach(this::declare);
    }

    private void declare(Object function) {
        if (!client.list(client.call("viper.silver.ast.FuncLike", function, "formalArgs"))
                .isEmpty() || client.is(function, "viper.silver.ast.Function")) {
            String type = client.call("viper.silver.ast.FuncLike", function, "typ").toString();
            // What clients ask of domains has a truth value; of all else nothing is known.
            boolean isClaim = type.equals("Bool")
                    && !client.is(function, "viper.silver.ast.Function");
            put(symbolOf(function), "", isClaim ? "false" : "#unspecified");
        }
    }

    /** The name of a function in models. */
    private String symbolOf(Object function) {
        String name = (String) client.call("viper.silver.ast.FuncLike", function, "name");
        if (client.is(function, "viper.silver.ast.Function")) {
            return name + "%limited";
        }
        try {
            Object symbol = client.call(STATE + "SymbolConverter", sorts, "toFunction", function,
                    program);
            return inModels(client.call(TERMS + "Applicable", symbol, "id").toString());
        } catch (RuntimeException generic) {
            // It has a symbol at each instance only.
            return name;
        }
    }

    /** The name of a sort, or with sorts, as the reference gives it to the solver. */
    private static String inModels(String name) {
        return name.replace('[', '<').replace(']', '>').replace(" ", "");
    }

    /** Notes the value of a function at its arguments. */
    private void apply(Map<?, ?> applied) {
        String name = String.valueOf(applied.get("function"));
        Object function = named("functions", name);
        for (Object domain : client.list(client.call("viper.silver.ast.Program", program,
                "domains"))) {
            for (Object one : client.list(client.call("viper.silver.ast.Domain", domain,
                    "functions"))) {
                if (name.equals(client.call("viper.silver.ast.FuncLike", one, "name"))) {
                    function = one;
                }
            }
        }
        if (function == null) {
            return;
        }
        List<String> arguments = new ArrayList<>();
        if (client.is(function, "viper.silver.ast.Function")) {
            arguments.add("$Snap.unit");
        }
        List<Object> formals =
                client.list(client.call("viper.silver.ast.FuncLike", function, "formalArgs"));
        for (int index = 0; index < formals.size(); index++) {
            Object type = client.call("viper.silver.ast.Typed", formals.get(index), "typ");
            Object argument = list(applied, "arguments").get(index);
            arguments.add(entry(Value.read(String.valueOf(argument)), type.toString()));
        }
        Object type = client.call("viper.silver.ast.FuncLike", function, "typ");
        String value = entry(Value.read(String.valueOf(applied.get("value"))), type.toString());
        if (arguments.isEmpty()) {
            constants.put(symbolOf(function), value);
        } else {
            put(symbolOf(function), String.join(" ", arguments), value);
        }
    }

    /** The model as the reference's solver prints it. */
    private String model() {
        StringBuilder model = new StringBuilder();
        constants.forEach((name, value) ->
                model.append(name).append(" -> ").append(value).append('\n'));
        functions.forEach((name, values) -> {
            model.append(name).append(" -> {\n");
            values.forEach((arguments, value) -> {
                if (!arguments.isEmpty()) {
                    model.append("  ").append(arguments).append(" -> ").append(value).append('\n');
                }
            });
            model.append("  else -> ").append(values.getOrDefault("", "#unspecified"))
                    .append("\n}\n");
        });
        return model.toString();
    }

    /** A value as it is shown: a word, or a name with parts. */
    private static final class Value {
        final String text;
        final String name;
        /** Null where it has no parentheses. */
        final List<Value> parts;

        private Value(String text, String name, List<Value> parts) {
            this.text = text;
            this.name = name;
            this.parts = parts;
        }

        static Value read(String text) {
            int open = text.indexOf('(');
            if (open <= 0 || !text.endsWith(")")) {
                return new Value(text, text, null);
            }
            List<Value> parts = new ArrayList<>();
            int depth = 0;
            int start = open + 1;
            for (int at = start; at < text.length(); at++) {
                char c = text.charAt(at);
                boolean isEnd = at == text.length() - 1;
                if (depth == 0 && (c == ',' || isEnd)) {
                    String part = text.substring(start, at).strip();
                    if (!part.isEmpty()) {
                        parts.add(read(part));
                    }
                    start = at + 1;
                } else {
                    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
                }
            }
            return new Value(text, text.substring(0, open), parts);
        }

        /** Tells whether this stands for elements that are not listed. */
        private boolean isRest() {
            return text.startsWith("…");
        }

        /** The number of elements of a collection. */
        private int size() {
            Value last = parts.isEmpty() ? null : parts.get(parts.size() - 1);
            if (last == null || !last.isRest()) {
                return parts.size();
            }
            return Integer.parseInt(last.text.replaceAll("\\D", ""));
        }
    }
}
