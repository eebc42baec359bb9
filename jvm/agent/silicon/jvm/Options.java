package silicon.jvm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The client's arguments, in the words of the command. */
final class Options {
    private static final String TERMINATION = "TerminationPlugin";

    private final List<String> given;
    private final boolean isTerminationChecked;

    /** `isBehindPlugins` says whether plugins of Silver have seen the program. */
    Options(List<String> given, boolean isBehindPlugins) {
        this.given = given;
        boolean isDefault = !given.contains("--disableDefaultPlugins")
                && !given.contains("--disableTerminationPlugin");
        boolean isNamed = value("--plugin").contains(TERMINATION)
                || value("--plugin").contains(":Termination")
                || value("--plugin").startsWith("Termination");
        isTerminationChecked = isBehindPlugins && (isDefault || isNamed);
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

    /** Options of a request. */
    List<String> ours() {
        List<String> ours = new ArrayList<>(List.of("--compat", "silicon"));
        if (isTerminationChecked) {
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
        if (!given.contains("--enableBranchconditionReporting")) {
            return;
        }
        Object conditions = client.seq(errors.conditions(finding));
        Object context = client.make("viper.silicon.interfaces.SiliconFailureContext",
                conditions, client.none(), client.none());
        client.call("viper.silver.verifier.VerificationError", error, "failureContexts_$eq",
                client.seq(List.of(context)));
    }
}
