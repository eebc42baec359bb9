package silicon.jvm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The client's arguments, in the words of the command. */
final class Options {
    private static final String TERMINATION = "TerminationPlugin";
    /** A variable of the environment with options of the command that no client knows. */
    private static final String OTHERS = "SILICON_OPTIONS";

    private final List<String> given;

    Options(List<String> given) {
        this.given = given;
    }

    /** Tells whether Silver's termination plugin is among those that run. */
    private boolean checksTermination() {
        boolean isDefault = !given.contains("--disableDefaultPlugins")
                && !given.contains("--disableTerminationPlugin");
        boolean isNamed = value("--plugin").contains(TERMINATION)
                || value("--plugin").contains(":Termination")
                || value("--plugin").startsWith("Termination");
        return isDefault || isNamed;
    }

    /** The value of a flag; empty if there is none. */
    private String value(String flag) {
        for (int index = 0; index < given.size(); index++) {
            String word = given.get(index);
            if (word.startsWith(flag + "=")) {
                return word.substring(flag.length() + 1);
            }
            if (word.equals(flag) && index + 1 < given.size()) {
                return given.get(index + 1);
            }
        }
        return "";
    }

    /** Options of a request; `isBehindPlugins` says whether plugins have seen the program. */
    List<String> ours(boolean isBehindPlugins) {
        List<String> ours = new ArrayList<>(List.of("--compat", "silicon"));
        if (isBehindPlugins && checksTermination()) {
            ours.add("--assume-termination");
        }
        for (int index = 0; index < given.size(); index++) {
            // The frontend has left out what is not selected, and what is left is to be verified.
            if (given.get(index).equals("--select")) {
                index++;
            } else if (!given.get(index).startsWith("--select=")) {
                ours.add(given.get(index));
            }
        }
        String others = System.getenv(OTHERS);
        if (others != null && !others.isBlank()) {
            ours.addAll(List.of(others.strip().split("\\s+")));
        }
        return ours;
    }

    /** Tells whether a member, by kind and name, may be left out. */
    boolean leavesOut(String member) {
        boolean selects = given.stream().anyMatch(word -> word.startsWith("--includeMethods")
                || word.startsWith("--excludeMethods"));
        return selects && member.startsWith("method ");
    }

    /** Adds what the client wants to know beside an error. */
    void contexts(Client client, Errors errors, Map<String, Object> finding, Object error) {
        boolean wantsConditions = given.contains("--enableBranchconditionReporting");
        Object state = counterexample(client, errors, finding);
        if (!wantsConditions && state == client.none()) {
            return;
        }
        List<Object> conditions = wantsConditions ? errors.conditions(finding) : List.of();
        Object context = client.make("viper.silicon.interfaces.SiliconFailureContext",
                client.seq(conditions), state, client.none());
        client.call("viper.silver.verifier.VerificationError", error, "failureContexts_$eq",
                client.seq(List.of(context)));
    }

    /** A state in which it may go wrong, in the form that the client asks for. */
    private Object counterexample(Client client, Errors errors, Map<String, Object> finding) {
        String kind = value("--counterexample");
        if (!(finding.get("counterexample") instanceof Map<?, ?> found) || kind.isEmpty()) {
            return client.none();
        }
        try {
            return client.some(errors.state(finding, kind, found));
        } catch (RuntimeException other) {
            // The reference's own classes are not those that we know.
            return client.some(byName(client, found));
        }
    }

    /** A state as values by name. */
    private static Object byName(Client client, Map<?, ?> found) {
        List<Object> entries = new ArrayList<>();
        for (Object one : (List<?>) found.get("variables")) {
            Map<?, ?> variable = (Map<?, ?>) one;
            entries.add(entry(client, variable.get("name"), variable.get("value")));
        }
        for (String heap : List.of("heap", "old")) {
            for (Object one : found.get(heap) instanceof List<?> list ? list : List.of()) {
                Map<?, ?> location = (Map<?, ?>) one;
                Object name = heap.equals("old")
                        ? "old(" + location.get("location") + ")" : location.get("location");
                Object value = location.get("value");
                entries.add(entry(client, name, value == null ? location.get("amount") : value));
            }
        }
        Object map = client.call("scala.collection.immutable.Map$",
                client.module("scala.collection.immutable.Map"), "from", client.seq(entries));
        Object model = client.make("viper.silver.verifier.Model", map);
        return client.make("viper.silver.verifier.SimpleCounterexample", model);
    }

    private static Object entry(Client client, Object name, Object value) {
        Object words = client.make("viper.silver.verifier.ConstantEntry", String.valueOf(value));
        return client.make("scala.Tuple2", String.valueOf(name), words);
    }
}
